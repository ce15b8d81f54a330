/* Handles that were freed, given to every function that takes one: a status and a sentence, whether
 * what they stood for is gone with its context or something holds it yet. freed_handles.test tells
 * which functions are missing. */
#include "bad_arguments.h"

#include <pthread.h>

static const kjit_config config = {.grid = {1}, .block = {64}};
static const int64_t block[3] = {64, 1, 1}, shape[2] = {4, 3}, index_[2] = {1, 2};

/* What the calls would have filled in. */
static struct {
    kjit_device_info device;
    kjit_memory_info memory;
    kjit_cache_info cache;
    kjit_record record;
    kjit_field field;
    kjit_kernel_info kernel;
    kjit_dtype dtype;
    kjit_ipc_handle shared;
    int flag;
    double ms;
    float element;
    void *image;
    size_t size;
} out;

/* Things that were freed, and what only this program needs. */
typedef struct remains {
    things t;
    kjit_smart *smart;
    kjit_launch_plan *plan;
    kjit_graph *graph;
    kjit_arg args[2];
} remains;

static remains gone; /* with their context */
static remains held; /* by others, in a context that lives */

static kjit_launch_plan *holder; /* of held's module, context, stream */

static void make_remains(remains *r)
{
    make_things(&r->t);
    OK(kjit_smart_from(r->t.x, &r->smart));
    r->args[0] = kjit_arg_array(r->t.x);
    r->args[1] = kjit_arg_f64(2);
    OK(kjit_launch_plan_create(r->t.mod, "scale", &config, r->args, 2, &r->plan));
    OK(kjit_graph_begin(r->t.stream));
    OK(kjit_launch_plan_run(r->plan, r->t.stream));
    OK(kjit_graph_end(r->t.stream, &r->graph));
}

static void free_remains(remains *r)
{
    kjit_smart_free(r->smart);
    kjit_launch_plan_free(r->plan);
    kjit_graph_free(r->graph);
    kjit_event_free(r->t.event);
    kjit_stream_free(r->t.stream);
    kjit_array_free(r->t.x);
    kjit_array_free(r->t.device);
    kjit_array_free(r->t.whole);
    kjit_array_free(r->t.fixed);
    kjit_array_free(r->t.records);
    kjit_module_free(r->t.mod);
}

static int make_all(void **state)
{
    make_remains(&gone);
    free_remains(&gone);
    kjit_context_destroy(gone.t.ctx);
    make_remains(&held);
    OK(kjit_launch_plan_create(held.t.mod, "scale", &config, held.args, 2, &holder));
    OK(kjit_graph_launch(held.graph, held.t.stream));
    OK(kjit_event_record(held.t.event, held.t.stream));
    free_remains(&held);
    return make_both(state);
}

static int drop_all(void **state)
{
    kjit_launch_plan_free(holder);
    kjit_context_destroy(held.t.ctx);
    return drop_both(state);
}

/* ---- Calls ---- */

static void check_freed(const char *call, const char *arguments, kjit_status got)
{
    const char *said = kjit_last_error(own.ctx);
    if (got != KJIT_INVALID || (!strstr(said, "was freed") && !strstr(said, "was destroyed")))
        wrong("%s%s: %s: %s", call, arguments, kjit_status_name(got), said);
    check_results(call, arguments);
}

