/* What a launch concludes from the addresses of its arrays: do any two share memory, do all begin at
 * multiples of 16? Code for arrays that are apart reads what nobody writes past the other accesses,
 * code for aligned ones takes 16 bytes at once; given other arrays it gives wrong results or faults.
 * Each kernel is run by one thread, so that sharing has a meaning: that of the same loop in C. */
#include "api.h"

enum { BYTES = 2048, MOST = 3 };

static const char source[] =
    "record P { a: i32, b: f32, last: u8 }\n"
    "const kept: i32[16]\n"
    "kernel shift(x: i32[], y: i32[]) {\n"
    "    for i in range(min(x.size, y.size)) { y[i] = x[i] + 1 }\n"
    "}\n"
    "kernel back(y: i32[], x: i32[]) {\n"
    "    for i in range(min(x.size, y.size)) { y[i] = x[i] + 1 }\n"
    "}\n"
    "kernel sums(x: i32[], z: i32[], y: i32[]) {\n"
    "    for i in range(z.size) { z[i] = x[i] + 3 * y[i] }\n"
    "}\n"
    "kernel ends(x: i32[], y: i32[], z: i32[]) {\n"
    "    for i in range(z.size) { z[i] = x[i] + 3 * y[i] }\n"
    "}\n"
    "kernel once(x: i32[], y: i32[]) { for i in range(y.size) { y[i] = x[0] + i32(i) } }\n"
    "kernel rows(x: i32[,], y: i32[,]) {\n"
    "    for i in range(y.shape[0]) {\n"
    "        for j in range(y.shape[1]) { y[i, j] = x[i, j] + 1 }\n"
    "    }\n"
    "}\n"
    "kernel fours(x: i32[], y: i32[]) {\n"
    "    for i in range(y.size // 4) {\n"
    "        let k = 4 * i\n"
    "        let a = x[k] + x[k + 1]\n"
    "        let b = x[k + 2] + x[k + 3]\n"
    "        y[k] = a\n"
    "        y[k + 1] = b\n"
    "        y[k + 2] = a - b\n"
    "        y[k + 3] = a + b\n"
    "    }\n"
    "}\n"
    "kernel vectors(x: i32x4[], y: i32x4[]) { for i in range(y.size) { y[i] = x[i] + 1 } }\n"
    "kernel pairs(x: i32x2[], y: i32x2[]) { for i in range(y.size) { y[i] = x[i] + 1 } }\n"
    "kernel colours(x: u8x4[], y: u8x4[]) { for i in range(y.size) { y[i] = x[i] + 1 } }\n"
    "kernel lasts(x: i32x4[], y: i32[]) {\n"
    "    for i in range(y.size) {\n"
    "        let v = x[i]\n"
    "        y[i] = v.x + v.w\n"
    "    }\n"
    "}\n"
    "kernel fields(x: P[], y: u8[]) { for i in range(y.size) { y[i] = x[i].last + 1 } }\n"
    "kernel octets(x: u8[], y: u8[]) { for i in range(y.size) { y[i] = x[i] + 1 } }\n"
    "kernel constant(y: i32[]) { for i in range(y.size) { y[i] = kept[i] + y[15 - i] } }\n";

/* Where an array is in the memory: bytes from its beginning, extents and strides in bytes. With one
 * axis where n2 is 0. */
typedef struct view {
    int64_t at, n, stride, n2, stride2;
} view;

#define LINE(at, n, stride) \
    { \
        at, n, stride, 0, 0 \
    }

typedef struct kernel {
    const char *name;
    kjit_dtype types[MOST];
    int nargs;
    void (*in_c)(char *m, const view v[MOST]);
} kernel;

static kjit_module *mod;
static kjit_stream *queue;

/* ---- The same loops ---- */

static int32_t *word(char *m, view v, int64_t i)
{
    return (int32_t *)(void *)(m + v.at + i * v.stride);
}

static void shift(char *m, const view v[MOST])
{
    for (int64_t i = 0; i < v[0].n && i < v[1].n; i++)
        *word(m, v[1], i) = *word(m, v[0], i) + 1;
}

static void back(char *m, const view v[MOST])
{
    shift(m, (const view[MOST]){v[1], v[0]});
}

static void sums(char *m, const view v[MOST])
{
    for (int64_t i = 0; i < v[1].n; i++)
        *word(m, v[1], i) =
            (int32_t)((uint32_t)*word(m, v[0], i) + 3 * (uint32_t)*word(m, v[2], i));
}

