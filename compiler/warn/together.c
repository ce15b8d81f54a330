/* Elements that many threads change at the same time: `out[0] += x[i]`, `h[x[i]] += 1`. In: a kernel's typed body; out:
 * warnings of updates that are certain to lose something. What is told is that threads which run together read one element,
 * and write it: where the element is the same for all of them, and where an index that comes from data counts. */
#include <string.h>

#include "lang/update.h"
#include "warn/warn.h"

/* What a value comes from. */
enum {
    PLACE = 1,           /* which thread it is */
    UNKNOWN = 8 | PLACE, /* perhaps: what others have given or stored */
    DATA = 2,            /* what is in an array, at a place of the thread's */
    SIZE = 4,            /* how many threads there are */
    TURN = 16,           /* which turn of a loop it is */
    OTHERWISE = 32       /* the thread's place, not as it grows from thread to thread */
};

/* How few threads a condition lets through. */
typedef enum passing {
    MANY,
    FEW, /* those whose data is a certain value: it may be one's alone */
    ONE  /* perhaps one: i == 0, or nobody knows */
} passing;

/* A value, and of a bool, who goes on where it holds, and where it doesn't. */
typedef struct facts {
    uint8_t from, holds, fails;
} facts;

typedef struct named {
    facts is;
    int depth; /* of conditions around its declaration */
} named;

/* A condition around the statement, or a loop. */
typedef struct around {
    const struct around *up;
    const kj_tblock *block; /* of an inlined call */
    int depth;
    bool again; /* what is in it may be left, or is done again */
    uint8_t from;
    passing few;
} around;

typedef struct together {
    kj_arena *arena;
    kj_diag *diag;
    const kj_tkernel *kernel;
    named *vars;
    uint8_t exits; /* what decides when threads leave loops and inlined calls */
    bool places;   /* something asks which thread it is */
    bool waits;    /* threads may come one after the other: a lock */
    bool changed, telling;
} together;

static passing most(passing a, passing b)
{
    return a > b ? a : b;
}

static passing least(passing a, passing b)
{
    return a < b ? a : b;
}

/* ---- Values ---- */

static facts facts_of(together *w, const kj_texpr *e);
static void see_list(together *w, const kj_tstmt *s, const around *up);

static facts plain(uint8_t from)
{
    passing few = from & PLACE ? ONE : from & DATA ? FEW : MANY;
    return (facts){from, (uint8_t)few, (uint8_t)few};
}

static uint8_t from_operands(together *w, const kj_texpr *e)
{
    const kj_texpr *part[KJ_MAX_OPERANDS];
    uint8_t from = 0;
    int n = kj_operands(e, part);
    for (int i = 0; i < n; i++)
        from |= facts_of(w, part[i]).from;
    return from;
}

static uint8_t from_place(together *w, const kj_tarray *a, kj_texpr *const *index)
{
    uint8_t from = a->offset ? facts_of(w, a->offset).from : 0;
    for (int i = 0; i < a->ndim; i++)
        from |= facts_of(w, index[i]).from;
    return from;
}

static facts facts_of_load(together *w, const kj_texpr *e)
{
    const kj_tarray *a = e->u.load.array;
    bool given = (a->root->space == KJ_GLOBAL && !a->root->written) || a->root->space == KJ_CONST;
    uint8_t from = from_place(w, a, e->u.load.index);
    if (!given)
        return plain(UNKNOWN);
    return plain(from & ~TURN ? DATA : 0);
}

static facts facts_of_index(together *w, kj_index which)
{
    bool place = which == KJ_THREAD_IDX || which == KJ_BLOCK_IDX || which == KJ_LANE_ID;
    w->places |= place;
    return plain(place ? PLACE : SIZE);
}

/* What is made of the thread's place: another number than one that grows with it. */
static uint8_t derived(uint8_t from)
{
    return from & PLACE ? from | OTHERWISE : from;
}

/* place < bound, or <=: the first ones; of 0 and 1 the first one, perhaps. */
static facts first_ones(uint8_t from, const kj_texpr *bound)
{
    bool small = bound->kind == KJ_TE_CONST && kj_is_int(bound->type) && bound->u.value.i <= 1;
    return (facts){from, small ? ONE : MANY, small ? MANY : ONE};
}

