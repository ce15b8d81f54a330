/* Runs the kernels of data/foreign.cu, as nvcc compiled them, and compares what they leave with what C
 * gives: foreign PTX. */
#include "check.h"

#include <fenv.h>

#include "foreign.h"

enum { IN_WORDS = 1 << 14, OUT_WORDS = 1 << 14 };

static u32 in[IN_WORDS], out[OUT_WORDS];
static const double near = 2e-5; /* how far a result may be off, relatively */

typedef struct launch {
    u32 blocks, threads;
} launch;

#define N (l.blocks * l.threads)

static int wrong;

static void expect(const char *name, u32 i, u32 k, u32 got, u32 want)
{
    if (got != want && wrong++ < 20)
        fprintf(stderr, "%s: thread %u, result %u: 0x%08x, not 0x%08x\n", name, i, k, got, want);
}

static void expect_near(const char *name, u32 i, int k, double got, double want)
{
    if (!(fabs(got - want) <= near * (1 + fabs(want))) && wrong++ < 20)
        fprintf(stderr, "%s: thread %u, result %d: %.9g, not %.9g\n", name, i, k, got, want);
}

#define WORD(per, k, want) expect(__func__, i, (u32)(k), out[i * (per) + (u32)(k)], (u32)(want))
#define EACH_THREAD for (u32 i = 0; i < N; i++)

static u32 bits_of(float f)
{
    u32 bits;
    memcpy(&bits, &f, 4);
    return bits;
}

static float float_of(u32 bits)
{
    float f;
    memcpy(&f, &bits, 4);
    return f;
}

/* ---- Groups, shuffles, votes ---- */

static void groups(launch l)
{
    EACH_THREAD
    {
        u32 first = i / l.threads * l.threads, sum = 0, eight = 0, r = i % 8;
        for (u32 t = 0; t < l.threads; t++)
            sum += in[first + t];
        for (u32 t = 0; t < 8; t++)
            eight ^= in[i / 8 * 8 + t];
        WORD(4, 0, sum);
        WORD(4, 1, eight);
        WORD(4, 2, in[r + 3 < 8 ? i + 3 : i] + in[i ^ 5]);
        WORD(4, 3, in[i] & 1 ? 1 : 2);
    }
}

static void shuffles(launch l)
{
    EACH_THREAD
    {
        u32 lane = i % 32, warp = i - lane, down = lane % 16 + 2 < 16 ? i + 2 : i;
        WORD(4, 0, down ^ in[down]);
        WORD(4, 1, in[i ^ 7]);
        WORD(4, 2, in[lane >= 4 ? i - 4 : i] + in[warp + (lane & 24) + (lane * 5 & 7)]);
        WORD(4, 3, in[warp + (lane < 12 ? 11 : 31)]);
    }
}

static void votes(launch l)
{
    EACH_THREAD
    {
        u32 warp = i - i % 32, first = i / l.threads * l.threads;
        u32 odd = 0, same = 0, any = 0, all = 1, count = 0, sum = 0, xored = 0, most = 0;
        for (u32 t = 0; t < 32; t++) {
            u32 v = in[warp + t];
            odd |= (v & 1) << t;
            same |= (u32)(v % 5 == in[i] % 5) << t;
            any |= v % 5 == 4;
            all &= v % 5 < 4;
            sum += v % 5;
            xored ^= v;
            most = v % 5 > most ? v % 5 : most;
        }
        for (u32 t = 0; t < l.threads; t++)
            count += in[first + t] % 5 == 1;
        WORD(4, 0, odd + 1);
        WORD(4, 1, 2 * same);
        WORD(4, 2, any + 2 * all + 12);
        WORD(4, 3, count + 1000 + sum + most - 3 + xored);
    }
}

/* ---- Halves: of that many bits of fraction; each sum and product here is exact in double ---- */

/* The pairs a and b of a thread, and operations on them. */
typedef struct pairs {
    int fraction;
    double a[2], b[2];
} pairs;

typedef enum op { ADD, MUL, FMA, SUB, MIN, MAX, SAT, RELU } op;

