/* What is known of integers where a statement stands: between which values they are, by what they are made
 * of and by the conditions around them. A condition's facts hold in its block; those of one whose block
 * always leaves, negated, in the statements behind it. */
#include "analysis/interval.h"
#include "sema/body/body.h"

enum { DEEPEST = 8 }; /* operations that are looked through */

/* ---- Between which values ---- */

static kj_interval range_of(const kj_sema *s, const kj_texpr *e, int depth);

static kj_interval within(kj_interval a, kj_interval b)
{
    return (kj_interval){a.lo > b.lo ? a.lo : b.lo, a.hi < b.hi ? a.hi : b.hi};
}

/* Is none of the results one that wrapped? A difference that only becomes less does not at the upper end. */
static bool is_exact(kj_op op, kj_dtype type, kj_interval rhs, kj_interval made)
{
    if (op == KJ_OP_FLOORDIV || op == KJ_OP_MOD)
        return true;
    if (op == KJ_OP_SUB && rhs.lo >= 0)
        return made.lo != kj_no_least && made.lo >= kj_interval_of_type(type).lo;
    return kj_interval_fits(made, type);
}

static kj_interval range_of_binary(const kj_sema *s, const kj_texpr *e, int depth)
{
    static const kj_interval_op ops[] = {
        [KJ_OP_ADD] = KJ_IV_ADD,      [KJ_OP_SUB] = KJ_IV_SUB, [KJ_OP_MUL] = KJ_IV_MUL,
        [KJ_OP_FLOORDIV] = KJ_IV_DIV, [KJ_OP_MOD] = KJ_IV_MOD,
    };
    kj_interval whole = kj_interval_of_type(e->type);
    kj_op op = e->u.binary.op;
    if ((size_t)op >= sizeof ops / sizeof *ops || ops[op] == KJ_IV_CONST)
        return whole;
    kj_interval a = range_of(s, e->u.binary.lhs, depth), b = range_of(s, e->u.binary.rhs, depth);
    kj_interval made = kj_interval_apply(ops[op], e->type, a, b, b);
    if (!is_exact(op, e->type, b, made))
        return whole;
    return within(made, whole);
}

static kj_interval range_of_call(const kj_sema *s, const kj_texpr *e, int depth)
{
    if (e->u.call.id != KJ_BI_MAX && e->u.call.id != KJ_BI_MIN)
        return kj_interval_of_type(e->type);
    kj_interval a = range_of(s, e->u.call.args[0], depth),
                b = range_of(s, e->u.call.args[1], depth);
    return kj_interval_apply(e->u.call.id == KJ_BI_MAX ? KJ_IV_MAX : KJ_IV_MIN, e->type, a, b, b);
}

static kj_interval range_of_var(const kj_sema *s, const kj_var *v, int depth)
{
    const kj_var_note *note = &s->vars[v->id];
    kj_interval made = note->host ? range_of(s, note->host, depth) : kj_interval_of_type(v->type);
    return within(made, (kj_interval){note->least, note->most});
}

static kj_interval range_of(const kj_sema *s, const kj_texpr *e, int depth)
{
    kj_interval whole = kj_interval_of_type(e->type), of;
    if (!kj_is_int(e->type) || (depth > DEEPEST && e->kind != KJ_TE_CONST))
        return whole;
    switch (e->kind) {
    case KJ_TE_CONST: return kj_interval_of_const(e->u.value);
    case KJ_TE_INDEX: return (kj_interval){0, KJ_MOST_EXTENT};
    case KJ_TE_DIM: return e->u.dim.stride ? whole : (kj_interval){0, KJ_MOST_EXTENT};
    case KJ_TE_CONVERT:
        of = range_of(s, e->u.unary.arg, depth + 1);
        return kj_interval_apply(KJ_IV_FIT, e->type, of, of, of);
    case KJ_TE_CALL: return range_of_call(s, e, depth + 1);
    case KJ_TE_BINARY: return range_of_binary(s, e, depth + 1);
    case KJ_TE_VAR: return range_of_var(s, e->u.var, depth + 1);
    default: return whole;
    }
}

int64_t kj_least(const kj_sema *s, const kj_texpr *e)
{
    return range_of(s, e, 0).lo;
}

int64_t kj_most(const kj_sema *s, const kj_texpr *e)
{
    return range_of(s, e, 0).hi;
}

/* ---- Conditions ---- */

static const int64_t unknown = INT64_MIN;

static int64_t near(int64_t v)
{
    return v > KJ_MOST_EXTENT || v < -KJ_MOST_EXTENT ? unknown : v;
}

/* Else it wraps. */
static bool keeps_values(const kj_texpr *conversion)
{
    return kj_converts(conversion->u.unary.arg->type, conversion->type);
}

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