static facts facts_of_order(const kj_texpr *e, kj_op op, facts l, facts r)
{
    const uint8_t from = l.from | r.from;
    if (!(from & PLACE))
        return (facts){from, MANY, MANY};
    const bool unknown = (from & UNKNOWN) == UNKNOWN || from & (DATA | OTHERWISE);
    if (unknown || !kj_is_int(e->u.binary.lhs->type) || (l.from & PLACE && r.from & PLACE))
        return plain(from);
    bool left = l.from & PLACE, up = op == KJ_OP_LT || op == KJ_OP_LE;
    facts first = first_ones(from, left ? e->u.binary.rhs : e->u.binary.lhs);
    return up == left ? first : (facts){from, first.fails, first.holds};
}

static facts facts_of_comparison(const kj_texpr *e, facts l, facts r)
{
    const uint8_t from = l.from | r.from;
    kj_op op = e->u.binary.op;
    bool same = !(from & (PLACE | DATA));
    if (same)
        return from & SIZE ? (facts){from, ONE, ONE} : (facts){from, MANY, MANY};
    if (op != KJ_OP_EQ && op != KJ_OP_NE)
        return facts_of_order(e, op, l, r);
    facts one = plain(from);
    if (op == KJ_OP_EQ)
        one.fails = MANY;
    else
        one.holds = MANY;
    return one;
}

/* A place or a number of threads, or a constant that is not below 0. */
static bool is_natural(const kj_texpr *e, facts f)
{
    return f.from & (PLACE | SIZE) ||
           (e->kind == KJ_TE_CONST && kj_is_int(e->type) && e->u.value.i >= 0);
}

static facts facts_of_binary(together *w, const kj_texpr *e)
{
    facts l = facts_of(w, e->u.binary.lhs), r = facts_of(w, e->u.binary.rhs);
    if (kj_ops[e->u.binary.op].class == KJ_OPS_COMPARE)
        return facts_of_comparison(e, l, r);
    const uint8_t from = l.from | r.from;
    bool grows = (e->u.binary.op == KJ_OP_ADD || e->u.binary.op == KJ_OP_MUL) &&
                 is_natural(e->u.binary.lhs, l) && is_natural(e->u.binary.rhs, r);
    return plain(grows ? from : derived(from));
}

static facts facts_of_logic(together *w, const kj_texpr *e)
{
    facts l = facts_of(w, e->u.logic.lhs), r = facts_of(w, e->u.logic.rhs);
    const uint8_t from = l.from | r.from;
    if (e->u.logic.is_or)
        return (facts){from, (uint8_t)least(l.holds, r.holds), (uint8_t)most(l.fails, r.fails)};
    return (facts){from, (uint8_t)most(l.holds, r.holds), (uint8_t)least(l.fails, r.fails)};
}

static facts facts_of(together *w, const kj_texpr *e)
{
    facts arg;
    switch (e->kind) {
    case KJ_TE_CONST:
    case KJ_TE_DIM:
    case KJ_TE_ADDRESS: return plain(0);
    case KJ_TE_VAR: return w->vars[e->u.var->id].is;
    case KJ_TE_INDEX: return facts_of_index(w, e->u.index.which);
    case KJ_TE_LOAD: return facts_of_load(w, e);
    case KJ_TE_BINARY: return facts_of_binary(w, e);
    case KJ_TE_LOGIC: return facts_of_logic(w, e);
    case KJ_TE_UNARY:
        arg = facts_of(w, e->u.unary.arg);
        return e->u.unary.op == KJ_OP_NOT ? (facts){arg.from, arg.fails, arg.holds}
                                          : plain(derived(arg.from));
    case KJ_TE_CONVERT: return facts_of(w, e->u.unary.arg);
    case KJ_TE_INLINE: return w->vars[e->u.inline_.result->id].is;
    case KJ_TE_ATOMIC: return plain(UNKNOWN);
    case KJ_TE_CALL:
        if (kj_builtins[e->u.call.id].how == KJ_HOW_WARP)
            return plain(UNKNOWN);
        return plain(derived(from_operands(w, e)));
    default: return plain(derived(from_operands(w, e)));
    }
}

/* ---- What variables come from ---- */

static void add(together *w, const kj_var *v, facts f)
{
    facts *is = &w->vars[v->id].is, before = *is;
    is->from |= f.from;
    is->holds = (uint8_t)most(is->holds, f.holds);
    is->fails = (uint8_t)most(is->fails, f.fails);
    w->changed |= memcmp(&before, is, sizeof before) != 0;
}

static void declare(together *w, const kj_var *v, facts f, const around *up)
{
    w->vars[v->id].depth = up ? up->depth : 0;
    add(w, v, f);
}

