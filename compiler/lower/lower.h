/* Lowering, the parts' shared view: typed AST -> LLVM IR.
 *
 * Code is generated for a gang: rows x lanes threads that run in lockstep, lanes along threadIdx.x
 * as one LLVM vector, rows along threadIdx.y as separate values. Every scalar of the source is a
 * kj_tile, which has only the extents it needs: a value that is the same for the whole gang is one
 * scalar, one that varies with x alone is one vector. Tiles of different extents combine by
 * broadcasting, as arrays do in NumPy. With a gang of 1 x 1 everything is a scalar and every
 * condition a branch: plain one-thread code.
 *
 *   lower_tile.c     tiles: broadcasting and arithmetic
 *   lower_half.c     f16 and bf16
 *   lower_float.c    remainders of floats, the smaller of two, signs
 *   lower_bounds.c   what is known of integers
 *   lower_divide.c   integer division
 *   lower_mask.c     masks
 *   lower_expr.c     expressions
 *   lower_builtin.c  math functions and the like
 *   lower_parts.c    those that take numbers apart
 *   lower_fast.c     what @fastmath changes
 *   lower_random.c   random numbers
 *   lower_report.c   failed asserts, prints
 *   lower_warp.c     operations of a warp, fences
 *   lower_memory.c   loads, stores
 *   lower_cache.c    accesses with hints for a GPU's caches
 *   lower_vector.c   vector accesses, gathers and scatters
 *   lower_group.c    vector accesses of elements of several scalars
 *   lower_atomic.c   atomics, and what else runs thread after thread
 *   lower_alias.c    which accesses cannot meet
 *   lower_stmt.c     statements of one gang under a mask
 *   lower_range.c    the tests of range()
 *   lower_weigh.c    how much code statements are
 *   fission.c        the kernel cut at its barriers into regions
 *   lower_gang.c     loops over the gangs of a block; variables between regions
 *   lower_block.c    the plan: regions, and what runs once for the block
 *   lower_entry.c    the CPU's entry function: parameters, shared memory, loop over blocks
 *   lower_grid.c     barriers of the whole grid
 *   lower_launch.c   launches by kernels
 *   lower_ptx.c      a GPU's: one thread
 *   lower_line.c     places in the source, for a GPU's tools
 *   lower_start.c    what entries begin and end with */
#ifndef KJ_LOWER_H
#define KJ_LOWER_H

#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>

#include "analysis/fission.h"
#include "analysis/uniform.h"
#include "tast/tast.h"

enum { KJ_MAX_ROWS = 4, KJ_MAX_LANES = 64, KJ_MATH_LANES = 16 };

typedef enum kj_form {
    KJ_DENSE,  /* v[row]: a scalar, or with lanes > 1 a vector */
    KJ_LINEAR, /* lane l of a row is v[row] + l * stride; integers */
    KJ_PREFIX, /* bool: lane l is true when l < v[row], an i32 between 0 and lanes */
} kj_form;

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
    int64_t stride;
    LLVMValueRef v[KJ_MAX_ROWS];
} kj_tile;

/* The threads that run: all of the gang, none (unreachable code), or those of a bool tile. */
typedef struct kj_mask {
    enum { KJ_SOME, KJ_ALL, KJ_NONE } kind;
    kj_tile t;
} kj_mask;

/* Where a variable lives inside the gang's code: allocas that LLVM turns into registers. */
typedef struct kj_slot {
    LLVMValueRef at[KJ_MAX_ROWS];
    uint8_t rows, lanes;
    bool known; /* `tile` is its value for good (an immutable variable) */
    kj_tile tile;
    kj_mask since; /* the threads that ran where it was declared */
} kj_slot;

typedef struct kj_exit kj_exit; /* lower_stmt.c */

typedef struct kj_level kj_level; /* lower_block.c */

typedef struct kj_kept kj_kept; /* lower_grid.c */

typedef struct kj_lower kj_lower;

