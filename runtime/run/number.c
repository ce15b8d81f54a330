/* Numbers as people type them, on a command line or in int("12"): text in, a number out. */
#include "run/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The value of a digit, or 99. */
static unsigned digit(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    return kj_is_letter(c) ? (unsigned)(kj_to_lower(c) - 'a') + 10 : 99;
}

/* Digits of the base, with '_' between them; false when there is something else, or more than 64
 * bits. */
static bool parse_digits(const char *p, const char *end, unsigned base, uint64_t *out)
{
    *out = 0;
    bool between = false; /* is the last character a digit? */
    for (; p < end; p++) {
        if (*p == '_' && between) {
            between = false;
            continue;
        }
        if (digit(*p) >= base || __builtin_mul_overflow(*out, base, out) ||
            __builtin_add_overflow(*out, digit(*p), out))
            return false;
        between = true;
    }
    return between;
}

static bool parse_integer(const char *p, const char *end, bool minus, kj_rvalue *out)
{
    uint64_t u;
    unsigned base = 10;
    if (end - p > 2 && p[0] == '0') {
        char c = kj_to_lower(p[1]);
        base = c == 'x' ? 16 : c == 'b' ? 2 : c == 'o' ? 8 : 10;
    }
    if (!parse_digits(base == 10 ? p : p + 2, end, base, &u) ||
        (minus && u > (uint64_t)INT64_MAX + 1))
        return false;
    *out = minus ? kj_run_int((int64_t)(0 - u)) : kj_run_uint(u);
    return true;
}

/* A decimal float: what strtod reads, less hexadecimal forms and leading blanks, in any locale. */
static bool parse_float(const char *p, const char *end, bool minus, kj_rvalue *out)
{
    static const char *const words[] = {"inf", "nan"};
    bool word = false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        word |= strcmp(p, words[i]) == 0;
    if (!word && strspn(p, "0123456789.eE+-") != (size_t)(end - p))
        return false;
    char *stop;
    double f = kj_strtod(p, &stop);
    if (stop != end || stop == p)
        return false;
    *out = kj_run_float(minus ? -f : f);
    return true;
}

/* "1+2j", "-0.5j": the last sign that belongs to no exponent stands before the imaginary part. */
static kj_rvalue parse_complex(const char *text, size_t len)
{
    enum { MOST = 100 };
    char parts[2][MOST] = {"0", ""};
    size_t at = len - 1;
    if (len < 2 || len > MOST || text[len - 1] != 'j')
        return kj_run_none();
    while (at > 0 && ((text[at] != '+' && text[at] != '-') || kj_to_lower(text[at - 1]) == 'e'))
        at--;
    if (at > 0)
        kj_snprintf(parts[0], MOST, "%.*s", (int)at, text);
    kj_snprintf(parts[1], MOST, "%.*s", (int)(len - 1 - at), text + at);
    kj_rvalue re = kj_run_parse_number(parts[0], strlen(parts[0])),
              im = kj_run_parse_number(parts[1], strlen(parts[1]));
    bool numbers = (re.kind == KJ_R_INT || re.kind == KJ_R_FLOAT) &&
                   (im.kind == KJ_R_INT || im.kind == KJ_R_FLOAT);
    return numbers ? kj_run_complex(kj_run_as_float(re), kj_run_as_float(im)) : kj_run_none();
}

kj_rvalue kj_run_parse_number(const char *text, size_t len)
{
    static const struct {
        const char *text;
        bool value;
    } bools[] = {
        {"true", true},
        {"false", false},
        {"True", true},
        {"False", false},
    };
    kj_rvalue out = kj_run_none();
    const char *end = text + len;
    if (strlen(text) != len)
        return out;
    for (size_t i = 0; i < sizeof bools / sizeof *bools; i++) {
        if (strcmp(text, bools[i].text) == 0)
            return kj_run_bool(bools[i].value);
    }
    if (len > 0 && text[len - 1] == 'j')
        return parse_complex(text, len);
    bool minus = *text == '-';
    if (minus || *text == '+')
        text++;
    if (*text == '-' || *text == '+' ||
        (!parse_integer(text, end, minus, &out) && !parse_float(text, end, minus, &out)))
        return kj_run_none();
    return out;
}
