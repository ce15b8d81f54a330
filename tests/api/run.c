/* kjit_run: options, callbacks, statuses, many runs of one module at once, memory that runs out. */
#include "api.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>

/* What a run wrote and reported. */
typedef struct record {
    char text[4096], report[4096];
    int statements, stop_after;
} record;

static void append(char *to, size_t room, const char *text, size_t size)
{
    size_t n = strlen(to);
    assert_true(n + size < room);
    memcpy(to + n, text, size);
    to[n + size] = 0;
}

static void on_write(void *user, const char *text, size_t size)
{
    record *r = user;
    append(r->text, sizeof r->text, text, size);
}

static void on_report(void *user, const char *text, size_t size)
{
    record *r = user;
    append(r->report, sizeof r->report, text, size);
}

static int on_statement(void *user)
{
    record *r = user;
    return ++r->statements > r->stop_after && r->stop_after > 0;
}

static kjit_run_options recording(record *r)
{
    return (kjit_run_options){
        .write = on_write, .report = on_report, .interrupted = on_statement, .user = r};
}

static const char *const SOURCE = "kernel add(x: f32[], v: f32) {\n"
                                  "    let i = grid(1)\n"
                                  "    if i < x.size { x[i] += v }\n"
                                  "}\n"
                                  "run {\n"
                                  "    param n = 3\n"
                                  "    param v = 1.5\n"
                                  "    let x = zeros(n)\n"
                                  "    add.forall(n)(x, v)\n"
                                  "    print(x)\n"
                                  "}\n";

static void params_and_output(void **state)
{
    (void)state;
    kjit_module *mod = module(SOURCE);
    record r = {0};
    kjit_run_options options = recording(&r);
    OK(kjit_run(mod, NULL));
    OK(kjit_run(mod, &options));
    assert_string_equal(r.text, "[1.5 1.5 1.5]\n");
    assert_string_equal(r.report, "");

    record timed = {0};
    options = recording(&timed);
    options.params = (const char *const[]){"n=2", "v=-0.5"};
    options.nparams = 2;
    options.time = 1;
    OK(kjit_run(mod, &options));
    assert_string_equal(timed.text, "[-0.5 -0.5]\n");
    assert_non_null(strstr(timed.report, "time: launch  add["));

    char save[200];
    snprintf(save, sizeof save, "x=%s", path_of("x.npy"));
    options.saves = (const char *const[]){save};
    options.nsaves = 1;
    OK(kjit_run(mod, &options));
    kjit_array *x;
    OK(kjit_array_load(ctx, path_of("x.npy"), &x));
    assert_int_equal(kjit_array_size(x), 2);
    kjit_array_free(x);
    kjit_module_free(mod);
}

static void drawings(void **state)
{
    (void)state;
    kjit_module *mod = module("run { show(array([[true, false], [false, true]])) }");
    record plain = {0}, narrow = {0}, coloured = {0};
    kjit_run_options options = recording(&plain);
    OK(kjit_run(mod, &options));
    assert_string_equal(plain.text, "@@\n  @@\n");
    options = recording(&narrow);
    options.columns = 1;
    OK(kjit_run(mod, &options));
    assert_string_equal(narrow.text, "=\n");
    options = recording(&coloured);
    options.colours = 1;
    OK(kjit_run(mod, &options));
    assert_string_equal(coloured.text, "\x1b[38;2;255;255;255m\x1b[48;2;0;0;0m\u2580"
                                       "\x1b[38;2;0;0;0m\x1b[48;2;255;255;255m\u2580\x1b[0m\n");
    kjit_module_free(mod);
}

static void statuses(void **state)
{
    (void)state;
    static const struct {
        const char *body, *text;
        kjit_status status;
    } cases[] = {
        {"assert(1 == 2)", "test.knl:1:14: error: assertion failed", KJIT_ASSERT},
        {"load(\"/no/such.npy\")", "test.knl:1:7: error: ", KJIT_IO},
        {"print(zeros(3)[3])", "test.knl:1:22: error: index 3", KJIT_SHAPE},
        {"print(\"a\" + 1)", "test.knl:1:13: error: '+'", KJIT_TYPE},
        {"zeros((4000000, 4000000))", "test.knl:1:7: error: out of memory", KJIT_NO_MEMORY},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char source[200];
        snprintf(source, sizeof source, "run { %s }", cases[i].body);
        kjit_module *mod = module(source);
        FAILS(kjit_run(mod, NULL), cases[i].status, cases[i].text);
        kjit_module_free(mod);
    }
    kjit_module *mod = module(SOURCE);
    kjit_run_options wrong = {.params = (const char *const[]){"m=3"}, .nparams = 1};
    FAILS(kjit_run(mod, &wrong), KJIT_INVALID, "there is no param 'm'");
    kjit_module_free(mod);
    mod = module("kernel k(x: f32[]) { }");
    FAILS(kjit_run(mod, NULL), KJIT_NOT_FOUND, "k[ceil_div(n, 256), 256](x)");
    kjit_module_free(mod);
    assert_int_equal(kjit_module_compile(ctx, "test.knl", "run { x }", 9, NULL, &mod),
                     KJIT_COMPILE);
    FAILS(kjit_run(mod, NULL), KJIT_COMPILE, "errors");
    kjit_module_free(mod);
    assert_int_equal(kjit_run(NULL, NULL), KJIT_INVALID);
}

