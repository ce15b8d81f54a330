/* Where a CPU's code looks at its halt, besides the turns of long loops (kj_is_long): statements and loops with known
 * turns take a time each, and what threads that run one after the other take is summed along each way through a
 * block. Before the sum passes MOST, there is a look: in front of a statement or a region, in each turn of a
 * loop, in front of each gang.
 *
 * Times are rough, in nanoseconds of one thread that runs alone, and rather too long: lanes share most of them. A look
 * in a turn or in front of a gang comes at least MOST / 4096 of them after another, so that it costs nothing. */
#include "lower/gang/gang.h"

enum { MOST = 8000000, BUCKETS = 256 };
static const int64_t ENDLESS = (int64_t)1 << 40;

typedef struct mark {
    struct mark *next;
    const void *at; /* a statement or a node */
    kj_look_at how;
} mark;

struct kj_look_plan {
    mark *marks[BUCKETS];
};

typedef struct plan {
    kj_lower *lo;
    struct kj_look_plan *looks; /* NULL: it is only summed */
    int64_t threads;            /* that run by turns what is walked through */
    int64_t block;              /* those of blocks that run together */
    int64_t since;              /* a look */
    int64_t left;               /* the most of it where a thread leaves something */
} plan;

static mark **bucket(struct kj_look_plan *l, const void *at)
{
    return &l->marks[((uintptr_t)at >> 4) % BUCKETS];
}

static void put(const plan *p, const void *at, kj_look_at how)
{
    mark **b = bucket(p->looks, at), *m = KJ_NEW(p->lo->arena, mark);
    *m = (mark){*b, at, how};
    *b = m;
}

bool kj_looks(const kj_lower *lo, const void *at, kj_look_at how)
{
    const mark *m = lo->planned ? *bucket(lo->planned, at) : NULL;
    while (m && !(m->at == at && m->how == how))
        m = m->next;
    return m != NULL;
}

static void leave(plan *p)
{
    p->left = p->since > p->left ? p->since : p->left;
}

/* Behind something that was gone through, or left, or not entered: then it was `before`. */
static void join(plan *p, int64_t before)
{
    p->since = before > p->since ? before : p->since;
    p->since = p->left > p->since ? p->left : p->since;
}

/* ---- What takes how long ---- */

static int64_t times(uint64_t n, int64_t t)
{
    return t && n > (uint64_t)(ENDLESS / t) ? ENDLESS : (int64_t)n * t;
}

static void pass(plan *p, uint64_t n, int64_t t)
{
    p->since += times(n, t);
    if (p->since > ENDLESS)
        p->since = ENDLESS;
}

/* An access; of much memory of the worker's it may be the first there, for which the system clears a page. */
static int64_t time_of_access(const kj_lower *lo, const kj_tarray *a)
{
    enum { ACCESS = 12, FIRST = 200, MUCH = 16 << 20 };
    const kj_tarray *root = a->root;
    bool much = root->space == KJ_LOCAL && lo->regions->crossing[root->id] &&
                root->static_count * kj_elem_size(root) * lo->threads > MUCH;
    return much ? FIRST : ACCESS;
}

static int64_t time_of_call(const kj_texpr *e)
{
    enum { MATH = 100, FMOD = 500, OTHER = 20 };
    if (e->u.call.id == KJ_BI_FMOD)
        return FMOD;
    return kj_builtins[e->u.call.id].how == KJ_HOW_MATH ? MATH : OTHER;
}

static int64_t time_of_binary(const kj_texpr *e)
{
    enum { PLAIN = 1, DIVIDE = 20, REMAINDER = 500 };
    kj_op op = e->u.binary.op;
    if (op != KJ_OP_DIV && op != KJ_OP_FLOORDIV && op != KJ_OP_MOD)
        return PLAIN;
    return op != KJ_OP_DIV && !kj_is_int(e->type) ? REMAINDER : DIVIDE;
}

