/* Calls that name an element, f(a, i, ...): atomics, by what each works on, and accesses with a hint
 * for the caches. */
#include <string.h>

#include "sema/body/body.h"

/* What is the same as another is written as that: a - v as a + -v, which rounds alike, nanmin as
 * min, compare_and_swap as cas on the first element. */
typedef struct atomic {
    kj_builtin same;
    enum { ANY, INTEGERS, UNSIGNED } types;
    int values;
    bool first, negated;
} atomic;

static const atomic atomics[KJ_NBUILTINS] = {
    [KJ_BI_ATOMIC_ADD] = {KJ_BI_ATOMIC_ADD, ANY, 1, false, false},
    [KJ_BI_ATOMIC_SUB] = {KJ_BI_ATOMIC_ADD, ANY, 1, false, true},
    [KJ_BI_ATOMIC_MIN] = {KJ_BI_ATOMIC_MIN, ANY, 1, false, false},
    [KJ_BI_ATOMIC_MAX] = {KJ_BI_ATOMIC_MAX, ANY, 1, false, false},
    [KJ_BI_ATOMIC_NANMIN] = {KJ_BI_ATOMIC_MIN, ANY, 1, false, false},
    [KJ_BI_ATOMIC_NANMAX] = {KJ_BI_ATOMIC_MAX, ANY, 1, false, false},
    [KJ_BI_ATOMIC_AND] = {KJ_BI_ATOMIC_AND, INTEGERS, 1, false, false},
    [KJ_BI_ATOMIC_OR] = {KJ_BI_ATOMIC_OR, INTEGERS, 1, false, false},
    [KJ_BI_ATOMIC_XOR] = {KJ_BI_ATOMIC_XOR, INTEGERS, 1, false, false},
    [KJ_BI_ATOMIC_INC] = {KJ_BI_ATOMIC_INC, UNSIGNED, 1, false, false},
    [KJ_BI_ATOMIC_DEC] = {KJ_BI_ATOMIC_DEC, UNSIGNED, 1, false, false},
    [KJ_BI_ATOMIC_EXCH] = {KJ_BI_ATOMIC_EXCH, ANY, 1, false, false},
    [KJ_BI_ATOMIC_CAS] = {KJ_BI_ATOMIC_CAS, ANY, 2, false, false},
    [KJ_BI_ATOMIC_COMPARE_AND_SWAP] = {KJ_BI_ATOMIC_CAS, ANY, 2, true, false},
};

static kj_texpr *atomic_value(kj_sema *s, kj_operand v, const kj_tarray *a)
{
    return kj_coerce(s, v, a->elem, kj_arena_printf(s->diag->arena, "an element of '%s'", a->name));
}

/* The types it works on, in words; NULL when `t` is one of them. */
static const char *refused(const atomic *what, kj_dtype t)
{
    bool wide = t < KJ_NTYPES && kj_types[t].bits >= 32;
    switch (what->types) {
    case INTEGERS: return wide && kj_is_int(t) ? NULL : "i32, u32, i64 and u64";
    case UNSIGNED: return wide && kj_is_int(t) && !kj_is_signed(t) ? NULL : "u32 and u64";
    default: return wide || kj_is_float(t) ? NULL : "i32, u32, i64, u64 and floats";
    }
}

/* atomic.add(a[i], ...), whose element has parts, each of which is a view's. */
static void hint_part(kj_sema *s, kj_message *m, const kj_expr *element, const kj_aggregate *of,
                      kj_builtin id)
{
    const kj_expr *first = element->u.index.args, *last = first;
    while (last->next)
        last = last->next;
    const char *at = kj_source_text(s, (kj_span){first->span.begin, last->span.end}, "...");
    kj_hint(s->diag, m,
            first->next ? "name a field: %s(%s.%s, (%s)%s)" : "name a field: %s(%s.%s, %s%s)",
            kj_builtins[id].name, kj_operand_text(s, element->u.index.base->span, "..."),
            of->fields[0].name, at, strncmp(kj_builtins[id].name, "ld", 2) == 0 ? "" : ", ...");
}

/* The first argument, `arg`, has to be an array. */
static bool array_first(kj_sema *s, const kj_expr *arg, const kj_operand *v, kj_builtin id)
{
    const char *name = kj_builtins[id].name, *more = strncmp(name, "ld", 2) == 0 ? "" : ", ...";
    if (v->kind == KJ_V_ARRAY || v->kind == KJ_V_ERROR)
        return v->kind == KJ_V_ARRAY;
    kj_message *m = kj_sema_error(s, v->span, KJ_RULE_NOT_AN_ARRAY,
                                  "%s takes an array first, not %s", name, kj_describe(s, v));
    if (arg->kind == KJ_E_INDEX && kj_is_aggregate(v) && !kj_is_fixed(v->u.tuple.of))
        hint_part(s, m, arg, v->u.tuple.of, id);
    else if (arg->kind == KJ_E_INDEX)
        kj_hint(s->diag, m, "write %s(a, i%s), not %s(a[i]%s)", name, more, name, more);
    else if (arg->kind == KJ_E_NAME && v->kind == KJ_V_SCALAR)
        kj_hint(s->diag, m,
                "a number is the thread's own; what threads share is an array: a parameter %s: "
                "%s[], or "
                "shared.array(1, %s)",
                arg->u.name, kj_type_name(v->u.scalar.e->type), kj_type_name(v->u.scalar.e->type));
    return false;
}

