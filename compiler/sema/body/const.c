/* Top-level constants: resolved in any order, cycles refused; const arrays with their elements
 * laid out in memory. */
#include <string.h>

#include "sema/body/body.h"

/* ---- Aggregates ---- */

/* parts: how many there may be. Tuples of tuples that are named have twice as many with each name. */
static bool all_constant(const kj_operand *v, int *parts)
{
    if (v->kind != KJ_V_TUPLE)
        return --*parts < 0 || kj_is_constant(v);
    for (int i = 0; i < v->u.tuple.n && *parts >= 0; i++)
        if (!all_constant(&v->u.tuple.items[i], parts))
            return false;
    return true;
}

/* A value of that type (any tuple's or aggregate's where it is NULL) whose parts are constants. */
static kj_operand const_parts(kj_sema *s, const kj_expr *e, const kj_type *type, const char *what)
{
    kj_sink sink;
    kj_sink_open(s, &sink);
    kj_operand v = kj_expr_value(s, e, KJ_VOID);
    if (type)
        v = kj_coerce_type(s, v, type, what);
    bool extra = kj_sink_close(s, &sink) != NULL;
    int parts = KJ_MAX_NODES;
    bool constant = v.kind == KJ_V_ERROR || (!extra && all_constant(&v, &parts));
    if (parts < 0) {
        kj_sema_error(s, e->span, KJ_RULE_TOO_LARGE, "%s has more than %d parts", what,
                      KJ_MAX_NODES);
        return kj_no_value(e->span);
    }
    if (constant)
        return v;
    kj_message *m =
        kj_sema_error(s, e->span, KJ_RULE_NEEDS_CONSTANT, "%s must be known at compile time", what);
    kj_hint(s->diag, m, "literals, constants and const parameters are");
    return kj_no_value(e->span);
}

/* ---- Lists ---- */

/* The shape of a nested list, each list as long as its first neighbour; false after an error. */
static bool list_shape(kj_sema *s, const kj_expr *e, int64_t *shape, int depth, int *ndim)
{
    if (depth == KJ_MAX_NDIM) {
        kj_sema_error(s, e->span, KJ_RULE_TOO_MANY_AXES, "an array has at most %d axes",
                      KJ_MAX_NDIM);
        return false;
    }
    if (shape[depth] < 0) {
        shape[depth] = e->u.list.n;
        if (e->u.list.n == 0) {
            kj_sema_error(s, e->span, KJ_RULE_LIST_SHAPE, "a const array has at least one element");
            return false;
        }
    }
    if (shape[depth] != e->u.list.n) {
        kj_sema_error(s, e->span, KJ_RULE_LIST_SHAPE,
                      "this list has %d item%s, and %lld are needed along axis %d", e->u.list.n,
                      e->u.list.n == 1 ? "" : "s", (long long)shape[depth], depth);
        return false;
    }
    for (const kj_expr *item = e->u.list.items; item; item = item->next) {
        bool nested = item->kind == KJ_E_LIST;
        if (*ndim < 0 && !nested)
            *ndim = depth + 1;
        if (nested == (depth + 1 == *ndim)) {
            kj_sema_error(s, item->span, KJ_RULE_LIST_SHAPE,
                          nested ? "a number is needed here, not a list"
                                 : "a list is needed here, not a number");
            return false;
        }
        if (nested && !list_shape(s, item, shape, depth + 1, ndim))
            return false;
    }
    return true;
}

typedef struct filling {
    kj_dtype elem; /* KJ_VOID: being inferred */
    const kj_aggregate *of;
    kj_value *values;  /* scalars */
    kj_operand *given; /* scalars, while the type is inferred: literals, or typed */
    char *data;        /* aggregates, in memory form */
    int64_t n;
    const char *what;
    bool ok, narrow; /* kj_tarray.narrow */
} filling;

void kj_write_parts(const kj_operand *v, char *to)
{
    for (int i = 0; i < v->u.tuple.n; i++) {
        const kj_operand *part = &v->u.tuple.items[i];
        char *at = to + v->u.tuple.of->fields[i].offset;
        if (part->kind == KJ_V_TUPLE)
            kj_write_parts(part, at);
        else
            kj_value_write(at, 0, part->u.scalar.e->u.value);
    }
}

static bool fill_aggregate(kj_sema *s, const kj_expr *e, filling *f)
{
    const kj_type type = {.kind = KJ_T_AGGREGATE, .dtype = f->of->type, .of = f->of};
    kj_operand v = const_parts(s, e, &type, f->what);
    if (v.kind != KJ_V_ERROR)
        kj_write_parts(&v, f->data + f->n++ * f->of->size);
    return v.kind != KJ_V_ERROR;
}