/* What decides whether it is assigned, since it was declared. */
static void assign(together *w, const kj_var *v, facts f, const around *up)
{
    uint8_t from = f.from;
    for (; up && up->depth > w->vars[v->id].depth; up = up->up)
        from |= up->from | (up->again ? w->exits : 0);
    if (from != f.from)
        from = derived(from);
    add(w, v, from == f.from && !v->mutable ? f : plain(from));
}

static passing few_of(const around *up)
{
    passing few = MANY;
    for (; up; up = up->up)
        few = most(few, up->few);
    return few;
}

/* ---- Who goes on behind a statement ---- */

static bool is_around(const together *w, const around *up, const kj_tblock *block)
{
    for (; up; up = up->up)
        if (up->block == block)
            return true;
    return block == w->kernel->body;
}

/* Do some threads not come to the end of the list, or of one of its statements? */
static bool may_leave(const together *w, const around *up, const kj_tstmt *s, bool in_loop)
{
    bool found = false;
    for (; s && !found; s = s->next) {
        switch (s->kind) {
        case KJ_TS_BREAK:
        case KJ_TS_CONTINUE: found = !in_loop; break;
        case KJ_TS_LEAVE: found = is_around(w, up, s->u.leave); break;
        case KJ_TS_IF:
            found =
                may_leave(w, up, s->u.if_.yes, in_loop) || may_leave(w, up, s->u.if_.no, in_loop);
            break;
        case KJ_TS_FOR: found = may_leave(w, up, s->u.for_.body, true); break;
        case KJ_TS_WHILE: found = may_leave(w, up, s->u.while_.body, true); break;
        case KJ_TS_INLINE: found = may_leave(w, up, s->u.block->body, in_loop); break;
        default: break;
        }
    }
    return found;
}

static bool is_ended(const kj_tstmt *list)
{
    while (list && list->next)
        list = list->next;
    return list &&
           (list->kind == KJ_TS_BREAK || list->kind == KJ_TS_CONTINUE || list->kind == KJ_TS_LEAVE);
}

static bool is_left(const together *w, const around *up, const kj_tstmt *s)
{
    kj_tstmt alone = *s;
    alone.next = NULL;
    return may_leave(w, up, &alone, false);
}

/* Those who do not leave at the statement. */
static facts others_of(together *w, const around *up, const kj_tstmt *s)
{
    if (s->kind != KJ_TS_IF)
        return plain(PLACE);
    facts test = facts_of(w, s->u.if_.test);
    if (is_ended(s->u.if_.yes) && !may_leave(w, up, s->u.if_.no, false))
        return (facts){test.from, test.fails, test.fails};
    if (is_ended(s->u.if_.no) && !may_leave(w, up, s->u.if_.yes, false))
        return (facts){test.from, test.holds, test.holds};
    return plain(PLACE);
}

/* ---- Updates ---- */

typedef struct update {
    const kj_tstmt *store;
    const kj_texpr *load; /* of the same element; NULL: there is none */
    const together *w;
} update;

/* Does the store, whose text begins with its element, have the load's? */
static bool is_element(const together *w, const kj_texpr *load, const kj_tstmt *store)
{
    uint32_t n = load->span.end - load->span.begin;
    const char *text = w->diag->source->text;
    return store->span.begin + n <= store->span.end && text[load->span.end - 1] == ']' &&
           memcmp(text + load->span.begin, text + store->span.begin, n) == 0;
}

static bool find_load(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    update *u = ctx;
    (void)s;
    if (e && e->kind == KJ_TE_LOAD && e->u.load.array->root == u->store->u.store.array->root &&
        is_element(u->w, e, u->store))
        u->load = e;
    return !u->load;
}

/* A count: a constant more, or less. */
static bool is_count(const kj_texpr *value, const kj_texpr *load)
{
    value = kj_unconverted(value); /* of 8 and 16 bits */
    if (value->kind != KJ_TE_BINARY ||
        (value->u.binary.op != KJ_OP_ADD && value->u.binary.op != KJ_OP_SUB))
        return false;
    return kj_unconverted(value->u.binary.lhs) == load && value->u.binary.rhs->kind == KJ_TE_CONST;
}

