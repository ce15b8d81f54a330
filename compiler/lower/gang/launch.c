/* Launches by kernels: each thread that comes to one tells the device what to launch.
 *
 * On a CPU that is a call of the launch's kj_host_spawner; on a GPU of CUDA's device runtime, which
 * gives a buffer for the child's parameters and then starts the grid. */
#include "lower/gang/gang.h"

#include <stddef.h>
#include <string.h>

/* A launch's values for all of the gang. */
typedef struct launch {
    const kj_child *child;
    kj_tile *values; /* the grid's extents, then slots */
    int nslots;
    LLVMValueRef extents, slots; /* of one thread, in memory */
} launch;

kj_tile kj_lower_address(kj_lower *lo, const kj_tarray *root)
{
    return kj_tile_scalar(KJ_I64, LLVMBuildPtrToInt(lo->b, lo->roots[root->id], lo->i64, ""));
}

static LLVMValueRef at_offset(kj_lower *lo, LLVMValueRef base, int64_t offset)
{
    LLVMValueRef index = kj_i64(lo, offset);
    return LLVMBuildGEP2(lo->b, lo->i8, base, &index, 1, "");
}

/* As it stands in memory. */
static LLVMValueRef value_of(kj_lower *lo, const launch *l, int i, int row, LLVMValueRef lane)
{
    LLVMValueRef v = kj_lane_of(lo, &l->values[i], row, lane);
    return l->values[i].type == KJ_BOOL ? LLVMBuildZExt(lo->b, v, lo->i8, "") : v;
}

/* ---- On a CPU ---- */

static LLVMValueRef spawn(kj_lower *lo, const launch *l, int row, LLVMValueRef lane)
{
    for (int i = 0; i < 3; i++)
        LLVMBuildStore(lo->b, value_of(lo, l, i, row, lane), at_offset(lo, l->extents, 8 * i));
    for (int i = 0; i < l->nslots; i++)
        LLVMBuildStore(lo->b, value_of(lo, l, 3 + i, row, lane), at_offset(lo, l->slots, 8 * i));
    LLVMBuildStore(lo->b, lo->report, at_offset(lo, l->slots, 8 * (int64_t)l->nslots));
    LLVMTypeRef params[4] = {lo->ptr, lo->i32, lo->ptr, lo->ptr};
    LLVMTypeRef type = LLVMFunctionType(lo->i32, params, 4, false);
    int64_t field = (int64_t)offsetof(kj_host_launch, spawner);
    LLVMValueRef spawner = LLVMBuildLoad2(lo->b, lo->ptr, at_offset(lo, lo->launch, field), "");
    LLVMValueRef args[4] = {spawner, LLVMConstInt(lo->i32, (unsigned)l->child->id, false),
                            l->extents, l->slots};
    return LLVMBuildCall2(lo->b, type, LLVMBuildLoad2(lo->b, lo->ptr, spawner, ""), args, 4, "");
}

/* ---- On a GPU ---- */

static LLVMValueRef runtime_function(kj_lower *lo, const char *name, LLVMTypeRef type)
{
    LLVMValueRef f = LLVMGetNamedFunction(lo->module, name);
    return f ? f : LLVMAddFunction(lo->module, name, type);
}

/* The entry, or one in its place until it is lowered. */
static LLVMValueRef entry_of(kj_lower *lo, const char *name)
{
    LLVMTypeRef none = LLVMFunctionType(LLVMVoidTypeInContext(lo->ctx), NULL, 0, false);
    return runtime_function(lo, name, none);
}

static LLVMValueRef extents_of(kj_lower *lo, const LLVMValueRef extents[3])
{
    LLVMValueRef all = LLVMGetUndef(LLVMArrayType2(lo->i32, 3));
    for (unsigned i = 0; i < 3; i++)
        all = LLVMBuildInsertValue(lo->b, all, extents[i], i, "");
    return all;
}

static LLVMValueRef get_buffer(kj_lower *lo, const launch *l)
{
    LLVMTypeRef dim = LLVMArrayType2(lo->i32, 3), params[4] = {lo->ptr, dim, dim, lo->i32};
    LLVMTypeRef type = LLVMFunctionType(lo->ptr, params, 4, false);
    LLVMValueRef grid[3], block[3];
    for (int i = 0; i < 3; i++) {
        grid[i] = LLVMBuildTrunc(lo->b, value_of(lo, l, i, 0, NULL), lo->i32, "");
        block[i] = LLVMConstInt(lo->i32, (uint64_t)l->child->spec.block[i], false);
    }
    LLVMValueRef args[4] = {entry_of(lo, l->child->entry), extents_of(lo, grid),
                            extents_of(lo, block), LLVMConstInt(lo->i32, 0, false)};
    LLVMValueRef f = runtime_function(lo, "__cudaCDP2GetParameterBufferV2", type);
    return LLVMBuildCall2(lo->b, type, f, args, 4, "");
}

