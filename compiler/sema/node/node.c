/* Typed nodes: made here, counted here, folded where their operands are constants. */
#include <math.h>
#include <string.h>

#include "base/c_locale.h"
#include "sema/node/node.h"

/* ---- Nodes ---- */

void kj_spend(kj_sema *s, int nodes)
{
    s->nodes += nodes;
    if (s->nodes <= KJ_MAX_NODES || s->too_big || !s->frame)
        return; /* without a frame these are constants: as many as a file holds */
    s->too_big = true;
    kj_frame *f = s->frame, *call = NULL;
    for (; f; f = f->up) {
        if (f->fn >= 0) {
            s->broken[f->fn] = true;
            call = f->up ? f : call;
        }
    }
    kj_frame *saved = s->frame;
    s->frame = NULL;
    if (call) {
        kj_message *m =
            kj_sema_error(s, call->call, KJ_RULE_TOO_LARGE,
                          "the code grows past %d operations while '%s' is inlined here",
                          KJ_MAX_NODES, call->item->name);
        kj_hint(s->diag, m, "each call is a copy of the function: call it in a loop instead");
    } else {
        kj_sema_error(s, saved->item->name_span, KJ_RULE_TOO_LARGE,
                      "'%s' has more than %d operations", saved->item->name, KJ_MAX_NODES);
    }
    s->frame = saved;
}

kj_texpr *kj_te(kj_sema *s, kj_texpr_kind kind, kj_dtype type, kj_span span)
{
    kj_spend(s, 1);
    kj_texpr *e = KJ_NEW(s->arena, kj_texpr);
    e->kind = kind;
    e->type = type;
    e->span = span;
    return e;
}

kj_texpr *kj_te_const(kj_sema *s, kj_value v, kj_span span)
{
    kj_texpr *e = kj_te(s, KJ_TE_CONST, v.type, span);
    e->u.value = v;
    e->u.from = span;
    return e;
}

kj_texpr *kj_te_i64(kj_sema *s, int64_t i, kj_span span)
{
    return kj_te_const(s, kj_int(KJ_I64, i), span);
}

kj_texpr *kj_te_bool(kj_sema *s, bool b, kj_span span)
{
    return kj_te_const(s, kj_int(KJ_BOOL, b), span);
}

kj_texpr *kj_te_var(kj_sema *s, kj_var *v, kj_span span)
{
    kj_texpr *e = kj_te(s, KJ_TE_VAR, v->type, span);
    e->u.var = v;
    return e;
}

bool kj_is_const(const kj_texpr *e)
{
    return e->kind == KJ_TE_CONST;
}

bool kj_is_const_i64(const kj_texpr *e, int64_t i)
{
    return e->kind == KJ_TE_CONST && e->u.value.i == i;
}

/* Of constants whose type was asked for, or not. */
static kj_texpr *folded_to(kj_sema *s, kj_value v, bool written, kj_span span)
{
    kj_texpr *e = kj_te_const(s, v, span);
    e->written = written;
    return e;
}

kj_texpr *kj_te_binary(kj_sema *s, kj_op op, kj_texpr *a, kj_texpr *b, kj_span span)
{
    if (kj_is_const(a) && kj_is_const(b))
        return folded_to(s, kj_fold_binary(op, a->u.value, b->u.value), a->written || b->written,
                         span);
    kj_dtype type = kj_ops[op].class == KJ_OPS_COMPARE ? KJ_BOOL : a->type;
    kj_texpr *e = kj_te(s, KJ_TE_BINARY, type, span);
    e->u.binary.op = op;
    e->u.binary.lhs = a;
    e->u.binary.rhs = b;
    return e;
}

kj_texpr *kj_te_unary(kj_sema *s, kj_op op, kj_texpr *a, kj_span span)
{
    if (kj_is_const(a))
        return folded_to(s, kj_fold_unary(op, a->u.value), a->written, span);
    kj_texpr *e = kj_te(s, KJ_TE_UNARY, a->type, span);
    e->u.unary.op = op;
    e->u.unary.arg = a;
    return e;
}

