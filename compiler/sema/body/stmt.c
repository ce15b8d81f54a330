/* Statements: control flow, returns, calls. */
#include <math.h>
#include <string.h>

#include "sema/body/body.h"

/* ---- Blocks ---- */

/* A block in a scope of its own, into the current sink. */
static void block(kj_sema *s, const kj_stmt *body, bool tail)
{
    kj_scope_push(s);
    kj_stmts(s, body, tail);
    kj_scope_pop(s);
}

/* The same as a list of its own. */
static kj_tstmt *sub_block(kj_sema *s, const kj_stmt *body, bool tail, bool *barrier)
{
    kj_sink sink;
    kj_sink_open(s, &sink);
    block(s, body, tail);
    *barrier |= sink.barrier;
    return kj_sink_close(s, &sink);
}

/* Checked, and not kept. */
static void dead_block(kj_sema *s, const kj_stmt *body)
{
    kj_branch branch;
    kj_branch_open(s, &branch, true);
    block(s, body, false);
    kj_branch_close(s, &branch, (kj_operand){.kind = KJ_V_NONE}, (kj_span){0, 0});
}

static void mark_barrier(kj_sema *s, kj_tstmt *st, bool barrier)
{
    st->barrier = barrier;
    s->sink->barrier |= barrier;
}

/* ---- if, while, for ---- */

static void if_stmt(kj_sema *s, const kj_stmt *st, bool tail)
{
    kj_texpr *test = kj_condition(s, kj_expr_value(s, st->u.if_.test, KJ_VOID), "a condition");
    if (test && kj_is_const(test)) {
        bool taken = test->u.value.u != 0;
        dead_block(s, taken ? st->u.if_.no : st->u.if_.yes);
        block(s, taken ? st->u.if_.yes : st->u.if_.no, tail);
        return;
    }
    bool barrier = false;
    const kj_fact *known = s->facts;
    if (test)
        kj_facts_of(s, test, true);
    kj_tstmt *yes = sub_block(s, st->u.if_.yes, tail, &barrier);
    kj_facts_end(s, known);
    if (test)
        kj_facts_of(s, test, false);
    kj_tstmt *no = sub_block(s, st->u.if_.no, tail, &barrier);
    if (!kj_end_of(st->u.if_.yes))
        kj_facts_end(s, known);
    if (!test)
        return;
    kj_tstmt *made = kj_emit(s, KJ_TS_IF, st->span);
    made->u.if_.test = test;
    made->u.if_.yes = yes;
    made->u.if_.no = no;
    mark_barrier(s, made, barrier);
}

static bool loop_attrs(kj_sema *s, const kj_stmt *st)
{
    bool unroll = false;
    for (const kj_attr *attr = st->attrs; attr; attr = attr->next) {
        bool known = strcmp(attr->name, "unroll") == 0;
        if (known && st->kind != KJ_S_FOR) {
            kj_sema_error(s, attr->span, KJ_RULE_ATTRIBUTE, "@unroll is for 'for' loops");
            continue;
        }
        if (known && attr->args)
            kj_sema_error(s, attr->args->span, KJ_RULE_ATTRIBUTE, "@unroll takes no arguments");
        unroll |= known;
        if (known)
            continue;
        kj_message *m = kj_sema_error(s, attr->span, KJ_RULE_ATTRIBUTE,
                                      "'@%s' is no attribute of a loop", attr->name);
        kj_hint(s->diag, m, "a loop takes @unroll");
    }
    return unroll;
}

static void leave_unless(kj_sema *s, kj_texpr *test)
{
    kj_sink sink;
    kj_tstmt *made = kj_emit(s, KJ_TS_IF, test->span);
    made->u.if_.test = kj_te_unary(s, KJ_OP_NOT, test, test->span);
    kj_sink_open(s, &sink);
    kj_emit(s, KJ_TS_BREAK, test->span);
    made->u.if_.yes = kj_sink_close(s, &sink);
}

