/* Calls of functions: generics inferred, arguments bound, the body walked again in place.
 *
 * A body whose only return is its last statement is written straight into the caller's list and
 * its value used as it stands. Otherwise returns assign result variables; when one of them is
 * not in tail position the copy is a KJ_TS_INLINE that a KJ_TS_LEAVE can end. */
#include <string.h>

#include "sema/body/body.h"

enum { CALL_NODES = 8 }; /* what an empty call counts, for the limit on a kernel's size */

/* ---- Bodies ---- */

static int count_returns(const kj_stmt *st)
{
    int n = 0;
    for (; st; st = st->next) {
        if (st->kind == KJ_S_RETURN)
            n++;
        else if (st->kind == KJ_S_IF)
            n += count_returns(st->u.if_.yes) + count_returns(st->u.if_.no);
        else if (st->kind == KJ_S_FOR)
            n += count_returns(st->u.for_.body);
        else if (st->kind == KJ_S_WHILE)
            n += count_returns(st->u.while_.body);
        else if (st->kind == KJ_S_BLOCK)
            n += count_returns(st->u.block.body);
    }
    return n;
}

static bool is_direct(const kj_item *item)
{
    const kj_stmt *last = item->body;
    while (last && last->next)
        last = last->next;
    bool ends = last && last->kind == KJ_S_RETURN;
    int n = count_returns(item->body);
    return item->type ? n == 1 && ends : n == 0 || (n == 1 && ends);
}

static int count_scalars(const kj_type *t)
{
    int n = t->kind == KJ_T_AGGREGATE ? kj_count_parts(t->of) : t->kind == KJ_T_SCALAR;
    for (int i = 0; i < t->n; i++)
        n += count_scalars(&t->parts[i]);
    return n;
}

/* The result variables, one after the other. */
typedef struct results {
    kj_frame *frame;
    int at;
} results;

static kj_texpr *declare_result(kj_sema *s, void *ctx, const kj_field *part)
{
    results *r = ctx;
    kj_frame *f = r->frame;
    const char *name = kj_arena_printf(s->arena, "%s.result", f->item->name);
    kj_var *v = kj_new_var(s, name, f->call, part->type, true);
    kj_emit_decl(s, v, NULL, f->call);
    f->results[r->at++] = v;
    return kj_te_var(s, v, f->call);
}

static kj_texpr *read_result(kj_sema *s, void *ctx, const kj_field *part)
{
    results *r = ctx;
    (void)part;
    return kj_te_var(s, r->frame->results[r->at++], r->frame->call);
}

static void declare_results(kj_sema *s, kj_frame *f, const kj_type *t, int *at)
{
    results r = {f, *at};
    if (t->kind == KJ_T_SCALAR)
        declare_result(s, &r, &(kj_field){.type = t->dtype});
    else if (t->kind == KJ_T_AGGREGATE)
        kj_build(s, t->of, declare_result, &r, f->call);
    *at = r.at;
    for (int i = 0; i < t->n; i++)
        declare_results(s, f, &t->parts[i], at);
}

/* The result variables as the operand that the type describes. */
static kj_operand read_results(kj_sema *s, kj_frame *f, const kj_type *t, int *at)
{
    results r = {f, *at};
    if (t->kind == KJ_T_SCALAR || t->kind == KJ_T_AGGREGATE) {
        kj_operand v = t->of ? kj_build(s, t->of, read_result, &r, f->call)
                             : kj_scalar(read_result(s, &r, NULL));
        *at = r.at;
        return v;
    }
    kj_operand *items = KJ_NEW_ARRAY(s->arena, kj_operand, (size_t)t->n + 1);
    for (int i = 0; i < t->n; i++)
        items[i] = read_results(s, f, &t->parts[i], at);
    return kj_tuple(items, t->n, NULL, f->call);
}

static void walk_body(kj_sema *s, kj_frame *f)
{
    if (f->direct) {
        kj_stmts(s, f->item->body, true);
        return;
    }
    kj_sink sink;
    kj_sink_open(s, &sink);
    kj_stmts(s, f->item->body, true);
    kj_tstmt *body = kj_sink_close(s, &sink);
    f->block->barrier = sink.barrier;
    f->block->body = body;
    if (!f->block->leaves) {
        kj_splice(s, body, sink.barrier);
        return;
    }
    kj_tstmt *st = kj_emit(s, KJ_TS_INLINE, f->call);
    st->u.block = f->block;
    st->barrier = sink.barrier;
    s->sink->barrier |= sink.barrier;
}

