/* What the test programs of the double share: its calls by name, and cases that each run in a
 * process of their own, whose end and report are compared with what is expected. */
#ifndef CHECK_H
#define CHECK_H

#include "../cu.h"
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALL(name, suffix, since, flags, params, args, line) static CUresult(*name##suffix) params;
#include "../calls.def"
#undef CALL

/* A case: what it does, and a line that the report must have (NULL: none may be there). */
typedef struct check_case {
    const char *name;
    void (*run)(void);
    const char *line;
    const char *environment; /* "KJIT_DOUBLE_CUDA=12000 ...", or NULL */
} check_case;

#define MISTAKE(name, line) \
    { \
#name, name, line, NULL \
    }
#define PROMISE(name) \
    { \
#name, name, NULL, NULL \
    }

#define EXPECT(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            _exit(1); \
        } \
    } while (0)
#define OK(call) EXPECT((call) == CUDA_SUCCESS)

static inline void check_load(void)
{
    const char *path = getenv("KJIT_CUDA_DRIVER");
    void *library = path ? dlopen(path, RTLD_NOW) : NULL;
    if (!library) {
        fprintf(stderr, "%s\n", path ? dlerror() : "KJIT_CUDA_DRIVER is not set");
        _exit(1);
    }
#define CALL(name, suffix, since, flags, params, args, line) \
    *(void **)&name##suffix = dlsym(library, #name #suffix);
#include "../calls.def"
#undef CALL
}

/* Runs the case in this program anew; what its report says is in `report`. */
static inline int check_run(const char *program, const check_case *c, char *report, size_t size)
{
    char path[] = "/tmp/kjit-double-XXXXXX";
    int file = mkstemp(path), status = 0;
    pid_t child = fork();
    if (child == 0) {
        setenv("KJIT_DOUBLE_REPORT", path, 1);
        for (const char *at = c->environment; at && *at; at += strcspn(at, " "), at += *at == ' ') {
            char name[64], value[256];
            if (sscanf(at, "%63[^=]=%255[^ ]", name, value) == 2)
                setenv(name, value, 1);
        }
        execl(program, program, c->name, (char *)NULL);
        _exit(127);
    }
    waitpid(child, &status, 0);
    ssize_t length = pread(file, report, size - 1, 0);
    report[length > 0 ? length : 0] = 0;
    close(file);
    unlink(path);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Without arguments: all cases; with a name: that one, here. */
static inline int check_main(int argc, char **argv, const check_case *cases, size_t count)
{
    int failed = 0;
    char report[4096];
    for (size_t i = 0; i < count; i++) {
        const check_case *c = &cases[i];
        if (argc > 1) {
            if (!strcmp(c->name, argv[1])) {
                check_load();
                c->run();
                return 0;
            }
            continue;
        }
        int status = check_run("/proc/self/exe", c, report, sizeof report);
        bool as_expected =
            c->line ? status == 97 && strstr(report, c->line)
                    : status == 0 && !strstr(report, "misuse") && !strstr(report, "leak");
        if (!as_expected) {
            printf("FAILED %s: status %d, expected: %s\n%s", c->name, status,
                   c->line ? c->line : "no misuse and no leak", report);
            failed++;
        }
    }
    printf("%zu cases, %d failed\n", count, failed);
    return failed != 0;
}

/* ---- A device that is ready ---- */

static CUcontext context;
static CUstream stream;
static CUmodule module;
static CUfunction function; /* increment(p: u32[], n: u32), any block size */

static const char *const increment_ptx = ".version 7.0\n"
                                         ".target sm_75\n"
                                         ".address_size 64\n"
                                         ".visible .entry increment(.param .u64 p, .param .u32 n)\n"
                                         "{\n"
                                         "    .reg .pred %p<2>;\n"
                                         "    .reg .b32 %r<7>;\n"
                                         "    .reg .b64 %rd<5>;\n"
                                         "    ld.param.u64 %rd1, [p];\n"
                                         "    ld.param.u32 %r1, [n];\n"
                                         "    mov.u32 %r2, %tid.x;\n"
                                         "    mov.u32 %r3, %ctaid.x;\n"
                                         "    mov.u32 %r4, %ntid.x;\n"
                                         "    mad.lo.s32 %r5, %r3, %r4, %r2;\n"
                                         "    setp.ge.u32 %p1, %r5, %r1;\n"
                                         "    @%p1 bra done;\n"
                                         "    cvta.to.global.u64 %rd2, %rd1;\n"
                                         "    mul.wide.u32 %rd3, %r5, 4;\n"
                                         "    add.s64 %rd4, %rd2, %rd3;\n"
                                         "    ld.global.u32 %r6, [%rd4];\n"
                                         "    add.s32 %r6, %r6, 1;\n"
                                         "    st.global.u32 [%rd4], %r6;\n"
                                         "done:\n"
                                         "    ret;\n"
                                         "}\n"
                                         ".visible .entry fixed() .reqntid 64, 1, 1\n"
                                         "{\n"
                                         "    ret;\n"
                                         "}\n";

static inline void start(void)
{
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxPushCurrent_v2(context));
    OK(cuModuleLoadDataEx(&module, increment_ptx, 0, NULL, NULL));
    OK(cuModuleGetFunction(&function, module, "increment"));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
}

static inline void finish(void)
{
    OK(cuStreamSynchronize(stream));
    OK(cuStreamDestroy_v2(stream));
    OK(cuModuleUnload(module));
    OK(cuCtxPopCurrent_v2(NULL));
    OK(cuDevicePrimaryCtxRelease_v2(0));
}

/* The same after an error: the calls return it, and nothing is left all the same. */
static inline void finish_lost(void)
{
    cuStreamDestroy_v2(stream);
    cuModuleUnload(module);
    OK(cuCtxPopCurrent_v2(NULL));
    OK(cuDevicePrimaryCtxRelease_v2(0));
}

/* A second context, current. */
static inline CUcontext other_context(void)
{
    CUcontext other;
    OK(cuCtxCreate_v2(&other, 0, 0));
    return other;
}

static inline CUdeviceptr allocate(size_t size)
{
    CUdeviceptr made;
    OK(cuMemAlloc_v2(&made, size));
    return made;
}

static inline CUresult increment(CUdeviceptr p, unsigned n, CUstream in)
{
    void *params[] = {&p, &n};
    return cuLaunchKernel(function, n / 64 + 1, 1, 1, 64, 1, 1, 0, in, params, NULL);
}

#endif
