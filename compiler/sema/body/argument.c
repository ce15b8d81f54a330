/* Arguments of functions: which parameter each is for, by place or by name, and what stands for those that
 * are not given. */
#include <string.h>

#include "sema/body/body.h"

int kj_count_params(const kj_item *fn)
{
    int n = 0;
    for (const kj_param_decl *p = fn->params; p; p = p->next)
        n++;
    return n;
}

/* "(x: f32, n: i32 = 3)" */
static const char *signature(kj_sema *s, const kj_item *fn)
{
    const char *text = "(";
    int n = 0;
    if (!kj_diag_has_room(s->diag))
        return text;
    for (const kj_param_decl *p = fn->params; p; p = p->next) {
        if (n++ == KJ_MOST_LISTED)
            return kj_arena_printf(s->diag->arena, "%s...)", text);
        const char *type = !p->type ? "" : p->type->name ? p->type->name : "tuple";
        if (p->type && p->type->ndim)
            type = kj_arena_printf(s->diag->arena, "%s[%.*s]", type, p->type->ndim - 1, ",,,,,,,,");
        text =
            kj_arena_printf(s->diag->arena, "%s%s%s%s", text, p->name, p->type ? ": " : "", type);
        if (p->init)
            text = kj_arena_printf(s->diag->arena, "%s = %s", text,
                                   kj_source_text(s, p->init->span, "..."));
        text = kj_arena_printf(s->diag->arena, "%s%s", text, p->next ? ", " : "");
    }
    return kj_arena_printf(s->diag->arena, "%s)", text);
}

/* ---- Which is for which ---- */

static kj_operand wrong_number(kj_sema *s, const kj_expr *call, const kj_item *fn)
{
    int least = 0;
    for (const kj_param_decl *p = fn->params; p; p = p->next)
        least += !p->init;
    int before = s->diag->errors;
    kj_operand none =
        kj_arity_error(s, call, fn->name, signature(s, fn), least, kj_count_params(fn));
    if (s->diag->errors > before)
        kj_note_hiding(s, s->diag->last, fn->name, fn->name_span);
    return none;
}

static void unknown_name(kj_sema *s, const kj_expr *arg, const kj_item *fn)
{
    kj_message *m = kj_sema_error(s, arg->keyword_span, KJ_RULE_KEYWORD,
                                  "'%s' has no parameter '%s'", fn->name, arg->keyword);
    kj_near near = kj_near_to(arg->keyword);
    for (const kj_param_decl *p = fn->params; p; p = p->next)
        kj_near_offer(&near, p->name);
    if (near.best)
        kj_hint(s->diag, m, "did you mean '%s'?", near.best);
    else
        kj_hint(s->diag, m, "it is %s%s", fn->name, signature(s, fn));
}

bool kj_match_arguments(kj_sema *s, const kj_expr *call, const kj_item *fn, int *place)
{
    int n = kj_count_params(fn), nth = 0;
    const kj_expr *named = NULL;
    bool *given = KJ_NEW_ARRAY(s->arena, bool, (size_t)n + 1);
    for (const kj_expr *arg = call->u.call.args; arg; arg = arg->next, nth++) {
        int at = kj_param_of(fn, arg, nth);
        if (!arg->keyword && named)
            return kj_names_last(s, named);
        if (at < 0 && arg->keyword) {
            unknown_name(s, arg, fn);
            return false;
        }
        if (at < 0) {
            wrong_number(s, call, fn);
            return false;
        }
        if (given[at]) {
            kj_sema_error(s, arg->span, KJ_RULE_KEYWORD, "'%s' is given twice", arg->keyword);
            return false;
        }
        named = arg->keyword ? arg : named;
        given[at] = true;
        place[nth] = at;
    }
    int at = 0;
    for (const kj_param_decl *p = fn->params; p; p = p->next, at++) {
        if (!given[at] && !p->init) {
            if (named)
                kj_hint(s->diag,
                        kj_sema_error(s, call->span, KJ_RULE_ARGUMENT_COUNT,
                                      "'%s' is called without its '%s'", fn->name, p->name),
                        "%s%s", fn->name, signature(s, fn));
            else
                wrong_number(s, call, fn);
            return false;
        }
    }
    return true;
}

/* ---- Defaults ---- */

static bool is_constant(const kj_operand *v)
{
    switch (v->kind) {
    case KJ_V_ERROR:
    case KJ_V_LITERAL: return true;
    case KJ_V_SCALAR: return kj_is_const(v->u.scalar.e);
    case KJ_V_ARRAY: return v->u.array->root->space == KJ_CONST;
    case KJ_V_TUPLE:
        for (int i = 0; i < v->u.tuple.n; i++)
            if (!is_constant(&v->u.tuple.items[i]))
                return false;
        return true;
    default: return false;
    }
}

void kj_check_default_place(kj_sema *s, const kj_param_decl *before, const kj_param_decl *p)
{
    if (!before || p->init)
        return;
    kj_note(s->diag,
            kj_sema_error(s, p->span, KJ_RULE_KEYWORD,
                          "'%s' has no default and stands behind one that has", p->name),
            before->span, "this one");
}

void kj_check_default(kj_sema *s, const kj_param_decl *p, const kj_type *type, kj_operand v)
{
    const char *what = kj_arena_printf(s->diag->arena, "the default of '%s'", p->name);
    if (is_constant(&v))
        kj_coerce_type(s, v, type, what);
    else
        kj_sema_error(s, p->init->span, KJ_RULE_CONST_VALUE, "%s is no constant", what);
}
