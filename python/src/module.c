/* The type Module: what a source was compiled to. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "kjp.h"

static int list_kernels(kjp_module *self)
{
    const char *name;
    for (int i = 0; (name = kjit_module_kernel(self->mod, i)); i++)
        if (PyDict_SetItemString(self->kernels, name, Py_None) < 0)
            return -1;
    return 0;
}

PyObject *kjp_module_new(kjp_context *context, kjit_module *mod, PyObject *options)
{
    kjp_module *self = (kjp_module *)PyType_GenericAlloc((PyTypeObject *)kjp.module_class, 0);
    if (!self) {
        kjit_module_free(mod);
        return NULL;
    }
    self->mod = mod;
    self->context = (kjp_context *)Py_NewRef((PyObject *)context);
    self->options = Py_NewRef(options);
    self->kernels = PyDict_New();
    self->records = PyDict_New();
    if (!self->kernels || !self->records || list_kernels(self) < 0)
        Py_CLEAR(self);
    return (PyObject *)self;
}

static PyObject *module_refuse_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)type;
    (void)args;
    (void)kwargs;
    return kjp_refuse("KJIT_TYPE", "modules are made by kjit.compile, not by their class");
}

static void module_dealloc(PyObject *object)
{
    kjp_module *self = (kjp_module *)object;
    Py_BEGIN_ALLOW_THREADS kjit_module_free(self->mod);
    Py_END_ALLOW_THREADS Py_XDECREF(self->kernels);
    Py_XDECREF(self->records);
    Py_XDECREF(self->options);
    Py_XDECREF(self->context);
    kjp_free(object);
}

/* Kernels come before the type's own attributes, so any name of a kernel's can be written; those
 * in the way are reached by their underscore, with which Python's own and these begin: such kernels are behind them. */
static PyObject *module_getattro(PyObject *object, PyObject *name)
{
    kjp_module *self = (kjp_module *)object;
    PyObject *kernel = PyDict_GetItemWithError(self->kernels, name);
    if (!kernel && PyErr_Occurred())
        return NULL;
    if (kernel && PyUnicode_ReadChar(name, 0) != '_')
        return kjp_kernel_new(self, name);
    PyObject *found = PyObject_GenericGetAttr(object, name);
    if (found || !kernel || !PyErr_ExceptionMatches(PyExc_AttributeError))
        return found;
    PyErr_Clear();
    return kjp_kernel_new(self, name);
}

/* mod["blur.rows"]: of a file that the module uses, whose kernels are not in the list */
static PyObject *module_subscript(PyObject *object, PyObject *name)
{
    kjp_module *self = (kjp_module *)object;
    if (!PyUnicode_Check(name))
        return kjp_refuse("KJIT_TYPE", "a kernel's name is meant, not %R", name);
    const char *text = kjp_text(name, "a kernel's name");
    kjit_kernel_decl decl = {.size = sizeof decl};
    if (!text)
        return NULL;
    kjit_status status = kjit_module_kernel_decl(self->mod, text, &decl);
    return status == KJIT_OK ? kjp_kernel_new(self, name) : kjp_fail(self->context->ctx, status);
}

/* The number of a record's dtype; KeyError where the source has none of that name. */
static PyObject *module_record(PyObject *object, PyObject *name)
{
    kjp_module *self = (kjp_module *)object;
    const char *text = kjp_text(name, "a record's name");
    kjit_dtype dtype;
    if (!text)
        return NULL;
    kjit_status status = kjit_module_record(self->mod, text, &dtype);
    if (status == KJIT_NOT_FOUND) {
        PyErr_SetObject(PyExc_KeyError, name);
        return NULL;
    }
    return status == KJIT_OK ? PyLong_FromLong(dtype) : kjp_fail(self->context->ctx, status);
}

static PyObject *module_set_const(PyObject *object, PyObject *args)
{
    kjp_module *self = (kjp_module *)object;
    const char *name;
    PyObject *array;
    if (!kjp_parse(args, "sO!:_set_const", &name, kjp.array, &array))
        return NULL;
    kjp_wait wait;
    kjp_wait_begin(&wait, self->context->ctx, NULL);
    kjit_status status = kjit_module_set_const(self->mod, name, ((kjp_array *)array)->array);
    kjp_wait_end(&wait);
    return kjp_done(self->context->ctx, status);
}

