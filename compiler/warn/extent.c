/* Numbers and extents of a run block as far as its text says them: literals, constants, names that are
 * declared once and not assigned, arithmetic of them. A param is its default. */
#include <string.h>

#include "lang/signature.h"
#include "warn/launch.h"

enum { DEEPEST = 24 };

/* ---- Names ---- */

static kj_run_name *find(const kj_run_names *names, const char *name)
{
    for (size_t i = 0; i < names->n; i++)
        if (names->names[i].name == name)
            return &names->names[i];
    return NULL;
}

static void declare(kj_run_names *names, const char *name, const kj_expr *init)
{
    kj_run_name *known = find(names, name);
    if (known) {
        known->changes = true;
        return;
    }
    if (names->n == names->capacity) {
        size_t more = names->capacity ? 2 * names->capacity : 16;
        kj_run_name *grown = KJ_NEW_ARRAY(names->arena, kj_run_name, more);
        for (size_t i = 0; i < names->n; i++)
            grown[i] = names->names[i];
        names->names = grown;
        names->capacity = more;
    }
    names->names[names->n++] = (kj_run_name){.name = name, .init = init};
}

static void declare_all(kj_run_names *names, const kj_name *list, const kj_expr *init)
{
    for (const kj_name *name = list; name; name = name->next)
        declare(names, name->name, list->next ? NULL : init);
}

static void find_swapped(void *ctx, const kj_expr *e)
{
    const kj_expr *callee = e->kind == KJ_E_CALL ? e->u.call.callee : NULL;
    if (!callee || callee->kind != KJ_E_NAME || strcmp(callee->u.name, "swap") != 0)
        return;
    for (const kj_expr *arg = e->u.call.args; arg; arg = arg->next)
        if (arg->kind == KJ_E_NAME)
            declare(ctx, arg->u.name, NULL);
}

static void find_names(kj_run_names *names, const kj_stmt *list)
{
    const kj_stmt *blocks[2];
    for (const kj_stmt *st = list; st; st = st->next) {
        if (st->kind == KJ_S_LET || st->kind == KJ_S_PARAM)
            declare_all(names, st->u.let.names, st->u.let.type ? NULL : st->u.let.init);
        else if (st->kind == KJ_S_FOR)
            declare_all(names, st->u.for_.names, NULL);
        else if (st->kind == KJ_S_WITH)
            declare_all(names, st->u.with.name, NULL);
        else if (st->kind == KJ_S_ASSIGN)
            for (const kj_expr *t = st->u.assign.targets; t; t = t->next)
                if (t->kind == KJ_E_NAME)
                    declare(names, t->u.name, NULL); /* once more: it changes */
        kj_each_own_expr(st, find_swapped, names);
        kj_blocks_of(st, blocks);
        find_names(names, blocks[0]);
        find_names(names, blocks[1]);
    }
}

void kj_warn_run_names(kj_run_names *names, const kj_item *run)
{
    for (const kj_param_decl *p = run->params; p; p = p->next)
        declare(names, p->name, NULL);
    find_names(names, run->body);
}

static const kj_item *item_named(const kj_run_names *names, const char *name)
{
    for (const kj_item *item = names->file->items; item; item = item->next)
        if (item->name == name && item->kind != KJ_I_USE)
            return item;
    return NULL;
}

/* What the name stands for; NULL: it is not known. */
static const kj_expr *value_of(const kj_run_names *names, const char *name)
{
    const kj_run_name *run = find(names, name);
    if (run)
        return run->changes ? NULL : run->init;
    const kj_item *item = item_named(names, name);
    return item && item->kind == KJ_I_CONST && !item->type && !item->of ? item->value : NULL;
}

static bool is_of_file(const kj_run_names *names, const char *name)
{
    return find(names, name) || item_named(names, name);
}

/* The row of run_builtins.def that a call is of; -1: none. */
static int row_of(const kj_run_names *names, const kj_expr *callee)
{
    const kj_expr *first = callee->kind == KJ_E_MEMBER ? callee->u.member.base : callee;
    if (first->kind != KJ_E_NAME || is_of_file(names, first->u.name))
        return -1;
    return kj_run_builtin_named(
        callee->kind == KJ_E_NAME
            ? first->u.name
            : kj_arena_printf(names->arena, "%s.%s", first->u.name, callee->u.member.name));
}

/* ---- Numbers ---- */

static bool operate(kj_op op, int64_t a, int64_t b, int64_t *out)
{
    const int64_t far = INT32_MAX;
    if (a < -far || a > far || b < -far || b > far)
        return false;
    bool divides = op == KJ_OP_FLOORDIV || op == KJ_OP_MOD;
    if (divides && (a < 0 || b <= 0))
        return false;
    switch (op) {
    case KJ_OP_ADD: *out = a + b; return true;
    case KJ_OP_SUB: *out = a - b; return true;
    case KJ_OP_MUL: *out = a * b; return true;
    case KJ_OP_FLOORDIV: *out = a / b; return true;
    case KJ_OP_MOD: *out = a % b; return true;
    case KJ_OP_SHL: *out = a << (b & 31); return a >= 0 && b >= 0 && b < 32;
    default: return false;
    }
}

