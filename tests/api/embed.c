/* The library in twenty lines: a kernel compiled from memory, launched on an array of the program's
 * own. */
#include <kjit.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    const char *source =
        "kernel scale(x: f32[], a: f32) { let i = grid(1); if i < x.size { x[i] *= a } }";
    float data[1000];
    char error[256];
    for (int i = 0; i < 1000; i++)
        data[i] = (float)i;

    kjit_context *ctx;
    kjit_module *mod = NULL;
    kjit_array *x = NULL;
    if (kjit_context_create(NULL, &ctx, error, sizeof error) != KJIT_OK)
        return fprintf(stderr, "%s\n", error), 1;
    kjit_status status = kjit_module_compile(ctx, "scale.knl", source, strlen(source), NULL, &mod);
    if (status == KJIT_OK)
        status = kjit_array_wrap(ctx, data, KJIT_F32, 1, (int64_t[]){1000}, NULL, KJIT_HOST, &x);
    if (status == KJIT_OK)
        status = kjit_launch_forall(mod, "scale", 1000, NULL,
                                    (kjit_arg[]){kjit_arg_array(x), kjit_arg_f64(2.5)}, 2);
    if (status != KJIT_OK)
        fprintf(stderr, "%s\n", kjit_last_error(ctx));
    kjit_array_free(x);
    kjit_module_free(mod);
    kjit_context_destroy(ctx);

    printf("%g %g %g\n", (double)data[1], (double)data[10], (double)data[999]);
    return status == KJIT_OK && data[1] == 2.5f && data[999] == 2497.5f ? 0 : 1;
}
