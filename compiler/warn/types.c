/* What types do that a reader may not see: arithmetic that wraps in few bits, and then goes on in more. */
#include <string.h>

#include "warn/range.h"
#include "warn/warn.h"
#include "warn/widen.h"

enum { NCOUNTS = 8 };

typedef struct types_walk {
    kj_diag *diag;
    const kj_file *file;
    const kj_tstmt *body;
    const kj_tstmt *s; /* that is looked at */
    kj_made made;
    bool *asked; /* by a variable's id: something compares it, which may be a guard */
    int asked_room;
    const kj_texpr *counts[NCOUNTS]; /* the last that shifts were by */
    unsigned ncounts;
} types_walk;

static bool is_int_of(const kj_texpr *e, int least, int most)
{
    return kj_is_int(e->type) && kj_types[e->type].bits >= least && kj_types[e->type].bits <= most;
}

static const kj_var *variable(const kj_texpr *e)
{
    e = kj_unconverted(e);
    return e->kind == KJ_TE_VAR ? e->u.var : NULL;
}

static bool is_asked(const types_walk *w, const kj_texpr *e)
{
    const kj_var *v = variable(e);
    return v && v->id < w->asked_room && w->asked[v->id];
}

static void ask(types_walk *w, const kj_texpr *e)
{
    const kj_var *v = variable(e);
    if (!v)
        return;
    if (v->id >= w->asked_room) {
        int room = 2 * v->id + 16;
        bool *all = KJ_NEW_ARRAY(w->diag->arena, bool, (size_t)room);
        if (w->asked_room)
            memcpy(all, w->asked, (size_t)w->asked_room * sizeof *all);
        w->asked = all;
        w->asked_room = room;
    }
    w->asked[v->id] = true;
}

static void note(types_walk *w, const kj_var *v, const kj_tstmt *made)
{
    if (v->mutable)
        return;
    if (v->id >= w->made.room) {
        int room = v->id + 1 > 2 * w->made.room ? v->id + 1 : 2 * w->made.room;
        const kj_tstmt **all = KJ_NEW_ARRAY(w->diag->arena, const kj_tstmt *, (size_t)room);
        if (w->made.room)
            memcpy(all, w->made.of, (size_t)w->made.room * sizeof(const kj_tstmt *));
        w->made.of = all;
        w->made.room = room;
    }
    w->made.of[v->id] = made;
}

static bool see_asked(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    if (!e && s->kind == KJ_TS_DECL && s->u.decl.init)
        note(ctx, s->u.decl.var, s); /* a power in an arm is walked behind what it is an arm of */
    kj_op op = e && e->kind == KJ_TE_BINARY ? e->u.binary.op : KJ_NOPS;
    if (op == KJ_OP_LT || op == KJ_OP_LE || op == KJ_OP_GT || op == KJ_OP_GE) {
        ask(ctx, e->u.binary.lhs);
        ask(ctx, e->u.binary.rhs);
    }
    return true;
}

/* The first operation in it that leaves the type's range as soon as its operands are not small, and whose type nobody
 * asked for; NULL: there is none. Sums of 32 bits hardly do. What `^` mixes, and `&` masks, may fall off. */
static const kj_texpr *wrapping(const types_walk *w, const kj_texpr *whole, int least, int most)
{
    const kj_texpr *e = kj_in_place(&w->made, whole), *found = NULL;
    kj_op op = e->kind == KJ_TE_BINARY ? e->u.binary.op : KJ_NOPS;
    if (whole->written || e->written || !is_int_of(e, least, most))
        return NULL;
    if (e->kind == KJ_TE_UNARY && e->u.unary.op == KJ_OP_NEG)
        return wrapping(w, e->u.unary.arg, least, most);
    bool sum = op == KJ_OP_ADD || op == KJ_OP_SUB, either = op == KJ_OP_OR;
    if (!sum && !either && op != KJ_OP_MUL && op != KJ_OP_SHL)
        return NULL;
    if (!either && (!sum || most < 32) && kj_leaves_type(&w->made, e))
        return e;
    if (either && kj_is_rotation(w->diag, &w->made, e))
        return NULL;
    found = wrapping(w, e->u.binary.lhs, least, most);
    return found || op == KJ_OP_SHL ? found : wrapping(w, e->u.binary.rhs, least, most);
}

