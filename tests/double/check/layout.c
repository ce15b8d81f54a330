/* Prints what the double's declarations come to. Built with DOUBLE_REAL_CUDA_H it prints what those
 * of cuda.h do, and compiles only if the calls in calls.def have cuda.h's parameters. */
#define __CUDA_API_VERSION_INTERNAL /* the older calls too */
#include "../cu.h"
#include <stddef.h>
#include <stdio.h>

#define CALL(name, suffix, since, flags, params, args, line) CUresult name##suffix params;
#include "../calls.def"
#undef CALL

#ifdef DOUBLE_REAL_CUDA_H
/* By name and version, as cuGetProcAddress has them. */
#include <cudaProfilerTypedefs.h>
#include <cudaTypedefs.h>
#define CALL(name, suffix, since, flags, params, args, line) \
    _Static_assert(__builtin_types_compatible_p(PFN_##name##_v##since, CUresult(*) params), #name);
#define UNMODELLED(name, suffix, since) _Static_assert(sizeof(PFN_##name##_v##since), #name);
#include "../calls.def"
#undef CALL
#undef UNMODELLED
#endif

#define SIZE(type) printf("%s %zu\n", #type, sizeof(type))
#define FIELD(type, name) printf("%s.%s %zu\n", #type, #name, offsetof(type, name))
#define VALUE(name) printf("%s %d\n", #name, (int)(name))

static void print_errors(void)
{
#define ERROR(name, code, text) VALUE(name);
#include "../errors.def"
#undef ERROR
#define ATTRIBUTE(name, number, value) VALUE(CU_DEVICE_ATTRIBUTE_##name);
#include "../attributes.def"
#undef ATTRIBUTE
#define JIT(name, number, what) VALUE(CU_JIT_##name);
#include "../jit.def"
#undef JIT
}

static void print_structures(void)
{
    SIZE(CUDA_MEMCPY2D);
    FIELD(CUDA_MEMCPY2D, srcMemoryType);
    FIELD(CUDA_MEMCPY2D, srcHost);
    FIELD(CUDA_MEMCPY2D, srcDevice);
    FIELD(CUDA_MEMCPY2D, srcPitch);
    FIELD(CUDA_MEMCPY2D, dstXInBytes);
    FIELD(CUDA_MEMCPY2D, dstHost);
    FIELD(CUDA_MEMCPY2D, dstDevice);
    FIELD(CUDA_MEMCPY2D, dstPitch);
    FIELD(CUDA_MEMCPY2D, WidthInBytes);
    FIELD(CUDA_MEMCPY2D, Height);
    SIZE(CUDA_MEMCPY3D);
    FIELD(CUDA_MEMCPY3D, srcLOD);
    FIELD(CUDA_MEMCPY3D, srcHost);
    FIELD(CUDA_MEMCPY3D, srcPitch);
    FIELD(CUDA_MEMCPY3D, srcHeight);
    FIELD(CUDA_MEMCPY3D, dstXInBytes);
    FIELD(CUDA_MEMCPY3D, dstLOD);
    FIELD(CUDA_MEMCPY3D, dstHost);
    FIELD(CUDA_MEMCPY3D, dstPitch);
    FIELD(CUDA_MEMCPY3D, dstHeight);
    FIELD(CUDA_MEMCPY3D, Depth);
    SIZE(CUmemPoolProps);
    FIELD(CUmemPoolProps, allocType);
    FIELD(CUmemPoolProps, handleTypes);
    FIELD(CUmemPoolProps, location);
    FIELD(CUmemPoolProps, location.id);
    FIELD(CUmemPoolProps, win32SecurityAttributes);
    SIZE(CUmemAccessDesc);
    FIELD(CUmemAccessDesc, flags);
    SIZE(CUuuid);
    SIZE(CUipcMemHandle);
    SIZE(CUdeviceptr);
}

static void print_values(void)
{
    VALUE(CU_MEMORYTYPE_HOST);
    VALUE(CU_MEMORYTYPE_DEVICE);
    VALUE(CU_MEMORYTYPE_UNIFIED);
    VALUE(CU_MEM_ALLOCATION_TYPE_PINNED);
    VALUE(CU_MEM_LOCATION_TYPE_DEVICE);
    VALUE(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    VALUE(CU_MEMPOOL_ATTR_RELEASE_THRESHOLD);
    VALUE(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);
    VALUE(CU_MEMPOOL_ATTR_USED_MEM_HIGH);
    VALUE(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    VALUE(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
    VALUE(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
    VALUE(CU_FUNC_ATTRIBUTE_NUM_REGS);
    VALUE(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
    VALUE(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
    VALUE(CU_POINTER_ATTRIBUTE_CONTEXT);
    VALUE(CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
    VALUE(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
    VALUE(CU_POINTER_ATTRIBUTE_RANGE_START_ADDR);
    VALUE(CU_POINTER_ATTRIBUTE_MAPPED);
    VALUE(CU_LIBRARY_BINARY_IS_PRESERVED);
    VALUE(CU_JIT_INPUT_CUBIN);
    VALUE(CU_JIT_INPUT_PTX);
    VALUE(CU_JIT_INPUT_LIBRARY);
    VALUE(CU_STREAM_NON_BLOCKING);
    VALUE(CU_EVENT_BLOCKING_SYNC);
    VALUE(CU_EVENT_DISABLE_TIMING);
    VALUE(CU_MEMHOSTALLOC_PORTABLE);
    VALUE(CU_MEMHOSTALLOC_DEVICEMAP);
    VALUE(CU_MEMHOSTALLOC_WRITECOMBINED);
    VALUE(CU_MEMHOSTREGISTER_PORTABLE);
    VALUE(CU_MEMHOSTREGISTER_DEVICEMAP);
    VALUE(CU_MEMHOSTREGISTER_READ_ONLY);
    VALUE(CU_MEM_ATTACH_GLOBAL);
    VALUE(CU_MEM_ATTACH_HOST);
    VALUE(CU_MEM_ATTACH_SINGLE);
    VALUE(CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
    VALUE(CU_STREAM_CAPTURE_MODE_GLOBAL);
    VALUE(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    VALUE(CU_STREAM_CAPTURE_MODE_RELAXED);
    VALUE(CU_STREAM_CAPTURE_STATUS_ACTIVE);
    VALUE(CU_STREAM_CAPTURE_STATUS_INVALIDATED);
    VALUE(CU_GET_PROC_ADDRESS_LEGACY_STREAM);
    VALUE(CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    VALUE(CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
    VALUE(CU_MODULE_EAGER_LOADING);
}

int main(void)
{
    print_errors();
    print_structures();
    print_values();
    return 0;
}
