/* Integers whose lanes are one apart, or all the same, only as it happens: rows and columns of a
 * linear index, indices that are kept within an array. Code that looks which it is takes such rows
 * for what they mostly are. */
#include "lower/tile/tile.h"

#include <string.h>

static bool is_apart(kj_tile t)
{
    return t.lanes > 1 && (kj_runs(t) == KJ_RUNS_NOT || kj_runs(t) == KJ_RUNS_TWICE);
}

/* A line times a number has steps of that number. */
kj_run kj_runs_of(kj_op op, kj_tile a, kj_tile b)
{
    if (op == KJ_OP_SUB && kj_runs(a) == KJ_RUNS_TWICE && b.lanes > 1 && !is_apart(b))
        return KJ_RUNS_OFTEN;
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

/* Of a tile, rows that two blocks come with: `first` from the first of them, its own from the other. */
static void join_rows(kj_lower *lo, LLVMBasicBlockRef from[2], const LLVMValueRef *first,
                      kj_tile *t)
{
    for (int r = 0; r < t->rows; r++) {
        LLVMValueRef v = LLVMBuildPhi(lo->b, LLVMTypeOf(t->v[r]), "");
        LLVMAddIncoming(v, (LLVMValueRef[]){first[r], t->v[r]}, from, 2);
        t->v[r] = v;
    }
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
    join_rows(lo, from, rows, &t);
    t.runs = KJ_RUNS_OFTEN;
    *out = t;
    return true;
}

/* ---- Neighbours on a torus ---- */

static LLVMValueRef also(kj_lower *lo, LLVMValueRef known, LLVMIntPredicate op, LLVMValueRef x,
                         LLVMValueRef y)
{
    return LLVMBuildAnd(lo->b, known, LLVMBuildICmp(lo->b, op, x, y, ""), "");
}

/* Is each row of `a` within 0..b-1, or within b..2b-1, with all of its lanes? first[]: what its first lanes leave. */
static LLVMValueRef no_border(kj_lower *lo, kj_tile a, kj_tile b, int rows, LLVMValueRef *first)
{
    LLVMTypeRef type = lo->types[a.type];
    uint64_t highest = ((uint64_t)1 << (kj_types[a.type].bits - 1)) - 1, more = a.lanes - 1u;
    LLVMValueRef zero = LLVMConstNull(type), inside = LLVMConstInt(lo->i1, 1, false);
    for (int r = 0; r < rows; r++) {
        LLVMValueRef x = a.v[a.rows == 1 ? 0 : r], y = b.v[b.rows == 1 ? 0 : r];
        LLVMValueRef beyond = LLVMBuildICmp(lo->b, LLVMIntSGE, x, y, "");
        LLVMValueRef room = LLVMBuildSub(lo->b, y, LLVMConstInt(type, more, false), "");
        first[r] = LLVMBuildSub(lo->b, x, LLVMBuildSelect(lo->b, beyond, y, zero, ""), "");
        inside = also(lo, inside, LLVMIntSGE, x, zero);
        inside = also(lo, inside, LLVMIntSGT, y, zero);
        inside = also(lo, inside, LLVMIntSLT, first[r], room);
        if (a.wraps)
            inside = also(lo, inside, LLVMIntSLE, x, LLVMConstInt(type, highest - more, false));
    }
    return inside;
}

/* Does `a` count threads, from elsewhere than where a gang begins? */
static bool is_beside(kj_tile a)
{
    if (a.form != KJ_LINEAR)
        return a.lanes == 1 && a.rows > 1 && a.form == KJ_DENSE;
    return a.stride == 1 && a.even < __builtin_ctz(a.lanes);
}

static kj_tile row_of(kj_tile t, int row)
{
    t.v[0] = t.v[t.rows == 1 ? 0 : row];
    t.rows = 1;
    return t;
}

static kj_tile each_row(kj_lower *lo, kj_op op, kj_tile a, kj_tile b, int rows)
{
    kj_tile out = kj_tile_binary(lo, op, row_of(a, 0), row_of(b, 0));
    out.rows = (uint8_t)rows;
    for (int r = 1; r < rows; r++)
        out.v[r] = kj_tile_binary(lo, op, row_of(a, r), row_of(b, r)).v[0];
    return out;
}

/* Are the lanes of each row all within -b..2b-1, which is next to what b divides to 0? Of a b that twice of fits. */
static LLVMValueRef is_next(kj_lower *lo, kj_tile a, kj_tile b, int rows)
{
    LLVMTypeRef type = lo->types[a.type];
    uint64_t largest = (uint64_t)1 << (kj_types[a.type].bits - 3);
    LLVMValueRef lanes = LLVMConstInt(type, a.lanes, false),
                 most = LLVMConstInt(type, largest, false);
    LLVMValueRef zero = LLVMConstNull(type), next = LLVMConstInt(lo->i1, 1, false);
    for (int r = 0; r < rows; r++) {
        LLVMValueRef x = a.v[a.rows == 1 ? 0 : r], y = b.v[b.rows == 1 ? 0 : r];
        LLVMValueRef twice = LLVMBuildSub(lo->b, LLVMBuildAdd(lo->b, y, y, ""), lanes, "");
        next = also(lo, next, LLVMIntSGT, y, zero);
        next = also(lo, next, LLVMIntSLT, y, most);
        next = also(lo, next, LLVMIntSGE, x, LLVMBuildNeg(lo->b, y, ""));
        next = also(lo, next, LLVMIntSLE, x, twice);
    }
    return next;
}

/* Then: less by b, or more, where it is not within 0..b-1. */
static kj_tile brought_in(kj_lower *lo, kj_tile a, kj_tile b)
{
    kj_tile beyond = kj_tile_binary(lo, KJ_OP_GE, a, b), less = kj_tile_binary(lo, KJ_OP_SUB, a, b);
    kj_tile below = kj_tile_binary(lo, KJ_OP_LT, a, kj_tile_const(lo, kj_int(a.type, 0)));
    kj_tile more = kj_tile_binary(lo, KJ_OP_ADD, a, b);
    return kj_tile_select(lo, beyond, less, kj_tile_select(lo, below, more, a));
}

/* Another block's tile of the same numbers, with rows of one type. */
static void as_other(kj_lower *lo, kj_tile *t, kj_tile other)
{
    *t = kj_tile_dense(lo, *t);
    for (int r = 0; r < t->rows && t->narrow != other.narrow; r++)
        t->v[r] = t->narrow ? kj_tile_vector(lo, *t, r, t->lanes)
                            : LLVMBuildTrunc(lo->b, t->v[r], LLVMTypeOf(other.v[r]), "");
}

/* A row that crosses a border, nearly always once: without a division, if it is so near. */
static kj_tile at_border(kj_lower *lo, kj_op op, kj_tile a, kj_tile b, int rows)
{
    if (a.lanes == 1)
        return each_row(lo, op, kj_tile_dense(lo, a), b, rows);
    LLVMBasicBlockRef from[2] = {kj_new_block(lo, "next"), kj_new_block(lo, "far")},
                      done = kj_new_block(lo, "brought");
    LLVMBuildCondBr(lo->b, is_next(lo, a, b, rows), from[0], from[1]);
    LLVMPositionBuilderAtEnd(lo->b, from[1]);
    kj_tile far = each_row(lo, op, kj_tile_dense(lo, a), b, rows), near = a;
    from[1] = LLVMGetInsertBlock(lo->b);
    LLVMBuildBr(lo->b, done);
    LLVMPositionBuilderAtEnd(lo->b, from[0]);
    near.wraps = false;
    near = brought_in(lo, kj_tile_dense(lo, near), b);
    near.bounds = far.bounds;
    as_other(lo, &near, far);
    from[0] = LLVMGetInsertBlock(lo->b);
    LLVMBuildBr(lo->b, done);
    LLVMPositionBuilderAtEnd(lo->b, done);
    join_rows(lo, from, near.v, &far);
    return far;
}

bool kj_wrap_around(kj_lower *lo, kj_op op, kj_tile a, kj_tile b, kj_tile *out)
{
    if (op != KJ_OP_MOD || b.lanes > 1 || b.narrow || a.narrow || kj_is_known(b) ||
        !kj_is_signed(a.type) || kj_types[a.type].bits < 32 || lo->lanes == 1 || !is_beside(a))
        return false;
    LLVMValueRef first[KJ_MAX_ROWS];
    LLVMBasicBlockRef from[2] = {kj_new_block(lo, "within"), kj_new_block(lo, "border")},
                      done = kj_new_block(lo, "wrapped");
    kj_tile side[2] = {a, a};
    side[0].rows = a.rows > b.rows ? a.rows : b.rows;
    LLVMBuildCondBr(lo->b, no_border(lo, a, b, side[0].rows, first), from[0], from[1]);
    LLVMPositionBuilderAtEnd(lo->b, from[1]);
    side[1] = at_border(lo, op, a, b, side[0].rows);
    from[1] = LLVMGetInsertBlock(lo->b);
    LLVMBuildBr(lo->b, done);
    LLVMPositionBuilderAtEnd(lo->b, from[0]);
    memcpy(side[0].v, first, sizeof first);
    side[0].bounds = side[1].bounds;
    as_other(lo, &side[0], side[1]);
    LLVMBuildBr(lo->b, done);
    LLVMPositionBuilderAtEnd(lo->b, done);
    *out = side[1];
    out->runs = a.lanes > 1 ? KJ_RUNS_OFTEN : KJ_RUNS_NOT;
    join_rows(lo, from, side[0].v, out);
    return true;
}
