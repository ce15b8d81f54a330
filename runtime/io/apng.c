/* Animations as APNG: a PNG of the first picture, with chunks for the others. Each picture is encoded as a PNG of its own,
 * whose IDAT chunks become the animation's. */
#include <math.h>
#include <string.h>
#include <zlib.h>

#include "io/picture.h"

enum { SIGNATURE = 8, AROUND = 12, HEADER = 13, USUAL_FPS = 25, MOST_SHORT = 65535 };

typedef struct animation {
    const kj_save_request *q;
    kj_out_file *file;
    int64_t n, height, width;
    double fps;
    uint32_t sequence; /* of fcTL and fdAT chunks */
} animation;

static void put_32(unsigned char *to, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        to[i] = (unsigned char)(v >> (24 - 8 * i));
}

static uint32_t get_32(const char *from)
{
    const unsigned char *b = (const unsigned char *)from;
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

/* A chunk of two pieces of data, one behind the other. */
static kjit_status put_chunk(animation *a, const char type[5], const void *first, size_t nfirst,
                             const void *second, size_t nsecond)
{
    unsigned char begin[8], end[4];
    put_32(begin, (uint32_t)(nfirst + nsecond));
    memcpy(begin + 4, type, 4);
    uLong crc = crc32(0, begin + 4, 4);
    crc = crc32(crc, first, (uInt)nfirst);
    if (nsecond > 0)
        crc = crc32(crc, second, (uInt)nsecond);
    put_32(end, (uint32_t)crc);
    kjit_context *ctx = a->q->ctx;
    kjit_status status = kj_file_write(ctx, a->file, begin, sizeof begin);
    if (status == KJIT_OK && nfirst > 0)
        status = kj_file_write(ctx, a->file, first, nfirst);
    if (status == KJIT_OK && nsecond > 0)
        status = kj_file_write(ctx, a->file, second, nsecond);
    return status == KJIT_OK ? kj_file_write(ctx, a->file, end, sizeof end) : status;
}

/* How long a picture stays, as a fraction of a second. */
static void put_delay(unsigned char to[4], double fps)
{
    bool whole = fps == floor(fps) && fps <= MOST_SHORT;
    double thousandths = floor(1000 / fps + 0.5);
    uint32_t over = whole                      ? 1
                    : thousandths < 1          ? 1
                    : thousandths > MOST_SHORT ? MOST_SHORT
                                               : (uint32_t)thousandths;
    uint32_t under = whole ? (uint32_t)fps : 1000;
    put_32(to, over << 16 | under);
}

static kjit_status put_control(animation *a)
{
    unsigned char data[26] = {0};
    put_32(data, a->sequence++);
    put_32(data + 4, (uint32_t)a->width);
    put_32(data + 8, (uint32_t)a->height);
    put_delay(data + 20, a->fps);
    return put_chunk(a, "fcTL", data, sizeof data, NULL, 0);
}

/* What comes before the first picture: the PNG's signature and IHDR, and how many pictures there are. */
static kjit_status put_head(animation *a, const kj_text *png)
{
    unsigned char data[8] = {0};
    put_32(data, (uint32_t)a->n);
    kjit_status status = kj_file_write(a->q->ctx, a->file, png->data, SIGNATURE + AROUND + HEADER);
    return status == KJIT_OK ? put_chunk(a, "acTL", data, sizeof data, NULL, 0) : status;
}

static kjit_status put_pixels(animation *a, const char *data, size_t size, bool first)
{
    unsigned char sequence[4];
    if (first)
        return put_chunk(a, "IDAT", data, size, NULL, 0);
    put_32(sequence, a->sequence++);
    return put_chunk(a, "fdAT", sequence, sizeof sequence, data, size);
}

static kjit_status put_picture(animation *a, const kj_text *png, bool first)
{
    kjit_status status = first ? put_head(a, png) : KJIT_OK;
    if (status == KJIT_OK)
        status = put_control(a);
    for (size_t at = SIGNATURE; at + AROUND <= png->size && status == KJIT_OK;) {
        uint32_t size = get_32(png->data + at);
        if (memcmp(png->data + at + 4, "IDAT", 4) == 0)
            status = put_pixels(a, png->data + at + 8, size, first);
        at += AROUND + size;
    }
    return status;
}

static kjit_status put_nth(animation *a, int64_t i)
{
    kjit_array *all = a->q->arrays[0].array, *view, *pixels;
    kjit_status status = kj_array_view(all, all->data + i * all->strides[0], all->dtype,
                                       all->ndim - 1, all->shape + 1, all->strides + 1, &view);
    if (status != KJIT_OK)
        return status;
    kjit_named_array named = {.array = view};
    kj_save_request one = *a->q;
    one.arrays = &named;
    kj_text png = {0};
    status = kj_picture_of(&one, "a picture of APNG", 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4, &pixels);
    if (status == KJIT_OK) {
        status = kj_png_encode(pixels, a->q->path, &png);
        kjit_array_free(pixels);
    }
    if (status == KJIT_OK)
        status = put_picture(a, &png, i == 0);
    kj_text_free(&png);
    kjit_array_free(view);
    return status;
}

kjit_status kj_apng_rate_fits(kjit_context *ctx, double fps)
{
    enum { MOST_SECONDS = 65 };
    if (fps == 0 || (fps >= 1.0 / MOST_SECONDS && fps <= 1000))
        return KJIT_OK;
    return kj_fail(ctx, KJIT_INVALID, "an animation has 1/%d to 1000 pictures a second, not %g",
                   MOST_SECONDS, fps);
}

kjit_status kj_apng_save(const kj_save_request *q)
{
    const kjit_array *all = q->arrays[0].array;
    char shape[KJ_SHAPE_TEXT];
    kj_shape_text(all->ndim, all->shape, shape);
    if (all->ndim < 3 || all->ndim > 4 || all->size == 0 || all->shape[0] > INT32_MAX)
        return kj_fail(q->ctx, KJIT_TYPE,
                       "cannot save shape %s as APNG: pictures one after the other are [n, h, w], "
                       "[n, h, w, 3] or [n, h, w, 4]",
                       shape);
    kj_out_file file;
    kjit_status status = kj_file_begin(q->ctx, q->path, &file);
    if (status != KJIT_OK)
        return status;
    animation a = {.q = q,
                   .file = &file,
                   .n = all->shape[0],
                   .height = all->shape[1],
                   .width = all->shape[2],
                   .fps = q->fps == 0 ? USUAL_FPS : q->fps};
    for (int64_t i = 0; i < a.n && status == KJIT_OK; i++)
        status = put_nth(&a, i);
    if (status == KJIT_OK)
        status = put_chunk(&a, "IEND", "", 0, NULL, 0);
    if (status == KJIT_OK)
        return kj_file_commit(q->ctx, &file);
    kj_file_abandon(&file);
    return status;
}
