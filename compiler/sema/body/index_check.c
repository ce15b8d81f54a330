/* --check=bounds: what of an access is to be looked at before it is made.
 *
 * An access keeps its checks with its array, as those of a view keep the indices that the view was
 * made with: a view outside of its array is no mistake until an element of it is touched. */
#include "sema/body/body.h"

/* What is known of the index says that it is inside. */
static bool is_inside(const kj_sema *s, const kj_texpr *index, const kj_texpr *extent)
{
    if (!kj_is_const(extent) || kj_least(s, index) < 0)
        return false;
    int64_t n = extent->u.value.i;
    bool modulo = index->kind == KJ_TE_BINARY && index->u.binary.op == KJ_OP_MOD &&
                  kj_is_const(index->u.binary.rhs) && index->u.binary.rhs->u.value.i <= n;
    return modulo || kj_most(s, index) < n;
}

static const kj_site *index_site(kj_sema *s, const kj_tarray *a, int axis, kj_span span)
{
    kj_site *site = KJ_NEW(s->arena, kj_site);
    kj_site_part *parts = KJ_NEW_ARRAY(s->arena, kj_site_part, 2);
    parts[0] = (kj_site_part){"index", KJ_I64};
    parts[1] = (kj_site_part){"extent", KJ_I64};
    *site = (kj_site){.span = span,
                      .fault = true,
                      .indexed = a->name ? a->name : "an array",
                      .axis = a->ndim == 1 ? -1 : axis,
                      .child = s->child,
                      .parts = parts,
                      .nparts = 2,
                      .nvalues = 2};
    kj_add_site(s, site);
    return site;
}

const kj_index_check *kj_index_check_of(kj_sema *s, const kj_tarray *a, int axis, kj_texpr *index,
                                        const kj_index_check *next)
{
    if (!s->spec || !s->spec->bounds || is_inside(s, index, a->shape[axis]))
        return next;
    kj_index_check *c = KJ_NEW(s->arena, kj_index_check);
    *c = (kj_index_check){next, index, a->shape[axis], index_site(s, a, axis, index->span)};
    return c;
}

kj_tarray *kj_index_checked(kj_sema *s, kj_tarray *a, kj_texpr **index)
{
    const kj_index_check *checks = a->checks;
    for (int i = a->ndim - 1; s->spec && s->spec->bounds && i >= 0; i--) {
        index[i] = kj_hold(s, index[i], "index"); /* it is asked for twice */
        checks = kj_index_check_of(s, a, i, index[i], checks);
    }
    if (checks == a->checks)
        return a;
    kj_tarray *out = KJ_NEW(s->arena, kj_tarray);
    *out = *a;
    out->checks = checks;
    return out;
}
