/* Statement lists under construction, variables, and the hidden lets that keep evaluation in
 * order. */
#include "sema/node/node.h"

/* ---- Operands ---- */

kj_operand kj_scalar(kj_texpr *e)
{
    if (!e)
        return (kj_operand){.kind = KJ_V_ERROR};
    return (kj_operand){.kind = KJ_V_SCALAR, .span = e->span, .u.scalar = {.e = e}};
}

kj_operand kj_literal(kj_value v, kj_span span)
{
    return (kj_operand){.kind = KJ_V_LITERAL, .span = span, .u.literal = v};
}

bool kj_is_constant(const kj_operand *v)
{
    return v->kind == KJ_V_LITERAL || (v->kind == KJ_V_SCALAR && kj_is_const(v->u.scalar.e));
}

/* ---- Variables and roots ---- */

static void *grown(kj_sema *s, const void *old, int n, int *cap, size_t size)
{
    int wanted = *cap ? *cap * 2 : 16;
    char *fresh = kj_arena_calloc(s->arena, (size_t)wanted, size);
    for (size_t i = 0; i < (size_t)n * size; i++)
        fresh[i] = ((const char *)old)[i];
    *cap = wanted;
    return fresh;
}

kj_var *kj_new_var(kj_sema *s, const char *name, kj_span span, kj_dtype type, bool mutable)
{
    kj_var *v = KJ_NEW(s->arena, kj_var);
    *v = (kj_var){
        .name = name, .span = span, .type = type, .id = s->nvars, .mutable = mutable, .param = -1};
    if (s->nvars == s->var_cap)
        s->vars = grown(s, s->vars, s->nvars, &s->var_cap, sizeof *s->vars);
    s->vars[s->nvars++] = (kj_var_note){.var = v, .least = INT64_MIN, .most = INT64_MAX};
    return v;
}

kj_tarray *kj_new_root(kj_sema *s, const kj_tarray *of)
{
    kj_tarray *a = KJ_NEW(s->arena, kj_tarray);
    *a = *of;
    a->root = a;
    a->id = -1;
    if (s->dead) /* in code that is not kept */
        return a;
    if (s->nroots == s->root_cap)
        s->roots = grown(s, s->roots, s->nroots, &s->root_cap, sizeof *s->roots);
    a->id = s->nroots;
    s->roots[s->nroots++] = a;
    return a;
}

static kj_called *call_of(kj_sema *s, kj_frame *f)
{
    if (!f || f->fn < 0)
        return NULL;
    if (!f->told) {
        f->told = KJ_NEW(s->arena, kj_called);
        *f->told = (kj_called){call_of(s, f->up), f->call};
    }
    return f->told;
}

void kj_add_site(kj_sema *s, kj_site *site)
{
    site->id = s->nsites;
    site->call = call_of(s, s->frame);
    if (s->dead)
        return;
    if (s->nsites == s->site_cap)
        s->sites = grown(s, s->sites, s->nsites, &s->site_cap, sizeof *s->sites);
    s->sites[s->nsites++] = site;
}

void kj_array_used(kj_sema *s, kj_tarray *a, bool read, bool written)
{
    if (s->dead)
        return;
    for (int i = 0; a->root->test && i < 2; i++)
        kj_array_used(s, a->root->arms[i], read, written);
    a->root->read |= read;
    a->root->written |= written;
}

/* ---- Sinks ---- */

void kj_sink_open(kj_sema *s, kj_sink *sink)
{
    *sink = (kj_sink){.up = s->sink};
    sink->tail = &sink->first;
    s->sink = sink;
}

kj_tstmt *kj_sink_close(kj_sema *s, kj_sink *sink)
{
    s->sink = sink->up;
    return sink->first;
}

static kj_tstmt *new_stmt(kj_sema *s, kj_tstmt_kind kind, kj_span span)
{
    kj_spend(s, 1);
    kj_tstmt *st = KJ_NEW(s->arena, kj_tstmt);
    st->kind = kind;
    st->span = span;
    return st;
}

kj_tstmt *kj_emit(kj_sema *s, kj_tstmt_kind kind, kj_span span)
{
    kj_tstmt *st = new_stmt(s, kind, span);
    *s->sink->tail = st;
    s->sink->tail = &st->next;
    return st;
}

void kj_emit_decl(kj_sema *s, kj_var *v, kj_texpr *init, kj_span span)
{
    kj_tstmt *st = kj_emit(s, KJ_TS_DECL, span);
    st->u.decl.var = v;
    st->u.decl.init = init;
    if (!v->mutable)
        s->vars[v->id].host = init;
}

