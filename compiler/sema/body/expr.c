/* Expressions, the dispatch over their kinds: one AST node in, an operand with its type out. */
#include <string.h>

#include "sema/body/body.h"

kj_operand kj_symbol_value(kj_sema *s, kj_symbol *sym, kj_span span)
{
    if (sym->kind == KJ_SYM_CONST)
        kj_const_resolve(s, sym);
    if (sym->kind == KJ_SYM_BUILTIN && sym->builtin == KJ_BI_LANEID)
        return kj_scalar(kj_te_index(s, KJ_LANE_ID, 0, span));
    if (sym->kind == KJ_SYM_BUILTIN && sym->builtin == KJ_BI_WARPSIZE)
        return kj_scalar(kj_te_i64(s, KJ_WARP, span));
    if (sym->kind != KJ_SYM_VALUE && sym->kind != KJ_SYM_CONST)
        return (kj_operand){.kind = KJ_V_SYMBOL, .span = span, .u.symbol = sym};
    kj_operand v = sym->value;
    v.span = span;
    if (v.kind == KJ_V_SCALAR) {
        const kj_texpr *leaf = v.u.scalar.e; /* a name, a constant, a size or an index */
        kj_texpr *e = kj_te(s, leaf->kind, leaf->type, span);
        e->u = leaf->u;
        e->written = leaf->kind == KJ_TE_CONST && leaf->written;
        if (leaf->kind == KJ_TE_CONST && sym->kind == KJ_SYM_CONST)
            e->u.from = span;
        v = kj_scalar(e);
    } else if (v.kind == KJ_V_ARRAY && v.u.array->space == KJ_CONST &&
               v.u.array->root == v.u.array && v.u.array->id < 0) {
        v.u.array = kj_const_array(s, v.u.array);
    }
    return kj_open_read(s, v);
}

static kj_operand name_expr(kj_sema *s, const kj_expr *e)
{
    kj_symbol *sym = kj_scope_find(s->scope, e->u.name);
    if (sym)
        return kj_symbol_value(s, sym, e->span);
    kj_undeclared(s, e->u.name, e->span);
    return kj_no_value(e->span);
}

void kj_expr_list(kj_sema *s, const kj_expr *e, kj_operand *out, int n)
{
    for (int i = 0; i < n; i++, e = e->next) {
        kj_tstmt **at = s->sink->tail;
        out[i] = kj_expr_untyped(s, e, KJ_VOID);
        for (int j = 0; j < i && kj_could_see(s, at, &out[i]); j++)
            kj_spill(s, &out[j], &at);
    }
}

/* An operator's operand: of operators of literals it may be beyond 64 bits. */
static kj_operand operand(kj_sema *s, const kj_expr *e, kj_dtype want)
{
    s->exact = e->kind == KJ_E_BINARY || e->kind == KJ_E_UNARY;
    kj_operand v = kj_expr_untyped(s, e, want);
    s->exact = false;
    return v;
}

static kj_operand binary_expr(kj_sema *s, const kj_expr *e, kj_dtype want)
{
    const kj_expr *around = s->compares;
    bool exact = s->exact || kj_is_float(want);
    if (kj_ops[e->u.binary.op].class == KJ_OPS_COMPARE)
        s->compares = e;
    kj_operand v[2] = {operand(s, e->u.binary.lhs, KJ_VOID)};
    kj_tstmt **at = s->sink->tail;
    v[1] = operand(s, e->u.binary.rhs, KJ_VOID);
    s->compares = around;
    if (!kj_literals_meet(s, v) || kj_joins_comparison(s, e, &v[0], &v[1]))
        return kj_no_value(e->span);
    if (kj_could_see(s, at, &v[1]))
        kj_spill(s, &v[0], &at);
    s->divides = e->u.binary.op == KJ_OP_DIV ? e : NULL;
    s->exact = exact;
    kj_operand result = kj_binary(s, e->u.binary.op, v[0], v[1], e->span);
    s->exact = false;
    return kj_is_float(want) ? kj_literal_as_float(result) : result;
}

static kj_operand unary_expr(kj_sema *s, const kj_expr *e, kj_dtype want)
{
    bool exact = s->exact;
    kj_operand v = e->u.unary.op == KJ_OP_NOT ? kj_expr_untyped(s, e->u.unary.arg, want)
                                              : operand(s, e->u.unary.arg, want);
    s->exact = exact;
    v = kj_unary(s, e->u.unary.op, v, e->span);
    s->exact = false;
    return v;
}

