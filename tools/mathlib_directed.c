/* Sums, differences, products, quotients, square roots and fused multiply-adds that are rounded in a direction,
 * for tools/mathlib.c. Processors have modes for that, which compilers take for fixed: here the result to nearest
 * is taken one number on where it lies on the wrong side of the exact one. On which side, `rest` tells: the exact
 * result less the rounded one, of which only the sign is right, 0 where they are equal and NaN where no result is
 * rounded. In f32 the operation is done in f64, whose result is rounded once more; in f64 numbers are scaled where
 * what is left would be too small. (The pieces are in J.-M. Muller et al., Handbook of Floating-Point Arithmetic,
 * 2010.) */
#include "mathlib_gen.h"

#include <stdio.h>

typedef enum operation { ADD, SUB, MUL, DIV, SQRT, FMA, OPERATIONS } operation;
typedef enum direction { DOWN, UP, TO_ZERO, DIRECTIONS } direction;

static const char *const operation_names[] = {"add", "sub", "mul", "div", "sqrt", "fma"};
static const unsigned arguments[] = {2, 2, 2, 2, 1, 3};
static const char direction_letters[] = "duz";

/* The result to nearest in f64, and what is left. */
typedef struct rounded {
    value result, rest;
} rounded;

static value either(gen *g, value a, value b)
{
    return LLVMBuildOr(g->b, a, b, "");
}

static value both(gen *g, value a, value b)
{
    return LLVMBuildAnd(g->b, a, b, "");
}

/* As an integer of as many bits. */
static value bits_of(gen *g, value a)
{
    return LLVMBuildBitCast(g->b, a, g->integer, "");
}

static value of_bits(gen *g, value a)
{
    return LLVMBuildBitCast(g->b, a, g->real, "");
}

static value word(const gen *g, int64_t x)
{
    return LLVMConstInt(g->integer, (uint64_t)x, 1);
}

/* Of two numbers: what is left is exact. */
static rounded sum_of(gen *g, value a, value b)
{
    value sum = add(g, a, b), swap = below(g, absolute(g, a), absolute(g, b));
    value large = choose(g, swap, b, a), small = choose(g, swap, a, b);
    return (rounded){sum, sub(g, small, sub(g, sum, large))};
}

static rounded product_of(gen *g, value a, value b)
{
    value p = mul(g, a, b), tiny = below(g, absolute(g, p), number(g, 0x1p-960));
    value one = number(g, 1), by = choose(g, tiny, number(g, 0x1p600), one);
    value first = below(g, absolute(g, a), absolute(g, b));
    value left = mul(g, a, choose(g, first, by, one)), right = mul(g, b, choose(g, first, one, by));
    value rest = fused(g, left, right, negate(g, mul(g, p, by)));
    value lost = mul(g, mul(g, a, by), mul(g, b, by)); /* has the sign of what is rounded to 0 */
    return (rounded){p, choose(g, equal(g, p, number(g, 0)), lost, rest)};
}

static rounded quotient_of(gen *g, value a, value b)
{
    value q = quotient(g, a, b), tiny = below(g, absolute(g, a), number(g, 0x1p-900));
    value by = choose(g, tiny, number(g, 0x1p200), number(g, 1));
    value rest = fused(g, negate(g, mul(g, q, by)), b, mul(g, a, by));
    return (rounded){q, choose(g, below(g, b, number(g, 0)), negate(g, rest), rest)};
}

static rounded root_of(gen *g, value a)
{
    value s = intrinsic(g, "llvm.sqrt", &a, 1), tiny = below(g, a, number(g, 0x1p-900));
    value one = number(g, 1), t = mul(g, s, choose(g, tiny, number(g, 0x1p100), one));
    value scaled = mul(g, a, choose(g, tiny, number(g, 0x1p200), one));
    return (rounded){s, fused(g, negate(g, t), t, scaled)};
}

/* ---- Fused multiply-adds ---- */

/* x = part * 2^exponent, 1 <= |part| < 2; of 0 and what is not finite they are something else. */
typedef struct parts {
    value part, exponent;
} parts;

