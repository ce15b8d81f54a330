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
kjit_status kj_file_begin(kjit_context *ctx, const char *path, kj_out_file *file);
kjit_status kj_file_write(kjit_context *ctx, kj_out_file *file, const void *data, size_t size);
kjit_status kj_file_commit(kjit_context *ctx, kj_out_file *file);
void kj_file_abandon(kj_out_file *file);

/* Reads exactly size bytes; returns how many there were, or -1 with errno. */
int64_t kj_file_read(int fd, void *data, size_t size);

bool kj_ends_with(const char *path, const char *end); /* whatever the case of its letters */
kjit_status kj_file_kind(kjit_context *ctx, const char *path); /* is it one arrays are saved by? */
/* record: what its elements are to be, or NULL: a file of numbers. */
kjit_status kj_npy_load(kjit_context *ctx, const char *path, const kj_aggregate *record,
                        kjit_array **out);
kjit_status kj_npy_save(kjit_array *host, const char *path);
kjit_status kj_png_load(kjit_context *ctx, const char *path, kjit_array **out);
kjit_status kj_png_save(kjit_array *host, const char *path);

#endif
