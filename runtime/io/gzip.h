/* gzip in memory: what .gz files are read and written by. */
#ifndef KJ_GZIP_H
#define KJ_GZIP_H

#include "io/file.h"

bool kj_is_gzip(const char *data, size_t size);
/* The contents in place of the file's bytes, which are freed; a NUL is behind. Left as they are where it fails. What the
 * caller gives to kj_unlimit_arrays when the contents are freed, or it failed, is in `counted`. */
kjit_status kj_gunzip(kjit_context *ctx, const char *path, char **data, size_t *size,
                      size_t *counted);
kjit_status kj_gzip_write(kjit_context *ctx, kj_out_file *file, const char *data, size_t size);

#endif
