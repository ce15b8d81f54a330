/* The launches that are checked for races: what is kept from one to the next, and the fault that one ends with. */
#include <stdlib.h>
#include <string.h>

#include "device/cpu/watch.h"

/* Nothing that a launch only reads can be part of a race. */
static bool find_quiet(watch *w, const kj_host_launch *values)
{
    const kj_kernel_info *k = w->kernel;
    size_t n = (size_t)k->nparams + 1, at = 0;
    kj_bytes *ranges = calloc(n, sizeof *ranges);
    bool *quiet = calloc(n, sizeof *quiet);
    for (int i = 0; ranges && quiet && i < k->nparams; i++) {
        const kj_param_info *p = &k->params[i];
        ranges[i] = p->is_array ? kj_array_bytes(p, values->slots + at) : (kj_bytes){0, 0};
        at += (size_t)kj_param_slots(p);
        quiet[i] = p->is_array && !p->written;
    }
    for (int i = 0; ranges && quiet && i < k->nparams; i++)
        for (int j = 0; j < k->nparams; j++)
            if (k->params[j].written && kj_bytes_meet(ranges[i], ranges[j]))
                quiet[i] = false;
    for (int i = 0; ranges && quiet && i < k->nsites; i++)
        w->quiet[i] = !k->launches /* else a site may be of another's parameter */ &&
                      k->sites[i]->watched > 0 && quiet[k->sites[i]->watched - 1];
    bool done = ranges && quiet;
    free(ranges);
    free(quiet);
    return done;
}

void kj_watch_free(kj_host_watch *told)
{
    watch *w = (watch *)told;
    if (!w)
        return;
    kj_watch_forget(w);
    kj_watch_unordered(w);
    free(w->quiet);
    free(w->alike);
    free(w->near);
    free(w->begun);
    free(w->rows);
    free(w);
}

static bool make_room(watch *w, int nsites)
{
    size_t n = (size_t)nsites + 1;
    if (nsites >= w->nsites) {
        free(w->quiet);
        free(w->alike);
        free(w->near);
        w->quiet = calloc(n, sizeof *w->quiet);
        w->alike = calloc(n, sizeof *w->alike);
        w->near = calloc(n, sizeof(page *));
        w->nsites = w->quiet && w->alike && w->near ? nsites + 1 : 0;
    }
    w->rows = w->rows ? w->rows : malloc(KJ_WATCH_ROWS * sizeof *w->rows);
    if (w->nsites == 0 || !w->rows)
        return false;
    memset(w->quiet, 0, n * sizeof *w->quiet);
    memset(w->alike, 0, n * sizeof *w->alike);
    memset(w->near, 0, n * sizeof(page *));
    return true;
}

kj_host_watch *kj_watch_begin(kj_device *dev, const kj_kernel_info *kernel,
                              const kj_host_launch *values)
{
    watch *w = (watch *)atomic_exchange(&dev->watch, NULL);
    w = w ? w : calloc(1, sizeof *w);
    if (!w)
        return NULL;
    kj_watch_listen(&w->told);
    w->kernel = kernel;
    w->lost = w->found = w->unset = w->decides = false;
    w->races = kernel->watched & KJ_CHECK_RACE;
    w->inits = kernel->watched & KJ_CHECK_INIT;
    w->sets = w->inits && !kernel->grid_sync;
    w->nrows = 0;
    kj_watch_unordered(w);
    kj_watch_grid(&w->told, true);
    if (make_room(w, kernel->nsites) && find_quiet(w, values))
        return &w->told;
    kj_watch_free(&w->told);
    return NULL;
}

void kj_watch_grid(kj_host_watch *told, bool begins)
{
    watch *w = (watch *)told;
    if (!w)
        return;
    kj_watch_no_releases(w);
    w->grid = ++w->tick;
    w->first = begins ? w->tick : w->first;
}

/* The place of number i among those of a box. */
static void place_in(const int64_t box[3], uint32_t i, int64_t out[3])
{
    out[0] = i % box[0];
    out[1] = i / box[0] % box[1];
    out[2] = i / box[0] / box[1];
}

static kj_host_fault fault_of(const watch *w)
{
    const side *at = w->found ? &w->at : &w->bare;
    kj_host_fault f = {.kind = w->found ? KJ_FAULT_RACE : KJ_FAULT_UNSET, .offset = at->site};
    int64_t place[3];
    place_in(w->grid_shape, at->block, f.block);
    place_in(w->block_shape, at->thread, f.thread);
    if (!w->found)
        return f;
    f.values[KJ_RACE_SITE] = w->other.site;
    f.values[KJ_RACE_FLAGS] = w->other.flags;
    f.values[KJ_RACE_OWN_FLAGS] = w->at.flags;
    place_in(w->block_shape, w->other.thread, place);
    memcpy(&f.values[KJ_RACE_THREAD], place, sizeof place);
    place_in(w->grid_shape, w->other.block, place);
    memcpy(&f.values[KJ_RACE_BLOCK], place, sizeof place);
    return f;
}

kjit_status kj_watch_end(kj_device *dev, kj_host_watch *told, kjit_status status,
                         kj_host_fault *fault, kj_failure *why)
{
    watch *w = (watch *)told;
    bool ran = status == KJIT_OK || status == KJIT_FAULT;
    if (ran && fault->kind == KJ_FAULT_NONE && w->lost) {
        status = kj_because(why, KJIT_NO_MEMORY,
                            "out of memory: what is noted of a launch that is checked");
    } else if (ran && (w->found || w->unset)) { /* what failed behind it may have come of it */
        *fault = fault_of(w);
        status = KJIT_FAULT;
    }
    if (w->lost || kj_watch_is_large(w))
        kj_watch_forget(w);
    kj_watch_free(atomic_exchange(&dev->watch, told));
    return status;
}
