/* Ctrl-C ends what the main thread waits for. Python runs its own handlers in that thread alone,
 * once it is back from the call; so a handler in front of Python's wakes a thread of ours, which
 * cancels the work: the call returns, and Python raises KeyboardInterrupt. A launch pays for it
 * with four stores, and a look at the clock. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#include "kjp.h"

static struct {
    pthread_t main;
    int is_running;           /* the thread that cancels */
    sem_t interrupted;        /* posted by the handler */
    struct sigaction before;  /* Python's */
    int64_t looked;           /* when the handler was last seen to be ours, in ns */
    uint64_t waits;           /* how many there were */
    _Atomic(kjp_wait *) wait; /* what the main thread waits for */
    _Atomic(uint64_t) now;    /* that one's number; 0: none */
    _Atomic(uint64_t) asked;  /* the number of the one that is to end */
    atomic_int cancelling;    /* the wait may be read: it must stay */
    pthread_mutex_t lock;     /* held meanwhile */
} watch = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* signal.signal puts Python's handler back: how long that may go unseen */
enum { LOOK_NS = 1000000 };
/* A launch that is being compiled cannot be cancelled yet: so it is tried again. */
enum { AGAIN_NS = 20000000 };

static void on_interrupt(int number, siginfo_t *info, void *place)
{
    int error = errno;
    if (watch.before.sa_flags & SA_SIGINFO)
        watch.before.sa_sigaction(number, info, place);
    else
        watch.before.sa_handler(number);
    uint64_t now = atomic_load(&watch.now);
    if (now) {
        atomic_store(&watch.asked, now);
        sem_post(&watch.interrupted);
    }
    errno = error;
}

/* Of a wait that has ended nothing is done: false. */
static int cancel(uint64_t number)
{
    pthread_mutex_lock(&watch.lock);
    atomic_store(&watch.cancelling, 1);
    kjp_wait *wait = atomic_load(&watch.wait);
    int goes_on = wait && wait->number == number;
    if (goes_on && wait->stream)
        kjit_stream_cancel(wait->stream);
    else if (goes_on)
        kjit_cancel(wait->ctx);
    atomic_store(&watch.cancelling, 0);
    pthread_mutex_unlock(&watch.lock);
    return goes_on;
}

static void *cancel_waits(void *unused)
{
    (void)unused;
    for (;;) {
        while (sem_wait(&watch.interrupted) != 0) {
        }
        while (cancel(atomic_load(&watch.asked)))
            nanosleep(&(struct timespec){.tv_nsec = AGAIN_NS}, NULL);
    }
    return NULL;
}

/* A thread that takes no signals itself. */
static void start_thread(void)
{
    pthread_t thread;
    sigset_t all, mask;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &mask);
    if (sem_init(&watch.interrupted, 0, 0) == 0 &&
        pthread_create(&thread, NULL, cancel_waits, NULL) == 0) {
        pthread_detach(thread);
        watch.is_running = 1;
    }
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

/* Puts the handler in front of the one that is there; not where the program ignores Ctrl-C, or
 * ends by it. */
static void hook(void)
{
    struct sigaction now, ours = {.sa_sigaction = on_interrupt, .sa_flags = SA_SIGINFO};
    if (sigaction(SIGINT, NULL, &now) != 0)
        return;
    int is_function =
        now.sa_flags & SA_SIGINFO || (now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN);
    if (is_function && !watch.is_running)
        start_thread();
    if (!is_function || !watch.is_running ||
        (now.sa_flags & SA_SIGINFO && now.sa_sigaction == on_interrupt))
        return;
    watch.before = now;
    ours.sa_flags |= now.sa_flags & (SA_ONSTACK | SA_RESTART | SA_NODEFER);
    ours.sa_mask = now.sa_mask;
    sigaction(SIGINT, &ours, NULL);
}

void kjp_wait_begin(kjp_wait *wait, kjit_context *ctx, kjit_stream *stream)
{
    *wait = (kjp_wait){.ctx = ctx, .stream = stream};
    wait->watched = pthread_equal(pthread_self(), watch.main);
    if (wait->watched) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        int64_t ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
        if (!watch.looked || ns - watch.looked > LOOK_NS) {
            hook();
            watch.looked = ns;
        }
        wait->number = ++watch.waits;
        wait->outer = atomic_load(&watch.wait);
        atomic_store(&watch.wait, wait);
        atomic_store(&watch.now, wait->number);
    }
    wait->thread = PyEval_SaveThread();
}

void kjp_wait_end(kjp_wait *wait)
{
    if (wait->watched) {
        atomic_store(&watch.now, wait->outer ? wait->outer->number : 0);
        atomic_store(&watch.wait, wait->outer);
        if (atomic_load(&watch.cancelling)) {
            pthread_mutex_lock(&watch.lock);
            pthread_mutex_unlock(&watch.lock);
        }
    }
    PyEval_RestoreThread(wait->thread);
}

/* Python's main thread, which need not be the one that imports. */
int kjp_interrupt_init(void)
{
    unsigned long ident = 0;
    PyObject *threading = PyImport_ImportModule("threading");
    PyObject *thread = threading ? PyObject_CallMethod(threading, "main_thread", NULL) : NULL;
    PyObject *number = thread ? PyObject_GetAttrString(thread, "ident") : NULL;
    if (number)
        ident = PyLong_AsUnsignedLong(number);
    Py_XDECREF(number);
    Py_XDECREF(thread);
    Py_XDECREF(threading);
    watch.main = (pthread_t)ident; /* Python's own idea of a thread's number is pthread_self() */
    return PyErr_Occurred() ? -1 : 0;
}

/* In the child the thread that forked is the main one, and the only one: the next wait starts
 * another. */
PyObject *kjp_after_fork(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    watch.main = pthread_self();
    watch.is_running = 0;
    watch.looked = 0;
    atomic_store(&watch.wait, NULL);
    atomic_store(&watch.now, 0);
    atomic_store(&watch.cancelling, 0);
    pthread_mutex_init(&watch.lock, NULL);
    return Py_NewRef(Py_None);
}
