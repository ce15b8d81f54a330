/* What of NumPy's and SciPy's functions the library that kjit brings has: hints at its modules. */
#include <string.h>

#include "lang/library.h"
#include "sema/node/node.h"

static const struct {
    const char *theirs, *module, *call;
    bool kernels_too; /* else only run blocks call it */
} functions[] = {
    {"sort", "sort", "sort.keys(a)", false},
    {"sorted", "sort", "sort.keys(a)", false},
    {"argsort", "sort", "sort.argsort(a)", false},
    {"unique", "select", "select.unique(sort.keys(a))", false},
    {"nonzero", "select", "select.places(a > 0)", false},
    {"flatnonzero", "select", "select.places(a > 0)", false},
    {"compress", "select", "select.where(a, a > 0)", false},
    {"histogram", "histogram", "histogram.of(a, 0, 1, 10)", false},
    {"bincount", "histogram", "histogram.count(a, 256)", false},
    {"cumprod", "scan", "scan.prod(a)", false},
    {"fft", "fft", "fft.forward(a)", false},
    {"ifft", "fft", "fft.inverse(a)", false},
    {"fft2", "fft", "fft.forward2(a)", false},
    {"ifft2", "fft", "fft.inverse2(a)", false},
    {"rfft", "fft", "fft.real(a)", false},
    {"irfft", "fft", "fft.inverse_real(a, n)", false},
    {"topk", "top", "top.k(a, 10)", false},
    {"median", "sort", "sort.keys(a)[a.size // 2], of two in the middle the upper", false},
    {"percentile", "sort", "sort.keys(a)[i64(0.9 * a.size)]", false},
    {"quantile", "sort", "sort.keys(a)[i64(0.9 * a.size)]", false},
    {"argwhere", "select", "select.places(a > 0)", false},
    {"findall", "select", "select.places(a > 0)", false},
    {"cummax", "scan", "scan.max(a)", false},
    {"cummin", "scan", "scan.min(a)", false},
    {"hist", "histogram", "histogram.of(a, 0, 1, 10)", false},
    {"WaveActiveSum", "warp", "warp.sum(v)", true},
    {"simd_sum", "warp", "warp.sum(v)", true},
    {"subgroupAdd", "warp", "warp.sum(v)", true},
    {"WaveActiveMax", "warp", "warp.max(v)", true},
    {"simd_max", "warp", "warp.max(v)", true},
    {"subgroupMax", "warp", "warp.max(v)", true},
    {"WaveActiveMin", "warp", "warp.min(v)", true},
    {"simd_min", "warp", "warp.min(v)", true},
    {"subgroupMin", "warp", "warp.min(v)", true},
    {"WavePrefixSum", "warp", "warp.exclusive_sum(v)", true},
    {"simd_prefix_exclusive_sum", "warp", "warp.exclusive_sum(v)", true},
    {"subgroupExclusiveAdd", "warp", "warp.exclusive_sum(v)", true},
    {"subgroupInclusiveAdd", "warp", "warp.inclusive_sum(v)", true},
    {"jn", "special", "special.jn(2, x)", true},
    {"jv", "special", "special.jn(2, x)", true},
    {"yn", "special", "special.yn(2, x)", true},
    {"yv", "special", "special.yn(2, x)", true},
};

static bool is_used(const kj_sema *s, const char *module)
{
    const kj_symbol *used = kj_scope_find(s->scope, kj_intern(s->arena, module, strlen(module)));
    return used && used->kind == KJ_SYM_FILE;
}

/* sorted([3, 1]), sorted(l): what is known to be a list becomes an array. */
static const char *of_list(kj_sema *s, const kj_message *m, const char *call)
{
    const char *text = s->diag->source->text, *given = text + m->span.end;
    size_t word = 0;
    if (!s->in_run || *given != '(' || !strstr(call, "(a)"))
        return call;
    bool list = given[1] == '[';
    for (given++; kj_is_word(given[word]);)
        word++;
    const kj_symbol *sym = kj_scope_find(s->scope, kj_intern(s->arena, given, word));
    list |= given[word] == ')' && sym && sym->known && sym->known->kind == KJ_R_LIST;
    size_t front = (size_t)(strstr(call, "(a)") - call) + 1;
    return list ? kj_arena_printf(s->arena, "%.*sarray(%s)%s", (int)front, call,
                                  *given == '[' ? "[...]" : sym->name, call + front + 1)
                : call;
}

