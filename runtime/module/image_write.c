/* Images written: what a module is, and code of its kernels for targets.
 *
 * There is code for what launches of the module have fixed so far, and for what is left of that when less and less is
 * taken for granted (kj_relaxed), so that launches of other sizes and strides find some, too; of a kernel that was not
 * launched, for what kjit_module_emit shows. */
#include <stdlib.h>
#include <string.h>

#include "compile.h"
#include "module/image.h"

typedef struct writing {
    kjit_module *mod;
    const kjit_image_options *options;
    kj_arena arena;
    kj_text out;
    const char *errors; /* in the arena, or NULL */
    bool gpu;           /* the target is one */
    kj_made *wanted;    /* for the target; those of one key stand together */
    int nwanted, capacity;
} writing;

/* ---- What is wanted ---- */

static kj_spec spec_of(writing *w, const kj_kernel *kernel, const uint64_t *key)
{
    const kj_compile_options *o = &w->mod->options;
    kj_spec spec = kj_key_spec(&w->arena, kernel, key);
    spec.checks = w->gpu ? o->checks & KJ_CHECKS_EVERY : o->checks;
    spec.no_contract = o->no_contract;
    spec.polls = o->polls;
    spec.untrusted = o->untrusted;
    return spec;
}

static bool is_same(const writing *w, const kj_made *a, const kj_made *b)
{
    size_t size = (size_t)w->mod->kernels[a->kernel].key_words * sizeof *a->key;
    return a->kernel == b->kernel && a->what == b->what && memcmp(a->key, b->key, size) == 0;
}

static void want(writing *w, int kernel, kj_made_for what, const uint64_t *key, uint64_t unheld)
{
    const kj_kernel *k = &w->mod->kernels[kernel];
    kj_made made = {.kernel = kernel, .what = what, .key = (uint64_t *)key, .unheld = unheld};
    int at = 0;
    for (int i = 0; i < w->nwanted; i++) {
        if (!is_same(w, &w->wanted[i], &made))
            continue;
        if (w->wanted[i].unheld == unheld)
            return;
        at = i + 1;
    }
    at = at > 0 ? at : w->nwanted;
    if (w->nwanted == w->capacity) {
        w->capacity = w->capacity ? 2 * w->capacity : 64;
        kj_made *more = KJ_NEW_ARRAY(&w->arena, kj_made, (size_t)w->capacity);
        if (w->nwanted > 0)
            memcpy(more, w->wanted, (size_t)w->nwanted * sizeof *more);
        w->wanted = more;
    }
    memmove(&w->wanted[at + 1], &w->wanted[at], (size_t)(w->nwanted++ - at) * sizeof made);
    made.key = KJ_NEW_ARRAY(&w->arena, uint64_t, (size_t)k->key_words);
    memcpy(made.key, key, (size_t)k->key_words * sizeof *key);
    made.spec = spec_of(w, k, key);
    w->wanted[at] = made;
}

/* Of launches that have `key`, where `unheld` checks may fail; what holds is asked first. */
static void want_launches(writing *w, int kernel, const uint64_t *key, uint64_t unheld)
{
    uint64_t relaxed[KJ_MAX_KEY];
    want(w, kernel, KJ_MADE_TO_RUN, key, 0);
    want(w, kernel, KJ_MADE_TO_RUN, key, unheld);
    for (kj_relaxed how = KJ_RELAXED_NOT; how < KJ_NRELAXED; how++) {
        kj_key_relaxed(&w->mod->kernels[kernel], key, how, relaxed);
        want(w, kernel, KJ_MADE_TO_RUN, relaxed, UINT64_MAX);
    }
    if (w->gpu)
        return;
    want(w, kernel, KJ_MADE_TO_REPLAY, relaxed, UINT64_MAX);
    want(w, kernel, KJ_MADE_TO_REPLAY_APART, relaxed, UINT64_MAX);
}

/* What a GPU's launches of arrays that are apart, small and aligned have for a key. */
static void take_for_gpu(writing *w, const kj_kernel *kernel, const uint64_t *key, uint64_t *out)
{
    kj_spec spec = kj_key_spec(&w->arena, kernel, key);
    uint8_t *lasts = (uint8_t *)spec.lasts;
    memset(lasts, 0, (size_t)kernel->decl->nparams);
    spec.wide = 0;
    spec.small = spec.disjoint = spec.aligned = true;
    kj_spec_key(kernel, &spec, out);
}

static bool can_be_assumed(const kj_kernel *k)
{
    for (int i = 0, n = 0; i < k->decl->nparams; i++) {
        const kj_kernel_param *p = &k->decl->params[i];
        if (!p->is_const)
            continue;
        if (!kj_is_assumed(k, n++) && !p->has_default)
            return false;
    }
    return true;
}

