/* The rows of types.def, ops.def and builtins.def as C tables. */
#include "types.h"

#include <string.h>

const kj_type_info kj_types[KJ_NTYPES] = {
#define TYPE(id, type_name, type_class, width, npy_name) \
    [KJ_##id] = {.name = type_name, \
                 .npy = npy_name, \
                 .class = KJ_CLASS_##type_class, \
                 .bits = width, \
                 .size = width / 8},
#include "types.def"
#undef TYPE
};

const kj_op_info kj_ops[KJ_NOPS] = {
#define BINARY(id, text, op_class) [KJ_OP_##id] = {.spelling = text, .class = KJ_OPS_##op_class},
#define UNARY(id, text, op_class) [KJ_OP_##id] = {.spelling = text, .class = KJ_OPS_##op_class},
#include "ops.def"
};

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
#include "builtins.def"
#undef BUILTIN
};

kj_dtype kj_type_named(const char *name)
{
    for (int t = 0; t < KJ_NTYPES; t++) {
        if (strcmp(kj_types[t].name, name) == 0)
            return (kj_dtype)t;
    }
    return KJ_VOID;
}
