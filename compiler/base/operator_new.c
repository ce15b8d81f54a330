/* C++'s operator new as LLVM calls it, where the linker was told to wrap it (--wrap of the Makefile;
 * else nothing refers to this file). The program's own is called, whichever it has, so that each
 * delete finds what it knows; only the exception that says that there is no memory ends here.
 *
 * On its way through LLVM it would not always arrive at the guard: LLVM has functions without any
 * code, which begin where the next function does, and their empty unwind tables hide that one's.
 *
 * Each has a second name for the library of other CPUs' code (tools/foreign.sh), visible, as some linkers hide what else is called like it. */
#include "base/guard.h"

#define WRAPPED(form, parameters, arguments) \
    void *__real_##form parameters; \
    void *__wrap_##form parameters; \
    void *__wrap_##form parameters \
    { \
        KJ_TAKES_EXCEPTIONS(); \
        void *memory = __real_##form arguments; \
        __asm__ volatile("" : "+r"(memory)); /* a frame that lasts over the call */ \
        return memory; \
    } \
    void *kj_##form parameters; \
    void *kj_##form parameters __attribute__((visibility("default"), alias("__wrap_" #form)));

/* new, new[], and both with an alignment: std::align_val_t, which is passed as a size is */
WRAPPED(_Znwm, (size_t size), (size))
WRAPPED(_Znam, (size_t size), (size))
WRAPPED(_ZnwmSt11align_val_t, (size_t size, size_t alignment), (size, alignment))
WRAPPED(_ZnamSt11align_val_t, (size_t size, size_t alignment), (size, alignment))
