/* Launches for all of so many elements, whose blocks are chosen by what the device says of the
 * code; and what it says to those who ask. */
#include "launch/launch.h"
#include "module/image.h"

/* ---- For all of so many elements ---- */

/* Threads a block: 256, fewer where the kernel asks for that, more where the grid would be too
 * large. */
static int64_t usual_block(const kj_kernel *k, int64_t n)
{
    const kj_device_ops *ops = k->mod->ctx->ops;
    int64_t block = n / 256 < ops->max_grid[0] ? 256 : ops->max_threads;
    int64_t bound = k->decl->launch_bounds[0];
    block = bound > 0 && bound < block ? bound : block;
    return k->mod->image ? kj_image_block(k, block) : block;
}

static kjit_status bind_for_all(kj_binding *b, int64_t n, int64_t block, const kjit_arg *args,
                                int nargs)
{
    kjit_config config = {.grid = {n / block + (n % block != 0)}, .block = {block}};
    return kj_launch_bind(b, &config, args, nargs);
}

/* The part of a multiprocessor's threads that run together in blocks of the binding's size; 0 when
 * the device cannot tell. */
static double occupancy(kj_binding *b, const kj_variant *variant)
{
    const kj_device_ops *ops = b->kernel->mod->ctx->ops;
    kjit_kernel_info info;
    kj_failure why;
    size_t scratch;
    bool known = kj_launch_scratch(b, variant, &scratch) == KJIT_OK &&
                 ops->code->inspect(b->kernel->mod->ctx->dev, variant->exec, (int)b->block[0],
                                    scratch, &info, &why) == KJIT_OK;
    return known ? info.occupancy : 0;
}

/* The occupancy in blocks of the size that is bound now; 0 where they cannot be. Code for `most` threads
 * answers for fewer, too; for more it is compiled. */
static double try_block(kj_binding *b, kj_variant *usual, int64_t most)
{
    kj_variant *variant = usual;
    if (b->block[0] > most && kj_launch_find(b, &variant) != KJIT_OK)
        return 0;
    if (variant->kernel->conditions && kj_check_requires(b, variant) != KJIT_OK)
        return 0;
    return occupancy(b, variant);
}

/* Where less than half of a multiprocessor's threads would run together in blocks of the usual
 * size, another one may be better: small ones share registers out, large ones share what a block
 * has, if it has shared arrays. */
static int64_t choose_block(kj_binding *b, kj_variant *variant, int64_t n, const kjit_arg *args,
                            int nargs)
{
    static const int64_t sizes[] = {128, 512, 1024, 64};
    double best = occupancy(b, variant);
    int64_t usual = b->block[0], chosen = usual, most = b->kernel->decl->launch_bounds[0];
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && best < 0.5; i++) {
        bool larger = sizes[i] > usual;
        if ((most > 0 && sizes[i] > most) || (larger && variant->kernel->shared == 0) ||
            bind_for_all(b, n, sizes[i], args, nargs) != KJIT_OK)
            continue;
        double part = try_block(b, variant, usual);
        if (part > best) {
            best = part;
            chosen = sizes[i];
        }
    }
    return chosen;
}

/* A variant of the usual size knows what was chosen in its place. */
static kjit_status bind_chosen(kj_binding *b, int64_t n, const kjit_arg *args, int nargs)
{
    kj_variant *variant;
    kjit_status status = kj_launch_find(b, &variant);
    if (status != KJIT_OK)
        return status;
    int64_t block = atomic_load_explicit(&variant->for_all, memory_order_relaxed);
    if (block == 0) {
        block = choose_block(b, variant, n, args, nargs);
        atomic_store_explicit(&variant->for_all, block, memory_order_relaxed);
    }
    return block == b->block[0] ? KJIT_OK : bind_for_all(b, n, block, args, nargs);
}

/* Binds a launch for all of n elements. */
static kjit_status bind_best(kj_binding *b, int64_t n, const kjit_arg *args, int nargs)
{
    const kj_kernel *k = b->kernel;
    kjit_status status = bind_for_all(b, n, usual_block(k, n), args, nargs);
    bool choice = status == KJIT_OK && n > 0 && k->mod->ctx->ops->code && !k->mod->image;
    return choice ? bind_chosen(b, n, args, nargs) : status;
}

