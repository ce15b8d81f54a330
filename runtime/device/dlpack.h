/* DLPack's structures, version 1.0, as its header has them; checked against that where it is
 * installed. The tags of the two that cross kjit.h are DLPack's own. */
#ifndef KJ_DLPACK_H
#define KJ_DLPACK_H

#include <stdint.h>

enum { KJ_DL_CPU = 1, KJ_DL_CUDA = 2, KJ_DL_CUDA_HOST = 3, KJ_DL_CUDA_MANAGED = 13 };

enum {
    KJ_DL_INT = 0,
    KJ_DL_UINT = 1,
    KJ_DL_FLOAT = 2,
    KJ_DL_BFLOAT = 4,
    KJ_DL_COMPLEX = 5,
    KJ_DL_BOOL = 6
};

enum { KJ_DL_MAJOR = 1, KJ_DL_MINOR = 0 };

#define KJ_DL_READ_ONLY UINT64_C(1) /* of DLManagedTensorVersioned.flags */

typedef struct kj_dl_device {
    int32_t type, id;
} kj_dl_device;

typedef struct kj_dl_dtype {
    uint8_t code, bits; /* bits: of a lane, both parts of a complex number */
    uint16_t lanes;
} kj_dl_dtype;

typedef struct kj_dl_tensor {
    void *data;
    kj_dl_device device;
    int32_t ndim;
    kj_dl_dtype dtype;
    int64_t *shape, *strides; /* strides: in elements; NULL: C order */
    uint64_t byte_offset;
} kj_dl_tensor;

struct DLManagedTensor {
    kj_dl_tensor dl_tensor;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensor *self);
};

struct DLManagedTensorVersioned {
    struct {
        uint32_t major, minor;
    } version;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensorVersioned *self);
    uint64_t flags;
    kj_dl_tensor dl_tensor;
};

#endif
