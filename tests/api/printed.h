/* What a context or a run block prints, for tests to look at: in `printed`, one text behind the other. */
#ifndef PRINTED_H
#define PRINTED_H

#include "api.h"

static char printed[4096];

/* A kjit_print_fn. */
static void take(void *user, const char *text, size_t size)
{
    size_t n = strlen(printed);
    (void)user;
    assert_true(n + size < sizeof printed);
    memcpy(printed + n, text, size);
    printed[n + size] = 0;
}

#endif
