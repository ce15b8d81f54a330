/* The type Context: a device, its memory, and what is compiled for it. */
#include <stdlib.h>
#include <string.h>

#include "kjp.h"

/* -1 with an exception. */
static int take_number(PyObject *object, int64_t *out, const char *what)
{
    PyObject *number = PyNumber_Index(object);
    *out = number ? PyLong_AsLongLong(number) : -1;
    Py_XDECREF(number);
    if (*out != -1 || !PyErr_Occurred())
        return 0;
    if (PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear();
        kjp_refuse("KJIT_TYPE", "%s is an int or several, not %R", what, object);
    }
    kjp_ours();
    return -1;
}

int kjp_numbers(PyObject *object, int64_t *out, int max, const char *what)
{
    if (PyLong_Check(object) || (PyIndex_Check(object) && !PySequence_Check(object)))
        return take_number(object, out, what) < 0 ? -1 : 1;
    if (!PySequence_Check(object) || PyUnicode_Check(object)) {
        kjp_refuse("KJIT_TYPE", "%s is an int or several, not %R", what, object);
        return -1;
    }
    PyObject *tuple = PySequence_Tuple(object);
    if (!tuple) {
        if (PyErr_ExceptionMatches(PyExc_TypeError)) {
            PyErr_Clear();
            kjp_refuse("KJIT_TYPE", "%s is an int or several, not %R", what, object);
        }
        kjp_ours();
        return -1;
    }
    Py_ssize_t n = PyTuple_Size(tuple);
    if (n > max) {
        kjp_refuse("KJIT_SHAPE", "%s has %zd numbers, of %d at most", what, n, max);
        n = -1;
    }
    for (Py_ssize_t i = 0; i < n; i++)
        if (take_number(PyTuple_GetItem(tuple, i), &out[i], what) < 0)
            n = -1;
    Py_DECREF(tuple);
    return (int)n;
}

PyObject *kjp_tuple(const int64_t *numbers, int n)
{
    PyObject *tuple = PyTuple_New(n);
    for (int i = 0; tuple && i < n; i++) {
        PyObject *number = PyLong_FromLongLong(numbers[i]);
        if (!number || PyTuple_SetItem(tuple, i, number) < 0)
            Py_CLEAR(tuple);
    }
    return tuple;
}

void kjp_print(void *user, const char *text, size_t size)
{
    (void)user;
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *out = PySys_GetObject("stdout");
    PyObject *line =
        out && out != Py_None ? PyUnicode_DecodeUTF8(text, (Py_ssize_t)size, "replace") : NULL;
    if (line && PyFile_WriteObject(line, out, Py_PRINT_RAW) < 0)
        PyErr_WriteUnraisable(out);
    Py_XDECREF(line);
    PyErr_Restore(type, value, traceback);
    PyGILState_Release(state);
}

/* A program at a prompt wants Ctrl-C to work, which costs a CPU's launches little, and a GPU's
 * much. */
static int is_cancellable(PyObject *wanted, const char *device)
{
    kjit_device_info first;
    if (wanted != Py_None)
        return PyObject_IsTrue(wanted);
    if (device && strcmp(device, "auto") != 0)
        return strncmp(device, "cpu", 3) == 0;
    return kjit_devices(&first, 1) > 0 && strcmp(first.kind, "cpu") == 0;
}

static int set_limit(kjit_limits *limits, const char *name, uint64_t value)
{
#define SET_LIMIT(field, untrusted, text) \
    if (strcmp(name, #field) == 0) { \
        limits->field = value; \
        return 0; \
    }
    KJIT_LIMIT_MAP(SET_LIMIT)
#undef SET_LIMIT
    kjp_refuse("KJIT_INVALID", "there is no limit of the name '%s'", name);
    return -1;
}

static int take_limits(PyObject *dict, kjit_limits *limits)
{
    PyObject *key, *value;
    Py_ssize_t place = 0;
    while (PyDict_Next(dict, &place, &key, &value)) {
        const char *name = PyUnicode_AsUTF8AndSize(key, NULL);
        uint64_t number = name ? PyLong_AsUnsignedLongLong(value) : 0;
        if (PyErr_Occurred() || set_limit(limits, name, number) < 0) {
            kjp_ours();
            return -1;
        }
    }
    return 0;
}

static PyObject *context_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"device",    "workers", "cache", "cancellable",
                            "untrusted", "limits",  NULL};
    kjit_limits limits = {.version = KJIT_LIMITS_VERSION};
    kjit_context_options options = {.limits = &limits};
    PyObject *cancellable = Py_None, *limit_dict = NULL;
    if (!kjp_parse_named(args, kwargs, "|zizOpO!:Context", names, &options.device, &options.workers,
                         &options.cache, &cancellable, &options.untrusted, &PyDict_Type,
                         &limit_dict) ||
        (limit_dict && take_limits(limit_dict, &limits) < 0))
        return NULL;
    options.cancellable = is_cancellable(cancellable, options.device);
    kjp_context *self = (kjp_context *)PyType_GenericAlloc(type, 0);
    if (!self || !(self->records = PyDict_New())) {
        Py_XDECREF(self);
        return NULL;
    }
    kjit_status status;
    Py_BEGIN_ALLOW_THREADS status = kjit_context_create(&options, &self->ctx, NULL, 0);
    Py_END_ALLOW_THREADS if (status != KJIT_OK)
    {
        kjp_fail(NULL, status);
        Py_DECREF(self);
        return NULL;
    }
    kjit_set_print(self->ctx, kjp_print, NULL);
    return (PyObject *)self;
}

