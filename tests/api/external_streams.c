/* Streams of other libraries: their work and kjit's in one, who waits for whom, and the end of either. */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "stream_work.h"

#include "driver.h"

static int set_up(void **state)
{
    if (make_context(state) != 0)
        return 1;
    mod = module(ADD_AND_SCALE);
    driver_of_context();
    return 0;
}

static int tear_down(void **state)
{
    kjit_module_free(mod);
    return drop_context(state);
}

static int call(const char *name, void *first, size_t second, size_t third, void *fourth)
{
    int (*function)(void *, size_t, size_t, void *);
    *(void **)&function = driver_symbol(name);
    return function(first, second, third, fourth);
}

/* A stream of another library, which shares the device's primary context. */
static void *open_theirs(void)
{
    void *theirs, *context;
    assert_int_equal(call("cuDevicePrimaryCtxRetain", &context, 0, 0, NULL), 0);
    assert_int_equal(call("cuCtxPushCurrent_v2", context, 0, 0, NULL), 0);
    assert_int_equal(call("cuStreamCreate", &theirs, 1, 0, NULL), 0);
    return theirs;
}

static void leave_primary_context(void)
{
    void *context;
    assert_int_equal(call("cuCtxPopCurrent_v2", &context, 0, 0, NULL), 0);
    assert_int_equal(call("cuDevicePrimaryCtxRelease_v2", NULL, 0, 0, NULL), 0);
}

static void close_theirs(void *theirs)
{
    assert_int_equal(call("cuStreamDestroy_v2", theirs, 0, 0, NULL), 0);
    leave_primary_context();
}

/* Another library of the process queues its own work in its stream, before kjit's and behind. */
static void test_external(void **state)
{
    (void)state;
    if (!driver)
        SKIP("KJIT_CUDA_DRIVER does not name the driver");
    void *theirs = open_theirs();
    kjit_stream *s, *legacy;
    kjit_array *a = zeros();
    int done;
    OK(kjit_stream_external(ctx, theirs, &s));
    assert_ptr_equal(kjit_stream_handle(s), theirs);
    assert_int_equal(call("cuMemsetD32Async", kjit_array_data(a), 7, 64, theirs), 0);
    OK(launch("scale", s, a, 3));
    OK(kjit_stream_legacy_default(ctx, &legacy));
    assert_int_equal(call("cuMemsetD32Async", kjit_array_data(a), 5, 64, theirs), 0);
    OK(launch("scale", legacy, a, 2)); /* waits for theirs too */
    OK(launch("add", s, a, 1));
    OK(kjit_stream_synchronize(s));
    assert_int_equal(first_of(a), 11);
    assert_int_equal(call("cuMemsetD32Async", kjit_array_data(a), 8, 64, theirs), 0);
    OK(kjit_stream_synchronize(s)); /* theirs alone */
    OK(kjit_stream_query(s, &done));
    assert_int_equal(done, 1);
    assert_int_equal(call("cuStreamQuery", theirs, 0, 0, NULL), 0);
    assert_int_equal(first_of(a), 8);
    kjit_stream_free(s);
    assert_int_equal(call("cuStreamDestroy_v2", theirs, 0, 0, NULL), 0); /* still theirs */
    /* a stream of another context of the same device */
    void *others;
    assert_int_equal(call("cuCtxCreate_v2", &others, 0, 0, NULL), 0);
    assert_int_equal(call("cuStreamCreate", &theirs, 1, 0, NULL), 0);
    FAILS(kjit_stream_external(ctx, theirs, &s), KJIT_INVALID, "another");
    assert_int_equal(call("cuStreamDestroy_v2", theirs, 0, 0, NULL), 0);
    assert_int_equal(call("cuCtxDestroy_v2", others, 0, 0, NULL), 0);
    leave_primary_context();
    kjit_array_free(a);
}

typedef struct gate {
    sem_t open;
    atomic_int passed;
} gate;

static void wait_until_open(void *at)
{
    gate *g = at;
    struct timespec last;
    clock_gettime(CLOCK_REALTIME, &last);
    last.tv_sec += 20;
    sem_timedwait(&g->open, &last);
    atomic_store(&g->passed, 1);
}

/* kjit's own work in it is waited for, and nobody else's. */
static void test_external_is_busy(void **state)
{
    (void)state;
    if (!driver)
        SKIP("KJIT_CUDA_DRIVER does not name the driver");
    gate g = {.passed = 0};
    void *theirs = open_theirs();
    kjit_stream *s;
    kjit_array *a = zeros();
    sem_init(&g.open, 0, 0);
    OK(kjit_stream_external(ctx, theirs, &s));
    OK(launch("add", s, a, 3));
    void (*function)(void *) = wait_until_open;
    void *address;
    memcpy(&address, &function, sizeof address);
    assert_int_equal(call("cuLaunchHostFunc", theirs, (size_t)address, (size_t)&g, NULL), 0);
    kjit_stream_free(s);
    assert_int_equal(atomic_load(&g.passed), 0);
    sem_post(&g.open);
    assert_int_equal(call("cuStreamSynchronize", theirs, 0, 0, NULL), 0);
    assert_int_equal(atomic_load(&g.passed), 1);
    assert_int_equal(first_of(a), 3);
    close_theirs(theirs);
    kjit_array_free(a);
    sem_destroy(&g.open);
}

