/* Accesses of one row of a gang whose lanes are anywhere, as gathers and scatters where the processor has them, else of
 * each lane that runs. */
#include "lower/memory/memory.h"

#include "base/c_locale.h"

static LLVMValueRef pointers(kj_lower *lo, const kj_access *a, int row)
{
    LLVMValueRef index = kj_tile_vector(lo, a->offset, row, a->offset.lanes);
    return LLVMBuildGEP2(lo->b, lo->types[kj_memory_type(a->type)], a->base, &index, 1, "");
}

static LLVMValueRef splat_int(LLVMTypeRef type, int64_t i, int lanes)
{
    LLVMValueRef v[KJ_MAX_LANES];
    for (int l = 0; l < lanes; l++)
        v[l] = LLVMConstInt(type, (uint64_t)i, true);
    return LLVMConstVector(v, (unsigned)lanes);
}

LLVMValueRef kj_gather(kj_lower *lo, LLVMTypeRef type, LLVMValueRef at, LLVMValueRef mask,
                       int align)
{
    LLVMTypeRef overloads[2] = {type, LLVMTypeOf(at)};
    return kj_call_masked(lo, "llvm.masked.gather", overloads, at, mask, LLVMConstNull(type), 0,
                          align);
}

/* CPUs gather words, not bytes: the aligned word around each element, shifted. Such a word is on
 * the element's page. `place` has the elements' byte distances from `base`, an address that is a
 * multiple of 4. */
static LLVMValueRef gather_words(kj_lower *lo, LLVMTypeRef type, LLVMValueRef base,
                                 LLVMValueRef place, LLVMValueRef mask, int lanes)
{
    LLVMTypeRef words = LLVMVectorType(lo->i32, (unsigned)lanes),
                scalar = LLVMGetElementType(LLVMTypeOf(place));
    LLVMValueRef index = LLVMBuildAShr(lo->b, place, splat_int(scalar, 2, lanes), "");
    LLVMValueRef word =
        kj_gather(lo, words, LLVMBuildGEP2(lo->b, lo->i32, base, &index, 1, ""), mask, 4);
    LLVMValueRef shift = LLVMBuildAnd(lo->b, place, splat_int(scalar, 3, lanes), "");
    shift = LLVMBuildIntCast2(lo->b, LLVMBuildShl(lo->b, shift, splat_int(scalar, 3, lanes), ""),
                              words, false, "");
    return LLVMBuildTrunc(lo->b, LLVMBuildLShr(lo->b, word, shift, ""), type, "");
}

static LLVMValueRef gather_small(kj_lower *lo, const kj_access *a, int row, LLVMTypeRef type,
                                 LLVMValueRef mask)
{
    int lanes = a->offset.lanes, size = kj_types[a->type].size;
    LLVMValueRef at = LLVMBuildPtrToInt(lo->b, a->base, lo->i64, "");
    LLVMValueRef skew = LLVMBuildAnd(lo->b, at, kj_i64(lo, 3), "");
    LLVMValueRef base = LLVMBuildGEP2(lo->b, lo->i8, a->base,
                                      (LLVMValueRef[]){LLVMBuildNeg(lo->b, skew, "")}, 1, "");
    kj_tile bytes = kj_tile_binary(lo, KJ_OP_MUL, a->offset, kj_tile_int(lo, size));
    kj_tile first = kj_tile_scalar(KJ_I64, skew);
    kj_bound(&first, 0, 3);
    /* a small array ends before its bytes and the skew leave 31 bits */
    bool narrow = a->offset.narrow && size == 1 && lo->kernel->small;
    kj_tile place = kj_tile_binary(lo, KJ_OP_ADD, bytes, first);
    if (narrow)
        place = kj_tile_binary(lo, KJ_OP_ADD, kj_tile_convert(lo, bytes, KJ_I32),
                               kj_tile_convert(lo, first, KJ_I32));
    return gather_words(lo, type, base, kj_tile_vector(lo, place, row, lanes), mask, lanes);
}

/* Of rows whose lanes are accessed one after the other so many stand in place: the rest of a kernel's are
 * calls, so that it compiles in the time that its length lets expect. */
enum { FEW_RUNNING = 48 };

static LLVMValueRef gather_running(kj_lower *lo, LLVMTypeRef type, LLVMValueRef from,
                                   LLVMValueRef bits, int align)
{
    LLVMTypeRef elem = LLVMGetElementType(type);
    LLVMValueRef values = kj_alloca(lo, type, "values"),
                 places = kj_alloca(lo, LLVMTypeOf(from), "places");
    LLVMBuildStore(lo->b, LLVMConstNull(type), values);
    LLVMBuildStore(lo->b, from, places);
    kj_bit_loop l = kj_bits_begin(lo, bits, true);
    LLVMValueRef at = LLVMBuildGEP2(lo->b, lo->ptr, places, &l.thread, 1, "");
    LLVMValueRef one = LLVMBuildLoad2(lo->b, elem, LLVMBuildLoad2(lo->b, lo->ptr, at, ""), "");
    LLVMSetAlignment(one, (unsigned)align);
    LLVMBuildStore(lo->b, one, LLVMBuildGEP2(lo->b, elem, values, &l.thread, 1, ""));
    kj_bits_end(lo, &l);
    return LLVMBuildLoad2(lo->b, type, values, "");
}

