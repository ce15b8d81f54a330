/* sum, mean, min, max, argmin, argmax, any and all of arrays and expressions, whole or along axes,
 * and cumsum. In: a call; out: a number, or an array. */
#include "run/lazy/lazy.h"

#include <string.h>

static kj_fold_op op_of(kj_run_id id)
{
    switch (id) {
    case KJ_RUN_SUM:
    case KJ_RUN_M_SUM: return KJ_FOLD_SUM;
    case KJ_RUN_MEAN:
    case KJ_RUN_M_MEAN: return KJ_FOLD_MEAN;
    case KJ_RUN_M_MIN: return KJ_FOLD_MIN;
    case KJ_RUN_M_MAX: return KJ_FOLD_MAX;
    case KJ_RUN_ARGMIN:
    case KJ_RUN_M_ARGMIN: return KJ_FOLD_ARGMIN;
    case KJ_RUN_ARGMAX:
    case KJ_RUN_M_ARGMAX: return KJ_FOLD_ARGMAX;
    case KJ_RUN_ANY:
    case KJ_RUN_M_ANY: return KJ_FOLD_ANY;
    default: return KJ_FOLD_ALL;
    }
}

/* ---- Types ---- */

void kj_fold_types(kj_fold *f)
{
    bool complex = kj_is_complex_type(f->elem), real = kj_is_float(f->elem) || complex,
         is_bool = f->elem == KJ_BOOL;
    kj_dtype exact = complex ? KJ_C128 : KJ_F64;
    kj_dtype wide = is_bool || kj_is_signed(f->elem) ? KJ_I64 : KJ_U64;
    if (is_bool && (f->op == KJ_FOLD_MIN || f->op == KJ_FOLD_MAX))
        f->op = f->op == KJ_FOLD_MIN ? KJ_FOLD_ALL : KJ_FOLD_ANY;
    switch (f->op) {
    case KJ_FOLD_SUM:
        f->acc = real ? exact : wide;
        f->out = real ? f->elem : wide;
        break;
    case KJ_FOLD_MEAN:
        f->acc = exact;
        f->out = real ? f->elem : KJ_F32;
        break;
    case KJ_FOLD_BY:
    case KJ_FOLD_MIN:
    case KJ_FOLD_MAX: f->acc = f->out = f->elem; break;
    case KJ_FOLD_ARGMIN:
    case KJ_FOLD_ARGMAX:
        f->acc = is_bool ? KJ_U8 : f->elem;
        f->out = KJ_I64;
        break;
    case KJ_FOLD_ANY:
    case KJ_FOLD_ALL:
        f->acc = KJ_I32;
        f->out = KJ_BOOL;
        break;
    }
}

/* ---- Axes ---- */

static bool chosen_axis(kj_run *r, kj_span at, kj_rvalue axis, int ndim, bool *reduced)
{
    if (axis.kind != KJ_R_INT)
        return kj_run_fail(r, KJIT_TYPE, at, "an axis is an int, or several in a tuple, not %s",
                           kj_run_kind_name(axis));
    int64_t i = axis.u.i < 0 ? axis.u.i + ndim : axis.u.i;
    if (axis.dtype == KJIT_U64 || i < 0 || i >= ndim)
        return kj_run_fail(r, KJIT_SHAPE, at, "there is no axis %s: the array has %d",
                           kj_run_short(axis).text, ndim);
    if (reduced[i])
        return kj_run_fail(r, KJIT_SHAPE, at, "axis %d is given twice", (int)i);
    reduced[i] = true;
    return true;
}

bool kj_reduce_axes(kj_run *r, const kj_rcall *c, int arg, int ndim, bool *reduced)
{
    kj_rvalue v = c->args[arg];
    kj_span at = c->spans[arg];
    for (int i = 0; i < ndim; i++)
        reduced[i] = !c->given[arg];
    if (!c->given[arg])
        return true;
    if (v.kind != KJ_R_TUPLE)
        return chosen_axis(r, at, v, ndim, reduced);
    for (int64_t i = 0; i < v.u.object->u.seq.n; i++) {
        if (!chosen_axis(r, at, v.u.object->u.seq.items[i], ndim, reduced))
            return false;
    }
    return true;
}

/* ---- To a number ---- */

