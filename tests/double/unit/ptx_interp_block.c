/* The PTX interpreter: barriers, locks, the order of blocks and warps, and what never ends. */
#include "ptx_interp.h"

/* ---- Barriers ---- */

/* Every thread reads what the thread that mirrors it wrote, a hundred times over. */
static void barriers(void **state)
{
    (void)state;
    run r;
    start(&r,
          HEAD ".shared .b32 s[256];\n" KERNEL(
              "mov.u64 %d3, s; cvt.u64.u32 %d4, %r1; shl.b64 %d4, %d4, 2; add.u64 %d5, %d3, %d4;\n"
              "mov.u32 %r9, %ntid.x; sub.u32 %r9, %r9, 1; sub.u32 %r9, %r9, %r1; mul.wide.u32 %d6, "
              "%r9, 4; "
              "add.u64 %d6, %d6, %d3;\nmov.u32 %r2, 0; mov.u32 %r3, 0;\n"
              "L: add.u32 %r4, %r2, %r1; st.shared.b32 [%d5], %r4; bar.sync 0; ld.shared.b32 %r5, "
              "[%d6]; "
              "add.u32 %r3, %r3, %r5; barrier.sync 1;\n"
              "add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 100; @%p1 bra L; st.global.u32 [%d2], "
              "%r3;\n"));
    for (uint64_t seed = 0; seed < 20; seed++) {
        unsigned threads = (unsigned[]){256, 33, 32, 7, 100}[seed % 5];
        gpu_run_well(&r.g, "k", (shape){1, threads, 0, seed, 0}, &r.out);
        for (unsigned t = 0; t < threads; t++)
            assert_int_equal((uint32_t)r.words[t], 4950 + 100 * (threads - 1 - t));
    }
    gpu_close(&r.g);
}

static void barriers_count_who_left(void **state)
{
    (void)state;
    run r;
    start(
        &r,
        HEAD KERNEL(
            "setp.ge.u32 %p1, %r1, 40; @%p1 ret; bar.sync 0; setp.lt.u32 %p2, %r1, 32; @%p2 ret;\n"
            "bar.sync 0; bar.sync 0; st.global.u32 [%d2], 1;\n"));
    gpu_run_well(&r.g, "k", (shape){1, 256, 0, 1, 0}, &r.out);
    for (int t = 0; t < 256; t++)
        assert_int_equal(r.words[t], t >= 32 && t < 40);
    gpu_close(&r.g);
}

static void barriers_that_reduce(void **state)
{
    (void)state;
    run r;
    start(&r,
          HEAD KERNEL(
              "setp.lt.u32 %p1, %r1, 50; bar.red.popc.u32 %r2, 0, %p1; bar.red.popc.u32 %r3, 1, "
              "96, !%p1;\n"
              "bar.red.and.pred %p2, 0, %p1; barrier.red.or.pred %p3, 0, %p1; setp.lt.u32 %p4, "
              "%r1, 500; "
              "bar.red.and.pred %p5, 2, %p4;\nselp.u32 %r4, 1, 0, %p2; selp.u32 %r5, 2, 0, %p3; "
              "selp.u32 %r6, 4, 0, %p5; or.b32 %r4, %r4, %r5; or.b32 %r4, %r4, %r6;\n"
              "shl.b32 %r3, %r3, 8; or.b32 %r2, %r2, %r3; st.global.v2.u32 [%d2], {%r2, %r4};\n"));
    gpu_run_well(&r.g, "k", (shape){1, 96, 0, 4, 0}, &r.out);
    for (int t = 0; t < 96; t++)
        assert_true(r.words[t] == (6ull << 32 | 46 << 8 | 50));
    gpu_close(&r.g);
}

