/* Instances of functions: their generics inferred of what a call gives, their parameters' types. */
#include "sema/body/body.h"

int kj_count_generics(const kj_item *item)
{
    int n = 0;
    for (const kj_generic *g = item->generics; g; g = g->next)
        n++;
    return n;
}

void kj_open_generics(kj_sema *s, kj_instance *in)
{
    int n = kj_count_generics(in->item);
    in->generics = KJ_NEW_ARRAY(s->arena, kj_dtype, (size_t)n + 1);
    in->from = KJ_NEW_ARRAY(s->arena, const kj_param_decl *, (size_t)n + 1);
    in->exact = KJ_NEW_ARRAY(s->arena, bool, (size_t)n + 1);
    in->literal = KJ_NEW_ARRAY(s->arena, bool, (size_t)n + 1);
    for (int i = 0; i < n; i++)
        in->generics[i] = KJ_VOID;
}

static int generic_index(const kj_item *item, const char *name)
{
    int i = 0;
    for (const kj_generic *g = item->generics; g; g = g->next, i++)
        if (g->name == name)
            return i;
    return -1;
}

bool kj_names_generic(const kj_item *item, const kj_type_ref *type)
{
    return type && type->name && generic_index(item, type->name) >= 0;
}

/* A type as it is declared for parameter p, or a part of it, and what is given for it. */
typedef struct given {
    const kj_param_decl *p;
    const kj_type_ref *type;
    const kj_operand *v;
} given;

typedef bool given_fn(kj_sema *s, kj_instance *in, given g, bool arrays);

/* Asks of each type in one that may be a tuple. */
static bool each_type(kj_sema *s, kj_instance *in, given g, bool arrays, given_fn *ask)
{
    if (!g.type || g.type->name)
        return !g.type || ask(s, in, g, arrays);
    const kj_operand *v = g.v;
    int i = 0;
    bool tuple = v->kind == KJ_V_TUPLE && !v->u.tuple.of;
    for (const kj_type_ref *t = g.type->parts; t && tuple && i < v->u.tuple.n; t = t->next, i++)
        if (!each_type(s, in, (given){g.p, t, &v->u.tuple.items[i]}, arrays, ask))
            return false;
    return true;
}

/* Takes what an array (arrays) or a typed scalar says about a generic. False after an error. */
static bool learn(kj_sema *s, kj_instance *in, given what, bool arrays)
{
    const kj_operand *v = what.v;
    int g = generic_index(in->item, what.type->name);
    kj_dtype own = v->kind == KJ_V_ARRAY ? v->u.array->elem : kj_type_of(v);
    if (g < 0 || own == KJ_VOID || (v->kind == KJ_V_ARRAY) != arrays ||
        (what.type->ndim > 0) != arrays)
        return true;
    kj_dtype old = in->generics[g];
    if (old == KJ_VOID || old == own) {
        in->generics[g] = own;
        in->exact[g] = in->from[g] ? in->exact[g] : arrays;
        in->from[g] = in->from[g] ? in->from[g] : what.p;
        return true;
    }
    if (!arrays && in->exact[g] && kj_converts(own, old))
        return true;
    if (!arrays && !in->exact[g] && kj_common_type(own, old) != KJ_VOID) {
        in->generics[g] = kj_common_type(own, old);
        return true;
    }
    bool part = what.type != what.p->type; /* a tuple's may stand elsewhere */
    kj_message *m =
        kj_sema_error(s, part ? in->call->span : v->span, KJ_RULE_GENERIC_CONFLICT,
                      "%s is %s by '%s' and %s by '%s'", what.type->name, kj_sema_type_name(s, old),
                      in->from[g]->name, kj_sema_type_name(s, own), what.p->name);
    if (!arrays && !part)
        kj_hint(s->diag, m, "write %s(%s)", kj_sema_type_name(s, old),
                kj_source_text(s, v->span, "..."));
    return false;
}

/* A generic that only literals speak of takes the type that holds them: f32 when one of them is a float,
 * complex when one of them is imaginary. */
static bool learn_literal(kj_sema *s, kj_instance *in, given what, bool arrays)
{
    const kj_operand *v = what.v;
    int g = generic_index(in->item, what.type->name);
    bool complex = kj_is_complex(v) && v->u.tuple.of == &kj_complex_literal;
    (void)s;
    (void)arrays;
    if (g < 0 || what.type->ndim || (!kj_is_untyped(v) && !complex) || in->exact[g])
        return true;
    if (complex) {
        in->generics[g] =
            in->generics[g] == KJ_VOID ? KJ_C64 : kj_common_type(in->generics[g], KJ_C64);
        return true;
    }
    kj_dtype own = kj_untyped_type(v), old = in->generics[g];
    if (old == KJ_VOID || (kj_is_float(own) && kj_is_int(old)))
        in->generics[g] = own;
    else if (in->literal[g] && kj_is_int(own) && kj_is_int(old))
        in->generics[g] = kj_wider_default(old, own);
    in->literal[g] |= old == KJ_VOID;
    return true;
}