/* What a gang tells whoever runs it. */
typedef struct kj_around {
    /* An immutable variable has its value, which other regions may read. */
    void (*declared)(kj_lower *lo, const kj_var *v, kj_tile t, kj_mask m);
    /* Threads leave a construct around it: `target`, or the nearest loop when that is NULL; with
     * `again` only for its next iteration. */
    void (*leave)(kj_lower *lo, const void *target, bool again, kj_mask m);
    /* All threads of the block, or of the grid, wait for each other, here; NULL: that is between
     * regions. */
    void (*barrier)(kj_lower *lo, const kj_tstmt *s, kj_mask m);
} kj_around;

/* The place in the source that a GPU's instructions are of: offset and line number go together. */
typedef struct kj_line {
    const kj_source *source; /* NULL: places are not noted */
    LLVMMetadataRef scope;
    uint32_t offset, number;
} kj_line;

struct kj_lower {
    kj_arena *arena;
    const kj_tkernel *kernel;
    const kj_plan *plan;
    kj_deps *deps;
    LLVMContextRef ctx;
    LLVMModuleRef module;
    LLVMBuilderRef b, allocas;
    LLVMValueRef fn;
    LLVMTypeRef types[KJ_NTYPES]; /* as values: bool is i1, f16 and bf16 are i16 */
    LLVMTypeRef i1, i8, i32, i64, ptr;

    /* the gang */
    const kj_around *around;
    int rows, lanes;
    bool flat;            /* lanes follow the linear thread number instead of x */
    LLVMValueRef x, y, z; /* its first thread, i64 */
    kj_tile thread[3];    /* threadIdx */
    kj_tile lane;         /* laneid, where the kernel needs it */
    kj_slot *slots;       /* by variable id; of this gang's code */
    LLVMValueRef *locals; /* storage of local arrays that one region uses, by root id */
    kj_exit *exits;
    bool twin;       /* inside one of two copies of a statement */
    bool masks_cost; /* masked accesses are slower than plain ones */
    bool ftz;        /* f32 instructions of a GPU take subnormal numbers for zeros */
    bool f16c;       /* the CPU converts f16 */
    int sm;          /* the GPU's generation: 75, 90 */
    bool ptx; /* a GPU's code: the gang is one thread, and 32-bit integers are half the work */

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
    kj_level *level;
    kj_slot *home;        /* slots of block-level code, by id: the uniform variables */
    LLVMValueRef *before; /* copies of those that the current region assigns, by id */
    int64_t *context;     /* scratch offsets of varying ones, by id; -1 */
    int64_t
        *local_scratch; /* scratch offsets of local arrays that several regions use, by root id */
    int64_t scratch;    /* bytes so far */
    LLVMValueRef first, run; /* of fused blocks: the first one's x and how many */
    LLVMBasicBlockRef fail;  /* where a block, or a GPU's thread, ends after a fault */
    LLVMValueRef report;     /* kj_report of a kernel with sites */
    LLVMValueRef counter;    /* of a GPU: of the blocks that came to a grid_sync() */
    LLVMValueRef resume;     /* of a CPU: the switch to where the block waited at one */
    kj_kept *kept;           /* and what it finds again there */
    int64_t kept_end;
    int nwaits;
    LLVMValueRef (*scopes)[2]; /* lower_alias.c */
    kj_line line;
};

static inline LLVMValueRef kj_i64(const kj_lower *lo, int64_t i)
{
    return LLVMConstInt(lo->i64, (uint64_t)i, true);
}

/* ---- lower_tile.c ---- */

LLVMTypeRef kj_vec(kj_lower *lo, kj_dtype t, int lanes);
kj_tile kj_tile_const(kj_lower *lo, kj_value v);
kj_tile kj_tile_scalar(kj_dtype t, LLVMValueRef v);
kj_tile kj_tile_int(kj_lower *lo, int64_t i); /* i64 */
/* A dense tile of that extent whose v[] is still to be filled; nothing known of its values. */
kj_tile kj_tile_like(kj_dtype t, int rows, int lanes);
kj_tile kj_tile_dense(kj_lower *lo, kj_tile t); /* the form DENSE */
LLVMValueRef kj_tile_vector(kj_lower *lo, kj_tile t, int row,
                            int lanes); /* row `row` broadcast to lanes */
