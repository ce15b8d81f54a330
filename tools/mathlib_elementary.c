/* Elementary functions of our own for tools/mathlib.c: exp, exp2, exp10, log, sin, cos, tanh and erf,
 * where libclc's look up tables, divide more than once, or compute every part of a function for every
 * argument, all of which vectors pay for.
 *
 * Each is straight-line code of few operations, but for a branch that sin and cos take for large
 * angles. What all have in common:
 *
 * - Adding 3/2 of the number whose last place is 1 rounds to an integer, which then stands in the
 *   sum's last bits.
 * - Bounds are selections of the form x < least ? least : x, an instruction of x86, which leave NaN
 *   as it is.
 * - Polynomials are best approximations, whose coefficients were rounded one after the other, the
 *   others fitted again each time; the highest power comes first. */
#include "mathlib_gen.h"

#include <stdio.h>

/* What f32 and f64 differ in. */
typedef struct format {
    unsigned places, bias; /* of the mantissa; of the exponent */
    double round;          /* 3/2 of the number whose last place is 1 */
} format;

static const format formats[] = {{23, 127, 0x1.8p23}, {52, 1023, 0x1.8p52}};

static bool is_double(const gen *g)
{
    return LLVMGetTypeKind(g->real) == LLVMDoubleTypeKind;
}
static const format *format_of(const gen *g)
{
    return &formats[is_double(g)];
}
static LLVMTypeRef word_type(const gen *g)
{
    return is_double(g) ? LLVMInt64TypeInContext(g->context) : LLVMInt32TypeInContext(g->context);
}
static value word(const gen *g, uint64_t x)
{
    return LLVMConstInt(word_type(g), x, 0);
}
static value bits(gen *g, value x)
{
    return LLVMBuildBitCast(g->b, x, word_type(g), "");
}
static value real(gen *g, value word)
{
    return LLVMBuildBitCast(g->b, word, g->real, "");
}
static value shifted(gen *g, value word, unsigned by)
{
    return LLVMBuildShl(g->b, word, LLVMConstInt(word_type(g), by, 0), "");
}

static value at_least(gen *g, value x, double least)
{
    value bound = number(g, least);
    return choose(g, below(g, x, bound), bound, x);
}
static value at_most(gen *g, value x, double most)
{
    value bound = number(g, most);
    return choose(g, below(g, bound, x), bound, x);
}

/* ---- Exponential functions ---- */

/* To base b: b^x = 2^n b^r, n whole, |r| <= log_b(2) / 2. */
typedef struct base {
    double least, most;  /* below and above are 0 and infinity */
    double log2;         /* log2(b) */
    double high, low;    /* log_b(2); n high is exact */
    const double *terms; /* b^r - 1 - r for b = e in f64, else b^r */
    int nterms;
} base;

static const double e_terms[] = {
    0x1.6a3fb8p-10, 0x1.1239ep-7, 0x1.5558bep-5, 0x1.555492p-3, 0x1.fffffcp-2, 1, 1};
static const double two_terms[] = {
    0x1.416d1cp-13, 0x1.5f09a4p-10, 0x1.3b2dep-7, 0x1.c6af7ap-5, 0x1.ebfbdcp-3, 0x1.62e43p-1, 1};
static const double ten_terms[] = {
    0x1.a652a8p-3, 0x1.156bfep-1, 0x1.2bd9fp0, 0x1.046f9ap1, 0x1.53524ap1, 0x1.26bb1cp1, 1};
static const double e_terms_f64[] = {
    0x1.ad9ac413adcabp-26, 0x1.28ad7f5d77063p-22, 0x1.71df104f03a1bp-19, 0x1.a01999ed8405ep-16,
    0x1.a01a01362ff41p-13, 0x1.6c16c18442b55p-10, 0x1.1111111124dc3p-7,  0x1.5555555550781p-5,
    0x1.555555555550ap-3,  0x1.000000000000ap-1,
};
static const double two_terms_f64[] = {
    0x1.e80ea110e68e1p-32, 0x1.e611be3b070a6p-28, 0x1.b5260de07a414p-24, 0x1.62bfcdcf7536ap-20,
    0x1.ffcbfbf8a620fp-17, 0x1.4309130c05e44p-13, 0x1.5d87fe78b3bedp-10, 0x1.3b2ab6fba11e6p-7,
    0x1.c6b08d704a0d4p-5,  0x1.ebfbdff82c59cp-3,  0x1.62e42fefa39efp-1,  1,
};