static double one_of(const pairs *p, int k, op what)
{
    double a = p->a[k], b = p->b[k], sum = a + b, fused = a * b + b;
    switch (what) {
    case ADD: return sum;
    case MUL: return a * b;
    case FMA: return a * b + a;
    case SUB: return a - b;
    case MIN: return a < b ? a : b;
    case MAX: return a > b ? a : b;
    case SAT: return sum < 0 ? 0 : sum > 1 ? 1 : sum;
    default: return fused < 0 ? 0 : fused;
    }
}

static u32 both(const pairs *p, op what)
{
    return round_to(one_of(p, 0, what), p->fraction) | round_to(one_of(p, 1, what), p->fraction)
                                                           << 16;
}

static double kept(double v, int fraction)
{
    return read_half(round_to(v, fraction), fraction);
}

static void second_pair(pairs *p, u32 thread)
{
    p->b[0] = kept((float)thread * 0.37f - 3, p->fraction);
    p->b[1] = kept(1.0f / (float)(thread + 1), p->fraction);
}

static void halves(launch l)
{
    static const op ops[] = {ADD, MUL, FMA, SUB, MIN, MAX, SAT, RELU};
    EACH_THREAD
    {
        pairs p = {
            10, {read_half(in[i] & 0xbfff, 10), kept((float)(int)in[i + N] * 1e-6f, 10)}, {0, 0}};
        second_pair(&p, i % l.threads);
        for (int k = 0; k < 8; k++)
            WORD(12, k, both(&p, ops[k]));
        WORD(12, 8,
             ((in[i] & 0xbfff) ^ 0x8000) | (u32)(p.a[0] < p.b[1]) << 16 |
                 (u32)(p.a[1] >= p.b[0]) << 17);
        WORD(12, 9, bits_of((float)p.b[1] + (float)p.b[0]));
        WORD(12, 10,
             (u32)(int)p.b[0] + 100 * (u32)(int)nearbyint(p.b[0]) + round_to((int)in[i], 10));
        WORD(12, 11, round_to((int)in[i] * 1e-5, 10));
    }
}

static void brains(launch l)
{
    static const op ops[] = {ADD, MUL, FMA, MIN, MAX, SUB};
    EACH_THREAD
    {
        pairs p = {7,
                   {kept((float)(int)in[i] * 1e-7f, 7), kept((float)(int)in[i + N] * 1e-3f, 7)},
                   {0, 0}};
        second_pair(&p, i % l.threads);
        for (int k = 0; k < 6; k++)
            WORD(8, k, both(&p, ops[k]));
        WORD(8, 6, (in[i] & 0x7f7fffff) >> 16);
        WORD(8, 7, bits_of((float)p.a[0] + (float)p.b[1]) + (p.a[0] > p.b[0]));
    }
}

/* ---- Copies that arrive later ---- */

static void pipelined(launch l)
{
    EACH_THREAD
    {
        u32 sum = 0;
        for (u32 turn = 0; turn < N / l.threads / 4; turn++) {
            const u32 *w = &in[(turn * l.threads + (i % l.threads ^ 5)) * 4];
            bool shortened = turn > 0 && (turn - 1) % 3 == 0;
            sum = sum * 3 + w[0] + w[1] * 5 + w[2] * 7 + (shortened ? 0 : w[3] * 11);
        }
        WORD(1, 0, sum);
    }
}

static void copied(launch l)
{
    EACH_THREAD
    {
        u32 first = i / 64 * 64;
        WORD(1, 0, in[i ^ 1] + 3 * in[2 * first + (2 * (i % 64) + 7) % 128]);
    }
}

/* ---- Atomics ---- */

static void update_all(u32 to[8], u32 v)
{
    to[0] += v;
    to[1] -= v;
    to[2] = v < to[2] ? v : to[2];
    to[3] = v > to[3] ? v : to[3];
    to[4] &= v | 0xf0;
    to[5] |= v & 0xff0;
    to[6] ^= v;
}

