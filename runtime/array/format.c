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

#include "array/format.h"

enum { PRECISION = 8, THRESHOLD = 1000, EDGE = 3, LINE = 75, WORD = 128 };

/* The form of numbers: of the elements, or of one part of complex ones. */
typedef struct form {
    kjit_dtype dtype;
    int64_t offset; /* bytes, in an element */
    bool plus;      /* a sign always: of imaginary parts */
    int width;      /* of every one */
    bool exponents;
    int left, right;        /* positional: columns before and after the point */
    int fraction, exponent; /* scientific: digits of each part */
    bool any_finite, any_other, any_neginf;
    double largest, least; /* non-zero finite sizes */
} form;

typedef struct printer {
    const kjit_array *a;
    kj_text *out;
    bool summary;
    int cuts; /* axes that a summary cuts */
    form forms[2];
    int nforms;
    kj_text line;        /* of a row, being filled */
    kjit_status stopped; /* by the run block's time */
    size_t skip;         /* columns of it that are written already */
    /* of records: */
    struct printer *fields; /* each of a view of the field */
    int nfields;
    int64_t offset; /* of this field in its record */
} printer;

static double float_at(const form *f, const char *at)
{
    return kj_value_read(at, (kj_dtype)f->dtype, 0).f;
}

/* ---- The elements that are shown ---- */

static bool cut(const printer *p, int axis)
{
    return p->summary && axis < p->cuts && p->a->shape[axis] > 2 * EDGE;
}

/* Calls visit with each element that will be shown, or the part of it. */
static void each_shown(const printer *p, form *f, int axis, const char *at,
                       void (*visit)(form *f, const char *at))
{
    if (axis == p->a->ndim) {
        visit(f, at + f->offset);
        return;
    }
    int64_t n = p->a->shape[axis];
    for (int64_t i = 0; i < n; i++) {
        if (cut(p, axis) && i == EDGE)
            i = n - EDGE;
        each_shown(p, f, axis + 1, at + i * p->a->strides[axis], visit);
    }
}

static void most(int *of, int n)
{
    if (n > *of)
        *of = n;
}

static void measure_word(form *f, const char *at)
{
    char buf[KJ_SCALAR_TEXT];
    most(&f->width, (int)strlen(kj_scalar_text(f->dtype, at, buf)));
}

static void measure_range(form *f, const char *at)
{
    double v = float_at(f, at), size = fabs(v);
    if (!isfinite(v)) {
        f->any_other = true;
        f->any_neginf |= isinf(v) && v < 0;
        return;
    }
    f->any_finite = true;
    if (size == 0)
        return;
    if (f->largest == 0 || size > f->largest)
        f->largest = size;
    if (f->least == 0 || size < f->least)
        f->least = size;
}

static void measure_digits(form *f, const char *at)
{
    double v = float_at(f, at);
    if (!isfinite(v))
        return;
    kj_decimal d;
    char buf[WORD];
    kj_rounded(v, (kj_dtype)f->dtype, PRECISION, !f->exponents, &d);
    int sign = f->plus && !d.negative;
    if (f->exponents) {
        most(&f->left, 1 + d.negative + sign);
        most(&f->fraction, d.n - 1);
        most(&f->exponent, abs(d.exponent) >= 100 ? 3 : 2);
    } else {
        int len = kj_decimal_positional(&d, buf), whole = (int)strcspn(buf, ".");
        most(&f->left, whole + sign);
        most(&f->right, len - whole - 1);
    }
}

/* From which size on an array's numbers are written with exponents. */
static double exponents_from(kj_dtype type)
{
    return type == KJ_F64 ? 1e8 : type == KJ_F16 ? 1e3 : 1e6;
}

/* Values are compared in their own type, as NumPy does. */
static bool wants_exponents(const form *f)
{
    if (f->largest == 0)
        return false;
    kj_dtype type = (kj_dtype)f->dtype;
    kj_value largest = kj_float(type, f->largest), least = kj_float(type, f->least);
    return f->largest >= exponents_from(type) ||
           f->least < kj_fold_convert(kj_float(KJ_F64, 1e-4), type).f ||
           kj_fold_binary(KJ_OP_DIV, largest, least).f > 1000;
}

/* Finds the common form of the elements, or of their part. */
static void measure(const printer *p, form *f)
{
    kj_dtype type = (kj_dtype)f->dtype;
    if (!kj_is_float(type)) {
        each_shown(p, f, 0, p->a->data, measure_word);
        if (type == KJ_BOOL && p->a->ndim > 0)
            most(&f->width, 5); /* " True" */
        return;
    }
    each_shown(p, f, 0, p->a->data, measure_range);
    f->exponents = wants_exponents(f);
    each_shown(p, f, 0, p->a->data, measure_digits);
    if (f->exponents)
        f->right = f->exponent + 2 + f->fraction; /* "ddde+xx" after the point */
    if (f->any_other) {
        most(&f->left, 3 - (f->right + 1));
        most(&f->left, 3 + (f->any_neginf || f->plus) - (f->right + 1));
    }
    f->width = f->left + 1 + f->right;
}