#define TERMS(list) list, sizeof list / sizeof *list
static const base base_e = {-105, 89, 0x1.715476p+0, 0x1.62e4p-1, 0x1.7f7d1cp-20, TERMS(e_terms)};
static const base base_2 = {-151, 129, 1, 1, 0, TERMS(two_terms)};
static const base base_10 = {-46, 39, 0x1.a934fp+1, 0x1.34413p-2, 0x1.427de8p-24, TERMS(ten_terms)};
static const base base_e_f64 = {
    -750, 710, 0x1.71547652b82fep+0, 0x1.62e42fefa38p-1, 0x1.ef35793c7673p-45, TERMS(e_terms_f64)};
static const base base_2_f64 = {-1076, 1025, 1, 1, 0, TERMS(two_terms_f64)};

/* x = n log_b(2) + r + low */
typedef struct reduced {
    value sum; /* n + bias in its last bits */
    value r, low;
} reduced;

static reduced reduce(gen *g, const base *b, value x, double bias)
{
    reduced d;
    value round = number(g, format_of(g)->round + bias);
    d.sum = b->log2 == 1 ? add(g, x, round) : fused(g, x, number(g, b->log2), round);
    value n = sub(g, d.sum, round), high = fused(g, n, number(g, -b->high), x);
    d.low = number(g, 0);
    d.r = b->low == 0 ? high : fused(g, n, number(g, -b->low), high);
    if (is_double(g))
        d.low = fused(g, n, number(g, -b->low), sub(g, high, d.r));
    return d;
}

/* e^(r + low) in f64: the sum of 1 and r, and what is small */
static value one_and(gen *g, const base *b, reduced d)
{
    value rest = fused(g, mul(g, d.r, d.r), polynomial(g, d.r, b->terms, b->nterms), d.low);
    value sum = add(g, number(g, 1), d.r), lost = add(g, sub(g, number(g, 1), sum), d.r);
    return add(g, sum, add(g, lost, rest));
}

/* 2^n is a product of two powers, one of them 2^64 or, where x < 0, 2^-64 (of f64 2^512): so that the
 * other is a normal number, and the result is rounded once where it is subnormal. */
static void add_exponential(gen *g, const char *name, bool is_f64, const base *b)
{
    value x = begin(g, name, is_f64 ? f64(g) : f32(g), 1, 1);
    const format *f = format_of(g);
    x = at_most(g, at_least(g, x, b->least), b->most);
    reduced d = reduce(g, b, x, 2.0 * f->bias);
    value e = b == &base_e_f64 ? one_and(g, b, d) : polynomial(g, d.r, b->terms, b->nterms);
    uint64_t top = (uint64_t)1 << (is_f64 ? 62 : 30), half = (f->bias + 1) / 2;
    value sign = LLVMBuildLShr(g->b, bits(g, x), word(g, 1), "");
    value second = LLVMBuildXor(g->b, LLVMBuildAnd(g->b, sign, word(g, top), ""),
                                word(g, (f->bias + half) << f->places), "");
    value first = LLVMBuildSub(g->b, shifted(g, bits(g, d.sum), f->places), second, "");
    give(g, mul(g, mul(g, e, real(g, first)), real(g, second)));
}

/* ---- Logarithm: x = 2^e (1 + m), sqrt(1/2) or 2/3 <= 1 + m < 2 of that ---- */

typedef struct parts {
    value e, m;
} parts;

static value is_subnormal(gen *g, value x)
{
    return below(g, x, number(g, is_double(g) ? 0x1p-1022 : 0x1p-126));
}

/* The exponent becomes a number as the last bits of 2^52: a processor without AVX-512 has no
 * conversion of 64 bits. */
static parts apart_f64(gen *g, value x)
{
    static const uint64_t least = 0x3fe6a09e667f3bcd, two_52 = 0x4330000000000000;
    value small = is_subnormal(g, x),
          x_bits = bits(g, choose(g, small, mul(g, x, number(g, 0x1p54)), x));
    value d = LLVMBuildAdd(g->b, x_bits, word(g, ((uint64_t)1024 << 52) - least), "");
    value e = LLVMBuildOr(g->b, LLVMBuildLShr(g->b, d, word(g, 52), ""), word(g, two_52), "");
    value m = LLVMBuildAnd(g->b, d, word(g, ((uint64_t)1 << 52) - 1), "");
    m = real(g, LLVMBuildAdd(g->b, m, word(g, least), ""));
    value zero = choose(g, small, number(g, 0x1p52 + 1024 + 54), number(g, 0x1p52 + 1024));
    return (parts){sub(g, real(g, e), zero), sub(g, m, number(g, 1))};
}

