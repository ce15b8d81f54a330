/* Values to types: f32(x), int(x), and the types that let, var and param declare. In: a value; out:
 * the value as that type, or a failure that says why not. */
#include "run/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

kjit_dtype kj_run_type_in(const kj_run *r, const kj_file *file, const char *name)
{
    const kj_item *item = kj_item_named(file, name);
    while (item && item->kind == KJ_I_TYPE) {
        name = item->type->name && item->type->ndim == 0 ? item->type->name : "";
        item = kj_item_named(item->file, name);
    }
    const kj_aggregate *record = item ? kj_record_of(r->program, item) : NULL;
    return (kjit_dtype)(record ? record->type : kj_type_named(name));
}

kjit_dtype kj_run_type(const kj_run *r, const char *name)
{
    return kj_run_type_in(r, r->file, name);
}

bool kj_run_cast(kj_run *r, kj_span at, kjit_dtype to, kj_rvalue v, kj_rvalue *out)
{
    if (kj_is_complex_type((kj_dtype)to) && (kj_run_is_number(v) || kj_run_is_complex(v))) {
        *out = kj_run_to_complex(to, v);
        return true;
    }
    if (!kj_run_is_number(v) || !kj_is_scalar((kj_dtype)to))
        return kj_run_fail(r, KJIT_TYPE, at, "%s cannot be converted to %s", kj_run_kind_name(v),
                           kj_dtype_name(r->ctx, to));
    *out = kj_run_typed(kj_fold_convert(kj_run_to_value(v), (kj_dtype)to));
    return true;
}

static bool out_of_range(kj_run *r, kj_span at, const char *what, const char *type, kj_rvalue v)
{
    return kj_run_fail(r, KJIT_TYPE, at, "%s is of type %s: %s is out of its range", what, type,
                       kj_run_short(v).text);
}

static bool convert_scalar(kj_run *r, kj_span at, kj_dtype to, const char *what, kj_rvalue *v)
{
    const char *name = kj_dtype_name(r->ctx, (kjit_dtype)to);
    bool is_bool = v->kind == KJ_R_BOOL;
    if (kj_is_complex_type(to) && !is_bool && (kj_run_is_number(*v) || kj_run_is_complex(*v))) {
        if (!kj_run_parts_fit(*v, kj_aggregate_of(to)->elem))
            return out_of_range(r, at, what, name, *v);
        *v = kj_run_to_complex((kjit_dtype)to, *v);
        return true;
    }
    if (!kj_run_is_number(*v) || !kj_is_scalar(to) || is_bool != (to == KJ_BOOL) ||
        (v->kind == KJ_R_FLOAT && !kj_is_float(to)))
        return kj_run_fail(r, KJIT_TYPE, at, "%s is of type %s: %s does not fit", what, name,
                           kj_run_kind_name(*v));
    kj_value value = kj_run_to_value(*v);
    if (!is_bool && !kj_value_fits(value, to))
        return out_of_range(r, at, what, name, *v);
    *v = kj_run_typed(kj_fold_convert(value, to));
    return true;
}

/* A record of that type stays what it is, an array's element too; a tuple becomes one. */
static bool convert_record(kj_run *r, kj_span at, const kj_aggregate *of, kj_rvalue *v)
{
    kj_rvalue made;
    if (kj_run_is_record(*v) && v->u.object->u.array->of == of && v->u.object->u.array->ndim == 0)
        return true;
    if (!kj_run_record_of(r, at, of, *v, &made))
        return false;
    kj_run_drop(v);
    *v = made;
    return true;
}

static void put_type(kj_text *t, const char *name, int ndim)
{
    kj_text_printf(t, "%s[%.*s]%s", name, ndim > 0 ? ndim - 1 : 0, ",,,,,",
                   ndim > 0 ? "" : " without axes");
}

bool kj_run_is_of(kj_run *r, const kj_type_ref *type, kj_rvalue v, kj_mismatch *out)
{
    char shape[KJ_SHAPE_TEXT];
    kj_dtype elem = (kj_dtype)kj_run_type(r, type->name);
    const kjit_array *a = v.kind == KJ_R_ARRAY ? v.u.object->u.array : NULL;
    if (a && (kj_dtype)a->dtype == elem && a->ndim == type->ndim)
        return true;
    bool same = a && (kj_dtype)a->dtype == elem;
    *out = (kj_mismatch){.axes = same ? a->ndim - type->ndim : 0,
                         .converts = a && a->ndim == type->ndim && kj_is_scalar(elem) &&
                                     kj_is_scalar((kj_dtype)a->dtype)};
    put_type(&out->wanted, type->name, type->ndim);
    if (a)
        put_type(&out->got, kj_dtype_name(r->ctx, a->dtype), a->ndim);
    if (a && a->ndim != type->ndim)
        kj_text_printf(&out->got, " of shape %s", kj_shape_text(a->ndim, a->shape, shape));
    if (!a)
        kj_text_puts(&out->got, kj_run_kind_name(v));
    return false;
}

bool kj_run_hint_axes(kj_run *r, const kj_mismatch *m)
{
    return kj_run_hint(r, m->axes > 0
                              ? "a.ravel() makes one axis of all, a.reshape(h, -1) fewer; a[i] and "
                                "a[:, i] have one less"
                              : "a.reshape(h, w) makes axes of it, with -1 for what is left");
}

bool kj_run_end_mismatch(kj_run *r, kj_span at, kj_mismatch *m)
{
    if (m->wanted.failed || m->got.failed)
        kj_run_no_memory(r, at); /* says nothing behind another failure */
    kj_text_free(&m->wanted);
    kj_text_free(&m->got);
    return false;
}

