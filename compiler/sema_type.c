/* Types as written, and the conversions between scalar types that the language makes by itself. */
#include <string.h>

#include "sema_impl.h"

/* ---- Types as written ---- */

static kj_dtype resolve_name(kj_sema *s, const char *name, kj_span span)
{
    kj_symbol *sym = kj_scope_find(s->scope, name);
    if (!sym) {
        kj_undeclared_type(s, name, span);
        return KJ_VOID;
    }
    if (sym->kind != KJ_SYM_TYPE) {
        kj_message *m = kj_sema_error(s, span, "not-a-type", "'%s' is not a type", name);
        kj_hint(s->diag, m, "types are bool, i8 to i64, u8 to u64, f16, bf16, f32 and f64");
        return KJ_VOID;
    }
    if (sym->item)
        kj_record_resolve(s, sym);
    return sym->type;
}

kj_type kj_resolve_type(kj_sema *s, const kj_type_ref *ref)
{
    kj_type t = {.kind = KJ_T_ERROR};
    if (!ref)
        return (kj_type){.kind = KJ_T_NONE};
    if (!ref->name) {
        for (const kj_type_ref *p = ref->parts; p; p = p->next)
            t.n++;
        t.parts = KJ_NEW_ARRAY(s->arena, kj_type, (size_t)t.n + 1);
        t.kind = KJ_T_TUPLE;
        int i = 0;
        for (const kj_type_ref *p = ref->parts; p; p = p->next) {
            t.parts[i] = kj_resolve_type(s, p);
            if (t.parts[i++].kind == KJ_T_ERROR)
                t.kind = KJ_T_ERROR;
        }
        return t;
    }
    t.dtype = resolve_name(s, ref->name, ref->span);
    t.ndim = ref->ndim;
    if (ref->ndim > KJ_MAX_NDIM) {
        kj_sema_error(s, ref->span, "too-many-axes", "an array has at most %d axes", KJ_MAX_NDIM);
        return t;
    }
    if (ref->extents && t.dtype != KJ_VOID) {
        kj_message *m =
            kj_sema_error(s, ref->span, "extents",
                          "extents belong to const arrays and to fields of records only");
        kj_hint(s->diag, m, "write %s; the launch knows the shape",
                kj_array_type(s, t.dtype, t.ndim));
        return t;
    }
    t.of = kj_sema_aggregate(s, t.dtype);
    if (t.dtype != KJ_VOID)
        t.kind = t.ndim ? KJ_T_ARRAY : t.of ? KJ_T_AGGREGATE : KJ_T_SCALAR;
    return t;
}

kj_dtype kj_dtype_argument(kj_sema *s, const kj_expr *e)
{
    if (e->kind == KJ_E_NAME)
        return resolve_name(s, e->u.name, e->span);
    if (e->kind == KJ_E_MEMBER && kj_expr_any(s, e, KJ_VOID).kind == KJ_V_ERROR)
        return KJ_VOID; /* np.float32: said what to write */
    kj_message *m = kj_sema_error(s, e->span, "not-a-type", "a type is expected here");
    kj_hint(s->diag, m, "types are bool, i8 to i64, u8 to u64, f16, bf16, f32 and f64");
    return KJ_VOID;
}

bool kj_type_in_bound(kj_dtype t, const char *bound)
{
    if (!bound)
        return true;
    if (strcmp(bound, "int") == 0)
        return kj_is_int(t);
    if (strcmp(bound, "float") == 0)
        return kj_is_float(t);
    if (strcmp(bound, "complex") == 0)
        return kj_is_complex_type(t);
    return (!kj_is_scalar(t) && t < KJ_FIRST_RECORD) || kj_is_int(t) || kj_is_float(t);
}

/* ---- Which types meet in which ---- */

static kj_dtype signed_of(int bits)
{
    return bits <= 8    ? KJ_I8
           : bits <= 16 ? KJ_I16
           : bits <= 32 ? KJ_I32
           : bits <= 64 ? KJ_I64
                        : KJ_VOID;
}

