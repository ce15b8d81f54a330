/* assert and assert_close. In: what should hold; out: nothing, or a failure with the values. */
#include "run/run.h"

#include <complex.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- assert ---- */

/* Evaluates the condition; of a comparison it also gives what was compared. */
static bool condition(kj_run *r, const kj_expr *e, bool *truth, kj_rvalue sides[2])
{
    kj_rvalue v;
    sides[0] = sides[1] = kj_run_none();
    if (e->kind == KJ_E_BINARY && kj_ops[e->u.binary.op].class == KJ_OPS_COMPARE) {
        if (!kj_run_eval(r, e->u.binary.lhs, &sides[0]) ||
            !kj_run_eval(r, e->u.binary.rhs, &sides[1]) ||
            !kj_run_binary(r, e->span, e->u.binary.op, sides[0], sides[1], &v))
            return false;
    } else if (!kj_run_eval(r, e, &v)) {
        return false;
    }
    if (!kj_run_truth(r, e->span, "a condition", v, truth))
        return false;
    kj_run_drop(&v);
    return true;
}

/* A message is read by somebody: of a long text its beginning, up to a whole character. */
static const char *beginning(kj_text *t)
{
    enum { MOST = 10000 };
    size_t n = MOST;
    if (t->size <= MOST || t->failed)
        return t->data;
    while (n > 0 && (t->data[n] & 0xc0) == 0x80)
        n--;
    t->size = n;
    kj_text_puts(t, "...");
    return t->data;
}

static bool assertion_failed(kj_run *r, kj_span at, const kj_expr *message, kj_rvalue sides[2])
{
    kj_text why = {0}, shown = {0};
    kj_rvalue v = kj_run_none();
    if (message && (!kj_run_eval(r, message, &v) ||
                    !kj_run_put_value(r, message->span, &why, v, KJ_PUT_PLAIN))) {
        kj_text_free(&why);
        return false;
    }
    kj_run_drop(&v);
    bool comparison = sides[0].kind != KJ_R_NONE && sides[1].kind != KJ_R_NONE;
    if (comparison) {
        kj_text_puts(&shown, "the left side is ");
        kj_run_put_value(r, at, &shown, sides[0], KJ_PUT_QUOTED);
        kj_text_puts(&shown, ", the right side ");
        kj_run_put_value(r, at, &shown, sides[1], KJ_PUT_QUOTED);
    }
    if (why.data && why.size > 0)
        kj_run_fail(r, KJIT_ASSERT, at, "assertion failed: %s", beginning(&why));
    else
        kj_run_fail(r, KJIT_ASSERT, at, "assertion failed");
    if (shown.data && !shown.failed)
        kj_run_hint(r, "%s", beginning(&shown));
    kj_text_free(&why);
    kj_text_free(&shown);
    return false;
}

bool kj_run_assert(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    const kj_expr *test = c->args_expr, *message = test ? test->next : NULL;
    kj_rvalue sides[2];
    bool truth;
    *out = kj_run_none();
    if (!test || test->keyword || (message && message->next))
        return kj_run_fail(r, KJIT_TYPE, c->span, "assert takes a condition and perhaps a message");
    if (!condition(r, test, &truth, sides))
        return false;
    if (!truth)
        return assertion_failed(r, test->span, message, sides);
    kj_run_drop(&sides[0]);
    kj_run_drop(&sides[1]);
    return true;
}

/* ---- assert_close ---- */

typedef struct comparison {
    double rtol, atol;
    int64_t seen, differ, worst; /* index of the worst in C order */
    double difference, allowed, excess;
} comparison;

