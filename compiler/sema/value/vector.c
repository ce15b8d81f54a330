/* Small vectors: construction, arithmetic and builtins, part by part; scalars beside them are
 * repeated. */
#include <string.h>

#include "base/guard.h"
#include "sema/value/value.h"

enum { MOST_PARTS = KJ_MAX_PARTS, MOST_ARGS = 3 };

static bool is_vector(const kj_operand *v)
{
    return kj_is_aggregate(v) && v->u.tuple.of->kind == KJ_VECTOR;
}

static bool is_number(const kj_operand *v)
{
    return v->kind == KJ_V_LITERAL || (v->kind == KJ_V_SCALAR && v->u.scalar.e->type != KJ_BOOL);
}

/* A scalar that stands beside several parts: a product keeps its factors, so that it may be fused
 * with each of them. */
static kj_operand repeatable(kj_sema *s, kj_operand v)
{
    if (v.kind != KJ_V_SCALAR)
        return v;
    if (!v.u.scalar.a)
        return kj_scalar(kj_hold(s, v.u.scalar.e, "t"));
    v.u.scalar.a = kj_hold(s, v.u.scalar.a, "t");
    v.u.scalar.b = kj_hold(s, v.u.scalar.b, "t");
    v.u.scalar.e = kj_te_binary(s, KJ_OP_MUL, v.u.scalar.a, v.u.scalar.b, v.span);
    return v;
}

/* The bools of a comparison, or one. */
static bool is_mask(const kj_operand *v)
{
    return kj_type_of(v->kind == KJ_V_TUPLE && v->u.tuple.n > 0 ? v->u.tuple.items : v) == KJ_BOOL;
}

/* v * (2.0, 3.0): a vector of the others' type is meant. */
static void hint_as_vector(kj_sema *s, kj_message *m, const kj_operand *v, int n,
                           const kj_operand *tuple)
{
    const char *text = s->diag->source->text + tuple->span.begin;
    for (int i = 0; i < n; i++)
        if (is_vector(&v[i]) && tuple->kind == KJ_V_TUPLE && !tuple->u.tuple.of &&
            tuple->u.tuple.n == v[i].u.tuple.n && *text == '(') {
            kj_write(s->diag, m, tuple->span, "%s%.*s", v[i].u.tuple.of->name,
                     (int)(tuple->span.end - tuple->span.begin), text);
            return;
        }
}

/* How many parts the vectors among the operands have; 0 after an error. The others are made
 * repeatable. `letters` is the signature of a builtin, which may take bools. */
static int common_count(kj_sema *s, kj_operand *v, int n, const char *letters, kj_span span,
                        const char *what)
{
    const kj_operand *first = NULL;
    for (int i = 0; i < n; i++) {
        if (letters && letters[i] == 'b' && is_mask(&v[i]))
            continue;
        if (!is_vector(&v[i]) && !is_number(&v[i])) {
            kj_message *m = kj_sema_error(s, v[i].span, KJ_RULE_TYPE_MISMATCH,
                                          "%s works on vectors and numbers here, not on %s", what,
                                          kj_describe(s, &v[i]));
            hint_as_vector(s, m, v, n, &v[i]);
            return 0;
        }
        if (!is_vector(&v[i])) {
            v[i] = repeatable(s, v[i]);
            continue;
        }
        first = first ? first : &v[i];
    }
    for (int i = 0; i < n; i++) {
        if (v[i].kind == KJ_V_TUPLE && v[i].u.tuple.n != first->u.tuple.n) {
            kj_sema_error(s, span, KJ_RULE_TYPE_MISMATCH, "%s has %s beside %s", what,
                          kj_describe(s, first), kj_describe(s, &v[i]));
            return 0;
        }
    }
    return first->u.tuple.n;
}

static kj_operand part_of(const kj_operand *v, int i)
{
    return v->kind == KJ_V_TUPLE ? v->u.tuple.items[i] : *v;
}

/* The parts as a vector, bools as a tuple of them. */
static kj_operand joined(kj_operand *items, int n, kj_span span)
{
    kj_operand out = kj_tuple(items, n, NULL, span);
    kj_dtype type = items[0].u.scalar.e->type;
    out.u.tuple.of = kj_vector_of(type, n);
    KJ_REQUIRE(out.u.tuple.of || type == KJ_BOOL);
    return out;
}

/* ---- Operators ---- */

kj_operand kj_aggregate_binary(kj_sema *s, kj_op op, kj_operand a, kj_operand b, kj_span span)
{
    kj_operand v[2] = {a, b};
    int n = common_count(s, v, 2, NULL, span,
                         kj_arena_printf(s->diag->arena, "'%s'", kj_ops[op].spelling));
    kj_operand *items = KJ_NEW_ARRAY(s->arena, kj_operand, MOST_PARTS);
    s->lanes = n;
    bool ok = n > 0;
    for (int i = 0; ok && i < n; i++) {
        items[i] = kj_binary(s, op, part_of(&v[0], i), part_of(&v[1], i), span);
        ok = items[i].kind == KJ_V_SCALAR;
    }
    s->lanes = 0;
    return ok ? joined(items, n, span) : kj_no_value(span);
}

/* ---- Builtins ---- */

