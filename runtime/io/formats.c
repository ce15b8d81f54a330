/* Arrays from files and into them, by the name's end: the table of all kinds of files. */
#include <stdlib.h>
#include <string.h>

#include "io/file.h"

/* What a kind of file can do, bits. */
enum {
    NAMES = 1,    /* arrays in it have names */
    MANY = 2,     /* there may be more than one of them */
    CONVERTS = 4, /* its reader makes the type that is wanted */
    SCALES = 8,   /* whole numbers there are parts of their type's largest, which is white */
    PACKED = 16,  /* .gz may follow */
    RAW = 32,     /* it has nothing but elements: type and shape are to be said */
    SOUND = 64,   /* of so many samples a second */
    MOVES = 128,  /* so many pictures a second */
};

typedef struct format {
    const char *ending;
    unsigned can;
    kjit_status (*load)(const kj_load_request *q, kjit_array **out);
    kjit_status (*save)(const kj_save_request *q); /* or NULL */
} format;

/* A load of any other kind is taken for the first. */
static const format formats[] = {
    {".npy", 0, kj_npy_load, kj_npy_save},
    {".npz", NAMES | MANY, kj_npz_load, kj_npz_save},
    {".csv", NAMES | MANY | CONVERTS | PACKED, kj_table_load, kj_table_save},
    {".tsv", NAMES | MANY | CONVERTS | PACKED, kj_table_load, kj_table_save},
    {".txt", NAMES | MANY | CONVERTS | PACKED, kj_table_load, kj_table_save},
    {".png", SCALES, kj_png_load, kj_png_save},
    {".apng", SCALES | MOVES, kj_png_load, kj_apng_save}, /* read: the first picture */
    {".pgm", SCALES, kj_pnm_load, kj_pnm_save},
    {".ppm", SCALES, kj_pnm_load, kj_pnm_save},
    {".pnm", SCALES, kj_pnm_load, kj_pnm_save},
    {".pfm", 0, kj_pfm_load, kj_pfm_save},
    {".jpg", SCALES, kj_jpeg_load, NULL},
    {".jpeg", SCALES, kj_jpeg_load, NULL},
    {".wav", CONVERTS | SOUND, kj_wav_load, kj_wav_save},
    {".raw", CONVERTS | RAW, kj_raw_load, kj_raw_save},
    {".bin", CONVERTS | RAW, kj_raw_load, kj_raw_save},
    {".dat", CONVERTS | RAW, kj_raw_load, kj_raw_save},
};
enum { NFORMATS = sizeof formats / sizeof *formats };

static bool ends_with(const char *path, size_t n, const char *end)
{
    size_t m = strlen(end);
    for (size_t i = 0; n > m && i < m; i++)
        if (kj_to_lower(path[n - m + i]) != end[i])
            return false;
    return n > m;
}

bool kj_ends_with(const char *path, const char *end)
{
    return ends_with(path, strlen(path), end);
}

static const format *format_of(const char *path)
{
    size_t n = strlen(path);
    bool packed = kj_ends_with(path, ".gz");
    for (int i = 0; i < NFORMATS; i++) {
        if (ends_with(path, packed ? n - 3 : n, formats[i].ending) &&
            (!packed || formats[i].can & PACKED))
            return &formats[i];
    }
    return NULL;
}

enum { KIND_TEXT = 16 };

/* What ends as a path of that kind does: "*.csv" of "csv", or the path. */
static const char *kind_of(const char *path, const char *as, char buf[KIND_TEXT])
{
    if (!as)
        return path;
    int n = kj_snprintf(buf, KIND_TEXT, "*.%s", as);
    return n > 0 && n < KIND_TEXT ? buf : "";
}

/* Can a file that is read as one of that kind do this? */
static bool can(const char *path, const char *as, unsigned what)
{
    char buf[KIND_TEXT];
    const format *f = format_of(kind_of(path, as, buf));
    return f && f->can & what;
}

bool kj_file_is_shaded(const char *path)
{
    return can(path, NULL, SCALES);
}

bool kj_file_is_sound(const char *path)
{
    return can(path, NULL, SOUND);
}

