/* Heat spreading over a plate, its rows dealt out to MPI ranks with a device each: every step
 * exchanges the rows at the borders (the halo) while the device works on the rows between them.
 *
 *     mpirun -np 2 heat_mpi [n [steps]]
 *
 * Rank 0 computes the plate once more alone: the results are the same bit for bit. */
#include <kjit.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char source[] =
    "const ALPHA: f32 = 0.2\n"
    "# New values of some rows; src has a row more on either side. The plate's sides stay cold.\n"
    "kernel step(src: f32[,], dst: f32[,]) {\n"
    "    requires src.shape == (dst.shape[0] + 2, dst.shape[1])\n"
    "    let x, y = grid(2)\n"
    "    if y < dst.shape[0] and 0 < x < dst.shape[1] - 1 {\n"
    "        let here = src[y + 1, x]\n"
    "        let around = src[y, x] + src[y + 2, x] + src[y + 1, x - 1] + src[y + 1, x + 1]\n"
    "        dst[y, x] = here + ALPHA * (around - 4.0 * here)\n"
    "    }\n"
    "}\n";

enum { UP, DOWN, SIDES };

/* The plate's state on this rank: its rows, and one of either neighbour's around them. The views of
 * it are what steps work with. */
typedef struct field {
    kjit_array *all;
    kjit_array *halo[SIDES];
    kjit_array *edge[SIDES], *around_edge[SIDES]; /* the first and the last own row */
    kjit_array *inner, *around_inner;             /* those between */
} field;

typedef struct plate {
    kjit_context *ctx;
    kjit_module *mod;
    MPI_Comm comm;
    int neighbour[SIDES];
    int n, first, rows; /* n x n in all; this rank's */
    field fields[2];
    kjit_array *out[SIDES], *in[SIDES]; /* page-locked: rows to and from the neighbours */
    kjit_stream *edges, *inside;
    kjit_event *inside_done;
} plate;

static void fail(const char *text)
{
    fprintf(stderr, "%s\n", text);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void check(kjit_context *ctx, kjit_status status)
{
    if (status != KJIT_OK)
        fail(kjit_last_error(ctx));
}

/* ---- Setting up ---- */

/* A device of this rank's own, as far as the machine has them; else its part of the CPU. */
static kjit_context *open_device(char *name, size_t size)
{
    MPI_Comm node;
    int rank, ranks, gpus = 0;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &rank);
    MPI_Comm_size(node, &ranks);
    MPI_Comm_free(&node);
    kjit_device_info found[32];
    int count = kjit_devices(found, 32);
    for (int i = 0; i < count && i < 32; i++)
        gpus += strcmp(found[i].kind, "cuda") == 0;
    int cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
    if (gpus > 0)
        snprintf(name, size, "cuda:%d", rank % gpus);
    else
        snprintf(name, size, "cpu");
    kjit_context_options options = {.device = name, .workers = cores > ranks ? cores / ranks : 1};
    kjit_context *ctx;
    char error[256];
    if (kjit_context_create(&options, &ctx, error, sizeof error) != KJIT_OK)
        fail(error);
    return ctx;
}

static kjit_array *rows(const plate *p, kjit_array *a, int64_t first, int64_t count)
{
    kjit_array *view;
    int64_t start[] = {first, 0}, stop[] = {first + count, p->n};
    check(p->ctx, kjit_array_slice(a, start, stop, NULL, &view));
    return view;
}

static void make_field(const plate *p, field *f)
{
    int last = p->rows; /* row 0 is a halo */
    check(p->ctx, kjit_array_create(p->ctx, KJIT_F32, 2, (int64_t[]){p->rows + 2, p->n}, 'C',
                                    KJIT_DEVICE, &f->all));
    f->halo[UP] = rows(p, f->all, 0, 1);
    f->halo[DOWN] = rows(p, f->all, last + 1, 1);
    f->edge[UP] = rows(p, f->all, 1, 1);
    f->edge[DOWN] = rows(p, f->all, last, 1);
    f->around_edge[UP] = rows(p, f->all, 0, 3);
    f->around_edge[DOWN] = rows(p, f->all, last - 1, 3);
    f->inner = rows(p, f->all, 2, last - 2);
    f->around_inner = rows(p, f->all, 1, last);
}

