/* How far a number moves from thread to thread: the steps of a flat index, as i * w + j. What is not certain from the text
 * has none that are known. */
#include "warn/element.h"

#include <string.h>

enum { FAR_APART = 32, MOST = 1 << 20 };

static const kj_steps unknown = {0};

static kj_steps constant(int64_t value)
{
    bool held = value > -MOST && value < MOST;
    return (kj_steps){.known = true, .constant = held, .value = held ? value : 0};
}

/* The same for all threads, and different from launch to launch. */
static kj_steps uniform(int pitches)
{
    return (kj_steps){.known = true, .pitch = pitches > 0, .pitches = pitches};
}

/* ---- Arithmetic ---- */

/* Both at once; false: they may take each other away. */
static bool add_step(kj_step *to, kj_step other, int sign)
{
    if (!other.by)
        return true;
    other.by *= sign;
    if (!to->by || other.pitches > to->pitches) {
        *to = other;
        return true;
    }
    if (to->pitches > other.pitches)
        return true;
    to->by += other.by;
    return to->pitches == 0 || (to->by > 0) == (other.by > 0);
}

static kj_steps sum(kj_steps a, const kj_steps *b, int sign)
{
    if (a.constant && b->constant)
        return constant(a.value + sign * b->value);
    kj_steps all = uniform(a.pitches > b->pitches ? a.pitches : b->pitches);
    for (int k = 0; k < 3; k++) {
        all.of[k] = a.of[k];
        if (!add_step(&all.of[k], b->of[k], sign))
            return unknown;
    }
    return all;
}

static kj_steps product(const kj_steps *a, const kj_steps *b)
{
    if (a->constant && b->constant)
        return constant(a->value * b->value);
    const kj_steps *factor = kj_is_uniform_step(a) ? a : b, *moves = factor == a ? b : a;
    if (!kj_is_uniform_step(factor))
        return unknown;
    if (kj_is_uniform_step(moves))
        return uniform(a->pitches + b->pitches);
    if (!factor->constant && !factor->pitch)
        return unknown;
    kj_steps all = {.known = true};
    for (int k = 0; k < 3; k++) {
        all.of[k] = moves->of[k];
        if (factor->constant)
            all.of[k].by *= factor->value;
        else if (all.of[k].by)
            all.of[k].pitches += factor->pitches;
        if (all.of[k].by <= -MOST || all.of[k].by >= MOST)
            return unknown;
    }
    return all;
}

kj_steps kj_sum_of_steps(const kj_steps *a, const kj_steps *b)
{
    return a->known && b->known ? sum(*a, b, 1) : unknown;
}

/* (i + 1) % h is a step from the one of i, but for those at the end. */
static kj_steps remainder_of(const kj_steps *a, const kj_steps *b)
{
    bool far = b->pitch || (b->constant && b->value >= FAR_APART);
    if (kj_is_uniform_step(a))
        return kj_is_uniform_step(b) ? uniform(0) : unknown;
    if (!kj_is_uniform_step(b) || !far)
        return unknown;
    for (int k = 0; k < 3; k++)
        if (a->of[k].pitches || a->of[k].by > 1 || a->of[k].by < -1)
            return unknown;
    return *a;
}

static kj_steps of_binary(const kj_body *b, const kj_expr *e)
{
    kj_steps lhs = kj_steps_of(b, e->u.binary.lhs), rhs = kj_steps_of(b, e->u.binary.rhs);
    if (!lhs.known || !rhs.known)
        return unknown;
    kj_steps power = rhs.constant && rhs.value >= 0 && rhs.value < 20
                         ? constant((int64_t)1 << rhs.value)
                         : unknown;
    const bool both = kj_is_uniform_step(&lhs) && kj_is_uniform_step(&rhs);
    switch (e->u.binary.op) {
    case KJ_OP_ADD: return sum(lhs, &rhs, 1);
    case KJ_OP_SUB: return sum(lhs, &rhs, -1);
    case KJ_OP_MUL: return product(&lhs, &rhs);
    case KJ_OP_MOD: return remainder_of(&lhs, &rhs);
    case KJ_OP_SHL: return power.known ? product(&lhs, &power) : unknown;
    default: return both ? uniform(0) : unknown;
    }
}

/* ---- Names and calls ---- */

static kj_steps of_constant(const kj_body *b, const char *name)
{
    const kj_item *item = kj_warn_item(b->file, name, KJ_I_CONST);
    bool number = item && !item->of && item->value && !(item->type && item->type->ndim);
    return number ? kj_steps_of(b, item->value) : unknown;
}

static kj_steps of_name(const kj_body *b, const char *name)
{
    const kj_named_value *v = kj_warn_find(b, name);
    if (!v)
        return of_constant(b, name);
    if (v->kind == KJ_B_PARAM)
        return v->array ? unknown : uniform(1);
    return v->steps ? *v->steps : unknown;
}

