/* Loops, and blocks that are left early, in the walk that decides checks.
 *
 * Of a variable that a loop assigns, what it is in any turn is first guessed: what it was before the loop
 * and all that is assigned, found in a walk in which it may be anything; but n // 2 makes no n larger, and
 * i + 1 makes no i less. A second walk looks whether that is so, with what is known then. */
#include "analysis/limit_walk.h"

/* ---- Does an assignment let a variable only grow, or shrink? ---- */

enum { RISES = 1, FALLS = 2, STAYS_NATURAL = 4 };

/* Has a variable in it been assigned since? */
static bool has_moved(const kj_limit_walk *w, const kj_texpr *e, int since)
{
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    if (e->kind == KJ_TE_VAR)
        return w->state.vars[e->u.var->id].moved > since;
    for (int i = 0, n = kj_operands(e, operands); i < n; i++)
        if (has_moved(w, operands[i], since))
            return true;
    return false;
}

/* What a name in the loop was declared as there, if that has the same value still. */
static const kj_texpr *plain(const kj_limit_walk *w, const kj_limit_loop *l, const kj_texpr *e)
{
    enum { NAMES = 8 };
    for (int i = 0; i < NAMES; i++) {
        const kj_limit_var *v = e->kind == KJ_TE_VAR ? &w->state.vars[e->u.var->id] : NULL;
        if (!v || !v->made || v->born <= l->born || has_moved(w, v->made, v->born))
            break;
        e = v->made;
    }
    return e;
}

typedef struct question {
    kj_limit_walk *w;
    const kj_limit_loop *loop;
    const kj_var *var;
    bool guess; /* that sums do not wrap, and the variable is natural */
} question;

static bool is_it(const question *q, const kj_texpr *e)
{
    e = plain(q->w, q->loop, e);
    return e->kind == KJ_TE_VAR && e->u.var == q->var;
}

static kj_interval known(const question *q, const kj_texpr *e)
{
    return kj_known(&q->w->state.graph, kj_range_of(&q->w->state, e));
}

static bool is_whole(const question *q, const kj_texpr *e)
{
    return q->guess ||
           kj_interval_fits(kj_known(&q->w->state.graph, kj_exact_range(&q->w->state, e)), e->type);
}

static bool was_natural(const question *q, const kj_texpr *e)
{
    return q->guess || known(q, e).lo >= 0;
}

/* x // c and (x + k) // c with k < c, of a natural x. */
static int of_quotient(const question *q, const kj_texpr *x, const kj_texpr *by)
{
    x = plain(q->w, q->loop, x);
    int64_t least = known(q, by).lo;
    if (least < 1)
        return 0;
    if (is_it(q, x))
        return was_natural(q, x) ? FALLS | STAYS_NATURAL : 0;
    if (x->kind != KJ_TE_BINARY || x->u.binary.op != KJ_OP_ADD || !is_it(q, x->u.binary.lhs))
        return 0;
    kj_interval more = known(q, x->u.binary.rhs);
    bool small = more.lo >= 0 && more.hi < least;
    return small && is_whole(q, x) && was_natural(q, x->u.binary.lhs) ? FALLS | STAYS_NATURAL : 0;
}

static int of_binary(const question *q, const kj_texpr *e)
{
    const kj_texpr *x = e->u.binary.lhs, *y = e->u.binary.rhs;
    kj_op op = e->u.binary.op;
    if ((op == KJ_OP_ADD || op == KJ_OP_MUL) && is_it(q, y)) {
        y = x;
        x = e->u.binary.rhs;
    }
    if (op == KJ_OP_FLOORDIV)
        return of_quotient(q, x, y);
    if (!is_it(q, x))
        return 0;
    int64_t least = known(q, y).lo;
    switch (op) {
    case KJ_OP_ADD: return least >= 0 && is_whole(q, e) ? RISES | STAYS_NATURAL : 0;
    case KJ_OP_SUB: return least >= 0 && is_whole(q, e) ? FALLS : 0;
    case KJ_OP_MUL:
        return least >= 1 && is_whole(q, e) && was_natural(q, x) ? RISES | STAYS_NATURAL : 0;
    case KJ_OP_SHL:
        return is_whole(q, e) && !q->guess && was_natural(q, x) ? RISES | STAYS_NATURAL : 0;
    case KJ_OP_SHR:
    case KJ_OP_AND: return was_natural(q, x) ? FALLS | STAYS_NATURAL : 0;
    case KJ_OP_MOD: return least >= 1 && was_natural(q, x) ? FALLS | STAYS_NATURAL : 0;
    default: return 0;
    }
}

