/* NumPy's .npy files: a short text header, then the elements.
 *
 * The reader believes nothing: every number is bounded before it is used, the file's length is
 * compared with what the header promises before memory is taken, and whatever the bytes are the
 * result is an array or a message. The writer gives byte for byte what numpy.save gives. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime.h"

enum { PREAMBLE = 12, MAX_HEADER = 1 << 16, PACK = 1 << 20, GROWTH_DIGITS = 21 };

static const char magic[] = "\x93NUMPY";

typedef struct header {
    kjit_dtype dtype;
    bool swapped, fortran;
    int ndim;
    int64_t shape[KJIT_MAX_NDIM];
} header;

/* ---- The header: a Python dict of a string, a bool and a tuple of integers ---- */

typedef struct reader {
    kjit_context *ctx;
    const char *path;
    const char *at, *end;
} reader;

static kjit_status bad(const reader *r, const char *what)
{
    return kj_fail(r->ctx, KJIT_FORMAT, "'%s' is not a readable .npy file: %s", r->path, what);
}

static void skip_space(reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\n' || *r->at == '\t' || *r->at == '\r'))
        r->at++;
}

static bool take(reader *r, char c)
{
    skip_space(r);
    if (r->at == r->end || *r->at != c)
        return false;
    r->at++;
    return true;
}

static bool take_word(reader *r, const char *word)
{
    skip_space(r);
    size_t n = strlen(word);
    if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n) != 0)
        return false;
    r->at += n;
    return true;
}

/* A quoted string without escapes into buf. */
static bool take_string(reader *r, char *buf, size_t size)
{
    skip_space(r);
    if (r->at == r->end || (*r->at != '\'' && *r->at != '"'))
        return false;
    char quote = *r->at++;
    size_t n = 0;
    for (; r->at < r->end && *r->at != quote; r->at++) {
        if (n + 1 >= size || !isprint((unsigned char)*r->at) || *r->at == '\\')
            return false;
        buf[n++] = *r->at;
    }
    buf[n] = '\0';
    return r->at++ < r->end;
}

static bool take_extent(reader *r, int64_t *out)
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

static kjit_status take_shape(reader *r, header *h)
{
    if (!take(r, '('))
        return bad(r, "the shape is no tuple");
    while (!take(r, ')')) {
        if (h->ndim == KJIT_MAX_NDIM)
            return kj_fail(r->ctx, KJIT_SHAPE, "'%s' has more than %d dimensions", r->path,
                           KJIT_MAX_NDIM);
        if (!take_extent(r, &h->shape[h->ndim++]))
            return bad(r, "the shape holds something else than sizes");
        if (!take(r, ',')) {
            if (!take(r, ')'))
                return bad(r, "the shape is not closed");
            break;
        }
    }
    return KJIT_OK;
}

/* c64 and c128 there. */
static const char *const complex_names[] = {"c8", "c16"};

static kjit_status take_dtype(reader *r, header *h)
{
    char descr[32];
    if (take(r, '[') || take(r, '('))
        return kj_fail(r->ctx, KJIT_TYPE, "'%s' holds records, which kjit does not read", r->path);
    if (!take_string(r, descr, sizeof descr))
        return bad(r, "the element type is no string");
    char order = descr[0];
    const char *type = strchr("<>|=", order) && order ? descr + 1 : descr;
    for (int i = 0; i < (int)KJ_NTYPES; i++) {
        if (strcmp(type, kj_types[i].npy) != 0)
            continue;
        h->dtype = (kjit_dtype)i;
        h->swapped = order == '>' && kj_types[i].size > 1;
        return KJIT_OK;
    }
    for (int i = 0; i < 2; i++) {
        const kj_aggregate *of = kj_complex_of(i ? KJ_F64 : KJ_F32);
        if (strcmp(type, complex_names[i]) != 0)
            continue;
        h->dtype = (kjit_dtype)of->type;
        h->swapped = order == '>';
        return KJIT_OK;
    }
    return kj_fail(r->ctx, KJIT_TYPE,
                   "'%s' has elements of NumPy's type '%s', which kjit does not have", r->path,
                   descr);
}

static kjit_status take_header(reader *r, header *h)
{
    bool descr = false, order = false, shape = false;
    char key[32];
    kjit_status status = KJIT_OK;
    if (!take(r, '{'))
        return bad(r, "the header is no dict");
    while (!take(r, '}')) {
        if (!take_string(r, key, sizeof key) || !take(r, ':'))
            return bad(r, "the header is no dict");
        if (strcmp(key, "descr") == 0 && !descr) {
            status = take_dtype(r, h);
            descr = true;
        } else if (strcmp(key, "fortran_order") == 0 && !order) {
            h->fortran = take_word(r, "True");
            order = true;
            if (!h->fortran && !take_word(r, "False"))
                return bad(r, "fortran_order is neither True nor False");
        } else if (strcmp(key, "shape") == 0 && !shape) {
            status = take_shape(r, h);
            shape = true;
        } else {
            return bad(r, "the header has an unknown or a repeated key");
        }
        if (status != KJIT_OK)
            return status;
        if (!take(r, ',')) {
            if (!take(r, '}'))
                return bad(r, "the header is not closed");
            break;
        }
    }
    return descr && order && shape ? KJIT_OK : bad(r, "the header lacks a key");
}

static uint32_t little(const unsigned char *bytes, int n)
{
    uint32_t v = 0;
    for (int i = n - 1; i >= 0; i--)
        v = v << 8 | bytes[i];
    return v;
}

