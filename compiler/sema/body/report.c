/* assert and print: sites of the kernel, and the statements that report there.
 *
 * assert(a and b) is assert(a) and then assert(b). A condition becomes
 *     if not condition { report }
 * with the values of the comparisons in it: the two sides, where they are no constants. */
#include "sema/body/body.h"

enum { SIDES = 4 }; /* values told of one condition */

/* A site being made. */
typedef struct report {
    kj_site *site;
    kj_site_part *parts;
    kj_texpr **values;
    int cap;
} report;

static report new_report(kj_sema *s, kj_span span, bool fault, int cap)
{
    report r = {.site = KJ_NEW(s->arena, kj_site), .cap = cap};
    r.parts = KJ_NEW_ARRAY(s->arena, kj_site_part, (size_t)cap);
    r.values = KJ_NEW_ARRAY(s->arena, kj_texpr *, KJ_MAX_REPORTED);
    *r.site = (kj_site){.span = span, .fault = fault, .parts = r.parts, .child = s->child};
    return r;
}

static void add_value(report *r, const char *text, kj_texpr *value)
{
    r->parts[r->site->nparts++] = (kj_site_part){text, value->type};
    r->values[r->site->nvalues++] = value;
}

static void emit_report(kj_sema *s, report *r)
{
    kj_add_site(s, r->site);
    kj_tstmt *st = kj_emit(s, KJ_TS_REPORT, r->site->span);
    st->u.report.site = r->site;
    st->u.report.values = r->values;
}

static const char *string_of(kj_sema *s, const kj_expr *e)
{
    return kj_arena_printf(s->arena, "%.*s", (int)e->u.string.len, e->u.string.text);
}

/* ---- assert ---- */

static bool is_comparison(const kj_texpr *e)
{
    return e->kind == KJ_TE_BINARY && e->type == KJ_BOOL && e->u.binary.lhs->type != KJ_BOOL;
}

/* A comparison of the source, by its place: the sides of a typed one may be parts of those written. */
typedef struct place {
    kj_span span;
    const kj_expr *found; /* or NULL */
} place;

static void look_for(void *ctx, const kj_expr *e)
{
    place *p = ctx;
    if (e->kind == KJ_E_BINARY && e->span.begin == p->span.begin && e->span.end == p->span.end)
        p->found = e;
    kj_each_part(e, look_for, ctx);
}

static void add_side(kj_sema *s, report *r, kj_texpr *value, kj_span span, const char *otherwise)
{
    if (!kj_is_const(kj_unconverted(value)) && !kj_has_effect(value) && r->site->nparts < r->cap)
        add_value(r, kj_arena_printf(s->arena, "%s", kj_source_text(s, span, otherwise)), value);
}

/* What of a condition, written so, that came out as `holds` was evaluated and may be once more. */
static void add_sides(kj_sema *s, report *r, const kj_expr *written, const kj_texpr *test,
                      bool holds)
{
    if (test->kind == KJ_TE_UNARY) {
        add_sides(s, r, written, test->u.unary.arg, !holds);
    } else if (test->kind == KJ_TE_LOGIC && test->u.logic.is_or != holds) {
        add_sides(s, r, written, test->u.logic.lhs, holds);
        add_sides(s, r, written, test->u.logic.rhs, holds);
    } else if (is_comparison(test)) {
        place p = {.span = test->span};
        look_for(&p, written);
        const kj_texpr *lhs = test->u.binary.lhs, *rhs = test->u.binary.rhs;
        add_side(s, r, test->u.binary.lhs, p.found ? p.found->u.binary.lhs->span : lhs->span,
                 "the left side");
        add_side(s, r, test->u.binary.rhs, p.found ? p.found->u.binary.rhs->span : rhs->span,
                 "the right side");
    }
}

/* The sides of a comparison are evaluated once, whatever they are. */
static kj_texpr *hold_sides(kj_sema *s, kj_texpr *test)
{
    if (!is_comparison(test))
        return test;
    kj_texpr *held = kj_te(s, KJ_TE_BINARY, KJ_BOOL, test->span);
    held->u.binary = test->u.binary;
    held->u.binary.lhs = kj_hold(s, test->u.binary.lhs, "lhs");
    held->u.binary.rhs = kj_hold(s, test->u.binary.rhs, "rhs");
    return held;
}

