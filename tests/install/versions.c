/* A program that gives and takes every struct of kjit.h, built against this header or one whose structs have more members
 * (KJIT_GROWN) or fewer (KJIT_CUT; abi.py), with a library of either. It says what the library is: versions knows|lacks. */
#include <kjit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static kjit_context *ctx;
static int failed, checked;
static kjit_status asked; /* what the library answers who asks for what only the grown header has */

static void check(int holds, const char *what, int line)
{
    checked++;
    if (holds)
        return;
    failed++;
    printf("%d: %s: %s\n", line, what, kjit_last_error(ctx));
}

#define CHECK(what) check(what, #what, __LINE__)
#define OK(call) CHECK((call) == KJIT_OK)

#ifdef KJIT_GROWN
#define ASK(s) memset(&(s).grown, 1, sizeof(s).grown)
#define UNASK(s) memset(&(s).grown, 0, sizeof(s).grown)
#define IS_GROWN_ZERO(s) ((s).grown == 0)
#else
#define ASK(s) ((void)(s))
#define UNASK(s) ((void)(s))
#define IS_GROWN_ZERO(s) 1
#endif

/* The call takes the struct, and where it asks for more: that is known, or refused. */
#define TAKES(s, call) \
    do { \
        OK(call); \
        ASK(s); \
        CHECK((call) == asked); \
        CHECK(asked == KJIT_OK || strstr(kjit_last_error(NULL), "zero") || \
              strstr(kjit_last_error(ctx), "zero")); \
        UNASK(s); \
    } while (0)

/* The call gives the struct, `out`, which was anything before, and nothing behind it; then `holds`. */
#define GIVES_SIZED(type, set_size, call, holds) \
    do { \
        struct { \
            type s; \
            unsigned char behind[256]; \
        } place; \
        type *out = &place.s; \
        int whole = 1; \
        memset(&place, 0xa5, sizeof place); \
        set_size; \
        int gave = (call); \
        CHECK(gave); \
        for (int k = 0; k < 256; k++) \
            whole = whole && place.behind[k] == 0xa5; \
        CHECK(whole); \
        CHECK(!gave || (holds)); \
        CHECK(!gave || IS_GROWN_ZERO(*out)); \
    } while (0)
#define GIVES(type, call, holds) GIVES_SIZED(type, (void)0, call, holds)
#define NO_SIZE(type, call) \
    do { \
        type none = {.size = 0}, *out = &none; \
        CHECK(!(call)); \
        none.size = (size_t)-1 / 2; \
        CHECK(!(call)); \
    } while (0)

static const char source[] = "const HALF = 0.5\n"
                             "const table: f32[2]\n"
                             "record P { x: f32; n: i32 }\n"
                             "kernel scale<T: number>(x: T[], by: T) { let i = grid(1)\n if i "
                             "< x.size { x[i] = x[i] * by } }\n"
                             "kernel far(x: f32[]) { x[5] = 1.0 }\n"
                             "kernel says() { print(7) }\n"
                             "run { param n = 3\n print(n) }\n"
                             "test \"one\" { assert(1 == 1) }\n";
static const char user[] = "use \"lib.knl\"\nkernel own(x: f32[]) { lib.fill(x) }\n";
static const char lib[] = "fn fill(x: f32[]) { x[0] = 1.0 }\n";

static kjit_module *compile(const char *text, const kjit_compile_options *options)
{
    kjit_module *mod = NULL;
    OK(kjit_module_compile(ctx, "m.knl", text, strlen(text), options, &mod));
    return mod;
}

/* ---- What the program gives ---- */

/* The call, whose handle is freed at once. */
#define MADE(free_it, make) (made = NULL, came = (make), free_it(made), came)

static void contexts(void)
{
    kjit_context *made;
    kjit_status came;
    kjit_limits limits = {.version = KJIT_LIMITS_VERSION, .array_bytes = 1 << 20};
    kjit_allocator allocator = {.version = KJIT_ALLOCATOR_VERSION};
    kjit_context_options o = {
        .device = "cpu", .workers = 1, .cache = "off", .limits = &limits, .allocator = &allocator};
    TAKES(o, MADE(kjit_context_destroy, kjit_context_create(&o, &made, NULL, 0)));
    TAKES(limits, MADE(kjit_context_destroy, kjit_context_create(&o, &made, NULL, 0)));
    TAKES(allocator, MADE(kjit_context_destroy, kjit_context_create(&o, &made, NULL, 0)));
}

