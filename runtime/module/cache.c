/* The cache of compiled code. In: a specialisation; out: its code from an earlier compilation, by
 * this process or another.
 *
 * A key is text: a line for each thing that code depends on, then the source. Whoever reads a value
 * checks each length in it. */
#include "module/cache.h"
#include "compile.h"
#include "io/npy.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- Keys ---- */

#define FILES_LINE "\nfiles "
#define SOURCE_LINE "\nsource\n"

enum { SOURCE_MOST = 1 << 20 }; /* bytes; code of longer ones is not kept */

void kj_cache_origin(kj_text *t, const kj_compile_options *o, kj_arena *arena)
{
    struct stat st;
    kj_text_printf(t, "build %s\ntarget %s\noptions -O%d%s%s", kj_identity(arena),
                   kj_target_name(arena, o), o->opt_level,
                   o->no_contract ? " --fp-contract=off" : "", o->ftz ? " --ftz" : "");
    kj_put_checks(t, o->checks);
    kj_text_puts(t, o->polls ? " cancellable" : "");
    kj_text_puts(t, o->untrusted ? " untrusted" : "");
    kj_text_puts(t, o->replay ? " replay" : "");
    if (o->libdevice && stat(o->libdevice, &st) == 0)
        kj_text_printf(t, " --math=libdevice %s %lld %lld.%09ld", o->libdevice,
                       (long long)st.st_size, (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
    kj_text_puts(t, "\n");
}

void kj_put_files(kj_text *t, const kj_program *program)
{
    const kj_source *source = program->file->source;
    for (int i = 0; i < source->nparts; i++) {
        kj_text_printf(t, "%s%u", i ? " " : "", source->parts[i].end - source->parts[i].begin);
        for (const kj_item *item = program->files[i]->items; item; item = item->next)
            for (int k = 0; item->used && k < program->nfiles; k++)
                if (program->files[k] == item->used)
                    kj_text_printf(t, ",%d", k);
    }
}

/* Numbers of records are a context's own: what such a type is stands beside them. */
static void put_key(kj_text *t, const kj_kernel *kernel, const kj_spec *spec, const uint64_t *key,
                    uint64_t unheld, bool replay)
{
    const kj_source *source = &kernel->mod->source;
    kj_text_printf(t, "kernel %s\nvariant", kernel->decl->name);
    for (int i = 0; i < kernel->key_words; i++)
        kj_text_printf(t, " %" PRIx64, key[i]);
    if (unheld)
        kj_text_printf(t, " unheld %" PRIx64, unheld);
    if (replay)
        kj_text_puts(t, spec->disjoint ? " apart" : "");
    for (int i = 0; i < kernel->decl->ngenerics; i++) {
        const kj_aggregate *of = kj_aggregate_in(kernel->mod->ctx->records, spec->generics[i]);
        if (!kj_is_record(of))
            continue;
        kj_text_printf(t, " %s %d ", of->name, of->align);
        kj_npy_put_record(t, of);
    }
    if (source->nparts)
        kj_text_puts(t, FILES_LINE);
    kj_put_files(t, kernel->mod->program);
    kj_text_puts(t, SOURCE_LINE);
    kj_text_add(t, source->text, source->size);
}

/* ---- The store ---- */

const kj_store *kj_cache_store(kjit_context *ctx)
{
    pthread_mutex_lock(&ctx->lock);
    if (!ctx->store_opened)
        kj_store_open(ctx->store, ctx->cache_path);
    else if (ctx->store->missing)
        kj_store_make(ctx->store);
    ctx->store_opened = true;
    pthread_mutex_unlock(&ctx->lock);
    return ctx->store;
}

/* As it is: a directory that is missing is not made by who looks at it. */
kj_store kj_cache_look(kjit_context *ctx)
{
    pthread_mutex_lock(&ctx->lock);
    if (!ctx->store_opened)
        kj_store_look(ctx->store, ctx->cache_path);
    ctx->store_opened = true;
    kj_store store = *ctx->store;
    pthread_mutex_unlock(&ctx->lock);
    return store;
}

/* ---- One kernel's code ---- */

void kj_cached_begin(kj_cached *c, kj_kernel *kernel, const kj_spec *spec, const uint64_t *key,
                     uint64_t unheld, const kj_compile_options *options, kj_arena *arena)
{
    const kj_source *source = &kernel->mod->source;
    *c = (kj_cached){.lock = -1};
    const kj_store *store = kj_cache_store(kernel->mod->ctx);
    if (source->size > SOURCE_MOST || store->dir < 0)
        return;
    kj_cache_origin(&c->key, options, arena);
    put_key(&c->key, kernel, spec, key, unheld, options->replay);
    c->label.arena = arena;
    kj_text_add(&c->label, source->name, strlen(source->name) + 1);
    kj_put_variant(&c->label, kernel, spec);
    kj_text_puts(&c->label, options->replay ? ", to find the first thread that failed" : "");
    if (!c->key.failed)
        c->store = store;
}

void kj_cached_lock(kj_cached *c)
{
    if (c->store)
        c->lock = kj_store_lock(c->store, c->key.data, c->key.size);
}

void kj_cached_end(kj_cached *c)
{
    kj_store_unlock(c->lock);
    kj_text_free(&c->key);
    free(c->stored.file);
}

/* A value: the prefix, the label, a `numbers` of the kernel and of each that it launches, its
 * arguments, the code. */
typedef struct prefix {
    uint32_t label_size, nchildren, nargs;
} prefix;

typedef struct numbers {
    int64_t scratch, shared, stack, nargs;
#define FLAG(name) int64_t name;
    KJ_CODE_FLAGS(FLAG)
#undef FLAG
} numbers;

bool kj_cache_parse(const kj_stored *s, kj_cache_value *out)
{
    prefix p;
    size_t left = s->value_size;
    if (left < sizeof p)
        return false;
    memcpy(&p, s->value, sizeof p);
    left -= sizeof p;
    const char *label = s->value + sizeof p;
    const char *end = p.label_size <= left ? memchr(label, 0, p.label_size) : NULL;
    if (!end || label[p.label_size - 1] != 0)
        return false;
    left -= p.label_size;
    if (p.nchildren >= left / sizeof(numbers))
        return false;
    left -= (p.nchildren + (size_t)1) * sizeof(numbers);
    if (p.nargs > left / sizeof(int))
        return false;
    left -= p.nargs * sizeof(int);
    const char *list = label + p.label_size;
    const char *args = list + (p.nchildren + (size_t)1) * sizeof(numbers);
    *out = (kj_cache_value){.file = label,
                            .variant = end + 1 < list ? end + 1 : end,
                            .numbers = list,
                            .nchildren = p.nchildren,
                            .args = args,
                            .nargs = p.nargs,
                            .code = args + p.nargs * sizeof(int),
                            .code_size = left};
    return true;
}

static void get_numbers(const char *list, size_t i, kj_code *out)
{
    numbers n;
    memcpy(&n, list + i * sizeof n, sizeof n);
    out->scratch = n.scratch;
    out->shared = n.shared;
    out->stack = n.stack;
    out->nargs = (int)n.nargs;
#define FLAG(name) out->name = n.name != 0;
    KJ_CODE_FLAGS(FLAG)
#undef FLAG
}

bool kj_cached_get(kj_cached *c, kj_arena *arena, kj_code *out)
{
    kj_cache_value v;
    free(c->stored.file); /* of a call before, whose value was none or had no room */
    c->stored = (kj_stored){0};
    if (!c->store || !kj_store_get(c->store, c->key.data, c->key.size, &c->stored) ||
        !kj_cache_parse(&c->stored, &v) || v.nchildren != (size_t)out->nchildren)
        return false;
    int *args = KJ_NEW_ARRAY(arena, int, v.nargs + 1);
    memcpy(args, v.args, v.nargs * sizeof *args);
    char *code = malloc(v.code_size + 1);
    if (!code)
        return false;
    memcpy(code, v.code, v.code_size);
    code[v.code_size] = 0;
    get_numbers(v.numbers, 0, out);
    for (size_t i = 0; i < v.nchildren; i++)
        get_numbers(v.numbers, i + 1, &out->children[i]);
    out->bytes = code;
    out->size = v.code_size;
    out->args = args;
    out->nargs = (int)v.nargs;
    return true;
}

static void put_numbers(kj_text *t, const kj_code *code)
{
    numbers n = {.scratch = code->scratch,
                 .shared = code->shared,
                 .stack = code->stack,
                 .nargs = code->nargs};
#define FLAG(name) n.name = code->name;
    KJ_CODE_FLAGS(FLAG)
#undef FLAG
    kj_text_add(t, (const char *)&n, sizeof n);
}

void kj_cached_put(const kj_cached *c, const kj_code *code)
{
    if (!c->store)
        return;
    kj_text t = {0};
    bool has_args = code->args != NULL;
    prefix p = {.label_size = (uint32_t)c->label.size + 1,
                .nchildren = (uint32_t)code->nchildren,
                .nargs = has_args ? (uint32_t)code->nargs : 0};
    kj_text_add(&t, (const char *)&p, sizeof p);
    kj_text_add(&t, c->label.data, c->label.size + 1);
    put_numbers(&t, code);
    for (int i = 0; i < code->nchildren; i++)
        put_numbers(&t, &code->children[i]);
    if (has_args)
        kj_text_add(&t, (const char *)code->args, (size_t)code->nargs * sizeof *code->args);
    kj_text_add(&t, code->bytes, code->size);
    if (!t.failed)
        kj_store_put(c->store, c->key.data, c->key.size, t.data, t.size);
    kj_text_free(&t);
}

bool kj_cached_make(kj_cached *c, kj_arena *arena, kj_diag *diag, const kj_compile_options *options,
                    kj_stage stage, kj_code *code)
{
    c->kept = kj_cached_get(c, arena, code);
    if (c->kept)
        return true;
    kj_cached_lock(c);
    c->kept = kj_cached_get(c, arena, code);
    if (c->kept)
        return true;
    if (!kj_generate(arena, diag, options, stage, code))
        return false;
    kj_cached_put(c, code);
    return true;
}