kj_tile kj_tile_spread(kj_lower *lo, kj_tile t, int rows, int lanes); /* dense and broadcast */
/* A scalar in all lanes; itself for one. */
LLVMValueRef kj_splat(kj_lower *lo, LLVMValueRef scalar, int lanes);
kj_tile kj_tile_binary(kj_lower *lo, kj_op op, kj_tile a, kj_tile b);
kj_tile kj_tile_unary(kj_lower *lo, kj_op op, kj_tile a);
kj_tile kj_tile_convert(kj_lower *lo, kj_tile a, kj_dtype to);
kj_tile kj_tile_select(kj_lower *lo, kj_tile test, kj_tile yes, kj_tile no);
/* The same bits as another type of that size. */
kj_tile kj_tile_recast(kj_lower *lo, kj_tile t, kj_dtype to);
/* An operator on floats of LLVM's. */
LLVMValueRef kj_float_binary(kj_lower *lo, kj_op op, LLVMValueRef a, LLVMValueRef b);
/* Notes that a scalar a op b, just made, does not leave its type's range. */
void kj_no_wrap(kj_tile t, kj_op op);
kj_tile kj_tile_wide(kj_lower *lo, kj_tile t);   /* dense, and not narrow */
kj_tile kj_tile_narrow(kj_lower *lo, kj_tile t); /* an i64 that is known to fit: narrow */
/* Calls the overloaded intrinsic on arguments of any kind. */
LLVMValueRef kj_intrinsic(kj_lower *lo, const char *name, LLVMTypeRef *overloads,
                          unsigned noverloads, LLVMValueRef *args, unsigned nargs);
/* Calls the overloaded intrinsic on dense tiles of one type, elementwise. */
kj_tile kj_tile_intrinsic(kj_lower *lo, const char *name, const kj_tile *args, int nargs);
/* The extents that dependence `dep` gives a value in this gang. */
int kj_rows_of(const kj_lower *lo, uint8_t dep);
int kj_lanes_of(const kj_lower *lo, uint8_t dep);

/* ---- lower_half.c: what tiles of f16 and bf16 are to those above ---- */

kj_tile kj_half_binary(kj_lower *lo, kj_op op, kj_tile a, kj_tile b);
kj_tile kj_half_negate(kj_lower *lo, kj_tile a);
kj_tile kj_half_convert(kj_lower *lo, kj_tile a, kj_dtype to); /* one of the types is a half */
kj_tile kj_half_intrinsic(kj_lower *lo, const char *name, const kj_tile *args, int nargs);
kj_tile kj_half_widen(kj_lower *lo, kj_tile a); /* f32 where it is a half, else itself */
/* Has the target instructions for sums; on which type of LLVM's? */
bool kj_half_adds(const kj_lower *lo, kj_dtype type);
LLVMTypeRef kj_half_type(kj_lower *lo, kj_dtype type, int lanes);

/* ---- lower_float.c ---- */

kj_tile kj_float_divide(kj_lower *lo, kj_op op, kj_tile a, kj_tile b); /* // and % */
/* The smaller or the larger of two: of a number and NaN the number, -0.0 being less than 0.0. */
kj_tile kj_float_extreme(kj_lower *lo, kj_tile a, kj_tile b, bool max);
kj_tile kj_float_copysign(kj_lower *lo, kj_tile a, kj_tile sign);
/* A result that, where it is 0, has the sign of x. */
kj_tile kj_float_signed_zero(kj_lower *lo, kj_tile result, kj_tile x);

/* ---- lower_bounds.c ---- */

