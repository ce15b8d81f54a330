/* The smallest whole program: a kernel compiled at run time, launched on memory the program already
 * has.
 *
 *     minimal [device]      auto (the first GPU, else the CPU), cpu, cuda, cuda:1 */
#include <kjit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char source[] = "kernel axpy(a: f32, x: f32[], y: f32[]) {\n"
                             "    requires x.size == y.size\n"
                             "    let i = grid(1)\n"
                             "    if i < y.size {\n"
                             "        y[i] += a * x[i]\n"
                             "    }\n"
                             "}\n";

/* Every call gives a status, and its sentence is in the context. */
static void check(kjit_context *ctx, kjit_status status)
{
    if (status == KJIT_OK)
        return;
    fprintf(stderr, "%s\n", kjit_last_error(ctx));
    exit(1);
}

int main(int argc, char **argv)
{
    enum { N = 100000 };
    float *x_data = malloc(N * sizeof *x_data), *y_data = malloc(N * sizeof *y_data);
    if (!x_data || !y_data)
        return 1;
    for (int i = 0; i < N; i++) {
        x_data[i] = (float)i;
        y_data[i] = 1.0f;
    }

    /* A context is a device and what lives on it. */
    char error[256];
    kjit_context *ctx;
    kjit_context_options options = {.device = argc > 1 ? argv[1] : NULL};
    if (kjit_context_create(&options, &ctx, error, sizeof error) != KJIT_OK) {
        fprintf(stderr, "%s\n", error);
        return 1;
    }

    /* The name is what messages call the source. */
    kjit_module *mod;
    check(ctx, kjit_module_compile(ctx, "axpy.knl", source, strlen(source), NULL, &mod));

    /* Arrays over the program's memory: nothing is copied here. */
    kjit_array *x, *y;
    check(ctx, kjit_array_wrap(ctx, x_data, KJIT_F32, 1, (int64_t[]){N}, NULL, KJIT_HOST, &x));
    check(ctx, kjit_array_wrap(ctx, y_data, KJIT_F32, 1, (int64_t[]){N}, NULL, KJIT_HOST, &y));

    /* A thread an element; on a GPU the arrays go there and y comes back. */
    kjit_arg args[] = {kjit_arg_f64(2), kjit_arg_array(x), kjit_arg_array(y)};
    check(ctx, kjit_launch_forall(mod, "axpy", N, NULL, args, 3));

    kjit_array_free(x);
    kjit_array_free(y);
    kjit_module_free(mod);
    kjit_context_destroy(ctx);

    int wrong = 0;
    for (int i = 0; i < N; i++)
        wrong += y_data[i] != 1.0f + 2.0f * (float)i;
    printf("y[1] = %g, y[%d] = %g: %s\n", (double)y_data[1], N - 1, (double)y_data[N - 1],
           wrong ? "wrong" : "right");
    free(x_data);
    free(y_data);
    return wrong != 0;
}
