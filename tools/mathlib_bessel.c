/* Bessel functions of orders 0 and 1, for tools/mathlib.c: in f64, and of f32 these rounded.
 *
 * Where |x| < 8, a product: the function divided by what makes it zero there (and a little beyond, which leaves less to fit)
 * is a polynomial, and the factor of a zero is taken from twice the digits, so that a result near it has all its own. Y has a
 * logarithm near 0, which goes to 0 at its first zero together with the rest. From 8 on, Hankel's asymptotic form (Abramowitz
 * and Stegun, Handbook of Mathematical Functions, 9.2.5 and 9.2.6):
 *
 *     J(x) = sqrt(2 / (pi x)) (P cos(w) - Q sin(w)),  Y(x) = sqrt(2 / (pi x)) (P sin(w) + Q cos(w)),  w = x - pi/4 - n pi/2
 *
 * with sin(w) and cos(w) as sums of sin(x) and cos(x); P and x Q are polynomials in 1 / x^2. There the error is that of
 * sin and cos, so small beside the amplitude, not beside a result near a zero. The tables are printed by tools/bessel.py. */
#include "mathlib_gen.h"

#include <stdio.h>

#define LENGTH(a) ((int)(sizeof(a) / sizeof *(a)))

/* A constant of twice the digits of a double. */
typedef struct split {
    double high, low;
} split;

static const split j0_squares[] = {
    {0x1.721fb80462bbbp+2, 0x1.db60c816c15d3p-52},
    {0x1.e78a4a621dd6fp+4, -0x1.10d7c5048826bp-52},
    {0x1.2b8c4b8215768p+6, 0x1.ecdd94e0187e2p-50},
    {0x1.1614a0290c5ddp+7, -0x1.ef18c319b21e0p-47},
};
static const double j0_near[] = {
    -0x1.7560e46abf67dp-67, 0x1.95cdb8867e543p-62, -0x1.83517c4eacdbfp-57, 0x1.4376592ee19d0p-52,
    -0x1.d27efb004099ep-48, 0x1.1eca514b40ebbp-43, -0x1.280efd3dd0a77p-39, 0x1.f7902b9c6c32ap-36,
    -0x1.58607f8a079f5p-32, 0x1.6ecc284f67a72p-29, -0x1.22c6726a4ad0dp-26, 0x1.401a1400697e1p-24,
    -0x1.b095c81c476e8p-23, 0x1.0b760cf295657p-22,
};
static const double p0[] = {
    0x1.53680bf2c6dfbp-46, -0x1.047c709700325p-44, 0x1.37a9755a3462ap-43, -0x1.429cc58d4de4ep-41,
    0x1.7c199bd0f0f14p-39, -0x1.ee82499209d9dp-37, 0x1.809ed8da8d86ep-34, -0x1.77f4b385eb01fp-31,
    0x1.f069888fe67eep-28, -0x1.f16a8981d0a30p-24, 0x1.d0c04e3238913p-19, -0x1.3d50050302d19p-12,
    0x1.20b552abcccf6p-1,
};
static const double q0[] = {
    0x1.5ccbf96bc3dfdp-50, -0x1.9c6054804f65ep-49, 0x1.7d2bf7f462347p-49, -0x1.4dcf1c878a57ap-47,
    0x1.61d5c57a9f2c3p-45, -0x1.298b42b2b3aedp-43, 0x1.11115bb982ce5p-41, -0x1.1cedb17877b2fp-39,
    0x1.521e7a4bfa626p-37, -0x1.d5fc1b16837c8p-35, 0x1.8f0bf2df4c2c0p-32, -0x1.b78fbbc984dedp-29,
    0x1.58646487dc13ep-25, -0x1.bf6bbf2e18764p-21, 0x1.43659ba7447f6p-15, -0x1.1f92b3d683e1fp-7,
};
static const split y0_zeros[] = {
    {0x1.c982eb8d417eap-1, 0x1.ea9d270347f83p-56},
    {0x1.fa9534d98569cp+1, -0x1.f06ae7804384ep-54},
    {0x1.c581dc4e72103p+2, -0x1.9774a495f56cfp-54},
};
#define Y0_SQUARE \
    { \
        0x1.98d257f93404ap-1, 0x1.b7acb8a94e405p-55 \
    }
