/* Periodic boundaries: `(x - 1 + w) % w`, `x + 1 if x < w - 1 else 0`.
 *
 * Where a coordinate on a torus goes from its last value to 0 is the seam. Nearly all gangs have none of it: each
 * lane's neighbour is where its coordinate says. So statements that ask for such neighbours have two copies: in the
 * first they are a line like the coordinate itself, behind a test of two numbers, so that rows of memory are moved as
 * they lie. A gang that meets the seam there goes on with the second copy, from its begin: nothing that others see has
 * happened until then. Borders that `max(x, 0)`, `min(x, n)` and `clamp(x, 0, n)` hold a coordinate at are such seams,
 * too. */
#include "lower/gang/seam.h"
#include "base/guard.h"

enum { DEEPEST = 12 /* operands of operands */ };

/* ---- In the copy of gangs that meet none ---- */

static void go_on_if(kj_lower *lo, LLVMValueRef inside)
{
    LLVMBasicBlockRef on = kj_new_block(lo, "on");
    LLVMBuildCondBr(lo->b, inside, on, lo->seam->met);
    LLVMPositionBuilderAtEnd(lo->b, on);
}

static LLVMValueRef number(kj_lower *lo, kj_dtype type, uint64_t v)
{
    return LLVMConstInt(lo->types[type], v, false);
}

static LLVMValueRef both(kj_lower *lo, LLVMValueRef a, LLVMValueRef b)
{
    return a ? LLVMBuildAnd(lo->b, a, b, "") : b;
}

static LLVMValueRef compare(kj_lower *lo, kj_op op, kj_dtype type, LLVMValueRef a, LLVMValueRef b)
{
    return kj_tile_binary(lo, op, kj_tile_scalar(type, a), kj_tile_scalar(type, b)).v[0];
}

/* The lanes of a line do not wrap around between them. NULL: that is known. */
static LLVMValueRef is_whole(kj_lower *lo, kj_tile a, LLVMValueRef first)
{
    uint64_t most = kj_type_bounds(a.type).most - (a.lanes - 1u);
    return a.wraps ? compare(lo, KJ_OP_LE, a.type, first, number(lo, a.type, most)) : NULL;
}

/* One number a row, or a line. */
static bool is_plain(kj_tile t)
{
    return !t.narrow && (t.lanes == 1 ? t.form == KJ_DENSE : t.form == KJ_LINEAR && t.stride == 1);
}

static bool is_one(kj_tile t)
{
    return is_plain(t) && t.lanes == 1 && t.rows == 1;
}

/* ---- Remainders ---- */

/* One number, also where it is widened in two places. */
static bool is_same(LLVMValueRef a, LLVMValueRef b)
{
    if (a == b || !LLVMIsACastInst(a) || !LLVMIsACastInst(b))
        return a == b;
    return LLVMGetInstructionOpcode(a) == LLVMGetInstructionOpcode(b) &&
           LLVMTypeOf(a) == LLVMTypeOf(b) && LLVMGetOperand(a, 0) == LLVMGetOperand(b, 0);
}

/* Is b a part of the sum a? */
static bool adds(LLVMValueRef a, LLVMValueRef b, int depth)
{
    if (is_same(a, b) || depth > DEEPEST || !LLVMIsAInstruction(a))
        return is_same(a, b);
    LLVMOpcode op = LLVMGetInstructionOpcode(a);
    return ((op == LLVMAdd || op == LLVMSub) && adds(LLVMGetOperand(a, 0), b, depth + 1)) ||
           (op == LLVMAdd && adds(LLVMGetOperand(a, 1), b, depth + 1));
}

/* Is the sum, away from the seam, between b and 2 b? `x + 999` modulo 1000 is, too. */
static bool is_beyond(LLVMValueRef a, LLVMValueRef b)
{
    if (!LLVMIsAConstantInt(b))
        return adds(a, b, 0);
    bool sum = LLVMIsAInstruction(a) && LLVMGetInstructionOpcode(a) == LLVMAdd;
    LLVMValueRef more = sum ? LLVMGetOperand(a, 1) : NULL;
    return more && LLVMIsAConstantInt(more) &&
           LLVMConstIntGetSExtValue(more) > LLVMConstIntGetSExtValue(b) / 2;
}

/* first, row `row` of a less b where that is what is meant, is the remainder of its lanes if it is below b with all of
 * them: compared without a sign, so that it is not below 0. A sum of b and it that wraps around is none. */
