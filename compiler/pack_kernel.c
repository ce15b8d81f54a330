/* A kernel's code as bytes, with what its launches ask about it: conditions and extents as expressions, checks that
 * may hold by a launch, places that threads report. */
#include <stdlib.h>
#include <string.h>

#include "analysis/limits.h"
#include "pack.h"
#include "tast/tast.h"

/* ---- Expressions of a launch's values: what kj_eval can evaluate ---- */

static kj_texpr *pack_expr(kj_pack *p, kj_texpr *e);

static void pack_exprs(kj_pack *p, kj_texpr **e, int n)
{
    for (int i = 0; i < n; i++)
        e[i] = pack_expr(p, e[i]);
}

/* What an expression names is a parameter, by its number. */
static void pack_named(kj_pack *p, kj_texpr *e)
{
    bool var = e->kind == KJ_TE_VAR, reads = kj_pack_reads(p);
    int param = reads ? 0 : var ? e->u.var->param : e->u.dim.array->param;
    KJ_PACK(p, param);
    if (reads && var) {
        e->u.var = KJ_NEW(p->arena, kj_var);
        e->u.var->param = param;
    } else if (reads) {
        e->u.dim.array = KJ_NEW(p->arena, kj_tarray);
        e->u.dim.array->param = param;
    }
    if (var)
        return;
    KJ_PACK(p, e->u.dim.axis);
    KJ_PACK(p, e->u.dim.stride);
}

static void pack_operands(kj_pack *p, kj_texpr *e)
{
    switch (e->kind) {
    case KJ_TE_CONST: KJ_PACK(p, e->u.value); return;
    case KJ_TE_VAR:
    case KJ_TE_DIM: pack_named(p, e); return;
    case KJ_TE_INDEX: KJ_PACK(p, e->u.index); return;
    case KJ_TE_UNARY:
    case KJ_TE_CONVERT:
    case KJ_TE_BITS:
        KJ_PACK(p, e->u.unary.op);
        e->u.unary.arg = pack_expr(p, e->u.unary.arg);
        return;
    case KJ_TE_BINARY:
        KJ_PACK(p, e->u.binary.op);
        e->u.binary.lhs = pack_expr(p, e->u.binary.lhs);
        e->u.binary.rhs = pack_expr(p, e->u.binary.rhs);
        return;
    case KJ_TE_LOGIC:
        KJ_PACK(p, e->u.logic.is_or);
        e->u.logic.lhs = pack_expr(p, e->u.logic.lhs);
        e->u.logic.rhs = pack_expr(p, e->u.logic.rhs);
        return;
    case KJ_TE_SELECT:
        e->u.select.test = pack_expr(p, e->u.select.test);
        e->u.select.yes = pack_expr(p, e->u.select.yes);
        e->u.select.no = pack_expr(p, e->u.select.no);
        return;
    case KJ_TE_FMA:
        e->u.fma.a = pack_expr(p, e->u.fma.a);
        e->u.fma.b = pack_expr(p, e->u.fma.b);
        e->u.fma.c = pack_expr(p, e->u.fma.c);
        return;
    case KJ_TE_CALL:
        KJ_PACK(p, e->u.call.id);
        KJ_PACK(p, e->u.call.part);
        KJ_PACK(p, e->u.call.nargs);
        p->failed |= e->u.call.nargs < 0 || e->u.call.nargs > KJ_BUILTIN_ARGS;
        pack_exprs(p, e->u.call.args, p->failed ? 0 : e->u.call.nargs);
        return;
    case KJ_TE_LOAD:
    case KJ_TE_ATOMIC:
    case KJ_TE_ADDRESS:
    case KJ_TE_INLINE: return; /* a thread's: kj_eval asks for no more */
    }
    p->failed = true;
}

static kj_texpr *pack_expr(kj_pack *p, kj_texpr *e)
{
    if (kj_pack_reads(p))
        e = KJ_NEW(p->arena, kj_texpr);
    KJ_PACK(p, e->kind);
    KJ_PACK(p, e->type);
    KJ_PACK(p, e->span);
    if (!p->failed)
        pack_operands(p, e);
    return e;
}

/* ---- A typed kernel: as much of it as kj_shared_bytes and kj_requires_hold see ---- */

static kj_tarray *pack_shared(kj_pack *p, kj_tarray *a)
{
    if (kj_pack_reads(p))
        a = KJ_NEW(p->arena, kj_tarray);
    KJ_PACK(p, a->space);
    kj_pack_text(p, &a->name);
    KJ_PACK(p, a->elem);
    a->of = kj_pack_aggregate(p, a->of);
    KJ_PACK(p, a->ndim);
    p->failed |= a->ndim < 0 || a->ndim > KJ_MAX_NDIM;
    pack_exprs(p, a->shape, p->failed ? 0 : a->ndim);
    return a;
}

