/* What a module says of its kernels, their parameters and its records. */
#include "api.h"

static const char source[] =
    "use \"lib.knl\"\n"
    "type Row = f32[]\n"
    "# Not of the kernel.\n"
    "\n"
    "# y += a * x,\n"
    "#   row by row.\n"
    "@launch_bounds(256, 2)\n"
    "kernel saxpy<T: float, U>(a: T,  # the factor\n"
    "        x: T[],\n"
    "        y: T[,]   # what is added to\n"
    "        # (a comment)\n"
    "    ) {\n"
    "    let i = grid(1)\n"
    "    if i < x.size and U(1) == U(1) { y[i, 0] += a * x[i] }\n"
    "}\n"
    "record P { x: f32, n: i32 }\n"
    "kernel others(p: P[], const n: i32 = 4 * 2, t: (f32, i64), r: Row, v: i8[], w: u32[]) {\n"
    "    let view = v[1:]\n"
    "    if p[0].n > n + view[0] + i32(v.size) { r[0] = t[0] }\n"
    "    atomic.add(w, 0, 1)\n"
    "}\n"
    "record Q { p: P }\n"
    "record R { pos: f32[3], n: i32 }\n"
    "record V { at: f32x2, n: i32 }\n"
    "fn set(p: f32[]) { p[0] = 1 }\n"
    "kernel parts(a: R[], b: V[], c: f32x4[], d: V[], e: f32[,]) {\n"
    "    a[0].pos[2] -= b[0].at.x + e[0, 0]\n"
    "    c[0][1] = f32(b[0].n)\n"
    "    d[0].at.y = 1\n"
    "}\n"
    "kernel handed(a: R[]) { set(a[0].pos) }\n"
    "run { print(1) }\n";
static const kjit_source lib = {
    .name = "lib.knl",
    .text = "kernel clear(x: f32[]) { let i = grid(1)\n if i < x.size { x[i] = 0 } }\n",
    .size = 71};

typedef struct expected {
    const char *kernel, *name, *type, *value, *doc, *generic, *bound;
    int has_dtype, dtype, ndim, is_const, may_be_written;
} expected;

static const expected params[] = {
    {"saxpy", "a", "T", NULL, "the factor", "T", "float", 0, 0, 0, 0, 0},
    {"saxpy", "x", "T[]", NULL, NULL, "T", "float", 0, 0, 1, 0, 0},
    {"saxpy", "y", "T[,]", NULL, "what is added to", "T", "float", 0, 0, 2, 0, 1},
    {"others", "p", "P[]", NULL, NULL, NULL, NULL, 1, -1, 1, 0, 0},
    {"others", "n", "i32", "4 * 2", NULL, NULL, NULL, 1, KJIT_I32, 0, 1, 0},
    {"others", "t", "(f32, i64)", NULL, NULL, NULL, NULL, 1, -1, 0, 0, 0},
    {"others", "r", "Row", NULL, NULL, NULL, NULL, 1, KJIT_F32, 1, 0, 1},
    {"others", "v", "i8[]", NULL, NULL, NULL, NULL, 1, KJIT_I8, 1, 0, 1},
    {"others", "w", "u32[]", NULL, NULL, NULL, NULL, 1, KJIT_U32, 1, 0, 1},
    {"parts", "a", "R[]", NULL, NULL, NULL, NULL, 1, -1, 1, 0, 1},
    {"parts", "b", "V[]", NULL, NULL, NULL, NULL, 1, -1, 1, 0, 0},
    {"parts", "c", "f32x4[]", NULL, NULL, NULL, NULL, 1, KJIT_F32X4, 1, 0, 1},
    {"parts", "d", "V[]", NULL, NULL, NULL, NULL, 1, -1, 1, 0, 1},
    {"parts", "e", "f32[,]", NULL, NULL, NULL, NULL, 1, KJIT_F32, 2, 0, 0},
    {"handed", "a", "R[]", NULL, NULL, NULL, NULL, 1, -1, 1, 0, 1},
    {"lib.clear", "x", "f32[]", NULL, NULL, NULL, NULL, 1, KJIT_F32, 1, 0, 1},
};

static void same_text(const char *given, const char *wanted)
{
    assert_int_equal(given != NULL, wanted != NULL);
    if (wanted)
        assert_string_equal(given, wanted);
}

static kjit_module *make_described(const char *text)
{
    kjit_module *m = NULL;
    OK(kjit_module_compile(ctx, "d.knl", text, strlen(text),
                           &(kjit_compile_options){.sources = &lib, .nsources = 1}, &m));
    return m;
}

static void test_kernels(void **state)
{
    (void)state;
    kjit_module *m = make_described(source);
    kjit_kernel_decl decl = {.size = sizeof decl};
    OK(kjit_module_kernel_decl(m, "saxpy", &decl));
    assert_string_equal(decl.name, "saxpy");
    assert_string_equal(decl.head, "kernel saxpy<T: float, U>(a: T, x: T[], y: T[,])");
    assert_string_equal(decl.doc, "y += a * x,\n  row by row.");
    assert_string_equal(decl.file, "d.knl");
    assert_int_equal(decl.line, 8);
    assert_int_equal(decl.column, 8);
    assert_int_equal(decl.nparams, 3);
    assert_int_equal(decl.max_threads, 256);
    assert_int_equal(decl.min_blocks, 2);
    OK(kjit_module_kernel_decl(m, "others", &decl));
    assert_null(decl.doc);
    assert_int_equal(decl.max_threads, 0);
    OK(kjit_module_kernel_decl(m, "lib.clear", &decl));
    assert_string_equal(decl.name, "lib.clear");
    assert_string_equal(decl.head, "kernel clear(x: f32[])");
    assert_string_equal(decl.file, "lib.knl");
    assert_int_equal(decl.line, 1);
    FAILS(kjit_module_kernel_decl(m, "saxby", &decl), KJIT_NOT_FOUND, "did you mean 'saxpy'?");
    assert_string_equal(kjit_module_record_name(m, 0), "P");
    assert_string_equal(kjit_module_record_name(m, 1), "Q");
    assert_string_equal(kjit_module_record_name(m, 3), "V");
    assert_null(kjit_module_record_name(m, 4));
    kjit_module_free(m);
}

