/* The values of a bound launch, as conditions and shapes ask for them. */
#include "launch/launch.h"

static kj_value env_param(void *ctx, int param)
{
    return kj_binding_scalar(ctx, param);
}

/* Strides in elements; in what those are aligned to, where they are several scalars. Dense layouts
 * give the strides their shape implies: what an array says of an axis with one element, or of an
 * empty array, is not to be believed. */
int64_t kj_binding_stride(const kj_binding *b, int param, int axis)
{
    const kjit_array *a = b->args[param]->u.array;
    int64_t stride = (int64_t)kj_array_elem(a) / b->units[param];
    if (!kj_is_dense(a->layout))
        return a->strides[axis] / b->units[param];
    if (a->layout == KJ_LAYOUT_C)
        for (int i = a->ndim - 1; i > axis; i--)
            stride = (int64_t)((uint64_t)stride * (uint64_t)a->shape[i]);
    else
        for (int i = 0; i < axis; i++)
            stride *= a->shape[i];
    return stride;
}

static int64_t env_dim(void *ctx, int param, int axis, bool stride)
{
    kj_binding *b = ctx;
    const kjit_array *a = b->args[b->runtime[param]]->u.array;
    return stride ? kj_binding_stride(b, b->runtime[param], axis) : a->shape[axis];
}

static int64_t env_index(void *ctx, kj_index which, int axis)
{
    kj_binding *b = ctx;
    return which == KJ_GRID_DIM ? b->grid[axis] : b->block[axis];
}

kj_eval_env kj_binding_env(kj_binding *b)
{
    return (kj_eval_env){.ctx = b, .param = env_param, .dim = env_dim, .index = env_index};
}
