/* Typed expressions on the host: requires and shared shapes, with the launch's values from a
 * kj_eval_env. */
#include "sema/sema_impl.h"

static bool eval_all(const kj_eval_env *env, kj_texpr *const *e, int n, kj_value *out)
{
    for (int i = 0; i < n; i++)
        if (!kj_eval(e[i], env, &out[i]))
            return false;
    return true;
}

static bool eval_index(const kj_texpr *e, const kj_eval_env *env, kj_value *out)
{
    if (e->u.index.which != KJ_BLOCK_DIM && e->u.index.which != KJ_GRID_DIM)
        return false;
    *out = kj_int(KJ_I64, env->index(env->ctx, e->u.index.which, e->u.index.axis));
    return true;
}

static bool eval_choice(const kj_texpr *test, const kj_texpr *yes, const kj_texpr *no,
                        const kj_eval_env *env, kj_value *out)
{
    if (!kj_eval(test, env, out))
        return false;
    const kj_texpr *chosen = out->u ? yes : no;
    return !chosen || kj_eval(chosen, env, out);
}

bool kj_eval(const kj_texpr *e, const kj_eval_env *env, kj_value *out)
{
    kj_value v[3];
    switch (e->kind) {
    case KJ_TE_CONST: *out = e->u.value; return true;
    case KJ_TE_VAR:
        if (e->u.var->param < 0)
            return false;
        *out = env->param(env->ctx, e->u.var->param);
        return true;
    case KJ_TE_DIM:
        if (e->u.dim.array->param < 0)
            return false;
        *out = kj_int(KJ_I64,
                      env->dim(env->ctx, e->u.dim.array->param, e->u.dim.axis, e->u.dim.stride));
        return true;
    case KJ_TE_ADDRESS: return false;
    case KJ_TE_INDEX: return eval_index(e, env, out);
    case KJ_TE_UNARY:
        if (!kj_eval(e->u.unary.arg, env, v))
            return false;
        *out = kj_fold_unary(e->u.unary.op, v[0]);
        return true;
    case KJ_TE_CONVERT:
        if (!kj_eval(e->u.unary.arg, env, v))
            return false;
        *out = kj_fold_convert(v[0], e->type);
        return true;
    case KJ_TE_BINARY:
        if (!kj_eval(e->u.binary.lhs, env, &v[0]) || !kj_eval(e->u.binary.rhs, env, &v[1]))
            return false;
        *out = kj_fold_binary(e->u.binary.op, v[0], v[1]);
        return true;
    case KJ_TE_LOGIC: /* NULL: the left side decides */
        return eval_choice(e->u.logic.lhs, e->u.logic.is_or ? NULL : e->u.logic.rhs,
                           e->u.logic.is_or ? e->u.logic.rhs : NULL, env, out);
    case KJ_TE_SELECT:
        return eval_choice(e->u.select.test, e->u.select.yes, e->u.select.no, env, out);
    case KJ_TE_FMA:
        if (!kj_eval(e->u.fma.a, env, &v[0]) || !kj_eval(e->u.fma.b, env, &v[1]) ||
            !kj_eval(e->u.fma.c, env, &v[2]))
            return false;
        return kj_fold_builtin(KJ_BI_FMA, 0, v, 3, out);
    case KJ_TE_CALL:
        return eval_all(env, e->u.call.args, e->u.call.nargs, v) &&
               kj_fold_builtin(e->u.call.id, e->u.call.part, v, e->u.call.nargs, out);
    case KJ_TE_LOAD:
    case KJ_TE_ATOMIC:
    case KJ_TE_INLINE: return false;
    }
    return false;
}
