/* A kernel touches its arrays' elements and nothing else: arrays end (or begin) at a page that may
 * not be touched, so that a wide load or store past a guard `if i < n` ends the program. */
#include <stdio.h>
#include <sys/mman.h>

#include "api.h"

enum { ROOM = 1 << 16 };

/* Memory whose last byte (or first, with `low`) borders on a page without access. */
typedef struct fenced {
    char *map, *data;
    size_t size;
} fenced;

static fenced fence(size_t bytes, bool low)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    fenced f = {.size = ROOM + 2 * page};
    f.map = mmap(NULL, f.size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(f.map, MAP_FAILED);
    assert_int_equal(mprotect(f.map + page, ROOM, PROT_READ | PROT_WRITE), 0);
    memset(f.map + page, 1, ROOM);
    f.data = low ? f.map + page : f.map + page + ROOM - bytes;
    return f;
}

static void drop(fenced f)
{
    munmap(f.map, f.size);
}

static const int sizes[] = {1,  2,  3,  7,   8,   15,  16,  17,  31,  32,   33,
                            63, 64, 65, 100, 127, 128, 129, 255, 257, 1000, 1100};
enum { NSIZES = sizeof sizes / sizeof sizes[0] };

/* Launches k(x, out) over n elements of `dtype`, by blocks of `block` and a thread more than needed
 * at least. */
static void launch_1d(kjit_module *mod, kjit_dtype dtype, int n, int block, bool low)
{
    size_t bytes = (size_t)n * kjit_dtype_size(dtype);
    fenced fx = fence(bytes, low), fo = fence(bytes, low);
    kjit_array *x, *out;
    OK(kjit_array_wrap(ctx, fx.data, dtype, 1, SHAPE(n), NULL, KJIT_HOST, &x));
    OK(kjit_array_wrap(ctx, fo.data, dtype, 1, SHAPE(n), NULL, KJIT_HOST, &out));
    kjit_arg args[] = {kjit_arg_array(x), kjit_arg_array(out)};
    OK(kjit_launch(mod, "k", &(kjit_config){.grid = {n / block + 1}, .block = {block}}, args, 2));
    kjit_array_free(x);
    kjit_array_free(out);
    drop(fx);
    drop(fo);
}

/* A GPU runs the same code in all blocks, and what is fenced is copied. */
static void sizes_in(kjit_module *mod, kjit_dtype type, int block)
{
    int nsides = on_cpu() ? 2 : 1, nsizes = on_cpu() ? NSIZES : NSIZES / 2;
    for (int s = 0; s < nsizes; s++)
        for (int low = 0; low < nsides; low++)
            launch_1d(mod, type, sizes[s], block, low);
}

static const int block_sizes[] = {31, 64, 1, 256};

/* Each type with every second of the blocks, which differ from type to type and from program to program. */
static void sizes_of(const char *source, int n, const kjit_dtype *types)
{
    static int programs;
    kjit_module *mod = module(source);
    int nblocks = on_cpu() ? 4 : 1, first = programs++;
    for (int t = 0; t < n; t++)
        for (int b = nblocks > 1 ? (first + t) % 2 : 0; b < nblocks; b += 2)
            sizes_in(mod, types[t], block_sizes[b]);
    kjit_module_free(mod);
}

static void all_sizes(const char *source)
{
    sizes_of(source, 4, (const kjit_dtype[]){KJIT_U8, KJIT_I16, KJIT_F32, KJIT_F64});
}

static void guarded(void **state)
{
    (void)state;
    all_sizes("kernel k<T: number>(x: T[], out: T[]) {\n"
              "    let i = grid(1)\n"
              "    if i < out.size { out[i] = x[i] + 1 }\n"
              "}\n");
}

static void returning(void **state)
{
    (void)state;
    all_sizes("kernel k<T: number>(x: T[], out: T[]) {\n"
              "    let i = grid(1)\n"
              "    if i >= out.size { return }\n"
              "    out[i] += x[i]\n"
              "}\n");
}

static void neighbours(void **state)
{
    (void)state;
    all_sizes("kernel k<T: number>(x: T[], out: T[]) {\n"
              "    let i = grid(1)\n"
              "    if i < out.size {\n"
              "        var s = x[i]\n"
              "        if i > 0 { s += x[i - 1] }\n"
              "        if i + 1 < x.size { s += x[i + 1] }\n"
              "        s += x[i - 2] if i >= 2 else x[0]\n"
              "        out[i] = s\n"
              "    }\n"
              "}\n");
}