/* Walks the body in the instance's scope; returns the call's value. */
static kj_operand run_body(kj_sema *s, kj_instance *in, int fn, kj_span call)
{
    kj_frame f = {.up = s->frame,
                  .item = in->item,
                  .fn = fn,
                  .call = call,
                  .direct = is_direct(in->item),
                  .bindings = kj_bindings_text(s, in),
                  .value = {.kind = KJ_V_NONE}};
    kj_scope *scope = s->scope;
    const char *naming = s->naming;
    s->scope = in->scope;
    f.result = kj_resolve_type(s, in->item->type);
    f.block = KJ_NEW(s->arena, kj_tblock);
    f.block->span = call;
    f.block->name = in->item->name;
    if (!f.direct) {
        f.results = KJ_NEW_ARRAY(s->arena, kj_var *, (size_t)count_scalars(&f.result) + 1);
        declare_results(s, &f, &f.result, &f.nresults);
    }
    s->naming = NULL;
    s->frame = &f;
    kj_own_params(s, in->item);
    walk_body(s, &f);
    s->frame = f.up;
    s->scope = scope;
    s->naming = naming;
    if (f.result.kind == KJ_T_ERROR || s->broken[fn] || s->too_big)
        return kj_no_value(call);
    if (f.direct)
        return f.value;
    int at = 0;
    if (f.result.kind == KJ_T_NONE)
        return (kj_operand){.kind = KJ_V_NONE, .span = call};
    return f.result.kind == KJ_T_ARRAY ? kj_no_value(call) : read_results(s, &f, &f.result, &at);
}

/* ---- Arguments ---- */

static bool bind(kj_sema *s, kj_instance *in, kj_operand *v)
{
    int i = 0;
    bool ok = true;
    for (const kj_param_decl *p = in->item->params; p; p = p->next, i++) {
        const char *what = kj_arena_printf(s->diag->arena, "'%s' of '%s'", p->name, in->item->name);
        int before = s->diag->errors;
        v[i] = kj_coerce_type(s, v[i], &in->types[i], what);
        if (!kj_names_generic(in->item, p->type))
            v[i] = kj_asked_for(s, v[i]);
        ok = ok && v[i].kind != KJ_V_ERROR;
        if (s->diag->errors > before)
            kj_note_hiding(s, s->diag->last, in->item->name, in->item->name_span);
    }
    if (!ok)
        return false;
    kj_scope *outer = s->scope;
    i = 0;
    for (const kj_param_decl *p = in->item->params; p; p = p->next, i++) {
        /* the argument itself when it never changes, else a hidden let */
        v[i] = kj_hold_value(s, v[i], p->name);
        s->scope = in->scope;
        kj_declare_value(s, p->name, p->span, KJ_ROLE_PARAM, v[i]);
        s->scope = outer;
    }
    return true;
}

/* Reports f -> g -> f when `item` is being walked already. */
static bool recursive(kj_sema *s, const kj_item *item, const kj_expr *e)
{
    kj_frame *again = s->frame;
    while (again && again->item != item)
        again = again->up;
    if (!again)
        return false;
    const char *cycle = item->name;
    for (kj_frame *f = s->frame;; f = f->up) {
        if (f->fn >= 0)
            s->broken[f->fn] = true;
        cycle = kj_arena_printf(s->diag->arena, "%s -> %s", f->item->name, cycle);
        if (f == again)
            break;
    }
    kj_message *m =
        kj_sema_error(s, e->span, KJ_RULE_RECURSION, "functions cannot call themselves: %s", cycle);
    const char *as_run = kj_as_run_function(s, item);
    if (as_run)
        kj_hint(s->diag, m, "use a loop, or a function of run blocks, which may: %s", as_run);
    else
        kj_hint(s->diag, m, "use a loop");
    return true;
}

/* More than one argument has a name. */
static bool other_names(const kj_expr *call)
{
    int n = 0;
    for (const kj_expr *arg = call->u.call.args; arg; arg = arg->next)
        n += arg->keyword != NULL;
    return n > 1;
}

bool kj_no_keywords(kj_sema *s, const kj_expr *e, const char *name)
{
    for (const kj_expr *arg = e->u.call.args; arg; arg = arg->next) {
        if (arg->keyword) {
            kj_message *m = kj_sema_error(s, arg->keyword_span, KJ_RULE_KEYWORD,
                                          "'%s' takes its arguments by place, without names", name);
            if (strcmp(name, "print") == 0)
                kj_hint(s->diag, m, "in a kernel each print writes a line of its own");
            else if (kj_asks_condition(name) && !other_names(e))
                kj_hint_equals(s, m, arg, arg == e->u.call.args ? name : NULL);
            return false;
        }
    }
    return true;
}