#define Y0_LOG -0x1.cce4b73e6f025p-4
static const double y0_factor[] = {
    -0x1.7effad24b2f4bp-50, 0x1.3f1413c8b682dp-43, -0x1.b67eeaad867f2p-37, 0x1.e713bd8163816p-31,
    -0x1.aa1b1fae23beap-25, 0x1.1c11c65a57664p-19, -0x1.144d47c675a59p-14, 0x1.70f513227d9d3p-10,
    -0x1.34c6415b8b0c0p-6,  0x1.16072a6e00942p-3,  -0x1.8758e04fb63c4p-2,  0x1.92e9a32285e3ep-4,
};
static const double y0_rest[] = {
    0x1.15a308d81a7f9p-50, -0x1.c1fe0bd1868a5p-44, 0x1.2bb44848cb666p-37, -0x1.413a4098d1e86p-31,
    0x1.0d93703d3205ep-25, -0x1.561b585254bfcp-20, 0x1.394053885a0c1p-15, -0x1.8364add06170bp-11,
    0x1.245e12e0a7f60p-7,  -0x1.c3a7c81926668p-5,  0x1.e0812c72a76a9p-4,
};
static const double y0_middle[] = {
    -0x1.5fd9575508126p-36, 0x1.7bea97b44c8c7p-35, 0x1.d3ec7a62fa5a8p-36,  -0x1.952d7e81ee324p-35,
    -0x1.07f8dbe4a8fd7p-32, 0x1.19b526496b8eap-31, -0x1.58faebd74fc95p-31, 0x1.9bc596c6c6f5cp-30,
    -0x1.11af4b37471d3p-28, 0x1.48e6b4a9f35dap-27, -0x1.9a220706e3940p-26, 0x1.3637b4a9bb57ep-25,
    -0x1.37ae369b3f2f9p-29, 0x1.82f79582e7223p-21, -0x1.187111efc9aaep-18, -0x1.52b2cfe8921e7p-17,
    0x1.49b0355d79b31p-14,  0x1.c23c371fa0437p-13, -0x1.5cf6589e19c0bp-10, -0x1.2d35309c08d55p-9,
    0x1.ad79d598e5e64p-7,   0x1.e0d903ee0e18bp-7,  -0x1.27d6105d6e8acp-4,  -0x1.f36ebb1739745p-6,
    0x1.1c38036545cfbp-3,
};
static const split j1_squares[] = {
    {0x1.d5d2b4189822cp+3, -0x1.c6a0d245172bap-54},
    {0x1.89bf66072a432p+5, 0x1.25355661cb79cp-51},
    {0x1.9dff70d785e2cp+6, -0x1.41014eaf35cf6p-49},
    {0x1.630aa1f2a4442p+7, 0x1.2cb761ea48e7ap-47},
};
static const double j1_near[] = {
    0x1.6d9150cc5cac8p-67, -0x1.7207e68423df2p-62, 0x1.46da6694c640ap-57, -0x1.f5a5b42e51fd1p-53,
    0x1.49721d57e86a3p-48, -0x1.6cd6f9b998bc8p-44, 0x1.4e713e62d5f62p-40, -0x1.efba23c77a2e4p-37,
    0x1.1fdb46db077cdp-33, -0x1.f5219e5dd0084p-31, 0x1.31547f630dc54p-28, -0x1.cd0673fe4cef3p-27,
    0x1.41f5fb6bfb1c7p-26,
};
static const double p1[] = {
    -0x1.685abcdc223dcp-46, 0x1.158f138f8f1eep-44, -0x1.4e949fddd4bc5p-43, 0x1.5befd18e1d231p-41,
    -0x1.9c310ade0792dp-39, 0x1.0e4fbccb3031bp-36, -0x1.a9142f56a5b42p-34, 0x1.a5eb25864561ep-31,
    -0x1.1d2168a60e89ap-27, 0x1.2948d48ba54f1p-23, -0x1.2d5ef56684ba9p-18, 0x1.09dd53241f3a9p-11,
    0x1.212087fc6f6d3p-1,
};
static const double q1[] = {
    0x1.b28deab8c71a8p-49, -0x1.1161123847e7fp-47, 0x1.63a0fbe9139adp-47, -0x1.384217462da3dp-45,
    0x1.3e0b3954808e4p-43, -0x1.285fdba92b19ap-41, 0x1.33b8ac8d9f9d2p-39, -0x1.6fa6158f498bdp-37,
    0x1.01efd64b1d66ap-34, -0x1.bb9b703aecac5p-32, 0x1.f1d3d7da5b2fap-29, -0x1.91db89d32df5bp-25,
    0x1.13d179f1582b4p-20, -0x1.c75c6e6eb087ep-15, 0x1.b063fb6754aaep-6,
};
static const split y1_zeros[] = {
    {0x1.193bed4dff243p+1, -0x1.bd1e50d219bfdp-55},
    {0x1.5b7fe4e87b02ep+2, 0x1.dfe7bac228e8cp-52},
    {0x1.13127ae6169b4p+3, 0x1.479cc068d9046p-52},
};
#define Y1_SQUARE \
    { \
        0x1.34f49cfc780a9p+2, -0x1.65d88128c73dfp-52 \
    }