/* Of a complex type that of its parts. */
static kj_dtype part_type(kj_dtype t, bool *complex)
{
    *complex = kj_is_complex_type(t);
    return *complex ? kj_aggregate_of(t)->elem : t;
}

kj_dtype kj_common_type(kj_dtype a, kj_dtype b)
{
    bool complex[2];
    if (a == b)
        return a;
    a = part_type(a, &complex[0]);
    b = part_type(b, &complex[1]);
    if (complex[0] || complex[1]) {
        kj_dtype part = kj_common_type(a, b);
        return part == KJ_VOID ? part : kj_complex_of(part)->type;
    }
    if (a >= KJ_NTYPES || b >= KJ_NTYPES || a == KJ_BOOL || b == KJ_BOOL)
        return KJ_VOID;
    if (kj_is_float(a) != kj_is_float(b)) {
        kj_dtype real = kj_is_float(a) ? a : b, whole = kj_is_float(a) ? b : a;
        return kj_converts(whole, real) ? real : KJ_F32; /* f16 ends before most integers do */
    }
    if (kj_is_half(a) && kj_is_half(b))
        return KJ_F32; /* none of the two holds the other */
    if (kj_types[a].class == kj_types[b].class)
        return kj_types[a].bits > kj_types[b].bits ? a : b;
    kj_dtype with_sign = kj_is_signed(a) ? a : b, without = kj_is_signed(a) ? b : a;
    return kj_types[with_sign].bits > kj_types[without].bits
               ? with_sign
               : signed_of(2 * kj_types[without].bits);
}

bool kj_converts(kj_dtype from, kj_dtype to)
{
    bool complex[2];
    if (from == to)
        return true;
    kj_dtype parts[2] = {part_type(from, &complex[0]), part_type(to, &complex[1])};
    if (complex[1])
        return kj_converts(parts[0], parts[1]);
    if (from >= KJ_NTYPES || to >= KJ_NTYPES || from == KJ_BOOL || to == KJ_BOOL)
        return false;
    if (to == KJ_F16 && kj_is_int(from))
        return kj_magnitude_bits(from) <= 15;
    if (kj_is_float(to))
        return !kj_is_float(from) || kj_types[to].bits > kj_types[from].bits;
    if (kj_is_float(from))
        return false;
    return kj_types[to].bits > kj_types[from].bits && (kj_is_signed(to) || !kj_is_signed(from));
}

kj_dtype kj_default_type(kj_value v)
{
    if (kj_is_float(v.type))
        return KJ_F32;
    return kj_value_fits(v, KJ_I32) ? KJ_I32 : v.type;
}

/* ---- Conversions of operands ---- */

/* The one generic that is the type in this instance; NULL: none, or several. */
static const char *generic_of(const kj_sema *s, kj_dtype t)
{
    const char *found = NULL;
    const kj_generic *g = s->frame && s->frame->item ? s->frame->item->generics : NULL;
    for (; g; g = g->next) {
        const kj_symbol *sym = kj_scope_find(s->scope, g->name);
        if (!sym || sym->kind != KJ_SYM_TYPE || sym->type != t)
            continue;
        if (found)
            return NULL;
        found = g->name;
    }
    return found;
}

/* "f32(x)" with the source's own text where that is short. */
static const char *conversion(kj_sema *s, kj_dtype to, kj_span span)
{
    const char *text = kj_source_text(s, span, "..."), *generic = generic_of(s, to);
    const char *plain = kj_arena_printf(s->diag->arena, "%s(%s)", kj_sema_type_name(s, to), text);
    return generic ? kj_arena_printf(s->diag->arena, "%s, or %s(%s) where %s is meant", plain,
                                     generic, text, generic)
                   : plain;
}

