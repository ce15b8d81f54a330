/* Which elements each thread of a kernel has to itself: those of arrays that are indexed by its place in the
 * grid and by nothing else, as far as the place is compared with something that bounds it. */
#include <string.h>

#include "warn/launch.h"

/* What a name stands for, when it is no axis of the grid whose place it is. PART - 3 * kind - axis: a part of a place. */
enum { MOST_NAMES = 64, COMPUTED = -1, TUPLE = -2, EXTENT = -3, PART = -4 };

typedef struct own_walk {
    const kj_file *file;
    const kj_item *kernel;
    kj_owned *out;
    const char *names[MOST_NAMES]; /* of places, and of what is computed from them */
    int axis[MOST_NAMES]; /* a place's; COMPUTED; TUPLE: all of them, let p = grid(2); EXTENT */
    const kj_expr *extent[MOST_NAMES]; /* of an EXTENT, let n = x.size */
    int n;
    bool *foreign; /* of parameters: some index is another */
    bool uncertain;
} own_walk;

/* ---- Names ---- */

static bool is_word(const kj_expr *e, const char *word)
{
    return e->kind == KJ_E_NAME && strcmp(e->u.name, word) == 0;
}

int kj_warn_param(const kj_item *kernel, const kj_expr *e)
{
    int i = 0;
    for (const kj_param_decl *p = kernel->params; p; p = p->next, i++)
        if (e->kind == KJ_E_NAME && e->u.name == p->name)
            return i;
    return -1;
}

static const kj_type_ref *type_of(const own_walk *w, int param)
{
    const kj_param_decl *p = w->kernel->params;
    while (param-- > 0)
        p = p->next;
    return p->type;
}

static int array_named(const own_walk *w, const kj_expr *e)
{
    int i = kj_warn_param(w->kernel, e);
    return i >= 0 && type_of(w, i)->ndim > 0 ? i : -1;
}

static int find(const own_walk *w, const char *name)
{
    for (int i = 0; i < w->n; i++)
        if (w->names[i] == name)
            return i;
    return -1;
}

static void add(own_walk *w, const char *name, int axis, const kj_expr *extent)
{
    int at = find(w, name);
    if (strcmp(name, "_") == 0) /* it may come again, as something else */
        return;
    w->uncertain |=
        w->n == MOST_NAMES || (at >= 0 && (w->axis[at] != axis || w->extent[at] != extent));
    for (const kj_param_decl *p = w->kernel->params; p; p = p->next)
        w->uncertain |= p->name == name;
    if (at < 0 && w->n < MOST_NAMES) {
        w->names[w->n] = name;
        w->extent[w->n] = extent;
        w->axis[w->n++] = axis;
    }
}

/* ---- Places ---- */

/* Parts of a place, by themselves or in names: threadIdx.x; blockIdx.x; blockDim.x; of those two the product. */
typedef enum part { THREAD, BLOCK, SIZE, START, PARTS } part;

static int axis_of_part(own_walk *w, const kj_expr *e, part kind);

/* Is it the block's extent along the axis, by blockDim or by a number that launches are compared with? */
static bool has_size(own_walk *w, const kj_expr *e, int axis)
{
    bool constant = e->kind == KJ_E_NAME && find(w, e->u.name) < 0 &&
                    kj_warn_param(w->kernel, e) < 0 && kj_warn_item(w->file, e->u.name, KJ_I_CONST);
    if (axis < 0 || axis >= KJ_GRID_AXES || (e->kind != KJ_E_INT && !constant))
        return axis >= 0 && axis == axis_of_part(w, e, SIZE);
    const kj_expr **block = &w->out->block[axis];
    bool same =
        !*block || *block == e ||
        ((*block)->kind == e->kind && e->kind == KJ_E_INT && (*block)->u.integer == e->u.integer) ||
        ((*block)->kind == e->kind && e->kind == KJ_E_NAME && (*block)->u.name == e->u.name);
    w->uncertain |= !same;
    *block = e;
    return true;
}