/* Does each write what the others do: a[i] | 4, max(a[i], 1)? */
static bool is_alike(together *w, const kj_texpr *value, const kj_texpr *load)
{
    value = kj_unconverted(value);
    kj_builtin id = value->kind == KJ_TE_CALL ? value->u.call.id : KJ_NBUILTINS;
    bool bits = value->kind == KJ_TE_BINARY &&
                (value->u.binary.op == KJ_OP_AND || value->u.binary.op == KJ_OP_OR);
    if (!bits && id != KJ_BI_MIN && id != KJ_BI_MAX)
        return false;
    const kj_texpr *part[KJ_MAX_OPERANDS];
    bool alike = true;
    for (int i = 0, n = kj_operands(value, part); i < n; i++) {
        alike &= kj_unconverted(part[i]) == load || facts_of(w, part[i]).from == 0;
    }
    return alike;
}

/* `a[i] op= v`, or what has an atomic: `a[i] = 1 if a[i] > 0 else 2` may be meant. */
static bool is_update(const kj_source *source, kj_span element, const char *atomic)
{
    const char *p = source->text + element.end;
    while (*p == ' ')
        p++;
    return atomic || !(*p == '=' && p[1] != '=');
}

static void tell(const together *w, const kj_tstmt *s, const kj_texpr *load, bool data)
{
    kj_diag *diag = w->diag;
    const kj_tarray *a = s->u.store.array;
    const uint32_t begin = s->span.begin;
    const kj_span at = {begin, begin + (load->span.end - load->span.begin)};
    kj_span whole;
    const char *atomic = kj_as_atomic(diag->arena, diag->source, at, a->elem, &whole);
    if (!is_update(diag->source, at, atomic))
        return;
    const char *who = data ? "threads whose indices are alike change one element"
                           : "all threads change this one element";
    kj_message *m =
        kj_warn(diag, at, KJ_RULE_SAME_ELEMENT, "%s of '%s' at a time: what %s lost", who,
                a->root->name, data ? "some of them do may be" : "most of them do is");
    if (atomic)
        kj_write(diag, m, whole, "%s", atomic);
    else
        kj_hint(
            diag, m,
            "one thread does it, if i == 0 { ... }, or each has an element of its own; atomics, as "
            "atomic.add(a, i, v), are of i32, i64, u32, u64 and floats");
}

static void see_store(together *w, const kj_tstmt *s, const around *up)
{
    const kj_tarray *a = s->u.store.array;
    if (!w->telling || a->root->space == KJ_LOCAL || a->elem == KJ_BOOL || a->of || a->whole)
        return;
    update u = {.store = s, .w = w};
    uint8_t from = from_place(w, a, s->u.store.index);
    passing few = few_of(up);
    bool segment = from & DATA && from & TURN; /* of a segment: it may be the thread's own */
    if (from & PLACE || segment || few == ONE)
        return;
    kj_walk_expr(s, s->u.store.value, find_load, &u);
    if (u.load && !is_alike(w, s->u.store.value, u.load) &&
        ((!(from & DATA) && few == MANY) || is_count(s->u.store.value, u.load)))
        tell(w, s, u.load, from & DATA);
}

/* ---- The walk ---- */

/* Calls within the statement's values, which have statements of their own. */
typedef struct inlined {
    together *w;
    const kj_tstmt *s;
    const around *up;
} inlined;

static void see_block(together *w, const kj_tblock *block, const around *up)
{
    const around in = {up, block, up ? up->depth + 1 : 1, false, 0, MANY};
    see_list(w, block->body, &in);
}

static bool see_own(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    const inlined *in = ctx;
    together *w = in->w;
    if (!e)
        return true;
    if (e->kind == KJ_TE_INDEX)
        facts_of_index(w, e->u.index.which);
    w->places |= e->kind == KJ_TE_CALL && kj_builtins[e->u.call.id].how == KJ_HOW_WARP;
    if (e->kind == KJ_TE_ATOMIC)
        w->waits |= e->u.atomic.id == KJ_BI_ATOMIC_CAS || e->u.atomic.id == KJ_BI_ATOMIC_EXCH;
    if (e->kind == KJ_TE_INLINE && s == in->s)
        see_block(w, e->u.inline_.block, in->up);
    return true;
}

static void see_if(together *w, const kj_tstmt *s, const around *up)
{
    facts test = facts_of(w, s->u.if_.test);
    around in = {up, NULL, up ? up->depth + 1 : 1, false, test.from, (passing)test.holds};
    see_list(w, s->u.if_.yes, &in);
    in.few = (passing)test.fails;
    see_list(w, s->u.if_.no, &in);
}

