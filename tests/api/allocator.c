/* An allocator of the program's: each of its functions is called where it should be, with what it
 * should be, the device's context being current; what it gave it gets back once. */
#include "api.h"

#include "driver.h" /* which there is none on a CPU: then memory is malloc's */

enum { MEMALLOC, MEMFREE, MEMHOSTALLOC, MEMHOSTFREE, MEMPIN, MEMUNPIN, HANDLE, INFO, RESET, CALLS };

typedef struct program {
    int initialized, calls[CALLS], defers, deferred_ends;
    int mapped, portable, wc; /* of the last memhostalloc or mempin */
    size_t live;              /* bytes that were not given back */
    int refuse;               /* allocations of device memory, or pins, that still fail */
    kjit_status with;         /* how */
} program;

static kjit_status drive(const char *name, void *first, size_t second, size_t third)
{
    int (*function)(void *, size_t, size_t);
    *(void **)&function = driver_symbol(name);
    return function(first, second, third) == 0 ? KJIT_OK : KJIT_INTERNAL;
}

static kjit_status initialize(void *user)
{
    ((program *)user)->initialized++;
    return ((program *)user)->with;
}

static kjit_status give(program *p, size_t size, void **out)
{
    p->live += size;
    *out = malloc(size);
    return *out ? KJIT_OK : KJIT_NO_MEMORY;
}

static kjit_status memalloc(void *user, size_t size, void **out)
{
    program *p = user;
    p->calls[MEMALLOC]++;
    if (p->refuse > 0) {
        p->refuse--;
        return p->with;
    }
    if (!driver)
        return give(p, size, out);
    p->live += size;
    return drive("cuMemAlloc_v2", out, size, 0);
}

static kjit_status memfree(void *user, void *memory, size_t size)
{
    program *p = user;
    p->calls[MEMFREE]++;
    p->live -= size;
    if (driver)
        return drive("cuMemFree_v2", memory, 0, 0);
    free(memory);
    return KJIT_OK;
}

static kjit_status memhostalloc(void *user, size_t size, int mapped, int portable, int wc,
                                void **out, void **device)
{
    program *p = user;
    p->calls[MEMHOSTALLOC]++;
    p->mapped = mapped;
    p->portable = portable;
    p->wc = wc;
    if (!driver)
        return give(p, size, out);
    p->live += size;
    kjit_status status = drive("cuMemHostAlloc", out, size, mapped ? 2 : 0);
    *device = *out;
    return status;
}

static kjit_status memhostfree(void *user, void *memory, size_t size)
{
    program *p = user;
    p->calls[MEMHOSTFREE]++;
    p->live -= size;
    if (driver)
        return drive("cuMemFreeHost", memory, 0, 0);
    free(memory);
    return KJIT_OK;
}

static kjit_status mempin(void *user, void *memory, size_t size, int mapped, void **device)
{
    program *p = user;
    (void)device;
    p->calls[MEMPIN]++;
    if (p->refuse > 0) {
        p->refuse--;
        return p->with;
    }
    p->mapped = mapped;
    p->live += size;
    return driver ? drive("cuMemHostRegister_v2", memory, size, mapped ? 2 : 0) : KJIT_OK;
}

static kjit_status memunpin(void *user, void *memory, size_t size)
{
    program *p = user;
    p->calls[MEMUNPIN]++;
    p->live -= size;
    return driver ? drive("cuMemHostUnregister", memory, 0, 0) : KJIT_OK;
}

static kjit_status get_memory_info(void *user, uint64_t *left, uint64_t *total)
{
    ((program *)user)->calls[INFO]++;
    *left = 1000;
    *total = 4000;
    return KJIT_OK;
}

static kjit_status get_ipc_handle(void *user, void *memory, size_t size, void *handle,
                                  uint64_t *offset)
{
    ((program *)user)->calls[HANDLE]++;
    assert_non_null(memory);
    assert_int_equal(size, 400);
    memset(handle, 7, 64);
    *offset = 512;
    return KJIT_OK;
}

static kjit_status reset(void *user)
{
    ((program *)user)->calls[RESET]++;
    assert_int_equal(((program *)user)->live, 0);
    return KJIT_OK;
}

static void defer_begin(void *user)
{
    ((program *)user)->defers++;
}

static void defer_end(void *user)
{
    ((program *)user)->deferred_ends++;
}

static kjit_allocator table(program *p)
{
    return (kjit_allocator){.version = KJIT_ALLOCATOR_VERSION,
                            .user = p,
                            .initialize = initialize,
                            .memalloc = memalloc,
                            .memfree = memfree,
                            .memhostalloc = memhostalloc,
                            .memhostfree = memhostfree,
                            .mempin = mempin,
                            .memunpin = memunpin,
                            .get_ipc_handle = get_ipc_handle,
                            .get_memory_info = get_memory_info,
                            .reset = reset,
                            .defer_cleanup_begin = defer_begin,
                            .defer_cleanup_end = defer_end};
}

static kjit_status begin(const kjit_allocator *a, char error[256])
{
    kjit_context_options options = {.allocator = a};
    return kjit_context_create(&options, &ctx, error, 256);
}

