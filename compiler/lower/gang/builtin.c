/* Builtin functions on tiles: LLVM's intrinsics, the math library's functions, and a few of our
 * own. */
#include "base/guard.h"
#include "lower/lower.h"
#include "target/mathlib.h"

#include <math.h>

kj_tile kj_lower_min(kj_lower *lo, kj_tile a, kj_tile b, bool max)
{
    if (kj_is_float(a.type))
        return kj_float_extreme(lo, a, b, max);
    return kj_tile_select(lo, kj_tile_binary(lo, max ? KJ_OP_GT : KJ_OP_LT, a, b), a, b);
}

/* ---- Code of our own, a function a row ---- */

/* part: which of the results. */
typedef kj_tile code_fn(kj_lower *lo, kj_builtin id, int part, const kj_tile *args);

static kj_tile code_extreme(kj_lower *lo, kj_builtin id, int part, const kj_tile *args)
{
    (void)part;
    return kj_lower_min(lo, args[0], args[1], id == KJ_BI_MAX);
}

static kj_tile code_clamp(kj_lower *lo, kj_builtin id, int part, const kj_tile *args)
{
    (void)id, (void)part;
    return kj_lower_min(lo, kj_lower_min(lo, args[0], args[1], true), args[2], false);
}

static kj_tile code_abs(kj_lower *lo, kj_builtin id, int part, const kj_tile *args)
{
    kj_tile a = args[0];
    (void)id, (void)part;
    if (kj_is_float(a.type))
        return kj_tile_intrinsic(lo, "llvm.fabs", &a, 1);
    if (!kj_is_signed(a.type))
        return a;
    a = kj_tile_dense(lo, a);
    kj_tile negative = kj_tile_binary(lo, KJ_OP_LT, a, kj_tile_const(lo, kj_int(a.type, 0)));
    return kj_tile_select(lo, negative, kj_tile_unary(lo, KJ_OP_NEG, a), a);
}

static kj_tile code_ceil_div(kj_lower *lo, kj_builtin id, int part, const kj_tile *args)
{
    kj_tile a = args[0], b = args[1], rest = kj_tile_binary(lo, KJ_OP_MOD, a, b);
    kj_tile up = kj_tile_binary(lo, KJ_OP_NE, rest, kj_tile_const(lo, kj_int(a.type, 0)));
    (void)id, (void)part;
    return kj_tile_binary(lo, KJ_OP_ADD, kj_tile_binary(lo, KJ_OP_FLOORDIV, a, b),
                          kj_tile_convert(lo, up, a.type));
}

static kj_tile code_selp(kj_lower *lo, kj_builtin id, int part, const kj_tile *args)
{
    (void)id, (void)part;
    return kj_tile_select(lo, args[0], args[1], args[2]);
}

static kj_tile code_bits(kj_lower *lo, kj_builtin id, int part, const kj_tile *args)
{
    (void)part;
    return (id == KJ_BI_CLZ ? kj_lower_clz : kj_lower_ffs)(lo, args[0]);
}

static kj_tile code_parts(kj_lower *lo, kj_builtin id, int part, const kj_tile *args)
{
    return (id == KJ_BI_MODF ? kj_lower_modf : kj_lower_frexp)(lo, part, args[0]);
}

static kj_tile code_of_two(kj_lower *lo, kj_builtin id, int part, const kj_tile *args)
{
    (void)part;
    return (id == KJ_BI_LDEXP      ? kj_lower_ldexp
            : id == KJ_BI_COPYSIGN ? kj_float_copysign
                                   : kj_lower_nextafter)(lo, args[0], args[1]);
}

static kj_tile code_kind(kj_lower *lo, kj_builtin id, int part, const kj_tile *args)
{
    (void)part;
    if (id == KJ_BI_ISNAN)
        return kj_tile_binary(lo, KJ_OP_NE, args[0], args[0]);
    kj_tile size = kj_tile_intrinsic(lo, "llvm.fabs", &args[0], 1);
    kj_tile inf = kj_tile_const(lo, kj_float(size.type, INFINITY));
    return kj_tile_binary(lo, id == KJ_BI_ISINF ? KJ_OP_EQ : KJ_OP_LT, size, inf);
}

static code_fn *const codes[KJ_NBUILTINS] = {
    [KJ_BI_MIN] = code_extreme,       [KJ_BI_MAX] = code_extreme,
    [KJ_BI_CLAMP] = code_clamp,       [KJ_BI_ABS] = code_abs,
    [KJ_BI_CEIL_DIV] = code_ceil_div, [KJ_BI_SELP] = code_selp,
    [KJ_BI_CLZ] = code_bits,          [KJ_BI_FFS] = code_bits,
    [KJ_BI_MODF] = code_parts,        [KJ_BI_FREXP] = code_parts,
    [KJ_BI_LDEXP] = code_of_two,      [KJ_BI_NEXTAFTER] = code_of_two,
    [KJ_BI_COPYSIGN] = code_of_two,   [KJ_BI_ISNAN] = code_kind,
    [KJ_BI_ISINF] = code_kind,        [KJ_BI_ISFINITE] = code_kind,
};

