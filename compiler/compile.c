/* The pipeline of one specialisation: typed AST -> LLVM IR -> optimised IR -> object
 * or PTX. */
#include "compile.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "base/guard.h"
#include "lower/block/block.h"
#include "sema/program.h"
#include "target/target.h"
#include "tast/tast.h"

static bool keep(kj_code *out, const void *bytes, size_t size)
{
    out->bytes = malloc(size + 1);
    if (!out->bytes)
        return false;
    memcpy(out->bytes, bytes, size);
    ((char *)out->bytes)[size] = 0;
    out->size = size;
    return true;
}

static bool keep_text(kj_code *out, LLVMModuleRef module)
{
    char *text = LLVMPrintModuleToString(module);
    bool kept = keep(out, text, strlen(text));
    LLVMDisposeMessage(text);
    return kept;
}

/* What LLVM holds during a compilation. */
typedef struct unit {
    LLVMContextRef ctx;
    LLVMModuleRef module;
    LLVMBuilderRef code, allocas;
    LLVMDIBuilderRef lines;
    const kj_source *source;
    kj_target target;
    char *complaint; /* LLVM's first, for LLVMDisposeMessage */
    int64_t stack;   /* bytes of the largest frame */
} unit;

static void unit_close(unit *s)
{
    kj_target_close(&s->target);
    LLVMDisposeBuilder(s->code);
    LLVMDisposeBuilder(s->allocas);
    LLVMDisposeDIBuilder(s->lines);
    LLVMDisposeModule(s->module);
    LLVMContextDispose(s->ctx);
    LLVMDisposeMessage(s->complaint);
}

/* Without this one LLVM prints errors and ends the process. Of the CPU's entries it is also told
 * "stack frame size (1234) exceeds limit (0) in function ...", for each. */
static void on_diagnostic(LLVMDiagnosticInfoRef info, void *data)
{
    static const char frame[] = "stack frame size (";
    unit *s = data;
    char *text = LLVMGetDiagInfoDescription(info);
    const char *at = strstr(text, frame);
    int64_t size = at ? strtoll(at + strlen(frame), NULL, 10) : 0;
    s->stack = size > s->stack ? size : s->stack;
    if (LLVMGetDiagInfoSeverity(info) == LLVMDSError && !s->complaint)
        s->complaint = text;
    else
        LLVMDisposeMessage(text);
}

static void unit_open(unit *s, const char *name, const kj_source *source)
{
    memset(s, 0, sizeof *s);
    kj_target_ready();
    s->ctx = LLVMContextCreate();
    LLVMContextSetDiagnosticHandler(s->ctx, on_diagnostic, s);
    s->module = LLVMModuleCreateWithNameInContext(name, s->ctx);
    s->code = LLVMCreateBuilderInContext(s->ctx);
    s->allocas = LLVMCreateBuilderInContext(s->ctx);
    s->lines = LLVMCreateDIBuilder(s->module);
    s->source = source;
}

/* ---- What a launch must know ---- */

static void describe_params(kj_arena *arena, kj_kernel_info *info, const kj_tkernel *k)
{
    info->params = KJ_NEW_ARRAY(arena, kj_param_info, (size_t)k->nparams + 1);
    info->nparams = k->nparams;
    info->nslots = 1; /* the report */
    for (int i = 0; i < k->nparams; i++) {
        const kj_tarray *a = k->params[i].array;
        if (a)
            info->params[i] = (kj_param_info){true, a->read, a->written, a->ndim};
        info->nslots += a ? 1 + 2 * a->ndim : 1;
    }
}

static void describe_roots(kj_arena *arena, kj_kernel_info *info, const kj_program *program,
                           const kj_tkernel *k)
{
    bool known = true;
    info->filled = KJ_NEW_ARRAY(arena, const kj_filled_info *, (size_t)k->nroots + 1);
    for (int i = 0; i < k->nroots; i++) {
        const kj_tarray *root = k->roots[i];
        if (root->filled)
            info->filled[info->nfilled++] = &program->filled[root->filled - 1];
        if (root->space == KJ_SHARED && root->static_count == 0)
            known = false;
    }
    info->shared = known ? kj_shared_bytes(info, NULL) : -1;
}

