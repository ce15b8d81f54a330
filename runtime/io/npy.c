/* NumPy's .npy files: a short text header, then the elements.
 *
 * The reader believes nothing: every number is bounded before it is used, the file's length is
 * compared with what the header promises before memory is taken, and whatever the bytes are the
 * result is an array or a message. The writer gives byte for byte what numpy.save gives. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/npy.h"

enum { PREAMBLE = 12, MAX_HEADER = 1 << 20, PACK = 1 << 20, GROWTH_DIGITS = 21 };

static const char magic[] = "\x93NUMPY";

typedef struct header {
    kjit_dtype dtype;
    bool swapped, fortran;
    int ndim;
    int64_t shape[KJIT_MAX_NDIM];
    kj_npy_records records; /* of: the record that is wanted, or NULL */
} header;

/* ---- The header: a Python dict of a string, a bool and a tuple of integers ---- */

kjit_status kj_npy_bad(const kj_npy_reader *r, const char *what)
{
    return kj_fail(r->ctx, KJIT_FORMAT, "'%s' is not a readable .npy file: %s", r->path, what);
}

static void skip_space(kj_npy_reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\n' || *r->at == '\t' || *r->at == '\r'))
        r->at++;
}

bool kj_npy_take(kj_npy_reader *r, char c)
{
    skip_space(r);
    if (r->at == r->end || *r->at != c)
        return false;
    r->at++;
    return true;
}

static bool take_word(kj_npy_reader *r, const char *word)
{
    skip_space(r);
    size_t n = strlen(word);
    if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n) != 0)
        return false;
    r->at += n;
    return true;
}

bool kj_npy_take_string(kj_npy_reader *r, char *buf, size_t size)
{
    skip_space(r);
    if (r->at == r->end || (*r->at != '\'' && *r->at != '"'))
        return false;
    char quote = *r->at++;
    size_t n = 0;
    for (; r->at < r->end && *r->at != quote; r->at++) {
        if (n + 1 >= size || *r->at < ' ' || *r->at > '~' || *r->at == '\\')
            return false;
        buf[n++] = *r->at;
    }
    buf[n] = '\0';
    return r->at++ < r->end;
}

bool kj_npy_take_extent(kj_npy_reader *r, int64_t *out)
{
    skip_space(r);
    const char *start = r->at;
    int64_t n = 0;
    for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++) {
        if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, *r->at - '0', &n))
            return false;
    }
    bool any = r->at > start;
    if (r->at < r->end && *r->at == 'L') /* written by Python 2 */
        r->at++;
    *out = n;
    return any;
}

static kjit_status take_shape(kj_npy_reader *r, header *h)
{
    if (!kj_npy_take(r, '('))
        return kj_npy_bad(r, "the shape is no tuple");
    while (!kj_npy_take(r, ')')) {
        if (h->ndim == KJIT_MAX_NDIM)
            return kj_fail(r->ctx, KJIT_SHAPE, "'%s' has more than %d dimensions", r->path,
                           KJIT_MAX_NDIM);
        if (!kj_npy_take_extent(r, &h->shape[h->ndim++]))
            return kj_npy_bad(r, "the shape holds something else than sizes");
        if (!kj_npy_take(r, ',')) {
            if (!kj_npy_take(r, ')'))
                return kj_npy_bad(r, "the shape is not closed");
            break;
        }
    }
    return KJIT_OK;
}

/* c64 and c128 there. */
static const char *const complex_names[] = {"c8", "c16"};

bool kj_npy_scalar(const char *descr, kj_dtype *out, bool *swapped)
{
    char order = descr[0];
    const char *type = strchr("<>|=", order) && order ? descr + 1 : descr;
    for (int i = 0; i < (int)KJ_NTYPES; i++) {
        if (strcmp(type, kj_types[i].npy) != 0)
            continue;
        *out = (kj_dtype)i;
        *swapped = order == '>' && kj_types[i].size > 1;
        return true;
    }
    for (int i = 0; i < 2; i++) {
        if (strcmp(type, complex_names[i]) != 0)
            continue;
        *out = kj_complex_of(i ? KJ_F64 : KJ_F32)->type;
        *swapped = order == '>';
        return true;
    }
    return false;
}

static kjit_status take_list(kj_npy_reader *r, header *h)
{
    if (!h->records.of)
        return kj_fail(r->ctx, KJIT_TYPE,
                       "'%s' holds records: say of which type, as in load(\"%s\", Particle), of a "
                       "param as in x: Particle[]",
                       r->path, r->path);
    h->dtype = (kjit_dtype)h->records.of->type;
    return kj_npy_take_records(r, &h->records);
}

