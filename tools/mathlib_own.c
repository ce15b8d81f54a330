/* Functions of our own for tools/mathlib.c, where libclc's are wrong or slow (measured by tests/ulp):
 *
 * - erfc, lgamma of f32: 0 where the result is below 2^-126, infinite or far off near 0; here those of f64, rounded.
 * - pow of f32: looks up tables, which is slow in vectors; here without.
 * - pow of f64: garbage where |y| > 2^66; here y is bounded.
 * - gamma: off by thousands of units, of wrong sign and range; here Lanczos' formula, in f64.
 * - fmod, remainder: wrong on subnormal numbers and large quotients; here exact, in 16 lanes too.
 *
 * Each is straight-line code (but for fmod's loop), so that it widens as libclc's do. */
#include "mathlib_gen.h"

#include <stdio.h>
#include <string.h>

/* ---- erfc, lgamma, pow ---- */

/* 2^66 is even and beyond what any x other than 1 and -1 can be raised to. */
static void add_pow(gen *g, const char *name)
{
    value x = begin(g, name, f64(g), 1, 2), y = LLVMGetParam(g->function, 1);
    value most = number(g, 0x1p66);
    y = choose(g, below(g, most, absolute(g, y)), with_sign(g, most, y), y);
    give(g, call(g, "_Z3powdd", (value[]){x, y}, 2));
}

/* ---- pow of f32: 2^(y log2(x)), the logarithm as the sum of two floats ----
 *
 * libclc's looks up tables, which vectors gather. A result of 2^150 has an exponent of 8 digits, so that
 * its logarithm is needed to some 33. */

/* of |a| >= |b|, or a = 0 */
static pair exact_sum(gen *g, value a, value b)
{
    value high = add(g, a, b);
    return (pair){high, sub(g, b, sub(g, high, a))};
}

static pair pair_product(gen *g, pair a, pair b)
{
    pair p = exact_product(g, a.high, b.high);
    value cross = fused(g, a.high, b.low, mul(g, a.low, b.high));
    return (pair){p.high, add(g, p.low, cross)};
}

/* a number and a smaller pair */
static pair pair_sum(gen *g, pair a, pair b)
{
    pair sum = exact_sum(g, a.high, b.high);
    return (pair){sum.high, add(g, sum.low, add(g, a.low, b.low))};
}

static value word(const gen *g, int64_t i)
{
    return LLVMConstInt(LLVMInt32TypeInContext(g->context), (uint64_t)i, 1);
}

/* log2(m) for sqrt(1/2) <= m < sqrt(2): 2/log(2) (s + s^3/3 + s^5/5 ...), s = (m - 1) / (m + 1) */
static pair log2_near_one(gen *g, value m)
{
    static const double tail[] = {0x1.1a819ep-2, 0x1.4808aap-2, 0x1.a617c8p-2, 0x1.2776c6p-1};
    pair first = {number(g, 0x1.715476p+1), number(g, 0x1.4ae0cp-25)};
    pair third = {number(g, 0x1.ec709ep-1), number(g, -0x1.e2fe02p-28)};
    value one = number(g, 1), above = sub(g, m, one), sum = add(g, m, one);
    value lost = sub(g, m, sub(g, sum, one)), inverse = quotient(g, one, sum);
    pair s = {mul(g, above, inverse), NULL};
    value rest = fused(g, negate(g, s.high), sum, above);
    s.low = mul(g, fused(g, negate(g, s.high), lost, rest), inverse);
    pair z = pair_product(g, s, s);
    value q = mul(g, z.high, polynomial(g, z.high, tail, sizeof tail / sizeof *tail));
    pair u = pair_sum(g, third, (pair){q, number(g, 0)});
    return pair_product(g, s, pair_sum(g, first, pair_product(g, z, u)));
}

