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
    if (!kj_is_const(extent) || kj_least(s, index) < 0)
        return false;
    int64_t n = extent->u.value.i;
    bool modulo = index->kind == KJ_TE_BINARY && index->u.binary.op == KJ_OP_MOD &&
                  kj_is_const(index->u.binary.rhs) && index->u.binary.rhs->u.value.i <= n;
    return modulo || kj_most(s, index) < n;
}

/* Indices are i64; one of u64 is told as that, unless i64(...) is written there. */
static kj_dtype told_type(const kj_texpr *index)
{
    if (index->kind != KJ_TE_CONVERT && index->kind != KJ_TE_BITS)
        return KJ_I64;
    const kj_texpr *of = index->u.unary.arg;
    bool written = of->span.begin != index->span.begin || of->span.end != index->span.end;
    return of->type == KJ_U64 && !written ? KJ_U64 : KJ_I64;
}

static kj_site *index_site(kj_sema *s, const kj_tarray *a, int axis, const kj_texpr *index,
                           kj_span span)
{
    kj_site *site = KJ_NEW(s->arena, kj_site);
    kj_site_part *parts = KJ_NEW_ARRAY(s->arena, kj_site_part, 2);
    parts[0] = (kj_site_part){"index", told_type(index)};
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

static int count_checks(const kj_index_check *c)
{
    int n = 0;
    for (; c; c = c->next)
        n++;
    return n;
}

/* Statements where the test holds. */
static void emit_if(kj_sema *s, kj_texpr *test, kj_tstmt *list, kj_span span)
{
    if (!list)
        return;
    kj_tstmt *made = kj_emit(s, KJ_TS_IF, span);
    made->u.if_.test = test;
    made->u.if_.yes = list;
}

/* Where the statement stands that is being made. */
static void check_here(kj_sema *s, const kj_site *site, kj_texpr *index, kj_texpr *extent)
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
    emit_if(s, kj_te_logic(s, true, below, behind, span), kj_sink_close(s, &sink), span);
}

void kj_check_view(kj_sema *s, const kj_tarray *a, kj_span span)
{
    kj_sink sink;
    if (kj_is_chosen(a)) {
        for (int i = 0; i < 2; i++) {
            kj_texpr *test = a->root->test;
            kj_sink_open(s, &sink);
            kj_check_view(s, kj_arm(s, a, i), span);
            emit_if(s, i == 0 ? test : kj_te_unary(s, KJ_OP_NOT, test, span),
                    kj_sink_close(s, &sink), span);
        }
        return;
    }
    kj_texpr *any = kj_te_bool(s, true, span), *none = kj_te_i64(s, 0, span);
    for (int i = 0; i < a->ndim; i++)
        any = kj_te_logic(s, false, any, kj_te_binary(s, KJ_OP_GT, a->shape[i], none, span), span);
    kj_sink_open(s, &sink);
    for (const kj_index_check *c = a->checks; c; c = c->next)
        check_here(s, c->site, c->index, c->extent);
    emit_if(s, any, kj_sink_close(s, &sink), span);
}

kj_texpr *kj_index_of_value(kj_sema *s, const char *name, int axis, int ndim, kj_texpr *index,
                            int64_t extent)
{
    kj_tarray a = {.name = name, .ndim = ndim};
    kj_texpr *n = kj_te_i64(s, extent, index->span);
    if (!are_wanted(s) || is_inside(s, index, n))
        return index;
    const kj_site *site = index_site(s, &a, axis, index, index->span);
    index = kj_hold(s, index, "index");
    check_here(s, site, index, n);
    return index;
}

/* own: the index is the access's along that axis, wherever its value comes from by then. */
static kj_index_check *add_check(kj_sema *s, const kj_tarray *a, int axis, kj_texpr **index,
                                 kj_span at, bool own, kj_index_check *next)
{
    if (!are_wanted(s) || is_inside(s, *index, a->shape[axis]))
        return next;
    const kj_site *site = index_site(s, a, axis, *index, at);
    if (count_checks(next) == KJ_MAX_CHECKS) { /* of a view of arrays in records, however often */
        *index = kj_hold(s, *index, "index");
        check_here(s, site, *index, a->shape[axis]);
        return next;
    }
    kj_index_check *c = KJ_NEW(s->arena, kj_index_check);
    *c = (kj_index_check){.next = next,
                          .index = own ? NULL : *index,
                          .axis = axis,
                          .extent = a->shape[axis],
                          .site = site};
    return c;
}

kj_index_check *kj_index_check_of(kj_sema *s, const kj_tarray *a, int axis, kj_texpr *index,
                                  kj_span at, kj_index_check *next)
{
    return add_check(s, a, axis, &index, at, false, next);
}

kj_tarray *kj_index_checked(kj_sema *s, kj_tarray *a, kj_texpr **index, const kj_span *at)
{
    kj_index_check *checks = a->checks;
    for (int i = a->ndim - 1; are_wanted(s) && i >= 0; i--)
        checks = add_check(s, a, i, &index[i], at ? at[i] : index[i]->span, true, checks);
    if (checks == a->checks)
        return a;
    kj_tarray *out = KJ_NEW(s->arena, kj_tarray);
    *out = *a;
    out->checks = checks;
    return out;
}

kj_index_check *kj_axis_checked(kj_sema *s, const kj_tarray *a, int axis, kj_texpr **index,
                                kj_span at, kj_index_check *next)
{
    return add_check(s, a, axis, index, at, true, next);
}
