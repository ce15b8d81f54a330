/* Operations of a warp's threads together (shuffles, votes), and fences, in a gang.
 *
 * A gang's row of KJ_WARP lanes is a warp, whose threads run in lockstep: a shuffle is one of vectors,
 * a vote the bits of a mask. Which lanes take part is the mask of those that run; the one that the
 * source gives only picks from it. A value that the whole warp has is a scalar. What a lane gets from
 * one that does not run, or from outside the mask, is unspecified. */
#include "lower/gang/gang.h"

#include <string.h>

/* ---- Fences ---- */

/* A block has one worker: for its own threads it is enough that LLVM keeps the order; and that it loads anew behind
 * a pause. */
void kj_gang_fence(kj_lower *lo, kj_builtin id, const kj_tile *args)
{
    bool own = id == KJ_BI_THREADFENCE_BLOCK || id == KJ_BI_NANOSLEEP;
    (void)args;
    LLVMBuildFence(lo->b, LLVMAtomicOrderingSequentiallyConsistent, own, "");
}

/* ---- Shuffles ---- */

static LLVMValueRef constant(kj_lower *lo, int i)
{
    return LLVMConstInt(lo->i32, (unsigned)i, false);
}

static LLVMValueRef splat(kj_lower *lo, LLVMValueRef v)
{
    return kj_splat(lo, v, KJ_WARP);
}

/* Lane l gets that of l + by, l - by or l ^ by, going round. */
static LLVMValueRef turned(kj_lower *lo, kj_builtin id, LLVMValueRef v, int by)
{
    int from[KJ_WARP];
    for (int l = 0; l < KJ_WARP; l++)
        from[l] = id == KJ_BI_SHFL_XOR_SYNC    ? l ^ by
                  : id == KJ_BI_SHFL_DOWN_SYNC ? (l + by) % KJ_WARP
                                               : (l - by + KJ_WARP) % KJ_WARP;
    return kj_shuffled(lo, v, NULL, from, KJ_WARP);
}

static LLVMValueRef lanes(kj_lower *lo)
{
    LLVMValueRef v[KJ_WARP];
    for (int l = 0; l < KJ_WARP; l++)
        v[l] = constant(lo, l);
    return LLVMConstVector(v, KJ_WARP);
}

/* By a scalar below KJ_WARP, a bit after the other: of constants, as loops have when they are
 * unrolled, one shuffle is left. A lane whose partner would be outside the warp keeps its own. */
static LLVMValueRef shuffle_by(kj_lower *lo, kj_builtin id, LLVMValueRef v, LLVMValueRef by)
{
    LLVMValueRef out = v, zero = constant(lo, 0);
    for (int bit = 1; bit < KJ_WARP; bit *= 2) {
        LLVMValueRef set = LLVMBuildAnd(lo->b, by, constant(lo, bit), "");
        set = LLVMBuildICmp(lo->b, LLVMIntNE, set, zero, "");
        out = LLVMBuildSelect(lo->b, set, turned(lo, id, out, bit), out, "");
    }
    if (id == KJ_BI_SHFL_XOR_SYNC)
        return out;
    bool up = id == KJ_BI_SHFL_UP_SYNC;
    LLVMValueRef end = up ? by : LLVMBuildSub(lo->b, constant(lo, KJ_WARP), by, "");
    LLVMValueRef inside =
        LLVMBuildICmp(lo->b, up ? LLVMIntUGE : LLVMIntULT, lanes(lo), splat(lo, end), "");
    return LLVMBuildSelect(lo->b, inside, out, v, "");
}

/* The lanes that the lanes read, each below KJ_WARP. */
static LLVMValueRef sources(kj_lower *lo, kj_builtin id, LLVMValueRef by)
{
    LLVMValueRef own = lanes(lo), from, inside;
    switch (id) {
    case KJ_BI_SHFL_UP_SYNC:
        from = LLVMBuildSub(lo->b, own, by, "");
        inside = LLVMBuildICmp(lo->b, LLVMIntUGE, own, by, "");
        break;
    case KJ_BI_SHFL_DOWN_SYNC:
        from = LLVMBuildAdd(lo->b, own, by, "");
        inside = LLVMBuildICmp(lo->b, LLVMIntULT, from, splat(lo, constant(lo, KJ_WARP)), "");
        break;
    case KJ_BI_SHFL_XOR_SYNC: return LLVMBuildXor(lo->b, own, by, "");
    default: return by;
    }
    return LLVMBuildSelect(lo->b, inside, from, own, "");
}