static kj_operand tuple_expr(kj_sema *s, const kj_expr *e)
{
    int n = e->u.list.n;
    kj_operand *items = KJ_NEW_ARRAY(s->arena, kj_operand, (size_t)n + 1);
    kj_expr_list(s, e->u.list.items, items, n);
    for (int i = 0; i < n; i++)
        if (items[i].kind == KJ_V_ERROR)
            return kj_no_value(e->span);
    return kj_tuple(items, n, NULL, e->span);
}

/* a < b < c: a < b and b < c, with b evaluated once and c only when it is needed. From the comparison with `next` on,
 * which is number i; `given`: what each one gives. */
static kj_operand chain_rest(kj_sema *s, const kj_expr *e, kj_operand a, const kj_expr *next, int i,
                             kj_operand *given)
{
    bool last = i + 1 == e->u.chain.nops;
    kj_tstmt **at = s->sink->tail;
    kj_operand b = kj_expr_untyped(s, next, KJ_VOID);
    if (!last) /* it is compared twice */
        b = kj_hold_value(s, b, "t");
    if (kj_could_see(s, at, &b))
        kj_spill(s, &a, &at);
    given[i] = kj_binary(s, e->u.chain.ops[i], a, b, (kj_span){a.span.begin, next->span.end});
    if (last || given[i].kind == KJ_V_ERROR || b.kind == KJ_V_ERROR)
        return given[i];
    kj_texpr *test = given[i].kind == KJ_V_SCALAR ? given[i].u.scalar.e : NULL;
    bool never = test && kj_is_const(test) && test->u.value.u == 0;
    kj_branch branch;
    kj_branch_open(s, &branch, never);
    kj_operand rest = chain_rest(s, e, b, next->next, i + 1, given);
    rest = kj_branch_close(s, &branch, rest, e->span);
    if (!test || rest.kind != KJ_V_SCALAR)
        return kj_no_value(e->span);
    return kj_scalar(kj_te_logic(s, false, test, rest.u.scalar.e, e->span));
}

enum { HINTED = 8 }; /* a hint has so many pieces at most */

/* Of vectors, which give a bool a part: the comparisons one by one. */
static void refuse_chain(kj_sema *s, const kj_expr *e, const kj_operand *given)
{
    const char *text = "";
    const kj_expr *a = e->u.chain.operands;
    int n = e->u.chain.nops;
    for (int i = 0; i < n && n <= HINTED; i++, a = a->next) {
        const char *one = kj_arena_printf(
            s->diag->arena, "%s %s %s", kj_operand_text(s, a->span, "..."),
            kj_ops[e->u.chain.ops[i]].spelling, kj_operand_text(s, a->next->span, "..."));
        if (given[i].kind == KJ_V_TUPLE)
            one = kj_arena_printf(s->diag->arena, "%s(%s)",
                                  e->u.chain.ops[i] == KJ_OP_NE ? "any" : "all", one);
        text = kj_arena_printf(s->diag->arena, "%s%s%s", text, i ? " and " : "", one);
    }
    kj_message *m = kj_sema_error(s, e->span, KJ_RULE_NOT_BOOL,
                                  "a chain of comparisons is of scalars, not of vectors");
    kj_hint(s->diag, m, "write %s",
            n <= HINTED
                ? text
                : "all(a < b) and all(b < c)"); /* no edit: there may be a `not` before it */
}

static kj_operand chain_expr(kj_sema *s, const kj_expr *e)
{
    int n = e->u.chain.nops;
    bool vectors = false, wrong = false;
    kj_operand *given = KJ_NEW_ARRAY(s->arena, kj_operand, (size_t)n);
    for (int i = 0; i < n; i++)
        given[i] = kj_no_value(e->span);
    const kj_expr *around = s->compares;
    s->compares = e;
    kj_operand first = kj_expr_untyped(s, e->u.chain.operands, KJ_VOID);
    kj_operand v = chain_rest(s, e, first, e->u.chain.operands->next, 0, given);
    s->compares = around;
    for (int i = 0; i < n; i++) {
        vectors |= given[i].kind == KJ_V_TUPLE;
        wrong |= given[i].kind == KJ_V_ERROR;
    }
    if (!vectors)
        return v;
    if (!wrong)
        refuse_chain(s, e, given);
    return kj_no_value(e->span);
}

