/* Reports: failed asserts and lines of print, written where the launch finds them.
 *
 * A fault is written by the first thread that claims it; then its block ends, or on a GPU its
 * thread. Lines are records, one behind the other in the order in which threads come: who reads
 * them sorts them. */
#include "lower/gang/gang.h"

#include <llvm/Config/llvm-config.h>
#include <stddef.h>
#include <string.h>

static LLVMValueRef field(kj_lower *lo, LLVMValueRef base, size_t offset)
{
    LLVMValueRef index = kj_i64(lo, (int64_t)offset);
    return LLVMBuildGEP2(lo->b, lo->i8, base, &index, 1, "");
}

void kj_store_field(kj_lower *lo, LLVMValueRef base, size_t offset, LLVMValueRef v)
{
    LLVMBuildStore(lo->b, v, field(lo, base, offset));
}

/* An unsigned number of 32 or 64 bits as one of 64. */
static LLVMValueRef wide(kj_lower *lo, LLVMValueRef v)
{
    return LLVMTypeOf(v) == lo->i64 ? v : LLVMBuildZExt(lo->b, v, lo->i64, "");
}

LLVMValueRef kj_fault_begin(kj_lower *lo, kj_fault_kind kind, uint32_t offset)
{
    LLVMValueRef fault = lo->target->fault(lo);
    LLVMAtomicOrdering relaxed = LLVMAtomicOrderingMonotonic;
    LLVMValueRef pair = LLVMBuildAtomicCmpXchg(lo->b, fault, LLVMConstInt(lo->i32, 0, false),
                                               LLVMConstInt(lo->i32, (unsigned)kind, false),
                                               relaxed, relaxed, false);
    lo->target->scope(lo, pair, false);
    LLVMBasicBlockRef first = kj_new_block(lo, "first");
    LLVMBuildCondBr(lo->b, LLVMBuildExtractValue(lo->b, pair, 1, ""), first, lo->fail);
    LLVMPositionBuilderAtEnd(lo->b, first);
    kj_store_field(lo, fault, offsetof(kj_host_fault, offset),
                   LLVMConstInt(lo->i32, offset, false));
    for (int axis = 0; axis < 3; axis++)
        kj_store_field(lo, fault, offsetof(kj_host_fault, block) + 8 * (size_t)axis,
                       wide(lo, lo->block[kj_swapped(axis, lo->kernel->lanes)]));
    return fault;
}

LLVMValueRef kj_has_fault(kj_lower *lo)
{
    LLVMValueRef kind = LLVMBuildLoad2(lo->b, lo->i32, lo->target->fault(lo), "");
    LLVMSetOrdering(kind, LLVMAtomicOrderingMonotonic);
    LLVMSetAlignment(kind, 4);
    lo->target->scope(lo, kind, false);
    return LLVMBuildICmp(lo->b, LLVMIntNE, kind, LLVMConstInt(lo->i32, KJ_FAULT_NONE, false), "");
}

void kj_fault_poll(kj_lower *lo)
{
    if (!lo->target->may_fail(lo))
        return;
    LLVMBasicBlockRef on = kj_new_block(lo, "on");
    LLVMBuildCondBr(lo->b, kj_has_fault(lo), lo->fail, on);
    LLVMPositionBuilderAtEnd(lo->b, on);
}

/* ---- Of one thread ---- */

/* A report's values for all of the gang, and where its threads are. */
typedef struct report {
    const kj_site *site;
    const kj_tile *values;
    kj_tile thread[3];
} report;

LLVMValueRef kj_lane_of(kj_lower *lo, const kj_tile *t, int row, LLVMValueRef lane)
{
    return lo->lanes == 1 ? t->v[row] : LLVMBuildExtractElement(lo->b, t->v[row], lane, "");
}

static void store_values(kj_lower *lo, const report *r, int row, LLVMValueRef lane,
                         LLVMValueRef base, size_t offset)
{
    for (int i = 0; i < r->site->nvalues; i++) {
        LLVMValueRef v = kj_lane_of(lo, &r->values[i], row, lane);
        if (r->values[i].type == KJ_BOOL)
            v = LLVMBuildZExt(lo->b, v, lo->i8, "");
        kj_store_field(lo, base, offset + 8 * (size_t)i, v);
    }
}

static void write_fault(kj_lower *lo, const report *r, int row, LLVMValueRef lane)
{
    LLVMValueRef fault = kj_fault_begin(lo, KJ_FAULT_ASSERT, (uint32_t)r->site->id);
    for (int axis = 0; axis < 3; axis++)
        kj_store_field(lo, fault, offsetof(kj_host_fault, thread) + 8 * (size_t)axis,
                       kj_lane_of(lo, &r->thread[axis], row, lane));
    store_values(lo, r, row, lane, fault, offsetof(kj_host_fault, values));
    LLVMBuildBr(lo->b, lo->fail);
}

/* x + nx * (y + ny * z) */
static LLVMValueRef linear(kj_lower *lo, const LLVMValueRef at[3], const LLVMValueRef extent[2])
{
    LLVMValueRef n = at[2];
    for (int axis = 1; axis >= 0; axis--)
        n = LLVMBuildAdd(lo->b, LLVMBuildMul(lo->b, n, extent[axis], ""), at[axis], "");
    return n;
}

