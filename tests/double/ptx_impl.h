/* The interpreter's insides: what the parser leaves and the executor runs.
 *
 * A warp's registers are columns: register r of lane l is element l of an array of 32, found at the
 * offset the parser gave it in its function's frame. Immediates, addresses of variables and special
 * registers are arrays of the same kind, so an instruction is one loop over lanes whatever its
 * operands are. A predicate is a word, a bit a lane. */
#ifndef PTX_IMPL_H
#define PTX_IMPL_H

#include "ptx.h"

enum { PTX_LANES = 32, PTX_ERRORS = 20, PTX_BARRIERS = 16 };
#define PTX_FULL 0xffffffffu

/* Generic addresses: what is below is global memory. */
#define PTX_SHARED_WINDOW 0x0100000000000000u
#define PTX_LOCAL_WINDOW 0x0200000000000000u
#define PTX_CODE_WINDOW 0x0400000000000000u
/* Part of global memory: parameters of launches by kernels. */
#define PTX_LAUNCH_WINDOW 0x0080000000000000u
/* Parameter memory: a launch's is below, a thread's own (of calls) from here on. */
#define PTX_CALL_PARAMS 0x100000u
/* Where a block's shared memory starts: not at 0, so that a forgotten base shows. */
#define PTX_SHARED_BASE 1024u

/* ---- Memory of a module: freed at once (ptx_text.c) ---- */

typedef struct ptx_arena {
    struct ptx_chunk *chunks;
} ptx_arena;

/* Zeroed; never NULL: out of memory ends the test's process, as nothing is tested without it. */
void *ptx_new(ptx_arena *arena, size_t size);
char *ptx_keep(ptx_arena *arena, const char *text, size_t length);
void ptx_free(ptx_arena *arena);
/* The array, grown so that one more fits (malloc's memory). */
void *ptx_grow(void *array, size_t count, size_t *room, size_t size);

/* ---- Forms: an opcode taken apart (ptx_form.c) ---- */

typedef enum ptx_type {
#define PTX_TYPE(name, bytes, class) PTX_##name,
#include "ptx_types.def"
#undef PTX_TYPE
    PTX_TYPES
} ptx_type;

typedef enum ptx_round {
    PTX_NO_ROUND,
#define PTX_ROUND(name) PTX_##name,
#include "ptx_words.def"
} ptx_round;

typedef enum ptx_space {
    PTX_generic,
    PTX_global,
    PTX_shared,
    PTX_local,
    PTX_const,
    PTX_param,
} ptx_space;

typedef enum ptx_pick {
    PTX_NO_PICK,
#define PTX_PICK(name) PTX_##name,
#include "ptx_words.def"
    PTX_PICKS
} ptx_pick;

typedef enum ptx_flag {
#define PTX_FLAG(name) PTX_HAS_##name,
#include "ptx_words.def"
    PTX_FLAGS
} ptx_flag;

typedef struct ptx_form {
    uint8_t ntypes, type[4];   /* ptx_type, in the order written */
    uint8_t npicks, pick[3];   /* ptx_pick, likewise */
    uint8_t round, space, vec; /* space: the first */
    uint32_t flags;            /* a bit a ptx_flag */
} ptx_form;

#define PTX_HAS(form, flag) (((form)->flags >> PTX_HAS_##flag & 1) != 0)

typedef struct ptx_warp ptx_warp;
typedef struct ptx_inst ptx_inst;
typedef struct ptx_function ptx_function;

/* Executes one instruction for the lanes of a mask that is not empty. */
typedef void ptx_fn(ptx_warp *warp, const ptx_inst *inst, uint32_t lanes);

/* What the executor itself has to do about an instruction. */
typedef enum ptx_control {
    PTX_PLAIN,
    PTX_CHECK, /* may fault */
    PTX_BRA,
    PTX_BRX,
    PTX_CALL,
    PTX_RET,
    PTX_EXIT,
    PTX_TRAP,
    PTX_SYNC,    /* of the lanes in a mask, which is the last operand */
    PTX_BARRIER, /* of a block */
    PTX_PAUSE,   /* others may run now */
} ptx_control;

/* A row of ptx_ops.def. */
typedef struct ptx_op {
    const char *pattern, *operands;
    ptx_fn *(*choose)(const ptx_form *form); /* NULL when the form has no such function */
    uint8_t control;
} ptx_op;

/* The row that an opcode fits and its form; NULL when none does. */
const ptx_op *ptx_match(const char *opcode, ptx_form *form);

int ptx_type_bytes(ptx_type type);
char ptx_type_class(ptx_type type);

/* ---- What a module is made of ---- */

