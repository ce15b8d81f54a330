/* Semantic analysis, AST -> typed AST: a checked program, its kernels and what else it declares. */
#ifndef KJ_PROGRAM_H
#define KJ_PROGRAM_H

#include "kernel.h"
#include "lang/run_kinds.h"
#include "parse/ast.h"

/* Of a function that a run block calls. */
enum { KJ_MAX_RUN_ARGS = 8 };

/* How a kernel is declared: what a launch must give. Built once a file; in the arena. */
typedef struct kj_kernel_param {
    const char *name;
    kj_span span;
    bool is_const;
    bool has_default;
    kj_value init;       /* const parameter's default */
    kj_dtype type;       /* KJ_VOID when generic >= 0 */
    int generic;         /* index of the generic parameter that is its (element) type, or -1 */
    int ndim;            /* 0: a scalar */
    bool may_be_written; /* 0: surely no element of it is */
} kj_kernel_param;

typedef struct kj_kernel_decl {
    const char *name; /* of a used file's: "blur.rows" */
    const kj_item *item;
    kj_kernel_param *params; /* all, const ones included, in order */
    int nparams, nconsts, ngenerics;
    kj_generic *generics;
    int launch_bounds[2];
    bool asks_grid; /* it names gridDim or gridsize: it may have a grid-stride loop */
} kj_kernel_decl;

/* A record and who declares it. */
typedef struct kj_record_decl {
    const kj_item *item;
    const kj_aggregate *of;
} kj_record_decl;

/* What a variable of the run block is before it runs, where that is certain; a param is so with any value. */
typedef struct kj_run_name {
    const struct kj_run_name *next;
    const char *name;
    kj_rkind kind;
} kj_run_name;

typedef struct kj_program {
    const kj_file *file; /* that was given: files[0] */
    kj_file *const *files;
    int nfiles, nitems; /* items of all of them */
    kj_arena *arena;
    kj_records *records; /* all that are known */
    kj_record_decl *declared;
    int ndeclared;
    kj_kernel_decl *kernels;     /* the file's own, then those of others */
    int nkernels, nall;          /* its own, all */
    kj_const_array_info *filled; /* the const arrays that the host fills, at most KJ_MAX_FILLED */
    int nfilled;
    const kj_item *run;           /* NULL when there is none */
    const kj_run_name *run_names; /* variables at its top, as far as they are known */
} kj_program;

/* Resolves the declarations of all files and checks every function and kernel body (generic ones with
 * each type their bound allows, const parameters with their defaults or 1) and the first file's run
 * block's names. Of files that were checked elsewhere bodies are left for calls. Errors go to diag; the
 * program is usable when diag->errors is 0. Its records are put into `records`, which must outlive it. no_contract:
 * of what is constant, as kj_spec's is of kernels. */
kj_program *kj_sema_program(kj_arena *arena, kj_diag *diag, kj_file *const *files, int nfiles,
                            kj_records *records, bool no_contract);
/* What a name of a file means, or one of a file that it uses, "blur.Params"; NULL: nothing. */
const kj_item *kj_item_named(const kj_file *file, const char *name);
/* The same of its records. */
const kj_aggregate *kj_record_named(const kj_program *program, const kj_file *file,
                                    const char *name);
/* The value of a constant as kernels have it, or a part of one. */
typedef enum kj_constant_kind {
    KJ_CONSTANT_NUMBER, /* `value`, a bool too: of its type where that is `typed`, else a literal */
    KJ_CONSTANT_TUPLE,  /* `n` parts; a vector is one */
    KJ_CONSTANT_COMPLEX, /* without a type: both parts are literals */
    KJ_CONSTANT_BYTES,   /* an array; or a record or complex number, without axes: in memory form */
} kj_constant_kind;

typedef struct kj_constant {
    kj_constant_kind kind;
    bool typed;
    kj_value value;
    int n;
    kj_dtype type; /* of an element of BYTES */
    int ndim;
    int64_t shape[KJ_MAX_NDIM];
    size_t size;                 /* bytes */
    const struct kj_operand *of; /* sema's own */
} kj_constant;

/* False of one that the host fills. */
bool kj_constant_of(const kj_item *item, kj_constant *out);
/* The default of a fn's parameter, false where it has none. */
bool kj_constant_of_default(const kj_param_decl *p, kj_constant *out);
bool kj_constant_part(const kj_constant *tuple, int i, kj_constant *out);
void kj_constant_write(const kj_constant *bytes, void *to);
/* The record that the item declares, or NULL. */
const kj_aggregate *kj_record_of(const kj_program *program, const kj_item *item);
/* The const array that the item declares, or NULL: none that the host fills. */
const kj_const_array_info *kj_filled_of(const kj_program *program, const kj_item *item);
const kj_kernel_decl *kj_kernel_of(const kj_program *program, const kj_item *item);

/* One specialisation. `arena` may be another than the program's (one a launch variant). NULL after
 * errors. */
kj_tkernel *kj_sema_kernel(kj_arena *arena, kj_diag *diag, const kj_program *program,
                           const kj_kernel_decl *kernel, const kj_spec *spec);

#endif
