/* Recovery from what no status can tell, out of memory and LLVM's fatal errors: steps that may end
 * early, on the caller's stack or on one of their own.
 *
 * Three ways lead out of a step: longjmp from an arena without memory; kj_break, which LLVM's
 * handlers of fatal errors call; and a C++ exception, which `operator new` throws where there is no
 * memory. LLVM is compiled without exceptions and catches none: they end in a frame whose
 * personality (exceptions.c) takes every one; in operator_new.c, next to where they are thrown, where
 * the linker put that in between, else here. */
#include "base/guard.h"
#include "base/float_env.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>

enum {
    STACK = 32 << 20, /* bytes of address space, of which few are used */
    OWN = 64 << 10,   /* bytes of it that a thread takes before it runs */
    NEAR = 1 << 20,   /* bytes of stack for steps without LLVM */
    ROOM = 24 << 20,  /* bytes that must be there for LLVM to begin */
};

typedef struct guard {
    struct guard *outer;
    jmp_buf out;
    kj_outcome outcome;
    kj_complaint complaint;
} guard;

static _Thread_local guard *innermost;

void kj_break(kj_outcome outcome, const char *text)
{
    guard *g = innermost;
    if (!g)
        return;
    g->outcome = outcome;
    kj_snprintf(g->complaint.text, sizeof g->complaint.text, "%s", text);
    longjmp(g->out, 1);
}

bool kj_is_guarded(void)
{
    return innermost;
}

/* ---- Forks ---- */

/* A child has one thread, and each lock that others held at the fork is held for ever: LLVM's among them, which nobody else
 * can set free. So a fork waits until no other thread runs a step, and steps wait for it: so long at most, as a step may ask
 * the host for sources, which may wait for who forks. */
enum { LONGEST = 10 /* seconds */ };

static struct {
    pthread_once_t once;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int running; /* steps, each once, however deep */
    int forking; /* threads */
} steps = {.once = PTHREAD_ONCE_INIT, .lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local int own;   /* of those this thread runs, or waits for */
static _Thread_local bool sent; /* by one that runs a step */

/* Threads are not cancelled while they wait here, with the lock. */
static int lock_steps(void)
{
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    pthread_mutex_lock(&steps.lock);
    return before;
}

static void unlock_steps(int before)
{
    pthread_cond_broadcast(&steps.changed);
    pthread_mutex_unlock(&steps.lock);
    pthread_setcancelstate(before, &before);
}

static _Thread_local int cancel_state; /* what it was before the fork */

static void before_fork(void)
{
    struct timespec until;
    int waited = 0;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += LONGEST;
    cancel_state = lock_steps();
    steps.forking++;
    while (steps.running > own && waited == 0)
        waited = pthread_cond_timedwait(&steps.changed, &steps.lock, &until);
}

static void after_fork(void)
{
    steps.forking--;
    unlock_steps(cancel_state);
}

static void make_condition(void)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&steps.changed, &attributes);
    pthread_condattr_destroy(&attributes);
}

/* Nobody else is there: who waited, forked or ran a step. */
static void begin_child(void)
{
    steps.running = own;
    steps.forking = 1;
    make_condition();
    after_fork();
}

static void watch_forks(void)
{
    make_condition();
    pthread_atfork(before_fork, after_fork, begin_child);
}

/* A step within a step does not wait for a fork, which waits for that one. */
static void begin_step(void)
{
    pthread_once(&steps.once, watch_forks);
    int before = lock_steps();
    while (steps.forking && own == 0 && !sent)
        pthread_cond_wait(&steps.changed, &steps.lock);
    steps.running++;
    own++;
    unlock_steps(before);
}

static void end_step(void)
{
    int before = lock_steps();
    steps.running--;
    own--;
    unlock_steps(before);
}

/* ---- Steps ---- */

__attribute__((noinline)) kj_outcome kj_guarded(kj_arena *arena, kj_step *step, void *data,
                                                kj_complaint *complaint)
{
    guard g = {.outer = innermost, .outcome = KJ_NO_ROOM};
    jmp_buf *outer = arena->fail;
    KJ_TAKES_EXCEPTIONS();
    if (!g.outer)
        begin_step();
    innermost = &g;
    arena->fail = &g.out;
    if (setjmp(g.out) == 0) {
        step(data);
        g.outcome = KJ_DONE;
    }
    innermost = g.outer;
    if (!g.outer)
        end_step();
    arena->fail = outer;
    if (complaint)
        *complaint = g.complaint;
    return g.outcome;
}

/* ---- Threads ---- */