kj_texpr *kj_te_convert(kj_sema *s, kj_texpr *a, kj_dtype to, kj_span span)
{
    if (a->type == to)
        return a;
    kj_warn_of_digits(s, a, to, span);
    if (kj_is_const(a))
        return kj_te_const(s, kj_fold_convert(a->u.value, to), span);
    kj_texpr *e = kj_te(s, KJ_TE_CONVERT, to, span);
    e->u.unary.arg = a;
    return e;
}

static bool is_nan(kj_value v)
{
    return kj_is_float(v.type) && v.f != v.f;
}

/* The bits of NaNs are the device's. */
kj_texpr *kj_te_bits(kj_sema *s, kj_texpr *a, kj_dtype to, kj_span span)
{
    if (a->type == to)
        return a;
    if (kj_is_const(a) && !is_nan(a->u.value)) {
        kj_value folded = kj_fold_bits(a->u.value, to);
        if (!is_nan(folded))
            return kj_te_const(s, folded, span);
    }
    kj_texpr *e = kj_te(s, KJ_TE_BITS, to, span);
    e->u.unary.arg = a;
    return e;
}

kj_texpr *kj_te_logic(kj_sema *s, bool is_or, kj_texpr *a, kj_texpr *b, kj_span span)
{
    if (kj_is_const(a))
        return (a->u.value.u != 0) == is_or ? a : b;
    if (kj_is_const(b) && (b->u.value.u != 0) != is_or)
        return a;
    kj_texpr *e = kj_te(s, KJ_TE_LOGIC, KJ_BOOL, span);
    e->u.logic.is_or = is_or;
    e->u.logic.lhs = a;
    e->u.logic.rhs = b;
    return e;
}

kj_texpr *kj_te_select(kj_sema *s, kj_texpr *test, kj_texpr *yes, kj_texpr *no, kj_span span)
{
    if (kj_is_const(test))
        return test->u.value.u ? yes : no;
    kj_texpr *e = kj_te(s, KJ_TE_SELECT, yes->type, span);
    e->u.select.test = test;
    e->u.select.yes = yes;
    e->u.select.no = no;
    return e;
}

kj_texpr *kj_te_call(kj_sema *s, kj_builtin id, kj_texpr *const *args, int nargs, kj_dtype type,
                     kj_span span)
{
    return kj_te_part(s, id, 0, args, nargs, type, span);
}

kj_texpr *kj_te_part(kj_sema *s, kj_builtin id, int part, kj_texpr *const *args, int nargs,
                     kj_dtype type, kj_span span)
{
    kj_value values[KJ_BUILTIN_ARGS] = {{.type = KJ_VOID}}, folded;
    bool constant = nargs > 0, written = false;
    for (int i = 0; i < nargs; i++) {
        written |= args[i]->written;
        constant = constant && kj_is_const(args[i]);
        if (constant)
            values[i] = args[i]->u.value;
    }
    if (constant && kj_fold_builtin(id, part, values, nargs, &folded))
        return folded_to(s, folded, written, span);
    kj_texpr *e = kj_te(s, KJ_TE_CALL, type, span);
    e->u.call.id = id;
    e->u.call.part = part;
    e->u.call.nargs = nargs;
    for (int i = 0; i < nargs; i++)
        e->u.call.args[i] = args[i];
    return e;
}

kj_texpr *kj_i64_add(kj_sema *s, kj_texpr *a, kj_texpr *b, kj_span span)
{
    if (!a || kj_is_const_i64(a, 0))
        return b;
    if (!b || kj_is_const_i64(b, 0))
        return a;
    return kj_te_binary(s, KJ_OP_ADD, a, b, span);
}

kj_texpr *kj_i64_sub(kj_sema *s, kj_texpr *a, kj_texpr *b, kj_span span)
{
    return kj_is_const_i64(b, 0) ? a : kj_te_binary(s, KJ_OP_SUB, a, b, span);
}

