/* Code that is checked for races tells a kj_host_watch what its threads do, before they do it: who accesses
 * which memory, barriers, fences. A gang tells of a row of its threads at a time. */
#include "lower/gang/gang.h"

#include <stddef.h>
#include <string.h>

enum { MOST_ARGS = 8 };

/* Calls the function that stands so many bytes behind the watch's begin; its first argument is the watch. */
static LLVMValueRef call(kj_lower *lo, size_t field, LLVMTypeRef result, LLVMValueRef *args,
                         unsigned n)
{
    LLVMTypeRef types[MOST_ARGS];
    args[0] = lo->watch;
    for (unsigned i = 0; i < n; i++)
        types[i] = LLVMTypeOf(args[i]);
    LLVMValueRef at = kj_byte_offset(lo, lo->watch, (int64_t)field);
    LLVMTypeRef type = LLVMFunctionType(result, types, n, false);
    return LLVMBuildCall2(lo->b, type, LLVMBuildLoad2(lo->b, lo->ptr, at, ""), args, n, "");
}

static LLVMTypeRef nothing(const kj_lower *lo)
{
    return LLVMVoidTypeInContext(lo->ctx);
}

static LLVMValueRef number(const kj_lower *lo, uint32_t v)
{
    return LLVMConstInt(lo->i32, v, false);
}

void kj_watch_open(kj_lower *lo)
{
    if (!(lo->kernel->checks & KJ_CHECKS_WATCHED))
        return;
    int64_t spawner = (int64_t)offsetof(kj_host_launch, spawner),
            watch = (int64_t)offsetof(kj_host_spawner, watch);
    LLVMValueRef at = LLVMBuildLoad2(lo->b, lo->ptr, kj_byte_offset(lo, lo->launch, spawner), "");
    lo->watch = LLVMBuildLoad2(lo->b, lo->ptr, kj_byte_offset(lo, at, watch), "watch");
    lo->watched = kj_stored_alike(lo->arena, lo->kernel, lo->deps);
}

void kj_watch_block(kj_lower *lo, LLVMValueRef block)
{
    if (!lo->watch)
        return;
    LLVMValueRef args[] = {NULL, lo->launch, block};
    LLVMValueRef stop = call(lo, offsetof(kj_host_watch, block), lo->i32, args, 3);
    LLVMBasicBlockRef on = kj_new_block(lo, "watched");
    LLVMBuildCondBr(lo->b, LLVMBuildICmp(lo->b, LLVMIntEQ, stop, number(lo, 0), ""), on, lo->fail);
    LLVMPositionBuilderAtEnd(lo->b, on);
}

void kj_watch_barrier(kj_lower *lo)
{
    LLVMValueRef args[1];
    if (lo->watch)
        call(lo, offsetof(kj_host_watch, barrier), nothing(lo), args, 1);
}

/* ---- Of a row ---- */

static bool is_of_block(const kj_lower *lo)
{
    return lo->slots == lo->home;
}

static LLVMValueRef thread_of(kj_lower *lo, int row)
{
    if (is_of_block(lo))
        return number(lo, 0);
    LLVMValueRef n = lo->x;
    if (!lo->flat) {
        LLVMValueRef y = LLVMBuildAdd(lo->b, lo->y, kj_i64(lo, row), "");
        LLVMValueRef z = LLVMBuildMul(lo->b, lo->z, kj_i64(lo, lo->kernel->block[1]), "");
        LLVMValueRef line = LLVMBuildAdd(lo->b, y, z, "");
        n = LLVMBuildAdd(lo->b, n, LLVMBuildMul(lo->b, line, kj_i64(lo, lo->kernel->block[0]), ""),
                         "");
    }
    return LLVMBuildTrunc(lo->b, n, lo->i32, "");
}