static void scatter_running(kj_lower *lo, LLVMValueRef v, LLVMValueRef to, LLVMValueRef bits)
{
    LLVMTypeRef elem = LLVMGetElementType(LLVMTypeOf(v));
    LLVMValueRef values = kj_alloca(lo, LLVMTypeOf(v), "values"),
                 places = kj_alloca(lo, LLVMTypeOf(to), "places");
    LLVMBuildStore(lo->b, v, values);
    LLVMBuildStore(lo->b, to, places);
    kj_bit_loop l = kj_bits_begin(lo, bits, true);
    LLVMValueRef from = LLVMBuildGEP2(lo->b, elem, values, &l.thread, 1, "");
    LLVMValueRef at = LLVMBuildGEP2(lo->b, lo->ptr, places, &l.thread, 1, "");
    at = LLVMBuildLoad2(lo->b, lo->ptr, at, "");
    LLVMSetAlignment(LLVMBuildStore(lo->b, LLVMBuildLoad2(lo->b, elem, from, ""), at), 1);
    kj_bits_end(lo, &l);
}

/* A function of its own for all rows of that type. */
static LLVMValueRef running_function(kj_lower *lo, const char *name, LLVMTypeRef signature,
                                     LLVMTypeRef type, bool stores, int align)
{
    const kj_lower caller = *lo;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(lo->b);
    LLVMMetadataRef place = LLVMGetCurrentDebugLocation2(lo->b);
    LLVMSetCurrentDebugLocation2(lo->b, NULL);
    lo->fn = LLVMAddFunction(lo->module, name, signature);
    LLVMSetLinkage(lo->fn, LLVMInternalLinkage);
    kj_attribute(lo, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, "noinline", 0);
    kj_attribute(lo, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, "nounwind", 0);
    LLVMBasicBlockRef entry = kj_new_block(lo, "entry");
    lo->allocas = LLVMCreateBuilderInContext(lo->ctx);
    LLVMPositionBuilderAtEnd(lo->allocas, entry);
    LLVMBasicBlockRef body = kj_new_block(lo, "body");
    LLVMPositionBuilderAtEnd(lo->b, body);
    LLVMValueRef places = LLVMGetParam(lo->fn, 0), bits = LLVMGetParam(lo->fn, 1);
    if (stores) {
        scatter_running(lo, LLVMGetParam(lo->fn, 2), places, bits);
        LLVMBuildRetVoid(lo->b);
    } else {
        LLVMBuildRet(lo->b, gather_running(lo, type, places, bits, align));
    }
    LLVMBuildBr(lo->allocas, body);
    LLVMDisposeBuilder(lo->allocas);
    LLVMValueRef f = lo->fn;
    lo->fn = caller.fn;
    lo->allocas = caller.allocas;
    LLVMPositionBuilderAtEnd(lo->b, here);
    LLVMSetCurrentDebugLocation2(lo->b, place);
    return f;
}

/* Of the lanes that run; v is NULL for a load, which is returned. */
static LLVMValueRef access_running(kj_lower *lo, LLVMTypeRef type, LLVMValueRef v, LLVMValueRef at,
                                   LLVMValueRef mask, int align)
{
    char name[64];
    unsigned n = v ? 3 : 2, lanes = LLVMGetVectorSize(type);
    LLVMValueRef bits = kj_mask_bits(lo, mask, (int)lanes), args[3] = {at, bits, v};
    if (++lo->running <= FEW_RUNNING) {
        if (!v)
            return gather_running(lo, type, at, bits, align);
        scatter_running(lo, v, at, bits);
        return NULL;
    }
    LLVMTypeRef params[3] = {LLVMTypeOf(at), lo->i64, type};
    LLVMTypeRef result = v ? LLVMVoidTypeInContext(lo->ctx) : type;
    LLVMTypeRef signature = LLVMFunctionType(result, params, n, false);
    kj_snprintf(name, sizeof name, "kj.%s.%u.%d.%d", v ? "scatter" : "gather", lanes,
                (int)LLVMGetTypeKind(LLVMGetElementType(type)), align);
    LLVMValueRef f = LLVMGetNamedFunction(lo->module, name);
    if (!f)
        f = running_function(lo, name, signature, type, v != NULL, align);
    return LLVMBuildCall2(lo->b, signature, f, args, n, "");
}

