/* The embedded math library's index: builtin, type and lanes -> bitcode.
 *
 * Enters: mathlib.inc (one MATH_FN row a module: where it lies) and the modules themselves
 * (mathlib.S), both made by tools/mathlib.c at build time. Leaves: kj_mathlib_find. */
#include "target/mathlib.h"

extern const unsigned char kj_mathlib_bytes[];

static const kj_math_fn functions[KJ_NBUILTINS][2][2] = {
#define MATH_FN(id, type, wide, symbol, offset, size) \
    [KJ_BI_##id][type][wide] = {symbol, kj_mathlib_bytes + (offset), size},
#include "mathlib.inc"
#undef MATH_FN
};

const kj_math_fn *kj_mathlib_find(kj_builtin id, kj_dtype type, int lanes)
{
    if (id >= KJ_NBUILTINS || (type != KJ_F32 && type != KJ_F64) || (lanes != 1 && lanes != 16)) {
        return NULL;
    }
    const kj_math_fn *fn = &functions[id][type == KJ_F64][lanes == 16];
    return fn->symbol ? fn : NULL;
}
