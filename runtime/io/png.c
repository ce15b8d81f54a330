/* PNG pictures: 8-bit grey [h, w] and RGB [h, w, 3] in and out, by libpng.
 *
 * libpng reports errors by longjmp: each of its calls is made in a small function that sets the
 * landing place and holds nothing but what its caller frees. */
#include <errno.h>
#include <math.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "io/file.h"

/* What libpng's callbacks reach. */
typedef struct picture {
    kjit_context *ctx;
    const char *path;
    kj_out_file *file;
    kjit_status status; /* of a callback of ours that failed */
    char message[160];
} picture;

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

/* Everything becomes 8-bit grey or RGB. False after an error. */
static bool read_info(png_structp png, png_infop info, FILE *file, uint32_t *width,
                      uint32_t *height, int *channels)
{
    if (setjmp(png_jmpbuf(png)))
        return false;
    read_header(png, info, file);
    int type = png_get_color_type(png, info);
    if (type == PNG_COLOR_TYPE_PALETTE)
        png_set_palette_to_rgb(png);
    if (type == PNG_COLOR_TYPE_GRAY)
        png_set_expand_gray_1_2_4_to_8(png);
    png_set_scale_16(png);
    png_set_strip_alpha(png);
    png_set_interlace_handling(png);
    png_read_update_info(png, info);
    *width = png_get_image_width(png, info);
    *height = png_get_image_height(png, info);
    *channels = png_get_channels(png, info);
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
    uint32_t width, height;
    int channels;
    kjit_array *a;
    if (!read_info(png, info, file, &width, &height, &channels))
        return failed(p, "read");
    int64_t shape[3] = {height, width, channels};
    kjit_status status =
        kjit_array_create(p->ctx, KJIT_U8, channels == 1 ? 2 : 3, shape, 'C', KJIT_HOST, &a);
    if (status != KJIT_OK)
        return status;
    png_bytep *rows = calloc(height, sizeof *rows);
    if (!rows) {
        kjit_array_free(a);
        return kj_no_memory(p->ctx);
    }
    for (uint32_t i = 0; i < height; i++)
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

kjit_status kj_png_load(kjit_context *ctx, const char *path, kjit_array **out)
{
    picture p = {.ctx = ctx, .path = path};
    FILE *file = fopen(path, "rbe");
    if (!file)
        return kj_file_error(ctx, "read", path);
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &p, on_error, on_warning);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    kjit_status status = info ? read_picture(&p, png, info, file, out) : kj_no_memory(ctx);
    png_destroy_read_struct(png ? &png : NULL, info ? &info : NULL, NULL);
    fclose(file);
    return status;
}

/* ---- Writing ---- */

static void on_write(png_structp png, png_bytep data, size_t size)
{
    picture *p = png_get_io_ptr(png);
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
    if (setjmp(png_jmpbuf(png)))
        return false;
    png_set_write_fn(png, p, on_write, on_flush);
    take_any_size(png);
    png_set_IHDR(png, info, (png_uint_32)a->shape[1], (png_uint_32)a->shape[0], 8,
                 a->ndim == 2 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    for (int64_t i = 0; i < a->shape[0]; i++)
        png_write_row(png, (png_const_bytep)a->data + i * a->strides[0]);
    png_write_end(png, NULL);
    return true;
}

static kjit_status write_picture(const kjit_array *a, const char *path)
{
    kj_out_file file;
    picture p = {.ctx = a->ctx, .path = path, .file = &file};
    kjit_status status = kj_file_begin(a->ctx, path, &file);
    if (status != KJIT_OK)
        return status;
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &p, on_error, on_warning);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    if (!info)
        status = kj_no_memory(a->ctx);
    else if (!write_rows(png, info, &p, a))
        status = failed(&p, "write");
    png_destroy_write_struct(png ? &png : NULL, info ? &info : NULL);
    if (status == KJIT_OK)
        return kj_file_commit(a->ctx, &file);
    kj_file_abandon(&file);
    return status;
}

static double real_at(const kjit_array *a, int64_t i, int64_t j)
{
    const char *at = a->data + i * a->strides[0] + j * a->strides[1];
    return kj_value_read(at, (kj_dtype)a->dtype, 0).f;
}

/* Floats and bools to grey: the least finite value is black, the largest white; NaN is black. */
static void shade(const kjit_array *a, kjit_array *grey)
{
    bool real = a->dtype != KJIT_BOOL;
    double low = INFINITY, high = -INFINITY;
    for (int64_t i = 0; real && i < a->shape[0]; i++) {
        for (int64_t j = 0; j < a->shape[1]; j++) {
            double v = real_at(a, i, j);
            if (isfinite(v)) {
                low = v < low ? v : low;
                high = v > high ? v : high;
            }
        }
    }
    for (int64_t i = 0; i < a->shape[0]; i++) {
        for (int64_t j = 0; j < a->shape[1]; j++) {
            unsigned char *pixel = (unsigned char *)grey->data + i * grey->strides[0] + j;
            if (!real) {
                *pixel = a->data[i * a->strides[0] + j * a->strides[1]] ? 255 : 0;
                continue;
            }
            /* halves: the range may overflow */
            double t = (real_at(a, i, j) / 2 - low / 2) / (high / 2 - low / 2);
            *pixel = (unsigned char)(t > 0 ? (t < 1 ? t * 255 + 0.5 : 255) : 0);
        }
    }
}

/* The same picture whatever the program has set for its thread. */
static void shade_alike(const kjit_array *a, kjit_array *dense)
{
    kj_float_env env = kj_float_enter();
    shade(a, dense);
    kj_float_leave(env);
}

kjit_status kj_png_save(kjit_array *a, const char *path)
{
    kjit_context *ctx = a->ctx;
    bool shaded = kj_is_float((kj_dtype)a->dtype) || a->dtype == KJIT_BOOL;
    char text[KJ_SHAPE_TEXT];
    kj_shape_text(a->ndim, a->shape, text);
    if (shaded ? a->ndim != 2
               : a->dtype != KJIT_U8 || !(a->ndim == 2 || (a->ndim == 3 && a->shape[2] == 3)))
        return kj_fail(
            ctx, KJIT_TYPE,
            "cannot save %s of shape %s as a picture: it takes u8 (h, w) or (h, w, 3), or "
            "floats or bool (h, w), which become shades of grey",
            kj_dtype_name(a->ctx, a->dtype), text);
    if (a->size == 0 || a->shape[0] > INT32_MAX || a->shape[1] > INT32_MAX)
        return kj_fail(ctx, KJIT_SHAPE, "cannot save shape %s as a picture", text);
    if (!shaded && a->layout == KJ_LAYOUT_C)
        return write_picture(a, path);
    kjit_array *dense;
    kjit_status status = kj_array_create(ctx, KJIT_U8, a->ndim, a->shape, 'C', KJIT_HOST, &dense);
    if (status != KJIT_OK)
        return status;
    if (shaded)
        shade_alike(a, dense);
    else
        status = kjit_copy(dense, a, NULL);
    if (status == KJIT_OK)
        status = write_picture(dense, path);
    kjit_array_free(dense);
    return status;
}