bool kj_file_moves(const char *path)
{
    return can(path, NULL, MOVES);
}

bool kj_file_is_untyped(const char *path, const char *as)
{
    return can(path, as, CONVERTS);
}

bool kj_file_is_raw(const char *path, const char *as)
{
    return can(path, as, RAW);
}

bool kj_file_has_names(const char *path, const char *as)
{
    return can(path, as, NAMES);
}

enum { ENDINGS_TEXT = 8 * NFORMATS };

/* ".npy, .npz, ...", of all or of those that are written. */
static const char *endings(bool saved, char buf[ENDINGS_TEXT])
{
    int n = 0;
    for (int i = 0; i < NFORMATS; i++) {
        if (formats[i].save || !saved)
            n += kj_snprintf(buf + n, ENDINGS_TEXT - (size_t)n, "%s%s", i == 0 ? "" : ", ",
                             formats[i].ending);
    }
    return buf;
}

/* ---- Reading ---- */

/* A number of a picture as another type: of another whole type of 8 or 16 bits, or a float, where
 * the largest is 1. */
static kj_value scaled(kj_value v, kj_dtype to)
{
    double most = v.type == KJ_U8 ? 255 : 65535;
    if (kj_is_float(to))
        return kj_fold_convert(kj_float(KJ_F64, (double)v.u / most), to);
    if (v.type == KJ_U8)
        return kj_int(to, (int64_t)v.u * 257);
    return kj_int(to, (int64_t)((v.u * 255 + 32767) / 65535));
}

static bool is_complex(const kj_aggregate *of)
{
    return of && kj_is_complex_type(of->type);
}

/* Numbers, or complex ones, as complex ones: of a picture as its numbers are floats. */
static void convert_to_complex(const kjit_array *from, bool picture, const kj_aggregate *of,
                               kjit_array *to)
{
    const kj_aggregate *parts = from->of;
    kj_dtype was = parts ? parts->elem : (kj_dtype)from->dtype;
    bool scales = picture && !parts && (was == KJ_U8 || was == KJ_U16);
    for (int64_t i = 0; i < 2 * from->size; i++) {
        kj_value v = kj_int(KJ_I32, 0);
        if (parts || i % 2 == 0)
            v = kj_value_read(from->data, was, parts ? i : i / 2);
        kj_value_write(to->data, i,
                       scales && i % 2 == 0 ? scaled(v, of->elem) : kj_fold_convert(v, of->elem));
    }
}

/* A host array in C or F order as one of another type. */
static kjit_status convert(const kj_load_request *q, bool picture, kjit_array **a)
{
    kjit_array *from = *a, *to;
    kj_dtype was = (kj_dtype)from->dtype;
    bool complex = is_complex(q->of) && (!from->of || is_complex(from->of));
    if (!complex && (from->of || q->of))
        return kj_fail(q->ctx, KJIT_TYPE, "'%s' has elements of %s, which do not become %s",
                       q->path, kj_dtype_name(q->ctx, from->dtype),
                       kj_dtype_name(q->ctx, (kjit_dtype)q->dtype));
    kjit_status status = kjit_array_create(q->ctx, (kjit_dtype)q->dtype, from->ndim, from->shape,
                                           from->layout == KJ_LAYOUT_F ? 'F' : 'C', KJIT_HOST, &to);
    if (status != KJIT_OK)
        return status;
    bool scales = picture && (kj_is_float(q->dtype) || q->dtype == KJ_U8 || q->dtype == KJ_U16);
    kj_float_env env = kj_float_enter();
    if (complex)
        convert_to_complex(from, picture, q->of, to);
    for (int64_t i = 0; i < from->size && !complex; i++) {
        kj_value v = kj_value_read(from->data, was, i);
        kj_value_write(to->data, i, scales ? scaled(v, q->dtype) : kj_fold_convert(v, q->dtype));
    }
    kj_float_leave(env);
    kjit_array_free(from);
    *a = to;
    return KJIT_OK;
}

