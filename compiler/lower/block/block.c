/* The regions of a block become code: regions as loops over gangs, and around them what runs once for
 * the block. */
#include "lower/block/block.h"

static void lower_nodes(kj_lower *lo, const kj_node *n);

static void go_on(kj_lower *lo, LLVMBasicBlockRef block)
{
    LLVMBuildBr(lo->b, block);
    LLVMPositionBuilderAtEnd(lo->b, block);
}

/* ---- Walks over the block's gangs ---- */

typedef struct walk {
    const kj_node *node;
    LLVMValueRef any, other; /* i1 in memory: did some gang set it */
    int64_t yes, no;         /* bytes to set */
    kj_mask stay;
} walk;

static LLVMValueRef flag_new(kj_lower *lo)
{
    LLVMValueRef at = kj_kept_alloca(lo, lo->i1, "any");
    LLVMBuildStore(lo->b, LLVMConstInt(lo->i1, 0, false), at);
    return at;
}

static LLVMValueRef flag_read(kj_lower *lo, LLVMValueRef at)
{
    return LLVMBuildLoad2(lo->b, lo->i1, at, "");
}

static void flag_join(kj_lower *lo, LLVMValueRef at, kj_mask m)
{
    LLVMBuildStore(lo->b, LLVMBuildOr(lo->b, flag_read(lo, at), kj_mask_any(lo, m), ""), at);
}

/* What a node has its gangs do. */
static void each_gang(kj_lower *lo, const kj_node *n, kj_gang_fn *each, void *arg)
{
    lo->before_gang = kj_looks(lo, n, KJ_LOOK_WITHIN) ? n->stmt : NULL;
    kj_within extent = kj_within_of(lo, n);
    kj_gang_within(lo, n->spin || n->alone, &extent, each, arg);
    lo->before_gang = NULL;
}

/* ---- Regions ---- */

static void gang_region(kj_lower *lo, kj_mask m, void *arg)
{
    walk *w = arg;
    const kj_node *n = w->node;
    kj_gang_enter(lo, n->region);
    kj_mask arrived;
    if (!lo->regions->barrier) {
        arrived = kj_lower_within(lo, lo->kernel->body, n->stmt, n->end, m);
    } else if (kj_level_deciding(lo->level)) {
        kj_mask_slot slot = kj_mask_new(lo, "arrived", kj_none);
        kj_lower_part(lo, n->stmt, n->end, m, kj_level_mask(lo, m, lo->level), &slot);
        arrived = kj_mask_load(lo, &slot);
    } else {
        arrived = kj_lower_stmts(lo, n->stmt, n->end, m);
    }
    kj_gang_leave(lo, n->region, arrived);
    if (w->any)
        flag_join(lo, w->any, arrived);
}

static void lower_region(kj_lower *lo, const kj_node *n)
{
    walk w = {.node = n, .any = n->exits ? flag_new(lo) : NULL};
    kj_gang_prepare(lo, n->region);
    each_gang(lo, n, gang_region, &w);
    const kj_level *l = kj_level_deciding(lo->level);
    if (n->exits && l) {
        LLVMBasicBlockRef some = kj_new_block(lo, "left");
        LLVMBuildCondBr(lo->b, flag_read(lo, w.any), some, l->end);
        LLVMPositionBuilderAtEnd(lo->b, some);
    }
}

/* ---- Conditions ---- */

static void gang_if(kj_lower *lo, kj_mask m, void *arg)
{
    walk *w = arg;
    kj_gang_enter(lo, w->node->region);
    m = kj_level_mask(lo, m, lo->level);
    LLVMBasicBlockRef some = kj_new_block(lo, "some"), done = kj_new_block(lo, "tested");
    kj_mask_slot yes = kj_mask_new(lo, "yes", kj_none);
    LLVMBuildCondBr(lo->b, kj_mask_any(lo, m), some, done);
    LLVMPositionBuilderAtEnd(lo->b, some);
    kj_tile test = kj_lower_expr(lo, w->node->stmt->u.if_.test, m);
    kj_mask taken = kj_mask_and(lo, kj_mask_of(kj_tile_spread(lo, test, lo->rows, lo->lanes)), m);
    for (int r = 0; r < lo->rows; r++)
        LLVMBuildStore(lo->b, kj_mask_row(lo, taken, r, lo->lanes), yes.at[r]);
    go_on(lo, done);
    taken = kj_mask_load(lo, &yes);
    kj_mask left = kj_mask_andnot(lo, m, taken);
    kj_gang_leave(lo, w->node->region, taken);
    kj_level_set(lo, w->yes, taken);
    kj_level_set(lo, w->no, left);
    flag_join(lo, w->any, taken);
    flag_join(lo, w->other, left);
}

