/* Builtins of integers: products, sums and shifts of which more than the type's bits count. */
#include "lower/tile/tile.h"

/* The product of twice the bits; LLVM knows what its upper half is. */
kj_tile kj_lower_mulhi(kj_lower *lo, kj_tile a, kj_tile b)
{
    unsigned bits = (unsigned)kj_types[a.type].bits;
    bool sign = kj_is_signed(a.type);
    int rows = a.rows > b.rows ? a.rows : b.rows, lanes = a.lanes > b.lanes ? a.lanes : b.lanes;
    kj_tile out = kj_tile_like(a.type, rows, lanes);
    LLVMTypeRef narrow = kj_vec(lo, a.type, lanes), wide = LLVMIntTypeInContext(lo->ctx, 2 * bits);
    LLVMValueRef places = LLVMConstInt(wide, bits, false);
    if (lanes > 1) {
        wide = LLVMVectorType(wide, (unsigned)lanes);
        places = kj_splat(lo, places, lanes);
    }
    for (int r = 0; r < rows; r++) {
        LLVMValueRef v[2] = {kj_tile_vector(lo, a, r, lanes), kj_tile_vector(lo, b, r, lanes)};
        for (int i = 0; i < 2; i++)
            v[i] =
                sign ? LLVMBuildSExt(lo->b, v[i], wide, "") : LLVMBuildZExt(lo->b, v[i], wide, "");
        LLVMValueRef product = LLVMBuildMul(lo->b, v[0], v[1], "");
        out.v[r] = LLVMBuildTrunc(lo->b, LLVMBuildLShr(lo->b, product, places, ""), narrow, "");
    }
    return out;
}

static kj_tile op(kj_lower *lo, kj_op o, kj_tile a, kj_tile b)
{
    return kj_tile_binary(lo, o, a, b);
}

static kj_tile with(kj_lower *lo, kj_op o, kj_tile a, int64_t b)
{
    return op(lo, o, a, kj_tile_const(lo, kj_int(a.type, b)));
}

kj_tile kj_lower_saturated(kj_lower *lo, kj_tile a, kj_tile b, bool minus)
{
    const char *name = kj_is_signed(a.type) ? minus ? "llvm.ssub.sat" : "llvm.sadd.sat"
                       : minus              ? "llvm.usub.sat"
                                            : "llvm.uadd.sat";
    return kj_tile_intrinsic(lo, name, (kj_tile[]){a, b}, 2);
}

/* What both have and half of what one has: a sum would need a bit more. */
kj_tile kj_lower_half_sum(kj_lower *lo, kj_tile a, kj_tile b, bool up)
{
    kj_tile half = with(lo, KJ_OP_SHR, op(lo, KJ_OP_XOR, a, b), 1);
    return up ? op(lo, KJ_OP_SUB, op(lo, KJ_OP_OR, a, b), half)
              : op(lo, KJ_OP_ADD, op(lo, KJ_OP_AND, a, b), half);
}

kj_tile kj_lower_sad(kj_lower *lo, const kj_tile *v)
{
    kj_tile less = op(lo, KJ_OP_LT, v[0], v[1]);
    kj_tile size =
        kj_tile_select(lo, less, op(lo, KJ_OP_SUB, v[1], v[0]), op(lo, KJ_OP_SUB, v[0], v[1]));
    return op(lo, KJ_OP_ADD, size, v[2]);
}

/* LLVM's take the count modulo the width. */
kj_tile kj_lower_funnel(kj_lower *lo, const kj_tile *v, bool left, bool clamps)
{
    kj_tile count = kj_tile_convert(lo, v[2], v[0].type);
    kj_tile out =
        kj_tile_intrinsic(lo, left ? "llvm.fshl" : "llvm.fshr", (kj_tile[]){v[1], v[0], count}, 3);
    if (!clamps)
        return out;
    kj_tile beyond =
        with(lo, KJ_OP_GE, kj_tile_convert(lo, v[2], KJ_U32), kj_types[v[0].type].bits);
    return kj_tile_select(lo, beyond, v[left ? 0 : 1], out);
}

/* ---- Words of four bytes ---- */

kj_tile kj_lower_byte_perm(kj_lower *lo, const kj_tile *v)
{
    kj_tile word[3];
    for (int i = 0; i < 3; i++)
        word[i] = kj_tile_convert(lo, kj_tile_convert(lo, v[i], KJ_U32), i < 2 ? KJ_U64 : KJ_U32);
    kj_tile both = op(lo, KJ_OP_OR, with(lo, KJ_OP_SHL, word[1], 32), word[0]);
    kj_tile out = kj_tile_const(lo, kj_int(KJ_U32, 0));
    for (int i = 0; i < 4; i++) {
        kj_tile place = with(lo, KJ_OP_AND, with(lo, KJ_OP_SHR, word[2], 4 * i), 7);
        place = kj_tile_convert(lo, with(lo, KJ_OP_MUL, place, 8), KJ_U64);
        kj_tile byte = kj_tile_convert(lo, op(lo, KJ_OP_SHR, both, place), KJ_U32);
        byte = with(lo, KJ_OP_SHL, with(lo, KJ_OP_AND, byte, 255), 8 * i);
        out = op(lo, KJ_OP_OR, out, byte);
    }
    return kj_tile_convert(lo, out, v[0].type);
}

/* Piece i of so many bits as a number of the word's type. */
static kj_tile piece_of(kj_lower *lo, kj_tile word, int bits, int i)
{
    kj_tile top = with(lo, KJ_OP_SHL, word, 32 - bits * (i + 1));
    return with(lo, KJ_OP_SHR, top, 32 - bits);
}

kj_tile kj_lower_dot_pieces(kj_lower *lo, const kj_tile *v, int pieces, int from)
{
    kj_tile sum = v[2];
    for (int i = 0; i < pieces; i++) {
        kj_tile a = piece_of(lo, v[0], 32 / pieces, i), b = piece_of(lo, v[1], 8, from + i);
        sum = op(lo, KJ_OP_ADD, sum, op(lo, KJ_OP_MUL, a, b));
    }
    return sum;
}
