/* Where a param's array comes from: x=@data.npy, x=@data.npz:y, x=@data.raw,shape=480x640. In: what stands behind the @;
 * out: the path, and how the file is read. */
#include "io/file.h"
#include "run/run.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "file:name". */
static bool take_name(kj_rsource *s)
{
    for (char *colon = strchr(s->path, ':'); colon; colon = strchr(colon + 1, ':')) {
        *colon = '\0';
        if (kj_file_has_names(s->path, NULL) && access(s->path, F_OK) == 0) {
            s->how.name = colon + 1;
            return true;
        }
        *colon = ':';
    }
    return false;
}

static bool take_int(const char **at, int64_t *out)
{
    const char *digits = *at + (**at == '-');
    size_t n = strspn(digits, "0123456789");
    int64_t v = 0;
    for (size_t i = 0; i < n; i++)
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, digits[i] - '0', &v))
            return false;
    *out = digits > *at ? -v : v;
    *at = digits + n;
    return n > 0;
}

/* "480x640" */
static bool take_shape(kj_rsource *s, const char *text)
{
    s->how.ndim = 0;
    s->how.shape = s->shape;
    do {
        if (s->how.ndim == KJIT_MAX_NDIM || !take_int(&text, &s->shape[s->how.ndim++]))
            return false;
    } while (*text++ == 'x');
    return !text[-1];
}

/* What stands behind "key=", as the key's value; false: there is no such. */
static bool take_option(kj_rsource *s, const char *option)
{
    const char *value = strchr(option, '=');
    if (!value)
        return false;
    size_t n = (size_t)(value++ - option);
#define IS(key) (n == sizeof key - 1 && memcmp(option, key, n) == 0)
    if (IS("dtype")) {
        s->dtype = value;
        return *value != '\0';
    }
    if (IS("shape"))
        return take_shape(s, value);
    if (IS("offset"))
        return take_int(&value, &s->how.offset) && !*value;
    if (IS("order")) {
        s->how.big_endian = strcmp(value, "big") == 0;
        return s->how.big_endian || strcmp(value, "little") == 0;
    }
    s->how.format = value;
    return IS("format");
#undef IS
}

/* ",key=value" of the end, as long as that is no part of the path; what cannot be one remains, and is told. */
static bool take_options(kj_run *r, kj_rsource *s, const char *text)
{
    char *comma;
    while (access(s->path, F_OK) != 0 && (comma = strrchr(s->path, ',')) != NULL) {
        *comma = '\0';
        if (take_option(s, comma + 1))
            continue;
        if (strchr(comma + 1, '=') && access(s->path, F_OK) == 0)
            return kj_run_fail(r, KJIT_INVALID, kj_run_nowhere,
                               "'%s': behind the file's name stand dtype=f32, shape=480x640, "
                               "offset=16, order=big and format=raw, not '%s'",
                               text, comma + 1);
        *comma = ',';
        break;
    }
    return true;
}

bool kj_run_source(kj_run *r, const char *text, kj_rsource *s)
{
    *s = (kj_rsource){.path = strdup(text)};
    if (!s->path)
        return kj_run_no_memory(r, kj_run_nowhere);
    return access(text, F_OK) == 0 || take_name(s) || take_options(r, s, text);
}
