/* Hostile sources: whatever the bytes, the parser ends with a tree or with located errors, soon
 * and in bounded memory. */
#include "parsed.h"

#include <stdlib.h>
#include <time.h>

#if defined(__SANITIZE_ADDRESS__)
enum { MANY = 20000, MS = 1000 };
#else
enum { MANY = 400000, MS = 500 };
#endif

/* Every message has words and a place in the source, and can be shown. */
static void assert_located(const parsed *p)
{
    assert_int_equal(p->diag.errors > 0, p->diag.first != NULL);
    for (const kj_message *m = p->diag.first; m; m = m->next) {
        assert_true(m->text[0] != '\0');
        assert_true(m->span.begin <= m->span.end && m->span.end <= p->source.size);
        assert_true(!m->note ||
                    (m->note_span.begin < m->note_span.end && m->note_span.end <= p->source.size));
    }
    assert_non_null(kj_diag_text(&p->diag));
    assert_non_null(kj_diag_json(&p->diag));
}

/* `before`, then `n` times `part`, then `after`; returns the number of errors. */
static int errors_of(const char *before, const char *part, size_t n, const char *after)
{
    size_t len = strlen(part), size = strlen(before) + n * len + strlen(after);
    char *text = malloc(size + 1), *end = stpcpy(text, before);
    assert_non_null(text);
    for (size_t i = 0; i < n; i++, end += len)
        memcpy(end, part, len);
    strcpy(end, after);
    parsed p;
    parse_bytes(&p, text, size);
    assert_located(&p);
    int errors = p.diag.errors;
    close_text(&p);
    free(text);
    return errors;
}

