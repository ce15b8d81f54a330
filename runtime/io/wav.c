/* Sound: RIFF WAVE files of integers and floats, as they are and as parts of the largest.
 *
 * The reader believes nothing: what a chunk says of its length is compared with the bytes that there are, and an array is
 * as large as those. */
#include <stdlib.h>
#include <string.h>

#include "io/npy.h"

enum {
    PCM = 1,
    FLOATS = 3,
    EXTENSIBLE = 0xfffe,
    HEAD = 12, /* "RIFF", size, "WAVE" */
    CHUNK = 8, /* name, size */
    BASE = 16, /* of "fmt " what every file has */
    FULL = 40, /* with what EXTENSIBLE has behind that */
    USUAL_RATE = 44100,
};

typedef struct wav {
    const char *path;
    const unsigned char *at, *end;
    kjit_context *ctx;
    unsigned tag, channels, bits;
    int64_t rate;
    const unsigned char *samples;
    int64_t n; /* of all channels */
} wav;

static kjit_status bad(const wav *w, const char *what)
{
    return kj_fail(w->ctx, KJIT_FORMAT, "cannot read '%s' as WAV: %s", w->path, what);
}

static uint32_t little(const unsigned char *at, int bytes)
{
    uint32_t v = 0;
    for (int i = bytes - 1; i >= 0; i--)
        v = v << 8 | at[i];
    return v;
}

/* ---- The header ---- */

/* Behind the first two bytes, which are the tag that it stands for. */
static const unsigned char sub_format[] = {0, 0, 0,    0, 0x10, 0,    0x80,
                                           0, 0, 0xaa, 0, 0x38, 0x9b, 0x71};

static kjit_status take_format(wav *w, const unsigned char *at, uint32_t size)
{
    if (size < BASE)
        return bad(w, "its format is too short");
    w->tag = little(at, 2);
    w->channels = little(at + 2, 2);
    w->rate = little(at + 4, 4);
    w->bits = little(at + 14, 2);
    if (w->tag == EXTENSIBLE) {
        if (size < FULL || memcmp(at + 26, sub_format, sizeof sub_format) != 0)
            return bad(w, "its format is extended by something that is not known");
        w->tag = little(at + 24, 2);
    }
    if (w->tag != PCM && w->tag != FLOATS)
        return kj_fail(w->ctx, KJIT_FORMAT,
                       "cannot read '%s' as WAV: its samples are compressed (format %u); PCM and "
                       "floats are read",
                       w->path, w->tag);
    bool known = w->tag == PCM ? w->bits % 8 == 0 && w->bits >= 8 && w->bits <= 32
                               : w->bits == 32 || w->bits == 64;
    if (!known)
        return kj_fail(w->ctx, KJIT_FORMAT,
                       "cannot read '%s' as WAV: it has %s of %u bits; integers have 8, 16, 24 or "
                       "32, floats 32 or 64",
                       w->path, w->tag == PCM ? "integers" : "floats", w->bits);
    if (w->channels == 0 || w->rate == 0)
        return bad(w, "it has no channels, or no samples a second");
    if (little(at + 12, 2) != w->channels * (w->bits / 8))
        return bad(w, "the bytes of a frame are not those of its channels");
    return KJIT_OK;
}

static kjit_status take_samples(wav *w, uint32_t size)
{
    int64_t left = w->end - w->at, frame = (int64_t)w->channels * (w->bits / 8),
            bytes = size == UINT32_MAX ? left : size; /* who writes into a pipe does not know it */
    if (w->channels == 0)
        return bad(w, "its samples stand before their format");
    if (bytes > left)
        return kj_fail(w->ctx, KJIT_FORMAT,
                       "cannot read '%s' as WAV: it is truncated: its samples take %lld bytes, it "
                       "has %lld",
                       w->path, (long long)bytes, (long long)left);
    if (bytes % frame != 0)
        return kj_fail(w->ctx, KJIT_FORMAT,
                       "cannot read '%s' as WAV: its samples take %lld bytes, which is no multiple "
                       "of the %lld of a frame",
                       w->path, (long long)bytes, (long long)frame);
    w->samples = w->at;
    w->n = bytes / (w->bits / 8);
    return KJIT_OK;
}

