/* Upper parts of products, kept from LLVM's selection of instructions. Of vectors of no more than 16 bits it takes
 * x * y >> 20 in 64 or 128 bits for the upper half of a product of 16 bits, shifted once more as such: what is beyond its
 * 16 bits is lost (LLVM 22, all levels of x86-64; so i16(mulhi(i32(x), i32(y))) of i16 was wrong). A product that 32 bits
 * hold is made in 32 bits, where that does not happen. LLVM sees of more products than we do that they are narrow:
 * wherever bits of one may end in 16, it does not see how far the product is shifted. */
#include <string.h>

#include "target/target.h"

typedef LLVMValueRef value;

static LLVMTypeRef element_of(LLVMTypeRef type)
{
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetElementType(type) : type;
}

/* Of an integer's type, or a vector's of such; else 0. */
static unsigned bits_of(LLVMTypeRef type)
{
    LLVMTypeRef element = element_of(type);
    return LLVMGetTypeKind(element) == LLVMIntegerTypeKind ? LLVMGetIntTypeWidth(element) : 0;
}

static unsigned bits_of_number(int64_t v)
{
    unsigned n = 1;
    for (v = v < 0 ? ~v : v; v; v >>= 1)
        n++;
    return n;
}

/* The number that a constant has in all its lanes. */
static bool number_of(value v, int64_t *out)
{
    bool vector = LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMVectorTypeKind;
    value one = !LLVMIsConstant(v) ? NULL : vector ? LLVMGetAggregateElement(v, 0) : v;
    if (!one || !LLVMIsAConstantInt(one))
        return false;
    for (unsigned i = 1; vector && i < LLVMGetVectorSize(LLVMTypeOf(v)); i++)
        if (LLVMGetAggregateElement(v, i) != one)
            return false;
    *out = LLVMConstIntGetSExtValue(one);
    return LLVMConstInt(LLVMTypeOf(one), (uint64_t)*out, true) == one;
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static unsigned most(unsigned a, unsigned b)
{
    return a > b ? a : b;
}

typedef enum extreme { NONE, LEAST, MOST, LEAST_UNSIGNED } extreme;

static extreme of_comparison(LLVMIntPredicate p)
{
    bool less = p == LLVMIntSLT || p == LLVMIntSLE, more = p == LLVMIntSGT || p == LLVMIntSGE;
    return less ? LEAST : more ? MOST : NONE;
}

/* Is it the lesser or the greater of two values? As a call, or as a selection by their comparison. */
static extreme extreme_of(value v, value *a, value *b)
{
    static const char *const names[] = {
        [LEAST] = "llvm.smin.", [MOST] = "llvm.smax.", [LEAST_UNSIGNED] = "llvm.umin."};
    size_t size;
    value f = LLVMIsACallInst(v) ? LLVMGetCalledValue(v) : NULL;
    if (f && !LLVMIsAInlineAsm(f) && LLVMGetNumArgOperands(v) == 2) {
        *a = LLVMGetOperand(v, 0);
        *b = LLVMGetOperand(v, 1);
        for (int i = LEAST; i <= LEAST_UNSIGNED; i++)
            if (strncmp(LLVMGetValueName2(f, &size), names[i], strlen(names[i])) == 0)
                return (extreme)i;
    }
    value test = LLVMIsASelectInst(v) ? LLVMGetOperand(v, 0) : NULL;
    if (!test || !LLVMIsAICmpInst(test))
        return NONE;
    *a = LLVMGetOperand(v, 1);
    *b = LLVMGetOperand(v, 2);
    bool same = LLVMGetOperand(test, 0) == *a && LLVMGetOperand(test, 1) == *b;
    return same ? of_comparison(LLVMGetICmpPredicate(test)) : NONE;
}

/* Of a value between two numbers, or below one; 0: it is not known to be. */
static unsigned width_between(value v)
{
    value a, b, c, d;
    int64_t n, m;
    extreme outer = extreme_of(v, &a, &b);
    if (outer == NONE || !number_of(b, &n))
        return 0;
    if (outer == LEAST_UNSIGNED)
        return n >= 0 ? bits_of_number(n) : 0;
    extreme inner = extreme_of(a, &c, &d);
    bool two = inner != NONE && inner != outer && inner != LEAST_UNSIGNED && number_of(d, &m);
    return two ? most(bits_of_number(n), bits_of_number(m)) : 0;
}

/* In so many bits, without a sign, each lane is. */
static unsigned width_unsigned(value v, int depth)
{
    enum { DEPTH = 6 };
    unsigned bits = bits_of(LLVMTypeOf(v));
    value a, b;
    int64_t n;
    if (number_of(v, &n))
        return n >= 0 ? bits_of_number(n) - 1 : bits;
    if (extreme_of(v, &a, &b) == MOST && number_of(b, &n) && n >= 0)
        return bits - 1;
    if (!LLVMIsAInstruction(v) || depth == DEPTH || LLVMGetNumOperands(v) == 0)
        return bits;
    a = LLVMGetOperand(v, 0);
    b = LLVMGetNumOperands(v) > 1 ? LLVMGetOperand(v, 1) : NULL;
    switch (LLVMGetInstructionOpcode(v)) {
    case LLVMZExt: return width_unsigned(a, depth + 1);
    case LLVMTrunc:
    case LLVMFreeze: return least(bits, width_unsigned(a, depth + 1));
    case LLVMAdd:
        return least(bits, most(width_unsigned(a, depth + 1), width_unsigned(b, depth + 1)) + 1);
    case LLVMAnd: return least(width_unsigned(a, depth + 1), width_unsigned(b, depth + 1));
    case LLVMOr:
    case LLVMXor: return most(width_unsigned(a, depth + 1), width_unsigned(b, depth + 1));
    case LLVMLShr:
        return number_of(b, &n) && n > 0 && n < (int64_t)bits ? bits - (unsigned)n : bits;
    default: return bits;
    }
}

/* In so many bits, its sign's included, each lane is. */
static unsigned width(value v, int depth)
{
    enum { DEPTH = 6 };
    unsigned bits = bits_of(LLVMTypeOf(v));
    int64_t n;
    if (number_of(v, &n))
        return bits_of_number(n);
    if (LLVMIsPoison(v))
        return 1;
    if (!LLVMIsAInstruction(v) || depth == DEPTH)
        return bits;
    unsigned between = width_between(v);
    if (between)
        return between;
    value a = LLVMGetNumOperands(v) > 0 ? LLVMGetOperand(v, 0) : NULL,
          b = LLVMGetNumOperands(v) > 1 ? LLVMGetOperand(v, 1) : NULL;
    switch (LLVMGetInstructionOpcode(v)) {
    case LLVMSExt: return width(a, depth + 1);
    case LLVMZExt: return width_unsigned(a, depth + 1) + 1;
    case LLVMTrunc:
    case LLVMFreeze: return least(bits, width(a, depth + 1));
    case LLVMAdd:
    case LLVMSub: return least(bits, most(width(a, depth + 1), width(b, depth + 1)) + 1);
    case LLVMMul: return least(bits, width(a, depth + 1) + width(b, depth + 1));
    case LLVMAnd:
        if (number_of(b, &n) && n >= 0)
            return bits_of_number(n);
        return most(width(a, depth + 1), width(b, depth + 1));
    case LLVMOr:
    case LLVMXor:
    case LLVMShuffleVector:
    case LLVMInsertElement: return most(width(a, depth + 1), width(b, depth + 1));
    case LLVMExtractElement: return width(a, depth + 1);
    case LLVMSelect: return most(width(b, depth + 1), width(LLVMGetOperand(v, 2), depth + 1));
    case LLVMLShr:
        return number_of(b, &n) && n > 0 && n < (int64_t)bits ? bits - (unsigned)n + 1 : bits;
    case LLVMAShr:
        if (number_of(b, &n) && n > 0 && n < (int64_t)bits)
            return most(width(a, depth + 1), (unsigned)n + 1) - (unsigned)n;
        return width(a, depth + 1);
    default: return bits;
    }
}

/* ---- What becomes of them ---- */

enum { HALF = 16, NARROW = 32 };

/* Does it only move bits, or combine those at the same places? */
static bool passes_on(value i)
{
    return LLVMIsABinaryOperator(i) || LLVMIsASelectInst(i) || LLVMIsAPHINode(i) ||
           LLVMIsACastInst(i) || LLVMIsAFreezeInst(i) || LLVMIsAShuffleVectorInst(i) ||
           LLVMIsAInsertElementInst(i) || LLVMIsACallInst(i);
}

typedef struct followed {
    value all[128];
    unsigned n;
} followed;

static bool is_new(const followed *f, value v)
{
    for (unsigned i = 0; i < f->n; i++)
        if (f->all[i] == v)
            return false;
    return true;
}

/* May bits of v end in vectors of 16? They may where they go further than is followed. */
static bool ends_narrow(value v, followed *f)
{
    for (LLVMUseRef use = LLVMGetFirstUse(v); use; use = LLVMGetNextUse(use)) {
        value i = LLVMGetUser(use);
        unsigned bits = bits_of(LLVMTypeOf(i));
        if (!passes_on(i) || bits <= 1 || !is_new(f, i)) /* 0: none; 1: a test */
            continue;
        if (bits <= HALF || f->n == sizeof f->all / sizeof *f->all)
            return true;
        f->all[f->n++] = i;
        if (ends_narrow(i, f))
            return true;
    }
    return false;
}

/* x * y >> 20: the product in 32 bits, where they hold it. */
static void make_narrow(LLVMBuilderRef b, value shift, value product)
{
    LLVMTypeRef type = LLVMTypeOf(shift), i32 = LLVMInt32TypeInContext(LLVMGetBuilderContext(b)),
                narrow = LLVMVectorType(i32, LLVMGetVectorSize(type));
    value v[2];
    for (unsigned i = 0; i < 2; i++)
        v[i] = LLVMBuildTrunc(b, LLVMGetOperand(product, i), narrow, "");
    LLVMSetOperand(shift, 0, LLVMBuildSExt(b, LLVMBuildMul(b, v[0], v[1], ""), type, ""));
}

static void hide_places(LLVMBuilderRef b, value shift, int64_t places)
{
    LLVMTypeRef type = LLVMTypeOf(shift), i32 = LLVMInt32TypeInContext(LLVMGetBuilderContext(b));
    value one = LLVMBuildZExt(b, kj_hidden_number(b, (uint64_t)places, 64), element_of(type), "");
    value first =
        LLVMBuildInsertElement(b, LLVMGetPoison(type), one, LLVMConstInt(i32, 0, false), "");
    value lanes = LLVMConstNull(LLVMVectorType(i32, LLVMGetVectorSize(type)));
    LLVMSetOperand(shift, 1, LLVMBuildShuffleVector(b, first, LLVMGetPoison(type), lanes, ""));
}

static void mend(LLVMBuilderRef b, value shift)
{
    followed f = {.n = 0};
    LLVMTypeRef type = LLVMTypeOf(shift);
    value product = LLVMGetOperand(shift, 0);
    int64_t places;
    if (LLVMGetTypeKind(type) != LLVMVectorTypeKind || bits_of(type) <= NARROW ||
        !LLVMIsAInstruction(product) || LLVMGetInstructionOpcode(product) != LLVMMul ||
        !number_of(LLVMGetOperand(shift, 1), &places) || places < HALF)
        return;
    LLVMPositionBuilderBefore(b, shift);
    if (width(product, 0) <= NARROW)
        make_narrow(b, shift, product);
    else if (places > HALF && ends_narrow(shift, &f))
        hide_places(b, shift, places);
}

void kj_narrow_high_products(LLVMModuleRef module)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
    for (value f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef k = LLVMGetFirstBasicBlock(f); k; k = LLVMGetNextBasicBlock(k))
            for (value i = LLVMGetFirstInstruction(k); i; i = LLVMGetNextInstruction(i)) {
                LLVMOpcode op = LLVMGetInstructionOpcode(i);
                if (op == LLVMLShr || op == LLVMAShr)
                    mend(b, i);
            }
    LLVMDisposeBuilder(b);
}