static void want_usual(writing *w, int kernel)
{
    static const int64_t block[3] = {256, 1, 1};
    const kj_kernel *k = &w->mod->kernels[kernel];
    uint64_t key[KJ_MAX_KEY];
    if (kernel >= w->mod->nkernels || !can_be_assumed(k))
        return;
    kj_spec spec = kj_form_spec(&w->arena, k, block, &w->mod->options);
    kj_take_required_block(&w->arena, &w->mod->source, w->mod->program, k->decl, &spec);
    spec.wide = 0;
    kj_spec_key(k, &spec, key);
    if (w->gpu)
        take_for_gpu(w, k, key, key);
    want_launches(w, kernel, key, 0);
}

static void want_of(writing *w, int kernel)
{
    const kj_kernel *k = &w->mod->kernels[kernel];
    uint64_t key[KJ_MAX_KEY];
    bool any = false;
    for (int i = 0; i < KJ_BUCKETS; i++) {
        const kj_variant *v = atomic_load_explicit(&k->buckets[i], memory_order_acquire);
        for (; v; v = atomic_load_explicit(&v->next, memory_order_acquire)) {
            memcpy(key, v->key, (size_t)k->key_words * sizeof *key);
            if (w->gpu)
                take_for_gpu(w, k, v->key, key);
            want_launches(w, kernel, key, v->unheld);
            any = true;
        }
    }
    if (!any)
        want_usual(w, kernel);
}

/* ---- Code ---- */

static kj_compile_options options_for(const writing *w, const kj_made *made, const char *target)
{
    kj_compile_options o = w->mod->options;
    o.cpu = w->gpu ? NULL : target;
    o.arch = w->gpu ? target : NULL;
    o.checks = made->spec.checks;
    if (made->what != KJ_MADE_TO_RUN) {
        o.replay = true;
        o.polls = false;
        o.opt_level = 1;
    }
    return o;
}

/* What a launch of the same key has, or NULL: `last` was made right before. False: there is to be none, since it is
 * what was made then or nobody can ask for it; or w->errors says why there is none. */
static bool make_code(writing *w, const kj_made *made, const char *target, const kj_made *last,
                      kj_code *code)
{
    kjit_module *mod = w->mod;
    const kj_kernel_decl *decl = mod->kernels[made->kernel].decl;
    kj_compile_options options = options_for(w, made, target);
    kj_spec spec = made->spec;
    kj_diag diag;
    kj_diag_init(&diag, &w->arena, &mod->source);
    spec.polls = options.polls;
    if (made->what != KJ_MADE_TO_RUN)
        spec.disjoint = made->what == KJ_MADE_TO_REPLAY_APART;
    bool done =
        kj_specialise(&w->arena, &diag, mod->program, decl, &spec, NULL, made->unheld, code);
    if (done && last && is_same(w, last, made) && last->unheld == code->unheld)
        return false;
    if (done && made->what != KJ_MADE_TO_RUN &&
        (code->kernel->nsites == 0 || !kj_may_be_replayed(&w->arena, code)))
        return false;
    done = done && kj_generate(&w->arena, &diag, &options, KJ_STAGE_OBJECT, code);
    if (!done)
        w->errors = kj_diag_text(&diag);
    return done;
}

/* Once for all that is less particular. */
static void tell(writing *w, const kj_made *made)
{
    const kj_kernel *k = &w->mod->kernels[made->kernel];
    kj_text line = {.arena = &w->arena};
    if (!w->options->told || made->what != KJ_MADE_TO_RUN || !kj_is_relaxed(k, made->key))
        return;
    kj_put_variant(&line, k, &made->spec);
    w->options->told(w->options->user, k->decl->name, line.data);
}

static void make_target(writing *w, kj_pack *p, const char *target, bool first)
{
    kj_text codes = {.arena = &w->arena};
    int n = 0;
    w->nwanted = 0;
    for (int i = 0; i < w->mod->nall; i++)
        want_of(w, i);
    for (int i = 0; i < w->nwanted && !w->errors; i++) {
        kj_made *made = &w->wanted[i];
        kj_code code;
        size_t before = codes.size;
        if (!make_code(w, made, target, n > 0 ? &w->wanted[n - 1] : NULL, &code))
            continue;
        kj_pack packed = {.arena = &w->arena, .records = p->records, .out = &codes};
        kj_pack_code(&packed, w->mod->program->filled, &code);
        kj_code_free(&code);
        made->unheld = code.unheld;
        made->size = codes.size - before;
        if (first)
            tell(w, made);
        w->wanted[n++] = *made;
    }
    kj_pack_text(p, &target);
    KJ_PACK(p, n);
    for (int i = 0; i < n; i++)
        kj_image_pack_made(p, w->mod, &w->wanted[i]);
    kj_text_add(p->out, codes.data ? codes.data : "", codes.size);
}

/* ---- Targets ---- */

static const char *next_name(kj_arena *arena, const char **list)
{
    const char *begin = *list + strspn(*list, ", ");
    size_t size = strcspn(begin, ", ");
    *list = begin + size;
    return size ? kj_arena_printf(arena, "%.*s", (int)size, begin) : NULL;
}

/* Of GPUs, else of levels of CPUs: the i-th; NULL past the last. */
static const char *target_at(bool gpu, int i)
{
    if (gpu)
        return kj_gpu(i);
    const kj_cpu_level *level = kj_cpu_level_at(i);
    return level ? level->name : NULL;
}