static void lower_arm(kj_lower *lo, const kj_node *body, LLVMValueRef test, int64_t active)
{
    LLVMBasicBlockRef arm = kj_new_block(lo, "arm"), end = kj_new_block(lo, "endarm");
    kj_level level = {.up = lo->level, .active = active, .stay = -1, .end = end};
    LLVMBuildCondBr(lo->b, test, arm, end);
    LLVMPositionBuilderAtEnd(lo->b, arm);
    if (active >= 0)
        lo->level = &level;
    lower_nodes(lo, body);
    lo->level = level.up;
    go_on(lo, end);
}

static bool has_exits(const kj_node *n)
{
    for (; n; n = n->next)
        if (n->exits || n->kind == KJ_N_EXIT || has_exits(n->yes) || has_exits(n->no))
            return true;
    return false;
}

static void gang_any(kj_lower *lo, kj_mask m, void *arg)
{
    walk *w = arg;
    flag_join(lo, w->any, kj_level_mask(lo, m, lo->level));
}

/* Behind a construct that threads may have left for one around it: is someone here? */
static void lower_survivors(kj_lower *lo, const kj_node *n)
{
    const kj_level *l = kj_level_deciding(lo->level);
    if (!l || !(has_exits(n->yes) || has_exits(n->no)))
        return;
    walk w = {.any = flag_new(lo)};
    kj_gang_each(lo, false, gang_any, &w);
    LLVMBasicBlockRef some = kj_new_block(lo, "left");
    LLVMBuildCondBr(lo->b, flag_read(lo, w.any), some, l->end);
    LLVMPositionBuilderAtEnd(lo->b, some);
}

static void lower_if(kj_lower *lo, const kj_node *n)
{
    if (!n->divergent) {
        LLVMValueRef test = kj_lower_expr(lo, n->stmt->u.if_.test, kj_all).v[0];
        LLVMValueRef kept = kj_kept_alloca(lo, lo->i1, "test");
        LLVMBuildStore(lo->b, test, kept);
        lower_arm(lo, n->yes, test, -1);
        if (n->no)
            lower_arm(lo, n->no, LLVMBuildNot(lo->b, flag_read(lo, kept), ""), -1);
        lower_survivors(lo, n);
        return;
    }
    walk w = {.node = n, .any = flag_new(lo), .other = flag_new(lo)};
    w.yes = kj_scratch_alloc(lo, 1);
    w.no = kj_scratch_alloc(lo, 1);
    kj_gang_prepare(lo, n->region);
    each_gang(lo, n, gang_if, &w);
    lower_arm(lo, n->yes, flag_read(lo, w.any), w.yes);
    if (n->no)
        lower_arm(lo, n->no, flag_read(lo, w.other), w.no);
    lower_survivors(lo, n);
}

/* ---- Loops ---- */

static kj_level open_level(kj_lower *lo, const kj_node *n)
{
    kj_level l = {.up = lo->level, .target = n->stmt, .loop = true, .active = -1, .stay = -1};
    l.next = kj_new_block(lo, "next");
    l.end = l.next;
    return l;
}

/* In a turn: ends where what the loop waits for may not come any more, and where the launch is to. */
static void poll(kj_lower *lo, const kj_tstmt *loop)
{
    if (loop->divergence & KJ_DEP_ATOMIC || lo->waits == loop)
        kj_fault_poll(lo);
    kj_halt_poll(lo, loop);
}

static bool reads(const kj_texpr *e, const kj_var *v)
{
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    if (e->kind == KJ_TE_VAR)
        return e->u.var == v;
    for (int i = 0, n = kj_operands(e, operands); i < n; i++)
        if (reads(operands[i], v))
            return true;
    return false;
}

/* Is it v = v // 2 and the like, of an integer? After a turn for each of its bits that changes
 * nothing any more. */
