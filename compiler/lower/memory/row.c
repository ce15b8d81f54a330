/* Accesses of one row of a gang: which of them it is, and of lanes that are a line as it happens the look at them. */
#include "lower/memory/memory.h"

/* ---- One apart as it happens ---- */

/* Where a row's lanes are looked at: `line` when they are one apart, with the access that is then
 * meant. The builder stands in `line`. */
typedef struct run_branch {
    kj_access access;
    LLVMValueRef index, first; /* of all lanes, as they are kept; of the first */
    LLVMBasicBlockRef line, other, done;
} run_branch;

static LLVMValueRef all_equal(kj_lower *lo, LLVMValueRef a, LLVMValueRef b, int lanes)
{
    LLVMTypeRef word = LLVMIntTypeInContext(lo->ctx, (unsigned)lanes);
    LLVMValueRef equal = LLVMBuildICmp(lo->b, LLVMIntEQ, a, b, "");
    equal = LLVMBuildBitCast(lo->b, equal, word, "");
    return LLVMBuildICmp(lo->b, LLVMIntEQ, equal, LLVMConstAllOnes(word), "");
}

static run_branch branch_line(kj_lower *lo, const kj_access *a, int row)
{
    run_branch r = {.access = *a,
                    .line = kj_new_block(lo, "line"),
                    .other = kj_new_block(lo, "other"),
                    .done = kj_new_block(lo, "done")};
    int lanes = a->offset.lanes;
    /* threads that do not run may have any places */
    r.index = LLVMBuildFreeze(lo->b, a->offset.v[a->offset.rows == 1 ? 0 : row], "");
    r.first = LLVMBuildExtractElement(lo->b, r.index, LLVMConstInt(lo->i32, 0, false), "");
    LLVMValueRef steps = kj_iota(LLVMTypeOf(r.first), lanes, 1);
    LLVMValueRef line = LLVMBuildAdd(lo->b, kj_splat(lo, r.first, lanes), steps, "");
    LLVMBuildCondBr(lo->b, all_equal(lo, r.index, line, lanes), r.line, r.other);
    LLVMPositionBuilderAtEnd(lo->b, r.line);
    r.access.offset = kj_tile_like(KJ_I64, 1, lanes);
    r.access.offset.form = KJ_LINEAR;
    r.access.offset.stride = 1;
    r.access.offset.v[0] = LLVMBuildSExt(lo->b, r.first, lo->i64, "");
    return r;
}

/* All lanes' one element, if any of them runs. */
static LLVMValueRef load_same(kj_lower *lo, const kj_access *a, const run_branch *r,
                              LLVMTypeRef type)
{
    LLVMValueRef at = LLVMBuildSExt(lo->b, r->first, lo->i64, "");
    LLVMValueRef v = LLVMBuildLoad2(lo->b, LLVMGetElementType(type),
                                    kj_lower_element(lo, a->type, a->base, at), "");
    LLVMSetAlignment(v, (unsigned)kj_types[a->type].size);
    return kj_splat(lo, kj_alias_mark(lo, v, a->scope), a->offset.lanes);
}

/* The halves of butterflies are rows with gaps between them, and behind looks at what each gang does: no processor guesses
 * what follows early enough. */
static void fetch_ahead(kj_lower *lo, const run_branch *r)
{
    enum { ROWS = 4 };
    int bytes = r->access.offset.lanes * kj_types[r->access.type].size;
    LLVMValueRef by = kj_i64(lo, ROWS * bytes);
    LLVMValueRef at = kj_lower_element(lo, r->access.type, r->access.base, r->access.offset.v[0]);
    kj_prefetch(lo, LLVMBuildGEP2(lo->b, lo->i8, at, &by, 1, ""), bytes, 3);
}

