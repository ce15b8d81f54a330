/* A program that uses an installed kjit: compile from memory, launch on a host array, read the
 * result. */
#include <kjit.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    const char *source =
        "kernel scale(x: f32[], a: f32) { let i = grid(1)\n if i < x.size { x[i] *= a } }";
    float data[1000];
    for (int i = 0; i < 1000; i++) {
        data[i] = (float)i;
    }
    kjit_context *ctx = NULL;
    kjit_module *mod = NULL;
    kjit_array *x = NULL;
    char error[256] = "";
    int64_t n = 1000;
    kjit_config config = {.grid = {4}, .block = {256}};
    if (kjit_context_create(NULL, &ctx, error, sizeof error) ||
        kjit_module_compile(ctx, "scale.knl", source, strlen(source), NULL, &mod) ||
        kjit_array_wrap(ctx, data, KJIT_F32, 1, &n, NULL, KJIT_HOST, &x) ||
        kjit_launch(mod, "scale", &config, (kjit_arg[]){kjit_arg_array(x), kjit_arg_f64(3)}, 2)) {
        fprintf(stderr, "%s%s\n", error, ctx ? kjit_last_error(ctx) : "");
        return 1;
    }
    printf("%g %g %g\n", (double)data[0], (double)data[1], (double)data[999]);
    kjit_array_free(x);
    kjit_module_free(mod);
    kjit_context_destroy(ctx);
    return 0;
}
