/* JPEG pictures, read by libjpeg-turbo where it is installed: TurboJPEG's interface, which has kept its functions for
 * ten years, loaded when the first picture is. */
#include <dlfcn.h>
#include <stdlib.h>

#include "io/picture.h"

#define LIBRARY "libturbojpeg.so.0"

typedef struct turbo {
    void *loaded, *handle;
    void *(*init)(void);
    int (*header)(void *handle, const unsigned char *data, unsigned long size, int *width,
                  int *height, int *sampling, int *colours);
    int (*decompress)(void *handle, const unsigned char *data, unsigned long size,
                      unsigned char *pixels, int width, int pitch, int height, int format,
                      int flags);
    char *(*message)(void *handle);
    int (*destroy)(void *handle);
} turbo;

enum { RGB = 0, GREY = 6 }; /* formats of pixels */
enum { COLOURS_OF_GREY = 2 };

static void *function(void *library, const char *name)
{
    return library ? dlsym(library, name) : NULL;
}

/* C has no conversion from what dlsym returns to a function. */
#define FIND(t, field, name) (*(void **)&(t)->field = function((t)->loaded, name))

static bool open_turbo(turbo *t)
{
    *t = (turbo){.loaded = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL)};
    FIND(t, init, "tjInitDecompress");
    FIND(t, header, "tjDecompressHeader3");
    FIND(t, decompress, "tjDecompress2");
    FIND(t, message, "tjGetErrorStr2");
    FIND(t, destroy, "tjDestroy");
    return t->init && t->header && t->decompress && t->message && t->destroy;
}

static void close_turbo(turbo *t)
{
    if (t->handle)
        t->destroy(t->handle);
    if (t->loaded)
        dlclose(t->loaded);
}

static kjit_status read_picture(const kj_load_request *q, turbo *t, const char *data, size_t size,
                                kjit_array **out)
{
    const unsigned char *bytes = (const unsigned char *)data;
    int width, height, sampling, colours;
    t->handle = t->init();
    if (!t->handle)
        return kj_no_memory(q->ctx);
    if (t->header(t->handle, bytes, size, &width, &height, &sampling, &colours) != 0)
        return kj_fail(q->ctx, KJIT_FORMAT, "cannot read '%s' as JPEG: %s", q->path,
                       t->message(t->handle));
    int channels = colours == COLOURS_OF_GREY ? 1 : 3;
    kjit_status status = kj_picture_new(q->ctx, 8, height, width, channels, out);
    if (status != KJIT_OK)
        return status;
    if (t->decompress(t->handle, bytes, size, (unsigned char *)(*out)->data, width, 0, height,
                      channels == 1 ? GREY : RGB, 0) == 0)
        return KJIT_OK;
    return kj_fail(q->ctx, KJIT_FORMAT, "cannot read '%s' as JPEG: %s", q->path,
                   t->message(t->handle));
}

kjit_status kj_jpeg_load(const kj_load_request *q, kjit_array **out)
{
    char *data;
    size_t size;
    turbo t;
    kjit_status status = kj_file_get(q->ctx, q->path, &data, &size);
    if (status != KJIT_OK)
        return status;
    status = open_turbo(&t)
                 ? read_picture(q, &t, data, size, out)
                 : kj_fail(q->ctx, KJIT_IO,
                           "cannot read '%s': JPEG is read by " LIBRARY ", which is not installed",
                           q->path);
    close_turbo(&t);
    free(data);
    return status;
}
