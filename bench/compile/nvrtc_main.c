/* nvrtc FILE.cu ARCH [LIBRARY]: compiles CUDA C to PTX on standard output: what a program that uses NVRTC once costs. */
#include <stdio.h>
#include <stdlib.h>

#include "nvrtc.h"

int main(int argc, char **argv)
{
    char why[WHY_SIZE];
    size_t size;
    if (argc < 3) {
        fputs("usage: nvrtc FILE.cu ARCH [LIBRARY]\n", stderr);
        return 2;
    }
    nvrtc *lib = nvrtc_open(argc > 3 ? argv[3] : NULL, why);
    char *text = lib != NULL ? bench_file(argv[1], &size, why) : NULL;
    char *ptx = text != NULL ? nvrtc_compile(lib, text, argv[1], argv[2], why) : NULL;
    if (ptx == NULL)
        fprintf(stderr, "nvrtc: %s\n", why);
    else
        fputs(ptx, stdout);
    const int status = ptx == NULL;
    free(ptx);
    free(text);
    nvrtc_close(lib);
    return status;
}