/* [(severity, file, line, column, end_line, end_column, code, message, hint)] */
static PyObject *module_diagnostics(PyObject *object, PyObject *unused)
{
    (void)unused;
    kjit_module *mod = ((kjp_module *)object)->mod;
    int n = kjit_module_diagnostics(mod, NULL, 0);
    kjit_diagnostic *all = PyMem_Malloc((size_t)(n + 1) * sizeof *all);
    PyObject *list = all ? PyList_New(0) : PyErr_NoMemory();
    if (all)
        kjit_module_diagnostics(mod, all, n);
    for (int i = 0; list && i < n; i++) {
        const kjit_diagnostic *d = &all[i];
        PyObject *row = Py_BuildValue("(iNiiiisNN)", d->severity, kjp_text_or_none(d->file),
                                      d->line, d->column, d->end_line, d->end_column, d->code,
                                      kjp_text_or_none(d->message), kjp_text_or_none(d->hint));
        if (!row || PyList_Append(list, row) < 0)
            Py_CLEAR(list);
        Py_XDECREF(row);
    }
    PyMem_Free(all);
    return list;
}

static PyObject *module_log(PyObject *object, void *unused)
{
    (void)unused;
    return kjp_text_or_none(kjit_module_log(((kjp_module *)object)->mod));
}

/* What the library gave by malloc. */
static PyObject *given_bytes(const kjp_module *self, kjit_status status, void *out, size_t size)
{
    if (status != KJIT_OK)
        return kjp_fail(self->context->ctx, status);
    PyObject *bytes = PyBytes_FromStringAndSize(out, (Py_ssize_t)size);
    free(out);
    return bytes;
}

/* (what, kernel or None, block or None): an intermediate form as text or bytes */
static PyObject *module_emit(PyObject *object, PyObject *args)
{
    kjp_module *self = (kjp_module *)object;
    const char *what, *kernel;
    PyObject *shape;
    int64_t block[3] = {1, 1, 1};
    if (!kjp_parse(args, "szO:_emit", &what, &kernel, &shape) ||
        (shape != Py_None && kjp_numbers(shape, block, 3, "a block") < 0))
        return NULL;
    char *out;
    size_t size;
    kjp_wait wait;
    kjp_wait_begin(&wait, self->context->ctx, NULL);
    kjit_status status =
        kjit_module_emit(self->mod, what, kernel, shape == Py_None ? NULL : block, &out, &size);
    kjp_wait_end(&wait);
    return given_bytes(self, status, out, size);
}

/* (cpus or None, archs or None): machine code for them, as bytes */
static PyObject *module_image(PyObject *object, PyObject *args)
{
    kjp_module *self = (kjp_module *)object;
    kjit_image_options options = {.size = sizeof options};
    if (!kjp_parse(args, "zz:_image", &options.cpus, &options.archs))
        return NULL;
    void *out;
    size_t size;
    kjp_wait wait;
    kjp_wait_begin(&wait, self->context->ctx, NULL);
    kjit_status status = kjit_module_image(self->mod, &options, &out, &size);
    kjp_wait_end(&wait);
    return given_bytes(self, status, out, size);
}

/* Between statements of a run block; kjp_fail then finds what Python's handler has raised. */
static int was_interrupted(void *user)
{
    kjp_wait *wait = user;
    if (!wait->watched)
        return 0;
    PyGILState_STATE state = PyGILState_Ensure();
    int interrupted = PyErr_CheckSignals() < 0;
    PyGILState_Release(state);
    return interrupted;
}

static const char **texts_of(PyObject *list, int *n)
{
    Py_ssize_t size = PyList_Size(list);
    const char **texts = PyMem_Malloc((size_t)(size + 1) * sizeof *texts);
    *n = 0;
    for (; texts && *n < size; ++*n)
        if (!(texts[*n] = PyUnicode_AsUTF8AndSize(PyList_GetItem(list, *n), NULL))) {
            PyMem_Free(texts);
            return (const char **)kjp_ours();
        }
    return texts ? texts : (const char **)PyErr_NoMemory();
}

/* (params, saves, test, columns, colours): lists of "name=value" and "name=file"; a test's title, or None: the run block;
 * what plot and show draw for */