static LLVMValueRef inside_row(kj_lower *lo, kj_tile a, int row, LLVMValueRef by, LLVMValueRef room,
                               LLVMValueRef *first)
{
    LLVMValueRef x = a.v[row], known = NULL;
    *first = x;
    if (is_beyond(x, by)) {
        *first = LLVMBuildSub(lo->b, x, by, "");
        known = both(lo, is_whole(lo, a, x), compare(lo, KJ_OP_GE, a.type, x, by));
    }
    return both(lo, known, LLVMBuildICmp(lo->b, LLVMIntULT, *first, room, ""));
}

/* a % b, behind a test if `test`. */
static bool take_remainder(kj_lower *lo, kj_tile a, kj_tile b, bool test, kj_tile *out)
{
    if (!is_plain(a) || !is_one(b))
        return false;
    LLVMValueRef by = b.v[0], more = number(lo, a.type, a.lanes - 1u), inside = NULL;
    LLVMValueRef some = compare(lo, KJ_OP_GT, a.type, by, more);
    LLVMValueRef room =
        LLVMBuildSelect(lo->b, some, LLVMBuildSub(lo->b, by, more, ""), number(lo, a.type, 0), "");
    *out = a;
    for (int r = 0; r < a.rows; r++)
        inside = both(lo, inside, inside_row(lo, a, r, by, room, &out->v[r]));
    if (test)
        go_on_if(lo, inside);
    out->wraps = false;
    out->even = 0;
    kj_bound(out, 0, kj_is_positive(b) ? b.bounds.most - 1 : kj_type_bounds(a.type).most);
    return true;
}

/* ---- Selections ---- */

/* `a op b` holds for all lanes, if it is to be `truth`, or for none. */
static LLVMValueRef all_lanes(kj_lower *lo, kj_op op, kj_tile a, int row, LLVMValueRef b,
                              bool truth)
{
    static const kj_op inverse[KJ_NOPS] = {
        [KJ_OP_LT] = KJ_OP_GE, [KJ_OP_GE] = KJ_OP_LT, [KJ_OP_LE] = KJ_OP_GT,
        [KJ_OP_GT] = KJ_OP_LE, [KJ_OP_EQ] = KJ_OP_NE,
    };
    LLVMValueRef first = a.v[row], holds;
    LLVMValueRef last = LLVMBuildAdd(lo->b, first, number(lo, a.type, a.lanes - 1u), "");
    op = truth ? op : inverse[op];
    if (op == KJ_OP_NE)
        holds = LLVMBuildOr(lo->b, compare(lo, KJ_OP_LT, a.type, last, b),
                            compare(lo, KJ_OP_GT, a.type, first, b), "");
    else
        holds = compare(lo, op, a.type, op == KJ_OP_LT || op == KJ_OP_LE ? last : first, b);
    return both(lo, is_whole(lo, a, first), holds);
}

/* Goes on where it is the same for all lanes, what it is away from the border. */
static bool take_test(kj_lower *lo, const kj_border *test, kj_tile a, kj_tile b)
{
    if (a.lanes == 1 || !is_plain(a) || !is_one(b))
        return false;
    LLVMValueRef inside = NULL;
    for (int r = 0; r < a.rows; r++)
        inside = both(lo, inside, all_lanes(lo, test->op, a, r, b.v[0], test->inside));
    go_on_if(lo, inside);
    return true;
}

/* ---- What is held within borders ---- */

/* The line itself, within them with all lanes. */
static kj_tile inside_of(kj_tile line, const kj_clamped *c, kj_tile least, kj_tile most)
{
    int64_t low = c->least ? least.bounds.least : line.bounds.least;
    line.wraps = false;
    kj_bound(&line, low, c->most && kj_is_natural(most) ? most.bounds.most : line.bounds.most);
    return line;
}

/* Goes on where all lanes are within them. */
static bool take_clamped(kj_lower *lo, const kj_clamped *c, kj_tile line, kj_tile least,
                         kj_tile most, kj_tile *out)
{
    if (line.lanes == 1 || !is_plain(line) || (c->least && !is_one(least)) ||
        (c->most && !is_one(most)))
        return false;
    LLVMValueRef inside = NULL;
    for (int r = 0; r < line.rows; r++) {
        if (c->least)
            inside = both(lo, inside, all_lanes(lo, KJ_OP_GE, line, r, least.v[0], true));
        if (c->most)
            inside = both(lo, inside, all_lanes(lo, KJ_OP_LE, line, r, most.v[0], true));
    }
    go_on_if(lo, inside);
    *out = inside_of(line, c, least, most);
    return true;
}

/* ---- In front of the statements ---- */

static kj_tile ahead_value(kj_lower *lo, const kj_texpr *e, bool *tested);

