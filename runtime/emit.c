/* Intermediate forms of a module's kernels, as text. */
#include <stdlib.h>
#include <string.h>

#include "runtime.h"

typedef struct emission {
    kjit_module *mod;
    kj_arena arena;
    const kj_kernel *kernel;
    kj_stage stage;
    int64_t block[3];
    kj_str out;
    kj_str errors;
} emission;

/* A type that stands for all that a bound allows. */
static kj_dtype representative(const char *bound)
{
    return bound && strcmp(bound, "int") == 0 ? KJ_I32 : KJ_F32;
}

/* The specialisation that is shown when no launch says which. */
static kj_spec default_spec(kj_arena *arena, const kj_kernel_decl *decl, const int64_t block[3],
                            const kj_compile_options *options)
{
    kj_dtype *generics = KJ_NEW_ARRAY(arena, kj_dtype, (size_t)decl->ngenerics);
    kj_value *consts = KJ_NEW_ARRAY(arena, kj_value, (size_t)decl->nconsts);
    kj_layout *layouts = KJ_NEW_ARRAY(arena, kj_layout, (size_t)decl->nparams);
    int n = 0;
    for (kj_generic *g = decl->generics; g; g = g->next)
        generics[n++] = representative(g->bound);
    n = 0;
    for (int i = 0; i < decl->nparams; i++) {
        const kj_kernel_param *p = &decl->params[i];
        layouts[i] = KJ_LAYOUT_C;
        if (!p->is_const)
            continue;
        kj_dtype type = p->generic >= 0 ? generics[p->generic] : p->type;
        kj_value one = type == KJ_BOOL ? (kj_value){.type = KJ_BOOL, .u = 1} : kj_int(KJ_I64, 1);
        consts[n++] = kj_fold_convert(p->has_default ? p->init : one, type);
    }
    return (kj_spec){.generics = generics,
                     .consts = consts,
                     .layouts = layouts,
                     .block = {block[0], block[1], block[2]},
                     .small = true,
                     .no_contract = options->no_contract,
                     .disjoint = options->arch != NULL,
                     .aligned = options->arch != NULL};
}

static void emit_kernel(void *data)
{
    emission *e = data;
    kjit_module *mod = e->mod;
    kj_diag diag;
    kj_code code;
    kj_diag_init(&diag, &e->arena, &mod->source);
    kj_compile_options options = mod->options;
    options.arch = mod->arch;
    kj_spec spec = default_spec(&e->arena, e->kernel->decl, e->block, &options);
    if (!kj_compile(&e->arena, &diag, mod->program, e->kernel->decl, &spec, &options, e->stage,
                    &code)) {
        kj_str_puts(&e->errors, kj_diag_text(&diag));
        return;
    }
    kj_str_add(&e->out, code.bytes, strlen(code.bytes));
    kj_code_free(&code);
}

static void emit_ast(void *data)
{
    emission *e = data;
    kj_str_puts(&e->out, kj_ast_dump(&e->arena, e->mod->file));
}

static bool find_stage(const char *what, kj_stage *stage)
{
    static const struct {
        const char *name;
        kj_stage stage;
    } stages[] = {{"tast", KJ_STAGE_TAST},
                  {"llvm", KJ_STAGE_LLVM},
                  {"llvm-opt", KJ_STAGE_OPT},
                  {"asm", KJ_STAGE_ASM}};
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++) {
        if (strcmp(stages[i].name, what) == 0) {
            *stage = stages[i].stage;
            return true;
        }
    }
    return false;
}

/* Runs one step with an arena of its own. */
static kjit_status step(emission *e, void (*run)(void *))
{
    kj_arena_init(&e->arena, NULL);
    bool done = kj_guarded(&e->arena, run, e);
    kj_arena_free(&e->arena);
    if (!done || e->out.failed || e->errors.failed)
        return kj_no_memory(e->mod->ctx);
    if (e->errors.size > 0)
        return kj_fail(e->mod->ctx, KJIT_COMPILE, "%s", e->errors.data);
    return KJIT_OK;
}

static kjit_status emit(emission *e, const char *what, const char *kernel)
{
    kjit_module *mod = e->mod;
    if (strcmp(what, "ast") == 0)
        return step(e, emit_ast);
    if (!find_stage(what, &e->stage))
        return kj_fail(mod->ctx, KJIT_INVALID,
                       "'%.64s' cannot be emitted: there is ast, tast, llvm, llvm-opt, asm", what);
    if (kernel) {
        e->kernel = kj_module_find(mod, kernel);
        return e->kernel ? step(e, emit_kernel) : kj_no_kernel(mod, kernel);
    }
    kjit_status status = KJIT_OK;
    for (int i = 0; i < mod->nkernels && status == KJIT_OK; i++) {
        e->kernel = &mod->kernels[i];
        status = step(e, emit_kernel);
    }
    return status;
}

kjit_status kjit_module_emit(kjit_module *mod, const char *what, const char *kernel,
                             const int64_t block[3], char **out, size_t *size)
{
    if (out)
        *out = NULL;
    kjit_status status = mod ? kj_enter(mod->ctx) : KJIT_INVALID;
    if (status != KJIT_OK)
        return status;
    if (!out || !what)
        return kj_fail(mod->ctx, KJIT_INVALID, out ? "what is NULL" : "out is NULL");
    if (strcmp(what, "ast") == 0 ? !mod->parsed : !mod->program)
        return kj_fail(mod->ctx, KJIT_COMPILE, "%s: the source has errors", mod->source.name);
    emission e = {.mod = mod, .block = {256, 1, 1}};
    for (int i = 0; block && i < 3; i++)
        e.block[i] = block[i] > 0 ? block[i] : 1;
    status = emit(&e, what, kernel);
    if (status == KJIT_OK)
        kj_str_puts(&e.out, ""); /* a module without kernels: an empty text, not none */
    if (status == KJIT_OK && e.out.failed)
        status = kj_no_memory(mod->ctx);
    kj_str_free(&e.errors);
    if (status == KJIT_OK) {
        *out = e.out.data;
        if (size)
            *size = e.out.size;
    } else
        kj_str_free(&e.out);
    return status;
}
