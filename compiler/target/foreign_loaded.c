/* Code for CPUs of the other family, in libkjit.so: LLVM's part for them is a library beside it, which is loaded when it
 * is first asked for. It has what else it needs of LLVM from libkjit.so, by names that only the two of one build share
 * (tools/foreign.sh), so that the dynamic linker refuses another build's. */
#include "target/foreign.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "base/guard.h"
#include "base/text.h"
#include "target/target.h"

#if defined(__aarch64__)
#define MACHINE "x86-64"
#define BEGINNING "LLVMInitializeX86"
#else
#define MACHINE "aarch64"
#define BEGINNING "LLVMInitializeAArch64"
#endif
#define LIBRARY "libkjit-" MACHINE ".so.0"

typedef void initialise_fn(void);

/* Once more is as good: it stays where it is. */
static void *load(void)
{
    return dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
}

static void initialise(void)
{
    static const char *const parts[] = {BEGINNING "TargetInfo", BEGINNING "Target",
                                        BEGINNING "TargetMC", BEGINNING "AsmPrinter"};
    void *library = load();
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        initialise_fn *part;
        *(void **)&part = dlsym(library, parts[i]); /* C has no conversion of it to a function */
        part();
    }
}

/* Constructors of LLVM's run as it is loaded: without memory for them they would leave the dynamic linker's lock held. */
static void need_room(void)
{
    void *some = malloc(4 << 20);
    if (!some)
        kj_break(KJ_NO_ROOM, "out of memory");
    free(some);
}

char *kj_foreign_ready(void)
{
    static bool ready;
    need_room();
    if (!load()) {
        const char *why = dlerror();
        kj_text text = {0};
        kj_text_printf(&text, "code for %s needs %s of this build of kjit, beside libkjit.so.0: %s",
                       MACHINE, LIBRARY, why ? why : "it cannot be loaded");
        char *message = kj_message_of(text.data ? text.data : LIBRARY);
        kj_text_free(&text);
        return message;
    }
    kj_make_ready(initialise, &ready);
    return NULL;
}
