/* The types Kernel, module.saxpy, and Launcher, module.saxpy[blocks, threads]: a call of that is
 * a launch, with Python's objects as arguments. */
#include <stdlib.h>
#include <string.h>

#include "kjp.h"

typedef struct kjp_kernel {
    PyObject_HEAD kjp_module *module;
    PyObject *name;
} kjp_kernel;

typedef struct kjp_launcher {
    PyObject_HEAD kjp_kernel *kernel;
    PyObject *stream; /* keeps config.stream alive; or NULL */
    kjit_config config;
    int64_t forall; /* elements; -1: grid and block are those of config */
} kjp_launcher;

/* ---- Arguments ---- */

/* One argument, and what it needs until the launch has been made. */
typedef struct slot {
    kjit_array *wrapped; /* to be freed */
    PyObject *held;      /* an Array that was made of it */
    kjp_owner *owner;    /* of a value's or an array's memory, where the view is not here */
    Py_buffer view;
    int has_view;
    double value[2];
} slot;

typedef struct arguments {
    kjp_context *context;
    const kjp_kernel *kernel;
    int queued; /* the launch goes into a stream: memory is needed until it has run */
    Py_ssize_t n;
    kjit_arg *args;
    slot *slots;
} arguments;

static int convert(arguments *a, kjit_arg *arg, slot *s, PyObject *object);

static void drop_slots(arguments *a)
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
    if (overflow < 0)
        PyErr_Format(PyExc_OverflowError, "%R does not fit in 64 bits", object);
    return PyErr_Occurred() ? -1 : 0;
}

/* A NumPy scalar, or an array without axes: a number with a type, or a record. */
static int convert_value(kjit_arg *arg, const Py_buffer *view, int dtype)
{
    *arg = kjit_arg_value((kjit_dtype)dtype, view->buf);
    return 0;
}

/* NumPy arrays, scalars and records, memoryviews, bytearrays, array.array, ctypes: where their
 * elements are. */
static int convert_buffer(arguments *a, kjit_arg *arg, slot *s, PyObject *object)
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
    if (PyObject_GetBuffer(object, view, PyBUF_RECORDS_RO) < 0) {
        free(owner);
        s->owner = NULL;
        return -1;
    }
    s->has_view = !owner;
    int dtype = kjp_dtype_of(a->context, view);
    if (dtype < 0)
        return -1;
    if (view->ndim == 0)
        return convert_value(arg, view, dtype); /* which the launch reads at once */
    if (kjp_wrap(a->context, view, dtype, KJIT_HOST, owner, &s->wrapped) < 0)
        return -1;
    s->owner = NULL; /* is the array's */
    *arg = kjit_arg_array(s->wrapped);
    return 0;
}

