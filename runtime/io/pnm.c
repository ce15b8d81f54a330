/* Netpbm's portable maps: PGM and PPM (P2, P3, P5, P6), PBM that is read (P1, P4), and PFM of floats. A header of
 * words, then rows of numbers, as bytes or as words. */
#include <stdlib.h>
#include <string.h>

#include "io/npy.h"
#include "io/picture.h"

typedef struct reader {
    const kj_load_request *q;
    const char *at, *end;
    const char *kind; /* "PNM", "PFM" */
} reader;

typedef struct header {
    char form; /* '1' to '6' */
    int64_t width, height, most;
} header;

static kjit_status bad(const reader *r, const char *what)
{
    return kj_fail(r->q->ctx, KJIT_FORMAT, "cannot read '%s' as %s: %s", r->q->path, r->kind, what);
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static void skip_space(reader *r)
{
    while (r->at < r->end && (is_blank(*r->at) || *r->at == '#')) {
        if (*r->at == '#')
            while (r->at < r->end && *r->at != '\n')
                r->at++;
        else
            r->at++;
    }
}

static bool take_number(reader *r, int64_t most, int64_t *out)
{
    int64_t n = 0;
    skip_space(r);
    const char *start = r->at;
    for (; r->at < r->end && kj_is_digit(*r->at) && n <= most; r->at++)
        n = n * 10 + (*r->at - '0');
    *out = n;
    return r->at > start && n <= most;
}

static kjit_status take_header(reader *r, header *h)
{
    if (r->end - r->at < 3 || r->at[0] != 'P' || r->at[1] < '1' || r->at[1] > '6')
        return bad(r, "it does not begin with P1 to P6");
    h->form = r->at[1];
    r->at += 2;
    h->most = 1;
    if (!take_number(r, INT32_MAX, &h->width) || !take_number(r, INT32_MAX, &h->height) ||
        ((h->form != '1' && h->form != '4') && !take_number(r, UINT16_MAX, &h->most)))
        return bad(r, "its width, height and largest value are not three numbers");
    if (h->width == 0 || h->height == 0 || h->most == 0)
        return bad(r, "a width, height or largest value is 0");
    if (h->form >= '4' && r->at++ >= r->end) /* one blank, whatever comes then */
        return bad(r, "it ends in its header");
    return KJIT_OK;
}

/* The next number of a row; `bit` counts in a row of bits. */
static bool take_sample(reader *r, const header *h, int64_t bit, int64_t *out)
{
    if (h->form == '1') { /* digits need not be apart */
        skip_space(r);
        *out = r->at < r->end && *r->at == '0'; /* 1 is black */
        return r->at < r->end && (*r->at == '0' || *r->at == '1') && r->at++;
    }
    if (h->form < '4')
        return take_number(r, h->most, out);
    int bytes = h->form != '4' && h->most > UINT8_MAX ? 2 : 1;
    if (r->end - r->at < bytes)
        return false;
    *out = (unsigned char)r->at[0];
    if (bytes == 2)
        *out = *out << 8 | (unsigned char)r->at[1];
    if (h->form == '4')
        *out = !(*out >> (7 - bit % 8) & 1);
    r->at += h->form == '4' ? bit % 8 == 7 || bit + 1 == h->width : bytes;
    return *out <= h->most;
}

static kjit_status take_samples(reader *r, const header *h, kjit_array *a)
{
    int64_t full = a->dtype == KJIT_U16 ? UINT16_MAX : UINT8_MAX, v, row = a->size / h->height;
    for (int64_t i = 0; i < a->size; i++) {
        if (!take_sample(r, h, i % row, &v))
            return bad(r, r->at == r->end ? "it ends before its last pixel"
                                          : "a pixel is no number up to the largest value");
        v = (v * full + h->most / 2) / h->most;
        kj_value_write(a->data, i, kj_int((kj_dtype)a->dtype, v));
    }
    return KJIT_OK;
}

static kjit_status read_pnm(reader *r, kjit_array **out)
{
    header h;
    kjit_array *a;
    kjit_status status = take_header(r, &h);
    if (status != KJIT_OK)
        return status;
    int channels = h.form == '3' || h.form == '6' ? 3 : 1;
    if (h.height > (r->end - r->at) * 8 / h.width / channels) /* before memory is taken */
        return bad(r, "it ends before its last pixel");
    status =
        kj_picture_new(r->q->ctx, h.most > UINT8_MAX ? 16 : 8, h.height, h.width, channels, &a);
    if (status != KJIT_OK)
        return status;
    status = take_samples(r, &h, a);
    if (status == KJIT_OK)
        *out = a;
    else
        kjit_array_free(a);
    return status;
}

static kjit_status read_all(const kj_load_request *q, const char *kind,
                            kjit_status (*take)(reader *r, kjit_array **out), kjit_array **out)
{
    char *text;
    size_t size;
    kjit_status status = kj_file_get(q->ctx, q->path, &text, &size);
    if (status != KJIT_OK)
        return status;
    reader r = {.q = q, .at = text, .end = text + size, .kind = kind};
    status = take(&r, out);
    free(text);
    return status;
}

kjit_status kj_pnm_load(const kj_load_request *q, kjit_array **out)
{
    return read_all(q, "PNM", read_pnm, out);
}

/* What follows the header, as the file has it. */
static kjit_status write_all(const kj_save_request *q, const kj_text *head,
                             const kjit_array *pixels)
{
    kj_out_file file;
    kjit_status status =
        head->failed ? kj_no_memory(q->ctx) : kj_file_begin(q->ctx, q->path, &file);
    if (status != KJIT_OK)
        return status;
    status = kj_file_write(q->ctx, &file, head->data, head->size);
    if (status == KJIT_OK)
        status = kj_file_write(q->ctx, &file, pixels->data,
                               (size_t)pixels->size * kj_array_elem(pixels));
    if (status == KJIT_OK)
        return kj_file_commit(q->ctx, &file);
    kj_file_abandon(&file);
    return status;
}

/* In the order of the bytes of a file; not what the program has. */
static kjit_status swapped(const kj_save_request *q, kjit_array **pixels)
{
    kjit_array *own;
    if ((*pixels)->dtype != KJIT_U16 || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
        return KJIT_OK;
    kjit_status status = kj_picture_new(q->ctx, 16, (*pixels)->shape[0], (*pixels)->shape[1],
                                        kj_picture_channels(*pixels), &own);
    if (status != KJIT_OK)
        return status;
    memcpy(own->data, (*pixels)->data, (size_t)own->size * 2);
    kj_npy_swap(own->data, own->size, 2);
    kjit_array_free(*pixels);
    *pixels = own;
    return KJIT_OK;
}

kjit_status kj_pnm_save(const kj_save_request *q)
{
    bool grey = kj_ends_with(q->path, ".pgm"), colour = kj_ends_with(q->path, ".ppm");
    kjit_array *pixels;
    kjit_status status = kj_picture_of(q,
                                       grey     ? "PGM"
                                       : colour ? "PPM"
                                                : "PNM",
                                       (colour ? 0 : 1 << 1) | (grey ? 0 : 1 << 3), &pixels);
    if (status != KJIT_OK)
        return status;
    kj_text head = {0};
    kj_text_printf(&head, "P%c\n%lld %lld\n%d\n", kj_picture_channels(pixels) == 1 ? '5' : '6',
                   (long long)pixels->shape[1], (long long)pixels->shape[0],
                   pixels->dtype == KJIT_U16 ? UINT16_MAX : UINT8_MAX);
    status = swapped(q, &pixels);
    if (status == KJIT_OK)
        status = write_all(q, &head, pixels);
    kj_text_free(&head);
    kjit_array_free(pixels);
    return status;
}

/* ---- PFM: f32, the last row first; a negative scale says that low bytes are first ---- */

static kjit_status read_pfm(reader *r, kjit_array **out)
{
    header h;
    char *behind;
    if (r->end - r->at < 3 || r->at[0] != 'P' || kj_to_lower(r->at[1]) != 'f')
        return bad(r, "it does not begin with Pf or PF");
    int channels = r->at[1] == 'F' ? 3 : 1;
    r->at += 2;
    if (!take_number(r, INT32_MAX, &h.width) || !take_number(r, INT32_MAX, &h.height))
        return bad(r, "its width and height are not two numbers");
    skip_space(r);
    double scale = kj_strtod(r->at, &behind); /* the file's text ends with NUL */
    if (behind == r->at || scale == 0 || h.width == 0 || h.height == 0)
        return bad(r, "a width, height or scale is 0, or missing");
    r->at = behind + 1;
    int64_t row = h.width * channels, have = r->end > r->at ? (r->end - r->at) / 4 : 0;
    if (h.height > have / row)
        return bad(r, "it ends before its last pixel");
    int64_t shape[3] = {h.height, h.width, 3};
    kjit_status status =
        kjit_array_create(r->q->ctx, KJIT_F32, channels == 1 ? 2 : 3, shape, 'C', KJIT_HOST, out);
    if (status != KJIT_OK)
        return status;
    for (int64_t i = 0; i < h.height; i++)
        memcpy((*out)->data + (h.height - 1 - i) * row * 4, r->at + i * row * 4, (size_t)row * 4);
    if ((scale > 0) == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__))
        kj_npy_swap((*out)->data, (*out)->size, 4);
    return KJIT_OK;
}

kjit_status kj_pfm_load(const kj_load_request *q, kjit_array **out)
{
    return read_all(q, "PFM", read_pfm, out);
}

kjit_status kj_pfm_save(const kj_save_request *q)
{
    kjit_array *a = q->arrays[0].array, *turned, *from;
    char shape[KJ_SHAPE_TEXT];
    if (a->dtype != KJIT_F32 || !(a->ndim == 2 || (a->ndim == 3 && a->shape[2] == 3)) ||
        a->size == 0)
        return kj_fail(q->ctx, KJIT_TYPE,
                       "cannot save %s of shape %s as PFM: it has f32 (h, w) or (h, w, 3)",
                       kj_dtype_name(q->ctx, a->dtype), kj_shape_text(a->ndim, a->shape, shape));
    const int64_t none[3] = {a->shape[0] - 1, 0, 0}, stop[3] = {-1, a->shape[1], 3},
                  step[3] = {-1, 1, 1};
    kjit_status status =
        kjit_array_create(q->ctx, KJIT_F32, a->ndim, a->shape, 'C', KJIT_HOST, &turned);
    if (status != KJIT_OK)
        return status;
    kj_text head = {0};
    kj_text_printf(&head, "P%c\n%lld %lld\n%s\n", a->ndim == 2 ? 'f' : 'F', (long long)a->shape[1],
                   (long long)a->shape[0],
                   __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "-1.0" : "1.0");
    status = kjit_array_slice(a, none, stop, step, &from);
    if (status == KJIT_OK) {
        status = kjit_copy(turned, from, NULL);
        kjit_array_free(from);
    }
    if (status == KJIT_OK)
        status = write_all(q, &head, turned);
    kj_text_free(&head);
    kjit_array_free(turned);
    return status;
}