/* log2 of a > 0, finite */
static pair log2_pair(gen *g, value a)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(g->context);
    value subnormal = below(g, a, number(g, 0x1p-126));
    value normal = choose(g, subnormal, mul(g, a, number(g, 0x1p24)), a);
    value bits = LLVMBuildBitCast(g->b, normal, i32, "");
    value e = LLVMBuildAShr(g->b, LLVMBuildSub(g->b, bits, word(g, 0x3f3504f3), ""), word(g, 23),
                            ""); /* 0 from sqrt(1/2) on */
    value m = LLVMBuildSub(g->b, bits, LLVMBuildShl(g->b, e, word(g, 23), ""), "");
    e = LLVMBuildSub(g->b, e, choose(g, subnormal, word(g, 24), word(g, 0)), "");
    pair whole = {LLVMBuildSIToFP(g->b, e, g->real, ""), number(g, 0)};
    return pair_sum(g, whole, log2_near_one(g, LLVMBuildBitCast(g->b, m, g->real, "")));
}

static value power_of_2_f32(gen *g, value k)
{
    value bits = LLVMBuildShl(g->b, LLVMBuildAdd(g->b, k, word(g, 127), ""), word(g, 23), "");
    return LLVMBuildBitCast(g->b, bits, g->real, "");
}

/* 2^p, rounded once where it is subnormal: of two factors the first leaves a normal number */
static value exp2_pair(gen *g, pair p)
{
    static const double terms[] = {0x1.449138p-13, 0x1.5f494p-10, 0x1.3b29a8p-7,
                                   0x1.c6aeccp-5,  0x1.ebfbep-3,  0x1.62e43p-1};
    value most = number(g, 250), beyond = not_below(g, absolute(g, p.high), most);
    value high = choose(g, beyond, with_sign(g, most, p.high), p.high);
    value low = choose(g, beyond, number(g, 0), p.low), whole = nearest(g, high);
    value r = add(g, sub(g, high, whole), low);
    value e = fused(g, r, polynomial(g, r, terms, sizeof terms / sizeof *terms), number(g, 1));
    value n = LLVMBuildFPToSI(g->b, whole, LLVMInt32TypeInContext(g->context), "");
    n = LLVMBuildFreeze(g->b, n, ""); /* of NaN */
    value half = LLVMBuildAShr(g->b, n, word(g, 1), "");
    e = mul(g, e, power_of_2_f32(g, half));
    return mul(g, e, power_of_2_f32(g, LLVMBuildSub(g->b, n, half, "")));
}

static void add_pow_f32(gen *g, const char *name)
{
    value x = begin(g, name, f32(g), 1, 2), y = LLVMGetParam(g->function, 1);
    value zero = number(g, 0), one = number(g, 1), inf = number(g, __builtin_inf());
    value nan = number(g, __builtin_nan("")), a = absolute(g, x);
    pair log = log2_pair(g, a), p = exact_product(g, y, log.high);
    value r = exp2_pair(g, (pair){p.high, fused(g, y, log.low, p.low)});
    value down = below(g, y, zero);
    r = choose(g, equal(g, a, zero), choose(g, down, inf, zero), r);
    r = choose(g, equal(g, a, inf), choose(g, down, zero, inf), r);
    r = choose(g, equal(g, a, one), one, r);
    /* integers are those that truncation leaves; of these odd are those whose half is none */
    value half = mul(g, y, number(g, 0.5)), whole = equal(g, truncated(g, y), y);
    value odd = LLVMBuildAnd(g->b, whole,
                             LLVMBuildFCmp(g->b, LLVMRealUNE, truncated(g, half), half, ""), "");
    r = choose(g, odd, with_sign(g, r, x), r);
    value finite = LLVMBuildAnd(g->b, below(g, x, zero), below(g, a, inf), "");
    r = choose(g, LLVMBuildAnd(g->b, finite, LLVMBuildNot(g->b, whole, ""), ""), nan, r);
    r = choose(g, LLVMBuildFCmp(g->b, LLVMRealUNO, x, y, ""), nan, r);
    value always = LLVMBuildOr(g->b, equal(g, y, zero), equal(g, x, one), "");
    give(g, choose(g, always, one, r));
}

