/* Calls that are not of functions: builtins against their signature, conversions, grid(n), what
 * cannot be called. */
#include <string.h>

#include "sema/body/body.h"

/* ---- Builtins of values ---- */

static kj_operand apply(kj_sema *s, const kj_expr *e, kj_builtin id, kj_dtype want, kj_operand *v,
                        int n)
{
    for (int i = 0; i < n; i++)
        if (v[i].kind == KJ_V_ERROR)
            return v[i];
    kj_dtype elem = KJ_VOID;
    bool parts = false;
    for (int i = 0; i < n; i++)
        if (kj_is_aggregate(&v[i])) {
            elem = v[i].u.tuple.of->elem;
            parts = true;
        }
    for (int i = 0; i < n && parts; i++)
        v[i] = kj_settle_as(s, v[i], elem);
    switch (id) {
    case KJ_BI_DOT:
    case KJ_BI_ALL:
    case KJ_BI_ANY: return kj_vector_builtin(s, e, id, v);
    case KJ_BI_RECT: return kj_complex_rect(s, e, want, v);
    case KJ_BI_CONJ:
    case KJ_BI_PHASE:
    case KJ_BI_POLAR: return kj_complex_builtin(s, e, id, want, v, n);
    default: break;
    }
    for (int i = 0; i < n; i++)
        if (kj_is_complex(&v[i]))
            return kj_complex_builtin(s, e, id, want, v, n);
    for (int i = 0; i < n; i++)
        if (kj_is_aggregate(&v[i]))
            return kj_aggregate_builtin(s, e, id, v, n);
    return kj_apply_builtin(s, e, id, want, v, n);
}

/* random.uniform(seed, i[, f64]), where v is seed and i. */
static kj_operand random_float(kj_sema *s, const kj_expr *e, kj_builtin id, const kj_operand *v)
{
    const kj_expr *arg = e->u.call.args->next->next;
    kj_dtype type = arg ? kj_dtype_argument(s, arg) : KJ_F32;
    if (type == KJ_F32 || type == KJ_F64)
        return kj_random_float(s, id, v, type, e->span);
    if (type != KJ_VOID) {
        kj_message *m =
            kj_sema_error(s, arg->span, KJ_RULE_TYPE_MISMATCH, "'%s' makes f32 or f64, not %s",
                          kj_builtins[id].name, kj_type_name(type));
        if (kj_is_int(type))
            kj_hint(s->diag, m, "random.randint(lo, hi, seed, i) makes integers");
    }
    return kj_no_value(e->span);
}

/* The type that scalars and the parts of vectors have in common; KJ_VOID: there is none. */
static kj_dtype common_of(const kj_operand *v, int n)
{
    kj_dtype common = KJ_VOID;
    for (int i = 0; i < n; i++) {
        bool vector = kj_is_aggregate(&v[i]) && v[i].u.tuple.of->kind == KJ_VECTOR;
        kj_dtype own = vector ? v[i].u.tuple.of->elem : kj_type_of(&v[i]);
        if (kj_is_untyped(&v[i]))
            continue;
        common = common == KJ_VOID ? own : kj_common_type(common, own);
        if (common == KJ_VOID || (!kj_is_int(common) && !kj_is_float(common)))
            return KJ_VOID;
    }
    return common;
}

/* min and max of more than two: one after the other, in the type that all have in common. */
static kj_operand extreme_of(kj_sema *s, const kj_expr *e, kj_builtin id, kj_dtype want,
                             kj_operand *v, int n)
{
    const char *what = kj_arena_printf(s->diag->arena, "'%s'", kj_builtins[id].name);
    bool vectors = false;
    kj_dtype common = common_of(v, n);
    for (int i = 0; i < n; i++)
        vectors |= kj_is_aggregate(&v[i]);
    if (!vectors && common != KJ_VOID && !kj_unify(s, v, n, KJ_VOID, e->span, what))
        return kj_no_value(e->span);
    for (int i = 0; i < n && vectors && common != KJ_VOID; i++)
        if (v[i].kind == KJ_V_SCALAR)
            v[i] = kj_scalar(kj_te_convert(s, v[i].u.scalar.e, common, v[i].span));
    kj_operand result = v[0];
    for (int i = 1; i < n; i++)
        result = apply(s, e, id, want, (kj_operand[]){result, v[i]}, 2);
    return result;
}

