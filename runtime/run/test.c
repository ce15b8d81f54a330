/* Whether a test that is to fail did so. */
#include <stdlib.h>
#include <string.h>

#include "run/run.h"

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
