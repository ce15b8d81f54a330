/* The pieces of the CPU benchmark: the cases (cases.c), their arrays (arrays.c), the sides that run them (side_*.c), and the
 * program that interleaves, checks and reports (bench.c). */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stdint.h>

#include "../common.h"
#include "kjit.h"

enum { MAX_BUFFERS = 8, MAX_STAGES = 3, MAX_ARGS = 8, MAX_AXES = 3, NAME_SIZE = 64 };

typedef enum bench_role { BENCH_IN, BENCH_OUT, BENCH_INOUT, BENCH_SCRATCH } bench_role;

/* What an array of n elements holds at first; size: the case's. */
typedef void bench_fill(void *data, int64_t n, int64_t size);

/* Extents up to the first that is 0. An array of records: dtype and shape are those of all its numbers, whose last axis
 * is within a record. */
typedef struct bench_buffer {
    bench_role role;
    kjit_dtype dtype;
    int64_t shape[MAX_AXES];
    bench_fill
        *fill; /* NULL: random floats in [0, 1), random integers from 0 up to the type's largest */
    const char *record; /* that the kernel takes, by name; NULL: numbers */
} bench_buffer;

/* A launch. Arguments, a character each: '0'..'7' a buffer, 'n' the case's size as an integer, 'h' half and 'q' a quarter
 * of it, 'l' the iteration limit 256, 't' the turn, 'a' the factor 0.5. */
typedef struct bench_stage {
    const char *args;
    const char *kernel;  /* NULL: the case's name, with _ for spaces */
    const char *cl_args; /* OpenCL arrays know no sizes; NULL: not in OpenCL */
    int64_t grid[3], block[3];
    int64_t elements; /* OpenCL: what 'n' is in this launch; 0: the case's size */
} bench_stage;

/* What a result may differ by from the reference: |x - ref| <= tolerance * (|ref| + 1), on all but a `stray` part. */
typedef struct bench_case {
    const char *name;
    const char *source; /* kernels/<source>.knl; NULL: the first word of the name */
    const char *omp;    /* the C function; NULL: omp_<the first launch's kernel> */
    int64_t size;
    int repeat;  /* how often it is done in what is timed, where once is too short; 0: once */
    int turns;   /* launches of the stages that make up what C does once; 0: one */
    bool single; /* one thread each: kjit beside a plain loop of C */
    double tolerance, stray;
    double target; /* times the better OpenMP build that is the aim; 0: none is set */
    double ops;    /* operations that count, where these and not memory are the limit; 0: memory */
    bench_stage stages[MAX_STAGES];
    bench_buffer buffers[MAX_BUFFERS];
} bench_case;

extern const bench_case bench_cases[];
extern const bench_case bench_tiny_cases[]; /* the same ones, which take no time */
extern const int bench_ncases;

const char *bench_kernel(const bench_case *c, int stage, char name[NAME_SIZE]);
const char *bench_source(const bench_case *c, char name[NAME_SIZE]);
const char *bench_function(const bench_case *c, char name[NAME_SIZE]); /* of C */
bool bench_has_opencl(const bench_case *c);
int bench_stages(const bench_case *c);

int64_t bench_elements(const bench_buffer *b); /* 0 past the last buffer */
size_t bench_bytes(const bench_buffer *b);
double bench_traffic(const bench_case *c); /* bytes to and from memory, at least */
void *bench_allocate(size_t bytes);        /* zeros, for free(); NULL: there is no memory */
void bench_fill_buffer(const bench_case *c, int i, void *data); /* always the same */
double bench_element(kjit_dtype dtype, const void *data, int64_t i);

bench_fill bench_bits, bench_places, bench_order, bench_offsets;

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