static void short_circuit(void **state)
{
    (void)state;
    all_sizes("kernel k<T: number>(x: T[], out: T[]) {\n"
              "    let i = grid(1)\n"
              "    let hit = i < x.size and x[i] > 0\n"
              "    let miss = i >= x.size or x[i] == 0\n"
              "    if hit or not miss { out[i] = x[i] }\n"
              "}\n");
}

/* Rows that begin or end beyond the fence, of which some threads run. */
static void picked_by_data(void **state)
{
    (void)state;
    all_sizes("kernel k<T: number>(x: T[], out: T[]) {\n"
              "    let i = grid(1)\n"
              "    for d in (-70, -40, -9, -1, 0, 1, 9, 40, 70) {\n"
              "        let j = i + d\n"
              "        if 0 <= j < x.size and i * 7 % 5 < 2 { out[j] = x[x.size - 1 - j] + x[j] }\n"
              "    }\n"
              "}\n");
}

static void reversed_and_gathered(void **state)
{
    (void)state;
    all_sizes("kernel k<T: number>(x: T[], out: T[]) {\n"
              "    let i = grid(1)\n"
              "    if i < out.size {\n"
              "        let j = x.size - 1 - i\n"
              "        let g = (i * 7) % x.size\n"
              "        out[j] = x[j] + x[g]\n"
              "    }\n"
              "}\n");
}

/* Lanes a few elements apart, up to the array's last and down to its first. */
static void steps(void **state)
{
    (void)state;
    all_sizes("kernel k<T: number>(x: T[], out: T[]) {\n"
              "    let i = grid(1)\n"
              "    for s in (2, 3, 4, 7, 8, 16) {\n"
              "        if s * i < x.size { out[i] = x[s * i] + x[x.size - 1 - s * i] }\n"
              "        if s * i + 1 < x.size { out[i] += x[s * i] + x[s * i + 1] }\n"
              "    }\n"
              "}\n");
}

static void vectors(void **state)
{
    (void)state;
    sizes_of("kernel k<T: number>(x: T[], out: T[]) {\n"
             "    let i = grid(1)\n"
             "    if i < out.size {\n"
             "        var s = x[i] + 1\n"
             "        if i > 0 { s += x[i - 1] }\n"
             "        out[i] = s + x[(i * 7) % x.size]\n"
             "        let j = x.size - 1 - i\n"
             "        x[j] = x[j] * 2\n"
             "    }\n"
             "}\n",
             4, (const kjit_dtype[]){KJIT_F32X2, KJIT_I32X4, KJIT_U8X4, KJIT_F64X2});
    sizes_of("kernel k(x: f32x4[], out: f32x4[]) {\n"
             "    let i = grid(1)\n"
             "    if i < out.size { out[i].y = x[i].w + x[x.size - 1 - i].x }\n"
             "}\n",
             1, (const kjit_dtype[]){KJIT_F32X4});
}

static void loops(void **state)
{
    (void)state;
    all_sizes("kernel k<T: number>(x: T[], out: T[]) {\n"
              "    let i = grid(1)\n"
              "    var j = i\n"
              "    while j < x.size {\n"
              "        if x[j] == 0 { break }\n"
              "        out[j] = x[j]\n"
              "        j += 5\n"
              "    }\n"
              "    for m in range(i % 4, i) {\n"
              "        if m >= x.size { break }\n"
              "        out[m] = x[m]\n"
              "    }\n"
              "}\n");
}

static void barriers(void **state)
{
    (void)state;
    all_sizes("kernel k<T: number>(x: T[], out: T[]) {\n"
              "    let tile = shared.array(blockDim.x, T)\n"
              "    let i = grid(1)\n"
              "    tile[threadIdx.x] = x[i] if i < x.size else T(0)\n"
              "    syncthreads()\n"
              "    if i < out.size { out[i] = tile[blockDim.x - 1 - threadIdx.x] }\n"
              "    if i >= x.size { return }\n"
              "    syncthreads()\n"
              "    out[i] += x[i]\n"
              "}\n");
}

/* Along rows of each thread's, the last of which ends at the fence. That is much code: each type has one of the blocks,
 * and two of the widths. */
