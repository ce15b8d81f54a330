/* What is known of integers where a statement stands: the least that a value can be, by what it is made
 * of and by the conditions around it. A condition's facts hold in its block; those of one whose block
 * always leaves, negated, in the statements behind it. */
#include "sema/body/body.h"

enum { DEEPEST = 8 }; /* operations that are looked through */

static const int64_t unknown = INT64_MIN;

static int64_t near(int64_t v)
{
    return v > KJ_MOST_EXTENT || v < -KJ_MOST_EXTENT ? unknown : v;
}

static int64_t least(const kj_sema *s, const kj_texpr *e, int depth, bool facts);

/* Else it wraps. */
static bool keeps_values(const kj_texpr *conversion)
{
    return kj_converts(conversion->u.unary.arg->type, conversion->type);
}

/* ---- The greatest value, so far as sums and products are concerned ---- */

enum { LARGE = 62 }; /* bits: what is below is no sum or product that wrapped */

static const int64_t unbounded = INT64_MAX;

static int64_t bounded(int64_t v)
{
    return v < 0 ? 0 : v >> LARGE ? unbounded : v;
}

static int64_t most(const kj_sema *s, const kj_texpr *e, int depth);

static int64_t most_of_binary(const kj_sema *s, const kj_texpr *e, int depth)
{
    const kj_texpr *rhs = e->u.binary.rhs;
    int64_t a = most(s, e->u.binary.lhs, depth), b = most(s, rhs, depth), r;
    switch (e->u.binary.op) {
    case KJ_OP_ADD: return a == unbounded || b == unbounded ? unbounded : bounded(a + b);
    case KJ_OP_SUB: return kj_is_const(rhs) && rhs->u.value.i >= 0 ? a : unbounded;
    case KJ_OP_FLOORDIV: return a;
    case KJ_OP_MUL:
        return a == unbounded || b == unbounded || __builtin_mul_overflow(a, b, &r) ? unbounded
                                                                                    : bounded(r);
    case KJ_OP_MOD: return b;
    default: return unbounded;
    }
}

/* Of a value that is 0 or more; of any other it says nothing. */
static int64_t most(const kj_sema *s, const kj_texpr *e, int depth)
{
    const kj_var_note *note;
    if (depth > DEEPEST || !kj_is_int(e->type))
        return unbounded;
    if (e->kind == KJ_TE_CONST)
        return bounded(e->u.value.i);
    if (kj_types[e->type].bits <= 32)
        return UINT32_MAX;
    switch (e->kind) {
    case KJ_TE_INDEX:
    case KJ_TE_DIM: return KJ_MOST_EXTENT;
    case KJ_TE_CONVERT: return keeps_values(e) ? most(s, e->u.unary.arg, depth + 1) : unbounded;
    case KJ_TE_BINARY: return most_of_binary(s, e, depth + 1);
    case KJ_TE_VAR:
        note = &s->vars[e->u.var->id];
        return note->host ? most(s, note->host, depth + 1) : note->most ? note->most : unbounded;
    default: return unbounded;
    }
}

int64_t kj_most(const kj_sema *s, const kj_texpr *e)
{
    return most(s, e, 0);
}

/* ---- The least value ---- */

/* Sums and products that may wrap tell nothing: a variable that a condition says something of may be
 * anything above, so that such facts pass through what makes it less only. */
static int64_t least_of_binary(const kj_sema *s, const kj_texpr *e, int depth, bool facts)
{
    kj_op op = e->u.binary.op;
    const kj_texpr *by = kj_is_const(e->u.binary.rhs) ? e->u.binary.rhs : NULL;
    facts = facts && op != KJ_OP_ADD && op != KJ_OP_MUL &&
            (op != KJ_OP_SUB || (by && by->u.value.i >= 0));
    int64_t a = near(least(s, e->u.binary.lhs, depth, facts)),
            b = near(least(s, e->u.binary.rhs, depth, facts));
    if (b == unknown || (a == unknown && op != KJ_OP_MOD))
        return unknown;
    bool grows = op == KJ_OP_ADD || op == KJ_OP_MUL || (op == KJ_OP_SUB && b < 0);
    if (grows && most_of_binary(s, e, depth) == unbounded)
        return unknown;
    switch (op) {
    case KJ_OP_ADD: return a + b;
    case KJ_OP_SUB: return by ? a - b : unknown;
    case KJ_OP_MUL: return a < 0 || b < 0 || (a && b > KJ_MOST_EXTENT / a) ? unknown : a * b;
    case KJ_OP_FLOORDIV: return a < 0 || b < 0 ? unknown : 0;
    case KJ_OP_MOD: return b < 0 ? unknown : 0; /* it has the sign of b */
    default: return unknown;
    }
}

static int64_t least_of_call(const kj_sema *s, const kj_texpr *e, int depth, bool facts)
{
    if (e->u.call.id != KJ_BI_MAX && e->u.call.id != KJ_BI_MIN)
        return unknown;
    int64_t a = least(s, e->u.call.args[0], depth, facts),
            b = least(s, e->u.call.args[1], depth, facts);
    return (a > b) == (e->u.call.id == KJ_BI_MAX) ? a : b;
}

