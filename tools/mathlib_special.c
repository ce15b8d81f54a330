/* Functions that libclc does not have, for tools/mathlib.c: in f64, and of f32 these rounded. Polynomials that are said to
 * be interpolated go through the function at Chebyshev's points of their interval, to 1e-17 of it. */
#include "mathlib_gen.h"

#include <stdio.h>

#define LENGTH(a) ((int)(sizeof(a) / sizeof *(a)))

static value larger(gen *g, value a, value b)
{
    return choose(g, below(g, a, b), b, a);
}

/* A polynomial whose coefficients are those of one table or of another. */
static value either_polynomial(gen *g, value test, value x, const double *yes, const double *no,
                               int n)
{
    value sum = choose(g, test, number(g, yes[0]), number(g, no[0]));
    for (int i = 1; i < n; i++)
        sum = fused(g, sum, x, choose(g, test, number(g, yes[i]), number(g, no[i])));
    return sum;
}

/* ---- Roots ---- */

static void add_rcbrt(gen *g, const char *name)
{
    value x = begin(g, name, f64(g), 1, 1), root = call(g, "_Z4cbrtd", &x, 1);
    give(g, quotient(g, number(g, 1), root));
}

/* The square root of a sum of squares, or its reciprocal: of what is far from 1 scaled by a power of two. */
static void add_norm(gen *g, const char *name, unsigned n, bool reciprocal)
{
    begin(g, name, f64(g), 1, n);
    value x[MOST_ARGS], one = number(g, 1), inf = number(g, __builtin_inf());
    value most = number(g, 0), infinite = NULL;
    for (unsigned i = 0; i < n; i++) {
        x[i] = absolute(g, LLVMGetParam(g->function, i));
        value is_inf = equal(g, x[i], inf);
        infinite = infinite ? LLVMBuildOr(g->b, infinite, is_inf, "") : is_inf;
        most = larger(g, most, x[i]);
    }
    value huge = below(g, number(g, 0x1p500), most), tiny = below(g, most, number(g, 0x1p-500));
    value up = choose(g, huge, number(g, 0x1p-600), choose(g, tiny, number(g, 0x1p600), one));
    value down = choose(g, huge, number(g, 0x1p600), choose(g, tiny, number(g, 0x1p-600), one));
    value sum = NULL;
    for (unsigned i = 0; i < n; i++) {
        value part = mul(g, x[i], up);
        sum = sum ? fused(g, part, part, sum) : mul(g, part, part);
    }
    value root = intrinsic(g, "llvm.sqrt", &sum, 1);
    value result = reciprocal ? mul(g, quotient(g, one, root), up) : mul(g, root, down);
    give(g, choose(g, infinite, reciprocal ? number(g, 0) : inf, result));
}

/* ---- The normal distribution's quantiles ----
 *
 * Algorithm AS 241 of M. J. Wichura, The Percentage Points of the Normal Distribution, Applied
 * Statistics 37 (1988): ratios of polynomials in 0.425**2 - q*q where |q| = |p - 1/2| <= 0.425, else in
 * sqrt(-log(min(p, 1 - p))). */

