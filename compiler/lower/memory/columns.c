/* Rows of a gang that are neighbours in memory, where lanes are not: what a lane has in all rows lies side by side, as
 * `out[x, y] = a[y, x]` stores it with lanes along x. It is accessed lane by lane, each lane's elements at once, where
 * row by row each would be a gather or a scatter. The gang is transposed in registers, in tiles as wide as it has rows. */
#include "lower/memory/memory.h"

enum { MOST_DEEP = 6 /* operations that rows' indices are made of */ };

/* ---- Are they neighbours? ---- */

static bool is_sum(LLVMValueRef v)
{
    return LLVMIsAInstruction(v) && LLVMGetInstructionOpcode(v) == LLVMAdd;
}

/* b - a, modulo 2^64, of i64 that were computed in the same way; false where that is not seen. */
static bool find_distance(LLVMValueRef a, LLVMValueRef b, int depth, uint64_t *out)
{
    uint64_t of[2] = {0, 0};
    *out = 0;
    if (a == b)
        return true;
    if (LLVMIsAConstantInt(a) && LLVMIsAConstantInt(b)) {
        *out = LLVMConstIntGetZExtValue(b) - LLVMConstIntGetZExtValue(a);
        return true;
    }
    if (depth == MOST_DEEP || !is_sum(a) || !is_sum(b))
        return false;
    for (unsigned i = 0; i < 2; i++)
        if (!find_distance(LLVMGetOperand(a, i), LLVMGetOperand(b, i), depth + 1, &of[i]))
            return false;
    *out = of[0] + of[1];
    return true;
}

bool kj_are_neighbours(kj_tile index)
{
    if (index.type != KJ_I64 || index.narrow || index.lanes > 1 || index.rows < 2)
        return false;
    uint64_t by;
    for (int r = 1; r < index.rows; r++)
        if (!find_distance(index.v[r - 1], index.v[r], 0, &by) || by != 1)
            return false;
    return true;
}

static bool has_columns(const kj_access *a)
{
    int rows = a->offset.rows;
    return a->columns && a->offset.lanes > 1 && !kj_is_unit(a->offset) && !a->again && !a->cache &&
           (rows == 2 || rows == 4) && a->offset.lanes % rows == 0;
}

/* How many lanes of all rows run, of the first ones, if that is known; else 0. */
static int lanes_that_run(const kj_lower *lo, const kj_access *a, kj_mask m)
{
    return m.kind == KJ_ALL ? a->offset.lanes : kj_known_first(lo, m);
}

/* Where it is not known, is it worth a look? Not in code for those that do not all run. */
static bool may_be_full(const kj_lower *lo, kj_mask m)
{
    return m.kind == KJ_SOME && !lo->few;
}

/* ---- Transposition ---- */

static LLVMValueRef address(kj_lower *lo, const kj_access *a, kj_tile first, int lane)
{
    LLVMValueRef index = LLVMBuildExtractElement(lo->b, first.v[0], kj_i64(lo, lane), "");
    return kj_lower_element(lo, a->type, a->base, index);
}

/* The lanes' places in the first row: i64. */
static kj_tile first_row(kj_lower *lo, const kj_access *a)
{
    kj_tile t = a->offset;
    t.rows = 1;
    return kj_tile_wide(lo, t);
}

/* Where all threads run, else where some do, and behind both. The builder stands in `every`. */
typedef struct fork {
    LLVMBasicBlockRef every, some, done;
} fork;

static fork fork_full(kj_lower *lo, kj_mask m)
{
    fork f = {kj_new_block(lo, "columns"), kj_new_block(lo, "rows"), kj_new_block(lo, "done")};
    LLVMBuildCondBr(lo->b, kj_mask_full(lo, m), f.every, f.some);
    LLVMPositionBuilderAtEnd(lo->b, f.every);
    return f;
}

/* Leaves a branch, whose last block is returned, and goes on in `next`. */
static LLVMBasicBlockRef leave(kj_lower *lo, const fork *f, LLVMBasicBlockRef next)
{
    LLVMBasicBlockRef last = LLVMGetInsertBlock(lo->b);
    LLVMBuildBr(lo->b, f->done);
    LLVMPositionBuilderAtEnd(lo->b, next);
    return last;
}

