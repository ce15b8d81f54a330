/* Images read: a module of code that was made ahead of time, and that code when a launch asks for it. */
#include "module/image.h"

#include <string.h>

#include "compile.h"
#include "target/ptx_version.h"

/* ---- The module ---- */

typedef struct reading {
    kjit_module *mod;
    const char *image;
    size_t size;
    const char *wrong; /* in the arena: why it is none, or none for this context; or NULL */
    kjit_status status;
} reading;

static void refuse(reading *r, kjit_status status, const char *wrong)
{
    if (!r->wrong) {
        r->wrong = wrong;
        r->status = status;
    }
}

/* Can the context's device run code of the target? */
static bool runs_here(reading *r, const char *target)
{
    kjit_context *ctx = r->mod->ctx;
    kj_arena *arena = &r->mod->arena;
    bool level = kj_cpu_level_named(target) != NULL;
    if (!ctx->ops->code)
        return level && !kj_cpu_lacks(arena, target);
    kj_compile_options own = {0};
    ctx->ops->code->target(ctx->dev, &own);
    return !level && own.arch && kj_ptx_runs(own.arch, target);
}

static void read_made(kj_pack *p, reading *r, kj_image *image)
{
    KJ_PACK(p, image->n);
    image->made = kj_pack_room(p, NULL, image->n, sizeof *image->made);
    for (int i = 0; i < image->n && !p->failed; i++)
        kj_image_pack_made(p, r->mod, &image->made[i]);
    for (int i = 0; i < image->n && !p->failed; i++) {
        kj_made *m = &image->made[i];
        p->failed |= m->size > (size_t)(p->end - p->at);
        m->code = p->at;
        p->at += p->failed ? 0 : m->size;
    }
}

/* Of those in the order of targets, the last that runs here: each has all that those before it have. */
static void read_targets(kj_pack *p, reading *r)
{
    kj_image *chosen = NULL;
    kj_text names = {.arena = p->arena};
    int n = 0;
    KJ_PACK(p, n);
    for (int i = 0; i < n && !p->failed; i++) {
        kj_image *image = KJ_NEW(p->arena, kj_image);
        kj_pack_text(p, &image->target);
        read_made(p, r, image);
        if (p->failed)
            return;
        kj_text_printf(&names, "%s%s", i ? ", " : "", image->target);
        if (runs_here(r, image->target))
            chosen = image;
    }
    if (!chosen && !p->failed)
        refuse(r, KJIT_NO_DEVICE,
               kj_arena_printf(p->arena, "its code is for %s, which %s does not run", names.data,
                               r->mod->ctx->ops->code ? "this GPU" : "this CPU"));
    r->mod->image = chosen;
}

static void check_context(reading *r)
{
    const kjit_context *ctx = r->mod->ctx;
    const kj_compile_options *o = &r->mod->options;
    if (o->polls != ctx->halts.cancellable)
        refuse(r, KJIT_INVALID,
               o->polls ? "it is for cancellable contexts, and this one is not"
                        : "its launches cannot be ended, and the context is cancellable");
    if (o->untrusted != ctx->limits.untrusted)
        refuse(r, KJIT_INVALID,
               o->untrusted ? "it is for untrusted contexts, and this one is not"
                            : "its code was made for a context that is trusted");
}

static void read_image(void *data)
{
    reading *r = data;
    kjit_module *mod = r->mod;
    const char *identity = NULL;
    kj_pack p = {.arena = &mod->arena,
                 .records = mod->ctx->records,
                 .at = r->image + KJ_IMAGE_HEAD,
                 .end = r->image + r->size};
    kj_pack_text(&p, &identity);
    if (!identity || strcmp(identity, kj_pack_identity()) != 0) {
        refuse(r, KJIT_INVALID, "it was made by another version of kjit");
        return;
    }
    kj_image_pack_module(&p, mod);
    if (!p.failed) {
        kj_source_count(p.arena, &mod->source);
        kj_diag_init(&mod->diag, p.arena, &mod->source);
        mod->log = mod->log_json = "";
        mod->asked = mod->options.checks;
        check_context(r);
        read_targets(&p, r);
    }
    if (p.failed)
        refuse(r, KJIT_INVALID, "it ends too early");
}

/* Is it one, and whole? */
static bool is_image(const char *image, size_t size)
{
    uint64_t sum;
    if (size < KJ_IMAGE_HEAD || memcmp(image, KJ_IMAGE_MAGIC, sizeof KJ_IMAGE_MAGIC - 1) != 0)
        return false;
    memcpy(&sum, image + KJ_IMAGE_HEAD - sizeof sum, sizeof sum);
    return sum == kj_image_sum(image, size);
}

/* One that was not read to its end. */
static kjit_status drop(kjit_module *mod, kjit_status status)
{
    mod->nkernels = mod->nall = 0;
    mod->filled = NULL;
    kj_module_drop(mod);
    return status;
}

kjit_status kjit_module_from_image(kjit_context *ctx, const void *image, size_t size,
                                   kjit_module **out)
{
    return kjit_module_from_image_owned(ctx, image, size, NULL, NULL, out);
}

