/* Statements and expressions that say by themselves that something else was meant: unreachable,
 * without effect, conditions that are always true or false, division by 0. */
#include "warn/body.h"

#include <string.h>

/* ---- What is never reached ---- */

void kj_warn_of_list(kj_body *b, const kj_stmt *list)
{
    const kj_stmt *end = kj_warns(b->diag, KJ_RULE_UNREACHABLE) ? kj_end_of(list) : NULL;
    if (!end || !end->next)
        return;
    kj_message *m =
        kj_warn(b->diag, end->next->span, KJ_RULE_UNREACHABLE, "this statement is never reached");
    kj_note(b->diag, m, end->span, "nothing runs behind this");
}

/* ---- Conditions ---- */

static bool is_number(const kj_expr *e)
{
    return e->kind == KJ_E_INT || e->kind == KJ_E_FLOAT;
}

static double number(const kj_expr *e)
{
    return e->kind == KJ_E_INT ? (double)e->u.integer : e->u.real;
}

static bool holds(kj_op op, double a, double b)
{
    switch (op) {
    case KJ_OP_LT: return a < b;
    case KJ_OP_LE: return a <= b;
    case KJ_OP_GT: return a > b;
    case KJ_OP_GE: return a >= b;
    case KJ_OP_EQ: return !(a < b) && !(a > b);
    default: return a < b || a > b;
    }
}

/* Is it the same, whatever its names stand for? 0: no, else 1 for true, -1 for false. */
static int always(const kj_expr *e)
{
    const kj_expr *lhs, *rhs;
    if (e->kind == KJ_E_BOOL)
        return e->u.integer ? 1 : -1;
    if (e->kind != KJ_E_BINARY || kj_ops[e->u.binary.op].class != KJ_OPS_COMPARE)
        return 0;
    lhs = e->u.binary.lhs;
    rhs = e->u.binary.rhs;
    kj_op op = e->u.binary.op;
    bool same = lhs->kind == KJ_E_NAME && rhs->kind == KJ_E_NAME && lhs->u.name == rhs->u.name;
    if (is_number(lhs) && is_number(rhs))
        return holds(op, number(lhs), number(rhs)) ? 1 : -1;
    if (same && (op == KJ_OP_LT || op == KJ_OP_GT)) /* x != x asks for NaN, x <= x too */
        return -1;
    return 0;
}

void kj_warn_of_condition(kj_body *b, const kj_expr *test)
{
    int way = always(test);
    if (test->kind == KJ_E_LOGIC) {
        kj_warn_of_condition(b, test->u.logic.lhs);
        kj_warn_of_condition(b, test->u.logic.rhs);
    } else if (way) {
        kj_warn(b->diag, test->span, KJ_RULE_CONSTANT_CONDITION, "this condition is always %s",
                way > 0 ? "true" : "false");
    }
}

/* ---- Operations ---- */

/* The builtin's name that is called, unless the body or the file has one of its own; or NULL. */
static const char *called(const kj_body *b, const kj_expr *e)
{
    const kj_expr *callee = e->kind == KJ_E_CALL ? e->u.call.callee : NULL;
    if (!callee || callee->kind != KJ_E_NAME || kj_warn_find(b, callee->u.name))
        return NULL;
    const char *name = callee->u.name;
    return kj_item_called(b->file, name, strlen(name)) ? NULL : name;
}

void kj_warn_of_divisor(kj_body *b, kj_op op, const kj_expr *divisor, kj_span span)
{
    if ((op == KJ_OP_FLOORDIV || op == KJ_OP_MOD) && kj_warn_is_zero(b, divisor))
        kj_warn(b->diag, span, KJ_RULE_DIVISION_BY_ZERO, "this divides by 0");
}

static bool is_of_bits(const kj_expr *e)
{
    return e->kind == KJ_E_BINARY && (e->u.binary.op == KJ_OP_AND || e->u.binary.op == KJ_OP_OR ||
                                      e->u.binary.op == KJ_OP_XOR);
}

