/* What a launch must know of a kernel. */
#ifndef KJ_DESCRIBE_H
#define KJ_DESCRIBE_H

#include "kernel.h"

typedef struct kj_program kj_program;

const kj_kernel_info *kj_describe_kernel(kj_arena *arena, const kj_program *program,
                                         const kj_tkernel *k);

#endif