static void pack_roots(kj_pack *p, kj_tkernel *k, const kj_tkernel *from)
{
    int n = 0;
    for (int i = 0; from && i < from->nroots; i++)
        n += from->roots[i]->space == KJ_SHARED;
    KJ_PACK(p, n);
    k->roots = kj_pack_room(p, k->roots, n, sizeof *k->roots);
    for (int i = 0; from && i < from->nroots; i++)
        if (from->roots[i]->space == KJ_SHARED)
            pack_shared(p, from->roots[i]);
    for (; !from && k->nroots < n && !p->failed; k->nroots++)
        k->roots[k->nroots] = pack_shared(p, NULL);
}

static void pack_requires(kj_pack *p, kj_trequire **r)
{
    for (;; r = &(*r)->next) {
        bool more = !kj_pack_reads(p) && *r;
        KJ_PACK(p, more);
        if (!more || p->failed)
            return;
        if (kj_pack_reads(p))
            *r = KJ_NEW(p->arena, kj_trequire);
        KJ_PACK(p, (*r)->span);
        (*r)->test = pack_expr(p, (*r)->test);
    }
}

static const kj_tkernel *pack_typed(kj_pack *p, const kj_tkernel *k)
{
    kj_tkernel *made = KJ_NEW(p->arena, kj_tkernel);
    made->requires = k ? k->requires : NULL;
    pack_requires(p, &made->requires);
    pack_roots(p, made, k);
    return k ? k : made;
}

static const kj_limits *pack_limits(kj_pack *p, const kj_limits *from)
{
    bool some = from != NULL;
    KJ_PACK(p, some);
    if (!some)
        return NULL;
    kj_limits *l = KJ_NEW(p->arena, kj_limits);
    if (from)
        *l = *from;
    KJ_PACK(p, l->n);
    KJ_PACK(p, l->ngiven);
    KJ_PACK(p, l->ntests);
    p->failed |= l->n > KJ_MAX_LIMITS || l->ntests < 0 || l->ntests > KJ_MAX_TESTS;
    l->nodes = kj_pack_room(p, l->nodes, l->n, sizeof *l->nodes);
    l->given = kj_pack_room(p, l->given, l->ngiven, sizeof *l->given);
    for (int i = 0; i < l->n && !p->failed; i++) {
        kj_limit *node = (kj_limit *)&l->nodes[i];
        KJ_PACK(p, node->op);
        KJ_PACK(p, node->type);
        KJ_PACK(p, node->a);
        KJ_PACK(p, node->b);
        KJ_PACK(p, node->c);
        KJ_PACK(p, node->known);
    }
    for (int i = 0; i < l->ngiven && !p->failed; i++)
        kj_pack_bytes(p, (int *)&l->given[i], sizeof l->given[i]);
    for (int i = 0; i < l->ntests && !p->failed; i++) {
        kj_limit_test *t = &l->tests[i];
        KJ_PACK(p, t->index);
        KJ_PACK(p, t->extent);
        KJ_PACK(p, t->path);
        KJ_PACK(p, t->low);
        KJ_PACK(p, t->high);
    }
    return l;
}

/* ---- Places that report ---- */

static const kj_called *pack_calls(kj_pack *p, const kj_called *c)
{
    bool more = c != NULL;
    KJ_PACK(p, more);
    if (!more || p->failed)
        return NULL;
    kj_called *made = KJ_NEW(p->arena, kj_called);
    if (c)
        *made = *c;
    KJ_PACK(p, made->at);
    made->up = (kj_called *)pack_calls(p, made->up);
    return made;
}

static const kj_site *pack_site(kj_pack *p, const kj_site *from)
{
    kj_site *s = KJ_NEW(p->arena, kj_site);
    if (from)
        *s = *from;
    KJ_PACK(p, s->id);
    KJ_PACK(p, s->kind);
    KJ_PACK(p, s->span);
    s->call = pack_calls(p, s->call);
    KJ_PACK(p, s->fault);
    kj_pack_text(p, &s->failed);
    kj_pack_text(p, &s->message);
    kj_pack_text(p, &s->indexed);
    KJ_PACK(p, s->axis);
    KJ_PACK(p, s->child);
    KJ_PACK(p, s->dropped);
    KJ_PACK(p, s->watched);
    KJ_PACK(p, s->elem);
    KJ_PACK(p, s->nvalues);
    KJ_PACK(p, s->nparts);
    kj_site_part *parts = kj_pack_room(p, s->parts, s->nparts, sizeof *parts);
    s->parts = parts;
    for (int i = 0; i < s->nparts && !p->failed; i++) {
        kj_site_part part = parts[i];
        kj_pack_text(p, &part.text);
        KJ_PACK(p, part.type);
        if (kj_pack_reads(p))
            parts[i] = part;
    }
    return s;
}

static void pack_sites(kj_pack *p, kj_kernel_info *k)
{
    KJ_PACK(p, k->nsites);
    k->sites = kj_pack_room(p, k->sites, k->nsites, sizeof *k->sites);
    for (int i = 0; i < k->nsites && !p->failed; i++) {
        const kj_site *site = pack_site(p, kj_pack_reads(p) ? NULL : k->sites[i]);
        if (kj_pack_reads(p))
            k->sites[i] = site;
    }
}

