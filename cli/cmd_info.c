/* kjit info: what each kernel of a file takes of a GPU's multiprocessor, by the driver where that
 * GPU is, else by what ptxas says; and which of its indices are looked at. */
#include <stdio.h>

#include "cli.h"

/* ---- The table ---- */

static void print_head(kjit_context *ctx, const options *o, bool by_driver)
{
    kjit_device_info device;
    printf("%s, ", o->arguments[0]);
    if (by_driver && kjit_context_device(ctx, &device) == KJIT_OK)
        printf("%s\n\n", device.name);
    else
        printf("%s by ptxas\n\n", gpu_arch(ctx, o));
    printf("%-20s %-10s %9s %13s %7s %7s %9s %7s %10s %21s\n", "kernel", "block", "registers",
           "spills st/ld", "local", "shared", "constant", "blocks", "occupancy",
           "proved/launch/tested");
}

static void print_row(const char *kernel, const int64_t block[3], const figures *f,
                      const check_counts *c)
{
    char spills[32] = "-", blocks[16] = "-", part[16] = "-", checks[48], shape[64];
    const kjit_kernel_info *i = &f->info;
    if (f->spills)
        snprintf(spills, sizeof spills, "%d/%d", f->stores, f->loads);
    if (f->occupied) {
        snprintf(blocks, sizeof blocks, "%d", i->blocks);
        snprintf(part, sizeof part, "%.0f%%", i->occupancy * 100);
    }
    snprintf(checks, sizeof checks, "%d/%d/%d", c->proved, c->by_launch, c->tested);
    int n = snprintf(shape, sizeof shape, "%lld", (long long)block[0]);
    for (int axis = 1; axis < 3 && (block[axis] > 1 || (axis == 1 && block[2] > 1)); axis++)
        n += snprintf(shape + n, sizeof shape - (size_t)n, "x%lld", (long long)block[axis]);
    printf("%-20s %-10s %9d %13s %7lld %7lld %9lld %7s %10s %21s\n", kernel, shape, i->registers,
           spills, (long long)i->local, (long long)i->shared, (long long)i->constant, blocks, part,
           checks);
}

static int show(kjit_context *ctx, const options *o, kjit_module *mod, const char *kernel,
                bool first)
{
    int64_t block[3];
    figures f;
    check_counts counts = {0};
    int code = block_of(ctx, o, mod, kernel, block);
    if (code == EXIT_OK)
        code = find_figures(ctx, o, mod, kernel, block, &f);
    if (code == EXIT_OK && f.absent) {
        complain_of_ptxas(gpu_arch(ctx, o));
        code = EXIT_FAILED;
    }
    if (code == EXIT_OK)
        code = count_checks(ctx, mod, kernel, block, &counts);
    if (code != EXIT_OK)
        return code;
    if (first)
        print_head(ctx, o, f.by_driver);
    print_row(kernel, block, &f, &counts);
    return EXIT_OK;
}

static int info(kjit_context *ctx, const options *o, kjit_module *mod)
{
    int code = assume_values(ctx, o, mod);
    if (code != EXIT_OK)
        return code;
    if (o->kernel)
        return show(ctx, o, mod, o->kernel, true);
    note_no_kernels(o, mod);
    const char *kernel;
    for (int i = 0; code == EXIT_OK && (kernel = kjit_module_kernel(mod, i)); i++)
        code = show(ctx, o, mod, kernel, i == 0);
    return code;
}

/* No device has a say in what a file declares. */
static int describe(const options *o)
{
    options mine = *o;
    const char *other = o->narguments > 1 ? o->arguments[1]
                        : o->kernel       ? "--kernel"
                        : o->block[0]     ? "--block"
                        : o->arch         ? "--arch"
                                          : NULL;
    if (other) {
        complain("--json tells what the file declares: leave %s out", other);
        return EXIT_USAGE;
    }
    mine.device = "cpu";
    return with_module(&mine, describe_module);
}

int command_info(const options *o)
{
    options mine = *o;
    if (o->describe)
        return describe(o);
    mine.gpu = true;
    return with_module(&mine, info);
}