/* The arguments are counted and evaluated here. */
static kj_operand value_builtin(kj_sema *s, const kj_expr *e, kj_builtin id, kj_dtype want)
{
    bool real = id == KJ_BI_RANDOM_UNIFORM || id == KJ_BI_RANDOM_NORMAL,
         integer = id == KJ_BI_RANDOM_RANDINT, extreme = id == KJ_BI_MIN || id == KJ_BI_MAX;
    int n = kj_count(e->u.call.args), most = kj_builtin_arity(id),
        least = id == KJ_BI_SYNCWARP ? 0 : most;
    if (real || integer) {
        least = real ? 2 : 4;
        most = real ? 3 : 4;
    }
    if (n < least || (n > most && !extreme))
        return kj_arity_error(s, e, kj_builtins[id].name, kj_builtin_words(s, id), least,
                              extreme ? KJ_ANY_NUMBER : most);
    kj_operand *v = KJ_NEW_ARRAY(s->arena, kj_operand, (size_t)n + 1);
    kj_expr_list(s, e->u.call.args, v, real ? 2 : n);
    if (real)
        return random_float(s, e, id, v);
    if (integer)
        return kj_random_integer(s, v, want, e->span);
    if (kj_is_sync(id))
        return kj_sync_call(s, id, v, n, e->span);
    return n > most ? extreme_of(s, e, id, want, v, n) : apply(s, e, id, want, v, most);
}

/* ---- grid(n), gridsize(n) ---- */

static kj_operand grid_call(kj_sema *s, const kj_expr *e, bool size)
{
    const kj_expr *arg = e->u.call.args;
    const char *name = size ? "gridsize" : "grid";
    int64_t n;
    if (!arg || arg->next)
        return kj_arity_error(s, e, name, "(n) with n = 1, 2 or 3", 1, 1);
    if (!kj_integer_const(s, arg, kj_arena_printf(s->diag->arena, "the argument of '%s'", name),
                          &n))
        return kj_no_value(e->span);
    if (n < 1 || n > 3) {
        kj_sema_error(s, arg->span, KJ_RULE_GRID_AXES, "a grid has 1, 2 or 3 axes, not %lld",
                      (long long)n);
        return kj_no_value(e->span);
    }
    kj_operand *items = KJ_NEW_ARRAY(s->arena, kj_operand, 3);
    for (int i = 0; i < (int)n; i++) {
        kj_texpr *dim = kj_te_index(s, KJ_BLOCK_DIM, i, e->span);
        kj_texpr *blocks = kj_te_index(s, size ? KJ_GRID_DIM : KJ_BLOCK_IDX, i, e->span);
        kj_texpr *at = kj_i64_mul(s, blocks, dim, e->span);
        if (!size)
            at = kj_te_binary(s, KJ_OP_ADD, at, kj_te_index(s, KJ_THREAD_IDX, i, e->span), e->span);
        items[i] = kj_scalar(at);
    }
    if (n == 1)
        return items[0];
    return kj_tuple(items, (int)n, NULL, e->span);
}

/* ---- The rest ---- */

static kj_operand refuse_call(kj_sema *s, const kj_expr *e, const char *text, const char *hint)
{
    kj_message *m = kj_sema_error(s, e->span, KJ_RULE_CALL, "%s", text);
    kj_hint(s->diag, m, "%s", hint);
    return kj_no_value(e->span);
}

