/* The PTX interpreter: lanes that part and meet, calls, values exchanged in a warp. */
#include "ptx_interp.h"

/* ---- Parting and meeting ---- */

static void branches(void **state)
{
    (void)state;
    run r;
    run_it(&r,
           HEAD KERNEL("and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0; @%p1 bra EVEN;\n"
                       "activemask.b32 %r3; mov.u32 %r4, 1; bra.uni MEET;\n"
                       "EVEN: activemask.b32 %r3; mov.u32 %r4, 2; @!%p1 mov.u32 %r4, 3;\n"
                       "MEET: activemask.b32 %r5; xor.b32 %r5, %r5, %r3; st.global.v2.u32 [%d2], "
                       "{%r4, %r5};\n"),
           32);
    for (uint64_t i = 0; i < 32; i++) /* all meet again: what was not active before is the others */
        assert_true(r.words[i] == (i % 2 ? 0x5555555500000001u : 0xaaaaaaaa00000002u));
    gpu_close(&r.g);
}

/* Thread t turns t times, and on every third turn once more inside. */
static void loops(void **state)
{
    (void)state;
    run r;
    run_it(&r,
           HEAD KERNEL("mov.u32 %r2, 0; mov.u32 %r3, 0; setp.eq.u32 %p1, %r1, 0; @%p1 bra DONE;\n"
                       "LOOP: rem.u32 %r4, %r2, 3; setp.ne.u32 %p2, %r4, 0; @%p2 bra NEXT;\n"
                       "mov.u32 %r5, 0;\nINNER: add.u32 %r3, %r3, 100; add.u32 %r5, %r5, 1; "
                       "setp.lt.u32 %p3, %r5, %r2;\n"
                       "@%p3 bra INNER;\n"
                       "NEXT: add.u32 %r3, %r3, 1; add.u32 %r2, %r2, 1; setp.lt.u32 %p4, %r2, %r1; "
                       "@%p4 bra LOOP;\n"
                       "DONE: activemask.b32 %r6; st.global.v2.u32 [%d2], {%r3, %r6};\n"),
           70);
    for (uint32_t t = 0; t < 70; t++) {
        uint32_t want = 0;
        for (uint32_t i = 0; i < t; i++)
            want += 1 + (i % 3 == 0 ? 100 * (i ? i : 1) : 0);
        assert_int_equal((uint32_t)r.words[t], want);
        assert_int_equal(r.words[t] >> 32, t < 64 ? 0xffffffff : 0x3f);
    }
    gpu_close(&r.g);
}

static void branch_tables(void **state)
{
    (void)state;
    run r;
    run_it(&r,
           HEAD KERNEL(
               "T: .branchtargets A, B, C;\nmov.u32 %r3, 9; and.b32 %r2, %r1, 3; setp.lt.u32 %p1, "
               "%r2, 3;\n"
               "@%p1 brx.idx %r2, T; bra END;\nA: mov.u32 %r3, 10; bra END;\nB: mov.u32 %r3, 11;\n"
               "C: add.u32 %r3, %r3, 1;\nEND: activemask.b32 %r4; st.global.v2.u32 [%d2], {%r3, "
               "%r4};\n"),
           32);
    for (int t = 0; t < 32; t++)
        assert_true(r.words[t] ==
                    (0xffffffff00000000u | (uint64_t)((int[]){10, 12, 10, 9}[t % 4])));
    gpu_close(&r.g);
    start(&r, HEAD KERNEL("T: .branchtargets A;\nbrx.idx %r1, T;\nA: exit;\n"));
    assert_int_equal(gpu_run(&r.g, "k", (shape){1, 2, 0, 0, 0}, &r.out), 719);
    gpu_close(&r.g);
}

static void endings(void **state)
{
    (void)state;
    run r;
    run_it(&r,
           HEAD KERNEL("setp.gt.u32 %p1, %r1, 9; @%p1 exit; activemask.b32 %r2; setp.lt.u32 %p2, "
                       "%r1, 3; @%p2 ret;\n"
                       "activemask.b32 %r3; st.global.v2.u32 [%d2], {%r2, %r3};\n"),
           64);
    for (int t = 0; t < 64; t++)
        assert_true(r.words[t] == (t < 3 || t > 9 ? 0 : 0x3f8000003ffu));
    gpu_close(&r.g);
}

/* ---- Calls ---- */

