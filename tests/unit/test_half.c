/* f16 and bf16 on the host, and on CPUs that know nothing of them: a kernel compiled for the oldest
 * x86-64 gives the same bits as the host's functions, which tests/api/halves.c compares with
 * integers by way of constants and of this machine's instructions. */
#include "parsed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "compile.h"
#include "device/cpu/cpu.h"
#include "lang/half.h"
#include "sema/program.h"

enum { ALL = 1 << 16, ARRAYS = 6, BLOCK = 64 };

static const kj_dtype types[] = {KJ_F16, KJ_BF16};

/* ---- The host ---- */

static void every_number_is_itself(void **state)
{
    (void)state;
    for (int t = 0; t < 2; t++) {
        for (int i = 0; i < ALL; i++) {
            double v = kj_half_read(types[t], (uint16_t)i);
            uint16_t back = kj_half_write(types[t], v);
            assert_true(isnan(v) ? isnan(kj_half_read(types[t], back)) : back == i);
            if (i > 0 && i < 0x7c00) /* in the order of their bits */
                assert_true(v > kj_half_read(types[t], (uint16_t)(i - 1)));
        }
    }
}

static void halves_are_rounded_once(void **state)
{
    (void)state;
    assert_true(kj_half_read(KJ_F16, 1) == 0x1p-24 && kj_half_read(KJ_F16, 0x7bff) == 65504);
    assert_true(kj_half_read(KJ_BF16, 1) == 0x1p-133 && kj_half_read(KJ_BF16, 0x3f80) == 1);
    assert_true(kj_half_round(KJ_F16, 1 + 0x1p-11) == 1);
    assert_true(kj_half_round(KJ_F16, 1 + 0x1p-11 + 0x1p-52) == 1 + 0x1p-10);
    assert_true(kj_half_round(KJ_F16, 0x1p-25) == 0 && kj_half_round(KJ_F16, 0x1.8p-25) == 0x1p-24);
    assert_true(kj_half_round(KJ_F16, 0x1.ffdfffp15) == 65504);
    assert_true(isinf(kj_half_round(KJ_F16, 65520)) && isinf(kj_half_round(KJ_BF16, 1e300)));
    assert_true(kj_half_round(KJ_BF16, 1 + 0x1p-8 + 0x1p-52) == 1 + 0x1p-7);
    assert_true(kj_half_of_int(KJ_BF16, true, (uint64_t) - ((1LL << 54) + (1LL << 46) + 1)) ==
                -0x1.02p54);
    assert_true(kj_half_of_int(KJ_BF16, false, UINT64_MAX) == 0x1p64);
    assert_true(kj_half_fma(KJ_F16, 1 + 0x1p-10, 1 - 0x1p-10, -1) == -0x1p-20);
    assert_true(kj_half_fma(KJ_BF16, 1, 1 + 0x1p-7, 0x1p-133) == 1 + 0x1p-7);
    assert_true(kj_half_fma(KJ_BF16, 0x1.02p0, 0x1.02p0, -0x1p-133) == 0x1.04p0);
    assert_true(kj_half_next(KJ_F16, 0, -1) == -0x1p-24 && kj_half_next(KJ_F16, 1, 0) < 1);
}

/* ---- A kernel for the oldest CPU ---- */

typedef struct arrays {
    uint16_t x[ALL], y[ALL], z[ALL], fused[ALL], narrow[ALL];
    float wide[ALL];
} arrays;

static const char source[] = "kernel k(x: %s[], y: %s[], z: %s[], fused: %s[], narrow: %s[],\n"
                             "         wide: f32[]) {\n"
                             "    let i = grid(1)\n"
                             "    if i < x.size {\n"
                             "        fused[i] = x[i] * y[i] + z[i]\n"
                             "        narrow[i] = %s(f64(wide[i]) * 1.0000000001)\n"
                             "        wide[i] = x[i]\n"
                             "    }\n"
                             "}\n";