const char *kj_warn_text(kj_body *b, uint32_t begin, uint32_t end)
{
    enum { MOST = 40 };
    const char *text = b->diag->source->text;
    while (begin < end && strchr(" \t", text[begin]))
        begin++;
    while (end > begin && strchr(" \t", text[end - 1]))
        end--;
    if (end - begin > MOST || memchr(text + begin, '\n', end - begin))
        return NULL;
    return kj_arena_printf(b->diag->arena, "%.*s", (int)(end - begin), text + begin);
}

/* a > 1 & a < 3 is a > (1 & a) < 3, as in Python; who comes from C means two comparisons. */
static void warn_of_chain(kj_body *b, const kj_expr *e)
{
    const char *text = b->diag->source->text;
    for (const kj_expr *part = e->u.chain.operands->next; part && part->next; part = part->next) {
        uint32_t before = part->span.begin; /* what stands in parentheses is meant */
        while (before > 0 && strchr(" \t\r\n", text[before - 1]))
            before--;
        if (!is_of_bits(part) || (before > 0 && text[before - 1] == '('))
            continue;
        const char *sign = kj_ops[part->u.binary.op].spelling;
        kj_message *m = kj_warn(b->diag, part->span, KJ_RULE_BITS_IN_CHAIN,
                                "'%s' comes before the comparisons on its sides", sign);
        bool two = !part->next->next && e->u.chain.operands->next == part;
        const char *left = kj_warn_text(b, e->span.begin, part->u.binary.op_span.begin);
        const char *right = kj_warn_text(b, part->u.binary.op_span.end, e->span.end);
        const char *own = kj_warn_text(b, part->span.begin, part->span.end);
        if (two && left && right && own)
            kj_hint(b->diag, m, "write (%s) %s (%s), or where it is meant, (%s)", left, sign, right,
                    own);
        else
            kj_hint(b->diag, m,
                    "comparisons that '%s' joins stand in parentheses, and so does '%s' where it "
                    "is meant",
                    sign, sign);
    }
}

/* `nan`, also with a sign, unless the body or the file has a name of its own for it. */
static bool is_nan(const kj_body *b, const kj_expr *e)
{
    if (e->kind == KJ_E_UNARY)
        e = e->u.unary.arg;
    return e->kind == KJ_E_NAME && strcmp(e->u.name, "nan") == 0 && !kj_warn_find(b, e->u.name) &&
           !kj_item_called(b->file, "nan", 3);
}

/* What it is, or the name has been given. */
static const kj_expr *value_of(const kj_body *b, const kj_expr *e)
{
    const kj_named_value *v = e->kind == KJ_E_NAME ? kj_warn_find(b, e->u.name) : NULL;
    return v && v->init ? v->init : e;
}

static void warn_of_nan(kj_body *b, const kj_expr *e)
{
    const kj_expr *lhs = e->u.binary.lhs, *rhs = e->u.binary.rhs;
    kj_op op = e->u.binary.op;
    if (kj_ops[op].class != KJ_OPS_COMPARE || (!is_nan(b, lhs) && !is_nan(b, rhs)))
        return;
    kj_message *m =
        kj_warn(b->diag, e->span, KJ_RULE_CONSTANT_CONDITION,
                "this comparison is always %s: nan is not equal to anything, nor in an order",
                op == KJ_OP_NE ? "true" : "false");
    const kj_expr *other = is_nan(b, lhs) ? rhs : lhs;
    const char *text = kj_warn_text(b, other->span.begin, other->span.end);
    const kj_expr *value = value_of(b, other);
    if (value->kind == KJ_E_STRING || value->kind == KJ_E_FORMAT)
        return;
    bool items = value->kind == KJ_E_LIST || value->kind == KJ_E_TUPLE;
    if (!is_nan(b, other) && text && (op == KJ_OP_EQ || op == KJ_OP_NE))
        kj_hint(b->diag, m, items ? "write %sisnan(array(%s))" : "write %sisnan(%s)",
                op == KJ_OP_EQ      ? ""
                : kj_warn_in_run(b) ? "~"
                                    : "not ",
                text);
}