static void context_dealloc(PyObject *object)
{
    kjp_context *self = (kjp_context *)object;
    Py_BEGIN_ALLOW_THREADS kjit_context_destroy(self->ctx);
    Py_END_ALLOW_THREADS kjp_owners_release();
    Py_XDECREF(self->records);
    kjp_free(object);
}

static PyObject *context_synchronize(PyObject *object, PyObject *unused)
{
    (void)unused;
    kjp_context *self = (kjp_context *)object;
    kjp_wait wait;
    kjp_wait_begin(&wait, self->ctx, NULL);
    kjit_status status = kjit_synchronize(self->ctx);
    kjp_wait_end(&wait);
    PyObject *result = kjp_done(self->ctx, status);
    kjp_owners_release();
    return result;
}

static PyObject *context_cancel(PyObject *object, PyObject *unused)
{
    (void)unused;
    kjit_context *ctx = ((kjp_context *)object)->ctx;
    return kjp_done(ctx, kjit_cancel(ctx));
}

static PyObject *context_set_deadline(PyObject *object, PyObject *ms)
{
    kjit_context *ctx = ((kjp_context *)object)->ctx;
    double value = kjp_float(ms);
    return PyErr_Occurred() ? NULL : kjp_done(ctx, kjit_set_deadline(ctx, value));
}

static PyObject *context_device(PyObject *object, void *unused)
{
    (void)unused;
    kjit_context *ctx = ((kjp_context *)object)->ctx;
    kjit_device_info info;
    kjit_status status = kjit_context_device(ctx, &info);
    if (status != KJIT_OK)
        return kjp_fail(ctx, status);
    return Py_BuildValue("(ssiKi)", info.name, info.kind, info.ordinal,
                         (unsigned long long)info.memory, info.units);
}

/* In capitals, as they are declared: "warp_size" is meant for WARP_SIZE. */
static void in_capitals(const char *text, char *out, size_t room)
{
    size_t n = 0;
    for (; text[n] && n + 1 < room; n++)
        out[n] = text[n] >= 'a' && text[n] <= 'z' ? (char)(text[n] - 'a' + 'A') : text[n];
    out[n] = '\0';
}