/* ---- gamma: gamma(x) = S(x) y^(x - 1/2) e^-y, y = x + G - 1/2, S a ratio of polynomials ---- */

enum { TERMS = 13 };
static const double LANCZOS_G = 6.024680040776729583740234375;

/* Makes the formula exact at x = 1 .. 13; the highest power first. */
static const double lanczos_above[TERMS] = {
    2.506628274631000270164908, 210.8242777515793458725097, 8071.672002365816210638003,
    186056.265395223495040295,  2876370.628935372441225409, 31426415.58540019438061423,
    248874557.8620541565114604, 1439720407.311721673663223, 6039542586.352028005064292,
    17921034426.03720969991976, 35711959237.35566804944019, 42919803642.6490987689579,
    23531376880.41075968857201,
};
/* x (x + 1) ... (x + 11) */
static const double lanczos_below[TERMS] = {
    1,        66,        1925,      32670,     357423,   2637558, 13339535,
    45995730, 105258076, 150917976, 120543840, 39916800, 0,
};

/* sin(pi a) for a >= 0: exact reduction to [-1/2, 1/2], then the sign of the nearest integer. */
static value sine_of_pi(gen *g, value a)
{
    value whole = nearest(g, a), part = sub(g, a, whole);
    value half = mul(g, whole, number(g, 0.5));
    value odd = LLVMBuildFCmp(g->b, LLVMRealUNE, half, truncated(g, half), "");
    part = mul(g, part, number(g, 0x1.921fb54442d18p+1));
    value s = call(g, "_Z3sind", &part, 1);
    return choose(g, odd, negate(g, s), s);
}

static void add_gamma(gen *g, const char *name)
{
    value x = begin(g, name, f64(g), 1, 1), zero = number(g, 0), half = number(g, 0.5);
    value is_negative = below(g, x, zero), limit = number(g, 200);
    value given = absolute(g, x), a = choose(g, below(g, given, limit), given, limit);
    value shift = number(g, LANCZOS_G - 0.5), y = add(g, a, shift);
    /* what a + shift lost in rounding */
    value a_is_larger = below(g, shift, a);
    value large = choose(g, a_is_larger, a, shift), small = choose(g, a_is_larger, shift, a);
    value lost = sub(g, sub(g, y, large), small);
    value z = sub(g, a, half), minus_y = negate(g, y);
    value r = mul(
        g,
        quotient(g, polynomial(g, a, lanczos_above, TERMS), polynomial(g, a, lanczos_below, TERMS)),
        call(g, "_Z3expd", &minus_y, 1));
    /* gamma(-a) = -pi / (sin(pi a) a gamma(a)) */
    value reflected =
        quotient(g, number(g, -0x1.921fb54442d18p+1), mul(g, mul(g, sine_of_pi(g, a), a), r));
    r = choose(g, is_negative, reflected, r);
    lost = choose(g, is_negative, negate(g, lost), lost);
    z = choose(g, is_negative, negate(g, z), z);
    r = fused(g, mul(g, lost, number(g, LANCZOS_G)), quotient(g, r, y), r);
    value power = call(g, "kj$pow_f64", (value[]){y, mul(g, z, half)}, 2);
    value result = mul(g, mul(g, r, power), power);

    /* beyond 184 below zero the result is a zero whose sign alternates; integers there have none */
    value halves = mul(g, truncated(g, given), half);
    value is_even = equal(g, truncated(g, halves), halves);
    value far_zero = choose(g, is_even, number(g, -0.0), zero);
    result = choose(g, below(g, x, number(g, -184)), far_zero, result);
    value nan = number(g, __builtin_nan(""));
    value at_pole = LLVMBuildAnd(g->b, is_negative, equal(g, given, truncated(g, given)), "");
    result = choose(g, at_pole, nan, result);
    result = choose(g, below(g, number(g, 171.7), x), number(g, __builtin_inf()), result);
    result = choose(g, below(g, given, number(g, 0x1p-54)), quotient(g, number(g, 1), x), result);
    give(g, choose(g, equal(g, x, x), result, nan));
}

