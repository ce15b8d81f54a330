/* The calls of the CUDA driver that the benchmarks make beside kjit's, in the context that kjit uses too. No header of
 * CUDA's is needed. */
#ifndef BENCH_DRIVER_H
#define BENCH_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DRIVER_WHY = 512 };

typedef struct driver_module *driver_module_ref;
typedef struct driver_function *driver_function_ref;
typedef struct driver_stream *driver_stream_ref;
typedef struct driver_event *driver_event_ref;
typedef uint64_t driver_memory;

/* name, the driver's symbol, parameters */
#define DRIVER_CALLS(X) \
    X(init, "cuInit", (unsigned flags)) \
    X(version, "cuDriverGetVersion", (int *version)) \
    X(device, "cuDeviceGet", (int *device, int ordinal)) \
    X(device_name, "cuDeviceGetName", (char *name, int size, int device)) \
    X(attribute, "cuDeviceGetAttribute", (int *value, int attribute, int device)) \
    X(retain, "cuDevicePrimaryCtxRetain", (void **context, int device)) \
    X(release, "cuDevicePrimaryCtxRelease_v2", (int device)) \
    X(set_context, "cuCtxSetCurrent", (void *context)) \
    X(push, "cuCtxPushCurrent_v2", (void *context)) \
    X(pop, "cuCtxPopCurrent_v2", (void **context)) \
    X(exchange_mode, "cuThreadExchangeStreamCaptureMode", (int *mode)) \
    X(is_capturing, "cuStreamIsCapturing", (driver_stream_ref stream, int *status)) \
    X(load, "cuModuleLoadData", (driver_module_ref * module, const void *image)) \
    X(unload, "cuModuleUnload", (driver_module_ref module)) \
    X(function, "cuModuleGetFunction", \
      (driver_function_ref * function, driver_module_ref module, const char *name)) \
    X(launch, "cuLaunchKernel", \
      (driver_function_ref function, unsigned grid_x, unsigned grid_y, unsigned grid_z, \
       unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared, \
       driver_stream_ref stream, void **params, void **extra)) \
    X(alloc, "cuMemAlloc_v2", (driver_memory * memory, size_t size)) \
    X(release_memory, "cuMemFree_v2", (driver_memory memory)) \
    X(copy, "cuMemcpyDtoDAsync_v2", \
      (driver_memory to, driver_memory from, size_t size, driver_stream_ref stream)) \
    X(to_device, "cuMemcpyHtoDAsync_v2", \
      (driver_memory to, const void *from, size_t size, driver_stream_ref stream)) \
    X(stream_create, "cuStreamCreate", (driver_stream_ref * stream, unsigned flags)) \
    X(stream_destroy, "cuStreamDestroy_v2", (driver_stream_ref stream)) \
    X(stream_wait, "cuStreamSynchronize", (driver_stream_ref stream)) \
    X(event_create, "cuEventCreate", (driver_event_ref * event, unsigned flags)) \
    X(event_destroy, "cuEventDestroy_v2", (driver_event_ref event)) \
    X(event_record, "cuEventRecord", (driver_event_ref event, driver_stream_ref stream)) \
    X(event_query, "cuEventQuery", (driver_event_ref event)) \
    X(event_wait, "cuEventSynchronize", (driver_event_ref event)) \
    X(event_elapsed, "cuEventElapsedTime", (float *ms, driver_event_ref from, driver_event_ref to))

typedef struct driver {
    void *handle, *context;
    int number, units, clock_khz, capability; /* the device; capability 90 is 9.0 */
    int driver_version;                       /* 13000 is CUDA 13.0 */
    char name[96];
    driver_stream_ref stream;
    driver_event_ref from, to;
#define CALL(field, symbol, params) int(*field) params;
    DRIVER_CALLS(CALL)
#undef CALL
} driver;

/* Loads libcuda.so.1 (or what KJIT_CUDA_DRIVER names), and makes the first device's primary context the calling
 * thread's. False with a sentence in `why`. */
bool driver_open(driver *d, char why[DRIVER_WHY]);
void driver_close(driver *d);

/* The time between the two is measured by events of the driver's in d->stream. */
bool driver_start(driver *d);
bool driver_stop(driver *d, double *ms);

/* Bytes that cuMemcpyDtoD reads and writes a second, in GB/s: the best of a few copies of `size` bytes; 0 when it
 * fails. */
double driver_bandwidth(driver *d, size_t size);

/* f32 operations a second at the highest clock, in GFLOP/s; 0 when the driver doesn't say. */
double driver_peak(const driver *d);

#endif
