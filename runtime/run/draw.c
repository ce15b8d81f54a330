/* plot and show. In: arrays; out: text for the writer, or a file. */
#include <stdlib.h>
#include <string.h>

#include "draw/draw.h"
#include "io/picture.h"
#include "run/run.h"

enum { COLUMNS = 72, MOST_COLUMNS = 400 };

static int columns_of(const kj_run *r)
{
    int n = r->options->columns;
    return n <= 0 ? COLUMNS : n > MOST_COLUMNS ? MOST_COLUMNS : n;
}

/* ---- Curves ---- */

/* Positions of plot's parameters. */
enum { ARRAYS, TITLE, XLABEL, YLABEL, LABELS, KIND, LOG, FILE_NAME };

/* The points of a curve: an array over another, or over its indices. */
typedef struct source {
    kj_run *run;
    kj_span at;
    kjit_array *x, *y; /* x: or NULL */
    kj_rfloats floats;
    int64_t done;
    bool stopped;
} source;

static void begin_points(void *of)
{
    source *s = of;
    s->done = 0;
    kj_run_floats(&s->floats, s->y, s->x);
}

static int64_t next_points(void *of, double x[KJ_CURVE_CHUNK], double y[KJ_CURVE_CHUNK])
{
    source *s = of;
    _Static_assert((int)KJ_CURVE_CHUNK >= (int)KJ_RUN_CHUNK,
                   "a chunk of the one is one of the other");
    s->stopped = s->stopped || !kj_run_check(s->run, kj_check_run(s->run->ctx), s->at);
    int64_t n = s->stopped ? 0 : kj_run_next_floats(&s->floats, y, x);
    for (int64_t i = 0; i < n && !s->x; i++)
        x[i] = (double)(s->done + i);
    s->done += n;
    return n;
}

static bool numbers_of_list(kj_run *r, kj_span at, const kj_robject *list, kj_rvalue *out)
{
    if (!kj_run_new_array(r, at, KJIT_F64, 1, &list->u.seq.n, KJIT_HOST, out))
        return false;
    double *numbers = kjit_array_data(out->u.object->u.array);
    for (int64_t i = 0; i < list->u.seq.n; i++) {
        if (!kj_run_is_number(list->u.seq.items[i]))
            return kj_run_fail(r, KJIT_TYPE, at, "plot draws lists of numbers, and %s is none",
                               kj_run_kind_name(list->u.seq.items[i]));
        numbers[i] = kj_run_as_float(list->u.seq.items[i]);
    }
    return true;
}

/* Argument i as numbers on the host, one after the other. */
static bool take_numbers(kj_run *r, const kj_rcall *c, int i, kj_rvalue *out)
{
    kj_rvalue v = c->rest[i], made = kj_run_none();
    kj_span at = c->rest_exprs[i]->span;
    if (v.kind == KJ_R_LIST || v.kind == KJ_R_TUPLE) {
        if (!numbers_of_list(r, at, v.u.object, &made))
            return false;
        v = made;
    }
    if (v.kind != KJ_R_ARRAY)
        return kj_run_fail(r, KJIT_TYPE, at, "plot draws arrays, not %s", kj_run_kind_name(v));
    const kjit_array *a = v.u.object->u.array;
    if (!kj_run_no_records(r, at, v))
        return false;
    if (kj_is_complex_type((kj_dtype)a->dtype)) {
        kj_run_fail(r, KJIT_TYPE, at, "plot draws real numbers, and these are %s",
                    kjit_dtype_name(a->dtype));
        return kj_run_hint(r, "abs(a) or a.real are real");
    }
    if (a->ndim != 1 || kj_is_vectors(a)) {
        char shape[KJ_SHAPE_TEXT];
        kj_shape_text(a->ndim, a->shape, shape);
        kj_run_fail(r, KJIT_SHAPE, at,
                    "plot draws arrays with one axis of numbers, not %s of shape %s",
                    kj_dtype_name(r->ctx, a->dtype), shape);
        return a->ndim == 2 && !a->of
                   ? kj_run_hint(
                         r, "show(a) draws a picture; plot(a[0]) a row, plot(a[:, 0]) a column")
                   : false;
    }
    bool ok = kj_run_on_host(r, at, v, out);
    kj_run_drop(&made);
    return ok;
}

static bool check_lengths(kj_run *r, const kj_rcall *c, const kj_rvalue *arrays)
{
    int64_t n = kjit_array_size(arrays[0].u.object->u.array);
    for (int i = 0; i < c->nrest; i++) {
        int64_t other = kjit_array_size(arrays[i].u.object->u.array);
        if (other != n)
            return kj_run_fail(
                r, KJIT_SHAPE, c->rest_exprs[i]->span,
                "what is drawn has as many elements as the first array: %lld, not %lld",
                (long long)n, (long long)other);
    }
    return n > 0 || kj_run_fail(r, KJIT_SHAPE, c->rest_exprs[0]->span,
                                "there is nothing to draw: the array is empty");
}