/* Is the token that ends at `end` a number of decimal digits alone? */
static bool is_decimal_before(const char *text, uint32_t end, uint32_t *begin)
{
    uint32_t at = end;
    while (at > 0 && kj_is_digit(text[at - 1]))
        at--;
    *begin = at;
    return at < end && (at == 0 || (!kj_is_word(text[at - 1]) && text[at - 1] != '.'));
}

/* Only numbers, and sums and products of them. */
static bool is_of_numbers(const kj_expr *e)
{
    kj_op op = e->kind == KJ_E_BINARY ? e->u.binary.op : KJ_NOPS;
    if (op == KJ_OP_ADD || op == KJ_OP_SUB || op == KJ_OP_MUL)
        return is_of_numbers(e->u.binary.lhs) && is_of_numbers(e->u.binary.rhs);
    return e->kind == KJ_E_INT;
}

/* 2 ^ 10, 10 ^ 6: between two numbers in decimal digits hardly anybody means their bits. */
static void warn_of_xor(kj_body *b, const kj_expr *e)
{
    const char *text = b->diag->source->text;
    kj_span op = e->u.binary.op_span;
    uint32_t left = op.begin, right = op.end, begin;
    if (e->u.binary.op != KJ_OP_XOR || !is_of_numbers(e->u.binary.lhs) ||
        !is_of_numbers(e->u.binary.rhs))
        return;
    while (left > 0 && text[left - 1] == ' ')
        left--;
    right += (uint32_t)strspn(text + right, " ");
    uint32_t digits = (uint32_t)strspn(text + right, "0123456789");
    bool decimal = digits > 0 && !kj_is_word(text[right + digits]) && text[right + digits] != '.' &&
                   (digits == 1 || text[right] != '0');
    if (!decimal || !is_decimal_before(text, left, &begin))
        return;
    bool power = (left - begin == 1 && text[begin] == '2') ||
                 (left - begin == 2 && memcmp(text + begin, "10", 2) == 0);
    if (!power)
        return;
    kj_message *m =
        kj_warn(b->diag, e->span, KJ_RULE_XOR_POWER, "'^' is exclusive or: %.*s ^ %.*s is no power",
                (int)(left - begin), text + begin, (int)digits, text + right);
    kj_hint(b->diag, m,
            "write %.*s ** %.*s; where bits are meant, they stand in hexadecimal digits",
            (int)(left - begin), text + begin, (int)digits, text + right);
    kj_fix(b->diag, m, op, "**");
}

void kj_warn_of_operation(kj_body *b, const kj_expr *e)
{
    kj_warn_of_random(b, e);
    if (e->kind == KJ_E_CHAIN)
        warn_of_chain(b, e);
    if (e->kind == KJ_E_BINARY) {
        kj_warn_of_divisor(b, e->u.binary.op, e->u.binary.rhs, e->span);
        warn_of_nan(b, e);
        warn_of_xor(b, e);
    }
    const char *name = called(b, e);
    if (name && strcmp(name, "print") == 0)
        kj_warn_of_print(b, e);
    if (name && (strcmp(name, "divmod") == 0 || strcmp(name, "ceil_div") == 0) &&
        kj_count(e->u.call.args) == 2)
        kj_warn_of_divisor(b, KJ_OP_FLOORDIV, e->u.call.args->next, e->span);
    if (name && strcmp(name, "range") == 0 && kj_count(e->u.call.args) == 3 &&
        kj_warn_is_zero(b, e->u.call.args->next->next))
        kj_warn(b->diag, e->span, KJ_RULE_STEP_ZERO, "a range of step 0 is empty");
}

