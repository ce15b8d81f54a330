/* Elements of arrays, read: those of const arrays at constant places are constants. */
#include "sema/value/value.h"

/* The element of a const array at constant indices; false when it is not that. */
static bool const_element(const kj_tarray *a, kj_texpr *const *index, kj_value *out)
{
    const kj_tarray *root = a->root;
    int64_t at = 0;
    if (root->space != KJ_CONST || root->filled || (a->offset && !kj_is_const(a->offset)))
        return false;
    if (a->offset)
        at = a->offset->u.value.i;
    for (int i = 0; i < a->ndim; i++) {
        if (!kj_is_const(index[i]) || !kj_is_const(a->stride[i]) || !kj_is_const(a->shape[i]))
            return false;
        int64_t k = index[i]->u.value.i;
        if (k < 0 || k >= a->shape[i]->u.value.i)
            return false;
        at += k * a->stride[i]->u.value.i;
    }
    if (at < 0 || at >= root->static_count * kj_elem_size(root) / kj_elem_size(a))
        return false;
    *out = kj_value_read(root->data, a->elem, at);
    return true;
}

static kj_texpr *load_chosen(kj_sema *s, kj_tarray *a, kj_texpr *const *index, kj_span span)
{
    kj_texpr *held[KJ_MAX_NDIM], *arms[2];
    for (int i = 0; i < a->ndim; i++)
        held[i] = kj_hold(s, index[i], "index");
    for (int i = 0; i < 2; i++)
        arms[i] = kj_load(s, kj_arm(s, a, i), held, span);
    return kj_te_select(s, a->root->test, arms[0], arms[1], span);
}

kj_texpr *kj_load(kj_sema *s, kj_tarray *a, kj_texpr *const *index, kj_span span)
{
    kj_value v;
    if (kj_is_chosen(a))
        return load_chosen(s, a, index, span);
    if (const_element(a, index, &v))
        return kj_te_const(s, v, span);
    kj_texpr *e = kj_te(s, KJ_TE_LOAD, a->elem, span);
    e->u.load.array = a;
    for (int i = 0; i < a->ndim; i++)
        e->u.load.index[i] = index[i];
    kj_array_used(s, a, true, false);
    return e;
}
