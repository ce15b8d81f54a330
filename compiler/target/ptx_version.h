/* Which PTX for which driver: the versions of drivers, chips and LLVM, brought together (ptx_version.def).
 *
 * Versions of PTX are numbers, 84 for 8.4; LLVM's is its major one; a driver's is what
 * cuDriverGetVersion gives. Strings are constants. */
#ifndef KJ_PTX_VERSION_H
#define KJ_PTX_VERSION_H

#include <stdbool.h>

/* The newest PTX that a driver takes; 0: it is older than CUDA 11.8, the oldest that kjit works
 * with. */
int kj_ptx_of_driver(int driver);

/* The newest target ("sm_90") that a device of that compute capability (90 for 9.0) runs, when the
 * driver takes `ptx`; a chip that LLVM does not know yet gets the one before it. NULL: older than
 * all there are. */
const char *kj_ptx_target_of(int capability, int ptx, int llvm);

/* The targets there are, oldest first; NULL past the last. */
const char *kj_ptx_chip(int i, int llvm);

/* The version to write for a target when the driver takes up to `ptx` (0: no driver to ask). 0: the
 * target is not known; negative: `ptx` is too old for it, which needs minus that. */
int kj_ptx_version(const char *target, int ptx, int llvm);

/* Does a GPU of one run PTX that was made for the other? Both are names of chips: "sm_90". */
bool kj_ptx_runs(const char *gpu, const char *target);

#endif