/* One warp makes, two take: bar.arrive does not wait. */
static void barriers_with_counts(void **state)
{
    (void)state;
    run r;
    start(&r, HEAD ".shared .b32 s[2];\n" KERNEL(
                  "setp.lt.u32 %p1, %r1, 32; @%p1 bra MAKE; bar.sync 3, 96; ld.shared.b32 %r2, "
                  "[s]; bra END;\n"
                  "MAKE: mov.u32 %r2, 77; st.shared.b32 [s], %r2; bar.arrive 3, 96;\n"
                  "END: st.global.u32 [%d2], %r2;\n"));
    for (uint64_t seed = 0; seed < 10; seed++)
        gpu_run_well(&r.g, "k", (shape){1, 96, 0, seed, 0}, &r.out);
    for (int t = 0; t < 96; t++)
        assert_int_equal(r.words[t], 77);
    gpu_close(&r.g);
}

/* ---- Copies that arrive later ---- */

#define NONE 0xcdcdcdcdu

/* Each thread copies from its words, and what it then finds in shared memory, in turns: 0xcd is what
 * has not arrived. */
typedef struct late {
    const char *body;
    uint32_t
        found[3]; /* at words 0, 1 and 3 of its 16 bytes; the words hold their thread and place */
} late;

static void copies_arrive_late(void **state)
{
    (void)state;
    static const late table[] = {
        {"cp.async.ca.shared.global [%r3], [%d3], 4;", {NONE, NONE, NONE}},
        {"cp.async.ca.shared.global [%r3], [%d3], 4; cp.async.wait_all;", {0, NONE, NONE}},
        {"cp.async.cg.shared.global [%r3], [%d3], 16; cp.async.commit_group; cp.async.wait_group "
         "0;",
         {0, 1, 3}},
        {"cp.async.cg.shared.global [%r3], [%d3], 16; cp.async.wait_group 0;", {NONE, NONE, NONE}},
        {"cp.async.cg.shared.global [%r3], [%d3], 16; cp.async.commit_group; cp.async.wait_group "
         "1;",
         {NONE, NONE, NONE}},
        {"cp.async.ca.shared.global [%r3], [%d3], 8; cp.async.commit_group;\n"
         "cp.async.ca.shared::cta.global.L2::64B [%r3+12], [%d3+12], 4; cp.async.commit_group; "
         "cp.async.wait_group 1;",
         {0, 1, NONE}},
        {"cp.async.ca.shared.global [%r3], [%d3], 8; cp.async.commit_group;\n"
         "cp.async.ca.shared.global [%r3+12], [%d3+12], 4; cp.async.commit_group; "
         "cp.async.wait_all;",
         {0, 1, 3}},
        {"cp.async.cg.shared.global [%r3], [%d3], 16, 4; cp.async.wait_all;", {0, 0xffff, 0xffff}},
        {"cp.async.cg.shared.global [%r3], [%d3], 16, 0; cp.async.wait_all;",
         {0xffff, 0xffff, 0xffff}},
        {"mov.u32 %r4, 8; cp.async.cg.shared.global [%r3], [%d3], 16, %r4; cp.async.wait_all;",
         {0, 1, 0xffff}},
        {"cp.async.ca.shared.global.L2::cache_hint [%r3], [%d3], 8, %d1; cp.async.wait_all;",
         {0, 1, NONE}},
        {"setp.lt.u32 %p1, 1, 0; @%p1 cp.async.ca.shared.global [%r3], [%d3], 8; "
         "cp.async.wait_all;",
         {NONE, NONE, NONE}},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char text[3000];
        run r;
        gpu_insert(text, sizeof text,
                   HEAD ".shared .align 16 .b8 s[512];\n" KERNEL(
                       "mov.u32 %r3, s; mad.lo.u32 %r3, %r1, 16, %r3; mad.wide.u32 %d3, %r1, 16, "
                       "%d1;\n$\nld.shared.v4.u32 {%r5, %r6, %r7, %r8}, [%r3]; add.u64 %d4, %d3, "
                       "1024; st.global.v4.u32 [%d4], {%r5, %r6, %r7, %r8};\n"),
                   table[i].body);
        start(&r, text);
        uint32_t *words = (uint32_t *)(void *)r.words;
        for (uint32_t k = 0; k < 128; k++)
            words[k] = k + 1;
        gpu_run_well(&r.g, "k", (shape){1, 32, 0, 0, 0}, &r.out);
        for (uint32_t k = 0; k < 128; k += k % 4 == 1 ? 2 : 1) { /* all but word 2 */
            uint32_t want = table[i].found[k % 4 == 3 ? 2 : k % 4];
            want = want == NONE ? want : want == 0xffff ? 0 : k / 4 * 4 + want + 1;
            if (words[256 + k] != want)
                fail_msg("%s: 0x%x, not 0x%x", table[i].body, words[256 + k], want);
        }
        gpu_close(&r.g);
    }
}

