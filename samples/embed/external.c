/* Memory that somebody else allocated: kjit works on it where it is, and says when it needs it no
 * longer. On a GPU it comes from the CUDA driver here, as it might from another library that uses
 * the GPU; on the CPU from malloc.
 *
 *     external [device]
 *
 * What the driver's functions take is declared here, so that no CUDA toolkit is needed; a program
 * with <cuda.h> calls them as ever. */
#include <dlfcn.h>
#include <kjit.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 10000 };

static const char source[] = "kernel twice(x: f32[]) {\n"
                             "    let i = grid(1)\n"
                             "    if i < x.size { x[i] *= 2 }\n"
                             "}\n";

/* ---- The other library ---- */

typedef struct driver {
    int (*init)(unsigned flags);
    int (*device_get)(int *device, int ordinal);
    int (*retain)(void **context, int device);
    int (*release)(int device);
    int (*push)(void *context);
    int (*pop)(void **context);
    int (*alloc)(unsigned long long *address, size_t size);
    int (*free)(unsigned long long address);
    int (*to_device)(unsigned long long to, const void *from, size_t size);
    int (*synchronize)(void);
} driver;

/* A block of memory and how to give it back. */
typedef struct block {
    const driver *cuda; /* NULL: of malloc's */
    void *context, *data;
    int device;
    atomic_int *freed; /* counts, for this program's check */
} block;

static int load(driver *d)
{
    static const struct {
        const char *name;
        size_t place;
    } symbols[] = {
        {"cuInit", offsetof(driver, init)},
        {"cuDeviceGet", offsetof(driver, device_get)},
        {"cuDevicePrimaryCtxRetain", offsetof(driver, retain)},
        {"cuDevicePrimaryCtxRelease_v2", offsetof(driver, release)},
        {"cuCtxPushCurrent_v2", offsetof(driver, push)},
        {"cuCtxPopCurrent_v2", offsetof(driver, pop)},
        {"cuMemAlloc_v2", offsetof(driver, alloc)},
        {"cuMemFree_v2", offsetof(driver, free)},
        {"cuMemcpyHtoD_v2", offsetof(driver, to_device)},
        {"cuCtxSynchronize", offsetof(driver, synchronize)},
    };
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library)
        return 0;
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *found = dlsym(library, symbols[i].name);
        if (!found)
            return 0;
        memcpy((char *)d + symbols[i].place, &found, sizeof found);
    }
    return d->init(0) == 0;
}

/* Whoever is the last to use the memory calls this, on any thread. */
static void drop(void *owner)
{
    block *b = owner;
    if (b->cuda) {
        b->cuda->push(b->context);
        b->cuda->free((unsigned long long)(uintptr_t)b->data);
        b->cuda->pop(&b->context);
        b->cuda->release(b->device);
    } else {
        free(b->data);
    }
    atomic_fetch_add(b->freed, 1);
    free(b);
}

static int fill_on_device(block *b, int ordinal, const float *values, size_t size)
{
    unsigned long long address = 0;
    const driver *cuda = b->cuda;
    if (cuda->device_get(&b->device, ordinal) != 0 || cuda->retain(&b->context, b->device) != 0)
        return 0;
    cuda->push(b->context);
    /* the copy may still be on its way when the call returns: what is handed to another library's
     * streams must have got there */
    int made = cuda->alloc(&address, size) == 0 && cuda->to_device(address, values, size) == 0 &&
               cuda->synchronize() == 0;
    if (!made && address)
        cuda->free(address);
    cuda->pop(&b->context);
    if (!made)
        cuda->release(b->device);
    b->data = (void *)(uintptr_t)address;
    return made;
}

/* A copy of the values in memory of the driver's, or of malloc's. */
static block *make_block(const driver *cuda, int ordinal, const float *values, size_t size,
                         atomic_int *freed)
{
    block *b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    b->cuda = cuda;
    b->freed = freed;
    if (cuda) {
        if (fill_on_device(b, ordinal, values, size))
            return b;
    } else if ((b->data = malloc(size))) {
        memcpy(b->data, values, size);
        return b;
    }
    free(b);
    return NULL;
}

/* ---- The program ---- */

static void check(kjit_context *ctx, kjit_status status)
{
    if (status == KJIT_OK)
        return;
    fprintf(stderr, "%s\n", kjit_last_error(ctx));
    exit(1);
}

/* Twice the values, in `result`. The block is kjit's from the wrapping on. */
static void run(kjit_context *ctx, block *b, float *result)
{
    kjit_module *mod;
    kjit_stream *stream;
    kjit_array *x, *host;
    kjit_memory memory = b->cuda ? KJIT_DEVICE : KJIT_HOST;
    check(ctx, kjit_module_compile(ctx, "external.knl", source, strlen(source), NULL, &mod));
    check(ctx, kjit_stream_create(ctx, &stream));
    check(ctx, kjit_array_wrap(ctx, result, KJIT_F32, 1, (int64_t[]){N}, NULL, KJIT_HOST, &host));
    check(ctx, kjit_array_wrap_owned(ctx, b->data, KJIT_F32, 1, (int64_t[]){N}, NULL, memory, b,
                                     drop, &x));

    kjit_arg args[] = {kjit_arg_array(x)};
    check(ctx, kjit_launch_forall(mod, "twice", N, stream, args, 1));
    check(ctx, kjit_copy(host, x, stream));
    kjit_array_free(x); /* queued work still uses the memory: it goes when that has run */
    check(ctx, kjit_stream_synchronize(stream));

    kjit_array_free(host);
    kjit_stream_free(stream);
    kjit_module_free(mod);
}

int main(int argc, char **argv)
{
    static float values[N], result[N];
    char error[256];
    driver cuda;
    kjit_context *ctx;
    kjit_device_info device;
    atomic_int freed = 0;
    kjit_context_options options = {.device = argc > 1 ? argv[1] : NULL};
    if (kjit_context_create(&options, &ctx, error, sizeof error) != KJIT_OK) {
        fprintf(stderr, "%s\n", error);
        return 1;
    }
    check(ctx, kjit_context_device(ctx, &device));
    for (int i = 0; i < N; i++)
        values[i] = (float)i;
    int on_gpu = strcmp(device.kind, "cuda") == 0 && load(&cuda);
    block *b = make_block(on_gpu ? &cuda : NULL, device.ordinal, values, sizeof values, &freed);
    if (!b) {
        fprintf(stderr, "there is no memory\n");
        return 1;
    }
    run(ctx, b, result);
    kjit_context_destroy(ctx);

    int wrong = 0;
    for (int i = 0; i < N; i++)
        wrong += result[i] != 2 * values[i];
    printf("memory of %s: %d values doubled, %d wrong, freed %s\n",
           on_gpu ? "the CUDA driver" : "malloc", N, wrong,
           atomic_load(&freed) == 1 ? "once" : "not once");
    return wrong > 0 || atomic_load(&freed) != 1;
}
