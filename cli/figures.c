/* What a kernel takes of a multiprocessor, by the driver where that GPU is, else by what ptxas says; and how many of its indices
 * are looked at. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

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
    int code = try_ptxas(ptx, size, arch, &a);
    free(ptx);
    f->absent = a.absent;
    if (code == EXIT_OK && !a.absent) {
        read_log(a.log, kernel, f);
        f->spills = true;
        f->occupied = occupancy(arch, block[0] * block[1] * block[2], &f->info);
    }
    free_assembly(&a);
    return code;
}

int find_figures(kjit_context *ctx, const options *o, kjit_module *mod, const char *kernel,
                 const int64_t block[3], figures *f)
{
    *f = (figures){.info = {0}};
    kjit_status status = kjit_module_kernel_info(mod, kernel, block, &f->info);
    f->occupied = f->by_driver = status == KJIT_OK;
    return status == KJIT_NO_DEVICE ? ask_ptxas(ctx, o, mod, kernel, block, f)
           : status == KJIT_OK      ? EXIT_OK
                                    : library_failed(ctx, status);
}

void read_block(const char *text, int64_t block[3])
{
    block[0] = block[1] = block[2] = 1;
    sscanf(text, "%" SCNd64 "x%" SCNd64 "x%" SCNd64, &block[0], &block[1], &block[2]);
}

int block_of(kjit_context *ctx, const options *o, kjit_module *mod, const char *kernel,
             int64_t block[3])
{
    char *form, text[64] = "";
    kjit_status status =
        kjit_module_emit(mod, "notes", kernel, o->block[0] ? o->block : NULL, &form, NULL);
    if (status != KJIT_OK)
        return library_failed(ctx, status);
    sscanf(form, "kernel\t%*s\t%63s", text);
    read_block(text, block);
    free(form);
    return EXIT_OK;
}

/* ---- Indices ---- */

int count_checks(kjit_context *ctx, kjit_module *mod, const char *kernel, const int64_t block[3],
                 check_counts *c)
{
    char *text;
    kjit_status status = kjit_module_emit(mod, "checks", kernel, block, &text, NULL);
    if (status != KJIT_OK)
        return library_failed(ctx, status);
    const char *counts =
        strchr(text, ':'); /* of the kernel; those that it launches come behind it */
    if (counts)
        sscanf(counts, ": %d proved, %d by the launch, %d tested", &c->proved, &c->by_launch,
               &c->tested);
    free(text);
    return EXIT_OK;
}
