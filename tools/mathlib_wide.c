/* Makes 16-lane functions from scalar ones, for tools/mathlib.c.
 *
 * Enters: a module with one scalar function. Leaves: the module with the 16-lane one: a loop over
 * the lanes, which LLVM's loop vectoriser made one step of, so that every lane does the scalar
 * function's operations, to the bit. */
#include "mathlib.h"

#include <string.h>

#include <llvm-c/DebugInfo.h>
#include <llvm-c/Linker.h>
#include <llvm-c/Target.h>

/* A machine whose vectoriser has gathers and masks; what it makes runs on every CPU. */
LLVMTargetMachineRef vector_machine(void)
{
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMTargetRef target;
    char *message = NULL;
    if (LLVMGetTargetFromTriple("x86_64-unknown-linux-gnu", &target, &message)) {
        fail("x86-64", message);
    }
    return LLVMCreateTargetMachine(target, "x86_64-unknown-linux-gnu", "znver4", "",
                                   LLVMCodeGenLevelDefault, LLVMRelocPIC, LLVMCodeModelDefault);
}

static LLVMMetadataRef loop_option(LLVMContextRef c, const char *name, LLVMValueRef value)
{
    LLVMMetadataRef parts[] = {LLVMMDStringInContext2(c, name, strlen(name)),
                               LLVMValueAsMetadata(value)};
    return LLVMMDNodeInContext2(c, parts, 2);
}

/* !{self, vectorize in steps of LANES}: as in all loops' nodes, the first operand is the node. */
static LLVMValueRef vectorize_metadata(LLVMContextRef c)
{
    LLVMValueRef on = LLVMConstInt(LLVMInt1TypeInContext(c), 1, 0);
    LLVMTypeRef i32 = LLVMInt32TypeInContext(c);
    LLVMMetadataRef self = LLVMTemporaryMDNode(c, NULL, 0);
    LLVMMetadataRef parts[] = {
        self,
        loop_option(c, "llvm.loop.vectorize.enable", on),
        loop_option(c, "llvm.loop.vectorize.width", LLVMConstInt(i32, LANES, 0)),
        loop_option(c, "llvm.loop.interleave.count", LLVMConstInt(i32, 1, 0)),
    };
    LLVMMetadataRef loop = LLVMMDNodeInContext2(c, parts, 4);
    LLVMMetadataReplaceAllUsesWith(self, loop);
    return LLVMMetadataAsValue(c, loop);
}

/* Adds to m: symbol(<16 x T>...) { for (i = 0; i < 16; i++) out[i] = scalar(in[i]...); } */
static void add_lane_loop(LLVMContextRef c, LLVMModuleRef m, LLVMValueRef scalar,
                          const char *symbol)
{
    LLVMTypeRef scalar_type = LLVMGlobalGetValueType(scalar);
    LLVMTypeRef element = LLVMGetReturnType(scalar_type), i64 = LLVMInt64TypeInContext(c);
    LLVMTypeRef wide = LLVMVectorType(element, LANES), params[MOST_ARGS];
    unsigned nargs = LLVMCountParams(scalar);
    for (unsigned i = 0; i < nargs; i++)
        params[i] = wide;
    LLVMValueRef f = LLVMAddFunction(m, symbol, LLVMFunctionType(wide, params, nargs, 0));
    LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(c, f, "");
    LLVMBasicBlockRef body = LLVMAppendBasicBlockInContext(c, f, "");
    LLVMBasicBlockRef end = LLVMAppendBasicBlockInContext(c, f, "");
    LLVMBuilderRef b = LLVMCreateBuilderInContext(c);

    LLVMPositionBuilderAtEnd(b, entry);
    LLVMValueRef memory[MOST_ARGS], args[MOST_ARGS], out = LLVMBuildAlloca(b, wide, "");
    for (unsigned i = 0; i < nargs; i++) {
        memory[i] = LLVMBuildAlloca(b, wide, "");
        LLVMBuildStore(b, LLVMGetParam(f, i), memory[i]);
    }
    LLVMBuildBr(b, body);

    LLVMPositionBuilderAtEnd(b, body);
    LLVMValueRef lane = LLVMBuildPhi(b, i64, "");
    for (unsigned i = 0; i < nargs; i++) {
        args[i] = LLVMBuildLoad2(b, element,
                                 LLVMBuildInBoundsGEP2(b, element, memory[i], &lane, 1, ""), "");
    }
    LLVMValueRef result = LLVMBuildCall2(b, scalar_type, scalar, args, nargs, "");
    LLVMBuildStore(b, result, LLVMBuildInBoundsGEP2(b, element, out, &lane, 1, ""));
    LLVMValueRef next = LLVMBuildNUWAdd(b, lane, LLVMConstInt(i64, 1, 0), "");
    LLVMValueRef more = LLVMBuildICmp(b, LLVMIntNE, next, LLVMConstInt(i64, LANES, 0), "");
    LLVMSetMetadata(LLVMBuildCondBr(b, more, body, end),
                    LLVMGetMDKindIDInContext(c, "llvm.loop", 9), vectorize_metadata(c));
    LLVMAddIncoming(lane, (LLVMValueRef[]){LLVMConstInt(i64, 0, 0), next},
                    (LLVMBasicBlockRef[]){entry, body}, 2);

    LLVMPositionBuilderAtEnd(b, end);
    LLVMBuildRet(b, LLVMBuildLoad2(b, wide, out, ""));
    LLVMDisposeBuilder(b);
}

