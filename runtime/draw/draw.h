/* Curves and pictures as lines of characters, and curves as SVG: texts of numbers, sectioned by file. In: points as
 * doubles, pixels; out: text. */
#ifndef KJ_DRAW_H
#define KJ_DRAW_H

#include <stdint.h>

#include "base/text.h"

/* ---- axis.c: where numbers stand along an axis, and which are written there ---- */

enum { KJ_TICKS = 32, KJ_TICK_TEXT = 32 };

/* Of a logarithmic axis low, high and what is asked for by kj_axis_place are logarithms to base 10. */
typedef struct kj_axis {
    bool log;
    bool whole;       /* numbers between whole ones are not written */
    double low, high; /* of all that is drawn; NaN: there is none */
    int nticks;
    double ticks[KJ_TICKS];
    char texts[KJ_TICKS][KJ_TICK_TEXT];
} kj_axis;

/* A number as the axis has it: NaN where it cannot stand there. */
double kj_axis_value(const kj_axis *a, double v);
void kj_axis_take(kj_axis *a, double value); /* into low and high */
/* One number alone gets some room about it. */
void kj_axis_settle(kj_axis *a);
/* About so many round numbers; `widens`: to those at or beyond both ends, else only those within. */
void kj_axis_mark(kj_axis *a, int wanted, bool widens);
/* 0 at the low end, 1 at the high one. */
double kj_axis_place(const kj_axis *a, double value);
size_t kj_characters(const char *text); /* of UTF-8 */
void kj_end_line(kj_text *t);           /* without blanks at its end */

/* ---- chart.c: curves ---- */

enum { KJ_CURVE_CHUNK = 128 };

typedef struct kj_curve {
    const char *label; /* or NULL */
    int64_t n;         /* points */
    /* The points in their order, some at a time: how many, 0 at the end. */
    void (*begin)(void *of);
    int64_t (*next)(void *of, double x[KJ_CURVE_CHUNK], double y[KJ_CURVE_CHUNK]);
    void *of;
} kj_curve;

typedef enum kj_chart_kind { KJ_CHART_LINE, KJ_CHART_POINTS, KJ_CHART_BARS } kj_chart_kind;

typedef struct kj_chart {
    const char *title, *xlabel, *ylabel; /* or NULL */
    kj_chart_kind kind;                  /* bars are of one curve */
    const kj_curve *curves;
    int n;
    int columns; /* of characters */
    bool colours;
    /* by kj_chart_measure */
    kj_axis x, y; /* `log` and `whole` are the caller's */
    double bar;   /* half of one, along x */
} kj_chart;

/* Looks through all points; false where none can be drawn. */
bool kj_chart_measure(kj_chart *c);
/* Shows the points that can be drawn, as the axes' values, NaN where a gap is. */
typedef void kj_point_fn(void *user, double x, double y);
void kj_chart_points(const kj_chart *c, int curve, kj_point_fn *point, void *user);
bool kj_chart_has_labels(const kj_chart *c);

/* ---- chart_text.c, bars_text.c, chart_svg.c, picture_text.c ---- */

void kj_chart_text(kj_chart *c, kj_text *t);
void kj_chart_svg(kj_chart *c, kj_text *t);

/* Pixels of u8, or of u16, of 1 (grey), 2 (and transparency), 3 or 4 (colour) numbers. */
typedef struct kj_pixels {
    const void *data;
    int64_t height, width;
    int channels, depth;
} kj_pixels;

void kj_pixels_text(const kj_pixels *p, int columns, bool colours, kj_text *t);

#endif
