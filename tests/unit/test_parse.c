/* The parser: places, lists and limits of the tree, which the listings of tests/lang/ast do not
 * show. */
#include "parsed.h"

#include <stdlib.h>

/* What the source holds at a span. */
static void assert_spans(const parsed *p, kj_span at, const char *text)
{
    assert_int_equal(at.end - at.begin, strlen(text));
    assert_memory_equal(p->source.text + at.begin, text, strlen(text));
}

static void parse_good(parsed *p, const char *text)
{
    parse_text(p, text);
    assert_string_equal(kj_diag_text(&p->diag), "");
}

static void items_and_their_places(void **state)
{
    (void)state;
    parsed p;
    parse_good(
        &p,
        "\n const A: f32 = 1.5 \n@fastmath\nkernel k<T: float>(x: T[], const N: i32 = 4) { f(x) }\n"
        "fn f(a: f32) -> (f32, i64[,]) { return a }\nrun { }\n");
    kj_item *a = p.file->items, *k = a->next, *f = k->next, *r = f->next;
    assert_null(r->next);
    assert_int_equal(a->kind, KJ_I_CONST);
    assert_spans(&p, a->name_span, "A");
    assert_spans(&p, a->type->span, "f32");
    assert_spans(&p, a->value->span, "1.5");
    assert_int_equal(k->kind, KJ_I_KERNEL);
    assert_spans(&p, k->span, "@fastmath\nkernel k<T: float>(x: T[], const N: i32 = 4) { f(x) }");
    assert_spans(&p, k->name_span, "k");
    assert_spans(&p, k->end, "}");
    assert_spans(&p, k->attrs->span, "fastmath");
    assert_spans(&p, k->generics->span, "T");
    assert_spans(&p, k->generics->bound_span, "float");
    assert_spans(&p, k->params->span, "x");
    assert_spans(&p, k->params->type->span, "T[]");
    assert_true(k->params->next->is_const);
    assert_spans(&p, k->params->next->init->span, "4");
    assert_spans(&p, f->span, "fn f(a: f32) -> (f32, i64[,]) { return a }");
    assert_spans(&p, f->type->span, "(f32, i64[,])");
    assert_int_equal(f->type->parts->next->ndim, 2);
    assert_int_equal(r->kind, KJ_I_RUN);
    assert_null(r->name);
    assert_spans(&p, r->span, "run { }");
    close_text(&p);
}

static void statements_and_their_places(void **state)
{
    (void)state;
    parsed p;
    parse_good(&p, "fn f() {\n    let a, b = 1, 2\n    if a { b = 1 } elif b { c = 2 }\n    a[0] "
                   "+= 1  # x\n    @u for i in x { }\n}");
    kj_stmt *let = p.file->items->body, *branch = let->next, *update = branch->next,
            *loop = update->next;
    assert_null(loop->next);
    assert_spans(&p, let->span, "let a, b = 1, 2");
    assert_spans(&p, let->u.let.names->next->span, "b");
    assert_spans(&p, let->u.let.init->span, "1, 2");
    assert_spans(&p, branch->span, "if a { b = 1 } elif b { c = 2 }");
    assert_int_equal(branch->u.if_.no->kind, KJ_S_IF);
    assert_spans(&p, branch->u.if_.no->span, "elif b { c = 2 }");
    assert_spans(&p, update->span, "a[0] += 1");
    assert_true(update->u.assign.augmented);
    assert_int_equal(update->u.assign.op, KJ_OP_ADD);
    assert_spans(&p, loop->span, "@u for i in x { }");
    assert_spans(&p, loop->attrs->span, "u");
    close_text(&p);
}

/* The value of `const X = text`. */
static kj_expr *parse_value(parsed *p, const char *text)
{
    static char source[256];
    strcpy(source, "const X = ");
    strcat(source, text);
    parse_good(p, source);
    return p->file->items->value;
}