static int of_value(const question *q, const kj_texpr *e)
{
    e = plain(q->w, q->loop, e);
    if (is_it(q, e))
        return RISES | FALLS | STAYS_NATURAL;
    if (e->kind == KJ_TE_BINARY)
        return of_binary(q, e);
    if (e->kind == KJ_TE_SELECT)
        return of_value(q, e->u.select.yes) & of_value(q, e->u.select.no);
    bool min = e->kind == KJ_TE_CALL && e->u.call.id == KJ_BI_MIN,
         max = e->kind == KJ_TE_CALL && e->u.call.id == KJ_BI_MAX;
    if ((min || max) && (is_it(q, e->u.call.args[0]) || is_it(q, e->u.call.args[1])))
        return min ? FALLS : RISES | STAYS_NATURAL;
    return 0;
}

static int either(kj_limit_walk *w, int a, int b)
{
    return a && b ? kj_graph_node(&w->state.graph, KJ_IV_HULL, KJ_I64, a, b, 0) : 0;
}

static kj_limit_guess *find_guess(kj_limit_turn *t, const kj_texpr *value)
{
    kj_limit_guess *begin = t->guess, *g = begin;
    if (!g)
        return NULL;
    do {
        g = g->next;
        if (g->value == value)
            return t->guess = g;
    } while (g != begin);
    return NULL;
}

/* Of one that is walked over again all that was guessed is to hold. */
static void note_guess(kj_limit_walk *w, kj_limit_turn *t, const kj_texpr *value, int how)
{
    kj_limit_guess *g = find_guess(t, value);
    if (!g) {
        g = KJ_NEW(w->state.arena, kj_limit_guess);
        *g = (kj_limit_guess){.next = t->guess ? t->guess->next : g, .value = value};
        if (t->guess)
            t->guess->next = g;
        t->guess = g;
    }
    g->how |= how;
}

/* The second walk demands what the first one guessed, not what it would guess itself: it may know less, where facts or looks
 * have run out. */
static void turn(kj_limit_walk *w, kj_limit_loop *l, kj_limit_turn *t, const kj_texpr *value,
                 int range)
{
    question q = {w, l, t->var, l->guess};
    int how = of_value(&q, value);
    if (l->guess) {
        note_guess(w, t, value, how);
        t->any = either(w, t->any, range);
        if (!(how & (RISES | STAYS_NATURAL)))
            t->low = either(w, t->low, range);
        else if (!(how & RISES))
            t->low = either(w, t->low, kj_graph_const(&w->state.graph, 0, 0));
        if (!(how & FALLS))
            t->high = either(w, t->high, range);
    } else if (!t->plain) {
        const kj_limit_guess *g = find_guess(t, value);
        if (!g || (how & g->how) != g->how) {
            t->plain = true;
            l->failed = true;
        }
    }
}

void kj_limit_turns(kj_limit_walk *w, const kj_var *v, const kj_texpr *value, int range)
{
    bool on = true;
    for (kj_limit_loop *l = w->loop; l && on; l = l->up) {
        for (int i = 0; i < l->n; i++)
            if (l->each[i].var == v)
                turn(w, l, &l->each[i], value, range);
        on = !l->trial;
    }
}

/* ---- Loops ---- */

typedef struct around {
    const kj_tstmt *loop;
    int range; /* of a for loop's variable */
} around;

static bool mentions_any(const kj_texpr *e, const kj_limit_loop *l)
{
    for (int i = 0; i < l->n; i++)
        if (kj_mentions(e, l->each[i].var))
            return true;
    return false;
}