/* ---- fmod, remainder: exact, in f64 for both types ---- */

static value exponent(gen *g, value a)
{
    value subnormal = below(g, a, number(g, 0x1p-1022));
    value scaled = choose(g, subnormal, mul(g, a, number(g, 0x1p54)), a);
    value bits = LLVMBuildBitCast(g->b, scaled, g->integer, "");
    value e = LLVMBuildLShr(g->b, bits, integer(g, 52), "");
    return LLVMBuildSub(g->b, e, choose(g, subnormal, integer(g, 54), integer(g, 0)), "");
}

/* 2^k, 0 <= k <= 1023. */
static value power_of_2(gen *g, value k)
{
    value bits =
        LLVMBuildShl(g->b, LLVMBuildAdd(g->b, k, integer(g, 1023), ""), integer(g, 52), "");
    return LLVMBuildBitCast(g->b, bits, g->real, "");
}

/* One step of a modulo b (a >= b > 0, finite): takes off a multiple of b that leaves less than a /
 * 2^49, or than b. The quotient's integer part is exact but for one unit, and what fma leaves is a
 * multiple of b's last place. */
static value fmod_step(gen *g, value a, value b)
{
    value k = LLVMBuildSub(g->b, LLVMBuildSub(g->b, exponent(g, a), exponent(g, b), ""),
                           integer(g, 50), "");
    k = intrinsic(g, "llvm.smax", (value[]){k, integer(g, 0)}, 2);
    k = intrinsic(g, "llvm.smin", (value[]){k, integer(g, 2046)}, 2);
    value first = LLVMBuildLShr(g->b, k, integer(g, 1), "");
    value t =
        mul(g, mul(g, b, power_of_2(g, first)), power_of_2(g, LLVMBuildSub(g->b, k, first, "")));
    value r = fused(g, negate(g, truncated(g, quotient(g, a, t))), t, a);
    r = choose(g, below(g, r, number(g, 0)), add(g, r, t), r);
    return choose(g, not_below(g, r, t), sub(g, r, t), r);
}

/* a modulo b for finite a >= 0, b > 0. Lanes that are done stay as they are while others go on. */
static value fmod_loop(gen *g, value a, value b)
{
    LLVMBasicBlockRef entry = LLVMGetInsertBlock(g->b);
    LLVMBasicBlockRef head = LLVMAppendBasicBlockInContext(g->context, g->function, "");
    LLVMBasicBlockRef body = LLVMAppendBasicBlockInContext(g->context, g->function, "");
    LLVMBasicBlockRef end = LLVMAppendBasicBlockInContext(g->context, g->function, "");
    LLVMBuildBr(g->b, head);
    LLVMPositionBuilderAtEnd(g->b, head);
    value r = LLVMBuildPhi(g->b, g->real, ""), more = not_below(g, r, b);
    if (g->lanes > 1) {
        more = intrinsic(g, "llvm.vector.reduce.or", &more, 1);
    }
    LLVMBuildCondBr(g->b, more, body, end);
    LLVMPositionBuilderAtEnd(g->b, body);
    value next = fmod_step(g, r, b);
    LLVMBuildBr(g->b, head);
    LLVMAddIncoming(r, (value[]){a, next}, (LLVMBasicBlockRef[]){entry, body}, 2);
    LLVMPositionBuilderAtEnd(g->b, end);
    return r;
}

/* The remainder nearest to 0 (ties to the even quotient), from r = a modulo 2b. Halves and doubles
 * are exact on the side of 1 where they are taken. */
