/* Lowering: expressions and statements of one gang. */
#ifndef KJ_LOWER_GANG_H
#define KJ_LOWER_GANG_H

#include "lower/memory/memory.h"

/* ---- expr.c ---- */

/* An operation, of operands that are evaluated. */
kj_tile kj_operate(kj_lower *lo, const kj_texpr *e, kj_tile v[KJ_BUILTIN_ARGS], kj_mask m);
kj_tile kj_lower_expr(kj_lower *lo, const kj_texpr *e, kj_mask m);
void kj_lower_effect(kj_lower *lo, const kj_texpr *e, kj_mask m); /* nobody asks for its value */
/* Variables of the gang. */
kj_tile kj_slot_read(kj_lower *lo, const kj_var *v);
void kj_slot_write(kj_lower *lo, const kj_var *v, kj_tile t, kj_mask m); /* under the mask */
void kj_slot_assign(kj_lower *lo, const kj_tstmt *s, kj_mask m);         /* a KJ_TS_ASSIGN */
void kj_slot_begin(kj_lower *lo, const kj_var *v, kj_tile t, kj_mask m); /* its declaration */
void kj_slot_make(kj_lower *lo, const kj_var *v);                        /* its allocas */
bool kj_same_mask(kj_mask a, kj_mask b); /* are they the same threads, by construction? */

/* ---- access.c ---- */

kj_tile kj_lower_load(kj_lower *lo, const kj_tarray *a, kj_texpr *const *index, kj_mask m);
void kj_lower_store(kj_lower *lo, const kj_tarray *a, kj_texpr *const *index, const kj_texpr *value,
                    kj_mask m);
/* Is it a replay's array that the launch has written already? */
bool kj_is_replayed(const kj_lower *lo, const kj_tarray *a);
kj_access kj_lower_access(kj_lower *lo, const kj_tarray *a, kj_texpr *const *index, kj_mask m);
/* Stores all parts of an element, where that is what the statements from `s` on do: gives the last
 * of them, or NULL. */
const kj_tstmt *kj_lower_group(kj_lower *lo, const kj_tstmt *s, const kj_tstmt *end, kj_mask m);

/* Which part of a row of a short last axis is there at that last index, of a parameter or a view along its rows? -1: of
 * none, or that is not known. */
int64_t kj_part_of_row(const kj_tarray *a, int64_t index);

/* ---- parts.c ---- */

/* The store of a part of an element, computed: true if it is kept until the others are there. */
bool kj_parts_take(kj_lower *lo, const kj_tarray *a, kj_texpr *const *index, const kj_access *at,
                   kj_tile v, kj_mask m);
/* Stores what is kept: in front of a statement that may see it; of a variable's new value; now. */
void kj_parts_before(kj_lower *lo, const kj_tstmt *s);
void kj_parts_renew(kj_lower *lo, const kj_var *v);
void kj_parts_end(kj_lower *lo);
/* Is it a loop over parts of which some are stored? */
bool kj_is_over_parts(const kj_lower *lo, const kj_tstmt *s);

/* ---- counter.c ---- */

/* In front of a loop: the variables that its threads count in together, by threads m. */
kj_counter *kj_counters_open(kj_lower *lo, const kj_tstmt *s, kj_mask m);
void kj_counters_close(kj_lower *lo, kj_counter *all);
/* That part of the loop's test holds; NULL: all of it. */
void kj_counters_tested(kj_counter *all, const kj_texpr *test);
/* The step of the first that counts up to a number, with that and the variable; NULL: there is none. */
const kj_texpr *kj_counter_bounded(const kj_counter *all, const kj_var **var, kj_tile *stop);
kj_tile kj_counter_read(kj_lower *lo, const kj_counter *c);
/* The threads of m take their step; returns what they have then, of what they had. */
kj_tile kj_counter_step(kj_lower *lo, kj_counter *c, kj_tile own, kj_mask m);

/* ---- hoist.c ---- */

enum { KJ_MOST_HOISTED = 8 };

/* Checks that hold in all turns of a loop if they do in the first and the last. */
typedef struct kj_hoisted {
    const kj_index_check *checks[KJ_MOST_HOISTED];
    int n;
    /* The other checks, where the loop notes that one failed, and may be run again with its variables as before. */
    bool notes;
    const kj_index_check *noted[KJ_MOST_HOISTED];
    const kj_var *vars[KJ_MOST_HOISTED];
    kj_tile before[KJ_MOST_HOISTED];
    int nnoted, nvars;
    LLVMValueRef outside; /* whether one has: an i1 in memory */
} kj_hoisted;