static PyObject *context_attribute(PyObject *object, PyObject *name)
{
    kjit_context *ctx = ((kjp_context *)object)->ctx;
    const char *text = kjp_text(name, "an attribute's name");
    int64_t value;
    kjit_status status;
    char wanted[64];
    if (!text)
        return NULL;
    in_capitals(text, wanted, sizeof wanted);
#define ATTRIBUTE(attribute, number, what) \
    if (strcmp(wanted, #attribute) == 0) { \
        status = kjit_device_attribute(ctx, KJIT_ATTRIBUTE_##attribute, &value); \
        return status == KJIT_OK ? PyLong_FromLongLong(value) : kjp_fail(ctx, status); \
    }
    KJIT_ATTRIBUTE_MAP(ATTRIBUTE)
#undef ATTRIBUTE
    return kjp_refuse("KJIT_INVALID", "devices have no attribute of the name '%s'", text);
}

static PyObject *context_memory(PyObject *object, PyObject *unused)
{
    (void)unused;
    kjit_context *ctx = ((kjp_context *)object)->ctx;
    kjit_memory_info m;
    kjit_status status = kjit_context_memory(ctx, &m);
    if (status != KJIT_OK)
        return kjp_fail(ctx, status);
    return Py_BuildValue("{s:K,s:K,s:K,s:K,s:i,s:i}", "free", (unsigned long long)m.free, "total",
                         (unsigned long long)m.total, "used", (unsigned long long)m.used,
                         "pending_bytes", (unsigned long long)m.pending_bytes, "pending_memory",
                         m.pending_memory, "pending_resources", m.pending_resources);
}

/* These may wait for streams. */
static PyObject *without_gil(PyObject *object, kjit_status call(kjit_context *))
{
    kjit_context *ctx = ((kjp_context *)object)->ctx;
    kjp_wait wait;
    kjp_wait_begin(&wait, ctx, NULL);
    kjit_status status = call(ctx);
    kjp_wait_end(&wait);
    return kjp_done(ctx, status);
}

static PyObject *context_deallocate(PyObject *object, PyObject *unused)
{
    (void)unused;
    return without_gil(object, kjit_deallocate_pending);
}

static PyObject *context_defer_begin(PyObject *object, PyObject *unused)
{
    (void)unused;
    return without_gil(object, kjit_defer_cleanup_begin);
}

static PyObject *context_defer_end(PyObject *object, PyObject *unused)
{
    (void)unused;
    return without_gil(object, kjit_defer_cleanup_end);
}

/* [(name, dtype, offset, shape)] */
static PyObject *record_fields(kjit_context *ctx, kjit_dtype dtype, int n)
{
    PyObject *list = PyList_New(0);
    for (int i = 0; list && i < n; i++) {
        kjit_field f;
        if (kjit_record_field(ctx, dtype, i, &f) != KJIT_OK)
            break;
        PyObject *shape = kjp_tuple(f.shape, f.ndim);
        PyObject *row =
            shape ? Py_BuildValue("(sinO)", f.name, (int)f.dtype, (Py_ssize_t)f.offset, shape)
                  : NULL;
        if (!row || PyList_Append(list, row) < 0)
            Py_CLEAR(list);
        Py_XDECREF(row);
        Py_XDECREF(shape);
    }
    return list;
}

/* (name, bytes, fields), None where no record has that number. */
static PyObject *context_record(PyObject *object, PyObject *number)
{
    kjit_context *ctx = ((kjp_context *)object)->ctx;
    kjit_record record;
    long dtype = PyLong_AsLong(number);
    if (PyErr_Occurred())
        return NULL;
    if (kjit_record_info(ctx, (kjit_dtype)dtype, &record) != KJIT_OK)
        return Py_NewRef(Py_None);
    PyObject *fields = record_fields(ctx, (kjit_dtype)dtype, record.nfields);
    return fields ? Py_BuildValue("(snN)", record.name, (Py_ssize_t)record.size, fields) : NULL;
}

/* {name: text} -> o->sources, to be freed; 0 with an exception. */
static int take_sources(PyObject *dict, kjit_compile_options *o)
{
    Py_ssize_t at = 0;
    PyObject *key, *value;
    kjit_source *table = PyMem_Calloc((size_t)PyDict_Size(dict) + 1, sizeof *table);
    o->sources = table;
    if (!table)
        PyErr_NoMemory();
    while (table && PyDict_Next(dict, &at, &key, &value)) {
        Py_ssize_t size = 0;
        kjit_source *s = &table[o->nsources++];
        s->name = PyUnicode_AsUTF8AndSize(key, NULL);
        s->text = s->name ? PyUnicode_AsUTF8AndSize(value, &size) : NULL;
        s->size = (size_t)size;
        if (!s->text)
            return 0;
    }
    return table != NULL;
}

static kjit_status compile(kjp_context *self, const char *name, const char *text, Py_ssize_t size,
                           const char *path, const kjit_compile_options *o, kjit_module **mod)
{
    kjp_wait wait;
    kjp_wait_begin(&wait, self->ctx, NULL);
    kjit_status status = path ? kjit_module_load(self->ctx, path, o, mod)
                              : kjit_module_compile(self->ctx, name, text, (size_t)size, o, mod);
    kjp_wait_end(&wait);
    return status;
}

/* (name, source, path or None, opt_level, no_contract, ftz, cpu, warn, folders, check, sources, arch): (module, None), or
 * what it fails with: then it has only diagnostics. */
static PyObject *context_compile(PyObject *object, PyObject *args)
{
    kjp_context *self = (kjp_context *)object;
    kjit_compile_options o = {0};
    const char *name, *path;
    PyObject *source, *sources;
    if (!kjp_parse(args, "sOziiizzziO!z:_compile", &name, &source, &path, &o.opt_level,
                   &o.no_contract, &o.ftz, &o.cpu, &o.warn, &o.path, &o.check, &PyDict_Type,
                   &sources, &o.arch))
        return NULL;
    Py_ssize_t size = 0;
    const char *text = path ? "" : PyUnicode_AsUTF8AndSize(source, &size);
    if (!text || !take_sources(sources, &o)) {
        PyMem_Free((void *)o.sources);
        return kjp_ours();
    }
    kjit_module *mod;
    kjit_status status = compile(self, name, text, size, path, &o, &mod);
    PyMem_Free((void *)o.sources);
    if (status != KJIT_OK && !mod)
        return kjp_fail(self->ctx, status);
    PyObject *error =
        status == KJIT_OK ? Py_NewRef(Py_None) : kjp_text_or_none(kjit_last_error(self->ctx));
    PyObject *module = kjp_module_new(self, mod, args);
    PyObject *result = module && error ? Py_BuildValue("(OO)", module, error) : NULL;
    Py_XDECREF(module);
    Py_XDECREF(error);
    return result;
}

/* (bytes, options): the module of an image, which has a copy of them, aligned as code wants it; the options are those of _compile. */
static PyObject *context_from_image(PyObject *object, PyObject *args)
{
    kjp_context *self = (kjp_context *)object;
    PyObject *image, *options;
    if (!kjp_parse(args, "O!O!:_from_image", &PyBytes_Type, &image, &PyTuple_Type, &options))
        return NULL;
    size_t size = (size_t)PyBytes_Size(image);
    void *copy = malloc(size + 1);
    if (!copy)
        return PyErr_NoMemory();
    memcpy(copy, PyBytes_AsString(image), size);
    kjit_module *mod;
    kjit_status status;
    Py_BEGIN_ALLOW_THREADS status =
        kjit_module_from_image_owned(self->ctx, copy, size, copy, free, &mod);
    Py_END_ALLOW_THREADS if (status != KJIT_OK)
    {
        free(copy);
        return kjp_fail(self->ctx, status);
    }
    return kjp_module_new(self, mod, options);
}

/* (shape, dtype, order, memory): an Array with unspecified elements. */
static PyObject *context_array(PyObject *object, PyObject *args)
{
    kjp_context *self = (kjp_context *)object;
    PyObject *shape;
    int dtype, order, memory;
    int64_t extents[KJIT_MAX_NDIM];
    if (!kjp_parse(args, "OiCi", &shape, &dtype, &order, &memory))
        return NULL;
    int ndim = kjp_numbers(shape, extents, KJIT_MAX_NDIM, "a shape");
    if (ndim < 0)
        return NULL;
    kjit_array_options options = {.memory = (kjit_memory)memory, .order = (char)order};
    kjit_array *array;
    kjp_wait wait;
    kjp_wait_begin(&wait, self->ctx, NULL);
    kjit_status status =
        kjit_array_create_with(self->ctx, (kjit_dtype)dtype, ndim, extents, &options, &array);
    kjp_wait_end(&wait);
    return status == KJIT_OK ? kjp_array_new(self, array) : kjp_fail(self->ctx, status);
}

/* (object, number that is wanted): an Array over what has a buffer */
static PyObject *context_wrap(PyObject *object, PyObject *args)
{
    PyObject *other;
    int wanted = -1;
    if (!kjp_parse(args, "O|i:_wrap", &other, &wanted))
        return NULL;
    return kjp_from_buffer((kjp_context *)object, other, wanted);
}

static PyMethodDef methods[] = {
    {"synchronize", context_synchronize, METH_NOARGS,
     "Waits for the work of every stream; raises the first failure that nobody has been told."},
    {"cancel", context_cancel, METH_NOARGS,
     "Ends all launches of the context; any thread may call it."},
    {"set_deadline", context_set_deadline, METH_O,
     "set_deadline(ms): launches that run so many milliseconds from now, and later ones, fail; 0: "
     "none."},
    {"attribute", context_attribute, METH_O, "attribute('WARP_SIZE'): what the device is like."},
    {"memory", context_memory, METH_NOARGS, "The device's memory, as a dict of bytes and counts."},
    {"deallocate_pending", context_deallocate, METH_NOARGS,
     "Gives back now what waits for being freed."},
    {"_defer_begin", context_defer_begin, METH_NOARGS, NULL},
    {"_defer_end", context_defer_end, METH_NOARGS, NULL},
    {"_record", context_record, METH_O, NULL},
    {"_compile", context_compile, METH_VARARGS, NULL},
    {"_from_image", context_from_image, METH_VARARGS, NULL},
    {"_array", context_array, METH_VARARGS, NULL},
    {"_wrap", context_wrap, METH_VARARGS, NULL},
    KJP_NOT_REDUCED,
    {0},
};

static PyGetSetDef properties[] = {
    {"_device", context_device, NULL, NULL, NULL},
    {0},
};

static PyType_Slot slots[] = {
    {Py_tp_new, context_new},
    {Py_tp_dealloc, context_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {0},
};

PyType_Spec kjp_context_spec = {
    .name = "kjit._kjit.Context",
    .basicsize = sizeof(kjp_context),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};
