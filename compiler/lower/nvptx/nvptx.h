/* Lowering: what kj_lowering asks for, by instructions of PTX; each has the name of its member. The gang is
 * one thread. */
#ifndef KJ_LOWER_NVPTX_H
#define KJ_LOWER_NVPTX_H

#include "lower/gang/gang.h"

/* ---- float.c ---- */

LLVMValueRef kj_nvptx_to_int(kj_lower *lo, LLVMValueRef v, kj_dtype to, LLVMTypeRef type);
kj_tile kj_nvptx_extreme(kj_lower *lo, kj_tile a, kj_tile b, bool max);
bool kj_nvptx_approximate(kj_lower *lo, kj_builtin id, const kj_tile *args, kj_tile *out);

/* ---- function.c ---- */

bool kj_nvptx_instruction(kj_lower *lo, kj_builtin id, const kj_tile *args, kj_tile *out);

/* ---- atomic.c ---- */

LLVMValueRef kj_nvptx_scope(kj_lower *lo, LLVMValueRef atomic, bool block);
void kj_nvptx_order(kj_lower *lo, bool block);
LLVMValueRef kj_nvptx_compare_swap(kj_lower *lo, LLVMValueRef at, LLVMValueRef expected,
                                   LLVMValueRef v, bool orders, bool block);
void kj_nvptx_fence(kj_lower *lo, kj_builtin id, const kj_tile *args);

/* ---- cache.c ---- */

LLVMValueRef kj_nvptx_load_cached(kj_lower *lo, const kj_access *a, LLVMValueRef at);
void kj_nvptx_store_cached(kj_lower *lo, const kj_access *a, LLVMValueRef v, LLVMValueRef at);

/* ---- warp.c, launch.c ---- */

kj_tile kj_nvptx_warp(kj_lower *lo, const kj_texpr *e, const kj_tile *args, kj_mask m);
LLVMValueRef kj_nvptx_launch(kj_lower *lo, kj_launching *l, int row, LLVMValueRef lane);

#endif
