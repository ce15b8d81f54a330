/* Implicit conversions of operands, and what a place asks of them: a condition, an index, a size, a
 * value of the type that is assigned. */
#include <string.h>

#include "sema/value/value.h"

/* The one generic that is the type in this instance; NULL: none, or several. */
static const char *generic_of(const kj_sema *s, kj_dtype t)
{
    const char *found = NULL;
    const kj_generic *g = s->frame && s->frame->item ? s->frame->item->generics : NULL;
    for (; g; g = g->next) {
        const kj_symbol *sym = kj_scope_find(s->scope, g->name);
        if (!sym || sym->kind != KJ_SYM_TYPE || sym->type != t)
            continue;
        if (found)
            return NULL;
        found = g->name;
    }
    return found;
}

/* Does the kernel or function name the type, or is it there for what the generic one stands for alone? */
static bool is_written(const kj_sema *s, kj_dtype t)
{
    const kj_span item = s->frame->item->span;
    const char *name = kj_sema_type_name(s, t), *text = s->diag->source->text;
    const char *at = text + item.begin, *end = text + item.end;
    for (size_t n = strlen(name); (at = strstr(at, name)) && at < end; at += n)
        if (!kj_is_word(at[-1]) && !kj_is_word(at[n]) && at[n] != '(')
            return true;
    return false;
}

/* "f32(x)" with the source's own text where that is short. */
static const char *conversion(kj_sema *s, kj_dtype to, kj_span span)
{
    const char *text = kj_source_text(s, span, "..."), *generic = generic_of(s, to);
    const char *plain = kj_arena_printf(s->diag->arena, "%s(%s)", kj_sema_type_name(s, to), text);
    if (generic && !is_written(s, to))
        return kj_arena_printf(s->diag->arena, "%s(%s)", generic, text);
    return generic ? kj_arena_printf(s->diag->arena, "%s, or %s(%s) where %s is meant", plain,
                                     generic, text, generic)
                   : plain;
}

/* An operand of a product in that type. */
static const char *factor(kj_sema *s, const kj_texpr *e, kj_dtype to, bool as_it_stands)
{
    const char *text = kj_source_text(s, e->span, NULL);
    if (!text || as_it_stands)
        return text;
    return kj_arena_printf(s->diag->arena, "%s(%s)", kj_type_name(to), text);
}

const char *kj_widened_text(kj_sema *s, const kj_texpr *e, kj_dtype to)
{
    kj_op op = e->kind == KJ_TE_BINARY ? e->u.binary.op : KJ_NOPS;
    bool shift = op == KJ_OP_SHL;
    if ((op != KJ_OP_MUL && !shift) || !kj_is_int(to) ||
        kj_types[to].bits <= kj_types[e->type].bits || !kj_source_text(s, e->span, NULL) ||
        generic_of(s, to))
        return NULL;
    const kj_texpr *a = e->u.binary.lhs, *b = e->u.binary.rhs;
    kj_span between = {a->span.end, b->span.begin};
    if (a->span.begin != e->span.begin || b->span.end != e->span.end ||
        between.end <= between.begin)
        return NULL; /* with parentheses around a side */
    bool both = kj_common_type(to, b->type) == KJ_VOID;
    bool first = !kj_is_const(a) || shift, second = !shift && !kj_is_const(b) && (both || !first);
    const char *x = factor(s, a, to, !first), *y = factor(s, b, to, !second);
    const char *middle = kj_source_text(s, between, NULL);
    return x && y && middle ? kj_arena_printf(s->diag->arena, "%s%s%s", x, middle, y) : NULL;
}

/* Says how the value is converted. */
static void write_conversion(kj_sema *s, kj_message *m, kj_dtype to, kj_span span, const char *why)
{
    const char *generic = generic_of(s, to), *own = kj_sema_type_name(s, to);
    kj_hint(s->diag, m, "write %s%s", conversion(s, to, span), why);
    if (span.end > span.begin && span.end <= s->diag->source->size)
        kj_fix(s->diag, m, span, "%s(%.*s)", generic && !is_written(s, to) ? generic : own,
               (int)(span.end - span.begin), s->diag->source->text + span.begin);
}

