/* Walks over the AST that several stages share. */
#include <string.h>

#include "base/hash.h"
#include "parse/ast.h"

/* ---- Items ---- */

static const kj_item **item_slot(const kj_file *file, const char *name, size_t len)
{
    size_t i = (size_t)kj_hash(name, len) & (file->slots - 1);
    while (file->named[i] &&
           (strncmp(file->named[i]->name, name, len) != 0 || file->named[i]->name[len]))
        i = (i + 1) & (file->slots - 1);
    return &file->named[i];
}

const kj_item *kj_item_called(const kj_file *file, const char *name, size_t len)
{
    return file->slots ? *item_slot(file, name, len) : NULL;
}

void kj_items_named(kj_arena *arena, kj_file *file)
{
    size_t n = 0;
    for (const kj_item *item = file->items; item; item = item->next)
        n++;
    for (file->slots = 4; file->slots < 2 * n; file->slots *= 2)
        ;
    file->named = KJ_NEW_ARRAY(arena, const kj_item *, file->slots);
    for (const kj_item *item = file->items; item; item = item->next) {
        const kj_item **at = item->name ? item_slot(file, item->name, strlen(item->name)) : NULL;
        if (at && !*at)
            *at = item;
    }
}

/* ---- Enums ---- */

static size_t slot_of(const kj_item *of, const char *name)
{
    size_t i = (size_t)(((uintptr_t)name >> 3) * 0x9e3779b97f4a7c15u) & (of->slots - 1);
    while (of->members[i] && of->members[i]->member != name)
        i = (i + 1) & (of->slots - 1);
    return i;
}

const kj_item *kj_enumerator(const kj_item *of, const char *name)
{
    return of && of->enumerates ? of->members[slot_of(of, name)] : NULL;
}

void kj_enumerator_add(kj_item *of, const kj_item *constant)
{
    const kj_item **at = &of->members[slot_of(of, constant->member)];
    *at = *at ? *at : constant;
}

/* ---- Calls ---- */

int kj_param_of(const kj_item *fn, const kj_expr *arg, int nth)
{
    int i = 0;
    for (const kj_param_decl *p = fn->params; p; p = p->next, i++)
        if (arg->keyword ? strcmp(arg->keyword, p->name) == 0 : i == nth)
            return i;
    return -1;
}

/* ---- Expressions ---- */

void kj_each_part(const kj_expr *e, kj_part_fn *visit, void *ctx)
{
    const kj_expr *list = NULL, *parts[3] = {NULL, NULL, NULL};
    switch (e->kind) {
    case KJ_E_UNARY: parts[0] = e->u.unary.arg; break;
    case KJ_E_BINARY:
        parts[0] = e->u.binary.lhs;
        parts[1] = e->u.binary.rhs;
        break;
    case KJ_E_LOGIC:
        parts[0] = e->u.logic.lhs;
        parts[1] = e->u.logic.rhs;
        break;
    case KJ_E_COND:
        parts[0] = e->u.cond.test;
        parts[1] = e->u.cond.yes;
        parts[2] = e->u.cond.no;
        break;
    case KJ_E_CALL:
        parts[0] = e->u.call.callee;
        list = e->u.call.args;
        break;
    case KJ_E_INDEX:
        parts[0] = e->u.index.base;
        list = e->u.index.args;
        break;
    case KJ_E_SLICE:
        parts[0] = e->u.slice.start;
        parts[1] = e->u.slice.stop;
        parts[2] = e->u.slice.step;
        break;
    case KJ_E_MEMBER: parts[0] = e->u.member.base; break;
    case KJ_E_CHAIN: list = e->u.chain.operands; break;
    case KJ_E_TUPLE:
    case KJ_E_FORMAT:
    case KJ_E_LIST: list = e->u.list.items; break;
    default: break;
    }
    for (int i = 0; i < 3; i++)
        if (parts[i])
            visit(ctx, parts[i]);
    for (; list; list = list->next)
        visit(ctx, list);
}

bool kj_is_sum(const kj_expr *e)
{
    kj_op op = e->kind == KJ_E_BINARY ? e->u.binary.op : KJ_NOPS;
    bool negates = e->kind == KJ_E_UNARY && e->u.unary.op == KJ_OP_NEG;
    return negates || op == KJ_OP_ADD || op == KJ_OP_SUB || op == KJ_OP_MUL || op == KJ_OP_POW;
}

