/* What Python gives for a kernel's parameters -> arguments of a launch. */
#include <stdlib.h>
#include <string.h>

#include "kjp.h"

/* One argument, and what it needs until the launch has been made. */
struct kjp_slot {
    kjit_array *wrapped; /* to be freed */
    PyObject *held;      /* an Array that was made of it */
    kjp_owner *owner;    /* of a value's or an array's memory, where the view is not here */
    Py_buffer view;
    int has_view;
    double value[2];
};

typedef struct kjp_slot slot;

static kjp_context *context_of(const kjp_arguments *a)
{
    return a->kernel->module->context;
}

void kjp_arguments_drop(kjp_arguments *a)
{
    for (Py_ssize_t i = 0; i < a->n; i++) {
        slot *s = &a->slots[i];
        if (s->wrapped)
            kjit_array_free(s->wrapped);
        if (s->has_view)
            PyBuffer_Release(&s->view);
        if (s->owner) {
            PyBuffer_Release(&s->owner->view);
            free(s->owner);
        }
        Py_XDECREF(s->held);
    }
    PyMem_Free(a->slots);
    PyMem_Free(a->args);
}

static int convert_int(kjit_arg *arg, PyObject *object)
{
    int overflow;
    long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
    *arg = kjit_arg_i64(value);
    if (overflow > 0)
        *arg = kjit_arg_u64(PyLong_AsUnsignedLongLong(object));
    if (overflow < 0 || PyErr_Occurred()) {
        PyErr_Clear();
        kjp_refuse("range", "an int of Python's that does not fit in 64 bits");
        return -1;
    }
    return 0;
}

/* A NumPy scalar, or an array without axes: a number with a type, or a record. */
static int convert_value(kjit_arg *arg, const Py_buffer *view, int dtype)
{
    *arg = kjit_arg_value((kjit_dtype)dtype, view->buf);
    return 0;
}

/* Whose argument it is: the parameter at that place, or of that name where it is not NULL. */
typedef struct place {
    Py_ssize_t i; /* of the arguments */
    const char *name;
} place;

/* 1: *p is the parameter. */
static int find_parameter(const kjp_arguments *a, const place *at, kjit_kernel_param *p)
{
    const char *kernel = PyUnicode_AsUTF8AndSize(a->kernel->name, NULL);
    for (int i = at->name ? 0 : (int)at->i; kernel; i++) {
        *p = (kjit_kernel_param){.size = sizeof *p};
        if (kjit_module_kernel_param(a->kernel->module->mod, kernel, i, p) != KJIT_OK)
            return 0;
        if (!at->name || strcmp(p->name, at->name) == 0)
            return 1;
    }
    return 0;
}

/* The record that the parameter takes, one or an array of them; else -1. */
static int record_wanted(const kjp_arguments *a, const place *at)
{
    kjit_kernel_param p;
    int found = find_parameter(a, at, &p) && p.has_dtype && p.dtype >= KJIT_FIRST_RECORD;
    return found ? (int)p.dtype : -1;
}

/* NumPy arrays, scalars and records, memoryviews, bytearrays, array.array, ctypes: where their
 * elements are. */
static int convert_buffer(kjp_arguments *a, kjit_arg *arg, slot *s, PyObject *object,
                          const place *at)
{
    kjp_owner *owner = NULL;
    Py_buffer *view = &s->view;
    if (a->queued) {
        owner = s->owner = calloc(1, sizeof *owner);
        if (!owner) {
            PyErr_NoMemory();
            return -1;
        }
        view = &owner->view;
    }
    if (kjp_get_buffer(object, view, PyBUF_RECORDS_RO) < 0) {
        free(owner);
        s->owner = NULL;
        return -1;
    }
    s->has_view = !owner;
    int may_be = view->format && (strchr(view->format, '{') || strcmp(view->format, "B") == 0);
    int wanted = may_be && view->itemsize != 1 ? record_wanted(a, at) : -1;
    int dtype = kjp_dtype_of(context_of(a), view, wanted, a->kernel->module);
    if (dtype < 0)
        return -1;
    if (view->ndim == 0)
        return convert_value(arg, view, dtype); /* which the launch reads at once */
    if (kjp_wrap(context_of(a), view, dtype, KJIT_HOST, owner, &s->wrapped) < 0)
        return -1;
    s->owner = NULL; /* is the array's */
    *arg = kjit_arg_array(s->wrapped);
    return 0;
}

/* kjit.In(x) and kjit.Out(x) */
static int convert(kjp_arguments *a, kjit_arg *arg, slot *s, PyObject *object, const place *at);

static int convert_direction(kjp_arguments *a, kjit_arg *arg, slot *s, PyObject *object,
                             const place *at, int kind)
{
    PyObject *array = PyObject_GetAttrString(object, "array");
    int failed = !array || convert(a, arg, s, array, at) < 0;
    if (!failed && arg->kind != KJIT_ARG_ARRAY) {
        kjp_refuse("KJIT_TYPE", "%R is no array", array);
        failed = 1;
    }
    if (!failed)
        arg->kind = (kjit_arg_kind)kind;
    Py_XDECREF(array);
    return failed ? -1 : 0;
}

