/* The pipeline: text -> tokens -> AST -> typed AST -> LLVM IR -> object or PTX.
 *
 * kj_read makes a program of a file, once; kj_compile makes one specialisation of one of its kernels
 * into code for a target. The runtime loads and launches what comes out and knows nothing of LLVM's
 * IR. */
#ifndef KJ_COMPILE_H
#define KJ_COMPILE_H

#include "kernel.h"
#include "target/cpu_level.h"

typedef struct kj_file kj_file;
typedef struct kj_program kj_program;
typedef struct kj_kernel_decl kj_kernel_decl;

/* A file that a `use` asks for. */
typedef struct kj_wanted {
    const char *path;             /* as it is written; of the library what stands behind std. */
    bool library;                 /* std.path */
    const char *from, *from_name; /* the file that says so: its id, and as messages show it */
} kj_wanted;

/* What was found: texts of the finder's, until its next call. */
typedef struct kj_found {
    const char *id;   /* of the same file the same, of others another */
    const char *name; /* as messages show it */
    const char *text;
    size_t size;
    bool checked; /* it is correct as it stands: bodies are looked at where they are called */
    const char *error, *hint; /* it was not found: a sentence; and a second one, or NULL */
} kj_found;

/* Finds files. May leave by the arena. */
typedef struct kj_loader {
    bool (*find)(void *user, kj_arena *arena, const kj_wanted *wanted, kj_found *out);
    void *user;
    const char *id;   /* of the file that is given */
    uint32_t written; /* kj_source's */
} kj_loader;

enum { KJ_MAX_FILES = 256 };

typedef struct kj_files {
    kj_file **all; /* the given one first, then in the order in which they are used */
    int n;
    kj_file *first;
} kj_files;

/* Parses `source`, which is diag's, and all files that it uses, whose texts it gets (gather.c). Never NULL. */
kj_files *kj_gather_files(kj_arena *arena, kj_diag *diag, kj_source *source,
                          const kj_loader *loader);

/* Parses `source`, which is diag's, finds the files that it uses, and checks every body; NULL after an
 * error. `no_contract`: kj_sema_program's; `file`: the AST, NULL when it is not one. */
const kj_program *kj_read(kj_arena *arena, kj_diag *diag, kj_source *source,
                          const kj_loader *loader, kj_records *records, bool no_contract,
                          const kj_file **file);

/* Compiles a specialisation up to `stage`. Messages about the source go to diag (then false, with
 * diag->errors > 0); what is wrong with the toolchain is an error at the kernel's name with code
 * "internal". Thread-safe for distinct arenas. */
bool kj_compile(kj_arena *arena, kj_diag *diag, const kj_program *program,
                const kj_kernel_decl *kernel, const kj_spec *spec,
                const kj_compile_options *options, kj_stage stage, kj_code *out);
/* kj_compile in two steps, between which code that was kept from another time can take the place of
 * the second: the typed kernel, which with the entry is all that a launch needs beside the code; and
 * the code. Checks of indices that hold by the launch `env` are left out of it; where that is NULL, those
 * for which `unheld`, of kj_unheld, has no bit. */
bool kj_specialise(kj_arena *arena, kj_diag *diag, const kj_program *program,
                   const kj_kernel_decl *kernel, const kj_spec *spec, const kj_eval_env *env,
                   uint64_t unheld, kj_code *out);
bool kj_generate(kj_arena *arena, kj_diag *diag, const kj_compile_options *options, kj_stage stage,
                 kj_code *code);
/* Where conditions of the kernel say what blockDim is, the specialisation's block becomes one for which they hold, else one of
 * no more threads than its @launch_bounds. */
void kj_take_required_block(kj_arena *arena, const kj_source *source, const kj_program *program,
                            const kj_kernel_decl *kernel, kj_spec *spec);
/* May a block be run once more by code made with `replay`, and come to the same? */
bool kj_may_be_replayed(kj_arena *arena, const kj_code *code);
/* Compiles n kernels, at least one, into one module. out[i] is what kernel i came to; the bytes are
 * the first's, of them all. */
bool kj_compile_all(kj_arena *arena, kj_diag *diag, const kj_program *program,
                    const kj_kernel_decl *const *kernels, const kj_spec *specs, int n,
                    const kj_compile_options *options, kj_stage stage, kj_code *out);

/* Everything but source, specialisation and options that code depends on: the compiler and the LLVM
 * it was made with; and the target's features. One line each. */
const char *kj_identity(kj_arena *arena);
const char *kj_target_name(kj_arena *arena, const kj_compile_options *options);

/* What a level has and the CPU this runs on does not, as LLVM calls it, in the arena; NULL: nothing. */
const char *kj_cpu_lacks(kj_arena *arena, const char *level);

/* The GPUs there can be code for, oldest first: "sm_75" and so on; NULL past the last. */
const char *kj_gpu(int i);

#endif
