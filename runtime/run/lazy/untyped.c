/* Choices of numbers: where(c, 0.1, 0.2) has no type until it meets one, as in kernels. In: operators
 * and functions of such choices and of numbers; out: the choice of what they make of each number. */
#include "run/lazy/lazy.h"

#include <string.h>

enum { MAX_LEAVES = 64 }; /* a choice of more takes its type at once */

bool kj_lazy_is_untyped(kj_rvalue v)
{
    return v.kind == KJ_R_LAZY ? v.u.object->u.lazy->untyped
                               : kj_run_is_number(v) && v.kind != KJ_R_BOOL;
}

bool kj_lazy_each_number(kj_rvalue v, kj_lazy_number_fn *visit, void *ctx)
{
    if (v.kind != KJ_R_LAZY)
        return visit(ctx, v);
    const kj_lazy *e = v.u.object->u.lazy;
    return kj_lazy_each_number(e->args[1], visit, ctx) &&
           kj_lazy_each_number(e->args[2], visit, ctx);
}

/* One that is a choice; n: all are numbers, or one is neither. */
static int choice_among(const kj_rvalue *v, int n)
{
    int at = n, leaves = 1;
    for (int i = n; i-- > 0;) {
        if (!kj_lazy_is_untyped(v[i]))
            return n;
        if (v[i].kind == KJ_R_LAZY) {
            leaves *= v[i].u.object->u.lazy->leaves;
            at = i;
        }
    }
    return leaves <= MAX_LEAVES ? at : n;
}

bool kj_lazy_are_untyped(const kj_rvalue *v, int n)
{
    return choice_among(v, n) < n;
}

static bool of_numbers(kj_run *r, kj_span at, const kj_lazy_fn *f, const kj_rvalue *v, int n,
                       kj_rvalue *out)
{
    if (!f->is_op)
        return kj_run_math(r, at, f->builtin, v, n, out);
    return n == 1 ? kj_run_unary_number(r, at, f->op, v[0], out)
                  : kj_run_binary_numbers(r, at, f->op, v[0], v[1], out);
}

bool kj_lazy_of_choices(kj_run *r, kj_span at, const kj_lazy_fn *f, const kj_rvalue *v, int n,
                        kj_rvalue *out)
{
    int chosen = choice_among(v, n);
    kj_rvalue args[KJ_LAZY_OPERANDS], made[3];
    if (chosen == n)
        return of_numbers(r, at, f, v, n, out);
    const kj_lazy *e = v[chosen].u.object->u.lazy;
    made[0] = e->args[0];
    memcpy(args, v, (size_t)n * sizeof *v);
    args[chosen] = e->args[1];
    if (!kj_lazy_of_choices(r, at, f, args, n, &made[1]))
        return false;
    args[chosen] = e->args[2];
    bool ok = kj_lazy_of_choices(r, at, f, args, n, &made[2]);
    if (ok) {
        ok = kj_lazy_choice(r, at, KJ_X_WHERE, "where", (kj_span[]){at, at, at}, made, out);
        kj_run_drop(&made[2]);
    }
    kj_run_drop(&made[1]);
    return ok;
}
