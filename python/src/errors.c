/* A kjit_status in, a Python exception out. The classes are those of kjit/_errors.py. */
#include <stdarg.h>

#include "kjp.h"

/* The dictionary's item takes the reference over; a NULL is a failure already. */
static int put(PyObject *dict, const char *name, PyObject *value)
{
    int failed = !value || PyDict_SetItemString(dict, name, value) < 0;
    Py_XDECREF(value);
    return failed ? -1 : 0;
}

PyObject *kjp_text_or_none(const char *text)
{
    return text ? PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace")
                : Py_NewRef(Py_None);
}

/* "KJIT_FAULT_BOUNDS" as "bounds" */
static PyObject *kind_name(kjit_fault_kind kind)
{
    static const char prefix[] = "KJIT_FAULT_";
    const char *name = kjit_fault_kind_name(kind);
    if (!name)
        return PyUnicode_FromString("unknown");
    PyObject *text = PyUnicode_FromString(name + (sizeof prefix - 1));
    PyObject *lower = text ? PyObject_CallMethod(text, "lower", NULL) : NULL;
    Py_XDECREF(text);
    return lower;
}

/* Of a block or a thread; what a fault does not have is -1 there. */
static PyObject *place_or_none(const int64_t place[3])
{
    return place[0] < 0 ? Py_NewRef(Py_None) : kjp_tuple(place, 3);
}

static PyObject *access_name(kjit_access access)
{
    static const char *const names[] = {NULL, "read", "write", "atomic"};
    return kjp_text_or_none((unsigned)access < 4 ? names[access] : NULL);
}

static PyObject *index_of(const kjit_fault *fault)
{
    return fault->index_unsigned ? PyLong_FromUnsignedLongLong((uint64_t)fault->index)
                                 : PyLong_FromLongLong(fault->index);
}

static int put_other_access(PyObject *dict, const kjit_fault *f)
{
    return put(dict, "access", access_name(f->access)) ||
           put(dict, "other_access", access_name(f->other_access)) ||
           put(dict, "other_file", kjp_text_or_none(f->other_file)) ||
           put(dict, "other_line", PyLong_FromLong(f->other_line)) ||
           put(dict, "other_column", PyLong_FromLong(f->other_column)) ||
           put(dict, "other_end_line", PyLong_FromLong(f->other_end_line)) ||
           put(dict, "other_end_column", PyLong_FromLong(f->other_end_column)) ||
           put(dict, "other_block", place_or_none(f->other_block)) ||
           put(dict, "other_thread", place_or_none(f->other_thread));
}

static PyObject *fault_fields(const kjit_fault *f)
{
    PyObject *dict = PyDict_New();
    if (dict &&
        (put(dict, "kind", kind_name(f->kind)) ||
         put(dict, "message", kjp_text_or_none(f->message)) ||
         put(dict, "hint", kjp_text_or_none(f->hint)) ||
         put(dict, "kernel", kjp_text_or_none(f->kernel)) ||
         put(dict, "file", kjp_text_or_none(f->file)) ||
         put(dict, "line", PyLong_FromLong(f->line)) ||
         put(dict, "column", PyLong_FromLong(f->column)) ||
         put(dict, "end_line", PyLong_FromLong(f->end_line)) ||
         put(dict, "end_column", PyLong_FromLong(f->end_column)) ||
         put(dict, "block", place_or_none(f->block)) ||
         put(dict, "thread", place_or_none(f->thread)) ||
         put(dict, "array", kjp_text_or_none(f->array)) ||
         put(dict, "axis", PyLong_FromLong(f->axis)) || put(dict, "index", index_of(f)) ||
         put(dict, "extent", PyLong_FromLongLong(f->extent)) ||
         put(dict, "arrived", PyLong_FromLongLong(f->arrived)) ||
         put(dict, "expected", PyLong_FromLongLong(f->expected)) || put_other_access(dict, f)))
        Py_CLEAR(dict);
    return dict;
}

