/* Compiled code that was kept: for a kernel's specialisation by everything its code depends on. */
#ifndef KJ_CACHE_H
#define KJ_CACHE_H

#include "module/module.h"
#include "module/store.h"

/* The context's, opened when it is first asked for. */
const kj_store *kj_cache_store(kjit_context *ctx);
kj_store kj_cache_look(kjit_context *ctx);

/* One kernel's code, to be looked for or kept: from kj_cached_begin to kj_cached_end, which is safe
 * also when an arena without memory ended a call in between. */
typedef struct kj_cached {
    const kj_store *store; /* NULL: nothing is kept of this compilation */
    kj_text key;
    kj_text label; /* the source's name, a NUL, the specialisation for people; in the arena */
    kj_stored stored;
    int lock;
    bool kept; /* kj_cached_make found it there */
} kj_cached;

/* `key` is the variant's. */
void kj_cached_begin(kj_cached *c, kj_kernel *kernel, const kj_spec *spec, const uint64_t *key,
                     uint64_t unheld, const kj_compile_options *options, kj_arena *arena);
/* Completes what kj_specialise made; false when there is no such code. */
bool kj_cached_get(kj_cached *c, kj_arena *arena, kj_code *code);
/* From here to the end nobody else makes this code; somebody may have meanwhile. */
void kj_cached_lock(kj_cached *c);
void kj_cached_put(const kj_cached *c, const kj_code *code);
/* All of these in a row: code from the cache, else compiled, and then kept there. */
bool kj_cached_make(kj_cached *c, kj_arena *arena, kj_diag *diag, const kj_compile_options *options,
                    kj_stage stage, kj_code *code);
void kj_cached_end(kj_cached *c);

/* What is in the value of a file that was found; false if it is none of ours. */
typedef struct kj_cache_value {
    const char *file, *variant; /* of the label */
    const char *numbers, *args, *code;
    size_t nchildren, nargs, code_size;
} kj_cache_value;
bool kj_cache_parse(const kj_stored *stored, kj_cache_value *out);

/* What holds for all kernels of a module: `build`, `target` and `options`, each behind its name on
 * a line of its own. A key is that, then `kernel` and `variant`, then `source` alone on its line
 * and the text. */
void kj_cache_origin(kj_text *t, const kj_compile_options *options, kj_arena *arena);

#endif
