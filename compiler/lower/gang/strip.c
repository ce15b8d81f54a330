/* Loops over a row of each thread's, by strips of some turns: what all lanes load in these is loaded in front of
 * them, each lane's elements at once, as they lie side by side, where a turn by itself would gather; what they store,
 * behind them. Turns that are left run as they do without strips, and so do all where something that is stored may be
 * loaded, or stored over, by others:
 *
 *     places: those of the walking accesses in the first turn
 *     if there are turns enough, and nothing sees the difference:
 *         for each strip: load; for each turn of it: the body; store
 *     for the turns that are left: the body */
#include "lower/gang/strip.h"

enum { MOST_STRIPS = 24 /* loops of a kernel, of which there are two each */ };

/* ---- Memory ---- */

/* Of walk number w and row r: addresses, or elements, which strips of other loops have had there before. */
static LLVMValueRef room_of(kj_lower *lo, int w, int row, bool elements)
{
    enum { WIDEST = 8, ALL = KJ_MOST_WALKS * KJ_MAX_ROWS * 2 };
    if (!lo->strip_rooms)
        lo->strip_rooms = KJ_NEW_ARRAY(lo->arena, LLVMValueRef, ALL);
    LLVMValueRef *room = &lo->strip_rooms[(w * KJ_MAX_ROWS + row) * 2 + elements];
    if (!*room) {
        uint64_t bytes = (uint64_t)(lo->lanes * WIDEST * (elements ? KJ_STRIP : 1));
        *room = kj_alloca(lo, LLVMArrayType2(lo->i8, bytes), "ahead");
        LLVMSetAlignment(*room, KJ_LINE);
    }
    return *room;
}

/* ---- Places ---- */

static bool is_among(const kj_roots *all, const kj_tarray *root)
{
    for (int i = 0; i < all->n; i++)
        if (all->root[i] == root)
            return true;
    return false;
}

/* Is the access inside only where a check that the turns make has been made? */
static bool is_behind_check(const kj_strip *strip, const kj_tarray *a)
{
    return (a->relies == KJ_RELIES && strip->fails) ||
           (a->relies == KJ_RELIES_COUNTED && strip->counts);
}

/* A load ahead, or a store behind the strip's turns, passes others of the same array by, of which nothing is known. A
 * store of which some thread's place is another row's is one of several to a place. */
static bool is_moved(const kj_lower *lo, const kj_strip *strip, const kj_along *w)
{
    bool near = kj_is_unit(w->at.offset) || w->at.group || kj_is_strided(lo, &w->at);
    if (w->at.offset.lanes == 1 || near || !w->always ||
        !kj_has_strips(lo, w->array->elem, strip->length) ||
        is_among(&strip->stored, w->array->root) ||
        (strip->apart && w->array->root->space != KJ_GLOBAL) ||
        (w->stores ? strip->apart || strip->fails : is_behind_check(strip, w->array)))
        return false;
    return !w->stores ||
           (w->at.offset.rows == lo->rows && !is_among(&strip->loaded, w->array->root));
}

bool kj_strip_more(kj_lower *lo)
{
    return ++lo->strips <= MOST_STRIPS;
}

void kj_strip_goto(kj_lower *lo, const kj_strip *strip, kj_tile turn, kj_mask m)
{
    kj_slot *slot = &lo->slots[strip->loop->u.for_.var->id];
    slot->known = true;
    slot->tile = turn;
    for (int i = 0; i < strip->nlets; i++) {
        kj_slot *let = &lo->slots[strip->lets[i]->u.decl.var->id];
        let->tile = kj_lower_expr(lo, strip->lets[i]->u.decl.init, m);
        let->known = true;
    }
}

/* Computes the places in the first turn; false if nothing is to be moved: lanes are near each other after all. */
static bool find_places(kj_lower *lo, kj_strip *strip, kj_tile start, kj_mask m)
{
    bool any = false;
    kj_strip_goto(lo, strip, start, m);
    for (int i = 0; i < strip->nwalks; i++) {
        kj_along *w = &strip->walks[i];
        w->at = kj_lower_access(lo, w->array, w->index, m);
        w->moved = is_moved(lo, strip, w);
        any |= w->moved;
    }
    return any;
}

/* ---- Strips ---- */

