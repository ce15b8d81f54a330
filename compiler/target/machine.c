/* LLVM's target machines: triple, CPU and features.
 *
 * One takes a millisecond to make, most of it to read the names of features: a fifth of what a small kernel takes to
 * compile. So a compilation that has come to its end leaves its machine for the next one alike, on whatever thread. */
#include <llvm-c/Target.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "target/target.h"

enum {
    KEPT = 8,   /* half a megabyte each */
    USES = 1000 /* then it is made anew: some keep a little of each module they have seen */
};

typedef struct kept {
    char *name;
    LLVMTargetMachineRef machine;
    int uses;
} kept;

/* The longest unused first. The lock is only tried: who finds it taken does without, as the child of a process that
 * forked meanwhile does for ever. */
static struct {
    pthread_mutex_t lock;
    kept of[KEPT];
    int n;
} idle = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* What machines that are alike have in common; NULL without memory. */
static char *name_of(const kj_target *t, LLVMCodeGenOptLevel level)
{
    size_t size = strlen(t->triple) + strlen(t->cpu) + strlen(t->features) + sizeof "0   ";
    char *name = malloc(size);
    if (name)
        kj_snprintf(name, size, "%d %s %s %s", (int)level, t->triple, t->cpu, t->features);
    return name;
}

static kept take(const char *name)
{
    kept found = {0};
    if (pthread_mutex_trylock(&idle.lock) != 0)
        return found;
    int i = idle.n - 1;
    while (i >= 0 && strcmp(idle.of[i].name, name) != 0)
        i--;
    if (i >= 0) {
        found = idle.of[i];
        idle.n--;
        memmove(&idle.of[i], &idle.of[i + 1], (size_t)(idle.n - i) * sizeof *idle.of);
    }
    pthread_mutex_unlock(&idle.lock);
    return found;
}

/* Gives what there is no room for, to be disposed of. */
static kept leave(kept done)
{
    if (pthread_mutex_trylock(&idle.lock) != 0)
        return done;
    kept oldest = {0};
    if (idle.n == KEPT) {
        oldest = idle.of[0];
        idle.n--;
        memmove(&idle.of[0], &idle.of[1], (size_t)idle.n * sizeof *idle.of);
    }
    idle.of[idle.n++] = done;
    pthread_mutex_unlock(&idle.lock);
    return oldest;
}

static void dispose(kept gone)
{
    free(gone.name);
    if (gone.machine)
        LLVMDisposeTargetMachine(gone.machine);
}

char *kj_target_machine(kj_target *t, LLVMCodeGenOptLevel level)
{
    kj_target_leave_machine(t);
    t->machine_name = name_of(t, level);
    kept found = t->machine_name ? take(t->machine_name) : (kept){0};
    free(found.name);
    t->machine = found.machine;
    t->machine_uses = found.uses + 1;
    if (t->machine)
        return NULL;
    LLVMTargetRef target;
    char *error = NULL;
    if (LLVMGetTargetFromTriple(t->triple, &target, &error))
        return kj_llvm_text(error);
    t->machine = LLVMCreateTargetMachine(target, t->triple, t->cpu, t->features, level,
                                         LLVMRelocPIC, LLVMCodeModelDefault);
    return t->machine ? NULL : kj_message_of("LLVM does not compile for this machine");
}

void kj_target_leave_machine(kj_target *t)
{
    kept done = {.name = t->machine_name, .machine = t->machine, .uses = t->machine_uses};
    t->machine_name = NULL;
    t->machine = NULL;
    dispose(done.machine && done.name && done.uses < USES ? leave(done) : done);
}
