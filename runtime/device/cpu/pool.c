/* The thread pool: workers that run the blocks of launches, chunk by chunk.
 *
 * A launch takes a slot of the pool, publishes itself there and helps; workers that see it join,
 * claim chunks of blocks from its counter until none is left, and leave. The launch returns when it
 * has closed its slot and the last worker has left. Nothing is allocated and no lock is taken. When
 * every slot is taken a launch runs on its own thread alone.
 *
 * Workers that find nothing watch for a new launch for SPIN_US, then sleep on the pool's counter of
 * launches (a futex): a launch into a warm pool makes no system call. Waking sleepers takes longer
 * than a small launch does, and sharing a tiny one longer than doing it, so what a kernel's blocks
 * took before decides whether the others are told at once, or only if the launch outlasts its
 * estimate. A slot's state is one word: OPEN lets workers in, the low bits count those inside. A
 * stale look at a slot is harmless: joining is a compare-and-swap, and a slot that was closed and
 * opened again in between is simply a newer launch. */
#include "base/float_env.h"
#include "device/cpu/cpu.h"

#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    SLOTS = 16,
    SPIN_US = 40,
    CHUNKS_PER_WORKER = 8,
    SMALL_NS = 5000,
    TINY_NS = 2000,
    LOOK = 4 /* chunks that are run alone between two looks at the clock */
};

#define OPEN 0x80000000u
#define WAITED 0x40000000u /* the launch sleeps until the workers have left */

/* 64-byte aligned memory that grows. */
typedef struct scratch {
    void *data;
    size_t size;
} scratch;

typedef struct slot {
    _Alignas(KJ_LINE) atomic_uint state;
    atomic_bool taken;
    kj_job job;
    size_t scratch_size;
    uint64_t chunk;
    scratch own; /* of the launching thread, while it has the slot */
    _Alignas(KJ_LINE) atomic_uint_fast64_t next;
    atomic_bool faulted;
} slot;

typedef struct worker {
    kj_pool *pool;
    pthread_t thread;
    int first; /* where it begins to look, so that workers spread over launches */
    scratch own;
} worker;

struct kj_pool {
    _Alignas(KJ_LINE) atomic_uint launches; /* the futex */
    atomic_uint sleepers;
    atomic_bool stop;
    int nworkers; /* threads, the launching one not counted */
    worker *workers;
    pthread_mutex_t
        lock; /* while the workers are started, with the first launch that shares its blocks */
    atomic_bool started;
    int nstarted;
    slot slots[SLOTS];
};

/* ---- Waiting ---- */

static void futex_wait(atomic_uint *word, unsigned expected)
{
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, NULL, NULL, 0);
}

static void futex_wake(atomic_uint *word, int n)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, n, NULL, NULL, 0);
}

static inline void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Watches for a while until the word is (or is no longer) `value`; returns what it last was. After a
 * moment it lets others have the CPU in between: the thread it waits for may be one of them. */
static unsigned watch(atomic_uint *word, unsigned value, bool is)
{
    unsigned now = atomic_load_explicit(word, memory_order_acquire);
    if ((now == value) == is)
        return now;
    int64_t start = now_ns(), spent = 0;
    while (spent < SPIN_US * 1000) {
        for (int i = 0; i < 16; i++) {
            relax();
            now = atomic_load_explicit(word, memory_order_acquire);
            if ((now == value) == is)
                return now;
        }
        spent = now_ns() - start;
        if (spent > SPIN_US * 100)
            sched_yield();
    }
    return now;
}

/* ---- Blocks ---- */

static bool grow(scratch *s, size_t size)
{
    if (size <= s->size)
        return true;
    size = (size + KJ_LINE - 1) / KJ_LINE * KJ_LINE;
    void *data = aligned_alloc(KJ_LINE, size);
    if (!data)
        return false;
    free(s->data);
    *s = (scratch){data, size};
    return true;
}

/* What an unusual launch took is given back behind it. */
static void shrink(scratch *s)
{
    enum { KEPT = 16 << 20 };
    if (s->size <= KEPT)
        return;
    free(s->data);
    *s = (scratch){0};
}

static void run_blocks(const kj_job *job, uint64_t first, uint64_t last, void *memory,
                       atomic_bool *faulted)
{
    if (!job->run(job->ctx, first, last, memory))
        atomic_store_explicit(faulted, true, memory_order_relaxed);
}