/* LLVM makes a branch a lane of a masked gather or scatter without AVX-512, and looks at all of a function
 * again behind each: the time that takes grows with the square of their number. */
static bool is_one_of_many(kj_lower *lo, kj_mask m)
{
    return lo->vector < 16 && m.kind != KJ_ALL && ++lo->branching > FEW_RUNNING;
}

static LLVMValueRef load_anywhere(kj_lower *lo, const kj_access *a, int row, LLVMTypeRef type,
                                  kj_mask m)
{
    int lanes = a->offset.lanes, size = kj_types[a->type].size;
    LLVMValueRef mask = kj_mask_row(lo, m, row, lanes);
    if ((!kj_has_gathers(lo) && m.kind != KJ_ALL) || is_one_of_many(lo, m))
        return access_running(lo, type, NULL, pointers(lo, a, row), mask, size);
    return size < 4 ? gather_small(lo, a, row, type, mask)
                    : kj_gather(lo, type, pointers(lo, a, row), mask, size);
}

/* Bytes and half words a few elements apart, which may be parts of groups. */
static LLVMValueRef load_strided_small(kj_lower *lo, const kj_access *a, int row, LLVMTypeRef type,
                                       kj_mask m)
{
    kj_row_branch r = kj_branch_full(lo, kj_mask_row(lo, m, row, a->offset.lanes), a->offset.lanes);
    LLVMValueRef v[2] = {a->group ? kj_load_group(lo, a, row, kj_all)
                                  : kj_load_strided(lo, a, row)};
    LLVMBuildBr(lo->b, r.done);
    LLVMPositionBuilderAtEnd(lo->b, r.some);
    v[1] = load_anywhere(lo, a, row, type, m);
    return kj_end_branch(lo, &r, r.every, v);
}

LLVMValueRef kj_load_apart(kj_lower *lo, const kj_access *a, int row, kj_mask m)
{
    int lanes = a->offset.lanes, size = kj_types[a->type].size;
    LLVMTypeRef type = kj_vec(lo, kj_memory_type(a->type), lanes);
    bool strided = kj_is_strided(lo, a);
    if (strided && m.kind == KJ_ALL)
        return kj_load_strided(lo, a, row);
    if (strided && size < 4)
        return load_strided_small(lo, a, row, type, m);
    return load_anywhere(lo, a, row, type, m);
}

/* Each of a row's bytes or half words, at an address that is a constant away from the first one's. */
static void store_each(kj_lower *lo, const kj_access *a, int row, LLVMValueRef v)
{
    LLVMTypeRef elem = lo->types[kj_memory_type(a->type)];
    LLVMValueRef first = a->offset.v[a->offset.rows == 1 ? 0 : row];
    LLVMValueRef at = kj_lower_element(lo, a->type, a->base, first);
    for (int l = 0; l < a->offset.lanes; l++) {
        LLVMValueRef by = kj_i64(lo, l * a->offset.stride);
        LLVMValueRef one = LLVMBuildExtractElement(lo->b, v, kj_i64(lo, l), "");
        LLVMValueRef to = LLVMBuildGEP2(lo->b, elem, at, &by, 1, "");
        LLVMValueRef store = kj_alias_mark(lo, LLVMBuildStore(lo->b, one, to), a->scope);
        LLVMSetAlignment(store, (unsigned)kj_types[a->type].size);
    }
}

/* ---- Scatters without AVX-512 ---- */

static LLVMValueRef lanes_of(kj_lower *lo, LLVMValueRef v, int first, int n)
{
    int places[KJ_MAX_LANES];
    for (int l = 0; l < n; l++)
        places[l] = first + l;
    return kj_shuffled(lo, v, NULL, places, n);
}

/* A store for each lane; of those that do not run it goes nowhere, as a branch for each would be guessed wrong. */
static void store_lanes(kj_lower *lo, LLVMValueRef v, LLVMValueRef to, LLVMValueRef mask, int size)
{
    int lanes = (int)LLVMGetVectorSize(LLVMTypeOf(v));
    if (!lo->nowhere)
        lo->nowhere = kj_alloca(lo, lo->i64, "nowhere");
    to = LLVMBuildSelect(lo->b, mask, to, kj_splat(lo, lo->nowhere, lanes), "");
    for (int l = 0; l < lanes; l++) {
        LLVMValueRef one = LLVMBuildExtractElement(lo->b, v, kj_i64(lo, l), "");
        LLVMValueRef at = LLVMBuildExtractElement(lo->b, to, kj_i64(lo, l), "");
        LLVMSetAlignment(LLVMBuildStore(lo->b, one, at), (unsigned)size);
    }
}