static const double centre_above[] = {
    0x1.39a296f7d925ep+11, 0x1.052d26b2e45e4p+15, 0x1.06c1c55b78f20p+16, 0x1.66c3e869b752ap+15,
    0x1.ad1d8cd4ee71dp+13, 0x1.ece5d2213c0ccp+10, 0x1.0a4888b1a436ep+7,  0x1.b18d91e9eef75p+1,
};
static const double centre_below[] = {
    0x1.46a7eca984b69p+12, 0x1.c0e457cb1ae76p+14, 0x1.3317caa64f4bep+15, 0x1.4b772d5d65266p+14,
    0x1.512322e75c89fp+12, 0x1.5797efdc8b3f7p+9,  0x1.5281b386e1ab5p+5,  0x1.0000000000000p+0,
};
static const double tail_above[] = {
    0x1.9615ac0b7ace9p-11, 0x1.744eb6c45ec67p-6, 0x1.ef2abb9b85c37p-3, 0x1.453cc085375b2p+0,
    0x1.d2ecb1a3d02c4p+1,  0x1.713f71462256ap+2, 0x1.2857748cab19bp+2, 0x1.6c665fde9526ap+0,
};
static const double tail_below[] = {
    0x1.20d3f686439e4p-30, 0x1.1f18cbfdf2728p-11, 0x1.f207a7eab17bfp-7, 0x1.2f5123394f040p-3,
    0x1.61292f23385c9p-1,  0x1.ad278e6526633p+0,  0x1.06cefbb46a449p+1, 0x1.0000000000000p+0,
};
static const double far_above[] = {
    0x1.afb74d693bf93p-23, 0x1.c6ec6cc59e02ap-16, 0x1.45c1908425345p-10, 0x1.b2b41193b4ee7p-6,
    0x1.2fad9315255cfp-2,  0x1.c8ea6461fa445p+0,  0x1.5daea6e875003p+2,  0x1.aa1b1c13ee526p+2,
};
static const double far_below[] = {
    0x1.269bff1f8c190p-49, 0x1.31446f740b9e0p-23, 0x1.35c2c496374bfp-16, 0x1.9c8bc979dc5d7p-11,
    0x1.e76f93215462ap-7,  0x1.186eb183443fbp-3,  0x1.331d34fc7d77fp-1,  0x1.0000000000000p+0,
};
enum { QUANTILE_TERMS = LENGTH(centre_above) };

/* `factor` times the quantile, which has the sign of `sign`: of q, and `minus_log`, of the smaller tail. In the centre it is
 * `lead` times a ratio, lead being factor * q. */
static value quantile(gen *g, value q, value lead, value minus_log, value sign, double factor)
{
    value r = fused(g, negate(g, q), q, number(g, 0.180625));
    value central = not_below(g, r, number(g, 0)), t = intrinsic(g, "llvm.sqrt", &minus_log, 1);
    value near = not_below(g, number(g, 5), t);
    t = sub(g, t, choose(g, near, number(g, 1.6), number(g, 5)));
    value above = either_polynomial(g, near, t, tail_above, far_above, QUANTILE_TERMS);
    value under = either_polynomial(g, near, t, tail_below, far_below, QUANTILE_TERMS);
    above = mul(g, number(g, factor), above);
    value middle = mul(g, lead, polynomial(g, r, centre_above, QUANTILE_TERMS));
    value ratio =
        quotient(g, choose(g, central, middle, above),
                 choose(g, central, polynomial(g, r, centre_below, QUANTILE_TERMS), under));
    value inf = number(g, __builtin_inf());
    ratio = choose(g, equal(g, minus_log, inf), inf, ratio);
    return choose(g, central, ratio, with_sign(g, ratio, sign));
}

static value minus_log_of(gen *g, value x, double more)
{
    return sub(g, number(g, more), call(g, "_Z3logd", &x, 1));
}

static void add_normcdfinv(gen *g, const char *name)
{
    value p = begin(g, name, f64(g), 1, 1), half = number(g, 0.5), q = sub(g, p, half);
    value tail = choose(g, below(g, p, half), p, sub(g, number(g, 1), p));
    give(g, quantile(g, q, q, minus_log_of(g, tail, 0), q, 1));
}

static const double HALF_SQRT2 = 0x1.6a09e667f3bcdp-1, LOG_2 = 0x1.62e42fefa39efp-1;

/* Of p = (1 + x) / 2, and divided by sqrt(2). */
static void add_erfinv(gen *g, const char *name)
{
    value x = begin(g, name, f64(g), 1, 1), q = mul(g, x, number(g, 0.5));
    value tail = sub(g, number(g, 1), absolute(g, x));
    value lead = mul(g, x, number(g, HALF_SQRT2 / 2));
    give(g, quantile(g, q, lead, minus_log_of(g, tail, LOG_2), x, HALF_SQRT2));
}

