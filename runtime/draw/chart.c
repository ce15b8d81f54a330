/* What a chart's points are about: the ranges of both axes. */
#include <float.h>
#include <math.h>

#include "draw/draw.h"

void kj_chart_points(const kj_chart *c, int curve, kj_point_fn *point, void *user)
{
    const kj_curve *from = &c->curves[curve];
    double x[KJ_CURVE_CHUNK], y[KJ_CURVE_CHUNK];
    int64_t n;
    from->begin(from->of);
    while ((n = from->next(from->of, x, y)) > 0) {
        for (int64_t i = 0; i < n; i++) {
            double px = kj_axis_value(&c->x, x[i]), py = kj_axis_value(&c->y, y[i]);
            bool gap = isnan(px) || isnan(py);
            point(user, gap ? NAN : px, gap ? NAN : py);
        }
    }
}

typedef struct measure {
    kj_axis *x, *y;
    double last, gap; /* the least between neighbours along x; infinite: there are none */
} measure;

static void measure_point(void *user, double x, double y)
{
    measure *m = user;
    if (isnan(x))
        return;
    kj_axis_take(m->x, x);
    kj_axis_take(m->y, y);
    double gap = fabs(x - m->last);
    if (gap > 0 && gap < m->gap)
        m->gap = gap;
    m->last = x;
}

bool kj_chart_measure(kj_chart *c)
{
    measure m = {.x = &c->x, .y = &c->y, .gap = INFINITY};
    c->x.low = c->x.high = c->y.low = c->y.high = NAN;
    for (int i = 0; i < c->n; i++) {
        m.last = NAN;
        kj_chart_points(c, i, measure_point, &m);
    }
    if (isnan(c->x.low))
        return false;
    if (c->kind == KJ_CHART_BARS) {
        c->bar = isfinite(m.gap) ? m.gap / 2 : 0.5;
        c->x.low = fmax(c->x.low - c->bar, -DBL_MAX);
        c->x.high = fmin(c->x.high + c->bar, DBL_MAX);
        if (!c->y.log)
            kj_axis_take(&c->y, 0);
    }
    kj_axis_settle(&c->x);
    kj_axis_settle(&c->y);
    return true;
}

bool kj_chart_has_labels(const kj_chart *c)
{
    for (int i = 0; i < c->n; i++)
        if (c->curves[i].label)
            return true;
    return c->n > 1;
}