/* Chunks up to the samples. */
static kjit_status take_chunks(wav *w)
{
    if (w->end - w->at < HEAD || memcmp(w->at + 8, "WAVE", 4) != 0 || memcmp(w->at, "RIFF", 4) != 0)
        return bad(w, "it does not begin with RIFF and WAVE");
    w->at += HEAD;
    while (w->end - w->at >= CHUNK) {
        const unsigned char *name = w->at;
        uint32_t size = little(name + 4, 4);
        w->at += CHUNK;
        if (memcmp(name, "data", 4) == 0)
            return take_samples(w, size);
        if (w->end - w->at < (int64_t)size)
            return bad(w, "it is truncated");
        kjit_status status = memcmp(name, "fmt ", 4) == 0 ? take_format(w, w->at, size) : KJIT_OK;
        if (status != KJIT_OK)
            return status;
        w->at += size;
        w->at += size % 2 == 1 && w->at < w->end; /* chunks begin at even places */
    }
    return bad(w, "it ends before its samples");
}

/* ---- Samples ---- */

static int64_t whole(const wav *w, const unsigned char *at)
{
    if (w->bits == 8)
        return *at; /* 128 is silence */
    int unused = 32 - (int)w->bits;
    return (int32_t)(little(at, (int)w->bits / 8) << unused) >> unused;
}

/* As a number from -1 to 1. */
static double part(const wav *w, const unsigned char *at)
{
    if (w->tag == PCM)
        return (double)(whole(w, at) - (w->bits == 8 ? 128 : 0)) /
               (double)((int64_t)1 << (w->bits - 1));
    return kj_value_read(at, w->bits == 32 ? KJ_F32 : KJ_F64, 0).f;
}

/* Do these integers fit that type? */
static kjit_status check_whole(const wav *w, kj_dtype type)
{
    if (w->tag == FLOATS)
        return kj_fail(w->ctx, KJIT_TYPE, "'%s' has samples that are floats, not %s", w->path,
                       kj_type_name(type));
    int64_t half = (int64_t)1 << (w->bits - 1), least = w->bits == 8 ? 0 : -half,
            most = w->bits == 8 ? UINT8_MAX : half - 1;
    if (kj_value_fits(kj_int(KJ_I64, least), type) && kj_value_fits(kj_int(KJ_I64, most), type))
        return KJIT_OK;
    return kj_fail(w->ctx, KJIT_TYPE, "'%s' has samples from %lld to %lld, which %s does not hold",
                   w->path, (long long)least, (long long)most, kj_type_name(type));
}

static void convert(const wav *w, kj_dtype type, char *to)
{
    const unsigned char *at = w->samples;
    bool ints = kj_is_int(type);
    kj_float_env env = kj_float_enter();
    for (int64_t i = 0; i < w->n; i++, at += w->bits / 8) {
        if (ints) {
            kj_value_write(to, i, kj_int(type, whole(w, at)));
        } else if (type == KJ_F32) {
            float v = (float)part(w, at);
            memcpy(to + i * (int64_t)sizeof v, &v, sizeof v);
        } else {
            kj_value_write(to, i, kj_fold_convert(kj_float(KJ_F64, part(w, at)), type));
        }
    }
    kj_float_leave(env);
}

