/* Elimination of bounds checks: checks of indices decided, listed (--emit=checks), and taken away
 * where they hold. */
#include "analysis/limits.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/limit_walk.h"

/* ---- Checks ---- */

bool kj_is_lasting_extent(const kj_texpr *e)
{
    return e->kind == KJ_TE_CONST || (e->kind == KJ_TE_DIM && e->u.dim.array->param >= 0);
}

bool kj_is_counted(const kj_tstmt *loop, const kj_index_check *c, kj_texpr *const *index)
{
    const kj_texpr *i = kj_checked_index(c, index);
    i = kj_keeps_value(i) ? i->u.unary.arg : i; /* so none of u64 */
    return loop->kind == KJ_TS_FOR && i->kind == KJ_TE_VAR && i->u.var == loop->u.for_.var &&
           loop->u.for_.step->kind == KJ_TE_CONST && loop->u.for_.step->u.value.i >= 1 &&
           kj_is_lasting_extent(c->extent);
}

/* ---- Deciding ---- */

static int count_accesses(const kj_limit_walk *w)
{
    int n = 0;
    for (const kj_limit_access *a = w->first; a; a = a->next)
        for (const kj_index_check *c = a->array->checks; c; c = c->next)
            n++;
    return n;
}

/* The tests that accesses are left with, numbered anew; those beyond what a word holds never hold. */
static void number_tests(kj_limit_walk *w, kj_limits *out)
{
    int *at = KJ_NEW_ARRAY(w->state.arena, int, (size_t)w->ntests + 1);
    for (const kj_limit_access *a = w->first; a; a = a->next) {
        for (kj_index_check *c = a->array->checks; c; c = c->next) {
            if (c->held != KJ_HELD_BY_LAUNCH)
                continue;
            if (!at[c->test] && out->ntests < KJ_MAX_TESTS) {
                out->tests[out->ntests] = w->tests[c->test];
                at[c->test] = ++out->ntests;
            }
            if (!at[c->test])
                c->held = KJ_HELD_NEVER;
            c->test = at[c->test] - 1;
        }
    }
}

static void no_tests(kj_limit_walk *w)
{
    for (const kj_limit_access *a = w->first; a; a = a->next)
        for (kj_index_check *c = a->array->checks; c; c = c->next)
            if (c->held == KJ_HELD_BY_LAUNCH)
                c->held = KJ_HELD_NEVER;
}

static int in_order(const void *x, const void *y)
{
    const kj_checked *a = x, *b = y;
    if (a->site->span.begin != b->site->span.begin)
        return a->site->span.begin < b->site->span.begin ? -1 : 1;
    return (a->site->id > b->site->id) - (a->site->id < b->site->id);
}

/* A site of several accesses, a[i] += 1 say, is as its worst. */
static void list_checks(kj_limit_walk *w, kj_tkernel *k)
{
    int n = 0;
    k->checked = KJ_NEW_ARRAY(w->state.arena, kj_checked, (size_t)count_accesses(w) + 1);
    for (const kj_limit_access *a = w->first; a; a = a->next)
        for (const kj_index_check *c = a->array->checks; c; c = c->next)
            k->checked[n++] = (kj_checked){c->site, c->held, c->ground};
    qsort(k->checked, (size_t)n, sizeof *k->checked, in_order);
    for (int i = 0; i < n; i++) {
        kj_checked *last = &k->checked[k->nchecked - 1];
        if (k->nchecked == 0 || last->site != k->checked[i].site)
            k->checked[k->nchecked++] = k->checked[i];
        else if (k->checked[i].held < last->held)
            *last = k->checked[i];
    }
}

static void walk(kj_limit_walk *w, const kj_tkernel *kernel)
{
    w->stamps = KJ_NEW_ARRAY(w->state.arena, int, (size_t)kernel->nvars + 1);
    for (const kj_trequire *r = kernel->requires; r; r = r->next) {
        w->state.why = (kj_reason){KJ_BY_REQUIRES, r->span};
        kj_learn(&w->state, r->test, true);
    }
    kj_limit_block(w, kernel->body);
}

/* Does some check tell others anything; does one rely on that? */
static bool has_some(const kj_limit_walk *w, bool relying)
{
    for (const kj_limit_access *a = w->first; a; a = a->next)
        for (const kj_index_check *c = a->array->checks; c; c = c->next)
            if (relying ? c->relies != KJ_RELIES_NOT : c->held != KJ_HELD_ALWAYS)
                return true;
    return false;
}

/* Which checks rely on others in loops? They are decided once more where those tell nothing, and, if some then do not
 * hold, where only those tell that loops can make in front of their turns. */
static void find_relying(kj_limit_walk *before, const kj_tkernel *kernel)
{
    for (kj_reliance level = KJ_RELIES_COUNTED; level <= KJ_RELIES; level++) {
        kj_limit_walk w = {.launched = before->launched,
                           .confirms = level,
                           .tests = before->tests,
                           .ntests = before->ntests};
        if (!before->looped || !has_some(before, level == KJ_RELIES))
            return;
        kj_state_init(&w.state, before->state.arena, kernel);
        w.state.graph = before->state.graph; /* so that nodes are the same */
        walk(&w, kernel);
        before->state.graph = w.state.graph;
    }
}