static const kj_kernel_info *describe(kj_arena *arena, const kj_program *program,
                                      const kj_tkernel *k)
{
    kj_kernel_info *info = KJ_NEW(arena, kj_kernel_info);
    *info = (kj_kernel_info){.name = k->name,
                             .span = k->span,
                             .sites = k->sites,
                             .nsites = k->nsites,
                             .prints = k->prints,
                             .conditions = k->requires != NULL,
                             .launches = k->children != NULL,
                             .grid_sync = k->grid_sync != NULL,
                             .typed = k};
    if (k->children)
        info->launch = k->children->span;
    if (k->grid_sync)
        info->grid_sync_at = k->grid_sync->span;
    memcpy(info->block, k->block, sizeof k->block);
    describe_params(arena, info, k);
    describe_roots(arena, info, program, k);
    return info;
}

/* ---- The steps ---- */

/* Names the entries of the kernels that kernel i launches: kj_step$1, ... ; n are named already. */
static int name_children(kj_arena *arena, const kj_program *program, kj_code *out, int n)
{
    for (kj_child *c = out->kernel->typed->children; c; c = c->next, out->nchildren++)
        c->entry = kj_arena_printf(arena, "kj_%s$%d", c->decl->name, ++n);
    out->children = KJ_NEW_ARRAY(arena, kj_code, (size_t)out->nchildren + 1);
    int i = 0;
    for (const kj_child *c = out->kernel->typed->children; c; c = c->next)
        out->children[i++] =
            (kj_code){.entry = c->entry, .kernel = describe(arena, program, c->kernel)};
    return n;
}

static void refuse_large(kj_diag *diag, LLVMModuleRef module, const kj_code *out)
{
    int size = kj_target_largest(module);
    if (size <= KJ_MAX_CODE)
        return;
    kj_message *m = kj_error(diag, out->kernel->span, "too-large",
                             "'%s' is too large: %d instructions (at most %d)", out->kernel->name,
                             size, KJ_MAX_CODE);
    kj_hint(diag, m, "split it into several kernels");
}

/* Everything behind the typed AST of n kernels; gives what went wrong, for LLVMDisposeMessage.
 * After a message about the source there is no code. */
static char *generate(kj_arena *arena, kj_diag *diag, const kj_compile_options *options,
                      kj_stage stage, unit *s, kj_code *out, int n)
{
    char *error = kj_target_open(&s->target, options);
    int errors = diag->errors;
    if (error)
        return error;
    kj_target_describe(&s->target, s->module);
    kj_entry_spec spec = {.module = s->module,
                          .code = s->code,
                          .allocas = s->allocas,
                          .lines = s->lines,
                          .vector = s->target.vector,
                          .f16c = s->target.f16c,
                          .sm = s->target.sm,
                          .ftz = options->ftz,
                          .source = s->source,
                          .diag = diag};
    for (int i = 0; i < n; i++) {
        for (int k = -1; k < out[i].nchildren; k++) {
            kj_code *code = k < 0 ? &out[i] : &out[i].children[k];
            spec.entry = code->entry;
            if (s->target.kind->gpu)
                kj_lower_ptx(arena, &spec, code);
            else
                code->scratch = kj_lower_host(arena, code->kernel->typed, &spec);
        }
    }
    if (diag->errors > errors)
        return NULL;
    refuse_large(diag, s->module, out);
    if (diag->errors > errors)
        return NULL;
    if (stage == KJ_STAGE_LLVM)
        return keep_text(out, s->module) ? NULL : kj_message_of("out of memory");
    if ((error = kj_link_math(&s->target, s->module, options->libdevice)))
        return error;
    if ((error = kj_target_optimise(&s->target, s->module, options)))
        return error;
    if (s->target.kind->finish)
        s->target.kind->finish(arena, diag, options, s->module, out, n);
    if (diag->errors > errors)
        return NULL;
    if (stage == KJ_STAGE_OPT)
        return keep_text(out, s->module) ? NULL : kj_message_of("out of memory");
    LLVMMemoryBufferRef code;
    LLVMCodeGenFileType type = stage == KJ_STAGE_ASM ? LLVMAssemblyFile : LLVMObjectFile;
    if ((error = kj_target_emit(&s->target, s->module, type, &code)))
        return error;
    bool kept = keep(out, LLVMGetBufferStart(code), LLVMGetBufferSize(code));
    LLVMDisposeMemoryBuffer(code);
    if (!kept)
        return kj_message_of("out of memory");
    out->stack = s->stack;
    if (s->stack > KJ_MAX_STACK) {
        const kj_tkernel *k = out->kernel->typed;
        kj_message *m = kj_error(diag, k->span, "too-large",
                                 "'%s' has more values at once than there is stack for: %lld KiB",
                                 k->name, (long long)(s->stack >> 10));
        kj_hint(diag, m, "split it into several kernels");
        kj_code_free(out);
    }
    return NULL;
}

