/* Launches of the run block with fewer threads than elements, where each thread has the elements of its
 * place and no others: what is left over stays as it is, as after n // 256 blocks of 256 threads. */
#include <string.h>

#include "warn/launch.h"

/* What was found of a kernel, which may be launched often. */
typedef struct seen_kernel {
    const kj_item *kernel;
    bool certain;
    kj_owned owned;
    kj_effects effects;
} seen_kernel;

typedef struct launches {
    kj_arena *arena;
    kj_diag *diag;
    const kj_file *file;
    kj_run_names names;
    seen_kernel **seen; /* by item, in the file's order; NULL: not yet */
    kj_reached *reached;
} launches;

/* A launch, and its threads. */
typedef struct launch {
    kj_launch as;
    bool known;     /* how many there are: */
    int64_t blocks; /* at least */
    int64_t threads[KJ_GRID_AXES];
    int64_t block[KJ_GRID_AXES]; /* of them; 0: it is not written, as of forall */
} launch;

/* ---- The launch ---- */

static const kj_item *kernel_named(const launches *l, const kj_expr *e)
{
    return e->kind == KJ_E_NAME ? kj_warn_item(l->file, e->u.name, KJ_I_KERNEL) : NULL;
}

/* Of a grid or a block, of at least so many: those of axes that are not there are 1. */
static bool sizes_of(launches *l, const kj_expr *e, int least, int64_t out[KJ_GRID_AXES])
{
    kj_run_value v = kj_warn_value(&l->names, e);
    if (v.kind != KJ_NUMBERS || v.n > KJ_GRID_AXES)
        return false;
    for (int i = 0; i < KJ_GRID_AXES; i++) {
        out[i] = i < v.n ? v.numbers[i] : 1;
        if (out[i] < least)
            return false;
    }
    return true;
}

static bool is_launch(const launches *l, const kj_expr *e, kj_launch *out)
{
    const kj_expr *callee = e->kind == KJ_E_CALL ? e->u.call.callee : NULL;
    const kj_expr *member =
        callee && callee->kind == KJ_E_CALL && callee->u.call.callee->kind == KJ_E_MEMBER
            ? callee->u.call.callee
            : NULL;
    out->call = e;
    out->forall = member != NULL;
    if (callee && callee->kind == KJ_E_INDEX) {
        out->kernel = kernel_named(l, callee->u.index.base);
        out->grid = callee->u.index.args;
        return out->kernel && out->grid;
    }
    if (!member || strcmp(member->u.member.name, "forall") != 0 || !callee->u.call.args)
        return false;
    out->kernel = kernel_named(l, member->u.member.base);
    out->grid = callee->u.call.args;
    return out->kernel != NULL;
}

/* Its blocks and threads, where the text has their numbers. */
static void count(launches *l, launch *x)
{
    enum { MOST_IN_BLOCK = 1024 };
    int64_t blocks[KJ_GRID_AXES];
    const kj_expr *grid = x->as.grid;
    x->known = sizes_of(l, grid, 0, blocks) &&
               (x->as.forall || (grid->next && sizes_of(l, grid->next, 1, x->threads)));
    if (!x->known)
        return;
    x->blocks = 1;
    for (int i = 0; i < KJ_GRID_AXES; i++) {
        x->block[i] = x->as.forall ? 0 : x->threads[i];
        x->threads[i] = blocks[i] * (x->as.forall ? 1 : x->threads[i]);
        x->blocks = x->blocks > INT32_MAX ? x->blocks : x->blocks * blocks[i];
    }
    if (x->as.forall)
        x->blocks = (x->blocks + MOST_IN_BLOCK - 1) / MOST_IN_BLOCK;
}

/* All of them, or as many as matter. */
static int64_t threads_of(const launch *x)
{
    int64_t n = 1;
    for (int i = 0; i < KJ_GRID_AXES; i++)
        n = n > INT32_MAX ? n : n * x->threads[i];
    return n;
}

static const kj_expr *argument_for(const launch *x, int param)
{
    int nth = 0;
    for (const kj_expr *arg = x->as.call->u.call.args; arg; arg = arg->next, nth++)
        if (kj_param_of(x->as.kernel, arg, nth) == param)
            return arg;
    return NULL;
}

/* ---- Elements without a thread ---- */

typedef struct left_over {
    const kj_param_decl *param; /* NULL: there are none */
    const kj_expr *element;
    int axis, naxes; /* the array's */
    int64_t extent;
} left_over;

