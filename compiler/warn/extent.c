/* Numbers and extents of a run block as far as its text says them: literals, constants, names that are
 * declared once and not assigned, arithmetic of them. A param is what the run is given for it, or else its default.
 * Each name's value is found once, in the order of the text. */
#include <stdlib.h>
#include <string.h>

#include "lang/signature.h"
#include "warn/launch.h"

static const kj_run_value unknown = {.kind = KJ_UNKNOWN};

/* ---- Names ---- */

static int by_name(const void *a, const void *b)
{
    const kj_run_name *x = a, *y = b;
    if (x->name != y->name)
        return (uintptr_t)x->name < (uintptr_t)y->name ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static const kj_run_name *find_here(const kj_run_names *names, const char *name)
{
    size_t low = 0, high = names->n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if ((uintptr_t)names->names[middle].name < (uintptr_t)name)
            low = middle + 1;
        else
            high = middle;
    }
    return low < names->n && names->names[low].name == name ? &names->names[low] : NULL;
}

static const kj_run_name *find(const kj_run_names *names, const char *name)
{
    const kj_run_name *own = find_here(names, name);
    return own || !names->file ? own : find_here(names->file, name);
}

static kj_run_name *declare(kj_run_names *names, const char *name, const kj_expr *init)
{
    if (names->n == names->capacity) {
        size_t more = names->capacity ? 2 * names->capacity : 16;
        kj_run_name *grown = KJ_NEW_ARRAY(names->arena, kj_run_name, more);
        for (size_t i = 0; i < names->n; i++)
            grown[i] = names->names[i];
        names->names = grown;
        names->capacity = more;
    }
    names->names[names->n] = (kj_run_name){.name = name, .init = init, .order = names->n};
    return &names->names[names->n++];
}

