/* Lowering: values of a gang, and the masks of its threads. */
#ifndef KJ_LOWER_TILE_H
#define KJ_LOWER_TILE_H

#include "lower/ir/ir.h"

/* ---- tile.c ---- */

kj_tile kj_tile_const(kj_lower *lo, kj_value v);
kj_tile kj_tile_scalar(kj_dtype t, LLVMValueRef v);
kj_tile kj_tile_int(kj_lower *lo, int64_t i); /* i64 */
/* A dense tile of that extent whose v[] is still to be filled; nothing known of its values. */
kj_tile kj_tile_like(kj_dtype t, int rows, int lanes);
kj_tile kj_tile_dense(kj_lower *lo, kj_tile t); /* the form DENSE */
LLVMValueRef kj_tile_vector(kj_lower *lo, kj_tile t, int row,
                            int lanes); /* row `row` broadcast to lanes */
kj_tile kj_tile_spread(kj_lower *lo, kj_tile t, int rows, int lanes); /* dense and broadcast */
kj_tile kj_tile_binary(kj_lower *lo, kj_op op, kj_tile a, kj_tile b);
kj_tile kj_tile_unary(kj_lower *lo, kj_op op, kj_tile a);
kj_tile kj_tile_convert(kj_lower *lo, kj_tile a, kj_dtype to);
kj_tile kj_tile_select(kj_lower *lo, kj_tile test, kj_tile yes, kj_tile no);
/* The same bits as another type of that size. */
kj_tile kj_tile_recast(kj_lower *lo, kj_tile t, kj_dtype to);
/* A float as an integer type: saturating, NaN is 0. */
LLVMValueRef kj_float_to_int(kj_lower *lo, LLVMValueRef v, kj_dtype to, LLVMTypeRef type);
/* An operator on floats of LLVM's. */
LLVMValueRef kj_float_binary(kj_lower *lo, kj_op op, LLVMValueRef a, LLVMValueRef b);
/* Notes that a scalar a op b, just made, does not leave its type's range. */
void kj_no_wrap(kj_tile t, kj_op op);
LLVMValueRef kj_iota(LLVMTypeRef type, int lanes, int64_t stride); /* 0, stride, 2 stride, ... */
kj_tile kj_tile_wide(kj_lower *lo, kj_tile t);                     /* dense, and not narrow */
kj_tile kj_tile_narrow(kj_lower *lo, kj_tile t); /* an i64 that is known to fit: narrow */
/* Calls the overloaded intrinsic on dense tiles of one type, elementwise. */
kj_tile kj_tile_intrinsic(kj_lower *lo, const char *name, const kj_tile *args, int nargs);
/* The extents that dependence `dep` gives a value in this gang. */
int kj_rows_of(const kj_lower *lo, uint8_t dep);
int kj_lanes_of(const kj_lower *lo, uint8_t dep);

/* ---- half.c ---- */

kj_tile kj_half_binary(kj_lower *lo, kj_op op, kj_tile a, kj_tile b);
kj_tile kj_half_negate(kj_lower *lo, kj_tile a);
kj_tile kj_half_convert(kj_lower *lo, kj_tile a, kj_dtype to); /* one of the types is a half */
kj_tile kj_half_intrinsic(kj_lower *lo, const char *name, const kj_tile *args, int nargs);
kj_tile kj_half_widen(kj_lower *lo, kj_tile a); /* f32 where it is a half, else itself */
/* p + c, floats of one type, rounded to odd: to round that to half of its digits is as if the sum had been. */
kj_tile kj_odd_sum(kj_lower *lo, kj_tile p, kj_tile c);
/* The type of LLVM's that the target's instructions take. */
LLVMTypeRef kj_half_type(kj_lower *lo, kj_dtype type, int lanes);

/* ---- float.c ---- */

