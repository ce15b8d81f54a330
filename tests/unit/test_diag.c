/* Diagnostics: how they are kept, and how they look as text and as JSON. */
#include "parsed.h"

static kj_span span(uint32_t begin, uint32_t end)
{
    return (kj_span){begin, end};
}

/* One error over [begin, end) of the text, as shown. */
static void check_shown(const char *text, size_t size, kj_span at, const char *shown)
{
    parsed p;
    open_text(&p, text, size);
    kj_error(&p.diag, at, KJ_RULE_SYNTAX, "wrong");
    assert_string_equal(kj_diag_text(&p.diag), shown);
    close_text(&p);
}

static void caret_and_range(void **state)
{
    (void)state;
    check_shown("let a = b\n", 10, span(8, 9),
                "t.knl:1:9: error: wrong\n"
                "    1 | let a = b\n"
                "      |         ^\n");
    check_shown("x\nlet abc = b", 13, span(6, 9),
                "t.knl:2:5: error: wrong\n"
                "    2 | let abc = b\n"
                "      |     ^~~\n");
}

static void range_ends_with_the_line(void **state)
{
    (void)state;
    check_shown("ab\ncd", 5, span(1, 5), "t.knl:1:2: error: wrong\n    1 | ab\n      |  ^\n");
    check_shown("ab\r\ncd", 6, span(1, 6), "t.knl:1:2: error: wrong\n    1 | ab\n      |  ^\n");
}

static void places_at_the_edges(void **state)
{
    (void)state;
    check_shown("", 0, span(0, 0), "t.knl:1:1: error: wrong\n    1 | \n      | ^\n");
    check_shown("ab\n", 3, span(3, 3), "t.knl:2:1: error: wrong\n    2 | \n      | ^\n");
    check_shown("ab\ncd", 5, span(2, 2), "t.knl:1:3: error: wrong\n    1 | ab\n      |   ^\n");
    check_shown("ab", 2, span(90, 99), "t.knl:1:3: error: wrong\n    1 | ab\n      |   ^\n");
}

static void tabs_stay_tabs(void **state)
{
    (void)state;
    check_shown("\ta\tb", 4, span(3, 4),
                "t.knl:1:4: error: wrong\n    1 | \ta\tb\n      | \t \t^\n");
}

static void characters_not_bytes(void **state)
{
    (void)state;
    check_shown("äöü b", 8, span(7, 8), "t.knl:1:5: error: wrong\n    1 | äöü b\n      |     ^\n");
    check_shown("äöü b", 8, span(0, 6), "t.knl:1:1: error: wrong\n    1 | äöü b\n      | ^~~\n");
    check_shown("日本 b", 8, span(7, 8),
                "t.knl:1:4: error: wrong\n    1 | 日本 b\n      |      ^\n");
    check_shown("日本 b", 8, span(0, 6), "t.knl:1:1: error: wrong\n    1 | 日本 b\n      | ^~~~\n");
}

static void bytes_that_are_not_text(void **state)
{
    (void)state;
    check_shown("a\xff\x1b[2J", 6, span(1, 2),
                "t.knl:1:2: error: wrong\n    1 | a\xef\xbf\xbd\xef\xbf\xbd[2J\n      |  ^\n");
    check_shown("a\0b", 3, span(2, 3),
                "t.knl:1:3: error: wrong\n    1 | a\xef\xbf\xbd"
                "b\n      |   ^\n");
}

static void long_lines_are_cut(void **state)
{
    (void)state;
    char text[1001] = {0};
    memset(text, 'x', 1000);
    text[500] = 'Y';
    parsed p;
    open_text(&p, text, 1000);
    kj_error(&p.diag, span(500, 501), KJ_RULE_SYNTAX, "wrong");
    const char *shown = kj_diag_text(&p.diag);
    assert_non_null(strstr(shown, "t.knl:1:501: error: wrong\n"));
    const char *line = strstr(shown, "1 | "), *caret = strchr(shown, '^');
    assert_non_null(line);
    assert_true(strlen(shown) < 320);
    assert_memory_equal(line + 4, "...xxx", 6);
    assert_non_null(strstr(line, "xxx...\n"));
    const char *below = strstr(line, "| ") + 2, *second = strstr(strchr(line, '\n'), "| ") + 2;
    assert_int_equal(strchr(line, 'Y') - below, caret - second);
    close_text(&p);
}