static kj_operand refuse_kernel(kj_sema *s, const kj_expr *e, const kj_symbol *sym)
{
    kj_message *m = kj_sema_error(s, e->span, KJ_RULE_CALL, "'%s' is a kernel", sym->name);
    kj_hint(s->diag, m,
            "code to share is a fn; a launch is written launch %s[blocks, threads](...)",
            sym->name);
    kj_note_hidden(s, m, sym);
    return kj_no_value(e->span);
}

/* len(a) */
static kj_operand length_call(kj_sema *s, const kj_expr *e)
{
    const kj_expr *arg = e->u.call.args;
    if (!arg || arg->next)
        return kj_arity_error(s, e, "len", "(a)", 1, 1);
    kj_operand v = kj_expr_value(s, arg, KJ_VOID);
    if (v.kind == KJ_V_ARRAY)
        return kj_scalar(v.u.array->shape[0]);
    if (v.kind == KJ_V_TUPLE && !kj_is_complex(&v) &&
        !(v.u.tuple.of && kj_is_record(v.u.tuple.of))) {
        kj_keep_effects(s, &v);
        return kj_literal_integer((uint64_t)v.u.tuple.n, e->span);
    }
    if (v.kind != KJ_V_ERROR)
        kj_sema_error(s, arg->span, KJ_RULE_NOT_AN_ARRAY, "%s has no length", kj_describe(s, &v));
    return kj_no_value(e->span);
}

/* assert(condition, "message") */
static kj_operand assert_call(kj_sema *s, const kj_expr *e)
{
    int n = kj_count(e->u.call.args);
    if (n < 1 || n > 2)
        return kj_arity_error(s, e, "assert", "(condition, \"message\")", 1, 2);
    return kj_assert_call(s, e, kj_expr_value(s, e->u.call.args, KJ_VOID));
}

/* print("x =", x) */
static kj_operand print_call(kj_sema *s, const kj_expr *e)
{
    kj_operand *v = KJ_NEW_ARRAY(s->arena, kj_operand, (size_t)kj_count(e->u.call.args) + 1);
    int n = 0;
    for (const kj_expr *arg = e->u.call.args; arg; arg = arg->next) {
        if (arg->kind == KJ_E_STRING)
            continue;
        v[n] = kj_hold_value(s, kj_settle(s, kj_expr_value(s, arg, KJ_VOID)), "printed");
        if (v[n++].kind == KJ_V_ERROR)
            return kj_no_value(e->span);
    }
    return kj_print_call(s, e, v);
}

/* One that stands where only numbers may. */
static kj_operand array_call(kj_sema *s, const kj_expr *e, const char *name)
{
    const char *call = kj_arena_printf(s->diag->arena, "%s(...)", name);
    return refuse_call(s, e, "an array is made by its own declaration",
                       kj_arena_printf(s->diag->arena, "let NAME = %s is a statement of its own",
                                       kj_source_text(s, e->span, call)));
}

static kj_operand builtin_call(kj_sema *s, const kj_expr *e, kj_builtin id, kj_dtype want)
{
    if (kj_axis_call(s, e, id) || !kj_no_keywords(s, e, kj_builtins[id].name))
        return kj_no_value(e->span);
    kj_operand v;
    if (kj_reduce_call(s, e, id, &v))
        return v;
    switch (id) {
    case KJ_BI_GRID:
    case KJ_BI_GRIDSIZE: return grid_call(s, e, id == KJ_BI_GRIDSIZE);
    case KJ_BI_ASSERT: return assert_call(s, e);
    case KJ_BI_PRINT: return print_call(s, e);
    case KJ_BI_SHARED_ARRAY:
    case KJ_BI_LOCAL_ARRAY: return array_call(s, e, kj_builtins[id].name);
    case KJ_BI_RANGE:
        return refuse_call(s, e, "range stands only in a for loop",
                           "write for i in range(n) { ... }");
    case KJ_BI_ENUMERATE:
    case KJ_BI_ZIP:
        return refuse_call(
            s, e,
            kj_arena_printf(s->diag->arena, "%s stands only in a for loop", kj_builtins[id].name),
            id == KJ_BI_ZIP ? "write for x, y in zip(a, b) { ... }"
                            : "write for i, v in enumerate(a) { ... }");
    case KJ_BI_LEN: return length_call(s, e);
    case KJ_BI_THREADIDX:
    case KJ_BI_BLOCKIDX:
    case KJ_BI_BLOCKDIM:
    case KJ_BI_GRIDDIM:
        return refuse_call(s, e, "this is no function",
                           kj_arena_printf(s->diag->arena, "write %s.x, without parentheses",
                                           kj_builtins[id].name));
    default: break;
    }
    if (strcmp(kj_builtins[id].group, "atomic") == 0)
        return kj_atomic_call(s, e, id);
    if (strcmp(kj_builtins[id].group, "cache") == 0)
        return kj_cache_call(s, e, id);
    return value_builtin(s, e, id, want);
}