kj_tile kj_float_divide(kj_lower *lo, kj_op op, kj_tile a, kj_tile b); /* // and % */
/* a * b + c of f32, rounded once, on CPUs without such an instruction. */
kj_tile kj_float_fma(kj_lower *lo, const kj_tile abc[3]);
/* The smaller or the larger of two: of a number and NaN the number, -0.0 being less than 0.0. */
kj_tile kj_float_extreme(kj_lower *lo, kj_tile a, kj_tile b, bool max);
kj_tile kj_float_copysign(kj_lower *lo, kj_tile a, kj_tile sign);
/* A result that, where it is 0, has the sign of x. */
kj_tile kj_float_signed_zero(kj_lower *lo, kj_tile result, kj_tile x);
kj_tile kj_lower_min(kj_lower *lo, kj_tile a, kj_tile b, bool max);

/* ---- bounds.c ---- */

kj_bounds kj_type_bounds(kj_dtype t);
kj_bounds kj_either(kj_bounds a, kj_bounds b); /* of values that are within one of the two */
void kj_bound(kj_tile *t, int64_t least, uint64_t most); /* narrows what is known of t */
int kj_bits(kj_tile t);                                  /* the least b with -2^b <= value < 2^b */

static inline bool kj_is_natural(kj_tile t)
{
    return t.bounds.least >= 0;
}

static inline bool kj_is_positive(kj_tile t)
{
    return t.bounds.least > 0;
}

static inline bool kj_is_known(kj_tile t) /* a constant */
{
    return t.bounds.least == (int64_t)t.bounds.most;
}

/* Notes in t, a tile of the result's type, what follows from its being a op b. */
void kj_know(kj_tile *t, kj_op op, kj_tile a, kj_tile b);
bool kj_counts(kj_dtype type, kj_tile b); /* is it a shift count of less than the width? */
/* In t, the variable of a loop over range(start, stop, step), what it may be inside the loop; with
 * `beyond` also before the first test and where a step leads to behind the last value. */
void kj_know_range(kj_tile *t, kj_tile start, kj_tile stop, kj_tile step, bool beyond);

/* ---- divide.c ---- */

/* A linear tile divided by a power of two, where no row's lanes have a multiple between them: in
 * `out` one number, or the remainders, linear again. False where that is not so. */
bool kj_divide_linear(kj_lower *lo, kj_op op, kj_tile a, kj_tile b, kj_tile *out);
/* a // b, or with `mod` a % b: total, by zero both are 0. The values a and b of the tiles ta and tb
 * have the extents of a row of t. */
LLVMValueRef kj_floor_div(kj_lower *lo, kj_tile t, kj_tile ta, kj_tile tb, LLVMValueRef a,
                          LLVMValueRef b, bool mod);

/* ---- runs.c ---- */

static inline kj_run kj_runs(kj_tile t)
{
    if (t.form != KJ_LINEAR)
        return t.runs;
    return t.stride == 1 ? KJ_RUNS_LINE : t.stride == 2 ? KJ_RUNS_TWICE : KJ_RUNS_NOT;
}
/* What a op b is, or what is chosen of a and b (KJ_OP_ADD). */
kj_run kj_runs_of(kj_op op, kj_tile a, kj_tile b);
/* A line divided by one number, which is looked at: rows whose lanes have one quotient are not
 * divided lane by lane. False where it is none. */
bool kj_divide_runs(kj_lower *lo, kj_op op, kj_tile a, kj_tile b, kj_tile *out);
/* a % b of neighbours on a torus, `(x - 1) % n`: without a division where the gang has no border in it. False
 * where it does not look like that. */
bool kj_wrap_around(kj_lower *lo, kj_op op, kj_tile a, kj_tile b, kj_tile *out);

/* ---- crossed.c ---- */

/* Is a row one scalar, from which the lanes follow? */
static inline bool kj_is_line(kj_tile t)
{
    return t.form == KJ_LINEAR || t.form == KJ_CROSSED;
}
/* `i ^ u`, where i's rows begin at multiples of their lanes and u is one number, and what is that much more or less.
 * False where it is none. */
