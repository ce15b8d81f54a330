/* A chart as lines of characters: points and lines in dots of braille, of several curves without colours in a mark for
 * each curve; around them axes and numbers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "draw/sheet.h"

enum { ROWS = 16, LEAST_WIDTH = 8, DOTS_X = 2, DOTS_Y = 4, MARKS = 8 };

static const char *mark_of(int curve)
{
    static const char *const marks[MARKS] = {"*", "+", "o", "x", "#", "@", "%", "&"};
    return marks[curve % MARKS];
}

static const char *colour_of(int curve)
{
    static const char *const colours[] = {"36", "33", "35", "32", "31", "34"};
    return colours[curve % 6];
}

/* ---- Dots ---- */

/* A pen. Points in one column of dots are one stroke from the lowest to the highest of them. */
typedef struct pen {
    kj_sheet *sheet;
    unsigned char *dots; /* bits of a braille character, a cell */
    int curve, x, last, low, high;
    bool down, joins;
} pen;

static void put_dot(pen *p, int x, int y)
{
    static const unsigned char bits[DOTS_Y][DOTS_X] = {
        {0x40, 0x80}, {0x04, 0x20}, {0x02, 0x10}, {0x01, 0x08}};
    int cell = y / DOTS_Y * p->sheet->width + x / DOTS_X;
    p->dots[cell] |= bits[y % DOTS_Y][x % DOTS_X];
    p->sheet->cells[cell].curve = (unsigned char)p->curve;
}

static void lift(pen *p)
{
    for (int y = p->low; p->down && y <= p->high; y++)
        put_dot(p, p->x, y);
    p->down = false;
}

/* From the last point to one in another column. */
static void draw_to(pen *p, int x, int y)
{
    int wide = abs(x - p->x), high = abs(y - p->last), n = wide > high ? wide : high;
    for (int i = 0; i <= n; i++)
        put_dot(p, p->x + (int)lround((double)(x - p->x) * i / n),
                p->last + (int)lround((double)(y - p->last) * i / n));
}

static void take_point(void *user, double x, double y)
{
    pen *p = user;
    const kj_sheet *s = p->sheet;
    if (isnan(x)) {
        lift(p);
        return;
    }
    int dx = (int)floor(kj_axis_place(&s->chart->x, x) * (s->width * DOTS_X - 1) + 0.5);
    int dy = (int)floor(kj_axis_place(&s->chart->y, y) * (s->rows - 1) * DOTS_Y + 1.5 + 1e-6);
    if (!p->joins) {
        put_dot(p, dx, dy);
        return;
    }
    if (p->down && dx != p->x) {
        draw_to(p, dx, dy);
        lift(p);
    }
    p->low = p->down && p->low < dy ? p->low : dy;
    p->high = p->down && p->high > dy ? p->high : dy;
    p->x = dx;
    p->last = dy;
    p->down = true;
}

static void put_braille(unsigned char bits, char glyph[5])
{
    unsigned code = 0x2800u + bits;
    glyph[0] = (char)(0xe0 | code >> 12);
    glyph[1] = (char)(0x80 | (code >> 6 & 0x3f));
    glyph[2] = (char)(0x80 | (code & 0x3f));
    glyph[3] = '\0';
}

static bool draw_dots(kj_sheet *s)
{
    const kj_chart *c = s->chart;
    size_t ncells = (size_t)s->rows * (size_t)s->width;
    pen p = {.sheet = s, .dots = calloc(ncells, 1), .joins = c->kind == KJ_CHART_LINE};
    if (!p.dots)
        return false;
    for (p.curve = 0; p.curve < c->n; p.curve++) {
        kj_chart_points(c, p.curve, take_point, &p);
        lift(&p);
    }
    for (size_t i = 0; i < ncells; i++) {
        if (p.dots[i] && (c->n == 1 || c->colours))
            put_braille(p.dots[i], s->cells[i].glyph);
        else if (p.dots[i])
            strcpy(s->cells[i].glyph, mark_of(s->cells[i].curve));
    }
    free(p.dots);
    return true;
}

/* ---- Around them ---- */

static void put_blanks(kj_text *t, int n)
{
    for (int i = 0; i < n; i++)
        kj_text_puts(t, " ");
}

/* In the middle of the drawing. */
static void put_middle(const kj_sheet *s, const char *text, kj_text *t)
{
    int room = s->width - (int)kj_characters(text);
    put_blanks(t, s->margin + 1 + (room > 0 ? room / 2 : 0));
    kj_text_plain(t, text, strlen(text), false);
    kj_end_line(t);
}

static void put_coloured(const kj_chart *c, int curve, const char *text, kj_text *t)
{
    if (c->colours && c->n > 1)
        kj_text_printf(t, "\x1b[%sm%s\x1b[0m", colour_of(curve), text);
    else
        kj_text_puts(t, text);
}

