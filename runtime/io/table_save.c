/* Tables, written: a column for each array, for each number of a record, or along the last axis. */
#include <stdlib.h>
#include <string.h>

#include "io/file.h"
#include "io/gzip.h"

enum { PIECE = 1 << 20 };

typedef struct writer {
    const kj_save_request *q;
    kj_out_file file;
    kj_text text; /* of .gz all, else what has not been written */
    bool packed;
    char separator;
} writer;

static kjit_status refuse(const kj_save_request *q, const kjit_array *a, const char *why)
{
    char shape[KJ_SHAPE_TEXT];
    return kj_fail(q->ctx, KJIT_TYPE, "cannot save %s of shape %s as a table: %s",
                   kj_dtype_name(q->ctx, a->dtype), kj_shape_text(a->ndim, a->shape, shape), why);
}

static bool is_table_of(const kj_aggregate *of)
{
    for (int i = 0; of && i < of->n; i++) {
        if (kj_is_fixed(of->fields[i].of) || !is_table_of(of->fields[i].of))
            return false;
    }
    return true;
}

/* Does a line of names stand first? */
static bool is_named(const kj_save_request *q)
{
    bool named = false;
    for (int i = 0; i < q->n; i++)
        named |= (q->arrays[i].name && q->arrays[i].array->ndim == 1) ||
                 kj_is_record(q->arrays[i].array->of);
    return named;
}

static kjit_status check(const kj_save_request *q)
{
    const kjit_array *first = q->arrays[0].array;
    for (int i = 0; i < q->n; i++) {
        const kjit_array *a = q->arrays[i].array;
        int most = q->n > 1 || a->of ? 1 : 2;
        if (kj_is_complex_type((kj_dtype)a->dtype) || !is_table_of(a->of))
            return refuse(q, a, "its columns are real numbers, vectors and records of these");
        if (a->ndim == 0 || a->ndim > most)
            return refuse(q, a,
                          most == 2 ? "it has rows and columns" : "such columns are of one axis");
        if (a->shape[0] != first->shape[0])
            return refuse(q, a, "its columns are of one length");
    }
    if ((first->ndim == 2 && first->shape[1] == 0) || (first->shape[0] == 0 && !is_named(q)))
        return refuse(q, first, "no line would tell of it: a .npy file does");
    return KJIT_OK;
}

/* A name, quoted where it could be taken for something else. */
static void put_name(writer *w, const char *name)
{
    bool quotes = false;
    for (const char *c = name; *c; c++)
        quotes |=
            *c == w->separator || *c == '"' || *c == '\n' || *c == '\r' || *c == '#' || *c == ' ';
    if (quotes)
        kj_text_puts(&w->text, "\"");
    for (const char *c = name; *c; c++)
        kj_text_printf(&w->text, *c == '"' ? "%c\"" : "%c", *c);
    if (quotes)
        kj_text_puts(&w->text, "\"");
}

static void put_names(writer *w, const kj_aggregate *of, const char *before, bool *any)
{
    for (int i = 0; i < of->n; i++) {
        char name[160];
        kj_snprintf(name, sizeof name, "%s%s%s", before, *before ? "." : "", of->fields[i].name);
        if (of->fields[i].of) {
            put_names(w, of->fields[i].of, name, any);
            continue;
        }
        kj_text_add(&w->text, &w->separator, *any);
        *any = true;
        put_name(w, name);
    }
}

/* A line of names, if there are any; the fields of one array alone are called as they are. */
static void put_header(writer *w)
{
    const kj_save_request *q = w->q;
    bool any = false, named = is_named(q);
    for (int i = 0; named && i < q->n; i++) {
        const char *name = q->arrays[i].name && q->n > 1 ? q->arrays[i].name : "";
        if (q->arrays[i].array->of) {
            put_names(w, q->arrays[i].array->of, name, &any);
            continue;
        }
        kj_text_add(&w->text, &w->separator, any);
        any = true;
        put_name(w, q->arrays[i].name ? q->arrays[i].name : "");
    }
    if (named)
        kj_text_puts(&w->text, "\n");
}

static void put_value(writer *w, const kj_aggregate *of, kj_dtype type, const char *at, bool *any)
{
    char buf[KJ_SCALAR_TEXT];
    for (int i = 0; of && i < of->n; i++)
        put_value(w, of->fields[i].of, of->fields[i].type, at + of->fields[i].offset, any);
    if (of)
        return;
    kj_text_add(&w->text, &w->separator, *any);
    *any = true;
    kj_text_puts(&w->text, kj_scalar_text((kjit_dtype)type, at, buf));
}

static void put_row(writer *w, int64_t row)
{
    bool any = false;
    for (int i = 0; i < w->q->n; i++) {
        const kjit_array *a = w->q->arrays[i].array;
        const char *at = a->data + row * a->strides[0];
        for (int64_t j = 0; j < (a->ndim == 2 ? a->shape[1] : 1); j++)
            put_value(w, a->of, (kj_dtype)a->dtype, at + (a->ndim == 2 ? j * a->strides[1] : 0),
                      &any);
    }
    kj_text_puts(&w->text, "\n");
}

/* What has come together, if it is enough, or the last. */
static kjit_status flush(writer *w, bool last)
{
    kjit_status status = KJIT_OK;
    if (w->text.failed)
        return kj_no_memory(w->q->ctx);
    if (w->packed ? !last : w->text.size < PIECE && !last)
        return KJIT_OK;
    if (w->packed)
        status = kj_gzip_write(w->q->ctx, &w->file, w->text.data, w->text.size);
    else if (w->text.size > 0)
        status = kj_file_write(w->q->ctx, &w->file, w->text.data, w->text.size);
    w->text.size = 0;
    return status;
}

kjit_status kj_table_save(const kj_save_request *q)
{
    kjit_status status = check(q);
    writer w = {.q = q, .packed = kj_ends_with(q->path, ".gz"), .separator = ','};
    if (kj_ends_with(q->path, w.packed ? ".tsv.gz" : ".tsv"))
        w.separator = '\t';
    if (kj_ends_with(q->path, w.packed ? ".txt.gz" : ".txt"))
        w.separator = ' ';
    if (status == KJIT_OK)
        status = kj_file_begin(q->ctx, q->path, &w.file);
    if (status != KJIT_OK)
        return status;
    put_header(&w);
    for (int64_t row = 0; row < q->arrays[0].array->shape[0] && status == KJIT_OK; row++) {
        put_row(&w, row);
        status = flush(&w, false);
    }
    if (status == KJIT_OK)
        status = flush(&w, true);
    kj_text_free(&w.text);
    if (status == KJIT_OK)
        return kj_file_commit(q->ctx, &w.file);
    kj_file_abandon(&w.file);
    return status;
}
