/* The walk of warnings over the AST: the file's bodies, statement by statement, in the order in
 * which they stand. */
#include <string.h>

#include "warn/element.h"
#include "warn/launch.h"

/* ---- Expressions ---- */

static void see_part(void *ctx, const kj_expr *part);

/* Does it ask for a bool that was made elsewhere, of whatever? */
static bool asks_elsewhere(const kj_expr *test)
{
    if (test->kind == KJ_E_LOGIC)
        return asks_elsewhere(test->u.logic.lhs) || asks_elsewhere(test->u.logic.rhs);
    if (test->kind == KJ_E_UNARY)
        return asks_elsewhere(test->u.unary.arg);
    return test->kind != KJ_E_BINARY && test->kind != KJ_E_CHAIN && test->kind != KJ_E_BOOL;
}

static void see_condition(kj_body *b, const kj_expr *test)
{
    kj_warn_of_condition(b, test);
    for (kj_named_value *v = b->last; v && asks_elsewhere(test); v = v->before)
        v->guarded = true;
    see_part(b, test);
}

/* Where the test is so, are there perhaps few threads alone, as for `threadIdx.x == 0 and blockIdx.x == 0`? Not behind
 * `i < n`, where most are. */
static bool picks(const kj_expr *test, bool holds)
{
    const kj_expr *lhs = test, *rhs = test;
    switch (test->kind) {
    case KJ_E_LOGIC: {
        bool first = picks(test->u.logic.lhs, holds), second = picks(test->u.logic.rhs, holds);
        return test->u.logic.is_or == holds ? first && second : first || second;
    }
    case KJ_E_UNARY: return picks(test->u.unary.arg, !holds);
    case KJ_E_BINARY:
        lhs = test->u.binary.lhs, rhs = test->u.binary.rhs;
        if (test->u.binary.op == KJ_OP_EQ || test->u.binary.op == KJ_OP_NE)
            return holds == (test->u.binary.op == KJ_OP_EQ);
        return lhs->kind == KJ_E_INT || rhs->kind == KJ_E_INT;
    case KJ_E_CHAIN: return false;
    default: return true; /* nobody knows */
    }
}

static void see_part(void *ctx, const kj_expr *e)
{
    kj_body *b = ctx;
    kj_named_value *v = e->kind == KJ_E_NAME ? kj_warn_find(b, e->u.name) : NULL;
    if (v) {
        kj_warn_of_looped(b, v);
        v->read = true;
    }
    kj_warn_of_operation(b, e);
    if (e->kind == KJ_E_INDEX)
        kj_see_index(b, e);
    else if (e->kind == KJ_E_BINARY && kj_ops[e->u.binary.op].class == KJ_OPS_COMPARE)
        kj_see_comparison(b, e->u.binary.op, e->u.binary.lhs, e->u.binary.rhs);
    else if (e->kind == KJ_E_COND)
        kj_warn_of_condition(b, e->u.cond.test);
    else if (e->kind == KJ_E_CALL && e->u.call.callee->kind == KJ_E_NAME &&
             kj_warn_item(b->file, e->u.call.callee->u.name, KJ_I_FN)) {
        kj_guard(b, e); /* it may ask */
        kj_see_call_with_arrays(b, e);
    }
    const kj_expr *operand = e->kind == KJ_E_CHAIN ? e->u.chain.operands : NULL;
    for (int i = 0; operand && operand->next; operand = operand->next, i++)
        kj_see_comparison(b, e->u.chain.ops[i], operand, operand->next);
    const kj_expr *test = e->kind == KJ_E_COND    ? e->u.cond.test
                          : e->kind == KJ_E_LOGIC ? e->u.logic.lhs
                                                  : NULL;
    bool picked = test && (picks(test, true) || picks(test, false));
    b->picked += picked;
    kj_each_part(e, see_part, b);
    b->picked -= picked;
}

/* Is what is stored to a member of it seen elsewhere? A `var` of a kernel and a record that is a parameter are the
 * body's own; arrays, lets of views and whatever is of the run block are views of elements. */
static bool is_view(const kj_body *b, const kj_named_value *v)
{
    return v->array || v->kind == KJ_B_LET || kj_warn_in_run(b);
}

/* What is assigned: a name, or a member of what is the body's own, is not read by that. */
static void see_target(kj_body *b, const kj_expr *e)
{
    const kj_expr *whole = e;
    while (whole->kind == KJ_E_MEMBER)
        whole = whole->u.member.base;
    kj_named_value *v = whole->kind == KJ_E_NAME ? kj_warn_find(b, whole->u.name) : NULL;
    if (e->kind == KJ_E_TUPLE) {
        for (const kj_expr *item = e->u.list.items; item; item = item->next)
            see_target(b, item);
    } else if (v) {
        v->assigned = true;
        v->read |= whole != e && is_view(b, v);
        v->looped.begin = v->looped.end; /* it has a value of its own */
    } else {
        see_part(b, e);
    }
}

