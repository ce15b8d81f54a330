/* The tests of a module's file: in their order, and by their titles. */
#include <stdlib.h>
#include <string.h>

#include "module/module.h"

static int by_title(const void *a, const void *b)
{
    return strcmp((*(const kj_item *const *)a)->title, (*(const kj_item *const *)b)->title);
}

void kj_list_tests(kjit_module *mod)
{
    const kj_item *items = mod->program->file->items;
    size_t n = 0;
    for (const kj_item *item = items; item; item = item->next)
        n += item->kind == KJ_I_TEST;
    mod->tests = KJ_NEW_ARRAY(&mod->arena, kjit_test_info, n + 1);
    mod->titled = KJ_NEW_ARRAY(&mod->arena, const kj_item *, n + 1);
    for (const kj_item *item = items; item; item = item->next) {
        if (item->kind != KJ_I_TEST)
            continue;
        int line = (int)kj_where(&mod->source, item->span.begin).line;
        mod->titled[mod->ntests] = item;
        mod->tests[mod->ntests++] =
            (kjit_test_info){.title = item->title, .fails = item->fails, .line = line};
    }
    qsort(mod->titled, n, sizeof *mod->titled, by_title);
}

const kj_item *kj_test_named(const kjit_module *mod, const char *title)
{
    const kj_item wanted = {.title = title}, *key = &wanted;
    const kj_item **found =
        bsearch(&key, mod->titled, (size_t)mod->ntests, sizeof *mod->titled, by_title);
    return found ? *found : NULL;
}

int kjit_module_test(kjit_module *mod, int i, kjit_test_info *out)
{
    if (!kj_can_ask(mod, KJ_MODULE) || !out || i < 0 || i >= mod->ntests)
        return 0;
    *out = mod->tests[i];
    return 1;
}