static void begin_with(program *p)
{
    char error[256];
    const kjit_allocator a = table(p);
    if (begin(&a, error) != KJIT_OK)
        fail_msg("%s", error);
}

static void end(void)
{
    kjit_context_destroy(ctx);
    ctx = NULL;
}

static kjit_array *make(kjit_memory memory, int portable, int wc)
{
    kjit_array *a;
    kjit_array_options options = {.memory = memory, .portable = portable, .wc = wc};
    OK(kjit_array_create_with(ctx, KJIT_I32, 1, SHAPE(100), &options, &a));
    return a;
}

static void test_kinds(void **state)
{
    (void)state;
    program p = {0};
    begin_with(&p);
    assert_int_equal(p.initialized, 1);
    kjit_module *mod = module("kernel add(x: i32[]) {\n"
                              "    let i = grid(1)\n"
                              "    if i < x.size { x[i] += 1 }\n"
                              "}");
    int32_t x[100] = {41};
    kjit_array *host = wrap(x, KJIT_I32, 1, SHAPE(100)), *locked;
    kjit_array *a[] = {make(KJIT_DEVICE, 0, 0), make(KJIT_PINNED, 1, 0), make(KJIT_MAPPED, 0, 1),
                       make(KJIT_MANAGED, 0, 0), make(KJIT_HOST, 0, 0)};
    assert_int_equal(p.calls[MEMALLOC], 1);
    assert_int_equal(p.calls[MEMHOSTALLOC], 2);
    assert_true(p.mapped && !p.portable && p.wc);
    OK(kjit_array_register(host, &(kjit_array_options){.memory = KJIT_MAPPED}, &locked));
    assert_int_equal(p.calls[MEMPIN], 1);
    for (int i = 0; i < 5; i++) {
        kjit_array *back;
        OK(kjit_copy(a[i], host, NULL));
        OK(kjit_launch_forall(mod, "add", 100, NULL, (kjit_arg[]){kjit_arg_array(a[i])}, 1));
        OK(kjit_to_host(a[i], NULL, &back));
        assert_int_equal(*(int32_t *)kjit_array_data(back), 42);
        kjit_array_free(back);
        kjit_array_free(a[i]);
    }
    OK(kjit_launch_forall(mod, "add", 100, NULL, (kjit_arg[]){kjit_arg_array(locked)}, 1));
    assert_int_equal(x[0], 42);
    kjit_array_free(locked);
    kjit_array_free(host);
    assert_int_equal(p.calls[MEMUNPIN], 1);
    assert_int_equal(p.calls[MEMFREE], 0); /* it is pending */
    OK(kjit_deallocate_pending(ctx));
    assert_true(p.calls[MEMFREE] > 0);
    assert_int_equal(p.calls[MEMHOSTFREE], 2);
    kjit_module_free(mod);
    end();
    assert_int_equal(p.calls[MEMALLOC], p.calls[MEMFREE]);
    assert_int_equal(p.live, 0);
    assert_int_equal(p.calls[RESET], 1);
}

static void test_info_and_defer(void **state)
{
    (void)state;
    program p = {0};
    kjit_memory_info info;
    begin_with(&p);
    OK(kjit_context_memory(ctx, &info));
    assert_int_equal(info.free, 1000);
    assert_int_equal(info.total, 4000);
    OK(kjit_defer_cleanup_begin(ctx));
    OK(kjit_defer_cleanup_begin(ctx));
    OK(kjit_defer_cleanup_end(ctx));
    assert_int_equal(p.defers, 2);
    assert_int_equal(p.deferred_ends, 1);
    OK(kjit_defer_cleanup_end(ctx));
    assert_int_equal(kjit_defer_cleanup_end(ctx), KJIT_INVALID);
    assert_int_equal(p.deferred_ends, 2);
    end();
}

static void test_failures(void **state)
{
    (void)state;
    program p = {0};
    kjit_array *a;
    int64_t n = 100, none = 0;
    begin_with(&p);
    kjit_array_free(make(KJIT_DEVICE, 0, 0));
    p.refuse = 1;
    p.with = KJIT_NO_MEMORY;
    kjit_array *kept = make(KJIT_DEVICE, 0, 0); /* what is pending goes, and it is asked again */
    assert_int_equal(p.calls[MEMALLOC], 3);
    assert_int_equal(p.calls[MEMFREE], 1);
    p.refuse = 2;
    int64_t calls = p.calls[MEMALLOC];
    FAILS(kjit_array_create(ctx, KJIT_I32, 1, &n, 'C', KJIT_DEVICE, &a), KJIT_NO_MEMORY,
          "the allocator's memalloc failed: out of memory");
    assert_null(a);
    assert_int_equal(p.calls[MEMALLOC], calls + 2);
    p.refuse = 1;
    p.with = KJIT_INTERNAL;
    FAILS(kjit_array_create(ctx, KJIT_I32, 1, &n, 'C', KJIT_DEVICE, &a), KJIT_INTERNAL, "memalloc");
    assert_int_equal(p.calls[MEMALLOC], calls + 3);
    OK(kjit_array_create(ctx, KJIT_I32, 1, &none, 'C', KJIT_DEVICE, &a));
    kjit_array_free(a); /* of no bytes it need not know */
    assert_int_equal(p.calls[MEMALLOC], calls + 3);
    kjit_array_free(kept);
    end();
    assert_int_equal(p.calls[MEMFREE], 2);
}