/* Of a thread that takes part. */
static void begin(const kj_job *job, void *memory, bool *begun)
{
    if (job->begin && !*begun)
        job->begin(job->ctx, memory);
    *begun = true;
}

static void end(const kj_job *job, void *memory, bool begun)
{
    if (job->end && begun)
        job->end(job->ctx, memory);
}

/* Claims a chunk and runs it; returns its blocks, 0 when there are none left or some block failed. */
static uint64_t run_chunk(slot *s, void *memory, bool *begun)
{
    if (atomic_load_explicit(&s->faulted, memory_order_relaxed))
        return 0;
    uint64_t first = atomic_fetch_add_explicit(&s->next, s->chunk, memory_order_relaxed);
    if (first >= s->job.blocks)
        return 0;
    uint64_t last = s->job.blocks - first < s->chunk ? s->job.blocks : first + s->chunk;
    begin(&s->job, memory, begun);
    run_blocks(&s->job, first, last, memory, &s->faulted);
    return last - first;
}

static void work(slot *s, void *memory)
{
    bool begun = false;
    kj_float_env env = kj_float_enter();
    while (run_chunk(s, memory, &begun) > 0)
        continue;
    kj_float_leave(env);
    end(&s->job, memory, begun);
}

/* ---- Workers ---- */

static bool join(slot *s)
{
    unsigned state = atomic_load_explicit(&s->state, memory_order_relaxed);
    while (state & OPEN) {
        if (atomic_compare_exchange_weak_explicit(&s->state, &state, state + 1,
                                                  memory_order_acquire, memory_order_relaxed))
            return true;
    }
    return false;
}

static void leave(slot *s)
{
    unsigned before = atomic_fetch_sub_explicit(&s->state, 1, memory_order_release);
    if (before == (WAITED | 1))
        futex_wake(&s->state, 1);
}

/* Helps every launch there is once. */
static void help(worker *w)
{
    for (int i = 0; i < SLOTS; i++) {
        slot *s = &w->pool->slots[(w->first + i) % SLOTS];
        if (!join(s))
            continue;
        if (atomic_load_explicit(&s->next, memory_order_relaxed) < s->job.blocks &&
            grow(&w->own, s->scratch_size)) {
            work(s, w->own.data);
            shrink(&w->own);
        }
        leave(s);
    }
}

static void *worker_main(void *data)
{
    worker *w = data;
    kj_pool *pool = w->pool;
    unsigned seen = 0;
    while (!atomic_load(&pool->stop)) {
        unsigned now = watch(&pool->launches, seen, false);
        if (now == seen) {
            atomic_fetch_add(&pool->sleepers, 1);
            while (atomic_load(&pool->launches) == seen)
                futex_wait(&pool->launches, seen);
            atomic_fetch_sub(&pool->sleepers, 1);
            now = atomic_load(&pool->launches);
        }
        seen = now;
        help(w);
    }
    return NULL;
}

static void announce(kj_pool *pool, int wanted)
{
    atomic_fetch_add(&pool->launches, 1);
    if (atomic_load(&pool->sleepers) > 0)
        futex_wake(&pool->launches, wanted);
}

/* ---- Launches ---- */

static slot *take_slot(kj_pool *pool)
{
    for (int i = 0; i < SLOTS; i++) {
        slot *s = &pool->slots[i];
        if (!atomic_load_explicit(&s->taken, memory_order_relaxed) &&
            !atomic_exchange_explicit(&s->taken, true, memory_order_acquire))
            return s;
    }
    return NULL;
}

/* Lets no more workers in and waits for those inside. */
static void close_slot(slot *s)
{
    atomic_fetch_and_explicit(&s->state, ~OPEN, memory_order_acq_rel);
    if (watch(&s->state, 0, true) == 0)
        return;
    unsigned state = atomic_fetch_or_explicit(&s->state, WAITED, memory_order_acq_rel) | WAITED;
    while (state != WAITED) {
        futex_wait(&s->state, state);
        state = atomic_load_explicit(&s->state, memory_order_acquire);
    }
    atomic_store_explicit(&s->state, 0, memory_order_relaxed);
}