kjit_status kjit_module_from_image_owned(kjit_context *ctx, const void *image, size_t size,
                                         void *owner, void (*deleter)(void *owner),
                                         kjit_module **out)
{
    kjit_status status = KJ_MAKES(out, kj_enter_context(ctx), ctx);
    if (status != KJIT_OK)
        return status;
    if (!image)
        return kj_fail(ctx, KJIT_INVALID, "image is NULL");
    if (!is_image(image, size))
        return kj_fail(ctx, KJIT_INVALID,
                       "these %zu bytes are no image of a module, or not as it was made", size);
    kjit_module *mod = kj_module_new(ctx);
    if (!mod)
        return kj_no_memory(ctx);
    reading r = {.mod = mod, .image = image, .size = size};
    kj_complaint complaint;
    kj_outcome outcome = kj_guarded_near(&mod->arena, read_image, &r, &complaint);
    kj_compiling_end(&mod->arena);
    if (outcome != KJ_DONE)
        return drop(mod, kj_fail_early(ctx, &mod->arena, outcome, &complaint));
    if (r.wrong)
        return drop(mod,
                    kj_fail(ctx, r.status, "the image of a module cannot be used: %s", r.wrong));
    mod->owner = owner;
    mod->deleter = deleter;
    *out = mod;
    return KJIT_OK;
}

/* ---- Code ---- */

static bool is_of(const kj_made *made, const kj_kernel *kernel)
{
    return &kernel->mod->kernels[made->kernel] == kernel;
}

/* Code of one key stands together. */
static const kj_made *find(const kj_kernel *kernel, kj_made_for what, const uint64_t *key, int *n)
{
    const kj_image *image = kernel->mod->image;
    size_t size = (size_t)kernel->key_words * sizeof *key;
    const kj_made *found = NULL;
    *n = 0;
    for (int i = 0; i < image->n; i++) {
        const kj_made *m = &image->made[i];
        if (!is_of(m, kernel) || m->what != what || memcmp(m->key, key, size) != 0)
            continue;
        found = found ? found : m;
        ++*n;
    }
    return found;
}

static const kj_made *find_relaxed(const kj_kernel *kernel, kj_made_for what, const uint64_t *key,
                                   int *n)
{
    uint64_t relaxed[KJ_MAX_KEY];
    const kj_made *found = NULL;
    for (kj_relaxed how = KJ_RELAXED_NOT; how < KJ_NRELAXED && !found; how++) {
        kj_key_relaxed(kernel, key, how, relaxed);
        found = find(kernel, what, relaxed, n);
    }
    return found;
}

const kj_made *kj_image_find(const kj_kernel *kernel, const uint64_t *key, int *n)
{
    return find_relaxed(kernel, KJ_MADE_TO_RUN, key, n);
}

const kj_made *kj_image_find_replay(const kj_kernel *kernel, const uint64_t *key, bool apart)
{
    int n;
    return find_relaxed(kernel, apart ? KJ_MADE_TO_REPLAY_APART : KJ_MADE_TO_REPLAY, key, &n);
}

int64_t kj_image_block(const kj_kernel *kernel, int64_t usual)
{
    const kj_image *image = kernel->mod->image;
    int64_t below = 0, above = 0;
    for (int i = 0; i < image->n; i++) {
        const kj_made *m = &image->made[i];
        int64_t x = m->spec.block[0];
        if (!is_of(m, kernel) || m->spec.block[1] * m->spec.block[2] != 1)
            continue;
        if (x <= usual)
            below = x > below ? x : below;
        else
            above = above == 0 || x < above ? x : above;
    }
    return below ? below : above ? above : usual;
}

bool kj_image_code(const kjit_module *mod, const kj_made *made, kj_arena *arena, kj_code *out)
{
    kj_pack p = {.arena = arena,
                 .records = mod->ctx->records,
                 .at = made->code,
                 .end = made->code + made->size};
    kj_pack_code(&p, mod->program->filled, out);
    return !p.failed;
}

/* For which launches there is code: of each the one that takes nothing for granted. */
static void put_launches(kj_text *t, const kj_kernel *kernel)
{
    enum { MOST = 4 };
    const kj_image *image = kernel->mod->image;
    int n = 0;
    for (int i = 0; i < image->n; i++) {
        const kj_made *m = &image->made[i];
        if (!is_of(m, kernel) || m->what != KJ_MADE_TO_RUN || !kj_is_relaxed(kernel, m->key) ||
            n++ >= MOST)
            continue;
        kj_text_puts(t, n == 1 ? "; there is code for " : "; for ");
        kj_put_variant(t, kernel, &m->spec);
    }
    if (n > MOST)
        kj_text_printf(t, "; and for %d others", n - MOST);
    kj_text_puts(t, n == 0 ? ", nor for any other" : "");
}

kjit_status kj_image_lacks(const kj_kernel *kernel, const kj_spec *spec)
{
    kjit_context *ctx = kernel->mod->ctx;
    kj_text t = {0};
    kj_put_variant(&t, kernel, spec);
    put_launches(&t, kernel);
    kjit_status status =
        t.failed ? kj_no_memory(ctx)
                 : kj_fail(ctx, KJIT_COMPILE,
                           "kernel '%s': its module was made ahead of time, and has no "
                           "code for %s (kjit build makes it for what the run block launches)",
                           kernel->decl->name, t.data);
    kj_text_free(&t);
    return status;
}
