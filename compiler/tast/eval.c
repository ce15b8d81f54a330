/* Typed expressions on the host: requires and shared shapes, with the launch's values from a
 * kj_eval_env. */
#include "tast/tast.h"

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
    kj_value v[KJ_BUILTIN_ARGS];
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
    case KJ_TE_BITS:
        if (!kj_eval(e->u.unary.arg, env, v))
            return false;
        *out = kj_fold_bits(v[0], e->type);
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

/* ---- Of a kernel ---- */

/* An extent as it was before it became an i64. */
static bool eval_extent(const kj_texpr *e, const kj_eval_env *env, kj_value *out)
{
    bool wide = e->kind == KJ_TE_CONVERT && e->u.unary.arg->type == KJ_U64;
    return kj_eval(wide ? e->u.unary.arg : e, env, out);
}

/* Adds the bytes of an array; false: they are none, by this extent. */
static bool add_bytes(const kj_tarray *a, const kj_eval_env *env, int64_t *total, kj_value *extent)
{
    int64_t bytes = kj_elem_size(a);
    for (int d = 0; d < a->ndim; d++) {
        *extent = kj_int(KJ_I64, -1);
        if (!eval_extent(a->shape[d], env, extent) || !kj_value_fits(*extent, KJ_I64) ||
            extent->i < 0 || __builtin_mul_overflow(bytes, extent->i, &bytes))
            return false;
    }
    return bytes <= INT64_MAX - 63 &&
           !__builtin_add_overflow(*total, (bytes + 63) / 64 * 64, total);
}

int64_t kj_shared_bytes(const kj_kernel_info *info, const kj_eval_env *env, kj_shared_fault *fault)
{
    const kj_tkernel *kernel = info->typed;
    int64_t total = 0;
    for (int i = 0; i < kernel->nroots; i++) {
        const kj_tarray *a = kernel->roots[i];
        kj_value extent;
        if (a->space != KJ_SHARED || add_bytes(a, env, &total, &extent))
            continue;
        if (fault)
            *fault = (kj_shared_fault){a->name, extent};
        return -1;
    }
    return total;
}

/* Of a test that does not hold, the operand of `and` that does not. Those of a < b < c stay
 * together: the second begins within the first. */
static const kj_texpr *failed_part(const kj_texpr *test, const kj_eval_env *env)
{
    while (test->kind == KJ_TE_LOGIC && !test->u.logic.is_or) {
        const kj_texpr *first = test->u.logic.lhs, *second = test->u.logic.rhs;
        kj_value holds;
        if (second->span.begin < first->span.end || !kj_eval(first, env, &holds))
            break;
        test = holds.u ? second : first;
    }
    return test;
}

bool kj_requires_hold(const kj_kernel_info *kernel, const kj_eval_env *env, kj_span *failed)
{
    for (const kj_trequire *r = kernel->typed->requires; r; r = r->next) {
        kj_value holds;
        *failed = (kj_span){0};
        if (!kj_eval(r->test, env, &holds))
            return false;
        if (!holds.u) {
            *failed = failed_part(r->test, env)->span;
            return false;
        }
    }
    return true;
}