static void wrong_copies(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        int code;
        const char *text;
    } wrongs[] = {
        {"cp.async.ca.shared.global [s], [%d1+2], 4;", 716, "misaligned global address"},
        {"cp.async.cg.shared.global [s+8], [%d1], 16;", 716, "misaligned shared address"},
        {"cp.async.cg.shared.global [s], [%d1+32768], 16;", 700, "illegal global address"},
        {"cp.async.cg.shared.global [s+64], [%d1], 16;", 700, "illegal shared address"},
        {"mov.u32 %r2, 9; cp.async.ca.shared.global [s], [%d1], 8, %r2;", 715, "8 bytes from 9"},
    };
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
        char text[2000];
        run r;
        gpu_insert(text, sizeof text, HEAD ".shared .align 16 .b8 s[64];\n" KERNEL("$\n"),
                   wrongs[i].body);
        start(&r, text);
        int code = gpu_run(&r.g, "k", (shape){1, 1, 0, 0, 0}, &r.out);
        if (code != wrongs[i].code || !strstr(r.g.fault.text, wrongs[i].text))
            fail_msg("%s: %d %s", wrongs[i].body, code, r.g.fault.text);
        gpu_close(&r.g);
    }
}

static void wrong_barriers(void **state)
{
    (void)state;
    static const struct {
        const char *body, *text;
    } wrongs[] = {
        {"setp.lt.u32 %p1, %r1, 5; @%p1 bra A; bar.sync 0; ret; A: bar.sync 0;",
         "divergent barrier"},
        {"setp.lt.u32 %p1, %r1, 5; @%p1 bra A; bar.sync 0; A: bar.sync 0;", "divergent barrier"},
        {"setp.lt.u32 %p1, %r1, 5; @%p1 bar.sync 0; bar.sync 0;", "divergent barrier"},
        {"setp.lt.u32 %p1, %r1, 32; @%p1 bra A; bar.sync 1; ret; A: bar.sync 0;",
         "others never reach"},
        {"setp.lt.u32 %p1, %r1, 5; @%p1 bra A; barrier.sync 1; ret; A: barrier.sync 0;",
         "others never reach"},
        {"bar.sync 16;", "16 barriers"},
        {"bar.sync 0, 33;", "whole warps"},
        {"setp.lt.u32 %p1, %r1, 32; @%p1 bra A; bar.sync 1, 96; ret; A: bar.sync 1;",
         "different counts"},
    };
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
        char text[2000];
        run r;
        gpu_insert(text, sizeof text, HEAD KERNEL("$\n"), wrongs[i].body);
        start(&r, text);
        int code = gpu_run(&r.g, "k", (shape){1, 64, 0, i, 100000}, &r.out);
        if (code != 719 || !strstr(r.g.fault.text, wrongs[i].text))
            fail_msg("%s: %d %s", wrongs[i].body, code, r.g.fault.text);
        gpu_close(&r.g);
    }
    /* Not aligned, a barrier may be come to in pieces. */
    run r;
    start(&r,
          HEAD KERNEL(
              "setp.lt.u32 %p1, %r1, 5; @%p1 bra A; barrier.sync 0; ret; A: barrier.sync 0;\n"));
    gpu_run_well(&r.g, "k", (shape){1, 64, 0, 1, 0}, &r.out);
    gpu_close(&r.g);
}

/* ---- Locks ---- */

