/* Calls of CUDA's functions that convert what they are given: the call in, an error whose fix gives the number that CUDA
 * gives, whatever types its arguments have here. */
#include <string.h>

#include "sema/body/body.h"

static const struct call {
    const char *name, *type, *words;
} calls[] = {
#define CALL(name, type, words) {name, type, words},
#include "sema/body/cuda_calls.def"
};

static const struct call *call_named(const char *name)
{
    if (strncmp(name, "__", 2) != 0)
        return NULL;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strcmp(calls[i].name, name) == 0)
            return &calls[i];
    return NULL;
}

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

/* `words` with the arguments in it. */
static const char *filled(kj_sema *s, const struct call *call, const kj_span *text,
                          const kj_operand *v)
{
    const kj_source *src = s->diag->source;
    const char *out = "", *from = call->words;
    for (const char *at = from; *at; at++) {
        if (*at != '&' && *at != '#')
            continue;
        int i = at[1] - '0';
        bool typed = v[i].kind == KJ_V_ERROR || kj_is_untyped(&v[i]) ||
                     strcmp(kj_type_name(kj_type_of(&v[i])), call->type) != 0;
        bool converts = *at == '&' && typed;
        out = kj_arena_printf(s->diag->arena, "%s%.*s%s%s%.*s%s", out, (int)(at - from), from,
                              converts ? call->type : "", converts ? "(" : "",
                              (int)(text[i].end - text[i].begin), src->text + text[i].begin,
                              converts ? ")" : "");
        from = at + 2;
        at++;
    }
    return kj_arena_printf(s->diag->arena, "%s%s", out, from);
}

static const struct call *called(kj_sema *s, const kj_expr *e, kj_span *text)
{
    const kj_expr *callee = e->u.call.callee;
    const struct call *call = callee->kind == KJ_E_NAME ? call_named(callee->u.name) : NULL;
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
    const char *own = filled(s, called(s, e, text), text, v);
    if (strlen(own) < 80 && !strchr(own, '\n'))
        kj_hint(s->diag, m, "write %s", own);
    else
        kj_hint(s->diag, m, "write %.*s(...)", (int)strcspn(own, "("), own);
    kj_fix(s->diag, m, e->span, "%s", own);
}
