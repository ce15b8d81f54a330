/* Values kept on disk by their keys, for all processes of a user.
 *
 * A directory with a file a value. Whatever is wrong with it, a get finds nothing and a put leaves
 * nothing: files are made under another name and renamed when they are complete, and a file is
 * believed only when its lengths, its key and its checksum agree. When the files pass the limit,
 * those that were not used for the longest time go. All calls are thread-safe, and no call fails in
 * a way that its caller must know of. */
#ifndef KJ_STORE_H
#define KJ_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct kj_store {
    char *path;     /* NULL: none could be named */
    int dir;        /* its descriptor; -1: nothing is kept */
    bool missing;   /* there is no such directory yet, and it is only looked at; dir is -1 */
    uint64_t limit; /* bytes */
    char why[300];  /* nothing is kept: a clause, "it belongs to another user" */
} kj_store;

/* NULL: $KJIT_CACHE_DIR, else kjit in $XDG_CACHE_HOME, else in ~/.cache; "off" or "": nothing is
 * kept. Made with mode 0700 where it is missing. $KJIT_CACHE_SIZE is the limit, as "512M". */
void kj_store_open(kj_store *s, const char *path);
void kj_store_look(kj_store *s, const char *path); /* the same, but none is made */
void kj_store_make(kj_store *s);                   /* of one that was missing */
void kj_store_close(kj_store *s);

typedef struct kj_stored {
    char *file; /* all of it: for free() */
    const char *key, *value;
    size_t key_size, value_size;
} kj_stored;

/* False when there is none. */
bool kj_store_get(const kj_store *s, const void *key, size_t size, kj_stored *out);
void kj_store_put(const kj_store *s, const void *key, size_t size, const void *value,
                  size_t value_size);

/* While one holds a key's lock no other process or thread does: who wants the same value waits for
 * it rather than making it too; 10 seconds, if it must be. It is let go when the process ends,
 * however it does. -1, which kj_store_unlock takes, is no lock. */
int kj_store_lock(const kj_store *s, const void *key, size_t size);
void kj_store_unlock(int lock);

/* Every value, the last used first; `used` is when it was last put or got, in seconds since
 * 1970. */
typedef void kj_store_visit(void *user, const kj_stored *stored, uint64_t size, int64_t used);
void kj_store_each(const kj_store *s, kj_store_visit *visit, void *user);
/* Removes all values; returns how many. */
int kj_store_clear(const kj_store *s);

#endif
