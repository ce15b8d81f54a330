/* The buffer protocol: memory of Python's objects as arrays, and arrays as memory of Python's. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "kjp.h"

/* ---- What kjit has let go of ---- */

static _Atomic(kjp_owner *) dropped;

static int release_later(void *unused)
{
    (void)unused;
    kjp_owners_release();
    return 0;
}

void kjp_owner_drop(void *object)
{
    kjp_owner *owner = object, *first = atomic_load(&dropped);
    do
        owner->next = first;
    while (!atomic_compare_exchange_weak(&dropped, &first, owner));
    if (!first && Py_IsInitialized())
        Py_AddPendingCall(release_later, NULL);
}

void kjp_owners_release(void)
{
    if (!atomic_load_explicit(&dropped, memory_order_relaxed))
        return;
    kjp_owner *owner = atomic_exchange(&dropped, NULL);
    while (owner) {
        kjp_owner *next = owner->next;
        if (owner->release)
            owner->release(owner);
        if (owner->view.obj)
            PyBuffer_Release(&owner->view);
        Py_XDECREF(owner->object);
        free(owner);
        owner = next;
    }
}

/* ---- Element types ---- */

/* Integers are what size they have: 'l' is one of two. */
static int integer(int is_signed, Py_ssize_t size)
{
    switch (size) {
    case 1: return is_signed ? KJIT_I8 : KJIT_U8;
    case 2: return is_signed ? KJIT_I16 : KJIT_U16;
    case 4: return is_signed ? KJIT_I32 : KJIT_U32;
    case 8: return is_signed ? KJIT_I64 : KJIT_U64;
    }
    return -1;
}

static int letter(const char *format, Py_ssize_t size)
{
    if (format[0] == 'Z' && format[1] && !format[2])
        return format[1] == 'f' ? KJIT_C64 : format[1] == 'd' ? KJIT_C128 : -1;
    if (!format[0] || format[1])
        return -1;
    switch (format[0]) {
    case '?': return KJIT_BOOL;
    case 'e': return KJIT_F16;
    case 'f': return KJIT_F32;
    case 'd': return KJIT_F64;
    case 'F': return KJIT_C64; /* as ctypes has them */
    case 'D': return KJIT_C128;
    }
    if (size != 1 && strchr("bBc?", format[0])) /* as unions of ctypes are, and packed structures */
        return -1;
    if (strchr("bhilqn", format[0]))
        return integer(1, size);
    return strchr("cBHILQN", format[0]) ? integer(0, size) : -1;
}

/* The class whose elements a buffer has, ctypes' of its arrays'; else what has the buffer. */
static PyObject *element_class(const Py_buffer *view)
{
    PyObject *object = Py_NewRef(view->obj ? view->obj : Py_None);
    if (PyMemoryView_Check(object)) {
        PyObject *of = PyObject_GetAttrString(object, "obj");
        Py_DECREF(object);
        object = of;
    }
    PyObject *kind = object ? Py_NewRef((PyObject *)Py_TYPE(object)) : NULL;
    Py_XDECREF(object);
    while (kind && PyObject_HasAttrString(kind, "_length_")) {
        PyObject *of = PyObject_GetAttrString(kind, "_type_");
        Py_DECREF(kind);
        kind = of;
    }
    return kind;
}

/* A structure: the record that is laid out so, which Python looks for once. */
static int record_number(kjp_context *context, const Py_buffer *view, int wanted,
                         kjp_module *module)
{
    PyObject *known = module ? module->records : context->records;
    PyObject *kind = element_class(view);
    PyObject *key =
        kind ? Py_BuildValue("(sniO)", view->format, view->itemsize, wanted, kind) : NULL;
    PyObject *number = key ? PyDict_GetItemWithError(known, key) : NULL;
    int dtype = number ? (int)PyLong_AsLong(number) : -1;
    if (key && !number && !PyErr_Occurred()) {
        number = PyObject_CallFunction(kjp.record, "OsniOO", (PyObject *)context, view->format,
                                       view->itemsize, wanted,
                                       module ? (PyObject *)module : Py_None, kind);
        if (number && PyDict_SetItem(known, key, number) == 0)
            dtype = (int)PyLong_AsLong(number);
        Py_XDECREF(number);
    }
    Py_XDECREF(key);
    Py_XDECREF(kind);
    return PyErr_Occurred() ? -1 : dtype;
}

/* NumPy's name of a number whose bytes are in the other order, in this machine's order: 0, or the kind's letter */
static char kind_of(const char *format)
{
    if (format[0] == 'Z')
        return 'c';
    if (format[0] && strchr("efd", format[0]))
        return 'f';
    if (format[0] && strchr("bhilqn", format[0]))
        return 'i';
    return format[0] && strchr("BHILQN", format[0]) ? 'u' : 0;
}

