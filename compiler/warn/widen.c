/* How arithmetic is written so that it does not wrap: its first operands converted, and what comes of it converted back
 * where it is needed in the type that it had. In: a message and the expression that it is about; out: its hint and fix. */
#include <string.h>

#include "warn/widen.h"

typedef struct widening {
    const kj_diag *diag;
    const kj_made *made;
    const char *wider;
    bool each;    /* all operands need it */
    uint32_t end; /* of what was put into `text` */
    const char *text;
    bool failed; /* the source is not what the tree says */
} widening;

static const kj_texpr *plain(const kj_made *made, const kj_texpr *e)
{
    e = kj_in_place(made, e);
    while (e->kind == KJ_TE_CONVERT && !e->written && kj_is_int(e->u.unary.arg->type))
        e = kj_in_place(made, e->u.unary.arg);
    return e;
}

static bool is_arithmetic(const kj_made *made, const kj_texpr *e)
{
    kj_op op = e->kind == KJ_TE_BINARY ? e->u.binary.op : KJ_NOPS;
    if (op == KJ_OP_OR && !e->written)
        return is_arithmetic(made, plain(made, e->u.binary.lhs)) ||
               is_arithmetic(made, plain(made, e->u.binary.rhs));
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

bool kj_same_text(const kj_diag *diag, kj_span a, kj_span b)
{
    const char *text = diag->source->text;
    return a.begin < a.end && b.begin < b.end && a.end - a.begin == b.end - b.begin &&
           memcmp(text + a.begin, text + b.begin, a.end - a.begin) == 0;
}

bool kj_is_rotation(const kj_diag *diag, const kj_made *made, const kj_texpr *either)
{
    const kj_texpr *left = kj_in_place(made, either->u.binary.lhs),
                   *right = kj_in_place(made, either->u.binary.rhs);
    if (left->kind != KJ_TE_BINARY || right->kind != KJ_TE_BINARY ||
        left->u.binary.op + right->u.binary.op != KJ_OP_SHL + KJ_OP_SHR ||
        kj_ops[left->u.binary.op].class != KJ_OPS_SHIFT ||
        !kj_same_text(diag, left->u.binary.lhs->span, right->u.binary.lhs->span))
        return false;
    const kj_texpr *a = left->u.binary.rhs, *b = right->u.binary.rhs;
    return a->kind != KJ_TE_CONST || b->kind != KJ_TE_CONST ||
           a->u.value.i + b->u.value.i == kj_types[either->type].bits;
}

/* Where the ** of a power stands, behind its base; 0: nowhere. */
static uint32_t power_at(const kj_diag *diag, kj_span all, kj_span base)
{
    const char *text = diag->source->text;
    bool within = all.begin <= base.begin && base.end < all.end;
    for (uint32_t at = base.end; within && at + 2 < all.end; at++)
        if (memcmp(text + at, "**", 2) == 0)
            return text[at + 2] == '=' ? 0 : at;
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
    e = plain(w->made, e);
    const kj_texpr *base = kj_power_base(w->made, e);
    if (base && !e->written) {
        uint32_t end = power_at(w->diag, e->span, base->span);
        w->failed |= end == 0;
        convert(w, base, (kj_span){e->span.begin, end});
        return;
    }
    if (!is_arithmetic(w->made, e) || (e->kind == KJ_TE_BINARY && e->u.binary.op == KJ_OP_OR &&
                                       kj_is_rotation(w->diag, w->made, e))) {
        convert_whole(w, at);
        return;
    }
    if (e->kind == KJ_TE_UNARY) {
        convert(w, e->u.unary.arg, (kj_span){e->span.begin + 1, e->span.end});
        return;
    }
    const kj_texpr *lhs = plain(w->made, e->u.binary.lhs), *rhs = plain(w->made, e->u.binary.rhs);
    bool shift = e->u.binary.op == KJ_OP_SHL, left = is_arithmetic(w->made, lhs);
    bool right = !shift && is_arithmetic(w->made, rhs);
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
    const kj_texpr *part;
    const kj_var *result; /* of statements in an arm of a choice, that is the part; or NULL */
    const kj_texpr *whole;
    const kj_tstmt *s; /* that the whole is in */
} search;

static bool see_whole(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    search *look = ctx;
    const kj_texpr *operands[KJ_MAX_OPERANDS];
    bool found = e && e->kind == KJ_TE_INLINE && e->u.inline_.result == look->result;
    for (int i = 0, n = e ? kj_operands(e, operands) : 0; i < n; i++)
        found |= operands[i] == look->part;
    if (found) {
        look->whole = e;
        look->s = s;
    }
    return !found;
}

/* s: the statement of the part, then that of the whole. */
static const kj_texpr *whole_of(const kj_tstmt *body, const kj_tstmt **s, const kj_texpr *part)
{
    search look = {.part = part, .s = *s};
    kj_walk(*s, (*s)->next, see_whole, &look);
    if (!look.whole && (*s)->kind == KJ_TS_ASSIGN && (*s)->u.assign.value == part) {
        look.result = (*s)->u.assign.var;
        kj_walk(body, NULL, see_whole, &look);
    }
    *s = look.s;
    return look.whole;
}

static bool contains(kj_span outer, kj_span inner)
{
    return outer.begin <= inner.begin && inner.end <= outer.end;
}

static bool is_comparison(const kj_texpr *e)
{
    return e->kind == KJ_TE_BINARY && kj_ops[e->u.binary.op].class == KJ_OPS_COMPARE;
}

static bool hands_on(const kj_texpr *e, const kj_texpr *part)
{
    kj_op op = e->kind == KJ_TE_BINARY ? e->u.binary.op : KJ_NOPS;
    bool count = op != KJ_NOPS && kj_ops[op].class == KJ_OPS_SHIFT && e->u.binary.rhs == part;
    return kj_is_int(e->type) && !count &&
           (e->kind == KJ_TE_BINARY || e->kind == KJ_TE_UNARY || e->kind == KJ_TE_SELECT ||
            e->kind == KJ_TE_CONVERT || e->kind == KJ_TE_INLINE ||
            (e->kind == KJ_TE_CALL && strcmp(kj_builtins[e->u.call.id].group, "arithmetic") == 0));
}

/* Does it give the same modulo 2^bits, if its operands do? */
static bool is_modular(const kj_texpr *e)
{
    kj_op op = e->kind == KJ_TE_BINARY ? e->u.binary.op : KJ_NOPS;
    return e->kind != KJ_TE_CALL && op != KJ_OP_SHR && op != KJ_OP_MOD && op != KJ_OP_FLOORDIV;
}

/* What the arithmetic is part of. */
typedef struct place {
    const kj_texpr *top; /* as far as its type stays as narrow */
    kj_dtype to;         /* what that is made then; void: whatever has the bits */
    bool back;           /* it has to have the type that it has */
    bool modular;        /* all that is done up to there is */
    bool hint_only;      /* what becomes of the value may need its type */
} place;

static bool is_wider(const kj_widen *how, const kj_texpr *top, const kj_texpr *whole, int least)
{
    int bits = kj_types[whole->type].bits;
    if (whole->kind != KJ_TE_CONVERT || bits <= kj_types[top->type].bits)
        return false;
    return kj_is_float(whole->type) ||
           (bits >= least &&
            (bits > 16 || (!whole->written && kj_fits(how->made, top, whole->type))));
}

/* The type in which arithmetic gives what is meant. */
static kj_dtype wide_type(const kj_widen *how, const place *p)
{
    bool shift = how->e->kind == KJ_TE_BINARY && how->e->u.binary.op == KJ_OP_SHL;
    bool full = how->to != KJ_VOID || (shift && kj_is_int(p->to));
    if (kj_is_int(p->to) && (full || kj_types[p->to].bits < 32))
        return p->to;
    bool is_unsigned = kj_is_int(p->to) && !kj_is_signed(p->to), is_int = kj_is_int(p->to);
    kj_dtype small = is_unsigned ? KJ_U32 : KJ_I32;
    bool fits = kj_fits(how->made, how->e, small) && kj_fits(how->made, p->top, small);
    if (fits || (is_int && kj_types[p->to].bits == 32))
        return small;
    return is_int ? p->to : KJ_I64;
}

/* The variable whose type is that of its value, or of its bounds; or NULL. */
static const kj_var *variable_made(const kj_diag *diag, const kj_tstmt *s, const kj_texpr *top)
{
    if (s->kind == KJ_TS_FOR && (s->u.for_.start == top || s->u.for_.stop == top))
        return s->u.for_.var;
    bool let = s->kind == KJ_TS_DECL && s->u.decl.init == top && !s->u.decl.var->mutable;
    return let && kj_is_untyped_name(diag, s->u.decl.var) ? s->u.decl.var : NULL;
}

/* What does not fit into its type again goes on in more bits, where a use of the variable that holds it does. */
static void go_on(const kj_diag *diag, const kj_widen *how, const kj_tstmt *s, place *p)
{
    const kj_var *v = variable_made(diag, s, p->top);
    if (!v || kj_fits(how->made, p->top, p->top->type))
        return;
    const kj_uses uses = kj_uses_of(how->body, v, wide_type(how, p));
    if (uses.narrow && !uses.wide)
        return;
    p->back = false;
    p->hint_only = uses.wide < uses.all;
}

/* least: the bits that are enough. */
static place narrow_place(const kj_diag *diag, const kj_widen *how, int least)
{
    place p = {.top = how->e, .to = KJ_VOID, .back = true, .modular = true};
    const kj_tstmt *s = how->s;
    const kj_texpr *whole;
    while ((whole = whole_of(how->body, &s, p.top)) != NULL && contains(whole->span, p.top->span)) {
        bool compares = is_comparison(whole);
        if (compares || is_wider(how, p.top, whole, least)) {
            p.to = compares || whole->written ? KJ_VOID : whole->type;
            p.back = false;
            break;
        }
        if (!hands_on(whole, p.top) || (whole->kind == KJ_TE_BINARY && !operator_at(diag, whole)))
            break;
        p.modular &= is_modular(whole);
        p.top = whole;
        if (whole->written) { /* it is converted back as it stands */
            p.back = false;
            break;
        }
    }
    if (!whole)
        go_on(diag, how, s, &p);
    return p;
}

/* 32 bits that do not hold what is meant are enough only where nothing asks for the bits above. */
static place place_of(const kj_diag *diag, const kj_widen *how, kj_dtype *type)
{
    place near = {.top = how->e, .to = how->to};
    if (how->to == KJ_VOID)
        near = narrow_place(diag, how, 0);
    *type = wide_type(how, &near);
    bool enough = kj_fits(how->made, how->e, *type) && kj_fits(how->made, near.top, *type);
    if (how->to != KJ_VOID || kj_types[*type].bits != 32 || enough)
        return near;
    const place far = narrow_place(diag, how, 64);
    if (near.modular && far.modular && far.back)
        return near;
    *type = kj_is_int(far.to) ? far.to : KJ_I64;
    return far;
}

/* ---- Uses ---- */

/* What a use is part of, up to where the bits that it has matter. */
static void see_part(kj_uses *u, const kj_tstmt *s, const kj_texpr *e)
{
    const kj_texpr *whole;
    while ((whole = whole_of(u->body, &s, e)) != NULL) {
        bool wide = whole->kind == KJ_TE_CONVERT &&
                    (whole->written || whole->type == u->to || whole->type == KJ_F32 ||
                     whole->type == KJ_F64 || (u->to == KJ_I32 && whole->type == KJ_I64));
        if (wide || is_comparison(whole)) {
            u->wide++;
            return;
        }
        if (!hands_on(whole, e))
            return;
        e = whole;
    }
    u->narrow += s->kind == KJ_TS_STORE || s->kind == KJ_TS_ASSIGN;
}

static bool see_use(void *ctx, const kj_tstmt *s, const kj_texpr *e)
{
    kj_uses *u = ctx;
    if (e && e->kind == KJ_TE_VAR && e->u.var == u->var) {
        u->all++;
        see_part(u, s, e);
    }
    return true;
}

kj_uses kj_uses_of(const kj_tstmt *body, const kj_var *v, kj_dtype to)
{
    kj_uses u = {.body = body, .var = v, .to = to};
    kj_walk(body, NULL, see_use, &u);
    return u;
}

bool kj_is_named(const kj_diag *diag, const kj_var *v)
{
    const kj_source *s = diag->source;
    size_t len = strlen(v->name);
    return v->span.begin + len <= s->size && memcmp(s->text + v->span.begin, v->name, len) == 0;
}

bool kj_is_untyped_name(const kj_diag *diag, const kj_var *v)
{
    if (!kj_is_named(diag, v))
        return false;
    const char *behind = diag->source->text + v->span.begin + strlen(v->name);
    return behind[strspn(behind, " \t")] != ':';
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

/* The text dot(a, b) with its arguments converted; NULL: it is another one. */
static const char *widened_dot(const kj_diag *diag, kj_span at, const char *wider)
{
    const char *source = diag->source->text, *text = "dot(";
    uint32_t begin = at.begin + (uint32_t)strlen(text);
    int depth = 1;
    if (strncmp(source + at.begin, text, strlen(text)) != 0)
        return NULL;
    for (uint32_t i = begin; i < at.end; i++) {
        depth += strchr("([", source[i]) ? 1 : strchr(")]", source[i]) ? -1 : 0;
        if (depth == 0 && i + 1 < at.end)
            return NULL;
        if ((depth == 1 && source[i] == ',') || depth == 0) {
            text = kj_arena_printf(diag->arena, "%s%s(%.*s)%s", text, wider, (int)(i - begin),
                                   source + begin, depth ? ", " : ")");
            begin = i + 1 + (uint32_t)strspn(source + i + 1, " ");
        }
    }
    return depth == 0 && is_short(text) ? text : NULL;
}

/* dot has the product in itself: vectors are converted before it, and what it gives is a number. */
static bool hint_dot(kj_diag *diag, kj_message *m, const kj_widen *how, const char *wider)
{
    const kj_span at = how->e->span;
    const char *own = kj_type_name(how->e->type);
    const char *whole = kj_arena_printf(diag->arena, "%.*s", (int)(at.end - at.begin),
                                        diag->source->text + at.begin);
    const char *dot = strstr(whole, "dot("), *call = widened_dot(diag, at, wider);
    if (!dot || (dot > whole && kj_is_word(dot[-1])))
        return false;
    if (call)
        kj_hint(diag, m, "write %s; where wrapping is meant, %s(%s)", call, own, whole);
    else
        kj_hint(diag, m, "convert the arguments of dot: %s(...); where wrapping is meant, %s(...)",
                wider, own);
    return true;
}

static void hint(kj_diag *diag, kj_message *m, const kj_widen *how, const widening *w,
                 const char *back)
{
    const kj_span at = how->e->span;
    if (how->lanes && hint_dot(diag, m, how, w->wider))
        return;
    const char *text = diag->source->text;
    bool power = false;
    for (uint32_t i = at.begin; i + 1 < at.end; i++)
        power |= text[i] == '*' && text[i + 1] == '*';
    const char *own = kj_arena_printf(diag->arena, "%s(%.*s)", how->own, (int)(at.end - at.begin),
                                      diag->source->text + at.begin);
    if (!w->failed && is_short(w->text) && is_short(own))
        kj_hint(diag, m, "write %s; where wrapping is meant, %s", w->text, own);
    else
        kj_hint(diag, m, "convert its %s: %s(...)%s; where wrapping is meant, %s(...)",
                power     ? "powers' bases"
                : w->each ? "operands"
                          : "first operand",
                w->wider, back, how->own);
}

void kj_warn_widen(kj_diag *diag, kj_message *m, const kj_widen *how)
{
    if (!kj_is_shown(diag, m) || how->e->span.end <= how->e->span.begin)
        return;
    kj_dtype type;
    const place p = place_of(diag, how, &type);
    const kj_span from = p.back ? p.top->span : how->e->span;
    bool other = p.top->type != how->e->type; /* of 16 bits, of 8 */
    const char *own = other ? kj_type_name(p.top->type) : how->own, *name = kj_type_name(type);
    if (how->lanes)
        name = kj_arena_printf(diag->arena, "%sx%d", name, how->lanes);
    widening w = {.diag = diag,
                  .made = how->made,
                  .wider = name,
                  .each = !kj_is_signed(type) && kj_is_signed(how->e->type),
                  .end = from.begin,
                  .text = p.back ? kj_arena_printf(diag->arena, "%s(", own) : "",
                  .failed = how->generic ||
                            (p.back && (p.top == how->e || (other && how->lanes))) ||
                            !is_plain(diag, from)};
    convert(&w, how->e, how->e->span);
    copy_to(&w, from.end);
    if (p.back)
        w.text = kj_arena_printf(diag->arena, "%s)", w.text);
    hint(diag, m, how, &w,
         p.back ? kj_arena_printf(diag->arena, ", and the result back: %s(...)", own) : "");
    if (!w.failed && !how->hint_only && !p.hint_only)
        kj_fix(diag, m, from, "%s", w.text);
}