/* kjit.In(x) and kjit.Out(x) */
static int convert_direction(arguments *a, kjit_arg *arg, slot *s, PyObject *object, int kind)
{
    PyObject *array = PyObject_GetAttrString(object, "array");
    int failed = !array || convert(a, arg, s, array) < 0;
    if (!failed && arg->kind != KJIT_ARG_ARRAY) {
        PyErr_Format(PyExc_TypeError, "%R is no array", array);
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
static int convert_other(arguments *a, kjit_arg *arg, slot *s, PyObject *object)
{
    s->held = PyObject_CallFunctionObjArgs(kjp.adopt, (PyObject *)a->context, object, NULL);
    if (!s->held)
        return -1;
    if (!PyObject_TypeCheck(s->held, kjp.array)) /* what is an int by its __index__ */
        return convert_number(arg, s, s->held);
    *arg = kjit_arg_array(((kjp_array *)s->held)->array);
    return 0;
}

static int convert(arguments *a, kjit_arg *arg, slot *s, PyObject *object)
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
        return convert_buffer(a, arg, s, object);
    if (PyFloat_Check(object) || PyLong_Check(object) || PyComplex_Check(object))
        return convert_number(arg, s, object);
    if (Py_TYPE(object) == (PyTypeObject *)kjp.in)
        return convert_direction(a, arg, s, object, KJIT_ARG_IN);
    if (Py_TYPE(object) == (PyTypeObject *)kjp.out)
        return convert_direction(a, arg, s, object, KJIT_ARG_OUT);
    return convert_other(a, arg, s, object);
}

/* The type of the parameter at that place, or of that name, if a launch gives it one value; else -1. */
static int value_type(const arguments *a, Py_ssize_t place, const char *name)
{
    const char *kernel = PyUnicode_AsUTF8AndSize(a->kernel->name, NULL);
    kjit_kernel_param p = {.size = sizeof p};
    for (int i = name ? 0 : (int)place; kernel; i++) {
        if (kjit_module_kernel_param(a->kernel->module->mod, kernel, i, &p) != KJIT_OK)
            return -1;
        if (!name || strcmp(p.name, name) == 0)
            return p.has_dtype && p.ndim == 0 ? (int)p.dtype : -1;
    }
    return -1;
}

/* A tuple or list for a parameter whose type has parts, else what all other objects are. */
static int convert_parts(arguments *a, Py_ssize_t i, const char *name, PyObject *object)
{
    kjit_arg *arg = &a->args[i];
    slot *s = &a->slots[i];
    int type = PyTuple_Check(object) || PyList_Check(object) ? value_type(a, i, name) : -1;
    if (type < 0)
        return convert(a, arg, s, object);
    PyObject *python = PyImport_ImportModule("kjit._array");
    s->held = python ? PyObject_CallMethod(python, "parts_as_bytes", "OiO", (PyObject *)a->context,
                                           type, object)
                     : NULL;
    Py_XDECREF(python);
    if (!s->held)
        return -1;
    if (s->held == Py_None) {
        Py_CLEAR(s->held);
        return convert(a, arg, s, object);
    }
    *arg = kjit_arg_value((kjit_dtype)type, PyBytes_AsString(s->held));
    return 0;
}

static int convert_named(arguments *a, Py_ssize_t first, PyObject *kwargs)
{
    PyObject *key, *value;
    Py_ssize_t place = 0;
    for (Py_ssize_t i = first; PyDict_Next(kwargs, &place, &key, &value); i++) {
        const char *name = PyUnicode_AsUTF8AndSize(key, NULL);
        if (!name || convert_parts(a, i, name, value) < 0)
            return -1;
        a->args[i].name = name;
    }
    return 0;
}

static int convert_all(arguments *a, PyObject *args, PyObject *kwargs)
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
        if (convert_parts(a, i, NULL, PyTuple_GetItem(args, i)) < 0)
            return -1;
    return kwargs ? convert_named(a, given, kwargs) : 0;
}

/* ---- Launches ---- */

static kjit_status launch(kjp_launcher *self, const arguments *a)
{
    const kjp_kernel *kernel = self->kernel;
    kjit_module *mod = kernel->module->mod;
    const char *name = PyUnicode_AsUTF8AndSize(kernel->name, NULL);
    kjp_wait wait;
    kjp_wait_begin(&wait, a->context->ctx, self->config.stream);
    kjit_status status =
        self->forall < 0
            ? kjit_launch(mod, name, &self->config, a->args, (int)a->n)
            : kjit_launch_forall(mod, name, self->forall, self->config.stream, a->args, (int)a->n);
    kjp_wait_end(&wait);
    return status;
}

static PyObject *launcher_call(PyObject *object, PyObject *args, PyObject *kwargs)
{
    kjp_launcher *self = (kjp_launcher *)object;
    arguments a = {.context = self->kernel->module->context,
                   .kernel = self->kernel,
                   .queued = self->config.stream != NULL};
    PyObject *result = NULL;
    kjp_owners_release();
    if (convert_all(&a, args, kwargs) == 0)
        result = kjp_done(a.context->ctx, launch(self, &a));
    drop_slots(&a);
    return result;
}

static void launcher_dealloc(PyObject *object)
{
    kjp_launcher *self = (kjp_launcher *)object;
    Py_XDECREF(self->stream);
    Py_XDECREF(self->kernel);
    kjp_free(object);
}

static PyObject *launcher_repr(PyObject *object)
{
    kjp_launcher *self = (kjp_launcher *)object;
    if (self->forall >= 0)
        return PyUnicode_FromFormat("<kernel %U for %lld elements>", self->kernel->name,
                                    (long long)self->forall);
    const int64_t *g = self->config.grid, *b = self->config.block;
    return PyUnicode_FromFormat("<kernel %U, grid (%lld, %lld, %lld), block (%lld, %lld, %lld)>",
                                self->kernel->name, (long long)g[0], (long long)g[1],
                                (long long)g[2], (long long)b[0], (long long)b[1], (long long)b[2]);
}

