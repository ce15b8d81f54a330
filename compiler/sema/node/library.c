/* What of NumPy's functions the library that kjit brings has: hints at its modules. */
#include <string.h>

#include "sema/node/node.h"

static const struct {
    const char *theirs, *module, *call;
} functions[] = {
    {"sort", "sort", "sort.keys(a)"},
    {"sorted", "sort", "sort.keys(a)"},
    {"argsort", "sort", "sort.argsort(a)"},
    {"unique", "select", "select.unique(a)"},
    {"nonzero", "select", "select.places(a > 0)"},
    {"flatnonzero", "select", "select.places(a > 0)"},
    {"compress", "select", "select.where(a, a > 0)"},
    {"histogram", "histogram", "histogram.of(a, 0, 1, 10)"},
    {"bincount", "histogram", "histogram.count(a, 256)"},
    {"cumprod", "scan", "scan.prod(a)"},
    {"fft", "fft", "fft.forward(a)"},
    {"ifft", "fft", "fft.inverse(a)"},
    {"fft2", "fft", "fft.forward2(a)"},
    {"ifft2", "fft", "fft.inverse2(a)"},
    {"rfft", "fft", "fft.real(a)"},
    {"irfft", "fft", "fft.inverse_real(a, n)"},
    {"topk", "top", "top.k(a, 10)"},
};

bool kj_hint_library(kj_sema *s, kj_message *m, const char *name)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (strcmp(functions[i].theirs, name) != 0)
            continue;
        const char *module = functions[i].module;
        const kj_symbol *used =
            kj_scope_find(s->scope, kj_intern(s->arena, module, strlen(module)));
        const char *who = s->in_run ? "write" : "a run block does it:";
        if (used && used->kind == KJ_SYM_FILE)
            kj_hint(s->diag, m, "%s %s", who, functions[i].call);
        else
            kj_hint(s->diag, m, "%s %s, with use std.%s at the top of the file", who,
                    functions[i].call, module);
        return true;
    }
    return false;
}

bool kj_is_new_axis(const kj_expr *e)
{
    return e && ((e->kind == KJ_E_NAME && strcmp(e->u.name, "None") == 0) ||
                 (e->kind == KJ_E_MEMBER && strcmp(e->u.member.name, "newaxis") == 0));
}
