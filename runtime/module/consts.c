/* The constants of a module's file, as its text says them. */
#include "module/module.h"
#include "sema/program.h"

/* Of an enum's names what they come to: most are written without a value. */
static const char *number_of(kjit_module *mod, const kj_item *name)
{
    kj_constant c;
    if (!kj_constant_of(name, &c) || c.kind != KJ_CONSTANT_NUMBER)
        return NULL;
    return kj_is_signed(c.value.type)
               ? kj_arena_printf(&mod->arena, "%lld", (long long)c.value.i)
               : kj_arena_printf(&mod->arena, "%llu", (unsigned long long)c.value.u);
}

static kjit_const_info describe(kjit_module *mod, const kj_item *item)
{
    const kj_expr *value = item->value;
    kj_span head = item->type ? item->type->span : item->name_span, written = head;
    if (value && item->of &&
        value->span.begin == item->name_span.begin) /* the number before, and one more */
        written = value->span;
    else if (value)
        written = kj_written_value(mod, head.end, value->span);
    return (kjit_const_info){
        .name = item->name,
        .type = item->of     ? item->of->name
                : item->type ? kj_on_one_line(mod, item->type->span)
                             : NULL,
        .value = item->of ? number_of(mod, item)
                 : value  ? kj_on_one_line(mod, written)
                          : NULL,
        .doc = kj_remark_behind(mod, written.end),
    };
}

void kj_list_consts(kjit_module *mod)
{
    const kj_item *items = mod->program->file->items;
    for (const kj_item *item = items; item; item = item->next)
        mod->nconsts += item->kind == KJ_I_CONST;
    mod->consts = KJ_NEW_ARRAY(&mod->arena, kjit_const_info, (size_t)mod->nconsts + 1);
    int n = 0;
    for (const kj_item *item = items; item; item = item->next)
        if (item->kind == KJ_I_CONST)
            mod->consts[n++] = describe(mod, item);
}

int kjit_module_const(kjit_module *mod, int i, kjit_const_info *out)
{
    if (!kj_can_ask(mod, KJ_MODULE) || !out || i < 0 || i >= mod->nconsts)
        return 0;
    *out = mod->consts[i];
    return 1;
}
