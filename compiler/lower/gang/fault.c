/* Faults: a failed assert, an index outside, a barrier that not all reach, written where the launch finds
 * it.
 *
 * Of a launch's faults the one that comes first in order is kept (kj_host_fault), whenever the others
 * come. A thread that has one ends; on a CPU its block does. The code that writes one is the same for
 * all sites of a kernel, and stands once behind it. */
#include "lower/gang/gang.h"

#include <stddef.h>

enum { SHARED_VALUES = 4 /* of a site whose fault is written by that code */ };

struct kj_told {
    LLVMBasicBlockRef at;
    LLVMValueRef site, block, thread[3], values[SHARED_VALUES]; /* by the site that comes there */
};

LLVMValueRef kj_report_field(kj_lower *lo, LLVMValueRef base, size_t offset)
{
    LLVMValueRef index = kj_i64(lo, (int64_t)offset);
    return LLVMBuildGEP2(lo->b, lo->i8, base, &index, 1, "");
}

void kj_store_field(kj_lower *lo, LLVMValueRef base, size_t offset, LLVMValueRef v)
{
    LLVMBuildStore(lo->b, v, kj_report_field(lo, base, offset));
}

LLVMValueRef kj_word(kj_lower *lo, LLVMValueRef v)
{
    LLVMTypeRef type = LLVMTypeOf(v);
    if (LLVMGetTypeKind(type) != LLVMIntegerTypeKind)
        v = LLVMBuildBitCast(lo->b, v, type == lo->types[KJ_F64] ? lo->i64 : lo->i32, "");
    return LLVMTypeOf(v) == lo->i64 ? v : LLVMBuildZExt(lo->b, v, lo->i64, "");
}

/* ---- Numbers ---- */

/* x + nx * (y + ny * z) */
static LLVMValueRef linear(kj_lower *lo, const LLVMValueRef at[3], const LLVMValueRef extent[2])
{
    LLVMValueRef n = at[2];
    for (int axis = 1; axis >= 0; axis--)
        n = LLVMBuildAdd(lo->b, LLVMBuildMul(lo->b, n, extent[axis], ""), at[axis], "");
    return n;
}

LLVMValueRef kj_thread_number(kj_lower *lo, const LLVMValueRef at[3])
{
    LLVMValueRef extent[3];
    for (int axis = 0; axis < 3; axis++) {
        int own = kj_swapped(axis, lo->kernel->lanes);
        extent[axis] =
            lo->extent[own] ? kj_word(lo, lo->extent[own]) : kj_i64(lo, lo->kernel->block[own]);
    }
    return linear(lo, at, extent);
}

LLVMValueRef kj_block_number(kj_lower *lo)
{
    LLVMValueRef at[3], extent[3];
    for (int axis = 0; axis < 3; axis++) {
        int own = kj_swapped(axis, lo->kernel->lanes);
        at[axis] = kj_word(lo, lo->block[own]);
        extent[axis] = kj_word(lo, lo->grid[own]);
    }
    return linear(lo, at, extent);
}

/* ---- Claiming ---- */

static LLVMValueRef as_shared(kj_lower *lo, LLVMValueRef access, unsigned align)
{
    LLVMSetOrdering(access, LLVMAtomicOrderingMonotonic);
    LLVMSetAlignment(access, align);
    return lo->target->scope(lo, access, false);
}

static LLVMValueRef load_word(kj_lower *lo, LLVMValueRef fault, size_t offset)
{
    return as_shared(lo, LLVMBuildLoad2(lo->b, lo->i64, kj_report_field(lo, fault, offset), ""), 8);
}

static void store_word(kj_lower *lo, LLVMValueRef fault, size_t offset, LLVMValueRef v)
{
    as_shared(lo, LLVMBuildStore(lo->b, v, kj_report_field(lo, fault, offset)), 8);
}

/* The lock's holder alone changes the record. Who waits leaves when a block that comes before its own is
 * told. */