static kjit_status make(const wav *w, const kj_load_request *q, kjit_array **out)
{
    kj_dtype type = q->dtype == KJ_VOID ? KJ_F32 : q->dtype;
    const int64_t shape[] = {w->n / w->channels, w->channels};
    if (q->of || type == KJ_BOOL)
        return kj_fail(w->ctx, KJIT_TYPE, "'%s' has samples that are numbers, not %s", w->path,
                       kj_dtype_name(w->ctx, (kjit_dtype)type));
    kjit_status status = kj_is_int(type) ? check_whole(w, type) : KJIT_OK;
    if (status == KJIT_OK)
        status = kjit_array_create(w->ctx, (kjit_dtype)type, w->channels == 1 ? 1 : 2, shape, 'C',
                                   KJIT_HOST, out);
    if (status != KJIT_OK)
        return status;
    if (w->tag == FLOATS && w->bits == 32 && type == KJ_F32) /* bit for bit */
        memcpy((*out)->data, w->samples, (size_t)w->n * sizeof(float));
    else
        convert(w, type, (*out)->data);
    return KJIT_OK;
}

/* The file's text, for free(), and what it says. */
static kjit_status read_file(kjit_context *ctx, const char *path, char **text, wav *w)
{
    size_t size;
    *text = NULL;
    kjit_status status = kj_file_get(ctx, path, text, &size);
    if (status != KJIT_OK)
        return status;
    const unsigned char *bytes = (const unsigned char *)*text;
    *w = (wav){.ctx = ctx, .path = path, .at = bytes, .end = bytes + size};
    return take_chunks(w);
}

kjit_status kj_wav_load(const kj_load_request *q, kjit_array **out)
{
    wav w;
    char *text;
    kjit_status status = read_file(q->ctx, q->path, &text, &w);
    if (status == KJIT_OK)
        status = make(&w, q, out);
    free(text);
    return status;
}

kjit_status kj_wav_rate(kjit_context *ctx, const char *path, int64_t *out)
{
    wav w;
    char *text;
    kjit_status status = read_file(ctx, path, &text, &w);
    if (status == KJIT_OK)
        *out = w.rate;
    free(text);
    return status;
}

/* ---- Writing ---- */

kjit_status kj_wav_rate_fits(kjit_context *ctx, int64_t rate)
{
    if (rate >= 0 && rate <= UINT32_MAX)
        return KJIT_OK;
    return kj_fail(ctx, KJIT_INVALID, "a sample_rate is a whole number from 1 to %lld, not %lld",
                   (long long)UINT32_MAX, (long long)rate);
}

static void put(char **at, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        *(*at)++ = (char)(v >> 8 * i & 0xff);
}

static void put_name(char **at, const char *name)
{
    memcpy(*at, name, 4);
    *at += 4;
}

/* What stands before the samples. */
static int header(const kj_save_request *q, const kjit_array *a, char *out)
{
    uint64_t elem = kj_array_elem(a), channels = a->ndim == 2 ? (uint64_t)a->shape[1] : 1,
             rate = (uint64_t)(q->sample_rate ? q->sample_rate : USUAL_RATE),
             bytes = (uint64_t)a->size * elem;
    bool floats = a->dtype == KJIT_F32;
    uint64_t format = floats ? BASE + 2 : BASE, fact = floats ? CHUNK + 4 : 0;
    char *at = out;
    put_name(&at, "RIFF");
    put(&at, 4 + CHUNK + format + fact + CHUNK + bytes + bytes % 2, 4);
    put_name(&at, "WAVE");
    put_name(&at, "fmt ");
    put(&at, format, 4);
    put(&at, floats ? FLOATS : PCM, 2);
    put(&at, channels, 2);
    put(&at, rate, 4);
    put(&at, rate * channels * elem, 4);
    put(&at, channels * elem, 2);
    put(&at, elem * 8, 2);
    if (floats) { /* what is no PCM has these two */
        put(&at, 0, 2);
        put_name(&at, "fact");
        put(&at, 4, 4);
        put(&at, (uint64_t)a->shape[0], 4);
    }
    put_name(&at, "data");
    put(&at, bytes, 4);
    return (int)(at - out);
}

enum { HEADER = 58 }; /* the longest */