static bool on_host(kj_run *r, kj_span at, const kj_fold *f, kj_rvalue v, kj_rvalue *out)
{
    kj_rvalue host;
    kj_domain d;
    if (!kj_run_on_host(r, at, v, &host))
        return false;
    kjit_array *a = host.u.object->u.array;
    kj_domain_init(&d, a->ndim, a->shape);
    kj_domain_add(&d, a);
    kj_domain_join(&d, kj_fold_places(f->op) ? -1 : 0);
    bool ok = kj_domain_views(r, at, &d) && kj_fold_on_host(r, at, f, d.arrays[0].view, NULL, out);
    kj_domain_free(&d);
    kj_run_drop(&host);
    return ok;
}

/* all(a == b), any(a != 0) and so on, of small arrays that are there: to compile a kernel for that would take a
 * thousand times as long. */
static bool is_small_comparison(const kj_fold *f, kj_rvalue v)
{
    if (v.kind != KJ_R_LAZY || (f->op != KJ_FOLD_ALL && f->op != KJ_FOLD_ANY))
        return false;
    const kj_lazy *e = v.u.object->u.lazy;
    bool is = f->count <= KJ_FOLD_CHUNK && e->form == KJ_X_BINARY &&
              (e->op == KJ_OP_EQ || e->op == KJ_OP_NE);
    int arrays = 0;
    for (int i = 0; is && i < 2; i++) {
        const int64_t *shape;
        bool array = e->args[i].kind == KJ_R_ARRAY;
        is = array ? kj_lazy_type(e->args[i]) == e->types[i] &&
                         kj_lazy_shape(e->args[i], &shape) == e->ndim &&
                         memcmp(shape, e->shape, (size_t)e->ndim * sizeof *shape) == 0
                   : kj_run_is_number(e->args[i]) && kj_is_scalar(e->types[i]);
        arrays += array;
    }
    return is && arrays > 0;
}

static bool compare_on_host(kj_run *r, kj_span at, const kj_fold *f, kj_rvalue v, kj_rvalue *out)
{
    const kj_lazy *e = v.u.object->u.lazy;
    kj_rvalue on_host[2] = {kj_run_none(), kj_run_none()};
    kjit_array *arrays[2];
    char element[KJ_RUN_ELEMENT];
    bool ok = true;
    int n = 0;
    for (int i = 0; i < 2 && ok; i++) {
        if (e->args[i].kind != KJ_R_ARRAY) {
            kj_value_write(element, 0, kj_fold_convert(kj_run_to_value(e->args[i]), e->types[i]));
            continue;
        }
        ok = kj_run_on_host(r, at, e->args[i], &on_host[i]);
        if (ok)
            arrays[n++] = on_host[i].u.object->u.array;
    }
    if (ok) {
        int64_t same = kj_fold_same(arrays[0], n > 1 ? arrays[1] : NULL, element),
                found = e->op == KJ_OP_EQ ? same : f->count - same;
        *out = kj_run_bool(f->op == KJ_FOLD_ALL ? found == f->count : found > 0);
    }
    for (int i = 0; i < 2; i++)
        kj_run_drop(&on_host[i]);
    return ok;
}

static bool to_number(kj_run *r, kj_span at, const kj_fold *f, kj_rvalue v, const bool *reduced,
                      kj_rvalue *out)
{
    if (v.kind == KJ_R_ARRAY && v.u.object->u.array->size <= KJ_FOLD_CHUNK)
        return on_host(r, at, f, v, out);
    if (is_small_comparison(f, v))
        return compare_on_host(r, at, f, v, out);
    kj_partial left;
    kjit_array *values = NULL, *places = NULL;
    bool ok = kj_fold_launch(r, at, f, v, reduced, NULL, &left) &&
              kj_run_check(r, kj_array_on_host(left.values, &values), at) &&
              (!left.places || kj_run_check(r, kj_array_on_host(left.places, &places), at)) &&
              kj_fold_on_host(r, at, f, values, places, out);
    kjit_array_free(values);
    kjit_array_free(places);
    kj_partial_free(&left);
    return ok;
}

/* ---- To an array ---- */

static bool fill(kj_run *r, kj_span at, kjit_array *to, kjit_array *one)
{
    const int64_t still[KJIT_MAX_NDIM] = {0};
    kjit_array *many = NULL;
    bool ok = kj_run_check(r, kj_array_restride(one, to->ndim, to->shape, still, &many), at) &&
              kj_run_check(r, kjit_copy(to, many, NULL), at);
    kjit_array_free(many);
    return ok;
}