/* ---- 8 and 16 bits ---- */

/* Is one part of a value written in it, or behind it: v[i].x? */
static bool names_part(const types_walk *w, kj_span span)
{
    const char *text = w->diag->source->text;
    for (uint32_t i = span.begin; i + 1 < span.end; i++)
        if (text[i] == '.' && strchr("xyzw", text[i + 1]) && !kj_is_word(text[i + 2]))
            return true;
    const char *behind = text + span.end;
    return behind[strspn(behind, ") ")] == '.';
}

/* The vector that e is a part of where whole vectors are written, or NULL. Through so many names: those of names of both
 * sides double with each. */
static const kj_aggregate *vector_in(const types_walk *w, const kj_texpr *e, int *names)
{
    const kj_texpr *held = kj_in_place(&w->made, e);
    if (held != e)
        return vector_in(w, held, names);
    if (e->kind == KJ_TE_BINARY) {
        const kj_aggregate *of = vector_in(w, e->u.binary.lhs, names);
        return of ? of : vector_in(w, e->u.binary.rhs, names);
    }
    const kj_tstmt *made =
        e->kind == KJ_TE_VAR && e->u.var->id < w->made.room ? w->made.of[e->u.var->id] : NULL;
    if (made && made->kind == KJ_TS_DECL && made->u.decl.init)
        return --*names < 0 ? NULL : vector_in(w, made->u.decl.init, names);
    const kj_tarray *whole = e->kind == KJ_TE_LOAD ? e->u.load.array->whole : NULL;
    return whole && kj_is_vector(whole->of) ? whole->of : NULL;
}

static const kj_aggregate *vector_of(const types_walk *w, const kj_texpr *e)
{
    enum { MOST = 64 };
    return vector_in(w, e, &(int){MOST});
}

/* An instance of a generic function asks what another needs. */
static bool is_generic(const types_walk *w, kj_span span)
{
    for (const kj_item *item = w->file->items; item; item = item->next)
        if (item->generics && item->span.begin <= span.begin && span.end <= item->span.end)
            return true;
    return false;
}

/* let: whose value e is; its uses may need its type. */
static void widen_in(const types_walk *w, kj_message *m, const kj_texpr *e, kj_dtype to,
                     const kj_tstmt *let, bool hint_only)
{
    const kj_aggregate *vector = names_part(w, e->span) ? NULL : vector_of(w, e);
    kj_widen how = {.body = w->body,
                    .s = let ? let : w->s,
                    .e = e,
                    .made = &w->made,
                    .to = to,
                    .hint_only = hint_only,
                    .own = vector ? vector->name : kj_type_name(e->type),
                    .lanes = vector ? vector->n : 0,
                    .generic = kj_is_shown(w->diag, m) && is_generic(w, e->span)};
    kj_warn_widen(w->diag, m, &how);
}

static void widen(const types_walk *w, kj_message *m, const kj_texpr *e, kj_dtype to)
{
    widen_in(w, m, e, to, NULL, false);
}

/* How narrow arithmetic is used: behind a let, where there is one. */
typedef struct usage {
    const char *then;       /* "compared" */
    const kj_texpr *beside; /* what it is compared with; or NULL */
    bool equal;             /* asked only whether it is the same */
    const kj_tstmt *let;    /* whose value it is; or NULL */
    const kj_tstmt *loop;   /* whose bound it is; or NULL */
    const kj_texpr *to16;   /* the conversion to 16 bits that it is used by; or NULL */
} usage;