/* A node of its own says that the type was asked for. */
static kj_texpr *written(kj_sema *s, kj_texpr *from, kj_dtype to, kj_span span)
{
    kj_texpr *e = kj_te_convert(s, from, to, span);
    bool made = e->kind == KJ_TE_BINARY || e->kind == KJ_TE_UNARY || e->kind == KJ_TE_CONVERT ||
                e->kind == KJ_TE_FMA || e->kind == KJ_TE_VAR || e->kind == KJ_TE_CALL ||
                e->kind == KJ_TE_SELECT;
    if (!kj_is_const(e) && !kj_is_int(to) && !made)
        return e;
    if (e == from) {
        e = kj_te(s, from->kind, to, span);
        *e = *from;
    }
    e->written = true;
    return e;
}

/* f32(x) */
static kj_operand conversion(kj_sema *s, const kj_expr *e, kj_dtype to)
{
    const kj_expr *arg = e->u.call.args;
    if (!arg || arg->next)
        return kj_arity_error(s, e, kj_type_name(to), "(x)", 1, 1);
    if (!kj_no_keywords(s, e, kj_type_name(to)))
        return kj_no_value(e->span);
    kj_operand v = kj_expr_converted(s, arg, to);
    if (kj_is_untyped(&v)) {
        kj_texpr *made = kj_convert_untyped(s, &v, to);
        if (made) {
            made->written = true;
            made->span = e->span;
        }
        return kj_scalar(made);
    }
    if (v.kind == KJ_V_SCALAR)
        return kj_scalar(written(s, v.u.scalar.e, to, e->span));
    if (v.kind == KJ_V_ERROR && kj_is_guessing(s)) /* what is converted may be right in the end */
        return kj_scalar(kj_te_var(s, kj_new_var(s, "guess", e->span, to, true), e->span));
    if (v.kind != KJ_V_ERROR) {
        kj_message *m =
            kj_sema_error(s, v.span, KJ_RULE_TYPE_MISMATCH, "%s(...) converts a scalar, not %s",
                          kj_type_name(to), kj_describe(s, &v));
        if (v.kind == KJ_V_ARRAY)
            kj_hint(s->diag, m, "convert an element: %s(%s[i])", kj_type_name(to),
                    kj_source_text(s, v.span, "..."));
        if (kj_is_aggregate(&v) && v.u.tuple.of->kind == KJ_VECTOR && kj_vector_of(to, v.u.tuple.n))
            kj_hint(s->diag, m, "of a vector: %s(%s)", kj_vector_of(to, v.u.tuple.n)->name,
                    kj_source_text(s, v.span, "..."));
        if (kj_is_complex(&v))
            kj_hint(s->diag, m, "convert a part: %s(%s.real)", kj_type_name(to),
                    kj_source_text(s, v.span, "..."));
    }
    return kj_no_value(e->span);
}

