/* Object code -> an address to call, by LLVM's ORC.
 *
 * Each object is linked in a JITDylib of its own, so that entries of one name do not meet; a
 * JITDylib cannot be destroyed, so it is cleared and kept for the next object. What code may call
 * in the process is the table `host` and nothing else. The linker is made when the first code is
 * loaded: it takes half a millisecond. */
#include <llvm-c/Core.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>
#include <math.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu.h"

typedef struct dylib {
    struct dylib *next;
    LLVMOrcJITDylibRef ref;
} dylib;

/* What LLVM makes calls of where the CPU has no instruction. */
static const struct {
    const char *name;
    uintptr_t address;
} host[] = {
/* clang-format off */
#define HOST(name) {#name, (uintptr_t)(name)}
    HOST(memcpy), HOST(memmove), HOST(memset), HOST(memcmp), HOST(fma), HOST(fmaf),
    HOST(fmod), HOST(fmodf), HOST(floor), HOST(floorf), HOST(ceil), HOST(ceilf),
    HOST(trunc), HOST(truncf), HOST(rint), HOST(rintf), HOST(round), HOST(roundf),
#undef HOST
    /* clang-format on */
};

enum { NHOST = sizeof host / sizeof *host };

void kj_loader_init(kj_loader *loader)
{
    *loader = (kj_loader){0};
    pthread_mutex_init(&loader->lock, NULL);
}

void kj_loader_destroy(kj_loader *loader)
{
    if (loader->jit) {
        LLVMErrorRef error = LLVMOrcDisposeLLJIT(loader->jit);
        if (error)
            LLVMConsumeError(error);
    }
    while (loader->free) {
        dylib *d = loader->free;
        loader->free = d->next;
        free(d);
    }
    pthread_mutex_destroy(&loader->lock);
}

static kjit_status failed(LLVMErrorRef error, const char *doing, kj_failure *why)
{
    char *text = LLVMGetErrorMessage(error);
    kj_because(why, KJIT_INTERNAL, "cannot %s: %s", doing, text);
    LLVMDisposeErrorMessage(text);
    return KJIT_INTERNAL;
}

/* ORC's own reports: what matters of them also comes back from the call that failed. */
static void drop_report(void *user, LLVMErrorRef error)
{
    (void)user;
    LLVMConsumeError(error);
}

static kjit_status make_jit(kj_loader *loader, kj_failure *why)
{
    LLVMOrcLLJITRef jit;
    kj_host_ready();
    LLVMErrorRef error = LLVMOrcCreateLLJIT(&jit, NULL);
    if (error)
        return failed(error, "make the linker", why);
    LLVMOrcExecutionSessionSetErrorReporter(LLVMOrcLLJITGetExecutionSession(jit), drop_report,
                                            NULL);
    loader->jit = jit;
    return KJIT_OK;
}

static kjit_status define_host(kj_loader *loader, LLVMOrcJITDylibRef ref, kj_failure *why)
{
    LLVMOrcCSymbolMapPair pairs[NHOST];
    for (size_t i = 0; i < NHOST; i++) {
        pairs[i].Name = LLVMOrcLLJITMangleAndIntern(loader->jit, host[i].name);
        pairs[i].Sym =
            (LLVMJITEvaluatedSymbol){host[i].address, {LLVMJITSymbolGenericFlagsCallable, 0}};
    }
    LLVMErrorRef error = LLVMOrcJITDylibDefine(ref, LLVMOrcAbsoluteSymbols(pairs, NHOST));
    return error ? failed(error, "define the host's functions", why) : KJIT_OK;
}

/* An empty JITDylib: a used one or a new one. */
static kjit_status take_dylib(kj_loader *loader, dylib **out, kj_failure *why)
{
    dylib *d = loader->free;
    if (d) {
        loader->free = d->next;
        *out = d;
        return KJIT_OK;
    }
    char name[32];
    d = calloc(1, sizeof *d);
    if (!d)
        return kj_because(why, KJIT_NO_MEMORY, "out of memory");
    snprintf(name, sizeof name, "kernel.%llu", (unsigned long long)loader->count++);
    d->ref = LLVMOrcExecutionSessionCreateBareJITDylib(LLVMOrcLLJITGetExecutionSession(loader->jit),
                                                       name);
    *out = d;
    return KJIT_OK;
}

static void clear_dylib(kj_loader *loader, dylib *d)
{
    LLVMErrorRef error = LLVMOrcJITDylibClear(d->ref);
    if (error) { /* not fit for use again */
        LLVMConsumeError(error);
        free(d);
        return;
    }
    d->next = loader->free;
    loader->free = d;
}

