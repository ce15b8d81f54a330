/* Which kinds of names can stand in the place of a word: "did you mean" offers no function where a value is needed, and no
 * record. Only the text around the word is asked, as what it belongs to need not be known. */
#include <string.h>

#include "sema/node/node.h"

enum { MOST_READ = 1000 }; /* bytes, each time */

/* The bracket that closes the one at `open`, or the end of the text. */
static const char *closing(const char *open)
{
    const char *c = open;
    for (int depth = 0; *c && c < open + MOST_READ; c++) {
        depth += (strchr("([{", *c) != NULL) - (strchr(")]}", *c) != NULL);
        if (depth == 0)
            break;
    }
    return c;
}

/* scale[1, 32](x) */
static bool is_launched(const char *behind)
{
    const char *close = *behind == '[' ? closing(behind) : "";
    return *close && close[1] == '(';
}

/* The call whose argument stands at `at`: the end of its name in the text; 0: it is none, or a launch's. */
static uint32_t call_around(const char *text, uint32_t at)
{
    int depth = 0;
    for (int i = 0; i < MOST_READ && at > 0; i++) {
        char c = text[--at];
        if (depth == 0 && strchr("([{;", c))
            return c == '(' && at > 0 && kj_is_word(text[at - 1]) ? at : 0;
        depth += (strchr(")]}", c) != NULL) - (strchr("([{", c) != NULL);
    }
    return 0;
}

/* Of the language's function that is called there: what stands behind its name in the docs; "": it is another. */
static const char *signature_of(const kj_sema *s, const char *text, uint32_t end)
{
    uint32_t begin = end;
    while (begin > 0 && (kj_is_word(text[begin - 1]) || text[begin - 1] == '.'))
        begin--;
    const char *name = kj_arena_printf(s->arena, "%.*s", (int)(end - begin), text + begin);
    const char *dot = strrchr(name, '.');
    int id = kj_run_builtin_named(name);
    if (s->in_run && id < 0 && dot)
        id = kj_run_member_named(dot + 1);
    if (s->in_run)
        return id < 0 ? "" : kj_run_builtins[id].signature;
    for (id = 0; id < KJ_NBUILTINS; id++)
        if (strcmp(kj_builtins[id].name, name) == 0)
            return kj_builtins[id].signature;
    return "";
}

static bool is_argument(const kj_sema *s, kj_span at, const char *parameter)
{
    const char *text = s->diag->source->text;
    uint32_t call = call_around(text, at.begin);
    return call > 0 && strstr(signature_of(s, text, call), parameter);
}

/* x.dtype == f23 */
static bool is_compared(const char *text, uint32_t at)
{
    while (at > 0 && text[at - 1] == ' ')
        at--;
    return at > 1 && text[at - 1] == '=' && strchr("=!", text[at - 2]);
}

static bool type_can_stand(const kj_sema *s, const kj_symbol *sym, kj_span at)
{
    const char *text = s->diag->source->text;
    bool enumerates = sym->item && sym->item->enumerates;
    if (text[at.end] == '.')
        return enumerates;
    return text[at.end] == '(' || is_argument(s, at, "dtype") ||
           (s->in_run && is_compared(text, at.begin));
}

bool kj_can_stand(const kj_sema *s, const kj_symbol *sym, kj_span at)
{
    const char *behind = s->diag->source->text + at.end;
    bool called = *behind == '(', launched = is_launched(behind);
    switch (sym->kind) {
    case KJ_SYM_VALUE:
        return !called && !launched && !(*behind == '[' && sym->value.kind == KJ_V_SCALAR);
    case KJ_SYM_CONST: return !called && !launched;
    case KJ_SYM_TYPE: return type_can_stand(s, sym, at);
    case KJ_SYM_NAMESPACE:
    case KJ_SYM_FILE: return *behind == '.';
    case KJ_SYM_KERNEL: return launched || called;
    case KJ_SYM_BUILTIN:
        if (!s->in_run && sym->builtin < KJ_NBUILTINS &&
            strcmp(kj_builtins[sym->builtin].group, "index") == 0)
            return true;
        return called || is_argument(s, at, "(f,");
    case KJ_SYM_FN:
    case KJ_SYM_RUN_FN: return called || is_argument(s, at, "(f,");
    }
    return true;
}
