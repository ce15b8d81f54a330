/* Checks of indices in front of loops: of x[k] in a loop over k it is enough to look at the first k and the last,
 * and where both are inside, the turns look at nothing. Where they are not, or some thread's are not, the loop
 * runs that looks in each turn, and tells the first that fails.
 *
 * And behind them, on a GPU: of x[col[k]] in a loop that only computes, a turn notes that an index was outside and goes
 * on with element 0. A branch there would keep the loads of several turns from being under way together. If one was
 * outside, the variables are as they were, and the loop that looks runs. */
#include "analysis/limits.h"
#include "lower/gang/gang.h"

enum {
    HEAVIEST = 40,        /* statements of a loop that there are two of */
    MOST_TURNS = 1 << 20, /* of one behind which it is told that an index was outside */
};

typedef struct search {
    const kj_tstmt *loop;
    kj_hoisted *out;
    bool refused, acts;
    bool crowded;       /* not all that could be made in front are */
    kj_reliance relies; /* an access is inside because a check of another is made */
} search;

/* A check whose index is looked at in the turn. */
static void note(search *f, const kj_index_check *c)
{
    kj_hoisted *h = f->out;
    if (c->index || !kj_is_lasting_extent(c->extent) || h->nnoted == KJ_MOST_HOISTED)
        f->acts = true;
    else
        h->noted[h->nnoted++] = c;
}

static void take(search *f, const kj_tarray *a, kj_texpr *const *index)
{
    f->relies = a->relies > f->relies ? a->relies : f->relies;
    for (const kj_index_check *c = a->checks; c; c = c->next) {
        bool counted = kj_is_counted(f->loop, c, index);
        f->crowded |= counted && f->out->n == KJ_MOST_HOISTED;
        if (counted && f->out->n < KJ_MOST_HOISTED)
            f->out->checks[f->out->n++] = c;
        else
            note(f, c);
    }
}

static void assign(search *f, const kj_var *v)
{
    kj_hoisted *h = f->out;
    for (int i = 0; i < h->nvars; i++)
        if (h->vars[i] == v)
            return;
    if (h->nvars == KJ_MOST_HOISTED)
        f->acts = true;
    else
        h->vars[h->nvars++] = v;
}

static void visit_stmt(search *f, const kj_tstmt *s)
{
    f->refused |= s->kind == KJ_TS_FOR || s->kind == KJ_TS_WHILE || s->kind == KJ_TS_BARRIER ||
                  s->kind == KJ_TS_LAUNCH;
    f->acts |= s->kind != KJ_TS_DECL && s->kind != KJ_TS_ASSIGN && s->kind != KJ_TS_IF;
    if (s->kind == KJ_TS_STORE)
        take(f, s->u.store.array, s->u.store.index);
    if (s->kind == KJ_TS_ASSIGN)
        assign(f, s->u.assign.var);
}

/* Threads that wait for each other are in one loop. */
static bool visit(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    search *f = ctx;
    f->acts |= e && e->checked;
    if (!e) {
        visit_stmt(f, s);
    } else if (e->kind == KJ_TE_LOAD) {
        take(f, e->u.load.array, e->u.load.index);
    } else if (e->kind == KJ_TE_ATOMIC) {
        f->refused = true;
    } else if (e->kind == KJ_TE_CALL) {
        kj_how how = kj_builtins[e->u.call.id].how;
        f->refused |= how == KJ_HOW_WARP || how == KJ_HOW_FENCE;
        f->acts |= how == KJ_HOW_RANDOM || how == KJ_HOW_ATOMIC;
    }
    return !f->refused;
}

bool kj_hoist(const kj_lower *lo, const kj_tstmt *s, kj_hoisted *out)
{
    search f = {.loop = s, .out = out};
    const kj_texpr *step = s->u.for_.step;
    *out = (kj_hoisted){.n = 0};
    if (lo->hoisted || step->kind != KJ_TE_CONST || step->u.value.i < 1 ||
        (s->divergence & KJ_DEP_ATOMIC))
        return false;
    kj_walk(s->u.for_.body, NULL, visit, &f);
    bool relies = f.relies == KJ_RELIES || (f.relies == KJ_RELIES_COUNTED && f.crowded);
    out->notes = out->nnoted > 0 && !f.acts && !relies && lo->target->narrows && !lo->watch &&
                 !kj_loses(s->u.for_.body, NULL, false) && !kj_waits(lo->arena, lo->kernel, s);
    return !f.refused && (out->n > 0 || out->notes) &&
           kj_cost(s->u.for_.body, NULL, HEAVIEST) <= HEAVIEST;
}

