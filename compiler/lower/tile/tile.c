/* Tiles: the values of a gang's threads, combined by broadcasting; and masks, the threads that run.
 *
 * Index arithmetic stays scalar as long as it is linear in the lane, and a comparison of a linear
 * tile with a uniform bound is kept as the count of lanes it holds for. That is what makes `i =
 * grid(1); if i < n { x[i] ... }` vector loads behind one scalar test. */
#include "lower/tile/tile.h"
#include "lang/half.h"

#include <llvm/Config/llvm-config.h>
#include <stdio.h>
#include <string.h>

/* ---- Making tiles ---- */

kj_tile kj_tile_like(kj_dtype t, int rows, int lanes)
{
    kj_tile tile = {.type = t, .rows = (uint8_t)rows, .lanes = (uint8_t)lanes};
    if (kj_is_int(t))
        tile.bounds = kj_type_bounds(t);
    return tile;
}

kj_tile kj_tile_scalar(kj_dtype t, LLVMValueRef v)
{
    kj_tile tile = kj_tile_like(t, 1, 1);
    tile.v[0] = v;
    return tile;
}

kj_tile kj_tile_const(kj_lower *lo, kj_value v)
{
    LLVMTypeRef type = lo->types[v.type];
    if (kj_is_half(v.type))
        return kj_tile_scalar(v.type, LLVMConstInt(type, kj_half_write(v.type, v.f), false));
    if (kj_is_float(v.type))
        return kj_tile_scalar(v.type, LLVMConstReal(type, v.f));
    kj_tile t = kj_tile_scalar(v.type, LLVMConstInt(type, v.type == KJ_BOOL ? v.u & 1 : v.u, true));
    if (kj_is_signed(v.type))
        kj_bound(&t, v.i, v.i > 0 ? v.u : 0);
    else if (kj_is_int(v.type))
        kj_bound(&t, v.i > 0 ? v.i : 0, v.u);
    return t;
}

kj_tile kj_tile_int(kj_lower *lo, int64_t i)
{
    return kj_tile_const(lo, kj_int(KJ_I64, i));
}

int kj_rows_of(const kj_lower *lo, uint8_t dep)
{
    return dep & KJ_DEP_Y && !lo->flat ? lo->rows : 1;
}

int kj_lanes_of(const kj_lower *lo, uint8_t dep)
{
    return dep & (lo->flat ? KJ_DEP_THREAD : KJ_DEP_X) ? lo->lanes : 1;
}

static bool is_compare(kj_op op)
{
    return kj_ops[op].class == KJ_OPS_COMPARE;
}

/* ---- Forms ---- */

LLVMValueRef kj_iota(LLVMTypeRef type, int lanes, int64_t stride)
{
    LLVMValueRef v[KJ_MAX_LANES];
    for (int l = 0; l < lanes; l++)
        v[l] = LLVMConstInt(type, (uint64_t)(l * stride), true);
    return LLVMConstVector(v, (unsigned)lanes);
}

/* ---- Narrow tiles: 64-bit integers known to fit 32 bits take half the registers ---- */

static bool fits_i32(kj_tile t)
{
    return kj_bits(t) <= 31;
}

static bool can_narrow(kj_tile t)
{
    return t.type == KJ_I64 && fits_i32(t);
}

static LLVMValueRef to_i32(kj_lower *lo, LLVMValueRef v, int lanes)
{
    return LLVMBuildTrunc(lo->b, v, kj_vec(lo, KJ_I32, lanes), "");
}

/* The same numbers as an i32 tile, and back. */
static kj_tile as_i32(kj_lower *lo, kj_tile t)
{
    for (int r = 0; r < t.rows && !t.narrow; r++)
        t.v[r] = to_i32(lo, t.v[r], kj_is_line(t) ? 1 : t.lanes);
    t.narrow = false;
    t.type = KJ_I32;
    return t;
}

static kj_tile as_narrow(kj_lower *lo, kj_tile t)
{
    t.type = KJ_I64;
    t.narrow = t.lanes > 1 || lo->target->narrows;
    for (int r = 0; r < t.rows && !t.narrow; r++)
        t.v[r] = LLVMBuildSExt(lo->b, t.v[r], lo->i64, "");
    return t;
}

kj_tile kj_tile_narrow(kj_lower *lo, kj_tile t)
{
    return t.type == KJ_I64 && !t.narrow ? as_narrow(lo, as_i32(lo, t)) : t;
}