static kj_operand logic_expr(kj_sema *s, const kj_expr *e)
{
    bool is_or = e->u.logic.is_or;
    const char *what = is_or ? "an operand of 'or'" : "an operand of 'and'";
    kj_texpr *a = kj_condition(s, kj_expr_value(s, e->u.logic.lhs, KJ_VOID), what);
    bool known = a && kj_is_const(a);
    bool decided = known && (a->u.value.u != 0) == is_or;
    kj_operand right;
    if (known && !decided) {
        right = kj_expr_value(s, e->u.logic.rhs, KJ_VOID);
    } else {
        kj_branch branch;
        kj_branch_open(s, &branch, decided);
        right = kj_expr_value(s, e->u.logic.rhs, KJ_VOID);
        right = kj_branch_close(s, &branch, right, e->u.logic.rhs->span);
    }
    if (a && kj_repeats_comparison(s, e, &right))
        return kj_no_value(e->span);
    kj_texpr *b = kj_condition(s, right, what);
    if (!a || !b)
        return kj_no_value(e->span);
    if (!decided && kj_is_const(b) &&
        (b->u.value.u != 0) == is_or) { /* then the first one does not matter */
        kj_operand first = kj_scalar(a);
        kj_keep_effects(s, &first);
        return kj_scalar(b);
    }
    return kj_scalar(kj_te_logic(s, is_or, a, b, e->span));
}

/* Tuples that are written as such may be chosen item by item. */
static void hint_items(kj_sema *s, kj_message *m, const kj_expr *e)
{
    const kj_expr *yes = e->u.cond.yes, *no = e->u.cond.no;
    if (yes->kind != KJ_E_TUPLE || no->kind != KJ_E_TUPLE || yes->u.list.n != no->u.list.n ||
        yes->u.list.n < 2 || yes->u.list.n > HINTED) {
        kj_hint(s->diag, m, "use an if statement");
        return;
    }
    const char *text = "", *test = kj_source_text(s, e->u.cond.test->span, "test");
    yes = yes->u.list.items;
    no = no->u.list.items;
    for (; yes; yes = yes->next, no = no->next)
        text = kj_arena_printf(s->diag->arena, "%s%s%s if %s else %s", text, *text ? ", " : "",
                               kj_operand_text(s, yes->span, "..."), test,
                               kj_operand_text(s, no->span, "..."));
    kj_hint(s->diag, m, "write (%s)", text);
}

static bool is_choosable(kj_sema *s, const kj_expr *e, const kj_operand *v)
{
    if (v->kind == KJ_V_SCALAR || kj_is_untyped(v))
        return true;
    if (v->kind != KJ_V_ERROR) {
        kj_message *m =
            kj_sema_error(s, v->span, KJ_RULE_TYPE_MISMATCH,
                          "a conditional expression chooses one value, not %s", kj_describe(s, v));
        hint_items(s, m, e);
    }
    return false;
}

/* The chosen one of two; both are of one type, as an aggregate's arms must be. */
static kj_operand choose_known(kj_sema *s, kj_operand *v, bool first, kj_dtype want)
{
    bool typed = kj_is_aggregate(&v[0]);
    if (kj_is_complex(&v[0]) || kj_is_complex(&v[1]))
        return kj_complex_unify(s, v, 2, want, v[0].span, "a conditional expression")
                   ? v[first ? 0 : 1]
                   : kj_no_value(v[0].span);
    const kj_aggregate *of = v[typed ? 0 : 1].u.tuple.of;
    kj_operand other = v[typed ? 1 : 0];
    if (other.kind != KJ_V_ERROR)
        other = kj_coerce_aggregate(s, other, of, "the other choice");
    if (other.kind == KJ_V_ERROR)
        return other;
    v[typed ? 1 : 0] = other;
    return v[first ? 0 : 1];
}

static kj_texpr *choice_variable(kj_sema *s, void *ctx, const kj_field *part)
{
    const kj_expr *e = ctx;
    kj_var *var = kj_new_var(s, "choice", e->span, part->type, true);
    kj_emit_decl(s, var, NULL, e->span);
    return kj_te_var(s, var, e->span);
}

void kj_assign_parts(kj_sema *s, const kj_operand *to, const kj_operand *v)
{
    if (to->kind == KJ_V_SCALAR)
        kj_emit_assign(s, to->u.scalar.e->u.var, v->u.scalar.e, v->span);
    for (int i = 0; to->kind == KJ_V_TUPLE && i < to->u.tuple.n; i++)
        kj_assign_parts(s, &to->u.tuple.items[i], &v->u.tuple.items[i]);
}