/* The axis of a part; -1: it is none of that kind. */
static int axis_of_part(own_walk *w, const kj_expr *e, part kind)
{
    static const char *const words[] = {"threadIdx", "blockIdx", "blockDim"};
    int at = e->kind == KJ_E_NAME ? find(w, e->u.name) : -1, axis = -1;
    if (at >= 0)
        axis = PART - KJ_GRID_AXES * (int)kind - w->axis[at];
    else if (e->kind == KJ_E_MEMBER && kind < START && is_word(e->u.member.base, words[kind]) &&
             !e->u.member.name[1])
        axis = e->u.member.name[0] - 'x';
    else if (kind == START && e->kind == KJ_E_BINARY && e->u.binary.op == KJ_OP_MUL) {
        const kj_expr *lhs = e->u.binary.lhs, *rhs = e->u.binary.rhs;
        bool turned = axis_of_part(w, lhs, BLOCK) < 0;
        axis = axis_of_part(w, turned ? rhs : lhs, BLOCK);
        axis = has_size(w, turned ? lhs : rhs, axis) ? axis : -1;
    }
    return axis >= 0 && axis < KJ_GRID_AXES ? axis : -1;
}

/* What a name of the part stands for; COMPUTED: it is none. */
static int part_of(own_walk *w, const kj_expr *e)
{
    for (part kind = THREAD; kind < PARTS; kind++) {
        int axis = axis_of_part(w, e, kind);
        if (axis >= 0)
            return PART - KJ_GRID_AXES * (int)kind - axis;
    }
    return COMPUTED;
}

/* blockIdx.x * blockDim.x + threadIdx.x; -1: it is none. */
static int axis_of_sum(own_walk *w, const kj_expr *e)
{
    if (e->kind != KJ_E_BINARY || e->u.binary.op != KJ_OP_ADD)
        return -1;
    const kj_expr *lhs = e->u.binary.lhs, *rhs = e->u.binary.rhs;
    bool turned = axis_of_part(w, rhs, THREAD) < 0;
    int thread = axis_of_part(w, turned ? lhs : rhs, THREAD);
    return thread == axis_of_part(w, turned ? rhs : lhs, START) ? thread : -1;
}

static bool is_grid(const kj_expr *e)
{
    return e->kind == KJ_E_CALL && is_word(e->u.call.callee, "grid");
}

static bool is_grid_of_one(const kj_expr *e)
{
    const kj_expr *arg = is_grid(e) ? e->u.call.args : NULL;
    return arg && arg->kind == KJ_E_INT && arg->u.integer == 1;
}

/* p[1] of let p = grid(2); -1: it is none. */
static int axis_of_item(const own_walk *w, const kj_expr *e)
{
    const kj_expr *p = e->kind == KJ_E_INDEX ? e->u.index.base : NULL;
    const kj_expr *nth = p ? e->u.index.args : NULL;
    int at = p && p->kind == KJ_E_NAME ? find(w, p->u.name) : -1;
    bool item = at >= 0 && w->axis[at] == TUPLE && nth && !nth->next && nth->kind == KJ_E_INT;
    return item && nth->u.integer < KJ_GRID_AXES ? (int)nth->u.integer : -1;
}

/* x of i32(x), which is the same as far as grids go; else the expression itself. */
static const kj_expr *converted(const kj_expr *e)
{
    const kj_expr *to = e->kind == KJ_E_CALL ? e->u.call.callee : NULL;
    const kj_expr *arg = to && to->kind == KJ_E_NAME ? e->u.call.args : NULL;
    kj_dtype type = arg && !arg->next ? kj_type_named(to->u.name) : KJ_VOID;
    return kj_is_int(type) && kj_types[type].bits >= 32 ? arg : e;
}

