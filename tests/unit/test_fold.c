/* The arithmetic of constants: every operator on every type, at the edges where C leaves off. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <float.h>
#include <math.h>

#include "sema/body/body.h"

static const kj_dtype ints[] = {KJ_I8, KJ_I16, KJ_I32, KJ_I64, KJ_U8, KJ_U16, KJ_U32, KJ_U64};
enum { NINTS = sizeof ints / sizeof *ints };

static kj_value u(kj_dtype t, uint64_t bits)
{
    return kj_fold_convert((kj_value){.type = KJ_U64, .u = bits}, t);
}

static kj_value least(kj_dtype t)
{
    return kj_is_signed(t) ? u(t, (uint64_t)1 << (kj_types[t].bits - 1)) : u(t, 0);
}

static kj_value greatest(kj_dtype t)
{
    return kj_is_signed(t) ? u(t, ((uint64_t)1 << (kj_types[t].bits - 1)) - 1) : u(t, UINT64_MAX);
}

static void expect(kj_value got, kj_value wanted)
{
    assert_int_equal(got.type, wanted.type);
    if (kj_is_float(wanted.type)) {
        if (isnan(wanted.f))
            assert_true(isnan(got.f));
        else
            assert_true(got.f == wanted.f && signbit(got.f) == signbit(wanted.f));
        return;
    }
    assert_int_equal(got.u, wanted.u);
}

static void expect_int(kj_op op, kj_dtype t, int64_t a, int64_t b, int64_t wanted)
{
    expect(kj_fold_binary(op, kj_int(t, a), kj_int(t, b)), kj_int(t, wanted));
}

static void expect_f64(kj_op op, double a, double b, double wanted)
{
    expect(kj_fold_binary(op, kj_float(KJ_F64, a), kj_float(KJ_F64, b)), kj_float(KJ_F64, wanted));
}

static void expect_f32(kj_op op, float a, float b, float wanted)
{
    expect(kj_fold_binary(op, kj_float(KJ_F32, (double)a), kj_float(KJ_F32, (double)b)),
           kj_float(KJ_F32, (double)wanted));
}

static void integers_wrap(void **state)
{
    (void)state;
    for (int i = 0; i < NINTS; i++) {
        kj_dtype t = ints[i];
        kj_value one = u(t, 1);
        expect(kj_fold_binary(KJ_OP_ADD, greatest(t), one), least(t));
        expect(kj_fold_binary(KJ_OP_SUB, least(t), one), greatest(t));
        expect(kj_fold_binary(KJ_OP_MUL, greatest(t), u(t, 2)), u(t, UINT64_MAX - 1));
        expect(kj_fold_unary(KJ_OP_NEG, least(t)), least(t));
        expect(kj_fold_unary(KJ_OP_NEG, one), u(t, UINT64_MAX));
        expect(kj_fold_unary(KJ_OP_INVERT, least(t)), greatest(t));
        expect(kj_fold_binary(KJ_OP_POW, u(t, 2), u(t, (uint64_t)kj_types[t].bits)), u(t, 0));
        expect(kj_fold_binary(KJ_OP_POW, u(t, 0), u(t, 0)), one);
        expect(kj_fold_binary(KJ_OP_POW, u(t, 3), u(t, 5)), u(t, 243));
    }
    expect_int(KJ_OP_MUL, KJ_I64, INT64_MIN, -1, INT64_MIN);
    expect_int(KJ_OP_MUL, KJ_I32, 65536, 65536, 0);
    expect_int(KJ_OP_MUL, KJ_I16, -300, 300, -24464);
    expect_int(KJ_OP_POW, KJ_I32, -2, 31, INT32_MIN);
    expect_int(KJ_OP_POW, KJ_I32, 7, -1, 0);
    expect_int(KJ_OP_POW, KJ_I32, -1, -3, -1);
    expect_int(KJ_OP_POW, KJ_I32, -1, -2, 1);
    expect_int(KJ_OP_POW, KJ_I32, 1, -5, 1);
}

static void division_is_total(void **state)
{
    (void)state;
    for (int i = 0; i < NINTS; i++) {
        kj_dtype t = ints[i];
        expect(kj_fold_binary(KJ_OP_FLOORDIV, greatest(t), u(t, 0)), u(t, 0));
        expect(kj_fold_binary(KJ_OP_MOD, greatest(t), u(t, 0)), u(t, 0));
        if (!kj_is_signed(t)) {
            expect(kj_fold_binary(KJ_OP_FLOORDIV, greatest(t), u(t, 10)), u(t, greatest(t).u / 10));
            expect(kj_fold_binary(KJ_OP_MOD, greatest(t), u(t, 10)), u(t, greatest(t).u % 10));
            continue;
        }
        expect(kj_fold_binary(KJ_OP_FLOORDIV, least(t), u(t, UINT64_MAX)), least(t));
        expect(kj_fold_binary(KJ_OP_MOD, least(t), u(t, UINT64_MAX)), u(t, 0));
        for (int64_t a = -9; a <= 9; a++) {
            for (int64_t b = -4; b <= 4; b++) {
                if (b == 0)
                    continue;
                int64_t q = (int64_t)floor((double)a / (double)b);
                expect_int(KJ_OP_FLOORDIV, t, a, b, q);
                expect_int(KJ_OP_MOD, t, a, b, a - q * b);
            }
        }
    }
    expect_int(KJ_OP_FLOORDIV, KJ_I64, INT64_MIN, 3, -3074457345618258603);
    expect_int(KJ_OP_MOD, KJ_I64, INT64_MIN, 3, 1);
    expect_int(KJ_OP_MOD, KJ_I64, INT64_MAX, INT64_MIN, -1);
}

static void shifts_beyond_the_width(void **state)
{
    (void)state;
    for (int i = 0; i < NINTS; i++) {
        kj_dtype t = ints[i];
        uint64_t bits = kj_types[t].bits;
        expect(kj_fold_binary(KJ_OP_SHL, u(t, 1), u(t, bits - 1)), u(t, (uint64_t)1 << (bits - 1)));
        expect(kj_fold_binary(KJ_OP_SHL, u(t, 1), u(t, bits)), u(t, 0));
        expect(kj_fold_binary(KJ_OP_SHL, u(t, 1), kj_int(KJ_I64, -1)), u(t, 0));
        expect(kj_fold_binary(KJ_OP_SHR, greatest(t), u(t, bits)), u(t, 0));
        expect(kj_fold_binary(KJ_OP_SHR, u(t, UINT64_MAX), kj_int(KJ_I64, -1)),
               u(t, kj_is_signed(t) ? UINT64_MAX : 0));
        expect(kj_fold_binary(KJ_OP_SHR, u(t, UINT64_MAX), u(t, bits - 1)),
               u(t, kj_is_signed(t) ? UINT64_MAX : 1));
    }
    expect_int(KJ_OP_SHR, KJ_I32, -8, 1, -4);
    expect_int(KJ_OP_SHR, KJ_I64, INT64_MIN, 63, -1);
    expect_int(KJ_OP_SHL, KJ_I8, 127, 1, -2);
    expect(kj_fold_binary(KJ_OP_SHL, kj_int(KJ_I32, 3), kj_int(KJ_I64, 33)), kj_int(KJ_I32, 0));
}

static void bits_and_bools(void **state)
{
    (void)state;
    expect_int(KJ_OP_AND, KJ_I32, -1, 0x0f, 0x0f);
    expect_int(KJ_OP_OR, KJ_I8, -128, 1, -127);
    expect_int(KJ_OP_XOR, KJ_U16, 0xffff, 0x00ff, 0xff00);
    expect_int(KJ_OP_XOR, KJ_I64, -1, INT64_MAX, INT64_MIN);
    for (int64_t a = 0; a < 2; a++) {
        expect(kj_fold_unary(KJ_OP_NOT, kj_int(KJ_BOOL, a)), kj_int(KJ_BOOL, !a));
        for (int64_t b = 0; b < 2; b++) {
            expect_int(KJ_OP_AND, KJ_BOOL, a, b, a & b);
            expect_int(KJ_OP_OR, KJ_BOOL, a, b, a | b);
            expect_int(KJ_OP_XOR, KJ_BOOL, a, b, a ^ b);
            expect_int(KJ_OP_EQ, KJ_BOOL, a, b, a == b);
            expect_int(KJ_OP_NE, KJ_BOOL, a, b, a != b);
        }
    }
}

/* All six comparisons of a and b, which stand in this order: -1, 0, 1, or 2 for none. */
static void expect_order(kj_value a, kj_value b, int order)
{
    static const struct {
        kj_op op;
        bool holds[4];
    } all[] = {
        {KJ_OP_EQ, {false, true, false, false}}, {KJ_OP_NE, {true, false, true, true}},
        {KJ_OP_LT, {true, false, false, false}}, {KJ_OP_LE, {true, true, false, false}},
        {KJ_OP_GT, {false, false, true, false}}, {KJ_OP_GE, {false, true, true, false}},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        expect(kj_fold_binary(all[i].op, a, b), kj_int(KJ_BOOL, all[i].holds[order + 1]));
}

static void comparisons(void **state)
{
    (void)state;
    for (int i = 0; i < NINTS; i++) {
        expect_order(least(ints[i]), greatest(ints[i]), -1);
        expect_order(greatest(ints[i]), least(ints[i]), 1);
        expect_order(greatest(ints[i]), greatest(ints[i]), 0);
    }
    for (int i = 0; i < 2; i++) {
        kj_dtype t = i ? KJ_F64 : KJ_F32;
        expect_order(kj_float(t, -0.0), kj_float(t, 0.0), 0);
        expect_order(kj_float(t, -INFINITY), kj_float(t, 1.0), -1);
        expect_order(kj_float(t, NAN), kj_float(t, NAN), 2);
        expect_order(kj_float(t, 1.0), kj_float(t, NAN), 2);
    }
}

static void floats(void **state)
{
    (void)state;
    expect_f64(KJ_OP_ADD, 0.1, 0.2, 0.30000000000000004);
    expect_f64(KJ_OP_DIV, 1, 0, INFINITY);
    expect_f64(KJ_OP_DIV, -1, 0, -INFINITY);
    expect_f64(KJ_OP_DIV, 0, 0, NAN);
    expect_f64(KJ_OP_MUL, DBL_MAX, 2, INFINITY);
    expect_f64(KJ_OP_MUL, DBL_TRUE_MIN, 0.5, 0);
    expect_f64(KJ_OP_SUB, 0.0, 0.0, 0.0);
    expect_f64(KJ_OP_POW, 2, 0.5, sqrt(2));
    expect_f32(KJ_OP_ADD, 16777216.0f, 1.0f, 16777216.0f); /* rounded to f32 */
    expect_f32(KJ_OP_MUL, 0.1f, 0.1f, 0.1f * 0.1f);
    expect_f32(KJ_OP_DIV, 1.0f, 3.0f, 1.0f / 3.0f);
    expect_f32(KJ_OP_MUL, FLT_MAX, 2.0f, INFINITY);
    expect_f32(KJ_OP_SUB, 1.0f, 1e-9f, 1.0f);
    expect_f32(KJ_OP_POW, 2.0f, 10.0f, 1024.0f);
    expect(kj_fold_unary(KJ_OP_NEG, kj_float(KJ_F32, 0.0)), kj_float(KJ_F32, -0.0));
}

static void float_floor_division(void **state)
{
    (void)state;
    expect_f64(KJ_OP_FLOORDIV, -7, 2, -4);
    expect_f64(KJ_OP_MOD, -7, 2, 1);
    expect_f64(KJ_OP_MOD, 7, -2, -1);
    expect_f64(KJ_OP_MOD, 5.5, 2, 1.5);
    expect_f64(KJ_OP_FLOORDIV, 1, 0, INFINITY);
    expect_f64(KJ_OP_MOD, 1, 0, NAN);
    expect_f64(KJ_OP_FLOORDIV, 0, 0, NAN);
    expect_f32(KJ_OP_FLOORDIV, 1.0f, 0.1f, 9); /* 0.1f is more than a tenth, if less than 1 / 9 */
    expect_f32(KJ_OP_MOD, 1.0f, 0.1f, fmodf(1.0f, 0.1f));
}

static void to_integers(void **state)
{
    (void)state;
    for (int i = 0; i < NINTS; i++) {
        kj_dtype t = ints[i];
        expect(kj_fold_convert(kj_float(KJ_F64, NAN), t), u(t, 0));
        expect(kj_fold_convert(kj_float(KJ_F64, INFINITY), t), greatest(t));
        expect(kj_fold_convert(kj_float(KJ_F64, -INFINITY), t), least(t));
        expect(kj_fold_convert(kj_float(KJ_F64, 1e30), t), greatest(t));
        expect(kj_fold_convert(kj_float(KJ_F64, -1e30), t), least(t));
        expect(kj_fold_convert(kj_float(KJ_F32, 1.9990234375), t), u(t, 1));
        expect(kj_fold_convert(kj_float(KJ_F64, -1.9), t),
               kj_is_signed(t) ? u(t, UINT64_MAX) : u(t, 0));
        expect(kj_fold_convert(kj_int(KJ_BOOL, 1), t), u(t, 1));
        expect(kj_fold_convert(u(KJ_U64, UINT64_MAX), t), u(t, UINT64_MAX));
        expect(kj_fold_convert(kj_int(KJ_I8, -1), t), u(t, UINT64_MAX));
    }
    expect(kj_fold_convert(kj_float(KJ_F64, 9223372036854775807.0), KJ_I64),
           kj_int(KJ_I64, INT64_MAX));
    expect(kj_fold_convert(kj_float(KJ_F64, -9223372036854775808.0), KJ_I64),
           kj_int(KJ_I64, INT64_MIN));
    expect(kj_fold_convert(kj_float(KJ_F64, 9223372036854774784.0), KJ_I64),
           kj_int(KJ_I64, 9223372036854774784));
    expect(kj_fold_convert(kj_float(KJ_F64, 18446744073709549568.0), KJ_U64),
           u(KJ_U64, 18446744073709549568u));
    expect(kj_fold_convert(kj_float(KJ_F64, 127.9), KJ_I8), kj_int(KJ_I8, 127));
    expect(kj_fold_convert(kj_float(KJ_F64, 128.0), KJ_I8), kj_int(KJ_I8, 127));
    expect(kj_fold_convert(kj_float(KJ_F64, -128.9), KJ_I8), kj_int(KJ_I8, -128));
    expect(kj_fold_convert(kj_int(KJ_I32, 300), KJ_U8), kj_int(KJ_U8, 44));
    expect(kj_fold_convert(kj_int(KJ_I32, -129), KJ_I8), kj_int(KJ_I8, 127));
}

static void to_floats_and_bools(void **state)
{
    (void)state;
    expect(kj_fold_convert(u(KJ_U64, UINT64_MAX), KJ_F64),
           kj_float(KJ_F64, 18446744073709551616.0));
    expect(kj_fold_convert(kj_int(KJ_I64, INT64_MIN), KJ_F32),
           kj_float(KJ_F32, -9223372036854775808.0));
    expect(kj_fold_convert(kj_int(KJ_I32, 16777217), KJ_F32), kj_float(KJ_F32, 16777216.0));
    /* Rounded once: by way of f64 this would be a tie and become 2^60. */
    expect(kj_fold_convert(kj_int(KJ_I64, ((int64_t)1 << 60) + ((int64_t)1 << 36) + 1), KJ_F32),
           kj_float(KJ_F32, ldexp(1.0, 60) + ldexp(1.0, 37)));
    expect(kj_fold_convert(kj_float(KJ_F64, 1e300), KJ_F32), kj_float(KJ_F32, INFINITY));
    expect(kj_fold_convert(kj_float(KJ_F64, 0.1), KJ_F32), kj_float(KJ_F32, (double)0.1f));
    expect(kj_fold_convert(kj_float(KJ_F32, NAN), KJ_F64), kj_float(KJ_F64, NAN));
    expect(kj_fold_convert(kj_float(KJ_F64, NAN), KJ_BOOL), kj_int(KJ_BOOL, 1));
    expect(kj_fold_convert(kj_float(KJ_F64, -0.0), KJ_BOOL), kj_int(KJ_BOOL, 0));
    expect(kj_fold_convert(kj_int(KJ_I8, -128), KJ_BOOL), kj_int(KJ_BOOL, 1));
    expect(kj_fold_convert(kj_int(KJ_BOOL, 1), KJ_F32), kj_float(KJ_F32, 1.0));
}

static void what_fits(void **state)
{
    (void)state;
    for (int i = 0; i < NINTS; i++) {
        for (int j = 0; j < NINTS; j++) {
            kj_value top = greatest(ints[i]), bottom = least(ints[i]);
            assert_int_equal(kj_value_fits(top, ints[j]), top.u <= greatest(ints[j]).u);
            assert_int_equal(kj_value_fits(bottom, ints[j]),
                             bottom.u == 0 ||
                                 (kj_is_signed(ints[j]) && bottom.i >= least(ints[j]).i));
        }
        assert_true(kj_value_fits(greatest(ints[i]), KJ_F32));
        assert_true(kj_value_fits(kj_float(KJ_F64, 100.0), ints[i]));
        assert_false(kj_value_fits(kj_float(KJ_F64, 100.5), ints[i]));
        assert_false(kj_value_fits(kj_float(KJ_F64, NAN), ints[i]));
        assert_false(kj_value_fits(kj_float(KJ_F64, INFINITY), ints[i]));
        assert_false(kj_value_fits(kj_float(KJ_F64, ldexp(1.0, 64)), ints[i]));
        assert_int_equal(kj_value_fits(kj_float(KJ_F64, -1.0), ints[i]), kj_is_signed(ints[i]));
    }
    assert_false(kj_value_fits(kj_float(KJ_F64, 1e39), KJ_F32));
    assert_true(kj_value_fits(kj_float(KJ_F64, INFINITY), KJ_F32));
    assert_true(kj_value_fits(kj_float(KJ_F64, 0.1), KJ_F32));
    assert_true(kj_value_fits(kj_int(KJ_I32, 1), KJ_BOOL));
    assert_false(kj_value_fits(kj_int(KJ_I32, 2), KJ_BOOL));
    assert_false(kj_value_fits(kj_int(KJ_I32, 1), KJ_VOID));
}

static void expect_builtin(kj_builtin id, kj_value a, kj_value b, kj_value c, kj_value wanted)
{
    kj_value args[3] = {a, b, c}, got;
    assert_true(kj_fold_builtin(id, 0, args, 3, &got));
    expect(got, wanted);
}

static void integer_builtins(void **state)
{
    (void)state;
    kj_value none = kj_int(KJ_I32, 0);
    for (int i = 0; i < NINTS; i++) {
        kj_dtype t = ints[i];
        expect_builtin(KJ_BI_MIN, least(t), greatest(t), none, least(t));
        expect_builtin(KJ_BI_MAX, least(t), greatest(t), none, greatest(t));
        expect_builtin(KJ_BI_ABS, least(t), none, none, least(t));
        expect_builtin(KJ_BI_CLAMP, greatest(t), least(t), u(t, 5), u(t, 5));
        expect_builtin(KJ_BI_CEIL_DIV, u(t, 7), u(t, 2), none, u(t, 4));
        expect_builtin(KJ_BI_CEIL_DIV, u(t, 8), u(t, 2), none, u(t, 4));
        expect_builtin(KJ_BI_CEIL_DIV, u(t, 8), u(t, 0), none, u(t, 0));
        expect_builtin(KJ_BI_POPC, u(t, UINT64_MAX), none, none, u(t, (uint64_t)kj_types[t].bits));
        uint64_t bits = kj_types[t].bits;
        expect_builtin(KJ_BI_CLZ, u(t, 0), none, none, u(t, bits));
        expect_builtin(KJ_BI_CLZ, u(t, 5), none, none, u(t, bits - 3));
        expect_builtin(KJ_BI_CLZ, u(t, UINT64_MAX), none, none, u(t, 0));
        expect_builtin(KJ_BI_FFS, u(t, 0), none, none, u(t, 0));
        expect_builtin(KJ_BI_FFS, u(t, 12), none, none, u(t, 3));
        expect_builtin(KJ_BI_FFS, u(t, (uint64_t)1 << (bits - 1)), none, none, u(t, bits));
        expect_builtin(KJ_BI_BREV, u(t, 1), none, none, u(t, (uint64_t)1 << (bits - 1)));
        expect_builtin(KJ_BI_BREV, u(t, 6), none, none, u(t, (uint64_t)3 << (bits - 3)));
    }
    expect_builtin(KJ_BI_SELP, kj_int(KJ_BOOL, 1), u(KJ_I8, 3), u(KJ_I8, 4), u(KJ_I8, 3));
    expect_builtin(KJ_BI_SELP, kj_int(KJ_BOOL, 0), u(KJ_I8, 3), u(KJ_I8, 4), u(KJ_I8, 4));
    expect_builtin(KJ_BI_CEIL_DIV, kj_int(KJ_I32, -7), kj_int(KJ_I32, 2), none, kj_int(KJ_I32, -3));
    expect_builtin(KJ_BI_CEIL_DIV, kj_int(KJ_I32, 7), kj_int(KJ_I32, -2), none, kj_int(KJ_I32, -3));
    expect_builtin(KJ_BI_ABS, kj_int(KJ_I8, -127), none, none, kj_int(KJ_I8, 127));
}

static void float_builtins(void **state)
{
    (void)state;
    kj_value none = kj_float(KJ_F64, 0), nan = kj_float(KJ_F64, NAN), two = kj_float(KJ_F64, 2),
             got;
    kj_value zeros[2] = {kj_float(KJ_F64, 0.0), kj_float(KJ_F64, -0.0)};
    expect_builtin(KJ_BI_MIN, nan, two, none, two);
    expect_builtin(KJ_BI_MAX, two, nan, none, two);
    expect_builtin(KJ_BI_MAX, nan, nan, none, nan);
    expect_builtin(KJ_BI_SQRT, two, none, none, kj_float(KJ_F64, sqrt(2)));
    expect_builtin(KJ_BI_SQRT, kj_float(KJ_F32, 2), none, none, kj_float(KJ_F32, (double)sqrtf(2)));
    expect_builtin(KJ_BI_RINT, kj_float(KJ_F64, 2.5), none, none, two);
    expect_builtin(KJ_BI_ROUND, kj_float(KJ_F64, 2.5), none, none, kj_float(KJ_F64, 2));
    expect_builtin(KJ_BI_FLOOR, kj_float(KJ_F64, -0.5), none, none, kj_float(KJ_F64, -1));
    expect_builtin(KJ_BI_CEIL, kj_float(KJ_F64, -0.5), none, none, kj_float(KJ_F64, -0.0));
    expect_builtin(KJ_BI_TRUNC, kj_float(KJ_F64, -1.5), none, none, kj_float(KJ_F64, -1));
    expect_builtin(KJ_BI_COPYSIGN, two, kj_float(KJ_F64, -0.0), none, kj_float(KJ_F64, -2));
    expect_builtin(KJ_BI_ISNAN, nan, none, none, kj_int(KJ_BOOL, 1));
    expect_builtin(KJ_BI_ISINF, kj_float(KJ_F32, -INFINITY), none, none, kj_int(KJ_BOOL, 1));
    expect_builtin(KJ_BI_ISFINITE, kj_float(KJ_F32, -INFINITY), none, none, kj_int(KJ_BOOL, 0));
    kj_value e = kj_float(KJ_F32, 1 + 0x1p-13), f = kj_float(KJ_F32, 1 - 0x1p-13),
             minus = kj_float(KJ_F32, -1);
    expect_builtin(KJ_BI_FMA, e, f, minus,
                   kj_float(KJ_F32, -0x1p-26)); /* the product is not rounded */
    for (int first = 0; first < 2; first++) {   /* -0.0 is the smaller */
        kj_value x = zeros[first], y = zeros[1 - first];
        expect_builtin(KJ_BI_MIN, x, y, none, kj_float(KJ_F64, -0.0));
        expect_builtin(KJ_BI_MAX, x, y, none, kj_float(KJ_F64, 0.0));
    }
    kj_value seven = kj_float(KJ_F32, -7), three = kj_float(KJ_F32, 2.5f);
    expect_builtin(KJ_BI_FMOD, seven, three, none, kj_float(KJ_F32, -2));
    expect_builtin(KJ_BI_REMAINDER, seven, three, none, kj_float(KJ_F32, 0.5));
    assert_false(kj_fold_builtin(KJ_BI_SIN, 0, &two, 1, &got)); /* not exact */
}

static void expect_parts(kj_builtin id, kj_value x, kj_value first, kj_value second)
{
    kj_value got;
    assert_true(kj_fold_builtin(id, 0, &x, 1, &got));
    expect(got, first);
    assert_true(kj_fold_builtin(id, 1, &x, 1, &got));
    expect(got, second);
}

static void builtins_with_parts(void **state)
{
    (void)state;
    kj_value none = kj_int(KJ_I32, 0), one = kj_float(KJ_F32, 1), two = kj_float(KJ_F32, 2);
    expect_parts(KJ_BI_MODF, kj_float(KJ_F32, -2.5), kj_float(KJ_F32, -0.5), kj_float(KJ_F32, -2));
    expect_parts(KJ_BI_MODF, kj_float(KJ_F64, INFINITY), kj_float(KJ_F64, 0),
                 kj_float(KJ_F64, INFINITY));
    expect_parts(KJ_BI_FREXP, kj_float(KJ_F32, 0x1p-149), kj_float(KJ_F32, 0.5),
                 kj_int(KJ_I32, -148));
    expect_parts(KJ_BI_FREXP, kj_float(KJ_F64, -INFINITY), kj_float(KJ_F64, -INFINITY), none);
    expect_builtin(KJ_BI_LDEXP, one, kj_int(KJ_I32, -149), none, kj_float(KJ_F32, 0x1p-149));
    expect_builtin(KJ_BI_LDEXP, one, kj_int(KJ_I32, -150), none, kj_float(KJ_F32, 0));
    expect_builtin(KJ_BI_LDEXP, one, kj_int(KJ_I32, 128), none, kj_float(KJ_F32, INFINITY));
    expect_builtin(KJ_BI_NEXTAFTER, one, two, none, kj_float(KJ_F32, 1 + 0x1p-23));
    expect_builtin(KJ_BI_NEXTAFTER, kj_float(KJ_F64, 1), kj_float(KJ_F64, 0), none,
                   kj_float(KJ_F64, 1 - 0x1p-53));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_wrap),
        cmocka_unit_test(division_is_total),
        cmocka_unit_test(shifts_beyond_the_width),
        cmocka_unit_test(bits_and_bools),
        cmocka_unit_test(comparisons),
        cmocka_unit_test(floats),
        cmocka_unit_test(float_floor_division),
        cmocka_unit_test(to_integers),
        cmocka_unit_test(to_floats_and_bools),
        cmocka_unit_test(what_fits),
        cmocka_unit_test(integer_builtins),
        cmocka_unit_test(float_builtins),
        cmocka_unit_test(builtins_with_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
