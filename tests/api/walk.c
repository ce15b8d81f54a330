/* One walk through what a program does with a device: 0 and a number when all went well; at the
 * first failure its sentence, 1, and everything is freed. tests/driver/inject.py makes the driver's
 * calls fail under it; run by itself it succeeds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kjit.h>

#include "../../runtime/device/dlpack.h"

static const char source[] =
    "kernel add(x: i32[], n: i32) { let i = grid(1); if i < x.size { x[i] += n } }\n"
    "kernel turn(x: i32[], n: i64) {\n"
    "    let s = shared.array(n, i32)\n"
    "    let i = grid(1)\n"
    "    if i < x.size { s[threadIdx.x] = x[i] }\n"
    "    syncthreads()\n"
    "    if i < x.size { x[i] += s[0] }\n"
    "}\n"
    "kernel meet(x: i32[], n: i32) {\n"
    "    let i = grid(1)\n"
    "    if i == 0 { x[0] += n }\n"
    "    grid_sync()\n"
    "    if i > 0 and i < x.size { x[i] += x[0] }\n"
    "}\n";

enum { N = 20000 };

static kjit_context *ctx;
static kjit_module *mod;
static kjit_array *host[2], *device, *view, *copy, *low, *high, *kept, *side, *locked, *ordered;
static kjit_smart *smart;
static struct DLManagedTensorVersioned *tensor;
static kjit_stream *stream[2], *foreign;
static kjit_event *event[2];
static kjit_launch_plan *plan;
static kjit_graph *graph, *meeting;
static char *cubin;

/* Says what failed; a failure without a sentence ends the walk with 2. */
static int failed(kjit_status status, const char *call, const char *sentence)
{
    if (status == KJIT_OK)
        return 0;
    fprintf(stderr, "%s: %s: %s\n", call, kjit_status_name(status), sentence);
    if (*sentence)
        return 1;
    exit(2);
}

