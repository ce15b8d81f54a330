/* `/` of integers. In: its operands, of one type; out: what is written for a quotient of floats, and for the integer one. */
#include <string.h>

#include "sema/value/value.h"

enum { LONGEST = 72 /* of what a hint quotes */ };

/* Is it computed in so few bits that a sum leaves them? */
static bool is_narrow(const kj_operand *v)
{
    const kj_texpr *e = v->u.scalar.e;
    while (e->kind == KJ_TE_CONVERT && !e->written && kj_is_int(e->u.unary.arg->type))
        e = e->u.unary.arg;
    return kj_types[e->type].bits < 32;
}

/* (f32(r) + g + b) / 3: of sums that would wrap before they are converted, the parts are; NULL: there is none. */
static const char *converted(kj_sema *s, const kj_operand *v, kj_span span, const char *type)
{
    const kj_expr *e = s->divides;
    if (!e || e->span.begin != span.begin || e->span.end != span.end || span.end <= span.begin)
        return NULL;
    const kj_expr *sides[2] = {e->u.binary.lhs, e->u.binary.rhs};
    const char *source = s->diag->source->text;
    kj_text t = {.arena = s->diag->arena};
    uint32_t done = span.begin;
    bool any = false, ok = true;
    for (int i = 0; i < 2; i++) {
        if (!kj_is_sum(sides[i]) || !is_narrow(&v[i]))
            continue;
        any = true;
        ok = ok && kj_convert_parts(&t, source, sides[i], type, &done);
    }
    if (!any || !ok)
        return NULL;
    kj_text_add(&t, source + done, span.end - done);
    return t.data;
}

/* How the quotient of floats is written, in a hint. */
static const char *of_floats(kj_sema *s, const kj_operand *v, const char *type, const char *parts)
{
    if (!parts)
        return kj_arena_printf(s->diag->arena, "%s(%s) / %s", type,
                               kj_source_text(s, v[0].span, "..."),
                               kj_operand_text(s, v[1].span, "..."));
    if (strlen(parts) <= LONGEST && !strpbrk(parts, "\n#"))
        return parts;
    return kj_arena_printf(s->diag->arena, "(%s(...) + ...) / %s: convert the sum's first part",
                           type, kj_operand_text(s, v[1].span, "..."));
}

kj_operand kj_refuse_quotient(kj_sema *s, const kj_operand *v, kj_span span)
{
    const char *source = s->diag->source->text;
    kj_message *m = kj_sema_error(s, span, KJ_RULE_INTEGER_DIVISION,
                                  "'/' divides floats, and both sides are integers");
    bool wide = kj_types[v[0].u.scalar.e->type].bits > 32;
    const char *rounded = kj_is_signed(v[0].u.scalar.e->type) ? ", rounded down where C cuts" : "";
    kj_span sign = kj_between(s, v[0].span, v[1].span, "/");
    const char *type = kj_type_name(kj_is_float(s->meant) ? s->meant : KJ_F32);
    if (s->lanes)
        type = kj_arena_printf(s->diag->arena, "%sx%d", type, s->lanes);
    const char *parts = converted(s, v, span, type);
    if (kj_is_float(s->meant)) {
        kj_hint(s->diag, m, "write %s, or '//' for the integer quotient%s",
                of_floats(s, v, type, parts), rounded);
        if (parts)
            kj_fix(s->diag, m, span, "%s", parts);
        else
            kj_fix(s->diag, m, v[0].span, "%s(%.*s)", type, (int)(v[0].span.end - v[0].span.begin),
                   source + v[0].span.begin);
        return kj_no_value(span);
    }
    bool updates = source[sign.end] == '='; /* n /= 2 */
    if (updates)
        kj_hint(s->diag, m, "write %s //= %s for the integer quotient%s",
                kj_source_text(s, v[0].span, "..."), kj_operand_text(s, v[1].span, "..."), rounded);
    else
        kj_hint(s->diag, m, "write '//' for the integer quotient%s, or %s%s", rounded,
                of_floats(s, v, type, parts), wide ? ", with f64 for all digits" : "");
    if (updates || kj_is_int(s->meant))
        kj_fix(s->diag, m, sign, "//");
    return kj_no_value(span);
}