/* By eight lanes; of which none runs, as where a condition asks who the threads are, are passed by. */
static void scatter_some(kj_lower *lo, LLVMValueRef v, LLVMValueRef to, LLVMValueRef mask, int size)
{
    enum { EIGHT = 8 };
    int lanes = (int)LLVMGetVectorSize(LLVMTypeOf(v));
    int n = lanes < EIGHT ? lanes : EIGHT;
    for (int first = 0; first < lanes; first += n) {
        LLVMBasicBlockRef some = kj_new_block(lo, "some"), none = kj_new_block(lo, "none");
        LLVMValueRef m = lanes_of(lo, mask, first, n);
        LLVMValueRef bits = kj_mask_bits(lo, m, n);
        LLVMBuildCondBr(lo->b, LLVMBuildICmp(lo->b, LLVMIntNE, bits, kj_i64(lo, 0), ""), some,
                        none);
        LLVMPositionBuilderAtEnd(lo->b, some);
        store_lanes(lo, lanes_of(lo, v, first, n), lanes_of(lo, to, first, n), m, size);
        LLVMBuildBr(lo->b, none);
        LLVMPositionBuilderAtEnd(lo->b, none);
    }
}

static void store_anywhere(kj_lower *lo, const kj_access *a, int row, LLVMValueRef v, kj_mask m)
{
    int lanes = a->offset.lanes, size = kj_types[a->type].size;
    LLVMTypeRef overloads[2] = {LLVMTypeOf(v), LLVMVectorType(lo->ptr, (unsigned)lanes)};
    LLVMValueRef mask = kj_mask_row(lo, m, row, lanes), to = pointers(lo, a, row);
    bool by_lanes = lo->vector == 8 && (size >= 4) == (m.kind == KJ_SOME);
    if (by_lanes && ++lo->running <= FEW_RUNNING)
        (m.kind == KJ_SOME ? scatter_some : store_lanes)(lo, v, to, mask, size);
    else if (size < 4 || (!kj_stores_masked(lo, size) && m.kind != KJ_ALL) || is_one_of_many(lo, m))
        access_running(lo, LLVMTypeOf(v), v, to, mask, size);
    else
        kj_call_masked(lo, "llvm.masked.scatter", overloads, v, to, mask, 1, size);
}

void kj_store_apart(kj_lower *lo, const kj_access *a, int row, LLVMValueRef v, kj_mask m)
{
    int lanes = a->offset.lanes;
    bool each =
        kj_types[a->type].size < 4 && a->offset.form == KJ_LINEAR && ++lo->running <= FEW_RUNNING;
    if (kj_stores_strided(lo, a)) {
        kj_store_strided(lo, a, row, v, m);
    } else if (!each) {
        store_anywhere(lo, a, row, v, m);
    } else if (m.kind == KJ_ALL) {
        store_each(lo, a, row, v);
    } else {
        kj_row_branch r = kj_branch_full(lo, kj_mask_row(lo, m, row, lanes), lanes);
        store_each(lo, a, row, v);
        LLVMBuildBr(lo->b, r.done);
        LLVMPositionBuilderAtEnd(lo->b, r.some);
        store_anywhere(lo, a, row, v, m);
        LLVMBuildBr(lo->b, r.done);
        LLVMPositionBuilderAtEnd(lo->b, r.done);
    }
}

/* Bytes and half words of some threads' elements: masked, or part by part. */
static void store_group_some(kj_lower *lo, const kj_access *a, int row, const LLVMValueRef *parts,
                             kj_mask m)
{
    if (lo->vector > 8) {
        kj_store_group(lo, a, row, parts, m);
        return;
    }
    kj_access one = *a;
    for (int k = 0; k < a->group; k++) {
        kj_tile by = kj_tile_int(lo, k - a->part);
        one.offset = kj_tile_binary(lo, KJ_OP_ADD, a->offset, by);
        store_anywhere(lo, &one, row, parts[k], m);
    }
}

void kj_store_group_row(kj_lower *lo, const kj_access *a, int row, const LLVMValueRef *parts,
                        kj_mask m)
{
    int lanes = a->offset.lanes;
    if (m.kind == KJ_SOME && kj_is_amid(lo, a, m)) {
        kj_access amid = kj_amid(lo, a, row, m);
        kj_store_group(lo, &amid, row, parts, m);
        return;
    }
    if (m.kind == KJ_ALL || kj_stores_masked(lo, kj_types[a->type].size)) {
        kj_store_group(lo, a, row, parts, m);
        return;
    }
    kj_row_branch r = kj_branch_full(lo, kj_mask_row(lo, m, row, lanes), lanes);
    kj_store_group(lo, a, row, parts, kj_all);
    LLVMBuildBr(lo->b, r.done);
    LLVMPositionBuilderAtEnd(lo->b, r.some);
    store_group_some(lo, a, row, parts, m);
    LLVMBuildBr(lo->b, r.done);
    LLVMPositionBuilderAtEnd(lo->b, r.done);
}