/* z += 1 reads z, though nothing may come of it. */
static void see_augmented(kj_body *b, const kj_expr *target)
{
    kj_named_value *v = target->kind == KJ_E_NAME ? kj_warn_find(b, target->u.name) : NULL;
    if (!v)
        return;
    v->changed = true;
    kj_warn_of_looped(b, v);
}

/* What the names that are assigned stand for may have other names too. */
static void see_shared(kj_body *b, const kj_stmt *st)
{
    const kj_expr *target = st->u.assign.targets;
    const bool shares = target->next || !kj_warn_is_new(st->u.assign.value);
    for (; target; target = target->next) {
        kj_named_value *v = target->kind == KJ_E_NAME ? kj_warn_find(b, target->u.name) : NULL;
        if (v)
            v->shares |= shares && kj_warn_in_run(b);
    }
}

/* ---- Statements ---- */

static bool is_call(const kj_body *b, const kj_expr *e, const char *name)
{
    return e && e->kind == KJ_E_CALL && e->u.call.callee->kind == KJ_E_NAME &&
           strcmp(e->u.call.callee->u.name, name) == 0 &&
           !kj_warn_find(b, e->u.call.callee->u.name);
}

static bool makes_own_array(const kj_expr *e)
{
    const kj_expr *callee = e && e->kind == KJ_E_CALL ? e->u.call.callee : NULL;
    const kj_expr *base = callee && callee->kind == KJ_E_MEMBER ? callee->u.member.base : NULL;
    return base && base->kind == KJ_E_NAME &&
           (strcmp(base->u.name, "shared") == 0 || strcmp(base->u.name, "local") == 0);
}

static bool is_of_own_array(const kj_body *b, const kj_expr *e)
{
    while (e->kind == KJ_E_INDEX)
        e = e->u.index.base;
    const kj_named_value *v = e->kind == KJ_E_NAME ? kj_warn_find(b, e->u.name) : NULL;
    return v && v->own_array;
}

static const kj_steps *steps_of(const kj_body *b, const kj_expr *e)
{
    kj_steps *made = KJ_NEW(b->arena, kj_steps);
    *made = kj_steps_of(b, e);
    return made;
}

/* Those of the n-th of a grid. */
static const kj_steps *steps_along(const kj_body *b, int n)
{
    kj_steps *made = KJ_NEW(b->arena, kj_steps);
    *made = (kj_steps){.known = true};
    if (n < 3)
        made->of[n].by = 1;
    return made;
}

/* What is known of the n-th name that takes the value, `alone` or as one of several. */
static void describe(const kj_body *b, kj_named_value *v, const kj_expr *init, int n, bool alone)
{
    if (!init || v->kind == KJ_B_VAR)
        return;
    v->own_array = makes_own_array(init) || (alone && is_of_own_array(b, init));
    v->init = alone ? init : NULL;
    if (is_call(b, init, "grid")) {
        v->axes = 1u << n;
        v->least = 0;
        v->meets = v->wide = true;
        v->steps = steps_along(b, n);
    } else if (!alone && init->kind == KJ_E_MEMBER) { /* let h, w = a.shape */
        v->steps = steps_of(b, init);
    } else if (alone) {
        v->steps = steps_of(b, init);
        v->view = kj_view_of(b, init);
        v->axes = kj_axes_of(b, init);
        v->least = kj_least_of(b, init);
        v->meets = kj_meets_least(b, init);
        v->wide = kj_is_wide(b, init);
    }
}

static void see_type(kj_body *b, const kj_type_ref *t)
{
    for (const kj_expr *e = t ? t->extents : NULL; e; e = e->next)
        see_part(b, e);
    for (const kj_type_ref *part = t ? t->parts : NULL; part; part = part->next)
        see_type(b, part);
}

/* What the run block declares itself is what it leaves: --save and --digest read it. Of a test that is to fail it is
 * how it does. */
static bool is_result(const kj_body *b)
{
    return (b->item->kind == KJ_I_RUN || b->item->fails) && b->depth == 1;
}

