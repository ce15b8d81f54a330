/* Kinds of memory: arrays of each, made, copied, launched and printed on both devices; host memory
 * that is page-locked for a while. */
#include "api.h"

static const kjit_memory kinds[] = {KJIT_HOST, KJIT_DEVICE, KJIT_PINNED, KJIT_MAPPED, KJIT_MANAGED};
enum { KINDS = sizeof kinds / sizeof *kinds, N = 1000 };

static const char source[] = "kernel add(x: i32[], n: i32) {\n"
                             "    let i = grid(1)\n"
                             "    if i < x.size { x[i] += n }\n"
                             "}";
static kjit_module *mod;

static kjit_array *make(kjit_memory memory, int ndim, const int64_t *shape, const int64_t *strides)
{
    kjit_array *a;
    kjit_array_options options = {.memory = memory, .strides = strides};
    OK(kjit_array_create_with(ctx, KJIT_I32, ndim, shape, &options, &a));
    assert_int_equal(kjit_array_memory(a), memory);
    return a;
}

static void add(kjit_array *a, int n, kjit_stream *s)
{
    OK(kjit_launch_forall(mod, "add", kjit_array_size(a), s,
                          (kjit_arg[]){kjit_arg_array(a), kjit_arg_i64(n)}, 2));
}

/* x[i] = first + i */
static kjit_array *numbers(int first)
{
    kjit_array *a = create(KJIT_I32, 1, SHAPE(N), 'C');
    int32_t *x = kjit_array_data(a);
    for (int i = 0; i < N; i++)
        x[i] = first + i;
    return a;
}

static void expect_numbers(kjit_array *a, int first)
{
    kjit_array *host;
    OK(kjit_to_host(a, NULL, &host));
    for (int i = 0; i < N; i++)
        assert_int_equal(((int32_t *)kjit_array_data(host))[i], first + i);
    kjit_array_free(host);
}

/* ---- Each kind ---- */

static void test_launch(void **state)
{
    (void)state;
    kjit_stream *s;
    OK(kjit_stream_create(ctx, &s));
    for (int k = 0; k < KINDS; k++) {
        kjit_array *from = numbers(3), *a = make(kinds[k], 1, SHAPE(N), NULL);
        OK(kjit_copy(a, from, NULL));
        add(a, 10, NULL);
        expect_numbers(a, 13);
        add(a, 1, s);
        add(a, 1, s);
        OK(kjit_stream_synchronize(s));
        expect_numbers(a, 15);
        if (kinds[k] != KJIT_DEVICE) /* the program can look for itself */
            assert_int_equal(((int32_t *)kjit_array_data(a))[7], 22);
        kjit_array_free(a);
        kjit_array_free(from);
    }
    kjit_stream_free(s);
}

/* From each kind to each, dense and not, now and in a stream. */
static void test_copies(void **state)
{
    (void)state;
    kjit_stream *s;
    kjit_array *plain = numbers(5);
    OK(kjit_stream_create(ctx, &s));
    for (int i = 0; i < KINDS * KINDS * 4; i++) {
        bool apart = i & 1, queued = i & 2;
        int64_t strides[2] = {12, 8};
        kjit_array *src = make(kinds[i / 4 % KINDS], 1, SHAPE(N), apart ? &strides[0] : NULL);
        kjit_array *dst = make(kinds[i / 4 / KINDS], 1, SHAPE(N), apart ? &strides[1] : NULL);
        OK(kjit_copy(src, plain, queued ? s : NULL));
        OK(kjit_copy(dst, src, queued ? s : NULL));
        kjit_array_free(src);
        if (queued)
            OK(kjit_stream_synchronize(s));
        expect_numbers(dst, 5);
        kjit_array_free(dst);
    }
    kjit_array_free(plain);
    kjit_stream_free(s);
}

