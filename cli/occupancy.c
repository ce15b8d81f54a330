/* How many blocks fit on a multiprocessor together, where no GPU is there to ask: what a kernel
 * takes in, blocks and their part of the threads out. The limits are those of the CUDA programming
 * guide's table of compute capabilities; allocation goes by the rules of its occupancy calculator:
 * registers by 256 a warp in four equal files, shared memory by 128 bytes. */
#include <limits.h>
#include <string.h>

#include "cli.h"

enum {
    WARP = 32,
    FILES = 4,              /* of registers, a multiprocessor */
    FILE_REGISTERS = 16384, /* each */
    REGISTER_UNIT = 256,
    SHARED_OWN = 1024, /* what the system takes of it, a block; from sm_80 on */
};

static const struct limits {
    const char *arch;
    int warps, blocks;
    int64_t shared; /* KiB */
} table[] = {
    {"sm_75", 32, 16, 64},   {"sm_80", 64, 32, 164},  {"sm_86", 48, 16, 100},
    {"sm_87", 48, 16, 164},  {"sm_89", 48, 24, 100},  {"sm_90", 64, 32, 228},
    {"sm_100", 64, 32, 228}, {"sm_103", 64, 32, 228}, {"sm_110", 48, 24, 228},
    {"sm_120", 48, 24, 100}, {"sm_121", 48, 24, 100},
};

static int64_t rounded(int64_t n, int64_t unit)
{
    return (n + unit - 1) / unit * unit;
}

static void take_least(int *least, int64_t n)
{
    if (n < *least)
        *least = (int)n;
}

static const struct limits *limits_of(const char *arch)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].arch, arch) == 0)
            return &table[i];
    return NULL;
}

/* Blocks of so many warps that fit by one of the limits alone. */
typedef struct fits {
    int blocks, warps, registers, shared;
} fits;

static fits fits_of(const struct limits *l, int warps, const kjit_kernel_info *info)
{
    bool turing = l == table;
    int64_t shared = rounded(info->shared + (turing ? 0 : SHARED_OWN), turing ? 256 : 128);
    fits f = {l->blocks, l->warps / warps, INT_MAX, INT_MAX};
    if (info->registers > 0) {
        int64_t a_warp = rounded((int64_t)info->registers * WARP, REGISTER_UNIT);
        take_least(&f.registers, FILE_REGISTERS / a_warp * FILES / warps);
    }
    if (shared > 0)
        take_least(&f.shared, l->shared * 1024 / shared);
    return f;
}

static int warps_of(int64_t threads)
{
    return (int)((threads + WARP - 1) / WARP);
}

bool occupancy(const char *arch, int64_t threads, kjit_kernel_info *info)
{
    const struct limits *l = limits_of(arch);
    if (!l)
        return false;
    int warps = warps_of(threads);
    fits f = fits_of(l, warps, info);
    info->blocks = f.blocks;
    take_least(&info->blocks, f.warps);
    take_least(&info->blocks, f.registers);
    take_least(&info->blocks, f.shared);
    info->occupancy = (double)(info->blocks * warps) / l->warps;
    return true;
}

const char *occupancy_limit(const char *arch, int64_t threads, const kjit_kernel_info *info)
{
    const struct limits *l = limits_of(arch);
    fits f = l ? fits_of(l, warps_of(threads), info) : (fits){0};
    if (!l || info->occupancy >= 1)
        return NULL;
    return f.registers == info->blocks ? "registers"
           : f.shared == info->blocks  ? "shared memory"
           : f.warps == info->blocks   ? "the block's size"
           : f.blocks == info->blocks  ? "the number of blocks, as they are small"
                                       : NULL;
}