static kjit_source found;

static kjit_status find(void *data, const char *path, const char *from, kjit_source *out)
{
    (void)from;
    (void)data;
    CHECK(strcmp(path, "lib.knl") == 0);
    out->name = "lib.knl";
    out->text = lib;
    out->size = sizeof lib - 1;
#ifdef KJIT_GROWN
    CHECK(out->grown == 0);
    out->grown = found.grown;
#endif
    return KJIT_OK;
}

static void modules(void)
{
    kjit_module *made;
    kjit_status came;
    kjit_compile_options o = {.find = find};
    kjit_source two[2] = {{.name = "no.knl", .text = ""},
                          {.name = "lib.knl", .text = lib, .size = sizeof lib - 1}};
#define COMPILE \
    MADE(kjit_module_free, kjit_module_compile(ctx, "u.knl", user, sizeof user - 1, &o, &made))
    TAKES(o, COMPILE);
    OK(COMPILE);
    ASK(found);
    CHECK((COMPILE == KJIT_OK) == (asked == KJIT_OK)); /* else an error of the source */
    UNASK(found);
    o = (kjit_compile_options){.sources = two, .nsources = 2};
    TAKES(two[1], COMPILE);
}

static void arrays(void)
{
    kjit_array *made, *x = NULL;
    kjit_status came;
    const int64_t shape[] = {3};
    float data[3] = {1, 2, 3};
    kjit_array_options o = {.memory = KJIT_HOST};
    kjit_load_options load = {.as_dtype = 1, .dtype = KJIT_F64};
    kjit_save_options save = {.low = 0};
    OK(kjit_array_wrap(ctx, data, KJIT_F32, 1, shape, NULL, KJIT_HOST, &x));
    kjit_named_array named[2] = {{.name = "a", .array = x}, {.name = "b", .array = x}};
    TAKES(o, MADE(kjit_array_free, kjit_array_create_with(ctx, KJIT_F32, 1, shape, &o, &made)));
    TAKES(o, MADE(kjit_array_free, kjit_array_like(x, &o, &made)));
    o.memory = KJIT_PINNED;
    TAKES(o, MADE(kjit_array_free, kjit_array_register(x, &o, &made)));
    TAKES(save, kjit_arrays_save(ctx, "versions.csv", named, 2, &save));
    TAKES(named[1], kjit_arrays_save(ctx, "versions.csv", named, 2, NULL));
    TAKES(load, MADE(kjit_array_free, kjit_array_load_with(ctx, "versions.csv", &load, &made)));
    remove("versions.csv");
    kjit_array_free(x);
}

static void launches(kjit_module *mod)
{
    kjit_array *x = NULL;
    kjit_launch_plan *made;
    kjit_status came;
    float data[3] = {1, 2, 3};
    kjit_config config = {.grid = {1}, .block = {32}};
    OK(kjit_array_wrap(ctx, data, KJIT_F32, 1, (int64_t[]){3}, NULL, KJIT_HOST, &x));
    kjit_arg args[] = {kjit_arg_array(x), kjit_arg_f64(2)};
    TAKES(config, kjit_launch(mod, "scale", &config, args, 2));
    CHECK(data[2] == (asked == KJIT_OK ? 12 : 6) || asked != KJIT_OK);
    TAKES(config, MADE(kjit_launch_plan_free,
                       kjit_launch_plan_create(mod, "scale", &config, args, 2, &made)));
    OK(kjit_launch_forall(mod, "scale", 3, NULL, args, 2));
    /* a CPU has nothing to tell there */
    GIVES(kjit_kernel_info, kjit_launch_info(mod, "scale", &config, args, 2, out) == KJIT_NO_DEVICE,
          out->registers == 0);
    kjit_array_free(x);
}