static int place_of(own_walk *w, const kj_expr *e)
{
    e = converted(e);
    int at = e->kind == KJ_E_NAME ? find(w, e->u.name) : -1;
    return at >= 0                 ? w->axis[at] < 0 ? COMPUTED : w->axis[at]
                           : is_grid_of_one(e) ? 0
           : e->kind == KJ_E_INDEX ? axis_of_item(w, e)
                                   : axis_of_sum(w, e);
}

typedef struct mention {
    own_walk *w;
    bool found;
} mention;

/* Is a name that stands for this another in each thread or block? */
static bool depends(int axis)
{
    int size = PART - KJ_GRID_AXES * (int)SIZE;
    return axis != EXTENT && (axis > size || axis <= size - KJ_GRID_AXES);
}

static void see_mention(void *ctx, const kj_expr *e)
{
    mention *m = ctx;
    int at = e->kind == KJ_E_NAME ? find(m->w, e->u.name) : -1;
    if (e->kind == KJ_E_INDEX && axis_of_item(m->w, e) < 0)
        return; /* what is loaded */
    m->found |= (at >= 0 && depends(m->w->axis[at])) || is_grid(e) ||
                axis_of_part(m->w, e, THREAD) >= 0 || axis_of_part(m->w, e, BLOCK) >= 0;
    if (!m->found)
        kj_each_part(e, see_mention, m);
}

/* Is it computed from the thread's place? */
static bool mentions(own_walk *w, const kj_expr *e)
{
    mention m = {w, false};
    see_mention(&m, e);
    return m.found;
}

/* x.size, x.shape[0] */
static bool is_extent(const own_walk *w, const kj_expr *e)
{
    if (e->kind == KJ_E_INDEX)
        e = e->u.index.base;
    return e->kind == KJ_E_MEMBER && array_named(w, e->u.member.base) >= 0 &&
           (strcmp(e->u.member.name, "size") == 0 || strcmp(e->u.member.name, "shape") == 0);
}

/* It is declared as what is the same in all threads: of two of that name who asks knows neither. */
static void add_other(own_walk *w, const char *name)
{
    int at = find(w, name);
    w->uncertain |= at >= 0 && w->axis[at] != COMPUTED;
}

/* One name of its own value. */
static void declare_one(own_walk *w, const char *name, const kj_expr *init, bool fixed)
{
    int place = fixed ? place_of(w, init) : -1;
    int of_place = fixed ? part_of(w, converted(init)) : COMPUTED;
    if (place >= 0)
        add(w, name, place, NULL);
    else if (of_place != COMPUTED)
        add(w, name, of_place, NULL);
    else if (fixed && is_grid(init))
        add(w, name, TUPLE, NULL);
    else if (mentions(w, init))
        add(w, name, COMPUTED, NULL);
    else if (fixed && is_extent(w, converted(init)))
        add(w, name, EXTENT, converted(init));
    else
        add_other(w, name);
}

static void declare(own_walk *w, const kj_stmt *st)
{
    const kj_expr *init = st->u.let.init, *item = kj_let_items(st);
    bool several = st->u.let.names->next != NULL, fixed = !st->u.let.mutable;
    bool places = init && fixed && several && is_grid(init);
    int k = 0;
    bool others = !init || (several && !item && !places && !mentions(w, init));
    for (const kj_name *name = st->u.let.names; name; name = name->next, k++) {
        if (others)
            add_other(w, name->name);
        else if (!several || item)
            declare_one(w, name->name, item ? item : init, fixed);
        else
            add(w, name->name, places && k < KJ_GRID_AXES ? k : COMPUTED, NULL);
        item = item ? item->next : NULL;
    }
}

