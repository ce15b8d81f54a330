/* The graph of intervals: each node once, constants folded; and its evaluation at a launch. */
#include "analysis/limits.h"
#include "base/hash.h"

#include <string.h>

void kj_graph_init(kj_limit_graph *g, kj_arena *arena)
{
    *g = (kj_limit_graph){.arena = arena};
    kj_graph_const(g, kj_no_least, kj_no_most); /* node 0 */
}

static uint64_t hash(const kj_limit *n)
{
    uint64_t h = kj_hash_word(KJ_HASH_BEGIN, (uint64_t)n->op << 32 | (uint64_t)n->type);
    h = kj_hash_word(h, (uint64_t)(uint32_t)n->a << 32 | (uint32_t)n->b);
    h = kj_hash_word(h, (uint64_t)(uint32_t)n->c);
    if (n->op == KJ_IV_CONST)
        h = kj_hash_word(kj_hash_word(h, (uint64_t)n->known.lo), (uint64_t)n->known.hi);
    return h;
}

static bool is_same(const kj_limit *x, const kj_limit *y)
{
    return x->op == y->op && x->type == y->type && x->a == y->a && x->b == y->b && x->c == y->c &&
           x->known.lo == y->known.lo && x->known.hi == y->known.hi;
}

static int *slot_of(const kj_limit_graph *g, const kj_limit *n)
{
    size_t mask = (size_t)g->table_size - 1, at = hash(n) & mask;
    while (g->table[at] && !is_same(&g->nodes[g->table[at] - 1], n))
        at = (at + 1) & mask;
    return &g->table[at];
}

static void grow(kj_limit_graph *g)
{
    int cap = g->cap ? 2 * g->cap : 64;
    kj_limit *nodes = KJ_NEW_ARRAY(g->arena, kj_limit, (size_t)cap);
    if (g->n)
        memcpy(nodes, g->nodes, (size_t)g->n * sizeof *nodes);
    g->nodes = nodes;
    g->cap = cap;
    g->table_size = 2 * cap;
    g->table = KJ_NEW_ARRAY(g->arena, int, (size_t)g->table_size);
    for (int i = 0; i < g->n; i++)
        *slot_of(g, &nodes[i]) = i + 1;
}

static int intern(kj_limit_graph *g, kj_limit n)
{
    if (g->n == g->cap)
        grow(g);
    int *slot = slot_of(g, &n);
    if (!*slot) {
        g->nodes[g->n] = n;
        *slot = ++g->n;
    }
    return *slot - 1;
}

int kj_graph_const(kj_limit_graph *g, int64_t lo, int64_t hi)
{
    return intern(g, (kj_limit){.op = KJ_IV_CONST, .known = {lo, hi}});
}

int kj_graph_leaf(kj_limit_graph *g, kj_interval_op op, int a, int b, kj_interval known)
{
    return intern(g, (kj_limit){.op = op, .a = a, .b = b, .known = known});
}

static bool is_const(const kj_limit_graph *g, int node)
{
    return g->nodes[node].op == KJ_IV_CONST;
}

/* What the operands' known intervals say already: the node to take, or -1. */
static int simpler(const kj_limit_graph *g, kj_interval_op op, kj_dtype type, int a, int b)
{
    kj_interval x = kj_known(g, a), y = kj_known(g, b);
    switch (op) {
    case KJ_IV_FIT: return kj_interval_fits(x, type) ? a : -1;
    case KJ_IV_WHERE_FIT: return kj_interval_fits(x, type) ? b : -1;
    case KJ_IV_HULL:
    case KJ_IV_ENDS:
    case KJ_IV_MIN:
    case KJ_IV_MAX: return a == b ? a : -1;
    case KJ_IV_MOST: return a == b || x.hi <= y.lo ? a : -1;
    case KJ_IV_LEAST: return a == b || x.lo >= y.hi ? a : -1;
    case KJ_IV_ADD:
    case KJ_IV_SUB: return is_const(g, b) && y.lo == 0 && y.hi == 0 ? a : -1;
    case KJ_IV_MUL: return is_const(g, b) && y.lo == 1 && y.hi == 1 ? a : -1;
    default: return -1;
    }
}

