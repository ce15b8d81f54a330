/* Launches by kernels: `launch child[grid, block](args)`.
 *
 * The child is specialised now, for the arguments' types and layouts: what the host decides at a
 * launch of its own has to be known here, the block's shape too. A launch becomes
 *     if grid is not empty {
 *         if grid is too large { fail }
 *         let status = launch ...
 *         if status != 0 { fail }
 *     }
 * Children are collected in a list, each built once, after the kernel that the host launches. */
#include <string.h>

#include "sema/body/body.h"

enum {
    MAX_CHILDREN = 64,     /* specialisations */
    MAX_SLOTS = 500,       /* of a child: 4000 bytes of parameters */
    MAX_SHARED = 48 << 10, /* bytes of a child's shared arrays */
    MAX_GRID_X = 2147483647,
    MAX_GRID_YZ = 65535,
};

typedef struct launch {
    const kj_expr *call, *config; /* k[...](...) and k[...] */
    const kj_kernel_decl *decl;
    const kj_expr **from; /* a parameter's argument, or NULL */
    kj_operand *args;
    kj_spec spec;
    kj_layout *layouts; /* the spec's */
    kj_texpr *grid[3];
    kj_texpr **values;
    int nvalues;
} launch;

/* ---- The parts of the call ---- */

static kj_message *misused(kj_sema *s, kj_span at, const char *format, const char *name)
{
    kj_message *m = kj_sema_error(s, at, KJ_RULE_LAUNCH, format, name);
    kj_hint(s->diag, m, "write launch kernel[blocks, threads](arguments)");
    return m;
}

static bool open_launch(kj_sema *s, const kj_stmt *st, launch *l)
{
    const kj_expr *e = st->u.expr;
    bool configured = e && e->kind == KJ_E_CALL && e->u.call.callee->kind == KJ_E_INDEX;
    const kj_expr *base = configured ? e->u.call.callee->u.index.base : NULL;
    const kj_symbol *sym = base ? kj_scope_named(s->scope, base) : NULL;
    if (base && base->kind == KJ_E_NAME && !sym) {
        kj_undeclared(s, base->u.name, base->span);
        return false;
    }
    if (base && !sym && kj_is_of_file(s->scope, base)) {
        kj_member_of_file(s, base);
        return false;
    }
    if (base && base->kind == KJ_E_NAME && kj_hides_kernel(s->scope, base->u.name)) {
        kj_message *m = kj_sema_error(s, base->span, KJ_RULE_LAUNCH,
                                      "'%s' is no kernel here: a variable has its name", sym->name);
        kj_note(s->diag, m, sym->span, "declared here");
        kj_hint(s->diag, m, "give the variable another name");
        return false;
    }
    if (!sym || sym->kind != KJ_SYM_KERNEL) {
        misused(s, e ? e->span : st->span, "%s", "this is no launch of a kernel");
        return false;
    }
    l->call = e;
    l->config = e->u.call.callee;
    l->decl = kj_kernel_of(s->program, sym->item);
    int n = kj_count(l->config->u.index.args);
    if (n != 2)
        misused(s, l->config->span, "a launch of '%s' by a kernel needs a grid and a block",
                sym->name);
    return n == 2 && l->decl;
}

/* ---- Grid and block ---- */

/* An integer or a tuple of up to three; the others are 1. False after an error. */
static bool extents(kj_sema *s, const kj_expr *e, const char *what, kj_texpr *out[3])
{
    kj_operand v = kj_expr_value(s, e, KJ_VOID);
    int n = v.kind == KJ_V_TUPLE ? v.u.tuple.n : 1;
    if (v.kind == KJ_V_ERROR)
        return false;
    if (n < 1 || n > 3) {
        kj_sema_error(s, e->span, KJ_RULE_LAUNCH, "%s has 1 to 3 extents, not %d", what, n);
        return false;
    }
    for (int i = 0; i < 3; i++)
        out[i] = kj_te_i64(s, 1, e->span);
    for (int i = 0; i < n; i++) {
        kj_operand item;
        if (!kj_size_item(s, &v, i, what, &item) ||
            !(out[i] = kj_size_value(s, kj_most_i64(s, item), what)))
            return false;
    }
    return true;
}