/* Reads up to where the elements begin. */
static kjit_status read_header(kjit_context *ctx, const char *path, int fd, header *h)
{
    unsigned char start[PREAMBLE];
    reader r = {.ctx = ctx, .path = path};
    int64_t got = kj_file_read(fd, start, 10);
    if (got < 0)
        return kj_file_error(ctx, "read", path);
    if (got < 10 || memcmp(start, magic, 6) != 0)
        return kj_ends_with(path, ".npy")
                   ? bad(&r, "it does not begin as one")
                   : kj_fail(ctx, KJIT_FORMAT, "'%s' is neither a .npy nor a .png file", path);
    int major = start[6];
    if (major < 1 || major > 3)
        return bad(&r, "its version is unknown");
    uint32_t length = little(start + 8, 2);
    if (major > 1) {
        if (kj_file_read(fd, start + 10, 2) != 2)
            return bad(&r, "it is truncated");
        length = little(start + 8, 4);
    }
    if (length > MAX_HEADER)
        return bad(&r, "its header is too long");
    char *text = malloc(length ? length : 1);
    if (!text)
        return kj_no_memory(ctx);
    got = kj_file_read(fd, text, length);
    r.at = text;
    r.end = text + length;
    kjit_status status = got == (int64_t)length ? take_header(&r, h) : bad(&r, "it is truncated");
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

static void swap_bytes(void *data, int64_t n, size_t size)
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
    size_t elem = kjit_dtype_size(h->dtype);
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
    int64_t got = kj_file_read(fd, a->data, (size_t)bytes);
    if (got != bytes) {
        status = got < 0 ? kj_file_error(ctx, "read", path)
                         : kj_fail(ctx, KJIT_FORMAT, "'%s' is truncated: %lld of %lld bytes", path,
                                   (long long)got, (long long)bytes);
        kjit_array_free(a);
        return status;
    }
    if (h->swapped)
        swap_bytes(a->data, a->of ? a->of->n * count : count,
                   a->of ? elem / (size_t)a->of->n : elem);
    for (int64_t i = 0; h->dtype == KJIT_BOOL && i < count; i++)
        a->data[i] = a->data[i] != 0;
    *out = a;
    return KJIT_OK;
}

kjit_status kj_npy_load(kjit_context *ctx, const char *path, kjit_array **out)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return kj_file_error(ctx, "read", path);
    header h = {0};
    kjit_status status = read_header(ctx, path, fd, &h);
    if (status == KJIT_OK)
        status = read_elements(ctx, path, fd, &h, out);
    close(fd);
    return status;
}

/* ---- Writing ---- */

/* Are the elements written in the order they have in memory, the first axis fastest? (The parts of
 * vectors are an axis, and the last one's stride is the least.) */
static bool is_fortran(const kjit_array *a)
{
    return a->layout == KJ_LAYOUT_F && !kj_is_vectors(a);
}

static void write_header(kj_str *t, const kjit_array *a)
{
    const kj_type_info *type = &kj_types[a->of ? a->of->elem : (kj_dtype)a->dtype];
    bool fortran = is_fortran(a), complex = a->of && a->of->kind == KJ_COMPLEX;
    const char *npy = complex ? complex_names[a->of->elem == KJ_F64] : type->npy;
    char growing[24] = "";
    kj_str dict = {0};
    kj_str_printf(&dict, "{'descr': '%c%s', 'fortran_order': %s, 'shape': (",
                  type->size == 1 ? '|' : '<', npy, fortran ? "True" : "False");
    int ndim = a->ndim + kj_is_vectors(a);
    for (int i = 0; i < ndim; i++)
        kj_str_printf(&dict,
                      ndim == 1 ? "%lld,"
                      : i       ? ", %lld"
                                : "%lld",
                      (long long)(i < a->ndim ? a->shape[i] : a->of->n));
    kj_str_puts(&dict, "), }");
    if (a->ndim > 0) { /* NumPy leaves room for the axis that appending makes longer */
        int64_t axis = a->shape[fortran ? a->ndim - 1 : 0];
        int digits = snprintf(growing, sizeof growing, "%lld", (long long)axis);
        kj_str_printf(&dict, "%*s", GROWTH_DIGITS - digits, "");
    }
    size_t length = (10 + dict.size + 1 + 63) / 64 * 64 - 10;
    kj_str_add(t, magic, 6);
    kj_str_add(t, (const char[]){1, 0, (char)(length & 0xff), (char)(length >> 8)}, 4);
    kj_str_printf(t, "%s%*s\n", dict.data ? dict.data : "", (int)(length - dict.size - 1), "");
    t->failed |= dict.failed;
    kj_str_free(&dict);
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

static kjit_status write_elements(kjit_context *ctx, kj_out_file *file, const kjit_array *a)
{
    size_t elem = kj_array_elem(a);
    if (a->size == 0)
        return KJIT_OK;
    if (a->layout == KJ_LAYOUT_C || is_fortran(a))
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

kjit_status kj_npy_save(kjit_array *a, const char *path)
{
    kjit_context *ctx = a->ctx;
    kj_str head = {0};
    kj_out_file file;
    write_header(&head, a);
    kjit_status status = head.failed ? kj_no_memory(ctx) : kj_file_begin(ctx, path, &file);
    if (status == KJIT_OK) {
        status = kj_file_write(ctx, &file, head.data, head.size);
        if (status == KJIT_OK)
            status = write_elements(ctx, &file, a);
        if (status == KJIT_OK)
            status = kj_file_commit(ctx, &file);
        else
            kj_file_abandon(&file);
    }
    kj_str_free(&head);
    return status;
}
