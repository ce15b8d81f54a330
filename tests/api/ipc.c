/* Arrays of other processes: a child shows its memory, this process opens it, and both see what the
 * other writes. Handles that were tampered with are errors. */
#include "api.h"
#include "driver.h"
#include <dirent.h>
#include <sys/wait.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

enum { ROWS = 5, COLUMNS = 7, COUNT = ROWS * COLUMNS };

static const char source[] = "kernel add(x: f32[,], a: f32) {\n"
                             "    let i = grid(1)\n"
                             "    if i < x.shape[0] {\n"
                             "        for j in range(x.shape[1]) { x[i, j] += a }\n"
                             "    }\n"
                             "}\n";

static kjit_ipc_handle handles[3];
static int to_child, from_child;
static pid_t child;

/* One step of the child's, and that it is done. */
static void let_child_go_on(void)
{
    char byte = 0;
    assert_int_equal(write(to_child, &byte, 1), 1);
    assert_int_equal(read(from_child, &byte, 1), 1);
}

static void wait_for_parent(int from)
{
    char byte;
    if (read(from, &byte, 1) != 1)
        _exit(3);
}

static kjit_array *make_shareable(int ndim, const int64_t *shape)
{
    kjit_array *a;
    const kjit_array_options options = {.memory = KJIT_DEVICE, .shareable = 1};
    OK(kjit_array_create_with(ctx, KJIT_F32, ndim, shape, &options, &a));
    return a;
}

static void add_to(kjit_array *a, double value)
{
    kjit_module *mod = module(source);
    OK(kjit_launch(mod, "add", &(kjit_config){.grid = {1}, .block = {64}},
                   (kjit_arg[]){kjit_arg_array(a), kjit_arg_f64(value)}, 2));
    kjit_module_free(mod);
}

static void fill(kjit_array *a, float first)
{
    float values[COUNT];
    for (int i = 0; i < COUNT; i++)
        values[i] = first + (float)i;
    kjit_array *host = wrap(values, KJIT_F32, 2, SHAPE(ROWS, COLUMNS));
    OK(kjit_copy(a, host, NULL));
    kjit_array_free(host);
}

static bool has(kjit_array *a, float first)
{
    kjit_array *host;
    bool same = true;
    OK(kjit_to_host(a, NULL, &host));
    for (int i = 0; i < COUNT; i++)
        same = same && ((float *)kjit_array_data(host))[i] == first + (float)i;
    kjit_array_free(host);
    return same;
}

/* Shows a matrix, its transpose's last rows, and one that it frees; then looks at what was done to
 * the first. */
static void show(int to, int from)
{
    kjit_ipc_handle made[3];
    kjit_array *turned, *part, *gone;
    void *none = NULL;
    if (make_context(&none) != 0)
        _exit(1);
    kjit_array *a = make_shareable(2, SHAPE(ROWS, COLUMNS));
    fill(a, 100);
    OK(kjit_array_ipc_handle(a, &made[0]));
    OK(kjit_array_transpose(a, NULL, &turned));
    OK(kjit_array_slice(turned, SHAPE(6, 4), SHAPE(1, -1), SHAPE(-2, -1), &part));
    OK(kjit_array_ipc_handle(part, &made[1]));
    gone = make_shareable(1, SHAPE(1 << 20));
    OK(kjit_array_ipc_handle(gone, &made[2]));
    kjit_array_free(gone);
    OK(kjit_deallocate_pending(ctx));
    kjit_array_free(part);
    kjit_array_free(turned);
    if (write(to, made, sizeof made) != sizeof made)
        _exit(1);
    wait_for_parent(from);
    bool added = has(a, 101);
    add_to(a, 10);
    if (write(to, &(char){0}, 1) != 1)
        _exit(1);
    wait_for_parent(from);
    kjit_array_free(a);
    kjit_context_destroy(ctx);
    if (write(to, &(char){0}, 1) != 1)
        _exit(1);
    exit(added ? 0 : 2);
}

static int start(void **state)
{
    int down[2], up[2];
    if (pipe(down) != 0 || pipe(up) != 0)
        return 1;
    child = fork(); /* before this process has a context */
    if (child == 0)
        show(up[1], down[0]);
    to_child = down[1];
    from_child = up[0];
    return read(from_child, handles, sizeof handles) != sizeof handles || make_context(state);
}

static int finish(void **state)
{
    int status;
    return waitpid(child, &status, 0) != child || status != 0 || drop_context(state);
}

static void both_see_it(void **state)
{
    (void)state;
    kjit_array *a, *again, *part, *host;
    OK(kjit_ipc_open(ctx, &handles[0], &a));
    OK(kjit_ipc_open(ctx, &handles[0], &again));
    OK(kjit_ipc_open(ctx, &handles[1], &part));
    assert_int_equal(kjit_array_memory(a), KJIT_DEVICE);
    assert_int_equal(kjit_array_dtype(a), KJIT_F32);
    assert_int_equal(kjit_array_ndim(a), 2);
    assert_int_equal(kjit_array_shape(a)[1], COLUMNS);
    assert_true(has(a, 100));
    assert_int_equal(kjit_array_shape(part)[0], 3);
    assert_int_equal(kjit_array_shape(part)[1], ROWS);
    OK(kjit_to_host(part, NULL, &host));
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < ROWS; j++)
            assert_true(((float *)kjit_array_data(host))[i * ROWS + j] ==
                        (float)(100 + (ROWS - 1 - j) * COLUMNS + 6 - 2 * i));
    }
    kjit_array_free(host);
    kjit_array_free(part);
    kjit_array_free(again);
    add_to(a, 1);
    let_child_go_on();
    assert_true(has(a, 111));
    kjit_array_free(a);
    OK(kjit_deallocate_pending(ctx));
}

