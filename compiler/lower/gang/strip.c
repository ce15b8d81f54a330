/* Loops over a row of each thread's, by strips of KJ_STRIP turns: what all lanes load in these is loaded in front of
 * them, each lane's elements at once, as they lie side by side, where a turn by itself would gather; what they store,
 * behind them. Turns that are left run as they do without strips, and so do all where something that is stored may be
 * loaded, or stored over, by others:
 *
 *     places: those of the walking accesses in the first turn
 *     if there are turns enough, and nothing sees the difference:
 *         for each strip: load; for each turn of it: the body; store
 *     for the turns that are left: the body */
#include "lower/gang/strip.h"

enum { MOST_STRIPS = 24 /* loops of a kernel, of which there are two each */, LINE = 64 };

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
        LLVMSetAlignment(*room, LINE);
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

/* A load ahead, or a store behind the strip's turns, passes others of the same array by, of which nothing is known. A
 * store of which some thread's place is another row's is one of several to a place. */
static bool is_moved(const kj_lower *lo, const kj_strip *strip, const kj_along *w)
{
    bool near = kj_is_unit(w->at.offset) || w->at.group || kj_is_strided(lo, &w->at);
    if (w->at.offset.lanes == 1 || near || !w->always || !kj_has_strips(lo, w->array->elem) ||
        is_among(&strip->stored, w->array->root))
        return false;
    return !w->stores ||
           (w->at.offset.rows == lo->rows && !is_among(&strip->loaded, w->array->root));
}

/* Computes the places in the first turn; false if nothing is to be moved: lanes are near each other after all. */
static bool find_places(kj_lower *lo, kj_strip *strip, kj_tile start, kj_mask m)
{
    bool any = false;
    kj_slot *slot = &lo->slots[strip->loop->u.for_.var->id];
    slot->known = true;
    slot->tile = start;
    for (int i = 0; i < strip->nlets; i++) {
        kj_slot *let = &lo->slots[strip->lets[i]->u.decl.var->id];
        let->tile = kj_lower_expr(lo, strip->lets[i]->u.decl.init, m);
        let->known = true;
    }
    for (int i = 0; i < strip->nwalks; i++) {
        kj_along *w = &strip->walks[i];
        w->at = kj_lower_access(lo, w->array, w->index, m);
        w->moved = is_moved(lo, strip, w);
        any |= w->moved;
    }
    return any;
}

static LLVMValueRef row_of(kj_lower *lo, const kj_access *a, int row)
{
    LLVMValueRef index = kj_tile_vector(lo, a->offset, row, lo->lanes);
    return kj_lower_element(lo, a->type, a->base, index);
}

/* The address of some thread that runs, in any row. */
static LLVMValueRef running_address(kj_lower *lo, const kj_access *a, kj_mask m)
{
    LLVMValueRef one = NULL;
    for (int r = 0; r < a->offset.rows; r++) {
        LLVMValueRef bits = kj_mask_bits(lo, kj_mask_row(lo, m, r, lo->lanes), lo->lanes);
        LLVMValueRef args[2] = {bits, LLVMConstInt(lo->i1, 0, false)};
        LLVMValueRef lane = kj_intrinsic(lo, "llvm.cttz", &lo->i64, 1, args, 2);
        lane = LLVMBuildAnd(lo->b, lane, kj_i64(lo, lo->lanes - 1), "");
        lane = LLVMBuildExtractElement(lo->b, row_of(lo, a, r), lane, "");
        LLVMValueRef any = LLVMBuildICmp(lo->b, LLVMIntNE, bits, kj_i64(lo, 0), "");
        one = one ? LLVMBuildSelect(lo->b, any, lane, one, "") : lane;
    }
    return one;
}

/* Addresses in the first turn; a thread that does not run has one of those that do. */
static void find_rows(kj_lower *lo, kj_along *w, kj_mask m)
{
    m = kj_mask_reduce(lo, m, w->at.offset.rows, lo->lanes);
    LLVMValueRef running = m.kind == KJ_ALL ? NULL : running_address(lo, &w->at, m);
    for (int r = 0; r < w->at.offset.rows; r++) {
        w->first[r] = row_of(lo, &w->at, r);
        if (running)
            w->first[r] = LLVMBuildSelect(lo->b, kj_mask_row(lo, m, r, lo->lanes), w->first[r],
                                          kj_splat(lo, running, lo->lanes), "");
    }
}

/* ---- Does nothing see that loads are sooner and stores later? ---- */

/* What a walk touches in all of the loop's turns: bytes from `low` on, up to `high`. */
typedef struct span {
    LLVMValueRef low, high;
} span;

