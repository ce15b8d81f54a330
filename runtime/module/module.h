/* Modules: a source, its kernels, and the code of each for what launches have fixed. */
#ifndef KJ_MODULE_H
#define KJ_MODULE_H

#include "array/array.h"
#include "compile.h"
#include "sema/program.h"

/* ---- Modules (module.c, variant.c) ---- */

/* What runs a block of a variant again, to see which of its threads failed first (replay.c). */
typedef struct kj_replays {
    struct kj_kernel *kernel;
    const char *name;          /* for traces */
    const kj_spec *spec;       /* the variant's */
    pthread_mutex_t lock;      /* held while code is made and added */
    struct kj_replay *made[2]; /* for arrays that may overlap, and that do not; NULL: not yet */
} kj_replays;

/* Code of one kernel for one kj_spec. Found by its key; never removed while the module lives. */
typedef struct kj_variant {
    _Atomic(struct kj_variant *) next;
    const kj_kernel_info *kernel;
    kj_replays *replays; /* or NULL */
    kj_exec *exec;
    kj_arena arena;
    const char *what;        /* "kernel 'scale' (scale.knl:7)" */
    uint64_t *filled;        /* by index: the version that the code's variable has */
    int64_t scratch;         /* bytes before the shared arrays */
    int64_t shared;          /* bytes of shared arrays; -1: by the launch's values */
    _Atomic int64_t for_all; /* threads of a block that kjit_launch_forall takes in place of this
                                variant's; 0: it was not asked yet */
    uint64_t hash;
    uint64_t unheld; /* of its kernel's limits: of which launches it is the code */
    int ngiven; /* and what the one that it was compiled for gave (kj_given); -1: nothing is known */
    int64_t given[KJ_MAX_GIVEN];
    uint64_t key[];
} kj_variant;

enum { KJ_BUCKETS = 32 };
#define KJ_UNFIT KJ_NTYPES

/* A kernel as the launch sees it. */
typedef struct kj_kernel {
    kjit_module *mod;
    const kj_kernel_decl *decl;
    const kjit_kernel_decl *told; /* what kjit_module_kernel_decl gives, and of each parameter */
    const kjit_kernel_param *told_params;
    uint64_t name_hash;
    int key_words;
    /* By const parameter, of forms (launch/assume.c). Type KJ_VOID: not given; KJ_UNFIT: given, and it does not fit.
     * NULL: none is. */
    kj_value *assumed;
    pthread_mutex_t lock; /* held while a variant is compiled and added */
    _Atomic(kj_variant *) buckets[KJ_BUCKETS];
} kj_kernel;

/* A const array that the host fills: of kj_program.filled. */
typedef struct kj_const_array_copy {
    kjit_array *array; /* its elements in C order, on the host; NULL until it is filled */
    uint64_t version;
} kj_const_array_copy;

struct kjit_module {
    kj_handle handle;
    kj_pending pending;
    kjit_context *ctx;
    atomic_int refs;
    kj_compile_options options; /* of launches */
    unsigned asked;             /* checks that were asked for: forms have no others */
    const char *arch;           /* what forms are shown for; NULL: the context's device */
    const char *lacks;          /* what this CPU has not of options.cpu, or NULL */
    kj_arena arena;
    kj_source source;
    kj_diag diag;
    const kj_file *file;
    const kj_program *program; /* NULL when there were errors */
    kj_kernel *kernels;        /* the file's own, then those of files that it uses */
    int nkernels, nall;        /* its own, all */
    kjit_param_info *params;   /* of its run block */
    int nparams;
    kjit_const_info *consts; /* of its file */
    int nconsts;
    kjit_test_info *tests;  /* of its file, in their order */
    const kj_item **titled; /* and by their titles */
    int ntests;
    pthread_mutex_t fill_lock;
    kj_const_array_copy *filled;
    struct kj_image *image; /* NULL: code is compiled when it is asked for (image.h) */
    void *owner;            /* of its bytes, for the deleter, if there is one */
    void (*deleter)(void *owner);
    const char *log, *log_json;
    const kj_message **messages; /* in the order of their places */
    int nmessages;
};