kj_tile kj_tile_dense(kj_lower *lo, kj_tile t)
{
    t.wraps = false;
    if (t.form == KJ_DENSE)
        return t;
    t.runs = kj_runs(t);
    if (kj_is_line(t) && can_narrow(t) && t.lanes > 1)
        return as_narrow(lo, kj_tile_dense(lo, as_i32(lo, t)));
    for (int r = 0; r < t.rows; r++) {
        if (kj_is_line(t)) {
            t.v[r] = kj_line_row(lo, t, r);
        } else {
            LLVMValueRef count = kj_splat(lo, LLVMBuildTrunc(lo->b, t.v[r], lo->i8, ""), t.lanes);
            t.v[r] = LLVMBuildICmp(lo->b, LLVMIntULT, kj_iota(lo->i8, t.lanes, 1), count, "");
        }
    }
    t.form = KJ_DENSE;
    t.stride = 0;
    t.even = 0;
    return t;
}

LLVMValueRef kj_tile_vector(kj_lower *lo, kj_tile t, int row, int lanes)
{
    t = kj_tile_dense(lo, t);
    LLVMValueRef v = t.v[t.rows == 1 ? 0 : row];
    if (t.narrow)
        v = LLVMBuildSExt(lo->b, v, kj_vec(lo, KJ_I64, t.lanes), "");
    return t.lanes == 1 ? kj_splat(lo, v, lanes) : v;
}

kj_tile kj_tile_spread(kj_lower *lo, kj_tile t, int rows, int lanes)
{
    t = kj_tile_dense(lo, t);
    kj_tile out = t;
    for (int r = 0; r < rows; r++)
        out.v[r] = kj_tile_vector(lo, t, r, lanes);
    out.rows = (uint8_t)rows;
    out.lanes = (uint8_t)lanes;
    out.narrow = false;
    return out;
}

kj_tile kj_tile_wide(kj_lower *lo, kj_tile t)
{
    return kj_tile_spread(lo, t, t.rows, t.lanes);
}

static int max_int(int a, int b)
{
    return a > b ? a : b;
}

/* A tile of the extents that a and b have together. */
static kj_tile joined(kj_dtype type, kj_tile a, kj_tile b)
{
    return kj_tile_like(type, max_int(a.rows, b.rows), max_int(a.lanes, b.lanes));
}

/* ---- Arithmetic ---- */

LLVMValueRef kj_float_binary(kj_lower *lo, kj_op op, LLVMValueRef a, LLVMValueRef b)
{
    LLVMBuilderRef B = lo->b;
    switch (op) {
    case KJ_OP_ADD: return LLVMBuildFAdd(B, a, b, "");
    case KJ_OP_SUB: return LLVMBuildFSub(B, a, b, "");
    case KJ_OP_MUL: return LLVMBuildFMul(B, a, b, "");
    case KJ_OP_DIV: return LLVMBuildFDiv(B, a, b, "");
    case KJ_OP_EQ: return LLVMBuildFCmp(B, LLVMRealOEQ, a, b, "");
    case KJ_OP_NE: return LLVMBuildFCmp(B, LLVMRealUNE, a, b, "");
    case KJ_OP_LT: return LLVMBuildFCmp(B, LLVMRealOLT, a, b, "");
    case KJ_OP_LE: return LLVMBuildFCmp(B, LLVMRealOLE, a, b, "");
    case KJ_OP_GT: return LLVMBuildFCmp(B, LLVMRealOGT, a, b, "");
    default: return LLVMBuildFCmp(B, LLVMRealOGE, a, b, "");
    }
}

static LLVMValueRef umin(kj_lower *lo, LLVMValueRef a, LLVMValueRef b)
{
    return LLVMBuildSelect(lo->b, LLVMBuildICmp(lo->b, LLVMIntULT, a, b, ""), a, b, "");
}

/* A count of the width or more, which one below 0 is too, shifts all bits out. Processors' shifts of
 * vectors do that, and LLVM finds it in this form. */
