/* A thread with 64 KiB of stack: what takes most of it. Kernels with large frames, sources and run
 * blocks that are nested as deeply as they may be. (tests/run gives every program of this folder
 * such a stack for its main thread and all that it starts.) */
#include "api.h"

#include <pthread.h>
#include <unistd.h>

enum { STACK = 64 << 10, N = 256 };

typedef struct work {
    void (*run)(void);
} work;

static void *call(void *data)
{
    ((work *)data)->run();
    return NULL;
}

static void on_small_stack(void (*run)(void))
{
    pthread_attr_t attributes;
    pthread_t thread;
    assert_int_equal(pthread_attr_init(&attributes), 0);
    size_t least = (size_t)sysconf(_SC_THREAD_STACK_MIN); /* more on aarch64 */
    assert_int_equal(pthread_attr_setstacksize(&attributes, least > STACK ? least : STACK), 0);
    assert_int_equal(pthread_create(&thread, &attributes, call, &(work){run}), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attributes);
}

/* `before`, n times `part`, `after`; for free(). */
static char *nested(const char *before, const char *part, int n, const char *middle,
                    const char *back, const char *after)
{
    size_t size = strlen(before) + strlen(middle) + strlen(after) +
                  (size_t)n * (strlen(part) + strlen(back)) + 1;
    char *text = malloc(size), *end = stpcpy(text, before);
    for (int i = 0; i < n; i++)
        end = stpcpy(end, part);
    end = stpcpy(end, middle);
    for (int i = 0; i < n; i++)
        end = stpcpy(end, back);
    strcpy(end, after);
    return text;
}

/* ---- Kernels with large frames ---- */

static void big_frames(void)
{
    static const char text[] = "kernel k(x: f64[], n: i32) {\n"
                               "    let i = grid(1)\n"
                               "    let a = local.array(100, f64)\n"
                               "    let b = local.array(60, f64)\n"
                               "    for k in range(n) { a[k] = f64(k) * x[i]; b[k % 60] = a[k] }\n"
                               "    var s = x[i]\n"
                               "    for k in range(n) { s += a[k] + b[k % 60] * 0.0 }\n"
                               "    x[i] = s\n"
                               "}\n";
    double data[N];
    kjit_module *mod = module(text);
    for (int i = 0; i < N; i++)
        data[i] = i;
    kjit_array *x = wrap(data, KJIT_F64, 1, SHAPE(N));
    kjit_arg args[] = {kjit_arg_array(x), kjit_arg_i64(100)};
    kjit_config config = {.grid = {1}, .block = {N}};
    OK(kjit_launch(mod, "k", &config, args, 2));
    for (int i = 0; i < N; i++)
        assert_true(data[i] == i + 4950.0 * i);
    kjit_launch_plan *plan;
    OK(kjit_launch_plan_create(mod, "k", &config, args, 2, &plan));
    OK(kjit_launch_plan_run(plan, NULL));
    kjit_launch_plan_free(plan);
    kjit_array_free(x);
    kjit_module_free(mod);
}

/* ---- Sources ---- */

static void compile(const char *before, const char *part, int n, const char *middle,
                    const char *back, const char *after)
{
    char *text = nested(before, part, n, middle, back, after), *form;
    kjit_module *mod;
    kjit_status status = kjit_module_compile(ctx, "deep.knl", text, strlen(text), NULL, &mod);
    assert_true(status == KJIT_OK || status == KJIT_COMPILE);
    if (status == KJIT_OK && kjit_module_has_run(mod)) {
        status = kjit_run(mod, NULL);
        if (status != KJIT_OK)
            fail_msg("%s", kjit_last_error(ctx));
    } else if (status == KJIT_OK) {
        OK(kjit_module_emit(mod, "ast", NULL, NULL, &form, NULL));
        free(form);
        OK(kjit_module_emit(mod, "tast", NULL, NULL, &form, NULL));
        free(form);
    }
    kjit_module_free(mod);
    free(text);
}

static const int depths[] = {10, 50, 100, 150, 190, 200, 250, 500, 1000, 10000};
enum { DEPTHS = sizeof depths / sizeof *depths };

static void deep_sources(void)
{
    for (int i = 0; i < DEPTHS; i++) {
        int n = depths[i];
        compile("kernel k(x: f32[]) { x[0] = ", "(1 + ", n, "x[1]", ")", " }");
        compile("kernel k(x: f32[]) { x[0] = x[1]", " + x[0]", n, "", "", " }");
        compile("kernel k(x: f32[]) { x[0] = ", "-", n, "x[1]", "", " }");
        compile("kernel k(x: f32[]) { ", "if x[0] > 1.0 { ", n, "x[1] = 2", "}", " }");
        compile("kernel k(x: f32[]) { ", "while x[0] > 1.0 { ", n, "x[1] = 2", "}", " }");
        compile("kernel k(x: f32[]) { if x[0] > 0 { x[0] = 1 }", " elif x[0] > 1 { x[0] = 2 }", n,
                "", "", " }");
        compile("const X = ", "[", n, "1", "]", "");
        compile("kernel k(x: f32[]) { x[0] = ", "min(1.0, ", n, "x[1]", ")", " }");
    }
}

static void deep_run_blocks(void)
{
    for (int i = 0; i < DEPTHS; i++) {
        int n = depths[i];
        compile("run { let x = 1.0\n let y = ", "(1 + ", n, "x", ")", " }");
        compile("run { let x = 1.0\n let y = x", " + x", n, "", "", " }");
        compile("run { let x = ones(100)\n let y = x", " + x", n, "", "", "\n assert(y[0] >= 1) }");
        compile("run { let x = 1.0\n ", "if x > 0 { ", n, "let y = 2", "}", " }");
        compile("run { let x = ones(9)\n let y = ", "sqrt(abs(", n, "x", "))", " }");
        compile("run { let x = ", "[", n, "1", "]", "\n let y = str(x) }");
        compile("run { let x = ", "(", n, "1", ",)", "\n let y = str(x) }");
    }
}

static void everything(void **state)
{
    (void)state;
    on_small_stack(big_frames);
    on_small_stack(deep_sources);
    on_small_stack(deep_run_blocks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(everything, make_context, drop_context),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
