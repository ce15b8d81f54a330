/* What the analyses found, as text, for --emit=uniform and --emit=regions: a line begins with that of
 * the source, variables are name#id. */
#include "analysis/regions.h"

typedef struct dump {
    kj_text out;
    const kj_source *source;
    const kj_deps *deps;
    int level;
} dump;

/* Begins a line about what stands at `at`. */
static void begin(dump *d, kj_span at)
{
    kj_text_printf(&d->out, "%5u  %*s", kj_where(d->source, at.begin).line, 2 * d->level, "");
}

static void put_kernel(dump *d, const kj_tkernel *k)
{
    kj_text_printf(&d->out, "kernel %s [", k->name);
    for (int i = 0; i < 3; i++)
        kj_text_printf(&d->out, "%s%lld", i ? ", " : "",
                       (long long)k->block[kj_swapped(i, k->lanes)]);
    bool alone = d->deps && d->deps->alone;
    kj_text_printf(&d->out, "]%s%s",
                   alone && d->deps->large ? ", threads one by one where numbers are small"
                   : alone                 ? ", threads one by one"
                                           : "",
                   alone && !d->deps->large ? ""
                   : k->flat                ? ", lanes by the threads' numbers"
                   : k->across              ? ", lanes across blocks"
                                            : "");
    kj_text_printf(&d->out, k->lanes ? ", lanes along %c\n" : "\n", "xyz"[k->lanes]);
}

static void put_var(dump *d, const kj_var *v)
{
    kj_text_printf(&d->out, "%s#%d", v->name, v->id);
}

/* ---- Uniformity ---- */

static void put_dep(dump *d, const char *what, uint8_t dep)
{
    static const char *const words[] = {" x", " y", " z", " atomic", " block", " again", " gang"};
    dep &= (uint8_t)~KJ_DEP_GIVEN;
    kj_text_puts(&d->out, what);
    for (int i = 0; i < 7; i++)
        if (dep >> (i < 3 ? kj_swapped(i, d->deps->lanes) : i) & 1)
            kj_text_puts(&d->out, words[i]);
    kj_text_puts(&d->out, dep ? "" : " same");
}

static void uniform_stmts(dump *d, const kj_tstmt *s);

static void uniform_body(dump *d, const kj_tstmt *body)
{
    kj_text_puts(&d->out, "\n");
    d->level++;
    uniform_stmts(d, body);
    d->level--;
}

static void uniform_decl(dump *d, const kj_var *v)
{
    kj_text_puts(&d->out, v->mutable ? "var " : "let ");
    put_var(d, v);
    put_dep(d, ":", d->deps->var[v->id]);
    kj_text_puts(&d->out, "\n");
}

static void put_barrier(dump *d, const kj_tstmt *s)
{
    kj_text_printf(&d->out, "%s%s", kj_builtins[s->u.barrier.id].name,
                   s->u.barrier.implied ? ", implied" : "");
}

static void uniform_store(dump *d, const kj_tstmt *s)
{
    const kj_tarray *a = s->u.store.array;
    uint8_t dep = a->offset ? kj_dep(d->deps, a->offset) : 0;
    for (int i = 0; i < a->ndim; i++)
        dep |= kj_dep(d->deps, s->u.store.index[i]) | kj_dep(d->deps, a->stride[i]);
    kj_text_printf(&d->out, "store in %s: at", a->root->name);
    put_dep(d, "", dep);
    put_dep(d, ", value", kj_dep(d->deps, s->u.store.value));
    kj_text_puts(&d->out, "\n");
}

static void uniform_stmt(dump *d, const kj_tstmt *s)
{
    begin(d, s->span);
    switch (s->kind) {
    case KJ_TS_DECL: uniform_decl(d, s->u.decl.var); break;
    case KJ_TS_STORE: uniform_store(d, s); break;
    case KJ_TS_IF:
        put_dep(d, "if", kj_dep(d->deps, s->u.if_.test));
        uniform_body(d, s->u.if_.yes);
        if (!s->u.if_.no)
            break;
        begin(d, s->u.if_.no->span);
        kj_text_puts(&d->out, "else");
        uniform_body(d, s->u.if_.no);
        break;
    case KJ_TS_FOR:
        kj_text_puts(&d->out, "for ");
        put_var(d, s->u.for_.var);
        put_dep(d, ":", d->deps->var[s->u.for_.var->id]);
        put_dep(d, ", turns", s->divergence);
        uniform_body(d, s->u.for_.body);
        break;
    case KJ_TS_WHILE:
        put_dep(d, "while: turns", s->divergence);
        uniform_body(d, s->u.while_.body);
        break;
    case KJ_TS_INLINE:
        kj_text_printf(&d->out, "%s()", s->u.block->name);
        put_dep(d, ": leaves", s->u.block->divergence);
        uniform_body(d, s->u.block->body);
        break;
    case KJ_TS_BARRIER:
        put_barrier(d, s);
        kj_text_puts(&d->out, "\n");
        break;
    default: break;
    }
}

