/* Modules: a source, checked; what was said about it; its kernels. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "compile.h"
#include "io/file.h"
#include "module/module.h"
#include "parse/parse.h"

/* ---- Making ---- */

static void list_messages(kjit_module *mod)
{
    for (const kj_message *m = mod->diag.first; m; m = m->next)
        mod->nmessages++;
    mod->messages = KJ_NEW_ARRAY(&mod->arena, const kj_message *, (size_t)mod->nmessages);
    int n = 0;
    for (const kj_message *m = mod->diag.first; m; m = m->next) {
        int i = n++; /* by place, at one place as reported */
        for (; i > 0 && mod->messages[i - 1]->span.begin > m->span.begin; i--)
            mod->messages[i] = mod->messages[i - 1];
        mod->messages[i] = m;
    }
}

/* Words of a variant's key: block, then packed generics, layouts and last extents, then consts (bind.c fills
 * them). */
static int key_words(const kj_kernel_decl *decl)
{
    return 1 + (16 * decl->ngenerics + 8 * decl->nparams + 63) / 64 + decl->nconsts;
}

static void list_kernels(kjit_module *mod)
{
    mod->nkernels = mod->program->nkernels;
    mod->nall = mod->program->nall;
    mod->filled = KJ_NEW_ARRAY(&mod->arena, kj_const_array_copy, (size_t)mod->program->nfilled + 1);
    mod->kernels = KJ_NEW_ARRAY(&mod->arena, kj_kernel, (size_t)mod->nall + 1);
    for (int i = 0; i < mod->nall; i++) {
        kj_kernel *k = &mod->kernels[i];
        k->mod = mod;
        k->decl = &mod->program->kernels[i];
        k->name_hash = kj_hash(k->decl->name, strlen(k->decl->name));
        k->key_words = key_words(k->decl);
        pthread_mutex_init(&k->lock, NULL);
    }
}

typedef struct source_text {
    kjit_module *mod;
    const char *name, *text; /* no text: blanks */
    size_t size;
    const kjit_compile_options *options; /* or NULL */
    const kj_loader *loader;
} source_text;

static const char *copy_text(kj_arena *arena, const char *text)
{
    return text ? kj_arena_printf(arena, "%s", text) : NULL;
}

static bool is_level(const char *cpu)
{
    int i = 0;
    while (cpu && kj_cpu_level(i) && strcmp(kj_cpu_level(i), cpu) != 0)
        i++;
    return cpu && kj_cpu_level(i);
}

static kjit_status unknown_warning(kjit_context *ctx, const char *list, kj_span wrong)
{
    char word[64];
    int len = (int)(wrong.end - wrong.begin);
    kj_snprintf(word, sizeof word, "%.*s", len, list + wrong.begin);
    const char *plain = strncmp(word, "no-", 3) == 0 ? word + 3 : word;
    kj_near near = kj_near_to(plain);
    for (int i = 0; i < KJ_NRULES; i++)
        if (kj_rules[i].severity == KJ_WARNING)
            kj_near_offer(&near, kj_rules[i].code);
    if (near.best)
        return kj_fail(ctx, KJIT_INVALID, "there is no warning '%s': did you mean '%s'?", plain,
                       near.best);
    return kj_fail(ctx, KJIT_INVALID,
                   "there is no warning '%s': write off, all, error, or names of warnings, no- in "
                   "front of those that are not wanted",
                   plain);
}

/* Every bit is one of the table's, and of a check that the device has. */
static bool checks_refused(kjit_context *ctx, unsigned asked)
{
    unsigned unknown = asked;
    const kj_check_row *row;
    if (asked & KJ_CHECK_NONE && ctx->limits.untrusted) {
        kj_fail(ctx, KJIT_INVALID,
                "check has KJIT_CHECK_NONE, and the context is untrusted: there indices are always "
                "looked at");
        return true;
    }
    for (int i = 0; (row = kj_check_row_at(i)) != NULL; i++) {
        unknown &= ~row->bit;
        if (asked & row->bit & ~ctx->ops->checks) {
            kj_fail(ctx, KJIT_INVALID,
                    "a %s device cannot check for '%s': run that on the CPU, or write all for what "
                    "it can",
                    ctx->ops->kind, row->name);
            return true;
        }
    }
    if (unknown)
        kj_fail(ctx, KJIT_INVALID, "check is %u: it is made of KJIT_CHECK_... bits", asked);
    return unknown != 0;
}

