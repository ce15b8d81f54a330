/* For tests of the PTX interpreter: a memory, a module in it, launches, tables of instructions. */
#ifndef PTX_INTERP_H
#define PTX_INTERP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../ptx.h"

#define HEAD ".version 8.4\n.target sm_90\n.address_size 64\n"

enum { GPU_RANGES = 32 };

typedef struct gpu {
    ptx_range ranges[GPU_RANGES];
    int count;
    uint64_t next;
    ptx_memory memory;
    ptx_module *module;
    char log[2000];
    int code;
    int apart; /* as of a launch */
    ptx_fault fault;
} gpu;

static inline bool gpu_find(void *ctx, uint64_t address, ptx_range *out)
{
    const gpu *g = ctx;
    for (int i = 0; i < g->count; i++) {
        if (address >= g->ranges[i].begin && address < g->ranges[i].end) {
            *out = g->ranges[i];
            return true;
        }
    }
    return false;
}

static inline uint64_t gpu_take(void *ctx, size_t size, size_t align)
{
    gpu *g = ctx;
    assert_true(g->count < GPU_RANGES);
    uint64_t begin = (g->next + align - 1) / align * align;
    g->next = begin + size + 4096;
    char *host = calloc(1, size ? size : 1);
    assert_non_null(host);
    g->ranges[g->count++] = (ptx_range){begin, begin + size, host};
    return begin;
}

static inline void gpu_release(void *ctx, uint64_t address)
{
    gpu *g = ctx;
    for (int i = 0; i < g->count; i++) {
        if (g->ranges[i].begin == address) {
            free(g->ranges[i].host);
            g->ranges[i] = g->ranges[--g->count];
            return;
        }
    }
    fail_msg("released what was never taken");
}

static inline uint64_t gpu_alloc(gpu *g, size_t size)
{
    return gpu_take(g, size, 256);
}

static inline void *gpu_at(gpu *g, uint64_t address)
{
    ptx_range range = {0};
    assert_true(gpu_find(g, address, &range));
    return range.host + (address - range.begin);
}

/* A module for a driver of that chip and version; g->code says whether it was taken. */
static inline void gpu_load(gpu *g, const char *text, int chip, int version)
{
    ptx_limits limits = {.chip = chip, .version = version};
    *g = (gpu){.next = 0x7f0000000000};
    g->memory = (ptx_memory){g, gpu_find, gpu_take, gpu_release};
    g->module = ptx_load(text, &limits, &g->memory, g->log, sizeof g->log, &g->code);
    assert_int_equal(g->module != NULL, g->code == 0);
}

static inline void gpu_open(gpu *g, const char *text)
{
    gpu_load(g, text, 90, 84);
    if (!g->module)
        fail_msg("%s", g->log);
}

static inline void gpu_close(gpu *g)
{
    ptx_unload(g->module);
    while (g->count)
        free(g->ranges[--g->count].host);
}

/* The text with the other in the place of its $. */
static inline void gpu_insert(char *out, size_t size, const char *text, const char *part)
{
    const char *at = strchr(text, '$');
    assert_non_null(at);
    assert_true(strlen(text) + strlen(part) < size);
    snprintf(out, size, "%.*s%s%s", (int)(at - text), text, part, at + 1);
}

typedef struct shape {
    unsigned blocks, threads;
    size_t dynamic;
    uint64_t seed, steps;
} shape;

static inline int gpu_run(gpu *g, const char *name, shape s, const void *params)
{
    const ptx_kernel *kernel = ptx_find_kernel(g->module, name);
    assert_non_null(kernel);
    ptx_launch launch = {.kernel = kernel,
                         .params = params,
                         .grid = {s.blocks, 1, 1},
                         .block = {s.threads, 1, 1},
                         .dynamic_shared = s.dynamic,
                         .seed = s.seed,
                         .steps = s.steps,
                         .apart = g->apart};
    return ptx_run(&launch, &g->fault);
}

static inline void gpu_run_well(gpu *g, const char *name, shape s, const void *params)
{
    if (gpu_run(g, name, s, params) != 0)
        fail_msg("%s", g->fault.text);
}

/* ---- One instruction: a, b and c stand in %h1 to 3 (16 bits), %r1 to 3, %d1 to 3 and, as whether
 * they are not zero, in %p1 to 3; the result is what the register named first holds ---- */

typedef struct row {
    const char *text;
    uint64_t a, b, c, want;
} row;

