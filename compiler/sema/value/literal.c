/* Arithmetic of untyped constants: integers exactly, floats in f64. What operators hand to each other may be beyond
 * 64 bits, as in (1 << 64) - 1; what they come to lies between the least i64 and the greatest u64. */
#include <math.h>
#include <string.h>

#include "sema/value/value.h"

__extension__ typedef __int128 wide;

enum { MOST_BITS = 120 }; /* of what operators hand to each other: room for sums of two */

static wide widen(const kj_operand *v)
{
    wide above = (wide)v->beyond * ((wide)1 << 64);
    return above + (v->u.literal.type == KJ_U64 ? (wide)v->u.literal.u : (wide)v->u.literal.i);
}

static kj_message *say_beyond(kj_sema *s, kj_span span)
{
    return kj_sema_error(s, span, KJ_RULE_CONSTANT_RANGE, "this constant is beyond 64 bits");
}

static kj_operand refuse_beyond(kj_sema *s, kj_span span)
{
    say_beyond(s, span);
    return kj_no_value(span);
}

/* May operators hand it to each other? */
static bool has_room(const kj_sema *s, wide w)
{
    const wide most = (wide)1 << MOST_BITS;
    return (w >= INT64_MIN && w <= (wide)UINT64_MAX) || (s->exact && w <= most && w >= -most);
}

static kj_operand narrow(kj_sema *s, wide w, kj_span span)
{
    if (w < INT64_MIN || w > (wide)UINT64_MAX) {
        if (!has_room(s, w))
            return refuse_beyond(s, span);
        kj_operand v = kj_literal((kj_value){.type = KJ_U64, .u = (uint64_t)w}, span);
        v.beyond = (int64_t)((w - (wide)(uint64_t)w) / ((wide)1 << 64));
        return v;
    }
    if (w > INT64_MAX)
        return kj_literal((kj_value){.type = KJ_U64, .u = (uint64_t)w}, span);
    return kj_literal(kj_int(KJ_I64, (int64_t)w), span);
}

kj_operand kj_literal_integer(uint64_t u, kj_span span)
{
    return kj_literal((kj_value){.type = u > INT64_MAX ? KJ_U64 : KJ_I64, .u = u}, span);
}

kj_operand kj_literal_as_float(kj_operand v)
{
    return v.beyond ? kj_literal(kj_float(KJ_F64, (double)widen(&v)), v.span) : v;
}

bool kj_literals_meet(kj_sema *s, kj_operand v[2])
{
    for (int i = 0; i < 2; i++) {
        const kj_operand *other = &v[1 - i];
        bool literal = other->kind == KJ_V_LITERAL && !other->open;
        if (!v[i].beyond || (literal && !kj_is_float(other->u.literal.type)))
            continue;
        if (!literal && (other->kind != KJ_V_SCALAR || !kj_is_float(other->u.scalar.e->type))) {
            if (other->kind != KJ_V_ERROR)
                refuse_beyond(s, v[i].span);
            return false;
        }
        v[i] = kj_literal_as_float(v[i]);
    }
    return true;
}

/* What nothing has room for. */
static const wide too_large = (wide)1 << (MOST_BITS + 1);

/* a * b, saturated where it is far beyond 64 bits. */
static wide times(wide a, wide b)
{
    wide product;
    return __builtin_mul_overflow(a, b, &product) ? too_large : product;
}

/* base ** n for n >= 0; stops growing beyond what operators hand to each other. */
static wide power(wide base, wide n)
{
    const wide limit = too_large;
    wide product = 1;
    if (base == 0 || base == 1)
        return n == 0 ? 1 : base;
    if (base == -1)
        return n % 2 == 0 ? 1 : -1;
    for (; n > 0 && product < limit && product > -limit; n--)
        product = times(product, base);
    return product;
}

