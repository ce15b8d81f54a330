/* May a loop go by strips? That is asked where it is run, of the addresses that it has there: does nothing see that
 * loads are sooner and stores later, and is there what is loaded of rows that have ended? */
#include "lower/gang/strip.h"

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

/* What it touches in all threads' turns: two numbers. */
static span span_of_gang(kj_lower *lo, const kj_strip *strip, const kj_along *w)
{
    span all = {NULL, NULL};
    for (int r = 0; r < w->at.offset.rows; r++) {
        LLVMValueRef first = as_number(lo, w->first[r]);
        LLVMTypeRef type = LLVMTypeOf(first);
        LLVMValueRef low = kj_intrinsic(lo, "llvm.vector.reduce.umin", &type, 1, &first, 1),
                     high = kj_intrinsic(lo, "llvm.vector.reduce.umax", &type, 1, &first, 1);
        LLVMValueRef lows[2] = {all.low, low}, highs[2] = {all.high, high};
        all.low = r ? kj_intrinsic(lo, "llvm.umin", &lo->i64, 1, lows, 2) : low;
        all.high = r ? kj_intrinsic(lo, "llvm.umax", &lo->i64, 1, highs, 2) : high;
    }
    LLVMValueRef size = kj_i64(lo, kj_types[w->at.type].size);
    LLVMValueRef bytes = LLVMBuildMul(lo->b, strip->turns, size, "");
    LLVMValueRef back = LLVMBuildSub(lo->b, size, bytes, "");
    if (strip->down)
        all.low = LLVMBuildAdd(lo->b, all.low, back, "");
    all.high = LLVMBuildAdd(lo->b, all.high, strip->down ? size : bytes, "");
    return all;
}

/* Where the array's elements are: two numbers. */
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
    return (span){low, high};
}

static LLVMValueRef are_apart(kj_lower *lo, span a, span b)
{
    LLVMValueRef behind = LLVMBuildICmp(lo->b, LLVMIntUGE, a.low, b.high, ""),
                 before = LLVMBuildICmp(lo->b, LLVMIntUGE, b.low, a.high, "");
    return LLVMBuildOr(lo->b, behind, before, "");
}

/* Of each lane: is what it stores by walk `to` the same, seen by walk `from`, when strips make one of them sooner or
 * later? So it is where both are at the same element in each turn, and `to` comes behind, also then. What other threads
 * see is not defined. */
static LLVMValueRef is_harmless(kj_lower *lo, const kj_strip *strip, const kj_along *from,
                                const kj_along *to, int row)
{
    LLVMValueRef apart = are_apart(lo, span_of(lo, strip, from, row), span_of(lo, strip, to, row));
    bool passes = from->stores && from->moved && !to->moved;
    if (from > to || passes || kj_types[from->at.type].size != kj_types[to->at.type].size)
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

/* Does it hold of all lanes? */
static LLVMValueRef of_all(kj_lower *lo, LLVMValueRef lanes)
{
    LLVMTypeRef bits = LLVMIntTypeInContext(lo->ctx, (unsigned)lo->lanes);
    return LLVMBuildICmp(lo->b, LLVMIntEQ, LLVMBuildBitCast(lo->b, lanes, bits, ""),
                         LLVMConstAllOnes(bits), "");
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
            all = both(lo, all, of_all(lo, is_harmless(lo, strip, from, to, r)));
    }
    return all;
}

/* And that what it touches is apart from those arrays. */
static LLVMValueRef test_roots(kj_lower *lo, span all, const kj_roots *roots, LLVMValueRef before)
{
    for (int i = 0; i < roots->n; i++)
        before = both(lo, before, are_apart(lo, all, span_of_root(lo, roots->root[i])));
    return before;
}

/* Is all of it within the array? */
static LLVMValueRef is_within(kj_lower *lo, span a, span root)
{
    LLVMValueRef low = LLVMBuildICmp(lo->b, LLVMIntUGE, a.low, root.low, ""),
                 high = LLVMBuildICmp(lo->b, LLVMIntULE, a.high, root.high, "");
    return LLVMBuildAnd(lo->b, low, high, "");
}

