/* Hosts whose allocations fail, one after another: the n-th of a first context, compilation and
 * launch gives NULL, for each n of the first ones (which is where LLVM is asked about the machine),
 * some of the later ones, and, when LLVM is ready, all of the last (where the code is handed over), and all
 * copies of strings (of which LLVM's give NULL). A child process an n: calls may fail with KJIT_NO_MEMORY or,
 * while LLVM makes itself ready, KJIT_INTERNAL; none ends the process. The four settings take turns;
 * among the first ones each second n has the first one, too. KJIT_TEST_ALL=1 tries each n with each. */
#include "api.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FEWER = 8 }; /* allocations that one child may make than another */
enum { FIRST = 110, READY = 200, STEP = 61, LAST = 4000, END = 400, NEAR = 100 };
enum { COPIES = 30, SETTINGS = 4 };
enum { OWN = 2 }; /* copies: names of the device and of the cache, which it does without */

/* Of the library's own memory: what a driver does without some is its own affair. */
static int make_on_cpu(void **state)
{
    kjit_context_options options = {.device = "cpu"};
    (void)state;
    return kjit_context_create(&options, &ctx, NULL, 0) != KJIT_OK;
}

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

/* The C library's own, by names that it keeps for programs with a malloc of their own. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);

/* The n-th of a kind fails; 0: none. */
typedef struct counter {
    atomic_long made, failing;
} counter;

static counter allocations, copies;

static bool fails(counter *c)
{
    if (atomic_fetch_add(&c->made, 1) + 1 != c->failing)
        return false;
    errno = ENOMEM;
    return true;
}

/* In the place of the C library's, also for the shared library's calls. */
#pragma GCC visibility push(default)

void *malloc(size_t size)
{
    return fails(&allocations) ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    return fails(&allocations) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
    return fails(&allocations) ? NULL : __libc_realloc(p, size);
}

char *strdup(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = fails(&copies) ? NULL : malloc(size);
    return copy ? memcpy(copy, text, size) : NULL;
}

#pragma GCC visibility pop

typedef struct place {
    counter *of;
    long n; /* which fails; counted from the end if negative */
    const char *cpu, *cache;
} place;

static const char source[] = "kernel k(x: i32[]) {\n"
                             "    let i = grid(1)\n"
                             "    if i < x.size { x[i] = i32(i) * 3 }\n"
                             "}\n";

/* Each call, as far as those before it went well. */
static kjit_status calls(const char *cpu, const char *cache, int32_t x[64])
{
    kjit_context_options options = {.device = "cpu", .cache = cache, .workers = 1};
    kjit_compile_options compile = {.cpu = cpu};
    kjit_context *c = NULL;
    kjit_module *m = NULL;
    kjit_array *a = NULL;
    kjit_status status = kjit_context_create(&options, &c, NULL, 0);
    if (status == KJIT_OK)
        status = kjit_module_compile(c, "k.knl", source, strlen(source), &compile, &m);
    if (status == KJIT_OK)
        status = kjit_array_wrap(c, x, KJIT_I32, 1, SHAPE(64), NULL, KJIT_HOST, &a);
    if (status == KJIT_OK) {
        kjit_arg arg = kjit_arg_array(a);
        status = kjit_launch(m, "k", &(kjit_config){.grid = {1}, .block = {64}}, &arg, 1);
    }
    kjit_array_free(a);
    kjit_module_free(m);
    kjit_context_destroy(c);
    return status;
}

/* How many allocations the calls make in a child of this process, where LLVM is ready; 0: it is not. As many in each
 * child: where memory lies decides about a few. */
static long made_ready;

