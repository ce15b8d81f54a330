/* What the API's tests share: a context for the program, modules from text, checks that show the
 * library's sentence. */
#ifndef API_H
#define API_H

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <kjit.h>

static kjit_context *ctx;

/* The call succeeds; else the test fails with what the library says. */
#define OK(call) \
    do { \
        kjit_status status_ = (call); \
        if (status_ != KJIT_OK) \
            fail_msg("%s: %s: %s", #call, kjit_status_name(status_), kjit_last_error(ctx)); \
    } while (0)

/* The call fails with this status, and its sentence has this text. */
#define FAILS(call, expected, text) \
    do { \
        kjit_status status_ = (call); \
        if (status_ != (expected)) \
            fail_msg("%s: %s rather than %s: %s", #call, kjit_status_name(status_), \
                     kjit_status_name(expected), kjit_last_error(ctx)); \
        if (!strstr(kjit_last_error(ctx), text)) \
            fail_msg("%s: the sentence is: %s", #call, kjit_last_error(ctx)); \
    } while (0)

/* Leaves the rest of a test out, and says why. */
#define SKIP(reason) \
    do { \
        print_message("[  REASON  ] %s\n", reason); \
        skip(); \
    } while (0)

/* Was the driver double asked to fail this call? */
static inline bool double_fails(const char *call)
{
    const char *failing = getenv("KJIT_DOUBLE_FAIL");
    return failing && strstr(failing, call);
}

#define SHAPE(...) ((const int64_t[]){__VA_ARGS__})

static inline int make_context(void **state)
{
    char error[256];
    (void)state;
    setlocale(LC_ALL, ""); /* where the environment names one, numbers may have a comma */
    if (kjit_context_create(NULL, &ctx, error, sizeof error) == KJIT_OK)
        return 0;
    fprintf(stderr, "%s\n", error);
    return 1;
}

static inline int drop_context(void **state)
{
    (void)state;
    kjit_context_destroy(ctx);
    return 0;
}

static inline bool on_cpu(void)
{
    kjit_device_info info;
    OK(kjit_context_device(ctx, &info));
    return strcmp(info.kind, "cpu") == 0;
}

static inline kjit_module *module(const char *source)
{
    kjit_module *mod;
    if (kjit_module_compile(ctx, "test.knl", source, strlen(source), NULL, &mod) != KJIT_OK)
        fail_msg("%s", kjit_module_log(mod));
    return mod;
}

static inline kjit_array *wrap(void *data, kjit_dtype dtype, int ndim, const int64_t *shape)
{
    kjit_array *a;
    OK(kjit_array_wrap(ctx, data, dtype, ndim, shape, NULL, KJIT_HOST, &a));
    return a;
}

static inline kjit_array *create(kjit_dtype dtype, int ndim, const int64_t *shape, char order)
{
    kjit_array *a;
    OK(kjit_array_create(ctx, dtype, ndim, shape, order, KJIT_HOST, &a));
    return a;
}

/* A path in a folder of this program's own, which drop_folder removes. */
static char folder[64];

static inline const char *path_of(const char *name)
{
    static char path[160];
    if (!*folder) {
        snprintf(folder, sizeof folder, "/tmp/kjit-test-XXXXXX");
        assert_non_null(mkdtemp(folder));
    }
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static inline void drop_folder(void)
{
    char command[128];
    if (!*folder)
        return;
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0)
        fprintf(stderr, "cannot remove %s\n", folder);
}

static inline void write_file(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    fclose(file);
}

#endif
