/* Calls of the random generator, of evaluated arguments: a seed and a counter. The words come from
 * lowering (lower/tile/random.c); a range is put around them here, in integers. */
#include "sema/body/body.h"

/* An integer of any type as 64 bits; NULL after an error. */
static kj_texpr *word(kj_sema *s, const kj_operand *v, kj_builtin id, const char *what)
{
    if (kj_is_untyped(v) && !kj_is_float(kj_untyped_type(v)))
        return kj_convert_untyped(s, v, KJ_U64);
    if (v->kind == KJ_V_SCALAR && kj_is_int(v->u.scalar.e->type))
        return kj_te_convert(s, v->u.scalar.e, KJ_U64, v->span);
    if (v->kind == KJ_V_ERROR)
        return NULL;
    kj_message *m =
        kj_sema_error(s, v->span, KJ_RULE_TYPE_MISMATCH, "the %s of '%s' is an integer, not %s",
                      what, kj_builtins[id].name, kj_describe(s, v));
    if (kj_is_untyped(v) && id != KJ_BI_RANDOM_RANDINT) /* from 0.0 to 1.0 */
        kj_hint(s->diag, m, "write %s(seed, i): number i of a seed%s", kj_builtins[id].name,
                id == KJ_BI_RANDOM_UNIFORM ? ", from 0 to 1" : "");
    return NULL;
}

kj_operand kj_random_float(kj_sema *s, kj_builtin id, const kj_operand *v, kj_dtype type,
                           kj_span span)
{
    kj_texpr *args[2] = {word(s, &v[0], id, "seed"), NULL};
    args[1] = args[0] ? word(s, &v[1], id, "counter") : NULL;
    return args[0] && args[1] ? kj_scalar(kj_te_call(s, id, args, 2, type, span))
                              : kj_no_value(span);
}

/* lo + what the generator makes of 0 .. hi - lo, in the type of the two; lo when there is none. */
kj_operand kj_random_integer(kj_sema *s, kj_operand *v, kj_dtype want, kj_span span)
{
    for (int i = 0; i < 2; i++) {
        bool real = (v[i].kind == KJ_V_SCALAR && kj_is_float(v[i].u.scalar.e->type)) ||
                    (kj_is_untyped(&v[i]) && kj_is_float(kj_untyped_type(&v[i])));
        if (kj_no_number(s, &v[i], "random.randint"))
            return kj_no_value(span);
        if (real) {
            kj_sema_error(s, v[i].span, KJ_RULE_TYPE_MISMATCH,
                          "'random.randint' takes integers, not %s", kj_describe(s, &v[i]));
            return kj_no_value(span);
        }
    }
    kj_texpr *seed = word(s, &v[2], KJ_BI_RANDOM_RANDINT, "seed"),
             *counter = word(s, &v[3], KJ_BI_RANDOM_RANDINT, "counter");
    if (!seed || !counter ||
        !kj_unify(s, v, 2, kj_is_int(want) ? want : KJ_VOID, span, "'random.randint'"))
        return kj_no_value(span);
    kj_texpr *lo = kj_hold(s, v[0].u.scalar.e, "lo"), *hi = kj_hold(s, v[1].u.scalar.e, "hi");
    kj_dtype type = lo->type, bits = kj_types[type].bits == 64 ? KJ_U64 : KJ_U32;
    kj_texpr *first = kj_te_convert(s, lo, bits, span);
    kj_texpr *size = kj_te_binary(s, KJ_OP_SUB, kj_te_convert(s, hi, bits, span), first, span);
    kj_texpr *range = kj_te_select(s, kj_te_binary(s, KJ_OP_LT, lo, hi, span), size,
                                   kj_te_const(s, kj_int(bits, 0), span), span);
    kj_texpr *args[3] = {seed, counter, range};
    kj_texpr *more = kj_te_call(s, KJ_BI_RANDOM_RANDINT, args, 3, bits, span);
    return kj_scalar(kj_te_convert(s, kj_te_binary(s, KJ_OP_ADD, first, more, span), type, span));
}
