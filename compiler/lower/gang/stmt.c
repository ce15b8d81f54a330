/* Statements of a gang under a mask: if, loops, return, and unrolling.
 *
 * A condition that is the same for the gang is a branch. One that differs splits the mask: each
 * side runs, under its part, behind a test that some thread takes it. Code never runs for an empty
 * mask, so a uniform access inside it needs no test of its own. Where all threads of the gang are
 * known to run, what may lose some of them has two copies: one for the case that none is lost,
 * which needs no masks. */
#include "base/guard.h"
#include "lower/gang/gang.h"

/* Statements worth a second copy: where masks are made of other instructions, and where they are
 * the hardware's. */
enum { TWIN_MOST = 60, TWIN_CHEAP = 8, TWIN_BYTES = 240, UNROLLED = 8 };

static void branch(kj_lower *lo, LLVMValueRef test, LLVMBasicBlockRef yes, LLVMBasicBlockRef no)
{
    LLVMBuildCondBr(lo->b, test, yes, no);
    LLVMPositionBuilderAtEnd(lo->b, yes);
}

/* Goes on in `block`, from here too unless control has left. */
static void fall_into(kj_lower *lo, LLVMBasicBlockRef block)
{
    if (!kj_has_ended(lo))
        LLVMBuildBr(lo->b, block);
    LLVMPositionBuilderAtEnd(lo->b, block);
}

/* Does a value of this dependence differ inside the gang? */
static bool differs(const kj_lower *lo, uint8_t dep)
{
    return kj_rows_of(lo, dep) > 1 || kj_lanes_of(lo, dep) > 1;
}

/* ---- Statements under part of a mask ---- */

static bool is_exit(const kj_tstmt *s)
{
    return s && (s->kind == KJ_TS_BREAK || s->kind == KJ_TS_CONTINUE || s->kind == KJ_TS_LEAVE ||
                 s->kind == KJ_TS_REPORT);
}

/* Emits [s, end) for the threads m, a part of `outer` that may be empty; joins those that reach the
 * end into `arrived`, unless that is NULL. */
void kj_lower_part(kj_lower *lo, const kj_tstmt *s, const kj_tstmt *end, kj_mask outer, kj_mask m,
                   const kj_mask_slot *arrived)
{
    bool twin = lo->twin, before = lo->few, rolled = lo->rolled;
    const kj_loaded *at_hand = lo->at_hand;
    LLVMBasicBlockRef done = kj_new_block(lo, "join"), some = kj_new_block(lo, "some");
    lo->twin = true;
    int most = kj_has_dear_masks(s, end) ? TWIN_BYTES : lo->masks_cost ? TWIN_MOST : TWIN_CHEAP;
    kj_seam *seam = kj_is_present(lo, outer) ? kj_seam_find(lo, s, end) : NULL;
    bool worth = !is_exit(s) && (seam || kj_cost(s, end, most) <= most || kj_has_seams(lo, s, end));
    if (worth && kj_is_present(lo, outer) && (seam || !twin)) {
        LLVMBasicBlockRef every = kj_new_block(lo, "every"), few = kj_new_block(lo, "few");
        branch(lo, kj_mask_within(lo, lo->present, m), every, few);
        kj_seam_begin(lo, seam);
        kj_mask after = kj_lower_stmts(lo, s, end, lo->present);
        if (arrived && !kj_has_ended(lo))
            kj_mask_join(lo, arrived, after);
        fall_into(lo, done);
        kj_seam_end(lo, seam, few);
        LLVMPositionBuilderAtEnd(lo->b, few);
        lo->few = true;
        lo->at_hand = at_hand;
        lo->rolled |=
            seam != NULL; /* a torus' borders are few, and much code where they are written out */
    }
    branch(lo, kj_mask_any(lo, m), some, done);
    kj_mask after = kj_lower_stmts(lo, s, end, m);
    if (arrived && !kj_has_ended(lo))
        kj_mask_join(lo, arrived, after);
    fall_into(lo, done);
    lo->twin = twin;
    lo->few = before;
    lo->rolled = rolled;
}

/* What follows a statement that may have lost threads of `outer`: m is left. */
static kj_mask lower_rest(kj_lower *lo, const kj_tstmt *s, const kj_tstmt *end, kj_mask outer,
                          kj_mask m)
{
    if (!kj_loses(s, end, false)) {
        kj_lower_part(lo, s, end, outer, m, NULL);
        return m;
    }
    kj_mask_slot arrived = kj_mask_new(lo, "arrived", kj_none);
    kj_lower_part(lo, s, end, outer, m, &arrived);
    return kj_mask_load(lo, &arrived);
}