static kjp_launcher *launcher_new(PyObject *kernel, PyObject *stream)
{
    kjit_stream *handle;
    if (kjp_stream_of(stream, &handle) < 0)
        return NULL;
    kjp_launcher *self = (kjp_launcher *)PyType_GenericAlloc(kjp.launcher, 0);
    if (!self)
        return NULL;
    self->kernel = (kjp_kernel *)Py_NewRef(kernel);
    self->stream = handle ? Py_NewRef(stream) : NULL;
    self->config = (kjit_config){.grid = {1, 1, 1}, .block = {1, 1, 1}, .stream = handle};
    self->forall = -1;
    return self;
}

/* launcher.within(ms): the launch ends then, with a Fault. */
static PyObject *launcher_within(PyObject *object, PyObject *ms)
{
    kjp_launcher *self = (kjp_launcher *)object;
    double value = PyFloat_AsDouble(ms);
    if (PyErr_Occurred())
        return NULL;
    if (self->forall >= 0)
        return PyErr_Format(PyExc_ValueError,
                            "a launch by forall has no time limit: give grid and block");
    kjp_launcher *limited = launcher_new((PyObject *)self->kernel, self->stream);
    if (limited) {
        limited->config = self->config;
        limited->config.timeout_ms = value;
    }
    return (PyObject *)limited;
}

static PyMethodDef launcher_methods[] = {
    {"within", launcher_within, METH_O,
     "within(ms): the same launch, which fails when it has not ended so many milliseconds later."},
    {0},
};

static PyType_Slot launcher_slots[] = {
    {Py_tp_doc, "A kernel with its grid, block and stream: a call launches it."},
    {Py_tp_call, launcher_call},
    {Py_tp_dealloc, launcher_dealloc},
    {Py_tp_repr, launcher_repr},
    {Py_tp_methods, launcher_methods},
    {0},
};

PyType_Spec kjp_launcher_spec = {
    .name = "kjit.Launcher",
    .basicsize = sizeof(kjp_launcher),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = launcher_slots,
};

/* ---- Kernels ---- */

PyObject *kjp_kernel_new(kjp_module *module, PyObject *name)
{
    kjp_kernel *self = (kjp_kernel *)PyType_GenericAlloc(kjp.kernel, 0);
    if (self) {
        self->module = (kjp_module *)Py_NewRef((PyObject *)module);
        self->name = Py_NewRef(name);
    }
    return (PyObject *)self;
}

static void kernel_dealloc(PyObject *object)
{
    kjp_kernel *self = (kjp_kernel *)object;
    Py_XDECREF(self->name);
    Py_XDECREF(self->module);
    kjp_free(object);
}

/* kernel[grid, block] or kernel[grid, block, stream] */
static PyObject *kernel_subscript(PyObject *object, PyObject *key)
{
    Py_ssize_t n = PyTuple_Check(key) ? PyTuple_Size(key) : 1;
    if (n < 2 || n > 3)
        return PyErr_Format(PyExc_ValueError, "a launch is kernel[grid, block] or kernel[grid, "
                                              "block, stream]; shared memory needs no "
                                              "size here");
    kjp_launcher *self = launcher_new(object, n > 2 ? PyTuple_GetItem(key, 2) : NULL);
    if (self && (kjp_numbers(PyTuple_GetItem(key, 0), self->config.grid, 3, "a grid") < 0 ||
                 kjp_numbers(PyTuple_GetItem(key, 1), self->config.block, 3, "a block") < 0))
        Py_CLEAR(self);
    return (PyObject *)self;
}

static PyObject *kernel_forall(PyObject *object, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"n", "stream", NULL};
    PyObject *stream = NULL;
    long long n;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "L|O:forall", names, &n, &stream))
        return NULL;
    if (n < 0)
        return PyErr_Format(PyExc_ValueError, "forall(n): %lld elements", n);
    kjp_launcher *self = launcher_new(object, stream);
    if (self)
        self->forall = n;
    return (PyObject *)self;
}

static PyObject *kernel_call(PyObject *object, PyObject *args, PyObject *kwargs)
{
    (void)args;
    (void)kwargs;
    return PyErr_Format(
        PyExc_TypeError,
        "a launch needs a grid and a block: %U[blocks, threads](...), or %U.forall(n)(...)",
        ((kjp_kernel *)object)->name, ((kjp_kernel *)object)->name);
}

static PyObject *kernel_repr(PyObject *object)
{
    return PyUnicode_FromFormat("<kernel %U>", ((kjp_kernel *)object)->name);
}