/* The let whose type nobody wrote, or in which divmod has its argument; or NULL. */
static const kj_tstmt *untyped_let(const types_walk *w, const kj_texpr *e)
{
    const kj_var *v = e->kind == KJ_TE_VAR ? e->u.var : NULL;
    const kj_tstmt *made = v && !v->mutable && v->id < w->made.room ? w->made.of[v->id] : NULL;
    if (!made || made->kind != KJ_TS_DECL || !made->u.decl.init || !is_int_of(e, 8, 16))
        return NULL;
    if (!kj_is_named(w->diag, v))
        return strcmp(v->name, kj_builtins[KJ_BI_DIVMOD].name) == 0 ? made : NULL;
    return kj_is_untyped_name(w->diag, v) ? made : NULL;
}

/* A sum compared with one of its operands asks whether it wrapped; whether a difference is 0 does not depend on that. */
static bool is_told_by_wrapping(const types_walk *w, const kj_texpr *e, const usage *use)
{
    const kj_texpr *beside = use->beside;
    e = kj_in_place(&w->made, e);
    return beside && e->kind == KJ_TE_BINARY &&
           ((use->equal && e->u.binary.op == KJ_OP_SUB) ||
            kj_same_text(w->diag, beside->span, e->u.binary.lhs->span) ||
            kj_same_text(w->diag, beside->span, e->u.binary.rhs->span));
}

/* May a variable have that type, wherever it is used? */
static bool may_be(const types_walk *w, const kj_var *v, kj_dtype to)
{
    const kj_uses u = kj_uses_of(w->body, v, to);
    return u.wide == u.all;
}

static bool is_use(const kj_texpr *e, const kj_var *v)
{
    return e->kind == KJ_TE_VAR && e->u.var == v;
}

/* How what a reduction comes to is used: all of it in floats, or in more bits that have a sign. */
typedef struct reduced {
    const kj_var *sum, *result;
    int uses, wide;
} reduced;

static bool see_reduced(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    reduced *r = ctx;
    if (!e && s->kind == KJ_TS_DECL && s->u.decl.init && is_use(s->u.decl.init, r->sum))
        r->result = s->u.decl.var;
    if (!e || !r->result)
        return true;
    r->uses += is_use(e, r->result);
    if (e->kind == KJ_TE_CONVERT && is_use(e->u.unary.arg, r->result))
        r->wide += e->written || kj_is_float(e->type) || (e->type == KJ_I32 || e->type == KJ_I64);
    return true;
}

/* May what is reduced have another type? */
static bool is_reduced_freely(const types_walk *w)
{
    reduced r = {.sum = w->s->kind == KJ_TS_ASSIGN ? w->s->u.assign.var : NULL};
    const kj_span at = r.sum ? r.sum->span : (kj_span){0, 0};
    if (!r.sum || at.end - at.begin <= strlen(r.sum->name))
        return false;
    kj_walk(w->body, NULL, see_reduced, &r);
    return r.uses && r.uses == r.wide;
}

static void warn_of_arithmetic(const types_walk *w, const kj_texpr *e, const usage *use)
{
    const kj_var *v = use->let ? use->let->u.decl.var : NULL;
    bool named = v && kj_is_named(w->diag, v);
    const char *what = named ? kj_arena_printf(w->diag->arena, "'%s'", v->name) : "it";
    kj_message *m = kj_warn(w->diag, e->span, KJ_RULE_NARROW_ARITHMETIC,
                            "this is computed in %s, where it can wrap, before %s is %s",
                            kj_type_name(e->type), what, use->then);
    kj_dtype wide = kj_fits(&w->made, e, KJ_I32) ? KJ_I32 : KJ_I64;
    if (!v && use->loop) {
        widen_in(w, m, e, wide, NULL, !may_be(w, use->loop->u.for_.var, wide));
        return;
    }
    if (!v) {
        widen(w, m, e, is_reduced_freely(w) ? wide : KJ_VOID);
        return;
    }
    if (use->to16)
        wide = use->to16->type;
    widen_in(w, m, e, wide, use->let, !named || !may_be(w, v, wide));
    w->made.of[v->id] = NULL; /* told once */
}