static void ends(char *m, const view v[MOST])
{
    sums(m, (const view[MOST]){v[0], v[2], v[1]});
}

static void once(char *m, const view v[MOST])
{
    for (int64_t i = 0; i < v[1].n; i++)
        *word(m, v[1], i) = (int32_t)((uint32_t)*word(m, v[0], 0) + (uint32_t)i);
}

static void rows(char *m, const view v[MOST])
{
    for (int64_t i = 0; i < v[1].n; i++)
        for (int64_t j = 0; j < v[1].n2; j++)
            *word(m + j * v[1].stride2, v[1], i) = *word(m + j * v[0].stride2, v[0], i) + 1;
}

static void fours(char *m, const view v[MOST])
{
    for (int64_t i = 0; i + 3 < v[1].n; i += 4) {
        int32_t a = *word(m, v[0], i) + *word(m, v[0], i + 1);
        int32_t b = *word(m, v[0], i + 2) + *word(m, v[0], i + 3);
        *word(m, v[1], i) = a;
        *word(m, v[1], i + 1) = b;
        *word(m, v[1], i + 2) = a - b;
        *word(m, v[1], i + 3) = a + b;
    }
}

/* Vectors of n words, each read whole before it is written. */
static void add_one(char *m, const view v[MOST], int n)
{
    for (int64_t i = 0; i < v[1].n; i++) {
        int32_t x[4];
        memcpy(x, word(m, v[0], i), (size_t)n * 4);
        for (int k = 0; k < n; k++)
            x[k]++;
        memcpy(word(m, v[1], i), x, (size_t)n * 4);
    }
}

static void vectors(char *m, const view v[MOST])
{
    add_one(m, v, 4);
}

static void pairs(char *m, const view v[MOST])
{
    add_one(m, v, 2);
}

static void colours(char *m, const view v[MOST])
{
    for (int64_t i = 0; i < v[1].n; i++) {
        uint8_t x[4];
        memcpy(x, m + v[0].at + i * v[0].stride, 4);
        for (int k = 0; k < 4; k++)
            x[k]++;
        memcpy(m + v[1].at + i * v[1].stride, x, 4);
    }
}

static void lasts(char *m, const view v[MOST])
{
    for (int64_t i = 0; i < v[1].n; i++)
        *word(m, v[1], i) = word(m, v[0], i)[0] + word(m, v[0], i)[3];
}

static void fields(char *m, const view v[MOST])
{
    for (int64_t i = 0; i < v[1].n; i++)
        m[v[1].at + i * v[1].stride] = (char)(m[v[0].at + i * v[0].stride + 8] + 1);
}

static void octets(char *m, const view v[MOST])
{
    for (int64_t i = 0; i < v[1].n; i++)
        m[v[1].at + i * v[1].stride] = (char)(m[v[0].at + i * v[0].stride] + 1);
}

static kernel kernels[] = {
#define KERNEL(name, nargs, ...) \
    { \
#name, {__VA_ARGS__ }, nargs, name \
    }
    KERNEL(shift, 2, KJIT_I32, KJIT_I32),          KERNEL(back, 2, KJIT_I32, KJIT_I32),
    KERNEL(sums, 3, KJIT_I32, KJIT_I32, KJIT_I32), KERNEL(rows, 2, KJIT_I32, KJIT_I32),
    KERNEL(ends, 3, KJIT_I32, KJIT_I32, KJIT_I32), KERNEL(once, 2, KJIT_I32, KJIT_I32),
    KERNEL(fours, 2, KJIT_I32, KJIT_I32),          KERNEL(vectors, 2, KJIT_I32X4, KJIT_I32X4),
    KERNEL(pairs, 2, KJIT_I32X2, KJIT_I32X2),      KERNEL(colours, 2, KJIT_U8X4, KJIT_U8X4),
    KERNEL(lasts, 2, KJIT_I32X4, KJIT_I32),        KERNEL(fields, 2, KJIT_FIRST_RECORD, KJIT_U8),
    KERNEL(octets, 2, KJIT_U8, KJIT_U8),
#undef KERNEL
};

static const kernel *kernel_of(const char *name)
{
    const kernel *k = kernels;
    while (strcmp(k->name, name) != 0)
        k++;
    return k;
}

/* ---- Running one, in every way ---- */

typedef enum way { LAUNCH, IN_STREAM, PLAN, PLAN_SET, GRAPH, WAYS } way;

static const kjit_config config = {.grid = {1}, .block = {1}};

