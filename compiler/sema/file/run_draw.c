/* plot and show of run blocks: what is certainly wrong with their arguments. In: calls whose keywords are those of the
 * signature; out: errors, each at its argument. The runtime says the same of what is known only there (run/draw.c). */
#include <string.h>

#include "sema/file/file.h"

static const kj_expr *given(const kj_expr *call, const char *keyword)
{
    for (const kj_expr *arg = call->u.call.args; arg; arg = arg->next)
        if (arg->keyword && strcmp(arg->keyword, keyword) == 0)
            return arg;
    return NULL;
}

/* A text that stands there, which none of `words` is. */
static bool is_none_of(const kj_expr *e, const char *const *words, int n)
{
    for (int i = 0; e && e->kind == KJ_E_STRING && i < n; i++)
        if (strcmp(e->u.string.text, words[i]) == 0)
            return false;
    return e && e->kind == KJ_E_STRING;
}

static void check_words(kj_sema *s, const kj_expr *call)
{
    static const char *const kinds[] = {"line", "points", "bars"}, *const logs[] = {"x", "y", "xy"};
    const kj_expr *kind = given(call, "kind"), *log = given(call, "log");
    if (is_none_of(kind, kinds, 3)) {
        kj_message *m = kj_sema_error(s, kind->span, KJ_RULE_CALL, "there is no kind of plot '%s'",
                                      kind->u.string.text);
        kj_near near = kj_near_to(kind->u.string.text);
        for (int i = 0; i < 3; i++)
            kj_near_offer(&near, kinds[i]);
        if (near.best)
            kj_write(s->diag, m, kind->span, "\"%s\"", near.best);
        else
            kj_hint(s->diag, m, "it is \"line\", \"points\" or \"bars\"");
    }
    if (is_none_of(log, logs, 3)) {
        kj_message *m =
            kj_sema_error(s, log->span, KJ_RULE_CALL, "there is no axis '%s'", log->u.string.text);
        kj_hint(s->diag, m, "it is \"x\", \"y\" or \"xy\"");
    }
}

static bool ends_with(const kj_expr *e, const char *end)
{
    size_t n = strlen(end), len = e->u.string.len;
    for (size_t i = 0; len > n && i < n; i++)
        if (kj_to_lower(e->u.string.text[len - n + i]) != end[i])
            return false;
    return len > n;
}

static void check_file(kj_sema *s, const kj_expr *call)
{
    const kj_expr *file = given(call, "file");
    if (!file || file->kind != KJ_E_STRING || ends_with(file, ".svg"))
        return;
    kj_message *m = kj_sema_error(s, file->span, KJ_RULE_CALL,
                                  "plot writes .svg files, and '%s' is none", file->u.string.text);
    const char *dot = strrchr(file->u.string.text, '.');
    if (dot && dot > file->u.string.text && !strchr(dot, '/'))
        kj_hint(s->diag, m, "\"%.*s.svg\" is one", (int)(dot - file->u.string.text),
                file->u.string.text);
}

/* A string first is a file's name, or a title. */
static void no_array(kj_sema *s, const kj_expr *arg, const char *function, kj_known is)
{
    kj_message *m = kj_sema_error(s, arg->span, KJ_RULE_TYPE_MISMATCH, "%s draws arrays, not %s",
                                  function, kj_rkind_name(is.kind));
    if (is.kind == KJ_R_STRING)
        kj_hint(s->diag, m,
                strcmp(function, "plot") == 0
                    ? "texts have names: title=, xlabel=, ylabel=, labels=, file="
                    : "a file has a name: file=");
}

