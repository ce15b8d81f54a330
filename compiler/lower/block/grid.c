/* Barriers of the whole grid, grid_sync().
 *
 * A GPU's blocks, all resident, count themselves in memory of the launch's. A CPU runs any number
 * of blocks on few threads: a block that comes to the barrier returns from the entry, and is called
 * again when all have come. Each block then has scratch memory of its own. It begins with the
 * number of the barrier where the block waits, 0 before the first; what runs once for the block
 * has its variables saved there, too. */
#include "lower/block/block.h"

#include <stddef.h>

/* ---- On a CPU ---- */

struct kj_kept {
    kj_kept *next;
    LLVMTypeRef type;
    LLVMValueRef at;
    int64_t saved; /* offset in scratch memory */
};

static bool blocks_return(const kj_lower *lo)
{
    return lo->kernel->grid_sync && lo->target->returns;
}

static LLVMValueRef scratch_at(kj_lower *lo, int64_t offset)
{
    LLVMValueRef index = kj_i64(lo, offset);
    return LLVMBuildGEP2(lo->b, lo->i8, lo->scratch_base, &index, 1, "");
}

/* 8 bytes, in lines of 64. */
static int64_t place(kj_lower *lo)
{
    if (lo->kept_end % KJ_LINE == 0) {
        lo->kept_end = lo->scratch;
        lo->scratch += KJ_LINE;
    }
    lo->kept_end += 8;
    return lo->kept_end - 8;
}

LLVMValueRef kj_kept_alloca(kj_lower *lo, LLVMTypeRef type, const char *name)
{
    LLVMValueRef at = kj_alloca(lo, type, name);
    if (blocks_return(lo)) {
        kj_kept *k = KJ_NEW(lo->arena, kj_kept);
        *k = (kj_kept){.next = lo->kept, .type = type, .at = at, .saved = place(lo)};
        lo->kept = k;
    }
    return at;
}

void kj_kept_value(kj_lower *lo, kj_tile t, LLVMValueRef *at)
{
    *at = NULL;
    if (blocks_return(lo) && !LLVMIsConstant(t.v[0])) {
        *at = kj_kept_alloca(lo, LLVMTypeOf(t.v[0]), "kept");
        LLVMBuildStore(lo->b, t.v[0], *at);
    }
}

kj_tile kj_kept_read(kj_lower *lo, kj_tile t, LLVMValueRef at)
{
    if (at)
        t.v[0] = LLVMBuildLoad2(lo->b, LLVMGetAllocatedType(at), at, "");
    return t;
}

void kj_grid_open(kj_lower *lo)
{
    if (lo->kernel->grid_sync)
        place(lo);
}

void kj_grid_resume(kj_lower *lo)
{
    if (!lo->kernel->grid_sync)
        return;
    LLVMValueRef barrier = LLVMBuildLoad2(lo->b, lo->i32, scratch_at(lo, 0), "barrier");
    LLVMBasicBlockRef begin = kj_new_block(lo, "begin");
    lo->resume = LLVMBuildSwitch(lo->b, barrier, begin, 1);
    LLVMPositionBuilderAtEnd(lo->b, begin);
}

void kj_grid_wait(kj_lower *lo)
{
    LLVMValueRef number = LLVMConstInt(lo->i32, (unsigned)++lo->nwaits, false);
    LLVMBasicBlockRef resume = kj_new_block(lo, "resume");
    for (const kj_kept *k = lo->kept; k; k = k->next)
        LLVMBuildStore(lo->b, LLVMBuildLoad2(lo->b, k->type, k->at, ""), scratch_at(lo, k->saved));
    LLVMBuildStore(lo->b, number, scratch_at(lo, 0));
    LLVMBuildRet(lo->b, LLVMConstInt(lo->i32, KJ_HOST_WAITS, false));
    LLVMAddCase(lo->resume, number, resume);
    LLVMPositionBuilderAtEnd(lo->b, resume);
    for (const kj_kept *k = lo->kept; k; k = k->next)
        LLVMBuildStore(lo->b, LLVMBuildLoad2(lo->b, k->type, scratch_at(lo, k->saved), ""), k->at);
}
