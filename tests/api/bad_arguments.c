/* Bad arguments for what is about devices, contexts, modules, records, the cache and run blocks. */
#include "bad_arguments.h"

#include <math.h>

static kjit_device_info device;
static kjit_memory_info memory;
static kjit_cache_info cache;
static kjit_record record;
static kjit_field field;
static kjit_kernel_info kernel;
static kjit_dtype dtype;
static int flag;

static void visit(void *user, const kjit_cache_entry *entry)
{
    (void)user, (void)entry;
}

static void statuses_and_types(void **state)
{
    (void)state;
    GIVES(kjit_version, (), != NULL);
    GIVES(*kjit_status_name, ((kjit_status)-1), != 0);
    GIVES(*kjit_status_name, ((kjit_status)4711), != 0);
    GIVES(*kjit_status_message, ((kjit_status)-1), != 0);
    GIVES(*kjit_status_message, ((kjit_status)4711), != 0);
    GIVES(kjit_dtype_size, ((kjit_dtype)-1), == 0);
    GIVES(kjit_dtype_size, ((kjit_dtype)15), == 0);
    GIVES(kjit_dtype_size, (KJIT_FIRST_RECORD), == 0);
    GIVES(kjit_dtype_name, ((kjit_dtype)-1), == NULL);
    GIVES(kjit_dtype_name, ((kjit_dtype)15), == NULL);
    GIVES(kjit_dtype_name, (KJIT_LAST_RECORD), == NULL);
    GIVES(kjit_check, (-1, NULL), == 0);
    GIVES(kjit_check, (1 << 20, NULL), == 0);
    GIVES(kjit_check, (0, NULL), != 0);
    GIVES(kjit_builtin, (-1, NULL), == 0);
    GIVES(kjit_builtin, (1 << 20, NULL), == 0);
    GIVES(kjit_builtin, (0, NULL), != 0);
    GIVES(kjit_word, (-1, NULL), == 0);
    GIVES(kjit_word, (1 << 20, NULL), == 0);
    GIVES(kjit_word, (0, NULL), != 0);
}

static kjit_status no_more(void *user, size_t size, void **out)
{
    (void)user, (void)size, (void)out;
    return KJIT_NO_MEMORY;
}

static kjit_status refuse(void *user)
{
    (void)user;
    return KJIT_IO;
}

static void allocators(void **state)
{
    (void)state;
    static const kjit_allocator none = {0}, newer = {.version = KJIT_ALLOCATOR_VERSION + 1},
                                half = {.version = KJIT_ALLOCATOR_VERSION, .memalloc = no_more},
                                never = {.version = KJIT_ALLOCATOR_VERSION, .initialize = refuse};
    const kjit_context_options options[] = {
        {.allocator = &none}, {.allocator = &newer}, {.allocator = &half}};
    char error[200];
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        BAD(kjit_context_create, (&options[i], &no_context, error, sizeof error), KJIT_INVALID,
            "the allocator");
        assert_non_null(strstr(error, "the allocator"));
    }
    BAD(kjit_context_create,
        (&(kjit_context_options){.allocator = &never}, &no_context, error, sizeof error), KJIT_IO,
        "initialize failed");
    assert_non_null(strstr(error, "initialize failed"));
}

