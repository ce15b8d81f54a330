/* Files that `use` names. In: a path and the file that says so; out: the text, from what the module's
 * options give, from folders, or from the library.
 *
 * What a file is called for the compiler says where it came from: "f" and its device and number, "n" and
 * the name of a source that was given, "s" and a name of the library. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "module/library.h"
#include "module/module.h"

/* One question. */
typedef struct search {
    kj_finder *finder;
    kj_arena *arena;
    const kj_wanted *wanted;
    kj_found *out;
    kj_text places; /* where it was looked for */
} search;

static bool fail(search *s, const char *error, const char *hint)
{
    s->out->error = error;
    s->out->hint = hint;
    return true; /* nowhere else is looked */
}

/* ---- Paths ---- */

/* The path from the folder that `base` is in. */
static const char *beside(kj_arena *arena, const char *base, const char *path)
{
    const char *slash = strrchr(base, '/');
    if (!slash || path[0] == '/')
        return path;
    return kj_arena_printf(arena, "%.*s/%s", (int)(slash - base), base, path);
}

/* Does it lead out of the folder that it is taken from? */
static bool leads_out(const char *path)
{
    for (const char *part = path; *part;) {
        size_t n = strcspn(part, "/");
        if (n == 2 && memcmp(part, "..", 2) == 0)
            return true;
        part += n + strspn(part + n, "/");
    }
    return path[0] == '/';
}

static const char *file_id(kj_arena *arena, const struct stat *st)
{
    return kj_arena_printf(arena, "f%llx:%llx", (unsigned long long)st->st_dev,
                           (unsigned long long)st->st_ino);
}

/* ---- Files ---- */

/* Was it there? Also when it cannot be read: then that is said. */
static bool read_file(search *s, const char *path)
{
    kj_finder *f = s->finder;
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR)) {
        kj_text_printf(&s->places, "%s%s", s->places.size ? ", " : "", path);
        return false;
    }
    free(f->text);
    f->text = NULL;
    bool regular = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    if (regular)
        f->text = kj_read_source(fd, &s->out->size);
    int error = errno;
    if (fd >= 0)
        close(fd);
    if ((fd < 0 || regular) && !f->text && error == ENOMEM)
        kj_arena_exhausted(s->arena);
    if (fd >= 0 && !regular)
        return fail(s, kj_arena_printf(s->arena, "'%s' is no file", path), NULL);
    if (!f->text)
        return fail(s, kj_arena_printf(s->arena, "cannot read '%s': %s", path, strerror(error)),
                    NULL);
    s->out->id = file_id(s->arena, &st);
    s->out->name = path;
    s->out->text = f->text;
    return true;
}

/* In each of the folders, which colons separate. */
static bool read_in(search *s, const char *folders)
{
    for (const char *at = folders; at && *at;) {
        int n = (int)strcspn(at, ":");
        if (n > 0 && read_file(s, kj_arena_printf(s->arena, "%.*s%s%s", n, at,
                                                  at[n - 1] == '/' ? "" : "/", s->wanted->path)))
            return true;
        at += n + (at[n] == ':');
    }
    return false;
}

static bool find_file(search *s)
{
    const kj_wanted *w = s->wanted;
    const kj_finder *f = s->finder;
    const char *folders = f->options ? f->options->path : NULL;
    bool from_file = w->from[0] == 'f' && !f->ctx->limits.untrusted;
    if ((!f->files || f->ctx->limits.untrusted) && leads_out(w->path))
        return false;
    if (from_file && read_file(s, beside(s->arena, w->from_name, w->path)))
        return true;
    return w->path[0] != '/' && (read_in(s, folders) || (f->files && read_in(s, f->path)));
}

/* ---- What the options give ---- */

typedef struct request {
    const search *s;
    kjit_source source;
    kjit_status status;
} request;

static void ask(void *data)
{
    request *r = data;
    const search *s = r->s;
    const kjit_compile_options *o = s->finder->options;
    r->status = o->find(o->user, s->wanted->path, s->wanted->from_name, &r->source);
}

static bool take_source(search *s, const kjit_source *source)
{
    if (!source->name || (!source->text && source->size > 0))
        return fail(s, "what was found for it has no name or no text", NULL);
    s->out->id = kj_arena_printf(s->arena, "n%s", source->name);
    s->out->name = source->name;
    s->out->text = source->text ? source->text : "";
    s->out->size = source->size;
    return true;
}

static bool find_given(search *s)
{
    const kjit_compile_options *o = s->finder->options;
    if (o && o->find) {
        request r = {.s = s};
        kj_ask_home(ask, &r);
        if (r.status == KJIT_OK)
            r.status = kj_check_reserved(s->finder->ctx, KJ_RESERVED(&r.source, "a source's"));
        if (r.status == KJIT_OK)
            return take_source(s, &r.source);
        if (r.status != KJIT_NOT_FOUND)
            return fail(s,
                        kj_arena_printf(s->arena, "'%s' was not given: %s", s->wanted->path,
                                        kjit_status_message(r.status)),
                        NULL);
    }
    const char *name = beside(s->arena, s->wanted->from_name, s->wanted->path);
    for (int i = 0; o && i < o->nsources; i++)
        if (strcmp(o->sources[i].name, name) == 0)
            return take_source(s, &o->sources[i]);
    return false;
}