static LLVMValueRef piece(kj_lower *lo, LLVMValueRef v, int first, int n)
{
    int from[KJ_WARP];
    for (int l = 0; l < n; l++)
        from[l] = first + l;
    return kj_shuffled(lo, v, NULL, from, n);
}

/* One of two vectors' lanes each: AVX-512 has it for as many as the index has bits for. */
static LLVMValueRef look_up(kj_lower *lo, LLVMValueRef a, LLVMValueRef b, LLVMValueRef index)
{
    bool wide = LLVMGetVectorSize(LLVMTypeOf(a)) == 8;
    LLVMValueRef args[3] = {a, index, b};
    return kj_intrinsic(
        lo, wide ? "llvm.x86.avx512.vpermi2var.q.512" : "llvm.x86.avx512.vpermi2var.d.512", NULL, 0,
        args, 3);
}

/* Lanes first to first + n of v's, a vector register of n, in the order `from`. */
static LLVMValueRef look_up_piece(kj_lower *lo, LLVMValueRef v, LLVMValueRef from, int first, int n)
{
    LLVMValueRef index = piece(lo, from, first, n), found[2];
    LLVMTypeRef type = LLVMVectorType(LLVMGetElementType(LLVMTypeOf(v)), (unsigned)n);
    index = LLVMBuildZExt(lo->b, index, type, "");
    for (int half = 0; half * 2 * n < KJ_WARP; half++)
        found[half] =
            look_up(lo, piece(lo, v, half * 2 * n, n), piece(lo, v, half * 2 * n + n, n), index);
    if (2 * n == KJ_WARP)
        return found[0];
    LLVMValueRef high = LLVMConstInt(LLVMGetElementType(type), 2u * (unsigned)n, false);
    high = LLVMBuildAnd(lo->b, index, kj_splat(lo, high, n), "");
    high = LLVMBuildICmp(lo->b, LLVMIntNE, high, LLVMConstNull(type), "");
    return LLVMBuildSelect(lo->b, high, found[1], found[0], "");
}

/* Integers of 32 or 64 bits in any order: in registers, or through memory. */
static LLVMValueRef permuted(kj_lower *lo, LLVMValueRef v, LLVMValueRef from)
{
    LLVMTypeRef type = LLVMTypeOf(v), elem = LLVMGetElementType(type);
    int n = elem == lo->i64 ? 8 : 16;
    if (lo->vector < 16) {
        LLVMValueRef at = kj_alloca(lo, type, "warp");
        LLVMBuildStore(lo->b, v, at);
        at = LLVMBuildGEP2(lo->b, elem, at, &from, 1, "");
        return kj_gather(lo, type, at, LLVMConstAllOnes(kj_vec(lo, KJ_BOOL, KJ_WARP)),
                         n == 8 ? 8 : 4);
    }
    LLVMValueRef out[KJ_WARP / 8];
    for (int i = 0; i < KJ_WARP / n; i++)
        out[i] = look_up_piece(lo, v, from, i * n, n);
    for (; n < KJ_WARP; n *= 2)
        for (int i = 0; i < KJ_WARP / n / 2; i++)
            out[i] = kj_joined(lo, out[2 * i], out[2 * i + 1], n);
    return out[0];
}

