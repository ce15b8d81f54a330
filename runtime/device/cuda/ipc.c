/* Device memory of other processes, by the driver's handles. */
#include <string.h>

#include "device/cuda/cuda_device.h"

_Static_assert(sizeof(kj_cu_ipc_handle) <= KJ_SHARE_HANDLE, "a handle holds it");

static kjit_status no_sharing(kj_failure *why)
{
    return kj_because(why, KJIT_NO_DEVICE, "the driver shares no memory between processes");
}

/* The driver shares whole blocks of this size: nothing else is to be in one. */
size_t kj_cuda_share_size(size_t size)
{
    enum { BLOCK = 2 << 20 };
    return size > SIZE_MAX - BLOCK ? size : (size + BLOCK - 1) / BLOCK * BLOCK;
}

kjit_status kj_cuda_share(kj_device *dev, const kj_chunk *chunk, unsigned char *handle,
                          kj_failure *why)
{
    kj_cu_ipc_handle made;
    if (!dev->cu->IpcGetMemHandle)
        return no_sharing(why);
    kjit_status status = kj_cuda_enter(dev, why);
    if (status != KJIT_OK)
        return status;
    kj_cu_result result = dev->cu->IpcGetMemHandle(&made, (kj_cu_address)chunk->device);
    if (result == KJ_CU_SUCCESS)
        memcpy(handle, &made, sizeof made);
    else
        status = kj_cuda_failed(dev, result, why, "share %zu bytes of device memory", chunk->size);
    kj_cuda_leave(dev);
    return status;
}

/* Is there as much behind the address as the handle's array needs? Where the driver doesn't say, it
 * is believed. */
static bool is_enough(kj_device *dev, kj_cu_address address, size_t size)
{
    kj_cu_address begin;
    size_t bytes;
    return dev->cu->MemGetAddressRange(&begin, &bytes, address) != KJ_CU_SUCCESS ||
           size <= bytes - (size_t)(address - begin);
}

kjit_status kj_cuda_share_open(kj_device *dev, kj_chunk *chunk, kj_failure *why)
{
    kj_cu_ipc_handle handle;
    kj_cu_address address;
    if (!dev->cu->IpcOpenMemHandle || !dev->cu->IpcCloseMemHandle)
        return no_sharing(why);
    kjit_status status = kj_cuda_enter(dev, why);
    if (status != KJIT_OK)
        return status;
    memcpy(&handle, chunk->handle, sizeof handle);
    kj_cu_result result =
        dev->cu->IpcOpenMemHandle(&address, handle, KJ_CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
    if (result != KJ_CU_SUCCESS) {
        status = kj_cuda_failed(dev, result, why, "open another process's memory");
        if (status == KJIT_INTERNAL) /* of what the call was given, the handle alone can be wrong */
            status = KJIT_INVALID;
    } else if (!is_enough(dev, address, chunk->size)) {
        kj_cuda_note(dev, dev->cu->IpcCloseMemHandle(address));
        status = kj_because(why, KJIT_INVALID, "the handle says more than there is");
    }
    kj_cuda_leave(dev);
    if (status == KJIT_OK) {
        chunk->device = (uintptr_t)address;
        chunk->data = (void *)chunk->device;
    }
    return status;
}

kjit_status kj_cuda_share_close(kj_device *dev, const kj_chunk *chunk, kj_failure *why)
{
    kjit_status status;
    if (!kj_cuda_enter_to_free(dev, &status, why))
        return status;
    kj_cu_result result = dev->cu->IpcCloseMemHandle((kj_cu_address)chunk->device);
    if (result != KJ_CU_SUCCESS)
        status = kj_cuda_failed(dev, result, why, "close another process's memory");
    kj_cuda_leave(dev);
    return status;
}
