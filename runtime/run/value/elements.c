/* Elements of host arrays, for the run block's constructors, reductions and comparisons. In: arrays
 * of any dtype and layout; out: rows of elements, values, doubles. */
#include "run/value/value.h"

#include <string.h>

/* ---- Rows ---- */

/* Axes that lie behind each other in every array are one; the last is the row. Of an empty array, whose other
 * extents may be any, there is none. */
void kj_run_rows(kj_rrows *w, kjit_array *a, kjit_array *b)
{
    kjit_array *arrays[2] = {a, b};
    int n = kjit_array_ndim(a), narrays = b ? 2 : 1, ndim = 0;
    *w = (kj_rrows){.left = kjit_array_size(a) > 0};
    for (int axis = 0; axis < n && w->left > 0; axis++) {
        int64_t extent = kjit_array_shape(a)[axis];
        if (extent == 1)
            continue;
        bool joins = ndim > 0;
        for (int k = 0; k < narrays && joins; k++)
            joins = w->strides[k][ndim - 1] == extent * kjit_array_strides(arrays[k])[axis];
        if (!joins)
            w->shape[ndim++] = 1;
        w->shape[ndim - 1] *= extent;
        for (int k = 0; k < narrays; k++)
            w->strides[k][ndim - 1] = kjit_array_strides(arrays[k])[axis];
    }
    w->n = 1;
    if (ndim > 0) {
        ndim--;
        w->n = w->shape[ndim];
    }
    w->ndim = ndim;
    for (int axis = 0; axis < ndim; axis++)
        w->left *= w->shape[axis];
    for (int k = 0; k < narrays; k++) {
        w->data[k] = kjit_array_data(arrays[k]);
        w->step[k] = w->strides[k][ndim];
    }
    if (w->left > 0) /* stand before the first row */
        w->at[ndim] = -1;
}

bool kj_run_next_row(kj_rrows *w)
{
    if (w->left == 0)
        return false;
    w->left--;
    if (w->at[w->ndim] == -1) {
        w->at[w->ndim] = 0;
        return true;
    }
    for (int axis = w->ndim - 1; axis >= 0; axis--) {
        bool wraps = ++w->at[axis] == w->shape[axis];
        int64_t moves = wraps ? 1 - w->shape[axis] : 1;
        for (int k = 0; k < 2 && w->data[k]; k++)
            w->data[k] += moves * w->strides[k][axis];
        if (!wraps)
            break;
        w->at[axis] = 0;
    }
    return true;
}

/* ---- One element ---- */

kj_rvalue kj_run_load(kjit_dtype dtype, const void *p)
{
    const kj_aggregate *of = kj_aggregate_of((kj_dtype)dtype);
    if (!of)
        return kj_run_typed(kj_value_read(p, (kj_dtype)dtype, 0));
    kj_rvalue z = kj_run_complex(kj_value_read(p, of->elem, 0).f, kj_value_read(p, of->elem, 1).f);
    z.dtype = dtype;
    return z;
}

/* Of a number that a type does not hold: which does, as an array's elements, and what a conversion makes of it. */
static bool hint_wider(kj_run *r, kj_rvalue v, kj_dtype narrow, const char *name)
{
    static const kj_dtype types[] = {KJ_U16, KJ_I16, KJ_U32, KJ_I32,
                                     KJ_U64, KJ_I64, KJ_F32, KJ_F64};
    kj_rshort text = kj_run_short(v);
    const char *becomes = kj_is_float(narrow) ? "is infinite" : "takes the low bits";
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i] != narrow && kj_is_float(types[i]) == kj_is_float(narrow) &&
            kj_converts(narrow, types[i]) && kj_value_fits(kj_run_to_value(v), types[i]))
            return kj_run_hint(r, "%s(%s) %s; an array of %s holds it", name, text.text, becomes,
                               kj_types[types[i]].name);
    return kj_run_hint(r, "%s(%s) %s", name, text.text, becomes);
}

