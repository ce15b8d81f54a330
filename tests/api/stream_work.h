/* What programs of streams work on: 64 numbers of the device, and kernels whose order shows in them. */
#ifndef STREAM_WORK_H
#define STREAM_WORK_H

#include "api.h"

#define ADD_AND_SCALE \
    "kernel add(x: i32[], n: i32) { let i = grid(1); if i < x.size { x[i] += n } }\n" \
    "kernel scale(x: i32[], n: i32) { let i = grid(1); if i < x.size { x[i] *= n } }\n"

static kjit_module *mod;

/* One thread for "slow", else 64. */
static inline kjit_status launch(const char *kernel, kjit_stream *s, kjit_array *a, int64_t n)
{
    kjit_arg args[] = {kjit_arg_array(a), kjit_arg_i64(n)};
    bool one = strcmp(kernel, "slow") == 0;
    kjit_config config = {.grid = {1}, .block = {one ? 1 : 64}, .stream = s};
    return kjit_launch(mod, kernel, &config, args, 2);
}

/* 64 zeros on the device. */
static inline kjit_array *zeros(void)
{
    static int32_t none[64];
    kjit_array *host = wrap(none, KJIT_I32, 1, SHAPE(64)), *device;
    OK(kjit_to_device(host, NULL, &device));
    kjit_array_free(host);
    return device;
}

static inline int32_t first_of(kjit_array *a)
{
    kjit_array *host;
    OK(kjit_to_host(a, NULL, &host));
    int32_t value = *(int32_t *)kjit_array_data(host);
    kjit_array_free(host);
    return value;
}

#endif
