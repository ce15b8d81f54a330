/* What to type when a file has kernels and no run block. In: the kernels' declarations; out: a run
 * block for the first of them that can be pasted as it is. */
#include "run/run.h"

#include <inttypes.h>
#include <string.h>

typedef struct suggestion {
    kj_text *t;
    const kj_program *program;
    const kj_kernel_decl *kernel;
    const char *n; /* what the number of elements is called, which hides nothing of the file */
} suggestion;

/* A name of the run block for a parameter: its own, unless that would hide what the block uses. */
static void put_name(const suggestion *s, const char *name)
{
    static const char *const used[] = {"random", "zeros", "print", "ceil_div"};
    bool taken = strcmp(name, s->kernel->name) == 0 || kj_type_named(name) != KJ_VOID ||
                 strcmp(name, s->n) == 0 || kj_item_named(s->program->file, name);
    for (size_t i = 0; i < sizeof used / sizeof *used; i++)
        taken |= strcmp(name, used[i]) == 0;
    kj_text_printf(s->t, "%s%s", name, taken ? "_" : "");
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

static void put_array(const suggestion *s, const kj_kernel_param *p, int seed)
{
    kj_text *t = s->t;
    kj_dtype type = type_of(s->kernel, p);
    const char *name = kj_type_name_in(s->program->records, type);
    bool number = kj_is_float(type) || kj_is_int(type);
    kj_text_puts(t, "    let ");
    put_name(s, p->name);
    kj_text_puts(t, kj_is_float(type) ? " = random.uniform("
                    : kj_is_int(type) ? " = random.randint(0, 100, "
                                      : " = zeros(");
    for (int i = 0; i < p->ndim; i++)
        kj_text_printf(t, "%s%s%s", p->ndim > 1 && i == 0 ? "(" : "", i > 0 ? ", " : "", s->n);
    kj_text_printf(t, "%s, %s", p->ndim > 1 ? ")" : "", name);
    if (number)
        kj_text_printf(t, ", seed=%d", seed);
    kj_text_puts(t, ")\n");
}

/* Integers are sizes more often than not. */
static void put_argument(const suggestion *s, const kj_kernel_param *p)
{
    kj_text *t = s->t;
    kj_dtype type = type_of(s->kernel, p);
    const kj_aggregate *of = kj_aggregate_in(s->program->records, type);
    if (p->ndim > 0)
        put_name(s, p->name);
    else if (of)
        kj_text_printf(t, "%s(%s)", of->name, kj_is_record(of) ? "" : "1");
    else if (type == KJ_BOOL)
        kj_text_puts(t, "true");
    else if (kj_is_float(type))
        kj_text_puts(t, "1.0");
    else if (!kj_is_scalar(type))
        kj_text_printf(t, "%s(1)", kj_type_name(type));
    else
        kj_text_puts(t, kj_types[type].size == 1 ? "1" : s->n);
}

/* Whole blocks, as many as there are elements along each axis. */
static void put_grid(const suggestion *s, int axes, int limit)
{
    static const int threads[3][3] = {{256}, {16, 16}, {8, 8, 4}};
    bool one = limit > 0 && limit < 256;
    axes = one ? 1 : axes;
    for (int part = 0; part < 2; part++) {
        kj_text_puts(s->t, axes > 1 ? "(" : "");
        for (int i = 0; i < axes; i++) {
            int of = one ? limit : threads[axes - 1][i];
            kj_text_printf(s->t, part == 0 ? "%sceil_div(%s, %d)" : "%s%.0s%d", i ? ", " : "", s->n,
                           of);
        }
        kj_text_printf(s->t, "%s%s", axes > 1 ? ")" : "", part == 0 ? ", " : "");
    }
}

/* The const arrays that the host fills, with seeds behind those of the arrays `before`. */
static void put_filled(const suggestion *s, int before)
{
    for (int i = 0; i < s->program->nfilled; i++) {
        const kj_const_array_info *a = &s->program->filled[i];
        bool real = kj_is_float(a->elem), whole = kj_is_int(a->elem);
        kj_text_printf(s->t, "    %s = %s", a->name,
                       real    ? "random.uniform("
                       : whole ? "random.randint(0, 100, "
                               : "zeros(");
        for (int k = 0; k < a->ndim; k++)
            kj_text_printf(s->t, "%s%s%lld", a->ndim > 1 && k == 0 ? "(" : "", k ? ", " : "",
                           (long long)a->shape[k]);
        kj_text_printf(s->t, "%s, %s", a->ndim > 1 ? ")" : "",
                       kj_type_name_in(s->program->records, a->elem));
        if (real || whole)
            kj_text_printf(s->t, ", seed=%d", before + i + 1);
        kj_text_puts(s->t, ")\n");
    }
}

static void put_launch(const suggestion *s)
{
    const kj_kernel_decl *kernel = s->kernel;
    kj_text *t = s->t;
    kj_text_printf(t, "    %s[", kernel->name);
    put_grid(s, grid_axes(kernel), kernel->launch_bounds[0]);
    kj_text_puts(t, "](");
    const char *separator = "";
    for (int i = 0; i < kernel->nparams; i++) {
        const kj_kernel_param *p = &kernel->params[i];
        if (p->is_const)
            continue;
        kj_text_puts(t, separator);
        put_argument(s, p);
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
    while (item && item->kind != KJ_I_TEST)
        item = item->next;
    if (item) {
        kj_text_printf(hint, "kjit test runs the tests");
        return "there is no run block in this file, which has tests";
    }
    item = program->file->items;
    while (item && item->kind != KJ_I_RUN_FN)
        item = item->next;
    if (item) {
        kj_text_printf(hint, "call them from a run block: run { %s(...) }", item->name);
        return "there is no run block: this is a library of functions";
    }
    if (program->nkernels == 0 && kj_item_called(program->file, "main", strlen("main")))
        kj_text_printf(hint, "what the program does stands in the run block: run { ... }");
    if (program->nkernels == 0)
        return "there is no kernel and no run block in this file";
    const kj_kernel_decl *kernel = &program->kernels[0];
    const kj_kernel_param *shown = NULL;
    int arrays = 0;
    kj_text_printf(hint, "for kernel '%s', add this at the end of the file:\n\n", kernel->name);
    suggestion s = {hint, program, kernel, "n"};
    static const char *const sizes[] = {"size", "count", "total"};
    for (size_t i = 0; kj_item_named(program->file, s.n) && i < sizeof sizes / sizeof *sizes; i++)
        s.n = sizes[i];
    kj_text_printf(hint, "run {\n    param %s = %d\n", s.n,
                   grid_axes(kernel) == 1   ? 1024 /* whole blocks: also where no guard is */
                   : grid_axes(kernel) == 2 ? 64
                                            : 16);
    for (int i = 0; i < kernel->nparams; i++) {
        if (kernel->params[i].ndim == 0 || kernel->params[i].is_const)
            continue;
        shown = &kernel->params[i];
        put_array(&s, shown, ++arrays);
    }
    put_filled(&s, arrays);
    put_launch(&s);
    if (shown) {
        kj_text_puts(hint, "    print(");
        put_name(&s, shown->name);
        kj_text_puts(hint, shown->ndim == 1 ? "[:10])\n" : ")\n");
    }
    kj_text_puts(hint, "}\n");
    return "there is no run block: nothing says what to launch, and on what";
}
