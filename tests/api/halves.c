/* f16 and bf16: every number there is converted, every boundary rounded, and arithmetic on all of
 * one operand, against integers: there each operation is exact and rounded by counting. */
#include "api.h"

#include <math.h>

__extension__ typedef unsigned __int128 wide;

/* Numbers are digits * 2^exponent; the smallest ones are multiples of 2^least. */
typedef struct format {
    kjit_dtype dtype;
    const char *name;
    int digits, least, fields;
} format;

static const format formats[] = {{KJIT_F16, "f16", 11, -24, 31}, {KJIT_BF16, "bf16", 8, -133, 255}};

typedef struct number {
    bool negative, rest; /* there is more, less than a unit of the digits */
    wide digits;
    int exponent;
} number;

enum { ALL = 1 << 16 };

/* ---- The reference ---- */

static uint16_t rounded(const format *f, number n)
{
    int length = 0;
    for (wide d = n.digits; d; d >>= 1)
        length++;
    int unit = n.exponent + length - f->digits;
    if (unit < f->least)
        unit = f->least;
    int shift = unit - n.exponent;
    wide kept = shift <= 0 ? n.digits << -shift : shift > 127 ? 0 : n.digits >> shift;
    if (shift > 0 && shift <= 127) {
        wide lost = n.digits & (((wide)1 << shift) - 1), half = (wide)1 << (shift - 1);
        kept += lost > half || (lost == half && (n.rest || (kept & 1)));
    }
    int field = unit - f->least;
    uint32_t one = 1u << (f->digits - 1);
    /* a carry into the next power of two is one into the exponent's field */
    uint32_t bits = kept < one ? (uint32_t)kept : (uint32_t)kept + (uint32_t)field * one;
    if (bits > (uint32_t)f->fields * one)
        bits = (uint32_t)f->fields * one;
    return (uint16_t)(bits | (n.negative ? 0x8000 : 0));
}

static bool is_finite(const format *f, uint16_t bits)
{
    return (bits & 0x7fff) >> (f->digits - 1) < f->fields;
}

static number number_of(const format *f, uint16_t bits)
{
    int field = (bits & 0x7fff) >> (f->digits - 1), one = 1 << (f->digits - 1);
    int digits = (bits & (one - 1)) + (field ? one : 0);
    return (number){bits >> 15, false, (wide)digits, f->least + (field ? field - 1 : 0)};
}

static double value_of(const format *f, uint16_t bits)
{
    number n = number_of(f, bits);
    double size = ldexp((double)n.digits, n.exponent);
    if (!is_finite(f, bits))
        size = bits & ((1 << (f->digits - 1)) - 1) ? NAN : INFINITY;
    return n.negative ? -size : size;
}

static number number_of_double(double v)
{
    int exponent;
    double digits = ldexp(frexp(fabs(v), &exponent), 53);
    return (number){signbit(v), false, (wide)digits, exponent - 53};
}

static number sum(number a, number b)
{
    if (a.digits == 0 || (b.digits != 0 && a.exponent < b.exponent)) {
        number swap = a;
        a = b, b = swap;
    }
    if (b.digits == 0) {
        a.negative = a.negative && (a.digits != 0 || b.negative);
        return a;
    }
    int apart = a.exponent - b.exponent;
    bool far = apart > 100; /* b is less than a unit of a's digits then */
    int shift = far ? 70 : apart;
    a.digits <<= shift;
    a.exponent -= shift;
    if (far) {
        a.digits -= a.negative != b.negative;
        a.rest = true;
    } else if (a.negative == b.negative) {
        a.digits += b.digits;
    } else if (a.digits >= b.digits) {
        a.digits -= b.digits;
        a.negative = a.negative && a.digits != 0;
    } else {
        a.digits = b.digits - a.digits;
        a.negative = b.negative;
    }
    return a;
}

static number product(number a, number b)
{
    return (number){a.negative != b.negative, false, a.digits * b.digits, a.exponent + b.exponent};
}

static number quotient(number a, number b)
{
    wide up = a.digits << 60;
    return (number){a.negative != b.negative, up % b.digits != 0, up / b.digits,
                    a.exponent - 60 - b.exponent};
}

