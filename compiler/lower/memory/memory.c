/* Loads and stores of a gang: which instructions an address and a mask take.
 *
 * The address decides: one for all threads is a scalar access, lanes one element apart are a vector
 * access, anything else is a gather or scatter. Threads that do not run touch no memory: their part
 * is masked off, or their address replaced by a harmless one. Bools are bytes in memory. */
#include "lower/memory/memory.h"

#include <string.h>

/* ---- Addresses ---- */

/* Where a local array lives: scalar e of row r, lane l is at base[e * pitch + start + r * width +
 * l]. */
typedef struct local_place {
    LLVMValueRef base, start;
    int64_t pitch, width;
} local_place;

static LLVMValueRef thread_number(kj_lower *lo)
{
    if (lo->flat)
        return lo->x;
    LLVMValueRef by = kj_i64(lo, lo->kernel->block[1]), width = kj_i64(lo, lo->width);
    LLVMValueRef row = LLVMBuildAdd(lo->b, LLVMBuildMul(lo->b, lo->z, by, ""), lo->y, "");
    return LLVMBuildAdd(lo->b, LLVMBuildMul(lo->b, row, width, ""), lo->x, "");
}

static LLVMValueRef scratch_at(kj_lower *lo, int64_t offset)
{
    LLVMValueRef index = kj_i64(lo, offset);
    return LLVMBuildGEP2(lo->b, lo->i8, lo->scratch_base, &index, 1, "");
}

/* An odd number of lines where it is a whole one, as in kj_scratch_room. */
int64_t kj_local_pitch(const kj_lower *lo, const kj_tarray *root)
{
    int64_t size = kj_elem_size(root), bytes = lo->threads * size;
    bool even = bytes % (2 * KJ_LINE) == 0 && KJ_LINE % size == 0;
    return lo->threads + (even ? KJ_LINE / size : 0);
}

static local_place place_local(kj_lower *lo, const kj_tarray *root)
{
    if (lo->regions->crossing[root->id]) {
        LLVMValueRef base = scratch_at(lo, lo->local_scratch[root->id]);
        return (local_place){base, thread_number(lo), kj_local_pitch(lo, root), lo->width};
    }
    LLVMValueRef *at = &lo->locals[root->id];
    int64_t pitch = lo->rows * lo->lanes;
    if (!*at) {
        *at = kj_alloca(lo, kj_elements_type(lo, root, root->static_count * pitch), root->name);
        LLVMSetAlignment(*at, 64);
    }
    return (local_place){*at, kj_i64(lo, 0), pitch, lo->lanes};
}

/* Turns an element offset within a local array into one within its storage, for all of the gang's
 * threads. */
void kj_local_of_gang(kj_lower *lo, const kj_tarray *root, kj_access *a)
{
    local_place p = place_local(lo, root);
    a->base = p.base;
    a->own_count = root->of ? 0 : root->static_count;
    a->own_pitch = p.pitch;
    kj_tile scaled = kj_tile_binary(lo, KJ_OP_MUL, a->offset, kj_tile_int(lo, p.pitch));
    kj_tile own = kj_tile_like(KJ_I64, lo->rows, lo->lanes);
    for (int r = 0; r < lo->rows; r++)
        own.v[r] = a->own_start[r] = LLVMBuildAdd(lo->b, p.start, kj_i64(lo, r * p.width), "");
    if (lo->lanes > 1) {
        own.form = KJ_LINEAR;
        own.stride = 1;
    }
    a->offset = kj_tile_binary(lo, KJ_OP_ADD, scaled, own);
}

void kj_local_of_thread(kj_lower *lo, const kj_tarray *root, kj_access *a)
{
    a->base = place_local(lo, root).base;
}

void kj_local_begin(kj_lower *lo, const kj_tarray *root)
{
    if (root->space != KJ_LOCAL || !lo->kernel->untrusted || lo->regions->crossing[root->id])
        return;
    local_place p = place_local(lo, root);
    LLVMValueRef bytes = kj_i64(lo, root->static_count * kj_elem_size(root) * p.pitch);
    LLVMBuildMemSet(lo->b, p.base, LLVMConstInt(lo->i8, 0, false), bytes, 64);
}