static inline void row_kernel(char *out, size_t size, const char *text)
{
    const char *first = strpbrk(text, "%");
    char kind = first ? first[1] : 'r', name[8] = "";
    sscanf(first ? first : "", "%7[%a-z0-9]", name);
    char store[200];
    snprintf(store, sizeof store,
             kind == 'h'   ? "st.global.u16 [%%d5], %s;"
             : kind == 'r' ? "st.global.u32 [%%d5], %s;"
             : kind == 'd' ? "st.global.u64 [%%d5], %s;"
                           : "selp.u32 %%r6, 1, 0, %s; st.global.u32 [%%d5], %%r6;",
             name);
    snprintf(
        out, size,
        HEAD
        ".visible .entry t(.param .u64 in, .param .u64 out)\n"
        "{ .reg .b16 %%h<8>; .reg .b32 %%r<8>; .reg .b64 %%d<8>; .reg .pred %%p<8>;\n"
        "ld.param.u64 %%d4, [in]; ld.param.u64 %%d5, [out];\n"
        "ld.global.u64 %%d1, [%%d4]; ld.global.u64 %%d2, [%%d4+8]; ld.global.u64 %%d3, [%%d4+16];\n"
        "cvt.u32.u64 %%r1, %%d1; cvt.u32.u64 %%r2, %%d2; cvt.u32.u64 %%r3, %%d3;\n"
        "cvt.u16.u64 %%h1, %%d1; cvt.u16.u64 %%h2, %%d2; cvt.u16.u64 %%h3, %%d3;\n"
        "setp.ne.u64 %%p1, %%d1, 0; setp.ne.u64 %%p2, %%d2, 0; setp.ne.u64 %%p3, %%d3, 0;\n"
        "mov.u32 %%r6, %%tid.x; mul.wide.u32 %%d6, %%r6, 8; add.s64 %%d5, %%d5, %%d6;\n"
        "%s;\n%s ret; }\n",
        text, store);
}

/* Both for whole warps and for one that lacks lanes, whose code is different. */
static inline void check_row(const row *r)
{
    static const unsigned sizes[] = {32, 21};
    char text[4000];
    gpu g;
    row_kernel(text, sizeof text, r->text);
    gpu_open(&g, text);
    uint64_t in = gpu_alloc(&g, 24), out = gpu_alloc(&g, 32 * 8), params[2] = {in, out};
    memcpy(gpu_at(&g, in), &r->a, 24);
    for (int k = 0; k < 2; k++) {
        uint64_t *results = gpu_at(&g, out);
        memset(results, 0, 32 * 8);
        gpu_run_well(&g, "t", (shape){1, sizes[k], 0, 0, 0}, params);
        for (unsigned i = 0; i < sizes[k]; i++)
            if (results[i] != r->want)
                fail_msg("%s of 0x%" PRIx64 ", 0x%" PRIx64 ", 0x%" PRIx64 ": 0x%" PRIx64
                         ", not 0x%" PRIx64,
                         r->text, r->a, r->b, r->c, results[i], r->want);
    }
    gpu_close(&g);
}

#define CHECK_ROWS(rows) \
    do { \
        for (size_t i_ = 0; i_ < sizeof(rows) / sizeof *(rows); i_++) \
            check_row(&(rows)[i_]); \
    } while (0)

/* ---- Kernels of one pointer ---- */

/* %d1: the parameter; %r1: the thread; %d2: its 8 bytes of what %d1 points to. */
#define BEGIN \
    "{ .reg .b16 %h<9>; .reg .b32 %r<30>; .reg .b64 %d<20>; .reg .b128 %q<3>; .reg .pred %p<9>;\n" \
    "ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mad.wide.u32 %d2, %r1, 8, %d1;\n"
#define KERNEL(body) ".visible .entry k(.param .u64 out)\n" BEGIN body "ret; }\n"

typedef struct run {
    gpu g;
    uint64_t out;
    uint64_t *words;
} run;

enum { WORDS = 4096 };

static inline void start(run *r, const char *text)
{
    gpu_open(&r->g, text);
    r->out = gpu_alloc(&r->g, WORDS * 8);
    r->words = gpu_at(&r->g, r->out);
}

static inline void run_it(run *r, const char *text, unsigned threads)
{
    start(r, text);
    gpu_run_well(&r->g, "k", (shape){1, threads, 0, 5, 0}, &r->out);
}

#endif