kj_operand kj_aggregate_builtin(kj_sema *s, const kj_expr *e, kj_builtin id, kj_operand *v, int n)
{
    const char *what = kj_arena_printf(s->diag->arena, "'%s'", kj_builtins[id].name),
               *letters = kj_builtin_letters(id);
    int parts = common_count(s, v, n, letters, e->span, what);
    if (parts && !kj_takes_parts(s, id, v, n))
        return kj_no_value(e->span);
    kj_operand *items = KJ_NEW_ARRAY(s->arena, kj_operand, MOST_PARTS);
    for (int i = 0; i < parts; i++) {
        kj_operand args[MOST_ARGS];
        for (int k = 0; k < n; k++)
            args[k] = part_of(&v[k], i);
        items[i] = kj_apply_builtin(s, e, id, KJ_VOID, args, n);
        if (items[i].kind == KJ_V_TUPLE)
            kj_sema_error(s, e->span, KJ_RULE_TYPE_MISMATCH, "%s works on single numbers", what);
        if (items[i].kind != KJ_V_SCALAR)
            return kj_no_value(e->span);
    }
    return parts ? joined(items, parts, e->span) : kj_no_value(e->span);
}

static kj_operand dot(kj_sema *s, const kj_expr *e, kj_operand *v)
{
    kj_operand sum = kj_no_value(e->span);
    for (int i = 0; i < 2; i++) {
        if (v[i].kind == KJ_V_ERROR)
            return sum;
        if (!is_vector(&v[i])) {
            kj_sema_error(s, v[i].span, KJ_RULE_TYPE_MISMATCH, "'dot' takes two vectors, not %s",
                          kj_describe(s, &v[i]));
            return sum;
        }
    }
    int n = common_count(s, v, 2, NULL, e->span, "'dot'");
    for (int i = 0; i < n; i++) {
        kj_operand product = kj_binary(s, KJ_OP_MUL, part_of(&v[0], i), part_of(&v[1], i), e->span);
        sum = i ? kj_binary(s, KJ_OP_ADD, sum, product, e->span) : product;
    }
    return kj_settle(s, sum);
}

/* all, any: of the bools that a comparison of vectors gives. */
static kj_operand all_any(kj_sema *s, const kj_expr *e, bool any, const kj_operand *v)
{
    kj_texpr *result = NULL;
    bool ok = v->kind == KJ_V_TUPLE && v->u.tuple.n > 0;
    for (int i = 0; ok && i < v->u.tuple.n; i++) {
        const kj_operand *item = &v->u.tuple.items[i];
        ok = item->kind == KJ_V_SCALAR && item->u.scalar.e->type == KJ_BOOL;
        if (ok)
            result = result ? kj_te_binary(s, any ? KJ_OP_OR : KJ_OP_AND, result, item->u.scalar.e,
                                           e->span)
                            : item->u.scalar.e;
    }
    if (ok)
        return kj_scalar(result);
    kj_message *m =
        kj_sema_error(s, v->span, KJ_RULE_TYPE_MISMATCH, "'%s' takes a tuple of bools, not %s",
                      any ? "any" : "all", kj_describe(s, v));
    kj_hint(s->diag, m, "a comparison of vectors gives one: %s(v < w)", any ? "any" : "all");
    return kj_no_value(e->span);
}

kj_operand kj_vector_builtin(kj_sema *s, const kj_expr *e, kj_builtin id, kj_operand *v)
{
    if (id == KJ_BI_DOT)
        return dot(s, e, v);
    return v[0].kind == KJ_V_ERROR ? v[0] : all_any(s, e, id == KJ_BI_ANY, &v[0]);
}

/* ---- Construction ---- */

/* f32x4(a, b, c, d), f32x4(a), f32x4(v), f32x4(v, w): converted as f32(x) does. */
kj_operand kj_construct_vector(kj_sema *s, const kj_expr *e, const kj_aggregate *of,
                               const kj_operand *v, int nargs)
{
    int n = 0;
    kj_operand parts[MOST_PARTS];
    for (int i = 0; i < nargs && nargs <= of->n; i++) {
        if (v[i].kind == KJ_V_ERROR)
            return v[i];
        if (!is_vector(&v[i]) && v[i].kind != KJ_V_LITERAL && v[i].kind != KJ_V_SCALAR) {
            kj_sema_error(s, v[i].span, KJ_RULE_TYPE_MISMATCH,
                          "%s(...) takes numbers and vectors, not %s", of->name,
                          kj_describe(s, &v[i]));
            return kj_no_value(e->span);
        }
        int count = is_vector(&v[i]) ? v[i].u.tuple.n : 1;
        for (int k = 0; k < count; k++, n++)
            if (n < MOST_PARTS)
                parts[n] = part_of(&v[i], k);
    }
    if (n != of->n && !(nargs == 1 && n == 1)) {
        kj_message *m =
            kj_sema_error(s, e->span, KJ_RULE_ARGUMENT_COUNT, "%s has %d parts, and %d are given",
                          of->name, of->n, nargs > of->n ? nargs : n);
        kj_hint(s->diag, m, "write %s(x) for %d times the same", of->name, of->n);
        return kj_no_value(e->span);
    }
    kj_operand *items = KJ_NEW_ARRAY(s->arena, kj_operand, (size_t)of->n);
    for (int i = 0; i < of->n; i++) {
        const kj_operand *part = &parts[n == 1 ? 0 : i];
        kj_texpr *x = part->kind == KJ_V_LITERAL
                          ? kj_te_const(s, kj_fold_convert(part->u.literal, of->elem), e->span)
                          : kj_te_convert(s, part->u.scalar.e, of->elem, e->span);
        if (x->kind == KJ_TE_VAR) { /* no variable of its own says that the type was asked for */
            x = kj_te_var(s, x->u.var, x->span);
            x->written = true;
        }
        items[i] = n == 1 && i ? items[0] : kj_scalar(kj_hold(s, x, of->name));
    }
    return kj_tuple(items, of->n, of, e->span);
}