/* inf for an integer: its type's end, but for the one that no literal is as low as. */
static void write_end(kj_sema *s, kj_message *m, kj_dtype to, kj_span span, kj_value lit)
{
    const char *end = kj_literal_text(s, kj_fold_convert(lit, to)), *name = kj_type_name(to);
    if (lit.f < 0 && to == KJ_I64)
        end = "i64(-9223372036854775807 - 1)";
    kj_hint(s->diag, m, "write %s, the %s %s", end, lit.f < 0 ? "least" : "largest", name);
    kj_fix(s->diag, m, span, "%s", end);
}

static kj_texpr *coerce_literal(kj_sema *s, const kj_operand *v, kj_dtype to, const char *what)
{
    kj_value lit = v->u.literal;
    bool is_real = kj_is_float(lit.type);
    if (to == KJ_BOOL) {
        kj_message *m =
            kj_sema_error(s, v->span, KJ_RULE_TYPE_MISMATCH, "%s is bool, not a number", what);
        if (!kj_hint_unbounded(s, m, "number"))
            kj_hint(s->diag, m, "write true, false, or a comparison");
        return NULL;
    }
    if (is_real && !kj_is_float(to)) {
        kj_message *m =
            kj_sema_error(s, v->span, KJ_RULE_TYPE_MISMATCH, "%s is %s, and %s is a float", what,
                          kj_type_name(to), kj_literal_text(s, lit));
        if (lit.f != lit.f)
            kj_hint(s->diag, m,
                    "an integer is never nan: another number stands for what is missing");
        else if (lit.f - lit.f != 0) /* infinite */
            write_end(s, m, to, v->span, lit);
        else if (kj_value_fits(lit, KJ_I64))
            kj_write(s->diag, m, v->span, "%lld", (long long)kj_fold_convert(lit, KJ_I64).i);
        else
            write_conversion(s, m, to, v->span, " to cut the fraction off");
        return NULL;
    }
    if (!kj_value_fits(lit, to)) {
        kj_message *m = kj_sema_error(s, v->span, KJ_RULE_CONSTANT_RANGE, "%s does not fit %s",
                                      kj_literal_text(s, lit), kj_type_name(to));
        kj_value wrapped = kj_fold_convert(lit, to);
        if (kj_is_float(to))
            kj_hint(s->diag, m, to == KJ_F16 ? "f16 reaches 65504" : "f64 reaches about 1.8e308");
        else
            kj_hint(s->diag, m, "%s is %s", conversion(s, to, v->span),
                    kj_literal_text(s, wrapped));
        return NULL;
    }
    return kj_te_const(s, kj_fold_convert(lit, to), v->span);
}

/* n *= 0.5: converted is what comes of it, not what n is multiplied by. False where a place would be computed twice. */
static bool write_update(kj_sema *s, kj_message *m, const kj_operand *v, kj_dtype to)
{
    const kj_stmt *st = s->updates;
    kj_span value = st ? st->u.assign.value->span : (kj_span){0, 0};
    if (!st || value.begin != v->span.begin || value.end != v->span.end || !kj_is_int(to))
        return false;
    const char *target = kj_source_text(s, st->u.assign.targets->span, "");
    if (!*target || strchr(target, '('))
        return false;
    const char *own = kj_sema_type_name(s, to), *generic = generic_of(s, to);
    const char *sum =
        kj_arena_printf(s->diag->arena, "%s %s %s", target, kj_ops[st->u.assign.op].spelling,
                        kj_operand_text(s, value, "..."));
    if (generic && is_written(s, to)) {
        kj_hint(s->diag, m, "write %s = %s(%s), or %s(...) where %s is meant", target, own, sum,
                generic, generic);
        kj_fix(s->diag, m, st->span, "%s = %s(%s)", target, generic, sum);
    } else if (generic) {
        kj_write(s->diag, m, st->span, "%s = %s(%s)", target, generic, sum);
    } else {
        kj_write(s->diag, m, st->span, "%s = %s(%s)", target, own, sum);
    }
    return true;
}