/* Before there is a context its sentence goes to a place of the caller's. */
static void contexts(void **state)
{
    (void)state;
    static const kjit_context_options workers = {.workers = -1}, name = {.device = "warp"},
                                      count = {.device = "cpu:7"}, colon = {.device = "cpu:"},
                                      empty = {.device = ""};
    char error[200] = "", small[4] = "???";
    NONE(kjit_context_create, (NULL, NULL, NULL, 0));
    BAD(kjit_context_create, (&workers, &no_context, NULL, 0), KJIT_INVALID, "workers is -1");
    BAD(kjit_context_create, (&workers, &no_context, error, sizeof error), KJIT_INVALID, "-1");
    assert_non_null(strstr(error, "workers is -1"));
    BAD(kjit_context_create, (&workers, &no_context, small, sizeof small), KJIT_INVALID, "-1");
    assert_string_equal(small, "wor");
    BAD(kjit_context_create, (&workers, &no_context, error, 0), KJIT_INVALID, "-1");
    BAD(kjit_context_create, (&name, &no_context, error, sizeof error), KJIT_NO_DEVICE, "'warp'");
    assert_non_null(strstr(error, "no device 'warp'"));
    BAD(kjit_context_create, (&count, &no_context, NULL, 0), KJIT_NO_DEVICE, "'cpu:7'");
    BAD(kjit_context_create, (&colon, &no_context, NULL, 0), KJIT_NO_DEVICE, "'cpu:'");
    BAD(kjit_context_create, (&empty, &no_context, NULL, 0), KJIT_NO_DEVICE, "");
    HARMLESS(kjit_context_destroy, (NULL));
    HARMLESS(kjit_set_print, (NULL, NULL, NULL));
    GIVES(*kjit_last_error, (NULL), != 0);
    kjit_fault fault = {.size = sizeof fault}, none = {.size = 0};
    GIVES(kjit_last_fault, (NULL, NULL), == 0);
    GIVES(kjit_last_fault, (NULL, &fault), == 0);
    GIVES(kjit_last_fault, (own.ctx, &none), == 0);
    int written;
    NONE(kjit_capsule_begin, (NULL, "/tmp/x.kjc"));
    BAD(kjit_capsule_begin, (own.ctx, NULL), KJIT_INVALID, "path is NULL");
    BAD(kjit_capsule_begin, (own.ctx, "/nowhere/x.kjc"), KJIT_IO, "cannot write '/nowhere/x.kjc'");
    NONE(kjit_capsule_end, (NULL, &written));
    BAD(kjit_capsule_end, (own.ctx, NULL), KJIT_INVALID, "no capsule was begun");
    NONE(kjit_replay, (NULL, "/nowhere/x.kjc", 0));
    BAD(kjit_replay, (own.ctx, NULL, 0), KJIT_INVALID, "path is NULL");
    BAD(kjit_replay, (own.ctx, "/nowhere/x.kjc", 0), KJIT_IO, "cannot read '/nowhere/x.kjc'");
    GIVES(kjit_fault_kind_name, ((kjit_fault_kind)1000), == NULL);
    NONE(kjit_synchronize, (NULL));
    NONE(kjit_cancel, (NULL));
    NONE(kjit_set_deadline, (NULL, 1));
    BAD(kjit_set_deadline, (own.ctx, -1), KJIT_INVALID, "the deadline is -1");
    BAD(kjit_set_deadline, (own.ctx, NAN), KJIT_INVALID, "the deadline is ");
    BAD(kjit_set_deadline, (own.ctx, 1), KJIT_INVALID, "not cancellable");
    GIVES(*kjit_running, (NULL, NULL, 0), == 0);
    GIVES(*kjit_running, (own.ctx, NULL, 5), == 0);
    char unwritten[] = "as it was";
    assert_ptr_equal(kjit_running(own.ctx, unwritten, 0), unwritten);
    assert_string_equal(unwritten, "as it was");
}

static void devices(void **state)
{
    (void)state;
    GIVES(kjit_devices, (NULL, 5), > 0);
    GIVES(kjit_devices, (&device, -1), > 0);
    GIVES(kjit_device_absent, (NULL), == NULL);
    GIVES(kjit_device_absent, ("warp"), == NULL);
    NONE(kjit_context_device, (NULL, &device));
    BAD(kjit_context_device, (own.ctx, NULL), KJIT_INVALID, "out is NULL");
    NONE(kjit_device_attribute, (NULL, KJIT_ATTRIBUTE_WARP_SIZE, &number));
    BAD(kjit_device_attribute, (own.ctx, KJIT_ATTRIBUTE_WARP_SIZE, NULL), KJIT_INVALID,
        "out is NULL");
    BAD(kjit_device_attribute, (own.ctx, (kjit_attribute)-1, &number), KJIT_INVALID,
        "no attribute");
    NONE(kjit_can_access_peer, (NULL, own.ctx, &flag));
    BAD(kjit_can_access_peer, (own.ctx, NULL, &flag), KJIT_INVALID, "other is NULL");
    BAD(kjit_can_access_peer, (own.ctx, foreign.ctx, NULL), KJIT_INVALID, "can is NULL");
}

