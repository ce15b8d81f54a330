/* Calls of what threads do together, of evaluated arguments: barriers, fences, the operations of a
 * warp. The arguments have types of their own, a letter of the signature each. */
#include <string.h>

#include "sema/body/body.h"

enum { MAX_ARGS = 3 };

/* ---- Arguments ---- */

/* Any integer's low 32 bits. */
static kj_texpr *mask(kj_sema *s, kj_operand v, const char *name)
{
    if (v.kind == KJ_V_SCALAR && v.u.scalar.e->type == KJ_BOOL) {
        kj_message *m =
            kj_sema_error(s, v.span, KJ_RULE_MASK,
                          "the mask of '%s' has a bit for each lane, and this is a bool", name);
        kj_hint(s->diag, m, "all lanes are 0xffffffff");
        return NULL;
    }
    kj_texpr *e = kj_size_value(s, v, kj_arena_printf(s->diag->arena, "the mask of '%s'", name));
    if (e && kj_is_const(e) && (e->u.value.i < -1 || e->u.value.i > UINT32_MAX)) {
        kj_message *m = kj_sema_error(s, v.span, KJ_RULE_MASK,
                                      "a mask has a bit for each of %d lanes", KJ_WARP);
        kj_hint(s->diag, m, "all of them are 0xffffffff");
        return NULL;
    }
    return e ? kj_te_convert(s, e, KJ_U32, v.span) : NULL;
}

/* The operand as what `letter` stands for; NULL after an error. */
static kj_texpr *argument(kj_sema *s, kj_operand v, char letter, const char *name)
{
    const char *what = kj_arena_printf(s->diag->arena, "'%s'", name);
    kj_texpr *e;
    switch (letter) {
    case 'b':
        return kj_condition(s, v, kj_arena_printf(s->diag->arena, "the condition of '%s'", name));
    case 'm': return mask(s, v, name);
    case 'i':
        e = kj_size_value(s, v, kj_arena_printf(s->diag->arena, "the last argument of '%s'", name));
        return e ? kj_te_convert(s, e, KJ_U32, v.span) : NULL;
    default:
        if (kj_no_number(s, &v, what))
            return NULL;
        v = kj_settle(s, v);
        return v.kind == KJ_V_SCALAR ? v.u.scalar.e : NULL;
    }
}

static bool is_shuffle(kj_builtin id)
{
    return kj_builtins[id].signature[0] == 'n';
}

static bool is_bool(const kj_operand *v)
{
    return v->kind == KJ_V_SCALAR && v->u.scalar.e->type == KJ_BOOL;
}

/* What a shuffle moves: a number, a bool, or what has parts. */
static kj_operand movable(kj_sema *s, kj_operand v, const char *name)
{
    return kj_is_aggregate(&v) || is_bool(&v) ? kj_settle(s, v)
                                              : kj_scalar(argument(s, v, 'n', name));
}

/* What a shuffle gives of `v`: part by part where it has several, a bool as a number. */
static kj_operand shuffled(kj_sema *s, kj_builtin id, kj_texpr *const *others, const kj_operand *v,
                           kj_span span)
{
    if (v->kind == KJ_V_TUPLE) {
        int n = v->u.tuple.n;
        kj_operand *items = KJ_NEW_ARRAY(s->arena, kj_operand, (size_t)n);
        for (int i = 0; i < n; i++)
            items[i] = shuffled(s, id, others, &v->u.tuple.items[i], span);
        return kj_hold_value(s, kj_tuple(items, n, v->u.tuple.of, span), "shuffled");
    }
    bool flag = is_bool(v);
    kj_texpr *e = flag ? kj_te_convert(s, v->u.scalar.e, KJ_U32, span) : v->u.scalar.e,
             *args[MAX_ARGS] = {others[0], e, others[2]},
             *got = kj_te_call(s, id, args, MAX_ARGS, e->type, span);
    return kj_scalar(flag ? kj_te_convert(s, got, KJ_BOOL, span) : got);
}

/* False after an error. What is shuffled is in *value. */
static bool arguments(kj_sema *s, kj_builtin id, const kj_operand *v, int n, kj_texpr **out,
                      kj_operand *value)
{
    const char *name = kj_builtins[id].name, *letters = kj_builtin_letters(id);
    bool ok = true;
    for (int i = 0; i < n; i++) {
        if (letters[i] == 'n' && is_shuffle(id))
            ok = (*value = movable(s, v[i], name)).kind != KJ_V_ERROR && ok;
        else
            ok = (out[i] = argument(s, v[i], letters[i], name)) != NULL && ok;
    }
    return ok;
}

/* ---- Results ---- */

