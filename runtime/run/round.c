/* round(x, n): decimal places, as Python's of numbers and NumPy's of arrays. */
#include <math.h>

#include "base/c_locale.h"
#include "run/run.h"

enum { MOST = 400 /* places that any f64 has */ };

/* The decimal number that is nearest, ties to even, read back. */
static double round_float(double x, int places)
{
    char text[2 * MOST];
    double scale = pow(10, -places);
    if (!isfinite(x))
        return x;
    if (places < 0)
        return isfinite(scale) ? rint(x / scale) * scale : copysign(0, x);
    kj_snprintf(text, sizeof text, "%.*f", places, x);
    return kj_strtod(text, NULL);
}

/* Ties to even. */
static bool round_int(kj_run *r, kj_span at, kj_rvalue v, int places, kj_rvalue *out)
{
    int64_t scale = 1;
    *out = v;
    out->literal = false;
    for (int i = 0; i > places; i--)
        if (__builtin_mul_overflow(scale, 10, &scale)) {
            *out = kj_run_int(0);
            return true;
        }
    if (scale == 1 || v.dtype == KJIT_U64)
        return true;
    int64_t rest = v.u.i % scale, down;
    rest = rest < 0 ? rest + scale : rest;
    bool below = __builtin_sub_overflow(v.u.i, rest, &down);
    bool up = rest > scale / 2 || (rest == scale / 2 && (below || down / scale % 2 != 0));
    if (up ? __builtin_add_overflow(v.u.i, scale - rest, &down) : below)
        return kj_run_fail(r, KJIT_INVALID, at, "this is beyond 64 bits");
    out->u.i = down;
    return true;
}

static bool round_array(kj_run *r, kj_span at, kj_rvalue a, int places, kj_rvalue *out)
{
    kj_rvalue scale = kj_run_float(pow(10, places < 0 ? -places : places)), scaled, whole;
    if (!kj_run_binary(r, at, places < 0 ? KJ_OP_DIV : KJ_OP_MUL, a, scale, &scaled))
        return false;
    bool ok = kj_lazy_call(r, at, KJ_BI_RINT, &scaled, 1, &whole);
    kj_run_drop(&scaled);
    if (!ok)
        return false;
    ok = kj_run_binary(r, at, places < 0 ? KJ_OP_MUL : KJ_OP_DIV, whole, scale, out);
    kj_run_drop(&whole);
    return ok;
}

bool kj_run_round(kj_run *r, kj_span at, const kj_rvalue v[2], kj_rvalue *out)
{
    if (v[1].kind != KJ_R_INT || v[1].dtype == KJIT_U64 || v[1].u.i < -MOST || v[1].u.i > MOST)
        return kj_run_fail(r, KJIT_TYPE, at, "round takes a number of decimal places, not %s",
                           v[1].kind == KJ_R_INT ? kj_run_short(v[1]).text
                                                 : kj_run_kind_name(v[1]));
    int places = (int)v[1].u.i;
    if (kj_is_array(v[0]))
        return round_array(r, at, v[0], places, out);
    if (v[0].kind == KJ_R_INT)
        return round_int(r, at, v[0], places, out);
    if (v[0].kind != KJ_R_FLOAT)
        return kj_run_fail(r, KJIT_TYPE, at, "round works on numbers, not on %s",
                           kj_run_kind_name(v[0]));
    *out = kj_run_float(round_float(v[0].u.f, places));
    return true;
}
