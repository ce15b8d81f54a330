/* What files of pictures have in common: arrays as rows of pixels. */
#ifndef KJ_PICTURE_H
#define KJ_PICTURE_H

#include "io/file.h"

/* A picture's array that is to be read into: u8 or u16, [h, w] where channels is 1, else [h, w, channels]. */
kjit_status kj_picture_new(kjit_context *ctx, int depth, int64_t height, int64_t width,
                           int channels, kjit_array **out);

/* The array of a save as a picture of a kind of file, `kind` (NULL: it is shown), that can have so many channels: bit c of `channels` for c
 * of them. u8 or u16 in C order; *out is to be freed. */
kjit_status kj_picture_of(const kj_save_request *q, const char *kind, unsigned channels,
                          kjit_array **out);

/* The file of a picture, of pixels as kj_picture_of gives them, at the end of a text by malloc. */
kjit_status kj_png_encode(const kjit_array *pixels, const char *path, kj_text *out);

static inline int kj_picture_channels(const kjit_array *a)
{
    return a->ndim == 2 ? 1 : (int)a->shape[2];
}

#endif
