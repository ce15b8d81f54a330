/* If-conversion, of conditions whose both ways end with a store to one place: one store of a
 * choice. Typed AST in and out, for CPUs.
 *
 *     if v < 0 { out[i] = -v } else { out[i] = sqrt(v) }
 *
 * stores twice under masks, and goes both ways one after the other. Where values can be computed for all threads,
 * as here, that becomes out[i] = -v if v < 0 else sqrt(v), and likewise with variables; else each way leaves its
 * value in a variable that is stored behind both. Chains of conditions are joined from their ends. What a thread
 * does, and in which order, stays the same but for its store, behind which each way has nothing. Places that are
 * checked are left alone: what is told of them names their line. */
#include "analysis/regions.h"

enum { LONGEST = 8 /* chain of choices */, DEEPEST = 16 /* rests within each other */ };

typedef struct joining {
    kj_arena *arena;
    kj_tkernel *kernel;
    int depth; /* of rests */
} joining;

/* ---- Are they one place? ---- */

/* By numbers that each way has behind all else that it does. */
static bool are_one_place(const kj_tstmt *a, const kj_tstmt *b)
{
    const kj_tarray *x = a->u.store.array, *y = b->u.store.array;
    if (x->root != y->root || x->elem != y->elem || x->ndim != y->ndim || x->bytes || y->bytes ||
        x->whole || y->whole || x->checks || y->checks || kj_is_fetched_again(x) ||
        !x->offset != !y->offset || (x->offset && !kj_is_same_number(x->offset, y->offset)))
        return false;
    for (int i = 0; i < x->ndim; i++)
        if (!kj_is_same_number(x->stride[i], y->stride[i]) ||
            !kj_is_same_number(a->u.store.index[i], b->u.store.index[i]))
            return false;
    return true;
}

/* ---- Joining ---- */

static bool visit_leave(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    const kj_tblock *block = ctx;
    return e || s->kind != KJ_TS_LEAVE || s->u.leave != block;
}

static kj_tstmt **last_of(kj_tstmt **list)
{
    while (*list && (*list)->next)
        list = &(*list)->next;
    return list;
}

/* Harmless, or a chain of choices, each of which is. */
static bool is_cheap(const kj_texpr *e)
{
    for (int depth = 0; !kj_is_harmless(e); depth++) {
        if (e->kind != KJ_TE_SELECT || depth == LONGEST || !kj_is_harmless(e->u.select.yes) ||
            !kj_is_harmless(e->u.select.test))
            return false;
        e = e->u.select.no;
    }
    return true;
}

static kj_texpr *select_of(joining *j, const kj_tstmt *s, kj_texpr *yes, kj_texpr *no)
{
    kj_texpr *e = KJ_NEW(j->arena, kj_texpr);
    *e = (kj_texpr){.kind = KJ_TE_SELECT, .type = yes->type, .span = s->span};
    e->u.select.test = s->u.if_.test;
    e->u.select.yes = yes;
    e->u.select.no = no;
    return e;
}

/* `both` is replaced by the statement, whose value is the one of either way. */
static void put_choice(joining *j, kj_tstmt *both, const kj_tstmt *statement, kj_texpr *yes,
                       kj_texpr *no)
{
    kj_texpr *value = select_of(j, both, yes, no);
    kj_tstmt *next = both->next;
    *both = *statement;
    both->next = next;
    if (both->kind == KJ_TS_STORE)
        both->u.store.value = value;
    else
        both->u.assign.value = value;
}

static void set_instead(kj_tstmt *store, kj_var *v)
{
    kj_texpr *value = store->u.store.value;
    store->kind = KJ_TS_ASSIGN;
    store->u.assign.var = v;
    store->u.assign.value = value;
}

/* Each way leaves its value in a variable, which is stored behind both. */
static void put_store_behind(joining *j, kj_tstmt *both, kj_tstmt *yes, kj_tstmt *no)
{
    kj_var *v = KJ_NEW(j->arena, kj_var);
    kj_texpr *value = KJ_NEW(j->arena, kj_texpr);
    kj_tstmt *decl = KJ_NEW(j->arena, kj_tstmt), *rest = KJ_NEW(j->arena, kj_tstmt),
             *store = KJ_NEW(j->arena, kj_tstmt);
    *v = (kj_var){.name = "stored",
                  .span = yes->span,
                  .type = yes->u.store.value->type,
                  .id = j->kernel->nvars++,
                  .mutable = true,
                  .param = -1};
    *value = (kj_texpr){.kind = KJ_TE_VAR, .type = v->type, .span = yes->span, .u.var = v};
    *store = *yes;
    store->u.store.value = value;
    set_instead(yes, v);
    set_instead(no, v);
    *rest = *both;
    store->next = both->next;
    rest->next = store;
    *decl = (kj_tstmt){.kind = KJ_TS_DECL, .span = yes->span, .next = rest};
    decl->u.decl.var = v;
    *both = *decl;
}