/* ---- Loops ---- */

typedef struct loop {
    kj_exit exit;
    LLVMBasicBlockRef head, body;
    kj_mask_slot live;     /* masked: the threads still in the loop */
    kj_mask m;             /* those that entered it */
    int unrolls;           /* lo->unrolls in front of it */
    const kj_tstmt *waits; /* lo->waits, likewise */
    kj_ahead *ahead;       /* and lo->ahead */
    bool few;              /* it has three turns at most */
    kj_counter *counters;
} loop;

static void loop_open(kj_lower *lo, loop *l, const kj_tstmt *s, kj_mask m)
{
    *l = (loop){.m = m,
                .unrolls = lo->unrolls,
                .head = kj_new_block(lo, "loop"),
                .body = kj_new_block(lo, "body")};
    l->exit =
        (kj_exit){.up = lo->exits, .target = s, .loop = true, .masked = differs(lo, s->divergence)};
    l->exit.next = kj_new_block(lo, "next");
    l->exit.done = kj_new_block(lo, "endloop");
    if (l->exit.masked) {
        l->live = kj_mask_new(lo, "live", m);
        l->exit.skip = kj_mask_new(lo, "skip", kj_none);
    }
    l->exit.lets_go =
        kj_leaves_masked(lo, s->kind == KJ_TS_FOR ? s->u.for_.body : s->u.while_.body);
    if (l->exit.lets_go)
        l->exit.gone = kj_mask_new(lo, "gone", kj_none);
    l->waits = lo->waits;
    l->ahead = lo->ahead;
    lo->ahead = NULL;
    if (kj_waits_by_loads(lo->arena, lo->kernel, s, NULL))
        lo->waits = s;
    l->counters = kj_counters_open(lo, s, m);
    fall_into(lo, l->head);
}

/* At the head: the threads in the loop. */
static kj_mask loop_live(kj_lower *lo, const loop *l)
{
    return l->exit.masked ? kj_mask_load(lo, &l->live) : l->m;
}

/* Those for which `test` holds enter the body, at its start; returns them. */
static kj_mask loop_enter(kj_lower *lo, loop *l, kj_mask live, kj_tile test)
{
    if (!l->exit.masked || (test.rows == 1 && test.lanes == 1)) {
        LLVMValueRef some = kj_mask_any(lo, kj_mask_of(test));
        if (l->exit.masked)
            branch(lo, some, l->body, l->exit.done);
        else
            kj_halt_enter(lo, l->exit.target, some, l->body, l->exit.done);
        return live;
    }
    live = kj_mask_and(lo, live, kj_mask_of(test));
    branch(lo, kj_mask_any(lo, live), l->body, l->exit.done);
    return live;
}

/* One copy of the body, for the threads m. */
static void loop_copy(kj_lower *lo, loop *l, const kj_tstmt *body, kj_mask m)
{
    kj_counters_tested(l->counters, NULL);
    kj_mask after = kj_lower_stmts(lo, body, NULL, m);
    if (l->exit.masked && !kj_has_ended(lo))
        kj_mask_store(lo, &l->live, kj_mask_or(lo, kj_mask_load(lo, &l->exit.skip), after));
    if (!kj_has_ended(lo))
        LLVMBuildBr(lo->b, l->exit.next);
}

/* Emits the body and goes to `next`. */
static void loop_body(kj_lower *lo, loop *l, const kj_tstmt *body, kj_mask m)
{
    bool twin = lo->twin;
    lo->exits = &l->exit;
    if (l->exit.masked) {
        kj_mask_store(lo, &l->exit.skip, kj_none);
        lo->twin = true;
    }
    if (l->exit.masked && !twin && kj_cost(body, NULL, TWIN_MOST) <= TWIN_MOST) {
        LLVMBasicBlockRef every = kj_new_block(lo, "every"), few = kj_new_block(lo, "few");
        branch(lo, kj_mask_within(lo, lo->present, m), every, few);
        kj_seam *seam = kj_seam_find(lo, body, NULL);
        kj_seam_begin(lo, seam);
        loop_copy(lo, l, body, lo->present);
        kj_seam_end(lo, seam, few);
        lo->ahead = NULL; /* its last turn */
        LLVMPositionBuilderAtEnd(lo->b, few);
    }
    loop_copy(lo, l, body, m);
    lo->exits = l->exit.up;
    lo->twin = twin;
    LLVMPositionBuilderAtEnd(lo->b, l->exit.next);
}