static void deallocation(void **state)
{
    (void)state;
    NONE(kjit_context_memory, (NULL, &memory));
    BAD(kjit_context_memory, (own.ctx, NULL), KJIT_INVALID, "out is NULL");
    NONE(kjit_deallocate_pending, (NULL));
    NONE(kjit_memory_trim, (NULL, 0));
    OK(kjit_memory_trim(own.ctx, UINT64_MAX));
    NONE(kjit_defer_cleanup_begin, (NULL));
    NONE(kjit_defer_cleanup_end, (NULL));
    BAD(kjit_defer_cleanup_end, (own.ctx), KJIT_INVALID, "");
}

static void modules(void **state)
{
    (void)state;
    static const char mistaken[] = "kernel k(x: f32[]) { x[0] = y }";
    kjit_module *broken;
    NONE(kjit_module_compile, (NULL, "t", source, 5, NULL, &no_module));
    BAD(kjit_module_compile, (own.ctx, "t", source, 5, NULL, NULL), KJIT_INVALID, "out is NULL");
    BAD(kjit_module_compile,
        (own.ctx, "t", source, 5, &(kjit_compile_options){.opt_level = 4}, &no_module),
        KJIT_INVALID, "opt_level is 4");
    BAD(kjit_module_compile,
        (own.ctx, "t", source, 5, &(kjit_compile_options){.opt_level = -2}, &no_module),
        KJIT_INVALID, "opt_level is -2");
    BAD(kjit_module_compile, (own.ctx, "t", NULL, 5, NULL, &no_module), KJIT_INVALID,
        "source is NULL");
    assert_int_equal(
        kjit_module_compile(own.ctx, NULL, mistaken, sizeof mistaken - 1, NULL, &broken),
        KJIT_COMPILE);
    BAD(kjit_module_emit, (broken, "tast", NULL, NULL, &no_text, NULL), KJIT_COMPILE, "has errors");
    BAD(kjit_module_assume, (broken, "N", kjit_arg_i64(1)), KJIT_COMPILE, "has errors");
    BAD(kjit_module_kernel_info, (broken, "k", NULL, &kernel), KJIT_COMPILE, "has errors");
    BAD(kjit_launch, (broken, "k", &(kjit_config){.grid = {1}, .block = {1}}, NULL, 0),
        KJIT_COMPILE, "the source has errors (kjit_module_log has them)");
    BAD(kjit_run, (broken, NULL), KJIT_COMPILE, "error");
    BAD(kjit_module_kernel_decl, (broken, "k", &(kjit_kernel_decl){.size = 64}), KJIT_COMPILE,
        "the source has errors (kjit_module_log has them)");
    GIVES(kjit_module_record_name, (broken, 0), == NULL);
    kjit_module_free(broken);
    assert_int_equal(kjit_module_compile(own.ctx, NULL, source, SIZE_MAX, NULL, &broken),
                     KJIT_COMPILE);
    kjit_module_free(broken);
    NONE(kjit_module_load, (NULL, "t", NULL, &no_module));
    BAD(kjit_module_load, (own.ctx, NULL, NULL, &no_module), KJIT_INVALID, "path is NULL");
    BAD(kjit_module_load, (own.ctx, "t", NULL, NULL), KJIT_INVALID, "out is NULL");
    BAD(kjit_module_load, (own.ctx, "/nowhere/t.knl", NULL, &no_module), KJIT_IO, "/nowhere");
    BAD(kjit_module_load, (own.ctx, "/", NULL, &no_module), KJIT_IO, "cannot read '/'");
    HARMLESS(kjit_module_free, (NULL));
    GIVES(*kjit_module_log, (NULL), == 0);
    GIVES(*kjit_module_log_json, (NULL), == 0);
    GIVES(kjit_module_diagnostics, (NULL, NULL, 4), == 0);
    GIVES(kjit_module_diagnostics, (own.mod, NULL, 4), == 0);
    GIVES(kjit_module_fix, (NULL, 0, &(kjit_fix){0}), == 0);
    GIVES(kjit_module_fix, (own.mod, -1, &(kjit_fix){0}), == 0);
    GIVES(kjit_module_fix, (own.mod, 1000, &(kjit_fix){0}), == 0);
    GIVES(kjit_module_fix, (own.mod, 0, NULL), == 0);
    GIVES(kjit_module_kernel, (NULL, 0), == NULL);
    GIVES(kjit_module_kernel, (own.mod, -1), == NULL);
    GIVES(kjit_module_kernel, (own.mod, 1000), == NULL);
    GIVES(kjit_module_has_run, (NULL), == 0);
    kjit_param_info param;
    GIVES(kjit_module_param, (NULL, 0, &param), == 0);
    GIVES(kjit_module_param, (own.mod, 0, NULL), == 0);
    GIVES(kjit_module_param, (own.mod, -1, &param), == 0);
    GIVES(kjit_module_param, (own.mod, 1000, &param), == 0);
    kjit_test_info test;
    GIVES(kjit_module_test, (NULL, 0, &test), == 0);
    GIVES(kjit_module_test, (own.mod, 0, NULL), == 0);
    GIVES(kjit_module_test, (own.mod, -1, &test), == 0);
    GIVES(kjit_module_test, (own.mod, 1000, &test), == 0);
    kjit_const_info constant;
    GIVES(kjit_module_const, (NULL, 0, &constant), == 0);
    GIVES(kjit_module_const, (own.mod, 0, NULL), == 0);
    GIVES(kjit_module_const, (own.mod, -1, &constant), == 0);
    GIVES(kjit_module_const, (own.mod, 1000, &constant), == 0);
    kjit_kernel_decl decl = {.size = sizeof decl}, small_decl = {.size = 3};
    NONE(kjit_module_kernel_decl, (NULL, "k", &decl));
    BAD(kjit_module_kernel_decl, (own.mod, NULL, &decl), KJIT_INVALID, "kernel is NULL");
    BAD(kjit_module_kernel_decl, (own.mod, "scale", NULL), KJIT_INVALID, "out is NULL");
    BAD(kjit_module_kernel_decl, (own.mod, "scale", &small_decl), KJIT_INVALID, "out->size is 3");
    BAD(kjit_module_kernel_decl, (own.mod, "none", &decl), KJIT_NOT_FOUND, "none");
    kjit_kernel_param of = {.size = sizeof of}, small_of = {.size = 0};
    NONE(kjit_module_kernel_param, (NULL, "k", 0, &of));
    BAD(kjit_module_kernel_param, (own.mod, NULL, 0, &of), KJIT_INVALID, "kernel is NULL");
    BAD(kjit_module_kernel_param, (own.mod, "scale", 0, NULL), KJIT_INVALID, "out is NULL");
    BAD(kjit_module_kernel_param, (own.mod, "scale", 0, &small_of), KJIT_INVALID, "out->size is 0");
    BAD(kjit_module_kernel_param, (own.mod, "none", 0, &of), KJIT_NOT_FOUND, "none");
    BAD(kjit_module_kernel_param, (own.mod, "scale", -1, &of), KJIT_NOT_FOUND, "no number -1");
    BAD(kjit_module_kernel_param, (own.mod, "scale", 1000, &of), KJIT_NOT_FOUND, "no number 1000");
    GIVES(kjit_module_record_name, (NULL, 0), == NULL);
    GIVES(kjit_module_record_name, (own.mod, -1), == NULL);
    GIVES(kjit_module_record_name, (own.mod, 1000), == NULL);
}