static PyObject *kernel_compare(PyObject *a, PyObject *b, int op)
{
    kjp_kernel *x = (kjp_kernel *)a, *y = (kjp_kernel *)b;
    if ((op != Py_EQ && op != Py_NE) || Py_TYPE(b) != kjp.kernel)
        return Py_NewRef(Py_NotImplemented);
    int same = x->module == y->module ? PyObject_RichCompareBool(x->name, y->name, Py_EQ) : 0;
    return same < 0 ? NULL : PyBool_FromLong(same == (op == Py_EQ));
}

static Py_hash_t kernel_hash(PyObject *object)
{
    return PyObject_Hash(((kjp_kernel *)object)->name);
}

static PyObject *kernel_name(PyObject *object, void *unused)
{
    (void)unused;
    return Py_NewRef(((kjp_kernel *)object)->name);
}

static PyObject *kernel_module(PyObject *object, void *unused)
{
    (void)unused;
    return Py_NewRef((PyObject *)((kjp_kernel *)object)->module);
}

/* Nonzero: *decl is filled; else an exception is set. */
static int ask(const kjp_kernel *self, kjit_kernel_decl *decl)
{
    const char *name = PyUnicode_AsUTF8AndSize(self->name, NULL);
    if (!name)
        return 0;
    kjit_status status = kjit_module_kernel_decl(self->module->mod, name, decl);
    if (status != KJIT_OK)
        kjp_fail(self->module->context->ctx, status);
    return status == KJIT_OK;
}

/* The comment before the kernel, and its head, as they stand in the source. */
static PyObject *kernel_doc(PyObject *object, void *unused)
{
    (void)unused;
    kjp_kernel *self = (kjp_kernel *)object;
    kjit_kernel_decl decl = {.size = sizeof decl};
    if (!ask(self, &decl))
        return NULL;
    return PyUnicode_FromFormat("%s%s%s", decl.doc ? decl.doc : "", decl.doc ? "\n\n" : "",
                                decl.head);
}

/* Comments may be in any encoding. */
static PyObject *comment(const char *text)
{
    return text ? PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace")
                : Py_NewRef(Py_None);
}

/* A tuple of kjit.Parameter. */
static PyObject *kernel_parameters(PyObject *object, void *unused)
{
    (void)unused;
    kjp_kernel *self = (kjp_kernel *)object;
    kjit_kernel_decl decl = {.size = sizeof decl};
    PyObject *python = PyImport_ImportModule("kjit._module");
    PyObject *make = python ? PyObject_GetAttrString(python, "Parameter") : NULL;
    PyObject *all = make && ask(self, &decl) ? PyTuple_New(decl.nparams) : NULL;
    for (int i = 0; all && i < decl.nparams; i++) {
        kjit_kernel_param p = {.size = sizeof p};
        kjit_status status = kjit_module_kernel_param(self->module->mod, decl.name, i, &p);
        PyObject *one =
            status == KJIT_OK
                ? PyObject_CallFunction(make, "sszNiNNz", p.name, p.type, p.value, comment(p.doc),
                                        p.ndim, PyBool_FromLong(p.is_const),
                                        PyBool_FromLong(p.may_be_written), p.generic)
                : kjp_done(self->module->context->ctx, status);
        if (!one || PyTuple_SetItem(all, i, one) < 0)
            Py_CLEAR(all);
    }
    Py_XDECREF(make);
    Py_XDECREF(python);
    return all;
}

static PyMethodDef kernel_methods[] = {
    {"forall", (PyCFunction)(void (*)(void))kernel_forall, METH_VARARGS | METH_KEYWORDS,
     "forall(n, stream=None): a launch of one thread an element, grid and block chosen."},
    {0},
};

static PyGetSetDef kernel_properties[] = {
    {"__name__", kernel_name, NULL, NULL, NULL},
    {"__doc__", kernel_doc, NULL, NULL, NULL},
    {"module", kernel_module, NULL, "The module that it is of.", NULL},
    {"parameters", kernel_parameters, NULL, "What it takes: a tuple of kjit.Parameter.", NULL},
    {0},
};

static PyType_Slot kernel_slots[] = {
    {Py_tp_call, kernel_call},
    {Py_tp_dealloc, kernel_dealloc},
    {Py_tp_repr, kernel_repr},
    {Py_tp_richcompare, kernel_compare},
    {Py_tp_hash, kernel_hash},
    {Py_mp_subscript, kernel_subscript},
    {Py_tp_methods, kernel_methods},
    {Py_tp_getset, kernel_properties},
    {0},
};

PyType_Spec kjp_kernel_spec = {
    .name = "kjit.Kernel",
    .basicsize = sizeof(kjp_kernel),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = kernel_slots,
};
