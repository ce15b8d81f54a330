/* Calls of the file's functions. In: one that works on numbers, as sema has seen to, and its arguments;
 * out: of numbers what it gives, of arrays among them an array, element by element. Either is computed
 * by a kernel, so that it is what kernels have. */
#include <string.h>

#include "run/run.h"

typedef struct call {
    const kj_expr *e;
    const kj_item *fn;
    kj_rvalue args[KJ_LAZY_OPERANDS];
    kj_dtype types[KJ_LAZY_OPERANDS]; /* of the parameters */
    bool given[KJ_LAZY_OPERANDS];
    int n;
    bool arrays;
} call;

/* ---- Types ---- */

/* That of a type parameter: what its arguments have in common, where numbers meet arrays as literals do,
 * and are what they are without. KJ_VOID after a failure. */
static kj_dtype generic_type(kj_run *r, const call *c, const char *name)
{
    kj_rvalue of[KJ_LAZY_OPERANDS];
    kj_dtype type = KJ_VOID;
    int n = 0, i = 0;
    bool arrays = false;
    char what[80];
    for (const kj_param_decl *p = c->fn->params; p; p = p->next, i++) {
        if (strcmp(p->type->name, name) == 0) {
            arrays |= kj_is_array(c->args[i]);
            of[n++] = c->args[i];
        }
    }
    kj_snprintf(what, sizeof what, "'%s'", name);
    if (arrays)
        return kj_lazy_unify(r, c->e->span, what, of, n, &type) ? type : KJ_VOID;
    bool complex = false;
    for (i = 0; i < n; i++)
        complex |= kj_run_is_complex(of[i]);
    if (complex)
        return KJ_C128;
    return kj_run_meet_alone(r, c->e->span, what, of, n, &type) ? type : KJ_VOID;
}

/* KJ_VOID after a failure. */
static kj_dtype type_of(kj_run *r, const call *c, const kj_type_ref *ref)
{
    const kj_generic *g = c->fn->generics;
    while (g && strcmp(g->name, ref->name) != 0)
        g = g->next;
    if (!g)
        return kj_type_named(ref->name);
    kj_dtype type = generic_type(r, c, ref->name);
    if (type == KJ_VOID || kj_type_in_bound(type, g->bound))
        return type;
    kj_run_fail(r, KJIT_TYPE, c->e->span, "'%s' of '%s' is no %s", g->name, c->fn->name,
                kj_type_name(type));
    kj_run_hint(r, "it is declared as <%s: %s>", g->name, g->bound);
    return KJ_VOID;
}

/* ---- Arguments ---- */

static bool fits(kj_rvalue v, kj_dtype to)
{
    if (kj_is_array(v) && !kj_lazy_is_untyped(v))
        return kj_converts(kj_lazy_type(v), to);
    if (kj_is_array(v))
        return kj_lazy_holds(to, v);
    if (v.kind == KJ_R_BOOL || to == KJ_BOOL)
        return v.kind == KJ_R_BOOL && to == KJ_BOOL;
    if (kj_run_is_complex(v))
        return kj_is_complex_type(to) && kj_run_parts_fit(v, kj_aggregate_of(to)->elem);
    if (kj_is_complex_type(to))
        to = kj_aggregate_of(to)->elem;
    return (kj_is_float(to) || v.kind == KJ_R_INT) && kj_value_fits(kj_run_to_value(v), to);
}

static bool eval_argument(kj_run *r, call *c, const kj_expr *arg, int place)
{
    kj_rvalue v;
    if (!kj_run_eval_lazily(r, arg, &v))
        return false;
    if (v.kind == KJ_R_ARRAY) {
        kj_rvalue whole = v;
        if (!kj_run_numbers(r, arg->span, whole, &v))
            return false;
        kj_run_drop(&whole);
    }
    if (!kj_is_array(v) && !kj_run_is_number(v) && !kj_run_is_complex(v)) {
        kj_run_fail(r, KJIT_TYPE, arg->span, "a function works on numbers and arrays, not on %s",
                    kj_run_kind_name(v));
        return v.kind == KJ_R_LIST || v.kind == KJ_R_TUPLE
                   ? kj_run_hint(r, "array(...) makes an array of it")
                   : false;
    }
    c->arrays |= kj_is_array(v);
    c->args[place] = v;
    c->given[place] = true;
    return true;
}

