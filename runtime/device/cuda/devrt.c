/* CUDA's device runtime, which kernels that launch kernels are linked with: a library of the
 * toolkit's, wherever that is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "device/cuda/cuda_device.h"

#define NAME "libcudadevrt.a"

static const char *const folders[] = {
    "/usr/local/cuda/lib64",
    "/usr/local/cuda/targets/x86_64-linux/lib",
    "/usr/local/cuda/targets/sbsa-linux/lib",
    "/opt/cuda/lib64",
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
};

/* The file of KJIT_CUDADEVRT, which is then the only one, or one in $CUDA_HOME or a usual
 * folder. */
static FILE *open_library(void)
{
    char path[4096];
    const char *named = secure_getenv("KJIT_CUDADEVRT"), *home = secure_getenv("CUDA_HOME");
    if (named)
        return fopen(named, "re");
    FILE *file = NULL;
    if (home && kj_snprintf(path, sizeof path, "%s/lib64/" NAME, home) < (int)sizeof path)
        file = fopen(path, "re");
    for (size_t i = 0; i < sizeof folders / sizeof *folders && !file; i++) {
        kj_snprintf(path, sizeof path, "%s/" NAME, folders[i]);
        file = fopen(path, "re");
    }
    return file;
}

/* All of a file, for free(); NULL when it cannot be read. */
static char *read_all(FILE *file, size_t *size)
{
    enum { STEP = 1 << 18 };
    char *data = NULL;
    size_t got = STEP;
    for (*size = 0; got == STEP; *size += got) {
        char *more = realloc(data, *size + STEP);
        if (!more)
            break;
        data = more;
        got = fread(data + *size, 1, STEP, file);
    }
    if (got < STEP && !ferror(file))
        return data;
    free(data);
    return NULL;
}

kjit_status kj_cuda_devrt(const kj_cuda_driver *cu, char **data, size_t *size, kj_failure *why)
{
    enum { CUDA_12 = 12000 };
    if (cu->version < CUDA_12)
        return kj_because(why, KJIT_NO_DEVICE,
                          "launches by kernels need a driver for CUDA 12; this one is for %d.%d",
                          cu->version / 1000, cu->version % 1000 / 10);
    const char *named = secure_getenv("KJIT_CUDADEVRT");
    FILE *file = open_library();
    *data = file ? read_all(file, size) : NULL;
    if (file)
        fclose(file);
    if (*data)
        return KJIT_OK;
    return kj_because(why, KJIT_NO_DEVICE,
                      "launches by kernels need the CUDA toolkit's " NAME
                      ", which was not found: not %s%s",
                      named ? "as KJIT_CUDADEVRT says, " : "in $CUDA_HOME/lib64, ",
                      named ? named : "/usr/local/cuda/lib64 or /usr/lib");
}
