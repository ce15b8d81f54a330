/* Numbers as decimal digits and back, beside the C library: the fewest digits are those with which "%.*e" first reads back as the
 * number (or the decimal above does), for every f16 and bf16, and for floats and doubles at random, at the ends of their range and
 * around powers of two and ten. With KJIT_TEST_ALL=1 many more. */
#include "parsed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array/format.h"
#include "base/c_locale.h"
#include "base/decimal.h"
#include "lang/half.h"

static uint64_t state = 1;

static uint64_t bits_at_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * 0x2545f4914f6cdd1dULL;
}

static int rounds(int few, int many)
{
    return getenv("KJIT_TEST_ALL") ? many : few;
}

static double of_bits(uint64_t bits)
{
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static float of_few_bits(uint32_t bits)
{
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* ---- Written ---- */

static double read_back(const char *text, kj_dtype type)
{
    return type == KJ_F64   ? strtod(text, NULL)
           : type == KJ_F32 ? (double)strtof(text, NULL)
                            : kj_half_round(type, strtod(text, NULL));
}

/* "d.ddde+xx" one higher in its last digit; false where that has other digits before it too. */
static bool raised(char *text)
{
    char *last = strchr(text, 'e') - 1;
    return *last != '9' && ++*last;
}

static void put_expected(double v, kj_dtype type, char *out)
{
    for (int n = 1; n <= 17; n++) {
        snprintf(out, 40, "%.*e", n - 1, v);
        if (read_back(out, type) == v || (raised(out) && read_back(out, type) == v))
            break;
    }
}

static void put_given(const kj_decimal *d, char *out)
{
    snprintf(out, 64, "%s%c%s%.*se%c%02d", d->negative ? "-" : "", d->digits[0],
             d->n > 1 ? "." : "", d->n - 1, d->digits + 1, d->exponent < 0 ? '-' : '+',
             abs(d->exponent));
}

static void check_shortest(double v, kj_dtype type)
{
    char expected[64], given[64];
    kj_decimal d;
    if (!isfinite(v))
        return;
    put_expected(v, type, expected);
    kj_shortest(v, type, &d);
    put_given(&d, given);
    assert_string_equal(given, expected);
}

static void every_half_has_its_digits(void **unused)
{
    (void)unused;
    for (int i = 0; i < 1 << 16; i++) {
        check_shortest(kj_half_read(KJ_F16, (uint16_t)i), KJ_F16);
        check_shortest(kj_half_read(KJ_BF16, (uint16_t)i), KJ_BF16);
    }
}

static void floats_have_the_fewest_digits(void **unused)
{
    (void)unused;
    for (int i = 0; i < rounds(20000, 2000000); i++)
        check_shortest((double)of_few_bits((uint32_t)bits_at_random()), KJ_F32);
    for (uint32_t e = 0; e < 255; e++)
        for (uint32_t near = 0; near < 5; near++)
            check_shortest((double)of_few_bits((e << 23) + near - (e ? 2 : 0)), KJ_F32);
    for (int i = 1; i < 20000; i++)
        check_shortest((double)(float)(i * 0.01), KJ_F32);
}

static void doubles_have_the_fewest_digits(void **unused)
{
    (void)unused;
    for (int i = 0; i < rounds(20000, 2000000); i++)
        check_shortest(of_bits(bits_at_random()), KJ_F64);
    for (uint64_t e = 0; e < 2047; e++)
        for (uint64_t near = 0; near < 5; near++)
            check_shortest(of_bits((e << 52) + near - (e ? 2 : 0)), KJ_F64);
    for (int i = 0; i < 20000; i++) {
        char text[40];
        snprintf(text, sizeof text, "%llue%d",
                 (unsigned long long)(bits_at_random() >> (11 + i % 50)), i % 600 - 310);
        check_shortest(strtod(text, NULL), KJ_F64);
    }
}

static void a_number_of_digits_is_the_nearest(void **unused)
{
    (void)unused;
    for (int i = 0; i < rounds(50000, 2000000); i++) {
        double v = i % 2 ? of_bits(bits_at_random()) : (double)(bits_at_random() >> i % 60) / 1024;
        int n = 1 + i % 19;
        char expected[64], given[64];
        kj_decimal d;
        if (!isfinite(v))
            continue;
        snprintf(expected, sizeof expected, "%.*e", n - 1, v);
        kj_exact(v, n, &d);
        put_given(&d, given);
        assert_string_equal(given, expected);
    }
}

/* Few numbers are left to the C library: it is ten times as slow. */
static void most_are_decided(void **unused)
{
    (void)unused;
    enum { ALL = 10000 };
    int left = 0;
    for (int i = 0; i < ALL; i++) {
        kj_digits d;
        uint64_t c;
        int q;
        left += !kj_digits_nearest(bits_at_random() | 1, -(int)(bits_at_random() % 900), 1 + i % 17,
                                   &d);
        left += !kj_digits_binary(
            (kj_digits){.digits = bits_at_random() | 1, .exponent = i % 600 - 300}, 53, &c, &q);
    }
    assert_true(left < ALL / 100);
}

/* ---- Read ---- */

static void check_read(const char *text)
{
    char *end, *kj_end;
    double v = strtod(text, &end), kj_v = kj_strtod(text, &kj_end);
    assert_ptr_equal(kj_end, end);
    assert_true(isnan(v) ? isnan(kj_v) : memcmp(&v, &kj_v, sizeof v) == 0);
    float f = strtof(text, &end), kj_f = kj_strtof(text, &kj_end);
    assert_ptr_equal(kj_end, end);
    assert_true(isnan(f) ? isnan(kj_f) : memcmp(&f, &kj_f, sizeof f) == 0);
}

static void texts_are_read_as_the_c_library_does(void **unused)
{
    (void)unused;
    static const char *const texts[] = {
        "",
        "-",
        ".",
        "-.e1",
        "1.",
        ".5",
        "+.5e1",
        "-0",
        "-0.0e9",
        "0e99999",
        "1e",
        "1e+",
        "1e-x",
        "1e5e5",
        "1.5.5",
        "0x1p3",
        "-0X.8",
        "0x",
        "inf",
        "-nan",
        " 1",
        "1 2",
        "1,5",
        "1_000",
        "--1",
        "1e400",
        "1e-400",
        "4.9e-324",
        "2.4e-324",
        "2.5e-324",
        "2.2250738585072011e-308",
        "1e38",
        "3.4028235677973366e38",
        "3.4028235e38",
        "1e-45",
        "7e-46",
        "1.17549435e-38",
        "16777217",
        "16777219",
        "9007199254740993",
        "9007199254740992.9999",
        "9223372036854775807",
        "18446744073709551615",
        "18446744073709551616",
        "123456789012345678901234567890",
        "0.000000000000000000000000000001",
        "1e23",
        "8.5e22",
        "1E22",
        "1e-22",
        "1e99999999999999999999",
        "00000000000000000000001.5",
        "1.7976931348623157e308",
        "1.7976931348623159e308",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check_read(texts[i]);
    for (int i = 0; i < rounds(100000, 5000000); i++) {
        char text[64];
        if (i % 3 == 0)
            snprintf(text, sizeof text, "%.*e", i % 20, of_bits(bits_at_random()));
        else if (i % 3 == 1)
            snprintf(text, sizeof text, "%.*e", i % 12,
                     (double)of_few_bits((uint32_t)bits_at_random()));
        else
            snprintf(text, sizeof text, "%lld.%llue%d", (long long)bits_at_random() >> i % 64,
                     (unsigned long long)bits_at_random() % 1000, i % 40 - 20);
        check_read(text);
    }
}

/* A point far from the digits, and an exponent that takes it back, or nearly. */
static void far_points_and_exponents(void **unused)
{
    (void)unused;
    static const int zeros[] = {0, 20, 300, 1000, 9979, 9989, 9999, 10000, 10001, 20000};
    static char text[21000];
    for (int i = 0; i < 10; i++)
        for (int near = -2; near <= 20000; near = near < 2 ? near + 1 : near * 10 + 7) {
            int n = snprintf(text, sizeof text, "-0.%0*d", zeros[i], 0);
            snprintf(text + n, sizeof text - (size_t)n, "123e%d", zeros[i] + near);
            check_read(text);
            snprintf(text, sizeof text, "123%0*d.e-%d", zeros[i], 0, zeros[i] + near);
            check_read(text);
            snprintf(text, sizeof text, "0.%0*d1e%05d%d", zeros[i], 0, near, zeros[i]);
            check_read(text);
        }
}

/* The middle between two numbers, and what is next to it. */
static void middles_are_rounded_to_even(void **unused)
{
    (void)unused;
    for (int i = 0; i < rounds(20000, 500000); i++) {
        uint64_t c = (bits_at_random() >> 11 | 1ULL << 52) * 2 + 1;
        char text[64];
        snprintf(text, sizeof text, "%llu", (unsigned long long)c);
        check_read(text);
        snprintf(text, sizeof text, "%.25g",
                 (double)((uint32_t)c >> 7 | 1U << 24 | 1U) / (double)(1ULL << i % 40));
        check_read(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_half_has_its_digits),
        cmocka_unit_test(floats_have_the_fewest_digits),
        cmocka_unit_test(doubles_have_the_fewest_digits),
        cmocka_unit_test(a_number_of_digits_is_the_nearest),
        cmocka_unit_test(most_are_decided),
        cmocka_unit_test(texts_are_read_as_the_c_library_does),
        cmocka_unit_test(far_points_and_exponents),
        cmocka_unit_test(middles_are_rounded_to_even),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
