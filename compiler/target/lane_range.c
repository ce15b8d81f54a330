/* Between which numbers the lanes of vectors of integers are, in optimised code. */
#include <string.h>

#include "target/target.h"

typedef LLVMValueRef value;
typedef kj_lane_range range;

enum { WIDE = 32, HALF = 16 };

/* Of the lanes of a vector of integers; else 0. */
unsigned kj_lane_bits(LLVMTypeRef type)
{
    if (LLVMGetTypeKind(type) != LLVMVectorTypeKind)
        return 0;
    LLVMTypeRef element = LLVMGetElementType(type);
    return LLVMGetTypeKind(element) == LLVMIntegerTypeKind ? LLVMGetIntTypeWidth(element) : 0;
}

/* Of a constant vector, the least and the greatest lane. */
bool kj_lane_constants(value v, range *out)
{
    if (!LLVMIsConstant(v) || LLVMIsUndef(v) || LLVMIsPoison(v))
        return false;
    for (unsigned i = 0, n = LLVMGetVectorSize(LLVMTypeOf(v)); i < n; i++) {
        value one = LLVMGetAggregateElement(v, i);
        if (!one || !LLVMIsAConstantInt(one))
            return false;
        int64_t lane = LLVMConstIntGetSExtValue(one);
        out->least = i == 0 || lane < out->least ? lane : out->least;
        out->most = i == 0 || lane > out->most ? lane : out->most;
    }
    return true;
}

static const char *const names[] = {[KJ_LANE_ABS] = "llvm.abs.",
                                    [KJ_LANE_SMIN] = "llvm.smin.",
                                    [KJ_LANE_SMAX] = "llvm.smax.",
                                    [KJ_LANE_UMIN] = "llvm.umin.",
                                    [KJ_LANE_UMAX] = "llvm.umax."};