/* Does it wrap, and does nothing compare what it is made of, which may be a guard? */
static bool may_wrap(const types_walk *w, const kj_texpr *e)
{
    const kj_texpr *found = wrapping(w, e, 8, 16);
    return found && !is_asked(w, found->u.binary.lhs) && !is_asked(w, found->u.binary.rhs);
}

/* e, what it chooses from, what it is the negative of, or what a let was given. */
static void warn_of_narrow(const types_walk *w, const kj_texpr *e, usage use)
{
    const char *then;
    bool taken = kj_takes_integers(e, &then);
    const kj_tstmt *let = untyped_let(w, e);
    if (let) {
        use.let = let;
        warn_of_narrow(w, let->u.decl.init, use);
    } else if (e->kind == KJ_TE_SELECT) {
        warn_of_narrow(w, e->u.select.yes, use);
        warn_of_narrow(w, e->u.select.no, use);
    } else if (taken && !then) {
        for (int i = 0; i < e->u.call.nargs; i++)
            warn_of_narrow(w, e->u.call.args[i], use);
    } else if (e->kind == KJ_TE_UNARY && e->u.unary.op == KJ_OP_NEG && !e->written) {
        warn_of_narrow(w, e->u.unary.arg, use);
    } else if (may_wrap(w, e) && !(use.let && is_told_by_wrapping(w, e, &use))) {
        warn_of_arithmetic(w, e, &use);
    }
}

static bool is_count(const types_walk *w, const kj_texpr *e)
{
    for (int i = 0; i < NCOUNTS; i++)
        if (w->counts[i] == e)
            return true;
    return false;
}

static void see_compared(const types_walk *w, const kj_texpr *e)
{
    const kj_texpr *lhs = e->u.binary.lhs, *rhs = e->u.binary.rhs;
    bool equal = e->u.binary.op == KJ_OP_EQ || e->u.binary.op == KJ_OP_NE;
    warn_of_narrow(w, lhs, (usage){.then = "compared", .beside = rhs, .equal = equal});
    warn_of_narrow(w, rhs, (usage){.then = "compared", .beside = lhs, .equal = equal});
}

static void see_narrow(const types_walk *w, const kj_texpr *e)
{
    kj_op op = e->kind == KJ_TE_BINARY ? e->u.binary.op : KJ_NOPS;
    bool wider = e->kind == KJ_TE_CONVERT && !is_count(w, e) &&
                 kj_types[e->type].bits > kj_types[e->u.unary.arg->type].bits;
    const kj_texpr *to16 = is_int_of(e, 16, 16) && !e->written ? e : NULL;
    if (wider)
        warn_of_narrow(w, e->u.unary.arg, (usage){.then = "widened", .to16 = to16});
    if (op == KJ_OP_FLOORDIV || op == KJ_OP_MOD || op == KJ_OP_DIV)
        warn_of_narrow(w, e->u.binary.lhs, (usage){.then = "divided"});
    else if (op == KJ_OP_SHR)
        warn_of_narrow(w, e->u.binary.lhs, (usage){.then = "shifted right"});
    else if (op != KJ_NOPS && kj_ops[op].class == KJ_OPS_COMPARE)
        see_compared(w, e);
    const char *then;
    for (int i = 0; kj_takes_integers(e, &then) && then && i < e->u.call.nargs; i++)
        warn_of_narrow(w, e->u.call.args[i], (usage){.then = then});
}

static void see_bounds(const types_walk *w, const kj_tstmt *s)
{
    const usage use = {.then = "a bound of the loop", .loop = s};
    warn_of_narrow(w, s->u.for_.start, use);
    warn_of_narrow(w, s->u.for_.stop, use);
    warn_of_narrow(w, s->u.for_.step, use);
}

