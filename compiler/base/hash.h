/* A hash of bytes, for tables in memory: FNV-1a (Fowler, Noll, Vo). What is kept on disk, and what
 * must not meet by chance, has xxHash's 128 bits. */
#ifndef KJ_HASH_H
#define KJ_HASH_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t kj_hash(const char *bytes, size_t size)
{
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < size; i++)
        h = (h ^ (unsigned char)bytes[i]) * 1099511628211u;
    return h;
}

/* One word more: begins with KJ_HASH_BEGIN. The multiplier is MurmurHash3's. */
#define KJ_HASH_BEGIN 0x9e3779b97f4a7c15u
static inline uint64_t kj_hash_word(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0xff51afd7ed558ccdu;
    return hash ^ hash >> 32;
}

#endif