static void measure_all(printer *p)
{
    const kj_aggregate *of = p->a->of;
    p->nforms = of ? of->n : 1;
    for (int i = 0; i < p->nforms; i++) {
        p->forms[i] = (form){.dtype = of ? (kjit_dtype)of->elem : p->a->dtype,
                             .offset = of ? of->fields[i].offset : 0,
                             .plus = i > 0};
        measure(p, &p->forms[i]);
    }
}

/* ---- Words and rows ---- */

static void put_number(const form *f, const char *at, char buf[WORD])
{
    char text[WORD];
    double v = kj_is_float((kj_dtype)f->dtype) ? float_at(f, at) : NAN;
    kj_decimal d;
    if (!isfinite(v)) { /* integers and bools too */
        kj_scalar_text(f->dtype, at, text + 1);
        text[0] = '+';
        kj_snprintf(buf, WORD, "%*s", f->width, text + !(f->plus && text[1] != '-'));
        return;
    }
    text[0] = '+';
    if (f->exponents) {
        kj_rounded(v, (kj_dtype)f->dtype, f->fraction, false, &d);
        if (d.n <= f->fraction)
            kj_exact(v, f->fraction + 1, &d);
        kj_decimal_scientific(&d, f->fraction, f->exponent, text + 1);
        kj_snprintf(buf, WORD, "%*s", f->width, text + !(f->plus && !d.negative));
        return;
    }
    kj_rounded(v, (kj_dtype)f->dtype, PRECISION, true, &d);
    kj_decimal_positional(&d, text + 1);
    const char *shown = text + !(f->plus && !d.negative);
    memset(buf, ' ', (size_t)f->width);
    memcpy(buf + f->left - strcspn(shown, "."), shown, strlen(shown));
    buf[f->width] = '\0';
}

/* The j of an imaginary part stands at its last digit, before the spaces. */
static void put_word(const printer *p, const char *at, char buf[WORD])
{
    char part[WORD];
    put_number(&p->forms[0], at, buf);
    if (p->nforms == 1)
        return;
    put_number(&p->forms[1], at + p->forms[1].offset, part);
    int n = (int)strlen(part), digits = n;
    while (digits > 0 && part[digits - 1] == ' ')
        digits--;
    size_t length = strlen(buf);
    kj_snprintf(buf + length, WORD - length, "%.*sj%*s", digits, part, n - digits, "");
}

/* ---- Records: (1., [0, 2]), each field in a form of its own ---- */

static void put_element(const printer *p, const char *at, kj_text *t);

/* The elements of an array in a record, along its axis `axis`. */
static void put_list(const printer *p, int axis, const char *at, kj_text *t)
{
    if (axis == p->a->ndim) {
        put_element(p, at, t);
        return;
    }
    kj_text_puts(t, "[");
    for (int64_t i = 0; i < p->a->shape[axis]; i++) {
        kj_text_puts(t, i > 0 ? ", " : "");
        put_list(p, axis + 1, at + i * p->a->strides[axis], t);
    }
    kj_text_puts(t, "]");
}

static void put_element(const printer *p, const char *at, kj_text *t)
{
    char word[WORD];
    if (!p->nfields) {
        put_word(p, at, word);
        kj_text_puts(t, word);
        return;
    }
    kj_text_puts(t, "(");
    for (int i = 0; i < p->nfields; i++) {
        kj_text_puts(t, i > 0 ? ", " : "");
        put_list(&p->fields[i], p->a->ndim, at + p->fields[i].offset, t);
    }
    kj_text_puts(t, p->nfields == 1 ? ",)" : ")");
}

static void spaces(kj_text *t, int n)
{
    kj_text_printf(t, "%*s", n, "");
}

static void put_line(printer *p)
{
    if (p->line.size > p->skip)
        kj_text_add(p->out, p->line.data + p->skip, p->line.size - p->skip);
    p->line.size = p->skip = 0;
}

/* Adds a word to the line, or first writes the line out where the word would pass the width. */
static void extend(printer *p, const char *word, int width, int indent)
{
    kj_text *line = &p->line;
    if ((int)(line->size + strlen(word)) > width && (int)line->size > indent) {
        while (line->size > 0 && line->data[line->size - 1] == ' ')
            line->size--;
        put_line(p);
        kj_text_puts(p->out, "\n");
        spaces(line, indent);
    }
    kj_text_puts(line, word);
}

/* Is there time for the row's i-th element? */
static bool goes_on(printer *p, int64_t i)
{
    enum { EACH = 1024 };
    if (i % EACH == 0 && p->stopped == KJIT_OK)
        p->stopped = kj_check_run(p->a->ctx);
    return p->stopped == KJIT_OK;
}

