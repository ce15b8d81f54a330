/* A program may round otherwise, flush subnormal numbers (-ffast-math does) or trap: arguments, texts, run blocks and
 * kernels are the same bits, and its own settings are there again after each call. */
#include "api.h"

#include <fenv.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

static const char source[] =
    "const c: f32[1] = [0.1]\n"
    "kernel take(x: f64[], a: f32, h: f16, d: f64, z: c64, const K: f32 = 1e-40) {\n"
    "    requires d > 0.0\n"
    "    x[0] = a\n x[1] = h\n x[2] = d\n x[3] = z.real\n x[4] = z.imag\n x[5] = c[0]\n x[6] = K\n"
    "    x[7] = a * 0.3\n x[8] = d / 3.0\n"
    "}\n"
    "kernel say(x: f64[], y: f32[]) { print(x[0], y[0], y[1]) }\n"
    "kernel refuse(x: f64[], d: f64) { requires d > 1.0; x[0] = d }\n"
    "run { let x = zeros(3)\n x[0] = 0.1 + 1e-40\n x[1] = f32(0.1)\n x[2] = f16(3e-6)\n print(x, "
    "1e-310, 0.1 / 3.0) }\n";

enum { NUMBERS = 9, TEXT = 4000 };

/* All that can be seen. */
typedef struct seen {
    double x[NUMBERS];
    char text[TEXT];
    size_t size;
} seen;

static void add(void *user, const char *text, size_t n)
{
    seen *s = user;
    assert_true(s->size + n < TEXT);
    memcpy(s->text + s->size, text, n);
    s->size += n;
}

static void look(seen *s)
{
    static double small[2] = {1e-310, 0.1};
    static float y[3] = {0.1f, 1e-40f, 0.5f};
    double z[2] = {0.1, 1e-40};
    kjit_module *mod = module(source);
    kjit_array *x = wrap(s->x, KJIT_F64, 1, SHAPE(NUMBERS)),
               *b = wrap(small, KJIT_F64, 1, SHAPE(2)), *f = wrap(y, KJIT_F32, 1, SHAPE(3));
    kjit_run_options options = {.write = add, .user = s};
    kjit_config one = {.grid = {1}, .block = {1}};
    kjit_arg args[] = {kjit_arg_array(x), kjit_arg_f64(0.1), kjit_arg_f64(3e-6),
                       kjit_arg_f64(1e-310), kjit_arg_value(KJIT_C128, z)};
    kjit_set_print(ctx, add, s);
    OK(kjit_launch(mod, "take", &one, args, 5));
    args[1] = kjit_arg_f64(1e-40);
    OK(kjit_launch(mod, "take", &one, args, 5));
    OK(kjit_launch(mod, "say", &one, (kjit_arg[]){kjit_arg_array(b), kjit_arg_array(f)}, 2));
    OK(kjit_synchronize(ctx));
    assert_int_equal(
        kjit_launch(mod, "refuse", &one, (kjit_arg[]){kjit_arg_array(x), kjit_arg_f64(1e-310)}, 2),
        KJIT_LAUNCH);
    add(s, kjit_last_error(ctx), strlen(kjit_last_error(ctx)));
    args[1] = kjit_arg_f64(1e300);
    assert_int_equal(kjit_launch(mod, "take", &one, args, 5), KJIT_TYPE);
    add(s, kjit_last_error(ctx), strlen(kjit_last_error(ctx)));
    char *text;
    kjit_array *arrays[] = {b, f, x};
    for (int i = 0; i < 3; i++) {
        OK(kjit_array_format(arrays[i], &text));
        add(s, text, strlen(text));
        free(text);
    }
    OK(kjit_run(mod, &options));
    kjit_set_print(ctx, NULL, NULL);
    kjit_array_free(x);
    kjit_array_free(b);
    kjit_array_free(f);
    kjit_module_free(mod);
}

/* What the thread's control words say, without the flags that arithmetic raises; and with what takes subnormal numbers
 * for zeros. */
#if defined(__x86_64__)
static unsigned long words(void)
{
    unsigned short x87;
    __asm__ volatile("fnstcw %0" : "=m"(x87));
    return (unsigned long)x87 << 32 | (_mm_getcsr() & ~0x3fu);
}

static void flush_too(void)
{
    _mm_setcsr(_mm_getcsr() | 0x8040);
}
#elif defined(__aarch64__)
static unsigned long words(void)
{
    unsigned long fpcr;
    __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
    return fpcr;
}

static void flush_too(void) /* f16, too; and each NaN is the one there is */
{
    __asm__ volatile("msr fpcr, %0" : : "r"(words() | 1ul << 19 | 1ul << 24 | 1ul << 25));
}
#else
static unsigned long words(void)
{
    return (unsigned long)fegetround();
}

static void flush_too(void)
{
}
#endif

static void compare(const char *name, const seen *expected)
{
    seen now = {.size = 0};
    unsigned long before = words();
    look(&now);
    unsigned long after = words();
    fesetenv(FE_DFL_ENV);
    if (after != before)
        fail_msg("%s: control words %lx became %lx", name, before, after);
    if (strcmp(now.text, expected->text) != 0)
        fail_msg("%s:\n%s\nrather than\n%s", name, now.text, expected->text);
    for (int i = 0; i < NUMBERS; i++)
        if (memcmp(&now.x[i], &expected->x[i], sizeof now.x[i]) != 0)
            fail_msg("%s: number %d is %a rather than %a", name, i, now.x[i], expected->x[i]);
}

static void test_environments(void **state)
{
    static const struct {
        const char *name;
        int rounding;
        bool flushing;
        int traps;
    } cases[] = {
        {"flushing", FE_TONEAREST, true, 0},
        {"down", FE_DOWNWARD, false, 0},
        {"up", FE_UPWARD, false, 0},
        {"to zero, flushing", FE_TOWARDZERO, true, 0},
        {"trapping", FE_TONEAREST, false,
         FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW | FE_INEXACT},
    };
    (void)state;
    seen expected = {.size = 0};
    look(&expected);
    assert_non_null(strstr(expected.text, "1e-310"));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fesetround(cases[i].rounding);
        if (cases[i].flushing)
            flush_too();
        feclearexcept(FE_ALL_EXCEPT);
        feenableexcept(cases[i].traps);
        compare(cases[i].name, &expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_environments)};
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