static void test_parameters(void **state)
{
    (void)state;
    kjit_module *m = make_described(source);
    const char *last = "";
    int i = 0;
    for (size_t k = 0; k < sizeof params / sizeof *params; k++, i++) {
        const expected *e = &params[k];
        kjit_kernel_param p = {.size = sizeof p};
        i = strcmp(last, e->kernel) == 0 ? i : 0;
        last = e->kernel;
        OK(kjit_module_kernel_param(m, e->kernel, i, &p));
        same_text(p.name, e->name);
        same_text(p.type, e->type);
        same_text(p.value, e->value);
        same_text(p.doc, e->doc);
        same_text(p.generic, e->generic);
        same_text(p.bound, e->bound);
        assert_int_equal(p.has_dtype, e->has_dtype);
        if (e->has_dtype && e->dtype >= 0)
            assert_int_equal(p.dtype, e->dtype);
        assert_int_equal(p.ndim, e->ndim);
        assert_int_equal(p.is_const, e->is_const);
        assert_int_equal(p.may_be_written, e->may_be_written);
    }
    kjit_dtype record;
    kjit_kernel_param of = {.size = sizeof of};
    OK(kjit_module_record(m, "P", &record));
    OK(kjit_module_kernel_param(m, "others", 0, &of));
    assert_int_equal(of.dtype, record);
    kjit_module_free(m);
}

/* A program of a shorter struct gets what it knows, one of a longer struct zeros behind it. */
static void test_sizes(void **state)
{
    (void)state;
    kjit_module *m = make_described(source);
    struct {
        kjit_kernel_param p;
        char more[16];
    } longer;
    memset(&longer, 0xff, sizeof longer);
    longer.p.size = sizeof longer;
    OK(kjit_module_kernel_param(m, "saxpy", 2, &longer.p));
    assert_int_equal(longer.p.size, sizeof longer);
    assert_int_equal(longer.p.may_be_written, 1);
    for (size_t i = sizeof longer.p; i < sizeof longer; i++)
        assert_int_equal(((char *)&longer)[i], 0);
    memset(&longer, 0xff, sizeof longer);
    longer.p.size = offsetof(kjit_kernel_param, type);
    OK(kjit_module_kernel_param(m, "saxpy", 2, &longer.p));
    assert_string_equal(longer.p.name, "y");
    assert_int_equal(longer.p.ndim, -1);
    kjit_module_free(m);
}

/* However a head is laid out, and where comments stand. */
static void test_layouts(void **state)
{
    (void)state;
    static const struct {
        const char *text, *head, *doc;
    } cases[] = {
        {"kernel k() { }", "kernel k()", NULL},
        {"# of j\nkernel j() { }; kernel k() { }", "kernel k()", NULL},
        {"# one\nkernel k(\n) { }", "kernel k()", "one"},
        {"## two\n#\n# three  \nkernel k( a : f32 ) { }", "kernel k(a : f32)", "two\n\nthree"},
        {"const c = 1 # of c\nkernel k(const n: i32 = (1 + 2)) { }",
         "kernel k(const n: i32 = (1 + 2))", NULL},
        {"kernel k(n: i32,\r\n  # ) not here\r\n  const m: i32 = 2,\r\n) { }",
         "kernel k(n: i32, const m: i32 = 2,)", NULL},
        {"  # in front\r\n  @launch_bounds(64)\r\n  kernel k(x: f32[\n]) { }", "kernel k(x: f32[])",
         "in front"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kjit_module *m = make_described(cases[i].text);
        kjit_kernel_decl decl = {.size = sizeof decl};
        OK(kjit_module_kernel_decl(m, "k", &decl));
        same_text(decl.head, cases[i].head);
        same_text(decl.doc, cases[i].doc);
        kjit_module_free(m);
    }
}

/* Defaults are as they are written, in the parentheses that are around them, on one line without comments. */
static void test_brackets(void **state)
{
    (void)state;
    static const char *const values[][2] = {
        {"(1 + 2)", "(1 + 2)"},
        {" ( (3)\n ) # three", "((3))"},
        {"(1) + 2", "(1) + 2"},
        {"2 * (1 + 2)", "2 * (1 + 2)"},
        {"(1 + 2) * (3)", "(1 + 2) * (3)"},
        {"-(2)", "-(2)"},
        {"2", "2"},
        {"( # one\n 1)", "(1)"},
    };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char text[200];
        snprintf(text, sizeof text,
                 "kernel k(x: i32[], const n: i32 = %s\n) { x[0] = n }\nrun { param m = "
                 "%s\nprint(m) }\n",
                 values[i][0], values[i][0]);
        kjit_module *m = make_described(text);
        kjit_kernel_param p = {.size = sizeof p};
        kjit_param_info info;
        OK(kjit_module_kernel_param(m, "k", 1, &p));
        assert_string_equal(p.value, values[i][1]);
        assert_true(kjit_module_param(m, 0, &info));
        assert_string_equal(info.value, values[i][1]);
        kjit_module_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernels), cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_sizes),   cmocka_unit_test(test_brackets),
        cmocka_unit_test(test_layouts),
    };
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