/* ---- Loads ---- */

/* Nothing changes what is loaded while the kernel runs. */
static void mark_constant(kj_lower *lo, LLVMValueRef load)
{
    LLVMMetadataRef none = LLVMMDNodeInContext2(lo->ctx, NULL, 0);
    LLVMSetMetadata(load, LLVMGetMDKindIDInContext(lo->ctx, "invariant.load", 14),
                    LLVMMetadataAsValue(lo->ctx, none));
}

/* A row's scalar, from a harmless address when none of its threads runs. */
static LLVMValueRef load_scalar(kj_lower *lo, const kj_access *a, int row, kj_mask m)
{
    LLVMTypeRef type = lo->types[kj_memory_type(a->type)];
    LLVMValueRef at = kj_lower_element(lo, a->type, a->base, a->offset.v[row]);
    if (a->cache)
        return lo->target->load_cached(lo, a, at);
    bool chosen = a->offset.rows > 1 && m.kind == KJ_SOME;
    if (chosen) {
        LLVMValueRef nowhere = kj_alloca(lo, type, "nowhere");
        LLVMBuildStore(lo->b, LLVMConstNull(type), nowhere);
        at = LLVMBuildSelect(lo->b, kj_mask_row(lo, m, row, 1), at, nowhere, "");
    }
    LLVMValueRef v = LLVMBuildLoad2(lo->b, type, at, "");
    LLVMSetVolatile(v, a->again);
    LLVMSetAlignment(v, kj_types[a->type].size);
    if (a->constant && lo->target->apart)
        mark_constant(lo, v);
    return chosen ? v : kj_alias_mark(lo, v, a->scope);
}

static kj_tile from_memory(kj_lower *lo, kj_tile t, kj_dtype type)
{
    return type == KJ_BOOL ? kj_tile_convert(lo, t, KJ_BOOL) : t;
}

kj_tile kj_load_access(kj_lower *lo, const kj_access *a, kj_mask m)
{
    kj_tile t = kj_tile_like(kj_memory_type(a->type), a->offset.rows, a->offset.lanes);
    m = kj_mask_reduce(lo, m, t.rows, t.lanes);
    if (a->again && t.lanes > 1) /* rows are not volatile */
        LLVMBuildFence(lo->b, LLVMAtomicOrderingSequentiallyConsistent, true, "");
    if (kj_load_columns(lo, a, m, &t))
        return from_memory(lo, t, a->type);
    for (int r = 0; r < t.rows; r++)
        t.v[r] = t.lanes == 1 ? load_scalar(lo, a, r, m) : kj_load_row(lo, a, r, m);
    return from_memory(lo, t, a->type);
}

/* ---- Stores ---- */

/* Of a vector that goes to one address: the last running thread's element. */
static LLVMValueRef last_lane(kj_lower *lo, kj_tile v, int row, kj_mask m)
{
    LLVMValueRef lane = LLVMConstInt(lo->i32, v.lanes - 1u, false);
    if (m.kind == KJ_SOME && m.t.lanes > 1) {
        LLVMTypeRef type = LLVMIntTypeInContext(lo->ctx, v.lanes);
        LLVMValueRef bits = LLVMBuildBitCast(lo->b, kj_mask_row(lo, m, row, v.lanes), type, "");
        bits = LLVMBuildZExt(lo->b, bits, lo->i64, "");
        LLVMValueRef args[2] = {bits, LLVMConstInt(lo->i1, 0, false)};
        unsigned id = LLVMLookupIntrinsicID("llvm.ctlz", 9);
        LLVMValueRef f = LLVMGetIntrinsicDeclaration(lo->module, id, &lo->i64, 1);
        LLVMValueRef zeros = LLVMBuildCall2(lo->b, LLVMGlobalGetValueType(f), f, args, 2, "");
        lane = LLVMBuildSub(lo->b, kj_i64(lo, 63), zeros, "");
        lane = LLVMBuildAnd(lo->b, lane, kj_i64(lo, v.lanes - 1), "");
    }
    return LLVMBuildExtractElement(lo->b, kj_tile_vector(lo, v, row, v.lanes), lane, "");
}