static parts apart_f32(gen *g, value x)
{
    static const uint64_t least = 0x3f2aaaab;
    value small = is_subnormal(g, x),
          x_bits = bits(g, choose(g, small, mul(g, x, number(g, 0x1p23)), x));
    value d = LLVMBuildSub(g->b, x_bits, word(g, least), "");
    value e = LLVMBuildSIToFP(g->b, LLVMBuildAShr(g->b, d, word(g, 23), ""), g->real, "");
    value m = LLVMBuildAnd(g->b, d, word(g, ((uint64_t)1 << 23) - 1), "");
    m = real(g, LLVMBuildAdd(g->b, m, word(g, least), ""));
    return (parts){sub(g, e, choose(g, small, number(g, 23), number(g, 0))),
                   sub(g, m, number(g, 1))};
}

/* r but for infinity, NaN, zeros and negative numbers */
static void give_log(gen *g, value x, value r)
{
    value inf = number(g, __builtin_inf()), zero = number(g, 0);
    r = choose(g, below(g, x, inf), r, x);
    value none =
        choose(g, equal(g, x, zero), number(g, -__builtin_inf()), number(g, __builtin_nan("")));
    give(g, choose(g, LLVMBuildFCmp(g->b, LLVMRealUGT, x, zero, ""), r, none));
}

static void add_log_f32(gen *g, const char *name)
{
    static const double terms[] = {-0x1.0e2bd8p-3, 0x1.1defeep-3,  -0x1.f03b7ep-4,
                                   0x1.1ef26p-3,   -0x1.55b7eep-3, 0x1.99ce34p-3,
                                   -0x1.fffe5ep-3, 0x1.55550cp-2,  -0.5};
    value x = begin(g, name, f32(g), 1, 1);
    parts p = apart_f32(g, x);
    value r = fused(g, polynomial(g, p.m, TERMS(terms)), mul(g, p.m, p.m), p.m);
    give_log(g, x, fused(g, p.e, number(g, 0x1.62e43p-1), r));
}

/* log(1 + m) = 2s + s^3 (2/3 + ...) = m - m^2/2 + s (m^2/2 + s^2 (2/3 + ...)), s = m / (2 + m) */
static void add_log_f64(gen *g, const char *name)
{
    static const double terms[] = {0x1.2f04252ebf8d9p-3, 0x1.39a1df8e98fd5p-3, 0x1.74663d39fb719p-3,
                                   0x1.c71c52132c403p-3, 0x1.24924941e24fdp-2, 0x1.999999997ff1p-2,
                                   0x1.5555555555592p-1};
    value x = begin(g, name, f64(g), 1, 1);
    parts p = apart_f64(g, x);
    value s = quotient(g, p.m, add(g, number(g, 2), p.m)), z = mul(g, s, s);
    value half = mul(g, mul(g, number(g, 0.5), p.m), p.m);
    value r = fused(g, polynomial(g, z, TERMS(terms)), z, half);
    r = fused(g, s, r, mul(g, p.e, number(g, base_e_f64.low)));
    r = sub(g, p.m, sub(g, half, r));
    give_log(g, x, fused(g, p.e, number(g, base_e_f64.high), r));
}

/* ---- sin, cos ---- */

/* An angle less a multiple of pi (of f64 of pi / 2): the multiple's last bits; r + low, of which f32
 * has r alone. */
typedef struct angle {
    value r, low, multiple;
} angle;

/* Of f32, n pi: of cos (n - 1/2) pi. What differs from sin is in `multiple` and r then. */
static angle near_f32(gen *g, value a, bool is_cos)
{
    static const double pi[] = {0x1.921fb4p+1, 0x1.4442dp-23, 0x1.84698ap-47};
    value round = number(g, formats[0].round), inverse = number(g, 0x1.45f306p-2),
          half = number(g, 0.5);
    value sum = is_cos ? add(g, fused(g, a, inverse, half), round) : fused(g, a, inverse, round);
    value n = is_cos ? sub(g, sub(g, sum, round), half) : sub(g, sum, round);
    for (int i = 0; i < 3; i++)
        a = fused(g, n, number(g, -pi[i]), a);
    return (angle){a, number(g, 0), bits(g, sum)};
}