static kj_texpr *coerce_literal(kj_sema *s, const kj_operand *v, kj_dtype to, const char *what)
{
    kj_value lit = v->u.literal;
    bool is_real = kj_is_float(lit.type);
    if (to == KJ_BOOL) {
        kj_message *m =
            kj_sema_error(s, v->span, "type-mismatch", "%s is bool, not a number", what);
        kj_hint(s->diag, m, "write true, false, or a comparison");
        return NULL;
    }
    if (is_real && !kj_is_float(to)) {
        kj_message *m = kj_sema_error(s, v->span, "type-mismatch", "%s is %s, and %s is a float",
                                      what, kj_type_name(to), kj_literal_text(s, lit));
        if (kj_value_fits(lit, KJ_I64))
            kj_hint(s->diag, m, "write %lld", (long long)kj_fold_convert(lit, KJ_I64).i);
        else
            kj_hint(s->diag, m, "write %s to cut the fraction off", conversion(s, to, v->span));
        return NULL;
    }
    if (!kj_value_fits(lit, to)) {
        kj_message *m = kj_sema_error(s, v->span, "constant-range", "%s does not fit %s",
                                      kj_literal_text(s, lit), kj_type_name(to));
        kj_value wrapped = kj_fold_convert(lit, to);
        if (kj_is_float(to))
            kj_hint(s->diag, m, to == KJ_F16 ? "f16 reaches 65504" : "f64 reaches about 1.8e308");
        else
            kj_hint(s->diag, m, "%s is %s", conversion(s, to, v->span),
                    kj_literal_text(s, wrapped));
        return NULL;
    }
    return kj_te_const(s, kj_fold_convert(lit, to), v->span);
}

static void mismatch(kj_sema *s, const kj_operand *v, kj_dtype to, const char *what)
{
    kj_dtype from = v->u.scalar.e->type;
    kj_message *m = kj_sema_error(s, v->span, "type-mismatch", "%s is %s, not %s", what,
                                  kj_type_name(to), kj_type_name(from));
    if (to == KJ_BOOL)
        kj_hint(s->diag, m, "write %s != 0", kj_source_text(s, v->span, "..."));
    else
        kj_hint(s->diag, m, "write %s", conversion(s, to, v->span));
}

kj_texpr *kj_coerce(kj_sema *s, kj_operand v, kj_dtype to, const char *what)
{
    if (v.kind == KJ_V_ERROR || to == KJ_VOID)
        return NULL;
    if (v.kind == KJ_V_LITERAL)
        return coerce_literal(s, &v, to, what);
    if (v.kind != KJ_V_SCALAR) {
        kj_message *m = kj_sema_error(s, v.span, "type-mismatch", "%s is %s, not %s", what,
                                      kj_type_name(to), kj_describe(s, &v));
        if (v.kind == KJ_V_ARRAY)
            kj_hint(s->diag, m, "an element has %d %s", v.u.array->ndim,
                    v.u.array->ndim == 1 ? "index" : "indices");
        if (kj_is_complex(&v))
            kj_hint(s->diag, m, "write abs(%s), or its .real or .imag",
                    kj_source_text(s, v.span, "z"));
        return NULL;
    }
    if (!kj_converts(v.u.scalar.e->type, to)) {
        mismatch(s, &v, to, what);
        return NULL;
    }
    return kj_te_convert(s, v.u.scalar.e, to, v.span);
}

static kj_operand coerce_array(kj_sema *s, kj_operand v, const kj_type *to, const char *what)
{
    if (v.kind == KJ_V_ARRAY && v.u.array->elem == to->dtype && v.u.array->ndim == to->ndim)
        return v;
    kj_message *m = kj_sema_error(s, v.span, "type-mismatch", "%s is %s, not %s", what,
                                  kj_array_type(s, to->dtype, to->ndim), kj_describe(s, &v));
    if (v.kind == KJ_V_ARRAY && v.u.array->ndim > to->ndim && v.u.array->elem == to->dtype)
        kj_hint(s->diag, m, "an index or ':' an axis makes a view with fewer axes, as in a[i, :]");
    return kj_no_value(v.span);
}

