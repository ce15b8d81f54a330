/* Which GPUs reach one another's memory. */
#include "double.h"

CUresult do_cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer)
{
    int count = config()->devices;
    if (!can || device < 0 || device >= count || peer < 0 || peer >= count)
        return misuse(CUDA_ERROR_INVALID_DEVICE, "no place for the answer, or no device %d or %d",
                      device, peer);
    *can = config()->peers && device != peer;
    return CUDA_SUCCESS;
}

/* The other context; NULL, with the code, where it is none or of the same device. */
static const drv_context *find_peer(CUcontext handle, CUresult *result)
{
    const drv_context *peer = object_find(handle, KIND_CONTEXT);
    *result = CUDA_ERROR_INVALID_CONTEXT;
    if (peer && peer->device == context_current()->device) {
        misuse(*result, "context %p is of the same device", (void *)handle);
        return NULL;
    }
    return peer;
}

CUresult do_cuCtxEnablePeerAccess(CUcontext handle, unsigned flags)
{
    CUresult result;
    const drv_context *peer = find_peer(handle, &result);
    if (!peer)
        return result;
    if (flags)
        return misuse(CUDA_ERROR_INVALID_VALUE, "flags are %u, not 0", flags);
    if (!config()->peers)
        return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
    if (context_current()->peers[peer->device])
        return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
    context_current()->peers[peer->device] = true;
    return CUDA_SUCCESS;
}

CUresult do_cuCtxDisablePeerAccess(CUcontext handle)
{
    CUresult result;
    const drv_context *peer = find_peer(handle, &result);
    if (!peer)
        return result;
    if (!context_current()->peers[peer->device])
        return CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
    context_current()->peers[peer->device] = false;
    return CUDA_SUCCESS;
}