static PyObject *module_run(PyObject *object, PyObject *args)
{
    kjp_module *self = (kjp_module *)object;
    PyObject *params, *saves;
    const char *test;
    kjp_wait wait;
    kjit_run_options options = {.write = kjp_print, .interrupted = was_interrupted, .user = &wait};
    if (!kjp_parse(args, "O!O!zii:_run", &PyList_Type, &params, &PyList_Type, &saves, &test,
                   &options.columns, &options.colours))
        return NULL;
    const char **given = texts_of(params, &options.nparams);
    const char **saved = given ? texts_of(saves, &options.nsaves) : NULL;
    PyObject *result = NULL;
    if (saved) {
        options.params = given;
        options.saves = saved;
        options.test = test;
        kjp_wait_begin(&wait, self->context->ctx, NULL);
        kjit_status status = kjit_run(self->mod, &options);
        kjp_wait_end(&wait);
        result = PyErr_Occurred() ? NULL : kjp_done(self->context->ctx, status);
    }
    PyMem_Free(given);
    PyMem_Free(saved);
    return result;
}

static PyObject *module_kernels(PyObject *object, void *unused)
{
    (void)unused;
    return PySequence_Tuple(((kjp_module *)object)->kernels);
}

/* Appends a new reference, which is the list's from then on; false on failure. */
static bool append(PyObject *list, PyObject *item)
{
    bool ok = item && PyList_Append(list, item) == 0;
    Py_XDECREF(item);
    return ok;
}

static PyObject *as_tuple(PyObject *list, bool whole)
{
    PyObject *all = list && whole ? PySequence_Tuple(list) : NULL;
    Py_XDECREF(list);
    return all;
}

static PyObject *module_records(PyObject *object, void *unused)
{
    (void)unused;
    const char *name;
    PyObject *list = PyList_New(0);
    bool ok = list != NULL;
    for (int i = 0; ok && (name = kjit_module_record_name(((kjp_module *)object)->mod, i)); i++)
        ok = append(list, PyUnicode_FromString(name));
    return as_tuple(list, ok);
}

/* Of its run block, a tuple each: name, type, default, doc. */
static PyObject *module_params(PyObject *object, void *unused)
{
    (void)unused;
    kjit_param_info p;
    PyObject *list = PyList_New(0);
    bool ok = list != NULL;
    for (int i = 0; ok && kjit_module_param(((kjp_module *)object)->mod, i, &p); i++)
        ok = append(list, Py_BuildValue("(szzz)", p.name, p.type, p.value, p.doc));
    return as_tuple(list, ok);
}

static PyObject *module_tests(PyObject *object, void *unused)
{
    (void)unused;
    kjit_test_info test;
    PyObject *list = PyList_New(0);
    bool ok = list != NULL;
    for (int i = 0; ok && kjit_module_test(((kjp_module *)object)->mod, i, &test); i++)
        ok = append(list, PyUnicode_FromString(test.title));
    return as_tuple(list, ok);
}

static PyObject *module_options(PyObject *object, void *unused)
{
    (void)unused;
    return Py_NewRef(((kjp_module *)object)->options);
}

static PyObject *module_context(PyObject *object, void *unused)
{
    (void)unused;
    return Py_NewRef((PyObject *)((kjp_module *)object)->context);
}

static PyMethodDef module_methods[] = {
    {"_record", module_record, METH_O, NULL},
    {"_set_const", module_set_const, METH_VARARGS, NULL},
    {"_diagnostics", module_diagnostics, METH_NOARGS, NULL},
    {"_emit", module_emit, METH_VARARGS, NULL},
    {"_image", module_image, METH_VARARGS, NULL},
    {"_run", module_run, METH_VARARGS, NULL},
    KJP_NOT_REDUCED,
    {0},
};

static PyGetSetDef module_properties[] = {
    {"_log", module_log, NULL, NULL, NULL},         {"_kernels", module_kernels, NULL, NULL, NULL},
    {"_records", module_records, NULL, NULL, NULL}, {"_options", module_options, NULL, NULL, NULL},
    {"_context", module_context, NULL, NULL, NULL}, {"_params", module_params, NULL, NULL, NULL},
    {"_tests", module_tests, NULL, NULL, NULL},     {0},
};

static PyType_Slot module_slots[] = {
    {Py_tp_new, module_refuse_new},
    {Py_tp_dealloc, module_dealloc},
    {Py_tp_getattro, module_getattro},
    {Py_mp_subscript, module_subscript},
    {Py_tp_methods, module_methods},
    {Py_tp_getset, module_properties},
    {0},
};

PyType_Spec kjp_module_spec = {
    .name = "kjit._kjit.Module",
    .basicsize = sizeof(kjp_module),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = module_slots,
};