kj_bounds kj_type_bounds(kj_dtype t);
kj_bounds kj_either(kj_bounds a, kj_bounds b); /* of values that are within one of the two */
void kj_bound(kj_tile *t, int64_t least, uint64_t most); /* narrows what is known of t */
int kj_bits(kj_tile t);                                  /* the least b with -2^b <= value < 2^b */
static inline bool kj_is_natural(kj_tile t)
{
    return t.bounds.least >= 0;
}
static inline bool kj_is_positive(kj_tile t)
{
    return t.bounds.least > 0;
}
static inline bool kj_is_known(kj_tile t) /* a constant */
{
    return t.bounds.least == (int64_t)t.bounds.most;
}
/* Notes in t, a tile of the result's type, what follows from its being a op b. */
void kj_know(kj_tile *t, kj_op op, kj_tile a, kj_tile b);
/* In t, the variable of a loop over range(start, stop, step), what it may be inside the loop; with
 * `beyond` also before the first test and where a step leads to behind the last value. */
void kj_know_range(kj_tile *t, kj_tile start, kj_tile stop, kj_tile step, bool beyond);

/* ---- lower_divide.c ---- */

/* A linear tile divided by a power of two, where no row's lanes have a multiple between them: in
 * `out` one number, or the remainders, linear again. False where that is not so. */
bool kj_divide_linear(kj_lower *lo, kj_op op, kj_tile a, kj_tile b, kj_tile *out);

/* a // b, or with `mod` a % b: total, by zero both are 0. The values a and b of the tiles ta and tb
 * have the extents of a row of t. */
LLVMValueRef kj_floor_div(kj_lower *lo, kj_tile t, kj_tile ta, kj_tile tb, LLVMValueRef a,
                          LLVMValueRef b, bool mod);

/* ---- lower_mask.c ---- */

extern const kj_mask kj_all, kj_none;
kj_mask kj_mask_of(kj_tile t);
kj_mask kj_mask_and(kj_lower *lo, kj_mask m, kj_mask n);
kj_mask kj_mask_or(kj_lower *lo, kj_mask m, kj_mask n);
kj_mask kj_mask_andnot(kj_lower *lo, kj_mask m, kj_mask n);
LLVMValueRef kj_mask_any(kj_lower *lo, kj_mask m);  /* i1 */
LLVMValueRef kj_mask_full(kj_lower *lo, kj_mask m); /* i1: all of the gang's threads */
LLVMValueRef kj_mask_row(kj_lower *lo, kj_mask m, int row,
                         int lanes); /* <lanes x i1>, or an i1 for 1: any of the row */
/* The mask reduced to rows x lanes: an element is set when any of those it stands for is. */
kj_mask kj_mask_reduce(kj_lower *lo, kj_mask m, int rows, int lanes);

/* ---- lower_expr.c ---- */

kj_tile kj_lower_expr(kj_lower *lo, const kj_texpr *e, kj_mask m);
/* Variables of the gang. */
kj_tile kj_slot_read(kj_lower *lo, const kj_var *v);
void kj_slot_write(kj_lower *lo, const kj_var *v, kj_tile t, kj_mask m); /* under the mask */
void kj_slot_begin(kj_lower *lo, const kj_var *v, kj_tile t, kj_mask m); /* its declaration */
void kj_slot_make(kj_lower *lo, const kj_var *v);                        /* its allocas */
LLVMValueRef kj_alloca(kj_lower *lo, LLVMTypeRef type, const char *name);
LLVMBasicBlockRef kj_new_block(kj_lower *lo, const char *name);

/* ---- lower_builtin.c ---- */

kj_tile kj_lower_call(kj_lower *lo, const kj_texpr *e, kj_mask m);
kj_tile kj_lower_min(kj_lower *lo, kj_tile a, kj_tile b, bool max);
/* A function of the math library. */
kj_tile kj_lower_math(kj_lower *lo, kj_builtin id, const kj_tile *args, int nargs);

/* ---- lower_random.c ---- */

