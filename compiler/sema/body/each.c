/* for loops over arrays: for v in a, for i, v in enumerate(a), for x, y in zip(a, b). They are loops over
 * the numbers of the elements along the first axis, each of which begins with what is there. */
#include "sema/body/body.h"

static bool is_builtin(kj_sema *s, const kj_expr *e, kj_builtin id)
{
    const kj_symbol *callee = e->kind == KJ_E_CALL ? kj_named(s, e->u.call.callee) : NULL;
    return callee && callee->kind == KJ_SYM_BUILTIN && callee->builtin == id;
}

static bool refuse(kj_sema *s, const kj_expr *e, const kj_operand *v)
{
    if (v->kind == KJ_V_ERROR)
        return false;
    kj_message *m =
        kj_sema_error(s, e->span, KJ_RULE_NOT_A_RANGE,
                      "a for loop runs over range(...) or an array, not %s", kj_describe(s, v));
    if (v->kind == KJ_V_SCALAR || v->kind == KJ_V_LITERAL)
        kj_hint(s->diag, m, "write for i in range(%s)", kj_source_text(s, e->span, "n"));
    return false;
}

static bool take_array(kj_sema *s, const kj_expr *e, kj_each *each)
{
    kj_operand v = kj_expr_any(s, e, KJ_VOID);
    if (v.kind != KJ_V_ARRAY)
        return refuse(s, e, &v);
    each->arrays[each->n++] = v.u.array;
    return true;
}

static bool take_arrays(kj_sema *s, const kj_expr *iter, kj_each *each)
{
    bool zip = is_builtin(s, iter, KJ_BI_ZIP);
    each->numbered = is_builtin(s, iter, KJ_BI_ENUMERATE);
    if (!zip && !each->numbered)
        return take_array(s, iter, each);
    const kj_expr *args = iter->u.call.args;
    const char *name = zip ? "zip" : "enumerate";
    int n = kj_count(args), least = zip ? 2 : 1, most = zip ? KJ_MAX_ZIPPED : 1;
    if (n < least || n > most) {
        kj_arity_error(s, iter, name, zip ? "(a, b, ...)" : "(a)", least, most);
        return false;
    }
    if (!kj_no_keywords(s, iter, name))
        return false;
    for (; args; args = args->next)
        if (!take_array(s, args, each))
            return false;
    return true;
}

static void refuse_names(kj_sema *s, const kj_stmt *st, int values, int names)
{
    kj_message *m = kj_sema_error(s, st->u.for_.names->span, KJ_RULE_TUPLE_ARITY,
                                  "this gives %d value%s a turn, and here %s %d name%s", values,
                                  values == 1 ? "" : "s", names == 1 ? "is" : "are", names,
                                  names == 1 ? "" : "s");
    if (values == 1 && names == 2)
        kj_hint(s->diag, m, "write enumerate(%s) for numbers and elements",
                kj_source_text(s, st->u.for_.iter->span, "a"));
}

bool kj_each_of(kj_sema *s, const kj_stmt *st, kj_each *each, kj_texpr *bounds[3])
{
    const kj_expr *iter = st->u.for_.iter;
    int names = 0;
    *each = (kj_each){.n = 0};
    for (const kj_name *name = st->u.for_.names; name; name = name->next)
        names++;
    if (!take_arrays(s, iter, each))
        return false;
    if (names != each->n + each->numbered) {
        refuse_names(s, st, each->n + each->numbered, names);
        return false;
    }
    kj_texpr *count = each->arrays[0]->shape[0];
    for (int i = 1; i < each->n; i++) {
        kj_texpr *args[2] = {count, each->arrays[i]->shape[0]};
        count = kj_te_call(s, KJ_BI_MIN, args, 2, KJ_I64, iter->span);
    }
    bounds[0] = kj_te_i64(s, 0, iter->span);
    bounds[1] = kj_hold(s, count, "count");
    bounds[2] = kj_te_i64(s, 1, iter->span);
    return true;
}

void kj_each_begin(kj_sema *s, const kj_name *name, const kj_each *each, kj_var *number)
{
    if (each->numbered) {
        kj_declare_value(s, name->name, name->span, KJ_ROLE_LOOP,
                         kj_scalar(kj_te_var(s, number, name->span)));
        name = name->next;
    }
    for (int i = 0; i < each->n; i++, name = name->next) {
        kj_texpr *at = kj_te_var(s, number, name->span);
        kj_operand v = kj_item_of(s, each->arrays[i], at, name->span);
        kj_declare_value(s, name->name, name->span, KJ_ROLE_LOOP,
                         kj_declared(s, name->name, name->span, false, v));
    }
}