static parts parts_of(gen *g, value x)
{
    value subnormal = below(g, absolute(g, x), number(g, 0x1p-1022));
    value bits = bits_of(g, choose(g, subnormal, mul(g, x, number(g, 0x1p54)), x));
    value e = LLVMBuildAnd(g->b, LLVMBuildLShr(g->b, bits, word(g, 52), ""), word(g, 2047), "");
    e = LLVMBuildSub(g->b, e, choose(g, subnormal, word(g, 1023 + 54), word(g, 1023)), "");
    bits = LLVMBuildAnd(g->b, bits, word(g, INT64_MIN | ((INT64_C(1) << 52) - 1)), "");
    bits = LLVMBuildOr(g->b, bits, word(g, INT64_C(1023) << 52), "");
    return (parts){of_bits(g, bits), e};
}

static value power(gen *g, value e)
{
    value biased = LLVMBuildAdd(g->b, e, word(g, 1023), "");
    return of_bits(g, LLVMBuildShl(g->b, biased, word(g, 52), ""));
}

static value limited(gen *g, value e, int64_t least, int64_t most)
{
    e = intrinsic(g, "llvm.smax", (value[]){e, word(g, least)}, 2);
    return intrinsic(g, "llvm.smin", (value[]){e, word(g, most)}, 2);
}

/* The exact sum of a number and an expansion of n, in n + 1 numbers, the largest last: J. R. Shewchuk, "Adaptive
 * precision floating-point arithmetic", 1997. */
static void grow(gen *g, value *sum, int n, value by)
{
    for (int i = 0; i < n; i++) {
        rounded s = sum_of(g, by, sum[i]);
        sum[i] = s.rest;
        by = s.result;
    }
    sum[n] = by;
}

/* a * b + c - r, where all are multiplied by a power of two that brings the larger summand near 1. A summand that is
 * smaller by more than 2^250 counts by its sign alone, and is made that large. */
static value rest_of_fused(gen *g, value a, value b, value c, value r)
{
    value zero = number(g, 0), far = word(g, -10000);
    parts x = parts_of(g, a), y = parts_of(g, b), z = parts_of(g, c);
    value e = LLVMBuildAdd(g->b, x.exponent, y.exponent, "");
    value f = choose(g, equal(g, c, zero), far, z.exponent);
    value most = intrinsic(g, "llvm.smax", (value[]){e, f}, 2);
    e = limited(g, LLVMBuildSub(g->b, e, most, ""), -250, 0);
    f = limited(g, LLVMBuildSub(g->b, f, most, ""), -250, 0);
    value right = mul(g, y.part, power(g, e)), high = mul(g, x.part, right);
    value sum[4] = {fused(g, x.part, right, negate(g, high)), high};
    grow(g, sum, 2, choose(g, equal(g, c, zero), zero, mul(g, z.part, power(g, f))));
    value down = limited(g, LLVMBuildNeg(g->b, most, ""), -1100, 1100);
    value half = LLVMBuildAShr(g->b, down, word(g, 1), "");
    r = mul(g, mul(g, r, power(g, half)), power(g, LLVMBuildSub(g->b, down, half, "")));
    grow(g, sum, 3, negate(g, r));
    value rest = sum[0];
    for (int i = 1; i < 4; i++)
        rest = choose(g, equal(g, sum[i], zero), rest, sum[i]);
    return rest;
}

static rounded fused_of(gen *g, value a, value b, value c)
{
    value r = fused(g, a, b, c), zero = number(g, 0), inf = number(g, __builtin_inf());
    value finite = both(g, below(g, absolute(g, a), inf), below(g, absolute(g, b), inf));
    finite = both(g, finite, below(g, absolute(g, c), inf));
    value exact = either(g, equal(g, a, zero), equal(g, b, zero));
    value beyond = equal(g, absolute(g, r), inf);
    value rest = rest_of_fused(g, a, b, c, choose(g, beyond, zero, r));
    rest = choose(g, beyond, negate(g, r), rest);
    return (rounded){r, choose(g, finite, choose(g, exact, zero, rest), zero)};
}

