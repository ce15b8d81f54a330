/* The rows of types.def, ops.def, builtins.def and run_builtins.def as C tables. */
#include "lang/types.h"

#include <string.h>

const kj_type_info kj_types[KJ_NTYPES] = {
#define TYPE(id, type_name, type_class, width, npy_name) \
    [KJ_##id] = {.name = type_name, \
                 .npy = npy_name, \
                 .class = KJ_CLASS_##type_class, \
                 .bits = width, \
                 .size = width / 8},
#include "lang/types.def"
#undef TYPE
};

const kj_op_info kj_ops[KJ_NOPS] = {
#define BINARY(id, text, op_class) [KJ_OP_##id] = {.spelling = text, .class = KJ_OPS_##op_class},
#define UNARY(id, text, op_class) [KJ_OP_##id] = {.spelling = text, .class = KJ_OPS_##op_class},
#include "lang/ops.def"
};

kj_op kj_mirrored(kj_op op)
{
    switch (op) {
    case KJ_OP_LT: return KJ_OP_GT;
    case KJ_OP_LE: return KJ_OP_GE;
    case KJ_OP_GT: return KJ_OP_LT;
    case KJ_OP_GE: return KJ_OP_LE;
    default: return op;
    }
}

const kj_builtin_info kj_builtins[KJ_NBUILTINS] = {
#define BUILTIN(id, text, family, shape, means, code, ulps32, ulps64, about) \
    [KJ_BI_##id] = {.name = text, \
                    .group = #family, \
                    .signature = shape, \
                    .symbol = code, \
                    .doc = about, \
                    .how = KJ_HOW_##means, \
                    .ulp32 = ulps32, \
                    .ulp64 = ulps64},
#include "lang/builtins.def"
#undef BUILTIN
};

/* ---- The run block's ---- */