/* Compares the next element: NaN equals NaN, an infinity itself. */
static void compare(comparison *k, long double complex a, long double complex b)
{
    int64_t at = k->seen++;
    if (a == b || (a != a && b != b))
        return;
    long double difference = cabsl(a - b),
                allowed = (long double)k->atol + (long double)k->rtol * cabsl(b);
    if (difference <= allowed && !isinf(cabsl(a)) && !isinf(cabsl(b)))
        return;
    double excess =
        isnan(difference) || isinf(difference) ? INFINITY : (double)(difference - allowed);
    if (k->differ++ > 0 && !(excess > k->excess))
        return;
    k->worst = at;
    k->difference = (double)difference;
    k->allowed = (double)allowed;
    k->excess = excess;
}

static long double complex wide(kj_rvalue v)
{
    long double parts[2] = {(long double)v.u.f, (long double)v.imag};
    long double complex z;
    memcpy(&z, parts, sizeof z);
    if (v.kind == KJ_R_COMPLEX)
        return z;
    if (v.kind == KJ_R_FLOAT)
        return (long double)v.u.f;
    return v.kind == KJ_R_INT && v.dtype == KJIT_U64 ? (long double)(uint64_t)v.u.i
                                                     : (long double)v.u.i;
}

/* Do doubles not hold an element? */
static bool is_wide(kjit_dtype dtype)
{
    return dtype == KJIT_I64 || dtype == KJIT_U64 || kj_is_complex_type((kj_dtype)dtype);
}

/* Two arrays; or one array and a number, `first`: the array is a. */
static void compare_arrays(comparison *k, kjit_array *a, kjit_array *b)
{
    if (is_wide(kjit_array_dtype(a)) || is_wide(kjit_array_dtype(b))) {
        kj_rrows w;
        kj_run_rows(&w, a, b);
        while (kj_run_next_row(&w)) {
            for (int64_t i = 0; i < w.n; i++)
                compare(k, wide(kj_run_load(kjit_array_dtype(a), w.data[0] + i * w.step[0])),
                        wide(kj_run_load(kjit_array_dtype(b), w.data[1] + i * w.step[1])));
        }
        return;
    }
    double x[KJ_RUN_CHUNK], y[KJ_RUN_CHUNK];
    kj_rfloats f;
    kj_run_floats(&f, a, b);
    for (int64_t n; (n = kj_run_next_floats(&f, x, y)) > 0;) {
        for (int64_t i = 0; i < n; i++) {
            if (x[i] == y[i])
                k->seen++;
            else
                compare(k, (long double)x[i], (long double)y[i]);
        }
    }
}

static void compare_to_number(comparison *k, kjit_array *a, kj_rvalue number, bool number_first)
{
    kj_rrows w;
    kj_run_rows(&w, a, NULL);
    while (kj_run_next_row(&w)) {
        for (int64_t i = 0; i < w.n; i++) {
            long double complex x =
                wide(kj_run_load(kjit_array_dtype(a), w.data[0] + i * w.step[0]));
            compare(k, number_first ? wide(number) : x, number_first ? x : wide(number));
        }
    }
}

/* The element at a C-order index; a number is itself. */
static kj_rvalue element(kj_rvalue v, int64_t index)
{
    if (v.kind != KJ_R_ARRAY)
        return v;
    kjit_array *a = v.u.object->u.array;
    const char *p = kjit_array_data(a);
    for (int axis = kjit_array_ndim(a) - 1; axis >= 0; axis--) {
        p += index % kjit_array_shape(a)[axis] * kjit_array_strides(a)[axis];
        index /= kjit_array_shape(a)[axis];
    }
    return kj_run_load(kjit_array_dtype(a), p);
}

static void put_index(kj_text *t, kjit_array *a, int64_t index)
{
    int64_t at[KJIT_MAX_NDIM];
    int ndim = kjit_array_ndim(a);
    for (int axis = ndim - 1; axis >= 0; axis--) {
        at[axis] = index % kjit_array_shape(a)[axis];
        index /= kjit_array_shape(a)[axis];
    }
    for (int axis = 0; axis < ndim; axis++)
        kj_text_printf(t, "%s%" PRId64, axis == 0 ? "[" : ", ", at[axis]);
    kj_text_puts(t, "]");
}