kjit_status kjit_launch_forall(kjit_module *mod, const char *kernel, int64_t n, kjit_stream *stream,
                               const kjit_arg *args, int nargs)
{
    kj_kernel *k;
    kj_binding b;
    kjit_status status = kj_launch_enter(mod, kernel, stream, args, nargs, &k);
    if (status != KJIT_OK)
        return status;
    if (n < 0)
        return kj_fail(mod->ctx, KJIT_LAUNCH, "kernel '%s': a launch for all of %lld elements",
                       kernel, (long long)n);
    status = kj_binding_begin(k, &b);
    if (status == KJIT_OK)
        status = bind_best(&b, n, args, nargs);
    if (status == KJIT_OK)
        status = n > 0 ? kj_launch_bound(&b, stream) : kj_nothing_to_do(mod->ctx, stream);
    kj_binding_end(&b);
    return status;
}

/* ---- Questions ---- */

/* The elements of the largest array that is given; 1 when there is none. */
static int64_t largest(const kjit_arg *args, int nargs)
{
    int64_t n = 1;
    for (int i = 0; i < nargs; i++)
        if (kj_arg_is_array(&args[i]) && kj_lives(args[i].u.array, KJ_ARRAY) &&
            args[i].u.array->size > n)
            n = args[i].u.array->size;
    return n;
}

kjit_status kjit_forall_block(kjit_module *mod, const char *kernel, const kjit_arg *args, int nargs,
                              int64_t *threads)
{
    kj_kernel *k;
    kj_binding b;
    if (threads)
        *threads = 0;
    kjit_status status = kj_launch_enter(mod, kernel, NULL, args, nargs, &k);
    if (status != KJIT_OK)
        return status;
    if (!threads)
        return kj_fail(mod->ctx, KJIT_INVALID, "the result's place is NULL");
    status = kj_binding_begin(k, &b);
    if (status == KJIT_OK)
        status = bind_best(&b, largest(args, nargs), args, nargs);
    if (status == KJIT_OK)
        *threads = b.block[0];
    kj_binding_end(&b);
    return status;
}

kjit_status kjit_max_cooperative_blocks(kjit_module *mod, const char *kernel,
                                        const int64_t block[3], const kjit_arg *args, int nargs,
                                        int64_t *out)
{
    kj_kernel *k;
    kj_binding b;
    kj_ready ready = {0};
    kjit_status status = kj_launch_enter(mod, kernel, NULL, args, nargs, &k);
    if (status != KJIT_OK)
        return status;
    if (!block || !out)
        return kj_fail(mod->ctx, KJIT_INVALID, "the block or the result's place is NULL");
    kjit_config config = {.grid = {1}, .block = {block[0], block[1], block[2]}};
    status = kj_binding_begin(k, &b);
    if (status == KJIT_OK)
        status = kj_launch_bind(&b, &config, args, nargs);
    if (status == KJIT_OK)
        status = kj_launch_find(&b, &ready.variant);
    if (status == KJIT_OK)
        status = kj_launch_scratch(&b, ready.variant, &ready.scratch);
    if (status == KJIT_OK)
        status = kj_launch_resident(&b, &ready, out);
    kj_binding_end(&b);
    return status;
}

static kjit_status inspect(kj_binding *b, kjit_kernel_info *out)
{
    kjit_context *ctx = b->kernel->mod->ctx;
    kj_ready ready = {0};
    kj_failure why;
    if (!ctx->ops->code)
        return kj_fail(ctx, KJIT_NO_DEVICE, "only a GPU says what a kernel takes of it");
    kjit_status status = kj_launch_find(b, &ready.variant);
    if (status == KJIT_OK)
        status = kj_launch_scratch(b, ready.variant, &ready.scratch);
    if (status != KJIT_OK)
        return status;
    int64_t threads = b->block[0] * b->block[1] * b->block[2];
    status = ctx->ops->code->inspect(ctx->dev, ready.variant->exec, (int)threads, ready.scratch,
                                     out, &why);
    return status == KJIT_OK ? status : kj_fail_why(ctx, status, &why);
}

kjit_status kjit_launch_info(kjit_module *mod, const char *kernel, const kjit_config *config,
                             const kjit_arg *args, int nargs, kjit_kernel_info *out)
{
    kj_kernel *k;
    kj_binding b;
    if (out)
        *out = (kjit_kernel_info){0};
    kjit_status status =
        kj_launch_enter(mod, kernel, config ? config->stream : NULL, args, nargs, &k);
    if (status != KJIT_OK)
        return status;
    if (!config || !out)
        return kj_fail(mod->ctx, KJIT_INVALID, "the config or the result's place is NULL");
    status = kj_binding_begin(k, &b);
    if (status == KJIT_OK)
        status = kj_launch_bind(&b, config, args, nargs);
    if (status == KJIT_OK)
        status = inspect(&b, out);
    kj_binding_end(&b);
    return status;
}
