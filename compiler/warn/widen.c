/* How arithmetic is written so that it does not wrap: its first operands converted, and what comes of it converted back
 * where it is needed in the type that it had. In: a message and the expression that it is about; out: its hint and fix. */
#include <string.h>

#include "warn/widen.h"

typedef struct widening {
    const kj_diag *diag;
    const char *wider;
    bool each;    /* all operands need it */
    uint32_t end; /* of what was put into `text` */
    const char *text;
    bool failed; /* the source is not what the tree says */
} widening;

static const kj_texpr *plain(const kj_texpr *e)
{
    while (e->kind == KJ_TE_CONVERT && !e->written && kj_is_int(e->u.unary.arg->type))
        e = e->u.unary.arg;
    return e;
}

static bool is_arithmetic(const kj_texpr *e)
{
    kj_op op = e->kind == KJ_TE_BINARY ? e->u.binary.op : KJ_NOPS;
    return !e->written &&
           ((e->kind == KJ_TE_UNARY && e->u.unary.op == KJ_OP_NEG) || op == KJ_OP_ADD ||
            op == KJ_OP_SUB || op == KJ_OP_MUL || op == KJ_OP_SHL);
}

static void copy_to(widening *w, uint32_t end)
{
    w->failed |= end < w->end;
    if (w->failed)
        return;
    w->text = kj_arena_printf(w->diag->arena, "%s%.*s", w->text, (int)(end - w->end),
                              w->diag->source->text + w->end);
    w->end = end;
}

/* Where the operator of a binary operation stands, between its operands; 0: nowhere. */
static uint32_t operator_at(const kj_diag *diag, const kj_texpr *e)
{
    const char *text = diag->source->text, *spelling = kj_ops[e->u.binary.op].spelling;
    uint32_t at = e->u.binary.lhs->span.end, end = e->u.binary.rhs->span.begin;
    bool within = e->span.begin < at && end < e->span.end;
    size_t len = strlen(spelling);
    for (; within && at + len <= end; at++)
        if (memcmp(text + at, spelling, len) == 0)
            return text[at + len] == '=' ? 0 : at;
    return 0;
}

/* Does the bracket with which it begins end it? */
static bool is_in_brackets(const char *text, kj_span span)
{
    int depth = 0;
    for (uint32_t i = span.begin; i < span.end; i++) {
        depth += (text[i] == '(') - (text[i] == ')');
        if (depth == 0)
            return i + 1 == span.end && i > span.begin;
    }
    return false;
}

static void convert_whole(widening *w, kj_span span)
{
    const char *text = w->diag->source->text;
    while (span.begin < span.end && strchr(" \t\r\n", text[span.begin]))
        span.begin++;
    while (span.begin < span.end && strchr(" \t\r\n", text[span.end - 1]))
        span.end--;
    bool brackets = is_in_brackets(text, span);
    w->failed |= span.end <= span.begin;
    copy_to(w, span.begin);
    w->text = kj_arena_printf(w->diag->arena, "%s%s%s", w->text, w->wider, brackets ? "" : "(");
    copy_to(w, span.end);
    w->text = kj_arena_printf(w->diag->arena, "%s%s", w->text, brackets ? "" : ")");
}

/* As few operands as make the whole wide. `at`: where it is written, with brackets; the tree's place of a field is
 * that of its record. */
static void convert(widening *w, const kj_texpr *e, kj_span at)
{
    e = plain(e);
    if (!is_arithmetic(e)) {
        convert_whole(w, at);
        return;
    }
    if (e->kind == KJ_TE_UNARY) {
        convert(w, e->u.unary.arg, (kj_span){e->span.begin + 1, e->span.end});
        return;
    }
    const kj_texpr *lhs = plain(e->u.binary.lhs), *rhs = plain(e->u.binary.rhs);
    bool shift = e->u.binary.op == KJ_OP_SHL, left = is_arithmetic(lhs);
    bool right = !shift && is_arithmetic(rhs);
    uint32_t op = operator_at(w->diag, e);
    uint32_t behind = op + (uint32_t)strlen(kj_ops[e->u.binary.op].spelling);
    w->failed |= op == 0;
    if (left || !right || w->each)
        convert(w, lhs, (kj_span){e->span.begin, op});
    if (right || (w->each && !shift))
        convert(w, rhs, (kj_span){behind, e->span.end});
}

/* ---- Where the value goes ---- */

typedef struct search {
    const kj_texpr *part, *whole;
} search;

static bool see_whole(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    search *look = ctx;
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    (void)s;
    for (int i = 0, n = e ? kj_operands(e, operands) : 0; i < n; i++)
        if (operands[i] == look->part)
            look->whole = e;
    return !look->whole;
}

static const kj_texpr *whole_of(const kj_tstmt *s, const kj_texpr *part)
{
    search look = {part, NULL};
    kj_walk(s, s->next, see_whole, &look);
    return look.whole;
}

