/* Calls of CUDA's functions that convert what they are given: the call in, an error whose fix gives the number that CUDA
 * gives, whatever types its arguments have here. */
#include <string.h>

#include "sema/body/body.h"

static int count_of(const char *words)
{
    int n = 0;
    for (; *words; words++)
        if ((*words == '&' || *words == '#') && words[1] - '0' >= n)
            n = words[1] - '0' + 1;
    return n;
}

/* The arguments as they are written, between the call's parentheses; false: it has others than `n`. */
static bool read_arguments(const kj_source *s, kj_span call, uint32_t open, int n, kj_span *out)
{
    int depth = 0, found = 0;
    uint32_t begin = open + 1;
    for (uint32_t at = open; at < call.end && s->text[at] != '"'; at++) {
        depth += strchr("([{", s->text[at]) != NULL;
        bool closes = strchr(")]}", s->text[at]) != NULL;
        depth -= closes;
        if (!(depth == 1 && s->text[at] == ',') && !(depth == 0 && closes))
            continue;
        if (found == n)
            return false;
        uint32_t end = at;
        while (begin < end && strchr(" \t\r\n", s->text[begin]))
            begin++;
        while (end > begin && strchr(" \t\r\n", s->text[end - 1]))
            end--;
        out[found++] = (kj_span){begin, end};
        begin = at + 1;
        if (depth == 0)
            return found == n && at + 1 == call.end;
    }
    return false;
}

/* A small whole number, which has any type. */
static bool is_literal(const kj_source *s, kj_span text)
{
    enum { DIGITS = 9 };
    size_t len = text.end - text.begin;
    return len <= DIGITS && strspn(s->text + text.begin, "0123456789") >= len;
}

/* `&0`, `#0`: the place of an argument. */
static bool is_place(const char *at)
{
    return (*at == '&' || *at == '#') && kj_is_digit(at[1]);
}

/* Does nothing bind what stands there but the brackets and commas of a call? */
static bool stands_by_itself(const char *words, const char *at)
{
    bool begins = at > words && (at[-1] == '(' || (at[-1] == ' ' && at[-2] == ','));
    return begins && strchr("),", at[2]);
}

/* What is said behind the code. */
static const char *said_behind(const char *words)
{
    const char *said = strstr(words, ": ");
    return said ? said : words + strlen(words);
}

/* Is there an argument that is converted, or has the type, and is no literal? */
static bool has_type(const kj_source *s, const kj_cuda_call *call, const kj_span *text)
{
    for (const char *at = call->words; *at; at++)
        if (*at == '&' && is_place(at) && !is_literal(s, text[at[1] - '0']))
            return true;
    return false;
}

/* One argument, converted if it has another type; literal: one may stand as it is. */
static const char *argument(kj_sema *s, const kj_cuda_call *call, const char *at, kj_span text,
                            const kj_operand *v, bool literal)
{
    const char *own = kj_arena_printf(s->diag->arena, "%.*s", (int)(text.end - text.begin),
                                      s->diag->source->text + text.begin);
    const char *type = call->type;
    bool known = v->kind != KJ_V_ERROR && !kj_is_untyped(v);
    const char *has = known ? kj_type_name(kj_type_of(v)) : "";
    bool half = strcmp(type, "f16") == 0 && strcmp(has, "bf16") == 0;
    if (*at == '&' && !half && strcmp(has, type) != 0 &&
        !(literal && is_literal(s->diag->source, text)))
        return kj_arena_printf(s->diag->arena, "%s(%s)", type, own);
    bool plain = true;
    for (const char *c = own; *c; c++)
        plain &= kj_is_word(*c) || strchr(".[]", *c);
    return plain || stands_by_itself(call->words, at)
               ? own
               : kj_arena_printf(s->diag->arena, "(%s)", own);
}

/* `words` with the arguments in it. */
static const char *filled(kj_sema *s, const kj_cuda_call *call, const kj_span *text,
                          const kj_operand *v)
{
    const char *out = "", *from = call->words;
    bool literal = has_type(s->diag->source, call, text);
    const char *end = said_behind(from);
    for (const char *at = from; at < end; at++) {
        if (!is_place(at))
            continue;
        int i = at[1] - '0';
        out = kj_arena_printf(s->diag->arena, "%s%.*s%s", out, (int)(at - from), from,
                              argument(s, call, at, text[i], &v[i], literal));
        from = at + 2;
        at++;
    }
    return kj_arena_printf(s->diag->arena, "%s%.*s", out, (int)(end - from), from);
}

static const kj_cuda_call *called(kj_sema *s, const kj_expr *e, kj_span *text)
{
    const kj_expr *callee = e->u.call.callee;
    const kj_cuda_call *call =
        callee->kind == KJ_E_NAME ? kj_cuda_call_named(callee->u.name, false) : NULL;
    if (!call || kj_scope_find(s->scope, callee->u.name))
        return NULL;
    int n = count_of(call->words);
    bool same = kj_count(e->u.call.args) == n &&
                read_arguments(s->diag->source, e->span, callee->span.end, n, text);
    for (const kj_expr *a = e->u.call.args; a; a = a->next)
        same &= !a->keyword;
    return same ? call : NULL;
}

bool kj_is_call_of_cuda(kj_sema *s, const kj_expr *e)
{
    kj_span text[KJ_MOST_OF_CUDA];
    return called(s, e, text) != NULL;
}

void kj_hint_call_of_cuda(kj_sema *s, kj_message *m, const kj_expr *e, const kj_operand *v)
{
    kj_span text[KJ_MOST_OF_CUDA];
    const kj_cuda_call *call = called(s, e, text);
    kj_dtype type = v->kind == KJ_V_ERROR ? KJ_VOID
                    : kj_is_untyped(v)    ? kj_untyped_type(v)
                                          : kj_type_of(v);
    call = kj_cuda_call_named(call->name, kj_is_float(type));
    const char *own = filled(s, call, text, v);
    bool one = kj_is_word(*call->words) ? strchr(call->words, '(') != NULL : call->words[2] == '.';
    if (!one && !kj_stands_alone(s->diag->source, e->span))
        own = kj_arena_printf(s->diag->arena, "(%s)", own);
    const char *said = said_behind(call->words);
    if (strlen(own) < 80 && !strchr(own, '\n'))
        kj_hint(s->diag, m, "write %s%s", own, said);
    else
        kj_hint(s->diag, m, "write %.*s(...)%s", (int)strcspn(own, "("), own, said);
    kj_fix(s->diag, m, e->span, "%s", own);
}
