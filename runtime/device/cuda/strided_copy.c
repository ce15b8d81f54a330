/* Strided elements within device memory: moved by a kernel, for the driver's copies know only rows.
 *
 * The kernel takes any strides, and each thread moves one element at a time: element i of the
 * transfer, counted along the axes with the last one fastest, so that neighbours write
 * neighbours. */
#include "device/cuda/cuda_device.h"

/* An axis of extent 1, as those are that a transfer doesn't have, costs a comparison. */
#define AXIS(k, extent, dst, src) \
    "ld.param.u64 %rd4, [" extent "];\n" \
    "setp.eq.s64 %p1, %rd4, 1;\n" \
    "@%p1 bra $L_axis" k ";\n" \
    "div.u64 %rd5, %rd1, %rd4;\n" \
    "mul.lo.s64 %rd6, %rd5, %rd4;\n" \
    "sub.s64 %rd6, %rd1, %rd6;\n" \
    "mov.u64 %rd1, %rd5;\n" \
    "ld.param.u64 %rd5, [" dst "];\n" \
    "mad.lo.s64 %rd2, %rd6, %rd5, %rd2;\n" \
    "ld.param.u64 %rd5, [" src "];\n" \
    "mad.lo.s64 %rd3, %rd6, %rd5, %rd3;\n" \
    "$L_axis" k ":\n"

#define ELEMENT(size, type, reg) \
    "$L_size" size ":\n" \
    "ld.global." type " " reg ", [%rd3];\n" \
    "st.global." type " [%rd2], " reg ";\n" \
    "bra $L_next;\n"

static const char program[] =
    ".version 7.0\n"
    ".target sm_75\n"
    ".address_size 64\n"
    ".visible .entry kj_strided_copy(.param .u64 dst, .param .u64 src, .param "
    ".u64 count, .param .u32 size,\n"
    ".param .u64 n0, .param .u64 n1, .param .u64 n2, .param .u64 n3, "
    ".param .u64 n4, .param .u64 n5, .param .u64 n6,\n"
    ".param .u64 d0, .param .u64 d1, .param .u64 d2, .param .u64 d3, "
    ".param .u64 d4, .param .u64 d5, .param .u64 d6,\n"
    ".param .u64 s0, .param .u64 s1, .param .u64 s2, .param .u64 s3, "
    ".param .u64 s4, .param .u64 s5, .param .u64 s6)\n"
    "{\n"
    ".reg .pred %p<3>;\n"
    ".reg .b16 %rs<2>;\n"
    ".reg .b32 %r<6>;\n"
    ".reg .b64 %rd<10>;\n"
    "ld.param.u64 %rd7, [count];\n"
    "ld.param.u32 %r5, [size];\n"
    "mov.u32 %r1, %ntid.x;\n"
    "mov.u32 %r2, %ctaid.x;\n"
    "mov.u32 %r3, %tid.x;\n"
    "cvt.u64.u32 %rd8, %r3;\n"
    "mul.wide.u32 %rd9, %r2, %r1;\n"
    "add.s64 %rd8, %rd8, %rd9;\n" /* the first element of this thread */
    "mov.u32 %r2, %nctaid.x;\n"
    "mul.wide.u32 %rd9, %r2, %r1;\n" /* from one to the next */
    "$L_element:\n"
    "setp.ge.u64 %p1, %rd8, %rd7;\n"
    "@%p1 bra $L_end;\n"
    "mov.u64 %rd1, %rd8;\n"
    "ld.param.u64 %rd2, [dst];\n"
    "ld.param.u64 %rd3, [src];\n" /* clang-format off */
    AXIS("6", "n6", "d6", "s6")
    AXIS("5", "n5", "d5", "s5")
    AXIS("4", "n4", "d4", "s4")
    AXIS("3", "n3", "d3", "s3")
    AXIS("2", "n2", "d2", "s2")
    AXIS("1", "n1", "d1", "s1")
    AXIS("0", "n0", "d0", "s0")
    "cvta.to.global.u64 %rd2, %rd2;\n"
    "cvta.to.global.u64 %rd3, %rd3;\n"
    "setp.eq.s32 %p1, %r5, 1;\n"
    "@%p1 bra $L_size1;\n"
    "setp.eq.s32 %p1, %r5, 2;\n"
    "@%p1 bra $L_size2;\n"
    "setp.eq.s32 %p1, %r5, 4;\n"
    "@%p1 bra $L_size4;\n"
    ELEMENT("8", "b64", "%rd1")
    ELEMENT("4", "b32", "%r1")
    ELEMENT("2", "b16", "%rs1")
    ELEMENT("1", "b8", "%rs1")
    "$L_next:\n" /* clang-format on */
                                                                "add.s64 %rd8, %rd8, %rd9;\n"
                                                                "bra $L_element;\n"
                                                                "$L_end:\n"
                                                                "ret;\n"
                                                                "}\n";

