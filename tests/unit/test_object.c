/* Objects: one that is damaged is refused or makes an image, and nothing outside of it is read or
 * written. */
#include "parsed.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "compile.h"
#include "device/cpu/object.h"
#include "sema/program.h"

#if defined(__SANITIZE_ADDRESS__)
enum { STEP = 7 };
#else
enum { STEP = 1 };
#endif

enum { MOST = 1 << 20 };

typedef struct compiled {
    parsed p;
    kj_records *records;
    kj_code code;
    char *memory; /* MOST bytes, then none */
} compiled;

/* Constants, a call of a function of the host's (the oldest CPU of x86-64 has no fma), several sections. */
static const char source[] = "const W: f64[] = [0.5, 1.5, 2.5, 3.5]\n"
                             "kernel k(x: f64[]) {\n"
                             "    let i = grid(1)\n"
                             "    x[i] = fma(x[i], W[i % 4], 0.1)\n"
                             "}\n";

static int set_up(void **state)
{
    static const kj_layout layouts[] = {KJ_LAYOUT_C};
    compiled *c = calloc(1, sizeof *c);
    parse_text(&c->p, source);
    c->records = kj_records_new();
    const kj_program *program =
        kj_sema_program(&c->p.arena, &c->p.diag, &c->p.file, 1, c->records, false);
    kj_spec spec = {.block = {64, 1, 1}, .small = true, .layouts = layouts};
    kj_compile_options options = {.opt_level = 3, .cpu = OLDEST};
    assert_true(kj_compile(&c->p.arena, &c->p.diag, program, program->kernels, &spec, &options,
                           KJ_STAGE_OBJECT, &c->code));
    c->memory = mmap(NULL, MOST + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(c->memory != MAP_FAILED);
    assert_int_equal(mprotect(c->memory + MOST, 4096, PROT_NONE), 0);
    *state = c;
    return 0;
}

static int tear_down(void **state)
{
    compiled *c = *state;
    munmap(c->memory, MOST + 4096);
    kj_code_free(&c->code);
    close_text(&c->p);
    kj_records_free(c->records);
    free(c);
    return 0;
}

/* Returns whether an image came of it. */
static bool load(const compiled *c, const void *bytes, size_t size)
{
    kj_object object;
    kj_failure why;
    size_t image;
    if (kj_object_open(&object, kj_object_host, bytes, size, &image, &why) != KJIT_OK) {
        assert_int_equal(image, 0);
        return false;
    }
    if (image > MOST)
        return true;
    bool whole = kj_object_write(&object, c->memory + MOST - image, 0x10000, &why) == KJIT_OK;
    kj_object_symbol(&object, "k");
    return whole;
}

/* A copy that ends where memory does. */
static unsigned char *at_the_end(const kj_code *code, size_t size)
{
    size_t pages = (size + 4095) / 4096 * 4096;
    unsigned char *room =
        mmap(NULL, pages + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(room != MAP_FAILED);
    assert_int_equal(mprotect(room + pages, 4096, PROT_NONE), 0);
    unsigned char *copy = room + pages - size;
    memcpy(copy, code->bytes, size);
    return copy;
}

static void let_go(unsigned char *copy, size_t size)
{
    size_t pages = (size + 4095) / 4096 * 4096;
    munmap(copy + size - pages, pages + 4096);
}

static void it_is_laid_out(void **state)
{
    const compiled *c = *state;
    kj_object object;
    kj_failure why;
    size_t image;
    assert_int_equal(
        kj_object_open(&object, kj_object_host, c->code.bytes, c->code.size, &image, &why),
        KJIT_OK);
    assert_true(load(c, c->code.bytes, c->code.size));
    assert_true(kj_object_symbol(&object, c->code.entry) < image);
    assert_true(kj_object_symbol(&object, "fma") == UINT64_MAX);
    assert_true(kj_object_symbol(&object, "") == UINT64_MAX);
}

static void every_length(void **state)
{
    const compiled *c = *state;
    /* a multiple of 8: the system's memory, and LLVM's, begin so */
    for (size_t size = 0; size < c->code.size; size += 8) {
        unsigned char *copy = at_the_end(&c->code, size);
        assert_false(load(c, copy, size));
        let_go(copy, size);
    }
}

static void every_byte(void **state)
{
    const compiled *c = *state;
    static const unsigned char flips[] = {0xff, 0x80, 0x01};
    size_t size = c->code.size / 8 * 8;
    assert_int_equal(size, c->code.size);
    unsigned char *copy = at_the_end(&c->code, size);
    int refused = 0;
    for (size_t i = 0; i < size; i += STEP) {
        for (size_t k = 0; k < sizeof flips; k++) {
            copy[i] ^= flips[k];
            refused += !load(c, copy, size);
            copy[i] ^= flips[k];
        }
    }
    assert_true(refused > 100 / STEP); /* the header's bytes, at least */
    assert_true(load(c, copy, size));
    let_go(copy, size);
}

/* What instructions of aarch64 become, on whichever machine this runs: by the assembler's encoding of the same. */
static void fields_of_aarch64(void **state)
{
    enum { BASE = 0x50000, AT = 0x108 };
    static const struct {
        unsigned type;
        uint64_t to, address;
        uint32_t before, after; /* after: 0: refused */
    } cases[] = {
        {R_AARCH64_CALL26, AT + 8, 0, 0x94000000, 0x94000002}, /* bl +8 */
        {R_AARCH64_JUMP26, AT - 8, 0, 0x14000000, 0x17fffffe}, /* b -8 */
        {R_AARCH64_CALL26, AT + 6, 0, 0x94000000, 0},          /* half an instruction */
        {R_AARCH64_CALL26, AT + (1 << 27) - 4, 0, 0x94000000, 0x95ffffff},
        {R_AARCH64_CALL26, AT + (1 << 27), 0, 0x94000000, 0},         /* too far */
        {R_AARCH64_CONDBR19, AT + 12, 0, 0x54000001, 0x54000061},     /* b.ne +12 */
        {R_AARCH64_TSTBR14, AT - 4, 0, 0x36000000, 0x3607ffe0},       /* tbz w0, 0, -4 */
        {R_AARCH64_LD_PREL_LO19, AT + 8, 0, 0x58000010, 0x58000050},  /* ldr x16, +8 */
        {R_AARCH64_ADR_PREL_LO21, AT + 5, 0, 0x10000001, 0x30000021}, /* adr x1, +5 */
        {R_AARCH64_ADR_PREL_LO21, AT - 3, 0, 0x10000001, 0x30ffffe1}, /* adr x1, -3 */
        {R_AARCH64_ADR_PREL_PG_HI21, 0x1010, 0, 0x90000000,
         0xb0000000}, /* adrp x0, the next page */
        {R_AARCH64_ADR_PREL_PG_HI21, 0x5123, 0, 0x90000000, 0xb0000020},  /* five pages on */
        {R_AARCH64_ADD_ABS_LO12_NC, 0x1010, 0, 0x91000000, 0x91004000},   /* add x0, x0, 0x10 */
        {R_AARCH64_LDST8_ABS_LO12_NC, 0x1013, 0, 0x39400000, 0x39404c00}, /* ldrb w0, [x0, 0x13] */
        {R_AARCH64_LDST16_ABS_LO12_NC, 0x1012, 0, 0x79400000, 0x79402400},
        {R_AARCH64_LDST32_ABS_LO12_NC, 0x1014, 0, 0xb9400000, 0xb9401400},
        {R_AARCH64_LDST64_ABS_LO12_NC, 0x1018, 0, 0xf9400000, 0xf9400c00},
        {R_AARCH64_LDST64_ABS_LO12_NC, 0x1014, 0, 0xf9400000, 0},           /* between two words */
        {R_AARCH64_LDST128_ABS_LO12_NC, 0x1020, 0, 0x3dc00000, 0x3dc00800}, /* ldr q0, [x0, 0x20] */
        {R_AARCH64_ADR_GOT_PAGE, 0x40, 0x2048, 0x90000008, 0xd0000008},
        {R_AARCH64_LD64_GOT_LO12_NC, 0x40, 0x2048, 0xf9400108, 0xf9402508},
        {R_AARCH64_LD64_GOT_LO12_NC, 0x40, UINT64_MAX, 0xf9400108, 0}, /* of no function */
        {R_AARCH64_TLSLE_ADD_TPREL_HI12, 0x40, 0, 0x91000000, 0},      /* not one there is */
        {R_AARCH64_PREL32, AT - 1, 0, 7, 0xffffffff},
        {R_AARCH64_PREL32, AT + (UINT64_C(1) << 31), 0, 7, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned char image[AT + 4] = {0};
        memcpy(image + AT, &cases[i].before, 4);
        kj_reference r = {cases[i].type, AT, cases[i].to, 4, cases[i].address, BASE};
        uint32_t got = 0;
        if (kj_object_aarch64.refer(&r, image))
            memcpy(&got, image + AT, 4);
        if (got != cases[i].after)
            fail_msg("case %zu: %08x rather than %08x", i, got, cases[i].after);
        r.room = 3;
        assert_false(kj_object_aarch64.refer(&r, image));
    }
    uint64_t word = 0;
    kj_reference r = {R_AARCH64_ABS64, 0, 0x40, 8, UINT64_MAX, BASE};
    assert_true(kj_object_aarch64.refer(&r, (unsigned char *)&word));
    assert_int_equal(word, BASE + 0x40);
    r.room = 7;
    assert_false(kj_object_aarch64.refer(&r, (unsigned char *)&word));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(it_is_laid_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_length, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_byte, set_up, tear_down),
        cmocka_unit_test(fields_of_aarch64),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