/* Of one that strips move; what is loaded of rows that have ended has to be there. */
static LLVMValueRef test_moved(kj_lower *lo, const kj_strip *strip, const kj_along *w,
                               LLVMValueRef all)
{
    span a = span_of_gang(lo, strip, w);
    all = test_roots(lo, a, &strip->stored, all);
    if (w->stores)
        all = test_roots(lo, a, &strip->loaded, all);
    if (strip->apart)
        all = both(lo, all, is_within(lo, a, span_of_root(lo, w->array->root)));
    return all;
}

/* Of one whose place is by sums of few bits: is it, in each thread's last turn, as many elements further as there are
 * turns before? A sum that has wrapped around, which it does once in the turns that its variable can count, has left it
 * behind. The loop's variable is that of the last turn. */
static LLVMValueRef test_narrow(kj_lower *lo, const kj_strip *strip, const kj_along *w, kj_mask m,
                                LLVMValueRef all)
{
    kj_access last = kj_lower_access(lo, w->array, w->index, m);
    kj_tile by = kj_tile_wide(lo, kj_tile_convert(lo, strip->steps, KJ_I64));
    LLVMValueRef size =
        kj_splat(lo, kj_i64(lo, (strip->down ? -1 : 1) * kj_types[w->at.type].size), lo->lanes);
    for (int r = 0; r < lo->rows; r++) {
        LLVMValueRef steps = LLVMBuildMul(lo->b, kj_tile_vector(lo, by, r, lo->lanes), size, "");
        LLVMValueRef first = as_number(lo, w->first[w->at.offset.rows == 1 ? 0 : r]);
        LLVMValueRef same = LLVMBuildICmp(lo->b, LLVMIntEQ, as_number(lo, row_of(lo, &last, r)),
                                          LLVMBuildAdd(lo->b, first, steps, ""), "");
        if (m.kind != KJ_ALL)
            same = LLVMBuildOr(lo->b, same,
                               LLVMBuildNot(lo->b, kj_mask_row(lo, m, r, lo->lanes), ""), "");
        all = both(lo, all, of_all(lo, same));
    }
    return all;
}

static LLVMValueRef test_all_narrow(kj_lower *lo, const kj_strip *strip, kj_tile start, kj_mask m)
{
    LLVMValueRef all = NULL;
    bool there = false;
    for (const kj_along *w = strip->walks; w < strip->walks + strip->nwalks; w++) {
        if (w->narrow && !there)
            kj_strip_goto(lo, strip, kj_strip_turn(lo, strip, start, strip->steps), m);
        there |= w->narrow;
        if (w->narrow)
            all = test_narrow(lo, strip, w, m, all);
    }
    return all;
}

/* Are they 1, of all threads that run? */
static LLVMValueRef test_ones(kj_lower *lo, const kj_strip *strip, kj_mask m, LLVMValueRef all)
{
    for (int i = 0; i < strip->nones; i++) {
        kj_tile v = kj_lower_expr(lo, strip->ones[i], m);
        kj_mask ones = kj_mask_of(kj_tile_binary(lo, KJ_OP_EQ, v, kj_tile_int(lo, 1)));
        all = both(lo, all, kj_mask_within(lo, m, ones));
    }
    return all;
}

void kj_strip_branch(kj_lower *lo, kj_strip *strip, kj_tile start, LLVMBasicBlockRef rest,
                     kj_mask m)
{
    for (int i = 0; i < strip->nwalks; i++)
        find_rows(lo, &strip->walks[i], m);
    LLVMValueRef all = test_ones(lo, strip, m, test_all_narrow(lo, strip, start, m));
    for (int i = 0; i < strip->nwalks; i++) {
        const kj_along *w = &strip->walks[i];
        all = test_walks(lo, strip, w, all);
        bool among = strip->apart || strip->stored.n > 0 || (w->stores && strip->loaded.n > 0);
        if (w->moved && is_global(w) && among)
            all = test_moved(lo, strip, w, all);
    }
    if (!all)
        return;
    LLVMBasicBlockRef allowed = kj_new_block(lo, "allowed");
    LLVMBuildCondBr(lo->b, all, allowed, rest);
    LLVMPositionBuilderAtEnd(lo->b, allowed);
}
