/* Loops over a row of each thread's that only store along it, as `a[i, k:] -= f * a[k, k:]` is: a thread after the
 * other, lanes being its turns, so that what they access lies side by side. Where that cannot be, as a row has few
 * turns, or something that is stored may be loaded by other turns, the loop runs as others do:
 *
 *     places: those of the walking accesses in the first turn
 *     if there are turns enough, and nothing sees the difference:
 *         for each thread that runs: for so many of its turns as there are lanes: the body
 *     else: the loop */
#include "lower/gang/strip.h"

enum {
    MOST_OUTSIDE = 16,
    LEAST = 16 /* turns of the longest row, of which each thread is worth its own loop */
};

/* What the body reads that each thread has its own value of, in memory while the loop runs. */
typedef struct outside {
    const kj_var *var;
    kj_slot before;
    kj_tile tile;
    LLVMValueRef room;
} outside;

typedef struct along {
    const kj_lower *lo;
    kj_strip strip;
    outside outside[MOST_OUTSIDE];
    int noutside;
    const kj_var *inside[KJ_MOST_LETS];
    int ninside;
    bool refused;
} along;

/* ---- Which loops ---- */

static void see_var(along *f, const kj_var *v)
{
    bool seen = v->param >= 0 || v == f->strip.loop->u.for_.var;
    for (int i = 0; i < f->ninside; i++)
        seen |= f->inside[i] == v;
    for (int i = 0; i < f->noutside; i++)
        seen |= f->outside[i].var == v;
    if (seen)
        return;
    if (f->noutside == MOST_OUTSIDE)
        f->refused = true;
    else
        f->outside[f->noutside++].var = v;
}

static bool takes_call(const kj_texpr *e)
{
    kj_how how = kj_builtins[e->u.call.id].how;
    return how == KJ_HOW_MATH || how == KJ_HOW_LLVM || how == KJ_HOW_CODE;
}

/* Nothing whose value has a place by what differs between threads (kj_lanes_of), and no thread's own memory. */
static bool see_expr(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    along *f = ctx;
    (void)s;
    switch (e->kind) {
    case KJ_TE_CONST:
    case KJ_TE_DIM:
    case KJ_TE_UNARY:
    case KJ_TE_BINARY:
    case KJ_TE_CONVERT:
    case KJ_TE_BITS:
    case KJ_TE_FMA: break;
    case KJ_TE_VAR: see_var(f, e->u.var); break;
    case KJ_TE_INDEX: f->refused |= kj_dep(f->lo->deps, e) != 0; break;
    case KJ_TE_CALL: f->refused |= !takes_call(e); break;
    case KJ_TE_LOAD: f->refused |= e->u.load.array->root->space == KJ_LOCAL; break;
    default: f->refused = true;
    }
    return !f->refused;
}

static bool is_walk(const kj_strip *strip, kj_texpr *const *index)
{
    for (int i = 0; i < strip->nwalks; i++)
        if (strip->walks[i].index == index)
            return true;
    return false;
}

static void see_stmt(along *f, const kj_tstmt *s)
{
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    if (s->kind == KJ_TS_DECL && s->u.decl.init && !s->u.decl.var->mutable &&
        f->ninside < KJ_MOST_LETS) {
        kj_walk_expr(NULL, s->u.decl.init, see_expr, f);
        f->inside[f->ninside++] = s->u.decl.var;
    } else if (s->kind == KJ_TS_STORE && is_walk(&f->strip, s->u.store.index)) {
        int n = kj_access_operands(s->u.store.array, s->u.store.index, operands);
        for (int i = 0; i < n; i++)
            kj_walk_expr(NULL, operands[i], see_expr, f);
        kj_walk_expr(NULL, s->u.store.value, see_expr, f);
    } else {
        f->refused = true;
    }
}

