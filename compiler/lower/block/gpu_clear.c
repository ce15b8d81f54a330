/* Shared arrays of untrusted kernels on a GPU: whatever other blocks have left in that memory, a block begins with
 * zeros there. */
#include "lower/block/block.h"

enum { WORD = 4 };

static LLVMValueRef constant(kj_lower *lo, int64_t i)
{
    return LLVMConstInt(lo->i32, (uint64_t)i, true);
}

/* The number of this thread in its block, and how many there are. */
static LLVMValueRef thread_of(kj_lower *lo, LLVMValueRef *threads)
{
    LLVMValueRef thread = constant(lo, 0);
    *threads = constant(lo, 1);
    for (int axis = 2; axis >= 0; axis--) {
        int64_t known = lo->kernel->block[axis];
        LLVMValueRef n = known ? constant(lo, known) : lo->extent[axis];
        LLVMValueRef at = known == 1 ? constant(lo, 0) : lo->thread[axis].v[0];
        thread = LLVMBuildAdd(lo->b, LLVMBuildMul(lo->b, thread, n, ""), at, "");
        *threads = LLVMBuildMul(lo->b, *threads, n, "");
    }
    return thread;
}

/* The block's threads, side by side, write zeros. */
static void clear(kj_lower *lo, LLVMValueRef base, LLVMValueRef bytes, int width)
{
    LLVMTypeRef type = width == WORD ? lo->i32 : lo->i8;
    LLVMValueRef threads, size = constant(lo, width), thread = thread_of(lo, &threads);
    LLVMValueRef first = LLVMBuildMul(lo->b, thread, size, "");
    LLVMBasicBlockRef before = LLVMGetInsertBlock(lo->b), head = kj_new_block(lo, "clear"),
                      body = kj_new_block(lo, "zero"), done = kj_new_block(lo, "cleared");
    LLVMBuildBr(lo->b, head);
    LLVMPositionBuilderAtEnd(lo->b, head);
    LLVMValueRef at = LLVMBuildPhi(lo->b, lo->i32, "at");
    LLVMBuildCondBr(lo->b, LLVMBuildICmp(lo->b, LLVMIntSLT, at, bytes, ""), body, done);
    LLVMPositionBuilderAtEnd(lo->b, body);
    LLVMValueRef to = LLVMBuildGEP2(lo->b, lo->i8, base, &at, 1, "");
    LLVMBuildStore(lo->b, LLVMConstNull(type), to);
    LLVMValueRef next = LLVMBuildAdd(lo->b, at, LLVMBuildMul(lo->b, threads, size, ""), "");
    LLVMBuildBr(lo->b, head);
    LLVMAddIncoming(at, (LLVMValueRef[]){first, next}, (LLVMBasicBlockRef[]){before, body}, 2);
    LLVMPositionBuilderAtEnd(lo->b, done);
}

void kj_gpu_clear_shared(kj_lower *lo, LLVMValueRef dynamic, LLVMValueRef bytes)
{
    const kj_tkernel *k = lo->kernel;
    bool any = dynamic != NULL;
    if (!k->untrusted)
        return;
    for (int i = 0; i < k->nroots; i++) {
        const kj_tarray *a = k->roots[i];
        if (a->space != KJ_SHARED || lo->roots[i] == dynamic ||
            !LLVMIsAGlobalVariable(lo->roots[i]))
            continue;
        int64_t size = a->static_count * kj_elem_size(a);
        clear(lo, lo->roots[i], constant(lo, size), size % WORD == 0 ? WORD : 1);
        any = true;
    }
    if (dynamic)
        clear(lo, dynamic, bytes, WORD);
    if (any)
        kj_block_barrier(lo);
}