static void *no_image;
static size_t image_size;

static void forms(void **state)
{
    (void)state;
    static const int64_t negative[3] = {-1, 1, 1}, huge[3] = {INT64_MAX, INT64_MAX, 2};
    NONE(kjit_module_emit, (NULL, "ast", NULL, NULL, &no_text, NULL));
    BAD(kjit_module_emit, (own.mod, NULL, NULL, NULL, &no_text, NULL), KJIT_INVALID,
        "what is NULL");
    BAD(kjit_module_emit, (own.mod, "ast", NULL, NULL, NULL, NULL), KJIT_INVALID, "out is NULL");
    NONE(kjit_module_image, (NULL, NULL, &no_image, &image_size));
    BAD(kjit_module_image, (own.mod, NULL, NULL, &image_size), KJIT_INVALID, "out is NULL");
    BAD(kjit_module_image, (own.mod, NULL, &no_image, NULL), KJIT_INVALID, "size is NULL");
    NONE(kjit_module_from_image, (NULL, "", 0, &no_module));
    BAD(kjit_module_from_image, (own.ctx, NULL, 0, &no_module), KJIT_INVALID, "image is NULL");
    BAD(kjit_module_from_image, (own.ctx, "", 0, NULL), KJIT_INVALID, "out is NULL");
    BAD(kjit_module_from_image, (own.ctx, "", 0, &no_module), KJIT_INVALID, "no image");
    NONE(kjit_module_from_image_owned, (NULL, "", 0, NULL, NULL, &no_module));
    BAD(kjit_module_from_image_owned, (own.ctx, NULL, 0, NULL, free, &no_module), KJIT_INVALID,
        "image is NULL");
    BAD(kjit_module_from_image_owned, (own.ctx, "", 0, NULL, free, NULL), KJIT_INVALID,
        "out is NULL");
    BAD(kjit_module_from_image_owned, (own.ctx, "", 0, NULL, free, &no_module), KJIT_INVALID,
        "no image");
    BAD(kjit_module_emit, (own.mod, "elf", NULL, NULL, &no_text, NULL), KJIT_INVALID, "'elf'");
    BAD(kjit_module_emit, (own.mod, "tast", "skale", NULL, &no_text, NULL), KJIT_NOT_FOUND,
        "scale");
    BAD(kjit_module_emit, (own.mod, "llvm", NULL, negative, &no_text, NULL), KJIT_INVALID, "-1");
    BAD(kjit_module_emit, (own.mod, "llvm", NULL, huge, &no_text, NULL), KJIT_INVALID, "block");
    NONE(kjit_format, (NULL, "t", "", 0, &no_text, NULL));
    BAD(kjit_format, (own.ctx, "t", NULL, 5, &no_text, NULL), KJIT_INVALID, "source is NULL");
    BAD(kjit_format, (own.ctx, "t", "", 0, NULL, NULL), KJIT_INVALID, "out is NULL");
    BAD(kjit_format, (own.ctx, "t", "run {", 5, &no_text, NULL), KJIT_COMPILE, "t:1:");
    BAD(kjit_format, (own.ctx, NULL, "\0", 1, &no_text, NULL), KJIT_COMPILE,
        "<source>:1:1: error: ");
    BAD(kjit_format, (own.ctx, "t", source, SIZE_MAX, &no_text, NULL), KJIT_COMPILE, "64 MiB");
    NONE(kjit_module_assume, (NULL, "N", kjit_arg_i64(1)));
    BAD(kjit_module_assume, (own.mod, NULL, kjit_arg_i64(1)), KJIT_INVALID, "name is NULL");
    BAD(kjit_module_assume, (own.mod, "N", kjit_arg_array(own.fixed)), KJIT_INVALID,
        "a number or a bool");
    BAD(kjit_module_assume, (own.mod, "none", kjit_arg_i64(1)), KJIT_NOT_FOUND,
        "has a const parameter 'none'");
    NONE(kjit_module_kernel_info, (NULL, "scale", NULL, &kernel));
    BAD(kjit_module_kernel_info, (own.mod, NULL, NULL, &kernel), KJIT_INVALID, "kernel is NULL");
    BAD(kjit_module_kernel_info, (own.mod, "scale", NULL, NULL), KJIT_INVALID, "out is NULL");
    if (!on_cpu()) {
        BAD(kjit_module_kernel_info, (own.mod, "skale", NULL, &kernel), KJIT_NOT_FOUND, "scale");
        BAD(kjit_module_kernel_info, (own.mod, "scale", huge, &kernel), KJIT_INVALID, "block");
    }
}

