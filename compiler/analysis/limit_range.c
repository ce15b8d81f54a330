/* Intervals of expressions, of what variables and facts are known to be where the walk is. */
#include "analysis/limits.h"

static int of_type(kj_limit_state *s, kj_dtype type)
{
    kj_interval t = kj_interval_of_type(type);
    return kj_graph_const(&s->graph, t.lo, t.hi);
}

static int node(kj_limit_state *s, kj_interval_op op, int a, int b)
{
    return kj_graph_node(&s->graph, op, KJ_I64, a, b, 0);
}

static int fit(kj_limit_state *s, kj_dtype type, int a)
{
    return kj_graph_node(&s->graph, KJ_IV_FIT, type, a, 0, 0);
}

static int one(kj_limit_state *s, int64_t i)
{
    return kj_graph_const(&s->graph, i, i);
}

static int dims(kj_limit_state *s, bool grid, int axis)
{
    int64_t known = grid ? 0 : s->kernel->block[axis];
    if (known > 0)
        return one(s, known);
    return kj_graph_leaf(&s->graph, grid ? KJ_IV_GRID : KJ_IV_BLOCK, axis, 0,
                         (kj_interval){1, grid ? INT32_MAX : 1024});
}

static int index_range(kj_limit_state *s, const kj_texpr *e)
{
    int axis = e->u.index.axis;
    switch (e->u.index.which) {
    case KJ_BLOCK_DIM: return dims(s, false, axis);
    case KJ_GRID_DIM: return dims(s, true, axis);
    case KJ_LANE_ID: return kj_graph_const(&s->graph, 0, KJ_WARP - 1);
    case KJ_THREAD_IDX:
    case KJ_BLOCK_IDX: break;
    }
    int most = node(s, KJ_IV_SUB, dims(s, e->u.index.which == KJ_BLOCK_IDX, axis), one(s, 1));
    return node(s, KJ_IV_ENDS, one(s, 0), most);
}

static int declared_range(kj_limit_state *s, const kj_var *v)
{
    if (s->vars[v->id].node)
        return s->vars[v->id].node;
    if (v->param >= 0)
        return kj_graph_leaf(&s->graph, KJ_IV_PARAM, v->param, 0, kj_interval_of_type(v->type));
    return of_type(s, v->type);
}

/* What a name stands for may be known better by now. */
static int var_range(kj_limit_state *s, const kj_var *v)
{
    enum { NAMES = 3 }; /* that are looked through; each may stand for two */
    int range = declared_range(s, v);
    const kj_texpr *init = s->vars[v->id].init;
    if (!init || s->names >= NAMES)
        return range;
    s->names++;
    int now = kj_range_of(s, init);
    s->names--;
    return node(s, KJ_IV_LEAST, node(s, KJ_IV_MOST, range, now), now);
}

static int dim_range(kj_limit_state *s, const kj_texpr *e)
{
    if (e->u.dim.stride)
        return of_type(s, KJ_I64);
    if (e->u.dim.array->param < 0)
        return kj_graph_const(&s->graph, 0, KJ_MOST_EXTENT);
    return kj_graph_leaf(&s->graph, KJ_IV_EXTENT, e->u.dim.array->param, e->u.dim.axis,
                         (kj_interval){0, KJ_MOST_EXTENT});
}

/* A count that is masked to the width is no less than it says. */
static int shift_range(kj_limit_state *s, const kj_texpr *e)
{
    const kj_texpr *by = e->u.binary.rhs;
    int a = kj_range_of(s, e->u.binary.lhs);
    if (by->kind != KJ_TE_CONST || by->u.value.i < 0 || by->u.value.i >= kj_types[e->type].bits ||
        by->u.value.i > 62)
        return of_type(s, e->type);
    if (e->u.binary.op == KJ_OP_SHR)
        return kj_graph_node(&s->graph, KJ_IV_SHR, e->type, a, one(s, by->u.value.i), 0);
    return node(s, KJ_IV_MUL, a, one(s, (int64_t)1 << by->u.value.i));
}

static int binary_range(kj_limit_state *s, const kj_texpr *e)
{
    static const kj_interval_op ops[] = {
        [KJ_OP_ADD] = KJ_IV_ADD,      [KJ_OP_SUB] = KJ_IV_SUB, [KJ_OP_MUL] = KJ_IV_MUL,
        [KJ_OP_FLOORDIV] = KJ_IV_DIV, [KJ_OP_MOD] = KJ_IV_MOD, [KJ_OP_AND] = KJ_IV_AND,
        [KJ_OP_OR] = KJ_IV_OR,        [KJ_OP_XOR] = KJ_IV_OR,
    };
    kj_op op = e->u.binary.op;
    if (op == KJ_OP_SHL || op == KJ_OP_SHR)
        return shift_range(s, e);
    if ((size_t)op >= sizeof ops / sizeof *ops || ops[op] == KJ_IV_CONST)
        return of_type(s, e->type);
    int a = kj_range_of(s, e->u.binary.lhs), b = kj_range_of(s, e->u.binary.rhs);
    int range = node(s, ops[op], a, b);
    return op == KJ_OP_SUB ? kj_told_difference(s, e, range) : range;
}

