/* Axes: numbers to places, and round numbers to write beside them. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "draw/draw.h"

size_t kj_characters(const char *text)
{
    size_t n = 0;
    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

void kj_end_line(kj_text *t)
{
    while (!t->failed && t->size > 0 && t->data[t->size - 1] == ' ')
        t->data[--t->size] = '\0';
    kj_text_puts(t, "\n");
}

double kj_axis_value(const kj_axis *a, double v)
{
    if (!isfinite(v) || (a->log && v <= 0))
        return NAN;
    return a->log ? log10(v) : v;
}

void kj_axis_take(kj_axis *a, double value)
{
    a->low = !(a->low <= value) ? value : a->low;
    a->high = !(a->high >= value) ? value : a->high;
}

static double within_range(double v)
{
    return v > DBL_MAX ? DBL_MAX : v < -DBL_MAX ? -DBL_MAX : v;
}

void kj_axis_settle(kj_axis *a)
{
    static const double same = 1e-12, tiny = 1e-290;
    double most = fmax(fabs(a->low), fabs(a->high)), span = a->high - a->low;
    if (span > most * same && span > tiny)
        return;
    double room = a->log || most < tiny ? 1 : most / 10;
    a->low = within_range(a->low - room);
    a->high = within_range(a->high + room);
}

double kj_axis_place(const kj_axis *a, double value)
{
    /* quarters: high - low may be more than a double holds */
    double p = (value / 4 - a->low / 4) / (a->high / 4 - a->low / 4);
    return p < 0 ? 0 : p > 1 ? 1 : p;
}

/* ---- Round numbers ---- */

/* Steps of 1, 2 or 5 times a power of ten. */
typedef struct step {
    int times, power;
} step;

static double power_of_ten(double v, int power)
{
    return power >= 0 ? v * pow(10, power) : v / pow(10, -power);
}

static double multiple(double k, step s)
{
    return k == 0 ? 0 : power_of_ten(k * s.times, s.power);
}

/* The least of them that is at least that. */
static step step_above(double least)
{
    static const int times[] = {1, 2, 5, 10};
    step s = {1, (int)floor(log10(least)) - 1};
    for (int up = 0; up < 3; up++, s.power++) {
        for (int i = 0; i < 4; i++) {
            s.times = times[i];
            if (multiple(1, s) >= least * (1 - 1e-9))
                return i < 3 ? s : (step){1, s.power + 1};
        }
    }
    return s;
}

/* 1.50e+06 as 1.5e6 */
static void put_power(double v, int digits, char text[KJ_TICK_TEXT])
{
    char buf[KJ_TICK_TEXT];
    kj_snprintf(buf, sizeof buf, "%.*e", digits, v);
    char *e = strchr(buf, 'e');
    int power = atoi(e + 1);
    *e = '\0';
    if (strchr(buf, '.')) {
        while (e[-1] == '0')
            *--e = '\0';
        if (e[-1] == '.')
            e[-1] = '\0';
    }
    kj_snprintf(text, KJ_TICK_TEXT, "%.20se%d", buf, power);
}

static int power_of(double v)
{
    return (int)floor(log10(fabs(v)) + 1e-9);
}

/* All digits down to the step's, `most` is the largest beside it. */
static void put_number(double v, double most, step s, char text[KJ_TICK_TEXT])
{
    enum { LEAST_POWER = -5, MOST_POWER = 6 };
    if (v == 0)
        kj_snprintf(text, KJ_TICK_TEXT, "0");
    else if (s.power >= LEAST_POWER && power_of(most) < MOST_POWER)
        kj_snprintf(text, KJ_TICK_TEXT, "%.*f", s.power < 0 ? -s.power : 0, v);
    else
        put_power(v, power_of(v) > s.power ? power_of(v) - s.power : 0, text);
}

/* Where the numbers have too many digits in common, those behind the first say how much is added to it. */
static void put_texts(kj_axis *a, step s)
{
    enum { MOST_DIGITS = 7 };
    double most = fmax(fabs(a->ticks[0]), fabs(a->ticks[a->nticks - 1]));
    bool added = most > 0 && power_of(most) - s.power > MOST_DIGITS;
    double span = a->ticks[a->nticks - 1] - a->ticks[0];
    for (int i = 0; i < a->nticks; i++) {
        if (!added)
            put_number(a->ticks[i], most, s, a->texts[i]);
        else if (i == 0)
            kj_snprintf(a->texts[i], KJ_TICK_TEXT, "%.*g", power_of(most) - s.power + 1,
                        a->ticks[i]);
        else {
            a->texts[i][0] = '+';
            char text[KJ_TICK_TEXT];
            put_number(multiple(i, s), span, s, text);
            kj_snprintf(a->texts[i], KJ_TICK_TEXT, "+%.30s", text);
        }
    }
}

