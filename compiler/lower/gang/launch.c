/* Launches by kernels: each thread that comes to one tells the device what to launch. On a CPU that is
 * a call of the launch's kj_host_spawner. */
#include "lower/gang/gang.h"

#include <stddef.h>
#include <string.h>

kj_tile kj_lower_address(kj_lower *lo, const kj_tarray *root)
{
    return kj_tile_scalar(KJ_I64, LLVMBuildPtrToInt(lo->b, lo->roots[root->id], lo->i64, ""));
}

LLVMValueRef kj_byte_offset(kj_lower *lo, LLVMValueRef base, int64_t offset)
{
    LLVMValueRef index = kj_i64(lo, offset);
    return LLVMBuildGEP2(lo->b, lo->i8, base, &index, 1, "");
}

/* As it stands in memory. */
LLVMValueRef kj_launch_value(kj_lower *lo, const kj_launching *l, int i, int row, LLVMValueRef lane)
{
    LLVMValueRef v = kj_lane_of(lo, &l->values[i], row, lane);
    return l->values[i].type == KJ_BOOL ? LLVMBuildZExt(lo->b, v, lo->i8, "") : v;
}

/* ---- On a CPU ---- */

LLVMValueRef kj_gang_launch(kj_lower *lo, kj_launching *l, int row, LLVMValueRef lane)
{
    if (!l->extents) {
        l->extents = kj_alloca(lo, LLVMArrayType2(lo->i64, 3), "extents");
        l->slots = kj_alloca(lo, LLVMArrayType2(lo->i64, (uint64_t)l->nslots + 1), "slots");
    }
    for (int i = 0; i < 3; i++)
        LLVMBuildStore(lo->b, kj_launch_value(lo, l, i, row, lane),
                       kj_byte_offset(lo, l->extents, 8 * i));
    for (int i = 0; i < l->nslots; i++)
        LLVMBuildStore(lo->b, kj_launch_value(lo, l, 3 + i, row, lane),
                       kj_byte_offset(lo, l->slots, 8 * i));
    LLVMBuildStore(lo->b, lo->report, kj_byte_offset(lo, l->slots, 8 * (int64_t)l->nslots));
    LLVMTypeRef params[5] = {lo->ptr, lo->i32, lo->i64, lo->ptr, lo->ptr};
    LLVMTypeRef type = LLVMFunctionType(lo->i32, params, 5, false);
    int64_t field = (int64_t)offsetof(kj_host_launch, spawner);
    LLVMValueRef spawner =
        LLVMBuildLoad2(lo->b, lo->ptr, kj_byte_offset(lo, lo->launch, field), "");
    LLVMValueRef args[5] = {spawner, LLVMConstInt(lo->i32, (unsigned)l->child->id, false),
                            kj_block_number(lo), l->extents, l->slots};
    return LLVMBuildCall2(lo->b, type, LLVMBuildLoad2(lo->b, lo->ptr, spawner, ""), args, 5, "");
}

/* ---- Of a gang ---- */

/* The statuses of a row's threads, one after the other. */
static LLVMValueRef launch_row(kj_lower *lo, kj_launching *l, int row, kj_mask m)
{
    if (lo->lanes == 1 && m.kind == KJ_ALL)
        return lo->target->launch(lo, l, row, NULL);
    LLVMTypeRef type = kj_vec(lo, KJ_I32, lo->lanes);
    LLVMValueRef statuses = kj_alloca(lo, type, "statuses");
    LLVMBuildStore(lo->b, LLVMConstNull(type), statuses);
    kj_bit_loop loop = kj_bits_begin(lo, kj_row_bits(lo, m, row), true);
    LLVMValueRef at = LLVMBuildGEP2(lo->b, lo->i32, statuses, &loop.thread, 1, "");
    LLVMBuildStore(lo->b, lo->target->launch(lo, l, row, loop.thread), at);
    kj_bits_end(lo, &loop);
    return LLVMBuildLoad2(lo->b, type, statuses, "");
}

kj_tile kj_lower_launch(kj_lower *lo, const kj_tstmt *s, const kj_tile *values, kj_mask m)
{
    kj_launching l = {
        .child = s->u.launch.child, .values = values, .nslots = s->u.launch.nvalues - 3};
    kj_tile status = kj_tile_like(KJ_I32, lo->rows, lo->lanes);
    for (int row = 0; row < lo->rows; row++)
        status.v[row] = launch_row(lo, &l, row, m);
    return status;
}