static void test_text_and_files(void **state)
{
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        char *text;
        kjit_array *from = numbers(0), *a = make(kinds[k], 1, SHAPE(N), NULL), *back, *part;
        int64_t stop = 3;
        OK(kjit_copy(a, from, NULL));
        OK(kjit_array_slice(a, NULL, &stop, NULL, &part));
        OK(kjit_array_format(part, &text));
        assert_string_equal(text, "[0 1 2]");
        free(text);
        OK(kjit_array_save(a, path_of("kind.npy")));
        OK(kjit_array_load(ctx, path_of("kind.npy"), &back));
        expect_numbers(back, 0);
        kjit_array *all[] = {from, a, back, part};
        for (int i = 0; i < 4; i++)
            kjit_array_free(all[i]);
    }
}

/* Copies of page-locked memory in a stream are the driver's alone, launches take mapped and managed
 * memory where it is: tests/driver/kinds.test looks at the log of this. */
static void test_past_the_processor(void **state)
{
    (void)state;
    kjit_stream *s;
    kjit_array *pinned = make(KJIT_PINNED, 1, SHAPE(N), NULL);
    kjit_array *mapped = make(KJIT_MAPPED, 1, SHAPE(N), NULL);
    kjit_array *managed = make(KJIT_MANAGED, 1, SHAPE(N), NULL);
    kjit_array *device = make(KJIT_DEVICE, 1, SHAPE(N), NULL), *plain = numbers(4), *locked;
    OK(kjit_array_register(plain, NULL, &locked));
    OK(kjit_stream_create(ctx, &s));
    OK(kjit_copy(device, locked, s));
    OK(kjit_copy(pinned, device, s));
    OK(kjit_copy(device, pinned, s));
    OK(kjit_copy(mapped, device, s));
    OK(kjit_copy(managed, device, s));
    add(mapped, 3, s);
    add(managed, 3, s);
    OK(kjit_stream_synchronize(s));
    expect_numbers(mapped, 7);
    expect_numbers(managed, 7);
    kjit_array *all[] = {pinned, mapped, managed, device, locked, plain};
    for (int i = 0; i < 6; i++)
        kjit_array_free(all[i]);
    kjit_stream_free(s);
}

/* ---- Options ---- */

static void test_strides(void **state)
{
    (void)state;
    int64_t shape[] = {3, 4}, back[] = {-32, 8}, wide[] = {400, 16}, none[] = {0, 4};
    for (int k = 0; k < KINDS; k++) {
        kjit_array *a = make(kinds[k], 2, shape, back), *b = make(kinds[k], 2, shape, wide), *dense;
        assert_memory_equal(kjit_array_strides(a), back, sizeof back);
        assert_memory_equal(kjit_array_strides(b), wide, sizeof wide);
        int32_t x[3][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}};
        kjit_array *from = wrap(x, KJIT_I32, 2, shape);
        OK(kjit_copy(a, from, NULL));
        OK(kjit_copy(b, a, NULL));
        OK(kjit_to_host(b, NULL, &dense));
        assert_memory_equal(kjit_array_data(dense), x, sizeof x);
        kjit_array_free(make(kinds[k], 2, shape, none));
        kjit_array_free(make(kinds[k], 2, SHAPE(0, 5), wide));
        kjit_array *all[] = {a, b, from, dense};
        for (int i = 0; i < 4; i++)
            kjit_array_free(all[i]);
    }
    int64_t far[] = {INT64_MAX / 2, INT64_MAX / 2};
    kjit_array *a;
    kjit_array_options options = {.strides = far};
    FAILS(kjit_array_create_with(ctx, KJIT_I32, 2, shape, &options, &a), KJIT_SHAPE, "strides");
    assert_null(a);
    far[0] = INT64_MIN;
    FAILS(kjit_array_create_with(ctx, KJIT_I32, 2, shape, &options, &a), KJIT_SHAPE, "strides");
}

