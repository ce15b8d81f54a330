/* The elements that neighbouring threads use: are they apart where in another order of the grid's axes they would not be? */
#include "warn/element.h"

#include <stdlib.h>
#include <string.h>

enum { X = 1, Y = 2, DEEPEST = 8 };

/* ---- Indices ---- */

static kj_axis_index index_of(const kj_body *b, const kj_expr *at)
{
    return (kj_axis_index){.at = at, .axes = kj_axes_of(b, at), .steps = kj_steps_of(b, at)};
}

static kj_indices indices_of(const kj_body *b, const kj_expr *e)
{
    bool rows = e->u.index.base->kind == KJ_E_INDEX;
    kj_indices all = {.base = e->u.index.base};
    if (rows)
        all = indices_of(b, e->u.index.base);
    all.between = rows ? "][" : ", ";
    for (const kj_expr *i = e->u.index.args; i; i = i->next) {
        if (all.n < KJ_MAX_NDIM)
            all.of[all.n] = index_of(b, i);
        all.n += all.n <= KJ_MAX_NDIM;
    }
    return all;
}

/* ---- Views ---- */

static bool has_open(const kj_indices *view)
{
    for (int k = 0; k < view->n; k++)
        if (view->of[k].open)
            return true;
    return false;
}

/* An axis that a slice has, from its start on. */
static bool take_slice(const kj_body *b, kj_axis_index *axis, const kj_expr *slice)
{
    const kj_expr *start = slice->u.slice.start;
    if (slice->u.slice.step || (start && axis->at))
        return false;
    if (start)
        *axis = index_of(b, start);
    axis->open = true;
    return true;
}

static void take_index(const kj_body *b, kj_axis_index *axis, const kj_expr *at)
{
    kj_axis_index taken = index_of(b, at);
    if (axis->at) { /* from the slice's start on */
        taken.axes |= axis->axes;
        taken.steps = kj_sum_of_steps(&axis->steps, &taken.steps);
    }
    *axis = taken;
}

static const kj_indices *take_all(const kj_body *b, kj_indices view, const kj_expr *e)
{
    int k = 0;
    for (const kj_expr *i = e->u.index.args; i; i = i->next, k++) {
        while (k < view.n && !view.of[k].open)
            k++;
        if (k == view.n)
            return NULL; /* a part of a vector */
        if (i->kind != KJ_E_SLICE)
            take_index(b, &view.of[k], i);
        else if (!take_slice(b, &view.of[k], i))
            return NULL;
    }
    view.between = e->u.index.base->kind == KJ_E_INDEX ? "][" : ", ";
    kj_indices *made = KJ_NEW(b->arena, kj_indices);
    *made = view;
    return made;
}

static const kj_indices *all_of_parameter(const kj_body *b, const kj_expr *e, int ndim)
{
    kj_indices *made = KJ_NEW(b->arena, kj_indices);
    *made = (kj_indices){.base = e, .n = ndim, .viewed = true, .between = ", "};
    for (int k = 0; k < ndim; k++)
        made->of[k].open = true;
    return made;
}

/* What an expression is a view or an element of. */
static const kj_indices *chosen_of(const kj_body *b, const kj_expr *e)
{
    const kj_named_value *v = e->kind == KJ_E_NAME ? kj_warn_find(b, e->u.name) : NULL;
    if (v && v->kind == KJ_B_PARAM)
        return v->ndim > 0 && v->ndim <= KJ_MAX_NDIM ? all_of_parameter(b, e, v->ndim) : NULL;
    if (v && v->view) {
        kj_indices *named = KJ_NEW(b->arena, kj_indices);
        *named = *v->view;
        named->through = true;
        return named;
    }
    const kj_indices *base = e->kind == KJ_E_INDEX ? chosen_of(b, e->u.index.base) : NULL;
    return base ? take_all(b, *base, e) : NULL;
}

const kj_indices *kj_view_of(const kj_body *b, const kj_expr *init)
{
    const kj_indices *view = chosen_of(b, init);
    return view && has_open(view) ? view : NULL;
}

/* ---- Hints ---- */

/* A member of a builtin of the thread's place, as threadIdx.x; -1: it is none of `name`. */
static int axis_of_member(const kj_body *b, const kj_expr *e, const char *name)
{
    bool is = e->kind == KJ_E_MEMBER && kj_warn_is_builtin(b, e->u.member.base, name);
    return is && e->u.member.name[0] >= 'x' && e->u.member.name[0] <= 'z'
               ? e->u.member.name[0] - 'x'
               : -1;
}