/* ---- Files that are used (sources.c) ---- */

/* Finds them for one module: from its options, in folders, in the library. */
typedef struct kj_finder {
    kj_loader loader;
    kjit_context *ctx;
    const kjit_compile_options *options; /* or NULL */
    bool files;                          /* it reads them wherever they are */
    const char *path;                    /* of the environment, or NULL */
    kj_text id;                          /* of the first */
    char *text;                          /* of what was found last, malloc'd; or NULL */
} kj_finder;

/* `name` is of the module's own text. KJIT_INVALID for options that are wrong. kj_finder_close in any case. */
kjit_status kj_finder_open(kj_finder *f, kjit_context *ctx, const char *name,
                           const kjit_compile_options *options);
/* That text was read from a file: so may others be. */
kjit_status kj_finder_reads_files(kj_finder *f, int fd);
void kj_finder_close(kj_finder *f);

/* All of a file, however long it says it is, malloc'd; *size at most one more than a source may have. NULL with
 * errno. */
char *kj_read_source(int fd, size_t *size);
kjit_diagnostic kj_diagnostic_of(const kjit_module *mod, const kj_message *m);
/* An empty one, whose arena is in use until kj_compiling_end; NULL: out of memory. */
kjit_module *kj_module_new(kjit_context *ctx);
/* A module of a text, whose files `loader` finds. */
kjit_status kj_module_make(kjit_context *ctx, const char *name, const char *source, size_t size,
                           const kjit_compile_options *options, const kj_loader *loader,
                           kjit_module **out);

/* How the files of a program's source are made up, if it has more than one: of each its bytes, and which it uses
 * (cache.c). */
void kj_put_files(kj_text *t, const kj_program *program);

static inline kjit_status kj_enter_module(const kjit_module *mod)
{
    return kj_lives(mod, KJ_MODULE) ? kj_enter(mod->ctx) : kj_no_handle(mod, KJ_MODULE);
}
void kj_module_hold(kjit_module *mod);
void kj_list_kernels(kjit_module *mod); /* of its program: while it is made */
void kj_list_params(kjit_module *mod);  /* params.c: likewise */
void kj_list_consts(kjit_module *mod);  /* consts.c: likewise */
void kj_list_tests(kjit_module *mod);   /* tests.c: likewise */
/* The test of its file with that title, or NULL (tests.c). */
const kj_item *kj_test_named(const kjit_module *mod, const char *title);
const char *kj_on_one_line(kjit_module *mod, kj_span span); /* the text there, without comments */
void kj_describe_kernels(kjit_module *mod);                 /* described.c: likewise */
/* The comment behind `at` on its line, without the #, or NULL (params.c). */
const char *kj_remark_behind(kjit_module *mod, uint32_t at);
/* A default value behind what ends at `before` and a `=`, with the parentheses around it, which its tree has not
 * (params.c). */
kj_span kj_written_value(const kjit_module *mod, uint32_t before, kj_span span);
/* Is it another name of the one that is called `full`? A file may use one by several names. */
bool kj_is_called(const kjit_module *mod, const char *full, const char *name);
void kj_module_drop(kjit_module *mod);                         /* on any thread */
kj_kernel *kj_module_find(kjit_module *mod, const char *name); /* NULL: none */
/* KJIT_NOT_FOUND, with a name that is near. */
kjit_status kj_no_kernel(kjit_module *mod, const char *name);
kjit_status kj_not_compiled(const kjit_module *mod); /* KJIT_COMPILE */
/* And is it compiled? */
static inline kjit_status kj_enter_compiled(const kjit_module *mod)
{
    kjit_status status = kj_enter_module(mod);
    return status == KJIT_OK && !mod->program ? kj_not_compiled(mod) : status;
}
/* What forms show a generic type as: one that stands for all that its bound allows, and takes the defaults of
 * const parameters (form_spec.c). */
kj_dtype kj_form_type(const kj_kernel_decl *decl, int generic);
/* Has somebody given the nth of its const parameters a value? */
bool kj_is_assumed(const kj_kernel *kernel, int nth);
/* The specialisation that is shown when no launch says which; its arrays are apart and aligned where the options
 * have an `arch`. */