/* The value of a parameter that has a default and is not given. */
kj_operand kj_default_argument(kj_sema *s, const kj_item *fn, const kj_param_decl *p)
{
    kj_scope *scope = s->scope;
    s->scope = fn->file->scope;
    kj_operand v = kj_expr_untyped(s, p->init, KJ_VOID);
    s->scope = scope;
    return v;
}

/* Parameters are bound from the first to the last: arguments that are written in another order are evaluated before, for
 * their effects and for what fails in the first. */
static void keep_order(kj_sema *s, kj_operand *written, const int *place, int n)
{
    bool moved = false;
    for (int i = 1; i < n; i++)
        moved |= place[i] < place[i - 1];
    for (int i = 0; moved && i < n; i++) {
        kj_tstmt **end = s->sink->tail;
        kj_spill(s, &written[i], &end);
    }
}

/* The arguments as given, evaluated in the order they are written in, and defaults, a parameter each; NULL
 * after an error. */
static kj_operand *arguments(kj_sema *s, const kj_expr *e, const kj_item *fn)
{
    int n = kj_count(e->u.call.args), nparams = kj_count_params(fn), i = 0;
    kj_operand *written = KJ_NEW_ARRAY(s->arena, kj_operand, (size_t)n + 1);
    kj_operand *v = KJ_NEW_ARRAY(s->arena, kj_operand, (size_t)nparams + 1);
    int *place = KJ_NEW_ARRAY(s->arena, int, (size_t)n + 1);
    const char *naming = s->naming;
    s->naming = NULL;
    kj_expr_list(s, e->u.call.args, written, n);
    s->naming = naming;
    if (!kj_match_arguments(s, e, fn, place))
        return NULL;
    keep_order(s, written, place, n);
    for (i = 0; i < nparams; i++)
        v[i] = (kj_operand){.kind = KJ_V_NONE};
    for (i = 0; i < n; i++) {
        if (written[i].kind == KJ_V_ERROR)
            return NULL;
        v[place[i]] = written[i];
    }
    i = 0;
    for (const kj_param_decl *p = fn->params; p; p = p->next, i++) {
        if (v[i].kind == KJ_V_NONE && p->init)
            v[i] = kj_default_argument(s, fn, p);
        if (v[i].kind == KJ_V_ERROR)
            return NULL;
    }
    return v;
}

/* ---- Values that stand for any ---- */

static kj_texpr *any_scalar(kj_sema *s, void *ctx, const kj_field *part)
{
    const kj_param_decl *p = ctx;
    kj_var *var = kj_new_var(s, p->name, p->span, part->type, false);
    var->param = 0; /* it may be what a launch knows */
    return kj_te_var(s, var, p->span);
}

/* An argument that stands for any: a variable a scalar, a root of unknown strides an array. */
static kj_operand any_value(kj_sema *s, const kj_type *t, const kj_param_decl *p)
{
    kj_operand v = {.kind = KJ_V_TUPLE, .span = p->span};
    kj_param_decl own = *p;
    switch (t->kind) {
    case KJ_T_SCALAR: return kj_scalar(any_scalar(s, &own, &(kj_field){.type = t->dtype}));
    case KJ_T_AGGREGATE: return kj_build(s, t->of, any_scalar, &own, p->span);
    case KJ_T_ARRAY:
        v.kind = KJ_V_ARRAY;
        v.u.array = kj_param_array(s, p->name, p->span, t, KJ_LAYOUT_STRIDED, 0);
        return v;
    case KJ_T_TUPLE:
        v.u.tuple.items = KJ_NEW_ARRAY(s->arena, kj_operand, (size_t)t->n + 1);
        v.u.tuple.n = t->n;
        for (int i = 0; i < t->n; i++)
            v.u.tuple.items[i] = any_value(s, &t->parts[i], p);
        return v;
    default: return kj_no_value(p->span);
    }
}

/* Is a function being checked alone? Then its parameters stand for any value, known or not. */
bool kj_checked_alone(const kj_sema *s)
{
    const kj_frame *f = s->frame;
    while (f && f->up)
        f = f->up;
    return f && f->fn >= 0;
}

/* What a call gives that is not walked into. */
static kj_operand any_result(kj_sema *s, const kj_instance *in, kj_span call)
{
    kj_param_decl p = {.name = in->item->name, .span = call};
    kj_scope *outer = s->scope;
    s->scope = in->scope;
    kj_type type = kj_resolve_type(s, in->item->type);
    s->scope = outer;
    kj_operand v = {.kind = KJ_V_NONE};
    if (type.kind != KJ_T_NONE)
        v = any_value(s, &type, &p);
    v.span = call;
    return v;
}