static number root(number a)
{
    int up = 60 + (a.exponent & 1), exponent = (a.exponent - up) / 2;
    wide square = a.digits << up, r = 0;
    for (wide bit = (wide)1 << 40; bit; bit >>= 1)
        if ((r + bit) * (r + bit) <= square)
            r += bit;
    return (number){a.negative, r * r != square, r, exponent};
}

/* ---- Checks ---- */

static bool same(const format *f, uint16_t a, uint16_t b)
{
    return isnan(value_of(f, a)) ? isnan(value_of(f, b)) : a == b;
}

static void expect(const format *f, const char *what, double from, uint16_t got, uint16_t wanted)
{
    if (!same(f, got, wanted))
        fail_msg("%s: %s of %a is %04x, not %04x", f->name, what, from, got, wanted);
}

static kjit_module *compiled(const format *f, const char *text)
{
    char source[2048];
    kjit_module *m;
    snprintf(source, sizeof source, text, f->name, f->name, f->name, f->name, f->name, f->name);
    OK(kjit_module_compile(ctx, "halves.knl", source, strlen(source), NULL, &m));
    return m;
}

static kjit_array *array(kjit_dtype dtype, int64_t n, void *data)
{
    kjit_array *a;
    OK(kjit_array_wrap(ctx, data, dtype, 1, &n, NULL, KJIT_HOST, &a));
    return a;
}

/* Runs it on n threads; frees the arrays. */
static void run(kjit_module *m, const char *name, int64_t n, kjit_array **arrays, int count)
{
    kjit_arg args[9];
    for (int i = 0; i < count; i++)
        args[i] = kjit_arg_array(arrays[i]);
    kjit_config config = {.grid = {(n + 255) / 256}, .block = {256}};
    OK(kjit_launch(m, name, &config, args, count));
    for (int i = 0; i < count; i++)
        kjit_array_free(arrays[i]);
}

static void test_to_f32(void **state)
{
    static uint16_t bits[ALL];
    static float out[ALL];
    (void)state;
    for (int i = 0; i < ALL; i++)
        bits[i] = (uint16_t)i;
    for (int t = 0; t < 2; t++) {
        const format *f = &formats[t];
        kjit_module *m = compiled(f, "kernel widen(x: %s[], out: f32[]) {\n"
                                     "    let i = grid(1)\n"
                                     "    if i < x.size { out[i] = x[i] }\n"
                                     "}\n");
        kjit_array *arrays[] = {array(f->dtype, ALL, bits), array(KJIT_F32, ALL, out)};
        run(m, "widen", ALL, arrays, 2);
        for (int i = 0; i < ALL; i++) {
            float wanted = (float)value_of(f, bits[i]);
            if (isnan(wanted) ? !isnan(out[i]) : memcmp(&wanted, &out[i], sizeof wanted) != 0)
                fail_msg("%s %04x is %a, not %a", f->name, i, (double)out[i], (double)wanted);
        }
        kjit_module_free(m);
    }
}