/* The checks of launches, by the bits that were asked for. */
static unsigned checks_of(const kjit_context *ctx, unsigned asked)
{
    unsigned none = KJ_CHECK_NONE, all = KJ_CHECK_ALL;
    unsigned bits = asked & all ? asked | ctx->ops->checks : asked;
    return (asked & none ? bits & ~(unsigned)KJ_CHECK_BOUNDS : bits | KJ_CHECK_BOUNDS) &
           ~(none | all);
}

static kjit_status check_options(kjit_context *ctx, const kjit_compile_options *o)
{
    const char *cpu = o ? o->cpu : NULL, *warn = o ? o->warn : NULL;
    kj_warnings unused = {.error = false};
    kj_span wrong;
    if (o && (o->opt_level < KJIT_UNOPTIMISED || o->opt_level > 3))
        return kj_fail(ctx, KJIT_INVALID,
                       "opt_level is %d: it must be 1 to 3, 0 for the default, or KJIT_UNOPTIMISED",
                       o->opt_level);
    if (o && checks_refused(ctx, o->check))
        return KJIT_INVALID;
    if (warn && !kj_warnings_read(&unused, warn, &wrong))
        return unknown_warning(ctx, warn, wrong);
    if (o && o->nparams < 0)
        return kj_fail(ctx, KJIT_INVALID, "nparams is %d: it must be 0 or more", o->nparams);
    if (o && o->nparams > 0 && !o->params)
        return kj_fail(ctx, KJIT_INVALID, "params is NULL");
    if (!cpu || strcmp(cpu, "native") == 0 || is_level(cpu))
        return KJIT_OK;
    kj_text list = {0};
    for (int i = 0; kj_cpu_level(i); i++)
        kj_text_printf(&list, "%s, ", kj_cpu_level(i));
    kjit_status status =
        list.failed ? kj_no_memory(ctx)
                    : kj_fail(ctx, KJIT_INVALID,
                              "'%.64s' is no CPU that kjit compiles for: there are %sand native",
                              cpu, list.data ? list.data : "");
    kj_text_free(&list);
    return status;
}

static void take_options(kjit_module *mod, const kjit_compile_options *o)
{
    const kj_limits *limits = &mod->ctx->limits;
    uint64_t code = limits->most.compile_code;
    mod->options = (kj_compile_options){.opt_level = 3,
                                        .checks = KJ_CHECK_BOUNDS,
                                        .polls = mod->ctx->halts.cancellable,
                                        .untrusted = limits->untrusted,
                                        .most_code = code < KJ_MAX_CODE ? (int)code : 0};
    if (!o)
        return;
    if (o->opt_level != 0)
        mod->options.opt_level = o->opt_level == KJIT_UNOPTIMISED ? 0 : o->opt_level;
    mod->options.no_contract = o->no_contract != 0;
    mod->options.verify = o->verify != 0;
    mod->options.ftz = o->ftz != 0;
    mod->options.checks = checks_of(mod->ctx, o->check);
    mod->asked = o->check & KJ_CHECK_ALL ? mod->options.checks : o->check;
    mod->options.libdevice = copy_text(&mod->arena, o->libdevice);
    mod->options.cpu = is_level(o->cpu) ? copy_text(&mod->arena, o->cpu) : NULL;
    mod->lacks = mod->options.cpu ? kj_cpu_lacks(&mod->arena, o->cpu) : NULL;
    mod->arch = copy_text(&mod->arena, o->arch);
}

