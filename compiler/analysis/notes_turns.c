/* Notes of loads that are of the same element on every turn of a loop, and of memory that nobody writes meanwhile. */
#include "analysis/notes.h"

/* A loop around what is looked at. */
typedef struct kj_turning {
    struct kj_turning *up;
    const kj_tstmt *loop;
    bool *moves; /* by kj_var.id: it is declared or assigned in the loop */
} kj_turning;

static bool see_moves(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    bool *moves = ctx;
    const kj_var *v = NULL;
    if (e)
        v = e->kind == KJ_TE_INLINE ? e->u.inline_.result : NULL;
    else if (s->kind == KJ_TS_DECL)
        v = s->u.decl.var;
    else if (s->kind == KJ_TS_ASSIGN)
        v = s->u.assign.var;
    else if (s->kind == KJ_TS_FOR)
        v = s->u.for_.var;
    else if (s->kind == KJ_TS_BARRIER)
        v = s->u.barrier.result;
    else if (s->kind == KJ_TS_LAUNCH)
        v = s->u.launch.result;
    if (v)
        moves[v->id] = true;
    return true;
}

void kj_note_enter(kj_notes *w, const kj_tstmt *loop)
{
    kj_turning *t = KJ_NEW(w->arena, kj_turning);
    bool counts = loop->kind == KJ_TS_FOR;
    *t = (kj_turning){w->turning, loop, KJ_NEW_ARRAY(w->arena, bool, (size_t)w->kernel->nvars + 1)};
    if (counts)
        t->moves[loop->u.for_.var->id] = true;
    kj_walk(counts ? loop->u.for_.body : loop->u.while_.body, NULL, see_moves, t->moves);
    w->turning = t;
}

void kj_note_leave(kj_notes *w)
{
    w->turning = w->turning->up;
}

/* Arrays of other parameters have other memory, as far as the forms go. */
static bool is_read_only(const kj_notes *w, const kj_tarray *a)
{
    const kj_tarray *root = a->root;
    return root->space == KJ_CONST ||
           (root->space == KJ_GLOBAL && !root->written && w->kernel->disjoint);
}

static bool is_fixed(const kj_notes *w, const kj_turning *t, const kj_texpr *e, int depth);

static bool are_fixed(const kj_notes *w, const kj_turning *t, const kj_texpr *const *e, int n,
                      int depth)
{
    bool all = true;
    for (int i = 0; i < n && all; i++)
        all = is_fixed(w, t, e[i], depth + 1);
    return all;
}

static bool is_fixed_var(const kj_notes *w, const kj_turning *t, const kj_var *v, int depth)
{
    const kj_origin *o = v->mutable ? NULL : w->lanes.origins[v->id];
    if (!t->moves[v->id])
        return true;
    return o && !o->next && v != (t->loop->kind == KJ_TS_FOR ? t->loop->u.for_.var : NULL) &&
           is_fixed(w, t, o->value, depth + 1);
}

/* Has it the same value on every turn? */
static bool is_fixed(const kj_notes *w, const kj_turning *t, const kj_texpr *e, int depth)
{
    enum { DEEPEST = 12 };
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    if (depth > DEEPEST)
        return false;
    switch (e->kind) {
    case KJ_TE_VAR: return is_fixed_var(w, t, e->u.var, depth);
    case KJ_TE_ATOMIC:
    case KJ_TE_INLINE: return false;
    case KJ_TE_LOAD:
        if (!is_read_only(w, e->u.load.array))
            return false;
        break;
    case KJ_TE_CALL:
        if (e->u.call.id != KJ_BI_MIN && e->u.call.id != KJ_BI_MAX && e->u.call.id != KJ_BI_CLAMP)
            return false;
        break;
    default: break;
    }
    return are_fixed(w, t, operands, kj_operands(e, operands), depth);
}

void kj_note_turns(kj_notes *w, const kj_texpr *load, const char *subject)
{
    const kj_turning *of = NULL;
    kj_turns turns;
    if (load->u.load.array->root->space != KJ_GLOBAL)
        return;
    for (const kj_turning *t = w->turning; t && is_fixed(w, t, load, 0); t = t->up)
        of = t;
    if (!of || (of->loop->kind == KJ_TS_FOR && kj_known_turns(of->loop, &turns) && turns.n < 2))
        return;
    kj_note_add(w, load->span, KJ_NOTE_MEMORY, subject, NULL,
                "the same element on every turn of the loop in line %u",
                kj_where(w->source, of->loop->span.begin).line);
}