static kj_tile ahead_choice(kj_lower *lo, const kj_texpr *e, bool *tested)
{
    kj_border b;
    if (kj_is_choice(lo, e, &b) &&
        take_test(lo, &b, ahead_value(lo, b.a, NULL), ahead_value(lo, b.b, NULL))) {
        if (tested)
            *tested = true;
        return ahead_value(lo, b.inside ? e->u.select.yes : e->u.select.no, NULL);
    }
    kj_tile test = ahead_value(lo, e->u.select.test, NULL);
    kj_tile yes = ahead_value(lo, e->u.select.yes, NULL);
    return kj_tile_select(lo, test, yes, ahead_value(lo, e->u.select.no, NULL));
}

static kj_tile ahead_clamped(kj_lower *lo, const kj_texpr *e, bool *tested)
{
    kj_tile v[KJ_BUILTIN_ARGS];
    kj_clamped c;
    KJ_REQUIRE(kj_is_clamped(lo, e, &c));
    kj_tile line = ahead_value(lo, c.line, NULL), out;
    kj_tile least = c.least ? ahead_value(lo, c.least, NULL) : line,
            most = c.most ? ahead_value(lo, c.most, NULL) : line;
    if (take_clamped(lo, &c, line, least, most, &out)) {
        if (tested)
            *tested = true;
        return out;
    }
    for (int i = 0; i < e->u.call.nargs; i++)
        v[i] = ahead_value(lo, e->u.call.args[i], NULL);
    return kj_operate(lo, e, v, lo->present);
}

static kj_tile ahead_binary(kj_lower *lo, const kj_texpr *e, bool *tested)
{
    kj_tile a = ahead_value(lo, e->u.binary.lhs, NULL), b = ahead_value(lo, e->u.binary.rhs, NULL),
            out;
    if (!kj_is_wrap(lo, e) || !take_remainder(lo, a, b, true, &out))
        return kj_tile_binary(lo, e->u.binary.op, a, b);
    if (tested)
        *tested = true;
    return out;
}

/* A lasting expression, of what there is in front. */
static kj_tile ahead_value(kj_lower *lo, const kj_texpr *e, bool *tested)
{
    switch (e->kind) {
    case KJ_TE_VAR:
        if (kj_seam_declares(lo->seam, e->u.var))
            return ahead_value(lo, lo->origins[e->u.var->id]->value, tested);
        return kj_lower_expr(lo, e, lo->present);
    case KJ_TE_CONVERT: return kj_tile_convert(lo, ahead_value(lo, e->u.unary.arg, NULL), e->type);
    case KJ_TE_BINARY: return ahead_binary(lo, e, tested);
    case KJ_TE_SELECT: return ahead_choice(lo, e, tested);
    case KJ_TE_CALL: return ahead_clamped(lo, e, tested);
    default: return kj_lower_expr(lo, e, lo->present);
    }
}

/* ---- The two copies ---- */

void kj_seam_begin(kj_lower *lo, kj_seam *s)
{
    if (!s)
        return;
    for (int i = 0; i < s->nvars; i++) {
        const kj_slot *slot = &lo->slots[s->vars[i]->id];
        LLVMTypeRef type = kj_vec(lo, s->vars[i]->type, slot->lanes);
        for (int r = 0; slot->at[0] && r < slot->rows; r++) {
            s->places[i][r] = slot->at[r];
            s->before[i][r] = LLVMBuildLoad2(lo->b, type, slot->at[r], "");
        }
    }
    s->met = kj_new_block(lo, "seam");
    lo->seam = s;
    for (int i = 0; i < s->nahead; i++)
        ahead_value(lo, s->ahead[i], &s->tested[i]);
    s->open = s->last != NULL;
}

void kj_seam_passed(kj_lower *lo, const kj_tstmt *s)
{
    if (lo->seam && lo->seam->last == s)
        lo->seam->open = false;
}

void kj_seam_end(kj_lower *lo, kj_seam *s, LLVMBasicBlockRef again)
{
    if (!s)
        return;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(lo->b);
    lo->seam = NULL;
    s->open = false;
    s->nahead = 0;
    LLVMPositionBuilderAtEnd(lo->b, s->met);
    for (int i = 0; i < s->nvars; i++)
        for (int r = 0; r < KJ_MAX_ROWS && s->places[i][r]; r++)
            LLVMBuildStore(lo->b, s->before[i][r], s->places[i][r]);
    LLVMBuildBr(lo->b, again);
    LLVMPositionBuilderAtEnd(lo->b, here);
}