static void test_like(void **state)
{
    (void)state;
    kjit_array *a, *b;
    int64_t shape[] = {3, 4};
    for (int k = 0; k < KINDS; k++) {
        OK(kjit_array_create_with(
            ctx, KJIT_F64, 2, shape,
            &(kjit_array_options){.memory = kinds[k], .order = k % 2 ? 'F' : 'C'}, &a));
        OK(kjit_array_like(a, NULL, &b));
        assert_int_equal(kjit_array_memory(b), kinds[k]);
        assert_int_equal(kjit_array_dtype(b), KJIT_F64);
        assert_memory_equal(kjit_array_shape(a), kjit_array_shape(b), sizeof shape);
        assert_memory_equal(kjit_array_strides(a), kjit_array_strides(b), sizeof shape);
        kjit_array_free(b);
        OK(kjit_array_like(a, &(kjit_array_options){.memory = KJIT_DEVICE, .order = 'C'}, &b));
        assert_int_equal(kjit_array_memory(b), KJIT_DEVICE);
        assert_int_equal(kjit_array_strides(b)[1], 8);
        kjit_array_free(b);
        kjit_array_free(a);
    }
    OK(kjit_array_create_with(ctx, KJIT_I32, 1, SHAPE(5), NULL, &a));
    assert_int_equal(kjit_array_memory(a), KJIT_HOST);
    kjit_array_free(a);
}