bool kj_thread_start(pthread_t *thread, size_t stack, void *(*run)(void *data), void *data)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    pthread_attr_setstacksize(&attributes, stack);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(thread, &attributes, run, data) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return started;
}

typedef struct errand {
    kj_step *step;
    void *data;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    kj_step *task; /* for the thread that waits, or NULL */
    void *task_data;
    bool over;
} errand;

static _Thread_local errand *under_way; /* what this thread was started for, or NULL */

static void *run_errand(void *data)
{
    errand *e = data;
    under_way = e;
    e->step(e->data);
    pthread_mutex_lock(&e->lock);
    e->over = true;
    pthread_cond_signal(&e->changed);
    pthread_mutex_unlock(&e->lock);
    return NULL;
}

/* Until it is over, runs what it asks for. */
static void serve(errand *e)
{
    pthread_mutex_lock(&e->lock);
    while (!e->over) {
        if (e->task) {
            pthread_mutex_unlock(&e->lock);
            e->task(e->task_data);
            pthread_mutex_lock(&e->lock);
            e->task = NULL;
            pthread_cond_broadcast(&e->changed);
        } else {
            pthread_cond_wait(&e->changed, &e->lock);
        }
    }
    pthread_mutex_unlock(&e->lock);
}

void kj_ask_home(kj_step *task, void *data)
{
    errand *e = under_way;
    if (!e) {
        task(data);
        return;
    }
    pthread_mutex_lock(&e->lock);
    e->task = task;
    e->task_data = data;
    pthread_cond_broadcast(&e->changed);
    while (e->task)
        pthread_cond_wait(&e->changed, &e->lock);
    pthread_mutex_unlock(&e->lock);
}

static bool run_apart(size_t stack, kj_step *step, void *data)
{
    errand e = {.step = step, .data = data};
    pthread_t thread;
    int before;
    pthread_mutex_init(&e.lock, NULL);
    pthread_cond_init(&e.changed, NULL);
    bool started = kj_thread_start(&thread, stack, run_errand, &e);
    if (started) {
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
        serve(&e);
        pthread_join(thread, NULL);
        pthread_setcancelstate(before, &before);
    }
    pthread_cond_destroy(&e.changed);
    pthread_mutex_destroy(&e.lock);
    return started;
}

/* Bytes that are left of this thread's stack; 0 where it runs on one that is not the thread's. */
static size_t stack_left(void)
{
    static _Thread_local struct {
        bool known;
        uintptr_t low, high;
    } stack;
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    pthread_attr_t attributes;
    void *low = NULL;
    size_t size = 0;
    if (!stack.known && pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstack(&attributes, &low, &size);
        pthread_attr_destroy(&attributes);
        stack.low = (uintptr_t)low;
        stack.high = (uintptr_t)low + size;
    }
    stack.known = true;
    return here > stack.low && here < stack.high ? here - stack.low : 0;
}

bool kj_with_stack(size_t bytes, kj_step *step, void *data)
{
    if (stack_left() < bytes)
        return run_apart(bytes + OWN, step, data);
    step(data);
    return true;
}

/* ---- Steps apart ---- */

typedef struct guarded {
    bool sent; /* by a thread that runs a step */
    kj_arena *arena;
    kj_step *step;
    void *data;
    kj_complaint *complaint;
    kj_outcome outcome;
} guarded;

static void run_guarded(void *data)
{
    guarded *g = data;
    sent = g->sent;
    kj_float_enter(); /* a thread has that of its maker */
    g->outcome = kj_guarded(g->arena, g->step, g->data, g->complaint);
}

kj_outcome kj_guarded_apart(kj_arena *arena, kj_step *step, void *data, kj_complaint *complaint)
{
    guarded g = {
        .sent = own > 0, .arena = arena, .step = step, .data = data, .complaint = complaint};
    if (complaint)
        *complaint = (kj_complaint){0};
    own++;
    bool ran = run_apart(STACK, run_guarded, &g);
    own--;
    return ran ? g.outcome : KJ_NO_ROOM;
}

static void run_guarded_near(void *data)
{
    guarded *g = data;
    g->outcome = kj_guarded(g->arena, g->step, g->data, g->complaint);
}

kj_outcome kj_guarded_near(kj_arena *arena, kj_step *step, void *data, kj_complaint *complaint)
{
    guarded g = {.arena = arena, .step = step, .data = data, .complaint = complaint};
    if (complaint)
        *complaint = (kj_complaint){0};
    return kj_with_stack(NEAR, run_guarded_near, &g) ? g.outcome : KJ_NO_ROOM;
}

bool kj_has_room(void)
{
    void *room = mmap(NULL, ROOM, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED)
        return false;
    munmap(room, ROOM);
    return true;
}
