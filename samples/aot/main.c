/* A program whose kernel was compiled ahead of time: waves.h and waves.c are kjit build's, of waves.knl. It has no
 * compiler in it, and chooses the code for its CPU when it runs.
 *
 * waves [device [extent [steps]]]: checks what comes of it against loops in C. */
#include "waves.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(kjit_context *ctx, const char *what)
{
    fprintf(stderr, "%s: %s\n", what, kjit_last_error(ctx));
    exit(EXIT_FAILURE);
}

/* As the kernel has it. */
static void step(size_t n, const float *now, const float *before, float *next, float c)
{
    for (size_t y = 1; y + 1 < n; y++) {
        for (size_t x = 1; x + 1 < n; x++) {
            size_t i = y * n + x;
            float around = now[i - n] + now[i + n] + now[i - 1] + now[i + 1];
            next[i] = 2 * now[i] - before[i] + c * (around - 4 * now[i]);
        }
    }
}

int main(int argc, char **argv)
{
    const char *device = argc > 1 ? argv[1] : "auto";
    size_t n = argc > 2 ? (size_t)strtoul(argv[2], NULL, 10) : 1000;
    int steps = argc > 3 ? atoi(argv[3]) : 50;
    int64_t shape[2] = {(int64_t)n, (int64_t)n};
    kjit_context_options options = {.device = device};
    kjit_context *ctx;
    kjit_module *mod;
    char error[300];
    if (kjit_context_create(&options, &ctx, error, sizeof error) != KJIT_OK) {
        fprintf(stderr, "waves: %s\n", error);
        return EXIT_FAILURE;
    }
    if (waves_load(ctx, &mod) != KJIT_OK)
        fail(ctx, "waves_load");

    float *plain[3];
    kjit_array *plate[3];
    for (int i = 0; i < 3; i++) {
        plain[i] = calloc(n * n, sizeof(float));
        if (!plain[i] ||
            kjit_array_create(ctx, KJIT_F32, 2, shape, 'C', KJIT_HOST, &plate[i]) != KJIT_OK)
            fail(ctx, "a plate");
        if (n > 2)
            plain[i][n / 2 * n + n / 2] = i < 2 ? 1.0f : 0.0f; /* it was plucked in its middle */
        memcpy(kjit_array_data(plate[i]), plain[i], n * n * sizeof(float));
    }

    kjit_config config = {.grid = {(shape[1] + 31) / 32, (shape[0] + 7) / 8}, .block = {32, 8}};
    for (int t = 0; t < steps; t++) {
        int now = t % 3, before = (t + 2) % 3, next = (t + 1) % 3;
        if (waves_step(mod, &config, plate[now], plate[before], plate[next], 0.25f) != KJIT_OK)
            fail(ctx, "waves_step");
        step(n, plain[now], plain[before], plain[next], 0.25f);
    }

    float most = 0;
    for (size_t i = 0; i < n * n; i++)
        most = fmaxf(most,
                     fabsf(((float *)kjit_array_data(plate[steps % 3]))[i] - plain[steps % 3][i]));
    printf("%zu x %zu, %d steps: %s\n", n, n, steps, most < 1e-5f ? "right" : "wrong");
    for (int i = 0; i < 3; i++) {
        kjit_array_free(plate[i]);
        free(plain[i]);
    }
    kjit_module_free(mod);
    kjit_context_destroy(ctx);
    return most < 1e-5f ? EXIT_SUCCESS : EXIT_FAILURE;
}
