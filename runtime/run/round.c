/* round(x, n): decimal places, as Python's of numbers and NumPy's of arrays. */
#include <math.h>
#include <stdlib.h>

#include "base/c_locale.h"
#include "run/run.h"

enum {
    MOST = 400,          /* places that any f64 has */
    MOST_OF_ARRAYS = 308 /* whose power of ten f64 has */
};

/* Adds 1 to a decimal number with a 0 in front. */
static void count_on(char *digits, size_t n)
{
    while (digits[--n] == '9')
        digits[n] = '0';
    digits[n]++;
}

/* |x| to a multiple of 10^zeros, ties to even: by its digits, all of them. */
static double round_whole(double x, size_t zeros)
{
    char text[2 * MOST] = "0";
    double whole = floor(x);
    size_t n = 1 + (size_t)kj_snprintf(text + 1, sizeof text - 1, "%.0f", whole);
    if (n <= zeros)
        return 0;
    char *rest = text + n - zeros;
    bool odd = (rest[-1] - '0') % 2 != 0, half = rest[0] == '5', more = x > whole;
    for (size_t i = 1; i < zeros; i++)
        more |= rest[i] != '0';
    if (rest[0] > '5' || (half && (more || odd)))
        count_on(text, n - zeros);
    for (size_t i = 0; i < zeros; i++)
        rest[i] = '0';
    return kj_strtod(text, NULL);
}

/* The decimal number that is nearest, ties to even, read back. */
static double round_float(double x, int places)
{
    char text[2 * MOST];
    if (!isfinite(x))
        return x;
    if (places < 0)
        return copysign(round_whole(fabs(x), (size_t)-places), x);
    kj_snprintf(text, sizeof text, "%.*f", places, x);
    return kj_strtod(text, NULL);
}

/* Ties to even. */
static bool round_int(kj_run *r, kj_span at, kj_rvalue v, int places, kj_rvalue *out)
{
    bool negative = v.dtype != KJIT_U64 && v.u.i < 0, fits = true;
    uint64_t all = negative ? 0 - (uint64_t)v.u.i : (uint64_t)v.u.i, scale = 1;
    for (int i = 0; i > places; i--)
        if (__builtin_mul_overflow(scale, 10, &scale)) { /* over twice what there is */
            *out = kj_run_int(0);
            return true;
        }
    uint64_t rest = all % scale, above = scale - rest;
    bool up = rest > above || (rest == above && all / scale % 2 != 0);
    all -= rest;
    fits = !up || !__builtin_add_overflow(all, scale, &all);
    kj_whole whole = fits ? (kj_whole)all : (kj_whole)1 << 64;
    kj_rmeeting m;
    return kj_run_meet(r, at, &v, 1, &m) &&
           kj_run_whole(r, at, "round", &m, negative ? -whole : whole, out);
}

/* ---- Arrays ---- */

/* What was made of `a` in its place. */
static bool becomes(kj_rvalue *a, bool ok, kj_rvalue made)
{
    kj_run_drop(a);
    *a = ok ? made : kj_run_none();
    return ok;
}

static bool with(kj_run *r, kj_span at, kj_rvalue *a, kj_op op, kj_rvalue b)
{
    kj_rvalue made;
    return becomes(a, kj_run_binary(r, at, op, *a, b, &made), made);
}

static bool to_type(kj_run *r, kj_span at, kj_rvalue *a, kj_dtype type)
{
    kj_rvalue made;
    return becomes(a, kj_lazy_cast(r, at, type, *a, &made), made);
}

static bool to_whole(kj_run *r, kj_span at, kj_rvalue *a)
{
    kj_rvalue made;
    return becomes(a, kj_lazy_call(r, at, KJ_BI_RINT, a, 1, &made), made);
}

/* By way of f64, which has 10^places of every type. */
static bool round_floats(kj_run *r, kj_span at, int places, kj_rvalue *a)
{
    kj_rvalue scale = kj_run_float(pow(10, abs(places)));
    kj_op up = places < 0 ? KJ_OP_DIV : KJ_OP_MUL, down = places < 0 ? KJ_OP_MUL : KJ_OP_DIV;
    return with(r, at, a, up, scale) && to_whole(r, at, a) && with(r, at, a, down, scale);
}

