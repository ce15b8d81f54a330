/* The embedded math library: LLVM bitcode, one small module a function.
 *
 * Built by tools/mathlib.c from libclc for every MATH row of builtins.def, in f32 and f64, as a
 * scalar function and as one over 16 lanes with the same bits. A module defines `symbol` (external)
 * and its private tables, and refers to nothing but llvm.* intrinsics; it names no target. Needs
 * neither freeing nor locking. */
#ifndef KJ_MATHLIB_H
#define KJ_MATHLIB_H

#include <stddef.h>

#include "lang/types.h"

typedef struct kj_math_fn {
    const char *symbol;  /* kj_exp_f32, kj_exp_v16f32 */
    const void *bitcode; /* 16-byte aligned */
    size_t size;
} kj_math_fn;

/* The function for operands of `type` (KJ_F32, KJ_F64) in 1 or 16 lanes. Every MATH row has its
 * scalar functions; NULL for the 16-lane one means that it could not be made from this libclc. */
const kj_math_fn *kj_mathlib_find(kj_builtin id, kj_dtype type, int lanes);

#endif