static bool atomic_array(kj_sema *s, const kj_expr *arg, const kj_operand *v, kj_builtin id)
{
    const char *name = kj_builtins[id].name;
    if (!array_first(s, arg, v, id))
        return false;
    kj_tarray *a = v->u.array;
    if (kj_may_be_in(a, KJ_LOCAL)) {
        kj_sema_error(s, v->span, KJ_RULE_ATOMIC_SPACE,
                      "'%s' is a local array: only its own thread sees it", a->name);
        return false;
    }
    if (kj_is_in_bytes(a)) {
        kj_sema_error(s, v->span, KJ_RULE_ATOMIC_TYPE,
                      "'%s' is in a packed record, and an atomic needs what is aligned", a->name);
        return false;
    }
    const char *types = refused(&atomics[id], a->elem);
    if (types) {
        kj_message *m = kj_sema_error(s, v->span, KJ_RULE_ATOMIC_TYPE, "%s does not work on %s",
                                      name, kj_array_type(s, a->elem, a->ndim));
        if (a->of)
            kj_hint(s->diag, m, "name a field: %s(%s.%s, i, ...)", name, a->name,
                    a->of->fields[0].name);
        else
            kj_hint(s->diag, m, "it works on %s", types);
        return false;
    }
    return kj_writable(s, a, arg, v->span);
}

/* Of a chosen array: on either. */
static kj_texpr *access_of(kj_sema *s, kj_texpr *at)
{
    kj_tarray *a = at->u.atomic.array;
    kj_texpr *arms[2];
    if (!kj_is_chosen(a)) {
        for (int i = 0; kj_has_many_checks(a) && i < 2 && at->u.atomic.args[i]; i++)
            at->u.atomic.args[i] = kj_hold(s, at->u.atomic.args[i], "value");
        at->u.atomic.array = kj_with_few_checks(s, a, at->u.atomic.index);
        return at;
    }
    for (int i = 0; i < a->ndim; i++)
        at->u.atomic.index[i] = kj_hold(s, at->u.atomic.index[i], "index");
    for (int i = 0; i < 2 && at->u.atomic.args[i]; i++)
        at->u.atomic.args[i] = kj_hold(s, at->u.atomic.args[i], "value");
    for (int i = 0; i < 2; i++) {
        kj_sink sink;
        kj_sink_open(s, &sink);
        arms[i] = kj_te(s, KJ_TE_ATOMIC, at->type, at->span);
        arms[i]->u.atomic = at->u.atomic;
        arms[i]->u.atomic.array = kj_watched(s, kj_arm(s, a, i), at->span);
        arms[i] = access_of(s, arms[i]);
        kj_arm_close(s, a, i, &sink, at->span);
    }
    return kj_te_select(s, a->root->test, arms[0], arms[1], at->span);
}

kj_operand kj_atomic_call(kj_sema *s, const kj_expr *e, kj_builtin id)
{
    const atomic *what = &atomics[id];
    int places = what->first ? 1 : 2, wanted = places + what->values, n = kj_count(e->u.call.args);
    if (n != wanted)
        return kj_arity_error(s, e, kj_builtins[id].name, kj_builtin_words(s, id), wanted, wanted);
    kj_operand v[4];
    kj_expr_list(s, e->u.call.args, v, n);
    if (!atomic_array(s, e->u.call.args, &v[0], id))
        return kj_no_value(e->span);
    kj_tarray *a = v[0].u.array;
    kj_texpr *at = kj_te(s, KJ_TE_ATOMIC, a->elem, e->span);
    at->u.atomic.id = what->same;
    bool ok = true;
    for (int i = 0; what->first && i < a->ndim; i++)
        at->u.atomic.index[i] = kj_te_i64(s, 0, e->span);
    if (!what->first)
        ok = kj_element_at(s, e->u.call.args->next, e->u.call.args, &a, &v[1], 1,
                           at->u.atomic.index);
    else
        a = kj_index_checked(s, a, at->u.atomic.index, NULL);
    at->u.atomic.array = kj_watched(s, a, e->span);
    for (int i = 0; i < what->values; i++) {
        kj_texpr *value = atomic_value(s, v[places + i], a);
        ok = ok && value;
        at->u.atomic.args[i] =
            ok && what->negated ? kj_te_unary(s, KJ_OP_NEG, value, value->span) : value;
    }
    kj_array_used(s, a, true, true);
    return ok ? kj_scalar(access_of(s, at)) : kj_no_value(e->span);
}

/* ldcg(a, i), stcs(a, i, v): an access of a view that differs in its `cache` only. */
kj_operand kj_cache_call(kj_sema *s, const kj_expr *e, kj_builtin id)
{
    const kj_expr *args = e->u.call.args;
    bool stores = strncmp(kj_builtins[id].name, "st", 2) == 0;
    int n = kj_count(args), wanted = stores ? 3 : 2;
    if (n != wanted)
        return kj_arity_error(s, e, kj_builtins[id].name, kj_builtin_words(s, id), wanted, wanted);
    kj_operand v[3];
    kj_texpr *index[KJ_MAX_NDIM];
    kj_expr_list(s, args, v, n);
    if (!array_first(s, args, &v[0], id) ||
        !kj_element_at(s, args->next, args, &v[0].u.array, &v[1], 1, index))
        return kj_no_value(e->span);
    kj_tarray *view = KJ_NEW(s->arena, kj_tarray);
    *view = *v[0].u.array;
    view->cache = kj_builtins[id].symbol;
    if (!stores)
        return kj_load_element(s, view, index, e->span);
    const char *what = kj_arena_printf(s->diag->arena, "an element of '%s'", view->name);
    v[2] = view->of ? kj_coerce_aggregate(s, v[2], view->of, what)
                    : kj_scalar(kj_coerce(s, v[2], view->elem, what));
    if (v[2].kind == KJ_V_ERROR || !kj_writable(s, view, args, v[0].span))
        return kj_no_value(e->span);
    kj_store_element(s, view, index, v[2], e->span);
    return (kj_operand){.kind = KJ_V_NONE, .span = e->span};
}