static void take_lock(kj_lower *lo, LLVMValueRef fault, LLVMValueRef order)
{
    LLVMBasicBlockRef turn = kj_new_block(lo, "turn"), first = kj_new_block(lo, "first"),
                      held = kj_new_block(lo, "held");
    LLVMAtomicOrdering relaxed = LLVMAtomicOrderingMonotonic;
    LLVMBuildBr(lo->b, turn);
    LLVMPositionBuilderAtEnd(lo->b, turn);
    LLVMValueRef told = load_word(lo, fault, offsetof(kj_host_fault, order));
    LLVMBuildCondBr(lo->b, LLVMBuildICmp(lo->b, LLVMIntUGE, order, told, ""), first, lo->fail);
    LLVMPositionBuilderAtEnd(lo->b, first);
    LLVMValueRef pair = LLVMBuildAtomicCmpXchg(
        lo->b, kj_report_field(lo, fault, offsetof(kj_host_fault, lock)),
        LLVMConstInt(lo->i32, 0, false), LLVMConstInt(lo->i32, 1, false), relaxed, relaxed, false);
    lo->target->scope(lo, pair, false);
    LLVMBuildCondBr(lo->b, LLVMBuildExtractValue(lo->b, pair, 1, ""), held, turn);
    LLVMPositionBuilderAtEnd(lo->b, held);
    lo->target->fence(lo, KJ_BI_THREADFENCE, NULL);
}

/* Goes on where this fault comes before the one that is told; else to lo->unlock. */
static void claim(kj_lower *lo, LLVMValueRef fault, LLVMValueRef order, LLVMValueRef within)
{
    take_lock(lo, fault, order);
    LLVMBasicBlockRef better = kj_new_block(lo, "better");
    lo->unlock = kj_new_block(lo, "unlock");
    LLVMValueRef told = load_word(lo, fault, offsetof(kj_host_fault, order));
    LLVMValueRef same = load_word(lo, fault, offsetof(kj_host_fault, within));
    LLVMValueRef less = LLVMBuildICmp(lo->b, LLVMIntUGT, order, told, "");
    LLVMValueRef equal = LLVMBuildAnd(lo->b, LLVMBuildICmp(lo->b, LLVMIntEQ, order, told, ""),
                                      LLVMBuildICmp(lo->b, LLVMIntUGT, within, same, ""), "");
    LLVMBuildCondBr(lo->b, LLVMBuildOr(lo->b, less, equal, ""), better, lo->unlock);
    LLVMPositionBuilderAtEnd(lo->b, better);
    store_word(lo, fault, offsetof(kj_host_fault, within), within);
    lo->target->fence(lo, KJ_BI_THREADFENCE, NULL); /* who sees the order sees what is within */
    store_word(lo, fault, offsetof(kj_host_fault, order), order);
}

LLVMValueRef kj_fault_begin(kj_lower *lo, kj_fault_kind kind, LLVMValueRef offset, int child,
                            LLVMValueRef thread)
{
    LLVMValueRef fault = lo->target->fault(lo),
                 behind = kj_i64(lo, (int64_t)child << KJ_FAULT_CHILD);
    LLVMValueRef order =
        LLVMBuildNot(lo->b, LLVMBuildOr(lo->b, kj_block_number(lo), behind, ""), "");
    if (lo->least)
        LLVMBuildStore(lo->b, thread, lo->least);
    if (lo->stretch) {
        LLVMValueRef passed = LLVMBuildLoad2(lo->b, lo->i32, lo->stretch, "");
        passed = LLVMBuildShl(lo->b, kj_word(lo, passed), kj_i64(lo, 32), "");
        thread = LLVMBuildOr(lo->b, passed, thread, "");
    }
    claim(lo, fault, order, LLVMBuildNot(lo->b, thread, ""));
    as_shared(lo, LLVMBuildStore(lo->b, LLVMConstInt(lo->i32, (unsigned)kind, false), fault), 4);
    kj_store_field(lo, fault, offsetof(kj_host_fault, offset), offset);
    for (int axis = 0; axis < 3; axis++)
        kj_store_field(lo, fault, offsetof(kj_host_fault, block) + 8 * (size_t)axis,
                       kj_word(lo, lo->block[kj_swapped(axis, lo->kernel->lanes)]));
    return fault;
}

