/* Bad arguments for what is about work: streams, events, launches, plans. */
#include "bad_arguments.h"

static const kjit_config config = {.grid = {1}, .block = {64}};
static double ms;
static int done;
static kjit_kernel_info info;

/* Arguments of scale, and how they can be wrong. */
static kjit_arg good[2], many[3], reversed[2], twice[2], nameless[2], integers[2], narrow[2],
    elsewhere[2], none[2], strange[2], records[2], huge[2];

static kjit_array *ints;

static int make_arguments(void **state)
{
    if (make_both(state) != 0)
        return 1;
    kjit_arg x = kjit_arg_array(own.x), a = kjit_arg_f64(2);
    kjit_arg *const lists[] = {good,   many,      reversed, twice,   nameless, integers,
                               narrow, elsewhere, none,     strange, records,  huge};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        lists[i][0] = x;
        lists[i][1] = a;
    }
    many[2] = a;
    reversed[0] = a;
    reversed[1] = x;
    twice[1] = kjit_arg_named("x", x);
    nameless[1] = kjit_arg_named("factor", a);
    OK(kjit_array_create(own.ctx, KJIT_I32, 2, SHAPE(4, 3), 'C', KJIT_HOST, &ints));
    integers[0] = kjit_arg_array(ints);
    narrow[0] = kjit_arg_array(own.fixed);
    elsewhere[0] = kjit_arg_array(foreign.x);
    none[0] = kjit_arg_array(NULL);
    strange[1].kind = (kjit_arg_kind)99;
    records[0] = kjit_arg_array(own.records);
    huge[1] = kjit_arg_f64(1e300);
    return 0;
}

static int drop_arguments(void **state)
{
    kjit_array_free(ints);
    return drop_both(state);
}

static void streams(void **state)
{
    (void)state;
    NONE(kjit_stream_create, (NULL, &no_stream));
    BAD(kjit_stream_create, (own.ctx, NULL), KJIT_INVALID, "out is NULL");
    HARMLESS(kjit_stream_free, (NULL));
    NONE(kjit_stream_synchronize, (NULL));
    NONE(kjit_stream_query, (NULL, &done));
    NONE(kjit_stream_failure, (NULL));
    NONE(kjit_stream_cancel, (NULL));
    BAD(kjit_stream_query, (own.stream, NULL), KJIT_INVALID, "done is NULL");
    NONE(kjit_stream_wait, (own.stream, NULL));
    NONE(kjit_stream_wait, (NULL, NULL));
    BAD(kjit_stream_wait, (own.stream, foreign.event), KJIT_INVALID, "another context");
}

static void call_back(kjit_stream *s, kjit_status status, void *user)
{
    (void)s, (void)status, (void)user;
}

static void default_streams(void **state)
{
    (void)state;
    NONE(kjit_stream_default, (NULL, &no_stream));
    BAD(kjit_stream_default, (own.ctx, NULL), KJIT_INVALID, "out is NULL");
    NONE(kjit_stream_legacy_default, (NULL, &no_stream));
    BAD(kjit_stream_legacy_default, (own.ctx, NULL), KJIT_INVALID, "out is NULL");
    NONE(kjit_stream_per_thread_default, (NULL, &no_stream));
    BAD(kjit_stream_per_thread_default, (own.ctx, NULL), KJIT_INVALID, "out is NULL");
    NONE(kjit_stream_external, (NULL, (void *)1, &no_stream));
    BAD(kjit_stream_external, (own.ctx, NULL, &no_stream), KJIT_INVALID, "handle is 0");
    BAD(kjit_stream_external, (own.ctx, (void *)1, NULL), KJIT_INVALID, "out is NULL");
    if (on_cpu())
        BAD(kjit_stream_external, (own.ctx, (void *)4096, &no_stream), KJIT_NO_DEVICE, "");
    GIVES(kjit_stream_handle, (NULL), == NULL);
    GIVES(kjit_stream_number, (NULL), == 0);
    NONE(kjit_stream_callback, (NULL, call_back, NULL));
    BAD(kjit_stream_callback, (own.stream, NULL, NULL), KJIT_INVALID, "function is NULL");
    HARMLESS(kjit_set_trace, (NULL, NULL, NULL));
}

