/* Arrays chosen by a condition: let src = a if c else b.
 *
 * A chosen array has a root of its own, which names the two. Its offset, shape and strides are chosen
 * once, so that views are made of it as of any array; an access becomes one of either array, whatever
 * memory each is in, and lowering sees only those. What was computed under the condition for an arm, and is
 * named by later accesses of it, is chosen with the rest: those stand where the choice does. */
#include "sema/value/value.h"

/* What is one expression where the test holds and another where not. */
typedef struct pick {
    kj_texpr *arms[2], **out;
    const char *name;
} pick;

typedef struct picks {
    pick *each;
    int n;
} picks;

static bool is_same_constant(const kj_texpr *a, const kj_texpr *b)
{
    return kj_is_const(a) && kj_is_const(b) && a->u.value.i == b->u.value.i;
}

static void add_pick(picks *p, kj_texpr *yes, kj_texpr *no, kj_texpr **out, const char *name)
{
    *out = yes;
    if (yes != no && !is_same_constant(yes, no))
        p->each[p->n++] = (pick){{yes, no}, out, name};
}

bool kj_same_arrays(kj_sema *s, const kj_operand v[2], kj_span span)
{
    if (v[0].kind == KJ_V_ERROR || v[1].kind == KJ_V_ERROR)
        return false;
    const kj_tarray *a = v[0].u.array, *b = v[1].u.array;
    if (v[0].kind == KJ_V_ARRAY && v[1].kind == KJ_V_ARRAY && a->elem == b->elem &&
        a->ndim == b->ndim && kj_elem_size(a) == kj_elem_size(b) && kj_unit(a) == kj_unit(b))
        return true;
    kj_message *m =
        kj_sema_error(s, span, KJ_RULE_TYPE_MISMATCH,
                      "a conditional expression chooses between arrays of one type, not "
                      "between %s and %s",
                      kj_describe(s, &v[0]), kj_describe(s, &v[1]));
    bool arrays = v[0].kind == KJ_V_ARRAY && v[1].kind == KJ_V_ARRAY;
    if (arrays && a->elem == b->elem && a->bytes != b->bytes)
        kj_hint(s->diag, m, "one of them is a field of a packed record, which is not aligned");
    else if (arrays && a->elem == b->elem)
        kj_hint(s->diag, m, "an index makes a view with fewer axes, as in a[i]");
    else if (arrays && !s->each)
        kj_hint(s->diag, m,
                "write an if, and what is done with each of them in its block, or in a function "
                "that takes the array: fn f<T: number>(a: T[]) { ... }");
    else if (s->each)
        kj_hint(s->diag, m, "for each element: selp(condition, a, b), which computes both");
    return false;
}

/* ---- The choice ---- */

static kj_tarray *copied(kj_sema *s, const kj_tarray *a)
{
    kj_tarray *out = KJ_NEW(s->arena, kj_tarray);
    *out = *a;
    out->whole = NULL;
    out->row = 0;
    return out;
}

/* What is of arm i alone; nobody looks at it for the other one. */
static void pick_of_arm(picks *p, int i, kj_texpr *e, kj_texpr *none, kj_texpr **out,
                        const char *name)
{
    add_pick(p, i == 0 ? e : none, i == 0 ? none : e, out, name);
}

static void pick_checks(kj_sema *s, picks *p, kj_tarray *arm, int i, kj_span span)
{
    kj_index_check **tail = &arm->checks;
    for (const kj_index_check *c = arm->checks; c; c = c->next) {
        kj_index_check *own = KJ_NEW(s->arena, kj_index_check);
        kj_texpr *none = kj_te_i64(s, 0, span);
        *own = *c;
        pick_of_arm(p, i, c->index, none, &own->index, "index");
        pick_of_arm(p, i, c->extent, none, &own->extent, "extent");
        *tail = own;
        tail = &own->next;
    }
}

/* All that accesses of an arm name and that may be computed for it: its checks, and where it is itself a choice, by
 * what that is made, and the same of its arms. */
static void pick_computed(kj_sema *s, picks *p, kj_tarray *arm, int i, kj_span span)
{
    pick_checks(s, p, arm, i, span);
    if (!kj_is_chosen(arm))
        return;
    kj_tarray *root = arm->root = copied(s, arm->root);
    root->root = root;
    pick_of_arm(p, i, root->test, kj_te_bool(s, false, span), &root->test, "chosen");
    for (int k = 0; k < 2; k++) {
        root->arms[k] = copied(s, root->arms[k]);
        pick_computed(s, p, root->arms[k], i, span);
    }
}

static size_t most_computed(const kj_tarray *arm)
{
    size_t n = 0;
    for (const kj_index_check *c = arm->checks; c; c = c->next)
        n += 2;
    if (kj_is_chosen(arm))
        n += 1 + most_computed(arm->root->arms[0]) + most_computed(arm->root->arms[1]);
    return n;
}

/* By an if statement that assigns variables. */
static void pick_by_if(kj_sema *s, picks *p, kj_texpr *test, kj_tstmt **before, kj_span span)
{
    kj_var **var = KJ_NEW_ARRAY(s->arena, kj_var *, (size_t)p->n);
    kj_tstmt *arm[2];
    for (int k = 0; k < p->n; k++) {
        var[k] = kj_new_var(s, p->each[k].name, span, p->each[k].arms[0]->type, true);
        kj_emit_decl(s, var[k], NULL, span);
    }
    for (int i = 0; i < 2; i++) {
        kj_sink sink;
        kj_sink_open(s, &sink);
        kj_splice(s, before[i], false);
        for (int k = 0; k < p->n; k++)
            kj_emit_assign(s, var[k], p->each[k].arms[i], span);
        arm[i] = kj_sink_close(s, &sink);
    }
    kj_tstmt *st = kj_emit(s, KJ_TS_IF, span);
    st->u.if_.test = test;
    st->u.if_.yes = arm[0];
    st->u.if_.no = arm[1];
    for (int k = 0; k < p->n; k++)
        *p->each[k].out = kj_hold(s, kj_te_var(s, var[k], span), p->each[k].name);
}

