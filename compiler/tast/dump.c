/* The typed AST as text: a statement a line, blocks indented, expressions in infix with
 * conversions and types.
 *
 * Constants carry their type unless it is i64 or bool; `f32(x)` is a conversion; variables are
 * name#id. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lang/signature.h"
#include "tast/tast.h"

typedef struct text {
    kj_text out;
    int indent;
} text;

static void put(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    kj_text_vprintf(&t->out, format, args);
    va_end(args);
}

static void line(text *t)
{
    put(t, "\n%*s", t->indent * 4, "");
}

static void put_expr(text *t, const kj_texpr *e);
static void put_stmts(text *t, const kj_tstmt *s);

static void put_value(text *t, kj_value v)
{
    const char *type = kj_types[v.type].name;
    if (v.type == KJ_BOOL) {
        put(t, "%s", v.u ? "true" : "false");
    } else if (kj_is_float(v.type)) {
        char digits[40];
        bool whole = v.f >= -1e9 && v.f <= 1e9 && v.f == (double)(int64_t)v.f;
        kj_snprintf(digits, sizeof digits, "%.1f", whole ? v.f : 0);
        for (int n = 1; n <= 17 && !whole; n++) {
            kj_snprintf(digits, sizeof digits, "%.*g", n, v.f);
            double back = kj_strtod(digits, NULL);
            if (v.type == KJ_F32 ? (float)back == (float)v.f : back == v.f)
                break;
        }
        put(t, "%s%s:%s", digits, strpbrk(digits, ".en") ? "" : ".0", type);
    } else if (kj_is_signed(v.type)) {
        put(t, "%lld%s%s", (long long)v.i, v.type == KJ_I64 ? "" : ":",
            v.type == KJ_I64 ? "" : type);
    } else {
        put(t, "%llu:%s", (unsigned long long)v.u, type);
    }
}

static void put_var(text *t, const kj_var *v)
{
    put(t, "%s#%d", v->name, v->id);
}

/* a[i, j]; a view says what it is a view of where it is made, not here. */
static void put_element(text *t, const kj_tarray *a, kj_texpr *const *index)
{
    put(t, "%s", a->root->name);
    if (a->cache)
        put(t, ".%s", a->cache);
    if (a->root != a) {
        put(t, "{");
        if (a->offset)
            put_expr(t, a->offset);
        else
            put(t, "0");
        put(t, ";");
        for (int i = 0; i < a->ndim; i++) {
            put(t, i ? ", " : " ");
            put_expr(t, a->stride[i]);
        }
        put(t, "}");
    }
    put(t, "[");
    for (int i = 0; i < a->ndim; i++) {
        put(t, "%s", i ? ", " : "");
        put_expr(t, index[i]);
    }
    put(t, "]");
}

static void put_args(text *t, kj_texpr *const *args, int n)
{
    put(t, "(");
    for (int i = 0; i < n && args[i]; i++) {
        put(t, "%s", i ? ", " : "");
        put_expr(t, args[i]);
    }
    put(t, ")");
}

static void put_block(text *t, const kj_tblock *b)
{
    put(t, "%s%s%s {", b->name, b->leaves ? " leaves" : "", b->barrier ? " barrier" : "");
    put_stmts(t, b->body);
    put(t, "}");
}

static void put_index(text *t, const kj_texpr *e)
{
    static const char *const names[] = {"threadIdx", "blockIdx", "blockDim", "gridDim"};
    if (e->u.index.which == KJ_LANE_ID)
        put(t, "laneid");
    else
        put(t, "%s.%c", names[e->u.index.which], "xyz"[e->u.index.axis]);
}

static void put_operators(text *t, const kj_texpr *e)
{
    put(t, "(");
    switch (e->kind) {
    case KJ_TE_BINARY:
        put_expr(t, e->u.binary.lhs);
        put(t, " %s ", kj_ops[e->u.binary.op].spelling);
        put_expr(t, e->u.binary.rhs);
        break;
    case KJ_TE_LOGIC:
        put_expr(t, e->u.logic.lhs);
        put(t, e->u.logic.is_or ? " or " : " and ");
        put_expr(t, e->u.logic.rhs);
        break;
    case KJ_TE_SELECT:
        put_expr(t, e->u.select.yes);
        put(t, " if ");
        put_expr(t, e->u.select.test);
        put(t, " else ");
        put_expr(t, e->u.select.no);
        break;
    default:
        put(t, "%s%s", kj_ops[e->u.unary.op].spelling, e->u.unary.op == KJ_OP_NOT ? " " : "");
        put_expr(t, e->u.unary.arg);
        break;
    }
    put(t, ")");
}