static void fill(kj_sema *s, const kj_expr *e, filling *f)
{
    for (const kj_expr *item = e->u.list.items; item; item = item->next) {
        if (item->kind == KJ_E_LIST)
            fill(s, item, f);
        else if (f->of)
            f->ok = fill_aggregate(s, item, f) && f->ok;
        else if (f->given)
            f->ok = kj_expr_known(s, item, KJ_VOID, f->what, &f->given[f->n++]) && f->ok;
        else if (!kj_expr_const(s, item, f->elem, f->what, &f->values[f->n++]))
            f->ok = false;
    }
}

/* Without a type: what the typed elements have in common, and that of literals; of these alone i32, i64 or u64
 * where all are integers, else f32. */
static bool infer(kj_sema *s, const kj_item *item, filling *f)
{
    const kj_operand *truth = NULL;
    int64_t bools = 0;
    for (int64_t i = 0; i < f->n; i++) {
        if (kj_type_of(&f->given[i]) != KJ_BOOL)
            continue;
        truth = &f->given[i];
        bools++;
    }
    bool literals = true;
    for (int64_t i = 0; i < f->n; i++)
        literals &= kj_is_untyped(&f->given[i]);
    if (truth && bools < f->n) {
        kj_message *m = kj_sema_error(s, truth->span, KJ_RULE_TYPE_MISMATCH,
                                      "a const array has numbers or bools, not both");
        kj_write(s->diag, m, truth->span, "i32(%s)", kj_source_text(s, truth->span, "..."));
        return false;
    }
    if (!kj_unify(s, f->given, (int)f->n, KJ_VOID, item->value->span, "a const array"))
        return false;
    f->elem = f->given[0].u.scalar.e->type;
    for (int64_t i = 0; i < f->n; i++) {
        f->values[i] = f->given[i].u.scalar.e->u.value;
        f->narrow |= literals && f->elem == KJ_F32 && kj_loses_digits(f->values[i].f);
    }
    return true;
}

bool kj_extent_of(kj_sema *s, const kj_type_ref *ref, const kj_expr *e, int64_t *out)
{
    kj_scope *scope = s->scope;
    int64_t n = 0;
    s->scope = ref->file ? ref->file->scope : scope;
    bool known = kj_integer_const(s, e, "an extent", &n);
    s->scope = scope;
    if (known && n < 1)
        kj_sema_error(s, e->span, KJ_RULE_EXTENT, "an extent is at least 1, not %lld",
                      (long long)n);
    *out = known ? n : 0;
    return *out >= 1;
}

static bool declared_shape(kj_sema *s, const kj_type_ref *ref, int64_t *shape, int *ndim)
{
    *ndim = ref->ndim;
    if (ref->ndim < 1 || ref->ndim > KJ_MAX_NDIM) {
        kj_message *m = kj_sema_error(s, ref->span, KJ_RULE_TYPE_MISMATCH,
                                      "a list makes an array, and this type is none");
        kj_hint(s->diag, m, "write %s[]", ref->name ? ref->name : "f32");
        return false;
    }
    int i = 0;
    for (const kj_expr *e = ref->extents; e && i < KJ_MAX_NDIM; e = e->next, i++)
        if (!kj_extent_of(s, ref, e, &shape[i]))
            return false;
    return true;
}

static kj_tarray *new_array(kj_sema *s, const kj_item *item, kj_dtype elem, const kj_aggregate *of,
                            int ndim, const int64_t *shape, const void *data)
{
    kj_tarray *a = KJ_NEW(s->arena, kj_tarray);
    *a = (kj_tarray){.name = item->name,
                     .span = item->name_span,
                     .elem = elem,
                     .of = of,
                     .ndim = ndim,
                     .space = KJ_CONST,
                     .layout = KJ_LAYOUT_C,
                     .id = -1,
                     .param = -1,
                     .data = data,
                     .static_count = 1};
    a->root = a;
    int64_t units = kj_elem_size(a) / kj_unit(a);
    for (int i = ndim - 1; i >= 0; i--) {
        a->shape[i] = kj_te_i64(s, shape[i], item->name_span);
        a->stride[i] = kj_te_i64(s, a->static_count * units, item->name_span);
        a->static_count *= shape[i];
    }
    return a;
}

