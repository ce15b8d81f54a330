/* Arrays of 8 and 16 bits in a run block whose sums wrap before they are divided, compared, shifted, widened or summed up,
 * which a kernel is warned of by warn/types.c. In: expressions without errors; out: warnings. */
#include <string.h>

#include "sema/file/file.h"

enum { LONGEST = 72 /* of what a hint quotes */ };

/* What an element can be, as far as it is seen. */
typedef struct range {
    int64_t least, most;
} range;

static range of_type(kj_dtype type)
{
    int bits = kj_types[type].bits;
    int64_t half = (int64_t)1 << (bits - 1);
    return kj_is_signed(type) ? (range){-half, half - 1} : (range){0, 2 * half - 1};
}

static bool fits(range r, range in)
{
    return in.least <= r.least && r.most <= in.most;
}

static range product(range a, range b)
{
    const int64_t all[4] = {a.least * b.least, a.least * b.most, a.most * b.least, a.most * b.most};
    range r = {all[0], all[0]};
    for (int i = 1; i < 4; i++) {
        r.least = all[i] < r.least ? all[i] : r.least;
        r.most = all[i] > r.most ? all[i] : r.most;
    }
    return r;
}

static range range_of(kj_sema *s, const kj_expr *e, kj_dtype type);

static range sum_of(kj_sema *s, const kj_expr *e, kj_dtype type)
{
    range a = range_of(s, e->u.binary.lhs, type), b = range_of(s, e->u.binary.rhs, type);
    switch (e->u.binary.op) {
    case KJ_OP_ADD: return (range){a.least + b.least, a.most + b.most};
    case KJ_OP_SUB: return (range){a.least - b.most, a.most - b.least};
    default: return product(a, b);
    }
}

static bool is_sum(const kj_expr *e)
{
    kj_op op = e->kind == KJ_E_BINARY ? e->u.binary.op : KJ_NOPS;
    return op == KJ_OP_ADD || op == KJ_OP_SUB || op == KJ_OP_MUL;
}

/* What has wrapped is in its type again. */
static range range_of(kj_sema *s, const kj_expr *e, kj_dtype type)
{
    if (e->kind == KJ_E_INT && e->u.integer <= INT32_MAX)
        return (range){(int64_t)e->u.integer, (int64_t)e->u.integer};
    range all = of_type(type), r = all;
    if (is_sum(e)) {
        r = sum_of(s, e, type);
        return fits(r, all) ? r : all;
    }
    kj_known known = kj_run_known(s, e);
    if (known.most > 0 && known.most < all.most)
        r = (range){0, known.most};
    return r;
}

/* The type of few bits that it is computed in and can leave, the outermost sum that does; KJ_VOID: there is none. */
static kj_dtype wraps(kj_sema *s, const kj_expr *e, range *out)
{
    if (!is_sum(e))
        return KJ_VOID;
    kj_known known = kj_run_known(s, e);
    if (known.kind != KJ_R_ARRAY || !kj_is_int(known.type) || kj_types[known.type].bits > 16)
        return KJ_VOID;
    *out = sum_of(s, e, known.type);
    if (!fits(*out, of_type(known.type)))
        return known.type;
    range part;
    kj_dtype left = wraps(s, e->u.binary.lhs, &part);
    return left != KJ_VOID ? left : wraps(s, e->u.binary.rhs, &part);
}

static bool is_same_text(kj_sema *s, kj_span a, kj_span b)
{
    const char *text = s->diag->source->text;
    return a.end - a.begin == b.end - b.begin &&
           memcmp(text + a.begin, text + b.begin, a.end - a.begin) == 0;
}

/* As it is written with its parts converted, between `begin` and `end`; NULL: it is too much for a hint. */
static const char *converted(kj_sema *s, const kj_expr *e, const char *type, kj_span all)
{
    const char *source = s->diag->source->text;
    kj_text t = {.arena = s->diag->arena};
    uint32_t done = all.begin;
    bool ok = kj_convert_parts(&t, source, e, type, &done);
    kj_text_add(&t, source + done, all.end - done);
    return ok && t.size <= LONGEST && !strpbrk(t.data, "\n#") ? t.data : NULL;
}

/* then: what is done with it; whole: what gives its type again, of which it is a part, or NULL; `open`: what comes of
 * it would be of another type, which is left to the reader. */
