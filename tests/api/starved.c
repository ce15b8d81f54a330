/* Hosts without memory: under a limit of address space that is a little above what the process has,
 * every call gives KJIT_OK, KJIT_NO_MEMORY or KJIT_INTERNAL; nothing ends the process; and when the
 * limit is lifted, the same context, module and arrays go on. A child process a limit.
 *
 * KJIT_TEST_HOSTS=1000 tries as many limits. */
#include "api.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 1000, HOSTS = 16, MOST = 96 << 20 };

static const char source[] =
    "kernel first(x: f32[], y: f32[]) {\n"
    "    let i = grid(1)\n"
    "    if i < x.size { y[i] = sin(x[i]) + x[i] * 2.0 }\n"
    "}\n"
    "kernel second(x: f32[], y: f32[]) {\n"
    "    let t = shared.array(128, f32)\n"
    "    let i = grid(1)\n"
    "    t[threadIdx.x] = x[i] if i < x.size else 0.0\n"
    "    syncthreads()\n"
    "    for k in range(4) {\n"
    "        if i < x.size { y[i] = pow(t[127 - threadIdx.x], 1.5) + exp(y[i]) / (1 + k) }\n"
    "    }\n"
    "}\n"
    "run { let a = arange(100, f32)\n assert((2 * a + sqrt(a) @ a).sum() > 0) }\n";

typedef struct host {
    kjit_context *ctx;
    kjit_module *mod;
    kjit_array *x, *y;
    bool full; /* there is memory */
} host;

/* Ends the child: the parent reads the exit status. */
static void check(const host *h, kjit_status status, int call)
{
    bool short_of = status == KJIT_NO_MEMORY || status == KJIT_INTERNAL;
    if (status == KJIT_OK || (!h->full && short_of))
        return;
    fprintf(stderr, "call %d: %s: %s\n", call, kjit_status_name(status), kjit_last_error(NULL));
    _exit(2);
}

static void begin(host *h)
{
    static const kjit_context_options options = {.device = "cpu", .cache = "off", .workers = 2};
    if (!h->ctx)
        check(h, kjit_context_create(&options, &h->ctx, NULL, 0), 1);
    if (h->ctx && !h->mod)
        check(h, kjit_module_compile(h->ctx, "k.knl", source, strlen(source), NULL, &h->mod), 2);
}

static void make(host *h, kjit_array **out)
{
    if (!h->ctx || *out)
        return;
    check(h, kjit_array_create(h->ctx, KJIT_F32, 1, (int64_t[]){N}, 'C', KJIT_HOST, out), 3);
    for (int i = 0; *out && i < N; i++)
        ((float *)kjit_array_data(*out))[i] = (float)i / N;
}

static void launch(host *h, const char *kernel, int call)
{
    make(h, &h->x);
    make(h, &h->y);
    if (!h->mod || !h->x || !h->y)
        return;
    kjit_arg args[] = {kjit_arg_array(h->x), kjit_arg_array(h->y)};
    kjit_config config = {.grid = {(N + 127) / 128}, .block = {128}};
    check(h, kjit_launch(h->mod, kernel, &config, args, 2), call);
}

static void everything(host *h)
{
    begin(h);
    launch(h, "first", 4);
    launch(h, "second", 5);
    if (h->mod)
        check(h, kjit_run(h->mod, NULL), 6);
}

static size_t size_now(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%lu", &pages) != 1)
        _exit(3);
    fclose(file);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static void limit_to(size_t bytes)
{
    struct rlimit r;
    getrlimit(RLIMIT_AS, &r);
    r.rlim_cur = bytes ? bytes : r.rlim_max;
    if (setrlimit(RLIMIT_AS, &r) != 0)
        _exit(3);
}

/* Starves from the beginning, once it has a module, or once it has launched a kernel. */
static void run_host(int n, size_t spare)
{
    host h = {.full = true};
    alarm(60);
    if (n % 3 > 0)
        begin(&h);
    if (n % 3 > 1)
        launch(&h, "first", 0);
    h.full = false;
    limit_to(size_now() + spare);
    everything(&h);
    everything(&h);
    limit_to(0);
    h.full = true;
    everything(&h);
    launch(&h, "first", 7);
    float at = ((float *)kjit_array_data(h.y))[500];
    if (!(at > 1.479f && at < 1.480f)) {
        fprintf(stderr, "first gives %g\n", (double)at);
        _exit(2);
    }
    kjit_array_free(h.x);
    kjit_array_free(h.y);
    kjit_module_free(h.mod);
    kjit_context_destroy(h.ctx);
    _exit(0);
}

static void nothing_ends_the_process(void **state)
{
    const char *given = getenv("KJIT_TEST_HOSTS");
    int hosts = given ? atoi(given) : HOSTS, failed = 0;
    (void)state;
    for (int n = 0; n < hosts; n++) {
        /* from much to none, closer to one another towards the end */
        double part = 1 - (double)n / hosts;
        size_t spare = (size_t)(part * part * MOST);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
            run_host(n, spare);
        int status = 0;
        assert_int_equal(waitpid(child, &status, 0), child);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
            continue;
        failed++;
        print_message("host %d with %zu KiB to spare: %s %d\n", n, spare >> 10,
                      WIFSIGNALED(status) ? "signal" : "exit status",
                      WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    }
    assert_int_equal(failed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_ends_the_process)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