/* A condition with a barrier, already walked into the current sink, is part of the body: while true
 * { ...; if not v { break }; ... } */
static void while_together(kj_sema *s, const kj_stmt *st, kj_operand v)
{
    kj_texpr *test = kj_condition(s, v, "a condition");
    kj_sink *sink = s->sink;
    s->frame->loops++;
    if (test)
        leave_unless(s, test);
    block(s, st->u.while_.body, false);
    s->frame->loops--;
    kj_tstmt *body = kj_sink_close(s, sink);
    kj_tstmt *made = kj_emit(s, KJ_TS_WHILE, st->span);
    made->u.while_.test = kj_te_bool(s, true, st->span);
    made->u.while_.body = body;
    mark_barrier(s, made, true);
}

static void while_stmt(kj_sema *s, const kj_stmt *st)
{
    loop_attrs(s, st);
    kj_branch branch;
    kj_branch_open(s, &branch, false);
    kj_operand v = kj_expr_value(s, st->u.while_.test, KJ_VOID);
    if (branch.sink.barrier) {
        while_together(s, st, v);
        return;
    }
    v = kj_branch_close(s, &branch, v, st->u.while_.test->span);
    kj_texpr *test = kj_condition(s, v, "a condition");
    bool barrier = false;
    s->frame->loops++;
    if (test && kj_is_const(test) && test->u.value.u == 0) {
        dead_block(s, st->u.while_.body);
    } else {
        kj_tstmt *body = sub_block(s, st->u.while_.body, false, &barrier);
        if (test) {
            kj_tstmt *made = kj_emit(s, KJ_TS_WHILE, st->span);
            made->u.while_.test = test;
            made->u.while_.body = body;
            mark_barrier(s, made, barrier);
        }
    }
    s->frame->loops--;
}

/* Refuses a literal below 0 as the step of unsigned bounds, with a better word than that it does
 * not fit them. False after an error. */
static bool check_step(kj_sema *s, const kj_operand *v)
{
    const kj_value *step = &v[2].u.literal;
    kj_dtype type = KJ_VOID;
    for (int i = 0; i < 2; i++)
        if (v[i].kind == KJ_V_SCALAR)
            type = type == KJ_VOID ? v[i].u.scalar.e->type
                                   : kj_common_type(type, v[i].u.scalar.e->type);
    bool down = v[2].kind == KJ_V_LITERAL && kj_is_signed(step->type) && step->i < 0;
    if (!down || !kj_is_int(type) || kj_is_signed(type))
        return true;
    kj_message *m = kj_sema_error(s, v[2].span, KJ_RULE_CONSTANT_RANGE, "a range of %s counts up",
                                  kj_type_name(type));
    kj_hint(s->diag, m, "convert its bounds: i64(%s)",
            kj_source_text(s, v[v[0].kind != KJ_V_SCALAR].span, "n"));
    return false;
}

/* The bounds of range(...) in the loop's type: start, stop, step. False after an error. */
static bool range_bounds(kj_sema *s, const kj_expr *iter, kj_texpr *bounds[3])
{
    kj_operand v[3];
    int n = kj_count(iter->u.call.args);
    if (n < 1 || n > 3) {
        kj_arity_error(s, iter, "range", "(stop), range(start, stop) or range(start, stop, step)",
                       1, 3);
        return false;
    }
    if (!kj_no_keywords(s, iter, "range"))
        return false;
    kj_expr_list(s, iter->u.call.args, v, n);
    for (int i = 0; i < n; i++) {
        if (kj_no_number(s, &v[i], "range"))
            return false;
        kj_dtype t = v[i].kind == KJ_V_SCALAR ? v[i].u.scalar.e->type : kj_untyped_type(&v[i]);
        if (kj_is_float(t)) {
            kj_message *m = kj_sema_error(s, v[i].span, KJ_RULE_NOT_AN_INTEGER,
                                          "range takes integers, not %s", kj_describe(s, &v[i]));
            if (v[i].kind == KJ_V_SCALAR)
                kj_write(s->diag, m, v[i].span, "i32(%s)", kj_source_text(s, v[i].span, "..."));
            else if (v[i].kind == KJ_V_LITERAL && v[i].u.literal.f == trunc(v[i].u.literal.f))
                kj_write(s->diag, m, v[i].span, "%.0f", v[i].u.literal.f);
            else
                kj_hint(s->diag, m, "count turns, and compute with them: start + 0.5 * i");
            return false;
        }
    }
    if ((n == 3 && !check_step(s, v)) || !kj_unify(s, v, n, KJ_VOID, iter->span, "range"))
        return false;
    kj_dtype type = v[0].u.scalar.e->type;
    bounds[0] = n > 1 ? v[0].u.scalar.e : kj_te_const(s, kj_int(type, 0), iter->span);
    bounds[1] = n > 1 ? v[1].u.scalar.e : v[0].u.scalar.e;
    bounds[2] = n > 2 ? v[2].u.scalar.e : kj_te_const(s, kj_int(type, 1), iter->span);
    return true;
}