static void expressions_and_their_places(void **state)
{
    (void)state;
    parsed p;
    kj_expr *e = parse_value(&p, "a + (b) * -c");
    assert_spans(&p, e->span, "a + (b) * -c");
    assert_spans(&p, e->u.binary.op_span, "+");
    assert_spans(&p, e->u.binary.rhs->span, "(b) * -c");
    assert_spans(&p, e->u.binary.rhs->u.binary.op_span, "*");
    assert_spans(&p, e->u.binary.rhs->u.binary.rhs->span, "-c");
    close_text(&p);
    e = parse_value(&p, "f(x, n = 3)[1, :2].y");
    assert_spans(&p, e->span, "f(x, n = 3)[1, :2].y");
    assert_spans(&p, e->u.member.name_span, "y");
    assert_spans(&p, e->u.member.base->span, "f(x, n = 3)[1, :2]");
    kj_expr *index = e->u.member.base;
    assert_spans(&p, index->u.index.args->next->span, ":2");
    kj_expr *arg = index->u.index.base->u.call.args->next;
    assert_string_equal(arg->keyword, "n");
    assert_spans(&p, arg->keyword_span, "n");
    assert_spans(&p, arg->span, "3");
    close_text(&p);
    e = parse_value(&p, "a < b <= c");
    assert_int_equal(e->kind, KJ_E_CHAIN);
    assert_int_equal(e->u.chain.nops, 2);
    assert_int_equal(e->u.chain.ops[1], KJ_OP_LE);
    assert_spans(&p, e->u.chain.operands->next->next->span, "c");
    close_text(&p);
    e = parse_value(&p, "\"a\\n\" if t else (1, 2)");
    assert_int_equal(e->u.cond.yes->u.string.len, 2);
    assert_spans(&p, e->u.cond.yes->span, "\"a\\n\"");
    assert_int_equal(e->u.cond.no->u.list.n, 2);
    assert_spans(&p, e->u.cond.no->span, "(1, 2)");
    close_text(&p);
}

static void many_comparisons(void **state)
{
    (void)state;
    static const kj_op ops[] = {KJ_OP_EQ, KJ_OP_NE, KJ_OP_LT, KJ_OP_LE, KJ_OP_GT, KJ_OP_GE};
    static const char *const texts[] = {"==", "!=", "<", "<=", ">", ">="};
    char source[1000] = "const X = a";
    for (int i = 0; i < 100; i++) {
        strcat(source, texts[i % 6]);
        strcat(source, "a");
    }
    parsed p;
    parse_good(&p, source);
    kj_expr *e = p.file->items->value;
    assert_int_equal(e->u.chain.nops, 100);
    kj_expr *operand = e->u.chain.operands;
    for (int i = 0; i < 100; i++, operand = operand->next)
        assert_int_equal(e->u.chain.ops[i], ops[i % 6]);
    assert_non_null(operand);
    assert_null(operand->next);
    close_text(&p);
}

static void names_are_interned(void **state)
{
    (void)state;
    parsed p;
    parse_good(&p, "const abc = abc\nfn f(abc: abc) { }");
    kj_item *a = p.file->items;
    assert_ptr_equal(a->name, a->value->u.name);
    assert_ptr_equal(a->name, a->next->params->name);
    assert_ptr_equal(a->name, a->next->params->type->name);
    assert_ptr_equal(a->name, kj_intern(&p.arena, "abc", 3));
    close_text(&p);
}

static void numbers_are_exact(void **state)
{
    (void)state;
    parsed p;
    assert_true(parse_value(&p, "0.1")->u.real == 0.1);
    close_text(&p);
    assert_true(parse_value(&p, "1.7976931348623157e308")->u.real == 1.7976931348623157e308);
    close_text(&p);
    assert_true(parse_value(&p, "4.9e-324")->u.real == 4.9e-324);
    close_text(&p);
    assert_true(parse_value(&p, "0xffff_ffff_ffff_ffff")->u.integer == UINT64_MAX);
    close_text(&p);
}

static void byte_order_mark_is_skipped(void **state)
{
    (void)state;
    parsed p;
    parse_good(&p, "\xef\xbb\xbf"
                   "const A = 1");
    assert_spans(&p, p.file->items->name_span, "A");
    close_text(&p);
}

static void empty_sources(void **state)
{
    (void)state;
    static const char *const sources[] = {"", "\n", "# only a comment", "\n\n  \t\n;\n",
                                          "\xef\xbb\xbf"};
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        parsed p;
        parse_good(&p, sources[i]);
        assert_null(p.file->items);
        close_text(&p);
    }
}

static void tree_after_errors(void **state)
{
    (void)state;
    parsed p;
    parse_text(
        &p, "fn f() {\n    let a = 1\n    let b = = 2\n    let c = 3\n}\nfn g( { }\nfn h() { }\n");
    assert_int_equal(p.diag.errors, 2);
    kj_item *f = p.file->items;
    assert_string_equal(f->name, "f");
    assert_string_equal(f->body->u.let.names->name, "a");
    assert_string_equal(f->body->next->u.let.names->name, "c");
    assert_null(f->body->next->next);
    assert_string_equal(f->next->name, "h");
    assert_null(f->next->next);
    close_text(&p);
}