static angle near_f64(gen *g, value a)
{
    value round = number(g, formats[1].round);
    value sum = fused(g, a, number(g, 0x1.45f306dc9c883p-1), round), n = sub(g, sum, round);
    value first = fused(g, n, number(g, -0x1.921fb54442d18p+0), a);
    pair second = exact_product(g, n, number(g, 0x1.1a62633145c06p-54));
    value r = sub(g, first, second.high);
    value low = sub(g, sub(g, sub(g, first, r), second.high), second.low);
    return (angle){r, fused(g, n, number(g, -0x1.c1cd129024e08p-107), low), bits(g, sum)};
}

/* The digits of 1 / pi behind a word of zeros, for f64 of 2 / pi. A large angle is a whole number times
 * 2^e; its product with the digits from the one on that e tells is a / pi modulo 2 (2a / pi modulo 4)
 * to as many digits as it takes. */
static const uint64_t pi_digits_f32[] = {0,          0x517cc1b7, 0x27220a94, 0xfe13abe8,
                                         0xfa9a6ee0, 0x6db14acc, 0x9e21c820, 0xff28b1d5};
static const uint64_t pi_digits_f64[] = {
    0,
    0xa2f9836e4e441529,
    0xfc2757d1f534ddc0,
    0xdb6295993c439041,
    0xfe5163abdebbc561,
    0xb7246e3a424dd2e0,
    0x06492eea09d1921c,
    0xfe1deb1cb129a73e,
    0xe88235f52ebb4484,
    0xe99c7026b45f7e41,
    0x3991d639835339f4,
    0x9c845f8bbdf9283b,
    0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f,
    0x6d367ecf27cb09b7,
    0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b,
    0x3d0739f78a5292ea,
    0x6bfb5fb11f8d5d08,
    0x56033046fc7b6bab,
};

typedef struct digits {
    value words[3];
} digits;

/* `least` is the biased exponent for which the first word begins with the table's first. */
static digits digits_from(gen *g, const char *name, const uint64_t *table, unsigned n,
                          value exponent, unsigned least)
{
    LLVMTypeRef type = word_type(g);
    unsigned size = is_double(g) ? 64 : 32, log_size = is_double(g) ? 6 : 5;
    value all[32], from[4], at = LLVMBuildSub(g->b, exponent, word(g, least), ""), global;
    for (unsigned i = 0; i < n; i++)
        all[i] = word(g, table[i]);
    if (!(global = LLVMGetNamedGlobal(g->module, name))) {
        global = LLVMAddGlobal(g->module, LLVMArrayType2(type, n), name);
        LLVMSetInitializer(global, LLVMConstArray2(type, all, n));
        LLVMSetGlobalConstant(global, 1);
        LLVMSetLinkage(global, LLVMInternalLinkage);
    }
    value index = LLVMBuildLShr(g->b, at, word(g, log_size), "");
    at = LLVMBuildAnd(g->b, at, word(g, size - 1), "");
    for (unsigned i = 0; i < 4; i++) {
        value place[] = {word(g, 0), LLVMBuildAdd(g->b, index, word(g, i), "")};
        from[i] = LLVMBuildLoad2(
            g->b, type, LLVMBuildGEP2(g->b, LLVMGlobalGetValueType(global), global, place, 2, ""),
            "");
    }
    digits d;
    for (unsigned i = 0; i < 3; i++)
        d.words[i] = intrinsic(g, "llvm.fshl", (value[]){from[i], from[i + 1], at}, 3);
    return d;
}

/* A large number's exponent, as it stands in its bits, and its mantissa. */
static value mantissa(gen *g, value a, value *exponent)
{
    unsigned places = format_of(g)->places;
    *exponent = LLVMBuildLShr(g->b, bits(g, a), word(g, places), "");
    value m = LLVMBuildAnd(g->b, bits(g, a), word(g, ((uint64_t)1 << places) - 1), "");
    return LLVMBuildOr(g->b, m, word(g, (uint64_t)1 << places), "");
}