static bool is_scaling(const kj_tstmt *s)
{
    if (s->kind != KJ_TS_ASSIGN || !kj_is_int(s->u.assign.var->type))
        return false;
    const kj_texpr *e = kj_unconverted(s->u.assign.value);
    if (e->kind != KJ_TE_BINARY)
        return false;
    const kj_texpr *from = kj_unconverted(e->u.binary.lhs), *by = kj_unconverted(e->u.binary.rhs);
    kj_op op = e->u.binary.op;
    bool shift = op == KJ_OP_SHL || op == KJ_OP_SHR;
    return (shift || op == KJ_OP_FLOORDIV || op == KJ_OP_MUL) && from->kind == KJ_TE_VAR &&
           from->u.var == s->u.assign.var && by->kind == KJ_TE_CONST &&
           by->u.value.i >= (shift ? 1 : 2);
}

static bool has_loop(const kj_tstmt *s)
{
    for (; s; s = s->next)
        if (s->kind == KJ_TS_FOR || s->kind == KJ_TS_WHILE ||
            (s->kind == KJ_TS_IF && (has_loop(s->u.if_.yes) || has_loop(s->u.if_.no))) ||
            (s->kind == KJ_TS_INLINE && has_loop(s->u.block->body)))
            return true;
    return false;
}

/* Is it a short loop that ends when something has been halved or doubled a few times? Any other may
 * have a known number of turns that is too great for a copy of each. */
static bool is_halving(const kj_tstmt *loop)
{
    enum { MOST = 60 };
    bool scales = false;
    for (const kj_tstmt *s = loop->u.while_.body; s; s = s->next)
        scales |= is_scaling(s) && reads(loop->u.while_.test, s->u.assign.var);
    return scales && !has_loop(loop->u.while_.body) &&
           kj_cost(loop->u.while_.body, NULL, MOST) <= MOST;
}

static void lower_uniform_while(kj_lower *lo, const kj_node *n)
{
    kj_level level = open_level(lo, n);
    LLVMBasicBlockRef head = kj_new_block(lo, "while"), body = kj_new_block(lo, "do"),
                      done = kj_new_block(lo, "endwhile");
    level.end = done;
    go_on(lo, head);
    LLVMBuildCondBr(lo->b, kj_lower_expr(lo, n->stmt->u.while_.test, kj_all).v[0], body, done);
    LLVMPositionBuilderAtEnd(lo->b, body);
    poll(lo, n->stmt);
    lo->level = &level;
    lower_nodes(lo, n->yes);
    lo->level = level.up;
    go_on(lo, level.next);
    LLVMValueRef back = LLVMBuildBr(lo->b, head);
    if (is_halving(n->stmt)) /* each turn apart has its own constant number of threads */
        kj_loop_hint(lo, back, "llvm.loop.unroll.full", 0);
    LLVMPositionBuilderAtEnd(lo->b, done);
}

static void lower_uniform_for(kj_lower *lo, const kj_node *n)
{
    const kj_tstmt *s = n->stmt;
    LLVMValueRef at = lo->home[s->u.for_.var->id].at[0];
    kj_dtype type = s->u.for_.var->type;
    kj_tile start = kj_lower_expr(lo, s->u.for_.start, kj_all),
            stop = kj_lower_expr(lo, s->u.for_.stop, kj_all);
    kj_tile step = kj_lower_expr(lo, s->u.for_.step, kj_all);
    LLVMValueRef kept_stop, kept_step;
    kj_kept_value(lo, stop, &kept_stop);
    kj_kept_value(lo, step, &kept_step);
    kj_level level = open_level(lo, n);
    LLVMBasicBlockRef head = kj_new_block(lo, "for"), body = kj_new_block(lo, "do"),
                      done = kj_new_block(lo, "endfor");
    level.end = done;
    LLVMBuildStore(lo->b, start.v[0], at);
    go_on(lo, head);
    stop = kj_kept_read(lo, stop, kept_stop);
    step = kj_kept_read(lo, step, kept_step);
    kj_tile i = kj_tile_scalar(type, LLVMBuildLoad2(lo->b, lo->types[type], at, ""));
    LLVMBuildCondBr(lo->b, kj_in_range(lo, i, stop, step).v[0], body, done);
    LLVMPositionBuilderAtEnd(lo->b, body);
    poll(lo, n->stmt);
    lo->level = &level;
    lower_nodes(lo, n->yes);
    lo->level = level.up;
    go_on(lo, level.next);
    i.v[0] = LLVMBuildLoad2(lo->b, lo->types[type], at, "");
    stop = kj_kept_read(lo, stop, kept_stop);
    step = kj_kept_read(lo, step, kept_step);
    if (!kj_is_unit_step(step)) {
        LLVMBasicBlockRef on = kj_new_block(lo, "step");
        LLVMBuildCondBr(lo->b, kj_step_fits(lo, i, stop, step).v[0], on, done);
        LLVMPositionBuilderAtEnd(lo->b, on);
    }
    LLVMBuildStore(lo->b, kj_tile_binary(lo, KJ_OP_ADD, i, step).v[0], at);
    LLVMBuildBr(lo->b, head);
    LLVMPositionBuilderAtEnd(lo->b, done);
}

