/* What kernels are checked for while they run (checks.def). */
#ifndef KJ_CHECKS_H
#define KJ_CHECKS_H

#include "base/text.h"

typedef enum kj_check {
#define CHECK(id, name, bit, device, what) KJ_CHECK_##id = bit,
#include "lang/checks.def"
#undef CHECK
} kj_check;

enum { KJ_ON_CPU, KJ_ON_EVERY };

/* Bits of the checks that every device has, and of those that a CPU has. */
enum {
    KJ_CHECKS_EVERY = 0
#define CHECK(id, name, bit, device, what) | (KJ_ON_##device == KJ_ON_EVERY ? bit : 0)
#include "lang/checks.def"
#undef CHECK
    ,
    KJ_CHECKS_CPU = 0
#define CHECK(id, name, bit, device, what) | bit
#include "lang/checks.def"
#undef CHECK
};

/* Of these, code tells of each of its accesses (kj_host_watch). */
enum { KJ_CHECKS_WATCHED = KJ_CHECK_RACE | KJ_CHECK_INIT };

/* Of these, operations whose values are looked at (analysis/values.c). */
enum { KJ_CHECKS_OF_VALUES = KJ_CHECK_WARP | KJ_CHECK_NAN | KJ_CHECK_INDEX };

typedef struct kj_check_row {
    const char *name, *what;
    unsigned bit;
} kj_check_row;

/* Row i; NULL behind the last. */
const kj_check_row *kj_check_row_at(int i);
/* What is compiled otherwise than by default, as an option; nothing where nothing is. */
void kj_put_checks(kj_text *t, unsigned checks);

#endif
