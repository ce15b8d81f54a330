/* Polling: code that looks whether its launch is to end, and then ends, after it has written where it was. */
#include "lower/gang/gang.h"

#include <stddef.h>

#include "target/target.h"

static LLVMBasicBlockRef end_of(const kj_lower *lo)
{
    return lo->stop ? lo->stop : lo->fail;
}

/* Goes on where this is the first to say so: a loop before all blocks that have not begun. The greatest wins, in
 * one step: in two, such a block might come in between, and the loop would not be told. */
static void claim(kj_lower *lo, kj_halted as)
{
    LLVMBasicBlockRef first = kj_new_block(lo, "first");
    LLVMValueRef at = kj_report_field(lo, lo->target->fault(lo), offsetof(kj_host_fault, halted));
    LLVMValueRef to = LLVMConstInt(lo->i32, (unsigned)as, false);
    LLVMValueRef before = LLVMBuildAtomicRMW(lo->b, LLVMAtomicRMWBinOpUMax, at, to,
                                             LLVMAtomicOrderingMonotonic, false);
    lo->target->scope(lo, before, false);
    LLVMBuildCondBr(lo->b, LLVMBuildICmp(lo->b, LLVMIntULT, before, to, ""), first, end_of(lo));
    LLVMPositionBuilderAtEnd(lo->b, first);
}

/* As the launch has it, whose blocks may share out those of another grid. */
static LLVMValueRef given_block(kj_lower *lo, int axis)
{
    LLVMValueRef at = kj_word(lo, lo->block[kj_swapped(axis, lo->kernel->lanes)]);
    return lo->given && axis == 0 ? LLVMBuildURem(lo->b, at, lo->given, "") : at;
}

/* at: NULL: in front of the block. */
static void write_place(kj_lower *lo, kj_halted as, const kj_tstmt *at, LLVMValueRef why)
{
    size_t block =
        at ? offsetof(kj_host_fault, halted_block) : offsetof(kj_host_fault, halted_front);
    claim(lo, as);
    LLVMValueRef fault = lo->target->fault(lo);
    for (int axis = 0; axis < 3; axis++)
        kj_store_field(lo, fault, block + 8 * (size_t)axis, given_block(lo, axis));
    if (at)
        kj_store_field(lo, fault, offsetof(kj_host_fault, halted_at),
                       LLVMConstInt(lo->i32, at->span.begin, false));
    kj_store_field(lo, fault, offsetof(kj_host_fault, halted_why), kj_word(lo, why));
    LLVMBuildBr(lo->b, end_of(lo));
}

static LLVMValueRef is_none(kj_lower *lo, LLVMValueRef word)
{
    return LLVMBuildICmp(lo->b, LLVMIntEQ, word, LLVMConstInt(lo->i32, KJ_HALT_NONE, false), "");
}

static LLVMValueRef load_word(kj_lower *lo, LLVMValueRef at, LLVMAtomicOrdering order)
{
    LLVMValueRef word = LLVMBuildLoad2(lo->b, lo->i32, at, "halt");
    LLVMSetOrdering(word, order);
    LLVMSetAlignment(word, 4);
    return word;
}

void kj_halt_near(kj_lower *lo, LLVMValueRef halt)
{
    lo->halt = halt;
    lo->halt_at = kj_alloca(lo, lo->ptr, "halt.at");
    LLVMBuildStore(lo->b, halt, lo->halt_at);
}

/* For each look LLVM takes the address for another one, which comes of the last. So the word is loaded again, by a load
 * that orders nothing: were it monotonic, as one of a word that others write would be, then none of a loop's loads by
 * masks or by indices could move out of the loop. */
static LLVMValueRef look_near(kj_lower *lo)
{
    LLVMValueRef at = kj_hidden(lo->b, LLVMBuildLoad2(lo->b, lo->ptr, lo->halt_at, ""));
    LLVMBuildStore(lo->b, at, lo->halt_at);
    return load_word(lo, at, LLVMAtomicOrderingUnordered);
}

/* Goes on where the word that is there says that the launch is to end, else at `on`; NULL: the near halt's. */
static LLVMValueRef when_halted(kj_lower *lo, LLVMValueRef at, LLVMBasicBlockRef on)
{
    LLVMBasicBlockRef halted = kj_new_block(lo, "halted");
    LLVMValueRef word = at ? load_word(lo, at, LLVMAtomicOrderingMonotonic) : look_near(lo);
    LLVMBuildCondBr(lo->b, is_none(lo, word), on, halted);
    LLVMPositionBuilderAtEnd(lo->b, halted);
    return word;
}

