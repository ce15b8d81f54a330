/* A GPU's barriers: of a block an instruction, of the grid a counter in global memory. */
#include "lower/block/block.h"
#include "lower/nvptx/nvptx.h"

#include <stddef.h>
#include <string.h>

/* The intrinsic called `name`, where LLVM has it, or the one of before, which takes and gives words. */
LLVMValueRef kj_gpu_barrier(kj_lower *lo, const char *name, LLVMValueRef arg)
{
    static const struct {
        const char *name, *old;
    } olds[] = {
        {"llvm.nvvm.barrier.cta.sync.aligned.all", "llvm.nvvm.barrier0"},
        {"llvm.nvvm.barrier.cta.red.popc.aligned.all", "llvm.nvvm.barrier0.popc"},
        {"llvm.nvvm.barrier.cta.red.and.aligned.all", "llvm.nvvm.barrier0.and"},
        {"llvm.nvvm.barrier.cta.red.or.aligned.all", "llvm.nvvm.barrier0.or"},
    };
    LLVMValueRef args[2] = {LLVMConstInt(lo->i32, 0, false), arg};
    if (LLVMLookupIntrinsicID(name, strlen(name)))
        return kj_intrinsic(lo, name, NULL, 0, args, arg ? 2 : 1);
    const char *old = NULL;
    for (size_t i = 0; i < sizeof olds / sizeof *olds; i++)
        if (strcmp(olds[i].name, name) == 0)
            old = olds[i].old;
    if (arg)
        args[0] = LLVMBuildZExt(lo->b, arg, lo->i32, "");
    return kj_intrinsic(lo, old, NULL, 0, args, arg ? 1 : 0);
}

void kj_block_barrier(kj_lower *lo)
{
    kj_gpu_barrier(lo, kj_builtins[KJ_BI_SYNCTHREADS].symbol, NULL);
}

/* ---- Barriers of the whole grid ---- */

static LLVMValueRef any_bits(kj_lower *lo, LLVMValueRef a, LLVMValueRef b)
{
    return a ? LLVMBuildOr(lo->b, a, b, "") : b;
}

/* Is this the block's first thread? */
LLVMValueRef kj_is_first_thread(kj_lower *lo)
{
    LLVMValueRef bits = NULL, zero = LLVMConstInt(lo->i32, 0, false);
    for (int axis = 0; axis < 3; axis++)
        if (lo->kernel->block[axis] != 1)
            bits = any_bits(lo, bits, lo->thread[axis].v[0]);
    return LLVMBuildICmp(lo->b, LLVMIntEQ, bits ? bits : zero, zero, "");
}

/* The first block adds what is missing to 2^31 when all others have added 1: the highest bit flips
 * when all have come, and the others are 0 again. */
static LLVMValueRef contribution(kj_lower *lo)
{
    LLVMValueRef blocks = LLVMConstInt(lo->i32, 1, false), bits = NULL, one = blocks;
    for (int axis = 0; axis < 3; axis++) {
        blocks = LLVMBuildMul(lo->b, blocks, lo->grid[axis], "");
        bits = any_bits(lo, bits, lo->block[axis]);
    }
    LLVMValueRef first = LLVMBuildICmp(lo->b, LLVMIntEQ, bits, LLVMConstNull(lo->i32), "");
    LLVMValueRef rest = LLVMConstInt(lo->i32, 0x80000001u, false);
    return LLVMBuildSelect(lo->b, first, LLVMBuildSub(lo->b, rest, blocks, ""), one, "");
}

static LLVMValueRef load_volatile(kj_lower *lo, LLVMValueRef at)
{
    LLVMValueRef v = LLVMBuildLoad2(lo->b, lo->i32, at, "");
    LLVMSetVolatile(v, true);
    return v;
}

/* What the block's first thread does for it. */
static void arrive(kj_lower *lo)
{
    kj_nvptx_fence(lo, KJ_BI_THREADFENCE, NULL);
    LLVMValueRef before =
        kj_nvptx_scope(lo,
                       LLVMBuildAtomicRMW(lo->b, LLVMAtomicRMWBinOpAdd, lo->counter,
                                          contribution(lo), LLVMAtomicOrderingMonotonic, false),
                       false);
    LLVMBasicBlockRef wait = kj_new_block(lo, "wait"), turn = kj_new_block(lo, "turn"),
                      met = kj_new_block(lo, "met");
    LLVMBuildBr(lo->b, wait);
    LLVMPositionBuilderAtEnd(lo->b, wait);
    LLVMValueRef flipped = LLVMBuildXor(lo->b, before, load_volatile(lo, lo->counter), "");
    LLVMValueRef done = LLVMBuildICmp(lo->b, LLVMIntSLT, flipped, LLVMConstNull(lo->i32), "");
    if (kj_has_asserts(lo->kernel))
        done = LLVMBuildOr(lo->b, done, kj_has_fault(lo), "");
    LLVMBuildCondBr(lo->b, done, met, turn);
    LLVMPositionBuilderAtEnd(lo->b, turn);
    kj_halt_poll_wait(lo, wait, met);
    LLVMPositionBuilderAtEnd(lo->b, met);
    kj_nvptx_fence(lo, KJ_BI_THREADFENCE, NULL);
}

static void grid_barrier(kj_lower *lo)
{
    LLVMBasicBlockRef first = kj_new_block(lo, "first"), all = kj_new_block(lo, "all");
    kj_block_barrier(lo);
    LLVMBuildCondBr(lo->b, kj_is_first_thread(lo), first, all);
    LLVMPositionBuilderAtEnd(lo->b, first);
    arrive(lo);
    LLVMBuildBr(lo->b, all);
    LLVMPositionBuilderAtEnd(lo->b, all);
    if (lo->near_halt)
        kj_halt_leave_together(lo);
    else
        kj_block_barrier(lo);
    if (kj_has_asserts(lo->kernel)) {
        LLVMBasicBlockRef on = kj_new_block(lo, "on");
        LLVMBuildCondBr(lo->b, kj_has_fault(lo), lo->fail, on);
        LLVMPositionBuilderAtEnd(lo->b, on);
    }
}

/* ---- A barrier of the source ---- */

/* Faults behind a barrier come after those before it. */
static void count_barrier(kj_lower *lo)
{
    if (!lo->stretch)
        return;
    LLVMValueRef passed = LLVMBuildLoad2(lo->b, lo->i32, lo->stretch, "");
    passed = LLVMBuildAdd(lo->b, passed, LLVMConstInt(lo->i32, 1, false), "");
    LLVMBuildStore(lo->b, passed, lo->stretch);
}

void kj_gpu_lower_barrier(kj_lower *lo, const kj_tstmt *s, kj_mask m)
{
    if (s->u.barrier.id == KJ_BI_GRID_SYNC) {
        grid_barrier(lo);
        return;
    }
    const char *name = kj_builtins[s->u.barrier.id].symbol;
    if (!s->u.barrier.arg) {
        kj_gpu_barrier(lo, name, NULL);
        count_barrier(lo);
        return;
    }
    kj_tile vote = kj_lower_expr(lo, s->u.barrier.arg, m);
    count_barrier(lo);
    LLVMValueRef got = kj_gpu_barrier(lo, name, vote.v[0]);
    const kj_var *v = s->u.barrier.result;
    if (v->type == KJ_BOOL && LLVMTypeOf(got) == lo->i32)
        got = LLVMBuildICmp(lo->b, LLVMIntNE, got, LLVMConstInt(lo->i32, 0, false), "");
    kj_slot_begin(lo, v, kj_tile_scalar(v->type, got), m);
}
