/* Vectors of 32 bits whose numbers need only 16, or 8, are computed in these: `i32(a[i]) + i32(a[i + 1])` of bytes. Half
 * or a fourth of the registers, and a product or a quotient by a constant is an instruction. LLVM does that where the end
 * is a narrower store and the way there is short; not in front of a comparison, nor behind a division or a choice.
 *
 * Optimised code in, the same values out. What is computed so is a set of instructions: each can be made of the lower
 * bits of its operands, and all that use it are in the set, or look at its lower bits alone (a truncation), or compare two
 * numbers that are all there in 16 bits. It is the largest such set, found by taking away what does not fit. */
#include <stdlib.h>
#include <string.h>

#include "target/target.h"

typedef LLVMValueRef value;
typedef kj_lane_range range;

/* What is known of an instruction: between which numbers its lanes are; and, once it is in the
 * set, what it is in fewer bits. */
typedef struct fact {
    value wide, narrow;
    range lanes;
    bool in;
} fact;

typedef struct search {
    LLVMBuilderRef b;
    LLVMContextRef ctx;
    fact *facts; /* a table by wide, of a power of two */
    size_t room;
    value *order; /* those in the table, operands first */
    size_t n;
    unsigned bits; /* of narrow lanes: 16; 8: sums that stay at 255 once they are there */
} search;

enum { WIDE = 32, HALF = 16, BYTE = 8, BYTE_MOST = 255 };

/* ---- The table ---- */

static size_t place_of(const search *f, value v)
{
    size_t at = ((uintptr_t)v >> 4) * 0x9e3779b97f4a7c15u >> 20;
    for (at &= f->room - 1; f->facts[at].wide && f->facts[at].wide != v;
         at = (at + 1) & (f->room - 1))
        ;
    return at;
}

static fact *find(const search *f, value v)
{
    fact *e = &f->facts[place_of(f, v)];
    return e->wide ? e : NULL;
}

/* ---- What is known ---- */

static LLVMTypeRef narrow_type(const search *f, value wide)
{
    return LLVMVectorType(LLVMIntTypeInContext(f->ctx, f->bits),
                          LLVMGetVectorSize(LLVMTypeOf(wide)));
}

static bool range_of(const void *ctx, value v, range *out)
{
    if (kj_lane_constants(v, out))
        return true;
    const fact *e = find(ctx, v);
    if (e)
        *out = e->lanes;
    return e != NULL;
}

static bool is_within(range r, int64_t from, int64_t to)
{
    return from <= r.least && r.most <= to;
}

/* ---- What can be made of lower bits ---- */

static bool fits(const search *f, value v, bool sign)
{
    range r;
    if (!range_of(f, v, &r))
        return false;
    return sign ? is_within(r, INT16_MIN, INT16_MAX) : is_within(r, 0, UINT16_MAX);
}

/* Are both numbers all there, as signed ones or as unsigned ones? */
static bool fit(const search *f, value a, value b)
{
    return (fits(f, a, true) && fits(f, b, true)) || (fits(f, a, false) && fits(f, b, false));
}

/* Is it a constant, or in the set? */
static bool is_in(const search *f, value v)
{
    range r;
    const fact *e = find(f, v);
    return e ? e->in : kj_lane_constants(v, &r);
}

static bool can_be_half(const search *f, value v)
{
    range by;
    value a = LLVMGetOperand(v, 0);
    kj_lane_call kind = kj_lane_call_of(v);
    if (kj_is_extension(v))
        return true;
    if (LLVMIsASelectInst(v))
        return is_in(f, LLVMGetOperand(v, 1)) && is_in(f, LLVMGetOperand(v, 2));
    value b = kind == KJ_LANE_ABS ? a : LLVMGetOperand(v, 1);
    if (!is_in(f, a) || !is_in(f, b))
        return false;
    if (kind == KJ_LANE_ABS)
        return fits(f, a, true);
    if (kind != KJ_LANE_OTHER)
        return fit(f, a, b);
    switch (LLVMGetInstructionOpcode(v)) {
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor: return true;
    case LLVMShl: return range_of(f, b, &by) && by.most < HALF;
    case LLVMAShr: return fits(f, a, true) || fits(f, a, false);
    default: return fits(f, a, false) && fits(f, b, false);
    }
}

