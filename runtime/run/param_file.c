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

/* "file:name,dtype=f32": a name may have commas in it, but hardly ends so. */
static void take_dtype(kj_rsource *s)
{
    static const char option[] = ",dtype=";
    char *name = s->path + (s->how.name - s->path), *at = strrchr(name, ',');
    if (!at || strncmp(at, option, strlen(option)) != 0)
        return;
    *at = '\0';
    s->dtype = at + strlen(option);
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

enum { DTYPE, SHAPE, OFFSET, ORDER, FORMAT, NOPTIONS };

/* Which of them "key=value" is; NOPTIONS: none. */
static int option_of(const char *option)
{
    static const char *const keys[NOPTIONS] = {"dtype=", "shape=", "offset=", "order=", "format="};
    int key = 0;
    while (key < NOPTIONS && strncmp(option, keys[key], strlen(keys[key])) != 0)
        key++;
    return key;
}

/* The value of one; false: it is none. */
static bool take_option(kj_rsource *s, int key, const char *value)
{
    switch (key) {
    case DTYPE: s->dtype = value; return *value != '\0';
    case SHAPE: return take_shape(s, value);
    case OFFSET: return take_int(&value, &s->how.offset) && !*value;
    case ORDER:
        s->how.big_endian = strcmp(value, "big") == 0;
        return s->how.big_endian || strcmp(value, "little") == 0;
    case FORMAT: s->how.format = value; return *value != '\0';
    default: return false;
    }
}

/* ",key=value" of the end, as long as that is no part of the path; what cannot be one is told where a file stands
 * before it all, and else a part of the path where it is of no such key. */
static bool take_options(kj_run *r, kj_rsource *s, const char *text)
{
    char *comma,
        *wrong = NULL; /* the comma before the first of those that are none, or there twice */
    bool given[NOPTIONS + 1] = {false}, twice = false;
    while (access(s->path, F_OK) != 0 && (comma = strrchr(s->path, ',')) != NULL &&
           strchr(comma, '=')) {
        char *option = comma + 1;
        int key = option_of(option);
        *comma = '\0';
        bool again = key < NOPTIONS && given[key];
        if (again || !take_option(s, key, strchr(option, '=') + 1)) {
            wrong = comma;
            twice = again;
        }
        given[key] = true;
    }
    if (!wrong)
        return true;
    if (access(s->path, F_OK) != 0) {
        if (option_of(wrong + 1) == NOPTIONS)
            memcpy(s->path, text, (size_t)(wrong - s->path) + strlen(wrong + 1) + 1);
        return true;
    }
    return twice ? kj_run_fail(r, KJIT_INVALID, kj_run_nowhere, "'%s': '%.*s' stands there twice",
                               text, (int)strcspn(wrong + 1, "=") + 1, wrong + 1)
                 : kj_run_fail(r, KJIT_INVALID, kj_run_nowhere,
                               "'%s': behind the file's name stand dtype=f32, shape=480x640, "
                               "offset=16, order=big and format=raw, not '%s'",
                               text, wrong + 1);
}

bool kj_run_source(kj_run *r, const char *text, kj_rsource *s)
{
    *s = (kj_rsource){.path = strdup(text)};
    if (!s->path)
        return kj_run_no_memory(r, kj_run_nowhere);
    if (access(text, F_OK) == 0)
        return true;
    if (!take_name(s))
        return take_options(r, s, text);
    take_dtype(s);
    return true;
}
