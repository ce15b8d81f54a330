/* The environment -> what is simulated. */
#include "double.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const drv_chip chips[] = {
#define CHIP(...) {__VA_ARGS__},
#include "chips.def"
#undef CHIP
};

/* The newest PTX by driver version, the oldest first. */
static const struct {
    int cuda, ptx;
} ptx_of[] = {{10000, 63}, {10010, 64}, {10020, 65}, {11000, 70}, {11010, 71}, {11020, 72},
              {11030, 73}, {11040, 74}, {11050, 75}, {11060, 76}, {11070, 77}, {11080, 78},
              {12000, 80}, {12010, 81}, {12020, 82}, {12030, 83}, {12040, 84}, {12050, 85},
              {12070, 86}, {12080, 87}, {12090, 88}, {13000, 90}, {13010, 91}, {99000, 99}};

/* By which a program knows that its driver is the double: kjit's tests ask, kjit doesn't. */
__attribute__((visibility("default"))) extern const int kjit_driver_double;
const int kjit_driver_double = 1;

static drv_settings given;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static uint64_t number(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

static void read_environment(void)
{
    int sm = (int)number("KJIT_DOUBLE_CHIP", 90);
    for (size_t i = 0; i < sizeof chips / sizeof *chips; i++) {
        if (chips[i].sm <= sm)
            given.chip = &chips[i];
    }
    if (!given.chip || given.chip->sm != sm) {
        fprintf(stderr, "driver double: KJIT_DOUBLE_CHIP=%d is not in chips.def\n", sm);
        abort();
    }
    given.version = (int)number("KJIT_DOUBLE_CUDA", 13000);
    given.devices = (int)number("KJIT_DOUBLE_DEVICES", 1);
    given.workers = (int)number("KJIT_DOUBLE_WORKERS", 2);
    given.exit_status = (int)number("KJIT_DOUBLE_EXIT", 97);
    given.memory = (size_t)number("KJIT_DOUBLE_MEMORY", (uint64_t)8 << 30);
    given.seed = number("KJIT_DOUBLE_SEED", 1);
    given.apart = (int)number("KJIT_DOUBLE_APART", 0);
    given.steps = number("KJIT_DOUBLE_STEPS", 1000000000);
    given.pools = number("KJIT_DOUBLE_POOLS", 1) && given.version >= 11020;
    given.managed = number("KJIT_DOUBLE_MANAGED", 1) != 0;
    given.peers = number("KJIT_DOUBLE_PEERS", 1) != 0;
    given.sync = number("KJIT_DOUBLE_SYNC", 0) != 0;
    given.noop = number("KJIT_DOUBLE_NOOP", 0) != 0;
    given.waits = number("KJIT_DOUBLE_WAITS", 0) != 0;
    given.fail = getenv("KJIT_DOUBLE_FAIL");
    given.log = getenv("KJIT_DOUBLE_LOG");
    given.report = getenv("KJIT_DOUBLE_REPORT");
}

const drv_settings *config(void)
{
    pthread_once(&once, read_environment);
    return &given;
}

bool chip_known(int sm)
{
    for (size_t i = 0; i < sizeof chips / sizeof *chips; i++) {
        if (chips[i].sm == sm)
            return true;
    }
    return false;
}

bool chip_runs(int code)
{
    return code / 10 == config()->chip->sm / 10 && code <= config()->chip->sm;
}

int config_ptx(int cuda_version)
{
    int ptx = 0;
    for (size_t i = 0; i < sizeof ptx_of / sizeof *ptx_of && ptx_of[i].cuda <= cuda_version; i++)
        ptx = ptx_of[i].ptx;
    return ptx;
}