kj_tile kj_lower_random(kj_lower *lo, const kj_texpr *e, const kj_tile *args);

/* ---- lower_parts.c ---- */

kj_tile kj_lower_clz(kj_lower *lo, kj_tile a);
kj_tile kj_lower_ffs(kj_lower *lo, kj_tile a);
/* One of the two results. */
kj_tile kj_lower_modf(kj_lower *lo, int part, kj_tile x);
kj_tile kj_lower_frexp(kj_lower *lo, int part, kj_tile x);
kj_tile kj_lower_ldexp(kj_lower *lo, kj_tile x, kj_tile e); /* e: i32 */
kj_tile kj_lower_nextafter(kj_lower *lo, kj_tile x, kj_tile y);

/* ---- lower_fast.c ---- */

/* Marks an operation that the source writes as one that @fastmath may change; gives it. */
kj_tile kj_relaxed(kj_lower *lo, kj_tile t);
/* A math function as @fastmath has it on a GPU; false where it is the library's. */
bool kj_lower_fast(kj_lower *lo, kj_builtin id, const kj_tile *args, kj_tile *out);

/* ---- lower_report.c ---- */

/* Claims the launch's fault; gives where it is, for the code after this to fill in: code of whoever
 * came first. */
LLVMValueRef kj_fault_begin(kj_lower *lo, kj_fault_kind kind, uint32_t offset);
/* Has some thread failed, so that others may wait for it in vain? An i1. */
LLVMValueRef kj_has_fault(kj_lower *lo);
/* Ends when some thread has: it may hold the lock that a loop waits for. */
void kj_fault_poll(kj_lower *lo);
void kj_store_field(kj_lower *lo, LLVMValueRef base, size_t offset, LLVMValueRef v);
kj_mask kj_lower_report(kj_lower *lo, const kj_tstmt *s, kj_mask m); /* gives who goes on */
/* A value of every thread, and one thread's; the threads of a row that run, a bit each. */
kj_tile kj_tile_full(kj_lower *lo, kj_tile t);
LLVMValueRef kj_lane_of(kj_lower *lo, const kj_tile *t, int row, LLVMValueRef lane);
LLVMValueRef kj_row_bits(kj_lower *lo, kj_mask m, int row);
/* Makes an atomic one of all blocks, on a GPU; gives it. */
LLVMValueRef kj_device_wide(kj_lower *lo, LLVMValueRef atomic);

/* The n elements at these places of two vectors behind each other; `b` may be NULL. */
LLVMValueRef kj_shuffled(kj_lower *lo, LLVMValueRef a, LLVMValueRef b, const int *places, int n);
/* Two vectors of so many lanes as one. */
LLVMValueRef kj_joined(kj_lower *lo, LLVMValueRef a, LLVMValueRef b, int lanes);

/* ---- lower_warp.c ---- */

/* An operation of a warp by the threads of m. */
kj_tile kj_lower_warp(kj_lower *lo, const kj_texpr *e, const kj_tile *args, kj_mask m);
void kj_lower_fence(kj_lower *lo, kj_builtin id, const kj_tile *args);

/* ---- lower_memory.c ---- */

kj_tile kj_lower_load(kj_lower *lo, const kj_tarray *a, kj_texpr *const *index, kj_mask m);
void kj_lower_store(kj_lower *lo, const kj_tarray *a, kj_texpr *const *index, const kj_texpr *value,
                    kj_mask m);
/* Loads and stores of a byte or value a thread in scratch memory, at the gang's place. */
kj_tile kj_context_load(kj_lower *lo, int64_t offset, kj_dtype type);
void kj_context_store(kj_lower *lo, int64_t offset, kj_tile t, kj_mask m);