/* Text to program; whatever is found goes to the module's diagnostics. */
static void analyse(void *data)
{
    source_text *s = data;
    kjit_module *mod = s->mod;
    kj_arena *arena = &mod->arena;
    char *copy = kj_arena_alloc(arena, s->size + 1);
    if (s->text)
        memcpy(copy, s->text, s->size);
    else
        memset(copy, ' ', s->size);
    copy[s->size] = '\0';
    take_options(mod, s->options);
    mod->source = (kj_source){.name = kj_arena_printf(arena, "%s", s->name),
                              .text = copy,
                              .size = s->size,
                              .statements = s->options && s->options->statements,
                              .written = s->loader->written};
    kj_warnings wanted = {.error = false};
    kj_span unused;
    if (s->options && s->options->warn)
        kj_warnings_read(&wanted, s->options->warn, &unused);
    if (s->options && s->options->params) {
        wanted.params = s->options->params;
        wanted.nparams = s->options->nparams;
    }
    kj_diag_init(&mod->diag, arena, &mod->source);
    mod->diag.wanted = &wanted;
    mod->program =
        kj_read(arena, &mod->diag, &mod->source, s->loader, mod->ctx->records, &mod->file);
    mod->diag.wanted = NULL;
    mod->log = kj_diag_text(&mod->diag);
    mod->log_json = kj_diag_json(&mod->diag);
    list_messages(mod);
    if (mod->program) {
        list_kernels(mod);
        kj_list_params(mod);
        kj_list_consts(mod);
        kj_list_tests(mod);
        kj_describe_kernels(mod);
    }
}

/* All that is to be said of the source, as the sentence of a failed compilation. */
static kjit_status source_errors(kjit_module *mod)
{
    return kj_fail_lines(mod->ctx, KJIT_COMPILE, mod->log);
}

static kjit_diagnostic diagnostic(const kjit_module *mod, const kj_message *m)
{
    kj_position begin = kj_where(&mod->source, m->span.begin),
                end = kj_where(&mod->source, m->span.end);
    return (kjit_diagnostic){.file = begin.file,
                             .message = m->text,
                             .hint = m->hint,
                             .code = kj_rules[m->rule].code,
                             .line = (int)begin.line,
                             .column = (int)begin.column,
                             .end_line = (int)end.line,
                             .end_column = (int)end.column,
                             .severity = m->severity == KJ_WARNING};
}

static void diagnose(const kjit_module *mod, const kjit_compile_options *options)
{
    for (int i = 0; options && options->diagnose && i < mod->nmessages; i++) {
        kjit_diagnostic d = diagnostic(mod, mod->messages[i]);
        options->diagnose(options->user, &d);
    }
}

kjit_status kj_module_make(kjit_context *ctx, const char *name, const char *source, size_t size,
                           const kjit_compile_options *options, const kj_loader *loader,
                           kjit_module **out)
{
    kjit_status status = check_options(ctx, options);
    if (status != KJIT_OK)
        return status;
    kjit_module *mod = kj_handle_new(KJ_MODULE, sizeof *mod);
    if (!mod)
        return kj_no_memory(ctx);
    mod->ctx = ctx;
    kj_context_hold(ctx);
    atomic_init(&mod->refs, 1);
    pthread_mutex_init(&mod->fill_lock, NULL);
    kj_compiling_begin(ctx, &mod->arena);
    source_text text = {mod, name, source, size, options, loader};
    if (size > KJ_SOURCE_MAX) { /* enough for the parser to refuse it, which reads nothing */
        text.text = NULL;
        text.size = KJ_SOURCE_MAX + 1;
    }
    kj_complaint complaint;
    kj_outcome outcome = kj_guarded_apart(&mod->arena, analyse, &text, &complaint);
    kj_compiling_end(&mod->arena);
    if (outcome != KJ_DONE) {
        kjit_status failed = kj_fail_early(ctx, &mod->arena, outcome, &complaint);
        mod->nkernels = mod->nall = 0;
        kj_module_drop(mod);
        return failed;
    }
    diagnose(mod, options);
    *out = mod;
    return mod->program ? KJIT_OK : source_errors(mod);
}

kjit_status kjit_module_compile(kjit_context *ctx, const char *name, const char *source,
                                size_t size, const kjit_compile_options *options, kjit_module **out)
{
    kjit_status status = KJ_MAKES(out, kj_enter_context(ctx), ctx);
    if (status != KJIT_OK)
        return status;
    if (!source && size > 0)
        return kj_fail(ctx, KJIT_INVALID, "source is NULL");
    kj_finder finder;
    name = name ? name : "<source>";
    status = kj_finder_open(&finder, ctx, name, options);
    if (status == KJIT_OK)
        status =
            kj_module_make(ctx, name, source ? source : "", size, options, &finder.loader, out);
    kj_finder_close(&finder);
    return status;
}