/* f32x4(...), c64(...) */
static kj_operand construct(kj_sema *s, const kj_expr *e, const kj_aggregate *of)
{
    int n = kj_count(e->u.call.args);
    kj_operand v[KJ_MAX_PARTS];
    if (!kj_no_keywords(s, e, of->name))
        return kj_no_value(e->span);
    int most = n < KJ_MAX_PARTS ? n : KJ_MAX_PARTS;
    kj_expr_list(s, e->u.call.args, v, most);
    for (int i = 0; i < most; i++)
        v[i] = kj_settle_as(s, v[i], of->elem);
    return of->kind == KJ_COMPLEX ? kj_construct_complex(s, e, of, v, n)
                                  : kj_construct_vector(s, e, of, v, n);
}

static kj_operand construction(kj_sema *s, const kj_expr *e, kj_dtype to)
{
    const kj_aggregate *of = kj_sema_aggregate(s, to);
    if (kj_is_record(of))
        return kj_record_construct(s, e, of);
    return of ? construct(s, e, of) : conversion(s, e, to);
}

/* ---- x.view(u32): bits as another type of the same width ---- */

static bool is_plain(kj_dtype t)
{
    return kj_is_scalar(t) && t != KJ_BOOL;
}

static void hint_view(kj_sema *s, kj_message *m, const kj_tarray *a, kj_dtype to)
{
    const kj_aggregate *of = kj_sema_aggregate(s, to);
    bool wanted = a && !a->of && of && of->kind == KJ_VECTOR && a->elem == of->elem;
    kj_space space = a ? a->root->space : KJ_GLOBAL;
    if (wanted && (space == KJ_SHARED || space == KJ_LOCAL))
        kj_hint(s->diag, m,
                "let it be made of them: %s.array(n, %s), whose numbers are a[i].x or a[i][k]",
                space == KJ_SHARED ? "shared" : "local", of->name);
    else if (wanted)
        kj_hint(s->diag, m,
                "a run block makes it: x.reshape(-1, %d).view(%s), for a parameter x: %s[]", of->n,
                of->name, of->name);
    else if (a && a->of && a->of->kind == KJ_VECTOR && a->of->elem == to)
        kj_hint(s->diag, m, "the numbers of its vectors are a[i].x and so on, or a[i][k]");
    else
        kj_hint(s->diag, m, "a view has as many bits: of f32 as i32 or u32, of f64 as i64 or u64");
}

static kj_operand refuse_view(kj_sema *s, kj_span at, const kj_operand *v, kj_dtype to)
{
    kj_message *m = kj_sema_error(s, at, KJ_RULE_TYPE_MISMATCH, "%s has no view as %s",
                                  kj_describe(s, v), kj_sema_type_name(s, to));
    hint_view(s, m, v->kind == KJ_V_ARRAY ? v->u.array : NULL, to);
    return kj_no_value(at);
}

static kj_operand view_array(kj_sema *s, const kj_operand *v, kj_dtype to, kj_span span)
{
    const kj_tarray *a = v->u.array;
    const kj_aggregate *of = kj_sema_aggregate(s, to);
    bool numbers = !a->of && !of && is_plain(a->elem) && is_plain(to);
    bool vectors = a->of && of && a->of->kind == KJ_VECTOR && of->kind == KJ_VECTOR &&
                   a->of->n == of->n && a->of->align == of->align;
    kj_dtype elem = of ? of->elem : to;
    if ((!numbers && !vectors) ||
        kj_types[a->of ? a->of->elem : a->elem].bits != kj_types[elem].bits)
        return refuse_view(s, span, v, to);
    kj_tarray *view = KJ_NEW(s->arena, kj_tarray);
    *view = *a;
    view->elem = to;
    view->of = of;
    view->id = view->param = -1;
    view->span = span;
    return (kj_operand){.kind = KJ_V_ARRAY, .span = span, .u.array = view};
}

