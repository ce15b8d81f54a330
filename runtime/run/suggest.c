/* What to type when a file has kernels and no run block. In: the kernels' declarations; out: a run
 * block for the first of them that can be pasted as it is. */
#include "run/run.h"

#include <inttypes.h>
#include <string.h>

/* A name of the run block for a parameter: its own, unless that would hide what the block uses. */
static void put_name(kj_text *t, const kj_kernel_decl *kernel, const char *name)
{
    static const char *const used[] = {"n", "random", "zeros", "print", "ceil_div"};
    bool taken = strcmp(name, kernel->name) == 0 || kj_type_named(name) != KJ_VOID;
    for (size_t i = 0; i < sizeof used / sizeof *used; i++)
        taken |= strcmp(name, used[i]) == 0;
    kj_text_printf(t, "%s%s", name, taken ? "_" : "");
}

/* The type a parameter has in the suggestion: of a generic one, what its bound allows. */
static kj_dtype type_of(const kj_kernel_decl *kernel, const kj_kernel_param *p)
{
    if (p->generic < 0)
        return p->type;
    const kj_generic *g = kernel->generics;
    for (int i = 0; i < p->generic; i++)
        g = g->next;
    return !g->bound                          ? KJ_F32
           : strcmp(g->bound, "int") == 0     ? KJ_I32
           : strcmp(g->bound, "complex") == 0 ? KJ_C64
                                              : KJ_F32;
}

/* Axes of the grid: as many as the arrays have, three at most. */
static int grid_axes(const kj_kernel_decl *kernel)
{
    int axes = 1;
    for (int i = 0; i < kernel->nparams; i++) {
        if (kernel->params[i].ndim > axes)
            axes = kernel->params[i].ndim;
    }
    return axes > 3 ? 3 : axes;
}

static void put_array(kj_text *t, kj_records *records, const kj_kernel_decl *kernel,
                      const kj_kernel_param *p, int seed)
{
    kj_dtype type = type_of(kernel, p);
    const char *name = kj_type_name_in(records, type);
    bool number = kj_is_float(type) || kj_is_int(type);
    kj_text_puts(t, "    let ");
    put_name(t, kernel, p->name);
    kj_text_puts(t, kj_is_float(type) ? " = random.uniform("
                    : kj_is_int(type) ? " = random.randint(0, 100, "
                                      : " = zeros(");
    for (int i = 0; i < p->ndim; i++)
        kj_text_printf(t, "%s%sn", p->ndim > 1 && i == 0 ? "(" : "", i > 0 ? ", " : "");
    kj_text_printf(t, "%s, %s", p->ndim > 1 ? ")" : "", name);
    if (number)
        kj_text_printf(t, ", seed=%d", seed);
    kj_text_puts(t, ")\n");
}

/* Integers are sizes more often than not. */
static void put_argument(kj_text *t, kj_records *records, const kj_kernel_decl *kernel,
                         const kj_kernel_param *p)
{
    kj_dtype type = type_of(kernel, p);
    const kj_aggregate *of = kj_aggregate_in(records, type);
    if (p->ndim > 0)
        put_name(t, kernel, p->name);
    else if (of)
        kj_text_printf(t, "%s(%s)", of->name, kj_is_record(of) ? "" : "1");
    else if (type == KJ_BOOL)
        kj_text_puts(t, "true");
    else if (kj_is_float(type))
        kj_text_puts(t, "1.0");
    else if (!kj_is_scalar(type))
        kj_text_printf(t, "%s(1)", kj_type_name(type));
    else
        kj_text_puts(t, kj_types[type].size == 1 ? "1" : "n");
}

static void put_launch(kj_text *t, kj_records *records, const kj_kernel_decl *kernel)
{
    static const char *const configs[] = {
        "ceil_div(n, 256), 256",
        "(ceil_div(n, 16), ceil_div(n, 16)), (16, 16)",
        "(ceil_div(n, 8), ceil_div(n, 8), ceil_div(n, 4)), (8, 8, 4)",
    };
    int limit = kernel->launch_bounds[0];
    kj_text_printf(t, "    %s[", kernel->name);
    if (limit > 0 && limit < 256)
        kj_text_printf(t, "ceil_div(n, %d), %d](", limit, limit);
    else
        kj_text_printf(t, "%s](", configs[grid_axes(kernel) - 1]);
    const char *separator = "";
    for (int i = 0; i < kernel->nparams; i++) {
        const kj_kernel_param *p = &kernel->params[i];
        if (p->is_const)
            continue;
        kj_text_puts(t, separator);
        put_argument(t, records, kernel, p);
        separator = ", ";
    }
    for (int i = 0; i < kernel->nparams; i++) {
        const kj_kernel_param *p = &kernel->params[i];
        if (!p->is_const || p->has_default)
            continue;
        kj_dtype type = type_of(kernel, p);
        kj_text_printf(t, "%s%s=%s", separator, p->name,
                       type == KJ_BOOL     ? "true"
                       : kj_is_float(type) ? "1.0"
                                           : "16");
        separator = ", ";
    }
    kj_text_puts(t, ")\n");
}

const char *kj_run_suggest(const kj_program *program, kj_text *hint)
{
    const kj_item *item = program->file->items;
    while (item && item->kind != KJ_I_RUN_FN)
        item = item->next;
    if (item) {
        kj_text_printf(hint, "call them from a run block: run { %s(...) }", item->name);
        return "there is no run block: this is a library of functions";
    }
    if (program->nkernels == 0)
        return "there is no kernel and no run block in this file";
    const kj_kernel_decl *kernel = &program->kernels[0];
    const kj_kernel_param *shown = NULL;
    int arrays = 0;
    kj_text_printf(hint, "for kernel '%s', add this at the end of the file:\n\n", kernel->name);
    kj_text_printf(hint, "run {\n    param n = %d\n",
                   grid_axes(kernel) == 1   ? 1024 /* whole blocks: also where no guard is */
                   : grid_axes(kernel) == 2 ? 64
                                            : 16);
    for (int i = 0; i < kernel->nparams; i++) {
        if (kernel->params[i].ndim == 0 || kernel->params[i].is_const)
            continue;
        shown = &kernel->params[i];
        put_array(hint, program->records, kernel, shown, ++arrays);
    }
    put_launch(hint, program->records, kernel);
    if (shown) {
        kj_text_puts(hint, "    print(");
        put_name(hint, kernel, shown->name);
        kj_text_puts(hint, shown->ndim == 1 ? "[:10])\n" : ")\n");
    }
    kj_text_puts(hint, "}\n");
    return "there is no run block: nothing says what to launch, and on what";
}
