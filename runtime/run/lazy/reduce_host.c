/* Reductions on the host: of arrays that fit a chunk, and of what the device left of larger ones.
 * In: the elements in order; out: a number. The order of additions is reduce_kernel.c's, so a small
 * array gives the same bits here and there. */
#include "run/lazy/lazy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* By the type it is computed in: f (and imag), or i, of which unsigned types have the bits. */
typedef struct number {
    double f, imag;
    int64_t i;
    int64_t at;
} number;

static bool is_less(const kj_fold *f, number a, number b)
{
    if (kj_is_float(f->acc))
        return a.f < b.f;
    return kj_is_signed(f->acc) ? a.i < b.i : (uint64_t)a.i < (uint64_t)b.i;
}

static bool is_nan(const kj_fold *f, number v)
{
    return kj_is_float(f->acc) && isnan(v.f);
}

static void join_extreme(const kj_fold *f, number *acc, number v)
{
    bool least = f->op == KJ_FOLD_MIN || f->op == KJ_FOLD_ARGMIN;
    bool before = acc->at == INT64_MAX || v.at < acc->at;
    bool better = least ? is_less(f, v, *acc) : is_less(f, *acc, v);
    bool same = !better && (least ? !is_less(f, *acc, v) : !is_less(f, v, *acc));
    if (is_nan(f, v) || is_nan(f, *acc)) {
        better = is_nan(f, v) && !is_nan(f, *acc);
        same = is_nan(f, v) && is_nan(f, *acc);
    }
    if (better || (same && before && v.at != INT64_MAX))
        *acc = v;
}

static void join(const kj_fold *f, number *acc, number v)
{
    switch (f->op) {
    case KJ_FOLD_SUM:
    case KJ_FOLD_MEAN:
        acc->f += v.f;
        acc->imag += v.imag;
        acc->i = (int64_t)((uint64_t)acc->i + (uint64_t)v.i);
        break;
    case KJ_FOLD_ANY: acc->i |= v.i; break;
    case KJ_FOLD_ALL: acc->i &= v.i; break;
    default: join_extreme(f, acc, v);
    }
}

/* What any element replaces. */
static number identity(const kj_fold *f)
{
    bool least = f->op == KJ_FOLD_MIN || f->op == KJ_FOLD_ARGMIN;
    number n = {.at = INT64_MAX};
    if (f->op == KJ_FOLD_ALL)
        n.i = 1;
    if (f->op < KJ_FOLD_MIN || f->op > KJ_FOLD_ARGMAX)
        return n;
    n.f = least ? INFINITY : -INFINITY;
    if (kj_is_signed(f->acc))
        n.i = least ? INT64_MAX : INT64_MIN;
    else
        n.i = least ? -1 : 0;
    return n;
}

/* Up to a chunk of numbers to one. */
static number join_chunk(const kj_fold *f, const number *v, int64_t n)
{
    number lanes[KJ_FOLD_LANES];
    for (int t = 0; t < KJ_FOLD_LANES; t++)
        lanes[t] = identity(f);
    for (int64_t e = 0; e < n; e++)
        join(f, &lanes[e % KJ_FOLD_LANES], v[e]);
    for (int half = KJ_FOLD_LANES / 2; half > 0; half /= 2) {
        for (int t = 0; t < half; t++)
            join(f, &lanes[t], lanes[t + half]);
    }
    return lanes[0];
}

static kj_rvalue result_of(const kj_fold *f, number n)
{
    switch (f->op) {
    case KJ_FOLD_MEAN:
        if (kj_is_complex_type(f->acc))
            return kj_run_complex(n.f / (double)f->count, n.imag / (double)f->count);
        return kj_run_typed(kj_float(KJ_F64, n.f / (double)f->count));
    case KJ_FOLD_ANY:
    case KJ_FOLD_ALL: return kj_run_bool(n.i != 0);
    case KJ_FOLD_ARGMIN:
    case KJ_FOLD_ARGMAX: return kj_run_int(n.at);
    case KJ_FOLD_SUM:
    case KJ_FOLD_MIN:
    case KJ_FOLD_MAX:
    case KJ_FOLD_BY: break; /* the last is the device's alone */
    }
    if (kj_is_complex_type(f->acc))
        return kj_run_complex(n.f, n.imag);
    return kj_run_typed(kj_is_float(f->acc) ? kj_float(f->acc, n.f) : kj_int(f->acc, n.i));
}