/* An array access: the address of each thread's element. */
typedef struct kj_access {
    kj_dtype type;
    int scope;     /* lower_alias.c */
    bool constant; /* nothing changes the array */
    LLVMValueRef base;
    kj_tile offset;
    int group, part;   /* lanes are neighbouring elements of `group` scalars; 0: they are not */
    const char *cache; /* of a GPU's global memory: kj_tarray.cache */
} kj_access;
kj_access kj_lower_access(kj_lower *lo, const kj_tarray *a, kj_texpr *const *index, kj_mask m);
kj_tile kj_load_access(kj_lower *lo, const kj_access *a, kj_mask m);
void kj_store_access(kj_lower *lo, const kj_access *a, kj_tile v, kj_mask m);
/* The place of an access to a local array, whose offset is within it. */
void kj_access_local(kj_lower *lo, const kj_tarray *root, kj_access *a);
LLVMValueRef kj_lower_element(kj_lower *lo, kj_dtype type, LLVMValueRef base, LLVMValueRef index);
kj_dtype kj_memory_type(kj_dtype t);       /* bools are bytes there */
kj_dtype kj_unit_type(const kj_tarray *a); /* what elements consist of, integers for records */
LLVMTypeRef kj_element_type(kj_lower *lo, const kj_tarray *a); /* in memory */

/* ---- lower_cache.c ---- */

/* A scalar of a GPU's global memory, by an instruction that says how it is cached (a->cache). */
LLVMValueRef kj_cached_load(kj_lower *lo, const kj_access *a, LLVMValueRef at);
void kj_cached_store(kj_lower *lo, const kj_access *a, LLVMValueRef v, LLVMValueRef at);

/* ---- lower_vector.c ---- */

/* The vector at addresses of its own each, of the lanes in `mask`; zeros for the others. */
LLVMValueRef kj_gather(kj_lower *lo, LLVMTypeRef type, LLVMValueRef at, LLVMValueRef mask,
                       int align);
/* Row `row` of an access whose lanes differ. */
LLVMValueRef kj_load_row(kj_lower *lo, const kj_access *a, int row, kj_mask m);
void kj_store_row(kj_lower *lo, const kj_access *a, int row, LLVMValueRef v, kj_mask m);
/* LLVM's masked accesses of a vector at a pointer. */
LLVMValueRef kj_masked_load(kj_lower *lo, const kj_access *a, LLVMTypeRef type, LLVMValueRef at,
                            LLVMValueRef mask);
LLVMValueRef kj_masked_store(kj_lower *lo, LLVMValueRef v, LLVMValueRef at, LLVMValueRef mask,
                             int align);

/* ---- lower_group.c ---- */

/* kj_load_row of an access with a group. */
LLVMValueRef kj_load_group(kj_lower *lo, const kj_access *a, int row, kj_mask m);
/* The same of all parts, from `group` vectors. */
void kj_store_group(kj_lower *lo, const kj_access *a, int row, const LLVMValueRef *parts,
                    kj_mask m);
/* Stores all parts of an element, where that is what the statements from `s` on do: gives the last
 * of them, or NULL. */
const kj_tstmt *kj_lower_group(kj_lower *lo, const kj_tstmt *s, const kj_tstmt *end, kj_mask m);

/* ---- lower_atomic.c ---- */

kj_tile kj_lower_atomic(kj_lower *lo, const kj_texpr *e, kj_mask m, bool used);
/* A loop over the bits set in an i64, `thread` being the number of the current one; with `maybe`
 * there may be none. */
typedef struct kj_bit_loop {
    LLVMValueRef bits, first, thread;
    LLVMBasicBlockRef before, head, done;
} kj_bit_loop;
kj_bit_loop kj_bits_begin(kj_lower *lo, LLVMValueRef bits, bool maybe);
void kj_bits_end(kj_lower *lo, const kj_bit_loop *l);

/* ---- lower_alias.c ---- */

enum {
    KJ_SCOPE_LAUNCH,
    KJ_SCOPE_SCRATCH,
    KJ_SCOPE_ROOT
}; /* from KJ_SCOPE_ROOT on, a root array each */
int kj_alias_scope(const kj_lower *lo, const kj_tarray *root);
/* Marks a load or store as one of that scope; gives it. */
LLVMValueRef kj_alias_mark(kj_lower *lo, LLVMValueRef access, int scope);

