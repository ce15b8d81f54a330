/* Masks (predicates): which threads of a gang run. */
#include "lower/tile/tile.h"

const kj_mask kj_all = {.kind = KJ_ALL}, kj_none = {.kind = KJ_NONE};

kj_mask kj_mask_of(kj_tile t)
{
    return (kj_mask){.kind = KJ_SOME, .t = t};
}

static kj_mask combine(kj_lower *lo, kj_op op, kj_mask m, kj_mask n)
{
    return kj_mask_of(kj_tile_binary(lo, op, m.t, n.t));
}

kj_mask kj_mask_and(kj_lower *lo, kj_mask m, kj_mask n)
{
    if (m.kind == KJ_NONE || n.kind == KJ_ALL)
        return m;
    if (n.kind == KJ_NONE || m.kind == KJ_ALL)
        return n;
    if (m.t.form == KJ_PREFIX && n.t.form == KJ_PREFIX) {
        kj_tile out = m.t;
        out.rows = m.t.rows > n.t.rows ? m.t.rows : n.t.rows;
        for (int r = 0; r < out.rows; r++) {
            LLVMValueRef a = m.t.v[m.t.rows == 1 ? 0 : r], b = n.t.v[n.t.rows == 1 ? 0 : r];
            out.v[r] = LLVMBuildSelect(lo->b, LLVMBuildICmp(lo->b, LLVMIntULT, a, b, ""), a, b, "");
        }
        return kj_mask_of(out);
    }
    return combine(lo, KJ_OP_AND, m, n);
}

kj_mask kj_mask_or(kj_lower *lo, kj_mask m, kj_mask n)
{
    if (m.kind == KJ_NONE || n.kind == KJ_ALL)
        return n;
    if (n.kind == KJ_NONE || m.kind == KJ_ALL)
        return m;
    return combine(lo, KJ_OP_OR, m, n);
}

kj_mask kj_mask_andnot(kj_lower *lo, kj_mask m, kj_mask n)
{
    if (m.kind == KJ_NONE || n.kind == KJ_NONE)
        return m;
    if (n.kind == KJ_ALL)
        return kj_none;
    kj_mask not_n = kj_mask_of(kj_tile_unary(lo, KJ_OP_NOT, n.t));
    return m.kind == KJ_ALL ? not_n : combine(lo, KJ_OP_AND, m, not_n);
}

static LLVMValueRef row_bits(kj_lower *lo, kj_tile t, int row)
{
    return LLVMBuildBitCast(lo->b, t.v[row], LLVMIntTypeInContext(lo->ctx, t.lanes), "");
}

/* One row of a bool tile as an i1: any lane of it, or every one. */
static LLVMValueRef row_test(kj_lower *lo, kj_tile t, int row, bool every)
{
    if (t.lanes == 1)
        return t.v[row];
    if (t.form == KJ_PREFIX) {
        LLVMValueRef lanes = LLVMConstInt(lo->i32, t.lanes, false),
                     zero = LLVMConstInt(lo->i32, 0, false);
        return LLVMBuildICmp(lo->b, every ? LLVMIntEQ : LLVMIntNE, t.v[row], every ? lanes : zero,
                             "");
    }
    LLVMValueRef bits = row_bits(lo, t, row);
    LLVMTypeRef type = LLVMTypeOf(bits);
    return every ? LLVMBuildICmp(lo->b, LLVMIntEQ, bits, LLVMConstAllOnes(type), "")
                 : LLVMBuildICmp(lo->b, LLVMIntNE, bits, LLVMConstNull(type), "");
}

static LLVMValueRef test(kj_lower *lo, kj_mask m, bool every)
{
    if (m.kind != KJ_SOME)
        return LLVMConstInt(lo->i1, m.kind == KJ_ALL, false);
    kj_tile t = m.t;
    if (t.form == KJ_DENSE && t.rows > 1) { /* rows first: one test of a vector */
        for (int r = 1; r < t.rows; r++)
            t.v[0] = every ? LLVMBuildAnd(lo->b, t.v[0], t.v[r], "")
                           : LLVMBuildOr(lo->b, t.v[0], t.v[r], "");
        t.rows = 1;
    }
    LLVMValueRef out = row_test(lo, t, 0, every);
    for (int r = 1; r < t.rows; r++) {
        LLVMValueRef row = row_test(lo, t, r, every);
        out = every ? LLVMBuildAnd(lo->b, out, row, "") : LLVMBuildOr(lo->b, out, row, "");
    }
    return out;
}

LLVMValueRef kj_mask_any(kj_lower *lo, kj_mask m)
{
    return test(lo, m, false);
}

LLVMValueRef kj_mask_full(kj_lower *lo, kj_mask m)
{
    return test(lo, m, true);
}

bool kj_is_present(const kj_lower *lo, kj_mask m)
{
    const kj_mask *all = &lo->present;
    if (lo->few)
        return false;
    return m.kind == all->kind &&
           (m.kind == KJ_ALL || (m.kind == KJ_SOME && m.t.form == KJ_PREFIX && m.t.rows == 1 &&
                                 m.t.v[0] == all->t.v[0]));
}

LLVMValueRef kj_mask_within(kj_lower *lo, kj_mask m, kj_mask n)
{
    if (m.kind == KJ_ALL)
        return kj_mask_full(lo, n);
    if (m.kind == KJ_NONE || n.kind != KJ_SOME || n.t.form != KJ_PREFIX || m.t.form != KJ_PREFIX)
        return LLVMBuildNot(lo->b, kj_mask_any(lo, kj_mask_andnot(lo, m, n)), "");
    LLVMValueRef out = LLVMConstInt(lo->i1, 1, false);
    for (int r = 0; r < m.t.rows || r < n.t.rows; r++) {
        LLVMValueRef a = m.t.v[m.t.rows == 1 ? 0 : r], b = n.t.v[n.t.rows == 1 ? 0 : r];
        out = LLVMBuildAnd(lo->b, out, LLVMBuildICmp(lo->b, LLVMIntULE, a, b, ""), "");
    }
    return out;
}

LLVMValueRef kj_mask_row(kj_lower *lo, kj_mask m, int row, int lanes)
{
    if (m.kind != KJ_SOME) {
        LLVMTypeRef type = kj_vec(lo, KJ_BOOL, lanes);
        return m.kind == KJ_ALL ? LLVMConstAllOnes(type) : LLVMConstNull(type);
    }
    if (lanes == 1)
        return row_test(lo, m.t, m.t.rows == 1 ? 0 : row, false);
    return kj_tile_vector(lo, m.t, row, lanes);
}

kj_mask kj_mask_reduce(kj_lower *lo, kj_mask m, int rows, int lanes)
{
    if (m.kind != KJ_SOME || (m.t.rows <= rows && m.t.lanes <= lanes))
        return m;
    kj_tile t = m.t;
    if (t.lanes > lanes) {
        kj_tile out = kj_tile_like(KJ_BOOL, t.rows, 1);
        for (int r = 0; r < t.rows; r++)
            out.v[r] = row_test(lo, t, r, false);
        t = out;
    }
    if (t.rows > rows) {
        t = kj_tile_dense(lo, t);
        for (int r = 1; r < t.rows; r++)
            t.v[0] = LLVMBuildOr(lo->b, t.v[0], t.v[r], "");
        t.rows = 1;
    }
    return kj_mask_of(t);
}
