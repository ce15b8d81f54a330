/* What the entries of all devices begin and end with: types, attributes, const arrays. */
#include "lower/ir/ir.h"

#include <string.h>

static void make_types(kj_lower *lo)
{
    lo->i1 = LLVMInt1TypeInContext(lo->ctx);
    lo->i8 = LLVMInt8TypeInContext(lo->ctx);
    lo->i32 = LLVMInt32TypeInContext(lo->ctx);
    lo->i64 = LLVMInt64TypeInContext(lo->ctx);
    lo->ptr = LLVMPointerTypeInContext(lo->ctx, 0);
    for (int t = 0; t < KJ_NTYPES; t++) {
        const kj_type_info *info = &kj_types[t];
        if (info->class == KJ_CLASS_FLOAT && info->bits > 16)
            lo->types[t] = info->bits == 64 ? LLVMDoubleTypeInContext(lo->ctx)
                                            : LLVMFloatTypeInContext(lo->ctx);
        else
            lo->types[t] =
                info->class == KJ_CLASS_BOOL ? lo->i1 : LLVMIntTypeInContext(lo->ctx, info->bits);
    }
}

void kj_lower_start(kj_lower *lo, kj_arena *arena, const kj_tkernel *kernel,
                    const kj_entry_spec *spec)
{
    size_t nroots = (size_t)kernel->nroots + 1, nparams = (size_t)kernel->nparams + 1;
    *lo = (kj_lower){.arena = arena, .kernel = kernel, .module = spec->module};
    lo->x86 = spec->x86;
    lo->half = spec->half;
    lo->no_fma = spec->no_fma;
    lo->sm = spec->sm;
    lo->rolled = spec->rolled;
    lo->within = spec->within;
    lo->ctx = LLVMGetModuleContext(lo->module);
    lo->b = spec->code;
    lo->allocas = spec->allocas;
    lo->deps = spec->deps;
    lo->locals = KJ_NEW_ARRAY(arena, LLVMValueRef, nroots);
    lo->since = KJ_NEW_ARRAY(arena, kj_mask, nroots);
    lo->roots = KJ_NEW_ARRAY(arena, LLVMValueRef, nroots);
    lo->params = KJ_NEW_ARRAY(arena, LLVMValueRef, nparams);
    lo->dims = kj_arena_calloc(arena, nparams, sizeof *lo->dims);
    lo->present = (kj_mask){.kind = KJ_ALL};
    make_types(lo);
}

/* ---- Const arrays ---- */

static LLVMValueRef const_element(kj_lower *lo, kj_dtype type, const char *at)
{
    kj_dtype unsigned_type = type == KJ_BOOL ? KJ_U8 : type;
    uint64_t bits = 0;
    memcpy(&bits, at, kj_types[type].size);
    if (type == KJ_F32) {
        float f;
        memcpy(&f, at, sizeof f);
        return LLVMConstReal(lo->types[type], (double)f);
    }
    if (type == KJ_F64) {
        double f;
        memcpy(&f, at, sizeof f);
        return LLVMConstReal(lo->types[type], f);
    }
    return LLVMConstInt(lo->types[unsigned_type], bits, false);
}

/* The same for each kernel of the module. */
static LLVMValueRef find_const(const kj_lower *lo, LLVMValueRef all)
{
    LLVMValueRef g = LLVMGetFirstGlobal(lo->module);
    while (g && !(LLVMIsGlobalConstant(g) && LLVMGetInitializer(g) == all &&
                  LLVMGetLinkage(g) == LLVMPrivateLinkage))
        g = LLVMGetNextGlobal(g);
    return g;
}

void kj_lower_const(kj_lower *lo, const kj_tarray *a, unsigned space)
{
    kj_dtype type = kj_is_record(a->of) ? kj_unit_type(a) : a->of ? a->of->elem : a->elem;
    size_t size = kj_types[type].size;
    size_t n = (size_t)a->static_count * (size_t)kj_elem_size(a) / size;
    size_t whole = (n * size + KJ_WHOLE - 1) / KJ_WHOLE * KJ_WHOLE / size;
    LLVMTypeRef elem = lo->types[kj_memory_type(type)];
    LLVMValueRef *v = KJ_NEW_ARRAY(lo->arena, LLVMValueRef, whole + 1);
    for (size_t i = 0; i < whole; i++)
        v[i] =
            i < n ? const_element(lo, type, (const char *)a->data + i * size) : LLVMConstNull(elem);
    LLVMValueRef all = LLVMConstArray2(elem, v, whole), global = find_const(lo, all);
    lo->roots[a->id] = global;
    if (global)
        return;
    global = LLVMAddGlobalInAddressSpace(lo->module, LLVMTypeOf(all), a->name, space);
    LLVMSetInitializer(global, all);
    LLVMSetGlobalConstant(global, true);
    LLVMSetLinkage(global, LLVMPrivateLinkage);
    LLVMSetUnnamedAddress(global, LLVMGlobalUnnamedAddr);
    LLVMSetAlignment(global, 64);
    lo->roots[a->id] = global;
}
