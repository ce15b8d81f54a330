/* The PTX interpreter: state spaces, initial values, atomic updates, and what is caught. */
#include "ptx_interp.h"

/* ---- Initial values ---- */

static void initial_values(void **state)
{
    (void)state;
    run r;
    start(&r, HEAD
          ".visible .global .align 4 .u32 one = 7;\n"
          ".visible .global .align 1 .b8 bytes[5] = {1, 2, 0xff, -1};\n"
          ".visible .const .align 4 .f32 floats[3] = {0f3F800000, 2.5, -0f40000000};\n"
          ".visible .global .f64 doubles[2] = {0d3FF8000000000000, -1.5};\n"
          ".visible .global .s16 table[2][3] = {{1, 2}, {-3, 4, 5}};\n"
          ".visible .global .u64 pointers[3] = {one, generic(bytes)+2, 0};\n"
          ".visible .global .align 8 .b8 packed[9] = {9, 0xFF(one), 0xFF00(one), 0xFF0000(one), "
          "0xFF000000(one), 0xFF00000000(one), 0xFF0000000000(one), 0xFF000000000000(one), "
          "0xFF00000000000000(one)};\n"
          ".visible .global .align 16 .b8 zeros[100];\n" KERNEL(""));
    uint64_t address, one;
    size_t size;
    assert_true(ptx_find_global(r.g.module, "one", &one, &size));
    assert_int_equal(size, 4);
    assert_int_equal(*(uint32_t *)gpu_at(&r.g, one), 7);
    assert_true(ptx_find_global(r.g.module, "bytes", &address, &size));
    assert_int_equal(size, 5);
    assert_memory_equal(gpu_at(&r.g, address), "\1\2\377\377\0", 5);
    uint64_t bytes = address;
    assert_true(ptx_find_global(r.g.module, "floats", &address, &size));
    assert_memory_equal(gpu_at(&r.g, address), ((float[]){1, 2.5f, -2}), 12);
    assert_true(ptx_find_global(r.g.module, "doubles", &address, &size));
    assert_memory_equal(gpu_at(&r.g, address), ((double[]){1.5, -1.5}), 16);
    assert_true(ptx_find_global(r.g.module, "table", &address, &size));
    assert_memory_equal(gpu_at(&r.g, address), ((int16_t[]){1, 2, 0, -3, 4, 5}), 12);
    assert_true(ptx_find_global(r.g.module, "pointers", &address, &size));
    assert_memory_equal(gpu_at(&r.g, address), ((uint64_t[]){one, bytes + 2, 0}), 24);
    assert_true(ptx_find_global(r.g.module, "packed", &address, &size));
    assert_memory_equal((char *)gpu_at(&r.g, address) + 1, &one, 8);
    assert_true(ptx_find_global(r.g.module, "zeros", &address, &size));
    assert_int_equal(((char *)gpu_at(&r.g, address))[99], 0);
    assert_int_equal(address % 16, 0);
    assert_false(ptx_find_global(r.g.module, "none", &address, &size));
    gpu_close(&r.g);
}

static void addresses(void **state)
{
    (void)state;
    run r;
    run_it(&r,
           HEAD
           ".const .u32 c[2] = {5, 6};\n.global .u32 g[2] = {7, 8};\n.shared .u32 s[2];\n" KERNEL(
               "ld.const.u32 %r2, [c+4]; mov.u64 %d3, c; ld.u32 %r3, [%d3]; ld.global.u32 %r4, "
               "[g+4];\n"
               "mov.u64 %d4, g+4; ld.global.nc.u32 %r5, [%d4+-4];\n"
               "mov.u32 %r6, s; mov.u32 %r7, 9; st.shared.u32 [%r6+4], %r7; mov.u64 %d5, s;\n"
               "cvta.shared.u64 %d6, %d5; ld.u32 %r8, [%d6+4]; cvta.to.shared.u64 %d7, %d6;\n"
               "ld.shared.u32 %r9, [%d7+4]; ld.shared.u32 %r10, [s+4];\n"
               "isspacep.shared %p1, %d6; selp.u32 %r11, 1, 0, %p1; isspacep.global %p2, %d4; "
               "selp.u32 %r12, 1, 0, %p2;\n"
               "st.global.v4.u32 [%d1], {%r2, %r3, %r4, %r5}; st.global.v4.u32 [%d1+16], {%r8, "
               "%r9, %r10, %r11};\n"
               "st.global.u32 [%d1+32], %r12;\n"),
           1);
    assert_memory_equal(r.words, ((uint32_t[]){6, 5, 8, 7, 9, 9, 9, 1, 1}), 36);
    gpu_close(&r.g);
}

