/* The thread's floating-point environment: arithmetic and texts are the language's (to nearest,
 * subnormal numbers kept, no traps) whatever the program around the library has set, and that is
 * set again when the library is left. -ffast-math sets such things for a whole program. */
#ifndef KJ_FLOAT_ENV_H
#define KJ_FLOAT_ENV_H

#include <stdbool.h>

#if defined(__x86_64__)

/* Vector units have one control word, and the x87, which the C library asks how to round, another. */
typedef struct kj_float_env {
    unsigned vector;
    unsigned short x87;
    bool changed;
} kj_float_env;

static inline kj_float_env kj_float_enter(void)
{
    enum { VECTOR = 0x1f80, X87 = 0x37f, FLAGS = 0x3f };
    kj_float_env env = {.vector = __builtin_ia32_stmxcsr()};
    __asm__ volatile("fnstcw %0" : "=m"(env.x87));
    env.changed = (env.vector & ~(unsigned)FLAGS) != VECTOR || env.x87 != X87;
    if (env.changed) {
        const unsigned short x87 = X87;
        __builtin_ia32_ldmxcsr(VECTOR);
        __asm__ volatile("fldcw %0" : : "m"(x87));
    }
    return env;
}

static inline void kj_float_leave(kj_float_env env)
{
    if (env.changed) {
        __builtin_ia32_ldmxcsr(env.vector);
        __asm__ volatile("fldcw %0" : : "m"(env.x87));
    }
}

#elif defined(__aarch64__)

#include <stdint.h>

/* All zeros but for what is reserved: fesetenv would leave the bits for NaN and for subnormal f16 as they are. */
typedef struct kj_float_env {
    uint64_t control;
} kj_float_env;

static inline kj_float_env kj_float_enter(void)
{
    kj_float_env env;
    __asm__ volatile("mrs %0, fpcr" : "=r"(env.control));
    if (env.control != 0)
        __asm__ volatile("msr fpcr, xzr" : : : "memory");
    return env;
}

static inline void kj_float_leave(kj_float_env env)
{
    if (env.control != 0)
        __asm__ volatile("msr fpcr, %0" : : "r"(env.control) : "memory");
}

#else

#include <fenv.h>

typedef fenv_t kj_float_env;

static inline kj_float_env kj_float_enter(void)
{
    kj_float_env env;
    fegetenv(&env);
    fesetenv(FE_DFL_ENV);
    return env;
}

static inline void kj_float_leave(kj_float_env env)
{
    fesetenv(&env);
}

#endif

#endif