/* What a kernel compares with, by the arguments of the launch. */
static kj_run_value bound_of(const launches *l, const launch *x, const kj_expr *e)
{
    const kj_expr *index = e->kind == KJ_E_INDEX ? e->u.index.args : NULL;
    const kj_expr *extent = index ? e->u.index.base : e;
    const kj_expr *of = extent->kind == KJ_E_MEMBER ? extent->u.member.base : e;
    int param = kj_warn_param(x->as.kernel, of);
    const kj_expr *arg = param >= 0 ? argument_for(x, param) : e;
    kj_run_value v = arg ? kj_warn_value(&l->names, arg) : (kj_run_value){.n = 0};
    if (of == e) /* a number */
        return v;
    int64_t axis = index && index->kind == KJ_E_INT ? (int64_t)index->u.integer : 0;
    bool known = v.kind == KJ_EXTENTS && (index ? index->kind == KJ_E_INT && axis < v.n : v.n == 1);
    return (kj_run_value){known ? KJ_NUMBERS : KJ_UNKNOWN, 1, {known ? v.numbers[axis] : 0}};
}

/* How far the kernel goes along an axis of its grid; false: it is not known. */
static bool reach_of(const launches *l, const launch *x, const kj_reach *reach, int64_t *out)
{
    *out = INT64_MAX;
    for (int i = 0; i < reach->n; i++) {
        kj_run_value v = bound_of(l, x, reach->bounds[i]);
        if (v.kind != KJ_NUMBERS || v.n != 1)
            return false;
        int64_t end = v.numbers[0] + reach->inclusive[i];
        *out = end < *out ? end : *out;
    }
    return true;
}

static bool is_empty(const kj_run_value *array)
{
    bool empty = false;
    for (int axis = 0; axis < array->n; axis++)
        empty |= array->numbers[axis] == 0;
    return empty;
}

/* Are the launch's blocks as the kernel says? */
static bool has_its_blocks(const launches *l, const launch *x, const kj_owned *owned)
{
    for (int i = 0; i < KJ_GRID_AXES; i++) {
        kj_run_value v = owned->block[i] ? kj_warn_value(&l->names, owned->block[i])
                                         : (kj_run_value){KJ_NUMBERS, 1, {x->block[i]}};
        if (v.kind != KJ_NUMBERS || v.n != 1 || v.numbers[0] != x->block[i])
            return false;
    }
    return true;
}

/* Along one axis of the grid. An array that has a thread for each element shows that so many were meant. */
static left_over left_along(launches *l, const launch *x, const kj_owned *owned, int grid_axis)
{
    const left_over none = {0};
    left_over found = none;
    int64_t reach;
    if (!has_its_blocks(l, x, owned) || !reach_of(l, x, &owned->reach[grid_axis], &reach))
        return none;
    const kj_own *own = owned->params;
    int i = 0;
    for (const kj_param_decl *p = x->as.kernel->params; p; p = p->next, own++, i++) {
        const kj_expr *arg = own->element ? argument_for(x, i) : NULL;
        if (!own->element)
            continue;
        kj_run_value array = arg ? kj_warn_value(&l->names, arg) : (kj_run_value){.n = 0};
        int n = array.kind == KJ_EXTENTS ? array.n : 0;
        if (n != p->type->ndim || is_empty(&array))
            return none;
        for (int axis = 0; axis < n; axis++) {
            int64_t extent = array.numbers[axis] < reach ? array.numbers[axis] : reach;
            if (own->grid_axis[axis] != grid_axis)
                continue;
            if (extent <= x->threads[grid_axis])
                return none;
            if (own->written && !found.param)
                found = (left_over){p, own->element, axis, n, extent};
        }
    }
    return found;
}

/* The axis of the grid as it is written. */
static const kj_expr *blocks_of(launches *l, const kj_expr *grid, int axis)
{
    int i = 0;
    const kj_expr *e = grid;
    if (grid->kind == KJ_E_TUPLE)
        for (e = grid->u.list.items; e && i < axis; i++)
            e = e->next;
    return e ? kj_warn_init(&l->names, e) : NULL;
}

static const char *text_of(const launches *l, const kj_expr *e)
{
    return kj_arena_printf(l->arena, "%.*s", (int)(e->span.end - e->span.begin),
                           l->diag->source->text + e->span.begin);
}

/* n // 256 of n elements in blocks of 256. */
static bool divides_elements(launches *l, const launch *x, const kj_expr *division, int grid_axis,
                             const left_over *left)
{
    kj_run_value of = kj_warn_value(&l->names, division->u.binary.lhs),
                 by = kj_warn_value(&l->names, division->u.binary.rhs);
    return of.kind == KJ_NUMBERS && of.n == 1 && of.numbers[0] == left->extent &&
           by.kind == KJ_NUMBERS && by.n == 1 && by.numbers[0] == x->block[grid_axis];
}

/* The numbers of blocks that stand in a grid of two. */
static const kj_expr *blocks_written(const kj_expr *grid, int axis)
{
    const kj_expr *first = grid->kind == KJ_E_TUPLE ? grid->u.list.items : NULL;
    if (!first || !first->next || first->next->next)
        return NULL;
    return axis ? first->next : first;
}

/* Would the grid's two numbers the other way round have a thread for each? */
static bool is_better_turned(launches *l, const launch *x, const kj_owned *owned)
{
    if (!blocks_written(x->as.grid, 0) || !x->block[0] || !x->block[1])
        return false;
    launch turned = *x;
    turned.threads[0] = x->threads[1] / x->block[1] * x->block[0];
    turned.threads[1] = x->threads[0] / x->block[0] * x->block[1];
    return !left_along(l, &turned, owned, 0).param && !left_along(l, &turned, owned, 1).param;
}