/* Of sums that stay at 255: extended bytes and what adds them up. */
static bool can_be_byte(const search *f, value v)
{
    if (LLVMIsAZExtInst(v))
        return kj_lane_bits(LLVMTypeOf(LLVMGetOperand(v, 0))) <= BYTE;
    if (!LLVMIsABinaryOperator(v) || LLVMGetInstructionOpcode(v) != LLVMAdd)
        return false;
    for (unsigned i = 0; i < 2; i++) {
        range r = {-1, -1};
        value a = LLVMGetOperand(v, i);
        if (!is_in(f, a) || !range_of(f, a, &r) || r.least < 0 ||
            (LLVMIsConstant(a) && r.most > BYTE_MOST))
            return false;
    }
    return true;
}

/* ---- Who may use it ---- */

static bool compares(const search *f, value test)
{
    value a = LLVMGetOperand(test, 0), b = LLVMGetOperand(test, 1);
    if (!is_in(f, a) || !is_in(f, b))
        return false;
    if (f->bits == HALF)
        return fit(f, a, b);
    range r; /* what has stayed at 255 is above */
    return kj_lane_constants(b, &r) && is_within(r, 0, BYTE_MOST - 1);
}

static bool may_use(const search *f, value user)
{
    if (LLVMIsAICmpInst(user))
        return compares(f, user);
    if (LLVMIsATruncInst(user))
        return f->bits == HALF && kj_lane_bits(LLVMTypeOf(user)) <= HALF;
    const fact *e = find(f, user);
    return e && e->in;
}

/* An extension may be there twice. */
static bool is_used_well(const search *f, value v)
{
    bool any = false, all = true;
    for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
        bool well = may_use(f, LLVMGetUser(u));
        any |= well;
        all &= well;
    }
    return kj_is_extension(v) ? any : all && any;
}

/* Takes away what does not fit until all does; is something left? */
static bool settle(search *f)
{
    bool changed = true, any = false;
    for (size_t i = 0; i < f->n; i++)
        find(f, f->order[i])->in = true;
    while (changed) {
        changed = any = false;
        for (size_t k = 0; k < 2 * f->n; k++) { /* there and back */
            fact *e = find(f, f->order[k < f->n ? k : 2 * f->n - 1 - k]);
            bool in = e->in &&
                      (f->bits == HALF ? can_be_half(f, e->wide) : can_be_byte(f, e->wide)) &&
                      is_used_well(f, e->wide);
            changed |= in != e->in;
            e->in = in;
            any |= in;
        }
    }
    return any;
}

/* ---- The code ---- */

static value narrow_constant(search *f, value wide)
{
    enum { MOST = 64 };
    value v[MOST];
    LLVMTypeRef lane = LLVMIntTypeInContext(f->ctx, f->bits);
    unsigned n = LLVMGetVectorSize(LLVMTypeOf(wide));
    for (unsigned i = 0; i < n; i++)
        v[i] = LLVMConstInt(lane,
                            (uint64_t)LLVMConstIntGetSExtValue(LLVMGetAggregateElement(wide, i)) &
                                ((1u << f->bits) - 1),
                            false);
    return LLVMConstVector(v, n);
}

/* An extension of narrow lanes is asked for what it extends, which may be a truncation that is replaced meanwhile. */
static value narrow_of(search *f, value wide)
{
    fact *e = find(f, wide);
    if (!e)
        return narrow_constant(f, wide);
    return e->narrow ? e->narrow : LLVMGetOperand(wide, 0);
}

static value call(search *f, const char *name, LLVMTypeRef type, value *args, unsigned n)
{
    LLVMModuleRef module = LLVMGetGlobalParent(LLVMGetBasicBlockParent(LLVMGetInsertBlock(f->b)));
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    value fn = LLVMGetIntrinsicDeclaration(module, id, &type, 1);
    return LLVMBuildCall2(f->b, LLVMIntrinsicGetType(f->ctx, id, &type, 1), fn, args, n, "");
}

static value narrow_call(search *f, value v, kj_lane_call kind)
{
    static const char *const whole[] = {[KJ_LANE_ABS] = "llvm.abs",
                                        [KJ_LANE_SMIN] = "llvm.smin",
                                        [KJ_LANE_SMAX] = "llvm.smax",
                                        [KJ_LANE_UMIN] = "llvm.umin",
                                        [KJ_LANE_UMAX] = "llvm.umax"};
    value args[2] = {narrow_of(f, LLVMGetOperand(v, 0))};
    if (kind == KJ_LANE_ABS) {
        args[1] = LLVMConstInt(LLVMInt1TypeInContext(f->ctx), 0, false);
    } else {
        bool sign = fits(f, LLVMGetOperand(v, 0), true) && fits(f, LLVMGetOperand(v, 1), true);
        args[1] = narrow_of(f, LLVMGetOperand(v, 1));
        if (!sign) /* both from 0 on */
            kind = kind == KJ_LANE_SMIN ? KJ_LANE_UMIN : kind == KJ_LANE_SMAX ? KJ_LANE_UMAX : kind;
    }
    return call(f, whole[kind], narrow_type(f, v), args, 2);
}

