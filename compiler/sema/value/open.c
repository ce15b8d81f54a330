/* Open variables: those that begin as literals, and the types they take.
 *
 * `var s = 0.0` has the type that all values given to it have in common, at least that of a literal
 * alone. What these are depends on the types of other variables, so a body is first walked with the
 * types that literals have alone, and that is all as long as they hold what is given. Else it is walked
 * again until nothing new is learnt, while a variable of which nothing is known is a literal, as it
 * began, and takes the type of what it meets. The last walk has the types. */
#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "sema/value/value.h"

enum { FIRM = 16, MAX_WALKS = 256 };

/* The literals that a variable is given, or begins as: the type that holds all that they are alone, and
 * the finite values that every other lies between. */
typedef struct literals {
    kj_dtype type;            /* KJ_VOID: none */
    kj_value least, greatest; /* of type KJ_VOID: none */
} literals;

static const literals no_literals = {KJ_VOID, {.type = KJ_VOID}, {.type = KJ_VOID}};

struct kj_open {
    kj_open *next, *chained; /* chained: in the table */
    uint32_t
        at; /* where it is declared, which part of a tuple, in which instance of a generic and */
    const char *name, *bindings;
    uint64_t copy;     /* which turn of a loop over a tuple */
    kj_operand *first; /* what it begins as */
    kj_dtype type;     /* that is known; KJ_VOID: none */
    kj_dtype wanted;   /* what a walk that was kept would have it be; KJ_VOID: that type */
    kj_span decided;   /* the value that first gave it the type; empty: a literal */
    kj_dtype as;       /* and that type; KJ_VOID: none */
    kj_digits digits;  /* whatever it was given in a walk with types */
    /* In this walk: */
    kj_dtype given; /* what typed values have in common */
    literals literals;
    kj_dtype now; /* the type that holds all these */
    bool fresh;   /* `type` is of this walk, and may still change in it */
};

struct kj_opens {
    kj_open *first;
    kj_open **table; /* by what is_of compares; `room` is a power of two */
    size_t n, room;
    bool guessing; /* this walk is not kept: what is not known is a literal */
    bool learnt;
    bool misled;   /* of what somebody relied on for its digits not all has them */
    bool doubtful; /* a literal beyond i32 was given something typed, which may be narrower */
};

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool is_number(kj_dtype t)
{
    return kj_is_int(t) || kj_is_float(t) || kj_is_complex_type(t);
}

/* The type of a literal alone; KJ_VOID: it is none. */
static kj_dtype alone(const kj_operand *v)
{
    if (kj_is_untyped(v))
        return kj_untyped_type(v);
    return kj_is_complex(v) && v->u.tuple.of == &kj_complex_literal ? KJ_C64 : KJ_VOID;
}

/* Of the types of two literals alone. */
static kj_dtype wider(kj_dtype a, kj_dtype b)
{
    if (a == KJ_VOID || kj_is_complex_type(b))
        return b;
    return kj_is_complex_type(a) ? a : kj_wider_default(a, b);
}

/* Integers exactly. */
static bool is_less(kj_value a, kj_value b)
{
    double x = kj_fold_convert(a, KJ_F64).f, y = kj_fold_convert(b, KJ_F64).f;
    return x < y || (x == y && kj_is_int(a.type) && kj_is_int(b.type) && a.u < b.u);
}

static void add_value(literals *all, kj_value v)
{
    if (kj_is_float(v.type) && !isfinite(v.f))
        return;
    if (all->least.type == KJ_VOID || is_less(v, all->least))
        all->least = v;
    if (all->greatest.type == KJ_VOID || is_less(all->greatest, v))
        all->greatest = v;
}

static void add_literal(literals *all, const kj_operand *v)
{
    all->type = wider(all->type, alone(v));
    if (v->kind == KJ_V_LITERAL)
        add_value(all, v->u.literal);
    for (int i = 0; v->kind == KJ_V_CHOICE && i < 2; i++)
        add_literal(all, &v->u.choice.arms[i]);
}

static kj_dtype widened(kj_dtype type, kj_value v)
{
    return v.type == KJ_VOID || kj_value_fits(v, type) ? type
                                                       : kj_common_type(type, kj_default_type(v));
}

/* What typed values and the kinds of literals have in common; KJ_VOID: no typed one is known. The order
 * does not matter. */