static bool to_array(kj_run *r, kj_span at, const kj_fold *f, kj_rvalue v, const bool *reduced,
                     bool keep, kj_rvalue *out)
{
    const int64_t *shape;
    int64_t kept[KJIT_MAX_NDIM], n, stride = (int64_t)kjit_dtype_size((kjit_dtype)f->out);
    int ndim = kj_lazy_shape(v, &shape), nkept = 0;
    for (int i = 0; i < ndim; i++) {
        if (keep || !reduced[i])
            kept[nkept++] = reduced[i] ? 1 : shape[i];
    }
    if (!kj_run_new_array(r, at, (kjit_dtype)f->out, nkept, kept, kj_lazy_memory(v), out))
        return false;
    kjit_array *made = out->u.object->u.array, *flat = NULL;
    kj_partial left;
    n = made->size;
    if (n == 0)
        return true;
    if (f->op == KJ_FOLD_BY && f->count == 0)
        return fill(r, at, made, f->first);
    bool ok = kj_run_check(r, kj_array_restride(made, 1, &n, &stride, &flat), at) &&
              kj_fold_launch(r, at, f, v, reduced, flat, &left);
    kjit_array_free(flat);
    if (!ok)
        kj_run_drop(out);
    return ok;
}

bool kj_fold_value(kj_run *r, kj_span at, const kj_fold *f, kj_rvalue v, const bool *reduced,
                   bool keep, kj_rvalue *out)
{
    const int64_t *shape;
    int ndim = kj_lazy_shape(v, &shape);
    bool all = true;
    for (int i = 0; i < ndim; i++)
        all = all && reduced[i];
    if (all && !keep && f->op != KJ_FOLD_BY)
        return to_number(r, at, f, v, reduced, out);
    kj_rvalue one;
    if (!to_array(r, at, f, v, reduced, keep, out) || !all || keep)
        return out->kind != KJ_R_NONE;
    bool ok = kj_run_on_host(r, at, *out, &one);
    kj_run_drop(out);
    if (ok)
        *out = kj_run_load(one.u.object->u.array->dtype, one.u.object->u.array->data);
    if (ok)
        kj_run_drop(&one);
    return ok;
}

/* ---- The call ---- */

static bool no_elements(kj_run *r, kj_span at, kj_fold_op op)
{
    bool least = op == KJ_FOLD_MIN || op == KJ_FOLD_ARGMIN;
    return kj_run_fail(r, KJIT_SHAPE, at, "an array without elements has no %s",
                       least ? "least" : "greatest");
}

static bool no_order(kj_run *r, kj_span at)
{
    kj_run_fail(r, KJIT_TYPE, at, "complex numbers have no order");
    return kj_run_hint(r, "compare abs(a), a.real or a.imag");
}

static bool one_axis(kj_run *r, const kj_rcall *c, int arg)
{
    const char *name = kj_run_builtins[c->id].name;
    return kj_run_fail(r, KJIT_TYPE, c->spans[arg], "%s works along one axis, or none",
                       name + (*name == '.'));
}

int64_t kj_reduce_count(const int64_t *shape, int ndim, const bool *reduced)
{
    int64_t count = 1;
    bool none = false, many = false;
    for (int i = 0; i < ndim; i++) {
        none |= reduced[i] && shape[i] == 0;
        many |= reduced[i] && __builtin_mul_overflow(count, shape[i], &count);
    }
    return none ? 0 : many ? INT64_MAX : count;
}

static bool reduce(kj_run *r, kj_rcall *c, kj_rvalue v, kj_rvalue *out)
{
    bool method = kj_run_builtins[c->id].name[0] == '.';
    int first = method ? 0 : 1; /* axis and keepdims */
    bool reduced[KJIT_MAX_NDIM], keep = false;
    kj_fold f = {.op = op_of(c->id)};
    const int64_t *shape;
    int ndim = kj_lazy_shape(v, &shape);
    if (!kj_reduce_axes(r, c, first, ndim, reduced) ||
        (c->given[first + 1] &&
         !kj_run_truth(r, c->spans[first + 1], "keepdims", c->args[first + 1], &keep)) ||
        !kj_lazy_alone(r, c->span, v))
        return false;
    f.elem = kj_lazy_type(v);
    f.count = kj_reduce_count(shape, ndim, reduced);
    if (f.count == 0 && f.op >= KJ_FOLD_MIN && f.op <= KJ_FOLD_ARGMAX)
        return no_elements(r, c->span, f.op);
    if (kj_fold_places(f.op) && c->given[first] && c->args[first].kind == KJ_R_TUPLE)
        return one_axis(r, c, first);
    if (kj_is_complex_type(f.elem) && f.op >= KJ_FOLD_MIN && f.op <= KJ_FOLD_ARGMAX)
        return no_order(r, c->span);
    kj_fold_types(&f);
    return kj_fold_value(r, c->span, &f, v, reduced, keep, out);
}