#define Y1_LOG 0x1.930641fe98869p-1
static const double y1_factor[] = {
    0x1.d41dea47df8d3p-48, -0x1.628a185e07f27p-41, 0x1.b67eea8bee98dp-35, -0x1.b0f519f9d33d2p-29,
    0x1.4b6a6df939e10p-23, -0x1.7ac25dcdcf23fp-18, 0x1.330088a39f299p-13, -0x1.47f649e5c4fcep-9,
    0x1.9bb301cf64100p-6,  -0x1.ee45a0c38f404p-4,  0x1.5bdd392a69191p-3,
};
static const double y1_rest[] = {
    -0x1.0a02f904ff951p-46, 0x1.811f4a65d7a80p-40, -0x1.c3bb7b4604621p-34, 0x1.a297e78ea361cp-28,
    -0x1.284305caa1b6ep-22, 0x1.32126b40c0a2ap-17, -0x1.b012e1ba70b9bp-13, 0x1.763f8d5b3aa08p-9,
    -0x1.3eff440233f2ep-6,  0x1.8513bd098f230p-6,  0x1.6ce10ff04b241p-3,
};
static const double y1_middle[] = {
    0x1.0db63fc34c64ep-35, -0x1.18157a71633c3p-34, -0x1.053d3a8aa8b3cp-34, 0x1.d8fe93612a689p-34,
    0x1.71fd6b92fb282p-32, -0x1.735e4ea72b352p-31, 0x1.1fe89ff086690p-31,  -0x1.5735c3f468d7ap-30,
    0x1.033f8fd57fbf4p-28, -0x1.164ff381d8933p-27, 0x1.1fadfc42a928dp-26,  -0x1.557588cc5977fp-25,
    0x1.9f58c3aa4857cp-24, -0x1.5fe2232cb851ep-24, -0x1.1b79b677d63b9p-23, -0x1.0180ef4cc9dd0p-18,
    0x1.037c1618a61bcp-16, 0x1.0c17b1618ba86p-14,  -0x1.ff3725f56eb94p-13, -0x1.19cab9d7bafb3p-10,
    0x1.912ec6c9fc82cp-9,  0x1.5093b48eb399ep-7,   -0x1.4c04490db5eb5p-6,  -0x1.c1638349674e6p-5,
    0x1.d39c718eb68bdp-5,  0x1.befe038407c63p-4,
};

/* What the functions of an order are made of. */
typedef struct order {
    const split *j_squares, *y_zeros; /* of zeros the squares; the zeros of Y */
    split y_square;                   /* of Y's first zero */
    double y_log;                     /* its logarithm */
    const double *j, *p, *q, *factor, *rest, *middle;
    int nj, np, nq, nfactor, nrest, nmiddle;
} order;

