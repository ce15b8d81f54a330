/* The pieces of the CPU benchmark: the cases (cases.c), the sides that run them (side_*.c), and the program that
 * interleaves, checks and reports (bench.c). */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stdint.h>

#include "../common.h"
#include "kjit.h"

enum { MAX_BUFFERS = 7, MAX_STAGES = 2, MAX_ARGS = 8 };

typedef enum bench_role { BENCH_IN, BENCH_OUT, BENCH_INOUT, BENCH_SCRATCH } bench_role;

/* shape[1] is 0 for one dimension. */
typedef struct bench_buffer {
    bench_role role;
    kjit_dtype dtype;
    int64_t shape[2];
} bench_buffer;

/* A launch. Arguments, a character each: '0'..'6' a buffer, 'n' the case's size as an integer, 'l' the iteration limit
 * 256, 'a' the factor 0.5. */
typedef struct bench_stage {
    const char *kernel, *args;
    const char *cl_args; /* OpenCL arrays know no sizes; NULL: the same as args */
    int64_t grid[2], block[2];
    int64_t elements; /* OpenCL: what 'n' is in this launch; 0: the case's size */
} bench_stage;

/* What a result may differ by from the reference: |x - ref| <= tolerance * (|ref| + 1), on all but a `stray` part. */
typedef struct bench_case {
    const char *name, *source, *omp;
    int64_t size;
    bool single; /* one thread each: kjit beside a plain loop of C */
    double tolerance, stray;
    double target;  /* times the better OpenMP build that is the aim; 0: none is set */
    bool no_opencl; /* what it is about is not in OpenCL */
    bench_stage stages[MAX_STAGES];
    bench_buffer buffers[MAX_BUFFERS];
} bench_case;

extern const bench_case bench_cases[];
extern const int bench_ncases;

int64_t bench_elements(const bench_buffer *b); /* 0 past the last buffer */
size_t bench_bytes(const bench_buffer *b);

/* Someone who runs the cases. `prepare` compiles and binds the arrays; `run` does the whole case and returns when it is
 * done; `release` undoes prepare and may follow a failed one. Both give false with a sentence in `why`. */

typedef struct bench_side bench_side;
struct bench_side {
    const char *name;
    bool (*prepare)(bench_side *self, const bench_case *c, void *const *data);
    bool (*run)(bench_side *self);
    void (*release)(bench_side *self);
    void (*close)(bench_side *self);
    void *state;
    char why[WHY_SIZE];
};

/* Each gives false, with a sentence in side->why, when the side cannot be had on this machine. dir: bench/cpu; check:
 * of kjit_compile_options. */
bool bench_open_kjit(bench_side *side, const char *dir, const kjit_context_options *options,
                     int check);
bool bench_open_omp(bench_side *side, const char *path);
bool bench_open_opencl(bench_side *side, const char *dir);

#endif
