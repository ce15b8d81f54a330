/* A used file that cannot be read for want of memory: that is KJIT_NO_MEMORY, not an error of the source. */
#include "api.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/syscall.h>

static bool lacking; /* is there no memory for the file? */

/* In the library's place of the system's. */
__attribute__((visibility("default"))) int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
    va_end(args);
    if (strstr(path, "not_there.knl")) {
        errno = lacking ? ENOMEM : EACCES;
        return -1;
    }
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

static kjit_status compile_it(void)
{
    static const char source[] = "use \"not_there.knl\"\nkernel k(x: f32[]) { x[0] = 1.0 }\n";
    static const kjit_compile_options options = {.path = "nowhere"};
    kjit_module *mod = NULL;
    kjit_status status = kjit_module_compile(ctx, "k.knl", source, strlen(source), &options, &mod);
    kjit_module_free(mod);
    return status;
}

static void test_it_is_out_of_memory(void **state)
{
    (void)state;
    lacking = true;
    assert_int_equal(compile_it(), KJIT_NO_MEMORY);
    assert_string_equal(kjit_last_error(ctx), "out of memory");
}

static void test_another_reason_is_an_error_of_the_source(void **state)
{
    (void)state;
    lacking = false;
    assert_int_equal(compile_it(), KJIT_COMPILE);
    assert_non_null(strstr(kjit_last_error(ctx), "k.knl:1:5: error: cannot read 'nowhere/"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_is_out_of_memory),
        cmocka_unit_test(test_another_reason_is_an_error_of_the_source),
    };
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