static kjit_status take_dtype(kj_npy_reader *r, header *h)
{
    char descr[32];
    kj_dtype type;
    if (kj_npy_take(r, '['))
        return take_list(r, h);
    if (!kj_npy_take_string(r, descr, sizeof descr))
        return kj_npy_bad(r, "the element type is no string");
    if (!kj_npy_scalar(descr, &type, &h->swapped))
        return kj_fail(r->ctx, KJIT_TYPE,
                       "'%s' has elements of NumPy's type '%s', which kjit does not have", r->path,
                       descr);
    h->dtype = (kjit_dtype)type;
    if (!h->records.of)
        return KJIT_OK;
    return kj_fail(r->ctx, KJIT_TYPE, "'%s' has elements of %s, not records", r->path,
                   kj_type_name(type));
}

static kjit_status take_header(kj_npy_reader *r, header *h)
{
    bool descr = false, order = false, shape = false;
    char key[32];
    kjit_status status = KJIT_OK;
    if (!kj_npy_take(r, '{'))
        return kj_npy_bad(r, "the header is no dict");
    while (!kj_npy_take(r, '}')) {
        if (!kj_npy_take_string(r, key, sizeof key) || !kj_npy_take(r, ':'))
            return kj_npy_bad(r, "the header is no dict");
        if (strcmp(key, "descr") == 0 && !descr) {
            status = take_dtype(r, h);
            descr = true;
        } else if (strcmp(key, "fortran_order") == 0 && !order) {
            h->fortran = take_word(r, "True");
            order = true;
            if (!h->fortran && !take_word(r, "False"))
                return kj_npy_bad(r, "fortran_order is neither True nor False");
        } else if (strcmp(key, "shape") == 0 && !shape) {
            status = take_shape(r, h);
            shape = true;
        } else {
            return kj_npy_bad(r, "the header has an unknown or a repeated key");
        }
        if (status != KJIT_OK)
            return status;
        if (!kj_npy_take(r, ',')) {
            if (!kj_npy_take(r, '}'))
                return kj_npy_bad(r, "the header is not closed");
            break;
        }
    }
    return descr && order && shape ? KJIT_OK : kj_npy_bad(r, "the header lacks a key");
}

static uint32_t little(const unsigned char *bytes, int n)
{
    uint32_t v = 0;
    for (int i = n - 1; i >= 0; i--)
        v = v << 8 | bytes[i];
    return v;
}

static kjit_status of_no_kind(kjit_context *ctx, const char *path)
{
    const char *text = kj_table_format(path);
    return kj_fail(ctx, KJIT_FORMAT,
                   "'%s' is no .npy file, and no other file of arrays has its ending; %s it is "
                   "read by format=\"%s\"",
                   path, text ? "as the table of numbers that it looks like" : "as raw bytes",
                   text ? text : "raw");
}

/* Reads up to where the elements begin. */
static kjit_status read_header(kjit_context *ctx, const char *path, int fd, header *h)
{
    unsigned char start[PREAMBLE];
    kj_npy_reader r = {.ctx = ctx, .path = path};
    int64_t got = kj_file_read(fd, start, 10);
    if (got < 0)
        return kj_file_error(ctx, "read", path);
    if (got < 10 || memcmp(start, magic, 6) != 0)
        return kj_ends_with(path, ".npy") ? kj_npy_bad(&r, "it does not begin as one")
                                          : of_no_kind(ctx, path);
    int major = start[6];
    if (major < 1 || major > 3)
        return kj_npy_bad(&r, "its version is unknown");
    uint32_t length = little(start + 8, 2);
    if (major > 1) {
        if (kj_file_read(fd, start + 10, 2) != 2)
            return kj_npy_bad(&r, "it is truncated");
        length = little(start + 8, 4);
    }
    if (length > MAX_HEADER)
        return kj_npy_bad(&r, "its header is too long");
    char *text = malloc(length ? length : 1);
    if (!text)
        return kj_no_memory(ctx);
    got = kj_file_read(fd, text, length);
    r.at = text;
    r.end = text + length;
    kjit_status status =
        got == (int64_t)length ? take_header(&r, h) : kj_npy_bad(&r, "it is truncated");
    free(text);
    return status;
}

/* ---- Elements ---- */

#define SWAP(bits) \
    for (int64_t i = 0; i < n; i++) { \
        uint##bits##_t v; \
        memcpy(&v, (char *)data + i * (int64_t)sizeof v, sizeof v); \
        v = __builtin_bswap##bits(v); \
        memcpy((char *)data + i * (int64_t)sizeof v, &v, sizeof v); \
    }