/* @unroll: not all turns that LLVM knows of, and of nested loops the innermost only, as their copies would
 * be the product. A shuffle over a known distance is a few instructions, over another one many. */
static void unroll_some(kj_lower *lo, const loop *l, LLVMValueRef back)
{
    const kj_tstmt *s = l->exit.target;
    bool asked = s->kind == KJ_TS_FOR && s->u.for_.unroll,
         all = lo->lanes > 1 && kj_has_few_distances(s);
    if (lo->rolled || lo->unrolls > l->unrolls || (!asked && !all))
        return;
    lo->unrolls++;
    kj_loop_hint(lo, back, all ? "llvm.loop.unroll.full" : "llvm.loop.unroll.count",
                 all ? 0 : UNROLLED);
}

/* From `next` back to the head while some thread is left; returns the threads that go on behind the
 * loop. */
static kj_mask loop_close(kj_lower *lo, loop *l)
{
    LLVMValueRef back = l->exit.masked ? kj_halt_close(lo, l->exit.target,
                                                       kj_mask_any(lo, kj_mask_load(lo, &l->live)),
                                                       l->head, l->exit.done)
                                       : LLVMBuildBr(lo->b, l->head);
    if (l->few)
        kj_loop_hint(lo, back, "llvm.loop.unroll.disable", 0);
    else
        unroll_some(lo, l, back);
    kj_counters_close(lo, l->counters);
    lo->waits = l->waits;
    lo->ahead = l->ahead;
    LLVMPositionBuilderAtEnd(lo->b, l->exit.done);
    if (l->exit.lets_go)
        return kj_mask_andnot(lo, l->m, kj_mask_load(lo, &l->exit.gone));
    return l->m;
}

/* Those for which all of the test holds. What it begins with ends the loop by itself, where all threads count
 * together; what follows is evaluated for those that are left. */
static kj_mask enter_while(kj_lower *lo, loop *l, const kj_texpr *test, kj_mask live)
{
    if (l->exit.masked && test->kind == KJ_TE_LOGIC && !test->u.logic.is_or) {
        LLVMBasicBlockRef body = l->body;
        l->body = kj_new_block(lo, "and");
        live = enter_while(lo, l, test->u.logic.lhs, live);
        l->body = body;
        test = test->u.logic.rhs;
    }
    live = loop_enter(lo, l, live, kj_lower_expr(lo, test, live));
    kj_counters_tested(l->counters, test);
    return live;
}

static kj_mask lower_while(kj_lower *lo, const kj_tstmt *s, kj_mask m)
{
    loop l;
    loop_open(lo, &l, s, m);
    kj_ahead *ahead = kj_ahead_while(lo, s, l.counters, m);
    kj_mask live = enter_while(lo, &l, s->u.while_.test, loop_live(lo, &l));
    if (s->divergence & KJ_DEP_ATOMIC || lo->waits == s)
        kj_fault_poll(lo);
    kj_ahead_turn(lo, ahead);
    loop_body(lo, &l, s->u.while_.body, live);
    return loop_close(lo, &l);
}

/* The loop variable, in memory as LLVM's optimiser likes it: a linear tile stays linear. */
typedef struct counter {
    kj_tile shape;
    bool wraps; /* may the last step lead out of the type's range? */
    LLVMValueRef at[KJ_MAX_ROWS];
} counter;

static counter counter_new(kj_lower *lo, kj_tile start, kj_tile stop, kj_tile step,
                           const char *name)
{
    counter c = {.shape = start};
    int rows = start.rows > step.rows ? start.rows : step.rows;
    if (step.lanes > 1 || (start.lanes > 1 && start.form != KJ_LINEAR))
        c.shape = kj_tile_spread(lo, start, rows, lo->lanes);
    else if (rows > start.rows)
        c.shape.v[1] = c.shape.v[2] = c.shape.v[3] = c.shape.v[0];
    c.shape.rows = (uint8_t)rows;
    kj_know_range(&c.shape, start, stop, step, true);
    c.wraps = c.shape.wraps;
    if (lo->target->narrows)
        c.shape = kj_bits(c.shape) <= 31 ? kj_tile_narrow(lo, c.shape) : kj_tile_wide(lo, c.shape);
    for (int r = 0; r < rows; r++) {
        c.at[r] = kj_alloca(lo, LLVMTypeOf(c.shape.v[r]), name);
        LLVMBuildStore(lo->b, c.shape.v[r], c.at[r]);
    }
    return c;
}

