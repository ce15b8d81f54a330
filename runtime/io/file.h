/* Files of arrays. */
#ifndef KJ_FILE_H
#define KJ_FILE_H

#include "array/array.h"

/* A file being written beside its target; kj_file_commit renames it, kj_file_abandon removes it. */
typedef struct kj_out_file {
    int fd;
    char *path, *temp;
} kj_out_file;

/* KJIT_IO: "cannot read 'x.npy': " and errno's sentence. */
kjit_status kj_file_error(kjit_context *ctx, const char *what, const char *path);
/* What is known of a target before it is written: KJIT_IO where that cannot be. */
kjit_status kj_file_target(kjit_context *ctx, const char *path);
kjit_status kj_file_begin(kjit_context *ctx, const char *path, kj_out_file *file);
kjit_status kj_file_write(kjit_context *ctx, kj_out_file *file, const void *data, size_t size);
kjit_status kj_file_commit(kjit_context *ctx, kj_out_file *file);
void kj_file_abandon(kj_out_file *file);

/* Reads exactly size bytes; returns how many there were, or -1 with errno. */
int64_t kj_file_read(int fd, void *data, size_t size);
/* The whole file, of a pipe all that comes, and a NUL behind it; *text is for free(). */
kjit_status kj_file_get(kjit_context *ctx, const char *path, char **text, size_t *size);
/* The same of what is open, from where it stands, and no more than `most` bytes. */
kjit_status kj_file_get_from(kjit_context *ctx, int fd, const char *path, int64_t most, char **text,
                             size_t *size);

/* ---- Kinds of files (formats.c) ---- */

/* What is wanted of a file. */
typedef struct kj_load_request {
    kjit_context *ctx;
    const char *path;
    const char *name;       /* of a table's column; NULL: all of them */
    const char *kind;       /* ends as a path of its kind does: the path itself, or "*.csv" */
    kj_dtype dtype;         /* KJ_VOID: as in the file */
    const kj_aggregate *of; /* what dtype is; NULL: a scalar */
    /* Of raw bytes. */
    const int64_t *shape; /* [ndim], one of which may be -1; NULL: one axis */
    int ndim;
    bool big_endian;
    int64_t offset;
} kj_load_request;

typedef struct kj_save_request {
    kjit_context *ctx;
    const char *path;
    const kjit_named_array *arrays; /* [n], in host memory */
    int n;
    double low, high;    /* of floats that become pictures: what is black, and what white */
    int64_t sample_rate; /* of sound; 0: the usual one */
    double fps;          /* of animations; 0: the usual one */
} kj_save_request;

bool kj_ends_with(const char *path, const char *end); /* whatever the case of its letters */
kjit_status kj_file_kind(kjit_context *ctx, const char *path); /* is it one arrays are saved by? */
bool kj_file_is_shaded(const char *path); /* floats in it are shades between low and high */
kjit_status kj_shades_apart(kjit_context *ctx, double low, double high); /* can these be the two? */
bool kj_file_is_sound(const char *path);
bool kj_file_moves(const char *path);                          /* it is an animation */
kjit_status kj_apng_rate_fits(kjit_context *ctx, double fps);  /* 0 is left out */
kjit_status kj_wav_rate_fits(kjit_context *ctx, int64_t rate); /* 0 is left out */
/* Of a file that is read as one of that format, or where that is NULL as its name says: */
bool kj_file_is_untyped(const char *path, const char *format); /* numbers take the type wanted */
bool kj_file_is_raw(const char *path, const char *format);     /* they have to be given one */
bool kj_file_has_names(const char *path, const char *format);  /* one array is read by its name */
/* As which format a file is read that begins as a table of numbers, whatever its name: "txt" or "csv"; NULL where it does not. */
const char *kj_table_format(const char *path);

/* ---- The kinds ---- */

kjit_status kj_npy_load(const kj_load_request *q, kjit_array **out);
kjit_status kj_npy_save(const kj_save_request *q);
kjit_status kj_npz_load(const kj_load_request *q, kjit_array **out);
kjit_status kj_npz_save(const kj_save_request *q);
/* Several arrays of one archive: each as kj_npz_load gives it, the request's path being the archive's. */
typedef struct kj_npz kj_npz;
kjit_status kj_npz_open(kjit_context *ctx, const char *path, kj_npz **out);
kjit_status kj_npz_read(kj_npz *z, const kj_load_request *q, kjit_array **out);
void kj_npz_close(kj_npz *z);
kjit_status kj_npz_usable(kjit_context *ctx,
                          const char *path); /* else KJIT_IO: there is no libzip */
kjit_status kj_png_load(const kj_load_request *q, kjit_array **out);
kjit_status kj_png_save(const kj_save_request *q);
kjit_status kj_apng_save(const kj_save_request *q);
kjit_status kj_pnm_load(const kj_load_request *q, kjit_array **out);
kjit_status kj_pnm_save(const kj_save_request *q);
kjit_status kj_pfm_load(const kj_load_request *q, kjit_array **out);
kjit_status kj_pfm_save(const kj_save_request *q);
kjit_status kj_jpeg_load(const kj_load_request *q, kjit_array **out);
kjit_status kj_table_load(const kj_load_request *q, kjit_array **out);
kjit_status kj_table_save(const kj_save_request *q);
kjit_status kj_raw_load(const kj_load_request *q, kjit_array **out);
kjit_status kj_raw_save(const kj_save_request *q);
kjit_status kj_wav_load(const kj_load_request *q, kjit_array **out);
kjit_status kj_wav_save(const kj_save_request *q);
kjit_status kj_wav_rate(kjit_context *ctx, const char *path, int64_t *out);

#endif
