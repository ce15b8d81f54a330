/* Array constructors: zeros, full, arange, linspace and their kin. In: shapes and numbers; out: new
 * host arrays. */
#include "run/run.h"

#include <math.h>
#include <string.h>

enum { CHUNK = 128 }; /* elements computed at a time */

static kjit_array *array_of(kj_rvalue v)
{
    return v.u.object->u.array;
}

static bool fill(kj_run *r, kj_span at, kj_rvalue array, kj_rvalue value)
{
    unsigned char element[KJ_RUN_ELEMENT];
    kj_rvalue numbers;
    if (kj_run_is_record(array))
        return kj_run_record_store(r, at, array_of(array), value);
    if (!kj_run_numbers(r, at, array, &numbers) ||
        !kj_run_pack(r, at, kjit_array_dtype(array_of(numbers)), value, element))
        return false;
    kj_run_fill(array_of(numbers), element);
    kj_run_drop(&numbers);
    return true;
}

/* The 0 or 1 of zeros and ones, for the dtype. */
static bool fill_with(kj_run *r, kj_span at, kj_rvalue array, bool one)
{
    kjit_array *a = array_of(array);
    bool is_bool = kjit_array_dtype(a) == KJIT_BOOL;
    if (kj_is_record(a->of) && one)
        return kj_run_fail(r, KJIT_TYPE, at, "there is no 1 of %s: give its fields values",
                           a->of->name);
    if (kj_is_record(a->of)) {
        memset(a->data, 0, (size_t)a->size * kj_array_elem(a));
        return true;
    }
    return fill(r, at, array, is_bool ? kj_run_bool(one) : kj_run_int(one));
}

bool kj_run_make_filled(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    kjit_dtype dtype = KJIT_F32;
    int ndim;
    int64_t shape[KJIT_MAX_NDIM];
    if (!kj_run_arg_shape(r, c, 0, &ndim, shape) || !kj_run_arg_dtype(r, c, 1, &dtype) ||
        !kj_run_new_array(r, c->span, dtype, ndim, shape, KJIT_HOST, out))
        return false;
    return c->id == KJ_RUN_EMPTY || fill_with(r, c->span, *out, c->id == KJ_RUN_ONES);
}

bool kj_run_make_like(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    kjit_array *a;
    if (!kj_run_arg_array(r, c, 0, &a))
        return false;
    kjit_dtype dtype = kjit_array_dtype(a);
    if (!kj_run_arg_dtype(r, c, 1, &dtype) ||
        !kj_run_new_array(r, c->span, dtype, kjit_array_ndim(a), kjit_array_shape(a), KJIT_HOST,
                          out))
        return false;
    return c->id == KJ_RUN_EMPTY_LIKE || fill_with(r, c->span, *out, c->id == KJ_RUN_ONES_LIKE);
}

/* The type an array takes from a number: bool, i32 where it fits, f32. */
static kjit_dtype type_for(kj_rvalue v)
{
    if (v.kind == KJ_R_COMPLEX)
        return KJIT_C64;
    if (kj_run_is_record(v))
        return kjit_array_dtype(array_of(v));
    if (v.kind == KJ_R_FLOAT)
        return KJIT_F32;
    if (v.kind == KJ_R_BOOL)
        return KJIT_BOOL;
    if (v.dtype == KJIT_U64)
        return KJIT_U64;
    return v.u.i >= INT32_MIN && v.u.i <= INT32_MAX ? KJIT_I32 : KJIT_I64;
}

bool kj_run_make_full(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    kjit_dtype dtype = type_for(c->args[1]);
    int ndim;
    int64_t shape[KJIT_MAX_NDIM];
    if (!kj_run_arg_shape(r, c, 0, &ndim, shape) || !kj_run_arg_dtype(r, c, 2, &dtype))
        return false;
    return kj_run_new_array(r, c->span, dtype, ndim, shape, KJIT_HOST, out) &&
           fill(r, c->spans[1], *out, c->args[1]);
}

/* ---- arange ---- */

static bool arange_ints(kj_run *r, kj_rcall *c, kjit_dtype dtype, kj_rvalue *out)
{
    int64_t start = 0, stop, step = 1;
    if ((c->given[0] && !kj_run_arg_int(r, c, 0, &start)) || !kj_run_arg_int(r, c, 1, &stop) ||
        (c->given[2] && !kj_run_arg_int(r, c, 2, &step)))
        return false;
    if (step == 0)
        return kj_run_fail(r, KJIT_SHAPE, c->spans[2], "arange's step cannot be 0");
    kj_robject range = {.kind = KJ_R_RANGE, .u.range = {start, stop, step}};
    int64_t n = kj_run_range_count(&range);
    int64_t last = n > 0 ? (int64_t)((uint64_t)start + (uint64_t)(n - 1) * (uint64_t)step) : start;
    kjit_dtype wide =
        type_for(kj_run_int(last)) == KJIT_I32 ? type_for(kj_run_int(start)) : KJIT_I64;
    if (!c->given[3])
        dtype = wide;
    unsigned char element[KJ_RUN_ELEMENT];
    if (n > 0 && (!kj_run_pack(r, c->span, dtype, kj_run_int(start), element) ||
                  !kj_run_pack(r, c->span, dtype, kj_run_int(last), element)))
        return false;
    if (!kj_run_new_array(r, c->span, dtype, 1, &n, KJIT_HOST, out))
        return false;
    kj_run_store_line(dtype, kjit_array_data(array_of(*out)), n, start, step);
    return true;
}

