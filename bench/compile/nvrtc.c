#include "nvrtc.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void *program;

struct nvrtc {
    void *handle;
    int (*version)(int *major, int *minor);
    int (*create)(program *out, const char *text, const char *name, int nheaders,
                  const char *const *headers, const char *const *names);
    int (*compile)(program p, int noptions, const char *const *options);
    int (*ptx_size)(program p, size_t *size);
    int (*ptx)(program p, char *out);
    int (*log_size)(program p, size_t *size);
    int (*log)(program p, char *out);
    int (*destroy)(program *p);
};

static void *open_library(const char *path)
{
    static const char *const names[] = {"libnvrtc.so",
                                        "libnvrtc.so.13",
                                        "libnvrtc.so.12",
                                        "/usr/local/cuda/lib64/libnvrtc.so",
                                        "/usr/local/cuda/lib64/libnvrtc.so.13",
                                        "/usr/local/cuda/lib64/libnvrtc.so.12"};
    if (path != NULL)
        return dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *handle = NULL;
    for (size_t i = 0; handle == NULL && i < sizeof names / sizeof *names; i++)
        handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return handle;
}

nvrtc *nvrtc_open(const char *path, char why[WHY_SIZE])
{
    nvrtc *lib = calloc(1, sizeof *lib);
    void *handle = lib != NULL ? open_library(path) : NULL;
    if (handle == NULL) {
        snprintf(why, WHY_SIZE, "libnvrtc was not found");
        free(lib);
        return NULL;
    }
    lib->handle = handle;
    const struct {
        const char *name;
        void *place;
    } symbols[] = {{"nvrtcVersion", &lib->version},
                   {"nvrtcCreateProgram", &lib->create},
                   {"nvrtcCompileProgram", &lib->compile},
                   {"nvrtcGetPTXSize", &lib->ptx_size},
                   {"nvrtcGetPTX", &lib->ptx},
                   {"nvrtcGetProgramLogSize", &lib->log_size},
                   {"nvrtcGetProgramLog", &lib->log},
                   {"nvrtcDestroyProgram", &lib->destroy}};
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *symbol = dlsym(handle, symbols[i].name);
        if (symbol == NULL) {
            snprintf(why, WHY_SIZE, "libnvrtc has no %s", symbols[i].name);
            nvrtc_close(lib);
            return NULL;
        }
        memcpy(symbols[i].place, &symbol, sizeof symbol);
    }
    return lib;
}

void nvrtc_close(nvrtc *lib)
{
    if (lib == NULL)
        return;
    dlclose(lib->handle);
    free(lib);
}

void nvrtc_version(const nvrtc *lib, int *major, int *minor)
{
    *major = *minor = 0;
    lib->version(major, minor);
}

static char *take_ptx(const nvrtc *lib, program p)
{
    size_t size = 0;
    char *text = NULL;
    if (lib->ptx_size(p, &size) == 0 && (text = malloc(size)) != NULL && lib->ptx(p, text) != 0) {
        free(text);
        text = NULL;
    }
    return text;
}

static void take_log(const nvrtc *lib, program p, char why[WHY_SIZE])
{
    size_t size = 0;
    snprintf(why, WHY_SIZE, "NVRTC does not compile it");
    char *text = lib->log_size(p, &size) == 0 ? malloc(size) : NULL;
    if (text != NULL && lib->log(p, text) == 0)
        snprintf(why, WHY_SIZE, "%s", text);
    free(text);
}

char *nvrtc_compile(const nvrtc *lib, const char *text, const char *name, const char *arch,
                    char why[WHY_SIZE])
{
    char target[64];
    int major, minor;
    nvrtc_version(lib, &major, &minor);
    snprintf(target, sizeof target, "--gpu-architecture=%s", arch);
    /* Since CUDA 13 it would take what it compiled before out of the driver's cache. */
    const char *options[] = {target, "--no-cache"};
    program p = NULL;
    if (lib->create(&p, text, name, 0, NULL, NULL) != 0) {
        snprintf(why, WHY_SIZE, "NVRTC makes no program");
        return NULL;
    }
    char *ptx = NULL;
    if (lib->compile(p, major >= 13 ? 2 : 1, options) == 0)
        ptx = take_ptx(lib, p);
    if (ptx == NULL)
        take_log(lib, p, why);
    lib->destroy(&p);
    return ptx;
}
