/* .npz: several arrays in a ZIP archive, NAME.npy each, as numpy.savez writes them. The archive is libzip's, where that is
 * installed, loaded when the first is read or written; its members are .npy files in memory. */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "io/npy.h"

typedef struct zip_error { /* libzip's own; public */
    int zip, system;
    char *text;
} zip_error;

/* Its functions, each as zip_NAME. */
#define FUNCTIONS(F) \
    F(void *, source_buffer_create, (const void *data, uint64_t size, int owned, zip_error *e)) \
    F(void *, open_from_source, (void *source, int flags, zip_error *e)) \
    F(int64_t, get_num_entries, (void *zip, uint32_t flags)) \
    F(const char *, get_name, (void *zip, uint64_t i, uint32_t flags)) \
    F(int64_t, name_locate, (void *zip, const char *name, uint32_t flags)) \
    F(void *, fopen_index, (void *zip, uint64_t i, uint32_t flags)) \
    F(int64_t, fread, (void *file, void *data, uint64_t size)) \
    F(int, fclose, (void *file)) \
    F(const char *, strerror, (void *zip)) \
    F(const char *, file_strerror, (void *file)) \
    F(void, discard, (void *zip)) \
    F(void *, source_buffer, (void *zip, const void *data, uint64_t size, int owned)) \
    F(int64_t, file_add, (void *zip, const char *name, void *source, uint32_t flags)) \
    F(int, set_file_compression, (void *zip, uint64_t i, int32_t method, uint32_t flags)) \
    F(int, close, (void *zip)) \
    F(void, source_keep, (void *source)) \
    F(void, source_free, (void *source)) \
    F(int, source_open, (void *source)) \
    F(int, source_close, (void *source)) \
    F(int, source_seek, (void *source, int64_t at, int whence)) \
    F(int64_t, source_tell, (void *source)) \
    F(int64_t, source_read, (void *source, void *data, uint64_t size)) \
    F(void, error_init, (zip_error * e)) \
    F(const char *, error_strerror, (zip_error * e)) \
    F(void, error_fini, (zip_error * e))

typedef struct library {
    void *loaded;
#define FIELD(result, name, parameters) result(*name) parameters;
    FUNCTIONS(FIELD)
#undef FIELD
} library;

enum { TRUNCATE = 8, READ_ONLY = 16 };
enum { STORED = 0 };      /* not compressed, as by numpy.savez */
enum { PIECE = 1 << 12 }; /* on stacks of 64 KiB */

/* An archive in memory. */
typedef struct archive {
    kjit_context *ctx;
    const char *path;
    library z;
    void *source, *zip;
    zip_error error;
} archive;

/* ---- The library ---- */

/* Of dlopen's reason, which glibc gives as a text alone. */
static bool lacks_memory(const char *why)
{
    return why && (strstr(why, "annot allocate memory") || strstr(why, "ut of memory"));
}

static kjit_status open_library(archive *a)
{
    static const char *const names[] = {"libzip.so.5", "libzip.so.4"};
    bool all = true;
    for (size_t i = 0; !a->z.loaded && i < sizeof names / sizeof *names; i++)
        a->z.loaded = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!a->z.loaded)
        return lacks_memory(dlerror())
                   ? kj_no_memory(a->ctx)
                   : kj_fail(
                         a->ctx, KJIT_IO,
                         "'%s': .npz files are read and written by libzip, which is not installed",
                         a->path);
/* C has no conversion from what dlsym returns to a function. */
#define FIND(result, name, parameters) \
    *(void **)&a->z.name = dlsym(a->z.loaded, "zip_" #name); \
    all = all && a->z.name;
    FUNCTIONS(FIND)
#undef FIND
    if (!all)
        return kj_fail(a->ctx, KJIT_IO, "'%s': the libzip that is installed is too old", a->path);
    a->z.error_init(&a->error);
    return KJIT_OK;
}

static kjit_status bad(archive *a, const char *what, const char *why)
{
    return kj_fail(a->ctx, KJIT_FORMAT, "cannot %s '%s' as .npz: %s", what, a->path, why);
}

/* `data` outlives it; NULL: a new archive. */
static kjit_status open_archive(archive *a, const char *data, size_t size)
{
    kjit_status status = open_library(a);
    if (status != KJIT_OK)
        return status;
    a->source = a->z.source_buffer_create(data, size, 0, &a->error);
    if (!a->source)
        return kj_no_memory(a->ctx);
    a->zip = a->z.open_from_source(a->source, data ? READ_ONLY : TRUNCATE, &a->error);
    if (a->zip)
        return KJIT_OK;
    a->z.source_free(a->source);
    return bad(a, data ? "read" : "write", a->z.error_strerror(&a->error));
}

static void close_archive(archive *a)
{
    if (a->zip)
        a->z.discard(a->zip);
    if (a->z.loaded && a->z.error_fini)
        a->z.error_fini(&a->error);
    if (a->z.loaded)
        dlclose(a->z.loaded);
}

/* ---- Reading ---- */

