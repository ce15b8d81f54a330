/* Calls at random, with handles that live, that were freed, long ago too, and NULL: each succeeds or
 * says why not, and in the end nothing is left. A failure's seed is printed. */
#include "api.h"

enum { KEPT = 12, SEEDS = 6, SEEDS_OF_ALL = 12, FORGOTTEN = -12345 };
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { CALLS = 10000 };
#else
enum { CALLS = 30000 };
#endif

static const char source[] =
    "const t: f32[2]\n"
    "kernel scale(x: f32[], f: f32) { let i = grid(1)\n if i < x.size { x[i] *= f } }\n"
    "kernel say(x: f32[]) { if grid(1) == 0 { print(x.size) } }\n"
    "kernel fill(x: f32[]) { if grid(1) == 0 and x.size > 0 { x[0] = t[0] } }\n"
    "run { let a = zeros(4)\n scale[1, 4](a, 2)\n print(a) }\n";

static uint64_t state_of;

static unsigned draw(unsigned n)
{
    state_of = state_of * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state_of >> 33) % n;
}

/* ---- Handles ---- */

/* Those of a kind that live, or did when they were put here, and those that were freed. */
typedef struct handles {
    void *living[KEPT], *dead[KEPT];
    void (*end)(void *handle);
} handles;

#define ENDS(kind, type, function) \
    static void end_##kind(void *handle) \
    { \
        function((type *)handle); \
    }
ENDS(context, kjit_context, kjit_context_destroy)
ENDS(module, kjit_module, kjit_module_free)
ENDS(array, kjit_array, kjit_array_free)
ENDS(smart, kjit_smart, kjit_smart_free)
ENDS(stream, kjit_stream, kjit_stream_free)
ENDS(event, kjit_event, kjit_event_free)
ENDS(plan, kjit_launch_plan, kjit_launch_plan_free)
ENDS(graph, kjit_graph, kjit_graph_free)

static handles contexts = {.end = end_context}, modules = {.end = end_module},
               arrays = {.end = end_array}, smarts = {.end = end_smart},
               streams = {.end = end_stream}, events = {.end = end_event},
               plans = {.end = end_plan}, graphs = {.end = end_graph};

static void *any(const handles *h)
{
    unsigned luck = draw(20);
    return luck == 0 ? NULL : luck < 5 ? h->dead[draw(KEPT)] : h->living[draw(KEPT)];
}

/* Takes a new one, NULL for none, in the place of another. */
static void put(handles *h, void *fresh)
{
    unsigned i = draw(KEPT);
    if (!fresh)
        return;
    h->end(h->living[i]);
    h->dead[draw(KEPT)] = h->living[i];
    h->living[i] = fresh;
}

static void end_all(handles *h)
{
    for (int i = 0; i < KEPT; i++) {
        h->end(h->living[i]);
        h->end(h->dead[i]);
        h->living[i] = h->dead[i] = NULL;
    }
}

/* Frees one, whichever. */
static kjit_status end_one(void)
{
    handles *all[] = {&modules, &arrays, &arrays, &smarts, &streams, &events, &plans, &graphs};
    handles *h = all[draw(8)];
    h->end(any(h));
    return KJIT_OK;
}

/* ---- Calls ---- */

static int64_t extents[2];
static kjit_arg args[2];
static kjit_config config;
static const char *kernel;
static int nargs;

static kjit_arg any_argument(void)
{
    switch (draw(6)) {
    case 0: return kjit_arg_smart(any(&smarts));
    case 1: return kjit_arg_f64(2);
    case 2: return kjit_arg_in(any(&arrays));
    default: return kjit_arg_array(any(&arrays));
    }
}