/* Are there some, in a for loop of which there may be two? */
bool kj_hoist(const kj_lower *lo, const kj_tstmt *s, kj_hoisted *out);
/* The threads for which they hold in the range. */
kj_mask kj_hoisted_inside(kj_lower *lo, const kj_hoisted *h, kj_tile start, kj_tile stop,
                          kj_mask m);
bool kj_is_hoisted(const kj_lower *lo, const kj_index_check *c);
/* Around the loop that is run where they do. It goes to `again` where one of the others failed. */
void kj_hoisted_begin(kj_lower *lo, kj_hoisted *h);
void kj_hoisted_end(kj_lower *lo, const kj_hoisted *h, LLVMBasicBlockRef again, kj_mask m);
/* In it: notes an index that is outside; returns it, or 0. */
kj_tile kj_note_outside(kj_lower *lo, kj_tile index, LLVMValueRef inside);

/* ---- seam.c, seam_find.c ---- */

enum { KJ_SEAM_VARS = 12 };

/* Statements of which there are two copies: one that leaves where a gang meets the seam of a torus. */
struct kj_seam {
    const kj_tstmt *first, *end;
    const kj_tstmt
        *last; /* of which what may meet it is looked at there: nothing has happened yet */
    bool open; /* up to there */
    const kj_texpr
        *ahead[KJ_SEAM_VARS]; /* of later ones that was looked at in front, where it is a line */
    bool tested[KJ_SEAM_VARS];
    bool
        mends; /* variables get another value at the border, which they keep from their begin elsewhere */
    int nahead;
    LLVMBasicBlockRef met;
    const kj_var *vars[KJ_SEAM_VARS]; /* what they assign, and what was there before */
    LLVMValueRef places[KJ_SEAM_VARS][KJ_MAX_ROWS], before[KJ_SEAM_VARS][KJ_MAX_ROWS];
    int nvars;
};

/* Are the statements [s, end) such that all is as it was until the last of them that may meet a seam? NULL: they are
 * not. */
kj_seam *kj_seam_find(kj_lower *lo, const kj_tstmt *s, const kj_tstmt *end);
/* Do they, or what is in them, ask for neighbours that may lie beyond a seam? */
bool kj_has_seams(kj_lower *lo, const kj_tstmt *s, const kj_tstmt *end);
/* Lowers them where that is so, and they run for m: else false. */
bool kj_lower_seam(kj_lower *lo, const kj_tstmt *s, const kj_tstmt *end, kj_mask m);
/* Around the copy for gangs that meet none; others go on at `again`, which is the other copy's begin. NULL: nothing. */
void kj_seam_begin(kj_lower *lo, kj_seam *s);
void kj_seam_passed(kj_lower *lo, const kj_tstmt *s); /* behind each statement in it */
void kj_seam_end(kj_lower *lo, kj_seam *s, LLVMBasicBlockRef again);
/* In that copy: a remainder a % b, and a selection, of a neighbour; false where it is computed like any other. */
bool kj_seam_remainder(kj_lower *lo, const kj_texpr *e, kj_tile a, kj_tile b, kj_tile *out);
bool kj_seam_choice(kj_lower *lo, const kj_texpr *e, kj_mask m, kj_tile *out);
/* And a coordinate that is held within borders. */
bool kj_seam_clamped(kj_lower *lo, const kj_texpr *e, kj_mask m, kj_tile *out);
/* And does the variable keep its first value, t? Is it the statement that would change it? */
bool kj_seam_keeps(kj_lower *lo, const kj_var *v, kj_tile t);
bool kj_seam_mends(kj_lower *lo, const kj_tstmt *s, kj_mask m);
/* Away from the seam, is a loop of a few turns, as over neighbours? LLVM takes the tests of where it lies for a reason to leave
 * the outer of two as it is, in which sums stay as wide as they are written. The seldom run copies are `rolled`. */
bool kj_seam_unrolls(const kj_lower *lo, const kj_tstmt *s, kj_turns *turns);

/* ---- strip.c ---- */

/* The range of a loop. */
typedef struct kj_range {
    kj_tile start, stop, step;
} kj_range;

/* Runs most turns of a for loop by strips, where that is faster; returns where those begin that are left. */
kj_tile kj_lower_strips(kj_lower *lo, const kj_tstmt *s, const kj_range *range, kj_mask m);
/* The same of one whose threads take a number of turns each, all of them: goes on where it cannot, and returns where
 * both meet; NULL: it never can. */
LLVMBasicBlockRef kj_lower_strips_apart(kj_lower *lo, const kj_tstmt *s, const kj_range *range,
                                        kj_mask m);
