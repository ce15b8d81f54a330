/* Hosts that may not make memory executable: where pages may not change (PR_SET_MDWE, a filter of
 * system calls) kernels run all the same; where nothing becomes executable that is an error which
 * says so. Each in a child process, which nothing gives its rights back. */
#include "api.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#define PR_MDWE_REFUSE_EXEC_GAIN 1
#endif

enum { N = 1000, FINE = 0, WRONG = 2, CANNOT = 77 };

static const char source[] =
    "kernel first(x: f32[]) { let i = grid(1); if i < N { x[i] *= 2.0 } }\n"
    "kernel second(x: f32[]) { let i = grid(1); if i < N { x[i] += 1.0 } }\n"
    "const N = 1000\n"
    "run { let x = arange(10, f32); assert((2 * x).sum() == 90.0) }\n";

/* Of a child: ends it when something is not as it should be. */
static void must(bool fine, const char *what)
{
    if (fine)
        return;
    fprintf(stderr, "%s: %s\n", what, kjit_last_error(NULL));
    _exit(WRONG);
}

static kjit_context *open_here(void)
{
    static const kjit_context_options options = {.device = "cpu", .cache = "off", .workers = 2};
    kjit_context *here = NULL;
    must(kjit_context_create(&options, &here, NULL, 0) == KJIT_OK, "a context");
    return here;
}

static kjit_status launch_in(kjit_module *mod, const char *kernel, kjit_array *x)
{
    kjit_arg arg = kjit_arg_array(x);
    kjit_config config = {.grid = {(N + 127) / 128}, .block = {128}};
    return kjit_launch(mod, kernel, &config, &arg, 1);
}

static kjit_module *compile_in(kjit_context *here)
{
    kjit_module *mod = NULL;
    must(kjit_module_compile(here, "k.knl", source, strlen(source), NULL, &mod) == KJIT_OK,
         "a module");
    return mod;
}

static void run_all(void)
{
    float data[N];
    kjit_array *x = NULL;
    kjit_context *here = open_here();
    kjit_module *mod = compile_in(here);
    for (int i = 0; i < N; i++)
        data[i] = (float)i;
    must(kjit_array_wrap(here, data, KJIT_F32, 1, SHAPE(N), NULL, KJIT_HOST, &x) == KJIT_OK, "x");
    must(launch_in(mod, "first", x) == KJIT_OK, "the first launch");
    must(launch_in(mod, "second", x) == KJIT_OK, "the second launch");
    for (int i = 0; i < N; i++)
        must(data[i] == 2 * (float)i + 1, "an element");
    must(kjit_run(mod, NULL) == KJIT_OK, "the run block");
    kjit_array_free(x);
    kjit_module_free(mod);
    kjit_context_destroy(here);
}

/* ---- What is forbidden ---- */

static bool forbid_change(void)
{
    return prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0) == 0;
}

#if defined(__x86_64__)
/* `mmap` too, not only what changes pages. */
static bool forbid(bool mapping)
{
    unsigned first = mapping ? __NR_mmap : __NR_mprotect;
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 0, 6),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, first, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_mprotect, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_pkey_mprotect, 0, 2),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
    };
    struct sock_fprog filter = {.len = sizeof steps / sizeof *steps, .filter = steps};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) == 0;
}
#else
static bool forbid(bool mapping)
{
    (void)mapping;
    errno = ENOSYS;
    return false;
}
#endif

/* Is it so: neither way makes memory executable, or that of mapping a file does? */
static bool is_forbidden(bool mapping)
{
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bool changes = mprotect(page, 4096, PROT_READ | PROT_EXEC) == 0, maps = code != MAP_FAILED;
    munmap(page, 4096);
    if (maps)
        munmap(code, 4096);
    return !changes && maps != mapping;
}

/* ---- The children ---- */

static void child_that_may_not_change(void)
{
    if (!forbid_change())
        _exit(CANNOT);
    must(is_forbidden(false), "the process's memory may change");
    run_all();
}

static void child_that_may_map(void)
{
    if (!forbid(false))
        _exit(CANNOT);
    must(is_forbidden(false), "the process's memory may change");
    run_all();
}

static void child_that_may_nothing(void)
{
    static const kjit_context_options options = {.device = "cpu", .cache = "off"};
    kjit_context *here = (kjit_context *)(uintptr_t)1;
    char error[256] = "";
    if (!forbid(true))
        _exit(CANNOT);
    must(is_forbidden(true), "memory can be made executable");
    must(kjit_context_create(&options, &here, error, sizeof error) == KJIT_NO_DEVICE, "a context");
    must(!here && strstr(error, "executable") && strstr(error, "memfd"), error);
    must(strcmp(error, kjit_last_error(NULL)) == 0, error);
}

/* Nothing but the launches fails, each time. */
static void child_that_loses_its_right(void)
{
    float data[N] = {1, 2, 3};
    kjit_array *x = NULL;
    kjit_context *here = open_here();
    kjit_module *mod = compile_in(here);
    must(kjit_array_wrap(here, data, KJIT_F32, 1, SHAPE(N), NULL, KJIT_HOST, &x) == KJIT_OK, "x");
    must(launch_in(mod, "first", x) == KJIT_OK, "the launch before");
    if (!forbid(true))
        _exit(CANNOT);
    for (int i = 0; i < 3; i++) {
        must(launch_in(mod, "second", x) == KJIT_NO_DEVICE, "the launch");
        must(strstr(kjit_last_error(here), "executable") != NULL, "the sentence");
    }
    must(launch_in(mod, "first", x) == KJIT_OK, "a launch of code that is there");
    must(data[0] == 4 && data[2] == 12, "what it left");
    must(kjit_run(mod, NULL) == KJIT_NO_DEVICE, "the run block");
    kjit_array_free(x);
    kjit_module_free(mod);
    kjit_context_destroy(here);
}

static void in_child(void (*child)(void), const char *needs)
{
    int status;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        child();
        _exit(FINE);
    }
    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == CANNOT)
        SKIP(needs);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != FINE)
        fail_msg("the child ended with status 0x%x", (unsigned)status);
}

static void test_pages_that_may_not_change(void **state)
{
    (void)state;
    in_child(child_that_may_not_change, "PR_SET_MDWE is not there: it came with Linux 6.3");
}

static void test_a_filter_of_changes(void **state)
{
    (void)state;
    in_child(child_that_may_map, "system calls cannot be filtered here");
}

static void test_a_filter_of_all(void **state)
{
    (void)state;
    in_child(child_that_may_nothing, "system calls cannot be filtered here");
}

static void test_a_filter_that_comes_later(void **state)
{
    (void)state;
    in_child(child_that_loses_its_right, "system calls cannot be filtered here");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pages_that_may_not_change),
        cmocka_unit_test(test_a_filter_of_changes),
        cmocka_unit_test(test_a_filter_of_all),
        cmocka_unit_test(test_a_filter_that_comes_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