/* An if statement that assigns variables, a part each; before[i]: what v[i] needs computed. */
static kj_operand choose_aggregate(kj_sema *s, const kj_expr *e, kj_texpr *test, kj_operand *v,
                                   kj_tstmt **before, kj_dtype want)
{
    kj_expr place = *e;
    kj_operand out = choose_known(s, v, true, want);
    if (out.kind == KJ_V_ERROR)
        return out;
    out = kj_build(s, out.u.tuple.of, choice_variable, &place, e->span);
    for (int i = 0; i < 2; i++) {
        kj_sink sink;
        kj_sink_open(s, &sink);
        kj_splice(s, before[i], false);
        kj_assign_parts(s, &out, &v[i]);
        before[i] = kj_sink_close(s, &sink);
    }
    kj_tstmt *st = kj_emit(s, KJ_TS_IF, e->span);
    st->u.if_.test = test;
    st->u.if_.yes = before[0];
    st->u.if_.no = before[1];
    return out;
}

static kj_operand cond_expr(kj_sema *s, const kj_expr *e, kj_dtype want)
{
    kj_texpr *test = kj_condition(s, kj_expr_value(s, e->u.cond.test, KJ_VOID), "a condition");
    bool known = test && kj_is_const(test), taken = known && test->u.value.u != 0;
    const kj_expr *arms[2] = {e->u.cond.yes, e->u.cond.no};
    kj_operand v[2];
    kj_tstmt *before[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) {
        if (known && (i == 0) == taken) {
            v[i] = kj_expr_untyped(s, arms[i], want);
            continue;
        }
        kj_branch branch;
        kj_branch_open(s, &branch, known);
        v[i] = kj_expr_untyped(s, arms[i], want);
        bool several = kj_is_aggregate(&v[i]) || v[i].kind == KJ_V_ARRAY;
        if (several && !known && !branch.sink.barrier)
            before[i] = kj_sink_close(s, &branch.sink);
        else
            v[i] = kj_branch_close(s, &branch, v[i], arms[i]->span);
    }
    if (test && (v[0].kind == KJ_V_ARRAY || v[1].kind == KJ_V_ARRAY)) {
        if (!kj_same_arrays(s, v, e->span))
            return kj_no_value(e->span);
        return known ? v[taken ? 0 : 1] : kj_choose_array(s, test, v, before, e->span);
    }
    if (test && (kj_is_aggregate(&v[0]) || kj_is_aggregate(&v[1])))
        return known ? choose_known(s, v, taken, want)
                     : choose_aggregate(s, e, test, v, before, want);
    if (!test || !is_choosable(s, e, &v[0]) || !is_choosable(s, e, &v[1]))
        return kj_no_value(e->span);
    return kj_conditional(s, test, v[0], v[1], want, e->span);
}

static kj_operand refuse(kj_sema *s, const kj_expr *e, const char *text, const char *hint)
{
    kj_message *m = kj_sema_error(s, e->span, KJ_RULE_NOT_A_VALUE, "%s", text);
    kj_hint(s->diag, m, "%s", hint);
    return kj_no_value(e->span);
}

/* A name with dots, or a member of a value. */
static kj_operand member_place(kj_sema *s, const kj_expr *e)
{
    const kj_expr *base = e->u.member.base;
    bool of_file = kj_is_of_file(s->scope, e);
    kj_symbol *dotted = of_file ? kj_member_of_file(s, e) : kj_named(s, e);
    if (dotted)
        return kj_symbol_value(s, dotted, e->span);
    if (of_file)
        return kj_no_value(e->span);
    if (base->kind == KJ_E_NAME && kj_is_module(base->u.name) &&
        !kj_scope_find(s->scope, base->u.name))
        return kj_module_member(s, e);
    return kj_member_of(s, e, kj_place_expr(s, base));
}

/* for o in [16, 8, 4] */
static kj_operand refuse_list_loop(kj_sema *s, const kj_expr *e)
{
    kj_message *m =
        kj_sema_error(s, e->span, KJ_RULE_NOT_A_VALUE, "a kernel's loop runs over no list");
    const char *text = s->diag->source->text + e->span.begin;
    int n = (int)(e->span.end - e->span.begin);
    if (n > 2 && e->u.list.items && e->u.list.items->next && text[0] == '[' && text[n - 1] == ']')
        kj_write(s->diag, m, e->span, "(%.*s)", n - 2, text + 1);
    return kj_no_value(e->span);
}

