/* Seeded random arrays. In: a seed and a shape; out: a host array whose elements depend on nothing
 * else.
 *
 * The generator is Philox 4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as
 * 1, 2, 3", 2011) with key (seed low, seed high) and counter (b low, b high, 0, 0), for b = 0, 1,
 * 2, ...: each b gives four words w0 .. w3. Element i in C order is made from
 *
 *   uniform f32   word i % 4 of b = i / 4:  u = (w >> 8) / 2^24
 *   uniform f16   the same word:  u = (w >> 21) / 2^11; bf16: u = (w >> 24) / 2^8
 *   uniform f64   words 2 * (i % 2) and the next, of b = i / 2, as v = w[k] + 2^32 w[k + 1]:
 *                 u = (v >> 11) / 2^53
 *                 then low + (high - low) * u in f64, rounded to the type
 *   normal        pairs by Box-Muller from b = i / 2, all types alike:
 *                 u = ((v0 >> 11) + 1) / 2^53 of words 0 and 1, t = (v1 >> 11) / 2^53 of words 2
 *                 and 3, r = sqrt(-2 ln u): r cos(2 pi t) for even i, r sin(2 pi t) for odd i;
 *                 then mean + std * z in f64, rounded to the type
 *   randint       v as for uniform f64:  low + (v * (high - low) >> 64)
 *
 * ln, cos and sin are computed here from IEEE operations: every machine gives the same bits. Large
 * arrays that need none of them are filled by kernels (lazy/random_kernel.c). */
#include "run/lazy/lazy.h"
#include "run/run.h"

#include <math.h>
#include <string.h>

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

static uint32_t multiply(uint32_t a, uint32_t b, uint32_t *high)
{
    uint64_t product = (uint64_t)a * b;
    *high = (uint32_t)(product >> 32);
    return (uint32_t)product;
}