static void images(kjit_module *mod)
{
    void *image = NULL;
    size_t size;
    kjit_status came;
    kjit_image_options o = {.size = sizeof o, .cpus = ""};
    kjit_module *plain = compile("kernel f(x: f32[]) { x[0] = 1.0 }\n", NULL);
    (void)mod;
#define IMAGE (image = NULL, came = kjit_module_image(plain, &o, &image, &size), free(image), came)
    o.cpus = NULL;
    TAKES(o, IMAGE);
    for (size_t wrong = 0; wrong < sizeof wrong; wrong++) {
        o.size = wrong;
        CHECK(IMAGE == KJIT_INVALID);
    }
    o.size = (size_t)-1;
    CHECK(IMAGE == KJIT_INVALID);
    kjit_module_free(plain);
}

static size_t written;
static void write(void *data, const char *text, size_t size)
{
    (void)data;
    (void)text;
    written += size;
}

static void runs(kjit_module *mod)
{
    const char *params[] = {"n=41"};
    kjit_run_options o = {.params = params, .nparams = 1, .write = write};
    TAKES(o, kjit_run(mod, &o));
    CHECK(written > 0);
}

/* ---- What the library gives ---- */

static void one_diagnostic(void *data, const kjit_diagnostic *d)
{
    ++*(int *)data;
    CHECK(strcmp(d->code, "undeclared") == 0 && d->line == 2 && IS_GROWN_ZERO(*d));
}

static void described(kjit_module *mod)
{
    kjit_dtype p;
    int told = 0;
    kjit_compile_options o = {.diagnose = one_diagnostic, .user = &told};
    const char *wrong = "kernel f(x: f32[], n: i32) {\n x[0] = absent\n}\n";
    kjit_module *bad = NULL;
    CHECK(kjit_module_compile(ctx, "w.knl", wrong, strlen(wrong), &o, &bad) == KJIT_COMPILE &&
          told > 0);
    kjit_diagnostic all[4];
    memset(all, 0xa5, sizeof all);
    CHECK(kjit_module_diagnostics(bad, all, 4) >= 1 && all[0].line == 2 && IS_GROWN_ZERO(all[0]));
    GIVES(kjit_diagnostic, kjit_module_diagnostics(bad, out, 1) >= 1, out->line == 2);
    kjit_module_free(bad);
    wrong = "kernel f(x: f32[])\n{ x[0] = 1.0 }\n";
    CHECK(kjit_module_compile(ctx, "w.knl", wrong, strlen(wrong), NULL, &bad) == KJIT_COMPILE);
    GIVES(kjit_fix, kjit_module_fix(bad, 0, out), out->text && out->line == 1);
    kjit_module_free(bad);
    GIVES(kjit_check_info, kjit_check(0, out), strcmp(out->name, "bounds") == 0);
    GIVES(kjit_builtin_info, kjit_builtin(0, out), out->name && out->doc);
    GIVES(kjit_word_info, kjit_word(0, out), out->form && out->text_size > 0);
    GIVES(kjit_param_info, kjit_module_param(mod, 0, out), strcmp(out->name, "n") == 0);
    GIVES(kjit_test_info, kjit_module_test(mod, 0, out), strcmp(out->title, "one") == 0);
    GIVES(kjit_const_info, kjit_module_const(mod, 1, out), strcmp(out->name, "table") == 0);
    GIVES_SIZED(kjit_kernel_decl, out->size = sizeof *out,
                kjit_module_kernel_decl(mod, "scale", out) == KJIT_OK, out->nparams == 2);
    GIVES_SIZED(kjit_kernel_param, out->size = sizeof *out,
                kjit_module_kernel_param(mod, "scale", 1, out) == KJIT_OK,
                strcmp(out->name, "by") == 0);
    NO_SIZE(kjit_kernel_decl, kjit_module_kernel_decl(mod, "scale", out) == KJIT_OK);
    NO_SIZE(kjit_kernel_param, kjit_module_kernel_param(mod, "scale", 1, out) == KJIT_OK);
    OK(kjit_module_record(mod, "P", &p));
    GIVES(kjit_record, kjit_record_info(ctx, p, out) == KJIT_OK,
          out->size == 8 && out->nfields == 2);
    GIVES(kjit_field, kjit_record_field(ctx, p, 1, out) == KJIT_OK, out->offset == 4);
}