static void put_legend(const kj_sheet *s, kj_text *t)
{
    const kj_chart *c = s->chart;
    put_blanks(t, s->margin + 1);
    for (int i = 0; i < c->n; i++) {
        const char *mark = c->kind == KJ_CHART_BARS  ? "█"
                           : c->n == 1 || c->colours ? "⠒⠒"
                                                     : mark_of(i);
        put_coloured(c, i, mark, t);
        if (c->curves[i].label) {
            kj_text_puts(t, " ");
            kj_text_plain(t, c->curves[i].label, strlen(c->curves[i].label), false);
        } else
            kj_text_printf(t, " %d", i + 1);
        put_blanks(t, i + 1 < c->n ? 3 : 0);
    }
    kj_end_line(t);
}

/* The number beside a row, or NULL. */
static const char *number_beside(const kj_sheet *s, int row)
{
    const kj_axis *y = &s->chart->y;
    for (int i = 0; i < y->nticks; i++)
        if ((int)floor(kj_axis_place(y, y->ticks[i]) * (s->rows - 1) + 0.5) == row)
            return y->texts[i];
    return NULL;
}

static int column_of_tick(const kj_sheet *s, int tick)
{
    double place = kj_axis_place(&s->chart->x, s->chart->x.ticks[tick]);
    if (s->chart->kind == KJ_CHART_BARS)
        return kj_sheet_column(s, place);
    return (int)floor(place * (s->width * DOTS_X - 1) + 0.5) / DOTS_X;
}

static void put_axis(const kj_sheet *s, const char *number, const char *begin, bool ticks,
                     kj_text *t)
{
    kj_text_printf(t, "%*s %s", s->margin - 1, number ? number : "", begin);
    for (int column = 0; column < s->width; column++) {
        bool marked = false;
        for (int i = 0; i < s->chart->x.nticks && ticks; i++)
            marked |= column_of_tick(s, i) == column;
        kj_text_puts(t, marked ? "┬" : "─");
    }
    kj_end_line(t);
}

static void put_row(const kj_sheet *s, int row, kj_text *t)
{
    const char *number = number_beside(s, row);
    if (row == s->line) {
        put_axis(s, number, "┼", false, t);
        return;
    }
    kj_text_printf(t, "%*s %s", s->margin - 1, number ? number : "", number ? "┤" : "│");
    for (int column = 0; column < s->width; column++) {
        const kj_cell *cell = &s->cells[row * s->width + column];
        if (cell->glyph[0])
            put_coloured(s->chart, cell->curve, cell->glyph, t);
        else
            kj_text_puts(t, " ");
    }
    kj_end_line(t);
}

/* Those below the axis, as many as stand apart. */
static void put_numbers_below(const kj_sheet *s, kj_text *t)
{
    const kj_axis *x = &s->chart->x;
    int at = 0, end = s->margin + 1 + s->width;
    for (int i = 0; i < x->nticks; i++) {
        int n = (int)strlen(x->texts[i]), from = s->margin + 1 + column_of_tick(s, i) - n / 2;
        if (from + n > end)
            from = end - n;
        if (from < 0)
            from = 0; /* the first is what "+1" of the others is added to */
        if (from < at + (at > 0))
            continue;
        put_blanks(t, from - at);
        kj_text_puts(t, x->texts[i]);
        at = from + n;
    }
    kj_end_line(t);
}

static void put_sheet(const kj_sheet *s, kj_text *t)
{
    const kj_chart *c = s->chart;
    if (c->title)
        put_middle(s, c->title, t);
    if (kj_chart_has_labels(c))
        put_legend(s, t);
    if (c->ylabel) {
        kj_text_plain(t, c->ylabel, strlen(c->ylabel), false);
        kj_end_line(t);
    }
    bool joined = s->line == 0; /* the line of 0 is the axis */
    for (int row = s->rows - 1; row >= joined; row--)
        put_row(s, row, t);
    put_axis(s, joined ? number_beside(s, 0) : NULL, "└", true, t);
    put_numbers_below(s, t);
    if (c->xlabel)
        put_middle(s, c->xlabel, t);
}

void kj_chart_text(kj_chart *c, kj_text *t)
{
    kj_axis_mark(&c->y, 5, true);
    int steps = c->y.nticks > 1 ? c->y.nticks - 1 : 1, apart = ROWS / steps;
    kj_sheet s = {.chart = c, .rows = steps * (apart > 0 ? apart : 1) + 1, .line = -1};
    for (int i = 0; i < c->y.nticks; i++) {
        int n = (int)strlen(c->y.texts[i]) + 1;
        s.margin = s.margin > n ? s.margin : n;
    }
    s.width = c->columns - s.margin - 1;
    s.width = s.width > LEAST_WIDTH ? s.width : LEAST_WIDTH;
    kj_axis_mark(&c->x, s.width / 10 + 1, false);
    s.cells = calloc((size_t)s.rows * (size_t)s.width, sizeof *s.cells);
    if (!s.cells) {
        t->failed = true;
        return;
    }
    if (c->kind == KJ_CHART_BARS ? kj_sheet_bars(&s) : draw_dots(&s))
        put_sheet(&s, t);
    else
        t->failed = true;
    free(s.cells);
}
