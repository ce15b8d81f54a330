/* Typed AST -> what a launch must know of a kernel. */
#include "describe.h"

#include <string.h>

#include "sema/program.h"
#include "tast/tast.h"

static void describe_params(kj_arena *arena, kj_kernel_info *info, const kj_tkernel *k)
{
    info->params = KJ_NEW_ARRAY(arena, kj_param_info, (size_t)k->nparams + 1);
    info->nparams = k->nparams;
    info->nslots = 1; /* the report */
    for (int i = 0; i < k->nparams; i++) {
        const kj_tarray *a = k->params[i].array;
        if (a)
            info->params[i] = (kj_param_info){.is_array = true,
                                              .read = a->read,
                                              .written = a->written,
                                              .ndim = a->ndim,
                                              .size = kj_elem_size(a),
                                              .unit = kj_unit(a),
                                              .tally = a->tally,
                                              .elem = a->tallied};
        info->nslots += a ? 1 + 2 * a->ndim : 1;
    }
}

static void describe_roots(kj_arena *arena, kj_kernel_info *info, const kj_program *program,
                           const kj_tkernel *k)
{
    bool known = true;
    info->filled = KJ_NEW_ARRAY(arena, const kj_const_array_info *, (size_t)k->nroots + 1);
    for (int i = 0; i < k->nroots; i++) {
        const kj_tarray *root = k->roots[i];
        if (root->filled)
            info->filled[info->nfilled++] = &program->filled[root->filled - 1];
        if (root->space == KJ_SHARED && root->static_count == 0)
            known = false;
    }
    info->shared = known ? kj_shared_bytes(info, NULL, NULL) : -1;
}

static void describe_launched(kj_arena *arena, kj_kernel_info *info, const kj_tkernel *k)
{
    for (const kj_child *c = k->children; c; c = c->next)
        info->nlaunched++;
    info->launched = KJ_NEW_ARRAY(arena, const char *, (size_t)info->nlaunched + 1);
    for (const kj_child *c = k->children; c; c = c->next)
        info->launched[c->id - 1] = c->kernel->name;
}

const kj_kernel_info *kj_describe_kernel(kj_arena *arena, const kj_program *program,
                                         const kj_tkernel *k)
{
    kj_kernel_info *info = KJ_NEW(arena, kj_kernel_info);
    *info = (kj_kernel_info){.name = k->name,
                             .span = k->span,
                             .sites = k->sites,
                             .nsites = k->nsites,
                             .prints = k->prints,
                             .polls = k->polls,
                             .conditions = k->requires != NULL,
                             .limits = k->limits,
                             .watched = k->checks & (unsigned)KJ_CHECKS_WATCHED,
                             .launches = k->children != NULL,
                             .grid_sync = k->grid_sync != NULL,
                             .typed = k};
    if (k->children)
        info->launch = k->children->span;
    if (k->grid_sync)
        info->grid_sync_at = k->grid_sync->span;
    memcpy(info->block, k->block, sizeof k->block);
    describe_params(arena, info, k);
    describe_launched(arena, info, k);
    describe_roots(arena, info, program, k);
    return info;
}