char *kj_read_source(int fd, size_t *size)
{
    size_t capacity = 1 << 16;
    char *text = malloc(capacity);
    *size = 0;
    while (text) {
        int64_t n = kj_file_read(fd, text + *size, capacity - *size);
        if (n < 0) {
            free(text);
            return NULL;
        }
        *size += (size_t)n;
        if (*size < capacity || *size > KJ_SOURCE_MAX)
            break;
        char *longer = realloc(text, capacity *= 2);
        if (!longer)
            free(text);
        text = longer;
    }
    return text;
}

kjit_status kjit_module_load(kjit_context *ctx, const char *path,
                             const kjit_compile_options *options, kjit_module **out)
{
    kjit_status status = KJ_MAKES(out, kj_enter_context(ctx), ctx);
    if (status != KJIT_OK)
        return status;
    if (!path)
        return kj_fail(ctx, KJIT_INVALID, "path is NULL");
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return kj_file_error(ctx, "read", path);
    size_t size;
    kj_finder finder;
    char *text = kj_read_source(fd, &size);
    status = text ? kj_finder_open(&finder, ctx, path, options) : kj_file_error(ctx, "read", path);
    if (status == KJIT_OK)
        status = kj_finder_reads_files(&finder, fd);
    close(fd);
    if (status == KJIT_OK)
        status = kj_module_make(ctx, path, text, size, options, &finder.loader, out);
    if (text)
        kj_finder_close(&finder);
    free(text);
    return status;
}

/* ---- Ending ---- */

void kj_module_hold(kjit_module *mod)
{
    atomic_fetch_add_explicit(&mod->refs, 1, memory_order_relaxed);
}

/* Frees a module; the status is the first failure of unloading its code. */
static kjit_status free_module(kj_pending *item, kj_failure *why)
{
    kjit_module *mod = KJ_WHOLE(kjit_module, pending, item);
    kjit_status first = KJIT_OK;
    kj_failure other;
    for (int i = 0; i < mod->nall; i++) {
        kj_kernel *k = &mod->kernels[i];
        for (int b = 0; b < KJ_BUCKETS; b++) {
            kj_variant *v = atomic_load(&k->buckets[b]), *next;
            for (; v; v = next) {
                next = atomic_load(&v->next);
                kjit_status status = kj_variant_free(v, mod->ctx, first == KJIT_OK ? why : &other);
                if (first == KJIT_OK)
                    first = status;
            }
        }
        pthread_mutex_destroy(&k->lock);
        free(k->assumed);
    }
    kj_const_arrays_free(mod);
    pthread_mutex_destroy(&mod->fill_lock);
    kj_arena_free(&mod->arena);
    kj_handle_free(mod);
    return first;
}

/* Was code of it loaded? */
static bool has_code(const kjit_module *mod)
{
    for (int i = 0; i < mod->nall; i++) {
        for (int b = 0; b < KJ_BUCKETS; b++) {
            if (atomic_load_explicit(&mod->kernels[i].buckets[b], memory_order_relaxed))
                return true;
        }
    }
    return false;
}

void kj_module_drop(kjit_module *mod)
{
    if (atomic_fetch_sub_explicit(&mod->refs, 1, memory_order_acq_rel) != 1)
        return;
    kjit_context *ctx = mod->ctx;
    if (has_code(mod)) {
        mod->pending.deallocate = free_module;
        kj_pending_add(ctx, KJ_PENDING_RESOURCES, &mod->pending);
        return;
    }
    kj_failure why;
    free_module(&mod->pending, &why); /* without code it cannot fail */
    kj_context_drop(ctx);
}

void kjit_module_free(kjit_module *mod)
{
    if (!kj_can_free(mod, KJ_MODULE) || kj_forked(mod->ctx) || !kj_handle_close(mod))
        return;
    kjit_context *ctx = mod->ctx;
    kj_context_hold(ctx);
    kj_module_drop(mod);
    kj_freed(ctx);
}

/* ---- What a module is ---- */

