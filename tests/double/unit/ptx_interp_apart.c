/* The PTX interpreter where lanes that went apart stay so: what only lockstep makes right goes wrong
 * with some seed, what is synchronised is right with all, and who waits in vain is told. */
#include "ptx_interp.h"

enum { SEEDS = 40 };

#define SHARED HEAD ".shared .b32 s[64];\n"

/* With how many of the seeds the words are as wanted, after that many threads. */
static int count_right(const char *text, unsigned threads, int apart, uint64_t (*want)(uint64_t))
{
    int right = 0;
    run r;
    start(&r, text);
    r.g.apart = apart;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        memset(r.words, 0, WORDS * 8);
        gpu_run_well(&r.g, "k", (shape){1, threads, 0, seed, 20000000}, &r.out);
        bool all = true;
        for (uint64_t t = 0; t < threads; t++)
            all = all && r.words[t] == want(t);
        right += all;
    }
    gpu_close(&r.g);
    return right;
}

static uint64_t neighbour(uint64_t t)
{
    return t ^ 1;
}

/* Each lane leaves its number in %r2's place and takes its neighbour's. */
#define LEAVE \
    "mov.u32 %r3, s; mad.lo.u32 %r3, %r1, 4, %r3; xor.b32 %r4, %r3, 4; st.shared.u32 [%r3], " \
    "%r1;\n"
#define TAKE "ld.shared.u32 %r5, [%r4]; st.global.u32 [%d2], %r5;\n"
#define PART "and.b32 %r6, %r1, 1; setp.eq.u32 %p1, %r6, 0; @%p1 bra EVEN; mov.u32 %r7, 1;\nEVEN:\n"

static void what_lockstep_hides(void **state)
{
    (void)state;
    static const char missing[] = SHARED KERNEL(PART LEAVE TAKE),
                      there[] = SHARED KERNEL(PART LEAVE "bar.warp.sync -1;\n" TAKE),
                      straight[] = SHARED KERNEL(LEAVE TAKE),
                      straight_there[] = SHARED KERNEL(LEAVE "bar.warp.sync -1;\n" TAKE);
    assert_int_equal(count_right(missing, 32, 0, neighbour), SEEDS);
    assert_int_equal(count_right(straight, 32, 0, neighbour), SEEDS);
    assert_int_equal(count_right(straight, 32, 1, neighbour), SEEDS);
    for (int apart = 1; apart <= 2; apart++) {
        assert_in_range(count_right(missing, 32, apart, neighbour), 0, SEEDS / 2);
        assert_int_equal(count_right(there, 32, apart, neighbour), SEEDS);
        assert_int_equal(count_right(straight_there, 32, apart, neighbour), SEEDS);
    }
    assert_in_range(count_right(straight, 32, 2, neighbour), 0, SEEDS - 1);
}

static uint64_t parity(uint64_t t)
{
    return t % 2 ? 0xaaaaaaaau : 0x55555555u;
}

static uint64_t everybody(uint64_t t)
{
    (void)t;
    return 0xffffffffu;
}

/* Who went apart is not together again behind the branch; but behind a synchronisation. */
static void active_lanes(void **state)
{
    (void)state;
    static const char after[] = HEAD KERNEL(PART "activemask.b32 %r5; st.global.u32 [%d2], %r5;\n"),
                      met[] = HEAD KERNEL(
                          PART "bar.warp.sync -1; activemask.b32 %r5; st.global.u32 [%d2], %r5;\n");
    assert_int_equal(count_right(after, 32, 0, everybody), SEEDS);
    assert_int_equal(count_right(after, 32, 1, parity), SEEDS);
    assert_int_equal(count_right(met, 32, 1, everybody), SEEDS);
}

/* Lanes leave a loop one after the other, exchange, call, vote, meet at barriers of the block, exit. */
#define MIXED \
    SHARED \
    ".func (.param .b32 result) twice(.param .b32 n)\n" \
    "{ .reg .b32 %r<3>; ld.param.b32 %r1, [n]; add.u32 %r1, %r1, %r1; st.param.b32 [result], " \
    "%r1; " \
    "ret; }\n" KERNEL( \
        "and.b32 %r9, %r1, 31; mov.u32 %r2, 0;\n" \
        "LOOP: add.u32 %r2, %r2, 1; setp.le.u32 %p1, %r2, %r9; @%p1 bra LOOP;\n" \
        "shfl.sync.bfly.b32 %r3, %r2, 31, 31, -1;\n" \
        "{ .param .b32 a; .param .b32 c; st.param.b32 [a], %r3; call (c), twice, (a); " \
        "ld.param.b32 %r3, [c]; }\n" \
        "setp.gt.u32 %p2, %r9, 7; vote.sync.ballot.b32 %r4, %p2, -1; @%p2 bra HIGH;\n" \
        "redux.sync.add.u32 %r5, %r9, 0xff; bra NEXT;\n" \
        "HIGH: redux.sync.add.u32 %r5, %r9, %r4;\n" \
        "NEXT: mov.u32 %r6, s; mad.lo.u32 %r6, %r1, 4, %r6; st.shared.u32 [%r6], %r5; bar.sync " \
        "0;\n" \
        "setp.gt.u32 %p3, %r9, 29; @%p3 bra END; ld.shared.u32 %r7, [%r6+4]; barrier.sync 0;\n" \
        "bar.warp.sync -1; mad.lo.u32 %r3, %r3, 1000, %r7; st.global.u32 [%d2], %r3;\nEND:\n")

