/* The pipeline of one specialisation: typed AST -> LLVM IR -> optimised IR -> object. */
#include "compile.h"

#include <stdlib.h>
#include <string.h>

#include "lower.h"
#include "target_host.h"

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

/* Everything behind the typed AST; gives what went wrong, for LLVMDisposeMessage. */
static char *generate(kj_arena *arena, const kj_compile_options *options, kj_stage stage,
                      kj_host_target *target, LLVMModuleRef module, kj_code *out)
{
    char *error = kj_host_open(target, options);
    if (error)
        return error;
    kj_host_describe(target, module);
    out->scratch = kj_lower_host(arena, out->kernel, target->vector, module, out->entry);
    if (stage == KJ_STAGE_LLVM)
        return keep_text(out, module) ? NULL : LLVMCreateMessage("out of memory");
    if ((error = kj_host_link_math(module)))
        return error;
    if ((error = kj_host_optimise(target, module, options)))
        return error;
    if (stage == KJ_STAGE_OPT)
        return keep_text(out, module) ? NULL : LLVMCreateMessage("out of memory");
    LLVMMemoryBufferRef code;
    if ((error = kj_host_emit(target, module,
                              stage == KJ_STAGE_ASM ? LLVMAssemblyFile : LLVMObjectFile, &code)))
        return error;
    bool kept = keep(out, LLVMGetBufferStart(code), LLVMGetBufferSize(code));
    LLVMDisposeMemoryBuffer(code);
    return kept ? NULL : LLVMCreateMessage("out of memory");
}

bool kj_compile(kj_arena *arena, kj_diag *diag, const kj_program *program,
                const kj_kernel_decl *kernel, const kj_spec *spec,
                const kj_compile_options *options, kj_stage stage, kj_code *out)
{
    *out = (kj_code){.entry = kj_arena_printf(arena, "kj_%s", kernel->name)};
    out->kernel = kj_sema_kernel(arena, diag, program, kernel, spec);
    if (!out->kernel)
        return false;
    if (stage == KJ_STAGE_TAST) {
        const char *text = kj_tast_dump(arena, out->kernel);
        return keep(out, text, strlen(text));
    }
    LLVMContextRef ctx = LLVMContextCreate();
    LLVMModuleRef module = LLVMModuleCreateWithNameInContext(kernel->name, ctx);
    kj_host_target target = {0};
    char *error = generate(arena, options, stage, &target, module, out);
    if (error) {
        kj_error(diag, kernel->item->name_span, "internal", "cannot compile '%s': %s", kernel->name,
                 error);
        LLVMDisposeMessage(error);
    }
    kj_host_close(&target);
    LLVMDisposeModule(module);
    LLVMContextDispose(ctx);
    return !error;
}

void kj_code_free(kj_code *code)
{
    free(code->bytes);
    code->bytes = NULL;
}

int64_t kj_shared_bytes(const kj_tkernel *kernel, const kj_eval_env *env)
{
    int64_t total = 0;
    for (int i = 0; i < kernel->nroots; i++) {
        const kj_tarray *a = kernel->roots[i];
        if (a->space != KJ_SHARED)
            continue;
        int64_t bytes = kj_types[a->elem].size;
        for (int d = 0; d < a->ndim; d++) {
            kj_value v;
            if (!kj_eval(a->shape[d], env, &v) || v.i < 0 ||
                __builtin_mul_overflow(bytes, v.i, &bytes))
                return -1;
        }
        if (bytes > INT64_MAX - 63 || __builtin_add_overflow(total, (bytes + 63) / 64 * 64, &total))
            return -1;
    }
    return total;
}
