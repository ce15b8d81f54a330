/* PoCL's side: opencl/<source>.cl through libOpenCL, in the same block sizes, over the same memory. The buffers are made
 * with CL_MEM_USE_HOST_PTR: PoCL's CPU device works on that memory itself, so nothing is copied or mapped. */
#include "opencl.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

typedef struct state {
    const char *dir;
    opencl cl;
    cl_object device, context, queue;
    cl_object program, kernels[MAX_STAGES], buffers[MAX_BUFFERS];
    const bench_case *current;
} state;

static bool fail(bench_side *self, const char *what, int code)
{
    snprintf(self->why, sizeof self->why, "OpenCL: %s (%d)", what, code);
    return false;
}

static bool load(bench_side *self, opencl *cl)
{
    void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        snprintf(self->why, sizeof self->why, "%s", dlerror());
        return false;
    }
    void *symbol;
#define OPENCL_LOAD(name, result, parameters) \
    symbol = dlsym(library, "cl" #name); \
    if (symbol == NULL) \
        return fail(self, "libOpenCL lacks cl" #name, 0); \
    memcpy(&cl->name, &symbol, sizeof symbol);
    OPENCL_FUNCTIONS(OPENCL_LOAD)
#undef OPENCL_LOAD
    return true;
}

static bool find_device(bench_side *self, state *s)
{
    cl_object platforms[16];
    uint32_t count = 0;
    if (s->cl.GetPlatformIDs(16, platforms, &count) != CL_SUCCESS)
        count = 0;
    for (uint32_t i = 0; i < count && i < 16; i++) {
        char name[128] = "";
        s->cl.GetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name, name, NULL);
        if (strcmp(name, "Portable Computing Language") == 0 &&
            s->cl.GetDeviceIDs(platforms[i], CL_DEVICE_TYPE_CPU, 1, &s->device, NULL) == CL_SUCCESS)
            return true;
    }
    return fail(self, "PoCL is not installed", 0);
}

static bool build(bench_side *self, const bench_case *c)
{
    state *s = self->state;
    char path[512], name[NAME_SIZE];
    size_t size;
    snprintf(path, sizeof path, "%s/opencl/%s.cl", s->dir, bench_source(c, name));
    char *text = bench_file(path, &size, self->why);
    if (text == NULL)
        return false;
    int32_t code = CL_SUCCESS;
    s->program = s->cl.CreateProgramWithSource(s->context, 1, (const char **)&text, NULL, &code);
    free(text);
    if (code != CL_SUCCESS)
        return fail(self, "clCreateProgramWithSource", code);
    code = s->cl.BuildProgram(s->program, 1, &s->device, "", NULL, NULL);
    if (code != CL_SUCCESS) {
        fail(self, "clBuildProgram", code);
        s->cl.GetProgramBuildInfo(s->program, s->device, CL_PROGRAM_BUILD_LOG, sizeof self->why,
                                  self->why, NULL);
        return false;
    }
    for (int i = 0; i < bench_stages(c); i++) {
        s->kernels[i] = s->cl.CreateKernel(s->program, bench_kernel(c, i, name), &code);
        if (code != CL_SUCCESS)
            return fail(self, name, code);
    }
    return true;
}

static int32_t bind_arg(const state *s, const bench_stage *stage, cl_object kernel, uint32_t index,
                        char what)
{
    const int32_t n = (int32_t)(stage->elements > 0 ? stage->elements : s->current->size),
                  limit = 256;
    const float factor = 0.5F;
    switch (what) {
    case 'n': return s->cl.SetKernelArg(kernel, index, sizeof n, &n);
    case 'l': return s->cl.SetKernelArg(kernel, index, sizeof limit, &limit);
    case 'a': return s->cl.SetKernelArg(kernel, index, sizeof factor, &factor);
    default: return s->cl.SetKernelArg(kernel, index, sizeof(cl_object), &s->buffers[what - '0']);
    }
}

static bool prepare(bench_side *self, const bench_case *c, void *const *data)
{
    state *s = self->state;
    s->current = c;
    if (!build(self, c))
        return false;
    int32_t code = CL_SUCCESS;
    for (int i = 0; i < MAX_BUFFERS && bench_elements(&c->buffers[i]) > 0; i++) {
        s->buffers[i] = s->cl.CreateBuffer(s->context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR,
                                           bench_bytes(&c->buffers[i]), data[i], &code);
        if (code != CL_SUCCESS)
            return fail(self, "clCreateBuffer", code);
    }
    for (int i = 0; i < bench_stages(c); i++) {
        const bench_stage *stage = &c->stages[i];
        const char *args = stage->cl_args;
        for (uint32_t j = 0; args[j] != '\0'; j++) {
            code = bind_arg(s, stage, s->kernels[i], j, args[j]);
            if (code != CL_SUCCESS)
                return fail(self, "clSetKernelArg", code);
        }
    }
    return true;
}

static bool run(bench_side *self)
{
    state *s = self->state;
    const bench_case *c = s->current;
    for (int i = 0; i < bench_stages(c); i++) {
        const bench_stage *stage = &c->stages[i];
        const size_t local[2] = {(size_t)stage->block[0],
                                 stage->block[1] > 0 ? (size_t)stage->block[1] : 1};
        const size_t global[2] = {(size_t)stage->grid[0] * local[0],
                                  (stage->grid[1] > 0 ? (size_t)stage->grid[1] : 1) * local[1]};
        const int32_t code = s->cl.EnqueueNDRangeKernel(s->queue, s->kernels[i], 2, NULL, global,
                                                        local, 0, NULL, NULL);
        if (code != CL_SUCCESS)
            return fail(self, "clEnqueueNDRangeKernel", code);
    }
    const int32_t code = s->cl.Finish(s->queue);
    return code == CL_SUCCESS || fail(self, "clFinish", code);
}

static void release(bench_side *self)
{
    state *s = self->state;
    for (int i = 0; i < MAX_STAGES; i++) {
        if (s->kernels[i] != NULL)
            s->cl.ReleaseKernel(s->kernels[i]);
        s->kernels[i] = NULL;
    }
    for (int i = 0; i < MAX_BUFFERS; i++) {
        if (s->buffers[i] != NULL)
            s->cl.ReleaseMemObject(s->buffers[i]);
        s->buffers[i] = NULL;
    }
    if (s->program != NULL)
        s->cl.ReleaseProgram(s->program);
    s->program = NULL;
}

static void close_side(bench_side *self)
{
    state *s = self->state;
    if (s->queue != NULL)
        s->cl.ReleaseCommandQueue(s->queue);
    if (s->context != NULL)
        s->cl.ReleaseContext(s->context);
    free(s);
}

bool bench_open_opencl(bench_side *side, const char *dir)
{
    state *s = calloc(1, sizeof *s);
    if (s == NULL)
        return fail(side, "out of memory", 0);
    s->dir = dir;
    side->prepare = prepare;
    side->run = run;
    side->release = release;
    side->close = close_side;
    side->state = s;
    int32_t code = CL_SUCCESS;
    bool ok = load(side, &s->cl) && find_device(side, s);
    if (ok) {
        s->context = s->cl.CreateContext(NULL, 1, &s->device, NULL, NULL, &code);
        ok = code == CL_SUCCESS || fail(side, "clCreateContext", code);
    }
    if (ok) {
        s->queue = s->cl.CreateCommandQueue(s->context, s->device, 0, &code);
        ok = code == CL_SUCCESS || fail(side, "clCreateCommandQueue", code);
    }
    if (!ok)
        close_side(side);
    return ok;
}
