/* What a kernel's launch does, as far as its text says that for certain: which of its arrays it writes, whether it says
 * something else, and whether all of its blocks do the same. In: a kernel of the file; out: its effects, once for all of its
 * launches. */
#include <string.h>

#include "warn/launch.h"

typedef struct effect_walk {
    const kj_file *file;
    const kj_item *of;
    const kj_item *kernel; /* of; NULL: in a function that it calls */
    kj_effects *out;
    const char *of_thread[16]; /* lets that are made of threadIdx alone */
    int nof_thread;
    kj_reached *reached; /* the functions that it calls; NULL: they do not matter */
    int nreached;
    int loops; /* around the statement */
} effect_walk;

static bool is_one_of(const char *name, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(name, words[i]) == 0)
            return true;
    return false;
}

/* A builtin's name, whose blocks it tells apart, or what it says to somebody. */
static void see_word(effect_walk *w, const char *name)
{
    static const char *const places[] = {"grid",   "gridsize",  "blockIdx", "gridDim",
                                         "atomic", "grid_sync", "clock",    "globaltimer"};
    static const char *const speaks[] = {"print", "assert", "trap", "brkpt"};
    w->out->threads_differ |= strcmp(name, "threadIdx") == 0 || strcmp(name, "laneid") == 0 ||
                              strncmp(name, "lanemask_", 9) == 0;
    w->out->blocks_differ |= is_one_of(name, places, sizeof places / sizeof *places);
    w->out->speaks |= is_one_of(name, speaks, sizeof speaks / sizeof *speaks);
}

static void see_name(effect_walk *w, const char *name)
{
    const kj_item *item = kj_item_called(w->file, name, strlen(name));
    see_word(w, name);
    if (!item)
        return;
    w->out->uncertain |= item->kind == KJ_I_USE || item->kind == KJ_I_KERNEL;
    int number = item->number - w->file->items->number;
    if (item->kind == KJ_I_FN && w->reached && w->reached->from[number] != w->of) {
        w->reached->from[number] = w->of;
        w->reached->fns[w->nreached++] = item;
    }
}

/* ---- Arrays ---- */

static const kj_type_ref *type_of(const kj_item *kernel, int param)
{
    const kj_param_decl *p = kernel->params;
    while (param-- > 0)
        p = p->next;
    return p->type;
}

static int array_named(const effect_walk *w, const kj_expr *e)
{
    int i = w->kernel ? kj_warn_param(w->kernel, e) : -1;
    return i >= 0 && type_of(w->kernel, i)->ndim > 0 ? i : -1;
}

/* The array's number, where e is one of its elements; -1: it is none. */
static int element_of(const effect_walk *w, const kj_expr *e)
{
    int array = e->kind == KJ_E_INDEX ? array_named(w, e->u.index.base) : -1, n = 0;
    if (array < 0)
        return -1;
    for (const kj_expr *arg = e->u.index.args; arg; arg = arg->next, n++)
        if (arg->kind == KJ_E_SLICE || arg->kind == KJ_E_TUPLE)
            return -1;
    return n == type_of(w->kernel, array)->ndim ? array : -1;
}

static bool is_extent(const kj_expr *e)
{
    static const char *const extents[] = {"size", "shape", "ndim", "strides", "steps"};
    return e->kind == KJ_E_MEMBER &&
           is_one_of(e->u.member.name, extents, sizeof extents / sizeof *extents);
}

static void see(void *ctx, const kj_expr *e)
{
    effect_walk *w = ctx;
    int whole = array_named(w, e);
    if (e->kind == KJ_E_NAME)
        see_name(w, e->u.name);
    if (whole >= 0)
        w->out->arrays[whole].may_be_written = true; /* by what it is handed to, or by a view */
    if (element_of(w, e) >= 0)
        w->out->arrays[element_of(w, e)].touched = true;
    if (is_extent(e) && array_named(w, e->u.member.base) >= 0)
        return;
    if (element_of(w, e) < 0) {
        kj_each_part(e, see, w);
        return;
    }
    for (const kj_expr *arg = e->u.index.args; arg; arg = arg->next)
        see(w, arg);
}

/* ---- Places ---- */

typedef struct thread_walk {
    const effect_walk *w;
    bool found;
} thread_walk;

