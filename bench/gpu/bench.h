/* The pieces of the GPU benchmark: the cases (cases.c), the sides that run them (side_*.c), the program that interleaves
 * and checks (bench.c), and its table (report.c). */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stdint.h>

#include "../common.h"
#include "driver.h"
#include "kjit.h"

enum { MAX_BUFFERS = 7, MAX_STAGES = 3, MAX_ARGS = 8 };

typedef enum bench_role { BENCH_IN, BENCH_OUT, BENCH_INOUT, BENCH_SCRATCH } bench_role;

/* Extents and grids: k > 0 is k; -k is the case's size divided by k, rounded up; shape[1] is 0 for one dimension. */
typedef struct bench_buffer {
    bench_role role;
    kjit_dtype dtype;
    int64_t shape[2];
} bench_buffer;

/* A launch. Arguments, a character each: '0'..'6' a buffer, 'n' the case's size as an i32, 'm' and 'k' the elements of
 * buffers 1 and 2, 'l' the iteration limit 256, 'a' the factor 0.5. CUDA C's arrays know no sizes, so its list
 * differs. */
typedef struct bench_stage {
    const char *kernel, *args, *cuda_args;
    int64_t grid[2], block[2];
} bench_stage;

typedef enum bench_unit { BENCH_NONE, BENCH_BYTES, BENCH_FLOPS } bench_unit;

typedef struct bench_case {
    const char *name, *source,
        *cuda;           /* bench/<source>.knl, a file of the folder of CUDA C's code */
    int64_t size, small; /* small: for a quick look, or a GPU that is an interpreter */
    double tolerance;    /* of the checksums */
    bench_unit unit;
    double work; /* bytes moved at least, or f32 operations: work * size^power */
    int power;
    bench_stage stages[MAX_STAGES];
    bench_buffer buffers[MAX_BUFFERS];
} bench_case;

extern const bench_case bench_cases[];
extern const int bench_ncases;

int64_t bench_extent(int64_t extent, int64_t size);
int64_t bench_elements(const bench_buffer *b, int64_t size); /* 0 past the last buffer */

/* What all sides work with: the case at its size, its arrays on the device. */
typedef struct bench_run {
    const bench_case *c;
    int64_t size;
    kjit_array *arrays[MAX_BUFFERS];
} bench_run;

/* Someone who runs the cases. `prepare` compiles; `run` does the whole case `repeats` times, one after the other, and
 * gives the milliseconds one takes on the GPU; with NULL for ms it only runs. A side with arrays of its own gives the
 * result's checksum, the others NULL. Those that can fail give false with a sentence in `why`, "" when the side
 * has no such case. */
typedef struct bench_side bench_side;
struct bench_side {
    const char *name;
    bool (*prepare)(bench_side *self, const bench_run *run);
    bool (*run)(bench_side *self, int repeats, double *ms);
    bool (*checksum)(bench_side *self, double *sum);
    void (*release)(bench_side *self); /* may follow a failed prepare */
    void (*close)(bench_side *self);
    void *state;
    char why[WHY_SIZE];
};

/* Each gives false, with a sentence in side->why, when the side cannot be had on this machine. */
bool bench_open_kjit(bench_side *side, kjit_context *ctx, const char *dir);
bool bench_open_cuda(bench_side *side, driver *d, const char *code);
bool bench_open_library(bench_side *side, driver *d, const char *code);
bool bench_open_python(bench_side *side, const char *script, const char *package);

#endif