kj_texpr *kj_i64_mul(kj_sema *s, kj_texpr *a, kj_texpr *b, kj_span span)
{
    if (kj_is_const_i64(a, 1))
        return b;
    return kj_is_const_i64(b, 1) ? a : kj_te_binary(s, KJ_OP_MUL, a, b, span);
}

kj_texpr *kj_i64_min(kj_sema *s, kj_texpr *a, kj_texpr *b, kj_span span)
{
    return kj_te_call(s, KJ_BI_MIN, (kj_texpr *[]){a, b}, 2, KJ_I64, span);
}

kj_texpr *kj_i64_max(kj_sema *s, kj_texpr *a, kj_texpr *b, kj_span span)
{
    return kj_te_call(s, KJ_BI_MAX, (kj_texpr *[]){a, b}, 2, KJ_I64, span);
}

/* ---- What may be moved or used twice ---- */

/* The operands of an expression; for those that have no statements inside. */
static int operands(const kj_texpr *e, const kj_texpr *out[KJ_BUILTIN_ARGS])
{
    switch (e->kind) {
    case KJ_TE_UNARY:
    case KJ_TE_CONVERT:
    case KJ_TE_BITS: out[0] = e->u.unary.arg; return 1;
    case KJ_TE_BINARY:
        out[0] = e->u.binary.lhs;
        out[1] = e->u.binary.rhs;
        return 2;
    case KJ_TE_LOGIC:
        out[0] = e->u.logic.lhs;
        out[1] = e->u.logic.rhs;
        return 2;
    case KJ_TE_SELECT:
        out[0] = e->u.select.test;
        out[1] = e->u.select.yes;
        out[2] = e->u.select.no;
        return 3;
    case KJ_TE_FMA:
        out[0] = e->u.fma.a;
        out[1] = e->u.fma.b;
        out[2] = e->u.fma.c;
        return 3;
    case KJ_TE_CALL:
        for (int i = 0; i < e->u.call.nargs; i++)
            out[i] = e->u.call.args[i];
        return e->u.call.nargs;
    default: return 0;
    }
}

bool kj_is_leaf(const kj_texpr *e)
{
    return e->kind == KJ_TE_CONST || e->kind == KJ_TE_DIM || e->kind == KJ_TE_INDEX ||
           (e->kind == KJ_TE_VAR && !e->u.var->mutable);
}

bool kj_is_stable(const kj_texpr *e)
{
    if (kj_is_leaf(e))
        return true;
    if (e->kind == KJ_TE_VAR || e->kind == KJ_TE_ATOMIC || e->kind == KJ_TE_INLINE)
        return false;
    if (e->kind == KJ_TE_LOAD) {
        bool stable = e->u.load.array->space == KJ_CONST;
        for (int i = 0; stable && i < e->u.load.array->ndim; i++)
            stable = kj_is_stable(e->u.load.index[i]);
        return stable;
    }
    const kj_texpr *parts[KJ_BUILTIN_ARGS];
    for (int i = operands(e, parts) - 1; i >= 0; i--)
        if (!kj_is_stable(parts[i]))
            return false;
    return true;
}

/* loads: those count, too. */
static bool does_something(const kj_texpr *e, bool loads)
{
    if (e->kind == KJ_TE_ATOMIC || e->kind == KJ_TE_INLINE)
        return true;
    if (e->kind == KJ_TE_LOAD) {
        for (int i = 0; i < e->u.load.array->ndim && !loads; i++)
            if (does_something(e->u.load.index[i], false))
                return true;
        return loads;
    }
    const kj_texpr *parts[KJ_BUILTIN_ARGS];
    for (int i = operands(e, parts) - 1; i >= 0; i--)
        if (does_something(parts[i], loads))
            return true;
    return false;
}