static void see_let(kj_body *b, const kj_stmt *st)
{
    kj_named_kind kind = st->kind == KJ_S_PARAM ? KJ_B_PARAM
                         : st->u.let.mutable    ? KJ_B_VAR
                                                : KJ_B_LET;
    const kj_expr *init = st->u.let.init;
    const kj_expr *item = kj_let_items(st);
    int n = 0, all = kj_count_names(st->u.let.names);
    kj_named_value *facts = KJ_NEW_ARRAY(b->arena, kj_named_value, (size_t)all);
    see_type(b, st->u.let.type);
    if (init) {
        see_part(b, init);
        kj_warn_of_same_numbers(b, init);
    }
    for (; n < all; n++) { /* none of the names is declared in the values */
        facts[n] = (kj_named_value){.kind = kind, .least = -1};
        const kj_expr *own = item ? item : all == 1 ? init : NULL;
        facts[n].shares = kj_warn_in_run(b) && !(own && kj_warn_is_new(own));
        describe(b, &facts[n], item ? item : init, item ? 0 : n, item || all == 1);
        item = item ? item->next : NULL;
    }
    n = 0;
    for (const kj_name *name = st->u.let.names; name; name = name->next, n++) {
        kj_named_value *v = kj_warn_declare(b, name->name, name->span, kind);
        v->read = st->kind != KJ_S_PARAM && is_result(b);
        v->axes = facts[n].axes;
        v->least = facts[n].least;
        v->meets = facts[n].meets;
        v->wide = st->u.let.type ? kj_is_wide_as(st->u.let.type) : facts[n].wide;
        v->own_array = facts[n].own_array;
        v->init = facts[n].init;
        v->steps = facts[n].steps;
        v->view = facts[n].view;
        v->shares = facts[n].shares;
    }
}

static void see_list(kj_body *b, const kj_stmt *list);

static void see_turns(kj_body *b, const kj_stmt *loop, const kj_stmt *list)
{
    const kj_stmt *outer = b->loop;
    int picked = b->loop_picked;
    b->loop = loop;
    b->loop_picked = b->picked;
    see_list(b, list);
    b->loop = outer;
    b->loop_picked = picked;
}

static void note_looped(kj_body *b, kj_named_value *name, kj_span at)
{
    kj_looped *made = KJ_NEW(b->arena, kj_looped);
    *made = (kj_looped){name, at, b->looped};
    b->looped = made;
    name->looped = at;
}

/* Those of range's numbers: a turn of all threads is as far apart as where they start. */
static const kj_steps *steps_of_turns(const kj_body *b, const kj_expr *args)
{
    kj_steps *made = KJ_NEW(b->arena, kj_steps);
    *made = (kj_steps){.known = true};
    if (!args || !args->next)
        return made;
    kj_steps by = args->next->next ? kj_steps_of(b, args->next->next) : *made;
    kj_steps start = kj_steps_of(b, args);
    if (!start.known || !by.known || !kj_is_uniform_step(&by))
        return NULL;
    for (int k = 0; k < 3; k++)
        made->of[k] = start.of[k];
    return made;
}

static void see_for(kj_body *b, const kj_stmt *st)
{
    const kj_expr *iter = st->u.for_.iter, *args = NULL;
    kj_named_value *before = b->last;
    unsigned axes = 0;
    const kj_steps *steps = NULL;
    bool wide = true, meets = true;
    int64_t least = is_call(b, iter, "enumerate") ? 0 : -1; /* of the first name */
    see_part(b, iter);
    if (is_call(b, iter, "range")) {
        args = iter->u.call.args;
        const kj_expr *step = args && args->next ? args->next->next : NULL;
        bool up = !step || kj_least_of(b, step) >= 0;
        meets = args && args->next ? kj_meets_least(b, args) : true;
        least = !args || !up ? -1 : args->next ? kj_least_of(b, args) : 0;
        axes = args && args->next ? kj_axes_of(b, args) : 0;
        steps = steps_of_turns(b, args);
    }
    for (; args; args = args->next) {
        wide &= kj_is_wide(b, args);
        kj_guard(b, args); /* its turns depend on it */
    }
    for (const kj_name *name = st->u.for_.names; name; name = name->next) {
        kj_named_value *outer = kj_warn_find(b, name->name);
        if (outer)
            note_looped(b, outer, name->span);
        kj_named_value *v = kj_warn_declare(b, name->name, name->span, KJ_B_OTHER);
        v->axes = axes;
        v->least = least;
        v->wide = wide && least >= 0;
        v->meets = meets;
        v->steps = steps;
        least = -1;
    }
    see_turns(b, st, st->u.for_.body);
    kj_warn_close(b, before);
}

static void see_with(kj_body *b, const kj_stmt *st)
{
    kj_named_value *before = b->last;
    see_part(b, st->u.with.value);
    if (st->u.with.name)
        kj_warn_declare(b, st->u.with.name->name, st->u.with.name->span, KJ_B_OTHER);
    see_list(b, st->u.with.body);
    kj_warn_close(b, before);
}

/* Puts aside which loops since `before` are in front of what is read; returns those. */
static const kj_looped *put_aside(kj_body *b, const kj_looped *before)
{
    const kj_looped *kept = NULL;
    for (; b->looped != before; b->looped = b->looped->before) {
        kj_named_value *v = b->looped->name;
        if (v->looped.end > v->looped.begin && v->looped.begin == b->looped->at.begin) {
            kj_looped *made = KJ_NEW(b->arena, kj_looped);
            *made = (kj_looped){v, v->looped, kept};
            kept = made;
        }
        v->looped.end = v->looped.begin;
    }
    return kept;
}

