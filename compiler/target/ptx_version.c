/* PTX versions, drivers and chips: see ptx_version.h. */
#include "target/ptx_version.h"

#include <stddef.h>
#include <string.h>

static const struct {
    int version, driver, llvm;
} versions[] = {
#define PTX(version, driver, llvm) {version, driver, llvm},
#include "target/ptx_version.def"
};

static const struct {
    const char *name;
    int capability, since, llvm;
} chips[] = {
#define CHIP(name, since, llvm) {"sm_" #name, name, since, llvm},
#include "target/ptx_version.def"
};

enum { VERSIONS = sizeof versions / sizeof *versions, CHIPS = sizeof chips / sizeof *chips };

int kj_ptx_of_driver(int driver)
{
    int newest = 0;
    for (int i = 0; i < VERSIONS && versions[i].driver <= driver; i++)
        newest = versions[i].version;
    return newest;
}

const char *kj_ptx_target_of(int capability, int ptx, int llvm)
{
    const char *newest = NULL;
    for (int i = 0; i < CHIPS && chips[i].capability <= capability; i++)
        if (chips[i].since <= ptx && chips[i].llvm <= llvm)
            newest = chips[i].name;
    return newest;
}

const char *kj_ptx_chip(int i, int llvm)
{
    for (int c = 0; c < CHIPS; c++)
        if (chips[c].llvm <= llvm && i-- == 0)
            return chips[c].name;
    return NULL;
}

int kj_ptx_version(const char *target, int ptx, int llvm)
{
    int since = 0;
    for (int i = 0; i < CHIPS; i++)
        if (chips[i].llvm <= llvm && strcmp(chips[i].name, target) == 0)
            since = chips[i].since;
    if (since == 0)
        return 0;
    int oldest = since > versions[0].version ? since : versions[0].version, newest = 0;
    if (ptx == 0)
        return oldest;
    for (int i = 0; i < VERSIONS && versions[i].version <= ptx; i++)
        if (versions[i].llvm <= llvm)
            newest = versions[i].version;
    return newest >= oldest ? newest : -oldest;
}

static int capability_of(const char *chip)
{
    for (int i = 0; i < CHIPS; i++)
        if (strcmp(chips[i].name, chip) == 0)
            return chips[i].capability;
    return 0;
}

bool kj_ptx_runs(const char *gpu, const char *target)
{
    int code = capability_of(target);
    return code > 0 && code <= capability_of(gpu);
}