/* start >= 0 and stop <= extent; and what has no turn touches nothing. Of an index that a check counts no stop is
 * above all of i64; a number of turns may be, of u64. */
kj_mask kj_hoisted_inside(kj_lower *lo, const kj_hoisted *h, kj_tile start, kj_tile stop, kj_mask m)
{
    kj_mask none = kj_mask_of(kj_tile_binary(lo, KJ_OP_GE, start, stop));
    start = kj_tile_convert(lo, start, KJ_I64);
    stop = kj_tile_convert(lo, stop, KJ_I64);
    kj_mask inside = kj_mask_of(kj_tile_binary(lo, KJ_OP_GE, start, kj_tile_int(lo, 0)));
    for (int i = 0; i < h->n; i++) {
        kj_tile extent = kj_lower_expr(lo, h->checks[i]->extent, m);
        kj_mask below = kj_mask_of(kj_tile_binary(lo, KJ_OP_LE, stop, extent));
        inside = kj_mask_and(lo, inside, below);
    }
    if (h->notes) { /* it is told behind the last turn */
        kj_tile turns = kj_tile_convert(lo, kj_tile_binary(lo, KJ_OP_SUB, stop, start), KJ_U64),
                most = kj_tile_convert(lo, kj_tile_int(lo, MOST_TURNS), KJ_U64);
        inside = kj_mask_and(lo, inside, kj_mask_of(kj_tile_binary(lo, KJ_OP_LE, turns, most)));
    }
    for (int i = 0; h->notes && i < h->nnoted; i++) { /* there is an element 0 */
        kj_tile extent = kj_lower_expr(lo, h->noted[i]->extent, m);
        inside = kj_mask_and(lo, inside,
                             kj_mask_of(kj_tile_binary(lo, KJ_OP_GT, extent, kj_tile_int(lo, 0))));
    }
    return kj_mask_or(lo, inside, none);
}

void kj_hoisted_begin(kj_lower *lo, kj_hoisted *h)
{
    lo->hoisted = h;
    if (!h->notes)
        return;
    h->outside = kj_alloca(lo, lo->i1, "outside");
    LLVMBuildStore(lo->b, LLVMConstInt(lo->i1, 0, false), h->outside);
    for (int i = 0; i < h->nvars; i++)
        if (lo->slots[h->vars[i]->id].at[0])
            h->before[i] = kj_slot_read(lo, h->vars[i]);
}

void kj_hoisted_end(kj_lower *lo, const kj_hoisted *h, LLVMBasicBlockRef again, kj_mask m)
{
    lo->hoisted = NULL;
    if (!h->notes)
        return;
    LLVMBasicBlockRef back = kj_new_block(lo, "back"), on = kj_new_block(lo, "on");
    LLVMBuildCondBr(lo->b, LLVMBuildLoad2(lo->b, lo->i1, h->outside, ""), back, on);
    LLVMPositionBuilderAtEnd(lo->b, back);
    for (int i = 0; i < h->nvars; i++)
        if (h->before[i].rows > 0)
            kj_slot_write(lo, h->vars[i], h->before[i], m);
    LLVMBuildBr(lo->b, again);
    LLVMPositionBuilderAtEnd(lo->b, on);
}

kj_tile kj_note_outside(kj_lower *lo, kj_tile index, LLVMValueRef inside)
{
    LLVMValueRef at = lo->hoisted->outside, so_far = LLVMBuildLoad2(lo->b, lo->i1, at, "");
    LLVMBuildStore(lo->b, LLVMBuildOr(lo->b, so_far, LLVMBuildNot(lo->b, inside, ""), ""), at);
    index.v[0] =
        LLVMBuildSelect(lo->b, inside, index.v[0], LLVMConstNull(LLVMTypeOf(index.v[0])), "");
    kj_bound(&index, 0, INT64_MAX);
    return index;
}

bool kj_is_hoisted(const kj_lower *lo, const kj_index_check *c)
{
    for (int i = 0; lo->hoisted && i < lo->hoisted->n; i++)
        if (lo->hoisted->checks[i] == c)
            return true;
    return false;
}
