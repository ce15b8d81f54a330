/* What a launch costs: an empty kernel, one block or many, by kjit_launch and by a plan that was
 * prepared, waited for or queued; beside it an OpenMP loop of as many empty pieces, of each object of
 * omp/ that is named. Back to back ("hot") and after 10 ms of sleep ("cold"). Nanoseconds from the
 * call until it is done, or queued: median (least). */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../common.h"
#include "kjit.h"
#include "omp/omp.h"

enum { BATCHES = 51, HOT = 500, COLD = 51 };

static const char source[] = "kernel empty(x: f32[]) {}\n";

static kjit_context *ctx;

/* One way to launch: by what is not NULL, the first of them. */
typedef struct way {
    omp_entry *entry;
    kjit_launch_plan *plan;
    kjit_module *mod;
    kjit_config config;
    kjit_arg arg;
} way;

static void check(kjit_status status)
{
    if (status == KJIT_OK)
        return;
    fprintf(stderr, "launch: %s\n", kjit_last_error(ctx));
    exit(1);
}

static void launch(const way *w)
{
    if (w->entry != NULL)
        w->entry(NULL, w->config.grid[0]);
    else if (w->plan != NULL)
        check(kjit_launch_plan_run(w->plan, w->config.stream));
    else
        check(kjit_launch(w->mod, "empty", &w->config, &w->arg, 1));
}

static void settle(const way *w)
{
    if (w->config.stream != NULL)
        check(kjit_stream_synchronize(w->config.stream));
}

static void print(double *ns, int count)
{
    const double median = bench_median(ns, count);
    char text[32];
    snprintf(text, sizeof text, "%.0f (%.0f)", median, ns[0]);
    printf("%18s", text);
}

static void hot(const way *w)
{
    double ns[BATCHES];
    for (int i = -1; i < BATCHES; i++) { /* the first batch compiles and warms up */
        const double start = bench_now_ms();
        for (int j = 0; j < HOT; j++)
            launch(w);
        const double spent = (bench_now_ms() - start) * 1e6 / HOT;
        settle(w);
        if (i >= 0)
            ns[i] = spent;
    }
    print(ns, BATCHES);
}

static void cold(const way *w)
{
    double ns[COLD];
    for (int i = 0; i < COLD; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        const double start = bench_now_ms();
        launch(w);
        ns[i] = (bench_now_ms() - start) * 1e6;
        settle(w);
    }
    print(ns, COLD);
}

static omp_entry *open_omp(const char *path)
{
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *symbol = object != NULL ? dlsym(object, "omp_empty") : NULL;
    omp_entry *entry;
    if (symbol == NULL) {
        fprintf(stderr, "launch: %s\n", dlerror());
        exit(1);
    }
    memcpy(&entry, &symbol,
           sizeof symbol); /* ISO C has no cast from an object to a function pointer */
    return entry;
}

static void row(way w, int64_t blocks, kjit_stream *stream, int argc, char **argv)
{
    w.config = (kjit_config){.grid = {blocks}, .block = {256}, .stream = stream};
    way planned = w;
    check(kjit_launch_plan_create(w.mod, "empty", &w.config, &w.arg, 1, &planned.plan));
    for (int after = 0; after < 2; after++) {
        printf("%s, %4lld blocks, %s", stream != NULL ? "queued    " : "until done",
               (long long)blocks, after ? "cold" : "hot ");
        (after ? cold : hot)(&w);
        (after ? cold : hot)(&planned);
        for (int i = 1; i < argc && stream == NULL; i++) {
            const way omp = {.entry = open_omp(argv[i]), .config = w.config};
            (after ? cold : hot)(&omp);
        }
        putchar('\n');
    }
    kjit_launch_plan_free(planned.plan);
}

int main(int argc, char **argv)
{
    char error[256];
    const bool cancellable = argc > 1 && strcmp(argv[1], "--cancellable") == 0;
    argc -= cancellable;
    argv += cancellable;
    const kjit_context_options options = {.device = "cpu", .cancellable = cancellable};
    if (kjit_context_create(&options, &ctx, error, sizeof error) != KJIT_OK) {
        fprintf(stderr, "launch: %s\n", error);
        return 1;
    }
    static float data[256];
    way w = {0};
    kjit_array *x;
    kjit_stream *stream;
    check(kjit_module_compile(ctx, "empty.knl", source, strlen(source), NULL, &w.mod));
    check(kjit_array_wrap(ctx, data, KJIT_F32, 1, (int64_t[]){256}, NULL, KJIT_DEVICE, &x));
    check(kjit_stream_create(ctx, &stream));
    w.arg = kjit_arg_array(x);
    printf("%-31s%18s%18s", "empty kernel, ns: median (least)", "kjit_launch", "plan");
    for (int i = 1; i < argc; i++)
        printf("%18s", strrchr(argv[i], '/') != NULL ? strrchr(argv[i], '/') + 1 : argv[i]);
    putchar('\n');
    static const int64_t grids[] = {1, 64, 4096};
    for (int i = 0; i < 6; i++)
        row(w, grids[i % 3], i < 3 ? NULL : stream, argc, argv);
    kjit_stream_free(stream);
    kjit_array_free(x);
    kjit_module_free(w.mod);
    kjit_context_destroy(ctx);
    return 0;
}