#define LOCKED(take) \
    HEAD ".shared .b32 lock;\n.shared .b32 count;\n" KERNEL( \
        "setp.ne.u32 %p1, %r1, 0; @%p1 bra READY; st.shared.b32 [lock], 0; st.shared.b32 " \
        "[count], 0;\n" \
        "READY: bar.sync 0;\n" take \
        "ld.shared.b32 %r3, [count]; add.u32 %r3, %r3, 1; st.shared.b32 [count], %r3;\n" \
        "membar.cta; atom.shared.exch.b32 %r2, [lock], 0;\n" \
        "bar.sync 0; ld.shared.b32 %r4, [count]; st.global.u32 [%d2], %r4;\n")

/* Between lanes of a warp and between warps; spinning by updates and by volatile loads. */
static void locks(void **state)
{
    (void)state;
    static const char *const texts[] = {
        LOCKED("SPIN: atom.shared.cas.b32 %r2, [lock], 0, 1; setp.ne.u32 %p2, %r2, 0; @%p2 bra "
               "SPIN;\n"),
        LOCKED("SPIN: ld.volatile.shared.b32 %r2, [lock]; setp.ne.u32 %p2, %r2, 0; @%p2 bra SPIN;\n"
               "atom.shared.exch.b32 %r2, [lock], 1; setp.ne.u32 %p2, %r2, 0; @%p2 bra SPIN;\n"),
        LOCKED("bra TRY; SLEEP: nanosleep.u32 20;\nTRY: atom.shared.cas.b32 %r2, [lock], 0, 1; "
               "setp.ne.u32 %p2, %r2, 0; "
               "@%p2 bra SLEEP;\n"),
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        run r;
        start(&r, texts[i]);
        for (uint64_t seed = 0; seed < 3; seed++) {
            gpu_run_well(&r.g, "k", (shape){1, 80, 0, seed, 0}, &r.out);
            for (int t = 0; t < 80; t++)
                assert_int_equal(r.words[t], 80);
        }
        gpu_close(&r.g);
    }
}

/* Blocks that wait for the block which drew the ticket before theirs. */
static void blocks_that_wait(void **state)
{
    (void)state;
    run r;
    start(&r, HEAD KERNEL("setp.ne.u32 %p1, %r1, 0; @%p1 ret; atom.global.add.u32 %r2, [%d1], 1;\n"
                          "WAIT: ld.acquire.gpu.global.u32 %r3, [%d1+4]; setp.ne.u32 %p2, %r3, "
                          "%r2; @%p2 bra WAIT;\n"
                          "mul.wide.u32 %d3, %r2, 8; add.u64 %d3, %d3, %d1; mov.u32 %r4, %ctaid.x; "
                          "st.global.u32 [%d3+8], %r4; add.u32 %r3, %r3, 1; "
                          "st.release.gpu.global.u32 [%d1+4], %r3;\n"));
    for (uint64_t seed = 0; seed < 8; seed++) {
        bool seen[100] = {0};
        r.words[0] = 0;
        gpu_run_well(&r.g, "k", (shape){100, 33, 0, seed, 0}, &r.out);
        assert_true(r.words[0] == (100ull << 32 | 100));
        for (int b = 0; b < 100; b++) {
            assert_true(r.words[b + 1] < 100 && !seen[r.words[b + 1]]);
            seen[r.words[b + 1]] = true;
        }
    }
    gpu_close(&r.g);
}

/* ---- The grid ---- */