static kj_operand view_vector(kj_sema *s, const kj_operand *v, kj_dtype to, kj_span span)
{
    const kj_aggregate *from = v->u.tuple.of, *of = kj_sema_aggregate(s, to);
    if (!from || from->kind != KJ_VECTOR || !of || of->kind != KJ_VECTOR || of->n != from->n ||
        kj_types[of->elem].bits != kj_types[from->elem].bits)
        return refuse_view(s, span, v, to);
    kj_operand *items = KJ_NEW_ARRAY(s->arena, kj_operand, (size_t)of->n);
    for (int i = 0; i < of->n; i++)
        items[i] = kj_scalar(kj_te_bits(s, v->u.tuple.items[i].u.scalar.e, of->elem, span));
    return kj_tuple(items, of->n, of, span);
}

static bool is_view_call(kj_sema *s, const kj_expr *e)
{
    const kj_expr *callee = e->u.call.callee;
    return callee->kind == KJ_E_MEMBER && strcmp(callee->u.member.name, "view") == 0 &&
           !kj_named(s, callee);
}

static kj_operand view_call(kj_sema *s, const kj_expr *e)
{
    const kj_expr *base = e->u.call.callee->u.member.base, *arg = e->u.call.args;
    kj_operand v = kj_expr_value(s, base, KJ_VOID);
    if (!arg || arg->next)
        return kj_arity_error(s, e, "view", "(u32)", 1, 1);
    kj_dtype to = kj_dtype_argument(s, arg);
    if (v.kind == KJ_V_ERROR || to == KJ_VOID)
        return kj_no_value(e->span);
    if (v.kind == KJ_V_ARRAY)
        return view_array(s, &v, to, e->span);
    if (kj_is_untyped(&v)) {
        kj_message *m =
            kj_sema_error(s, v.span, KJ_RULE_TYPE_MISMATCH, "a literal has no bits of its own");
        kj_dtype own = kj_untyped_type(&v);
        const char *text = kj_source_text(s, v.span, kj_is_float(own) ? "1.5" : "1");
        int bits = kj_types[to].bits;
        if (is_plain(to) && !(kj_is_float(own) && bits < 16))
            kj_hint(s->diag, m, "give it a type: %c%d(%s).view(%s)",
                    kj_is_float(own) ? 'f'
                    : *text == '-'   ? 'i'
                                     : 'u',
                    bits, text, kj_sema_type_name(s, to));
        return kj_no_value(e->span);
    }
    if (v.kind == KJ_V_TUPLE)
        return view_vector(s, &v, to, e->span);
    kj_texpr *x = v.kind == KJ_V_SCALAR ? v.u.scalar.e : NULL;
    if (!x || !is_plain(x->type) || !is_plain(to) || kj_types[x->type].bits != kj_types[to].bits)
        return refuse_view(s, e->span, &v, to);
    return kj_scalar(kj_te_bits(s, x, to, e->span));
}

/* a.reshape(2, -1), a.ravel(): false if the call is none of these. */
static bool reshape_call(kj_sema *s, const kj_expr *e, kj_operand *out)
{
    const kj_expr *callee = e->u.call.callee;
    if (callee->kind != KJ_E_MEMBER || kj_named(s, callee))
        return false;
    const char *name = callee->u.member.name;
    const kj_expr *base = callee->u.member.base;
    bool module = base->kind == KJ_E_NAME && kj_is_module(base->u.name) &&
                  !kj_scope_find(s->scope, base->u.name);
    if (module || (strcmp(name, "reshape") != 0 && strcmp(name, "ravel") != 0))
        return false;
    int n = kj_count(e->u.call.args);
    kj_operand *v = KJ_NEW_ARRAY(s->arena, kj_operand, (size_t)n + 1);
    *out = kj_expr_value(s, base, KJ_VOID);
    if (out->kind == KJ_V_ERROR)
        return true;
    if (!kj_no_keywords(s, e, name)) {
        *out = kj_no_value(e->span);
        return true;
    }
    kj_expr_list(s, e->u.call.args, v, n);
    *out = kj_reshape(s, e, *out, v, n, kj_checked_alone(s));
    return true;
}

/* ---- Calls ---- */

