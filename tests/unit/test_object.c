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

/* Constants, a call of a function of the host's (the oldest CPU has no fma), several sections. */
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
    kj_compile_options options = {.opt_level = 3, .cpu = "x86-64"};
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
    if (kj_object_open(&object, bytes, size, &image, &why) != KJIT_OK) {
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
    assert_int_equal(kj_object_open(&object, c->code.bytes, c->code.size, &image, &why), KJIT_OK);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(it_is_laid_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_length, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_byte, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