static void test_flags(void **state)
{
    (void)state;
    static const struct {
        kjit_array_options options;
        const char *wrong; /* NULL: it is possible */
    } cases[] = {
        {{.memory = KJIT_PINNED, .portable = 1}, NULL},
        {{.memory = KJIT_MAPPED, .portable = 1, .wc = 1}, NULL},
        {{.memory = KJIT_MANAGED, .attach_host = 1}, NULL},
        {{.memory = KJIT_DEVICE, .shareable = 1}, NULL},
        {{.memory = KJIT_DEVICE, .order = 'F'}, NULL},
        {{.memory = KJIT_HOST, .wc = 1}, "wc"},
        {{.memory = KJIT_DEVICE, .portable = 1}, "portable"},
        {{.memory = KJIT_MAPPED, .attach_host = 1}, "attach_host"},
        {{.memory = KJIT_PINNED, .shareable = 1}, "shareable"},
        {{.order = 'X'}, "order"},
        {{.memory = (kjit_memory)9}, "no kind of memory"},
        {{.memory = (kjit_memory)-1}, "no kind of memory"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kjit_array *a = (kjit_array *)(uintptr_t)8;
        int64_t n = N;
        kjit_status status = kjit_array_create_with(ctx, KJIT_I32, 1, &n, &cases[i].options, &a);
        if (cases[i].wrong) {
            FAILS(status, KJIT_INVALID, cases[i].wrong);
            assert_null(a);
            continue;
        }
        OK(status);
        add(a, 1, NULL);
        kjit_array_free(a);
    }
    for (int k = 0; k < KINDS; k++)
        kjit_array_free(make(kinds[k], 1, SHAPE(0), NULL));
}

/* ---- Registration ---- */

static void test_register(void **state)
{
    (void)state;
    kjit_stream *s;
    OK(kjit_stream_create(ctx, &s));
    for (int round = 0; round < 6; round++) {
        kjit_memory memory = round % 2 ? KJIT_MAPPED : KJIT_PINNED;
        kjit_array_options options = {.memory = memory, .portable = round > 3};
        int32_t *x = malloc(N * sizeof *x);
        for (int i = 0; i < N; i++)
            x[i] = i;
        kjit_array *host = wrap(x, KJIT_I32, 1, SHAPE(N)), *a, *again, *view;
        OK(kjit_array_register(host, round == 0 ? NULL : &options, &a));
        assert_int_equal(kjit_array_memory(a), memory);
        assert_ptr_equal(kjit_array_data(a), x);
        FAILS(kjit_array_register(host, NULL, &again), KJIT_INVALID, "page-locked already");
        assert_null(again);
        FAILS(kjit_array_register(a, NULL, &again), KJIT_INVALID, "page-locked");
        add(a, 5, round < 2 ? NULL : s);
        OK(kjit_array_slice(a, NULL, NULL, NULL, &view));
        kjit_array_free(a);
        add(view, 1, s);
        kjit_array_free(view); /* the queued work still has it */
        kjit_array_free(host);
        OK(kjit_stream_synchronize(s));
        for (int i = 0; i < N; i++)
            assert_int_equal(x[i], i + 6);
        host = wrap(x, KJIT_I32, 1, SHAPE(N));
        OK(kjit_array_register(host, NULL, &a)); /* nothing is left of the first */
        kjit_array_free(a);
        kjit_array_free(host);
        free(x);
    }
    kjit_stream_free(s);
}

/* Deferring does not keep memory that is the caller's. */
static void test_register_never_waits(void **state)
{
    (void)state;
    kjit_memory_info before, after;
    kjit_array *host = numbers(0), *a, *part, *one, *other;
    int64_t half = N / 2;
    OK(kjit_array_slice(host, NULL, &half, NULL, &part));
    OK(kjit_context_memory(ctx, &before));
    OK(kjit_defer_cleanup_begin(ctx));
    OK(kjit_array_register(part, NULL, &one));
    FAILS(kjit_array_register(host, NULL, &a), KJIT_INVALID, "page-locked already"); /* overlaps */
    kjit_array_free(part);
    OK(kjit_array_slice(host, &half, NULL, NULL, &part));
    OK(kjit_array_register(part, NULL, &other)); /* beside it */
    kjit_array_free(one);
    kjit_array_free(other);
    kjit_array_free(part);
    OK(kjit_array_register(host, NULL, &a));
    kjit_array_free(host); /* the array holds it */
    expect_numbers(a, 0);
    kjit_array_free(a);
    OK(kjit_context_memory(ctx, &after));
    assert_int_equal(after.pending_memory, before.pending_memory);
    OK(kjit_defer_cleanup_end(ctx));
    host = create(KJIT_I32, 1, SHAPE(0), 'C');
    OK(kjit_array_register(host, NULL, &a)); /* of nothing */
    kjit_array_free(a);
    kjit_array_free(host);
}

/* ---- Refused ---- */

static void test_refused(void **state)
{
    (void)state;
    kjit_array *a, *host = numbers(0), *device = make(KJIT_DEVICE, 1, SHAPE(N), NULL);
    int64_t strides = 4, most = INT64_MAX;
    assert_int_equal(kjit_array_create_with(NULL, KJIT_I32, 1, SHAPE(1), NULL, &a), KJIT_INVALID);
    FAILS(kjit_array_create_with(ctx, KJIT_I32, 1, SHAPE(1), NULL, NULL), KJIT_INVALID, "out");
    FAILS(kjit_array_create_with(ctx, KJIT_I32, 1, NULL, NULL, &a), KJIT_INVALID, "shape is NULL");
    FAILS(kjit_array_create_with(ctx, (kjit_dtype)99, 1, SHAPE(1), NULL, &a), KJIT_TYPE, "type");
    FAILS(kjit_array_create_with(ctx, KJIT_I32, 7, SHAPE(1), NULL, &a), KJIT_SHAPE, "dimensions");
    for (int k = 0; k < KINDS; k++)
        FAILS(kjit_array_create_with(ctx, KJIT_I32, 1, &most,
                                     &(kjit_array_options){.memory = kinds[k]}, &a),
              KJIT_NO_MEMORY, "memory");
    most = (int64_t)1 << 44;
    for (int k = 0; k < KINDS; k++)
        FAILS(kjit_array_create_with(ctx, KJIT_I32, 1, &most,
                                     &(kjit_array_options){.memory = kinds[k]}, &a),
              KJIT_NO_MEMORY, "memory");
    assert_int_equal(kjit_array_like(NULL, NULL, &a), KJIT_INVALID);
    FAILS(kjit_array_like(host, NULL, NULL), KJIT_INVALID, "out");
    assert_int_equal(kjit_array_register(NULL, NULL, &a), KJIT_INVALID);
    FAILS(kjit_array_register(host, NULL, NULL), KJIT_INVALID, "out");
    FAILS(kjit_array_register(device, NULL, &a), KJIT_INVALID, "host memory");
    const kjit_array_options wrong[] = {{.memory = KJIT_DEVICE},
                                        {.memory = KJIT_HOST},
                                        {.memory = KJIT_PINNED, .wc = 1},
                                        {.memory = KJIT_PINNED, .order = 'C'},
                                        {.memory = KJIT_MAPPED, .strides = &strides},
                                        {.memory = KJIT_MAPPED, .shareable = 1}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        FAILS(kjit_array_register(host, &wrong[i], &a), KJIT_INVALID, "");
        assert_null(a);
    }
    for (int k = 2; k < KINDS && !on_cpu(); k++) { /* it is plain host memory */
        FAILS(
            kjit_array_wrap(ctx, kjit_array_data(host), KJIT_I32, 1, SHAPE(N), NULL, kinds[k], &a),
            KJIT_INVALID, "is not ");
        assert_null(a);
    }
    for (int k = 1; k < KINDS && !on_cpu(); k++) { /* memory of another kind, or beyond its end */
        kjit_array *own = make(kinds[k], 1, SHAPE(N), NULL);
        int32_t *data = kjit_array_data(own);
        for (int as = 2; as < KINDS; as++) {
            bool managed = kinds[k] == KJIT_MANAGED || kinds[as] == KJIT_MANAGED;
            if (k == as || (kinds[k] != KJIT_DEVICE && !managed))
                continue; /* a driver may map all page-locked memory */
            FAILS(kjit_array_wrap(ctx, data, KJIT_I32, 1, SHAPE(N), NULL, kinds[as], &a),
                  KJIT_INVALID, "is not ");
        }
        if (kinds[k] != KJIT_DEVICE) {
            int64_t far = (int64_t)1 << 40, back = -(int64_t)sizeof *data;
            FAILS(kjit_array_wrap(ctx, data, KJIT_I32, 1, SHAPE(2), &far, kinds[k], &a),
                  KJIT_INVALID, "is not ");
            OK(kjit_array_wrap(ctx, data + N - 1, KJIT_I32, 1, SHAPE(N), &back, kinds[k], &a));
            OK(kjit_copy(a, host, NULL));
            add(a, 2, NULL);
            assert_int_equal(data[N - 1], 2);
            kjit_array_free(a);
        }
        kjit_array_free(own);
    }
    for (int k = 2; k < KINDS; k++) { /* what another array has made so can be wrapped */
        kjit_array *own = make(kinds[k], 1, SHAPE(N), NULL);
        OK(kjit_array_wrap(ctx, kjit_array_data(own), KJIT_I32, 1, SHAPE(N), NULL, kinds[k], &a));
        OK(kjit_copy(a, host, NULL));
        add(a, 2, NULL);
        expect_numbers(own, 2);
        kjit_array_free(a);
        kjit_array_free(own);
    }
    kjit_array_free(host);
    kjit_array_free(device);
}

/* A GPU of that kind is asked for by tests/driver/kinds.test. */
static void test_no_managed(void **state)
{
    (void)state;
    kjit_array *a;
    const char *managed = getenv("KJIT_DOUBLE_MANAGED");
    kjit_array_options options = {.memory = KJIT_MANAGED};
    if (on_cpu() || !managed || strcmp(managed, "0") != 0)
        SKIP("the driver double has no managed memory when it is told so");
    FAILS(kjit_array_create_with(ctx, KJIT_I32, 1, SHAPE(1), &options, &a), KJIT_NO_DEVICE,
          "the device has no managed memory");
    assert_null(a);
}

static int set_up(void **state)
{
    if (make_context(state) != 0)
        return 1;
    mod = module(source);
    return 0;
}

static int tear_down(void **state)
{
    kjit_module_free(mod);
    drop_folder();
    return drop_context(state);
}

/* With a name: that test alone. */
int main(int argc, char **argv)
{
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_launch),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_text_and_files),
        cmocka_unit_test(test_past_the_processor),
        cmocka_unit_test(test_strides),
        cmocka_unit_test(test_like),
        cmocka_unit_test(test_flags),
        cmocka_unit_test(test_register),
        cmocka_unit_test(test_register_never_waits),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_no_managed),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