static void atomics(launch l)
{
    u32 want[64] = {0}, odd = 0, second = 0, fifteens = 0, most = 0;
    uint64_t sum = 0;
    for (u32 block = 0; block < l.blocks; block++) {
        u32 words[8];
        for (int k = 0; k < 8; k++)
            words[k] = 0xf0f0f0;
        for (u32 t = 0; t < l.threads; t++) {
            u32 v = in[block * l.threads + t] >> 8;
            update_all(words, v);
            update_all(want, v);
            sum += v;
            fifteens += v & 15;
            odd += v & 1;
            second += v >> 1 & 1;
            most = v > most ? v : most;
            want[28] += v & 7;
            want[29] += v & 3;
            want[30] += v & 1023;
        }
        for (int k = 0; k < 8; k++)
            want[40 + k] = want[48 + k] += words[k];
    }
    memcpy(want + 8, want, 32);
    want[16] = N % 100;
    want[17] = N % 78 ? 78 - N % 78 : 0;
    want[18] = want[56] = bits_of((float)fifteens);
    want[20] = (u32)(sum << 20);
    want[21] = (u32)(sum >> 12);
    want[22] = most - (1 << 23);
    double total = (double)sum;
    memcpy(&want[24], &total, 8);
    want[26] = round_to(odd, 10) | round_to(second, 10) << 16;
    want[27] = round_to(odd, 7);
    want[31] = N;
    want[32] = want[33] = 1;
    for (u32 i = 0; i < 64; i++)
        expect(__func__, i, 0, out[i], want[i]);
}

/* ---- Memory ---- */

