/* Lowering, typed AST -> LLVM IR: what all of its parts share, and the first of them: helpers over
 * LLVM, a module's globals and attributes, places in the source.
 *
 * Code is generated for a gang: rows x lanes threads that run in lockstep, lanes along threadIdx.x
 * as one LLVM vector, rows along threadIdx.y as separate values (or the other way round, where
 * kj_tkernel.lanes says so: x, y and z are the gang's axes here). Every scalar of the source is a
 * kj_tile, which has only the extents it needs: a value that is the same for the whole gang is one
 * scalar, one that varies with x alone is one vector. Tiles of different extents combine by
 * broadcasting, as arrays do in NumPy. With a gang of 1 x 1 everything is a scalar and every
 * condition a branch: plain one-thread code. */
#ifndef KJ_LOWER_IR_H
#define KJ_LOWER_IR_H

#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>

#include "analysis/regions.h"
#include "analysis/uniform.h"
#include "tast/tast.h"

enum { KJ_MAX_ROWS = 4, KJ_MAX_LANES = 64, KJ_MATH_LANES = 16 };

typedef enum kj_form {
    KJ_DENSE,   /* v[row]: a scalar, or with lanes > 1 a vector */
    KJ_LINEAR,  /* lane l of a row is v[row] + l * stride; integers */
    KJ_CROSSED, /* lane l of a row is v[row] + (l ^ cross); integers */
    KJ_PREFIX,  /* bool: lane l is true when l < v[row], an i32 between 0 and lanes */
} kj_form;

/* Of lanes that are no line by their form. */
typedef enum kj_run {
    KJ_RUNS_NOT,   /* as far as is known */
    KJ_RUNS_LINE,  /* one apart */
    KJ_RUNS_TWICE, /* two apart: 2 * i, from which butterflies take `i % h` or `i & (h - 1)` */
    KJ_RUNS_OFTEN, /* often one apart, or all the same: worth a look */
} kj_run;

typedef struct kj_bounds {
    int64_t least;
    uint64_t most;
} kj_bounds;

typedef struct kj_tile {
    kj_dtype type;
    uint8_t rows, lanes; /* each 1 or the gang's */
    uint8_t form;
    bool wraps;  /* integers: the computation may leave the type's range, a linear tile inside it */
    bool narrow; /* dense i64 vectors (on a GPU: and scalars) that fit 32 bits: v[] has i32, to be
                    sign-extended */
    kj_bounds bounds; /* integers: least <= value <= most */
    uint8_t even;     /* integers: each v[] is a multiple of 1 << even */
    kj_run runs;      /* of dense integers with lanes */
    int64_t stride;
    LLVMValueRef cross; /* of a crossed tile: an i64 below its lanes, a power of two */
    LLVMValueRef v[KJ_MAX_ROWS];
} kj_tile;

/* The threads that run: all of the gang, none (unreachable code), or those of a bool tile. */
typedef struct kj_mask {
    enum { KJ_SOME, KJ_ALL, KJ_NONE } kind;
    kj_tile t;
} kj_mask;

typedef struct kj_counter kj_counter; /* gang/counter.c */
typedef struct kj_loaded kj_loaded;   /* gang/condition.c */
typedef struct kj_waiting kj_waiting; /* gang/parts.c */

/* Where a variable lives inside the gang's code: allocas that LLVM turns into registers. */
typedef struct kj_slot {
    LLVMValueRef at[KJ_MAX_ROWS];
    uint8_t rows, lanes;
    bool known; /* `tile` is its value for good (an immutable variable) */
    bool begun; /* `tile` is its value so far */
    kj_tile tile;
    kj_mask since;       /* the threads that ran where it was declared */
    kj_counter *counter; /* in a loop that it counts: its value there; or NULL */
} kj_slot;

typedef struct kj_exit kj_exit;   /* gang/exit.c */
typedef struct kj_strip kj_strip; /* gang/strip.h */
typedef struct kj_ahead kj_ahead; /* gang/ahead.c */
typedef struct kj_seam kj_seam;   /* gang/seam.c */
typedef struct kj_level kj_level; /* block/block.c */
typedef struct kj_kept kj_kept;   /* block/grid.c */
typedef struct kj_told kj_told;   /* gang/fault.c */
typedef struct kj_lower kj_lower;

struct kj_access;
struct kj_launching;