static value times(gen *g, value a, value b)
{
    return LLVMBuildMul(g->b, a, b, "");
}
static value plus(gen *g, value a, value b)
{
    return LLVMBuildAdd(g->b, a, b, "");
}
static value upper(gen *g, value a, unsigned by)
{
    return LLVMBuildLShr(g->b, a, LLVMConstInt(LLVMTypeOf(a), by, 0), "");
}

/* a / pi modulo 2 in 64 bits, the first of which counts ones */
static angle far_f32(gen *g, value a, bool is_cos)
{
    LLVMTypeRef i64 = LLVMInt64TypeInContext(g->context);
    value exponent, m = LLVMBuildZExt(g->b, mantissa(g, a, &exponent), i64, ""), w[3],
                    one = LLVMConstInt(i64, 1, 0);
    digits d = digits_from(g, "kj$pi_digits_f32", pi_digits_f32, 8, exponent, 119);
    for (int i = 0; i < 3; i++)
        w[i] = times(g, m, LLVMBuildZExt(g->b, d.words[i], i64, ""));
    value high = LLVMBuildShl(g->b, w[0], LLVMConstInt(i64, 32, 0), "");
    value p = plus(g, plus(g, high, w[1]), upper(g, w[2], 32));
    if (is_cos)
        p = plus(g, p, LLVMConstInt(i64, (uint64_t)1 << 62, 0));
    value part = LLVMBuildShl(g->b, p, one, "");
    value multiple =
        LLVMBuildTrunc(g->b, upper(g, LLVMBuildXor(g->b, p, part, ""), 63), word_type(g), "");
    value r = LLVMBuildSIToFP(g->b, part, f64(g), "");
    r = LLVMBuildFMul(g->b, r, LLVMConstReal(f64(g), 0x1.921fb54442d18p-63), "");
    return (angle){LLVMBuildFPTrunc(g->b, r, g->real, ""), number(g, 0), multiple};
}

/* The upper 64 bits of a product of 53 and 64 bits. */
static value upper_product(gen *g, value a, value b)
{
    value mask = word(g, 0xffffffff), a_low = LLVMBuildAnd(g->b, a, mask, ""),
          b_low = LLVMBuildAnd(g->b, b, mask, "");
    value a_high = upper(g, a, 32), b_high = upper(g, b, 32);
    value one = plus(g, times(g, a_high, b_low), upper(g, times(g, a_low, b_low), 32));
    value other = plus(g, times(g, a_low, b_high), LLVMBuildAnd(g->b, one, mask, ""));
    return plus(g, plus(g, times(g, a_high, b_high), upper(g, one, 32)), upper(g, other, 32));
}

/* 2a / pi modulo 4 in 128 bits, the first two of which count ones */
static angle far_f64(gen *g, value a)
{
    value exponent, m = mantissa(g, a, &exponent);
    digits d = digits_from(g, "kj$pi_digits_f64", pi_digits_f64, 20, exponent, 1013);
    value middle = times(g, m, d.words[1]), low = plus(g, middle, upper_product(g, m, d.words[2]));
    value carry =
        LLVMBuildZExt(g->b, LLVMBuildICmp(g->b, LLVMIntULT, low, middle, ""), word_type(g), "");
    value high = plus(g, plus(g, times(g, m, d.words[0]), upper_product(g, m, d.words[1])), carry);
    value first = intrinsic(g, "llvm.fshl", (value[]){high, low, word(g, 2)}, 3),
          second = shifted(g, low, 2);
    value multiple = plus(g, upper(g, high, 62), upper(g, first, 63));

    /* the first 53 bits and 63 more, times pi / 2 */
    value part = LLVMBuildAnd(g->b, first, word(g, ~(uint64_t)0x7ff), "");
    value rest = shifted(g, LLVMBuildAnd(g->b, first, word(g, 0x7ff), ""), 52);
    rest = LLVMBuildOr(g->b, rest, upper(g, second, 12), "");
    part = LLVMBuildSIToFP(g->b, part, g->real, "");
    rest = LLVMBuildSIToFP(g->b, rest, g->real, "");
    pair p = exact_product(g, part, number(g, 0x1.921fb54442d18p-64));
    value less = fused(g, part, number(g, 0x1.1a62633145c07p-118), p.low);
    less = fused(g, rest, number(g, 0x1.921fb54442d18p-116), less);
    value r = add(g, p.high, less);
    return (angle){r, sub(g, less, sub(g, r, p.high)), multiple};
}