/* A row, as integers of `bits`, whose lanes read from lanes of their own choice. */
static LLVMValueRef shuffle_each(kj_lower *lo, LLVMValueRef v, unsigned bits, LLVMValueRef from)
{
    LLVMTypeRef type = LLVMTypeOf(v);
    LLVMTypeRef own = LLVMVectorType(LLVMIntTypeInContext(lo->ctx, bits), KJ_WARP);
    LLVMTypeRef word = LLVMVectorType(bits == 64 ? lo->i64 : lo->i32, KJ_WARP);
    v = LLVMBuildZExt(lo->b, LLVMBuildBitCast(lo->b, v, own, ""), word, "");
    v = LLVMBuildTrunc(lo->b, permuted(lo, v, from), own, "");
    return LLVMBuildBitCast(lo->b, v, type, "");
}

/* Of lanes that do not run, registers and scratch memory hold what anybody left: a source that is not trusted
 * reads 0. */
static kj_tile of_running(kj_lower *lo, kj_tile v, kj_mask m)
{
    if (!lo->kernel->untrusted || m.kind != KJ_SOME)
        return v;
    return kj_tile_select(lo, m.t, v, kj_tile_const(lo, (kj_value){.type = v.type}));
}

static kj_tile lower_shuffle(kj_lower *lo, kj_builtin id, kj_tile v, kj_tile by, kj_mask m)
{
    if (v.lanes == 1)
        return v;
    v = kj_tile_dense(lo, of_running(lo, v, m));
    by = kj_tile_binary(lo, KJ_OP_AND, by, kj_tile_const(lo, kj_int(KJ_U32, KJ_WARP - 1)));
    by = kj_tile_dense(lo, by);
    bool one = id == KJ_BI_SHFL_SYNC && by.lanes == 1;
    kj_tile out = kj_tile_like(v.type, v.rows > by.rows ? v.rows : by.rows, one ? 1 : KJ_WARP);
    if (v.narrow)
        kj_bound(&out, INT32_MIN, INT32_MAX);
    for (int r = 0; r < out.rows; r++) {
        LLVMValueRef x = v.v[v.rows == 1 ? 0 : r], n = by.v[by.rows == 1 ? 0 : r];
        if (one)
            out.v[r] = LLVMBuildExtractElement(lo->b, x, n, "");
        else if (by.lanes == 1)
            out.v[r] = shuffle_by(lo, id, x, n);
        else
            out.v[r] =
                shuffle_each(lo, x, v.narrow ? 32 : kj_types[v.type].bits, sources(lo, id, n));
        if (one && v.narrow)
            out.v[r] = LLVMBuildSExt(lo->b, out.v[r], lo->i64, "");
    }
    out.narrow = v.narrow && !one;
    return out;
}

/* ---- Votes ---- */

/* The running threads of each row for which p holds, a bit each. */
static kj_tile ballot(kj_lower *lo, kj_tile p, kj_mask m)
{
    m = kj_mask_and(lo, kj_mask_of(p), m);
    kj_tile out = kj_tile_like(KJ_U32, m.t.rows, 1);
    for (int r = 0; r < out.rows; r++)
        out.v[r] = LLVMBuildBitCast(lo->b, kj_mask_row(lo, m, r, KJ_WARP), lo->i32, "");
    return out;
}

static kj_tile running(kj_lower *lo, kj_mask m)
{
    return ballot(lo, kj_tile_const(lo, kj_int(KJ_BOOL, 1)), m);
}

static kj_tile lower_vote(kj_lower *lo, kj_builtin id, kj_tile members, kj_tile p, kj_mask m)
{
    kj_tile zero = kj_tile_const(lo, kj_int(KJ_U32, 0));
    kj_tile yes = kj_tile_binary(lo, KJ_OP_AND, ballot(lo, p, m), members);
    if (id == KJ_BI_BALLOT_SYNC)
        return yes;
    if (id == KJ_BI_ANY_SYNC)
        return kj_tile_binary(lo, KJ_OP_NE, yes, zero);
    kj_tile no = ballot(lo, kj_tile_unary(lo, KJ_OP_NOT, p), m);
    kj_tile all = kj_tile_binary(lo, KJ_OP_EQ, kj_tile_binary(lo, KJ_OP_AND, no, members), zero);
    if (id == KJ_BI_ALL_SYNC)
        return all;
    return kj_tile_binary(lo, KJ_OP_OR, all, kj_tile_binary(lo, KJ_OP_EQ, yes, zero));
}