static void make_ready(void)
{
    int32_t x[64];
    OK(calls(NULL, "off", x));
    long *made =
        mmap(NULL, sizeof *made, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(made, MAP_FAILED);
    pid_t child = fork();
    if (child == 0) {
        long before = allocations.made;
        kjit_status status = calls(NULL, "off", x);
        *made = status == KJIT_OK ? allocations.made - before : 0;
        _exit(0);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
    made_ready = *made;
    munmap(made, sizeof *made);
    assert_true(made_ready > END);
}

/* The exit status: 2 for another failure, 3 for a wrong result, 5 where calls fail afterwards too, 6 where none of
 * the last failed, 7 where nobody looked whether there was a copy of LLVM's. */
static int host(const place *p)
{
    int32_t x[64] = {0}, y[64] = {0};
    long before = p->of->made;
    bool ready = made_ready > 0;
    p->of->failing = before + p->n + (p->n < 0 ? made_ready + 1 : 0);
    kjit_status status = calls(p->cpu, p->cache, x);
    if (p->n < -FEWER && p->of->made < p->of->failing)
        return 6;
    if (p->of == &copies && p->n > OWN && p->of->made >= p->of->failing && status == KJIT_OK)
        return 7;
    p->of->failing = 0;
    if (status == KJIT_OK && x[63] != 189)
        return 3;
    if (status != KJIT_OK && status != KJIT_NO_MEMORY && (ready || status != KJIT_INTERNAL))
        return 2;
    status = calls(p->cpu, p->cache, y);
    if (!ready && p->n < READY && status == KJIT_NO_MEMORY)
        return 0; /* LLVM was making itself ready, and is not */
    return status == KJIT_OK && y[63] == 189 ? 0 : 5;
}

static void try(const place *p)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        if (!freopen("/dev/null", "w", stderr))
            _exit(4);
        alarm(60);
        _exit(host(p));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (status != 0)
        print_error("%s %ld, cpu %s, cache %s: %s %d\n", p->of == &copies ? "copy" : "allocation",
                    p->n, p->cpu ? p->cpu : "native", p->cache ? p->cache : "on",
                    WIFSIGNALED(status) ? "signal" : "exit",
                    WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));

    assert_int_equal(status, 0);
}

static void test_failing(void **state)
{
    (void)state;
#if defined(__aarch64__)
    static const char *const cpus[] = {NULL, "armv8-a"};
#else
    static const char *const cpus[] = {NULL, "x86-64-v2"};
#endif
    bool every = getenv("KJIT_TEST_ALL") != NULL;
    long turn = 0;
    for (long n = 1; n < LAST; n += n < FIRST ? 1 : STEP, turn++)
        for (int k = 0; k < SETTINGS; k++)
            if (every || turn % SETTINGS == k || (n < FIRST && k == 0 && n % 2))
                try(&(place){&allocations, n, cpus[k % 2], k < 2 ? "off" : NULL});
}

/* Nothing is wrong with the source of what could not be compiled. */
static void test_failing_sources(void **state)
{
    static const char text[] =
        "record pair { a: i32, b: f64 }\n"
        "enum mark { low, high }\n"
        "const halves = [0.5, 0.25]\n"
        "kernel k(x: pair[], m: mark[]) { if m[0] == mark.low { x[0].b = halves[0] } }\n";
    kjit_context_options options = {.device = "cpu", .cache = "off", .workers = 1};
    int failed = 0;
    (void)state;
    for (long n = 1; n <= FIRST; n++) {
        kjit_context *c = NULL;
        kjit_module *m = NULL;
        OK(kjit_context_create(&options, &c, NULL, 0));
        allocations.failing = allocations.made + n;
        kjit_status status = kjit_module_compile(c, "k.knl", text, strlen(text), NULL, &m);
        allocations.failing = 0;
        failed += status != KJIT_OK;
        assert_true(status == KJIT_OK || status == KJIT_NO_MEMORY);
        kjit_module_free(m);
        kjit_context_destroy(c);
    }
    assert_true(failed > 0);
}

static void test_failing_at_the_end(void **state)
{
    (void)state;
    bool every = getenv("KJIT_TEST_ALL") != NULL;
    make_ready();
    for (long n = 1; n < END; n += n < NEAR || every ? 1 : 5)
        try(&(place){&allocations, -n, NULL, "off"});
}

static void test_failing_copies(void **state)
{
    (void)state;
    make_ready();
    for (long n = 1; n < COPIES; n++)
        try(&(place){&copies, n, NULL, "off"});
}

