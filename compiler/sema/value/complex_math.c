/* Functions of complex numbers, as expressions of their parts and the math library's functions of
 * real ones. What they promise is in docs/language.md. */
#include <float.h>
#include <math.h>

#include "sema/value/value.h"

/* A call's place, and the type of the parts. */
typedef struct calc {
    kj_sema *s;
    kj_span span;
    bool single;
} calc;

/* ---- Real arithmetic ---- */

static kj_operand num(const calc *c, double f)
{
    kj_dtype type = c->single ? KJ_F32 : KJ_F64;
    return kj_scalar(kj_te_const(c->s, kj_fold_convert(kj_float(KJ_F64, f), type), c->span));
}

static kj_operand op(const calc *c, kj_op o, kj_operand a, kj_operand b)
{
    kj_operand v = kj_binary(c->s, o, a, b, c->span);
    return kj_scalar(kj_hold(c->s, v.u.scalar.e, "part"));
}

static kj_operand add(const calc *c, kj_operand a, kj_operand b)
{
    return op(c, KJ_OP_ADD, a, b);
}

static kj_operand sub(const calc *c, kj_operand a, kj_operand b)
{
    return op(c, KJ_OP_SUB, a, b);
}

static kj_operand mul(const calc *c, kj_operand a, kj_operand b)
{
    return op(c, KJ_OP_MUL, a, b);
}

static kj_operand quot(const calc *c, kj_operand a, kj_operand b)
{
    return op(c, KJ_OP_DIV, a, b);
}

/* a * b + d, rounded once unless --fp-contract=off. */
static kj_operand muladd(const calc *c, kj_operand a, kj_operand b, kj_operand d)
{
    return op(c, KJ_OP_ADD, kj_binary(c->s, KJ_OP_MUL, a, b, c->span), d);
}

static kj_operand neg(const calc *c, kj_operand a)
{
    return kj_unary(c->s, KJ_OP_NEG, a, c->span);
}

static kj_operand call(const calc *c, kj_builtin id, kj_operand a)
{
    kj_operand v = kj_real_call(c->s, id, a);
    return kj_scalar(kj_hold(c->s, v.u.scalar.e, "part"));
}

static kj_operand call2(const calc *c, kj_builtin id, kj_operand a, kj_operand b)
{
    kj_texpr *args[2] = {a.u.scalar.e, b.u.scalar.e};
    return kj_scalar(kj_hold(c->s, kj_te_call(c->s, id, args, 2, args[0]->type, c->span), "part"));
}

static kj_operand less(const calc *c, kj_operand a, kj_operand b)
{
    return kj_binary(c->s, KJ_OP_LT, a, b, c->span);
}

static kj_operand equal(const calc *c, kj_operand a, kj_operand b)
{
    return kj_binary(c->s, KJ_OP_EQ, a, b, c->span);
}

static kj_operand logic(const calc *c, bool is_or, kj_operand a, kj_operand b)
{
    return kj_scalar(
        kj_te_binary(c->s, is_or ? KJ_OP_OR : KJ_OP_AND, a.u.scalar.e, b.u.scalar.e, c->span));
}

static kj_operand choose(const calc *c, kj_operand test, kj_operand yes, kj_operand no)
{
    return kj_choose(c->s, test, yes, no);
}

/* a * b, and 0 with the signs' product where one of them is 0, whatever the other. */
static kj_operand times(const calc *c, kj_operand a, kj_operand b)
{
    kj_operand p = mul(c, a, b), zero = num(c, 0), one = num(c, 1);
    kj_operand none = logic(c, true, equal(c, a, zero), equal(c, b, zero));
    kj_operand nan = kj_binary(c->s, KJ_OP_NE, p, p, c->span);
    kj_operand sides = mul(c, call2(c, KJ_BI_COPYSIGN, zero, a), call2(c, KJ_BI_COPYSIGN, one, b));
    return choose(c, logic(c, false, nan, none), sides, p);
}

/* ---- Functions ---- */

/* What is left of x after a step towards 0, where the exponential alone could overflow though the
 * result does not; *scale: what its exponential is to be multiplied by. */