static kj_operand expr(kj_sema *s, const kj_expr *e, kj_dtype want)
{
    switch (e->kind) {
    case KJ_E_INT: return kj_literal_integer(e->u.integer, e->span);
    case KJ_E_FLOAT: return kj_literal(kj_float(KJ_F64, e->u.real), e->span);
    case KJ_E_IMAG:
        return kj_complex(s, kj_literal(kj_float(KJ_F64, 0), e->span),
                          kj_literal(kj_float(KJ_F64, e->u.real), e->span), e->span);
    case KJ_E_BOOL: return kj_scalar(kj_te_bool(s, e->u.integer != 0, e->span));
    case KJ_E_STRING:
    case KJ_E_FORMAT:
        if (kj_is_of_const(s->diag->source, e->span))
            return refuse(s, e, "a constant is no text",
                          "a text stands in a run block: run { let name = \"text\" }");
        return refuse(s, e, "a kernel has no strings",
                      "a text stands by itself: print(\"x is\", x), assert(x > 0, \"text\")");
    case KJ_E_NAME: return name_expr(s, e);
    case KJ_E_UNARY: return unary_expr(s, e, want);
    case KJ_E_BINARY: return binary_expr(s, e, want);
    case KJ_E_CHAIN: return chain_expr(s, e);
    case KJ_E_LOGIC: return logic_expr(s, e);
    case KJ_E_COND: return cond_expr(s, e, want);
    case KJ_E_CALL: return kj_call_expr(s, e, want);
    case KJ_E_INDEX: return kj_index_expr(s, e);
    case KJ_E_SLICE: return refuse(s, e, "a slice stands only inside []", "write a[start:stop]");
    case KJ_E_MEMBER: return kj_place_value(s, member_place(s, e));
    case KJ_E_TUPLE: return tuple_expr(s, e);
    case KJ_E_LIST:
        if (s->iterates == e)
            return refuse_list_loop(s, e);
        return kj_refuse_list(s, e);
    }
    return kj_no_value(e->span);
}

static kj_operand any(kj_sema *s, const kj_expr *e, kj_dtype want, bool place)
{
    if (s->too_big)
        return kj_no_value(e->span);
    kj_operand v;
    if (s->each && kj_each_find(s, e, &v)) {
        v.span = e->span;
        return v;
    }
    if (++s->depth > KJ_MAX_NESTING) {
        kj_sema_error(s, e->span, KJ_RULE_TOO_DEEP, "this is nested too deeply");
        s->too_big = true;
        s->depth--;
        return kj_no_value(e->span);
    }
    kj_dtype meant = s->meant;
    s->meant = kj_meant_within(s, e, want);
    v = place && e->kind == KJ_E_INDEX    ? kj_index_place(s, e)
        : place && e->kind == KJ_E_MEMBER ? member_place(s, e)
                                          : expr(s, e, want);
    v.span = e->span;
    s->meant = meant;
    s->depth--;
    s->lost |= v.kind == KJ_V_ERROR && !kj_is_hypothetical(s);
    return v;
}

kj_operand kj_expr_any(kj_sema *s, const kj_expr *e, kj_dtype want)
{
    return any(s, e, want, false);
}

kj_operand kj_place_expr(kj_sema *s, const kj_expr *e)
{
    return any(s, e, KJ_VOID, true);
}

kj_operand kj_expr_value(kj_sema *s, const kj_expr *e, kj_dtype want)
{
    kj_operand v = kj_expr_untyped(s, e, want);
    const kj_aggregate *of = kj_sema_aggregate(s, want);
    return kj_settle_as(s, v, of ? of->elem : want);
}

kj_operand kj_expr_untyped(kj_sema *s, const kj_expr *e, kj_dtype want)
{
    return kj_checked_value(s, e, kj_expr_any(s, e, want));
}

/* ---- For whom operators compute ---- */

static kj_operand expr_meant(kj_sema *s, const kj_expr *e, kj_dtype want, kj_dtype as)
{
    kj_dtype meant = s->meant;
    s->meant = kj_is_int(as) && kj_has_floats(s, e) ? KJ_VOID : as;
    kj_operand v = kj_expr_untyped(s, e, want);
    s->meant = meant;
    return v;
}

kj_operand kj_expr_for(kj_sema *s, const kj_expr *e, kj_dtype want)
{
    return expr_meant(s, e, want, kj_is_int(want) ? want : KJ_VOID);
}