/* Names that stand for places, and those of what is computed from them. */
static void find_names(own_walk *w, const kj_stmt *list)
{
    const kj_stmt *blocks[2];
    for (const kj_stmt *st = list; st; st = st->next) {
        if (st->kind == KJ_S_LET)
            declare(w, st);
        for (const kj_name *name = st->kind == KJ_S_FOR ? st->u.for_.names : NULL; name;
             name = name->next)
            if (mentions(w, st->u.for_.iter))
                add(w, name->name, COMPUTED, NULL);
            else
                add_other(w, name->name);
        if (st->kind == KJ_S_ASSIGN && mentions(w, st->u.assign.value))
            for (const kj_expr *t = st->u.assign.targets; t; t = t->next)
                if (t->kind == KJ_E_NAME)
                    add(w, t->u.name, COMPUTED, NULL);
        kj_blocks_of(st, blocks);
        find_names(w, blocks[0]);
        find_names(w, blocks[1]);
    }
}

/* ---- Comparisons ---- */

/* The place is compared with `e`, as `place op e` does. */
static void bound(own_walk *w, int axis, kj_op op, const kj_expr *e)
{
    kj_reach *reach = &w->out->reach[axis];
    int at = e->kind == KJ_E_NAME ? find(w, e->u.name) : -1;
    e = converted(at >= 0 && w->extent[at] ? w->extent[at] : e);
    if (op == KJ_OP_LE && e->kind == KJ_E_BINARY && e->u.binary.op == KJ_OP_SUB &&
        e->u.binary.rhs->kind == KJ_E_INT && e->u.binary.rhs->u.integer == 1) {
        bound(w, axis, KJ_OP_LT, e->u.binary.lhs); /* i <= n - 1 */
        return;
    }
    if (op == KJ_OP_LT && e->kind == KJ_E_CALL && is_word(e->u.call.callee, "min") &&
        !kj_warn_item(w->file, "min", KJ_I_FN)) {
        for (const kj_expr *arg = e->u.call.args; arg; arg = arg->next)
            bound(w, axis, op, arg);
        return;
    }
    int param = kj_warn_param(w->kernel, e);
    bool number = param >= 0 && type_of(w, param)->ndim == 0;
    bool less = op == KJ_OP_LT || op == KJ_OP_LE;
    if (e->kind == KJ_E_INT && e->u.integer <= 1 && !less)
        return; /* of the first one */
    if (reach->n == KJ_MOST_BOUNDS ||
        !(number || is_extent(w, e) || (e->kind == KJ_E_INT && less))) {
        w->uncertain = true;
        return;
    }
    reach->inclusive[reach->n] = op == KJ_OP_LE || op == KJ_OP_GT;
    reach->bounds[reach->n++] = e;
}

static void compare(own_walk *w, kj_op op, const kj_expr *lhs, const kj_expr *rhs)
{
    if (!mentions(w, lhs) && !mentions(w, rhs))
        return;
    int left = place_of(w, lhs), right = place_of(w, rhs);
    bool orders = op == KJ_OP_LT || op == KJ_OP_LE || op == KJ_OP_GT || op == KJ_OP_GE;
    if (!orders || (left < 0) == (right < 0) || mentions(w, left < 0 ? lhs : rhs))
        w->uncertain = true; /* which of them are meant is not known */
    else if (left >= 0)
        bound(w, left, op, rhs);
    else
        bound(w, right, kj_mirrored(op), lhs);
}

/* A condition that asks for the place otherwise than by comparing it. */
static void see_truth(own_walk *w, const kj_expr *e)
{
    if (e->kind == KJ_E_LOGIC) {
        see_truth(w, e->u.logic.lhs);
        see_truth(w, e->u.logic.rhs);
        return;
    }
    if (e->kind == KJ_E_UNARY && e->u.unary.op == KJ_OP_NOT) {
        see_truth(w, e->u.unary.arg);
        return;
    }
    bool compares = e->kind == KJ_E_CHAIN ||
                    (e->kind == KJ_E_BINARY && kj_ops[e->u.binary.op].class == KJ_OPS_COMPARE);
    w->uncertain |= !compares && mentions(w, e);
}

