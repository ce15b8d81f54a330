/* Checks of indices that are made where they stand, as statements: those that have no access, and of an access the ones
 * for which its node has no room. */
#include "sema/value/value.h"

void kj_emit_if(kj_sema *s, kj_texpr *test, kj_tstmt *list, kj_span span)
{
    if (!list)
        return;
    kj_tstmt *made = kj_emit(s, KJ_TS_IF, span);
    made->u.if_.test = test;
    made->u.if_.yes = list;
}

void kj_check_here(kj_sema *s, const kj_site *site, kj_texpr *index, kj_texpr *extent)
{
    kj_span span = index->span;
    kj_texpr *below = kj_te_binary(s, KJ_OP_LT, index, kj_te_i64(s, 0, span), span),
             *behind = kj_te_binary(s, KJ_OP_GE, index, extent, span);
    kj_sink sink;
    kj_sink_open(s, &sink);
    kj_tstmt *report = kj_emit(s, KJ_TS_REPORT, span);
    report->u.report.site = site;
    report->u.report.values = KJ_NEW_ARRAY(s->arena, kj_texpr *, 2);
    report->u.report.values[0] = index;
    report->u.report.values[1] = extent;
    kj_emit_if(s, kj_te_logic(s, true, below, behind, span), kj_sink_close(s, &sink), span);
}

static int count(const kj_index_check *c)
{
    int n = 0;
    for (; c; c = c->next)
        n++;
    return n;
}

bool kj_has_many_checks(const kj_tarray *a)
{
    return count(a->checks) > KJ_MAX_CHECKS;
}

kj_tarray *kj_with_few_checks(kj_sema *s, kj_tarray *a, kj_texpr **index)
{
    int surplus = count(a->checks) - KJ_MAX_CHECKS;
    if (surplus <= 0)
        return a;
    kj_tarray *out = KJ_NEW(s->arena, kj_tarray);
    *out = *a;
    for (int i = 0; i < a->ndim; i++)
        index[i] = kj_hold(s, index[i], "index");
    for (; surplus > 0; surplus--) {
        const kj_index_check *c = out->checks;
        kj_check_here(s, c->site, kj_checked_index(c, index), c->extent);
        out->checks = c->next;
    }
    return out;
}