static int descriptors(void)
{
    DIR *list = opendir("/proc/self/fd");
    int n = 0;
    assert_non_null(list);
    while (readdir(list))
        n++;
    closedir(list);
    return n;
}

/* What is made, shown and opened is given back whole. */
static void flat(void **state)
{
    (void)state;
    int before = descriptors();
    for (int i = 0; i < 200; i++) {
        kjit_ipc_handle made;
        kjit_array *own = make_shareable(2, SHAPE(ROWS, COLUMNS)), *other;
        OK(kjit_array_ipc_handle(own, &made));
        OK(kjit_ipc_open(ctx, &handles[0], &other));
        OK(kjit_copy(own, other, NULL));
        kjit_array_free(own);
        kjit_array_free(other);
    }
    OK(kjit_deallocate_pending(ctx));
    assert_int_equal(descriptors(), before);
}

static void what_is_gone(void **state)
{
    (void)state;
    kjit_array *a = (kjit_array *)&a;
    FAILS(kjit_ipc_open(ctx, &handles[2], &a), KJIT_INVALID, "");
    assert_null(a);
}

/* Each byte is changed, alone: most are no handle, none is a crash. */
static void tampered(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof handles[0].bytes; i++) {
        for (int bit = 0; bit < 8; bit += 7) {
            kjit_ipc_handle changed = handles[0];
            kjit_array *a;
            changed.bytes[i] ^= (unsigned char)(1 << bit);
            kjit_status status = kjit_ipc_open(ctx, &changed, &a);
            if (status == KJIT_OK) /* what stands behind the content */
                kjit_array_free(a);
            else
                assert_true(status == KJIT_FORMAT && kjit_last_error(ctx)[0]);
        }
    }
}

/* The same with a sum that fits, as somebody would write who means harm: an error, or an array
 * whose elements are all there. */
static void forged(void **state)
{
    (void)state;
    enum { DRIVERS = 144, SUM = 208 }; /* where the driver's part begins, and the sum */
    int opened = 0, end = SUM;
    driver_of_context();
    if (!on_cpu() && !driver_is_double()) {
        print_message("[  REASON  ] bits of the driver's part of a handle: it believes them\n");
        end = DRIVERS;
    }
    for (int bit = 0; bit < 8 * end; bit++) {
        kjit_ipc_handle changed = handles[0];
        kjit_array *a, *host;
        changed.bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        XXH64_hash_t sum = XXH3_64bits(changed.bytes, SUM);
        memcpy(changed.bytes + SUM, &sum, sizeof sum);
        kjit_status status = kjit_ipc_open(ctx, &changed, &a);
        if (status != KJIT_OK) {
            assert_true(status == KJIT_FORMAT || status == KJIT_INVALID ||
                        status == KJIT_NO_MEMORY);
            assert_true(kjit_last_error(ctx)[0]);
            continue;
        }
        OK(kjit_to_host(a, NULL, &host));
        kjit_array_free(host);
        kjit_array_free(a);
        opened++;
    }
    OK(kjit_deallocate_pending(ctx));
    assert_true(opened > 0 && opened < 8 * end);
}

static void mistakes(void **state)
{
    (void)state;
    kjit_ipc_handle made, zero = {{0}};
    kjit_array *a, *opened, *plain, *empty, *records;
    kjit_dtype p;
    a = make_shareable(2, SHAPE(3, 4));
    empty = make_shareable(1, SHAPE(0));
    OK(kjit_array_create(ctx, KJIT_F32, 1, SHAPE(4), 'C', KJIT_DEVICE, &plain));
    kjit_module *mod = module("record P { i: i32 }");
    OK(kjit_module_record(mod, "P", &p));
    const kjit_array_options options = {.memory = KJIT_DEVICE, .shareable = 1};
    OK(kjit_array_create_with(ctx, p, 1, SHAPE(4), &options, &records));
    FAILS(kjit_array_ipc_handle(a, NULL), KJIT_INVALID, "out is NULL");
    FAILS(kjit_array_ipc_handle(plain, &made), KJIT_INVALID, "not made to be shared");
    FAILS(kjit_array_ipc_handle(empty, &made), KJIT_INVALID, "without elements");
    FAILS(kjit_array_ipc_handle(records, &made), KJIT_TYPE, "'P'");
    OK(kjit_array_ipc_handle(a, &made));
    FAILS(kjit_ipc_open(ctx, &made, &opened), KJIT_INVALID, "of this very process");
    FAILS(kjit_ipc_open(ctx, &zero, &opened), KJIT_FORMAT, "no handle");
    assert_null(opened);
    if (!on_cpu()) {
        kjit_context *gpu = ctx, *cpu;
        OK(kjit_context_create(&(kjit_context_options){.device = "cpu"}, &cpu, NULL, 0));
        ctx = cpu;
        FAILS(kjit_ipc_open(ctx, &handles[0], &opened), KJIT_INVALID, "'cuda' array");
        ctx = gpu;
        kjit_context_destroy(cpu);
    }
    kjit_array_free(a);
    kjit_array_free(empty);
    kjit_array_free(plain);
    kjit_array_free(records);
    kjit_module_free(mod);
}

/* The other process ends; its memory is no more to be opened. */
static void at_the_end(void **state)
{
    (void)state;
    kjit_array *a;
    let_child_go_on();
    FAILS(kjit_ipc_open(ctx, &handles[0], &a), KJIT_INVALID, "");
    assert_null(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tampered),    cmocka_unit_test(forged),       cmocka_unit_test(flat),
        cmocka_unit_test(both_see_it), cmocka_unit_test(what_is_gone), cmocka_unit_test(mistakes),
        cmocka_unit_test(at_the_end),
    };
    return cmocka_run_group_tests(tests, start, finish);
}