static uint64_t mixed(uint64_t t)
{
    uint64_t lane = t % 32, after = lane + 1;
    return lane > 29 ? 0 : 2 * (32 - lane) * 1000 + (after > 7 ? 496 - 28 : 28);
}

static void what_is_synchronised(void **state)
{
    (void)state;
    for (int apart = 0; apart <= 2; apart++)
        assert_int_equal(count_right(MIXED, 64, apart, mixed), SEEDS);
}

/* A lock that each lane takes in its turn: whoever holds it gets to run. */
static uint64_t sixty_four(uint64_t t)
{
    return t ? 0 : 64;
}

static void locks_go_on(void **state)
{
    (void)state;
    static const char lock[] = HEAD ".global .b32 lock;\n" KERNEL(
        "SPIN: atom.global.cas.b32 %r2, [lock], 0, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra SPIN;\n"
        "ld.global.u64 %d3, [%d1]; add.u64 %d3, %d3, 1; st.global.u64 [%d1], %d3;\n"
        "atom.global.exch.b32 %r2, [lock], 0;\n");
    for (int apart = 1; apart <= 2; apart++)
        assert_int_equal(count_right(lock, 64, apart, sixty_four), SEEDS);
}

static void who_waits_in_vain(void **state)
{
    (void)state;
    static const struct {
        const char *body, *first, *second;
    } wrongs[] = {
        /* another operation; another mask; nobody comes; the others wait at a barrier */
        {"@%p1 bra A; vote.sync.ballot.b32 %r2, %p1, -1; ret;\nA: bar.warp.sync -1;", "PTX line ",
         "mask 0xffffffff"},
        {"selp.b32 %r3, 0xffff, -1, %p1; bar.warp.sync %r3;", "mask 0xffffffff", "mask 0x0000ffff"},
        {"@%p1 bra A; bar.warp.sync -1; ret;\nA: bra A;", "no end after", ""},
        {"@%p1 bra A; bar.warp.sync -1; ret;\nA: bar.sync 0;", " at PTX line ", "lanes 0x"},
        {"@%p1 bra A; bar.warp.sync -1; bar.sync 0; ret;\nA: barrier.sync 0; bar.warp.sync -1;",
         "lanes 0x", " at PTX line "},
    };
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
        char text[2000];
        run r;
        gpu_insert(text, sizeof text, HEAD KERNEL("setp.lt.u32 %p1, %r1, 8; $\n"), wrongs[i].body);
        start(&r, text);
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            r.g.apart = (int)seed % 3;
            int code = gpu_run(&r.g, "k", (shape){1, 32, 0, seed, 3000}, &r.out);
            bool told =
                strstr(r.g.fault.text, wrongs[i].first) && strstr(r.g.fault.text, wrongs[i].second);
            if ((code != 719 && code != 702) || !told)
                fail_msg("%s: %d %s", wrongs[i].body, code, r.g.fault.text);
        }
        gpu_close(&r.g);
    }
}

/* Operations of a warp without .sync are of chips before Volta. */
static void legacy_is_refused(void **state)
{
    (void)state;
    static const char *const bodies[] = {"shfl.bfly.b32 %r2, %r1, 1, 31;\n",
                                         "vote.ballot.b32 %r2, %p1;\n"};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        char text[2000];
        gpu g;
        gpu_insert(text, sizeof text, HEAD KERNEL("$\n"), bodies[i]);
        gpu_load(&g, text, 90, 84);
        assert_int_equal(g.code, 218);
        assert_non_null(strstr(g.log, "is not known to the double"));
        gpu_close(&g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_lockstep_hides),  cmocka_unit_test(active_lanes),
        cmocka_unit_test(what_is_synchronised), cmocka_unit_test(locks_go_on),
        cmocka_unit_test(who_waits_in_vain),    cmocka_unit_test(legacy_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