static void consts_and_records(void **state)
{
    (void)state;
    NONE(kjit_module_set_const, (NULL, "table", own.fixed));
    BAD(kjit_module_set_const, (own.mod, NULL, own.fixed), KJIT_INVALID, "name is NULL");
    BAD(kjit_module_set_const, (own.mod, "table", NULL), KJIT_INVALID, "array is NULL");
    BAD(kjit_module_set_const, (own.mod, "tabel", own.fixed), KJIT_NOT_FOUND, "tabel");
    BAD(kjit_module_set_const, (own.mod, "table", own.whole), KJIT_TYPE, "i32");
    BAD(kjit_module_set_const, (own.mod, "table", own.x), KJIT_SHAPE, "(4, 3)");
    BAD(kjit_module_set_const, (own.mod, "table", foreign.fixed), KJIT_INVALID, "context");
    NONE(kjit_module_record, (NULL, "P", &dtype));
    BAD(kjit_module_record, (own.mod, NULL, &dtype), KJIT_INVALID, "name is NULL");
    BAD(kjit_module_record, (own.mod, "P", NULL), KJIT_INVALID, "out is NULL");
    BAD(kjit_module_record, (own.mod, "R", &dtype), KJIT_NOT_FOUND, "R");
    OK(kjit_module_record(own.mod, "P", &dtype));
    NONE(kjit_record_info, (NULL, dtype, &record));
    BAD(kjit_record_info, (own.ctx, dtype, NULL), KJIT_INVALID, "out is NULL");
    BAD(kjit_record_info, (own.ctx, KJIT_F32, &record), KJIT_TYPE, "9 is no record");
    BAD(kjit_record_info, (own.ctx, KJIT_LAST_RECORD, &record), KJIT_TYPE, "");
    BAD(kjit_record_info, (own.ctx, (kjit_dtype)-1, &record), KJIT_TYPE, "");
    NONE(kjit_record_field, (NULL, dtype, 0, &field));
    BAD(kjit_record_field, (own.ctx, dtype, 0, NULL), KJIT_INVALID, "out is NULL");
    BAD(kjit_record_field, (own.ctx, dtype, -1, &field), KJIT_NOT_FOUND, "-1");
    BAD(kjit_record_field, (own.ctx, dtype, 2, &field), KJIT_NOT_FOUND, "2");
    BAD(kjit_record_field, (own.ctx, KJIT_F32X4, 0, &field), KJIT_TYPE, "17 is no record");
}

