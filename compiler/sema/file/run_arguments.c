/* Arguments of run blocks' functions that are certainly wrong: extents that are no tuple, and what is no type where one is
 * taken. In: calls whose arguments were looked at; out: errors. Of what is known only when it runs the runtime says the
 * same (run/value/args.c). */
#include <string.h>

#include "sema/file/file.h"

/* The arguments that stand by place from `first` on, up to a type or a name; `ints`: how many of them are known to be. */
static int by_place(kj_sema *s, const kj_expr *first, int *ints)
{
    int n = 0;
    *ints = 0;
    for (; first && !first->keyword; first = first->next, n++) {
        kj_rkind kind = kj_run_known(s, first).kind;
        if (kind == KJ_R_DTYPE)
            return n;
        if (kind != KJ_R_INT && kind != KJ_R_NONE)
            return n + 1; /* which is no extent */
        *ints += kind == KJ_R_INT;
    }
    return n;
}

/* random.normal(0, 1): 0 is no extent that is meant. */
static bool is_none(kj_sema *s, const kj_expr *e)
{
    kj_known k = kj_run_known(s, e);
    return k.kind == KJ_R_INT && k.literal && k.value < 1;
}

static const kj_expr *argument(const kj_expr *call, int i)
{
    const kj_expr *arg = call->u.call.args;
    for (; arg && !arg->keyword && i > 0; i--)
        arg = arg->next;
    return arg && !arg->keyword ? arg : NULL;
}

/* zeros(n, 4), full(3, 4, 0.5): the first and last of the extents; false: that is not what it is. */
static bool find_extents(kj_sema *s, const kj_expr *call, const kj_run_signature *known,
                         const kj_expr **first, const kj_expr **last)
{
    int shape = kj_run_parameter_named(known, "shape"), ints;
    bool value = kj_run_parameter_named(known, "value") == shape + 1;
    *first = *last = shape < 0 ? NULL : argument(call, shape);
    int n = by_place(s, *first, &ints) - value;
    if (n < 2 || n > KJ_MAX_NDIM || ints == 0 || is_none(s, *first))
        return false;
    for (int i = 1; i < n; i++)
        *last = (*last)->next;
    kj_rkind kind = kj_run_known(s, *last).kind;
    /* a third number may be a seed */
    return (kind == KJ_R_INT || kind == KJ_R_NONE) && (n == 2 || value || known->most == 2);
}

static void write_extents(kj_sema *s, kj_message *m, const kj_expr *call, const kj_expr *first,
                          const kj_expr *last)
{
    kj_span extents = {first->span.begin, last->span.end};
    const char *text = s->diag->source->text, *of = kj_source_text(s, extents, "");
    if (!*of) {
        kj_hint(s->diag, m, "a shape of several axes is a tuple: (3, 4)");
        return;
    }
    kj_hint(s->diag, m, "write %.*s(%s)%.*s", (int)(extents.begin - call->span.begin),
            text + call->span.begin, of, (int)(call->span.end - extents.end), text + extents.end);
    kj_fix(s->diag, m, extents, "(%s)", of);
}

bool kj_sema_run_extents(kj_sema *s, const kj_expr *call, const kj_run_signature *known)
{
    const kj_expr *first, *last;
    int given = kj_count(call->u.call.args);
    if (known->rest || given <= known->most || !find_extents(s, call, known, &first, &last))
        return false;
    kj_message *m =
        kj_sema_error(s, call->span, KJ_RULE_ARGUMENT_COUNT, "a shape of several axes is a tuple");
    write_extents(s, m, call, first, last);
    return true;
}

/* What is given for the parameter dtype, by name or place, and known to be no type; NULL: nothing. */
static const kj_expr *no_type(kj_sema *s, const kj_expr *call, const kj_run_signature *known)
{
    int dtype = kj_run_parameter_named(known, "dtype"), place = 0;
    for (const kj_expr *arg = call->u.call.args; arg && dtype >= 0; arg = arg->next) {
        kj_rkind kind = kj_run_known(s, arg).kind;
        if (kind == KJ_R_NONE && !arg->keyword)
            return NULL; /* it may be a type */
        bool given = arg->keyword ? kj_run_parameter_named(known, arg->keyword) == dtype
                                  : place == dtype && kind != KJ_R_DTYPE;
        if (given)
            return kind == KJ_R_DTYPE || kind == KJ_R_NONE ? NULL : arg;
        place += !arg->keyword && kind != KJ_R_DTYPE;
    }
    return NULL;
}

void kj_sema_run_dtype(kj_sema *s, const kj_expr *call, const char *called, const char *signature)
{
    const kj_run_signature own = kj_run_signature_of(signature), *known = &own;
    const kj_expr *arg = no_type(s, call, known), *first, *last;
    if (!arg)
        return;
    kj_rkind kind = kj_run_known(s, arg).kind;
    kj_message *m = kj_sema_error(s, arg->span, KJ_RULE_TYPE_MISMATCH,
                                  "'dtype' of %s is a type, not %s", called, kj_rkind_name(kind));
    const char *type = arg->kind == KJ_E_STRING ? kj_type_meant(arg->u.string.text) : NULL;
    if (!arg->keyword && find_extents(s, call, known, &first, &last))
        write_extents(s, m, call, first, last);
    else if (type)
        kj_write(s->diag, m, arg->span, "%s", type);
    else if (kind == KJ_R_INT)
        kj_hint(s->diag, m, "%s%s", called, signature);
    else
        kj_hint(s->diag, m, "types are f32, f64, i32, u8, bool, ...");
}

void kj_sema_run_swap(kj_sema *s, const kj_expr *e)
{
    const kj_expr *a = e->u.call.args, *b = a ? a->next : NULL;
    for (const kj_expr *arg = a; arg; arg = arg->next) {
        if (arg->kind == KJ_E_NAME)
            continue;
        kj_message *m =
            kj_sema_error(s, arg->span, KJ_RULE_CALL,
                          "swap exchanges what two names stand for, and this is no name");
        if (b && !b->next && b->kind == KJ_E_INDEX && a->kind == KJ_E_INDEX) {
            const char *x = kj_source_text(s, a->span, "a"), *y = kj_source_text(s, b->span, "b");
            kj_write(s->diag, m, e->span, "%s, %s = %s, %s", x, y, y, x);
            return;
        }
    }
}
