/* Nothing is left behind: 100,000 times an array is made, launched on and freed, and every so often
 * a stream, an event, a plan, a graph and a module; memory and descriptors stay what they were. The
 * hundred handles of each kind that are kept are made first. On a GPU it is 20,000 times, unless
 * KJIT_TEST_ALL is set, and the driver's own memory is in it: the double's, which remembers every
 * allocation there was, is allowed for. */
#include "api.h"

#include <dirent.h>
#include <malloc.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { CYCLES = 2000, ON_GPU = 2000, HEAP_IS_SEEN = 0 };
#else
enum { CYCLES = 100000, ON_GPU = 20000, HEAP_IS_SEEN = 1 };
#endif

enum { N = 64, SOME = 100, SELDOM = 2500, KEPT = 120 };
enum { DRIVER_NOTES = 320, HEAP_ROOM = 64 << 10, PAGES_ROOM = 8 << 20 }; /* bytes */

static const char source[] =
    "kernel add(x: i32[], n: i32) { let i = grid(1); if i < x.size { x[i] += n } }\n";

static kjit_module *mod;
static kjit_stream *stream;

static int descriptors(void)
{
    DIR *dir = opendir("/proc/self/fd");
    int n = 0;
    assert_non_null(dir);
    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

static size_t heap(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

/* Pages that the process has, without those of files. */
static size_t pages(void)
{
    long total, resident, shared;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%ld %ld %ld", &total, &resident, &shared), 3);
    fclose(file);
    return (size_t)(resident - shared) * (size_t)sysconf(_SC_PAGESIZE);
}

static void launch(kjit_array *a, kjit_stream *s)
{
    kjit_arg args[] = {kjit_arg_array(a), kjit_arg_i64(1)};
    OK(kjit_launch(mod, "add", &(kjit_config){.grid = {1}, .block = {N}, .stream = s}, args, 2));
}

static void array_cycle(int i)
{
    kjit_array *a, *view;
    OK(kjit_array_create(ctx, KJIT_I32, 1, SHAPE(N), 'C', KJIT_DEVICE, &a));
    OK(kjit_array_slice(a, NULL, NULL, NULL, &view));
    launch(view, i % 3 ? stream : NULL);
    kjit_array_free(a);
    kjit_array_free(view);
}

static void handles_cycle(void)
{
    kjit_stream *s;
    kjit_array *a, *b;
    kjit_launch_plan *plan;
    kjit_graph *graph;
    kjit_arg args[2];
    OK(kjit_stream_create(ctx, &s));
    OK(kjit_array_create(ctx, KJIT_I32, 1, SHAPE(N), 'C', KJIT_DEVICE, &a));
    args[0] = kjit_arg_array(a);
    args[1] = kjit_arg_i64(1);
    OK(kjit_launch_plan_create(mod, "add", &(kjit_config){.grid = {1}, .block = {N}}, args, 2,
                               &plan));
    OK(kjit_launch_plan_run(plan, s));
    OK(kjit_launch_plan_set(plan, 1, kjit_arg_i64(2)));
    OK(kjit_graph_begin(s));
    OK(kjit_launch_plan_run(plan, s));
    launch(a, s);
    OK(kjit_graph_end(s, &graph));
    kjit_launch_plan_free(plan);
    OK(kjit_graph_launch(graph, s));
    OK(kjit_to_host(a, s, &b));
    kjit_array_free(a);
    kjit_graph_free(graph);
    assert_int_equal(kjit_launch(mod, "none", NULL, NULL, 0), KJIT_NOT_FOUND);
    OK(kjit_stream_synchronize(s));
    kjit_array_free(b);
    kjit_stream_free(s);
}

static void module_cycle(void)
{
    kjit_module *own = mod;
    kjit_array *a;
    mod = module(source);
    OK(kjit_array_create(ctx, KJIT_I32, 1, SHAPE(N), 'C', KJIT_HOST, &a));
    launch(a, NULL);
    kjit_array_free(a);
    kjit_module_free(mod);
    mod = own;
}

static void test_cycles(void **state)
{
    size_t heap_before = 0, pages_before = 0;
    int files_before = 0, cycles = on_cpu() || getenv("KJIT_TEST_ALL") ? CYCLES : ON_GPU;
    (void)state;
    mod = module(source);
    OK(kjit_stream_create(ctx, &stream));
    for (int i = 0; HEAP_IS_SEEN && i < KEPT; i++) {
        handles_cycle();
        module_cycle();
    }
    for (int i = 0; i < cycles; i++) {
        if (i == cycles / 10) { /* warm */
            OK(kjit_synchronize(ctx));
            heap_before = heap();
            pages_before = pages();
            files_before = descriptors();
        }
        array_cycle(i);
        if (i % SOME == 0)
            handles_cycle();
        if (i % SELDOM == 0)
            module_cycle();
    }
    OK(kjit_synchronize(ctx));
    size_t notes = on_cpu() ? 0 : (size_t)DRIVER_NOTES * (size_t)cycles, heap_now = heap(),
           pages_now = pages();
    printf("heap %zu to %zu, pages %zu to %zu\n", heap_before, heap_now, pages_before, pages_now);
    assert_int_equal(descriptors(), files_before);
    if (HEAP_IS_SEEN) {
        assert_true(heap_now < heap_before + notes + HEAP_ROOM);
        assert_true(pages_now < pages_before + notes + PAGES_ROOM);
    }
    kjit_stream_free(stream);
    kjit_module_free(mod);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cycles)};
    setenv("KJIT_DOUBLE_NOOP", "1", 1);
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
