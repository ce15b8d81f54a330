/* Launches by kernels, by CUDA's device runtime: it gives a buffer for the child's parameters and then
 * starts the grid. */
#include "lower/nvptx/nvptx.h"

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

static LLVMValueRef get_buffer(kj_lower *lo, const kj_launching *l)
{
    LLVMTypeRef dim = LLVMArrayType2(lo->i32, 3), params[4] = {lo->ptr, dim, dim, lo->i32};
    LLVMTypeRef type = LLVMFunctionType(lo->ptr, params, 4, false);
    LLVMValueRef grid[3], block[3];
    for (int i = 0; i < 3; i++) {
        grid[i] = LLVMBuildTrunc(lo->b, kj_launch_value(lo, l, i, 0, NULL), lo->i32, "");
        block[i] = LLVMConstInt(lo->i32, (uint64_t)l->child->spec.block[i], false);
    }
    LLVMValueRef args[4] = {entry_of(lo, l->child->entry), extents_of(lo, grid),
                            extents_of(lo, block), LLVMConstInt(lo->i32, 0, false)};
    LLVMValueRef f = runtime_function(lo, "__cudaCDP2GetParameterBufferV2", type);
    return LLVMBuildCall2(lo->b, type, f, args, 4, "");
}

/* The parameters one behind the other, each aligned to its size. */
static void fill_buffer(kj_lower *lo, const kj_launching *l, LLVMValueRef buffer)
{
    LLVMTypeRef global = LLVMTypeOf(lo->report);
    LLVMValueRef to = LLVMBuildAddrSpaceCast(lo->b, buffer, global, "");
    int64_t offset = 0;
    for (int i = 0; i < l->nslots; i++) {
        LLVMValueRef v = kj_launch_value(lo, l, 3 + i, 0, NULL);
        int64_t size = kj_types[l->values[3 + i].type].size;
        offset = (offset + size - 1) / size * size;
        LLVMBuildStore(lo->b, v, kj_byte_offset(lo, to, offset));
        offset += size;
    }
    LLVMBuildStore(lo->b, lo->report, kj_byte_offset(lo, to, (offset + 7) / 8 * 8));
}

LLVMValueRef kj_nvptx_launch(kj_lower *lo, kj_launching *l, int row, LLVMValueRef lane)
{
    (void)row;
    (void)lane;
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