/* In f64 of f32's numbers: the product is exact. */
static rounded fused_of_f32(gen *g, value a, value b, value c)
{
    return sum_of(g, mul(g, a, b), c);
}

/* ---- Rounding ---- */

/* The sign of an exact sum that is 0: down it is negative but of two positive zeros. */
static value zero_sum(gen *g, value result, value rest, value first, value second)
{
    value none = number(g, 0), exact = both(g, equal(g, result, none), equal(g, rest, none));
    value signs = either(g, bits_of(g, first), bits_of(g, second));
    return choose(g, exact, with_sign(g, none, of_bits(g, signs)), result);
}

/* Where the result lies beyond the exact one, above it or below it: the number next to it. */
static value directed(gen *g, value result, value above, value under, direction to)
{
    value bits = bits_of(g, result), one = word(g, 1);
    value negative = LLVMBuildICmp(g->b, LLVMIntSLT, bits, word(g, 0), "");
    value inward = LLVMBuildSub(g->b, bits, one, ""), outward = LLVMBuildAdd(g->b, bits, one, "");
    value wrong = to == DOWN ? above : to == UP ? under : choose(g, negative, under, above);
    value next = to == DOWN ? choose(g, negative, outward, inward)
                 : to == UP ? choose(g, negative, inward, outward)
                            : inward;
    return choose(g, wrong, of_bits(g, next), result);
}

static rounded operate(gen *g, operation op, value *x, bool is_double)
{
    switch (op) {
    case ADD: return sum_of(g, x[0], x[1]);
    case SUB: return sum_of(g, x[0], negate(g, x[1]));
    case MUL:
        return is_double ? product_of(g, x[0], x[1]) : (rounded){mul(g, x[0], x[1]), number(g, 0)};
    case DIV: return quotient_of(g, x[0], x[1]);
    case SQRT: return root_of(g, x[0]);
    default: return is_double ? fused_of(g, x[0], x[1], x[2]) : fused_of_f32(g, x[0], x[1], x[2]);
    }
}

static void add_directed(gen *g, operation op, direction to, bool is_double)
{
    char name[64];
    value x[3];
    snprintf(name, sizeof name, "kj$%s_r%c_f%d", operation_names[op], direction_letters[to],
             is_double ? 64 : 32);
    begin(g, name, is_double ? f64(g) : f32(g), 1, arguments[op]);
    LLVMTypeRef own = g->real;
    g->real = f64(g);
    for (unsigned i = 0; i < arguments[op]; i++) {
        x[i] = LLVMGetParam(g->function, i);
        x[i] = is_double ? x[i] : LLVMBuildFPExt(g->b, x[i], g->real, "");
    }
    rounded r = operate(g, op, x, is_double);
    if (to == DOWN && (op == ADD || op == FMA))
        r.result = zero_sum(g, r.result, r.rest, op == FMA ? mul(g, x[0], x[1]) : x[0],
                            x[op == FMA ? 2 : 1]);
    if (to == DOWN && op == SUB)
        r.result = zero_sum(g, r.result, r.rest, x[0], negate(g, x[1]));
    if (!is_double) {
        value narrow = LLVMBuildFPTrunc(g->b, r.result, own, "");
        value back = LLVMBuildFPExt(g->b, narrow, g->real, "");
        r.rest = choose(g, equal(g, back, r.result), r.rest, sub(g, r.result, back));
        r.result = narrow;
    }
    value zero = number(g, 0), above = below(g, r.rest, zero), under = below(g, zero, r.rest);
    g->real = own;
    g->integer = is_double ? g->integer : LLVMInt32TypeInContext(g->context);
    give(g, directed(g, r.result, above, under, to));
}

void add_directed_functions(gen *g)
{
    for (int op = 0; op < OPERATIONS; op++)
        for (int to = 0; to < DIRECTIONS; to++)
            for (int is_double = 0; is_double < 2; is_double++)
                add_directed(g, (operation)op, (direction)to, is_double);
}
