/* The PTX interpreter: what it takes as a module, what it says of kernels, texts that are none. */
#include "ptx_interp.h"

#define PLAIN(body) \
    ".visible .entry k(.param .u64 out)\n{ .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred " \
    "%p<3>;\n" body "\nret; }\n"

static void drivers_and_chips(void **state)
{
    (void)state;
    static const struct {
        const char *version, *target;
        int chip, newest, code;
    } tries[] = {
        {"8.4", "sm_90", 90, 84, 0},      {"8.5", "sm_90", 90, 84, 222},
        {"9.0", "sm_75", 120, 84, 222},   {"6.4", "sm_75", 120, 84, 0},
        {"8.4", "sm_90", 89, 84, 209},    {"8.4", "sm_90a", 90, 84, 0},
        {"8.4", "sm_90a", 100, 86, 209},  {"8.8", "sm_100f", 103, 88, 0},
        {"8.8", "sm_100f", 120, 88, 209}, {"8.4", "sm_x", 90, 84, 218},
        {"", "sm_90", 90, 84, 218},       {"8.4", "sm_90, debug", 90, 84, 0},
    };
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
        char text[200];
        gpu g;
        snprintf(text, sizeof text,
                 "// made\n.version %s\n.target %s\n.address_size 64\n.entry k() { ret; }\n",
                 tries[i].version, tries[i].target);
        gpu_load(&g, text, tries[i].chip, tries[i].newest);
        if (g.code != tries[i].code)
            fail_msg("%s %s: %d, not %d: %s", tries[i].version, tries[i].target, g.code,
                     tries[i].code, g.log);
        assert_int_equal(g.log[0] == '\0', g.code == 0);
        gpu_close(&g);
    }
}

static void mistakes(void **state)
{
    (void)state;
    static const struct {
        const char *body, *log;
    } wrongs[] = {
        {"foo.bar %r1;", "PTX line 7: 'foo.bar' is not known to the double"},
        {"add.s32.hot %r1, %r2, %r3;", "'add.s32.hot' is not known"},
        {"ld.global.v3.u32 {%r1, %r2, %r3}, [%d1];", "is not known"},
        {"cvt.s32.f32 %r1, %r2;", "'cvt.s32.f32' is not known"},
        {"setp.ltu.s32 %p1, %r1, %r2;", "is not known"},
        {"atom.global.min.f32 %r1, [%d1], %r2;", "is not known"},
        {"add.s32 %r1, %r2, %r99;", "'%r99'"},
        {"add.s32 %r1, %d2, %r3;", "size does not fit"},
        {"add.s32 %r1, %r2, %p1;", "'%p1': a predicate"},
        {"add.s32 %r1, %r2;", "',' was expected before ';'"},
        {"add.s32 %r1, %r2, %r3, %r4;", "more operands"},
        {"add.s32 5, %r2, %r3;", "a register was expected"},
        {"add.f32 %r1, %r2, 5;", "a floating number"},
        {"bra NOWHERE;", "no label 'NOWHERE'"},
        {"call nobody;", "no function 'nobody'"},
        {"ld.global.u32 %r1, [nothing];", "not known"},
        {"ld.shared.u32 %r1, [g];", "another state space"},
        {"ld.global.u32 %r1, [%r1];", "64 bits"},
        {"@%r1 bra L; L:", "no predicate"},
        {"L: L:", "declared twice"},
        {".reg .b32 %r<3>;", "declared twice"},
        {".reg .b40 %x;", "a type was expected"},
        {".local .align 3 .b8 x[4];", "was not understood"},
        {".shared .b8 x[2] = {1, 2};", "cannot be initialised"},
        {"mov.b64 {%r1, %r2, %r3}, %d1;", "not known"},
        {"st.global.b8 [%d1], %r1; add.f32 %r1, %r2, %r2;", "PTX line 7: a store narrower"},
        {"mul.lo.s64 %d1, %d2, 481036337152;", "PTX line 7: '481036337152': a product of 64 bits"},
        {"mad.lo.s64 %d1, %d2, -481036337152, %d1;",
         "PTX line 7: '481036337152': a product of 64 bits"},
        {"cvt.f64.f32 %d2, %r1;\nst.shared.b32 [%r2], %d2;", "PTX line 8: a store narrower"},
        {"ld.global.f32 %r1, [%d1];\nst.global.v2.u16 [%d1], {%r2, %r1};",
         "line 8: a store narrow"},
        {"tex.2d.v4.f32.f32 {%r1, %r2, %r3, %r4}, [t, {%r1, %r2}];",
         "'tex.2d.v4.f32.f32' is not known"},
    };
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
        char text[1000];
        gpu g;
        gpu_insert(text, sizeof text, HEAD ".global .u32 g;\n" PLAIN("$"), wrongs[i].body);
        gpu_load(&g, text, 90, 84);
        if (g.code != 218 || !strstr(g.log, wrongs[i].log))
            fail_msg("%s: %d %s", wrongs[i].body, g.code, g.log);
        gpu_close(&g);
    }
}