/* ---- for over arrays: loops over the numbers of the elements along the first axis ---- */

enum { MAX_ZIPPED = 8 };

/* numbered: the elements' numbers come first. */
typedef struct each_loop {
    kj_tarray *arrays[MAX_ZIPPED];
    int n;
    bool numbered;
} each_loop;

static bool calls(kj_sema *s, const kj_expr *e, kj_builtin id)
{
    const kj_symbol *callee = e->kind == KJ_E_CALL ? kj_named(s, e->u.call.callee) : NULL;
    return callee && callee->kind == KJ_SYM_BUILTIN && callee->builtin == id;
}

static bool refuse_iterated(kj_sema *s, const kj_expr *e, const kj_operand *v)
{
    if (v->kind == KJ_V_ERROR)
        return false;
    kj_message *m =
        kj_sema_error(s, e->span, KJ_RULE_NOT_A_RANGE,
                      "a for loop runs over range(...) or an array, not %s", kj_describe(s, v));
    if (v->kind == KJ_V_SCALAR || v->kind == KJ_V_LITERAL)
        kj_hint(s->diag, m, "write for i in range(%s)", kj_source_text(s, e->span, "n"));
    if (v->kind == KJ_V_SCALAR || v->kind == KJ_V_LITERAL)
        kj_fix(s->diag, m, e->span, "range(%s)", kj_source_text(s, e->span, "..."));
    return false;
}

static bool take_array(kj_sema *s, const kj_expr *e, each_loop *each)
{
    kj_operand v = kj_expr_value(s, e, KJ_VOID);
    if (v.kind != KJ_V_ARRAY)
        return refuse_iterated(s, e, &v);
    each->arrays[each->n++] = v.u.array;
    return true;
}

static bool take_arrays(kj_sema *s, const kj_expr *iter, each_loop *each)
{
    bool zip = calls(s, iter, KJ_BI_ZIP);
    each->numbered = calls(s, iter, KJ_BI_ENUMERATE);
    if (!zip && !each->numbered)
        return take_array(s, iter, each);
    const kj_expr *args = iter->u.call.args;
    const char *name = zip ? "zip" : "enumerate";
    int n = kj_count(args), least = zip ? 2 : 1, most = zip ? MAX_ZIPPED : 1;
    if (n < least || n > most) {
        kj_arity_error(s, iter, name, zip ? "(a, b, ...)" : "(a)", least, most);
        return false;
    }
    if (!kj_no_keywords(s, iter, name))
        return false;
    for (; args; args = args->next)
        if (!take_array(s, args, each))
            return false;
    return true;
}

static void refuse_names(kj_sema *s, const kj_stmt *st, int values, int names)
{
    kj_message *m = kj_sema_error(s, st->u.for_.names->span, KJ_RULE_TUPLE_ARITY,
                                  "this gives %d value%s a turn, and here %s %d name%s", values,
                                  values == 1 ? "" : "s", names == 1 ? "is" : "are", names,
                                  names == 1 ? "" : "s");
    if (values == 1 && names == 2)
        kj_hint(s->diag, m, "write enumerate(%s) for numbers and elements",
                kj_source_text(s, st->u.for_.iter->span, "a"));
}

