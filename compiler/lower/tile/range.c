/* The tests of range(): is a value inside, and may it go a step further? On tiles, so that loops of
 * a gang and loops of the block share them. */
#include "lower/tile/tile.h"

/* Is `i` before the range's end? A step of 0 has none before it. */
kj_tile kj_in_range(kj_lower *lo, kj_tile i, kj_tile stop, kj_tile step)
{
    kj_tile zero = kj_tile_const(lo, kj_int(step.type, 0));
    bool up = kj_is_positive(step);
    bool constant = step.lanes == 1 && step.rows == 1 && LLVMIsAConstantInt(step.v[0]);
    if (up)
        return kj_tile_binary(lo, KJ_OP_LT, i, stop);
    if (constant && LLVMConstIntGetSExtValue(step.v[0]) < 0 && kj_is_signed(step.type))
        return kj_tile_binary(lo, KJ_OP_GT, i, stop);
    kj_tile rising = kj_tile_binary(lo, KJ_OP_GT, step, zero),
            falling = kj_tile_binary(lo, KJ_OP_LT, step, zero);
    rising = kj_tile_binary(lo, KJ_OP_AND, rising, kj_tile_binary(lo, KJ_OP_LT, i, stop));
    falling = kj_tile_binary(lo, KJ_OP_AND, falling, kj_tile_binary(lo, KJ_OP_GT, i, stop));
    return kj_tile_binary(lo, KJ_OP_OR, rising, falling);
}

/* Is the range's end more than a step away? Exact where i + step would wrap around. */
kj_tile kj_step_fits(kj_lower *lo, kj_tile i, kj_tile stop, kj_tile step)
{
    kj_tile zero = kj_tile_const(lo, kj_int(step.type, 0)),
            left = kj_tile_binary(lo, KJ_OP_SUB, stop, i);
    kj_tile down = kj_tile_binary(lo, KJ_OP_LT, step, zero), size = step;
    left = kj_tile_select(lo, down, kj_tile_unary(lo, KJ_OP_NEG, left), left);
    size = kj_tile_select(lo, down, kj_tile_unary(lo, KJ_OP_NEG, size), size);
    kj_dtype types[] = {[KJ_I8] = KJ_U8, [KJ_I16] = KJ_U16, [KJ_I32] = KJ_U32, [KJ_I64] = KJ_U64};
    if (kj_is_signed(step.type)) {
        size = kj_tile_convert(lo, size, types[step.type]);
        left = kj_tile_convert(lo, left, types[step.type]);
    }
    return kj_tile_binary(lo, KJ_OP_LT, size, left);
}

bool kj_is_unit_step(kj_tile step)
{
    if (step.lanes > 1 || step.rows > 1 || !LLVMIsAConstantInt(step.v[0]))
        return false;
    int64_t by = LLVMConstIntGetSExtValue(step.v[0]);
    return by == 1 || (by == -1 && kj_is_signed(step.type));
}
