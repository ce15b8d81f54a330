/* The tree as an indented listing, a node a line: its kind, what it carries, then its parts two
 * blanks deeper. The format is read by tests. */
#include <string.h>

#include "parse/ast.h"

typedef struct dump {
    kj_text text;
    int level;
} dump;

static void dump_expr(dump *d, const char *role, const kj_expr *e);
static void dump_stmts(dump *d, const char *role, const kj_stmt *s);

static void put(dump *d, const char *text)
{
    kj_text_puts(&d->text, text);
}

/* Begins a line: the indentation, and what part of the node above it is. */
static void begin(dump *d, const char *role)
{
    for (int i = 0; i < d->level; i++)
        put(d, "  ");
    if (role) {
        put(d, role);
        put(d, ": ");
    }
}

static void line(dump *d, const char *role, const char *what)
{
    begin(d, role);
    put(d, what);
    put(d, "\n");
}

static void dump_exprs(dump *d, const kj_expr *list)
{
    for (const kj_expr *e = list; e; e = e->next)
        dump_expr(d, e->keyword, e);
}

static void dump_string(dump *d, const char *text, size_t len)
{
    put(d, "string \"");
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '"' || c == '\\')
            kj_text_printf(&d->text, "\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            kj_text_printf(&d->text, "\\x%02x", c);
        else
            kj_text_add(&d->text, &text[i], 1);
    }
    put(d, "\"\n");
}

static void dump_leaf(dump *d, const kj_expr *e)
{
    switch (e->kind) {
    case KJ_E_INT: kj_text_printf(&d->text, "int %llu\n", (unsigned long long)e->u.integer); break;
    case KJ_E_FLOAT: kj_text_printf(&d->text, "float %.15g\n", e->u.real); break;
    case KJ_E_IMAG: kj_text_printf(&d->text, "imaginary %.15g\n", e->u.real); break;
    case KJ_E_BOOL: kj_text_printf(&d->text, "bool %s\n", e->u.integer ? "true" : "false"); break;
    case KJ_E_STRING: dump_string(d, e->u.string.text, e->u.string.len); break;
    default: kj_text_printf(&d->text, "name %s\n", e->u.name); break;
    }
}

static void dump_chain(dump *d, const kj_expr *e)
{
    put(d, "chain");
    for (int i = 0; i < e->u.chain.nops; i++)
        kj_text_printf(&d->text, " %s", kj_ops[e->u.chain.ops[i]].spelling);
    put(d, "\n");
    d->level++;
    dump_exprs(d, e->u.chain.operands);
    d->level--;
}

static void dump_parts(dump *d, const kj_expr *e)
{
    d->level++;
    switch (e->kind) {
    case KJ_E_UNARY: dump_expr(d, NULL, e->u.unary.arg); break;
    case KJ_E_BINARY:
        dump_expr(d, NULL, e->u.binary.lhs);
        dump_expr(d, NULL, e->u.binary.rhs);
        break;
    case KJ_E_LOGIC:
        dump_expr(d, NULL, e->u.logic.lhs);
        dump_expr(d, NULL, e->u.logic.rhs);
        break;
    case KJ_E_COND:
        dump_expr(d, "test", e->u.cond.test);
        dump_expr(d, "yes", e->u.cond.yes);
        dump_expr(d, "no", e->u.cond.no);
        break;
    case KJ_E_CALL:
        dump_expr(d, "callee", e->u.call.callee);
        dump_exprs(d, e->u.call.args);
        break;
    case KJ_E_INDEX:
        dump_expr(d, "base", e->u.index.base);
        dump_exprs(d, e->u.index.args);
        break;
    case KJ_E_SLICE:
        dump_expr(d, "start", e->u.slice.start);
        dump_expr(d, "stop", e->u.slice.stop);
        dump_expr(d, "step", e->u.slice.step);
        break;
    case KJ_E_MEMBER: dump_expr(d, NULL, e->u.member.base); break;
    default: dump_exprs(d, e->u.list.items); break;
    }
    d->level--;
}