static void see_loop(together *w, const kj_tstmt *s, const around *up)
{
    around in = {up, NULL, up ? up->depth + 1 : 1, true, 0, MANY};
    if (s->kind == KJ_TS_WHILE) {
        facts test = facts_of(w, s->u.while_.test);
        in.from = test.from;
        in.few = (passing)test.holds;
        see_list(w, s->u.while_.body, &in);
        return;
    }
    facts start = facts_of(w, s->u.for_.start), step = facts_of(w, s->u.for_.step),
          stop = facts_of(w, s->u.for_.stop);
    in.from = start.from | step.from | stop.from;
    if ((step.from | stop.from) & PLACE) /* one may have turns alone */
        in.few = ONE;
    else if (start.from & PLACE)
        in.few = (passing)first_ones(in.from, s->u.for_.stop).holds;
    declare(w, s->u.for_.var, plain(start.from | step.from | TURN), up);
    see_list(w, s->u.for_.body, &in);
}

/* A loop that asks an atomic, or whose conditions ask what others write, is a lock. */
static bool asks_others(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    (void)ctx;
    bool asked = s->kind == KJ_TS_WHILE || s->kind == KJ_TS_IF;
    const kj_tarray *a = asked && e && e->kind == KJ_TE_LOAD ? e->u.load.array : NULL;
    return !(e && e->kind == KJ_TE_ATOMIC) && !(a && (a->cache || a->root->written));
}

static void leave(together *w, const kj_tstmt *s, const around *up)
{
    if (s->kind == KJ_TS_LEAVE && s->u.leave == w->kernel->body)
        return; /* the thread has no values any more */
    for (; up && !(s->kind == KJ_TS_LEAVE ? up->block == s->u.leave : up->again); up = up->up)
        w->exits |= up->from;
}

static void see_stmt(together *w, const kj_tstmt *s, const around *up)
{
    inlined in = {w, s, up};
    kj_walk_own(s, see_own, &in);
    switch (s->kind) {
    case KJ_TS_DECL:
        declare(w, s->u.decl.var, s->u.decl.init ? facts_of(w, s->u.decl.init) : plain(0), up);
        break;
    case KJ_TS_ASSIGN: assign(w, s->u.assign.var, facts_of(w, s->u.assign.value), up); break;
    case KJ_TS_STORE: see_store(w, s, up); break;
    case KJ_TS_IF: see_if(w, s, up); break;
    case KJ_TS_WHILE:
        w->waits |= !kj_walk_own(s, asks_others, NULL) ||
                    !kj_walk(s->u.while_.body, NULL, asks_others, NULL);
        see_loop(w, s, up);
        break;
    case KJ_TS_FOR: see_loop(w, s, up); break;
    case KJ_TS_INLINE: see_block(w, s->u.block, up); break;
    case KJ_TS_BREAK:
    case KJ_TS_CONTINUE:
    case KJ_TS_LEAVE: leave(w, s, up); break;
    case KJ_TS_BARRIER:
        if (s->u.barrier.result)
            declare(w, s->u.barrier.result, plain(UNKNOWN), up);
        break;
    case KJ_TS_LAUNCH:
        if (s->u.launch.result)
            declare(w, s->u.launch.result, plain(UNKNOWN), up);
        break;
    default: break;
    }
}

static void see_list(together *w, const kj_tstmt *s, const around *up)
{
    around behind = {up, NULL, up ? up->depth : 0, false, 0, MANY};
    for (; s; s = s->next) {
        see_stmt(w, s, &behind);
        if (s->kind == KJ_TS_LEAVE || !is_left(w, &behind, s))
            continue;
        facts others = others_of(w, &behind, s);
        behind.from |= others.from;
        behind.few = most(behind.few, (passing)others.holds);
    }
}

void kj_warn_of_same_element(kj_arena *arena, kj_diag *diag, const kj_tkernel *kernel)
{
    if (!diag->wanted || !kj_warns(diag, KJ_RULE_SAME_ELEMENT) || kernel->nvars < 0)
        return;
    together w = {.arena = arena,
                  .diag = diag,
                  .kernel = kernel,
                  .vars = KJ_NEW_ARRAY(arena, named, (size_t)kernel->nvars + 1)};
    do {
        w.changed = false;
        see_list(&w, kernel->body->body, NULL);
    } while (w.changed);
    w.telling = true;
    if (w.places && !w.waits)
        see_list(&w, kernel->body->body, NULL);
}
