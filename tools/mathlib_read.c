/* Reads libclc for tools/mathlib.c.
 *
 * Enters: libclc's nvptx64--.bc. Leaves: a module that means the same on every device. */
#include "mathlib.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <llvm-c/BitReader.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/Target.h>

static void drop_unwanted(LLVMModuleRef m, bool (*wanted)(const char *name))
{
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f)) {
        if (!LLVMIsDeclaration(f)) {
            bool keep = wanted(LLVMGetValueName(f));
            LLVMSetLinkage(f, keep ? LLVMExternalLinkage : LLVMInternalLinkage);
        }
    }
    for (LLVMValueRef g = LLVMGetFirstGlobal(m); g; g = LLVMGetNextGlobal(g)) {
        if (!LLVMIsDeclaration(g)) {
            LLVMSetLinkage(g, LLVMInternalLinkage);
        }
    }
    run_passes(m, "globaldce", NULL);
}

/* The length of what is left out of the text at `at`: named metadata (of OpenCL and NVPTX), the
 * address space of the tables, which are plain memory in the library, and fast-math flags. */
static size_t left_out(const char *at, bool line_start)
{
    static const char *const words[] = {" addrspace(4)", " fast",     " nnan", " ninf",   " nsz",
                                        " arcp",         " contract", " afn",  " reassoc"};
    if (line_start && at[0] == '!' && (at[1] < '0' || at[1] > '9')) {
        return strcspn(at, "\n");
    }
    for (size_t i = 0; *at == ' ' && i < sizeof words / sizeof words[0]; i++) {
        size_t n = strlen(words[i]);
        if (strncmp(at, words[i], n) == 0 && (i == 0 || at[n] == ' ')) {
            return n;
        }
    }
    return 0;
}

/* LLVM-C can change neither the type of a pointer nor clear a fast-math flag, so the module goes
 * through text once. */
static LLVMModuleRef through_text(LLVMContextRef context, LLVMModuleRef m)
{
    char *text = LLVMPrintModuleToString(m), *to = text;
    for (const char *from = text; *from;) {
        size_t n = left_out(from, from == text || from[-1] == '\n');
        from += n;
        if (n == 0) {
            *to++ = *from++;
        }
    }
    LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRangeCopy(text, (size_t)(to - text), "libclc");
    LLVMDisposeMessage(text);
    LLVMDisposeModule(m);
    LLVMModuleRef plain;
    char *message = NULL;
    if (LLVMParseIRInContext(context, buffer, &plain, &message)) {
        fail("libclc as text", message);
    }
    return plain;
}

/* Removes the attributes that name a target, or that keep code from being moved and inlined; `call`
 * or `f` is NULL. */
void strip_attributes(LLVMValueRef f, LLVMValueRef call)
{
    static const char *const dropped[] = {"convergent", "noinline", "optnone", "alwaysinline",
                                          "nobuiltin"};
    for (size_t i = 0; i < sizeof dropped / sizeof dropped[0]; i++) {
        unsigned kind = LLVMGetEnumAttributeKindForName(dropped[i], strlen(dropped[i]));
        f ? LLVMRemoveEnumAttributeAtIndex(f, WHOLE_FUNCTION, kind)
          : LLVMRemoveCallSiteEnumAttribute(call, WHOLE_FUNCTION, kind);
    }
    LLVMAttributeRef attributes[64];
    unsigned n = f ? LLVMGetAttributeCountAtIndex(f, WHOLE_FUNCTION)
                   : LLVMGetCallSiteAttributeCount(call, WHOLE_FUNCTION);
    if (n > sizeof attributes / sizeof attributes[0]) {
        fail("too many attributes", f ? LLVMGetValueName(f) : NULL);
    }
    f ? LLVMGetAttributesAtIndex(f, WHOLE_FUNCTION, attributes)
      : LLVMGetCallSiteAttributes(call, WHOLE_FUNCTION, attributes);
    for (unsigned i = 0; i < n; i++) {
        if (LLVMIsStringAttribute(attributes[i])) {
            unsigned length;
            const char *kind = LLVMGetStringAttributeKind(attributes[i], &length);
            f ? LLVMRemoveStringAttributeAtIndex(f, WHOLE_FUNCTION, kind, length)
              : LLVMRemoveCallSiteStringAttribute(call, WHOLE_FUNCTION, kind, length);
        }
    }
}