/* One row; `indent` columns are already on its first line. */
static void put_row(printer *p, const char *at, int indent, int width)
{
    int64_t n = p->a->shape[p->a->ndim - 1], stride = p->a->strides[p->a->ndim - 1];
    bool first = true;
    spaces(&p->line, indent);
    p->skip = (size_t)indent;
    for (int64_t i = 0; i < n && goes_on(p, i); i++) {
        if (!first)
            kj_text_puts(&p->line, " ");
        if (cut(p, p->a->ndim - 1) && i == EDGE) {
            extend(p, "...", width - 1, indent);
            kj_text_puts(&p->line, " ");
            i = n - EDGE;
        }
        kj_text word = {0};
        put_element(p, at + i * stride, &word);
        extend(p, word.data ? word.data : "", width - 1, indent);
        p->out->failed |= word.failed;
        kj_text_free(&word);
        first = false;
    }
    put_line(p);
}

static void put_axis(printer *p, int axis, const char *at, int indent, int width)
{
    const kjit_array *a = p->a;
    kj_text_puts(p->out, "[");
    if (axis == a->ndim - 1) {
        put_row(p, at, indent, width);
    } else {
        for (int64_t i = 0; i < a->shape[axis]; i++) {
            for (int k = axis; i > 0 && k < a->ndim - 1; k++)
                kj_text_puts(p->out, "\n");
            if (i > 0)
                spaces(p->out, indent);
            if (cut(p, axis) && i == EDGE) {
                kj_text_puts(p->out, "...");
                i = a->shape[axis] - EDGE - 1;
                continue;
            }
            put_axis(p, axis + 1, at + i * a->strides[axis], indent + 1, width - 1);
        }
    }
    kj_text_puts(p->out, "]");
}

static void free_printer(printer *p)
{
    for (int i = 0; i < p->nfields; i++) {
        kjit_array_free((kjit_array *)(uintptr_t)p->fields[i].a);
        free_printer(&p->fields[i]);
    }
    free(p->fields);
    kj_text_free(&p->line);
}

/* Finds the forms of the elements, and of their fields. */
static kjit_status prepare(printer *p, kjit_array *a, bool summary, int cuts)
{
    p->a = a;
    p->summary = summary;
    p->cuts = cuts;
    if (!kj_is_record(a->of)) {
        measure_all(p);
        return KJIT_OK;
    }
    kjit_status status = KJIT_OK;
    p->fields = calloc((size_t)a->of->n, sizeof *p->fields);
    if (!p->fields)
        return kj_no_memory(a->ctx);
    for (int i = 0; i < a->of->n && status == KJIT_OK; i++) {
        kjit_array *field = NULL;
        printer *own = &p->fields[i];
        status = kjit_array_field(a, a->of->fields[i].name, &field);
        if (status == KJIT_OK)
            status = kj_array_numbers(&field);
        if (status != KJIT_OK)
            break;
        own->offset = a->of->fields[i].offset;
        p->nfields++;
        status = prepare(own, field, summary, cuts);
    }
    return status;
}

static kjit_status put_array(kjit_array *a, bool whole, kj_text *out)
{
    if (a->size == 0) {
        kj_text_puts(out, "[]");
        return KJIT_OK;
    }
    printer p = {.out = out};
    kjit_status status = prepare(&p, a, !whole && a->size > THRESHOLD, a->ndim);
    if (status == KJIT_OK && a->ndim > 0)
        put_axis(&p, 0, a->data, 1, LINE);
    else if (status == KJIT_OK && p.nfields)
        put_element(&p, a->data, out);
    else if (status == KJIT_OK)
        kj_text_puts(out, kj_scalar_text(a->dtype, a->data, (char[KJ_SCALAR_TEXT]){0}));
    out->failed |= p.line.failed;
    status = status == KJIT_OK ? p.stopped : status;
    free_printer(&p);
    return status;
}

kjit_status kj_array_format(kjit_array *a, bool whole, char **out)
{
    kjit_status status = KJ_MAKES(out, kj_enter_array(a), a->ctx);
    if (status != KJIT_OK)
        return status;
    kjit_array *host;
    status = kj_array_on_host(a, &host);
    if (status == KJIT_OK)
        status = kj_array_numbers(&host);
    if (status != KJIT_OK)
        return status;
    kj_text text = {0};
    kj_float_env env = kj_float_enter();
    status = put_array(host, whole, &text);
    kj_float_leave(env);
    kjit_array_free(host);
    if (status != KJIT_OK || text.failed) {
        kj_text_free(&text);
        return status != KJIT_OK ? status : kj_no_memory(a->ctx);
    }
    *out = text.data;
    return KJIT_OK;
}

kjit_status kjit_array_format(kjit_array *a, char **out)
{
    return kj_array_format(a, false, out);
}