/* The rows' addresses, in memory. */
static void store_rows(kj_lower *lo, const kj_strip *strip)
{
    for (int i = 0; i < strip->nwalks; i++)
        for (int r = 0; strip->walks[i].moved && r < strip->walks[i].at.offset.rows; r++)
            LLVMBuildStore(lo->b, strip->walks[i].first[r], room_of(lo, i, r, false));
}

static void move_strip(kj_lower *lo, const kj_strip *strip, LLVMValueRef turn, bool stores,
                       kj_mask m)
{
    for (int i = 0; i < strip->nwalks; i++) {
        const kj_along *w = &strip->walks[i];
        kj_strip_shape form = {w->at.type, strip->length, strip->down};
        for (int r = 0; w->moved && w->stores == stores && r < w->at.offset.rows; r++) {
            LLVMValueRef rows = room_of(lo, i, r, false), room = room_of(lo, i, r, true);
            LLVMValueRef mask = m.kind == KJ_ALL ? NULL : kj_mask_row(lo, m, r, lo->lanes);
            if (stores)
                kj_strip_store(lo, &form, rows, turn, room, mask);
            else
                kj_strip_load(lo, &form, rows, turn, room);
        }
    }
}

/* Which walk it is; -1 for one that strips do not move. */
static int find_walk(const kj_strip *strip, kj_texpr *const *index)
{
    for (int i = 0; i < strip->nwalks; i++)
        if (strip->walks[i].index == index)
            return strip->walks[i].moved ? i : -1;
    return -1;
}

/* Where the turn's elements of a row are. */
static LLVMValueRef turn_of(kj_lower *lo, int walk, int row, LLVMTypeRef type)
{
    return LLVMBuildGEP2(lo->b, type, room_of(lo, walk, row, true), &lo->strip->turn, 1, "");
}

static unsigned alignment(const kj_lower *lo, kj_dtype type)
{
    int bytes = lo->lanes * kj_types[type].size;
    return (unsigned)(bytes < KJ_LINE ? bytes : KJ_LINE);
}

bool kj_strip_loaded(kj_lower *lo, kj_texpr *const *index, kj_tile *out)
{
    int i = find_walk(lo->strip, index);
    if (i < 0)
        return false;
    const kj_access *a = &lo->strip->walks[i].at;
    kj_dtype type = kj_memory_type(a->type);
    LLVMTypeRef vector = kj_vec(lo, type, lo->lanes);
    *out = kj_tile_like(type, a->offset.rows, lo->lanes);
    for (int r = 0; r < out->rows; r++) {
        out->v[r] = LLVMBuildLoad2(lo->b, vector, turn_of(lo, i, r, vector), "");
        LLVMSetAlignment(out->v[r], alignment(lo, type));
    }
    if (a->type == KJ_BOOL)
        *out = kj_tile_convert(lo, *out, KJ_BOOL);
    return true;
}

bool kj_strip_stored(kj_lower *lo, kj_texpr *const *index, const kj_texpr *value, kj_mask m)
{
    int i = find_walk(lo->strip, index);
    if (i < 0)
        return false;
    const kj_access *a = &lo->strip->walks[i].at;
    kj_dtype type = kj_memory_type(a->type);
    LLVMTypeRef vector = kj_vec(lo, type, lo->lanes);
    kj_tile v = kj_tile_dense(lo, kj_lower_expr(lo, value, m));
    if (a->type == KJ_BOOL)
        v = kj_tile_convert(lo, v, KJ_U8);
    for (int r = 0; r < a->offset.rows; r++) {
        LLVMValueRef store =
            LLVMBuildStore(lo->b, kj_tile_vector(lo, v, r, lo->lanes), turn_of(lo, i, r, vector));
        LLVMSetAlignment(store, alignment(lo, type));
    }
    return true;
}

/* How many turns there are: an i64 without a sign. */
static LLVMValueRef count_turns(kj_lower *lo, const kj_strip *strip, kj_tile start, kj_tile stop,
                                kj_tile step)
{
    LLVMValueRef some = kj_in_range(lo, start, stop, step).v[0];
    LLVMValueRef first = kj_tile_convert(lo, start, KJ_I64).v[0],
                 last = kj_tile_convert(lo, stop, KJ_I64).v[0];
    LLVMValueRef n =
        strip->down ? LLVMBuildSub(lo->b, first, last, "") : LLVMBuildSub(lo->b, last, first, "");
    return LLVMBuildSelect(lo->b, some, n, kj_i64(lo, 0), "");
}