/* ---- Matches ---- */

enum { FEW_BITS = 8 };

/* Lanes of integers of so few bits: those that agree with each in all of them. */
static LLVMValueRef match_bits(kj_lower *lo, LLVMValueRef v, int bits)
{
    LLVMTypeRef type = LLVMTypeOf(v), elem = LLVMGetElementType(type);
    unsigned width = LLVMGetIntTypeWidth(elem);
    LLVMValueRef peers = LLVMConstAllOnes(kj_vec(lo, KJ_U32, KJ_WARP));
    for (int k = 0; k < bits; k++) {
        LLVMValueRef top = LLVMConstInt(elem, width - 1 - (unsigned)k, false);
        LLVMValueRef set = LLVMBuildShl(lo->b, v, splat(lo, top), "");
        set = LLVMBuildICmp(lo->b, LLVMIntSLT, set, LLVMConstNull(type), "");
        LLVMValueRef yes = LLVMBuildBitCast(lo->b, set, lo->i32, "");
        LLVMValueRef no = splat(lo, LLVMBuildNot(lo->b, yes, ""));
        LLVMValueRef alike = LLVMBuildSelect(lo->b, set, splat(lo, yes), no, "");
        peers = LLVMBuildAnd(lo->b, peers, alike, "");
    }
    return peers;
}

/* The lanes with the same as each: one turn for each lane, which waits for none of the others. */
static LLVMValueRef match_each(kj_lower *lo, LLVMValueRef v)
{
    LLVMTypeRef type = LLVMTypeOf(v), words = kj_vec(lo, KJ_U32, KJ_WARP);
    LLVMValueRef keys = kj_alloca(lo, type, "keys"), out = kj_alloca(lo, words, "match");
    LLVMBasicBlockRef before = LLVMGetInsertBlock(lo->b), turn = kj_new_block(lo, "lane"),
                      done = kj_new_block(lo, "lanes");
    LLVMValueRef zero = constant(lo, 0);
    LLVMBuildStore(lo->b, v, keys);
    LLVMBuildBr(lo->b, turn);
    LLVMPositionBuilderAtEnd(lo->b, turn);
    LLVMValueRef lane = LLVMBuildPhi(lo->b, lo->i32, "lane");
    LLVMTypeRef elem = LLVMGetElementType(type);
    LLVMValueRef key = LLVMBuildGEP2(lo->b, elem, keys, &lane, 1, "");
    key = splat(lo, LLVMBuildLoad2(lo->b, elem, key, ""));
    LLVMValueRef same = LLVMBuildICmp(lo->b, LLVMIntEQ, v, key, "");
    LLVMBuildStore(lo->b, LLVMBuildBitCast(lo->b, same, lo->i32, ""),
                   LLVMBuildGEP2(lo->b, lo->i32, out, &lane, 1, ""));
    LLVMValueRef next = LLVMBuildAdd(lo->b, lane, constant(lo, 1), "");
    LLVMAddIncoming(lane, (LLVMValueRef[]){zero, next},
                    (LLVMBasicBlockRef[]){before, LLVMGetInsertBlock(lo->b)}, 2);
    LLVMValueRef more = LLVMBuildICmp(lo->b, LLVMIntULT, next, constant(lo, KJ_WARP), "");
    kj_loop_hint(lo, LLVMBuildCondBr(lo->b, more, turn, done), "llvm.loop.unroll.count", 4);
    LLVMPositionBuilderAtEnd(lo->b, done);
    return LLVMBuildLoad2(lo->b, words, out, "");
}

/* Of each running lane of a row of integers, which are of so many bits: the running lanes with the same. A turn for
 * each value, if there are few; else of all at once, which takes as long whatever they are. */