static void dump_expr(dump *d, const char *role, const kj_expr *e)
{
    if (!e)
        return;
    begin(d, role);
    switch (e->kind) {
    case KJ_E_INT:
    case KJ_E_FLOAT:
    case KJ_E_IMAG:
    case KJ_E_BOOL:
    case KJ_E_STRING:
    case KJ_E_NAME: dump_leaf(d, e); return;
    case KJ_E_CHAIN: dump_chain(d, e); return;
    case KJ_E_UNARY: kj_text_printf(&d->text, "unary %s\n", kj_ops[e->u.unary.op].spelling); break;
    case KJ_E_BINARY:
        kj_text_printf(&d->text, "binary %s\n", kj_ops[e->u.binary.op].spelling);
        break;
    case KJ_E_LOGIC: kj_text_printf(&d->text, "%s\n", e->u.logic.is_or ? "or" : "and"); break;
    case KJ_E_COND: put(d, "cond\n"); break;
    case KJ_E_CALL: put(d, "call\n"); break;
    case KJ_E_INDEX: put(d, "index\n"); break;
    case KJ_E_SLICE: put(d, "slice\n"); break;
    case KJ_E_MEMBER: kj_text_printf(&d->text, "member %s\n", e->u.member.name); break;
    case KJ_E_TUPLE: put(d, "tuple\n"); break;
    case KJ_E_LIST: put(d, "list\n"); break;
    case KJ_E_FORMAT: put(d, "format\n"); break;
    }
    dump_parts(d, e);
}

/* ---- Types ---- */

static void put_type(dump *d, const kj_type_ref *t)
{
    if (t->name) {
        kj_text_printf(&d->text, "%s", t->name);
        if (t->ndim)
            put(d, "[");
        for (int i = 1; i < t->ndim; i++)
            put(d, ",");
        if (t->ndim)
            put(d, "]");
        return;
    }
    put(d, "(");
    for (const kj_type_ref *part = t->parts; part; part = part->next) {
        put_type(d, part);
        if (part->next)
            put(d, ", ");
    }
    put(d, ")");
}

static void dump_type(dump *d, const char *role, const kj_type_ref *t)
{
    if (!t)
        return;
    begin(d, role);
    put(d, "type ");
    put_type(d, t);
    put(d, "\n");
    d->level++;
    for (const kj_expr *e = t->extents; e; e = e->next)
        dump_expr(d, "extent", e);
    d->level--;
}

/* ---- Statements ---- */

static void dump_attrs(dump *d, const kj_attr *list)
{
    for (const kj_attr *a = list; a; a = a->next) {
        begin(d, NULL);
        kj_text_printf(&d->text, "@%s\n", a->name);
        d->level++;
        dump_exprs(d, a->args);
        d->level--;
    }
}

static void put_names(dump *d, const char *kind, const kj_name *names)
{
    kj_text_printf(&d->text, "%s", kind);
    for (const kj_name *n = names; n; n = n->next)
        kj_text_printf(&d->text, " %s", n->name);
    put(d, "\n");
}

static void dump_declaration(dump *d, const char *kind, const kj_stmt *s)
{
    put_names(d, kind, s->u.let.names);
    d->level++;
    dump_type(d, NULL, s->u.let.type);
    if (s->u.let.init)
        dump_expr(d, NULL, s->u.let.init);
    d->level--;
}

static void dump_assign(dump *d, const kj_stmt *s)
{
    kj_text_printf(&d->text, "assign %s=\n",
                   s->u.assign.augmented ? kj_ops[s->u.assign.op].spelling : "");
    d->level++;
    for (const kj_expr *e = s->u.assign.targets; e; e = e->next)
        dump_expr(d, "target", e);
    dump_expr(d, NULL, s->u.assign.value);
    d->level--;
}

static void dump_simple(dump *d, const char *kind, const kj_expr *e)
{
    kj_text_printf(&d->text, "%s\n", kind);
    d->level++;
    dump_expr(d, NULL, e);
    d->level--;
}

static void dump_if(dump *d, const kj_stmt *s)
{
    put(d, "if\n");
    d->level++;
    dump_expr(d, "test", s->u.if_.test);
    dump_stmts(d, "yes", s->u.if_.yes);
    dump_stmts(d, "no", s->u.if_.no);
    d->level--;
}