static kjit_status check(const kj_save_request *q, const kjit_array *a)
{
    char shape[KJ_SHAPE_TEXT];
    kj_shape_text(a->ndim, a->shape, shape);
    bool type = !a->of && (a->dtype == KJIT_U8 || a->dtype == KJIT_I16 || a->dtype == KJIT_I32 ||
                           kj_is_float((kj_dtype)a->dtype));
    int64_t elem = kj_is_float((kj_dtype)a->dtype) ? 4 : (int64_t)kj_array_elem(a),
            channels = a->ndim == 2 ? a->shape[1] : 1,
            rate = q->sample_rate ? q->sample_rate : USUAL_RATE;
    if (!type || (a->ndim != 1 && a->ndim != 2))
        return kj_fail(q->ctx, KJIT_TYPE,
                       "cannot save %s of shape %s as WAV: sound is [frames] or [frames, channels] "
                       "of u8, i16, i32 or floats",
                       kj_dtype_name(q->ctx, a->dtype), shape);
    if (channels < 1 || channels > UINT16_MAX / elem)
        return kj_fail(q->ctx, KJIT_SHAPE,
                       "cannot save shape %s as WAV: of this type it has 1 to %lld channels", shape,
                       (long long)(UINT16_MAX / elem));
    if (a->size > (UINT32_MAX - HEADER) / elem)
        return kj_fail(q->ctx, KJIT_SHAPE, "cannot save shape %s as WAV: it has at most 4 GB",
                       shape);
    if (rate > UINT32_MAX / (channels * elem))
        return kj_fail(q->ctx, KJIT_INVALID,
                       "cannot save '%s': of these channels a sample_rate is at most %lld", q->path,
                       (long long)(UINT32_MAX / (channels * elem)));
    return KJIT_OK;
}

/* Floats of any size and layout as f32 in C order; of others the array itself, held. */
static kjit_status samples_of(kjit_array *a, kjit_array **out)
{
    if (a->dtype == KJIT_F32 || !kj_is_float((kj_dtype)a->dtype))
        return kj_array_on_host(a, out);
    kjit_array *dense, *to;
    kjit_status status =
        kjit_array_create(a->ctx, a->dtype, a->ndim, a->shape, 'C', KJIT_HOST, &dense);
    if (status != KJIT_OK)
        return status;
    status = kjit_copy(dense, a, NULL);
    if (status == KJIT_OK)
        status = kjit_array_create(a->ctx, KJIT_F32, a->ndim, a->shape, 'C', KJIT_HOST, &to);
    if (status == KJIT_OK) {
        kj_float_env env = kj_float_enter();
        for (int64_t i = 0; i < a->size; i++)
            kj_value_write(
                to->data, i,
                kj_fold_convert(kj_value_read(dense->data, (kj_dtype)a->dtype, i), KJ_F32));
        kj_float_leave(env);
        *out = to;
    }
    kjit_array_free(dense);
    return status;
}

static kjit_status write_file(const kj_save_request *q, const kjit_array *a)
{
    char head[HEADER];
    kj_out_file file;
    kjit_status status = kj_file_begin(q->ctx, q->path, &file);
    if (status != KJIT_OK)
        return status;
    status = kj_file_write(q->ctx, &file, head, (size_t)header(q, a, head));
    if (status == KJIT_OK)
        status = kj_npy_write_packed(q->ctx, &file, a);
    if (status == KJIT_OK && (size_t)a->size * kj_array_elem(a) % 2 == 1)
        status = kj_file_write(q->ctx, &file, "", 1);
    if (status == KJIT_OK)
        return kj_file_commit(q->ctx, &file);
    kj_file_abandon(&file);
    return status;
}

kjit_status kj_wav_save(const kj_save_request *q)
{
    kjit_array *a;
    kjit_status status = check(q, q->arrays[0].array);
    if (status == KJIT_OK)
        status = samples_of(q->arrays[0].array, &a);
    if (status != KJIT_OK)
        return status;
    status = write_file(q, a);
    kjit_array_free(a);
    return status;
}