static void events(void **state)
{
    (void)state;
    kjit_event *fresh;
    NONE(kjit_event_create, (NULL, 1, &no_event));
    BAD(kjit_event_create, (own.ctx, 1, NULL), KJIT_INVALID, "out is NULL");
    HARMLESS(kjit_event_free, (NULL));
    NONE(kjit_event_record, (NULL, own.stream));
    BAD(kjit_event_record, (own.event, foreign.stream), KJIT_INVALID, "another context");
    NONE(kjit_event_synchronize, (NULL));
    NONE(kjit_event_query, (NULL, &done));
    BAD(kjit_event_query, (own.event, NULL), KJIT_INVALID, "done is NULL");
    NONE(kjit_event_elapsed, (NULL, own.event, &ms));
    NONE(kjit_event_elapsed, (own.event, NULL, &ms));
    BAD(kjit_event_elapsed, (own.event, own.event, NULL), KJIT_INVALID, "ms is NULL");
    BAD(kjit_event_elapsed, (own.event, foreign.event, &ms), KJIT_INVALID, "different contexts");
    OK(kjit_event_create(own.ctx, 1, &fresh));
    BAD(kjit_event_elapsed, (fresh, own.event, &ms), KJIT_INVALID, "not recorded");
    kjit_event_free(fresh);
    OK(kjit_event_create(own.ctx, 0, &fresh));
    BAD(kjit_event_elapsed, (fresh, own.event, &ms), KJIT_INVALID,
        "the first event was made without timing: kjit_event_create(ctx, 1, ...)");
    BAD(kjit_event_elapsed, (own.event, fresh, &ms), KJIT_INVALID, "the second event");
    kjit_event_free(fresh);
    NONE(kjit_event_query, (NULL, &done));
    BAD(kjit_event_query, (own.event, NULL), KJIT_INVALID, "done is NULL");
}

static void launches(void **state)
{
    (void)state;
    NONE(kjit_launch, (NULL, "scale", &config, good, 2));
    BAD(kjit_launch, (own.mod, NULL, &config, good, 2), KJIT_INVALID, "NULL");
    BAD(kjit_launch, (own.mod, "scale", NULL, good, 2), KJIT_INVALID, "NULL");
    BAD(kjit_launch, (own.mod, "scale", &config, NULL, 2), KJIT_INVALID,
        "args is NULL, and nargs is 2");
    BAD(kjit_launch, (own.mod, "skale", &config, good, 2), KJIT_NOT_FOUND, "scale");
    BAD(kjit_launch, (own.mod, "scale", &config, good, -1), KJIT_INVALID, "nargs is -1");
    BAD(kjit_launch, (own.mod, "scale", &config, good, 0), KJIT_LAUNCH, "'x'");
    BAD(kjit_launch, (own.mod, "scale", &config, good, 1), KJIT_LAUNCH, "'a'");
    BAD(kjit_launch, (own.mod, "scale", &config, many, 3), KJIT_LAUNCH, "");
    BAD(kjit_launch, (own.mod, "scale", &config, reversed, 2), KJIT_TYPE, "'x'");
    BAD(kjit_launch, (own.mod, "scale", &config, twice, 2), KJIT_LAUNCH, "'x'");
    BAD(kjit_launch, (own.mod, "scale", &config, nameless, 2), KJIT_LAUNCH, "'factor'");
    BAD(kjit_launch, (own.mod, "scale", &config, integers, 2), KJIT_TYPE, "i32");
    BAD(kjit_launch, (own.mod, "scale", &config, narrow, 2), KJIT_SHAPE, "'x'");
    BAD(kjit_launch, (own.mod, "scale", &config, elsewhere, 2), KJIT_INVALID, "context");
    BAD(kjit_launch, (own.mod, "scale", &config, none, 2), KJIT_INVALID, "'x'");
    BAD(kjit_launch, (own.mod, "scale", &config, strange, 2), KJIT_TYPE, "no kind");
    BAD(kjit_launch, (own.mod, "scale", &config, records, 2), KJIT_SHAPE, "P");
    BAD(kjit_launch, (own.mod, "scale", &config, huge, 2), KJIT_TYPE, "1e");
    kjit_smart *smart;
    kjit_arg smarts[2] = {kjit_arg_smart(NULL), good[1]};
    BAD(kjit_launch, (own.mod, "scale", &config, smarts, 2), KJIT_INVALID, "smart array is NULL");
    OK(kjit_smart_from(foreign.x, &smart));
    smarts[0] = kjit_arg_smart(smart);
    BAD(kjit_launch, (own.mod, "scale", &config, smarts, 2), KJIT_INVALID, "another context");
    kjit_smart_free(smart);
}