static kj_tile counter_read(kj_lower *lo, const counter *c)
{
    kj_tile t = c->shape;
    for (int r = 0; r < t.rows; r++)
        t.v[r] = LLVMBuildLoad2(lo->b, LLVMTypeOf(c->shape.v[r]), c->at[r], "");
    return t;
}

/* Takes the threads out of the loop whose next value would wrap around: only near the end of the
 * type's range. */
static void guard_step(kj_lower *lo, loop *l, kj_tile i, kj_tile stop, kj_tile step)
{
    LLVMBasicBlockRef near = NULL, on = kj_new_block(lo, "step");
    if (stop.lanes == 1 && stop.rows == 1 && kj_is_positive(step) && step.lanes == 1 &&
        step.rows == 1) {
        int bits = kj_types[step.type].bits - (kj_is_signed(step.type) ? 1 : 0);
        LLVMValueRef top = LLVMConstInt(lo->types[step.type],
                                        bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1, false);
        LLVMValueRef by = kj_tile_vector(lo, step, 0, 1);
        kj_tile last = kj_tile_scalar(step.type, LLVMBuildSub(lo->b, top, by, ""));
        near = kj_new_block(lo, "near");
        LLVMBuildCondBr(lo->b, kj_tile_binary(lo, KJ_OP_GT, stop, last).v[0], near, on);
        LLVMPositionBuilderAtEnd(lo->b, near);
    }
    kj_mask fits = kj_mask_of(kj_step_fits(lo, i, stop, step));
    if (l->exit.masked) {
        kj_mask_store(lo, &l->live, kj_mask_and(lo, kj_mask_load(lo, &l->live), fits));
        LLVMBuildBr(lo->b, on);
    } else {
        LLVMBuildCondBr(lo->b, kj_mask_any(lo, fits), on, l->exit.done);
    }
    LLVMPositionBuilderAtEnd(lo->b, on);
}

static void loop_step(kj_lower *lo, loop *l, const counter *c, kj_tile i, kj_tile stop,
                      kj_tile step)
{
    if (c->wraps && !kj_is_unit_step(step))
        guard_step(lo, l, i, stop, step);
    if (c->shape.narrow) { /* as i32, where the sum may wrap as far as LLVM knows: were it sure, it
                              would keep addresses in place of i, each step of which is two adds */
        i = kj_tile_convert(lo, i, KJ_I32);
        step = kj_tile_convert(lo, step, KJ_I32);
    }
    kj_tile next = kj_tile_binary(lo, KJ_OP_ADD, i, step);
    if (lo->target->narrows)
        next = kj_tile_wide(lo, next);
    bool as_it_is = next.form == KJ_LINEAR || lo->target->narrows;
    for (int r = 0; r < next.rows; r++)
        LLVMBuildStore(lo->b, as_it_is ? next.v[r] : kj_tile_vector(lo, next, r, next.lanes),
                       c->at[r]);
}

static kj_mask lower_list(kj_lower *lo, const kj_tstmt *s, const kj_tstmt *end, kj_mask m);

/* @unroll, loops over parts of an element, and short ones away from the seam: the body once a value. */
static bool lower_copies(kj_lower *lo, const kj_tstmt *s, kj_mask m)
{
    kj_turns turns;
    bool parts = kj_is_over_parts(lo, s) && kj_known_turns(s, &turns);
    if (lo->rolled || !(parts || kj_unroll_turns(s, &turns) || kj_seam_unrolls(lo, s, &turns)) ||
        kj_loses(s->u.for_.body, NULL, false))
        return false;
    kj_slot *slot = &lo->slots[s->u.for_.var->id];
    for (uint64_t k = 0; k < turns.n; k++) {
        slot->known = true;
        int64_t i = (int64_t)(turns.start + k * turns.step);
        slot->tile = kj_tile_const(lo, kj_int(s->u.for_.var->type, i));
        kj_parts_renew(lo, s->u.for_.var);
        if (kj_looks(lo, s, KJ_LOOK_WITHIN))
            kj_halt_look(lo, s);
        lower_list(lo, s->u.for_.body, NULL, m);
    }
    return true;
}

