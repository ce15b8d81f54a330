/* Hosts whose files may not grow (RLIMIT_FSIZE): kernels run without the cache's files, a save is an error, and the
 * signal SIGXFSZ, which would end the process, stays the host's own. Each in a child process, as the limit is for
 * good. */
#include "api.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum { N = 5000, FINE = 0, WRONG = 2 };

static const char source[] =
    "kernel twice(x: f32[]) { let i = grid(1); if i < x.size { x[i] *= 2.0 } }\n";

static void must(bool fine, const char *what)
{
    if (fine)
        return;
    fprintf(stderr, "%s: %s\n", what, kjit_last_error(NULL));
    _exit(WRONG);
}

static void work(kjit_context *here)
{
    float data[N];
    kjit_array *x = NULL;
    kjit_module *mod = NULL;
    for (int i = 0; i < N; i++)
        data[i] = (float)i;
    must(kjit_module_compile(here, "k.knl", source, strlen(source), NULL, &mod) == KJIT_OK,
         "a module");
    must(kjit_array_wrap(here, data, KJIT_F32, 1, SHAPE(N), NULL, KJIT_HOST, &x) == KJIT_OK, "x");
    kjit_arg arg = kjit_arg_array(x);
    kjit_config config = {.grid = {(N + 127) / 128}, .block = {128}};
    must(kjit_launch(mod, "twice", &config, &arg, 1) == KJIT_OK, "a launch");
    must(data[N - 1] == 2.0f * (N - 1), "what it computes");
    must(kjit_array_save(x, path_of("x.npy")) == KJIT_IO, "a save fails");
    must(strstr(kjit_last_error(here), "File too large") != NULL, "its sentence");
    must(access(path_of("x.npy"), F_OK) != 0, "nothing is left of it");
    kjit_array_free(x);
    kjit_module_free(mod);
}

/* Of a child: 0 when all is as it should be. */
static void run_all(rlim_t limit, bool waiting)
{
    kjit_context *here = NULL;
    kjit_context_options options = {.device = "cpu", .cache = path_of(limit ? "cache" : "cache0")};
    struct rlimit size = {limit, limit};
    sigset_t own, pending;
    sigemptyset(&own);
    sigaddset(&own, SIGXFSZ);
    if (waiting) {
        sigprocmask(SIG_BLOCK, &own, NULL);
        raise(SIGXFSZ);
    }
    must(setrlimit(RLIMIT_FSIZE, &size) == 0, "the limit");
    must(kjit_context_create(&options, &here, NULL, 0) == KJIT_OK, "a context");
    work(here);
    kjit_context_destroy(here);
    sigpending(&pending);
    must(sigismember(&pending, SIGXFSZ) == waiting, "the host's signal");
    _exit(FINE);
}

static void in_child(rlim_t limit, bool waiting)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        run_all(limit, waiting);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status))
        fail_msg("signal %d", WTERMSIG(status));
    assert_int_equal(WEXITSTATUS(status), FINE);
}

static void test_some_bytes(void **state)
{
    (void)state;
    in_child(1000, false);
    in_child(1000, true);
}

static void test_none(void **state)
{
    (void)state;
    in_child(0, false);
    in_child(0, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_some_bytes),
                                       cmocka_unit_test(test_none)};
    path_of("x"); /* the folder is this process's */
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    drop_folder();
    return failed;
}
