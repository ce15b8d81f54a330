/* .sum() .min() .max() .mean() .all() .any(), computed on the host. In: an array; out: a number or
 * a bool. */
#include "run.h"

#include <math.h>

static bool host_array(kj_run *r, const kj_rcall *c, kj_rvalue *host)
{
    if (c->self.kind != KJ_R_ARRAY)
        return kj_run_fail(r, KJIT_NOT_FOUND, c->span, "%s has no '%s'", kj_run_kind_name(c->self),
                           kj_run_builtin_name(c->id) + 1);
    return kj_run_on_host(r, c->span, c->self, host);
}

/* Doubles that hold every element exactly? */
static bool exact_as_double(kjit_dtype dtype)
{
    return dtype != KJIT_I64 && dtype != KJIT_U64;
}

/* ---- Sums ---- */

/* A chunk's sum, eight ways beside each other. */
static double chunk_sum(const double *x, int64_t n)
{
    double part[8] = {0};
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        for (int k = 0; k < 8; k++)
            part[k] += x[i + k];
    }
    for (; i < n; i++)
        part[i % 8] += x[i];
    return ((part[0] + part[1]) + (part[2] + part[3])) +
           ((part[4] + part[5]) + (part[6] + part[7]));
}

/* Chunks are added as a binary counter counts: level l holds the sum of 2^l of them. */
static double float_sum(kjit_array *a)
{
    double chunk[KJ_RUN_CHUNK], level[64];
    uint64_t chunks = 0;
    kj_rfloats f;
    kj_run_floats(&f, a, NULL);
    for (int64_t n; (n = kj_run_next_floats(&f, chunk, NULL)) > 0; chunks++) {
        double sum = chunk_sum(chunk, n);
        int l = 0;
        for (uint64_t bits = chunks; bits & 1; bits >>= 1)
            sum += level[l++];
        level[l] = sum;
    }
    double total = 0;
    for (int l = 0; l < 64; l++) {
        if (chunks >> l & 1)
            total += level[l];
    }
    return total;
}

static uint64_t integer_sum(kjit_array *a)
{
    uint64_t sum = 0;
    kj_rrows w;
    kj_run_rows(&w, a, NULL);
    while (kj_run_next_row(&w)) {
        for (int64_t i = 0; i < w.n; i++)
            sum += (uint64_t)kj_run_load(kjit_array_dtype(a), w.data[0] + i * w.step[0]).u.i;
    }
    return sum;
}

bool kj_run_sum(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    kj_rvalue host;
    if (!host_array(r, c, &host))
        return false;
    kjit_array *a = host.u.object->u.array;
    kj_dtype dtype = (kj_dtype)kjit_array_dtype(a);
    if (kj_is_float(dtype))
        *out = kj_run_float(float_sum(a));
    else if (kj_is_signed(dtype))
        *out = kj_run_int((int64_t)integer_sum(a));
    else
        *out = kj_run_uint(integer_sum(a));
    kj_run_drop(&host);
    return true;
}

bool kj_run_mean(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    kj_rvalue host;
    if (!host_array(r, c, &host))
        return false;
    kjit_array *a = host.u.object->u.array;
    *out =
        kj_run_float(float_sum(a) / (double)kjit_array_size(a)); /* NaN for no elements, as NumPy */
    kj_run_drop(&host);
    return true;
}

/* ---- Least and greatest ---- */

static double float_extreme(kjit_array *a, bool greatest)
{
    double chunk[KJ_RUN_CHUNK], best = greatest ? -INFINITY : INFINITY;
    bool nan = false;
    kj_rfloats f;
    kj_run_floats(&f, a, NULL);
    for (int64_t n; (n = kj_run_next_floats(&f, chunk, NULL)) > 0;) {
        for (int64_t i = 0; i < n; i++) {
            nan |= isnan(chunk[i]);
            if (greatest ? chunk[i] > best : chunk[i] < best)
                best = chunk[i];
        }
    }
    return nan ? NAN : best;
}

static kj_rvalue integer_extreme(kjit_array *a, bool greatest)
{
    bool is_signed = kj_is_signed((kj_dtype)kjit_array_dtype(a)), first = true;
    int64_t best = 0;
    kj_rrows w;
    kj_run_rows(&w, a, NULL);
    while (kj_run_next_row(&w)) {
        for (int64_t i = 0; i < w.n; i++) {
            int64_t v = kj_run_load(kjit_array_dtype(a), w.data[0] + i * w.step[0]).u.i;
            bool less = is_signed ? v < best : (uint64_t)v < (uint64_t)best;
            if (first || (v != best && less != greatest))
                best = v;
            first = false;
        }
    }
    return is_signed ? kj_run_int(best) : kj_run_uint((uint64_t)best);
}

bool kj_run_min_max(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    bool greatest = c->id == KJ_RUN_M_MAX;
    kj_rvalue host;
    if (!host_array(r, c, &host))
        return false;
    kjit_array *a = host.u.object->u.array;
    kjit_dtype dtype = kjit_array_dtype(a);
    if (kjit_array_size(a) == 0)
        return kj_run_fail(r, KJIT_SHAPE, c->span, "an array without elements has no %s",
                           greatest ? "greatest" : "least");
    if (!exact_as_double(dtype))
        *out = integer_extreme(a, greatest);
    else if (kj_is_float((kj_dtype)dtype))
        *out = (kj_rvalue){.kind = KJ_R_FLOAT, .dtype = dtype, .u.f = float_extreme(a, greatest)};
    else if (dtype == KJIT_BOOL)
        *out = kj_run_bool(float_extreme(a, greatest) != 0);
    else
        *out = kj_run_int((int64_t)float_extreme(a, greatest));
    kj_run_drop(&host);
    return true;
}

bool kj_run_all_any(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    bool any = c->id == KJ_RUN_M_ANY, found = false; /* a true one for any, a false one for all */
    kj_rvalue host;
    if (!host_array(r, c, &host))
        return false;
    double chunk[KJ_RUN_CHUNK];
    kj_rfloats f;
    kj_run_floats(&f, host.u.object->u.array, NULL);
    for (int64_t n; !found && (n = kj_run_next_floats(&f, chunk, NULL)) > 0;) {
        for (int64_t i = 0; i < n; i++)
            found |= (chunk[i] != 0) == any;
    }
    *out = kj_run_bool(found == any);
    kj_run_drop(&host);
    return true;
}
