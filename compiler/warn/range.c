/* What integers can be: an expression in, the least and the most that it can give out, by its types, constants, functions
 * and loops over constants. */
#include <string.h>

#include "warn/range.h"

typedef struct range {
    int64_t least, most;
} range;

enum { DEEPEST = 8 }; /* operations that are looked through */

static range of_type(kj_dtype t)
{
    int bits = kj_types[t].bits;
    if (bits > 32)
        return (range){INT64_MIN, INT64_MAX};
    return kj_is_signed(t) ? (range){-((int64_t)1 << (bits - 1)), ((int64_t)1 << (bits - 1)) - 1}
                           : (range){0, ((int64_t)1 << bits) - 1};
}

static bool is_within(range r, range all)
{
    return r.least >= all.least && r.most <= all.most;
}

static range range_of(const kj_made *w, const kj_texpr *e, int depth);

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t floor_div(int64_t a, int64_t positive)
{
    return a / positive - (a % positive < 0);
}

static bool is_same(kj_span a, kj_span b)
{
    return a.begin == b.begin && a.end == b.end;
}

static range product(range a, range b)
{
    range r = {INT64_MAX, INT64_MIN};
    const int64_t x[2] = {a.least, a.most}, y[2] = {b.least, b.most};
    for (int i = 0; i < 4; i++) {
        int64_t p;
        if (__builtin_mul_overflow(x[i / 2], y[i % 2], &p))
            return (range){INT64_MIN, INT64_MAX};
        r.least = p < r.least ? p : r.least;
        r.most = p > r.most ? p : r.most;
    }
    return r;
}

/* Of numbers that have these bits set or not: 0 .. 2^k - 1, or from -2^k on. */
static range of_bits(range a, range b)
{
    int64_t low = least(a.least, b.least), high = most(a.most, b.most), all = 0;
    while (all < high || -all - 1 > low)
        all = 2 * all + 1;
    return (range){low < 0 ? -all - 1 : 0, all};
}

static bool is_square(const kj_texpr *a, const kj_texpr *b)
{
    return a->kind == KJ_TE_VAR && b->kind == KJ_TE_VAR && a->u.var == b->u.var &&
           !a->u.var->mutable;
}

static range of_square(range a)
{
    range r = product(a, a);
    return r.least == INT64_MIN ? r : (range){most(r.least, 0), r.most};
}

/* The sign of a remainder is that of the divisor. */
static range of_remainder(range b)
{
    return b.least == INT64_MIN ? b : (range){least(b.least + 1, 0), most(b.most - 1, 0)};
}

/* No quotient is further from 0 than what is divided. */
static range of_quotient(range a)
{
    if (a.least == INT64_MIN)
        return a;
    int64_t far = most(-a.least, a.most);
    return (range){-far, far};
}

static range of_common_bits(range a, range b)
{
    if (a.least < 0 && b.least < 0)
        return of_bits(a, b);
    return (range){0, a.least < 0 ? b.most : b.least < 0 ? a.most : least(a.most, b.most)};
}

/* Exactly, where its type does not matter. */
static range of_operation(const kj_made *w, const kj_texpr *e, int depth)
{
    const range any = {INT64_MIN, INT64_MAX};
    range a = range_of(w, e->u.binary.lhs, depth), b = range_of(w, e->u.binary.rhs, depth), r;
    bool fixed = b.least == b.most && b.least >= 0;
    int64_t c = b.least;
    switch (e->u.binary.op) {
    case KJ_OP_ADD:
        return __builtin_add_overflow(a.least, b.least, &r.least) ||
                       __builtin_add_overflow(a.most, b.most, &r.most)
                   ? any
                   : r;
    case KJ_OP_SUB:
        return __builtin_sub_overflow(a.least, b.most, &r.least) ||
                       __builtin_sub_overflow(a.most, b.least, &r.most)
                   ? any
                   : r;
    case KJ_OP_MUL:
        return is_square(e->u.binary.lhs, e->u.binary.rhs) ? of_square(a) : product(a, b);
    case KJ_OP_SHL:
        return fixed && c < 32 ? product(a, (range){(int64_t)1 << c, (int64_t)1 << c}) : any;
    case KJ_OP_SHR:
        if (fixed && c > 0 && c < 63 && e->type == KJ_U64 && a.least < 0)
            return (range){0, (int64_t)(UINT64_MAX >> c)};
        return fixed && c < 63 ? (range){a.least >> c, a.most >> c}
                               : (range){least(a.least, 0), most(a.most, 0)};
    case KJ_OP_AND: return of_common_bits(a, b);
    case KJ_OP_OR:
    case KJ_OP_XOR: return of_bits(a, b);
    case KJ_OP_MOD: return of_remainder(b);
    case KJ_OP_FLOORDIV:
        return fixed && c > 0 ? (range){floor_div(a.least, c), floor_div(a.most, c)}
                              : of_quotient(a);
    default: return any;
    }
}

