/* Files that are elements alone, as numpy.ndarray.tofile writes them: the caller says of which type, shape and order of
 * bytes. How long the file is bounds the shape, before memory is taken. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/npy.h"

/* A file that is being read: of a regular one the elements are read where they stay, of others there is all. */
typedef struct reader {
    const kj_load_request *q;
    int fd;
    char *text;    /* or NULL: they stay in the file */
    int64_t size;  /* bytes behind the offset */
    int64_t takes; /* those of the shape, with 1 for the axis */
    int64_t shape[KJIT_MAX_NDIM];
    int axis; /* where the shape asked for has -1, or -1 */
    size_t elem;
} reader;

/* Do its elements lie as numbers one behind another, as a file has them? */
static bool is_of_numbers(const kj_aggregate *of)
{
    return !of || (kj_is_uniform(of) && of->size == of->n * kj_types[of->elem].size);
}

static kjit_status no_numbers(kjit_context *ctx, const char *path, kjit_dtype dtype)
{
    return kj_fail(ctx, KJIT_TYPE,
                   "'%s' is a file of raw bytes, which has numbers, not %s: .npy has records", path,
                   kj_dtype_name(ctx, dtype));
}

/* The bytes are less than the shape takes; or with a -1 no multiple of what it takes for one there. */
static kjit_status wrong_size(const reader *r, int64_t takes, bool open)
{
    const kj_load_request *q = r->q;
    char behind[48] = "", shape[KJ_SHAPE_TEXT + 16] = "", text[KJ_SHAPE_TEXT];
    const char *name = kj_dtype_name(q->ctx, (kjit_dtype)q->dtype);
    if (q->offset > 0)
        kj_snprintf(behind, sizeof behind, " behind the first %lld", (long long)q->offset);
    if (!open || q->ndim > 1)
        kj_snprintf(shape, sizeof shape, " of shape %s", kj_shape_text(q->ndim, q->shape, text));
    return kj_fail(q->ctx, KJIT_FORMAT,
                   open ? "'%s' has %lld bytes%s, which is no multiple of the %lld that %s%s takes"
                        : "'%s' has %lld bytes%s, not the %lld that %s%s takes",
                   q->path, (long long)r->size, behind, (long long)takes, name, shape);
}

/* ---- What shape the bytes have ---- */

/* The axis that is -1, or -1 where there is none. */
static kjit_status open_axis(const kj_load_request *q, int *axis)
{
    char text[KJ_SHAPE_TEXT];
    *axis = -1;
    for (int i = 0; i < q->ndim; i++) {
        if (q->shape[i] < -1)
            return kj_fail(q->ctx, KJIT_SHAPE, "%lld is no extent", (long long)q->shape[i]);
        if (q->shape[i] == -1 && *axis >= 0)
            return kj_fail(q->ctx, KJIT_SHAPE, "the shape %s: only one extent may be -1",
                           kj_shape_text(q->ndim, q->shape, text));
        if (q->shape[i] == -1)
            *axis = i;
    }
    return KJIT_OK;
}

/* The bytes its shape takes, with one item where it is -1. */
static kjit_status take_shape(reader *r)
{
    const kj_load_request *q = r->q;
    char text[KJ_SHAPE_TEXT];
    int64_t count;
    kjit_status status = open_axis(q, &r->axis);
    if (status != KJIT_OK)
        return status;
    for (int i = 0; i < q->ndim; i++)
        r->shape[i] = i == r->axis ? 1 : q->shape[i];
    if (!kj_shape_count(q->ndim, r->shape, r->elem, &count))
        return kj_fail(q->ctx, KJIT_SHAPE, "the shape %s is of more than a file can hold",
                       kj_shape_text(q->ndim, q->shape, text));
    r->takes = count * (int64_t)r->elem;
    if (r->axis >= 0 && r->takes == 0)
        return kj_fail(q->ctx, KJIT_SHAPE, "the shape %s: beside an extent of 0 none can be -1",
                       kj_shape_text(q->ndim, q->shape, text));
    return KJIT_OK;
}

/* Does the file have what the shape takes? */
static kjit_status fit_shape(reader *r)
{
    if (r->axis < 0)
        return r->takes <= r->size ? KJIT_OK : wrong_size(r, r->takes, false);
    r->shape[r->axis] = r->size / r->takes;
    return r->size % r->takes == 0 ? KJIT_OK : wrong_size(r, r->takes, true);
}

/* ---- Reading ---- */

/* Opened once: a second opening of a fifo would wait for another writer. Where the shape says how many bytes are
 * wanted, no more of them are taken: /dev/zero never ends. */