static bool not_close(kj_run *r, kj_span at, const comparison *k, const kj_rvalue sides[2])
{
    kj_rshort a = kj_run_short(element(sides[0], k->worst)),
              b = kj_run_short(element(sides[1], k->worst));
    char by[96] = "";
    if (isfinite(k->difference) && isfinite(k->allowed))
        kj_snprintf(by, sizeof by, " (difference %.5g, allowed %.5g)", k->difference, k->allowed);
    if (sides[0].kind != KJ_R_ARRAY && sides[1].kind != KJ_R_ARRAY)
        return kj_run_fail(r, KJIT_ASSERT, at, "%s is not close to %s%s", a.text, b.text, by);
    kj_text where = {0};
    put_index(&where, (sides[0].kind == KJ_R_ARRAY ? sides[0] : sides[1]).u.object->u.array,
              k->worst);
    if (where.failed)
        return kj_run_no_memory(r, at);
    kj_run_fail(r, KJIT_ASSERT, at,
                "%" PRId64 " of %" PRId64 " elements differ; the worst is %s: %s and %s%s",
                k->differ, k->seen, where.data, a.text, b.text, by);
    kj_text_free(&where);
    return false;
}

static bool same_shape(kj_run *r, kj_span at, kjit_array *a, kjit_array *b)
{
    bool same = kjit_array_ndim(a) == kjit_array_ndim(b);
    for (int i = 0; same && i < kjit_array_ndim(a); i++)
        same = kjit_array_shape(a)[i] == kjit_array_shape(b)[i];
    if (same)
        return true;
    char x[KJ_SHAPE_TEXT], y[KJ_SHAPE_TEXT];
    return kj_run_fail(r, KJIT_SHAPE, at, "the shapes are %s and %s",
                       kj_shape_text(kjit_array_ndim(a), kjit_array_shape(a), x),
                       kj_shape_text(kjit_array_ndim(b), kjit_array_shape(b), y));
}

static bool side(kj_run *r, const kj_rcall *c, int i, kj_rvalue *out)
{
    *out = c->args[i];
    if (out->kind == KJ_R_ARRAY)
        return kj_run_no_records(r, c->spans[i], *out) &&
               kj_run_on_host(r, c->spans[i], c->args[i], out);
    if (kj_run_is_number(*out) || kj_run_is_complex(*out))
        return true;
    return kj_run_fail(r, KJIT_TYPE, c->spans[i],
                       "assert_close compares arrays and numbers, not %s", kj_run_kind_name(*out));
}

bool kj_run_assert_close(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    comparison k = {.rtol = 1e-5, .atol = 1e-8};
    kj_rvalue sides[2];
    *out = kj_run_none();
    if ((c->given[2] && !kj_run_arg_float(r, c, 2, &k.rtol)) ||
        (c->given[3] && !kj_run_arg_float(r, c, 3, &k.atol)) || !side(r, c, 0, &sides[0]) ||
        !side(r, c, 1, &sides[1]))
        return false;
    bool arrays[2] = {sides[0].kind == KJ_R_ARRAY, sides[1].kind == KJ_R_ARRAY};
    if (arrays[0] && arrays[1]) {
        if (!same_shape(r, c->span, sides[0].u.object->u.array, sides[1].u.object->u.array))
            return false;
        compare_arrays(&k, sides[0].u.object->u.array, sides[1].u.object->u.array);
    } else if (arrays[0] || arrays[1]) {
        compare_to_number(&k, sides[arrays[1]].u.object->u.array, sides[arrays[0]], arrays[1]);
    } else {
        compare(&k, wide(sides[0]), wide(sides[1]));
    }
    if (k.differ > 0)
        return not_close(r, c->span, &k, sides);
    kj_run_drop(&sides[0]);
    kj_run_drop(&sides[1]);
    return true;
}
