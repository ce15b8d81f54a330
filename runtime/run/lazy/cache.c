/* The modules of expressions, kept by their source text. In: a text; out: its module, compiled when
 * it is not there. A context keeps so many of them; past that the one that was asked for longest ago
 * goes, once no launch has it any more. */
#include "run/lazy/lazy.h"

#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

enum { BUCKETS = 64, DEFAULT_MOST = 256 };

typedef struct entry {
    struct entry *next;          /* of its bucket */
    struct entry *newer, *older; /* by when they were asked for */
    kjit_module *mod;            /* its source is the key */
    uint64_t hash;
} entry;

struct kj_lazy_cache {
    entry *buckets[BUCKETS];
    entry *newest, *oldest;
    int n;
};

static int most_of(const kjit_context *ctx)
{
    return ctx->max_expressions == 0 ? DEFAULT_MOST : ctx->max_expressions;
}

/* ---- The order in which they were asked for ---- */

static void leave(kj_lazy_cache *cache, entry *e)
{
    *(e->newer ? &e->newer->older : &cache->newest) = e->older;
    *(e->older ? &e->older->newer : &cache->oldest) = e->newer;
}

static void come(kj_lazy_cache *cache, entry *e)
{
    e->newer = NULL;
    e->older = cache->newest;
    *(e->older ? &e->older->newer : &cache->oldest) = e;
    cache->newest = e;
}

/* ---- Looking and keeping: under the context's lock ---- */

/* The same text, and behind it the texts of the same files. */
static bool is_of(const kjit_module *mod, const kj_text *text, const kj_source *used)
{
    const kj_source *s = &mod->source;
    kj_source_part first = kj_source_at(s, 0);
    size_t begin = used ? kj_source_at(used, 0).end : 0, rest = used ? used->size - begin : 0;
    return first.end == text->size && s->size == text->size + rest &&
           memcmp(s->text, text->data, text->size) == 0 &&
           (rest == 0 || memcmp(s->text + first.end, used->text + begin, rest) == 0);
}

static kjit_module *find(kj_lazy_cache *cache, const kj_text *text, const kj_source *used,
                         uint64_t hash)
{
    entry *e = cache ? cache->buckets[hash % BUCKETS] : NULL;
    while (e && (e->hash != hash || !is_of(e->mod, text, used)))
        e = e->next;
    if (!e)
        return NULL;
    leave(cache, e);
    come(cache, e);
    return e->mod;
}

/* The module that was asked for longest ago, no longer kept. */
static kjit_module *take_oldest(kj_lazy_cache *cache)
{
    entry *e = cache->oldest, **at = &cache->buckets[e->hash % BUCKETS];
    kjit_module *mod = e->mod;
    while (*at != e)
        at = &(*at)->next;
    *at = e->next;
    leave(cache, e);
    cache->n--;
    free(e);
    return mod;
}

/* A path means another file in each, but those of the library. */
static const kj_file *file_wanted(const kj_program *program, const kj_wanted *wanted)
{
    for (int i = 0; i < program->nfiles; i++) {
        bool here = wanted->library || strcmp(program->files[i]->id, wanted->from) == 0;
        const kj_item *use = here ? program->files[i]->items : NULL;
        while (use && (!use->used || strcmp(use->path, wanted->path) != 0 ||
                       use->library != wanted->library))
            use = use->next;
        if (use)
            return use->used;
    }
    return wanted->library ? kj_lazy_used(program, wanted->path) : NULL;
}

/* Files of the run's program, which were found and checked when it was compiled. */
static bool find_again(void *user, kj_arena *arena, const kj_wanted *wanted, kj_found *out)
{
    const kj_file *file = file_wanted(user, wanted);
    (void)arena;
    if (!file) {
        out->error = "a file is missing";
        return false;
    }
    kj_source_part part = kj_source_at(file->source, file->begin);
    *out = (kj_found){.id = file->id,
                      .name = part.name,
                      .text = file->source->text + part.begin,
                      .size = part.end - part.begin,
                      .checked = true};
    return true;
}

/* Modules in the cache hold the context, so a context that was let go of keeps no more of them. Gives
 * one for which there is no room any more, or NULL. */