/* Numbers, what is half way to the next ones, and the neighbours of both. */
static void test_from_floats(void **state)
{
    enum { EACH = 6, N = ALL * EACH };
    static float singles[N];
    static double doubles[N];
    static uint16_t narrow[N], direct[N];
    (void)state;
    for (int t = 0; t < 2; t++) {
        const format *f = &formats[t];
        for (int i = 0; i < ALL; i++) {
            double v = value_of(f, (uint16_t)i), next = value_of(f, (uint16_t)(i + 1));
            double half = isfinite(v) && isfinite(next) ? v + (next - v) / 2
                                                        : v * (1 + ldexp(1, -f->digits - 1));
            for (int k = 0; k < EACH; k++) {
                double from = k < 3 ? v : half, to = k % 3 == 1 ? INFINITY : -INFINITY;
                singles[i * EACH + k] = k % 3 ? nextafterf((float)from, (float)to) : (float)from;
                doubles[i * EACH + k] = k % 3 ? nextafter(from, to) : from;
            }
        }
        kjit_module *m = compiled(f, "kernel narrow(x: f32[], y: f64[], a: %s[], b: %s[]) {\n"
                                     "    let i = grid(1)\n"
                                     "    if i < x.size { a[i] = %s(x[i]); b[i] = %s(y[i]) }\n"
                                     "}\n");
        kjit_array *arrays[] = {array(KJIT_F32, N, singles), array(KJIT_F64, N, doubles),
                                array(f->dtype, N, narrow), array(f->dtype, N, direct)};
        run(m, "narrow", N, arrays, 4);
        for (int i = 0; i < N; i++) {
            double v[2] = {(double)singles[i], doubles[i]};
            uint16_t got[2] = {narrow[i], direct[i]};
            for (int k = 0; k < 2; k++) {
                if (isnan(v[k])) {
                    assert_true(isnan(value_of(f, got[k])));
                    continue;
                }
                number n =
                    isinf(v[k]) ? (number){v[k] < 0, false, 1, 1000} : number_of_double(v[k]);
                expect(f, k ? "f64" : "f32", v[k], got[k], rounded(f, n));
            }
#if defined(__FLT16_MANT_DIG__) && !defined(__clang__)
            __extension__ _Float16 second = (_Float16)doubles[i];
            uint16_t opinion;
            memcpy(&opinion, &second, sizeof opinion);
            if (f->dtype == KJIT_F16)
                expect(f, "f64", doubles[i], direct[i], opinion);
#endif
        }
        kjit_module_free(m);
    }
}

static void test_from_integers(void **state)
{
    enum { N = 1 << 14 };
    static int64_t longs[N];
    static uint64_t naturals[N];
    static int32_t words[N];
    static uint16_t a[N], b[N], c[N];
    (void)state;
    for (int t = 0; t < 2; t++) {
        const format *f = &formats[t];
        for (int i = 0; i < N; i++) { /* around what is half way between two numbers */
            uint64_t digits = ((uint64_t)i * 0x9e3779b9u >> 8) % (2u << f->digits) | 1;
            int by = i % 3 - 1, up = i / 3 % (62 - f->digits);
            naturals[i] = (digits << (up + 2)) + (uint64_t)by;
            longs[i] = (i & 8 ? -1 : 1) * (int64_t)(naturals[i] >> 1);
            words[i] =
                (i & 8 ? -1 : 1) * (int32_t)((digits << up % (30 - f->digits)) + (uint64_t)by);
        }
        kjit_module *m =
            compiled(f, "kernel ints(x: i64[], y: u64[], z: i32[], a: %s[], b: %s[], c: %s[]) {\n"
                        "    let i = grid(1)\n"
                        "    if i < x.size { a[i] = %s(x[i]); b[i] = %s(y[i]); c[i] = %s(z[i]) }\n"
                        "}\n");
        memset(a, 0, sizeof a);
        memset(b, 0, sizeof b);
        memset(c, 0, sizeof c);
        kjit_array *arrays[] = {array(KJIT_I64, N, longs), array(KJIT_U64, N, naturals),
                                array(KJIT_I32, N, words), array(f->dtype, N, a),
                                array(f->dtype, N, b),     array(f->dtype, N, c)};
        run(m, "ints", N, arrays, 6);
        for (int i = 0; i < N; i++) {
            number x = {longs[i] < 0, false, (wide)llabs(longs[i]), 0};
            number y = {false, false, naturals[i], 0}, z = {words[i] < 0, false, 0, 0};
            z.digits = (wide)llabs((long long)words[i]);
            expect(f, "i64", (double)longs[i], a[i], rounded(f, x));
            expect(f, "u64", (double)naturals[i], b[i], rounded(f, y));
            expect(f, "i32", (double)words[i], c[i], rounded(f, z));
        }
        kjit_module_free(m);
    }
}

/* ---- Arithmetic ---- */

enum { ADD, SUB, MUL, DIV, SQRT, FMA, OPS };

static const char *const names[OPS] = {"sum", "difference", "product", "quotient", "root", "fma"};

