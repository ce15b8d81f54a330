/* Accesses of rows whose lanes are a row of memory in another order: lane l's element is that of lane l ^ cross, the cross
 * being one number (lower/tile/crossed.c).
 *
 * A register of lanes is a register of elements side by side, in the order that the cross's lower bits make, at a place
 * that its higher ones decide: it is a vector access, and a permutation of the elements, and of the mask of those that
 * are accessed. No element is touched that is no thread's. The permutation is its own inverse. */
#include "lower/memory/memory.h"

enum { BITS = 8, MOST_UNITS = 64 };

/* How registers are permuted: units of so many bytes, by an instruction that takes their numbers. Where a processor has
 * none, halves are exchanged, and halves of those, by the cross's bits. */
typedef struct permuter {
    int vector; /* of CPUs with registers so wide */
    int least;  /* of elements so large */
    int unit, bytes;
    const char *instruction;
} permuter;

static const permuter permuters[] = {
    {16, 4, 4, 64, "llvm.x86.avx512.permvar.si.512"},
    {16, 2, 2, 64, "llvm.x86.avx512.permvar.hi.512"},
    {8, 4, 4, 32, "llvm.x86.avx2.permd"},
    {8, 1, 1, 16, "llvm.x86.ssse3.pshuf.b.128"},
    {4, 1, 1, 16, NULL},
};

/* The widest that no more than a row's lanes fill; NULL: none, of a few small ones. */
static const permuter *permuter_of(const kj_lower *lo, int size, int lanes)
{
    for (size_t i = 0; i < sizeof permuters / sizeof *permuters; i++) {
        const permuter *p = &permuters[i];
        if (lo->vector >= p->vector && size >= p->least && p->bytes <= lanes * size)
            return p;
    }
    return NULL;
}

bool kj_is_crossed(const kj_lower *lo, const kj_access *a)
{
    return a->offset.form == KJ_CROSSED &&
           permuter_of(lo, kj_types[a->type].size, a->offset.lanes) != NULL;
}

/* ---- A register ---- */

static LLVMValueRef exchange(kj_lower *lo, LLVMValueRef v, LLVMValueRef cross, int lanes)
{
    LLVMTypeRef type = LLVMTypeOf(v), elem = LLVMGetElementType(type);
    for (int bit = 1; bit < lanes; bit *= 2) {
        int places[MOST_UNITS];
        for (int l = 0; l < lanes; l++)
            places[l] = l ^ bit;
        LLVMValueRef set = LLVMBuildAnd(lo->b, cross, kj_i64(lo, bit), "");
        set = LLVMBuildICmp(lo->b, LLVMIntNE, set, kj_i64(lo, 0), "");
        set = kj_splat(lo, LLVMBuildSExt(lo->b, set, elem, ""), lanes);
        /* a selection by one bit would be a branch */
        LLVMValueRef other = LLVMBuildXor(lo->b, kj_shuffled(lo, v, NULL, places, lanes), v, "");
        v = LLVMBuildXor(lo->b, v, LLVMBuildAnd(lo->b, other, set, ""), "");
    }
    return v;
}

/* Lane l gets that of l ^ cross; `cross` is below v's lanes. */
static LLVMValueRef permuted(kj_lower *lo, const permuter *p, LLVMValueRef v, LLVMValueRef cross,
                             int size)
{
    LLVMTypeRef type = LLVMTypeOf(v);
    int lanes = p->bytes / size, units = p->bytes / p->unit;
    LLVMTypeRef elem =
        LLVMIntTypeInContext(lo->ctx, BITS * (unsigned)(p->instruction ? p->unit : size));
    if (!p->instruction) {
        v = LLVMBuildBitCast(lo->b, v, LLVMVectorType(elem, (unsigned)lanes), "");
        return LLVMBuildBitCast(lo->b, exchange(lo, v, cross, lanes), type, "");
    }
    LLVMValueRef by = LLVMBuildMul(lo->b, cross, kj_i64(lo, size / p->unit), "");
    by = kj_splat(lo, LLVMBuildTrunc(lo->b, by, elem, ""), units);
    by = LLVMBuildXor(lo->b, by, kj_iota(elem, units, 1), "");
    v = LLVMBuildBitCast(lo->b, v, LLVMVectorType(elem, (unsigned)units), "");
    LLVMValueRef args[2] = {v, by};
    return LLVMBuildBitCast(lo->b, kj_intrinsic(lo, p->instruction, NULL, 0, args, 2), type, "");
}