/* Joins what the condition's ways end with; false where that is nothing. */
static bool join_ends(joining *j, kj_tstmt *s)
{
    kj_tstmt *yes = *last_of(&s->u.if_.yes), *no = *last_of(&s->u.if_.no);
    if (!yes || !no || s->barrier || yes->kind != no->kind)
        return false;
    bool single = yes == s->u.if_.yes && no == s->u.if_.no;
    if (yes->kind == KJ_TS_ASSIGN && single && yes->u.assign.var == no->u.assign.var) {
        kj_texpr *v[2] = {yes->u.assign.value, no->u.assign.value};
        bool cheap = is_cheap(v[0]) && is_cheap(v[1]);
        if (cheap)
            put_choice(j, s, yes, v[0], v[1]);
        return cheap;
    }
    if (yes->kind != KJ_TS_STORE || !are_one_place(yes, no))
        return false;
    if (no->u.store.array->relies > yes->u.store.array->relies)
        yes->u.store.array = no->u.store.array;
    kj_texpr *v[2] = {yes->u.store.value, no->u.store.value};
    if (single && is_cheap(v[0]) && is_cheap(v[1]))
        put_choice(j, s, yes, v[0], v[1]);
    else
        put_store_behind(j, s, yes, no);
    return true;
}

static bool visit_barrier(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    (void)ctx;
    return e || s->kind != KJ_TS_BARRIER;
}

/* `if test { a = 1; return }` in front of the block's rest: that is the other way, but for barriers, at which who has
 * left is not waited for. */
static void join_rest(joining *j, kj_tstmt *s)
{
    kj_tstmt **leave = last_of(&s->u.if_.yes), *end = *leave, *rest = s->next;
    if (!kj_walk(rest, NULL, visit_barrier, NULL))
        return;
    *leave = NULL;
    s->u.if_.no = rest;
    s->next = NULL;
    if (join_ends(j, s))
        return;
    *leave = end;
    s->u.if_.no = NULL;
    s->next = rest;
}

static void join_list(joining *j, kj_tstmt **list, const kj_tblock *ends);

static void join_block(joining *j, kj_tblock *block)
{
    join_list(j, &block->body, block);
    block->leaves = !kj_walk(block->body, NULL, visit_leave, block);
}

static void join_stmt(joining *j, kj_tstmt *s, const kj_tblock *ends)
{
    switch (s->kind) {
    case KJ_TS_IF:
        join_list(j, &s->u.if_.yes, ends);
        join_list(j, &s->u.if_.no, ends);
        join_ends(j, s);
        break;
    case KJ_TS_FOR: join_list(j, &s->u.for_.body, NULL); break;
    case KJ_TS_WHILE: join_list(j, &s->u.while_.body, NULL); break;
    case KJ_TS_INLINE: join_block(j, s->u.block); break;
    default: break;
    }
}

static bool is_left(kj_tstmt *s, const kj_tblock *block)
{
    if (s->kind != KJ_TS_IF || s->u.if_.no || !s->next || !block)
        return false;
    const kj_tstmt *last = *last_of(&s->u.if_.yes);
    return last && last->kind == KJ_TS_LEAVE && last->u.leave == block;
}

/* `if a { r = 1; return } else { if b { r = 2; return } }`, whose second way has the rest behind it as well as who goes
 * neither. */
static void flatten(kj_tstmt *s, const kj_tblock *block)
{
    const kj_tstmt *yes = s->kind == KJ_TS_IF ? s->u.if_.yes : NULL;
    if (!block || !yes || !s->u.if_.no || s->barrier || yes->kind != KJ_TS_ASSIGN || !yes->next ||
        yes->next->kind != KJ_TS_LEAVE || yes->next->u.leave != block)
        return;
    (*last_of(&s->u.if_.no))->next = s->next;
    s->next = s->u.if_.no;
    s->u.if_.no = NULL;
}

/* ---- What a call returns ---- */

typedef struct assignments {
    const kj_var *var;
    int n;
} assignments;

static bool count_assignment(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    assignments *f = ctx;
    f->n += !e && s->kind == KJ_TS_ASSIGN && s->u.assign.var == f->var;
    return true;
}

/* A call whose returns have become one, which ends it, is its statements, and its result a name for that value: as if
 * it had been written there. `decl` begins the result. */
static void unwrap(kj_tstmt *decl)
{
    kj_tstmt *call = decl->next;
    if (decl->kind != KJ_TS_DECL || decl->u.decl.init || !call || call->kind != KJ_TS_INLINE ||
        call->u.block->leaves || !call->u.block->body)
        return;
    kj_tstmt *body = call->u.block->body, *last = *last_of(&body);
    assignments f = {.var = decl->u.decl.var};
    kj_walk(body, NULL, count_assignment, &f);
    if (last->kind != KJ_TS_ASSIGN || last->u.assign.var != f.var || f.n != 1)
        return;
    kj_texpr *value = last->u.assign.value;
    last->kind = KJ_TS_DECL;
    last->u.decl.var = decl->u.decl.var;
    last->u.decl.init = value;
    last->u.decl.var->mutable = false;
    last->next = call->next;
    *decl = *body;
}

/* `ends`: the block that ends with the list, or NULL. */
static void join_list(joining *j, kj_tstmt **list, const kj_tblock *ends)
{
    for (kj_tstmt *s = *list, *before = NULL, *next; s; before = s, s = next) {
        flatten(s, ends);
        next = s->next;
        join_stmt(j, s, next ? NULL : ends);
        if (j->depth < DEEPEST && is_left(s, ends)) {
            j->depth++;
            join_list(j, &s->next, ends);
            j->depth--;
            join_rest(j, s);
            return;
        }
        if (before && s->kind == KJ_TS_INLINE)
            unwrap(before);
    }
}

const kj_tkernel *kj_with_stores_joined(kj_arena *arena, const kj_tkernel *kernel)
{
    if (kernel->checks & KJ_CHECKS_WATCHED)
        return kernel;
    joining j = {.arena = arena, .kernel = KJ_NEW(arena, kj_tkernel)};
    *j.kernel = *kernel;
    join_block(&j, j.kernel->body);
    return j.kernel;
}