static LLVMValueRef match_row(kj_lower *lo, LLVMValueRef v, LLVMValueRef run, int bits)
{
    enum { FEWEST_BITS = 4, FEW_VALUES = 4 };
    LLVMTypeRef words = kj_vec(lo, KJ_U32, KJ_WARP);
    LLVMValueRef zero = constant(lo, 0), at = kj_alloca(lo, words, "match");
    LLVMValueRef most = constant(lo, bits <= FEWEST_BITS ? 1 : FEW_VALUES);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(lo->b), loop = kj_new_block(lo, "value"),
                      more = kj_new_block(lo, "more"), several = kj_new_block(lo, "several"),
                      done = kj_new_block(lo, "matched");
    LLVMBuildStore(lo->b, LLVMConstNull(words), at);
    LLVMBuildCondBr(lo->b, LLVMBuildICmp(lo->b, LLVMIntNE, run, zero, ""), loop, done);
    LLVMPositionBuilderAtEnd(lo->b, loop);
    LLVMValueRef left = LLVMBuildPhi(lo->b, lo->i32, "left"),
                 turn = LLVMBuildPhi(lo->b, lo->i32, "turn");
    LLVMValueRef args[2] = {left, LLVMConstInt(lo->i1, 1, false)};
    LLVMValueRef lane = kj_intrinsic(lo, "llvm.cttz", &lo->i32, 1, args, 2);
    LLVMValueRef key = splat(lo, LLVMBuildExtractElement(lo->b, v, lane, ""));
    LLVMValueRef same = LLVMBuildICmp(lo->b, LLVMIntEQ, v, key, "");
    LLVMValueRef alike = LLVMBuildAnd(lo->b, LLVMBuildBitCast(lo->b, same, lo->i32, ""), run, "");
    LLVMValueRef old = LLVMBuildLoad2(lo->b, words, at, "");
    LLVMBuildStore(lo->b, LLVMBuildSelect(lo->b, same, splat(lo, alike), old, ""), at);
    LLVMValueRef rest = LLVMBuildAnd(lo->b, left, LLVMBuildNot(lo->b, alike, ""), ""),
                 next = LLVMBuildAdd(lo->b, turn, constant(lo, 1), "");
    LLVMBuildCondBr(lo->b, LLVMBuildICmp(lo->b, LLVMIntNE, rest, zero, ""), more, done);
    LLVMPositionBuilderAtEnd(lo->b, more);
    LLVMBuildCondBr(lo->b, LLVMBuildICmp(lo->b, LLVMIntULT, next, most, ""), loop, several);
    LLVMBasicBlockRef from[2] = {before, more};
    LLVMAddIncoming(left, (LLVMValueRef[]){run, rest}, from, 2);
    LLVMAddIncoming(turn, (LLVMValueRef[]){zero, next}, from, 2);
    LLVMPositionBuilderAtEnd(lo->b, several);
    LLVMValueRef all = bits <= FEW_BITS ? match_bits(lo, v, bits) : match_each(lo, v);
    LLVMBuildStore(lo->b, LLVMBuildAnd(lo->b, all, splat(lo, run), ""), at);
    LLVMBuildBr(lo->b, done);
    LLVMPositionBuilderAtEnd(lo->b, done);
    return LLVMBuildLoad2(lo->b, words, at, "");
}

static kj_tile lower_match(kj_lower *lo, kj_builtin id, kj_tile members, kj_tile v, kj_mask m)
{
    kj_tile run = running(lo, m), group = kj_tile_binary(lo, KJ_OP_AND, run, members),
            peers = group;
    if (v.lanes > 1) {
        v = kj_tile_dense(lo, v);
        unsigned bits = v.narrow ? 32 : kj_types[v.type].bits, known = bits;
        if (kj_is_int(v.type) && kj_bits(v) < (int)bits)
            known = (unsigned)kj_bits(v) + (kj_is_natural(v) ? 0 : 1);
        LLVMTypeRef type = LLVMVectorType(LLVMIntTypeInContext(lo->ctx, bits), KJ_WARP);
        peers = kj_tile_like(KJ_U32, v.rows > run.rows ? v.rows : run.rows, KJ_WARP);
        for (int r = 0; r < peers.rows; r++) {
            LLVMValueRef row = LLVMBuildBitCast(lo->b, v.v[v.rows == 1 ? 0 : r], type, "");
            peers.v[r] = match_row(lo, row, run.v[run.rows == 1 ? 0 : r], (int)known);
        }
        peers = kj_tile_binary(lo, KJ_OP_AND, peers, members);
    }
    if (id == KJ_BI_MATCH_ANY_SYNC)
        return peers;
    kj_tile all = kj_tile_binary(lo, KJ_OP_EQ, peers, group);
    return kj_tile_select(lo, all, group, kj_tile_const(lo, kj_int(KJ_U32, 0)));
}

