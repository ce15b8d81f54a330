/* Lists and ranges of values on the command line. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "choices.h"
#include "cli.h"

bool has_choices(const char *argument)
{
    const char *value = strchr(argument, '=');
    char *end = NULL;
    if (!value || value[1] == '@')
        return false;
    strtod(value + 1, &end); /* "../x" is a text, not a range */
    return strchr(value, ',') || (end > value + 1 && strstr(end - 1, ".."));
}

void free_choices(choices *c)
{
    for (int i = 0; i < c->n; i++)
        free(c->params[i]);
    free(c->params);
    *c = (choices){0};
}

static bool add(choices *c, char *param)
{
    char **longer = param ? realloc(c->params, (size_t)(c->n + 1) * sizeof *longer) : NULL;
    if (longer) {
        c->params = longer;
        c->params[c->n++] = param;
        return true;
    }
    free(param);
    complain("out of memory");
    return false;
}

static bool refuse(const char *argument)
{
    complain("'%s': values are listed, tile=8,16,32, or a range, block=64..1024:x2 or n=1..9:+2",
             argument);
    return false;
}

/* 64..1024:x2: begin, end, and what each is made of the one before by. A long double holds all integers of 64 bits. */
typedef struct range {
    long double begin, end, step;
    bool times;
} range;

static bool read_range(const char *text, range *out)
{
    char *rest;
    *out = (range){.step = 1};
    out->begin = strtold(text, &rest);
    if (rest > text && rest[-1] == '.') /* strtod takes the first dot of 1..9 for its own */
        rest--;
    if (rest == text || strncmp(rest, "..", 2) != 0)
        return false;
    text = rest + 2;
    out->end = strtold(text, &rest);
    if (rest == text)
        return false;
    if (*rest == ':') {
        out->times = rest[1] == 'x';
        text = rest + 2;
        out->step = rest[1] == 'x' || rest[1] == '+' ? strtold(text, &rest) : NAN;
        if (rest == text)
            return false;
    }
    bool grows = out->times ? out->step > 1 && out->begin > 0 : out->step > 0;
    return !*rest && grows && out->begin <= out->end && isfinite(out->end);
}

/* How many steps lead to its end, or as near as there are. */
static long double steps_of(const range *r)
{
    const double slack = 1e-9; /* 0..1:+0.1 ends with 1 */
    return floorl(
        (r->times ? logl(r->end / r->begin) / logl(r->step) : (r->end - r->begin) / r->step) +
        slack);
}

/* In as many digits as it has: "65536", "0.1". */
static void write_number(long double v, char text[64])
{
    const long double most = 18446744073709551615.0L;
    int digits = 15;
    if (v == floorl(v) && fabsl(v) <= most) {
        snprintf(text, 64, "%.0Lf", v);
        return;
    }
    do
        snprintf(text, 64, "%.*g", digits, (double)v);
    while (strtod(text, NULL) != (double)v && ++digits <= 17);
}

static bool add_range(const char *argument, int name, const range *r, choices *out)
{
    long double last = steps_of(r), v = r->begin;
    if (last >= MOST_CHOICES) {
        complain("'%s' has more than %d values", argument, MOST_CHOICES);
        return false;
    }
    for (int i = 0; i <= (int)last; i++) {
        char *param, value[64];
        write_number(v, value);
        if (asprintf(&param, "%.*s%s", name, argument, value) < 0)
            param = NULL;
        if (!add(out, param))
            return false;
        v = r->times ? v * r->step : r->begin + r->step * (i + 1);
    }
    return true;
}

static bool add_list(const char *argument, int name, choices *out)
{
    for (const char *at = argument + name;; at++) {
        size_t n = strcspn(at, ",");
        char *param;
        if (n == 0 || out->n == MOST_CHOICES)
            return refuse(argument);
        if (asprintf(&param, "%.*s%.*s", name, argument, (int)n, at) < 0)
            param = NULL;
        if (!add(out, param))
            return false;
        at += n;
        if (!*at)
            return true;
    }
}

bool read_choices(const char *argument, choices *out)
{
    int name = (int)(strchr(argument, '=') + 1 - argument);
    range r;
    *out = (choices){0};
    bool listed = !strstr(argument + name, "..");
    bool ok = listed                            ? add_list(argument, name, out)
              : read_range(argument + name, &r) ? add_range(argument, name, &r, out)
                                                : refuse(argument);
    if (!ok)
        free_choices(out);
    return ok;
}