static void add_erfcinv(gen *g, const char *name)
{
    value x = begin(g, name, f64(g), 1, 1), one = number(g, 1), way = sub(g, one, x);
    value q = mul(g, way, number(g, 0.5));
    value tail = choose(g, below(g, x, one), x, sub(g, number(g, 2), x));
    value lead = mul(g, way, number(g, HALF_SQRT2 / 2));
    give(g, quantile(g, q, lead, minus_log_of(g, tail, LOG_2), way, HALF_SQRT2));
}

/* ---- erfcx, normcdf ---- */

/* (1 + 2x) erfcx(x) of (x - 4) / (x + 4), interpolated for all x >= 0 */
static const double erfcx_terms[] = {
    0x1.6fbfbc73f7b96p-35,  -0x1.2e4a1567a7226p-33, -0x1.279c6e4c55443p-31, 0x1.ec1f75354e746p-30,
    0x1.0f809a563bdc6p-28,  -0x1.f96a93e7cc6f0p-27, -0x1.77b283fa2e4e6p-26, 0x1.d8dd577cdf1c6p-24,
    0x1.52cb6cb440e9fp-24,  -0x1.bae01eb0d8ac7p-21, 0x1.386645c623edcp-22,  0x1.7f2369c34c9ffp-18,
    -0x1.7881b41b9237dp-17, -0x1.9958ab3ba5c33p-16, 0x1.3be033c67d86cp-13,  -0x1.a1df2abbaddf5p-13,
    -0x1.8d4a999e1af42p-11, 0x1.49c6728d8f7d4p-8,   -0x1.09623885391d1p-6,  0x1.3079edf66992fp-5,
    -0x1.0fb06dfe49094p-4,  0x1.7fee004e1312cp-4,   -0x1.9ddb23c3e90c5p-4,  0x1.16ecefcfa5342p-4,
    0x1.f7f5df66fd7b5p-7,   -0x1.1df1ad154a28ep-3,  0x1.3ba5916e9fd7fp+0,
};

/* exp(x*x), of the whole product */
static value exp_of_square(gen *g, value x, bool minus)
{
    pair square = exact_product(g, x, x);
    value high = minus ? negate(g, square.high) : square.high;
    value low = minus ? negate(g, square.low) : square.low, e = call(g, "_Z3expd", &high, 1);
    return fused(g, e, low, e);
}

static void add_erfcx(gen *g, const char *name)
{
    value x = begin(g, name, f64(g), 1, 1), a = absolute(g, x), four = number(g, 4);
    value limit = number(g, 26.63), inf = number(g, __builtin_inf());
    value at = quotient(g, sub(g, a, four), add(g, a, four)), half = number(g, 0.5);
    value r = mul(g, half, polynomial(g, at, erfcx_terms, LENGTH(erfcx_terms)));
    r = quotient(g, r, add(g, a, half));
    r = choose(g, equal(g, a, inf), number(g, 0), r);
    value e = exp_of_square(g, choose(g, below(g, a, limit), a, limit), false);
    e = choose(g, not_below(g, a, limit), inf, e);
    value two = number(g, 2);
    give(g, choose(g, below(g, x, number(g, 0)), fused(g, two, e, negate(g, r)), r));
}

/* erfc(t) / 2 at t = -x / sqrt(2), which has more digits than a number: its slope makes up for them. */
static void add_normcdf(gen *g, const char *name)
{
    value x = begin(g, name, f64(g), 1, 1), most = number(g, 40), half = number(g, 0.5);
    x = choose(g, below(g, most, absolute(g, x)), with_sign(g, most, x), x);
    pair t = exact_product(g, x, number(g, -HALF_SQRT2));
    t.low = fused(g, x, number(g, 0x1.bdd3413b26456p-55), t.low);
    value slope = mul(g, exp_of_square(g, t.high, true), number(g, 0x1.20dd750429b6dp-1));
    value c = mul(g, half, call(g, "_Z4erfcd", &t.high, 1));
    give(g, fused(g, negate(g, t.low), slope, c));
}

/* ---- Modified Bessel functions ---- */