/* ---- lower_stmt.c ---- */

/* A mask in memory, for control flow to merge. */
typedef struct kj_mask_slot {
    LLVMValueRef at[KJ_MAX_ROWS];
} kj_mask_slot;
kj_mask_slot kj_mask_new(kj_lower *lo, const char *name, kj_mask m);
kj_mask kj_mask_load(kj_lower *lo, const kj_mask_slot *s);

/* Emits a statement list (up to `end`, exclusive) for the gang; gives the threads that reach its
 * end. */
kj_mask kj_lower_stmts(kj_lower *lo, const kj_tstmt *s, const kj_tstmt *end, kj_mask m);
/* The same for m, a part of `outer` that may be empty; joins the threads that reach the end into
 * `arrived`, which may be NULL. */
void kj_lower_part(kj_lower *lo, const kj_tstmt *s, const kj_tstmt *end, kj_mask outer, kj_mask m,
                   const kj_mask_slot *arrived);
/* Statements of an inlined body, or of the kernel's, and where leaving it leads; gives the threads
 * that go on. */
kj_mask kj_lower_within(kj_lower *lo, const kj_tblock *block, const kj_tstmt *s,
                        const kj_tstmt *end, kj_mask m);
kj_mask kj_lower_inline(kj_lower *lo, const kj_tblock *block, kj_mask m);

/* ---- lower_weigh.c ---- */

/* Of [s, end), about 1 a statement; most + 1 for all that is heavier than `most`. */
int kj_weigh(const kj_tstmt *s, const kj_tstmt *end, int most);

enum { KJ_UNROLL_TURNS = 256, KJ_UNROLL_MOST = 4096 };

/* The values of a loop's variable: n of them, modulo 2^64. */
typedef struct kj_turns {
    uint64_t start, step, n;
} kj_turns;

/* @unroll with constant bounds: false when the loop is better left a loop. */
bool kj_unroll_turns(const kj_tstmt *s, kj_turns *out);

/* ---- lower_range.c ---- */

/* Of range(): is `i` before the end; is the end more than a step away; is the step 1 or -1. */
kj_tile kj_in_range(kj_lower *lo, kj_tile i, kj_tile stop, kj_tile step);
kj_tile kj_step_fits(kj_lower *lo, kj_tile i, kj_tile stop, kj_tile step);
bool kj_is_unit_step(kj_tile step);

/* ---- lower_gang.c ---- */

/* Chooses the gang for the kernel's block: rows and lanes, or lanes over the thread number. */
void kj_gang_choose(kj_lower *lo);
/* Emits loops over the block's gangs (single threads with `scalar`); `each` emits one gang's code
 * under a mask that is never empty. */
typedef void kj_gang_fn(kj_lower *lo, kj_mask m, void *arg);
void kj_gang_each(kj_lower *lo, bool scalar, kj_gang_fn *each, void *arg);
/* Attaches a hint of LLVM's ("llvm.loop.unroll.full"), and its value or 0, to the loop that `branch`
 * closes. */
void kj_loop_hint(kj_lower *lo, LLVMValueRef branch, const char *hint, int value);
/* The variables a region finds and leaves in their homes: before its gangs, and at each one's begin
 * and end. */
void kj_gang_prepare(kj_lower *lo, int region);
void kj_gang_enter(kj_lower *lo, int region);
void kj_gang_leave(kj_lower *lo, int region, kj_mask arrived);
/* Stores an immutable variable where other regions find it. */
void kj_home_store(kj_lower *lo, const kj_var *v, kj_tile t, kj_mask m);
/* Goes over to code that runs once for the block; `back` undoes it. */
typedef struct kj_gang_state {
    int rows, lanes;
    kj_slot *slots;
} kj_gang_state;
kj_gang_state kj_block_level(kj_lower *lo);
void kj_gang_back(kj_lower *lo, kj_gang_state s);
/* Room in scratch memory: `size` bytes for each thread of the block. */
int64_t kj_scratch_alloc(kj_lower *lo, int64_t size);