const kj_run_info kj_run_builtins[KJ_NRUN] = {
#define RUN(id, name, signature, gives, doc) \
    [KJ_RUN_##id] = {name, signature, doc, KJ_GIVES_##gives, false},
#define DOES(id, name, signature, gives, doc) \
    [KJ_RUN_##id] = {name, signature, doc, KJ_GIVES_##gives, true},
#include "lang/run_builtins.def"
#undef RUN
};

int kj_run_builtin_named(const char *name)
{
    for (int i = 0; i < KJ_NRUN; i++)
        if (strcmp(kj_run_builtins[i].name, name) == 0)
            return i;
    return -1;
}

int kj_run_member_named(const char *name)
{
    for (int i = 0; i < KJ_NRUN; i++)
        if (kj_run_builtins[i].name[0] == '.' && strcmp(kj_run_builtins[i].name + 1, name) == 0)
            return i;
    return -1;
}

/* ---- Types of several scalars ---- */

enum {
#define TYPE(id, name, class, bits, npy) BYTES_##id = (bits) / 8,
#include "lang/types.def"
#undef TYPE
};

#define FIELD(text, id, i) \
    { \
        .name = text, .type = KJ_##id, .offset = (i)*BYTES_##id \
    }
#define FIELDS_VECTOR(id) FIELD("x", id, 0), FIELD("y", id, 1), FIELD("z", id, 2), FIELD("w", id, 3)
#define FIELDS_COMPLEX(id) FIELD("real", id, 0), FIELD("imag", id, 1)

#define AGGREGATE(id, number, text, family, of, count) \
    static const kj_field fields_##id[] = {FIELDS_##family(of)};
#include "lang/aggregates.def"
#undef AGGREGATE

/* By their numbers; those that no type has are without a name. */
static const kj_aggregate aggregates[KJ_VOID] = {
#define AGGREGATE(id, number, text, family, of, count) \
    [number] = {.kind = KJ_##family, \
                .name = text, \
                .type = KJ_##id, \
                .size = (count)*BYTES_##of, \
                .align = BYTES_##of, \
                .least = BYTES_##of, \
                .n = count, \
                .fields = fields_##id, \
                .elem = KJ_##of},
#include "lang/aggregates.def"
#undef AGGREGATE
};

enum { NAGGREGATES = sizeof aggregates / sizeof *aggregates };

const kj_aggregate *kj_aggregate_of(kj_dtype t)
{
    return (unsigned)t < NAGGREGATES && aggregates[t].name ? &aggregates[t] : NULL;
}

bool kj_is_field_name(const char *name)
{
    for (int i = 0; i < NAGGREGATES; i++)
        for (int k = 0; k < aggregates[i].n; k++)
            if (strcmp(aggregates[i].fields[k].name, name) == 0)
                return true;
    return false;
}

int kj_count_parts(const kj_aggregate *of)
{
    int n = 0;
    for (int i = 0; i < of->n; i++)
        n += of->fields[i].of ? kj_count_parts(of->fields[i].of) : 1;
    return n;
}

const kj_aggregate *kj_vector_of(kj_dtype elem, int n)
{
    for (int i = 0; i < NAGGREGATES; i++) {
        if (aggregates[i].kind == KJ_VECTOR && aggregates[i].elem == elem && aggregates[i].n == n)
            return &aggregates[i];
    }
    return NULL;
}

const kj_aggregate *kj_complex_of(kj_dtype elem)
{
    for (int i = 0; i < NAGGREGATES; i++) {
        if (aggregates[i].kind == KJ_COMPLEX && aggregates[i].elem == elem)
            return &aggregates[i];
    }
    return NULL;
}

const kj_aggregate kj_complex_literal = {.kind = KJ_COMPLEX,
                                         .name = "a complex number",
                                         .type = KJ_VOID,
                                         .n = 2,
                                         .fields = fields_C128,
                                         .elem = KJ_VOID};

bool kj_same_aggregate(const kj_aggregate *a, const kj_aggregate *b)
{
    if (!kj_is_fixed(a) || !kj_is_fixed(b))
        return a == b;
    return a->elem == b->elem && a->ndim == b->ndim &&
           memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof *a->shape) == 0;
}

kj_dtype kj_type_named(const char *name)
{
    for (int t = 0; t < KJ_NTYPES; t++) {
        if (strcmp(kj_types[t].name, name) == 0)
            return (kj_dtype)t;
    }
    for (int i = 0; i < NAGGREGATES; i++) {
        if (aggregates[i].name && strcmp(aggregates[i].name, name) == 0)
            return aggregates[i].type;
    }
    return KJ_VOID;
}

const char *kj_vector_elsewhere(const char *name)
{
    static const struct {
        const char *name;
        kj_dtype elem;
    } own[] = {
        {"char", KJ_I8},       {"uchar", KJ_U8},     {"short", KJ_I16},
        {"ushort", KJ_U16},    {"int", KJ_I32},      {"uint", KJ_U32},
        {"long", KJ_I64},      {"ulong", KJ_U64},    {"longlong", KJ_I64},
        {"ulonglong", KJ_U64}, {"half", KJ_F16},     {"__nv_bfloat16", KJ_BF16},
        {"float", KJ_F32},     {"double", KJ_F64},   {"float16x", KJ_F16},
        {"float32x", KJ_F32},  {"float64x", KJ_F64}, {"int8x", KJ_I8},
        {"int16x", KJ_I16},    {"int32x", KJ_I32},   {"int64x", KJ_I64},
        {"uint8x", KJ_U8},     {"uint16x", KJ_U16},  {"uint32x", KJ_U32},
        {"uint64x", KJ_U64},   {"vec", KJ_F32},      {"ivec", KJ_I32},
        {"uvec", KJ_U32},      {"dvec", KJ_F64},
    };
    static const char letters[] = "fiuh"; /* vec4f of WGSL */
    static const kj_dtype of_letter[] = {KJ_F32, KJ_I32, KJ_U32, KJ_F16};
    size_t len = strlen(name);
    const char *letter = len == 5 && strncmp(name, "vec", 3) == 0 ? strchr(letters, name[4]) : NULL;
    const kj_aggregate *shader =
        letter ? kj_vector_of(of_letter[letter - letters], name[3] - '0') : NULL;
    if (shader)
        return shader->name;
    for (size_t i = 0; len > 1 && i < sizeof own / sizeof *own; i++) {
        const kj_aggregate *of = kj_vector_of(own[i].elem, name[len - 1] - '0');
        if (strlen(own[i].name) == len - 1 && strncmp(own[i].name, name, len - 1) == 0 && of)
            return of->name;
    }
    return NULL;
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

const char *kj_type_name(kj_dtype t)
{
    const kj_aggregate *of = kj_aggregate_of(t);
    if (of)
        return of->name;
    return kj_is_scalar(t) ? kj_types[t].name : "nothing";
}
