/* The constructors of the AST: what a rule of the grammar read comes in, a node results.
 *
 * They keep the tree within KJ_MAX_DEPTH and KJ_TREE_MAX: a node that would pass a limit ends
 * the parse with an error and is cut off. They refuse what the grammar can read but no pass
 * could use, such as f() = 1. */
#include <string.h>

#include "parse/parse.h"

void *kj_node(kj_parser *p, kj_span span, size_t size)
{
    if (p->arena->used > p->memory_limit)
        kj_parse_stop(p, span, KJ_RULE_TOO_LARGE, "the program is too large");
    return kj_arena_alloc(p->arena, size);
}

static uint32_t deeper(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* ---- Expressions ---- */

/* A node above others, the deepest of which has `below` levels. */
static kj_expr *expr_above(kj_parser *p, kj_span span, kj_expr_kind kind, uint32_t below)
{
    kj_expr *e = kj_node(p, span, sizeof *e);
    e->span = span;
    e->kind = kind;
    e->depth = below + 1;
    return e;
}

/* Is what is too high a + b + c ...? Then nothing looks nested. */
static bool is_chain(const kj_expr *e)
{
    int n = 0;
    while (e->kind == KJ_E_BINARY || e->kind == KJ_E_LOGIC) {
        e = e->kind == KJ_E_BINARY ? e->u.binary.lhs : e->u.logic.lhs;
        n++;
    }
    return n >= KJ_MAX_DEPTH / 2;
}

/* Cuts off a finished node that is too high, leaving a leaf in its place. */
static kj_expr *limited(kj_parser *p, kj_expr *e)
{
    if (e->depth > KJ_MAX_DEPTH) {
        kj_parse_too_deep(p, e->span, is_chain(e) ? "operators in one expression" : NULL);
        e->kind = KJ_E_INT;
        e->depth = 1;
        memset(&e->u, 0, sizeof e->u);
    }
    return e;
}

kj_expr *kj_make_int(kj_parser *p, kj_span span, uint64_t value)
{
    kj_expr *e = expr_above(p, span, KJ_E_INT, 0);
    e->u.integer = value;
    return e;
}

kj_expr *kj_make_float(kj_parser *p, kj_span span, double value)
{
    kj_expr *e = expr_above(p, span, KJ_E_FLOAT, 0);
    e->u.real = value;
    return e;
}

kj_expr *kj_make_imaginary(kj_parser *p, kj_span span, double value)
{
    kj_expr *e = expr_above(p, span, KJ_E_IMAG, 0);
    e->u.real = value;
    return e;
}

kj_expr *kj_make_bool(kj_parser *p, kj_span span, bool value)
{
    kj_expr *e = expr_above(p, span, KJ_E_BOOL, 0);
    e->u.integer = value;
    return e;
}

kj_expr *kj_make_string(kj_parser *p, kj_span span, kj_string value)
{
    kj_expr *e = expr_above(p, span, KJ_E_STRING, 0);
    e->u.string.text = value.text;
    e->u.string.len = value.len;
    return e;
}

kj_expr *kj_make_name(kj_parser *p, kj_span span, const char *name)
{
    kj_expr *e = expr_above(p, span, KJ_E_NAME, 0);
    e->u.name = name;
    return e;
}

/* Is the sign there the second of ++ or --? Of three the first two are. */
static bool is_step(const kj_parser *p, uint32_t at)
{
    const char *text = p->source->text;
    char sign = text[at];
    return at > 0 && (sign == '+' || sign == '-') && text[at - 1] == sign &&
           (at < 2 || text[at - 2] != sign);
}

kj_expr *kj_make_unary(kj_parser *p, kj_span span, kj_op op, kj_expr *arg)
{
    kj_expr *e = expr_above(p, span, KJ_E_UNARY, arg->depth);
    e->u.unary.op = op;
    e->u.unary.arg = arg;
    if (is_step(p, span.begin))
        kj_habit_step(p, (kj_span){span.begin - 1, span.begin + 1});
    return limited(p, e);
}

kj_expr *kj_make_binary(kj_parser *p, kj_span span, kj_op op, kj_span op_span, kj_expr *lhs,
                        kj_expr *rhs)
{
    kj_expr *e = expr_above(p, span, KJ_E_BINARY, deeper(lhs->depth, rhs->depth));
    e->u.binary.op = op;
    e->u.binary.op_span = op_span;
    e->u.binary.lhs = lhs;
    e->u.binary.rhs = rhs;
    return limited(p, e);
}

static bool is_number_or_text(const kj_expr *e)
{
    return e->kind == KJ_E_INT || e->kind == KJ_E_FLOAT || e->kind == KJ_E_STRING;
}

/* c and 1 or 0 of Lua and old Python, which is no bool. */
static void refuse_choice(kj_parser *p, const kj_expr *e)
{
    const kj_expr *both = e->u.logic.lhs, *yes = both->u.logic.rhs, *no = e->u.logic.rhs;
    if (!is_number_or_text(yes))
        return;
    const char *text = p->source->text;
    const kj_expr *test = both->u.logic.lhs;
    kj_write(p->diag, kj_error(p->diag, e->span, KJ_RULE_SPELLING, "'and' and 'or' give bools"),
             e->span, "%.*s if %.*s else %.*s", (int)(yes->span.end - yes->span.begin),
             text + yes->span.begin, (int)(test->span.end - test->span.begin),
             text + test->span.begin, (int)(no->span.end - no->span.begin), text + no->span.begin);
}

kj_expr *kj_make_logic(kj_parser *p, kj_span span, bool is_or, kj_expr *lhs, kj_expr *rhs)
{
    kj_expr *e = expr_above(p, span, KJ_E_LOGIC, deeper(lhs->depth, rhs->depth));
    e->u.logic.is_or = is_or;
    e->u.logic.lhs = lhs;
    e->u.logic.rhs = rhs;
    if (is_or && lhs->kind == KJ_E_LOGIC && !lhs->u.logic.is_or)
        refuse_choice(p, e);
    return limited(p, e);
}

kj_expr *kj_make_cond(kj_parser *p, kj_span span, kj_expr *test, kj_expr *yes, kj_expr *no)
{
    kj_expr *e = expr_above(p, span, KJ_E_COND, deeper(test->depth, deeper(yes->depth, no->depth)));
    e->u.cond.test = test;
    e->u.cond.yes = yes;
    e->u.cond.no = no;
    return limited(p, e);
}

kj_expr *kj_make_call(kj_parser *p, kj_span span, kj_expr *callee, kj_exprs args)
{
    kj_expr *e = expr_above(p, span, KJ_E_CALL, deeper(callee->depth, args.depth));
    e->u.call.callee = callee;
    e->u.call.args = args.first;
    return limited(p, e);
}

kj_expr *kj_make_index(kj_parser *p, kj_span span, kj_expr *base, kj_exprs args)
{
    kj_expr *e = expr_above(p, span, KJ_E_INDEX, deeper(base->depth, args.depth));
    e->u.index.base = base;
    e->u.index.args = args.first;
    return limited(p, e);
}

static uint32_t depth_of(const kj_expr *e)
{
    return e ? e->depth : 0;
}

kj_expr *kj_make_slice(kj_parser *p, kj_span span, kj_expr *start, kj_expr *stop, kj_expr *step)
{
    kj_expr *e = expr_above(p, span, KJ_E_SLICE,
                            deeper(depth_of(start), deeper(depth_of(stop), depth_of(step))));
    e->u.slice.start = start;
    e->u.slice.stop = stop;
    e->u.slice.step = step;
    return limited(p, e);
}

kj_expr *kj_make_member(kj_parser *p, kj_span span, kj_expr *base, const char *name,
                        kj_span name_span)
{
    kj_expr *e = expr_above(p, span, KJ_E_MEMBER, base->depth);
    e->u.member.base = base;
    e->u.member.name = name;
    e->u.member.name_span = name_span;
    return limited(p, e);
}

kj_expr *kj_make_list(kj_parser *p, kj_span span, kj_expr_kind kind, kj_exprs items)
{
    kj_expr *e = expr_above(p, span, kind, items.depth);
    e->u.list.items = items.first;
    e->u.list.n = items.n;
    return limited(p, e);
}

kj_expr *kj_make_value(kj_parser *p, kj_span span, kj_exprs items)
{
    return items.n == 1 ? items.first : kj_make_list(p, span, KJ_E_TUPLE, items);
}

kj_exprs kj_piece_append(kj_parser *p, kj_exprs list, kj_expr *e, kj_span text, bool named,
                         kj_string spec)
{
    if (named) { /* with the blanks around it */
        const char *begin = p->source->text + text.begin;
        size_t len = text.end - text.begin;
        kj_string shown = {begin, len + strspn(begin + len, " ")};
        list = kj_expr_append(list, kj_make_string(p, e->span, shown));
    }
    e->keyword = spec.text;
    return kj_expr_append(list, e);
}

kj_expr *kj_make_keyword(kj_expr *value, const char *keyword, kj_span span)
{
    value->keyword = keyword;
    value->keyword_span = span;
    return value;
}

kj_exprs kj_expr_append(kj_exprs list, kj_expr *e)
{
    KJ_APPEND(&list, e);
    list.depth = deeper(list.depth, e->depth);
    return list;
}

/* ---- Comparisons ---- */

kj_chain kj_chain_start(kj_parser *p, kj_expr *lhs, kj_op op, kj_span op_span, kj_expr *rhs)
{
    kj_chain c = {.op_span = op_span};
    c.operands = kj_expr_append(kj_expr_append(c.operands, lhs), rhs);
    c.ops = KJ_NEW(p->arena, kj_op);
    c.ops[0] = op;
    return c;
}

kj_chain kj_chain_more(kj_parser *p, kj_chain c, kj_op op, kj_expr *rhs)
{
    size_t n = (size_t)c.operands.n - 1; /* operators so far; room for them doubles */
    if ((n & (n - 1)) == 0) {
        kj_op *ops = KJ_NEW_ARRAY(p->arena, kj_op, 2 * n);
        memcpy(ops, c.ops, n * sizeof *ops);
        c.ops = ops;
    }
    c.ops[n] = op;
    c.operands = kj_expr_append(c.operands, rhs);
    return c;
}

kj_expr *kj_make_comparison(kj_parser *p, kj_span span, kj_chain c)
{
    kj_expr *lhs = c.operands.first;
    if (c.operands.n == 2) {
        kj_expr *rhs = lhs->next;
        lhs->next = NULL;
        return kj_make_binary(p, span, c.ops[0], c.op_span, lhs, rhs);
    }
    kj_expr *e = expr_above(p, span, KJ_E_CHAIN, c.operands.depth);
    e->u.chain.ops = c.ops;
    e->u.chain.nops = c.operands.n - 1;
    e->u.chain.operands = lhs;
    return limited(p, e);
}

/* ---- Types ---- */

kj_type_ref *kj_make_type(kj_parser *p, kj_span span, kj_span name_span, kj_dotted name, int ndim,
                          kj_exprs extents)
{
    kj_type_ref *t = kj_node(p, span, sizeof *t);
    *t = (kj_type_ref){.span = span,
                       .name = name.name,
                       .name_span = name_span,
                       .ndim = ndim,
                       .extents = extents.first};
    if (name.space) {
        t->space = name.space;
        t->member = name.name;
        t->name = kj_arena_printf(p->arena, "%s.%s", name.space, name.name);
    }
    if (ndim > KJ_MAX_NDIM)
        kj_error(p->diag, span, KJ_RULE_TOO_MANY_AXES, "an array has at most %d axes, this has %d",
                 KJ_MAX_NDIM, ndim);
    return t;
}

kj_type_ref *kj_make_tuple_type(kj_parser *p, kj_span span, kj_type_refs parts)
{
    kj_type_ref *t = kj_node(p, span, sizeof *t);
    *t = (kj_type_ref){.span = span, .parts = parts.first};
    return t;
}

kj_type_refs kj_type_append(kj_type_refs list, kj_type_ref *type)
{
    KJ_APPEND(&list, type);
    return list;
}

/* ---- Statements ---- */

static kj_stmt *stmt_above(kj_parser *p, kj_span span, kj_stmt_kind kind, uint32_t below)
{
    kj_stmt *s = kj_node(p, span, sizeof *s);
    s->span = span;
    s->kind = kind;
    s->depth = below + 1;
    return s;
}

/* The same of if ... elif ... elif. */
static bool is_ladder(const kj_stmt *s)
{
    int n = 0;
    while (s && s->kind == KJ_S_IF && !s->next) {
        s = s->u.if_.no;
        n++;
    }
    return n >= KJ_MAX_DEPTH / 2;
}

static kj_stmt *limited_stmt(kj_parser *p, kj_stmt *s)
{
    if (s->depth > KJ_MAX_DEPTH) {
        kj_parse_too_deep(p, s->span, is_ladder(s) ? "branches of one 'if'" : NULL);
        s->kind = KJ_S_BREAK;
        s->depth = 1;
        memset(&s->u, 0, sizeof s->u);
    }
    return s;
}

kj_stmts kj_stmt_append(kj_stmts list, kj_stmt *s)
{
    if (s) {
        KJ_APPEND(&list, s);
        list.depth = deeper(list.depth, s->depth);
    }
    return list;
}

static kj_stmt *declaration(kj_parser *p, kj_span span, kj_stmt_kind kind, kj_names names,
                            kj_type_ref *type, kj_expr *init)
{
    kj_stmt *s = stmt_above(p, span, kind, init ? init->depth : 0);
    s->u.let.names = names.first;
    s->u.let.type = type;
    s->u.let.init = init;
    if (type && names.n > 1)
        kj_habit_typed_names(p,
                             kj_error(p->diag, type->span, KJ_RULE_TYPE_OF_SEVERAL,
                                      "a type goes with a single name"),
                             s);
    return limited_stmt(p, s);
}

kj_stmt *kj_make_let(kj_parser *p, kj_span span, bool mutable, kj_names names, kj_type_ref *type,
                     kj_expr *init)
{
    kj_stmt *s = declaration(p, span, KJ_S_LET, names, type, init);
    if (s->kind == KJ_S_LET)
        s->u.let.mutable = mutable;
    return s;
}

kj_stmt *kj_make_param_stmt(kj_parser *p, kj_span span, kj_names names, kj_type_ref *type,
                            kj_expr *init)
{
    if (names.n > 1)
        kj_error(p->diag, names.first->next->span, KJ_RULE_SEVERAL_PARAMS,
                 "a param declares a single name");
    return declaration(p, span, KJ_S_PARAM, names, type, init);
}

static const char *what(const kj_expr *e)
{
    switch (e->kind) {
    case KJ_E_INT:
    case KJ_E_FLOAT:
    case KJ_E_IMAG:
    case KJ_E_BOOL:
    case KJ_E_STRING:
    case KJ_E_FORMAT: return "a literal";
    case KJ_E_CALL: return "the result of a call";
    case KJ_E_TUPLE:
    case KJ_E_LIST: return "a list of values";
    default: return "the result of an operator";
    }
}

/* (a, b) = b, a */
static void fix_targets(kj_parser *p, kj_message *m, kj_span at)
{
    const char *text = p->source->text;
    if (kj_habit_only_part(p, m, at.begin))
        return;
    kj_hint(p->diag, m, "several targets stand without parentheses: a, b = b, a");
    if (text[at.begin] == '(' && at.end > at.begin + 2 && text[at.end - 1] == ')')
        kj_write(p->diag, m, at, "%.*s", (int)(at.end - at.begin) - 2, text + at.begin + 1);
}

static void check_target(kj_parser *p, const kj_expr *e)
{
    if (e->kind == KJ_E_NAME || e->kind == KJ_E_INDEX || e->kind == KJ_E_MEMBER)
        return;
    kj_message *m =
        kj_error(p->diag, e->span, KJ_RULE_ASSIGN_TARGET, "%s cannot be assigned to", what(e));
    kj_hint_reference(p, m, e);
    if (e->kind == KJ_E_CALL)
        kj_habit_element(p, m, e);
    else if (e->kind == KJ_E_TUPLE)
        fix_targets(p, m, e->span);
    else if (e->kind == KJ_E_BINARY && e->u.binary.op == KJ_OP_MUL &&
             e->u.binary.lhs->kind == KJ_E_NAME &&
             kj_habit_type_named(e->u.binary.lhs->u.name)) /* float *p = x */
        kj_hint(p->diag, m, "there are no pointers: an array is passed and indexed by its name");
}

kj_stmt *kj_make_assign(kj_parser *p, kj_span span, kj_exprs targets, kj_expr *value)
{
    kj_stmt *s = stmt_above(p, span, KJ_S_ASSIGN, deeper(targets.depth, value->depth));
    s->u.assign.targets = targets.first;
    s->u.assign.value = value;
    for (const kj_expr *e = targets.first; e; e = e->next)
        check_target(p, e);
    return limited_stmt(p, s);
}

kj_stmt *kj_make_update(kj_parser *p, kj_span span, kj_exprs targets, kj_op op, kj_span op_span,
                        kj_expr *value)
{
    kj_stmt *s = kj_make_assign(p, span, targets, value);
    if (targets.n > 1)
        kj_error(p->diag, op_span, KJ_RULE_UPDATE_SEVERAL, "'%s=' takes a single target",
                 kj_ops[op].spelling);
    if (s->kind == KJ_S_ASSIGN) {
        s->u.assign.op = op;
        s->u.assign.augmented = true;
    }
    return s;
}

/* Is the token that the parser has seen, behind the statement, all that there is before a function's end? */
static bool ends_function(const kj_parser *p)
{
    const char *next = p->source->text + p->span.begin;
    return next[strspn(next, " \t\r\n;")] == '}';
}

/* An expression as a statement must be a call: the rest computes what nobody sees. */
kj_stmt *kj_make_expr_stmt(kj_parser *p, kj_span span, kj_exprs values)
{
    kj_expr *e = kj_make_value(p, span, values);
    kj_stmt *s = stmt_above(p, span, KJ_S_EXPR, e->depth);
    s->u.expr = e;
    bool step = e->kind == KJ_E_UNARY && is_step(p, span.begin + 1); /* which was told */
    if (p->stopped || kj_habit_statement_word(p, e, span))
        return limited_stmt(p, s);
    if (e->kind != KJ_E_CALL && !p->stopped && !step) {
        kj_message *m = kj_error(p->diag, span, KJ_RULE_NO_EFFECT, "this statement has no effect");
        const char *text = p->source->text;
        if (e->kind == KJ_E_BINARY && e->u.binary.op == KJ_OP_LT &&
            strncmp(text + e->u.binary.op_span.begin, "<-", 2) == 0) /* of R */
            kj_hint(p->diag, m, "an assignment is written x = 1");
        else if (strchr("+-", text[span.begin]) && p->before_prev_span.end)
            kj_hint(p->diag, m, GOES_ON);
        if (e->kind == KJ_E_BINARY && e->u.binary.op == KJ_OP_EQ)
            kj_hint(p->diag, m, "'=' assigns, '==' compares");
        else if (kj_hint_pointer(p, m, e) || kj_hint_misspelled(p, m, span.begin))
            ;
        else if (p->gives && ends_function(p))
            kj_write(p->diag, m, span, "return %.*s", (int)(span.end - span.begin),
                     p->source->text + span.begin);
        else if (e->kind == KJ_E_NAME && span.begin == e->span.begin)
            kj_hint_lone_name(p, m, e->u.name);
    }
    return limited_stmt(p, s);
}

kj_stmt *kj_make_stmt(kj_parser *p, kj_span span, kj_stmt_kind kind, kj_expr *e)
{
    kj_stmt *s = stmt_above(p, span, kind, depth_of(e));
    s->u.expr = e;
    return limited_stmt(p, s);
}

kj_stmt *kj_make_if(kj_parser *p, kj_span span, kj_expr *test, kj_block yes, kj_stmts no)
{
    kj_stmt *s =
        stmt_above(p, span, KJ_S_IF, deeper(test->depth, deeper(yes.stmts.depth, no.depth)));
    s->u.if_.test = test;
    s->u.if_.yes = yes.stmts.first;
    s->u.if_.no = no.first;
    return limited_stmt(p, s);
}

kj_stmts kj_make_elif(kj_parser *p, kj_span span, kj_expr *test, kj_block yes, kj_stmts no)
{
    return kj_stmt_append((kj_stmts){0}, kj_make_if(p, span, test, yes, no));
}

kj_stmt *kj_make_for(kj_parser *p, kj_span span, kj_names names, kj_expr *iter, kj_block body)
{
    kj_stmt *s = stmt_above(p, span, KJ_S_FOR, deeper(iter->depth, body.stmts.depth));
    s->u.for_.names = names.first;
    s->u.for_.iter = iter;
    s->u.for_.body = body.stmts.first;
    return limited_stmt(p, s);
}

kj_stmt *kj_make_while(kj_parser *p, kj_span span, kj_expr *test, kj_block body)
{
    kj_stmt *s = stmt_above(p, span, KJ_S_WHILE, deeper(test->depth, body.stmts.depth));
    s->u.while_.test = test;
    s->u.while_.body = body.stmts.first;
    return limited_stmt(p, s);
}

kj_stmt *kj_make_with(kj_parser *p, kj_span span, kj_expr *value, const char *name,
                      kj_span name_span, kj_stmts body)
{
    kj_stmt *s = stmt_above(p, span, KJ_S_WITH, deeper(value->depth, body.depth));
    s->u.with.value = value;
    s->u.with.name = name ? kj_name_append(p, (kj_names){0}, name_span, name).first : NULL;
    s->u.with.body = body.first;
    return limited_stmt(p, s);
}

kj_stmt *kj_widen(kj_span span, kj_stmt *s)
{
    s->span = span;
    return s;
}

kj_stmt *kj_make_block(kj_parser *p, kj_span span, kj_block body)
{
    kj_stmt *s = stmt_above(p, span, KJ_S_BLOCK, body.stmts.depth);
    s->u.block.body = body.stmts.first;
    return limited_stmt(p, s);
}

kj_stmt *kj_with_attrs(kj_attrs attrs, kj_span span, kj_stmt *s)
{
    s->attrs = attrs.first;
    s->span = span;
    return s;
}

/* ---- Limits ---- */

int kj_count(const kj_expr *list)
{
    int n = 0;
    for (; list; list = list->next)
        n++;
    return n;
}

void kj_parse_stop(kj_parser *p, kj_span at, kj_rule rule, const char *text)
{
    if (p->stopped)
        return;
    p->stopped = true;
    kj_error(p->diag, at, rule, "%s", text);
}

void kj_parse_too_deep(kj_parser *p, kj_span at, const char *of)
{
    if (p->stopped)
        return;
    p->stopped = true;
    kj_message *m = of ? kj_error(p->diag, at, KJ_RULE_TOO_DEEP,
                                  "nested too deeply: more than %d %s", KJ_MAX_DEPTH, of)
                       : kj_error(p->diag, at, KJ_RULE_TOO_DEEP, "nested too deeply");
    kj_hint(p->diag, m,
            "expressions and blocks nest at most %d deep; name parts of them with 'let'",
            KJ_MAX_DEPTH);
}
