/* The disk cache's directory: opening it, one file (an entry) in and out, locks between processes,
 * and the removal of those not used for longest when it is full. */
#include "module/store.h"
#include "base/c_locale.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/file_limit.h"

#define ENDING ".kjit"
#define TEMPORARY ".new-"

enum {
    NAME_SIZE = 32 + sizeof ENDING,
    STALE = 3600 /* seconds until a temporary file is nobody's */
};

/* ---- The directory ---- */

static void off(kj_store *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void off(kj_store *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    kj_vsnprintf(s->why, sizeof s->why, format, args);
    va_end(args);
    if (s->dir >= 0)
        close(s->dir);
    s->dir = -1;
}

static char *joined(const char *path, const char *name)
{
    size_t size = strlen(path) + strlen(name) + 1;
    char *both = malloc(size);
    if (both)
        kj_snprintf(both, size, "%s%s", path, name);
    return both;
}

static char *default_path(void)
{
    const char *own = secure_getenv("KJIT_CACHE_DIR"), *xdg = secure_getenv("XDG_CACHE_HOME"),
               *home = secure_getenv("HOME");
    if (own)
        return strdup(own);
    if (xdg && *xdg == '/')
        return joined(xdg, "/kjit");
    return home && *home == '/' ? joined(home, "/.cache/kjit") : NULL;
}

/* Makes the directory and those above it. */
static void make_path(char *path)
{
    for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = 0;
        mkdir(path, 0700);
        *slash = '/';
    }
    mkdir(path, 0700);
}

static uint64_t limit_of(const char *text)
{
    char *end;
    errno = 0;
    unsigned long long n = text && *text >= '0' && *text <= '9' ? strtoull(text, &end, 10) : 0;
    const char *const units = "kKmMgGtT", *unit;
    if (!text || *text < '0' || *text > '9' || errno)
        return (uint64_t)512 << 20;
    if (*end && (unit = strchr(units, *end)))
        for (long i = (unit - units) / 2; i >= 0 && n < UINT64_MAX >> 10; i--)
            n <<= 10;
    return n;
}