/* Likewise a thread after the other, where lanes can be its turns (along.c). */
LLVMBasicBlockRef kj_lower_along(kj_lower *lo, const kj_tstmt *s, const kj_range *range, kj_mask m);
/* Likewise four turns at a time, of a GPU's thread (fours.c). */
kj_tile kj_lower_fours(kj_lower *lo, const kj_tstmt *s, const kj_range *range, kj_mask m);
/* In lo->strip: is it a load that was made already? Then *out is what it gave. */
bool kj_strip_loaded(kj_lower *lo, kj_texpr *const *index, kj_tile *out);
/* Is it a store that waits for the strip's end? Then the value is computed and kept. */
bool kj_strip_stored(kj_lower *lo, kj_texpr *const *index, const kj_texpr *value, kj_mask m);

/* ---- ahead.c ---- */

/* Of a loop: may what its turns access be fetched ahead? NULL: it is not. A while loop counts as those do. */
kj_ahead *kj_ahead_for(kj_lower *lo, const kj_tstmt *s, kj_tile stop, kj_tile step);
kj_ahead *kj_ahead_while(kj_lower *lo, const kj_tstmt *s, const kj_counter *counters, kj_mask m);
/* In each turn, in front of its body. */
void kj_ahead_turn(kj_lower *lo, kj_ahead *a);
/* Beside an access within lo->ahead: fetches what it accesses some turns later. */
void kj_fetch_ahead(kj_lower *lo, const kj_tarray *a, kj_texpr *const *index, const kj_access *at);

/* ---- value_check.c ---- */

/* Ends the launch where the operation's value is not as --check has it: of it, and behind it its operands. */
void kj_lower_warp_check(kj_lower *lo, const kj_texpr *e, kj_tile members, kj_mask m);
/* The threads of the gang that have not returned, where someone asks: at its begin; without those that do. */
void kj_alive_begin(kj_lower *lo, kj_mask m);
void kj_alive_leave(kj_lower *lo, const kj_tblock *block, kj_mask m);
void kj_lower_value_check(kj_lower *lo, const kj_texpr *e, const kj_tile *values, kj_mask m);

/* ---- early.c ---- */

/* Is the operation one of floats that the launch has in common? Then it is computed in front of the blocks
 * (kj_lower.front). */
bool kj_is_early(const kj_lower *lo, const kj_texpr *e, const kj_tile *operands, int n);
kj_tile kj_operate_early(kj_lower *lo, const kj_texpr *e, kj_tile *operands, int n, kj_mask m);

/* ---- builtin.c ---- */

kj_tile kj_lower_call(kj_lower *lo, const kj_texpr *e, kj_tile *args, kj_mask m);

/* ---- atomic.c ---- */

kj_tile kj_lower_atomic(kj_lower *lo, const kj_texpr *e, const kj_access *at, const kj_tile *args,
                        kj_mask m, bool used);

/* ---- warp.c ---- */

/* Of a gang on a CPU, which holds whole warps: what kj_lowering has by that name. */
kj_tile kj_gang_warp(kj_lower *lo, const kj_texpr *e, const kj_tile *args, kj_mask m);
/* Of a CPU's warps: the lanes of which all that run and are members name the same members, a u32. */
kj_mask kj_warp_agrees(kj_lower *lo, kj_tile members, kj_mask m);
void kj_gang_fence(kj_lower *lo, kj_builtin id, const kj_tile *args);
/* Do its few turns shuffle over distances that are known once it is unrolled? */
bool kj_has_few_distances(const kj_tstmt *loop);

/* ---- watch.c: nothing in code that is not watched ---- */

void kj_watch_open(kj_lower *lo);
void kj_watch_block(kj_lower *lo, LLVMValueRef block);
void kj_watch_barrier(kj_lower *lo);
void kj_watch_begun(kj_lower *lo, const kj_tarray *a, kj_mask m);
/* stored: the value, of a store. */
void kj_watch_access(kj_lower *lo, const kj_tarray *a, const kj_access *at, uint32_t flags,
                     const kj_tile *stored, kj_mask m);
/* Once it is done: what was in memory, and what was expected. */
void kj_watch_cas(kj_lower *lo, const kj_tarray *a, const kj_access *at, kj_tile was,
                  kj_tile expected, kj_mask m);
void kj_watch_fence(kj_lower *lo, kj_builtin id, kj_mask m);
void kj_watch_warp(kj_lower *lo, kj_builtin id, const kj_tile *args, kj_mask m);

/* ---- fault.c ---- */

/* Claims the launch's fault, for the thread of that number; returns where it is, for the code after
 * this to fill in, which only those run that come before what was told so far. kj_fault_end closes it. */