static void mismatch(kj_sema *s, const kj_operand *v, kj_dtype to, const char *what)
{
    kj_dtype from = v->u.scalar.e->type;
    bool cuts = kj_is_float(from) && !kj_is_float(to);
    const char *wide = NULL;
    kj_message *m = kj_sema_error(s, v->span, KJ_RULE_TYPE_MISMATCH, "%s is %s, not %s", what,
                                  kj_type_name(to), kj_type_name(from));
    if (to == KJ_BOOL)
        kj_write(s->diag, m, v->span, "%s != 0", kj_operand_text(s, v->span, "..."));
    else if (!cuts && (wide = kj_widened_text(s, v->u.scalar.e, to)))
        kj_write(s->diag, m, v->span, "%s", wide);
    else if (!kj_is_float(from) || !write_update(s, m, v, to))
        write_conversion(s, m, to, v->span, "");
    if (!m->note)
        kj_note_open(s, m, v);
}

void kj_hint_tuple_part(kj_sema *s, kj_message *m, const kj_operand *v)
{
    const char *text = kj_source_text(s, v->span, ""), *comma = kj_decimal_comma(text);
    bool bracketed = text[0] == '(' || !strchr(text, ',');
    if (comma && v->u.tuple.n == 2)
        kj_write(s->diag, m, v->span, "%.*s.%s", (int)(comma - text), text, comma + 1);
    else if (!v->u.tuple.of)
        kj_hint(s->diag, m, bracketed ? "a part of it is %s[0]" : "a part of it is (%s)[0]",
                *text ? text : "...");
}

kj_texpr *kj_coerce(kj_sema *s, kj_operand v, kj_dtype to, const char *what)
{
    if (v.kind == KJ_V_ERROR || to == KJ_VOID)
        return NULL;
    if (v.kind == KJ_V_LITERAL)
        return coerce_literal(s, &v, to, what);
    if (v.kind == KJ_V_CHOICE)
        return kj_coerce_choice(s, &v, to, what);
    if (v.kind != KJ_V_SCALAR) {
        kj_message *m = kj_sema_error(s, v.span, KJ_RULE_TYPE_MISMATCH, "%s is %s, not %s", what,
                                      kj_type_name(to), kj_describe(s, &v));
        const kj_tarray *a = v.kind == KJ_V_ARRAY ? v.u.array : NULL, *root = a ? a->root : NULL;
        if (a && a->elem != root->elem) /* p[0].v */
            kj_hint(s->diag, m, "an element of it is %s[%.*s]", kj_operand_text(s, v.span, "..."),
                    a->ndim * 3 - 2, "i, j, k, l, m, n");
        else if (root)
            kj_hint(s->diag, m, "an element of '%s' has %d %s", root->name, root->ndim,
                    root->ndim == 1 ? "index" : "indices");
        if (v.kind == KJ_V_TUPLE)
            kj_hint_tuple_part(s, m, &v);
        if (kj_is_complex(&v))
            kj_hint(s->diag, m, "write abs(%s), or its .real or .imag",
                    kj_source_text(s, v.span, "..."));
        return NULL;
    }
    if (!kj_converts(v.u.scalar.e->type, to)) {
        mismatch(s, &v, to, what);
        return NULL;
    }
    return kj_te_convert(s, v.u.scalar.e, to, v.span);
}

static kj_operand coerce_array(kj_sema *s, kj_operand v, const kj_type *to, const char *what)
{
    if (v.kind == KJ_V_ARRAY && v.u.array->elem == to->dtype && v.u.array->ndim == to->ndim)
        return v;
    kj_message *m = kj_sema_error(s, v.span, KJ_RULE_TYPE_MISMATCH, "%s is %s, not %s", what,
                                  kj_array_type(s, to->dtype, to->ndim), kj_describe(s, &v));
    if (v.kind == KJ_V_ARRAY && v.u.array->ndim > to->ndim && v.u.array->elem == to->dtype)
        kj_hint(s->diag, m, "an index or ':' an axis makes a view with fewer axes, as in a[i, :]");
    kj_hint_of_held(s, m, &v);
    return kj_no_value(v.span);
}