static kj_operand stepped(const calc *c, kj_operand x, bool both, kj_operand *scale)
{
    double limit = c->single ? 80 : 700, step = c->single ? 64 : 512;
    kj_operand size = both ? call(c, KJ_BI_FABS, x) : x;
    kj_operand far = less(c, num(c, limit), size);
    far = kj_scalar(kj_hold(c->s, far.u.scalar.e, "far"));
    *scale = choose(c, far, num(c, exp(step)), num(c, 1));
    kj_operand by = num(c, step);
    return choose(c, far, sub(c, x, both ? call2(c, KJ_BI_COPYSIGN, by, x) : by), x);
}

static kj_operand complex_exp(const calc *c, kj_operand x, kj_operand y)
{
    kj_operand scale, e = call(c, KJ_BI_EXP, stepped(c, x, false, &scale));
    return kj_complex(c->s, mul(c, times(c, e, call(c, KJ_BI_COS, y)), scale),
                      mul(c, times(c, e, call(c, KJ_BI_SIN, y)), scale), c->span);
}

/* sinh x cos y + i cosh x sin y, or cosh x cos y + i sinh x sin y */
static kj_operand hyperbolic(const calc *c, kj_operand x, kj_operand y, bool cosine)
{
    kj_operand scale, t = stepped(c, x, true, &scale);
    kj_operand sinh = call(c, KJ_BI_SINH, t), cosh = call(c, KJ_BI_COSH, t);
    kj_operand cos = call(c, KJ_BI_COS, y), sin = call(c, KJ_BI_SIN, y);
    return kj_complex(c->s, mul(c, times(c, cosine ? cosh : sinh, cos), scale),
                      mul(c, times(c, cosine ? sinh : cosh, sin), scale), c->span);
}

/* With t = tanh x, u = tan y: (t (1 + u*u) + i u / cosh(x)**2) / (1 + (t*u)**2) */
static kj_operand complex_tanh(const calc *c, kj_operand x, kj_operand y)
{
    kj_operand one = num(c, 1), t = call(c, KJ_BI_TANH, x), u = call(c, KJ_BI_TAN, y);
    kj_operand tu = mul(c, t, u), narrow = quot(c, one, call(c, KJ_BI_COSH, x));
    kj_operand below = muladd(c, tu, tu, one);
    kj_operand re = quot(c, mul(c, t, muladd(c, u, u, one)), below);
    return kj_complex(c->s, re, mul(c, mul(c, quot(c, u, below), narrow), narrow), c->span);
}

/* f(i z) / i and the like: sin, cos and tan of x + iy are these of y + ix, parts exchanged. */
static kj_operand exchanged(const calc *c, kj_operand z)
{
    return kj_complex(c->s, z.u.tuple.items[1], z.u.tuple.items[0], c->span);
}

static kj_operand conjugate(const calc *c, kj_operand z)
{
    return kj_complex(c->s, z.u.tuple.items[0], neg(c, z.u.tuple.items[1]), c->span);
}

/* Are the parts so large that |z| may overflow? */
static kj_operand is_huge(const calc *c, kj_operand size)
{
    kj_operand huge = less(c, num(c, c->single ? 0x1p125 : 0x1p1021), size);
    return kj_scalar(kj_hold(c->s, huge.u.scalar.e, "huge"));
}

/* Are they so small that |z| or what is made of it may have lost digits? */
static kj_operand is_tiny(const calc *c, kj_operand size)
{
    kj_operand tiny = less(c, size, num(c, c->single ? 0x1p-100 : 0x1p-950));
    return kj_scalar(kj_hold(c->s, tiny.u.scalar.e, "tiny"));
}

/* A length h, the larger and the smaller part a and b that it is of, and 2 to which power all three are to
 * be multiplied by, where that is huge or tiny: `far`. */
typedef struct length {
    kj_operand h, a, b, power, far;
} length;

static length scaled_abs(const calc *c, kj_operand x, kj_operand y)
{
    kj_operand ax = call(c, KJ_BI_FABS, x), ay = call(c, KJ_BI_FABS, y), one = num(c, 1);
    kj_operand size = call2(c, KJ_BI_MAX, ax, ay);
    kj_operand huge = is_huge(c, size), tiny = is_tiny(c, size);
    kj_operand scale = choose(c, huge, num(c, 0.5), choose(c, tiny, num(c, 0x1p60), one));
    length l = {.far = logic(c, true, huge, tiny)};
    l.power = choose(c, huge, one, choose(c, tiny, num(c, -60), num(c, 0)));
    l.h = call2(c, KJ_BI_HYPOT, mul(c, ax, scale), mul(c, ay, scale));
    l.a = mul(c, size, scale);
    l.b = mul(c, call2(c, KJ_BI_MIN, ax, ay), scale);
    return l;
}

