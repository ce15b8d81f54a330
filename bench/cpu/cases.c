/* The table of cases, and what follows from a row. */
#include <stdio.h>
#include <string.h>

#include "bench.h"

/* clang-format off */
#define BUFFER(what, type, ...) {.role = BENCH_##what, .dtype = (type), .shape = {__VA_ARGS__}}
#define F32(what, ...) BUFFER(what, KJIT_F32, __VA_ARGS__)
#define F64(what, ...) BUFFER(what, KJIT_F64, __VA_ARGS__)
#define F16(what, ...) BUFFER(what, KJIT_F16, __VA_ARGS__)
#define I64(what, ...) BUFFER(what, KJIT_I64, __VA_ARGS__)
#define I32(what, ...) BUFFER(what, KJIT_I32, __VA_ARGS__)
#define U8(what, ...) BUFFER(what, KJIT_U8, __VA_ARGS__)
#define FILLED(what, type, with, ...) \
    {.role = BENCH_##what, .dtype = KJIT_##type, .shape = {__VA_ARGS__}, .fill = bench_##with}
#define RECORDS(what, name, ...) \
    {.role = BENCH_##what, .dtype = KJIT_F32, .shape = {__VA_ARGS__}, .record = (name)}
#define THREADS(n, threads) .grid = {(n) / (threads)}, .block = {(threads)}
#define GRID1(threads) THREADS(VECTOR, threads)
#define GRID2(side, x, y) .grid = {(side) / (x), (side) / (y)}, .block = {(x), (y)}
#define GRID3(side, x, y, z) .grid = {(side) / (x), (side) / (y), (side) / (z)}, .block = {(x), (y), (z)}
#define MATRICES F32(IN, MATRIX, MATRIX), F32(IN, MATRIX, MATRIX), F32(OUT, MATRIX, MATRIX)
#define IMAGES F32(IN, IMAGE, IMAGE), F32(OUT, IMAGE, IMAGE)
#define PICTURES U8(IN, IMAGE, IMAGE), U8(OUT, IMAGE, IMAGE)
#define SPARSE \
    FILLED(IN, I32, offsets, VECTOR / 64 + 1), FILLED(IN, I32, places, VECTOR / 4), F32(IN, VECTOR / 4), \
    F32(IN, VECTOR / 64), F32(OUT, VECTOR / 64)
#define SQUARE(side) ((double)(side) * (side))
#define CUBED(side) ((double)(side) * (side) * (side))
/* clang-format on */

#define VECTOR ((int64_t)1 << 24)
#define IMAGE 4096
#define SIDE 2048
#define MATRIX 1024
#define CUBE 256
#define BODIES 16384
const bench_case bench_cases[] = {
#include "cases.def"
};
const int bench_ncases = (int)(sizeof bench_cases / sizeof bench_cases[0]);

#undef VECTOR
#undef IMAGE
#undef SIDE
#undef MATRIX
#undef CUBE
#undef BODIES
#define VECTOR 8192
#define IMAGE 64
#define SIDE 64
#define MATRIX 256
#define CUBE 32
#define BODIES 256
const bench_case bench_tiny_cases[] = {
#include "cases.def"
};

const char *bench_kernel(const bench_case *c, int stage, char name[NAME_SIZE])
{
    const char *given = c->stages[stage].kernel;
    snprintf(name, NAME_SIZE, "%s", given != NULL ? given : c->name);
    for (char *at = name; *at != '\0'; at++)
        if (*at == ' ')
            *at = '_';
    return name;
}

const char *bench_source(const bench_case *c, char name[NAME_SIZE])
{
    snprintf(name, NAME_SIZE, "%s", c->source != NULL ? c->source : c->name);
    name[strcspn(name, " ")] = '\0';
    return name;
}

const char *bench_function(const bench_case *c, char name[NAME_SIZE])
{
    char kernel[NAME_SIZE];
    if (c->omp != NULL)
        snprintf(name, NAME_SIZE, "%s", c->omp);
    else
        snprintf(name, NAME_SIZE, "omp_%.*s", NAME_SIZE - 5, bench_kernel(c, 0, kernel));
    return name;
}

bool bench_has_opencl(const bench_case *c)
{
    return c->stages[0].cl_args != NULL;
}

int bench_stages(const bench_case *c)
{
    int n = 0;
    while (n < MAX_STAGES && c->stages[n].args != NULL)
        n++;
    return n;
}