static kj_tile lower_code(kj_lower *lo, kj_builtin id, int part, const kj_tile *args)
{
    KJ_REQUIRE(codes[id] != NULL);
    return codes[id](lo, id, part, args);
}

/* ---- The math library ---- */

static LLVMValueRef call_math(kj_lower *lo, kj_builtin id, kj_dtype type, int lanes,
                              LLVMValueRef *args, int nargs)
{
    const kj_math_fn *fn = kj_mathlib_find(id, type, lanes);
    LLVMTypeRef value = kj_vec(lo, type, lanes), params[3] = {value, value, value};
    LLVMTypeRef signature = LLVMFunctionType(value, params, (unsigned)nargs, false);
    LLVMValueRef f = LLVMGetNamedFunction(lo->module, fn->symbol);
    if (!f)
        f = LLVMAddFunction(lo->module, fn->symbol, signature);
    return LLVMBuildCall2(lo->b, signature, f, args, (unsigned)nargs, "");
}

/* Lanes first .. first + n of a vector, zeros beyond its end: the library's functions may look at
 * all lanes together. */
static LLVMValueRef part(kj_lower *lo, LLVMValueRef v, int lanes, int first, int n)
{
    LLVMValueRef index[KJ_MAX_LANES];
    for (int l = 0; l < n; l++)
        index[l] = LLVMConstInt(lo->i32, (unsigned)(first + l < lanes ? first + l : lanes), false);
    LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(v));
    return LLVMBuildShuffleVector(lo->b, v, zero, LLVMConstVector(index, (unsigned)n), "");
}

LLVMValueRef kj_shuffled(kj_lower *lo, LLVMValueRef a, LLVMValueRef b, const int *places, int n)
{
    LLVMValueRef index[4 * KJ_MAX_LANES];
    for (int i = 0; i < n; i++)
        index[i] = LLVMConstInt(lo->i32, (unsigned)places[i], false);
    return LLVMBuildShuffleVector(lo->b, a, b ? b : LLVMGetPoison(LLVMTypeOf(a)),
                                  LLVMConstVector(index, (unsigned)n), "");
}

LLVMValueRef kj_joined(kj_lower *lo, LLVMValueRef a, LLVMValueRef b, int lanes)
{
    int places[2 * KJ_MAX_LANES];
    for (int l = 0; l < 2 * lanes; l++)
        places[l] = l;
    return kj_shuffled(lo, a, b, places, 2 * lanes);
}

/* A row through the scalar function, lane after lane: for algorithms that loop until a thread's own
 * end. */
static LLVMValueRef call_each(kj_lower *lo, kj_builtin id, kj_dtype type, int lanes,
                              LLVMValueRef *args, int nargs)
{
    LLVMTypeRef row = kj_vec(lo, type, lanes), elem = lo->types[type];
    LLVMValueRef in[3], v[3], out = kj_alloca(lo, row, "each"),
                              zero = LLVMConstInt(lo->i64, 0, false);
    for (int i = 0; i < nargs; i++) {
        in[i] = kj_alloca(lo, row, "arg");
        LLVMBuildStore(lo->b, args[i], in[i]);
    }
    LLVMBasicBlockRef before = LLVMGetInsertBlock(lo->b), loop = kj_new_block(lo, "lane"),
                      done = kj_new_block(lo, "row");
    LLVMBuildBr(lo->b, loop);
    LLVMPositionBuilderAtEnd(lo->b, loop);
    LLVMValueRef lane = LLVMBuildPhi(lo->b, lo->i64, "lane");
    for (int i = 0; i < nargs; i++)
        v[i] = LLVMBuildLoad2(lo->b, elem, LLVMBuildGEP2(lo->b, elem, in[i], &lane, 1, ""), "");
    LLVMBuildStore(lo->b, call_math(lo, id, type, 1, v, nargs),
                   LLVMBuildGEP2(lo->b, elem, out, &lane, 1, ""));
    LLVMValueRef next = LLVMBuildAdd(lo->b, lane, LLVMConstInt(lo->i64, 1, false), "");
    LLVMValueRef more =
        LLVMBuildICmp(lo->b, LLVMIntULT, next, LLVMConstInt(lo->i64, (unsigned)lanes, false), "");
    LLVMBuildCondBr(lo->b, more, loop, done);
    LLVMAddIncoming(lane, (LLVMValueRef[]){zero, next}, (LLVMBasicBlockRef[]){before, loop}, 2);
    LLVMPositionBuilderAtEnd(lo->b, done);
    return LLVMBuildLoad2(lo->b, row, out, "");
}