/* log |z| to the base of `id`, whose logarithm is `base`. Near 1 by log1p(|z|**2 - 1) / 2. */
static kj_operand log_abs_of(const calc *c, kj_builtin id, double base, kj_operand x, kj_operand y)
{
    kj_operand ax = call(c, KJ_BI_FABS, x), ay = call(c, KJ_BI_FABS, y);
    kj_operand a = call2(c, KJ_BI_MAX, ax, ay), b = call2(c, KJ_BI_MIN, ax, ay);
    kj_operand one = num(c, 1), scaled = num(c, 0.5 / base);
    length l = scaled_abs(c, x, y);
    kj_operand h = l.h, far = add(c, call(c, id, h), mul(c, l.power, num(c, log(2) / base)));
    kj_operand more = muladd(c, b, b, mul(c, sub(c, a, one), add(c, a, one)));
    kj_operand near = logic(c, false, less(c, num(c, 0.71), h), less(c, h, num(c, 1.73)));
    return choose(c, near, mul(c, scaled, call(c, KJ_BI_LOG1P, more)), far);
}

static kj_operand log_abs(const calc *c, kj_operand x, kj_operand y)
{
    return log_abs_of(c, KJ_BI_LOG, 1, x, y);
}

static kj_operand complex_log(const calc *c, kj_builtin id, kj_operand x, kj_operand y)
{
    double base = id == KJ_BI_LOG2 ? log(2) : id == KJ_BI_LOG10 ? log(10) : 1;
    kj_operand angle = call2(c, KJ_BI_ATAN2, y, x);
    angle = id == KJ_BI_LOG ? angle : mul(c, angle, num(c, 1 / base));
    return kj_complex(c->s, log_abs_of(c, id, base, x, y), angle, c->span);
}

/* With s = sqrt((|x| + |z|) / 2): s + i y/2s, or |y|/2s + i s with y's sign where x < 0. What is
 * huge or tiny is scaled by a power of 4 first. */
static kj_operand complex_sqrt(const calc *c, kj_operand x, kj_operand y)
{
    kj_operand ax = call(c, KJ_BI_FABS, x), ay = call(c, KJ_BI_FABS, y);
    kj_operand size = call2(c, KJ_BI_MAX, ax, ay), one = num(c, 1), half = num(c, 0.5);
    kj_operand huge = is_huge(c, size), tiny = is_tiny(c, size);
    kj_operand up = choose(c, huge, num(c, 0x1p-4), choose(c, tiny, num(c, 0x1p60), one));
    kj_operand down = choose(c, huge, num(c, 0x1p2), choose(c, tiny, num(c, 0x1p-30), one));
    kj_operand sx = mul(c, ax, up), sy = mul(c, ay, up);
    kj_operand s = call(c, KJ_BI_SQRT, mul(c, half, add(c, sx, call2(c, KJ_BI_HYPOT, sx, sy))));
    kj_operand t = quot(c, mul(c, half, sy), s);
    kj_operand none = equal(c, size, num(c, 0)), all = equal(c, ay, num(c, INFINITY));
    t = choose(c, logic(c, true, none, all), ay, t);
    s = mul(c, s, down);
    t = mul(c, t, down);
    kj_operand left = less(c, x, num(c, 0));
    left = kj_scalar(kj_hold(c->s, left.u.scalar.e, "left"));
    return kj_complex(c->s, choose(c, left, t, s),
                      call2(c, KJ_BI_COPYSIGN, choose(c, left, s, t), y), c->span);
}

/* ---- Inverse functions ----
 *
 * By W. Kahan, Branch Cuts for Complex Elementary Functions (1987): of products of the square roots of
 * 1 - z and 1 + z, in which no two terms cancel. */

typedef struct roots {
    kj_operand a[2], b[2]; /* the parts */
} roots;