/* The parameters one behind the other, each aligned to its size. */
static void fill_buffer(kj_lower *lo, const launch *l, LLVMValueRef buffer)
{
    LLVMTypeRef global = LLVMTypeOf(lo->report);
    LLVMValueRef to = LLVMBuildAddrSpaceCast(lo->b, buffer, global, "");
    int64_t offset = 0;
    for (int i = 0; i < l->nslots; i++) {
        LLVMValueRef v = value_of(lo, l, 3 + i, 0, NULL);
        int64_t size = kj_types[l->values[3 + i].type].size;
        offset = (offset + size - 1) / size * size;
        LLVMBuildStore(lo->b, v, at_offset(lo, to, offset));
        offset += size;
    }
    LLVMBuildStore(lo->b, lo->report, at_offset(lo, to, (offset + 7) / 8 * 8));
}

static LLVMValueRef launch_device(kj_lower *lo, const launch *l)
{
    LLVMTypeRef params[2] = {lo->ptr, lo->ptr}, type = LLVMFunctionType(lo->i32, params, 2, false);
    LLVMValueRef buffer = get_buffer(lo, l), status = kj_alloca(lo, lo->i32, "status");
    LLVMBasicBlockRef fill = kj_new_block(lo, "fill"), done = kj_new_block(lo, "launched");
    LLVMBuildStore(lo->b, LLVMConstInt(lo->i32, KJ_LAUNCH_TOO_MANY, false), status);
    LLVMBuildCondBr(lo->b, LLVMBuildIsNull(lo->b, buffer, ""), done, fill);
    LLVMPositionBuilderAtEnd(lo->b, fill);
    fill_buffer(lo, l, buffer);
    LLVMValueRef args[2] = {buffer, LLVMConstNull(lo->ptr)};
    LLVMValueRef f = runtime_function(lo, KJ_DEVRT_SYMBOL, type);
    LLVMBuildStore(lo->b, LLVMBuildCall2(lo->b, type, f, args, 2, ""), status);
    LLVMBuildBr(lo->b, done);
    LLVMPositionBuilderAtEnd(lo->b, done);
    return LLVMBuildLoad2(lo->b, lo->i32, status, "");
}

/* ---- Of a gang ---- */

static LLVMValueRef launch_one(kj_lower *lo, const launch *l, int row, LLVMValueRef lane)
{
    return lo->ptx ? launch_device(lo, l) : spawn(lo, l, row, lane);
}

/* The statuses of a row's threads, one after the other. */
static LLVMValueRef launch_row(kj_lower *lo, const launch *l, int row, kj_mask m)
{
    if (lo->lanes == 1 && m.kind == KJ_ALL)
        return launch_one(lo, l, row, NULL);
    LLVMTypeRef type = kj_vec(lo, KJ_I32, lo->lanes);
    LLVMValueRef statuses = kj_alloca(lo, type, "statuses");
    LLVMBuildStore(lo->b, LLVMConstNull(type), statuses);
    kj_bit_loop loop = kj_bits_begin(lo, kj_row_bits(lo, m, row), true);
    LLVMValueRef at = LLVMBuildGEP2(lo->b, lo->i32, statuses, &loop.thread, 1, "");
    LLVMBuildStore(lo->b, launch_one(lo, l, row, loop.thread), at);
    kj_bits_end(lo, &loop);
    return LLVMBuildLoad2(lo->b, type, statuses, "");
}

void kj_lower_launch(kj_lower *lo, const kj_tstmt *s, kj_mask m)
{
    int n = s->u.launch.nvalues;
    launch l = {.child = s->u.launch.child, .nslots = n - 3};
    l.values = KJ_NEW_ARRAY(lo->arena, kj_tile, (size_t)n);
    for (int i = 0; i < n; i++)
        l.values[i] = kj_tile_full(lo, kj_lower_expr(lo, s->u.launch.values[i], m));
    if (!lo->ptx) {
        l.extents = kj_alloca(lo, LLVMArrayType2(lo->i64, 3), "extents");
        l.slots = kj_alloca(lo, LLVMArrayType2(lo->i64, (uint64_t)l.nslots + 1), "slots");
    }
    kj_tile status = kj_tile_like(KJ_I32, lo->rows, lo->lanes);
    for (int row = 0; row < lo->rows; row++)
        status.v[row] = launch_row(lo, &l, row, m);
    kj_slot_begin(lo, s->u.launch.result, status, m);
}