/* The loop's variable so many turns (an i64) behind its start. */
static kj_tile value_after(kj_lower *lo, const kj_strip *strip, kj_tile start, LLVMValueRef turns)
{
    LLVMValueRef by = LLVMBuildIntCast2(lo->b, turns, LLVMTypeOf(start.v[0]), false, "");
    start.v[0] = strip->down ? LLVMBuildSub(lo->b, start.v[0], by, "")
                             : LLVMBuildAdd(lo->b, start.v[0], by, "");
    start.even = 0;
    return start;
}

/* A counting loop from 0 on. */
typedef struct counted {
    LLVMBasicBlockRef head;
    LLVMValueRef i;
} counted;

static counted count_open(kj_lower *lo, const char *name)
{
    counted c = {.head = kj_new_block(lo, name)};
    LLVMBasicBlockRef before = LLVMGetInsertBlock(lo->b);
    LLVMValueRef zero = kj_i64(lo, 0);
    LLVMBuildBr(lo->b, c.head);
    LLVMPositionBuilderAtEnd(lo->b, c.head);
    c.i = LLVMBuildPhi(lo->b, lo->i64, name);
    LLVMAddIncoming(c.i, &zero, &before, 1);
    return c;
}

/* At least one turn; goes on behind the loop. */
static void count_close(kj_lower *lo, counted *c, LLVMValueRef n)
{
    LLVMValueRef next = LLVMBuildAdd(lo->b, c->i, kj_i64(lo, 1), "");
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(lo->b), done = kj_new_block(lo, "ran");
    LLVMBuildCondBr(lo->b, LLVMBuildICmp(lo->b, LLVMIntULT, next, n, ""), c->head, done);
    LLVMAddIncoming(c->i, &next, &latch, 1);
    LLVMPositionBuilderAtEnd(lo->b, done);
}

static void lower_strips(kj_lower *lo, kj_strip *strip, const kj_range *range, LLVMValueRef n,
                         kj_mask m)
{
    const kj_tstmt *s = strip->loop;
    kj_slot *slot = &lo->slots[s->u.for_.var->id];
    kj_counter *counters = kj_counters_open(lo, s, m);
    kj_ahead *ahead = lo->ahead;
    store_rows(lo, strip);
    counted strips = count_open(lo, "strip");
    kj_halt_poll(lo, s);
    LLVMValueRef first = LLVMBuildMul(lo->b, strips.i, kj_i64(lo, strip->length), "");
    move_strip(lo, strip, first, false, m);
    counted turn = count_open(lo, "turn");
    strip->turn = turn.i;
    slot->known = true;
    slot->tile = value_after(lo, strip, range->start, LLVMBuildAdd(lo->b, first, turn.i, ""));
    kj_know_range(&slot->tile, range->start, range->stop, range->step, false);
    lo->strip = strip;
    kj_ahead_turn(lo, NULL);
    kj_lower_stmts(lo, s->u.for_.body, NULL, m);
    lo->strip = NULL;
    count_close(lo, &turn, kj_i64(lo, strip->length));
    move_strip(lo, strip, first, true, m);
    count_close(lo, &strips, n);
    kj_counters_close(lo, counters);
    lo->ahead = ahead;
}

/* Where the turns that are left begin. */
static kj_tile rest_of(kj_lower *lo, const kj_strip *strip, const kj_range *range,
                       LLVMValueRef turns)
{
    kj_tile t = value_after(lo, strip, range->start, turns);
    const kj_bounds a = range->start.bounds, b = range->stop.bounds;
    t.bounds = kj_either(a, b);
    if (strip->down)
        t.bounds.most = a.most;
    else
        t.bounds.least = a.least;
    return t;
}