/* ---- 32 bits in 64 ---- */

/* Does it stand in the source, and not in what a function of the language is made of? */
static bool stands(const kj_texpr *operation)
{
    kj_span all = operation->span, first = operation->u.binary.lhs->span;
    return first.begin != all.begin || first.end != all.end;
}

/* The outermost difference of unsigned numbers that can wrap, also in sums of them; NULL: there is none. */
static const kj_texpr *wrapping_difference(const types_walk *w, const kj_texpr *e)
{
    kj_op op = e->kind == KJ_TE_BINARY && !e->written ? e->u.binary.op : KJ_NOPS;
    if (op == KJ_OP_SUB && is_int_of(e, 32, 32) && !kj_is_signed(e->type) &&
        kj_leaves_type(&w->made, e))
        return e;
    if (op != KJ_OP_ADD && op != KJ_OP_SUB)
        return NULL;
    const kj_texpr *left = wrapping_difference(w, e->u.binary.lhs);
    return left ? left : wrapping_difference(w, e->u.binary.rhs);
}

/* e: of 32 bits, made `to`; what it chooses from, or is the negative of, is. */
static void see_made(const types_walk *w, const kj_texpr *e, kj_dtype to)
{
    e = kj_in_place(&w->made, e);
    if (e->written)
        return;
    if (e->kind == KJ_TE_SELECT) {
        see_made(w, e->u.select.yes, to);
        see_made(w, e->u.select.no, to);
        return;
    }
    if (e->kind == KJ_TE_UNARY) {
        see_made(w, e->u.unary.arg, to);
        return;
    }
    const kj_texpr *product = wrapping(w, e, 32, 32);
    bool below = !product && kj_is_signed(to);
    if (below)
        product = wrapping_difference(w, e);
    if (!product || !stands(product))
        return;
    bool shift = product->u.binary.op == KJ_OP_SHL, power = kj_power_base(&w->made, product);
    kj_message *m = kj_warn(w->diag, product->span, KJ_RULE_NARROW_PRODUCT,
                            "this %s is computed in %s, where it can wrap, before it is %s",
                            below   ? "difference"
                            : shift ? "shift"
                            : power ? "power"
                                    : "product",
                            kj_type_name(e->type), kj_type_name(to));
    widen(w, m, e, to);
}

/* value: what is stored, in a type of its own accord or by i64(...). */
static void see_product(const types_walk *w, const kj_texpr *value)
{
    if (value && value->kind == KJ_TE_SELECT) {
        see_product(w, value->u.select.yes);
        see_product(w, value->u.select.no);
    } else if (value && value->kind == KJ_TE_CONVERT && is_int_of(value, 64, 64)) {
        see_made(w, value->u.unary.arg, value->type);
    }
}

/* The same of what is added to what is stored. */
static void see_sum(const types_walk *w, const kj_texpr *value)
{
    kj_op op = value->kind == KJ_TE_BINARY ? value->u.binary.op : KJ_NOPS;
    if (op == KJ_OP_ADD || op == KJ_OP_SUB || op == KJ_OP_OR) {
        see_sum(w, value->u.binary.lhs);
        see_sum(w, value->u.binary.rhs);
    } else {
        see_product(w, value);
    }
}

/* ---- Unsigned ---- */

/* A number that stands in the operation: what an argument or a constant comes to is another's matter. */
static bool is_number(const types_walk *w, const kj_texpr *e, kj_span operation)
{
    char first = w->diag->source->text[e->span.begin];
    bool within = operation.begin <= e->span.begin && e->span.end <= operation.end;
    return e->kind == KJ_TE_CONST && kj_is_int(e->type) && within && first >= '0' && first <= '9';
}

static bool is_zero(const types_walk *w, const kj_texpr *e, kj_span comparison)
{
    return is_number(w, e, comparison) && e->u.value.u == 0;
}

static bool is_unsigned(const kj_texpr *e)
{
    return kj_is_int(e->type) && !kj_is_signed(e->type) && e->kind != KJ_TE_CONST;
}

