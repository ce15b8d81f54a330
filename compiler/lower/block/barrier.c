/* Barriers (syncthreads) of a block of threads that are gangs: a walk over all of them has ended
 * where the next begins, so what is left to do is to check that all came, and to count votes. */
#include "lower/block/block.h"

#include <stddef.h>

/* A sum over the gangs, an i64 in memory. */
typedef struct count {
    LLVMValueRef sum;
    const kj_node *node; /* whose argument is counted; or */
    int64_t active;      /* the scratch offset of bytes that are */
} count;

static void count_join(kj_lower *lo, LLVMValueRef at, kj_mask m)
{
    LLVMValueRef sum = LLVMBuildLoad2(lo->b, lo->i64, at, "");
    for (int r = 0; r < lo->rows; r++) {
        LLVMTypeRef type = LLVMIntTypeInContext(lo->ctx, (unsigned)lo->lanes);
        LLVMValueRef bits = LLVMBuildBitCast(lo->b, kj_mask_row(lo, m, r, lo->lanes), type, "");
        kj_tile word = kj_tile_scalar(KJ_I64, LLVMBuildZExt(lo->b, bits, lo->i64, ""));
        sum = LLVMBuildAdd(lo->b, sum, kj_tile_intrinsic(lo, "llvm.ctpop", &word, 1).v[0], "");
    }
    LLVMBuildStore(lo->b, sum, at);
}

static void gang_count(kj_lower *lo, kj_mask m, void *arg)
{
    const count *c = arg;
    kj_mask set = kj_mask_of(kj_scratch_load(lo, c->active, KJ_BOOL));
    count_join(lo, c->sum, kj_mask_and(lo, set, m));
}

static LLVMValueRef count_active(kj_lower *lo, const kj_level *l)
{
    const int64_t *block = lo->kernel->block;
    if (!l)
        return kj_i64(lo, block[0] * block[1] * block[2]);
    count c = {.sum = kj_alloca(lo, lo->i64, "count"), .active = l->active};
    LLVMBuildStore(lo->b, kj_i64(lo, 0), c.sum);
    kj_gang_each(lo, false, gang_count, &c);
    return LLVMBuildLoad2(lo->b, lo->i64, c.sum, "");
}

static void lower_fault(kj_lower *lo, uint32_t at, LLVMValueRef arrived, LLVMValueRef alive)
{
    LLVMValueRef fault =
        kj_fault_begin(lo, KJ_FAULT_DIVERGENT_BARRIER, LLVMConstInt(lo->i32, at, false),
                       lo->kernel->child, kj_i64(lo, 0));
    kj_store_field(lo, fault, offsetof(kj_host_fault, arrived), arrived);
    kj_store_field(lo, fault, offsetof(kj_host_fault, alive), alive);
    kj_fault_end(lo, fault);
}

/* Counts the threads whose argument is true; or for syncthreads_and false. */
static void gang_vote(kj_lower *lo, kj_mask m, void *arg)
{
    const count *c = arg;
    const kj_tstmt *s = c->node->stmt;
    kj_gang_enter(lo, c->node->region);
    m = kj_level_mask(lo, m, lo->level);
    LLVMBasicBlockRef some = kj_new_block(lo, "some"), done = kj_new_block(lo, "voted");
    LLVMBuildCondBr(lo->b, kj_mask_any(lo, m), some, done);
    LLVMPositionBuilderAtEnd(lo->b, some);
    kj_tile vote = kj_lower_expr(lo, s->u.barrier.arg, m);
    if (s->u.barrier.id == KJ_BI_SYNCTHREADS_AND)
        vote = kj_tile_unary(lo, KJ_OP_NOT, vote);
    count_join(lo, c->sum, kj_mask_and(lo, kj_mask_of(vote), m));
    LLVMBuildBr(lo->b, done);
    LLVMPositionBuilderAtEnd(lo->b, done);
}

static void lower_votes(kj_lower *lo, const kj_node *n)
{
    const kj_tstmt *s = n->stmt;
    count c = {.node = n, .sum = kj_alloca(lo, lo->i64, "count")};
    LLVMBuildStore(lo->b, kj_i64(lo, 0), c.sum);
    kj_gang_each(lo, n->spin != NULL, gang_vote, &c);
    LLVMValueRef votes = LLVMBuildLoad2(lo->b, lo->i64, c.sum, ""), zero = kj_i64(lo, 0), result;
    if (s->u.barrier.id == KJ_BI_SYNCTHREADS_COUNT)
        result = LLVMBuildTrunc(lo->b, votes, lo->i32, "");
    else
        result =
            LLVMBuildICmp(lo->b, s->u.barrier.id == KJ_BI_SYNCTHREADS_AND ? LLVMIntEQ : LLVMIntNE,
                          votes, zero, "");
    LLVMBuildStore(lo->b, result, lo->home[s->u.barrier.result->id].at[0]);
}

/* All threads that have not returned come here, or none. */
static void check_barrier(kj_lower *lo, const kj_node *n)
{
    const kj_level *here = kj_level_deciding(lo->level), *alive = lo->level;
    while (alive && alive->up)
        alive = alive->up;
    alive = kj_level_deciding(alive);
    if (here == alive)
        return;
    LLVMValueRef arrived = count_active(lo, here), living = count_active(lo, alive);
    LLVMValueRef none = LLVMBuildICmp(lo->b, LLVMIntEQ, arrived, kj_i64(lo, 0), "");
    LLVMValueRef all = LLVMBuildICmp(lo->b, LLVMIntEQ, arrived, living, "");
    LLVMBasicBlockRef met = kj_new_block(lo, "met"), apart = kj_new_block(lo, "divergent");
    LLVMBuildCondBr(lo->b, LLVMBuildOr(lo->b, none, all, ""), met, apart);
    LLVMPositionBuilderAtEnd(lo->b, apart);
    lower_fault(lo, n->stmt->span.begin, arrived, living);
    LLVMPositionBuilderAtEnd(lo->b, met);
}

void kj_lower_barrier(kj_lower *lo, const kj_node *n)
{
    kj_replay_pause(lo);
    if (n->stmt->u.barrier.implied)
        return;
    check_barrier(lo, n);
    if (n->stmt->u.barrier.arg) /* what it reads is read before the thread comes */
        lower_votes(lo, n);
    kj_watch_barrier(lo);
    if (n->stmt->u.barrier.id == KJ_BI_GRID_SYNC)
        kj_grid_wait(lo);
}