/* What runs once for the block is done by all of its threads, of which the first few stand for them. */
static LLVMValueRef lanes_of(kj_lower *lo, int row, kj_mask m)
{
    const int64_t *block = lo->kernel->block;
    int64_t threads = block[0] * block[1] * block[2];
    LLVMValueRef bits = kj_row_bits(lo, m, row);
    if (!is_of_block(lo))
        return bits;
    LLVMValueRef all = kj_i64(lo, threads >= 63 ? INT64_MAX : ((int64_t)1 << threads) - 1);
    return LLVMBuildSelect(lo->b, LLVMBuildICmp(lo->b, LLVMIntNE, bits, kj_i64(lo, 0), ""), all,
                           kj_i64(lo, 0), "");
}

static LLVMValueRef offset_of(kj_lower *lo, const kj_tile *t, int row)
{
    LLVMValueRef v = t->v[t->rows == 1 ? 0 : row];
    return LLVMTypeOf(v) == lo->i64 ? v : LLVMBuildSExt(lo->b, v, lo->i64, "");
}

static LLVMValueRef stored_bits(kj_lower *lo, const kj_tile *stored)
{
    if (!stored || stored->lanes > 1)
        return kj_i64(lo, 0);
    LLVMValueRef v = stored->v[0];
    unsigned bits = stored->type == KJ_BOOL ? 1 : kj_types[stored->type].bits;
    if (LLVMGetTypeKind(LLVMTypeOf(v)) != LLVMIntegerTypeKind)
        v = LLVMBuildBitCast(lo->b, v, LLVMIntTypeInContext(lo->ctx, bits), "");
    return LLVMBuildZExtOrBitCast(lo->b, v, lo->i64, "");
}

/* What the threads of a gang have in common: nothing of it is the gang's own. */
static void watch_gang(kj_lower *lo, kj_mask m, void *arg)
{
    for (int row = 0; row < lo->rows; row++) {
        LLVMValueRef args[MOST_ARGS];
        memcpy(args, arg, sizeof args);
        args[3] = thread_of(lo, row);
        args[4] = kj_row_bits(lo, m, row);
        call(lo, offsetof(kj_host_watch, row), nothing(lo), args, MOST_ARGS);
    }
}

/* `some`: it is of some of the block's threads, those that take part in what runs once. */
static void watch_row(kj_lower *lo, const kj_access *at, const kj_tile *t, LLVMValueRef base,
                      int row, LLVMValueRef args[MOST_ARGS], bool some)
{
    int64_t size = kj_types[kj_memory_type(at->type)].size;
    bool apart = t->lanes > 1 && t->form == KJ_DENSE;
    if (!apart) {
        LLVMValueRef from = kj_lower_element(lo, at->type, base, offset_of(lo, t, row));
        args[5] = LLVMBuildPtrToInt(lo->b, from, lo->i64, "");
        args[6] = kj_i64(lo, t->form == KJ_LINEAR && t->lanes > 1 ? t->stride * size : 0);
        if (some)
            lo->target->each_there(lo, watch_gang, args);
        else
            call(lo, offsetof(kj_host_watch, row), nothing(lo), args, MOST_ARGS);
        return;
    }
    LLVMTypeRef vector = kj_vec(lo, KJ_I64, t->lanes);
    LLVMValueRef v = t->v[t->rows == 1 ? 0 : row], memory = kj_alloca(lo, vector, "offsets");
    if (LLVMTypeOf(v) != vector)
        v = LLVMBuildSExt(lo->b, v, vector, "");
    LLVMBuildStore(lo->b, v, memory);
    args[5] = LLVMBuildPtrToInt(lo->b, base, lo->i64, "");
    args[6] = memory;
    call(lo, offsetof(kj_host_watch, each), nothing(lo), args, MOST_ARGS);
}

