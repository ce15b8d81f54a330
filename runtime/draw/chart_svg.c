/* A chart as SVG. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "draw/draw.h"

enum { WIDTH = 640, HEIGHT = 400, TOP = 16, BOTTOM = 36, RIGHT = 16, LINE = 18, LETTER = 7 };

/* Of the axes, in pixels; y grows downwards. */
typedef struct area {
    kj_chart *chart;
    kj_text *text;
    int left, right, top, bottom;
} area;

static const char *colour_of(int curve)
{
    static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                          "#e69f00", "#56b4e9", "#000000"};
    return colours[curve % 7];
}

static double left_of(const area *a, double x)
{
    return a->left + kj_axis_place(&a->chart->x, x) * (a->right - a->left);
}

static double top_of(const area *a, double y)
{
    return a->bottom - kj_axis_place(&a->chart->y, y) * (a->bottom - a->top);
}

/* ---- Words ---- */

/* How many bytes a character of UTF-8 has, as XML may have it; 0: it is none. */
static size_t character(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;
    if (*c < 0x80)
        return *c >= 0x20 && *c != 0x7f;
    size_t n = *c >= 0xf0 ? 4 : *c >= 0xe0 ? 3 : *c >= 0xc2 ? 2 : 0;
    for (size_t i = 1; i < n; i++)
        if ((c[i] & 0xc0) != 0x80)
            return 0;
    bool wrong = (*c == 0xe0 && c[1] < 0xa0) || (*c == 0xed && c[1] > 0x9f) ||
                 (*c == 0xf0 && c[1] < 0x90) || *c > 0xf4 || (*c == 0xf4 && c[1] > 0x8f) ||
                 (*c == 0xef && c[1] == 0xbf && c[2] > 0xbd);
    return wrong ? 0 : n;
}

static void put_escaped(kj_text *t, const char *text)
{
    while (*text) {
        size_t n = character(text);
        if (n == 0)
            kj_text_puts(t, "?");
        else if (*text == '&')
            kj_text_puts(t, "&amp;");
        else if (*text == '<')
            kj_text_puts(t, "&lt;");
        else if (*text == '>')
            kj_text_puts(t, "&gt;");
        else
            kj_text_add(t, text, n);
        text += n ? n : 1;
    }
}

static void put_words(const area *a, double x, double y, const char *anchor, const char *more,
                      const char *words)
{
    kj_text_printf(a->text, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\"%s>", x, y, anchor,
                   more);
    put_escaped(a->text, words);
    kj_text_puts(a->text, "</text>\n");
}

static void put_line(const area *a, double x0, double y0, double x1, double y1, const char *colour)
{
    kj_text_printf(a->text,
                   "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n", x0,
                   y0, x1, y1, colour);
}

/* ---- Points and lines ---- */

/* A path under way. Of many points only the first, the least, the greatest and the last in a column of pixels are in it,
 * and once it is long, nothing that goes from one pixel that it has been at to another. */
typedef struct path {
    const area *area;
    bool many, joins;
    bool drawing;           /* there is a point that the next is joined to */
    bool down;              /* a column is under way: */
    double left[2], top[2]; /* its first and last point */
    double low[2], high[2]; /* left and top of the least and the greatest */
    bool low_last;
    unsigned char *seen; /* [WIDTH * HEIGHT] pixels */
    bool from_seen;
    int64_t n;
} path;

static void step_to(path *p, double left, double top)
{
    enum { LONG = 20000 };
    unsigned char *pixel = &p->seen[(int)top * WIDTH + (int)left];
    bool seen = *pixel, within = p->many && seen && (!p->joins || (p->n > LONG && p->from_seen));
    *pixel = 1;
    p->from_seen = seen;
    if (within) {
        p->drawing = false;
        return;
    }
    kj_text_printf(p->area->text, p->drawing ? "L%.1f %.1f" : "M%.1f %.1fh0", left, top);
    p->n++;
    p->drawing = p->joins;
}