static void *open_later(void *at)
{
    usleep(300000);
    sem_post(&((gate *)at)->open);
    return NULL;
}

static gate others; /* before which another library's work is, for 0.3 s */

static void begin_others(void *theirs, pthread_t *thread)
{
    void (*function)(void *) = wait_until_open;
    void *address;
    memcpy(&address, &function, sizeof address);
    sem_init(&others.open, 0, 0);
    atomic_store(&others.passed, 0);
    assert_int_equal(call("cuLaunchHostFunc", theirs, (size_t)address, (size_t)&others, NULL), 0);
    assert_int_equal(pthread_create(thread, NULL, open_later, &others), 0);
}

static void end_others(pthread_t thread)
{
    assert_int_equal(atomic_load(&others.passed), 1);
    assert_int_equal(pthread_join(thread, NULL), 0);
    sem_destroy(&others.open);
}

/* What waits for every stream waits for others' work in those it knows, too. */
static void test_external_is_waited_for(void **state)
{
    (void)state;
    if (!driver)
        SKIP("KJIT_CUDA_DRIVER does not name the driver");
    pthread_t thread;
    void *theirs = open_theirs();
    kjit_stream *s, *legacy;
    kjit_array *a = zeros();
    OK(kjit_stream_external(ctx, theirs, &s));
    OK(kjit_stream_legacy_default(ctx, &legacy));
    begin_others(theirs, &thread);
    OK(kjit_synchronize(ctx));
    end_others(thread);
    OK(launch("add", s, a, 3));
    begin_others(theirs, &thread);
    assert_int_equal(call("cuMemsetD32Async", kjit_array_data(a), 7, 64, theirs), 0);
    assert_int_equal(first_of(a), 7); /* a copy without a stream */
    end_others(thread);
    begin_others((void *)1, &thread);
    OK(launch("add", NULL, a, 1));
    end_others(thread);
    assert_int_equal(first_of(a), 8);
    kjit_stream_free(s);
    close_theirs(theirs);
    kjit_array_free(a);
}

/* Its owner may end a stream as soon as kjit has forgotten it: kjit's work in it is done by then. */
static void test_external_is_forgotten(void **state)
{
    (void)state;
    if (!driver)
        SKIP("KJIT_CUDA_DRIVER does not name the driver");
    static int32_t values[64];
    pthread_t thread;
    void *theirs = open_theirs();
    kjit_stream *s;
    kjit_array *a = zeros(), *host;
    OK(kjit_array_wrap(ctx, values, KJIT_I32, 1, SHAPE(64), NULL, KJIT_HOST, &host));
    OK(kjit_stream_external(ctx, theirs, &s));
    begin_others(theirs, &thread);
    OK(launch("add", s, a, 3));
    OK(kjit_copy(host, a, s));
    kjit_stream_free(s);
    end_others(thread);
    assert_int_equal(values[63], 3);
    close_theirs(theirs);
    kjit_array_free(host);
    kjit_array_free(a);
}

static kjit_status end_context(void *user)
{
    ++*(int *)user;
    return KJIT_OK;
}

/* Another library's stream may be the last that a context has, with memory that its work uses. */
static void test_external_is_last(void **state)
{
    (void)state;
    if (!driver)
        SKIP("KJIT_CUDA_DRIVER does not name the driver");
    void *theirs = open_theirs();
    int ended = 0;
    static int32_t values[64];
    kjit_context *own;
    kjit_stream *s;
    kjit_array *host, *device;
    const kjit_allocator allocator = {
        .version = KJIT_ALLOCATOR_VERSION, .user = &ended, .reset = end_context};
    const kjit_context_options options = {.cache = "off", .allocator = &allocator};
    OK(kjit_context_create(&options, &own, NULL, 0));
    OK(kjit_stream_external(own, theirs, &s));
    OK(kjit_array_wrap(own, values, KJIT_I32, 1, SHAPE(64), NULL, KJIT_HOST, &host));
    OK(kjit_array_create(own, KJIT_I32, 1, SHAPE(64), 'C', KJIT_DEVICE, &device));
    kjit_context_destroy(own);
    OK(kjit_copy(device, host, s));
    kjit_array_free(device);
    kjit_array_free(host);
    assert_int_equal(ended, 0);
    kjit_stream_free(s);
    assert_int_equal(ended, 1);
    close_theirs(theirs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_external),
        cmocka_unit_test(test_external_is_busy),
        cmocka_unit_test(test_external_is_waited_for),
        cmocka_unit_test(test_external_is_forgotten),
        cmocka_unit_test(test_external_is_last),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