/* min(i, h - 1): but for those at the end they are as far apart as i's. */
static kj_steps of_bounded(const kj_body *b, const kj_expr *args)
{
    kj_steps moves = uniform(0);
    for (const kj_expr *arg = args; arg; arg = arg->next) {
        kj_steps s = kj_steps_of(b, arg);
        if (!s.known || (!kj_is_uniform_step(&s) && !kj_is_uniform_step(&moves)))
            return unknown;
        if (!kj_is_uniform_step(&s))
            moves = s;
    }
    return moves;
}

static kj_steps of_call(const kj_body *b, const kj_expr *e)
{
    const kj_expr *callee = e->u.call.callee, *args = e->u.call.args;
    if (kj_warn_is_builtin(b, callee, "grid")) /* grid(1), and of others those that a let names */
        return (kj_steps){.known = true, .of = {{.by = 1}}};
    if (kj_warn_is_builtin(b, callee, "gridsize"))
        return uniform(1);
    if (kj_warn_is_builtin(b, callee, "min") || kj_warn_is_builtin(b, callee, "max") ||
        kj_warn_is_builtin(b, callee, "clamp"))
        return of_bounded(b, args);
    bool type = callee->kind == KJ_E_NAME && !kj_warn_find(b, callee->u.name) &&
                kj_type_named(callee->u.name) != KJ_VOID;
    return type && args && !args->next ? kj_steps_of(b, args) : unknown;
}

static kj_steps of_member(const kj_body *b, const kj_expr *e)
{
    const kj_expr *base = e->u.member.base;
    const kj_named_value *v = base->kind == KJ_E_NAME ? kj_warn_find(b, base->u.name) : NULL;
    const char *name = e->u.member.name;
    kj_steps place = {.known = true};
    if (strcmp(name, "shape") == 0 || strcmp(name, "size") == 0 || strcmp(name, "strides") == 0)
        return uniform(1);
    if (v)
        return v->kind == KJ_B_PARAM && !v->array ? uniform(1) : unknown; /* of a record */
    if (kj_warn_is_builtin(b, base, "blockIdx") || kj_warn_is_builtin(b, base, "blockDim") ||
        kj_warn_is_builtin(b, base, "gridDim"))
        return uniform(0); /* a block may have few threads along an axis */
    if (!kj_warn_is_builtin(b, base, "threadIdx") || name[0] < 'x' || name[0] > 'z')
        return unknown;
    place.of[name[0] - 'x'].by = 1;
    return place;
}

/* a.shape[0], and p[1] where let p = grid(2). */
static kj_steps of_index(const kj_body *b, const kj_expr *e)
{
    const kj_expr *base = e->u.index.base;
    kj_steps place = {.known = true};
    if (base->kind == KJ_E_MEMBER)
        return strcmp(base->u.member.name, "shape") == 0 ? uniform(1) : unknown;
    if (!kj_grid_of_item(b, e))
        return unknown;
    place.of[e->u.index.args->u.integer].by = 1;
    return place;
}

kj_steps kj_steps_of(const kj_body *b, const kj_expr *e)
{
    kj_steps arg, none = constant(0);
    switch (e->kind) {
    case KJ_E_INT: return constant(e->u.integer < MOST ? (int64_t)e->u.integer : MOST);
    case KJ_E_NAME: return of_name(b, e->u.name);
    case KJ_E_UNARY:
        arg = kj_steps_of(b, e->u.unary.arg);
        return arg.known && e->u.unary.op == KJ_OP_NEG ? sum(none, &arg, -1) : unknown;
    case KJ_E_BINARY: return of_binary(b, e);
    case KJ_E_CALL: return of_call(b, e);
    case KJ_E_MEMBER: return of_member(b, e);
    case KJ_E_INDEX: return of_index(b, e);
    default: return unknown;
    }
}

/* ---- What the steps of an index mean ---- */

static bool is_far(kj_step s)
{
    return s.by && (s.pitches || s.by >= FAR_APART || s.by <= -FAR_APART);
}

/* [y, x, colour]: along x they are neighbours, with a pixel's values between them. */
static bool is_next_to_last(const kj_steps *s)
{
    return (s->of[1].by && s->of[1].pitches > s->of[0].pitches) ||
           (s->of[2].by && s->of[2].pitches > s->of[0].pitches);
}

kj_along kj_along_of(const kj_steps *s)
{
    bool next = (s->of[1].by == 1 && !s->of[1].pitches) || (s->of[2].by == 1 && !s->of[2].pitches);
    bool rows = is_far(s->of[1]) || is_far(s->of[2]);
    if (!s->known)
        return KJ_ALONG_UNKNOWN;
    if (!s->of[0].by)
        return rows ? KJ_ALONG_OTHER : KJ_ALONG_NONE;
    if (!is_far(s->of[0]))
        return rows ? KJ_ALONG_FAST : next ? KJ_ALONG_UNKNOWN : KJ_ALONG_NONE;
    if (!next)
        return KJ_ALONG_NONE;
    return is_next_to_last(s) ? KJ_ALONG_FAST : KJ_ALONG_SLOW;
}