static void shapes_of_launches(void **state)
{
    (void)state;
    static const kjit_config wrongs_[] = {
        {.grid = {-1}, .block = {64}},
        {.grid = {1, -1}, .block = {64}},
        {.grid = {INT64_MAX}, .block = {64}},
        {.grid = {1, 65536}, .block = {64}},
        {.grid = {1, 1, INT64_MIN}, .block = {64}},
        {.grid = {1}, .block = {0}},
        {.grid = {1}, .block = {-64}},
        {.grid = {1}, .block = {1025}},
        {.grid = {1}, .block = {64, 64}},
        {.grid = {1}, .block = {1, 1, 65}},
        {.grid = {1}, .block = {INT64_MAX, INT64_MAX, INT64_MAX}},
    };
    for (size_t i = 0; i < sizeof wrongs_ / sizeof *wrongs_; i++) {
        BAD(kjit_launch, (own.mod, "scale", &wrongs_[i], good, 2), KJIT_LAUNCH, "");
        BAD(kjit_launch_plan_create, (own.mod, "scale", &wrongs_[i], good, 2, &no_plan),
            KJIT_LAUNCH, "");
        BAD(kjit_launch_info, (own.mod, "scale", &wrongs_[i], good, 2, &info), KJIT_LAUNCH, "");
    }
    kjit_config stream = config;
    stream.stream = foreign.stream;
    BAD(kjit_launch, (own.mod, "scale", &stream, good, 2), KJIT_INVALID, "context");
}

static void values(void **state)
{
    (void)state;
    struct {
        int32_t i;
        float f;
    } p = {1, 2};
    kjit_dtype type = kjit_array_dtype(own.records), q;
    OK(kjit_module_record(own.mod, "Q", &q));
    kjit_arg args[3] = {kjit_arg_array(own.x), kjit_arg_i64(1), kjit_arg_value(type, &p)};
    BAD(kjit_launch, (own.mod, "fit", &config, args, 3), KJIT_LAUNCH, "table");
    OK(kjit_module_set_const(own.mod, "table", own.fixed));
    OK(kjit_launch(own.mod, "fit", &config, args, 3));
    args[2] = kjit_arg_value(type, NULL);
    BAD(kjit_launch, (own.mod, "fit", &config, args, 3), KJIT_INVALID, "'p'");
    args[2] = kjit_arg_value(q, &p);
    BAD(kjit_launch, (own.mod, "fit", &config, args, 3), KJIT_TYPE, "'p'");
    args[2] = kjit_arg_value((kjit_dtype)-1, &p);
    BAD(kjit_launch, (own.mod, "fit", &config, args, 3), KJIT_TYPE, "'p'");
    args[2] = kjit_arg_f64(1);
    BAD(kjit_launch, (own.mod, "fit", &config, args, 3), KJIT_TYPE, "'p'");
    args[2] = kjit_arg_value(type, &p);
    args[1] = kjit_arg_i64(INT64_MAX);
    BAD(kjit_launch, (own.mod, "fit", &config, args, 3), KJIT_TYPE, "'n'");
    args[1] = kjit_arg_array(own.x);
    BAD(kjit_launch, (own.mod, "fit", &config, args, 3), KJIT_TYPE, "'n'");
    args[1] = kjit_arg_bool(1);
    BAD(kjit_launch, (own.mod, "fit", &config, args, 3), KJIT_TYPE, "'n'");
    args[1] = kjit_arg_i64(1);
    OK(kjit_array_slice(own.x, SHAPE(1, 0), NULL, NULL, &args[0].u.array));
    BAD(kjit_launch, (own.mod, "fit", &config, args, 3), KJIT_LAUNCH, "requires");
    kjit_array_free(args[0].u.array);
}