static void check_arrays(kj_sema *s, const kj_expr *call)
{
    int arrays = 0;
    const kj_expr *kind = given(call, "kind");
    for (const kj_expr *arg = call->u.call.args; arg; arg = arg->next) {
        kj_known is = arg->keyword ? (kj_known){.kind = KJ_R_NONE} : kj_run_known(s, arg);
        arrays += !arg->keyword;
        if (is.kind == KJ_R_NONE || is.kind == KJ_R_LIST || is.kind == KJ_R_TUPLE)
            continue;
        if (is.kind != KJ_R_ARRAY) {
            no_array(s, arg, "plot", is);
            return;
        }
        if (is.ndim > 1) {
            kj_message *m = kj_sema_error(s, arg->span, KJ_RULE_TYPE_MISMATCH,
                                          "plot draws arrays with one axis, not with %d", is.ndim);
            const char *a = kj_operand_text(s, arg->span, "a");
            if (is.ndim == 2)
                kj_hint(s->diag, m,
                        "show(%s) draws a picture; plot(%s[0]) a row, plot(%s[:, 0]) a column", a,
                        a, a);
            return;
        }
    }
    if (arrays == 0) {
        kj_message *m = kj_sema_error(s, call->span, KJ_RULE_ARGUMENT_COUNT, "plot needs an array");
        kj_hint(s->diag, m, "plot%s", kj_run_builtins[KJ_RUN_PLOT].signature);
    } else if (arrays > 2 && kind && kind->kind == KJ_E_STRING &&
               strcmp(kind->u.string.text, "bars") == 0)
        kj_sema_error(s, kind->span, KJ_RULE_CALL, "bars are of one array, not of %d", arrays - 1);
}

void kj_sema_run_draw(kj_sema *s, const kj_expr *call, int row)
{
    if (row == KJ_RUN_PLOT) {
        check_words(s, call);
        check_file(s, call);
        check_arrays(s, call);
        return;
    }
    const kj_expr *image = call->u.call.args;
    kj_known is = image && !image->keyword ? kj_run_known(s, image) : (kj_known){.kind = KJ_R_NONE};
    if (is.kind != KJ_R_NONE && is.kind != KJ_R_ARRAY) {
        no_array(s, image, "show", is);
    } else if (is.kind == KJ_R_ARRAY && (is.ndim == 1 || is.ndim > 3)) {
        kj_message *m = kj_sema_error(
            s, image->span, KJ_RULE_TYPE_MISMATCH,
            "a picture is [h, w], [h, w, 3] or [h, w, 4]: an array of %d ax%s is none", is.ndim,
            is.ndim == 1 ? "is" : "es");
        if (is.ndim == 1 && !image->next)
            kj_write(s->diag, m, call->u.call.callee->span, "plot");
    }
}

bool kj_hint_plt(kj_sema *s, kj_message *m, const char *module, const char *name)
{
    static const char at_once[] = "plot(x, a, b) draws all curves of a drawing at once";
    static const struct {
        const char *theirs, *hint;
    } words[] = {
        {"show", "plot draws at once; show(a) draws a picture"},
        {"scatter", "write plot(x, y, kind=\"points\")"},
        {"bar", "write plot(x, y, kind=\"bars\")"},
        {"hist", "plot(counts, kind=\"bars\") draws bars of how many there are"},
        {"figure", at_once},
        {"subplots", at_once},
        {"title", "plot takes it by name: plot(x, y, title=\"...\")"},
        {"xlabel", "plot takes it by name: plot(x, y, xlabel=\"...\")"},
        {"ylabel", "plot takes it by name: plot(x, y, ylabel=\"...\")"},
        {"legend", "plot takes it by name: plot(x, a, b, labels=[\"a\", \"b\"])"},
        {"savefig", "plot takes it by name: plot(x, y, file=\"curve.svg\")"},
    };
    if (strcmp(module, "plt") != 0 && strcmp(module, "matplotlib") != 0)
        return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(name, words[i].theirs) != 0)
            continue;
        if (strncmp(words[i].hint, "write ", 6) != 0 || !kj_hint_call(s, m, words[i].hint + 6))
            kj_hint(s->diag, m, "%s", words[i].hint);
        return true;
    }
    return false;
}
