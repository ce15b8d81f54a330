/* Code that was made ahead of time, as bytes: kernels as launches know them, and what such a kernel's code is.
 *
 * One function a type both writes and reads it, so that the two cannot differ. It returns what it was given where
 * values are written, and else what it has read, made in the arena. Who reads bytes that are no such thing, which a
 * checksum has ruled out before, is told by `failed` in the end. */
#ifndef KJ_PACK_H
#define KJ_PACK_H

#include "kernel.h"

typedef struct kj_pack {
    kj_arena *arena;
    kj_records *records; /* numbers of records are a context's own */
    kj_text *out;        /* NULL: bytes are read, from `at` on */
    const char *at, *end;
    bool failed;
} kj_pack;

/* What kernels of other compilers are not: they may be launched otherwise. */
const char *kj_pack_identity(void);

static inline bool kj_pack_reads(const kj_pack *p)
{
    return !p->out;
}
void kj_pack_bytes(kj_pack *p, void *value, size_t size);
/* A number, a truth, a span: what means the same in every process. */
#define KJ_PACK(p, value) kj_pack_bytes(p, &(value), sizeof(value))
void kj_pack_text(kj_pack *p, const char **text); /* or NULL */
/* Room for n of `size` bytes each where they are read; `from` where they are written. */
void *kj_pack_room(kj_pack *p, const void *from, int n, size_t size);
void kj_pack_type(kj_pack *p, kj_dtype *type);
const kj_aggregate *kj_pack_aggregate(kj_pack *p, const kj_aggregate *of); /* or NULL */

/* `filled` are the program's const arrays. All but the bytes of code is made in the arena. */
void kj_pack_code(kj_pack *p, const kj_const_array_info *filled, kj_code *code);

#endif
