/* Bars of block characters, in eighths of a row. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "draw/sheet.h"

/* How far the bars of a column go, in eighths from the middle of the lowest row. */
typedef struct reach {
    double low, high;
    bool any;
} reach;

typedef struct bars {
    const kj_sheet *sheet;
    reach *columns;
    double zero;
} bars;

static double eighths(const kj_sheet *s, double y)
{
    return kj_axis_place(&s->chart->y, y) * 8 * (s->rows - 1);
}

static void take_bar(void *user, double x, double y)
{
    bars *b = user;
    const kj_sheet *s = b->sheet;
    if (isnan(x))
        return;
    double place = kj_axis_place(&s->chart->x, x), end = eighths(s, y);
    double half = kj_axis_place(&s->chart->x, s->chart->x.low + s->chart->bar) * s->width;
    int first = (int)floor(place * s->width - half + 0.5);
    int last = (int)floor(place * s->width + half + 0.5) - 1;
    last -= last - first >= 2; /* a blank between wide ones */
    if (last < first)
        first = last = kj_sheet_column(s, place);
    for (int i = first < 0 ? 0 : first; i <= last && i < s->width; i++) {
        reach *r = &b->columns[i];
        r->low = fmin(r->any ? r->low : b->zero, end);
        r->high = fmax(r->any ? r->high : b->zero, end);
        r->any = true;
    }
}

/* Of a row that the bar comes into from below, or from above. */
static const char *glyph(double filled, bool from_above)
{
    static const char *const blocks[] = {"", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    int n = filled <= 0 ? 0 : filled >= 8 ? 8 : (int)floor(filled + 0.5);
    if (!from_above || n == 0 || n == 8)
        return blocks[n];
    return n <= 2 ? "▔" : n <= 6 ? "▀" : "█";
}

static void fill_column(kj_sheet *s, int column, const reach *r)
{
    for (int row = 0; row < s->rows; row++) {
        bool above = row > s->line;
        if (row == s->line)
            continue;
        double filled = above ? r->high - (row * 8 - 4) : row * 8 + 4 - r->low;
        bool next = row == s->line + 1 || row == s->line - 1;
        bool some = above ? r->high > s->line * 8 + 1e-6 : r->low < s->line * 8 - 1e-6;
        if (next && some && filled < 1)
            filled = 1; /* what is not 0 is seen */
        strcpy(s->cells[row * s->width + column].glyph, glyph(filled, !above));
    }
}

int kj_sheet_column(const kj_sheet *s, double place)
{
    int column = (int)floor(place * s->width);
    return column < s->width ? column : s->width - 1;
}

bool kj_sheet_bars(kj_sheet *s)
{
    bars b = {.sheet = s, .columns = calloc((size_t)s->width, sizeof *b.columns)};
    if (!b.columns)
        return false;
    s->line = s->chart->y.log ? 0 : (int)floor(eighths(s, 0) / 8 + 0.5);
    b.zero = 8.0 * s->line;
    kj_chart_points(s->chart, 0, take_bar, &b);
    for (int i = 0; i < s->width; i++)
        if (b.columns[i].any)
            fill_column(s, i, &b.columns[i]);
    free(b.columns);
    return true;
}