static kjit_status begin(reader *r)
{
    const kj_load_request *q = r->q;
    struct stat st;
    size_t size;
    r->fd = open(q->path, O_RDONLY | O_CLOEXEC);
    if (r->fd < 0)
        return kj_file_error(q->ctx, "read", q->path);
    if (fstat(r->fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) { /* /proc has none */
        r->size = st.st_size;
    } else {
        bool bounded = r->axis < 0 && r->takes < INT64_MAX - q->offset;
        kjit_status status = kj_file_get_from(
            q->ctx, r->fd, q->path, bounded ? q->offset + r->takes : INT64_MAX, &r->text, &size);
        if (status != KJIT_OK)
            return status;
        r->size = (int64_t)size;
    }
    if (q->offset > r->size)
        return kj_fail(q->ctx, KJIT_FORMAT, "'%s' has %lld bytes, and the offset is %lld", q->path,
                       (long long)r->size, (long long)q->offset);
    r->size -= q->offset;
    return KJIT_OK;
}

static kjit_status fill(const reader *r, kjit_array *a)
{
    const kj_load_request *q = r->q;
    int64_t bytes = a->size * (int64_t)r->elem, got = bytes;
    if (r->text)
        memcpy(a->data, r->text + q->offset, (size_t)bytes);
    else if (lseek(r->fd, q->offset, SEEK_SET) < 0)
        got = -1;
    else
        got = kj_file_read(r->fd, a->data, (size_t)bytes);
    if (got != bytes) /* it became shorter meanwhile */
        return got < 0 ? kj_file_error(q->ctx, "read", q->path)
                       : kj_fail(q->ctx, KJIT_FORMAT, "'%s' is truncated: %lld of %lld bytes",
                                 q->path, (long long)got, (long long)bytes);
    size_t part = a->of ? kj_types[a->of->elem].size : r->elem;
    if (q->big_endian && part > 1)
        kj_npy_swap(a->data, bytes / (int64_t)part, part);
    for (int64_t i = 0; a->dtype == KJIT_BOOL && i < bytes; i++)
        a->data[i] = a->data[i] != 0;
    return KJIT_OK;
}

static kjit_status read_all(reader *r, kjit_array **out)
{
    kjit_array *a;
    kjit_status status = fit_shape(r);
    if (status == KJIT_OK)
        status = kjit_array_create(r->q->ctx, (kjit_dtype)r->q->dtype, r->q->ndim, r->shape, 'C',
                                   KJIT_HOST, &a);
    if (status != KJIT_OK)
        return status;
    status = fill(r, a);
    if (status == KJIT_OK)
        *out = a;
    else
        kjit_array_free(a);
    return status;
}

/* Text that nothing says is meant as bytes: as numbers of several bytes it would be none that anybody wrote. */
static const char *text_format(const kj_load_request *q)
{
    bool told = q->kind != q->path || kj_ends_with(q->path, ".raw") || q->shape || q->offset != 0 ||
                q->big_endian;
    bool bytes = q->dtype != KJ_VOID && !q->of && kj_types[q->dtype].size == 1;
    return told || bytes ? NULL : kj_table_format(q->path);
}

kjit_status kj_raw_load(const kj_load_request *q, kjit_array **out)
{
    static const int64_t all[] = {-1};
    kj_load_request whole = *q;
    if (!q->shape) {
        whole.shape = all;
        whole.ndim = 1;
    }
    const char *text = text_format(q);
    if (text)
        return kj_fail(q->ctx, KJIT_TYPE,
                       "'%s' is a table of numbers as text, and by its name it would be read as "
                       "raw bytes: format=\"%s\" reads the numbers",
                       q->path, text);
    if (q->dtype == KJ_VOID)
        return kj_fail(q->ctx, KJIT_TYPE,
                       "'%s' is a file of raw bytes, which do not say of what type they are",
                       q->path);
    if (!is_of_numbers(q->of))
        return no_numbers(q->ctx, q->path, (kjit_dtype)q->dtype);
    reader r = {.q = &whole, .fd = -1, .elem = kjit_dtype_size((kjit_dtype)q->dtype)};
    if (q->of)
        r.elem = (size_t)q->of->size;
    kjit_status status = take_shape(&r);
    if (status == KJIT_OK)
        status = begin(&r);
    if (status == KJIT_OK)
        status = read_all(&r, out);
    if (r.fd >= 0)
        close(r.fd);
    free(r.text);
    return status;
}

/* ---- Writing ---- */

kjit_status kj_raw_save(const kj_save_request *q)
{
    const kjit_array *a = q->arrays[0].array;
    kj_out_file file;
    if (!is_of_numbers(a->of))
        return no_numbers(q->ctx, q->path, a->dtype);
    kjit_status status = kj_file_begin(q->ctx, q->path, &file);
    if (status != KJIT_OK)
        return status;
    status = kj_npy_write_packed(q->ctx, &file, a);
    if (status == KJIT_OK)
        return kj_file_commit(q->ctx, &file);
    kj_file_abandon(&file);
    return status;
}