static bool check_argument(kj_run *r, call *c, const kj_expr *arg, const kj_param_decl *p, int i)
{
    char text[48];
    c->types[i] = type_of(r, c, p->type);
    if (c->types[i] == KJ_VOID)
        return false;
    if (fits(c->args[i], c->types[i]))
        return true;
    bool complex = kj_run_is_complex(c->args[i]) && kj_is_complex_type(c->types[i]);
    bool number = complex || (kj_run_is_number(c->args[i]) && c->args[i].kind != KJ_R_BOOL);
    bool beyond = number && kj_is_float(c->types[i]) == (c->args[i].kind == KJ_R_FLOAT);
    kj_run_fail(r, KJIT_TYPE, arg->span, "parameter '%s' of '%s' is %s, not %s", p->name,
                c->fn->name, kj_type_name(c->types[i]),
                number ? kj_run_short(c->args[i]).text : kj_lazy_describe(c->args[i], text));
    return beyond || kj_run_is_complex(c->args[i])
               ? false
               : kj_run_hint(r, "convert it: %s(...)", kj_type_name(c->types[i]));
}

/* ---- Results ---- */

static bool result(kj_run *r, const call *c, const kj_type_ref *ref, int part, kj_rvalue *out)
{
    kj_dtype type = type_of(r, c, ref);
    kj_lazy e = kj_lazy_node(KJ_X_CALL, type, c->args, c->n, KJ_VOID);
    kj_rvalue one;
    e.function = c->fn;
    e.part = part;
    memcpy(e.types, c->types, sizeof e.types);
    if (!c->arrays) {
        e.ndim = 1;
        e.shape[0] = 1;
    }
    if (type == KJ_VOID || !kj_lazy_make(r, c->e->span, &e, out))
        return false;
    if (c->arrays)
        return true;
    bool ok = kj_lazy_finish(r, c->e->span, out) && kj_run_settle(r, c->e->span) &&
              kj_run_item(r, c->e->span, *out, 0, &one);
    kj_run_drop(out);
    if (ok)
        *out = one;
    return ok;
}

static bool results(kj_run *r, const call *c, kj_rvalue *out)
{
    const kj_type_ref *part = c->fn->type->parts;
    int n = 0;
    if (!part)
        return result(r, c, c->fn->type, -1, out);
    for (const kj_type_ref *p = part; p; p = p->next)
        n++;
    if (!kj_run_sequence(r, c->e->span, KJ_R_TUPLE, n, out))
        return false;
    for (int i = 0; i < n; i++, part = part->next)
        if (!result(r, c, part, i, &out->u.object->u.seq.items[i]))
            return false;
    return true;
}

bool kj_run_function(kj_run *r, const kj_expr *e, const kj_item *fn, kj_rvalue *out)
{
    call c = {.e = e, .fn = fn};
    const kj_expr *from[KJ_LAZY_OPERANDS] = {NULL};
    bool ok = true;
    int i = 0;
    for (const kj_expr *arg = e->u.call.args; ok && arg; arg = arg->next, i++) {
        int place = kj_param_of(fn, arg, i);
        from[place] = arg;
        ok = eval_argument(r, &c, arg, place);
    }
    for (const kj_param_decl *p = fn->params; p; p = p->next, c.n++) {
        if (ok && !c.given[c.n]) {
            from[c.n] = p->init;
            ok = c.given[c.n] = kj_run_default(r, p, &c.args[c.n]);
        }
    }
    i = 0;
    for (const kj_param_decl *p = fn->params; ok && p; p = p->next, i++)
        ok = check_argument(r, &c, from[i], p, i);
    ok = ok && results(r, &c, out);
    for (i = 0; i < c.n; i++)
        if (c.given[i])
            kj_run_drop(&c.args[i]);
    return ok;
}