/* sqrt(1 - z) and sqrt(1 + z), or sqrt(z - 1) and sqrt(z + 1). */
static roots roots_beside(const calc *c, kj_operand x, kj_operand y, bool turned)
{
    kj_operand one = num(c, 1), less_one = turned ? sub(c, x, one) : sub(c, one, x);
    kj_operand a = complex_sqrt(c, less_one, turned ? y : neg(c, y));
    kj_operand b = complex_sqrt(c, add(c, x, one), y);
    roots r;
    a = kj_hold_value(c->s, a, "root");
    b = kj_hold_value(c->s, b, "root");
    for (int i = 0; i < 2; i++) {
        r.a[i] = a.u.tuple.items[i];
        r.b[i] = b.u.tuple.items[i];
    }
    return r;
}

/* p * q + r * s */
static kj_operand two_products(const calc *c, kj_operand p, kj_operand q, kj_operand r,
                               kj_operand s)
{
    return muladd(c, p, q, mul(c, r, s));
}

/* Is |z| so large that z - 1 is z, and its square beyond all numbers? */
static kj_operand is_far(const calc *c, kj_operand x, kj_operand y)
{
    return is_huge(c, call2(c, KJ_BI_MAX, call(c, KJ_BI_FABS, x), call(c, KJ_BI_FABS, y)));
}

/* log |2z| */
static kj_operand log_double(const calc *c, kj_operand x, kj_operand y)
{
    return add(c, log_abs(c, x, y), num(c, log(2)));
}

static kj_operand complex_asin(const calc *c, kj_operand x, kj_operand y)
{
    roots r = roots_beside(c, x, y, false);
    kj_operand far = is_far(c, x, y), size = call(c, KJ_BI_FABS, y);
    kj_operand across = two_products(c, r.a[0], r.b[0], neg(c, r.a[1]), r.b[1]);
    kj_operand im = two_products(c, r.a[0], r.b[1], neg(c, r.a[1]), r.b[0]);
    im = choose(c, far, log_double(c, x, y), call(c, KJ_BI_ASINH, call(c, KJ_BI_FABS, im)));
    im = choose(c, is_tiny(c, call2(c, KJ_BI_MAX, call(c, KJ_BI_FABS, x), size)), size, im);
    return kj_complex(c->s, call2(c, KJ_BI_ATAN2, x, choose(c, far, size, across)),
                      call2(c, KJ_BI_COPYSIGN, im, y), c->span);
}

static kj_operand complex_acos(const calc *c, kj_operand x, kj_operand y)
{
    roots r = roots_beside(c, x, y, false);
    kj_operand far = is_far(c, x, y), size = call(c, KJ_BI_FABS, y), two = num(c, 2);
    kj_operand im = two_products(c, r.b[0], r.a[1], neg(c, r.b[1]), r.a[0]);
    im = choose(c, far, log_double(c, x, y), call(c, KJ_BI_ASINH, call(c, KJ_BI_FABS, im)));
    kj_operand angle = mul(c, two, call2(c, KJ_BI_ATAN2, r.a[0], r.b[0]));
    return kj_complex(c->s, choose(c, far, call2(c, KJ_BI_ATAN2, size, x), angle),
                      call2(c, KJ_BI_COPYSIGN, im, neg(c, y)), c->span);
}

static kj_operand complex_acosh(const calc *c, kj_operand x, kj_operand y)
{
    roots r = roots_beside(c, x, y, true);
    kj_operand far = is_far(c, x, y), two = num(c, 2);
    kj_operand re = call(c, KJ_BI_ASINH, two_products(c, r.a[0], r.b[0], r.a[1], r.b[1]));
    kj_operand angle = mul(c, two, call2(c, KJ_BI_ATAN2, r.a[1], r.b[0]));
    return kj_complex(c->s, choose(c, far, log_double(c, x, y), re),
                      choose(c, far, call2(c, KJ_BI_ATAN2, y, x), angle), c->span);
}

/* log(1 + 4|x| / ((1 - |x|)**2 + y*y)) / 4, whose sum is 0 or beyond all numbers near 1 and far out. */
static kj_operand atanh_real(const calc *c, kj_operand ax, kj_operand ay)
{
    double most = c->single ? 0x1p62 : 0x1p510, least = c->single ? 0x1p-60 : 0x1p-500;
    kj_operand one = num(c, 1), half = num(c, 0.5), quarter = num(c, 0.25), rest = sub(c, one, ax);
    kj_operand sum = two_products(c, rest, rest, ay, ay);
    kj_operand usual = quot(c, mul(c, num(c, 4), ax), sum);
    usual = mul(c, quarter, call(c, KJ_BI_LOG1P, usual));
    kj_operand close = logic(c, false, equal(c, ax, one), less(c, ay, num(c, least)));
    kj_operand near = mul(c, half, sub(c, num(c, log(2)), call(c, KJ_BI_LOG, ay)));
    kj_operand h = call2(c, KJ_BI_HYPOT, mul(c, half, ax), mul(c, half, ay));
    kj_operand far = quot(c, quot(c, mul(c, quarter, ax), h), h);
    far = choose(c, equal(c, h, num(c, INFINITY)), num(c, 0), far);
    kj_operand is_out = less(c, num(c, most), call2(c, KJ_BI_MAX, ax, ay));
    return choose(c, is_out, far, choose(c, close, near, usual));
}