static void put_expr(text *t, const kj_texpr *e)
{
    kj_texpr *fma[3];
    switch (e->kind) {
    case KJ_TE_CONST: put_value(t, e->u.value); break;
    case KJ_TE_VAR: put_var(t, e->u.var); break;
    case KJ_TE_DIM:
        put(t, "%s.%s[%d]", e->u.dim.array->name, e->u.dim.stride ? "strides" : "shape",
            e->u.dim.axis);
        break;
    case KJ_TE_ADDRESS: put(t, "address(%s)", e->u.dim.array->name); break;
    case KJ_TE_INDEX: put_index(t, e); break;
    case KJ_TE_UNARY:
    case KJ_TE_BINARY:
    case KJ_TE_LOGIC:
    case KJ_TE_SELECT: put_operators(t, e); break;
    case KJ_TE_BITS:
        put_expr(t, e->u.unary.arg);
        put(t, ".view(%s)", kj_types[e->type].name);
        break;
    case KJ_TE_CONVERT:
        put(t, "%s(", kj_types[e->type].name);
        put_expr(t, e->u.unary.arg);
        put(t, ")");
        break;
    case KJ_TE_FMA:
        fma[0] = e->u.fma.a, fma[1] = e->u.fma.b, fma[2] = e->u.fma.c;
        put(t, "fma");
        put_args(t, fma, 3);
        break;
    case KJ_TE_LOAD: put_element(t, e->u.load.array, e->u.load.index); break;
    case KJ_TE_CALL:
        put(t, "%s", kj_builtins[e->u.call.id].name);
        if (kj_builtin_results(e->u.call.id) > 1)
            put(t, "[%d]", e->u.call.part);
        put_args(t, e->u.call.args, e->u.call.nargs);
        break;
    case KJ_TE_ATOMIC:
        put(t, "%s ", kj_builtins[e->u.atomic.id].name);
        put_element(t, e->u.atomic.array, e->u.atomic.index);
        put_args(t, e->u.atomic.args, 2);
        break;
    case KJ_TE_INLINE:
        put(t, "inline ");
        put_var(t, e->u.inline_.result);
        put(t, " = ");
        put_block(t, e->u.inline_.block);
        break;
    }
}

static void put_shape(text *t, const kj_tarray *a)
{
    static const char *const spaces[] = {"", "shared ", "local ", "const "};
    put(t, "%s%s: %s[", spaces[a->space], a->name, a->of ? a->of->name : kj_type_name(a->elem));
    for (int i = 0; i < a->ndim; i++) {
        put(t, "%s", i ? ", " : "");
        if (a->param < 0)
            put_expr(t, a->shape[i]);
    }
    put(t, "]");
}

static void put_body(text *t, const kj_tstmt *s, bool barrier)
{
    put(t, "%s {", barrier ? " barrier" : "");
    put_stmts(t, s);
    put(t, "}");
}

static void put_loop(text *t, const kj_tstmt *s)
{
    if (s->kind == KJ_TS_WHILE) {
        put(t, "while ");
        put_expr(t, s->u.while_.test);
        put_body(t, s->u.while_.body, s->barrier);
        return;
    }
    kj_texpr *bounds[3] = {s->u.for_.start, s->u.for_.stop, s->u.for_.step};
    put(t, "%sfor ", s->u.for_.unroll ? "@unroll " : "");
    put_var(t, s->u.for_.var);
    put(t, ": %s in range", kj_types[s->u.for_.var->type].name);
    put_args(t, bounds, 3);
    put_body(t, s->u.for_.body, s->barrier);
}

/* A variable that a statement declares beside what it does. */
static void put_result(text *t, const kj_var *v)
{
    put(t, "let ");
    put_var(t, v);
    put(t, " = ");
}