static kjit_array *array_at(char *m, kjit_memory memory, kjit_dtype type, view v)
{
    kjit_array *a;
    OK(kjit_array_wrap(ctx, m + v.at, type, v.n2 ? 2 : 1, SHAPE(v.n, v.n2),
                       SHAPE(v.stride, v.stride2), memory, &a));
    return a;
}

static void run(const kernel *k, way how, kjit_array *const arrays[MOST],
                kjit_array *const others[MOST])
{
    kjit_arg args[MOST], first[MOST];
    kjit_config queued = config;
    kjit_launch_plan *plan;
    kjit_graph *graph;
    queued.stream = queue;
    for (int i = 0; i < k->nargs; i++) {
        args[i] = kjit_arg_array(arrays[i]);
        first[i] = kjit_arg_array(others[i] ? others[i] : arrays[i]);
    }
    if (how == LAUNCH)
        OK(kjit_launch(mod, k->name, &config, args, k->nargs));
    if (how == IN_STREAM)
        OK(kjit_launch(mod, k->name, &queued, args, k->nargs));
    if (how == PLAN || how == PLAN_SET) {
        OK(kjit_launch_plan_create(mod, k->name, &config, how == PLAN ? args : first, k->nargs,
                                   &plan));
        for (int i = 0; i < k->nargs && how == PLAN_SET; i++)
            OK(kjit_launch_plan_set(plan, i, args[i]));
        OK(kjit_launch_plan_run(plan, queue));
        kjit_launch_plan_free(plan);
    }
    if (how == GRAPH) {
        OK(kjit_graph_begin(queue));
        OK(kjit_launch(mod, k->name, &queued, args, k->nargs));
        OK(kjit_graph_end(queue, &graph));
        OK(kjit_graph_launch(graph, queue));
        kjit_graph_free(graph);
    }
    OK(kjit_stream_synchronize(queue));
}

/* Memory of a kind, and the same bytes on the host to compare with. */
typedef struct memory {
    kjit_memory kind;
    kjit_array *bytes, *host, *apart[MOST];
    char *data;
    char want[BYTES], got[BYTES];
} memory;

static bool open_memory(memory *m, kjit_memory kind)
{
    *m = (memory){.kind = kind};
    kjit_status status = kjit_array_create(ctx, KJIT_U8, 1, SHAPE(BYTES), 'C', kind, &m->bytes);
    if (kind == KJIT_MANAGED && status == KJIT_NO_DEVICE)
        return false;
    OK(status);
    m->data = kjit_array_data(m->bytes);
    m->host = wrap(m->got, KJIT_U8, 1, SHAPE(BYTES));
    return true;
}

static void close_memory(memory *m)
{
    kjit_array_free(m->bytes);
    kjit_array_free(m->host);
}

static void check(memory *m, const char *name, way how, const view v[MOST])
{
    const kernel *k = kernel_of(name);
    kjit_array *arrays[MOST], *others[MOST];
    for (int i = 0; i < BYTES; i++)
        m->got[i] = m->want[i] = (char)(i * 7 % 251 - (i % 4 == 3 ? 120 : 0));
    OK(kjit_copy(m->bytes, m->host, NULL));
    for (int i = 0; i < k->nargs; i++) { /* the others are apart, and aligned */
        view far = {1024 + 256 * i, 8, (int64_t)kjit_dtype_size(k->types[i]), v[i].n2, 4};
        far.stride = far.stride ? far.stride : 12;
        arrays[i] = array_at(m->data, m->kind, k->types[i], v[i]);
        others[i] = array_at(m->data, m->kind, k->types[i], far);
    }
    k->in_c(m->want, v);
    run(k, how, arrays, others);
    for (int i = 0; i < k->nargs; i++) {
        kjit_array_free(arrays[i]);
        kjit_array_free(others[i]);
    }
    OK(kjit_copy(m->host, m->bytes, NULL));
    for (int i = 0; i < BYTES; i++)
        if (m->got[i] != m->want[i])
            fail_msg("%s in memory %d, way %d, views at %d and %d (%d elements, strides %d and "
                     "%d): byte %d is %d, not %d",
                     name, (int)m->kind, (int)how, (int)v[0].at, (int)v[1].at, (int)v[0].n,
                     (int)v[0].stride, (int)v[1].stride, i, m->got[i], m->want[i]);
}