typedef enum kj_half_op { KJ_HALF_WIDEN, KJ_HALF_NARROW, KJ_HALF_ADD, KJ_HALF_FMA } kj_half_op;

/* What lowering asks of a target: facts, where the same can be written in several ways, and what each
 * does in a way of its own. One const table a target: in block/cpu.c and block/gpu.c. */
typedef struct kj_lowering {
    bool narrows;   /* 32-bit integers are half the work of 64-bit ones, also as scalars */
    bool no_wrap;   /* LLVM is told that offsets do not wrap: constants move into accesses */
    bool apart;     /* and access by access which arrays do not overlap, or do not change */
    bool counts;    /* there are atomics that count to a limit, of 32 bits */
    bool swaps_f16; /* halves are exchanged by comparing and swapping */
    bool serial;    /* one thread of a block runs at a time: what it shares needs no atomics */
    bool returns;   /* a block that waits for others returns to its caller */

    /* Has it instructions for that on a half? */
    bool (*has_half)(const kj_lower *lo, kj_dtype type, kj_half_op op);
    LLVMValueRef (*narrow_f16)(kj_lower *lo,
                               LLVMValueRef v); /* of one f32, where lo->x86; else as LLVM does */
    /* A float as an integer type: saturating, NaN is 0. */
    LLVMValueRef (*to_int)(kj_lower *lo, LLVMValueRef v, kj_dtype to, LLVMTypeRef type);
    kj_tile (*extreme)(kj_lower *lo, kj_tile a, kj_tile b, bool max); /* kj_float_extreme */
    /* A function for which the target has an instruction; false where it has none. NULL: it never has. */
    bool (*instruction)(kj_lower *lo, kj_builtin id, const kj_tile *args, kj_tile *out);
    /* A math function as @fastmath has it; false where it is the library's. NULL: it always is. */
    bool (*approximate)(kj_lower *lo, kj_builtin id, const kj_tile *args, kj_tile *out);

    /* Accesses that say how they are cached (a->cache); NULL: there are none. */
    LLVMValueRef (*load_cached)(kj_lower *lo, const struct kj_access *a, LLVMValueRef at);
    void (*store_cached)(kj_lower *lo, const struct kj_access *a, LLVMValueRef v, LLVMValueRef at);
    /* The place of an access to a local array, whose offset is within it. */
    void (*access_local)(kj_lower *lo, const kj_tarray *root, struct kj_access *a);
    /* Marks an atomic as one of a block's threads, or of all; returns it. */
    LLVMValueRef (*scope)(kj_lower *lo, LLVMValueRef atomic, bool block);
    /* Around an atomic that orders, among a block's threads or all. */
    void (*order)(kj_lower *lo, bool block);
    /* The old value and whether it was the expected one, a pair; with `orders` it also does. */
    LLVMValueRef (*compare_swap)(kj_lower *lo, LLVMValueRef at, LLVMValueRef expected,
                                 LLVMValueRef v, bool orders, bool block);
    /* Where the launch's fault is told; can another thread have failed, so that one that waits has to
     * look? */
    LLVMValueRef (*fault)(kj_lower *lo);
    bool (*may_fail)(const kj_lower *lo);

    /* The thread's clock, in cycles: the halt is far away, and code looks seldom. NULL: it is near. */
    LLVMValueRef (*clock)(kj_lower *lo);

    void (*fence)(kj_lower *lo, kj_builtin id, const kj_tile *args);
    /* An operation of a warp by the threads of m. */
    kj_tile (*warp)(kj_lower *lo, const kj_texpr *e, const kj_tile *args, kj_mask m);
    /* Tells the device what one thread launches; returns the status. */
    LLVMValueRef (*launch)(kj_lower *lo, struct kj_launching *l, int row, LLVMValueRef lane);

    /* What a gang tells whoever runs it. An immutable variable has its value, which other regions may
     * read; NULL: there are none. */
    void (*declared)(kj_lower *lo, const kj_var *v, kj_tile t, kj_mask m);
    /* Threads leave a construct around it: `target`, or the nearest loop when that is NULL; with
     * `again` only for its next iteration. */
    void (*leave)(kj_lower *lo, const void *target, bool again, kj_mask m);
    /* Do all threads of the block take part in what runs once for it? NULL: nothing does. */
    bool (*together)(const kj_lower *lo);
    /* Where only some do: `each` for their gangs, from there. */
    void (*each_there)(kj_lower *lo, void (*each)(kj_lower *lo, kj_mask m, void *arg), void *arg);
    /* All threads of the block, or of the grid, wait for each other, here; NULL: that is between
     * regions. */
    void (*barrier)(kj_lower *lo, const kj_tstmt *s, kj_mask m);
} kj_lowering;