static LLVMValueRef as_number(kj_lower *lo, LLVMValueRef address)
{
    LLVMTypeRef type = kj_vec(lo, KJ_I64, lo->lanes);
    bool vector = LLVMGetTypeKind(LLVMTypeOf(address)) == LLVMVectorTypeKind;
    return LLVMBuildPtrToInt(lo->b, address, vector ? type : lo->i64, "");
}

static span span_of(kj_lower *lo, const kj_strip *strip, const kj_along *w, int row)
{
    LLVMValueRef size = kj_i64(lo, kj_types[w->at.type].size);
    LLVMValueRef bytes = LLVMBuildMul(lo->b, strip->turns, size, ""), all[2];
    all[0] = kj_splat(lo, LLVMBuildSub(lo->b, size, bytes, ""), lo->lanes);
    all[1] = kj_splat(lo, strip->down ? size : bytes, lo->lanes);
    LLVMValueRef first = as_number(lo, w->first[w->at.offset.rows == 1 ? 0 : row]);
    return (span){strip->down ? LLVMBuildAdd(lo->b, first, all[0], "") : first,
                  LLVMBuildAdd(lo->b, first, all[1], "")};
}

/* Where the array's elements are. */
static span span_of_root(kj_lower *lo, const kj_tarray *root)
{
    LLVMValueRef low = kj_i64(lo, 0), high = low, zero = low;
    for (int i = 0; i < root->ndim; i++) {
        LLVMValueRef last = LLVMBuildSub(lo->b, lo->dims[root->param][i], kj_i64(lo, 1), "");
        last = LLVMBuildMul(lo->b, last, lo->dims[root->param][KJ_MAX_NDIM + i], "");
        LLVMValueRef up = LLVMBuildICmp(lo->b, LLVMIntSGT, last, zero, "");
        low = LLVMBuildAdd(lo->b, low, LLVMBuildSelect(lo->b, up, zero, last, ""), "");
        high = LLVMBuildAdd(lo->b, high, LLVMBuildSelect(lo->b, up, last, zero, ""), "");
    }
    LLVMValueRef unit = kj_i64(lo, kj_unit(root)), first = as_number(lo, lo->roots[root->id]);
    low = LLVMBuildAdd(lo->b, first, LLVMBuildMul(lo->b, low, unit, ""), "");
    high = LLVMBuildAdd(lo->b, first, LLVMBuildMul(lo->b, high, unit, ""), "");
    high = LLVMBuildAdd(lo->b, high, kj_i64(lo, kj_elem_size(root)), "");
    return (span){kj_splat(lo, low, lo->lanes), kj_splat(lo, high, lo->lanes)};
}

static LLVMValueRef are_apart(kj_lower *lo, span a, span b)
{
    LLVMValueRef behind = LLVMBuildICmp(lo->b, LLVMIntUGE, a.low, b.high, ""),
                 before = LLVMBuildICmp(lo->b, LLVMIntUGE, b.low, a.high, "");
    return LLVMBuildOr(lo->b, behind, before, "");
}

/* Of each lane: is what it stores by walk `to` the same, seen by walk `from`, when strips make one of them sooner or
 * later? So it is where both are at the same element in each turn, and `to` comes behind. What other threads see is not
 * defined. */
static LLVMValueRef is_harmless(kj_lower *lo, const kj_strip *strip, const kj_along *from,
                                const kj_along *to, int row)
{
    LLVMValueRef apart = are_apart(lo, span_of(lo, strip, from, row), span_of(lo, strip, to, row));
    if (from > to || kj_types[from->at.type].size != kj_types[to->at.type].size)
        return apart;
    LLVMValueRef first[2] = {from->first[from->at.offset.rows == 1 ? 0 : row],
                             to->first[to->at.offset.rows == 1 ? 0 : row]};
    LLVMValueRef same =
        LLVMBuildICmp(lo->b, LLVMIntEQ, as_number(lo, first[0]), as_number(lo, first[1]), "");
    return LLVMBuildOr(lo->b, apart, same, "");
}

static LLVMValueRef both(kj_lower *lo, LLVMValueRef a, LLVMValueRef b)
{
    return a ? LLVMBuildAnd(lo->b, a, b, "") : b;
}

static bool is_global(const kj_along *w)
{
    return w->array->root->space == KJ_GLOBAL;
}

/* Two walks that pass each other by: what one of them stores. */
static bool are_tested(const kj_along *from, const kj_along *to)
{
    bool once = !from->stores || from < to;
    return from != to && to->stores && once && (from->moved || to->moved) && is_global(from);
}

