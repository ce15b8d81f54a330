/* What a launch costs, against what it may: on the CPU an empty kernel under 1 us, and under 10 us
 * after a pause; on a GPU a plan adds under 300 ns to the driver's own call and kjit_launch with
 * eight arguments under 1 us (processor time, against the driver double, whose launches do nothing
 * here). The least of many short samples is compared, with room for a slow machine, and of many
 * more where a busy one has none to spare: bench/ has the figures. */
#include "api.h"

#include <dlfcn.h>
#include <time.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { ROOM = 50 };
#else
enum { ROOM = 4 };
#endif

enum { SAMPLES = 300, BATCH = 50, PAUSES = 20, ROUNDS = 30, NARGS = 8 };

static const char source[] = "kernel one(x: f32[]) { if x.size < 0 { x[0] = 1.0 } }\n"
                             "kernel eight(x: f32[], y: f32[], z: f32[], w: f32[], n: i32, a: f32, "
                             "b: f32, c: f64) {\n"
                             "    if x.size < 0 { x[0] = a; y[0] = b; z[0] = f32(n) } }\n";

static const char ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                          ".visible .entry bare(.param .u64 x, .param .u64 y, .param .u64 z, "
                          ".param .u64 w, .param .u32 n, .param .f32 a, .param .f32 b, "
                          ".param .f64 c)\n{\n\tret;\n}\n";

/* A way to launch, many times. */
typedef struct way {
    kjit_launch_plan *plan; /* or kjit_launch */
    kjit_module *mod;
    const char *kernel;
    const kjit_arg *args;
    int nargs;
    kjit_stream *stream;
} way;

static kjit_arg args[NARGS];
static kjit_array *arrays[4];

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void launch(const way *w)
{
    kjit_config config = {.grid = {1}, .block = {64}, .stream = w->stream};
    OK(w->plan ? kjit_launch_plan_run(w->plan, w->stream)
               : kjit_launch(w->mod, w->kernel, &config, w->args, w->nargs));
}

/* Nanoseconds a launch; after a pause, of one. */
static double cost(const way *w, bool pause)
{
    double least = 1e9;
    launch(w); /* compiles */
    for (int i = 0; i < (pause ? PAUSES : SAMPLES); i++) {
        int n = pause ? 1 : BATCH;
        if (pause)
            usleep(2000); /* workers sleep after 40 us */
        double start = now_ns();
        for (int j = 0; j < n; j++)
            launch(w);
        double spent = (now_ns() - start) / n;
        least = spent < least ? spent : least;
        if (w->stream)
            OK(kjit_stream_synchronize(w->stream));
    }
    return least;
}

static void say(const char *what, double ns, double limit)
{
    printf("%s: %.0f ns (%.0f)\n", what, ns, limit);
    if (ns > limit * ROOM)
        fail_msg("%s: %.0f ns, more than %d times %.0f", what, ns, (int)ROOM, limit);
}

static double less(double a, double b)
{
    return a < b ? a : b;
}

static void at_most(const char *what, const way *w, bool pause, double limit)
{
    double ns = 1e9;
    for (int i = 0; i < ROUNDS && ns > limit * ROOM; i++)
        ns = less(ns, cost(w, pause));
    say(what, ns, limit);
}

static kjit_module *begin(kjit_memory memory)
{
    for (int i = 0; i < 4; i++) {
        OK(kjit_array_create(ctx, KJIT_F32, 1, SHAPE(64), 'C', memory, &arrays[i]));
        args[i] = kjit_arg_array(arrays[i]);
        args[4 + i] = i == 0 ? kjit_arg_i64(1) : kjit_arg_f64(0.5);
    }
    return module(source);
}

static void end(kjit_module *mod)
{
    for (int i = 0; i < 4; i++)
        kjit_array_free(arrays[i]);
    kjit_module_free(mod);
}

static void test_cpu(void **state)
{
    kjit_stream *stream;
    kjit_config config = {.grid = {1}, .block = {64}};
    assert_int_equal(kjit_context_create(&(kjit_context_options){.device = "cpu"}, &ctx, NULL, 0),
                     KJIT_OK);
    kjit_module *mod = begin(KJIT_HOST);
    way w = {.mod = mod, .kernel = "one", .args = args, .nargs = 1};
    OK(kjit_stream_create(ctx, &stream));
    at_most("kjit_launch, until done", &w, false, 1000);
    at_most("kjit_launch, until done, cold", &w, true, 10000);
    w.stream = stream;
    at_most("kjit_launch, queued", &w, false, 1000);
    at_most("kjit_launch, queued, cold", &w, true, 10000);
    OK(kjit_launch_plan_create(mod, "one", &config, args, 1, &w.plan));
    at_most("a plan, queued", &w, false, 1000);
    w.stream = NULL;
    at_most("a plan, until done", &w, false, 1000);
    kjit_launch_plan_free(w.plan);
    kjit_stream_free(stream);
    end(mod);
    drop_context(state);
}

