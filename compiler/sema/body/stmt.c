/* Statements: if, while, break, return, calls, and attributes of loops (@unroll); for loops are in
 * for.c, assignments in assign.c. */
#include <string.h>

#include "sema/body/body.h"

/* ---- Blocks ---- */

bool kj_block(kj_sema *s, const kj_stmt *body, bool tail)
{
    kj_scope_push(s);
    bool ends = kj_stmts(s, body, tail);
    kj_scope_pop(s);
    return ends;
}

/* The same as a list of its own. */
static kj_tstmt *sub_block(kj_sema *s, const kj_stmt *body, bool tail, bool *barrier)
{
    kj_sink sink;
    kj_sink_open(s, &sink);
    kj_block(s, body, tail);
    *barrier |= sink.barrier;
    return kj_sink_close(s, &sink);
}

/* Checked, and not kept. */
static void dead_block(kj_sema *s, const kj_stmt *body)
{
    kj_branch branch;
    kj_branch_open(s, &branch, true);
    kj_block(s, body, false);
    kj_branch_close(s, &branch, (kj_operand){.kind = KJ_V_NONE}, (kj_span){0, 0});
}

void kj_mark_barrier(kj_sema *s, kj_tstmt *st, bool barrier)
{
    st->barrier = barrier;
    s->sink->barrier |= barrier;
}

/* ---- if, while ---- */

/* Does nothing that is reached stand behind it? */
static bool if_stmt(kj_sema *s, const kj_stmt *st, bool tail)
{
    kj_texpr *test = kj_condition(s, kj_expr_value(s, st->u.if_.test, KJ_VOID), "a condition");
    if (test && kj_is_const(test)) {
        bool taken = test->u.value.u != 0;
        dead_block(s, taken ? st->u.if_.no : st->u.if_.yes);
        return kj_block(s, taken ? st->u.if_.yes : st->u.if_.no, tail);
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
        return false;
    kj_tstmt *made = kj_emit(s, KJ_TS_IF, st->span);
    made->u.if_.test = test;
    made->u.if_.yes = yes;
    made->u.if_.no = no;
    kj_mark_barrier(s, made, barrier);
    return false;
}

bool kj_loop_attrs(kj_sema *s, const kj_stmt *st)
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
        if (strcmp(attr->name, "unchecked") == 0)
            kj_hint(s->diag, m,
                    "@unchecked stands before a kernel, or a block: @unchecked { ... }");
        else if (strcmp(attr->name, "inbounds") == 0 || strcmp(attr->name, "simd") == 0 ||
                 strcmp(attr->name, "ivdep") == 0) {
            uint32_t end = attr->span.end;
            while (s->diag->source->text[end] == ' ')
                end++;
            kj_hint(s->diag, m,
                    "leave it out: indices that are known to be inside are not looked at");
            kj_fix(s->diag, m, (kj_span){attr->span.begin - 1, end}, "%s", "");
        } else
            kj_hint(s->diag, m, "a loop takes @unroll");
    }
    return unroll;
}

/* @unchecked { ... } */
static bool block_stmt(kj_sema *s, const kj_stmt *st, bool tail)
{
    for (const kj_attr *attr = st->attrs; attr; attr = attr->next) {
        if (strcmp(attr->name, "unchecked") != 0)
            kj_hint(s->diag,
                    kj_sema_error(s, attr->span, KJ_RULE_ATTRIBUTE,
                                  "'@%s' is no attribute of a block", attr->name),
                    "a block takes @unchecked");
        else if (attr->args)
            kj_sema_error(s, attr->args->span, KJ_RULE_ATTRIBUTE, "@unchecked takes no arguments");
    }
    s->unchecked++;
    bool ends = kj_block(s, st->u.block.body, tail);
    s->unchecked--;
    return ends;
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
    kj_block(s, st->u.while_.body, false);
    s->frame->loops--;
    kj_tstmt *body = kj_sink_close(s, sink);
    kj_tstmt *made = kj_emit(s, KJ_TS_WHILE, st->span);
    made->u.while_.test = kj_te_bool(s, true, st->span);
    made->u.while_.body = body;
    kj_mark_barrier(s, made, true);
}