static float at_start(int n, int y, int x)
{
    return abs(2 * y - n) < n / 2 && abs(2 * x - n) < n / 2 ? 100.0f : 0.0f;
}

static void make(plate *p, kjit_context *ctx, MPI_Comm comm, int n)
{
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    if (n / ranks < 2)
        fail("the plate has too few rows for so many ranks");
    int first = n / ranks * rank, end = rank + 1 < ranks ? first + n / ranks : n;
    *p = (plate){.ctx = ctx, .comm = comm, .n = n, .first = first, .rows = end - first};
    p->neighbour[UP] = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    p->neighbour[DOWN] = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
    check(ctx, kjit_module_compile(ctx, "heat.knl", source, strlen(source), NULL, &p->mod));
    check(ctx, kjit_stream_create(ctx, &p->edges));
    check(ctx, kjit_stream_create(ctx, &p->inside));
    check(ctx, kjit_event_create(ctx, 0, &p->inside_done));
    for (int side = 0; side < SIDES; side++) {
        int64_t row[] = {1, n};
        check(ctx, kjit_array_create(ctx, KJIT_F32, 2, row, 'C', KJIT_PINNED, &p->out[side]));
        check(ctx, kjit_array_create(ctx, KJIT_F32, 2, row, 'C', KJIT_PINNED, &p->in[side]));
        memset(kjit_array_data(p->in[side]), 0, (size_t)n * sizeof(float)); /* outside it is cold */
    }
    kjit_array *host;
    check(ctx,
          kjit_array_create(ctx, KJIT_F32, 2, (int64_t[]){p->rows + 2, n}, 'C', KJIT_HOST, &host));
    float *values = kjit_array_data(host);
    for (int y = 0; y < p->rows + 2; y++) {
        for (int x = 0; x < n; x++)
            values[(size_t)y * (size_t)n + (size_t)x] = at_start(n, first + y - 1, x);
    }
    for (int i = 0; i < 2; i++) {
        make_field(p, &p->fields[i]);
        check(ctx, kjit_copy(p->fields[i].all, host, NULL));
    }
    kjit_array_free(host);
}

static void drop(plate *p)
{
    for (int i = 0; i < 2; i++) {
        field *f = &p->fields[i];
        for (int side = 0; side < SIDES; side++) {
            kjit_array_free(f->halo[side]);
            kjit_array_free(f->edge[side]);
            kjit_array_free(f->around_edge[side]);
        }
        kjit_array_free(f->inner);
        kjit_array_free(f->around_inner);
        kjit_array_free(f->all);
        kjit_array_free(p->out[i]);
        kjit_array_free(p->in[i]);
    }
    kjit_event_free(p->inside_done);
    kjit_stream_free(p->edges);
    kjit_stream_free(p->inside);
    kjit_module_free(p->mod);
}

/* ---- Steps ---- */

static void launch(const plate *p, kjit_array *src, kjit_array *dst, kjit_stream *stream)
{
    int64_t height = kjit_array_shape(dst)[0];
    kjit_config config = {
        .grid = {(p->n + 63) / 64, (height + 3) / 4}, .block = {64, 4}, .stream = stream};
    kjit_arg args[] = {kjit_arg_array(src), kjit_arg_array(dst)};
    check(p->ctx, kjit_launch(p->mod, "step", &config, args, 2));
}

/* Sends the own edge to one neighbour and receives the other's. */
static void exchange(plate *p, int to, int from)
{
    MPI_Sendrecv(kjit_array_data(p->out[to]), p->n, MPI_FLOAT, p->neighbour[to], 0,
                 kjit_array_data(p->in[from]), p->n, MPI_FLOAT, p->neighbour[from], 0, p->comm,
                 MPI_STATUS_IGNORE);
}

