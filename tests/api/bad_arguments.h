/* What the sweeps of bad arguments share: every public function, with everything that can be wrong
 * with what it is given. bad_arguments.test tells which functions are in none of them. */
#ifndef BAD_ARGUMENTS_H
#define BAD_ARGUMENTS_H

#include "api.h"
#include <sys/wait.h>

/* Things that are as they should be, and the same of another context. */
typedef struct things {
    kjit_context *ctx;
    kjit_module *mod;
    kjit_array *x, *device, *whole, *fixed,
        *records; /* f32[4, 3] (host, device), i32[6], f32[2], P[5] */
    kjit_stream *stream;
    kjit_event *event;
} things;

static things own, foreign;
static int64_t number;

/* What calls are given for their results: they must be NULL afterwards. */
static kjit_array *no_array;
static kjit_module *no_module;
static kjit_context *no_context;
static kjit_stream *no_stream;
static kjit_event *no_event;
static char *no_text;
static kjit_launch_plan *no_plan;
static kjit_graph *no_graph;
static kjit_smart *no_smart;
static struct DLManagedTensorVersioned *no_tensor;
static struct DLManagedTensor *no_old_tensor;

static const struct {
    const char *text;
    void *place;
} results[] = {
    {"&no_array", &no_array},   {"&no_module", &no_module}, {"&no_context", &no_context},
    {"&no_stream", &no_stream}, {"&no_event", &no_event},   {"&no_text", &no_text},
    {"&no_plan", &no_plan},     {"&no_tensor", &no_tensor}, {"&no_old_tensor", &no_old_tensor},
    {"&no_smart", &no_smart},   {"&no_graph", &no_graph},
};

static const char source[] = "record P { i: i32\n f: f32 }\n"
                             "record Q { f: f32 }\n"
                             "const table: f32[2]\n"
                             "kernel scale(x: f32[,], a: f32) {\n"
                             "    let i = grid(1)\n"
                             "    if i < x.shape[0] { x[i, 0] *= a }\n"
                             "}\n"
                             "kernel fit(x: f32[,], const n: i32, p: P) {\n"
                             "    requires x.shape[0] == 4\n"
                             "    if grid(1) == 0 { x[0, 0] = n + p.f + table[0] }\n"
                             "}\n"
                             "kernel together(x: f32[,]) {\n"
                             "    grid_sync()\n"
                             "    if grid(1) == 0 { x[0, 0] = 1 }\n"
                             "}\n"
                             "run {\n"
                             "    param n = 5\n"
                             "    let y = zeros(n, f32)\n"
                             "    print(y)\n"
                             "}\n";

static inline void make_things(things *t)
{
    kjit_dtype p;
    const kjit_context_options options = {.cache = "off"};
    OK(kjit_context_create(&options, &t->ctx, NULL, 0));
    ctx = t->ctx;
    t->mod = module(source);
    OK(kjit_module_record(t->mod, "P", &p));
    OK(kjit_array_create(ctx, KJIT_F32, 2, SHAPE(4, 3), 'C', KJIT_HOST, &t->x));
    OK(kjit_array_create(ctx, KJIT_F32, 2, SHAPE(4, 3), 'C', KJIT_DEVICE, &t->device));
    OK(kjit_array_create(ctx, KJIT_I32, 1, SHAPE(6), 'C', KJIT_HOST, &t->whole));
    OK(kjit_array_create(ctx, KJIT_F32, 1, SHAPE(2), 'C', KJIT_HOST, &t->fixed));
    OK(kjit_array_create(ctx, p, 1, SHAPE(5), 'C', KJIT_HOST, &t->records));
    memset(kjit_array_data(t->x), 0, 48);
    memset(kjit_array_data(t->whole), 0, 24);
    memset(kjit_array_data(t->fixed), 0, 8);
    memset(kjit_array_data(t->records), 0, 40);
    OK(kjit_stream_create(ctx, &t->stream));
    OK(kjit_event_create(ctx, 1, &t->event));
}