static kjit_status unknown_member(archive *a, const char *name, int64_t n)
{
    kj_text list = {0};
    for (int64_t i = 0; i < n && i < 20; i++) {
        const char *member = a->z.get_name(a->zip, (uint64_t)i, 0);
        size_t size = member ? strlen(member) : 0;
        if (size > 4 && strcmp(member + size - 4, ".npy") == 0)
            kj_text_printf(&list, "%s%.*s", list.size ? ", " : "", (int)size - 4, member);
    }
    const char *all = list.data ? list.data : "none";
    kjit_status status =
        list.failed ? kj_no_memory(a->ctx)
        : n == 0    ? kj_fail(a->ctx, KJIT_FORMAT, "'%s' has no arrays", a->path)
        : name ? kj_fail(a->ctx, KJIT_NOT_FOUND, "'%s' has no array '%s': it has %s", a->path, name,
                         all)
               : kj_fail(a->ctx, KJIT_INVALID, "'%s' has %lld arrays, and no name says which: %s",
                         a->path, (long long)n, all);
    kj_text_free(&list);
    return status;
}

static kjit_status find_member(archive *a, const char *name, int64_t *out)
{
    int64_t n = a->z.get_num_entries(a->zip, 0);
    *out = 0;
    if (!name)
        return n == 1 ? KJIT_OK : unknown_member(a, NULL, n);
    kj_text member = {0};
    kj_text_printf(&member, "%s.npy", name);
    kjit_status status = member.failed ? kj_no_memory(a->ctx) : KJIT_OK;
    if (status == KJIT_OK) {
        *out = a->z.name_locate(a->zip, member.data, 0);
        if (*out < 0)
            status = unknown_member(a, name, n);
    }
    kj_text_free(&member);
    return status;
}

/* All of a member into a file in memory, which counts as arrays do. */
static kjit_status unpack(archive *a, void *member, kj_out_file *file, size_t *total)
{
    char piece[PIECE];
    kj_failure why;
    for (;;) {
        int64_t n = a->z.fread(member, piece, sizeof piece);
        if (n < 0)
            return bad(a, "read", a->z.file_strerror(member));
        if (n == 0)
            return lseek(file->fd, 0, SEEK_SET) == 0 ? KJIT_OK
                                                     : kj_file_error(a->ctx, "read", a->path);
        kjit_status status = kj_limit_arrays(a->ctx, (size_t)n, &why);
        if (status != KJIT_OK)
            return kj_fail_why(a->ctx, status, &why);
        *total += (size_t)n;
        status = kj_file_write(a->ctx, file, piece, (size_t)n);
        if (status != KJIT_OK)
            return status;
    }
}

static kjit_status read_member(archive *a, const kj_load_request *q, int64_t i, kjit_array **out)
{
    kj_out_file file = {.fd = memfd_create("npy", MFD_CLOEXEC), .path = (char *)q->path};
    if (file.fd < 0)
        return kj_file_error(q->ctx, "read", q->path);
    void *member = a->z.fopen_index(a->zip, (uint64_t)i, 0);
    size_t total = 0;
    kjit_status status =
        member ? unpack(a, member, &file, &total) : bad(a, "read", a->z.strerror(a->zip));
    if (member)
        a->z.fclose(member);
    if (status == KJIT_OK)
        status = kj_npy_read(q, file.fd, out);
    kj_unlimit_arrays(q->ctx, total);
    close(file.fd);
    return status;
}

/* An archive, and its bytes. */
struct kj_npz {
    archive archive;
    char *data;
};

kjit_status kj_npz_open(kjit_context *ctx, const char *path, kj_npz **out)
{
    size_t size;
    kj_npz *z = calloc(1, sizeof *z);
    *out = NULL;
    if (!z)
        return kj_no_memory(ctx);
    z->archive = (archive){.ctx = ctx, .path = path};
    kjit_status status = kj_file_get(ctx, path, &z->data, &size);
    if (status != KJIT_OK) {
        free(z);
        return status;
    }
    status = open_archive(&z->archive, z->data, size);
    if (status == KJIT_OK)
        *out = z;
    else
        kj_npz_close(z);
    return status;
}

kjit_status kj_npz_read(kj_npz *z, const kj_load_request *q, kjit_array **out)
{
    int64_t i;
    kjit_status status = find_member(&z->archive, q->name, &i);
    return status == KJIT_OK ? read_member(&z->archive, q, i, out) : status;
}

void kj_npz_close(kj_npz *z)
{
    close_archive(&z->archive);
    free(z->data);
    free(z);
}

kjit_status kj_npz_load(const kj_load_request *q, kjit_array **out)
{
    kj_npz *z;
    kjit_status status = kj_npz_open(q->ctx, q->path, &z);
    if (status != KJIT_OK)
        return status;
    status = kj_npz_read(z, q, out);
    kj_npz_close(z);
    return status;
}

kjit_status kj_npz_usable(kjit_context *ctx, const char *path)
{
    archive a = {.ctx = ctx, .path = path};
    kjit_status status = open_library(&a);
    close_archive(&a);
    return status;
}