bool kj_has_effect(const kj_texpr *e)
{
    return does_something(e, false);
}

bool kj_is_missed(const kj_texpr *e)
{
    return does_something(e, true);
}

/* ---- Expressions for the host ---- */

static kj_texpr *host_copy(kj_sema *s, const kj_texpr *e, kj_span *bad, int *budget)
{
    kj_value unused;
    const kj_texpr *parts[KJ_BUILTIN_ARGS];
    *bad = e->span;
    if (--*budget < 0)
        return NULL;
    if (e->kind == KJ_TE_VAR && e->u.var->param < 0) {
        const kj_texpr *value = s->vars[e->u.var->id].host;
        kj_texpr *copy = value ? host_copy(s, value, bad, budget) : NULL;
        *bad = e->span;
        return copy;
    }
    if (e->kind == KJ_TE_LOAD || e->kind == KJ_TE_ATOMIC || e->kind == KJ_TE_INLINE ||
        (e->kind == KJ_TE_INDEX && e->u.index.which != KJ_BLOCK_DIM &&
         e->u.index.which != KJ_GRID_DIM))
        return NULL;
    int n = operands(e, parts);
    if (e->kind == KJ_TE_CALL) {
        kj_value ones[KJ_BUILTIN_ARGS];
        for (int i = 0; i < n; i++)
            ones[i] = kj_fold_convert(kj_int(KJ_I32, 1), parts[i]->type);
        if (!kj_fold_builtin(e->u.call.id, 0, ones, n, &unused))
            return NULL;
    }
    kj_texpr *made[KJ_BUILTIN_ARGS] = {NULL};
    for (int i = 0; i < n; i++)
        if (!(made[i] = host_copy(s, parts[i], bad, budget)))
            return NULL;
    kj_texpr *copy = kj_te(s, e->kind, e->type, e->span);
    copy->u = e->u;
    switch (e->kind) {
    case KJ_TE_UNARY:
    case KJ_TE_CONVERT:
    case KJ_TE_BITS: copy->u.unary.arg = made[0]; break;
    case KJ_TE_BINARY:
        copy->u.binary.lhs = made[0];
        copy->u.binary.rhs = made[1];
        break;
    case KJ_TE_LOGIC:
        copy->u.logic.lhs = made[0];
        copy->u.logic.rhs = made[1];
        break;
    case KJ_TE_SELECT:
        copy->u.select.test = made[0];
        copy->u.select.yes = made[1];
        copy->u.select.no = made[2];
        break;
    case KJ_TE_FMA:
        copy->u.fma.a = made[0];
        copy->u.fma.b = made[1];
        copy->u.fma.c = made[2];
        break;
    case KJ_TE_CALL:
        for (int i = 0; i < n; i++)
            copy->u.call.args[i] = made[i];
        break;
    default: break;
    }
    return copy;
}

kj_texpr *kj_host_expr(kj_sema *s, const kj_texpr *e, kj_span *bad)
{
    enum { BUDGET = 1000 };
    int budget = BUDGET;
    return host_copy(s, e, bad, &budget);
}

kj_texpr *kj_te_index(kj_sema *s, kj_index which, int axis, kj_span span)
{
    if (which == KJ_BLOCK_DIM && s->kernel && s->kernel->block[axis] > 0)
        return kj_te_i64(s, s->kernel->block[axis], span);
    s->asks_grid |= which == KJ_GRID_DIM;
    kj_texpr *e = kj_te(s, KJ_TE_INDEX, KJ_I64, span);
    e->u.index.which = which;
    e->u.index.axis = axis;
    return e;
}

bool kj_throws_away(kj_sema *s, const kj_expr *target)
{
    if (target->kind != KJ_E_NAME || strcmp(target->u.name, "_") != 0)
        return false;
    const kj_symbol *sym = kj_scope_find(s->scope, target->u.name);
    return !sym || (sym->kind == KJ_SYM_VALUE && sym->role != KJ_ROLE_VAR);
}