/* blockIdx.x * blockDim.x + threadIdx.x, in any order. */
static bool is_written_place(const kj_body *b, const kj_expr *e)
{
    if (e->kind != KJ_E_BINARY || e->u.binary.op != KJ_OP_ADD)
        return false;
    const kj_expr *product = e->u.binary.lhs, *thread = e->u.binary.rhs;
    if (product->kind != KJ_E_BINARY) {
        product = e->u.binary.rhs;
        thread = e->u.binary.lhs;
    }
    int axis = axis_of_member(b, thread, "threadIdx");
    if (axis < 0 || product->kind != KJ_E_BINARY || product->u.binary.op != KJ_OP_MUL)
        return false;
    const kj_expr *lhs = product->u.binary.lhs, *rhs = product->u.binary.rhs;
    return (axis_of_member(b, lhs, "blockIdx") == axis &&
            axis_of_member(b, rhs, "blockDim") == axis) ||
           (axis_of_member(b, lhs, "blockDim") == axis &&
            axis_of_member(b, rhs, "blockIdx") == axis);
}

/* A name of a place in the grid, which another order of names changes and nothing else. */
static bool is_named_place(const kj_body *b, const kj_expr *e)
{
    const kj_named_value *v = e->kind == KJ_E_NAME ? kj_warn_find(b, e->u.name) : NULL;
    return v && v->kind == KJ_B_LET && (!v->init || is_written_place(b, v->init));
}

/* Their names the other way round, where the indices are names of places and nothing else; NULL: they are not. */
static const char *hint_of_axes(const kj_body *b, const kj_indices *all)
{
    const char *names = "", *order = "";
    int n = 0;
    bool items = false;
    for (int k = 0; k < all->n; k++) {
        const kj_expr *i = all->of[k].at;
        if (!all->of[k].axes)
            continue;
        const bool item = kj_grid_of_item(b, i) != NULL;
        n++;
        items |= item;
        if (n > 3 || !(item || is_named_place(b, i)) || (item && all->through))
            return NULL;
        const char *name = item ? &"i\0j\0k"[2 * (n - 1)] : i->u.name;
        names = kj_arena_printf(b->diag->arena, "%s%s%s", name, n > 1 ? ", " : "", names);
        order = kj_arena_printf(b->diag->arena, "%s%s%s", order, n > 1 ? all->between : "", name);
    }
    const char *begin =
        kj_arena_printf(b->diag->arena, "let %s = grid(%d), and", names, n == 3 ? 3 : 2);
    if (all->through)
        return kj_arena_printf(b->diag->arena, "%s keep the indices as they are", begin);
    return kj_arena_printf(b->diag->arena, "%s %s [%s]", begin, items ? "write" : "keep", order);
}

typedef struct place_names {
    const kj_body *b;
    const char *of[2]; /* along threadIdx.x and y */
    int depth;
    bool others; /* places without a name, or of several */
} place_names;

static void add_place_name(void *ctx, const kj_expr *e)
{
    place_names *w = ctx;
    const kj_named_value *v = e->kind == KJ_E_NAME ? kj_warn_find(w->b, e->u.name) : NULL;
    if (!v && e->kind != KJ_E_NAME) {
        w->others |= axis_of_member(w->b, e, "threadIdx") >= 0 ||
                     axis_of_member(w->b, e, "blockIdx") >= 0 || kj_grid_of_item(w->b, e);
        kj_each_part(e, add_place_name, w);
    } else if (v && v->axes && is_named_place(w->b, e)) {
        const char **name = &w->of[v->axes == X ? 0 : 1];
        w->others |= (v->axes != X && v->axes != Y) || (*name && *name != v->name);
        *name = v->name;
    } else if (v && v->init) {
        w->depth++;
        if (w->depth < DEEPEST)
            add_place_name(w, v->init);
        else
            w->others = true;
        w->depth--;
    }
}

/* Of i * w + j, where i and j are names of the two places. */
static const char *hint_of_flat(const kj_body *b, const kj_expr *index)
{
    enum { LONGEST = 40 };
    place_names w = {.b = b};
    add_place_name(&w, index);
    if (w.others || !w.of[0] || !w.of[1])
        return NULL;
    const char *text = b->diag->source->text + index->span.begin;
    int len = (int)(index->span.end - index->span.begin);
    const char *begin =
        kj_arena_printf(b->diag->arena, "let %s, %s = grid(2), and keep", w.of[1], w.of[0]);
    if (len > LONGEST || memchr(text, '\n', (size_t)len))
        return kj_arena_printf(b->diag->arena, "%s the indices as they are", begin);
    return kj_arena_printf(b->diag->arena, "%s [%.*s]", begin, len, text);
}

/* ---- What is seen ---- */

/* a.T, whose first axis is the fast one, or a name of it. */
static bool is_transposed(const kj_body *b, const kj_expr *e)
{
    const kj_named_value *v = e->kind == KJ_E_NAME ? kj_warn_find(b, e->u.name) : NULL;
    e = v && v->init ? v->init : e;
    return e->kind == KJ_E_MEMBER && strcmp(e->u.member.name, "T") == 0;
}

/* a[i, j]: by which axis of the grid the last index goes, and which others. */
static void see_axes(kj_body *b, const kj_expr *e, const kj_indices *all)
{
    unsigned before = 0, next_to_last = 0, last = 0;
    for (int k = 0; k < all->n; k++) {
        before |= last;
        next_to_last = last;
        last = all->of[k].axes;
    }
    if (!before)
        return;
    b->unsure |= !((before | last) & X);
    bool near =
        last & X || (all->n > 2 && next_to_last & X); /* [y, x, colour] are neighbours too */
    b->fast |= near;
    if (!b->slow && !near && last && before & X) {
        b->slow = e;
        b->slow_hint = hint_of_axes(b, all);
    }
}

