/* What calls take: how builtins are called, in words and in numbers. */
#include <string.h>

#include "sema/node/node.h"

/* "n(nn)": the argument letters start behind the parenthesis. */
const char *kj_call_words(kj_builtin id)
{
    return strstr(kj_builtins[id].signature, "()") ? "()" : "(...)";
}

const char *kj_builtin_words(kj_sema *s, kj_builtin id)
{
    static const char *const names[] = {"x", "y", "z"};
    const char *text = "(", *doc = kj_builtins[id].doc;
    size_t len = strlen(kj_builtins[id].name);
    if (strncmp(doc, kj_builtins[id].name, len) == 0 && doc[len] == '(')
        return doc + len; /* it names its parameters */
    int n = kj_builtin_arity(id);
    for (int i = 0; i < n; i++)
        text = kj_arena_printf(s->diag->arena, "%s%s%s", text, names[i], i + 1 < n ? ", " : "");
    return kj_arena_printf(s->diag->arena, "%s): %s", text, kj_builtins[id].doc);
}

/* log(x, 2) and atan(y, x) of Python and GLSL: those of two have names of their own. */
static bool hint_other(kj_sema *s, kj_message *m, const kj_expr *call, const char *name)
{
    const kj_expr *of = call->u.call.args, *base = of->next;
    const char *x = kj_source_text(s, of->span, NULL), *b = kj_source_text(s, base->span, NULL);
    bool angle = strcmp(name, "atan") == 0, literal = base->kind == KJ_E_INT;
    if (!x || !b || base->keyword || (!angle && strcmp(name, "log") != 0))
        return false;
    if (angle)
        kj_write(s->diag, m, call->span, "atan2(%s, %s)", x, b);
    else if (literal && (base->u.integer == 2 || base->u.integer == 10))
        kj_write(s->diag, m, call->span, "log%s(%s)", b, x);
    else
        kj_write(s->diag, m, call->span,
                 kj_stands_alone(s->diag->source, call->span) ? "log(%s) / log(%s%s)"
                                                              : "(log(%s) / log(%s%s))",
                 x, b, literal ? ".0" : "");
    return true;
}

/* round(x, 2) and enumerate(a, 1) of Python. */
static bool hint_second(kj_sema *s, kj_message *m, const kj_expr *call, const char *name)
{
    const kj_expr *of = call->u.call.args, *second = of ? of->next : NULL;
    if (!second || second->next || of->keyword)
        return false;
    const char *text = kj_source_text(s, of->span, "...");
    if (strcmp(name, "enumerate") == 0) {
        kj_hint(s->diag, m, "it counts from 0: write enumerate(%s), and i + %s where i is used",
                text, kj_source_text(s, second->span, "..."));
        return true;
    }
    if (hint_other(s, m, call, name))
        return true;
    if (strcmp(name, "round") != 0 || second->kind != KJ_E_INT || second->keyword ||
        second->u.integer < 1 || second->u.integer > 6)
        return false;
    int factor = 1;
    for (uint64_t i = 0; i < second->u.integer; i++)
        factor *= 10;
    kj_write(s->diag, m, call->span,
             kj_stands_alone(s->diag->source, call->span) ? "round(%s * %d) / %d"
                                                          : "(round(%s * %d) / %d)",
             kj_operand_text(s, of->span, "..."), factor, factor);
    return true;
}

bool kj_names_last(kj_sema *s, const kj_expr *args)
{
    bool named = false;
    for (const kj_expr *arg = args; arg; arg = arg->next) {
        if (!arg->keyword && named) {
            kj_sema_error(s, arg->span, KJ_RULE_KEYWORD,
                          "this argument has no name and stands behind one that has");
            return false;
        }
        named |= arg->keyword != NULL;
    }
    return true;
}

bool kj_asks_condition(const char *called)
{
    static const char *const words[] = {"all", "any", "assert", "where"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(called, words[i]) == 0)
            return true;
    return false;
}

static bool is_truth(const kj_expr *e)
{
    return e->kind == KJ_E_CHAIN || e->kind == KJ_E_LOGIC || e->kind == KJ_E_BOOL ||
           (e->kind == KJ_E_UNARY && e->u.unary.op == KJ_OP_NOT) ||
           (e->kind == KJ_E_BINARY && kj_ops[e->u.binary.op].class == KJ_OPS_COMPARE);
}

static bool is_literal(const kj_expr *e)
{
    return e->kind == KJ_E_INT || e->kind == KJ_E_FLOAT || e->kind == KJ_E_IMAG ||
           e->kind == KJ_E_STRING;
}

/* a = b, of two values: b is one whole side of a comparison. */
static bool is_comparison_meant(kj_sema *s, const kj_expr *arg)
{
    const kj_symbol *sym = kj_scope_find(s->scope, arg->keyword);
    bool same = arg->kind == KJ_E_NAME && strcmp(arg->u.name, arg->keyword) == 0;
    return sym && sym->kind == KJ_SYM_VALUE && strcmp(arg->keyword, "condition") != 0 && !same &&
           !is_truth(arg) && arg->kind != KJ_E_COND;
}