kj_operand kj_fn_call(kj_sema *s, const kj_expr *e, const kj_symbol *fn)
{
    kj_instance in = {.item = fn->item};
    kj_spend(s, CALL_NODES);
    kj_operand *v = recursive(s, fn->item, e) ? NULL : arguments(s, e, fn->item);
    if (s->broken[fn->index] || s->too_big)
        return kj_no_value(e->span);
    kj_open_generics(s, &in);
    if (!v && kj_count_generics(fn->item) > 0)
        return kj_no_value(e->span);
    if ((v && !kj_infer(s, &in, v, e)) || !kj_open_instance(s, &in))
        return kj_no_value(e->span);
    if (!v ||
        !bind(s, &in, v)) /* whatever variables turn out to be, a guess knows the result's type */
        return kj_is_guessing(s) ? any_result(s, &in, e->span) : kj_no_value(e->span);
    if (s->nodes > KJ_MAX_NODES / 2 && kj_checked_alone(s)) /* it may be in no kernel */
        return any_result(s, &in, e->span);
    return run_body(s, &in, fn->index, e->span);
}

/* ---- A function alone ---- */

/* Does it end with a call of what its file does not have? `retrun (x)` */
static bool ends_undeclared(const kj_item *item)
{
    const kj_stmt *last = item->body;
    while (last && last->next)
        last = last->next;
    const kj_expr *e = last && last->kind == KJ_S_EXPR ? last->u.expr : NULL;
    return e && e->kind == KJ_E_CALL && e->u.call.callee->kind == KJ_E_NAME &&
           !kj_scope_find(item->file->scope, e->u.call.callee->u.name);
}

void kj_fn_check(kj_sema *s, const kj_symbol *fn, const kj_dtype *generics)
{
    const kj_item *item = fn->item;
    kj_instance in = {.item = item};
    int n = kj_count_generics(item), i = 0;
    in.generics = KJ_NEW_ARRAY(s->arena, kj_dtype, (size_t)n + 1);
    for (int g = 0; g < n; g++)
        in.generics[g] = generics[g];
    kj_frame f = {.item = item,
                  .fn = fn->index,
                  .call = item->name_span,
                  .bindings = kj_bindings_text(s, &in)};
    s->frame = &f;
    kj_open_instance(s, &in);
    const kj_param_decl *with_default = NULL;
    for (const kj_param_decl *p = item->params; p; p = p->next, i++) {
        if (p->is_const) {
            kj_message *m = kj_sema_error(s, p->span, KJ_RULE_CONST_PARAMETER,
                                          "a function has no const parameters");
            kj_hint(s->diag, m, "a constant argument is known inside anyway: write %s: i32",
                    p->name);
        }
        with_default = with_default ? with_default : p->init ? p : NULL;
        kj_check_default_place(s, with_default, p);
        if (p->init)
            kj_check_default(s, p, &in.types[i], kj_default_argument(s, item, p));
        kj_operand v = any_value(s, &in.types[i], p);
        s->scope = in.scope;
        kj_declare_value(s, p->name, p->span, KJ_ROLE_PARAM, v);
        s->scope = item->file->scope;
    }
    if (item->attrs) {
        kj_message *m = kj_sema_error(s, item->attrs->span, KJ_RULE_ATTRIBUTE,
                                      "attributes belong to kernels, not to functions");
        kj_hint(s->diag, m, "a function is compiled into the kernels that call it: leave it out");
        const kj_attr *attr = item->attrs;
        uint32_t end = attr->span.end;
        end += (uint32_t)strspn(s->diag->source->text + end, " \t\r\n");
        if (!attr->args)
            kj_fix(s->diag, m, (kj_span){attr->span.begin - 1, end}, "%s", "");
    }
    s->frame = NULL;
    int before = s->diag->errors;
    run_body(s, &in, fn->index, item->name_span);
    s->frame = &f;
    bool told = (s->diag->errors > before && ends_undeclared(item)) ||
                (item->type && kj_is_no_type(item->type->name));
    if (item->type && !kj_end_of(item->body) && !told) {
        f.bindings = NULL;
        kj_message *m = kj_sema_error(s, item->end, KJ_RULE_MISSING_RETURN,
                                      "'%s' can end without returning a value", item->name);
        kj_note(s->diag, m, item->type->span, "declared here");
    }
    s->frame = NULL;
}