/* ---- Widths ---- */

static void widths(void **state)
{
    (void)state;
    run r;
    start(&r, HEAD KERNEL(
                  "ld.global.s8 %h1, [%d1]; ld.global.u8 %r2, [%d1]; ld.global.s8 %d3, [%d1];\n"
                  "ld.global.s16 %r3, [%d1]; ld.global.b16 %d4, [%d1]; ld.global.s32 %d5, [%d1];\n"
                  "ld.global.b32 %d6, [%d1]; ld.global.v2.s8 {%r4, %r5}, [%d1]; \n"
                  "ld.global.v4.b16 {%h2, _, %h3, %h4}, [%d1]; ld.global.b128 %q1, [%d1];\n"
                  "st.global.s16 [%d1+16], %h1; st.global.u32 [%d1+20], %r2; st.global.u64 "
                  "[%d1+24], %d3;\n"
                  "st.global.u32 [%d1+32], %r3; st.global.u64 [%d1+40], %d4; st.global.v2.u64 "
                  "[%d1+48], {%d5, %d6};\n"
                  "st.global.v2.u32 [%d1+64], {%r4, %r5}; st.global.u8 [%d1+72], %d5; "
                  "st.global.b16 [%d1+74], %r3;\n"
                  "st.global.v4.u16 [%d1+80], {%h2, %h3, %h4, 5}; st.global.b128 [%d1+96], %q1;\n"
                  "mov.b128 {%d7, %d8}, %q1; mov.b128 %q2, {%d8, %d7}; st.global.b128 [%d1+112], "
                  "%q2;\n"));
    r.words[0] = 0x8899aabbccddeeffu;
    r.words[1] = 0x1122334455667788u;
    gpu_run_well(&r.g, "k", (shape){1, 1, 0, 0, 0}, &r.out);
    assert_int_equal(r.words[2], 0x000000ff0000ffffu);
    assert_true(r.words[3] == UINT64_MAX);
    assert_int_equal((uint32_t)r.words[4], 0xffffeeffu);
    assert_int_equal(r.words[5], 0xeeffu);
    assert_true(r.words[6] == 0xffffffffccddeeffu);
    assert_int_equal(r.words[7], 0xccddeeffu);
    assert_true(r.words[8] == 0xffffffeeffffffffu);
    assert_int_equal(r.words[9], 0xeeff00ffu);
    assert_true(r.words[10] == 0x00058899aabbeeffu);
    assert_true(r.words[12] == r.words[0] && r.words[13] == r.words[1]);
    assert_true(r.words[14] == r.words[1] && r.words[15] == r.words[0]);
    gpu_close(&r.g);
}

static void packing(void **state)
{
    (void)state;
    run r;
    run_it(
        &r,
        HEAD KERNEL(
            "mov.u64 %d3, 0x1122334455667788; mov.b64 {%r2, %r3}, %d3; mov.b64 %d4, {%r3, %r2};\n"
            "mov.b64 {%h1, %h2, %h3, %h4}, %d3; mov.b64 %d5, {%h4, %h3, %h2, %h1};\n"
            "mov.b32 {%h5, _}, %r2; mov.b32 %r4, {%h5, %h1}; mov.b32 %r2, {%h2, %h2};\n"
            "st.global.u64 [%d1], %d4; st.global.u64 [%d1+8], %d5; st.global.v2.u32 [%d1+16], "
            "{%r4, %r2};\n"),
        1);
    assert_true(r.words[0] == 0x5566778811223344u);
    assert_true(r.words[1] == 0x7788556633441122u);
    assert_true(r.words[2] == 0x5566556677887788u);
    gpu_close(&r.g);
}

/* ---- Shared and local memory ---- */