static LLVMValueRef shifted(kj_lower *lo, kj_op op, kj_dtype type, LLVMValueRef a, LLVMValueRef b)
{
    LLVMBuilderRef B = lo->b;
    LLVMTypeRef vec = LLVMTypeOf(b);
    int lanes = LLVMGetTypeKind(vec) == LLVMVectorTypeKind ? (int)LLVMGetVectorSize(vec) : 1;
    LLVMValueRef last = LLVMConstInt(lo->types[type], kj_types[type].bits - 1u, false);
    last = kj_splat(lo, last, lanes);
    LLVMValueRef within = LLVMBuildICmp(B, LLVMIntULE, b, last, "");
    if (op == KJ_OP_SHR && kj_is_signed(type))
        return LLVMBuildAShr(B, a, LLVMBuildSelect(B, within, b, last, ""), "");
    LLVMValueRef inside = op == KJ_OP_SHL ? LLVMBuildShl(B, a, b, "") : LLVMBuildLShr(B, a, b, "");
    return LLVMBuildSelect(B, within, inside, LLVMConstNull(vec), "");
}

/* LLVM 22 leaves it to PTX's shifts of 64 bits to shift all out, which look at 32 bits of the count. */
static LLVMValueRef near_count(kj_lower *lo, kj_tile b, LLVMValueRef count)
{
    if (!lo->sm || kj_types[b.type].bits < 64 ||
        (b.bounds.least >= INT32_MIN && b.bounds.most <= INT32_MAX))
        return count;
    return umin(lo, count, LLVMConstInt(lo->i64, 64, false));
}

static LLVMValueRef int_binary(kj_lower *lo, kj_op op, kj_dtype type, LLVMValueRef a,
                               LLVMValueRef b)
{
    LLVMBuilderRef B = lo->b;
    bool sign = kj_is_signed(type);
    switch (op) {
    case KJ_OP_ADD: return LLVMBuildAdd(B, a, b, "");
    case KJ_OP_SUB: return LLVMBuildSub(B, a, b, "");
    case KJ_OP_MUL: return LLVMBuildMul(B, a, b, "");
    case KJ_OP_SHL: return LLVMBuildShl(B, a, b, "");
    case KJ_OP_SHR: return sign ? LLVMBuildAShr(B, a, b, "") : LLVMBuildLShr(B, a, b, "");
    case KJ_OP_AND: return LLVMBuildAnd(B, a, b, "");
    case KJ_OP_OR: return LLVMBuildOr(B, a, b, "");
    case KJ_OP_XOR: return LLVMBuildXor(B, a, b, "");
    case KJ_OP_EQ: return LLVMBuildICmp(B, LLVMIntEQ, a, b, "");
    case KJ_OP_NE: return LLVMBuildICmp(B, LLVMIntNE, a, b, "");
    case KJ_OP_LT: return LLVMBuildICmp(B, sign ? LLVMIntSLT : LLVMIntULT, a, b, "");
    case KJ_OP_LE: return LLVMBuildICmp(B, sign ? LLVMIntSLE : LLVMIntULE, a, b, "");
    case KJ_OP_GT: return LLVMBuildICmp(B, sign ? LLVMIntSGT : LLVMIntUGT, a, b, "");
    default: return LLVMBuildICmp(B, sign ? LLVMIntSGE : LLVMIntUGE, a, b, "");
    }
}

/* ---- Linear tiles ---- */

static bool small_constant(kj_tile t, int64_t *out)
{
    if (t.lanes != 1 || t.rows != 1 || !LLVMIsAConstantInt(t.v[0]))
        return false;
    *out = LLVMConstIntGetSExtValue(t.v[0]);
    return *out > -(1 << 20) && *out < (1 << 20);
}

/* a op b where that is linear again. */
static bool linear_binary(kj_lower *lo, kj_op op, kj_tile a, kj_tile b, kj_tile *out)
{
    if (!kj_is_int(a.type) || (a.form != KJ_LINEAR && b.form != KJ_LINEAR))
        return false;
    if ((a.lanes > 1 && a.form != KJ_LINEAR) || (b.lanes > 1 && b.form != KJ_LINEAR))
        return false;
    int64_t stride, factor;
    if (op == KJ_OP_ADD)
        stride = a.stride + b.stride;
    else if (op == KJ_OP_SUB)
        stride = a.stride - b.stride;
    else if (op == KJ_OP_MUL && b.form != KJ_LINEAR && small_constant(b, &factor))
        stride = a.stride * factor;
    else if (op == KJ_OP_MUL && a.form != KJ_LINEAR && small_constant(a, &factor))
        stride = b.stride * factor;
    else
        return false;
    if (stride > INT32_MAX || stride < INT32_MIN)
        return false;
    *out = joined(a.type, a, b);
    for (int r = 0; r < out->rows; r++)
        out->v[r] = int_binary(lo, op, a.type, a.v[a.rows == 1 ? 0 : r], b.v[b.rows == 1 ? 0 : r]);
    out->stride = stride;
    out->form = stride ? KJ_LINEAR : KJ_DENSE;
    out->lanes = stride ? out->lanes : 1;
    kj_know(out, op, a, b);
    return true;
}