struct ptx_inst {
    ptx_fn *fn;
    uint32_t at[8];   /* operands, offsets in the frame; destinations first */
    uint8_t bytes[8]; /* of an operand's elements; 0: a predicate */
    uint32_t base;    /* the register of the address */
    uint8_t base_bytes, control, noperands;
    bool guarded, spins; /* spins: it may be what lanes wait with */
    uint8_t flipped;     /* a bit an operand: a predicate read negated */
    uint32_t guard, guard_flip;
    int64_t imm; /* added to the address */
    ptx_form form;
    int target; /* an instruction, or of PTX_BRX and PTX_CALL an index */
    int line, loc_file, loc_line;
    int span;     /* which remembered range this access uses */
    uint8_t size; /* of a copy that arrives later */
};

typedef enum ptx_symbol_kind {
    PTX_REGISTER,
    PTX_REGISTERS, /* %r<n> */
    PTX_VARIABLE,
    PTX_FUNCTION,
    PTX_LABEL,
    PTX_TARGETS, /* .branchtargets and .calltargets */
} ptx_symbol_kind;

typedef struct ptx_symbol {
    struct ptx_symbol *next; /* of the same hash */
    const char *name;
    struct ptx_scope *scope;
    ptx_symbol_kind kind;
    ptx_type type;
    uint32_t at, count; /* registers: the first one's offset, how many; a label: its instruction */
    struct ptx_var *var;
    ptx_function *function;
    struct ptx_targets *targets;
} ptx_symbol;

/* A variable's initial value that is an address. */
typedef struct ptx_reloc {
    struct ptx_reloc *next;
    const char *symbol;
    size_t offset, bytes;
    int64_t addend;
    int shift, line; /* shift: of the address, to the bytes that are kept */
} ptx_reloc;

typedef struct ptx_var {
    struct ptx_var *next;
    const char *name;
    ptx_space space;
    bool external;
    size_t size, align;
    uint64_t address; /* in its space; global and const: what alloc gave */
    char *init;       /* of all its bytes, or NULL: zeros */
    ptx_reloc *relocs;
    ptx_function *owner; /* local and param */
} ptx_var;

/* Columns that are not registers, filled when a frame is made. */
typedef struct ptx_constant {
    uint32_t at;
    uint8_t bytes;
    uint64_t value;
    const ptx_symbol *symbol; /* its address is added, or NULL */
} ptx_constant;

typedef enum ptx_special {
#define PTX_SPECIAL(name, text) PTX_SR_##name,
#include "ptx_special.def"
#undef PTX_SPECIAL
    PTX_SPECIALS
} ptx_special;

typedef struct ptx_special_use {
    uint32_t at;
    uint8_t bytes;
    ptx_special what;
} ptx_special_use;

typedef struct ptx_targets {
    struct ptx_targets *next;
    const char *name;
    int count;
    const char **names;
    int *at;
    struct ptx_scope *scope;
    int line;
} ptx_targets;

/* One call's shape: variables of the caller's parameter memory. */
typedef struct ptx_call {
    ptx_function *callee; /* NULL: by the address in at[0] */
    int nargs, nresults;
    ptx_var **args, **results;
} ptx_call;

/* Functions of CUDA's device runtime. */
typedef enum ptx_devrt { PTX_NO_DEVRT, PTX_GET_BUFFER, PTX_LAUNCH } ptx_devrt;

struct ptx_function {
    struct ptx_function *next;
    const char *name;
    bool entry, defined;
    ptx_devrt devrt;
    int index, first; /* first: its first instruction */
    uint32_t frame;   /* bytes of its columns */
    int registers;
    ptx_constant *constants;
    size_t nconstants, constants_room;
    ptx_special_use *specials;
    size_t nspecials, specials_room;
    ptx_var **params, **results;
    int nparams, nresults;
    size_t params_room, results_room;
    size_t param_size;  /* of an entry: the launch's parameter memory */
    size_t call_params; /* bytes a thread: a function's own parameters, and those of its calls */
    size_t local;
    ptx_var **uses; /* shared variables it names */
    size_t nuses, uses_room;
    ptx_function **calls;
    size_t ncalls, calls_room;
    bool calls_unknown; /* by address */
    int max_threads;
    unsigned required[3];
};

struct ptx_kernel {
    ptx_module *module;
    const ptx_function *function;
    ptx_kernel_info info;
};

struct ptx_module {
    ptx_arena arena;
    ptx_memory memory;
    ptx_inst *code;
    size_t ncode, code_room;
    int spans;
    bool reads_only; /* it has ld.global.nc */
    ptx_var *vars;
    ptx_function *functions;
    int nfunctions;
    ptx_function **by_index;
    struct ptx_kernel *kernels;
    int nkernels;
    size_t shared;      /* all static shared variables and the gaps between */
    uint64_t constants; /* where constants are, without the low 32 bits of their addresses */
    ptx_call *calls;
    size_t ncalls, calls_room;
    ptx_targets **targets;
    size_t ntargets, targets_room;
    const char **files;
    size_t nfiles, files_room;
};
#endif
