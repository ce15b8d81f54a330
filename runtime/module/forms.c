/* Intermediate forms of a module's kernels, and what they take of the device. */
#include <stdlib.h>
#include <string.h>

#include "compile.h"
#include "module/module.h"

typedef struct emission {
    kjit_module *mod;
    kj_arena arena;
    const kj_kernel *kernel; /* NULL: all */
    kj_compile_options options;
    kj_stage stage;
    int64_t block[3];
    bool usual;   /* nobody said which block */
    kj_code code; /* of kjit_module_kernel_info */
    kjit_status loaded;
    kj_exec *exec;
    kj_failure why;
    kj_text out;
    kj_text errors;
} emission;

/* Which of them has errors? n: none. */
static int failing(emission *e, const kj_kernel_decl *const *kernels, const kj_spec *specs, int n)
{
    kj_diag diag;
    kj_code code;
    kj_diag_init(&diag, &e->arena, &e->mod->source);
    int i = 0;
    while (i < n && kj_compile_all(&e->arena, &diag, e->mod->program, &kernels[i], &specs[i], 1,
                                   &e->options, KJ_STAGE_TAST, &code)) {
        kj_code_free(&code);
        i++;
    }
    return i;
}

/* An error may come of a const parameter that nobody has given a value. */
static void note_assumed(emission *e, kj_diag *diag, const kj_kernel *kernel)
{
    const kj_kernel_decl *decl = kernel->decl;
    kj_message *m = diag->first;
    for (int i = 0, n = 0; m && i < decl->nparams; i++) {
        const kj_kernel_param *p = &decl->params[i];
        if (!p->is_const || kj_is_assumed(kernel, n++) || p->has_default)
            continue;
        const char *text = kj_arena_printf(
            &e->arena,
            "'%s' has no value here and stands as %s: %s=... behind the file's name, or "
            "kjit_module_assume, gives it one",
            p->name, p->type == KJ_BOOL ? "true" : "1", p->name);
        if (m->note)
            kj_hint(diag, m, "%s", text);
        else
            kj_note(diag, m, p->span, "%s", text);
        return;
    }
}

static bool compile(emission *e, kj_code *codes)
{
    kjit_module *mod = e->mod;
    int n = e->kernel ? 1 : mod->nkernels;
    const kj_kernel_decl **kernels = KJ_NEW_ARRAY(&e->arena, const kj_kernel_decl *, (size_t)n);
    kj_spec *specs = KJ_NEW_ARRAY(&e->arena, kj_spec, (size_t)n);
    kj_diag diag;
    kj_diag_init(&diag, &e->arena, &mod->source);
    const kj_kernel *first = e->kernel ? e->kernel : mod->kernels;
    for (int i = 0; i < n; i++) {
        kernels[i] = first[i].decl;
        specs[i] = kj_form_spec(&e->arena, &first[i], e->block, &e->options);
        if (e->stage == KJ_STAGE_CHECKS || e->stage == KJ_STAGE_NOTES)
            specs[i].checks |= KJ_CHECK_BOUNDS;
        if (e->usual)
            kj_take_required_block(&e->arena, &mod->source, mod->program, kernels[i], &specs[i]);
    }
    bool done = kj_compile_all(&e->arena, &diag, mod->program, kernels, specs, n, &e->options,
                               e->stage, codes);
    if (done)
        return true;
    int at = failing(e, kernels, specs, n);
    if (at < n)
        note_assumed(e, &diag, &first[at]);
    kj_text_puts(&e->errors, kj_diag_text(&diag));
    return false;
}

static void emit_kernels(void *data)
{
    emission *e = data;
    kj_code *codes = KJ_NEW_ARRAY(&e->arena, kj_code, (size_t)(e->kernel ? 1 : e->mod->nkernels));
    if (!compile(e, codes))
        return;
    kj_text_add(&e->out, codes->bytes, codes->size);
    kj_code_free(codes);
}