static void draw_arguments(void)
{
    static const char *const kernels[] = {"scale", "say", "fill", "none"};
    extents[0] = 1 + draw(50);
    extents[1] = 1 + draw(4);
    kernel = kernels[draw(40) ? draw(3) : 3];
    nargs = strcmp(kernel, "scale") == 0 ? 2 : 1;
    args[0] = any_argument();
    args[1] = draw(8) ? kjit_arg_f64(2) : any_argument();
    config = (kjit_config){.grid = {1}, .block = {64}, .stream = draw(2) ? NULL : any(&streams)};
}

static kjit_status make_a_context(void **out)
{
    kjit_context_options options = {.cache = "off", .workers = 1 + (int)draw(2)};
    return draw(12) ? KJIT_OK : kjit_context_create(&options, (kjit_context **)out, NULL, 0);
}

static kjit_status make_module(void **out)
{
    if (draw(6))
        return KJIT_OK;
    return kjit_module_compile(any(&contexts), "t", source, sizeof source - 1, NULL,
                               (kjit_module **)out);
}

static kjit_status wrap_one(kjit_array **out)
{
    float *data = calloc(64, sizeof *data);
    kjit_status status = kjit_array_wrap_owned(any(&contexts), data, KJIT_F32, 1, extents, NULL,
                                               KJIT_HOST, data, free, out);
    if (status != KJIT_OK)
        free(data);
    return status;
}

/* In a stream's order, which has got there on return: all others may use it too. */
static kjit_status make_ordered(kjit_array **out)
{
    kjit_array_options options = {.memory = KJIT_DEVICE, .stream = any(&streams)};
    kjit_status status =
        kjit_array_create_with(any(&contexts), KJIT_F32, 1, extents, &options, out);
    if (status == KJIT_OK && options.stream && kjit_stream_synchronize(options.stream) != KJIT_OK) {
        kjit_array_free(*out);
        *out = NULL;
    }
    return status;
}

static kjit_status make_array(void **out)
{
    kjit_array **a = (kjit_array **)out;
    switch (draw(14)) {
    case 0: return kjit_array_slice(any(&arrays), NULL, NULL, NULL, a);
    case 1: return kjit_array_reshape(any(&arrays), 1, SHAPE(-1), 'C', a);
    case 2: return kjit_array_transpose(any(&arrays), NULL, a);
    case 3: return kjit_array_like(any(&arrays), NULL, a);
    case 4: return kjit_array_register(any(&arrays), NULL, a);
    case 5: return kjit_to_device(any(&arrays), config.stream, a);
    case 6: return kjit_to_host(any(&arrays), config.stream, a);
    case 7: return kjit_smart_host(any(&smarts), a);
    case 8: return kjit_smart_gpu(any(&smarts), a);
    case 9: return make_ordered(a);
    case 10: return wrap_one(a);
    default:
        return kjit_array_create(any(&contexts), KJIT_F32, 1 + (int)draw(2), extents, 'C',
                                 (kjit_memory)draw(5), a);
    }
}

static kjit_status make_smart(void **out)
{
    return kjit_smart_from(any(&arrays), (kjit_smart **)out);
}

static kjit_status make_stream(void **out)
{
    kjit_stream **s = (kjit_stream **)out;
    switch (draw(4)) {
    case 0: return kjit_stream_legacy_default(any(&contexts), s);
    case 1: return kjit_stream_per_thread_default(any(&contexts), s);
    default: return kjit_stream_create(any(&contexts), s);
    }
}

static kjit_status make_event(void **out)
{
    return kjit_event_create(any(&contexts), (int)draw(2), (kjit_event **)out);
}

static kjit_status make_plan(void **out)
{
    return kjit_launch_plan_create(any(&modules), kernel, &config, args, nargs,
                                   (kjit_launch_plan **)out);
}

static kjit_status make_graph(void **out)
{
    return kjit_graph_end(any(&streams), (kjit_graph **)out);
}