/* Gives operand i of the instruction some fixed value where it is poison. */
static void freeze_operand(LLVMBuilderRef b, LLVMValueRef inst, unsigned i)
{
    LLVMValueRef operand = LLVMGetOperand(inst, i);
    if (!LLVMIsConstant(operand)) {
        LLVMPositionBuilderBefore(b, inst);
        LLVMSetOperand(inst, i, LLVMBuildFreeze(b, operand, ""));
    }
}

/* libclc computes what it then selects away (an integer from an argument that is out of range),
 * which is poison to LLVM: harmless in a select, but a branch that depends on it would let LLVM
 * drop the code around it. */
static void defuse_poison(LLVMBuilderRef b, LLVMValueRef inst)
{
    switch (LLVMGetInstructionOpcode(inst)) {
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMShl:
        LLVMSetNSW(inst, 0);
        LLVMSetNUW(inst, 0);
        break;
    case LLVMBr:
        if (LLVMIsConditional(inst)) {
            freeze_operand(b, inst, 0);
        }
        break;
    case LLVMSwitch: freeze_operand(b, inst, 0); break;
    default: break;
    }
}

static void strip_instruction(LLVMBuilderRef b, LLVMValueRef inst)
{
    if (LLVMCanValueUseFastMathFlags(inst) && LLVMGetFastMathFlags(inst) != LLVMFastMathNone) {
        fail("a fast-math flag is left", LLVMPrintValueToString(inst));
    }
    if (LLVMIsACallInst(inst)) {
        LLVMSetInstructionCallConv(inst, LLVMCCallConv);
        strip_attributes(NULL, inst);
    }
    size_t n;
    LLVMValueMetadataEntry *entries = LLVMInstructionGetAllMetadataOtherThanDebugLoc(inst, &n);
    for (unsigned i = 0; i < n; i++) {
        LLVMSetMetadata(inst, LLVMValueMetadataEntriesGetKind(entries, i), NULL);
    }
    LLVMDisposeValueMetadataEntries(entries);
    defuse_poison(b, inst);
}

/* a * b + c rounds once on every device: calls of llvm.fmuladd become calls of llvm.fma. */
static void fuse(LLVMModuleRef m, LLVMValueRef fmuladd)
{
    char name[64];
    snprintf(name, sizeof name, "llvm.fma.%s", LLVMGetValueName(fmuladd) + strlen("llvm.fmuladd."));
    LLVMValueRef fma = LLVMGetNamedFunction(m, name);
    if (!fma) {
        fma = LLVMAddFunction(m, name, LLVMGlobalGetValueType(fmuladd));
    }
    LLVMReplaceAllUsesWith(fmuladd, fma);
}

static void make_portable(LLVMModuleRef m)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(m));
    LLVMSetTarget(m, "");
    LLVMSetDataLayout(m, "");
    for (LLVMValueRef f = LLVMGetFirstFunction(m), next; f; f = next) {
        next = LLVMGetNextFunction(f);
        LLVMSetFunctionCallConv(f, LLVMCCallConv);
        if (strncmp(LLVMGetValueName(f), "llvm.fmuladd.", 13) == 0) {
            fuse(m, f);
        }
        if (LLVMIsDeclaration(f)) {
            continue;
        }
        strip_attributes(f, NULL);
        for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(f); bb; bb = LLVMGetNextBasicBlock(bb)) {
            for (LLVMValueRef i = LLVMGetFirstInstruction(bb); i; i = LLVMGetNextInstruction(i)) {
                strip_instruction(b, i);
            }
        }
    }
    LLVMDisposeBuilder(b);
}

/* ---- Words of doubles ---- */

static bool is_word_pair(LLVMTypeRef type)
{
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind && LLVMGetVectorSize(type) == 2 &&
           LLVMGetElementType(type) == LLVMInt32TypeInContext(LLVMGetTypeContext(type));
}