/* The angle of (1 - x*x - y*y) + 2yi, halved. */
static kj_operand complex_atanh(const calc *c, kj_operand x, kj_operand y)
{
    kj_operand one = num(c, 1), half = num(c, 0.5);
    kj_operand ax = call(c, KJ_BI_FABS, x), ay = call(c, KJ_BI_FABS, y);
    kj_operand inside = mul(c, sub(c, one, ax), add(c, one, ax));
    inside = muladd(c, neg(c, ay), ay, inside);
    kj_operand angle = call2(c, KJ_BI_ATAN2, add(c, ay, ay), inside);
    double most = c->single ? 0x1p62 : 0x1p510;
    kj_operand is_out = less(c, num(c, most), call2(c, KJ_BI_MAX, ax, ay));
    angle = choose(c, is_out, num(c, 3.14159265358979323846), angle);
    return kj_complex(c->s, call2(c, KJ_BI_COPYSIGN, atanh_real(c, ax, ay), x),
                      call2(c, KJ_BI_COPYSIGN, mul(c, half, angle), y), c->span);
}

static kj_operand to_polar(const calc *c, kj_operand x, kj_operand y)
{
    kj_operand *items = KJ_NEW_ARRAY(c->s->arena, kj_operand, 2);
    items[0] = call2(c, KJ_BI_HYPOT, x, y);
    items[1] = call2(c, KJ_BI_ATAN2, y, x);
    return kj_tuple(items, 2, NULL, c->span);
}

static kj_operand from_polar(const calc *c, kj_operand r, kj_operand phi)
{
    return kj_complex(c->s, times(c, r, call(c, KJ_BI_COS, phi)),
                      times(c, r, call(c, KJ_BI_SIN, phi)), c->span);
}

/* As NumPy has it: 1 where the exponent is 0; of a base of 0, of which there is no logarithm, 0
 * where the exponent's real part is positive, else NaN. */
static kj_operand special_powers(const calc *c, kj_operand r, kj_operand x, kj_operand y,
                                 kj_operand power)
{
    kj_operand zero = num(c, 0), parts[2];
    kj_operand one = logic(c, false, equal(c, x, zero), equal(c, y, zero));
    one = kj_scalar(kj_hold(c->s, one.u.scalar.e, "one"));
    kj_operand none = equal(c, r, zero);
    none = kj_scalar(kj_hold(c->s, none.u.scalar.e, "none"));
    kj_operand of_none = choose(c, less(c, zero, x), zero, num(c, NAN));
    for (int i = 0; i < 2; i++)
        parts[i] =
            choose(c, one, num(c, i ? 0 : 1), choose(c, none, of_none, power.u.tuple.items[i]));
    return kj_complex(c->s, parts[0], parts[1], c->span);
}

/* Is a factor of a length, or the length itself, beyond the largest or below the smallest normal number? */
static kj_operand is_at_an_end(const calc *c, kj_operand a, kj_operand b, kj_operand size)
{
    double least = c->single ? FLT_MIN : DBL_MIN, most = c->single ? FLT_MAX : DBL_MAX;
    kj_operand smaller = call2(c, KJ_BI_MIN, a, b), larger = call2(c, KJ_BI_MAX, a, b);
    larger = call2(c, KJ_BI_MAX, larger, size);
    kj_operand end = logic(c, true, less(c, smaller, num(c, least)), less(c, num(c, most), larger));
    return kj_scalar(kj_hold(c->s, end.u.scalar.e, "end"));
}

/* x * (log |z| - log h): what rounding took from a length, of which a large exponent makes a large factor. By
 * ((a - h)(a + h) + b*b) / 2hh, where a - h is exact; 0 where h or x is infinite. */
