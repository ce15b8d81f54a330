/* The CUDA driver beside kjit, for tests of what a program does with both: the one that kjit loads,
 * which KJIT_CUDA_DRIVER names, else the system's. */
#ifndef DRIVER_H
#define DRIVER_H

#include <dlfcn.h>
#include <sys/wait.h>

static void *driver;

/* False where there is none, which is printed. */
static inline bool driver_load(void)
{
    const char *name = getenv("KJIT_CUDA_DRIVER");
    driver = dlopen(name ? name : "libcuda.so.1", RTLD_NOW);
    if (!driver)
        print_message("skipped: there is no CUDA driver: %s\n", dlerror());
    return driver != NULL;
}

/* The one of the context's device; on a CPU it stays NULL. */
static inline void driver_of_context(void)
{
    if (!on_cpu())
        assert_true(driver_load());
}

/* Is it the driver double? driver_load was called. */
static inline bool driver_is_double(void)
{
    return dlsym(driver, "kjit_driver_double") != NULL;
}

static inline void *driver_symbol(const char *name)
{
    void *symbol = dlsym(driver, name);
    if (!symbol)
        fail_msg("the CUDA driver has no %s", name);
    return symbol;
}

enum { NOWHERE = 1 << 21 }; /* bytes */

/* Addresses that nothing is at, and nothing comes to: reserved from the driver and never mapped. A
 * freed allocation's may be used again, and the host's own a GPU may reach. cuInit was called. */
static inline void *driver_nowhere(void)
{
    unsigned long long address = 0;
    int (*reserve)(unsigned long long *, size_t, size_t, unsigned long long, unsigned long long);
    *(void **)&reserve = driver_symbol("cuMemAddressReserve");
    assert_int_equal(reserve(&address, NOWHERE, 0, 0, 0), 0);
    return (void *)(uintptr_t)address;
}

/* Whether a device that was lost lets go of them is the driver's affair. */
static inline void driver_give_back(void *nowhere)
{
    int (*give_back)(unsigned long long, size_t);
    *(void **)&give_back = driver_symbol("cuMemAddressFree");
    give_back((uintptr_t)nowhere, NOWHERE);
}

/* The test in a process of its own: there is no device any more in one that has lost it, and none in
 * the child of one that has used it. 0 when it has passed, or was left out. */
static inline int driver_run_alone(const struct CMUnitTest *test)
{
    int status;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        const struct CMUnitTest tests[] = {*test};
        exit(cmocka_run_group_tests(tests, NULL, NULL));
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;
}

#endif