static kj_dtype common_type(const kj_open *o)
{
    kj_dtype given = o->given, literal = o->literals.type;
    bool real = kj_is_float(given), whole = kj_is_int(given);
    if (given != KJ_VOID &&
        ((whole && !kj_is_int(literal)) || (real && kj_is_complex_type(literal))))
        return kj_common_type(given, literal);
    return given;
}

/* What a variable has to be that holds all that it was given, and is no narrower than a literal alone. */
static kj_dtype least_type(const kj_open *o)
{
    kj_dtype type = common_type(o);
    if (type == KJ_VOID)
        return o->given == KJ_VOID ? o->literals.type : KJ_VOID;
    if (type != o->given || !(kj_is_float(type) || kj_is_int(type)))
        return type;
    type = widened(type, o->literals.least);
    type = type == KJ_VOID ? type : widened(type, o->literals.greatest);
    if (kj_is_int(type) && kj_converts(type, KJ_I32))
        return KJ_I32;
    return kj_is_half(type) ? KJ_F32 : type;
}

static kj_dtype type_now(const kj_open *o)
{
    return o->type == KJ_VOID ? alone(o->first) : o->type;
}

static bool is_of(const kj_open *o, const kj_open *key)
{
    return o->at == key->at && o->copy == key->copy && strcmp(o->name, key->name) == 0 &&
           same_text(o->bindings, key->bindings);
}

static kj_open **chain_of(const kj_opens *opens, const kj_open *key)
{
    uint64_t hash = kj_hash_word(kj_hash(key->name, strlen(key->name)), key->at);
    return &opens->table[kj_hash_word(hash, key->copy) & (opens->room - 1)];
}

static void chain(const kj_opens *opens, kj_open *o)
{
    kj_open **at = chain_of(opens, o);
    o->chained = *at;
    *at = o;
}

/* Room for one more. */
static void make_room(kj_arena *arena, kj_opens *opens)
{
    enum { FIRST = 64 };
    if (opens->n < opens->room)
        return;
    opens->room = opens->room ? 2 * opens->room : FIRST;
    opens->table = KJ_NEW_ARRAY(arena, kj_open *, opens->room);
    for (kj_open *o = opens->first; o; o = o->next)
        chain(opens, o);
}

static bool keeps_digits(const kj_sema *s, const kj_operand *v)
{
    switch (v->kind) {
    case KJ_V_LITERAL:
        return !kj_is_float(v->u.literal.type) || !kj_loses_digits((float)v->u.literal.f);
    case KJ_V_CHOICE:
        return keeps_digits(s, &v->u.choice.arms[0]) && keeps_digits(s, &v->u.choice.arms[1]);
    case KJ_V_SCALAR: return kj_keeps_digits(s, v->u.scalar.e);
    default: return false;
    }
}

static void note_digits(kj_sema *s, kj_open *o, const kj_operand *v)
{
    if (s->opens->guessing || o->digits.lost || keeps_digits(s, v))
        return;
    s->opens->misled |= o->digits.asked;
    o->digits.lost = true;
}

kj_open *kj_open_variable(kj_sema *s, const char *name, kj_span span, const kj_operand *first)
{
    if (!s->opens || alone(first) == KJ_VOID)
        return NULL;
    kj_open fresh = {.next = s->opens->first,
                     .at = span.begin,
                     .name = name,
                     .bindings = s->frame ? s->frame->bindings : NULL,
                     .copy = s->frame ? s->frame->copy : 0,
                     .type = KJ_VOID,
                     .wanted = KJ_VOID,
                     .as = KJ_VOID,
                     .given = KJ_VOID,
                     .literals = no_literals,
                     .now = KJ_VOID};
    make_room(s->arena, s->opens);
    kj_open *o = *chain_of(s->opens, &fresh);
    while (o && !is_of(o, &fresh))
        o = o->chained;
    if (!o) {
        o = KJ_NEW(s->arena, kj_open);
        *o = fresh;
        s->opens->first = o;
        s->opens->n++;
        chain(s->opens, o);
        s->opens->learnt |= s->opens->guessing;
    }
    o->first = KJ_NEW(s->arena, kj_operand);
    *o->first = *first;
    add_literal(&o->literals, first);
    note_digits(s, o, first);
    return o;
}

kj_operand kj_open_literal(bool real, kj_span span)
{
    kj_operand v = kj_literal(real ? kj_float(KJ_F64, 1) : kj_int(KJ_I64, 0), span);
    v.open = true;
    return v;
}

