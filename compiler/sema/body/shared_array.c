/* Declarations of shared and local arrays; which arrays may be written. */
#include <string.h>

#include "sema/body/body.h"

/* ---- let name = shared.array(shape, dtype) ---- */

/* All arrays begin at multiples of so many bytes: an alignment that is asked for is there. */
enum { ARRAY_ALIGN = 64 };

static bool check_alignment(kj_sema *s, const kj_expr *e)
{
    kj_value v;
    if (!kj_whole_const(s, e, "an alignment", &v))
        return false;
    if (v.u >= 1 && v.u <= ARRAY_ALIGN && (v.u & (v.u - 1)) == 0)
        return true;
    kj_sema_error(s, e->span, KJ_RULE_ALIGNMENT, "an alignment is a power of two up to %d, not %s",
                  ARRAY_ALIGN, kj_literal_text(s, v));
    return false;
}

enum { SHAPE, DTYPE, ALIGNMENT, NARGS };

/* Of argument `arg`, the `place`th of those without a name; NARGS when there is none such. */
static int argument_place(const kj_expr *arg, int place)
{
    static const char *const names[NARGS] = {"shape", "dtype", "alignment"};
    int i = 0;
    if (!arg->keyword)
        return place < NARGS ? place : NARGS;
    while (i < NARGS && strcmp(arg->keyword, names[i]) != 0)
        i++;
    return i;
}

static bool is_type_name(kj_sema *s, const kj_expr *e)
{
    const kj_symbol *sym = e->kind == KJ_E_NAME ? kj_scope_find(s->scope, e->u.name) : NULL;
    return sym && sym->kind == KJ_SYM_TYPE;
}

/* shared.array(f32, 32) */
static bool check_order(kj_sema *s, const kj_expr *call, const char *name)
{
    const kj_expr *first = call->u.call.args, *second = first ? first->next : NULL;
    if (!second || second->next || first->keyword || second->keyword || !is_type_name(s, first) ||
        is_type_name(s, second))
        return true;
    kj_message *m = kj_sema_error(s, first->span, KJ_RULE_ARGUMENT_COUNT,
                                  "%s takes the shape first, then the type", name);
    kj_write(s->diag, m, call->span, "%s(%s, %s)", name, kj_source_text(s, second->span, "shape"),
             kj_source_text(s, first->span, "f32"));
    return false;
}

/* Is it an extent, where a type could stand? A name may be a type that was misspelt, but where a type comes behind it. */
static bool is_extent(kj_sema *s, const kj_expr *e)
{
    const kj_symbol *sym = e->kind == KJ_E_NAME ? kj_scope_find(s->scope, e->u.name) : NULL;
    bool typed = false;
    for (const kj_expr *next = e->next; next; next = next->next)
        typed |= is_type_name(s, next);
    return !e->keyword &&
           (e->kind == KJ_E_INT ||
            (typed && (e->kind == KJ_E_BINARY ||
                       (sym && (sym->kind == KJ_SYM_CONST || sym->kind == KJ_SYM_VALUE)))));
}

/* Refuses a shape as other languages write it. */
static bool check_shape_form(kj_sema *s, const kj_expr *call, const char *name)
{
    const kj_expr *first = call->u.call.args, *second = first ? first->next : NULL;
    kj_message *m;
    if (first && !first->keyword && first->kind == KJ_E_LIST) {
        m = kj_sema_error(s, first->span, KJ_RULE_ARGUMENT_COUNT,
                          "a shape is an integer or a tuple, not a list");
        kj_hint(s->diag, m, "a tuple stands in parentheses: (16, 16)");
        return false;
    }
    if (!second || !is_extent(s, first) || !is_extent(s, second))
        return true;
    m = kj_sema_error(s, call->span, KJ_RULE_ARGUMENT_COUNT, "a shape of several axes is a tuple");
    const char *shape = "";
    const kj_expr *arg = first;
    for (; arg && is_extent(s, arg); arg = arg->next)
        shape = kj_arena_printf(s->diag->arena, "%s%s%s", shape, arg == first ? "" : ", ",
                                kj_source_text(s, arg->span, "..."));
    const char *type = arg && is_type_name(s, arg) ? kj_source_text(s, arg->span, "f32") : "f32";
    kj_hint(s->diag, m, "write %s((%s), %s)", name, shape, type);
    if (arg && !arg->next && is_type_name(s, arg) && !strstr(shape, "..."))
        kj_fix(s->diag, m, call->span, "%s((%s), %s)", name, shape, type);
    return false;
}