static bool is_target(bool gpu, const char *name)
{
    int i = 0;
    while (target_at(gpu, i) && strcmp(target_at(gpu, i), name) != 0)
        i++;
    return target_at(gpu, i);
}

static const char *refusal(writing *w, bool gpu, const char *name)
{
    kj_text t = {.arena = &w->arena};
    kj_text_printf(&t, "'%.64s' is no %s that kjit compiles for: there are ", name,
                   gpu ? "GPU" : "level of CPUs");
    for (int i = 0; target_at(gpu, i); i++)
        kj_text_printf(&t, "%s%s", i ? ", " : "", target_at(gpu, i));
    return t.data;
}

/* NULL is a list of all there are, of CPUs those of this one's family. */
static bool are_targets(writing *w, const char *list, bool gpu)
{
    if (!list)
        return true;
    for (const char *name; (name = next_name(&w->arena, &list)) != NULL;) {
        if (!is_target(gpu, name)) {
            w->errors = refusal(w, gpu, name);
            return false;
        }
    }
    return true;
}

static bool is_listed(writing *w, const char *list, const char *wanted)
{
    if (!list)
        return w->gpu || kj_cpu_level_named(wanted)->family == kj_cpu_here;
    for (const char *name; (name = next_name(&w->arena, &list)) != NULL;)
        if (strcmp(name, wanted) == 0)
            return true;
    return false;
}

/* Those of a list, in the order of the table: each has all that those before it have. Returns how many. */
static int each_target(writing *w, const char *list, bool gpu, kj_pack *p, int n)
{
    w->gpu = gpu;
    for (int i = 0; target_at(gpu, i) && !w->errors; i++) {
        if (!is_listed(w, list, target_at(gpu, i)))
            continue;
        if (p)
            make_target(w, p, target_at(gpu, i), n == 0);
        n++;
    }
    return n;
}

static void write_image(void *data)
{
    writing *w = data;
    const char *identity = kj_pack_identity(), *cpus = w->options->cpus;
    const char *gpus = w->options->archs ? w->options->archs : "";
    kj_pack p = {.arena = &w->arena, .records = w->mod->ctx->records, .out = &w->out};
    if (!are_targets(w, cpus, false) || !are_targets(w, gpus, true))
        return;
    int n = each_target(w, gpus, true, NULL, each_target(w, cpus, false, NULL, 0));
    if (n == 0)
        w->errors = "there is to be code for no level of CPUs and no GPU";
    if (w->errors)
        return;
    kj_text_add(&w->out, KJ_IMAGE_MAGIC "\0\0\0\0\0\0\0", KJ_IMAGE_HEAD);
    kj_pack_text(&p, &identity);
    kj_image_pack_module(&p, w->mod);
    KJ_PACK(&p, n);
    each_target(w, gpus, true, &p, each_target(w, cpus, false, &p, 0));
}

static kjit_status finish(writing *w, void **out, size_t *size)
{
    kjit_context *ctx = w->mod->ctx;
    if (w->errors)
        return kj_fail_lines(ctx, KJIT_COMPILE, w->errors);
    if (w->out.failed)
        return kj_no_memory(ctx);
    uint64_t sum = kj_image_sum(w->out.data, w->out.size);
    memcpy(w->out.data + KJ_IMAGE_HEAD - sizeof sum, &sum, sizeof sum);
    *out = w->out.data;
    *size = w->out.size;
    w->out = (kj_text){0};
    return KJIT_OK;
}

kjit_status kjit_module_image(kjit_module *mod, const kjit_image_options *options, void **out,
                              size_t *size)
{
    kjit_image_options taken = {.size = sizeof taken};
    kjit_status status = KJ_MAKES(out, kj_enter_compiled(mod), mod->ctx);
    if (status != KJIT_OK)
        return status;
    kjit_context *ctx = mod->ctx;
    if (!size)
        return kj_fail(ctx, KJIT_INVALID, "size is NULL");
    if (options)
        status = kj_take_struct(ctx, "options", options, options->size, &taken, sizeof taken);
    if (status != KJIT_OK)
        return status;
    if (mod->image)
        return kj_fail(ctx, KJIT_INVALID, "the module is of an image itself");
    if (mod->options.checks & (unsigned)KJ_CHECKS_WATCHED)
        return kj_fail(
            ctx, KJIT_INVALID,
            "the module's launches are checked for races or what was not set (race, init, all), "
            "which an image's cannot be: leave that out");
    writing w = {.mod = mod, .options = &taken};
    kj_complaint complaint;
    kj_compiling_begin(ctx, &w.arena);
    kj_outcome outcome = kj_guarded_apart(&w.arena, write_image, &w, &complaint);
    status = outcome == KJ_DONE ? finish(&w, out, size)
                                : kj_fail_early(ctx, &w.arena, outcome, &complaint);
    kj_text_free(&w.out);
    kj_arena_free(&w.arena);
    return status;
}
