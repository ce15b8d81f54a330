/* What the math library's own functions are written with: LLVM IR, an operation a call. */
#ifndef KJ_TOOLS_MATHLIB_GEN_H
#define KJ_TOOLS_MATHLIB_GEN_H

#include "mathlib.h"

#include <stdint.h>
#include <string.h>

typedef LLVMValueRef value;

/* A function being made: its numbers are `real`, scalars or vectors of `lanes`. */
typedef struct gen {
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMBuilderRef b;
    value function;
    LLVMTypeRef real, integer; /* f32 or f64, and i64, in `lanes` */
    unsigned lanes;
} gen;

static inline LLVMTypeRef in_lanes(const gen *g, LLVMTypeRef element)
{
    return g->lanes == 1 ? element : LLVMVectorType(element, g->lanes);
}

static inline value splat(const gen *g, value scalar)
{
    value all[LANES];
    for (unsigned i = 0; i < g->lanes; i++) {
        all[i] = scalar;
    }
    return g->lanes == 1 ? scalar : LLVMConstVector(all, g->lanes);
}

static inline value number(const gen *g, double x)
{
    LLVMTypeRef element = g->lanes == 1 ? g->real : LLVMGetElementType(g->real);
    return splat(g, LLVMConstReal(element, x));
}

static inline value integer(const gen *g, int64_t x)
{
    return splat(g, LLVMConstInt(LLVMInt64TypeInContext(g->context), (uint64_t)x, 0));
}

static inline value add(gen *g, value a, value b)
{
    return LLVMBuildFAdd(g->b, a, b, "");
}
static inline value sub(gen *g, value a, value b)
{
    return LLVMBuildFSub(g->b, a, b, "");
}
static inline value mul(gen *g, value a, value b)
{
    return LLVMBuildFMul(g->b, a, b, "");
}
static inline value quotient(gen *g, value a, value b)
{
    return LLVMBuildFDiv(g->b, a, b, "");
}
static inline value negate(gen *g, value a)
{
    return LLVMBuildFNeg(g->b, a, "");
}
static inline value choose(gen *g, value c, value yes, value no)
{
    return LLVMBuildSelect(g->b, c, yes, no, "");
}
static inline value below(gen *g, value a, value b)
{
    return LLVMBuildFCmp(g->b, LLVMRealOLT, a, b, "");
}
static inline value not_below(gen *g, value a, value b)
{
    return LLVMBuildFCmp(g->b, LLVMRealOGE, a, b, "");
}
static inline value equal(gen *g, value a, value b)
{
    return LLVMBuildFCmp(g->b, LLVMRealOEQ, a, b, "");
}

static inline value intrinsic(gen *g, const char *name, value *args, unsigned n)
{
    LLVMTypeRef type = LLVMTypeOf(args[0]);
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    value f = LLVMGetIntrinsicDeclaration(g->module, id, &type, 1);
    return LLVMBuildCall2(g->b, LLVMGlobalGetValueType(f), f, args, n, "");
}

static inline value absolute(gen *g, value a)
{
    return intrinsic(g, "llvm.fabs", &a, 1);
}
static inline value truncated(gen *g, value a)
{
    return intrinsic(g, "llvm.trunc", &a, 1);
}
static inline value nearest(gen *g, value a)
{
    return intrinsic(g, "llvm.rint", &a, 1);
}
static inline value with_sign(gen *g, value a, value sign)
{
    return intrinsic(g, "llvm.copysign", (value[]){a, sign}, 2);
}
static inline value fused(gen *g, value a, value b, value c)
{
    return intrinsic(g, "llvm.fma", (value[]){a, b, c}, 3);
}

/* Calls a function of the library, which is inlined here. */
static inline value call(gen *g, const char *name, value *args, unsigned n)
{
    value f = LLVMGetNamedFunction(g->module, name);
    if (!f) {
        fail("libclc has no", name);
    }
    value result = LLVMBuildCall2(g->b, LLVMGlobalGetValueType(f), f, args, n, "");
    unsigned kind = LLVMGetEnumAttributeKindForName("alwaysinline", strlen("alwaysinline"));
    LLVMAddCallSiteAttribute(result, WHOLE_FUNCTION, LLVMCreateEnumAttribute(g->context, kind, 0));
    return result;
}

static inline value begin(gen *g, const char *name, LLVMTypeRef element, unsigned lanes,
                          unsigned nargs)
{
    g->lanes = lanes;
    g->real = in_lanes(g, element);
    g->integer = in_lanes(g, LLVMInt64TypeInContext(g->context));
    LLVMTypeRef params[MOST_ARGS];
    for (unsigned i = 0; i < nargs; i++)
        params[i] = g->real;
    g->function = LLVMAddFunction(g->module, name, LLVMFunctionType(g->real, params, nargs, 0));
    static const char *const pure[] = {"nounwind", "willreturn", "nofree",
                                       "nosync",   "norecurse",  "mustprogress"};
    for (size_t i = 0; i < sizeof pure / sizeof pure[0]; i++) {
        unsigned kind = LLVMGetEnumAttributeKindForName(pure[i], strlen(pure[i]));
        LLVMAddAttributeAtIndex(g->function, WHOLE_FUNCTION,
                                LLVMCreateEnumAttribute(g->context, kind, 0));
    }
    LLVMPositionBuilderAtEnd(g->b, LLVMAppendBasicBlockInContext(g->context, g->function, ""));
    return LLVMGetParam(g->function, 0);
}

static inline void give(gen *g, value result)
{
    LLVMBuildRet(g->b, result);
}

static inline LLVMTypeRef f32(const gen *g)
{
    return LLVMFloatTypeInContext(g->context);
}
static inline LLVMTypeRef f64(const gen *g)
{
    return LLVMDoubleTypeInContext(g->context);
}

static inline value polynomial(gen *g, value x, const double *coefficients, int n)
{
    value sum = number(g, coefficients[0]);
    for (int i = 1; i < n; i++) {
        sum = fused(g, sum, x, number(g, coefficients[i]));
    }
    return sum;
}

/* The f32 function that the f64 one is, rounded. */
static inline void add_rounded(gen *g, const char *name, const char *f64_function, unsigned nargs)
{
    value x[MOST_ARGS];
    x[0] = begin(g, name, f32(g), 1, nargs);
    for (unsigned i = 0; i < nargs; i++)
        x[i] = LLVMBuildFPExt(g->b, LLVMGetParam(g->function, i), f64(g), "");
    give(g, LLVMBuildFPTrunc(g->b, call(g, f64_function, x, nargs), g->real, ""));
}

/* A sum of two numbers. */
typedef struct pair {
    value high, low; /* low is below a unit in high's last place */
} pair;

static inline pair exact_product(gen *g, value a, value b)
{
    value high = mul(g, a, b);
    return (pair){high, fused(g, a, b, negate(g, high))};
}

/* mathlib_elementary.c */
void add_elementary_functions(gen *g);

/* mathlib_special.c */
void add_special_functions(gen *g);

/* mathlib_bessel.c */
void add_bessel_functions(gen *g);

/* mathlib_directed.c */
void add_directed_functions(gen *g);

#endif