static bool find(along *f, const kj_tstmt *loop)
{
    kj_turns turns;
    const kj_strip *strip = &f->strip;
    if ((kj_known_turns(loop, &turns) && turns.n < LEAST) ||
        !kj_strip_find(f->lo, loop, &f->strip) || strip->fails || strip->strays ||
        strip->stored.n > 0)
        return false;
    for (const kj_tstmt *s = loop->u.for_.body; s && !f->refused; s = s->next)
        see_stmt(f, s);
    return !f->refused;
}

/* Computes the places in the first turn. Are the lanes of all that is stored in rows of their own? */
static bool find_places(kj_lower *lo, along *f, kj_tile start, kj_mask m)
{
    bool any = false, all = true;
    kj_strip_goto(lo, &f->strip, start, m);
    for (int i = 0; i < f->strip.nwalks; i++) {
        kj_along *w = &f->strip.walks[i];
        w->at = kj_lower_access(lo, w->array, w->index, m);
        w->moved = true;
        any |= w->stores;
        all &= !w->stores || (w->at.offset.lanes > 1 && !kj_is_unit(w->at.offset) && !w->at.group &&
                              !kj_is_strided(lo, &w->at));
    }
    return any && all;
}

/* ---- Values of a thread ---- */

static LLVMValueRef kept(kj_lower *lo, kj_tile t, const char *name)
{
    LLVMTypeRef row = kj_vec(lo, t.type == KJ_BOOL ? KJ_U8 : t.type, lo->lanes);
    LLVMValueRef room = kj_alloca(lo, LLVMArrayType2(row, (uint64_t)lo->rows), name);
    t = kj_tile_wide(lo, t);
    for (int r = 0; r < lo->rows; r++) {
        LLVMValueRef v = kj_tile_vector(lo, t, r, lo->lanes), at = kj_i64(lo, r);
        if (t.type == KJ_BOOL)
            v = LLVMBuildZExt(lo->b, v, row, "");
        LLVMBuildStore(lo->b, v, LLVMBuildGEP2(lo->b, row, room, &at, 1, ""));
    }
    return room;
}

/* That of a thread, counted in the gang; what is known of all of them is of it. */
static kj_tile of_thread(kj_lower *lo, kj_tile t, LLVMValueRef room, LLVMValueRef thread)
{
    LLVMTypeRef type = lo->types[t.type == KJ_BOOL ? KJ_U8 : t.type];
    LLVMValueRef v =
        LLVMBuildLoad2(lo->b, type, LLVMBuildGEP2(lo->b, type, room, &thread, 1, ""), "");
    kj_tile out =
        kj_tile_scalar(t.type, t.type == KJ_BOOL ? LLVMBuildTrunc(lo->b, v, lo->i1, "") : v);
    out.bounds = t.bounds;
    return out;
}

static void keep_outside(kj_lower *lo, along *f)
{
    for (int i = 0; i < f->noutside; i++) {
        outside *o = &f->outside[i];
        o->before = lo->slots[o->var->id];
        o->tile = kj_slot_read(lo, o->var);
        if (o->tile.rows > 1 || o->tile.lanes > 1)
            o->room = kept(lo, o->tile, o->var->name);
    }
}

static bool is_one(const along *f, const kj_var *v)
{
    for (int i = 0; i < f->strip.nones; i++)
        if (f->strip.ones[i]->u.var == v)
            return true;
    return false;
}

static void enter_thread(kj_lower *lo, const along *f, LLVMValueRef thread)
{
    for (int i = 0; i < f->noutside; i++) {
        const outside *o = &f->outside[i];
        kj_tile t = is_one(f, o->var) ? kj_tile_int(lo, 1)
                    : o->room         ? of_thread(lo, o->tile, o->room, thread)
                                      : o->tile;
        lo->slots[o->var->id] = (kj_slot){.rows = 1, .lanes = 1, .known = true, .tile = t};
    }
}

/* ---- Turns ---- */

/* The range, and in what order; of a thread: its first turn's value, or its last one's if it goes down. */
typedef struct turns {
    const kj_range *range;
    kj_tile first;
    LLVMValueRef n;
} turns;