static void mark_evenly(kj_axis *a, int wanted, bool widens)
{
    step s = step_above(a->high / wanted - a->low / wanted);
    if (a->whole && s.power < 0)
        s = (step){1, 0};
    double by = multiple(1, s), fuzz = 1e-9;
    double first = widens ? floor(a->low / by + fuzz) : ceil(a->low / by - fuzz);
    double last = widens ? ceil(a->high / by - fuzz) : floor(a->high / by + fuzz);
    first += !isfinite(multiple(first, s));
    last -= !isfinite(multiple(last, s));
    for (double k = first; k <= last && a->nticks < KJ_TICKS; k++)
        a->ticks[a->nticks++] = multiple(k, s);
    if (a->nticks > 0)
        put_texts(a, s);
    if (widens && a->nticks > 0) {
        a->low = fmin(a->low, a->ticks[0]);
        a->high = fmax(a->high, a->ticks[a->nticks - 1]);
    }
}

/* ---- Logarithmic ones ---- */

static void put_log(kj_axis *a, int power, int times)
{
    if (a->nticks == KJ_TICKS)
        return;
    a->ticks[a->nticks] = power + log10(times);
    char *text = a->texts[a->nticks++];
    if (power < -4 || power > 5)
        kj_snprintf(text, KJ_TICK_TEXT, "%de%d", times, power);
    else
        kj_snprintf(text, KJ_TICK_TEXT, "%.*f", power < 0 ? -power : 0, power_of_ten(times, power));
}

/* The ends move to the next 1, 2 or 5 times a power of ten. */
static void widen_to_parts(kj_axis *a, double fuzz)
{
    static const int times[] = {1, 2, 5, 10};
    double low = floor(a->low + fuzz), high = floor(a->high + fuzz), at = low;
    for (int i = 0; i < 4 && low + log10(times[i]) <= a->low + fuzz; i++)
        at = low + log10(times[i]);
    a->low = at;
    int i = 0;
    while (i < 3 && high + log10(times[i]) < a->high - fuzz)
        i++;
    a->high = high + log10(times[i]);
}

/* Powers of ten; of those alone where there are few, 2 and 5 times them too. */
static void mark_powers(kj_axis *a, int wanted, bool widens)
{
    static const double fuzz = 1e-9;
    int first = (int)(widens ? floor(a->low + fuzz) : ceil(a->low - fuzz));
    int last = (int)(widens ? ceil(a->high - fuzz) : floor(a->high + fuzz));
    int by = 1;
    while ((last - first) / by > wanted)
        by *= 2;
    if (widens)
        last += (by - (last - first) % by) % by;
    bool few = last - first <= 2;
    if (widens && few)
        widen_to_parts(a, fuzz);
    else if (widens) {
        a->low = first;
        a->high = last;
    }
    for (int power = few ? first - 1 : first; power <= last; power += by) {
        for (int times = 1; times <= (few ? 5 : 1); times += times < 2 ? 1 : 3) {
            double at = power + log10(times);
            if (at >= a->low - fuzz && at <= a->high + fuzz)
                put_log(a, power, times);
        }
    }
}

/* Less than a power of ten with no such number in it: evenly, as if it were no logarithmic axis. */
static void mark_between(kj_axis *a, int wanted)
{
    kj_axis plain = {.whole = a->whole, .low = pow(10, a->low), .high = pow(10, a->high)};
    mark_evenly(&plain, wanted, false);
    for (int i = 0; i < plain.nticks; i++)
        plain.ticks[i] = log10(plain.ticks[i]);
    plain.log = true;
    plain.low = a->low;
    plain.high = a->high;
    *a = plain;
}

void kj_axis_mark(kj_axis *a, int wanted, bool widens)
{
    a->nticks = 0;
    if (!a->log)
        mark_evenly(a, wanted, widens);
    else
        mark_powers(a, wanted, widens);
    if (a->log && a->nticks < 2)
        mark_between(a, wanted);
}