static void end_column(path *p)
{
    if (!p->down)
        return;
    p->down = false;
    step_to(p, p->left[0], p->top[0]);
    if (p->low[1] == p->high[1] && p->left[0] == p->left[1])
        return;
    const double *second = p->low_last ? p->high : p->low, *third = p->low_last ? p->low : p->high;
    step_to(p, second[0], second[1]);
    step_to(p, third[0], third[1]);
    step_to(p, p->left[1], p->top[1]);
}

static void begin_column(path *p, double left, double top)
{
    p->down = true;
    p->left[0] = p->low[0] = p->high[0] = left;
    p->top[0] = p->low[1] = p->high[1] = top;
    p->low_last = false;
}

static void take_point(void *user, double x, double y)
{
    path *p = user;
    if (isnan(x)) {
        end_column(p);
        p->drawing = false;
        return;
    }
    double left = left_of(p->area, x), top = top_of(p->area, y);
    if (!p->many || !p->joins) {
        step_to(p, left, top);
        return;
    }
    if (p->down && (int)left != (int)p->left[0])
        end_column(p);
    if (!p->down)
        begin_column(p, left, top);
    if (top < p->low[1] || top > p->high[1]) {
        p->low_last = top < p->low[1];
        double *most = p->low_last ? p->low : p->high;
        most[0] = left;
        most[1] = top;
    }
    p->left[1] = left;
    p->top[1] = top;
}

static void put_curve(const area *a, int curve)
{
    enum { MANY = 4 * WIDTH };
    const kj_chart *c = a->chart;
    path p = {.area = a,
              .joins = c->kind == KJ_CHART_LINE,
              .many = c->curves[curve].n > MANY,
              .seen = calloc((size_t)WIDTH * HEIGHT, 1)};
    if (!p.seen) {
        a->text->failed = true;
        return;
    }
    kj_text_printf(a->text,
                   "<path fill=\"none\" stroke=\"%s\" stroke-width=\"%s\" stroke-linecap=\"round\" "
                   "stroke-linejoin=\"round\" d=\"",
                   colour_of(curve), p.joins ? "1.5" : "4");
    kj_chart_points(c, curve, take_point, &p);
    end_column(&p);
    kj_text_puts(a->text, "\"/>\n");
    free(p.seen);
}

/* ---- Bars ---- */

/* Of many bars, how far those in a column of pixels go. */
typedef struct bars {
    const area *area;
    double zero;
    bool many;
    struct {
        double from, to;
        bool any;
    } columns[WIDTH];
} bars;

static void put_bar(const area *a, double left, double right, double from, double to)
{
    kj_text_printf(a->text, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n", left,
                   from, right - left, to - from);
}

static void take_bar(void *user, double x, double y)
{
    bars *b = user;
    const area *a = b->area;
    if (isnan(x))
        return;
    double left = left_of(a, x - a->chart->bar), right = left_of(a, x + a->chart->bar),
           top = top_of(a, y);
    double from = fmin(top, b->zero), to = fmax(top, b->zero), gap = (right - left) / 10;
    if (!b->many) {
        put_bar(a, left + gap, right - gap, from, to);
        return;
    }
    int column = (int)left_of(a, x);
    b->columns[column].from = b->columns[column].any ? fmin(b->columns[column].from, from) : from;
    b->columns[column].to = b->columns[column].any ? fmax(b->columns[column].to, to) : to;
    b->columns[column].any = true;
}

static void put_bars(const area *a)
{
    const kj_chart *c = a->chart;
    bars *b = calloc(1, sizeof *b);
    if (!b) {
        a->text->failed = true;
        return;
    }
    b->area = a;
    b->zero = c->y.log ? a->bottom : top_of(a, 0);
    b->many = c->curves[0].n > (a->right - a->left) / 2;
    kj_text_printf(a->text, "<g fill=\"%s\">\n", colour_of(0));
    kj_chart_points(c, 0, take_bar, b);
    for (int i = 0; i < WIDTH && b->many; i++)
        if (b->columns[i].any)
            put_bar(a, i, i + 1, b->columns[i].from, b->columns[i].to);
    kj_text_puts(a->text, "</g>\n");
    free(b);
}

/* ---- Around them ---- */

