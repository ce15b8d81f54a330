/* What is known of launches from the text alone: which elements a kernel's threads have to themselves, and the
 * numbers and extents of run blocks. */
#ifndef KJ_WARN_LAUNCH_H
#define KJ_WARN_LAUNCH_H

#include "warn/warn.h"

enum { KJ_GRID_AXES = 3 };

/* A launch as it is written: k[grid, block](args), k.forall(n)(args), whose n is its grid. */
typedef struct kj_launch {
    const kj_expr *call, *grid;
    const kj_item *kernel;
    bool forall;
} kj_launch;

/* threads.c */
void kj_warn_of_launches(kj_arena *arena, kj_diag *diag, const kj_file *file);

/* ---- own.c ---- */

/* Of a parameter that is an array: every index is the thread's place in the grid. */
typedef struct kj_own {
    const kj_expr *element; /* the first that is assigned, or else read; NULL: none, or not so */
    bool written;
    int grid_axis[KJ_MAX_NDIM]; /* of each of the array's axes */
} kj_own;

enum { KJ_MOST_BOUNDS = 4 };

/* What the place along an axis of the grid is compared with: numbers, parameters, extents of such. It goes
 * no further than the least of them. */
typedef struct kj_reach {
    const kj_expr *bounds[KJ_MOST_BOUNDS];
    bool inclusive[KJ_MOST_BOUNDS]; /* `i <= n` */
    int n;
} kj_reach;

typedef struct kj_owned {
    kj_own *params; /* in their order */
    kj_reach reach[KJ_GRID_AXES];
    const kj_expr
        *block[KJ_GRID_AXES]; /* as what the kernel has the block's extent; NULL: as blockDim */
} kj_owned;

/* The number of the parameter that the expression is; -1: it is none. */
int kj_warn_param(const kj_item *kernel, const kj_expr *e);
/* False where it is not certain which elements are a thread's. */
bool kj_warn_owned(kj_arena *arena, const kj_file *file, const kj_item *kernel, kj_owned *out);

/* ---- effect.c ---- */

typedef struct kj_effects {
    kj_touched *arrays;  /* of the parameters, in their order */
    bool speaks;         /* it, or what it calls, prints or asserts */
    bool blocks_differ;  /* they ask which block they are, or wait for others */
    bool threads_differ; /* they ask which thread they are */
    bool uncertain;      /* it launches kernels, or calls what other files have */
    const kj_expr
        *again; /* the first element that is changed by what it was, or in a loop; or NULL */
    const kj_expr
        *by_thread; /* the first element that is assigned by the place in the block; or NULL */
} kj_effects;

/* The functions that a kernel calls, of a file's: room that its kernels use one after the other. */
typedef struct kj_reached {
    const kj_item **from; /* by item, in the file's order: the last kernel that reached it */
    const kj_item **fns;  /* in the order that they were reached in */
} kj_reached;

kj_reached kj_reached_of(kj_arena *arena, const kj_file *file);
void kj_warn_effects(kj_arena *arena, const kj_file *file, kj_reached *reached,
                     const kj_item *kernel, kj_effects *out);

/* ---- extent.c ---- */

typedef struct kj_run_value {
    enum {
        KJ_UNKNOWN,
        KJ_NUMBERS,
        KJ_EXTENTS
    } kind; /* an integer or a tuple of them; an array's */
    int n;
    int64_t numbers[KJ_MAX_NDIM];
} kj_run_value;

typedef struct kj_run_name {
    const char *name;    /* interned */
    const kj_expr *init; /* NULL: it changes, is of a loop, ... */
    const char *given;   /* the value that a param has in its default's place: a text; or NULL */
    int nth, of;         /* the init's n-th part, of so many; of 0: all of it */
    size_t order;        /* in the text */
    kj_run_value value;
} kj_run_name;

/* The names that a file, a run block or one of its functions declares, sorted. */
typedef struct kj_run_names {
    kj_arena *arena;
    const struct kj_run_names
        *file; /* those of its file, which it sees too; NULL: they are these */
    kj_run_name *names;
    size_t n, capacity;
    const kj_warnings *wanted; /* that has what params are given; or NULL */
} kj_run_names;

void kj_warn_file_names(kj_run_names *names, const kj_file *file);
void kj_warn_run_names(kj_run_names *names, const kj_item *run);
/* What an expression comes to by the text alone, a param being what it is given, or else its default. */
kj_run_value kj_warn_value(const kj_run_names *names, const kj_expr *e);
/* The row of run_builtins.def that a call's function is of; -1: none. */
int kj_warn_row(const kj_run_names *names, const kj_expr *callee);
bool kj_warn_declares(const kj_run_names *names, const char *name);
/* n // 256, of int(n / 256) the n / 256; NULL: it is none. */
const kj_expr *kj_warn_division(const kj_run_names *names, const kj_expr *e);
/* What a name has by its declaration; else the expression itself. */
const kj_expr *kj_warn_init(const kj_run_names *names, const kj_expr *e);

/* ---- lost.c ---- */

void kj_warn_of_lost(kj_diag *diag, const kj_run_names *names, const kj_launch *x,
                     const kj_effects *does);
void kj_warn_of_threads(kj_diag *diag, const kj_launch *x, int64_t threads, const kj_effects *does);
void kj_warn_of_blocks(kj_diag *diag, const kj_launch *x, int64_t blocks, const kj_effects *does);

#endif