LLVMValueRef kj_fault_begin(kj_lower *lo, kj_fault_kind kind, LLVMValueRef offset, int child,
                            LLVMValueRef thread);
void kj_fault_end(kj_lower *lo, LLVMValueRef fault);
/* Has some thread failed, so that others may wait for it in vain? An i1. */
LLVMValueRef kj_has_fault(kj_lower *lo);
/* Ends when some thread has: it may hold the lock that a loop waits for. */
void kj_fault_poll(kj_lower *lo);
/* Ends, on a GPU, when one has that was to give what the thread goes by: behind a barrier, or in a warp. */
void kj_fault_look(kj_lower *lo);
/* A thread fails there, and ends. Values as words, as many as the site has. */
void kj_fault_tell(kj_lower *lo, const kj_site *site, const LLVMValueRef thread[3],
                   const LLVMValueRef *values);
/* The bits of a scalar as an i64; linear numbers, x fastest, of a thread in its block and of the block. */
LLVMValueRef kj_word(kj_lower *lo, LLVMValueRef v);
LLVMValueRef kj_thread_number(kj_lower *lo, const LLVMValueRef at[3]);
LLVMValueRef kj_block_number(kj_lower *lo);
LLVMValueRef kj_report_field(kj_lower *lo, LLVMValueRef base, size_t offset);
/* Ends when the launch is to: in a turn of a loop, unless its turns are known to be few; and where a
 * block begins. Some turns of a loop that goes by what other threads have given look for failures, too, where those
 * would leave it to turn for ever. */
void kj_halt_poll(kj_lower *lo, const kj_tstmt *loop);
/* The same as a part of the test by which a turn begins (`more`), at whose start it goes on, or by which one ends (the branch
 * is returned): to `in`, else to `out`. */
void kj_halt_enter(kj_lower *lo, const kj_tstmt *loop, LLVMValueRef more, LLVMBasicBlockRef in,
                   LLVMBasicBlockRef out);
LLVMValueRef kj_halt_close(kj_lower *lo, const kj_tstmt *loop, LLVMValueRef more,
                           LLVMBasicBlockRef in, LLVMBasicBlockRef out);
void kj_halt_poll_block(kj_lower *lo);
void kj_halt_near(kj_lower *lo, LLVMValueRef halt); /* of a CPU: where the function begins */
/* The same in front of a statement. */
void kj_halt_look(kj_lower *lo, const kj_tstmt *s);
/* Of a halt that is far away: asks the host, and where it is set goes on when the copy is, too, else at `on`; and
 * ends, where the copy is set. */
void kj_halt_ask(kj_lower *lo, LLVMBasicBlockRef on);
void kj_halt_tell(kj_lower *lo);
/* Ends a turn of waiting for other blocks: `again`, but to `end` where the halt is seen to be set. */
void kj_halt_poll_wait(kj_lower *lo, LLVMBasicBlockRef again, LLVMBasicBlockRef end);
void kj_store_field(kj_lower *lo, LLVMValueRef base, size_t offset, LLVMValueRef v);

/* ---- looks.c ---- */

typedef enum kj_look_at {
    KJ_LOOK_BEFORE, /* a statement, or what runs once for the block */
    KJ_LOOK_WITHIN, /* in each turn of a loop; of what all gangs run, in front of each */
} kj_look_at;

/* Of a CPU's code that polls: finds where it has to look that its long loops do not; so many blocks run together. */
void kj_looks_plan(kj_lower *lo, int64_t together);
bool kj_looks(const kj_lower *lo, const void *at, kj_look_at how); /* a statement or a node */

/* ---- report.c ---- */

/* Of values of every thread; returns who goes on. */
kj_mask kj_lower_report(kj_lower *lo, const kj_site *site, const kj_tile *values, kj_mask m);
/* A value of every thread, and one thread's; the threads of a row that run, a bit each. */
kj_tile kj_tile_full(kj_lower *lo, kj_tile t);
LLVMValueRef kj_lane_of(kj_lower *lo, const kj_tile *t, int row, LLVMValueRef lane);
LLVMValueRef kj_row_bits(kj_lower *lo, kj_mask m, int row);

/* ---- exit.c ---- */

/* A mask in memory, for control flow to merge. */
typedef struct kj_mask_slot {
    LLVMValueRef at[KJ_MAX_ROWS];
} kj_mask_slot;
kj_mask_slot kj_mask_new(kj_lower *lo, const char *name, kj_mask m);
kj_mask kj_mask_load(kj_lower *lo, const kj_mask_slot *s);
void kj_mask_store(kj_lower *lo, const kj_mask_slot *s, kj_mask m);
void kj_mask_join(kj_lower *lo, const kj_mask_slot *s, kj_mask m); /* these too */