static void plans(void **state)
{
    (void)state;
    kjit_launch_plan *plan;
    NONE(kjit_launch_plan_create, (NULL, "scale", &config, good, 2, &no_plan));
    BAD(kjit_launch_plan_create, (own.mod, "scale", &config, good, 2, NULL), KJIT_INVALID,
        "out is NULL");
    BAD(kjit_launch_plan_create, (own.mod, NULL, &config, good, 2, &no_plan), KJIT_INVALID, "NULL");
    BAD(kjit_launch_plan_create, (own.mod, "scale", NULL, good, 2, &no_plan), KJIT_INVALID, "NULL");
    BAD(kjit_launch_plan_create, (own.mod, "skale", &config, good, 2, &no_plan), KJIT_NOT_FOUND,
        "scale");
    BAD(kjit_launch_plan_create, (own.mod, "scale", &config, NULL, 2, &no_plan), KJIT_INVALID,
        "NULL");
    BAD(kjit_launch_plan_create, (own.mod, "scale", &config, good, 1, &no_plan), KJIT_LAUNCH,
        "'a'");
    BAD(kjit_launch_plan_create, (own.mod, "scale", &config, reversed, 2, &no_plan), KJIT_TYPE,
        "'x'");
    BAD(kjit_launch_plan_create, (own.mod, "scale", &config, elsewhere, 2, &no_plan), KJIT_INVALID,
        "context");
    HARMLESS(kjit_launch_plan_free, (NULL));
    OK(kjit_launch_plan_create(own.mod, "scale", &config, good, 2, &plan));
    NONE(kjit_launch_plan_set, (NULL, 0, good[0]));
    BAD(kjit_launch_plan_set, (plan, -1, good[0]), KJIT_INVALID, "-1");
    BAD(kjit_launch_plan_set, (plan, 2, good[0]), KJIT_INVALID, "2");
    BAD(kjit_launch_plan_set, (plan, 0, good[1]), KJIT_TYPE, "'x'");
    BAD(kjit_launch_plan_set, (plan, 0, elsewhere[0]), KJIT_INVALID, "context");
    BAD(kjit_launch_plan_set, (plan, 0, none[0]), KJIT_INVALID, "'x'");
    BAD(kjit_launch_plan_set, (plan, 1, strange[1]), KJIT_TYPE, "no kind");
    NONE(kjit_launch_plan_run, (NULL, NULL));
    BAD(kjit_launch_plan_run, (plan, foreign.stream), KJIT_INVALID, "context");
    OK(kjit_launch_plan_run(plan, NULL)); /* it is as it was */
    kjit_launch_plan_free(plan);
}