static void warn(kj_sema *s, const kj_expr *e, const char *then, const kj_expr *whole, bool open)
{
    range r = {0, 0};
    kj_dtype type = s->diag->wanted ? wraps(s, e, &r) : KJ_VOID;
    if (type == KJ_VOID)
        return;
    const char *own = kj_type_name(type),
               *wide = kj_type_name(fits(r, of_type(KJ_I32)) ? KJ_I32 : KJ_I64);
    kj_span at = whole ? whole->span : e->span;
    kj_message *m =
        kj_warn(s->diag, e->span, KJ_RULE_NARROW_ARITHMETIC,
                "this is computed in %s, where it can wrap, before it is %s", own, then);
    const char *parts = converted(s, e, wide, at);
    if (!parts) {
        kj_hint(s->diag, m, "convert its first operand: %s(...); where wrapping is meant, %s(...)",
                wide, own);
        return;
    }
    if (whole)
        parts = kj_arena_printf(s->diag->arena, "%s(%s)", own, parts);
    kj_hint(s->diag, m, "write %s; where wrapping is meant, %s(%s)", parts, own,
            kj_source_text(s, e->span, "..."));
    if (!open)
        kj_fix(s->diag, m, at, "%s", parts);
}

/* A sum compared with one of its parts asks whether it wrapped; whether a difference is 0 does not depend on that. */
static void see_compared(kj_sema *s, const kj_expr *e, const kj_expr *sum, const kj_expr *other)
{
    bool equal = e->u.binary.op == KJ_OP_EQ || e->u.binary.op == KJ_OP_NE;
    if (!is_sum(sum) || (equal && sum->u.binary.op == KJ_OP_SUB) ||
        is_same_text(s, sum->u.binary.lhs->span, other->span) ||
        is_same_text(s, sum->u.binary.rhs->span, other->span))
        return;
    warn(s, sum, "compared", NULL, false);
}

void kj_sema_run_narrow_operator(kj_sema *s, const kj_expr *e)
{
    kj_op op = e->u.binary.op;
    const kj_expr *lhs = e->u.binary.lhs, *rhs = e->u.binary.rhs;
    if (op == KJ_OP_FLOORDIV || op == KJ_OP_MOD || op == KJ_OP_SHR) {
        bool same = kj_run_known(s, rhs).literal;
        warn(s, lhs, op == KJ_OP_SHR ? "shifted right" : "divided", same ? e : NULL, !same);
    } else if (kj_ops[op].class == KJ_OPS_COMPARE) {
        see_compared(s, e, lhs, rhs);
        see_compared(s, e, rhs, lhs);
    }
}

/* f32(a + b): the parts are converted to that type where it holds the sum. */
static void see_conversion(kj_sema *s, const kj_expr *e, const kj_expr *sum, kj_dtype to)
{
    range r = {0, 0};
    kj_dtype type = s->diag->wanted && to < KJ_NTYPES ? wraps(s, sum, &r) : KJ_VOID;
    if (type == KJ_VOID || kj_types[to].bits <= kj_types[type].bits || to == KJ_BOOL)
        return;
    bool holds = kj_is_float(to) ? to != KJ_F16 : fits(r, of_type(to));
    if (!holds) {
        warn(s, sum, "widened", NULL, false);
        return;
    }
    kj_message *m = kj_warn(s->diag, sum->span, KJ_RULE_NARROW_ARITHMETIC,
                            "this is computed in %s, where it can wrap, before it is widened",
                            kj_type_name(type));
    const char *parts = converted(s, sum, kj_type_name(to), sum->span);
    if (!parts) {
        kj_hint(s->diag, m, "convert its first operand: %s(...); where wrapping is meant, %s(...)",
                kj_type_name(to), kj_type_name(type));
        return;
    }
    if (!kj_stands_alone(s->diag->source, e->span))
        parts = kj_arena_printf(s->diag->arena, "(%s)", parts);
    kj_hint(s->diag, m, "write %s; where wrapping is meant, %s(%s)", parts, kj_type_name(type),
            kj_source_text(s, sum->span, "..."));
    kj_fix(s->diag, m, e->span, "%s", parts);
}

void kj_sema_run_narrow_call(kj_sema *s, const kj_expr *e, int row)
{
    const kj_expr *callee = e->u.call.callee, *args = e->u.call.args;
    const kj_symbol *sym = kj_scope_named(s->scope, callee);
    if (sym && sym->kind == KJ_SYM_TYPE && args && !args->next && !args->keyword)
        see_conversion(s, e, args, sym->type);
    else if (row == KJ_RUN_M_SUM || row == KJ_RUN_M_MEAN)
        warn(s, callee->u.member.base, "summed up", NULL, false);
    else if ((row == KJ_RUN_SUM || row == KJ_RUN_MEAN) && args && !args->keyword)
        warn(s, args, "summed up", NULL, false);
}
