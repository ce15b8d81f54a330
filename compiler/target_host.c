/* The CPU as a target: code for the one this runs on, or for one given by name. */
#include <llvm-c/Target.h>
#include <pthread.h>
#include <string.h>

#include "target.h"

static void initialise(void)
{
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
}

static void make_ready(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, initialise);
}

static int vector_width(const char *features)
{
    if (strstr(features, "+avx512f"))
        return 16;
    return strstr(features, "+avx2") ? 8 : 4;
}

static char *open_host(kj_target *t, const kj_compile_options *options)
{
    make_ready();
    t->triple = LLVMGetDefaultTargetTriple();
    bool given = options->cpu != NULL;
    t->cpu = given ? LLVMCreateMessage(options->cpu) : LLVMGetHostCPUName();
    if (given)
        t->features = LLVMCreateMessage(options->features ? options->features : "");
    else
        t->features = LLVMGetHostCPUFeatures();
    t->vector = vector_width(t->features);
    t->f16c = strstr(t->features, "+f16c") != NULL;
    return kj_target_machine(t,
                             options->opt_level == 0 ? LLVMCodeGenLevelNone : LLVMCodeGenLevelLess);
}

static const char *name(kj_arena *arena, const kj_compile_options *options)
{
    if (options->cpu)
        return kj_arena_printf(arena, "%s %s", options->cpu,
                               options->features ? options->features : "");
    char *cpu = LLVMGetHostCPUName(), *features = LLVMGetHostCPUFeatures();
    const char *both = kj_arena_printf(arena, "%s %s", cpu, features);
    LLVMDisposeMessage(cpu);
    LLVMDisposeMessage(features);
    return both;
}

static void lower(kj_arena *arena, const kj_entry_spec *spec, kj_code *out)
{
    out->scratch = kj_lower_host(arena, out->kernel, spec);
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
    .lower = lower,
    .pipelines = {"always-inline", "default<O1>", pipeline, pipeline},
    .large = large,
};