static void dump_stmt(dump *d, const kj_stmt *s)
{
    begin(d, NULL);
    switch (s->kind) {
    case KJ_S_LET: dump_declaration(d, s->u.let.mutable ? "var" : "let", s); break;
    case KJ_S_PARAM: dump_declaration(d, "param", s); break;
    case KJ_S_ASSIGN: dump_assign(d, s); break;
    case KJ_S_EXPR: dump_simple(d, "expr", s->u.expr); break;
    case KJ_S_IF: dump_if(d, s); break;
    case KJ_S_FOR:
        put_names(d, "for", s->u.for_.names);
        d->level++;
        dump_attrs(d, s->attrs);
        dump_expr(d, "in", s->u.for_.iter);
        dump_stmts(d, "body", s->u.for_.body);
        d->level--;
        break;
    case KJ_S_WHILE:
        put(d, "while\n");
        d->level++;
        dump_attrs(d, s->attrs);
        dump_expr(d, "test", s->u.while_.test);
        dump_stmts(d, "body", s->u.while_.body);
        d->level--;
        break;
    case KJ_S_BLOCK:
        put(d, "block\n");
        d->level++;
        dump_attrs(d, s->attrs);
        dump_stmts(d, "body", s->u.block.body);
        d->level--;
        break;
    case KJ_S_WITH:
        put_names(d, "with", s->u.with.name);
        d->level++;
        dump_expr(d, "value", s->u.with.value);
        dump_stmts(d, "body", s->u.with.body);
        d->level--;
        break;
    case KJ_S_BREAK: dump_simple(d, "break", NULL); break;
    case KJ_S_CONTINUE: dump_simple(d, "continue", NULL); break;
    case KJ_S_RETURN: dump_simple(d, "return", s->u.expr); break;
    case KJ_S_REQUIRES: dump_simple(d, "requires", s->u.expr); break;
    case KJ_S_LAUNCH: dump_simple(d, "launch", s->u.expr); break;
    }
}

static void dump_stmts(dump *d, const char *role, const kj_stmt *list)
{
    if (!list)
        return;
    line(d, NULL, role);
    d->level++;
    for (const kj_stmt *s = list; s; s = s->next)
        dump_stmt(d, s);
    d->level--;
}

/* ---- Items ---- */

/* NULL: it has none. */
static void dump_text(dump *d, const char *role, const char *text)
{
    if (!text)
        return;
    begin(d, role);
    dump_string(d, text, strlen(text));
}

static void dump_item(dump *d, const kj_item *item)
{
    static const char *const kinds[] = {
        [KJ_I_USE] = "use",       [KJ_I_CONST] = "const",   [KJ_I_FN] = "fn",
        [KJ_I_KERNEL] = "kernel", [KJ_I_RECORD] = "record", [KJ_I_RUN] = "run",
        [KJ_I_RUN_FN] = "run",    [KJ_I_TYPE] = "type",     [KJ_I_TEST] = "test",
    };
    begin(d, NULL);
    kj_text_printf(&d->text, "%s%s%s\n", item->enumerates ? "enum" : kinds[item->kind],
                   item->name ? " " : "", item->name ? item->name : "");
    d->level++;
    dump_text(d, item->library ? "std" : "path", item->path);
    dump_text(d, "title", item->title);
    dump_text(d, "fails", item->fails);
    dump_attrs(d, item->attrs);
    for (const kj_generic *g = item->generics; g; g = g->next) {
        begin(d, NULL);
        kj_text_printf(&d->text, "generic %s%s%s\n", g->name, g->bound ? ": " : "",
                       g->bound ? g->bound : "");
    }
    for (const kj_param_decl *p = item->params; p; p = p->next) {
        begin(d, NULL);
        kj_text_printf(&d->text, "%s %s%s\n", item->kind == KJ_I_RECORD ? "field" : "param",
                       p->is_const ? "const " : "", p->name);
        d->level++;
        dump_type(d, NULL, p->type);
        dump_expr(d, "default", p->init);
        d->level--;
    }
    dump_type(d, item->kind == KJ_I_FN ? "result" : NULL, item->type);
    if (item->base) {
        begin(d, NULL);
        kj_text_printf(&d->text, "after %s: %d\n", item->base->name, item->step);
    } else {
        dump_expr(d, NULL, item->value);
    }
    dump_stmts(d, "body", item->body);
    d->level--;
}

const char *kj_ast_dump(kj_arena *arena, const kj_file *file)
{
    dump d = {.text = {.arena = arena}};
    kj_text_add(&d.text, "", 0);
    for (const kj_item *item = file->items; item; item = item->next)
        dump_item(&d, item);
    return d.text.data;
}