/* Word i (0 low, 1 high) of a pair, which is a double, a constant, or made by insertions. */
static LLVMValueRef word(LLVMBuilderRef b, LLVMValueRef pair, uint64_t i)
{
    LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(pair));
    LLVMTypeRef i32 = LLVMInt32TypeInContext(context), i64 = LLVMInt64TypeInContext(context);
    if (LLVMIsConstant(pair)) {
        return LLVMGetAggregateElement(pair, (unsigned)i);
    }
    if (LLVMIsAInsertElementInst(pair) && LLVMIsAConstantInt(LLVMGetOperand(pair, 2))) {
        bool here = LLVMConstIntGetZExtValue(LLVMGetOperand(pair, 2)) == i;
        return here ? LLVMGetOperand(pair, 1) : word(b, LLVMGetOperand(pair, 0), i);
    }
    if (!LLVMIsABitCastInst(pair)) {
        fail("unknown words of a double", LLVMPrintValueToString(pair));
    }
    LLVMValueRef bits = LLVMBuildBitCast(b, LLVMGetOperand(pair, 0), i64, "");
    return LLVMBuildTrunc(b, LLVMBuildLShr(b, bits, LLVMConstInt(i64, 32 * i, 0), ""), i32, "");
}

/* What the instruction gives in integer operations rather than through a pair of words, or NULL. */
static LLVMValueRef without_pair(LLVMBuilderRef b, LLVMValueRef inst)
{
    LLVMOpcode op = LLVMGetInstructionOpcode(inst);
    if ((op != LLVMExtractElement && op != LLVMBitCast) ||
        !is_word_pair(LLVMTypeOf(LLVMGetOperand(inst, 0)))) {
        return NULL;
    }
    LLVMValueRef pair = LLVMGetOperand(inst, 0);
    LLVMPositionBuilderBefore(b, inst);
    if (op == LLVMExtractElement) {
        return word(b, pair, LLVMConstIntGetZExtValue(LLVMGetOperand(inst, 1)));
    }
    LLVMTypeRef i64 = LLVMInt64TypeInContext(LLVMGetTypeContext(LLVMTypeOf(inst)));
    LLVMValueRef high = LLVMBuildZExt(b, word(b, pair, 1), i64, ""),
                 low = LLVMBuildZExt(b, word(b, pair, 0), i64, "");
    high = LLVMBuildShl(b, high, LLVMConstInt(i64, 32, 0), "");
    return LLVMBuildBitCast(b, LLVMBuildOr(b, high, low, ""), LLVMTypeOf(inst), "");
}

/* libclc before 20 takes doubles apart as vectors of two words, which the loop vectoriser does not
 * take. */
void split_words(LLVMModuleRef m)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(m));
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f)) {
        for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(f); bb; bb = LLVMGetNextBasicBlock(bb)) {
            for (LLVMValueRef i = LLVMGetFirstInstruction(bb); i; i = LLVMGetNextInstruction(i)) {
                LLVMValueRef plain = without_pair(b, i);
                if (plain) {
                    LLVMReplaceAllUsesWith(i, plain);
                }
            }
        }
    }
    LLVMDisposeBuilder(b);
}

/* ---- Table look-ups ---- */

/* The operand of an address computation that is not constant, with the bytes a step of it spans and
 * the bytes that the constant operands add; 0 when all are constant. Tables are arrays of numbers
 * or of vectors. */
static unsigned variable_operand(LLVMTargetDataRef layout, LLVMValueRef gep, int64_t *stride,
                                 int64_t *offset)
{
    LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);
    unsigned variable = 0;
    *offset = 0;
    for (unsigned i = 1; i < (unsigned)LLVMGetNumOperands(gep); i++) {
        LLVMValueRef index = LLVMGetOperand(gep, i);
        type = i == 1 ? type : LLVMGetElementType(type);
        int64_t size = (int64_t)LLVMABISizeOfType(layout, type);
        if (LLVMIsAConstantInt(index)) {
            *offset += size * LLVMConstIntGetSExtValue(index);
        } else if (variable) {
            fail("a table has two variable indices", LLVMPrintValueToString(gep));
        } else {
            variable = i;
            *stride = size;
        }
    }
    return variable;
}

/* The bytes that loads reach through a pointer into a table: [low, high) from where its variable
 * index leads. */
typedef struct reach {
    int64_t low, high;
} reach;

