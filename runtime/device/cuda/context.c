/* The device's context: entered and left around calls of the driver. */
#include "device/cuda/cuda_device.h"

/* Asked twice, for who cannot enter cannot free either. */
kjit_status kj_cuda_enter(kj_device *dev, kj_failure *why)
{
    if (kj_cuda_is_lost(dev))
        return kj_cuda_gone(dev, why);
    kj_cu_result result = dev->cu->CtxPushCurrent(dev->context);
    if (result != KJ_CU_SUCCESS)
        result = dev->cu->CtxPushCurrent(dev->context);
    if (result != KJ_CU_SUCCESS)
        return kj_cuda_because(dev->cu, result, why, "enter the device's context");
    kj_cuda_allow(dev->cu);
    return KJIT_OK;
}

bool kj_cuda_enter_to_free(kj_device *dev, kjit_status *status, kj_failure *why)
{
    *status = kj_cuda_is_lost(dev) ? KJIT_LOST : kj_cuda_enter(dev, why);
    bool entered = *status == KJIT_OK;
    if (*status == KJIT_LOST)
        *status = KJIT_OK;
    return entered;
}

/* What it gives says nothing of the call that ends: the context is not the current one any more,
 * and an error of earlier work is given to those who wait for that. */
void kj_cuda_leave(kj_device *dev)
{
    kj_cu_context left;
    kj_cuda_disallow(dev->cu);
    (void)dev->cu->CtxPopCurrent(&left);
}