kj_tile kj_lower_strips(kj_lower *lo, const kj_tstmt *s, const kj_range *range, kj_mask m)
{
    kj_strip strip;
    bool one = range->start.rows * range->start.lanes * range->stop.rows * range->stop.lanes == 1;
    if (!one || !kj_strip_find(lo, s, &strip) || !find_places(lo, &strip, range->start, m) ||
        !kj_strip_more(lo))
        return range->start;
    LLVMBasicBlockRef rows = kj_new_block(lo, "rows"), rest = kj_new_block(lo, "rest");
    strip.turns = count_turns(lo, &strip, range->start, range->stop, range->step);
    LLVMValueRef n = LLVMBuildUDiv(lo->b, strip.turns, kj_i64(lo, strip.length), "");
    LLVMValueRef some = LLVMBuildICmp(lo->b, LLVMIntNE, n, kj_i64(lo, 0), "");
    LLVMValueRef left = kj_alloca(lo, lo->i64, "left");
    LLVMBuildStore(lo->b, kj_i64(lo, 0), left);
    LLVMBuildCondBr(lo->b, some, rows, rest);
    LLVMPositionBuilderAtEnd(lo->b, rows);
    strip.steps = kj_tile_scalar(KJ_I64, LLVMBuildSub(lo->b, strip.turns, kj_i64(lo, 1), ""));
    kj_strip_branch(lo, &strip, range->start, rest, m);
    lower_strips(lo, &strip, range, n, m);
    LLVMBuildStore(lo->b, LLVMBuildMul(lo->b, n, kj_i64(lo, strip.length), ""), left);
    LLVMBuildBr(lo->b, rest);
    LLVMPositionBuilderAtEnd(lo->b, rest);
    return rest_of(lo, &strip, range, LLVMBuildLoad2(lo->b, lo->i64, left, ""));
}

/* ---- Loops whose threads take a number of turns each ---- */

kj_lengths kj_strip_lengths(kj_lower *lo, const kj_strip *strip, const kj_range *range, kj_mask m)
{
    kj_tile ends[2] = {range->start, range->stop};
    bool narrow =
        kj_types[ends[0].type].size <= 4 || (kj_bits(ends[0]) < 31 && kj_bits(ends[1]) < 31);
    kj_lengths l = {.each = kj_tile_like(KJ_I32, lo->rows, lo->lanes)};
    for (int k = 0; k < 2; k++)
        ends[k] = kj_tile_wide(lo, kj_tile_convert(lo, ends[k], narrow ? KJ_I32 : KJ_I64));
    for (int r = 0; r < lo->rows; r++) {
        LLVMValueRef n[2];
        for (int k = 0; k < 2; k++)
            n[k] = kj_tile_vector(lo, ends[k], r, lo->lanes);
        LLVMTypeRef type = LLVMTypeOf(n[0]), one = LLVMGetElementType(type);
        n[0] = LLVMBuildSub(lo->b, n[!strip->down], n[strip->down], "");
        n[0] =
            LLVMBuildSelect(lo->b, kj_mask_row(lo, m, r, lo->lanes), n[0], LLVMConstNull(type), "");
        l.each.v[r] = LLVMBuildIntCast2(lo->b, n[0], kj_vec(lo, KJ_I32, lo->lanes), false, "");
        LLVMValueRef two[2] = {l.most, kj_intrinsic(lo, "llvm.vector.reduce.umax", &type, 1, n, 1)};
        l.most = r ? kj_intrinsic(lo, "llvm.umax", &one, 1, two, 2) : two[1];
    }
    l.most = LLVMBuildIntCast2(lo->b, l.most, lo->i64, false, "");
    l.few = LLVMBuildICmp(lo->b, LLVMIntULT, l.most, kj_i64(lo, INT32_MAX - KJ_STRIP), "");
    return l;
}

kj_tile kj_strip_turn(kj_lower *lo, const kj_strip *strip, kj_tile start, kj_tile number)
{
    return kj_tile_binary(lo, strip->down ? KJ_OP_SUB : KJ_OP_ADD, start,
                          kj_tile_convert(lo, number, start.type));
}

/* The threads that have a turn of that number, an i64. */
static kj_mask still_running(kj_lower *lo, const kj_lengths *l, LLVMValueRef number)
{
    kj_tile in = kj_tile_like(KJ_BOOL, lo->rows, lo->lanes);
    number = kj_splat(lo, LLVMBuildTrunc(lo->b, number, lo->i32, ""), lo->lanes);
    for (int r = 0; r < lo->rows; r++)
        in.v[r] = LLVMBuildICmp(lo->b, LLVMIntSGT, l->each.v[r], number, "");
    return kj_mask_of(in);
}

