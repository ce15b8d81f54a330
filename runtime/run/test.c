/* Tests of a file: which there are, and whether one that is to fail did so. */
#include <stdlib.h>
#include <string.h>

#include "run/run.h"

static const kj_item *next_test(const kj_item *item)
{
    while (item && item->kind != KJ_I_TEST)
        item = item->next;
    return item;
}

int kjit_module_test(kjit_module *mod, int i, kjit_test_info *out)
{
    if (!kj_can_ask(mod, KJ_MODULE) || !mod->program || !out || i < 0)
        return 0;
    const kj_item *test = next_test(mod->program->file->items);
    for (; test && i > 0; i--)
        test = next_test(test->next);
    if (!test)
        return 0;
    kj_position at = kj_where(&mod->source, test->span.begin);
    *out = (kjit_test_info){test->title, test->fails, (int)at.line};
    return 1;
}

const kj_item *kj_test_named(const kj_program *program, const char *title)
{
    const kj_item *test = next_test(program->file->items);
    while (test && strcmp(test->title, title) != 0)
        test = next_test(test->next);
    return test;
}

/* The sentence alone: of a diagnostic not its place, nor the line that it shows. */
static kj_span sentence_of(const char *message)
{
    static const char lead[] = ": error: ";
    size_t end = strcspn(message, "\n"), begin = 0;
    const char *at = message[end] ? strstr(message, lead) : NULL;
    if (at && (size_t)(at - message) < end)
        begin = (size_t)(at - message) + strlen(lead);
    return (kj_span){(uint32_t)begin, (uint32_t)end};
}

static bool holds(const char *message, const char *text)
{
    kj_span s = sentence_of(message);
    return memmem(message + s.begin, s.end - s.begin, text, strlen(text)) != NULL;
}

/* What ends any run is no failure of what is tested. */
static bool is_of_test(kjit_status status)
{
    return status != KJIT_INTERRUPTED && status != KJIT_TIMEOUT && status != KJIT_CANCELLED &&
           status != KJIT_LOST;
}

void kj_run_judge(kj_run *r)
{
    const kj_item *test = r->block;
    if (r->status == KJIT_OK) {
        kj_run_fail(r, KJIT_ASSERT, test->fails_span,
                    "the test ended without an error: one was to say '%s'", test->fails);
        return;
    }
    const char *message = r->message ? r->message : kjit_status_message(r->status);
    if (!is_of_test(r->status))
        return;
    if (holds(message, test->fails))
        r->status = KJIT_OK;
    else
        r->wanted = test->fails_span;
}