static bool each_of(kj_sema *s, const kj_stmt *st, each_loop *each, kj_texpr *bounds[3])
{
    const kj_expr *iter = st->u.for_.iter;
    int names = 0;
    *each = (each_loop){.n = 0};
    for (const kj_name *name = st->u.for_.names; name; name = name->next)
        names++;
    if (!take_arrays(s, iter, each))
        return false;
    if (names != each->n + each->numbered) {
        refuse_names(s, st, each->n + each->numbered, names);
        return false;
    }
    kj_texpr *count = each->arrays[0]->shape[0];
    for (int i = 1; i < each->n; i++)
        count = kj_i64_min(s, count, each->arrays[i]->shape[0], iter->span);
    bounds[0] = kj_te_i64(s, 0, iter->span);
    bounds[1] = kj_hold(s, count, "count");
    bounds[2] = kj_te_i64(s, 1, iter->span);
    return true;
}

static void each_begin(kj_sema *s, const kj_name *name, const each_loop *each, kj_var *number)
{
    if (each->numbered) {
        kj_declare_value(s, name->name, name->span, KJ_ROLE_LOOP,
                         kj_scalar(kj_te_var(s, number, name->span)));
        name = name->next;
    }
    for (int i = 0; i < each->n; i++, name = name->next) {
        kj_texpr *at = kj_te_var(s, number, name->span);
        kj_operand v = kj_item_of(s, each->arrays[i], at, name->span);
        kj_declare_value(s, name->name, name->span, KJ_ROLE_LOOP,
                         kj_declared(s, name->name, name->span, false, v));
    }
}

/* ---- for ---- */

static bool has_one_name(kj_sema *s, const kj_name *name)
{
    if (name->next)
        kj_sema_error(s, name->next->span, KJ_RULE_TUPLE_ARITY,
                      "range gives one number a turn, and here are several names");
    return !name->next;
}

/* v: what counts the turns; NULL after an error. */
static void declare_names(kj_sema *s, const kj_name *name, const each_loop *each, kj_var *v)
{
    if (v && each->n) {
        each_begin(s, name, each, v);
        return;
    }
    for (; name; name = name->next)
        kj_declare_value(s, name->name, name->span, KJ_ROLE_LOOP,
                         v ? kj_scalar(kj_te_var(s, v, name->span)) : kj_no_value(name->span));
}

/* What is known of a variable that counts up. */
static void note_loop(kj_sema *s, const kj_var *v, kj_texpr *const bounds[3])
{
    int64_t most = kj_most(s, bounds[1]);
    s->vars[v->id].least = kj_least(s, bounds[0]);
    s->vars[v->id].most = most == INT64_MAX ? 0 : most;
}

static void for_stmt(kj_sema *s, const kj_stmt *st)
{
    const kj_name *name = st->u.for_.names;
    each_loop each = {.n = 0};
    kj_texpr *bounds[3] = {NULL, NULL, NULL};
    bool unroll = loop_attrs(s, st), barrier = false;
    bool ok = calls(s, st->u.for_.iter, KJ_BI_RANGE)
                  ? range_bounds(s, st->u.for_.iter, bounds) && has_one_name(s, name)
                  : each_of(s, st, &each, bounds);
    const char *counter = each.n && !each.numbered ? "number" : name->name;
    kj_var *v = ok ? kj_new_var(s, counter, name->span, bounds[0]->type, false) : NULL;
    if (v && kj_least(s, bounds[2]) >= 0)
        note_loop(s, v, bounds);
    kj_sink sink;
    kj_sink_open(s, &sink);
    kj_scope_push(s);
    declare_names(s, name, &each, v);
    s->frame->loops++;
    block(s, st->u.for_.body, false);
    s->frame->loops--;
    kj_scope_pop(s);
    barrier = sink.barrier;
    kj_tstmt *body = kj_sink_close(s, &sink);
    if (!v)
        return;
    kj_tstmt *made = kj_emit(s, KJ_TS_FOR, st->span);
    made->u.for_.var = v;
    made->u.for_.start = bounds[0];
    made->u.for_.stop = bounds[1];
    made->u.for_.step = bounds[2];
    made->u.for_.body = body;
    made->u.for_.unroll = unroll;
    mark_barrier(s, made, barrier);
}