/* Would it be a constant if the block of this kernel were known? */
static bool is_of_block(const kj_texpr *e)
{
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    bool known = e->kind == KJ_TE_CONST || e->kind == KJ_TE_UNARY || e->kind == KJ_TE_BINARY ||
                 e->kind == KJ_TE_CONVERT ||
                 (e->kind == KJ_TE_INDEX && e->u.index.which == KJ_BLOCK_DIM);
    for (int i = 0, n = kj_operands(e, operands); i < n && known; i++)
        known = is_of_block(operands[i]);
    return known;
}

static bool read_block(kj_sema *s, launch *l, const kj_expr *e)
{
    kj_texpr *shape[3];
    int64_t threads = 1, bound = l->decl->launch_bounds[0] ? l->decl->launch_bounds[0] : 1024;
    if (!extents(s, e, "a block", shape))
        return false;
    for (int i = 0; i < 3; i++) {
        if (!kj_is_const(shape[i]) && !(s->spec->block[0] == 0 && is_of_block(shape[i]))) {
            kj_message *m = kj_sema_error(s, e->span, KJ_RULE_LAUNCH,
                                          "the block of a launch by a kernel is not known here");
            kj_hint(s->diag, m, "make it a constant, or a const parameter of the kernel");
            return false;
        }
        l->spec.block[i] =
            kj_is_const(shape[i]) && !kj_is_hypothetical(s) ? shape[i]->u.value.i : 1;
        int64_t most = i == 2 ? 64 : 1024;
        threads = l->spec.block[i] > most ? 0 : threads * l->spec.block[i];
        if (l->spec.block[i] < 1 || threads < 1 || threads > bound) {
            kj_sema_error(s, e->span, KJ_RULE_LAUNCH,
                          "a block of '%s' has 1 to %lld threads, at most (1024, 1024, 64)",
                          l->decl->name, (long long)bound);
            return false;
        }
    }
    return true;
}

/* ---- Arguments ---- */

/* The parameter an argument is for, or -1 after an error. */
static int place_of(kj_sema *s, const launch *l, const kj_expr *arg, int nth)
{
    for (int i = 0; i < l->decl->nparams; i++)
        if (arg->keyword ? strcmp(l->decl->params[i].name, arg->keyword) == 0 : i == nth)
            return i;
    if (arg->keyword)
        kj_sema_error(s, arg->keyword_span, KJ_RULE_KEYWORD, "'%s' has no parameter '%s'",
                      l->decl->name, arg->keyword);
    else
        kj_sema_error(s, arg->span, KJ_RULE_ARGUMENT_COUNT, "'%s' takes at most %d arguments",
                      l->decl->name, l->decl->nparams);
    return -1;
}

static bool place_arguments(kj_sema *s, launch *l)
{
    int nth = 0;
    if (!kj_names_last(s, l->call->u.call.args))
        return false;
    for (const kj_expr *arg = l->call->u.call.args; arg; arg = arg->next) {
        int i = place_of(s, l, arg, nth);
        if (i < 0)
            return false;
        if (l->from[i]) {
            kj_sema_error(s, arg->span, KJ_RULE_KEYWORD, "'%s' is given twice",
                          l->decl->params[i].name);
            return false;
        }
        l->from[i] = arg;
        nth += !arg->keyword;
        if (!l->decl->params[i].is_const)
            l->args[i] = kj_hold_value(s, kj_expr_untyped(s, arg, KJ_VOID), "argument");
        if (l->args[i].kind == KJ_V_ERROR && !l->decl->params[i].is_const)
            return false;
    }
    for (int i = 0; i < l->decl->nparams; i++) {
        const kj_kernel_param *p = &l->decl->params[i];
        if (l->from[i] || (p->is_const && p->has_default))
            continue;
        if (p->has_default) /* which has been refused */
            return false;
        kj_message *m = kj_sema_error(s, l->call->span, KJ_RULE_ARGUMENT_COUNT,
                                      "the launch has no argument for '%s'", p->name);
        kj_note(s->diag, m, p->span, "declared here");
        return false;
    }
    return true;
}