/* An int of the array's own kind, u64 or i64. */
static kj_rvalue whole_number(uint64_t n, bool is_unsigned)
{
    return is_unsigned ? kj_run_uint(n) : kj_run_int((int64_t)n);
}

/* (q + (rest + (q & 1) + scale / 2 - 1) // scale) * scale of the quotient q = a // scale: ties go to the
 * even one, and nothing wraps but a result that does not fit. */
static bool round_ints(kj_run *r, kj_span at, int places, kj_rvalue *a)
{
    bool is_unsigned = kj_lazy_type(*a) == KJ_U64;
    uint64_t scale = 1, most = is_unsigned ? UINT64_MAX : INT64_MAX;
    kj_rvalue up = kj_run_none(), odd = kj_run_none();
    for (int i = 0; i > places; i--) {
        if (scale > most / 10)
            return with(r, at, a, KJ_OP_MUL, kj_run_int(0));
        scale *= 10;
    }
    if (scale == 1)
        return true;
    kj_rvalue by = whole_number(scale, is_unsigned);
    bool ok = kj_run_binary(r, at, KJ_OP_MOD, *a, by, &up) && with(r, at, a, KJ_OP_FLOORDIV, by) &&
              kj_run_binary(r, at, KJ_OP_AND, *a, whole_number(1, is_unsigned), &odd) &&
              with(r, at, &up, KJ_OP_ADD, odd) &&
              with(r, at, &up, KJ_OP_ADD, whole_number(scale / 2 - 1, is_unsigned)) &&
              with(r, at, &up, KJ_OP_FLOORDIV, by) && with(r, at, a, KJ_OP_ADD, up) &&
              with(r, at, a, KJ_OP_MUL, by);
    kj_run_drop(&up);
    kj_run_drop(&odd);
    return ok;
}

static bool round_array(kj_run *r, kj_span at, kj_rvalue a, int places, kj_rvalue *out)
{
    kj_dtype type = kj_lazy_type(a);
    if (type == KJ_VOID)
        type = kj_lazy_type_alone(a);
    if (kj_lazy_is_complex(a) || type == KJ_BOOL)
        return kj_lazy_wrong_kind(r, at, "round", "real numbers", a);
    bool real = kj_is_float(type);
    if (!kj_lazy_cast(r, at, real ? KJ_F64 : type == KJ_U64 ? KJ_U64 : KJ_I64, a, out))
        return false;
    bool ok = (real ? round_floats : round_ints)(r, at, places, out) && to_type(r, at, out, type);
    if (!ok)
        kj_run_drop(out);
    return ok;
}

bool kj_run_round(kj_run *r, kj_span at, const kj_rvalue v[2], kj_rvalue *out)
{
    if (v[1].kind != KJ_R_INT || v[1].dtype == KJIT_U64 || v[1].u.i < -MOST || v[1].u.i > MOST)
        return kj_run_fail(r, KJIT_TYPE, at, "round takes a number of decimal places, not %s",
                           v[1].kind == KJ_R_INT ? kj_run_short(v[1]).text
                                                 : kj_run_kind_name(v[1]));
    int places = (int)v[1].u.i;
    if (kj_is_array(v[0]) && abs(places) > MOST_OF_ARRAYS)
        return kj_run_fail(r, KJIT_TYPE, at,
                           "round of arrays takes up to %d decimal places, not %d", MOST_OF_ARRAYS,
                           abs(places));
    if (kj_is_array(v[0]))
        return round_array(r, at, v[0], places, out);
    if (v[0].kind == KJ_R_INT)
        return round_int(r, at, v[0], places, out);
    if (v[0].kind != KJ_R_FLOAT)
        return kj_run_fail(r, KJIT_TYPE, at, "round works on numbers, not on %s",
                           kj_run_kind_name(v[0]));
    kj_rmeeting m;
    if (!kj_run_meet(r, at, v, 1, &m))
        return false;
    *out = kj_run_real(&m, round_float(v[0].u.f, places));
    return true;
}
