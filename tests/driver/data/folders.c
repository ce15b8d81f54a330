/* A machine whose driver lies where the loader does not look: dlopen of libcuda.so.1 fails but in FOLDER, where it is what
 * DRIVER names. Preloaded. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *real(const char *path, int mode)
{
    void *(*next)(const char *, int);
    void *symbol = dlsym(RTLD_NEXT, "dlopen");
    memcpy(&next, &symbol, sizeof next);
    return next(path, mode);
}

void *dlopen(const char *path, int mode)
{
    const char *name = path ? strstr(path, "libcuda.so.1") : NULL, *folder = getenv("FOLDER");
    if (!name)
        return real(path, mode);
    fprintf(stderr, "dlopen %s\n", path);
    size_t size = (size_t)(name - path);
    if (folder && size == strlen(folder) + 1 && memcmp(path, folder, size - 1) == 0)
        return real(getenv("DRIVER"), mode);
    return real("/nowhere/libcuda.so.1", mode);
}
