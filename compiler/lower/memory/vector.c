/* Accesses of one row of a gang, as vectors: one element apart, or anywhere.
 *
 * Words are masked by the hardware, loads for nothing. Bytes and half words are stored so by AVX-512; loads of them
 * cost hundreds of cycles on some processors. Of a full row they are plain accesses, and so is the load of one that
 * lies on one page with an element that is accessed. What remains is moved one by one. So are words where the
 * vectors are SSE's: what LLVM would make of a masked access there, a branch for each lane, takes it time that
 * grows with the square of their number. */
#include "lower/memory/memory.h"

#include <llvm/Config/llvm-config.h>
#include <string.h>

#include "base/c_locale.h"

static LLVMValueRef call_masked(kj_lower *lo, const char *name, LLVMTypeRef *overloads,
                                LLVMValueRef first, LLVMValueRef second, LLVMValueRef third,
                                int aligned, int align)
{
    /* Up to LLVM 21 the alignment is an argument behind the pointer, from 22 on an attribute of it.
     */
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(lo->module, id, overloads, 2);
    LLVMTypeRef type = LLVMGlobalGetValueType(f);
    LLVMValueRef args[4];
    unsigned n = 0, pointer = (unsigned)aligned;
    LLVMValueRef given[3] = {first, second, third};
    bool argument = LLVMCountParamTypes(type) == 3u + (third ? 1u : 0u);
    for (unsigned i = 0; i < (third ? 3u : 2u); i++) {
        args[n++] = given[i];
        if (argument && i == pointer)
            args[n++] = LLVMConstInt(lo->i32, (unsigned)align, false);
    }
    LLVMValueRef call = LLVMBuildCall2(lo->b, type, f, args, n, "");
    if (!argument) {
        unsigned kind = LLVMGetEnumAttributeKindForName("align", 5);
        LLVMAddCallSiteAttribute(call, pointer + 1,
                                 LLVMCreateEnumAttribute(lo->ctx, kind, (unsigned)align));
    }
    return call;
}

LLVMValueRef kj_masked_store(kj_lower *lo, LLVMValueRef v, LLVMValueRef at, LLVMValueRef mask,
                             int align)
{
    LLVMTypeRef overloads[2] = {LLVMTypeOf(v), lo->ptr};
    return call_masked(lo, "llvm.masked.store", overloads, v, at, mask, 1, align);
}

static bool has_gathers(const kj_lower *lo)
{
    return lo->vector > 4;
}

static bool is_masked(const kj_lower *lo, int size)
{
    return size >= 4 && has_gathers(lo);
}

static LLVMValueRef reversed(kj_lower *lo, LLVMValueRef v, int lanes)
{
    LLVMValueRef index[KJ_MAX_LANES];
    for (int l = 0; l < lanes; l++)
        index[l] = LLVMConstInt(lo->i32, (unsigned)(lanes - 1 - l), false);
    return LLVMBuildShuffleVector(lo->b, v, LLVMGetPoison(LLVMTypeOf(v)),
                                  LLVMConstVector(index, (unsigned)lanes), "");
}

bool kj_is_unit(kj_tile offset)
{
    return offset.form == KJ_LINEAR && (offset.stride == 1 || offset.stride == -1);
}

