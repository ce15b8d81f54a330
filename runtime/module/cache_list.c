/* What is in the cache, for people: entries out, and why a module could use them or not. */
#include <string.h>

#include "module/cache.h"

kjit_status kjit_cache_describe(kjit_context *ctx, kjit_cache_info *out)
{
    kjit_status status = kj_enter_context(ctx);
    if (status != KJIT_OK)
        return status;
    if (!out)
        return kj_no_out(ctx);
    const kj_store store = kj_cache_look(ctx);
    bool off = store.dir < 0 && !store.missing;
    *out = (kjit_cache_info){
        .directory = store.path, .off = off ? ctx->store->why : NULL, .limit = store.limit};
    return KJIT_OK;
}

kjit_status kjit_cache_clear(kjit_context *ctx, int *removed)
{
    kjit_status status = kj_enter_context(ctx);
    if (status != KJIT_OK)
        return status;
    const kj_store store = kj_cache_look(ctx);
    int n = kj_store_clear(&store);
    if (removed)
        *removed = n;
    return KJIT_OK;
}

/* ---- Keys ---- */

typedef struct piece {
    const char *text;
    size_t size;
} piece;

/* What follows `name` and a space on the next line; moves on. Empty if that is another line. */
static piece take_line(piece *key, const char *name)
{
    size_t n = strlen(name);
    const char *end = memchr(key->text, '\n', key->size);
    piece line = {key->text, end ? (size_t)(end - key->text) : key->size};
    key->text += line.size + (end != NULL);
    key->size -= line.size + (end != NULL);
    if (line.size <= n || memcmp(line.text, name, n) != 0 || line.text[n] != ' ')
        return (piece){"", 0};
    return (piece){line.text + n + 1, line.size - n - 1};
}

static bool equal(piece a, piece b)
{
    return a.size == b.size && memcmp(a.text, b.text, a.size) == 0;
}

static uint32_t first_difference(piece a, piece b)
{
    uint32_t i = 0;
    while (i < a.size && i < b.size && a.text[i] == b.text[i])
        i++;
    return i;
}

/* ---- Entries ---- */

typedef struct listing {
    kjit_module *mod; /* NULL: all entries */
    kj_arena arena;
    kj_text origin; /* of its launches */
    void (*visit)(void *user, const kjit_cache_entry *entry);
    void *user;
    bool failed;
} listing;

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void add(kj_text *why, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(kj_text *why, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    kj_text_puts(why, why->size > 0 ? "; " : "");
    kj_text_vprintf(why, format, args);
    va_end(args);
}

static size_t first_word(piece p)
{
    const char *space = memchr(p.text, ' ', p.size);
    return space ? (size_t)(space - p.text) : p.size;
}

/* Takes the lines that hold for all kernels off the key: says what is not as the module's launches
 * have it. */
static void compare_origin(const listing *l, piece *key, kj_text *why)
{
    piece now = {l->origin.data, l->origin.size};
    piece build = take_line(key, "build"), target = take_line(key, "target"),
          options = take_line(key, "options");
    if (!l->mod)
        return;
    if (!equal(build, take_line(&now, "build")))
        add(why, "it was made by %.*s", (int)build.size, build.text);
    if (!equal(target, take_line(&now, "target")))
        add(why, "it is for another processor, %.*s", (int)first_word(target), target.text);
    piece asked = take_line(&now, "options");
    if (!equal(options, asked))
        add(why, "it was made with %.*s, not with %.*s", (int)options.size, options.text,
            (int)asked.size, asked.text);
}

/* files: how the text is made up; empty: it is one file. */
static void compare_source(const listing *l, piece files, piece source, kj_text *why)
{
    const kj_source *own = &l->mod->source;
    piece now = {own->text, own->size};
    kj_text made = {0};
    kj_put_files(&made, l->mod->program);
    if (!equal(source, now)) {
        kj_position at = kj_where(own, first_difference(source, now));
        bool first = strcmp(at.file, own->name) == 0;
        add(why, "%s has changed, from line %u on", first ? "the source" : at.file, at.line);
    } else if (!equal(files, (piece){made.data ? made.data : "", made.size})) {
        add(why, "what its files use has changed");
    }
    why->failed |= made.failed;
    kj_text_free(&made);
}

static bool has_kernel(const kjit_module *mod, piece name)
{
    for (int i = 0; i < mod->nall; i++) {
        const char *own = mod->kernels[i].decl->name;
        if (equal(name, (piece){own, strlen(own)}))
            return true;
    }
    return false;
}

static bool is_about(const kjit_module *mod, const char *file, piece kernel, bool same)
{
    return has_kernel(mod, kernel) &&
           (same || strcmp(base_name(file), base_name(mod->source.name)) == 0);
}

static void look(void *user, const kj_stored *stored, uint64_t size, int64_t used)
{
    listing *l = user;
    piece key = {stored->key, stored->key_size};
    kj_cache_value value;
    kj_text why = {0}, kernel = {0};
    if (!kj_cache_parse(stored, &value))
        return;
    compare_origin(l, &key, &why);
    piece name = take_line(&key, "kernel");
    take_line(&key, "variant");
    piece files = take_line(&key, "files");
    if (files.size > 0)
        take_line(&key, "source");
    if (l->mod)
        compare_source(l, files, key, &why);
    kj_text_add(&kernel, name.text, name.size);
    l->failed = l->failed || why.failed || kernel.failed;
    if (!l->failed && (!l->mod || is_about(l->mod, value.file, name, why.size == 0)))
        l->visit(l->user, &(kjit_cache_entry){.file = value.file,
                                              .kernel = kernel.data,
                                              .variant = value.variant,
                                              .size = size,
                                              .used = used,
                                              .unusable = why.size > 0 ? why.data : NULL});
    kj_text_free(&why);
    kj_text_free(&kernel);
}

static void put_origin(void *data)
{
    listing *l = data;
    kjit_context *ctx = l->mod->ctx;
    kj_compile_options options = l->mod->options;
    if (ctx->ops->code)
        ctx->ops->code->target(ctx->dev, &options);
    kj_cache_origin(&l->origin, &options, &l->arena);
}

kjit_status kjit_cache_list(kjit_context *ctx, kjit_module *mod,
                            void (*visit)(void *user, const kjit_cache_entry *entry), void *user)
{
    kjit_status status = kj_enter_context(ctx);
    if (status != KJIT_OK)
        return status;
    if (!visit)
        return kj_fail(ctx, KJIT_INVALID, "visit is NULL");
    if (mod && !kj_lives(mod, KJ_MODULE))
        return kj_fail(ctx, KJIT_INVALID, "the module was freed");
    if (mod && mod->ctx != ctx)
        return kj_fail(ctx, KJIT_INVALID, "the module belongs to another context");
    if (mod && mod->image)
        return kj_fail(ctx, KJIT_INVALID,
                       "the module was made ahead of time: nothing is kept of it");
    const kj_store store = kj_cache_look(ctx);
    listing l = {.mod = mod, .visit = visit, .user = user};
    kj_arena_init(&l.arena, NULL);
    l.failed = mod && kj_guarded(&l.arena, put_origin, &l, NULL) != KJ_DONE;
    kj_arena_free(&l.arena);
    if (!l.failed)
        kj_store_each(&store, look, &l);
    kj_text_free(&l.origin);
    return l.failed ? kj_no_memory(ctx) : KJIT_OK;
}