/* Lanes l with base + l < limit (or <= limit), no lane wrapping: an i32 count. */
static LLVMValueRef count_below(kj_lower *lo, LLVMValueRef base, LLVMValueRef limit, int lanes,
                                bool or_equal)
{
    LLVMTypeRef type = LLVMTypeOf(base);
    LLVMValueRef reached =
        LLVMBuildICmp(lo->b, or_equal ? LLVMIntSLT : LLVMIntSLE, limit, base, "");
    LLVMValueRef room =
        LLVMBuildSub(lo->b, limit, base, ""); /* right as unsigned when limit > base */
    LLVMValueRef most = LLVMConstInt(type, (unsigned)(or_equal ? lanes - 1 : lanes), false);
    room = umin(lo, room, most);
    if (or_equal)
        room = LLVMBuildAdd(lo->b, room, LLVMConstInt(type, 1, false), "");
    LLVMValueRef count = LLVMBuildSelect(lo->b, reached, LLVMConstNull(type), room, "");
    return LLVMBuildIntCast2(lo->b, count, lo->i32, false, "");
}

/* The same where lanes may wrap around: counted when none does, compared one by one on the rare
 * other path. */
static LLVMValueRef compare_guarded(kj_lower *lo, LLVMValueRef base, LLVMValueRef limit, int lanes,
                                    bool or_equal)
{
    LLVMValueRef last = LLVMConstInt(lo->i64, (uint64_t)(INT64_MAX - lanes), true);
    LLVMValueRef safe = LLVMBuildICmp(lo->b, LLVMIntSLE, base, last, ""), out[2];
    LLVMBasicBlockRef from[2] = {kj_new_block(lo, "counted"), kj_new_block(lo, "wrapping")};
    LLVMBasicBlockRef done = kj_new_block(lo, "compared");
    LLVMBuildCondBr(lo->b, safe, from[0], from[1]);
    for (int side = 0; side < 2; side++) {
        LLVMPositionBuilderAtEnd(lo->b, from[side]);
        kj_tile t = kj_tile_like(side ? KJ_I64 : KJ_BOOL, 1, lanes);
        t.form = side ? KJ_LINEAR : KJ_PREFIX;
        t.stride = side;
        t.v[0] = side ? base : count_below(lo, base, limit, lanes, or_equal);
        t = kj_tile_dense(lo, t);
        if (side)
            t.v[0] = LLVMBuildICmp(lo->b, or_equal ? LLVMIntSLE : LLVMIntSLT, t.v[0],
                                   kj_splat(lo, limit, lanes), "");
        out[side] = t.v[0];
        LLVMBuildBr(lo->b, done);
    }
    LLVMPositionBuilderAtEnd(lo->b, done);
    LLVMValueRef both = LLVMBuildPhi(lo->b, LLVMTypeOf(out[0]), "");
    LLVMAddIncoming(both, out, from, 2);
    return both;
}

/* linear < uniform and the like, as a count of lanes. */
static bool linear_compare(kj_lower *lo, kj_op op, kj_tile a, kj_tile b, kj_tile *out)
{
    if (kj_mirrored(op) == op) /* it orders nothing */
        return false;
    if (b.form == KJ_LINEAR && a.lanes == 1) {
        kj_tile swap = a;
        a = b, b = swap;
        op = kj_mirrored(op);
    }
    if (a.form != KJ_LINEAR || a.stride != 1 || b.lanes != 1 || !kj_is_signed(a.type) ||
        kj_types[a.type].bits < 32)
        return false;
    bool wraps = a.wraps, below = op == KJ_OP_LT || op == KJ_OP_LE;
    if (wraps && a.type != KJ_I64)
        return false;
    *out = joined(KJ_BOOL, a, b);
    for (int r = 0; r < out->rows; r++) {
        LLVMValueRef base = a.v[a.rows == 1 ? 0 : r], limit = b.v[b.rows == 1 ? 0 : r];
        bool or_equal = op == KJ_OP_LE || op == KJ_OP_GT;
        out->v[r] = (wraps ? compare_guarded : count_below)(lo, base, limit, a.lanes, or_equal);
    }
    out->form = wraps ? KJ_DENSE : KJ_PREFIX;
    if (!below) /* at or above: the complement */
        *out = kj_tile_unary(lo, KJ_OP_NOT, *out);
    return true;
}