static void emit_tokens(void *data)
{
    emission *e = data;
    kj_text_puts(&e->out, kj_tokens_dump(&e->arena, &e->mod->source));
}

static void emit_ast(void *data)
{
    emission *e = data;
    kj_text_puts(&e->out, kj_ast_dump(&e->arena, e->mod->file));
}

typedef struct form {
    const char *name;
    kj_stage stage;
    bool gpu;
} form;

static const form *find_form(const char *what)
{
    static const form forms[] = {
        {"checks", KJ_STAGE_CHECKS, false},
        {"notes", KJ_STAGE_NOTES, false},
        {"tast", KJ_STAGE_TAST, false},
        {"uniform", KJ_STAGE_UNIFORM, false},
        {"regions", KJ_STAGE_REGIONS, false},
        {"llvm", KJ_STAGE_LLVM, false},
        {"opt", KJ_STAGE_OPT, false},
        {"llvm-opt", KJ_STAGE_OPT, false}, /* its name up to version 0.1 */
        {"asm", KJ_STAGE_ASM, false},
        {"ptx", KJ_STAGE_ASM, true},
        {"cubin", KJ_STAGE_ASM, true},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (strcmp(forms[i].name, what) == 0)
            return &forms[i];
    }
    return NULL;
}

static kjit_status run_step(emission *e, kj_step *run)
{
    kj_complaint complaint;
    kj_outcome outcome = kj_guarded_apart(&e->arena, run, e, &complaint);
    if (outcome != KJ_DONE)
        return kj_fail_early(e->mod->ctx, &e->arena, outcome, &complaint);
    if (e->out.failed || e->errors.failed)
        return kj_no_memory(e->mod->ctx);
    if (e->errors.size > 0)
        return kj_fail_lines(e->mod->ctx, KJIT_COMPILE, e->errors.data);
    return KJIT_OK;
}

/* Runs one step with an arena of its own. */
static kjit_status step(emission *e, kj_step *run)
{
    kj_compiling_begin(e->mod->ctx, &e->arena);
    kjit_status status = run_step(e, run);
    kj_arena_free(&e->arena);
    return status;
}

static kjit_status unknown_arch(kjit_context *ctx, const char *arch)
{
    kj_text list = {0};
    for (int i = 0; kj_gpu(i); i++)
        kj_text_printf(&list, "%s%s", i ? ", " : "", kj_gpu(i));
    kjit_status status =
        list.failed
            ? kj_no_memory(ctx)
            : kj_fail(ctx, KJIT_INVALID, "'%.64s' is no GPU that kjit compiles for: there are %s",
                      arch, list.data ? list.data : "none");
    kj_text_free(&list);
    return status;
}

/* What the code is for: the architecture that the module's options name, else the device. */
static kjit_status set_target(emission *e)
{
    kjit_context *ctx = e->mod->ctx;
    e->options = e->mod->options;
    e->options.checks &= e->mod->asked;
    if (e->mod->arch)
        e->options.arch = e->mod->arch;
    else if (ctx->ops->code)
        ctx->ops->code->target(ctx->dev, &e->options);
    if (e->options.arch)
        e->options.checks &= KJ_CHECKS_EVERY;
    const char *known = kj_gpu(0);
    for (int i = 0; e->options.arch && known && strcmp(known, e->options.arch) != 0; i++)
        known = kj_gpu(i);
    return known || !e->options.arch ? KJIT_OK : unknown_arch(ctx, e->options.arch);
}

/* Is that what the device itself is? */
static bool is_own(const emission *e)
{
    kjit_context *ctx = e->mod->ctx;
    kj_compile_options own = {0};
    if (ctx->ops->code)
        ctx->ops->code->target(ctx->dev, &own);
    return own.arch && strcmp(own.arch, e->options.arch) == 0;
}