/* Is nothing asked for that a file of that kind does not have? */
static kjit_status check_request(const kj_load_request *q, const format *f)
{
    if (q->name && !(f->can & NAMES))
        return kj_fail(
            q->ctx, KJIT_INVALID,
            "'%s' is read without name=: a file of its kind has one array, which has no name",
            q->path);
    if ((q->shape || q->offset != 0 || q->big_endian) && !(f->can & RAW))
        return kj_fail(q->ctx, KJIT_INVALID,
                       "'%s' is read without shape=, offset= and order=: they are of raw bytes "
                       "(.raw, .bin, .dat, or format=\"raw\")",
                       q->path);
    if (q->offset < 0)
        return kj_fail(q->ctx, KJIT_INVALID, "%lld is no offset", (long long)q->offset);
    if (q->shape && (q->ndim < 0 || q->ndim > KJIT_MAX_NDIM))
        return kj_fail(q->ctx, KJIT_SHAPE, "an array has 0 to %d dimensions, not %d", KJIT_MAX_NDIM,
                       q->ndim);
    return KJIT_OK;
}

static kjit_status load(const kj_load_request *q, kjit_array **out)
{
    const format *f = format_of(q->kind);
    if (!f)
        f = &formats[0];
    kjit_status status = check_request(q, f);
    if (status == KJIT_OK)
        status = f->load(q, out);
    if (status == KJIT_OK && q->dtype != KJ_VOID && q->dtype != (kj_dtype)(*out)->dtype)
        status = convert(q, f->can & SCALES, out);
    if (status != KJIT_OK) {
        kjit_array_free(*out);
        *out = NULL;
    }
    return status;
}

kjit_status kjit_array_load_with(kjit_context *ctx, const char *path,
                                 const kjit_load_options *options, kjit_array **out)
{
    static const kjit_load_options none;
    const kjit_load_options *o = options ? options : &none;
    kjit_status status = KJ_MAKES(out, kj_enter_context(ctx), ctx);
    if (status != KJIT_OK)
        return status;
    if (!path)
        return kj_fail(ctx, KJIT_INVALID, "path is NULL");
    status = kj_check_reserved(ctx, KJ_RESERVED(o, "the options'"));
    if (status != KJIT_OK)
        return status;
    char buf[KIND_TEXT], list[ENDINGS_TEXT];
    kj_load_request q = {.ctx = ctx,
                         .path = path,
                         .name = o->name,
                         .kind = kind_of(path, o->format, buf),
                         .dtype = KJ_VOID,
                         .shape = o->shape,
                         .ndim = o->ndim,
                         .big_endian = o->big_endian,
                         .offset = o->offset};
    if (o->format && !format_of(q.kind))
        return kj_fail(ctx, KJIT_INVALID, "there is no format '%s': files are read as %s",
                       o->format, endings(false, list));
    if (o->as_dtype) {
        if (!kj_dtype_name(ctx, o->dtype))
            return kj_fail(ctx, KJIT_TYPE, "%d is no dtype", (int)o->dtype);
        q.dtype = (kj_dtype)o->dtype;
        q.of = kj_dtype_aggregate(ctx, o->dtype);
    }
    return load(&q, out);
}

kjit_status kjit_array_load(kjit_context *ctx, const char *path, kjit_array **out)
{
    return kjit_array_load_with(ctx, path, NULL, out);
}

kjit_status kjit_array_load_records(kjit_context *ctx, const char *path, kjit_dtype dtype,
                                    kjit_array **out)
{
    kjit_status status = KJ_MAKES(out, kj_enter_context(ctx), ctx);
    if (status != KJIT_OK)
        return status;
    const char *name = kj_dtype_name(ctx, dtype);
    if (!kj_is_record(kj_dtype_aggregate(ctx, dtype)))
        return kj_fail(ctx, KJIT_TYPE, "the type of a file's records is a record, not %s",
                       name ? name : "none");
    return kjit_array_load_with(ctx, path, &(kjit_load_options){.as_dtype = 1, .dtype = dtype},
                                out);
}

kjit_status kjit_sample_rate(kjit_context *ctx, const char *path, int64_t *out)
{
    kjit_status status = kj_enter_context(ctx);
    if (status != KJIT_OK)
        return status;
    if (!path || !out)
        return kj_fail(ctx, KJIT_INVALID, "%s is NULL", path ? "out" : "path");
    *out = 0;
    if (!kj_file_is_sound(path))
        return kj_fail(ctx, KJIT_INVALID, "'%s' is no sound (.wav)", path);
    return kj_wav_rate(ctx, path, out);
}