static LLVMValueRef load_runs(kj_lower *lo, const kj_access *a, int row, kj_mask m)
{
    int lanes = a->offset.lanes;
    LLVMTypeRef type = kj_vec(lo, kj_memory_type(a->type), lanes);
    LLVMBasicBlockRef from[3], same = kj_new_block(lo, "same"), apart = kj_new_block(lo, "apart");
    LLVMValueRef v[3];
    run_branch r = branch_line(lo, a, row);
    if (lo->deps->large && m.kind == KJ_ALL)
        fetch_ahead(lo, &r);
    v[0] = kj_load_row(lo, &r.access, row, m);
    from[0] = LLVMGetInsertBlock(lo->b);
    LLVMBuildBr(lo->b, r.done);
    LLVMPositionBuilderAtEnd(lo->b, r.other);
    LLVMValueRef equal = all_equal(lo, r.index, kj_splat(lo, r.first, lanes), lanes);
    if (m.kind != KJ_ALL) {
        LLVMValueRef bits = kj_mask_bits(lo, kj_mask_row(lo, m, row, lanes), lanes);
        LLVMValueRef any = LLVMBuildICmp(lo->b, LLVMIntNE, bits, kj_i64(lo, 0), "");
        equal = LLVMBuildAnd(lo->b, equal, any, "");
    }
    LLVMBuildCondBr(lo->b, equal, same, apart);
    LLVMPositionBuilderAtEnd(lo->b, same);
    v[1] = load_same(lo, a, &r, type);
    from[1] = LLVMGetInsertBlock(lo->b);
    LLVMBuildBr(lo->b, r.done);
    LLVMPositionBuilderAtEnd(lo->b, apart);
    v[2] = kj_load_apart(lo, a, row, m);
    from[2] = LLVMGetInsertBlock(lo->b);
    LLVMBuildBr(lo->b, r.done);
    LLVMPositionBuilderAtEnd(lo->b, r.done);
    LLVMValueRef loaded = LLVMBuildPhi(lo->b, type, "");
    LLVMAddIncoming(loaded, v, from, 3);
    return loaded;
}

/* Of many such rows, as of a record with many parts, only the first: each is three accesses. */
static bool is_looked_at(kj_lower *lo, const kj_access *a)
{
    return a->offset.runs == KJ_RUNS_OFTEN && ++lo->uncertain <= KJ_ROWS_LOOKED_AT;
}

/* With whatever threads that do not run find. LLVM makes a masked load of one that is not frozen, for a selection. */
static LLVMValueRef load_amid(kj_lower *lo, const kj_access *a, int row, kj_mask m)
{
    kj_access amid = kj_amid(lo, a, row, m);
    return LLVMBuildFreeze(lo->b, kj_load_row(lo, &amid, row, kj_all), "");
}

LLVMValueRef kj_load_row(kj_lower *lo, const kj_access *a, int row, kj_mask m)
{
    if (m.kind == KJ_SOME && kj_is_amid(lo, a, m))
        return load_amid(lo, a, row, m);
    int size = kj_types[a->type].size;
    if (kj_is_unit(a->offset))
        return kj_load_unit(lo, a, row, kj_vec(lo, kj_memory_type(a->type), a->offset.lanes), m);
    if (kj_is_chosen(lo, a))
        return kj_load_chosen(lo, a, row);
    if (kj_is_crossed(lo, a))
        return kj_load_crossed(lo, a, row, m);
    if (a->group && (size >= 4 || m.kind == KJ_ALL))
        return kj_load_group(lo, a, row, m);
    return (is_looked_at(lo, a) ? load_runs : kj_load_apart)(lo, a, row, m);
}

static void store_runs(kj_lower *lo, const kj_access *a, int row, LLVMValueRef v, kj_mask m)
{
    run_branch r = branch_line(lo, a, row);
    kj_store_row(lo, &r.access, row, v, m);
    LLVMBuildBr(lo->b, r.done);
    LLVMPositionBuilderAtEnd(lo->b, r.other);
    kj_store_apart(lo, a, row, v, m);
    LLVMBuildBr(lo->b, r.done);
    LLVMPositionBuilderAtEnd(lo->b, r.done);
}

void kj_store_row(kj_lower *lo, const kj_access *a, int row, LLVMValueRef v, kj_mask m)
{
    kj_access amid;
    if (kj_is_amid(lo, a, m)) {
        amid = kj_amid(lo, a, row, m);
        a = &amid;
    }
    if (kj_is_unit(a->offset))
        kj_store_unit(lo, a, row, v, m);
    else if (kj_is_chosen(lo, a))
        kj_store_chosen(lo, a, row, v, m);
    else if (kj_is_crossed(lo, a))
        kj_store_crossed(lo, a, row, v, m);
    else
        (is_looked_at(lo, a) ? store_runs : kj_store_apart)(lo, a, row, v, m);
}