/* The arguments by place or by name; false after an error. */
static bool array_arguments(kj_sema *s, const kj_expr *call, const char *name,
                            const kj_expr *out[NARGS])
{
    int place = 0;
    memset(out, 0, NARGS * sizeof *out);
    if (!check_order(s, call, name) || !check_shape_form(s, call, name) ||
        !kj_names_last(s, call->u.call.args))
        return false;
    for (const kj_expr *arg = call->u.call.args; arg; arg = arg->next) {
        int i = argument_place(arg, arg->keyword ? 0 : place++);
        if (i == NARGS || out[i]) {
            kj_message *m = kj_sema_error(s, arg->span, KJ_RULE_ARGUMENT_COUNT,
                                          "%s has no place for this argument", name);
            kj_hint(s->diag, m, "write %s(shape, dtype), as in %s((16, 16), f32)", name, name);
            return false;
        }
        out[i] = arg;
    }
    if (out[SHAPE] && out[DTYPE])
        return !out[ALIGNMENT] || check_alignment(s, out[ALIGNMENT]);
    kj_message *m =
        kj_sema_error(s, call->span, KJ_RULE_ARGUMENT_COUNT, "%s needs a shape and a type", name);
    kj_hint(s->diag, m, "write %s(shape, dtype), as in %s((16, 16), f32)", name, name);
    return false;
}

static void refuse_extent(kj_sema *s, kj_span at, bool shared)
{
    kj_message *m;
    if (shared) {
        m = kj_sema_error(s, at, KJ_RULE_LAUNCH_SHAPE,
                          "a shared array's shape is known at the launch");
        kj_hint(
            s->diag, m,
            "it may use constants, parameters that are not assigned, array shapes and blockDim");
    } else {
        m = kj_sema_error(s, at, KJ_RULE_NEEDS_CONSTANT,
                          "a local array's shape is known at compile time");
        kj_hint(s->diag, m,
                "use a constant or a const parameter; shared arrays may depend on the launch");
    }
    if (s->frame && s->frame->fn >= 0 && s->frame->up)
        kj_note(s->diag, m, s->frame->call, "in this call");
}

/* shared.array(0, f32) is how Numba says that the launch tells the size; T, which is 0, is what somebody gave it. */
static void refuse_size(kj_sema *s, kj_span at, int64_t size, bool shared, bool named)
{
    const char *text = kj_source_text(s, at, "");
    bool written = !named || !*text || kj_is_digit(*text) || *text == '-';
    kj_message *m = kj_sema_error(
        s, at, KJ_RULE_EXTENT, "an extent is at least 1, %s%s %lld", written ? "not" : "and ",
        written ? "" : kj_arena_printf(s->diag->arena, "%s is", text), (long long)size);
    if (shared && written && size == 0)
        kj_hint(s->diag, m,
                "a size that the launch knows is written here: a parameter, "
                "an array's extent, blockDim.x");
}

/* One extent: positive, and known now, or for shared arrays at the launch; `named`: its place is its own. NULL after an
 * error. */
static kj_texpr *extent(kj_sema *s, kj_operand v, bool shared, bool named)
{
    kj_texpr *e = kj_size_value(s, v, "an extent");
    if (!e)
        return NULL;
    if (kj_is_const(e)) {
        if (e->u.value.i >= 1)
            return e;
        if (kj_is_hypothetical(s))
            return kj_te_i64(s, 1, v.span);
        refuse_size(s, v.span, e->u.value.i, shared, named);
        return NULL;
    }
    kj_span bad = v.span;
    kj_texpr *host = kj_host_expr(s, e, &bad);
    if (!shared && host && kj_checked_alone(s)) /* each call is asked again */
        return kj_te_i64(s, 1, v.span);
    if (!shared || !host) {
        bool here = bad.begin >= v.span.begin && bad.end <= v.span.end;
        refuse_extent(s, shared && here ? bad : v.span, shared);
        return NULL;
    }
    return host;
}

static bool shape_of(kj_sema *s, const kj_expr *e, bool shared, kj_tarray *a)
{
    kj_operand v = kj_expr_value(s, e, KJ_VOID);
    kj_operand item;
    int n = v.kind == KJ_V_TUPLE ? v.u.tuple.n : 1;
    if (n < 1 || n > KJ_MAX_NDIM) {
        kj_sema_error(s, e->span, KJ_RULE_TOO_MANY_AXES, "an array has 1 to %d axes, not %d",
                      KJ_MAX_NDIM, n);
        return false;
    }
    bool named = v.kind != KJ_V_TUPLE || e->kind == KJ_E_TUPLE;
    for (int i = 0; i < n; i++)
        if (!kj_size_item(s, &v, i, "an extent", &item) ||
            !(a->shape[i] = extent(s, item, shared, named)))
            return false;
    a->ndim = n;
    return true;
}

