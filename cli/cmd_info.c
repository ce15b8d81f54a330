/* kjit info: what each kernel of a file takes of a GPU's multiprocessor, by the driver where that
 * GPU is, else by what ptxas says; and which of its indices are looked at. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

typedef struct figures {
    kjit_kernel_info info;
    int stores, loads;             /* bytes spilled */
    bool spills;                   /* are they known? */
    bool occupied;                 /* are blocks and occupancy known? */
    int proved, by_launch, tested; /* places where an index is looked at */
} figures;

/* ---- By ptxas ---- */

/* The number before `unit` in the line, or 0: "64 bytes stack frame". */
static int number_before(const char *line, const char *unit)
{
    const char *at = strstr(line, unit);
    while (at && at > line && at[-1] >= '0' && at[-1] <= '9')
        at--;
    return at ? atoi(at) : 0;
}

/* The constants of the program, without the bank of the launch's parameters. */
static int constant_bytes(const char *line)
{
    int sum = 0;
    char unit[24];
    for (int bank = 1; bank < 18; bank++) {
        snprintf(unit, sizeof unit, " bytes cmem[%d]", bank);
        sum += number_before(line, unit);
    }
    return sum;
}

/* What ptxas -v says of a module with one kernel. */
static void read_log(char *log, const char *kernel, figures *f)
{
    char name[256], *line;
    bool own = false; /* the line is of the kernel, not of a function that it calls */
    snprintf(name, sizeof name, " properties for kj_%s", kernel);
    while ((line = strsep(&log, "\n"))) {
        const char *properties = strstr(line, " properties for ");
        if (properties)
            own = strcmp(properties, name) == 0;
        if (own && strstr(line, " bytes stack frame")) {
            f->info.local = number_before(line, " bytes stack frame");
            f->stores = number_before(line, " bytes spill stores");
            f->loads = number_before(line, " bytes spill loads");
        }
        if (own && strstr(line, " registers")) {
            int all = number_before(line, " bytes cumulative stack size");
            f->info.registers = number_before(line, " registers");
            f->info.shared = number_before(line, " bytes smem");
            f->info.local = all > f->info.local ? all : f->info.local;
        }
        f->info.constant += constant_bytes(line);
    }
}

static int ask_ptxas(kjit_context *ctx, const options *o, kjit_module *mod, const char *kernel,
                     const int64_t block[3], figures *f)
{
    const char *arch = gpu_arch(ctx, o);
    char *ptx;
    size_t size;
    kjit_status status = kjit_module_emit(mod, "ptx", kernel, block, &ptx, &size);
    if (status != KJIT_OK)
        return library_failed(ctx, status);
    assembly a;
    int code = run_ptxas(ptx, size, arch, &a);
    free(ptx);
    if (code == EXIT_OK) {
        read_log(a.log, kernel, f);
        f->spills = true;
        f->occupied = occupancy(arch, block[0] * block[1] * block[2], &f->info);
    }
    free_assembly(&a);
    return code;
}

/* ---- Indices ---- */

static int count_checks(kjit_context *ctx, kjit_module *mod, const char *kernel,
                        const int64_t block[3], figures *f)
{
    char *text;
    kjit_status status = kjit_module_emit(mod, "checks", kernel, block, &text, NULL);
    if (status != KJIT_OK)
        return library_failed(ctx, status);
    const char *counts =
        strchr(text, ':'); /* of the kernel; those that it launches come behind it */
    if (counts)
        sscanf(counts, ": %d proved, %d by the launch, %d tested", &f->proved, &f->by_launch,
               &f->tested);
    free(text);
    return EXIT_OK;
}

/* ---- The table ---- */

static void print_head(kjit_context *ctx, const options *o, const int64_t block[3], bool by_driver)
{
    kjit_device_info device;
    printf("%s, blocks of %lld threads, ", o->arguments[0],
           (long long)(block[0] * block[1] * block[2]));
    if (by_driver && kjit_context_device(ctx, &device) == KJIT_OK)
        printf("%s\n\n", device.name);
    else
        printf("%s by ptxas\n\n", gpu_arch(ctx, o));
    printf("%-20s %9s %13s %7s %7s %9s %7s %10s %21s\n", "kernel", "registers", "spills st/ld",
           "local", "shared", "constant", "blocks", "occupancy", "proved/launch/tested");
}

static void print_row(const char *kernel, const figures *f)
{
    char spills[32] = "-", blocks[16] = "-", part[16] = "-", checks[48];
    const kjit_kernel_info *i = &f->info;
    if (f->spills)
        snprintf(spills, sizeof spills, "%d/%d", f->stores, f->loads);
    if (f->occupied) {
        snprintf(blocks, sizeof blocks, "%d", i->blocks);
        snprintf(part, sizeof part, "%.0f%%", i->occupancy * 100);
    }
    snprintf(checks, sizeof checks, "%d/%d/%d", f->proved, f->by_launch, f->tested);
    printf("%-20s %9d %13s %7lld %7lld %9lld %7s %10s %21s\n", kernel, i->registers, spills,
           (long long)i->local, (long long)i->shared, (long long)i->constant, blocks, part, checks);
}

static int show(kjit_context *ctx, const options *o, kjit_module *mod, const char *kernel,
                bool first)
{
    const int64_t usual[3] = {256, 1, 1}, *block = o->block[0] ? o->block : usual;
    figures f = {0};
    kjit_status status = kjit_module_kernel_info(mod, kernel, block, &f.info);
    if (status != KJIT_OK && status != KJIT_NO_DEVICE)
        return library_failed(ctx, status);
    f.occupied = status == KJIT_OK;
    int code = f.occupied ? EXIT_OK : ask_ptxas(ctx, o, mod, kernel, block, &f);
    if (code == EXIT_OK)
        code = count_checks(ctx, mod, kernel, block, &f);
    if (code != EXIT_OK)
        return code;
    if (first)
        print_head(ctx, o, block, status == KJIT_OK);
    print_row(kernel, &f);
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
