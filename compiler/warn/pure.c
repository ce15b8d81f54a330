/* What a name stands for and what a function does, where that is certain: a divisor that is 0, a call whose value is all
 * that comes of it. In: expressions of a body; out: yes, or that it is not known. */
#include <string.h>

#include "warn/body.h"

enum { DEEPEST = 8 }; /* names that stand for names; functions that call functions */

/* ---- Numbers ---- */

typedef struct asking {
    const char *name;
    bool asked, within; /* a comparison or a condition */
} asking;

static void find_asking(void *ctx, const kj_expr *e)
{
    asking *a = ctx;
    const bool before = a->within;
    bool compares = e->kind == KJ_E_CHAIN || e->kind == KJ_E_LOGIC || e->kind == KJ_E_COND ||
                    (e->kind == KJ_E_BINARY && kj_ops[e->u.binary.op].class == KJ_OPS_COMPARE);
    a->within |= compares;
    a->asked |= a->within && e->kind == KJ_E_NAME && strcmp(e->u.name, a->name) == 0;
    kj_each_part(e, find_asking, a);
    a->within = before;
}

static void find_asking_in(asking *a, const kj_stmt *list)
{
    const kj_stmt *blocks[2];
    for (const kj_stmt *st = list; st && !a->asked; st = st->next) {
        a->within = st->kind == KJ_S_IF || st->kind == KJ_S_WHILE;
        kj_each_own_expr(st, find_asking, a);
        a->within = false;
        kj_blocks_of(st, blocks);
        find_asking_in(a, blocks[0]);
        find_asking_in(a, blocks[1]);
    }
}

/* What the name stands for, in every thread and run; NULL: it may be another number. */
static const kj_expr *meaning_of(const kj_body *b, const char *name)
{
    const kj_named_value *v = kj_warn_find(b, name);
    const kj_item *item = v ? NULL : kj_warn_item(b->file, name, KJ_I_CONST);
    const kj_expr *init = v ? v->kind == KJ_B_LET ? v->init : NULL : item ? item->value : NULL;
    asking a = {.name = name};
    if (init)
        find_asking_in(&a, b->item->body);
    return a.asked ? NULL : init;
}

/* Cell.EMPTY and tables.ZERO: a constant by its name alone, of an enum or a used file; NULL: it is none. */
static const kj_item *constant_of_member(const kj_body *b, const kj_expr *e)
{
    const kj_expr *base = e->kind == KJ_E_MEMBER ? e->u.member.base : NULL;
    const kj_item *of = NULL;
    if (base && base->kind == KJ_E_NAME && !kj_warn_find(b, base->u.name))
        of = kj_item_called(b->file, base->u.name, strlen(base->u.name));
    else if (base && base->kind == KJ_E_MEMBER) /* tables.Cell.EMPTY */
        of = constant_of_member(b, base);
    if (!of)
        return NULL;
    const char *name = e->u.member.name;
    return of->kind == KJ_I_USE && of->used ? kj_item_called(of->used, name, strlen(name))
                                            : kj_enumerator(of, name);
}

/* Is it 0? An enum's constants count from those that have a value. */
static bool is_zero_constant(const kj_item *item)
{
    const kj_expr *value = item->base ? item->base->value : item->value;
    const int step = item->base ? item->step : 0;
    bool negative = value && value->kind == KJ_E_UNARY && value->u.unary.op == KJ_OP_NEG;
    if (negative)
        value = value->u.unary.arg;
    if (item->kind != KJ_I_CONST || !value || value->kind != KJ_E_INT)
        return false;
    return negative ? value->u.integer == (uint64_t)step : value->u.integer == 0 && step == 0;
}

/* T[1] of const T = [2, 0]. */
static const kj_expr *element_of_list(const kj_body *b, const kj_expr *e)
{
    const kj_expr *base = e->u.index.base, *at = e->u.index.args;
    const kj_item *item = base->kind == KJ_E_NAME && !kj_warn_find(b, base->u.name)
                              ? kj_warn_item(b->file, base->u.name, KJ_I_CONST)
                              : NULL;
    const kj_expr *list = item ? meaning_of(b, item->name) : NULL;
    if (!list || list->kind != KJ_E_LIST || !at || at->next || at->kind != KJ_E_INT)
        return NULL;
    const kj_expr *element = list->u.list.items;
    for (uint64_t i = 0; element && i < at->u.integer; i++)
        element = element->next;
    return element;
}