/* The call fails, and the sentence says why. */
#define FREED(function, arguments) \
    do { \
        poison_results(); \
        forget_sentence(); \
        check_freed(#function, #arguments, function arguments); \
    } while (0)
/* It gives no status: what it gives. The sentence is there all the same. */
#define ASKED(function, arguments, expected) \
    do { \
        forget_sentence(); \
        kjit_status as_ = function arguments expected ? KJIT_INVALID : KJIT_OK; \
        check_freed(#function, #arguments, as_); \
    } while (0)
/* It gives nothing, and does nothing. */
#define USELESS(function, arguments) \
    do { \
        forget_sentence(); \
        function arguments; \
        check_freed(#function, #arguments, KJIT_INVALID); \
    } while (0)

static void visit(void *user, const kjit_cache_entry *entry)
{
    (void)user, (void)entry;
}

static void call_back(kjit_stream *s, kjit_status status, void *user)
{
    (void)s, (void)status, (void)user;
}

static void with_contexts(kjit_context *dead)
{
    FREED(kjit_context_device, (dead, &out.device));
    FREED(kjit_device_attribute, (dead, KJIT_ATTRIBUTE_WARP_SIZE, &number));
    FREED(kjit_can_access_peer, (dead, own.ctx, &out.flag));
    FREED(kjit_can_access_peer, (own.ctx, dead, &out.flag));
    FREED(kjit_synchronize, (dead));
    FREED(kjit_cancel, (dead));
    FREED(kjit_set_deadline, (dead, 1000));
    FREED(kjit_module_compile, (dead, "t", source, sizeof source - 1, NULL, &no_module));
    FREED(kjit_format, (dead, "t", source, sizeof source - 1, &no_text, NULL));
    FREED(kjit_module_load, (dead, "t", NULL, &no_module));
    FREED(kjit_array_create, (dead, KJIT_F32, 2, shape, 'C', KJIT_HOST, &no_array));
    FREED(kjit_array_create_with, (dead, KJIT_F32, 2, shape, NULL, &no_array));
    FREED(kjit_array_wrap, (dead, &out, KJIT_F32, 0, NULL, NULL, KJIT_HOST, &no_array));
    FREED(kjit_array_wrap_owned,
          (dead, &out, KJIT_F32, 0, NULL, NULL, KJIT_HOST, NULL, NULL, &no_array));
    FREED(kjit_array_load, (dead, "t.npy", &no_array));
    FREED(kjit_array_load_with, (dead, "t.npy", NULL, &no_array));
    FREED(kjit_sample_rate, (dead, "t.wav", &(int64_t){0}));
    FREED(kjit_arrays_save, (dead, "t.npy", &(kjit_named_array){.name = "t"}, 1, NULL));
    FREED(kjit_array_load_records, (dead, "t.npy", KJIT_FIRST_RECORD, &no_array));
    FREED(kjit_stream_create, (dead, &no_stream));
    FREED(kjit_stream_default, (dead, &no_stream));
    FREED(kjit_stream_legacy_default, (dead, &no_stream));
    FREED(kjit_stream_per_thread_default, (dead, &no_stream));
    FREED(kjit_stream_external, (dead, (void *)1, &no_stream));
    FREED(kjit_event_create, (dead, 1, &no_event));
    FREED(kjit_record_info, (dead, KJIT_FIRST_RECORD, &out.record));
    FREED(kjit_record_field, (dead, KJIT_FIRST_RECORD, 0, &out.field));
    FREED(kjit_smart_create, (dead, KJIT_F32, 2, shape, 'C', &no_smart));
    FREED(kjit_context_memory, (dead, &out.memory));
    FREED(kjit_deallocate_pending, (dead));
    FREED(kjit_memory_trim, (dead, 0));
    FREED(kjit_defer_cleanup_begin, (dead));
    FREED(kjit_defer_cleanup_end, (dead));
    FREED(kjit_array_from_dlpack, (dead, NULL, &no_array));
    FREED(kjit_array_from_dlpack_unversioned, (dead, NULL, &no_array));
    FREED(kjit_ipc_open, (dead, &out.shared, &no_array));
    FREED(kjit_cache_describe, (dead, &out.cache));
    FREED(kjit_cache_list, (dead, NULL, visit, NULL));
    FREED(kjit_cache_clear, (dead, &out.flag));
    FREED(kjit_capsule_begin, (dead, "t.kjc"));
    FREED(kjit_capsule_end, (dead, &out.flag));
    FREED(kjit_replay, (dead, "t.kjc", 0));
    FREED(kjit_module_from_image, (dead, "", 0, &no_module));
    FREED(kjit_module_from_image_owned, (dead, "", 0, NULL, free, &no_module));
    assert_int_equal(kjit_last_fault(dead, &(kjit_fault){.size = sizeof(kjit_fault)}), 0);
    USELESS(kjit_set_print, (dead, NULL, NULL));
    USELESS(kjit_set_trace, (dead, NULL, NULL));
    USELESS(kjit_context_destroy, (dead));
}

static void with_modules(kjit_module *dead)
{
    FREED(kjit_module_set_const, (dead, "table", own.fixed));
    FREED(kjit_module_assume, (dead, "N", kjit_arg_i64(1)));
    FREED(kjit_module_image, (dead, NULL, &out.image, &out.size));
    FREED(kjit_module_emit, (dead, "ast", NULL, NULL, &no_text, NULL));
    FREED(kjit_module_kernel_info, (dead, "scale", NULL, &out.kernel));
    FREED(kjit_module_record, (dead, "P", &out.dtype));
    FREED(kjit_launch, (dead, "scale", &config, NULL, 0));
    FREED(kjit_launch_forall, (dead, "scale", 4, NULL, NULL, 0));
    FREED(kjit_forall_block, (dead, "scale", NULL, 0, &number));
    FREED(kjit_launch_info, (dead, "scale", &config, NULL, 0, &out.kernel));
    FREED(kjit_max_cooperative_blocks, (dead, "together", block, NULL, 0, &number));
    FREED(kjit_launch_plan_create, (dead, "scale", &config, NULL, 0, &no_plan));
    FREED(kjit_cache_list, (own.ctx, dead, visit, NULL));
    FREED(kjit_run, (dead, NULL));
    ASKED(*kjit_module_log, (dead), == 0);
    ASKED(*kjit_module_log_json, (dead), == 0);
    ASKED(kjit_module_diagnostics, (dead, NULL, 4), == 0);
    ASKED(kjit_module_fix, (dead, 0, &(kjit_fix){0}), == 0);
    ASKED(kjit_module_kernel, (dead, 0), == NULL);
    ASKED(kjit_module_has_run, (dead), == 0);
    kjit_param_info param;
    ASKED(kjit_module_param, (dead, 0, &param), == 0);
    kjit_test_info test;
    ASKED(kjit_module_test, (dead, 0, &test), == 0);
    kjit_const_info constant;
    ASKED(kjit_module_const, (dead, 0, &constant), == 0);
    ASKED(kjit_module_record_name, (dead, 0), == NULL);
    FREED(kjit_module_kernel_decl, (dead, "k", &(kjit_kernel_decl){.size = 64}));
    FREED(kjit_module_kernel_param, (dead, "k", 0, &(kjit_kernel_param){.size = 64}));
    USELESS(kjit_module_free, (dead));
}

static void with_arrays(kjit_array *dead)
{
    FREED(kjit_array_like, (dead, NULL, &no_array));
    FREED(kjit_array_register, (dead, NULL, &no_array));
    FREED(kjit_array_slice, (dead, NULL, NULL, NULL, &no_array));
    FREED(kjit_array_at, (dead, 0, 0, &no_array));
    FREED(kjit_array_reshape, (dead, 1, SHAPE(12), 'C', &no_array));
    FREED(kjit_array_ravel, (dead, 'C', &no_array));
    FREED(kjit_array_transpose, (dead, NULL, &no_array));
    FREED(kjit_array_split, (dead, 2, &no_array, 1, &number));
    FREED(kjit_array_view, (dead, KJIT_F32, &no_array));
    FREED(kjit_array_protect, (dead));
    FREED(kjit_array_field, (dead, "x", &no_array));
    FREED(kjit_array_get, (dead, index_, &out.element));
    FREED(kjit_array_set, (dead, index_, &out.element));
    FREED(kjit_array_fill, (dead, &out.element, NULL));
    FREED(kjit_copy, (dead, own.x, NULL));
    FREED(kjit_copy, (own.x, dead, NULL));
    FREED(kjit_copy, (dead, dead, NULL));
    FREED(kjit_to_device, (dead, NULL, &no_array));
    FREED(kjit_to_host, (dead, NULL, &no_array));
    FREED(kjit_array_save, (dead, "t.npy"));
    FREED(kjit_array_format, (dead, &no_text));
    FREED(kjit_module_set_const, (own.mod, "table", dead));
    FREED(kjit_smart_from, (dead, &no_smart));
    FREED(kjit_array_to_dlpack, (dead, &no_tensor));
    FREED(kjit_array_to_dlpack_unversioned, (dead, &no_old_tensor));
    FREED(kjit_array_ipc_handle, (dead, &out.shared));
    ASKED(kjit_array_dtype, (dead), == KJIT_BOOL);
    ASKED(kjit_array_ndim, (dead), == 0);
    ASKED(kjit_array_size, (dead), == 0);
    ASKED(kjit_array_shape, (dead), == NULL);
    ASKED(kjit_array_strides, (dead), == NULL);
    ASKED(kjit_array_is_contiguous, (dead, 'C'), == 0);
    ASKED(kjit_array_memory, (dead), == KJIT_HOST);
    ASKED(kjit_array_is_read_only, (dead), == 0);
    ASKED(kjit_array_data, (dead), == NULL);
    USELESS(kjit_array_free, (dead));
}

static void with_smarts(kjit_smart *dead)
{
    FREED(kjit_smart_host, (dead, &no_array));
    FREED(kjit_smart_gpu, (dead, &no_array));
    FREED(kjit_smart_host_changed, (dead));
    FREED(kjit_smart_gpu_changed, (dead));
    USELESS(kjit_smart_free, (dead));
}

static void with_streams(kjit_stream *dead)
{
    static const kjit_array_options ordered = {.memory = KJIT_DEVICE};
    kjit_array_options options = ordered;
    kjit_config in_stream = config;
    kjit_arg args[2] = {kjit_arg_array(own.x), kjit_arg_f64(2)};
    options.stream = in_stream.stream = dead;
    FREED(kjit_array_create_with, (own.ctx, KJIT_F32, 2, shape, &options, &no_array));
    FREED(kjit_array_like, (own.device, &options, &no_array));
    FREED(kjit_array_fill, (own.x, &out.element, dead));
    FREED(kjit_copy, (own.device, own.x, dead));
    FREED(kjit_copy, (own.x, foreign.x, dead));
    FREED(kjit_to_device, (own.x, dead, &no_array));
    FREED(kjit_to_host, (own.device, dead, &no_array));
    FREED(kjit_stream_synchronize, (dead));
    FREED(kjit_stream_query, (dead, &out.flag));
    FREED(kjit_stream_failure, (dead));
    FREED(kjit_stream_cancel, (dead));
    FREED(kjit_stream_callback, (dead, call_back, NULL));
    FREED(kjit_stream_wait, (dead, own.event));
    FREED(kjit_event_record, (own.event, dead));
    FREED(kjit_launch, (own.mod, "scale", &in_stream, args, 2));
    FREED(kjit_launch_forall, (own.mod, "scale", 4, dead, args, 2));
    FREED(kjit_launch_info, (own.mod, "scale", &in_stream, args, 2, &out.kernel));
    FREED(kjit_graph_begin, (dead));
    FREED(kjit_graph_end, (dead, &no_graph));
    ASKED(kjit_stream_handle, (dead), == NULL);
    ASKED(kjit_stream_number, (dead), == 0);
    USELESS(kjit_stream_free, (dead));
}

static void with_events(kjit_event *dead)
{
    FREED(kjit_stream_wait, (own.stream, dead));
    FREED(kjit_event_record, (dead, own.stream));
    FREED(kjit_event_synchronize, (dead));
    FREED(kjit_event_query, (dead, &out.flag));
    FREED(kjit_event_elapsed, (dead, own.event, &out.ms));
    FREED(kjit_event_elapsed, (own.event, dead, &out.ms));
    USELESS(kjit_event_free, (dead));
}

/* In the places where an array or a smart array is an argument of a kernel. */
static void as_arguments(remains *dead)
{
    kjit_arg smart[2] = {kjit_arg_smart(dead->smart), dead->args[1]};
    kjit_arg in[2] = {kjit_arg_in(dead->t.x), dead->args[1]};
    kjit_arg number_[2] = {kjit_arg_array(own.x), dead->args[0]}; /* where a number is meant */
    const kjit_arg *lists[] = {dead->args, smart, in};
    kjit_arg living[2] = {kjit_arg_array(own.x), dead->args[1]};
    kjit_launch_plan *plan;
    kjit_graph *graph;
    OK(kjit_launch_plan_create(own.mod, "scale", &config, living, 2, &plan));
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        FREED(kjit_launch, (own.mod, "scale", &config, lists[i], 2));
        FREED(kjit_launch_forall, (own.mod, "scale", 4, NULL, lists[i], 2));
        FREED(kjit_forall_block, (own.mod, "scale", lists[i], 2, &number));
        FREED(kjit_launch_info, (own.mod, "scale", &config, lists[i], 2, &out.kernel));
        FREED(kjit_max_cooperative_blocks, (own.mod, "together", block, lists[i], 1, &number));
        FREED(kjit_launch_plan_create, (own.mod, "scale", &config, lists[i], 2, &no_plan));
        FREED(kjit_launch_plan_set, (plan, 0, lists[i][0]));
    }
    FREED(kjit_launch, (own.mod, "scale", &config, number_, 2));
    FREED(kjit_launch_plan_create, (own.mod, "scale", &config, number_, 2, &no_plan));
    FREED(kjit_launch_plan_set, (plan, 1, dead->args[0]));
    FREED(kjit_launch_plan_run, (plan, dead->t.stream));
    OK(kjit_launch_plan_run(plan, NULL)); /* it is as it was */
    OK(kjit_graph_begin(own.stream));
    OK(kjit_launch_plan_run(plan, own.stream));
    OK(kjit_graph_end(own.stream, &graph));
    FREED(kjit_graph_launch, (graph, dead->t.stream));
    OK(kjit_graph_launch(graph, own.stream));
    OK(kjit_stream_synchronize(own.stream));
    FREED(kjit_launch_plan_set, (dead->plan, 0, living[0]));
    FREED(kjit_launch_plan_run, (dead->plan, NULL));
    USELESS(kjit_launch_plan_free, (dead->plan));
    FREED(kjit_graph_launch, (dead->graph, own.stream));
    USELESS(kjit_graph_free, (dead->graph));
    kjit_graph_free(graph);
    kjit_launch_plan_free(plan);
}

static void sweep(remains *dead)
{
    with_modules(dead->t.mod);
    with_arrays(dead->t.x);
    with_arrays(dead->t.device);
    with_smarts(dead->smart);
    with_streams(dead->t.stream);
    with_events(dead->t.event);
    as_arguments(dead);
}

static void gone_with_their_context(void **state)
{
    (void)state;
    with_contexts(gone.t.ctx);
    sweep(&gone);
}

/* A plan has the module, whose handle was freed twice meanwhile. */
static void held_by_others(void **state)
{
    (void)state;
    sweep(&held);
    OK(kjit_launch_plan_run(holder, NULL));
}

/* ---- What lives on ---- */

/* A context that was destroyed goes on for what it has, but takes nothing new. */
static void after_the_context(void **state)
{
    (void)state;
    things t;
    kjit_array *same, *there, *back;
    kjit_smart *smart;
    float two = 2, got;
    make_things(&t);
    ctx = own.ctx;
    kjit_context_destroy(t.ctx);
    with_contexts(t.ctx);
    FREED(kjit_run, (t.mod, NULL));
    kjit_arg args[2] = {kjit_arg_array(t.x), kjit_arg_f64(3)};
    OK(kjit_array_fill(t.x, &two, t.stream));
    OK(kjit_stream_synchronize(t.stream));
    OK(kjit_launch(t.mod, "scale", &config, args, 2));
    OK(kjit_array_like(t.x, NULL, &same));
    OK(kjit_copy(same, t.x, NULL));
    OK(kjit_to_device(same, NULL, &there));
    OK(kjit_to_host(there, NULL, &back));
    OK(kjit_array_get(back, SHAPE(3, 0), &got));
    assert_true(got == 6);
    OK(kjit_smart_from(back, &smart));
    OK(kjit_array_save(back, path_of("x.npy")));
    BAD(kjit_array_get, (back, SHAPE(4, 0), &got), KJIT_SHAPE, "");
    assert_non_null(strstr(kjit_last_error(NULL), "outside of axis 0"));
    assert_non_null(strstr(kjit_last_error(t.ctx), "outside of axis 0"));
    kjit_smart_free(smart);
    kjit_array_free(same);
    kjit_array_free(there);
    kjit_array_free(back);
    drop_things(&t);
}

/* ---- Sentences ---- */

static void sentences(void **state)
{
    (void)state;
    kjit_array_size(gone.t.x);
    assert_string_equal(kjit_last_error(NULL), "the array was freed");
    kjit_synchronize(gone.t.ctx);
    assert_string_equal(kjit_last_error(NULL), "the context was destroyed");
    kjit_launch_plan_run(gone.plan, NULL);
    assert_string_equal(kjit_last_error(NULL), "the plan was freed");
    kjit_launch_plan_run(NULL, NULL);
    assert_string_equal(kjit_last_error(NULL), "the plan is NULL");
    kjit_launch(own.mod, "scale", &config, gone.args, 2);
    assert_string_equal(kjit_last_error(own.ctx), "kernel 'scale': the array for 'x' was freed");
    assert_string_equal(kjit_last_error(NULL), kjit_last_error(own.ctx));
    kjit_copy(own.x, gone.t.x, NULL);
    assert_string_equal(kjit_last_error(own.ctx), "src was freed");
}

/* Each context has its own, and that of calls which had none where it is newer. */
static void newest_sentence(void **state)
{
    (void)state;
    kjit_context *none;
    BAD(kjit_array_at, (own.x, 7, 0, &no_array), KJIT_SHAPE, "no axis 7");
    assert_int_equal(kjit_array_at(NULL, 7, 0, &no_array), KJIT_INVALID);
    assert_string_equal(kjit_last_error(own.ctx), "the array is NULL");
    assert_string_equal(kjit_last_error(held.t.ctx), "the array is NULL");
    BAD(kjit_array_at, (own.x, 8, 0, &no_array), KJIT_SHAPE, "no axis 8");
    assert_string_equal(kjit_last_error(held.t.ctx), "the array is NULL");
    assert_non_null(strstr(kjit_last_error(NULL), "no axis 8"));
    kjit_context_options options = {.device = "warp"};
    assert_int_equal(kjit_context_create(&options, &none, NULL, 0), KJIT_NO_DEVICE);
    assert_non_null(strstr(kjit_last_error(NULL), "no device 'warp'"));
    kjit_array_free(NULL); /* no failure */
    assert_non_null(strstr(kjit_last_error(NULL), "no device 'warp'"));
}

static void *other_thread(void *data)
{
    const char **said = data;
    said[0] = kjit_last_error(NULL);
    kjit_array_size(gone.t.x);
    said[1] = strdup(kjit_last_error(NULL));
    return NULL;
}

static void sentences_of_threads(void **state)
{
    (void)state;
    pthread_t thread;
    const char *said[2];
    kjit_synchronize(NULL);
    assert_int_equal(pthread_create(&thread, NULL, other_thread, said), 0);
    pthread_join(thread, NULL);
    assert_string_equal(said[0], "");
    assert_string_equal(said[1], "the array was freed");
    assert_string_equal(kjit_last_error(NULL), "the context is NULL");
    free((char *)(uintptr_t)said[1]);
}

/* ---- Used again ---- */

enum { FOUND = 100, MANY = 2000 };

/* It is found while a hundred others are made and freed, and is safe to ask for long after. */
static void long_after(void **state)
{
    (void)state;
    kjit_array *dead = create(KJIT_F32, 1, SHAPE(3), 'C'), *other;
    kjit_array_free(dead);
    for (int i = 0; i < MANY; i++) {
        other = create(KJIT_I8, 1, SHAPE(1), 'C');
        if (i < FOUND)
            FREED(kjit_array_get, (dead, index_, &out.element));
        assert_int_equal(kjit_array_size(dead), dead == other);
        kjit_array_free(other);
    }
}

static void *make_and_free(void *data)
{
    (void)data;
    for (int i = 0; i < MANY; i++) {
        kjit_array *a;
        kjit_event *e;
        if (kjit_array_create(own.ctx, KJIT_F32, 1, SHAPE(1), 'C', KJIT_HOST, &a) == KJIT_OK)
            kjit_array_free(a);
        if (kjit_event_create(own.ctx, 0, &e) == KJIT_OK)
            kjit_event_free(e);
        kjit_stream_free(gone.t.stream);
    }
    return NULL;
}

static void many_threads(void **state)
{
    (void)state;
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, make_and_free, NULL), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    OK(kjit_synchronize(own.ctx));
}

/* A child finds what its parent had freed, and makes its own. */
static void in_a_child(void)
{
    kjit_context *mine;
    kjit_array *a = NULL;
    check_freed("in a child: kjit_array_get", "", kjit_array_get(gone.t.x, index_, &out.element));
    const kjit_context_options options = {.device = "cpu", .cache = "off"};
    if (kjit_context_create(&options, &mine, NULL, 0) != KJIT_OK ||
        kjit_array_create(mine, KJIT_F32, 1, SHAPE(5), 'C', KJIT_HOST, &a) != KJIT_OK)
        wrong("a child cannot make its own: %s", kjit_last_error(NULL));
    kjit_array_free(a);
    kjit_context_destroy(mine);
    if (kjit_synchronize(own.ctx) != KJIT_NO_DEVICE)
        wrong("a child has its parent's context");
}

static void children(void **state)
{
    (void)state;
    in_child(in_a_child);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SWEEP(gone_with_their_context),
        SWEEP(sentences),
        SWEEP(newest_sentence),
        SWEEP(sentences_of_threads),
        SWEEP(held_by_others),
        SWEEP(after_the_context),
        SWEEP(long_after),
        SWEEP(many_threads),
        SWEEP(children),
    };
    return cmocka_run_group_tests(tests, make_all, drop_all);
}
