/* The table of cases: what each computes is in kernels/ (and ../cpu/kernels/), cuda/ and peers.py under the same
 * names. */
#include "bench.h"

#define VECTOR ((int64_t)1 << 26)
#define BLOCKS \
    2048 /* of launches whose blocks go through long stretches: no more than the scratch array has */

/* clang-format off */
#define F32(role, ...) {BENCH_##role, KJIT_F32, {__VA_ARGS__}}
#define I32(role, ...) {BENCH_##role, KJIT_I32, {__VA_ARGS__}}
#define U8(role, ...) {BENCH_##role, KJIT_U8, {__VA_ARGS__}}
#define BYTES(n, p) .unit = BENCH_BYTES, .work = (n), .power = (p)
#define FLOPS(n, p) .unit = BENCH_FLOPS, .work = (n), .power = (p)
#define GRID1(threads) .grid = {-(threads), 1}, .block = {(threads), 1}
#define GRID2(x, y) .grid = {-(x), -(y)}, .block = {(x), (y)}
#define MATRICES F32(IN, -1, -1), F32(IN, -1, -1), F32(OUT, -1, -1)

const bench_case bench_cases[] = {
    {.name = "copy", .source = "gpu/kernels/copy", .cuda = "copy", .size = VECTOR, .small = 4000, BYTES(8, 1),
     .stages = {{"copy", "01", "01n", GRID1(256)}},
     .buffers = {F32(IN, -1), F32(OUT, -1)}},

    {.name = "vecadd", .source = "cpu/kernels/vecadd", .cuda = "vecadd", .size = VECTOR, .small = 4000, BYTES(12, 1),
     .stages = {{"vecadd", "012", "012n", GRID1(256)}},
     .buffers = {F32(IN, -1), F32(IN, -1), F32(OUT, -1)}},

    {.name = "saxpy", .source = "cpu/kernels/saxpy", .cuda = "saxpy", .size = VECTOR, .small = 4000, BYTES(12, 1),
     .tolerance = 1e-6,
     .stages = {{"saxpy", "a01", "a01n", GRID1(256)}},
     .buffers = {F32(IN, -1), F32(INOUT, -1)}},

    {.name = "reduce", .source = "cpu/kernels/reduce", .cuda = "reduce", .size = VECTOR, .small = 4000, BYTES(4, 1),
     .tolerance = 1e-4,
     .stages = {{"reduce", "01", "01n", .grid = {BLOCKS, 1}, .block = {256, 1}},
                {"reduce", "12", "12m", .grid = {1, 1}, .block = {256, 1}}},
     .buffers = {F32(IN, -1), F32(SCRATCH, BLOCKS), F32(OUT, 1)}},

    {.name = "scan", .source = "gpu/kernels/scan", .cuda = "scan", .size = VECTOR / 4, .small = 4000, BYTES(16, 1),
     .stages = {{"scan_blocks", "012", "012n", GRID1(256)},
                {"scan_totals", "2", "2k", .grid = {1, 1}, .block = {1024, 1}},
                {"add_offsets", "12", "12n", GRID1(256)}},
     .buffers = {I32(IN, -1), I32(OUT, -1), I32(SCRATCH, -256)}},

    {.name = "histogram", .source = "cpu/kernels/histogram", .cuda = "histogram", .size = VECTOR, .small = 4000,
     BYTES(1, 1),
     .stages = {{"clear", "1", "1", .grid = {1, 1}, .block = {256, 1}},
                {"histogram", "01", "01n", .grid = {BLOCKS, 1}, .block = {256, 1}}},
     .buffers = {U8(IN, -1), I32(OUT, 256)}},

    {.name = "transpose", .source = "gpu/kernels/transpose", .cuda = "transpose", .size = 8192, .small = 64, BYTES(8, 2),
     .stages = {{"transpose", "01", "01n", .grid = {-32, -32}, .block = {32, 8}}},
     .buffers = {F32(IN, -1, -1), F32(OUT, -1, -1)}},

    {.name = "stencil", .source = "cpu/kernels/stencil", .cuda = "stencil", .size = 8192, .small = 64, BYTES(8, 2),
     .tolerance = 1e-5,
     .stages = {{"heat", "01", "01n", GRID2(32, 8)}},
     .buffers = {F32(IN, -1, -1), F32(OUT, -1, -1)}},

    {.name = "matmul naive", .source = "cpu/kernels/matmul", .cuda = "matmul", .size = 2048, .small = 64, FLOPS(2, 3),
     .tolerance = 1e-4,
     .stages = {{"matmul_naive", "012", "012n", GRID2(32, 8)}},
     .buffers = {MATRICES}},

    {.name = "matmul", .source = "cpu/kernels/matmul", .cuda = "matmul", .size = 2048, .small = 64, FLOPS(2, 3),
     .tolerance = 1e-4,
     .stages = {{"matmul", "012", "012n", GRID2(32, 32)}},
     .buffers = {MATRICES}},

    {.name = "matmul tuned", .source = "cpu/kernels/matmul", .cuda = "matmul", .size = 2048, .small = 64, FLOPS(2, 3),
     .tolerance = 1e-4,
     .stages = {{"matmul_tuned", "012", "012n", .grid = {-64, -64}, .block = {16, 16}}},
     .buffers = {MATRICES}},

    {.name = "nbody", .source = "cpu/kernels/nbody", .cuda = "nbody", .size = 65536, .small = 256, FLOPS(20, 2),
     .tolerance = 1e-3,
     .stages = {{"nbody", "0123456", "0123456n", GRID1(256)}},
     .buffers = {F32(IN, -1), F32(IN, -1), F32(IN, -1), F32(IN, -1), F32(OUT, -1), F32(OUT, -1), F32(OUT, -1)}},

    {.name = "mandelbrot", .source = "cpu/kernels/mandelbrot", .cuda = "mandelbrot", .size = 4096, .small = 32,
     .tolerance = 0.005,
     .stages = {{"mandelbrot", "0l", "0ln", GRID2(16, 16)}},
     .buffers = {I32(OUT, -1, -1)}},
};

/* clang-format on */
const int bench_ncases = (int)(sizeof bench_cases / sizeof bench_cases[0]);

int64_t bench_extent(int64_t extent, int64_t size)
{
    return extent < 0 ? (size - extent - 1) / -extent : extent;
}

int64_t bench_elements(const bench_buffer *b, int64_t size)
{
    const int64_t rows = bench_extent(b->shape[0], size), columns = bench_extent(b->shape[1], size);
    return b->shape[1] != 0 ? rows * columns : rows;
}