static void compare_all(own_walk *w, const kj_expr *e)
{
    if (e->kind == KJ_E_BINARY && kj_ops[e->u.binary.op].class == KJ_OPS_COMPARE)
        compare(w, e->u.binary.op, e->u.binary.lhs, e->u.binary.rhs);
    const kj_expr *operand = e->kind == KJ_E_CHAIN ? e->u.chain.operands : NULL;
    for (int i = 0; operand && operand->next; operand = operand->next, i++)
        compare(w, e->u.chain.ops[i], operand, operand->next);
}

/* ---- Elements ---- */

static void access(own_walk *w, int param, const kj_expr *e)
{
    kj_own *own = &w->out->params[param];
    unsigned seen = 0;
    int n = 0;
    for (const kj_expr *arg = e->u.index.args; arg; arg = arg->next, n++) {
        int axis = place_of(w, arg);
        if (axis < 0 || seen & 1u << axis || n == KJ_MAX_NDIM ||
            (own->element && own->grid_axis[n] != axis)) {
            w->foreign[param] = true;
            return;
        }
        seen |= 1u << axis;
        own->grid_axis[n] = axis;
    }
    w->foreign[param] |= n != type_of(w, param)->ndim;
    if (!own->element)
        own->element = e;
}

static void see(void *ctx, const kj_expr *e)
{
    own_walk *w = ctx;
    const kj_expr *base = e->kind == KJ_E_INDEX ? e->u.index.base : NULL;
    int whole = array_named(w, e), element = base ? array_named(w, base) : -1;
    if (whole >= 0)
        w->foreign[whole] = true;
    if (is_extent(w, e))
        return;
    compare_all(w, e);
    if (e->kind == KJ_E_COND)
        see_truth(w, e->u.cond.test);
    if (element < 0) {
        kj_each_part(e, see, w);
        return;
    }
    access(w, element, e);
    for (const kj_expr *arg = e->u.index.args; arg; arg = arg->next)
        see(w, arg);
}

/* What is assigned, and under which conditions. */
static void see_statements(own_walk *w, const kj_stmt *list)
{
    const kj_stmt *blocks[2];
    for (const kj_stmt *st = list; st; st = st->next) {
        if (st->kind == KJ_S_IF)
            see_truth(w, st->u.if_.test);
        else if (st->kind == KJ_S_WHILE)
            see_truth(w, st->u.while_.test);
        for (const kj_expr *t = st->kind == KJ_S_ASSIGN ? st->u.assign.targets : NULL; t;
             t = t->next) {
            const kj_expr *e = t;
            while (e->kind == KJ_E_MEMBER)
                e = e->u.member.base;
            int param = e->kind == KJ_E_INDEX ? array_named(w, e->u.index.base) : -1;
            if (param >= 0 && !w->out->params[param].written) {
                w->out->params[param].written = true;
                w->out->params[param].element = e;
            }
        }
        kj_blocks_of(st, blocks);
        see_statements(w, blocks[0]);
        see_statements(w, blocks[1]);
    }
}

bool kj_warn_owned(kj_arena *arena, const kj_file *file, const kj_item *kernel, kj_owned *out)
{
    int n = 0;
    for (const kj_param_decl *p = kernel->params; p; p = p->next)
        n++;
    own_walk w = {.file = file, .kernel = kernel, .out = out};
    *out = (kj_owned){.params = KJ_NEW_ARRAY(arena, kj_own, (size_t)n + 1)};
    w.foreign = KJ_NEW_ARRAY(arena, bool, (size_t)n + 1);
    find_names(&w, kernel->body);
    find_names(&w, kernel->body); /* what is computed from names that are declared behind */
    kj_each_expr(kernel->body, see, &w);
    see_statements(&w, kernel->body);
    for (int i = 0; i < n; i++)
        if (w.foreign[i])
            out->params[i].element = NULL;
    return !w.uncertain && !kj_warn_item(file, "grid", KJ_I_FN);
}