/* Is it straight vector code: no loop or branch left, no call, nothing lane by lane? */
static bool is_vector_code(LLVMValueRef f)
{
    if (LLVMCountBasicBlocks(f) != 1) {
        return false;
    }
    for (LLVMValueRef i = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(f)); i;
         i = LLVMGetNextInstruction(i)) {
        switch (LLVMGetInstructionOpcode(i)) {
        case LLVMExtractElement:
        case LLVMInsertElement:
        case LLVMAlloca: return false;
        case LLVMCall:
            if (strncmp(LLVMGetValueName(LLVMGetCalledValue(i)), "llvm.", 5) != 0) {
                return false;
            }
            break;
        default: break;
        }
    }
    return true;
}

static void mark_inline(LLVMValueRef f)
{
    unsigned kind = LLVMGetEnumAttributeKindForName("alwaysinline", strlen("alwaysinline"));
    LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(f));
    LLVMAddAttributeAtIndex(f, WHOLE_FUNCTION, LLVMCreateEnumAttribute(context, kind, 0));
    LLVMSetLinkage(f, LLVMInternalLinkage);
}

/* Puts the 16-lane function in the place of the scalar one; false where that does not work. */
static bool widen_body(LLVMModuleRef m, LLVMTargetMachineRef machine, const char *name,
                       const char *symbol)
{
    LLVMValueRef scalar = LLVMGetNamedFunction(m, name);
    add_lane_loop(LLVMGetModuleContext(m), m, scalar, symbol);
    mark_inline(scalar);

    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
    char *triple = LLVMGetTargetMachineTriple(machine);
    LLVMSetTarget(m, triple);
    LLVMSetModuleDataLayout(m, layout);
    run_passes(m,
               "always-inline,globaldce,function(instcombine<no-verify-fixpoint>,simplifycfg,lower-"
               "switch,loop-vectorize,"
               "instcombine<no-verify-fixpoint>,simplifycfg,sroa,early-cse<memssa>,instcombine<no-"
               "verify-fixpoint>,gvn,adce,simplifycfg)",
               machine);
    LLVMSetTarget(m, "");
    LLVMSetDataLayout(m, "");
    LLVMDisposeMessage(triple);
    LLVMDisposeTargetData(layout);
    LLVMValueRef f = LLVMGetNamedFunction(m, symbol);
    strip_attributes(f, NULL);
    return is_vector_code(f);
}

/* ---- A function whose first branch tells common arguments from hard ones (sin's reduction of
 * large angles) gets a path for vectors in which all lanes are common ---- */

static LLVMValueRef first_branch(LLVMModuleRef m, const char *name)
{
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(LLVMGetNamedFunction(m, name));
    LLVMValueRef end = LLVMGetBasicBlockTerminator(entry);
    return LLVMIsABranchInst(end) && LLVMIsConditional(end) ? end : NULL;
}

static unsigned count_instructions(LLVMModuleRef m, const char *name)
{
    unsigned n = 0;
    LLVMValueRef f = LLVMGetNamedFunction(m, name);
    for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(f); bb; bb = LLVMGetNextBasicBlock(bb)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(bb); i; i = LLVMGetNextInstruction(i)) {
            n++;
        }
    }
    return n;
}

/* A copy of m whose function takes its first branch always so. */
static LLVMModuleRef with_branch_taken(LLVMModuleRef m, const char *name, bool taken)
{
    LLVMModuleRef copy = LLVMCloneModule(m);
    LLVMTypeRef i1 = LLVMInt1TypeInContext(LLVMGetModuleContext(m));
    LLVMSetCondition(first_branch(copy, name), LLVMConstInt(i1, taken, 0));
    run_passes(copy,
               "function(simplifycfg,instcombine<no-verify-fixpoint>,simplifycfg,adce),globaldce",
               NULL);
    return copy;
}