/* fft.forward(a) behind `use std.fft as f`. */
static bool hint_own_name(kj_sema *s, kj_message *m, const char *name)
{
    const kj_item *use = s->program->file->items;
    while (use &&
           (use->kind != KJ_I_USE || strcmp(use->path, name) != 0 || strcmp(use->name, name) == 0))
        use = use->next;
    if (use)
        kj_write(s->diag, m, m->span, "%s", use->name);
    return use != NULL;
}

bool kj_hint_library(kj_sema *s, kj_message *m, const char *name)
{
    if (hint_own_name(s, m, name))
        return true;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (strcmp(functions[i].theirs, name) != 0)
            continue;
        const char *module = functions[i].module, *call = of_list(s, m, functions[i].call);
        const char *also = strcmp(module, "sort") != 0 && strstr(call, "sort.") ? "sort" : NULL;
        const char *who = s->in_run || functions[i].kernels_too ? "write" : "a run block does it:";
        bool first = is_used(s, module), second = !also || is_used(s, also);
        if (first && second)
            kj_hint(s->diag, m, "%s %s", who, call);
        else if (first || second)
            kj_hint(s->diag, m, "%s %s, with use std.%s at the top of the file", who, call,
                    first ? also : module);
        else
            kj_hint(s->diag, m, "%s %s, with use std.%s and use std.%s at the top of the file", who,
                    call, module, also);
        return true;
    }
    return false;
}

/* sort.sort(a), of a file that is used: what its own function is called. */
bool kj_hint_module(kj_sema *s, kj_message *m, const kj_symbol *space, const char *name)
{
    const kj_item *use = space->item;
    for (size_t i = 0; i < sizeof functions / sizeof *functions && use->library; i++) {
        const char *module = functions[i].module, *call = functions[i].call;
        size_t n = strlen(module) + 1;
        if (strcmp(functions[i].theirs, name) != 0 || strcmp(use->path, module) != 0 ||
            strncmp(call, module, n - 1) != 0 || strstr(call + n, "sort."))
            continue;
        size_t own = strcspn(call + n, "(");
        kj_hint(s->diag, m, "write %s.%s", space->name, call + n);
        if (strcmp(call + n + own, "(a)") == 0)
            kj_fix(s->diag, m, m->span, "%.*s", (int)own, call + n);
        return true;
    }
    return false;
}

bool kj_is_internal(const kj_sema *s, const kj_item *use, const kj_item *item)
{
    if (!use->library)
        return false;
    const char *text = s->diag->source->text, *line = text + use->used->begin;
    while ((line = strchr(line, '\n')) && !kj_is_own_heading(++line))
        ;
    size_t end = line ? (size_t)(line - text) : SIZE_MAX;
    return (item->kind != KJ_I_FN && item->kind != KJ_I_RUN_FN) || item->span.begin > end;
}

bool kj_is_new_axis(const kj_expr *e)
{
    return e && ((e->kind == KJ_E_NAME && strcmp(e->u.name, "None") == 0) ||
                 (e->kind == KJ_E_MEMBER && strcmp(e->u.member.name, "newaxis") == 0));
}

void kj_hint_namespace(kj_sema *s, kj_message *m, const kj_symbol *sym)
{
    if (sym->kind == KJ_SYM_FILE && !kj_hint_library(s, m, sym->name))
        kj_hint(s->diag, m, "a function of it is called %s.name(...)", sym->name);
    if (sym->kind == KJ_SYM_NAMESPACE)
        kj_hint(s->diag, m, "write random.uniform(n, f32, seed=1)");
}
