/* Rows whose lanes are a few elements apart: they are loaded as they lie, and sorted by shuffles.
 *
 * Of elements of several equal scalars (small vectors, complex numbers) a load takes all parts of the row's
 * elements and picks its own: the loads of the other parts are then the same, and LLVM makes them one. The
 * stores of all parts of an element are one statement after another; found so, they are one store. Of others
 * a load takes what lies from the first lane's element to the last one's, and nothing beyond. */
#include "lower/memory/memory.h"

#include <string.h>

/* Lanes that are shuffled at a time: a vector register of them, or all. */
static int chunk_of(const kj_lower *lo, const kj_access *a)
{
    int chunk = lo->vector * 4 / kj_types[a->type].size, lanes = a->offset.lanes;
    int n = lanes / chunk;
    return n * chunk == lanes && (n & (n - 1)) == 0 ? chunk : lanes;
}

/* n elements of v from `first` on, `step` apart. */
static LLVMValueRef picked(kj_lower *lo, LLVMValueRef v, int first, int step, int n)
{
    int places[KJ_MAX_LANES];
    for (int i = 0; i < n; i++)
        places[i] = first + i * step;
    return kj_shuffled(lo, v, NULL, places, n);
}

/* n vectors of `lanes` elements behind each other; n is a power of two. */
static LLVMValueRef joined(kj_lower *lo, LLVMValueRef *v, int n, int lanes)
{
    for (; n > 1; n /= 2, lanes *= 2) {
        for (int k = 0; k < n / 2; k++)
            v[k] = kj_joined(lo, v[2 * k], v[2 * k + 1], lanes);
    }
    return v[0];
}

/* A lane's bit for each part of its element. */
static LLVMValueRef spread_mask(kj_lower *lo, LLVMValueRef mask, int first, int lanes, int parts)
{
    int places[4 * KJ_MAX_LANES];
    for (int i = 0; i < lanes * parts; i++)
        places[i] = first + i / parts;
    return kj_shuffled(lo, mask, NULL, places, lanes * parts);
}

/* The address of the row's first element, and of the one `lane` elements behind it. */
static LLVMValueRef address(kj_lower *lo, const kj_access *a, int row, int lane)
{
    LLVMValueRef first = a->offset.v[a->offset.rows == 1 ? 0 : row];
    first = LLVMBuildAdd(lo->b, first, kj_i64(lo, lane * a->group - a->part), "");
    return kj_lower_element(lo, a->type, a->base, first);
}

LLVMValueRef kj_load_group(kj_lower *lo, const kj_access *a, int row, kj_mask m)
{
    int lanes = a->offset.lanes, chunk = chunk_of(lo, a), n = 0;
    LLVMValueRef mask = m.kind == KJ_ALL ? NULL : kj_mask_row(lo, m, row, lanes);
    LLVMTypeRef type = kj_vec(lo, kj_memory_type(a->type), chunk * a->group);
    LLVMValueRef out[KJ_MAX_LANES];
    for (int first = 0; first < lanes; first += chunk) {
        LLVMValueRef at = address(lo, a, row, first), all;
        if (mask) {
            LLVMValueRef bits = spread_mask(lo, mask, first, chunk, a->group);
            all = kj_masked_load(lo, a, type, at, bits);
        } else {
            all = kj_alias_mark(lo, LLVMBuildLoad2(lo->b, type, at, ""), a->scope);
            LLVMSetAlignment(all, kj_types[a->type].size);
        }
        out[n++] = picked(lo, all, a->part, a->group, chunk);
    }
    return joined(lo, out, n, chunk);
}

/* ---- What lies between the first and the last lane's element ---- */

bool kj_is_strided(const kj_lower *lo, const kj_access *a)
{
    enum { MOST = 16 };
    int64_t step = a->offset.stride < 0 ? -a->offset.stride : a->offset.stride;
    return a->offset.form == KJ_LINEAR && step > 1 && step <= MOST && step <= chunk_of(lo, a) / 2;
}