/* int(n / 2) of Python and C cuts off towards 0, which `//` does not; f64 has the quotient of all i32 exactly. */
kj_operand kj_expr_converted(kj_sema *s, const kj_expr *e, kj_dtype to)
{
    return expr_meant(s, e, to, kj_is_int(to) && !kj_has_floats(s, e) ? KJ_F64 : KJ_VOID);
}

kj_operand kj_index_whole(kj_sema *s, const kj_expr *e)
{
    return expr_meant(s, e, KJ_VOID, KJ_I64);
}

void kj_index_list(kj_sema *s, const kj_expr *e, kj_operand *out, int n)
{
    kj_dtype meant = s->meant;
    bool floats = false;
    for (const kj_expr *item = e; item; item = item->next)
        floats |= kj_has_floats(s, item);
    s->meant = floats ? KJ_VOID : KJ_I64;
    kj_expr_list(s, e, out, n);
    s->meant = meant;
}

/* ---- Values of names ---- */

kj_operand kj_checked_value(kj_sema *s, const kj_expr *e, kj_operand v)
{
    if (v.kind == KJ_V_NONE) {
        kj_sema_error(s, e->span, KJ_RULE_NO_VALUE, "this call gives no value");
        return kj_no_value(e->span);
    }
    if (v.kind != KJ_V_SYMBOL)
        return v;
    const kj_symbol *sym = v.u.symbol;
    kj_message *m;
    switch (sym->kind) {
    case KJ_SYM_TYPE:
        if (kj_in_type_arguments(s, e->span))
            return kj_no_value(e->span);
        m = kj_sema_error(s, e->span, KJ_RULE_NOT_A_VALUE, "'%s' is a type, not a value",
                          sym->name);
        if (sym->item && sym->item->enumerates && sym->item->next)
            kj_hint(s->diag, m, "a value of it is written %s", sym->item->next->name);
        else
            kj_hint(s->diag, m, "a conversion is written %s(x)", sym->name);
        break;
    case KJ_SYM_FN:
        m = kj_sema_error(s, e->span, KJ_RULE_NOT_A_VALUE, "'%s' is a function, not a value",
                          sym->name);
        kj_hint(s->diag, m, "a call is written %s(...)", kj_source_text(s, e->span, sym->name));
        break;
    case KJ_SYM_KERNEL:
        m = kj_sema_error(s, e->span, KJ_RULE_NOT_A_VALUE, "'%s' is a kernel, not a value",
                          sym->name);
        kj_hint(
            s->diag, m,
            "kernels are launched by the run block, or by kernels: launch %s[blocks, threads](...)",
            sym->name);
        break;
    case KJ_SYM_RUN_FN:
        m = kj_sema_error(s, e->span, KJ_RULE_NOT_A_VALUE, "'%s' is a function of run blocks",
                          sym->name);
        break;
    case KJ_SYM_FILE:
        m = kj_sema_error(s, e->span, KJ_RULE_NOT_A_VALUE,
                          "'%s' is a file's namespace, not a value", sym->name);
        kj_hint(s->diag, m, "a name of it is written %s.name", sym->name);
        break;
    default:
        m = kj_sema_error(s, e->span, KJ_RULE_NOT_A_VALUE, "'%s' is not a value", sym->name);
        if (sym->builtin == KJ_BI_THREADIDX || sym->builtin == KJ_BI_BLOCKIDX ||
            sym->builtin == KJ_BI_BLOCKDIM || sym->builtin == KJ_BI_GRIDDIM)
            kj_hint(s->diag, m, "write %s.x, .y or .z", sym->name);
        else if (sym->kind == KJ_SYM_BUILTIN)
            kj_hint(s->diag, m, "a call is written %s(...)", sym->name);
        kj_fix_type_arguments(s, m);
        break;
    }
    return kj_no_value(e->span);
}

kj_dtype kj_dtype_argument(kj_sema *s, const kj_expr *e)
{
    if (e->kind == KJ_E_NAME)
        return kj_type_by_name(s, e->u.name, e->span);
    if (kj_is_of_file(s->scope, e)) {
        kj_symbol *sym = kj_member_of_file(s, e);
        return sym ? kj_type_of_symbol(s, sym, sym->name, e->span) : KJ_VOID;
    }
    if (e->kind == KJ_E_MEMBER && kj_expr_any(s, e, KJ_VOID).kind == KJ_V_ERROR)
        return KJ_VOID; /* np.float32: said what to write */
    kj_message *m = kj_sema_error(s, e->span, KJ_RULE_NOT_A_TYPE, "a type is expected here");
    kj_hint_types(s, m);
    return KJ_VOID;
}