/* A loop whose threads may disagree. A for keeps its variable, end and step a thread, in scratch
 * memory. */
typedef struct parted_loop {
    const kj_node *node;
    int64_t stay, active, i, stop, step;
    LLVMValueRef any;
} parted_loop;

static void gang_loop_begin(kj_lower *lo, kj_mask m, void *arg)
{
    parted_loop *p = arg;
    const kj_tstmt *s = p->node->stmt;
    m = kj_level_mask(lo, m, lo->level);
    kj_level_set(lo, p->stay, m);
    if (s->kind != KJ_TS_FOR)
        return;
    kj_gang_enter(lo, p->node->region);
    LLVMBasicBlockRef some = kj_new_block(lo, "some"), done = kj_new_block(lo, "begun");
    LLVMBuildCondBr(lo->b, kj_mask_any(lo, m), some, done);
    LLVMPositionBuilderAtEnd(lo->b, some);
    kj_scratch_store(lo, p->i, kj_lower_expr(lo, s->u.for_.start, m), kj_all);
    kj_scratch_store(lo, p->stop, kj_lower_expr(lo, s->u.for_.stop, m), kj_all);
    kj_scratch_store(lo, p->step, kj_lower_expr(lo, s->u.for_.step, m), kj_all);
    go_on(lo, done);
}

static void gang_loop_test(kj_lower *lo, kj_mask m, void *arg)
{
    parted_loop *p = arg;
    const kj_tstmt *s = p->node->stmt;
    kj_gang_enter(lo, p->node->region);
    m = kj_mask_and(lo, kj_mask_of(kj_scratch_load(lo, p->stay, KJ_BOOL)), m);
    LLVMBasicBlockRef some = kj_new_block(lo, "some"), done = kj_new_block(lo, "tested");
    kj_level_set(lo, p->active, kj_none);
    LLVMBuildCondBr(lo->b, kj_mask_any(lo, m), some, done);
    LLVMPositionBuilderAtEnd(lo->b, some);
    kj_tile test;
    if (s->kind == KJ_TS_FOR) {
        kj_dtype type = s->u.for_.var->type;
        kj_tile i = kj_scratch_load(lo, p->i, type);
        test = kj_in_range(lo, i, kj_scratch_load(lo, p->stop, type),
                           kj_scratch_load(lo, p->step, type));
        kj_home_store(lo, s->u.for_.var, i, kj_all);
    } else {
        test = kj_lower_expr(lo, s->u.while_.test, m);
    }
    m = kj_mask_and(lo, m, kj_mask_of(test));
    kj_level_set(lo, p->active, m);
    kj_level_set(lo, p->stay, m);
    flag_join(lo, p->any, m);
    go_on(lo, done);
}

static void gang_loop_step(kj_lower *lo, kj_mask m, void *arg)
{
    parted_loop *p = arg;
    kj_dtype type = p->node->stmt->u.for_.var->type;
    kj_tile i = kj_scratch_load(lo, p->i, type), step = kj_scratch_load(lo, p->step, type);
    kj_tile fits = kj_step_fits(lo, i, kj_scratch_load(lo, p->stop, type), step);
    kj_mask stay = kj_mask_of(kj_scratch_load(lo, p->stay, KJ_BOOL));
    kj_level_set(lo, p->stay, kj_mask_and(lo, kj_mask_and(lo, stay, m), kj_mask_of(fits)));
    kj_scratch_store(lo, p->i, kj_tile_binary(lo, KJ_OP_ADD, i, step), kj_all);
}

