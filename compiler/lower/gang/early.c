/* Functions of floats that all threads of a launch have in common, as pow(beta, step) is behind a guard: they are
 * called in front of the blocks, once for all that a worker runs next, with the sums and products that they are
 * made of. LLVM leaves them where they stand, since it does not know that they may be called for nothing. */
#include "lower/gang/gang.h"

typedef struct kj_early {
    struct kj_early *next;
    const kj_texpr *e;
    LLVMValueRef operands[1 + KJ_BUILTIN_ARGS];
    kj_tile out;
} kj_early;

static bool is_there(const kj_lower *lo, kj_tile t)
{
    return t.rows == 1 && t.lanes == 1 &&
           (LLVMIsConstant(t.v[0]) ||
            (LLVMIsAInstruction(t.v[0]) && LLVMGetInstructionParent(t.v[0]) == lo->front));
}

/* Straight code without effects, of floats? */
static bool is_plain(const kj_texpr *e)
{
    switch (e->kind) {
    case KJ_TE_UNARY:
    case KJ_TE_FMA: return true;
    case KJ_TE_BINARY:
        return e->u.binary.op == KJ_OP_ADD || e->u.binary.op == KJ_OP_SUB ||
               e->u.binary.op == KJ_OP_MUL || e->u.binary.op == KJ_OP_DIV;
    case KJ_TE_CONVERT: return kj_is_int(e->u.unary.arg->type) || kj_is_float(e->u.unary.arg->type);
    case KJ_TE_CALL:
        return kj_builtins[e->u.call.id].how == KJ_HOW_MATH ||
               kj_builtins[e->u.call.id].how == KJ_HOW_LLVM;
    default: return false;
    }
}

bool kj_is_early(const kj_lower *lo, const kj_texpr *e, const kj_tile *operands, int n)
{
    bool plain =
        lo->front && !e->checked && (e->type == KJ_F32 || e->type == KJ_F64) && is_plain(e);
    bool constant = true;
    for (int i = 0; i < n && plain; i++) {
        plain = is_there(lo, operands[i]);
        constant = constant && plain && LLVMIsConstant(operands[i].v[0]);
    }
    return plain && !constant;
}

/* Of two copies of a statement, one before. */
static const kj_early *find(const kj_lower *lo, const kj_texpr *e, const kj_tile *operands, int n)
{
    for (const kj_early *c = lo->early; c; c = c->next) {
        bool same = c->e == e;
        for (int i = 0; i < n && same; i++)
            same = c->operands[i] == operands[i].v[0];
        if (same)
            return c;
    }
    return NULL;
}

kj_tile kj_operate_early(kj_lower *lo, const kj_texpr *e, kj_tile *operands, int n, kj_mask m)
{
    const kj_early *before = find(lo, e, operands, n);
    if (before)
        return before->out;
    kj_early *fresh = KJ_NEW(lo->arena, kj_early);
    LLVMBasicBlockRef here = LLVMGetInsertBlock(lo->b);
    LLVMPositionBuilderBefore(lo->b, LLVMGetBasicBlockTerminator(lo->front));
    *fresh = (kj_early){.next = lo->early, .e = e};
    for (int i = 0; i < n; i++)
        fresh->operands[i] = operands[i].v[0];
    fresh->out = kj_operate(lo, e, operands, m);
    LLVMPositionBuilderAtEnd(lo->b, here);
    lo->early = fresh;
    return fresh->out;
}