static void interrupted(void **state)
{
    (void)state;
    kjit_module *mod = module("run { var n = 0\n while true { n += 1 } }");
    record r = {.stop_after = 1000};
    kjit_run_options options = recording(&r);
    FAILS(kjit_run(mod, &options), KJIT_INTERRUPTED, "interrupted");
    assert_int_equal(r.statements, 1001);
    kjit_module_free(mod);
}

static void *run_often(void *data)
{
    kjit_module *mod = data;
    for (int i = 0; i < 50; i++) {
        record r = {0};
        kjit_run_options options = recording(&r);
        if (kjit_run(mod, &options) != KJIT_OK || strcmp(r.text, "[1.5 1.5 1.5]\n") != 0)
            return NULL;
    }
    return data;
}

static void in_threads(void *(*work)(void *), kjit_module *mod)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, mod), 0);
    for (int i = 0; i < THREADS; i++) {
        void *done;
        pthread_join(threads[i], &done);
        assert_ptr_equal(done, mod);
    }
    kjit_module_free(mod);
}

static void runs_beside_each_other(void **state)
{
    (void)state;
    in_threads(run_often, module(SOURCE));
}

static void *run_kernels(void *data)
{
    kjit_module *mod = data;
    static atomic_int threads;
    char n[16], wanted[32];
    int self = atomic_fetch_add(&threads, 1);
    snprintf(n, sizeof n, "n=%d", self);
    snprintf(wanted, sizeof wanted, "%d 0\n%d 1\n", self, self);
    for (int i = 0; i < 50; i++) {
        record r = {0};
        kjit_run_options options = recording(&r);
        options.params = (const char *const[]){n};
        options.nparams = 1;
        if (kjit_run(mod, &options) != KJIT_OK || strcmp(r.text, wanted) != 0)
            return NULL;
    }
    return data;
}

/* Each gets its own kernels' lines. */
static void kernels_print_beside_each_other(void **state)
{
    (void)state;
    in_threads(run_kernels, module("kernel k(n: i32) { print(n, grid(1)) }\n"
                                   "run { param n = 0\n k[1, 2](n) }"));
}

/* Runs that fail and runs that end leave nothing behind. */
static void memory_stays_flat(void **state)
{
    (void)state;
    kjit_module *mod = module("run {\n param bad = false\n let l = [zeros(100000), (1, \"a\")]\n"
                              " l.append(l)\n let s = stream()\n let e = event()\n e.record(s)\n"
                              " let v = l[0][5:10]\n assert(not bad) }");
    kjit_run_options fails = {.params = (const char *const[]){"bad=true"}, .nparams = 1};
    struct rusage before, after;
    for (int i = 0; i < 400; i++) {
        if (i == 100)
            getrusage(RUSAGE_SELF, &before);
        assert_int_equal(kjit_run(mod, i % 2 ? &fails : NULL), i % 2 ? KJIT_ASSERT : KJIT_OK);
    }
    getrusage(RUSAGE_SELF, &after);
#ifndef __SANITIZE_ADDRESS__ /* which keeps freed memory for a while, and looks for leaks itself */
    assert_true(after.ru_maxrss - before.ru_maxrss < 20000); /* KiB; a leak is 120000 */
#endif
    kjit_module_free(mod);
}

static void run_again(void *user, const char *text, size_t size)
{
    kjit_module **mod = user;
    (void)text, (void)size;
    assert_int_equal(kjit_run(mod[0], NULL), KJIT_INVALID);
    mod[1] = NULL;
}

