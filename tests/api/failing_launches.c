/* Launches of every kind while the driver's calls fail, one of them or more: tests/driver/failing_launches.py says
 * which. Each launch tells what itself came to, in its call or in its stream; what it uses is its own until it has
 * ended, though its owner lets go of it at once; those behind one that failed are as they should be. It prints "right",
 * or what is not, and ends with 97, as the double does for what is misused. By itself nothing fails.
 *
 * failing_launches [cancellable] */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kjit.h>

static const char source[] =
    "kernel plain(out: i32[], mine: i32[], id: i32, steps: i32) {\n"
    "    let i = threadIdx.x\n"
    "    if i < mine.size { mine[i] = id }\n"
    "    var h: i32 = 1\n"
    "    for q in range(steps) { h = h * 31 + q }\n"
    "    if i == 0 and id < out.size and mine.size > 0 { out[id] = mine[0] }\n"
    "    if h == 7 and out.size > 0 { out[0] = h }\n"
    "}\n"
    "kernel checked(out: i32[], mine: i32[], id: i32, steps: i32) {\n"
    "    let i = threadIdx.x\n"
    "    mine[i] = id\n"
    "    var h: i32 = 1\n"
    "    for q in range(steps) { h = h * 31 + q }\n"
    "    assert(h != 0 or id >= 0)\n"
    "    out[id] = mine[i]\n"
    "}\n"
    "kernel fails(out: i32[], mine: i32[], id: i32, steps: i32) {\n" /* and goes on for a while */
    "    mine[threadIdx.x] = id\n"
    "    assert(id < 0 or threadIdx.x > 0, \"its own\")\n"
    "    var h: i32 = 1\n"
    "    for q in range(8 * steps) { h = h * 31 + q }\n"
    "    if h == 7 { out[0] = h }\n"
    "}\n"
    "kernel meets(out: i32[], mine: i32[], id: i32, steps: i32) {\n"
    "    mine[threadIdx.x] = id\n"
    "    assert(steps >= 0)\n"
    "    grid_sync()\n"
    "    out[id] = mine[blockDim.x - 1 - threadIdx.x]\n"
    "}\n"
    "kernel says(out: i32[], mine: i32[], id: i32, steps: i32) {\n"
    "    mine[threadIdx.x] = id\n"
    "    if threadIdx.x == 0 { print(\"line\", id) }\n"
    "    out[id] = mine[threadIdx.x]\n"
    "}\n"
    "kernel parents(out: i32[], mine: i32[], id: i32, steps: i32) {\n"
    "    if threadIdx.x == 0 { launch checked[1, 32](out, mine, id, steps) }\n"
    "}\n";

enum { ROUNDS = 3, STREAMS = 3, THREADS = 32, MOST = 100, STEPS = 2000 };

typedef enum kind { PLAIN, CHECKED, FAILS, MEETS, SAYS, PARENTS, KINDS } kind;
static const char *const names[] = {"plain", "checked", "fails", "meets", "says", "parents"};

/* How a launch is made. */
typedef enum way { DIRECT, PLAN, GRAPH, HOST /* its own array is the host's */, WAYS } way;

/* What was put into a stream since it was last waited for. */
typedef struct expected {
    int fails; /* the launch that does, or 0 */
    int may; /* one whose kernel did, but whose array did not come back, which its call has told of; or 0 */
    int ids[MOST]; /* of launches that write their number */
    int nids;
    int said[MOST]; /* those that print */
    int nsaid;
} expected;

static kjit_context *ctx;
static kjit_module *mod;
static kjit_stream *stream[STREAMS];
static kjit_event *event;
static kjit_array *out[STREAMS], *host;
static expected expect[STREAMS];
static int nfailed, next_id = 1; /* calls and streams that told of something else than an assert */
static char lines[4000];

static void wrong(const char *what, int id, const char *sentence)
{
    printf("wrong: %s: launch %d: %s\n", what, id, sentence);
    fprintf(stderr, "wrong: %s: launch %d: %s\n", what, id, sentence);
    fflush(NULL);
    _Exit(97);
}

/* Nothing more can be told of a device that is lost: all else has to be given back. */
static void end(void)
{
    for (int i = 0; i < STREAMS; i++) {
        kjit_array_free(out[i]);
        kjit_stream_free(stream[i]);
    }
    kjit_event_free(event);
    kjit_array_free(host);
    kjit_module_free(mod);
    kjit_context_destroy(ctx);
}