static kj_operand lost(const calc *c, kj_operand x, const length *l)
{
    kj_operand by = quot(c, num(c, 1), l->h), low = mul(c, sub(c, l->a, l->h), by);
    kj_operand high = mul(c, add(c, l->a, l->h), by), side = mul(c, l->b, by);
    kj_operand v = mul(c, mul(c, num(c, 0.5), x), muladd(c, side, side, mul(c, low, high)));
    return choose(c, equal(c, v, v), v, num(c, 0));
}

/* size * exp(rest) at `angle`, where neither is at an end. Else the length is exp(x * log |z| + turn), which is
 * the same: the square of a number that is at none unless the power is. */
static kj_operand turned_power(const calc *c, kj_operand z, kj_operand x, kj_operand size,
                               kj_operand rest, const kj_operand *turn, kj_operand angle)
{
    kj_operand turned_by = call(c, KJ_BI_EXP, rest), usual = mul(c, size, turned_by);
    kj_operand end = is_at_an_end(c, size, turned_by, usual), root;
    kj_branch b;
    kj_branch_open(c->s, &b, false);
    root = times(c, x, log_abs(c, z.u.tuple.items[0], z.u.tuple.items[1]));
    root = turn ? add(c, root, *turn) : root;
    root = call(c, KJ_BI_EXP, mul(c, num(c, 0.5), root));
    root = choose(c, end, kj_branch_close(c->s, &b, root, c->span), usual);
    root = kj_scalar(kj_hold(c->s, root.u.scalar.e, "length"));
    kj_operand twice = logic(c, false, end, less(c, root, num(c, INFINITY)));
    kj_operand scale = choose(c, twice, root, num(c, 1)), v = from_polar(c, root, angle);
    return kj_complex(c->s, mul(c, v.u.tuple.items[0], scale), mul(c, v.u.tuple.items[1], scale),
                      c->span);
}

/* The length |z|**x * exp(-y * phase z) at the angle x * phase z + y * log |z|. */
kj_operand kj_complex_pow(kj_sema *s, kj_operand z, kj_operand w, bool real, kj_span span)
{
    z = kj_hold_value(s, z, "base");
    w = kj_hold_value(s, w, "exponent");
    kj_operand x = w.u.tuple.items[0], y = w.u.tuple.items[1];
    calc c = {s, span, x.u.scalar.e->type == KJ_F32};
    length l = scaled_abs(&c, z.u.tuple.items[0], z.u.tuple.items[1]);
    kj_operand phi = call2(&c, KJ_BI_ATAN2, z.u.tuple.items[1], z.u.tuple.items[0]);
    kj_operand size = call2(&c, KJ_BI_POW, l.h, x), far = call(&c, KJ_BI_EXP2, mul(&c, x, l.power));
    size = choose(&c, l.far, mul(&c, size, far), size);
    size = kj_scalar(kj_hold(s, size.u.scalar.e, "size"));
    kj_operand rest = lost(&c, x, &l), angle = mul(&c, x, phi), turn;
    if (!real) {
        turn = mul(&c, neg(&c, y), phi);
        rest = add(&c, turn, rest);
        angle = log_abs(&c, z.u.tuple.items[0], z.u.tuple.items[1]);
        angle = muladd(&c, x, phi, times(&c, y, angle));
    }
    return special_powers(&c, l.h, x, y,
                          turned_power(&c, z, x, size, rest, real ? NULL : &turn, angle));
}

/* ---- Calls ---- */

/* isnan, isinf: of either part; isfinite: of both. */
static kj_operand tested(const calc *c, kj_builtin id, kj_operand x, kj_operand y)
{
    return logic(c, id != KJ_BI_ISFINITE, kj_real_call(c->s, id, x), kj_real_call(c->s, id, y));
}

