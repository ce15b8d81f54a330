/* kjit's declarations of the CUDA driver beside the toolkit's own: compiling this is the test. */
#if __has_include(<cudaTypedefs.h>)
#include <cuda.h>
#include <cudaTypedefs.h>
#include <stddef.h>

#include "device/cuda/driver.h"

#define SAME_TYPE(ours, theirs) \
    _Static_assert(__builtin_types_compatible_p(ours, theirs), #ours " is not " #theirs)
#define SAME(ours, theirs) _Static_assert((long long)(ours) == (long long)(theirs), #ours)
#define SAME_FIELD(ours, theirs) \
    SAME(offsetof(kj_cu_pool_properties, ours), offsetof(CUmemPoolProps, theirs))

SAME_TYPE(kj_cu_device, CUdevice);
SAME_TYPE(kj_cu_address, CUdeviceptr);
SAME_TYPE(kj_cu_context, CUcontext);
SAME_TYPE(kj_cu_module, CUmodule);
SAME_TYPE(kj_cu_function, CUfunction);
SAME_TYPE(kj_cu_stream, CUstream);
SAME_TYPE(kj_cu_event, CUevent);
SAME_TYPE(kj_cu_pool, CUmemoryPool);
SAME_TYPE(kj_cu_link, CUlinkState);
SAME_TYPE(kj_cu_graph, CUgraph);
SAME_TYPE(kj_cu_graph_exec, CUgraphExec);
SAME_TYPE(kj_cu_host_function, CUhostFn);
SAME_TYPE(kj_cu_result, CUresult);
SAME_TYPE(kj_cu_device_attribute, CUdevice_attribute);
SAME_TYPE(kj_cu_function_attribute, CUfunction_attribute);
SAME_TYPE(kj_cu_jit_option, CUjit_option);
SAME_TYPE(kj_cu_jit_input, CUjitInputType);
SAME_TYPE(kj_cu_pool_attribute, CUmemPool_attribute);
SAME_TYPE(kj_cu_capture_mode, CUstreamCaptureMode);
SAME_TYPE(kj_cu_capture_status, CUstreamCaptureStatus);
SAME_TYPE(kj_cu_pointer_attribute, CUpointer_attribute);

SAME(KJ_CU_SUCCESS, CUDA_SUCCESS);
#define CUDA_ERROR(name, code, status, lost, text) SAME(KJ_CU_##name, CUDA_ERROR_##name);
#include "device/cuda/error.def"
#undef CUDA_ERROR

#define ATTRIBUTE(name, drivers, number) \
    SAME(KJ_CU_DEVICE_##drivers, CU_DEVICE_ATTRIBUTE_##drivers);
#include "device/cuda/attribute.def"
#undef ATTRIBUTE

#define FUNCTION(name) SAME(KJ_CU_FUNC_##name, CU_FUNC_ATTRIBUTE_##name)
FUNCTION(MAX_THREADS_PER_BLOCK);
FUNCTION(SHARED_SIZE_BYTES);
FUNCTION(CONST_SIZE_BYTES);
FUNCTION(LOCAL_SIZE_BYTES);
FUNCTION(NUM_REGS);
FUNCTION(MAX_DYNAMIC_SHARED_SIZE_BYTES);

SAME(KJ_CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER);
SAME(KJ_CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES);
SAME(KJ_CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER);
SAME(KJ_CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
SAME(KJ_CU_JIT_INPUT_PTX, CU_JIT_INPUT_PTX);
SAME(KJ_CU_JIT_INPUT_LIBRARY, CU_JIT_INPUT_LIBRARY);
SAME(KJ_CU_STREAM_NON_BLOCKING, CU_STREAM_NON_BLOCKING);
SAME(KJ_CU_STREAM_CAPTURE_RELAXED, CU_STREAM_CAPTURE_MODE_RELAXED);
SAME(KJ_CU_EVENT_DEFAULT, CU_EVENT_DEFAULT);
SAME(KJ_CU_EVENT_DISABLE_TIMING, CU_EVENT_DISABLE_TIMING);
SAME(KJ_CU_MEMHOSTALLOC_PORTABLE, CU_MEMHOSTALLOC_PORTABLE);
SAME(KJ_CU_MEMHOSTALLOC_DEVICEMAP, CU_MEMHOSTALLOC_DEVICEMAP);
SAME(KJ_CU_MEMHOSTALLOC_WRITECOMBINED, CU_MEMHOSTALLOC_WRITECOMBINED);
SAME(KJ_CU_MEMHOSTREGISTER_PORTABLE, CU_MEMHOSTREGISTER_PORTABLE);
SAME(KJ_CU_MEMHOSTREGISTER_DEVICEMAP, CU_MEMHOSTREGISTER_DEVICEMAP);
SAME(KJ_CU_MEM_ATTACH_GLOBAL, CU_MEM_ATTACH_GLOBAL);
SAME(KJ_CU_MEM_ATTACH_HOST, CU_MEM_ATTACH_HOST);
SAME(KJ_CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
SAME(KJ_CU_POINTER_ATTRIBUTE_DEVICE_POINTER, CU_POINTER_ATTRIBUTE_DEVICE_POINTER);
SAME(KJ_CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES,
     CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES);
SAME(KJ_CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD);
SAME(KJ_CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);
SAME(KJ_CU_MEMPOOL_ATTR_USED_MEM_CURRENT, CU_MEMPOOL_ATTR_USED_MEM_CURRENT);
SAME(KJ_CU_MEMPOOL_ATTR_USED_MEM_HIGH, CU_MEMPOOL_ATTR_USED_MEM_HIGH);
SAME(KJ_CU_MEM_ALLOCATION_TYPE_PINNED, CU_MEM_ALLOCATION_TYPE_PINNED);
SAME(KJ_CU_MEM_LOCATION_TYPE_DEVICE, CU_MEM_LOCATION_TYPE_DEVICE);

SAME(KJ_CU_MEM_ACCESS_READWRITE, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
SAME(KJ_CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
SAME(sizeof(kj_cu_ipc_handle), sizeof(CUipcMemHandle));
SAME(sizeof(kj_cu_pool_access), sizeof(CUmemAccessDesc));
SAME(offsetof(kj_cu_pool_access, location), offsetof(CUmemAccessDesc, location.id));
SAME(offsetof(kj_cu_pool_access, flags), offsetof(CUmemAccessDesc, flags));

SAME(sizeof(kj_cu_pool_properties), sizeof(CUmemPoolProps));
SAME_FIELD(type, allocType);
SAME_FIELD(handles, handleTypes);
SAME_FIELD(location_type, location.type);
SAME_FIELD(location, location.id);
SAME_FIELD(security, win32SecurityAttributes);

/* The entry points, as the library exports them and as cuGetProcAddress gives them for their version;
 * with the structures by the toolkit's names. */
#define kj_cu_pool_properties CUmemPoolProps
#define kj_cu_pool_access CUmemAccessDesc
#define kj_cu_ipc_handle CUipcMemHandle
#define CU(name, suffix, version, need, params) \
    SAME_TYPE(__typeof__(&cu##name##suffix), kj_cu_result(*) params); \
    SAME_TYPE(PFN_cu##name##_v##version, kj_cu_result(*) params);
#include "device/cuda/driver.def"
#undef CU
#else
typedef int there_is_no_cuda_h;
#endif
