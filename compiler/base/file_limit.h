/* Files that may not grow: under RLIMIT_FSIZE a write is the error EFBIG, not the end of the process. */
#ifndef KJ_FILE_LIMIT_H
#define KJ_FILE_LIMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* All of it, whatever interrupts; false: errno says why. */
bool kj_write_all(int fd, const void *data, size_t size);
/* As ftruncate. */
int kj_set_file_size(int fd, off_t size);

#endif