/* Without its operands. */
static int64_t time_of(const kj_lower *lo, const kj_texpr *e)
{
    enum { ATOMIC = 100 }; /* of workers that contend for the place */
    switch (e->kind) {
    case KJ_TE_CONST:
    case KJ_TE_VAR:
    case KJ_TE_DIM:
    case KJ_TE_INDEX: return 0;
    case KJ_TE_LOAD: return time_of_access(lo, e->u.load.array);
    case KJ_TE_ATOMIC: return ATOMIC;
    case KJ_TE_CALL: return time_of_call(e);
    case KJ_TE_BINARY: return time_of_binary(e);
    default: return 1;
    }
}

/* Without what it evaluates and the statements in it. */
static int64_t time_of_stmt(const kj_lower *lo, const kj_tstmt *s)
{
    enum { BYTES = 4, PRINT = 2000, LAUNCH = 20000 };
    const kj_tarray *a;
    switch (s->kind) {
    case KJ_TS_STORE: return time_of_access(lo, s->u.store.array);
    case KJ_TS_ARRAY: /* it may be cleared; one that crosses regions is elsewhere */
        a = s->u.array;
        if (a->space != KJ_LOCAL || !lo->kernel->untrusted || lo->regions->crossing[a->id])
            return 0;
        return a->static_count * kj_elem_size(a) / BYTES;
    case KJ_TS_REPORT: return lo->kernel->prints ? PRINT : 1;
    case KJ_TS_LAUNCH: return LAUNCH;
    default: return 1;
    }
}

/* ---- Statements of a thread ---- */

static void walk_list(plan *p, const kj_tstmt *s, const kj_tstmt *end);

typedef struct own {
    plan *plan;
    const kj_tstmt *stmt;
} own;

static bool visit_own(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    const own *o = ctx;
    if (!e || s != o->stmt) /* of an inlined call, which is walked through apart */
        return true;
    pass(o->plan, (uint64_t)o->plan->threads, time_of(o->plan->lo, e));
    if (e->kind == KJ_TE_INLINE) {
        walk_list(o->plan, e->u.inline_.block->body, NULL);
        join(o->plan, 0);
    }
    return true;
}

static void walk_own(plan *p, const kj_tstmt *s)
{
    pass(p, (uint64_t)p->threads, time_of_stmt(p->lo, s));
    kj_walk_own(s, visit_own, &(own){p, s});
}

static plan only_sums(const plan *p, int64_t threads)
{
    return (plan){.lo = p->lo, .threads = threads, .block = p->block};
}

static int64_t sum_of(const plan *p, const kj_tstmt *s, const kj_tstmt *end, int64_t threads)
{
    plan sums = only_sums(p, threads);
    walk_list(&sums, s, end);
    return sums.since;
}

static int64_t sum_of_own(const plan *p, const kj_tstmt *s)
{
    plan sums = only_sums(p, p->block);
    walk_own(&sums, s);
    return sums.since;
}

/* Does each turn of a loop look, of which one takes so long? Else all have passed; of one that looks anyway, where
 * nothing is put, the part behind it. Copies look where it is put alone. */
static bool turns_look(plan *p, const kj_tstmt *loop, int64_t turn, bool copied)
{
    kj_turns turns = {.n = 1};
    bool is_long = kj_is_long(loop) && !copied;
    if (!is_long)
        kj_known_turns(loop, &turns);
    if (!p->looks || (!is_long && p->since + times(turns.n, turn) <= MOST)) {
        pass(p, turns.n, turn);
        return false;
    }
    if (!is_long)
        put(p, loop, KJ_LOOK_WITHIN);
    return true;
}

static void walk_loop(plan *p, const kj_tstmt *s, const kj_tstmt *body)
{
    int64_t before = p->since;
    kj_turns turns;
    bool copied = s->kind == KJ_TS_FOR && !p->lo->rolled && kj_unroll_turns(s, &turns) &&
                  !kj_loses(s->u.for_.body, NULL, false);
    if (!turns_look(p, s, sum_of(p, body, NULL, p->threads), copied))
        return;
    walk_list(p, body, NULL); /* the first turn begins with what was before */
    if (!copied)              /* and each ends with a look; copies begin with one */
        p->since = 0;
    join(p, before);
}

static void walk_if(plan *p, const kj_tstmt *s)
{
    int64_t before = p->since;
    walk_list(p, s->u.if_.yes, NULL);
    join(p, before);
    before = p->since;
    walk_list(p, s->u.if_.no, NULL);
    join(p, before);
}

