/* Values that are looked at where they are made, on request: typed AST in; out, the operations that are,
 * each with a site.
 *
 * --check=nan: operations of floats. --check=warp: those of warps, of which it is the mask. --check=index: sums,
 * differences, products and shifts in 32 bits or fewer on their way into an index, through variables, too. What a
 * program means to wrap is left alone: what is below a remainder of unsigned numbers or an operation on bits, as in a
 * hash, what it makes narrower itself, and what it asks for in 8 or 16 bits, as the hint on those says. */
#include <string.h>

#include "analysis/limits.h"

typedef struct search {
    kj_arena *arena;
    const kj_source *source;
    kj_tkernel *kernel;
    unsigned checks;
    int child;
    bool *feeds;         /* by variable: it is on the way into an index */
    const kj_var **todo; /* of these: what they are made of is still to be looked at */
    int ntodo;
    const kj_site **sites;
    int nsites, cap;
} search;

static void add_site(search *f, kj_site *site)
{
    if (f->nsites == f->cap) {
        int cap = f->cap ? 2 * f->cap : 16;
        const kj_site **grown = KJ_NEW_ARRAY(f->arena, const kj_site *, (size_t)cap);
        if (f->nsites)
            memcpy(grown, f->sites, (size_t)f->nsites * sizeof *grown);
        f->sites = grown;
        f->cap = cap;
    }
    site->id = f->nsites;
    f->sites[f->nsites++] = site;
}

static const char *text_of(const search *f, const kj_texpr *e, const char *otherwise)
{
    enum { MOST = 40 };
    uint32_t begin = e->span.begin, n = e->span.end - begin;
    if (e->span.end <= begin || n > MOST || e->span.end > f->source->size ||
        memchr(f->source->text + begin, '\n', n))
        return otherwise;
    return kj_arena_printf(f->arena, "%.*s", (int)n, f->source->text + begin);
}

/* What mean(v) divides stands nowhere in the text, but for the whole. */
static const char *operand_text(const search *f, const kj_texpr *whole, const kj_texpr *operand,
                                const char *otherwise)
{
    const kj_span a = whole->span, b = operand->span;
    return a.begin == b.begin && a.end == b.end ? otherwise : text_of(f, operand, otherwise);
}

/* Its values are the result and the operands, of which constants say what they are themselves. */
static void look_at(search *f, const kj_texpr *e, kj_site_kind kind, const char *failed)
{
    static const char *const otherwise[] = {"the first operand", "the second", "the third",
                                            "the fourth"};
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    if (e->checked)
        return;
    int n = kj_operands(e, operands);
    kj_site *site = KJ_NEW(f->arena, kj_site);
    kj_site_part *parts = KJ_NEW_ARRAY(f->arena, kj_site_part, (size_t)n + 1);
    parts[0] = (kj_site_part){text_of(f, e, "the result"), e->type};
    for (int i = 0; i < n; i++)
        parts[1 + i] = (kj_site_part){
            operands[i]->kind == KJ_TE_CONST ? NULL : operand_text(f, e, operands[i], otherwise[i]),
            operands[i]->type};
    *site = (kj_site){.kind = kind,
                      .span = e->span,
                      .fault = true,
                      .failed = failed,
                      .child = f->child,
                      .parts = parts,
                      .nparts = n + 1,
                      .nvalues = n + 1};
    add_site(f, site);
    ((kj_texpr *)(uintptr_t)e)->checked = site;
}

/* ---- Floats ---- */

static bool has_float(const kj_texpr *e)
{
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    for (int i = 0, n = kj_operands(e, operands); i < n; i++)
        if (kj_is_float(operands[i]->type))
            return true;
    return false;
}

static bool visit_float(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    search *f = ctx;
    (void)s;
    if (!e || !kj_is_float(e->type))
        return true;
    bool call = e->kind == KJ_TE_CALL && kj_builtins[e->u.call.id].how != KJ_HOW_WARP;
    if (e->kind == KJ_TE_BINARY || e->kind == KJ_TE_FMA || e->kind == KJ_TE_CONVERT ||
        (call && has_float(e)))
        look_at(f, e, KJ_SITE_NAN, "a NaN or an infinity is made of finite numbers");
    return true;
}

/* ---- Operations of warps ---- */

/* Its values are the mask and the lane. */
static bool visit_warp(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    search *f = ctx;
    (void)s;
    if (!e || e->checked || e->kind != KJ_TE_CALL || e->u.call.nargs == 0 ||
        kj_builtins[e->u.call.id].how != KJ_HOW_WARP)
        return true;
    kj_site *site = KJ_NEW(f->arena, kj_site);
    kj_site_part *parts = KJ_NEW_ARRAY(f->arena, kj_site_part, 2);
    parts[0] = (kj_site_part){text_of(f, e->u.call.args[0], "the mask"), KJ_U32};
    parts[1] = (kj_site_part){"laneid", KJ_I64};
    *site = (kj_site){
        .kind = KJ_SITE_WARP,
        .span = e->span,
        .fault = true,
        .failed = "the mask names a lane that does not come here or has another mask, or does not "
                  "name this one",
        .child = f->child,
        .parts = parts,
        .nparts = 2,
        .nvalues = 2};
    add_site(f, site);
    ((kj_texpr *)(uintptr_t)e)->checked = site;
    return true;
}

