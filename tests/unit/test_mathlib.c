/* The embedded math library: complete, self-contained, within the error builtins.def states, and
 * the same in 16 lanes.
 *
 * Its bitcode is compiled for this CPU and called on samples: every exponent, the special values,
 * and the ranges where the functions do their work. References are libm's long double functions, 11
 * bits finer than f64. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/Core.h>
#include <llvm-c/Linker.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <sys/mman.h>

#include "device/cpu/object.h"
#include "lang/signature.h"
#include "target/mathlib.h"

enum { LANES = 16, SAMPLES = 40000 / LANES * LANES, WIDTHS = 2 };

/* out[i] = f(x[i], y[i], z[i], w[i]) for n samples; n is a multiple of the lanes. */
typedef void (*each_fn)(const void *x, const void *y, const void *z, const void *w, void *out,
                        int64_t n);

typedef struct library {
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMMemoryBufferRef bytes;
    kj_object object;
    char *code;
    size_t size;
    each_fn each[KJ_NBUILTINS][WIDTHS][WIDTHS]; /* builtin, f64, 16 lanes */
} library;

/* ---- References ---- */

static long double rsqrt_l(long double x)
{
    return 1 / sqrtl(x);
}

static long double lgamma_l(long double x)
{
    int sign;
    return lgammal_r(x, &sign);
}

/* powl takes large even integers for odd ones when x is infinite. */
static long double pow_l(long double x, long double y)
{
    return isinf(x) ? (long double)pow((double)x, (double)y) : powl(x, y);
}

/* pi * the exact part of x beyond what has no effect. */
static long double sinpi_l(long double x)
{
    const long double pi = 3.14159265358979323846264338327950288L;
    long double rest = remainderl(x, 2), size = fabsl(rest);
    long double sine = size <= 0.25L  ? sinl(pi * size)
                       : size < 0.75L ? cosl(pi * (0.5L - size))
                                      : sinl(pi * (1 - size));
    return copysignl(sine, rest);
}

static long double cospi_l(long double x)
{
    const long double pi = 3.14159265358979323846264338327950288L;
    long double size = fabsl(remainderl(x, 2));
    return size <= 0.25L  ? cosl(pi * size)
           : size < 0.75L ? sinl(pi * (0.5L - size))
                          : -cosl(pi * (1 - size));
}

/* Where the C library has no function, it is kj_long_math. */
typedef struct reference {
    kj_builtin id;
    long double (*one)(long double);
    long double (*two)(long double, long double);
} reference;

