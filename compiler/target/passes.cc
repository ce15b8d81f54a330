/* Runs LLVM's passes, in the order of a text as opt takes it: "always-inline,function(gvn,loop(indvars))". In C++, since the C interface's
 * function for that (LLVMRunPasses) knows all the passes there are, and a program with it has them in it: a tenth of LLVM. Here are those that
 * kjit's pipelines name (docs/decisions.md). */
#include <llvm-c/Core.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/DeadStoreElimination.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/GVN.h>
#include <llvm/Transforms/Scalar/IndVarSimplify.h>
#include <llvm/Transforms/Scalar/InferAlignment.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopDeletion.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopRotation.h>
#include <llvm/Transforms/Scalar/LoopUnrollPass.h>
#include <llvm/Transforms/Scalar/Reassociate.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimpleLoopUnswitch.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/LCSSA.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Vectorize/LoadStoreVectorizer.h>

#include "target/passes.h"

using namespace llvm;

namespace {

template <typename Manager> struct Row {
    const char *name;
    void (*add)(Manager &passes);
};

#define PASS(name, ...) \
    { \
        name, [](auto &passes) { passes.addPass(__VA_ARGS__); } \
    }

const Row<ModulePassManager> module_passes[] = {
    PASS("always-inline", AlwaysInlinerPass()),
    PASS("globaldce", GlobalDCEPass()),
};

const Row<FunctionPassManager> function_passes[] = {
    PASS("adce", ADCEPass()),
    PASS("dse", DSEPass()),
    PASS("early-cse", EarlyCSEPass()),
    PASS("early-cse<memssa>", EarlyCSEPass(true)),
    PASS("gvn", GVNPass()),
    PASS("infer-alignment", InferAlignmentPass()),
    PASS("instcombine<no-verify-fixpoint;max-iterations=1>",
         InstCombinePass(InstCombineOptions().setMaxIterations(1).setVerifyFixpoint(false))),
    PASS("lcssa", LCSSAPass()),
    PASS("load-store-vectorizer", LoadStoreVectorizerPass()),
    PASS("loop-simplify", LoopSimplifyPass()),
    PASS("loop-unroll<O2>", LoopUnrollPass(LoopUnrollOptions(2))),
    PASS("loop-unroll<O3;upperbound>", LoopUnrollPass(LoopUnrollOptions(3).setUpperBound(true))),
    PASS("reassociate", ReassociatePass()),
    PASS("simplifycfg", SimplifyCFGPass()),
    PASS("sroa<modify-cfg>", SROAPass(SROAOptions::ModifyCFG)),
};

const Row<LoopPassManager> loop_passes[] = {
    PASS("indvars", IndVarSimplifyPass()),
    PASS("licm<allowspeculation>", LICMPass(LICMOptions())),
    PASS("loop-deletion", LoopDeletionPass()),
    PASS("loop-rotate<header-duplication>", LoopRotatePass()),
    PASS("loop-unroll-full", LoopFullUnrollPass()),
    PASS("simple-loop-unswitch<no-nontrivial;trivial>", SimpleLoopUnswitchPass()),
};

/* What stands up to a comma or a bracket of this level, which is skipped; then the text of the bracket, if one opened. */
StringRef name_of(StringRef &text, StringRef &within)
{
    StringRef name = text.take_until([](char c) { return c == ',' || c == '('; });
    text = text.drop_front(name.size());
    within = StringRef();
    if (text.consume_front("(")) {
        size_t size = 0;
        for (int depth = 1; size < text.size() && depth > 0; size++)
            depth += (text[size] == '(') - (text[size] == ')');
        within = text.take_front(size - 1);
        text = text.drop_front(size);
    }
    text.consume_front(",");
    return name;
}

bool nest(ModulePassManager &passes, StringRef name, StringRef within);
bool nest(FunctionPassManager &passes, StringRef name, StringRef within);
bool nest(LoopPassManager &, StringRef, StringRef)
{
    return false;
}

/* False: a word is none of the rows. */
template <typename Manager, size_t N>
bool fill(Manager &passes, const Row<Manager> (&rows)[N], StringRef text)
{
    while (!text.empty()) {
        StringRef within, name = name_of(text, within);
        const auto *row = find_if(rows, [&](const Row<Manager> &r) { return name == r.name; });
        if (row != std::end(rows))
            row->add(passes);
        else if (!nest(passes, name, within))
            return false;
    }
    return true;
}

bool nest(ModulePassManager &passes, StringRef name, StringRef within)
{
    FunctionPassManager inner;
    if (name != "function" || !fill(inner, function_passes, within))
        return false;
    passes.addPass(createModuleToFunctionPassAdaptor(std::move(inner)));
    return true;
}

bool nest(FunctionPassManager &passes, StringRef name, StringRef within)
{
    LoopPassManager inner;
    bool memory_ssa = name == "loop-mssa";
    if ((name != "loop" && !memory_ssa) || !fill(inner, loop_passes, within))
        return false;
    passes.addPass(createFunctionToLoopPassAdaptor(std::move(inner), memory_ssa));
    return true;
}

} /* namespace */

bool kj_run_passes(LLVMModuleRef module, const char *pipeline, LLVMTargetMachineRef machine)
{
    ModulePassManager passes;
    if (!fill(passes, module_passes, pipeline))
        return false;
    LoopAnalysisManager loops;
    FunctionAnalysisManager functions;
    CGSCCAnalysisManager components;
    ModuleAnalysisManager modules;
    PassBuilder builder(reinterpret_cast<TargetMachine *>(machine));
    builder.registerLoopAnalyses(loops);
    builder.registerFunctionAnalyses(functions);
    builder.registerCGSCCAnalyses(components);
    builder.registerModuleAnalyses(modules);
    builder.crossRegisterProxies(loops, functions, components, modules);
    passes.run(*unwrap(module), modules);
    return true;
}