PyObject *kjp_fail(kjit_context *ctx, kjit_status status)
{
    kjit_fault fault = {.size = sizeof fault};
    PyObject *text = kjp_text_or_none(kjit_last_error(ctx));
    int is_fault = (status == KJIT_FAULT || status == KJIT_CANCELLED || status == KJIT_TIMEOUT) &&
                   kjit_last_fault(ctx, &fault);
    PyObject *fields = is_fault ? fault_fields(&fault) : Py_NewRef(Py_None);
    /* What Ctrl-C has ended is a KeyboardInterrupt, if the program's handler makes one. */
    int interrupted = status == KJIT_CANCELLED && PyErr_CheckSignals() < 0;
    PyObject *name = interrupted ? NULL : PyUnicode_FromString(kjit_status_name(status));
    PyObject *error = text && fields && name
                          ? PyObject_CallFunctionObjArgs(kjp.error, name, text, fields, NULL)
                          : NULL;
    if (error)
        PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    Py_XDECREF(error);
    Py_XDECREF(name);
    Py_XDECREF(fields);
    Py_XDECREF(text);
    return NULL;
}

PyObject *kjp_done(kjit_context *ctx, kjit_status status)
{
    return status == KJIT_OK ? Py_NewRef(Py_None) : kjp_fail(ctx, status);
}

/* ---- Python's own exceptions ---- */

static PyObject *refuse(const char *kind, PyObject *text)
{
    PyObject *error = text ? PyObject_CallFunction(kjp.error, "sOO", kind, text, Py_None) : NULL;
    if (error)
        PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    Py_XDECREF(error);
    Py_XDECREF(text);
    return NULL;
}

PyObject *kjp_refuse(const char *kind, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    PyObject *text = PyUnicode_FromFormatV(format, args);
    va_end(args);
    return refuse(kind, text);
}

/* Of a class of Python's itself; NULL: it stays. */
static const char *kind_of(const PyObject *type)
{
    if (type == PyExc_TypeError || type == PyExc_BufferError)
        return "KJIT_TYPE";
    if (type == PyExc_ValueError)
        return "KJIT_INVALID";
    return type == PyExc_OverflowError ? "range" : NULL;
}

/* What code of Python's raised is shown with its place, as the cause. */
static void set_cause(PyObject *cause)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (value)
        PyException_SetCause(value, Py_NewRef(cause));
    PyErr_Restore(type, value, traceback);
}

PyObject *kjp_ours(void)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    const char *kind = type ? kind_of(type) : NULL;
    if (!kind) {
        PyErr_Restore(type, value, traceback);
        return NULL;
    }
    PyErr_NormalizeException(&type, &value, &traceback);
    if (traceback)
        PyException_SetTraceback(value, traceback);
    refuse(kind, PyObject_Str(value));
    if (traceback)
        set_cause(value);
    Py_XDECREF(traceback);
    Py_XDECREF(value);
    Py_XDECREF(type);
    return NULL;
}

int kjp_parse(PyObject *args, const char *format, ...)
{
    va_list out;
    va_start(out, format);
    int taken = PyArg_VaParse(args, format, out);
    va_end(out);
    if (!taken)
        kjp_ours();
    return taken;
}

int kjp_parse_named(PyObject *args, PyObject *kwargs, const char *format, char **names, ...)
{
    va_list out;
    va_start(out, names);
    int taken = PyArg_VaParseTupleAndKeywords(args, kwargs, format, names, out);
    va_end(out);
    if (!taken)
        kjp_ours();
    return taken;
}

double kjp_float(PyObject *object)
{
    double value = PyFloat_AsDouble(object);
    if (value == -1 && PyErr_Occurred())
        kjp_ours();
    return value;
}

const char *kjp_text(PyObject *object, const char *what)
{
    const char *text = PyUnicode_Check(object) ? PyUnicode_AsUTF8AndSize(object, NULL) : NULL;
    if (!text && !PyErr_Occurred())
        kjp_refuse("KJIT_TYPE", "%s is meant, not %R", what, object);
    else if (!text)
        kjp_ours();
    return text;
}
