/* What constants are to a run block: what they are in kernels. In: a constant's value; out: numbers, tuples, bytes. */
#include <string.h>

#include "sema/file/file.h"

static void of_array(const kj_tarray *a, kj_constant *out)
{
    out->kind = KJ_CONSTANT_BYTES;
    out->type = a->of ? a->of->type : a->elem;
    out->ndim = a->ndim;
    for (int i = 0; i < a->ndim; i++)
        out->shape[i] = a->shape[i]->u.value.i;
    out->size = (size_t)(a->static_count * kj_elem_size(a));
}

static bool of_parts(const kj_operand *v, kj_constant *out)
{
    const kj_aggregate *of = v->u.tuple.of;
    kj_constant part;
    out->n = v->u.tuple.n;
    for (int i = 0; i < out->n; i++)
        if (!kj_constant_part(out, i, &part))
            return false;
    out->kind = of == &kj_complex_literal ? KJ_CONSTANT_COMPLEX
                : of && !kj_is_vector(of) ? KJ_CONSTANT_BYTES
                                          : KJ_CONSTANT_TUPLE;
    if (out->kind == KJ_CONSTANT_BYTES) {
        out->type = of->type;
        out->size = (size_t)of->size;
    }
    return true;
}

static bool of_operand(const kj_operand *v, kj_constant *out)
{
    *out = (kj_constant){.type = KJ_VOID, .of = v};
    if (kj_is_constant(v)) {
        out->kind = KJ_CONSTANT_NUMBER;
        out->typed = v->kind == KJ_V_SCALAR;
        out->value = out->typed ? v->u.scalar.e->u.value : v->u.literal;
        return true;
    }
    if (v->kind == KJ_V_TUPLE)
        return of_parts(v, out);
    if (v->kind != KJ_V_ARRAY || !v->u.array->data)
        return false;
    of_array(v->u.array, out);
    return true;
}

bool kj_constant_of(const kj_item *item, kj_constant *out)
{
    const kj_symbol *sym = kj_symbol_of(item);
    return sym && sym->kind == KJ_SYM_CONST && of_operand(&sym->value, out);
}

bool kj_constant_of_default(const kj_param_decl *p, kj_constant *out)
{
    return p->value && of_operand(p->value, out);
}

bool kj_constant_part(const kj_constant *tuple, int i, kj_constant *out)
{
    return of_operand(&tuple->of->u.tuple.items[i], out);
}

void kj_constant_write(const kj_constant *bytes, void *to)
{
    if (bytes->of->kind == KJ_V_ARRAY) {
        memcpy(to, bytes->of->u.array->data, bytes->size);
    } else {
        memset(to, 0, bytes->size);
        kj_write_parts(bytes->of, to);
    }
}