kj_operand kj_coerce_type(kj_sema *s, kj_operand v, const kj_type *to, const char *what)
{
    if (v.kind == KJ_V_ERROR || to->kind == KJ_T_ERROR || to->kind == KJ_T_NONE)
        return kj_no_value(v.span);
    if (to->kind == KJ_T_SCALAR)
        return kj_scalar(kj_coerce(s, v, to->dtype, what));
    if (to->kind == KJ_T_AGGREGATE)
        return kj_coerce_aggregate(s, v, to->of, what);
    if (to->kind == KJ_T_ARRAY)
        return coerce_array(s, v, to, what);
    if (v.kind != KJ_V_TUPLE || v.u.tuple.n != to->n) {
        kj_sema_error(s, v.span, KJ_RULE_TUPLE_ARITY, "%s is a tuple of %d, not %s", what, to->n,
                      kj_describe(s, &v));
        return kj_no_value(v.span);
    }
    kj_operand *items = KJ_NEW_ARRAY(s->arena, kj_operand, (size_t)to->n + 1);
    for (int i = 0; i < to->n; i++) {
        const char *part = kj_arena_printf(s->diag->arena, "part %d of %s", i, what);
        items[i] = kj_coerce_type(s, v.u.tuple.items[i], &to->parts[i], part);
        if (items[i].kind == KJ_V_ERROR)
            return kj_no_value(v.span);
    }
    v.u.tuple.items = items;
    return v;
}

kj_operand kj_settle(kj_sema *s, kj_operand v)
{
    if (kj_is_complex(&v) && v.u.tuple.of == &kj_complex_literal)
        return kj_coerce_aggregate(s, v, kj_complex_of(KJ_F32), "this");
    if (kj_is_untyped(&v))
        return kj_scalar(kj_coerce(s, v, kj_untyped_type(&v), "this"));
    if (v.kind == KJ_V_SCALAR)
        return kj_scalar(v.u.scalar.e); /* no longer a product written right here */
    if (v.kind == KJ_V_TUPLE) {
        kj_operand *items = KJ_NEW_ARRAY(s->arena, kj_operand, (size_t)v.u.tuple.n + 1);
        for (int i = 0; i < v.u.tuple.n; i++) {
            items[i] = kj_settle(s, v.u.tuple.items[i]);
            if (items[i].kind == KJ_V_ERROR)
                return kj_no_value(v.span);
        }
        v.u.tuple.items = items;
    }
    return v;
}

/* `while 1` */
static void hint_truth(kj_sema *s, kj_message *m, const kj_operand *v, const char *what)
{
    bool number = v->kind == KJ_V_LITERAL && !kj_is_float(v->u.literal.type);
    const char *sign = strstr(what, "'and'") ? "&" : strstr(what, "'or'") ? "|" : NULL;
    if (number && v->u.literal.u <= 1)
        kj_write(s->diag, m, v->span, "%s", v->u.literal.u ? "true" : "false");
    else if (number && sign)
        kj_hint(s->diag, m,
                "write true, which all numbers but 0 are elsewhere; bits are joined by '%s'", sign);
    else if (v->kind == KJ_V_LITERAL)
        kj_hint(s->diag, m, "write true, which all numbers but 0 are elsewhere");
    else
        kj_hint(s->diag, m, "write true or false");
    if (v->kind == KJ_V_LITERAL && !m->fix)
        kj_fix(s->diag, m, v->span, "true");
}

/* A name of a constant, or of a turn of a loop that is written out: what it stands for is not what was written. */
static bool begins_name(char c)
{
    return kj_is_word(c) && !(c >= '0' && c <= '9');
}