/* Loops of one way are in front of what is behind both, unless it ends there, and not of the other. */
static void see_ways(kj_body *b, const kj_stmt *st)
{
    const kj_looped *before = b->looped;
    bool picked = picks(st->u.if_.test, true), others = picks(st->u.if_.test, false);
    b->picked += picked;
    see_list(b, st->u.if_.yes);
    b->picked += others - picked;
    const kj_looped *yes = put_aside(b, before);
    see_list(b, st->u.if_.no);
    b->picked -= others;
    if (st->u.if_.yes && kj_end_of(st->u.if_.yes))
        b->picked += others; /* up to the end of the list */
    if (st->u.if_.no && kj_end_of(st->u.if_.no))
        put_aside(b, before);
    if (st->u.if_.yes && kj_end_of(st->u.if_.yes))
        return;
    for (; yes; yes = yes->before)
        note_looped(b, yes->name, yes->at);
}

static void see_stmt(kj_body *b, const kj_stmt *st)
{
    bool picked;
    switch (st->kind) {
    case KJ_S_LET:
    case KJ_S_PARAM: see_let(b, st); break;
    case KJ_S_ASSIGN:
        kj_warn_of_assignment(b, st);
        see_part(b, st->u.assign.value);
        if (st->u.assign.augmented) {
            see_augmented(b, st->u.assign.targets);
            kj_warn_of_divisor(b, st->u.assign.op, st->u.assign.value, st->span);
        }
        for (const kj_expr *target = st->u.assign.targets; target; target = target->next)
            see_target(b, target);
        if (!st->u.assign.augmented)
            see_shared(b, st);
        break;
    case KJ_S_IF:
        see_condition(b, st->u.if_.test);
        if (st->u.if_.no || kj_end_of(st->u.if_.yes))
            kj_guard(b, st->u.if_.test); /* where it does not hold, code goes on */
        see_ways(b, st);
        break;
    case KJ_S_FOR: see_for(b, st); break;
    case KJ_S_WHILE:
        if (st->u.while_.test->kind == KJ_E_BOOL && st->u.while_.test->u.integer)
            ; /* for ever, until a break */
        else
            see_condition(b, st->u.while_.test);
        picked = picks(st->u.while_.test, true);
        b->picked += picked;
        see_turns(b, st, st->u.while_.body);
        b->picked -= picked;
        break;
    case KJ_S_BLOCK: see_list(b, st->u.block.body); break;
    case KJ_S_WITH: see_with(b, st); break;
    case KJ_S_EXPR:
        kj_warn_of_value(b, st->u.expr);
        see_part(b, st->u.expr);
        break;
    case KJ_S_RETURN:
    case KJ_S_REQUIRES:
    case KJ_S_LAUNCH:
        if (st->u.expr)
            see_part(b, st->u.expr);
        break;
    case KJ_S_BREAK:
    case KJ_S_CONTINUE: break;
    }
}

static void see_list(kj_body *b, const kj_stmt *list)
{
    kj_named_value *before = b->last;
    int picked = b->picked, nrandoms = b->nrandoms;
    kj_warn_of_list(b, list);
    b->depth++;
    for (const kj_stmt *st = list; st; st = st->next)
        see_stmt(b, st);
    b->depth--;
    b->picked = picked;
    b->nrandoms = nrandoms;
    kj_warn_close(b, before);
}

/* ---- Items ---- */

static void see_item(kj_body *b)
{
    const kj_item *item = b->item;
    for (const kj_attr *attr = item->attrs; attr; attr = attr->next)
        for (const kj_expr *e = attr->args; e; e = e->next)
            see_part(b, e);
    for (const kj_param_decl *p = item->params; p; p = p->next) {
        see_type(b, p->type);
        if (p->init)
            see_part(b, p->init);
        kj_named_value *v = kj_warn_declare(b, p->name, p->span, KJ_B_PARAM);
        v->ndim = p->type ? p->type->ndim : 0;
        v->array = v->ndim > 0;
        v->wide = kj_is_wide_as(p->type);
    }
    if (item->value)
        see_part(b, item->value);
    see_list(b, item->body);
    kj_warn_close(b, NULL);
    kj_warn_of_slow_axis(b);
}

void kj_warn_of_source(kj_arena *arena, kj_diag *diag, const kj_file *file)
{
    if (!diag->wanted || diag->errors)
        return;
    kj_warn_of_directives(diag, file);
    for (const kj_item *item = file->items; item; item = item->next) {
        kj_body b = {.arena = arena, .diag = diag, .file = file, .item = item};
        if (item->kind != KJ_I_RECORD)
            see_item(&b);
    }
    kj_warn_of_launches(arena, diag, file);
}