kj_cu_result kj_cuda_mover(kj_device *dev, kj_cu_function *out)
{
    kj_cu_result result = KJ_CU_SUCCESS;
    pthread_mutex_lock(&dev->first_lock);
    if (!dev->mover) {
        kj_cu_module module;
        result = dev->cu->ModuleLoadDataEx(&module, program, 0, NULL, NULL);
        if (result == KJ_CU_SUCCESS) {
            result = dev->cu->ModuleGetFunction(&dev->mover, module, "kj_strided_copy");
            if (result == KJ_CU_SUCCESS)
                dev->mover_module = module;
            else
                kj_cuda_note(dev, dev->cu->ModuleUnload(module));
        }
    }
    *out = dev->mover;
    pthread_mutex_unlock(&dev->first_lock);
    return result;
}

void kj_cuda_mover_free(kj_device *dev)
{
    if (dev->mover_module)
        kj_cuda_note(dev, dev->cu->ModuleUnload(dev->mover_module));
}

static kj_cu_result move_elements(kj_device *dev, kj_cu_stream stream, const kj_transfer *t)
{
    enum { BLOCK = 256, BLOCKS_A_MULTIPROCESSOR = 16 };
    kj_cu_function mover;
    kj_cu_result result = kj_cuda_mover(dev, &mover);
    if (result != KJ_CU_SUCCESS)
        return result;
    const void *dst = t->dst, *src = t->src;
    int64_t count = 1, shape[KJ_MAX_AXES], dst_stride[KJ_MAX_AXES], src_stride[KJ_MAX_AXES];
    unsigned size = (unsigned)t->size;
    void *params[4 + 3 * KJ_MAX_AXES] = {&dst, &src, &count, &size};
    for (int i = 0; i < KJ_MAX_AXES; i++) {
        shape[i] = i < t->ndim ? t->shape[i] : 1;
        dst_stride[i] = i < t->ndim ? t->dst_stride[i] : 0;
        src_stride[i] = i < t->ndim ? t->src_stride[i] : 0;
        count *= shape[i];
        params[4 + i] = &shape[i];
        params[4 + KJ_MAX_AXES + i] = &dst_stride[i];
        params[4 + 2 * KJ_MAX_AXES + i] = &src_stride[i];
    }
    int64_t blocks = (count + BLOCK - 1) / BLOCK,
            most = (int64_t)dev->multiprocessors * BLOCKS_A_MULTIPROCESSOR;
    return dev->cu->LaunchKernel(mover, (unsigned)(blocks < most ? blocks : most), 1, 1, BLOCK, 1,
                                 1, 0, stream, params, NULL);
}

static kj_cu_address address(const void *p)
{
    return (kj_cu_address)(uintptr_t)p;
}

kj_cu_result kj_cuda_move(kj_device *dev, kj_cu_stream stream, const kj_transfer *t)
{
    size_t bytes;
    if (!kj_transfer_is_row(t, &bytes))
        return move_elements(dev, stream, t);
    return dev->cu->MemcpyDtoDAsync(address(t->dst), address(t->src), bytes, stream);
}

kj_cu_result kj_cuda_move_over(kj_device *dev, kj_cu_stream stream, const kj_transfer *t,
                               void *aside, size_t room)
{
    size_t size;
    kj_cu_result result = KJ_CU_SUCCESS;
    kj_transfer_is_row(t, &size);
    for (size_t done = 0, n; done < size && result == KJ_CU_SUCCESS; done += n) {
        n = size - done < room ? size - done : room;
        size_t at = t->dst < t->src ? done : size - done - n;
        result = dev->cu->MemcpyDtoDAsync(address(aside), address(t->src) + at, n, stream);
        if (result == KJ_CU_SUCCESS)
            result = dev->cu->MemcpyDtoDAsync(address(t->dst) + at, address(aside), n, stream);
    }
    return result;
}