#define FUNCTIONS \
    ".func (.param .b32 result) add3(.param .b32 a, .param .align 8 .b8 pair[16])\n" \
    "{ .reg .b32 %r<5>; .reg .b64 %d<3>; ld.param.b32 %r1, [a]; ld.param.b64 %d1, [pair+8]; " \
    "cvt.u32.u64 %r2, %d1;\n" \
    "ld.param.b32 %r3, [pair]; add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3; st.param.b32 " \
    "[result], %r1; ret; }\n" \
    ".func (.param .b32 result) fib(.param .b32 n)\n" \
    "{ .reg .b32 %r<5>; .reg .pred %p<2>; .local .b32 kept;\n" \
    "ld.param.b32 %r1, [n]; st.local.b32 [kept], %r1; st.param.b32 [result], %r1; setp.lt.u32 " \
    "%p1, %r1, 2; @%p1 ret;\n" \
    "{ .param .b32 p; .param .b32 q; sub.u32 %r2, %r1, 1; st.param.b32 [p], %r2; call.uni (q), " \
    "fib, (p);\n" \
    "ld.param.b32 %r3, [q]; }\n" \
    "ld.local.b32 %r1, [kept]; sub.u32 %r2, %r1, 2;\n" \
    "{ .param .b32 p; .param .b32 q; st.param.b32 [p], %r2; call (q), fib, (p); ld.param.b32 " \
    "%r4, [q]; }\n" \
    "add.u32 %r3, %r3, %r4; st.param.b32 [result], %r3; ret; }\n" \
    ".func (.param .b32 result) twice(.param .b32 n)\n" \
    "{ .reg .b32 %r<3>; ld.param.b32 %r1, [n]; add.u32 %r1, %r1, %r1; st.param.b32 [result], " \
    "%r1; }\n" \
    ".func forever() { call forever; ret; }\n"

static void calls(void **state)
{
    (void)state;
    run r;
    run_it(&r,
           HEAD FUNCTIONS KERNEL("setp.gt.u32 %p1, %r1, 19; mov.u32 %r3, 7;\n"
                                 "{ .param .b32 a; .param .align 16 .b8 b[16]; .param .b32 c; "
                                 "st.param.b32 [a], %r1; st.param.v2.b64 [b], "
                                 "{%d2, %d1};\nst.param.b32 [b], 1000; st.param.b64 [b+8], 10; "
                                 "@!%p1 call (c), add3, (a, b); "
                                 "@!%p1 ld.param.b32 %r3, [c]; }\n"
                                 "and.b32 %r4, %r1, 7; { .param .b32 a; .param .b32 c; "
                                 "st.param.b32 [a], %r4; call (c), fib, (a); "
                                 "ld.param.b32 %r5, [c]; }\n"
                                 "activemask.b32 %r6; not.b32 %r6, %r6; add.u32 %r5, %r5, %r6; "
                                 "st.global.v2.u32 [%d2], {%r3, %r5};\n"),
           32);
    for (int t = 0; t < 32; t++) {
        uint64_t fib = (uint64_t)((int[]){0, 1, 1, 2, 3, 5, 8, 13}[t % 8]);
        assert_true(r.words[t] == (fib << 32 | (uint64_t)(t < 20 ? t + 1010 : 7)));
    }
    gpu_close(&r.g);
}

static void calls_by_address(void **state)
{
    (void)state;
    run r;
    static const char text[] =
        HEAD FUNCTIONS KERNEL("shape: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
                              "and.b32 %r4, %r1, 7; setp.lt.u32 %p1, %r1, 16; mov.u64 %d3, twice; "
                              "mov.u64 %d4, fib; selp.b64 %d5, %d3, %d4, %p1;\n"
                              "setp.eq.u32 %p2, %r1, 63; @%p2 mov.u64 %d5, 12;\n"
                              "{ .param .b32 a; .param .b32 c; st.param.b32 [a], %r4; call (c), "
                              "%d5, (a), shape; ld.param.b32 %r5, [c]; }\n"
                              "st.global.u32 [%d2], %r5;\n");
    run_it(&r, text, 32);
    for (int t = 0; t < 32; t++)
        assert_int_equal(r.words[t],
                         t < 16 ? 2 * (t % 8) : ((int[]){0, 1, 1, 2, 3, 5, 8, 13}[t % 8]));
    assert_int_equal(gpu_run(&r.g, "k", (shape){1, 64, 0, 0, 0}, &r.out), 719);
    assert_int_equal(r.g.fault.thread[0], 63);
    gpu_close(&r.g);
    start(&r, HEAD FUNCTIONS KERNEL("call forever;\n"));
    assert_int_equal(gpu_run(&r.g, "k", (shape){1, 1, 0, 0, 0}, &r.out), 700);
    assert_non_null(strstr(r.g.fault.text, "calls too deep"));
    gpu_close(&r.g);
}