kj_texpr *kj_condition(kj_sema *s, kj_operand v, const char *what)
{
    if (v.kind == KJ_V_ERROR)
        return NULL;
    if (v.kind == KJ_V_SCALAR && v.u.scalar.e->type == KJ_BOOL)
        return v.u.scalar.e;
    kj_message *m =
        kj_sema_error(s, v.span, KJ_RULE_NOT_BOOL, "%s is bool, not %s", what, kj_describe(s, &v));
    bool named = begins_name(s->diag->source->text[v.span.begin]);
    if (kj_is_untyped(&v) && !named)
        hint_truth(s, m, &v, what);
    else if (v.kind == KJ_V_SCALAR || kj_is_complex(&v) || v.kind == KJ_V_LITERAL)
        kj_write(s->diag, m, v.span, "%s != 0", kj_operand_text(s, v.span, "..."));
    else if (v.kind == KJ_V_TUPLE && !v.u.tuple.of && kj_type_of(v.u.tuple.items) == KJ_BOOL)
        kj_hint(s->diag, m, "write all(%s), or any(...)", kj_source_text(s, v.span, "..."));
    return NULL;
}

bool kj_fits_i64(kj_sema *s, kj_value v, kj_span at, const char *what)
{
    if (kj_value_fits(v, KJ_I64))
        return true;
    kj_sema_error(s, at, KJ_RULE_CONSTANT_RANGE, "%s is at most %lld, not %s", what,
                  (long long)INT64_MAX, kj_literal_text(s, v));
    return false;
}

static kj_message *not_an_integer(kj_sema *s, const kj_operand *v, const char *what)
{
    kj_message *m = kj_sema_error(s, v->span, KJ_RULE_NOT_AN_INTEGER, "%s is an integer, not %s",
                                  what, kj_describe(s, v));
    const kj_tarray *a = v->kind == KJ_V_ARRAY && strcmp(what, "an index") == 0 ? v->u.array : NULL;
    if (!a || a->of || kj_is_float(a->elem))
        return m;
    int axes = 3 * (a->ndim < KJ_MAX_NDIM ? a->ndim : KJ_MAX_NDIM) - 2;
    kj_hint(s->diag, m,
            kj_is_int(a->elem)
                ? "each thread, or a loop over them, reads or writes one element: x[%s[%.*s]]"
                : "each thread, or a loop, asks for one element: if %s[%.*s] { ... }",
            kj_source_text(s, v->span, "a"), axes, "i, j, k, l, m, n, o, p");
    return m;
}

static bool is_integer(const kj_operand *v)
{
    return v->kind == KJ_V_SCALAR ? kj_is_int(v->u.scalar.e->type)
                                  : kj_is_untyped(v) && !kj_is_float(kj_untyped_type(v));
}

kj_texpr *kj_index_value(kj_sema *s, kj_operand v, const char *what)
{
    if (v.kind == KJ_V_SCALAR && is_integer(&v))
        return kj_te_convert(s, v.u.scalar.e, KJ_I64, v.span);
    if (v.kind == KJ_V_LITERAL && is_integer(&v) && !kj_fits_i64(s, v.u.literal, v.span, what))
        return NULL;
    if (is_integer(&v))
        return kj_coerce(s, v, KJ_I64, what);
    if (v.kind == KJ_V_ERROR)
        return NULL;
    kj_message *m = not_an_integer(s, &v, what);
    if (v.kind == KJ_V_SCALAR)
        write_conversion(s, m, KJ_I64, v.span, "");
    return NULL;
}

kj_operand kj_most_i64(kj_sema *s, kj_operand v)
{
    if (v.kind != KJ_V_SCALAR || v.u.scalar.e->type != KJ_U64)
        return v;
    kj_texpr *args[2] = {v.u.scalar.e, kj_te_const(s, kj_int(KJ_U64, INT64_MAX), v.span)};
    return kj_scalar(kj_te_call(s, KJ_BI_MIN, args, 2, KJ_U64, v.span));
}

