/* The CUDA driver that kjit uses, for programs that use it too: by KJIT_CUDA_DRIVER. */
#ifndef GUEST_H
#define GUEST_H

#include <dlfcn.h>

#include "api.h"

static void *driver; /* NULL: there is none by that name */

static inline void find_driver(void)
{
    const char *name = getenv("KJIT_CUDA_DRIVER");
    driver = name && *name ? dlopen(name, RTLD_NOW) : NULL;
}

/* A call of the driver's: numbers and addresses, at most six. */
static inline int guest_call(const char *name, const uintptr_t *a)
{
    int (*function)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);
    void *symbol = dlsym(driver, name);
    if (!symbol)
        return -1;
    memcpy(&function, &symbol, sizeof function);
    return function(a[0], a[1], a[2], a[3], a[4], a[5]);
}
#define CU(...) CU_(__VA_ARGS__, 0)
#define CU_(name, ...) guest_call(name, (const uintptr_t[6]){__VA_ARGS__})
#define AT(place) ((uintptr_t)(place))
#define CU_OK(...) assert_int_equal(CU(__VA_ARGS__), 0)

#endif