/* Vectors of `chunk` elements that lie one behind the other, but the last, which ends with the last lane's
 * element: element e of all is in number e / chunk, or the last. */
typedef struct span {
    LLVMValueRef v[KJ_MAX_LANES];
    int n, chunk, last; /* where the last one begins */
} span;

static span load_span(kj_lower *lo, const kj_access *a, LLVMValueRef first, int chunk, int step)
{
    LLVMTypeRef type = kj_vec(lo, kj_memory_type(a->type), chunk);
    span s = {.chunk = chunk, .last = (chunk - 1) * step + 1 - chunk};
    for (int begin = 0; s.n == 0 || begin < s.last + chunk; begin += chunk) {
        int by = begin < s.last ? begin : s.last;
        LLVMValueRef at = LLVMBuildAdd(lo->b, first, kj_i64(lo, by), "");
        at = kj_lower_element(lo, a->type, a->base, at);
        LLVMValueRef v = kj_alias_mark(lo, LLVMBuildLoad2(lo->b, type, at, ""), a->scope);
        LLVMSetAlignment(v, (unsigned)kj_types[a->type].size);
        s.v[s.n++] = v;
    }
    return s;
}

/* The lanes' elements, two vectors at a time: places[l] is where in vector in[l] lane l's is. */
static LLVMValueRef sorted_span(kj_lower *lo, span *s, int step, bool reversed)
{
    int in[KJ_MAX_LANES], places[KJ_MAX_LANES], chunk = s->chunk;
    for (int l = 0; l < chunk; l++) {
        int element = (reversed ? chunk - 1 - l : l) * step;
        in[l] = element / chunk;
        places[l] = element - (in[l] == s->n - 1 ? s->last : in[l] * chunk);
    }
    for (; s->n > 1; s->n = (s->n + 1) / 2) {
        for (int k = 0; k < s->n / 2; k++) {
            int from[KJ_MAX_LANES];
            for (int l = 0; l < chunk; l++)
                from[l] = in[l] / 2 == k ? places[l] + in[l] % 2 * chunk : KJ_ANY;
            s->v[k] = kj_shuffled(lo, s->v[2 * k], s->v[2 * k + 1], from, chunk);
        }
        if (s->n % 2)
            s->v[s->n / 2] = s->v[s->n - 1];
        for (int l = 0; l < chunk; l++) {
            places[l] = in[l] / 2 < s->n / 2 ? l : places[l];
            in[l] /= 2;
        }
    }
    return s->v[0];
}

LLVMValueRef kj_load_strided(kj_lower *lo, const kj_access *a, int row)
{
    int lanes = a->offset.lanes, chunk = chunk_of(lo, a), n = 0;
    bool reversed = a->offset.stride < 0;
    int step = (int)(reversed ? -a->offset.stride : a->offset.stride);
    LLVMValueRef start = a->offset.v[a->offset.rows == 1 ? 0 : row], out[KJ_MAX_LANES];
    for (int lane = 0; lane < lanes; lane += chunk) {
        int lowest = reversed ? lane + chunk - 1 : lane;
        LLVMValueRef by = kj_i64(lo, lowest * a->offset.stride);
        span s = load_span(lo, a, LLVMBuildAdd(lo->b, start, by, ""), chunk, step);
        out[n++] = sorted_span(lo, &s, step, reversed);
    }
    return joined(lo, out, n, chunk);
}

/* ---- Stores ---- */

/* `chunk` lanes from `first` on of n parts, as they lie in memory. */
static LLVMValueRef interleaved(kj_lower *lo, const LLVMValueRef *parts, int n, int first,
                                int chunk)
{
    LLVMValueRef v[4];
    int places[4 * KJ_MAX_LANES];
    for (int k = 0; k < n; k++)
        v[k] = picked(lo, parts[k], first, 1, chunk);
    if (n == 3) /* of a fourth part nothing is taken */
        v[3] = v[2];
    LLVMValueRef all = joined(lo, v, n == 3 ? 4 : n, chunk);
    for (int i = 0; i < chunk * n; i++)
        places[i] = i % n * chunk + i / n;
    return kj_shuffled(lo, all, NULL, places, chunk * n);
}

