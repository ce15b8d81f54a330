/* Copies and fills. Host memory that is not page-locked is read when the call is made, page-locked
 * memory when the copy runs; what goes to the host arrives when the copy runs. */
#include "double.h"
#include <stdlib.h>
#include <string.h>

/* One end of a copy. */
typedef struct drv_side {
    bool device;
    uint64_t address; /* of the first byte */
    size_t pitch, slice;
    drv_memory *memory; /* the allocation or page-locked block around it; NULL: the program's own */
    const drv_context *context; /* that it must be of; NULL: the current one */
} drv_side;

typedef struct drv_box {
    drv_side dst, src;
    size_t width, height, depth;
} drv_box;

typedef struct drv_copy_op {
    drv_op op;
    drv_box box;
    char *snapshot; /* of the source, densely */
    bool failed;
} drv_copy_op;

/* ---- What may be copied ---- */

static size_t reach(const drv_side *side, const drv_box *box)
{
    return (box->depth - 1) * side->slice + (box->height - 1) * side->pitch + box->width;
}

static bool check_side(drv_side *side, const drv_box *box, const char *what)
{
    if (box->height > 1 && side->pitch < box->width) {
        misuse(CUDA_ERROR_INVALID_VALUE, "%s: a pitch of %zu for rows of %zu bytes", what,
               side->pitch, box->width);
        return false;
    }
    if (side->device) {
        side->memory = memory_on_device(side->address, reach(side, box), what);
        if (!side->memory)
            return false;
    } else if (memory_is_device(side->address) || side->address < 4096) {
        misuse(CUDA_ERROR_INVALID_VALUE, "%s %#llx is no host address", what,
               (unsigned long long)side->address);
        return false;
    } else {
        side->memory = pinned_at((const void *)(uintptr_t)side->address);
    }
    const drv_memory *m = side->memory;
    if (m && side->address + reach(side, box) > m->begin + m->size) {
        misuse(CUDA_ERROR_INVALID_VALUE,
               "%s: %zu bytes at %#llx reach past the %zu page-locked bytes at %#llx", what,
               reach(side, box), (unsigned long long)side->address, m->size,
               (unsigned long long)m->begin);
        return false;
    }
    if (m && side->device && memory_is_device(side->address) && !memory_in_reach(m) &&
        !(side->context && side->context->device == m->context->device)) {
        misuse(CUDA_ERROR_INVALID_CONTEXT, "%s %#llx is of another context", what,
               (unsigned long long)side->address);
        return false;
    }
    return true;
}

/* The driver moves a row in any order. */
static bool check_apart(const drv_box *box)
{
    const drv_side *dst = &box->dst, *src = &box->src;
    if (box->height > 1 || box->depth > 1 || !dst->device || !src->device ||
        dst->address >= src->address + box->width || src->address >= dst->address + box->width)
        return true;
    misuse(CUDA_ERROR_INVALID_VALUE, "%zu bytes at %#llx are copied onto themselves, to %#llx",
           box->width, (unsigned long long)src->address, (unsigned long long)dst->address);
    return false;
}

/* ---- Carrying out ---- */

/* What an address is for the host; NULL where the device can no longer reach it. */
static char *host_of(const drv_side *side, size_t size)
{
    ptx_range range;
    if (!side->device)
        return (char *)(uintptr_t)side->address;
    if (!memory_find(NULL, side->address, &range) || range.end - side->address < size)
        return NULL;
    return range.host + (side->address - range.begin);
}

static void move(const drv_box *box, char *dst, size_t dst_pitch, size_t dst_slice, const char *src,
                 size_t src_pitch, size_t src_slice)
{
    for (size_t z = 0; z < box->depth; z++) {
        for (size_t y = 0; y < box->height; y++)
            memmove(dst + z * dst_slice + y * dst_pitch, src + z * src_slice + y * src_pitch,
                    box->width);
    }
}

static CUresult run_copy(drv_op *op)
{
    drv_copy_op *copy = (drv_copy_op *)op;
    const drv_box *box = &copy->box;
    char *dst = host_of(&box->dst, reach(&box->dst, box));
    const char *src = copy->snapshot ? copy->snapshot : host_of(&box->src, reach(&box->src, box));
    copy->failed = !dst || !src;
    if (copy->failed)
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    if (copy->snapshot)
        move(box, dst, box->dst.pitch, box->dst.slice, src, box->width, box->width * box->height);
    else
        move(box, dst, box->dst.pitch, box->dst.slice, src, box->src.pitch, box->src.slice);
    return CUDA_SUCCESS;
}

