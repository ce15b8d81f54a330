/* Constants of the file, as kernels have them: the same numbers of the same types. In: what sema found; out: a value,
 * made once a run. */
#include "run/run.h"

/* Kernels have the elements in their code: nothing may write them here. */
static bool make_fixed(kj_rvalue v)
{
    if (v.kind == KJ_R_ARRAY) {
        v.u.object->fixed = true;
        v.u.object->u.array->buffer->read_only = true;
    }
    return true;
}

static bool from_bytes(kj_run *r, kj_span at, const kj_constant *c, kj_rvalue *out)
{
    unsigned char element[KJ_RUN_ELEMENT];
    kjit_dtype dtype = (kjit_dtype)c->type;
    if (c->ndim == 0 && kj_is_complex_type(c->type)) {
        kj_constant_write(c, element);
        *out = kj_run_load(dtype, element);
        return true;
    }
    if (!kj_run_new_array(r, at, dtype, c->ndim, c->shape, KJIT_HOST, out))
        return false;
    kj_constant_write(c, kjit_array_data(out->u.object->u.array));
    return make_fixed(*out);
}

static bool from_constant(kj_run *r, kj_span at, const kj_constant *c, kj_rvalue *out);

static bool from_parts(kj_run *r, kj_span at, const kj_constant *c, kj_rvalue *items)
{
    for (int i = 0; i < c->n; i++) {
        kj_constant part;
        if (!kj_constant_part(c, i, &part) || !from_constant(r, at, &part, &items[i]))
            return false;
    }
    return true;
}

static bool from_constant(kj_run *r, kj_span at, const kj_constant *c, kj_rvalue *out)
{
    kj_rvalue part[2];
    switch (c->kind) {
    case KJ_CONSTANT_NUMBER:
        *out = c->typed ? kj_run_typed(c->value) : kj_run_from_value(c->value);
        return true;
    case KJ_CONSTANT_COMPLEX:
        if (!from_parts(r, at, c, part))
            return false;
        *out = kj_run_complex(kj_run_as_float(part[0]), kj_run_as_float(part[1]));
        return true;
    case KJ_CONSTANT_BYTES: return from_bytes(r, at, c, out);
    default:
        return kj_run_sequence(r, at, KJ_R_TUPLE, c->n, out) &&
               from_parts(r, at, c, out->u.object->u.seq.items);
    }
}

bool kj_run_default(kj_run *r, const kj_param_decl *p, kj_rvalue *out)
{
    kj_constant c;
    if (!kj_constant_of_default(p, &c))
        return kj_run_fail(r, KJIT_TYPE, p->span, "'%s' has no value", p->name);
    if (!from_constant(r, p->init->span, &c, out))
        return false;
    out->literal = true;
    return true;
}

bool kj_run_constant(kj_run *r, const kj_item *item, kj_rvalue *out)
{
    kj_constant c;
    kj_rvalue *value = &r->consts[item->number];
    if (value->kind == KJ_R_NONE) {
        if (!kj_constant_of(item, &c))
            return kj_run_fail(r, KJIT_TYPE, item->name_span, "'%s' has no value", item->name);
        if (!from_constant(r, item->name_span, &c, value))
            return false;
    }
    *out = *value;
    out->literal = kj_run_is_number(*out) || kj_run_is_complex(*out);
    kj_run_keep(*out);
    return true;
}
