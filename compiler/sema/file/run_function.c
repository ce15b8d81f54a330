/* Calls of the file's functions in its run block: of numbers, and of arrays element by element. What such
 * a function needs is checked here, with what it calls: no threads, no arrays, nothing that the host
 * fills. */
#include <string.h>

#include "sema/file/file.h"

/* ---- What it reaches ---- */

typedef struct reach {
    kj_sema *s;
    const kj_item *fn;
    bool *seen;         /* by the index of a function */
    const kj_expr *bad; /* what cannot be, or NULL */
    const char *why;
} reach;

static const char *refused(const kj_symbol *sym)
{
    const char *group = sym->kind == KJ_SYM_BUILTIN ? kj_builtins[sym->builtin].group : "";
    if (strcmp(group, "index") == 0 || strcmp(group, "sync") == 0 || strcmp(group, "warp") == 0 ||
        (sym->kind == KJ_SYM_NAMESPACE && strcmp(sym->name, "shared") == 0))
        return "works with the threads of a launch";
    if (sym->kind == KJ_SYM_KERNEL)
        return "launches a kernel";
    if (sym->kind == KJ_SYM_CONST && !sym->item->value)
        return "reads an array that the host fills";
    return NULL;
}

static bool is_param(const kj_item *fn, const char *name)
{
    for (const kj_param_decl *p = fn->params; p; p = p->next)
        if (p->name == name)
            return true;
    return false;
}

static void visit(void *ctx, const kj_expr *e);

static void look_into(reach *r, const kj_symbol *sym)
{
    const kj_item *outer = r->fn;
    if (r->seen[sym->index])
        return;
    r->seen[sym->index] = true;
    r->fn = sym->item;
    kj_each_expr(sym->item->body, visit, r);
    r->fn = outer;
}

static void visit(void *ctx, const kj_expr *e)
{
    reach *r = ctx;
    const kj_symbol *sym = e->kind == KJ_E_NAME && !is_param(r->fn, e->u.name)
                               ? kj_scope_find(r->s->program->globals, e->u.name)
                               : NULL;
    const char *why = sym ? refused(sym) : NULL;
    if (r->bad)
        return;
    if (why) {
        r->bad = e;
        r->why = why;
    } else if (sym && sym->kind == KJ_SYM_FN) {
        look_into(r, sym);
    }
    kj_each_part(e, visit, ctx);
}

/* ---- Types ---- */

static bool is_number(const kj_item *fn, const kj_type_ref *t)
{
    if (t->ndim > 0 || !t->name)
        return false;
    for (const kj_generic *g = fn->generics; g; g = g->next)
        if (strcmp(g->name, t->name) == 0)
            return true;
    kj_dtype type = kj_type_named(t->name);
    return type < KJ_NTYPES || kj_is_complex_type(type);
}

/* The first type of the parameters that is not a number's, then of the results; NULL: all are. */
static const kj_type_ref *other_type(const kj_item *fn)
{
    for (const kj_param_decl *p = fn->params; p; p = p->next)
        if (!is_number(fn, p->type))
            return p->type;
    const kj_type_ref *t = fn->type && fn->type->parts ? fn->type->parts : fn->type;
    while (t && is_number(fn, t))
        t = t->next;
    return t;
}

/* ---- Calls ---- */

static void refuse(kj_sema *s, const kj_expr *call, const char *name, const char *why, kj_span note)
{
    kj_message *m = kj_sema_error(s, call->span, KJ_RULE_CALL,
                                  "'%s' cannot be called in a run block: it %s", name, why);
    kj_hint(s->diag, m, "launch a kernel that calls it");
    kj_note(s->diag, m, note, "here");
}

void kj_sema_run_function(kj_sema *s, const kj_expr *call, const kj_symbol *sym)
{
    const kj_item *fn = sym->item;
    const char *names = "";
    int n = 0;
    for (const kj_param_decl *p = fn->params; p; p = p->next, n++)
        names = kj_arena_printf(s->diag->arena, "%s%s%s", names, n ? ", " : "", p->name);
    if (!kj_no_keywords(s, call, fn->name))
        return;
    if (kj_count(call->u.call.args) != n) {
        kj_arity_error(s, call, fn->name, kj_arena_printf(s->diag->arena, "(%s)", names), n, n);
        return;
    }
    if (!fn->type) {
        refuse(s, call, fn->name, "has no result", fn->name_span);
        return;
    }
    const kj_type_ref *other = other_type(fn);
    if (other) {
        refuse(s, call, fn->name, "takes or gives more than numbers", other->span);
        return;
    }
    if (n > KJ_MAX_RUN_ARGS) {
        refuse(s, call, fn->name,
               kj_arena_printf(s->diag->arena, "has more than %d parameters", KJ_MAX_RUN_ARGS),
               fn->name_span);
        return;
    }
    reach r = {.s = s, .fn = fn};
    r.seen = KJ_NEW_ARRAY(s->arena, bool, (size_t)s->nfns + 1);
    look_into(&r, sym);
    if (r.bad)
        refuse(s, call, fn->name, r.why, r.bad->span);
}