/* The place in the source that a GPU's instructions are of: offset and line number go together. */
typedef struct kj_line {
    const kj_source *source; /* NULL: places are not noted */
    LLVMDIBuilderRef lines;
    kj_source_part kernel, part;   /* the kernel's file; the one that `offset` is in */
    LLVMMetadataRef scope, inside; /* the kernel; the same as what stands in `part` */
    uint32_t offset, number;
} kj_line;

struct kj_lower {
    kj_arena *arena;
    const kj_tkernel *kernel;
    const kj_regions *regions;
    const kj_deps *deps;
    LLVMContextRef ctx;
    LLVMModuleRef module;
    LLVMBuilderRef b, allocas;
    LLVMValueRef fn;
    LLVMTypeRef types[KJ_NTYPES]; /* as values: bool is i1, f16 and bf16 are i16 */
    LLVMTypeRef i1, i8, i32, i64, ptr;

    /* the gang */
    const kj_lowering *target;
    int rows, lanes;
    bool flat;   /* lanes follow the linear thread number instead of x */
    bool across; /* they go on into the next blocks: x is the thread's in a run of blocks */
    LLVMValueRef x, y, z; /* its first thread, i64 */
    kj_mask
        present; /* its threads: all, or first lanes: across blocks of a number that is known at run time */
    kj_tile thread[3];    /* threadIdx */
    kj_tile lane;         /* laneid, where the kernel needs it */
    kj_slot *slots;       /* by variable id; of this gang's code */
    LLVMValueRef *locals; /* storage of local arrays that one region uses, by root id */
    kj_mask *since;       /* the threads that ran where they began, by root id */
    kj_exit *exits;
    kj_waiting *parts;          /* stores that wait for others; or NULL */
    const kj_loaded *at_hand;   /* what conditions around have loaded; or NULL */
    bool loads_stay;            /* what is loaded now is at hand afterwards */
    bool twin;                  /* inside one of two copies of a statement */
    bool few;                   /* inside the one for where not all threads run */
    struct kj_hoisted *hoisted; /* checks that a loop around has made already; or NULL */
    kj_strip *strip;            /* the loop around that goes by strips; or NULL */
    kj_ahead *ahead;            /* the loop around that fetches ahead; or NULL */
    kj_seam *seam;       /* the copy around that takes no seam of a torus for granted; or NULL */
    kj_origin **origins; /* kj_origins; NULL: nobody has asked */
    bool seams;          /* are there some? Known with the origins */
    uint8_t *mended;     /* likewise, of variables: seam_find.c */
    LLVMValueRef *strip_rooms; /* its memory; NULL: there was none yet */
    int strips;                /* such loops so far */
    bool masks_cost;           /* masked accesses are slower than plain ones */
    bool ftz;                  /* f32 instructions of a GPU take subnormal numbers for zeros */
    bool x86;                  /* of a CPU: it is one */
    bool half;                 /* it converts f16 */
    bool no_fma;               /* it has no fused multiply-adds */
    int sm;                    /* the GPU's generation: 75, 90 */
    bool within;               /* of a CPU: gangs end where their block does */
    bool rolled;               /* loops stay loops, whatever @unroll says */
    LLVMBasicBlockRef front;   /* of a CPU's entry: behind its parameters; or NULL */
    struct kj_early *early;    /* what is computed there */
    const kj_tstmt *waits;     /* the loop around that waits by loads; or NULL */
    int unrolls;               /* loops that LLVM unrolls for @unroll, so far */
    int divisions;             /* of vectors of 64 bits, so far */
    int branching;             /* gathers and scatters that LLVM makes branches of, so far */
    int uncertain;             /* rows whose lanes are looked at, so far */
    int choices;               /* rows whose elements are chosen among a few, so far */
    LLVMValueRef nowhere;      /* memory for what is stored for nobody; NULL: there was none yet */
    int running;               /* rows accessed a running lane after the other, so far */

