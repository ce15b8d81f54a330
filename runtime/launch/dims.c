/* The grid and the block of a launch: what the device and the kernel's attributes allow. */
#include "launch/launch.h"

static kjit_status bad_dims(kj_binding *b, const char *what, const int64_t dims[3],
                            const char *limit)
{
    return kj_fail(b->kernel->mod->ctx, KJIT_LAUNCH,
                   "kernel '%.100s': the %s (%lld, %lld, %lld) %s", b->kernel->decl->name, what,
                   (long long)dims[0], (long long)dims[1], (long long)dims[2], limit);
}

kjit_status kj_check_dims(kj_binding *b, const kjit_config *config)
{
    const kj_kernel *kernel = b->kernel;
    const kj_device_ops *ops = kernel->mod->ctx->ops;
    char limit[160];
    for (int i = 0; i < 3; i++) {
        b->grid[i] = config->grid[i] == 0 && i > 0 ? 1 : config->grid[i];
        b->block[i] = config->block[i] == 0 && i > 0 ? 1 : config->block[i];
    }
    for (int i = 0; i < 3; i++) {
        if (b->grid[i] < 0 || b->grid[i] > ops->max_grid[i]) {
            kj_snprintf(limit, sizeof limit, "is out of range: at most (%lld, %lld, %lld) blocks",
                        (long long)ops->max_grid[0], (long long)ops->max_grid[1],
                        (long long)ops->max_grid[2]);
            return bad_dims(b, "grid", b->grid, limit);
        }
        if (b->block[i] == 0)
            return kj_fail(kernel->mod->ctx, KJIT_LAUNCH,
                           "kernel '%.100s': config.block[0] is 0: a block has 1 to "
                           "(%lld, %lld, %lld) threads",
                           kernel->decl->name, (long long)ops->max_block[0],
                           (long long)ops->max_block[1], (long long)ops->max_block[2]);
        if (b->block[i] < 0 || b->block[i] > ops->max_block[i]) {
            kj_snprintf(limit, sizeof limit, "is out of range: 1 to (%lld, %lld, %lld) threads",
                        (long long)ops->max_block[0], (long long)ops->max_block[1],
                        (long long)ops->max_block[2]);
            return bad_dims(b, "block", b->block, limit);
        }
    }
    int64_t threads = b->block[0] * b->block[1] * b->block[2];
    int64_t bound = kernel->decl->launch_bounds[0];
    if (threads > ops->max_threads || (bound > 0 && threads > bound)) {
        bool own = bound > 0 && bound < ops->max_threads;
        kj_snprintf(limit, sizeof limit, "has %lld threads: at most %lld%s", (long long)threads,
                    (long long)(own ? bound : ops->max_threads),
                    own ? ", by its @launch_bounds" : " make a block");
        return bad_dims(b, "block", b->block, limit);
    }
    return KJIT_OK;
}