static int no_elements(const char *format, Py_ssize_t size)
{
    char kind = format[0] && strchr(">!", format[0]) ? kind_of(format + 1) : 0;
    if (kind)
        kjp_refuse("KJIT_TYPE",
                   "kernels have no elements of the type '%s', whose bytes are in the other order: "
                   "x.astype(\"<%c%zd\") has them in this machine's",
                   format, kind, size);
    else
        kjp_refuse("KJIT_TYPE", "kernels have no elements of the type '%s', of %zd bytes", format,
                   size);
    return -1;
}

int kjp_dtype_of(kjp_context *context, const Py_buffer *view, int wanted, kjp_module *module)
{
    const char *given = view->format ? view->format : "B", *format = given;
    if (format[0] && format[1] && strchr("@=<", format[0])) /* this machine's order of bytes */
        format++;
    int dtype = letter(format, view->itemsize);
    int packed = strcmp(format, "B") == 0 && view->itemsize != 1; /* or a union, of ctypes */
    if (dtype < 0 && (packed || strchr(format, '{')))
        return record_number(context, view, wanted, module);
    return dtype < 0 ? no_elements(given, view->itemsize) : dtype;
}

int kjp_get_buffer(PyObject *object, Py_buffer *view, int flags)
{
    int given = PyObject_GetBuffer(object, view, flags);
    if (given < 0)
        kjp_ours();
    return given;
}

/* ---- Buffers as arrays ---- */

int kjp_wrap(kjp_context *context, Py_buffer *view, int dtype, kjit_memory memory, kjp_owner *owner,
             kjit_array **out)
{
    int64_t shape[KJIT_MAX_NDIM], strides[KJIT_MAX_NDIM];
    if (view->ndim > KJIT_MAX_NDIM) {
        kjp_refuse("KJIT_SHAPE", "arrays have %d axes at most, not %d", KJIT_MAX_NDIM, view->ndim);
        return -1;
    }
    for (int i = 0; i < view->ndim; i++) {
        shape[i] = view->shape[i];
        strides[i] = view->strides ? view->strides[i] : 0;
    }
    const int64_t *steps = view->strides ? strides : NULL;
    kjit_status status =
        owner ? kjit_array_wrap_owned(context->ctx, view->buf, (kjit_dtype)dtype, view->ndim, shape,
                                      steps, memory, owner, kjp_owner_drop, out)
              : kjit_array_wrap(context->ctx, view->buf, (kjit_dtype)dtype, view->ndim, shape,
                                steps, memory, out);
    if (status != KJIT_OK) {
        kjp_fail(context->ctx, status);
        return -1;
    }
    if (view->readonly && memory == KJIT_HOST)
        kjit_array_protect(*out); /* of an array that was just made it does not fail */
    return 0;
}

PyObject *kjp_from_buffer(kjp_context *context, PyObject *object, int wanted)
{
    kjit_array *array;
    kjp_owner *owner = calloc(1, sizeof *owner);
    if (!owner)
        return PyErr_NoMemory();
    int plain = wanted == KJP_BYTES;
    if (kjp_get_buffer(object, &owner->view, plain ? PyBUF_SIMPLE : PyBUF_RECORDS_RO) < 0) {
        free(owner);
        return NULL;
    }
    if (plain) { /* the exporter may have left the number of its axes there */
        owner->view.ndim = 1;
        owner->view.shape = &owner->view.len;
        owner->view.strides = NULL;
    }
    int dtype = plain ? KJIT_U8 : kjp_dtype_of(context, &owner->view, wanted, NULL);
    if (dtype >= 0 && kjp_wrap(context, &owner->view, dtype, KJIT_HOST, owner, &array) == 0)
        return kjp_array_new(context, array);
    PyBuffer_Release(&owner->view);
    free(owner);
    return NULL;
}

/* (context, address, dtype, bytes of an element, shape, strides or None, read_only, keeper): an
 * Array over memory that `keeper` keeps */
PyObject *kjp_from_address(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *context, *address, *shape, *strides, *keeper;
    int dtype, memory, read_only;
    Py_ssize_t itemsize;
    int64_t numbers[2][KJIT_MAX_NDIM];
    Py_ssize_t extents[2][KJIT_MAX_NDIM];
    if (!kjp_parse(args, "O!OinOOpiO:_from_address", kjp.context, &context, &address, &dtype,
                   &itemsize, &shape, &strides, &read_only, &memory, &keeper))
        return NULL;
    int ndim = kjp_numbers(shape, numbers[0], KJIT_MAX_NDIM, "a shape");
    int given = strides == Py_None || ndim < 0
                    ? ndim
                    : kjp_numbers(strides, numbers[1], KJIT_MAX_NDIM, "strides");
    void *data = PyLong_AsVoidPtr(address);
    if (ndim < 0 || PyErr_Occurred())
        return kjp_ours();
    if (given != ndim)
        return kjp_refuse("KJIT_INVALID", "%d strides for %d axes", given, ndim);
    for (int i = 0; i < ndim; i++) {
        extents[0][i] = (Py_ssize_t)numbers[0][i];
        extents[1][i] = strides == Py_None ? 0 : (Py_ssize_t)numbers[1][i];
    }
    Py_buffer view = {.buf = data,
                      .itemsize = itemsize,
                      .readonly = read_only,
                      .ndim = ndim,
                      .shape = extents[0],
                      .strides = strides == Py_None ? NULL : extents[1]};
    kjp_owner *owner = calloc(1, sizeof *owner);
    kjit_array *array;
    if (!owner)
        return PyErr_NoMemory();
    owner->object = Py_NewRef(keeper);
    if (kjp_wrap((kjp_context *)context, &view, dtype, (kjit_memory)memory, owner, &array) == 0)
        return kjp_array_new((kjp_context *)context, array);
    Py_DECREF(keeper);
    free(owner);
    return NULL;
}