bool kj_run_pack(kj_run *r, kj_span at, kjit_dtype dtype, kj_rvalue v,
                 unsigned char out[KJ_RUN_ELEMENT])
{
    kj_dtype to = (kj_dtype)dtype;
    const char *name = kj_dtype_name(r->ctx, dtype);
    const kj_aggregate *of = kj_dtype_aggregate(r->ctx, dtype);
    bool complex = kj_is_complex_type(to);
    if (complex && v.kind != KJ_R_BOOL && (kj_run_is_number(v) || kj_run_is_complex(v))) {
        kj_rvalue z = kj_run_to_complex(dtype, v);
        if (!kj_run_parts_fit(v, of->elem)) {
            kj_run_fail(r, KJIT_TYPE, at, "%s does not fit in %s", kj_run_short(v).text, name);
            return kj_run_hint(r, "a part of %s(z) is infinite", name);
        }
        kj_value_write(out, 0, kj_float(of->elem, z.u.f));
        kj_value_write(out, 1, kj_float(of->elem, z.imag));
        return true;
    }
    if (!kj_run_is_number(v) || of) {
        kj_run_fail(r, KJIT_TYPE, at, "%s is not an element of type %s", kj_run_kind_name(v), name);
        if (kj_run_hint_comma(r, at, v))
            return false;
        return kj_run_is_complex(v) ? kj_run_hint(r, "its .real, .imag or abs(z) is") : false;
    }
    if (dtype == KJIT_BOOL && v.kind != KJ_R_BOOL) {
        kj_run_fail(r, KJIT_TYPE, at, "%s %s is not an element of type bool", kj_run_kind_name(v),
                    kj_run_short(v).text);
        r->converts = name;
        return kj_run_hint(r, "compare: x != 0");
    }
    if (v.kind == KJ_R_FLOAT && !kj_is_float(to)) {
        kj_run_fail(r, KJIT_TYPE, at, "the float %s is not an element of type %s",
                    kj_run_short(v).text, name);
        r->converts = name;
        return kj_run_hint(r, "convert it: %s(x)", name);
    }
    if (v.kind == KJ_R_BOOL && dtype != KJIT_BOOL) {
        kj_run_fail(r, KJIT_TYPE, at, "a bool is not an element of type %s", name);
        r->converts = name;
        return kj_run_hint(r, "convert it: %s(x)", name);
    }
    kj_value value = kj_run_to_value(v);
    if (!kj_value_fits(value, to)) {
        kj_run_fail(r, KJIT_TYPE, at, "%s does not fit in %s", kj_run_short(v).text, name);
        return hint_wider(r, v, to, name);
    }
    kj_value_write(out, 0, kj_fold_convert(value, to));
    return true;
}

/* ---- Many elements ---- */

/* Calls M(KJIT_type, C type) for each dtype that C has, but bool. */
/* clang-format off */
#define EACH_NUMBER(M) \
    M(I8, int8_t) M(I16, int16_t) M(I32, int32_t) M(I64, int64_t) \
    M(U8, uint8_t) M(U16, uint16_t) M(U32, uint32_t) M(U64, uint64_t) M(F32, float) M(F64, double)
/* clang-format on */

void kj_run_load_floats(kjit_dtype dtype, const char *p, int64_t step, int64_t n, double *out)
{
    switch (dtype) {
#define LOAD_MANY(id, type) \
    case KJIT_##id: \
        for (int64_t i = 0; i < n; i++, p += step) { \
            type t; \
            memcpy(&t, p, sizeof t); \
            out[i] = (double)t; \
        } \
        break;
        EACH_NUMBER(LOAD_MANY)
    case KJIT_BOOL:
        for (int64_t i = 0; i < n; i++, p += step)
            out[i] = *p != 0;
        break;
    default:
        for (int64_t i = 0; i < n; i++, p += step)
            out[i] = kj_value_read(p, (kj_dtype)dtype, 0).f;
    }
}

void kj_run_floats(kj_rfloats *f, kjit_array *a, kjit_array *b)
{
    kj_run_rows(&f->rows, a, b);
    f->dtypes[0] = kjit_array_dtype(a);
    f->dtypes[1] = b ? kjit_array_dtype(b) : f->dtypes[0];
    f->done = f->rows.n;
}