static kj_operand unary(const calc *c, kj_builtin id, kj_operand z)
{
    kj_operand x = z.u.tuple.items[0], y = z.u.tuple.items[1];
    switch (id) {
    case KJ_BI_ABS: return call2(c, KJ_BI_HYPOT, x, y);
    case KJ_BI_PHASE: return call2(c, KJ_BI_ATAN2, y, x);
    case KJ_BI_POLAR: return to_polar(c, x, y);
    case KJ_BI_CONJ: return conjugate(c, z);
    case KJ_BI_EXP: return complex_exp(c, x, y);
    case KJ_BI_LOG:
    case KJ_BI_LOG2:
    case KJ_BI_LOG10: return complex_log(c, id, x, y);
    case KJ_BI_SQRT: return complex_sqrt(c, x, y);
    case KJ_BI_ASIN: return complex_asin(c, x, y);
    case KJ_BI_ACOS: return complex_acos(c, x, y);
    case KJ_BI_ATAN: return exchanged(c, complex_atanh(c, y, x));
    case KJ_BI_ASINH: return exchanged(c, complex_asin(c, y, x));
    case KJ_BI_ACOSH: return complex_acosh(c, x, y);
    case KJ_BI_ATANH: return complex_atanh(c, x, y);
    case KJ_BI_SINH:
    case KJ_BI_COSH: return hyperbolic(c, x, y, id == KJ_BI_COSH);
    case KJ_BI_TANH: return complex_tanh(c, x, y);
    case KJ_BI_SIN: return exchanged(c, hyperbolic(c, y, x, false));
    case KJ_BI_COS: return conjugate(c, hyperbolic(c, y, x, true));
    case KJ_BI_TAN: return exchanged(c, complex_tanh(c, y, x));
    case KJ_BI_ISNAN:
    case KJ_BI_ISINF:
    case KJ_BI_ISFINITE: return tested(c, id, x, y);
    default: return (kj_operand){.kind = KJ_V_NONE};
    }
}

kj_operand kj_complex_builtin(kj_sema *s, const kj_expr *e, kj_builtin id, kj_dtype want,
                              kj_operand *v, int n)
{
    const char *what = kj_arena_printf(s->diag->arena, "'%s'", kj_builtins[id].name);
    kj_operand folded;
    if (id == KJ_BI_POW)
        return kj_complex_power(s, v[0], v[1], want, e->span);
    if (kj_fold_complex(s, id, v, n, e->span, &folded))
        return folded;
    kj_texpr *test = id == KJ_BI_SELP ? kj_condition(s, v[0], "the condition of 'selp'") : NULL;
    int first = id == KJ_BI_SELP;
    test = test ? kj_hold(s, test, "c") : NULL;
    if ((first && !test) || !kj_complex_unify(s, v + first, n - first, want, e->span, what))
        return kj_no_value(e->span);
    for (int i = first; i < n; i++)
        v[i] = kj_hold_value(s, v[i], "z");
    calc c = {s, e->span, v[n - 1].u.tuple.items[0].u.scalar.e->type == KJ_F32};
    if (test) {
        kj_operand part[2];
        for (int i = 0; i < 2; i++)
            part[i] = choose(&c, kj_scalar(test), v[1].u.tuple.items[i], v[2].u.tuple.items[i]);
        return kj_complex(s, part[0], part[1], e->span);
    }
    kj_operand out = n == 1 ? unary(&c, id, v[0]) : (kj_operand){.kind = KJ_V_NONE};
    if (out.kind != KJ_V_NONE)
        return out;
    kj_message *m =
        kj_sema_error(s, e->span, KJ_RULE_NOT_COMPLEX, "%s does not work on complex numbers", what);
    if (id == KJ_BI_MIN || id == KJ_BI_MAX || id == KJ_BI_CLAMP)
        kj_hint(s->diag, m, "they have no order: compare abs(z), z.real or z.imag");
    return kj_no_value(e->span);
}

kj_operand kj_complex_rect(kj_sema *s, const kj_expr *e, kj_dtype want, kj_operand *v)
{
    if (kj_no_number(s, &v[0], "'rect'") || kj_no_number(s, &v[1], "'rect'"))
        return kj_no_value(e->span);
    kj_operand folded;
    if (kj_fold_complex(s, KJ_BI_RECT, v, 2, e->span, &folded))
        return folded;
    if (!kj_complex_unify(s, v, 2, want, e->span, "'rect'"))
        return kj_no_value(e->span);
    calc c = {s, e->span, v[0].u.tuple.items[0].u.scalar.e->type == KJ_F32};
    kj_operand r = v[0].u.tuple.items[0], phi = v[1].u.tuple.items[0];
    kj_texpr *radius = kj_hold(s, r.u.scalar.e, "r"), *angle = kj_hold(s, phi.u.scalar.e, "phi");
    return from_polar(&c, kj_scalar(radius), kj_scalar(angle));
}