void kj_emit_assign(kj_sema *s, kj_var *v, kj_texpr *value, kj_span span)
{
    kj_tstmt *st = kj_emit(s, KJ_TS_ASSIGN, span);
    st->u.assign.var = v;
    st->u.assign.value = value;
    if (!s->dead)
        s->vars[v->id].assigned = true;
}

void kj_splice(kj_sema *s, kj_tstmt *list, bool barrier)
{
    *s->sink->tail = list;
    while (*s->sink->tail)
        s->sink->tail = &(*s->sink->tail)->next;
    s->sink->barrier |= barrier;
}

kj_texpr *kj_hold(kj_sema *s, kj_texpr *e, const char *name)
{
    if (kj_is_leaf(e))
        return e;
    kj_var *v = kj_new_var(s, name, e->span, e->type, false);
    kj_note_literals(s, v, e);
    kj_emit_decl(s, v, e, e->span);
    return kj_te_var(s, v, e->span);
}

static kj_texpr *spill_expr(kj_sema *s, kj_texpr *e, kj_tstmt ***at)
{
    if (kj_is_stable(e))
        return e;
    kj_var *var = kj_new_var(s, "t", e->span, e->type, false);
    kj_note_literals(s, var, e);
    kj_tstmt *st = new_stmt(s, KJ_TS_DECL, e->span);
    st->u.decl.var = var;
    st->u.decl.init = e;
    st->next = **at;
    **at = st;
    if (s->sink->tail == *at)
        s->sink->tail = &st->next;
    *at = &st->next;
    return kj_te_var(s, var, e->span);
}

/* A product that may still be fused keeps its factors apart. */
static void spill_scalar(kj_sema *s, kj_operand *v, kj_tstmt ***at)
{
    if (kj_is_stable(v->u.scalar.e))
        return;
    if (!v->u.scalar.a) {
        v->u.scalar.e = spill_expr(s, v->u.scalar.e, at);
        return;
    }
    v->u.scalar.a = spill_expr(s, v->u.scalar.a, at);
    v->u.scalar.b = spill_expr(s, v->u.scalar.b, at);
    v->u.scalar.e = kj_te_binary(s, KJ_OP_MUL, v->u.scalar.a, v->u.scalar.b, v->span);
}

void kj_spill(kj_sema *s, kj_operand *v, kj_tstmt ***at)
{
    if (v->kind == KJ_V_SCALAR) {
        spill_scalar(s, v, at);
    } else if (v->kind == KJ_V_CHOICE) {
        kj_texpr *number = kj_choice_number(s, v);
        if (!kj_is_stable(number))
            *v = kj_choice_of(s, *v, spill_expr(s, number, at));
    } else if (v->kind == KJ_V_TUPLE) {
        kj_spend(s, v->u.tuple.n);
        kj_operand *items = KJ_NEW_ARRAY(s->arena, kj_operand, (size_t)v->u.tuple.n + 1);
        for (int i = 0; i < v->u.tuple.n; i++) {
            items[i] = v->u.tuple.items[i];
            kj_spill(s, &items[i], at);
        }
        v->u.tuple.items = items;
    }
}

/* What is evaluated of a scalar or a choice; NULL: of another value. */
static kj_texpr *evaluated(kj_sema *s, const kj_operand *v)
{
    if (v->kind == KJ_V_CHOICE)
        return kj_choice_number(s, v);
    return v->kind == KJ_V_SCALAR ? v->u.scalar.e : NULL;
}

bool kj_operand_has_effect(kj_sema *s, const kj_operand *v)
{
    const kj_texpr *e = evaluated(s, v);
    bool effect = e && kj_has_effect(e);
    for (int i = 0; v->kind == KJ_V_TUPLE && i < v->u.tuple.n; i++)
        effect |= kj_operand_has_effect(s, &v->u.tuple.items[i]);
    return effect;
}

bool kj_could_see(kj_sema *s, kj_tstmt **at, const kj_operand *later)
{
    return s->sink->tail != at || kj_operand_has_effect(s, later);
}

void kj_keep_effects(kj_sema *s, const kj_operand *v)
{
    kj_texpr *e = evaluated(s, v);
    if (e && kj_is_missed(e))
        kj_emit(s, KJ_TS_EXPR, v->span)->u.expr = e;
    if (e && e->kind == KJ_TE_ATOMIC && e->u.atomic.array->watch)
        e->u.atomic.array->watch->dropped = true;
    for (int i = 0; v->kind == KJ_V_TUPLE && i < v->u.tuple.n; i++)
        kj_keep_effects(s, &v->u.tuple.items[i]);
}

/* ---- Branches ---- */

void kj_branch_open(kj_sema *s, kj_branch *b, bool dead)
{
    kj_sink_open(s, &b->sink);
    b->dead = dead;
    s->dead += dead;
}
