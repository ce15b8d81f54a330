/* What binds otherwise in C than here: an operator and the comparison around it in, an error out. */
#include <string.h>

#include "sema/body/body.h"

static bool is_bool(const kj_operand *v)
{
    return v->kind == KJ_V_SCALAR && v->u.scalar.e->type == KJ_BOOL;
}

static bool is_real(const kj_operand *v)
{
    return kj_is_untyped(v) || (v->kind == KJ_V_SCALAR && v->u.scalar.e->type != KJ_BOOL);
}

static const char *trimmed_text(kj_sema *s, kj_span span)
{
    const char *text = s->diag->source->text;
    while (span.begin < span.end && strchr(" \t", text[span.begin]))
        span.begin++;
    while (span.end > span.begin && strchr(" \t", text[span.end - 1]))
        span.end--;
    return kj_source_text(s, span, "...");
}

/* x > 0 & c: in C the comparison is first, here `&` is. It stands at the comparison's sign, with the bool on its other
 * side, and in no parentheses: a comparison in which its operand has some goes beyond that. (Reported.) */
bool kj_joins_comparison(kj_sema *s, const kj_expr *e, const kj_operand *a, const kj_operand *b)
{
    const kj_expr *test = s->compares;
    kj_op op = e->u.binary.op;
    if (!test || (op != KJ_OP_AND && op != KJ_OP_OR))
        return false;
    bool chain = test->kind == KJ_E_CHAIN;
    const kj_expr *lhs = chain ? test->u.chain.operands : test->u.binary.lhs;
    const kj_expr *rhs = chain ? lhs : test->u.binary.rhs;
    while (rhs->next && chain)
        rhs = rhs->next;
    bool before = is_bool(a) && is_real(b) && lhs->span.begin == test->span.begin &&
                  e->span.end == lhs->span.end;
    bool behind = is_real(a) && is_bool(b) && rhs->span.end == test->span.end &&
                  e->span.begin == rhs->span.begin;
    if (!before && !behind)
        return false;
    const char *sign = kj_ops[op].spelling;
    kj_span all = {before ? e->span.begin : test->span.begin,
                   before ? test->span.end : e->span.end};
    kj_message *m =
        kj_sema_error(s, e->span, KJ_RULE_NOT_A_NUMBER,
                      "'%s' comes before comparisons, and has a number and a bool here", sign);
    kj_span left = {all.begin, e->u.binary.op_span.begin},
            right = {e->u.binary.op_span.end, all.end};
    kj_write(s->diag, m, all, before ? "%s %s (%s)" : "(%s) %s %s", trimmed_text(s, left), sign,
             trimmed_text(s, right));
    return true;
}

/* The comparison that an operand of `or` or `and` ends with; NULL: none. */
static const kj_expr *last_comparison(const kj_expr *e)
{
    while (e->kind == KJ_E_LOGIC)
        e = e->u.logic.rhs;
    return e->kind == KJ_E_BINARY && kj_ops[e->u.binary.op].class == KJ_OPS_COMPARE ? e : NULL;
}

/* n != 0: also how `n and 1` is mended, where the 1 is no value to compare with. */
static bool asks_truth(const kj_expr *test)
{
    const kj_expr *value = test->u.binary.rhs;
    return test->u.binary.op == KJ_OP_NE && value->kind == KJ_E_INT && value->u.integer == 0;
}

bool kj_repeats_comparison(kj_sema *s, const kj_expr *e, const kj_operand *right)
{
    const kj_expr *test = last_comparison(e->u.logic.lhs);
    if (!test || !kj_is_untyped(right))
        return false;
    kj_op op = test->u.binary.op;
    const char *what = kj_source_text(s, test->u.binary.lhs->span, NULL),
               *before = kj_source_text(s, test->span, "..."),
               *value = kj_source_text(s, right->span, NULL), *sign = kj_ops[op].spelling;
    if (!what || !value)
        return false;
    bool is_or = e->u.logic.is_or, differs = op == KJ_OP_NE;
    const char *joins = differs ? "and" : is_or ? "or" : "and";
    kj_message *m =
        kj_sema_error(s, right->span, KJ_RULE_NOT_BOOL, "an operand of '%s' is bool, not %s",
                      is_or ? "or" : "and", kj_describe(s, right));
    bool either = asks_truth(test);
    kj_hint(s->diag, m, "each value is compared by itself: %s %s %s %s %s%s", before, joins, what,
            sign, value, either ? "; a number alone is no condition" : "");
    if (either)
        return true;
    if (differs && is_or) /* n != 1 or n != 2 would be always so */
        kj_fix(s->diag, m, (kj_span){test->span.end, right->span.end}, " and %s %s %s", what, sign,
               value);
    else if (differs || (op == KJ_OP_EQ && is_or))
        kj_fix(s->diag, m, right->span, "%s %s %s", what, sign, value);
    return true;
}