void kj_emit_assert(kj_sema *s, const kj_expr *written, kj_texpr *test, kj_site_kind kind,
                    const char *failed, const char *message)
{
    if (test->kind == KJ_TE_LOGIC && !test->u.logic.is_or) {
        kj_emit_assert(s, written, test->u.logic.lhs, kind, failed, message);
        kj_emit_assert(s, written, test->u.logic.rhs, kind, failed, message);
        return;
    }
    if (kj_is_const(test) && test->u.value.u)
        return;
    test = hold_sides(s, test);
    report r = new_report(s, test->span, true, SIDES);
    r.site->kind = kind;
    r.site->failed = failed;
    r.site->message = message;
    if (!failed)
        add_sides(s, &r, written, test, false);
    kj_sink sink;
    kj_sink_open(s, &sink);
    emit_report(s, &r);
    kj_tstmt *reported = kj_sink_close(s, &sink);
    kj_tstmt *made = kj_emit(s, KJ_TS_IF, test->span);
    made->u.if_.test = kj_te_unary(s, KJ_OP_NOT, test, test->span);
    made->u.if_.yes = reported;
}

void kj_emit_failure(kj_sema *s, kj_span span, kj_fail_words words, kj_texpr **values, int n)
{
    report r = new_report(s, span, true, n);
    r.site->kind = KJ_SITE_LAUNCH;
    r.site->failed = words.failed;
    r.site->message = words.message;
    for (int i = 0; i < n; i++)
        add_value(&r, words.values[i], values[i]);
    emit_report(s, &r);
}

kj_operand kj_assert_call(kj_sema *s, const kj_expr *e, kj_operand condition)
{
    const kj_expr *arg = e->u.call.args;
    if (arg->next && arg->next->kind != KJ_E_STRING) {
        kj_message *m = kj_sema_error(s, arg->next->span, KJ_RULE_TYPE_MISMATCH,
                                      "a message is a string literal");
        kj_hint(s->diag, m, "the values of the condition are told anyway");
        return kj_no_value(e->span);
    }
    kj_texpr *test = kj_condition(s, condition, "a condition");
    if (!test)
        return kj_no_value(e->span);
    kj_emit_assert(s, arg, test, KJ_SITE_ASSERT, NULL, arg->next ? string_of(s, arg->next) : NULL);
    return (kj_operand){.kind = KJ_V_NONE, .span = e->span};
}

/* ---- print ---- */

/* Text goes before the next value, or behind the last one. */
static void add_text(kj_sema *s, report *r, const char *text)
{
    kj_site_part *last = r->site->nparts ? &r->parts[r->site->nparts - 1] : NULL;
    if (last && last->type == KJ_VOID)
        last->text = kj_arena_printf(s->arena, "%s%s", last->text, text);
    else
        r->parts[r->site->nparts++] = (kj_site_part){text, KJ_VOID};
}

static bool print_value(kj_sema *s, report *r, kj_operand v)
{
    if (kj_is_complex(&v) && r->site->nvalues + 2 <= KJ_MAX_REPORTED) {
        r->parts[r->site->nparts++] = (kj_site_part){NULL, v.u.tuple.of->type};
        for (int i = 0; i < 2; i++)
            r->values[r->site->nvalues++] = v.u.tuple.items[i].u.scalar.e;
        return true;
    }
    if (v.kind == KJ_V_TUPLE) {
        add_text(s, r, "(");
        for (int i = 0; i < v.u.tuple.n; i++) {
            if (i > 0)
                add_text(s, r, ", ");
            if (!print_value(s, r, v.u.tuple.items[i]))
                return false;
        }
        add_text(s, r, v.u.tuple.n == 1 ? ",)" : ")");
        return true;
    }
    if (v.kind == KJ_V_SCALAR && r->site->nvalues < KJ_MAX_REPORTED) {
        add_value(r, NULL, v.u.scalar.e);
        return true;
    }
    if (v.kind == KJ_V_SCALAR)
        kj_sema_error(s, v.span, KJ_RULE_ARGUMENT_COUNT, "print takes at most %d numbers",
                      KJ_MAX_REPORTED);
    if (v.kind == KJ_V_ARRAY) {
        kj_message *m = kj_sema_error(s, v.span, KJ_RULE_TYPE_MISMATCH,
                                      "print takes numbers, not %s", kj_describe(s, &v));
        kj_hint(s->diag, m, "print its elements, or the array in the run block");
    }
    return false;
}

kj_operand kj_print_call(kj_sema *s, const kj_expr *e, const kj_operand *values)
{
    report r = new_report(s, e->span, false, 2 * KJ_MAX_REPORTED + 2);
    for (const kj_expr *arg = e->u.call.args; arg; arg = arg->next) {
        if (arg->kind == KJ_E_STRING)
            add_text(s, &r, string_of(s, arg));
        else if (!print_value(s, &r, *values++))
            return kj_no_value(e->span);
        add_text(s, &r, arg->next ? " " : "");
    }
    add_text(s, &r, "\n");
    emit_report(s, &r);
    return (kj_operand){.kind = KJ_V_NONE, .span = e->span};
}