/* The lowest address of a row whose lanes are one element apart. */
static LLVMValueRef row_start(kj_lower *lo, const kj_access *a, LLVMValueRef first)
{
    if (a->offset.stride < 0)
        first = LLVMBuildSub(lo->b, first, kj_i64(lo, a->offset.lanes - 1), "");
    return kj_lower_element(lo, a->type, a->base, first);
}

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
    return call_masked(lo, "llvm.masked.gather", overloads, at, mask, LLVMConstNull(type), 0,
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

/* ---- One element apart ---- */

LLVMValueRef kj_mask_bits(kj_lower *lo, LLVMValueRef mask, int lanes)
{
    LLVMTypeRef word = LLVMIntTypeInContext(lo->ctx, (unsigned)lanes);
    return LLVMBuildZExt(lo->b, LLVMBuildBitCast(lo->b, mask, word, ""), lo->i64, "");
}

/* to[l] = from[l] for the lanes that run. */
static void copy_running(kj_lower *lo, LLVMTypeRef elem, LLVMValueRef from, LLVMValueRef to,
                         LLVMValueRef bits)
{
    kj_bit_loop l = kj_bits_begin(lo, bits, true);
    LLVMValueRef one =
        LLVMBuildLoad2(lo->b, elem, LLVMBuildGEP2(lo->b, elem, from, &l.thread, 1, ""), "");
    LLVMSetAlignment(LLVMBuildStore(lo->b, one, LLVMBuildGEP2(lo->b, elem, to, &l.thread, 1, "")),
                     1);
    LLVMSetAlignment(one, 1);
    kj_bits_end(lo, &l);
}

/* Branches: to `every` when all lanes run, else to `some`. */
typedef struct row_branch {
    LLVMBasicBlockRef every, some, done;
    LLVMValueRef bits;
} row_branch;

static row_branch branch_full(kj_lower *lo, LLVMValueRef mask, int lanes)
{
    row_branch r = {kj_new_block(lo, "every"), kj_new_block(lo, "some"), kj_new_block(lo, "done"),
                    NULL};
    r.bits = kj_mask_bits(lo, mask, lanes);
    LLVMValueRef all = kj_i64(lo, lanes == 64 ? -1 : ((int64_t)1 << lanes) - 1);
    LLVMBuildCondBr(lo->b, LLVMBuildICmp(lo->b, LLVMIntEQ, r.bits, all, ""), r.every, r.some);
    LLVMPositionBuilderAtEnd(lo->b, r.every);
    return r;
}

/* The row, where both branches have come to an end: that of v[0] in block `every`, of v[1] here. */
static LLVMValueRef end_branch(kj_lower *lo, const row_branch *r, LLVMBasicBlockRef every,
                               LLVMValueRef v[2])
{
    LLVMBasicBlockRef from[2] = {every, LLVMGetInsertBlock(lo->b)};
    LLVMBuildBr(lo->b, r->done);
    LLVMPositionBuilderAtEnd(lo->b, r->done);
    LLVMValueRef row = LLVMBuildPhi(lo->b, LLVMTypeOf(v[0]), "");
    LLVMAddIncoming(row, v, from, 2);
    return row;
}

static LLVMValueRef are_any(kj_lower *lo, LLVMValueRef bits)
{
    return LLVMBuildICmp(lo->b, LLVMIntNE, bits, kj_i64(lo, 0), "");
}

/* Memory is there by pages of this size, or multiples of it: what is on one with an element that a thread accesses
 * can be loaded too. */
enum { PAGE = 4096 };

static LLVMValueRef is_on_one_page(kj_lower *lo, LLVMValueRef at, int bytes)
{
    LLVMValueRef place =
        LLVMBuildAnd(lo->b, LLVMBuildPtrToInt(lo->b, at, lo->i64, ""), kj_i64(lo, PAGE - 1), "");
    return LLVMBuildICmp(lo->b, LLVMIntULE, place, kj_i64(lo, PAGE - bytes), "");
}

/* copy_running of elements of `size` bytes as a function, for where it is rare: (from, to, bits). */
static LLVMValueRef copy_function(kj_lower *lo, LLVMTypeRef signature, const char *name, int size)
{
    LLVMTypeRef elem = LLVMIntTypeInContext(lo->ctx, 8u * (unsigned)size);
    LLVMValueRef f = LLVMAddFunction(lo->module, name, signature), kernel = lo->fn;
    LLVMBasicBlockRef back = LLVMGetInsertBlock(lo->b);
    LLVMMetadataRef line = LLVMGetCurrentDebugLocation2(lo->b);
    LLVMSetLinkage(f, LLVMInternalLinkage);
    lo->fn = f;
    kj_attribute(lo, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, "noinline", 0);
    kj_attribute(lo, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, "nounwind", 0);
    kj_attribute(lo, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, "cold", 0);
    LLVMSetCurrentDebugLocation2(lo->b, NULL);
    LLVMPositionBuilderAtEnd(lo->b, kj_new_block(lo, "entry"));
    copy_running(lo, elem, LLVMGetParam(f, 0), LLVMGetParam(f, 1), LLVMGetParam(f, 2));
    LLVMBuildRetVoid(lo->b);
    lo->fn = kernel;
    LLVMPositionBuilderAtEnd(lo->b, back);
    LLVMSetCurrentDebugLocation2(lo->b, line);
    return f;
}

static void call_copy(kj_lower *lo, LLVMValueRef from, LLVMValueRef to, LLVMValueRef bits, int size)
{
    char name[32];
    LLVMTypeRef params[3] = {lo->ptr, lo->ptr, lo->i64};
    LLVMTypeRef signature = LLVMFunctionType(LLVMVoidTypeInContext(lo->ctx), params, 3, false);
    kj_snprintf(name, sizeof name, "kj.copy.%d", size);
    LLVMValueRef f = LLVMGetNamedFunction(lo->module, name);
    if (!f)
        f = copy_function(lo, signature, name, size);
    LLVMBuildCall2(lo->b, signature, f, (LLVMValueRef[]){from, to, bits}, 3, "");
}

static LLVMValueRef load_each(kj_lower *lo, LLVMTypeRef type, LLVMValueRef at, LLVMValueRef bits,
                              int size)
{
    LLVMValueRef buffer = kj_alloca(lo, type, "row");
    LLVMBuildStore(lo->b, LLVMConstNull(type), buffer);
    call_copy(lo, at, buffer, bits, size);
    return LLVMBuildLoad2(lo->b, type, buffer, "");
}

static LLVMValueRef load_plain(kj_lower *lo, LLVMTypeRef type, LLVMValueRef at)
{
    LLVMValueRef v = LLVMBuildLoad2(lo->b, type, at, "");
    LLVMSetAlignment(v, 1);
    return v;
}

/* The load of a row some of whose threads run: at once where it may be, else one by one. */
static LLVMValueRef load_some(kj_lower *lo, LLVMTypeRef type, LLVMValueRef at, LLVMValueRef mask,
                              LLVMValueRef bits, int lanes, int size)
{
    LLVMBasicBlockRef from[2] = {kj_new_block(lo, "there"), kj_new_block(lo, "apart")},
                      done = kj_new_block(lo, "loaded");
    LLVMValueRef v[2], any = are_any(lo, bits), near = is_on_one_page(lo, at, lanes * size);
    LLVMBuildCondBr(lo->b, LLVMBuildAnd(lo->b, any, near, ""), from[0], from[1]);
    LLVMPositionBuilderAtEnd(lo->b, from[0]);
    v[0] = LLVMBuildFreeze(lo->b, load_plain(lo, type, at), ""); /* else LLVM masks the load */
    v[0] = LLVMBuildSelect(lo->b, mask, v[0], LLVMConstNull(type), "");
    LLVMBuildBr(lo->b, done);
    LLVMPositionBuilderAtEnd(lo->b, from[1]);
    v[1] = load_each(lo, type, at, bits, size);
    LLVMBuildBr(lo->b, done);
    LLVMPositionBuilderAtEnd(lo->b, done);
    LLVMValueRef row = LLVMBuildPhi(lo->b, type, "");
    LLVMAddIncoming(row, v, from, 2);
    return row;
}

/* With `guard` few rows are not full. */
static LLVMValueRef load_small(kj_lower *lo, const kj_access *a, LLVMTypeRef type, LLVMValueRef at,
                               LLVMValueRef mask, bool guard)
{
    int lanes = a->offset.lanes, size = kj_types[a->type].size;
    row_branch r = branch_full(lo, mask, lanes);
    LLVMValueRef v[2] = {load_plain(lo, type, at)};
    LLVMBuildBr(lo->b, r.done);
    LLVMPositionBuilderAtEnd(lo->b, r.some);
    v[1] = guard ? load_each(lo, type, at, r.bits, size)
                 : load_some(lo, type, at, mask, r.bits, lanes, size);
    return end_branch(lo, &r, r.every, v);
}

/* A masked store for none, on a page that nobody has written yet, takes a processor as long as a fault. */
static void store_masked_small(kj_lower *lo, LLVMValueRef v, LLVMValueRef at, LLVMValueRef mask,
                               LLVMValueRef bits, const kj_access *a)
{
    LLVMBasicBlockRef any = kj_new_block(lo, "any"), none = kj_new_block(lo, "none");
    LLVMBuildCondBr(lo->b, are_any(lo, bits), any, none);
    LLVMPositionBuilderAtEnd(lo->b, any);
    kj_alias_mark(lo, kj_masked_store(lo, v, at, mask, kj_types[a->type].size), a->scope);
    LLVMBuildBr(lo->b, none);
    LLVMPositionBuilderAtEnd(lo->b, none);
}

/* Also words are stored faster without a mask. */
static void store_running(kj_lower *lo, const kj_access *a, LLVMValueRef v, LLVMValueRef at,
                          LLVMValueRef mask)
{
    int lanes = a->offset.lanes, size = kj_types[a->type].size;
    row_branch r = branch_full(lo, mask, lanes);
    LLVMValueRef whole = kj_alias_mark(lo, LLVMBuildStore(lo->b, v, at), a->scope);
    LLVMSetAlignment(whole, (unsigned)size);
    LLVMBuildBr(lo->b, r.done);
    LLVMPositionBuilderAtEnd(lo->b, r.some);
    if (is_masked(lo, size)) {
        kj_alias_mark(lo, kj_masked_store(lo, v, at, mask, size), a->scope);
    } else if (lo->vector > 8) {
        store_masked_small(lo, v, at, mask, r.bits, a);
    } else {
        LLVMValueRef buffer = kj_alloca(lo, LLVMTypeOf(v), "row");
        LLVMBuildStore(lo->b, v, buffer);
        copy_running(lo, LLVMGetElementType(LLVMTypeOf(v)), buffer, at, r.bits);
    }
    LLVMBuildBr(lo->b, r.done);
    LLVMPositionBuilderAtEnd(lo->b, r.done);
}

/* The running lanes' mask in the order of addresses; NULL when all run. */
static LLVMValueRef unit_mask(kj_lower *lo, const kj_access *a, int row, kj_mask m)
{
    if (m.kind == KJ_ALL)
        return NULL;
    LLVMValueRef mask = kj_mask_row(lo, m, row, a->offset.lanes);
    return a->offset.stride < 0 ? reversed(lo, mask, a->offset.lanes) : mask;
}

/* LLVM 22 makes a load and the selection of its lanes, `v = x[i]` under a condition, one load in the
 * selection's place, behind stores that follow the load: llvm-project issue 215453. Frozen, the
 * load's value is not the one that is selected. */
LLVMValueRef kj_masked_load(kj_lower *lo, const kj_access *a, LLVMTypeRef type, LLVMValueRef at,
                            LLVMValueRef mask)
{
    LLVMTypeRef overloads[2] = {type, lo->ptr};
    LLVMValueRef v = call_masked(lo, "llvm.masked.load", overloads, at, mask, LLVMConstNull(type),
                                 0, kj_types[a->type].size);
    kj_alias_mark(lo, v, a->scope);
    return LLVM_VERSION_MAJOR >= 22 ? LLVMBuildFreeze(lo->b, v, "") : v;
}

void kj_prefetch(kj_lower *lo, LLVMValueRef at, int bytes, unsigned keep)
{
    enum { LINE = 64, READ = 0, DATA = 1 };
    unsigned id = LLVMLookupIntrinsicID("llvm.prefetch", strlen("llvm.prefetch"));
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(lo->module, id, &lo->ptr, 1);
    for (int offset = 0; offset < bytes; offset += LINE) {
        LLVMValueRef by = kj_i64(lo, offset);
        LLVMValueRef args[4] = {
            LLVMBuildGEP2(lo->b, LLVMInt8TypeInContext(lo->ctx), at, &by, 1, ""),
            LLVMConstInt(lo->i32, READ, false), LLVMConstInt(lo->i32, keep, false),
            LLVMConstInt(lo->i32, DATA, false)};
        LLVMBuildCall2(lo->b, LLVMGlobalGetValueType(f), f, args, 4, "");
    }
}

void kj_fetch_row(kj_lower *lo, const kj_access *a, int row, LLVMValueRef by)
{
    LLVMValueRef first = a->offset.v[row];
    if (a->offset.form == KJ_DENSE) { /* lanes that mostly are one apart */
        first = LLVMBuildExtractElement(lo->b, first, kj_i64(lo, 0), "");
        first = LLVMBuildIntCast2(lo->b, first, lo->i64, true, "");
    }
    first = LLVMBuildAdd(lo->b, first, by, "");
    kj_prefetch(lo, row_start(lo, a, first), a->offset.lanes * kj_types[a->type].size, 2);
}

/* Is it a row of which so many first lanes run, moved in pieces? AVX-512 masks words for nothing. */
static bool in_pieces(const kj_lower *lo, const kj_access *a, kj_mask m)
{
    bool words = kj_types[a->type].size >= 4 && lo->vector > 8;
    return kj_known_first(lo, m) && a->offset.stride > 0 && !words;
}

LLVMValueRef kj_load_unit(kj_lower *lo, const kj_access *a, int row, LLVMTypeRef type, kj_mask m)
{
    int lanes = a->offset.lanes, size = kj_types[a->type].size;
    LLVMValueRef at = row_start(lo, a, a->offset.v[a->offset.rows == 1 ? 0 : row]);
    LLVMValueRef mask = unit_mask(lo, a, row, m), v;
    if (mask && kj_is_own(a)) {
        v = kj_load_own(lo, a, row, type);
    } else if (!mask) {
        v = kj_alias_mark(lo, LLVMBuildLoad2(lo->b, type, at, ""), a->scope);
        LLVMSetAlignment(v, (unsigned)size);
    } else if (in_pieces(lo, a, m)) {
        v = kj_load_first(lo, a, type, at, kj_known_first(lo, m));
    } else if (!is_masked(lo, size)) {
        v = load_small(lo, a, type, at, mask, m.t.form == KJ_PREFIX);
    } else {
        if (a->scope == KJ_SCOPE_LAUNCH)
            kj_prefetch(lo, at, lanes * size, 3); /* it is not what makes a processor do so */
        v = kj_masked_load(lo, a, type, at, mask);
    }
    return a->offset.stride < 0 ? reversed(lo, v, lanes) : v;
}

void kj_store_unit(kj_lower *lo, const kj_access *a, int row, LLVMValueRef v, kj_mask m)
{
    LLVMValueRef at = row_start(lo, a, a->offset.v[a->offset.rows == 1 ? 0 : row]);
    LLVMValueRef mask = unit_mask(lo, a, row, m);
    v = a->offset.stride < 0 ? reversed(lo, v, a->offset.lanes) : v;
    if (mask && kj_is_own(a)) {
        kj_store_own(lo, a, row, v, mask);
        return;
    }
    if (mask && in_pieces(lo, a, m)) {
        kj_store_first(lo, a, v, at, kj_known_first(lo, m));
        return;
    }
    if (mask) {
        store_running(lo, a, v, at, mask);
        return;
    }
    LLVMValueRef store = kj_alias_mark(lo, LLVMBuildStore(lo->b, v, at), a->scope);
    LLVMSetAlignment(store, (unsigned)kj_types[a->type].size);
}

/* ---- Anywhere ---- */

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
    if ((!has_gathers(lo) && m.kind != KJ_ALL) || is_one_of_many(lo, m))
        return access_running(lo, type, NULL, pointers(lo, a, row), mask, size);
    return size < 4 ? gather_small(lo, a, row, type, mask)
                    : kj_gather(lo, type, pointers(lo, a, row), mask, size);
}