static void warn_of(launches *l, const launch *x, int grid_axis, const left_over *left, bool turned)
{
    long long threads = x->threads[grid_axis], extent = left->extent;
    const char *along =
        left->naxes == 1 ? "" : kj_arena_printf(l->arena, " along axis %d", left->axis);
    const char *axis =
        left->naxes == 1 ? "" : kj_arena_printf(l->arena, " along %c", 'x' + grid_axis);
    kj_message *m = kj_warn(l->diag, x->as.call->span, KJ_RULE_FEW_THREADS,
                            "%lld thread%s%s for %lld elements of '%s'%s: %lld ha%s none", threads,
                            threads == 1 ? "" : "s", axis, extent, left->param->name, along,
                            extent - threads, extent - threads == 1 ? "s" : "ve");
    const kj_expr *blocks = blocks_of(l, x->as.grid, grid_axis);
    const kj_expr *division = blocks ? kj_warn_division(&l->names, blocks) : NULL;
    if (turned)
        kj_hint(l->diag, m, "the first number of a grid counts along x: write (%s, %s)",
                text_of(l, blocks_written(x->as.grid, 1)),
                text_of(l, blocks_written(x->as.grid, 0)));
    else if (!x->block[grid_axis])
        kj_hint(l->diag, m,
                "forall(n) has a thread for each of n; where only some are meant, pass a view of "
                "them");
    else if (division && divides_elements(l, x, division, grid_axis, left))
        kj_write(l->diag, m, blocks->span, "ceil_div(%s, %s)", text_of(l, division->u.binary.lhs),
                 text_of(l, division->u.binary.rhs));
    else
        kj_hint(l->diag, m,
                "ceil_div(n, threads) blocks have a thread for each; where only some "
                "are meant, pass a view of them");
    kj_note(l->diag, m, left->element->span, "a thread has this element alone");
}

static const seen_kernel *kernel_of(launches *l, const kj_item *kernel)
{
    seen_kernel **at = &l->seen[kernel->number - l->file->items->number], *k = *at;
    if (!k) {
        k = *at = KJ_NEW(l->arena, seen_kernel);
        k->certain = kj_warn_owned(l->arena, l->file, kernel, &k->owned);
        kj_warn_effects(l->arena, l->file, l->reached, kernel, &k->effects);
    }
    return k;
}

static void warn_of_left(launches *l, const launch *x, const kj_owned *owned)
{
    for (int axis = 0; axis < KJ_GRID_AXES; axis++) {
        left_over left = left_along(l, x, owned, axis);
        if (left.param) {
            warn_of(l, x, axis, &left, is_better_turned(l, x, owned));
            return;
        }
    }
}

static void see(void *ctx, const kj_expr *e)
{
    launches *l = ctx;
    launch x = {.known = false};
    if (is_launch(l, e, &x.as)) {
        const seen_kernel *k = kernel_of(l, x.as.kernel);
        count(l, &x);
        kj_warn_of_lost(l->diag, &l->names, &x.as, &k->effects);
        if (x.known)
            kj_warn_of_blocks(l->diag, &x.as, x.blocks, &k->effects);
        if (x.known)
            kj_warn_of_threads(l->diag, &x.as, threads_of(&x), &k->effects);
        if (x.known && k->certain)
            warn_of_left(l, &x, &k->owned);
    }
    kj_each_part(e, see, l);
}

/* What stands under a condition may be for other numbers than those of the text. */
static void see_list(launches *l, const kj_stmt *list)
{
    const kj_stmt *blocks[2];
    for (const kj_stmt *st = list; st; st = st->next) {
        kj_each_own_expr(st, see, l);
        kj_blocks_of(st, blocks);
        if (st->kind != KJ_S_IF && st->kind != KJ_S_WHILE)
            see_list(l, blocks[0]);
    }
}

void kj_warn_of_launches(kj_arena *arena, kj_diag *diag, const kj_file *file)
{
    size_t n = 0;
    for (const kj_item *item = file->items; item; item = item->next)
        n++;
    seen_kernel **seen = KJ_NEW_ARRAY(arena, seen_kernel *, n + 1);
    kj_reached reached = kj_reached_of(arena, file);
    kj_run_names declared = {.arena = arena};
    kj_warn_file_names(&declared, file);
    for (const kj_item *item = file->items; item; item = item->next) {
        if (item->kind != KJ_I_RUN && item->kind != KJ_I_RUN_FN && item->kind != KJ_I_TEST)
            continue;
        launches l = {arena, diag,
                      file,  {.arena = arena, .file = &declared, .wanted = diag->wanted},
                      seen,  &reached};
        kj_warn_run_names(&l.names, item);
        see_list(&l, item->body);
    }
}