/* On the calling thread alone: one chunk, or no slot is free, or there are no others. */
static kjit_status run_alone(slot *s, const kj_job *job, uint64_t chunk, size_t scratch_size,
                             kj_failure *why)
{
    scratch own = {0};
    scratch *memory = s ? &s->own : &own;
    if (!grow(memory, scratch_size))
        return kj_because(why, KJIT_NO_MEMORY, "out of memory: %zu bytes of shared memory",
                          scratch_size);
    atomic_bool faulted;
    bool begun = false;
    atomic_init(&faulted, false);
    begin(job, memory->data, &begun);
    kj_float_env env = kj_float_enter();
    for (uint64_t first = 0; first < job->blocks; first += chunk) {
        uint64_t rest = job->blocks - first;
        run_blocks(job, first, first + (rest < chunk ? rest : chunk), memory->data, &faulted);
        if (atomic_load_explicit(&faulted, memory_order_relaxed))
            break;
    }
    kj_float_leave(env);
    end(job, memory->data, begun);
    shrink(memory);
    free(own.data);
    return atomic_load_explicit(&faulted, memory_order_relaxed) ? KJIT_FAULT : KJIT_OK;
}

/* Keeps what a block takes: at once when it is more than before, slowly when it is less. */
static void learn(atomic_uint *cost, int64_t ns, uint64_t blocks)
{
    if (blocks == 0)
        return;
    int64_t now = ns / (int64_t)blocks + 1,
            before = atomic_load_explicit(cost, memory_order_relaxed);
    int64_t kept = now >= before ? now : before - (before - now + 7) / 8;
    atomic_store_explicit(cost, kept < UINT_MAX ? (unsigned)kept : UINT_MAX, memory_order_relaxed);
}

/* The launching thread's part. */
static void lead(kj_pool *pool, slot *s, atomic_uint *cost)
{
    uint64_t chunks = (s->job.blocks + s->chunk - 1) / s->chunk, blocks = 0, n;
    int wanted = chunks - 1 < (uint64_t)pool->nworkers ? (int)chunks - 1 : pool->nworkers;
    uint64_t estimate = atomic_load_explicit(cost, memory_order_relaxed) * s->job.blocks;
    bool alone = estimate > 0 &&
                 (estimate < TINY_NS || (estimate < SMALL_NS && atomic_load(&pool->sleepers) > 0));
    bool begun = false;
    if (!alone)
        announce(pool, wanted);
    int64_t start = now_ns();
    kj_float_env env = kj_float_enter();
    for (int i = 0; (n = run_chunk(s, s->own.data, &begun)) > 0; i++) {
        blocks += n;
        if (alone && i % LOOK == 0 && now_ns() - start > 2 * SMALL_NS) {
            alone = false;
            announce(pool, wanted);
        }
    }
    kj_float_leave(env);
    learn(cost, now_ns() - start, blocks);
    end(&s->job, s->own.data, begun);
}

/* A program that only checks its kernels, or launches small ones, has no threads. Those that could
 * not be started are not missed: the launching thread takes their chunks. */
static void start_workers(kj_pool *pool)
{
    if (atomic_load_explicit(&pool->started, memory_order_acquire))
        return;
    pthread_mutex_lock(&pool->lock);
    for (int i = 0;
         i < pool->nworkers && !atomic_load_explicit(&pool->started, memory_order_relaxed); i++) {
        worker *w = &pool->workers[i];
        *w = (worker){.pool = pool, .first = i % SLOTS};
        if (!kj_thread_start(&w->thread, KJ_WORKER_STACK, worker_main, w))
            break;
        pool->nstarted = i + 1;
    }
    atomic_store_explicit(&pool->started, true, memory_order_release);
    pthread_mutex_unlock(&pool->lock);
}

static kjit_status run_shared(kj_pool *pool, slot *s, atomic_uint *cost, kj_failure *why)
{
    if (!grow(&s->own, s->scratch_size))
        return kj_because(why, KJIT_NO_MEMORY, "out of memory: %zu bytes of shared memory",
                          s->scratch_size);
    start_workers(pool);
    atomic_store_explicit(&s->next, 0, memory_order_relaxed);
    atomic_store_explicit(&s->faulted, false, memory_order_relaxed);
    atomic_store_explicit(&s->state, OPEN, memory_order_release);
    lead(pool, s, cost);
    close_slot(s);
    shrink(&s->own);
    return atomic_load_explicit(&s->faulted, memory_order_relaxed) ? KJIT_FAULT : KJIT_OK;
}