/* ---- Drawings and capsules ---- */

static void count(void *user, const char *text, size_t size)
{
    (void)text;
    *(size_t *)user += size;
}

static kjit_module *compiled(const char *text)
{
    kjit_module *m;
    if (kjit_module_compile(ctx, "m.knl", text, strlen(text), NULL, &m) != KJIT_OK)
        fail_msg("%s", kjit_module_log(m));
    return m;
}

/* A chart is whole, or the run has failed. */
static void test_failing_drawings(void **state)
{
    (void)state;
    size_t whole = 0;
    kjit_module *m = compiled("run { plot([1, 4, 2]); plot([1, 2, 3], kind=\"bars\") }");
    OK(kjit_run(m, &(kjit_run_options){.write = count, .user = &whole}));
    bool failed = true;
    for (long n = 1; failed; n++) {
        size_t size = 0;
        allocations.failing = allocations.made + n;
        kjit_status status = kjit_run(m, &(kjit_run_options){.write = count, .user = &size});
        failed = allocations.made >= allocations.failing;
        allocations.failing = 0;
        assert_true(status != KJIT_OK || size == whole);
    }
    kjit_module_free(m);
}

/* What fails while a capsule is written leaves the launch's failure as it is. */
static void test_failing_capsules(void **state)
{
    (void)state;
    char path[] = "/tmp/kjit-failing-XXXXXX";
    int32_t x[8] = {0}, file = mkstemp(path), seen = 0;
    /* Without memory, once, the loader finds it no more. */
    void *kept[] = {dlopen("libzip.so.5", RTLD_NOW), dlopen("libzip.so.4", RTLD_NOW)};
    kjit_array *a;
    kjit_module *m = compiled("kernel k(x: i32[]) { assert(x[threadIdx.x] > 0, \"late\") }");
    OK(kjit_array_wrap(ctx, x, KJIT_I32, 1, SHAPE(8), NULL, KJIT_HOST, &a));
    kjit_arg arg = kjit_arg_array(a);
    bool has = kjit_capsule_begin(ctx, path) == KJIT_OK;
    if (has)
        OK(kjit_capsule_end(ctx, NULL));
    for (long n = 1; has && n < 40; n++) {
        if (kjit_capsule_begin(ctx, path) != KJIT_OK)
            fail_msg("%ld: %s", n, kjit_last_error(ctx));
        allocations.failing = allocations.made + n;
        kjit_status status =
            kjit_launch(m, "k", &(kjit_config){.grid = {1}, .block = {8}}, &arg, 1);
        bool failed = allocations.made >= allocations.failing;
        allocations.failing = 0;
        char told[200];
        snprintf(told, sizeof told, "%s", kjit_last_error(ctx));
        bool late = strstr(told, "late") != NULL;
        bool written = kjit_capsule_end(ctx, NULL) == KJIT_OK;
        seen += status == KJIT_FAULT && failed && !written;
        if (status == KJIT_FAULT && !written && !late)
            fail_msg("%ld: %s", n, told);
    }
    assert_true(!has || seen > 3);
    kjit_array_free(a);
    kjit_module_free(m);
    close(file);
    unlink(path);
    for (int i = 0; i < 2; i++)
        if (kept[i])
            dlclose(kept[i]);
}

#else

static void test_failing(void **state)
{
    (void)state;
    print_message("allocations are the sanitizer's: none is made to fail\n");
    skip();
}

#define test_failing_at_the_end test_failing
#define test_failing_copies test_failing
#define test_failing_sources test_failing
#define test_failing_drawings test_failing
#define test_failing_capsules test_failing

#endif

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_failing),
        cmocka_unit_test(test_failing_sources),
        cmocka_unit_test(test_failing_at_the_end),
        cmocka_unit_test(test_failing_copies),
        cmocka_unit_test_setup_teardown(test_failing_drawings, make_on_cpu, drop_context),
        cmocka_unit_test_setup_teardown(test_failing_capsules, make_on_cpu, drop_context),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