/* ---- Exchanges ---- */

/* The result in %r2, and perhaps a predicate in %p1; the lane is %r1. */
typedef struct exchange {
    const char *text;
    uint32_t (*value)(uint32_t lane);
    uint32_t predicate; /* a bit a lane */
} exchange;

#define VALUE(name, expr) \
    static uint32_t name(uint32_t l) \
    { \
        (void)l; \
        return expr; \
    }
VALUE(down3, l + 3 < 32 ? l + 3 : l)
VALUE(up2, l >= 2 ? l - 2 : l)
VALUE(xor5, l ^ 5)
VALUE(from7, 7)
VALUE(from3_of_8, (l & 24) + 3)
VALUE(down1_of_4, (l & 3) == 3 ? l : l + 1)
VALUE(up1_of_8, (l & 7) == 0 ? l : l - 1)
VALUE(odd_lanes, 0xaaaaaaaau)
VALUE(none, 0)
VALUE(all, 0xffffffffu)
VALUE(same_mod_4, 0x11111111u << (l & 3))
VALUE(minus_31, 0xffffffe1u)
VALUE(thirty_one, 31)
VALUE(sum, 496)

static void exchanges(void **state)
{
    (void)state;
    static const exchange table[] = {
        {"shfl.sync.down.b32 %r2|%p1, %r1, 3, 31, -1", down3, 0x1fffffff},
        {"shfl.sync.up.b32 %r2|%p1, %r1, 2, 0, -1", up2, 0xfffffffc},
        {"shfl.sync.bfly.b32 %r2|%p1, %r1, 5, 31, -1", xor5, 0xffffffff},
        {"shfl.sync.idx.b32 %r2|%p1, %r1, 7, 31, -1", from7, 0xffffffff},
        {"shfl.sync.idx.b32 %r2|%p1, %r1, 3, 0x181f, -1", from3_of_8, 0xffffffff},
        {"shfl.sync.down.b32 %r2|%p1, %r1, 1, 0x1c1f, -1", down1_of_4, 0x77777777},
        {"shfl.sync.up.b32 %r2|%p1, %r1, 1, 0x1800, -1", up1_of_8, 0xfefefefe},
        {"and.b32 %r3, %r1, 1; setp.ne.u32 %p2, %r3, 0; vote.sync.ballot.b32 %r2, %p2, -1",
         odd_lanes, 0},
        {"setp.lt.u32 %p2, %r1, 99; mov.u32 %r2, 0; vote.sync.all.pred %p1, %p2, -1", none,
         0xffffffff},
        {"setp.lt.u32 %p2, %r1, 9; mov.u32 %r2, 0; vote.sync.all.pred %p1, %p2, -1", none, 0},
        {"setp.eq.u32 %p2, %r1, 9; mov.u32 %r2, 0; vote.sync.any.pred %p1, %p2, -1", none,
         0xffffffff},
        {"setp.eq.u32 %p2, %r1, 9; mov.u32 %r2, 0; vote.sync.uni.pred %p1, %p2, -1", none, 0},
        {"setp.eq.u32 %p2, %r1, 99; mov.u32 %r2, 0; vote.sync.uni.pred %p1, !%p2, -1", none,
         0xffffffff},
        {"and.b32 %r3, %r1, 3; match.any.sync.b32 %r2, %r3, -1", same_mod_4, 0},
        {"and.b32 %r3, %r1, 3; cvt.u64.u32 %d3, %r3; match.any.sync.b64 %r2, %d3, -1", same_mod_4,
         0},
        {"match.all.sync.b32 %r2|%p1, 5, -1", all, 0xffffffff},
        {"match.all.sync.b32 %r2|%p1, %r1, -1", none, 0},
        {"redux.sync.add.u32 %r2, %r1, -1", sum, 0},
        {"redux.sync.or.b32 %r2, %r1, -1", thirty_one, 0},
        {"neg.s32 %r3, %r1; redux.sync.min.s32 %r2, %r3, -1", minus_31, 0},
        {"redux.sync.max.u32 %r2, %r1, -1", thirty_one, 0},
        {"redux.sync.and.b32 %r2, %r1, -1", none, 0},
        {"redux.sync.xor.b32 %r2, %r1, -1", none, 0},
        {"elect.sync %r2|%p1, -1", none, 1},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char text[2000];
        run r;
        gpu_insert(text, sizeof text,
                   HEAD KERNEL("setp.ne.u32 %p1, 0, 0; $; selp.u32 %r4, 1, 0, %p1; "
                               "st.global.v2.u32 [%d2], {%r2, %r4};\n"),
                   table[i].text);
        run_it(&r, text, 32);
        for (uint32_t t = 0; t < 32; t++)
            if (r.words[t] != (table[i].value(t) | (uint64_t)(table[i].predicate >> t & 1) << 32))
                fail_msg("%s in lane %u: 0x%" PRIx64, table[i].text, t, r.words[t]);
        gpu_close(&r.g);
    }
}