bool kj_crossed_binary(kj_lower *lo, kj_op op, kj_tile a, kj_tile b, kj_tile *out);
/* A row of a line as a vector. */
LLVMValueRef kj_line_row(kj_lower *lo, kj_tile t, int row);

/* ---- range.c ---- */

/* Of range(): is `i` before the end; is the end more than a step away; is the step 1 or -1. */
kj_tile kj_in_range(kj_lower *lo, kj_tile i, kj_tile stop, kj_tile step);
kj_tile kj_step_fits(kj_lower *lo, kj_tile i, kj_tile stop, kj_tile step);
bool kj_is_unit_step(kj_tile step);

/* ---- integer.c ---- */

kj_tile kj_lower_mulhi(kj_lower *lo, kj_tile a, kj_tile b);
kj_tile kj_lower_saturated(kj_lower *lo, kj_tile a, kj_tile b, bool minus);
kj_tile kj_lower_half_sum(kj_lower *lo, kj_tile a, kj_tile b, bool up);
kj_tile kj_lower_sad(kj_lower *lo, const kj_tile *v);
/* v: lo, hi and the count, an i32 */
kj_tile kj_lower_funnel(kj_lower *lo, const kj_tile *v, bool left, bool clamps);
kj_tile kj_lower_byte_perm(kj_lower *lo, const kj_tile *v);
/* v[2] and the products of the pieces of v[0] and the bytes of v[1], from byte `from` on. */
kj_tile kj_lower_dot_pieces(kj_lower *lo, const kj_tile *v, int pieces, int from);

/* ---- bits.c ---- */

kj_tile kj_lower_clz(kj_lower *lo, kj_tile a);
kj_tile kj_lower_ffs(kj_lower *lo, kj_tile a);
/* One of the two results. */
kj_tile kj_lower_modf(kj_lower *lo, int part, kj_tile x);
kj_tile kj_lower_frexp(kj_lower *lo, int part, kj_tile x);
kj_tile kj_lower_ldexp(kj_lower *lo, kj_tile x, kj_tile e); /* e: i32 */
kj_tile kj_lower_nextafter(kj_lower *lo, kj_tile x, kj_tile y);

/* ---- math.c ---- */

/* A function of the math library. */
kj_tile kj_lower_math(kj_lower *lo, kj_builtin id, const kj_tile *args, int nargs);

/* ---- fast.c ---- */

/* Marks an operation that the source writes as one that @fastmath may change; returns it. */
kj_tile kj_relaxed(kj_lower *lo, kj_tile t);

/* ---- random.c ---- */

kj_tile kj_lower_random(kj_lower *lo, const kj_texpr *e, const kj_tile *args);

/* ---- mask.c ---- */

extern const kj_mask kj_all, kj_none;
kj_mask kj_mask_of(kj_tile t);
kj_mask kj_mask_and(kj_lower *lo, kj_mask m, kj_mask n);
kj_mask kj_mask_or(kj_lower *lo, kj_mask m, kj_mask n);
kj_mask kj_mask_andnot(kj_lower *lo, kj_mask m, kj_mask n);
LLVMValueRef kj_mask_any(kj_lower *lo, kj_mask m);  /* i1 */
LLVMValueRef kj_mask_full(kj_lower *lo, kj_mask m); /* i1: all of the gang's lanes */
/* Is it that of all threads that the gang has? Known while compiling. */
bool kj_is_present(const kj_lower *lo, kj_mask m);
LLVMValueRef kj_mask_within(kj_lower *lo, kj_mask m,
                            kj_mask n); /* i1: each thread of m is one of n */
LLVMValueRef kj_mask_row(kj_lower *lo, kj_mask m, int row,
                         int lanes); /* <lanes x i1>, or an i1 for 1: any of the row */
/* The mask reduced to rows x lanes: an element is set when any of those it stands for is. */
kj_mask kj_mask_reduce(kj_lower *lo, kj_mask m, int rows, int lanes);

#endif