static void finish_copy(drv_op *op, CUresult status)
{
    drv_copy_op *copy = (drv_copy_op *)op;
    (void)status;
    if (copy->failed)
        note("%s: memory that is not there when the copy runs", op->what);
    ptx_give(copy->snapshot, copy->box.width * copy->box.height * copy->box.depth);
}

static CUresult copy(drv_box *box, drv_stream *stream, bool async)
{
    if (box->width == 0 || box->height == 0 || box->depth == 0)
        return CUDA_SUCCESS;
    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!check_side(&box->dst, box, "destination") || !check_side(&box->src, box, "source") ||
        !check_apart(box))
        return CUDA_ERROR_INVALID_VALUE;
    bool to_host = !box->dst.device, from_pageable = !box->src.device && !box->src.memory;
    if ((from_pageable || (to_host && !box->dst.memory)) &&
        capture_refuses(stream, "copy of memory that is not page-locked"))
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (from_pageable && !async) {
        CUresult result = stream_wait(stream);
        if (result)
            return result;
    }
    char *snapshot = NULL;
    if (from_pageable) {
        snapshot = ptx_take(box->width * box->height * box->depth);
        if (!snapshot)
            return CUDA_ERROR_OUT_OF_MEMORY;
        move(box, snapshot, box->width, box->width * box->height, host_of(&box->src, 0),
             box->src.pitch, box->src.slice);
    }
    drv_copy_op *made =
        op_new(sizeof *made, stream, "copy %zu bytes %c to %c",
               box->width * box->height * box->depth, "HD"[box->src.device], "HD"[box->dst.device]);
    made->box = *box;
    made->op.run = run_copy;
    made->op.replays = true;
    made->op.finish = finish_copy;
    if (box->dst.memory)
        op_uses(&made->op, box->dst.memory);
    if (box->src.memory)
        op_uses(&made->op, box->src.memory);
    made->snapshot = snapshot;
    drv_op *op = op_keep(&made->op);
    op_queue(op);
    bool wait = !stream->capture &&
                ((!async && (to_host || !box->src.device) && !(from_pageable && !to_host)) ||
                 (to_host && !box->src.device));
    CUresult result = wait ? op_wait(op) : CUDA_SUCCESS;
    op_drop(op);
    return result;
}

/* ---- The calls ---- */

static CUresult copy_line(drv_side dst, drv_side src, size_t size, CUstream stream, bool async)
{
    drv_box box = {.dst = dst, .src = src, .width = size, .height = 1, .depth = 1};
    return copy(&box, stream_find(stream), async);
}

static drv_side device_side(CUdeviceptr address)
{
    return (drv_side){.device = true, .address = address};
}

static drv_side host_side(const void *host)
{
    return (drv_side){.address = (uintptr_t)host};
}

/* By what the address is. */
static drv_side any_side(CUdeviceptr address)
{
    return (drv_side){.device = memory_is_device(address), .address = address};
}

CUresult do_cuMemcpyHtoD_v2(CUdeviceptr dst, const void *src, size_t size)
{
    return copy_line(device_side(dst), host_side(src), size, NULL, false);
}

CUresult do_cuMemcpyDtoH_v2(void *dst, CUdeviceptr src, size_t size)
{
    return copy_line(host_side(dst), device_side(src), size, NULL, false);
}

CUresult do_cuMemcpyDtoD_v2(CUdeviceptr dst, CUdeviceptr src, size_t size)
{
    return copy_line(device_side(dst), device_side(src), size, NULL, false);
}

CUresult do_cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t size)
{
    return copy_line(any_side(dst), any_side(src), size, NULL, false);
}

CUresult do_cuMemcpyHtoDAsync_v2(CUdeviceptr dst, const void *src, size_t size, CUstream stream)
{
    return copy_line(device_side(dst), host_side(src), size, stream, true);
}

CUresult do_cuMemcpyDtoHAsync_v2(void *dst, CUdeviceptr src, size_t size, CUstream stream)
{
    return copy_line(host_side(dst), device_side(src), size, stream, true);
}

CUresult do_cuMemcpyDtoDAsync_v2(CUdeviceptr dst, CUdeviceptr src, size_t size, CUstream stream)
{
    return copy_line(device_side(dst), device_side(src), size, stream, true);
}

CUresult do_cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t size, CUstream stream)
{
    return copy_line(any_side(dst), any_side(src), size, stream, true);
}

static CUresult copy_peer(CUdeviceptr dst, CUcontext dst_in, CUdeviceptr src, CUcontext src_in,
                          size_t size, CUstream stream, bool async)
{
    drv_context *to = object_find(dst_in, KIND_CONTEXT), *from = object_find(src_in, KIND_CONTEXT);
    if (!to || !from)
        return CUDA_ERROR_INVALID_CONTEXT;
    drv_side sides[2] = {device_side(dst), device_side(src)};
    sides[0].context = to;
    sides[1].context = from;
    if (!async) { /* it waits for all work of both, and that for it */
        context_wait(to);
        context_wait(from);
    }
    CUresult result = copy_line(sides[0], sides[1], size, stream, async);
    return result || async ? result : context_wait(context_current());
}