kj_lane_call kj_lane_call_of(value v)
{
    size_t size;
    value f = LLVMIsACallInst(v) ? LLVMGetCalledValue(v) : NULL;
    if (!f || !LLVMIsAFunction(f))
        return KJ_LANE_OTHER;
    const char *name = LLVMGetValueName2(f, &size);
    for (int i = KJ_LANE_ABS; i <= KJ_LANE_UMAX; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return (kj_lane_call)i;
    return KJ_LANE_OTHER;
}

static int64_t lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t greater(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static range product(range a, range b)
{
    int64_t p[4] = {a.least * b.least, a.least * b.most, a.most * b.least, a.most * b.most};
    return (range){lesser(lesser(p[0], p[1]), lesser(p[2], p[3])),
                   greater(greater(p[0], p[1]), greater(p[2], p[3]))};
}

static bool is_number(range a)
{
    return a.least == a.most;
}

/* Bits that a number from 0 on has, all on. */
static int64_t ones_of(int64_t most)
{
    int64_t n = 1;
    while (n <= most)
        n *= 2;
    return n - 1;
}

static bool range_of_bits(LLVMOpcode op, range a, range b, range *out)
{
    if (op == LLVMAnd && (b.least >= 0 || a.least >= 0)) {
        *out = (range){0, a.least < 0 ? b.most : b.least < 0 ? a.most : lesser(a.most, b.most)};
        return true;
    }
    *out = (range){0, ones_of(greater(a.most, b.most))};
    return op != LLVMAnd && a.least >= 0 && b.least >= 0;
}

static bool range_of_binary(LLVMOpcode op, range a, range b, range *out)
{
    bool shifts = is_number(b) && b.least >= 0 && b.least < WIDE;
    switch (op) {
    case LLVMAdd: *out = (range){a.least + b.least, a.most + b.most}; return true;
    case LLVMSub: *out = (range){a.least - b.most, a.most - b.least}; return true;
    case LLVMMul: *out = product(a, b); return true;
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor: return range_of_bits(op, a, b, out);
    case LLVMShl:
        *out = product(a, (range){(int64_t)1 << b.least, (int64_t)1 << b.least});
        return shifts;
    case LLVMLShr:
        *out = (range){a.least >> b.least, a.most >> b.least};
        return shifts && a.least >= 0;
    case LLVMAShr: *out = (range){a.least >> b.least, a.most >> b.least}; return shifts;
    case LLVMUDiv:
    case LLVMSDiv:
        if (!is_number(b) || b.least <= 0 || a.least < 0)
            return false;
        *out = (range){a.least / b.least, a.most / b.least};
        return true;
    case LLVMURem:
    case LLVMSRem:
        *out = (range){0, lesser(a.most, b.least - 1)};
        return is_number(b) && b.least > 0 && a.least >= 0;
    default: return false;
    }
}

static bool range_of_call(kj_lane_call kind, range a, range b, range *out)
{
    bool same = a.least >= 0 && b.least >= 0; /* then signs make no difference */
    switch (kind) {
    case KJ_LANE_ABS:
        *out = (range){a.least > 0 ? a.least : a.most < 0 ? -a.most : 0, greater(a.most, -a.least)};
        return true;
    case KJ_LANE_UMIN:
        if (!same)
            return false; /* fall through */
    case KJ_LANE_SMIN:
        *out = (range){lesser(a.least, b.least), lesser(a.most, b.most)};
        return true;
    case KJ_LANE_UMAX:
        if (!same)
            return false; /* fall through */
    case KJ_LANE_SMAX:
        *out = (range){greater(a.least, b.least), greater(a.most, b.most)};
        return true;
    default: return false;
    }
}

/* x - x / n * n, as a floor division has it: n's remainder, though the operands' ranges tell less. */
static bool is_remainder(value sum, range *out)
{
    for (unsigned i = 0; i < 2; i++) {
        value m = LLVMGetOperand(sum, i), x = LLVMGetOperand(sum, 1 - i);
        if (!LLVMIsAInstruction(m) || LLVMGetInstructionOpcode(m) != LLVMMul)
            continue;
        value q = LLVMGetOperand(m, 0);
        range by, neg;
        bool divides = LLVMIsAInstruction(q) && (LLVMGetInstructionOpcode(q) == LLVMSDiv ||
                                                 LLVMGetInstructionOpcode(q) == LLVMUDiv);
        if (!divides || LLVMGetOperand(q, 0) != x ||
            !kj_lane_constants(LLVMGetOperand(q, 1), &by) ||
            !kj_lane_constants(LLVMGetOperand(m, 1), &neg) || !is_number(by) || !is_number(neg) ||
            by.least != -neg.least || by.least <= 0)
            continue;
        *out = (range){0, by.least - 1};
        return true;
    }
    return false;
}

static bool range_of_extension(value v, range *out)
{
    unsigned bits = kj_lane_bits(LLVMTypeOf(LLVMGetOperand(v, 0)));
    int64_t half = bits > 0 && bits <= HALF ? (int64_t)1 << (bits - 1) : 0;
    *out = LLVMIsAZExtInst(v) ? (range){0, 2 * half - 1} : (range){-half, half - 1};
    return half > 0;
}

bool kj_is_extension(value v)
{
    return LLVMIsAZExtInst(v) || LLVMIsASExtInst(v);
}

bool kj_lane_range_of(value v, kj_lane_known *known, const void *ctx, range *out)
{
    range a, b;
    if (kj_is_extension(v))
        return range_of_extension(v, out);
    bool selects = LLVMIsASelectInst(v) != NULL;
    kj_lane_call kind = kj_lane_call_of(v);
    if (!selects && kind == KJ_LANE_OTHER && !LLVMIsABinaryOperator(v))
        return false;
    if (!known(ctx, LLVMGetOperand(v, selects), &a))
        return false;
    if (kind == KJ_LANE_ABS)
        return range_of_call(kind, a, a, out);
    if (!known(ctx, LLVMGetOperand(v, 1u + selects), &b))
        return false;
    if (selects) {
        *out = (range){lesser(a.least, b.least), greater(a.most, b.most)};
        return true;
    }
    if (kind != KJ_LANE_OTHER)
        return range_of_call(kind, a, b, out);
    if (!range_of_binary(LLVMGetInstructionOpcode(v), a, b, out))
        return false;
    if (LLVMGetInstructionOpcode(v) == LLVMAdd && (a.least >= 0) != (b.least >= 0))
        is_remainder(v, out);
    return true;
}