static void walk_stmt(plan *p, const kj_tstmt *s)
{
    walk_own(p, s);
    switch (s->kind) {
    case KJ_TS_IF: walk_if(p, s); break;
    case KJ_TS_FOR: walk_loop(p, s, s->u.for_.body); break;
    case KJ_TS_WHILE: walk_loop(p, s, s->u.while_.body); break;
    case KJ_TS_INLINE:
        walk_list(p, s->u.block->body, NULL);
        join(p, 0);
        break;
    case KJ_TS_BREAK:
    case KJ_TS_CONTINUE:
    case KJ_TS_LEAVE: leave(p); break;
    default: break;
    }
}

/* Is it to be in front of which there is a look: something that is not too long itself? */
static bool looks_before(const plan *p, int64_t all)
{
    return p->looks && p->since + all > MOST && all <= MOST && p->since > 0;
}

static void walk_list(plan *p, const kj_tstmt *s, const kj_tstmt *end)
{
    for (; s != end; s = s->next) {
        if (p->looks && looks_before(p, sum_of(p, s, s->next, p->threads))) {
            put(p, s, KJ_LOOK_BEFORE);
            p->since = 0;
        }
        walk_stmt(p, s);
    }
}

/* ---- What runs once for a block ---- */

static void walk_nodes(plan *p, const kj_node *n);

/* All gangs run something of so much: in front of it there is a look, or in front of each gang; then true. */
static bool gangs_look(plan *p, const kj_node *n, int64_t all)
{
    if (!p->looks || p->since + all <= MOST) {
        pass(p, 1, all);
        return false;
    }
    put(p, n, all > MOST ? KJ_LOOK_WITHIN : KJ_LOOK_BEFORE);
    p->since = all > MOST ? 0 : all;
    return all > MOST;
}

static void walk_region(plan *p, const kj_node *n)
{
    if (gangs_look(p, n, sum_of(p, n->stmt, n->end, p->block)))
        walk_list(p, n->stmt, n->end);
    if (n->exits)
        leave(p);
}

static void walk_ways(plan *p, const kj_node *n)
{
    if (n->divergent)
        gangs_look(p, n, sum_of_own(p, n->stmt));
    int64_t before = p->since;
    walk_nodes(p, n->yes);
    join(p, before);
    before = p->since;
    walk_nodes(p, n->no);
    join(p, before);
}

static void walk_block_loop(plan *p, const kj_node *n)
{
    int64_t test = n->divergent ? sum_of_own(p, n->stmt) : 0;
    gangs_look(p, n, test);
    int64_t before = p->since;
    plan turn = only_sums(p, p->threads);
    walk_nodes(&turn, n->yes);
    pass(&turn, 1, test + p->block); /* bytes that say who is in it */
    if (!turns_look(p, n->stmt, turn.since, false))
        return;
    p->since = 0;
    walk_nodes(p, n->yes);
    join(p, before);
}

static void walk_nodes(plan *p, const kj_node *n)
{
    for (; n; n = n->next) {
        switch (n->kind) {
        case KJ_N_REGION: walk_region(p, n); break;
        case KJ_N_SCALAR: pass(p, 1, sum_of(p, n->stmt, n->stmt->next, 1)); break;
        case KJ_N_BARRIER: gangs_look(p, n, sum_of_own(p, n->stmt)); break;
        case KJ_N_IF: walk_ways(p, n); break;
        case KJ_N_LOOP: walk_block_loop(p, n); break;
        case KJ_N_INLINE:
            walk_nodes(p, n->yes);
            join(p, 0);
            break;
        case KJ_N_EXIT: leave(p); break;
        }
    }
}

void kj_looks_plan(kj_lower *lo, int64_t together)
{
    const int64_t *block = lo->kernel->block;
    lo->planned = NULL;
    if (!lo->halt || lo->target->clock)
        return;
    plan p = {.lo = lo, .threads = lo->gang_rows * lo->gang_lanes};
    p.block = block[0] * block[1] * block[2] * together;
    p.looks = KJ_NEW_ARRAY(lo->arena, struct kj_look_plan, 1);
    walk_nodes(&p, lo->regions->body);
    lo->planned = p.looks;
}
