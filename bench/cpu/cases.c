/* The table of cases: what each computes is in kernels/, omp/ and opencl/ under the same names. */
#include "bench.h"

#define VECTOR ((int64_t)1 << 24)
#define IMAGE 4096
#define MATRIX 1024
#define BODIES 16384

/* clang-format off */
#define F32(role, ...) {BENCH_##role, KJIT_F32, {__VA_ARGS__}}
#define I32(role, ...) {BENCH_##role, KJIT_I32, {__VA_ARGS__}}
#define U8(role, ...) {BENCH_##role, KJIT_U8, {__VA_ARGS__}}
#define GRID1(threads) .grid = {VECTOR / (threads), 1}, .block = {(threads), 1}
#define GRID2(side, x, y) .grid = {(side) / (x), (side) / (y)}, .block = {(x), (y)}
#define MATRICES F32(IN, MATRIX, MATRIX), F32(IN, MATRIX, MATRIX), F32(OUT, MATRIX, MATRIX)

const bench_case bench_cases[] = {
    {.name = "vecadd", .source = "vecadd", .omp = "omp_vecadd", .size = VECTOR, .target = 1.15,
     .stages = {{.kernel = "vecadd", .args = "012", .cl_args = "012n", GRID1(256)}},
     .buffers = {F32(IN, VECTOR), F32(IN, VECTOR), F32(OUT, VECTOR)}},

    {.name = "saxpy", .source = "saxpy", .omp = "omp_saxpy", .size = VECTOR, .tolerance = 1e-6, .target = 1.15,
     .stages = {{.kernel = "saxpy", .args = "a01", .cl_args = "a01n", GRID1(256)}},
     .buffers = {F32(IN, VECTOR), F32(INOUT, VECTOR)}},

    {.name = "matmul naive", .source = "matmul", .omp = "omp_matmul_naive", .size = MATRIX, .tolerance = 1e-4,
     .target = 1.15,
     .stages = {{.kernel = "matmul_naive", .args = "012", .cl_args = "012n", GRID2(MATRIX, 32, 8)}},
     .buffers = {MATRICES}},

    {.name = "matmul", .source = "matmul", .omp = "omp_matmul", .size = MATRIX, .tolerance = 1e-4, .target = 1.15,
     .stages = {{.kernel = "matmul", .args = "012", .cl_args = "012n", GRID2(MATRIX, 32, 32)}},
     .buffers = {MATRICES}},

    {.name = "matmul tuned", .source = "matmul", .omp = "omp_matmul_tuned", .size = MATRIX, .tolerance = 1e-4,
     .stages = {{.kernel = "matmul_tuned", .args = "012", .cl_args = "012n",
                 .grid = {MATRIX / 64, MATRIX / 64}, .block = {16, 16}}},
     .buffers = {MATRICES}},

    {.name = "reduce", .source = "reduce", .omp = "omp_reduce", .size = VECTOR, .tolerance = 1e-4, .target = 2.2,
     .stages = {{.kernel = "reduce", .args = "01", .cl_args = "01n", .grid = {256}, .block = {256}},
                {.kernel = "reduce", .args = "12", .cl_args = "12n", .grid = {1}, .block = {256}, .elements = 256}},
     .buffers = {F32(IN, VECTOR), F32(SCRATCH, 256), F32(OUT, 1)}},

    {.name = "reduce tree", .source = "reduce", .omp = "omp_reduce", .size = VECTOR, .tolerance = 1e-4, .target = 2.2,
     .stages = {{.kernel = "reduce_tree", .args = "01", .cl_args = "01n", GRID1(256)},
                {.kernel = "reduce", .args = "12", .cl_args = "12n", .grid = {1}, .block = {256},
                 .elements = VECTOR / 256}},
     .buffers = {F32(IN, VECTOR), F32(SCRATCH, VECTOR / 256), F32(OUT, 1)}},

    {.name = "reduce warp", .source = "warp", .omp = "omp_reduce", .size = VECTOR, .tolerance = 1e-4, .target = 2,
     .no_opencl = true,
     .stages = {{.kernel = "warp_reduce", .args = "01", GRID1(256)},
                {.kernel = "warp_finish", .args = "12", .grid = {1}, .block = {256}}},
     .buffers = {F32(IN, VECTOR), F32(SCRATCH, VECTOR / 256), F32(OUT, 1)}},

    {.name = "histogram", .source = "histogram", .omp = "omp_histogram", .size = VECTOR, .target = 3.5,
     .stages = {{.kernel = "clear", .args = "1", .grid = {1}, .block = {256}},
                {.kernel = "histogram", .args = "01", .cl_args = "01n", .grid = {256}, .block = {256}}},
     .buffers = {U8(IN, VECTOR), I32(OUT, 256)}},

    {.name = "stencil heat", .source = "stencil", .omp = "omp_heat", .size = IMAGE, .tolerance = 1e-5, .target = 1.7,
     .stages = {{.kernel = "heat", .args = "01", .cl_args = "01n", GRID2(IMAGE, 32, 8)}},
     .buffers = {F32(IN, IMAGE, IMAGE), F32(OUT, IMAGE, IMAGE)}},

    {.name = "stencil blur", .source = "stencil", .omp = "omp_blur", .size = IMAGE, .tolerance = 1e-5, .target = 1.7,
     .stages = {{.kernel = "blur", .args = "01", .cl_args = "01n", GRID2(IMAGE, 32, 8)}},
     .buffers = {F32(IN, IMAGE, IMAGE), F32(OUT, IMAGE, IMAGE)}},

    {.name = "mandelbrot", .source = "mandelbrot", .omp = "omp_mandelbrot", .size = MATRIX, .stray = 0.005, .target = 0.2,
     .stages = {{.kernel = "mandelbrot", .args = "0l", .cl_args = "0ln", GRID2(MATRIX, 16, 16)}},
     .buffers = {I32(OUT, MATRIX, MATRIX)}},

    {.name = "nbody", .source = "nbody", .omp = "omp_nbody", .size = BODIES, .tolerance = 1e-3, .target = 1.15,
     .stages = {{.kernel = "nbody", .args = "0123456", .cl_args = "0123456n", .grid = {BODIES / 256, 1}, .block = {256}}},
     .buffers = {F32(IN, BODIES), F32(IN, BODIES), F32(IN, BODIES), F32(IN, BODIES), F32(OUT, BODIES), F32(OUT, BODIES),
                 F32(OUT, BODIES)}},

    {.name = "exp", .source = "math", .omp = "omp_exp", .size = VECTOR, .tolerance = 1e-6, .single = true,
     .no_opencl = true, .target = 0.25,
     .stages = {{.kernel = "vector_exp", .args = "01", GRID1(256)}},
     .buffers = {F32(IN, VECTOR), F32(OUT, VECTOR)}},

    {.name = "tanh", .source = "math", .omp = "omp_tanh", .size = VECTOR, .tolerance = 1e-6, .single = true,
     .no_opencl = true, .target = 0.1,
     .stages = {{.kernel = "vector_tanh", .args = "01", GRID1(256)}},
     .buffers = {F32(IN, VECTOR), F32(OUT, VECTOR)}},

    {.name = "sin", .source = "math", .omp = "omp_sin", .size = VECTOR, .tolerance = 1e-6, .single = true,
     .no_opencl = true, .target = 0.4,
     .stages = {{.kernel = "vector_sin", .args = "01", GRID1(256)}},
     .buffers = {F32(IN, VECTOR), F32(OUT, VECTOR)}},

    {.name = "pow", .source = "math", .omp = "omp_pow", .size = VECTOR, .tolerance = 1e-6, .single = true,
     .no_opencl = true, .target = 0.9,
     .stages = {{.kernel = "vector_pow", .args = "012", GRID1(256)}},
     .buffers = {F32(IN, VECTOR), F32(IN, VECTOR), F32(OUT, VECTOR)}},
};

/* clang-format on */
const int bench_ncases = (int)(sizeof bench_cases / sizeof bench_cases[0]);

int64_t bench_elements(const bench_buffer *b)
{
    return b->shape[1] > 0 ? b->shape[0] * b->shape[1] : b->shape[0];
}

size_t bench_bytes(const bench_buffer *b)
{
    return (size_t)bench_elements(b) * kjit_dtype_size(b->dtype);
}