/* ---- Functions ---- */

static range of_min(const range *x)
{
    return (range){least(x[0].least, x[1].least), least(x[0].most, x[1].most)};
}

static range of_max(const range *x)
{
    return (range){most(x[0].least, x[1].least), most(x[0].most, x[1].most)};
}

static range of_clamp(const range *x)
{
    const range low[2] = {x[0], x[1]}, high[2] = {of_max(low), x[2]};
    return of_min(high);
}

static range of_abs(const range *x)
{
    const range all = {INT64_MIN, INT64_MAX};
    if (x->least == INT64_MIN)
        return all;
    return (range){most(0, most(x->least, -x->most)), most(x->most, -x->least)};
}

static range of_sign(const range *x)
{
    return (range){x->least < 0 ? -1 : x->least > 0, x->most > 0 ? 1 : -(x->most < 0)};
}

static range of_selp(const range *x)
{
    return (range){least(x[1].least, x[2].least), most(x[1].most, x[2].most)};
}

/* Functions of integers that take them for what they are, where + and * are as good modulo 2^bits: what the arguments
 * are then, and what the result can be. */
static const struct taker {
    kj_builtin id;
    const char *then;           /* "compared"; NULL: handed on as it is */
    range (*of)(const range *); /* NULL: anything of its type */
} takers[] = {
    {KJ_BI_MIN, "compared", of_min},     {KJ_BI_MAX, "compared", of_max},
    {KJ_BI_CLAMP, "compared", of_clamp}, {KJ_BI_ABS, "made positive", of_abs},
    {KJ_BI_SIGN, "compared", of_sign},   {KJ_BI_SAD, "compared", NULL},
    {KJ_BI_CEIL_DIV, "divided", NULL},   {KJ_BI_HADD, "halved", NULL},
    {KJ_BI_RHADD, "halved", NULL},       {KJ_BI_SELP, NULL, of_selp},
};

static const struct taker *taker_of(const kj_texpr *e)
{
    for (size_t i = 0; e->kind == KJ_TE_CALL && i < sizeof takers / sizeof *takers; i++)
        if (takers[i].id == e->u.call.id)
            return &takers[i];
    return NULL;
}

static range of_call(const kj_made *w, const kj_texpr *e, int depth)
{
    const struct taker *taker = taker_of(e);
    range x[3] = {{0, 0}};
    if (!taker || !taker->of)
        return of_type(e->type);
    for (int i = 0; i < e->u.call.nargs; i++)
        x[i] = range_of(w, e->u.call.args[i], depth);
    return taker->of(x);
}

static range of_select(const kj_made *w, const kj_texpr *e, int depth)
{
    const range x[3] = {
        {0, 0}, range_of(w, e->u.select.yes, depth), range_of(w, e->u.select.no, depth)};
    return of_selp(x);
}

static range of_negative(range x)
{
    return x.least == INT64_MIN ? x : (range){-x.most, -x.least};
}

/* ---- Expressions ---- */

/* Of what is computed in an arm of a choice, by statements. */
static const kj_texpr *result_of(const kj_texpr *e)
{
    const kj_tstmt *last =
        strcmp(e->u.inline_.block->name, "expression") == 0 ? e->u.inline_.block->body : NULL;
    while (last && last->next)
        last = last->next;
    bool gives = last && last->kind == KJ_TS_ASSIGN && last->u.assign.var == e->u.inline_.result;
    return gives ? last->u.assign.value : NULL;
}

const kj_texpr *kj_in_place(const kj_made *w, const kj_texpr *e)
{
    const kj_texpr *result = e->kind == KJ_TE_INLINE ? result_of(e) : NULL;
    if (result)
        return kj_in_place(w, result);
    const kj_var *v = e->kind == KJ_TE_VAR && !e->written ? e->u.var : NULL;
    const kj_tstmt *made = v && !v->mutable && v->id < w->room ? w->of[v->id] : NULL;
    bool named = v && (strcmp(v->name, "base") == 0 || strcmp(v->name, "square") == 0);
    bool held = named && made && made->kind == KJ_TS_DECL && made->u.decl.init &&
                is_same(v->span, e->span) && is_same(made->u.decl.init->span, e->span);
    return held ? made->u.decl.init : e;
}