static void store_scalar(kj_lower *lo, const kj_access *a, int row, kj_tile v, kj_mask m,
                         bool certain)
{
    LLVMBasicBlockRef done = NULL;
    if (!certain) {
        LLVMBasicBlockRef then = kj_new_block(lo, "store");
        done = kj_new_block(lo, "stored");
        LLVMBuildCondBr(lo->b, kj_mask_row(lo, m, row, 1), then, done);
        LLVMPositionBuilderAtEnd(lo->b, then);
    }
    LLVMValueRef value = v.lanes == 1 ? v.v[v.rows == 1 ? 0 : row] : last_lane(lo, v, row, m);
    LLVMValueRef at =
        kj_lower_element(lo, a->type, a->base, a->offset.v[a->offset.rows == 1 ? 0 : row]);
    if (a->cache)
        lo->target->store_cached(lo, a, value, at);
    else
        LLVMSetAlignment(kj_alias_mark(lo, LLVMBuildStore(lo->b, value, at), a->scope),
                         kj_types[a->type].size);
    if (done) {
        LLVMBuildBr(lo->b, done);
        LLVMPositionBuilderAtEnd(lo->b, done);
    }
}

void kj_store_access(kj_lower *lo, const kj_access *a, kj_tile v, kj_mask m)
{
    v = kj_tile_dense(lo, v);
    if (v.lanes == 1)
        v = kj_tile_wide(lo, v);
    if (a->type == KJ_BOOL)
        v = kj_tile_convert(lo, v, KJ_U8);
    if (kj_store_columns(lo, a, v, m))
        return;
    bool vector = a->offset.lanes > 1;
    int rows = a->offset.rows > v.rows ? a->offset.rows : v.rows;
    if (!vector && v.lanes > 1 && m.kind == KJ_SOME && m.t.rows > rows)
        rows = m.t.rows;
    if (rows == 1 && (vector || v.lanes == 1))
        m = kj_mask_reduce(lo, m, 1, vector ? a->offset.lanes : 1);
    for (int r = 0; r < rows; r++) {
        if (vector)
            kj_store_row(lo, a, r, kj_tile_vector(lo, v, r, a->offset.lanes), m);
        else
            store_scalar(lo, a, r, v, m, m.kind == KJ_ALL || rows == 1);
    }
}

void kj_store_parts(kj_lower *lo, const kj_access *a, kj_tile *v, kj_mask m)
{
    int rows = a->offset.rows;
    for (int k = 0; k < a->group; k++) {
        v[k] = kj_tile_wide(lo, a->type == KJ_BOOL ? kj_tile_convert(lo, v[k], KJ_U8) : v[k]);
        rows = v[k].rows > rows ? v[k].rows : rows;
    }
    if (rows == 1)
        m = kj_mask_reduce(lo, m, 1, a->offset.lanes);
    for (int r = 0; r < rows; r++) {
        LLVMValueRef parts[4];
        for (int k = 0; k < a->group; k++)
            parts[k] = kj_tile_vector(lo, v[k], r, a->offset.lanes);
        kj_store_group_row(lo, a, r, parts, m);
    }
}

/* ---- Values that live across regions ---- */

static kj_access context_access(kj_lower *lo, int64_t offset, kj_dtype type)
{
    kj_access a = {.type = type, .scope = KJ_SCOPE_SCRATCH, .base = scratch_at(lo, offset)};
    a.offset = kj_tile_like(KJ_I64, lo->rows, lo->lanes);
    for (int r = 0; r < lo->rows; r++)
        a.offset.v[r] =
            LLVMBuildAdd(lo->b, thread_number(lo), kj_i64(lo, (int64_t)r * lo->width), "");
    a.offset.form = lo->lanes > 1 ? KJ_LINEAR : KJ_DENSE;
    a.offset.stride = lo->lanes > 1;
    return a;
}

kj_tile kj_scratch_load(kj_lower *lo, int64_t offset, kj_dtype type)
{
    kj_access a = context_access(lo, offset, type);
    return kj_load_access(lo, &a, kj_all);
}

void kj_scratch_store(kj_lower *lo, int64_t offset, kj_tile t, kj_mask m)
{
    kj_access a = context_access(lo, offset, t.type);
    kj_store_access(lo, &a, t, m);
}