static void step(plate *p, const field *src, const field *dst)
{
    /* the edges are new first, and on their way to the host while the rows between are worked on;
     * they overwrite what the last step's inner rows were made of */
    check(p->ctx, kjit_stream_wait(p->edges, p->inside_done));
    for (int side = 0; side < SIDES; side++) {
        launch(p, src->around_edge[side], dst->edge[side], p->edges);
        check(p->ctx, kjit_copy(p->out[side], dst->edge[side], p->edges));
    }
    if (kjit_array_size(dst->inner) > 0)
        launch(p, src->around_inner, dst->inner, p->inside);
    check(p->ctx, kjit_event_record(p->inside_done, p->inside));

    check(p->ctx, kjit_stream_synchronize(p->edges));
    exchange(p, UP, DOWN);
    exchange(p, DOWN, UP);
    for (int side = 0; side < SIDES; side++)
        check(p->ctx, kjit_copy(dst->halo[side], p->in[side], p->edges));
}

/* This rank's rows after so many steps, for free(). */
static float *solve(kjit_context *ctx, MPI_Comm comm, int n, int steps, int *count)
{
    plate p;
    make(&p, ctx, comm, n);
    for (int i = 0; i < steps; i++)
        step(&p, &p.fields[i % 2], &p.fields[(i + 1) % 2]);
    *count = p.rows * n;
    float *values = malloc((size_t)*count * sizeof *values);
    if (!values)
        fail("out of memory");
    kjit_array *own = rows(&p, p.fields[steps % 2].all, 1, p.rows), *host;
    check(ctx, kjit_array_wrap(ctx, values, KJIT_F32, 2, (int64_t[]){p.rows, n}, NULL, KJIT_HOST,
                               &host));
    check(ctx, kjit_copy(host, own, NULL));
    kjit_array_free(host);
    kjit_array_free(own);
    drop(&p);
    return values;
}

/* ---- The program ---- */

/* All ranks' rows on rank 0, for free(); NULL on the others. */
static float *gather(const float *values, int count, int n)
{
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int *counts = malloc((size_t)ranks * sizeof *counts);
    int *places = malloc((size_t)ranks * sizeof *places);
    float *all = rank == 0 ? malloc((size_t)n * (size_t)n * sizeof *all) : NULL;
    if (!counts || !places || (rank == 0 && !all))
        fail("out of memory");
    MPI_Gather(&count, 1, MPI_INT, counts, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0, place = 0; rank == 0 && i < ranks; place += counts[i++])
        places[i] = place;
    MPI_Gatherv(values, count, MPI_FLOAT, all, counts, places, MPI_FLOAT, 0, MPI_COMM_WORLD);
    free(counts);
    free(places);
    return all;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int n = argc > 1 ? atoi(argv[1]) : 128, steps = argc > 2 ? atoi(argv[2]) : 1000;
    int rank, ranks, count, wrong = 0;
    char device[32];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    kjit_context *ctx = open_device(device, sizeof device);
    float *values = solve(ctx, MPI_COMM_WORLD, n, steps, &count);
    float *all = gather(values, count, n);
    if (rank == 0) {
        float *alone = solve(ctx, MPI_COMM_SELF, n, steps, &count);
        for (int i = 0; i < count; i++)
            wrong += memcmp(&all[i], &alone[i], sizeof(float)) != 0;
        printf("%d steps of %d x %d by %d ranks, rank 0 on %s: %g in the middle, %d differ\n",
               steps, n, n, ranks, device, (double)all[(n / 2) * n + n / 2], wrong);
        free(alone);
    }
    free(values);
    free(all);
    kjit_context_destroy(ctx);
    MPI_Bcast(&wrong, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return wrong != 0;
}
