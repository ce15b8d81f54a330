/* Limits: what a context may take (KJIT_LIMIT_MAP), and the sentences of who would take more. */
#include <inttypes.h>

#include "core/core.h"

/* Where nothing is said; no limit is the greatest number there is. */
static uint64_t limit_of(const kjit_context_options *options, uint64_t given, uint64_t untrusted)
{
    if (given != 0)
        return given;
    return options->untrusted ? untrusted : KJ_NO_LIMIT;
}

kjit_status kj_limits_init(kj_context_limits *l, const kjit_context_options *options,
                           kj_failure *why)
{
    static const kjit_limits none = {.version = KJIT_LIMITS_VERSION};
    const kjit_limits *given = options->limits ? options->limits : &none;
    bool ends = options->cancellable || options->untrusted;
    if (given->version != KJIT_LIMITS_VERSION)
        return kj_because(why, KJIT_INVALID, "the limits' version is %d: it must be %d",
                          given->version, KJIT_LIMITS_VERSION);
    kjit_status status = kj_reserved_because(why, KJ_RESERVED(given, "the limits'"));
    if (status != KJIT_OK)
        return status;
    if (!ends && (given->launch_ms != 0 || given->run_ms != 0))
        return kj_because(
            why, KJIT_INVALID,
            "the limits have %s, and the context is not cancellable: its kernels would not end",
            given->launch_ms ? "launch_ms" : "run_ms");
#define TAKE(name, untrusted, text) l->most.name = limit_of(options, given->name, untrusted);
    KJIT_LIMIT_MAP(TAKE)
#undef TAKE
    l->untrusted = options->untrusted != 0;
    atomic_init(&l->array_bytes, 0);
    return KJIT_OK;
}

kjit_status kj_beyond(kj_failure *why, const char *limit, uint64_t most, const char *what)
{
    return kj_because(why, KJIT_LIMIT, "the context's limit of %s, %" PRIu64 ", is exceeded: %s",
                      limit, most, what);
}

void kj_compiling_begin(kjit_context *ctx, kj_arena *arena)
{
    const kjit_limits *most = &ctx->limits.most;
    kj_arena_init(arena, NULL);
    arena->limit = most->compile_bytes < SIZE_MAX ? (size_t)most->compile_bytes : SIZE_MAX;
    arena->until = most->compile_ms != KJ_NO_LIMIT ? kj_now_ms() + (double)most->compile_ms : 0;
}

void kj_compiling_end(kj_arena *arena)
{
    arena->limit = SIZE_MAX;
    arena->until = 0;
}

void kj_limit_run(kjit_context *ctx, bool begins)
{
    uint64_t ms = ctx->limits.most.run_ms;
    ctx->limits.run_until = begins && ms != KJ_NO_LIMIT ? kj_now_ms() + (double)ms : 0;
}

kjit_status kj_check_run(kjit_context *ctx)
{
    kj_failure why;
    double until = ctx->limits.run_until;
    if (until <= 0 || kj_now_ms() < until)
        return KJIT_OK;
    kjit_status status =
        kj_beyond(&why, "run_ms", ctx->limits.most.run_ms, "the run block takes longer");
    return kj_fail_why(ctx, status, &why);
}

static kjit_status beyond_arrays(const kjit_context *ctx, uint64_t before, size_t size,
                                 kj_failure *why)
{
    char what[100];
    if (size == SIZE_MAX)
        kj_snprintf(what, sizeof what, "an array takes more than an address space");
    else
        kj_snprintf(what, sizeof what, "%" PRIu64 " are in use, and an array takes %zu", before,
                    size);
    return kj_beyond(why, "array_bytes", ctx->limits.most.array_bytes, what);
}

kjit_status kj_limit_arrays(kjit_context *ctx, size_t size, kj_failure *why)
{
    uint64_t most = ctx->limits.most.array_bytes;
    if (most == KJ_NO_LIMIT)
        return KJIT_OK;
    uint64_t before = atomic_load(&ctx->limits.array_bytes);
    while (size <= most && before <= most - size)
        if (atomic_compare_exchange_weak(&ctx->limits.array_bytes, &before, before + size))
            return KJIT_OK;
    return beyond_arrays(ctx, before, size, why);
}

kjit_status kj_limit_allows(kjit_context *ctx, size_t size, kj_failure *why)
{
    uint64_t most = ctx->limits.most.array_bytes;
    uint64_t before = atomic_load(&ctx->limits.array_bytes);
    if (most == KJ_NO_LIMIT || (size <= most && before <= most - size))
        return KJIT_OK;
    return beyond_arrays(ctx, before, size, why);
}

void kj_unlimit_arrays(kjit_context *ctx, size_t size)
{
    if (ctx->limits.most.array_bytes != KJ_NO_LIMIT)
        atomic_fetch_sub(&ctx->limits.array_bytes, size);
}