/* exp(-x) I0(x) and exp(-x) I1(x) / x of x/4 - 1 for 0 <= x <= 8, sqrt(x) exp(-x) I(x) of 16/x - 1 beyond; interpolated */
static const double i0_near[] = {
    0x1.33362977da589p-28, -0x1.184eb721ebbb4p-26, 0x1.c33c49ed0dbc5p-26, -0x1.70ff8349c1b17p-24,
    0x1.8ab0cd0db916ap-22, -0x1.3290c1cf13275p-20, 0x1.b16f3ef89dc93p-19, -0x1.3427bf858c8eep-17,
    0x1.a6d32be1ae42dp-16, -0x1.13032aff50d27p-14, 0x1.5496bf2fd4a74p-13, -0x1.91769cab86861p-12,
    0x1.c0f4b0cdb7ca3p-11, -0x1.dafac17d421f3p-10, 0x1.da1a9f9b65960p-9,  -0x1.bd25797d156e9p-8,
    0x1.87e867bbf0eb2p-7,  -0x1.427b0abb20a50p-6,  0x1.ee6f564cd103cp-6,  -0x1.602411cd29ccfp-5,
    0x1.d11e10f610496p-5,  -0x1.1cd73a8f67af6p-4,  0x1.44b6196a77ed5p-4,  -0x1.5c028fe63a9afp-4,
    0x1.65c235bfeaa82p-4,  -0x1.6cb8d0c915d86p-4,  0x1.8322d1d8a3bbbp-4,  -0x1.cedda00486203p-4,
    0x1.a7f09f8eedf5ap-3,
};
static const double i1_near[] = {
    0x1.99f2a0c3c4014p-32, -0x1.857d0c38a0576p-30, 0x1.65c830072c746p-29, -0x1.34b3cd71db64bp-27,
    0x1.46ac85139924fp-25, -0x1.0ad1d71042856p-23, 0x1.93a8b3a01bb0bp-22, -0x1.300f0d065ff9ap-20,
    0x1.ba19833b81b33p-19, -0x1.3292508fc4117p-17, 0x1.96932d5f66fc6p-16, -0x1.01a1176d580bep-14,
    0x1.37430c5bd419dp-13, -0x1.65bfbe2e6ecfap-12, 0x1.8656c15e753d1p-11, -0x1.93681faa90800p-10,
    0x1.89f8a695c14a5p-9,  -0x1.6ab6a3e71c882p-8,  0x1.3a0c1a00727d6p-7,  -0x1.fe3d9bfab9da9p-7,
    0x1.84125b0d2e47fp-6,  -0x1.13d5f358cd371p-5,  0x1.6df95e8bdfc56p-5,  -0x1.c4daa5133fb3fp-5,
    0x1.0530f817ffa4bp-4,  -0x1.1881379ffb628p-4,  0x1.16c390ddb08ecp-4,  -0x1.f4bb071a7752ap-5,
    0x1.6e14eb8e5d319p-5,
};
static const double i0_far[] = {
    -0x1.646da6611912bp-36, 0x1.9be1812d98421p-34,  0x1.4ffe43b34b0cap-33, -0x1.6cab377ea12d0p-31,
    -0x1.3a3b59d669595p-31, 0x1.2df0453a22419p-29,  0x1.a1d63d6d8235fp-30, -0x1.3a6dfcb29fb62p-28,
    -0x1.e1db3b1fc3ea4p-29, 0x1.c2cf2e6a86796p-28,  0x1.03813921d363bp-27, -0x1.5a374e8067293p-28,
    -0x1.ccba1604bc157p-27, -0x1.d6aed4e999c8ap-28, 0x1.0393c5c549066p-27, 0x1.7281608082bb2p-26,
    0x1.51ce71adfb8dcp-25,  0x1.7d0d0cb6d579cp-24,  0x1.3f49a7d62b2a7p-22, 0x1.8e513c2fbb4d7p-20,
    0x1.75e5ee7193c9bp-17,  0x1.1daa72b5cffa0p-13,  0x1.b87969bb93b86p-9,  0x1.9bd428ad249a5p-2,
};
static const double i1_far[] = {
    0x1.45b8aea87b94bp-36,  -0x1.acea3b2532276p-34, -0x1.341e6ffaf59f6p-33, 0x1.7c45609d3fdd4p-31,
    0x1.23214d692a95ep-31,  -0x1.3bb2a62cd1582p-29, -0x1.8b794674af086p-30, 0x1.4a94ecae55871p-28,
    0x1.d6e5e5ac6b3a2p-29,  -0x1.dfed018844927p-28, -0x1.069735b018307p-27, 0x1.805f9b8194527p-28,
    0x1.e236784650fb0p-27,  0x1.d60cff70f4ce9p-28,  -0x1.21936a1ea1c23p-27, -0x1.91e151ca6bf60p-26,
    -0x1.727a1058f659fp-25, -0x1.ad8b35adc406dp-24, -0x1.76137f7ae6917p-22, -0x1.ec8e123ea3305p-20,
    -0x1.f89c230615615p-17, -0x1.cbc54df1d5adep-13, -0x1.3f796198ee62dp-7,  0x1.8ebe783a84030p-2,
};

