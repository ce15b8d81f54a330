/* The types Kernel, module.saxpy, and Launcher, module.saxpy[blocks, threads]: a call of that is
 * a launch, with Python's objects as arguments. */

#include "kjp.h"

typedef struct kjp_launcher {
    PyObject_HEAD kjp_kernel *kernel;
    PyObject *stream; /* keeps config.stream alive; or NULL */
    kjit_config config;
    int64_t forall; /* elements; -1: grid and block are those of config */
} kjp_launcher;

/* ---- Launches ---- */

static kjit_status launch(kjp_launcher *self, const kjp_arguments *a)
{
    const kjp_kernel *kernel = self->kernel;
    kjit_module *mod = kernel->module->mod;
    const char *name = PyUnicode_AsUTF8AndSize(kernel->name, NULL);
    kjp_wait wait;
    kjp_wait_begin(&wait, kernel->module->context->ctx, self->config.stream);
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
    kjp_arguments a = {.kernel = self->kernel, .queued = self->config.stream != NULL};
    PyObject *result = NULL;
    kjp_owners_release();
    if (kjp_arguments_take(&a, args, kwargs) == 0)
        result = kjp_done(self->kernel->module->context->ctx, launch(self, &a));
    kjp_arguments_drop(&a);
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
    double value = kjp_float(ms);
    if (PyErr_Occurred())
        return NULL;
    if (self->forall >= 0)
        return kjp_refuse("KJIT_INVALID",
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
    KJP_NOT_REDUCED,
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

/* An extent of 0 is none: in the C library one of those behind the first is left out by it, here by a shorter tuple. */
static int check_extents(kjit_config *config)
{
    for (int i = 1; i < 3; i++)
        if (config->grid[i] == 0)
            config->grid[0] = 0; /* a grid of no blocks runs nothing */
    for (int i = 0; i < 3; i++)
        if (config->block[i] == 0) {
            kjp_refuse("KJIT_LAUNCH", "a block cannot have 0 threads");
            return -1;
        }
    return 0;
}

/* kernel[grid, block] or kernel[grid, block, stream] */
static PyObject *kernel_subscript(PyObject *object, PyObject *key)
{
    Py_ssize_t n = PyTuple_Check(key) ? PyTuple_Size(key) : 1;
    if (n < 2 || n > 3)
        return kjp_refuse("KJIT_LAUNCH", "a launch is kernel[grid, block] or kernel[grid, "
                                         "block, stream]; shared memory needs no "
                                         "size here");
    kjp_launcher *self = launcher_new(object, n > 2 ? PyTuple_GetItem(key, 2) : NULL);
    if (self && (kjp_numbers(PyTuple_GetItem(key, 0), self->config.grid, 3, "a grid") < 0 ||
                 kjp_numbers(PyTuple_GetItem(key, 1), self->config.block, 3, "a block") < 0 ||
                 check_extents(&self->config) < 0))
        Py_CLEAR(self);
    return (PyObject *)self;
}

static PyObject *kernel_forall(PyObject *object, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"n", "stream", NULL};
    PyObject *stream = NULL, *number;
    int64_t n;
    if (!kjp_parse_named(args, kwargs, "O|O:forall", names, &number, &stream) ||
        kjp_numbers(number, &n, 1, "what forall(n) takes") < 0)
        return NULL;
    if (n < 0)
        return kjp_refuse("KJIT_LAUNCH", "forall(n): %lld elements", (long long)n);
    kjp_launcher *self = launcher_new(object, stream);
    if (self)
        self->forall = n;
    return (PyObject *)self;
}

static PyObject *kernel_call(PyObject *object, PyObject *args, PyObject *kwargs)
{
    (void)args;
    (void)kwargs;
    return kjp_refuse(
        "KJIT_TYPE",
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

static PyObject *parameter(const kjp_kernel *self, PyObject *python, const char *kernel, int i)
{
    const kjp_context *context = self->module->context;
    kjit_kernel_param p = {.size = sizeof p};
    kjit_status status = kjit_module_kernel_param(self->module->mod, kernel, i, &p);
    if (status != KJIT_OK)
        return kjp_fail(context->ctx, status);
    return PyObject_CallMethod(python, "parameter", "OisszNiNNzz", (PyObject *)context,
                               p.has_dtype ? (int)p.dtype : -1, p.name, p.type, p.value,
                               kjp_text_or_none(p.doc), p.ndim, PyBool_FromLong(p.is_const),
                               PyBool_FromLong(p.may_be_written), p.generic, p.bound);
}

/* A tuple of kjit.Parameter. */
static PyObject *kernel_parameters(PyObject *object, void *unused)
{
    (void)unused;
    kjp_kernel *self = (kjp_kernel *)object;
    kjit_kernel_decl decl = {.size = sizeof decl};
    PyObject *python = PyImport_ImportModule("kjit._module");
    PyObject *all = python && ask(self, &decl) ? PyTuple_New(decl.nparams) : NULL;
    for (int i = 0; all && i < decl.nparams; i++) {
        PyObject *one = parameter(self, python, decl.name, i);
        if (!one || PyTuple_SetItem(all, i, one) < 0)
            Py_CLEAR(all);
    }
    Py_XDECREF(python);
    return all;
}

/* kernel.emit(what, block=None, *, arch=None, opt_level=None): the module's, whose name a kernel of it may have */
static PyObject *kernel_emit(PyObject *object, PyObject *args, PyObject *kwargs)
{
    kjp_kernel *self = (kjp_kernel *)object;
    static char *names[] = {"what", "block", "arch", "opt_level", NULL};
    PyObject *what, *block = Py_None, *arch = Py_None, *level = Py_None;
    if (!kjp_parse_named(args, kwargs, "O|O$OO:emit", names, &what, &block, &arch, &level))
        return NULL;
    PyObject *python = PyImport_ImportModule("kjit._module");
    PyObject *form = python
                         ? PyObject_CallMethod(python, "emit", "OOOOOO", (PyObject *)self->module,
                                               what, self->name, block, arch, level)
                         : NULL;
    Py_XDECREF(python);
    return form;
}

static PyMethodDef kernel_methods[] = {
    {"forall", (PyCFunction)(void (*)(void))kernel_forall, METH_VARARGS | METH_KEYWORDS,
     "forall(n, stream=None): a launch of one thread an element, grid and block chosen."},
    {"emit", (PyCFunction)(void (*)(void))kernel_emit, METH_VARARGS | METH_KEYWORDS,
     "emit(what, block=None, *, arch=None, opt_level=None): a form of it, as Module.emit has "
     "them."},
    KJP_NOT_REDUCED,
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
