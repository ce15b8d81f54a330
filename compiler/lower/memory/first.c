/* Accesses of rows of which so many first lanes run, a number that is known: a narrow block's, or the end of one that is
 * no multiple of its gangs. They are plain accesses of a half, a quarter, ... of the row, which every processor has,
 * for bytes too, and whose stores are found by the loads that follow. */
#include "lower/memory/memory.h"

int kj_known_first(const kj_lower *lo, kj_mask m)
{
    if (!kj_is_present(lo, m) || m.kind != KJ_SOME || !LLVMIsAConstantInt(m.t.v[0]))
        return 0;
    return (int)LLVMConstIntGetZExtValue(m.t.v[0]);
}

static LLVMValueRef piece_at(kj_lower *lo, LLVMTypeRef elem, LLVMValueRef at, int from)
{
    LLVMValueRef by = kj_i64(lo, from);
    return LLVMBuildGEP2(lo->b, elem, at, &by, 1, "");
}

/* Puts a piece of n lanes at `from` into a row. */
static LLVMValueRef put_piece(kj_lower *lo, LLVMValueRef row, LLVMValueRef piece, int from, int n)
{
    int lanes = (int)LLVMGetVectorSize(LLVMTypeOf(row)), wide[KJ_MAX_LANES], places[KJ_MAX_LANES];
    for (int l = 0; l < lanes; l++) {
        bool in = l >= from && l < from + n;
        wide[l] = l < n ? l : KJ_ANY;
        places[l] = in ? lanes + l - from : l;
    }
    return kj_shuffled(lo, row, kj_shuffled(lo, piece, NULL, wide, lanes), places, lanes);
}

LLVMValueRef kj_load_first(kj_lower *lo, const kj_access *a, LLVMTypeRef type, LLVMValueRef at,
                           int first)
{
    LLVMTypeRef elem = LLVMGetElementType(type);
    LLVMValueRef row = LLVMConstNull(type);
    int from = 0;
    for (int n = a->offset.lanes / 2; n > 0; n /= 2) {
        if (!(first & n))
            continue;
        LLVMTypeRef part = LLVMVectorType(elem, (unsigned)n);
        LLVMValueRef v = LLVMBuildLoad2(lo->b, part, piece_at(lo, elem, at, from), "");
        LLVMSetAlignment(v, (unsigned)kj_types[a->type].size);
        row = put_piece(lo, row, kj_alias_mark(lo, v, a->scope), from, n);
        from += n;
    }
    return row;
}

void kj_store_first(kj_lower *lo, const kj_access *a, LLVMValueRef v, LLVMValueRef at, int first)
{
    LLVMTypeRef elem = LLVMGetElementType(LLVMTypeOf(v));
    int from = 0;
    for (int n = a->offset.lanes / 2; n > 0; n /= 2) {
        int places[KJ_MAX_LANES];
        if (!(first & n))
            continue;
        for (int l = 0; l < n; l++)
            places[l] = from + l;
        LLVMValueRef part = kj_shuffled(lo, v, NULL, places, n);
        LLVMValueRef store = LLVMBuildStore(lo->b, part, piece_at(lo, elem, at, from));
        LLVMSetAlignment(kj_alias_mark(lo, store, a->scope), (unsigned)kj_types[a->type].size);
        from += n;
    }
}
