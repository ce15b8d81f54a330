/* Integers whose lanes are one apart, or all the same, only as it happens: rows and columns of a
 * linear index, indices that are kept within an array. Code that looks which it is takes such rows
 * for what they mostly are. */
#include "lower/tile/tile.h"

static bool is_apart(kj_tile t)
{
    return t.lanes > 1 && kj_runs(t) == KJ_RUNS_NOT;
}

/* A line times a number has steps of that number. */
kj_run kj_runs_of(kj_op op, kj_tile a, kj_tile b)
{
    bool scaled = op == KJ_OP_MUL || op == KJ_OP_SHL;
    bool line = kj_runs(a) == KJ_RUNS_LINE || kj_runs(b) == KJ_RUNS_LINE;
    if (is_apart(a) || is_apart(b) || (a.lanes == 1 && b.lanes == 1) || (scaled && line))
        return KJ_RUNS_NOT;
    return KJ_RUNS_OFTEN;
}

/* ---- Division ---- */

typedef struct parts {
    LLVMValueRef quotient, remainder; /* of the first lane */
    LLVMValueRef within;              /* all lanes have that quotient */
} parts;

static parts divide_first(kj_lower *lo, LLVMValueRef first, LLVMValueRef by, int lanes,
                          bool is_signed)
{
    LLVMTypeRef type = LLVMTypeOf(first);
    LLVMValueRef none = LLVMBuildICmp(lo->b, LLVMIntEQ, by, LLVMConstNull(type), "");
    LLVMValueRef safe = LLVMBuildSelect(lo->b, none, LLVMConstInt(type, 1, false), by, "");
    parts p;
    p.quotient = LLVMBuildUDiv(lo->b, first, safe, "");
    p.remainder = LLVMBuildSub(lo->b, first, LLVMBuildMul(lo->b, p.quotient, safe, ""), "");
    LLVMValueRef last =
        LLVMBuildAdd(lo->b, p.remainder, LLVMConstInt(type, (unsigned)lanes - 1, false), "");
    /* nothing is within a negative number */
    LLVMIntPredicate less = is_signed ? LLVMIntSLT : LLVMIntULT;
    p.within = LLVMBuildICmp(lo->b, less, last, by, "");
    return p;
}

/* A row of the result where its lanes have one quotient, in the type that the others have. */
static LLVMValueRef row_within(kj_lower *lo, const parts *p, bool mod, LLVMTypeRef type, int lanes)
{
    LLVMTypeRef scalar = LLVMGetElementType(type);
    LLVMValueRef v = mod ? p->remainder : p->quotient;
    v = kj_splat(lo, LLVMBuildIntCast2(lo->b, v, scalar, false, ""), lanes);
    return mod ? LLVMBuildAdd(lo->b, v, kj_iota(scalar, lanes, 1), "") : v;
}

bool kj_divide_runs(kj_lower *lo, kj_op op, kj_tile a, kj_tile b, kj_tile *out)
{
    bool mod = op == KJ_OP_MOD;
    if ((!mod && op != KJ_OP_FLOORDIV) || a.form != KJ_LINEAR || a.stride != 1 || a.wraps ||
        b.lanes > 1 || b.rows > 1 || !kj_is_natural(a) || kj_is_known(b))
        return false;
    LLVMBasicBlockRef one = kj_new_block(lo, "one"), several = kj_new_block(lo, "several"),
                      done = kj_new_block(lo, "done"), from[2];
    parts p[KJ_MAX_ROWS];
    LLVMValueRef within = NULL, by = kj_tile_vector(lo, b, 0, 1);
    for (int r = 0; r < a.rows; r++) {
        LLVMValueRef first = LLVMBuildFreeze(lo->b, a.v[r], "");
        p[r] = divide_first(lo, first, by, a.lanes, kj_is_signed(a.type));
        within = within ? LLVMBuildAnd(lo->b, within, p[r].within, "") : p[r].within;
    }
    LLVMBuildCondBr(lo->b, within, one, several);
    LLVMPositionBuilderAtEnd(lo->b, several);
    kj_tile t = kj_tile_binary(lo, op, kj_tile_dense(lo, a), b);
    from[1] = LLVMGetInsertBlock(lo->b);
    LLVMBuildBr(lo->b, done);
    LLVMPositionBuilderAtEnd(lo->b, one);
    LLVMValueRef rows[KJ_MAX_ROWS];
    for (int r = 0; r < t.rows; r++)
        rows[r] = row_within(lo, &p[r], mod, LLVMTypeOf(t.v[r]), t.lanes);
    from[0] = LLVMGetInsertBlock(lo->b);
    LLVMBuildBr(lo->b, done);
    LLVMPositionBuilderAtEnd(lo->b, done);
    for (int r = 0; r < t.rows; r++) {
        LLVMValueRef v = LLVMBuildPhi(lo->b, LLVMTypeOf(t.v[r]), "");
        LLVMAddIncoming(v, (LLVMValueRef[]){rows[r], t.v[r]}, from, 2);
        t.v[r] = v;
    }
    t.runs = KJ_RUNS_OFTEN;
    *out = t;
    return true;
}
