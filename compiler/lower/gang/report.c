/* Reports: failed asserts and lines of print of kernels, of one thread after another.
 *
 * Lines are records, one behind the other in the order in which threads come: who reads them sorts
 * them. */
#include "lower/gang/gang.h"

#include <llvm/Config/llvm-config.h>
#include <stddef.h>
#include <string.h>

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

/* Where the row's thread is. */
static void find_thread(kj_lower *lo, const report *r, int row, LLVMValueRef lane,
                        LLVMValueRef out[3])
{
    for (int axis = 0; axis < 3; axis++)
        out[axis] = kj_lane_of(lo, &r->thread[axis], row, lane);
}

static LLVMValueRef update(kj_lower *lo, LLVMAtomicRMWBinOp op, size_t offset, LLVMValueRef v)
{
    return lo->target->scope(lo,
                             LLVMBuildAtomicRMW(lo->b, op, kj_report_field(lo, lo->report, offset),
                                                v, LLVMAtomicOrderingMonotonic, false),
                             false);
}

static void write_line(kj_lower *lo, const report *r, int row, LLVMValueRef lane)
{
    enum { HEAD = 3 * 8 };
    int64_t size = HEAD + 8 * (int64_t)r->site->nvalues;
    LLVMValueRef thread[3];
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
    kj_store_field(lo, base, offsetof(kj_report, words) + 8, kj_block_number(lo));
    find_thread(lo, r, row, lane, thread);
    kj_store_field(lo, base, offsetof(kj_report, words) + 16, kj_thread_number(lo, thread));
    store_values(lo, r, row, lane, base, offsetof(kj_report, words) + HEAD);
    LLVMBuildBr(lo->b, done);
    LLVMPositionBuilderAtEnd(lo->b, done);
}

/* ---- Of a gang ---- */

LLVMValueRef kj_row_bits(kj_lower *lo, kj_mask m, int row)
{
    LLVMTypeRef type = LLVMIntTypeInContext(lo->ctx, (unsigned)lo->lanes);
    LLVMValueRef bits = LLVMBuildBitCast(lo->b, kj_mask_row(lo, m, row, lo->lanes), type, "");
    return kj_word(lo, bits);
}

static void fail_thread(kj_lower *lo, const report *r, int row, LLVMValueRef lane)
{
    LLVMValueRef thread[3], values[KJ_MAX_REPORTED];
    find_thread(lo, r, row, lane, thread);
    for (int i = 0; i < r->site->nvalues; i++)
        values[i] = kj_word(lo, kj_lane_of(lo, &r->values[i], row, lane));
    kj_fault_tell(lo, r->site, thread, values);
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
        fail_thread(lo, r, row, kj_intrinsic(lo, "llvm.cttz", &lo->i64, 1, args, 2));
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
    if (lo->least)
        return m;
    lower_lines(lo, &r, m);
    return m;
}
