/* cuMemset*: none of them waits. */
#include "double.h"
#include <string.h>

typedef struct drv_fill_op {
    drv_op op;
    uint64_t address;
    unsigned value;
    size_t width, count; /* elements of `width` bytes */
} drv_fill_op;

static CUresult run_fill(drv_op *op)
{
    const drv_fill_op *fill = (drv_fill_op *)op;
    ptx_range range;
    if (!memory_find(NULL, fill->address, &range) ||
        range.end - fill->address < fill->width * fill->count)
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    char *dst = range.host + (fill->address - range.begin);
    for (size_t i = 0; i < fill->count; i++)
        memcpy(dst + i * fill->width, &fill->value, fill->width); /* the low bytes */
    return CUDA_SUCCESS;
}

static CUresult fill(CUdeviceptr dst, size_t width, unsigned value, size_t count, CUstream handle)
{
    drv_stream *stream = stream_find(handle);
    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    if (count == 0)
        return CUDA_SUCCESS;
    if (dst % width)
        return misuse(CUDA_ERROR_INVALID_VALUE, "%#llx is not aligned to %zu bytes", dst, width);
    if (count > SIZE_MAX / width)
        return misuse(CUDA_ERROR_INVALID_VALUE, "%zu elements", count);
    drv_memory *memory = memory_on_device(dst, width * count, "destination");
    if (!memory)
        return CUDA_ERROR_INVALID_VALUE;
    drv_fill_op *made = op_new(sizeof *made, stream, "fill %zu bytes", width * count);
    made->op.run = run_fill;
    made->op.replays = true;
    made->address = dst;
    made->value = value;
    made->width = width;
    made->count = count;
    op_uses(&made->op, memory);
    op_queue(&made->op);
    return CUDA_SUCCESS;
}

CUresult do_cuMemsetD8_v2(CUdeviceptr dst, unsigned char value, size_t count)
{
    return fill(dst, 1, value, count, NULL);
}

CUresult do_cuMemsetD16_v2(CUdeviceptr dst, unsigned short value, size_t count)
{
    return fill(dst, 2, value, count, NULL);
}

CUresult do_cuMemsetD32_v2(CUdeviceptr dst, unsigned value, size_t count)
{
    return fill(dst, 4, value, count, NULL);
}

CUresult do_cuMemsetD8Async(CUdeviceptr dst, unsigned char value, size_t count, CUstream stream)
{
    return fill(dst, 1, value, count, stream);
}

CUresult do_cuMemsetD16Async(CUdeviceptr dst, unsigned short value, size_t count, CUstream stream)
{
    return fill(dst, 2, value, count, stream);
}

CUresult do_cuMemsetD32Async(CUdeviceptr dst, unsigned value, size_t count, CUstream stream)
{
    return fill(dst, 4, value, count, stream);
}