/* The halves of a warp come to the same instruction one after the other, and wait there. */
static void exchanges_after_parting(void **state)
{
    (void)state;
    run r;
    run_it(
        &r,
        HEAD KERNEL(
            "mov.u32 %r3, 0; setp.lt.u32 %p1, %r1, 16; @%p1 bra LATE;\n"
            "SPIN: add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 50; @%p2 bra SPIN; bra MEET;\n"
            "AFTER: st.global.u32 [%d2], %r2; ret;\n"
            "LATE: mov.u32 %r3, 1000; bra MEET;\n"
            "MEET: add.u32 %r3, %r3, %r1; shfl.sync.bfly.b32 %r2, %r3, 16, 31, -1; bra AFTER;\n"),
        32);
    for (uint32_t t = 0; t < 32; t++)
        assert_int_equal(r.words[t], (t < 16 ? 50 : 1000) + (t ^ 16));
    gpu_close(&r.g);
    /* Each half on its own, in one instruction and in two. */
    run_it(&r,
           HEAD KERNEL(
               "setp.lt.u32 %p1, %r1, 16; selp.b32 %r4, 0xffff, 0xffff0000, %p1;\n"
               "redux.sync.add.u32 %r2, %r1, %r4; @%p1 bra LOW; redux.sync.max.u32 %r3, %r1, %r4; "
               "bra END;\n"
               "LOW: redux.sync.min.u32 %r3, %r1, %r4;\nEND: bar.warp.sync -1; activemask.b32 %r5; "
               "sub.u32 %r3, %r3, %r5; st.global.v2.u32 [%d2], {%r2, %r3};\n"),
           32);
    for (int t = 0; t < 32; t++)
        assert_true(r.words[t] == (t < 16 ? 0x100000078u : 0x2000000178u));
    gpu_close(&r.g);
}

static void wrong_masks(void **state)
{
    (void)state;
    run r;
    start(&r, HEAD KERNEL("shfl.sync.bfly.b32 %r2, %r1, 1, 31, 0xff;\n"));
    assert_int_equal(gpu_run(&r.g, "k", (shape){1, 32, 0, 0, 0}, &r.out), 719);
    assert_non_null(strstr(r.g.fault.text, "not in the mask"));
    assert_int_equal(r.g.fault.thread[0], 8);
    gpu_close(&r.g);
    start(&r,
          HEAD KERNEL(
              "setp.lt.u32 %p1, %r1, 9; @%p1 bra A; shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1; ret;\n"
              "A: shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;\n"));
    assert_int_equal(gpu_run(&r.g, "k", (shape){1, 32, 0, 0, 0}, &r.out), 719);
    assert_non_null(strstr(r.g.fault.text, "wait for them at PTX line"));
    gpu_close(&r.g);
    start(&r, HEAD KERNEL("setp.lt.u32 %p1, %r1, 9; @%p1 bra A; bar.warp.sync -1; ret;\n"
                          "A: mov.u32 %r2, 0;\n"));
    gpu_run_well(&r.g, "k", (shape){1, 32, 0, 0, 0}, &r.out);
    gpu_close(&r.g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(branches),      cmocka_unit_test(loops),
        cmocka_unit_test(branch_tables), cmocka_unit_test(endings),
        cmocka_unit_test(calls),         cmocka_unit_test(calls_by_address),
        cmocka_unit_test(exchanges),     cmocka_unit_test(exchanges_after_parting),
        cmocka_unit_test(wrong_masks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