/* The element type; shape and ndim are what is declared of extents. */
static kj_type declared(kj_sema *s, const kj_item *item, int64_t *shape, int *ndim)
{
    const kj_type none = {.kind = KJ_T_ERROR};
    if (!item->type->name) {
        kj_sema_error(s, item->type->span, KJ_RULE_TYPE_MISMATCH,
                      "a constant is a scalar or an array, not a tuple");
        return none;
    }
    kj_type_ref scalar = *item->type;
    scalar.ndim = 0;
    scalar.extents = NULL;
    kj_type t = kj_resolve_type(s, &scalar);
    return t.kind != KJ_T_ERROR && declared_shape(s, item->type, shape, ndim) ? t : none;
}

/* One past the greatest 32-bit element count is more than a source file holds: products cannot
 * overflow. */
static kj_tarray *const_array(kj_sema *s, const kj_item *item)
{
    int64_t shape[KJ_MAX_NDIM] = {-1, -1, -1, -1, -1, -1}, count = 1;
    int ndim = -1;
    filling f = {.elem = KJ_VOID,
                 .what = kj_arena_printf(s->diag->arena, "an element of '%s'", item->name),
                 .ok = true};
    if (item->type) {
        kj_type t = declared(s, item, shape, &ndim);
        if (t.kind == KJ_T_ERROR)
            return NULL;
        f.elem = t.dtype;
        f.of = t.of;
    }
    if (!list_shape(s, item->value, shape, 0, &ndim))
        return NULL;
    for (int i = 0; i < ndim; i++)
        count *= shape[i];
    if (f.of)
        f.data = kj_arena_calloc(s->arena, (size_t)count, (size_t)f.of->size);
    else
        f.values = KJ_NEW_ARRAY(s->arena, kj_value, (size_t)count + 1);
    if (f.elem == KJ_VOID)
        f.given = KJ_NEW_ARRAY(s->arena, kj_operand, (size_t)count + 1);
    fill(s, item->value, &f);
    if (!f.ok || (f.given && !infer(s, item, &f)))
        return NULL;
    if (!f.data)
        f.data = kj_arena_calloc(s->arena, (size_t)count, kj_types[f.elem].size);
    for (int64_t i = 0; i < count && !f.of; i++)
        kj_value_write(f.data, i, kj_fold_convert(f.values[i], f.elem));
    kj_tarray *a = new_array(s, item, f.elem, f.of, ndim, shape, f.data);
    a->narrow = f.narrow;
    return a;
}

/* const lut: f32[256] */
static kj_tarray *filled_array(kj_sema *s, const kj_item *item)
{
    enum { MOST = 1 << 28 }; /* elements */
    int64_t shape[KJ_MAX_NDIM] = {-1, -1, -1, -1, -1, -1}, count = 1;
    int ndim;
    if (item->type->name && item->type->ndim == 0) {
        kj_message *m =
            kj_sema_error(s, item->span, KJ_RULE_CONST_VALUE, "'%s' has no value", item->name);
        kj_hint(s->diag, m, "only an array may be left to the host: const %s: %s[256]", item->name,
                item->type->name);
        return NULL;
    }
    kj_type t = declared(s, item, shape, &ndim);
    if (t.kind == KJ_T_ERROR)
        return NULL;
    for (int i = 0; i < ndim; i++) {
        if (shape[i] < 0) {
            kj_message *m = kj_sema_error(s, item->type->span, KJ_RULE_EXTENT,
                                          "an array that the host fills says its extents");
            kj_hint(s->diag, m, "write const %s: %s[%s]", item->name, item->type->name,
                    ndim == 1 ? "256" : "16, 16");
            return NULL;
        }
        if (shape[i] > MOST || (count *= shape[i]) > MOST) {
            kj_sema_error(s, item->type->span, KJ_RULE_EXTENT,
                          "an array that the host fills has at most %d elements", (int)MOST);
            return NULL;
        }
    }
    kj_program *p = s->made;
    if (p->nfilled == KJ_MAX_FILLED) {
        kj_sema_error(s, item->name_span, KJ_RULE_TOO_MANY,
                      "a file has at most %d arrays that the host fills", KJ_MAX_FILLED);
        return NULL;
    }
    if (!p->filled)
        p->filled = KJ_NEW_ARRAY(s->arena, kj_const_array_info, KJ_MAX_FILLED);
    kj_tarray *a = new_array(s, item, t.dtype, t.of, ndim, shape, NULL);
    kj_const_array_info *info = &p->filled[p->nfilled];
    const char *space = item->file->space;
    a->symbol = space ? kj_arena_printf(s->arena, "kj$const_%s$%d", a->name, p->nfilled)
                      : kj_arena_printf(s->arena, "kj$const_%s", a->name);
    *info = (kj_const_array_info){.index = p->nfilled,
                                  .name = space ? kj_arena_printf(s->arena, "%s.%s", space, a->name)
                                                : a->name,
                                  .symbol = a->symbol,
                                  .span = a->span,
                                  .elem = a->elem,
                                  .of = a->of,
                                  .elem_size = kj_elem_size(a),
                                  .ndim = ndim};
    memcpy(info->shape, shape, sizeof shape);
    a->filled = ++p->nfilled;
    return a;
}