static bool contains(kj_span outer, kj_span inner)
{
    return outer.begin <= inner.begin && inner.end <= outer.end;
}

static bool hands_on(const kj_texpr *e, const kj_texpr *part)
{
    kj_op op = e->kind == KJ_TE_BINARY ? e->u.binary.op : KJ_NOPS;
    bool count = op != KJ_NOPS && kj_ops[op].class == KJ_OPS_SHIFT && e->u.binary.rhs == part;
    return kj_is_int(e->type) && !count &&
           (e->kind == KJ_TE_BINARY || e->kind == KJ_TE_UNARY || e->kind == KJ_TE_SELECT ||
            e->kind == KJ_TE_CONVERT ||
            (e->kind == KJ_TE_CALL && strcmp(kj_builtins[e->u.call.id].group, "arithmetic") == 0));
}

/* What the arithmetic is part of, as far as its type stays as narrow; *to: what that is made then, or void where it
 * has to have the type that it has. */
static const kj_texpr *narrow_whole(const kj_diag *diag, const kj_tstmt *s, const kj_texpr *e,
                                    kj_dtype *to)
{
    const kj_texpr *top = e, *whole;
    *to = KJ_VOID;
    while ((whole = whole_of(s, top)) != NULL && contains(whole->span, top->span)) {
        bool compares =
            whole->kind == KJ_TE_BINARY && kj_ops[whole->u.binary.op].class == KJ_OPS_COMPARE;
        if (compares || (whole->kind == KJ_TE_CONVERT && kj_types[whole->type].bits > 16)) {
            *to = compares || whole->written ? KJ_I32 : whole->type;
            break;
        }
        if (!hands_on(whole, top) || (whole->kind == KJ_TE_BINARY && !operator_at(diag, whole)))
            break;
        top = whole;
        if (whole->written) { /* it is converted back as it stands */
            *to = KJ_I32;
            break;
        }
    }
    return top;
}

/* ---- What is said ---- */

enum { LONGEST = 72 };

static bool is_short(const char *text)
{
    return strlen(text) <= LONGEST && !strchr(text, '\n');
}

/* Text that is long, or has comments, is left to the reader. */
static bool is_plain(const kj_diag *diag, kj_span span)
{
    enum { MOST = 4096 };
    size_t len = span.end - span.begin;
    return len <= MOST && !memchr(diag->source->text + span.begin, '#', len);
}

static void hint(kj_diag *diag, kj_message *m, const kj_widen *how, const widening *w,
                 const char *back)
{
    const kj_span at = how->e->span;
    const char *own = kj_arena_printf(diag->arena, "%s(%.*s)", how->own, (int)(at.end - at.begin),
                                      diag->source->text + at.begin);
    if (!w->failed && is_short(w->text) && is_short(own))
        kj_hint(diag, m, "write %s; where wrapping is meant, %s", w->text, own);
    else
        kj_hint(diag, m, "convert its %s: %s(...)%s; where wrapping is meant, %s(...)",
                w->each ? "operands" : "first operand", w->wider, back, how->own);
}

void kj_warn_widen(kj_diag *diag, kj_message *m, const kj_widen *how)
{
    kj_dtype to = how->to;
    const kj_texpr *top = how->e;
    if (!kj_is_shown(diag, m) || top->span.end <= top->span.begin)
        return;
    if (to == KJ_VOID)
        top = narrow_whole(diag, how->s, how->e, &to);
    bool back = to == KJ_VOID, is_unsigned = kj_is_int(to) && !kj_is_signed(to);
    bool all = how->to != KJ_VOID || (how->e->u.binary.op == KJ_OP_SHL && kj_is_int(to));
    const char *name = all ? kj_type_name(to) : is_unsigned ? "u32" : "i32";
    if (how->lanes)
        name = kj_arena_printf(diag->arena, "%sx%d", name, how->lanes);
    const kj_texpr *from = back ? top : how->e;
    widening w = {.diag = diag,
                  .wider = name,
                  .each =
                      is_unsigned && kj_is_signed(how->e->type) && how->e->u.binary.op != KJ_OP_SHL,
                  .end = from->span.begin,
                  .text = back ? kj_arena_printf(diag->arena, "%s(", how->own) : "",
                  .failed = how->generic || (back && top == how->e) || !is_plain(diag, from->span)};
    convert(&w, how->e, how->e->span);
    copy_to(&w, from->span.end);
    if (back)
        w.text = kj_arena_printf(diag->arena, "%s)", w.text);
    hint(diag, m, how, &w,
         back ? kj_arena_printf(diag->arena, ", and the result back: %s(...)", how->own) : "");
    if (!w.failed && !how->hint_only)
        kj_fix(diag, m, from->span, "%s", w.text);
}
