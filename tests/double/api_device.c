/* What the driver and its GPUs are like, and where its calls are. */
#include "double.h"
#include <string.h>

CUresult do_cuDriverGetVersion(int *version)
{
    if (!version)
        return misuse(CUDA_ERROR_INVALID_VALUE, "no place for the version");
    *version = config()->version;
    return CUDA_SUCCESS;
}

CUresult do_cuGetErrorName(CUresult error, const char **text)
{
    *text = error_name(error);
    return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult do_cuGetErrorString(CUresult error, const char **text)
{
    *text = error_text(error);
    return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- Entry points ---- */

/* The newest version of the call that the caller was built for and the driver has. */
static CUresult find(const char *symbol, void **entry, int version, cuuint64_t flags,
                     CUdriverProcAddressQueryResult *status)
{
    const call_row *found = NULL;
    bool known = false;
    if (!symbol || !entry || (flags & ~(cuuint64_t)CU_GET_PROC_ADDRESS_LEGACY_STREAM))
        return misuse(CUDA_ERROR_INVALID_VALUE,
                      "no symbol, no place for it, or flags that are not modelled");
    for (int i = 0; i < call_row_count; i++) {
        const call_row *row = &call_rows[i];
        if (strcmp(row->base, symbol))
            continue;
        known = true;
        if (row->since <= version && row->since <= config()->version &&
            (!found || row->since > found->since))
            found = row;
    }
    *entry = NULL;
    if (found)
        memcpy(entry, &found->entry, sizeof *entry);
    if (!known)
        misuse(CUDA_ERROR_NOT_FOUND, "the double has no %s", symbol);
    if (status)
        *status = found   ? CU_GET_PROC_ADDRESS_SUCCESS
                  : known ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                          : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return found ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult do_cuGetProcAddress(const char *symbol, void **entry, int version, cuuint64_t flags)
{
    return find(symbol, entry, version, flags, NULL);
}

CUresult do_cuGetProcAddress_v2(const char *symbol, void **entry, int version, cuuint64_t flags,
                                CUdriverProcAddressQueryResult *status)
{
    return find(symbol, entry, version, flags, status);
}

/* ---- Devices ---- */

static CUresult check(const void *out, CUdevice device)
{
    if (!out)
        return misuse(CUDA_ERROR_INVALID_VALUE, "no place for the answer");
    if (device < 0 || device >= config()->devices)
        return misuse(CUDA_ERROR_INVALID_DEVICE, "there is no device %d", device);
    return CUDA_SUCCESS;
}

/* An ordinal that is too high is an error, no misuse: users name devices. */
CUresult do_cuDeviceGet(CUdevice *device, int ordinal)
{
    if (!device)
        return misuse(CUDA_ERROR_INVALID_VALUE, "no place for the device");
    if (ordinal < 0 || ordinal >= config()->devices)
        return CUDA_ERROR_INVALID_DEVICE;
    *device = ordinal;
    return CUDA_SUCCESS;
}

CUresult do_cuDeviceGetCount(int *count)
{
    if (!count)
        return misuse(CUDA_ERROR_INVALID_VALUE, "no place for the count");
    *count = config()->devices;
    return CUDA_SUCCESS;
}

CUresult do_cuDeviceGetName(char *name, int size, CUdevice device)
{
    CUresult result = check(name, device);
    if (!result && size <= 0)
        result = misuse(CUDA_ERROR_INVALID_VALUE, "%d bytes for the name", size);
    if (!result)
        snprintf(name, (size_t)size, "%s", config()->chip->name);
    return result;
}

static CUresult give_uuid(CUuuid *uuid, CUdevice device)
{
    CUresult result = check(uuid, device);
    if (!result) {
        memcpy(uuid->bytes, "kjit-double-gpu", 16);
        uuid->bytes[15] = (char)device;
    }
    return result;
}

CUresult do_cuDeviceGetUuid(CUuuid *uuid, CUdevice device)
{
    return give_uuid(uuid, device);
}

CUresult do_cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device)
{
    return give_uuid(uuid, device);
}

CUresult do_cuDeviceGetPCIBusId(char *id, int size, CUdevice device)
{
    CUresult result = check(id, device);
    if (!result && size <= 0)
        result = misuse(CUDA_ERROR_INVALID_VALUE, "%d bytes for the id", size);
    if (!result)
        snprintf(id, (size_t)size, "0000:%02X:00.0", (unsigned)device + 1);
    return result;
}

CUresult do_cuDeviceTotalMem_v2(size_t *bytes, CUdevice device)
{
    CUresult result = check(bytes, device);
    if (!result)
        *bytes = config()->memory;
    return result;
}

CUresult do_cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    const drv_settings *settings = config();
    const drv_chip *chip = settings->chip;
    CUresult result = check(value, device);
    if (result)
        return result;
    switch (attribute) {
#define ATTRIBUTE(name, number, expression) \
    case CU_DEVICE_ATTRIBUTE_##name: \
        *value = expression; \
        return CUDA_SUCCESS;
#include "attributes.def"
#undef ATTRIBUTE
    default:
        return misuse(CUDA_ERROR_INVALID_VALUE, "attribute %d is not modelled", (int)attribute);
    }
}