static wide floor_div(wide a, wide b)
{
    if (b == 0)
        return 0;
    wide q = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

static bool compare(kj_op op, wide a, wide b)
{
    switch (op) {
    case KJ_OP_EQ: return a == b;
    case KJ_OP_NE: return a != b;
    case KJ_OP_LT: return a < b;
    case KJ_OP_LE: return a <= b;
    case KJ_OP_GT: return a > b;
    default: return a >= b;
    }
}

static kj_operand shift(kj_sema *s, kj_op op, wide a, wide n, kj_span span)
{
    if (n < 0 || n > MOST_BITS) {
        kj_message *m = kj_sema_error(s, span, KJ_RULE_CONSTANT_RANGE,
                                      "a constant is shifted by 0 to %d places", MOST_BITS);
        kj_hint(s->diag, m,
                "give it a type, as in u32(1) << n: then one of the width or more gives 0");
        return kj_no_value(span);
    }
    wide scale = (wide)1 << n, w = op == KJ_OP_SHL ? times(a, scale) : floor_div(a, scale);
    if (has_room(s, w))
        return narrow(s, w, span);
    const char *factor = a == 1 ? "" : kj_arena_printf(s->diag->arena, "%.17g * ", (double)a);
    kj_hint(s->diag, say_beyond(s, span),
            "as a float it is %s2.0 ** %d; of a type, as in u64(x) << n, %s", factor, (int)n,
            n >= 64 ? "it is 0" : "its low bits are left");
    return kj_no_value(span);
}

/* base ** n; where the result is beyond 64 bits, with a hint at the float that it is. */
static kj_operand raised(kj_sema *s, wide base, wide n, kj_span span)
{
    wide w = power(base, n);
    if (has_room(s, w))
        return narrow(s, w, span);
    kj_message *m = say_beyond(s, span);
    if (fabs(pow((double)base, (double)n)) < INFINITY)
        kj_hint(s->diag, m,
                base < 0 ? "as a float it is (%.1f) ** %d" : "as a float it is %.1f ** %d",
                (double)base, (int)n);
    return kj_no_value(span);
}

static kj_operand integers(kj_sema *s, kj_op op, wide a, wide b, kj_span span)
{
    switch (op) {
    case KJ_OP_ADD: return narrow(s, a + b, span);
    case KJ_OP_SUB: return narrow(s, a - b, span);
    case KJ_OP_MUL: return narrow(s, times(a, b), span);
    case KJ_OP_FLOORDIV: return narrow(s, floor_div(a, b), span);
    case KJ_OP_MOD: return narrow(s, b == 0 ? 0 : a - floor_div(a, b) * b, span);
    case KJ_OP_AND: return narrow(s, a & b, span);
    case KJ_OP_OR: return narrow(s, a | b, span);
    case KJ_OP_XOR: return narrow(s, a ^ b, span);
    case KJ_OP_SHL:
    case KJ_OP_SHR: return shift(s, op, a, b, span);
    default: /* POW: the exponent is not negative */ return raised(s, a, b, span);
    }
}

static kj_operand refuse_division(kj_sema *s, kj_operand a, kj_operand b, kj_span span)
{
    kj_message *m = kj_sema_error(s, span, KJ_RULE_INTEGER_DIVISION,
                                  "'/' divides floats, and both sides are integers");
    const char *dividend = kj_source_text(s, a.span, "..."),
               *divisor = kj_operand_text(s, b.span, "...");
    bool plain = strspn(dividend, "0123456789") == strlen(dividend);
    kj_hint(s->diag, m, "write %s // %s for the integer quotient, or %s%s / %s",
            kj_operand_text(s, a.span, "..."), divisor,
            plain ? dividend
                  : kj_arena_printf(s->diag->arena, "1.0 * %s", kj_operand_text(s, a.span, "...")),
            plain ? ".0" : "", divisor);
    if (kj_is_int(s->meant))
        kj_fix(s->diag, m, kj_between(s, a.span, b.span, "/"), "//");
    else if (kj_is_float(s->meant) && plain)
        kj_fix(s->diag, m, a.span, "%s.0", dividend);
    return kj_no_value(span);
}

kj_operand kj_literal_binary(kj_sema *s, kj_op op, kj_operand a, kj_operand b, kj_span span)
{
    kj_value x = a.u.literal, y = b.u.literal;
    bool real = kj_is_float(x.type) || kj_is_float(y.type);
    kj_op_class class = kj_ops[op].class;
    if ((a.open || b.open) && class != KJ_OPS_COMPARE)
        return kj_open_literal(real, span);
    if (real && (class == KJ_OPS_BITS || class == KJ_OPS_SHIFT)) {
        kj_hint_power(s,
                      kj_sema_error(s, span, KJ_RULE_TYPE_MISMATCH,
                                    "'%s' works on integers, not on floats", kj_ops[op].spelling),
                      op, (kj_operand[]){a, b}, (bool[]){kj_is_float(x.type), kj_is_float(y.type)});
        return kj_no_value(span);
    }
    if (!real && op == KJ_OP_DIV)
        return refuse_division(s, a, b, span);
    if (!real && class == KJ_OPS_COMPARE)
        return kj_scalar(kj_te_bool(s, compare(op, widen(&a), widen(&b)), span));
    if (!real && !(op == KJ_OP_POW && widen(&b) < 0))
        return integers(s, op, widen(&a), widen(&b), span);
    kj_value v =
        kj_fold_literals(op, kj_literal_as_float(a).u.literal, kj_literal_as_float(b).u.literal);
    if (v.type == KJ_BOOL)
        return kj_scalar(kj_te_const(s, v, span));
    return kj_literal(v, span);
}

kj_operand kj_literal_unary(kj_sema *s, kj_op op, kj_operand a, kj_span span)
{
    kj_value v = a.u.literal;
    if (op == KJ_OP_PLUS)
        return a;
    if (a.open)
        return kj_open_literal(kj_is_float(v.type), span);
    if (kj_is_float(v.type) && op == KJ_OP_INVERT) {
        kj_sema_error(s, span, KJ_RULE_TYPE_MISMATCH, "'~' works on integers, not on floats");
        return kj_no_value(span);
    }
    if (kj_is_float(v.type))
        return kj_literal(kj_fold_unary(op, v), span);
    return narrow(s, op == KJ_OP_NEG ? -widen(&a) : -widen(&a) - 1, span);
}
