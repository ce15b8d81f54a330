/* DLPack, by which arrays of other libraries come and go. The structures are those of its versions 1 and 0. */
#include <stdlib.h>
#include <string.h>

#include "kjp.h"

typedef struct tensor {
    void *data;
    int32_t device_type, device_id;
    int32_t ndim;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *shape, *strides; /* elements */
    uint64_t byte_offset;
} tensor;

struct DLManagedTensor {
    tensor t;
    void *manager;
    void (*deleter)(struct DLManagedTensor *self);
};

struct DLManagedTensorVersioned {
    uint32_t major, minor;
    void *manager;
    void (*deleter)(struct DLManagedTensorVersioned *self);
    uint64_t flags;
    tensor t;
};

static const char new_name[] = "dltensor_versioned", new_used[] = "used_dltensor_versioned",
                  old_name[] = "dltensor", old_used[] = "used_dltensor";

/* ---- Arrays of other libraries ---- */

/* The other library's deleter may take the GIL, so it is called by kjp_owners_release, and not
 * by kjit. */
static void delete_new(kjp_owner *owner)
{
    struct DLManagedTensorVersioned *managed = owner->data;
    if (managed->deleter)
        managed->deleter(managed);
}

static void delete_old(kjp_owner *owner)
{
    struct DLManagedTensor *managed = owner->data;
    if (managed->deleter)
        managed->deleter(managed);
}

static void forward_old(struct DLManagedTensor *managed)
{
    kjp_owner_drop(managed->manager);
    free(managed);
}

static void forward_new(struct DLManagedTensorVersioned *managed)
{
    kjp_owner_drop(managed->manager);
    free(managed);
}

static kjit_status take_new(kjit_context *ctx, struct DLManagedTensorVersioned *managed,
                            kjp_owner *owner, kjit_array **out)
{
    struct DLManagedTensorVersioned *copy = malloc(sizeof *copy);
    if (!copy)
        return KJIT_NO_MEMORY;
    *copy = *managed;
    copy->manager = owner;
    copy->deleter = forward_new;
    owner->data = managed;
    owner->release = delete_new;
    kjit_status status = kjit_array_from_dlpack(ctx, copy, out);
    if (status != KJIT_OK)
        free(copy);
    return status;
}

static kjit_status take_old(kjit_context *ctx, struct DLManagedTensor *managed, kjp_owner *owner,
                            kjit_array **out)
{
    struct DLManagedTensor *copy = malloc(sizeof *copy);
    if (!copy)
        return KJIT_NO_MEMORY;
    *copy = *managed;
    copy->manager = owner;
    copy->deleter = forward_old;
    owner->data = managed;
    owner->release = delete_old;
    kjit_status status = kjit_array_from_dlpack_unversioned(ctx, copy, out);
    if (status != KJIT_OK)
        free(copy);
    return status;
}

/* (context, capsule): an Array over what the capsule has, which is used up */
PyObject *kjp_from_dlpack(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *context, *capsule;
    if (!kjp_parse(args, "O!O:_from_dlpack", kjp.context, &context, &capsule))
        return NULL;
    kjit_context *ctx = ((kjp_context *)context)->ctx;
    int is_new = PyCapsule_IsValid(capsule, new_name);
    if (!is_new && !PyCapsule_IsValid(capsule, old_name))
        return kjp_refuse("KJIT_TYPE", "a capsule of DLPack's is meant, not used yet, not %R",
                          capsule);
    kjp_owner *owner = calloc(1, sizeof *owner);
    if (!owner)
        return PyErr_NoMemory();
    kjit_array *array = NULL;
    kjit_status status =
        is_new ? take_new(ctx, PyCapsule_GetPointer(capsule, new_name), owner, &array)
               : take_old(ctx, PyCapsule_GetPointer(capsule, old_name), owner, &array);
    if (status != KJIT_OK) {
        free(owner);
        return kjp_fail(ctx, status);
    }
    PyCapsule_SetName(capsule, is_new ? new_used : old_used);
    return kjp_array_new((kjp_context *)context, array);
}

/* ---- Arrays for other libraries ---- */

/* Of a capsule that nobody has taken. */
static void delete_capsule(PyObject *capsule)
{
    if (PyCapsule_IsValid(capsule, new_name))
        ((struct DLManagedTensorVersioned *)PyCapsule_GetPointer(capsule, new_name))
            ->deleter(PyCapsule_GetPointer(capsule, new_name));
    else if (PyCapsule_IsValid(capsule, old_name))
        ((struct DLManagedTensor *)PyCapsule_GetPointer(capsule, old_name))
            ->deleter(PyCapsule_GetPointer(capsule, old_name));
}

/* (versioned): a capsule; all queued work has ended then */
PyObject *kjp_array_to_dlpack(PyObject *self, PyObject *args)
{
    kjp_array *array = (kjp_array *)self;
    int versioned;
    struct DLManagedTensorVersioned *managed;
    struct DLManagedTensor *old;
    if (!kjp_parse(args, "p:_dlpack", &versioned))
        return NULL;
    kjp_wait wait;
    kjp_wait_begin(&wait, array->context->ctx, NULL);
    kjit_status status = versioned ? kjit_array_to_dlpack(array->array, &managed)
                                   : kjit_array_to_dlpack_unversioned(array->array, &old);
    kjp_wait_end(&wait);
    if (status != KJIT_OK)
        return kjp_fail(array->context->ctx, status);
    return versioned ? PyCapsule_New(managed, new_name, delete_capsule)
                     : PyCapsule_New(old, old_name, delete_capsule);
}
