/* A module of a text: it is read and checked, what was said about it listed, and all told what it declares. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compile.h"
#include "io/file.h"
#include "module/module.h"
#include "parse/parse.h"

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
    if (o && kj_check_reserved(ctx, KJ_RESERVED(o, "the options'")) != KJIT_OK)
        return KJIT_INVALID;
    if (warn && !kj_warnings_read(&unused, warn, &wrong))
        return unknown_warning(ctx, warn, wrong);
    if (o && o->nparams < 0)
        return kj_fail(ctx, KJIT_INVALID, "nparams is %d: it must be 0 or more", o->nparams);
    if (o && o->nparams > 0 && !o->params)
        return kj_fail(ctx, KJIT_INVALID, "params is NULL");
    if (!cpu || strcmp(cpu, "native") == 0 || kj_cpu_level_named(cpu))
        return KJIT_OK;
    kj_text list = {0};
    for (int i = 0; kj_cpu_level_at(i); i++)
        kj_text_printf(&list, "%s, ", kj_cpu_level_at(i)->name);
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
    const kj_context_limits *limits = &mod->ctx->limits;
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
    mod->options.cpu = o->cpu && kj_cpu_level_named(o->cpu) ? copy_text(&mod->arena, o->cpu) : NULL;
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
    mod->program = kj_read(arena, &mod->diag, &mod->source, s->loader, mod->ctx->records,
                           mod->options.no_contract, &mod->file);
    mod->diag.wanted = NULL;
    mod->log = kj_diag_text(&mod->diag);
    mod->log_json = kj_diag_json(&mod->diag);
    list_messages(mod);
    if (mod->program) {
        kj_list_kernels(mod);
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

static void diagnose(const kjit_module *mod, const kjit_compile_options *options)
{
    for (int i = 0; options && options->diagnose && i < mod->nmessages; i++) {
        kjit_diagnostic d = kj_diagnostic_of(mod, mod->messages[i]);
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
    kjit_module *mod = kj_module_new(ctx);
    if (!mod)
        return kj_no_memory(ctx);
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