static void look(kj_lower *lo, LLVMValueRef halt, kj_halted as, const kj_tstmt *at)
{
    LLVMBasicBlockRef on = kj_new_block(lo, "on");
    write_place(lo, as, at, when_halted(lo, halt, on));
    LLVMPositionBuilderAtEnd(lo->b, on);
}

void kj_halt_poll_block(kj_lower *lo)
{
    const kj_tstmt turns = {.span = lo->kernel->turns};
    if (lo->halt)
        look(lo, NULL, lo->given ? KJ_HALTED_LOOP : KJ_HALTED_FRONT, lo->given ? &turns : NULL);
}

void kj_halt_look(kj_lower *lo, const kj_tstmt *s)
{
    look(lo, NULL, KJ_HALTED_STATEMENT, s);
}

/* ---- A halt that is far away ----
 *
 * An H100 read its host's memory a million times a second: were every thread to look there in its first turns, a
 * launch of 0.2 ms would take two seconds. So the halt has a copy in the device's memory, which the host makes when the
 * launch begins and whoever sees the halt set. */

enum { TURNS = 256, CYCLES = 1 << 20, LOOKS = 32 };

void kj_halt_ask(kj_lower *lo, LLVMBasicBlockRef on)
{
    LLVMValueRef word = when_halted(lo, lo->halt, on);
    LLVMValueRef told = LLVMBuildStore(lo->b, word, lo->near_halt);
    LLVMSetOrdering(told, LLVMAtomicOrderingMonotonic);
    LLVMSetAlignment(told, 4);
}

void kj_halt_tell(kj_lower *lo)
{
    write_place(lo, KJ_HALTED_FRONT, NULL,
                load_word(lo, lo->near_halt, LLVMAtomicOrderingMonotonic));
}

/* Is it the last of so many turns? Of all loops together: else one of few turns within another would never come to
 * look. */
static LLVMValueRef is_last_turn(kj_lower *lo)
{
    LLVMValueRef one = LLVMConstInt(lo->i32, 1, false),
                 rest = LLVMConstInt(lo->i32, TURNS - 1, false);
    LLVMValueRef n = LLVMBuildAdd(lo->b, LLVMBuildLoad2(lo->b, lo->i32, lo->turns, ""), one, "");
    LLVMBuildStore(lo->b, n, lo->turns);
    n = LLVMBuildAnd(lo->b, n, rest, "");
    return LLVMBuildICmp(lo->b, LLVMIntEQ, n, LLVMConstNull(lo->i32), "");
}

/* Is it long ago that the thread looked, or that it first asked? */
static LLVMValueRef is_long_ago(kj_lower *lo)
{
    LLVMValueRef now = lo->target->clock(lo), then = LLVMBuildLoad2(lo->b, lo->i64, lo->looked, ""),
                 never = LLVMBuildICmp(lo->b, LLVMIntEQ, then, kj_i64(lo, 0), "");
    then = LLVMBuildSelect(lo->b, never, now, then, "");
    LLVMValueRef ago = LLVMBuildSub(lo->b, now, then, ""),
                 due = LLVMBuildICmp(lo->b, LLVMIntUGE, ago, kj_i64(lo, CYCLES), "");
    LLVMBuildStore(lo->b, LLVMBuildSelect(lo->b, due, now, then, ""), lo->looked);
    return due;
}

/* Is it one of so many looks? Blocks begin at different ones. */
static LLVMValueRef asks(kj_lower *lo)
{
    LLVMValueRef one = LLVMConstInt(lo->i32, 1, false),
                 rest = LLVMConstInt(lo->i32, LOOKS - 1, false);
    LLVMValueRef n = LLVMBuildLoad2(lo->b, lo->i32, lo->looks, "");
    LLVMBuildStore(lo->b, LLVMBuildAdd(lo->b, n, one, ""), lo->looks);
    n = LLVMBuildAdd(lo->b, n, LLVMBuildTrunc(lo->b, kj_block_number(lo), lo->i32, ""), "");
    n = LLVMBuildAnd(lo->b, n, rest, "");
    return LLVMBuildICmp(lo->b, LLVMIntEQ, n, LLVMConstNull(lo->i32), "");
}

/* Goes on in the last of so many turns, else at `on`. */
static void when_last(kj_lower *lo, LLVMBasicBlockRef on)
{
    LLVMBasicBlockRef turns = kj_new_block(lo, "turns");
    LLVMBuildCondBr(lo->b, is_last_turn(lo), turns, on);
    LLVMPositionBuilderAtEnd(lo->b, turns);
}

