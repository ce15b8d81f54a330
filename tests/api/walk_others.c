/* A walk through what a program does with a second device and with another process: as walk.c, 0
 * and a number when all went well, at the first failure its sentence and 1. tests/driver/inject.py
 * makes the driver's calls fail under it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kjit.h>

enum { N = 5000 };

static kjit_context *ctx, *other;
static kjit_array *host, *here, *there, *shown, *opened;
static kjit_stream *stream;
static kjit_ipc_handle handle;
static const kjit_array_options shareable = {.memory = KJIT_DEVICE, .shareable = 1};

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

#define TRY(in, call) \
    do { \
        kjit_status status_ = (call); \
        if (failed(status_, #call, kjit_last_error(in))) \
            return 1; \
    } while (0)

/* ---- The other process, whose driver works ---- */

static int show(int to, int from)
{
    char error[1000], byte;
    unsetenv("KJIT_DOUBLE_FAIL");
    unsetenv("KJIT_DOUBLE_LOG");
    if (failed(kjit_context_create(NULL, &ctx, error, sizeof error), "kjit_context_create", error))
        return 1;
    TRY(ctx, kjit_array_create_with(ctx, KJIT_I32, 1, (int64_t[]){N}, &shareable, &shown));
    TRY(ctx, kjit_array_create(ctx, KJIT_I32, 1, (int64_t[]){N}, 'C', KJIT_HOST, &host));
    for (int i = 0; i < N; i++)
        ((int32_t *)kjit_array_data(host))[i] = i * i;
    TRY(ctx, kjit_copy(shown, host, NULL));
    TRY(ctx, kjit_array_ipc_handle(shown, &handle));
    if (write(to, &handle, sizeof handle) != sizeof handle)
        return 1;
    while (read(from, &byte, 1) > 0) {
    }
    kjit_array_free(shown);
    kjit_array_free(host);
    kjit_context_destroy(ctx);
    return 0;
}

/* ---- The walk ---- */

static int make(void)
{
    char error[1000];
    kjit_device_info info[2];
    int n = kjit_devices(info, 2);
    const char *second = n > 1 && strcmp(info[1].kind, "cuda") == 0 ? "cuda:1" : "cpu";
    if (failed(kjit_context_create(NULL, &ctx, error, sizeof error), "kjit_context_create", error))
        return 1;
    if (failed(kjit_context_create(&(kjit_context_options){.device = second}, &other, error,
                                   sizeof error),
               "kjit_context_create", error))
        return 1;
    TRY(ctx, kjit_stream_create(ctx, &stream));
    TRY(ctx, kjit_array_create(ctx, KJIT_I32, 1, (int64_t[]){N}, 'C', KJIT_HOST, &host));
    TRY(ctx, kjit_array_create(ctx, KJIT_I32, 1, (int64_t[]){N}, 'C', KJIT_DEVICE, &here));
    TRY(other, kjit_array_create(other, KJIT_I32, 1, (int64_t[]){N}, 'C', KJIT_DEVICE, &there));
    for (int i = 0; i < N; i++)
        ((int32_t *)kjit_array_data(host))[i] = i;
    return 0;
}

/* To the other device and back, now and in a stream. */
static int visit(void)
{
    int can;
    int64_t warp;
    TRY(ctx, kjit_device_attribute(ctx, KJIT_ATTRIBUTE_WARP_SIZE, &warp));
    TRY(ctx, kjit_can_access_peer(ctx, other, &can));
    TRY(there ? other : ctx, kjit_copy(there, host, NULL));
    TRY(ctx, kjit_copy(here, there, stream));
    TRY(ctx, kjit_stream_synchronize(stream));
    TRY(other, kjit_copy(there, here, NULL));
    TRY(ctx, kjit_copy(here, there, NULL));
    return 0;
}

static int meet(void)
{
    TRY(ctx, kjit_array_create_with(ctx, KJIT_I32, 1, (int64_t[]){N}, &shareable, &shown));
    kjit_ipc_handle own;
    TRY(ctx, kjit_array_ipc_handle(shown, &own));
    TRY(ctx, kjit_ipc_open(ctx, &handle, &opened));
    TRY(ctx, kjit_copy(shown, opened, stream));
    TRY(ctx, kjit_stream_synchronize(stream));
    TRY(ctx, kjit_copy(host, shown, NULL));
    kjit_array_free(opened);
    opened = NULL;
    TRY(ctx, kjit_deallocate_pending(ctx));
    return 0;
}

static uint32_t sum_of(const kjit_array *a)
{
    uint32_t sum = 0;
    for (int i = 0; i < N; i++)
        sum = sum * 31 + ((const uint32_t *)kjit_array_data(a))[i];
    return sum;
}

/* Of what came from the other process and of what came back from the other device. */
static int add_up(uint32_t *sum)
{
    *sum = sum_of(host);
    TRY(ctx, kjit_copy(host, here, NULL));
    *sum += 7 * sum_of(host);
    return 0;
}

int main(void)
{
    int down[2], up[2];
    setenv("KJIT_DOUBLE_DEVICES", "2", 0);
    if (pipe(down) != 0 || pipe(up) != 0)
        return 3;
    pid_t child = fork();
    if (child == 0) {
        close(down[1]);
        return show(up[1], down[0]);
    }
    close(up[1]);
    if (read(up[0], &handle, sizeof handle) != sizeof handle)
        return 3;
    uint32_t sum = 0;
    int status = make() || visit() || meet() || add_up(&sum);
    kjit_array *arrays[] = {host, here, there, shown, opened};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        kjit_array_free(arrays[i]);
    kjit_stream_free(stream);
    kjit_context_destroy(ctx);
    kjit_context_destroy(other);
    close(down[1]);
    waitpid(child, NULL, 0);
    if (status == 0)
        printf("%lu\n", (unsigned long)sum);
    return status;
}