static void see_below_zero(const types_walk *w, const kj_texpr *e)
{
    if (e->kind != KJ_TE_BINARY)
        return;
    const kj_texpr *lhs = e->u.binary.lhs, *rhs = e->u.binary.rhs;
    kj_op op = e->u.binary.op;
    bool left = (op == KJ_OP_LT || op == KJ_OP_GE) && is_unsigned(lhs) && is_zero(w, rhs, e->span);
    bool right = (op == KJ_OP_GT || op == KJ_OP_LE) && is_unsigned(rhs) && is_zero(w, lhs, e->span);
    if ((!left && !right) || is_generic(w, e->span))
        return;
    kj_warn(w->diag, e->span, KJ_RULE_CONSTANT_CONDITION,
            "this condition is always %s: %s is never below 0",
            op == KJ_OP_GE || op == KJ_OP_LE ? "true" : "false",
            kj_type_name(left ? lhs->type : rhs->type));
}

/* ---- Shifts ---- */

/* The count is written there, and no instance of a generic function has one for other types. */
static void see_shift(const types_walk *w, const kj_texpr *e)
{
    const kj_texpr *by = e->u.binary.rhs;
    int bits = kj_types[e->type].bits;
    if (!is_int_of(e, 32, 64) || by->kind != KJ_TE_CONST || by->u.value.i < bits ||
        !is_number(w, by, e->span) || is_generic(w, e->span))
        return;
    const kj_message *last = w->diag->last;
    if (last && last->span.begin == e->span.begin && last->span.end == e->span.end)
        return; /* it was told that it wraps, and with what it doesn't */
    bool left = e->u.binary.op == KJ_OP_SHL, sign = !left && kj_is_signed(e->type);
    kj_message *m =
        kj_warn(w->diag, e->span, KJ_RULE_SHIFT_COUNT, "this shift is always %s: %s has %d bits",
                sign ? "0 or -1" : "0", kj_type_name(e->type), bits);
    if (left && bits < 64)
        kj_hint(w->diag, m, "where more bits are meant, what is shifted is an %s64 before",
                kj_is_signed(e->type) ? "i" : "u");
}

/* ---- The walk ---- */

static void see_stmt(types_walk *w, const kj_tstmt *s)
{
    if (s->kind == KJ_TS_STORE)
        see_sum(w, s->u.store.value);
    else if (s->kind == KJ_TS_ASSIGN && kj_is_named(w->diag, s->u.assign.var))
        see_sum(w, s->u.assign.value);
    else if (s->kind == KJ_TS_DECL &&
             kj_is_named(w->diag, s->u.decl.var)) /* a sum here is an index */
        see_product(w, s->u.decl.init);
    if (s->kind == KJ_TS_FOR)
        see_bounds(w, s);
    if (s->kind == KJ_TS_DECL && s->u.decl.init)
        note(w, s->u.decl.var, s);
    else if (s->kind == KJ_TS_FOR)
        note(w, s->u.for_.var, s);
}

static bool see(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    types_walk *w = ctx;
    w->s = s;
    if (!e) {
        see_stmt(w, s);
        return true;
    }
    bool shift = e->kind == KJ_TE_BINARY && kj_ops[e->u.binary.op].class == KJ_OPS_SHIFT;
    see_narrow(w, e);
    see_below_zero(w, e);
    if (e->written)
        see_product(w, e);
    if (shift)
        see_shift(w, e);
    if (shift)
        w->counts[w->ncounts++ % NCOUNTS] = e->u.binary.rhs;
    return true;
}

void kj_warn_of_types(kj_diag *diag, const kj_file *file, const kj_tstmt *body)
{
    types_walk w = {.diag = diag, .file = file, .body = body};
    if (!diag->wanted)
        return;
    kj_walk(body, NULL, see_asked, &w);
    kj_walk(body, NULL, see, &w);
}