kj_operand kj_open_typed(kj_sema *s, const kj_open *o, kj_operand v)
{
    kj_dtype t = type_now(o);
    kj_type type = {.kind = KJ_T_SCALAR, .dtype = t};
    if (kj_is_complex_type(t))
        type = (kj_type){.kind = KJ_T_AGGREGATE, .dtype = t, .of = kj_sema_aggregate(s, t)};
    if (s->opens && s->opens->guessing &&
        kj_is_untyped(&v)) /* whatever the guess is, it holds v in the end */
        v = kj_open_literal(kj_is_float(kj_untyped_type(&v)), v.span);
    return kj_coerce_type(s, v, &type, kj_arena_printf(s->diag->arena, "'%s'", o->name));
}

kj_digits *kj_open_digits(kj_open *o)
{
    return o ? &o->digits : NULL;
}

/* That of a variable, or of a complex variable's parts. */
static kj_open *open_of(kj_sema *s, const kj_operand *v)
{
    if (v->kind == KJ_V_SCALAR && v->u.scalar.e->kind == KJ_TE_VAR)
        return s->vars[v->u.scalar.e->u.var->id].open;
    return kj_is_complex(v) ? open_of(s, v->u.tuple.items) : NULL;
}

void kj_open_given(kj_sema *s, const kj_operand *to, const kj_operand *v)
{
    kj_open *o = s->opens ? open_of(s, to) : NULL;
    kj_dtype literal = alone(v), given = kj_type_of(v);
    if (!o || (literal == KJ_VOID && !is_number(given)))
        return;
    note_digits(s, o, v);
    if (to->kind == KJ_V_SCALAR && v->kind == KJ_V_SCALAR && !kj_of_literals(s, v->u.scalar.e))
        s->vars[to->u.scalar.e->u.var->id].of_literals = false;
    if (literal != KJ_VOID && v->open)
        return; /* it has what it is */
    if (literal != KJ_VOID) {
        add_literal(&o->literals, v);
    } else {
        kj_dtype both = o->given == KJ_VOID ? given : kj_common_type(o->given, given);
        o->given = both == KJ_VOID ? o->given : both;
    }
    s->opens->doubtful |=
        literal == KJ_VOID && kj_is_int(alone(o->first)) && alone(o->first) != KJ_I32;
    kj_dtype now = s->opens->guessing ? common_type(o) : least_type(o);
    if (now == KJ_VOID || now == o->now)
        return;
    o->now = now;
    if (o->as != now) /* later walks take all values as of that type, whose it was not */
        o->decided = v->span;
    o->as = now;
    if (s->opens->guessing && o->given != KJ_VOID && (o->type == KJ_VOID || o->fresh)) {
        s->opens->learnt |= o->type != now;
        o->type = now;
        o->fresh = true;
    }
}

/* A variable of that name and type; nobody asks which. Of a type that is not known a literal that all
 * types hold: what it begins as may not go with a narrow operand, which tells nothing of the variable. */
static kj_operand stand_in(kj_sema *s, const kj_open *o, kj_span span)
{
    if (o->type == KJ_VOID && kj_is_untyped(o->first))
        return kj_open_literal(kj_is_float(kj_untyped_type(o->first)), span);
    if (o->type == KJ_VOID)
        return *o->first;
    if (kj_is_complex_type(o->type))
        return kj_open_typed(s, o, *o->first);
    return kj_scalar(kj_te_var(s, kj_new_var(s, o->name, span, o->type, true), span));
}

kj_operand kj_open_read(kj_sema *s, kj_operand v)
{
    const kj_open *o = s->opens && s->opens->guessing ? open_of(s, &v) : NULL;
    if (o)
        return stand_in(s, o, v.span);
    if (!s->opens || !s->opens->guessing || v.kind != KJ_V_TUPLE || v.u.tuple.of)
        return v;
    kj_operand *items = KJ_NEW_ARRAY(s->arena, kj_operand, (size_t)v.u.tuple.n + 1);
    for (int i = 0; i < v.u.tuple.n; i++)
        items[i] = kj_open_read(s, v.u.tuple.items[i]);
    v.u.tuple.items = items;
    return v;
}

bool kj_is_guessing(const kj_sema *s)
{
    return s->opens && s->opens->guessing;
}

void kj_note_open(kj_sema *s, kj_message *m, const kj_operand *to)
{
    const kj_open *o = open_of(s, to);
    if (o && o->decided.end)
        kj_note(s->diag, m, o->decided, "'%s' is %s because of this value", o->name,
                kj_type_name(type_now(o)));
}

/* ---- Walks ---- */

typedef struct state {
    kj_sema sema;
    kj_diag diag;
    bool *broken;
    kj_child **children; /* the end of the family's */
} state;