/* ---- lower_block.c ---- */

/* The code of one block of threads; falls into `done`. */
void kj_lower_plan(kj_lower *lo, LLVMBasicBlockRef done);
/* Threads of a region leave a construct of the block level: `target`, or the nearest loop when that
 * is NULL; with `again` only for its next iteration. */
void kj_level_leave(kj_lower *lo, const void *target, bool again, kj_mask m);

/* ---- lower_grid.c ---- */

/* A variable of code that runs once for the block, for now and behind grid_sync(). */
LLVMValueRef kj_kept_alloca(kj_lower *lo, LLVMTypeRef type, const char *name);
/* Keeps a scalar likewise, where that is needed: then `at` is not NULL. */
void kj_kept_value(kj_lower *lo, kj_tile t, LLVMValueRef *at);
kj_tile kj_kept_read(kj_lower *lo, kj_tile t, LLVMValueRef at);
/* Of a CPU's entry: before anything has scratch memory; where a block begins or goes on; where it
 * waits. */
void kj_grid_open(kj_lower *lo);
void kj_grid_resume(kj_lower *lo);
void kj_grid_wait(kj_lower *lo);

/* ---- lower_launch.c ---- */

void kj_lower_launch(kj_lower *lo, const kj_tstmt *s, kj_mask m);
kj_tile kj_lower_address(kj_lower *lo, const kj_tarray *root);

/* ---- lower_start.c ---- */

/* Where an entry goes, and for what. */
typedef struct kj_entry_spec {
    LLVMModuleRef module;
    LLVMBuilderRef code, allocas; /* of the module's context, for the lowering to use */
    LLVMDIBuilderRef lines;
    const char *entry;
    int vector;              /* f32 in the target's widest vector register */
    bool f16c;               /* of a CPU: it converts f16 */
    int sm;                  /* of a GPU: its generation */
    bool ftz;                /* of a GPU: subnormal f32 are zeros */
    const kj_source *source; /* for places in it */
    kj_diag *diag;           /* for what a device cannot do */
} kj_entry_spec;

void kj_lower_start(kj_lower *lo, kj_arena *arena, const kj_tkernel *kernel,
                    const kj_entry_spec *spec);
/* Attributes of lo->fn. */
void kj_attribute(kj_lower *lo, LLVMAttributeIndex at, const char *name, uint64_t value);
void kj_attribute_text(kj_lower *lo, const char *key, const char *value);
/* A const array becomes a global in that address space. */
void kj_lower_const(kj_lower *lo, const kj_tarray *a, unsigned space);
/* Blocks that nothing jumps to (behind a break, say) still need an end. */
void kj_lower_seal(kj_lower *lo);

/* ---- lower_line.c ---- */

void kj_lines_begin(kj_lower *lo, const kj_entry_spec *spec); /* in lo->fn, which is still empty */
void kj_lines_at(kj_lower *lo, kj_span span);

/* ---- lower_entry.c, lower_ptx.c ---- */

/* Adds the kernel's entry (a kj_host_entry) to the module. Gives the bytes of scratch memory it
 * needs. */
int64_t kj_lower_host(kj_arena *arena, const kj_tkernel *kernel, const kj_entry_spec *spec);
/* Adds a GPU's entry for out->kernel. Its parameters are all of the launch's slots, also those that
 * nothing uses; notes them and the bytes of static shared arrays in `out`. */
void kj_lower_ptx(kj_arena *arena, const kj_entry_spec *spec, kj_code *out);
void kj_block_barrier(kj_lower *lo); /* syncthreads() */
/* A float as an integer type: saturating, NaN is 0. */
LLVMValueRef kj_ptx_saturate(kj_lower *lo, LLVMValueRef v, kj_dtype to);

#endif