static bool take_label(kj_run *r, const kj_rcall *c, kj_rvalue v, const char **out)
{
    if (v.kind != KJ_R_STRING) {
        kj_run_fail(r, KJIT_TYPE, c->spans[LABELS],
                    "'labels' of plot is a list of strings, not of %s", kj_run_kind_name(v));
        return kj_run_hint(r, "plot(x, a, b, labels=[\"a\", \"b\"])");
    }
    *out = v.u.object->u.string.text;
    return true;
}

static bool take_labels(kj_run *r, const kj_rcall *c, kj_curve *curves, int n)
{
    kj_rvalue v = c->args[LABELS];
    if (!c->given[LABELS])
        return true;
    if ((v.kind != KJ_R_LIST && v.kind != KJ_R_TUPLE) || v.u.object->u.seq.n == 0)
        return n == 1 || v.kind != KJ_R_STRING
                   ? take_label(r, c, v, &curves[0].label)
                   : kj_run_fail(r, KJIT_TYPE, c->spans[LABELS],
                                 "'labels' of plot is a list of %d strings", n);
    if (v.u.object->u.seq.n != n)
        return kj_run_fail(r, KJIT_SHAPE, c->spans[LABELS],
                           "'labels' has %lld, and %d curve%s drawn",
                           (long long)v.u.object->u.seq.n, n, n == 1 ? " is" : "s are");
    for (int i = 0; i < n; i++)
        if (!take_label(r, c, v.u.object->u.seq.items[i], &curves[i].label))
            return false;
    return true;
}

static bool take_kind(kj_run *r, const kj_rcall *c, kj_chart_kind *out)
{
    static const char *const kinds[] = {
        [KJ_CHART_LINE] = "line", [KJ_CHART_POINTS] = "points", [KJ_CHART_BARS] = "bars"};
    const char *text;
    if (!c->given[KIND])
        return true;
    if (!kj_run_arg_text(r, c, KIND, &text))
        return false;
    for (int i = 0; i < 3; i++) {
        if (strcmp(text, kinds[i]) == 0) {
            *out = (kj_chart_kind)i;
            return true;
        }
    }
    return kj_run_fail(r, KJIT_TYPE, c->spans[KIND],
                       "there is no kind of plot '%s': it is \"line\", \"points\" or \"bars\"",
                       text);
}

static bool take_log(kj_run *r, const kj_rcall *c, kj_chart *chart)
{
    const char *text = "";
    if (c->given[LOG] && !kj_run_arg_text(r, c, LOG, &text))
        return false;
    chart->x.log = strcmp(text, "x") == 0 || strcmp(text, "xy") == 0;
    chart->y.log = strcmp(text, "y") == 0 || strcmp(text, "xy") == 0;
    return !c->given[LOG] || chart->x.log || chart->y.log ||
           kj_run_fail(r, KJIT_TYPE, c->spans[LOG],
                       "the logarithmic axes are \"x\", \"y\" or \"xy\", not '%s'", text);
}

static bool take_words(kj_run *r, const kj_rcall *c, kj_chart *chart)
{
    return (!c->given[TITLE] || kj_run_arg_text(r, c, TITLE, &chart->title)) &&
           (!c->given[XLABEL] || kj_run_arg_text(r, c, XLABEL, &chart->xlabel)) &&
           (!c->given[YLABEL] || kj_run_arg_text(r, c, YLABEL, &chart->ylabel)) &&
           take_kind(r, c, &chart->kind) && take_log(r, c, chart);
}

static bool save_svg(kj_run *r, const kj_rcall *c, kj_chart *chart)
{
    kj_out_file file;
    const char *path;
    if (!kj_run_arg_text(r, c, FILE_NAME, &path))
        return false;
    if (!kj_ends_with(path, ".svg"))
        return kj_run_fail(r, KJIT_TYPE, c->spans[FILE_NAME],
                           "plot writes .svg files, and '%s' is none", path);
    kj_text t = {0};
    kj_chart_svg(chart, &t);
    bool ok = (!t.failed || kj_run_no_memory(r, c->span)) &&
              kj_run_check(r, kj_file_begin(r->ctx, path, &file), c->spans[FILE_NAME]);
    if (ok) {
        kjit_status status = kj_file_write(r->ctx, &file, t.data, t.size);
        status =
            status == KJIT_OK ? kj_file_commit(r->ctx, &file) : (kj_file_abandon(&file), status);
        ok = kj_run_check(r, status, c->spans[FILE_NAME]);
    }
    kj_text_free(&t);
    return ok;
}

static bool draw(kj_run *r, const kj_rcall *c, kj_chart *chart)
{
    if (!kj_chart_measure(chart) && r->status == KJIT_OK)
        return kj_run_fail(r, KJIT_SHAPE, c->span, "there is nothing to draw: no point has %s",
                           chart->x.log || chart->y.log
                               ? "numbers that are finite, and above 0 where log= is"
                               : "finite numbers");
    if (r->status != KJIT_OK)
        return false;
    if (c->given[FILE_NAME])
        return save_svg(r, c, chart);
    kj_text t = {0};
    kj_chart_text(chart, &t);
    if (r->status == KJIT_OK)
        return kj_run_write(r, c->span, &t);
    kj_text_free(&t);
    return false;
}

