/* gpu-compare CPU.npy OTHER.npy NAME: where two arrays that should be equal are not. One line: how
 * many elements differ, the first of them with its index and both values, and of floats how many
 * units in the last place they are apart there and at most. Bits count, but NaN equals NaN. The
 * exit status is 1 when they differ. */
#include <kjit.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct number {
    kjit_dtype dtype;
    uint64_t bits;
} number;

static _Noreturn void die(const char *what, const char *why)
{
    printf("%s: %s\n", what, why);
    exit(2);
}

/* The type of the numbers that elements are made of; files have vectors as numbers already. */
static kjit_dtype scalar_of(kjit_dtype dtype, size_t *count)
{
    *count = dtype == KJIT_C64 || dtype == KJIT_C128 ? 2 : 1;
    switch (dtype) {
    case KJIT_BOOL: return KJIT_U8;
    case KJIT_C64: return KJIT_F32;
    case KJIT_C128: return KJIT_F64;
    default: return dtype;
    }
}

static number number_at(const void *data, kjit_dtype dtype, size_t i)
{
    const size_t size = kjit_dtype_size(dtype);
    number n = {.dtype = dtype};
    memcpy(&n.bits, (const char *)data + i * size, size); /* the machine is little-endian */
    return n;
}

static bool is_float(kjit_dtype dtype)
{
    return dtype == KJIT_F16 || dtype == KJIT_BF16 || dtype == KJIT_F32 || dtype == KJIT_F64;
}

static double half(uint64_t bits)
{
    const int exponent = (int)(bits >> 10 & 31);
    const double fraction = (double)(bits & 1023) / 1024, sign = bits >> 15 ? -1 : 1;
    if (exponent == 31)
        return fraction != 0 ? NAN : sign * INFINITY;
    return sign * (exponent == 0 ? ldexp(fraction, -14) : ldexp(1 + fraction, exponent - 15));
}

static double value_of(number n)
{
    const uint32_t low = (uint32_t)(n.dtype == KJIT_BF16 ? n.bits << 16 : n.bits);
    float f;
    double d;
    memcpy(&f, &low, sizeof f);
    memcpy(&d, &n.bits, sizeof d);
    switch (n.dtype) {
    case KJIT_F16: return half(n.bits);
    case KJIT_F64: return d;
    default: return (double)f;
    }
}

static bool equal(number a, number b)
{
    if (a.bits == b.bits)
        return true;
    return is_float(a.dtype) && isnan(value_of(a)) && isnan(value_of(b));
}

/* Floats in order, as integers in order. */
static int64_t place(number n)
{
    const int top = 8 * (int)kjit_dtype_size(n.dtype) - 1;
    const uint64_t size = n.bits & (((uint64_t)1 << top) - 1);
    return n.bits >> top ? -(int64_t)size : (int64_t)size;
}

/* Units in the last place from one to the other; -1: one is no number. */
static double distance(number a, number b)
{
    if (isnan(value_of(a)) || isnan(value_of(b)))
        return -1;
    return fabs((double)place(a) - (double)place(b));
}

static void show(number n)
{
    const int digits = n.dtype == KJIT_F64 ? 17 : 9;
    const unsigned shift = 64 - 8 * (unsigned)kjit_dtype_size(n.dtype);
    if (is_float(n.dtype))
        printf("%.*g (0x%0*llx)", digits, value_of(n), 2 * (int)kjit_dtype_size(n.dtype),
               (unsigned long long)n.bits);
    else if (n.dtype <= KJIT_I64 && n.dtype >= KJIT_I8)
        printf("%lld", (long long)(n.bits << shift) >> shift);
    else
        printf("%llu", (unsigned long long)n.bits);
}

/* Of number i of a dense array in C order. */
static void show_index(const kjit_array *a, size_t i)
{
    int64_t index[KJIT_MAX_NDIM];
    const int ndim = kjit_array_ndim(a);
    for (int axis = ndim - 1; axis >= 0; axis--) {
        const size_t extent = (size_t)kjit_array_shape(a)[axis];
        index[axis] = (int64_t)(i % extent);
        i /= extent;
    }
    putchar('[');
    for (int axis = 0; axis < ndim; axis++)
        printf("%s%lld", axis > 0 ? ", " : "", (long long)index[axis]);
    putchar(']');
}

static bool compare(const char *name, const kjit_array *a, const kjit_array *b)
{
    size_t parts, differ = 0, first = 0;
    double most = 0;
    const kjit_dtype scalar = scalar_of(kjit_array_dtype(a), &parts);
    const size_t count = (size_t)kjit_array_size(a) * parts;
    const void *x = kjit_array_data(a), *y = kjit_array_data(b);
    for (size_t i = 0; i < count; i++) {
        const number p = number_at(x, scalar, i), q = number_at(y, scalar, i);
        if (equal(p, q))
            continue;
        if (differ++ == 0)
            first = i;
        if (is_float(scalar) && distance(p, q) > most)
            most = distance(p, q);
    }
    if (differ == 0)
        return true;
    const number p = number_at(x, scalar, first), q = number_at(y, scalar, first);
    printf("%s %s: %zu of %zu differ; ", name, kjit_dtype_name(kjit_array_dtype(a)), differ, count);
    show_index(a, first / parts);
    if (parts > 1)
        printf(" part %zu", first % parts);
    printf(": ");
    show(p);
    printf(" and ");
    show(q);
    if (is_float(scalar))
        printf(", %.0f ulp; at most %.0f ulp", distance(p, q), most);
    putchar('\n');
    return false;
}

static kjit_array *load(kjit_context *ctx, const char *path)
{
    kjit_array *a, *dense;
    if (kjit_array_load(ctx, path, &a) != KJIT_OK ||
        kjit_array_create(ctx, kjit_array_dtype(a), kjit_array_ndim(a), kjit_array_shape(a), 'C',
                          KJIT_HOST, &dense) != KJIT_OK ||
        kjit_copy(dense, a, NULL) != KJIT_OK)
        die(path, kjit_last_error(ctx));
    kjit_array_free(a);
    return dense;
}

int main(int argc, char **argv)
{
    char why[500];
    kjit_context *ctx;
    const kjit_context_options on_cpu = {.device = "cpu"};
    if (argc != 4)
        die("usage", "gpu-compare CPU.npy OTHER.npy NAME");
    if (kjit_context_create(&on_cpu, &ctx, why, sizeof why) != KJIT_OK)
        die("kjit", why);
    kjit_array *a = load(ctx, argv[1]), *b = load(ctx, argv[2]);
    bool same_shape =
        kjit_array_dtype(a) == kjit_array_dtype(b) && kjit_array_ndim(a) == kjit_array_ndim(b);
    for (int i = 0; i < kjit_array_ndim(a) && same_shape; i++)
        same_shape = kjit_array_shape(a)[i] == kjit_array_shape(b)[i];
    if (!same_shape)
        printf("%s: types or shapes differ\n", argv[3]);
    const bool same = same_shape && compare(argv[3], a, b);
    kjit_array_free(a);
    kjit_array_free(b);
    kjit_context_destroy(ctx);
    return same ? 0 : 1;
}