void kj_hint_equals(kj_sema *s, kj_message *m, const kj_expr *arg, const char *first_of)
{
    kj_span name = arg->keyword_span, sign = kj_between(s, name, arg->span, "=");
    const char *text = s->diag->source->text;
    bool given = strcmp(arg->keyword, "condition") == 0 ||
                 (first_of && (strcmp(first_of, "all") == 0 || strcmp(first_of, "any") == 0) &&
                  strcmp(arg->keyword, "a") == 0);
    if (first_of && is_comparison_meant(s, arg)) {
        kj_write(s->diag, m, (kj_span){name.begin, arg->span.end}, "%s == %s", arg->keyword,
                 kj_operand_text(s, arg->span, "..."));
        if (text[arg->span.begin - 1] == '(') /* it has its parentheses */
            kj_fix(s->diag, m, sign, "==");
    } else if (!first_of || (given ? !is_literal(arg)
                                   : !kj_scope_find(s->scope, arg->keyword) && is_truth(arg))) {
        kj_hint(s->diag, m, "leave '%s =' out", arg->keyword);
        kj_fix(s->diag, m, (kj_span){name.begin, sign.end + (text[sign.end] == ' ')}, "%s", "");
    } else {
        kj_hint(s->diag, m, "a comparison is written ==");
    }
}

/* where(a=1, b=2, condition=c), assert(message="m", condition=c): the first has a name of another of its parameters, or
 * beside it stands a name that is none. */
static bool hint_of_order(kj_sema *s, kj_message *m, const kj_expr *call, const char *called,
                          const char *signature)
{
    kj_run_signature known = kj_run_signature_of(signature);
    const kj_expr *first = call->u.call.args;
    bool others = false, unknown = false;
    for (const kj_expr *arg = first->next; arg; arg = arg->next) {
        others |= arg->keyword != NULL;
        unknown |= arg->keyword && kj_run_parameter_named(&known, arg->keyword) < 1;
    }
    bool later = kj_run_parameter_named(&known, first->keyword) > 0 &&
                 (others || !is_comparison_meant(s, first));
    if (later || unknown)
        kj_hint(s->diag, m, "%s%s", called, signature);
    return later || unknown;
}

bool kj_names_condition(kj_sema *s, const kj_expr *call, const char *called, const char *signature)
{
    const kj_expr *first = call->u.call.args;
    if (!first || !first->keyword || !kj_asks_condition(called))
        return false;
    kj_message *m = kj_sema_error(s, first->keyword_span, KJ_RULE_KEYWORD,
                                  "the first argument of '%s' is given by its place", called);
    if (!hint_of_order(s, m, call, called, signature))
        kj_hint_equals(s, m, first, called);
    return true;
}

kj_operand kj_arity_error(kj_sema *s, const kj_expr *call, const char *name, const char *sig,
                          int least, int most)
{
    int n = kj_count(call->u.call.args);
    const char *wanted = least == most ? kj_arena_printf(s->diag->arena, "%d", least)
                         : most == KJ_ANY_NUMBER
                             ? kj_arena_printf(s->diag->arena, "%d or more", least)
                             : kj_arena_printf(s->diag->arena, "%d to %d", least, most);
    if (most == 0)
        wanted = "no";
    kj_message *m =
        kj_sema_error(s, call->span, KJ_RULE_ARGUMENT_COUNT, "'%s' takes %s argument%s, not %d",
                      name, wanted, least == 1 && most == 1 ? "" : "s", n);
    if (!hint_second(s, m, call, name))
        kj_hint(s->diag, m, "%s%s", name, sig);
    return kj_no_value(call->span);
}

/* ---- Functions of run blocks ---- */

typedef struct mentions {
    const char *name;
    bool found;
} mentions;

static void find_mention(void *ctx, const kj_expr *e)
{
    mentions *m = ctx;
    m->found |= e->kind == KJ_E_NAME && strcmp(e->u.name, m->name) == 0;
    kj_each_part(e, find_mention, m);
}

static bool is_mentioned(const kj_item *item, const char *name)
{
    mentions m = {name, false};
    kj_each_expr(item->body, find_mention, &m);
    if (item->value)
        find_mention(&m, item->value);
    return m.found;
}

static bool is_vector(const kj_type_ref *t)
{
    kj_dtype type = t && t->name && t->ndim == 0 ? kj_type_named(t->name) : KJ_VOID;
    return type != KJ_VOID && !kj_is_scalar(type) && !kj_is_complex_type(type);
}

const char *kj_as_run_function(kj_sema *s, const kj_item *fn)
{
    bool run = false;
    if (!fn || fn->kind != KJ_I_FN || fn->generics || fn->file != s->program->file)
        return NULL;
    for (const kj_item *item = fn->file->items; item; item = item->next) {
        bool of_run =
            item->kind == KJ_I_RUN || item->kind == KJ_I_RUN_FN || item->kind == KJ_I_TEST;
        bool calls = is_mentioned(item, fn->name);
        if (calls && !of_run && item != fn)
            return NULL;
        run |= calls;
    }
    const char *text = kj_arena_printf(s->diag->arena, "run %s(", fn->name);
    for (const kj_param_decl *p = fn->params; p; p = p->next) {
        if (is_vector(p->type)) /* run blocks compute little with one */
            return NULL;
        text = kj_arena_printf(s->diag->arena, "%s%s%s", text, p->name, p->next ? ", " : "");
    }
    return run ? kj_arena_printf(s->diag->arena, "%s) { ... }", text) : NULL;
}

kj_operand kj_refuse_list(kj_sema *s, const kj_expr *e)
{
    const char *as_run = s->frame ? kj_as_run_function(s, s->frame->item) : NULL;
    kj_message *m = kj_sema_error(s, e->span, KJ_RULE_NOT_A_VALUE,
                                  "a list stands only in a const array or the run block");
    if (as_run)
        kj_hint(s->diag, m, "a function of run blocks is written %s", as_run);
    else
        kj_hint(s->diag, m, "declare const W: f32[] = [...] at the top; a vector is f32x2(1, 2)");
    return kj_no_value(e->span);
}