static void shared_and_local(void **state)
{
    (void)state;
    run r;
    run_it(&r,
           HEAD ".extern .shared .align 16 .b8 dyn[];\n.shared .align 4 .b8 st[128];\n" KERNEL(
               ".local .align 8 .b8 depot[16];\n"
               "mul.lo.u32 %r2, %r1, 4; mov.u32 %r3, st; add.u32 %r4, %r3, %r2; ld.shared.u32 %r5, "
               "[%r4];\n"
               "st.shared.u32 [%r4], %r1; mov.u32 %r6, 31; sub.u32 %r6, %r6, %r1; shl.b32 %r6, "
               "%r6, 2; add.u32 %r6, %r6, %r3;\n"
               "bar.sync 0; ld.shared.u32 %r7, [%r6];\n"
               "mov.u64 %d3, depot; cvta.local.u64 %d4, %d3; st.local.u32 [%d3+8], %r1; ld.u32 "
               "%r8, [%d4+8];\n"
               "st.u32 [%d4+4], %r8; ld.local.u32 %r9, [depot+4]; ld.local.u32 %r10, [depot+12];\n"
               "add.u32 %r9, %r9, %r7; xor.b32 %r10, %r10, %r5; st.global.v2.u32 [%d2], {%r9, "
               "%r10};\n"),
           32);
    for (uint32_t i = 0; i < 32; i++) /* both poisoned, so equal, and not 0 before */
        assert_int_equal(r.words[i], 31);
    gpu_close(&r.g);
    start(&r, HEAD ".extern .shared .align 16 .b8 dyn[];\n.shared .u32 s;\n" KERNEL(
                  "mov.u32 %r2, dyn; and.b32 %r3, %r2, 15; ld.shared.u32 %r4, [%r2+252]; "
                  "ld.shared.u32 %r5, [s];\n"
                  "st.global.v2.u32 [%d1], {%r3, %r4}; st.global.u32 [%d1+8], %r5; mov.u32 %r6, "
                  "%dynamic_smem_size; "
                  "st.global.u32 [%d1+12], %r6;\n"));
    gpu_run_well(&r.g, "k", (shape){1, 1, 256, 0, 0}, &r.out);
    assert_true(r.words[0] != 0 && (uint32_t)r.words[0] == 0);
    assert_true((uint32_t)r.words[1] != 0 && r.words[1] >> 32 == 256);
    gpu_close(&r.g);
}

/* ---- Atomic updates: 32 threads with %r1 = thread and, of 64 bits, %d3 = thread ---- */

typedef struct atomic {
    const char *text;
    uint64_t before, after;
} atomic;

static void check_atomic(const atomic *a, const char *space)
{
    bool shared = strcmp(space, "shared") == 0;
    char text[3000], body[200];
    run r;
    gpu_insert(body, sizeof body, a->text, space);
    gpu_insert(text, sizeof text,
               shared ? HEAD
                   ".shared .align 8 .u64 s;\n" KERNEL(
                       "cvt.u64.u32 %d3, %r1; ld.global.u64 %d4, [%d1]; setp.ne.u32 %p1, %r1, 0;\n"
                       "mov.u64 %d5, %d1; mov.u64 %d1, s; st.shared.u64 [%d1], %d4; bar.sync 0; $; "
                       "bar.sync 0;\n"
                       "@%p1 ret; ld.shared.u64 %d6, [%d1]; st.global.u64 [%d5], %d6;\n")
                      : HEAD KERNEL("cvt.u64.u32 %d3, %r1; $;\n"),
               body);
    start(&r, text);
    r.words[0] = a->before;
    gpu_run_well(&r.g, "k", (shape){1, 32, 0, 0, 0}, &r.out);
    if (r.words[0] != a->after)
        fail_msg("%s of 0x%" PRIx64 ": 0x%" PRIx64 ", not 0x%" PRIx64, body, a->before, r.words[0],
                 a->after);
    gpu_close(&r.g);
}