    /* the block */
    int vector;                /* f32 in a vector register */
    int gang_rows, gang_lanes; /* of regions that need no single threads */
    int64_t width;             /* threads along x, padded to whole gangs */
    int64_t threads;           /* width * y * z: bytes of a byte a thread */
    LLVMValueRef launch, scratch_base, block[3], grid[3];
    LLVMValueRef extent[3]; /* blockDim where the kernel does not know it */
    LLVMValueRef *params;   /* scalars and data pointers, by parameter */
    LLVMValueRef (*dims)[2 * KJ_MAX_NDIM];
    LLVMValueRef *roots; /* data of root arrays, by id */
    LLVMValueRef
        *rooms; /* of a CPU: bytes of shared ones between margins, by id; NULL: there are none */
    int64_t margins; /* bytes of those */
    kj_level *level;
    kj_slot *home;        /* slots of block-level code, by id: the uniform variables */
    kj_slot *of_gang;     /* what slots is in gangs */
    LLVMValueRef *before; /* copies of those that the current region assigns, by id */
    int64_t *scratch_at;  /* scratch offsets of varying ones, by id; -1 */
    int64_t
        *local_scratch; /* scratch offsets of local arrays that several regions use, by root id */
    int64_t scratch;    /* bytes so far */
    LLVMValueRef share[2];           /* of the blocks: this call's, up to the second */
    LLVMValueRef first, run;         /* of fused blocks: the first one's x and how many */
    LLVMBasicBlockRef fail;          /* where a block, or a GPU's thread, ends after a fault */
    LLVMValueRef alive[KJ_MAX_ROWS]; /* gang/value_check.c; NULL: nobody asks */
    kj_told *told;                   /* gang/fault.c */
    LLVMBasicBlockRef unlock;        /* where the fault that is being written ends */
    LLVMValueRef stretch; /* of a GPU: the barriers that the thread has passed, an i32 in memory */
    bool
        outlive; /* of a GPU: threads that one has failed beside go on, and may wait for what it was to give */
    LLVMValueRef least; /* of a replay: the first thread that failed, an i64 in memory; else NULL */
    LLVMBasicBlockRef stop;  /* and where a CPU's launch ends; `fail` is where the thread does */
    LLVMValueRef report;     /* kj_report of a kernel with sites */
    LLVMValueRef watch;      /* kj_host_watch of one that is watched; NULL */
    const uint16_t *watched; /* flags of accesses, by site (analysis/stored.c) */
    LLVMValueRef counter;    /* of a GPU: of the blocks that came to a grid_sync() */
    LLVMValueRef resume;     /* of a CPU: the switch to where the block waited at one */
    kj_kept *kept;           /* and what it finds again there */
    LLVMValueRef own;        /* of a CPU: kj_host_launch.own_tallies, an i1; NULL: there are none */
    LLVMValueRef past;  /* of a CPU: kj_host_launch.past, an i64; NULL: no array's stores may */
    bool passes;        /* and some store asks it */
    LLVMValueRef halt;  /* where code that polls looks; NULL: it does not */
    LLVMValueRef given; /* the launch's blocks along x, where those of another grid are run; NULL */
    LLVMValueRef halt_at; /* of one that is near: its address in memory, as the last look had it */
    struct kj_look_plan *planned;   /* gang/looks.c; NULL: nowhere else than in long loops */
    const struct kj_within *bounds; /* of the gangs that are gone through; or NULL */
    const kj_tstmt *before_gang;    /* the statement in front of which each gang looks; or NULL */
    LLVMValueRef near_halt;         /* of one that is far away: a copy; or NULL */
    LLVMValueRef turns;             /* of loops so far, where a look costs more than counting */
    LLVMValueRef looked;            /* when it last did, likewise */
    LLVMValueRef looks;             /* how often it did, likewise */
    int64_t kept_end;
    int nwaits;
    LLVMValueRef (*scopes)[2]; /* memory/alias.c */
    kj_line line;
};

static inline LLVMValueRef kj_i64(const kj_lower *lo, int64_t i)
{
    return LLVMConstInt(lo->i64, (uint64_t)i, true);
}

/* ---- ir.c ---- */

LLVMTypeRef kj_vec(kj_lower *lo, kj_dtype t, int lanes);
/* A scalar in all lanes; itself for one. */
LLVMValueRef kj_splat(kj_lower *lo, LLVMValueRef scalar, int lanes);
/* Calls the overloaded intrinsic on arguments of any kind. */
LLVMValueRef kj_intrinsic(kj_lower *lo, const char *name, LLVMTypeRef *overloads,
                          unsigned noverloads, LLVMValueRef *args, unsigned nargs);