void kj_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3], k0 = key[0],
             k1 = key[1];
    for (int round = 0; round < 10; round++) {
        uint32_t high0, high1;
        uint32_t low0 = multiply(0xD2511F53u, c0, &high0), low1 = multiply(0xCD9E8D57u, c2, &high1);
        c0 = high1 ^ c1 ^ k0;
        c1 = low1;
        c2 = high0 ^ c3 ^ k1;
        c3 = low0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

/* Words of counter b. */
static void words_of(uint64_t seed, uint64_t b, uint32_t w[4])
{
    const uint32_t counter[4] = {(uint32_t)b, (uint32_t)(b >> 32), 0, 0};
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    kj_philox(counter, key, w);
}

static uint64_t pair_of(const uint32_t *w)
{
    return w[0] | (uint64_t)w[1] << 32;
}

static double fraction(uint64_t v)
{
    return (double)(v >> 11) * 0x1p-53;
}

/* ---- ln, cos, sin: within 1 or 2 units in the last place ---- */

/* x in (0, 1]: x = m 2^e with m in [sqrt(1/2), sqrt(2)); ln m = 2 atanh((m - 1) / (m + 1)) by its
 * series. */
static double natural_log(double x)
{
    int e;
    double m = frexp(x, &e);
    if (m < 0.70710678118654752) {
        m *= 2;
        e--;
    }
    double s = (m - 1) / (m + 1), z = s * s, sum = 0;
    for (int k = 21; k >= 3; k -= 2)
        sum = (sum + 1.0 / k) * z;
    return (double)e * 0.693147180559945309 + (2 * s + 2 * s * sum);
}

/* cos and sin of 2 pi t, t in [0, 1): of the nearest quarter turn's rest, by their series, then
 * turned. */
static void cos_sin(double t, double *cosine, double *sine)
{
    double quarter = floor(4 * t + 0.5);
    double x = (t - 0.25 * quarter) * 6.283185307179586477; /* the difference is exact */
    double z = x * x, c = 0, s = 0;
    for (int k = 18; k >= 2; k -= 2) {
        c = -(c + 1) * z / (k * (k - 1));
        s = -(s + 1) * z / (k * (k + 1));
    }
    c += 1;
    s = x + x * s;
    switch ((int)quarter & 3) {
    case 0:
        *cosine = c;
        *sine = s;
        break;
    case 1:
        *cosine = -s;
        *sine = c;
        break;
    case 2:
        *cosine = -c;
        *sine = -s;
        break;
    default: *cosine = s; *sine = -c;
    }
}

/* ---- Builtins ---- */

/* Without a seed: the number of such calls before, far from the seeds that programs choose. */
#define UNSEEDED (UINT64_C(0x6b6a6974) << 32)

static bool seed_of(kj_run *r, const kj_rcall *c, int i, uint64_t *out)
{
    if (!c->given[i]) {
        *out = UNSEEDED + r->unseeded++;
        return true;
    }
    if (c->args[i].kind == KJ_R_INT) { /* any 64 bits */
        *out = (uint64_t)c->args[i].u.i;
        return true;
    }
    int64_t none;
    return kj_run_arg_int(r, c, i, &none);
}

enum { CHUNK = 128 };    /* elements made at a time; a multiple of 4 */
enum { MANY = 1 << 20 }; /* are made by a kernel, which takes a while to compile */

static bool is_large(const kjit_array *a)
{
    return kjit_array_size(a) >= MANY;
}

typedef void fill_chunk(uint64_t seed, int64_t first, int64_t n, double *out);

/* The upper bits of a word each, as many as a type has digits. */
static void uniform_words(uint64_t seed, int64_t first, int64_t n, int bits, double *out)
{
    uint32_t w[4];
    for (int64_t i = 0; i < n; i++) {
        if (i % 4 == 0)
            words_of(seed, (uint64_t)(first + i) / 4, w);
        out[i] = ldexp(w[i % 4] >> (32 - bits), -bits);
    }
}

static void uniform_single(uint64_t seed, int64_t first, int64_t n, double *out)
{
    uniform_words(seed, first, n, 24, out);
}

static void uniform_f16(uint64_t seed, int64_t first, int64_t n, double *out)
{
    uniform_words(seed, first, n, 11, out);
}

static void uniform_bf16(uint64_t seed, int64_t first, int64_t n, double *out)
{
    uniform_words(seed, first, n, 8, out);
}

static void uniform_double(uint64_t seed, int64_t first, int64_t n, double *out)
{
    uint32_t w[4];
    for (int64_t i = 0; i < n; i++) {
        if (i % 2 == 0)
            words_of(seed, (uint64_t)(first + i) / 2, w);
        out[i] = fraction(pair_of(w + 2 * (i % 2)));
    }
}

static void normal(uint64_t seed, int64_t first, int64_t n, double *out)
{
    uint32_t w[4];
    for (int64_t i = 0; i < n; i += 2) {
        double cosine, sine;
        words_of(seed, (uint64_t)(first + i) / 2, w);
        double u = (double)((pair_of(w) >> 11) + 1) * 0x1p-53, radius = sqrt(-2 * natural_log(u));
        cos_sin(fraction(pair_of(w + 2)), &cosine, &sine);
        out[i] = radius * cosine;
        if (i + 1 < n)
            out[i + 1] = radius * sine;
    }
}

/* The two numbers that a distribution is given, which the type holds: *a and *b have their defaults. */
static bool two_numbers(kj_run *r, const kj_rcall *c, kjit_dtype dtype, double *a, double *b)
{
    unsigned char element[KJ_RUN_ELEMENT];
    double *to[2] = {a, b};
    for (int i = 0; i < 2; i++) {
        if (!c->given[3 + i])
            continue;
        if (!kj_run_arg_float(r, c, 3 + i, to[i]) ||
            (kj_is_float((kj_dtype)dtype) &&
             !kj_run_pack(r, c->spans[3 + i], dtype, kj_run_float(*to[i]), element)))
            return false;
    }
    return true;
}

/* The greatest number of the type in [low, high); low's where there is none. */
static double greatest_in(kjit_dtype dtype, double low, double high)
{
    kj_dtype type = (kj_dtype)dtype;
    kj_value least = kj_fold_convert(kj_float(KJ_F64, low), type);
    kj_value most = kj_fold_convert(kj_float(KJ_F64, high), type);
    if (most.f >= high)
        kj_fold_builtin(KJ_BI_NEXTAFTER, 0, (kj_value[]){most, kj_float(type, -INFINITY)}, 2,
                        &most);
    return most.f > least.f ? most.f : least.f;
}

/* offset + scale * x for each, at most `most`. */
static bool random_floats(kj_run *r, kj_rcall *c, fill_chunk *fill, kjit_dtype dtype, double offset,
                          double scale, double most, kj_rvalue *out)
{
    int ndim;
    int64_t shape[KJIT_MAX_NDIM];
    uint64_t seed = 0;
    if (!kj_run_arg_shape(r, c, 0, &ndim, shape) || !seed_of(r, c, 2, &seed))
        return false;
    if (!kj_is_float((kj_dtype)dtype)) {
        kj_run_fail(r, KJIT_TYPE, c->spans[1], "%s makes floats, not %s",
                    kj_run_builtins[c->id].name, kj_dtype_name(r->ctx, dtype));
        return kj_run_hint(r, "random.randint(low, high, shape, dtype) makes integers");
    }
    if (!kj_run_new_array(r, c->span, dtype, ndim, shape, KJIT_HOST, out))
        return false;
    bool in_kernels = fill == uniform_single || (fill == uniform_double && dtype == KJIT_F64);
    if (in_kernels && is_large(out->u.object->u.array))
        return kj_lazy_random_uniform(r, c->span, seed, offset, scale, most,
                                      out->u.object->u.array);
    double chunk[CHUNK];
    int64_t n = kjit_array_size(out->u.object->u.array), size = (int64_t)kjit_dtype_size(dtype);
    char *p = kjit_array_data(out->u.object->u.array);
    for (int64_t i = 0; i < n; i += CHUNK) {
        int64_t count = n - i < CHUNK ? n - i : CHUNK;
        fill(seed, i, count, chunk);
        for (int64_t k = 0; k < count; k++) {
            double v = offset + scale * chunk[k];
            chunk[k] = v > most ? most : v;
        }
        kj_run_store_floats(dtype, p + i * size, count, chunk);
    }
    return true;
}

bool kj_run_random_uniform(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    kjit_dtype dtype = KJIT_F32;
    double low = 0, high = 1, distance;
    if (!kj_run_arg_dtype(r, c, 1, &dtype) || !two_numbers(r, c, dtype, &low, &high) ||
        !kj_run_arg_distance(r, c, low, high, &distance))
        return false;
    fill_chunk *fill = dtype == KJIT_F16    ? uniform_f16
                       : dtype == KJIT_BF16 ? uniform_bf16
                       : dtype == KJIT_F32  ? uniform_single
                                            : uniform_double;
    double most =
        low < high && kj_is_float((kj_dtype)dtype) ? greatest_in(dtype, low, high) : INFINITY;
    return random_floats(r, c, fill, dtype, low, distance, most, out);
}

bool kj_run_random_normal(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    kjit_dtype dtype = KJIT_F32;
    double mean = 0, std = 1;
    if (!kj_run_arg_dtype(r, c, 1, &dtype) || !two_numbers(r, c, dtype, &mean, &std))
        return false;
    return random_floats(r, c, normal, dtype, mean, std, INFINITY, out);
}

/* The high 64 bits of a * b. */
static uint64_t multiply_high(uint64_t a, uint64_t b)
{
    uint64_t al = (uint32_t)a, ah = a >> 32, bl = (uint32_t)b, bh = b >> 32;
    uint64_t middle = ah * bl + (al * bl >> 32), more = al * bh + (uint32_t)middle;
    return ah * bh + (middle >> 32) + (more >> 32);
}

/* Both ends are of the type: of another, those between may not be either. */
static bool takes_range(kj_run *r, const kj_rcall *c, kjit_dtype dtype, int64_t low, int64_t last)
{
    kj_value ends[] = {kj_int(KJ_I64, low), kj_int(KJ_I64, last)};
    for (int i = 0; i < 2; i++) {
        if (kj_value_fits(ends[i], (kj_dtype)dtype))
            continue;
        kj_run_fail(r, KJIT_TYPE, c->spans[i], "%lld does not fit in %s", (long long)ends[i].i,
                    kj_dtype_name(r->ctx, dtype));
        return kj_run_hint(r, "give it a type that holds them: random.randint(low, high, n, i64)");
    }
    return true;
}

bool kj_run_random_randint(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    kjit_dtype dtype = KJIT_I32;
    int64_t low, high, shape[KJIT_MAX_NDIM];
    int ndim;
    uint64_t seed = 0;
    if (!kj_run_arg_int(r, c, 0, &low) || !kj_run_arg_int(r, c, 1, &high) ||
        !kj_run_arg_shape(r, c, 2, &ndim, shape) || !kj_run_arg_dtype(r, c, 3, &dtype) ||
        !seed_of(r, c, 4, &seed))
        return false;
    if (low >= high)
        return kj_run_fail(r, KJIT_SHAPE, c->spans[1], "there is no integer in [%lld, %lld)",
                           (long long)low, (long long)high);
    if (!kj_is_int((kj_dtype)dtype))
        return kj_run_fail(r, KJIT_TYPE, c->spans[3], "random.randint makes integers, not %s",
                           kj_dtype_name(r->ctx, dtype));
    if (!takes_range(r, c, dtype, low, high - 1) ||
        !kj_run_new_array(r, c->span, dtype, ndim, shape, KJIT_HOST, out))
        return false;
    if (is_large(out->u.object->u.array))
        return kj_lazy_random_integers(r, c->span, seed, low, high, out->u.object->u.array);
    uint64_t range = (uint64_t)high - (uint64_t)low;
    uint32_t w[4];
    int64_t n = kjit_array_size(out->u.object->u.array), size = (int64_t)kjit_dtype_size(dtype);
    char *p = kjit_array_data(out->u.object->u.array);
    for (int64_t i = 0; i < n; i++, p += size) {
        if (i % 2 == 0)
            words_of(seed, (uint64_t)i / 2, w);
        uint64_t v = (uint64_t)low + multiply_high(pair_of(w + 2 * (i % 2)), range);
        kj_run_store_line(dtype, p, 1, (int64_t)v, 0);
    }
    return true;
}