/* Those from number `from` on, as many as there are lanes, or those of the mask. Which comes first makes no
 * difference. */
static void lower_lanes(kj_lower *lo, const along *f, const turns *t, LLVMValueRef from, kj_mask m)
{
    const kj_tstmt *loop = f->strip.loop;
    kj_slot *slot = &lo->slots[loop->u.for_.var->id];
    LLVMValueRef by = LLVMBuildIntCast2(lo->b, from, LLVMTypeOf(t->first.v[0]), false, "");
    kj_tile i = kj_tile_like(t->first.type, 1, lo->lanes);
    i.form = KJ_LINEAR;
    i.stride = 1;
    i.v[0] = LLVMBuildAdd(lo->b, t->first.v[0], by, "");
    kj_know_range(&i, t->range->start, t->range->stop, t->range->step, false);
    slot->known = true;
    slot->tile = i;
    kj_lower_stmts(lo, loop->u.for_.body, NULL, m);
    kj_parts_end(lo);
}

static void lower_thread(kj_lower *lo, const along *f, const turns *t)
{
    LLVMBasicBlockRef many = kj_new_block(lo, "lanes"), some = kj_new_block(lo, "some"),
                      few = kj_new_block(lo, "few"), done = kj_new_block(lo, "row");
    LLVMBasicBlockRef before = LLVMGetInsertBlock(lo->b);
    LLVMValueRef zero = kj_i64(lo, 0),
                 whole = LLVMBuildAnd(lo->b, t->n, kj_i64(lo, -lo->lanes), "");
    LLVMBuildCondBr(lo->b, LLVMBuildICmp(lo->b, LLVMIntNE, whole, zero, ""), many, some);
    LLVMPositionBuilderAtEnd(lo->b, many);
    LLVMValueRef from = LLVMBuildPhi(lo->b, lo->i64, "from");
    lower_lanes(lo, f, t, from, kj_all);
    LLVMValueRef next = LLVMBuildAdd(lo->b, from, kj_i64(lo, lo->lanes), "");
    LLVMAddIncoming(from, (LLVMValueRef[]){zero, next},
                    (LLVMBasicBlockRef[]){before, LLVMGetInsertBlock(lo->b)}, 2);
    LLVMBuildCondBr(lo->b, LLVMBuildICmp(lo->b, LLVMIntNE, next, whole, ""), many, some);
    LLVMPositionBuilderAtEnd(lo->b, some);
    LLVMValueRef left = LLVMBuildSub(lo->b, t->n, whole, "");
    LLVMBuildCondBr(lo->b, LLVMBuildICmp(lo->b, LLVMIntNE, left, zero, ""), few, done);
    LLVMPositionBuilderAtEnd(lo->b, few);
    kj_tile in = kj_tile_like(KJ_BOOL, 1, lo->lanes);
    in.form = KJ_PREFIX;
    in.v[0] = LLVMBuildTrunc(lo->b, left, lo->i32, "");
    lower_lanes(lo, f, t, whole, kj_mask_of(in));
    LLVMBuildBr(lo->b, done);
    LLVMPositionBuilderAtEnd(lo->b, done);
}

static void enter_turns(kj_lower *lo, const along *f, turns *t, LLVMValueRef starts,
                        LLVMValueRef thread)
{
    if (starts)
        t->first = of_thread(lo, t->range->start, starts, thread);
    if (!f->strip.down)
        return;
    LLVMValueRef back = LLVMBuildSub(lo->b, t->n, kj_i64(lo, 1), "");
    back = LLVMBuildIntCast2(lo->b, back, LLVMTypeOf(t->first.v[0]), false, "");
    t->first.v[0] = LLVMBuildSub(lo->b, t->first.v[0], back, "");
}