static LLVMValueRef thread_number(kj_lower *lo, const report *r, int row, LLVMValueRef lane)
{
    LLVMValueRef at[3], extent[3];
    for (int axis = 0; axis < 3; axis++) {
        at[axis] = kj_lane_of(lo, &r->thread[axis], row, lane);
        extent[axis] =
            lo->extent[axis] ? wide(lo, lo->extent[axis]) : kj_i64(lo, lo->kernel->block[axis]);
    }
    return linear(lo, at, extent);
}

static LLVMValueRef block_number(kj_lower *lo)
{
    LLVMValueRef at[3], extent[3];
    for (int axis = 0; axis < 3; axis++) {
        at[axis] = wide(lo, lo->block[axis]);
        extent[axis] = wide(lo, lo->grid[axis]);
    }
    return linear(lo, at, extent);
}

static LLVMValueRef update(kj_lower *lo, LLVMAtomicRMWBinOp op, size_t offset, LLVMValueRef v)
{
    return lo->target->scope(lo,
                             LLVMBuildAtomicRMW(lo->b, op, field(lo, lo->report, offset), v,
                                                LLVMAtomicOrderingMonotonic, false),
                             false);
}

static void write_line(kj_lower *lo, const report *r, int row, LLVMValueRef lane)
{
    enum { HEAD = 3 * 8 };
    int64_t size = HEAD + 8 * (int64_t)r->site->nvalues;
    LLVMBasicBlockRef room = kj_new_block(lo, "room"), full = kj_new_block(lo, "full"),
                      done = kj_new_block(lo, "printed");
    LLVMValueRef at =
        update(lo, LLVMAtomicRMWBinOpAdd, offsetof(kj_report, used), kj_i64(lo, size));
    LLVMValueRef last = kj_i64(lo, KJ_PRINT_BYTES - size);
    LLVMBuildCondBr(lo->b, LLVMBuildICmp(lo->b, LLVMIntULE, at, last, ""), room, full);
    LLVMPositionBuilderAtEnd(lo->b, full);
    update(lo, LLVMAtomicRMWBinOpUMin, offsetof(kj_report, end), at);
    update(lo, LLVMAtomicRMWBinOpAdd, offsetof(kj_report, lost), kj_i64(lo, 1));
    LLVMBuildBr(lo->b, done);
    LLVMPositionBuilderAtEnd(lo->b, room);
    LLVMValueRef base = LLVMBuildGEP2(lo->b, lo->i8, lo->report, &at, 1, "");
    kj_store_field(lo, base, offsetof(kj_report, words), kj_i64(lo, r->site->id));
    kj_store_field(lo, base, offsetof(kj_report, words) + 8, block_number(lo));
    kj_store_field(lo, base, offsetof(kj_report, words) + 16, thread_number(lo, r, row, lane));
    store_values(lo, r, row, lane, base, offsetof(kj_report, words) + HEAD);
    LLVMBuildBr(lo->b, done);
    LLVMPositionBuilderAtEnd(lo->b, done);
}

/* ---- Of a gang ---- */

LLVMValueRef kj_row_bits(kj_lower *lo, kj_mask m, int row)
{
    LLVMTypeRef type = LLVMIntTypeInContext(lo->ctx, (unsigned)lo->lanes);
    LLVMValueRef bits = LLVMBuildBitCast(lo->b, kj_mask_row(lo, m, row, lo->lanes), type, "");
    return wide(lo, bits);
}

/* The first thread that runs is the one reported; nobody goes on. */
static kj_mask lower_failure(kj_lower *lo, const report *r, kj_mask m)
{
    for (int row = 0; row < lo->rows; row++) {
        LLVMValueRef bits = kj_row_bits(lo, m, row);
        LLVMValueRef args[2] = {bits, LLVMConstInt(lo->i1, 1, false)};
        LLVMBasicBlockRef here = kj_new_block(lo, "failed"), next = kj_new_block(lo, "next");
        LLVMBuildCondBr(lo->b, LLVMBuildICmp(lo->b, LLVMIntNE, bits, kj_i64(lo, 0), ""), here,
                        next);
        LLVMPositionBuilderAtEnd(lo->b, here);
        write_fault(lo, r, row, kj_intrinsic(lo, "llvm.cttz", &lo->i64, 1, args, 2));
        LLVMPositionBuilderAtEnd(lo->b, next);
    }
    LLVMBuildUnreachable(lo->b);
    return kj_none;
}

static void lower_lines(kj_lower *lo, const report *r, kj_mask m)
{
    for (int row = 0; row < lo->rows; row++) {
        if (lo->lanes == 1 && m.kind == KJ_ALL) {
            write_line(lo, r, row, NULL);
            continue;
        }
        kj_bit_loop l = kj_bits_begin(lo, kj_row_bits(lo, m, row), true);
        write_line(lo, r, row, l.thread);
        kj_bits_end(lo, &l);
    }
}

kj_tile kj_tile_full(kj_lower *lo, kj_tile t)
{
    return kj_tile_spread(lo, kj_tile_wide(lo, t), lo->rows, lo->lanes);
}

kj_mask kj_lower_report(kj_lower *lo, const kj_site *site, const kj_tile *values, kj_mask m)
{
    report r = {.site = site, .values = values};
    bool once = lo->slots == lo->home; /* for the block: its first thread stands for all */
    for (int axis = 0; axis < 3; axis++)
        r.thread[axis] = kj_tile_full(lo, once ? kj_tile_int(lo, 0)
                                               : lo->thread[kj_swapped(axis, lo->kernel->lanes)]);
    if (r.site->fault)
        return lower_failure(lo, &r, m);
    lower_lines(lo, &r, m);
    return m;
}