const char *kjit_module_log(kjit_module *mod)
{
    return kj_can_ask(mod, KJ_MODULE) ? mod->log : "";
}

const char *kjit_module_log_json(kjit_module *mod)
{
    return kj_can_ask(mod, KJ_MODULE) ? mod->log_json : "";
}

int kjit_module_diagnostics(kjit_module *mod, kjit_diagnostic *out, int max)
{
    if (!kj_can_ask(mod, KJ_MODULE))
        return 0;
    for (int i = 0; out && i < mod->nmessages && i < max; i++)
        out[i] = diagnostic(mod, mod->messages[i]);
    return mod->nmessages;
}

int kjit_module_fix(kjit_module *mod, int i, kjit_fix *out)
{
    if (!kj_can_ask(mod, KJ_MODULE) || !out || i < 0 || i >= mod->nmessages ||
        !mod->messages[i]->fix)
        return 0;
    const kj_message *m = mod->messages[i];
    kj_position begin = kj_where(&mod->source, m->fix_span.begin),
                end = kj_where(&mod->source, m->fix_span.end);
    *out = (kjit_fix){m->fix, (int)begin.line, (int)begin.column, (int)end.line, (int)end.column};
    return 1;
}

const char *kjit_module_kernel(kjit_module *mod, int i)
{
    return kj_can_ask(mod, KJ_MODULE) && i >= 0 && i < mod->nkernels ? mod->kernels[i].decl->name
                                                                     : NULL;
}

int kjit_module_has_run(kjit_module *mod)
{
    return kj_can_ask(mod, KJ_MODULE) && mod->program && mod->program->run;
}

bool kj_is_called(const kjit_module *mod, const char *full, const char *name)
{
    const char *dot = strchr(name, '.');
    if (!dot)
        return false;
    size_t size = (size_t)(dot - name);
    const kj_item *use = mod->program->file->items;
    for (; use && use->kind == KJ_I_USE; use = use->next) {
        const char *space = use->used ? use->used->space : NULL;
        if (space && strlen(use->name) == size && memcmp(use->name, name, size) == 0)
            return strncmp(full, space, strlen(space)) == 0 &&
                   strcmp(full + strlen(space), dot) == 0;
    }
    return false;
}

kj_kernel *kj_module_find(kjit_module *mod, const char *name)
{
    uint64_t hash = kj_hash(name, strlen(name));
    for (int i = 0; i < mod->nall; i++) {
        kj_kernel *k = &mod->kernels[i];
        if (k->name_hash == hash && strcmp(k->decl->name, name) == 0)
            return k;
    }
    for (int i = 0; i < mod->nall; i++)
        if (kj_is_called(mod, mod->kernels[i].decl->name, name))
            return &mod->kernels[i];
    return NULL;
}

kjit_status kj_no_kernel(kjit_module *mod, const char *name)
{
    const char *names[64];
    size_t n = 0;
    for (; n < 64 && n < (size_t)mod->nall; n++)
        names[n] = mod->kernels[n].decl->name;
    const char *near = NULL;
    for (size_t i = 0; i < n && !near; i++) { /* fill, of util.fill */
        const char *dot = strrchr(names[i], '.');
        near = dot && strcmp(dot + 1, name) == 0 ? names[i] : NULL;
    }
    near = near ? near : kj_nearest(name, names, n);
    if (near)
        return kj_fail(mod->ctx, KJIT_NOT_FOUND, "%s has no kernel '%.100s'; did you mean '%s'?",
                       mod->source.name, name, near);
    return kj_fail(mod->ctx, KJIT_NOT_FOUND, "%s has no kernel '%.100s'", mod->source.name, name);
}

kjit_status kj_module_fits(const kjit_module *mod)
{
    if (!mod->lacks || mod->ctx->ops->code)
        return KJIT_OK;
    return kj_fail(mod->ctx, KJIT_NO_DEVICE, "code for %s does not run here: this CPU has no %s",
                   mod->options.cpu, mod->lacks);
}

kjit_status kj_not_compiled(const kjit_module *mod)
{
    return kj_fail(mod->ctx, KJIT_COMPILE, "%s: the source has errors (kjit_module_log has them)",
                   mod->source.name);
}