static void graphs(void **state)
{
    (void)state;
    kjit_graph *graph;
    NONE(kjit_graph_begin, (NULL));
    NONE(kjit_graph_end, (NULL, &no_graph));
    BAD(kjit_graph_end, (own.stream, &no_graph), KJIT_INVALID, "records no graph");
    OK(kjit_graph_begin(own.stream));
    BAD(kjit_graph_begin, (own.stream), KJIT_INVALID, "records a graph already");
    BAD(kjit_stream_synchronize, (own.stream), KJIT_INVALID, "records a graph");
    BAD(kjit_event_record, (own.event, own.stream), KJIT_INVALID, "records a graph");
    BAD(kjit_stream_callback, (own.stream, call_back, NULL), KJIT_INVALID, "records a graph");
    BAD(kjit_stream_wait, (own.stream, own.event), KJIT_INVALID, "records a graph");
    kjit_config in_stream = config;
    in_stream.stream = own.stream;
    BAD(kjit_launch, (own.mod, "scale", &in_stream, reversed, 2), KJIT_TYPE, "'x'");
    BAD(kjit_copy, (own.x, own.fixed, own.stream), KJIT_SHAPE, "(2,) to (4, 3)");
    BAD(kjit_graph_end, (own.stream, NULL), KJIT_INVALID, "out is NULL");
    OK(kjit_graph_end(own.stream, &graph)); /* of what was no mistake: nothing */
    NONE(kjit_graph_launch, (NULL, own.stream));
    BAD(kjit_graph_launch, (graph, foreign.stream), KJIT_INVALID, "another context");
    OK(kjit_graph_launch(graph, own.stream));
    kjit_graph_free(graph);
    HARMLESS(kjit_graph_free, (NULL));
}

static void for_all(void **state)
{
    (void)state;
    NONE(kjit_launch_forall, (NULL, "scale", 4, NULL, good, 2));
    BAD(kjit_launch_forall, (own.mod, NULL, 4, NULL, good, 2), KJIT_INVALID, "NULL");
    BAD(kjit_launch_forall, (own.mod, "skale", 4, NULL, good, 2), KJIT_NOT_FOUND, "scale");
    BAD(kjit_launch_forall, (own.mod, "scale", -1, NULL, good, 2), KJIT_LAUNCH, "-1");
    BAD(kjit_launch_forall, (own.mod, "scale", INT64_MAX, NULL, good, 2), KJIT_LAUNCH, "");
    BAD(kjit_launch_forall, (own.mod, "scale", 4, foreign.stream, good, 2), KJIT_INVALID,
        "context");
    BAD(kjit_launch_forall, (own.mod, "scale", 4, NULL, NULL, 2), KJIT_INVALID, "NULL");
    BAD(kjit_launch_forall, (own.mod, "scale", 4, NULL, good, 1), KJIT_LAUNCH, "'a'");
    NONE(kjit_forall_block, (NULL, "scale", good, 2, &number));
    BAD(kjit_forall_block, (own.mod, NULL, good, 2, &number), KJIT_INVALID, "NULL");
    BAD(kjit_forall_block, (own.mod, "skale", good, 2, &number), KJIT_NOT_FOUND, "scale");
    BAD(kjit_forall_block, (own.mod, "scale", good, 2, NULL), KJIT_INVALID, "NULL");
    BAD(kjit_forall_block, (own.mod, "scale", NULL, 2, &number), KJIT_INVALID, "NULL");
    BAD(kjit_forall_block, (own.mod, "scale", good, 0, &number), KJIT_LAUNCH, "'x'");
}

static void figures(void **state)
{
    (void)state;
    static const int64_t block[3] = {64, 1, 1}, wide[3] = {2048, 1, 1}, below[3] = {-1, 1, 1};
    NONE(kjit_launch_info, (NULL, "scale", &config, good, 2, &info));
    BAD(kjit_launch_info, (own.mod, NULL, &config, good, 2, &info), KJIT_INVALID, "NULL");
    BAD(kjit_launch_info, (own.mod, "scale", NULL, good, 2, &info), KJIT_INVALID, "NULL");
    BAD(kjit_launch_info, (own.mod, "scale", &config, NULL, 2, &info), KJIT_INVALID, "NULL");
    BAD(kjit_launch_info, (own.mod, "scale", &config, good, 2, NULL), KJIT_INVALID, "NULL");
    NONE(kjit_max_cooperative_blocks, (NULL, "together", block, good, 1, &number));
    BAD(kjit_max_cooperative_blocks, (own.mod, NULL, block, good, 1, &number), KJIT_INVALID,
        "NULL");
    BAD(kjit_max_cooperative_blocks, (own.mod, "together", NULL, good, 1, &number), KJIT_INVALID,
        "NULL");
    BAD(kjit_max_cooperative_blocks, (own.mod, "together", block, NULL, 1, &number), KJIT_INVALID,
        "NULL");
    BAD(kjit_max_cooperative_blocks, (own.mod, "together", block, good, 1, NULL), KJIT_INVALID,
        "NULL");
    BAD(kjit_max_cooperative_blocks, (own.mod, "togther", block, good, 1, &number), KJIT_NOT_FOUND,
        "together");
    BAD(kjit_max_cooperative_blocks, (own.mod, "together", wide, good, 1, &number), KJIT_LAUNCH,
        "2048");
    BAD(kjit_max_cooperative_blocks, (own.mod, "together", below, good, 1, &number), KJIT_LAUNCH,
        "-1");
    BAD(kjit_max_cooperative_blocks, (own.mod, "together", block, good, 2, &number), KJIT_LAUNCH,
        "");
}

