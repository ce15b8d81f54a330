/* Our declarations of DLPack's structures beside those of its header: the same numbers, sizes and
 * offsets. Headers before 1.0 have no versioned tensor, and no bool. */
#define DLManagedTensor own_managed
#define DLManagedTensorVersioned own_versioned
#include "../../../runtime/device/dlpack.h"
#undef DLManagedTensor
#undef DLManagedTensorVersioned

#include <stddef.h>

#include <dlpack/dlpack.h>

#define SAME(what) _Static_assert(what, #what)
#define NUMBER(ours, theirs) SAME((int)(ours) == (int)(theirs))
#define FIELD(own, ours, theirs_type, theirs) \
    SAME(offsetof(own, ours) == offsetof(theirs_type, theirs) && \
         sizeof(((own *)0)->ours) == sizeof(((theirs_type *)0)->theirs))

NUMBER(KJ_DL_CPU, kDLCPU);
NUMBER(KJ_DL_CUDA, kDLCUDA);
NUMBER(KJ_DL_CUDA_HOST, kDLCUDAHost);
NUMBER(KJ_DL_CUDA_MANAGED, kDLCUDAManaged);
NUMBER(KJ_DL_INT, kDLInt);
NUMBER(KJ_DL_UINT, kDLUInt);
NUMBER(KJ_DL_FLOAT, kDLFloat);
NUMBER(KJ_DL_BFLOAT, kDLBfloat);
NUMBER(KJ_DL_COMPLEX, kDLComplex);

FIELD(kj_dl_device, type, DLDevice, device_type);
FIELD(kj_dl_device, id, DLDevice, device_id);
FIELD(kj_dl_dtype, code, DLDataType, code);
FIELD(kj_dl_dtype, bits, DLDataType, bits);
FIELD(kj_dl_dtype, lanes, DLDataType, lanes);
FIELD(kj_dl_tensor, data, DLTensor, data);
FIELD(kj_dl_tensor, device, DLTensor, device);
FIELD(kj_dl_tensor, ndim, DLTensor, ndim);
FIELD(kj_dl_tensor, dtype, DLTensor, dtype);
FIELD(kj_dl_tensor, shape, DLTensor, shape);
FIELD(kj_dl_tensor, strides, DLTensor, strides);
FIELD(kj_dl_tensor, byte_offset, DLTensor, byte_offset);
SAME(sizeof(kj_dl_tensor) == sizeof(DLTensor));
FIELD(struct own_managed, dl_tensor, DLManagedTensor, dl_tensor);
FIELD(struct own_managed, manager_ctx, DLManagedTensor, manager_ctx);
FIELD(struct own_managed, deleter, DLManagedTensor, deleter);
SAME(sizeof(struct own_managed) == sizeof(DLManagedTensor));

#ifdef DLPACK_MAJOR_VERSION
NUMBER(KJ_DL_MAJOR, DLPACK_MAJOR_VERSION);
NUMBER(KJ_DL_BOOL, kDLBool);
NUMBER(KJ_DL_READ_ONLY, DLPACK_FLAG_BITMASK_READ_ONLY);
FIELD(struct own_versioned, version, struct DLManagedTensorVersioned, version);
FIELD(struct own_versioned, manager_ctx, struct DLManagedTensorVersioned, manager_ctx);
FIELD(struct own_versioned, deleter, struct DLManagedTensorVersioned, deleter);
FIELD(struct own_versioned, flags, struct DLManagedTensorVersioned, flags);
FIELD(struct own_versioned, dl_tensor, struct DLManagedTensorVersioned, dl_tensor);
SAME(sizeof(struct own_versioned) == sizeof(struct DLManagedTensorVersioned));
#endif
