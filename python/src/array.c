/* The type Array, a kjit_array with its views and copies. The class of programs is
 * python/kjit/_array.py's, over it. */
#include <stdlib.h>
#include <string.h>

#include "kjp.h"

PyObject *kjp_array_new(kjp_context *context, kjit_array *array)
{
    PyTypeObject *type = (PyTypeObject *)kjp.array_class;
    kjp_array *self = (kjp_array *)PyType_GenericAlloc(type, 0);
    if (!self) {
        kjit_array_free(array);
        return NULL;
    }
    self->array = array;
    self->context = (kjp_context *)Py_NewRef((PyObject *)context);
    return (PyObject *)self;
}

/* An object that nothing was put into would be without an array. */
static PyObject *array_refuse_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)type;
    (void)args;
    (void)kwargs;
    return kjp_refuse("KJIT_TYPE", "arrays are made by kjit.device_array, kjit.to_device and "
                                   "kjit.asarray, not by their class");
}

static void array_dealloc(PyObject *object)
{
    kjp_array *self = (kjp_array *)object;
    int waits = self->array &&
                kjit_array_memory(self->array) != KJIT_HOST; /* what is pending may be given back */
    PyThreadState *state = waits ? PyEval_SaveThread() : NULL;
    kjit_array_free(self->array);
    if (state)
        PyEval_RestoreThread(state);
    kjp_owners_release();
    Py_XDECREF(self->context);
    kjp_free(object);
}

/* ---- What it is ---- */

static PyObject *array_shape(PyObject *object, void *unused)
{
    (void)unused;
    kjit_array *a = ((kjp_array *)object)->array;
    return kjp_tuple(kjit_array_shape(a), kjit_array_ndim(a));
}

static PyObject *array_strides(PyObject *object, void *unused)
{
    (void)unused;
    kjit_array *a = ((kjp_array *)object)->array;
    return kjp_tuple(kjit_array_strides(a), kjit_array_ndim(a));
}

static PyObject *array_ndim(PyObject *object, void *unused)
{
    (void)unused;
    return PyLong_FromLong(kjit_array_ndim(((kjp_array *)object)->array));
}

static PyObject *array_size(PyObject *object, void *unused)
{
    (void)unused;
    return PyLong_FromLongLong(kjit_array_size(((kjp_array *)object)->array));
}

static PyObject *array_address(PyObject *object, void *unused)
{
    (void)unused;
    return PyLong_FromVoidPtr(kjit_array_data(((kjp_array *)object)->array));
}

static PyObject *array_dtype(PyObject *object, void *unused)
{
    (void)unused;
    return PyLong_FromLong(kjit_array_dtype(((kjp_array *)object)->array));
}

static PyObject *array_memory(PyObject *object, void *unused)
{
    (void)unused;
    return PyLong_FromLong(kjit_array_memory(((kjp_array *)object)->array));
}

static PyObject *array_read_only(PyObject *object, void *unused)
{
    (void)unused;
    return PyBool_FromLong(kjit_array_is_read_only(((kjp_array *)object)->array));
}

static PyObject *array_context(PyObject *object, void *unused)
{
    (void)unused;
    return Py_NewRef((PyObject *)((kjp_array *)object)->context);
}

static PyObject *array_is_contiguous(PyObject *object, PyObject *args)
{
    int order;
    if (!kjp_parse(args, "C:_is_contiguous", &order))
        return NULL;
    return PyBool_FromLong(kjit_array_is_contiguous(((kjp_array *)object)->array, (char)order));
}

/* ---- Views ---- */

static PyObject *view(PyObject *object, kjit_status status, kjit_array *out)
{
    kjp_context *context = ((kjp_array *)object)->context;
    return status == KJIT_OK ? kjp_array_new(context, out) : kjp_fail(context->ctx, status);
}

/* (starts, stops, steps), each of one number an axis */
static PyObject *array_slice(PyObject *object, PyObject *args)
{
    kjit_array *a = ((kjp_array *)object)->array, *out;
    int64_t list[3][KJIT_MAX_NDIM];
    PyObject *given[3];
    if (!kjp_parse(args, "OOO:_slice", &given[0], &given[1], &given[2]))
        return NULL;
    for (int i = 0; i < 3; i++) {
        int n = kjp_numbers(given[i], list[i], KJIT_MAX_NDIM, "a slice");
        if (n < 0)
            return NULL;
        if (n != kjit_array_ndim(a))
            return kjp_refuse("KJIT_INVALID", "%d numbers for %d axes", n, kjit_array_ndim(a));
    }
    kjit_status status = kjit_array_slice(a, list[0], list[1], list[2], &out);
    return view(object, status, out);
}

static PyObject *array_at(PyObject *object, PyObject *args)
{
    kjit_array *out;
    int axis;
    long long index;
    if (!kjp_parse(args, "iL:_at", &axis, &index))
        return NULL;
    kjit_status status = kjit_array_at(((kjp_array *)object)->array, axis, index, &out);
    return view(object, status, out);
}