/* A row, in the pieces of 16 lanes that the library's functions take. */
static LLVMValueRef call_row(kj_lower *lo, kj_builtin id, kj_dtype type, int lanes,
                             LLVMValueRef *args, int nargs)
{
    if (!kj_mathlib_find(id, type, KJ_MATH_LANES))
        return call_each(lo, id, type, lanes, args, nargs);
    LLVMValueRef pieces[KJ_MAX_LANES / KJ_MATH_LANES] = {0}, in[3];
    int n = 0;
    for (int first = 0; first < lanes; first += KJ_MATH_LANES) {
        for (int i = 0; i < nargs; i++)
            in[i] =
                lanes == KJ_MATH_LANES ? args[i] : part(lo, args[i], lanes, first, KJ_MATH_LANES);
        pieces[n++] = call_math(lo, id, type, KJ_MATH_LANES, in, nargs);
    }
    if (lanes < KJ_MATH_LANES)
        return part(lo, pieces[0], KJ_MATH_LANES, 0, lanes);
    for (int width = KJ_MATH_LANES; n > 1; width *= 2, n /= 2)
        for (int i = 0; i < n / 2; i++)
            pieces[i] = kj_joined(lo, pieces[2 * i], pieces[2 * i + 1], width);
    return pieces[0];
}

/* A result with the zeros of C's standard, which some of the library's functions do not have: odd
 * functions give x's own, of f64 more of them need help, and cospi gives none below 0. */
static kj_tile with_zeros(kj_lower *lo, kj_builtin id, kj_tile out, kj_tile x)
{
    switch (id) {
    case KJ_BI_ASIN:
    case KJ_BI_ATAN:
    case KJ_BI_ERF:
    case KJ_BI_EXPM1:
    case KJ_BI_SIN:
    case KJ_BI_TAN: return out.type == KJ_F64 ? kj_float_signed_zero(lo, out, x) : out;
    case KJ_BI_SINPI: return kj_float_signed_zero(lo, out, x);
    case KJ_BI_COSPI:
        return kj_tile_binary(lo, KJ_OP_ADD, out, kj_tile_const(lo, kj_float(out.type, 0)));
    default: return out;
    }
}

kj_tile kj_lower_math(kj_lower *lo, kj_builtin id, const kj_tile *args, int nargs)
{
    int rows = 1, lanes = 1;
    for (int i = 0; i < nargs; i++) {
        rows = args[i].rows > rows ? args[i].rows : rows;
        lanes = args[i].lanes > lanes ? args[i].lanes : lanes;
    }
    kj_tile out = kj_tile_like(args[0].type, rows, lanes);
    for (int r = 0; r < rows; r++) {
        LLVMValueRef v[3];
        for (int i = 0; i < nargs; i++)
            v[i] = kj_tile_vector(lo, args[i], r, lanes);
        out.v[r] = lanes == 1 ? call_math(lo, id, out.type, 1, v, nargs)
                              : call_row(lo, id, out.type, lanes, v, nargs);
    }
    return with_zeros(lo, id, out, args[0]);
}

static kj_tile lower_math(kj_lower *lo, kj_builtin id, const kj_tile *args, int nargs)
{
    kj_tile out;
    return kj_lower_fast(lo, id, args, &out) ? out : kj_lower_math(lo, id, args, nargs);
}

/* Functions that f16 and bf16 share with f32: of the library, and what takes numbers apart. */
static bool in_f32(kj_builtin id)
{
    return kj_builtins[id].how == KJ_HOW_MATH || id == KJ_BI_MODF || id == KJ_BI_FREXP ||
           id == KJ_BI_LDEXP;
}

static kj_tile call_in_f32(kj_lower *lo, const kj_texpr *e, kj_tile *args)
{
    kj_builtin id = e->u.call.id;
    for (int i = 0; i < e->u.call.nargs; i++)
        args[i] = kj_half_widen(lo, args[i]);
    kj_tile out = kj_builtins[id].how == KJ_HOW_MATH ? lower_math(lo, id, args, e->u.call.nargs)
                                                     : lower_code(lo, id, e->u.call.part, args);
    return kj_tile_convert(lo, out, e->type);
}

kj_tile kj_lower_call(kj_lower *lo, const kj_texpr *e, kj_mask m)
{
    kj_tile args[3];
    for (int i = 0; i < e->u.call.nargs; i++)
        args[i] = kj_lower_expr(lo, e->u.call.args[i], m);
    kj_builtin id = e->u.call.id;
    const kj_builtin_info *info = &kj_builtins[id];
    if (in_f32(id) && kj_is_half(args[0].type))
        return call_in_f32(lo, e, args);
    switch (info->how) {
    case KJ_HOW_MATH: return lower_math(lo, id, args, e->u.call.nargs);
    case KJ_HOW_LLVM:
        return kj_relaxed(lo, kj_tile_intrinsic(lo, info->symbol, args, e->u.call.nargs));
    case KJ_HOW_CODE: return lower_code(lo, id, e->u.call.part, args);
    case KJ_HOW_RANDOM: return kj_lower_random(lo, e, args);
    case KJ_HOW_WARP: return kj_lower_warp(lo, e, args, m);
    case KJ_HOW_FENCE: kj_lower_fence(lo, id, args); break;
    case KJ_HOW_ATOMIC:
    case KJ_HOW_SEMA: KJ_REQUIRE(info->how != KJ_HOW_ATOMIC && info->how != KJ_HOW_SEMA);
    }
    return kj_tile_int(lo, 0);
}
