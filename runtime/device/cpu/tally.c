/* Launches of kernels that count in arrays (kj_param_info.tally): each thread that takes part has copies of
 * those, in which it counts without locks, and adds them to the arrays when it is through.
 *
 * What comes of it is the same: integers are combined in any order. It pays where many threads count in
 * few elements that the caches of a core hold; other launches count in the arrays themselves. */
#include <string.h>

#include "device/cpu/cpu.h"

enum {
    MOST = 8,
    MOST_BYTES = 1 << 20,
    THREADS_EACH = 16,
    THREADS_ONE = 1024 /* of one element: a gang adds to it once anyway */
};

typedef struct tally {
    kj_tally_op op;
    kj_dtype elem;
    size_t slot,
        at;       /* of the array in the launch's slots; of its copy, in bytes behind the values' */
    size_t count; /* elements */
} tally;

/* In a worker's memory: what the kernel asks for, the launch's values with the copies' addresses, the copies. */
typedef struct counting {
    kj_host_entry entry;
    const kj_host_launch *values;
    size_t values_at, values_size;
    tally tallies[MOST];
    int n;
    size_t bytes; /* of all copies */
} counting;

static size_t lines(size_t bytes)
{
    return (bytes + KJ_LINE - 1) / KJ_LINE * KJ_LINE;
}

/* ---- Elements ---- */

static void clear(const tally *t, void *copy)
{
    uint64_t v = kj_tally_identity(t->op, t->elem);
    size_t size = (size_t)kj_types[t->elem].size;
    for (size_t i = 0; i < t->count; i++)
        memcpy((char *)copy + i * size, &v, size); /* the low bytes come first */
}

/* Is a the less, by the type that both are of? */
static bool is_less(kj_dtype type, uint64_t a, uint64_t b)
{
    if (!kj_is_signed(type))
        return a < b;
    return kj_types[type].bits == 64 ? (int64_t)a < (int64_t)b : (int32_t)a < (int32_t)b;
}

#define COUNT_INTO(T) \
    static void count_into_##T(const tally *t, T *into, const T *copy) \
    { \
        T none = (T)kj_tally_identity(t->op, t->elem); \
        for (size_t i = 0; i < t->count; i++) { \
            T v = copy[i], old; \
            if (v == none) \
                continue; \
            switch (t->op) { \
            case KJ_TALLY_ADD: __atomic_fetch_add(&into[i], v, __ATOMIC_RELAXED); break; \
            case KJ_TALLY_AND: __atomic_fetch_and(&into[i], v, __ATOMIC_RELAXED); break; \
            case KJ_TALLY_OR: __atomic_fetch_or(&into[i], v, __ATOMIC_RELAXED); break; \
            case KJ_TALLY_XOR: __atomic_fetch_xor(&into[i], v, __ATOMIC_RELAXED); break; \
            default: \
                old = __atomic_load_n(&into[i], __ATOMIC_RELAXED); \
                while ((t->op == KJ_TALLY_MIN ? is_less(t->elem, v, old) \
                                              : is_less(t->elem, old, v)) && \
                       !__atomic_compare_exchange_n(&into[i], &old, v, true, __ATOMIC_RELAXED, \
                                                    __ATOMIC_RELAXED)) \
                    continue; \
            } \
        } \
    }

COUNT_INTO(uint32_t)
COUNT_INTO(uint64_t)

static void count_into(const tally *t, void *into, const void *copy)
{
    if (kj_types[t->elem].bits == 64)
        count_into_uint64_t(t, into, copy);
    else
        count_into_uint32_t(t, into, copy);
}

/* ---- The launch ---- */

static kj_host_launch *own_values(const counting *c, void *memory)
{
    return (kj_host_launch *)((char *)memory + c->values_at);
}

static char *copies(const counting *c, void *memory)
{
    return (char *)own_values(c, memory) + lines(c->values_size);
}

