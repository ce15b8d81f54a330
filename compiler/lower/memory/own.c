/* Elements of threads' own (local) arrays, which lie element by element, a gang's threads side by
 * side.
 *
 * Nobody else looks at them. So they are loaded plainly and stored with what threads that do not run have there: LLVM
 * keeps in registers what is accessed so, and a processor loads at once what it has just stored. Of a short array
 * that is so, too, where each thread has an index of its own: the element is chosen among all. */
#include "lower/memory/memory.h"

bool kj_is_own(const kj_access *a)
{
    return a->own_count > 0 && a->offset.form == KJ_LINEAR && a->offset.stride == 1;
}

static LLVMValueRef load_at(kj_lower *lo, const kj_access *a, LLVMTypeRef type, LLVMValueRef at)
{
    LLVMValueRef v = kj_alias_mark(lo, LLVMBuildLoad2(lo->b, type, at, ""), a->scope);
    LLVMSetAlignment(v, (unsigned)kj_types[a->type].size);
    return v;
}

/* Where the row's element is that its threads have one index of; of a row none of whose threads run, which may
 * have any, somewhere in the array. */
static LLVMValueRef place_inside(kj_lower *lo, const kj_access *a, int row)
{
    LLVMValueRef at = a->offset.v[a->offset.rows == 1 ? 0 : row], start = a->own_start[row];
    LLVMValueRef by = LLVMBuildSub(lo->b, at, start, "");
    if (!LLVMIsConstant(by)) {
        LLVMValueRef last = kj_i64(lo, (a->own_count - 1) * a->own_pitch);
        by = LLVMBuildFreeze(lo->b, by, "");
        LLVMValueRef inside = LLVMBuildICmp(lo->b, LLVMIntULE, by, last, "");
        by = LLVMBuildSelect(lo->b, inside, by, last, "");
    }
    return kj_lower_element(lo, a->type, a->base, LLVMBuildAdd(lo->b, start, by, ""));
}

LLVMValueRef kj_load_own(kj_lower *lo, const kj_access *a, int row, LLVMTypeRef type)
{
    return LLVMBuildFreeze(lo->b, load_at(lo, a, type, place_inside(lo, a, row)), "");
}

static void store_selected(kj_lower *lo, const kj_access *a, LLVMValueRef v, LLVMValueRef at,
                           LLVMValueRef mask)
{
    /* of what is not frozen LLVM makes a masked store, which loads wait for */
    LLVMValueRef before = LLVMBuildFreeze(lo->b, load_at(lo, a, LLVMTypeOf(v), at), "");
    v = LLVMBuildSelect(lo->b, mask, v, before, "");
    LLVMValueRef store = kj_alias_mark(lo, LLVMBuildStore(lo->b, v, at), a->scope);
    LLVMSetAlignment(store, (unsigned)kj_types[a->type].size);
}

void kj_store_own(kj_lower *lo, const kj_access *a, int row, LLVMValueRef v, LLVMValueRef mask)
{
    store_selected(lo, a, v, place_inside(lo, a, row), mask);
}

/* ---- One of a few ---- */

enum { MOST = 8, MOST_CHOICES = 64 };

/* Of more elements gathers and scatters are faster, and of a kernel with many accesses they are less code. */
bool kj_is_chosen(kj_lower *lo, const kj_access *a)
{
    bool few = a->own_count > 0 && a->own_count <= MOST;
    return few && !kj_is_own(a) && ++lo->choices <= MOST_CHOICES;
}

static LLVMValueRef index_of(kj_lower *lo, const kj_access *a, int row)
{
    kj_tile index = kj_tile_convert(lo, a->own, KJ_I32);
    /* threads that do not run may have any */
    return LLVMBuildFreeze(lo->b, kj_tile_vector(lo, index, row, a->offset.lanes), "");
}

static LLVMValueRef place_of(kj_lower *lo, const kj_access *a, int row, int64_t element)
{
    LLVMValueRef by = kj_i64(lo, element * a->own_pitch);
    by = LLVMBuildAdd(lo->b, a->own_start[row], by, "");
    return kj_lower_element(lo, a->type, a->base, by);
}

LLVMValueRef kj_load_chosen(kj_lower *lo, const kj_access *a, int row)
{
    int lanes = a->offset.lanes, n = (int)a->own_count;
    LLVMTypeRef type = kj_vec(lo, kj_memory_type(a->type), lanes);
    LLVMValueRef v[MOST], index = index_of(lo, a, row);
    for (int e = 0; e < n; e++)
        v[e] = load_at(lo, a, type, place_of(lo, a, row, e));
    for (int bit = 0; n > 1; n = (n + 1) / 2, bit++) {
        LLVMValueRef set = kj_splat(lo, LLVMConstInt(lo->i32, 1u << bit, false), lanes);
        set = LLVMBuildAnd(lo->b, index, set, "");
        set = LLVMBuildICmp(lo->b, LLVMIntNE, set, LLVMConstNull(LLVMTypeOf(set)), "");
        for (int k = 0; k < n / 2; k++)
            v[k] = LLVMBuildSelect(lo->b, set, v[2 * k + 1], v[2 * k], "");
        if (n % 2)
            v[n / 2] = v[n - 1];
    }
    return LLVMBuildFreeze(lo->b, v[0], "");
}

void kj_store_chosen(kj_lower *lo, const kj_access *a, int row, LLVMValueRef v, kj_mask m)
{
    int lanes = a->offset.lanes;
    LLVMValueRef index = index_of(lo, a, row), mask = kj_mask_row(lo, m, row, lanes);
    for (int64_t e = 0; e < a->own_count; e++) {
        LLVMValueRef here = kj_splat(lo, LLVMConstInt(lo->i32, (uint64_t)e, false), lanes);
        here = LLVMBuildICmp(lo->b, LLVMIntEQ, index, here, "");
        here = m.kind == KJ_ALL ? here : LLVMBuildAnd(lo->b, here, mask, "");
        store_selected(lo, a, v, place_of(lo, a, row, e), here);
    }
}