static void check_everywhere(const char *name, const view v[MOST])
{
    static const kjit_memory kinds[] = {KJIT_HOST, KJIT_DEVICE, KJIT_MAPPED, KJIT_MANAGED};
    static memory m;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!open_memory(&m, kinds[i]))
            continue;
        for (way how = LAUNCH; how < WAYS; how++)
            check(&m, name, how, v);
        close_memory(&m);
    }
}

#define CHECK(name, ...) check_everywhere(name, (const view[MOST]){__VA_ARGS__})

/* ---- Do they share memory? ---- */

static void test_two(void **state)
{
    static const char *const names[] = {"shift", "back"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        CHECK(names[i], LINE(0, 32, 4), LINE(128, 32, 4)); /* side by side */
        CHECK(names[i], LINE(128, 32, 4), LINE(0, 32, 4)); /* and the other way round */
        CHECK(names[i], LINE(64, 32, 4), LINE(64, 32, 4)); /* the same */
        CHECK(names[i], LINE(64, 31, 4), LINE(68, 31, 4)); /* one further */
        CHECK(names[i], LINE(68, 31, 4), LINE(64, 31, 4)); /* one before */
        CHECK(names[i], LINE(0, 32, 4), LINE(124, 32, 4)); /* the last is the first */
        CHECK(names[i], LINE(124, 32, 4), LINE(0, 32, 4)); /* and the other way round */
        CHECK(names[i], LINE(64, 32, 4), LINE(96, 8, 4));  /* in its middle */
        CHECK(names[i], LINE(64, 0, 4), LINE(64, 32, 4));  /* nothing of it */
        CHECK(names[i], LINE(64, 32, 4), LINE(0, 16, 0));  /* all in one place, apart */
        CHECK(names[i], LINE(64, 16, 0), LINE(0, 32, 4));  /* all from one place, of the other */
    }
}

static void test_strides(void **state)
{
    (void)state;
    CHECK("shift", LINE(124, 32, -4), LINE(0, 32, 4));   /* backwards */
    CHECK("shift", LINE(0, 32, 4), LINE(124, 32, -4));   /* writing backwards */
    CHECK("shift", LINE(124, 32, -4), LINE(128, 32, 4)); /* backwards, side by side */
    CHECK("shift", LINE(252, 33, -4), LINE(0, 33, 4));   /* backwards, the last is the last */
    CHECK("shift", LINE(124, 32, 4),
          LINE(124, 32, -4)); /* writing backwards, the first is the first */
    CHECK("back", LINE(252, 33, -4), LINE(0, 33, 4)); /* writing backwards, the last is the last */
    CHECK("shift", LINE(252, 32, -4),
          LINE(128, 32, -4));                         /* both backwards, the last is the first */
    CHECK("shift", LINE(0, 32, 8), LINE(4, 32, 8));   /* between one another */
    CHECK("shift", LINE(0, 32, 8), LINE(8, 32, 4));   /* over each other */
    CHECK("shift", LINE(0, 16, 8), LINE(120, 16, 8)); /* the last is the first, with gaps */
    CHECK("shift", LINE(0, 16, 8), LINE(124, 16, 8)); /* the first is behind the last */
    CHECK("shift", LINE(0, 1, 64), LINE(0, 1, 64));   /* one element */
}

/* What is read in every turn is changed by one of them. */
static void test_read_again(void **state)
{
    (void)state;
    CHECK("once", LINE(64, 1, 4), LINE(128, 20, 4)); /* not changed */
    CHECK("once", LINE(64, 1, 4), LINE(64, 20, 4));  /* by the first */
    CHECK("once", LINE(64, 1, 4), LINE(32, 20, 4));  /* by one in the middle */
    CHECK("once", LINE(64, 20, 4), LINE(60, 20, 4)); /* by the second */
}

static void test_one_byte(void **state)
{
    (void)state;
    CHECK("octets", LINE(0, 33, 1), LINE(33, 33, 1));   /* side by side */
    CHECK("octets", LINE(0, 33, 1), LINE(32, 33, 1));   /* the last is the first */
    CHECK("octets", LINE(32, 33, 1), LINE(0, 33, 1));   /* and the other way round */
    CHECK("octets", LINE(32, 33, -1), LINE(32, 33, 1)); /* the first is the first */
}

