/* The exported calls. Each takes the lock, checks what it needs, fails where the environment says
 * so, does its work (do_*, in api_*.c) and is logged; calls.def is the table of them. */
#include "double.h"
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct drv_call {
    int row;
    uint64_t number;
    CUresult injected;
} drv_call;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t signs[SIGNS] = {PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER,
                                      PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER};
static _Thread_local const drv_call *running;
static uint64_t calls_made;
static bool initialised, forked;

/* ---- The lock ---- */

void call_lock(void)
{
    pthread_mutex_lock(&lock);
}

void call_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

void call_wait(call_sign sign)
{
    pthread_cond_wait(&signs[sign], &lock);
}

void call_wait_until(call_sign sign, double time)
{
    struct timespec at;
    if (time <= 0) {
        call_wait(sign);
        return;
    }
    at.tv_sec = (time_t)time;
    at.tv_nsec = (long)((time - (double)at.tv_sec) * 1e9);
    pthread_cond_clockwait(&signs[sign], &lock, CLOCK_MONOTONIC, &at);
}

void call_wake(call_sign sign)
{
    pthread_cond_broadcast(&signs[sign]);
}

void call_wake_one(call_sign sign)
{
    pthread_cond_signal(&signs[sign]);
}

bool calls_forked(void)
{
    return forked;
}

const char *call_name(void)
{
    return running ? call_rows[running->row].symbol : "";
}

uint64_t call_number(void)
{
    return running ? running->number : 0;
}

/* ---- Around each call ---- */

static void in_child(void)
{
    forked = true;
    pthread_mutex_init(&lock, NULL);
}

static void before_fork(void)
{
    pthread_mutex_lock(&lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&lock);
}

static CUresult check(const call_row *row)
{
    const drv_thread *self = thread_self();
    if (row->flags && self->in_host_function)
        return misuse(CUDA_ERROR_NOT_PERMITTED, "called in a host function");
    if (row->flags && !initialised)
        return misuse(CUDA_ERROR_NOT_INITIALIZED, "called before cuInit");
    if ((row->flags & CTX) && !context_current())
        return misuse(CUDA_ERROR_INVALID_CONTEXT, "no context is current");
    if ((row->flags & UNSAFE) && capture_forbids() && !(row->flags & DONE))
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (!(row->flags & CTX))
        return CUDA_SUCCESS;
    return context_current()->error;
}

/* Whether the call is to be carried out; its result if not. */
static bool enter(drv_call *call, int row, CUresult *result)
{
    call_lock();
    *call = (drv_call){.row = row};
    if (forked || report_ended() || inject_shut_down()) {
        *result = forked ? CUDA_ERROR_NOT_INITIALIZED : CUDA_ERROR_DEINITIALIZED;
        return false;
    }
    call->number = ++calls_made;
    running = call;
    *result = check(&call_rows[row]);
    if (*result)
        return false;
    call->injected = inject(row);
    *result = call->injected;
    return !call->injected || (call_rows[row].flags & (FREES | WAITS));
}

static __attribute__((format(printf, 3, 4))) void log_call(const drv_call *call, CUresult result,
                                                           const char *format, ...)
{
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (call->number)
        log_line("call %llu T%d %s(%s) = %d%s", (unsigned long long)call->number,
                 thread_self()->number, call_rows[call->row].symbol, text, (int)result,
                 call->injected ? " injected" : "");
}

static void end_call(void)
{
    running = NULL;
    call_unlock();
}

static CUresult unmodelled(int row)
{
    drv_call call;
    CUresult result;
    if (enter(&call, row, &result))
        result = misuse(CUDA_ERROR_NOT_SUPPORTED, "the double does not model it");
    end_call();
    return result;
}

/* ---- What stands in calls.def's last column ---- */

#define AT(out) ((out) ? (void *)*(out) : NULL)
#define ADDRESS_AT(out) ((out) ? *(out) : 0)
#define INT_AT(out) ((out) ? *(out) : 0)
#define SIZE_AT(out) ((out) ? *(out) : 0)
#define TEXT(text) ((text) ? (text) : "")
#define UNWRAP(...) __VA_ARGS__

enum {
#define CALL(name, suffix, ...) ROW_##name##suffix,
#define UNMODELLED(name, suffix, ...) ROW_##name##suffix,
#include "calls.def"
#undef CALL
#undef UNMODELLED
    ROW_COUNT
};

#define CALL(name, suffix, since, flags, params, args, line) \
    static CUresult entry_##name##suffix params \
    { \
        drv_call call; \
        CUresult result; \
        if (enter(&call, ROW_##name##suffix, &result)) \
            result = do_##name##suffix args; \
        if (call.injected) \
            result = call.injected; \
        if (config()->log) \
            log_call(&call, result, UNWRAP line); \
        end_call(); \
        return result; \
    }
#define UNMODELLED(name, suffix, since) \
    static CUresult entry_##name##suffix(void) \
    { \
        return unmodelled(ROW_##name##suffix); \
    }
#include "calls.def"
#undef CALL
#undef UNMODELLED

const call_row call_rows[] = {
#define CALL(name, suffix, since, flags, params, args, line) \
    {#name #suffix, #name, since, flags, (void (*)(void))entry_##name##suffix},
#define UNMODELLED(name, suffix, since) \
    {#name #suffix, #name, since, ANY, (void (*)(void))entry_##name##suffix},
#include "calls.def"
#undef CALL
#undef UNMODELLED
};
const int call_row_count = ROW_COUNT;

/* dlsym finds what the simulated version has: where the driver is older, the symbol is NULL. */
#define EXPORT(symbol, since, params) \
    static __attribute__((used)) CUresult(*pick_##symbol(void)) params \
    { \
        return config()->version >= since ? entry_##symbol : NULL; \
    } \
    __attribute__((visibility("default"), ifunc("pick_" #symbol))) CUresult symbol params;
#define CALL(name, suffix, since, flags, params, args, line) EXPORT(name##suffix, since, params)
#define UNMODELLED(name, suffix, since) EXPORT(name##suffix, since, (void))
#include "calls.def"
#undef CALL
#undef UNMODELLED

CUresult do_cuInit(unsigned flags)
{
    if (flags)
        return misuse(CUDA_ERROR_INVALID_VALUE, "flags are %u, not 0", flags);
    if (!initialised)
        pthread_atfork(before_fork, after_fork, in_child);
    initialised = true;
    return config()->devices ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}