/* The threads of m among those of n rows, a bit each. */
static LLVMValueRef bits_of(kj_lower *lo, kj_mask m, int first, int n)
{
    LLVMValueRef all = kj_i64(lo, 0);
    for (int r = 0; r < n; r++) {
        LLVMValueRef row = kj_mask_bits(lo, kj_mask_row(lo, m, first + r, lo->lanes), lo->lanes);
        row = LLVMBuildShl(lo->b, row, kj_i64(lo, r * lo->lanes), "");
        all = LLVMBuildOr(lo->b, all, row, "");
    }
    return all;
}

/* The threads of m, which have so many turns each: of all of the gang's rows, if there are as many bits. */
static void lower_threads(kj_lower *lo, along *f, const kj_range *range, kj_tile each, kj_mask m)
{
    int rows = lo->rows, n = rows * lo->lanes <= 64 ? rows : 1;
    bool twin = lo->twin, starts_differ = range->start.rows > 1 || range->start.lanes > 1;
    kj_ahead *ahead = lo->ahead;
    kj_mask present = lo->present;
    LLVMValueRef lengths = kept(lo, each, "lengths"),
                 starts = starts_differ ? kept(lo, range->start, "starts") : NULL;
    keep_outside(lo, f);
    for (int r = 0; r < rows; r += n) {
        kj_bit_loop threads = kj_bits_begin(lo, bits_of(lo, m, r, n), true);
        kj_halt_poll(lo, f->strip.loop);
        LLVMValueRef thread = LLVMBuildAdd(lo->b, threads.thread, kj_i64(lo, r * lo->lanes), "");
        turns t = {.range = range, .first = range->start};
        t.n = LLVMBuildZExt(lo->b, of_thread(lo, each, lengths, thread).v[0], lo->i64, "");
        enter_turns(lo, f, &t, starts, thread);
        enter_thread(lo, f, thread);
        lo->rows = 1;
        lo->twin = true;
        lo->ahead = NULL;
        lo->present = kj_all;
        lower_thread(lo, f, &t);
        lo->rows = rows;
        lo->twin = twin;
        lo->ahead = ahead;
        lo->present = present;
        kj_bits_end(lo, &threads);
    }
    for (int i = 0; i < f->noutside; i++)
        lo->slots[f->outside[i].var->id] = f->outside[i].before;
}

LLVMBasicBlockRef kj_lower_along(kj_lower *lo, const kj_tstmt *s, const kj_range *range, kj_mask m)
{
    along *f = KJ_NEW(lo->arena, along);
    f->lo = lo;
    if (!find(f, s) || !find_places(lo, f, range->start, m) || !kj_strip_more(lo))
        return NULL;
    LLVMBasicBlockRef any = kj_new_block(lo, "any"), rows = kj_new_block(lo, "rows"),
                      rest = kj_new_block(lo, "rest"), done = kj_new_block(lo, "along");
    kj_tile in = kj_in_range(lo, range->start, range->stop, range->step);
    kj_mask some = kj_mask_and(lo, m, kj_mask_of(in));
    LLVMBuildCondBr(lo->b, kj_mask_any(lo, some), any, done);
    LLVMPositionBuilderAtEnd(lo->b, any);
    kj_lengths l = kj_strip_lengths(lo, &f->strip, range, some);
    LLVMValueRef enough = LLVMBuildICmp(lo->b, LLVMIntUGE, l.most, kj_i64(lo, LEAST), "");
    LLVMBuildCondBr(lo->b, LLVMBuildAnd(lo->b, l.few, enough, ""), rows, rest);
    LLVMPositionBuilderAtEnd(lo->b, rows);
    f->strip.turns = l.most;
    kj_tile one = kj_tile_convert(lo, kj_tile_int(lo, 1), KJ_I32);
    f->strip.steps = kj_tile_binary(lo, KJ_OP_SUB, l.each, one);
    kj_strip_branch(lo, &f->strip, range->start, rest, some);
    lower_threads(lo, f, range, l.each, some);
    LLVMBuildBr(lo->b, done);
    LLVMPositionBuilderAtEnd(lo->b, rest);
    return done;
}