int64_t kj_run_next_floats(kj_rfloats *f, double *a, double *b)
{
    kj_rrows *w = &f->rows;
    double *out[2] = {a, b};
    if (f->done == w->n) {
        if (!kj_run_next_row(w))
            return 0;
        f->done = 0;
    }
    int64_t n = w->n - f->done < KJ_RUN_CHUNK ? w->n - f->done : KJ_RUN_CHUNK;
    for (int k = 0; k < 2 && w->data[k]; k++)
        kj_run_load_floats(f->dtypes[k], w->data[k] + f->done * w->step[k], w->step[k], n, out[k]);
    f->done += n;
    return n;
}

void kj_run_store_floats(kjit_dtype dtype, char *p, int64_t n, const double *from)
{
    if (dtype == KJIT_F64) {
        memcpy(p, from, (size_t)n * sizeof *from);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        kj_value_write(p, i, kj_float((kj_dtype)dtype, from[i]));
}

void kj_run_store_line(kjit_dtype dtype, void *p, int64_t n, int64_t start, int64_t step)
{
    uint64_t v = (uint64_t)start, by = (uint64_t)step;
    switch (dtype) {
#define STORE_LINE(id, type) \
    case KJIT_##id: \
        for (int64_t i = 0; i < n; i++, v += by) \
            ((type *)p)[i] = (type)(int64_t)v; \
        break;
        EACH_NUMBER(STORE_LINE)
    default:
        for (int64_t i = 0; i < n; i++, v += by)
            kj_value_write(p, i, kj_fold_convert(kj_int(KJ_I64, (int64_t)v), (kj_dtype)dtype));
    }
}

void kj_run_fill(kjit_array *a, const unsigned char element[KJ_RUN_ELEMENT])
{
    kj_rrows w;
    size_t size = kjit_dtype_size(kjit_array_dtype(a));
    unsigned char zero[KJ_RUN_ELEMENT] = {0};
    bool bytes = size == 1 || memcmp(element, zero, size) == 0;
    kj_run_rows(&w, a, NULL);
    while (kj_run_next_row(&w)) {
        char *p = w.data[0];
        if (bytes && w.step[0] == (int64_t)size) {
            memset(p, element[0], (size_t)w.n * size);
            continue;
        }
        for (int64_t i = 0; i < w.n; i++, p += w.step[0])
            memcpy(p, element, size);
    }
}

bool kj_run_numbers(kj_run *r, kj_span at, kj_rvalue a, kj_rvalue *out)
{
    kjit_array *view = NULL, *from = a.u.object->u.array;
    if (!kj_run_no_records(r, at, a))
        return false;
    if (!kj_is_vectors(from)) {
        kj_run_keep(a);
        *out = a;
        return true;
    }
    bool fixed = a.u.object->fixed;
    if (!kj_run_check(r, kjit_array_view(from, (kjit_dtype)from->of->elem, &view), at) ||
        !kj_run_array(r, at, view, out))
        return false;
    out->u.object->fixed = fixed;
    return true;
}

bool kj_run_on_host(kj_run *r, kj_span at, kj_rvalue a, kj_rvalue *out)
{
    if (kj_host_works(kjit_array_memory(a.u.object->u.array))) {
        if (!kj_run_check(r, kj_synchronize_run(r->ctx, r->number), at))
            return false;
        if (!kj_run_is_record(a))
            return kj_run_numbers(r, at, a, out);
        kj_run_keep(a);
        *out = a;
        return true;
    }
    kjit_array *host = NULL;
    return kj_run_check(r, kj_array_on_host(a.u.object->u.array, &host), at) &&
           kj_run_check(r, kj_array_numbers(&host), at) && kj_run_array(r, at, host, out);
}

bool kj_run_new_array(kj_run *r, kj_span at, kjit_dtype dtype, int ndim, const int64_t *shape,
                      kjit_memory memory, kj_rvalue *out)
{
    kjit_array *a = NULL;
    return kj_run_check(r, kjit_array_create(r->ctx, dtype, ndim, shape, 'C', memory, &a), at) &&
           kj_run_array(r, at, a, out);
}
