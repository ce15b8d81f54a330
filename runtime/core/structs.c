/* Structs that cross the border: how those of an older or a newer kjit.h are taken and given (docs/embedding.md,
 * "Versions"). */
#include <string.h>

#include "core/core.h"

enum {
    LARGEST = 1 << 16
}; /* bytes: no struct will come near it, and what was never set mostly is beyond */

#define NEWER "%s not all zeros: they were not set, or ask for what this kjit (%s) does not know"

static bool is_zero(const void *bytes, size_t size)
{
    const char *at = bytes;
    return size == 0 || (*at == 0 && memcmp(at, at + 1, size - 1) == 0);
}

kjit_status kj_check_reserved(kjit_context *ctx, const char *what, const void *reserved,
                              size_t size)
{
    return is_zero(reserved, size) ? KJIT_OK
                                   : kj_fail(ctx, KJIT_INVALID, NEWER, what, kjit_version());
}

kjit_status kj_reserved_because(kj_failure *why, const char *what, const void *reserved,
                                size_t size)
{
    return is_zero(reserved, size) ? KJIT_OK
                                   : kj_because(why, KJIT_INVALID, NEWER, what, kjit_version());
}

bool kj_is_struct_size(size_t size)
{
    return size >= sizeof size && size <= LARGEST;
}

kjit_status kj_check_size(kjit_context *ctx, const char *what, size_t size)
{
    return kj_is_struct_size(size)
               ? KJIT_OK
               : kj_fail(ctx, KJIT_INVALID, "%s->size is %zu: it is to be sizeof *%s", what, size,
                         what);
}

void kj_give_struct(void *out, size_t size, const void *own, size_t known)
{
    const size_t skipped = sizeof size, n = size < known ? size : known;
    memcpy((char *)out + skipped, (const char *)own + skipped, n - skipped);
    memset((char *)out + n, 0, size - n);
}

kjit_status kj_take_struct(kjit_context *ctx, const char *what, const void *given, size_t size,
                           void *own, size_t known)
{
    kjit_status status = kj_check_size(ctx, what, size);
    if (status != KJIT_OK)
        return status;
    const size_t skipped = sizeof size, n = size < known ? size : known;
    memcpy((char *)own + skipped, (const char *)given + skipped, n - skipped);
    return kj_check_reserved(ctx, "the last members of the options are", (const char *)given + n,
                             size - n);
}