/* Which of three share memory. */
static void test_three(void **state)
{
    (void)state;
    CHECK("sums", LINE(0, 16, 4), LINE(64, 16, 4), LINE(128, 16, 4)); /* none */
    CHECK("sums", LINE(0, 16, 4), LINE(64, 16, 4), LINE(0, 16, 4));   /* what is read */
    CHECK("sums", LINE(0, 17, 4), LINE(64, 16, 4),
          LINE(128, 16, 4)); /* reaches further than it is read */
    CHECK("sums", LINE(0, 16, 4), LINE(60, 16, 4), LINE(256, 16, 4));   /* the first two */
    CHECK("sums", LINE(256, 16, 4), LINE(60, 16, 4), LINE(0, 16, 4));   /* the last two */
    CHECK("sums", LINE(64, 16, 4), LINE(128, 16, 4), LINE(188, 16, 4)); /* the last two, in order */
    CHECK("sums", LINE(60, 16, 4), LINE(0, 16, 4), LINE(120, 16, 4));   /* a chain */
    CHECK("ends", LINE(0, 16, 4), LINE(256, 16, 4), LINE(60, 16, 4));   /* the first and the last */
    CHECK("ends", LINE(256, 16, 4), LINE(0, 16, 4), LINE(60, 16, 4));
    CHECK("sums", LINE(0, 16, 4), LINE(0, 16, 4), LINE(0, 16, 4)); /* all */
}

static void test_two_axes(void **state)
{
    (void)state;
    CHECK("rows", {0, 8, 32, 8, 4}, {256, 8, 32, 8, 4});     /* side by side */
    CHECK("rows", {0, 8, 32, 8, 4}, {0, 8, 4, 8, 32});       /* transposed in place */
    CHECK("rows", {0, 4, 32, 8, 4}, {96, 4, 32, 8, 4});      /* one row in common */
    CHECK("rows", {0, 8, 32, 4, 4}, {16, 8, 32, 4, 4});      /* left and right half */
    CHECK("rows", {0, 8, 32, 5, 4}, {16, 8, 32, 4, 4});      /* one column in common */
    CHECK("rows", {0, 1, 512, 8, 4}, {28, 1, 512, 8, 4});    /* one row each, an element */
    CHECK("rows", {28, 1, 512, 8, 4}, {0, 1, 512, 8, 4});    /* and the other way round */
    CHECK("rows", {252, 8, -32, 8, -4}, {0, 8, 32, 8, 4});   /* both axes backwards */
    CHECK("rows", {28, 8, 32, 8, -4}, {252, 4, 32, 8, 4});   /* one axis, the last in common */
    CHECK("rows", {224, 8, -32, 8, 4}, {252, 4, 32, 8, 4});  /* the other axis */
    CHECK("rows", {256, 8, 32, 8, 4}, {284, 8, -32, 8, -4}); /* writing so */
    CHECK("rows", {0, 8, 4, 8, 32}, {252, 8, 4, 8, 32});     /* columns, the last is the first */
}

/* Elements of several scalars reach as far as their last byte. */
static void test_wide_elements(void **state)
{
    (void)state;
    CHECK("lasts", LINE(0, 4, 16), LINE(64, 4, 4));    /* side by side */
    CHECK("lasts", LINE(0, 4, 16), LINE(60, 4, 4));    /* the last scalar */
    CHECK("lasts", LINE(12, 4, 16), LINE(0, 4, 4));    /* the first scalar */
    CHECK("lasts", LINE(48, 4, -16), LINE(60, 4, 4));  /* of the first, backwards */
    CHECK("vectors", LINE(0, 4, 16), LINE(60, 4, 16)); /* the last scalar is the first */
    CHECK("vectors", LINE(60, 4, 16), LINE(0, 4, 16)); /* and the other way round */
    CHECK("pairs", LINE(0, 8, 8), LINE(60, 8, 8));
    CHECK("pairs", LINE(0, 8, 16), LINE(8, 8, 16));  /* between one another */
    CHECK("fields", LINE(0, 5, 12), LINE(60, 5, 1)); /* side by side */
    CHECK("fields", LINE(0, 5, 12), LINE(56, 5, 1)); /* the last field */
    CHECK("fields", LINE(0, 5, 12), LINE(52, 5, 1)); /* that, and one that is not read */
    CHECK("fields", LINE(4, 5, 12), LINE(8, 5, 1));  /* the first that is read */
}