static void loop_exit(kj_sema *s, const kj_stmt *st)
{
    bool stop = st->kind == KJ_S_BREAK;
    if (s->frame->loops == 0) {
        kj_message *m = kj_sema_error(s, st->span, KJ_RULE_OUTSIDE_LOOP,
                                      "'%s' stands outside of a loop", stop ? "break" : "continue");
        kj_hint(s->diag, m, "'return' ends the %s",
                s->frame->fn < 0 ? "kernel's thread" : "function");
        return;
    }
    kj_emit(s, stop ? KJ_TS_BREAK : KJ_TS_CONTINUE, st->span);
}

/* ---- return ---- */

static void assign_results(kj_sema *s, kj_frame *f, const kj_operand *v, int *at)
{
    if (v->kind == KJ_V_SCALAR)
        kj_emit_assign(s, f->results[(*at)++], v->u.scalar.e, v->span);
    for (int i = 0; v->kind == KJ_V_TUPLE && i < v->u.tuple.n; i++)
        assign_results(s, f, &v->u.tuple.items[i], at);
}

static bool has_array(const kj_type *t)
{
    for (int i = 0; i < t->n; i++)
        if (has_array(&t->parts[i]))
            return true;
    return t->kind == KJ_T_ARRAY;
}

/* The value of a return in the function's result type; KJ_V_ERROR after an error, KJ_V_NONE
 * without one. */
static kj_operand returned(kj_sema *s, kj_frame *f, const kj_stmt *st)
{
    kj_type *t = &f->result;
    kj_message *m;
    if (!st->u.expr) {
        if (t->kind == KJ_T_NONE || t->kind == KJ_T_ERROR)
            return (kj_operand){.kind = KJ_V_NONE, .span = st->span};
        m = kj_sema_error(s, st->span, KJ_RULE_RETURN_VALUE, "'%s' returns a value", f->item->name);
        kj_note(s->diag, m, f->item->type->span, "declared here");
        return kj_no_value(st->span);
    }
    kj_operand v = kj_expr_value(s, st->u.expr, kj_wanted(t));
    if (v.kind == KJ_V_ERROR || t->kind == KJ_T_ERROR)
        return kj_no_value(st->span);
    if (t->kind == KJ_T_NONE) {
        m = kj_sema_error(s, st->u.expr->span, KJ_RULE_RETURN_VALUE, "'%s' has no result",
                          f->item->name);
        if (f->fn < 0) {
            kj_hint(s->diag, m, "a kernel writes its results into arrays");
        } else {
            kj_operand settled = kj_settle(s, v);
            if (settled.kind == KJ_V_SCALAR || settled.kind == KJ_V_ARRAY)
                kj_hint(s->diag, m, "declare it: fn %s(...) -> %s", f->item->name,
                        kj_describe(s, &settled));
        }
        return kj_no_value(st->span);
    }
    v = kj_coerce_type(s, v, t,
                       kj_arena_printf(s->diag->arena, "the result of '%s'", f->item->name));
    if (v.kind != KJ_V_ERROR && !f->direct && has_array(t)) {
        m = kj_sema_error(s, st->span, KJ_RULE_RETURN_VALUE,
                          "a function that returns an array has one return, at its end");
        kj_hint(s->diag, m, "an array's name means one array on every path");
        return kj_no_value(st->span);
    }
    return v;
}