static void declare_unknown(kj_run_names *names, const kj_name *list)
{
    for (const kj_name *name = list; name; name = name->next)
        declare(names, name->name, NULL);
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

/* Does a value stay what it is as one of the type? */
static bool keeps(const kj_type_ref *t)
{
    return !t || (t->name && (t->ndim > 0 || kj_is_int(kj_type_named(t->name))));
}

/* The value that a param will have, as a text; NULL: its default. */
static const char *given_for(const kj_run_names *names, const char *name)
{
    const kj_warnings *w = names->wanted;
    const char *text = NULL;
    size_t n = strlen(name);
    for (int i = 0; w && i < w->nparams; i++)
        if (w->params[i] && strncmp(w->params[i], name, n) == 0 && w->params[i][n] == '=')
            text = w->params[i] + n + 1; /* the last one counts */
    return text;
}

/* let a, b = 1, 2 is two of them; of let h, w = x.shape each has its number. */
static void declare_let(kj_run_names *names, const kj_stmt *st)
{
    const kj_expr *item = kj_let_items(st), *init = keeps(st->u.let.type) ? st->u.let.init : NULL;
    int all = kj_count_names(st->u.let.names), n = 0;
    for (const kj_name *name = st->u.let.names; name; name = name->next, n++) {
        kj_run_name *made = declare(names, name->name, item ? item : init);
        made->of = all > 1 && !item ? all : 0;
        made->nth = n;
        made->given = st->kind == KJ_S_PARAM ? given_for(names, name->name) : NULL;
        item = item ? item->next : NULL;
    }
}

static void find_names(kj_run_names *names, const kj_stmt *list)
{
    const kj_stmt *blocks[2];
    for (const kj_stmt *st = list; st; st = st->next) {
        if (st->kind == KJ_S_LET || st->kind == KJ_S_PARAM)
            declare_let(names, st);
        else if (st->kind == KJ_S_FOR)
            declare_unknown(names, st->u.for_.names);
        else if (st->kind == KJ_S_WITH)
            declare_unknown(names, st->u.with.name);
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

/* One for each name, without a value where it is declared or assigned again. */
static void join(kj_run_names *names)
{
    size_t n = 0;
    if (names->n)
        qsort(names->names, names->n, sizeof *names->names, by_name);
    for (size_t i = 0; i < names->n; i++) {
        if (n && names->names[n - 1].name == names->names[i].name)
            names->names[n - 1].init = NULL;
        else
            names->names[n++] = names->names[i];
        if (names->file && find_here(names->file, names->names[n - 1].name))
            names->names[n - 1].init = NULL;
    }
    names->n = n;
}

/* An integer in place of another. */
static kj_run_value value_given(const char *text, kj_run_value otherwise)
{
    enum { DIGITS = 9 };
    size_t n = strspn(text, "0123456789");
    bool whole = n > 0 && n <= DIGITS && !text[n];
    return whole && otherwise.kind == KJ_NUMBERS && otherwise.n == 1
               ? (kj_run_value){KJ_NUMBERS, 1, {strtoll(text, NULL, 10)}}
               : unknown;
}

static kj_run_value value_of(const kj_run_names *names, const kj_run_name *name)
{
    kj_run_value v = kj_warn_value(names, name->init);
    if (name->given)
        return value_given(name->given, v);
    if (!name->of)
        return v;
    return v.kind == KJ_NUMBERS && v.n == name->of
               ? (kj_run_value){KJ_NUMBERS, 1, {v.numbers[name->nth]}}
               : unknown;
}

/* Each name's value, behind those that were declared before it. */
static void find_values(kj_run_names *names)
{
    size_t all = names->n;
    join(names);
    kj_run_name **in_order = KJ_NEW_ARRAY(names->arena, kj_run_name *, all + 1);
    for (size_t i = 0; i < names->n; i++)
        in_order[names->names[i].order] = &names->names[i];
    for (size_t i = 0; i < all; i++)
        if (in_order[i] && in_order[i]->init)
            in_order[i]->value = value_of(names, in_order[i]);
}

void kj_warn_file_names(kj_run_names *names, const kj_file *file)
{
    for (const kj_item *item = file->items; item; item = item->next)
        if (item->name)
            declare(names, item->name,
                    item->kind == KJ_I_CONST && keeps(item->type) && !item->of ? item->value
                                                                               : NULL);
    find_values(names);
}

void kj_warn_run_names(kj_run_names *names, const kj_item *run)
{
    for (const kj_param_decl *p = run->params; p; p = p->next)
        declare(names, p->name, NULL);
    find_names(names, run->body);
    find_values(names);
}

const kj_expr *kj_warn_init(const kj_run_names *names, const kj_expr *e)
{
    const kj_run_name *name = e->kind == KJ_E_NAME ? find(names, e->u.name) : NULL;
    return name && name->init && !name->of && !name->given ? name->init : e;
}

bool kj_warn_declares(const kj_run_names *names, const char *name)
{
    return find(names, name) != NULL;
}

int kj_warn_row(const kj_run_names *names, const kj_expr *callee)
{
    const kj_expr *first = callee->kind == KJ_E_MEMBER ? callee->u.member.base : callee;
    if (first->kind != KJ_E_NAME || find(names, first->u.name))
        return -1;
    return kj_run_builtin_named(
        callee->kind == KJ_E_NAME
            ? first->u.name
            : kj_arena_printf(names->arena, "%s.%s", first->u.name, callee->u.member.name));
}

/* ---- Numbers ---- */

static kj_run_value number(int64_t n)
{
    return (kj_run_value){.kind = KJ_NUMBERS, .n = 1, .numbers = {n}};
}

static bool is_number(kj_run_value v)
{
    return v.kind == KJ_NUMBERS && v.n == 1;
}

static kj_run_value operate(kj_op op, kj_run_value x, kj_run_value y)
{
    const int64_t far = INT32_MAX, a = x.numbers[0], b = y.numbers[0];
    bool divides = op == KJ_OP_FLOORDIV || op == KJ_OP_MOD,
         shifts = op == KJ_OP_SHL || op == KJ_OP_SHR;
    if (!is_number(x) || !is_number(y) || a < -far || a > far || b < -far || b > far ||
        (divides && b <= 0) || (shifts && (a < 0 || b < 0 || b > 31)))
        return unknown;
    switch (op) {
    case KJ_OP_ADD: return number(a + b);
    case KJ_OP_SUB: return number(a - b);
    case KJ_OP_MUL: return number(a * b);
    case KJ_OP_FLOORDIV: return number(a / b - (a % b < 0));
    case KJ_OP_MOD: return number(a % b + (a % b < 0 ? b : 0));
    case KJ_OP_SHL: return number(a << b);
    case KJ_OP_SHR: return number(a >> b);
    default: return unknown;
    }
}

static kj_run_value rounded_up(kj_run_value a, kj_run_value b)
{
    return operate(KJ_OP_FLOORDIV, operate(KJ_OP_SUB, operate(KJ_OP_ADD, a, b), number(1)), b);
}

/* ceil_div(n, 256) */
static kj_run_value ceil_div(const kj_run_names *names, const kj_expr *args)
{
    return kj_count(args) == 2
               ? rounded_up(kj_warn_value(names, args), kj_warn_value(names, args->next))
               : unknown;
}

const kj_expr *kj_warn_division(const kj_run_names *names, const kj_expr *e)
{
    const kj_expr *to = e->kind == KJ_E_CALL ? e->u.call.callee : NULL;
    const kj_expr *of = to ? e->u.call.args : NULL;
    if (e->kind == KJ_E_BINARY && e->u.binary.op == KJ_OP_FLOORDIV)
        return e;
    if (!to || to->kind != KJ_E_NAME || find(names, to->u.name) || !of || of->next || of->keyword ||
        (strcmp(to->u.name, "int") != 0 && !kj_is_int(kj_type_named(to->u.name))))
        return NULL;
    return of->kind == KJ_E_BINARY && of->u.binary.op == KJ_OP_DIV ? of
                                                                   : kj_warn_division(names, of);
}

/* A quotient of integers, which floats have exactly enough: n / 256, f32(n) / 256.0. */
static bool quotient(const kj_run_names *names, const kj_expr *e, kj_run_value *of,
                     kj_run_value *by)
{
    const int64_t exact = 1 << 24;
    const kj_expr *to = e->kind == KJ_E_CALL ? e->u.call.callee : NULL;
    if (to && to->kind == KJ_E_NAME && !find(names, to->u.name) && e->u.call.args &&
        !e->u.call.args->next && kj_is_float(kj_type_named(to->u.name)))
        return quotient(names, e->u.call.args, of, by);
    if (e->kind == KJ_E_BINARY && e->u.binary.op == KJ_OP_DIV) {
        kj_run_value one, other;
        return quotient(names, e->u.binary.lhs, of, &one) && one.numbers[0] == 1 &&
               quotient(names, e->u.binary.rhs, by, &other) && other.numbers[0] == 1 &&
               by->numbers[0] > 0;
    }
    bool whole = e->kind == KJ_E_FLOAT && e->u.real >= 0 && e->u.real < (double)exact &&
                 e->u.real == (double)(int64_t)e->u.real;
    *of = whole ? number((int64_t)e->u.real) : kj_warn_value(names, e);
    *by = number(1);
    return is_number(*of) && of->numbers[0] >= 0 && of->numbers[0] < exact;
}

/* int(ceil(n / 256)): the whole number that a quotient is made, by `floor`, `ceil` or `trunc`; else as int does it. */
static kj_run_value made_whole(const kj_run_names *names, const kj_expr *e)
{
    const kj_expr *to = e->kind == KJ_E_CALL ? e->u.call.callee : NULL;
    bool named = to && to->kind == KJ_E_NAME && !find(names, to->u.name) && e->u.call.args &&
                 !e->u.call.args->next;
    bool up = named && strcmp(to->u.name, "ceil") == 0;
    bool down = named && (strcmp(to->u.name, "floor") == 0 || strcmp(to->u.name, "trunc") == 0);
    kj_run_value of, by;
    if (!quotient(names, up || down ? e->u.call.args : e, &of, &by))
        return unknown;
    return up ? rounded_up(of, by) : operate(KJ_OP_FLOORDIV, of, by);
}

/* What the type holds of a number; unknown: it wraps. */
static kj_run_value held(kj_run_value v, kj_dtype to)
{
    if (!is_number(v))
        return unknown;
    int bits = kj_magnitude_bits(to);
    int64_t n = v.numbers[0], most = bits < 63 ? (INT64_C(1) << bits) - 1 : INT64_MAX;
    return n <= most && n >= (kj_is_signed(to) ? -most - 1 : 0) ? v : unknown;
}

/* int(n / 256), i32(n) */
static kj_run_value converted(const kj_run_names *names, const kj_expr *e, kj_dtype to)
{
    const kj_expr *division = kj_warn_division(names, e), *of = e->u.call.args;
    if (!of || of->next || of->keyword)
        return unknown;
    kj_run_value v = division
                         ? operate(KJ_OP_FLOORDIV, kj_warn_value(names, division->u.binary.lhs),
                                   kj_warn_value(names, division->u.binary.rhs))
                         : kj_warn_value(names, of);
    return held(is_number(v) ? v : made_whole(names, of), to);
}

/* len(x): of an array, of a shape. */
static kj_run_value length(kj_run_value of)
{
    return of.kind == KJ_EXTENTS               ? number(of.numbers[0])
           : of.kind == KJ_NUMBERS && of.n > 1 ? number(of.n)
                                               : unknown;
}

/* x.size, x.shape */
static kj_run_value member(const kj_run_names *names, const kj_expr *e)
{
    bool size = strcmp(e->u.member.name, "size") == 0;
    if (!size && strcmp(e->u.member.name, "shape") != 0)
        return unknown;
    kj_run_value array = kj_warn_value(names, e->u.member.base), all = number(1);
    if (array.kind != KJ_EXTENTS)
        return unknown;
    array.kind = KJ_NUMBERS;
    for (int i = 0; i < array.n && size; i++)
        all = operate(KJ_OP_MUL, all, number(array.numbers[i]));
    return size ? all : array;
}

/* max(1, n // 256), min(n, 1000) */
static kj_run_value extreme(const kj_run_names *names, const kj_expr *args, bool greatest)
{
    kj_run_value found = args ? kj_warn_value(names, args) : unknown;
    for (const kj_expr *arg = args ? args->next : NULL; arg; arg = arg->next) {
        kj_run_value other = kj_warn_value(names, arg);
        if (!is_number(found) || !is_number(other) || arg->keyword)
            return unknown;
        if (greatest == (other.numbers[0] > found.numbers[0]))
            found = other;
    }
    return args && args->next && is_number(found) ? found : unknown;
}

/* divmod(n, 256) */
static kj_run_value divided(const kj_run_names *names, const kj_expr *args)
{
    if (kj_count(args) != 2)
        return unknown;
    kj_run_value x = kj_warn_value(names, args), y = kj_warn_value(names, args->next);
    kj_run_value whole = operate(KJ_OP_FLOORDIV, x, y), rest = operate(KJ_OP_MOD, x, y);
    return is_number(whole) && is_number(rest)
               ? (kj_run_value){KJ_NUMBERS, 2, {whole.numbers[0], rest.numbers[0]}}
               : unknown;
}

/* x.shape[1] */
static kj_run_value item(const kj_run_names *names, const kj_expr *e)
{
    const kj_expr *arg = e->u.index.args;
    if (!arg || arg->next)
        return unknown;
    kj_run_value of = kj_warn_value(names, e->u.index.base), i = kj_warn_value(names, arg);
    bool shape = e->u.index.base->kind == KJ_E_MEMBER; /* of one number, too */
    bool known = of.kind == KJ_NUMBERS && (of.n > 1 || shape) && is_number(i) &&
                 i.numbers[0] >= 0 && i.numbers[0] < of.n;
    return known ? number(of.numbers[i.numbers[0]]) : unknown;
}

static kj_run_value tuple(const kj_run_names *names, const kj_expr *items)
{
    kj_run_value all = {.kind = KJ_NUMBERS};
    for (; items; items = items->next) {
        kj_run_value one = kj_warn_value(names, items);
        if (!is_number(one) || all.n == KJ_MAX_NDIM)
            return unknown;
        all.numbers[all.n++] = one.numbers[0];
    }
    return all;
}

/* ---- Arrays ---- */

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

static kj_run_value array_of_shape(kj_run_value shape)
{
    shape.kind = shape.kind == KJ_NUMBERS ? KJ_EXTENTS : KJ_UNKNOWN;
    return shape;
}

static bool is_type(const kj_run_names *names, const kj_expr *e)
{
    return e->kind == KJ_E_NAME ? !find(names, e->u.name) && kj_type_named(e->u.name) != KJ_VOID
                                : e->kind == KJ_E_MEMBER && strcmp(e->u.member.name, "dtype") == 0;
}

/* arange(n), arange(from, to, step), of a dtype. */
static kj_run_value counted(const kj_run_names *names, const kj_expr *args)
{
    kj_run_value at[3] = {number(0), unknown, number(1)}, given[3];
    int n = 0;
    for (; args; args = args->next) {
        if (args->keyword ? strcmp(args->keyword, "dtype") == 0 : is_type(names, args))
            continue;
        if (args->keyword || n == 3)
            return unknown;
        given[n++] = kj_warn_value(names, args);
    }
    for (int i = 0; i < n; i++)
        at[n == 1 ? 1 : i] = given[i];
    bool down = is_number(at[2]) && at[2].numbers[0] < 0;
    kj_run_value far = operate(KJ_OP_SUB, at[down ? 0 : 1], at[down ? 1 : 0]);
    kj_run_value step = down ? operate(KJ_OP_SUB, number(0), at[2]) : at[2];
    return array_of_shape(rounded_up(far, step));
}

/* array([[1, 2], [3, 4]]): each list an axis, but where vectors are made of lists. */
static kj_run_value listed(const kj_run_names *names, const kj_expr *args)
{
    kj_run_value array = {.kind = KJ_EXTENTS};
    for (const kj_expr *arg = args; arg; arg = arg->next)
        if (arg != args && (arg->kind != KJ_E_NAME || !is_type(names, arg) ||
                            kj_type_named(arg->u.name) >= KJ_NTYPES))
            return unknown;
    for (const kj_expr *e = args; e && e->kind == KJ_E_LIST; e = e->u.list.items) {
        if (array.n == KJ_MAX_NDIM)
            return unknown;
        array.numbers[array.n++] = e->u.list.n;
        if (e->u.list.items && e->u.list.items->kind == KJ_E_NAME)
            return unknown; /* it may be a list */
    }
    return array.n ? array : unknown;
}

static kj_run_value call(const kj_run_names *names, const kj_expr *e)
{
    const kj_expr *callee = e->u.call.callee, *args = e->u.call.args;
    bool named = callee->kind == KJ_E_NAME && !find(names, callee->u.name);
    if (named && strcmp(callee->u.name, "ceil_div") == 0)
        return ceil_div(names, args);
    if (named && (strcmp(callee->u.name, "max") == 0 || strcmp(callee->u.name, "min") == 0))
        return extreme(names, args, callee->u.name[1] == 'a');
    if (named && strcmp(callee->u.name, "divmod") == 0)
        return divided(names, args);
    if (named && kj_is_int(kj_type_named(callee->u.name)))
        return converted(names, e, kj_type_named(callee->u.name));
    int row = kj_warn_row(names, callee);
    if (row < 0 || argument(args, row, "strides"))
        return unknown;
    const kj_expr *shape = argument(args, row, "shape"), *n = argument(args, row, "n");
    kj_gives gives = kj_run_builtins[row].gives;
    if (gives == KJ_GIVES_SHAPED)
        return shape ? array_of_shape(kj_warn_value(names, shape)) : unknown;
    if (gives == KJ_GIVES_LIKE) {
        kj_run_value like = args && !args->keyword ? kj_warn_value(names, args) : unknown;
        return like.kind == KJ_EXTENTS ? like : unknown;
    }
    switch (row) {
    case KJ_RUN_ARANGE: return counted(names, args);
    case KJ_RUN_LINSPACE: return n ? array_of_shape(kj_warn_value(names, n)) : unknown;
    case KJ_RUN_ARRAY: return listed(names, args);
    case KJ_RUN_LEN: return args ? length(kj_warn_value(names, args)) : unknown;
    case KJ_RUN_INT: return converted(names, e, KJ_I64);
    default: return unknown;
    }
}

/* 2 * x, x + y: what has the shape of its arrays. */
static kj_run_value of_elements(const kj_expr *e, kj_run_value x, kj_run_value y)
{
    bool left = x.kind == KJ_EXTENTS, right = y.kind == KJ_EXTENTS;
    const kj_expr *other = left ? e->u.binary.rhs : e->u.binary.lhs;
    if (e->u.binary.op == KJ_OP_MATMUL || !(left || right))
        return unknown;
    if (left && right)
        return x.n == y.n && memcmp(x.numbers, y.numbers, (size_t)x.n * sizeof *x.numbers) == 0
                   ? x
                   : unknown;
    return is_number(left ? y : x) || other->kind == KJ_E_FLOAT ? left ? x : y : unknown;
}

static kj_run_value binary(const kj_run_names *names, const kj_expr *e)
{
    kj_run_value x = kj_warn_value(names, e->u.binary.lhs),
                 y = kj_warn_value(names, e->u.binary.rhs);
    return x.kind == KJ_EXTENTS || y.kind == KJ_EXTENTS ? of_elements(e, x, y)
                                                        : operate(e->u.binary.op, x, y);
}

/* -1, -x */
static kj_run_value unary(const kj_run_names *names, const kj_expr *e)
{
    kj_run_value v = e->u.unary.op == KJ_OP_NEG ? kj_warn_value(names, e->u.unary.arg) : unknown;
    return is_number(v) ? operate(KJ_OP_SUB, number(0), v) : v.kind == KJ_EXTENTS ? v : unknown;
}

kj_run_value kj_warn_value(const kj_run_names *names, const kj_expr *e)
{
    const kj_run_name *name;
    switch (e->kind) {
    case KJ_E_INT: return e->u.integer <= INT32_MAX ? number((int64_t)e->u.integer) : unknown;
    case KJ_E_NAME: name = find(names, e->u.name); return name ? name->value : unknown;
    case KJ_E_UNARY: return unary(names, e);
    case KJ_E_BINARY: return binary(names, e);
    case KJ_E_TUPLE: return tuple(names, e->u.list.items);
    case KJ_E_CALL: return call(names, e);
    case KJ_E_MEMBER: return member(names, e);
    case KJ_E_INDEX: return item(names, e);
    default: return unknown;
    }
}