static void learn_range(kj_limit_walk *w, const kj_limit_loop *l, const kj_tstmt *s)
{
    kj_limit_state *state = &w->state;
    kj_texpr *start = s->u.for_.start, *stop = s->u.for_.stop;
    kj_interval step = kj_known(&state->graph, kj_range_of(state, s->u.for_.step));
    kj_texpr *v = KJ_NEW(state->arena, kj_texpr);
    *v = (kj_texpr){.kind = KJ_TE_VAR, .type = s->u.for_.var->type, .span = s->span};
    v->u.var = s->u.for_.var;
    bool up = step.lo > 0, down = step.hi < 0;
    state->why = (kj_reason){KJ_BY_LOOP, s->span};
    if ((up || down) && !mentions_any(stop, l))
        kj_learn_less(state, up ? v : stop, up ? stop : v, false);
    if ((up || down) && !mentions_any(start, l))
        kj_learn_less(state, up ? start : v, up ? v : start, true);
}

static int of_turns(kj_limit_walk *w, const kj_limit_loop *l, const kj_limit_turn *t)
{
    if (l->guess)
        return 0;
    if (t->plain)
        return t->any;
    return kj_graph_node(&w->state.graph, KJ_IV_ENDS, KJ_I64, t->low, t->high, 0);
}

static void begin_turn(kj_limit_walk *w, const kj_limit_loop *l)
{
    for (int i = 0; i < l->n; i++) {
        kj_state_set(&w->state, l->each[i].var, of_turns(w, l, &l->each[i]));
        kj_state_moved(&w->state, l->each[i].var);
    }
}

static void walk_turn(kj_limit_walk *w, kj_limit_loop *l, const around *a)
{
    const kj_tstmt *s = a->loop;
    kj_limit_mark mark = kj_state_mark(&w->state);
    bool dead = w->dead;
    int assigned = w->nassigned;
    begin_turn(w, l);
    if (s->kind == KJ_TS_FOR) {
        kj_limit_born(w, s->u.for_.var, a->range);
        learn_range(w, l, s);
        kj_limit_stmts(w, s->u.for_.body);
    } else {
        kj_limit_expr(w, s->u.while_.test);
        w->state.why = (kj_reason){KJ_BY_LOOP, s->u.while_.test->span};
        kj_learn(&w->state, s->u.while_.test, true);
        kj_limit_stmts(w, s->u.while_.body);
    }
    w->nassigned = assigned;
    w->dead = dead;
    kj_state_back(&w->state, mark);
}

/* What is guessed holds, or else less is. */
static void settle_turns(kj_limit_walk *w, kj_limit_loop *l, const around *a)
{
    enum { TRIES = 2 };
    for (int try = 0;; try++) {
        l->failed = false;
        walk_turn(w, l, a);
        if (!l->failed)
            break;
        for (int i = 0; i < l->n && try + 1 >= TRIES; i++)
            l->each[i].plain = true;
    }
}

static void walk_loop(kj_limit_walk *w, const around *a)
{
    enum {
        GUESSES = 2, /* one in another: each walks over its body again */
        MOST_VISITS =
            50000 /* then variables of loops may be anything, and each is walked over once */
    };
    const kj_tstmt *s = a->loop, *body = s->kind == KJ_TS_FOR ? s->u.for_.body : s->u.while_.body;
    const kj_var **vars;
    kj_limit_loop l = {.up = w->loop, .stmt = s, .born = w->state.born};
    bool broke = w->broke;
    l.n = kj_limit_assigned_in(w, body, &vars);
    l.each = KJ_NEW_ARRAY(w->state.arena, kj_limit_turn, (size_t)l.n + 1);
    for (int i = 0; i < l.n; i++) {
        int before = w->state.vars[vars[i]->id].node;
        l.each[i] = (kj_limit_turn){.var = vars[i], .any = before, .low = before, .high = before};
        l.guess |= kj_has_range(vars[i]);
    }
    w->loop = &l;
    w->looped = true;
    if (l.guess && w->guesses < GUESSES && w->visits < MOST_VISITS) {
        w->guesses++;
        l.trial = true;
        walk_turn(w, &l, a);
        l.trial = l.guess = false;
        w->guesses--;
    }
    w->broke = false;
    settle_turns(w, &l, a);
    w->loop = l.up;
    begin_turn(w, &l); /* the last, which does not come */
    for (int i = 0; i < l.n; i++)
        kj_limit_assigned(w, l.each[i].var, w->assigned_from);
    w->state.why = (kj_reason){KJ_BY_LOOP, s->span};
    if (s->kind == KJ_TS_WHILE && !w->broke)
        kj_learn(&w->state, s->u.while_.test, false);
    w->broke = broke;
}