#define TRY(call) \
    do { \
        kjit_status status_ = (call); \
        if (failed(status_, #call, kjit_last_error(ctx))) \
            return 1; \
    } while (0)

static int make(void)
{
    char error[1000];
    kjit_device_info info;
    kjit_devices(&info, 1);
    if (failed(kjit_context_create(NULL, &ctx, error, sizeof error), "kjit_context_create", error))
        return 1;
    TRY(kjit_module_compile(ctx, "walk.knl", source, strlen(source), NULL, &mod));
    for (int i = 0; i < 2; i++) {
        TRY(kjit_array_create(ctx, KJIT_I32, 1, (int64_t[]){N}, 'C', KJIT_HOST, &host[i]));
        TRY(kjit_stream_create(ctx, &stream[i]));
        TRY(kjit_event_create(ctx, 1, &event[i]));
    }
    TRY(kjit_array_create(ctx, KJIT_I32, 1, (int64_t[]){N}, 'C', KJIT_DEVICE, &device));
    for (int i = 0; i < N; i++)
        ((int32_t *)kjit_array_data(host[0]))[i] = i;
    return 0;
}

static kjit_status add(kjit_array *a, int64_t n, kjit_stream *s)
{
    kjit_arg args[] = {kjit_arg_array(a), kjit_arg_i64(n)};
    return kjit_launch_forall(mod, "add", N, s, args, 2);
}

static kjit_status turn(kjit_array *a, int64_t shared, kjit_stream *s)
{
    kjit_arg args[] = {kjit_arg_array(a), kjit_arg_i64(shared)};
    kjit_config config = {.grid = {N / 256}, .block = {256}, .stream = s};
    return kjit_launch(mod, "turn", &config, args, 2);
}

static int queue(void)
{
    int done;
    double ms;
    TRY(kjit_copy(device, host[0], NULL));
    TRY(add(device, 1, NULL));
    TRY(kjit_event_record(event[0], stream[0]));
    for (int i = 0; i < 20; i++)
        TRY(add(device, i, stream[0]));
    TRY(turn(device, 16000, stream[0]));
    TRY(kjit_event_record(event[1], stream[0]));
    TRY(kjit_stream_wait(stream[1], event[1]));
    TRY(kjit_copy(host[1], device, stream[1]));
    TRY(kjit_stream_query(stream[0], &done));
    TRY(kjit_stream_synchronize(stream[1]));
    TRY(kjit_event_synchronize(event[1]));
    TRY(kjit_event_elapsed(event[0], event[1], &ms));
    TRY(kjit_synchronize(ctx));
    return 0;
}

/* Copies that take more than one step, and launches with host arrays. */
static int move(void)
{
    int64_t zero = 0, five = 5, three = 3, end = N - 5, all = N;
    TRY(kjit_array_slice(device, NULL, NULL, &three, &view));
    TRY(kjit_to_host(view, stream[0], &copy));
    TRY(kjit_copy(view, copy, NULL));
    TRY(kjit_array_slice(device, &zero, &end, NULL, &low));
    TRY(kjit_array_slice(device, &five, &all, NULL, &high));
    TRY(kjit_copy(high, low, stream[0]));
    TRY(kjit_copy(low, high, NULL));
    TRY(add(host[0], 3, stream[1]));
    TRY(add(host[0], 4, NULL));
    TRY(kjit_stream_synchronize(stream[0]));
    TRY(kjit_stream_synchronize(stream[1]));
    TRY(kjit_copy(host[1], device, NULL));
    return 0;
}

/* What is prepared, and made again and again. */
static int repeat(void)
{
    kjit_arg args[] = {kjit_arg_array(device), kjit_arg_i64(7)};
    kjit_config config = {.grid = {N / 128}, .block = {128}};
    TRY(kjit_launch_plan_create(mod, "add", &config, args, 2, &plan));
    TRY(kjit_launch_plan_run(plan, NULL));
    TRY(kjit_launch_plan_set(plan, 1, kjit_arg_i64(8)));
    TRY(kjit_launch_plan_run(plan, stream[0]));
    TRY(kjit_stream_synchronize(stream[0]));
    TRY(kjit_to_device(copy, NULL, &kept));
    TRY(kjit_graph_begin(stream[0]));
    TRY(kjit_launch_plan_run(plan, stream[0]));
    TRY(kjit_copy(kept, view, stream[0]));
    TRY(add(kept, 9, stream[0]));
    TRY(kjit_copy(view, kept, stream[0]));
    TRY(kjit_graph_end(stream[0], &graph));
    TRY(kjit_graph_launch(graph, stream[1]));
    TRY(kjit_graph_launch(graph, NULL));
    TRY(kjit_copy(host[1], device, NULL));
    return 0;
}

/* Work in the order of a stream, and in one that others know too. */
static int order(void)
{
    kjit_array_options options = {.memory = KJIT_DEVICE, .stream = stream[0]};
    kjit_config config = {.grid = {4}, .block = {64}, .stream = stream[0]};
    void *handle = kjit_stream_handle(stream[1]);
    TRY(kjit_array_like(host[0], &options, &ordered));
    kjit_arg args[] = {kjit_arg_array(ordered), kjit_arg_i64(6)};
    TRY(kjit_copy(ordered, host[0], stream[0]));
    TRY(kjit_launch(mod, "meet", &config, args, 2));
    TRY(kjit_launch(mod, "meet", &(kjit_config){.grid = {4}, .block = {64}}, args, 2));
    TRY(kjit_graph_begin(stream[0]));
    TRY(kjit_launch(mod, "meet", &config, args, 2));
    TRY(kjit_graph_end(stream[0], &meeting));
    TRY(kjit_graph_launch(meeting, stream[0]));
    TRY(kjit_stream_synchronize(stream[0]));
    if (handle)
        TRY(kjit_stream_external(ctx, handle, &foreign));
    kjit_stream *theirs = foreign ? foreign : stream[1];
    TRY(add(ordered, 1, theirs));
    TRY(kjit_copy(host[1], ordered, theirs));
    TRY(kjit_stream_synchronize(theirs));
    TRY(add(ordered, 2, stream[1]));
    TRY(kjit_stream_synchronize(stream[1]));
    return 0;
}

/* An array that is on both sides, a single element, a tensor for others. */
static int share(void)
{
    int64_t last = N - 1;
    int32_t value;
    TRY(kjit_smart_from(host[1], &smart));
    kjit_arg args[] = {kjit_arg_smart(smart), kjit_arg_i64(5)};
    TRY(kjit_launch_forall(mod, "add", N, stream[0], args, 2));
    TRY(kjit_smart_host(smart, &side));
    TRY(kjit_array_get(side, &last, &value));
    value += 1;
    TRY(kjit_array_set(device, &last, &value));
    TRY(kjit_array_to_dlpack(device, &tensor));
    return 0;
}

/* An array of each kind of memory, and one that is page-locked for a while. */
static int lock(void)
{
    kjit_array_options options = {.wc = 1};
    for (int memory = KJIT_PINNED; memory <= KJIT_MANAGED; memory++) {
        kjit_array *a, *again;
        options.memory = (kjit_memory)memory;
        options.wc = memory == KJIT_MAPPED;
        TRY(kjit_array_like(host[0], &options, &a));
        kjit_status status = kjit_copy(a, host[0], stream[0]);
        if (status == KJIT_OK)
            status = add(a, 1, stream[0]);
        if (status == KJIT_OK)
            status = kjit_array_wrap(ctx, kjit_array_data(a), KJIT_I32, 1, kjit_array_shape(a),
                                     NULL, options.memory, &again);
        if (status == KJIT_OK)
            kjit_array_free(again);
        kjit_array_free(a);
        TRY(status);
    }
    TRY(kjit_array_register(host[0], &(kjit_array_options){.memory = KJIT_MAPPED}, &locked));
    return 0;
}

static int inspect(void)
{
    kjit_device_info info;
    kjit_kernel_info kernel;
    kjit_memory_info memory;
    size_t size;
    TRY(kjit_context_device(ctx, &info));
    TRY(kjit_context_memory(ctx, &memory));
    TRY(kjit_deallocate_pending(ctx));
    if (strcmp(info.kind, "cpu") == 0)
        return 0;
    TRY(kjit_module_kernel_info(mod, "add", NULL, &kernel));
    TRY(kjit_module_emit(mod, "cubin", "add", NULL, &cubin, &size));
    return 0;
}

int main(void)
{
    int status =
        make() || queue() || move() || repeat() || order() || share() || lock() || inspect();
    uint32_t sum = 0;
    for (int i = 0; i < N && status == 0; i++)
        sum = sum * 31 + ((uint32_t *)kjit_array_data(host[1]))[i] +
              7 * ((uint32_t *)kjit_array_data(host[0]))[i];
    kjit_array *arrays[] = {host[0], host[1], device, view,   copy,   low,
                            high,    kept,    side,   locked, ordered};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        kjit_array_free(arrays[i]);
    for (int i = 0; i < 2; i++) {
        kjit_stream_free(stream[i]);
        kjit_event_free(event[i]);
    }
    kjit_stream_free(foreign);
    kjit_launch_plan_free(plan);
    kjit_graph_free(graph);
    kjit_graph_free(meeting);
    if (tensor)
        tensor->deleter(tensor);
    kjit_smart_free(smart);
    free(cubin);
    kjit_module_free(mod);
    kjit_context_destroy(ctx);
    if (status == 0)
        printf("%lu\n", (unsigned long)sum);
    return status;
}
