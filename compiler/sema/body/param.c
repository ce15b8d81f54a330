/* Array parameters: roots whose shapes and strides the launch gives. */
#include "sema/body/body.h"

static kj_texpr *dim(kj_sema *s, kj_tarray *a, int axis, bool stride)
{
    kj_texpr *e = kj_te(s, KJ_TE_DIM, KJ_I64, a->span);
    e->u.dim.array = a;
    e->u.dim.axis = axis;
    e->u.dim.stride = stride;
    return e;
}

/* The stride from one element to the next. */
static kj_texpr *unit_stride(kj_sema *s, const kj_tarray *a)
{
    return kj_te_i64(s, kj_elem_size(a) / kj_unit(a), a->span);
}

/* The stride along `axis` when axis `unit` is dense and `next` is the one beside it. */
static kj_texpr *dense_stride(kj_sema *s, kj_tarray *a, int axis, int unit, int next)
{
    if (axis == unit)
        return unit_stride(s, a);
    return axis == next ? kj_i64_mul(s, a->shape[unit], unit_stride(s, a), a->span)
                        : dim(s, a, axis, true);
}

kj_tarray *kj_param_array(kj_sema *s, const char *name, kj_span span, const kj_type *t,
                          kj_layout layout, int param)
{
    kj_tarray made = {.name = name,
                      .span = span,
                      .elem = t->dtype,
                      .of = t->of,
                      .ndim = t->ndim,
                      .space = KJ_GLOBAL,
                      .layout = layout,
                      .row = 1,
                      .param = param};
    kj_tarray *a = kj_new_root(s, &made);
    for (int i = 0; i < t->ndim; i++)
        a->shape[i] = dim(s, a, i, false);
    for (int i = 0; i < t->ndim; i++) {
        if (layout == KJ_LAYOUT_C)
            a->stride[i] = dense_stride(s, a, i, t->ndim - 1, t->ndim - 2);
        else if (layout == KJ_LAYOUT_F)
            a->stride[i] = dense_stride(s, a, i, 0, 1);
        else if (layout == KJ_LAYOUT_ROWS && i == t->ndim - 1)
            a->stride[i] = unit_stride(s, a);
        else
            a->stride[i] = dim(s, a, i, true);
    }
    return a;
}
