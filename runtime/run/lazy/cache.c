/* The modules of expressions, kept by their source text for as long as their context lives. In: a
 * text; out: its module, compiled the first time it is asked for. */
#include "run/lazy/lazy.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

enum { BUCKETS = 64 };

typedef struct entry {
    struct entry *next;
    kjit_module *mod; /* its source is the key */
} entry;

struct kj_lazy_cache {
    entry *buckets[BUCKETS];
};

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

static kjit_module *find(const kj_lazy_cache *cache, const kj_text *text, const kj_source *used,
                         uint64_t hash)
{
    const entry *e = cache ? cache->buckets[hash % BUCKETS] : NULL;
    while (e && !is_of(e->mod, text, used))
        e = e->next;
    return e ? e->mod : NULL;
}

/* Files of the run's program, which were found and checked when it was compiled. */
static bool find_again(void *user, kj_arena *arena, const kj_wanted *wanted, kj_found *out)
{
    const kj_program *program = user;
    (void)arena;
    for (int i = 0; i < program->nfiles; i++) {
        const kj_item *use = program->files[i]->items;
        while (use && (strcmp(program->files[i]->id, wanted->from) != 0 || !use->used ||
                       strcmp(use->path, wanted->path) != 0 || use->library != wanted->library))
            use = use->next;
        if (!use)
            continue;
        const kj_source *source = use->used->source;
        kj_source_part part = kj_source_at(source, use->used->begin);
        *out = (kj_found){.id = use->used->id,
                          .name = part.name,
                          .text = source->text + part.begin,
                          .size = part.end - part.begin,
                          .checked = true};
        return true;
    }
    out->error = "a file is missing";
    return false;
}

/* Modules in the cache hold the context, so a context that was let go of keeps no more of them. */
static void keep(kjit_context *ctx, kjit_module *mod, uint64_t hash)
{
    entry *e = calloc(1, sizeof *e);
    if (!ctx->lazy)
        ctx->lazy = calloc(1, sizeof *ctx->lazy);
    if (!e || !ctx->lazy || !kj_lives(ctx, KJ_CONTEXT)) { /* it is compiled again the next time */
        free(e);
        return;
    }
    kj_module_hold(mod);
    kj_handle_hide(mod);
    e->mod = mod;
    e->next = ctx->lazy->buckets[hash % BUCKETS];
    ctx->lazy->buckets[hash % BUCKETS] = e;
}

kjit_status kj_lazy_module(kj_run *r, bool functions, const kj_text *text, kjit_module **out)
{
    kjit_context *ctx = r->ctx;
    const char *name = functions ? r->source->name : "expression";
    const kj_source *used = functions ? r->source : NULL;
    kj_loader loader = {find_again, (void *)r->program, r->program->file->id};
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
    uint64_t hash = kj_hash(all.data, all.size);
    kjit_status status = KJIT_OK;
    pthread_mutex_lock(&ctx->lock);
    *out = find(ctx->lazy, &all, used, hash);
    if (*out)
        kj_module_hold(*out);
    pthread_mutex_unlock(&ctx->lock);
    if (!*out) {
        status = kj_module_make(ctx, name, all.data, all.size, &options, &loader, out);
        pthread_mutex_lock(&ctx->lock);
        if (status == KJIT_OK &&
            !find(ctx->lazy, &all, used, hash)) /* no other thread was faster */
            keep(ctx, *out, hash);
        pthread_mutex_unlock(&ctx->lock);
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
    for (int b = 0; cache && b < BUCKETS; b++) {
        while (cache->buckets[b]) {
            entry *e = cache->buckets[b];
            cache->buckets[b] = e->next;
            kj_module_drop(e->mod);
            free(e);
        }
    }
    free(cache);
}