void kj_fault_end(kj_lower *lo, LLVMValueRef fault)
{
    LLVMBuildBr(lo->b, lo->unlock);
    LLVMPositionBuilderAtEnd(lo->b, lo->unlock);
    lo->target->fence(lo, KJ_BI_THREADFENCE, NULL);
    LLVMValueRef none = LLVMConstInt(lo->i32, 0, false);
    as_shared(
        lo, LLVMBuildStore(lo->b, none, kj_report_field(lo, fault, offsetof(kj_host_fault, lock))),
        4);
    if (!lo->least) {
        LLVMBuildBr(lo->b, lo->fail);
        return;
    }
    LLVMValueRef least = LLVMBuildLoad2(lo->b, lo->i64, lo->least, "");
    LLVMBuildCondBr(lo->b, LLVMBuildICmp(lo->b, LLVMIntEQ, least, kj_i64(lo, 0), ""), lo->stop,
                    lo->fail);
}

/* ---- Of a site ---- */

/* Where gangs go across blocks the thread's number along x is that in a run of them. */
static void find_block(kj_lower *lo, LLVMValueRef thread[3])
{
    LLVMValueRef *x = &thread[kj_swapped(0, lo->kernel->lanes)];
    LLVMValueRef width = kj_i64(lo, lo->kernel->block[0]);
    if (!lo->across || lo->least)
        return;
    lo->block[0] = LLVMBuildAdd(lo->b, lo->block[0], LLVMBuildUDiv(lo->b, *x, width, ""), "");
    *x = LLVMBuildURem(lo->b, *x, width, "");
}

static void write_fault(kj_lower *lo, LLVMValueRef id, int child, const LLVMValueRef at[3],
                        const LLVMValueRef *values, int n)
{
    LLVMValueRef first = lo->block[0], thread[3] = {at[0], at[1], at[2]};
    find_block(lo, thread);
    LLVMValueRef fault =
        kj_fault_begin(lo, KJ_FAULT_ASSERT, id, child, kj_thread_number(lo, thread));
    lo->block[0] = first;
    for (int axis = 0; axis < 3; axis++)
        kj_store_field(lo, fault, offsetof(kj_host_fault, thread) + 8 * (size_t)axis, thread[axis]);
    for (int i = 0; i < n; i++)
        kj_store_field(lo, fault, offsetof(kj_host_fault, values) + 8 * (size_t)i, values[i]);
    kj_fault_end(lo, fault);
}

/* Blocks side by side have numbers of their own along x, so that one comes from the site, too. */
static kj_told *make_told(kj_lower *lo, int child)
{
    kj_told *t = KJ_NEW(lo->arena, kj_told);
    LLVMBasicBlockRef from = LLVMGetInsertBlock(lo->b);
    LLVMValueRef own = lo->block[0];
    t->at = kj_new_block(lo, "told");
    LLVMPositionBuilderAtEnd(lo->b, t->at);
    t->site = LLVMBuildPhi(lo->b, lo->i32, "site");
    t->block = LLVMBuildPhi(lo->b, LLVMTypeOf(own), "block");
    for (int axis = 0; axis < 3; axis++)
        t->thread[axis] = LLVMBuildPhi(lo->b, lo->i64, "thread");
    for (int i = 0; i < SHARED_VALUES; i++)
        t->values[i] = LLVMBuildPhi(lo->b, lo->i64, "value");
    lo->block[0] = t->block;
    write_fault(lo, t->site, child, t->thread, t->values, SHARED_VALUES);
    lo->block[0] = own;
    LLVMPositionBuilderAtEnd(lo->b, from);
    return t;
}