void kj_store_group(kj_lower *lo, const kj_access *a, int row, const LLVMValueRef *parts, kj_mask m)
{
    int lanes = a->offset.lanes, chunk = chunk_of(lo, a), size = kj_types[a->type].size;
    LLVMValueRef mask = m.kind == KJ_ALL ? NULL : kj_mask_row(lo, m, row, lanes);
    for (int first = 0; first < lanes; first += chunk) {
        LLVMValueRef all = interleaved(lo, parts, a->group, first, chunk);
        LLVMValueRef at = address(lo, a, row, first), store;
        if (mask) {
            LLVMValueRef bits = spread_mask(lo, mask, first, chunk, a->group);
            store = a->amid ? kj_store_amid(lo, a, all, at, bits)
                            : kj_masked_store(lo, all, at, bits, size);
        } else {
            store = LLVMBuildStore(lo->b, all, at);
            LLVMSetAlignment(store, (unsigned)size);
        }
        kj_alias_mark(lo, store, a->scope);
    }
}

/* ---- Stores of lanes a few elements apart ---- */

/* With AVX-512, whose masks of words cost nothing, and a scatter an operation a lane; and where what lies between may be
 * written. */
bool kj_stores_strided(const kj_lower *lo, const kj_access *a)
{
    bool masks = lo->vector >= 16 && kj_types[a->type].size >= 4;
    return (masks || a->amid) && a->offset.form == KJ_LINEAR && a->offset.stride > 1 &&
           a->offset.stride <= KJ_FURTHEST;
}

/* A register of elements as they lie, from element `from` behind lane `first` on: those that are a lane's. */
static void store_between(kj_lower *lo, const kj_access *a, LLVMValueRef at, int first, int from,
                          int n, LLVMValueRef v, LLVMValueRef mask)
{
    int step = (int)a->offset.stride, lanes = a->offset.lanes, places[KJ_MAX_LANES],
        bits[KJ_MAX_LANES];
    for (int i = 0; i < n; i++) {
        bool stored = (from + i) % step == 0;
        int lane = first + (from + i) / step;
        places[i] = stored ? lane : KJ_ANY;
        bits[i] = stored ? lane : lanes; /* of zeros */
    }
    LLVMValueRef by = kj_i64(lo, from);
    at = LLVMBuildGEP2(lo->b, lo->types[kj_memory_type(a->type)], at, &by, 1, "");
    v = kj_shuffled(lo, v, NULL, places, n);
    mask = kj_shuffled(lo, mask, LLVMConstNull(LLVMTypeOf(mask)), bits, n);
    if (a->amid)
        kj_store_amid(lo, a, v, at, mask);
    else
        kj_alias_mark(lo, kj_masked_store(lo, v, at, mask, kj_types[a->type].size), a->scope);
}

void kj_store_strided(kj_lower *lo, const kj_access *a, int row, LLVMValueRef v, kj_mask m)
{
    int lanes = a->offset.lanes, step = (int)a->offset.stride, chunk = chunk_of(lo, a);
    LLVMValueRef start = a->offset.v[a->offset.rows == 1 ? 0 : row];
    LLVMValueRef mask = kj_mask_row(lo, m, row, lanes);
    for (int first = 0; first < lanes; first += chunk) {
        LLVMValueRef index = LLVMBuildAdd(lo->b, start, kj_i64(lo, first * step), "");
        LLVMValueRef at = kj_lower_element(lo, a->type, a->base, index);
        for (int from = 0; from < chunk * step; from += chunk)
            store_between(lo, a, at, first, from, chunk, v, mask);
    }
}