static const reference references[] = {
    {KJ_BI_RSQRT, rsqrt_l, NULL},
    {KJ_BI_CBRT, cbrtl, NULL},
    {KJ_BI_HYPOT, NULL, hypotl},
    {KJ_BI_EXP, expl, NULL},
    {KJ_BI_EXP2, exp2l, NULL},
    {KJ_BI_EXP10, exp10l, NULL},
    {KJ_BI_EXPM1, expm1l, NULL},
    {KJ_BI_LOG, logl, NULL},
    {KJ_BI_LOG2, log2l, NULL},
    {KJ_BI_LOG10, log10l, NULL},
    {KJ_BI_LOG1P, log1pl, NULL},
    {KJ_BI_POW, NULL, pow_l},
    {KJ_BI_SIN, sinl, NULL},
    {KJ_BI_COS, cosl, NULL},
    {KJ_BI_TAN, tanl, NULL},
    {KJ_BI_SINPI, sinpi_l, NULL},
    {KJ_BI_COSPI, cospi_l, NULL},
    {KJ_BI_ASIN, asinl, NULL},
    {KJ_BI_ACOS, acosl, NULL},
    {KJ_BI_ATAN, atanl, NULL},
    {KJ_BI_ATAN2, NULL, atan2l},
    {KJ_BI_SINH, sinhl, NULL},
    {KJ_BI_COSH, coshl, NULL},
    {KJ_BI_TANH, tanhl, NULL},
    {KJ_BI_ASINH, asinhl, NULL},
    {KJ_BI_ACOSH, acoshl, NULL},
    {KJ_BI_ATANH, atanhl, NULL},
    {KJ_BI_ERF, erfl, NULL},
    {KJ_BI_ERFC, erfcl, NULL},
    {KJ_BI_GAMMA, tgammal, NULL},
    {KJ_BI_LGAMMA, lgamma_l, NULL},
    {KJ_BI_RCBRT, NULL, NULL},
    {KJ_BI_RHYPOT, NULL, NULL},
    {KJ_BI_NORM3D, NULL, NULL},
    {KJ_BI_RNORM3D, NULL, NULL},
    {KJ_BI_ERFINV, NULL, NULL},
    {KJ_BI_ERFCINV, NULL, NULL},
    {KJ_BI_ERFCX, NULL, NULL},
    {KJ_BI_NORMCDF, NULL, NULL},
    {KJ_BI_NORMCDFINV, NULL, NULL},
    {KJ_BI_CYL_BESSEL_I0, NULL, NULL},
    {KJ_BI_CYL_BESSEL_I1, NULL, NULL},
    {KJ_BI_J0, j0l, NULL},
    {KJ_BI_J1, j1l, NULL},
    {KJ_BI_Y0, y0l, NULL},
    {KJ_BI_Y1, y1l, NULL},
    {KJ_BI_NORM4D, NULL, NULL},
    {KJ_BI_RNORM4D, NULL, NULL},
    {KJ_BI_FMOD, NULL, fmodl},
    {KJ_BI_REMAINDER, NULL, remainderl},
    {KJ_BI_ADD_RD, NULL, NULL},
    {KJ_BI_ADD_RU, NULL, NULL},
    {KJ_BI_ADD_RZ, NULL, NULL},
    {KJ_BI_SUB_RD, NULL, NULL},
    {KJ_BI_SUB_RU, NULL, NULL},
    {KJ_BI_SUB_RZ, NULL, NULL},
    {KJ_BI_MUL_RD, NULL, NULL},
    {KJ_BI_MUL_RU, NULL, NULL},
    {KJ_BI_MUL_RZ, NULL, NULL},
    {KJ_BI_DIV_RD, NULL, NULL},
    {KJ_BI_DIV_RU, NULL, NULL},
    {KJ_BI_DIV_RZ, NULL, NULL},
    {KJ_BI_SQRT_RD, NULL, NULL},
    {KJ_BI_SQRT_RU, NULL, NULL},
    {KJ_BI_SQRT_RZ, NULL, NULL},
    {KJ_BI_FMA_RD, NULL, NULL},
    {KJ_BI_FMA_RU, NULL, NULL},
    {KJ_BI_FMA_RZ, NULL, NULL},
};
enum { NREFERENCES = sizeof references / sizeof references[0] };

/* ---- Compiling the library ---- */

static void link_function(library *lib, const kj_math_fn *fn)
{
    LLVMMemoryBufferRef bytes =
        LLVMCreateMemoryBufferWithMemoryRange(fn->bitcode, fn->size, fn->symbol, 0);
    LLVMModuleRef m;
    assert_false(LLVMParseBitcodeInContext2(lib->context, bytes, &m));
    LLVMDisposeMemoryBuffer(bytes);
    assert_false(LLVMLinkModules2(lib->module, m));
}