static void grids(void **state)
{
    (void)state;
    gpu g;
    gpu_open(&g,
             HEAD ".visible .entry k(.param .u64 out)\n.reqntid 4, 3, 5\n"
                  "{ .reg .b32 %r<30>; .reg .b64 %d<9>; ld.param.u64 %d1, [out];\n"
                  "mov.u32 %r1, %ctaid.z; mov.u32 %r2, %nctaid.y; mov.u32 %r3, %ctaid.y; "
                  "mad.lo.u32 %r1, %r1, %r2, %r3;\n"
                  "mov.u32 %r2, %nctaid.x; mov.u32 %r3, %ctaid.x; mad.lo.u32 %r1, %r1, %r2, %r3;\n"
                  "mov.u32 %r2, %ntid.z; mov.u32 %r3, %tid.z; mad.lo.u32 %r1, %r1, %r2, %r3;\n"
                  "mov.u32 %r2, %ntid.y; mov.u32 %r3, %tid.y; mad.lo.u32 %r1, %r1, %r2, %r3;\n"
                  "mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r1, %r1, %r2, %r3;\n"
                  "mul.wide.u32 %d2, %r1, 4; add.u64 %d2, %d2, %d1; mov.u32 %r4, %laneid; mov.u32 "
                  "%r5, %warpid;\n"
                  "mov.u32 %r6, %lanemask_lt; popc.b32 %r7, %r6; sub.u32 %r7, %r7, %r4; mov.u32 "
                  "%r8, %nwarpid;\n"
                  "mad.lo.u32 %r4, %r5, WARP_SZ, %r4; mad.lo.u32 %r4, %r7, 1000, %r4; mad.lo.u32 "
                  "%r4, %r8, 256, %r4;\n"
                  "atom.global.add.u32 %r9, [%d2], %r4; ret; }\n");
    uint64_t out = gpu_alloc(&g, 7 * 2 * 3 * 60 * 4);
    uint32_t *words = gpu_at(&g, out);
    ptx_launch launch = {.kernel = ptx_find_kernel(g.module, "k"),
                         .params = &out,
                         .grid = {7, 2, 3},
                         .block = {4, 3, 5}};
    for (launch.seed = 0; launch.seed < 5; launch.seed++)
        assert_int_equal(ptx_run(&launch, &g.fault), 0);
    for (uint32_t i = 0; i < 7 * 2 * 3 * 60; i++)
        assert_int_equal(words[i], 5 * (i % 60 + 512));
    gpu_close(&g);
}

/* Without a seed blocks come in the order of their numbers, with one in an order of its own. */
static void orders(void **state)
{
    (void)state;
    run r;
    uint64_t first[50];
    bool differs = false;
    start(&r, HEAD KERNEL("setp.ne.u32 %p1, %r1, 0; @%p1 ret; atom.global.add.u64 %d3, [%d1], 1; "
                          "shl.b64 %d3, %d3, 3;\n"
                          "add.u64 %d3, %d3, %d1; mov.u32 %r2, %ctaid.x; cvt.u64.u32 %d4, %r2; "
                          "st.global.u64 [%d3+8], %d4;\n"));
    for (int turn = 0; turn < 3; turn++) {
        r.words[0] = 0;
        gpu_run_well(&r.g, "k", (shape){50, 1, 0, turn == 0 ? 0 : 9, 0}, &r.out);
        for (int b = 0; b < 50; b++) {
            if (turn == 0)
                assert_true(r.words[b + 1] < (uint64_t)b + 8);
            else if (turn == 2)
                assert_true(r.words[b + 1] == first[b]);
            else
                differs |= r.words[b + 1] >= (uint64_t)b + 8;
            first[b] = r.words[b + 1];
        }
    }
    assert_true(differs);
    gpu_close(&r.g);
}

static void what_never_ends(void **state)
{
    (void)state;
    run r;
    start(&r, HEAD KERNEL("L: bra L;\n"));
    assert_int_equal(gpu_run(&r.g, "k", (shape){3, 64, 0, 1, 100000}, &r.out), 702);
    assert_non_null(strstr(r.g.fault.text, "no end after"));
    gpu_close(&r.g);
    start(&r, HEAD KERNEL("setp.eq.u32 %p1, %r1, 3; @%p1 bra END; L: ld.volatile.global.u32 %r2, "
                          "[%d1]; bra L;\nEND:\n"));
    assert_int_equal(gpu_run(&r.g, "k", (shape){1, 32, 0, 1, 100000}, &r.out), 702);
    gpu_close(&r.g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(barriers),
        cmocka_unit_test(barriers_count_who_left),
        cmocka_unit_test(barriers_that_reduce),
        cmocka_unit_test(barriers_with_counts),
        cmocka_unit_test(copies_arrive_late),
        cmocka_unit_test(wrong_copies),
        cmocka_unit_test(wrong_barriers),
        cmocka_unit_test(locks),
        cmocka_unit_test(blocks_that_wait),
        cmocka_unit_test(grids),
        cmocka_unit_test(orders),
        cmocka_unit_test(what_never_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