/* ---- Arrays as buffers ---- */

/* Formats of struct and PEP 3118, by kjit_dtype; a vector's are its scalars'. */
static const char *const formats[] = {
    [KJIT_BOOL] = "?", [KJIT_I8] = "b",  [KJIT_I16] = "h",  [KJIT_I32] = "i",   [KJIT_I64] = "q",
    [KJIT_U8] = "B",   [KJIT_U16] = "H", [KJIT_U32] = "I",  [KJIT_U64] = "Q",   [KJIT_F32] = "f",
    [KJIT_F64] = "d",  [KJIT_F16] = "e", [KJIT_C64] = "Zf", [KJIT_C128] = "Zd",
};

/* Shape and strides of a buffer, which must stay. */
typedef struct extents {
    Py_ssize_t shape[KJIT_MAX_NDIM], strides[KJIT_MAX_NDIM];
} extents;

static int refuse(const char *why)
{
    kjp_refuse("buffer", "%s", why);
    return -1;
}

/* Are the elements in an order that is asked for? Whoever asks for no strides takes it for C's. */
static int check_order(const kjit_array *a, int flags)
{
    int c = kjit_array_is_contiguous(a, 'C'), f = kjit_array_is_contiguous(a, 'F');
    int no_strides = (flags & PyBUF_STRIDES) != PyBUF_STRIDES;
    if (!c && (no_strides || (flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS))
        return refuse("the array is not in C order");
    if (!f && (flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS)
        return refuse("the array is not in Fortran's order");
    if (!c && !f && (flags & PyBUF_ANY_CONTIGUOUS) == PyBUF_ANY_CONTIGUOUS)
        return refuse("the array's elements do not lie densely");
    return 0;
}

int kjp_array_getbuffer(PyObject *self, Py_buffer *view, int flags)
{
    kjit_array *a = ((kjp_array *)self)->array;
    kjit_dtype dtype = kjit_array_dtype(a);
    int ndim = kjit_array_ndim(a), read_only = kjit_array_is_read_only(a);
    const char *format = dtype < sizeof formats / sizeof *formats ? formats[dtype] : NULL;
    view->obj = NULL;
    if (kjit_array_memory(a) == KJIT_DEVICE) {
        kjit_device_info info;
        kjit_context *ctx = ((kjp_array *)self)->context->ctx;
        if (kjit_context_device(ctx, &info) != KJIT_OK || strcmp(info.kind, "cpu") != 0)
            return refuse("the array is in the device's memory: see copy_to_host()");
    }
    if (!format)
        return refuse("elements of this type have no buffer; vectors have one as .scalars()");
    if (read_only && flags & PyBUF_WRITABLE)
        return refuse("the array is read-only");
    if (flags & PyBUF_FORMAT && !(flags & PyBUF_ND)) /* as memoryview has it */
        return refuse("bytes without a shape have no format");
    if (check_order(a, flags) < 0)
        return -1;
    extents *e = PyMem_Malloc(sizeof *e);
    if (!e) {
        PyErr_NoMemory();
        return -1;
    }
    for (int i = 0; i < ndim; i++) {
        e->shape[i] = (Py_ssize_t)kjit_array_shape(a)[i];
        e->strides[i] = (Py_ssize_t)kjit_array_strides(a)[i];
    }
    Py_ssize_t size = (Py_ssize_t)kjit_dtype_size(dtype);
    *view = (Py_buffer){.buf = kjit_array_data(a),
                        .obj = Py_NewRef(self),
                        .len = (Py_ssize_t)kjit_array_size(a) * size,
                        .itemsize = size,
                        .readonly = read_only,
                        .ndim = flags & PyBUF_ND ? ndim : 1,
                        .internal = e,
                        .format = flags & PyBUF_FORMAT ? (char *)format : NULL,
                        .shape = flags & PyBUF_ND ? e->shape : NULL,
                        .strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? e->strides : NULL};
    return 0;
}

void kjp_array_releasebuffer(PyObject *self, Py_buffer *view)
{
    (void)self;
    PyMem_Free(view->internal);
}
