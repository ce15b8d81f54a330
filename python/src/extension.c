/* The module kjit._kjit: its types, and functions that need no context. */
#include <string.h>

#include "kjp.h"

kjp_state kjp;

void kjp_free(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

PyObject *kjp_not_reduced(PyObject *self, PyObject *unused)
{
    (void)unused;
    const char *hint =
        PyObject_TypeCheck(self, kjp.array) ? "; its copy() and copy_to_host() copy it" : "";
    return kjp_refuse("KJIT_TYPE", "%R can neither be pickled nor be copied by the module copy%s",
                      (PyObject *)Py_TYPE(self), hint);
}

/* (name, kind, ordinal, memory, units) of each */
static PyObject *devices(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    kjit_device_info list[64];
    int n = kjit_devices(list, 64);
    PyObject *out = PyList_New(0);
    for (int i = 0; out && i < n && i < 64; i++) {
        PyObject *row = Py_BuildValue("(ssiKi)", list[i].name, list[i].kind, list[i].ordinal,
                                      (unsigned long long)list[i].memory, list[i].units);
        if (!row || PyList_Append(out, row) < 0)
            Py_CLEAR(out);
        Py_XDECREF(row);
    }
    return out;
}

static PyObject *absent(PyObject *self, PyObject *kind)
{
    (void)self;
    const char *text = PyUnicode_AsUTF8AndSize(kind, NULL);
    return text ? Py_BuildValue("s", kjit_device_absent(text)) : NULL;
}

static PyObject *version(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    return PyUnicode_FromString(kjit_version());
}

static PyObject *dtype_name(PyObject *self, PyObject *number)
{
    (void)self;
    long dtype = PyLong_AsLong(number);
    return PyErr_Occurred() ? NULL : Py_BuildValue("s", kjit_dtype_name((kjit_dtype)dtype));
}

static PyObject *dtype_size(PyObject *self, PyObject *number)
{
    (void)self;
    long dtype = PyLong_AsLong(number);
    return PyErr_Occurred() ? NULL : PyLong_FromSize_t(kjit_dtype_size((kjit_dtype)dtype));
}

/* {name: bit} */
static PyObject *checks(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    kjit_check_info info;
    PyObject *dict = PyDict_New();
    for (int i = 0; dict && kjit_check(i, &info); i++) {
        PyObject *bit = PyLong_FromUnsignedLong(info.bit);
        if (!bit || PyDict_SetItemString(dict, info.name, bit) < 0)
            Py_CLEAR(dict);
        Py_XDECREF(bit);
    }
    return dict;
}

static void copy_hook(PyObject **hook, PyObject *value)
{
    PyObject *before = *hook;
    *hook = Py_NewRef(value);
    Py_XDECREF(before);
}

static PyObject *set_hooks(PyObject *self, PyObject *args)
{
    (void)self;
    PyObject *error, *base, *adopt, *record, *array, *module, *in, *out;
    if (!kjp_parse(args, "OOOOOOOO:_set_hooks", &error, &base, &adopt, &record, &array, &module,
                   &in, &out))
        return NULL;
    copy_hook(&kjp.error, error);
    copy_hook(&kjp.base, base);
    copy_hook(&kjp.adopt, adopt);
    copy_hook(&kjp.record, record);
    copy_hook(&kjp.array_class, array);
    copy_hook(&kjp.module_class, module);
    copy_hook(&kjp.in, in);
    copy_hook(&kjp.out, out);
    return Py_NewRef(Py_None);
}

static PyMethodDef functions[] = {
    {"_devices", devices, METH_NOARGS, NULL},
    {"_absent", absent, METH_O, NULL},
    {"_version", version, METH_NOARGS, NULL},
    {"_dtype_name", dtype_name, METH_O, NULL},
    {"_dtype_size", dtype_size, METH_O, NULL},
    {"_checks", checks, METH_NOARGS, NULL},
    {"_from_address", kjp_from_address, METH_VARARGS, NULL},
    {"_from_dlpack", kjp_from_dlpack, METH_VARARGS, NULL},
    {"_set_hooks", set_hooks, METH_VARARGS, NULL},
    {"_after_fork", kjp_after_fork, METH_NOARGS, NULL},
    {0},
};

static int add_type(PyObject *module, PyType_Spec *spec, PyTypeObject **out)
{
    *out = (PyTypeObject *)PyType_FromSpec(spec);
    return *out ? PyModule_AddType(module, *out) : -1;
}

static int execute(PyObject *module)
{
    if (kjp.context) {
        PyErr_SetString(PyExc_ImportError, "kjit is used by one interpreter of a process");
        return -1;
    }
    if (kjp_interrupt_init() < 0 || add_type(module, &kjp_context_spec, &kjp.context) < 0 ||
        add_type(module, &kjp_module_spec, &kjp.module) < 0 ||
        add_type(module, &kjp_kernel_spec, &kjp.kernel) < 0 ||
        add_type(module, &kjp_launcher_spec, &kjp.launcher) < 0 ||
        add_type(module, &kjp_array_spec, &kjp.array) < 0 ||
        add_type(module, &kjp_stream_spec, &kjp.stream) < 0 ||
        add_type(module, &kjp_event_spec, &kjp.event) < 0)
        return -1;
    return 0;
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, (void *)execute},
    {0},
};

static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "kjit._kjit",
    .m_doc = "What the package kjit does in C, over kjit.h.",
    .m_methods = functions,
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__kjit(void);
PyMODINIT_FUNC PyInit__kjit(void)
{
    return PyModuleDef_Init(&definition);
}