static value narrow_binary(search *f, value v)
{
    LLVMOpcode op = LLVMGetInstructionOpcode(v);
    value a = LLVMGetOperand(v, 0), b = LLVMGetOperand(v, 1);
    value x = narrow_of(f, a), y = narrow_of(f, b);
    range by;
    if (f->bits == BYTE)
        return call(f, "llvm.uadd.sat", narrow_type(f, v), (value[]){x, y}, 2);
    if ((op == LLVMAShr || op == LLVMLShr) && kj_lane_constants(b, &by)) {
        bool sign = op == LLVMAShr && fits(f, a, true);
        int64_t places = by.least < HALF ? by.least : HALF - 1;
        if (!sign && by.least >= HALF)
            return LLVMConstNull(narrow_type(f, v));
        value shift = LLVMConstInt(LLVMIntTypeInContext(f->ctx, HALF), (uint64_t)places, false),
              all[64];
        for (unsigned i = 0, n = LLVMGetVectorSize(LLVMTypeOf(v)); i < n; i++)
            all[i] = shift;
        return LLVMBuildBinOp(f->b, sign ? LLVMAShr : LLVMLShr, x,
                              LLVMConstVector(all, LLVMGetVectorSize(LLVMTypeOf(v))), "");
    }
    op = op == LLVMSDiv ? LLVMUDiv : op == LLVMSRem ? LLVMURem : op;
    return LLVMBuildBinOp(f->b, op, x, y, "");
}

/* NULL: it is an extension of such lanes. */
static value make_narrow(search *f, const fact *e)
{
    value v = e->wide;
    LLVMTypeRef type = narrow_type(f, v);
    if (e->lanes.least == e->lanes.most) {
        value lane = LLVMConstInt(LLVMGetElementType(type), (uint64_t)e->lanes.least, true),
              all[64];
        unsigned n = LLVMGetVectorSize(type);
        for (unsigned i = 0; i < n; i++)
            all[i] = lane;
        return LLVMConstVector(all, n);
    }
    if (kj_is_extension(v)) {
        value from = LLVMGetOperand(v, 0);
        if (kj_lane_bits(LLVMTypeOf(from)) == f->bits)
            return NULL;
        return LLVMBuildCast(f->b, LLVMGetInstructionOpcode(v), from, type, "");
    }
    if (LLVMIsASelectInst(v))
        return LLVMBuildSelect(f->b, LLVMGetOperand(v, 0), narrow_of(f, LLVMGetOperand(v, 1)),
                               narrow_of(f, LLVMGetOperand(v, 2)), "");
    kj_lane_call kind = kj_lane_call_of(v);
    return kind != KJ_LANE_OTHER ? narrow_call(f, v, kind) : narrow_binary(f, v);
}

/* What looks at it from outside the set, once all is made. */
static void make_user(search *f, value user)
{
    value out;
    LLVMPositionBuilderBefore(f->b, user);
    if (LLVMIsATruncInst(user)) {
        value from = narrow_of(f, LLVMGetOperand(user, 0));
        out = kj_lane_bits(LLVMTypeOf(user)) == HALF
                  ? from
                  : LLVMBuildTrunc(f->b, from, LLVMTypeOf(user), "");
    } else {
        value a = LLVMGetOperand(user, 0), b = LLVMGetOperand(user, 1);
        LLVMIntPredicate p = LLVMGetICmpPredicate(user);
        bool sign = f->bits == HALF && fits(f, a, true) && fits(f, b, true);
        if (!sign && p >= LLVMIntSGT && p <= LLVMIntSLE) /* both from 0 on */
            p = (LLVMIntPredicate)(p - LLVMIntSGT + LLVMIntUGT);
        out = LLVMBuildICmp(f->b, p, narrow_of(f, a), narrow_of(f, b), "");
    }
    LLVMReplaceAllUsesWith(user, out);
    LLVMInstructionEraseFromParent(user);
}