static void put_axes(const area *a)
{
    static const char grid[] = "#dddddd", frame[] = "#444444";
    const kj_axis *x = &a->chart->x, *y = &a->chart->y;
    for (int i = 0; i < x->nticks; i++) {
        double left = left_of(a, x->ticks[i]);
        put_line(a, left, a->top, left, a->bottom, grid);
        put_words(a, left, a->bottom + LINE, "middle", "", x->texts[i]);
    }
    for (int i = 0; i < y->nticks; i++) {
        double top = top_of(a, y->ticks[i]);
        put_line(a, a->left, top, a->right, top, grid);
        put_words(a, a->left - 6, top + 4, "end", "", y->texts[i]);
    }
    if (!y->log && y->low < 0 && y->high > 0)
        put_line(a, a->left, top_of(a, 0), a->right, top_of(a, 0), "#999999");
    kj_text_printf(
        a->text,
        "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"%s\"/>\n",
        a->left, a->top, a->right - a->left, a->bottom - a->top, frame);
}

/* Right of the drawing, a line each. */
static void put_legend(const area *a)
{
    const kj_chart *c = a->chart;
    for (int i = 0; i < c->n; i++) {
        char number[16];
        double top = a->top + LINE * i + LINE / 2.0;
        kj_snprintf(number, sizeof number, "%d", i + 1);
        kj_text_printf(a->text,
                       "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" stroke=\"%s\" "
                       "stroke-width=\"3\"/>\n",
                       a->right + 10, top, a->right + 26, top, colour_of(i));
        put_words(a, a->right + 32, top + 4, "start", "",
                  c->curves[i].label ? c->curves[i].label : number);
    }
}

static void put_titles(const area *a)
{
    const kj_chart *c = a->chart;
    double middle = (a->left + a->right) / 2.0, half = (a->top + a->bottom) / 2.0;
    char turned[64];
    if (c->title)
        put_words(a, middle, LINE + 2, "middle", " font-size=\"15\"", c->title);
    if (c->xlabel)
        put_words(a, middle, HEIGHT - 8, "middle", "", c->xlabel);
    kj_snprintf(turned, sizeof turned, " transform=\"rotate(-90 14 %.1f)\"", half);
    if (c->ylabel)
        put_words(a, 14, half, "middle", turned, c->ylabel);
}

static void make_room(area *a)
{
    const kj_chart *c = a->chart;
    size_t widest = 0, label = 1;
    for (int i = 0; i < c->y.nticks; i++)
        widest = strlen(c->y.texts[i]) > widest ? strlen(c->y.texts[i]) : widest;
    for (int i = 0; i < c->n; i++) {
        size_t n = c->curves[i].label ? kj_characters(c->curves[i].label) : 1;
        label = n > label ? n : label;
    }
    label = label > 24 ? 24 : label;
    a->left = (int)widest * LETTER + 14 + (c->ylabel ? LINE : 0);
    a->right = WIDTH - RIGHT - (kj_chart_has_labels(c) ? (int)label * LETTER + 36 : 0);
    a->top = TOP + (c->title ? LINE : 0);
    a->bottom = HEIGHT - BOTTOM - (c->xlabel ? LINE : 0);
}

void kj_chart_svg(kj_chart *c, kj_text *t)
{
    area a = {.chart = c, .text = t};
    kj_axis_mark(&c->y, 6, true);
    make_room(&a);
    kj_axis_mark(&c->x, 8, false);
    kj_text_printf(
        t,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
        "width=\"%d\" "
        "height=\"%d\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\">\n"
        "<rect width=\"%d\" height=\"%d\" fill=\"white\"/>\n",
        WIDTH, HEIGHT, WIDTH, HEIGHT, WIDTH, HEIGHT);
    put_axes(&a);
    if (c->kind == KJ_CHART_BARS)
        put_bars(&a);
    for (int i = 0; i < c->n && c->kind != KJ_CHART_BARS; i++)
        put_curve(&a, i);
    if (kj_chart_has_labels(c))
        put_legend(&a);
    put_titles(&a);
    kj_text_puts(t, "</svg>\n");
}
