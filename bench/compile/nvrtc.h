/* NVIDIA's run-time compiler, loaded where it is found; no header of CUDA's is needed. */
#ifndef BENCH_NVRTC_H
#define BENCH_NVRTC_H

#include <stdbool.h>

#include "../common.h"

typedef struct nvrtc nvrtc;

/* path: the library, or NULL for the usual names and places. NULL with a sentence in `why` when there is none. */
nvrtc *nvrtc_open(const char *path, char why[WHY_SIZE]);
void nvrtc_close(nvrtc *lib);
void nvrtc_version(const nvrtc *lib, int *major, int *minor);

/* CUDA C text to PTX for arch ("compute_90"), for free(); NULL with the compiler's log in `why`. */
char *nvrtc_compile(const nvrtc *lib, const char *text, const char *name, const char *arch,
                    char why[WHY_SIZE]);

#endif