static bool number_of_call(kj_run_names *names, const kj_expr *e, int64_t *out)
{
    const kj_expr *callee = e->u.call.callee, *args = e->u.call.args;
    int64_t a, b;
    if (callee->kind != KJ_E_NAME || strcmp(callee->u.name, "ceil_div") != 0 ||
        is_of_file(names, callee->u.name) || kj_count(args) != 2 ||
        !kj_warn_number(names, args, &a) || !kj_warn_number(names, args->next, &b) || a < 0 ||
        b <= 0)
        return false;
    *out = a / b + (a % b != 0);
    return true;
}

/* x.size, x.shape[1] */
static bool number_of_shape(kj_run_names *names, const kj_expr *e, int64_t *out)
{
    const kj_expr *member = e->kind == KJ_E_INDEX ? e->u.index.base : e;
    int64_t extents[KJ_MAX_NDIM], axis = 0;
    bool shape = e->kind == KJ_E_INDEX;
    if (member->kind != KJ_E_MEMBER ||
        strcmp(member->u.member.name, shape ? "shape" : "size") != 0 ||
        (shape && !kj_warn_number(names, e->u.index.args, &axis)))
        return false;
    int n = kj_warn_extents(names, member->u.member.base, extents);
    if (!n || axis < 0 || axis >= n || (shape && e->u.index.args->next))
        return false;
    *out = extents[axis];
    for (int i = 1; i < n && !shape; i++)
        if (!operate(KJ_OP_MUL, *out, extents[i], out))
            return false;
    return true;
}

static bool number_of(kj_run_names *names, const kj_expr *e, int64_t *out)
{
    int64_t a, b;
    switch (e->kind) {
    case KJ_E_INT: *out = (int64_t)e->u.integer; return e->u.integer <= INT32_MAX;
    case KJ_E_NAME: {
        const kj_expr *value = value_of(names, e->u.name);
        return value && kj_warn_number(names, value, out);
    }
    case KJ_E_BINARY:
        return kj_warn_number(names, e->u.binary.lhs, &a) &&
               kj_warn_number(names, e->u.binary.rhs, &b) && operate(e->u.binary.op, a, b, out);
    case KJ_E_CALL: return number_of_call(names, e, out);
    case KJ_E_MEMBER:
    case KJ_E_INDEX: return number_of_shape(names, e, out);
    default: return false;
    }
}

bool kj_warn_number(kj_run_names *names, const kj_expr *e, int64_t *out)
{
    bool known = names->depth < DEEPEST;
    names->depth++;
    known = known && number_of(names, e, out);
    names->depth--;
    return known;
}

int kj_warn_numbers(kj_run_names *names, const kj_expr *e, int64_t *out, int most)
{
    const kj_expr *value = e->kind == KJ_E_NAME ? value_of(names, e->u.name) : NULL;
    if (value && value->kind == KJ_E_TUPLE)
        e = value;
    bool several = e->kind == KJ_E_TUPLE;
    int n = 0;
    for (const kj_expr *item = several ? e->u.list.items : e; item;
         item = several ? item->next : NULL)
        if (n == most || !kj_warn_number(names, item, &out[n++]))
            return 0;
    return n;
}

/* ---- Extents ---- */

/* What a call gives for a parameter. */
static const kj_expr *argument(const kj_expr *args, int row, const char *name)
{
    kj_run_signature known = kj_run_signature_of(kj_run_builtins[row].signature);
    int wanted = kj_run_parameter_named(&known, name), place = 0;
    for (const kj_expr *arg = args; arg && wanted >= 0; arg = arg->next)
        if (arg->keyword ? strcmp(arg->keyword, name) == 0 : place++ == wanted)
            return arg;
    return NULL;
}

static int extents_of_shape(kj_run_names *names, const kj_expr *shape, int64_t out[KJ_MAX_NDIM])
{
    return shape->kind == KJ_E_MEMBER && strcmp(shape->u.member.name, "shape") == 0
               ? kj_warn_extents(names, shape->u.member.base, out)
               : kj_warn_numbers(names, shape, out, KJ_MAX_NDIM);
}

static int extents_of_call(kj_run_names *names, const kj_expr *e, int64_t out[KJ_MAX_NDIM])
{
    const kj_expr *args = e->u.call.args;
    int row = row_of(names, e->u.call.callee);
    const kj_expr *shape = row >= 0 ? argument(args, row, "shape") : NULL;
    if (row < 0 || argument(args, row, "strides"))
        return 0;
    if (kj_run_builtins[row].gives == KJ_GIVES_SHAPED)
        return shape ? extents_of_shape(names, shape, out) : 0;
    if (kj_run_builtins[row].gives == KJ_GIVES_LIKE)
        return args && !args->keyword ? kj_warn_extents(names, args, out) : 0;
    bool counts = row == KJ_RUN_ARANGE && args && !args->keyword;
    for (const kj_expr *arg = counts ? args->next : NULL; arg; arg = arg->next)
        counts &= arg->keyword && strcmp(arg->keyword, "dtype") == 0;
    return counts && kj_warn_number(names, args, out) ? 1 : 0;
}

int kj_warn_extents(kj_run_names *names, const kj_expr *e, int64_t out[KJ_MAX_NDIM])
{
    const kj_expr *value = e->kind == KJ_E_NAME ? value_of(names, e->u.name) : NULL;
    if (names->depth >= DEEPEST)
        return 0;
    names->depth++;
    int n = value                  ? kj_warn_extents(names, value, out)
            : e->kind == KJ_E_CALL ? extents_of_call(names, e, out)
                                   : 0;
    names->depth--;
    return n;
}