void kj_watch_access(kj_lower *lo, const kj_tarray *a, const kj_access *at, uint32_t flags,
                     const kj_tile *stored, kj_mask m)
{
    if (!lo->watch || !a->watch)
        return;
    bool some = is_of_block(lo) && !lo->target->together(lo);
    int size = kj_types[kj_memory_type(at->type)].size;
    flags |= (uint32_t)__builtin_ctz((unsigned)size) << KJ_WATCH_SIZE_AT;
    flags |= a->root->space == KJ_SHARED ? KJ_WATCH_SHARED : 0;
    bool local = a->root->space == KJ_LOCAL;
    flags |= local ? KJ_WATCH_LOCAL : 0;
    if ((flags & KJ_WATCH_KIND) != KJ_WATCH_ATOMIC)
        flags |=
            lo->watched[a->watch->id] & (stored ? ~(unsigned)KJ_WATCH_OF_LOADS : KJ_WATCH_OF_LOADS);
    const kj_tile places = local ? at->own : at->offset;
    const kj_tile t = places.form == KJ_CROSSED ? kj_tile_dense(lo, places) : places;
    LLVMValueRef base = at->base;
    if (local)
        base = LLVMConstIntToPtr(kj_i64(lo, KJ_WATCH_OWN(a->root->id)), lo->ptr);
    for (int row = 0; row < lo->rows; row++) {
        LLVMValueRef args[MOST_ARGS] = {NULL, number(lo, (uint32_t)a->watch->id), number(lo, flags),
                                        thread_of(lo, row), lanes_of(lo, row, m)};
        args[7] = stored_bits(lo, stored);
        watch_row(lo, at, &t, base, row, args, some);
    }
}

static kj_tile bits_of(kj_lower *lo, kj_tile t)
{
    int size = kj_types[t.type].size;
    return kj_is_float(t.type) ? kj_tile_recast(lo, t,
                                                size == 2   ? KJ_U16
                                                : size == 4 ? KJ_U32
                                                            : KJ_U64)
                               : t;
}

/* One that finds another value reads it, whatever other atomics do. */
void kj_watch_cas(kj_lower *lo, const kj_tarray *a, const kj_access *at, kj_tile was,
                  kj_tile expected, kj_mask m)
{
    if (!lo->watch || !a->watch)
        return;
    kj_mask found =
        kj_mask_of(kj_tile_binary(lo, KJ_OP_EQ, bits_of(lo, was), bits_of(lo, expected)));
    kj_watch_access(lo, a, at, KJ_WATCH_ATOMIC | KJ_WATCH_ORDERS, NULL, kj_mask_and(lo, m, found));
    kj_watch_access(lo, a, at, KJ_WATCH_LOAD | KJ_WATCH_ORDERS | KJ_WATCH_GUESS, NULL,
                    kj_mask_andnot(lo, m, found));
}

void kj_watch_begun(kj_lower *lo, const kj_tarray *a, kj_mask m)
{
    if (a->space != KJ_LOCAL || !(lo->kernel->checks & KJ_CHECK_INIT))
        return;
    for (int row = 0; row < lo->rows; row++) {
        LLVMValueRef args[4] = {NULL, number(lo, (uint32_t)a->id), thread_of(lo, row),
                                lanes_of(lo, row, m)};
        call(lo, offsetof(kj_host_watch, begun), nothing(lo), args, 4);
    }
}

void kj_watch_fence(kj_lower *lo, kj_builtin id, kj_mask m)
{
    if (!lo->watch || id == KJ_BI_NANOSLEEP || is_of_block(lo))
        return;
    for (int row = 0; row < lo->rows; row++) {
        LLVMValueRef args[4] = {NULL, thread_of(lo, row), lanes_of(lo, row, m),
                                number(lo, id == KJ_BI_THREADFENCE_BLOCK)};
        call(lo, offsetof(kj_host_watch, fence), nothing(lo), args, 4);
    }
}

void kj_watch_warp(kj_lower *lo, kj_builtin id, const kj_tile *args, kj_mask m)
{
    if (!lo->watch || id != KJ_BI_SYNCWARP || lo->lanes != KJ_WARP)
        return;
    LLVMTypeRef vector = kj_vec(lo, KJ_U32, KJ_WARP);
    LLVMValueRef memory = kj_alloca(lo, vector, "members");
    kj_tile members = kj_tile_full(lo, kj_tile_convert(lo, args[0], KJ_U32));
    for (int row = 0; row < lo->rows; row++) {
        LLVMBuildStore(lo->b, kj_tile_vector(lo, members, row, KJ_WARP), memory);
        LLVMValueRef of[4] = {NULL, thread_of(lo, row), lanes_of(lo, row, m), memory};
        call(lo, offsetof(kj_host_watch, warp), nothing(lo), of, 4);
    }
}