/* Does the float type hold the number? */
static bool holds(kj_run *r, kj_span at, kjit_dtype dtype, double v)
{
    unsigned char element[KJ_RUN_ELEMENT];
    return kj_run_pack(r, at, dtype, kj_run_float(v), element);
}

/* Element i is first + i * step, in f64. */
static void fill_line(kjit_array *a, double first, double step)
{
    double chunk[CHUNK];
    kjit_dtype dtype = kjit_array_dtype(a);
    char *p = kjit_array_data(a);
    int64_t n = kjit_array_size(a), size = (int64_t)kjit_dtype_size(dtype);
    for (int64_t i = 0; i < n; i += CHUNK) {
        int64_t count = n - i < CHUNK ? n - i : CHUNK;
        for (int64_t k = 0; k < count; k++)
            chunk[k] = first + (double)(i + k) * step;
        kj_run_store_floats(dtype, p + i * size, count, chunk);
    }
}

bool kj_run_make_arange(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    kjit_dtype dtype = KJIT_F32;
    double start = 0, stop, step = 1;
    bool floats = false;
    if (!kj_run_arg_dtype(r, c, 3, &dtype))
        return false;
    for (int i = 0; i < 3; i++)
        floats |= c->given[i] && c->args[i].kind == KJ_R_FLOAT;
    if (dtype == KJIT_BOOL || !kj_is_scalar((kj_dtype)dtype)) {
        kj_run_fail(r, KJIT_TYPE, c->spans[3], "arange does not make %s",
                    dtype == KJIT_BOOL ? "bools" : kjit_dtype_name(dtype));
        return kj_is_complex_type((kj_dtype)dtype)
                   ? kj_run_hint(r, "convert it: %s(arange(n))", kjit_dtype_name(dtype))
                   : false;
    }
    if (!floats)
        return arange_ints(r, c, dtype, out);
    if (!kj_is_float((kj_dtype)dtype)) {
        kj_run_fail(r, KJIT_TYPE, c->span, "arange of floats does not make %s",
                    kj_dtype_name(r->ctx, dtype));
        return kj_run_hint(r, "give it ints, or a float type");
    }
    if ((c->given[0] && !kj_run_arg_float(r, c, 0, &start)) || !kj_run_arg_float(r, c, 1, &stop) ||
        (c->given[2] && !kj_run_arg_float(r, c, 2, &step)))
        return false;
    double count = ceil((stop - start) / step);
    if (!(step != 0) || isnan(count) || count > 0x1p62)
        return kj_run_fail(r, KJIT_SHAPE, c->span, "arange would have no end");
    int64_t n = count > 0 ? (int64_t)count : 0;
    if (n > 0 && (!holds(r, c->span, dtype, start) ||
                  !holds(r, c->span, dtype, start + (double)(n - 1) * step)))
        return false;
    if (!kj_run_new_array(r, c->span, dtype, 1, &n, KJIT_HOST, out))
        return false;
    fill_line(array_of(*out), start, step);
    return true;
}

bool kj_run_make_linspace(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    kjit_dtype dtype = KJIT_F32;
    double start, stop, distance;
    int64_t n;
    if (!kj_run_arg_float(r, c, 0, &start) || !kj_run_arg_float(r, c, 1, &stop) ||
        !kj_run_arg_int(r, c, 2, &n) || !kj_run_arg_dtype(r, c, 3, &dtype))
        return false;
    if (!kj_is_float((kj_dtype)dtype))
        return kj_run_fail(r, KJIT_TYPE, c->spans[3], "linspace makes floats, not %s",
                           kj_dtype_name(r->ctx, dtype));
    if (n < 0)
        return kj_run_fail(r, KJIT_SHAPE, c->spans[2], "%lld is no extent", (long long)n);
    if (!kj_run_arg_distance(r, c, start, stop, &distance) ||
        (n > 0 && !holds(r, c->spans[0], dtype, start)) ||
        (n > 1 && !holds(r, c->spans[1], dtype, stop)) ||
        !kj_run_new_array(r, c->span, dtype, 1, &n, KJIT_HOST, out))
        return false;
    kjit_array *a = array_of(*out);
    fill_line(a, start, n > 1 ? distance / (double)(n - 1) : 0);
    if (n > 1)
        kj_run_store_floats(dtype,
                            (char *)kjit_array_data(a) + (n - 1) * (int64_t)kjit_dtype_size(dtype),
                            1, &stop);
    return true;
}