/* The PTX that was emitted, as the device's machine code. */
static kjit_status assemble(emission *e)
{
    kjit_context *ctx = e->mod->ctx;
    kj_failure why;
    void *code;
    size_t size;
    if (!ctx->ops->code || !is_own(e))
        return kj_fail(ctx, KJIT_NO_DEVICE, "there is no %s here to make a cubin for",
                       e->options.arch);
    kjit_status status = ctx->ops->code->assemble(ctx->dev, e->out.data, &code, &size, &why);
    if (status != KJIT_OK)
        return kj_fail_why(ctx, status, &why);
    kj_text_free(&e->out);
    e->out = (kj_text){0};
    kj_text_add(&e->out, code, size);
    free(code);
    return e->out.failed ? kj_no_memory(ctx) : KJIT_OK;
}

static kjit_status emit(emission *e, const char *what)
{
    kjit_module *mod = e->mod;
    if (strcmp(what, "tokens") == 0)
        return step(e, emit_tokens);
    if (strcmp(what, "ast") == 0)
        return step(e, emit_ast);
    const form *f = find_form(what);
    if (!f)
        return kj_fail(
            mod->ctx, KJIT_INVALID,
            "'%.64s' cannot be emitted: there is tokens, ast, checks, notes, tast, uniform, "
            "regions, llvm, opt, asm, ptx, cubin",
            what);
    if (mod->nkernels == 0)
        return KJIT_OK;
    kjit_status status = set_target(e);
    if (status != KJIT_OK)
        return status;
    if (f->gpu && !e->options.arch)
        return kj_fail(mod->ctx, KJIT_NO_DEVICE,
                       "%s is for a GPU, and there is none here: name an architecture, as sm_80",
                       what);
    e->stage = f->stage;
    status = step(e, emit_kernels);
    return status == KJIT_OK && strcmp(what, "cubin") == 0 ? assemble(e) : status;
}

/* A value may be meant for the file's own kernels and not fit one of a file that it uses, which is shown only where it
 * is named. */
static kjit_status check_assumed(const kj_kernel *k)
{
    for (int i = 0, n = 0; k->assumed && i < k->decl->nparams; i++) {
        const kj_kernel_param *p = &k->decl->params[i];
        if (p->is_const && k->assumed[n++].type == KJ_UNFIT)
            return kj_fail(k->mod->ctx, KJIT_TYPE,
                           "kernel '%s': the value that was given for '%s' does not fit in it",
                           k->decl->name, p->name);
    }
    return KJIT_OK;
}

/* Takes the kernel's name and the block, either may be NULL. */
static kjit_status begin(emission *e, const char *kernel, const int64_t block[3])
{
    kjit_module *mod = e->mod;
    const kj_device_ops *ops = mod->ctx->ops;
    int64_t threads = 1;
    bool fits = true;
    e->usual = !block;
    for (int i = 0; i < 3; i++) {
        e->block[i] = block ? block[i] : i == 0 ? 256 : 1;
        if (e->block[i] < 0)
            return kj_fail(mod->ctx, KJIT_INVALID, "a block of %lld threads",
                           (long long)e->block[i]);
        if (e->block[i] == 0)
            e->block[i] = 1;
        fits =
            fits && e->block[i] <= ops->max_block[i] && threads * e->block[i] <= ops->max_threads;
        threads *= fits ? e->block[i] : 1;
    }
    if (!fits)
        return kj_fail(mod->ctx, KJIT_INVALID, "a block of (%lld, %lld, %lld) is too large",
                       (long long)e->block[0], (long long)e->block[1], (long long)e->block[2]);
    e->kernel = kernel ? kj_module_find(mod, kernel) : NULL;
    if (kernel && !e->kernel)
        return kj_no_kernel(mod, kernel);
    return e->kernel ? check_assumed(e->kernel) : KJIT_OK;
}

/* Has it what forms are made of? */
static kjit_status check_source(const kjit_module *mod)
{
    return mod->image ? kj_fail(mod->ctx, KJIT_INVALID,
                                "%s was made ahead of time: its kernels are code, without a form",
                                mod->source.name)
                      : KJIT_OK;
}