static state note_state(const kj_sema *s)
{
    state was = {.sema = *s, .diag = *s->diag};
    was.broken = KJ_NEW_ARRAY(s->arena, bool, (size_t)s->nfns + 1);
    memcpy(was.broken, s->broken, (size_t)s->nfns * sizeof *s->broken);
    was.children = s->family ? &s->family->children : NULL;
    while (was.children && *was.children)
        was.children = &(*was.children)->next;
    return was;
}

static void go_back(kj_sema *s, const state *was)
{
    int total = s->total + s->nodes;
    *s = was->sema;
    s->total = total;
    *s->diag = was->diag;
    if (s->diag->last)
        s->diag->last->next = NULL;
    memcpy(s->broken, was->broken, (size_t)s->nfns * sizeof *s->broken);
    if (was->children)
        *was->children = NULL;
}

/* firm: what was wanted once is not forgotten. */
static void begin_walk(kj_opens *opens, bool guessing, bool firm)
{
    for (kj_open *o = opens->first; o; o = o->next) {
        o->given = o->now = KJ_VOID;
        o->literals = no_literals;
        o->fresh = o->digits.asked = false;
        o->wanted = guessing || firm ? o->wanted : KJ_VOID;
    }
    opens->guessing = guessing;
    opens->learnt = opens->misled = false;
}

/* What the whole of a walk tells. firm: no type gives way to one that does not hold it, so that there
 * is an end. */
static void end_walk(kj_opens *opens, bool firm)
{
    for (kj_open *o = opens->first; o; o = o->next) {
        kj_dtype now = o->now, had = opens->guessing ? o->type : type_now(o);
        if (firm && now != KJ_VOID && had != KJ_VOID)
            now = kj_common_type(now, had);
        if (now == KJ_VOID || now == had || (opens->guessing && o->given == KJ_VOID))
            continue;
        *(opens->guessing ? &o->type : &o->wanted) = now;
        opens->learnt = true;
    }
}

static void walk_once(kj_sema *s, kj_opens *opens, bool guessing, bool firm, kj_body_walk *walk,
                      void *ctx)
{
    begin_walk(opens, guessing, firm);
    s->opens = opens;
    walk(s, ctx);
    s->opens = NULL;
    end_walk(opens, firm);
}

/* One that holds both, where there is one: guesses know nothing of variables that stay literals, so without what
 * these are given in the end two variables could change their types in turn. */
static kj_dtype firmly(kj_dtype least, kj_dtype wanted)
{
    kj_dtype both = least == KJ_VOID || wanted == KJ_VOID ? KJ_VOID : kj_common_type(least, wanted);
    return both == KJ_VOID ? least : both;
}

/* Walks that are not kept, until one teaches nothing; false when they all did not. */
static bool guess(kj_sema *s, kj_opens *opens, kj_body_walk *walk, void *ctx, const state *was,
                  int *walks)
{
    bool learnt = false;
    do {
        go_back(s, was);
        walk_once(s, opens, true, *walks > FIRM, walk, ctx);
        learnt |= opens->learnt;
    } while (opens->learnt && ++*walks < MAX_WALKS);
    for (kj_open *o = opens->first; o; o = o->next) {
        if (o->given != KJ_VOID)
            o->type = *walks > FIRM ? firmly(least_type(o), o->wanted) : least_type(o);
        if (o->type == KJ_VOID) /* nothing holds all, and it is what it began as */
            o->decided = (kj_span){0, 0};
    }
    go_back(s, was);
    return learnt;
}

/* What values of variables with the types of literals alone asked for. */
static void take_wanted(kj_opens *opens)
{
    for (kj_open *o = opens->first; o; o = o->next)
        if (o->wanted != KJ_VOID)
            o->type = o->wanted;
}

void kj_walk_open(kj_sema *s, kj_body_walk *walk, void *ctx)
{
    kj_opens opens = {0};
    const state was = note_state(s);
    for (int walks = 1;; walks++) {
        walk_once(s, &opens, false, walks > FIRM, walk, ctx);
        bool narrow = opens.learnt, doubt = opens.doubtful || s->diag->errors > was.diag.errors;
        bool done = !opens.first || walks >= MAX_WALKS || !(narrow || (doubt && walks == 1));
        if (done && !(opens.misled && walks < MAX_WALKS))
            return;
        if (done)
            go_back(s, &was);
        else if (!guess(s, &opens, walk, ctx, &was, &walks) && narrow)
            take_wanted(&opens);
    }
}
