/* The devices of this build. */
#include "core/core.h"

extern const kj_device_ops kj_cuda_device, kj_cpu_device;

static const kj_device_ops *const kinds[] = {&kj_cuda_device, &kj_cpu_device, NULL};

const kj_device_ops *kj_device_kind(int i)
{
    return kinds[i];
}