/* Memory that is to be page-locked is asked for once more, too. */
static void test_pin_again(void **state)
{
    (void)state;
    static int32_t x[100];
    program p = {0};
    begin_with(&p);
    kjit_array *host = wrap(x, KJIT_I32, 1, SHAPE(100)), *locked;
    kjit_array_free(make(KJIT_DEVICE, 0, 0));
    p.refuse = 1;
    p.with = KJIT_NO_MEMORY;
    OK(kjit_array_register(host, NULL, &locked));
    assert_int_equal(p.calls[MEMPIN], 2);
    assert_int_equal(p.calls[MEMFREE], 1);
    kjit_array_free(locked);
    p.refuse = 2;
    FAILS(kjit_array_register(host, NULL, &locked), KJIT_NO_MEMORY, "mempin failed");
    assert_int_equal(p.calls[MEMPIN], 4);
    kjit_array_free(host);
    end();
    assert_int_equal(p.calls[MEMUNPIN], 1);
}

static void test_outlives(void **state)
{
    (void)state;
    program p = {0};
    begin_with(&p);
    kjit_array *a = make(KJIT_DEVICE, 0, 0);
    end();
    assert_int_equal(p.calls[RESET], 0);
    kjit_array_free(a);
    assert_int_equal(p.calls[MEMFREE], 1);
    assert_int_equal(p.calls[RESET], 1);
}

static void test_shared(void **state)
{
    (void)state;
    program p = {0};
    char error[256];
    kjit_array *a;
    kjit_ipc_handle handle;
    const kjit_array_options options = {.memory = KJIT_DEVICE, .shareable = 1};
    begin_with(&p);
    OK(kjit_array_create_with(ctx, KJIT_I32, 1, SHAPE(100), &options, &a));
    assert_int_equal(p.calls[MEMALLOC], 1);
    OK(kjit_array_ipc_handle(a, &handle));
    assert_int_equal(p.calls[HANDLE], 1);
    kjit_array_free(a);
    end();
    kjit_allocator none = table(&p);
    none.get_ipc_handle = NULL;
    if (begin(&none, error) != KJIT_OK)
        fail_msg("%s", error);
    OK(kjit_array_create_with(ctx, KJIT_I32, 1, SHAPE(100), &options, &a));
    FAILS(kjit_array_ipc_handle(a, &handle), KJIT_INVALID, "get_ipc_handle");
    kjit_array_free(a);
    end();
}

static void test_own_functions(void **state)
{
    (void)state;
    char error[256];
    program p = {0};
    kjit_allocator few = {.version = KJIT_ALLOCATOR_VERSION, .user = &p};
    if (begin(&few, error) != KJIT_OK) /* all is kjit's own */
        fail_msg("%s", error);
    kjit_array_free(make(KJIT_DEVICE, 0, 0));
    kjit_array_free(make(KJIT_PINNED, 0, 0));
    end();
    few.memalloc = memalloc;
    few.memfree = memfree;
    if (begin(&few, error) != KJIT_OK)
        fail_msg("%s", error);
    kjit_array_free(make(KJIT_DEVICE, 0, 0));
    kjit_array_free(make(KJIT_MAPPED, 0, 0));
    end();
    assert_int_equal(p.calls[MEMALLOC], 1);
    assert_int_equal(p.calls[MEMFREE], 1);
}

static void test_refused(void **state)
{
    (void)state;
    program p = {0};
    char error[256];
    kjit_allocator a = table(&p);
    a.version = 2;
    assert_int_equal(begin(&a, error), KJIT_INVALID);
    assert_non_null(strstr(error, "version"));
    for (int i = 0; i < 5; i++) {
        a = table(&p);
        if (i == 0)
            a.memfree = NULL;
        else if (i == 1)
            a.memhostalloc = NULL;
        else if (i == 2)
            a.memunpin = NULL;
        else if (i == 3)
            a.memalloc = NULL;
        else
            a.defer_cleanup_end = NULL;
        assert_int_equal(begin(&a, error), KJIT_INVALID);
        assert_null(ctx);
        assert_non_null(strstr(error, "pair"));
    }
    a = table(&p);
    p.with = KJIT_IO;
    assert_int_equal(begin(&a, error), KJIT_IO);
    assert_null(ctx);
    assert_non_null(strstr(error, "the allocator's initialize failed"));
    assert_int_equal(p.calls[RESET], 0);
}

static int set_up(void **state)
{
    int failed = make_context(state);
    if (!failed) {
        driver_of_context();
        drop_context(state);
    }
    return failed;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),    cmocka_unit_test(test_info_and_defer),
        cmocka_unit_test(test_failures), cmocka_unit_test(test_pin_again),
        cmocka_unit_test(test_outlives), cmocka_unit_test(test_own_functions),
        cmocka_unit_test(test_shared),   cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
