/* What is an f32 since nothing in it asked for more, and is then used as an f64: 0.1, i / n, sin(2 * pi * i / n). */
#include <math.h>
#include <string.h>

#include "sema/node/node.h"

bool kj_loses_digits(double x)
{
    char shortest[32];
    if (!isfinite(x))
        return false;
    for (int digits = 1; digits <= 9; digits++) {
        kj_snprintf(shortest, sizeof shortest, "%.*g", digits, x);
        if ((float)kj_strtod(shortest, NULL) == (float)x)
            break;
    }
    return kj_strtod(shortest, NULL) != x;
}

/* Numbers alone were given to it, and that it is an f32 is not its name: f32_rd's is. */
static bool is_call_of_literals(const kj_sema *s, const kj_texpr *e)
{
    int floats = 0;
    for (int i = 0; i < e->u.call.nargs; i++) {
        const kj_texpr *a = e->u.call.args[i];
        if (kj_is_float(a->type) && !kj_of_literals(s, a))
            return false;
        floats += kj_is_float(a->type);
    }
    return floats > 0 && kj_builtins[e->u.call.id].signature[0] != 's';
}

bool kj_of_literals(const kj_sema *s, const kj_texpr *e)
{
    if (e->written || e->type != KJ_F32)
        return false;
    switch (e->kind) {
    case KJ_TE_CONST: return true;
    case KJ_TE_VAR: return s->vars[e->u.var->id].of_literals;
    case KJ_TE_CONVERT: return kj_is_int(e->u.unary.arg->type);
    case KJ_TE_UNARY: return kj_of_literals(s, e->u.unary.arg);
    case KJ_TE_BINARY:
        return kj_of_literals(s, e->u.binary.lhs) && kj_of_literals(s, e->u.binary.rhs);
    case KJ_TE_FMA:
        return kj_of_literals(s, e->u.fma.a) && kj_of_literals(s, e->u.fma.b) &&
               kj_of_literals(s, e->u.fma.c);
    case KJ_TE_CALL: return is_call_of_literals(s, e);
    case KJ_TE_LOAD: return e->u.load.array->root->narrow;
    case KJ_TE_SELECT: /* a tuple's item, by an index that the thread knows */
        return kj_of_literals(s, e->u.select.yes) && kj_of_literals(s, e->u.select.no);
    default: return false;
    }
}

static kj_texpr *asked_for(kj_sema *s, const kj_texpr *e)
{
    kj_texpr *own = kj_te(s, e->kind, e->type, e->span);
    *own = *e;
    own->written = true;
    return own;
}

kj_operand kj_asked_for(kj_sema *s, kj_operand v)
{
    if (v.kind == KJ_V_SCALAR && !kj_is_const(v.u.scalar.e) && kj_of_literals(s, v.u.scalar.e)) {
        v.u.scalar.e = asked_for(s, v.u.scalar.e);
        if (v.u.scalar.a)
            v.u.scalar.a = asked_for(s, v.u.scalar.a);
    }
    return v;
}

/* Is what it gives one of its arguments, or a whole number? */
static bool is_exact(kj_builtin id)
{
    switch (id) {
    case KJ_BI_MIN:
    case KJ_BI_MAX:
    case KJ_BI_ABS:
    case KJ_BI_FABS:
    case KJ_BI_CLAMP:
    case KJ_BI_SATURATE:
    case KJ_BI_SIGN:
    case KJ_BI_SELP:
    case KJ_BI_COPYSIGN:
    case KJ_BI_FLOOR:
    case KJ_BI_CEIL:
    case KJ_BI_TRUNC:
    case KJ_BI_RINT:
    case KJ_BI_ROUND: return true;
    default: return false;
    }
}

static bool variable_keeps_digits(const kj_sema *s, const kj_var *v)
{
    kj_digits *d = s->vars[v->id].digits;
    if (d && !d->lost)
        d->asked = true;
    return d ? !d->lost : s->vars[v->id].exact;
}

static bool call_keeps_digits(const kj_sema *s, const kj_texpr *e)
{
    bool keeps = is_exact(e->u.call.id);
    for (int i = 0; i < e->u.call.nargs; i++)
        keeps &= !kj_is_float(e->u.call.args[i]->type) || kj_keeps_digits(s, e->u.call.args[i]);
    return keeps;
}

bool kj_keeps_digits(const kj_sema *s, const kj_texpr *e)
{
    switch (e->kind) {
    case KJ_TE_CONST: return !kj_is_float(e->type) || !kj_loses_digits(e->u.value.f);
    case KJ_TE_VAR: return variable_keeps_digits(s, e->u.var);
    case KJ_TE_UNARY: return kj_keeps_digits(s, e->u.unary.arg);
    case KJ_TE_CALL: return call_keeps_digits(s, e);
    case KJ_TE_SELECT:
        return kj_keeps_digits(s, e->u.select.yes) && kj_keeps_digits(s, e->u.select.no);
    default: return false;
    }
}

void kj_note_literals(kj_sema *s, const kj_var *v, const kj_texpr *e)
{
    s->vars[v->id].of_literals = kj_of_literals(s, e);
    s->vars[v->id].exact = s->vars[v->id].of_literals && kj_keeps_digits(s, e);
}

static bool loses_digits(const kj_sema *s, const kj_texpr *e);

static bool call_loses_digits(const kj_sema *s, const kj_texpr *e)
{
    bool loses = !is_exact(e->u.call.id);
    for (int i = 0; i < e->u.call.nargs; i++)
        loses |= kj_is_float(e->u.call.args[i]->type) && loses_digits(s, e->u.call.args[i]);
    return loses;
}

