/* Five ways from a kernel's text to PTX: kjit, NVRTC and nvcc as processes of their own, kjit and NVRTC as libraries of
 * this process that have compiled before. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "kjit.h"
#include "nvrtc.h"

enum { PATH_SIZE = 512 };

struct bench_sides {
    bench_paths paths;
    kjit_context *ctx;
    nvrtc *nvrtc;
    char nvcc[PATH_SIZE];
    char versions[128];
};

/* ---- Processes ---- */

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double milliseconds(struct timeval t)
{
    return (double)t.tv_sec * 1e3 + (double)t.tv_usec / 1e3;
}

/* Runs a command with its output in a file; the time is its and its children's. */
static bool run(const char *const *command, const char *output, bench_time *out)
{
    const double start = seconds(CLOCK_MONOTONIC);
    const pid_t pid = fork();
    if (pid == 0) {
        const int fd = open(output, O_WRONLY | O_CREAT | O_TRUNC, 0666);
        if (fd >= 0)
            dup2(fd, STDOUT_FILENO);
        execvp(command[0], (char *const *)command);
        perror(command[0]);
        _exit(127);
    }
    int status = 0;
    struct rusage usage;
    if (pid < 0 || wait4(pid, &status, 0, &usage) != pid || status != 0)
        return false;
    out->wall = (seconds(CLOCK_MONOTONIC) - start) * 1e3;
    out->cpu = milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime);
    return true;
}

static bool has_entry(const char *ptx, char why[WHY_SIZE])
{
    if (strstr(ptx, ".entry") == NULL)
        snprintf(why, WHY_SIZE, "the PTX has no entry");
    return strstr(ptx, ".entry") != NULL;
}

static bool by_process(const bench_sides *s, int side, const bench_case *c, bench_time *out,
                       char why[WHY_SIZE])
{
    char knl[PATH_SIZE], cu[PATH_SIZE], command[PATH_SIZE], block[64];
    char once[PATH_SIZE], ptx[PATH_SIZE];
    snprintf(knl, sizeof knl, "%s/kernels/%s.knl", s->paths.dir, c->name);
    snprintf(cu, sizeof cu, "%s/%s", s->paths.dir, c->cuda);
    snprintf(command, sizeof command, "%s/kjit", s->paths.build);
    snprintf(once, sizeof once, "%s/nvrtc", s->paths.out);
    snprintf(block, sizeof block, "--block=%s", c->block);
    snprintf(ptx, sizeof ptx, "%s/%s-%d.ptx", s->paths.out, c->name, side);
    const char *const commands[][9] = {
        [KJIT_PROCESS] = {command, "build", "--emit=ptx", "--arch=sm_" BENCH_ARCH, block, knl,
                          NULL},
        [NVRTC_PROCESS] = {once, cu, "compute_" BENCH_ARCH, s->paths.nvrtc, NULL},
        [NVCC_PROCESS] = {s->nvcc, "-ptx", "-arch=compute_" BENCH_ARCH, "-o", ptx, cu, NULL}};
    if (!run(commands[side], side == NVCC_PROCESS ? "/dev/null" : ptx, out)) {
        snprintf(why, WHY_SIZE, "%s failed", commands[side][0]);
        return false;
    }
    size_t size;
    char *text = bench_file(ptx, &size, why);
    const bool good = text != NULL && has_entry(text, why);
    free(text);
    return good;
}

/* ---- In this process ---- */

static char *kjit_ptx(const bench_sides *s, const bench_case *c, const char *text,
                      char why[WHY_SIZE])
{
    const kjit_compile_options options = {.arch = "sm_" BENCH_ARCH};
    int64_t block[3] = {1, 1, 1};
    const char *at = c->block;
    for (int i = 0; i < 3 && *at != '\0'; i++) {
        char *end;
        block[i] = strtoll(at, &end, 10);
        at = *end == ',' ? end + 1 : end;
    }
    kjit_module *mod = NULL;
    char *ptx = NULL;
    if (kjit_module_compile(s->ctx, c->name, text, strlen(text), &options, &mod) != KJIT_OK ||
        kjit_module_emit(mod, "ptx", NULL, block, &ptx, NULL) != KJIT_OK)
        snprintf(why, WHY_SIZE, "%s", kjit_last_error(s->ctx));
    kjit_module_free(mod);
    return ptx;
}

static bool in_process(const bench_sides *s, int side, const bench_case *c, bench_time *out,
                       char why[WHY_SIZE])
{
    char path[PATH_SIZE];
    const bool kjit = side == KJIT_WARM;
    size_t size;
    if (kjit)
        snprintf(path, sizeof path, "%s/kernels/%s.knl", s->paths.dir, c->name);
    else
        snprintf(path, sizeof path, "%s/%s", s->paths.dir, c->cuda);
    char *text = bench_file(path, &size, why);
    if (text == NULL)
        return false;
    const double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    char *ptx = kjit ? kjit_ptx(s, c, text, why)
                     : nvrtc_compile(s->nvrtc, text, c->name, "compute_" BENCH_ARCH, why);
    out->cpu = (seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu) * 1e3;
    out->wall = (seconds(CLOCK_MONOTONIC) - wall) * 1e3;
    const bool good = ptx != NULL && has_entry(ptx, why);
    free(ptx);
    free(text);
    return good;
}

bool bench_compile(bench_sides *s, int side, const bench_case *c, bench_time *out,
                   char why[WHY_SIZE])
{
    return side < KJIT_WARM ? by_process(s, side, c, out, why) : in_process(s, side, c, out, why);
}

/* ---- What there is ---- */

static bool find_nvcc(char path[PATH_SIZE])
{
    static const char *const places[] = {"/usr/local/cuda/bin/nvcc", "/opt/cuda/bin/nvcc"};
    bench_time time;
    snprintf(path, PATH_SIZE, "nvcc");
    const char *const probe[] = {"sh", "-c", "command -v nvcc", NULL};
    if (run(probe, "/dev/null", &time))
        return true;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(path, PATH_SIZE, "%s", places[i]);
        if (access(path, X_OK) == 0)
            return true;
    }
    return false;
}

bench_sides *bench_open(const bench_paths *paths, bool open[NSIDES], char why[NSIDES][WHY_SIZE])
{
    bench_sides *s = calloc(1, sizeof *s);
    if (s == NULL)
        return NULL;
    s->paths = *paths;
    const kjit_context_options options = {.device = "cpu"}; /* it compiles for a GPU all the same */
    open[KJIT_PROCESS] = open[KJIT_WARM] =
        kjit_context_create(&options, &s->ctx, why[KJIT_WARM], WHY_SIZE) == KJIT_OK;
    s->nvrtc = nvrtc_open(paths->nvrtc, why[NVRTC_WARM]);
    memcpy(why[NVRTC_PROCESS], why[NVRTC_WARM], WHY_SIZE);
    open[NVRTC_PROCESS] = open[NVRTC_WARM] = s->nvrtc != NULL;
    open[NVCC_PROCESS] = find_nvcc(s->nvcc);
    snprintf(why[NVCC_PROCESS], WHY_SIZE, "nvcc was not found");
    if (s->nvrtc != NULL) {
        int major, minor;
        nvrtc_version(s->nvrtc, &major, &minor);
        snprintf(s->versions, sizeof s->versions, "NVRTC of CUDA %d.%d", major, minor);
    }
    return s;
}

void bench_close(bench_sides *s)
{
    if (s == NULL)
        return;
    kjit_context_destroy(s->ctx);
    nvrtc_close(s->nvrtc);
    free(s);
}

const char *bench_versions(const bench_sides *s)
{
    return s->versions;
}