void kj_warn_of_assignment(kj_body *b, const kj_stmt *st)
{
    const kj_expr *target = st->u.assign.targets;
    const char *text = b->diag->source->text;
    uint32_t at = target->span.end;
    if (st->u.assign.augmented || target->next)
        return;
    at += (uint32_t)strspn(text + at, " \t)");
    if (text[at] != '=' || !strchr("+-", text[at + 1]) || !strchr(" \t", text[at + 2]))
        return;
    kj_span sign = {at, at + 2};
    kj_message *m = kj_warn(b->diag, sign, KJ_RULE_TURNED_ASSIGNMENT,
                            "this assigns a value with a sign, '= %c'", text[at + 1]);
    kj_hint(b->diag, m, "write %c=; where the sign is meant, it stands beside its value",
            text[at + 1]);
    kj_fix(b->diag, m, sign, "%c=", text[at + 1]);
}

/* ---- Values that nobody takes ---- */

static bool makes_a_record(const kj_body *b, const kj_expr *e)
{
    const kj_expr *callee = e->kind == KJ_E_CALL ? e->u.call.callee : NULL;
    return callee && callee->kind == KJ_E_NAME && !kj_warn_find(b, callee->u.name) &&
           kj_warn_item(b->file, callee->u.name, KJ_I_RECORD);
}

/* A member's name with what it is of, as tables have it: ".sum" of a value, "random.uniform"; or NULL. */
static const char *called_member(const kj_body *b, const kj_expr *e)
{
    const kj_expr *callee = e->kind == KJ_E_CALL ? e->u.call.callee : NULL;
    if (!callee || callee->kind != KJ_E_MEMBER)
        return NULL;
    const kj_expr *base = callee->u.member.base;
    bool is_value = base->kind != KJ_E_NAME || kj_warn_find(b, base->u.name) || kj_warn_in_run(b);
    return kj_arena_printf(b->arena, "%s.%s", is_value ? "" : base->u.name, callee->u.member.name);
}

/* sort.keys(a): no function of run blocks of the library that gives a value changes anything. */
static bool is_of_library(const kj_body *b, const kj_expr *e)
{
    const kj_expr *callee = e->kind == KJ_E_CALL ? e->u.call.callee : NULL;
    const kj_expr *base = callee && callee->kind == KJ_E_MEMBER ? callee->u.member.base : NULL;
    if (!base || base->kind != KJ_E_NAME || kj_warn_find(b, base->u.name))
        return false;
    const kj_item *use = kj_warn_item(b->file, base->u.name, KJ_I_USE);
    if (!use || !use->used || !use->used->checked)
        return false;
    const kj_item *fn =
        kj_item_called(use->used, callee->u.member.name, strlen(callee->u.member.name));
    return fn && fn->kind == KJ_I_RUN_FN && kj_warn_returns(fn->body);
}

/* d.copy_to_host(), which gives a copy: alone in its line d.copy_to_host(h) was meant. */
static bool copies_nowhere(const char *member, const kj_expr *call)
{
    const kj_expr *args = call->u.call.args;
    return strcmp(member, ".copy_to_host") == 0 &&
           (!args || (!args->next && args->keyword && strcmp(args->keyword, "stream") == 0));
}

void kj_warn_of_value(kj_body *b, const kj_expr *e)
{
    const char *name = called(b, e), *member = called_member(b, e);
    bool only = makes_a_record(b, e), nowhere = false;
    if (name)
        only = kj_warn_gives_only(b, name);
    else if (is_of_library(b, e) || kj_warn_only_returns(b, e))
        only = true;
    else if (member)
        only = (nowhere = copies_nowhere(member, e)) || kj_warn_member_gives_only(member);
    if (!only)
        return;
    kj_message *m = kj_warn(b->diag, e->span, KJ_RULE_UNUSED_VALUE,
                            "the value of this call is not used, and it does nothing else");
    const kj_expr *of = nowhere ? e->u.call.callee->u.member.base : NULL;
    const char *text = of ? kj_warn_text(b, of->span.begin, of->span.end) : NULL;
    if (text)
        kj_hint(b->diag, m,
                "say where to: %s.copy_to_host(h), or keep it: let h = %s.copy_to_host()", text,
                text);
    else
        kj_hint(b->diag, m, "keep it: let v = ...");
}