static void very_many_of(void **state)
{
    (void)state;
    static const struct {
        const char *before, *part, *after;
        bool good;
    } cases[] = {
        {"const X = ", "(", "1", false},
        {"const X = ", "-", "1", false},
        {"const X = ", "not ", "x", false},
        {"const X = 1", "+1", "", false},
        {"const X = 1", "**1", "", false},
        {"const X = ", "1 if x else ", "1", false},
        {"const X = x", " and x", "", false},
        {"const X = x", "<x", "", true},
        {"const X = x", "()", "", false},
        {"const X = x", "[0]", "", false},
        {"const X = x", ".x", "", false},
        {"const X = [", "1,", "]", true},
        {"const X = ", "[", "", false},
        {"const X: f32[", ",", "] = 1", false},
        {"run ", "{", "", false},
        {"run ", "if x {", "", false},
        {"run { if x { }", " elif x { }", " }", false},
        {"run { if x { }", " else if x { }", " }", false},
        {"run { ", "x = 1;", "}", true},
        {"run { ", ";", "}", true},
        {"", "}", "", false},
        {"", ")", "", false},
        {"", "@", "", false},
        {"", "kernel k() {", "", false},
        {"", "x = = 1\n", "", false},
        {"run {\n", "x = = 1\n", "}", false},
        {"run {\n", "x = (1 1\n", "}", false},
        {"const X = ", "\xff", "", false},
        {"const X = ", "\xff x ", "", false},
        {"const X = ", "1", "", false},
        {"const X = ", "1_", "", false},
        {"const ", "x", " = 1", true},
        {"const X = \"", "a", "\"", true},
        {"const X = \"", "a", "", false},
        {"const X = \"", "\\", "", false},
        {"#", "#", "", true},
        {"", "\n", "", true},
        {"", "\r", "", false},
        {"", "\r", "\n", true},
        {"", "\r\n", "", true},
        {"", "\n\r", "", false},
        {"run { x = (", "\n#\n", "1) }", true},
        {"fn f<T", ",T", ">() { }", false},
        {"fn f(x: i32", ",x: i32", ") { }", true},
        {"fn f() -> ", "(", "", false},
        {"fn f() -> (i32", ",i32", ") { }", true},
        {"", "@a ", "fn f() { }", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(errors_of(cases[i].before, cases[i].part, MANY, cases[i].after) == 0,
                         cases[i].good);
}

/* The biggest source there may be asks for more memory than a tree may take. */
static void the_biggest_list(void **state)
{
    (void)state;
    if (MANY > 20000)
        assert_int_equal(errors_of("const X = [", "1,", 20 * (size_t)MANY, "]"), 1);
}

static void nul_bytes(void **state)
{
    (void)state;
    static const char text[] = "run {\n    x = \0 1\n}\n";
    parsed p;
    parse_bytes(&p, text, sizeof text - 1);
    assert_located(&p);
    assert_int_equal(p.diag.errors, 1);
    assert_int_equal(p.diag.first->span.begin, 14);
    close_text(&p);
}

static void every_byte_alone(void **state)
{
    (void)state;
    for (int c = 0; c < 256; c++) {
        char text[] = {'c', 'o', 'n', 's', 't', ' ', 'A', '=', (char)c, '\n', (char)c, '\0'};
        parsed p;
        parse_bytes(&p, text, sizeof text - 1);
        assert_located(&p);
        close_text(&p);
    }
}

/* ---- Mutations ---- */

static const char *const samples[] = {
    "# heat\nconst ALPHA: f32 = 0.1\nconst W: f32[,] = [[1, 2], [3, 4]]\n\n"
    "fn laplacian(t: f32[,], y: i64, x: i64) -> f32 {\n"
    "    return t[y-1, x] + t[y+1, x] + t[y, x-1] + t[y, x+1] - 4.0 * t[y, x]\n}\n\n"
    "@launch_bounds(256)\nkernel step(src: f32[,], dst: f32[,], const T: i32 = 16) {\n"
    "    requires src.shape == dst.shape\n    let x, y = grid(2)\n"
    "    let tile = shared.array((T + 2, T + 2), f32)\n    syncthreads()\n"
    "    if y < dst.shape[0] and x < dst.shape[1] {\n"
    "        dst[y, x] = tile[ly, lx] + ALPHA * laplacian(tile, ly, lx)\n    }\n}\n",
    "kernel axpy<T: float>(a: T, x: T[], y: T[]) {\n    let i = grid(1)\n    if i < x.size { y[i] "
    "+= a * x[i] }\n"
    "    elif not (i == 0 or i > 0x10) { return } else { atomic.add(y, i, 1.5e3) }\n"
    "    @unroll\n    for j in range(0, 16, 2) { continue }\n    while i != 0 { break }\n}\n",
    "run {\n    param n = 4096    # how many\n    param u = random.uniform((n, n), f32, seed=1)\n"
    "    let a = to_device(u)\n    step[(ceil_div(n, 16), 1), (16, 16)](a, b, T=32); swap(a, b)\n"
    "    print(a[0, :8], \"tab\\t\\\"quoted\\\"\", a[::2], (), (1,), 1 if n > 2 else -3 ** 2)\n"
    "    assert_close(a, 0 <= n < 3, rtol=1e-5)\n    a, b = b, a\n}\n",
    "run {\n    let x, name = 1, \"a\"\n    print(f\"{{x}} {x:5} {x + 1 = :>3} "
    "{f\"{name:*^9}\"}\")\n"
    "    for i in range(3) { print(f\"frame{i:03d}\\t\", end=\"\\r\") }\n"
    "    let y = [f\"\", F\"{(x, [x])[0]:.2f}{x if x > 0 else 2}\"]\n}\n",
};

/* xorshift64*, so that a failure can be repeated from its round's number. */
static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed >> 12;
    *seed ^= *seed << 25;
    *seed ^= *seed >> 27;
    return *seed * 2685821657736338717u;
}

static size_t below(uint64_t *seed, size_t n)
{
    return n ? (size_t)(next_random(seed) % n) : 0;
}

enum { ROOM = 4096 };

/* Replaces a byte, inserts a token, deletes or repeats a stretch. */
static size_t mutate(char *text, size_t size, uint64_t *seed)
{
    static const char *const tokens[] = {
        "(",      ")",    "[", "]",  "{",    "}",   "\n",      "\"",           "'",
        "else",   "if ",  ",", ":",  "=",    "fn ", "kernel ", "let ",         "\n{",
        "\nelse", ";",    "@", "0x", "1e",   "\\",  "\xc3",    "\xe2\x82\xac", "**",
        "f\"",    "not ", "#", "\t", "run ", ".",   "->",      "const "};
    size_t at = below(seed, size + 1), len = below(seed, 20);
    if (len > size - at)
        len = size - at;
    switch (below(seed, 4)) {
    case 0:
        if (at < size)
            text[at] = (char)below(seed, 256);
        return size;
    case 1: {
        const char *token = tokens[below(seed, sizeof tokens / sizeof *tokens)];
        len = strlen(token);
        memmove(text + at + len, text + at, size - at);
        memcpy(text + at, token, len);
        return size + len;
    }
    case 2: memmove(text + at, text + at + len, size - at - len); return size - len;
    default: memmove(text + at + len, text + at, size - at); return size + len;
    }
}

static void mutated_samples(void **state)
{
    (void)state;
    clock_t until = clock() + (clock_t)MS * CLOCKS_PER_SEC / 1000;
    for (uint64_t round = 1; round <= 30000 && (round % 64 != 0 || clock() < until); round++) {
        uint64_t seed = round * 0x9e3779b97f4a7c15u;
        char text[ROOM];
        size_t size = strlen(strcpy(text, samples[round % 4]));
        for (size_t n = below(&seed, 8) + 1; n > 0; n--)
            size = mutate(text, size, &seed);
        assert_true(size < ROOM);
        text[size] = '\0';
        parsed p;
        parse_bytes(&p, text, size);
        assert_located(&p);
        assert_non_null(kj_ast_dump(&p.arena, p.file));
        close_text(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(very_many_of),    cmocka_unit_test(the_biggest_list),
        cmocka_unit_test(nul_bytes),       cmocka_unit_test(every_byte_alone),
        cmocka_unit_test(mutated_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
