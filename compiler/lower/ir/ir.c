/* LLVM IR by the word: blocks, intrinsics, vectors, types in memory, attributes. */
#include "lower/ir/ir.h"

#include <string.h>

LLVMBasicBlockRef kj_new_block(kj_lower *lo, const char *name)
{
    return LLVMAppendBasicBlockInContext(lo->ctx, lo->fn, name);
}

bool kj_has_ended(const kj_lower *lo)
{
    return LLVMGetBasicBlockTerminator(LLVMGetInsertBlock(lo->b)) != NULL;
}

LLVMValueRef kj_alloca(kj_lower *lo, LLVMTypeRef type, const char *name)
{
    return LLVMBuildAlloca(lo->allocas, type, name);
}

LLVMValueRef kj_intrinsic(kj_lower *lo, const char *name, LLVMTypeRef *overloads,
                          unsigned noverloads, LLVMValueRef *args, unsigned nargs)
{
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(lo->module, id, overloads, noverloads);
    return LLVMBuildCall2(lo->b, LLVMGlobalGetValueType(f), f, args, nargs, "");
}

LLVMValueRef kj_splat(kj_lower *lo, LLVMValueRef scalar, int lanes)
{
    if (lanes == 1)
        return scalar;
    LLVMTypeRef type = LLVMVectorType(LLVMTypeOf(scalar), (unsigned)lanes);
    LLVMValueRef v = LLVMBuildInsertElement(lo->b, LLVMGetPoison(type), scalar,
                                            LLVMConstInt(lo->i32, 0, false), "");
    LLVMValueRef zeros = LLVMConstNull(LLVMVectorType(lo->i32, (unsigned)lanes));
    return LLVMBuildShuffleVector(lo->b, v, LLVMGetPoison(type), zeros, "");
}

LLVMTypeRef kj_vec(kj_lower *lo, kj_dtype t, int lanes)
{
    return lanes == 1 ? lo->types[t] : LLVMVectorType(lo->types[t], (unsigned)lanes);
}

LLVMValueRef kj_shuffled(kj_lower *lo, LLVMValueRef a, LLVMValueRef b, const int *places, int n)
{
    LLVMValueRef index[4 * KJ_MAX_LANES];
    for (int i = 0; i < n; i++)
        index[i] = places[i] == KJ_ANY ? LLVMGetPoison(lo->i32)
                                       : LLVMConstInt(lo->i32, (unsigned)places[i], false);
    return LLVMBuildShuffleVector(lo->b, a, b ? b : LLVMGetPoison(LLVMTypeOf(a)),
                                  LLVMConstVector(index, (unsigned)n), "");
}

LLVMValueRef kj_joined(kj_lower *lo, LLVMValueRef a, LLVMValueRef b, int lanes)
{
    int places[4 * KJ_MAX_LANES];
    for (int l = 0; l < 2 * lanes; l++)
        places[l] = l;
    return kj_shuffled(lo, a, b, places, 2 * lanes);
}

/* In rounds, each of which brings halves of the vectors together. */
void kj_transpose(kj_lower *lo, LLVMValueRef *v, int n, int lanes)
{
    enum { MOST = 16 };
    int low[KJ_MAX_LANES], high[KJ_MAX_LANES];
    for (int l = 0; l < lanes; l++) {
        low[l] = l / n * n + l % n / 2 + l % 2 * lanes;
        high[l] = low[l] + n / 2;
    }
    for (int round = 1; round < n; round *= 2) {
        LLVMValueRef from[MOST];
        for (int i = 0; i < n; i++)
            from[i] = v[i];
        for (int i = 0; i < n / 2; i++) {
            v[2 * i] = kj_shuffled(lo, from[i], from[i + n / 2], low, lanes);
            v[2 * i + 1] = kj_shuffled(lo, from[i], from[i + n / 2], high, lanes);
        }
    }
}

kj_bit_loop kj_bits_begin(kj_lower *lo, LLVMValueRef bits, bool maybe)
{
    kj_bit_loop l = {.first = bits, .before = LLVMGetInsertBlock(lo->b)};
    l.head = kj_new_block(lo, "each");
    l.done = kj_new_block(lo, "did");
    if (maybe)
        LLVMBuildCondBr(lo->b, LLVMBuildICmp(lo->b, LLVMIntNE, bits, kj_i64(lo, 0), ""), l.head,
                        l.done);
    else
        LLVMBuildBr(lo->b, l.head);
    LLVMPositionBuilderAtEnd(lo->b, l.head);
    l.bits = LLVMBuildPhi(lo->b, lo->i64, "left");
    LLVMValueRef args[2] = {l.bits, LLVMConstInt(lo->i1, 1, false)};
    LLVMValueRef f =
        LLVMGetIntrinsicDeclaration(lo->module, LLVMLookupIntrinsicID("llvm.cttz", 9), &lo->i64, 1);
    l.thread = LLVMBuildCall2(lo->b, LLVMGlobalGetValueType(f), f, args, 2, "");
    return l;
}

