/* Members: a.shape and its kin, threadIdx.x, and what people write instead. */
#include <string.h>

#include "sema/body/body.h"

static kj_operand unknown_member(kj_sema *s, const kj_expr *e, const char *of, const char *list)
{
    kj_message *m = kj_sema_error(s, e->u.member.name_span, KJ_RULE_UNKNOWN_MEMBER,
                                  "%s has no member '%s'", of, e->u.member.name);
    m->members = list;
    bool array = strcmp(of, "an array") == 0;
    const char *method = strstr(list, kj_arena_printf(s->diag->arena, " %s()", e->u.member.name));
    if (array && method) {
        kj_write(s->diag, m, e->span, "%s()", kj_source_text(s, e->span, "..."));
        return kj_no_value(e->span);
    }
    if (!array || !(kj_hint_library(s, m, e->u.member.name) || kj_hint_method(s, m, e)))
        kj_hint(s->diag, m, "members: %s", list);
    return kj_no_value(e->span);
}

/* ---- threadIdx.x ---- */

static bool index_kind(kj_builtin id, kj_index *which)
{
    switch (id) {
    case KJ_BI_THREADIDX: *which = KJ_THREAD_IDX; return true;
    case KJ_BI_BLOCKIDX: *which = KJ_BLOCK_IDX; return true;
    case KJ_BI_BLOCKDIM: *which = KJ_BLOCK_DIM; return true;
    case KJ_BI_GRIDDIM: *which = KJ_GRID_DIM; return true;
    default: return false;
    }
}

/* Of shared.array where something else is called shared: says where, if so. */
static bool note_hidden_member(kj_sema *s, kj_message *m, const kj_expr *e, const kj_symbol *sym)
{
    const char *full = kj_arena_printf(s->diag->arena, "%s.%s", sym->name, e->u.member.name);
    return kj_note_hiding(s, m, full, sym->span);
}

static kj_operand symbol_member(kj_sema *s, const kj_expr *e, const kj_symbol *sym)
{
    kj_index which;
    const char *name = e->u.member.name;
    if (sym->kind == KJ_SYM_BUILTIN && index_kind(sym->builtin, &which)) {
        if (name[0] >= 'x' && name[0] <= 'z' && name[1] == '\0')
            return kj_scalar(kj_te_index(s, which, name[0] - 'x', e->span));
        return unknown_member(s, e, sym->name, "x, y, z");
    }
    if (sym->kind == KJ_SYM_NAMESPACE) {
        const char *list = "";
        size_t n = strlen(sym->name);
        for (int id = 0; id < KJ_NBUILTINS && kj_diag_has_room(s->diag); id++) {
            const char *full = kj_builtins[id].name;
            if (strncmp(full, sym->name, n) == 0 && full[n] == '.')
                list = kj_arena_printf(s->diag->arena, "%s%s%s", list, *list ? ", " : "",
                                       full + n + 1);
        }
        return unknown_member(s, e, sym->name, list);
    }
    kj_message *m =
        kj_sema_error(s, e->span, KJ_RULE_UNKNOWN_MEMBER, "'%s' has no members", sym->name);
    m->members = "";
    if (!note_hidden_member(s, m, e, sym) && sym->kind == KJ_SYM_KERNEL)
        kj_hint(
            s->diag, m,
            "kernels are launched by the run block, or by kernels: launch %s[blocks, threads](...)",
            sym->name);
    return kj_no_value(e->span);
}

/* ---- a.shape ---- */

static kj_texpr *array_size(kj_sema *s, const kj_tarray *a, kj_span span)
{
    kj_texpr *size = a->shape[0];
    for (int i = 1; i < a->ndim; i++)
        size = kj_i64_mul(s, size, a->shape[i], span);
    return size;
}

static kj_operand extents(kj_sema *s, kj_texpr *const *e, int n, kj_span span)
{
    kj_operand *items = KJ_NEW_ARRAY(s->arena, kj_operand, (size_t)n + 1);
    for (int i = 0; i < n; i++)
        items[i] = kj_scalar(e[i]);
    return kj_tuple(items, n, NULL, span);
}

