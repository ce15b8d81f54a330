#include "driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { /* numbers of CUdevice_attribute */
       ATTRIBUTE_CLOCK = 13,
       ATTRIBUTE_UNITS = 16,
       ATTRIBUTE_MAJOR = 75,
       ATTRIBUTE_MINOR = 76
};

static bool find_calls(driver *d, char why[DRIVER_WHY])
{
    const struct {
        const char *name;
        void *place;
    } calls[] = {
#define CALL(field, symbol, params) {symbol, &d->field},
        DRIVER_CALLS(CALL)
#undef CALL
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        void *found = dlsym(d->handle, calls[i].name);
        if (found == NULL) {
            snprintf(why, DRIVER_WHY, "the driver has no %s", calls[i].name);
            return false;
        }
        memcpy(calls[i].place, &found, sizeof found);
    }
    return true;
}

static bool open_device(driver *d)
{
    int major = 0, minor = 0;
    if (d->init(0) != 0 || d->version(&d->driver_version) != 0 || d->device(&d->number, 0) != 0 ||
        d->device_name(d->name, sizeof d->name, d->number) != 0 ||
        d->attribute(&d->units, ATTRIBUTE_UNITS, d->number) != 0 ||
        d->attribute(&major, ATTRIBUTE_MAJOR, d->number) != 0 ||
        d->attribute(&minor, ATTRIBUTE_MINOR, d->number) != 0 ||
        d->retain(&d->context, d->number) != 0)
        return false;
    if (d->attribute(&d->clock_khz, ATTRIBUTE_CLOCK, d->number) != 0)
        d->clock_khz = 0; /* newer drivers may stop telling */
    d->capability = major * 10 + minor;
    return d->set_context(d->context) == 0 && d->stream_create(&d->stream, 0) == 0 &&
           d->event_create(&d->from, 0) == 0 && d->event_create(&d->to, 0) == 0;
}

bool driver_open(driver *d, char why[DRIVER_WHY])
{
    memset(d, 0, sizeof *d);
    const char *path = getenv("KJIT_CUDA_DRIVER");
    d->handle = dlopen(path != NULL ? path : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (d->handle == NULL) {
        snprintf(why, DRIVER_WHY, "%s", dlerror());
        return false;
    }
    bool found = find_calls(d, why);
    if (found && open_device(d))
        return true;
    if (found)
        snprintf(why, DRIVER_WHY, "the driver has no device that works");
    driver_close(d);
    return false;
}

void driver_close(driver *d)
{
    if (d->from != NULL)
        d->event_destroy(d->from);
    if (d->to != NULL)
        d->event_destroy(d->to);
    if (d->stream != NULL)
        d->stream_destroy(d->stream);
    if (d->context != NULL)
        d->set_context(NULL);
    if (d->context != NULL)
        d->release(d->number);
    if (d->handle != NULL)
        dlclose(d->handle);
    memset(d, 0, sizeof *d);
}

bool driver_start(driver *d)
{
    return d->event_record(d->from, d->stream) == 0;
}

bool driver_stop(driver *d, double *ms)
{
    float elapsed = 0;
    if (d->event_record(d->to, d->stream) != 0 || d->event_wait(d->to) != 0 ||
        d->event_elapsed(&elapsed, d->from, d->to) != 0)
        return false;
    *ms = (double)elapsed;
    return true;
}

double driver_bandwidth(driver *d, size_t size)
{
    enum { COPIES = 4, TRIES = 8 };
    driver_memory from = 0, to = 0;
    double best = 0;
    if (d->alloc(&from, size) == 0 && d->alloc(&to, size) == 0) {
        for (int i = 0; i < TRIES; i++) {
            double ms = 0;
            bool good = driver_start(d);
            for (int j = 0; j < COPIES && good; j++)
                good = d->copy(to, from, size, d->stream) == 0;
            if (!good || !driver_stop(d, &ms) || ms <= 0)
                break;
            const double rate = 2.0 * COPIES * (double)size / ms / 1e6;
            best = rate > best ? rate : best;
        }
    }
    if (from != 0)
        d->release_memory(from);
    if (to != 0)
        d->release_memory(to);
    return best;
}

double driver_peak(const driver *d)
{
    /* f32 lanes of a multiprocessor: 64 on Turing and the A100, 128 on the others since. */
    const int lanes = d->capability == 75 || d->capability == 80 ? 64 : 128;
    return 2.0 * lanes * d->units * d->clock_khz / 1e6;
}
