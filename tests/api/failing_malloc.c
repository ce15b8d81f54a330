/* Hosts whose allocations fail, one after another: the n-th of a first context, compilation and
 * launch gives NULL, for each n of the first ones (which is where LLVM is asked about the machine)
 * and some of the later ones. A child process an n: calls may fail with KJIT_NO_MEMORY or
 * KJIT_INTERNAL, none ends the process. */
#include "api.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FIRST = 110, STEP = 37, LAST = 4000 };

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

/* The C library's own, by names that it keeps for programs with a malloc of their own. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);

static atomic_long allocations;
static long failing; /* 0: none */

static bool fails(void)
{
    if (!failing || atomic_fetch_add(&allocations, 1) + 1 != failing)
        return false;
    errno = ENOMEM;
    return true;
}

/* In the place of the C library's, also for the shared library's calls. */
#pragma GCC visibility push(default)

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    return fails() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
    return fails() ? NULL : __libc_realloc(p, size);
}

char *strdup(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    return copy ? memcpy(copy, text, size) : NULL;
}

#pragma GCC visibility pop

static const char source[] = "kernel k(x: i32[]) {\n"
                             "    let i = grid(1)\n"
                             "    if i < x.size { x[i] = i32(i) * 3 }\n"
                             "}\n";

/* Each call, as far as those before it went well; the exit status: 2 for another failure. */
static int host(const char *cpu, const char *cache)
{
    kjit_context_options options = {.device = "cpu", .cache = cache, .workers = 1};
    kjit_compile_options compile = {.cpu = cpu};
    kjit_context *c = NULL;
    kjit_module *m = NULL;
    int32_t x[64] = {0};
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
    if (status == KJIT_OK && x[63] != 189)
        return 3;
    if (status != KJIT_OK && status != KJIT_NO_MEMORY && status != KJIT_INTERNAL)
        return 2;
    return 0;
}

static void try(const char *cpu, const char *cache, long n)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        if (!freopen("/dev/null", "w", stderr))
            _exit(4);
        failing = n;
        _exit(host(cpu, cache));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (status != 0)
        print_error("allocation %ld, cpu %s, cache %s: %s %d\n", n, cpu ? cpu : "native",
                    cache ? cache : "on", WIFSIGNALED(status) ? "signal" : "exit",
                    WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    assert_int_equal(status, 0);
}

static void test_failing(void **state)
{
    (void)state;
    static const char *const cpus[] = {NULL, "x86-64-v2"};
    for (int k = 0; k < 4; k++)
        for (long n = 1; n < LAST; n += n < FIRST ? 1 : STEP)
            try(cpus[k % 2], k < 2 ? "off" : NULL, n);
}

#else

static void test_failing(void **state)
{
    (void)state;
    print_message("allocations are the sanitizer's: none is made to fail\n");
    skip();
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_failing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