/* a[i * w + j], and a[0, i * w + j]. */
static void see_flat(kj_body *b, const kj_expr *e, const kj_indices *all)
{
    const kj_axis_index *last = &all->of[all->n - 1];
    for (int k = 0; k + 1 < all->n; k++)
        if (all->of[k].axes)
            return;
    kj_along along = kj_along_of(&last->steps);
    b->fast |= along == KJ_ALONG_FAST;
    b->unsure |= along == KJ_ALONG_OTHER || along == KJ_ALONG_UNKNOWN;
    if (along != KJ_ALONG_SLOW || b->flat || b->picked)
        return;
    b->flat = e;
    b->flat_apart = last->steps.of[0];
    b->flat_hint = all->through ? NULL : hint_of_flat(b, last->at);
}

static bool has_slice(const kj_indices *all)
{
    for (int k = 0; k < all->n; k++)
        if (!all->of[k].at || all->of[k].at->kind == KJ_E_SLICE)
            return true;
    return false;
}

/* Of an index that is seen: the element's own indices; NULL: it is none, the kernel's own array or a const
 * one. */
static const kj_indices *element_of(kj_body *b, const kj_expr *e)
{
    const kj_expr *base = e->u.index.base;
    const kj_indices *inner = base->kind == KJ_E_INDEX ? chosen_of(b, base) : NULL;
    bool part = inner && !has_open(inner), row = e == b->row;
    if (base->kind == KJ_E_INDEX && !part)
        b->row = base;
    const kj_indices *all = chosen_of(b, e);
    if (row || part || kj_grid_of_item(b, e))
        return NULL;
    if (!all || has_open(all)) {
        kj_indices *written = KJ_NEW(b->arena, kj_indices);
        *written = indices_of(b, e);
        all = written;
    }
    const kj_named_value *v =
        all->base->kind == KJ_E_NAME ? kj_warn_find(b, all->base->u.name) : NULL;
    bool constant = !v && all->base->kind == KJ_E_NAME && /* small, and in the cache */
                    kj_warn_item(b->file, all->base->u.name, KJ_I_CONST);
    bool own = constant || (v && v->own_array);
    return all->n > KJ_MAX_NDIM || own || has_slice(all) ? NULL : all;
}

void kj_see_index(kj_body *b, const kj_expr *e)
{
    if (kj_warn_in_run(b))
        return;
    const kj_indices *all = element_of(b, e);
    for (const kj_expr *i = e->u.index.args; i; i = i->next)
        kj_see_bounds(b, i);
    if (!all)
        return;
    if (is_transposed(b, all->base)) {
        b->fast |= (all->of[0].axes & X) != 0;
        return;
    }
    see_axes(b, e, all);
    if (all->viewed)
        see_flat(b, e, all);
}

void kj_see_call_with_arrays(kj_body *b, const kj_expr *call)
{
    for (const kj_expr *arg = call->u.call.args; arg; arg = arg->next) {
        const kj_indices *given = chosen_of(b, arg);
        b->unsure |= given && has_open(given);
    }
}

/* ---- What is said ---- */

/* The kernel alone would have the wrong elements. */
#define TURNED \
    ", and turn the launch's grid and block, columns first; where they are so, turn the indices"

static void warn_of_axes(kj_body *b)
{
    kj_message *m =
        kj_warn(b->diag, b->slow->span, KJ_RULE_SLOW_AXIS,
                "threads that are neighbours, by threadIdx.x, use elements a row apart");
    if (b->slow_hint)
        kj_hint(b->diag, m, "the last index is the fast one: begin with %s" TURNED, b->slow_hint);
    else
        kj_hint(b->diag, m,
                "the last index is the fast one: let the first of grid(2) or grid(3), which counts "
                "threadIdx.x, count along it");
}

static void warn_of_flat(kj_body *b)
{
    const char *apart = "a row";
    if (!b->flat_apart.pitches)
        apart = kj_arena_printf(b->diag->arena, "%lld", (long long)llabs(b->flat_apart.by));
    kj_message *m =
        kj_warn(b->diag, b->flat->span, KJ_RULE_SLOW_AXIS,
                "threads that are neighbours, by threadIdx.x, use elements %s apart", apart);
    if (b->flat_hint)
        kj_hint(b->diag, m, "what is multiplied by nothing is the fast one: begin with %s" TURNED,
                b->flat_hint);
    else
        kj_hint(b->diag, m,
                "let the first of grid(2) or grid(3), which counts threadIdx.x, count what the "
                "elements of a row are counted by");
}

void kj_warn_of_slow_axis(kj_body *b)
{
    if (b->fast || b->item->kind != KJ_I_KERNEL)
        return;
    if (b->slow)
        warn_of_axes(b);
    else if (b->flat && !b->unsure)
        warn_of_flat(b);
}