static void while_stmt(kj_sema *s, const kj_stmt *st)
{
    kj_loop_attrs(s, st);
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
            kj_mark_barrier(s, made, barrier);
        }
    }
    s->frame->loops--;
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

static bool takes_arrays(const kj_item *fn)
{
    const kj_param_decl *p = fn->params;
    while (p && (!p->type || p->type->ndim == 0))
        p = p->next;
    return p != NULL;
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
            const char *as_run = takes_arrays(f->item) ? kj_as_run_function(s, f->item) : NULL;
            if (as_run) /* no run block calls one that is given arrays */
                kj_hint(s->diag, m, "a function of run blocks is written %s", as_run);
            else if (settled.kind == KJ_V_SCALAR || settled.kind == KJ_V_ARRAY)
                kj_hint(s->diag, m, "declare it: fn %s(...) -> %s", f->item->name,
                        kj_describe(s, &settled));
        }
        return kj_no_value(st->span);
    }
    v = kj_coerce_type(s, v, t,
                       kj_arena_printf(s->diag->arena, "the result of '%s'", f->item->name));
    if (!kj_names_generic(f->item, f->item->type))
        v = kj_asked_for(s, v);
    if (v.kind != KJ_V_ERROR && !f->direct && has_array(t)) {
        m = kj_sema_error(s, st->span, KJ_RULE_RETURN_VALUE,
                          "a function that returns an array has one return, at its end");
        kj_hint(s->diag, m, "one of two arrays is return a if test else b");
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
    if (s->frame->fn < 0)
        kj_hint(s->diag, m, "move it before the first other statement");
    else
        kj_hint_assert(s, m, st);
}

/* Does nothing that is reached stand behind it? (Of what is a condition's in one branch only that is not asked.) */
static bool stmt(kj_sema *s, const kj_stmt *st, bool tail)
{
    switch (st->kind) {
    case KJ_S_LET: kj_let_stmt(s, st); break;
    case KJ_S_ASSIGN: kj_assign_stmt(s, st); break;
    case KJ_S_EXPR: expr_stmt(s, st); break;
    case KJ_S_IF: return if_stmt(s, st, tail);
    case KJ_S_FOR: kj_for_stmt(s, st); break;
    case KJ_S_WHILE: while_stmt(s, st); break;
    case KJ_S_BLOCK: return block_stmt(s, st, tail);
    case KJ_S_BREAK:
    case KJ_S_CONTINUE: loop_exit(s, st); return true;
    case KJ_S_RETURN: return_stmt(s, st, tail); return true;
    case KJ_S_LAUNCH: kj_launch_stmt(s, st); break;
    case KJ_S_REQUIRES:
    case KJ_S_PARAM:
    case KJ_S_WITH: misplaced(s, st); break;
    }
    return false;
}

bool kj_stmts(kj_sema *s, const kj_stmt *list, bool tail)
{
    if (++s->depth > KJ_MAX_NESTING && list && !s->too_big) {
        kj_sema_error(s, list->span, KJ_RULE_TOO_DEEP, "this is nested too deeply");
        s->too_big = true;
    }
    kj_branch unreachable;
    const kj_fact *known = s->facts;
    bool ended = false, behind = false;
    for (const kj_stmt *st = list; st && !s->too_big; st = st->next) {
        bool ends = stmt(s, st, tail && !st->next);
        if (ends && !ended && st->next)
            kj_branch_open(s, &unreachable, true);
        behind |= ends && !ended && st->next;
        ended |= ends;
    }
    if (behind)
        kj_branch_close(s, &unreachable, (kj_operand){.kind = KJ_V_NONE}, (kj_span){0, 0});
    kj_facts_end(s, known);
    s->depth--;
    return ended;
}
