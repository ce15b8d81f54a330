/* Threads that leave what the rest of their gang goes on with (break, continue, return): masks in
 * variables, and the loops and inlined bodies that are left. */
#include "lower/gang/gang.h"

/* ---- Mask variables ---- */

void kj_mask_store(kj_lower *lo, const kj_mask_slot *s, kj_mask m)
{
    for (int r = 0; r < lo->rows; r++)
        LLVMBuildStore(lo->b, kj_mask_row(lo, m, r, lo->lanes), s->at[r]);
}

kj_mask_slot kj_mask_new(kj_lower *lo, const char *name, kj_mask m)
{
    kj_mask_slot s;
    for (int r = 0; r < lo->rows; r++)
        s.at[r] = kj_alloca(lo, kj_vec(lo, KJ_BOOL, lo->lanes), name);
    kj_mask_store(lo, &s, m);
    return s;
}

kj_mask kj_mask_load(kj_lower *lo, const kj_mask_slot *s)
{
    kj_tile t = kj_tile_like(KJ_BOOL, lo->rows, lo->lanes);
    for (int r = 0; r < lo->rows; r++)
        t.v[r] = LLVMBuildLoad2(lo->b, kj_vec(lo, KJ_BOOL, lo->lanes), s->at[r], "");
    return kj_mask_of(t);
}

void kj_mask_join(kj_lower *lo, const kj_mask_slot *s, kj_mask m)
{
    if (m.kind != KJ_NONE)
        kj_mask_store(lo, s, kj_mask_or(lo, kj_mask_load(lo, s), m));
}

/* ---- Exits ---- */

static kj_exit *find_exit(const kj_lower *lo, const void *target)
{
    kj_exit *x = lo->exits;
    while (x && !(target ? x->target == target : x->loop))
        x = x->up;
    return x;
}

/* Out of a masked construct threads go by losing their bit; but a loop on the way that all of the
 * gang's running threads leave together ends with a jump. */
kj_mask kj_leave(kj_lower *lo, const void *target, bool again, kj_mask m)
{
    kj_exit *to = find_exit(lo, target), *together = NULL;
    for (kj_exit *x = lo->exits; x != to; x = x->up) {
        if (x->lets_go)
            kj_mask_join(lo, &x->gone, m);
        if (x->loop && !x->masked)
            together = x;
    }
    if (!to)
        lo->target->leave(lo, target, again, m);
    else if (!to->masked)
        together = to;
    else if (again)
        kj_mask_join(lo, &to->skip, m);
    if (together)
        LLVMBuildBr(lo->b, again && together == to ? to->next : together->done);
    return kj_none;
}

bool kj_leaves_masked(const kj_lower *lo, const kj_tstmt *s)
{
    for (; s; s = s->next) {
        const kj_exit *x = s->kind == KJ_TS_LEAVE ? find_exit(lo, s->u.leave) : NULL;
        if (s->kind == KJ_TS_LEAVE && (!x || x->masked))
            return true;
        if (s->kind == KJ_TS_IF &&
            (kj_leaves_masked(lo, s->u.if_.yes) || kj_leaves_masked(lo, s->u.if_.no)))
            return true;
        if (s->kind == KJ_TS_FOR && kj_leaves_masked(lo, s->u.for_.body))
            return true;
        if (s->kind == KJ_TS_WHILE && kj_leaves_masked(lo, s->u.while_.body))
            return true;
    }
    return false;
}

bool kj_loses(const kj_tstmt *s, const kj_tstmt *end, bool in_loop)
{
    for (; s != end; s = s->next) {
        switch (s->kind) {
        case KJ_TS_BREAK:
        case KJ_TS_CONTINUE:
            if (!in_loop)
                return true;
            break;
        case KJ_TS_LEAVE: return true;
        case KJ_TS_IF:
            if (kj_loses(s->u.if_.yes, NULL, in_loop) || kj_loses(s->u.if_.no, NULL, in_loop))
                return true;
            break;
        case KJ_TS_FOR:
        case KJ_TS_WHILE:
            if (kj_loses(s->kind == KJ_TS_FOR ? s->u.for_.body : s->u.while_.body, NULL, true))
                return true;
            break;
        default: break;
        }
    }
    return false;
}
