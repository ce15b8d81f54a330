/* Checks on threads of their own: cmocka's are for the main thread. */
#ifndef ON_THREADS_H
#define ON_THREADS_H

#include <pthread.h>
#include <stdatomic.h>

#include "api.h"

static atomic_int wrong; /* checks that failed, of which the first is said */

#define CHECK(condition) \
    do { \
        if (!(condition) && atomic_fetch_add(&wrong, 1) == 0) \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, \
                    kjit_last_error(ctx)); \
    } while (0)

#endif