static uint16_t wanted(const format *f, int op, uint16_t x, uint16_t y, uint16_t z)
{
    static const uint16_t nan = 0x7fff;
    number a = number_of(f, x), b = number_of(f, y), c = number_of(f, z);
    double p = value_of(f, x), q = value_of(f, y), r = value_of(f, z), v;
    bool plain = is_finite(f, x) && (op == SQRT || is_finite(f, y)) &&
                 (op != FMA || is_finite(f, z)) && !(op == DIV && q == 0) && !(op == SQRT && p < 0);
    if (!plain) { /* infinities and NaN, as C has them */
        v = op == ADD   ? p + q
            : op == SUB ? p - q
            : op == MUL ? p * q
            : op == DIV ? p / q
            : op == FMA ? fma(p, q, r)
                        : sqrt(p);
        number most = {v < 0, false, 1, 1000};
        return isnan(v) ? nan : isinf(v) ? rounded(f, most) : rounded(f, number_of_double(v));
    }
    if (op == SUB)
        b.negative = !b.negative;
    switch (op) {
    case ADD:
    case SUB: return rounded(f, sum(a, b));
    case MUL: return rounded(f, product(a, b));
    case DIV: return rounded(f, quotient(a, b));
    case SQRT: return rounded(f, root(a));
    default: return rounded(f, sum(product(a, b), c));
    }
}

/* All of x with a y and a z, of which many are in the middle of things. */
static void test_arithmetic(void **state)
{
    static uint16_t x[ALL], y[ALL], z[ALL], out[OPS][ALL];
    uint64_t seed = 1;
    (void)state;
    for (int t = 0; t < 2; t++) {
        const format *f = &formats[t];
        kjit_module *m = compiled(
            f, "kernel arith<T: float>(x: %s[], y: T[], z: T[], s: T[], d: T[], p: T[], q: T[],\n"
               "                       r: T[], a: T[]) {\n"
               "    let i = grid(1)\n"
               "    if i < x.size {\n"
               "        s[i] = x[i] + y[i]\n"
               "        d[i] = x[i] - y[i]\n"
               "        p[i] = x[i] * y[i]\n"
               "        q[i] = x[i] / y[i]\n"
               "        r[i] = sqrt(x[i])\n"
               "        a[i] = x[i] * y[i] + z[i]\n"
               "    }\n"
               "}\n");
        for (int turn = 0; turn < (on_cpu() ? 24 : 3); turn++) {
            for (int i = 0; i < ALL; i++) {
                seed = seed * 6364136223846793005u + 1442695040888963407u;
                x[i] = (uint16_t)i;
                y[i] = (uint16_t)(seed >> 48);
                z[i] = (uint16_t)(seed >> 32);
                if (turn % 3 == 1 && is_finite(f, x[i]) && is_finite(f, y[i])) /* cancels */
                    z[i] = rounded(f, product(number_of(f, x[i]), number_of(f, y[i]))) ^ 0x8000;
                if (turn % 3 == 2) /* of nearly x's size */
                    y[i] = (uint16_t)((x[i] + (seed >> 60)) ^ (seed >> 44 & 0x8000));
            }
            kjit_array *arrays[] = {array(f->dtype, ALL, x),      array(f->dtype, ALL, y),
                                    array(f->dtype, ALL, z),      array(f->dtype, ALL, out[0]),
                                    array(f->dtype, ALL, out[1]), array(f->dtype, ALL, out[2]),
                                    array(f->dtype, ALL, out[3]), array(f->dtype, ALL, out[4]),
                                    array(f->dtype, ALL, out[5])};
            run(m, "arith", ALL, arrays, 9);
            for (int op = 0; op < OPS; op++)
                for (int i = 0; i < ALL; i++) {
                    uint16_t w = wanted(f, op, x[i], y[i], z[i]);
                    if (!same(f, out[op][i], w))
                        fail_msg("%s: the %s of %04x, %04x, %04x is %04x, not %04x", f->name,
                                 names[op], x[i], y[i], z[i], out[op][i], w);
                }
        }
        kjit_module_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_to_f32),
        cmocka_unit_test(test_from_floats),
        cmocka_unit_test(test_from_integers),
        cmocka_unit_test(test_arithmetic),
    };
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