static int64_t least(const kj_sema *s, const kj_texpr *e, int depth, bool facts)
{
    const kj_var_note *note;
    int64_t made;
    if (depth > DEEPEST || !kj_is_int(e->type))
        return unknown;
    if (e->kind != KJ_TE_CONST && !kj_is_signed(e->type) && kj_types[e->type].bits < 64)
        return 0;
    switch (e->kind) {
    case KJ_TE_CONST: return e->u.value.i;
    case KJ_TE_INDEX: return 0;
    case KJ_TE_DIM: return e->u.dim.stride ? unknown : 0;
    case KJ_TE_CONVERT:
        return keeps_values(e) ? least(s, e->u.unary.arg, depth + 1, facts) : unknown;
    case KJ_TE_CALL: return least_of_call(s, e, depth + 1, facts);
    case KJ_TE_BINARY: return e->type == KJ_I64 ? least_of_binary(s, e, depth + 1, facts) : unknown;
    case KJ_TE_VAR:
        note = &s->vars[e->u.var->id];
        made = note->host ? least(s, note->host, depth + 1, facts) : unknown;
        return facts && note->least > made ? note->least : made;
    default: return unknown;
    }
}

int64_t kj_least(const kj_sema *s, const kj_texpr *e)
{
    return least(s, e, 0, true);
}

/* ---- Conditions ---- */

static void learn(kj_sema *s, const kj_texpr *e, int64_t least_value)
{
    kj_var *v = e->kind == KJ_TE_VAR ? e->u.var : NULL;
    if (!v || v->mutable || !kj_is_signed(v->type) || s->vars[v->id].least >= least_value)
        return;
    kj_fact *fact = KJ_NEW(s->arena, kj_fact);
    *fact = (kj_fact){s->facts, v, s->vars[v->id].least};
    s->facts = fact;
    s->vars[v->id].least = least_value;
}

/* e is n at least; of i - 1 that says something of i. */
static void learn_at_least(kj_sema *s, const kj_texpr *e, int64_t n)
{
    const kj_texpr *rhs = e->kind == KJ_TE_BINARY ? e->u.binary.rhs : NULL;
    bool sum = rhs && e->u.binary.op == KJ_OP_ADD, less = rhs && e->u.binary.op == KJ_OP_SUB;
    int64_t by = (sum || less) && kj_is_const(rhs) ? near(rhs->u.value.i) : 0;
    n = near(n);
    if (n == unknown || by == unknown)
        return;
    if (e->kind == KJ_TE_CONVERT && keeps_values(e))
        learn_at_least(s, e->u.unary.arg, n);
    else if ((sum || less) && e->type == KJ_I64 && kj_is_const(rhs) &&
             near(kj_least(s, e->u.binary.lhs)) != unknown) /* else it may wrap */
        learn_at_least(s, e->u.binary.lhs, sum ? n - by : n + by);
    else
        learn(s, e, n);
}

static kj_op negated(kj_op op)
{
    switch (op) {
    case KJ_OP_LT: return KJ_OP_GE;
    case KJ_OP_LE: return KJ_OP_GT;
    case KJ_OP_GT: return KJ_OP_LE;
    case KJ_OP_GE: return KJ_OP_LT;
    case KJ_OP_EQ: return KJ_OP_NE;
    default: return KJ_OP_EQ;
    }
}

static void learn_of_comparison(kj_sema *s, kj_op op, const kj_texpr *a, const kj_texpr *b)
{
    if (!kj_is_int(a->type))
        return;
    int64_t low_a = near(kj_least(s, a)), low_b = near(kj_least(s, b));
    if ((op == KJ_OP_GE || op == KJ_OP_GT || op == KJ_OP_EQ) && low_b != unknown)
        learn_at_least(s, a, low_b + (op == KJ_OP_GT));
    if ((op == KJ_OP_LE || op == KJ_OP_LT || op == KJ_OP_EQ) && low_a != unknown)
        learn_at_least(s, b, low_a + (op == KJ_OP_LT));
    if (op == KJ_OP_NE && kj_is_const(b) && low_a == b->u.value.i)
        learn_at_least(s, a, low_a + 1);
}

void kj_facts_of(kj_sema *s, const kj_texpr *test, bool holds)
{
    if (test->kind == KJ_TE_UNARY && test->u.unary.op == KJ_OP_NOT) {
        kj_facts_of(s, test->u.unary.arg, !holds);
    } else if (test->kind == KJ_TE_LOGIC && test->u.logic.is_or != holds) {
        kj_facts_of(s, test->u.logic.lhs, holds);
        kj_facts_of(s, test->u.logic.rhs, holds);
    } else if (test->kind == KJ_TE_BINARY && kj_ops[test->u.binary.op].class == KJ_OPS_COMPARE) {
        kj_op op = test->u.binary.op;
        learn_of_comparison(s, holds ? op : negated(op), test->u.binary.lhs, test->u.binary.rhs);
    }
}

void kj_facts_end(kj_sema *s, const kj_fact *until)
{
    for (; s->facts != until; s->facts = s->facts->before)
        s->vars[s->facts->var->id].least = s->facts->least;
}
