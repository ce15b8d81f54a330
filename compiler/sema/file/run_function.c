/* Calls of the file's functions in its run block: of numbers, and of arrays element by element. What such
 * a function needs is checked here, with what it calls: no threads, no arrays, nothing that the host
 * fills. */
#include <string.h>

#include "sema/file/file.h"

/* ---- What it reaches ---- */

/* Of a function and what it calls: what cannot be, or NULL. */
typedef struct verdict {
    bool known;
    const kj_expr *bad;
    const char *why;
} verdict;

struct kj_callable {
    const kj_item *hiding; /* what has the name of something built in, or NULL */
    verdict *of;           /* by the index of a function */
};

/* A name that a function gives a meaning of its own. */
typedef struct local {
    const char *name;
    const struct local *up;
} local;

typedef struct reach {
    kj_sema *s;
    const kj_file *file; /* whose function it is */
    const local *locals; /* in scope */
    verdict found;
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

static void bind(reach *r, const char *name)
{
    local *l = KJ_NEW(r->s->arena, local);
    *l = (local){name, r->locals};
    r->locals = l;
}

static void bind_all(reach *r, const kj_name *names)
{
    for (; names; names = names->next)
        bind(r, names->name);
}

static bool is_local(const reach *r, const char *name)
{
    const local *l = r->locals;
    while (l && l->name != name)
        l = l->up;
    return l != NULL;
}

static void visit(void *ctx, const kj_expr *e);

static void look_through(reach *r, const kj_stmt *st)
{
    const local *outer = r->locals, *here;
    const kj_stmt *blocks[2];
    for (; st; st = st->next) {
        kj_each_own_expr(st, visit, r);
        if (st->kind == KJ_S_LET)
            bind_all(r, st->u.let.names);
        here = r->locals;
        if (st->kind == KJ_S_FOR)
            bind_all(r, st->u.for_.names);
        kj_blocks_of(st, blocks);
        look_through(r, blocks[0]);
        look_through(r, blocks[1]);
        r->locals = here;
    }
    r->locals = outer;
}

static void look_into(reach *r, const kj_symbol *sym)
{
    verdict *v = &r->s->callable->of[sym->index];
    const local *outer = r->locals;
    const kj_file *caller = r->file;
    if (!v->known) {
        v->known = true; /* no function calls itself */
        r->locals = NULL;
        r->file = sym->item->file;
        for (const kj_generic *g = sym->item->generics; g; g = g->next)
            bind(r, g->name);
        for (const kj_param_decl *p = sym->item->params; p; p = p->next)
            bind(r, p->name);
        look_through(r, sym->item->body);
        r->locals = outer;
        r->file = caller;
        *v = r->found;
        v->known = true;
    }
    r->found = *v;
}

static void visit(void *ctx, const kj_expr *e)
{
    reach *r = ctx;
    if (r->found.bad)
        return;
    const kj_expr *base = e->kind == KJ_E_MEMBER ? e->u.member.base : e;
    const kj_symbol *sym = base->kind == KJ_E_NAME && !is_local(r, base->u.name)
                               ? kj_scope_named(r->file->scope, e)
                               : NULL;
    const char *why = sym ? refused(sym) : NULL;
    if (why)
        r->found = (verdict){true, e, why};
    else if (sym && sym->kind == KJ_SYM_FN)
        look_into(r, sym);
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

/* A type parameter that no parameter tells; or NULL. */
static const kj_generic *untold(const kj_item *fn)
{
    for (const kj_generic *g = fn->generics; g; g = g->next) {
        const kj_param_decl *p = fn->params;
        while (p && strcmp(p->type->name, g->name) != 0)
            p = p->next;
        if (!p)
            return g;
    }
    return NULL;
}

/* Functions of numbers stand in an expression's kernel where the run block calls them, and there the name is
 * the file's; of themselves kernels call these. */
static bool is_called_unasked(kj_builtin id)
{
    static const char *const of_numbers[] = {"arithmetic", "bits", "math", "complex"};
    for (size_t i = 0; i < sizeof of_numbers / sizeof *of_numbers; i++)
        if (strcmp(kj_builtins[id].group, of_numbers[i]) == 0)
            return id == KJ_BI_MIN || id == KJ_BI_MAX || id == KJ_BI_ABS || id == KJ_BI_CEIL_DIV ||
                   id == KJ_BI_SELP || id == KJ_BI_RINT;
    return true;
}

/* What the kernels of expressions say by name. */
static bool is_built_in(const char *name)
{
    for (int id = 0; id < KJ_NBUILTINS; id++)
        if (strcmp(kj_builtins[id].name, name) == 0 && is_called_unasked((kj_builtin)id))
            return true;
    static const char *const others[] = {"inf", "nan", "shared", "local"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(name, others[i]) == 0)
            return true;
    return false;
}

/* What the file has of such names; or NULL. */
static const kj_item *hides_built_in(const kj_file *file)
{
    for (const kj_item *item = file->items; item; item = item->next)
        if (item->name && item->kind != KJ_I_KERNEL && item->kind != KJ_I_RUN_FN &&
            is_built_in(item->name))
            return item;
    return NULL;
}

static struct kj_callable *callable(kj_sema *s)
{
    if (!s->callable) {
        s->callable = KJ_NEW(s->arena, struct kj_callable);
        s->callable->hiding = hides_built_in(s->program->file);
        s->callable->of = KJ_NEW_ARRAY(s->arena, verdict, (size_t)s->nfns + 1);
    }
    return s->callable;
}

/* ---- Calls ---- */

static kj_message *refuse_plainly(kj_sema *s, const kj_expr *call, const char *name,
                                  const char *why, kj_span note)
{
    kj_message *m = kj_sema_error(s, call->span, KJ_RULE_CALL,
                                  "'%s' cannot be called in a run block: it %s", name, why);
    kj_note(s->diag, m, note, "here");
    return m;
}

static void refuse(kj_sema *s, const kj_expr *call, const char *name, const char *why, kj_span note)
{
    kj_hint(s->diag, refuse_plainly(s, call, name, why, note), "launch a kernel that calls it");
}

/* Of a function that needs no threads, and that no kernel calls. */
static void refuse_device(kj_sema *s, const kj_expr *call, const kj_symbol *sym, const char *why,
                          kj_span note)
{
    const char *as_run = kj_as_run_function(s, sym->item);
    kj_message *m = refuse_plainly(s, call, sym->item->name, why, note);
    reach r = {.s = s};
    callable(s);
    look_into(&r, sym);
    if (as_run && !r.found.bad)
        kj_hint(s->diag, m, "a function of run blocks is written %s", as_run);
    else
        kj_hint(s->diag, m,
                sym->item->params ? "launch a kernel that calls it"
                                  : "a function of run blocks is written run %s() { ... }",
                sym->item->name);
}

/* Whatever it is given. */
static void check_function(kj_sema *s, const kj_expr *call, const kj_symbol *sym)
{
    const kj_item *fn = sym->item;
    const kj_type_ref *other = other_type(fn);
    if (other) {
        refuse_device(s, call, sym, "takes or gives more than numbers", other->span);
        return;
    }
    const kj_generic *g = untold(fn);
    const kj_item *hiding = callable(s)->hiding;
    if (g || hiding) {
        refuse(s, call, fn->name,
               g ? "has a type that no argument tells"
                 : "stands beside something with a built-in name",
               g ? g->span : hiding->name_span);
        return;
    }
    reach r = {.s = s};
    look_into(&r, sym);
    if (r.found.bad)
        refuse(s, call, fn->name, r.found.why, r.found.bad->span);
}

static bool is_type(const kj_type_ref *t, const char *name)
{
    return t && t->ndim == 0 && t->name == name;
}

/* Has the function an error of its own? What it is when that is mended is not known. */
static bool is_wrong(const kj_diag *d, const kj_item *fn)
{
    for (const kj_message *m = d->first; m; m = m->next)
        if (m->severity == KJ_ERROR && m->span.begin >= fn->span.begin &&
            m->span.begin < fn->end.end)
            return true;
    return false;
}

void kj_sema_run_joiner(kj_sema *s, const kj_expr *arg)
{
    bool of_file = kj_is_of_file(s->scope, arg), named = arg->kind == KJ_E_NAME;
    const kj_symbol *sym = of_file ? kj_member_of_file(s, arg)
                           : named ? kj_sema_run_find(s, arg->u.name, arg->span)
                                   : NULL;
    if ((of_file || named) && !sym)
        return;
    int before = s->diag->errors;
    if (arg->kind == KJ_E_MEMBER && !of_file)
        kj_sema_run_expr(s, arg);
    if (s->diag->errors > before)
        return;
    if (sym && sym->kind == KJ_SYM_BUILTIN &&
        (sym->builtin == KJ_BI_MIN || sym->builtin == KJ_BI_MAX))
        return;
    if (sym && sym->kind == KJ_SYM_FN && is_wrong(s->diag, sym->item))
        return;
    const kj_param_decl *a = sym && sym->kind == KJ_SYM_FN ? sym->item->params : NULL;
    const char *type = a && a->type ? a->type->name : NULL;
    if (type && is_type(a->type, type) && a->next && is_type(a->next->type, type) &&
        !a->next->next && is_type(sym->item->type, type)) {
        check_function(s, arg, sym);
        return;
    }
    kj_message *m =
        kj_sema_error(s, arg->span, KJ_RULE_CALL,
                      "this is no function of the file that joins two values of a type");
    kj_hint(s->diag, m, "it is one such as fn add(a: f32, b: f32) -> f32, or min or max");
    if (sym && sym->item)
        kj_note(s->diag, m, sym->item->name_span, "declared here");
}

void kj_sema_run_function(kj_sema *s, const kj_expr *call, const kj_symbol *sym)
{
    const kj_item *fn = sym->item;
    int n = 0;
    for (const kj_param_decl *p = fn->params; p; p = p->next)
        n++;
    int *place = KJ_NEW_ARRAY(s->arena, int, (size_t)kj_count(call->u.call.args) + 1);
    if (!kj_match_arguments(s, call, fn, place) || is_wrong(s->diag, fn))
        return;
    if (!fn->type) {
        refuse_device(s, call, sym, "has no result", fn->name_span);
        return;
    }
    if (n > KJ_MAX_RUN_ARGS) {
        refuse(s, call, fn->name,
               kj_arena_printf(s->diag->arena, "has more than %d parameters", KJ_MAX_RUN_ARGS),
               fn->name_span);
        return;
    }
    check_function(s, call, sym);
}