static void add_loads(LLVMTargetDataRef layout, LLVMValueRef pointer, int64_t offset, reach *r)
{
    int64_t stride = 0, more = 0;
    for (LLVMUseRef use = LLVMGetFirstUse(pointer); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (LLVMIsALoadInst(user)) {
            int64_t end = offset + (int64_t)LLVMABISizeOfType(layout, LLVMTypeOf(user));
            r->low = offset < r->low ? offset : r->low;
            r->high = end > r->high ? end : r->high;
        } else if (LLVMIsAGetElementPtrInst(user) &&
                   variable_operand(layout, user, &stride, &more) == 0) {
            add_loads(layout, user, offset + more, r);
        } else {
            fail("a table is used in an unknown way", LLVMPrintValueToString(user));
        }
    }
}

static LLVMValueRef bounded(LLVMBuilderRef b, LLVMModuleRef m, const char *intrinsic,
                            LLVMValueRef v, int64_t bound)
{
    LLVMTypeRef type = LLVMTypeOf(v);
    unsigned id = LLVMLookupIntrinsicID(intrinsic, strlen(intrinsic));
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(m, id, &type, 1);
    LLVMValueRef args[] = {v, LLVMConstInt(type, (uint64_t)bound, 0)};
    return LLVMBuildCall2(b, LLVMGlobalGetValueType(f), f, args, 2, "");
}

/* Keeps a look-up inside its table whatever the index: libclc looks up first and selects for
 * arguments that are out of range afterwards. LLVM drops the bounds again where it sees that the
 * index keeps to them. */
static void bound_index(LLVMBuilderRef b, LLVMModuleRef m, LLVMTargetDataRef layout,
                        LLVMValueRef gep)
{
    int64_t stride = 0, offset;
    unsigned operand = variable_operand(layout, gep, &stride, &offset);
    if (operand == 0) {
        return;
    }
    LLVMValueRef table = LLVMGetOperand(gep, 0), index = LLVMGetOperand(gep, operand);
    if (!LLVMIsAGlobalVariable(table)) {
        fail("a variable index into something that is no table", LLVMPrintValueToString(gep));
    }
    reach r = {.low = INT64_MAX, .high = INT64_MIN};
    add_loads(layout, gep, offset, &r);
    int64_t size = (int64_t)LLVMABISizeOfType(layout, LLVMGlobalGetValueType(table));
    int64_t first = r.low < 0 ? (-r.low + stride - 1) / stride : 0, last = (size - r.high) / stride;
    LLVMPositionBuilderBefore(b, gep);
    bool extended = LLVMIsASExtInst(index) || LLVMIsAZExtInst(index);
    LLVMValueRef narrow = LLVMBuildFreeze(b, extended ? LLVMGetOperand(index, 0) : index, "");
    narrow = bounded(b, m, "llvm.umin", narrow, last);
    if (first > 0) {
        narrow = bounded(b, m, "llvm.umax", narrow, first);
    }
    LLVMSetOperand(gep, operand,
                   extended ? LLVMBuildZExt(b, narrow, LLVMTypeOf(index), "") : narrow);
}

void bound_tables(LLVMModuleRef m)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(m));
    LLVMTargetDataRef layout = LLVMGetModuleDataLayout(m);
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f)) {
        for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(f); bb; bb = LLVMGetNextBasicBlock(bb)) {
            for (LLVMValueRef i = LLVMGetFirstInstruction(bb); i; i = LLVMGetNextInstruction(i)) {
                if (LLVMIsAGetElementPtrInst(i)) {
                    bound_index(b, m, layout, i);
                }
            }
        }
    }
    LLVMDisposeBuilder(b);
    run_passes(
        m,
        "function(instcombine<no-verify-fixpoint>,simplifycfg,gvn,instcombine<no-verify-fixpoint>)",
        NULL);
}

LLVMModuleRef read_library(LLVMContextRef context, const char *path,
                           bool (*wanted)(const char *name))
{
    LLVMMemoryBufferRef buffer;
    char *message = NULL;
    if (LLVMCreateMemoryBufferWithContentsOfFile(path, &buffer, &message)) {
        fail(path, message);
    }
    LLVMModuleRef m;
    if (LLVMParseBitcodeInContext2(context, buffer, &m)) {
        fail(path, "not LLVM bitcode that this LLVM can read");
    }
    LLVMDisposeMemoryBuffer(buffer);
    drop_unwanted(m, wanted);
    m = through_text(context, m);
    make_portable(m);
    return m;
}