kj_spec kj_form_spec(kj_arena *arena, const kj_kernel *kernel, const int64_t block[3],
                     const kj_compile_options *options);
/* KJIT_NO_DEVICE where its code is to be for a CPU that has more than this one. */
kjit_status kj_module_fits(const kjit_module *mod);

/* The key of what a launch fixes, and back, but for what the module's options say (spec_key.c). */
int kj_key_words(const kj_kernel_decl *decl);
void kj_spec_key(const kj_kernel *kernel, const kj_spec *spec, uint64_t *key);
kj_spec kj_key_spec(kj_arena *arena, const kj_kernel *kernel, const uint64_t *key);
/* "block (16, 16, 1), T = f32, TILE = 16": it for people. */
void kj_put_variant(kj_text *t, const kj_kernel *kernel, const kj_spec *spec);

/* The variant for a key and what the launch's values say of its limits, compiled if it is new; `label` is the kernel's name for timings and
 * messages, NULL: its own. */
kjit_status kj_variant_get(kj_kernel *kernel, const kj_spec *spec, const uint64_t *key,
                           const kj_eval_env *env, const char *label, kj_variant **out);
kjit_status kj_variant_free(kj_variant *variant, kjit_context *ctx, kj_failure *why);

/* ---- Const arrays that the host fills (const_array.c) ---- */

/* Before a launch: KJIT_LAUNCH when one that the kernel uses was never filled. */
kjit_status kj_const_arrays_ready(kjit_module *mod, kj_variant *variant);
/* For a CPU's slots: the addresses of those the kernel uses; returns how many. */
size_t kj_const_array_slots(kjit_module *mod, const kj_kernel_info *kernel, uint64_t *slots);
void kj_const_arrays_free(kjit_module *mod);
/* What they hold, by index, for kj_const_arrays_reset, which frees it; NULL: out of memory. A test's changes end with it.
 * Both by who runs the test, in its turn. */
typedef struct kj_const_array_kept {
    uint64_t version;
    const char *data; /* behind these; NULL: it was not filled */
} kj_const_array_kept;
kj_const_array_kept *kj_const_arrays_keep(kjit_module *mod);
void kj_const_arrays_reset(kjit_module *mod, kj_const_array_kept *kept);

/* ---- Failures of what runs (fault.c) ---- */

/* What is told of a fault, its text as a diagnostic; nothing when there is no memory. */
kj_telling kj_fault_told(kjit_module *mod, const kj_kernel_info *kernel,
                         const kj_host_fault *fault);
/* The same of a launch that has run, whose memory is as it left it: its first fault in order (replay.c). What finds it ends
 * by the launch's halt, too, and then it is the fault that is known. */
kj_telling kj_launch_fault_told(kjit_module *mod, const kj_variant *variant,
                                const kj_launch_call *call, kj_halt_word halt,
                                const kj_host_fault *fault);
/* What kjit_last_fault gives of it, when its message is `m`: malloc'd, or NULL (fault_fields.c). */
kjit_fault *kj_fault_fields(const kj_source *source, const kj_kernel_info *kernel,
                            const kj_host_fault *fault, const kj_message *m);
void kj_replays_free(kj_replays *replays, kjit_context *ctx); /* for NULL nothing */
/* The device cannot do what a kernel launches. */
kjit_status kj_fail_launching(kjit_module *mod, const kj_kernel_info *kernel, const char *why);
/* More blocks, of so many threads, than `most` at a grid_sync(). */
kjit_status kj_fail_crowd(kjit_module *mod, const kj_kernel_info *kernel, int64_t blocks,
                          int64_t threads, int64_t most);
/* A const array that the host was to fill before the kernel was launched. */
kjit_status kj_fail_unfilled(kjit_module *mod, const kj_const_array_info *array,
                             const char *kernel);
/* Takes what is told of it. */
kjit_status kj_fail_fault(kjit_module *mod, kjit_status status, kj_telling telling);

#endif