#define TABLES(n) \
    .j_squares = j##n##_squares, .y_zeros = y##n##_zeros, .j = j##n##_near, .p = p##n, .q = q##n, \
    .factor = y##n##_factor, .rest = y##n##_rest, .middle = y##n##_middle, \
    .nj = LENGTH(j##n##_near), .np = LENGTH(p##n), .nq = LENGTH(q##n), \
    .nfactor = LENGTH(y##n##_factor), .nrest = LENGTH(y##n##_rest), \
    .nmiddle = LENGTH(y##n##_middle)

static const order orders[] = {
    {TABLES(0), .y_square = Y0_SQUARE, .y_log = Y0_LOG},
    {TABLES(1), .y_square = Y1_SQUARE, .y_log = Y1_LOG},
};
enum { J_ZEROS = LENGTH(j0_squares), Y_ZEROS = LENGTH(y0_zeros) };

static const double NEAR = 8, LOG_PART = 3;

/* The block that runs where `test` holds comes first; returns the other. */
static LLVMBasicBlockRef part_at(gen *g, value test)
{
    LLVMBasicBlockRef yes = LLVMAppendBasicBlockInContext(g->context, g->function, "");
    LLVMBasicBlockRef no = LLVMAppendBasicBlockInContext(g->context, g->function, "");
    LLVMBuildCondBr(g->b, test, yes, no);
    LLVMPositionBuilderAtEnd(g->b, yes);
    return no;
}

/* x*x - square, with an error of its own size */
static value from_square(gen *g, value x, split square)
{
    return sub(g, fused(g, x, x, number(g, -square.high)), number(g, square.low));
}

/* 2 (x / limit)^2 - 1 */
static value of_square(gen *g, value x, double limit)
{
    return fused(g, mul(g, x, number(g, 2 / (limit * limit))), x, number(g, -1));
}

/* sqrt(x) times J, or Y: of u = P + Q and v = P - Q, cos(x) and sin(x) */
static value far_wave(gen *g, value x, const order *o, bool is_y)
{
    bool odd = o == &orders[1];
    value r = quotient(g, number(g, NEAR), x);
    value t = fused(g, add(g, r, r), r, number(g, -1));
    value p = polynomial(g, t, o->p, o->np), q = mul(g, r, polynomial(g, t, o->q, o->nq));
    value u = add(g, p, q), v = sub(g, p, q);
    value c = call(g, "_Z3cosd", &x, 1), s = call(g, "_Z3sind", &x, 1);
    value wave =
        is_y == odd ? fused(g, c, u, mul(g, s, v)) : fused(g, s, u, negate(g, mul(g, c, v)));
    return is_y && odd ? negate(g, wave) : wave;
}

static value far_part(gen *g, value x, const order *o, bool is_y)
{
    value inf = number(g, __builtin_inf());
    value r = quotient(g, far_wave(g, x, o, is_y), intrinsic(g, "llvm.sqrt", &x, 1));
    return choose(g, equal(g, x, inf), number(g, 0), r);
}

static void add_j(gen *g, const char *name, const order *o)
{
    bool odd = o == &orders[1];
    value x = begin(g, name, f64(g), 1, 1), a = absolute(g, x);
    LLVMBasicBlockRef far = part_at(g, below(g, a, number(g, NEAR)));
    value r = polynomial(g, of_square(g, x, NEAR), o->j, o->nj);
    for (int i = J_ZEROS - 1; i >= 0; i--)
        r = mul(g, r, from_square(g, x, o->j_squares[i]));
    give(g, odd ? mul(g, r, x) : r);
    LLVMPositionBuilderAtEnd(g->b, far);
    r = far_part(g, a, o, false);
    give(g, odd ? choose(g, below(g, x, number(g, 0)), negate(g, r), r) : r);
}

/* log(x / z), z being Y's first zero: near it of the quotient, with what its rounding left out. */
static value log_ratio(gen *g, value x, const order *o)
{
    split z = o->y_zeros[0];
    value ratio = quotient(g, x, number(g, z.high)), small = below(g, x, number(g, 0.125));
    value rest = fused(g, negate(g, ratio), number(g, z.high), x);
    rest = quotient(g, fused(g, negate(g, ratio), number(g, z.low), rest), x);
    value of = choose(g, small, x, ratio), log = call(g, "_Z3logd", &of, 1);
    return add(g, log, choose(g, small, number(g, -o->y_log), rest));
}

/* Y = log(x / z) (2/pi) J(x) + (x*x - z*z) rest(x), the latter for order 1 divided by x */
static value log_part(gen *g, value x, const order *o)
{
    bool odd = o == &orders[1];
    value t = of_square(g, x, LOG_PART), factor = polynomial(g, t, o->factor, o->nfactor);
    value rest = mul(g, polynomial(g, t, o->rest, o->nrest), from_square(g, x, o->y_square));
    if (odd) {
        factor = mul(g, factor, x);
        rest = quotient(g, rest, x);
    }
    value r = fused(g, log_ratio(g, x, o), factor, rest);
    return choose(g, equal(g, x, number(g, 0)), number(g, -__builtin_inf()), r);
}

static void add_y(gen *g, const char *name, const order *o)
{
    value x = begin(g, name, f64(g), 1, 1);
    LLVMBasicBlockRef far = part_at(g, below(g, x, number(g, NEAR)));
    LLVMBasicBlockRef middle = part_at(g, below(g, x, number(g, LOG_PART)));
    give(g, log_part(g, x, o));
    LLVMPositionBuilderAtEnd(g->b, middle);
    double centre = (LOG_PART + NEAR) / 2, half = (NEAR - LOG_PART) / 2;
    value t = mul(g, sub(g, x, number(g, centre)), number(g, 1 / half));
    value r = polynomial(g, t, o->middle, o->nmiddle);
    for (int i = Y_ZEROS - 1; i > 0; i--) {
        split z = o->y_zeros[i];
        r = mul(g, r, sub(g, sub(g, x, number(g, z.high)), number(g, z.low)));
    }
    give(g, r);
    LLVMPositionBuilderAtEnd(g->b, far);
    give(g, far_part(g, x, o, true));
}

void add_bessel_functions(gen *g)
{
    for (int i = 0; i < 2; i++) {
        char f32_name[32], f64_name[32];
        snprintf(f64_name, sizeof f64_name, "kj$j%d_f64", i);
        snprintf(f32_name, sizeof f32_name, "kj$j%d_f32", i);
        add_j(g, f64_name, &orders[i]);
        add_rounded(g, f32_name, f64_name, 1);
        snprintf(f64_name, sizeof f64_name, "kj$y%d_f64", i);
        snprintf(f32_name, sizeof f32_name, "kj$y%d_f32", i);
        add_y(g, f64_name, &orders[i]);
        add_rounded(g, f32_name, f64_name, 1);
    }
}
