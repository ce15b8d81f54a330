/* Choices of numbers: where(c, 0.1, 0.2) has no type until it meets one, as in kernels. In: operators
 * and functions of such choices and of numbers; out: the choice of what they make of each number. */
#include "run/lazy/lazy.h"

#include <string.h>

enum { MAX_NUMBERS = 64 }; /* a choice of more takes its type at once */

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

static bool count(void *n, kj_rvalue number)
{
    (void)number;
    ++*(int *)n;
    return true;
}

static int count_numbers(kj_rvalue v)
{
    int n = 0;
    kj_lazy_each_number(v, count, &n);
    return n;
}

static bool is_real(kj_rvalue untyped)
{
    return kj_is_float(kj_lazy_type_alone(untyped));
}

/* Numbers beside a float are floats. */
static bool as_float(kj_run *r, kj_span at, kj_rvalue v, kj_rvalue *out)
{
    if (v.kind != KJ_R_LAZY) {
        *out = kj_run_float(kj_run_as_float(v));
        out->literal = v.literal;
        return true;
    }
    const kj_lazy *e = v.u.object->u.lazy;
    kj_rvalue arms[3] = {e->args[0]};
    if (!as_float(r, at, e->args[1], &arms[1]))
        return false;
    bool ok = as_float(r, at, e->args[2], &arms[2]);
    if (ok) {
        ok = kj_lazy_untyped_choice(r, at, arms, out);
        kj_run_drop(&arms[2]);
    }
    kj_run_drop(&arms[1]);
    return ok;
}

bool kj_lazy_untyped_choice(kj_run *r, kj_span at, const kj_rvalue v[3], kj_rvalue *out)
{
    kj_rvalue arms[3] = {v[0], v[1], v[2]};
    bool mixed = is_real(v[1]) != is_real(v[2]);
    int whole = is_real(v[1]) ? 2 : 1;
    if (mixed && !as_float(r, at, v[whole], &arms[whole]))
        return false;
    kj_lazy e = kj_lazy_node(KJ_X_WHERE, kj_lazy_types_alone(arms + 1, 2), arms, 3, KJ_VOID);
    e.types[0] = KJ_BOOL;
    e.types[1] = e.types[2] = e.type;
    e.untyped = true;
    bool ok = kj_lazy_make(r, at, &e, out);
    if (mixed)
        kj_run_drop(&arms[whole]);
    return ok;
}

bool kj_lazy_stays_untyped(const kj_rvalue arms[2])
{
    return kj_lazy_is_untyped(arms[0]) && kj_lazy_is_untyped(arms[1]) &&
           count_numbers(arms[0]) + count_numbers(arms[1]) <= MAX_NUMBERS;
}

/* The first that is a choice; n: all are numbers, one is neither, or there would be too many. */
static int choice_among(const kj_rvalue *v, int n)
{
    int at = n, numbers = 1;
    for (int i = n; i-- > 0;) {
        if (!kj_lazy_is_untyped(v[i]))
            return n;
        numbers *= count_numbers(v[i]);
        if (v[i].kind == KJ_R_LAZY)
            at = i;
    }
    return numbers <= MAX_NUMBERS ? at : n;
}

bool kj_lazy_are_untyped(const kj_rvalue *v, int n)
{
    return choice_among(v, n) < n;
}

/* ---- Of numbers, as kernels have it of literals ---- */

static bool any_real(const kj_rvalue *v, int n)
{
    bool real = false;
    for (int i = 0; i < n; i++)
        real |= v[i].kind == KJ_R_FLOAT;
    return real;
}

static bool fold_op(kj_run *r, kj_span at, kj_op op, const kj_rvalue *v, int n, kj_rvalue *out)
{
    kj_op_class class = kj_ops[op].class;
    bool division = op == KJ_OP_FLOORDIV || op == KJ_OP_MOD;
    if (n == 1)
        return kj_run_unary_number(r, at, op, v[0], out);
    if (any_real(v, 2) && class != KJ_OPS_BITS && class != KJ_OPS_SHIFT) {
        *out =
            kj_run_from_value(kj_fold_literals(op, kj_run_to_value(v[0]), kj_run_to_value(v[1])));
        return true;
    }
    if (division && v[1].u.i == 0) { /* where no element may be divided */
        *out = kj_run_int(0);
        return true;
    }
    return kj_run_binary_numbers(r, at, op, v[0], v[1], out);
}