/* A run's own functions cannot start one, which would wait for itself. */
static void runs_within_runs_are_refused(void **state)
{
    (void)state;
    kjit_module *mod[2] = {module("run { print(1) }")};
    mod[1] = mod[0];
    OK(kjit_run(mod[0], &(kjit_run_options){.write = run_again, .user = mod}));
    assert_null(mod[1]);
    OK(kjit_run(mod[0], NULL));
    kjit_module_free(mod[0]);
    /* Nor where the lines of its kernels come at its end. */
    mod[0] = module("kernel k() { print(1) }\nrun { let s = stream()\n k[1, 1, s]()\n"
                    " while not s.query() { }\n assert(false) }");
    mod[1] = mod[0];
    assert_int_equal(kjit_run(mod[0], &(kjit_run_options){.write = run_again, .user = mod}),
                     KJIT_ASSERT);
    assert_null(mod[1]);
    kjit_module_free(mod[0]);
}

static void *give_back(void *stop)
{
    while (!atomic_load((atomic_bool *)stop))
        kjit_deallocate_pending(ctx);
    return NULL;
}

/* What other threads have queued fails there, and not in a run that waits for all. */
static void failures_are_told_to_their_owner(void **state)
{
    (void)state;
    kjit_module *bad = module("kernel bad(x: i64[]) { assert(x[0] > 0) }");
    kjit_module *good =
        module("run { let s = stream()\n let a = ones(3)\n synchronize()\n print(a) }");
    kjit_module *own = module("kernel bad(x: i64[]) { assert(x[0] > 0) }\n"
                              "run { bad[1, 1, stream()](zeros(1, i64)) }");
    kjit_module *breaks_off = module("kernel bad(x: i64[]) { assert(x[0] > 0) }\n"
                                     "run { bad[1, 1, stream()](zeros(1, i64))\n assert(false) }");
    kjit_module *breaks_off_shared =
        module("kernel bad(x: i64[]) { assert(x[0] > 0) }\n"
               "run { bad[1, 1, legacy_default_stream()](zeros(1, i64))\n assert(false) }");
    kjit_module *shares = module("run { let s = legacy_default_stream()\n synchronize() }");
    kjit_module *drops = module("kernel k(x: i64[]) { assert(x[0] > 0) }\n"
                                "run { k[1, 1, stream()](zeros(1, i64))\n"
                                " for i in range(40) { k[1, 1, stream()](ones(1, i64)) } }");
    kjit_stream *s;
    kjit_array *a;
    int64_t n = 1;
    OK(kjit_array_create(ctx, KJIT_I64, 1, &n, 'C', KJIT_HOST, &a));
    *(int64_t *)kjit_array_data(a) = 0;
    OK(kjit_stream_create(ctx, &s));
    kjit_arg arg = kjit_arg_array(a);
    OK(kjit_launch(bad, "bad", &(kjit_config){.grid = {1}, .block = {1}, .stream = s}, &arg, 1));
    OK(kjit_run(good, NULL));
    assert_int_equal(kjit_run(own, NULL), KJIT_FAULT); /* the block's own, not the one before it */
    assert_non_null(strstr(kjit_last_error(ctx), "note: found here"));
    assert_int_equal(kjit_stream_synchronize(s), KJIT_FAULT);
    /* What one run leaves behind is nobody's, another run's least of all. */
    assert_int_equal(kjit_run(breaks_off, NULL), KJIT_ASSERT);
    OK(kjit_run(good, NULL));
    assert_int_equal(kjit_run(breaks_off_shared, NULL), KJIT_ASSERT);
    OK(kjit_run(shares, NULL));
    OK(kjit_synchronize(ctx));
    /* Streams that were freed long ago count, and those that another thread gives back meanwhile. */
    atomic_bool stop = false;
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, give_back, &stop), 0);
    for (int i = 0; i < 300; i++)
        assert_int_equal(kjit_run(own, NULL), KJIT_FAULT);
    atomic_store(&stop, true);
    pthread_join(other, NULL);
    assert_int_equal(kjit_run(drops, NULL), KJIT_FAULT);
    OK(kjit_synchronize(ctx));
    kjit_stream_free(s);
    kjit_array_free(a);
    kjit_module_free(bad);
    kjit_module_free(good);
    kjit_module_free(own);
    kjit_module_free(breaks_off);
    kjit_module_free(drops);
    kjit_module_free(breaks_off_shared);
    kjit_module_free(shares);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(params_and_output),
        cmocka_unit_test(drawings),
        cmocka_unit_test(statuses),
        cmocka_unit_test(failures_are_told_to_their_owner),
        cmocka_unit_test(runs_within_runs_are_refused),
        cmocka_unit_test(interrupted),
        cmocka_unit_test(runs_beside_each_other),
        cmocka_unit_test(interrupted),
        cmocka_unit_test(kernels_print_beside_each_other),
        cmocka_unit_test(memory_stays_flat),
    };
    int failed = cmocka_run_group_tests(tests, make_context, drop_context);
    drop_folder();
    return failed;
}