/* ---- The library ---- */

static bool find_in_library(search *s, const char *path)
{
    size_t len = strlen(path);
    if (len > 4 && !s->wanted->library && strcmp(path + len - 4, ".knl") == 0)
        len -= 4;
    for (int i = 0; i < kj_nlibrary; i++) {
        const kj_library_file *file = &kj_library[i];
        if (strlen(file->name) != len || memcmp(file->name, path, len) != 0)
            continue;
        s->out->id = kj_arena_printf(s->arena, "s%s", file->name);
        s->out->name = kj_arena_printf(s->arena, "std/%s.knl", file->name);
        s->out->text = file->begin;
        s->out->size = (size_t)(file->end - file->begin);
        s->out->checked = true;
        return true;
    }
    return false;
}

static void not_in_library(search *s)
{
    kj_near near = kj_near_to(s->wanted->path);
    const char *list = "";
    for (int i = 0; i < kj_nlibrary; i++) {
        kj_near_offer(&near, kj_library[i].name);
        list = kj_arena_printf(s->arena, "%s%s%s", list, i ? ", " : "", kj_library[i].name);
    }
    fail(s, kj_arena_printf(s->arena, "the library has no file '%s'", s->wanted->path),
         near.best ? kj_arena_printf(s->arena, "did you mean std.%s?", near.best)
                   : kj_arena_printf(s->arena, "it has %s", list));
}

static void not_found(search *s)
{
    const char *path = s->wanted->path;
    bool bare = !strchr(path, '.'), files = s->places.size > 0;
    const char *error = kj_arena_printf(s->arena, "there is no file '%s'", path);
    if (bare)
        fail(s, error, kj_arena_printf(s->arena, "write use \"%s.knl\"", path));
    else if (!files && s->finder->ctx->limits.untrusted)
        fail(s, error,
             "what is untrusted reads the files of the folders that it is given alone: --path=DIR");
    else
        fail(s, error,
             files ? kj_arena_printf(s->arena, "it was looked for at %s, and in the library",
                                     s->places.data)
                   : "a module of a text reads no files but those of the folders that it is given");
}

static bool find(void *user, kj_arena *arena, const kj_wanted *wanted, kj_found *out)
{
    search s = {
        .finder = user, .arena = arena, .wanted = wanted, .out = out, .places = {.arena = arena}};
    bool library = wanted->library || wanted->from[0] == 's';
    bool found = library ? find_in_library(&s, wanted->path)
                         : find_given(&s) || find_file(&s) || find_in_library(&s, wanted->path);
    if (!found && library)
        not_in_library(&s);
    else if (!found)
        not_found(&s);
    return !out->error;
}

/* ---- Finders ---- */

kjit_status kj_finder_open(kj_finder *f, kjit_context *ctx, const char *name,
                           const kjit_compile_options *o)
{
    *f = (kj_finder){.ctx = ctx, .options = o, .loader = {.find = find}};
    f->loader.user = f;
    kj_text_printf(&f->id, "n%s", name);
    if (f->id.failed)
        return kj_no_memory(ctx);
    f->loader.id = f->id.data;
    if (o && o->nsources < 0)
        return kj_fail(ctx, KJIT_INVALID, "nsources is %d: it must be 0 or more", o->nsources);
    if (o && o->nsources > 0 && !o->sources)
        return kj_fail(ctx, KJIT_INVALID, "sources is NULL");
    for (int i = 0; o && i < o->nsources; i++)
        if (!o->sources[i].name || (!o->sources[i].text && o->sources[i].size > 0))
            return kj_fail(ctx, KJIT_INVALID, "sources[%d].%s is NULL", i,
                           o->sources[i].name ? "text" : "name");
    for (int i = 0; o && i < o->nsources; i++)
        if (kj_check_reserved(ctx, KJ_RESERVED(&o->sources[i], "a source's")) != KJIT_OK)
            return KJIT_INVALID;
    return KJIT_OK;
}

kjit_status kj_finder_reads_files(kj_finder *f, int fd)
{
    struct stat st;
    f->files = true;
    f->path = f->ctx->limits.untrusted ? NULL : secure_getenv("KJIT_PATH");
    f->id.size = 0;
    if (fstat(fd, &st) == 0)
        kj_text_printf(&f->id, "f%llx:%llx", (unsigned long long)st.st_dev,
                       (unsigned long long)st.st_ino);
    f->loader.id = f->id.data;
    return f->id.failed ? kj_no_memory(f->ctx) : KJIT_OK;
}

void kj_finder_close(kj_finder *f)
{
    kj_text_free(&f->id);
    free(f->text);
}