int kj_graph_node(kj_limit_graph *g, kj_interval_op op, kj_dtype type, int a, int b, int c)
{
    int same = simpler(g, op, type, a, b);
    if (same >= 0)
        return same;
    kj_interval known = kj_interval_apply(op, type, kj_known(g, a), kj_known(g, b), kj_known(g, c));
    bool arithmetic = op == KJ_IV_ADD || op == KJ_IV_SUB || op == KJ_IV_MUL || op == KJ_IV_CEIL;
    if (arithmetic && (a == 0 || b == 0)) /* of what may be anything */
        return 0;
    if (is_const(g, a) && is_const(g, b) && is_const(g, c))
        return kj_graph_const(g, known.lo, known.hi);
    return intern(g, (kj_limit){.op = op, .type = type, .a = a, .b = b, .c = c, .known = known});
}

/* ---- For launches ---- */

static bool is_leaf(const kj_limit *n)
{
    return n->op <= KJ_IV_GRID;
}

/* Not the block: code is made for one. */
static bool is_given(const kj_limit *n)
{
    return n->op == KJ_IV_EXTENT || n->op == KJ_IV_PARAM || n->op == KJ_IV_GRID;
}

void kj_graph_prune(const kj_limit_graph *g, kj_limits *out)
{
    int *at = KJ_NEW_ARRAY(g->arena, int, (size_t)g->n + 1), n = 0;
    for (int i = 0; i < out->ntests; i++)
        at[out->tests[i].index] = at[out->tests[i].extent] = at[out->tests[i].path] = 1;
    for (int i = g->n - 1; i >= 0; i--)
        if (at[i] && !is_leaf(&g->nodes[i]))
            at[g->nodes[i].a] = at[g->nodes[i].b] = at[g->nodes[i].c] = 1;
    for (int i = 0; i < g->n; i++)
        n += at[i];
    out->n = n;
    if (n > KJ_MAX_LIMITS) {
        out->n = out->ntests = 0;
        return;
    }
    kj_limit *nodes = KJ_NEW_ARRAY(g->arena, kj_limit, (size_t)n + 1);
    n = 0;
    for (int i = 0; i < g->n; i++) {
        if (!at[i])
            continue;
        at[i] = n;
        nodes[n] = g->nodes[i];
        if (!is_leaf(&nodes[n])) {
            nodes[n].a = at[nodes[n].a];
            nodes[n].b = at[nodes[n].b];
            nodes[n].c = at[nodes[n].c];
        }
        n++;
    }
    for (int i = 0; i < out->ntests; i++) {
        out->tests[i].index = at[out->tests[i].index];
        out->tests[i].extent = at[out->tests[i].extent];
        out->tests[i].path = at[out->tests[i].path];
    }
    out->nodes = nodes;
    int *given = KJ_NEW_ARRAY(g->arena, int, (size_t)n + 1);
    for (int i = 0; i < n; i++)
        if (is_given(&nodes[i]))
            given[out->ngiven++] = i;
    out->given = given;
}

static kj_interval exactly(int64_t i)
{
    return (kj_interval){i, i};
}

static kj_interval evaluated(const kj_limit *n, const kj_interval *v, const kj_eval_env *env)
{
    switch (n->op) {
    case KJ_IV_CONST: return n->known;
    case KJ_IV_EXTENT: return exactly(env->dim(env->ctx, n->a, n->b, false));
    case KJ_IV_PARAM: return kj_interval_of_const(env->param(env->ctx, n->a));
    case KJ_IV_BLOCK: return exactly(env->index(env->ctx, KJ_BLOCK_DIM, n->a));
    case KJ_IV_GRID: return exactly(env->index(env->ctx, KJ_GRID_DIM, n->a));
    default: return kj_interval_apply(n->op, n->type, v[n->a], v[n->b], v[n->c]);
    }
}

uint64_t kj_unheld(const kj_limits *limits, const kj_eval_env *env)
{
    kj_interval v[KJ_MAX_LIMITS];
    uint64_t unheld = 0;
    for (int i = 0; i < limits->n; i++)
        v[i] = evaluated(&limits->nodes[i], v, env);
    for (int i = 0; i < limits->ntests; i++) {
        const kj_limit_test *t = &limits->tests[i];
        kj_interval index = v[t->index], path = v[t->path];
        bool inside = (!t->low || index.lo >= 0) && (!t->high || index.hi < v[t->extent].lo);
        bool none = index.lo > index.hi || path.lo > path.hi;
        unheld |= (uint64_t) !(none || inside) << i;
    }
    return unheld;
}

int kj_given(const kj_limits *limits, const kj_eval_env *env, int64_t *out)
{
    if (limits->ngiven > KJ_MAX_GIVEN)
        return -1;
    for (int i = 0; i < limits->ngiven; i++)
        out[i] = evaluated(&limits->nodes[limits->given[i]], NULL, env).lo;
    return limits->ngiven;
}