static int chosen_range(kj_limit_state *s, const kj_texpr *e)
{
    enum { CHOICES = 4 }; /* whose tests are taken in, for both ways: others may stand there */
    kj_limit_mark mark = kj_state_mark(s);
    kj_reason why = s->why;
    bool told = s->choices < CHOICES;
    s->why = (kj_reason){KJ_BY_CONDITION, e->u.select.test->span};
    s->choices++;
    if (told)
        kj_learn(s, e->u.select.test, true);
    int yes = kj_range_of(s, e->u.select.yes);
    kj_state_back(s, mark);
    if (told)
        kj_learn(s, e->u.select.test, false);
    int no = kj_range_of(s, e->u.select.no);
    kj_state_back(s, mark);
    s->choices--;
    s->why = why;
    return node(s, KJ_IV_HULL, yes, no);
}

static int call_range(kj_limit_state *s, const kj_texpr *e)
{
    kj_texpr *const *v = e->u.call.args;
    switch (e->u.call.id) {
    case KJ_BI_MIN: return node(s, KJ_IV_MIN, kj_range_of(s, v[0]), kj_range_of(s, v[1]));
    case KJ_BI_MAX: return node(s, KJ_IV_MAX, kj_range_of(s, v[0]), kj_range_of(s, v[1]));
    case KJ_BI_CLAMP:
        return node(s, KJ_IV_MIN, node(s, KJ_IV_MAX, kj_range_of(s, v[0]), kj_range_of(s, v[1])),
                    kj_range_of(s, v[2]));
    case KJ_BI_ABS: return node(s, KJ_IV_ABS, kj_range_of(s, v[0]), 0);
    case KJ_BI_SELP: return node(s, KJ_IV_HULL, kj_range_of(s, v[1]), kj_range_of(s, v[2]));
    case KJ_BI_CEIL_DIV: return node(s, KJ_IV_CEIL, kj_range_of(s, v[0]), kj_range_of(s, v[1]));
    case KJ_BI_POPC:
    case KJ_BI_CLZ:
    case KJ_BI_FFS: return kj_graph_const(&s->graph, 0, kj_types[v[0]->type].bits);
    default: return of_type(s, e->type);
    }
}

int kj_exact_range(kj_limit_state *s, const kj_texpr *e)
{
    kj_interval known;
    switch (e->kind) {
    case KJ_TE_CONST:
        known = kj_interval_of_const(e->u.value);
        return kj_graph_const(&s->graph, known.lo, known.hi);
    case KJ_TE_VAR: return var_range(s, e->u.var);
    case KJ_TE_DIM: return dim_range(s, e);
    case KJ_TE_INDEX: return index_range(s, e);
    case KJ_TE_UNARY:
        if (e->u.unary.op == KJ_OP_NEG)
            return node(s, KJ_IV_SUB, one(s, 0), kj_range_of(s, e->u.unary.arg));
        if (e->u.unary.op == KJ_OP_INVERT && kj_is_signed(e->type))
            return node(s, KJ_IV_SUB, one(s, -1), kj_range_of(s, e->u.unary.arg));
        break;
    case KJ_TE_BINARY: return binary_range(s, e);
    case KJ_TE_SELECT: return chosen_range(s, e);
    case KJ_TE_CONVERT:
    case KJ_TE_BITS: /* the same bits, of what both types have, are the same number */
        if (kj_is_int(e->u.unary.arg->type) || e->u.unary.arg->type == KJ_BOOL)
            return kj_range_of(s, e->u.unary.arg);
        break;
    case KJ_TE_CALL: return call_range(s, e);
    case KJ_TE_INLINE: return var_range(s, e->u.inline_.result);
    case KJ_TE_LOGIC:
    case KJ_TE_FMA:
    case KJ_TE_LOAD:
    case KJ_TE_ATOMIC:
    case KJ_TE_ADDRESS: break;
    }
    return of_type(s, e->type);
}

/* May it be of numbers that its type does not hold? Those of 64 bits that may be anything do not say so
 * themselves. */
static bool may_wrap(const kj_texpr *e)
{
    kj_op op = e->u.binary.op;
    switch (e->kind) {
    case KJ_TE_BINARY:
        return op == KJ_OP_ADD || op == KJ_OP_SUB || op == KJ_OP_MUL || op == KJ_OP_SHL ||
               e->type != KJ_I64;
    case KJ_TE_CALL: return e->u.call.id == KJ_BI_ABS || e->type != KJ_I64;
    case KJ_TE_UNARY:
    case KJ_TE_CONVERT:
    case KJ_TE_BITS: return true;
    default: return false;
    }
}

int kj_range_of(kj_limit_state *s, const kj_texpr *e)
{
    if (!kj_is_int(e->type) && e->type != KJ_BOOL)
        return 0;
    if (s->looks >= KJ_MOST_LOOKS)
        return of_type(s, e->type);
    s->looks++;
    int range = kj_exact_range(s, e);
    if (may_wrap(e))
        range = fit(s, e->type, range);
    bool told = kj_is_int(e->type) &&
                (e->kind == KJ_TE_BINARY || e->kind == KJ_TE_INDEX || e->kind == KJ_TE_DIM);
    return told ? kj_told_range(s, e, range) : range;
}