/* ---- Indices ---- */

static void feed(search *f, const kj_texpr *e);

static void feed_parts(search *f, const kj_texpr *e)
{
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    for (int i = 0, n = kj_operands(e, operands); i < n; i++)
        if (kj_is_int(operands[i]->type))
            feed(f, operands[i]);
}

static void feed_binary(search *f, const kj_texpr *e)
{
    kj_op op = e->u.binary.op;
    int size = kj_types[e->type].size;
    bool wraps = op == KJ_OP_ADD || op == KJ_OP_SUB || op == KJ_OP_MUL || op == KJ_OP_SHL;
    bool meant = e->written && size < 4;
    bool modulo = op == KJ_OP_MOD && !kj_is_signed(e->type);
    if (modulo || op == KJ_OP_AND || op == KJ_OP_OR || op == KJ_OP_XOR || op == KJ_OP_SHR)
        return;
    if (meant) /* and so is all that it is made of: its low bits */
        return;
    if (wraps && size <= 4)
        look_at(f, e, KJ_SITE_INDEX, "what an index is made of wraps");
    if (op == KJ_OP_SHL)
        feed(f, e->u.binary.lhs);
    else
        feed_parts(f, e);
}

/* `e` is on the way into an index. */
static void feed(search *f, const kj_texpr *e)
{
    switch (e->kind) {
    case KJ_TE_VAR:
    case KJ_TE_INLINE: {
        const kj_var *v = e->kind == KJ_TE_VAR ? e->u.var : e->u.inline_.result;
        if (!f->feeds[v->id])
            f->todo[f->ntodo++] = v;
        f->feeds[v->id] = true;
        break;
    }
    case KJ_TE_BINARY: feed_binary(f, e); break;
    case KJ_TE_CONVERT:
        if (!e->written || kj_types[e->type].size >= kj_types[e->u.unary.arg->type].size)
            feed_parts(f, e);
        break;
    case KJ_TE_SELECT:
        feed(f, e->u.select.yes);
        feed(f, e->u.select.no);
        break;
    case KJ_TE_UNARY:
        if (e->u.unary.op == KJ_OP_NEG)
            feed_parts(f, e);
        break;
    case KJ_TE_CALL: {
        kj_builtin id = e->u.call.id;
        if (id == KJ_BI_MIN || id == KJ_BI_MAX || id == KJ_BI_CLAMP)
            feed_parts(f, e);
        break;
    }
    default: break;
    }
}

static void feed_access(search *f, const kj_tarray *a, kj_texpr *const *index)
{
    if (a->offset)
        feed(f, a->offset);
    for (int i = 0; i < a->ndim; i++)
        feed(f, index[i]);
}

static bool visit_index(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    search *f = ctx;
    if (e) {
        if (e->kind == KJ_TE_LOAD)
            feed_access(f, e->u.load.array, e->u.load.index);
        else if (e->kind == KJ_TE_ATOMIC)
            feed_access(f, e->u.atomic.array, e->u.atomic.index);
        return true;
    }
    if (s->kind == KJ_TS_STORE)
        feed_access(f, s->u.store.array, s->u.store.index);
    return true;
}

static void find_indices(search *f, const kj_tkernel *k)
{
    size_t vars = (size_t)k->nvars + 1;
    kj_origin **origins = kj_origins(f->arena, k);
    f->feeds = KJ_NEW_ARRAY(f->arena, bool, vars);
    f->todo = KJ_NEW_ARRAY(f->arena, const kj_var *, vars);
    f->ntodo = 0;
    kj_walk(k->body->body, NULL, visit_index, f);
    while (f->ntodo) {
        const kj_var *v = f->todo[--f->ntodo];
        for (const kj_origin *o = origins[v->id]; o; o = o->next)
            feed(f, o->value);
    }
}

/* ---- Kernels ---- */

static void search_kernel(search *f, kj_tkernel *k, int child)
{
    const kj_tstmt *body = k->body->body;
    f->kernel = k;
    f->child = child;
    if (f->checks & KJ_CHECK_NAN && !k->fastmath)
        kj_walk(body, NULL, visit_float, f);
    if (f->checks & KJ_CHECK_WARP)
        kj_walk(body, NULL, visit_warp, f);
    if (f->checks & KJ_CHECK_INDEX)
        find_indices(f, k);
}

void kj_look_at_values(kj_arena *arena, const kj_source *source, kj_tkernel *kernel,
                       unsigned checks)
{
    search f = {.arena = arena, .source = source, .checks = checks};
    for (int i = 0; i < kernel->nsites; i++)
        add_site(&f, (kj_site *)(uintptr_t)kernel->sites[i]);
    search_kernel(&f, kernel, 0);
    for (const kj_child *c = kernel->children; c; c = c->next)
        search_kernel(&f, c->kernel, c->id);
    for (const kj_child *c = kernel->children; c; c = c->next) {
        c->kernel->sites = f.sites;
        c->kernel->nsites = f.nsites;
    }
    kernel->sites = f.sites;
    kernel->nsites = f.nsites;
}