static bool default_const(kj_sema *s, const launch *l, const kj_kernel_param *p, kj_dtype type,
                          kj_value *out)
{
    if (kj_default_as(p->init, type, out))
        return true;
    kj_message *m =
        kj_sema_error(s, l->call->span, KJ_RULE_CONSTANT_RANGE,
                      "'%s' of '%s' is %s, which its default, %s, does not fit", p->name,
                      l->decl->name, kj_sema_type_name(s, type), kj_literal_text(s, p->init));
    kj_note(s->diag, m, p->span, "declared here");
    return false;
}

static bool read_consts(kj_sema *s, launch *l)
{
    kj_value *consts = KJ_NEW_ARRAY(s->arena, kj_value, (size_t)l->decl->nconsts + 1);
    int n = 0;
    for (int i = 0; i < l->decl->nparams; i++) {
        const kj_kernel_param *p = &l->decl->params[i];
        if (!p->is_const)
            continue;
        kj_dtype type = p->generic >= 0 ? l->spec.generics[p->generic] : p->type;
        const char *what = kj_arena_printf(s->diag->arena, "the const parameter '%s'", p->name);
        if (l->from[i] ? !kj_expr_const(s, l->from[i], type, what, &consts[n])
                       : !default_const(s, l, p, type, &consts[n]))
            return false;
        n++;
    }
    l->spec.consts = consts;
    return true;
}

static void add_value(launch *l, kj_texpr *e)
{
    if (l->nvalues < 3 + MAX_SLOTS)
        l->values[l->nvalues] = e;
    l->nvalues++;
}

static void add_scalars(launch *l, const kj_operand *v)
{
    if (v->kind == KJ_V_SCALAR)
        add_value(l, v->u.scalar.e);
    for (int i = 0; v->kind == KJ_V_TUPLE && i < v->u.tuple.n; i++)
        add_scalars(l, &v->u.tuple.items[i]);
}

static kj_texpr *address(kj_sema *s, kj_tarray *a, kj_span span)
{
    if (kj_is_chosen(a))
        return kj_te_select(s, a->root->test, address(s, kj_arm(s, a, 0), span),
                            address(s, kj_arm(s, a, 1), span), span);
    kj_texpr *base = kj_te(s, KJ_TE_ADDRESS, KJ_I64, span);
    base->u.dim.array = a->root;
    if (!a->offset)
        return base;
    kj_texpr *bytes = kj_i64_mul(s, a->offset, kj_te_i64(s, kj_unit(a), span), span);
    return kj_te_binary(s, KJ_OP_ADD, base, bytes, span);
}

static bool is_global(kj_sema *s, const kj_tarray *a, kj_span span)
{
    if (kj_is_chosen(a))
        return is_global(s, a->root->arms[0], span) && is_global(s, a->root->arms[1], span);
    if (kj_is_in_bytes(a)) {
        kj_sema_error(s, span, KJ_RULE_LAUNCH,
                      "a field of a packed record cannot go to another grid");
        return false;
    }
    if (a->root->space == KJ_GLOBAL)
        return true;
    kj_message *m = kj_sema_error(s, span, KJ_RULE_LAUNCH, "a %s array cannot go to another grid",
                                  a->root->space == KJ_SHARED  ? "shared"
                                  : a->root->space == KJ_LOCAL ? "local"
                                                               : "const");
    kj_hint(s->diag, m,
            a->root->space == KJ_CONST
                ? "kernels use const arrays by their names"
                : "it ends with its block: copy what is needed to a global one");
    return false;
}

static bool add_array(kj_sema *s, launch *l, const kj_operand *v, int param)
{
    kj_tarray *a = v->u.array;
    if (!is_global(s, a, v->span))
        return false;
    kj_array_used(s, a->root, true, true);
    kj_check_view(s, a, v->span);
    l->layouts[param] = a->layout;
    add_value(l, address(s, a, v->span));
    for (int i = 0; i < a->ndim; i++)
        add_value(l, a->shape[i]);
    for (int i = 0; i < a->ndim; i++)
        add_value(l, a->stride[i]);
    return true;
}