kj_texpr *kj_size_value(kj_sema *s, kj_operand v, const char *what)
{
    const kj_texpr *e = v.kind == KJ_V_SCALAR ? v.u.scalar.e : NULL;
    if (e && e->type == KJ_U64 && kj_is_const(e) && !kj_is_hypothetical(s) &&
        !kj_fits_i64(s, e->u.value, v.span, what))
        return NULL;
    return kj_index_value(s, v, what);
}

bool kj_size_item(kj_sema *s, const kj_operand *of, int i, const char *what, kj_operand *out)
{
    *out = of->kind == KJ_V_TUPLE ? of->u.tuple.items[i] : *of;
    bool here = out->span.begin >= of->span.begin && out->span.end <= of->span.end;
    if (of->kind != KJ_V_TUPLE || out->kind == KJ_V_ERROR || (here && !of->u.tuple.of))
        return out->kind != KJ_V_ERROR;
    out->span = of->span;
    if (!is_integer(out))
        not_an_integer(s, out, what);
    return is_integer(out);
}

/* The statements of a branch, and then `e`, as one expression. */
static kj_texpr *wrapped(kj_sema *s, const kj_branch *b, kj_texpr *value, kj_span span)
{
    kj_texpr *e = kj_te(s, KJ_TE_INLINE, value->type, value->span);
    e->u.inline_.result = kj_new_var(s, "value", value->span, e->type, true);
    e->u.inline_.block = KJ_NEW(s->arena, kj_tblock);
    kj_emit_assign(s, e->u.inline_.result, value, value->span);
    *e->u.inline_.block = (kj_tblock){.body = b->sink.first, .span = span, .name = "expression"};
    return e;
}

/* A literal behind statements has no type either: it is a choice of that literal alone, so that something is left
 * to come after them. */
static kj_operand choice_of_one(kj_sema *s, kj_operand v)
{
    kj_operand out = {.kind = KJ_V_CHOICE, .span = v.span};
    out.u.choice.test = kj_te_bool(s, true, v.span);
    out.u.choice.arms = KJ_NEW_ARRAY(s->arena, kj_operand, 2);
    out.u.choice.arms[0] = out.u.choice.arms[1] = v;
    return out;
}

/* The outermost condition of a choice comes after the statements; with them, which of the alternatives
 * it is, where there are more than two: into *which, a variable to be declared around the branch. */
static kj_operand wrapped_choice(kj_sema *s, const kj_branch *b, kj_operand v, kj_span span,
                                 kj_var **which)
{
    if (!kj_is_simple_choice(&v)) {
        *which = kj_new_var(s, "which", span, KJ_I32, true);
        kj_emit_assign(s, *which, kj_choice_number(s, &v), span);
        v = kj_choice_of(s, v, kj_te_var(s, *which, span));
    }
    v.u.choice.test = wrapped(s, b, v.u.choice.test, span);
    return v;
}

kj_operand kj_branch_close(kj_sema *s, kj_branch *b, kj_operand v, kj_span span)
{
    kj_var *which = NULL;
    bool wrap = !b->dead && b->sink.first && (v.kind == KJ_V_SCALAR || kj_is_untyped(&v));
    if (b->sink.barrier && !b->dead) {
        kj_message *m = kj_sema_error(s, span, KJ_RULE_BARRIER,
                                      "a barrier is reached only under a condition here");
        kj_hint(s->diag, m, "let it stand before, as in: let v = f(x)");
        v = kj_no_value(span);
    } else if (wrap && kj_is_untyped(&v)) {
        if (v.kind == KJ_V_LITERAL)
            v = choice_of_one(s, v);
        v = wrapped_choice(s, b, v, span, &which);
    }
    if (wrap && v.kind == KJ_V_SCALAR)
        v = kj_scalar(wrapped(s, b, v.u.scalar.e, span));
    kj_sink_close(s, &b->sink);
    s->dead -= b->dead;
    if (which)
        kj_emit_decl(s, which, NULL, span);
    return v;
}