/* ---- A kernel ---- */

static void pack_params(kj_pack *p, kj_kernel_info *k)
{
    KJ_PACK(p, k->nslots);
    KJ_PACK(p, k->nparams);
    k->params = kj_pack_room(p, k->params, k->nparams, sizeof *k->params);
    for (int i = 0; i < k->nparams && !p->failed; i++) {
        kj_param_info *param = &k->params[i];
        KJ_PACK(p, param->is_array);
        KJ_PACK(p, param->read);
        KJ_PACK(p, param->written);
        KJ_PACK(p, param->ndim);
        KJ_PACK(p, param->size);
        KJ_PACK(p, param->unit);
        KJ_PACK(p, param->tally);
        KJ_PACK(p, param->elem);
    }
}

static void pack_filled(kj_pack *p, const kj_const_array_info *all, kj_kernel_info *k)
{
    KJ_PACK(p, k->nfilled);
    k->filled = kj_pack_room(p, k->filled, k->nfilled, sizeof *k->filled);
    for (int i = 0; i < k->nfilled && !p->failed; i++) {
        int index = kj_pack_reads(p) ? 0 : k->filled[i]->index;
        KJ_PACK(p, index);
        k->filled[i] = &all[index];
    }
}

static void pack_launched(kj_pack *p, kj_kernel_info *k)
{
    KJ_PACK(p, k->nlaunched);
    k->launched = kj_pack_room(p, k->launched, k->nlaunched, sizeof *k->launched);
    for (int i = 0; i < k->nlaunched && !p->failed; i++)
        kj_pack_text(p, &k->launched[i]);
}

static const kj_kernel_info *pack_kernel(kj_pack *p, const kj_const_array_info *filled,
                                         const kj_kernel_info *from)
{
    kj_kernel_info *k = KJ_NEW(p->arena, kj_kernel_info);
    if (from)
        *k = *from;
    kj_pack_text(p, &k->name);
    KJ_PACK(p, k->span);
    KJ_PACK(p, k->prints);
    KJ_PACK(p, k->polls);
    KJ_PACK(p, k->conditions);
    KJ_PACK(p, k->watched);
    KJ_PACK(p, k->launches);
    KJ_PACK(p, k->launch);
    KJ_PACK(p, k->grid_sync);
    KJ_PACK(p, k->grid_sync_at);
    KJ_PACK(p, k->block);
    KJ_PACK(p, k->shared);
    pack_params(p, k);
    pack_filled(p, filled, k);
    pack_sites(p, k);
    pack_launched(p, k);
    k->limits = pack_limits(p, k->limits);
    k->typed = pack_typed(p, k->typed);
    return k;
}

/* ---- Code ---- */

/* Of a kernel that another launches, too, which has no bytes and arguments of its own. */
static void pack_numbers(kj_pack *p, const kj_const_array_info *filled, kj_code *c)
{
    kj_pack_text(p, &c->entry);
    KJ_PACK(p, c->scratch);
#define FLAG(name) KJ_PACK(p, c->name);
    KJ_CODE_FLAGS(FLAG)
#undef FLAG
    KJ_PACK(p, c->unheld);
    KJ_PACK(p, c->stack);
    KJ_PACK(p, c->nargs);
    KJ_PACK(p, c->shared);
    c->kernel = pack_kernel(p, filled, c->kernel);
}

static void pack_args(kj_pack *p, kj_code *c)
{
    bool some = c->args != NULL;
    KJ_PACK(p, some);
    if (!some)
        return;
    int *args = kj_pack_room(p, c->args, c->nargs, sizeof *args);
    for (int i = 0; i < c->nargs && !p->failed; i++)
        kj_pack_bytes(p, &args[i], sizeof args[i]);
    c->args = args;
}

static void pack_machine_code(kj_pack *p, kj_code *c)
{
    KJ_PACK(p, c->size);
    if (!kj_pack_reads(p)) {
        kj_pack_bytes(p, c->bytes, c->size);
        return;
    }
    p->failed |= c->size > (size_t)(p->end - p->at);
    if (p->failed)
        return;
    char *bytes = malloc(c->size + 1);
    if (!bytes)
        kj_arena_exhausted(p->arena);
    kj_pack_bytes(p, bytes, c->size);
    bytes[c->size] = 0;
    c->bytes = bytes;
}

void kj_pack_code(kj_pack *p, const kj_const_array_info *filled, kj_code *c)
{
    if (kj_pack_reads(p))
        *c = (kj_code){0};
    pack_numbers(p, filled, c);
    pack_args(p, c);
    KJ_PACK(p, c->nchildren);
    c->children = kj_pack_room(p, c->children, c->nchildren, sizeof *c->children);
    for (int i = 0; i < c->nchildren && !p->failed; i++)
        pack_numbers(p, filled, &c->children[i]);
    if (!p->failed)
        pack_machine_code(p, c); /* the last: what was read before is the arena's */
}