/* Was it looked at in front? */
static bool was_tested(const kj_lower *lo, const kj_texpr *e)
{
    for (int i = 0; lo->seam && i < lo->seam->nahead; i++)
        if (lo->seam->ahead[i] == e)
            return lo->seam->tested[i];
    return false;
}

bool kj_seam_remainder(kj_lower *lo, const kj_texpr *e, kj_tile a, kj_tile b, kj_tile *out)
{
    bool tested = was_tested(lo, e);
    return (tested || (lo->seam && lo->seam->open && kj_is_wrap(lo, e))) &&
           take_remainder(lo, a, b, !tested, out);
}

bool kj_seam_choice(kj_lower *lo, const kj_texpr *e, kj_mask m, kj_tile *out)
{
    kj_border b;
    bool tested = was_tested(lo, e);
    if (!(tested || (lo->seam && lo->seam->open)) || !kj_is_choice(lo, e, &b))
        return false;
    if (!tested && !take_test(lo, &b, kj_lower_expr(lo, b.a, m), kj_lower_expr(lo, b.b, m)))
        return false;
    *out = kj_lower_expr(lo, b.inside ? e->u.select.yes : e->u.select.no, m);
    return true;
}

bool kj_seam_clamped(kj_lower *lo, const kj_texpr *e, kj_mask m, kj_tile *out)
{
    kj_clamped c;
    bool tested = was_tested(lo, e);
    if (!(tested || (lo->seam && lo->seam->open)) || !kj_is_clamped(lo, e, &c))
        return false;
    kj_tile line = kj_lower_expr(lo, c.line, m);
    kj_tile least = c.least ? kj_lower_expr(lo, c.least, m) : line,
            most = c.most ? kj_lower_expr(lo, c.most, m) : line;
    if (!tested)
        return take_clamped(lo, &c, line, least, most, out);
    *out = inside_of(line, &c, least, most);
    return true;
}

/* Of a line, since then each test of it is one that is taken; not where it may be read behind a barrier, from memory. */
bool kj_seam_keeps(kj_lower *lo, const kj_var *v, kj_tile t)
{
    return lo->seam && lo->seam->open && lo->seam->mends && t.lanes > 1 && is_plain(t) &&
           (!lo->regions || lo->regions->nregions == 1) && kj_is_mended(lo, v) &&
           kj_seam_declares(lo->seam, v);
}

bool kj_seam_mends(kj_lower *lo, const kj_tstmt *s, kj_mask m)
{
    kj_border b;
    return lo->seam && lo->seam->open && lo->seam->mends && kj_is_mending(lo, s, &b) &&
           lo->slots[b.a->u.var->id].known &&
           take_test(lo, &b, kj_lower_expr(lo, b.a, m), kj_lower_expr(lo, b.b, m));
}

bool kj_seam_unrolls(const kj_lower *lo, const kj_tstmt *s, kj_turns *turns)
{
    enum { WIDEST = 3 };
    return lo->seam && lo->seam->open && kj_known_turns(s, turns) && turns->step != 0 &&
           turns->n <= WIDEST;
}

/* ---- Statements without a condition around them ---- */

static void fall_into(kj_lower *lo, LLVMBasicBlockRef block)
{
    if (!LLVMGetBasicBlockTerminator(LLVMGetInsertBlock(lo->b)))
        LLVMBuildBr(lo->b, block);
}

bool kj_lower_seam(kj_lower *lo, const kj_tstmt *s, const kj_tstmt *end, kj_mask m)
{
    kj_seam *seam = kj_is_present(lo, m) ? kj_seam_find(lo, s, end) : NULL;
    if (!seam || kj_loses(s, end, false))
        return false;
    kj_parts_end(lo);
    bool twin = lo->twin;
    kj_ahead *ahead = lo->ahead;
    LLVMBasicBlockRef again = kj_new_block(lo, "again"), done = kj_new_block(lo, "join");
    lo->twin = true;
    kj_seam_begin(lo, seam);
    kj_lower_stmts(lo, s, end, m);
    fall_into(lo, done);
    kj_seam_end(lo, seam, again);
    LLVMPositionBuilderAtEnd(lo->b, again);
    bool rolled = lo->rolled;
    lo->ahead = NULL; /* seldom run */
    lo->seam = seam;  /* which is over: nothing is looked for in it */
    lo->rolled = true;
    kj_lower_stmts(lo, s, end, m);
    lo->rolled = rolled;
    lo->seam = NULL;
    lo->ahead = ahead;
    lo->twin = twin;
    fall_into(lo, done);
    LLVMPositionBuilderAtEnd(lo->b, done);
    return true;
}