/* What is called of a namespace. */
static const char *namespace_hint(const kj_symbol *sym)
{
    static const struct {
        const char *name, *hint;
    } hints[] = {
        {"random", "write random.uniform(seed, i): number i of a seed"},
        {"shared", "write let tile = shared.array(shape, f32)"},
        {"local", "write let a = local.array(shape, f32)"},
        {"atomic", "write atomic.add(a, i, v)"},
    };
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (strcmp(hints[i].name, sym->name) == 0)
            return hints[i].hint;
    return "only functions are called";
}

/* __clz(n): its arguments are looked at for their types. */
static kj_operand refuse_call_of_cuda(kj_sema *s, const kj_expr *e)
{
    const kj_expr *callee = e->u.call.callee;
    kj_operand v[KJ_MOST_OF_CUDA];
    kj_message *m = kj_undeclared_here(s, callee->u.name, callee->span);
    kj_expr_list(s, e->u.call.args, v, kj_count(e->u.call.args));
    if (m)
        kj_hint_call_of_cuda(s, m, e, v);
    return kj_no_value(e->span);
}

kj_operand kj_call_expr(kj_sema *s, const kj_expr *e, kj_dtype want)
{
    kj_operand v;
    if (is_view_call(s, e))
        return view_call(s, e);
    if (kj_reduce_method(s, e, &v) || reshape_call(s, e, &v))
        return v;
    if (kj_is_call_of_cuda(s, e))
        return refuse_call_of_cuda(s, e);
    kj_operand callee = kj_expr_any(s, e->u.call.callee, KJ_VOID);
    if (callee.kind == KJ_V_ERROR)
        return callee;
    if (callee.kind == KJ_V_SYMBOL) {
        const kj_symbol *sym = callee.u.symbol;
        switch (sym->kind) {
        case KJ_SYM_FN: return kj_fn_call(s, e, sym);
        case KJ_SYM_BUILTIN: return builtin_call(s, e, sym->builtin, want);
        case KJ_SYM_TYPE:
            kj_type_is_one(s, sym, callee.span);
            return sym->type == KJ_VOID ? kj_no_value(e->span) : construction(s, e, sym->type);
        case KJ_SYM_KERNEL: return refuse_kernel(s, e, sym);
        case KJ_SYM_RUN_FN:
            return refuse_call(
                s, e,
                kj_arena_printf(s->diag->arena, "'%s' is a function of run blocks", sym->name),
                "what kernels call is a fn");
        case KJ_SYM_FILE:
            return refuse_call(
                s, e, kj_arena_printf(s->diag->arena, "'%s' is a file's namespace", sym->name),
                kj_arena_printf(s->diag->arena, "a function of it is called %s.name(...)",
                                sym->name));
        default:
            return refuse_call(s, e,
                               kj_arena_printf(s->diag->arena, "'%s' is no function", sym->name),
                               namespace_hint(sym));
        }
    }
    kj_message *m = kj_sema_error(s, e->u.call.callee->span, KJ_RULE_CALL,
                                  "this is %s, not a function", kj_describe(s, &callee));
    const kj_symbol *own = e->u.call.callee->kind == KJ_E_NAME
                               ? kj_scope_find(s->scope, e->u.call.callee->u.name)
                               : NULL;
    if (own)
        kj_note_hidden(s, m, own);
    const kj_expr *first = e->u.call.args, *last = first;
    while (last && last->next)
        last = last->next;
    const char *text = kj_source_text(s, e->u.call.callee->span, "...");
    if (!first)
        kj_write(s->diag, m, e->span, "%s", text);
    else if (callee.kind == KJ_V_ARRAY ||
             (callee.kind == KJ_V_TUPLE && (!callee.u.tuple.of || kj_is_vector(callee.u.tuple.of))))
        kj_write(s->diag, m, e->span, "%s[%s]", text,
                 kj_source_text(s, (kj_span){first->span.begin, last->span.end}, "..."));
    return kj_no_value(e->span);
}