/* A copy of m whose function gives 1 where the first branch is taken, else 0. */
static LLVMModuleRef condition_alone(LLVMModuleRef m, const char *name)
{
    LLVMModuleRef copy = LLVMCloneModule(m);
    LLVMValueRef f = LLVMGetNamedFunction(copy, name), branch = first_branch(copy, name);
    LLVMTypeRef type = LLVMGetReturnType(LLVMGlobalGetValueType(f));
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(m));
    LLVMPositionBuilderBefore(b, branch);
    LLVMValueRef one = LLVMConstReal(type, 1), zero = LLVMConstReal(type, 0);
    LLVMBuildRet(b, LLVMBuildSelect(b, LLVMGetCondition(branch), one, zero, ""));
    LLVMInstructionEraseFromParent(branch);
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(f);
    for (LLVMBasicBlockRef bb = LLVMGetNextBasicBlock(entry); bb; bb = LLVMGetNextBasicBlock(bb)) {
        LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(bb));
        for (LLVMValueRef i = LLVMGetFirstInstruction(bb); i; i = LLVMGetNextInstruction(i)) {
            LLVMReplaceAllUsesWith(i, LLVMGetPoison(LLVMTypeOf(i)));
        }
    }
    for (LLVMBasicBlockRef bb = LLVMGetNextBasicBlock(entry), next; bb; bb = next) {
        next = LLVMGetNextBasicBlock(bb);
        LLVMDeleteBasicBlock(bb);
    }
    LLVMDisposeBuilder(b);
    run_passes(copy, "function(instcombine<no-verify-fixpoint>,adce),globaldce", NULL);
    return copy;
}

static LLVMValueRef call_with_params(LLVMBuilderRef b, LLVMValueRef f, LLVMValueRef caller)
{
    LLVMValueRef params[MOST_ARGS];
    LLVMGetParams(caller, params);
    return LLVMBuildCall2(b, LLVMGlobalGetValueType(f), f, params, LLVMCountParams(f), "");
}

/* symbol(x...) { return all lanes of test(x...) are `taken` ? common(x...) : full(x...) } */
static void join(LLVMModuleRef m, const char *symbol, bool taken)
{
    LLVMContextRef c = LLVMGetModuleContext(m);
    LLVMValueRef test = LLVMGetNamedFunction(m, "test"), common = LLVMGetNamedFunction(m, "common");
    LLVMValueRef full = LLVMGetNamedFunction(m, "full");
    LLVMValueRef f = LLVMAddFunction(m, symbol, LLVMGlobalGetValueType(full));
    LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(c, f, "");
    LLVMBasicBlockRef yes = LLVMAppendBasicBlockInContext(c, f, "");
    LLVMBasicBlockRef no = LLVMAppendBasicBlockInContext(c, f, "");
    LLVMBuilderRef b = LLVMCreateBuilderInContext(c);

    LLVMPositionBuilderAtEnd(b, entry);
    LLVMValueRef tested = call_with_params(b, test, f), zero = LLVMConstNull(LLVMTypeOf(tested));
    LLVMValueRef lanes = LLVMBuildFCmp(b, taken ? LLVMRealUNE : LLVMRealOEQ, tested, zero, "");
    LLVMTypeRef type = LLVMTypeOf(lanes);
    unsigned id = LLVMLookupIntrinsicID("llvm.vector.reduce.and", strlen("llvm.vector.reduce.and"));
    LLVMValueRef all = LLVMGetIntrinsicDeclaration(m, id, &type, 1);
    LLVMBuildCondBr(b, LLVMBuildCall2(b, LLVMGlobalGetValueType(all), all, &lanes, 1, ""), yes, no);

    LLVMPositionBuilderAtEnd(b, yes);
    LLVMBuildRet(b, call_with_params(b, common, f));
    LLVMPositionBuilderAtEnd(b, no);
    LLVMBuildRet(b, call_with_params(b, full, f));
    LLVMDisposeBuilder(b);

    mark_inline(test);
    mark_inline(common);
    mark_inline(full);
    run_passes(m,
               "always-inline,globaldce,constmerge,globaldce,function(instcombine<no-verify-"
               "fixpoint>,early-cse,gvn,adce,simplifycfg)",
               NULL);
}

bool widen(LLVMModuleRef m, LLVMTargetMachineRef machine, const char *name, const char *symbol)
{
    if (!first_branch(m, name)) {
        return widen_body(m, machine, name, symbol);
    }
    LLVMModuleRef yes = with_branch_taken(m, name, true), no = with_branch_taken(m, name, false);
    unsigned when_taken = count_instructions(yes, name), when_not = count_instructions(no, name);
    bool taken = when_taken < when_not;
    unsigned whole = count_instructions(m, name);
    bool worth_it = whole > 60 && 2 * (taken ? when_taken : when_not) < whole;
    LLVMModuleRef common = taken ? yes : no;
    LLVMDisposeModule(taken ? no : yes);
    LLVMModuleRef test = condition_alone(m, name);
    bool done = widen_body(m, machine, name, worth_it ? "full" : symbol);
    if (done && worth_it) {
        done =
            widen_body(common, machine, name, "common") && widen_body(test, machine, name, "test");
        if (LLVMLinkModules2(m, common) || LLVMLinkModules2(m, test)) {
            fail("cannot link the paths of", symbol);
        }
        join(m, symbol, taken);
        return done;
    }
    LLVMDisposeModule(common);
    LLVMDisposeModule(test);
    return done;
}