static value flip(gen *g, value x, value word)
{
    return real(g, LLVMBuildXor(g->b, bits(g, x), word, ""));
}
static value sign_of(gen *g, value x)
{
    return LLVMBuildAnd(g->b, x, word(g, is_double(g) ? (uint64_t)1 << 63 : (uint64_t)1 << 31), "");
}

/* The coefficients were searched for: no result is above 1, that of pi / 2 is 1. */
static value trigonometric_f32(gen *g, value x, angle a, bool is_cos)
{
    static const double terms[] = {0x1.5d8796p-19, -0x1.9f6e2ap-13, 0x1.110ed4p-7, -0x1.55554cp-3};
    value z = mul(g, a.r, a.r), r = fused(g, mul(g, polynomial(g, z, TERMS(terms)), z), a.r, a.r);
    value sign = shifted(g, a.multiple, 31);
    return flip(g, r, is_cos ? sign : sign_of(g, LLVMBuildXor(g->b, sign, bits(g, x), "")));
}

static value trigonometric_f64(gen *g, value x, angle a, bool is_cos)
{
    static const double sin_terms[] = {0x1.5d939f4b86a69p-33, -0x1.ae5e689172297p-26,
                                       0x1.71de357b1079p-19,  -0x1.a01a019c1613bp-13,
                                       0x1.111111110f8a6p-7,  -0x1.5555555555549p-3};
    static const double cos_terms[] = {-0x1.8fb11fe77740fp-37, 0x1.1ee9f134dfa2bp-29,
                                       -0x1.27e4f81290d44p-22, 0x1.a01a019cbf39bp-16,
                                       -0x1.6c16c16c1521ep-10, 0x1.555555555554cp-5};
    value one = number(g, 1), z = mul(g, a.r, a.r), half = mul(g, number(g, 0.5), z),
          rest = sub(g, one, half);
    value sine = add(g, a.r, fused(g, mul(g, z, a.r), polynomial(g, z, TERMS(sin_terms)), a.low));
    value cosine = fused(g, negate(g, a.r), a.low, sub(g, sub(g, one, rest), half));
    cosine = add(g, rest, fused(g, mul(g, z, z), polynomial(g, z, TERMS(cos_terms)), cosine));
    value quadrant = plus(g, a.multiple, word(g, is_cos));
    value odd = LLVMBuildICmp(g->b, LLVMIntNE, LLVMBuildAnd(g->b, quadrant, word(g, 1), ""),
                              word(g, 0), "");
    value r = flip(g, choose(g, odd, cosine, sine), sign_of(g, shifted(g, quadrant, 62)));
    return is_cos ? r : flip(g, r, sign_of(g, bits(g, x)));
}

/* The branch is what tools/mathlib_wide.c makes two paths of. */
static void add_trigonometric(gen *g, const char *name, bool is_f64, bool is_cos)
{
    static const double most[] = {0x1p17, 0x1p21};
    value x = begin(g, name, is_f64 ? f64(g) : f32(g), 1, 1), a = absolute(g, x);
    LLVMBasicBlockRef near = LLVMAppendBasicBlockInContext(g->context, g->function, "");
    LLVMBasicBlockRef far = LLVMAppendBasicBlockInContext(g->context, g->function, "");
    LLVMBasicBlockRef both = LLVMAppendBasicBlockInContext(g->context, g->function, "");
    LLVMBuildCondBr(g->b, below(g, a, number(g, most[is_f64])), near, far);
    LLVMPositionBuilderAtEnd(g->b, near);
    angle one = is_f64 ? near_f64(g, a) : near_f32(g, a, is_cos);
    LLVMBuildBr(g->b, both);
    LLVMPositionBuilderAtEnd(g->b, far);
    angle other = is_f64 ? far_f64(g, a) : far_f32(g, a, is_cos);
    other.r = choose(g, below(g, a, number(g, __builtin_inf())), other.r, sub(g, a, a));
    LLVMBuildBr(g->b, both);
    LLVMPositionBuilderAtEnd(g->b, both);
    value ones[] = {one.r, one.low, one.multiple}, others[] = {other.r, other.low, other.multiple},
          met[3];
    for (int i = 0; i < 3; i++) {
        met[i] = LLVMBuildPhi(g->b, LLVMTypeOf(ones[i]), "");
        LLVMAddIncoming(met[i], (value[]){ones[i], others[i]}, (LLVMBasicBlockRef[]){near, far}, 2);
    }
    angle met_angle = {met[0], met[1], met[2]};
    give(g, is_f64 ? trigonometric_f64(g, x, met_angle, is_cos)
                   : trigonometric_f32(g, x, met_angle, is_cos));
}