/* The body of the turn of that number, for the threads that have it. */
static void lower_turn(kj_lower *lo, kj_strip *strip, const kj_range *range, const kj_lengths *l,
                       LLVMValueRef number)
{
    const kj_tstmt *s = strip->loop;
    kj_slot *slot = &lo->slots[s->u.for_.var->id];
    bool twin = lo->twin;
    slot->known = true;
    slot->tile = kj_strip_turn(lo, strip, range->start, kj_tile_scalar(KJ_I64, number));
    kj_know_range(&slot->tile, range->start, range->stop, range->step, false);
    lo->strip = strip;
    lo->twin = true;
    kj_lower_stmts(lo, s->u.for_.body, NULL, still_running(lo, l, number));
    lo->twin = twin;
    lo->strip = NULL;
}

/* A thread that has taken all of its turns goes on beside those that have more: what is loaded for it then is what lies
 * behind its row. */
static void lower_apart(kj_lower *lo, kj_strip *strip, const kj_range *range, const kj_lengths *l,
                        kj_mask m)
{
    LLVMValueRef length = kj_i64(lo, strip->length);
    kj_counter *counters = kj_counters_open(lo, strip->loop, m);
    kj_ahead *ahead = lo->ahead;
    store_rows(lo, strip);
    counted strips = count_open(lo, "strip");
    kj_halt_poll(lo, strip->loop);
    kj_ahead_turn(lo, NULL);
    LLVMValueRef first = LLVMBuildMul(lo->b, strips.i, length, "");
    LLVMValueRef left[2] = {LLVMBuildSub(lo->b, l->most, first, ""), length};
    move_strip(lo, strip, first, false, m);
    counted turn = count_open(lo, "turn");
    strip->turn = turn.i;
    lower_turn(lo, strip, range, l, LLVMBuildAdd(lo->b, first, turn.i, ""));
    count_close(lo, &turn, kj_intrinsic(lo, "llvm.umin", &lo->i64, 1, left, 2));
    count_close(lo, &strips, LLVMBuildUDiv(lo->b, strip->turns, length, ""));
    lo->ahead = ahead;
    kj_counters_close(lo, counters);
}

LLVMBasicBlockRef kj_lower_strips_apart(kj_lower *lo, const kj_tstmt *s, const kj_range *range,
                                        kj_mask m)
{
    kj_strip strip;
    bool last = lo->twin && m.kind == KJ_SOME && m.t.form == KJ_PREFIX; /* of all gangs */
    if (last || !kj_strip_find(lo, s, &strip))
        return NULL;
    strip.apart = true;
    if (!find_places(lo, &strip, range->start, m) || !kj_strip_more(lo))
        return NULL;
    LLVMBasicBlockRef any = kj_new_block(lo, "any"), rows = kj_new_block(lo, "rows"),
                      rest = kj_new_block(lo, "rest"), done = kj_new_block(lo, "striped");
    kj_tile in = kj_in_range(lo, range->start, range->stop, range->step);
    kj_mask some = kj_mask_and(lo, m, kj_mask_of(in));
    LLVMBuildCondBr(lo->b, kj_mask_any(lo, some), any, done);
    LLVMPositionBuilderAtEnd(lo->b, any);
    kj_lengths l = kj_strip_lengths(lo, &strip, range, some);
    LLVMBuildCondBr(lo->b, l.few, rows, rest);
    LLVMPositionBuilderAtEnd(lo->b, rows);
    strip.turns = LLVMBuildAdd(lo->b, l.most, kj_i64(lo, KJ_STRIP - 1), "");
    strip.turns = LLVMBuildAnd(lo->b, strip.turns, kj_i64(lo, -KJ_STRIP), "");
    kj_tile one = kj_tile_convert(lo, kj_tile_int(lo, 1), KJ_I32);
    strip.steps = kj_tile_binary(lo, KJ_OP_SUB, l.each, one);
    kj_strip_branch(lo, &strip, range->start, rest, some);
    lower_apart(lo, &strip, range, &l, some);
    LLVMBuildBr(lo->b, done);
    LLVMPositionBuilderAtEnd(lo->b, rest);
    return done;
}
