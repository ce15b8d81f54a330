/* kjit devices: a line a device, or why there is no GPU; with --attributes what it is like. */
#include <stdio.h>
#include <string.h>

#include "cli.h"

/* A line an attribute that the device has; opens it. */
static int show_attributes(const char *device)
{
    static const struct {
        kjit_attribute attribute;
        const char *name, *text;
    } rows[] = {
#define ROW(name, number, text) {KJIT_ATTRIBUTE_##name, #name, text},
        KJIT_ATTRIBUTE_MAP(ROW)
#undef ROW
    };
    const kjit_context_options wanted = {.device = device, .cache = "off"};
    kjit_context *ctx;
    char error[1000];
    if (kjit_context_create(&wanted, &ctx, error, sizeof error) != KJIT_OK) {
        complain("%s", error);
        return EXIT_FAILED;
    }
    int code = EXIT_OK;
    for (size_t i = 0; i < sizeof rows / sizeof *rows && code == EXIT_OK; i++) {
        int64_t value;
        kjit_status status = kjit_device_attribute(ctx, rows[i].attribute, &value);
        if (status == KJIT_OK)
            printf("    %-28s %10lld  %s\n", rows[i].name, (long long)value, rows[i].text);
        else if (status != KJIT_NO_DEVICE)
            code = library_failed(ctx, status);
    }
    kjit_context_destroy(ctx);
    return code;
}

int command_devices(const options *o)
{
    enum { MOST = 32 };
    kjit_device_info devices[MOST];
    int n = kjit_devices(devices, MOST), code = EXIT_OK;
    if (n == 0) {
        complain("this machine has no device that kjit can use");
        return EXIT_FAILED;
    }
    const char *absent = kjit_device_absent("cuda");
    if (absent)
        printf("%-7s none: %s\n", "cuda", absent);
    for (int i = 0; i < n && i < MOST && code == EXIT_OK; i++) {
        const kjit_device_info *d = &devices[i];
        char name[40];
        bool cpu = strcmp(d->kind, "cpu") == 0;
        snprintf(name, sizeof name, cpu ? "%s" : "%s:%d", d->kind, d->ordinal);
        printf("%-7s %s, %d %s, %.1f GiB\n", name, d->name, d->units,
               cpu ? d->units == 1 ? "worker" : "workers" : "multiprocessors",
               (double)d->memory / (1 << 30));
        if (o->attributes)
            code = show_attributes(name);
    }
    return code;
}