/* ---- tanh, erf of f32 ---- */

/* 2^n of what reduce() made with the exponent's bias */
static value power(gen *g, reduced d)
{
    return real(g, shifted(g, bits(g, d.sum), format_of(g)->places));
}

/* 1 - 2 / (e^2x + 1), which is 1 from 9.1 on; near 0 a polynomial */
static void add_tanh_f32(gen *g, const char *name)
{
    static const double terms[] = {-0x1.767dc6p-8, 0x1.524cccp-6, -0x1.b842cep-5, 0x1.11075ep-3,
                                   -0x1.555534p-2};
    static const base square = {0, 0, 0x1.715476p+1, 0x1.62e4p-2, 0x1.7f7d1cp-21, TERMS(e_terms)};
    value x = begin(g, name, f32(g), 1, 1), a = absolute(g, x), z = mul(g, a, a),
          one = number(g, 1);
    value small = fused(g, mul(g, polynomial(g, z, TERMS(terms)), z), a, a);
    reduced d = reduce(g, &square, at_most(g, a, 10), formats[0].bias);
    value e = mul(g, polynomial(g, add(g, d.r, d.r), TERMS(e_terms)), power(g, d));
    value large = sub(g, one, quotient(g, number(g, 2), add(g, e, one)));
    give(g, with_sign(g, choose(g, below(g, a, number(g, 0.625)), small, large), x));
}

/* 1 - e^-q, q a polynomial, which is 1 from 3.9 on; near 0 another. What q's rounding loses is added
 * to r; and of 1 - 2^n e^r the part 1 - 2^n is exact. */
static void add_erf_f32(gen *g, const char *name)
{
    static const double near[] = {-0x1.68ed3ap-11, 0x1.50425ap-8,  -0x1.b7c638p-6,
                                  0x1.ce2c0ep-4,   -0x1.81273ep-2, 0x1.06eba8p-3};
    static const double beyond[] = {-0x1.c4cf1ep-13, 0x1.a7807cp-9, -0x1.77e1f2p-6,
                                    0x1.af7cbp-4,    0x1.4574bap-1, 0x1.073c2ap-3};
    value x = begin(g, name, f32(g), 1, 1), a = absolute(g, x);
    value small = fused(g, polynomial(g, mul(g, a, a), TERMS(near)), a, a);
    value b = at_most(g, a, 4), minus = negate(g, b),
          factor = negate(g, polynomial(g, b, TERMS(beyond)));
    value q = fused(g, factor, b, minus), lost = fused(g, factor, b, sub(g, minus, q));
    reduced d = reduce(g, &base_e, q, formats[0].bias);
    value r = add(g, d.r, lost),
          part = mul(g, polynomial(g, r, e_terms, sizeof e_terms / sizeof *e_terms - 1), r);
    value whole = power(g, d),
          large = fused(g, negate(g, whole), part, sub(g, number(g, 1), whole));
    give(g, with_sign(g, choose(g, below(g, a, number(g, 0.7)), small, large), x));
}

void add_elementary_functions(gen *g)
{
    add_exponential(g, "kj$exp_f32", false, &base_e);
    add_exponential(g, "kj$exp2_f32", false, &base_2);
    add_exponential(g, "kj$exp10_f32", false, &base_10);
    add_exponential(g, "kj$exp_f64", true, &base_e_f64);
    add_exponential(g, "kj$exp2_f64", true, &base_2_f64);
    add_log_f32(g, "kj$log_f32");
    add_log_f64(g, "kj$log_f64");
    for (int is_f64 = 0; is_f64 < 2; is_f64++) {
        for (int is_cos = 0; is_cos < 2; is_cos++) {
            char name[64];
            snprintf(name, sizeof name, "kj$%s_f%d", is_cos ? "cos" : "sin", is_f64 ? 64 : 32);
            add_trigonometric(g, name, is_f64, is_cos);
        }
    }
    add_tanh_f32(g, "kj$tanh_f32");
    add_erf_f32(g, "kj$erf_f32");
}
