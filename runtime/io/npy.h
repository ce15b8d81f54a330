/* Between .npy files of numbers (npy.c) and of records (npy_record.c). */
#ifndef KJ_NPY_H
#define KJ_NPY_H

#include "io/file.h"

/* All of a file that is open there, its name only for messages; and all of an array into one. */
kjit_status kj_npy_read(const kj_load_request *q, int fd, kjit_array **out);
kjit_status kj_npy_write(kjit_context *ctx, kj_out_file *file, const kjit_array *a);
/* Its elements alone, in C order. */
kjit_status kj_npy_write_packed(kjit_context *ctx, kj_out_file *file, const kjit_array *a);

/* The text of a header, being read. */
typedef struct kj_npy_reader {
    kjit_context *ctx;
    const char *path;
    const char *at, *end;
} kj_npy_reader;

kjit_status kj_npy_bad(const kj_npy_reader *r, const char *what);
bool kj_npy_take(kj_npy_reader *r, char c);
/* A quoted string without escapes into buf. */
bool kj_npy_take_string(kj_npy_reader *r, char *buf, size_t size);
bool kj_npy_take_extent(kj_npy_reader *r, int64_t *out);
/* "<f4", "<c8": a scalar or complex type, and whether its bytes are in the other order; false for
 * others. */
bool kj_npy_scalar(const char *descr, kj_dtype *out, bool *swapped);

/* n scalars of `size` bytes, side by side in a file's element and in memory. */
typedef struct kj_npy_move {
    int64_t from, to, n;
    int size;
    bool swapped, bools;
} kj_npy_move;

/* How a file's records become elements of `of`. */
typedef struct kj_npy_records {
    const kj_aggregate *of;
    int64_t size; /* bytes of one in the file */
    kj_npy_move *moves;
    int n, room, apart; /* those from `apart` on are not joined with ones before */
} kj_npy_records;

/* A list of fields, its '[' taken; `m` has the type that is wanted, and is to be freed. */
kjit_status kj_npy_take_records(kj_npy_reader *r, kj_npy_records *m);
void kj_npy_records_free(kj_npy_records *m);
/* The file's elements to those of a new array that lies side by side. */
kjit_status kj_npy_read_records(kjit_context *ctx, const char *path, int fd,
                                const kj_npy_records *m, kjit_array *to);
void kj_npy_put_type(kj_text *t, kj_dtype type); /* of a scalar or complex number */
/* The list of a record's fields, with the gaps between them, as NumPy writes it. */
void kj_npy_put_record(kj_text *t, const kj_aggregate *of);
/* Zeros between the fields of a record. */
void kj_npy_zero_gaps(const kj_aggregate *of, char *at);

void kj_npy_swap(void *data, int64_t n, size_t size);

#endif