typedef struct found {
    sem_t ready;
    LLVMErrorRef error;
    LLVMOrcExecutorAddress address;
} found;

static void on_found(LLVMErrorRef error, LLVMOrcCSymbolMapPairs pairs, size_t n, void *user)
{
    found *f = user;
    f->error = error;
    if (!error && n == 1)
        f->address = pairs[0].Sym.Address;
    sem_post(&f->ready);
}

static kjit_status look_up(kj_loader *loader, dylib *d, const char *name, kj_host_entry *out,
                           kj_failure *why)
{
    found f = {.error = NULL};
    sem_init(&f.ready, 0, 0);
    LLVMOrcCJITDylibSearchOrderElement order = {d->ref, LLVMOrcJITDylibLookupFlagsMatchAllSymbols};
    LLVMOrcCLookupSetElement symbol = {LLVMOrcLLJITMangleAndIntern(loader->jit, name),
                                       LLVMOrcSymbolLookupFlagsRequiredSymbol};
    LLVMOrcExecutionSessionLookup(LLVMOrcLLJITGetExecutionSession(loader->jit),
                                  LLVMOrcLookupKindStatic, &order, 1, &symbol, 1, on_found, &f);
    while (sem_wait(&f.ready) != 0) /* interrupted by a signal */
        continue;
    sem_destroy(&f.ready);
    if (f.error)
        return failed(f.error, "link the compiled kernel", why);
    *out = (kj_host_entry)(uintptr_t)f.address;
    return KJIT_OK;
}

static size_t count_slots(const kj_tkernel *k)
{
    size_t n = 1; /* the report */
    for (int i = 0; i < k->nparams; i++)
        n += k->params[i].array ? 1 + 2 * (size_t)k->params[i].array->ndim : 1;
    return n;
}

static kjit_status find_children(kj_loader *loader, const kj_code *code, kj_exec *exec,
                                 kj_failure *why)
{
    exec->children = calloc((size_t)code->nchildren, sizeof *exec->children);
    kjit_status status =
        exec->children ? KJIT_OK : kj_because(why, KJIT_NO_MEMORY, "out of memory");
    for (int i = 0; i < code->nchildren && status == KJIT_OK; i++) {
        const kj_code *child = &code->children[i];
        kj_child_entry *c = &exec->children[i];
        c->scratch = (size_t)(child->scratch + kj_shared_bytes(child->kernel, NULL));
        c->nslots = count_slots(child->kernel);
        memcpy(c->block, child->kernel->block, sizeof c->block);
        status = look_up(loader, exec->code, child->entry, &c->entry, why);
    }
    return status;
}

static kjit_status link_object(kj_loader *loader, const kj_code *code, kj_exec *exec,
                               kj_failure *why)
{
    kjit_status status = loader->jit ? KJIT_OK : make_jit(loader, why);
    if (status != KJIT_OK)
        return status;
    status = take_dylib(loader, &exec->code, why);
    if (status != KJIT_OK)
        return status;
    status = define_host(loader, exec->code->ref, why);
    if (status == KJIT_OK) {
        LLVMMemoryBufferRef object =
            LLVMCreateMemoryBufferWithMemoryRangeCopy(code->bytes, code->size, "kernel");
        LLVMErrorRef error = LLVMOrcLLJITAddObjectFile(loader->jit, exec->code->ref, object);
        status = error ? failed(error, "load the compiled kernel", why)
                       : look_up(loader, exec->code, code->entry, &exec->entry, why);
    }
    if (status == KJIT_OK && code->nchildren > 0)
        status = find_children(loader, code, exec, why);
    if (status != KJIT_OK)
        clear_dylib(loader, exec->code);
    return status;
}

kjit_status kj_cpu_load(kj_device *dev, const kj_code *code, kj_exec **out, kj_failure *why)
{
    kj_exec *exec = calloc(1, sizeof *exec);
    if (!exec)
        return kj_because(why, KJIT_NO_MEMORY, "out of memory");
    pthread_mutex_lock(&dev->loader.lock);
    kjit_status status = link_object(&dev->loader, code, exec, why);
    pthread_mutex_unlock(&dev->loader.lock);
    exec->grid_sync = code->kernel->grid_sync != NULL;
    if (status == KJIT_OK) {
        *out = exec;
    } else {
        free(exec->children);
        free(exec);
    }
    return status;
}

kjit_status kj_unload(kj_device *dev, kj_exec *exec, kj_failure *why)
{
    (void)why;
    if (!exec)
        return KJIT_OK;
    pthread_mutex_lock(&dev->loader.lock);
    clear_dylib(&dev->loader, exec->code);
    pthread_mutex_unlock(&dev->loader.lock);
    free(exec->children);
    free(exec);
    return KJIT_OK;
}
