/* What a launch costs: an empty kernel, one block or many, waited for or queued; back to back ("hot") and after 10 ms
 * of sleep ("cold"). Nanoseconds from the call until the launch is done, or queued. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../common.h"
#include "kjit.h"

enum { BATCHES = 31, HOT = 1000, COLD = 51 };

static const char source[] = "kernel empty(x: f32[]) {}\n";

static kjit_context *ctx;

static void check(kjit_status status)
{
    if (status == KJIT_OK)
        return;
    fprintf(stderr, "launch: %s\n", kjit_last_error(ctx));
    exit(1);
}

static double hot(kjit_module *mod, const kjit_config *config, const kjit_arg *arg)
{
    double ns[BATCHES];
    for (int i = -1; i < BATCHES; i++) { /* the first batch compiles and warms up */
        const double start = bench_now_ms();
        for (int j = 0; j < HOT; j++)
            check(kjit_launch(mod, "empty", config, arg, 1));
        const double spent = (bench_now_ms() - start) * 1e6 / HOT;
        if (config->stream != NULL)
            check(kjit_stream_synchronize(config->stream));
        if (i >= 0)
            ns[i] = spent;
    }
    return bench_median(ns, BATCHES);
}

static double cold(kjit_module *mod, const kjit_config *config, const kjit_arg *arg)
{
    double ns[COLD];
    for (int i = 0; i < COLD; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        const double start = bench_now_ms();
        check(kjit_launch(mod, "empty", config, arg, 1));
        ns[i] = (bench_now_ms() - start) * 1e6;
        if (config->stream != NULL)
            check(kjit_stream_synchronize(config->stream));
    }
    return bench_median(ns, COLD);
}

int main(void)
{
    char error[256];
    if (kjit_context_create(&(kjit_context_options){.device = "cpu"}, &ctx, error, sizeof error) !=
        KJIT_OK) {
        fprintf(stderr, "launch: %s\n", error);
        return 1;
    }
    static float data[256];
    kjit_module *mod;
    kjit_array *x;
    kjit_stream *stream;
    check(kjit_module_compile(ctx, "empty.knl", source, strlen(source), NULL, &mod));
    check(kjit_array_wrap(ctx, data, KJIT_F32, 1, (int64_t[]){256}, NULL, KJIT_DEVICE, &x));
    check(kjit_stream_create(ctx, &stream));
    const kjit_arg arg = kjit_arg_array(x);
    puts("launch of an empty kernel, ns        hot      cold");
    static const int64_t grids[] = {1, 64, 4096};
    for (int i = 0; i < 6; i++) {
        const kjit_config config = {
            .grid = {grids[i % 3]}, .block = {256}, .stream = i < 3 ? NULL : stream};
        printf("%s, %4lld blocks of 256  %10.0f%10.0f\n", i < 3 ? "until done" : "queued    ",
               (long long)grids[i % 3], hot(mod, &config, &arg), cold(mod, &config, &arg));
    }
    kjit_stream_free(stream);
    kjit_array_free(x);
    kjit_module_free(mod);
    kjit_context_destroy(ctx);
    return 0;
}
