/* Rows of a block's shared arrays, some of whose threads run.
 *
 * Nobody else looks at them while a gang is at work: on a CPU one thread after the other is, or one gang. So a row is loaded
 * as it lies, and stored with what threads that do not run have there, which is a load, a selection and a store where a
 * store of some lanes takes a processor without AVX-512 a dozen cycles, or a branch for each, and lets the loads that
 * follow wait. A row with an element that is accessed reaches beyond its array by less than itself: there each array has
 * margins, which are nobody's. Some thread of a gang runs, but perhaps none of a row, which then may be anywhere, and is taken for
 * the array's first. */
#include "lower/memory/memory.h"

/* AVX-512 masks stores for nothing. Who watches goes by where shared arrays stand. */
bool kj_has_margins(const kj_lower *lo)
{
    return lo->vector <= 8 && lo->gang_lanes > 1 && !lo->watch;
}

bool kj_is_amid(const kj_lower *lo, const kj_access *a, kj_mask m)
{
    int64_t step = a->offset.stride;
    bool near =
        a->offset.form == KJ_LINEAR && step != 0 && step <= KJ_FURTHEST && step >= -KJ_FURTHEST;
    if (!a->room || a->again || (!near && a->offset.form != KJ_CROSSED))
        return false;
    return !kj_is_unit(a->offset) || (m.kind == KJ_SOME && !kj_known_first(lo, m));
}

/* The first lane's index: its own where the row's may be in the array, which its last lane's or its own then is, or one
 * that leads there. */
static LLVMValueRef index_near(kj_lower *lo, const kj_access *a, LLVMValueRef index)
{
    int64_t step = a->offset.form == KJ_CROSSED ? 1 : a->offset.stride;
    int64_t up = step > 0 ? (a->offset.lanes - 1) * step : 0;
    int64_t down = step < 0 ? (a->offset.lanes - 1) * -step : 0;
    LLVMValueRef size = kj_i64(lo, kj_types[a->type].size);
    LLVMValueRef count = LLVMBuildUDiv(lo->b, a->room, size, "");
    index = LLVMBuildFreeze(lo->b, index, ""); /* threads that do not run may have any */
    LLVMValueRef from = LLVMBuildAdd(lo->b, index, kj_i64(lo, up), "");
    LLVMValueRef span = LLVMBuildAdd(lo->b, count, kj_i64(lo, up + down), "");
    LLVMValueRef near = LLVMBuildICmp(lo->b, LLVMIntULT, from, span, "");
    return LLVMBuildSelect(lo->b, near, index, kj_i64(lo, down), "");
}

kj_access kj_amid(kj_lower *lo, const kj_access *a, int row, kj_mask m)
{
    kj_access out = *a;
    int at = a->offset.rows == 1 ? 0 : row;
    out.amid = true;
    if (m.kind == KJ_SOME && lo->rows > 1)
        out.offset.v[at] = index_near(lo, a, a->offset.v[at]);
    return out;
}

LLVMValueRef kj_store_amid(kj_lower *lo, const kj_access *a, LLVMValueRef v, LLVMValueRef at,
                           LLVMValueRef mask)
{
    unsigned size = (unsigned)kj_types[a->type].size;
    LLVMValueRef before = kj_alias_mark(lo, LLVMBuildLoad2(lo->b, LLVMTypeOf(v), at, ""), a->scope);
    LLVMSetAlignment(before, size);
    before = LLVMBuildFreeze(lo->b, before, ""); /* else LLVM masks the store */
    v = LLVMBuildSelect(lo->b, mask, v, before, "");
    LLVMValueRef store = kj_alias_mark(lo, LLVMBuildStore(lo->b, v, at), a->scope);
    LLVMSetAlignment(store, size);
    return store;
}