static kj_mask lower_turns(kj_lower *lo, const kj_tstmt *s, kj_tile start, kj_tile stop,
                           kj_tile step, kj_mask m)
{
    const kj_var *v = s->u.for_.var;
    LLVMBasicBlockRef striped = NULL;
    bool twin = lo->twin;
    kj_range range = {start, stop, step};
    LLVMBasicBlockRef along = kj_lower_along(lo, s, &range, m);
    if (along)
        striped = along;
    else if (!differs(lo, s->divergence))
        start = kj_lower_strips(lo, s, &range, m);
    else
        striped = kj_lower_strips_apart(lo, s, &range, m);
    lo->twin |= striped != NULL; /* what is left is seldom run */
    LLVMValueRef whole = start.v[0];
    start = kj_lower_fours(lo, s, &(kj_range){start, stop, step}, m);
    bool few = start.v[0] != whole; /* what four turns at a time have left */
    counter c = counter_new(lo, start, stop, step, v->name);
    kj_ahead *ahead = kj_ahead_for(lo, s, stop, step);
    loop l;
    loop_open(lo, &l, s, m);
    l.few = few;
    kj_tile i = counter_read(lo, &c);
    kj_mask live = loop_enter(lo, &l, loop_live(lo, &l), kj_in_range(lo, i, stop, step));
    kj_slot *slot = &lo->slots[v->id];
    slot->known = true;
    slot->tile = i;
    kj_know_range(&slot->tile, start, stop, step, false);
    if (kj_waits(lo->arena, lo->kernel, s))
        kj_fault_poll(lo);
    kj_ahead_turn(lo, ahead);
    loop_body(lo, &l, s->u.for_.body, live);
    loop_step(lo, &l, &c, counter_read(lo, &c), stop, step);
    m = loop_close(lo, &l);
    lo->twin = twin;
    if (striped)
        fall_into(lo, striped);
    return m;
}

static kj_mask lower_for(kj_lower *lo, const kj_tstmt *s, kj_mask m)
{
    if (lower_copies(lo, s, m))
        return m;
    kj_parts_end(lo);
    kj_hoisted hoisted;
    kj_tile start = kj_lower_expr(lo, s->u.for_.start, m),
            stop = kj_lower_expr(lo, s->u.for_.stop, m);
    kj_tile step = kj_tile_dense(lo, kj_lower_expr(lo, s->u.for_.step, m));
    if (kj_leaves_masked(lo, s->u.for_.body) || !kj_hoist(lo, s, &hoisted))
        return lower_turns(lo, s, start, stop, step, m);
    LLVMBasicBlockRef inside = kj_new_block(lo, "inside"), some = kj_new_block(lo, "outside"),
                      done = kj_new_block(lo, "done");
    kj_mask ok = kj_hoisted_inside(lo, &hoisted, start, stop, m);
    branch(lo, kj_mask_within(lo, m, ok), inside, some);
    kj_hoisted_begin(lo, &hoisted);
    lower_turns(lo, s, start, stop, step, m);
    kj_hoisted_end(lo, &hoisted, some, m);
    fall_into(lo, done);
    LLVMPositionBuilderAtEnd(lo->b, some);
    lower_turns(lo, s, start, stop, step, m);
    fall_into(lo, done);
    return m;
}

/* ---- Statements ---- */

kj_mask kj_lower_within(kj_lower *lo, const kj_tblock *block, const kj_tstmt *s,
                        const kj_tstmt *end, kj_mask m)
{
    kj_exit x = {.up = lo->exits, .target = block, .masked = differs(lo, block->divergence)};
    x.done = kj_new_block(lo, "return");
    lo->exits = &x;
    kj_lower_stmts(lo, s, end, m);
    lo->exits = x.up;
    fall_into(lo, x.done);
    return m;
}

kj_mask kj_lower_inline(kj_lower *lo, const kj_tblock *block, kj_mask m)
{
    return kj_lower_within(lo, block, block->body, NULL, m);
}

/* Values of every thread, for a report or a launch. */
static const kj_tile *full_tiles(kj_lower *lo, kj_texpr *const *values, int n, kj_mask m)
{
    kj_tile *full = KJ_NEW_ARRAY(lo->arena, kj_tile, (size_t)n);
    for (int i = 0; i < n; i++)
        full[i] = kj_tile_full(lo, kj_lower_expr(lo, values[i], m));
    return full;
}

