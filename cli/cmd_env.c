/* kjit env: what a report of a mistake should say of the machine: versions, devices, settings. */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cli.h"

static void print_system(void)
{
    struct utsname system;
    if (uname(&system) == 0)
        printf("system  %s %s %s\n", system.sysname, system.release, system.machine);
}

/* KJIT_...=value, in the order that they stand in. */
static void print_settings(void)
{
    for (char **setting = environ; *setting; setting++)
        if (strncmp(*setting, "KJIT_", 5) == 0)
            printf("env     %s\n", *setting);
}

int command_env(const options *o)
{
    printf("kjit    %s\n", kjit_version());
    print_system();
    const char *json = lsp_version();
    printf("lsp     %s%s\n", json ? "jansson " : "none: built without jansson", json ? json : "");
    int code = command_devices(o);
    print_settings();
    return code;
}