static inline void drop_things(things *t)
{
    kjit_event_free(t->event);
    kjit_stream_free(t->stream);
    kjit_array_free(t->x);
    kjit_array_free(t->device);
    kjit_array_free(t->whole);
    kjit_array_free(t->fixed);
    kjit_array_free(t->records);
    kjit_module_free(t->mod);
    kjit_context_destroy(t->ctx);
}

static inline int make_both(void **state)
{
    (void)state;
    make_things(&foreign);
    make_things(&own);
    ctx = own.ctx;
    return 0;
}

static inline int drop_both(void **state)
{
    (void)state;
    drop_things(&own);
    drop_things(&foreign);
    drop_folder();
    return 0;
}

/* ---- Calls ---- */

/* All that is wrong is told, then the test fails. */
static int wrongs;

static inline __attribute__((format(printf, 1, 2))) void wrong(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    wrongs++;
}

static inline int none_wrong(void **state)
{
    (void)state;
    int told = wrongs;
    wrongs = 0;
    return told != 0;
}

#define SWEEP(test) cmocka_unit_test_teardown(test, none_wrong)

static inline void poison_results(void)
{
    static int somewhere;
    for (size_t i = 0; i < sizeof results / sizeof *results; i++)
        *(void **)results[i].place = &somewhere;
}

/* Those that the call was given are NULL. */
static inline void check_results(const char *call, const char *arguments)
{
    for (size_t i = 0; i < sizeof results / sizeof *results; i++) {
        if (strstr(arguments, results[i].text) && *(void **)results[i].place)
            wrong("%s%s: %s is not NULL", call, arguments, results[i].text + 1);
    }
}

static inline void check_bad(const char *call, const char *arguments, kjit_status got,
                             kjit_status expected, const char *text)
{
    const char *said = kjit_last_error(own.ctx);
    if (got != expected)
        wrong("%s%s: %s rather than %s: %s", call, arguments, kjit_status_name(got),
              kjit_status_name(expected), said);
    if (text && (!*said || !strstr(said, text)))
        wrong("%s%s: the sentence is: %s", call, arguments, said);
    check_results(call, arguments);
}

/* Another sentence, so that an old one is not taken for the call's. */
static inline void forget_sentence(void)
{
    if (kjit_context_device(own.ctx, NULL) != KJIT_INVALID)
        fail_msg("kjit_context_device takes NULL");
}

/* The call fails with the status, and the context's sentence has the text. */
#define BAD(function, arguments, expected, text) \
    do { \
        poison_results(); \
        forget_sentence(); \
        check_bad(#function, #arguments, function arguments, expected, text); \
    } while (0)
/* Its handle is NULL, which the sentence says, whatever context is asked. */
#define NONE(function, arguments) BAD(function, arguments, KJIT_INVALID, " is NULL")
/* It gives no status: what it gives. */
#define GIVES(function, arguments, expected) \
    do { \
        if (!(function arguments expected)) \
            wrong("%s%s is not %s", #function, #arguments, #expected); \
    } while (0)
/* It gives nothing at all, and does nothing. */
#define HARMLESS(function, arguments) function arguments

/* ---- In a forked child ---- */

static inline void check_forked(const char *call, const char *arguments, kjit_status got)
{
    bool kept = false;
    for (size_t i = 0; i < sizeof results / sizeof *results; i++)
        kept |= strstr(arguments, results[i].text) && *(void **)results[i].place;
    if (got == KJIT_NO_DEVICE && !kept)
        return;
    wrong("in a child: %s%s: %s%s", call, arguments, kjit_status_name(got),
          kept ? ", and its result is not NULL" : "");
}

#define FORKED(function, arguments) \
    do { \
        poison_results(); \
        check_forked(#function, #arguments, function arguments); \
    } while (0)

/* Runs the calls in a child of this process, whose contexts they are. */
static inline void in_child(void (*calls)(void))
{
    int status;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        calls();
        if (!strstr(kjit_last_error(own.ctx), "before a fork"))
            wrong("in a child: %s", kjit_last_error(own.ctx));
        _exit(wrongs != 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

#endif
