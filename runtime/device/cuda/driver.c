/* Finds the NVIDIA driver, asks it for its entry points and devices: once a process. What goes
 * wrong is kept as a sentence. */
#include <dlfcn.h>
#include <link.h>
#include <llvm/Config/llvm-config.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/c_locale.h"
#include "device/cuda/cuda_device.h"
#include "target/ptx_version.h"

/* CUDA 11.8, the oldest that kjit works with, came with this driver. */
#define OLDEST "11.8"
#define OLDEST_DRIVER "520"

typedef struct loading {
    void *library;
    kj_cu_result (*look_up)(const char *name, void **entry, int version, uint64_t flags,
                            unsigned *found);
    kj_cu_result (*look_up_11)(const char *name, void **entry, int version, uint64_t flags);
    kj_cuda_driver driver;
    kj_failure why;
} loading;

static struct {
    pthread_once_t once;
    bool usable;
    pid_t pid; /* of the process that initialised the driver; 0: nobody did */
    kj_cuda_driver driver;
    char absent[sizeof(kj_failure)];
} loaded = {.once = PTHREAD_ONCE_INIT};

typedef enum need { OPTIONAL, REQUIRED } need;

static const struct {
    const char *name, *symbol;
    int version;
    need need;
    size_t place;
} entries[] = {
#define CU(name, suffix, version, need, params) \
    {"cu" #name, "cu" #name #suffix, version, need, offsetof(kj_cuda_driver, name)},
#include "device/cuda/driver.def"
#undef CU
};

/* Takes a function from where the library has it; false when it has none of that name. */
static bool take(const loading *l, const char *symbol, void *function)
{
    void *address = dlsym(l->library, symbol);
    memcpy(function, &address, sizeof address);
    return address;
}

#define NAME "libcuda.so.1"

/* Where installers and containers put the driver without telling the loader; last the compatibility
 * package's, which is for drivers older than itself. The toolkit's stubs are in no such folder. */
static const char *const folders[] = {
    "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64",
    "/usr/lib64/nvidia",         "/usr/local/nvidia/lib64",    "/usr/local/nvidia/lib",
    "/usr/lib/wsl/lib",          "/run/opengl-driver/lib",     "/usr/local/cuda/compat",
};

static void *open_in(const char *folder, const char *name)
{
    char path[100];
    kj_snprintf(path, sizeof path, "%s/%s", folder, name);
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/* The driver looks for its compiler by name: one that is loaded is found. */
static void *open_in_folders(void)
{
    void *library = NULL;
    for (size_t i = 0; i < sizeof folders / sizeof *folders && !library; i++) {
        library = open_in(folders[i], NAME);
        if (library)
            (void)open_in(folders[i], "libnvidia-ptxjitcompiler.so.1");
    }
    return library;
}

/* A shared library of the program's, if it has one. */
static int find_shared(struct dl_phdr_info *info, size_t size, void *found)
{
    (void)size;
    *(bool *)found |= strstr(info->dlpi_name, ".so") && !strstr(info->dlpi_name, "linux-vdso");
    return 0;
}

/* A driver has threads, of another C library than a static program's: it would end there. */
static bool is_static_program(void)
{
    bool shared = false;
    dl_iterate_phdr(find_shared, &shared);
    return !shared;
}

static bool open_library(loading *l)
{
    if (is_static_program()) {
        kj_because(&l->why, KJIT_NO_DEVICE, "a static program cannot load the NVIDIA driver");
        return false;
    }
    const char *path = secure_getenv("KJIT_CUDA_DRIVER");
    bool named = path && *path;
    l->library = dlopen(named ? path : NAME, RTLD_NOW | RTLD_LOCAL);
    if (l->library)
        return true;
    const char *error = dlerror();
    kj_because(&l->why, KJIT_NO_DEVICE, "no NVIDIA driver can be loaded%s: %s",
               named ? " from where KJIT_CUDA_DRIVER says" : "", error ? error : "no reason given");
    if (!named)
        l->library = open_in_folders();
    return l->library;
}

/* The driver's version can be asked before it is initialised. */
static bool check_version(loading *l)
{
    kj_cuda_driver *d = &l->driver;
    if (!take(l, "cuInit", &d->Init) || !take(l, "cuDriverGetVersion", &d->DriverGetVersion)) {
        kj_because(&l->why, KJIT_NO_DEVICE, "the library loaded as the NVIDIA driver is none");
        return false;
    }
    kj_cu_result result = d->DriverGetVersion(&d->version);
    if (result != KJ_CU_SUCCESS) {
        kj_cuda_because(d, result, &l->why, "ask the NVIDIA driver for its version");
        return false;
    }
    if (kj_ptx_of_driver(d->version) > 0)
        return true;
    kj_because(&l->why, KJIT_NO_DEVICE,
               "the NVIDIA driver is too old: it has CUDA %d.%d, kjit needs " OLDEST
               " or newer: install driver " OLDEST_DRIVER " or newer",
               d->version / 1000, d->version % 1000 / 10);
    return false;
}

static bool find_entries(loading *l)
{
    if (!take(l, "cuGetProcAddress_v2", &l->look_up))
        take(l, "cuGetProcAddress", &l->look_up_11);
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        void *entry = NULL;
        unsigned found;
        if (l->look_up)
            l->look_up(entries[i].name, &entry, entries[i].version, 0, &found);
        else if (l->look_up_11)
            l->look_up_11(entries[i].name, &entry, entries[i].version, 0);
        if (!entry)
            entry = dlsym(l->library, entries[i].symbol);
        if (!entry && entries[i].need == REQUIRED) {
            kj_because(&l->why, KJIT_NO_DEVICE, "the NVIDIA driver has no %s", entries[i].symbol);
            return false;
        }
        memcpy((char *)&l->driver + entries[i].place, &entry, sizeof entry);
    }
    return true;
}

/* Adds a device that kjit has code for; leaves out the others. */
static kj_cu_result add_device(loading *l, int ordinal)
{
    kj_cuda_driver *d = &l->driver;
    kj_cu_device device;
    int major, minor;
    kj_cu_result result = d->DeviceGet(&device, ordinal);
    if (result == KJ_CU_SUCCESS)
        result = d->DeviceGetAttribute(&major, KJ_CU_DEVICE_COMPUTE_CAPABILITY_MAJOR, device);
    if (result == KJ_CU_SUCCESS)
        result = d->DeviceGetAttribute(&minor, KJ_CU_DEVICE_COMPUTE_CAPABILITY_MINOR, device);
    if (result != KJ_CU_SUCCESS)
        return result;
    int capability = 10 * major + minor;
    if (kj_cuda_target(d, capability)) {
        d->devices[d->ndevices++] = (kj_cuda_chip){device, capability};
        return result;
    }
    char name[100] = "the device";
    d->DeviceGetName(name, sizeof name, device); /* without its name, if it has none to give */
    kj_because(&l->why, KJIT_NO_DEVICE,
               "%s is too old: its compute capability is %d.%d, kjit needs 7.5 or newer", name,
               major, minor);
    return result;
}

static bool find_devices(loading *l)
{
    kj_cuda_driver *d = &l->driver;
    int count = 0;
    kj_cu_result result = d->Init(0);
    if (result == KJ_CU_SUCCESS)
        result = d->DeviceGetCount(&count);
    if (result == KJ_CU_SUCCESS && count == 0)
        result = KJ_CU_NO_DEVICE;
    for (int i = 0; result == KJ_CU_SUCCESS && i < count && d->ndevices < KJ_CUDA_MAX_DEVICES; i++)
        result = add_device(l, i);
    if (result != KJ_CU_SUCCESS)
        kj_cuda_because(d, result, &l->why, "use the NVIDIA driver");
    return result == KJ_CU_SUCCESS && d->ndevices > 0;
}

/* A library that cannot be used stays in the process: it may have begun things of its own. */
static void load(void)
{
    loading l = {0};
    if (open_library(&l) && check_version(&l) && find_entries(&l)) {
        loaded.pid = getpid();
        loaded.usable = find_devices(&l);
    }
    loaded.driver = l.driver;
    memcpy(loaded.absent, l.why.text, sizeof loaded.absent);
}

const kj_cuda_driver *kj_cuda_driver_get(void)
{
    pthread_once(&loaded.once, load);
    return loaded.usable && loaded.pid == getpid() ? &loaded.driver : NULL;
}

const char *kj_cuda_absent(void)
{
    if (kj_cuda_driver_get())
        return NULL;
    return loaded.usable ? "CUDA cannot be used in a process that was forked from one that uses it"
                         : loaded.absent;
}

const char *kj_cuda_target(const kj_cuda_driver *driver, int capability)
{
    return kj_ptx_target_of(capability, kj_ptx_of_driver(driver->version), LLVM_VERSION_MAJOR);
}