static u32 ackermann(u32 m, u32 n)
{
    return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

static u32 own_sum(u32 v)
{
    u32 own[9];
    for (u32 k = 0; k < 9; k++)
        own[(k * 4 + v) % 9] = v >> k;
    return own[v % 9] + own[(v + 1) % 9];
}

static void memory(launch l)
{
    static const double rows[] = {12 - 3 + 60000 + 1e10, -16 + 7 + 8 + 0.25, 1 + 127 + 1 - 8};
    static const u32 table[] = {10, 100, 1000};
    EACH_THREAD
    {
        u32 v = in[i], first = i / l.threads * l.threads, t = i % l.threads;
        WORD(4, 0, own_sum(in[first + (t ^ 3)]) + in[first + (t + 1) % l.threads]);
        WORD(4, 1, (u32)(int64_t)rows[v % 3] + table[v % 3] + 5);
        WORD(4, 2,
             (v & 1 ? v * v : v * 2) + ackermann(v % 3, v / 3 % 4) + (v & 4 ? 6 : 1) * (v & 1023));
        WORD(4, 3, in[i / 4 * 4 + 2] + (v & 255) * (v >> 24) - (v >> 8 & 255) + in[N - 1 - i] + v);
    }
}

static void switches(launch l)
{
    EACH_THREAD
    {
        u32 v = in[i], r = v;
        for (u32 k = 0; k < v % 9; k++) {
            u32 what = (r >> 3) % 8;
            if (what == 3) {
                r = r << 7 | r >> 25;
                continue;
            }
            if (what == 5 && k > 2)
                break;
            r = what == 0   ? r + 3
                : what == 1 ? (r ^ 0x55) * 3
                : what == 2 ? r * 3
                : what == 4 ? r - k
                : what == 5 ? r
                : what == 6 ? ~r
                            : r / (k + 2);
            r += 1000;
        }
        WORD(1, 0, r);
    }
}

/* ---- Numbers ---- */

__extension__ typedef __int128 wide_s;
__extension__ typedef unsigned __int128 wide_u;

static void integers(launch l)
{
    EACH_THREAD
    {
        u32 a = in[i], b = in[i + N], c = a ^ b << 7, right = c & 63;
        uint64_t w = (uint64_t)a << 32 | b, both = (uint64_t)b << 32 | a;
        int32_t x = (int32_t)a, y = (int32_t)b, z = (int32_t)c;
        WORD(12, 0, (u32)(((int64_t)x * y) >> 32) + (u32)(((uint64_t)a * c) >> 32));
        WORD(12, 1,
             (u32)((wide_u)w * (uint64_t)(w * 3) >> 64) +
                 (u32)(((wide_s)(int64_t)w * -(wide_s)(int64_t)w) >> 96));
        WORD(12, 2,
             reversed(a) ^ pick_bytes(a, b, c & 0x7777) ^ (u32)((both << (c & 31)) >> 32) ^
                 (u32)(both >> (right > 32 ? 32 : right)));
        WORD(12, 3,
             __builtin_clz(a) + 100 * __builtin_ffs(y) + 10000 * __builtin_popcountll(w) +
                 1000000 * __builtin_clzll(w >> 20));
        WORD(12, 4, dots(a, b, c));
        WORD(12, 5, of_bytes(a, b, c));
        WORD(12, 6, (u32)(w / (b | 1)) ^ (u32)((int64_t)w % (int64_t)(a | 1)));
        WORD(12, 7, (wide_u)w * w >> 70);
        WORD(12, 8,
             (u32)most(most(x, y), 0) + (u32)most(most(x, y), z) +
                 (u32)most(least((int32_t)(a + b), z), 0));
        WORD(12, 9, of_halves(a, b, c));
        WORD(12, 10,
             (u32)least(x, y) * (a > b ? a : b) + (u32)abs(z) + (u32)(((int64_t)x + y + 1) >> 1) +
                 signed24(a) * signed24(b));
        WORD(12, 11, (a >> (b & 31)) + (u32)(x >> (c & 31)) + (u32)(w << (a & 63)) + third_bit(a));
    }
}

/* With another rounding than to nearest. */
#define ROUNDED(way, T, expr) \
    __extension__({ \
        fesetround(way); \
        volatile T rounded_ = expr; \
        fesetround(FE_TONEAREST); \
        (T) rounded_; \
    })

static void few_floats(launch l, u32 i, float x, float y)
{
    volatile float a = x, b = y, bx = fabsf(x);
    volatile int whole = (int)in[i];
    double d = x * 1.25;
    float first = ROUNDED(FE_TOWARDZERO, float, a + b),
          second = ROUNDED(FE_UPWARD, float, fmaf(a, b, 1)),
          third = ROUNDED(FE_DOWNWARD, float, a *b);
    (void)l;
    first += second;
    expect("floats", i, 0, out[i * 16], bits_of(first - third));
    first = ROUNDED(FE_TONEAREST, float, sqrtf(bx)) + ROUNDED(FE_TONEAREST, float, 1 / b);
    expect("floats", i, 1, out[i * 16 + 1], bits_of(first + ROUNDED(FE_TOWARDZERO, float, a / b)));
    third = ROUNDED(FE_TOWARDZERO, float, (float)whole);
    first = x > 0 ? (x < 1 ? x : 1) : 0;
    first += (float)(int)(d * 3);
    expect("floats", i, 5, out[i * 16 + 5], bits_of(first + third));
}

static void floats(launch l)
{
    EACH_THREAD
    {
        float x = (float)(int)in[i] * 1e-6f, y = (float)(int)in[i + N] * 1e-3f, sum;
        double d = x * 1.25, e = (double)y + 0.1, wide[3], want;
        volatile double vd = d, ve = e;
        memcpy(wide, &out[i * 16 + 10], sizeof wide);
        few_floats(l, i, x, y);
        sum = (x < y ? x : y) * (x > 0.5f ? x : 0.5f);
        WORD(16, 2, bits_of(sum + copysignf(y, x)));
        sum = rintf(x) + truncf(y);
        sum += floorf(x * 3);
        WORD(16, 3, bits_of(sum + ceilf(y * 3)));
        sum = (float)(int)floorf(x) + (float)(u32)ceilf(fabsf(y));
        WORD(16, 4, bits_of(sum + (float)llrintf(y * 1e4f)));
        WORD(16, 6, bits_of(float_of(in[i] & 0x007fffff) * 0.5f));
        WORD(16, 7, bits_of(signbit(x) ? 6 : 2));
        want = sin(x) + exp(-fabs(y) * 1e-4) + log1p(fabs(x)) + pow(fabs(x), 0.3f) + atan2(x, y);
        expect_near(__func__, i, 8, float_of(out[i * 16 + 8]), want);
        want = sin(x * 1e-3) + exp(-fabs(x)) + 1 / sqrt(fabs(y) + 1) + tanh(x) + erf(x);
        expect_near(__func__, i, 9, float_of(out[i * 16 + 9]), want);
        want = fma(d, e, -d) + ROUNDED(FE_UPWARD, double, vd / ve);
        want += sqrt(fabs(d));
        expect(__func__, i, 10, wide[0] != want + rint(e), 0);
        expect_near(__func__, i, 11, wide[1], sin(d) + exp(-fabs(e) * 1e-4) + cbrt(d));
        uint64_t bits = (uint64_t)((in[i] & 0x7fffff) | 0x40000000) << 32 | in[i + N];
        memcpy(&want, &bits, 8);
        want *= 3;
        expect(__func__, i, 12, wide[2] != want + (double)(int64_t)(d * 1e9), 0);
    }
}

/* ---- CUB ---- */

static int by_value(const void *a, const void *b)
{
    const u32 *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void cubs(launch l)
{
    u32 keys[512], sum = 0;
    for (u32 i = 0; i < N; i++) {
        u32 t = i % 128, warp = i - i % 32;
        if (t == 0) {
            memcpy(keys, &in[i * 4], sizeof keys);
            qsort(keys, 512, sizeof *keys, by_value);
            sum = 0;
        }
        int32_t largest = (int32_t)in[warp];
        for (u32 k = warp; k <= i; k++)
            largest = most(largest, (int32_t)in[k]);
        WORD(8, 1, sum);
        WORD(8, 2, largest);
        for (u32 k = 0; k < 4; k++)
            WORD(8, 3 + k, keys[t * 4 + k]);
        sum += in[i];
        if (t == 127)
            expect(__func__, i, 0, out[(i - 127) * 8], sum);
    }
}

/* ---- All of them ---- */

static const struct {
    const char *name;
    void (*check)(launch l);
    launch shape;
    unsigned dynamic;
} kernels[] = {
#define KERNEL(name, blocks, threads, dynamic) \
    { \
#name, name, {blocks, threads }, dynamic \
    }
    KERNEL(groups, 2, 96, 0),   KERNEL(shuffles, 2, 64, 0), KERNEL(votes, 2, 96, 0),
    KERNEL(halves, 2, 64, 0),   KERNEL(brains, 2, 64, 0),   KERNEL(pipelined, 32, 128, 0),
    KERNEL(copied, 4, 64, 0),   KERNEL(atomics, 2, 128, 0), KERNEL(memory, 3, 64, 512),
    KERNEL(switches, 3, 64, 0), KERNEL(integers, 2, 64, 0), KERNEL(floats, 2, 64, 0),
    KERNEL(cubs, 2, 128, 0),
#undef KERNEL
};

static void fill_in(void)
{
    uint64_t z = 1;
    for (int i = 0; i < IN_WORDS; i++) {
        z = z * 6364136223846793005u + 1442695040888963407u;
        in[i] = (u32)(z >> 32);
    }
}

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, 1 << 22);
    EXPECT(file && text && fread(text, 1, (1 << 22) - 1, file) > 0);
    fclose(file);
    return text;
}