static bool fold_builtin(kj_builtin id, const kj_rvalue *v, int n, kj_rvalue *out)
{
    kj_value values[KJ_LAZY_OPERANDS], folded;
    for (int i = 0; i < n; i++)
        values[i] = kj_run_to_value(v[i]);
    if (!kj_fold_builtin_literals(id, values, n, &folded))
        return false;
    *out = kj_run_from_value(folded);
    return true;
}

/* Stops at one beyond i64, which decides more than others do. */
static bool note_number(void *number, kj_rvalue v)
{
    *(kj_rvalue *)number = v;
    return v.kind != KJ_R_INT || v.dtype != KJIT_U64;
}

bool kj_lazy_keeps_untyped(kj_builtin id, const kj_rvalue *v, int n)
{
    kj_rvalue numbers[KJ_LAZY_OPERANDS], unused;
    if (!kj_lazy_are_untyped(v, n))
        return false;
    for (int i = 0; i < n; i++)
        kj_lazy_each_number(v[i], note_number, &numbers[i]);
    return fold_builtin(id, numbers, n, &unused);
}

/* ---- Of choices ---- */

/* v[1] where v[0], else v[2]; of numbers, or of the answers to comparisons. */
static bool choice_between(kj_run *r, kj_span at, const kj_rvalue v[3], kj_rvalue *out)
{
    if (!kj_lazy_is_bool(v[1]))
        return kj_lazy_choice(r, at, KJ_X_WHERE, "where", (kj_span[]){at, at, at}, v, out);
    kj_lazy e = kj_lazy_node(KJ_X_WHERE, KJ_BOOL, v, 3, KJ_BOOL);
    return kj_lazy_make(r, at, &e, out);
}

static bool of_choices(kj_run *r, kj_span at, const kj_lazy_fn *f, const kj_rvalue *v, int n,
                       kj_rvalue *out)
{
    int chosen = choice_among(v, n);
    kj_rvalue args[KJ_LAZY_OPERANDS], made[3];
    if (chosen == n && !f->is_op)
        return fold_builtin(f->builtin, v, n, out) ||
               kj_run_fail(r, KJIT_TYPE, at, "'%s' does not work on these numbers",
                           kj_builtins[f->builtin].name);
    if (chosen == n)
        return fold_op(r, at, f->op, v, n, out);
    const kj_lazy *e = v[chosen].u.object->u.lazy;
    made[0] = e->args[0];
    memcpy(args, v, (size_t)n * sizeof *v);
    args[chosen] = e->args[1];
    if (!of_choices(r, at, f, args, n, &made[1]))
        return false;
    args[chosen] = e->args[2];
    bool ok = of_choices(r, at, f, args, n, &made[2]);
    if (ok) {
        ok = choice_between(r, at, made, out);
        kj_run_drop(&made[2]);
    }
    kj_run_drop(&made[1]);
    return ok;
}

/* A condition that would stand in many places is computed first, where it is no small one. */
static bool compute_conditions(kj_run *r, kj_span at, kj_rvalue v)
{
    enum { SMALL = 4 };
    if (v.kind != KJ_R_LAZY)
        return true;
    kj_lazy *e = v.u.object->u.lazy;
    kj_rvalue *test = &e->args[0];
    bool large = test->kind == KJ_R_LAZY && test->u.object->u.lazy->leaves > SMALL;
    return (!large || kj_lazy_finish(r, at, test)) && compute_conditions(r, at, e->args[1]) &&
           compute_conditions(r, at, e->args[2]);
}

bool kj_lazy_of_choices(kj_run *r, kj_span at, const kj_lazy_fn *f, const kj_rvalue *v, int n,
                        kj_rvalue *out)
{
    int choices = 0;
    for (int i = 0; i < n; i++)
        choices += v[i].kind == KJ_R_LAZY;
    for (int i = 0; i < n && choices > 1; i++)
        if (!compute_conditions(r, at, v[i]))
            return false;
    return of_choices(r, at, f, v, n, out);
}

bool kj_lazy_retyped(kj_run *r, kj_span at, kj_rvalue v, kj_dtype type, kj_rvalue *out)
{
    const kj_lazy *e = v.u.object->u.lazy;
    kj_lazy typed = kj_lazy_node(KJ_X_WHERE, type, e->args, 3, type);
    typed.types[0] = KJ_BOOL;
    return kj_lazy_make(r, at, &typed, out);
}