static bool check_array(kj_run *r, kj_span at, const kj_type_ref *type, const char *what,
                        kj_rvalue v)
{
    kj_mismatch m;
    if (kj_run_is_of(r, type, v, &m))
        return true;
    if (!m.wanted.failed && !m.got.failed) {
        kj_run_fail(r, KJIT_TYPE, at, "%s is declared as %s, and its value is %s", what,
                    m.wanted.data, m.got.data);
        if (m.axes != 0)
            kj_run_hint_axes(r, &m);
        else if (m.converts)
            kj_run_hint(r, "%s(...) makes a copy of that type", type->name);
        else if (v.kind == KJ_R_LIST || v.kind == KJ_R_TUPLE)
            kj_run_hint(r, "write array(%s, %s)", kj_quoted(r->source, at, false, "...").text,
                        type->name);
    }
    return kj_run_end_mismatch(r, at, &m);
}

/* The tuple gets items of its own, to be converted. */
static bool own_items(kj_run *r, kj_span at, kj_rvalue *v)
{
    const kj_robject *from = v->u.object;
    kj_rvalue made;
    if (!kj_run_sequence(r, at, KJ_R_TUPLE, from->u.seq.n, &made))
        return false;
    for (int64_t i = 0; i < from->u.seq.n; i++) {
        made.u.object->u.seq.items[i] = from->u.seq.items[i];
        kj_run_keep(from->u.seq.items[i]);
    }
    kj_run_drop(v);
    *v = made;
    return true;
}

static bool convert_tuple(kj_run *r, kj_span at, const kj_type_ref *type, const char *what,
                          kj_rvalue *v)
{
    int64_t n = 0, i = 0;
    for (const kj_type_ref *part = type->parts; part; part = part->next)
        n++;
    if (v->kind != KJ_R_TUPLE || v->u.object->u.seq.n != n)
        return kj_run_fail(r, KJIT_TYPE, at, "%s is a tuple of %lld", what, (long long)n);
    bool ok = own_items(r, at, v);
    for (const kj_type_ref *part = type->parts; part && ok; part = part->next)
        ok = kj_run_convert(r, at, part, what, &v->u.object->u.seq.items[i++]);
    return ok;
}

/* A vector is a tuple of numbers here. */
static bool convert_vector(kj_run *r, kj_span at, const kj_aggregate *of, const char *what,
                           kj_rvalue *v)
{
    if (v->kind != KJ_R_TUPLE || v->u.object->u.seq.n != of->n)
        return kj_run_fail(r, KJIT_TYPE, at, "%s is of type %s, a tuple of %d numbers", what,
                           of->name, of->n);
    bool ok = own_items(r, at, v);
    for (int i = 0; i < of->n && ok; i++)
        ok = convert_scalar(r, at, of->elem, what, &v->u.object->u.seq.items[i]);
    return ok;
}

bool kj_run_convert(kj_run *r, kj_span at, const kj_type_ref *type, const char *what, kj_rvalue *v)
{
    if (!type->name)
        return convert_tuple(r, at, type, what, v);
    kj_dtype to = (kj_dtype)kj_run_type(r, type->name);
    if (to == KJ_VOID)
        return kj_run_fail(r, KJIT_TYPE, type->span, "there is no type '%s'", type->name);
    const kj_aggregate *of = kj_dtype_aggregate(r->ctx, (kjit_dtype)to);
    if (type->ndim == 0 && kj_is_record(of))
        return convert_record(r, at, of, v);
    if (type->ndim == 0 && kj_is_vector(of))
        return convert_vector(r, at, of, what, v);
    if (type->ndim == 0)
        return convert_scalar(r, at, to, what, v);
    return check_array(r, at, type, what, *v);
}

/* ---- int(x), float(x) ---- */

static bool not_a_number(kj_run *r, const kj_rcall *c, const char *type)
{
    if (c->args[0].kind == KJ_R_STRING)
        return kj_run_fail(r, KJIT_TYPE, c->spans[0], "\"%s\" is not %s",
                           c->args[0].u.object->u.string.text, type);
    return kj_run_fail(r, KJIT_TYPE, c->spans[0], "%s cannot be made %s",
                       kj_run_kind_name(c->args[0]), type);
}

bool kj_run_make_int(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    kj_rvalue v = c->args[0];
    if (v.kind == KJ_R_STRING) {
        const char *text = v.u.object->u.string.text;
        kj_rvalue parsed = kj_run_parse_number(text, v.u.object->u.string.len);
        if (parsed.kind != KJ_R_INT)
            return not_a_number(r, c, "an int");
        *out = parsed;
        return true;
    }
    if (!kj_run_is_number(v))
        return not_a_number(r, c, "an int");
    if (v.kind == KJ_R_FLOAT) {
        double f = trunc(v.u.f);
        if (!(f >= -0x1p63 && f < 0x1p63))
            return kj_run_fail(r, KJIT_TYPE, c->spans[0], "%s has no integer part in 64 bits",
                               kj_run_short(v).text);
        *out = kj_run_int((int64_t)f);
        return true;
    }
    *out = v.kind == KJ_R_INT && v.dtype == KJIT_U64 ? kj_run_uint((uint64_t)v.u.i)
                                                     : kj_run_int(v.u.i); /* plain */
    return true;
}

bool kj_run_make_float(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    kj_rvalue v = c->args[0];
    if (v.kind == KJ_R_STRING)
        v = kj_run_parse_number(v.u.object->u.string.text, v.u.object->u.string.len);
    if (!kj_run_is_number(v) || (c->args[0].kind == KJ_R_STRING && v.kind == KJ_R_BOOL))
        return not_a_number(r, c, "a float");
    *out = kj_run_float(kj_run_as_float(v));
    return true;
}