/* `n` levels of `open`, a leaf, `n` of `close`; errors or not. */
static int errors_when_nested(const char *before, const char *open, const char *leaf,
                              const char *close, int n)
{
    size_t size = strlen(before) + (size_t)n * (strlen(open) + strlen(close)) + strlen(leaf) + 8;
    char *text = malloc(size), *end = text;
    assert_non_null(text);
    end = stpcpy(end, before);
    for (int i = 0; i < n; i++)
        end = stpcpy(end, open);
    end = stpcpy(end, leaf);
    for (int i = 0; i < n; i++)
        end = stpcpy(end, close);
    end = stpcpy(end, before[0] == 'f' ? "}\n" : "\n");
    parsed p;
    parse_text(&p, text);
    if (p.diag.errors) {
        assert_int_equal(p.diag.errors, 1);
        assert_int_equal(strncmp(p.diag.first->text, "nested too deeply", 17), 0);
        assert_non_null(p.diag.first->hint);
    }
    kj_ast_dump(&p.arena, p.file);
    int errors = p.diag.errors;
    close_text(&p);
    free(text);
    return errors;
}

static void depth_is_limited(void **state)
{
    (void)state;
    static const struct {
        const char *before, *open, *leaf, *close;
        int least;
    } cases[] = {
        {"const X = ", "(", "1", ")", 900},
        {"const X = ", "[", "1", "]", 900},
        {"const X = ", "- ", "1", "", 900},
        {"const X = ", "not ", "x", "", 900},
        {"const X = ", "", "1", "+1", 900},
        {"const X = ", "", "a", "[0]", 900},
        {"const X = ", "", "a", ".x", 900},
        {"const X = ", "f(", "1", ")", 900},
        {"const X = ", "1**", "1", "", 900},
        {"const X = ", "1 if x else ", "1", "", 900},
        {"const X = ", "", "x", " and x", 900},
        {"const X: ", "(", "i32", ")", 900},
        {"fn f() { ", "if x {", "f()", "}", 900},
        {"fn f() { if x { }", "", "", "elif x { }", 900},
        {"fn f() { ", "for i in x {", "", "}", 900},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool type = strchr(cases[i].before, ':') !=
                    NULL; /* a const wants its value, so only the limit is tried */
        if (!type)
            assert_int_equal(errors_when_nested(cases[i].before, cases[i].open, cases[i].leaf,
                                                cases[i].close, cases[i].least),
                             0);
        assert_int_equal(errors_when_nested(cases[i].before, cases[i].open, cases[i].leaf,
                                            cases[i].close, KJ_MAX_DEPTH + 10),
                         1);
    }
}

static void long_lists_are_not_deep(void **state)
{
    (void)state;
    enum { N = 20000 };
    char *text = calloc(N + 10, 8), *end = text;
    assert_non_null(text);
    end = stpcpy(end, "const X = [");
    for (int i = 0; i < N; i++)
        end = stpcpy(end, "1, ");
    stpcpy(end, "]");
    parsed p;
    parse_good(&p, text);
    assert_int_equal(p.file->items->value->u.list.n, N);
    assert_int_equal(p.file->items->value->depth, 2);
    close_text(&p);
    free(text);
}

static void size_is_limited(void **state)
{
    (void)state;
    char *text = calloc(1, (size_t)KJ_SOURCE_MAX + 2);
    assert_non_null(text);
    parsed p;
    parse_bytes(&p, text, (size_t)KJ_SOURCE_MAX + 1);
    assert_int_equal(p.diag.errors, 1);
    assert_string_equal(p.diag.first->text, "the source is over 64 MiB");
    assert_null(p.file->items);
    close_text(&p);
    free(text);
}

/* Does the parse of a small program fit into so much memory? If not, it ends by the jump. */
static bool fits(size_t limit)
{
    static const char text[] = "@a(1) kernel k<T>(x: T[], const N: i32 = 2) {\n"
                               "    let a, b = (1, 2.5)\n"
                               "    if a < b < 3 { x[a] += f(\"s\\n\") }\n"
                               "}\n"
                               "run { x = = 1\n @ }\n";
    volatile bool finished = false;
    parsed p;
    open_text(&p, text, sizeof text - 1);
    p.arena.limit = limit;
    if (setjmp(p.fail) == 0) {
        p.file = kj_parse(&p.arena, &p.diag, 0, KJ_TREE_MAX);
        kj_diag_text(&p.diag);
        finished = true;
    }
    close_text(&p);
    return finished;
}

static void memory_may_end_anywhere(void **state)
{
    (void)state;
    size_t limit = 0;
    while (!fits(limit))
        limit += 48;
    assert_in_range(limit, 2000, 1000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_and_their_places),
        cmocka_unit_test(statements_and_their_places),
        cmocka_unit_test(expressions_and_their_places),
        cmocka_unit_test(many_comparisons),
        cmocka_unit_test(names_are_interned),
        cmocka_unit_test(numbers_are_exact),
        cmocka_unit_test(byte_order_mark_is_skipped),
        cmocka_unit_test(empty_sources),
        cmocka_unit_test(tree_after_errors),
        cmocka_unit_test(depth_is_limited),
        cmocka_unit_test(long_lists_are_not_deep),
        cmocka_unit_test(size_is_limited),
        cmocka_unit_test(memory_may_end_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