kj_tarray *kj_const_array(kj_sema *s, const kj_tarray *source)
{
    for (kj_const_use *use = s->const_uses; use; use = use->next)
        if (use->source == source)
            return use->array;
    int dead = s->dead; /* one for the whole kernel: a later use may be in code that is kept */
    s->dead = 0;
    kj_tarray *a = kj_new_root(s, source);
    s->dead = dead;
    kj_const_use *use = KJ_NEW(s->arena, kj_const_use);
    *use = (kj_const_use){.next = s->const_uses, .source = source, .array = a};
    s->const_uses = use;
    return a;
}

/* ---- Names of enums ---- */

/* v + step; false where the type does not hold it. */
static bool counted(kj_value v, int step, kj_value *out)
{
    *out = v;
    if (v.type == KJ_U64)
        return !__builtin_add_overflow(v.u, (uint64_t)step, &out->u);
    return !__builtin_add_overflow(v.i, (int64_t)step, &out->i) &&
           kj_value_fits(kj_int(KJ_I64, out->i), v.type);
}

/* Told of the first of those that count on. */
static bool refuse_count(kj_sema *s, const kj_item *item, kj_value before)
{
    kj_value last;
    if (!counted(before, item->step - 1, &last))
        return false;
    kj_message *m = kj_sema_error(s, item->name_span, KJ_RULE_ENUM,
                                  "'%s' would be one more than %s, which %s does not hold",
                                  item->name, kj_literal_text(s, last), kj_type_name(last.type));
    if (kj_types[last.type].size < 8)
        kj_hint(s->diag, m, "give it a value, or another type to all: enum %s: i64 { ... }",
                item->of->name);
    return false;
}

/* In the type that its enum says, or a literal. */
static kj_operand enumerator(kj_sema *s, const kj_item *item)
{
    kj_symbol *type = kj_scope_find(item->file->scope, item->of->name);
    kj_symbol *base = item->base ? kj_scope_find(item->file->scope, item->base->name) : NULL;
    const char *what = kj_arena_printf(s->diag->arena, "'%s'", item->name);
    kj_value v = {.type = KJ_VOID}, out;
    if (type->item != item->of || (base && base->item != item->base))
        return kj_no_value(item->name_span); /* declared twice */
    type->resolve(s, type);
    if (base)
        kj_const_resolve(s, base);
    if (type->type == KJ_VOID || (base && base->value.kind == KJ_V_ERROR))
        return kj_no_value(item->name_span);
    if (!base && !kj_expr_const(s, item->value, type->type, what, &v))
        return kj_no_value(item->name_span);
    if (base)
        v = base->value.kind == KJ_V_LITERAL ? base->value.u.literal
                                             : base->value.u.scalar.e->u.value;
    v = kj_fold_convert(v, type->type); /* which it fits */
    if (!counted(v, item->step, &out)) {
        refuse_count(s, item, v);
        return kj_no_value(item->name_span);
    }
    return item->of->typed ? kj_scalar(kj_te_const(s, out, item->name_span))
                           : kj_literal(kj_int(KJ_I64, out.i), item->name_span);
}

/* ---- Expressions that are known ---- */

bool kj_expr_known(kj_sema *s, const kj_expr *e, kj_dtype type, const char *what, kj_operand *v)
{
    kj_sink sink;
    kj_sink_open(s, &sink);
    *v = kj_expr_value(s, e, type);
    bool extra = kj_sink_close(s, &sink) != NULL;
    if (v->kind == KJ_V_ERROR || (kj_is_aggregate(v) && type != KJ_VOID)) {
        kj_coerce(s, *v, type, what);
        return false;
    }
    if (v->kind == KJ_V_TUPLE && !v->u.tuple.of) {
        kj_sema_error(s, e->span, KJ_RULE_TYPE_MISMATCH, "%s is one value, not %s", what,
                      kj_describe(s, v));
        return false;
    }
    if (!extra && kj_is_constant(v))
        return true;
    kj_message *m =
        kj_sema_error(s, e->span, KJ_RULE_NEEDS_CONSTANT, "%s must be known at compile time", what);
    if (e->kind == KJ_E_CALL && kj_is_float(kj_type_of(v)))
        kj_hint(s->diag, m, "functions of untyped literals are: const C: f32 = exp(1.0)");
    else
        kj_hint(s->diag, m, "literals, constants and const parameters are");
    return false;
}