/* From one element to the next, in bytes. */
static kj_operand strides(kj_sema *s, const kj_tarray *a, kj_span span)
{
    kj_texpr *e[KJ_MAX_NDIM];
    for (int i = 0; i < a->ndim; i++)
        e[i] = kj_i64_mul(s, a->stride[i], kj_te_i64(s, kj_unit(a), span), span);
    return extents(s, e, a->ndim, span);
}

/* The same in elements. */
static kj_operand steps(kj_sema *s, const kj_tarray *a, kj_span span)
{
    kj_texpr *e[KJ_MAX_NDIM];
    int64_t units = kj_elem_size(a) / kj_unit(a);
    for (int i = 0; i < a->ndim; i++)
        e[i] = units == 1
                   ? a->stride[i]
                   : kj_te_binary(s, KJ_OP_FLOORDIV, a->stride[i], kj_te_i64(s, units, span), span);
    return extents(s, e, a->ndim, span);
}

/* What all arrays have, and what views of numbers have: of several at once only sums. */
static const char *array_members(kj_sema *s, const kj_tarray *a)
{
    const char *list = "shape, size, ndim, strides, steps, T, reshape(...), ravel()";
    for (int id = 0; id < KJ_NBUILTINS && kj_diag_has_room(s->diag); id++)
        if (!a->of && kj_builtin_reduces((kj_builtin)id, 1))
            list = kj_arena_printf(s->diag->arena, "%s, %s()", list, kj_builtins[id].name);
    return a->of ? list : kj_arena_printf(s->diag->arena, "%s, view(...)", list);
}

/* A field of the elements of an array: a view; of one of them: its place. */
static kj_operand element_field(kj_sema *s, const kj_expr *e, kj_operand v)
{
    bool one = v.kind == KJ_V_PLACE;
    kj_tarray *a = one ? v.u.place.array : v.u.array;
    const kj_field *part = kj_part_named(s, a->of, e, !one);
    if (!part) {
        kj_message *m = s->diag->last;
        if (!one && m && m->members && m->span.begin == e->u.member.name_span.begin)
            m->members = kj_arena_printf(s->diag->arena, "%s, %s", m->members, array_members(s, a));
        return kj_no_value(e->span);
    }
    kj_tarray *view = kj_part_view(s, a, part);
    if (!one && kj_is_fixed(view->of))
        return kj_array_field_view(s, view, e->span);
    if (one)
        v.u.place.array = view;
    else
        v.u.array = view;
    return v;
}

static kj_operand array_member(kj_sema *s, const kj_expr *e, kj_tarray *a)
{
    const char *name = e->u.member.name;
    if (strcmp(name, "shape") == 0)
        return extents(s, a->shape, a->ndim, e->span);
    if (strcmp(name, "strides") == 0)
        return strides(s, a, e->span);
    if (strcmp(name, "steps") == 0)
        return steps(s, a, e->span);
    if (strcmp(name, "size") == 0)
        return kj_scalar(array_size(s, a, e->span));
    if (strcmp(name, "ndim") == 0)
        return kj_literal_integer((uint64_t)a->ndim, e->span);
    if (strcmp(name, "T") == 0)
        return kj_transposed(s, a, e->span);
    if (a->of)
        return element_field(s, e, (kj_operand){.kind = KJ_V_ARRAY, .span = e->span, .u.array = a});
    return unknown_member(s, e, "an array", array_members(s, a));
}

/* ---- np.float32, math.sqrt, cuda.grid ---- */

bool kj_is_module(const char *name)
{
    static const char *const modules[] = {
        "plt", "matplotlib", "np", "numpy",  "math", "cuda",   "numba", "cupy", "cp",    "Math",
        "jnp", "torch",      "tl", "triton", "ti",   "taichi", "sys",   "pd",   "pandas"};
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
        if (strcmp(name, modules[i]) == 0)
            return true;
    return false;
}