static void right(void)
{
    end();
    puts("right");
    exit(0);
}

/* Did a call, not a kernel, fail? One that fails once makes one fail. */
static bool failed(kjit_status status, const char *what, int id)
{
    const char *sentence = kjit_last_error(ctx), *failing = getenv("KJIT_DOUBLE_FAIL");
    if (status == KJIT_OK)
        return false;
    if (!*sentence)
        wrong(what, id, "no sentence");
    if (status == KJIT_LOST)
        right();
    if (strstr(sentence, "its own"))
        wrong(what, id, sentence);
    if (!failing)
        wrong(what, id, sentence);
    if (++nfailed > 1 && !strchr(failing, ',') && !strstr(failing, ":always"))
        wrong(what, id, sentence);
    return true;
}

/* Does a status with its sentence tell of that launch's assert? */
static bool tells(kjit_status status, int id)
{
    char wanted[40];
    snprintf(wanted, sizeof wanted, "(id is %d", id);
    return status == KJIT_FAULT && strstr(kjit_last_error(ctx), wanted);
}

static void take(void *user, const char *text, size_t size)
{
    size_t n = strlen(lines);
    (void)user;
    if (n + size >= sizeof lines)
        wrong("print", 0, "too much");
    memcpy(lines + n, text, size);
    lines[n + size] = 0;
}

static kjit_status make(bool cancellable)
{
    char error[500];
    kjit_context_options options = {.cancellable = cancellable};
    kjit_status status = kjit_context_create(&options, &ctx, error, sizeof error);
    if (status != KJIT_OK) {
        fprintf(stderr, "%s\n", error);
        exit(1);
    }
    kjit_set_print(ctx, take, NULL);
    for (int i = 0; i < STREAMS && status == KJIT_OK; i++) {
        status = kjit_stream_create(ctx, &stream[i]);
        if (status == KJIT_OK)
            status =
                kjit_array_create(ctx, KJIT_I32, 1, (int64_t[]){MOST}, 'C', KJIT_DEVICE, &out[i]);
    }
    if (status == KJIT_OK)
        status = kjit_array_create(ctx, KJIT_I32, 1, (int64_t[]){MOST}, 'C', KJIT_HOST, &host);
    return status == KJIT_OK ? kjit_event_create(ctx, 0, &event) : status;
}

/* ---- Launching ---- */

static kjit_status by_plan(const char *name, kjit_config *config, kjit_arg *args)
{
    kjit_launch_plan *plan;
    kjit_stream *s = config->stream;
    kjit_status status = kjit_launch_plan_create(mod, name, config, args, 4, &plan);
    if (status != KJIT_OK)
        return status;
    status = kjit_launch_plan_run(plan, s);
    kjit_launch_plan_free(plan);
    return status;
}

static kjit_status by_graph(const char *name, kjit_config *config, kjit_arg *args)
{
    kjit_graph *graph;
    kjit_status status = kjit_graph_begin(config->stream);
    if (status != KJIT_OK)
        return status;
    status = kjit_launch(mod, name, config, args, 4);
    kjit_status end = kjit_graph_end(config->stream, &graph);
    if (status != KJIT_OK || end != KJIT_OK) {
        kjit_graph_free(graph);
        return status != KJIT_OK ? status : end;
    }
    status = kjit_graph_launch(graph, config->stream);
    kjit_graph_free(graph);
    return status;
}

static kjit_status start(kind k, way w, int id, int at, kjit_stream *s)
{
    kjit_array *mine;
    kjit_memory memory = w == HOST ? KJIT_HOST : KJIT_DEVICE;
    kjit_config config = {.grid = {1}, .block = {THREADS}, .stream = s};
    kjit_status status =
        kjit_array_create(ctx, KJIT_I32, 1, (int64_t[]){THREADS}, 'C', memory, &mine);
    if (status != KJIT_OK)
        return status;
    kjit_arg args[] = {kjit_arg_array(out[at]), kjit_arg_array(mine), kjit_arg_i64(id),
                       kjit_arg_i64(STEPS)};
    status = w == PLAN         ? by_plan(names[k], &config, args)
             : w == GRAPH && s ? by_graph(names[k], &config, args)
                               : kjit_launch(mod, names[k], &config, args, 4);
    kjit_array_free(mine); /* the launch has what it needs */
    return status;
}

