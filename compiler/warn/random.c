/* Random numbers of kernels: those that are the same where they hardly are meant to be. */
#include <string.h>

#include "warn/body.h"

/* Is the call's function one of the kernels' random numbers? */
static bool is_random(const kj_body *b, const kj_expr *e)
{
    const kj_expr *callee = e->kind == KJ_E_CALL ? e->u.call.callee : NULL;
    const kj_expr *base = callee && callee->kind == KJ_E_MEMBER ? callee->u.member.base : NULL;
    return base && base->kind == KJ_E_NAME && strcmp(base->u.name, "random") == 0 &&
           !kj_warn_in_run(b) && !kj_warn_find(b, base->u.name) &&
           !kj_item_called(b->file, "random", 6);
}

/* Its seed; NULL: there is none. */
static const kj_expr *seed_of(const kj_expr *call)
{
    const kj_expr *args = call->u.call.args;
    bool integers = strcmp(call->u.call.callee->u.member.name, "randint") == 0;
    if (kj_count(args) < (integers ? 4 : 2))
        return NULL;
    return integers ? args->next->next : args;
}

/* The same in all threads: a literal, or a constant of the file. */
static bool is_fixed(const kj_body *b, const kj_expr *e)
{
    return e->kind == KJ_E_INT || (e->kind == KJ_E_NAME && !kj_warn_find(b, e->u.name) &&
                                   kj_warn_item(b->file, e->u.name, KJ_I_CONST));
}

/* random.uniform(0, 1), meant as from 0 to 1: number 1 of seed 0 in all threads. */
static void warn_of_fixed(kj_body *b, const kj_expr *e)
{
    const kj_expr *callee = e->u.call.callee, *seed = seed_of(e);
    bool uniform = strcmp(callee->u.member.name, "uniform") == 0;
    if (!seed || !is_fixed(b, seed) || !is_fixed(b, seed->next))
        return;
    kj_message *m =
        kj_warn(b->diag, e->span, KJ_RULE_SAME_RANDOM, "every thread gets the same number here");
    const char *front = kj_warn_text(b, callee->span.begin, seed->span.end);
    if (front)
        kj_hint(b->diag, m,
                "a seed and the number's place make it: %s, i), where let i = grid(1)%s; where all "
                "are to "
                "have the same, its place has a name, let k = 0",
                front, uniform ? ", from lo to hi lo + (hi - lo) times that" : "");
}

/* ---- The same number twice ---- */

/* Is it what it was there, by names that nothing assigns and that were declared before? */
static bool stays(const kj_body *b, const kj_expr *e, uint32_t before)
{
    const kj_named_value *v;
    switch (e->kind) {
    case KJ_E_INT:
    case KJ_E_FLOAT: return true;
    case KJ_E_NAME:
        v = kj_warn_find(b, e->u.name);
        return !v || (v->kind != KJ_B_VAR && v->span.begin < before);
    case KJ_E_MEMBER: /* blockIdx.x; a record's may be assigned */
        return e->u.member.base->kind == KJ_E_NAME && !kj_warn_find(b, e->u.member.base->u.name);
    case KJ_E_UNARY: return stays(b, e->u.unary.arg, before);
    case KJ_E_BINARY: return stays(b, e->u.binary.lhs, before) && stays(b, e->u.binary.rhs, before);
    default: return false;
    }
}

static bool is_same(const kj_expr *x, const kj_expr *y)
{
    if (x->kind != y->kind || x->keyword != y->keyword)
        return false;
    switch (x->kind) {
    case KJ_E_INT: return x->u.integer == y->u.integer;
    case KJ_E_FLOAT: return !(x->u.real < y->u.real) && !(x->u.real > y->u.real);
    case KJ_E_NAME: return x->u.name == y->u.name;
    case KJ_E_MEMBER:
        return x->u.member.name == y->u.member.name && is_same(x->u.member.base, y->u.member.base);
    case KJ_E_UNARY:
        return x->u.unary.op == y->u.unary.op && is_same(x->u.unary.arg, y->u.unary.arg);
    case KJ_E_BINARY:
        return x->u.binary.op == y->u.binary.op && is_same(x->u.binary.lhs, y->u.binary.lhs) &&
               is_same(x->u.binary.rhs, y->u.binary.rhs);
    default: return false;
    }
}

