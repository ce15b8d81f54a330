/* The memory of other GPUs: who reaches it, and rows between two of them. */
#include "device/cuda/cuda_device.h"

kj_reach kj_cuda_peer(kj_device *dev, const kj_device *other)
{
    int can;
    if (dev->device == other->device)
        return KJ_SAME; /* and of one context, the primary */
    kj_cu_result result = dev->cu->DeviceCanAccessPeer(&can, dev->device, other->device);
    kj_cuda_note(dev, result);
    return result == KJ_CU_SUCCESS && can ? KJ_REACHED : KJ_APART;
}

/* Lets a device into the other's pool, so that the driver needs no host memory between them. Where
 * that cannot be, it takes some. */
static void admit(kj_device *other, kj_device *dev)
{
    uint64_t bit = (uint64_t)1 << dev->device;
    if (!other->pool || !dev->cu->MemPoolSetAccess)
        return;
    pthread_mutex_lock(&other->first_lock);
    if (!(other->admitted & bit) && kj_cuda_peer(dev, other) == KJ_REACHED) {
        const kj_cu_pool_access access = {.location_type = KJ_CU_MEM_LOCATION_TYPE_DEVICE,
                                          .location = dev->device,
                                          .flags = KJ_CU_MEM_ACCESS_READWRITE};
        kj_cuda_note(dev, dev->cu->MemPoolSetAccess(other->pool, &access, 1));
    }
    other->admitted |= bit;
    pthread_mutex_unlock(&other->first_lock);
}

kj_cu_result kj_cuda_move_between(kj_device *dev, kj_cu_stream stream, const kj_transfer *t)
{
    kj_device *to = t->dst_device ? t->dst_device : dev,
              *from = t->src_device ? t->src_device : dev;
    size_t bytes;
    kj_transfer_is_row(t, &bytes);
    admit(to == dev ? from : to, dev);
    return dev->cu->MemcpyPeerAsync((kj_cu_address)(uintptr_t)t->dst, to->context,
                                    (kj_cu_address)(uintptr_t)t->src, from->context, bytes, stream);
}