/* symbol_each: the loop each_fn describes. */
static void add_each(library *lib, const kj_math_fn *fn)
{
    LLVMContextRef c = lib->context;
    LLVMValueRef callee = LLVMGetNamedFunction(lib->module, fn->symbol);
    LLVMTypeRef type = LLVMGlobalGetValueType(callee), value = LLVMGetReturnType(type);
    LLVMTypeRef i64 = LLVMInt64TypeInContext(c), ptr = LLVMPointerTypeInContext(c, 0);
    bool wide = LLVMGetTypeKind(value) == LLVMVectorTypeKind;
    LLVMTypeRef element = wide ? LLVMGetElementType(value) : value;
    char name[64];
    snprintf(name, sizeof name, "%s_each", fn->symbol);
    LLVMTypeRef params[] = {ptr, ptr, ptr, ptr, ptr, i64};
    LLVMValueRef f = LLVMAddFunction(lib->module, name,
                                     LLVMFunctionType(LLVMVoidTypeInContext(c), params, 6, 0));
    LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(c, f, "");
    LLVMBasicBlockRef body = LLVMAppendBasicBlockInContext(c, f, "");
    LLVMBasicBlockRef end = LLVMAppendBasicBlockInContext(c, f, "");
    LLVMBuilderRef b = LLVMCreateBuilderInContext(c);
    LLVMPositionBuilderAtEnd(b, entry);
    LLVMBuildBr(b, body);
    LLVMPositionBuilderAtEnd(b, body);
    LLVMValueRef i = LLVMBuildPhi(b, i64, ""), args[KJ_BUILTIN_ARGS];
    for (unsigned k = 0; k < LLVMCountParams(callee); k++) {
        args[k] =
            LLVMBuildLoad2(b, value, LLVMBuildGEP2(b, element, LLVMGetParam(f, k), &i, 1, ""), "");
        LLVMSetAlignment(args[k], 4);
    }
    LLVMValueRef result = LLVMBuildCall2(b, type, callee, args, LLVMCountParams(callee), "");
    LLVMValueRef out = LLVMBuildGEP2(b, element, LLVMGetParam(f, 4), &i, 1, "");
    LLVMSetAlignment(LLVMBuildStore(b, result, out), 4);
    LLVMValueRef next = LLVMBuildAdd(b, i, LLVMConstInt(i64, wide ? LANES : 1, 0), "");
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntSLT, next, LLVMGetParam(f, 5), ""), body, end);
    LLVMAddIncoming(i, (LLVMValueRef[]){LLVMConstInt(i64, 0, 0), next},
                    (LLVMBasicBlockRef[]){entry, body}, 2);
    LLVMPositionBuilderAtEnd(b, end);
    LLVMBuildRetVoid(b);
    LLVMDisposeBuilder(b);
}

static LLVMMemoryBufferRef compile(LLVMModuleRef m)
{
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
    char *triple = LLVMGetDefaultTargetTriple(), *cpu = LLVMGetHostCPUName();
    char *features = LLVMGetHostCPUFeatures(), *message = NULL;
    LLVMTargetRef target;
    assert_false(LLVMGetTargetFromTriple(triple, &target, &message));
    LLVMTargetMachineRef machine = LLVMCreateTargetMachine(
        target, triple, cpu, features, LLVMCodeGenLevelLess, LLVMRelocPIC, LLVMCodeModelDefault);
    LLVMSetTarget(m, triple);
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
    LLVMSetModuleDataLayout(m, layout);
    LLVMMemoryBufferRef object;
    assert_false(
        LLVMTargetMachineEmitToMemoryBuffer(machine, m, LLVMObjectFile, &message, &object));
    LLVMDisposeTargetData(layout);
    LLVMDisposeTargetMachine(machine);
    LLVMDisposeMessage(triple);
    LLVMDisposeMessage(cpu);
    LLVMDisposeMessage(features);
    return object;
}

