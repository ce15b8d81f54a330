/* Arrays as pictures: which ones are, and what floats and bools become. */
#include <math.h>
#include <stdlib.h>

#include "io/picture.h"

kjit_status kj_picture_new(kjit_context *ctx, int depth, int64_t height, int64_t width,
                           int channels, kjit_array **out)
{
    int64_t shape[3] = {height, width, channels};
    return kjit_array_create(ctx, depth == 16 ? KJIT_U16 : KJIT_U8, channels == 1 ? 2 : 3, shape,
                             'C', KJIT_HOST, out);
}

static bool is_shaded(const kjit_array *a)
{
    return !a->of && (kj_is_float((kj_dtype)a->dtype) || a->dtype == KJIT_BOOL);
}

/* Black is 0. What is no number is black. */
static unsigned char shade(kj_value v, double low, double high)
{
    if (v.type == KJ_BOOL)
        return v.b ? 255 : 0;
    double t = (v.f / 2 - low / 2) / (high / 2 - low / 2); /* halves: the range may overflow */
    return (unsigned char)(t > 0 ? (t < 1 ? t * 255 + 0.5 : 255) : 0);
}

/* The elements, wherever they are, in C order; the same whatever the program has set for its thread. */
static void fill(const kjit_array *a, double low, double high, kjit_array *out)
{
    kj_float_env env = kj_float_enter();
    int channels = kj_picture_channels(a);
    int64_t pixel = 0;
    for (int64_t i = 0; i < a->shape[0]; i++) {
        for (int64_t j = 0; j < a->shape[1]; j++) {
            const char *at = a->data + i * a->strides[0] + j * a->strides[1];
            for (int c = 0; c < channels; c++) {
                const char *from = at + (a->ndim == 2 ? 0 : c * a->strides[2]);
                kj_value v = kj_value_read(from, (kj_dtype)a->dtype, 0);
                kj_value_write(out->data, pixel++,
                               is_shaded(a) ? kj_int(KJ_U8, shade(v, low, high)) : v);
            }
        }
    }
    kj_float_leave(env);
}

kjit_status kj_shades_apart(kjit_context *ctx, double low, double high)
{
    if (isfinite(low) && isfinite(high) && low != high)
        return KJIT_OK;
    bool left_out = high == 1 && low == 1;
    return kj_fail(ctx, KJIT_INVALID, "low and high are two numbers: %g and %g%s are not", low,
                   high, left_out ? " (high is 1 unless it is given)" : "");
}

static kjit_status check(const kj_save_request *q, const char *kind, unsigned channels,
                         const kjit_array *a)
{
    enum { MOST = 4 };
    char shape[KJ_SHAPE_TEXT], lasts[16 * MOST] = "";
    kj_shape_text(a->ndim, a->shape, shape);
    bool last = a->ndim == 2 || (a->ndim == 3 && a->shape[2] > 0 && a->shape[2] <= MOST);
    bool type = is_shaded(a) || a->dtype == KJIT_U8 || a->dtype == KJIT_U16;
    if (!last || !type || !(channels >> kj_picture_channels(a) & 1)) {
        for (int c = 2, n = 0; c <= MOST; c++)
            if (channels >> c & 1)
                n += kj_snprintf(lasts + n, sizeof lasts - (size_t)n, ", [h, w, %d]", c);
        return kj_fail(
            q->ctx, KJIT_TYPE,
            "cannot %s %s of shape %s%s%s: a picture is [h, w]%s of u8, u16, floats or bool",
            kind ? "save" : "show", kj_dtype_name(q->ctx, a->dtype), shape, kind ? " as " : "",
            kind ? kind : "", lasts);
    }
    if (a->size == 0 || a->shape[0] > INT32_MAX || a->shape[1] > INT32_MAX)
        return kj_fail(q->ctx, KJIT_SHAPE, "shape %s is no picture's", shape);
    return kj_shades_apart(q->ctx, q->low, q->high);
}

kjit_status kj_picture_of(const kj_save_request *q, const char *kind, unsigned channels,
                          kjit_array **out)
{
    kjit_array *a = q->arrays[0].array;
    kjit_status status = check(q, kind, channels, a);
    if (status != KJIT_OK)
        return status;
    if (!is_shaded(a) && a->layout == KJ_LAYOUT_C)
        return kj_array_on_host(a, out); /* held */
    kjit_array *pixels;
    status = kj_picture_new(q->ctx, a->dtype == KJIT_U16 ? 16 : 8, a->shape[0], a->shape[1],
                            kj_picture_channels(a), &pixels);
    if (status != KJIT_OK)
        return status;
    fill(a, q->low, q->high, pixels);
    *out = pixels;
    return KJIT_OK;
}