static void make_users(search *f, value v)
{
    LLVMUseRef next;
    for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = next) {
        value user = LLVMGetUser(u);
        next = LLVMGetNextUse(u);
        while (next && LLVMGetUser(next) == user) /* it goes */
            next = LLVMGetNextUse(next);
        if ((LLVMIsAICmpInst(user) || LLVMIsATruncInst(user)) && may_use(f, user))
            make_user(f, user);
    }
}

static void rewrite(search *f)
{
    for (size_t i = 0; i < f->n; i++) {
        fact *e = find(f, f->order[i]);
        if (!e->in)
            continue;
        LLVMPositionBuilderBefore(f->b, e->wide);
        e->narrow = make_narrow(f, e);
    }
    for (size_t i = 0; i < f->n; i++)
        if (find(f, f->order[i])->in)
            make_users(f, f->order[i]);
    for (size_t i = f->n; i-- > 0;) { /* those that use it have gone, but of extensions */
        fact *e = find(f, f->order[i]);
        if (e->in && !LLVMGetFirstUse(f->order[i])) {
            e->in = false; /* another one may come to lie there */
            LLVMInstructionEraseFromParent(f->order[i]);
            f->order[i] = NULL;
        }
    }
    size_t left = 0;
    for (size_t i = 0; i < f->n; i++)
        if (f->order[i])
            f->order[left++] = f->order[i];
    f->n = left;
}

/* ---- Of a function ---- */

static bool is_candidate(value v)
{
    enum { LEAST = 8, MOST = 64 };
    LLVMTypeRef type = LLVMTypeOf(v);
    if (kj_lane_bits(type) != WIDE)
        return false;
    unsigned n = LLVMGetVectorSize(type);
    return n >= LEAST && n <= MOST;
}

/* Notes v with its range, where one is known that 32 bits hold. */
static void note(search *f, value v)
{
    range r;
    if (!is_candidate(v) || !kj_lane_range_of(v, range_of, f, &r) ||
        !is_within(r, INT32_MIN, INT32_MAX))
        return;
    f->facts[place_of(f, v)] = (fact){.wide = v, .lanes = r};
    f->order[f->n++] = v;
}

static size_t count(value fn)
{
    size_t n = 0;
    for (LLVMBasicBlockRef k = LLVMGetFirstBasicBlock(fn); k; k = LLVMGetNextBasicBlock(k))
        for (value i = LLVMGetFirstInstruction(k); i; i = LLVMGetNextInstruction(i))
            n += is_candidate(i);
    return n;
}

static void narrow_function(search *f, value fn)
{
    size_t n = count(fn);
    if (n == 0)
        return;
    for (f->room = 16; f->room < 2 * n; f->room *= 2)
        ;
    f->n = 0;
    f->facts = calloc(f->room, sizeof *f->facts);
    f->order = calloc(n, sizeof *f->order);
    if (f->facts && f->order) {
        /* what a block uses of later ones is not known: loops' values are none of these */
        for (LLVMBasicBlockRef k = LLVMGetFirstBasicBlock(fn); k; k = LLVMGetNextBasicBlock(k))
            for (value i = LLVMGetFirstInstruction(k); i; i = LLVMGetNextInstruction(i))
                note(f, i);
        for (f->bits = BYTE; f->bits <= HALF; f->bits *= 2)
            if (settle(f))
                rewrite(f);
    }
    free(f->facts);
    free(f->order);
}

static bool widens(value i)
{
    LLVMOpcode op = LLVMGetInstructionOpcode(i);
    if (op != LLVMZExt && op != LLVMSExt)
        return false;
    LLVMTypeRef from = LLVMTypeOf(LLVMGetOperand(i, 0));
    if (LLVMGetTypeKind(from) != LLVMVectorTypeKind)
        return false;
    unsigned bits = LLVMGetIntTypeWidth(LLVMGetElementType(from));
    return bits == BYTE || bits == HALF;
}

bool kj_widens_bytes(LLVMModuleRef module)
{
    for (value fn = LLVMGetFirstFunction(module); fn; fn = LLVMGetNextFunction(fn))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b))
            for (value i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
                if (widens(i))
                    return true;
    return false;
}

void kj_narrow_sums(LLVMModuleRef module)
{
    LLVMContextRef ctx = LLVMGetModuleContext(module);
    search f = {.ctx = ctx, .b = LLVMCreateBuilderInContext(ctx)};
    for (value fn = LLVMGetFirstFunction(module); fn; fn = LLVMGetNextFunction(fn))
        narrow_function(&f, fn);
    LLVMDisposeBuilder(f.b);
}
