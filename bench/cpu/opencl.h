/* The part of OpenCL 1.2 that the benchmark uses, declared here so that no headers are needed. The functions are found
 * in libOpenCL.so.1 at run time: a row of the list gives the pointer's name, result and parameters. */
#ifndef BENCH_OPENCL_H
#define BENCH_OPENCL_H

#include <stddef.h>
#include <stdint.h>

/* Platforms, devices, contexts, queues, programs, kernels and memory: opaque pointers. */
typedef void *cl_object;

enum { CL_SUCCESS = 0, CL_PLATFORM_NAME = 0x0902, CL_PROGRAM_BUILD_LOG = 0x1183 };
#define CL_DEVICE_TYPE_CPU ((uint64_t)1 << 1)
#define CL_MEM_READ_WRITE ((uint64_t)1 << 0)
#define CL_MEM_USE_HOST_PTR ((uint64_t)1 << 3)

#define OPENCL_FUNCTIONS(X) \
    X(GetPlatformIDs, int32_t, (uint32_t, cl_object *, uint32_t *)) \
    X(GetPlatformInfo, int32_t, (cl_object, uint32_t, size_t, void *, size_t *)) \
    X(GetDeviceIDs, int32_t, (cl_object, uint64_t, uint32_t, cl_object *, uint32_t *)) \
    X(CreateContext, cl_object, \
      (const intptr_t *, uint32_t, const cl_object *, void (*)(void), void *, int32_t *)) \
    X(ReleaseContext, int32_t, (cl_object)) \
    X(CreateCommandQueue, cl_object, (cl_object, cl_object, uint64_t, int32_t *)) \
    X(ReleaseCommandQueue, int32_t, (cl_object)) \
    X(CreateProgramWithSource, cl_object, \
      (cl_object, uint32_t, const char **, const size_t *, int32_t *)) \
    X(BuildProgram, int32_t, \
      (cl_object, uint32_t, const cl_object *, const char *, void (*)(void), void *)) \
    X(GetProgramBuildInfo, int32_t, (cl_object, cl_object, uint32_t, size_t, void *, size_t *)) \
    X(ReleaseProgram, int32_t, (cl_object)) \
    X(CreateKernel, cl_object, (cl_object, const char *, int32_t *)) \
    X(ReleaseKernel, int32_t, (cl_object)) \
    X(CreateBuffer, cl_object, (cl_object, uint64_t, size_t, void *, int32_t *)) \
    X(ReleaseMemObject, int32_t, (cl_object)) \
    X(SetKernelArg, int32_t, (cl_object, uint32_t, size_t, const void *)) \
    X(EnqueueNDRangeKernel, int32_t, \
      (cl_object, cl_object, uint32_t, const size_t *, const size_t *, const size_t *, uint32_t, \
       const cl_object *, cl_object *)) \
    X(Finish, int32_t, (cl_object))

typedef struct opencl {
#define OPENCL_FIELD(name, result, parameters) result(*name) parameters;
    OPENCL_FUNCTIONS(OPENCL_FIELD)
#undef OPENCL_FIELD
} opencl;

#endif