static void load(library *lib)
{
    kj_failure why;
    lib->bytes = compile(lib->module);
    assert_int_equal(kj_object_open(&lib->object, kj_object_host, LLVMGetBufferStart(lib->bytes),
                                    LLVMGetBufferSize(lib->bytes), &lib->size, &why),
                     KJIT_OK);
    lib->code = mmap(NULL, lib->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(lib->code != MAP_FAILED);
    assert_int_equal(kj_object_write(&lib->object, lib->code, (uintptr_t)lib->code, &why), KJIT_OK);
    assert_int_equal(mprotect(lib->code, lib->size, PROT_READ | PROT_EXEC), 0);
}

static const kj_math_fn *function(kj_builtin id, int is_double, int is_wide)
{
    return kj_mathlib_find(id, is_double ? KJ_F64 : KJ_F32, is_wide ? LANES : 1);
}

static int set_up(void **state)
{
    library *lib = calloc(1, sizeof *lib);
    lib->context = LLVMContextCreate();
    lib->module = LLVMModuleCreateWithNameInContext("math", lib->context);
    for (int k = 0; k < NREFERENCES * 4; k++) {
        const kj_math_fn *fn = function(references[k / 4].id, k >> 1 & 1, k & 1);
        if (fn) {
            link_function(lib, fn);
            add_each(lib, fn);
        }
    }
    load(lib);
    for (int k = 0; k < NREFERENCES * 4; k++) {
        const kj_math_fn *fn = function(references[k / 4].id, k >> 1 & 1, k & 1);
        if (fn) {
            char name[64];
            snprintf(name, sizeof name, "%s_each", fn->symbol);
            uint64_t at = kj_object_symbol(&lib->object, name);
            assert_true(at < lib->size);
            lib->each[references[k / 4].id][k >> 1 & 1][k & 1] =
                (each_fn)((uintptr_t)lib->code + at);
        }
    }
    *state = lib;
    return 0;
}

static int tear_down(void **state)
{
    library *lib = *state;
    munmap(lib->code, lib->size);
    LLVMDisposeMemoryBuffer(lib->bytes);
    LLVMDisposeModule(lib->module);
    LLVMContextDispose(lib->context);
    free(lib);
    return 0;
}

/* ---- Samples ---- */

static const double special[] = {
    0.0,
    -0.0,
    1,
    -1,
    0.5,
    -0.5,
    2,
    -2,
    3,
    -3,
    -2.5,
    10,
    1024,
    -1075,
    INFINITY,
    -INFINITY,
    NAN,
    0x1p-149,
    -0x1p-149,
    0x1p-126,
    0x1p-1074,
    -0x1p-1074,
    0x1p-1022,
    0x1.fffffep127,
    0x1.fffffffffffffp1023,
    -0x1.fffffffffffffp1023,
    0x1p23,
    0x1p24,
    0x1p31,
    -0x1p31,
    0x1p32,
    0x1p52,
    0x1p53,
    0x1p63,
    -0x1p63,
    0x1p64,
    88.7,
    -87.5,
    -103.9,
    89.5,
    709.8,
    -745.2,
    -708.5,
    128,
    -149.5,
    171.5,
    -170.5,
    34.5,
    -33.5,
    1e22,
    0x1.921fb6p+1,
    0x1.921fb54442d18p+0,
};
enum { NSPECIAL = sizeof special / sizeof special[0] };

static uint64_t random_bits(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state * 2685821657736338717u;
}

static double sample(uint64_t *seed)
{
    uint64_t bits = random_bits(seed);
    double unit = (double)(random_bits(seed) >> 11) * 0x1p-53, any;
    switch (bits >> 60) {
    case 0:
    case 1:
    case 2:
    case 3:
        memcpy(&any, &bits, sizeof any);
        any = ldexp(any, (int)(bits >> 56 & 15) - 8);
        return any;
    case 4:
    case 5: return unit * 4 - 2;
    case 6:
    case 7: return unit * 200 - 100;
    case 8: return unit * 2000 - 1000;
    case 9:
    case 10: return 1 + ldexp(unit - 0.5, -(int)(bits & 63));
    case 11:
    case 12:
    case 13: return ldexp(unit * 2 - 1, (int)(bits % 60) - 30);
    case 14: return ldexp(unit * 2 - 1, (int)(bits % 300) - 150);
    default: return special[bits % NSPECIAL];
    }
}

typedef struct samples {
    union {
        float f32[SAMPLES];
        double f64[SAMPLES];
    } x, y, z, w, scalar, wide;
    bool is_double;
} samples;

static samples *take_samples(bool is_double)
{
    samples *s = malloc(sizeof *s);
    s->is_double = is_double;
    uint64_t seed = 88172645463325252u;
    for (int i = 0; i < SAMPLES; i++) {
        double x = i < NSPECIAL * NSPECIAL ? special[i % NSPECIAL] : sample(&seed);
        double y = i < NSPECIAL * NSPECIAL ? special[i / NSPECIAL] : sample(&seed);
        double z = i < NSPECIAL * NSPECIAL ? special[i * 7 % NSPECIAL] : sample(&seed);
        z = i % 4 == 3 ? -x * y : z; /* of which a fused multiply-add leaves little */
        double w = i % 3 ? sample(&seed) : x;
        if (is_double) {
            s->x.f64[i] = x;
            s->y.f64[i] = y;
            s->z.f64[i] = z;
            s->w.f64[i] = w;
        } else {
            s->x.f32[i] = (float)x;
            s->y.f32[i] = (float)y;
            s->z.f32[i] = (float)z;
            s->w.f32[i] = (float)w;
        }
    }
    return s;
}

/* ---- Errors ---- */

/* |got - exact| in units of the last place of `exact`, or of `size` where that is larger, in a type with
 * `digits` bits whose least exponent is `least`. Past the largest number, infinity counts as the next number would. */
static double ulps(long double got, long double exact, long double size, int digits, int least,
                   long double largest)
{
    if (isnan(exact) || isnan(got)) {
        return isnan(exact) && isnan(got) ? 0 : INFINITY;
    }
    if (isinf(exact)) {
        return got == exact ? 0 : INFINITY;
    }
    if (isinf(got)) {
        got = copysignl(largest * (1 + ldexpl(1, -digits)), got);
    }
    int e;
    size = fmaxl(fabsl(exact), size);
    frexpl(size, &e);
    e = size == 0 || e < least ? least : e;
    double error = (double)(fabsl(got - exact) / ldexpl(1, e - digits));
    return fabsl(exact) > largest && fabsl(got) >= largest ? 0 : error;
}

/* Of Bessel's functions the C library's have few digits near zeros; beyond 8 nor do ours. */
static long double amplitude(kj_builtin id, long double x)
{
    if (id != KJ_BI_J0 && id != KJ_BI_J1 && id != KJ_BI_Y0 && id != KJ_BI_Y1)
        return 0;
    x = fabsl(x);
    if (x < 1)
        return 0;
    return x < 8 ? 0x1p-9L : sqrtl(2 / 3.14159265358979323846264338327950288L / x);
}

static long double exact(const reference *r, const long double *x)
{
    long double out = NAN;
    if (r->one)
        return r->one(x[0]);
    if (r->two)
        return r->two(x[0], x[1]);
    assert_true(kj_long_math(r->id, x, &out));
    return out;
}

/* Of directed roundings the processor itself gives the bits. */
static double wrong_direction(const samples *s, kj_builtin id, int i)
{
    kj_dtype type = s->is_double ? KJ_F64 : KJ_F32;
    double x[3] = {s->is_double ? s->x.f64[i] : (double)s->x.f32[i],
                   s->is_double ? s->y.f64[i] : (double)s->y.f32[i],
                   s->is_double ? s->z.f64[i] : (double)s->z.f32[i]};
    kj_value v[3] = {kj_float(type, x[0]), kj_float(type, x[1]), kj_float(type, x[2])};
    double want = kj_fold_directed(id, v, kj_builtin_arity(id)).f;
    double got = s->is_double ? s->scalar.f64[i] : (double)s->scalar.f32[i];
    bool same = isnan(want) ? isnan(got) : want == got && signbit(want) == signbit(got);
    return same ? 0 : INFINITY;
}

static double sample_error(const samples *s, const reference *r, int i)
{
    if (kj_builtin_rounding(r->id))
        return wrong_direction(s, r->id, i);
    if (s->is_double) {
        long double x[] = {s->x.f64[i], s->y.f64[i], s->z.f64[i], s->w.f64[i]};
        return ulps(s->scalar.f64[i], exact(r, x), amplitude(r->id, x[0]), 53, -1021,
                    0x1.fffffffffffffp1023L);
    }
    long double x[] = {s->x.f32[i], s->y.f32[i], s->z.f32[i], s->w.f32[i]};
    return ulps(s->scalar.f32[i], exact(r, x), amplitude(r->id, x[0]), 24, -125, 0x1.fffffep127L);
}

/* ---- Tests ---- */

static void every_row_has_its_functions(void **state)
{
    (void)state;
    for (int id = 0; id < KJ_NBUILTINS; id++) {
        for (int k = 0; k < 4; k++) {
            const kj_math_fn *fn = function((kj_builtin)id, k >> 1, k & 1);
            assert_true((fn != NULL) == (kj_builtins[id].how == KJ_HOW_MATH));
            assert_true(!fn || ((uintptr_t)fn->bitcode % 16 == 0 && fn->size > 0));
        }
    }
    assert_string_equal(function(KJ_BI_EXP, 0, 0)->symbol, "kj$exp_f32");
    assert_string_equal(function(KJ_BI_POW, 1, 1)->symbol, "kj$pow_v16f64");
    assert_null(kj_mathlib_find(KJ_BI_EXP, KJ_I32, 1));
    assert_null(kj_mathlib_find(KJ_BI_EXP, KJ_F32, 8));
    assert_null(kj_mathlib_find(KJ_NBUILTINS, KJ_F32, 1));
}

static void every_row_has_a_reference(void **state)
{
    (void)state;
    int rows = 0;
    for (int id = 0; id < KJ_NBUILTINS; id++) {
        rows += kj_builtins[id].how == KJ_HOW_MATH;
    }
    assert_int_equal(rows, NREFERENCES);
}

static void only_intrinsics_are_referred_to(void **state)
{
    library *lib = *state;
    for (LLVMValueRef f = LLVMGetFirstFunction(lib->module); f; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f) && strncmp(LLVMGetValueName(f), "llvm.", 5) != 0) {
            fail_msg("%s", LLVMGetValueName(f));
        }
    }
}