static kjit_status make_one(void)
{
    static const struct {
        handles *h;
        kjit_status (*make)(void **out);
    } rows[] = {{&contexts, make_a_context}, {&modules, make_module}, {&arrays, make_array},
                {&arrays, make_array},       {&arrays, make_array},   {&smarts, make_smart},
                {&streams, make_stream},     {&events, make_event},   {&plans, make_plan},
                {&graphs, make_graph}};
    unsigned i = draw(sizeof rows / sizeof *rows);
    void *fresh = NULL;
    kjit_status status = rows[i].make(&fresh);
    if (status != KJIT_OK && fresh && rows[i].h != &modules)
        fail_msg("a call that failed made something");
    put(rows[i].h, fresh);
    return status;
}

static kjit_status use_array(void)
{
    float element = 1;
    char *text;
    kjit_status status;
    switch (draw(5)) {
    case 0: return kjit_copy(any(&arrays), any(&arrays), config.stream);
    case 1: return kjit_array_fill(any(&arrays), &element, config.stream);
    case 2: return kjit_array_get(any(&arrays), SHAPE(0, 0), &element);
    case 3: return kjit_module_set_const(any(&modules), "t", any(&arrays));
    default:
        status = kjit_array_format(any(&arrays), &text);
        free(text);
        return status;
    }
}

static kjit_status launch(void)
{
    int64_t threads;
    switch (draw(8)) {
    case 0:
        return kjit_launch_forall(any(&modules), kernel, extents[0], config.stream, args, nargs);
    case 1: return kjit_forall_block(any(&modules), kernel, args, nargs, &threads);
    case 2: return kjit_launch_plan_set(any(&plans), (int)draw(3), args[draw(2)]);
    case 3: return kjit_launch_plan_run(any(&plans), config.stream);
    case 4: return kjit_graph_launch(any(&graphs), config.stream);
    case 5: return kjit_graph_begin(any(&streams));
    default: return kjit_launch(any(&modules), kernel, &config, args, nargs);
    }
}

static void call_back(kjit_stream *s, kjit_status status, void *user)
{
    (void)s, (void)status, (void)user;
}

static kjit_status wait_for(void)
{
    int done;
    double ms;
    switch (draw(10)) {
    case 0: return kjit_synchronize(any(&contexts));
    case 1: return kjit_deallocate_pending(any(&contexts));
    case 2:
        return draw(4) ? kjit_stream_synchronize(any(&streams))
                       : kjit_stream_failure(any(&streams));
    case 3: return kjit_stream_query(any(&streams), &done);
    case 4: return kjit_stream_callback(any(&streams), call_back, NULL);
    case 5: return kjit_stream_wait(any(&streams), any(&events));
    case 6: return kjit_event_elapsed(any(&events), any(&events), &ms);
    case 7: return kjit_smart_host_changed(any(&smarts));
    case 8: return draw(5) ? KJIT_OK : kjit_run(any(&modules), NULL);
    default: return kjit_event_record(any(&events), config.stream);
    }
}

/* So that no call is taken to say what one before it said. */
static void forget_sentence(void)
{
    kjit_context *none;
    kjit_context_create(&(kjit_context_options){.workers = FORGOTTEN}, &none, NULL, 0);
}

static bool is_silent(void)
{
    const char *said = kjit_last_error(NULL);
    return !*said || strstr(said, "workers is -12345");
}

static void make_calls(uint64_t seed)
{
    static kjit_status (*const calls[])(void) = {end_one, make_one, make_one, use_array,
                                                 launch,  launch,   wait_for};
    handles *all[] = {&graphs, &plans, &events, &streams, &smarts, &arrays, &modules, &contexts};
    state_of = seed;
    for (int i = 0; i < CALLS; i++) {
        draw_arguments();
        forget_sentence();
        if (calls[draw(7)]() != KJIT_OK && is_silent())
            fail_msg("seed %llu: call %d failed without a sentence", (unsigned long long)seed, i);
    }
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        end_all(all[i]);
}

static void test_calls(void **state)
{
    (void)state;
    uint64_t seeds = getenv("KJIT_TEST_ALL") ? SEEDS_OF_ALL : SEEDS;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
        make_calls(seed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_calls)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