static number element(const kj_fold *f, kjit_dtype dtype, const void *p)
{
    kj_rvalue v = kj_run_load(dtype, p);
    bool complex = kj_run_is_complex(v);
    number n = {.i = v.kind == KJ_R_FLOAT || complex ? 0 : v.u.i, .imag = v.imag};
    if (f->op == KJ_FOLD_ANY || f->op == KJ_FOLD_ALL)
        n.i = v.kind == KJ_R_FLOAT || complex ? v.u.f != 0 || v.imag != 0 : v.u.i != 0;
    else if (complex)
        n.f = v.u.f;
    else if (kj_is_float(f->acc))
        n.f = kj_run_as_float(v);
    return n;
}

bool kj_fold_on_host(kj_run *r, kj_span at, const kj_fold *f, kjit_array *values,
                     kjit_array *places, kj_rvalue *out)
{
    int64_t n = kjit_array_size(values), e = 0;
    number *v = malloc((size_t)(n > 0 ? n : 1) * sizeof *v);
    if (!v)
        return kj_run_no_memory(r, at);
    kj_rrows w;
    kj_run_rows(&w, values, NULL);
    while (kj_run_next_row(&w)) {
        for (int64_t i = 0; i < w.n; i++, e++) {
            v[e] = element(f, values->dtype, w.data[0] + i * w.step[0]);
            v[e].at = e;
        }
    }
    for (e = 0; places && e < n; e++)
        v[e].at = ((const int64_t *)kjit_array_data(places))[e];
    do {
        int64_t chunks = 0;
        for (e = 0; e == 0 || e < n; e += KJ_FOLD_CHUNK)
            v[chunks++] =
                join_chunk(f, v + e, n - e < KJ_FOLD_CHUNK ? n - e : (int64_t)KJ_FOLD_CHUNK);
        n = chunks;
    } while (n > 1);
    *out = result_of(f, v[0]);
    free(v);
    return true;
}

/* ---- Elements that are the same ---- */

static bool are_same(kjit_dtype dtype, const char *a, const char *b)
{
    if (dtype == KJIT_I64 || dtype == KJIT_U64)
        return memcmp(a, b, sizeof(int64_t)) == 0;
    kj_rvalue v = kj_run_load(dtype, a), w = kj_run_load(dtype, b);
    return v.u.f == w.u.f && v.imag == w.imag;
}

/* Of types whose elements doubles do not hold. */
static int64_t wide_same(kjit_array *a, kjit_array *b, const char *element)
{
    int64_t same = 0;
    kj_rrows w;
    kj_run_rows(&w, a, b);
    while (kj_run_next_row(&w)) {
        for (int64_t i = 0; i < w.n; i++)
            same += are_same(a->dtype, w.data[0] + i * w.step[0],
                             b ? w.data[1] + i * w.step[1] : element);
    }
    return same;
}

int64_t kj_fold_same(kjit_array *a, kjit_array *b, const char *element)
{
    if (a->dtype == KJIT_I64 || a->dtype == KJIT_U64 || kj_is_complex_type((kj_dtype)a->dtype))
        return wide_same(a, b, element);
    int64_t same = 0;
    double x[KJ_RUN_CHUNK], y[KJ_RUN_CHUNK];
    for (int i = 0; !b && i < KJ_RUN_CHUNK; i++)
        kj_run_load_floats(a->dtype, element, 0, 1, &y[i]);
    kj_rfloats f;
    kj_run_floats(&f, a, b);
    for (int64_t n; (n = kj_run_next_floats(&f, x, y)) > 0;) {
        for (int64_t i = 0; i < n; i++)
            same += x[i] == y[i];
    }
    return same;
}
