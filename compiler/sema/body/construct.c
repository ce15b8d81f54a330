/* Calls whose arguments make values of several scalars, and arguments that are types. */
#include "sema/sema.h"

kj_operand kj_construct(kj_sema *s, const kj_expr *e, const kj_aggregate *of)
{
    int n = kj_count(e->u.call.args);
    kj_operand v[KJ_MAX_PARTS];
    for (const kj_expr *arg = e->u.call.args; arg; arg = arg->next) {
        if (arg->keyword) {
            kj_sema_error(s, arg->keyword_span, "keyword",
                          "'%s' takes its arguments by place, without names", of->name);
            return kj_no_value(e->span);
        }
    }
    kj_expr_list(s, e->u.call.args, v, n < KJ_MAX_PARTS ? n : KJ_MAX_PARTS);
    return of->kind == KJ_COMPLEX ? kj_construct_complex(s, e, of, v, n)
                                  : kj_construct_vector(s, e, of, v, n);
}

kj_operand kj_vector_call(kj_sema *s, const kj_expr *e, kj_builtin id)
{
    kj_operand v[2];
    int n = kj_count(e->u.call.args), wanted = id == KJ_BI_DOT ? 2 : 1;
    if (n != wanted) {
        kj_arity_error(s, e, kj_builtins[id].name, kj_builtin_words(s, id), wanted, wanted);
        return kj_no_value(e->span);
    }
    kj_expr_list(s, e->u.call.args, v, n);
    return kj_vector_builtin(s, e, id, v);
}

/* conj, phase, polar, rect */
kj_operand kj_complex_call(kj_sema *s, const kj_expr *e, kj_builtin id, kj_dtype want)
{
    kj_operand v[2];
    int n = kj_count(e->u.call.args), wanted = id == KJ_BI_RECT ? 2 : 1;
    if (n != wanted) {
        kj_arity_error(s, e, kj_builtins[id].name, kj_builtin_words(s, id), wanted, wanted);
        return kj_no_value(e->span);
    }
    kj_expr_list(s, e->u.call.args, v, n);
    if (id == KJ_BI_RECT)
        return kj_complex_rect(s, e, want, v);
    for (int i = 0; i < n; i++)
        if (v[i].kind == KJ_V_ERROR)
            return v[i];
    return kj_complex_builtin(s, e, id, want, v, n);
}

kj_dtype kj_dtype_argument(kj_sema *s, const kj_expr *e)
{
    if (e->kind == KJ_E_NAME)
        return kj_type_by_name(s, e->u.name, e->span);
    if (e->kind == KJ_E_MEMBER && kj_expr_any(s, e, KJ_VOID).kind == KJ_V_ERROR)
        return KJ_VOID; /* np.float32: said what to write */
    kj_message *m = kj_sema_error(s, e->span, "not-a-type", "a type is expected here");
    kj_hint(s->diag, m, "types are bool, i8 to i64, u8 to u64, f16, bf16, f32 and f64");
    return KJ_VOID;
}