static void call(const kj_code *code, arrays *a)
{
    kj_exec *exec;
    kj_failure why;
    void *data[ARRAYS] = {a->x, a->y, a->z, a->fused, a->narrow, a->wide};
    assert_int_equal(kj_cpu_load(NULL, code, &exec, &why), KJIT_OK);
    kj_host_fault fault = {0};
    kj_host_launch *launch = calloc(1, sizeof *launch + 3 * ARRAYS * sizeof(uint64_t));
    *launch =
        (kj_host_launch){.grid = {ALL / BLOCK, 1, 1}, .block = {BLOCK, 1, 1}, .fault = &fault};
    for (int i = 0; i < ARRAYS; i++) {
        launch->slots[3 * i] = (uint64_t)(uintptr_t)data[i];
        launch->slots[3 * i + 1] = ALL;
        launch->slots[3 * i + 2] = 1;
    }
    void *scratch = aligned_alloc(64, (size_t)code->scratch + 64);
    assert_int_equal(exec->entry(launch, 0, ALL / BLOCK, scratch), 0);
    free(scratch);
    free(launch);
    kj_unload(NULL, exec, &why);
}

static void run_kernel(kj_dtype type, arrays *a)
{
    static const kj_layout layouts[ARRAYS] = {KJ_LAYOUT_C};
    const char *name = kj_types[type].name;
    char text[1024];
    parsed p;
    kj_code code;
    snprintf(text, sizeof text, source, name, name, name, name, name, name);
    parse_text(&p, text);
    kj_records *records = kj_records_new();
    const kj_program *program = kj_sema_program(&p.arena, &p.diag, &p.file, 1, records, false);
    assert_int_equal(p.diag.errors, 0);
    kj_spec spec = {.block = {BLOCK, 1, 1}, .small = true, .disjoint = true, .layouts = layouts};
    kj_compile_options options = {.opt_level = 3, .verify = true, .cpu = OLDEST};
    assert_true(kj_compile(&p.arena, &p.diag, program, program->kernels, &spec, &options,
                           KJ_STAGE_OBJECT, &code));
    call(&code, a);
    kj_code_free(&code);
    close_text(&p);
    kj_records_free(records);
}

static bool same(kj_dtype type, uint16_t a, uint16_t b)
{
    return a == b || (isnan(kj_half_read(type, a)) && isnan(kj_half_read(type, b)));
}

static void the_oldest_cpu_agrees(void **state)
{
    static arrays a;
    static float before[ALL];
    uint32_t seed = 1;
    (void)state;
    for (int t = 0; t < 2; t++) {
        kj_dtype type = types[t];
        for (int i = 0; i < ALL; i++) {
            seed = seed * 1664525 + 1013904223;
            a.x[i] = (uint16_t)i;
            a.y[i] = (uint16_t)(seed >> 16);
            a.z[i] = (uint16_t)(seed >> 8);
            /* halves, what is between two of them, and anything */
            double v = kj_half_read(type, (uint16_t)i),
                   next = kj_half_read(type, (uint16_t)(i + 1));
            a.wide[i] = i % 3 == 0 ? (float)v : (float)(v + (next - v) / 2);
            if (i % 3 == 2)
                memcpy(&a.wide[i], &seed, sizeof seed);
        }
        memcpy(before, a.wide, sizeof before);
        run_kernel(type, &a);
        for (int i = 0; i < ALL; i++) {
            double x = kj_half_read(type, a.x[i]), y = kj_half_read(type, a.y[i]);
            uint16_t fused =
                kj_half_write(type, kj_half_fma(type, x, y, kj_half_read(type, a.z[i])));
            uint16_t narrow = kj_half_write(type, (double)before[i] * 1.0000000001);
            assert_true(isnan(x) ? isnan(a.wide[i]) : (double)a.wide[i] == x);
            assert_true(same(type, a.fused[i], fused));
            assert_true(same(type, a.narrow[i], narrow));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_is_itself),
        cmocka_unit_test(halves_are_rounded_once),
        cmocka_unit_test(the_oldest_cpu_agrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