/* A loop or inlined body being emitted: where its exits go. Unmasked, all of the gang leaves at
 * once: a jump. */
struct kj_exit {
    kj_exit *up;
    const void *target; /* the loop statement or tblock */
    bool loop, masked;
    bool lets_go;                 /* loops: threads leave something around it that is masked */
    LLVMBasicBlockRef next, done; /* unmasked: where continue, and break or leave, jump */
    kj_mask_slot skip;            /* masked loops: threads that wait for the next iteration */
    kj_mask_slot gone;            /* with lets_go: the threads that left so */
};

/* The threads of m leave `target`, or the nearest loop when that is NULL; with `again` only for its next turn.
 * Returns those that go on: none. */
kj_mask kj_leave(kj_lower *lo, const void *target, bool again, kj_mask m);
/* Do threads leave from the statements of a loop's body something around the loop, not all of the
 * gang at once? */
bool kj_leaves_masked(const kj_lower *lo, const kj_tstmt *s);
/* May a thread that enters the statements [s, end) not reach their end? */
bool kj_loses(const kj_tstmt *s, const kj_tstmt *end, bool in_loop);

/* ---- condition.c ---- */

kj_mask kj_lower_if(kj_lower *lo, const kj_tstmt *s, kj_mask m);
/* Has a condition around loaded that element? Then what it was. */
bool kj_is_at_hand(const kj_lower *lo, const kj_tarray *a, kj_texpr *const *index, kj_tile *out);
/* It has been loaded: in a condition, for its sides. */
void kj_have_at_hand(kj_lower *lo, const kj_tarray *a, kj_texpr *const *index, kj_tile v);
/* May that statement be evaluated by what is at hand? All of it is evaluated, once, before it changes anything. */
bool kj_loads_at_hand(const kj_tstmt *s);

/* ---- stmt.c ---- */

/* Emits a statement list (up to `end`, exclusive) for the gang; returns the threads that reach its
 * end. */
kj_mask kj_lower_stmts(kj_lower *lo, const kj_tstmt *s, const kj_tstmt *end, kj_mask m);
/* The same for m, a part of `outer` that may be empty; joins the threads that reach the end into
 * `arrived`, which may be NULL. */
void kj_lower_part(kj_lower *lo, const kj_tstmt *s, const kj_tstmt *end, kj_mask outer, kj_mask m,
                   const kj_mask_slot *arrived);
/* Statements of an inlined body, or of the kernel's, and where leaving it leads; returns the threads
 * that go on. */
kj_mask kj_lower_within(kj_lower *lo, const kj_tblock *block, const kj_tstmt *s,
                        const kj_tstmt *end, kj_mask m);
kj_mask kj_lower_inline(kj_lower *lo, const kj_tblock *block, kj_mask m);

/* ---- launch.c ---- */

/* A launch's values for all of the gang: the grid's extents, then slots. */
typedef struct kj_launching {
    const kj_child *child;
    const kj_tile *values;
    int nslots;
    LLVMValueRef extents, slots; /* kj_gang_launch's: of one thread, in memory; NULL at first */
} kj_launching;

/* Value i of one thread, as it stands in memory; a place so many bytes behind another. */
LLVMValueRef kj_launch_value(kj_lower *lo, const kj_launching *l, int i, int row,
                             LLVMValueRef lane);
LLVMValueRef kj_byte_offset(kj_lower *lo, LLVMValueRef base, int64_t offset);
LLVMValueRef kj_gang_launch(kj_lower *lo, kj_launching *l, int row, LLVMValueRef lane);
/* Of values of every thread; returns the statuses. */
kj_tile kj_lower_launch(kj_lower *lo, const kj_tstmt *s, const kj_tile *values, kj_mask m);
kj_tile kj_lower_address(kj_lower *lo, const kj_tarray *root);

/* ---- cost.c ---- */

/* Of [s, end), about 1 a statement; most + 1 for all that is heavier than `most`. */
int kj_cost(const kj_tstmt *s, const kj_tstmt *end, int most);
enum { KJ_UNROLL_MOST = 4096, KJ_FEW_TURNS = 4096 };

/* May a loop have many turns, all that is within it included? */
bool kj_is_long(const kj_tstmt *loop);

/* Do they access bytes or half words, whose masks are branches, and once each? */
bool kj_has_dear_masks(const kj_tstmt *s, const kj_tstmt *end);

/* @unroll with constant bounds: false when the loop is better left a loop. */
bool kj_unroll_turns(const kj_tstmt *s, kj_turns *out);

#endif
