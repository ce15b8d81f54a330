/* kjit devices: a line a device, or why there is no GPU. */
#include <stdio.h>
#include <string.h>

#include "cli.h"

int command_devices(const options *o)
{
    enum { MOST = 32 };
    kjit_device_info devices[MOST];
    int n = kjit_devices(devices, MOST);
    (void)o;
    if (n == 0) {
        complain("this machine has no device that kjit can use");
        return EXIT_FAILED;
    }
    const char *absent = kjit_device_absent("cuda");
    if (absent)
        printf("%-7s none: %s\n", "cuda", absent);
    for (int i = 0; i < n && i < MOST; i++) {
        const kjit_device_info *d = &devices[i];
        char name[40];
        bool cpu = strcmp(d->kind, "cpu") == 0;
        snprintf(name, sizeof name, cpu ? "%s" : "%s:%d", d->kind, d->ordinal);
        printf("%-7s %s, %d %s, %.1f GiB\n", name, d->name, d->units,
               cpu ? d->units == 1 ? "worker" : "workers" : "multiprocessors",
               (double)d->memory / (1 << 30));
    }
    return EXIT_OK;
}