CUresult do_cuMemcpyPeer(CUdeviceptr dst, CUcontext dst_in, CUdeviceptr src, CUcontext src_in,
                         size_t size)
{
    return copy_peer(dst, dst_in, src, src_in, size, NULL, false);
}

CUresult do_cuMemcpyPeerAsync(CUdeviceptr dst, CUcontext dst_in, CUdeviceptr src, CUcontext src_in,
                              size_t size, CUstream stream)
{
    return copy_peer(dst, dst_in, src, src_in, size, stream, true);
}

/* The side that a descriptor of a 2-D or 3-D copy names; false after recording a misuse. */
static bool side_of(drv_side *out, CUmemorytype type, const void *host, CUdeviceptr device,
                    size_t x, size_t y, size_t z, size_t pitch, size_t height)
{
    switch (type) {
    case CU_MEMORYTYPE_HOST: *out = host_side(host); break;
    case CU_MEMORYTYPE_DEVICE: *out = device_side(device); break;
    case CU_MEMORYTYPE_UNIFIED: *out = any_side(device); break;
    default: misuse(CUDA_ERROR_INVALID_VALUE, "memory type %d", (int)type); return false;
    }
    out->pitch = pitch;
    out->slice = pitch * height;
    out->address += x + y * pitch + z * out->slice;
    return true;
}

static CUresult copy_2d(const CUDA_MEMCPY2D *c, CUstream stream, bool async)
{
    if (!c)
        return misuse(CUDA_ERROR_INVALID_VALUE, "no descriptor");
    drv_box box = {.width = c->WidthInBytes, .height = c->Height, .depth = 1};
    size_t dst_pitch = c->dstPitch ? c->dstPitch : c->dstXInBytes + c->WidthInBytes;
    size_t src_pitch = c->srcPitch ? c->srcPitch : c->srcXInBytes + c->WidthInBytes;
    if (!side_of(&box.dst, c->dstMemoryType, c->dstHost, c->dstDevice, c->dstXInBytes, c->dstY, 0,
                 dst_pitch, 1) ||
        !side_of(&box.src, c->srcMemoryType, c->srcHost, c->srcDevice, c->srcXInBytes, c->srcY, 0,
                 src_pitch, 1))
        return CUDA_ERROR_INVALID_VALUE;
    if (dst_pitch > INT32_MAX || src_pitch > INT32_MAX)
        return misuse(CUDA_ERROR_INVALID_VALUE, "a pitch over the device's greatest");
    return copy(&box, stream_find(stream), async);
}

CUresult do_cuMemcpy2D_v2(const CUDA_MEMCPY2D *c)
{
    return copy_2d(c, NULL, false);
}

CUresult do_cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *c)
{
    return copy_2d(c, NULL, false);
}

CUresult do_cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *c, CUstream stream)
{
    return copy_2d(c, stream, true);
}

static CUresult copy_3d(const CUDA_MEMCPY3D *c, CUstream stream, bool async)
{
    if (!c)
        return misuse(CUDA_ERROR_INVALID_VALUE, "no descriptor");
    drv_box box = {.width = c->WidthInBytes, .height = c->Height, .depth = c->Depth};
    size_t dst_height = c->dstHeight ? c->dstHeight : c->Height,
           src_height = c->srcHeight ? c->srcHeight : c->Height;
    if (!side_of(&box.dst, c->dstMemoryType, c->dstHost, c->dstDevice, c->dstXInBytes, c->dstY,
                 c->dstZ, c->dstPitch, dst_height) ||
        !side_of(&box.src, c->srcMemoryType, c->srcHost, c->srcDevice, c->srcXInBytes, c->srcY,
                 c->srcZ, c->srcPitch, src_height))
        return CUDA_ERROR_INVALID_VALUE;
    if (c->dstLOD || c->srcLOD || c->reserved0 || c->reserved1 || dst_height < c->Height ||
        src_height < c->Height)
        return misuse(CUDA_ERROR_INVALID_VALUE,
                      "a level of detail, a reserved field, or slices under the height");
    return copy(&box, stream_find(stream), async);
}

CUresult do_cuMemcpy3D_v2(const CUDA_MEMCPY3D *c)
{
    return copy_3d(c, NULL, false);
}

CUresult do_cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *c, CUstream stream)
{
    return copy_3d(c, stream, true);
}