void kj_fault_tell(kj_lower *lo, const kj_site *site, const LLVMValueRef thread[3],
                   const LLVMValueRef *values)
{
    LLVMValueRef id = LLVMConstInt(lo->i32, (unsigned)site->id, false);
    if (lo->least || site->nvalues > SHARED_VALUES) {
        write_fault(lo, id, site->child, thread, values, site->nvalues);
        return;
    }
    if (!lo->told)
        lo->told = make_told(lo, site->child);
    LLVMBasicBlockRef from = LLVMGetInsertBlock(lo->b);
    LLVMValueRef none = kj_i64(lo, 0);
    LLVMAddIncoming(lo->told->site, &id, &from, 1);
    LLVMAddIncoming(lo->told->block, &lo->block[0], &from, 1);
    for (int axis = 0; axis < 3; axis++)
        LLVMAddIncoming(lo->told->thread[axis], (LLVMValueRef *)&thread[axis], &from, 1);
    for (int i = 0; i < SHARED_VALUES; i++)
        LLVMAddIncoming(lo->told->values[i], i < site->nvalues ? (LLVMValueRef *)&values[i] : &none,
                        &from, 1);
    LLVMBuildBr(lo->b, lo->told->at);
}

/* ---- Who looks whether there is one ---- */

LLVMValueRef kj_has_fault(kj_lower *lo)
{
    LLVMValueRef kind = as_shared(lo, LLVMBuildLoad2(lo->b, lo->i32, lo->target->fault(lo), ""), 4);
    return LLVMBuildICmp(lo->b, LLVMIntNE, kind, LLVMConstInt(lo->i32, KJ_FAULT_NONE, false), "");
}

void kj_fault_poll(kj_lower *lo)
{
    if (!lo->target->may_fail(lo) || lo->least)
        return;
    LLVMBasicBlockRef on = kj_new_block(lo, "on");
    LLVMBuildCondBr(lo->b, kj_has_fault(lo), lo->fail, on);
    LLVMPositionBuilderAtEnd(lo->b, on);
}

/* Goes on where a failure of this block is told, in a stretch before the thread's own; else to `on`. */
static void when_before(kj_lower *lo, LLVMValueRef is_here, LLVMBasicBlockRef on)
{
    LLVMBasicBlockRef here = kj_new_block(lo, "here"), before = kj_new_block(lo, "before");
    LLVMBuildCondBr(lo->b, is_here, here, on);
    LLVMPositionBuilderAtEnd(lo->b, here);
    lo->target->fence(lo, KJ_BI_THREADFENCE, NULL);
    LLVMValueRef within = load_word(lo, lo->target->fault(lo), offsetof(kj_host_fault, within));
    LLVMValueRef then = LLVMBuildLShr(lo->b, LLVMBuildNot(lo->b, within, ""), kj_i64(lo, 32), "");
    LLVMValueRef now = kj_word(lo, LLVMBuildLoad2(lo->b, lo->i32, lo->stretch, ""));
    LLVMBuildCondBr(lo->b, LLVMBuildICmp(lo->b, LLVMIntULT, then, now, ""), before, on);
    LLVMPositionBuilderAtEnd(lo->b, before);
}

/* What comes later in order may have to give way: the thread may fail itself yet, and be the one that is told. Behind
 * operations of a warp that is not defined, and each of the block's counts. */
void kj_fault_look(kj_lower *lo)
{
    LLVMBasicBlockRef later = kj_new_block(lo, "later"), on = kj_new_block(lo, "on");
    LLVMValueRef own = LLVMBuildNot(lo->b, kj_block_number(lo), "");
    LLVMValueRef told = load_word(lo, lo->target->fault(lo), offsetof(kj_host_fault, order));
    LLVMBuildCondBr(lo->b, LLVMBuildICmp(lo->b, LLVMIntUGT, told, own, ""), lo->fail, later);
    LLVMPositionBuilderAtEnd(lo->b, later);
    LLVMValueRef is_here = LLVMBuildICmp(lo->b, LLVMIntEQ, told, own, "");
    if (lo->deps->warps) {
        LLVMBuildCondBr(lo->b, is_here, lo->fail, on);
    } else {
        when_before(lo, is_here, on);
        LLVMBuildBr(lo->b, lo->fail);
    }
    LLVMPositionBuilderAtEnd(lo->b, on);
}