static void errors_are_within_bounds(void **state)
{
    library *lib = *state;
    for (int is_double = 0; is_double < 2; is_double++) {
        samples *s = take_samples(is_double);
        for (int k = 0; k < NREFERENCES; k++) {
            const reference *r = &references[k];
            lib->each[r->id][is_double][0](&s->x, &s->y, &s->z, &s->w, &s->scalar, SAMPLES);
            int bound = is_double ? kj_builtins[r->id].ulp64 : kj_builtins[r->id].ulp32;
            for (int i = 0; i < SAMPLES; i++) {
                double x = is_double ? s->x.f64[i] : (double)s->x.f32[i];
                double y = is_double ? s->y.f64[i] : (double)s->y.f32[i];
                double error = r->id == KJ_BI_LGAMMA && x < 0 ? 0 : sample_error(s, r, i);
                if (!(error <= bound)) {
                    fail_msg("%s f%d(%a, %a): %g ulp, bound %d", kj_builtins[r->id].name,
                             is_double ? 64 : 32, x, y, error, bound);
                }
            }
        }
        free(s);
    }
}

static void lanes_have_the_scalar_bits(void **state)
{
    library *lib = *state;
    for (int is_double = 0; is_double < 2; is_double++) {
        samples *s = take_samples(is_double);
        for (int k = 0; k < NREFERENCES; k++) {
            kj_builtin id = references[k].id;
            lib->each[id][is_double][0](&s->x, &s->y, &s->z, &s->w, &s->scalar, SAMPLES);
            lib->each[id][is_double][1](&s->x, &s->y, &s->z, &s->w, &s->wide, SAMPLES);
            size_t size = is_double ? sizeof(double) : sizeof(float);
            for (int i = 0; i < SAMPLES; i++) {
                const char *a = (const char *)&s->scalar + size * (size_t)i;
                const char *b = (const char *)&s->wide + size * (size_t)i;
                bool nans = is_double ? isnan(s->scalar.f64[i]) && isnan(s->wide.f64[i])
                                      : isnan(s->scalar.f32[i]) && isnan(s->wide.f32[i]);
                if (memcmp(a, b, size) != 0 && !nans) {
                    fail_msg("%s f%d differs in sample %d", kj_builtins[id].name,
                             is_double ? 64 : 32, i);
                }
            }
        }
        free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_has_its_functions),
        cmocka_unit_test(every_row_has_a_reference),
        cmocka_unit_test(only_intrinsics_are_referred_to),
        cmocka_unit_test(errors_are_within_bounds),
        cmocka_unit_test(lanes_have_the_scalar_bits),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