LLVMValueRef kj_alloca(kj_lower *lo, LLVMTypeRef type, const char *name);
LLVMBasicBlockRef kj_new_block(kj_lower *lo, const char *name);
bool kj_has_ended(const kj_lower *lo); /* the block that code is added to: control has left it */
/* The n elements at these places of two vectors behind each other; `b` may be NULL. */
enum { KJ_ANY = -1 };
LLVMValueRef kj_shuffled(kj_lower *lo, LLVMValueRef a, LLVMValueRef b, const int *places, int n);
/* Two vectors of so many lanes as one. */
LLVMValueRef kj_joined(kj_lower *lo, LLVMValueRef a, LLVMValueRef b, int lanes);
/* Of n vectors, at most 16 and a power of two: in each n lanes in a row, exchanges lane i of vector k with lane k of
 * vector i. */
void kj_transpose(kj_lower *lo, LLVMValueRef *v, int n, int lanes);
LLVMValueRef kj_lower_element(kj_lower *lo, kj_dtype type, LLVMValueRef base, LLVMValueRef index);
kj_dtype kj_memory_type(kj_dtype t);       /* bools are bytes there */
kj_dtype kj_unit_type(const kj_tarray *a); /* what elements consist of, integers for records */
LLVMTypeRef kj_element_type(kj_lower *lo, const kj_tarray *a); /* in memory */
/* Memory for so many elements of an array, and for what is beyond the last up to a whole vector. */
LLVMTypeRef kj_elements_type(kj_lower *lo, const kj_tarray *a, int64_t count);

/* A loop over the bits set in an i64, `thread` being the number of the current one; with `maybe`
 * there may be none. */
typedef struct kj_bit_loop {
    LLVMValueRef bits, first, thread;
    LLVMBasicBlockRef before, head, done;
} kj_bit_loop;
kj_bit_loop kj_bits_begin(kj_lower *lo, LLVMValueRef bits, bool maybe);
void kj_bits_end(kj_lower *lo, const kj_bit_loop *l);
/* Attaches a hint of LLVM's ("llvm.loop.unroll.full"), and its value or 0, to the loop that `branch`
 * closes. */
void kj_loop_hint(kj_lower *lo, LLVMValueRef branch, const char *hint, int value);
/* Attributes of lo->fn. */
void kj_attribute(kj_lower *lo, LLVMAttributeIndex at, const char *name, uint64_t value);
void kj_attribute_text(kj_lower *lo, const char *key, const char *value);
void kj_attribute_vectors(kj_lower *lo); /* vectors as wide as lo->vector are not split */
/* Blocks that nothing jumps to (behind a break, say) still need an end. */
void kj_lower_seal(kj_lower *lo);

/* ---- module.c ---- */

/* Where an entry goes, and for what. */
typedef struct kj_entry_spec {
    LLVMModuleRef module;
    LLVMBuilderRef code, allocas; /* of the module's context, for the lowering to use */
    LLVMDIBuilderRef lines;
    const char *entry;
    const kj_tkernel *kernel;
    const kj_deps *deps;
    kj_regions *regions;     /* of a CPU */
    int vector;              /* f32 in the target's widest vector register */
    bool x86;                /* of a CPU: it is one */
    bool half;               /* of a CPU: it converts f16 */
    bool no_fma;             /* it has no fused multiply-adds */
    bool replay;             /* likewise: kj_compile_options.replay */
    int sm;                  /* of a GPU: its generation */
    bool ftz;                /* of a GPU: subnormal f32 are zeros */
    bool within;             /* of a CPU: gangs end where their block does */
    bool rolled;             /* loops stay loops, whatever @unroll says */
    const kj_source *source; /* for places in it */
} kj_entry_spec;
void kj_lower_start(kj_lower *lo, kj_arena *arena, const kj_tkernel *kernel,
                    const kj_entry_spec *spec);
/* A const array becomes a global in that address space. */
void kj_lower_const(kj_lower *lo, const kj_tarray *a, unsigned space);

/* ---- debug_line.c ---- */

void kj_lines_begin(kj_lower *lo, const kj_entry_spec *spec); /* in lo->fn, which is still empty */
void kj_lines_at(kj_lower *lo, kj_span span);

#endif
