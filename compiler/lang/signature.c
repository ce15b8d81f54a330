/* Signatures: a row's text in, its parts out. */
#include "lang/signature.h"

#include <string.h>

const char *kj_builtin_letters(kj_builtin id)
{
    const char *open = strchr(kj_builtins[id].signature, '(');
    return open ? open + 1 : ")";
}

bool kj_builtin_is_of_bits(kj_builtin id)
{
    return strcmp(kj_builtins[id].group, "bits") == 0;
}

bool kj_builtin_reduces(kj_builtin id, int n)
{
    switch (id) {
    case KJ_BI_SUM:
    case KJ_BI_PROD:
    case KJ_BI_MEAN:
    case KJ_BI_MIN:
    case KJ_BI_MAX:
    case KJ_BI_ALL:
    case KJ_BI_ANY: return n == 1;
    case KJ_BI_DOT: return n == 2;
    default: return false;
    }
}

kj_dtype kj_builtin_result(kj_builtin id, int part, kj_dtype common)
{
    switch (kj_builtins[id].signature[part]) {
    case 'b': return KJ_BOOL;
    case 'd': return KJ_I32;
    case 'l': return KJ_I64;
    case 's': return KJ_F32;
    case 'g': return KJ_F64;
    default: return common;
    }
}

bool kj_builtin_is_of_floats(kj_builtin id)
{
    const char *text = kj_builtins[id].signature;
    return strncmp(text, "f(f", 3) == 0 && text[2 + strspn(text + 2, "f")] == ')';
}

bool kj_builtin_converts(kj_builtin id)
{
    return kj_builtins[id].signature[0] == 's' || kj_builtins[id].signature[0] == 'g';
}

int kj_builtin_arity(kj_builtin id)
{
    return (int)strcspn(kj_builtin_letters(id), ")");
}

int kj_builtin_results(kj_builtin id)
{
    return (int)strcspn(kj_builtins[id].signature, "(");
}

/* One parameter from `at` on; returns what follows it. A default is in words, or quoted. */
static const char *read_param(const char *at, kj_run_parameter *out)
{
    int len = (int)strcspn(at, "=.,)");
    bool quoted = false;
    *out = (kj_run_parameter){.name = at, .len = len, .rest = at[len] == '.' || *at == '*'};
    out->optional = out->rest || at[len] == '=';
    for (at += len; *at && (quoted || (*at != ',' && *at != ')')); at++)
        quoted ^= *at == '"';
    return at;
}

kj_run_signature kj_run_signature_of(const char *text)
{
    kj_run_signature s = {.n = 0};
    const char *at = text + strspn(text, "(, ");
    while (*at && *at != ')' && s.n < KJ_RUN_MAX_PARAMS) {
        kj_run_parameter *p = &s.params[s.n++];
        at = read_param(at, p);
        at += strspn(at, ", ");
        s.rest |= p->rest;
        s.named_rest |= *p->name == '*';
        s.most += !p->rest;
        s.least += !p->optional;
    }
    return s;
}

int kj_run_parameter_named(const kj_run_signature *s, const char *name)
{
    size_t len = strlen(name);
    for (int i = 0; i < s->n; i++)
        if ((size_t)s->params[i].len == len && memcmp(s->params[i].name, name, len) == 0 &&
            !s->params[i].rest)
            return i;
    return -1;
}
