/* The CPU as a target: code for the one this runs on, or for a level of its family. */
#include <llvm-c/Target.h>
#include <string.h>

#include "target/cpu_level.h"
#include "target/target.h"

static void initialise(void)
{
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
}

static void make_ready(void)
{
    static bool ready;
    kj_make_ready(initialise, &ready);
}

/* ---- Levels ---- */

static bool has_feature(const char *features, const char *name, size_t size)
{
    for (; *features; features += strcspn(features, ","), features += *features == ',')
        if (strcspn(features, ",") == size && memcmp(features, name, size) == 0)
            return true;
    return false;
}

const char *kj_cpu_lacks(kj_arena *arena, const char *level)
{
    kj_target_ready();
    char *here = kj_llvm_text(LLVMGetHostCPUFeatures());
    const char *wanted = kj_level_features(level);
    while (*wanted && has_feature(here, wanted, strcspn(wanted, ",")))
        wanted += strcspn(wanted, ","), wanted += *wanted == ',';
    LLVMDisposeMessage(here);
    return *wanted ? kj_arena_printf(arena, "%.*s", (int)strcspn(wanted, ",") - 1, wanted + 1)
                   : NULL;
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
    make_ready();
    t->triple = kj_llvm_text(LLVMGetDefaultTargetTriple());
    const char *cpu = options->cpu;
    t->cpu = cpu ? kj_message_of(cpu) : kj_llvm_text(LLVMGetHostCPUName());
    t->features =
        cpu ? kj_message_of(kj_level_features(cpu)) : kj_llvm_text(LLVMGetHostCPUFeatures());
    t->vector = vector_width(t->features);
    t->f16c = strstr(t->features, "+f16c") != NULL;
    t->no_fma = strstr(t->features, "+fma") == NULL;
    return kj_target_machine(t,
                             options->opt_level == 0 ? LLVMCodeGenLevelNone : LLVMCodeGenLevelLess);
}

static const char *name(kj_arena *arena, const kj_compile_options *options)
{
    if (options->cpu)
        return kj_arena_printf(arena, "%s %s", options->cpu, kj_level_features(options->cpu));
    char *cpu = kj_llvm_text(LLVMGetHostCPUName()),
         *features = kj_llvm_text(LLVMGetHostCPUFeatures());
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