static void put_stmt(text *t, const kj_tstmt *s)
{
    line(t);
    switch (s->kind) {
    case KJ_TS_DECL:
        put(t, "%s ", s->u.decl.var->mutable ? "var" : "let");
        put_var(t, s->u.decl.var);
        put(t, ": %s", kj_types[s->u.decl.var->type].name);
        if (s->u.decl.init) {
            put(t, " = ");
            put_expr(t, s->u.decl.init);
        }
        break;
    case KJ_TS_ARRAY: put_shape(t, s->u.array); break;
    case KJ_TS_ASSIGN:
        put_var(t, s->u.assign.var);
        put(t, " = ");
        put_expr(t, s->u.assign.value);
        break;
    case KJ_TS_STORE:
        put_element(t, s->u.store.array, s->u.store.index);
        put(t, " = ");
        put_expr(t, s->u.store.value);
        break;
    case KJ_TS_EXPR: put_expr(t, s->u.expr); break;
    case KJ_TS_IF:
        put(t, "if ");
        put_expr(t, s->u.if_.test);
        put_body(t, s->u.if_.yes, s->barrier);
        if (s->u.if_.no) {
            put(t, " else");
            put_body(t, s->u.if_.no, false);
        }
        break;
    case KJ_TS_FOR:
    case KJ_TS_WHILE: put_loop(t, s); break;
    case KJ_TS_BREAK: put(t, "break"); break;
    case KJ_TS_CONTINUE: put(t, "continue"); break;
    case KJ_TS_LEAVE: put(t, "leave %s", s->u.leave->name); break;
    case KJ_TS_INLINE:
        put(t, "inline ");
        put_block(t, s->u.block);
        break;
    case KJ_TS_BARRIER:
        if (s->u.barrier.result)
            put_result(t, s->u.barrier.result);
        put(t, "%s", kj_builtins[s->u.barrier.id].name);
        put_args(t, &s->u.barrier.arg, 1);
        break;
    case KJ_TS_LAUNCH:
        put_result(t, s->u.launch.result);
        put(t, "launch %s", s->u.launch.child ? s->u.launch.child->kernel->name : "");
        put_args(t, s->u.launch.values, s->u.launch.nvalues);
        break;
    case KJ_TS_REPORT:
        put(t, s->u.report.site->fault ? "fail" : "print");
        put_args(t, s->u.report.values, s->u.report.site->nvalues);
        break;
    }
}

static void put_stmts(text *t, const kj_tstmt *s)
{
    t->indent++;
    for (; s; s = s->next)
        put_stmt(t, s);
    t->indent--;
    line(t);
}

static void put_params(text *t, const kj_tkernel *k)
{
    static const char *const layouts[] = {"", " F", " strided", " rows"};
    for (int i = 0; i < k->nparams; i++) {
        const kj_tparam *p = &k->params[i];
        put(t, "%s", i ? ", " : "");
        if (p->var) {
            put_var(t, p->var);
            put(t, ": %s", kj_types[p->var->type].name);
            continue;
        }
        put(t, "%s: %s[%.*s]%s", p->name,
            p->array->of ? p->array->of->name : kj_type_name(p->array->elem), p->array->ndim - 1,
            ",,,,,", layouts[p->array->layout]);
        if (p->array->read || p->array->written)
            put(t, " %s%s", p->array->read ? "r" : "", p->array->written ? "w" : "");
    }
}

const char *kj_tast_dump(kj_arena *arena, const kj_tkernel *k)
{
    text t = {.out.arena = arena};
    if (k->launch_bounds[0])
        put(&t, "@launch_bounds(%d, %d) ", k->launch_bounds[0], k->launch_bounds[1]);
    if (k->max_registers)
        put(&t, "@max_registers(%d) ", k->max_registers);
    put(&t, "%skernel %s(", k->fastmath ? "@fastmath " : "", k->name);
    put_params(&t, k);
    put(&t, ")%s%s {", k->body->leaves ? " leaves" : "", k->body->barrier ? " barrier" : "");
    t.indent++;
    for (int i = 0; i < k->nroots; i++) {
        if (k->roots[i]->space == KJ_CONST) {
            line(&t);
            put_shape(&t, k->roots[i]);
        }
    }
    for (const kj_trequire *r = k->requires; r; r = r->next) {
        line(&t);
        put(&t, "requires ");
        put_expr(&t, r->test);
    }
    t.indent--;
    put_stmts(&t, k->body->body);
    put(&t, "}\n");
    return t.out.data;
}