/* Two lines that are as far apart with all lanes, compared once a row. */
static bool parallel_compare(kj_lower *lo, kj_op op, kj_tile a, kj_tile b, kj_tile *out)
{
    if (!is_compare(op) || a.form != KJ_LINEAR || b.form != KJ_LINEAR || a.stride != b.stride ||
        a.wraps || b.wraps || LLVMTypeOf(a.v[0]) != LLVMTypeOf(b.v[0]))
        return false;
    *out = joined(KJ_BOOL, a, b);
    out->lanes = 1;
    for (int r = 0; r < out->rows; r++)
        out->v[r] = int_binary(lo, op, a.type, a.v[a.rows == 1 ? 0 : r], b.v[b.rows == 1 ? 0 : r]);
    return true;
}

/* linear == uniform where a row begins at a multiple of its lanes: the row of one place, and there
 * the lane. Behind a test that some lane is it the second is all that is left. */
static bool linear_equal(kj_lower *lo, kj_op op, kj_tile a, kj_tile b, kj_tile *out)
{
    if (b.form == KJ_LINEAR) {
        kj_tile swap = a;
        a = b, b = swap;
    }
    if ((op != KJ_OP_EQ && op != KJ_OP_NE) || a.form != KJ_LINEAR || a.stride != 1 || b.lanes > 1 ||
        a.even < __builtin_ctz(a.lanes))
        return false;
    LLVMTypeRef type = lo->types[a.type];
    LLVMValueRef low = LLVMConstInt(type, a.lanes - 1u, false), steps = kj_iota(type, a.lanes, 1);
    *out = joined(KJ_BOOL, a, b);
    for (int r = 0; r < out->rows; r++) {
        LLVMValueRef base = a.v[a.rows == 1 ? 0 : r], at = b.v[b.rows == 1 ? 0 : r];
        LLVMValueRef lane = kj_splat(lo, LLVMBuildAnd(lo->b, at, low, ""), a.lanes);
        LLVMValueRef row = LLVMBuildAnd(lo->b, at, LLVMConstNot(low), "");
        row = LLVMBuildICmp(lo->b, LLVMIntEQ, base, row, "");
        lane = LLVMBuildICmp(lo->b, LLVMIntEQ, steps, lane, "");
        out->v[r] = LLVMBuildSelect(lo->b, row, lane, LLVMConstNull(LLVMTypeOf(lane)), "");
    }
    if (op == KJ_OP_NE)
        *out = kj_tile_unary(lo, KJ_OP_NOT, *out);
    return true;
}

/* ---- Operators ---- */

void kj_no_wrap(kj_tile t, kj_op op)
{
    if ((op == KJ_OP_ADD || op == KJ_OP_SUB || op == KJ_OP_MUL) && LLVMIsAInstruction(t.v[0]))
        LLVMSetNSW(t.v[0], true);
}

/* a op b on narrow vectors, where the result fits too; a shift to the right by 32 and more leaves the sign of either
 * width. */
static bool narrow_binary(kj_lower *lo, kj_op op, kj_tile a, kj_tile b, kj_tile *out)
{
    bool vector = a.lanes > 1 || b.lanes > 1;
    if (!can_narrow(a) || !can_narrow(b) || !(vector || lo->target->narrows) || op == KJ_OP_SHL)
        return false;
    if (op == KJ_OP_SHR && !kj_is_natural(b))
        return false;
    bool bits = kj_ops[op].class == KJ_OPS_BITS;
    kj_tile full = joined(KJ_I64, a, b);
    kj_know(&full, op, a, b);
    if (!fits_i32(full) && !bits && !is_compare(op))
        return false;
    kj_tile t =
        kj_tile_binary(lo, op, as_i32(lo, kj_tile_dense(lo, a)), as_i32(lo, kj_tile_dense(lo, b)));
    if (!is_compare(op)) {
        if (lo->target->no_wrap)
            kj_no_wrap(t, op);
        t = as_narrow(lo, t);
        t.bounds = fits_i32(full) ? full.bounds : kj_type_bounds(KJ_I32);
    }
    *out = t;
    return true;
}