/* The driver's functions, as far as they are used. */
static struct {
    int (*init)(unsigned);
    int (*device)(int *, int);
    int (*retain)(void **, int), (*release)(int);
    int (*push)(void *), (*pop)(void **);
    int (*load)(void **, const void *), (*unload)(void *);
    int (*function)(void **, void *, const char *);
    int (*stream)(void **, unsigned), (*stream_end)(void *), (*wait)(void *);
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                  void *, void **, void **);
} cu;

static bool find_driver(const char *path)
{
    const struct {
        const char *name;
        void *place;
    } calls[] = {{"cuInit", &cu.init},
                 {"cuDeviceGet", &cu.device},
                 {"cuDevicePrimaryCtxRetain", &cu.retain},
                 {"cuDevicePrimaryCtxRelease_v2", &cu.release},
                 {"cuCtxPushCurrent_v2", &cu.push},
                 {"cuCtxPopCurrent_v2", &cu.pop},
                 {"cuModuleLoadData", &cu.load},
                 {"cuModuleUnload", &cu.unload},
                 {"cuModuleGetFunction", &cu.function},
                 {"cuStreamCreate", &cu.stream},
                 {"cuStreamDestroy_v2", &cu.stream_end},
                 {"cuStreamSynchronize", &cu.wait},
                 {"cuLaunchKernel", &cu.launch}};
    void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        void *found = library ? dlsym(library, calls[i].name) : NULL;
        if (!found)
            return false;
        memcpy(calls[i].place, &found, sizeof found);
    }
    return true;
}

#define CU(call) assert_int_equal(call, 0)

static double bare_cost(void)
{
    void *context, *mod, *function, *stream;
    void *x[4], *params[NARGS];
    double least = 1e9, numbers[4] = {0};
    int device;
    for (int i = 0; i < 4; i++) {
        x[i] = kjit_array_data(arrays[i]);
        params[i] = &x[i];
        params[4 + i] = &numbers[i];
    }
    CU(cu.device(&device, 0));
    CU(cu.retain(&context, device));
    CU(cu.push(context));
    CU(cu.load(&mod, ptx));
    CU(cu.function(&function, mod, "bare"));
    CU(cu.stream(&stream, 1));
    for (int i = 0; i < SAMPLES; i++) {
        double start = now_ns();
        for (int j = 0; j < BATCH; j++)
            CU(cu.launch(function, 1, 1, 1, 64, 1, 1, 0, stream, params, NULL));
        double spent = (now_ns() - start) / BATCH;
        least = spent < least ? spent : least;
        CU(cu.wait(stream));
    }
    CU(cu.stream_end(stream));
    CU(cu.unload(mod));
    CU(cu.pop(&context));
    CU(cu.release(device));
    return least;
}

static void adds_at_most(const char *what, const way *w, double limit)
{
    double ns = 1e9, bare = 0;
    for (int i = 0; i < ROUNDS && ns - bare > limit * ROOM; i++) {
        double once = bare_cost();
        bare = i ? less(bare, once) : once;
        ns = less(ns, cost(w, false));
    }
    printf("cuLaunchKernel: %.0f ns\n", bare);
    say(what, ns - bare, limit);
}

static void test_gpu(void **state)
{
    const char *path = getenv("KJIT_CUDA_DRIVER");
    kjit_stream *stream;
    kjit_config config = {.grid = {1}, .block = {64}};
    if (!find_driver(path))
        SKIP("KJIT_CUDA_DRIVER does not name the driver");
    CU(cu.init(0));
    assert_int_equal(kjit_context_create(&(kjit_context_options){.device = "cuda"}, &ctx, NULL, 0),
                     KJIT_OK);
    kjit_module *mod = begin(KJIT_DEVICE);
    OK(kjit_stream_create(ctx, &stream));
    way w = {.mod = mod, .kernel = "eight", .args = args, .nargs = NARGS, .stream = stream};
    adds_at_most("kjit_launch with 8 arguments adds", &w, 1000);
    OK(kjit_launch_plan_create(mod, "eight", &config, args, NARGS, &w.plan));
    adds_at_most("a plan adds", &w, 300);
    kjit_launch_plan_free(w.plan);
    kjit_stream_free(stream);
    end(mod);
    drop_context(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cpu), cmocka_unit_test(test_gpu)};
    setenv("KJIT_DOUBLE_NOOP", "1", 1);
    setenv("KJIT_DOUBLE_SYNC", "1", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
