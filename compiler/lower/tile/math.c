/* Functions of the math library on tiles. */
#include "lower/tile/tile.h"
#include "target/mathlib.h"

static LLVMValueRef call_math(kj_lower *lo, kj_builtin id, kj_dtype type, int lanes,
                              LLVMValueRef *args, int nargs)
{
    const kj_math_fn *fn = kj_mathlib_find(id, type, lanes);
    LLVMTypeRef value = kj_vec(lo, type, lanes), params[KJ_BUILTIN_ARGS];
    for (int i = 0; i < nargs; i++)
        params[i] = value;
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

/* A row through the scalar function, lane after lane: for algorithms that loop until a thread's own
 * end. */
static LLVMValueRef call_each(kj_lower *lo, kj_builtin id, kj_dtype type, int lanes,
                              LLVMValueRef *args, int nargs)
{
    LLVMTypeRef row = kj_vec(lo, type, lanes), elem = lo->types[type];
    LLVMValueRef in[KJ_BUILTIN_ARGS], v[KJ_BUILTIN_ARGS], out = kj_alloca(lo, row, "each"),
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
    LLVMValueRef pieces[KJ_MAX_LANES / KJ_MATH_LANES] = {0}, in[KJ_BUILTIN_ARGS];
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
        LLVMValueRef v[KJ_BUILTIN_ARGS];
        for (int i = 0; i < nargs; i++)
            v[i] = kj_tile_vector(lo, args[i], r, lanes);
        out.v[r] = lanes == 1 ? call_math(lo, id, out.type, 1, v, nargs)
                              : call_row(lo, id, out.type, lanes, v, nargs);
    }
    return with_zeros(lo, id, out, args[0]);
}
