/* Loops of a GPU's thread that step by many elements, as `for i in range(grid(1), n, gridsize(1))` does: four turns in
 * a row while there are that many, so that the loads of four are under way together. LLVM would divide for the number
 * of turns, and does not; NVIDIA's assembler leaves such loops alone where one has an atomic, and both where the
 * last step may wrap around. */
#include "lower/gang/gang.h"

enum { FOUR = 4, HEAVIEST = 40 };

typedef struct search {
    bool loads, refused;
} search;

/* Threads that wait for each other do so in each turn. */
static bool visit(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    search *f = ctx;
    if (!e) {
        f->refused |= s->kind == KJ_TS_FOR || s->kind == KJ_TS_WHILE || s->kind == KJ_TS_BARRIER ||
                      s->kind == KJ_TS_LAUNCH || s->kind == KJ_TS_REPORT;
    } else if (e->kind == KJ_TE_LOAD) {
        f->loads |= e->u.load.array->root->param >= 0;
    } else if (e->kind == KJ_TE_CALL) {
        f->refused |= kj_builtins[e->u.call.id].how == KJ_HOW_WARP ||
                      kj_builtins[e->u.call.id].how == KJ_HOW_FENCE;
    }
    return !f->refused;
}

static bool is_worth_it(kj_lower *lo, const kj_tstmt *s, const kj_range *range)
{
    search f = {0};
    kj_turns turns;
    const kj_tstmt *body = s->u.for_.body;
    if (!lo->target->narrows || lo->rolled || lo->watch || kj_is_unit_step(range->step) ||
        !kj_is_positive(range->step) || kj_bits(range->step) > 31 || kj_bits(range->start) > 63 ||
        kj_bits(range->stop) > 63 || /* all are compared as i64 */
        kj_known_turns(s, &turns) || kj_loses(body, NULL, false) ||
        kj_cost(body, NULL, HEAVIEST) > HEAVIEST || kj_waits(lo->arena, lo->kernel, s))
        return false;
    kj_walk(body, NULL, visit, &f);
    return f.loads && !f.refused;
}

static LLVMValueRef word_of(kj_lower *lo, kj_tile t)
{
    return kj_tile_wide(lo, kj_tile_convert(lo, t, KJ_I64)).v[0];
}

/* What the variable may be; with `beyond` also behind the last value. */
static kj_tile shape_of(const kj_range *range, bool beyond)
{
    kj_tile t = kj_tile_scalar(range->start.type, NULL);
    kj_know_range(&t, range->start, range->stop, range->step, beyond);
    return t;
}

/* The variable with the value v. */
static kj_tile variable(kj_lower *lo, const kj_range *range, LLVMValueRef v, bool beyond)
{
    kj_tile t = shape_of(range, beyond);
    bool narrow = kj_types[t.type].bits == 64 && kj_bits(t) <= 31;
    t.v[0] = LLVMBuildIntCast2(lo->b, v, lo->types[t.type], true, "");
    return narrow ? kj_tile_narrow(lo, t) : t;
}

/* Four turns, from `first` on. */
static void four_turns(kj_lower *lo, const kj_tstmt *s, const kj_range *range, LLVMValueRef first,
                       LLVMValueRef step, kj_mask m)
{
    kj_slot *slot = &lo->slots[s->u.for_.var->id];
    for (int k = 0; k < FOUR; k++) {
        slot->known = true;
        slot->tile = variable(lo, range, first, false);
        kj_lower_stmts(lo, s->u.for_.body, NULL, m);
        first = LLVMBuildAdd(lo->b, first, step, "");
    }
}

/* The greatest number that the variable may be in what counts it. */
static int64_t top_of(kj_dtype type, bool narrow)
{
    int bits = kj_types[type].bits - (kj_is_signed(type) ? 1 : 0);
    int64_t top = bits >= 63 ? INT64_MAX : ((int64_t)1 << bits) - 1;
    return narrow && top > INT32_MAX ? INT32_MAX : top;
}

/* Is there a turn, and does no sum wrap around, also that of the step behind the last four? */
static LLVMValueRef may_begin(kj_lower *lo, LLVMValueRef start, LLVMValueRef stop,
                              LLVMValueRef step, int64_t top)
{
    LLVMValueRef by = LLVMBuildMul(lo->b, step, kj_i64(lo, FOUR), "");
    LLVMValueRef last = LLVMBuildSub(lo->b, kj_i64(lo, top), by, "");
    LLVMValueRef fits = LLVMBuildICmp(lo->b, LLVMIntSLE, stop, last, "");
    return LLVMBuildAnd(lo->b, fits, LLVMBuildICmp(lo->b, LLVMIntSLT, start, stop, ""), "");
}

kj_tile kj_lower_fours(kj_lower *lo, const kj_tstmt *s, const kj_range *range, kj_mask m)
{
    if (!is_worth_it(lo, s, range))
        return range->start;
    LLVMBasicBlockRef head = kj_new_block(lo, "fours"), body = kj_new_block(lo, "four"),
                      rest = kj_new_block(lo, "rest");
    bool narrow = kj_bits(shape_of(range, true)) <= 31;
    LLVMTypeRef word = narrow ? lo->i32 : lo->i64;
    LLVMValueRef start = word_of(lo, range->start), stop = word_of(lo, range->stop),
                 step = word_of(lo, range->step);
    LLVMValueRef may = may_begin(lo, start, stop, step, top_of(range->start.type, narrow));
    LLVMValueRef at = kj_alloca(lo, word, "first");
    LLVMBuildStore(lo->b, LLVMBuildTrunc(lo->b, start, word, ""), at);
    stop = LLVMBuildTrunc(lo->b, stop, word, "");
    step = LLVMBuildTrunc(lo->b, step, word, "");
    LLVMValueRef more = LLVMBuildMul(lo->b, step, LLVMConstInt(word, FOUR - 1, false), "");
    LLVMBuildCondBr(lo->b, may, head, rest);
    LLVMPositionBuilderAtEnd(lo->b, head);
    LLVMValueRef first = LLVMBuildLoad2(lo->b, word, at, "");
    LLVMValueRef fourth = LLVMBuildAdd(lo->b, first, more, "");
    kj_halt_enter(lo, s, LLVMBuildICmp(lo->b, LLVMIntSLT, fourth, stop, ""), body, rest);
    four_turns(lo, s, range, first, step, m);
    LLVMBuildStore(lo->b, LLVMBuildAdd(lo->b, fourth, step, ""), at);
    kj_loop_hint(lo, LLVMBuildBr(lo->b, head), "llvm.loop.unroll.disable", 0);
    LLVMPositionBuilderAtEnd(lo->b, rest);
    return variable(lo, range, LLVMBuildLoad2(lo->b, word, at, ""), true);
}