static PyObject *array_reshape(PyObject *object, PyObject *args)
{
    kjit_array *out;
    PyObject *shape;
    int order;
    int64_t extents[KJIT_MAX_NDIM];
    if (!kjp_parse(args, "OC:_reshape", &shape, &order))
        return NULL;
    int ndim = kjp_numbers(shape, extents, KJIT_MAX_NDIM, "a shape");
    if (ndim < 0)
        return NULL;
    kjit_status status =
        kjit_array_reshape(((kjp_array *)object)->array, ndim, extents, (char)order, &out);
    return view(object, status, out);
}

static PyObject *array_transpose(PyObject *object, PyObject *axes)
{
    kjit_array *a = ((kjp_array *)object)->array, *out;
    int64_t numbers[KJIT_MAX_NDIM];
    int list[KJIT_MAX_NDIM];
    if (axes != Py_None) {
        int n = kjp_numbers(axes, numbers, KJIT_MAX_NDIM, "axes");
        if (n < 0)
            return NULL;
        if (n != kjit_array_ndim(a))
            return kjp_refuse("KJIT_INVALID", "%d numbers for %d axes", n, kjit_array_ndim(a));
        for (int i = 0; i < n; i++)
            list[i] = (int)numbers[i];
    }
    kjit_status status = kjit_array_transpose(a, axes != Py_None ? list : NULL, &out);
    return view(object, status, out);
}

static PyObject *array_field(PyObject *object, PyObject *name)
{
    kjit_array *out;
    const char *text = kjp_text(name, "a field's name");
    if (!text)
        return NULL;
    kjit_status status = kjit_array_field(((kjp_array *)object)->array, text, &out);
    return view(object, status, out);
}

static PyObject *array_view(PyObject *object, PyObject *dtype)
{
    kjit_array *out;
    long number = PyLong_AsLong(dtype);
    if (PyErr_Occurred())
        return NULL;
    kjit_status status = kjit_array_view(((kjp_array *)object)->array, (kjit_dtype)number, &out);
    return view(object, status, out);
}

/* ---- Elements ---- */

static size_t element_size(kjp_array *self)
{
    kjit_dtype dtype = kjit_array_dtype(self->array);
    kjit_record record;
    if (dtype < KJIT_FIRST_RECORD)
        return kjit_dtype_size(dtype);
    return kjit_record_info(self->context->ctx, dtype, &record) == KJIT_OK ? record.size : 0;
}

static PyObject *array_itemsize(PyObject *object, void *unused)
{
    (void)unused;
    return PyLong_FromSize_t(element_size((kjp_array *)object));
}

/* The indices of an element; -1 with an exception. */
static int take_index(kjp_array *self, PyObject *object, int64_t index[KJIT_MAX_NDIM])
{
    int n = kjp_numbers(object, index, KJIT_MAX_NDIM, "an index");
    if (n >= 0 && n != kjit_array_ndim(self->array)) {
        kjp_refuse("KJIT_INVALID", "%d indices for %d axes", n, kjit_array_ndim(self->array));
        return -1;
    }
    return n;
}

/* One element's bytes. */
static PyObject *array_get(PyObject *object, PyObject *where)
{
    kjp_array *self = (kjp_array *)object;
    int64_t index[KJIT_MAX_NDIM];
    if (take_index(self, where, index) < 0)
        return NULL;
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)element_size(self));
    if (!bytes)
        return NULL;
    kjp_wait wait;
    kjp_wait_begin(&wait, self->context->ctx, NULL);
    kjit_status status = kjit_array_get(self->array, index, PyBytes_AsString(bytes));
    kjp_wait_end(&wait);
    if (status == KJIT_OK)
        return bytes;
    kjp_fail(self->context->ctx, status);
    Py_DECREF(bytes);
    return NULL;
}

static int has_element_size(kjp_array *self, const char *bytes, Py_ssize_t size)
{
    if (bytes && (size_t)size == element_size(self))
        return 1;
    kjp_refuse("KJIT_INVALID", "an element has %zu bytes, not %zd", element_size(self), size);
    return 0;
}

static PyObject *array_set(PyObject *object, PyObject *args)
{
    kjp_array *self = (kjp_array *)object;
    PyObject *where;
    const char *bytes;
    Py_ssize_t size;
    int64_t index[KJIT_MAX_NDIM];
    if (!kjp_parse(args, "Oy#:_set", &where, &bytes, &size) || take_index(self, where, index) < 0 ||
        !has_element_size(self, bytes, size))
        return NULL;
    kjp_wait wait;
    kjp_wait_begin(&wait, self->context->ctx, NULL);
    kjit_status status = kjit_array_set(self->array, index, bytes);
    kjp_wait_end(&wait);
    return kjp_done(self->context->ctx, status);
}

static PyObject *array_fill(PyObject *object, PyObject *args)
{
    kjp_array *self = (kjp_array *)object;
    const char *bytes;
    Py_ssize_t size;
    PyObject *stream = NULL;
    kjit_stream *handle;
    if (!kjp_parse(args, "y#|O:_fill", &bytes, &size, &stream) ||
        kjp_stream_of(stream, &handle) < 0 || !has_element_size(self, bytes, size))
        return NULL;
    kjp_wait wait;
    kjp_wait_begin(&wait, self->context->ctx, handle);
    kjit_status status = kjit_array_fill(self->array, bytes, handle);
    kjp_wait_end(&wait);
    return kjp_done(self->context->ctx, status);
}

