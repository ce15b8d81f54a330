/* Checks of indices: what of an access is to be looked at before it is made. Which of them are needed is
 * found in the whole kernel (analysis/limits.c).
 *
 * An access keeps its checks with its array, as those of a view keep the indices that the view was
 * made with: a view outside of its array is no mistake until an element of it is touched. */
#include "sema/body/body.h"

static bool are_wanted(const kj_sema *s)
{
    bool told = s->unchecked || (s->kernel && s->kernel->unchecked);
    return s->spec && s->spec->checks & KJ_CHECK_BOUNDS && (!told || s->spec->untrusted);
}

/* What is known of the index says that it is inside. */
static bool is_inside(const kj_sema *s, const kj_texpr *index, const kj_texpr *extent)
{
    return kj_is_const(extent) && kj_least(s, index) >= 0 && kj_most(s, index) < extent->u.value.i;
}

kj_written kj_written_index(const kj_operand *v, kj_span of)
{
    bool wide = v->kind == KJ_V_SCALAR && v->u.scalar.e->type == KJ_U64;
    return (kj_written){v->span, wide ? KJ_U64 : KJ_I64, of, false};
}

const char *kj_index_text(kj_sema *s, const kj_texpr *index, const kj_written *as)
{
    return kj_arena_printf(s->diag->arena, as->type == KJ_U64 ? "%llu" : "%lld",
                           (long long)index->u.value.i);
}

static kj_site *index_site(kj_sema *s, const kj_tarray *a, int axis, kj_written as)
{
    kj_site *site = KJ_NEW(s->arena, kj_site);
    kj_site_part *parts = KJ_NEW_ARRAY(s->arena, kj_site_part, 2);
    parts[0] = (kj_site_part){"index", as.type};
    parts[1] = (kj_site_part){"extent", KJ_I64};
    *site = (kj_site){.kind = KJ_SITE_BOUNDS,
                      .span = as.at,
                      .fault = true,
                      .indexed = kj_source_text(s, as.of, a->name ? a->name : "an array"),
                      .axis = a->ndim == 1 || as.alone ? -1 : axis,
                      .child = s->child,
                      .parts = parts,
                      .nparts = 2,
                      .nvalues = 2};
    kj_add_site(s, site);
    return site;
}

void kj_check_view(kj_sema *s, const kj_tarray *a, kj_span span)
{
    kj_sink sink;
    if (kj_is_chosen(a)) {
        for (int i = 0; i < 2; i++) {
            kj_sink_open(s, &sink);
            kj_check_view(s, kj_arm(s, a, i), span);
            kj_arm_close(s, a, i, &sink, span);
        }
        return;
    }
    kj_texpr *any = kj_te_bool(s, true, span), *none = kj_te_i64(s, 0, span);
    for (int i = 0; i < a->ndim; i++)
        any = kj_te_logic(s, false, any, kj_te_binary(s, KJ_OP_GT, a->shape[i], none, span), span);
    kj_sink_open(s, &sink);
    for (const kj_index_check *c = a->checks; c; c = c->next)
        kj_check_here(s, c->site, c->index, c->extent);
    kj_emit_if(s, any, kj_sink_close(s, &sink), span);
}

kj_texpr *kj_index_of_value(kj_sema *s, const char *name, int axis, int ndim, kj_texpr *index,
                            kj_written as, int64_t extent)
{
    kj_tarray a = {.name = name, .ndim = ndim};
    kj_texpr *n = kj_te_i64(s, extent, index->span);
    if (!are_wanted(s) || is_inside(s, index, n))
        return index;
    const kj_site *site = index_site(s, &a, axis, as);
    index = kj_hold(s, index, "index");
    kj_check_here(s, site, index, n);
    return index;
}

/* own: the index is the access's along that axis, wherever its value comes from by then. */
static kj_index_check *add_check(kj_sema *s, const kj_tarray *a, int axis, kj_texpr *index,
                                 kj_written as, bool own, kj_index_check *next)
{
    if (!are_wanted(s) || is_inside(s, index, a->shape[axis]))
        return next;
    kj_index_check *c = KJ_NEW(s->arena, kj_index_check);
    *c = (kj_index_check){.next = next,
                          .index = own ? NULL : index,
                          .axis = axis,
                          .extent = a->shape[axis],
                          .site = index_site(s, a, axis, as)};
    return c;
}

kj_index_check *kj_index_check_of(kj_sema *s, const kj_tarray *a, int axis, kj_texpr *index,
                                  kj_written as, kj_index_check *next)
{
    return add_check(s, a, axis, index, as, false, next);
}

kj_tarray *kj_index_checked(kj_sema *s, kj_tarray *a, kj_texpr *const *index, const kj_written *as)
{
    kj_index_check *checks = a->checks;
    for (int i = a->ndim - 1; are_wanted(s) && i >= 0; i--)
        checks = add_check(s, a, i, index[i],
                           as ? as[i] : (kj_written){.at = index[i]->span, .type = KJ_I64}, true,
                           checks);
    if (checks == a->checks)
        return a;
    kj_tarray *out = KJ_NEW(s->arena, kj_tarray);
    *out = *a;
    out->checks = checks;
    return out;
}

kj_index_check *kj_axis_checked(kj_sema *s, const kj_tarray *a, int axis, kj_texpr *index,
                                kj_written as, kj_index_check *next)
{
    return add_check(s, a, axis, index, as, true, next);
}