static void the_cache(void **state)
{
    (void)state;
    NONE(kjit_cache_describe, (NULL, &cache));
    BAD(kjit_cache_describe, (own.ctx, NULL), KJIT_INVALID, "out is NULL");
    NONE(kjit_cache_list, (NULL, NULL, visit, NULL));
    BAD(kjit_cache_list, (own.ctx, NULL, NULL, NULL), KJIT_INVALID, "visit is NULL");
    BAD(kjit_cache_list, (own.ctx, foreign.mod, visit, NULL), KJIT_INVALID, "context");
    NONE(kjit_cache_clear, (NULL, &flag));
}

static void run_blocks(void **state)
{
    (void)state;
    static const char *const words[] = {"n=1", "m=2", "n", "=5", "n=x", "n=99999999999999999999",
                                        NULL};
    static const char *const saves[] = {"y=/nowhere/y.npy", "z=z.npy", "y"};
    kjit_module *silent = module("kernel k() { }");
    NONE(kjit_run, (NULL, NULL));
    BAD(kjit_run, (silent, NULL), KJIT_NOT_FOUND, "run");
    kjit_module_free(silent);
    BAD(kjit_run, (own.mod, &(kjit_run_options){.test = "none"}), KJIT_NOT_FOUND, "no test 'none'");
    BAD(kjit_run, (own.mod, &(kjit_run_options){.nparams = 1}), KJIT_INVALID, "params is NULL");
    BAD(kjit_run, (own.mod, &(kjit_run_options){.nsaves = 1}), KJIT_INVALID, "saves is NULL");
    BAD(kjit_run, (own.mod, &(kjit_run_options){.params = words, .nparams = -1}), KJIT_INVALID,
        "-1");
    BAD(kjit_run, (own.mod, &(kjit_run_options){.saves = saves, .nsaves = -1}), KJIT_INVALID, "-1");
    for (int i = 1; i < 7; i++)
        BAD(kjit_run, (own.mod, &(kjit_run_options){.params = words + i, .nparams = 1}),
            KJIT_INVALID, "");
    for (int i = 1; i < 3; i++)
        BAD(kjit_run, (own.mod, &(kjit_run_options){.saves = saves + i, .nsaves = 1}), KJIT_INVALID,
            "");
    BAD(kjit_run, (own.mod, &(kjit_run_options){.saves = saves, .nsaves = 1}), KJIT_IO, "/nowhere");
}

