/* The CPU as a target: code for the one this runs on, or for a level of its family or another. */
#include <llvm-c/Target.h>
#include <string.h>

#include "target/cpu_level.h"
#include "target/foreign.h"
#include "target/target.h"

/* ---- Families ---- */

static void initialise(void)
{
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
}

static char *make_ready(bool here)
{
    static bool ready;
    kj_make_ready(initialise, &ready);
    return here ? NULL : kj_foreign_ready();
}

/* Of those that are not this machine's. */
static const char *const triples[] = {
    [KJ_X86_64] = "x86_64-unknown-linux-gnu",
    [KJ_AARCH64] = "aarch64-unknown-linux-gnu",
};

/* ---- Levels ---- */

static bool has_feature(const char *features, const char *name, size_t size)
{
    for (; *features; features += strcspn(features, ","), features += *features == ',')
        if (strcspn(features, ",") == size && memcmp(features, name, size) == 0)
            return true;
    return false;
}

const char *kj_cpu_lacks(kj_arena *arena, const char *name)
{
    const kj_cpu_level *level = kj_cpu_level_named(name);
    if (!level || level->family != kj_cpu_here)
        return kj_arena_printf(arena, "instructions of %s",
                               level && level->family == KJ_AARCH64 ? "aarch64" : "x86-64");
    if (level->family == KJ_AARCH64)
        return kj_aarch64_lacks(level);
    kj_target_ready();
    char *here = kj_llvm_text(LLVMGetHostCPUFeatures());
    const char *wanted = level->features;
    while (*wanted && has_feature(here, wanted, strcspn(wanted, ",")))
        wanted += strcspn(wanted, ","), wanted += *wanted == ',';
    LLVMDisposeMessage(here);
    return *wanted ? kj_arena_printf(arena, "%.*s", (int)strcspn(wanted, ",") - 1, wanted + 1)
                   : NULL;
}

/* What code is for, as LLVM has it. On aarch64 that is a level, also for this CPU: what else LLVM knows of it (SVE, its
 * own order of instructions) no code of kjit's was tried with. */
static kj_cpu_family describe(const char *cpu, char **name, char **features)
{
    const kj_cpu_level *level = cpu                         ? kj_cpu_level_named(cpu)
                                : kj_cpu_here == KJ_AARCH64 ? kj_aarch64_here()
                                                            : NULL;
    if (level || cpu) {
        *name = kj_message_of(level ? level->cpu : cpu);
        *features = kj_message_of(level ? level->features : "");
    } else {
        *name = kj_llvm_text(LLVMGetHostCPUName());
        *features = kj_llvm_text(LLVMGetHostCPUFeatures());
    }
    return level ? level->family : kj_cpu_here;
}

/* ---- The target ---- */

static int vector_width(const char *features)
{
    if (strstr(features, "+avx512bw")) /* the first ones of AVX-512 mask no bytes */
        return 16;
    return strstr(features, "+avx2") ? 8 : 4;
}

static char *open_host(kj_target *t, const kj_compile_options *options)
{
    kj_cpu_family family = describe(options->cpu, &t->cpu, &t->features);
    char *error = make_ready(family == kj_cpu_here);
    if (error)
        return error;
    t->triple = family == kj_cpu_here ? kj_llvm_text(LLVMGetDefaultTargetTriple())
                                      : kj_message_of(triples[family]);
    t->x86 = family == KJ_X86_64;
    t->vector = vector_width(t->features);
    t->half = !t->x86 || strstr(t->features, "+f16c") != NULL;
    t->no_fma = t->x86 && strstr(t->features, "+fma") == NULL;
    return kj_target_machine(t,
                             options->opt_level == 0 ? LLVMCodeGenLevelNone : LLVMCodeGenLevelLess);
}

static const char *name(kj_arena *arena, const kj_compile_options *options)
{
    char *cpu, *features;
    describe(options->cpu, &cpu, &features);
    const char *both = kj_arena_printf(arena, "%s %s", cpu, features);
    LLVMDisposeMessage(cpu);
    LLVMDisposeMessage(features);
    return both;
}

/* The code is vectors already: what is wanted of LLVM is registers, scalar clean-up and loops, once
 * each. The default pipelines take twice as long for the same code. */
static const char pipeline[] =
    "always-inline,"
    "function(sroa<modify-cfg>,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint;max-"
    "iterations=1>,"
    "loop-simplify,lcssa,loop-mssa(loop-rotate<header-duplication>,licm<allowspeculation>,"
    "simple-loop-unswitch<no-nontrivial;trivial>),simplifycfg,loop(indvars,loop-deletion,loop-"
    "unroll-full),"
    "sroa<modify-cfg>,gvn,loop-unroll<O2>,instcombine<no-verify-fixpoint;max-iterations=1>,"
    "loop-mssa(licm<allowspeculation>),dse,adce,simplifycfg),globaldce";

static const char large[] =
    "always-inline,function(sroa<modify-cfg>,early-cse,simplifycfg),globaldce";

const kj_target_kind kj_host_target = {
    .open = open_host,
    .name = name,
    .pipelines = {"always-inline", kj_light_pipeline, pipeline, pipeline},
    .large = large,
    .large_code = 4000,
    .large_registers = 16000,
};