/* The name here for what a module of Python calls `name`; NULL: kj_hint_module_member knows. */
static const char *native_name(kj_sema *s, const char *name)
{
    static const struct {
        const char *theirs, *ours;
    } names[] = {
        {"float32", "f32"},
        {"float64", "f64"},
        {"int8", "i8"},
        {"int16", "i16"},
        {"int32", "i32"},
        {"int64", "i64"},
        {"uint8", "u8"},
        {"uint16", "u16"},
        {"uint32", "u32"},
        {"uint64", "u64"},
        {"bool_", "bool"},
        {"complex64", "c64"},
        {"complex128", "c128"},
        {"conjugate", "conj(z)"},
        {"angle", "phase(z)"},
        {"grid", "grid(1)"},
        {"gridsize", "gridsize(1)"},
        {"shared", "shared.array(n, f32)"},
        {"local", "local.array(n, f32)"},
        {"atomic", "atomic.add(a, i, v), atomic.max(a, i, v) and so on, without 'cuda.'"},
        {"arctan2", "atan2"},
        {"arctan", "atan"},
        {"arcsin", "asin"},
        {"arccos", "acos"},
        {"power", "pow"},
        {"threadIdx", "threadIdx.x"},
        {"blockIdx", "blockIdx.x"},
        {"blockDim", "blockDim.x"},
        {"gridDim", "gridDim.x"},
        {"laneid", "laneid"},
        {"warpsize", "warpsize"},
        {"cg", "grid_sync(), where all blocks of the grid wait for each other"},
        {"fp16", "a + b, a * b, sqrt(a): an f16 has the operators and functions of floats"},
        {"random", "random.uniform(seed, i)"},
        {"pi", "pi"},
        {"inf", "inf"},
        {"nan", "nan"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i].theirs) == 0)
            return names[i].ours;
    for (int id = 0; id < KJ_NBUILTINS; id++)
        if (strcmp(name, kj_builtins[id].name) == 0 && strcmp(name, "remainder") != 0)
            return kj_arena_printf(s->diag->arena, "%s%s", name, kj_call_words((kj_builtin)id));
    return NULL;
}

/* cuda.random.xoroshiro128p_normal_float32, np.random.randn */
static const char *number_of_seed(const char *part)
{
    size_t n = 0;
    while (kj_is_word(part[n]) || part[n] == '.')
        n++;
    const char *normal = strstr(part, "norm"), *randn = strstr(part, "randn");
    const char *randint = strstr(part, "randint");
    if ((normal && normal < part + n) || (randn && randn < part + n))
        return "random.normal(seed, i)";
    return randint && randint < part + n ? "random.randint(lo, hi, seed, i)"
                                         : "random.uniform(seed, i)";
}