/* ---- A row, by registers ---- */

/* A register of a row: its elements' access, and the mask in their order. */
typedef struct part {
    const permuter *by;
    LLVMValueRef cross;
    kj_access access;
    kj_mask mask;
} part;

static LLVMValueRef lanes_of(kj_lower *lo, LLVMValueRef v, int first, int n)
{
    int places[KJ_MAX_LANES];
    for (int l = 0; l < n; l++)
        places[l] = first + l;
    return kj_shuffled(lo, v, NULL, places, n);
}

static kj_mask permuted_mask(kj_lower *lo, const part *p, LLVMValueRef mask, int first, int n,
                             int size)
{
    LLVMTypeRef wide = LLVMIntTypeInContext(lo->ctx, BITS * (unsigned)size);
    wide = LLVMVectorType(wide, (unsigned)n);
    LLVMValueRef v = LLVMBuildSExt(lo->b, lanes_of(lo, mask, first, n), wide, "");
    kj_tile t = kj_tile_like(KJ_BOOL, 1, n);
    v = permuted(lo, p->by, v, p->cross, size);
    t.v[0] = LLVMBuildICmp(lo->b, LLVMIntNE, v, LLVMConstNull(wide), "");
    return kj_mask_of(t);
}

/* That of lanes `first` to first + n. */
static part part_of(kj_lower *lo, const kj_access *a, int row, int first, kj_mask m)
{
    int size = kj_types[a->type].size;
    part p = {.by = permuter_of(lo, size, a->offset.lanes), .access = *a, .mask = m};
    int n = p.by->bytes / size;
    LLVMValueRef high = LLVMBuildAnd(lo->b, a->offset.cross, kj_i64(lo, -n), "");
    LLVMValueRef start = a->offset.v[a->offset.rows == 1 ? 0 : row];
    start = LLVMBuildAdd(lo->b, start, LLVMBuildXor(lo->b, high, kj_i64(lo, first), ""), "");
    p.cross = LLVMBuildAnd(lo->b, a->offset.cross, kj_i64(lo, n - 1), "");
    p.access.offset = kj_tile_like(KJ_I64, 1, n);
    p.access.offset.form = KJ_LINEAR;
    p.access.offset.stride = 1;
    p.access.offset.v[0] = start;
    if (m.kind == KJ_SOME)
        p.mask = permuted_mask(lo, &p, kj_mask_row(lo, m, row, a->offset.lanes), first, n, size);
    return p;
}

static LLVMValueRef load_parts(kj_lower *lo, const kj_access *a, int row, kj_mask m)
{
    int lanes = a->offset.lanes, size = kj_types[a->type].size, count = 0;
    int n = permuter_of(lo, size, lanes)->bytes / size;
    LLVMTypeRef type = kj_vec(lo, kj_memory_type(a->type), n);
    LLVMValueRef v[KJ_MAX_LANES];
    for (int first = 0; first < lanes; first += n) {
        part p = part_of(lo, a, row, first, m);
        LLVMValueRef elements = kj_load_unit(lo, &p.access, 0, type, p.mask);
        v[count++] = permuted(lo, p.by, elements, p.cross, size);
    }
    for (; count > 1; count /= 2, n *= 2)
        for (int i = 0; i < count / 2; i++)
            v[i] = kj_joined(lo, v[2 * i], v[2 * i + 1], n);
    return v[0];
}