kj_mask kj_warp_agrees(kj_lower *lo, kj_tile members, kj_mask m)
{
    kj_tile alike = lower_match(lo, KJ_BI_MATCH_ALL_SYNC, members, members, m);
    return kj_mask_of(kj_tile_binary(lo, KJ_OP_NE, alike, kj_tile_const(lo, kj_int(KJ_U32, 0))));
}

kj_tile kj_gang_warp(kj_lower *lo, const kj_texpr *e, const kj_tile *args, kj_mask m)
{
    kj_builtin id = e->u.call.id;
    switch (id) {
    case KJ_BI_SHFL_SYNC:
    case KJ_BI_SHFL_UP_SYNC:
    case KJ_BI_SHFL_DOWN_SYNC:
    case KJ_BI_SHFL_XOR_SYNC: return lower_shuffle(lo, id, args[1], args[2], m);
    case KJ_BI_ALL_SYNC:
    case KJ_BI_ANY_SYNC:
    case KJ_BI_EQ_SYNC:
    case KJ_BI_BALLOT_SYNC: return lower_vote(lo, id, args[0], args[1], m);
    case KJ_BI_MATCH_ANY_SYNC:
    case KJ_BI_MATCH_ALL_SYNC: return lower_match(lo, id, args[0], args[1], m);
    case KJ_BI_ACTIVEMASK: return running(lo, m);
    default: return kj_tile_int(lo, 0); /* syncwarp: the lanes are together already */
    }
}

/* ---- Loops over distances ---- */

enum { FEW_DISTANCES = 6 };

typedef struct distances {
    bool varied; /* a shuffle has one that is no constant */
    bool halved; /* a variable is, or doubled: it has few values */
} distances;

static bool find_shuffle(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    distances *d = ctx;
    (void)s;
    bool shuffle = e && e->kind == KJ_TE_CALL &&
                   (e->u.call.id == KJ_BI_SHFL_DOWN_SYNC || e->u.call.id == KJ_BI_SHFL_UP_SYNC ||
                    e->u.call.id == KJ_BI_SHFL_XOR_SYNC);
    if (shuffle && e->u.call.args[2]->kind != KJ_TE_CONST)
        d->varied = true;
    return !d->varied;
}

static bool find_halving(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    distances *d = ctx;
    const kj_texpr *v = !e && s->kind == KJ_TS_ASSIGN ? s->u.assign.value : NULL;
    if (!v || v->kind != KJ_TE_BINARY || v->u.binary.rhs->kind != KJ_TE_CONST)
        return true;
    kj_op op = v->u.binary.op;
    const kj_texpr *old = v->u.binary.lhs;
    d->halved = old->kind == KJ_TE_VAR && old->u.var == s->u.assign.var &&
                (op == KJ_OP_FLOORDIV || op == KJ_OP_SHR || op == KJ_OP_MUL || op == KJ_OP_SHL);
    return !d->halved;
}

bool kj_has_few_distances(const kj_tstmt *loop)
{
    distances d = {.varied = false};
    kj_turns turns;
    bool counts = loop->kind == KJ_TS_FOR;
    const kj_tstmt *body = counts ? loop->u.for_.body : loop->u.while_.body;
    if (kj_walk(body, NULL, find_shuffle, &d))
        return false;
    if (counts)
        return kj_known_turns(loop, &turns) && turns.n <= FEW_DISTANCES;
    return !kj_walk(body, NULL, find_halving, &d);
}
