/* What types do that a reader may not see: arithmetic that wraps in few bits, and then goes on in more. */
#include <string.h>

#include "warn/warn.h"

typedef struct types_walk {
    kj_diag *diag;
    const kj_file *file;
} types_walk;

static bool is_int_of(const kj_texpr *e, int least, int most)
{
    return kj_is_int(e->type) && kj_types[e->type].bits >= least && kj_types[e->type].bits <= most;
}

/* Arithmetic that leaves the type's range as soon as its operands are not small, and whose type nobody
 * asked for. */
static bool wraps(const kj_texpr *e, int least, int most)
{
    if (e->kind != KJ_TE_BINARY || e->written || !is_int_of(e, least, most))
        return false;
    kj_op op = e->u.binary.op;
    return op == KJ_OP_ADD || op == KJ_OP_SUB || op == KJ_OP_MUL || op == KJ_OP_SHL;
}

/* ---- 8 and 16 bits ---- */

/* The source text of an expression that is short and one word; or NULL. */
static const char *word(const types_walk *w, const kj_texpr *e)
{
    enum { LONGEST = 24 };
    const char *text = w->diag->source->text + e->span.begin;
    size_t len = e->span.end - e->span.begin;
    if (len == 0 || len > LONGEST || memchr(text, '\n', len) || memchr(text, ' ', len))
        return NULL;
    return kj_arena_printf(w->diag->arena, "%.*s", (int)len, text);
}

/* "i32(a[i]) + b[i]": the operation with its first operand converted, where it is short. */
static void hint_conversion(const types_walk *w, kj_message *m, const kj_texpr *e,
                            const char *wider)
{
    const char *lhs = word(w, e->u.binary.lhs), *rhs = word(w, e->u.binary.rhs);
    bool both = lhs && rhs;
    kj_hint(w->diag, m, "write %s(%s) %s %s; where wrapping is meant, %s(...)", wider,
            both ? lhs : "a", kj_ops[e->u.binary.op].spelling, both ? rhs : "b",
            kj_type_name(e->type));
}

static void warn_of_narrow(const types_walk *w, const kj_texpr *e, const char *then)
{
    if (!wraps(e, 8, 16))
        return;
    kj_message *m = kj_warn(w->diag, e->span, KJ_RULE_NARROW_ARITHMETIC,
                            "this is computed in %s, where it can wrap, before it is %s",
                            kj_type_name(e->type), then);
    hint_conversion(w, m, e, "i32");
}

static void see_narrow(const types_walk *w, const kj_texpr *e)
{
    kj_op op = e->kind == KJ_TE_BINARY ? e->u.binary.op : KJ_NOPS;
    bool wider = e->kind == KJ_TE_CONVERT && kj_types[e->type].bits > 16;
    if (wider)
        warn_of_narrow(w, e->u.unary.arg, "widened");
    if (op == KJ_OP_FLOORDIV || op == KJ_OP_MOD || op == KJ_OP_DIV)
        warn_of_narrow(w, e->u.binary.lhs, "divided");
    else if (op == KJ_OP_SHR)
        warn_of_narrow(w, e->u.binary.lhs, "shifted right");
    else if (op != KJ_NOPS && kj_ops[op].class == KJ_OPS_COMPARE) {
        warn_of_narrow(w, e->u.binary.lhs, "compared");
        warn_of_narrow(w, e->u.binary.rhs, "compared");
    }
}

/* ---- 32 bits in 64 ---- */

/* value: what is stored, in a type of its own accord or by i64(...), or added to what is. */
static void see_product(const types_walk *w, const kj_texpr *value)
{
    kj_op op = value && value->kind == KJ_TE_BINARY ? value->u.binary.op : KJ_NOPS;
    if (op == KJ_OP_ADD || op == KJ_OP_SUB) {
        see_product(w, value->u.binary.lhs);
        see_product(w, value->u.binary.rhs);
        return;
    }
    if (!value || value->kind != KJ_TE_CONVERT || !is_int_of(value, 64, 64))
        return;
    const kj_texpr *e = value->u.unary.arg;
    if (!wraps(e, 32, 32) || e->u.binary.op == KJ_OP_ADD || e->u.binary.op == KJ_OP_SUB)
        return;
    bool shift = e->u.binary.op == KJ_OP_SHL;
    kj_message *m =
        kj_warn(w->diag, e->span, KJ_RULE_NARROW_PRODUCT,
                "this %s is computed in %s, where it can wrap, before it is %s",
                shift ? "shift" : "product", kj_type_name(e->type), kj_type_name(value->type));
    hint_conversion(w, m, e, kj_type_name(value->type));
}

/* Has the variable been declared by that name, not by the compiler? */
static bool is_written(const types_walk *w, const kj_var *v)
{
    const kj_source *s = w->diag->source;
    size_t len = strlen(v->name);
    return v->span.begin + len <= s->size && memcmp(s->text + v->span.begin, v->name, len) == 0;
}

/* ---- Unsigned ---- */

/* An instance of a generic function asks what another needs. */
static bool is_generic(const types_walk *w, kj_span span)
{
    for (const kj_item *item = w->file->items; item; item = item->next)
        if (item->generics && item->span.begin <= span.begin && span.end <= item->span.end)
            return true;
    return false;
}

static bool is_zero(const kj_texpr *e)
{
    return e->kind == KJ_TE_CONST && kj_is_int(e->type) && e->u.value.u == 0;
}

static bool is_unsigned(const kj_texpr *e)
{
    return kj_is_int(e->type) && !kj_is_signed(e->type) && e->kind != KJ_TE_CONST;
}

static void see_below_zero(const types_walk *w, const kj_texpr *e)
{
    if (e->kind != KJ_TE_BINARY)
        return;
    const kj_texpr *lhs = e->u.binary.lhs, *rhs = e->u.binary.rhs;
    kj_op op = e->u.binary.op;
    bool left = (op == KJ_OP_LT || op == KJ_OP_GE) && is_unsigned(lhs) && is_zero(rhs);
    bool right = (op == KJ_OP_GT || op == KJ_OP_LE) && is_unsigned(rhs) && is_zero(lhs);
    if ((!left && !right) || is_generic(w, e->span))
        return;
    kj_warn(w->diag, e->span, KJ_RULE_CONSTANT_CONDITION,
            "this condition is always %s: %s is never below 0",
            op == KJ_OP_GE || op == KJ_OP_LE ? "true" : "false",
            kj_type_name(left ? lhs->type : rhs->type));
}

/* ---- The walk ---- */

static bool see(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    const types_walk *w = ctx;
    if (e) {
        see_narrow(w, e);
        see_below_zero(w, e);
        if (e->written)
            see_product(w, e);
    } else if (s->kind == KJ_TS_STORE) {
        see_product(w, s->u.store.value);
    } else if (s->kind == KJ_TS_ASSIGN && is_written(w, s->u.assign.var)) {
        see_product(w, s->u.assign.value);
    } else if (s->kind == KJ_TS_DECL && is_written(w, s->u.decl.var)) {
        see_product(w, s->u.decl.init);
    }
    return true;
}

void kj_warn_of_types(kj_diag *diag, const kj_file *file, const kj_tstmt *body)
{
    types_walk w = {diag, file};
    if (diag->wanted)
        kj_walk(body, NULL, see, &w);
}
