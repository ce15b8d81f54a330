/* The failure of a run: the first, with its place and what helps. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "run/value/value.h"

/* NULL when there was no memory for it. */
static char *text_of(const char *format, va_list args)
{
    kj_text t = {0};
    kj_text_vplain(&t, false, format, args);
    return t.data;
}

bool kj_run_fail(kj_run *r, kjit_status status, kj_span at, const char *format, ...)
{
    if (r->status != KJIT_OK)
        return false;
    r->status = status;
    r->at = at;
    va_list args;
    va_start(args, format);
    r->message = text_of(format, args);
    va_end(args);
    return false;
}

bool kj_run_hint(kj_run *r, const char *format, ...)
{
    if (r->hint)
        return false;
    va_list args;
    va_start(args, format);
    r->hint = text_of(format, args);
    va_end(args);
    return false;
}

bool kj_run_lacks(kj_run *r, kj_span at, kj_rvalue v, kj_run_id row)
{
    const char *name = kj_run_builtins[row].name + 1;
    bool items = v.kind == KJ_R_LIST || v.kind == KJ_R_TUPLE;
    kj_run_fail(r, KJIT_NOT_FOUND, at, "%s has no '%s'", kj_run_kind_name(v), name);
    if (v.kind == KJ_R_SMART)
        return kj_run_hint(r, "its array has: .host.%s%s", name,
                           *kj_run_builtins[row].signature ? "(...)" : "");
    if (row == KJ_RUN_M_APPEND)
        return v.kind == KJ_R_ARRAY &&
               kj_run_hint(r, "an array keeps its size; a list grows by .append(x)");
    return items && kj_run_hint(r, "an array of it has: array(...).%s%s", name,
                                *kj_run_builtins[row].signature ? "()" : "");
}

bool kj_run_wrap(kj_run *r, const char *function, int operand, const char *lead,
                 const char *otherwise)
{
    if (!r->hint) {
        r->wraps = function;
        r->wrap_lead = lead;
        r->wrapped = operand;
    }
    return kj_run_hint(r, "%s", otherwise);
}

/* Where a / alone divides in the text, outside of brackets, and no number is a float's; 0: nowhere. */
static size_t quotient(const char *text)
{
    size_t sign = 0;
    int depth = 0;
    for (size_t i = 0; text[i]; i++) {
        depth += (text[i] == '(' || text[i] == '[') - (text[i] == ')' || text[i] == ']');
        if (text[i] == '.' && i > 0 && kj_is_digit(text[i - 1]))
            return 0;
        if (text[i] != '/')
            continue;
        if (sign || depth > 0)
            return 0;
        sign = i;
    }
    return sign;
}

bool kj_run_hint_int(kj_run *r, kj_span at)
{
    kj_quote q = kj_quoted(r->source, at, false, "");
    size_t sign = quotient(q.text);
    bool tuple = q.text[0] == '(' && strchr(q.text, ',');
    char *end;
    double number = kj_strtod(q.text, &end);
    bool literal = q.text[0] && !*end && isfinite(number);
    if (literal && number == trunc(number) && fabs(number) < 0x1p53)
        return kj_run_hint(r, "write %.0f", number);
    if (!q.text[0] || tuple || literal) /* int(0.1) is 0, which is not meant */
        return kj_run_hint(r, "int(x) is a float's integer part; // divides to an int");
    if (sign)
        return kj_run_hint(r, "write %.*s/%s", (int)sign, q.text, q.text + sign);
    return kj_run_hint(r, "write int(%s)", q.text);
}

bool kj_run_hint_comma(kj_run *r, kj_span at, kj_rvalue v)
{
    kj_quote q = kj_quoted(r->source, at, false, "");
    const char *comma = v.kind == KJ_R_TUPLE ? kj_decimal_comma(q.text) : NULL;
    if (comma)
        kj_run_hint(r, "write %.*s.%s", (int)(comma - q.text), q.text, comma + 1);
    return comma != NULL;
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
    if (r->status != KJIT_OK)
        return false;
    r->status = status;
    r->at = at;
    kj_telling told = kj_failed_telling(r->ctx);
    const char *json = kj_failed_as_json(r->ctx);
    r->message = told.text; /* it may be of several lines, and is plain by now */
    r->fault = told.fault;
    r->json = json ? strdup(json) : NULL;
    return false;
}
