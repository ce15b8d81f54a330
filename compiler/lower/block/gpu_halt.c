/* When blocks of a GPU look whether their launch is to end: before they begin, and behind each barrier of the grid. What
 * loops do is in gang/halt.c. */
#include <stddef.h>

#include "lower/block/block.h"
#include "lower/nvptx/nvptx.h"

/* All threads of the block leave, or none does: what one of them was to do others wait for, or believe that it is
 * done. */
void kj_halt_leave_together(kj_lower *lo)
{
    LLVMValueRef word = LLVMBuildLoad2(lo->b, lo->i32, lo->near_halt, "halt");
    LLVMValueRef is = LLVMBuildICmp(lo->b, LLVMIntNE, word, LLVMConstInt(lo->i32, 0, false), "");
    LLVMValueRef any = kj_gpu_barrier(lo, "llvm.nvvm.barrier.cta.red.or.aligned.all", is);
    if (LLVMTypeOf(any) != lo->i1)
        any = LLVMBuildICmp(lo->b, LLVMIntNE, any, LLVMConstNull(LLVMTypeOf(any)), "");
    LLVMBasicBlockRef halted = kj_new_block(lo, "halted"), on = kj_new_block(lo, "on");
    LLVMBuildCondBr(lo->b, any, halted, on);
    LLVMPositionBuilderAtEnd(lo->b, halted);
    kj_halt_tell(lo);
    LLVMPositionBuilderAtEnd(lo->b, on);
}

LLVMValueRef kj_gpu_clock(kj_lower *lo)
{
    return kj_intrinsic(lo, "llvm.nvvm.read.ptx.sreg.clock64", NULL, 0, NULL, 0);
}

/* Of the clock's parts of 2^20 cycles one in 32, which differs from block to block. */
static LLVMValueRef is_its_time(kj_lower *lo, LLVMValueRef block)
{
    enum { CYCLES_LOG2 = 20, PARTS = 32, BLOCKS_LOG2 = 8 };
    LLVMValueRef part = LLVMBuildLShr(lo->b, kj_gpu_clock(lo), kj_i64(lo, CYCLES_LOG2), "");
    block = LLVMBuildLShr(lo->b, block, kj_i64(lo, BLOCKS_LOG2), "");
    part = LLVMBuildAnd(lo->b, LLVMBuildXor(lo->b, part, block, ""), kj_i64(lo, PARTS - 1), "");
    return LLVMBuildICmp(lo->b, LLVMIntEQ, part, kj_i64(lo, 0), "");
}

/* Whom the block's first thread asks before the block begins. Of the device's memory mostly what its multiprocessor
 * has cached, and each eighth block anew, for all that come behind it there; the host's the first block, and each
 * 256th that begins in its part of the time. */
static void look_first(kj_lower *lo)
{
    enum { NEAR = 8, FAR = 256 };
    LLVMValueRef block = kj_block_number(lo), zero = kj_i64(lo, 0);
    LLVMValueRef near = LLVMBuildAnd(lo->b, block, kj_i64(lo, NEAR - 1), ""),
                 far = LLVMBuildAnd(lo->b, block, kj_i64(lo, FAR - 1), "");
    LLVMBasicBlockRef afresh = kj_new_block(lo, "afresh"), ask = kj_new_block(lo, "ask"),
                      on = kj_new_block(lo, "on");
    LLVMBuildCondBr(lo->b, LLVMBuildICmp(lo->b, LLVMIntEQ, near, zero, ""), afresh, on);
    LLVMPositionBuilderAtEnd(lo->b, afresh);
    kj_nvptx_fence(lo, KJ_BI_THREADFENCE, NULL);
    LLVMValueRef turn = LLVMBuildAnd(lo->b, LLVMBuildICmp(lo->b, LLVMIntEQ, far, zero, ""),
                                     is_its_time(lo, block), "");
    turn = LLVMBuildOr(lo->b, turn, LLVMBuildICmp(lo->b, LLVMIntEQ, block, zero, ""), "");
    LLVMBuildCondBr(lo->b, turn, ask, on);
    LLVMPositionBuilderAtEnd(lo->b, ask);
    kj_halt_ask(lo, on);
    LLVMBuildBr(lo->b, on);
    LLVMPositionBuilderAtEnd(lo->b, on);
}

/* The host's memory, which the report has the address of. */
void kj_halt_find(kj_lower *lo)
{
    if (!lo->kernel->polls)
        return;
    LLVMTypeRef global = LLVMTypeOf(lo->report);
    LLVMValueRef at = kj_byte_offset(lo, lo->report, (int64_t)offsetof(kj_report, halt));
    lo->halt = LLVMBuildLoad2(lo->b, global, at, "halt");
    lo->near_halt = kj_byte_offset(lo, lo->report, (int64_t)offsetof(kj_report, near_halt));
    lo->looked = kj_alloca(lo, lo->i64, "looked");
    lo->looks = kj_alloca(lo, lo->i32, "looks");
    LLVMBuildStore(lo->b, kj_i64(lo, 0), lo->looked);
    LLVMBuildStore(lo->b, LLVMConstInt(lo->i32, 0, false), lo->looks);
    LLVMBasicBlockRef first = kj_new_block(lo, "first"), all = kj_new_block(lo, "all");
    LLVMBuildCondBr(lo->b, kj_is_first_thread(lo), first, all);
    LLVMPositionBuilderAtEnd(lo->b, first);
    look_first(lo);
    LLVMBuildBr(lo->b, all);
    LLVMPositionBuilderAtEnd(lo->b, all);
    kj_halt_leave_together(lo);
}