static kjit_module *keep(kjit_context *ctx, kjit_module *mod, uint64_t hash)
{
    entry *e = calloc(1, sizeof *e);
    if (!ctx->lazy)
        ctx->lazy = calloc(1, sizeof *ctx->lazy);
    if (!e || !ctx->lazy || !kj_lives(ctx, KJ_CONTEXT)) { /* it is compiled again the next time */
        free(e);
        return NULL;
    }
    kj_lazy_cache *cache = ctx->lazy;
    kj_module_hold(mod);
    kj_handle_hide(mod);
    *e = (entry){.next = cache->buckets[hash % BUCKETS], .mod = mod, .hash = hash};
    cache->buckets[hash % BUCKETS] = e;
    come(cache, e);
    return ++cache->n > most_of(ctx) ? take_oldest(cache) : NULL;
}

/* The one that is kept, held. */
static kjit_module *kept(kjit_context *ctx, const kj_text *text, const kj_source *used,
                         uint64_t hash)
{
    pthread_mutex_lock(&ctx->lock);
    kjit_module *mod = find(ctx->lazy, text, used, hash);
    if (mod)
        kj_module_hold(mod);
    pthread_mutex_unlock(&ctx->lock);
    return mod;
}

static void keep_one(kjit_context *ctx, const kj_text *text, const kj_source *used, uint64_t hash,
                     kjit_module *mod)
{
    kjit_module *without_room = NULL;
    if (most_of(ctx) < 0)
        return;
    pthread_mutex_lock(&ctx->lock);
    if (!find(ctx->lazy, text, used, hash)) /* no other thread was faster */
        without_room = keep(ctx, mod, hash);
    pthread_mutex_unlock(&ctx->lock);
    if (without_room)
        kj_module_drop(without_room);
}

kjit_status kj_lazy_module(kj_run *r, bool functions, const kj_text *text, kjit_module **out)
{
    kjit_context *ctx = r->ctx;
    const char *name = functions ? r->source->name : "expression";
    const kj_source *used = functions ? r->source : NULL;
    uint32_t end = kj_source_at(r->source, 0).end;
    kj_loader loader = {find_again, (void *)r->program, r->program->file->id, functions ? end : 0};
    const kj_compile_options *o = &r->module->options;
    bool bounds = o->checks & KJ_CHECK_BOUNDS; /* of what nobody wrote, no other is */
    kjit_compile_options options = {.opt_level = o->opt_level ? o->opt_level : KJIT_UNOPTIMISED,
                                    .no_contract = o->no_contract,
                                    .verify = o->verify,
                                    .libdevice = o->libdevice,
                                    .ftz = o->ftz,
                                    .cpu = o->cpu,
                                    .check = bounds ? KJIT_CHECK_BOUNDS : KJIT_CHECK_NONE};
    kj_text all = {0};
    kj_text_add(&all, text->data ? text->data : "", text->size);
    kj_text_puts(&all, "# ");
    if (functions)
        kj_put_files(&all, r->program);
    kj_text_printf(&all, " -O%d%s%s%s%s %s %s\n", o->opt_level,
                   o->no_contract ? " --fp-contract=off" : "", o->ftz ? " --ftz" : "",
                   o->verify ? " verified" : "", bounds ? "" : " --check=none",
                   o->cpu ? o->cpu : "", o->libdevice ? o->libdevice : "");
    if (all.failed || text->failed) {
        kj_text_free(&all);
        return kj_no_memory(ctx);
    }
    uint64_t hash = XXH3_64bits(all.data, all.size); /* of a whole file, for each expression */
    kjit_status status = KJIT_OK;
    *out = kept(ctx, &all, used, hash);
    if (!*out) {
        status = kj_module_make(ctx, name, all.data, all.size, &options, &loader, out);
        if (status == KJIT_OK)
            keep_one(ctx, &all, used, hash, *out);
    }
    kj_text_free(&all);
    return status;
}

void kj_lazy_cache_free(kjit_context *ctx)
{
    pthread_mutex_lock(&ctx->lock);
    kj_lazy_cache *cache = ctx->lazy;
    ctx->lazy = NULL;
    pthread_mutex_unlock(&ctx->lock);
    while (cache && cache->oldest)
        kj_module_drop(take_oldest(cache));
    free(cache);
}