/* Of the first n lanes. */
static void store_columns(kj_lower *lo, const kj_access *a, kj_tile v, int n)
{
    int rows = a->offset.rows, lanes = a->offset.lanes;
    kj_tile first = first_row(lo, a);
    LLVMValueRef row[KJ_MAX_ROWS];
    for (int r = 0; r < rows; r++)
        row[r] = kj_tile_vector(lo, v, r, lanes);
    kj_transpose(lo, row, rows, lanes);
    for (int l = 0; l < n; l++) {
        int places[KJ_MAX_ROWS];
        for (int r = 0; r < rows; r++)
            places[r] = l / rows * rows + r;
        LLVMValueRef column = kj_shuffled(lo, row[l % rows], NULL, places, rows);
        LLVMValueRef store = LLVMBuildStore(lo->b, column, address(lo, a, first, l));
        LLVMSetAlignment(kj_alias_mark(lo, store, a->scope), (unsigned)kj_types[a->type].size);
    }
}

bool kj_store_columns(kj_lower *lo, const kj_access *a, kj_tile v, kj_mask m)
{
    int n = lanes_that_run(lo, a, m);
    if (!has_columns(a) || (n == 0 && !may_be_full(lo, m)))
        return false;
    if (n > 0) {
        store_columns(lo, a, v, n);
        return true;
    }
    fork f = fork_full(lo, m);
    store_columns(lo, a, v, a->offset.lanes);
    leave(lo, &f, f.some);
    for (int r = 0; r < a->offset.rows; r++)
        kj_store_row(lo, a, r, kj_tile_vector(lo, v, r, a->offset.lanes), m);
    leave(lo, &f, f.done);
    return true;
}

/* Of the first n lanes, and zeros for others. */
static void load_columns(kj_lower *lo, const kj_access *a, int n, kj_tile *out)
{
    int rows = a->offset.rows, lanes = a->offset.lanes;
    LLVMTypeRef type = kj_vec(lo, out->type, rows);
    kj_tile first = first_row(lo, a);
    for (int r = 0; r < rows; r++) {
        LLVMValueRef tiles[KJ_MAX_LANES] = {NULL};
        for (int t = 0; t < lanes / rows; t++) {
            int lane = t * rows + r;
            if (lane >= n) {
                tiles[t] = LLVMConstNull(type);
                continue;
            }
            LLVMValueRef at = address(lo, a, first, lane);
            tiles[t] = kj_alias_mark(lo, LLVMBuildLoad2(lo->b, type, at, ""), a->scope);
            LLVMSetAlignment(tiles[t], (unsigned)kj_types[a->type].size);
        }
        for (int left = lanes / rows, width = rows; left > 1; left /= 2, width *= 2)
            for (int t = 0; t < left / 2; t++)
                tiles[t] = kj_joined(lo, tiles[2 * t], tiles[2 * t + 1], width);
        out->v[r] = tiles[0];
    }
    kj_transpose(lo, out->v, rows, lanes);
}

bool kj_load_columns(kj_lower *lo, const kj_access *a, kj_mask m, kj_tile *out)
{
    int n = lanes_that_run(lo, a, m);
    if (!has_columns(a) || (n == 0 && !may_be_full(lo, m)))
        return false;
    if (n > 0) {
        load_columns(lo, a, n, out);
        return true;
    }
    kj_tile some = *out;
    LLVMBasicBlockRef from[2];
    fork f = fork_full(lo, m);
    load_columns(lo, a, a->offset.lanes, out);
    from[0] = leave(lo, &f, f.some);
    for (int r = 0; r < out->rows; r++)
        some.v[r] = kj_load_row(lo, a, r, m);
    from[1] = leave(lo, &f, f.done);
    for (int r = 0; r < out->rows; r++) {
        LLVMValueRef v[2] = {out->v[r], some.v[r]};
        out->v[r] = LLVMBuildPhi(lo->b, LLVMTypeOf(v[0]), "");
        LLVMAddIncoming(out->v[r], v, from, 2);
    }
    return true;
}