static value nearest_remainder(gen *g, value r, value b)
{
    value small = below(g, b, number(g, 1)), half = number(g, 0.5);
    value bound = choose(g, small, b, mul(g, b, half));
    value above = below(g, bound, choose(g, small, add(g, r, r), r));
    value once = sub(g, r, b);
    value again = not_below(g, choose(g, small, add(g, once, once), once), bound);
    return choose(g, above, choose(g, again, sub(g, once, b), once), r);
}

static void add_modulo(gen *g, const char *name, bool is_double, unsigned lanes, bool is_remainder)
{
    value x = begin(g, name, is_double ? f64(g) : f32(g), lanes, 2),
          y = LLVMGetParam(g->function, 1);
    LLVMTypeRef own = g->real;
    g->real = in_lanes(g, f64(g));
    if (!is_double) {
        x = LLVMBuildFPExt(g->b, x, g->real, "");
        y = LLVMBuildFPExt(g->b, y, g->real, "");
    }
    value inf = number(g, __builtin_inf()), zero = number(g, 0), one = number(g, 1),
          nan = number(g, __builtin_nan(""));
    value a = absolute(g, x), b = absolute(g, y);
    value a_finite = below(g, a, inf),
          b_usable = LLVMBuildAnd(g->b, below(g, zero, b), below(g, b, inf), "");
    value usable = LLVMBuildAnd(g->b, a_finite, b_usable, "");
    value safe_a = choose(g, usable, a, zero), safe_b = choose(g, usable, b, one);
    value r;
    if (is_remainder) {
        value huge = not_below(g, safe_b, number(g, 0x1p1023));
        value doubled = choose(g, huge, one, add(g, safe_b, safe_b));
        r = fmod_loop(g, choose(g, huge, zero, safe_a), doubled);
        r = nearest_remainder(g, choose(g, huge, safe_a, r), safe_b);
    } else {
        r = fmod_loop(g, safe_a, safe_b);
    }
    r = choose(g, below(g, x, zero), negate(g, r), r);
    r = choose(g, equal(g, r, zero), with_sign(g, zero, x), r);
    value b_infinite = LLVMBuildAnd(g->b, a_finite, equal(g, b, inf), "");
    r = choose(g, usable, r, choose(g, b_infinite, x, nan));
    give(g, is_double ? r : LLVMBuildFPTrunc(g->b, r, own, ""));
}

/* ---- The list ---- */

bool is_own_part(const char *opencl_name)
{
    return strcmp(opencl_name, "_Z4erfcd") == 0 || strcmp(opencl_name, "_Z6lgammad") == 0;
}

void add_own_functions(LLVMModuleRef m)
{
    LLVMContextRef context = LLVMGetModuleContext(m);
    gen g = {.context = context, .module = m, .b = LLVMCreateBuilderInContext(context)};
    add_rounded(&g, "kj$erfc_f32", "_Z4erfcd", 1);
    add_rounded(&g, "kj$lgamma_f32", "_Z6lgammad", 1);
    add_pow_f32(&g, "kj$pow_f32");
    add_pow(&g, "kj$pow_f64");
    add_gamma(&g, "kj$gamma_f64");
    add_rounded(&g, "kj$gamma_f32", "kj$gamma_f64", 1);
    for (int wide = 0; wide < 2; wide++) {
        for (int is_double = 0; is_double < 2; is_double++) {
            for (int is_remainder = 0; is_remainder < 2; is_remainder++) {
                char name[64];
                snprintf(name, sizeof name, "kj$%s_%sf%d", is_remainder ? "remainder" : "fmod",
                         wide ? "v16" : "", is_double ? 64 : 32);
                add_modulo(&g, name, is_double, wide ? LANES : 1, is_remainder);
            }
        }
    }
    add_elementary_functions(&g);
    add_special_functions(&g);
    add_bessel_functions(&g);
    add_directed_functions(&g);
    LLVMDisposeBuilder(g.b);
}