static void notes_and_hints(void **state)
{
    (void)state;
    parsed p;
    open_text(&p, "let a = 1\nlet a = 2\n", 20);
    kj_message *m =
        kj_error(&p.diag, span(14, 15), KJ_RULE_REDECLARED, "'%s' is declared twice", "a");
    kj_note(&p.diag, m, span(4, 5), "declared here");
    kj_hint(&p.diag, m, "use another name than '%c'", 'a');
    assert_string_equal(kj_diag_text(&p.diag), "t.knl:2:5: error: 'a' is declared twice\n"
                                               "    2 | let a = 2\n"
                                               "      |     ^\n"
                                               "hint: use another name than 'a'\n"
                                               "t.knl:1:5: note: declared here\n"
                                               "    1 | let a = 1\n"
                                               "      |     ^\n");
    assert_string_equal(
        kj_diag_json(&p.diag),
        "{\"file\":\"t.knl\",\"line\":2,\"column\":5,\"endLine\":2,\"endColumn\":6,\"severity\":"
        "\"error\","
        "\"code\":\"redeclared\",\"message\":\"'a' is declared twice\","
        "\"hint\":\"use another name than 'a'\",\"note\":{\"file\":\"t.knl\",\"line\":1,"
        "\"column\":5,\"endLine\":1,\"endColumn\":6,\"message\":\"declared here\"}}\n");
    close_text(&p);
}

static void in_the_order_of_places(void **state)
{
    (void)state;
    parsed p;
    open_text(&p, "abc", 3);
    kj_error(&p.diag, span(2, 3), KJ_RULE_SYNTAX, "third");
    kj_error(&p.diag, span(0, 1), KJ_RULE_SYNTAX, "first");
    kj_error(&p.diag, span(0, 2), KJ_RULE_SYNTAX, "second");
    kj_error(&p.diag, span(0, 1), KJ_RULE_SYNTAX, "first");
    assert_int_equal(p.diag.errors, 3);
    const char *shown = kj_diag_text(&p.diag);
    assert_true(strstr(shown, "first") < strstr(shown, "second"));
    assert_true(strstr(shown, "second") < strstr(shown, "third"));
    assert_null(strstr(strstr(shown, "first") + 1, "first"));
    close_text(&p);
}

static void only_so_many(void **state)
{
    (void)state;
    parsed p;
    open_text(&p, "abc", 3);
    for (uint32_t i = 0; i < 100; i++) {
        kj_message *m = kj_error(&p.diag, span(i, 200), KJ_RULE_SYNTAX, "error %u", i);
        kj_hint(&p.diag, m, "hint %u", i);
        kj_note(&p.diag, m, span(0, 1), "note %u", i);
    }
    assert_int_equal(p.diag.errors, 100);
    assert_true(p.diag.full);
    const char *shown = kj_diag_text(&p.diag);
    assert_non_null(strstr(shown, "error 19\n"));
    assert_null(strstr(shown, "error 20\n"));
    assert_null(strstr(shown, "hint 20\n"));
    assert_non_null(strstr(shown, "t.knl: too many errors, the first 20 are shown\n"));
    close_text(&p);
}

/* What was said is not more of it, where nothing more is kept either. */
static void all_of_them_and_one_again(void **state)
{
    (void)state;
    static const kj_warnings all;
    parsed p;
    open_text(&p, "abc", 3);
    p.diag.wanted = &all;
    for (uint32_t i = 0; i <= KJ_MAX_ERRORS; i++)
        kj_error(&p.diag, span(i % KJ_MAX_ERRORS, 200), KJ_RULE_SYNTAX, "error");
    for (uint32_t i = 0; i <= KJ_MAX_WARNINGS; i++)
        kj_warn(&p.diag, span(i % KJ_MAX_WARNINGS, 200), KJ_RULE_UNREACHABLE, "warning");
    assert_int_equal(p.diag.errors, KJ_MAX_ERRORS);
    assert_int_equal(p.diag.warnings, KJ_MAX_WARNINGS);
    assert_null(strstr(kj_diag_text(&p.diag), "too many"));
    close_text(&p);
}

static void json_is_escaped(void **state)
{
    (void)state;
    parsed p;
    open_text(&p, "abc", 3);
    p.source.name = "a\"b\\\xff.knl";
    kj_error(&p.diag, span(0, 1), KJ_RULE_SYNTAX, "%s", "tab\t \"q\" \x01 ü \x7f\xc3");
    const char *json = kj_diag_json(&p.diag);
    assert_non_null(strstr(json, "\"file\":\"a\\\"b\\\\\\ufffd.knl\""));
    assert_non_null(strstr(json, "\"message\":\"tab\\u0009 \\\"q\\\" \\u0001 ü \\u007f\\ufffd\""));
    close_text(&p);
}

static void nothing_to_say(void **state)
{
    (void)state;
    parsed p;
    open_text(&p, "abc", 3);
    assert_string_equal(kj_diag_text(&p.diag), "");
    assert_string_equal(kj_diag_json(&p.diag), "");
    close_text(&p);
}