/* Goes on where it is time, of such turns, to look at the copy, else at `on`; now and then after a look at the host's
 * memory. */
static void when_due(kj_lower *lo, LLVMBasicBlockRef on)
{
    LLVMBasicBlockRef due = kj_new_block(lo, "due"), ask = kj_new_block(lo, "ask"),
                      near = kj_new_block(lo, "near");
    LLVMBuildCondBr(lo->b, is_long_ago(lo), due, on);
    LLVMPositionBuilderAtEnd(lo->b, due);
    LLVMBuildCondBr(lo->b, asks(lo), ask, near);
    LLVMPositionBuilderAtEnd(lo->b, ask);
    kj_halt_ask(lo, near);
    LLVMBuildBr(lo->b, near);
    LLVMPositionBuilderAtEnd(lo->b, near);
}

/* ---- Loops ---- */

/* Does it look for failures, too, as it goes by what other threads give? */
static bool is_given(const kj_lower *lo, const kj_tstmt *loop)
{
    return lo->outlive && loop->divergence & (KJ_DEP_GIVEN | KJ_DEP_ATOMIC);
}

static bool polls(const kj_lower *lo, const kj_tstmt *loop)
{
    return (lo->halt || is_given(lo, loop)) &&
           (kj_is_long(loop) || kj_looks(lo, loop, KJ_LOOK_WITHIN));
}

void kj_halt_poll(kj_lower *lo, const kj_tstmt *loop)
{
    if (!polls(lo, loop))
        return;
    if (!lo->target->clock) {
        look(lo, NULL, KJ_HALTED_LOOP, loop);
        return;
    }
    LLVMBasicBlockRef on = kj_new_block(lo, "turn");
    when_last(lo, on);
    if (is_given(lo, loop))
        kj_fault_look(lo);
    if (lo->halt) {
        when_due(lo, on);
        look(lo, lo->near_halt, KJ_HALTED_LOOP, loop);
    }
    LLVMBuildBr(lo->b, on);
    LLVMPositionBuilderAtEnd(lo->b, on);
}

/* Goes to `in` where a loop is to have another turn and the halt is not set, else to `out`, or ends; returns the branch.
 * The look is a part of the loop's own test: were it another way out in front of a turn, or behind it, then the turn
 * would begin with nothing that is sure to be done, or end with less, and no load could move out of the loop. */
static LLVMValueRef test_near(kj_lower *lo, const kj_tstmt *loop, LLVMValueRef more,
                              LLVMBasicBlockRef in, LLVMBasicBlockRef out)
{
    LLVMBasicBlockRef no = kj_new_block(lo, "no"), halted = kj_new_block(lo, "halted");
    LLVMValueRef word = look_near(lo), none = is_none(lo, word);
    LLVMValueRef branch = LLVMBuildCondBr(lo->b, LLVMBuildAnd(lo->b, more, none, ""), in, no);
    LLVMPositionBuilderAtEnd(lo->b, no);
    LLVMBuildCondBr(lo->b, none, out, halted);
    LLVMPositionBuilderAtEnd(lo->b, halted);
    write_place(lo, KJ_HALTED_LOOP, loop, word);
    return branch;
}

void kj_halt_enter(kj_lower *lo, const kj_tstmt *loop, LLVMValueRef more, LLVMBasicBlockRef in,
                   LLVMBasicBlockRef out)
{
    bool near = !lo->target->clock && polls(lo, loop);
    if (near)
        test_near(lo, loop, more, in, out);
    else
        LLVMBuildCondBr(lo->b, more, in, out);
    LLVMPositionBuilderAtEnd(lo->b, in);
    if (!near)
        kj_halt_poll(lo, loop);
}

LLVMValueRef kj_halt_close(kj_lower *lo, const kj_tstmt *loop, LLVMValueRef more,
                           LLVMBasicBlockRef in, LLVMBasicBlockRef out)
{
    if (!lo->target->clock && polls(lo, loop))
        return test_near(lo, loop, more, in, out);
    kj_halt_poll(lo, loop);
    return LLVMBuildCondBr(lo->b, more, in, out);
}

void kj_halt_poll_wait(kj_lower *lo, LLVMBasicBlockRef again, LLVMBasicBlockRef end)
{
    if (!lo->halt) {
        LLVMBuildBr(lo->b, again);
        return;
    }
    when_last(lo, again);
    when_due(lo, again);
    when_halted(lo, lo->near_halt, again);
    LLVMBuildBr(lo->b, end);
}
