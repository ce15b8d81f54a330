/* gzip, in memory, by zlib. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "io/gzip.h"

enum { GZIP = 16 + MAX_WBITS, PIECE = 1 << 16 };

bool kj_is_gzip(const char *data, size_t size)
{
    return size >= 2 && (unsigned char)data[0] == 0x1f && (unsigned char)data[1] == 0x8b;
}

/* zlib counts in 32 bits. */
static unsigned some(size_t n)
{
    return n < 1 << 30 ? (unsigned)n : 1 << 30;
}

/* It counts as arrays do: few bytes may become many. */
typedef struct output {
    kjit_context *ctx;
    char *data;
    size_t used, room;
} output;

/* Room for more behind what there is; and for a NUL. */
static kjit_status grow(output *o)
{
    if (o->room - o->used > PIECE)
        return KJIT_OK;
    size_t more = o->room / 2 + 2 * PIECE;
    kj_failure why;
    kjit_status status = kj_limit_arrays(o->ctx, more, &why);
    if (status != KJIT_OK)
        return kj_fail_why(o->ctx, status, &why);
    char *data = realloc(o->data, o->room + more);
    if (!data) {
        kj_unlimit_arrays(o->ctx, more);
        return kj_no_memory(o->ctx);
    }
    o->data = data;
    o->room += more;
    return KJIT_OK;
}

static kjit_status inflate_all(kjit_context *ctx, const char *path, z_stream *z, size_t left,
                               output *o)
{
    int result = Z_OK;
    while (result != Z_STREAM_END || left + z->avail_in > 0) {
        if (result == Z_STREAM_END && inflateReset(z) != Z_OK) /* files that were joined */
            return kj_no_memory(ctx);
        if (z->avail_in == 0) {
            z->avail_in = some(left);
            left -= z->avail_in;
        }
        kjit_status status = grow(o);
        if (status != KJIT_OK)
            return status;
        unsigned room = some(o->room - o->used - 1);
        z->next_out = (unsigned char *)o->data + o->used;
        z->avail_out = room;
        result = inflate(z, Z_NO_FLUSH);
        o->used += room - z->avail_out;
        if (result == Z_MEM_ERROR)
            return kj_no_memory(ctx);
        if (result != Z_OK && result != Z_STREAM_END)
            return kj_fail(ctx, KJIT_FORMAT, "cannot read '%s' as gzip: %s", path,
                           z->msg ? z->msg : "it ends too early");
    }
    return KJIT_OK;
}

kjit_status kj_gunzip(kjit_context *ctx, const char *path, char **data, size_t *size,
                      size_t *counted)
{
    z_stream z = {.next_in = (unsigned char *)*data};
    output o = {.ctx = ctx};
    if (inflateInit2(&z, GZIP) != Z_OK)
        return kj_no_memory(ctx);
    kjit_status status = inflate_all(ctx, path, &z, *size, &o);
    inflateEnd(&z);
    *counted = o.room;
    if (status != KJIT_OK) {
        free(o.data);
        return status;
    }
    free(*data);
    *data = o.data;
    *size = o.used;
    o.data[o.used] = '\0';
    return KJIT_OK;
}

kjit_status kj_gzip_write(kjit_context *ctx, kj_out_file *file, const char *data, size_t size)
{
    z_stream z = {.next_in = (unsigned char *)(uintptr_t)data};
    unsigned char *piece = malloc(PIECE);
    if (!piece ||
        deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
        free(piece);
        return kj_no_memory(ctx);
    }
    kjit_status status = KJIT_OK;
    for (int result = Z_OK; result == Z_OK && status == KJIT_OK;) {
        if (z.avail_in == 0) {
            z.avail_in = some(size);
            size -= z.avail_in;
        }
        z.next_out = piece;
        z.avail_out = PIECE;
        result = deflate(&z, size == 0 ? Z_FINISH : Z_NO_FLUSH);
        status = kj_file_write(ctx, file, piece, PIECE - z.avail_out);
    }
    deflateEnd(&z);
    free(piece);
    return status;
}