static bool is_same_call(const kj_body *b, const kj_expr *first, const kj_expr *e)
{
    const kj_expr *x = first->u.call.args, *y = e->u.call.args;
    if (!is_same(first->u.call.callee, e->u.call.callee))
        return false;
    for (; x && y; x = x->next, y = y->next)
        if (!is_same(x, y) || !stays(b, y, first->span.begin))
            return false;
    return !x && !y;
}

static void tell_same(kj_body *b, const kj_expr *e, const kj_expr *first)
{
    kj_message *m = kj_warn(b->diag, e->span, KJ_RULE_SAME_RANDOM,
                            "this is the same number again: a seed and a place make it");
    const kj_expr *seed = seed_of(e);
    const char *front = kj_warn_text(b, e->span.begin, seed->span.begin);
    const char *behind = kj_warn_text(b, seed->span.end, e->span.end);
    if (front && behind && seed->kind == KJ_E_NAME)
        kj_hint(b->diag, m,
                "another seed gives another: %s%s + 1%s; where the same is meant, use its name",
                front, seed->u.name, behind);
    kj_note(b->diag, m, first->span, "the same seed and place");
}

/* A call that is certain to be run, of a value that a let is given. */
static void see_call(void *ctx, const kj_expr *e)
{
    kj_body *b = ctx;
    if (e->kind == KJ_E_COND || e->kind == KJ_E_LOGIC)
        return;
    kj_each_part(e, see_call, b);
    if (!is_random(b, e) || !seed_of(e))
        return;
    for (int i = 0; i < b->nrandoms; i++)
        if (is_same_call(b, b->randoms[i], e)) {
            tell_same(b, e, b->randoms[i]);
            return;
        }
    if (b->nrandoms < KJ_MOST_RANDOMS)
        b->randoms[b->nrandoms++] = e;
}

void kj_warn_of_same_numbers(kj_body *b, const kj_expr *init)
{
    if (!kj_warn_in_run(b) && kj_warns(b->diag, KJ_RULE_SAME_RANDOM))
        see_call(b, init);
}

/* ---- The same number in each turn ---- */

/* k of `for k in range(n)`, and n where it has a name. */
static const char *turn_of(kj_body *b, const kj_expr *place)
{
    const kj_stmt *loop = b->loop;
    const kj_expr *iter = loop->kind == KJ_S_FOR ? loop->u.for_.iter : NULL;
    const kj_name *name = iter ? loop->u.for_.names : NULL;
    const kj_expr *n =
        iter && iter->kind == KJ_E_CALL && kj_warn_is_builtin(b, iter->u.call.callee, "range")
            ? iter->u.call.args
            : NULL;
    if (!n || n->next || name->next || name->name[0] == '_' || place->kind != KJ_E_NAME ||
        (n->kind != KJ_E_NAME && n->kind != KJ_E_INT))
        return NULL;
    const char *text = kj_warn_text(b, n->span.begin, n->span.end);
    return text ? kj_arena_printf(b->diag->arena, "%s * %s + %s", place->u.name, text, name->name)
                : NULL;
}

static bool is_same_in_turns(const kj_body *b, const kj_expr *e)
{
    if (!b->loop || b->picked != b->loop_picked || !seed_of(e))
        return false;
    for (const kj_expr *arg = e->u.call.args; arg; arg = arg->next)
        if (!stays(b, arg, b->loop->span.begin))
            return false;
    return true;
}

static void tell_turns(kj_body *b, const kj_expr *e)
{
    const kj_expr *place = seed_of(e)->next;
    kj_message *m = kj_warn(b->diag, e->span, KJ_RULE_SAME_RANDOM,
                            "each turn of the loop gets the same number here");
    const char *turn = turn_of(b, place);
    const char *front = kj_warn_text(b, e->span.begin, place->span.begin);
    const char *behind = kj_warn_text(b, place->span.end, e->span.end);
    if (turn && front && behind)
        kj_write(b->diag, m, e->span, "%s %s%s", front, turn, behind);
    else
        kj_hint(
            b->diag, m,
            "a seed and the number's place make it: i * n + k of n turns that k counts; where the "
            "same is meant, make it in front of the loop");
    kj_note(b->diag, m, (kj_span){b->loop->span.begin, b->loop->span.begin + 1}, "the loop");
}

void kj_warn_of_random(kj_body *b, const kj_expr *e)
{
    if (!is_random(b, e))
        return;
    if (is_same_in_turns(b, e))
        tell_turns(b, e);
    else if (!b->picked)
        warn_of_fixed(b, e);
}
