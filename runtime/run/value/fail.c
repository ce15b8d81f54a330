/* The failure of a run: the first, with its place and what helps. */
#include "run/value/value.h"

bool kj_run_fail(kj_run *r, kjit_status status, kj_span at, const char *format, ...)
{
    if (r->status != KJIT_OK)
        return false;
    r->status = status;
    r->at = at;
    kj_text t = {0};
    va_list args;
    va_start(args, format);
    kj_text_vprintf(&t, format, args);
    va_end(args);
    r->message = t.data; /* NULL when there was no memory for it */
    return false;
}

bool kj_run_hint(kj_run *r, const char *format, ...)
{
    if (r->hint)
        return false;
    kj_text t = {0};
    va_list args;
    va_start(args, format);
    kj_text_vprintf(&t, format, args);
    va_end(args);
    r->hint = t.data;
    return false;
}

bool kj_run_say(kj_run *r, kjit_status status, kj_span at, const kj_saying *say)
{
    kj_run_fail(r, status, at, "%s", say->text);
    return say->hint[0] ? kj_run_hint(r, "%s", say->hint) : false;
}

bool kj_run_no_memory(kj_run *r, kj_span at)
{
    return kj_run_fail(r, KJIT_NO_MEMORY, at, "out of memory");
}

bool kj_run_too_deep(kj_run *r, kj_span at, const char *what)
{
    if (r->calls == 0)
        return kj_run_fail(r, KJIT_TYPE, at, "%s nested too deeply", what);
    kj_run_fail(r, KJIT_TYPE, at,
                "the functions call each other too deeply: %d calls are under way", r->calls);
    return kj_run_hint(r, "use a loop");
}

/* KJIT_INVALID is for the options alone: what the program does wrong is another status. */
bool kj_run_check(kj_run *r, kjit_status status, kj_span at)
{
    if (status == KJIT_OK)
        return true;
    if (status == KJIT_INVALID && at.begin != kj_run_nowhere.begin)
        status = KJIT_TYPE;
    return kj_run_fail(r, status, at, "%s", kjit_last_error(r->ctx));
}