static bool add_arguments(kj_sema *s, launch *l, const kj_type *types)
{
    l->layouts = KJ_NEW_ARRAY(s->arena, kj_layout, (size_t)l->decl->nparams + 1);
    l->spec.layouts = l->layouts;
    for (int i = 0; i < l->decl->nparams; i++) {
        const kj_kernel_param *p = &l->decl->params[i];
        if (p->is_const)
            continue;
        const char *what = kj_arena_printf(s->diag->arena, "'%s' of '%s'", p->name, l->decl->name);
        kj_operand v = kj_coerce_type(s, l->args[i], &types[i], what);
        if (v.kind == KJ_V_ERROR || (v.kind == KJ_V_ARRAY && !add_array(s, l, &v, i)))
            return false;
        v = kj_hold_value(s, v, p->name);
        add_scalars(l, &v);
    }
    if (l->nvalues > 3 + MAX_SLOTS)
        kj_sema_error(s, l->call->span, KJ_RULE_LAUNCH,
                      "'%s' has too many parameters for a launch here", l->decl->name);
    return l->nvalues <= 3 + MAX_SLOTS;
}

/* ---- Children ---- */

static bool same_spec(const kj_kernel_decl *decl, const kj_spec *a, const kj_spec *b)
{
    for (int i = 0; i < decl->ngenerics; i++)
        if (a->generics[i] != b->generics[i])
            return false;
    for (int i = 0; i < decl->nconsts; i++)
        if (a->consts[i].type != b->consts[i].type || a->consts[i].u != b->consts[i].u)
            return false;
    for (int i = 0; i < decl->nparams; i++)
        if (a->layouts[i] != b->layouts[i])
            return false;
    return memcmp(a->block, b->block, sizeof a->block) == 0;
}

/* NULL where there is none: in code that is only checked, or after an error. */
static const kj_child *find_child(kj_sema *s, const launch *l)
{
    if (!s->family || s->dead)
        return NULL;
    kj_child **at = &s->family->children;
    int n = 1;
    for (; *at; at = &(*at)->next, n++)
        if ((*at)->decl == l->decl && same_spec(l->decl, &(*at)->spec, &l->spec))
            return *at;
    if (n > MAX_CHILDREN) {
        kj_sema_error(s, l->call->span, KJ_RULE_LAUNCH,
                      "this takes more than %d specialisations of launched kernels", MAX_CHILDREN);
        return NULL;
    }
    kj_child *made = KJ_NEW(s->arena, kj_child);
    *made = (kj_child){.id = n, .decl = l->decl, .spec = l->spec, .span = l->call->span};
    return *at = made;
}

static int64_t shared_bytes(const kj_tkernel *k)
{
    int64_t n = 0;
    for (int i = 0; i < k->nroots; i++)
        if (k->roots[i]->space == KJ_SHARED)
            n += (k->roots[i]->static_count * kj_elem_size(k->roots[i]) + 63) / 64 * 64;
    return n;
}

/* What of a launch of this kernel only the host can do; NULL: nothing. */
static const char *needs_host(kj_diag *diag, const kj_tkernel *k)
{
    for (int i = 0; i < k->nroots; i++) {
        const kj_tarray *a = k->roots[i];
        if (a->space == KJ_SHARED && a->static_count == 0)
            return kj_arena_printf(diag->arena,
                                   "the shape of its shared array '%s' is known only at the launch",
                                   a->name);
        if (a->filled)
            return kj_arena_printf(diag->arena, "the host fills its const array '%s'", a->name);
    }
    if (k->grid_sync)
        return "it has a grid_sync()";
    return shared_bytes(k) > MAX_SHARED ? "its shared arrays take more than 48 KiB" : NULL;
}

bool kj_child_check(kj_diag *diag, const kj_child *child)
{
    const char *why = needs_host(diag, child->kernel);
    if (!why)
        return true;
    kj_message *m = kj_error(diag, child->span, KJ_RULE_LAUNCH, "a kernel cannot launch '%s': %s",
                             child->kernel->name, why);
    kj_note(diag, m, child->kernel->span, "declared here");
    return false;
}

/* ---- The statements ---- */

