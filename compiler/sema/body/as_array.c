/* A parameter that was declared as one value, where its body uses it as an array, or as an array of fewer axes: told at its
 * first use, with the type that is meant; what follows of it is silent. */
#include <string.h>

#include "sema/body/body.h"

/* How the body uses the name. */
typedef struct uses {
    const char *name;
    int ndim;    /* of its indices; 0: there are none */
    int extents; /* how many axes those have that are asked for their extent, as a.shape[1] */
    bool other;  /* as a value, or with so many indices here and so many there */
} uses;

static bool is_of_arrays(const char *member)
{
    static const char *const members[] = {"shape", "size", "ndim", "strides", "steps", "T"};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (strcmp(member, members[i]) == 0)
            return true;
    return false;
}

static bool names(const kj_expr *e, const char *name)
{
    return e->kind == KJ_E_NAME && e->u.name == name;
}

/* What a[i], a[i][j], ... is an element of, and with how many indices. */
static const kj_expr *indexed(const kj_expr *e, int *n)
{
    for (*n = 0; e->kind == KJ_E_INDEX; e = e->u.index.base)
        *n += kj_count(e->u.index.args);
    return e;
}

/* Whose a.shape, a.steps or a.strides that is; NULL: it is none of them. */
static const kj_expr *extents_of(const kj_expr *e)
{
    const char *name = e->kind == KJ_E_MEMBER ? e->u.member.name : "";
    bool extents =
        strcmp(name, "shape") == 0 || strcmp(name, "steps") == 0 || strcmp(name, "strides") == 0;
    return extents ? e->u.member.base : NULL;
}

/* The axis in a.shape[1] and whose; -1: it is no such member, or the index is none that is written there. */
static int axis_of(const kj_expr *e, const kj_expr **of)
{
    const kj_expr *at = e->kind == KJ_E_INDEX ? e->u.index.args : NULL;
    *of = at ? extents_of(e->u.index.base) : NULL;
    return *of && !at->next && at->kind == KJ_E_INT && at->u.integer < KJ_MAX_NDIM
               ? (int)at->u.integer
               : -1;
}

static void find_uses(void *ctx, const kj_expr *e)
{
    uses *u = ctx;
    const kj_expr *of;
    int n, axis = axis_of(e, &of);
    if (e->kind == KJ_E_INDEX && names(indexed(e, &n), u->name)) {
        u->other |= n > KJ_MAX_NDIM || (u->ndim && n != u->ndim);
        u->ndim = n;
        for (; e->kind == KJ_E_INDEX; e = e->u.index.base)
            for (const kj_expr *arg = e->u.index.args; arg; arg = arg->next)
                find_uses(ctx, arg);
        return;
    }
    if (axis >= u->extents && names(of, u->name))
        u->extents = axis + 1;
    if (e->kind == KJ_E_MEMBER && names(e->u.member.base, u->name)) {
        u->other |= !is_of_arrays(e->u.member.name);
        return;
    }
    u->other |= names(e, u->name);
    kj_each_part(e, find_uses, ctx);
}

static const char *commas(int ndim)
{
    return &",,,,,"[KJ_MAX_NDIM - ndim];
}

/* The parameter that the symbol is, as it came or as a variable of it; NULL: it is none. */
static const kj_param_decl *param_of(const kj_sema *s, const kj_symbol *sym)
{
    const kj_param_decl *p =
        sym && sym->kind == KJ_SYM_VALUE && s->frame ? s->frame->item->params : NULL;
    while (p && (p->name != sym->name || p->span.begin != sym->span.begin))
        p = p->next;
    return p;
}

bool kj_take_as_array(kj_sema *s, kj_message *m, const kj_expr *e)
{
    bool member = e->kind == KJ_E_MEMBER;
    const kj_expr *base = member ? e->u.member.base : e->u.index.base;
    kj_symbol *sym = base->kind == KJ_E_NAME ? kj_scope_find(s->scope, base->u.name) : NULL;
    const kj_param_decl *p = param_of(s, sym);
    if (!p || !kj_is_shown(s->diag, m) || (member && !is_of_arrays(e->u.member.name)))
        return false;
    uses u = {.name = sym->name};
    kj_each_expr(s->frame->item->body, find_uses, &u);
    kj_note(s->diag, m, sym->span, "declared here");
    sym->value = kj_no_value(sym->span);
    if (p->is_const || !p->type || !p->type->name || p->type->ndim || u.other)
        return true;
    const char *type =
        kj_arena_printf(s->diag->arena, "%s[%s]", kj_source_text(s, p->type->span, "T"),
                        commas(u.ndim ? u.ndim : 1));
    kj_hint(s->diag, m, "an array is declared with brackets: %s: %s", p->name, type);
    if (s->frame->fn < 0) /* what calls a function may mean one value */
        kj_fix(s->diag, m, p->type->span, "%s", type);
    return true;
}

void kj_take_with_axes(kj_sema *s, kj_message *m, const kj_expr *e, int n)
{
    const kj_expr *base = e, *of = extents_of(e);
    int indices = 0;
    bool extents = of || axis_of(e, &of) >= 0;
    base = extents ? of : indexed(e, &indices);
    kj_symbol *sym = base->kind == KJ_E_NAME ? kj_scope_find(s->scope, base->u.name) : NULL;
    const kj_param_decl *p = param_of(s, sym);
    uses u = {.name = sym ? sym->name : NULL, .extents = n};
    if (!p || !p->type || !p->type->name || !p->type->ndim || !kj_is_shown(s->diag, m))
        return;
    kj_each_expr(s->frame->item->body, find_uses, &u);
    n = u.extents > u.ndim ? u.extents : u.ndim;
    kj_note(s->diag, m, sym->span, "declared here");
    if (u.other || n > KJ_MAX_NDIM || n <= p->type->ndim || (u.ndim && u.ndim != n))
        return;
    kj_hint(s->diag, m, "with %d %s it is %s: %s[%s]", n, extents ? "axes" : "indices", p->name,
            p->type->name, commas(n));
    if (s->frame->fn < 0)
        kj_fix(s->diag, m, p->type->span, "%s[%s]", p->type->name, commas(n));
    sym->value = kj_no_value(sym->span);
}
