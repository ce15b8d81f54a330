/* Launches whose stores go past the caches (analysis/past.c has which may): those that touch more than the caches hold, and
 * store so much of it that it would not be there for the next launch. */
#include "device/cpu/cpu.h"

static uint64_t threads_of(const kj_host_launch *values)
{
    uint64_t n = 1;
    for (int axis = 0; axis < 3; axis++)
        n *= (uint64_t)(values->grid[axis] * values->block[axis]);
    return n;
}

static uint64_t elements_of(const kj_param_info *p, const uint64_t *slots)
{
    uint64_t n = 1;
    for (int d = 0; d < p->ndim; d++)
        n *= slots[1 + d];
    return n;
}

/* Is it the memory of a parameter before it? */
static bool is_counted(const kj_kernel_info *kernel, const kj_host_launch *values, uint64_t memory,
                       int before)
{
    const uint64_t *slots = values->slots;
    for (int i = 0; i < before; slots += kj_param_slots(&kernel->params[i++]))
        if (kernel->params[i].is_array && slots[0] == memory)
            return true;
    return false;
}

int16_t kj_goes_past(const kj_kernel_info *kernel, const kj_host_launch *values, uint64_t cached,
                     bool shared_out)
{
    enum {
        LOADS = 2,
        PART = 8
    }; /* a thread loads about so many elements; of the caches, 1 / PART */
    const uint64_t *slots = values->slots;
    uint64_t threads = shared_out ? UINT64_MAX / LOADS : threads_of(values), all = 0, stored = 0;
    for (int i = 0; i < kernel->nparams; slots += kj_param_slots(&kernel->params[i++])) {
        const kj_param_info *p = &kernel->params[i];
        if (!p->is_array || is_counted(kernel, values, slots[0], i))
            continue;
        uint64_t n = elements_of(p, slots), most = p->written ? threads : LOADS * threads;
        uint64_t bytes = (n < most ? n : most) * (uint64_t)p->size;
        all += bytes;
        stored += p->written ? bytes : 0;
    }
    return all > cached && stored >= cached / PART ? -KJ_LINE : 0;
}