/* The first of several arrays is x. */
static bool plot_arrays(kj_run *r, const kj_rcall *c, const kj_rvalue *arrays, source *sources,
                        kj_curve *curves)
{
    kj_chart chart = {.columns = columns_of(r), .colours = r->options->colours, .curves = curves};
    int first = c->nrest > 1;
    kj_dtype along = (kj_dtype)kjit_array_dtype(arrays[0].u.object->u.array);
    chart.x.whole = !first || kj_is_int(along);
    if (!check_lengths(r, c, arrays) || !take_words(r, c, &chart))
        return false;
    for (int i = first; i < c->nrest; i++, chart.n++) {
        kjit_array *y = arrays[i].u.object->u.array;
        sources[chart.n] = (source){
            .run = r, .at = c->span, .y = y, .x = first ? arrays[0].u.object->u.array : NULL};
        curves[chart.n] = (kj_curve){.n = kjit_array_size(y),
                                     .begin = begin_points,
                                     .next = next_points,
                                     .of = &sources[chart.n]};
    }
    if (chart.kind == KJ_CHART_BARS && chart.n > 1)
        return kj_run_fail(r, KJIT_TYPE, c->spans[KIND], "bars are of one array, not of %d",
                           chart.n);
    return take_labels(r, c, curves, chart.n) && draw(r, c, &chart);
}

bool kj_run_plot(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    size_t n = (size_t)c->nrest;
    *out = kj_run_none();
    if (n == 0) {
        kj_run_fail(r, KJIT_TYPE, c->span, "plot needs an array");
        return kj_run_hint(r, "plot%s", kj_run_builtins[c->id].signature);
    }
    if (c->given[FILE_NAME] && !kj_run_may_use_files(r, c->span))
        return false;
    kj_rvalue *arrays = calloc(n, sizeof *arrays);
    source *sources = calloc(n, sizeof *sources);
    kj_curve *curves = calloc(n, sizeof *curves);
    bool ok = (arrays && sources && curves) || kj_run_no_memory(r, c->span);
    for (int i = 0; ok && i < c->nrest; i++)
        ok = take_numbers(r, c, i, &arrays[i]);
    ok = ok && plot_arrays(r, c, arrays, sources, curves);
    for (size_t i = 0; ok && i < n; i++)
        kj_run_drop(&arrays[i]);
    free(arrays);
    free(sources);
    free(curves);
    return ok;
}

/* ---- Pictures ---- */

enum { IMAGE, LOW, HIGH, IMAGE_FILE };

static bool show_text(kj_run *r, const kj_rcall *c, const kj_save_request *q)
{
    kjit_array *pixels;
    kj_text t = {0};
    if (!kj_run_check(r, kj_picture_of(q, NULL, 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4, &pixels),
                      c->spans[IMAGE]))
        return false;
    kj_pixels p = {.data = pixels->data,
                   .height = pixels->shape[0],
                   .width = pixels->shape[1],
                   .channels = kj_picture_channels(pixels),
                   .depth = pixels->dtype == KJIT_U16 ? 16 : 8};
    kj_pixels_text(&p, columns_of(r), r->options->colours, &t);
    kjit_array_free(pixels);
    return kj_run_write(r, c->span, &t);
}

bool kj_run_check_shades(kj_run *r, kj_span at, const kjit_array *picture)
{
    kj_dtype type = (kj_dtype)picture->dtype;
    if (!kj_is_int(type) && type != KJ_BOOL)
        return true;
    kj_run_fail(r, KJIT_TYPE, at,
                "low and high are black and white of floats: an array of %s has shades of its own",
                kj_type_name((kj_dtype)picture->dtype));
    return kj_run_hint(r, "f32(a) has them between low and high");
}

bool kj_run_show(kj_run *r, kj_rcall *c, kj_rvalue *out)
{
    kj_save_request q = {.ctx = r->ctx, .path = "", .n = 1, .low = 0, .high = 1};
    kjit_named_array named = {0};
    const char *path = NULL;
    kj_rvalue host;
    *out = kj_run_none();
    if (!kj_run_arg_array(r, c, IMAGE, &named.array) ||
        (c->given[LOW] && !kj_run_arg_float(r, c, LOW, &q.low)) ||
        (c->given[HIGH] && !kj_run_arg_float(r, c, HIGH, &q.high)) ||
        (c->given[IMAGE_FILE] &&
         (!kj_run_may_use_files(r, c->span) || !kj_run_arg_text(r, c, IMAGE_FILE, &path))))
        return false;
    for (int i = LOW; i <= HIGH; i++)
        if (c->given[i] && !kj_run_check_shades(r, c->spans[i], named.array))
            return false;
    if (path) {
        kjit_save_options how = {.low = q.low, .high = q.high};
        return kj_run_check(r, kjit_arrays_save(r->ctx, path, &named, 1, &how), c->span);
    }
    if (!kj_run_on_host(r, c->spans[IMAGE], c->args[IMAGE], &host))
        return false;
    named.array = host.u.object->u.array;
    q.arrays = &named;
    bool ok = show_text(r, c, &q);
    kj_run_drop(&host);
    return ok;
}