kj_tile kj_tile_binary(kj_lower *lo, kj_op op, kj_tile a, kj_tile b)
{
    kj_tile out;
    if (linear_binary(lo, op, a, b, &out) || kj_crossed_binary(lo, op, a, b, &out) ||
        kj_divide_linear(lo, op, a, b, &out) || linear_compare(lo, op, a, b, &out) ||
        linear_equal(lo, op, a, b, &out) || parallel_compare(lo, op, a, b, &out) ||
        kj_divide_runs(lo, op, a, b, &out) || kj_wrap_around(lo, op, a, b, &out) ||
        narrow_binary(lo, op, a, b, &out))
        return out;
    kj_run runs = kj_runs_of(op, a, b);
    bool divides = op == KJ_OP_FLOORDIV || op == KJ_OP_MOD;
    bool shifts = kj_ops[op].class == KJ_OPS_SHIFT && !kj_counts(a.type, b);
    if (divides && kj_is_float(a.type))
        return kj_float_divide(lo, op, a, b);
    if (kj_is_half(a.type))
        return kj_half_binary(lo, op, a, b);
    a = kj_tile_dense(lo, a);
    b = kj_tile_dense(lo, b);
    out = joined(is_compare(op) ? KJ_BOOL : a.type, a, b);
    for (int r = 0; r < out.rows; r++) {
        LLVMValueRef x = kj_tile_vector(lo, a, r, out.lanes),
                     y = kj_tile_vector(lo, b, r, out.lanes);
        if (kj_is_float(a.type))
            out.v[r] = kj_float_binary(lo, op, x, y);
        else if (divides)
            out.v[r] = kj_floor_div(lo, out, a, b, x, y, op == KJ_OP_MOD);
        else
            out.v[r] = shifts ? shifted(lo, op, a.type, x, near_count(lo, b, y))
                              : int_binary(lo, op, a.type, x, y);
    }
    if (kj_is_int(out.type)) {
        kj_know(&out, op, a, b);
        out.runs = runs;
    }
    return out;
}

kj_tile kj_tile_unary(kj_lower *lo, kj_op op, kj_tile a)
{
    if (op == KJ_OP_NEG && kj_is_int(a.type)) {
        kj_tile zero = kj_tile_const(lo, kj_int(a.type, 0));
        return kj_tile_binary(lo, KJ_OP_SUB, zero, a);
    }
    if (kj_is_half(a.type))
        return kj_half_negate(lo, a);
    a = kj_tile_dense(lo, a);
    if (a.narrow)
        return as_narrow(lo, kj_tile_unary(lo, op, as_i32(lo, a)));
    kj_tile out = kj_tile_like(a.type, a.rows, a.lanes);
    for (int r = 0; r < out.rows; r++)
        out.v[r] =
            op == KJ_OP_NEG ? LLVMBuildFNeg(lo->b, a.v[r], "") : LLVMBuildNot(lo->b, a.v[r], "");
    return out;
}

LLVMValueRef kj_float_to_int(kj_lower *lo, LLVMValueRef v, kj_dtype to, LLVMTypeRef type)
{
    LLVMTypeRef overloads[2] = {type, LLVMTypeOf(v)};
    const char *name = kj_is_signed(to) ? "llvm.fptosi.sat" : "llvm.fptoui.sat";
    return kj_intrinsic(lo, name, overloads, 2, &v, 1);
}

static LLVMValueRef convert(kj_lower *lo, LLVMValueRef v, kj_dtype from, kj_dtype to,
                            LLVMTypeRef type)
{
    if (to == KJ_BOOL) {
        LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(v));
        return kj_is_float(from) ? LLVMBuildFCmp(lo->b, LLVMRealUNE, v, zero, "")
                                 : LLVMBuildICmp(lo->b, LLVMIntNE, v, zero, "");
    }
    if (kj_is_float(from))
        return kj_is_float(to) ? LLVMBuildFPCast(lo->b, v, type, "")
                               : lo->target->to_int(lo, v, to, type);
    if (kj_is_float(to))
        return kj_is_signed(from) ? LLVMBuildSIToFP(lo->b, v, type, "")
                                  : LLVMBuildUIToFP(lo->b, v, type, "");
    return LLVMBuildIntCast2(lo->b, v, type, kj_is_signed(from), "");
}