const kj_texpr *kj_power_base(const kj_made *w, const kj_texpr *e)
{
    const kj_texpr *product = kj_in_place(w, e), *base, *square;
    if (product->kind != KJ_TE_BINARY || product->u.binary.op != KJ_OP_MUL)
        return NULL;
    base = product->u.binary.lhs;
    square = product->u.binary.rhs;
    if (!is_same(square->span, e->span) && !is_same(square->span, base->span))
        return NULL; /* x * x has two places */
    while (is_same(base->span, e->span) && kj_in_place(w, base)->kind == KJ_TE_BINARY)
        base = kj_in_place(w, base)->u.binary.lhs;
    return kj_in_place(w, base);
}

/* Of a loop over constants, or of what a let is. */
static range of_variable(const kj_made *w, const kj_var *v, int depth)
{
    const kj_tstmt *made = v->id < w->room ? w->of[v->id] : NULL;
    const range all = of_type(v->type);
    if (made && made->kind == KJ_TS_DECL)
        return range_of(w, made->u.decl.init, depth);
    if (!made || made->u.for_.start->kind != KJ_TE_CONST || made->u.for_.stop->kind != KJ_TE_CONST)
        return all;
    int64_t start = made->u.for_.start->u.value.i, stop = made->u.for_.stop->u.value.i;
    return start < stop ? (range){start, stop - 1} : stop < start ? (range){stop + 1, start} : all;
}

/* Does it hand on what may go beyond its type, where nobody asked for that? */
static bool grows(const kj_made *w, const kj_texpr *e)
{
    const struct taker *taker = taker_of(e);
    return !e->written &&
           (e->kind == KJ_TE_CONVERT || e->kind == KJ_TE_UNARY || e->kind == KJ_TE_SELECT ||
            e->kind == KJ_TE_BINARY || (taker && taker->of) || kj_in_place(w, e) != e);
}

static range range_of(const kj_made *w, const kj_texpr *e, int depth)
{
    range all = of_type(e->type), r = all;
    if (depth > DEEPEST || !kj_is_int(e->type))
        return w->exact ? (range){INT64_MIN, INT64_MAX} : all;
    if (e->kind == KJ_TE_INLINE && kj_in_place(w, e) != e)
        return range_of(w, kj_in_place(w, e), depth);
    if (e->kind == KJ_TE_CONST)
        r = (range){e->u.value.i, e->u.value.i};
    else if (e->kind == KJ_TE_CONVERT && kj_is_int(e->u.unary.arg->type))
        r = range_of(w, e->u.unary.arg, depth + 1);
    else if (e->kind == KJ_TE_CONVERT && e->u.unary.arg->type == KJ_BOOL)
        r = (range){0, 1};
    else if (e->kind == KJ_TE_BINARY)
        r = of_operation(w, e, depth + 1);
    else if (e->kind == KJ_TE_UNARY && e->u.unary.op == KJ_OP_NEG)
        r = of_negative(range_of(w, e->u.unary.arg, depth + 1));
    else if (e->kind == KJ_TE_SELECT)
        r = of_select(w, e, depth + 1);
    else if (e->kind == KJ_TE_CALL)
        r = of_call(w, e, depth + 1);
    else if (e->kind == KJ_TE_VAR && !e->u.var->mutable)
        r = of_variable(w, e->u.var, depth + 1);
    return is_within(r, all) || (w->exact && grows(w, e)) ? r : all;
}

bool kj_leaves_type(const kj_made *made, const kj_texpr *operation)
{
    return !is_within(of_operation(made, operation, 0), of_type(operation->type));
}

bool kj_fits(const kj_made *made, const kj_texpr *e, kj_dtype type)
{
    const kj_made exact = {.of = made->of, .room = made->room, .exact = true};
    return is_within(range_of(&exact, e, 0), of_type(type));
}

bool kj_takes_integers(const kj_texpr *e, const char **then)
{
    const struct taker *taker = taker_of(e);
    *then = taker ? taker->then : NULL;
    return taker != NULL;
}