static void along_rows(void **state)
{
    (void)state;
    static const char text[] =
        "kernel k<T: number>(x: T[], out: T[]) {\n"
        "    let i = grid(1)\n"
        "    for w in (%s) {\n"
        "        let skip = x.size %% w\n"
        "        if i < x.size // w and i %% 7 != 3 {\n"
        "            for k in range(w) { out[i] += x[i * w + k] * x[skip + i * w + k] }\n"
        "            for k in range(w - 1, -1, -1) { out[i] += x[i * w + k] }\n"
        "            for k in range(w + 30) {\n"
        "                if i * w + k < x.size { out[i] += x[i * w + k] }\n"
        "            }\n"
        "            for k in range(w) { out[skip + i * w + k] = x[skip + i * w + k] }\n"
        "            for k in range(i * w, i * w + i %% (w + 1)) { out[i] += x[k] }\n"
        "            for k in range(i %% (w + 1)) { out[i] += x[skip + i * w + k] }\n"
        "            for k in range(i * w + w - 1, i * w + i %% w, -1) { out[i] += x[k] }\n"
        "        }\n"
        "    }\n"
        "}\n";
    static const kjit_dtype types[] = {KJIT_U8, KJIT_I16, KJIT_F32, KJIT_F64};
    static const char *const widths[] = {"16, x.size", "17, 50", "17, x.size", "50, 16"};
    for (int t = 0; t < (on_cpu() ? 4 : 1); t++) {
        char source[2 * sizeof text];
        snprintf(source, sizeof source, text, widths[t]);
        kjit_module *mod = module(source);
        sizes_in(mod, types[t], block_sizes[t]);
        kjit_module_free(mod);
    }
}

/* Rows and columns of a picture that ends at the fence, with steps. */
static void blocks_2d(void **state)
{
    (void)state;
    static const int64_t blocks[][2] = {{16, 16}, {33, 3}, {1, 64}, {8, 8}, {64, 1}};
    kjit_module *mod =
        module("kernel k(x: u8[,], out: u8[,]) {\n"
               "    let c, r = grid(2)\n"
               "    if r < out.shape[0] and c < out.shape[1] { out[r, c] = x[r, c] + 1 }\n"
               "}\n");
    for (int64_t h = 1; h < 36; h += 5) {
        for (int64_t w = 1; w < 70; w += 11) {
            for (int b = 0; b < 5; b++) {
                for (int64_t step = 1; step < 3; step++) {
                    size_t bytes = (size_t)(h * w * step - (step - 1));
                    fenced fx = fence(bytes, false), fo = fence(bytes, false);
                    kjit_array *x, *out;
                    const int64_t strides[] = {w * step, step};
                    OK(kjit_array_wrap(ctx, fx.data, KJIT_U8, 2, SHAPE(h, w), strides, KJIT_HOST,
                                       &x));
                    OK(kjit_array_wrap(ctx, fo.data, KJIT_U8, 2, SHAPE(h, w), strides, KJIT_HOST,
                                       &out));
                    kjit_arg args[] = {kjit_arg_array(x), kjit_arg_array(out)};
                    kjit_config config = {.grid = {w / blocks[b][0] + 1, h / blocks[b][1] + 1},
                                          .block = {blocks[b][0], blocks[b][1]}};
                    OK(kjit_launch(mod, "k", &config, args, 2));
                    for (int64_t i = 0; i < h * w; i++)
                        assert_int_equal(fo.data[i * step], 2);
                    for (int64_t i = 0; step == 2 && i + 1 < h * w; i++)
                        assert_int_equal(fo.data[i * step + 1], 1);
                    kjit_array_free(x);
                    kjit_array_free(out);
                    drop(fx);
                    drop(fo);
                }
            }
        }
    }
    kjit_module_free(mod);
}

/* Pictures of 2 to 4 values a point, whole and as something else. */
static void short_last_axis(void **state)
{
    (void)state;
    static const int64_t widths[] = {1, 5, 64, 130};
    kjit_module *mod =
        module("kernel k(x: u8[,,], out: u8[,,]) {\n"
               "    let i, r = grid(2)\n"
               "    let w = x.shape[1]\n"
               "    let n = x.shape[2]\n"
               "    if r < x.shape[0] and i < w {\n"
               "        let rest = x[:, :, 1:]\n"
               "        let pairs = x.reshape(x.size // 2, 2)\n"
               "        out[r, i, 0] = x[r, i, 0] + x[r, i, n - 1]\n"
               "        for k in range(1, n) { out[r, i, k] = x[r, i, k] + rest[r, i, 0] }\n"
               "        if n == 4 { out[r, i, 0] = 2 * pairs[2 * (r * w + i) + 1, 0] }\n"
               "    }\n"
               "}\n");
    for (int64_t n = 2; n < 5; n++) {
        for (int k = 0; k < 8; k++) {
            int64_t h = 2, w = widths[k / 2];
            fenced fx = fence((size_t)(h * w * n), k % 2), fo = fence((size_t)(h * w * n), k % 2);
            kjit_array *x, *out;
            OK(kjit_array_wrap(ctx, fx.data, KJIT_U8, 3, SHAPE(h, w, n), NULL, KJIT_HOST, &x));
            OK(kjit_array_wrap(ctx, fo.data, KJIT_U8, 3, SHAPE(h, w, n), NULL, KJIT_HOST, &out));
            kjit_arg args[] = {kjit_arg_array(x), kjit_arg_array(out)};
            kjit_config config = {.grid = {w / 64 + 1, 1}, .block = {64, 2}};
            OK(kjit_launch(mod, "k", &config, args, 2));
            for (int64_t i = 0; i < h * w * n; i++)
                assert_int_equal(fo.data[i], 2);
            kjit_array_free(x);
            kjit_array_free(out);
            drop(fx);
            drop(fo);
        }
    }
    kjit_module_free(mod);
}