/* ---- Writing ---- */

kjit_status kj_file_kind(kjit_context *ctx, const char *path)
{
    const format *f = format_of(path);
    if (f && f->save)
        return KJIT_OK;
    char list[ENDINGS_TEXT];
    return kj_fail(ctx, KJIT_INVALID, "cannot save '%s': arrays are saved as %s", path,
                   endings(true, list));
}

static kjit_status check(kjit_context *ctx, const char *path, const kjit_named_array *arrays, int n,
                         const kjit_save_options *how)
{
    if (!path)
        return kj_fail(ctx, KJIT_INVALID, "path is NULL");
    kjit_status status = kj_file_kind(ctx, path);
    if (status == KJIT_OK)
        status = kj_check_reserved(ctx, KJ_RESERVED(how, "the options'"));
    for (int i = 0; i < n && status == KJIT_OK; i++) {
        status = kj_check_reserved(ctx, KJ_RESERVED(&arrays[i], "an array's"));
        if (status != KJIT_OK)
            break;
        status = kj_enter_array(arrays[i].array);
        if (status == KJIT_OK && arrays[i].array->ctx != ctx)
            status = kj_fail(ctx, KJIT_INVALID, "the arrays of a file are of one context");
    }
    if (status == KJIT_OK && n > 1 && !(format_of(path)->can & MANY))
        status = kj_fail(ctx, KJIT_INVALID, "'%s' can have one array, not %d", path, n);
    if (status == KJIT_OK && how->sample_rate != 0 && !kj_file_is_sound(path))
        status =
            kj_fail(ctx, KJIT_INVALID, "sample_rate is of sound (.wav), and '%s' is none", path);
    if (status == KJIT_OK && how->fps != 0 && !kj_file_moves(path))
        status = kj_fail(ctx, KJIT_INVALID, "fps is of animations (.apng), and '%s' is none", path);
    if (status == KJIT_OK)
        status = kj_apng_rate_fits(ctx, how->fps);
    return status == KJIT_OK ? kj_wav_rate_fits(ctx, how->sample_rate) : status;
}

static kjit_status save(kjit_context *ctx, const char *path, const kjit_named_array *arrays, int n,
                        const kjit_save_options *options)
{
    static const kjit_save_options none;
    const kjit_save_options *how = options ? options : &none;
    kjit_status status = check(ctx, path, arrays, n, how);
    if (status != KJIT_OK)
        return status;
    kjit_named_array *here = calloc((size_t)n + 1, sizeof *here);
    if (!here)
        return kj_no_memory(ctx);
    kj_save_request q = {.ctx = ctx,
                         .path = path,
                         .arrays = here,
                         .high = 1,
                         .sample_rate = how->sample_rate,
                         .fps = how->fps};
    if (how->low != 0 || how->high != 0) {
        q.low = how->low;
        q.high = how->high;
    }
    for (; q.n < n && status == KJIT_OK; q.n += status == KJIT_OK) {
        here[q.n].name = arrays[q.n].name;
        status = kj_array_on_host(arrays[q.n].array, &here[q.n].array);
    }
    if (status == KJIT_OK)
        status = format_of(path)->save(&q);
    for (int i = 0; i < q.n; i++)
        kjit_array_free(here[i].array);
    free(here);
    return status;
}

kjit_status kjit_array_save(kjit_array *a, const char *path)
{
    kjit_status status = kj_enter_array(a);
    return status == KJIT_OK ? save(a->ctx, path, &(kjit_named_array){.array = a}, 1, NULL)
                             : status;
}

kjit_status kjit_arrays_save(kjit_context *ctx, const char *path, const kjit_named_array *arrays,
                             int n, const kjit_save_options *options)
{
    kjit_status status = kj_enter_context(ctx);
    if (status != KJIT_OK)
        return status;
    if (!arrays || n <= 0)
        return kj_fail(ctx, KJIT_INVALID, "there are no arrays to save");
    return save(ctx, path, arrays, n, options);
}