void kj_limits_find(kj_arena *arena, kj_tkernel *kernel, bool launched)
{
    kj_limit_walk w = {.launched = launched};
    w.last = &w.first;
    kj_state_init(&w.state, arena, kernel);
    walk(&w, kernel);
    find_relying(&w, kernel);
    kj_limits *limits = KJ_NEW(arena, kj_limits);
    *limits = (kj_limits){.n = 0};
    number_tests(&w, limits);
    kj_graph_prune(&w.state.graph, limits);
    if (limits->ntests == 0)
        no_tests(&w);
    kernel->limits = limits->ntests > 0 ? limits : NULL;
    kernel->accesses = w.first;
    list_checks(&w, kernel);
}

/* ---- Settling ---- */

static void drop_checks(kj_tkernel *kernel, uint64_t unheld)
{
    for (const kj_limit_access *a = kernel->accesses; a; a = a->next) {
        kj_index_check **at = &a->array->checks;
        while (*at) {
            const kj_index_check *c = *at;
            bool holds = c->held == KJ_HELD_ALWAYS ||
                         (c->held == KJ_HELD_BY_LAUNCH && !(unheld >> c->test & 1));
            if (holds && c->relies > a->array->relies)
                a->array->relies = c->relies;
            if (holds)
                *at = c->next;
            else
                at = &(*at)->next;
        }
    }
}

/* Which sites are left; by their ids. */
static bool see_sites(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    bool *left = ctx;
    const kj_tarray *a = NULL;
    if (e && e->checked)
        left[e->checked->id] = true;
    if (!e && s->kind == KJ_TS_REPORT)
        left[s->u.report.site->id] = true;
    if (!e && s->kind == KJ_TS_STORE)
        a = s->u.store.array;
    if (e && e->kind == KJ_TE_LOAD)
        a = e->u.load.array;
    if (e && e->kind == KJ_TE_ATOMIC)
        a = e->u.atomic.array;
    if (a && a->watch)
        left[a->watch->id] = true;
    for (const kj_index_check *c = a ? a->checks : NULL; c; c = c->next)
        left[c->site->id] = true;
    return true;
}

static void keep_sites(kj_tkernel *k, const kj_site *const *sites, int n)
{
    k->sites = (const kj_site **)(uintptr_t)sites;
    k->nsites = n;
    k->prints = false;
    for (int i = 0; i < n; i++)
        k->prints |= !sites[i]->fault;
}

void kj_limits_settle(kj_arena *arena, kj_tkernel *kernel, uint64_t unheld)
{
    bool *left = KJ_NEW_ARRAY(arena, bool, (size_t)kernel->nsites + 1);
    const kj_site **sites = KJ_NEW_ARRAY(arena, const kj_site *, (size_t)kernel->nsites + 1);
    int n = 0;
    drop_checks(kernel, unheld);
    kj_walk(kernel->body->body, NULL, see_sites, left);
    for (const kj_child *c = kernel->children; c; c = c->next) {
        drop_checks(c->kernel, UINT64_MAX);
        kj_walk(c->kernel->body->body, NULL, see_sites, left);
    }
    for (int i = 0; i < kernel->nsites; i++) {
        if (!left[i])
            continue;
        kj_site *site = (kj_site *)(uintptr_t)kernel->sites[i];
        site->id = n;
        sites[n++] = site;
    }
    for (const kj_child *c = kernel->children; c; c = c->next)
        keep_sites(c->kernel, sites, n);
    keep_sites(kernel, sites, n);
}

/* ---- The listing ---- */

const char *kj_limits_dump(kj_arena *arena, const kj_source *source, const kj_tkernel *kernel)
{
    static const char *const words[] = {[KJ_HELD_NEVER] = "tested",
                                        [KJ_HELD_BY_LAUNCH] = "by the launch",
                                        [KJ_HELD_ALWAYS] = "proved"};
    int counts[3] = {0};
    kj_text t = {.arena = arena};
    for (int i = 0; i < kernel->nchecked; i++)
        counts[kernel->checked[i].held]++;
    kj_text_printf(&t, "kernel %s: %d proved, %d by the launch, %d tested\n", kernel->name,
                   counts[KJ_HELD_ALWAYS], counts[KJ_HELD_BY_LAUNCH], counts[KJ_HELD_NEVER]);
    for (int i = 0; i < kernel->nchecked; i++) {
        const kj_site *site = kernel->checked[i].site;
        kj_position at = kj_where(source, site->span.begin);
        kj_text_printf(&t, "  %s:%u:%u: %.*s of %s", at.file, at.line, at.column,
                       (int)(site->span.end - site->span.begin), source->text + site->span.begin,
                       site->indexed);
        if (site->axis >= 0)
            kj_text_printf(&t, ", axis %d", site->axis);
        kj_text_printf(&t, ": %s\n", words[kernel->checked[i].held]);
    }
    return t.data;
}
