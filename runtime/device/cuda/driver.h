/* The CUDA driver as kjit sees it: its types and constants, as far as they are used, and the entry
 * points of the library that was found.
 *
 * These are kjit's own declarations: no CUDA header is needed to build. tests/install/cuda_h.c
 * compares them with cuda.h where there is one. Names differ from cuda.h's, so that both can be
 * seen together; the driver's enumerations are unsigned integers here. */
#ifndef KJ_CUDA_DRIVER_H
#define KJ_CUDA_DRIVER_H

#include <stddef.h>
#include <stdint.h>

typedef int kj_cu_device;
typedef unsigned long long kj_cu_address; /* in device memory */
typedef struct CUctx_st *kj_cu_context;
typedef struct CUmod_st *kj_cu_module;
typedef struct CUfunc_st *kj_cu_function;
typedef struct CUstream_st *kj_cu_stream;
typedef struct CUevent_st *kj_cu_event;
typedef struct CUmemPoolHandle_st *kj_cu_pool;
typedef struct CUlinkState_st *kj_cu_link;
typedef struct CUgraph_st *kj_cu_graph;
typedef struct CUgraphExec_st *kj_cu_graph_exec;
typedef void (*kj_cu_host_function)(void *data);

/* CUDA_ERROR_ILLEGAL_ADDRESS is KJ_CU_ILLEGAL_ADDRESS; what each means is in error.def. */
typedef unsigned kj_cu_result;
enum {
    KJ_CU_SUCCESS = 0,
#define CUDA_ERROR(name, code, status, lost, text) KJ_CU_##name = code,
#include "device/cuda/error.def"
#undef CUDA_ERROR
};

typedef unsigned kj_cu_device_attribute;
enum {
#define ATTRIBUTE(name, drivers, number) KJ_CU_DEVICE_##drivers = number,
#include "device/cuda/attribute.def"
#undef ATTRIBUTE
};

typedef unsigned kj_cu_function_attribute;
enum {
    KJ_CU_FUNC_MAX_THREADS_PER_BLOCK = 0,
    KJ_CU_FUNC_SHARED_SIZE_BYTES = 1,
    KJ_CU_FUNC_CONST_SIZE_BYTES = 2,
    KJ_CU_FUNC_LOCAL_SIZE_BYTES = 3,
    KJ_CU_FUNC_NUM_REGS = 4,
    KJ_CU_FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8
};

/* Options come with an array of values, each a pointer or a number in a pointer's place. */
typedef unsigned kj_cu_jit_option;
enum {
    KJ_CU_JIT_INFO_LOG_BUFFER = 3,
    KJ_CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES = 4,
    KJ_CU_JIT_ERROR_LOG_BUFFER = 5,
    KJ_CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6
};

typedef unsigned kj_cu_jit_input;
enum { KJ_CU_JIT_INPUT_PTX = 1, KJ_CU_JIT_INPUT_LIBRARY = 4 };

/* The default streams: of a context, and of the calling thread in it. */
#define KJ_CU_STREAM_LEGACY ((void *)1)
#define KJ_CU_STREAM_PER_THREAD ((void *)2)

enum { KJ_CU_STREAM_NON_BLOCKING = 1, KJ_CU_EVENT_DEFAULT = 0, KJ_CU_EVENT_DISABLE_TIMING = 2 };

typedef unsigned kj_cu_capture_mode;
enum { KJ_CU_STREAM_CAPTURE_RELAXED = 2 }; /* other calls may be made meanwhile */
typedef unsigned kj_cu_capture_status;
enum { KJ_CU_STREAM_CAPTURE_NONE = 0 };

enum {
    KJ_CU_MEMHOSTALLOC_PORTABLE = 1,
    KJ_CU_MEMHOSTALLOC_DEVICEMAP = 2,
    KJ_CU_MEMHOSTALLOC_WRITECOMBINED = 4,
    KJ_CU_MEMHOSTREGISTER_PORTABLE = 1,
    KJ_CU_MEMHOSTREGISTER_DEVICEMAP = 2,
    KJ_CU_MEM_ATTACH_GLOBAL = 1,
    KJ_CU_MEM_ATTACH_HOST = 2
};

typedef unsigned kj_cu_pointer_attribute;
enum {
    KJ_CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2,    /* unsigned */
    KJ_CU_POINTER_ATTRIBUTE_DEVICE_POINTER = 3, /* kj_cu_address */
    KJ_CU_POINTER_ATTRIBUTE_IS_MANAGED = 8      /* unsigned */
};

enum { KJ_CU_MEMORYTYPE_HOST = 1, KJ_CU_MEMORYTYPE_DEVICE = 2 };

typedef unsigned kj_cu_pool_attribute;
enum {
    KJ_CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES = 3, /* int; all others are uint64_t */
    KJ_CU_MEMPOOL_ATTR_RELEASE_THRESHOLD = 4,
    KJ_CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT = 5,
    KJ_CU_MEMPOOL_ATTR_USED_MEM_CURRENT = 7,
    KJ_CU_MEMPOOL_ATTR_USED_MEM_HIGH = 8
};

enum {
    KJ_CU_MEM_ALLOCATION_TYPE_PINNED = 1,
    KJ_CU_MEM_LOCATION_TYPE_DEVICE = 1,
    KJ_CU_MEM_ACCESS_READWRITE = 3
};

/* What a pool is made of; what isn't set is 0. */
typedef struct kj_cu_pool_properties {
    unsigned type, handles, location_type;
    int location;
    void *security;
    size_t max_size;
    unsigned short usage;
    unsigned char reserved[54];
} kj_cu_pool_properties;

/* Tells another process of memory. */
typedef struct kj_cu_ipc_handle {
    char bytes[64];
} kj_cu_ipc_handle;
enum { KJ_CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS = 1 };

/* Whose work may use a pool's memory, too. */
typedef struct kj_cu_pool_access {
    unsigned location_type;
    int location;
    unsigned flags;
} kj_cu_pool_access;

/* A device that kjit can use. */
typedef struct kj_cuda_chip {
    kj_cu_device device;
    int capability; /* 90 for 9.0 */
} kj_cuda_chip;

enum { KJ_CUDA_MAX_DEVICES = 64 };

typedef struct kj_cuda_driver {
    int version; /* 12040 for CUDA 12.4 */
    int ndevices;
    kj_cuda_chip devices[KJ_CUDA_MAX_DEVICES];
#define CU(name, suffix, version, need, params) kj_cu_result(*name) params;
#include "device/cuda/driver.def"
#undef CU
} kj_cuda_driver;

/* The driver of this machine, loaded and initialised at the first call. NULL when there is none
 * that kjit can use, or no device that it can: then kj_cuda_absent is the reason. Also NULL in a
 * process forked from one that has used it. */
const kj_cuda_driver *kj_cuda_driver_get(void);
const char *kj_cuda_absent(void); /* NULL when there are devices */

#endif