/* Element count where all extents are known, 0 where not, -1 after an error. */
static int64_t element_count(kj_sema *s, const kj_tarray *a, int64_t most)
{
    int64_t count = 1;
    bool known = true;
    for (int i = 0; i < a->ndim; i++) {
        if (!kj_is_const(a->shape[i])) {
            known = false;
        } else if (__builtin_mul_overflow(count, a->shape[i]->u.value.i, &count) || count > most) {
            kj_sema_error(s, a->span, KJ_RULE_ARRAY_SIZE,
                          "'%s' is larger than the %lld bytes that are allowed", a->name,
                          (long long)(most * kj_elem_size(a)));
            return -1;
        }
    }
    return known ? count : 0;
}

/* shared.array or local.array, called; NULL: it is neither. */
static const kj_symbol *array_callee(kj_sema *s, const kj_expr *init)
{
    const kj_symbol *callee = init->kind == KJ_E_CALL ? kj_named(s, init->u.call.callee) : NULL;
    bool makes = callee && callee->kind == KJ_SYM_BUILTIN &&
                 (callee->builtin == KJ_BI_SHARED_ARRAY || callee->builtin == KJ_BI_LOCAL_ARRAY);
    return makes ? callee : NULL;
}

bool kj_array_decls(kj_sema *s, const kj_name *names, const kj_expr *init)
{
    const kj_expr *item = init->kind == KJ_E_TUPLE ? init->u.list.items : NULL;
    const kj_name *name = names;
    for (; item && name && array_callee(s, item); item = item->next)
        name = name->next;
    if (item || name || init->kind != KJ_E_TUPLE)
        return false;
    for (name = names, item = init->u.list.items; name; name = name->next, item = item->next)
        kj_array_decl(s, name, item);
    return true;
}

bool kj_array_decl(kj_sema *s, const kj_name *name, const kj_expr *init)
{
    const kj_symbol *callee = array_callee(s, init);
    if (!callee)
        return false;
    bool shared = callee->builtin == KJ_BI_SHARED_ARRAY;
    const kj_expr *args[NARGS];
    kj_tarray a = {.name = name->name,
                   .span = name->span,
                   .space = shared ? KJ_SHARED : KJ_LOCAL,
                   .param = -1,
                   .elem = KJ_VOID};
    kj_operand value = kj_no_value(name->span);
    if (array_arguments(s, init, callee->name, args) && shape_of(s, args[SHAPE], shared, &a))
        a.elem = kj_dtype_argument(s, args[DTYPE]);
    a.of = kj_sema_aggregate(s, a.elem);
    if (a.elem != KJ_VOID) {
        int64_t most = shared ? INT32_MAX : KJ_MAX_LOCAL_BYTES;
        a.static_count = element_count(s, &a, most / kj_elem_size(&a));
    }
    if (a.elem != KJ_VOID && a.static_count >= 0) {
        a.layout = KJ_LAYOUT_C;
        a.stride[a.ndim - 1] = kj_te_i64(s, kj_elem_size(&a) / kj_unit(&a), name->span);
        for (int i = a.ndim - 2; i >= 0; i--)
            a.stride[i] = kj_hold(s, kj_i64_mul(s, a.shape[i + 1], a.stride[i + 1], name->span),
                                  kj_arena_printf(s->arena, "%s.stride%d", name->name, i));
        kj_tarray *root = kj_new_root(s, &a);
        kj_emit(s, KJ_TS_ARRAY, name->span)->u.array = root;
        value = (kj_operand){.kind = KJ_V_ARRAY, .span = name->span, .u.array = root};
    }
    kj_declare_value(s, name->name, name->span, KJ_ROLE_LET, value);
    return true;
}

/* ---- Writes ---- */

bool kj_writable(kj_sema *s, const kj_tarray *a, const kj_expr *base, kj_span at)
{
    if (kj_is_chosen(a))
        return kj_writable(s, a->root->arms[0], base, at) &&
               kj_writable(s, a->root->arms[1], base, at);
    if (a->root->space != KJ_CONST)
        return true;
    kj_frame *inner = s->frame;
    bool through_call = inner && inner->fn >= 0 && inner->up && base->kind == KJ_E_NAME &&
                        strcmp(base->u.name, a->root->name) != 0;
    if (through_call) { /* the function is fine: this call of it is not */
        s->frame = inner->up;
        kj_message *m = kj_sema_error(s, inner->call, KJ_RULE_WRITE_CONST,
                                      "'%s' writes to '%s', and gets the constant '%s'",
                                      inner->item->name, base->u.name, a->root->name);
        kj_note(s->diag, m, at, "written here");
        s->frame = inner;
        return false;
    }
    kj_message *m = kj_sema_error(s, at, KJ_RULE_WRITE_CONST,
                                  "'%s' is a constant and cannot be written", a->root->name);
    kj_note(s->diag, m, a->root->span, "declared here");
    return false;
}
