/* An array as NumPy prints it: elements of one width, rows in brackets, long axes cut to their
 * ends.
 *
 * The rules are those of NumPy's default print options: floats with the fewest digits that tell
 * them apart, at most 8 after the point; exponents when a size reaches 1e8 (f32, bf16: 1e6; f16:
 * 1e3), falls below 1e-4 or sizes span more than 1000; over 1000 elements only 3 at each end of an
 * axis; lines of 75. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"

enum { PRECISION = 8, THRESHOLD = 1000, EDGE = 3, LINE = 75, WORD = 128 };

typedef struct printer {
    const kjit_array *a;
    kj_str *out;
    bool summary;
    int width; /* of every word */
    bool exponents;
    int left, right;        /* positional: columns before and after the point */
    int fraction, exponent; /* scientific: digits of each part */
    bool any_finite, any_other, any_neginf;
    double largest, least; /* non-zero finite sizes */
    kj_str line;           /* of a row, being filled */
    size_t skip;           /* columns of it that are written already */
} printer;

static double float_at(const printer *p, const char *at)
{
    return kj_value_read(at, (kj_dtype)p->a->dtype, 0).f;
}

/* ---- The elements that are shown ---- */

static bool cut(const printer *p, int axis)
{
    return p->summary && p->a->shape[axis] > 2 * EDGE;
}

/* Calls visit with each element that will be shown. */
static void each_shown(printer *p, int axis, const char *at,
                       void (*visit)(printer *p, const char *at))
{
    if (axis == p->a->ndim) {
        visit(p, at);
        return;
    }
    int64_t n = p->a->shape[axis];
    for (int64_t i = 0; i < n; i++) {
        if (cut(p, axis) && i == EDGE)
            i = n - EDGE;
        each_shown(p, axis + 1, at + i * p->a->strides[axis], visit);
    }
}

static void most(int *of, int n)
{
    if (n > *of)
        *of = n;
}

static void measure_word(printer *p, const char *at)
{
    char buf[KJ_SCALAR_TEXT];
    most(&p->width, (int)strlen(kj_scalar_text(p->a->dtype, at, buf)));
}

static void measure_range(printer *p, const char *at)
{
    double v = float_at(p, at), size = fabs(v);
    if (!isfinite(v)) {
        p->any_other = true;
        p->any_neginf |= isinf(v) && v < 0;
        return;
    }
    p->any_finite = true;
    if (size == 0)
        return;
    if (p->largest == 0 || size > p->largest)
        p->largest = size;
    if (p->least == 0 || size < p->least)
        p->least = size;
}

static void measure_digits(printer *p, const char *at)
{
    double v = float_at(p, at);
    if (!isfinite(v))
        return;
    kj_decimal d;
    char buf[WORD];
    kj_rounded(v, (kj_dtype)p->a->dtype, PRECISION, !p->exponents, &d);
    if (p->exponents) {
        most(&p->left, 1 + d.negative);
        most(&p->fraction, d.n - 1);
        most(&p->exponent, abs(d.exponent) >= 100 ? 3 : 2);
    } else {
        int len = kj_decimal_positional(&d, buf), whole = (int)strcspn(buf, ".");
        most(&p->left, whole);
        most(&p->right, len - whole - 1);
    }
}

/* Values are compared in their own type, as NumPy does. */
static bool wants_exponents(const printer *p)
{
    if (p->largest == 0)
        return false;
    kj_dtype type = (kj_dtype)p->a->dtype;
    double most = type == KJ_F16 ? 1e3 : type == KJ_F64 ? 1e8 : 1e6;
    kj_value largest = kj_float(type, p->largest), least = kj_float(type, p->least);
    return p->largest >= most || p->least < kj_fold_convert(kj_float(KJ_F64, 1e-4), type).f ||
           kj_fold_binary(KJ_OP_DIV, largest, least).f > 1000;
}

/* Finds the common form of the elements. */
static void measure(printer *p)
{
    kj_dtype type = (kj_dtype)p->a->dtype;
    if (!kj_is_float(type)) {
        each_shown(p, 0, p->a->data, measure_word);
        if (type == KJ_BOOL)
            most(&p->width, 5); /* " True" */
        return;
    }
    each_shown(p, 0, p->a->data, measure_range);
    p->exponents = wants_exponents(p);
    each_shown(p, 0, p->a->data, measure_digits);
    if (p->exponents)
        p->right = p->exponent + 2 + p->fraction; /* "ddde+xx" after the point */
    if (p->any_other) {
        most(&p->left, 3 - (p->right + 1));
        most(&p->left, 3 + p->any_neginf - (p->right + 1));
    }
    p->width = p->left + 1 + p->right;
}

/* ---- Words and rows ---- */