kj_tile kj_tile_convert(kj_lower *lo, kj_tile a, kj_dtype to)
{
    if (a.type == to)
        return a;
    if (kj_is_half(a.type) || kj_is_half(to))
        return kj_half_convert(lo, a, to);
    bool ints = kj_is_int(a.type) && kj_is_int(to);
    bool narrowing = ints && kj_types[to].bits <= kj_types[a.type].bits;
    bool keep = kj_is_line(a) && ints && (narrowing || !a.wraps);
    if (!keep)
        a = kj_tile_dense(lo, a);
    if (a.narrow)
        return kj_tile_convert(lo, as_i32(lo, a), to);
    bool narrows = a.lanes > 1 || lo->target->narrows;
    if (to == KJ_I64 && kj_is_int(a.type) && a.form == KJ_DENSE && narrows && fits_i32(a))
        return as_narrow(lo, kj_tile_convert(lo, a, KJ_I32));
    kj_tile out = kj_tile_like(to, a.rows, a.lanes);
    LLVMTypeRef type = kj_vec(lo, to, keep ? 1 : a.lanes);
    for (int r = 0; r < a.rows; r++)
        out.v[r] = convert(lo, a.v[r], a.type, to, type);
    if (keep) {
        out.form = a.form;
        out.stride = a.stride;
        out.cross = a.cross;
        out.wraps = true;
    }
    kj_bounds all = kj_type_bounds(to);
    out.even = ints ? a.even : 0;
    out.runs = ints ? a.runs : KJ_RUNS_NOT;
    if (ints && !a.wraps && a.bounds.least >= all.least && a.bounds.most <= all.most) {
        out.bounds = a.bounds;
        out.wraps = false;
    }
    return out;
}

kj_tile kj_tile_select(kj_lower *lo, kj_tile test, kj_tile yes, kj_tile no)
{
    test = kj_tile_dense(lo, test);
    bool narrows = lo->target->narrows || yes.lanes > 1 || no.lanes > 1 || test.lanes > 1;
    if (can_narrow(yes) && can_narrow(no) && narrows) {
        yes = as_i32(lo, kj_tile_dense(lo, yes));
        return as_narrow(lo, kj_tile_select(lo, test, yes, as_i32(lo, kj_tile_dense(lo, no))));
    }
    kj_tile out = joined(yes.type, joined(yes.type, yes, no), test);
    for (int r = 0; r < out.rows; r++) {
        LLVMValueRef t = test.lanes == 1 ? test.v[test.rows == 1 ? 0 : r]
                                         : kj_tile_vector(lo, test, r, out.lanes);
        out.v[r] = LLVMBuildSelect(lo->b, t, kj_tile_vector(lo, yes, r, out.lanes),
                                   kj_tile_vector(lo, no, r, out.lanes), "");
    }
    if (kj_is_int(out.type)) {
        out.bounds = kj_either(yes.bounds, no.bounds);
        out.runs = kj_runs_of(KJ_OP_ADD, yes, no);
    }
    return out;
}

kj_tile kj_tile_recast(kj_lower *lo, kj_tile t, kj_dtype to)
{
    kj_tile out = kj_tile_like(to, t.rows, t.lanes);
    for (int r = 0; r < t.rows; r++)
        out.v[r] =
            LLVMBuildBitCast(lo->b, kj_tile_vector(lo, t, r, t.lanes), kj_vec(lo, to, t.lanes), "");
    return out;
}

kj_tile kj_tile_intrinsic(kj_lower *lo, const char *name, const kj_tile *args, int nargs)
{
    if (kj_is_half(args[0].type))
        return kj_half_intrinsic(lo, name, args, nargs);
    if (args[0].type == KJ_F32 && lo->no_fma && strcmp(name, "llvm.fma") == 0)
        return kj_float_fma(lo, args);
    kj_tile out = kj_tile_like(args[0].type, 1, 1);
    for (int i = 0; i < nargs; i++)
        out = joined(out.type, out, args[i]);
    LLVMTypeRef type = kj_vec(lo, out.type, out.lanes);
    for (int r = 0; r < out.rows; r++) {
        LLVMValueRef v[3];
        for (int i = 0; i < nargs; i++)
            v[i] = kj_tile_vector(lo, args[i], r, out.lanes);
        out.v[r] = kj_intrinsic(lo, name, &type, 1, v, (unsigned)nargs);
    }
    return out;
}