void kj_npy_swap(void *data, int64_t n, size_t size)
{
    switch (size) {
    case 2: SWAP(16) break;
    case 4: SWAP(32) break;
    default: SWAP(64) break;
    }
}

static kjit_status read_elements(kjit_context *ctx, const char *path, int fd, const header *h,
                                 kjit_array **out)
{
    size_t elem = h->records.of ? (size_t)h->records.size : kjit_dtype_size(h->dtype);
    struct stat st;
    int64_t count;
    char shape[KJ_SHAPE_TEXT];
    kj_shape_text(h->ndim, h->shape, shape);
    if (!kj_shape_count(h->ndim, h->shape, elem, &count))
        return kj_fail(ctx, KJIT_FORMAT, "'%s' claims the shape %s, which no file can hold", path,
                       shape);
    int64_t bytes = count * (int64_t)elem, at = lseek(fd, 0, SEEK_CUR);
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && at >= 0 && st.st_size - at < bytes)
        return kj_fail(ctx, KJIT_FORMAT,
                       "'%s' is truncated: its shape %s takes %lld bytes, it has %lld", path, shape,
                       (long long)bytes, (long long)(st.st_size - at));
    kjit_array *a;
    kjit_status status =
        kjit_array_create(ctx, h->dtype, h->ndim, h->shape, h->fortran ? 'F' : 'C', KJIT_HOST, &a);
    if (status != KJIT_OK)
        return status;
    int64_t got = bytes;
    if (h->records.of)
        status = kj_npy_read_records(ctx, path, fd, &h->records, a);
    else
        got = kj_file_read(fd, a->data, (size_t)bytes);
    if (got != bytes)
        status = got < 0 ? kj_file_error(ctx, "read", path)
                         : kj_fail(ctx, KJIT_FORMAT, "'%s' is truncated: %lld of %lld bytes", path,
                                   (long long)got, (long long)bytes);
    if (status != KJIT_OK) {
        kjit_array_free(a);
        return status;
    }
    if (h->swapped)
        kj_npy_swap(a->data, a->of ? a->of->n * count : count,
                    a->of ? elem / (size_t)a->of->n : elem);
    for (int64_t i = 0; h->dtype == KJIT_BOOL && i < count; i++)
        a->data[i] = a->data[i] != 0;
    *out = a;
    return KJIT_OK;
}

kjit_status kj_npy_read(const kj_load_request *q, int fd, kjit_array **out)
{
    header h = {.records.of = kj_is_record(q->of) ? q->of : NULL};
    kjit_status status = read_header(q->ctx, q->path, fd, &h);
    if (status == KJIT_OK)
        status = read_elements(q->ctx, q->path, fd, &h, out);
    kj_npy_records_free(&h.records);
    return status;
}