static void utf8_is_checked(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t len;
        uint32_t code;
    } cases[] = {
        {"a", 1, 'a'},
        {"\xc3\xa4", 2, 0xe4},
        {"\xe2\x82\xac", 3, 0x20ac},
        {"\xf0\x9f\x98\x80", 4, 0x1f600},
        {"\xc0\x80", 1, 0xfffd},         /* overlong */
        {"\xe0\x80\x80", 1, 0xfffd},     /* overlong */
        {"\xed\xa0\x80", 1, 0xfffd},     /* a surrogate */
        {"\xf4\x90\x80\x80", 1, 0xfffd}, /* beyond U+10FFFF */
        {"\x80", 1, 0xfffd},
        {"\xc3", 1, 0xfffd}, /* cut short */
        {"\xe2\x82", 1, 0xfffd},
        {"\xe2\x82z", 1, 0xfffd},
        {"\xff", 1, 0xfffd},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t code;
        const char *text = cases[i].text;
        assert_int_equal(kj_utf8(text, text + strlen(text), &code), cases[i].len);
        assert_int_equal(code, cases[i].code);
    }
}

static void nearest_names(void **state)
{
    (void)state;
    static const char *const names[] = {"threadIdx", "blockIdx", "blockDim", "out",   "x",
                                        "sqrt",      "sin",      "min",      "alpha", "pi"};
    static const struct {
        const char *name, *nearest;
    } cases[] = {
        {"threadidx", "threadIdx"},
        {"threadIDX", "threadIdx"},
        {"blokcDim", "blockDim"},
        {"blockIx", "blockIdx"},
        {"otu", "out"},
        {"outt", "out"},
        {"sqr", "sqrt"},
        {"y", NULL},
        {"X", "x"},
        {"alfa", "alpha"},
        {"alphabet", "alpha"},
        {"i", NULL},
        {"alp", NULL},
        {"completely", NULL},
        {"out", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *found = kj_nearest(cases[i].name, names, sizeof names / sizeof *names);
        if (cases[i].nearest)
            assert_string_equal(found, cases[i].nearest);
        else
            assert_null(found);
    }
    char name[5000];
    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_null(kj_nearest(name, names, sizeof names / sizeof *names));
}

/* Lines of three files, one of them long, one with a mark, found with and without counts. */
static void places_by_counts(void **state)
{
    enum { SIZE = 40000, FIRST = 12288, SECOND = 20011 };
    static char text[SIZE + 1];
    static const kj_source_part parts[] = {
        {"a.knl", 0, FIRST}, {"b.knl", FIRST, SECOND}, {"c.knl", SECOND, SIZE}};
    (void)state;
    uint32_t seed = 1;
    for (int i = 0; i < SIZE; i++) {
        seed = seed * 1664525 + 1013904223;
        text[i] = seed >> 24 < (i < SIZE / 2 ? 60 : 1) ? '\n' : 'x';
    }
    text[4096] = text[8191] = '\n'; /* the first and the last byte of what is counted at once */
    memcpy(text + FIRST, "\xef\xbb\xbf", 3);
    parsed p;
    open_text(&p, text, SIZE);
    kj_source plain = p.source;
    plain.parts = parts;
    plain.nparts = 3;
    kj_source counted = plain;
    kj_source_count(&p.arena, &counted);
    uint32_t line = 0, column = 0;
    for (uint32_t i = 0; i <= SIZE; i++) {
        kj_position a = kj_where(&plain, i), b = kj_where(&counted, i);
        bool begins = i == 0 || i == FIRST || i == SECOND, mark = i > FIRST && i <= FIRST + 3;
        line = begins ? 1 : line + (text[i - 1] == '\n');
        column = begins || mark || text[i - 1] == '\n' ? 1 : column + 1;
        assert_string_equal(a.file, i < FIRST ? "a.knl" : i < SECOND ? "b.knl" : "c.knl");
        assert_int_equal(a.line, line);
        assert_int_equal(a.column, column);
        assert_ptr_equal(a.file, b.file);
        assert_int_equal(b.line, line);
        assert_int_equal(b.column, column);
    }
    close_text(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(caret_and_range),
        cmocka_unit_test(range_ends_with_the_line),
        cmocka_unit_test(places_at_the_edges),
        cmocka_unit_test(places_by_counts),
        cmocka_unit_test(tabs_stay_tabs),
        cmocka_unit_test(characters_not_bytes),
        cmocka_unit_test(bytes_that_are_not_text),
        cmocka_unit_test(long_lines_are_cut),
        cmocka_unit_test(notes_and_hints),
        cmocka_unit_test(in_the_order_of_places),
        cmocka_unit_test(only_so_many),
        cmocka_unit_test(all_of_them_and_one_again),
        cmocka_unit_test(json_is_escaped),
        cmocka_unit_test(nothing_to_say),
        cmocka_unit_test(utf8_is_checked),
        cmocka_unit_test(nearest_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