static void open_directory(kj_store *s, bool make)
{
    struct stat st;
    if (make)
        make_path(s->path);
    s->dir = open(s->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    s->missing = s->dir < 0 && errno == ENOENT && !make;
    if (s->missing)
        return;
    if (s->dir < 0 || fstat(s->dir, &st) != 0)
        off(s, "%s", strerror(errno));
    else if (st.st_uid != geteuid())
        off(s, "it belongs to another user");
    else if (st.st_mode & 022)
        off(s, "others may write to it (chmod go-w)");
}

void kj_store_make(kj_store *s)
{
    open_directory(s, true);
}

static void begin(kj_store *s, const char *path, bool make)
{
    *s = (kj_store){.dir = -1, .limit = limit_of(secure_getenv("KJIT_CACHE_SIZE"))};
    s->path = path ? strdup(path) : default_path();
    if (!s->path) {
        off(s, "there is no HOME");
        return;
    }
    if (!*s->path || strcmp(s->path, "off") == 0 || s->limit == 0) {
        off(s, s->limit ? "it is switched off" : "KJIT_CACHE_SIZE is 0");
        free(s->path);
        s->path = NULL;
        return;
    }
    open_directory(s, make);
}

void kj_store_open(kj_store *s, const char *path)
{
    begin(s, path, true);
}

void kj_store_look(kj_store *s, const char *path)
{
    begin(s, path, false);
}

void kj_store_close(kj_store *s)
{
    if (s->dir >= 0)
        close(s->dir);
    free(s->path);
    *s = (kj_store){.dir = -1};
}

/* ---- A file ---- */

typedef struct header {
    char magic[8];
    uint64_t key_size, value_size;
    XXH128_hash_t check; /* of what follows: the key and the value */
} header;

static const char magic[8] = "kjit\r\n\032\1"; /* the last is the format's number */

static XXH128_hash_t name_of(const void *key, size_t size, char name[NAME_SIZE])
{
    XXH128_hash_t h = XXH3_128bits(key, size);
    kj_snprintf(name, NAME_SIZE, "%016llx%016llx" ENDING, (unsigned long long)h.high64,
                (unsigned long long)h.low64);
    return h;
}

static bool read_all(int fd, char *to, size_t size)
{
    while (size > 0) {
        ssize_t n = read(fd, to, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        to += n;
        size -= (size_t)n;
    }
    return true;
}

/* Takes in what follows the header, `size` bytes of it, once it is sure that there is that much and
 * no more than the store may have. False unless the file is whole. */
static bool read_rest(const kj_store *s, int fd, const header *h, uint64_t size, kj_stored *out)
{
    if (memcmp(h->magic, magic, sizeof magic) != 0 || h->key_size > size ||
        h->value_size != size - h->key_size || size > s->limit)
        return false;
    char *file = malloc((size_t)size + 1);
    if (!file || !read_all(fd, file, (size_t)size) ||
        !XXH128_isEqual(h->check, XXH3_128bits(file, (size_t)size))) {
        free(file);
        return false;
    }
    *out = (kj_stored){file, file, file + h->key_size, (size_t)h->key_size, (size_t)h->value_size};
    return true;
}

/* By the precise clock: files made since the kernel's last tick, which a busy host may hold back for
 * a tenth of a second, do not count as used later. It may be a file system nobody can write to. */
static void touch_file(int fd)
{
    struct timespec now[2];
    clock_gettime(CLOCK_REALTIME, &now[0]);
    now[1] = now[0];
    futimens(fd, now);
}

/* *st is the file's. */
static bool read_file(const kj_store *s, const char *name, bool touch, struct stat *st,
                      kj_stored *out)
{
    int fd = openat(s->dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return false;
    header h;
    bool found = fstat(fd, st) == 0 && S_ISREG(st->st_mode) && st->st_uid == geteuid() &&
                 (size_t)st->st_size >= sizeof h && read_all(fd, (char *)&h, sizeof h) &&
                 read_rest(s, fd, &h, (uint64_t)st->st_size - sizeof h, out);
    if (found && touch)
        touch_file(fd);
    close(fd);
    return found;
}

bool kj_store_get(const kj_store *s, const void *key, size_t size, kj_stored *out)
{
    char name[NAME_SIZE];
    struct stat st;
    if (s->dir < 0)
        return false;
    name_of(key, size, name);
    if (!read_file(s, name, true, &st, out))
        return false;
    bool same = out->key_size == size && memcmp(out->key, key, size) == 0;
    if (!same) {
        free(out->file);
        out->file = NULL;
    }
    return same;
}

/* ---- Making room ---- */

typedef struct aged {
    char name[NAME_SIZE];
    uint64_t size;
    struct timespec used;
} aged;

static int older(const void *a, const void *b)
{
    const struct timespec *x = &((const aged *)a)->used, *y = &((const aged *)b)->used;
    if (x->tv_sec != y->tv_sec)
        return x->tv_sec < y->tv_sec ? -1 : 1;
    return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

static bool is_value(const char *name)
{
    return strlen(name) == NAME_SIZE - 1 && strcmp(name + 32, ENDING) == 0;
}

static DIR *entries_of(const kj_store *s)
{
    int fd = openat(s->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = fd < 0 ? NULL : fdopendir(fd);
    if (fd >= 0 && !entries)
        close(fd);
    return entries;
}

/* The values' files, for free(); what writers that were ended left behind goes on the way. */
static aged *list(const kj_store *s, size_t *n)
{
    DIR *entries = entries_of(s);
    size_t room = 0;
    aged *files = NULL;
    *n = 0;
    for (struct dirent *e; entries && (e = readdir(entries));) {
        struct stat st;
        if (fstatat(s->dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        if (strncmp(e->d_name, TEMPORARY, sizeof TEMPORARY - 1) == 0 &&
            st.st_mtim.tv_sec < time(NULL) - STALE)
            unlinkat(s->dir, e->d_name, 0);
        if (!is_value(e->d_name))
            continue;
        if (*n == room) {
            aged *more = realloc(files, (room = room ? 2 * room : 256) * sizeof *files);
            if (!more)
                break;
            files = more;
        }
        aged *file = &files[(*n)++];
        memcpy(file->name, e->d_name, NAME_SIZE);
        file->size = (uint64_t)st.st_size;
        file->used = st.st_mtim;
    }
    if (entries)
        closedir(entries);
    return files;
}

/* Down to four fifths of the limit, so that it is not soon done again. */
static void make_room(const kj_store *s)
{
    size_t n;
    uint64_t total = 0;
    aged *files = list(s, &n);
    for (size_t i = 0; i < n; i++)
        total += files[i].size;
    if (total > s->limit) {
        qsort(files, n, sizeof *files, older);
        for (size_t i = 0; i < n && total > s->limit / 5 * 4; i++) {
            unlinkat(s->dir, files[i].name, 0);
            total -= files[i].size;
        }
    }
    free(files);
}

/* To look at all files takes as long as there are many. So it is done once for a sixteenth of the limit that was
 * written, as a hash has it by chance; but for no small value more often than for each sixteenth. */
static bool is_looked_at(const kj_store *s, size_t written, uint64_t chance)
{
    enum { SHARE = 16, LARGE = 256 };
    uint64_t each = s->limit / SHARE / written;
    return written >= s->limit / LARGE || chance % (each > SHARE ? each : SHARE) == 0;
}

/* A new file under a name nobody else has. */
static int create(const kj_store *s, char *name, size_t size)
{
    for (int tries = 0; tries < 8; tries++) {
        uint64_t random = 0;
        if (getrandom(&random, sizeof random, GRND_NONBLOCK) != (ssize_t)sizeof random)
            random = (uint64_t)getpid() << 32 ^ (uintptr_t)name ^ (uint64_t)tries;
        kj_snprintf(name, size, TEMPORARY "%016llx", (unsigned long long)random);
        int fd = openat(s->dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

void kj_store_put(const kj_store *s, const void *key, size_t size, const void *value,
                  size_t value_size)
{
    char name[NAME_SIZE], temporary[32];
    if (s->dir < 0)
        return;
    header h = {.key_size = size, .value_size = value_size};
    memcpy(h.magic, magic, sizeof magic);
    XXH3_state_t state;
    XXH3_128bits_reset(&state);
    XXH3_128bits_update(&state, key, size);
    XXH3_128bits_update(&state, value, value_size);
    h.check = XXH3_128bits_digest(&state);
    int fd = create(s, temporary, sizeof temporary);
    if (fd < 0)
        return;
    bool written = kj_write_all(fd, (const char *)&h, sizeof h) && kj_write_all(fd, key, size) &&
                   kj_write_all(fd, value, value_size);
    written = close(fd) == 0 && written;
    XXH128_hash_t hash = name_of(key, size, name);
    if (!written || renameat(s->dir, temporary, s->dir, name) != 0)
        unlinkat(s->dir, temporary, 0);
    else if (is_looked_at(s, sizeof h + size + value_size, hash.low64))
        make_room(s);
}

/* ---- Locks ---- */

/* A byte of one file stands for a key. */
static bool lock_byte(int fd, short type, uint64_t at)
{
    struct flock l = {.l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)at, .l_len = 1};
    return fcntl(fd, F_OFD_SETLK, &l) == 0;
}

int kj_store_lock(const kj_store *s, const void *key, size_t size)
{
    enum { TRIES = 10000 };
    const struct timespec pause = {.tv_nsec = 1000000};
    int fd =
        s->dir < 0 ? -1 : openat(s->dir, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return -1;
    uint64_t at = XXH3_64bits(key, size) >> 2;
    for (int i = 0; i < TRIES; i++) {
        if (lock_byte(fd, F_WRLCK, at))
            return fd;
        if (errno != EAGAIN && errno != EACCES)
            break;
        nanosleep(&pause, NULL);
    }
    close(fd);
    return -1;
}

void kj_store_unlock(int lock)
{
    if (lock < 0)
        return;
    struct flock all = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
    fcntl(lock, F_OFD_SETLK, &all); /* a forked child may have the descriptor too */
    close(lock);
}

/* ---- All values ---- */

void kj_store_each(const kj_store *s, kj_store_visit *visit, void *user)
{
    size_t n = 0;
    aged *files = s->dir < 0 ? NULL : list(s, &n);
    if (n > 0)
        qsort(files, n, sizeof *files, older);
    for (size_t i = n; i-- > 0;) {
        struct stat st;
        kj_stored stored;
        if (!read_file(s, files[i].name, false, &st, &stored))
            continue;
        visit(user, &stored, files[i].size, files[i].used.tv_sec);
        free(stored.file);
    }
    free(files);
}

int kj_store_clear(const kj_store *s)
{
    size_t n = 0;
    int removed = 0;
    aged *files = s->dir < 0 ? NULL : list(s, &n);
    for (size_t i = 0; i < n; i++)
        removed += unlinkat(s->dir, files[i].name, 0) == 0;
    free(files);
    return removed;
}