kjit_status kj_pool_run_job(kj_pool *pool, const kj_job *job, size_t scratch_size,
                            atomic_uint *cost, kj_failure *why)
{
    uint64_t parts = (uint64_t)CHUNKS_PER_WORKER * (uint64_t)(pool->nworkers + 1);
    uint64_t chunk = job->blocks / parts ? job->blocks / parts : 1;
    if (job->serial)
        chunk = job->blocks;
    bool alone = pool->nworkers == 0 || job->serial || job->blocks <= chunk;
    if (alone && scratch_size == 0)
        return run_alone(NULL, job, chunk, 0, why);
    slot *s = take_slot(pool);
    if (!s)
        return run_alone(NULL, job, chunk, scratch_size, why);
    kjit_status status;
    if (alone) {
        status = run_alone(s, job, chunk, scratch_size, why);
    } else {
        s->job = *job;
        s->scratch_size = scratch_size;
        s->chunk = chunk;
        status = run_shared(pool, s, cost, why);
    }
    atomic_store_explicit(&s->taken, false, memory_order_release);
    return status;
}

kjit_status kj_pool_run_blocks(kj_pool *pool, const kj_job *job, const kj_host_fault *fault,
                               size_t scratch_size, atomic_uint *cost, kj_failure *why)
{
    kjit_status status = kj_pool_run_job(pool, job, scratch_size, cost, why);
    bool failed = fault && fault->kind != KJ_FAULT_NONE; /* and blocks went on */
    return status == KJIT_OK && failed ? KJIT_FAULT : status;
}

uint64_t kj_count_blocks(const kj_host_launch *values)
{
    return (uint64_t)values->grid[0] * (uint64_t)values->grid[1] * (uint64_t)values->grid[2];
}

bool kj_is_halted(const kj_host_launch *values, uint64_t block)
{
    uint32_t none = KJ_HALTED_NOT;
    if (!values->halt)
        return false;
    uint32_t reason = __atomic_load_n(values->halt, __ATOMIC_RELAXED);
    if (reason == values->going)
        return false;
    kj_host_fault *f = values->fault;
    if (!__atomic_compare_exchange_n(&f->halted, &none, KJ_HALTED_FRONT, false, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED))
        return true;
    uint64_t x = (uint64_t)values->grid[0], y = (uint64_t)values->grid[1];
    f->halted_front[0] = (int64_t)(block % x);
    f->halted_front[1] = (int64_t)(block / x % y);
    f->halted_front[2] = (int64_t)(block / x / y);
    f->halted_why = reason;
    return true;
}

typedef struct grid {
    kj_host_entry entry;
    const kj_host_launch *values;
} grid;

static bool run_grid(void *ctx, uint64_t first, uint64_t last, void *memory)
{
    const grid *g = ctx;
    return !kj_is_halted(g->values, first) &&
           g->entry(g->values, (int64_t)first, (int64_t)last, memory) != KJ_HOST_FAULT;
}

kjit_status kj_pool_run(kj_pool *pool, kj_host_entry entry, const kj_host_launch *values,
                        size_t scratch_size, atomic_uint *cost, kj_failure *why)
{
    grid g = {entry, values};
    kj_job job = {.run = run_grid,
                  .ctx = &g,
                  .blocks = kj_count_blocks(values),
                  .serial = kj_watch_of(values) != NULL};
    return kj_pool_run_blocks(pool, &job, values->fault, scratch_size, cost, why);
}

/* ---- Making and ending ---- */

kjit_status kj_pool_create(int workers, kj_pool **out, kj_failure *why)
{
    workers = workers < KJ_MAX_WORKERS ? workers : KJ_MAX_WORKERS;
    kj_pool *pool = aligned_alloc(KJ_LINE, sizeof *pool);
    worker *list = calloc((size_t)workers, sizeof *list);
    if (!pool || !list) {
        free(pool);
        free(list);
        return kj_because(why, KJIT_NO_MEMORY, "out of memory");
    }
    memset(pool, 0, sizeof *pool);
    pool->workers = list;
    pool->nworkers = workers - 1;
    pthread_mutex_init(&pool->lock, NULL);
    *out = pool;
    return KJIT_OK;
}

void kj_pool_free(kj_pool *pool)
{
    atomic_store(&pool->stop, true);
    announce(pool, INT_MAX);
    for (int i = 0; i < pool->nstarted; i++) {
        pthread_join(pool->workers[i].thread, NULL);
        free(pool->workers[i].own.data);
    }
    for (int i = 0; i < SLOTS; i++)
        free(pool->slots[i].own.data);
    pthread_mutex_destroy(&pool->lock);
    free(pool->workers);
    free(pool);
}

int kj_pool_workers(const kj_pool *pool)
{
    return pool->nworkers + 1;
}