static kj_mask lower_stmt(kj_lower *lo, const kj_tstmt *s, kj_mask m)
{
    const kj_tile *values;
    kj_lines_at(lo, s->span);
    kj_parts_before(lo, s);
    switch (s->kind) {
    case KJ_TS_DECL: {
        const kj_var *v = s->u.decl.var;
        kj_value zero = {.type = v->type};
        kj_slot_begin(
            lo, v, s->u.decl.init ? kj_lower_expr(lo, s->u.decl.init, m) : kj_tile_const(lo, zero),
            m);
        return m;
    }
    case KJ_TS_ASSIGN: kj_slot_assign(lo, s, m); return m;
    case KJ_TS_STORE:
        kj_lower_store(lo, s->u.store.array, s->u.store.index, s->u.store.value, m);
        return m;
    case KJ_TS_EXPR: kj_lower_effect(lo, s->u.expr, m); return m;
    case KJ_TS_IF: return kj_lower_if(lo, s, m);
    case KJ_TS_FOR: return lower_for(lo, s, m);
    case KJ_TS_WHILE: return lower_while(lo, s, m);
    case KJ_TS_BREAK: return kj_leave(lo, NULL, false, m);
    case KJ_TS_CONTINUE: return kj_leave(lo, NULL, true, m);
    case KJ_TS_LEAVE: kj_alive_leave(lo, s->u.leave, m); return kj_leave(lo, s->u.leave, false, m);
    case KJ_TS_INLINE: return kj_lower_inline(lo, s->u.block, m);
    case KJ_TS_BARRIER: /* of a block's code: between regions */
        if (lo->target->barrier)
            lo->target->barrier(lo, s, m);
        return m;
    case KJ_TS_REPORT:
        values = full_tiles(lo, s->u.report.values, s->u.report.site->nvalues, m);
        return kj_lower_report(lo, s->u.report.site, values, m);
    case KJ_TS_LAUNCH:
        values = full_tiles(lo, s->u.launch.values, s->u.launch.nvalues, m);
        kj_slot_begin(lo, s->u.launch.result, kj_lower_launch(lo, s, values, m), m);
        return m;
    case KJ_TS_ARRAY: /* placed when it is first used, or with the block */
        lo->since[s->u.array->id] = m;
        kj_local_begin(lo, s->u.array);
        kj_watch_begun(lo, s->u.array, m);
        return m;
    }
    return m;
}

static void look_before(kj_lower *lo, const kj_tstmt *s)
{
    if (kj_looks(lo, s, KJ_LOOK_BEFORE))
        kj_halt_look(lo, s);
}

static kj_mask lower_list(kj_lower *lo, const kj_tstmt *s, const kj_tstmt *end, kj_mask m)
{
    KJ_REQUIRE(m.kind != KJ_SOME || ((m.t.rows == 1 || m.t.rows == lo->rows) &&
                                     (m.t.lanes == 1 || m.t.lanes == lo->lanes)));
    for (; s != end && m.kind != KJ_NONE; s = s->next) {
        const kj_loaded *at_hand = kj_loads_at_hand(s) ? lo->at_hand : NULL;
        lo->at_hand = NULL; /* in copies, and where stores are joined */
        if (kj_lower_seam(lo, s, end, m))
            return m;
        look_before(lo, s);
        const kj_tstmt *last = kj_lower_group(lo, s, end, m);
        if (last) {
            for (; s != last; s = s->next) {
                kj_seam_passed(lo, s);
                look_before(lo, s->next);
            }
            kj_seam_passed(lo, last);
            continue;
        }
        lo->at_hand = at_hand;
        kj_mask after = lower_stmt(lo, s, m);
        lo->at_hand = s->kind == KJ_TS_DECL ? at_hand : NULL;
        kj_seam_passed(lo, s);
        if (after.kind == KJ_SOME && s->next != end && kj_loses(s, s->next, false))
            return lower_rest(lo, s->next, end, m, after);
        m = after;
    }
    return m;
}

kj_mask kj_lower_stmts(kj_lower *lo, const kj_tstmt *s, const kj_tstmt *end, kj_mask m)
{
    m = lower_list(lo, s, end, m);
    kj_parts_end(lo);
    return m;
}