static void several_mistakes(void **state)
{
    (void)state;
    gpu g;
    gpu_load(&g,
             HEAD PLAIN("one.two;\nadd.s32 %r1, %r2, %r3;\nthree %r1, four;") ".global .u32 g = "
                                                                              "none;\n.what;\n",
             90, 84);
    assert_string_equal(g.log, "PTX line 6: 'one.two' is not known to the double\n"
                               "PTX line 8: 'three' is not known to the double\n"
                               "PTX line 11: '.what' is not known to the double\n");
    assert_int_equal(g.code, 218);
    gpu_close(&g);
    gpu_load(&g, HEAD ".global .u32 g = none;\n", 90, 84);
    assert_non_null(strstr(g.log, "'none' has no address"));
    assert_int_equal(g.count, 0);
    gpu_close(&g);
    gpu_load(&g, HEAD ".func far();\n" PLAIN("call far;"), 90, 84);
    assert_non_null(strstr(g.log, "Unresolved extern function 'far'"));
    gpu_close(&g);
}

static void kernels(void **state)
{
    (void)state;
    gpu g;
    gpu_open(
        &g, HEAD
        ".file 1 \"dir/a.knl\"\n.extern .shared .align 16 .b8 dyn[];\n.shared .align 8 .b8 a[40];\n"
        ".shared .align 16 .b8 b[20];\n.shared .b8 unused[4000];\n"
        ".func f() { .local .b8 x[24]; .reg .b32 %r<3>; mov.u32 %r1, b; ret; }\n"
        ".visible .entry k(.param .u8 c, .param .u64 .ptr .global .align 16 p, .param .align 16 "
        ".b8 s[24], "
        ".param .f32 f)\n.reqntid 16, 8\n.minnctapersm 2\n"
        "{ .reg .b32 %r<10>; .reg .b64 %d<5>; .reg .pred %p<7>; .local .align 8 .b8 l[100];\n"
        ".pragma \"nounroll\";\nmov.u32 %r1, a; mov.u32 %r2, dyn; call f;\n.loc 1 7 "
        "3\nld.param.u64 %d1, [p];\n"
        ".loc 1 9 3, function_name $L1, inlined_at 1 4 5\nst.global.u32 [%d1], 5; ret; }\n"
        ".entry j() .maxntid 64, 2, 1 { ret; }\n"
        ".section .debug_str { $L1: .b8 0x6b, 0\n}\n");
    const ptx_kernel_info *k = ptx_kernel_about(ptx_find_kernel(g.module, "k"));
    assert_int_equal(k->nparams, 4);
    assert_int_equal(k->params[1].offset, 8);
    assert_int_equal(k->params[2].offset, 16);
    assert_int_equal(k->params[2].size, 24);
    assert_int_equal(k->params[3].offset, 40);
    assert_int_equal(k->param_size, 44);
    assert_int_equal(k->local, 124);
    assert_int_equal(k->shared, 68);
    assert_int_equal(k->registers, 20);
    assert_int_equal(k->max_threads, 128);
    assert_memory_equal(k->required, ((unsigned[]){16, 8, 1}), 12);
    const ptx_kernel_info *j = ptx_kernel_about(ptx_find_kernel(g.module, "j"));
    assert_int_equal(j->max_threads, 128);
    assert_int_equal(j->required[0], 0);
    assert_int_equal(j->shared + j->local + j->param_size, 0);
    assert_null(ptx_find_kernel(g.module, "f"));
    char params[44] = {0};
    assert_int_equal(gpu_run(&g, "k", (shape){1, 1, 0, 0, 0}, params), 700);
    assert_non_null(strstr(g.fault.text, "PTX line 19 (dir/a.knl:9), block"));
    gpu_close(&g);
}

static const char sample[] = HEAD
    ".file 1 \"a\"\n.global .align 4 .b8 g[8] = {1, 2, generic(h), 0xFF(h)};\n.const .f32 h = "
    "0f3F800000;\n"
    ".func (.param .b32 r) f(.param .b32 a) { ret; }\n"
    ".visible .entry k(.param .u64 .ptr .global .align 4 out) .reqntid 32, 1, 1\n{ .reg .b32 "
    "%r<9>; .reg .b64 %d<9>;\n"
    ".reg .pred %p<3>; .shared .b8 s[4]; .local .b8 l[4];\n.loc 1 2 3\n"
    "T: .branchtargets A, B;\nld.param.u64 %d1, [out]; @!%p1 bra A; setp.lt.and.s32 %p1|%p2, %r1, "
    "-5, !%p2;\n"
    "A: ld.global.v2.u32 {%r1, _}, [%d1+8]; { .param .b32 x; .param .b32 y; call (y), f, (x); }\n"
    "mov.b64 {%r1, %r2}, %d1; mov.u32 %r3, %tid.x; shfl.sync.up.b32 %r1|%p1, %r2, 1, 0, -1;\n"
    "B: brx.idx %r1, T; bar.red.popc.u32 %r1, 0, %p1; ret; }\n";

/* Any text gets an answer: the sample cut at each length, and with each character another. */
static void texts_that_are_none(void **state)
{
    (void)state;
    static const char others[] = "{};,()[]<>.:%0x\"- \n";
    char text[sizeof sample];
    gpu g;
    for (size_t length = 0; length < sizeof sample; length++) {
        memcpy(text, sample, sizeof sample);
        text[length] = '\0';
        gpu_load(&g, text, 90, 84);
        gpu_close(&g);
        for (size_t k = 0; k < sizeof others - 1; k++) {
            memcpy(text, sample, sizeof sample);
            text[length] = others[k];
            text[sizeof sample - 1] = '\0';
            gpu_load(&g, text, 90, 84);
            gpu_close(&g);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drivers_and_chips),   cmocka_unit_test(mistakes),
        cmocka_unit_test(several_mistakes),    cmocka_unit_test(kernels),
        cmocka_unit_test(texts_that_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