kjit_status kj_npy_load(const kj_load_request *q, kjit_array **out)
{
    int fd = open(q->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return kj_file_error(q->ctx, "read", q->path);
    kjit_status status = kj_npy_read(q, fd, out);
    close(fd);
    return status;
}

/* ---- Writing ---- */

/* Are the elements written in the order they have in memory, the first axis fastest? (The parts of
 * vectors are an axis, and the last one's stride is the least. Records are always in C order.) */
static bool is_fortran(const kjit_array *a)
{
    return a->layout == KJ_LAYOUT_F && !kj_is_vectors(a) && !kj_is_record(a->of);
}

void kj_npy_put_type(kj_text *t, kj_dtype type)
{
    if (kj_is_complex_type(type))
        kj_text_printf(t, "'<%s'", complex_names[kj_aggregate_of(type)->elem == KJ_F64]);
    else
        kj_text_printf(t, "'%c%s'", kj_types[type].size == 1 ? '|' : '<', kj_types[type].npy);
}

static void write_header(kj_text *t, const kjit_array *a)
{
    bool fortran = is_fortran(a);
    char growing[24] = "";
    kj_text dict = {0};
    kj_text_puts(&dict, "{'descr': ");
    if (kj_is_record(a->of))
        kj_npy_put_record(&dict, a->of);
    else
        kj_npy_put_type(&dict, kj_is_vectors(a) ? a->of->elem : (kj_dtype)a->dtype);
    kj_text_printf(&dict, ", 'fortran_order': %s, 'shape': (", fortran ? "True" : "False");
    int ndim = a->ndim + kj_is_vectors(a);
    for (int i = 0; i < ndim; i++)
        kj_text_printf(&dict,
                       ndim == 1 ? "%lld,"
                       : i       ? ", %lld"
                                 : "%lld",
                       (long long)(i < a->ndim ? a->shape[i] : a->of->n));
    kj_text_puts(&dict, "), }");
    if (a->ndim > 0) { /* NumPy leaves room for the axis that appending makes longer */
        int64_t axis = a->shape[fortran ? a->ndim - 1 : 0];
        int digits = kj_snprintf(growing, sizeof growing, "%lld", (long long)axis);
        kj_text_printf(&dict, "%*s", GROWTH_DIGITS - digits, "");
    }
    size_t start = 10, length = (start + dict.size + 1 + 63) / 64 * 64 - start;
    if (length > UINT16_MAX) { /* version 2 */
        start = 12;
        length = (start + dict.size + 1 + 63) / 64 * 64 - start;
    }
    const char bytes[] = {start == 12 ? 2 : 1,   0,
                          (char)(length & 0xff), (char)(length >> 8 & 0xff),
                          (char)(length >> 16),  0};
    kj_text_add(t, magic, 6);
    kj_text_add(t, bytes, start - 6);
    kj_text_printf(t, "%s%*s\n", dict.data ? dict.data : "", (int)(length - dict.size - 1), "");
    t->failed |= dict.failed;
    kj_text_free(&dict);
}

/* The elements in C order, from axis on, gathered in a piece of memory at a time. */
typedef struct packer {
    kjit_context *ctx;
    kj_out_file *file;
    const kjit_array *a;
    size_t elem, used;
    char *piece;
} packer;

static kjit_status pack(packer *p, int axis, const char *at)
{
    if (axis == p->a->ndim) {
        memcpy(p->piece + p->used, at, p->elem);
        if (kj_is_record(p->a->of))
            kj_npy_zero_gaps(p->a->of, p->piece + p->used);
        p->used += p->elem;
        if (p->used + p->elem <= PACK)
            return KJIT_OK;
        size_t used = p->used;
        p->used = 0;
        return kj_file_write(p->ctx, p->file, p->piece, used);
    }
    kjit_status status = KJIT_OK;
    for (int64_t i = 0; i < p->a->shape[axis] && status == KJIT_OK; i++)
        status = pack(p, axis + 1, at + i * p->a->strides[axis]);
    return status;
}

kjit_status kj_npy_write_packed(kjit_context *ctx, kj_out_file *file, const kjit_array *a)
{
    size_t elem = kj_array_elem(a);
    if (a->size == 0)
        return KJIT_OK;
    if (a->layout == KJ_LAYOUT_C && !kj_is_record(a->of))
        return kj_file_write(ctx, file, a->data, (size_t)a->size * elem);
    packer p = {.ctx = ctx, .file = file, .a = a, .elem = elem, .piece = malloc(PACK)};
    if (!p.piece)
        return kj_no_memory(ctx);
    kjit_status status = pack(&p, 0, a->data);
    if (status == KJIT_OK)
        status = kj_file_write(ctx, file, p.piece, p.used);
    free(p.piece);
    return status;
}

static kjit_status write_elements(kjit_context *ctx, kj_out_file *file, const kjit_array *a)
{
    return is_fortran(a) ? kj_file_write(ctx, file, a->data, (size_t)a->size * kj_array_elem(a))
                         : kj_npy_write_packed(ctx, file, a);
}

kjit_status kj_npy_write(kjit_context *ctx, kj_out_file *file, const kjit_array *a)
{
    kj_text head = {0};
    if (a->ndim + kj_is_vectors(a) > KJIT_MAX_NDIM)
        return kj_fail(ctx, KJIT_SHAPE,
                       "cannot save %s with %d axes: with the vectors' own the file has %d, and at "
                       "most %d are loaded",
                       kj_dtype_name(ctx, a->dtype), a->ndim, a->ndim + 1, KJIT_MAX_NDIM);
    write_header(&head, a);
    kjit_status status =
        head.failed ? kj_no_memory(ctx) : kj_file_write(ctx, file, head.data, head.size);
    kj_text_free(&head);
    return status == KJIT_OK ? write_elements(ctx, file, a) : status;
}

kjit_status kj_npy_save(const kj_save_request *q)
{
    kj_out_file file;
    kjit_status status = kj_file_begin(q->ctx, q->path, &file);
    if (status != KJIT_OK)
        return status;
    status = kj_npy_write(q->ctx, &file, q->arrays[0].array);
    if (status == KJIT_OK)
        return kj_file_commit(q->ctx, &file);
    kj_file_abandon(&file);
    return status;
}