static void devices(void)
{
    kjit_device_info all[4];
    memset(all, 0xa5, sizeof all);
    int n = kjit_devices(all, 4);
    CHECK(n >= 1);
    for (int i = 0; i < n && i < 4; i++)
        CHECK(all[i].ordinal >= 0 && all[i].memory > 0 && strlen(all[i].kind) < 16 &&
              IS_GROWN_ZERO(all[i]));
    GIVES(kjit_device_info, kjit_context_device(ctx, out) == KJIT_OK,
          strcmp(out->kind, "cpu") == 0);
    GIVES(kjit_memory_info, kjit_context_memory(ctx, out) == KJIT_OK, out->total > 0);
    GIVES(kjit_cache_info, kjit_cache_describe(ctx, out) == KJIT_OK, out->limit > 0);
}

static void faults(kjit_module *mod)
{
    kjit_array *x = NULL;
    float data[3];
    OK(kjit_array_wrap(ctx, data, KJIT_F32, 1, (int64_t[]){3}, NULL, KJIT_HOST, &x));
    kjit_arg arg = kjit_arg_array(x);
    CHECK(kjit_launch(mod, "far", &(kjit_config){.grid = {1}, .block = {1}}, &arg, 1) ==
          KJIT_FAULT);
    GIVES_SIZED(kjit_fault, out->size = sizeof *out, kjit_last_fault(ctx, out),
                out->kind == KJIT_FAULT_BOUNDS && out->index == 5 && out->extent == 3);
    NO_SIZE(kjit_fault, kjit_last_fault(ctx, out));
    kjit_array_free(x);
}

static void print(void *data, const char *text, size_t size)
{
    *(int *)data += size == 2 && text[0] == '7';
}

static void trace(void *data, const kjit_trace_event *event)
{
    ++*(int *)data;
    CHECK(event->kind <= KJIT_TRACE_GRAPH && event->duration_us >= 0 && IS_GROWN_ZERO(*event));
}

static void entry(void *data, const kjit_cache_entry *e)
{
    ++*(int *)data;
    CHECK(e->kernel && e->size > 0 && IS_GROWN_ZERO(*e));
}

static void reached(kjit_stream *s, kjit_status status, void *data)
{
    (void)s;
    *(int *)data += status == KJIT_OK;
}

static void callbacks(kjit_module *mod)
{
    int printed = 0, traced = 0, entries = 0, called = 0;
    kjit_stream *stream = NULL;
    kjit_set_print(ctx, print, &printed);
    kjit_set_trace(ctx, trace, &traced);
    OK(kjit_stream_create(ctx, &stream));
    OK(kjit_launch(mod, "says", &(kjit_config){.grid = {1}, .block = {1}, .stream = stream}, NULL,
                   0));
    OK(kjit_stream_callback(stream, reached, &called));
    OK(kjit_stream_synchronize(stream));
    kjit_set_trace(ctx, NULL, NULL);
    kjit_set_print(ctx, NULL, NULL);
    OK(kjit_cache_list(ctx, NULL, entry, &entries));
    CHECK(printed == 1 && traced > 0 && called == 1 && entries > 0);
    kjit_stream_free(stream);
}

static void ipc(void)
{
    kjit_array *x = NULL;
    kjit_ipc_handle handle;
    OK(kjit_array_create_with(ctx, KJIT_F32, 1, (int64_t[]){3},
                              &(kjit_array_options){.memory = KJIT_DEVICE, .shareable = 1}, &x));
    OK(kjit_array_ipc_handle(x, &handle));
    kjit_array_free(x);
}

int main(int argc, char **argv)
{
    char error[200] = "";
    setbuf(stdout, NULL);
    asked = argc > 1 && strcmp(argv[1], "knows") == 0 ? KJIT_OK : KJIT_INVALID;
#ifndef KJIT_GROWN
    asked = KJIT_OK; /* it asks for nothing new */
#endif
    kjit_context_options o = {.device = "cpu", .workers = 2, .cache = argc > 2 ? argv[2] : "off"};
    if (kjit_context_create(&o, &ctx, error, sizeof error) != KJIT_OK) {
        printf("%s\n", error);
        return 1;
    }
    kjit_module *mod = compile(source, NULL);
    contexts();
    modules();
    arrays();
    launches(mod);
    images(mod);
    runs(mod);
    described(mod);
    devices();
    faults(mod);
    callbacks(mod);
    ipc();
    kjit_module_free(mod);
    kjit_context_destroy(ctx);
    printf("%d checks, %d failed\n", checked, failed);
    return failed != 0;
}