static void uniform_stmts(dump *d, const kj_tstmt *s)
{
    for (; s; s = s->next) {
        bool silent = s->kind == KJ_TS_ASSIGN || s->kind == KJ_TS_EXPR || s->kind == KJ_TS_ARRAY ||
                      s->kind == KJ_TS_BREAK || s->kind == KJ_TS_CONTINUE ||
                      s->kind == KJ_TS_LEAVE || s->kind == KJ_TS_REPORT || s->kind == KJ_TS_LAUNCH;
        if (!silent)
            uniform_stmt(d, s);
    }
}

const char *kj_uniform_dump(kj_arena *arena, const kj_source *source, const kj_tkernel *kernel,
                            const kj_deps *deps)
{
    dump d = {.out.arena = arena, .source = source, .deps = deps, .level = 1};
    put_kernel(&d, kernel);
    uniform_stmts(&d, kernel->body->body);
    return d.out.data;
}

/* ---- Regions ---- */

static void put_vars(dump *d, const kj_regions *r, const char *what, const uint64_t *set)
{
    const char *before = what;
    for (int id = 0; id < 64 * r->words; id++) {
        if (!(set[id / 64] >> (id % 64) & 1))
            continue;
        kj_text_puts(&d->out, before);
        put_var(d, r->places[id].var);
        before = " ";
    }
}

static void put_region(dump *d, const kj_regions *r, const kj_node *n)
{
    const kj_tstmt *last = n->stmt;
    while (last->next != n->end)
        last = last->next;
    kj_text_printf(&d->out, "region %d to %u%s%s%s", n->region,
                   kj_where(d->source, last->span.begin).line, n->exits ? ", threads leave" : "",
                   n->spin || n->alone ? ", thread after thread" : "",
                   n->nreach ? ", within bounds" : "");
    put_vars(d, r, ": needs ", &r->uses[n->region * r->words]);
    put_vars(d, r, "; sets ", &r->writes[n->region * r->words]);
}

static void regions_nodes(dump *d, const kj_regions *r, const kj_node *n)
{
    for (; n; n = n->next) {
        begin(d, n->stmt->span);
        switch (n->kind) {
        case KJ_N_REGION: put_region(d, r, n); break;
        case KJ_N_SCALAR: kj_text_puts(&d->out, "once"); break;
        case KJ_N_BARRIER: put_barrier(d, n->stmt); break;
        case KJ_N_IF: kj_text_puts(&d->out, "if"); break;
        case KJ_N_LOOP: kj_text_puts(&d->out, "loop"); break;
        case KJ_N_INLINE: kj_text_printf(&d->out, "%s()", n->stmt->u.block->name); break;
        case KJ_N_EXIT: kj_text_puts(&d->out, "all leave"); break;
        }
        if (n->kind != KJ_N_REGION && n->region >= 0)
            kj_text_printf(&d->out, ", asked in region %d", n->region);
        kj_text_puts(&d->out, n->divergent ? ", threads part\n" : "\n");
        d->level++;
        regions_nodes(d, r, n->yes);
        if (n->no) {
            begin(d, n->no->stmt->span);
            kj_text_puts(&d->out, "else\n");
            regions_nodes(d, r, n->no);
        }
        d->level--;
    }
}

static void put_homes(dump *d, const kj_tkernel *k, const kj_regions *r)
{
    static const char *const words[] = {[KJ_HOME_BLOCK] = "one for the block",
                                        [KJ_HOME_THREAD] = "one for each thread",
                                        [KJ_HOME_REMAT] = "computed again"};
    for (int id = 0; id < k->nvars; id++) {
        const kj_place *p = &r->places[id];
        if (!p->var || p->home == KJ_HOME_GANG)
            continue;
        kj_text_puts(&d->out, "  home of ");
        put_var(d, p->var);
        kj_text_printf(&d->out, ": %s\n", words[p->home]);
    }
    for (int id = 0; id < k->nroots; id++)
        if (r->crossing[id])
            kj_text_printf(&d->out, "  kept: %s\n", k->roots[id]->name);
}

const char *kj_regions_dump(kj_arena *arena, const kj_source *source, const kj_tkernel *kernel,
                            const kj_regions *regions)
{
    dump d = {.out.arena = arena, .source = source, .level = 1};
    put_kernel(&d, kernel);
    regions_nodes(&d, regions, regions->body);
    put_homes(&d, kernel, regions);
    return d.out.data;
}