/* Of range(start, start + c, step), constants c and step, the last is known from the start on. */
static int last_of_stretch(kj_limit_walk *w, const kj_tstmt *s, int start, int range)
{
    kj_limit_state *state = &w->state;
    const kj_texpr *stop = kj_sum_of(state, s->u.for_.stop), *step = s->u.for_.step;
    const kj_texpr *length = stop ? kj_plain(state, stop->u.binary.rhs) : NULL;
    bool known =
        stop && step->kind == KJ_TE_CONST && step->u.value.i > 0 && length->kind == KJ_TE_CONST &&
        length->u.value.i > 0 &&
        kj_is_same(state, kj_plain(state, s->u.for_.start), kj_plain(state, stop->u.binary.lhs));
    if (!known)
        return range;
    int64_t reach = (length->u.value.i - 1) / step->u.value.i * step->u.value.i;
    int last = kj_graph_node(&state->graph, KJ_IV_ADD, KJ_I64, start,
                             kj_graph_const(&state->graph, reach, reach), 0);
    last = kj_graph_node(&state->graph, KJ_IV_WHERE_FIT, stop->type, kj_exact_range(state, stop),
                         last, 0);
    return kj_graph_node(&state->graph, KJ_IV_MOST, KJ_I64, range, last, 0);
}

void kj_limit_for(kj_limit_walk *w, const kj_tstmt *s)
{
    kj_limit_state *state = &w->state;
    kj_limit_expr(w, s->u.for_.start);
    kj_limit_expr(w, s->u.for_.stop);
    kj_limit_expr(w, s->u.for_.step);
    int start = kj_range_of(state, s->u.for_.start);
    int range =
        kj_graph_node(&state->graph, KJ_IV_RANGE, s->u.for_.var->type, start,
                      kj_range_of(state, s->u.for_.stop), kj_range_of(state, s->u.for_.step));
    walk_loop(w, &(around){s, last_of_stretch(w, s, start, range)});
}

void kj_limit_while(kj_limit_walk *w, const kj_tstmt *s)
{
    walk_loop(w, &(around){s, 0});
}

/* ---- Blocks ---- */

static void end_block(kj_limit_walk *w, kj_limit_left *l)
{
    for (int i = 0; i < l->n; i++) {
        int node = w->state.vars[l->each[i].var->id].node;
        l->each[i].node = l->any ? either(w, l->each[i].node, node) : node;
    }
    l->any = true;
}

void kj_limit_leave(kj_limit_walk *w, const kj_tblock *block)
{
    for (kj_limit_left *l = w->left; l; l = l->up)
        if (l->block == block)
            end_block(w, l);
    w->dead = true;
}

void kj_limit_block(kj_limit_walk *w, const kj_tblock *block)
{
    if (!block->leaves) {
        kj_limit_stmts(w, block->body);
        return;
    }
    const kj_var **vars;
    kj_limit_left l = {.up = w->left, .block = block};
    kj_limit_mark mark = kj_state_mark(&w->state);
    bool dead = w->dead;
    l.n = kj_limit_assigned_in(w, block->body, &vars);
    l.each = KJ_NEW_ARRAY(w->state.arena, kj_limit_end, (size_t)l.n + 1);
    for (int i = 0; i < l.n; i++)
        l.each[i].var = vars[i];
    w->left = &l;
    kj_limit_stmts(w, block->body);
    if (!w->dead || !l.any)
        end_block(w, &l);
    w->left = l.up;
    w->dead = dead;
    kj_state_back(&w->state, mark);
    for (int i = 0; i < l.n; i++) {
        kj_state_set(&w->state, l.each[i].var, l.each[i].node);
        kj_state_moved(&w->state, l.each[i].var);
        kj_limit_assigned(w, l.each[i].var, w->assigned_from);
    }
}