void kj_bits_end(kj_lower *lo, const kj_bit_loop *l)
{
    LLVMValueRef rest =
        LLVMBuildAnd(lo->b, l->bits, LLVMBuildSub(lo->b, l->bits, kj_i64(lo, 1), ""), "");
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(lo->b);
    LLVMBuildCondBr(lo->b, LLVMBuildICmp(lo->b, LLVMIntNE, rest, kj_i64(lo, 0), ""), l->head,
                    l->done);
    LLVMAddIncoming(l->bits, (LLVMValueRef[]){l->first, rest},
                    (LLVMBasicBlockRef[]){l->before, latch}, 2);
    LLVMPositionBuilderAtEnd(lo->b, l->done);
}

kj_dtype kj_memory_type(kj_dtype t)
{
    return t == KJ_BOOL ? KJ_U8 : t;
}

kj_dtype kj_unit_type(const kj_tarray *a)
{
    if (!kj_is_record(a->of))
        return kj_memory_type(a->of ? a->of->elem : a->elem);
    switch (kj_unit(a)) {
    case 1: return KJ_U8;
    case 2: return KJ_U16;
    case 4: return KJ_U32;
    default: return KJ_U64;
    }
}

LLVMTypeRef kj_element_type(kj_lower *lo, const kj_tarray *a)
{
    if (!a->of)
        return lo->types[kj_memory_type(a->elem)];
    int64_t units = kj_elem_size(a) / kj_unit(a);
    return LLVMArrayType2(lo->types[kj_unit_type(a)], (uint64_t)units);
}

LLVMTypeRef kj_elements_type(kj_lower *lo, const kj_tarray *a, int64_t count)
{
    int64_t beyond = count * kj_elem_size(a) % KJ_WHOLE;
    LLVMTypeRef all = LLVMArrayType2(kj_element_type(lo, a), (uint64_t)count);
    LLVMTypeRef parts[] = {all, LLVMArrayType2(lo->i8, (uint64_t)(KJ_WHOLE - beyond))};
    return beyond ? LLVMStructTypeInContext(lo->ctx, parts, 2, true) : all;
}

LLVMValueRef kj_lower_element(kj_lower *lo, kj_dtype type, LLVMValueRef base, LLVMValueRef index)
{
    return LLVMBuildGEP2(lo->b, lo->types[kj_memory_type(type)], base, &index, 1, "");
}

void kj_loop_hint(kj_lower *lo, LLVMValueRef branch, const char *hint, int value)
{
    LLVMMetadataRef words[2] = {LLVMMDStringInContext2(lo->ctx, hint, strlen(hint)),
                                LLVMValueAsMetadata(LLVMConstInt(lo->i32, (unsigned)value, false))};
    LLVMMetadataRef self =
        LLVMTemporaryMDNode(lo->ctx, NULL, 0); /* a loop's node names itself first */
    LLVMMetadataRef parts[2] = {self, LLVMMDNodeInContext2(lo->ctx, words, value ? 2 : 1)};
    LLVMMetadataRef id = LLVMMDNodeInContext2(lo->ctx, parts, 2);
    LLVMMetadataReplaceAllUsesWith(self, id);
    LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(lo->ctx, "llvm.loop", 9),
                    LLVMMetadataAsValue(lo->ctx, id));
}

void kj_attribute(kj_lower *lo, LLVMAttributeIndex at, const char *name, uint64_t value)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddAttributeAtIndex(lo->fn, at, LLVMCreateEnumAttribute(lo->ctx, kind, value));
}

void kj_attribute_text(kj_lower *lo, const char *key, const char *value)
{
    LLVMAttributeRef a = LLVMCreateStringAttribute(lo->ctx, key, (unsigned)strlen(key), value,
                                                   (unsigned)strlen(value));
    LLVMAddAttributeAtIndex(lo->fn, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, a);
}

void kj_attribute_vectors(kj_lower *lo)
{
    const char *bits = lo->vector >= 16 ? "512" : lo->vector == 8 ? "256" : "128";
    kj_attribute_text(lo, "prefer-vector-width", bits);
    kj_attribute_text(lo, "min-legal-vector-width", bits);
}

void kj_lower_seal(kj_lower *lo)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(lo->fn); b; b = LLVMGetNextBasicBlock(b)) {
        if (LLVMGetBasicBlockTerminator(b))
            continue;
        LLVMPositionBuilderAtEnd(lo->b, b);
        LLVMBuildUnreachable(lo->b);
    }
}