bool kj_warn_is_zero(const kj_body *b, const kj_expr *e)
{
    for (int i = 0; e && i < DEEPEST; i++) {
        const kj_expr *callee = e->kind == KJ_E_CALL ? e->u.call.callee : NULL;
        const kj_item *constant = constant_of_member(b, e);
        if (constant)
            return is_zero_constant(constant);
        if (e->kind == KJ_E_INT)
            return e->u.integer == 0;
        if (e->kind == KJ_E_NAME)
            e = meaning_of(b, e->u.name);
        else if (e->kind == KJ_E_INDEX)
            e = element_of_list(b, e);
        else if (callee && callee->kind == KJ_E_NAME && kj_type_named(callee->u.name) != KJ_VOID &&
                 kj_is_int(kj_type_named(callee->u.name)) && !kj_warn_find(b, callee->u.name))
            e = e->u.call.args; /* i32(0) */
        else
            return false;
    }
    return false;
}

/* ---- Functions ---- */

static bool gives_a_value_only(const char *name)
{
    static const char *const groups[] = {"arithmetic", "bits",  "math",   "vector",
                                         "complex",    "index", "random", "memory"};
    for (int id = 0; id < KJ_NBUILTINS; id++) {
        for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
            if (strcmp(kj_builtins[id].name, name) == 0 &&
                strcmp(kj_builtins[id].group, groups[i]) == 0)
                return true;
    }
    return kj_type_named(name) != KJ_VOID;
}

static bool run_gives_a_value_only(const char *name)
{
    int id = kj_run_builtin_named(name);
    return id >= 0 && !kj_run_builtins[id].acts;
}

bool kj_warn_gives_only(const kj_body *b, const char *name)
{
    return kj_warn_in_run(b) && kj_run_builtin_named(name) >= 0 ? run_gives_a_value_only(name)
                                                                : gives_a_value_only(name);
}

/* Of ".sum" and "random.uniform", as tables have them. */
bool kj_warn_member_gives_only(const char *name)
{
    return name[0] == '.' ? run_gives_a_value_only(name) : gives_a_value_only(name);
}

/* ---- What is assigned in place ---- */

static bool makes_own(const kj_expr *callee)
{
    int id = callee->kind == KJ_E_NAME ? kj_run_builtin_named(callee->u.name) : -1;
    if (id < 0)
        return false;
    kj_gives gives = kj_run_builtins[id].gives;
    return gives == KJ_GIVES_SHAPED || gives == KJ_GIVES_LINE || gives == KJ_GIVES_BOOL ||
           gives == KJ_GIVES_INT || gives == KJ_GIVES_FLOAT || gives == KJ_GIVES_STRING;
}

bool kj_warn_is_new(const kj_expr *e)
{
    switch (e->kind) {
    case KJ_E_INT:
    case KJ_E_FLOAT:
    case KJ_E_IMAG:
    case KJ_E_BOOL:
    case KJ_E_STRING:
    case KJ_E_FORMAT:
    case KJ_E_CHAIN:
    case KJ_E_BINARY: return true;
    case KJ_E_UNARY: return e->u.unary.op != KJ_OP_PLUS;
    case KJ_E_COND: return kj_warn_is_new(e->u.cond.yes) && kj_warn_is_new(e->u.cond.no);
    case KJ_E_CALL: return makes_own(e->u.call.callee);
    default: return false;
    }
}

/* Of a name in a function of run blocks. */
typedef struct sharing {
    const char *name;
    bool declared, shares; /* in it; with what others may have */
} sharing;

static void find_sharing_of(sharing *s, const kj_stmt *st)
{
    const bool lets = st->kind == KJ_S_LET || st->kind == KJ_S_PARAM;
    const kj_expr *item = lets ? kj_let_items(st) : NULL;
    for (const kj_name *n = lets ? st->u.let.names : NULL; n; n = n->next) {
        const kj_expr *init = item ? item : st->u.let.names->next ? NULL : st->u.let.init;
        if (strcmp(n->name, s->name) == 0) {
            s->declared = true;
            s->shares |= !init || !kj_warn_is_new(init);
        }
        item = item ? item->next : NULL;
    }
    if (st->kind != KJ_S_ASSIGN || st->u.assign.augmented)
        return;
    for (const kj_expr *to = st->u.assign.targets; to; to = to->next)
        if (to->kind == KJ_E_NAME && strcmp(to->u.name, s->name) == 0)
            s->shares |= st->u.assign.targets->next || !kj_warn_is_new(st->u.assign.value);
}