kj_operand kj_coerce_type(kj_sema *s, kj_operand v, const kj_type *to, const char *what)
{
    if (v.kind == KJ_V_ERROR || to->kind == KJ_T_ERROR || to->kind == KJ_T_NONE)
        return kj_no_value(v.span);
    if (to->kind == KJ_T_SCALAR)
        return kj_scalar(kj_coerce(s, v, to->dtype, what));
    if (to->kind == KJ_T_AGGREGATE)
        return kj_coerce_aggregate(s, v, to->of, what);
    if (to->kind == KJ_T_ARRAY)
        return coerce_array(s, v, to, what);
    if (v.kind != KJ_V_TUPLE || v.u.tuple.n != to->n) {
        kj_sema_error(s, v.span, "tuple-arity", "%s is a tuple of %d, not %s", what, to->n,
                      kj_describe(s, &v));
        return kj_no_value(v.span);
    }
    kj_operand *items = KJ_NEW_ARRAY(s->arena, kj_operand, (size_t)to->n + 1);
    for (int i = 0; i < to->n; i++) {
        const char *part = kj_arena_printf(s->diag->arena, "part %d of %s", i, what);
        items[i] = kj_coerce_type(s, v.u.tuple.items[i], &to->parts[i], part);
        if (items[i].kind == KJ_V_ERROR)
            return kj_no_value(v.span);
    }
    v.u.tuple.items = items;
    return v;
}

kj_operand kj_settle(kj_sema *s, kj_operand v)
{
    if (kj_is_complex(&v) && v.u.tuple.of == &kj_complex_literal)
        return kj_coerce_aggregate(s, v, kj_complex_of(KJ_F32), "this");
    if (v.kind == KJ_V_LITERAL)
        return kj_scalar(kj_coerce(s, v, kj_default_type(v.u.literal), "this"));
    if (v.kind == KJ_V_SCALAR)
        return kj_scalar(v.u.scalar.e); /* no longer a product written right here */
    if (v.kind == KJ_V_TUPLE) {
        kj_operand *items = KJ_NEW_ARRAY(s->arena, kj_operand, (size_t)v.u.tuple.n + 1);
        for (int i = 0; i < v.u.tuple.n; i++) {
            items[i] = kj_settle(s, v.u.tuple.items[i]);
            if (items[i].kind == KJ_V_ERROR)
                return kj_no_value(v.span);
        }
        v.u.tuple.items = items;
    }
    return v;
}

kj_texpr *kj_condition(kj_sema *s, kj_operand v, const char *what)
{
    if (v.kind == KJ_V_ERROR)
        return NULL;
    if (v.kind == KJ_V_SCALAR && v.u.scalar.e->type == KJ_BOOL)
        return v.u.scalar.e;
    kj_message *m =
        kj_sema_error(s, v.span, "not-bool", "%s is bool, not %s", what, kj_describe(s, &v));
    if (v.kind == KJ_V_LITERAL)
        kj_hint(s->diag, m, "write true or false");
    else if (v.kind == KJ_V_SCALAR || kj_is_complex(&v))
        kj_hint(s->diag, m, "write %s != 0", kj_source_text(s, v.span, "..."));
    else if (v.kind == KJ_V_TUPLE && !v.u.tuple.of && kj_type_of(v.u.tuple.items) == KJ_BOOL)
        kj_hint(s->diag, m, "write all(%s), or any(...)", kj_source_text(s, v.span, "..."));
    return NULL;
}

kj_texpr *kj_index_value(kj_sema *s, kj_operand v, const char *what)
{
    if (v.kind == KJ_V_SCALAR && kj_is_int(v.u.scalar.e->type))
        return kj_te_convert(s, v.u.scalar.e, KJ_I64, v.span);
    if (v.kind == KJ_V_LITERAL && !kj_is_float(v.u.literal.type))
        return kj_coerce(s, v, KJ_I64, what);
    if (v.kind == KJ_V_ERROR)
        return NULL;
    kj_message *m = kj_sema_error(s, v.span, "not-an-integer", "%s is an integer, not %s", what,
                                  kj_describe(s, &v));
    if (v.kind == KJ_V_SCALAR)
        kj_hint(s->diag, m, "write %s", conversion(s, KJ_I64, v.span));
    return NULL;
}