static void put_word(const printer *p, const char *at, char buf[WORD])
{
    char text[WORD];
    double v = kj_is_float((kj_dtype)p->a->dtype) ? float_at(p, at) : NAN;
    if (!isfinite(v)) { /* integers and bools too */
        snprintf(buf, WORD, "%*s", p->width, kj_scalar_text(p->a->dtype, at, text));
        return;
    }
    kj_decimal d;
    if (p->exponents) {
        kj_rounded(v, (kj_dtype)p->a->dtype, p->fraction, false, &d);
        if (d.n <= p->fraction)
            kj_exact(v, p->fraction + 1, &d);
        kj_decimal_scientific(&d, p->fraction, p->exponent, text);
        snprintf(buf, WORD, "%*s", p->width, text);
        return;
    }
    kj_rounded(v, (kj_dtype)p->a->dtype, PRECISION, true, &d);
    int len = kj_decimal_positional(&d, text), whole = (int)strcspn(text, ".");
    memset(buf, ' ', (size_t)p->width);
    memcpy(buf + p->left - whole, text, (size_t)len);
    buf[p->width] = '\0';
}

static void spaces(kj_str *t, int n)
{
    kj_str_printf(t, "%*s", n, "");
}

static void put_line(printer *p)
{
    if (p->line.size > p->skip)
        kj_str_add(p->out, p->line.data + p->skip, p->line.size - p->skip);
    p->line.size = p->skip = 0;
}

/* Adds a word to the line, or first writes the line out where the word would pass the width. */
static void extend(printer *p, const char *word, int width, int indent)
{
    kj_str *line = &p->line;
    if ((int)(line->size + strlen(word)) > width && (int)line->size > indent) {
        while (line->size > 0 && line->data[line->size - 1] == ' ')
            line->size--;
        put_line(p);
        kj_str_puts(p->out, "\n");
        spaces(line, indent);
    }
    kj_str_puts(line, word);
}

/* One row; `indent` columns are already on its first line. */
static void put_row(printer *p, const char *at, int indent, int width)
{
    char word[WORD];
    int64_t n = p->a->shape[p->a->ndim - 1], stride = p->a->strides[p->a->ndim - 1];
    bool first = true;
    spaces(&p->line, indent);
    p->skip = (size_t)indent;
    for (int64_t i = 0; i < n; i++) {
        if (!first)
            kj_str_puts(&p->line, " ");
        if (cut(p, p->a->ndim - 1) && i == EDGE) {
            extend(p, "...", width - 1, indent);
            kj_str_puts(&p->line, " ");
            i = n - EDGE;
        }
        put_word(p, at + i * stride, word);
        extend(p, word, width - 1, indent);
        first = false;
    }
    put_line(p);
}

static void put_axis(printer *p, int axis, const char *at, int indent, int width)
{
    const kjit_array *a = p->a;
    kj_str_puts(p->out, "[");
    if (axis == a->ndim - 1) {
        put_row(p, at, indent, width);
    } else {
        for (int64_t i = 0; i < a->shape[axis]; i++) {
            for (int k = axis; i > 0 && k < a->ndim - 1; k++)
                kj_str_puts(p->out, "\n");
            if (i > 0)
                spaces(p->out, indent);
            if (cut(p, axis) && i == EDGE) {
                kj_str_puts(p->out, "...");
                i = a->shape[axis] - EDGE - 1;
                continue;
            }
            put_axis(p, axis + 1, at + i * a->strides[axis], indent + 1, width - 1);
        }
    }
    kj_str_puts(p->out, "]");
}

static void put_array(const kjit_array *a, kj_str *out)
{
    char buf[KJ_SCALAR_TEXT];
    if (a->size == 0) {
        kj_str_puts(out, "[]");
    } else if (a->ndim == 0) {
        kj_str_puts(out, kj_scalar_text(a->dtype, a->data, buf));
    } else {
        printer p = {.a = a, .out = out, .summary = a->size > THRESHOLD};
        measure(&p);
        put_axis(&p, 0, a->data, 1, LINE);
        out->failed |= p.line.failed;
        kj_str_free(&p.line);
    }
}

kjit_status kjit_array_format(kjit_array *a, char **out)
{
    if (out)
        *out = NULL;
    kjit_status status = a ? kj_enter(a->ctx) : KJIT_INVALID;
    if (status != KJIT_OK)
        return status;
    if (!out)
        return kj_fail(a->ctx, KJIT_INVALID, "out is NULL");
    kjit_array *host;
    status = kj_array_on_host(a, &host);
    if (status == KJIT_OK)
        status = kj_array_numbers(&host);
    if (status != KJIT_OK)
        return status;
    kj_str text = {0};
    put_array(host, &text);
    kjit_array_free(host);
    if (text.failed) {
        kj_str_free(&text);
        return kj_no_memory(a->ctx);
    }
    *out = text.data;
    return KJIT_OK;
}
