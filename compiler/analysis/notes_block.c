/* The block that a kernel requires: what its conditions say blockDim is, as `requires blockDim.x == TILE`, else no more threads
 * than @launch_bounds allows. */
#include "analysis/notes.h"

/* `blockDim.x == 16`, of a kernel whose block is not known. */
static void take_equal(const kj_texpr *a, const kj_texpr *b, int64_t block[3])
{
    a = kj_unconverted(a);
    b = kj_unconverted(b);
    if (a->kind == KJ_TE_INDEX && a->u.index.which == KJ_BLOCK_DIM && b->kind == KJ_TE_CONST &&
        b->u.value.i >= 1 && b->u.value.i <= KJ_BLOCK_THREADS)
        block[a->u.index.axis] = b->u.value.i;
}

static void take_test(const kj_texpr *e, int64_t block[3])
{
    bool both = e->kind == KJ_TE_LOGIC && !e->u.logic.is_or;
    kj_op op = e->kind == KJ_TE_BINARY ? e->u.binary.op : KJ_NOPS;
    if (both || (op == KJ_OP_AND && e->type == KJ_BOOL)) {
        take_test(both ? e->u.logic.lhs : e->u.binary.lhs, block);
        take_test(both ? e->u.logic.rhs : e->u.binary.rhs, block);
    } else if (op == KJ_OP_EQ) {
        take_equal(e->u.binary.lhs, e->u.binary.rhs, block);
        take_equal(e->u.binary.rhs, e->u.binary.lhs, block);
    }
}

void kj_required_block(const kj_tkernel *kernel, int64_t block[3])
{
    int64_t wanted[3] = {0, 0, 0};
    for (const kj_trequire *r = kernel->requires; r; r = r->next)
        take_test(r->test, wanted);
    int most = kernel->launch_bounds[0];
    if (!wanted[0] && !wanted[1] && !wanted[2]) {
        block[0] = most && most < block[0] ? most : block[0];
        return;
    }
    wanted[0] = wanted[0] ? wanted[0] : KJ_WARP_THREADS;
    wanted[1] = wanted[1] ? wanted[1] : 1;
    wanted[2] = wanted[2] ? wanted[2] : 1;
    if (wanted[0] * wanted[1] * wanted[2] > KJ_BLOCK_THREADS)
        return;
    for (int i = 0; i < 3; i++)
        block[i] = wanted[i];
}
