/* Accesses of one row of a gang whose lanes are one element apart, as vectors: masked loads and stores, and how lanes that do
 * not run access nothing.
 *
 * Words are masked by the hardware, loads for nothing. Bytes and half words are stored so by AVX-512; loads of them
 * cost hundreds of cycles on some processors. Of a full row they are plain accesses, and so is the load of one that
 * lies on one page with an element that is accessed. What remains is moved one by one. So are words where the
 * vectors are SSE's: what LLVM would make of a masked access there, a branch for each lane, takes it time that
 * grows with the square of their number. */
#include "lower/memory/memory.h"

#include <llvm/Config/llvm-config.h>
#include <string.h>

#include "target/target.h"

LLVMValueRef kj_call_masked(kj_lower *lo, const char *name, LLVMTypeRef *overloads,
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
    if (!argument)
        kj_call_attribute(call, pointer + 1, "align", (unsigned)align);
    return call;
}

LLVMValueRef kj_masked_store(kj_lower *lo, LLVMValueRef v, LLVMValueRef at, LLVMValueRef mask,
                             int align)
{
    LLVMTypeRef overloads[2] = {LLVMTypeOf(v), lo->ptr};
    return kj_call_masked(lo, "llvm.masked.store", overloads, v, at, mask, 1, align);
}

bool kj_has_gathers(const kj_lower *lo)
{
    return lo->vector > 4;
}

bool kj_stores_masked(const kj_lower *lo, int size)
{
    return size >= 4 && kj_has_gathers(lo);
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

kj_row_branch kj_branch_full(kj_lower *lo, LLVMValueRef mask, int lanes)
{
    kj_row_branch r = {kj_new_block(lo, "every"), kj_new_block(lo, "some"),
                       kj_new_block(lo, "done"), NULL};
    r.bits = kj_mask_bits(lo, mask, lanes);
    LLVMValueRef all = kj_i64(lo, lanes == 64 ? -1 : ((int64_t)1 << lanes) - 1);
    LLVMBuildCondBr(lo->b, LLVMBuildICmp(lo->b, LLVMIntEQ, r.bits, all, ""), r.every, r.some);
    LLVMPositionBuilderAtEnd(lo->b, r.every);
    return r;
}

LLVMValueRef kj_end_branch(kj_lower *lo, const kj_row_branch *r, LLVMBasicBlockRef every,
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
    kj_row_branch r = kj_branch_full(lo, mask, lanes);
    LLVMValueRef v[2] = {load_plain(lo, type, at)};
    LLVMBuildBr(lo->b, r.done);
    LLVMPositionBuilderAtEnd(lo->b, r.some);
    v[1] = guard ? load_each(lo, type, at, r.bits, size)
                 : load_some(lo, type, at, mask, r.bits, lanes, size);
    return kj_end_branch(lo, &r, r.every, v);
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

static void mark_past(kj_lower *lo, LLVMValueRef store)
{
    LLVMMetadataRef one = LLVMValueAsMetadata(LLVMConstInt(lo->i32, 1, false));
    LLVMSetMetadata(store, LLVMGetMDKindIDInContext(lo->ctx, "nontemporal", 11),
                    LLVMMetadataAsValue(lo->ctx, LLVMMDNodeInContext2(lo->ctx, &one, 1)));
}

static void store_plain(kj_lower *lo, const kj_access *a, LLVMValueRef v, LLVMValueRef at)
{
    LLVMValueRef store = kj_alias_mark(lo, LLVMBuildStore(lo->b, v, at), a->scope);
    LLVMSetAlignment(store, (unsigned)kj_types[a->type].size);
}

/* All lanes of a row. Of one that is whole lines they go past the caches, where the launch says so (analysis/past.c). */
static void store_all(kj_lower *lo, const kj_access *a, LLVMValueRef v, LLVMValueRef at)
{
    if (!a->past || !lo->past || a->offset.lanes * kj_types[a->type].size % KJ_LINE != 0) {
        store_plain(lo, a, v, at);
        return;
    }
    lo->passes = true;
    LLVMBasicBlockRef past = kj_new_block(lo, "past"), near = kj_new_block(lo, "near"),
                      done = kj_new_block(lo, "stored");
    LLVMValueRef within = LLVMBuildAnd(lo->b, LLVMBuildPtrToInt(lo->b, at, lo->i64, ""),
                                       LLVMBuildNot(lo->b, lo->past, ""), "");
    LLVMBuildCondBr(lo->b, LLVMBuildICmp(lo->b, LLVMIntEQ, within, kj_i64(lo, 0), ""), past, near);
    LLVMPositionBuilderAtEnd(lo->b, past);
    LLVMValueRef store = kj_alias_mark(lo, LLVMBuildStore(lo->b, v, at), a->scope);
    LLVMSetAlignment(store, KJ_LINE);
    mark_past(lo, store);
    LLVMBuildBr(lo->b, done);
    LLVMPositionBuilderAtEnd(lo->b, near);
    store_plain(lo, a, v, at);
    LLVMBuildBr(lo->b, done);
    LLVMPositionBuilderAtEnd(lo->b, done);
}

/* Also words are stored faster without a mask. */
static void store_running(kj_lower *lo, const kj_access *a, LLVMValueRef v, LLVMValueRef at,
                          LLVMValueRef mask)
{
    int lanes = a->offset.lanes, size = kj_types[a->type].size;
    kj_row_branch r = kj_branch_full(lo, mask, lanes);
    store_all(lo, a, v, at);
    LLVMBuildBr(lo->b, r.done);
    LLVMPositionBuilderAtEnd(lo->b, r.some);
    if (kj_stores_masked(lo, size)) {
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
    LLVMValueRef v = kj_call_masked(lo, "llvm.masked.load", overloads, at, mask,
                                    LLVMConstNull(type), 0, kj_types[a->type].size);
    kj_alias_mark(lo, v, a->scope);
    return LLVM_VERSION_MAJOR >= 22 ? LLVMBuildFreeze(lo->b, v, "") : v;
}

void kj_prefetch(kj_lower *lo, LLVMValueRef at, int bytes, unsigned keep)
{
    enum { READ = 0, DATA = 1 };
    unsigned id = LLVMLookupIntrinsicID("llvm.prefetch", strlen("llvm.prefetch"));
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(lo->module, id, &lo->ptr, 1);
    for (int offset = 0; offset < bytes; offset += KJ_LINE) {
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

/* A load that is masked is not what makes a processor fetch what comes next: that is done for it, the row that
 * mostly is the next gang's. */
static void fetch_next(kj_lower *lo, LLVMValueRef at, int bytes)
{
    enum { LEAST = 4 * KJ_LINE };
    LLVMValueRef by = kj_i64(lo, bytes > LEAST ? bytes : LEAST);
    kj_prefetch(lo, LLVMBuildGEP2(lo->b, lo->i8, at, &by, 1, ""), bytes, 3);
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
    } else if (!kj_stores_masked(lo, size)) {
        v = load_small(lo, a, type, at, mask, m.t.form == KJ_PREFIX);
    } else {
        if (a->scope == KJ_SCOPE_LAUNCH)
            fetch_next(lo, at, lanes * size);
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
    if (mask && a->amid) {
        kj_store_amid(lo, a, v, at, mask);
        return;
    }
    if (mask) {
        store_running(lo, a, v, at, mask);
        return;
    }
    store_all(lo, a, v, at);
}