/* The same of every argument. */
static bool learn_all(kj_sema *s, kj_instance *in, const kj_operand *v, bool arrays, given_fn *ask)
{
    int i = 0;
    for (const kj_param_decl *p = in->item->params; p; p = p->next, i++)
        if (!each_type(s, in, (given){p, p->type, &v[i]}, arrays, ask))
            return false;
    return true;
}

/* Type `g` of the function is in none of what it was given: as no parameter has it, or one is an array and was given none. */
static void refuse_unknown(kj_sema *s, const kj_instance *in, const kj_generic *g,
                           const kj_operand *v, const kj_expr *e)
{
    const kj_param_decl *array = NULL;
    bool any = false;
    int i = 0, at = 0;
    for (const kj_param_decl *p = in->item->params; p; p = p->next, i++) {
        any |= !p->type || p->type->name == NULL || p->type->name == g->name;
        if (p->type && p->type->name == g->name && p->type->ndim > 0 && !array) {
            array = p;
            at = i;
        }
    }
    kj_message *m =
        array && v[at].kind != KJ_V_ARRAY
            ? kj_sema_error(s, v[at].span.end ? v[at].span : e->span, KJ_RULE_GENERIC_UNKNOWN,
                            "'%s' of '%s' is %s, not %s", array->name, in->item->name,
                            kj_source_text(s, array->type->span, "T[]"), kj_describe(s, &v[at]))
            : kj_sema_error(s, e->span, KJ_RULE_GENERIC_UNKNOWN, "no argument says what %s is",
                            g->name);
    if (array)
        kj_hint_of_held(s, m, &v[at]);
    else if (!any)
        kj_hint(s->diag, m, "no parameter has it: take one, x: %s, or name a type in its place",
                g->name);
    kj_note(s->diag, m, g->span, "declared here");
}

static bool check_bounds(kj_sema *s, const kj_instance *in, const kj_operand *v, const kj_expr *e)
{
    int i = 0;
    for (const kj_generic *g = in->item->generics; g; g = g->next, i++) {
        if (in->generics[i] == KJ_VOID) {
            refuse_unknown(s, in, g, v, e);
            return false;
        }
        if (!kj_type_in_bound(in->generics[i], g->bound)) {
            kj_message *m = kj_sema_error(
                s, e->span, KJ_RULE_GENERIC_BOUND, "%s would be %s, and '%s' takes %s types only",
                g->name, kj_sema_type_name(s, in->generics[i]), in->item->name, g->bound);
            kj_note(s->diag, m, g->bound_span, "declared here");
            return false;
        }
    }
    return true;
}

bool kj_infer(kj_sema *s, kj_instance *in, const kj_operand *v, const kj_expr *e)
{
    in->call = e;
    if (!learn_all(s, in, v, true, learn) || !learn_all(s, in, v, false, learn))
        return false;
    learn_all(s, in, v, false, learn_literal);
    return check_bounds(s, in, v, e);
}

const char *kj_bindings_text(kj_sema *s, const kj_instance *in)
{
    const char *text = NULL;
    int i = 0;
    for (const kj_generic *g = in->item->generics; g; g = g->next, i++)
        text = kj_arena_printf(s->diag->arena, "%s%s%s = %s", text ? text : "", text ? ", " : "",
                               g->name, kj_sema_type_name(s, in->generics[i]));
    return text;
}

bool kj_open_instance(kj_sema *s, kj_instance *in)
{
    int i = 0;
    bool ok = true;
    in->scope = kj_scope_new(s->arena, in->item->file->scope);
    kj_scope *outer = s->scope;
    s->scope = in->scope;
    for (const kj_generic *g = in->item->generics; g; g = g->next, i++)
        kj_declare(s, g->name, g->span, KJ_SYM_TYPE)->type = in->generics[i];
    in->types = KJ_NEW_ARRAY(s->arena, kj_type, (size_t)kj_count_params(in->item) + 1);
    i = 0;
    for (const kj_param_decl *p = in->item->params; p; p = p->next, i++) {
        in->types[i] = kj_resolve_type(s, p->type);
        ok = ok && in->types[i].kind != KJ_T_ERROR;
    }
    s->scope = outer;
    return ok;
}

bool kj_infer_call(kj_sema *s, const kj_item *item, const kj_operand *v, const kj_expr *e,
                   kj_dtype *generics, kj_type **types)
{
    kj_instance in = {.item = item};
    kj_open_generics(s, &in);
    if (!kj_infer(s, &in, v, e) || !kj_open_instance(s, &in))
        return false;
    for (int i = 0; i < kj_count_generics(item); i++)
        generics[i] = in.generics[i];
    *types = in.types;
    return true;
}