static kj_operand nothing(kj_span span)
{
    return (kj_operand){.kind = KJ_V_NONE, .span = span};
}

static kj_operand barrier(kj_sema *s, kj_builtin id, kj_texpr *arg, kj_span span)
{
    kj_texpr *held = arg && kj_has_effect(arg) ? kj_hold(s, arg, "p") : arg;
    kj_tstmt *st = kj_emit(s, KJ_TS_BARRIER, span);
    st->barrier = true;
    s->sink->barrier = true;
    st->u.barrier.id = id;
    if (id == KJ_BI_GRID_SYNC && s->kernel && !s->kernel->grid_sync)
        s->kernel->grid_sync = st;
    if (!held)
        return nothing(span);
    st->u.barrier.arg = held;
    st->u.barrier.result =
        kj_new_var(s, "together", span, id == KJ_BI_SYNCTHREADS_COUNT ? KJ_I32 : KJ_BOOL, false);
    return kj_scalar(kj_te_var(s, st->u.barrier.result, span));
}

/* (lanes, true) or (0, false) */
static kj_operand with_flag(kj_sema *s, kj_texpr *lanes)
{
    kj_operand *items = KJ_NEW_ARRAY(s->arena, kj_operand, 2);
    kj_texpr *held = kj_hold(s, lanes, "lanes");
    kj_texpr *zero = kj_te_const(s, kj_int(KJ_U32, 0), lanes->span);
    items[0] = kj_scalar(held);
    items[1] = kj_scalar(kj_te_binary(s, KJ_OP_NE, held, zero, lanes->span));
    return kj_tuple(items, 2, NULL, lanes->span);
}

/* (1 << laneid) - 1 */
static kj_operand lanes_below(kj_sema *s, kj_span span)
{
    kj_texpr *one = kj_te_const(s, kj_int(KJ_U32, 1), span);
    kj_texpr *lane = kj_te_convert(s, kj_te_index(s, KJ_LANE_ID, 0, span), KJ_U32, span);
    kj_texpr *own = kj_te_binary(s, KJ_OP_SHL, one, lane, span);
    return kj_scalar(kj_te_binary(s, KJ_OP_SUB, own, one, span));
}

/* What has effects is done in front of it: a CPU may run that thread after thread, and the warp together then. */
static void hold_effects(kj_sema *s, kj_texpr **args, int n, kj_operand *value)
{
    for (int i = 0; i < n; i++)
        if (args[i] && kj_has_effect(args[i]))
            args[i] = kj_hold(s, args[i], "argument");
    if (kj_operand_has_effect(s, value))
        *value = kj_hold_value(s, *value, "value");
}

bool kj_is_sync(kj_builtin id)
{
    const char *group = kj_builtins[id].group;
    return strcmp(group, "sync") == 0 || strcmp(group, "warp") == 0;
}

kj_operand kj_sync_call(kj_sema *s, kj_builtin id, const kj_operand *v, int given, kj_span span)
{
    kj_texpr *args[MAX_ARGS] = {NULL};
    kj_operand value = {.kind = KJ_V_NONE};
    int n = kj_builtin_arity(id);
    if (given < n) /* a mask that is left out: all lanes */
        args[0] = kj_te_const(s, kj_int(KJ_U32, UINT32_MAX), span);
    if (!arguments(s, id, v, given, args, &value))
        return kj_no_value(span);
    for (int i = 0; i < n && value.kind == KJ_V_TUPLE; i += 2)
        args[i] = kj_hold(s, args[i], "argument");
    if (kj_builtins[id].how == KJ_HOW_WARP)
        hold_effects(s, args, n, &value);
    if (is_shuffle(id))
        return shuffled(s, id, args, &value, span);
    switch (id) {
    case KJ_BI_SYNCTHREADS:
    case KJ_BI_SYNCTHREADS_COUNT:
    case KJ_BI_SYNCTHREADS_AND:
    case KJ_BI_SYNCTHREADS_OR:
    case KJ_BI_GRID_SYNC: return barrier(s, id, args[0], span);
    case KJ_BI_LANEMASK_LT: return lanes_below(s, span);
    case KJ_BI_MATCH_ALL_SYNC: return with_flag(s, kj_te_call(s, id, args, n, KJ_U32, span));
    default: break;
    }
    switch (kj_builtins[id].signature[0]) {
    case 'v':
        kj_emit(s, KJ_TS_EXPR, span)->u.expr = kj_te_call(s, id, args, n, KJ_VOID, span);
        return nothing(span);
    case 'b': return kj_scalar(kj_te_call(s, id, args, n, KJ_BOOL, span));
    default: return kj_scalar(kj_te_call(s, id, args, n, KJ_U32, span));
    }
}