static void child(void)
{
    FORKED(kjit_context_device, (own.ctx, &device));
    FORKED(kjit_device_attribute, (own.ctx, KJIT_ATTRIBUTE_WARP_SIZE, &number));
    FORKED(kjit_can_access_peer, (own.ctx, foreign.ctx, &flag));
    FORKED(kjit_synchronize, (own.ctx));
    FORKED(kjit_capsule_begin, (own.ctx, "/tmp/x.kjc"));
    FORKED(kjit_capsule_end, (own.ctx, NULL));
    FORKED(kjit_replay, (own.ctx, "/tmp/x.kjc", 0));
    FORKED(kjit_cancel, (own.ctx));
    FORKED(kjit_set_deadline, (own.ctx, 0));
    FORKED(kjit_context_memory, (own.ctx, &memory));
    FORKED(kjit_deallocate_pending, (own.ctx));
    FORKED(kjit_memory_trim, (own.ctx, 0));
    FORKED(kjit_defer_cleanup_begin, (own.ctx));
    FORKED(kjit_defer_cleanup_end, (own.ctx));
    FORKED(kjit_module_compile, (own.ctx, "t", source, 5, NULL, &no_module));
    FORKED(kjit_module_load, (own.ctx, "t", NULL, &no_module));
    FORKED(kjit_module_set_const, (own.mod, "table", own.fixed));
    FORKED(kjit_module_image, (own.mod, NULL, &no_image, &image_size));
    FORKED(kjit_module_from_image, (own.ctx, "", 0, &no_module));
    FORKED(kjit_module_from_image_owned, (own.ctx, "", 0, NULL, free, &no_module));
    FORKED(kjit_module_emit, (own.mod, "ast", NULL, NULL, &no_text, NULL));
    FORKED(kjit_format, (own.ctx, "t", source, 5, &no_text, NULL));
    FORKED(kjit_module_assume, (own.mod, "N", kjit_arg_i64(1)));
    FORKED(kjit_module_kernel_info, (own.mod, "scale", NULL, &kernel));
    FORKED(kjit_module_kernel_decl, (own.mod, "scale", &(kjit_kernel_decl){.size = 64}));
    FORKED(kjit_module_kernel_param, (own.mod, "scale", 0, &(kjit_kernel_param){.size = 64}));
    FORKED(kjit_module_record, (own.mod, "P", &dtype));
    FORKED(kjit_record_info, (own.ctx, KJIT_FIRST_RECORD, &record));
    FORKED(kjit_record_field, (own.ctx, KJIT_FIRST_RECORD, 0, &field));
    FORKED(kjit_cache_describe, (own.ctx, &cache));
    FORKED(kjit_cache_list, (own.ctx, NULL, visit, NULL));
    FORKED(kjit_cache_clear, (own.ctx, &flag));
    FORKED(kjit_run, (own.mod, NULL));
    kjit_set_print(own.ctx, NULL, NULL);
    kjit_module_free(own.mod);
    kjit_context_destroy(own.ctx);
}

static void forked(void **state)
{
    (void)state;
    in_child(child);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SWEEP(statuses_and_types), SWEEP(contexts),   SWEEP(allocators), SWEEP(devices),
        SWEEP(deallocation),       SWEEP(modules),    SWEEP(forms),      SWEEP(consts_and_records),
        SWEEP(the_cache),          SWEEP(run_blocks), SWEEP(forked),
    };
    return cmocka_run_group_tests(tests, make_both, drop_both);
}