/* In a stream; what it is to come to is noted. */
static void queue(kind k, way w, int at)
{
    expected *e = &expect[at];
    int id = next_id++;
    if (failed(start(k, w, id, at, stream[at]), names[k], id)) {
        e->may = k == FAILS && w == HOST ? id : e->may;
        return;
    }
    if (k == FAILS)
        e->fails = e->fails ? e->fails : id;
    else
        e->ids[e->nids++] = id;
    if (k == SAYS)
        e->said[e->nsaid++] = id;
}

/* Now. */
static void call(kind k, int at)
{
    int id = next_id++;
    kjit_status status = start(k, DIRECT, id, at, NULL);
    if (k == FAILS && status == KJIT_OK)
        wrong("a call", id, "it should have failed");
    if (k == FAILS && tells(status, id))
        return;
    if (!failed(status, names[k], id) && k != FAILS)
        expect[at].ids[expect[at].nids++] = id;
}

/* ---- What came of it ---- */

static void wait_for(int at)
{
    char line[40];
    expected *e = &expect[at];
    kjit_status status = kjit_stream_synchronize(stream[at]);
    bool told = tells(status, e->fails) || tells(status, e->may);
    if (e->fails && status == KJIT_OK)
        wrong("a stream", e->fails, "nobody told that it had failed");
    bool fine = told || !failed(status, "a stream", e->fails);
    for (int i = 0; i < e->nsaid && fine; i++) {
        snprintf(line, sizeof line, "line %d\n", e->said[i]);
        if (!strstr(lines, line))
            wrong("print", e->said[i], lines);
    }
    if (!failed(kjit_copy(host, out[at], NULL), "a copy", 0) && fine) {
        const int32_t *x = kjit_array_data(host);
        for (int i = 0; i < e->nids; i++)
            if (x[e->ids[i]] != e->ids[i])
                wrong("memory", e->ids[i], "it has not written its number");
    }
    *e = (expected){0};
}

static void called(kjit_stream *s, kjit_status status, void *user)
{
    (void)s;
    (void)status;
    ++*(int *)user;
}

/* Some are still under way in the other streams whenever one is launched. */
static void work(int round)
{
    int ncalled = 0;
    for (int i = 0; i < STREAMS; i++) { /* when the second fails, the third has its memory next */
        queue(PLAIN, DIRECT, i);
        queue(CHECKED, DIRECT, i);
        queue(FAILS, DIRECT, (i + 1) % STREAMS);
        wait_for((i + 1) % STREAMS);
    }
    for (int i = 0; i < STREAMS; i++)
        queue(round == 1 ? CHECKED : PLAIN, DIRECT, i);
    for (int i = 0; i < (getenv("KJIT_CUDADEVRT") ? KINDS : PARENTS); i++)
        queue((kind)i, (way)((i + round) % WAYS), (i + round) % STREAMS);
    bool calls = !failed(kjit_stream_callback(stream[0], called, &ncalled), "a callback", 0);
    if (!failed(kjit_event_record(event, stream[0]), "an event", 0))
        failed(kjit_stream_wait(stream[1], event), "a wait", 0);
    queue(CHECKED, HOST, 1);
    queue(MEETS, DIRECT, 0);
    queue(CHECKED, DIRECT, 0);
    if (round == 1)
        call(FAILS, 2);
    call(CHECKED, 2);
    call(MEETS, 2);
    kjit_module_free(mod);
    mod = NULL;
    for (int i = STREAMS - 1; i >= 0; i--)
        wait_for(i);
    if (calls && ncalled != 1)
        wrong("a callback", 0, "it was not called once");
}

int main(int argc, char **argv)
{
    bool cancellable = argc > 1 && strcmp(argv[1], "cancellable") == 0;
    bool fine = !failed(make(cancellable), "the beginning", 0);
    for (int i = 0; i < ROUNDS && fine; i++) {
        kjit_status status =
            kjit_module_compile(ctx, "launches.knl", source, strlen(source), NULL, &mod);
        fine = !failed(status, "compiling", 0);
        if (fine)
            work(i);
    }
    if (fine)
        failed(kjit_synchronize(ctx), "the end", 0);
    right();
}
