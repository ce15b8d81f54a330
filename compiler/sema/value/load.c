/* Elements of arrays, read and written: those of const arrays at constant places are constants; fields of
 * packed records are taken apart into bytes, as they may lie anywhere. */
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

kj_tarray *kj_watched(kj_sema *s, kj_tarray *a, kj_span span)
{
    if (!s->spec || kj_is_chosen(a))
        return a;
    unsigned checks = s->spec->checks;
    kj_space space = a->root->space;
    bool told = space == KJ_SHARED   ? checks & KJ_CHECKS_WATCHED
                : space == KJ_GLOBAL ? checks & KJ_CHECK_RACE
                                     : space == KJ_LOCAL && checks & KJ_CHECK_INIT;
    if (!told)
        return a;
    kj_site *site = KJ_NEW(s->arena, kj_site);
    *site = (kj_site){.span = span,
                      .fault = true,
                      .indexed = a->name ? a->name : "an array",
                      .child = s->child,
                      .watched = a->root->space == KJ_GLOBAL ? 1 + a->root->param : 0,
                      .elem = a->of || a->whole ? KJ_VOID : a->elem};
    kj_add_site(s, site);
    kj_tarray *out = KJ_NEW(s->arena, kj_tarray);
    *out = *a;
    out->watch = site;
    return out;
}

static kj_texpr *load_chosen(kj_sema *s, kj_tarray *a, kj_texpr *const *index, kj_span span)
{
    kj_texpr *held[KJ_MAX_NDIM], *arms[2];
    for (int i = 0; i < a->ndim; i++)
        held[i] = kj_hold(s, index[i], "index");
    for (int i = 0; i < 2; i++) {
        kj_sink sink;
        kj_sink_open(s, &sink);
        arms[i] = kj_load(s, kj_arm(s, a, i), held, span);
        kj_arm_close(s, a, i, &sink, span);
    }
    return kj_te_select(s, a->root->test, arms[0], arms[1], span);
}

/* ---- Bytes ---- */

static kj_dtype word_of(kj_dtype t)
{
    int size = kj_types[t].size;
    return size == 2 ? KJ_U16 : size == 4 ? KJ_U32 : KJ_U64;
}

static kj_texpr *as_type(kj_sema *s, kj_texpr *e, kj_dtype to)
{
    return kj_is_float(to) || kj_is_float(e->type) ? kj_te_bits(s, e, to, e->span)
                                                   : kj_te_convert(s, e, to, e->span);
}

static kj_tarray *byte_view(kj_sema *s, const kj_tarray *a, int k)
{
    kj_tarray *view = KJ_NEW(s->arena, kj_tarray);
    *view = *a;
    view->elem = KJ_U8;
    view->id = view->param = -1;
    view->offset = kj_i64_add(s, a->offset, kj_te_i64(s, k, a->span), a->span);
    return view;
}

static kj_texpr *load_bytes(kj_sema *s, kj_tarray *a, kj_texpr *const *index, kj_span span)
{
    kj_texpr *held[KJ_MAX_NDIM], *all = NULL;
    kj_dtype word = word_of(a->elem);
    for (int i = 0; i < a->ndim; i++)
        held[i] = kj_hold(s, index[i], "index");
    for (int k = 0; k < kj_types[a->elem].size; k++) {
        kj_texpr *byte = kj_load(s, byte_view(s, a, k), held, span);
        byte = kj_te_convert(s, byte, word, span);
        if (k)
            byte =
                kj_te_binary(s, KJ_OP_SHL, byte, kj_te_const(s, kj_int(word, 8 * k), span), span);
        all = all ? kj_te_binary(s, KJ_OP_OR, all, byte, span) : byte;
    }
    return as_type(s, all, a->elem);
}

static void store_bytes(kj_sema *s, kj_tarray *a, kj_texpr *const *index, kj_texpr *value,
                        kj_span span)
{
    kj_dtype word = word_of(a->elem);
    kj_texpr *all = kj_hold(s, as_type(s, value, word), "bits");
    for (int k = 0; k < kj_types[a->elem].size; k++) {
        kj_texpr *count = kj_te_const(s, kj_int(word, 8 * k), span);
        kj_texpr *byte = k ? kj_te_binary(s, KJ_OP_SHR, all, count, span) : all;
        kj_store(s, byte_view(s, a, k), index, kj_te_convert(s, byte, KJ_U8, span), span);
    }
}

void kj_store(kj_sema *s, kj_tarray *a, kj_texpr *const *index, kj_texpr *value, kj_span span)
{
    if (kj_is_in_bytes(a)) {
        store_bytes(s, a, index, value, span);
        return;
    }
    kj_texpr *at[KJ_MAX_NDIM];
    for (int i = 0; i < a->ndim; i++)
        at[i] = index[i];
    if (kj_has_many_checks(a))
        value = kj_hold(s, value, "value"); /* what fails in it is told first */
    a = kj_with_few_checks(s, a, at);
    kj_tstmt *st = kj_emit(s, KJ_TS_STORE, span);
    st->u.store.array = a->watch ? a : kj_watched(s, a, span);
    for (int i = 0; i < a->ndim; i++)
        st->u.store.index[i] = at[i];
    st->u.store.value = value;
}

/* ---- Elements ---- */

kj_texpr *kj_load(kj_sema *s, kj_tarray *a, kj_texpr *const *index, kj_span span)
{
    kj_value v;
    if (kj_is_chosen(a))
        return load_chosen(s, a, index, span);
    if (kj_is_in_bytes(a))
        return load_bytes(s, a, index, span);
    if (const_element(a, index, &v))
        return kj_te_const(s, v, span);
    kj_texpr *at[KJ_MAX_NDIM], *e = kj_te(s, KJ_TE_LOAD, a->elem, span);
    for (int i = 0; i < a->ndim; i++)
        at[i] = index[i];
    a = kj_with_few_checks(s, a, at);
    e->u.load.array = a->watch ? a : kj_watched(s, a, span);
    for (int i = 0; i < a->ndim; i++)
        e->u.load.index[i] = at[i];
    kj_array_used(s, a, true, false);
    return e;
}