/* ---- Writing ---- */

/* An array as a .npy file, the bytes for free(). */
static kjit_status pack(const kj_save_request *q, const kjit_array *a, char **bytes, size_t *size)
{
    kj_out_file file = {.fd = memfd_create("npy", MFD_CLOEXEC), .path = (char *)q->path};
    if (file.fd < 0)
        return kj_file_error(q->ctx, "write", q->path);
    kjit_status status = kj_npy_write(q->ctx, &file, a);
    off_t n = lseek(file.fd, 0, SEEK_CUR);
    if (status == KJIT_OK) {
        *size = (size_t)n;
        *bytes = malloc(*size);
        if (!*bytes)
            status = kj_no_memory(q->ctx);
        else if (lseek(file.fd, 0, SEEK_SET) != 0 || kj_file_read(file.fd, *bytes, *size) != n)
            status = kj_file_error(q->ctx, "write", q->path);
    }
    close(file.fd);
    return status;
}

/* As numpy.savez names them. */
static void put_name(kj_text *t, const kjit_named_array *a, int nth)
{
    if (a->name)
        kj_text_puts(t, a->name);
    else
        kj_text_printf(t, "arr_%d", nth);
}

static kjit_status check_names(const kj_save_request *q)
{
    kj_text names = {0}; /* each with a line end, which no name has, around it */
    kjit_status status = KJIT_OK;
    kj_text_puts(&names, "\n");
    for (int i = 0; i < q->n && status == KJIT_OK; i++) {
        kj_text one = {0};
        kj_text_puts(&one, "\n");
        put_name(&one, &q->arrays[i], i);
        kj_text_puts(&one, "\n");
        if (one.failed || names.failed)
            status = kj_no_memory(q->ctx);
        else if (strstr(names.data, one.data))
            status = kj_fail(q->ctx, KJIT_FORMAT,
                             "cannot save '%s': two of its arrays are called '%.*s'", q->path,
                             (int)one.size - 2, one.data + 1);
        else
            kj_text_puts(&names, one.data + 1);
        kj_text_free(&one);
    }
    kj_text_free(&names);
    return status;
}

/* The bytes are the archive's from here on, or freed. */
static kjit_status add_member(archive *a, const kjit_named_array *array, int nth, char *bytes,
                              size_t size)
{
    kj_text member = {0};
    void *source = NULL;
    put_name(&member, array, nth);
    kj_text_puts(&member, ".npy");
    kjit_status status = member.failed ? kj_no_memory(a->ctx) : KJIT_OK;
    if (status == KJIT_OK)
        source = a->z.source_buffer(a->zip, bytes, size, 1);
    if (!source)
        free(bytes);
    int64_t i = source ? a->z.file_add(a->zip, member.data, source, 0) : -1;
    if (source && i < 0)
        a->z.source_free(source);
    if (status == KJIT_OK &&
        (i < 0 || a->z.set_file_compression(a->zip, (uint64_t)i, STORED, 0) != 0))
        status = bad(a, "write", a->z.strerror(a->zip));
    kj_text_free(&member);
    return status;
}

static kjit_status copy_out(archive *a)
{
    char piece[PIECE];
    kj_out_file file;
    int64_t n = 0;
    kjit_status status = kj_file_begin(a->ctx, a->path, &file);
    if (status != KJIT_OK)
        return status;
    bool open = a->z.source_open(a->source) == 0;
    while (open && status == KJIT_OK && (n = a->z.source_read(a->source, piece, sizeof piece)) > 0)
        status = kj_file_write(a->ctx, &file, piece, (size_t)n);
    if (open)
        a->z.source_close(a->source);
    if (status == KJIT_OK && (!open || n < 0))
        status = bad(a, "write", "the archive in memory cannot be read");
    if (status == KJIT_OK)
        return kj_file_commit(a->ctx, &file);
    kj_file_abandon(&file);
    return status;
}

/* Makes the archive's bytes, and a file of them. */
static kjit_status finish(archive *a)
{
    a->z.source_keep(a->source);
    kjit_status status;
    if (a->z.close(a->zip) == 0) {
        a->zip = NULL;
        status = copy_out(a);
    } else {
        status = bad(a, "write", a->z.strerror(a->zip));
    }
    a->z.source_free(a->source);
    return status;
}

kjit_status kj_npz_save(const kj_save_request *q)
{
    archive a = {.ctx = q->ctx, .path = q->path};
    kjit_status status = check_names(q);
    if (status == KJIT_OK)
        status = open_archive(&a, NULL, 0);
    for (int i = 0; i < q->n && status == KJIT_OK; i++) {
        char *bytes = NULL;
        size_t size = 0;
        status = pack(q, q->arrays[i].array, &bytes, &size);
        if (status == KJIT_OK)
            status = add_member(&a, &q->arrays[i], i, bytes, size);
        else
            free(bytes);
    }
    if (status == KJIT_OK)
        status = finish(&a);
    close_archive(&a);
    return status;
}
