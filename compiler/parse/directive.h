/* Lines of C's preprocessor, which are comments here. */
#ifndef KJ_DIRECTIVE_H
#define KJ_DIRECTIVE_H

#include "base/diag.h"

typedef struct kj_directive {
    kj_span span;      /* "#define N 32"; empty: there is none */
    const char *name;  /* "define N 32" and what follows */
    const char *value; /* "N 32" and what follows */
    uint32_t next;     /* where the next line begins */
} kj_directive;

/* The first line from `at` on, where one begins, that is one and before `end`. */
kj_directive kj_next_directive(const kj_source *source, uint32_t at, uint32_t end);

/* Is it one of that name? */
bool kj_directive_is(const kj_directive *d, const char *name);

#endif
