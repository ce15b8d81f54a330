/* `i ^ u` of threads' numbers and one number u, as butterflies have it: bitonic sorts, Walsh-Hadamard and Fourier
 * transforms, reductions over a hypercube.
 *
 * Where a row of i begins at a multiple of its lanes, u's higher bits lead to another such row and its lower ones,
 * the cross, exchange lanes within it: a scalar and a cross, whatever u is. It stays that where one number is added,
 * as of a row of an array. */
#include "lower/tile/tile.h"

static bool is_aligned(kj_tile t)
{
    return t.even >= __builtin_ctz(t.lanes);
}

/* By a number that is one for all rows, too: a tile has one cross. */
static bool cross(kj_lower *lo, kj_tile a, kj_tile b, kj_tile *out)
{
    if (!kj_is_line(a) || (a.form == KJ_LINEAR && a.stride != 1) || !is_aligned(a) || b.lanes > 1 ||
        b.rows > 1)
        return false;
    LLVMTypeRef type = lo->types[a.type];
    LLVMValueRef low = LLVMConstInt(type, a.lanes - 1u, false), by = kj_tile_vector(lo, b, 0, 1);
    *out = kj_tile_like(a.type, a.rows, a.lanes);
    for (int r = 0; r < a.rows; r++) {
        LLVMValueRef at = LLVMBuildXor(lo->b, a.v[r], by, "");
        out->v[r] = LLVMBuildAnd(lo->b, at, LLVMConstNot(low), "");
    }
    out->form = KJ_CROSSED;
    out->cross = LLVMBuildIntCast2(lo->b, LLVMBuildAnd(lo->b, by, low, ""), lo->i64, false, "");
    if (a.form == KJ_CROSSED)
        out->cross = LLVMBuildXor(lo->b, out->cross, a.cross, "");
    kj_know(out, KJ_OP_XOR, a, b);
    out->even = (uint8_t)__builtin_ctz(a.lanes);
    out->wraps = false; /* in an aligned row there is no jump */
    return true;
}

/* One that is moved by a number of the row's. */
static bool move(kj_lower *lo, kj_op op, kj_tile a, kj_tile b, kj_tile *out)
{
    if (a.form != KJ_CROSSED || b.lanes > 1 || (op != KJ_OP_ADD && op != KJ_OP_SUB))
        return false;
    *out = kj_tile_like(a.type, a.rows > b.rows ? a.rows : b.rows, a.lanes);
    for (int r = 0; r < out->rows; r++) {
        LLVMValueRef x = a.v[a.rows == 1 ? 0 : r], y = kj_tile_vector(lo, b, r, 1);
        out->v[r] = op == KJ_OP_ADD ? LLVMBuildAdd(lo->b, x, y, "") : LLVMBuildSub(lo->b, x, y, "");
    }
    out->form = KJ_CROSSED;
    out->cross = a.cross;
    kj_know(out, op, a, b);
    return true;
}

static bool crossed(kj_lower *lo, kj_op op, kj_tile a, kj_tile b, kj_tile *out)
{
    return op == KJ_OP_XOR ? cross(lo, a, b, out) : move(lo, op, a, b, out);
}

bool kj_crossed_binary(kj_lower *lo, kj_op op, kj_tile a, kj_tile b, kj_tile *out)
{
    if (!kj_is_int(a.type) || (a.lanes == 1 && b.lanes == 1) || (a.lanes > 1 && b.lanes > 1))
        return false;
    bool found = crossed(lo, op, a, b, out) || (op != KJ_OP_SUB && crossed(lo, op, b, a, out));
    if (found)
        out->runs = KJ_RUNS_OFTEN; /* where the cross is 0 */
    return found;
}

LLVMValueRef kj_line_row(kj_lower *lo, kj_tile t, int row)
{
    LLVMTypeRef type = lo->types[t.type];
    LLVMValueRef steps = kj_iota(type, t.lanes, t.form == KJ_LINEAR ? t.stride : 1);
    if (t.form == KJ_LINEAR)
        return LLVMBuildAdd(lo->b, kj_splat(lo, t.v[row], t.lanes), steps, "");
    LLVMValueRef by = LLVMBuildIntCast2(lo->b, t.cross, type, false, "");
    if (is_aligned(t)) { /* one operation of vectors for two */
        by = LLVMBuildOr(lo->b, t.v[row], by, "");
        return LLVMBuildXor(lo->b, kj_splat(lo, by, t.lanes), steps, "");
    }
    by = LLVMBuildXor(lo->b, kj_splat(lo, by, t.lanes), steps, "");
    return LLVMBuildAdd(lo->b, kj_splat(lo, t.v[row], t.lanes), by, "");
}
