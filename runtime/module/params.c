/* What a module's run block takes, as its text says it. */
#include <string.h>

#include "module/module.h"
#include "sema/program.h"

/* Behind blanks, line ends and comments. */
static uint32_t next_word(const char *text, uint32_t at)
{
    for (;;) {
        at += (uint32_t)strspn(text + at, " \t\r\n");
        if (text[at] != '#')
            return at;
        at += (uint32_t)strcspn(text + at, "\r\n");
    }
}

kj_span kj_written_value(const kjit_module *mod, uint32_t before, kj_span span)
{
    const char *text = mod->source.text;
    uint32_t begin = next_word(text, next_word(text, before) + 1), end = span.end;
    for (uint32_t at = begin; at < span.begin && text[at] == '('; at = next_word(text, at + 1))
        end = next_word(text, end) + 1;
    return (kj_span){begin, end};
}

const char *kj_remark_behind(kjit_module *mod, uint32_t at)
{
    const char *text = mod->source.text + at;
    text += strspn(text, " \t;,");
    if (*text != '#')
        return NULL;
    text += strspn(text, "# \t");
    return kj_arena_printf(&mod->arena, "%.*s", (int)kj_trimmed(text, strcspn(text, "\r\n")), text);
}

static void describe(kjit_module *mod, const kj_stmt *s, kjit_param_info *out)
{
    const kj_expr *init = s->u.let.init;
    out->name = s->u.let.names->name;
    out->type = s->u.let.type ? kj_on_one_line(mod, s->u.let.type->span) : NULL;
    uint32_t before = s->u.let.type ? s->u.let.type->span.end : s->u.let.names->span.end;
    out->value = init ? kj_on_one_line(mod, kj_written_value(mod, before, init->span)) : NULL;
    out->doc = kj_remark_behind(mod, s->span.end);
}

void kj_list_params(kjit_module *mod)
{
    const kj_item *run = mod->program->run;
    for (const kj_stmt *s = run ? run->body : NULL; s; s = s->next)
        mod->nparams += s->kind == KJ_S_PARAM;
    mod->params = KJ_NEW_ARRAY(&mod->arena, kjit_param_info, (size_t)mod->nparams + 1);
    int n = 0;
    for (const kj_stmt *s = run ? run->body : NULL; s; s = s->next)
        if (s->kind == KJ_S_PARAM)
            describe(mod, s, &mod->params[n++]);
}

int kjit_module_param(kjit_module *mod, int i, kjit_param_info *out)
{
    if (!kj_can_ask(mod, KJ_MODULE) || !out || i < 0 || i >= mod->nparams)
        return 0;
    *out = mod->params[i];
    return 1;
}