static void store_parts(kj_lower *lo, const kj_access *a, int row, LLVMValueRef v, kj_mask m)
{
    int lanes = a->offset.lanes, size = kj_types[a->type].size;
    int n = permuter_of(lo, size, lanes)->bytes / size;
    for (int first = 0; first < lanes; first += n) {
        part p = part_of(lo, a, row, first, m);
        LLVMValueRef elements = permuted(lo, p.by, lanes_of(lo, v, first, n), p.cross, size);
        kj_store_unit(lo, &p.access, 0, elements, p.mask);
    }
}

/* ---- Rows with no cross ---- */

/* A loop over those that are stored is one for a row, not one for each register. */
static bool is_masked_by_loops(const kj_lower *lo, const kj_access *a, kj_mask m)
{
    return m.kind != KJ_ALL && lo->vector < 16 && !kj_stores_masked(lo, kj_types[a->type].size);
}

/* Most steps of a butterfly have none. Elements are permuted for nothing; masks, and elements where it takes several
 * instructions, are worth the look. */
static bool is_looked_at(const kj_lower *lo, const kj_access *a, kj_mask m)
{
    return m.kind != KJ_ALL ||
           !permuter_of(lo, kj_types[a->type].size, a->offset.lanes)->instruction;
}

typedef struct cross_branch {
    LLVMBasicBlockRef none, some, done;
    kj_access straight;
} cross_branch;

/* The builder stands where there is no cross. */
static cross_branch branch_cross(kj_lower *lo, const kj_access *a)
{
    cross_branch b = {kj_new_block(lo, "straight"), kj_new_block(lo, "crossed"),
                      kj_new_block(lo, "done"), *a};
    b.straight.offset.form = KJ_LINEAR;
    b.straight.offset.stride = 1;
    LLVMValueRef none = LLVMBuildICmp(lo->b, LLVMIntEQ, a->offset.cross, kj_i64(lo, 0), "");
    LLVMBuildCondBr(lo->b, none, b.none, b.some);
    LLVMPositionBuilderAtEnd(lo->b, b.none);
    return b;
}

LLVMValueRef kj_load_crossed(kj_lower *lo, const kj_access *a, int row, kj_mask m)
{
    if (!is_looked_at(lo, a, m))
        return load_parts(lo, a, row, m);
    LLVMTypeRef type = kj_vec(lo, kj_memory_type(a->type), a->offset.lanes);
    cross_branch b = branch_cross(lo, a);
    LLVMValueRef v[2] = {kj_load_unit(lo, &b.straight, row, type, m)};
    LLVMBasicBlockRef from[2] = {LLVMGetInsertBlock(lo->b)};
    LLVMBuildBr(lo->b, b.done);
    LLVMPositionBuilderAtEnd(lo->b, b.some);
    v[1] = load_parts(lo, a, row, m);
    from[1] = LLVMGetInsertBlock(lo->b);
    LLVMBuildBr(lo->b, b.done);
    LLVMPositionBuilderAtEnd(lo->b, b.done);
    LLVMValueRef loaded = LLVMBuildPhi(lo->b, type, "");
    LLVMAddIncoming(loaded, v, from, 2);
    return loaded;
}

void kj_store_crossed(kj_lower *lo, const kj_access *a, int row, LLVMValueRef v, kj_mask m)
{
    if (!is_looked_at(lo, a, m)) {
        store_parts(lo, a, row, v, m);
        return;
    }
    cross_branch b = branch_cross(lo, a);
    kj_store_unit(lo, &b.straight, row, v, m);
    LLVMBuildBr(lo->b, b.done);
    LLVMPositionBuilderAtEnd(lo->b, b.some);
    if (is_masked_by_loops(lo, a, m))
        kj_store_apart(lo, a, row, v, m);
    else
        store_parts(lo, a, row, v, m);
    LLVMBuildBr(lo->b, b.done);
    LLVMPositionBuilderAtEnd(lo->b, b.done);
}