/* `generate`, from which an arena without memory would leave past LLVM's objects. */
static char *generate_guarded(kj_arena *arena, kj_diag *diag, const kj_compile_options *options,
                              kj_stage stage, unit *s, kj_code *out, int n)
{
    jmp_buf here, *outer = arena->fail;
    arena->fail = &here;
    if (setjmp(here)) {
        unit_close(s);
        arena->fail = outer;
        longjmp(*outer, 1);
    }
    char *error = generate(arena, diag, options, stage, s, out, n);
    arena->fail = outer;
    if (!error && s->complaint) {
        kj_code_free(out);
        error = kj_message_of(s->complaint);
    }
    return error;
}

static bool keep_trees(kj_arena *arena, kj_code *out, int n)
{
    const char *text = "";
    for (int i = 0; i < n; i++)
        for (int k = -1; k < out[i].nchildren; k++)
            text = kj_arena_printf(
                arena, "%s%s", text,
                kj_tast_dump(arena, (k < 0 ? &out[i] : &out[i].children[k])->kernel->typed));
    return keep(out, text, strlen(text));
}

/* *children counts the launched kernels of a module, for their names. */
static bool specialise(kj_arena *arena, kj_diag *diag, const kj_program *program,
                       const kj_kernel_decl *kernel, const kj_spec *spec, int *children,
                       kj_code *out)
{
    *out = (kj_code){.entry = kj_arena_printf(arena, "kj_%s", kernel->name)};
    const kj_tkernel *typed = kj_sema_kernel(arena, diag, program, kernel, spec);
    if (!typed)
        return false;
    out->kernel = describe(arena, program, typed);
    *children = name_children(arena, program, out, *children);
    return true;
}

bool kj_specialise(kj_arena *arena, kj_diag *diag, const kj_program *program,
                   const kj_kernel_decl *kernel, const kj_spec *spec, kj_code *out)
{
    return specialise(arena, diag, program, kernel, spec, &(int){0}, out);
}

/* Code of n kernels in one module. */
static bool generate_all(kj_arena *arena, kj_diag *diag, const kj_compile_options *options,
                         kj_stage stage, kj_code *out, int n)
{
    const kj_tkernel *first = out[0].kernel->typed;
    unit s;
    if (!kj_has_room())
        kj_break(KJ_NO_ROOM, "out of memory");
    unit_open(&s, first->name, diag->source);
    char *error = generate_guarded(arena, diag, options, stage, &s, out, n);
    unit_close(&s);
    if (error) {
        const char *text = kj_arena_printf(arena, "%s", error);
        LLVMDisposeMessage(error);
        kj_error(diag, first->span, "internal", "cannot compile '%s': %s", first->name, text);
    }
    return !error && out->bytes;
}

bool kj_generate(kj_arena *arena, kj_diag *diag, const kj_compile_options *options, kj_stage stage,
                 kj_code *code)
{
    return generate_all(arena, diag, options, stage, code, 1);
}

bool kj_compile_all(kj_arena *arena, kj_diag *diag, const kj_program *program,
                    const kj_kernel_decl *const *kernels, const kj_spec *specs, int n,
                    const kj_compile_options *options, kj_stage stage, kj_code *out)
{
    for (int i = 0, children = 0; i < n; i++) {
        if (!specialise(arena, diag, program, kernels[i], &specs[i], &children, &out[i]))
            return false;
    }
    if (stage == KJ_STAGE_TAST)
        return keep_trees(arena, out, n);
    return generate_all(arena, diag, options, stage, out, n);
}

bool kj_compile(kj_arena *arena, kj_diag *diag, const kj_program *program,
                const kj_kernel_decl *kernel, const kj_spec *spec,
                const kj_compile_options *options, kj_stage stage, kj_code *out)
{
    return kj_compile_all(arena, diag, program, &kernel, spec, 1, options, stage, out);
}

void kj_code_free(kj_code *code)
{
    free(code->bytes);
    code->bytes = NULL;
}