/* Would it have other digits, were it computed in f64? */
static bool loses_digits(const kj_sema *s, const kj_texpr *e)
{
    switch (e->kind) {
    case KJ_TE_CONST: return kj_loses_digits(e->u.value.f);
    case KJ_TE_VAR: return !variable_keeps_digits(s, e->u.var);
    case KJ_TE_LOAD: return true;
    case KJ_TE_UNARY: return loses_digits(s, e->u.unary.arg);
    case KJ_TE_BINARY:
        return e->u.binary.op == KJ_OP_DIV || loses_digits(s, e->u.binary.lhs) ||
               loses_digits(s, e->u.binary.rhs);
    case KJ_TE_FMA:
        return loses_digits(s, e->u.fma.a) || loses_digits(s, e->u.fma.b) ||
               loses_digits(s, e->u.fma.c);
    case KJ_TE_CALL: return call_loses_digits(s, e);
    case KJ_TE_SELECT: return loses_digits(s, e->u.select.yes) || loses_digits(s, e->u.select.no);
    default: return false;
    }
}

static bool is_number_in_source(const kj_sema *s, kj_span span)
{
    const char *text = s->diag->source->text + span.begin;
    size_t len = span.end > span.begin ? span.end - span.begin : 0;
    return len > 0 && (*text == '.' || (*text >= '0' && *text <= '9')) &&
           strspn(text, "0123456789._eE") >= len;
}

static bool is_leaf(const kj_texpr *e)
{
    return e->kind == KJ_TE_CONST || e->kind == KJ_TE_CONVERT;
}

static const kj_texpr *deciding_number(const kj_sema *s, const kj_texpr *e);

/* Of the operands of one: what is computed decides, else a literal, else an integer; NULL: no single one does. */
static const kj_texpr *deciding_operand(const kj_sema *s, kj_texpr *const *of, int n)
{
    const kj_texpr *computed = NULL, *literal = NULL, *integer = NULL;
    for (int i = 0; i < n; i++) {
        const kj_texpr *e = kj_is_float(of[i]->type) ? of[i] : NULL;
        if (e && !is_leaf(e) && computed)
            return NULL;
        if (e && !is_leaf(e))
            computed = e;
        else if (e && e->kind == KJ_TE_CONVERT)
            integer = integer ? integer : e;
        else if (e && is_number_in_source(s, e->span))
            literal = literal ? literal : e;
    }
    return computed ? deciding_number(s, computed) : literal ? literal : integer;
}

/* The literal or the integer that makes all of e an f64 when it is one. */
static const kj_texpr *deciding_number(const kj_sema *s, const kj_texpr *e)
{
    switch (e->kind) {
    case KJ_TE_CONST: return is_number_in_source(s, e->span) ? e : NULL;
    case KJ_TE_CONVERT: return e;
    case KJ_TE_UNARY: return deciding_number(s, e->u.unary.arg);
    case KJ_TE_BINARY:
        return deciding_operand(s, (kj_texpr *[]){e->u.binary.lhs, e->u.binary.rhs}, 2);
    case KJ_TE_FMA: /* the sum is as exact as the product */
        return is_leaf(e->u.fma.c) ? deciding_operand(s, (kj_texpr *[]){e->u.fma.a, e->u.fma.b}, 2)
                                   : NULL;
    case KJ_TE_CALL: return deciding_operand(s, e->u.call.args, e->u.call.nargs);
    default: return NULL;
    }
}

/* Is it the value of a parameter, which stands in a call or in the function's header? */
static bool is_passed(const kj_texpr *a)
{
    return kj_is_const(a) && a->u.from.begin != a->span.begin;
}

static void warn_of_passed(kj_sema *s, const kj_texpr *a, kj_span used)
{
    kj_message *m = kj_warn(s->diag, a->u.from, KJ_RULE_NARROW_LITERAL,
                            "this constant has the 7 digits of f32, and is used as an f64");
    kj_hint(s->diag, m, "let the parameter be an f64; where f32 is meant, write f32(%s)",
            kj_source_text(s, a->u.from, "..."));
    kj_note(s->diag, m, used, "it is used here");
}

void kj_warn_of_digits(kj_sema *s, const kj_texpr *a, kj_dtype to, kj_span span)
{
    if (to != KJ_F64 || !kj_of_literals(s, a) || !kj_warns(s->diag, KJ_RULE_NARROW_LITERAL) ||
        !loses_digits(s, a))
        return;
    if (is_passed(a)) {
        warn_of_passed(s, a, span);
        return;
    }
    const kj_texpr *number = kj_is_const(a) ? NULL : deciding_number(s, a);
    kj_message *m =
        kj_warn(s->diag, span, KJ_RULE_NARROW_LITERAL,
                kj_is_const(a) ? "this constant has the 7 digits of f32, and is used as an f64"
                               : "this has the 7 digits of f32, as its numbers met no other "
                                 "type, and is used as an f64");
    if (number && !(s->frame && s->frame->bindings)) {
        const char *text = kj_source_text(s, number->span, "...");
        kj_hint(s->diag, m, "write f64(%s) in it; where f32 is meant, f32(...)", text);
        kj_fix(s->diag, m, number->span, "f64(%s)", text);
        return;
    }
    if (a->kind == KJ_TE_LOAD) {
        const kj_tarray *list = a->u.load.array->root;
        kj_hint(s->diag, m, "write const %s: f64[%.*s] = ...; where f32 is meant, f32[%.*s]",
                list->name, list->ndim - 1, ",,,,,", list->ndim - 1, ",,,,,");
        return;
    }
    kj_hint(s->diag, m,
            kj_is_const(a)
                ? "let it have no type before, or f64; where f32 is meant, write f32(...)"
                : "write f64(...) of a number in it; where f32 is meant, f32(...)");
}