int main(int argc, char **argv)
{
    CUdeviceptr from, to;
    CUmodule theirs;
    size_t count = sizeof kernels / sizeof *kernels;
    EXPECT(argc == 2);
    check_load();
    start();
    char *text = read_text(argv[1]);
    OK(cuModuleLoadData(&theirs, text));
    OK(cuMemAlloc_v2(&from, sizeof in));
    OK(cuMemAlloc_v2(&to, sizeof out));
    fill_in();
    OK(cuMemcpyHtoD_v2(from, in, sizeof in));
    for (size_t k = 0; k < count; k++) {
        launch l = kernels[k].shape;
        int n = (int)N;
        OK(cuModuleGetFunction(&function, theirs, kernels[k].name));
        OK(cuMemsetD32_v2(to, 0, OUT_WORDS));
        OK(cuLaunchKernel(function, l.blocks, 1, 1, l.threads, 1, 1, kernels[k].dynamic, NULL,
                          (void *[]){&from, &to, &n}, NULL));
        OK(cuMemcpyDtoH_v2(out, to, sizeof out));
        kernels[k].check(l);
    }
    OK(cuMemFree_v2(from));
    OK(cuMemFree_v2(to));
    OK(cuModuleUnload(theirs));
    finish();
    free(text);
    printf("%zu kernels, %d wrong results\n", count, wrong);
    return wrong > 0;
}
