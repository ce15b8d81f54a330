/* Polling: code that looks whether its launch is to end, and then ends, after it has written where it was. */
#include "lower/gang/gang.h"

#include <stddef.h>

/* Goes on where this is the first to say so: a loop before all blocks that have not begun. The greatest wins, in
 * one step: in two, such a block might come in between, and the loop would not be told. */
static void claim(kj_lower *lo, kj_halted as)
{
    LLVMBasicBlockRef first = kj_new_block(lo, "first");
    LLVMValueRef at = kj_report_field(lo, lo->target->fault(lo), offsetof(kj_host_fault, halted));
    LLVMValueRef to = LLVMConstInt(lo->i32, (unsigned)as, false);
    LLVMValueRef before = LLVMBuildAtomicRMW(lo->b, LLVMAtomicRMWBinOpUMax, at, to,
                                             LLVMAtomicOrderingMonotonic, false);
    lo->target->scope(lo, before, false);
    LLVMBuildCondBr(lo->b, LLVMBuildICmp(lo->b, LLVMIntULT, before, to, ""), first, lo->fail);
    LLVMPositionBuilderAtEnd(lo->b, first);
}

/* loop: NULL: in front of the block. */
static void write_place(kj_lower *lo, const kj_tstmt *loop, LLVMValueRef why)
{
    size_t block =
        loop ? offsetof(kj_host_fault, halted_block) : offsetof(kj_host_fault, halted_front);
    claim(lo, loop ? KJ_HALTED_LOOP : KJ_HALTED_FRONT);
    LLVMValueRef fault = lo->target->fault(lo);
    for (int axis = 0; axis < 3; axis++)
        kj_store_field(lo, fault, block + 8 * (size_t)axis,
                       kj_word(lo, lo->block[kj_swapped(axis, lo->kernel->lanes)]));
    if (loop)
        kj_store_field(lo, fault, offsetof(kj_host_fault, halted_at),
                       LLVMConstInt(lo->i32, loop->span.begin, false));
    kj_store_field(lo, fault, offsetof(kj_host_fault, halted_why), kj_word(lo, why));
    LLVMBuildBr(lo->b, lo->fail);
}

static LLVMValueRef load_halt(kj_lower *lo)
{
    LLVMValueRef word = LLVMBuildLoad2(lo->b, lo->i32, lo->halt, "halt");
    LLVMSetOrdering(word, LLVMAtomicOrderingMonotonic);
    LLVMSetAlignment(word, 4);
    return word;
}

static LLVMValueRef is_none(kj_lower *lo, LLVMValueRef word)
{
    return LLVMBuildICmp(lo->b, LLVMIntEQ, word, LLVMConstInt(lo->i32, KJ_HALT_NONE, false), "");
}

static void look(kj_lower *lo, const kj_tstmt *loop)
{
    LLVMValueRef word = load_halt(lo);
    LLVMBasicBlockRef on = kj_new_block(lo, "on"), halted = kj_new_block(lo, "halted");
    LLVMBuildCondBr(lo->b, is_none(lo, word), on, halted);
    LLVMPositionBuilderAtEnd(lo->b, halted);
    write_place(lo, loop, word);
    LLVMPositionBuilderAtEnd(lo->b, on);
}

void kj_halt_poll_block(kj_lower *lo)
{
    if (lo->halt)
        look(lo, NULL);
}

/* Of all loops together: else one of few turns within another would never come to look. */
static LLVMValueRef is_due(kj_lower *lo)
{
    enum { EVERY = 256 };
    LLVMValueRef one = LLVMConstInt(lo->i32, 1, false),
                 rest = LLVMConstInt(lo->i32, EVERY - 1, false);
    LLVMValueRef n = LLVMBuildAdd(lo->b, LLVMBuildLoad2(lo->b, lo->i32, lo->turns, ""), one, "");
    LLVMBuildStore(lo->b, n, lo->turns);
    n = LLVMBuildAnd(lo->b, n, rest, "");
    return LLVMBuildICmp(lo->b, LLVMIntEQ, n, LLVMConstNull(lo->i32), "");
}

void kj_halt_poll(kj_lower *lo, const kj_tstmt *loop)
{
    if (!lo->halt || !kj_is_long(loop))
        return;
    if (!lo->target->far_halt) {
        look(lo, loop);
        return;
    }
    LLVMBasicBlockRef due = kj_new_block(lo, "due"), on = kj_new_block(lo, "turn");
    LLVMBuildCondBr(lo->b, is_due(lo), due, on);
    LLVMPositionBuilderAtEnd(lo->b, due);
    look(lo, loop);
    LLVMBuildBr(lo->b, on);
    LLVMPositionBuilderAtEnd(lo->b, on);
}

void kj_halt_poll_wait(kj_lower *lo, LLVMBasicBlockRef again, LLVMBasicBlockRef end)
{
    if (!lo->halt) {
        LLVMBuildBr(lo->b, again);
        return;
    }
    LLVMBasicBlockRef due = kj_new_block(lo, "due");
    LLVMBuildCondBr(lo->b, is_due(lo), due, again);
    LLVMPositionBuilderAtEnd(lo->b, due);
    LLVMBuildCondBr(lo->b, is_none(lo, load_halt(lo)), again, end);
}