/* Page-locked memory may be wrapped as if it were not; a launch moves both kinds. */
static void test_two_kinds(void **state)
{
    const kernel *k = kernel_of("shift");
    kjit_array *pinned, *views[MOST] = {0}, *others[MOST] = {0};
    char want[256];
    (void)state;
    OK(kjit_array_create(ctx, KJIT_I32, 1, SHAPE(64), 'C', KJIT_PINNED, &pinned));
    char *m = kjit_array_data(pinned);
    for (int turn = 0; turn < 2; turn++) { /* apart, and one further */
        view x = LINE(0, 16, 4), y = LINE(turn ? 4 : 64, 16, 4);
        for (int i = 0; i < 64; i++)
            ((int32_t *)(void *)m)[i] = i * i;
        memcpy(want, m, sizeof want);
        shift(want, (const view[MOST]){x, y});
        OK(kjit_array_slice(pinned, SHAPE(0), SHAPE(16), SHAPE(1), &views[0]));
        views[1] = array_at(m, KJIT_HOST, KJIT_I32, y);
        run(k, LAUNCH, views, others);
        assert_memory_equal(m, want, sizeof want);
        kjit_array_free(views[0]);
        kjit_array_free(views[1]);
    }
    kjit_array_free(pinned);
}

/* A const array is filled with a copy. */
static void test_const_array(void **state)
{
    int32_t x[16], want[16];
    kjit_array *a = wrap(x, KJIT_I32, 1, SHAPE(16));
    (void)state;
    for (int i = 0; i < 16; i++)
        x[i] = want[i] = i * i;
    OK(kjit_module_set_const(mod, "kept", a));
    for (int turn = 0; turn < 2; turn++) {
        OK(kjit_launch(mod, "constant", &config, (kjit_arg[]){kjit_arg_array(a)}, 1));
        for (int i = 0; i < 16; i++)
            want[i] = i * i + want[15 - i];
    }
    assert_memory_equal(x, want, sizeof x);
    kjit_array_free(a);
}

/* ---- Do they begin at multiples of 16? ---- */

/* Each place of the arrays relative to such a multiple, in steps of what their scalars have. */
static void check_places(const char *name, int step, view a, view b)
{
    static memory m;
    for (int kind = 0; kind < 2; kind++) {
        open_memory(&m, kind ? KJIT_DEVICE : KJIT_HOST);
        for (int i = 0; i < 16; i += step)
            for (int k = 0; k < 16; k += step) {
                way how = (way)((i + k) / step % WAYS);
                view x = a, y = b;
                x.at += i;
                y.at += k;
                check(&m, name, how, (const view[MOST]){x, y, LINE(768, 16, 4)});
                check(&m, name, LAUNCH, (const view[MOST]){y, LINE(768, y.n, y.stride), x});
            }
        close_memory(&m);
    }
}

static void test_places(void **state)
{
    (void)state;
    check_places("shift", 4, (view)LINE(0, 20, 4), (view)LINE(256, 20, 4));
    check_places("sums", 4, (view)LINE(0, 16, 4), (view)LINE(256, 16, 4));
    check_places("fours", 4, (view)LINE(0, 16, 4), (view)LINE(256, 16, 4));
    check_places("vectors", 4, (view)LINE(0, 5, 16), (view)LINE(256, 5, 16));
    check_places("pairs", 4, (view)LINE(0, 9, 8), (view)LINE(256, 9, 8));
    check_places("colours", 1, (view)LINE(0, 9, 4), (view)LINE(256, 9, 4));
}

/* Nothing is said by where an empty array begins. */
static void test_empty_places(void **state)
{
    (void)state;
    CHECK("vectors", LINE(4, 0, 16), LINE(256, 0, 16));
    CHECK("shift", LINE(4, 0, 4), LINE(256, 20, 4));
    CHECK("sums", LINE(256, 16, 4), LINE(128, 0, 4), LINE(4, 16, 4));
}

static int set_up(void **state)
{
    kjit_record about;
    if (make_context(state) != 0)
        return 1;
    mod = module(source);
    OK(kjit_stream_create(ctx, &queue));
    OK(kjit_record_info(ctx, KJIT_FIRST_RECORD, &about));
    assert_int_equal(about.size, 12);
    return 0;
}

static int tear_down(void **state)
{
    kjit_stream_free(queue);
    kjit_module_free(mod);
    return drop_context(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two),          cmocka_unit_test(test_strides),
        cmocka_unit_test(test_read_again),   cmocka_unit_test(test_one_byte),
        cmocka_unit_test(test_two_kinds),    cmocka_unit_test(test_three),
        cmocka_unit_test(test_two_axes),     cmocka_unit_test(test_wide_elements),
        cmocka_unit_test(test_const_array),  cmocka_unit_test(test_places),
        cmocka_unit_test(test_empty_places),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