bool kj_reduce_operand(kj_run *r, const kj_rcall *c, kj_rvalue *own)
{
    bool method = kj_run_builtins[c->id].name[0] == '.';
    kj_rvalue v = method ? c->self : c->args[0];
    *own = v;
    if (!kj_is_array(v) && method)
        return kj_run_lacks(r, c->span, v, c->id);
    if (!kj_is_array(v))
        return kj_run_fail(r, KJIT_TYPE, c->spans[0], "%s works on arrays, not on %s",
                           kj_run_builtins[c->id].name, kj_run_kind_name(v));
    if (v.kind == KJ_R_LAZY)
        kj_run_keep(v);
    return v.kind == KJ_R_LAZY || kj_run_numbers(r, c->span, v, own);
}

bool kj_run_reduce(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    kj_rvalue own;
    if (!kj_reduce_operand(r, c, &own))
        return false;
    bool ok = reduce(r, c, own, out);
    kj_run_drop(&own);
    return ok;
}

/* ---- Cumulative sums ---- */

/* All elements as one axis, in C order: an array then, unless it is one axis already. */
static bool flatten(kj_run *r, kj_span at, kj_rvalue *v)
{
    const int64_t *shape;
    kjit_array *a, *flat = NULL;
    kj_rvalue dense;
    if (kj_lazy_shape(*v, &shape) == 1)
        return true;
    if (!kj_lazy_finish(r, at, v))
        return false;
    a = v->u.object->u.array;
    if (a->layout != KJ_LAYOUT_C) {
        if (!kj_run_new_array(r, at, a->dtype, a->ndim, a->shape, a->buffer->memory, &dense) ||
            !kj_run_check(r, kjit_copy(dense.u.object->u.array, a, NULL), at))
            return false;
        kj_run_drop(v);
        *v = dense;
        a = v->u.object->u.array;
    }
    int64_t stride = (int64_t)kjit_dtype_size(a->dtype);
    bool ok = kj_run_check(r, kj_array_restride(a, 1, &a->size, &stride, &flat), at) &&
              kj_run_array(r, at, flat, &dense);
    if (ok) {
        kj_run_drop(v);
        *v = dense;
    }
    return ok;
}

/* Of f the operation and its types are told by the elements'. */
static bool cumulate(kj_run *r, const kj_rcall *c, int arg, kj_fold *f, kj_rvalue *v,
                     kj_rvalue *out)
{
    const int64_t *shape;
    bool chosen[KJIT_MAX_NDIM] = {false};
    int axis = 0, ndim = kj_lazy_shape(*v, &shape);
    if (c->args[arg].kind == KJ_R_TUPLE)
        return one_axis(r, c, arg);
    if (c->given[arg] ? !chosen_axis(r, c->spans[arg], c->args[arg], ndim, chosen)
                      : !flatten(r, c->span, v))
        return false;
    if (!kj_lazy_alone(r, c->span, *v))
        return false;
    ndim = kj_lazy_shape(*v, &shape);
    while (axis < ndim - 1 && !chosen[axis])
        axis++;
    f->elem = kj_lazy_type(*v);
    kj_fold_types(f);
    if (!kj_run_new_array(r, c->span, (kjit_dtype)f->out, ndim, shape, kj_lazy_memory(*v), out))
        return false;
    kjit_array *target = out->u.object->u.array;
    if (f->exclusive && f->op == KJ_FOLD_SUM
            ? kj_scan_launch_before(r, c->span, f, *v, axis, target)
            : kj_scan_launch(r, c->span, f, *v, axis, target))
        return true;
    kj_run_drop(out);
    return false;
}

bool kj_run_cumsum(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    kj_rvalue own;
    kj_fold f = {.op = KJ_FOLD_SUM};
    const int axis = c->id == KJ_RUN_CUMSUM, exclusive = axis + 1;
    if (c->given[exclusive] &&
        !kj_run_truth(r, c->spans[exclusive], "exclusive", c->args[exclusive], &f.exclusive))
        return false;
    if (!kj_reduce_operand(r, c, &own))
        return false;
    bool ok = cumulate(r, c, axis, &f, &own, out);
    kj_run_drop(&own);
    return ok;
}

/* ---- By a function of two: reduce(f, a, first), scan(f, a, first) ---- */

enum { ARRAY = 1, FIRST = 2, AXIS = 3, OPTION = 4 };