/* All three extents from `least` to the most there may be. */
static kj_texpr *within(kj_sema *s, const launch *l, bool most, kj_span span)
{
    kj_texpr *all = kj_te_bool(s, true, span);
    for (int i = 2; i >= 0; i--) {
        kj_texpr *bound = kj_te_i64(s, !most ? 1 : i ? MAX_GRID_YZ : MAX_GRID_X, span);
        kj_texpr *test = most ? kj_te_binary(s, KJ_OP_LE, l->grid[i], bound, span)
                              : kj_te_binary(s, KJ_OP_GE, l->grid[i], bound, span);
        all = kj_is_const(all) && all->u.value.u ? test : kj_te_logic(s, false, test, all, span);
    }
    return all;
}

static void emit_if(kj_sema *s, kj_texpr *test, kj_tstmt *yes, kj_span span)
{
    kj_tstmt *made = kj_emit(s, KJ_TS_IF, span);
    made->u.if_.test = test;
    made->u.if_.yes = yes;
}

/* if not test { fail } */
static void emit_check(kj_sema *s, kj_texpr *test, kj_fail_words words, kj_texpr **values, int n)
{
    kj_sink sink;
    if (kj_is_const(test) && test->u.value.u)
        return;
    kj_sink_open(s, &sink);
    kj_emit_failure(s, test->span, words, values, n);
    kj_tstmt *failed = kj_sink_close(s, &sink);
    emit_if(s, kj_te_unary(s, KJ_OP_NOT, test, test->span), failed, test->span);
}

static void emit_launch(kj_sema *s, launch *l)
{
    static const char *const axes[] = {"gridDim.x", "gridDim.y", "gridDim.z"};
    static const char *const status_name[] = {"status"};
    kj_span span = l->call->span;
    kj_var *status = kj_new_var(s, "status", span, KJ_I32, false);
    kj_sink sink;
    kj_sink_open(s, &sink);
    emit_check(s, within(s, l, true, span),
               (kj_fail_words){"launch failed", "the grid is too large", axes}, l->grid, 3);
    kj_tstmt *st = kj_emit(s, KJ_TS_LAUNCH, span);
    st->u.launch.child = find_child(s, l);
    st->u.launch.values = l->values;
    st->u.launch.nvalues = l->nvalues;
    st->u.launch.result = status;
    kj_texpr *result = kj_te_var(s, status, span);
    emit_check(s, kj_te_binary(s, KJ_OP_EQ, result, kj_te_const(s, kj_int(KJ_I32, 0), span), span),
               (kj_fail_words){"launch failed", NULL, status_name}, &result, 1);
    kj_tstmt *body = kj_sink_close(s, &sink);
    emit_if(s, within(s, l, false, span), body, span);
    s->kernel->launches = true;
}

void kj_launch_stmt(kj_sema *s, const kj_stmt *st)
{
    launch l = {.spec = {.no_contract = s->spec->no_contract,
                         .checks = s->spec->checks,
                         .polls = s->spec->polls,
                         .untrusted = s->spec->untrusted}};
    if (!open_launch(s, st, &l))
        return;
    const kj_expr *grid = l.config->u.index.args;
    size_t n = (size_t)l.decl->nparams + 1;
    l.from = KJ_NEW_ARRAY(s->arena, const kj_expr *, n);
    l.args = KJ_NEW_ARRAY(s->arena, kj_operand, n);
    l.values = KJ_NEW_ARRAY(s->arena, kj_texpr *, 3 + MAX_SLOTS);
    kj_dtype *generics = KJ_NEW_ARRAY(s->arena, kj_dtype, (size_t)l.decl->ngenerics + 1);
    kj_type *types;
    l.spec.generics = generics;
    if (!extents(s, grid, "a grid", l.grid) || !read_block(s, &l, grid->next))
        return;
    for (int i = 0; i < 3; i++)
        add_value(&l, l.grid[i] = kj_hold(s, l.grid[i], "grid"));
    if (!place_arguments(s, &l) ||
        !kj_infer_call(s, l.decl->item, l.args, l.call, generics, &types) || !read_consts(s, &l) ||
        !add_arguments(s, &l, types))
        return;
    emit_launch(s, &l);
}