kjit_status kjit_module_emit(kjit_module *mod, const char *what, const char *kernel,
                             const int64_t block[3], char **out, size_t *size)
{
    kjit_status status = KJ_MAKES(out, kj_enter_module(mod), mod->ctx);
    if (status != KJIT_OK)
        return status;
    if (!what)
        return kj_fail(mod->ctx, KJIT_INVALID, "what is NULL");
    status = check_source(mod);
    if (status != KJIT_OK)
        return status;
    bool tokens = strcmp(what, "tokens") == 0, ast = strcmp(what, "ast") == 0;
    if (!tokens && (ast ? !mod->file : !mod->program))
        return kj_not_compiled(mod);
    emission e = {.mod = mod};
    status = begin(&e, kernel, block);
    if (status == KJIT_OK)
        status = emit(&e, what);
    if (status == KJIT_OK)
        kj_text_puts(&e.out, ""); /* a module without kernels: an empty text, not none */
    if (status == KJIT_OK && e.out.failed)
        status = kj_no_memory(mod->ctx);
    kj_text_free(&e.errors);
    if (status == KJIT_OK) {
        *out = e.out.data;
        if (size)
            *size = e.out.size;
    } else
        kj_text_free(&e.out);
    return status;
}

/* ---- What a kernel takes ---- */

static void compile_kernel(void *data)
{
    emission *e = data;
    kj_code code;
    if (compile(e, &code))
        e->code = code;
}

static void load_kernel(void *data)
{
    emission *e = data;
    kjit_context *ctx = e->mod->ctx;
    e->loaded = ctx->ops->load(ctx->dev, &e->code, &e->exec, &e->why);
}

static kjit_status compile_and_load(emission *e)
{
    e->loaded = kj_because(&e->why, KJIT_NO_MEMORY, KJ_NO_THREAD);
    kj_compiling_begin(e->mod->ctx, &e->arena);
    kjit_status status = run_step(e, compile_kernel);
    if (status == KJIT_OK)
        kj_with_stack(KJ_DRIVER_STACK, load_kernel, e);
    kj_code_free(&e->code);
    kj_arena_free(&e->arena);
    return status;
}

kjit_status kjit_module_kernel_info(kjit_module *mod, const char *kernel, const int64_t block[3],
                                    kjit_kernel_info *out)
{
    kjit_status status = kj_enter_module(mod);
    if (status != KJIT_OK)
        return status;
    kjit_context *ctx = mod->ctx;
    if (!out || !kernel)
        return kj_fail(ctx, KJIT_INVALID, out ? "kernel is NULL" : "out is NULL");
    if (!mod->program)
        return kj_not_compiled(mod);
    emission e = {.mod = mod};
    status = check_source(mod);
    if (status == KJIT_OK)
        status = begin(&e, kernel, block);
    if (status == KJIT_OK)
        status = set_target(&e);
    if (status != KJIT_OK)
        return status;
    if (!ctx->ops->code || !is_own(&e))
        return kj_fail(ctx, KJIT_NO_DEVICE, "only a GPU says what a kernel takes of it");
    e.stage = ctx->ops->stage;
    status = compile_and_load(&e);
    kj_text_free(&e.errors);
    if (status != KJIT_OK)
        return status;
    if (e.loaded != KJIT_OK)
        return kj_fail_why(ctx, e.loaded, &e.why);
    int64_t threads = e.block[0] * e.block[1] * e.block[2];
    *out = (kjit_kernel_info){0};
    status = ctx->ops->code->inspect(ctx->dev, e.exec, (int)threads, 0, out, &e.why);
    if (status != KJIT_OK)
        kj_fail_why(ctx, status, &e.why);
    kjit_status freed = ctx->ops->unload(ctx->dev, e.exec, &e.why);
    if (freed != KJIT_OK)
        kj_pending_failed(ctx, freed, &e.why);
    return status;
}