/* .uniform(...), which are called so here too */
static bool names_of_seeds(const char *part)
{
    static const char *const names[] = {".uniform(", ".normal(", ".randint("};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(part, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* An argument of cuda.shared.array, in kjit's words where it is a type: np.float32 is f32. */
static const char *argument_meant(kj_sema *s, const char *text, size_t n, bool first)
{
    size_t name = 0, type = 0;
    while (name < n && kj_is_word(text[name]))
        name++;
    type = name < n && text[name] == '=' ? name + 1 : 0;
    const char *dot = memchr(text + type, '.', n - type);
    size_t from = dot ? (size_t)(dot + 1 - text) : type;
    const char *meant =
        first && type == 0
            ? NULL
            : kj_type_meant(kj_arena_printf(s->diag->arena, "%.*s", (int)(n - from), text + from));
    return meant ? kj_arena_printf(s->diag->arena, "%.*s%s", (int)type, text, meant)
                 : kj_arena_printf(s->diag->arena, "%.*s", (int)n, text);
}

/* Of cuda.shared.array((16, 16), float32) what it is here, with its arguments; `theirs` begins behind `shared`; NULL: it
 * is no such call on one line. */
static const char *array_meant(kj_sema *s, const char *space, const char *theirs)
{
    const char *text = kj_arena_printf(s->diag->arena, "%s.array(", space);
    const char *at = theirs + strlen(".array("), *begin = at;
    int depth = 1, given = 0;
    if (strncmp(theirs, ".array(", strlen(".array(")) != 0)
        return NULL;
    for (; *at && *at != '\n' && depth > 0; at++) {
        depth += (*at == '(' || *at == '[') - (*at == ')' || *at == ']');
        if (!((depth == 1 && *at == ',') || (depth == 0 && at > begin)))
            continue;
        text = kj_arena_printf(s->diag->arena, "%s%s%s", text, given ? ", " : "",
                               argument_meant(s, begin, (size_t)(at - begin), given == 0));
        given++;
        begin = at + 1 + strspn(at + 1, " ");
    }
    return depth == 0 && given >= 2 ? kj_arena_printf(s->diag->arena, "%s)", text) : NULL;
}

kj_operand kj_module_member(kj_sema *s, const kj_expr *e)
{
    const kj_expr *base = e->u.member.base;
    kj_message *m = kj_sema_error(s, e->span, KJ_RULE_UNDECLARED,
                                  "'%s' is not declared: there are no modules", base->u.name);
    if (strcmp(e->u.member.name, "where") == 0) {
        kj_hint_where(s, m, e->span);
        return kj_no_value(e->span);
    }
    const char *ours = kj_is_shown(s->diag, m) ? native_name(s, e->u.member.name) : NULL;
    bool seeded = strcmp(e->u.member.name, "random") == 0;
    const char *theirs = s->diag->source->text + e->span.end;
    if (ours && seeded)
        ours = number_of_seed(theirs);
    const char *array =
        ours && strstr(ours, ".array(") ? array_meant(s, e->u.member.name, theirs) : NULL;
    ours = array ? array : ours;
    if (ours && *theirs == '(' && strstr(ours, "grid") == ours) /* with their axes */
        ours = kj_arena_printf(s->diag->arena, "%.*s%.*s", (int)strcspn(ours, "("), ours,
                               (int)strcspn(theirs, ")\n") + 1, theirs);
    if (ours)
        kj_hint(s->diag, m, "write %s", ours);
    if (ours && (!seeded || names_of_seeds(theirs)))
        kj_fix_name(s, m, ours);
    if (!ours && kj_is_shown(s->diag, m))
        kj_hint_module_member(s, m, e->u.member.name);
    return kj_no_value(e->span);
}

static kj_operand value_field(kj_sema *s, const kj_expr *e, const kj_operand *v)
{
    const kj_aggregate *of = v->u.tuple.of;
    const kj_field *part = kj_part_named(s, of, e, false);
    return part ? kj_one_of(s, v, (int)(part - of->fields)) : kj_no_value(e->span);
}

static kj_operand no_members(kj_sema *s, const kj_expr *e, const kj_operand *v)
{
    kj_message *m = kj_sema_error(s, e->u.member.name_span, KJ_RULE_UNKNOWN_MEMBER,
                                  "%s has no members", kj_describe(s, v));
    m->members = v->kind == KJ_V_SCALAR && v->u.scalar.e->type != KJ_BOOL ? "view(...)" : "";
    if (kj_take_as_array(s, m, e))
        return kj_no_value(e->span);
    const kj_expr *base = e->u.member.base;
    const kj_symbol *sym = base->kind == KJ_E_NAME ? kj_scope_find(s->scope, base->u.name) : NULL;
    if (sym && note_hidden_member(s, m, e, sym))
        return kj_no_value(e->span);
    if (!kj_hint_method(s, m, e) && v->kind == KJ_V_TUPLE)
        kj_hint(s->diag, m, "its parts are %s[0], %s[1]", kj_source_text(s, base->span, "s"),
                kj_source_text(s, base->span, "s"));
    return kj_no_value(e->span);
}

kj_operand kj_member_of(kj_sema *s, const kj_expr *e, kj_operand v)
{
    if (v.kind == KJ_V_PLACE && !v.u.place.array->of)
        v = kj_place_value(s, v);
    if (v.kind == KJ_V_PLACE && kj_is_fixed(v.u.place.array->of))
        v = kj_place_value(s, v);
    if (kj_is_aggregate(&v) && !kj_is_fixed(v.u.tuple.of))
        return value_field(s, e, &v);
    switch (v.kind) {
    case KJ_V_ARRAY: return array_member(s, e, v.u.array);
    case KJ_V_PLACE: return element_field(s, e, v);
    case KJ_V_SYMBOL: return symbol_member(s, e, v.u.symbol);
    case KJ_V_ERROR: return v;
    default: return no_members(s, e, &v);
    }
}
