/* What a typed kernel promises (tast.h), looked at, for tests: a kernel in; the first promise that does
 * not hold out, NULL when all do. */
#include "base/hash.h"
#include "tast/tast.h"

typedef enum state { UNDECLARED, IN_SCOPE, OUT_OF_SCOPE } state;

typedef struct check {
    kj_arena *arena;
    const kj_tkernel *kernel;
    state *vars;   /* by id */
    int *declared; /* those in scope, the latest last */
    int ndeclared;
    bool *arrays;           /* local and shared ones that were declared, by root id */
    const kj_texpr **loads; /* those that were seen, by a hash of their address */
    int nloads, load_places;
    const char *wrong;
} check;

/* What break, continue and leave may leave. */
typedef struct around {
    const struct around *up;
    const kj_tblock *block; /* NULL: a loop */
} around;

static void check_stmts(check *c, const kj_tstmt *s, const around *up);

static void wrong(check *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void wrong(check *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (!c->wrong)
        c->wrong = kj_arena_vprintf(c->arena, format, args);
    va_end(args);
}

/* ---- Variables and arrays ---- */

static void declare(check *c, const kj_var *v)
{
    if (v->id < 0 || v->id >= c->kernel->nvars || c->vars[v->id] != UNDECLARED) {
        wrong(c, "%s#%d is declared twice, or beyond the kernel's %d", v->name, v->id,
              c->kernel->nvars);
        return;
    }
    c->vars[v->id] = IN_SCOPE;
    c->declared[c->ndeclared++] = v->id;
}

static void close_scope(check *c, int ndeclared)
{
    while (c->ndeclared > ndeclared)
        c->vars[c->declared[--c->ndeclared]] = OUT_OF_SCOPE;
}

static void use(check *c, const kj_var *v)
{
    if (v->id < 0 || v->id >= c->kernel->nvars || c->vars[v->id] != IN_SCOPE)
        wrong(c, "%s#%d is used where it is not declared", v->name, v->id);
}

static void touch(check *c, const kj_tarray *a)
{
    const kj_tarray *root = a->root;
    bool known =
        root->id >= 0 && root->id < c->kernel->nroots && c->kernel->roots[root->id] == root;
    bool made = root->space == KJ_LOCAL || root->space == KJ_SHARED;
    if (!known || root->root != root)
        wrong(c, "%s is no array of the kernel", a->name);
    else if (made && !c->arrays[root->id])
        wrong(c, "%s is used before it is declared", root->name);
}

/* ---- Expressions ---- */

static void check_expr(check *c, const kj_texpr *e, const around *up);

static void typed(check *c, const kj_texpr *e, kj_dtype type, const char *what)
{
    if (e->type != type)
        wrong(c, "%s is %s and not %s", what, kj_types[e->type].name, kj_types[type].name);
}

/* Its place in the table, which has an empty one. */
static const kj_texpr **place_of(const check *c, const kj_texpr *e)
{
    uint64_t at = kj_hash_word(KJ_HASH_BEGIN, (uint64_t)(uintptr_t)e);
    while (c->loads[at % (uint64_t)c->load_places] && c->loads[at % (uint64_t)c->load_places] != e)
        at++;
    return &c->loads[at % (uint64_t)c->load_places];
}

static void grow_loads(check *c)
{
    const kj_texpr **old = c->loads;
    int places = c->load_places;
    c->load_places = places ? 2 * places : 64;
    c->loads = KJ_NEW_ARRAY(c->arena, const kj_texpr *, (size_t)c->load_places);
    for (int i = 0; i < places; i++)
        if (old[i])
            *place_of(c, old[i]) = old[i];
}

/* What is known of an access is known where it stands: it stands in one place. */
static void once(check *c, const kj_texpr *e)
{
    if (2 * c->nloads >= c->load_places)
        grow_loads(c);
    const kj_texpr **at = place_of(c, e);
    if (*at)
        wrong(c, "an element of %s is loaded in two places by one node", e->u.load.array->name);
    *at = e;
    c->nloads++;
}

static void check_access(check *c, const kj_tarray *a, kj_texpr *const *index)
{
    touch(c, a);
    if (a->offset)
        typed(c, a->offset, KJ_I64, "an offset");
    for (int i = 0; i < a->ndim; i++) {
        typed(c, index[i], KJ_I64, "an index");
        typed(c, a->stride[i], KJ_I64, "a stride");
    }
}

static void check_binary(check *c, const kj_texpr *e)
{
    bool compares = kj_ops[e->u.binary.op].class == KJ_OPS_COMPARE;
    const kj_texpr *a = e->u.binary.lhs;
    typed(c, e->u.binary.rhs, a->type, kj_ops[e->u.binary.op].spelling);
    typed(c, e, compares ? KJ_BOOL : a->type, kj_ops[e->u.binary.op].spelling);
}

static void check_kind(check *c, const kj_texpr *e, const around *up)
{
    switch (e->kind) {
    case KJ_TE_CONST:
        if (e->u.value.type != e->type)
            wrong(c, "a constant has another type than its expression");
        break;
    case KJ_TE_VAR:
        use(c, e->u.var);
        typed(c, e, e->u.var->type, "a variable's value");
        break;
    case KJ_TE_DIM:
    case KJ_TE_INDEX:
    case KJ_TE_ADDRESS: typed(c, e, KJ_I64, "a size, index or address"); break;
    case KJ_TE_UNARY: typed(c, e->u.unary.arg, e->type, kj_ops[e->u.unary.op].spelling); break;
    case KJ_TE_BINARY: check_binary(c, e); break;
    case KJ_TE_LOGIC:
        typed(c, e, KJ_BOOL, "and, or");
        typed(c, e->u.logic.lhs, KJ_BOOL, "and, or");
        typed(c, e->u.logic.rhs, KJ_BOOL, "and, or");
        break;
    case KJ_TE_SELECT:
        typed(c, e->u.select.test, KJ_BOOL, "a condition");
        typed(c, e->u.select.yes, e->type, "an arm");
        typed(c, e->u.select.no, e->type, "an arm");
        break;
    case KJ_TE_CONVERT: break;
    case KJ_TE_BITS:
        if (kj_types[e->type].bits != kj_types[e->u.unary.arg->type].bits)
            wrong(c, "bits of a type of another width");
        break;
    case KJ_TE_FMA:
        typed(c, e->u.fma.a, e->type, "a factor");
        typed(c, e->u.fma.b, e->type, "a factor");
        typed(c, e->u.fma.c, e->type, "a summand");
        break;
    case KJ_TE_LOAD:
        check_access(c, e->u.load.array, e->u.load.index);
        typed(c, e, e->u.load.array->elem, "an element");
        once(c, e);
        break;
    case KJ_TE_CALL: break;
    case KJ_TE_ATOMIC: check_access(c, e->u.atomic.array, e->u.atomic.index); break;
    case KJ_TE_INLINE:
        declare(c, e->u.inline_.result);
        typed(c, e, e->u.inline_.result->type, "a call's value");
        check_stmts(c, e->u.inline_.block->body, &(around){up, e->u.inline_.block});
        break;
    }
}

static void check_expr(check *c, const kj_texpr *e, const around *up)
{
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    for (int i = 0, n = kj_operands(e, operands); i < n; i++)
        check_expr(c, operands[i], up);
    bool call = e->kind == KJ_TE_CALL;
    if (!kj_is_scalar(e->type) && !(call && e->type == KJ_VOID))
        wrong(c, "an expression has no type");
    check_kind(c, e, up);
}

/* ---- Statements ---- */

static void check_values(check *c, kj_texpr *const *values, int n, const around *up)
{
    for (int i = 0; i < n; i++)
        check_expr(c, values[i], up);
}

static void check_leave(check *c, const kj_tblock *block, const around *up)
{
    while (up && up->block != block && (block || !up->block))
        up = up->up;
    if (!up || up->block != block)
        wrong(c, "a statement leaves what is not around it");
}

static void check_store(check *c, const kj_tstmt *s, const around *up)
{
    const kj_tarray *a = s->u.store.array;
    if (a->offset)
        check_expr(c, a->offset, up);
    check_values(c, s->u.store.index, a->ndim, up);
    check_values(c, a->stride, a->ndim, up);
    check_expr(c, s->u.store.value, up);
    check_access(c, a, s->u.store.index);
    typed(c, s->u.store.value, a->elem, "what is stored");
}

static void check_for(check *c, const kj_tstmt *s, const around *up)
{
    kj_dtype type = s->u.for_.var->type;
    check_values(c, (kj_texpr *[]){s->u.for_.start, s->u.for_.stop, s->u.for_.step}, 3, up);
    typed(c, s->u.for_.start, type, "a loop's start");
    typed(c, s->u.for_.stop, type, "a loop's end");
    typed(c, s->u.for_.step, type, "a loop's step");
    int before = c->ndeclared;
    declare(c, s->u.for_.var);
    check_stmts(c, s->u.for_.body, &(around){up, NULL});
    close_scope(c, before);
}

static void check_stmt(check *c, const kj_tstmt *s, const around *up)
{
    switch (s->kind) {
    case KJ_TS_DECL:
        if (s->u.decl.init) {
            check_expr(c, s->u.decl.init, up);
            typed(c, s->u.decl.init, s->u.decl.var->type, "a variable's first value");
        }
        declare(c, s->u.decl.var);
        break;
    case KJ_TS_ARRAY: c->arrays[s->u.array->id] = true; break;
    case KJ_TS_ASSIGN:
        check_expr(c, s->u.assign.value, up);
        use(c, s->u.assign.var);
        typed(c, s->u.assign.value, s->u.assign.var->type, "what is assigned");
        if (!s->u.assign.var->mutable)
            wrong(c, "%s#%d is assigned and cannot be", s->u.assign.var->name, s->u.assign.var->id);
        break;
    case KJ_TS_STORE: check_store(c, s, up); break;
    case KJ_TS_EXPR: check_expr(c, s->u.expr, up); break;
    case KJ_TS_IF:
        check_expr(c, s->u.if_.test, up);
        typed(c, s->u.if_.test, KJ_BOOL, "a condition");
        check_stmts(c, s->u.if_.yes, up);
        check_stmts(c, s->u.if_.no, up);
        break;
    case KJ_TS_FOR: check_for(c, s, up); break;
    case KJ_TS_WHILE:
        check_expr(c, s->u.while_.test, up);
        typed(c, s->u.while_.test, KJ_BOOL, "a condition");
        check_stmts(c, s->u.while_.body, &(around){up, NULL});
        break;
    case KJ_TS_BREAK:
    case KJ_TS_CONTINUE: check_leave(c, NULL, up); break;
    case KJ_TS_LEAVE: check_leave(c, s->u.leave, up); break;
    case KJ_TS_INLINE: check_stmts(c, s->u.block->body, &(around){up, s->u.block}); break;
    case KJ_TS_REPORT:
        if (!s->u.report.site->fault)
            check_values(c, s->u.report.values, s->u.report.site->nvalues, up);
        break;
    case KJ_TS_LAUNCH:
        check_values(c, s->u.launch.values, s->u.launch.nvalues, up);
        declare(c, s->u.launch.result);
        break;
    case KJ_TS_BARRIER:
        if (s->u.barrier.arg) {
            check_expr(c, s->u.barrier.arg, up);
            declare(c, s->u.barrier.result);
        }
        break;
    }
}

static bool holds_barrier(const kj_tstmt *s)
{
    switch (s->kind) {
    case KJ_TS_BARRIER: return true;
    case KJ_TS_IF:
        for (const kj_tstmt *t = s->u.if_.yes; t; t = t->next)
            if (t->barrier)
                return true;
        s = s->u.if_.no;
        break;
    case KJ_TS_FOR: s = s->u.for_.body; break;
    case KJ_TS_WHILE: s = s->u.while_.body; break;
    case KJ_TS_INLINE: s = s->u.block->body; break;
    default: return false;
    }
    while (s && !s->barrier)
        s = s->next;
    return s != NULL;
}

static void check_stmts(check *c, const kj_tstmt *s, const around *up)
{
    int before = c->ndeclared;
    for (; s && !c->wrong; s = s->next) {
        check_stmt(c, s, up);
        if (s->barrier != holds_barrier(s))
            wrong(c, "a statement does not know whether it holds a barrier");
    }
    close_scope(c, before);
}

const char *kj_tast_check(kj_arena *arena, const kj_tkernel *kernel)
{
    check c = {.arena = arena, .kernel = kernel};
    c.vars = KJ_NEW_ARRAY(arena, state, (size_t)kernel->nvars + 1);
    c.declared = KJ_NEW_ARRAY(arena, int, (size_t)kernel->nvars + 1);
    c.arrays = KJ_NEW_ARRAY(arena, bool, (size_t)kernel->nroots + 1);
    for (int i = 0; i < kernel->nparams; i++)
        if (kernel->params[i].var)
            declare(&c, kernel->params[i].var);
    check_stmts(&c, kernel->body->body, &(around){NULL, kernel->body});
    return c.wrong;
}