/* A thread a row, of which the last gang has a few: sums of rows, and of what is left of each. */
static void rows_of_some_threads(void **state)
{
    (void)state;
    enum { WIDTH = 100 };
    kjit_module *mod = module("kernel k(a: f32[,], sums: f32[], rests: f32[]) {\n"
                              "    let r = grid(1)\n"
                              "    if r < sums.size {\n"
                              "        for c in range(a.shape[1]) { sums[r] += a[r, c] }\n"
                              "        var rest: f32 = 0\n"
                              "        for c in range(a.shape[1] - r) { rest += a[r, c] }\n"
                              "        rests[r] = rest\n"
                              "    }\n"
                              "}\n");
    for (int64_t rows = 1; rows < 40; rows += 6) {
        size_t bytes = (size_t)rows * sizeof(float);
        fenced fenced_by[3] = {fence(bytes * WIDTH, false), fence(bytes, false),
                               fence(bytes, false)};
        float *a = (float *)(void *)fenced_by[0].data, *sums = (float *)(void *)fenced_by[1].data,
              *rests = (float *)(void *)fenced_by[2].data;
        kjit_array *arrays[3];
        for (int i = 0; i < 3; i++)
            OK(kjit_array_wrap(ctx, fenced_by[i].data, KJIT_F32, i ? 1 : 2, SHAPE(rows, WIDTH),
                               NULL, KJIT_HOST, &arrays[i]));
        for (int64_t i = 0; i < rows * WIDTH; i++)
            a[i] = 1;
        memset(sums, 0, bytes);
        kjit_arg args[] = {kjit_arg_array(arrays[0]), kjit_arg_array(arrays[1]),
                           kjit_arg_array(arrays[2])};
        OK(kjit_launch(mod, "k", &(kjit_config){.grid = {1}, .block = {64}}, args, 3));
        for (int64_t r = 0; r < rows; r++)
            assert_true(sums[r] == WIDTH && rests[r] == (float)(WIDTH - r));
        for (int i = 0; i < 3; i++) {
            kjit_array_free(arrays[i]);
            drop(fenced_by[i]);
        }
    }
    kjit_module_free(mod);
}

/* No page of the process is there to be written and to be run, with compiled kernels in it. */
static void code_is_not_written(void **state)
{
    (void)state;
    fenced f = fence(64, false);
    kjit_module *mod = module("kernel k(x: u8[]) { x[threadIdx.x] = 1 }");
    kjit_array *x;
    OK(kjit_array_wrap(ctx, f.data, KJIT_U8, 1, SHAPE(64), NULL, KJIT_HOST, &x));
    kjit_arg args[] = {kjit_arg_array(x)};
    OK(kjit_launch(mod, "k", &(kjit_config){.grid = {1}, .block = {64}}, args, 1));
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[4096], rights[8];
    int n = 0;
    assert_non_null(maps);
    for (; fgets(line, sizeof line, maps); n++) {
        assert_int_equal(sscanf(line, "%*s %7s", rights), 1);
        assert_false(rights[1] == 'w' && rights[2] == 'x');
    }
    assert_true(n > 0);
    fclose(maps);
    kjit_array_free(x);
    kjit_module_free(mod);
    drop(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(guarded),
        cmocka_unit_test(returning),
        cmocka_unit_test(neighbours),
        cmocka_unit_test(short_circuit),
        cmocka_unit_test(picked_by_data),
        cmocka_unit_test(reversed_and_gathered),
        cmocka_unit_test(steps),
        cmocka_unit_test(vectors),
        cmocka_unit_test(loops),
        cmocka_unit_test(barriers),
        cmocka_unit_test(along_rows),
        cmocka_unit_test(blocks_2d),
        cmocka_unit_test(short_last_axis),
        cmocka_unit_test(rows_of_some_threads),
        cmocka_unit_test(code_is_not_written),
    };
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