static void find_sharing(sharing *s, const kj_stmt *list)
{
    const kj_stmt *blocks[2];
    for (const kj_stmt *st = list; st; st = st->next) {
        find_sharing_of(s, st);
        kj_blocks_of(st, blocks);
        find_sharing(s, blocks[0]);
        find_sharing(s, blocks[1]);
    }
}

/* A const array is filled, and a += 1 goes to the elements of the array that `a` stands for, whoever else has it. */
static bool assignment_acts(const kj_item *fn, const kj_stmt *st)
{
    for (const kj_expr *to = st->u.assign.targets; to; to = to->next) {
        if (to->kind != KJ_E_NAME)
            return true;
        sharing s = {.name = to->u.name};
        if (fn->kind == KJ_I_FN)
            continue; /* a name of its own: arrays are not assigned there */
        find_sharing(&s, fn->body);
        if (!s.declared || (st->u.assign.augmented && s.shares))
            return true;
    }
    return false;
}

/* ---- What a function does ---- */

typedef struct acting {
    const kj_body *b;
    const kj_item *fn;
    int depth;
    bool acts; /* or may */
} acting;

static bool function_acts(const kj_body *b, const kj_item *fn, int depth);

static bool call_acts(const acting *a, const kj_expr *callee)
{
    static const char *const counts[] = {"range", "enumerate", "zip"};
    if (callee->kind == KJ_E_MEMBER) /* methods of arrays, seeds of random numbers: who knows */
        return true;
    if (callee->kind != KJ_E_NAME)
        return true;
    const kj_item *item = kj_item_called(a->b->file, callee->u.name, strlen(callee->u.name));
    if (item)
        return function_acts(a->b, item, a->depth + 1);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (strcmp(callee->u.name, counts[i]) == 0)
            return false;
    return !kj_warn_gives_only(a->b, callee->u.name);
}

static void find_acting(void *ctx, const kj_expr *e)
{
    acting *a = ctx;
    if (e->kind == KJ_E_CALL)
        a->acts |= call_acts(a, e->u.call.callee);
    kj_each_part(e, find_acting, a);
}

static void find_acting_in(acting *a, const kj_stmt *list)
{
    const kj_stmt *blocks[2];
    for (const kj_stmt *st = list; st && !a->acts; st = st->next) {
        a->acts |= st->kind == KJ_S_EXPR || st->kind == KJ_S_LAUNCH || st->kind == KJ_S_WITH ||
                   st->kind == KJ_S_REQUIRES || st->kind == KJ_S_WHILE;
        a->acts |= st->kind == KJ_S_ASSIGN && assignment_acts(a->fn, st);
        kj_each_own_expr(st, find_acting, a);
        kj_blocks_of(st, blocks);
        find_acting_in(a, blocks[0]);
        find_acting_in(a, blocks[1]);
    }
}

static bool function_acts(const kj_body *b, const kj_item *fn, int depth)
{
    acting a = {b, fn, depth, false};
    const bool called = fn->kind == KJ_I_FN || fn->kind == KJ_I_RUN_FN;
    if (!called || depth > DEEPEST)
        return fn->kind != KJ_I_RECORD;
    find_acting_in(&a, fn->body);
    return a.acts;
}

/* At its end. */
bool kj_warn_returns(const kj_stmt *body)
{
    while (body && body->next)
        body = body->next;
    return body && body->kind == KJ_S_RETURN && body->u.expr;
}

bool kj_warn_only_returns(const kj_body *b, const kj_expr *call)
{
    const kj_expr *callee = call->kind == KJ_E_CALL ? call->u.call.callee : NULL;
    if (!callee || callee->kind != KJ_E_NAME || kj_warn_find(b, callee->u.name))
        return false;
    const kj_item *fn = kj_item_called(b->file, callee->u.name, strlen(callee->u.name));
    return fn && (fn->kind == KJ_I_FN || fn->kind == KJ_I_RUN_FN) && kj_warn_returns(fn->body) &&
           !function_acts(b, fn, 0);
}