/* Those of a walk: what is to hold, of all lanes, and `all` does; NULL where that is nothing. */
static LLVMValueRef test_walks(kj_lower *lo, const kj_strip *strip, const kj_along *from,
                               LLVMValueRef all)
{
    for (const kj_along *to = strip->walks; to < strip->walks + strip->nwalks; to++) {
        int rows =
            to->at.offset.rows > from->at.offset.rows ? to->at.offset.rows : from->at.offset.rows;
        for (int r = 0; are_tested(from, to) && r < rows; r++)
            all = both(lo, all, is_harmless(lo, strip, from, to, r));
    }
    return all;
}

/* And that it is apart from those arrays. */
static LLVMValueRef test_roots(kj_lower *lo, const kj_strip *strip, const kj_along *w,
                               const kj_roots *roots, LLVMValueRef all)
{
    for (int i = 0; i < roots->n; i++)
        for (int r = 0; r < w->at.offset.rows; r++)
            all = both(lo, all,
                       are_apart(lo, span_of(lo, strip, w, r), span_of_root(lo, roots->root[i])));
    return all;
}

/* Goes on here if strips are allowed, else at `rest`. */
static void branch_allowed(kj_lower *lo, kj_strip *strip, LLVMBasicBlockRef rest, kj_mask m)
{
    LLVMValueRef all = NULL;
    for (int i = 0; i < strip->nwalks; i++)
        find_rows(lo, &strip->walks[i], m);
    for (int i = 0; i < strip->nwalks; i++) {
        const kj_along *w = &strip->walks[i];
        all = test_walks(lo, strip, w, all);
        if (w->moved && is_global(w))
            all = test_roots(lo, strip, w, &strip->stored, all);
        if (w->moved && w->stores)
            all = test_roots(lo, strip, w, &strip->loaded, all);
    }
    if (!all)
        return;
    LLVMBasicBlockRef allowed = kj_new_block(lo, "allowed");
    LLVMTypeRef bits = LLVMIntTypeInContext(lo->ctx, (unsigned)lo->lanes);
    all = LLVMBuildICmp(lo->b, LLVMIntEQ, LLVMBuildBitCast(lo->b, all, bits, ""),
                        LLVMConstAllOnes(bits), "");
    LLVMBuildCondBr(lo->b, all, allowed, rest);
    LLVMPositionBuilderAtEnd(lo->b, allowed);
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
        for (int r = 0; w->moved && w->stores == stores && r < w->at.offset.rows; r++) {
            LLVMValueRef rows = room_of(lo, i, r, false), room = room_of(lo, i, r, true);
            LLVMValueRef mask = m.kind == KJ_ALL ? NULL : kj_mask_row(lo, m, r, lo->lanes);
            if (stores)
                kj_strip_store(lo, w->at.type, strip->down, rows, turn, room, mask);
            else
                kj_strip_load(lo, w->at.type, strip->down, rows, turn, room);
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
    return (unsigned)(bytes < LINE ? bytes : LINE);
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
    LLVMValueRef first = LLVMBuildMul(lo->b, strips.i, kj_i64(lo, KJ_STRIP), "");
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
    count_close(lo, &turn, kj_i64(lo, KJ_STRIP));
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
        ++lo->strips > MOST_STRIPS)
        return range->start;
    LLVMBasicBlockRef rows = kj_new_block(lo, "rows"), rest = kj_new_block(lo, "rest");
    strip.turns = count_turns(lo, &strip, range->start, range->stop, range->step);
    LLVMValueRef n = LLVMBuildUDiv(lo->b, strip.turns, kj_i64(lo, KJ_STRIP), "");
    LLVMValueRef some = LLVMBuildICmp(lo->b, LLVMIntNE, n, kj_i64(lo, 0), "");
    LLVMValueRef left = kj_alloca(lo, lo->i64, "left");
    LLVMBuildStore(lo->b, kj_i64(lo, 0), left);
    LLVMBuildCondBr(lo->b, some, rows, rest);
    LLVMPositionBuilderAtEnd(lo->b, rows);
    branch_allowed(lo, &strip, rest, m);
    lower_strips(lo, &strip, range, n, m);
    LLVMBuildStore(lo->b, LLVMBuildMul(lo->b, n, kj_i64(lo, KJ_STRIP), ""), left);
    LLVMBuildBr(lo->b, rest);
    LLVMPositionBuilderAtEnd(lo->b, rest);
    return rest_of(lo, &strip, range, LLVMBuildLoad2(lo->b, lo->i64, left, ""));
}
