/* Variance and standard deviation of arrays and expressions, whole or along axes. In: a call; out: a number, or an array.
 * Both are two reductions in f64, of the elements and of their squared distances from what that gave: what mean() of
 * expressions would be, so that results are the same bits on every device. */
#include "run/lazy/lazy.h"

enum { AXIS, KEEPDIMS, DDOF };

static bool refuse_complex(kj_run *r, const kj_rcall *c)
{
    kj_run_fail(r, KJIT_TYPE, c->span, "%s works on real numbers, not on complex ones",
                kj_run_builtins[c->id].name + 1);
    return kj_run_hint(r, c->id == KJ_RUN_M_STD ? "write sqrt((abs(z - z.mean()) ** 2).mean())"
                                                : "write (abs(z - z.mean()) ** 2).mean()");
}

/* (x - mean) ** 2 */
static bool squares(kj_run *r, kj_span at, kj_fold *f, kj_rvalue x, const bool *reduced,
                    kj_rvalue *out)
{
    kj_rvalue mean, distance;
    if (!kj_fold_value(r, at, f, x, reduced, true, &mean) ||
        !kj_lazy_binary(r, at, KJ_OP_SUB, x, mean, &distance) ||
        !kj_lazy_binary(r, at, KJ_OP_POW, distance, kj_run_int(2), out))
        return false;
    kj_run_drop(&mean);
    kj_run_drop(&distance);
    return true;
}

/* The root of what the variance is, in the type of the elements where they are floats. */
static bool finish(kj_run *r, const kj_rcall *c, kj_dtype elem, kj_rvalue *v)
{
    kj_rvalue made;
    if (c->id == KJ_RUN_M_STD) {
        if (!(kj_is_array(*v) ? kj_lazy_call(r, c->span, KJ_BI_SQRT, v, 1, &made)
                              : kj_run_math(r, c->span, KJ_BI_SQRT, v, 1, &made)))
            return false;
        kj_run_drop(v);
        *v = made;
    }
    if (!kj_is_array(*v))
        return true;
    if (kj_is_float(elem) && elem != KJ_F64) {
        if (!kj_lazy_cast(r, c->span, elem, *v, &made))
            return false;
        kj_run_drop(v);
        *v = made;
    }
    return kj_lazy_finish(r, c->span, v);
}

static bool spread(kj_run *r, kj_rcall *c, kj_rvalue v, kj_rvalue *out)
{
    bool reduced[KJIT_MAX_NDIM], keep = false;
    kj_fold f = {.op = KJ_FOLD_MEAN, .elem = KJ_F64};
    kj_rvalue x, square;
    const int64_t *shape;
    int64_t ddof = 0;
    int ndim = kj_lazy_shape(v, &shape);
    if (!kj_reduce_axes(r, c, AXIS, ndim, reduced) ||
        (c->given[KEEPDIMS] &&
         !kj_run_truth(r, c->spans[KEEPDIMS], "keepdims", c->args[KEEPDIMS], &keep)) ||
        (c->given[DDOF] && !kj_run_arg_int(r, c, DDOF, &ddof)) || !kj_lazy_alone(r, c->span, v))
        return false;
    if (kj_is_complex_type(kj_lazy_type(v)))
        return refuse_complex(r, c);
    kj_fold_types(&f);
    f.count = kj_reduce_count(shape, ndim, reduced);
    if (!kj_lazy_cast(r, c->span, KJ_F64, v, &x) || !squares(r, c->span, &f, x, reduced, &square))
        return false;
    f.count = ddof < f.count ? f.count - ddof : 0;
    if (!kj_fold_value(r, c->span, &f, square, reduced, keep, out))
        return false;
    kj_run_drop(&x);
    kj_run_drop(&square);
    return finish(r, c, kj_lazy_type(v), out);
}

bool kj_run_spread(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    kj_rvalue own;
    if (!kj_reduce_operand(r, c, &own))
        return false;
    bool ok = spread(r, c, own, out);
    kj_run_drop(&own);
    return ok;
}
