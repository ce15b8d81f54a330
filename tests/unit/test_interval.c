/* What operators make of intervals holds what they make of each two numbers in them, up to the ends of 64 bits and beyond. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/interval.h"

__extension__ typedef __int128 wide;

/* Ends of intervals; and numbers in them, also those that only a u64 has. */
static const int64_t ends[] = {INT64_MIN,
                               INT64_MIN + 1,
                               -(1LL << 62),
                               -1000,
                               -8,
                               -3,
                               -1,
                               0,
                               1,
                               2,
                               3,
                               7,
                               1000,
                               63,
                               1LL << 40,
                               INT64_MAX / 2,
                               1LL << 62,
                               INT64_MAX - 1,
                               INT64_MAX};
enum { ENDS = sizeof ends / sizeof *ends, NUMBERS = ENDS + 2 };

static wide number(int i)
{
    return i < ENDS ? ends[i] : i == ENDS ? (wide)INT64_MAX + 1 : (wide)UINT64_MAX;
}

static bool has(kj_interval x, wide v)
{
    return (x.lo == INT64_MIN || v >= x.lo) && (x.hi == INT64_MAX || v <= x.hi);
}

static wide floored(wide a, wide b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/* False where the operator is nothing of these numbers. */
static bool exact(kj_interval_op op, wide a, wide b, wide *out)
{
    switch (op) {
    case KJ_IV_ADD: *out = a + b; return true;
    case KJ_IV_SUB: *out = a - b; return true;
    case KJ_IV_MUL: return !__builtin_mul_overflow(a, b, out);
    case KJ_IV_DIV: *out = b ? floored(a, b) : 0; return true;
    case KJ_IV_MOD: *out = b > 0 ? a - floored(a, b) * b : 0; return b > 0;
    case KJ_IV_CEIL: *out = b > 0 ? -floored(-a, b) : 0; return b > 0;
    case KJ_IV_SHR:
        *out = a;
        *out = b >= 0 && b < 64 ? floored(a, (wide)1 << b) : 0;
        return b >= 0 && b < 64;
    case KJ_IV_AND: *out = a & b; return true;
    case KJ_IV_OR: *out = a | b; return true;
    case KJ_IV_MIN: *out = a < b ? a : b; return true;
    case KJ_IV_MAX: *out = a > b ? a : b; return true;
    case KJ_IV_ABS: *out = a < 0 ? -a : a; return true;
    case KJ_IV_HULL: *out = a; return true;
    default: return false;
    }
}

static const char *const names[] = {
    [KJ_IV_ADD] = "+",      [KJ_IV_SUB] = "-",         [KJ_IV_MUL] = "*",   [KJ_IV_DIV] = "//",
    [KJ_IV_MOD] = "%",      [KJ_IV_CEIL] = "ceil_div", [KJ_IV_SHR] = ">>",  [KJ_IV_AND] = "&",
    [KJ_IV_OR] = "|",       [KJ_IV_MIN] = "min",       [KJ_IV_MAX] = "max", [KJ_IV_ABS] = "abs",
    [KJ_IV_HULL] = "either"};

/* Has an operand's interval a number of the type, as it is there? */
static bool takes(kj_dtype type, kj_interval x, wide v)
{
    wide least = type == KJ_U64 ? 0 : INT64_MIN,
         most = type == KJ_U64 ? (wide)UINT64_MAX : INT64_MAX;
    return v >= least && v <= most && has(x, v);
}

static void try_two(kj_interval_op op, kj_dtype type, kj_interval x, kj_interval y)
{
    kj_interval made = kj_interval_apply(op, type, x, y, y);
    for (int i = 0; i < NUMBERS; i++)
        for (int j = 0; j < NUMBERS; j++) {
            wide v, a = number(i), b = number(j);
            if (!takes(type, x, a) || !takes(type, y, b) || !exact(op, a, b, &v) || has(made, v))
                continue;
            fail_msg("[%lld, %lld] %s [%lld, %lld] is [%lld, %lld], which has not that of numbers "
                     "%d and %d",
                     (long long)x.lo, (long long)x.hi, names[op], (long long)y.lo, (long long)y.hi,
                     (long long)made.lo, (long long)made.hi, i, j);
        }
}

static void holds(kj_dtype type)
{
    for (int op = KJ_IV_ADD; op <= KJ_IV_HULL; op++)
        for (int i = 0; i < ENDS * ENDS; i++)
            for (int j = 0; j < ENDS * ENDS; j++) {
                kj_interval x = {ends[i / ENDS], ends[i % ENDS]},
                            y = {ends[j / ENDS], ends[j % ENDS]};
                bool natural = type != KJ_U64 || (x.lo >= 0 && y.lo >= 0);
                if (x.lo <= x.hi && y.lo <= y.hi && natural)
                    try_two((kj_interval_op)op, type, x, y);
            }
}

static void of_i64(void **state)
{
    (void)state;
    holds(KJ_I64);
}

static void of_u64(void **state)
{
    (void)state;
    holds(KJ_U64);
}

/* The variable of range(start, stop, step), one number each, in its first and last turn. */
static void ranges(void **state)
{
    (void)state;
    for (int i = 0; i < ENDS * ENDS * ENDS; i++) {
        int64_t start = ends[i % ENDS], stop = ends[i / ENDS % ENDS], step = ends[i / ENDS / ENDS];
        if (step == 0 || (step > 0 ? start >= stop : start <= stop))
            continue;
        kj_interval made = kj_interval_apply(KJ_IV_RANGE, KJ_I64, (kj_interval){start, start},
                                             (kj_interval){stop, stop}, (kj_interval){step, step});
        wide reach = (wide)stop - start + (step > 0 ? -1 : 1), last = start + reach / step * step;
        if (!has(made, start) || !has(made, last))
            fail_msg("range(%lld, %lld, %lld) is [%lld, %lld]", (long long)start, (long long)stop,
                     (long long)step, (long long)made.lo, (long long)made.hi);
    }
}

/* Numbers that an interval does not tell apart are all in it. */
static void constants(void **state)
{
    (void)state;
    for (int i = 0; i < NUMBERS; i++) {
        kj_value s = {.type = KJ_I64}, u = {.type = KJ_U64};
        s.i = (int64_t)number(i < ENDS ? i : 0);
        u.u = (uint64_t)number(i);
        assert_true(has(kj_interval_of_const(s), s.i));
        assert_true(has(kj_interval_of_const(u), u.u));
    }
    kj_value most = {.type = KJ_U64}, more = {.type = KJ_U64};
    most.u = INT64_MAX - 1;
    more.u = (uint64_t)INT64_MAX + 1;
    assert_int_not_equal(kj_interval_of_const(most).lo, kj_interval_of_const(more).lo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(of_i64), cmocka_unit_test(of_u64),
                                       cmocka_unit_test(ranges), cmocka_unit_test(constants)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