/* The type that f takes and gives where the elements have the type `elem`; KJ_VOID after a failure. */
static kj_dtype joined_type(kj_run *r, const kj_rcall *c, const kj_fold *f, kj_dtype elem)
{
    const char *name = f->function ? f->function->params->type->name : NULL;
    const kj_generic *g = f->function ? f->function->generics : NULL;
    kj_dtype type = g || !name ? elem : kj_type_named(name);
    const char *called = c->function.name;
    bool in_bound = !g || kj_type_in_bound(elem, g->bound);
    bool compared = f->function || kj_is_int(elem) || kj_is_float(elem);
    if (in_bound && compared && kj_converts(elem, type))
        return type;
    if (g || !f->function)
        kj_run_fail(r, KJIT_TYPE, c->spans[ARRAY], "'%s' does not work on %s", called,
                    kj_type_name(elem));
    else
        kj_run_fail(r, KJIT_TYPE, c->spans[ARRAY], "'%s' works on %s, not on an array of %s",
                    called, kj_type_name(type), kj_type_name(elem));
    if (!g && f->function)
        kj_run_hint(r, "convert it: %s(...)", kj_type_name(type));
    return KJ_VOID;
}

static bool as_numbers(kj_run *r, kj_span at, kj_rvalue v, kj_rvalue *own)
{
    *own = v;
    if (v.kind == KJ_R_ARRAY)
        return kj_run_numbers(r, at, v, own);
    kj_run_keep(v);
    return true;
}

/* What the call works on, as the type that f takes; and `first` as an array. */
static bool joined_operands(kj_run *r, kj_rcall *c, kj_fold *f, kj_rvalue *own, kj_rvalue *first)
{
    const int64_t one = 1;
    unsigned char element[KJ_RUN_ELEMENT];
    kj_rvalue plain = c->args[ARRAY];
    f->op = KJ_FOLD_BY;
    f->function = c->function.item;
    f->builtin = f->function ? KJ_NBUILTINS : (kj_builtin)(c->function.callable - KJ_NRUN);
    if (!kj_is_array(plain)) {
        kj_run_fail(r, KJIT_TYPE, c->spans[ARRAY], "%s works on arrays, not on %s",
                    kj_run_builtins[c->id].name, kj_run_kind_name(plain));
        return plain.kind == KJ_R_LIST || plain.kind == KJ_R_TUPLE
                   ? kj_run_hint(r, "array(...) makes an array of it")
                   : false;
    }
    if (!kj_lazy_alone(r, c->span, plain) || !kj_run_no_records(r, c->spans[ARRAY], plain))
        return false;
    kj_dtype elem = kj_lazy_type(plain);
    if (plain.kind == KJ_R_ARRAY && kj_is_vectors(plain.u.object->u.array))
        elem = plain.u.object->u.array->of->elem;
    kj_dtype type = joined_type(r, c, f, elem);
    if (type == KJ_VOID ||
        !(type == elem ? as_numbers(r, c->span, plain, own)
                       : kj_lazy_cast(r, c->span, type, plain, own)) ||
        !kj_run_pack(r, c->spans[FIRST], (kjit_dtype)type, c->args[FIRST], element) ||
        !kj_run_new_array(r, c->spans[FIRST], (kjit_dtype)type, 1, &one, KJIT_HOST, first))
        return false;
    f->first = first->u.object->u.array;
    kj_run_fill(f->first, element);
    return true;
}

bool kj_run_reduce_by(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    bool reduced[KJIT_MAX_NDIM], keep = false;
    kj_rvalue own, first;
    kj_fold f = {0};
    const int64_t *shape;
    if (!joined_operands(r, c, &f, &own, &first))
        return false;
    int ndim = kj_lazy_shape(own, &shape);
    bool ok = kj_reduce_axes(r, c, AXIS, ndim, reduced) &&
              (!c->given[OPTION] ||
               kj_run_truth(r, c->spans[OPTION], "keepdims", c->args[OPTION], &keep));
    if (ok)
        f.count = kj_reduce_count(shape, ndim, reduced);
    f.elem = kj_lazy_type(own);
    kj_fold_types(&f);
    ok = ok && kj_fold_value(r, c->span, &f, own, reduced, keep, out);
    kj_run_drop(&own);
    kj_run_drop(&first);
    return ok;
}

bool kj_run_scan_by(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    kj_rvalue own, first;
    kj_fold f = {0};
    if (c->given[OPTION] &&
        !kj_run_truth(r, c->spans[OPTION], "exclusive", c->args[OPTION], &f.exclusive))
        return false;
    if (!joined_operands(r, c, &f, &own, &first))
        return false;
    bool ok = cumulate(r, c, AXIS, &f, &own, out);
    kj_run_drop(&own);
    kj_run_drop(&first);
    return ok;
}