static void lower_parted_loop(kj_lower *lo, const kj_node *n)
{
    parted_loop p = {.node = n, .stay = kj_scratch_alloc(lo, 1), .active = kj_scratch_alloc(lo, 1)};
    bool counts = n->stmt->kind == KJ_TS_FOR;
    if (counts) {
        int64_t size = kj_types[n->stmt->u.for_.var->type].size;
        p.i = kj_scratch_alloc(lo, size);
        p.stop = kj_scratch_alloc(lo, size);
        p.step = kj_scratch_alloc(lo, size);
    }
    kj_gang_prepare(lo, n->region);
    each_gang(lo, n, gang_loop_begin, &p);
    LLVMBasicBlockRef head = kj_new_block(lo, "loop"), body = kj_new_block(lo, "do"),
                      done = kj_new_block(lo, "endloop");
    kj_level level = open_level(lo, n);
    level.active = p.active;
    level.stay = p.stay;
    p.any = kj_alloca(lo, lo->i1, "any");
    go_on(lo, head);
    LLVMBuildStore(lo->b, LLVMConstInt(lo->i1, 0, false), p.any);
    each_gang(lo, n, gang_loop_test, &p);
    LLVMBuildCondBr(lo->b, flag_read(lo, p.any), body, done);
    LLVMPositionBuilderAtEnd(lo->b, body);
    poll(lo, n->stmt);
    lo->level = &level;
    lower_nodes(lo, n->yes);
    lo->level = level.up;
    go_on(lo, level.next);
    if (counts)
        kj_gang_each(lo, false, gang_loop_step, &p);
    LLVMBuildBr(lo->b, head);
    LLVMPositionBuilderAtEnd(lo->b, done);
}

static void lower_loop(kj_lower *lo, const kj_node *n)
{
    const kj_tstmt *above = lo->waits;
    if (kj_waits_by_loads(lo->arena, lo->kernel, n->stmt, NULL))
        lo->waits = n->stmt;
    if (n->divergent)
        lower_parted_loop(lo, n);
    else if (n->stmt->kind == KJ_TS_FOR)
        lower_uniform_for(lo, n);
    else
        lower_uniform_while(lo, n);
    lo->waits = above;
    lower_survivors(lo, n);
}

/* ---- Bodies ---- */

static void gang_copy(kj_lower *lo, kj_mask m, void *arg)
{
    walk *w = arg;
    kj_level_set(lo, w->yes, kj_level_mask(lo, m, lo->level));
}

/* A function's or the kernel's body, which its threads leave together or, when `divergent`, each in
 * its time. */
static void lower_body(kj_lower *lo, const kj_node *body, const kj_tblock *block, bool divergent,
                       LLVMBasicBlockRef end)
{
    kj_level level = {.up = lo->level, .target = block, .active = -1, .stay = -1, .end = end};
    if (divergent) {
        walk w = {.yes = kj_scratch_alloc(lo, 1)};
        kj_gang_each(lo, false, gang_copy, &w);
        level.active = w.yes;
    }
    lo->level = &level;
    lower_nodes(lo, body);
    lo->level = level.up;
    go_on(lo, end);
}

static void lower_exit(kj_lower *lo, const kj_node *n)
{
    const kj_tstmt *s = n->stmt;
    const kj_level *l = lo->level;
    if (s->kind == KJ_TS_LEAVE)
        while (l->target != s->u.leave)
            l = l->up;
    else
        while (!l->loop)
            l = l->up;
    LLVMBuildBr(lo->b, s->kind == KJ_TS_CONTINUE ? l->next : l->end);
    LLVMPositionBuilderAtEnd(lo->b, kj_new_block(lo, "unreached"));
}

static void lower_nodes(kj_lower *lo, const kj_node *n)
{
    for (; n; n = n->next) {
        if (kj_looks(lo, n, KJ_LOOK_BEFORE))
            kj_halt_look(lo, n->stmt);
        switch (n->kind) {
        case KJ_N_REGION: lower_region(lo, n); break;
        case KJ_N_SCALAR: kj_lower_stmts(lo, n->stmt, n->stmt->next, kj_all); break;
        case KJ_N_BARRIER: kj_lower_barrier(lo, n); break;
        case KJ_N_IF: lower_if(lo, n); break;
        case KJ_N_LOOP: lower_loop(lo, n); break;
        case KJ_N_INLINE:
            lower_body(lo, n->yes, n->stmt->u.block, n->divergent, kj_new_block(lo, "return"));
            break;
        case KJ_N_EXIT: lower_exit(lo, n); break;
        }
    }
}

void kj_lower_regions(kj_lower *lo, LLVMBasicBlockRef done)
{
    const kj_tblock *body = lo->kernel->body;
    lo->rows = lo->lanes = 1;
    lo->slots = lo->home;
    if (lo->regions->barrier) {
        lower_body(lo, lo->regions->body, body, body->divergence & KJ_DEP_VARIES, done);
    } else {
        lower_nodes(lo, lo->regions->body);
        go_on(lo, done);
    }
}
