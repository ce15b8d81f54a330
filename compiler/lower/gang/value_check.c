/* Tests of values where they are made (analysis/values.c): of floats, is it finite if its operands are; of
 * integers, is it what 64 bits give; of operations
 * of warps, does the mask say who is there. */
#include <string.h>

#include "lower/gang/gang.h"

/* x - x is 0 for a finite number, and NaN for others. */
static kj_tile is_finite(kj_lower *lo, kj_tile x)
{
    kj_tile zero = kj_tile_binary(lo, KJ_OP_SUB, x, x);
    return kj_tile_binary(lo, KJ_OP_EQ, zero, zero);
}

static kj_mask finite_as_operands(kj_lower *lo, const kj_tile *values, int n, kj_mask m)
{
    kj_mask wrong = kj_mask_andnot(lo, m, kj_mask_of(is_finite(lo, values[0])));
    for (int i = 1; i < n; i++)
        if (kj_is_float(values[i].type))
            wrong = kj_mask_and(lo, wrong, kj_mask_of(is_finite(lo, values[i])));
    return wrong;
}

static kj_mask wrapped(kj_lower *lo, const kj_texpr *e, const kj_tile *values, kj_mask m)
{
    kj_tile wide[3];
    for (int i = 0; i < 3; i++)
        wide[i] = kj_tile_convert(lo, values[i], KJ_I64);
    bool shifts = e->u.binary.op == KJ_OP_SHL; /* 64 bits may not do for it: back again, then */
    kj_tile got = shifts ? kj_tile_binary(lo, KJ_OP_SHR, wide[0], wide[2])
                         : kj_tile_binary(lo, e->u.binary.op, wide[1], wide[2]);
    kj_mask right = kj_mask_of(kj_tile_binary(lo, KJ_OP_EQ, got, wide[shifts ? 1 : 0]));
    return kj_mask_andnot(lo, m, right);
}

/* Ends the launch for the threads of `wrong`; the others go on. */
static void fail(kj_lower *lo, const kj_site *site, const kj_tile *values, kj_mask wrong)
{
    kj_tile told[1 + KJ_BUILTIN_ARGS];
    LLVMBasicBlockRef outside = kj_new_block(lo, "wrong"), on = kj_new_block(lo, "right");
    LLVMBuildCondBr(lo->b, kj_mask_any(lo, wrong), outside, on);
    LLVMPositionBuilderAtEnd(lo->b, outside);
    for (int i = 0; i < site->nvalues; i++)
        told[i] = kj_tile_full(lo, values[i]);
    kj_lower_report(lo, site, told, wrong);
    LLVMPositionBuilderAtEnd(lo->b, on);
}

void kj_lower_value_check(kj_lower *lo, const kj_texpr *e, const kj_tile *values, kj_mask m)
{
    fail(lo, e->checked, values,
         kj_is_float(e->type) ? finite_as_operands(lo, values, e->checked->nvalues, m)
                              : wrapped(lo, e, values, m));
}

/* ---- Operations of warps ---- */

void kj_alive_begin(kj_lower *lo, kj_mask m)
{
    kj_mask_slot slot = kj_mask_new(lo, "alive", m);
    memcpy(lo->alive, slot.at, sizeof lo->alive);
}

static kj_mask alive(kj_lower *lo)
{
    kj_mask_slot slot;
    memcpy(slot.at, lo->alive, sizeof slot.at);
    return kj_mask_load(lo, &slot);
}

void kj_alive_leave(kj_lower *lo, const kj_tblock *block, kj_mask m)
{
    if (!lo->alive[0] || block != lo->kernel->body)
        return;
    kj_mask left = kj_mask_andnot(lo, alive(lo), m);
    for (int r = 0; r < lo->rows; r++)
        LLVMBuildStore(lo->b, kj_mask_row(lo, left, r, lo->lanes), lo->alive[r]);
}

/* The threads of each row, a bit each. */
static kj_tile bits_of(kj_lower *lo, kj_mask m)
{
    kj_tile out = kj_tile_like(KJ_U32, lo->rows, 1);
    for (int r = 0; r < lo->rows; r++)
        out.v[r] = LLVMBuildTrunc(lo->b, kj_row_bits(lo, m, r), lo->i32, "");
    return out;
}

/* A GPU's thread knows of itself alone. */
void kj_lower_warp_check(kj_lower *lo, const kj_texpr *e, kj_tile members, kj_mask m)
{
    kj_tile one = kj_tile_const(lo, kj_int(KJ_U32, 1)), none = kj_tile_const(lo, kj_int(KJ_U32, 0));
    members = kj_tile_convert(lo, members, KJ_U32);
    kj_tile lane = kj_tile_convert(lo, lo->lane, KJ_U32);
    kj_tile own = kj_tile_binary(lo, KJ_OP_AND, kj_tile_binary(lo, KJ_OP_SHR, members, lane), one);
    kj_mask wrong = kj_mask_andnot(lo, m, kj_mask_of(kj_tile_binary(lo, KJ_OP_EQ, own, one)));
    if (lo->alive[0]) {
        kj_mask away = kj_mask_andnot(lo, alive(lo), m);
        kj_tile missing = kj_tile_binary(lo, KJ_OP_AND, members, bits_of(lo, away));
        kj_mask lacks = kj_mask_of(kj_tile_binary(lo, KJ_OP_NE, missing, none));
        wrong = kj_mask_or(lo, wrong, kj_mask_and(lo, m, lacks));
        if (members.lanes > 1)
            wrong = kj_mask_or(lo, wrong, kj_mask_andnot(lo, m, kj_warp_agrees(lo, members, m)));
    }
    fail(lo, e->checked, (kj_tile[]){members, lo->lane}, wrong);
}