static kjit_launch_plan *parents;
static kjit_graph *recorded;

static void child(void)
{
    static const int64_t block[3] = {64, 1, 1};
    FORKED(kjit_stream_create, (own.ctx, &no_stream));
    FORKED(kjit_stream_default, (own.ctx, &no_stream));
    FORKED(kjit_stream_legacy_default, (own.ctx, &no_stream));
    FORKED(kjit_stream_per_thread_default, (own.ctx, &no_stream));
    FORKED(kjit_stream_external, (own.ctx, (void *)1, &no_stream));
    FORKED(kjit_stream_callback, (own.stream, call_back, NULL));
    FORKED(kjit_event_query, (own.event, &done));
    FORKED(kjit_stream_synchronize, (own.stream));
    FORKED(kjit_stream_query, (own.stream, &done));
    FORKED(kjit_stream_failure, (own.stream));
    FORKED(kjit_stream_cancel, (own.stream));
    FORKED(kjit_stream_wait, (own.stream, own.event));
    FORKED(kjit_event_create, (own.ctx, 1, &no_event));
    FORKED(kjit_event_record, (own.event, own.stream));
    FORKED(kjit_event_synchronize, (own.event));
    FORKED(kjit_event_elapsed, (own.event, own.event, &ms));
    FORKED(kjit_launch, (own.mod, "scale", &config, good, 2));
    FORKED(kjit_launch_forall, (own.mod, "scale", 4, NULL, good, 2));
    FORKED(kjit_forall_block, (own.mod, "scale", good, 2, &number));
    FORKED(kjit_launch_info, (own.mod, "scale", &config, good, 2, &info));
    FORKED(kjit_max_cooperative_blocks, (own.mod, "together", block, good, 1, &number));
    FORKED(kjit_launch_plan_create, (own.mod, "scale", &config, good, 2, &no_plan));
    FORKED(kjit_launch_plan_set, (parents, 0, good[0]));
    FORKED(kjit_launch_plan_run, (parents, NULL));
    FORKED(kjit_graph_begin, (own.stream));
    FORKED(kjit_graph_end, (own.stream, &no_graph));
    FORKED(kjit_graph_launch, (recorded, own.stream));
    kjit_graph_free(recorded);
    kjit_launch_plan_free(parents);
    kjit_set_trace(own.ctx, NULL, NULL);
    kjit_stream_free(own.stream);
    kjit_event_free(own.event);
}

static void forked(void **state)
{
    (void)state;
    OK(kjit_launch_plan_create(own.mod, "scale", &config, good, 2, &parents));
    OK(kjit_graph_begin(own.stream));
    OK(kjit_graph_end(own.stream, &recorded));
    in_child(child);
    kjit_graph_free(recorded);
    kjit_launch_plan_free(parents);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SWEEP(streams),
        SWEEP(default_streams),
        SWEEP(events),
        SWEEP(launches),
        SWEEP(shapes_of_launches),
        SWEEP(values),
        SWEEP(plans),
        SWEEP(graphs),
        SWEEP(for_all),
        SWEEP(figures),
        SWEEP(forked),
    };
    return cmocka_run_group_tests(tests, make_arguments, drop_arguments);
}