static void begin(void *ctx, void *memory)
{
    const counting *c = ctx;
    kj_host_launch *own = own_values(c, memory);
    memcpy(own, c->values, c->values_size);
    own->own_tallies = 1;
    for (int i = 0; i < c->n; i++) {
        char *copy = copies(c, memory) + c->tallies[i].at;
        clear(&c->tallies[i], copy);
        own->slots[c->tallies[i].slot] = (uintptr_t)copy;
    }
}

static void end(void *ctx, void *memory)
{
    const counting *c = ctx;
    for (int i = 0; i < c->n; i++) {
        const tally *t = &c->tallies[i];
        count_into(t, (void *)(uintptr_t)c->values->slots[t->slot], copies(c, memory) + t->at);
    }
}

static bool run(void *ctx, uint64_t first, uint64_t last, void *memory)
{
    const counting *c = ctx;
    return !kj_is_halted(c->values, first) &&
           c->entry(own_values(c, memory), (int64_t)first, (int64_t)last, memory) != KJ_HOST_FAULT;
}

/* ---- Does it pay? ---- */

/* Its elements, one behind the other in C order; 0: they are not, or there are none, or too many. */
static size_t dense_count(const kj_param_info *p, const uint64_t *slots)
{
    int64_t n = 1;
    for (int d = p->ndim - 1; d >= 0; d--) {
        int64_t extent = (int64_t)slots[1 + d], stride = (int64_t)slots[1 + p->ndim + d];
        if (extent < 1 || extent > MOST_BYTES || (extent > 1 && stride != n))
            return 0;
        n *= extent;
        if (n > MOST_BYTES)
            return 0;
    }
    return (size_t)n;
}

/* Does it share memory with another array of the launch? */
static bool is_shared(const kj_kernel_info *k, const uint64_t *slots, int param, kj_bytes bytes)
{
    for (int i = 0; i < k->nparams; i++) {
        const kj_param_info *p = &k->params[i];
        if (p->is_array && i != param && kj_bytes_meet(kj_array_bytes(p, slots), bytes))
            return true;
        slots += kj_param_slots(p);
    }
    return false;
}

static bool add(counting *c, const kj_kernel_info *k, int param, size_t slot)
{
    const kj_param_info *p = &k->params[param];
    const uint64_t *slots = c->values->slots;
    size_t count = dense_count(p, slots + slot);
    if (c->n == MOST || count == 0 || (p->size != 4 && p->size != 8) ||
        is_shared(k, slots, param, kj_array_bytes(p, slots + slot)))
        return false;
    c->tallies[c->n++] = (tally){p->tally, p->elem, slot, c->bytes, count};
    c->bytes += lines(count * (size_t)p->size);
    return c->bytes <= MOST_BYTES;
}

static bool plan(counting *c, const kj_kernel_info *k)
{
    const kj_host_launch *v = c->values;
    size_t slot = 0, counted = 0;
    for (int i = 0; i < k->nparams; i++) {
        if (k->params[i].tally && !add(c, k, i, slot))
            return false;
        slot += (size_t)kj_param_slots(&k->params[i]);
    }
    for (int i = 0; i < c->n; i++)
        counted += c->tallies[i].count;
    double threads = (double)kj_count_blocks(v) * (double)(v->block[0] * v->block[1] * v->block[2]);
    return c->n > 0 && threads >= (counted == 1 ? THREADS_ONE : (double)counted * THREADS_EACH);
}

bool kj_pool_run_counting(kj_pool *pool, const kj_launch_call *call, const kj_host_launch *values,
                          kjit_status *status, kj_failure *why)
{
    const kj_exec *exec = call->exec;
    counting c = {.entry = exec->entry,
                  .values = values,
                  .values_at = lines(call->scratch),
                  .values_size = sizeof *values + call->nslots * sizeof values->slots[0]};
    if (!plan(&c, exec->kernel))
        return false;
    kj_job job = {
        .run = run, .ctx = &c, .blocks = kj_count_blocks(values), .begin = begin, .end = end};
    *status =
        kj_pool_run_blocks(pool, &job, values->fault, c.values_at + lines(c.values_size) + c.bytes,
                           &call->exec->cost, why);
    return *status != KJIT_NO_MEMORY; /* without copies, then */
}