static void atomics(void **state)
{
    (void)state;
    static const atomic both[] = {
        {"atom.$.add.u32 %r2, [%d1], %r1", 100, 100 + 496},
        {"atom.relaxed.gpu.$.add.s32 %r2, [%d1], -1", 7, 0xffffffe7},
        {"atom.$.add.u64 %d4, [%d1], %d3", UINT64_MAX, 495},
        {"atom.$.min.u32 %r2, [%d1], %r1", 0xffffffff, 0},
        {"atom.$.min.s32 %r2, [%d1], %r1", 0xffffffff, 0xffffffff},
        {"atom.$.max.s32 %r2, [%d1], %r1", 0xffffffff, 31},
        {"atom.$.max.u64 %d4, [%d1], %d3", 5, 31},
        {"atom.$.min.s64 %d4, [%d1], %d3", 5, 0},
        {"atom.$.and.b32 %r2, [%d1], 6", 0xf5, 4},
        {"atom.$.or.b32 %r2, [%d1], %r1", 0x100, 0x11f},
        {"atom.$.xor.b64 %d4, [%d1], %d3", 7, 7},
        {"atom.$.inc.u32 %r2, [%d1], 9", 0, 2},
        {"atom.$.dec.u32 %r2, [%d1], 9", 0, 8},
        {"atom.$.exch.b32 %r2, [%d1], 55", 1, 55},
        {"atom.acquire.cta.$.cas.b32 %r2, [%d1], %r1, 77", 12, 77},
        {"atom.$.cas.b64 %d4, [%d1], %d3, 3", 99, 99},
        {"atom.$.cas.b16 %h1, [%d1], 5, 6", 0x10005, 0x10006},
        {"atom.$.add.f32 %r2, [%d1], 0f3F000000", 0x3f800000, 0x41880000},
        {"atom.$.add.f64 %d4, [%d1], 0d3FE0000000000000", 0x3ff0000000000000, 0x4031000000000000},
        {"atom.$.add.noftz.f16x2 %r2, [%d1], 0x3c003800", 0, 0x50004c00},
        {"atom.$.add.noftz.bf16 %h1, [%d1], 0x3f80", 0x70000, 0x74200},
        {"red.$.add.u32 [%d1], %r1", 1, 497},
        {"red.relaxed.gpu.$.or.b64 [%d1], %d3", 0, 31},
        {"red.$.max.u32 [%d1], %r1", 0, 31},
        {"atom.$.add.u32 %r2, [%d1], 1; shl.b32 %r2, %r2, 3; cvt.u64.u32 %d9, %r2", 0, 32},
    };
    for (size_t i = 0; i < sizeof both / sizeof *both; i++) {
        check_atomic(&both[i], "global");
        check_atomic(&both[i], "shared");
    }
    /* Only global sums of f32 flush subnormals. */
    check_atomic(&(atomic){"atom.$.add.f32 %r2, [%d1], 0f00000001", 1, 0}, "global");
    check_atomic(&(atomic){"atom.$.add.f32 %r2, [%d1], 0f00000001", 1, 33}, "shared");
}

/* Each thread gets what it found, so 32 sums hand out 32 numbers. */
static void atomic_results(void **state)
{
    (void)state;
    run r;
    bool seen[32] = {0};
    run_it(&r, HEAD KERNEL("atom.add.u64 %d5, [%d1+256], 1; st.global.u64 [%d2], %d5;\n"), 32);
    for (int i = 0; i < 32; i++) {
        assert_true(r.words[i] < 32 && !seen[r.words[i]]);
        seen[r.words[i]] = true;
    }
    gpu_close(&r.g);
}

/* Side by side with what is written, memory may be read through the cache for constants. */
static void read_only(void **state)
{
    (void)state;
    run r;
    run_it(&r,
           HEAD KERNEL(
               "ld.global.nc.u32 %r2, [%d2]; st.global.u32 [%d2+4], %r2; add.u32 %r2, %r2, 1;\n"
               "red.global.add.u32 [%d2+4], %r2; ld.global.nc.u8 %r3, [%d2+3];\n"),
           32);
    for (int t = 0; t < 32; t++)
        assert_true(r.words[t] == 1ull << 32);
    gpu_run_well(&r.g, "k", (shape){1, 32, 0, 0, 0}, &r.out);
    gpu_close(&r.g);
}

/* ---- Faults ---- */

typedef struct wrong {
    const char *body;
    int code;
    const char *text;
} wrong;