static void add_bessel_i(gen *g, const char *name, const double *near, const double *far, int n,
                         int m, bool odd)
{
    value x = begin(g, name, f64(g), 1, 1), a = absolute(g, x), eight = number(g, 8);
    value one = number(g, 1), half = number(g, 0.5), most = number(g, 720),
          inf = number(g, __builtin_inf());
    value small = not_below(g, eight, a), beyond = below(g, most, a);
    a = choose(g, beyond, most, a);
    value s = choose(g, small, fused(g, a, number(g, 0.25), negate(g, one)),
                     sub(g, quotient(g, number(g, 16), choose(g, small, one, a)), one));
    value first = polynomial(g, s, near, n), second = polynomial(g, s, far, m);
    first = odd ? mul(g, first, a) : first;
    second = quotient(g, second, intrinsic(g, "llvm.sqrt", &a, 1));
    value part = mul(g, a, half), e = call(g, "_Z3expd", &part, 1);
    value r = mul(g, mul(g, choose(g, small, first, second), e), e);
    r = choose(g, beyond, inf, r);
    give(g, odd ? with_sign(g, r, x) : r);
}

/* ---- The list ---- */

static void add_both(gen *g, const char *name, unsigned nargs)
{
    char f32_name[64], f64_name[64];
    snprintf(f32_name, sizeof f32_name, "kj$%s_f32", name);
    snprintf(f64_name, sizeof f64_name, "kj$%s_f64", name);
    add_rounded(g, f32_name, f64_name, nargs);
}

void add_special_functions(gen *g)
{
    add_rcbrt(g, "kj$rcbrt_f64");
    add_norm(g, "kj$rhypot_f64", 2, true);
    add_norm(g, "kj$norm3d_f64", 3, false);
    add_norm(g, "kj$rnorm3d_f64", 3, true);
    add_norm(g, "kj$norm4d_f64", 4, false);
    add_norm(g, "kj$rnorm4d_f64", 4, true);
    add_erfinv(g, "kj$erfinv_f64");
    add_erfcinv(g, "kj$erfcinv_f64");
    add_normcdfinv(g, "kj$normcdfinv_f64");
    add_erfcx(g, "kj$erfcx_f64");
    add_normcdf(g, "kj$normcdf_f64");
    add_bessel_i(g, "kj$cyl_bessel_i0_f64", i0_near, i0_far, LENGTH(i0_near), LENGTH(i0_far),
                 false);
    add_bessel_i(g, "kj$cyl_bessel_i1_f64", i1_near, i1_far, LENGTH(i1_near), LENGTH(i1_far), true);
    static const struct {
        const char *name;
        unsigned nargs;
    } rounded[] = {
        {"rcbrt", 1},   {"rhypot", 2},        {"norm3d", 3},        {"rnorm3d", 3},
        {"erfinv", 1},  {"erfcinv", 1},       {"normcdfinv", 1},    {"erfcx", 1},
        {"normcdf", 1}, {"cyl_bessel_i0", 1}, {"cyl_bessel_i1", 1}, {"norm4d", 4},
        {"rnorm4d", 4},
    };
    for (int i = 0; i < LENGTH(rounded); i++)
        add_both(g, rounded[i].name, rounded[i].nargs);
}