static int convert_number(kjit_arg *arg, slot *s, PyObject *object)
{
    if (PyFloat_Check(object)) {
        *arg = kjit_arg_f64(PyFloat_AsDouble(object));
    } else if (PyLong_Check(object)) {
        return convert_int(arg, object);
    } else {
        s->value[0] = PyComplex_RealAsDouble(object);
        s->value[1] = PyComplex_ImagAsDouble(object);
        *arg = kjit_arg_value(KJIT_C128, s->value);
    }
    return PyErr_Occurred() ? -1 : 0;
}

/* What has __dlpack__, __array_interface__ or __cuda_array_interface__, by Python. */
static int convert_other(kjp_arguments *a, kjit_arg *arg, slot *s, PyObject *object,
                         const place *at)
{
    s->held = PyObject_CallFunction(kjp.adopt, "OOiO", (PyObject *)context_of(a), object,
                                    record_wanted(a, at), (PyObject *)a->kernel->module);
    if (!s->held)
        return -1;
    if (!PyObject_TypeCheck(s->held, kjp.array)) /* what is an int by its __index__ */
        return convert_number(arg, s, s->held);
    *arg = kjit_arg_array(((kjp_array *)s->held)->array);
    return 0;
}

static int convert(kjp_arguments *a, kjit_arg *arg, slot *s, PyObject *object, const place *at)
{
    if (PyObject_TypeCheck(object, kjp.array)) {
        *arg = kjit_arg_array(((kjp_array *)object)->array);
        return 0;
    }
    if (PyBool_Check(object)) {
        *arg = kjit_arg_bool(object == Py_True);
        return 0;
    }
    /* NumPy's float64 is a float, too, and has a buffer: of its type. */
    if (PyFloat_CheckExact(object) || PyLong_CheckExact(object))
        return convert_number(arg, s, object);
    if (PyObject_CheckBuffer(object))
        return convert_buffer(a, arg, s, object, at);
    if (PyFloat_Check(object) || PyLong_Check(object) || PyComplex_Check(object))
        return convert_number(arg, s, object);
    if (Py_TYPE(object) == (PyTypeObject *)kjp.in)
        return convert_direction(a, arg, s, object, at, KJIT_ARG_IN);
    if (Py_TYPE(object) == (PyTypeObject *)kjp.out)
        return convert_direction(a, arg, s, object, at, KJIT_ARG_OUT);
    return convert_other(a, arg, s, object, at);
}

/* A tuple or list for a parameter whose type has parts, else what all other objects are. */
static int convert_parts(kjp_arguments *a, PyObject *object, const place *at)
{
    kjit_arg *arg = &a->args[at->i];
    slot *s = &a->slots[at->i];
    kjit_kernel_param p;
    if ((!PyTuple_Check(object) && !PyList_Check(object)) || !find_parameter(a, at, &p) ||
        !p.has_dtype || p.ndim > 0)
        return convert(a, arg, s, object, at);
    PyObject *python = PyImport_ImportModule("kjit._element");
    s->held = python ? PyObject_CallMethod(python, "parts_as_bytes", "OiO",
                                           (PyObject *)context_of(a), (int)p.dtype, object)
                     : NULL;
    Py_XDECREF(python);
    if (!s->held)
        return -1;
    if (s->held == Py_None) {
        Py_CLEAR(s->held);
        return convert(a, arg, s, object, at);
    }
    *arg = kjit_arg_value(p.dtype, PyBytes_AsString(s->held));
    return 0;
}

/* Says in the exception that is set whose argument it is, and what that parameter takes. */
static int name_parameter(const kjp_arguments *a, PyObject *object, const place *at)
{
    PyObject *type, *value, *traceback;
    kjp_ours();
    if (!PyErr_ExceptionMatches(kjp.base))
        return -1;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    PyObject *python = PyImport_ImportModule("kjit._module");
    PyObject *error = python
                          ? PyObject_CallMethod(python, "refused", "OnzOO", (PyObject *)a->kernel,
                                                at->i, at->name, object, value)
                          : NULL;
    if (error)
        PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    Py_XDECREF(error);
    Py_XDECREF(python);
    Py_XDECREF(traceback);
    Py_XDECREF(value);
    Py_XDECREF(type);
    return -1;
}

static int take(kjp_arguments *a, PyObject *object, place at)
{
    return convert_parts(a, object, &at) < 0 ? name_parameter(a, object, &at) : 0;
}

static int take_named(kjp_arguments *a, Py_ssize_t first, PyObject *kwargs)
{
    PyObject *key, *value;
    Py_ssize_t step = 0;
    for (Py_ssize_t i = first; PyDict_Next(kwargs, &step, &key, &value); i++) {
        const char *name = PyUnicode_AsUTF8AndSize(key, NULL);
        if (!name || take(a, value, (place){i, name}) < 0)
            return -1;
        a->args[i].name = name;
    }
    return 0;
}

int kjp_arguments_take(kjp_arguments *a, PyObject *args, PyObject *kwargs)
{
    Py_ssize_t given = PyTuple_Size(args);
    a->n = given + (kwargs ? PyDict_Size(kwargs) : 0);
    a->args = PyMem_Malloc((size_t)(a->n + 1) * sizeof *a->args);
    a->slots = PyMem_Calloc((size_t)(a->n + 1), sizeof *a->slots);
    if (!a->args || !a->slots) {
        a->n = 0;
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < given; i++)
        if (take(a, PyTuple_GetItem(args, i), (place){i, NULL}) < 0)
            return -1;
    return kwargs ? take_named(a, given, kwargs) : 0;
}