bool kj_expr_const(kj_sema *s, const kj_expr *e, kj_dtype type, const char *what, kj_value *out)
{
    kj_operand v;
    if (!kj_expr_known(s, e, type, what, &v))
        return false;
    if (type != KJ_VOID) {
        kj_texpr *c = kj_coerce(s, v, type, what);
        if (c)
            *out = c->u.value;
        return c != NULL;
    }
    *out = v.kind == KJ_V_LITERAL ? v.u.literal : v.u.scalar.e->u.value;
    return true;
}

bool kj_whole_const(kj_sema *s, const kj_expr *e, const char *what, kj_value *out)
{
    kj_operand v;
    if (!kj_expr_known(s, e, KJ_I64, what, &v))
        return false;
    bool typed = v.kind == KJ_V_SCALAR && kj_is_int(v.u.scalar.e->type);
    if (typed || (v.kind == KJ_V_LITERAL && kj_is_int(v.u.literal.type))) {
        *out = typed ? v.u.scalar.e->u.value : v.u.literal;
        return true;
    }
    kj_texpr *c = kj_coerce(s, v, KJ_I64, what);
    if (c)
        *out = c->u.value;
    return c != NULL;
}

bool kj_integer_const(kj_sema *s, const kj_expr *e, const char *what, int64_t *out)
{
    kj_value v;
    if (!kj_whole_const(s, e, what, &v) || !kj_fits_i64(s, v, e->span, what))
        return false;
    *out = kj_fold_convert(v, KJ_I64).i;
    return true;
}

/* ---- Constants ---- */

static kj_operand const_value(kj_sema *s, const kj_item *item)
{
    if (item->of)
        return enumerator(s, item);
    if (!item->value || item->value->kind == KJ_E_LIST) {
        kj_tarray *a = item->value ? const_array(s, item) : filled_array(s, item);
        return a ? (kj_operand){.kind = KJ_V_ARRAY, .span = item->name_span, .u.array = a}
                 : kj_no_value(item->name_span);
    }
    kj_dtype type = KJ_VOID;
    kj_value v;
    if (item->type) {
        kj_type t = kj_resolve_type(s, item->type);
        if (t.kind == KJ_T_TUPLE)
            return const_parts(s, item->value, &t, "a constant");
        if (t.kind == KJ_T_ARRAY) {
            kj_message *m = kj_sema_error(s, item->value->span, KJ_RULE_TYPE_MISMATCH,
                                          "'%s' is an array and needs a list", item->name);
            kj_hint(s->diag, m, "write [1.0, 2.0, ...]");
        }
        if (t.kind == KJ_T_AGGREGATE)
            return const_parts(s, item->value, &t, "a constant");
        if (t.kind != KJ_T_SCALAR)
            return kj_no_value(item->name_span);
        type = t.dtype;
    }
    kj_sink sink;
    kj_sink_open(s, &sink);
    kj_operand untyped =
        type == KJ_VOID ? kj_expr_value(s, item->value, KJ_VOID) : kj_no_value(item->name_span);
    kj_sink_close(s, &sink);
    if (type == KJ_VOID && (untyped.kind == KJ_V_LITERAL || untyped.kind == KJ_V_ERROR))
        return untyped; /* stays untyped */
    if (untyped.kind == KJ_V_TUPLE)
        return const_parts(s, item->value, NULL, "a constant");
    if (!kj_expr_const(s, item->value, type, "a constant", &v))
        return kj_no_value(item->name_span);
    return kj_scalar(kj_te_const(s, v, item->name_span));
}

void kj_const_resolve(kj_sema *s, kj_symbol *sym)
{
    if (sym->progress == KJ_RESOLVED)
        return;
    if (sym->progress == KJ_RESOLVING) {
        kj_message *m = kj_sema_error(s, sym->span, KJ_RULE_CONST_CYCLE,
                                      "'%s' is defined by itself", sym->name);
        kj_hint(s->diag, m, "a constant cannot depend on its own value");
        sym->value = kj_no_value(sym->span);
        return;
    }
    sym->progress = KJ_RESOLVING;
    sym->value = kj_no_value(sym->span);
    kj_scope *scope = s->scope;
    kj_frame *frame = s->frame;
    int nodes = s->nodes;
    s->scope = sym->item->file->scope;
    s->frame = NULL;
    kj_operand v = const_value(s, sym->item);
    s->scope = scope;
    s->frame = frame;
    s->nodes = nodes; /* no code of the kernel that reads it */
    sym->value = v;
    sym->progress = KJ_RESOLVED;
}
