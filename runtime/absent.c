/* In libkjit-rt, in place of the compiler and of what only modules of sources come to: code was made ahead of time
 * (module/image.h). Of these functions the first is asked; the others belong to modules that there are none of. */
#include <string.h>
#include <unwind.h>

#include "compile.h"
#include "launch/launch.h"
#include "module/cache.h"

#if defined(__x86_64__)

/* By the compiler's own library, which knows what the system lets programs use. A CPU that has these has all of its
 * level. */
static const char *lacks(const char *level)
{
    __builtin_cpu_init();
    bool v2 = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
    bool v3 = v2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
              __builtin_cpu_supports("fma");
    bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
              __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
              __builtin_cpu_supports("avx512vl");
    bool has = (v2 && strcmp(level, "x86-64-v2") == 0) || (v3 && strcmp(level, "x86-64-v3") == 0) ||
               (v4 && strcmp(level, "x86-64-v4") == 0);
    return has ? NULL : level;
}

#else

static const char *lacks(const char *level)
{
    const kj_cpu_level *l = kj_cpu_level_named(level);
    return l && kj_cpu_here == KJ_AARCH64 && l->family == KJ_AARCH64 ? kj_aarch64_lacks(l) : level;
}

#endif

const char *kj_cpu_lacks(kj_arena *arena, const char *level)
{
    (void)arena;
    return lacks(level);
}

/* ---- Of modules of sources ---- */

bool kj_specialise(kj_arena *arena, kj_diag *diag, const kj_program *program,
                   const kj_kernel_decl *kernel, const kj_spec *spec, const kj_eval_env *env,
                   uint64_t unheld, kj_code *out)
{
    (void)arena, (void)diag, (void)program, (void)kernel, (void)spec, (void)env, (void)unheld;
    (void)out;
    return false;
}

bool kj_may_be_replayed(kj_arena *arena, const kj_code *code)
{
    (void)arena, (void)code;
    return false;
}

void kj_cached_begin(kj_cached *c, kj_kernel *kernel, const kj_spec *spec, const uint64_t *key,
                     uint64_t unheld, const kj_compile_options *options, kj_arena *arena)
{
    (void)c, (void)kernel, (void)spec, (void)key, (void)unheld, (void)options, (void)arena;
}

bool kj_cached_make(kj_cached *c, kj_arena *arena, kj_diag *diag, const kj_compile_options *options,
                    kj_stage stage, kj_code *code)
{
    (void)c, (void)arena, (void)diag, (void)options, (void)stage, (void)code;
    return false;
}

void kj_cached_end(kj_cached *c)
{
    (void)c;
}

bool kj_constant_of(const kj_item *item, kj_constant *out)
{
    (void)item, (void)out;
    return false;
}

const kj_aggregate *kj_record_named(const kj_program *program, const kj_file *file,
                                    const char *name)
{
    (void)program, (void)file, (void)name;
    return NULL;
}

/* ---- Of run blocks, capsules, and libraries in C++ ---- */

void kj_lazy_cache_free(kjit_context *ctx)
{
    (void)ctx;
}

kjit_status kj_capsule_launch(kj_binding *b, const kj_ready *ready, kjit_stream *stream)
{
    return kj_launch_go(b, ready, stream);
}

_Unwind_Reason_Code kj_guard_personality(void);
_Unwind_Reason_Code kj_guard_personality(void)
{
    return _URC_CONTINUE_UNWIND;
}
