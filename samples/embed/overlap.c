/* Copies beside computation: an array goes to the device in pieces, is worked on there and comes
 * back, in two streams by turns. While one stream's kernel runs, the other's copies do.
 *
 *     overlap [device]
 *
 * Events between the steps say when each of them ran; the program adds up how long a copy and a
 * kernel ran at the same time. */
#include <kjit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECES = 8, STREAMS = 2, PIECE = 1 << 16, ROUNDS = 64 };

static const char source[] = "kernel stir(x: u32[], rounds: i32) {\n"
                             "    let i = grid(1)\n"
                             "    if i < x.size {\n"
                             "        var v = x[i]\n"
                             "        for k in range(rounds) {\n"
                             "            v ^= v << 13\n"
                             "            v ^= v >> 17\n"
                             "            v ^= v << 5\n"
                             "        }\n"
                             "        x[i] = v\n"
                             "    }\n"
                             "}\n";

static void check(kjit_context *ctx, kjit_status status)
{
    if (status == KJIT_OK)
        return;
    fprintf(stderr, "%s\n", kjit_last_error(ctx));
    exit(1);
}

/* The points between a piece's steps. */
enum { START, COPIED, WORKED, BACK, POINTS };

typedef struct pipeline {
    kjit_context *ctx;
    kjit_module *mod;
    kjit_array *host; /* all of it, page-locked: a GPU's copies go past the processor */
    kjit_stream *streams[STREAMS]; /* each with memory for one piece */
    kjit_array *device[STREAMS];
    kjit_event *points[PIECES][POINTS];
    double ms[PIECES][POINTS]; /* when they were reached, from the first on */
} pipeline;

/* The steps of piece i. Its memory on the device was that of piece i - STREAMS, whose steps come
 * first in the same stream: nothing else has to be waited for. */
static void queue_piece(pipeline *p, int i)
{
    kjit_stream *stream = p->streams[i % STREAMS];
    kjit_array *device = p->device[i % STREAMS], *piece;
    int64_t first = (int64_t)i * PIECE, end = first + PIECE;
    check(p->ctx, kjit_array_slice(p->host, &first, &end, NULL, &piece));

    check(p->ctx, kjit_event_record(p->points[i][START], stream));
    check(p->ctx, kjit_copy(device, piece, stream));
    check(p->ctx, kjit_event_record(p->points[i][COPIED], stream));
    kjit_arg args[] = {kjit_arg_array(device), kjit_arg_i64(ROUNDS)};
    check(p->ctx, kjit_launch_forall(p->mod, "stir", PIECE, stream, args, 2));
    check(p->ctx, kjit_event_record(p->points[i][WORKED], stream));
    check(p->ctx, kjit_copy(piece, device, stream));
    check(p->ctx, kjit_event_record(p->points[i][BACK], stream));
    kjit_array_free(piece); /* queued work keeps what it needs */
}

static void run(pipeline *p)
{
    for (int i = 0; i < PIECES; i++)
        queue_piece(p, i);
    check(p->ctx, kjit_synchronize(p->ctx));
    for (int i = 0; i < PIECES; i++) {
        for (int k = 0; k < POINTS; k++)
            check(p->ctx, kjit_event_elapsed(p->points[0][START], p->points[i][k], &p->ms[i][k]));
    }
}

static double shared(const double a[2], const double b[2])
{
    double from = a[0] > b[0] ? a[0] : b[0], to = a[1] < b[1] ? a[1] : b[1];
    return to > from ? to - from : 0;
}

static void report(pipeline *p)
{
    double copies = 0, kernels = 0, both = 0, end = 0;
    for (int i = 0; i < PIECES; i++) {
        double *ms = p->ms[i];
        copies += ms[COPIED] - ms[START] + ms[BACK] - ms[WORKED];
        kernels += ms[WORKED] - ms[COPIED];
        end = ms[BACK] > end ? ms[BACK] : end;
        for (int k = 0; k < PIECES; k++)
            both += shared(&p->ms[k][COPIED], &ms[START]) + shared(&p->ms[k][COPIED], &ms[WORKED]);
    }
    printf("%.2f ms: copies %.2f ms, kernels %.2f ms, of these %.2f ms at the same time\n", end,
           copies, kernels, both);
}

static void prepare(pipeline *p, const char *device)
{
    char error[256];
    kjit_context_options options = {.device = device};
    if (kjit_context_create(&options, &p->ctx, error, sizeof error) != KJIT_OK) {
        fprintf(stderr, "%s\n", error);
        exit(1);
    }
    check(p->ctx,
          kjit_module_compile(p->ctx, "overlap.knl", source, strlen(source), NULL, &p->mod));
    check(p->ctx, kjit_array_create(p->ctx, KJIT_U32, 1, (int64_t[]){PIECES * PIECE}, 'C',
                                    KJIT_PINNED, &p->host));
    for (int i = 0; i < STREAMS; i++) {
        check(p->ctx, kjit_stream_create(p->ctx, &p->streams[i]));
        check(p->ctx, kjit_array_create(p->ctx, KJIT_U32, 1, (int64_t[]){PIECE}, 'C', KJIT_DEVICE,
                                        &p->device[i]));
    }
    for (int i = 0; i < PIECES; i++) {
        for (int k = 0; k < POINTS; k++)
            check(p->ctx, kjit_event_create(p->ctx, 1, &p->points[i][k]));
    }
}

static void drop(pipeline *p)
{
    for (int i = 0; i < PIECES; i++) {
        for (int k = 0; k < POINTS; k++)
            kjit_event_free(p->points[i][k]);
    }
    for (int i = 0; i < STREAMS; i++) {
        kjit_array_free(p->device[i]);
        kjit_stream_free(p->streams[i]);
    }
    kjit_array_free(p->host);
    kjit_module_free(p->mod);
    kjit_context_destroy(p->ctx);
}

static uint32_t stirred(uint32_t v, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        v ^= v << 13;
        v ^= v >> 17;
        v ^= v << 5;
    }
    return v;
}

int main(int argc, char **argv)
{
    enum { RUNS = 2 };
    pipeline p = {0};
    prepare(&p, argc > 1 ? argv[1] : NULL);
    uint32_t *x = kjit_array_data(p.host), wrong = 0;
    for (uint32_t i = 0; i < PIECES * PIECE; i++)
        x[i] = i + 1;
    for (int i = 0; i < RUNS; i++) /* the first one also compiles */
        run(&p);
    report(&p);
    for (uint32_t i = 0; i < PIECES * PIECE; i++)
        wrong += x[i] != stirred(i + 1, RUNS * ROUNDS);
    drop(&p);
    if (wrong > 0)
        printf("%u elements are wrong\n", (unsigned)wrong);
    return wrong > 0;
}