static void find_thread(void *ctx, const kj_expr *e)
{
    thread_walk *t = ctx;
    if (e->kind == KJ_E_NAME) {
        t->found |= strcmp(e->u.name, "threadIdx") == 0;
        for (int i = 0; i < t->w->nof_thread; i++)
            t->found |= t->w->of_thread[i] == e->u.name;
    }
    kj_each_part(e, find_thread, t);
}

static bool is_of_thread(const effect_walk *w, const kj_expr *e)
{
    thread_walk t = {w, false};
    if (e)
        find_thread(&t, e);
    return t.found;
}

static void note_let(effect_walk *w, const kj_stmt *st)
{
    const int most = (int)(sizeof w->of_thread / sizeof *w->of_thread);
    if (!st->u.let.names->next && w->nof_thread < most && is_of_thread(w, st->u.let.init))
        w->of_thread[w->nof_thread++] = st->u.let.names->name;
}

/* Of a target: the number of the array whose element it is, or whose element has it; *at is that element. */
static int array_of_target(const effect_walk *w, const kj_expr *target, const kj_expr **at)
{
    for (;;) {
        int array = element_of(w, target);
        *at = target;
        if (array >= 0 || (target->kind != KJ_E_MEMBER && target->kind != KJ_E_INDEX))
            return array;
        target = target->kind == KJ_E_MEMBER ? target->u.member.base : target->u.index.base;
    }
}

static void see_target(effect_walk *w, const kj_expr *target, bool again)
{
    int array = array_of_target(w, target, &target);
    if (array < 0)
        return;
    w->out->arrays[array].written = true;
    if (again && !w->out->again)
        w->out->again = target;
    for (const kj_expr *arg = target->u.index.args; arg && !w->out->by_thread; arg = arg->next)
        if (is_of_thread(w, arg))
            w->out->by_thread = target;
}

/* ---- Statements ---- */

static void see_list(effect_walk *w, const kj_stmt *list)
{
    const kj_stmt *blocks[2];
    for (const kj_stmt *st = list; st; st = st->next) {
        w->out->uncertain |= st->kind == KJ_S_LAUNCH;
        kj_each_own_expr(st, see, w);
        if (w->kernel && st->kind == KJ_S_LET)
            note_let(w, st);
        for (const kj_expr *t = st->kind == KJ_S_ASSIGN ? st->u.assign.targets : NULL; t;
             t = t->next)
            see_target(w, t, st->u.assign.augmented || w->loops);
        kj_blocks_of(st, blocks);
        bool loop = st->kind == KJ_S_FOR || st->kind == KJ_S_WHILE;
        w->loops += loop;
        see_list(w, blocks[0]);
        see_list(w, blocks[1]);
        w->loops -= loop;
    }
}

kj_reached kj_reached_of(kj_arena *arena, const kj_file *file)
{
    size_t n = 0;
    for (const kj_item *item = file->items; item; item = item->next)
        n++;
    return (kj_reached){.from = KJ_NEW_ARRAY(arena, const kj_item *, n + 1),
                        .fns = KJ_NEW_ARRAY(arena, const kj_item *, n + 1)};
}

static kj_effects none_of(kj_arena *arena, const kj_item *kernel)
{
    size_t nparams = 0;
    for (const kj_param_decl *p = kernel->params; p; p = p->next)
        nparams++;
    return (kj_effects){.arrays = KJ_NEW_ARRAY(arena, kj_touched, nparams + 1)};
}

void kj_warn_effects(kj_arena *arena, const kj_file *file, kj_reached *reached,
                     const kj_item *kernel, kj_effects *out)
{
    *out = none_of(arena, kernel);
    effect_walk w = {.file = file, .of = kernel, .kernel = kernel, .out = out, .reached = reached};
    for (const kj_attr *attr = kernel->attrs; attr; attr = attr->next)
        for (const kj_expr *e = attr->args; e; e = e->next)
            see(&w, e);
    see_list(&w, kernel->body);
    w.kernel = NULL;
    for (int i = 0; i < w.nreached; i++)
        see_list(&w, reached->fns[i]->body);
}

const kj_touched *kj_arrays_written(kj_arena *arena, const kj_item *kernel)
{
    kj_effects effects = none_of(arena, kernel);
    effect_walk w = {.file = kernel->file, .of = kernel, .kernel = kernel, .out = &effects};
    see_list(&w, kernel->body);
    return effects.arrays;
}