static void pick_by_select(kj_sema *s, picks *p, kj_texpr *test, kj_span span)
{
    for (int k = 0; k < p->n; k++) {
        kj_texpr *const *arms = p->each[k].arms;
        *p->each[k].out =
            kj_hold(s, kj_te_select(s, test, arms[0], arms[1], span), p->each[k].name);
    }
}

static kj_layout common_layout(kj_layout a, kj_layout b)
{
    if (a == b)
        return a;
    bool rows =
        (a == KJ_LAYOUT_C || a == KJ_LAYOUT_ROWS) && (b == KJ_LAYOUT_C || b == KJ_LAYOUT_ROWS);
    return rows ? KJ_LAYOUT_ROWS : KJ_LAYOUT_STRIDED;
}

/* An access is one for each end of the choices, behind conditions. */
static int count_ends(const kj_tarray *a)
{
    return kj_is_chosen(a) ? count_ends(a->root->arms[0]) + count_ends(a->root->arms[1]) : 1;
}

kj_operand kj_choose_array(kj_sema *s, kj_texpr *test, const kj_operand v[2], kj_tstmt **before,
                           kj_span span)
{
    enum { MOST = 64 };
    if (count_ends(v[0].u.array) + count_ends(v[1].u.array) > MOST) {
        kj_message *m = kj_sema_error(s, span, KJ_RULE_TOO_LARGE,
                                      "this choice of arrays has more than %d ends", MOST);
        kj_hint(s->diag, m, "each access is made for each of them: use if statements");
        return kj_no_value(span);
    }
    kj_tarray *arms[2] = {copied(s, v[0].u.array), copied(s, v[1].u.array)};
    kj_tarray *out = copied(s, arms[0]);
    kj_texpr *none = kj_te_i64(s, 0, span);
    const char *name = s->naming ? s->naming : "an array";
    size_t most = 1 + 2 * KJ_MAX_NDIM + most_computed(arms[0]) + most_computed(arms[1]);
    picks p = {.each = KJ_NEW_ARRAY(s->arena, pick, most)};
    test = kj_hold(s, test, "chosen");
    out->name = name;
    out->span = span;
    out->id = out->param = -1;
    out->checks = NULL;
    out->layout = common_layout(arms[0]->layout, arms[1]->layout);
    add_pick(&p, arms[0]->offset ? arms[0]->offset : none, arms[1]->offset ? arms[1]->offset : none,
             &out->offset, kj_arena_printf(s->arena, "%s.offset", name));
    for (int i = 0; i < out->ndim; i++) {
        add_pick(&p, arms[0]->shape[i], arms[1]->shape[i], &out->shape[i],
                 kj_arena_printf(s->arena, "%s.shape%d", name, i));
        add_pick(&p, arms[0]->stride[i], arms[1]->stride[i], &out->stride[i],
                 kj_arena_printf(s->arena, "%s.stride%d", name, i));
    }
    bool computed = before[0] || before[1];
    for (int i = 0; computed && i < 2; i++)
        pick_computed(s, &p, arms[i], i, span);
    if (computed)
        pick_by_if(s, &p, test, before, span);
    else
        pick_by_select(s, &p, test, span);
    if (kj_is_const_i64(out->offset, 0))
        out->offset = NULL;
    out->root = copied(s, out);
    out->root->root = out->root;
    out->root->test = test;
    out->root->arms[0] = arms[0];
    out->root->arms[1] = arms[1];
    return (kj_operand){.kind = KJ_V_ARRAY, .span = span, .u.array = out};
}

/* ---- What is made of it ---- */

/* `first`, and behind them `rest`. */
static kj_index_check *both(kj_sema *s, kj_index_check *first, kj_index_check *rest)
{
    kj_index_check *out = rest, **end = &out;
    if (!rest)
        return first;
    for (; first; first = first->next) {
        *end = KJ_NEW(s->arena, kj_index_check);
        **end = *first;
        end = &(*end)->next;
    }
    *end = rest;
    return out;
}

kj_tarray *kj_arm(kj_sema *s, const kj_tarray *a, int i)
{
    const kj_tarray *of = a->root->arms[i];
    kj_tarray *out = copied(s, a);
    out->root = of->root;
    out->space = of->space;
    out->checks = both(s, a->checks, of->checks);
    return out;
}

void kj_arm_close(kj_sema *s, const kj_tarray *a, int i, kj_sink *sink, kj_span span)
{
    kj_texpr *test = a->root->test;
    kj_emit_if(s, i == 0 ? test : kj_te_unary(s, KJ_OP_NOT, test, span), kj_sink_close(s, sink),
               span);
}

bool kj_may_be_in(const kj_tarray *a, kj_space space)
{
    if (!kj_is_chosen(a))
        return a->root->space == space;
    return kj_may_be_in(a->root->arms[0], space) || kj_may_be_in(a->root->arms[1], space);
}

bool kj_may_share(const kj_tarray *a, const kj_tarray *b)
{
    if (a->root == b->root)
        return true;
    if (kj_is_chosen(a))
        return kj_may_share(a->root->arms[0], b) || kj_may_share(a->root->arms[1], b);
    return kj_is_chosen(b) && kj_may_share(b, a);
}
