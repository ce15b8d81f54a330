/* Ctrl-C ends what the main thread waits for. Python runs its own handlers in that thread alone,
 * once it is back from the call; so a handler in front of Python's wakes a thread of ours, which
 * cancels the work: the call returns, and Python raises KeyboardInterrupt. A launch pays for it
 * with two stores, and a look at the clock. */
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
    _Atomic(kjp_wait *) wait; /* what the main thread waits for */
    atomic_int cancelling;    /* the wait may be read: it must stay */
    pthread_mutex_t lock;     /* held meanwhile */
} watch = {.lock = PTHREAD_MUTEX_INITIALIZER};

enum {
    LOOK_NS = 1000000
}; /* signal.signal puts Python's handler back: how long that may go unseen */

static void on_interrupt(int number, siginfo_t *info, void *place)
{
    int error = errno;
    if (watch.before.sa_flags & SA_SIGINFO)
        watch.before.sa_sigaction(number, info, place);
    else
        watch.before.sa_handler(number);
    if (atomic_load(&watch.wait))
        sem_post(&watch.interrupted);
    errno = error;
}

static void *cancel_waits(void *unused)
{
    (void)unused;
    for (;;) {
        while (sem_wait(&watch.interrupted) != 0) {
        }
        pthread_mutex_lock(&watch.lock);
        atomic_store(&watch.cancelling, 1);
        kjp_wait *wait = atomic_load(&watch.wait);
        if (wait && wait->stream)
            kjit_stream_cancel(wait->stream);
        else if (wait)
            kjit_cancel(wait->ctx);
        atomic_store(&watch.cancelling, 0);
        pthread_mutex_unlock(&watch.lock);
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
        wait->outer = atomic_exchange(&watch.wait, wait);
    }
    wait->thread = PyEval_SaveThread();
}

void kjp_wait_end(kjp_wait *wait)
{
    if (wait->watched) {
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
    atomic_store(&watch.cancelling, 0);
    pthread_mutex_init(&watch.lock, NULL);
    return Py_NewRef(Py_None);
}