static void return_stmt(kj_sema *s, const kj_stmt *st, bool tail)
{
    kj_frame *f = s->frame;
    kj_operand v = returned(s, f, st);
    if (f->direct) {
        f->value = kj_settle(s, v);
        return;
    }
    int at = 0;
    if (v.kind == KJ_V_ERROR)
        return;
    assign_results(s, f, &v, &at);
    if (tail)
        return;
    kj_emit(s, KJ_TS_LEAVE, st->span)->u.leave = f->block;
    f->block->leaves |= !s->dead;
}

/* ---- Expressions as statements ---- */

static void expr_stmt(kj_sema *s, const kj_stmt *st)
{
    kj_operand v = kj_expr_any(s, st->u.expr, KJ_VOID);
    if (v.kind == KJ_V_ERROR || v.kind == KJ_V_NONE)
        return;
    if (st->u.expr->kind != KJ_E_CALL || v.kind == KJ_V_SYMBOL) {
        kj_message *m =
            kj_sema_error(s, st->u.expr->span, KJ_RULE_NO_EFFECT, "this value is not used");
        if (st->u.expr->kind == KJ_E_BINARY && st->u.expr->u.binary.op == KJ_OP_EQ)
            kj_hint(s->diag, m, "an assignment has one '='");
        else if (v.kind == KJ_V_SYMBOL && v.u.symbol->kind == KJ_SYM_BUILTIN)
            kj_hint(s->diag, m, "a call is written %s(...)", v.u.symbol->name);
        return;
    }
    kj_keep_effects(s, &v);
}

static void misplaced(kj_sema *s, const kj_stmt *st)
{
    if (st->kind != KJ_S_REQUIRES) {
        kj_sema_error(s, st->span, KJ_RULE_MISPLACED, "'%s' belongs to the run block",
                      st->kind == KJ_S_PARAM ? "param" : "with");
        return;
    }
    kj_message *m =
        kj_sema_error(s, st->span, KJ_RULE_MISPLACED, "'requires' stands at the head of a kernel");
    kj_hint(s->diag, m, "move it before the first other statement");
}

static void stmt(kj_sema *s, const kj_stmt *st, bool tail)
{
    switch (st->kind) {
    case KJ_S_LET: kj_let_stmt(s, st); break;
    case KJ_S_ASSIGN: kj_assign_stmt(s, st); break;
    case KJ_S_EXPR: expr_stmt(s, st); break;
    case KJ_S_IF: if_stmt(s, st, tail); break;
    case KJ_S_FOR: for_stmt(s, st); break;
    case KJ_S_WHILE: while_stmt(s, st); break;
    case KJ_S_BREAK:
    case KJ_S_CONTINUE: loop_exit(s, st); break;
    case KJ_S_RETURN: return_stmt(s, st, tail); break;
    case KJ_S_LAUNCH: kj_launch_stmt(s, st); break;
    case KJ_S_REQUIRES:
    case KJ_S_PARAM:
    case KJ_S_WITH: misplaced(s, st); break;
    }
}

void kj_stmts(kj_sema *s, const kj_stmt *list, bool tail)
{
    if (++s->depth > KJ_MAX_NESTING && list && !s->too_big) {
        kj_sema_error(s, list->span, KJ_RULE_TOO_DEEP, "this is nested too deeply");
        s->too_big = true;
    }
    kj_branch unreachable;
    const kj_fact *known = s->facts;
    bool ended = false;
    for (const kj_stmt *st = list; st && !s->too_big; st = st->next) {
        stmt(s, st, tail && !st->next);
        bool ends = st->kind == KJ_S_RETURN || st->kind == KJ_S_BREAK || st->kind == KJ_S_CONTINUE;
        if (ends && st->next && !ended) {
            ended = true;
            kj_branch_open(s, &unreachable, true);
        }
    }
    if (ended)
        kj_branch_close(s, &unreachable, (kj_operand){.kind = KJ_V_NONE}, (kj_span){0, 0});
    kj_facts_end(s, known);
    s->depth--;
}