static void faults(void **state)
{
    (void)state;
    static const wrong wrongs[] = {
        {"ld.global.u32 %r2, [%d1+509];", 716, "misaligned global address"},
        {"ld.global.u32 %r2, [%d1+32768];", 700, "illegal global address"},
        {"ld.global.u32 %r2, [%d1+-4];", 700, "(4 bytes, load)"},
        {"st.global.u64 [%d1+32768], %d1;", 700, "(8 bytes, store)"},
        {"ld.global.v2.u32 {%r2, %r3}, [%d1+508];", 716, "(8 bytes, load)"},
        {"ld.global.u8 %r2, [%d1+32768];", 700, "(1 bytes, load)"},
        {"mov.u64 %d3, 0; ld.global.u32 %r2, [%d3];", 700, "0x0 "},
        {"mov.u64 %d3, 0; atom.global.add.u32 %r2, [%d3], 1;", 700, "0x0 "},
        {"mov.u64 %d3, 0; ld.u32 %r2, [%d3];", 700, "0x0 "},
        {"mov.u64 %d3, -8; ld.u64 %d4, [%d3];", 700, "0xfffffffffffffff8"},
        {"mov.u64 %d3, c; st.u32 [%d3], %r1;", 700, "store"},
        {"mov.u64 %d3, c; ld.global.u32 %r1, [%d3];", 700, "global address"},
        {"ld.const.u32 %r2, [%d1];", 700, "constant address"},
        {"ld.shared.u32 %r2, [s+16];", 700, "illegal shared address"},
        {"mov.u32 %r2, s; ld.shared.u32 %r2, [%r2+-4];", 700, "illegal shared address"},
        {"mov.u32 %r2, 0; ld.shared.u32 %r2, [%r2];", 700, "illegal shared address"},
        {"mov.u32 %r2, s; ld.shared.u64 %d3, [%r2+4];", 716, "misaligned shared address"},
        {"mov.u32 %r2, dyn; ld.shared.u32 %r2, [%r2+64];", 700, "illegal shared address"},
        {"mov.u64 %d3, s; cvta.shared.u64 %d3, %d3; st.u32 [%d3+16], %r1;", 700, "illegal address"},
        {"ld.local.u32 %r2, [l+8];", 700, "illegal local address"},
        {"mov.u64 %d3, l; cvta.local.u64 %d3, %d3; ld.u32 %r2, [%d3+8];", 700, "illegal address"},
        {"ld.global.u32 %r2, [l2+-4];", 700, "illegal global address"},
        {"trap;", 719, "trap"},
        {"ld.global.nc.u32 %r2, [%d1+4]; st.global.u8 [%d1+7], %r2;", 719,
         "a store to 0x7f0000002207, which ld.global.nc reads in this launch, on PTX line 12"},
        {"red.global.add.u32 [%d1+12], 1; ld.global.nc.v2.u32 {%r2, %r3}, [%d1+8];", 719,
         "ld.global.nc of 0x7f000000220c, which this launch writes on PTX line 12"},
        {"ld.global.nc.u32 %r2, [%d1+4]; mov.u64 %d3, %d1; st.v2.u32 [%d3], {%r2, %r2};", 719,
         "a store to 0x7f0000002204, which ld.global.nc reads"},
        {"ldu.global.u32 %r2, [%d1+4]; st.global.u32 [%d1+4], %r2;", 719, "a store to 0x"},
    };
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
        char text[3000];
        run r;
        gpu_insert(text, sizeof text,
                   HEAD ".global .u32 l2;\n.const .u32 c = 1;\n.shared .align 8 .b8 s[16];\n"
                        ".extern .shared .align 8 .b8 dyn[];\n" KERNEL(
                            ".local .align 4 .b8 l[8]; setp.ne.u32 %p1, %r1, 5; @%p1 ret;\n$\n"),
                   wrongs[i].body);
        start(&r, text);
        int code = gpu_run(&r.g, "k", (shape){1, 40, 64, 3, 0}, &r.out);
        if (code != wrongs[i].code || !strstr(r.g.fault.text, wrongs[i].text))
            fail_msg("%s: %d %s", wrongs[i].body, code, r.g.fault.text);
        assert_non_null(
            strstr(r.g.fault.text, "kernel k, PTX line 12, block (0, 0, 0), thread (5, 0, 0)"));
        assert_int_equal(r.g.fault.line, 12);
        assert_int_equal(r.g.fault.thread[0], 5);
        gpu_close(&r.g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(initial_values),   cmocka_unit_test(addresses),
        cmocka_unit_test(widths),           cmocka_unit_test(packing),
        cmocka_unit_test(shared_and_local), cmocka_unit_test(atomics),
        cmocka_unit_test(atomic_results),   cmocka_unit_test(read_only),
        cmocka_unit_test(faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