/* (source, stream): all elements of another array */
static PyObject *array_copy_from(PyObject *object, PyObject *args)
{
    kjp_array *self = (kjp_array *)object;
    PyObject *source, *stream = NULL;
    kjit_stream *handle;
    if (!kjp_parse(args, "O!|O:_copy_from", kjp.array, &source, &stream) ||
        kjp_stream_of(stream, &handle) < 0)
        return NULL;
    kjp_wait wait;
    kjp_wait_begin(&wait, self->context->ctx, handle);
    kjit_status status = kjit_copy(self->array, ((kjp_array *)source)->array, handle);
    kjp_wait_end(&wait);
    return kjp_done(self->context->ctx, status);
}

/* (to_device, stream): a new array with the same elements */
static PyObject *array_moved(PyObject *object, PyObject *args)
{
    kjp_array *self = (kjp_array *)object;
    PyObject *stream = NULL;
    int to_device;
    kjit_array *out;
    kjit_stream *handle;
    if (!kjp_parse(args, "p|O:_moved", &to_device, &stream) || kjp_stream_of(stream, &handle) < 0)
        return NULL;
    kjp_wait wait;
    kjp_wait_begin(&wait, self->context->ctx, handle);
    kjit_status status = to_device ? kjit_to_device(self->array, handle, &out)
                                   : kjit_to_host(self->array, handle, &out);
    kjp_wait_end(&wait);
    return view(object, status, out);
}

/* The elements as NumPy prints them. */
static PyObject *array_format(PyObject *object, PyObject *unused)
{
    (void)unused;
    kjp_array *self = (kjp_array *)object;
    char *text;
    kjp_wait wait;
    kjp_wait_begin(&wait, self->context->ctx, NULL);
    kjit_status status = kjit_array_format(self->array, &text);
    kjp_wait_end(&wait);
    if (status != KJIT_OK)
        return kjp_fail(self->context->ctx, status);
    PyObject *result = PyUnicode_FromString(text);
    free(text);
    return result;
}

/* Into a file of that name, by its ending. */
static PyObject *array_save(PyObject *object, PyObject *path)
{
    kjp_array *self = (kjp_array *)object;
    const char *text = PyUnicode_AsUTF8AndSize(path, NULL);
    if (!text)
        return kjp_ours();
    kjp_wait wait;
    kjp_wait_begin(&wait, self->context->ctx, NULL);
    kjit_status status = kjit_array_save(self->array, text);
    kjp_wait_end(&wait);
    return kjp_done(self->context->ctx, status);
}

static PyMethodDef methods[] = {
    {"_is_contiguous", array_is_contiguous, METH_VARARGS, NULL},
    {"_slice", array_slice, METH_VARARGS, NULL},
    {"_at", array_at, METH_VARARGS, NULL},
    {"_reshape", array_reshape, METH_VARARGS, NULL},
    {"_transpose", array_transpose, METH_O, NULL},
    {"_field", array_field, METH_O, NULL},
    {"_view", array_view, METH_O, NULL},
    {"_get", array_get, METH_O, NULL},
    {"_set", array_set, METH_VARARGS, NULL},
    {"_fill", array_fill, METH_VARARGS, NULL},
    {"_copy_from", array_copy_from, METH_VARARGS, NULL},
    {"_moved", array_moved, METH_VARARGS, NULL},
    {"_format", array_format, METH_NOARGS, NULL},
    {"_save", array_save, METH_O, NULL},
    {"_dlpack", kjp_array_to_dlpack, METH_VARARGS, NULL},
    KJP_NOT_REDUCED,
    {0},
};

static PyGetSetDef properties[] = {
    {"shape", array_shape, NULL, "Extents, a tuple.", NULL},
    {"strides", array_strides, NULL, "Bytes from element to element along each axis, a tuple.",
     NULL},
    {"ndim", array_ndim, NULL, "The number of axes.", NULL},
    {"size", array_size, NULL, "The number of elements.", NULL},
    {"itemsize", array_itemsize, NULL, "Bytes of an element.", NULL},
    {"address", array_address, NULL, "Where the first element is, in the memory that it is in.",
     NULL},
    {"read_only", array_read_only, NULL, "True for what may not be written.", NULL},
    {"_dtype", array_dtype, NULL, NULL, NULL},
    {"_memory", array_memory, NULL, NULL, NULL},
    {"_context", array_context, NULL, NULL, NULL},
    {0},
};

static PyType_Slot slots[] = {
    {Py_tp_new, array_refuse_new},
    {Py_tp_dealloc, array_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {Py_bf_getbuffer, kjp_array_getbuffer},
    {Py_bf_releasebuffer, kjp_array_releasebuffer},
    {0},
};

PyType_Spec kjp_array_spec = {
    .name = "kjit._kjit.Array",
    .basicsize = sizeof(kjp_array),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};