bool kj_convert_parts(kj_text *t, const char *source, const kj_expr *e, const char *function,
                      uint32_t *done)
{
    if (!kj_is_sum(e)) {
        kj_text_add(t, source + *done, e->span.begin - *done);
        kj_text_printf(t, "%s(%.*s)", function, (int)(e->span.end - e->span.begin),
                       source + e->span.begin);
        *done = e->span.end;
        return e->span.begin < e->span.end;
    }
    if (e->kind == KJ_E_UNARY)
        return kj_convert_parts(t, source, e->u.unary.arg, function, done);
    const kj_expr *lhs = e->u.binary.lhs, *rhs = e->u.binary.rhs;
    if (e->u.binary.op == KJ_OP_POW)
        return kj_convert_parts(t, source, lhs, function, done);
    bool number = lhs->kind == KJ_E_INT || lhs->kind == KJ_E_FLOAT;
    bool left = kj_is_sum(lhs), right = kj_is_sum(rhs) || number;
    return (!(left || !right) || kj_convert_parts(t, source, lhs, function, done)) &&
           (!right || kj_convert_parts(t, source, rhs, function, done));
}

/* ---- Statements ---- */

void kj_each_own_expr(const kj_stmt *st, kj_part_fn *visit, void *ctx)
{
    const kj_expr *one = NULL, *targets = NULL;
    switch (st->kind) {
    case KJ_S_LET:
    case KJ_S_PARAM: one = st->u.let.init; break;
    case KJ_S_ASSIGN:
        targets = st->u.assign.targets;
        one = st->u.assign.value;
        break;
    case KJ_S_IF: one = st->u.if_.test; break;
    case KJ_S_FOR: one = st->u.for_.iter; break;
    case KJ_S_WHILE: one = st->u.while_.test; break;
    case KJ_S_WITH: one = st->u.with.value; break;
    case KJ_S_EXPR:
    case KJ_S_RETURN:
    case KJ_S_REQUIRES:
    case KJ_S_LAUNCH: one = st->u.expr; break;
    case KJ_S_BLOCK:
    case KJ_S_BREAK:
    case KJ_S_CONTINUE: break;
    }
    for (; targets; targets = targets->next)
        visit(ctx, targets);
    if (one)
        visit(ctx, one);
}

void kj_blocks_of(const kj_stmt *st, const kj_stmt *out[2])
{
    out[0] = out[1] = NULL;
    if (st->kind == KJ_S_IF) {
        out[0] = st->u.if_.yes;
        out[1] = st->u.if_.no;
    } else if (st->kind == KJ_S_FOR) {
        out[0] = st->u.for_.body;
    } else if (st->kind == KJ_S_WHILE) {
        out[0] = st->u.while_.body;
    } else if (st->kind == KJ_S_BLOCK) {
        out[0] = st->u.block.body;
    } else if (st->kind == KJ_S_WITH) {
        out[0] = st->u.with.body;
    }
}

void kj_each_expr(const kj_stmt *list, kj_part_fn *visit, void *ctx)
{
    const kj_stmt *blocks[2];
    for (const kj_stmt *st = list; st; st = st->next) {
        kj_each_own_expr(st, visit, ctx);
        kj_blocks_of(st, blocks);
        kj_each_expr(blocks[0], visit, ctx);
        kj_each_expr(blocks[1], visit, ctx);
    }
}

static bool breaks(const kj_stmt *st)
{
    for (; st; st = st->next) {
        if (st->kind == KJ_S_BREAK)
            return true;
        if (st->kind == KJ_S_IF && (breaks(st->u.if_.yes) || breaks(st->u.if_.no)))
            return true;
        if (st->kind == KJ_S_BLOCK && breaks(st->u.block.body))
            return true;
    }
    return false;
}

static bool is_for_ever(const kj_stmt *st)
{
    const kj_expr *test = st->kind == KJ_S_WHILE ? st->u.while_.test : NULL;
    return test && test->kind == KJ_E_BOOL && test->u.integer && !breaks(st->u.while_.body);
}

const kj_stmt *kj_end_of(const kj_stmt *list)
{
    for (; list; list = list->next) {
        bool leaves =
            list->kind == KJ_S_RETURN || list->kind == KJ_S_BREAK || list->kind == KJ_S_CONTINUE;
        bool both = list->kind == KJ_S_IF && list->u.if_.no && kj_end_of(list->u.if_.yes) &&
                    kj_end_of(list->u.if_.no);
        bool inside = list->kind == KJ_S_BLOCK && kj_end_of(list->u.block.body);
        if (leaves || both || inside || is_for_ever(list))
            return list;
    }
    return NULL;
}

int kj_count_names(const kj_name *names)
{
    int n = 0;
    for (; names; names = names->next)
        n++;
    return n;
}

const kj_expr *kj_let_items(const kj_stmt *let)
{
    const kj_expr *init = let->u.let.init;
    const kj_name *name = let->u.let.names;
    if (!init || init->kind != KJ_E_TUPLE || !name->next)
        return NULL;
    const kj_expr *item = init->u.list.items;
    for (; item && name; item = item->next)
        name = name->next;
    return item || name ? NULL : init->u.list.items;
}
