/* PNG pictures of 8 and 16 bits in and out, by libpng.
 *
 * libpng reports errors by longjmp: each of its calls is made in a small function that sets the
 * landing place and holds nothing but what its caller frees. */
#include <errno.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "io/picture.h"

/* What libpng's callbacks reach. */
typedef struct picture {
    kjit_context *ctx;
    const char *path;
    kj_out_file *file;  /* what is written goes there, or */
    kj_text *text;      /* to the end of this */
    kjit_status status; /* of a callback of ours that failed */
    char message[160];
} picture;

typedef struct pixels {
    uint32_t width, height;
    int channels, depth;
} geometry;

static void on_error(png_structp png, png_const_charp message)
{
    picture *p = png_get_error_ptr(png);
    if (p->status == KJIT_OK)
        kj_snprintf(p->message, sizeof p->message, "%s", message);
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message)
{
    (void)png;
    (void)message;
}

static kjit_status failed(const picture *p, const char *doing)
{
    if (p->status != KJIT_OK)
        return p->status;
    return kj_fail(p->ctx, KJIT_FORMAT, "cannot %s '%s' as PNG: %s", doing, p->path, p->message);
}

/* ---- Reading ---- */

/* libpng has limits of its own, which are less than what a PNG may be. */
static void take_any_size(png_structp png)
{
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
}

/* Rows take memory as soon as they are begun: a file that says more than it can hold gets none.
 * libpng's limits stay where nobody knows how much that is, as of a pipe. */
static void read_header(png_structp png, png_infop info, FILE *file)
{
    enum { MOST_PACKED = 1032 }; /* bytes of a picture in one of zlib's */
    struct stat st;
    bool known = fstat(fileno(file), &st) == 0 && S_ISREG(st.st_mode);
    png_init_io(png, file);
    if (known)
        take_any_size(png);
    png_read_info(png, info);
    uint64_t rows = png_get_image_height(png, info), row = png_get_rowbytes(png, info);
    if (known && row > (uint64_t)st.st_size * MOST_PACKED / rows)
        png_error(png, "the file is too short for its width and height");
}

/* 16 bits in this machine's order. */
static void swap_words(png_structp png)
{
    if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
        png_set_swap(png);
}

/* Grey or RGB of 8 or 16 bits, with alpha where the file has it. False after an error. */
static bool read_info(png_structp png, png_infop info, FILE *file, geometry *made)
{
    if (setjmp(png_jmpbuf(png)))
        return false;
    read_header(png, info, file);
    int type = png_get_color_type(png, info);
    if (type == PNG_COLOR_TYPE_PALETTE)
        png_set_palette_to_rgb(png);
    if (type == PNG_COLOR_TYPE_GRAY)
        png_set_expand_gray_1_2_4_to_8(png);
    if (png_get_valid(png, info, PNG_INFO_tRNS))
        png_set_tRNS_to_alpha(png);
    swap_words(png);
    png_set_interlace_handling(png);
    png_read_update_info(png, info);
    *made = (geometry){.width = png_get_image_width(png, info),
                       .height = png_get_image_height(png, info),
                       .channels = png_get_channels(png, info),
                       .depth = png_get_bit_depth(png, info)};
    return true;
}

static bool read_rows(png_structp png, png_bytepp rows)
{
    if (setjmp(png_jmpbuf(png)))
        return false;
    png_read_image(png, rows);
    png_read_end(png, NULL);
    return true;
}

static kjit_status read_picture(picture *p, png_structp png, png_infop info, FILE *file,
                                kjit_array **out)
{
    geometry is;
    kjit_array *a;
    if (!read_info(png, info, file, &is))
        return failed(p, "read");
    kjit_status status = kj_picture_new(p->ctx, is.depth, is.height, is.width, is.channels, &a);
    if (status != KJIT_OK)
        return status;
    png_bytep *rows = calloc(is.height, sizeof *rows);
    if (!rows) {
        kjit_array_free(a);
        return kj_no_memory(p->ctx);
    }
    for (uint32_t i = 0; i < is.height; i++)
        rows[i] = (png_bytep)a->data + (int64_t)i * a->strides[0];
    bool done = read_rows(png, rows);
    free(rows);
    if (!done) {
        kjit_array_free(a);
        return failed(p, "read");
    }
    *out = a;
    return KJIT_OK;
}

kjit_status kj_png_load(const kj_load_request *q, kjit_array **out)
{
    picture p = {.ctx = q->ctx, .path = q->path};
    FILE *file = fopen(q->path, "rbe");
    if (!file)
        return kj_file_error(q->ctx, "read", q->path);
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &p, on_error, on_warning);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    kjit_status status = info ? read_picture(&p, png, info, file, out) : kj_no_memory(q->ctx);
    png_destroy_read_struct(png ? &png : NULL, info ? &info : NULL, NULL);
    fclose(file);
    return status;
}

/* ---- Writing ---- */

static void on_write(png_structp png, png_bytep data, size_t size)
{
    picture *p = png_get_io_ptr(png);
    if (p->text)
        kj_text_add(p->text, (const char *)data, size);
    else
        p->status = kj_file_write(p->ctx, p->file, data, size);
    if (p->status != KJIT_OK)
        png_error(png, "write");
}

static void on_flush(png_structp png)
{
    (void)png;
}

static bool write_rows(png_structp png, png_infop info, picture *p, const kjit_array *a)
{
    static const int types[] = {0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA,
                                PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA};
    if (setjmp(png_jmpbuf(png)))
        return false;
    png_set_write_fn(png, p, on_write, on_flush);
    take_any_size(png);
    png_set_IHDR(png, info, (png_uint_32)a->shape[1], (png_uint_32)a->shape[0],
                 a->dtype == KJIT_U16 ? 16 : 8, types[kj_picture_channels(a)], PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    if (a->dtype == KJIT_U16)
        swap_words(png);
    for (int64_t i = 0; i < a->shape[0]; i++)
        png_write_row(png, (png_const_bytep)a->data + i * a->strides[0]);
    png_write_end(png, NULL);
    return true;
}

static kjit_status encode(picture *p, const kjit_array *a)
{
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, p, on_error, on_warning);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    kjit_status status = KJIT_OK;
    if (!info)
        status = kj_no_memory(p->ctx);
    else if (!write_rows(png, info, p, a))
        status = failed(p, "write");
    png_destroy_write_struct(png ? &png : NULL, info ? &info : NULL);
    return status;
}

kjit_status kj_png_encode(const kjit_array *pixels, const char *path, kj_text *out)
{
    picture p = {.ctx = pixels->ctx, .path = path, .text = out};
    kjit_status status = encode(&p, pixels);
    return status == KJIT_OK && out->failed ? kj_no_memory(p.ctx) : status;
}

static kjit_status write_picture(const kjit_array *a, const char *path)
{
    kj_out_file file;
    picture p = {.ctx = a->ctx, .path = path, .file = &file};
    kjit_status status = kj_file_begin(a->ctx, path, &file);
    if (status != KJIT_OK)
        return status;
    status = encode(&p, a);
    if (status == KJIT_OK)
        return kj_file_commit(a->ctx, &file);
    kj_file_abandon(&file);
    return status;
}

kjit_status kj_png_save(const kj_save_request *q)
{
    kjit_array *pixels;
    kjit_status status = kj_picture_of(q, "PNG", 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4, &pixels);
    if (status != KJIT_OK)
        return status;
    status = write_picture(pixels, q->path);
    kjit_array_free(pixels);
    return status;
}