/* Bytes and half words a few elements apart, which may be parts of groups. */
static LLVMValueRef load_strided_small(kj_lower *lo, const kj_access *a, int row, LLVMTypeRef type,
                                       kj_mask m)
{
    row_branch r = branch_full(lo, kj_mask_row(lo, m, row, a->offset.lanes), a->offset.lanes);
    LLVMValueRef v[2] = {a->group ? kj_load_group(lo, a, row, kj_all)
                                  : kj_load_strided(lo, a, row)};
    LLVMBuildBr(lo->b, r.done);
    LLVMPositionBuilderAtEnd(lo->b, r.some);
    v[1] = load_anywhere(lo, a, row, type, m);
    return end_branch(lo, &r, r.every, v);
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

static void store_anywhere(kj_lower *lo, const kj_access *a, int row, LLVMValueRef v, kj_mask m)
{
    int lanes = a->offset.lanes, size = kj_types[a->type].size;
    LLVMTypeRef overloads[2] = {LLVMTypeOf(v), LLVMVectorType(lo->ptr, (unsigned)lanes)};
    LLVMValueRef mask = kj_mask_row(lo, m, row, lanes), to = pointers(lo, a, row);
    if (size < 4 || (!is_masked(lo, size) && m.kind != KJ_ALL) || is_one_of_many(lo, m))
        access_running(lo, LLVMTypeOf(v), v, to, mask, size);
    else
        call_masked(lo, "llvm.masked.scatter", overloads, v, to, mask, 1, size);
}

void kj_store_apart(kj_lower *lo, const kj_access *a, int row, LLVMValueRef v, kj_mask m)
{
    int lanes = a->offset.lanes;
    bool each =
        kj_types[a->type].size < 4 && a->offset.form == KJ_LINEAR && ++lo->running <= FEW_RUNNING;
    if (!each) {
        store_anywhere(lo, a, row, v, m);
    } else if (m.kind == KJ_ALL) {
        store_each(lo, a, row, v);
    } else {
        row_branch r = branch_full(lo, kj_mask_row(lo, m, row, lanes), lanes);
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
    if (m.kind == KJ_ALL || is_masked(lo, kj_types[a->type].size)) {
        kj_store_group(lo, a, row, parts, m);
        return;
    }
    row_branch r = branch_full(lo, kj_mask_row(lo, m, row, lanes), lanes);
    kj_store_group(lo, a, row, parts, kj_all);
    LLVMBuildBr(lo->b, r.done);
    LLVMPositionBuilderAtEnd(lo->b, r.some);
    store_group_some(lo, a, row, parts, m);
    LLVMBuildBr(lo->b, r.done);
    LLVMPositionBuilderAtEnd(lo->b, r.done);
}
