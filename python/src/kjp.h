/* The extension module kjit._kjit: what its files offer to each other. Only kjit.h is above it, and
 * only Python's stable ABI, of 3.10, so one build serves every CPython from there on; what is
 * convenience and not speed is written in Python (python/kjit), over the names that begin with an
 * underscore here.
 *
 * Every function is called with the GIL held unless it says otherwise. Those that give an object
 * or an int follow Python's rule: NULL or -1 with an exception set. */
#ifndef KJP_H
#define KJP_H

#define PY_SSIZE_T_CLEAN
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030A0000
#endif
#include <Python.h>

#include <kjit.h>

#include "buffer_abi.h"

typedef struct kjp_context {
    PyObject_HEAD kjit_context *ctx;
    PyObject *records; /* dict: see kjp_dtype_of */
} kjp_context;

typedef struct kjp_module {
    PyObject_HEAD kjit_module *mod;
    kjp_context *context;
    PyObject *kernels; /* dict: name -> None, in the file's order */
    PyObject *options; /* what kjp_context_compile was given, the source's text among it */
    PyObject *records; /* dict: see kjp_dtype_of */
} kjp_module;

typedef struct kjp_kernel {
    PyObject_HEAD kjp_module *module;
    PyObject *name;
} kjp_kernel;

typedef struct kjp_array {
    PyObject_HEAD kjit_array *array;
    kjp_context *context;
} kjp_array;

typedef struct kjp_stream {
    PyObject_HEAD kjit_stream *stream;
    kjp_context *context;
} kjp_stream;

/* One interpreter of a process has this: kjit's callbacks come from threads that belong to none. */
typedef struct kjp_state {
    PyTypeObject *context, *module, *kernel, *launcher, *array, *stream, *event;
    /* What python/kjit gives, by _kjit._set_hooks */
    PyObject *
        error; /* (kind, text, fault or None) -> exception; a kind is a status' name or of kjp_refuse */
    PyObject *base; /* the class of all of them */
    PyObject *
        adopt; /* (context, object, number that is wanted or -1, module or None) -> Array over it */
    PyObject *
        record; /* (context, buffer format, bytes, number that is wanted or -1, module or None) -> number of a dtype */
    PyObject *array_class,
        *module_class;  /* of what is made here: subclasses of .array and .module */
    PyObject *in, *out; /* classes: an argument that goes one way, its .array */
} kjp_state;

extern kjp_state kjp;

/* The end of a dealloc: an object of a type that was made of a spec. */
void kjp_free(PyObject *object);
/* The method __reduce__ of all types: copy.copy and pickle would make an object without what is behind it. */
PyObject *kjp_not_reduced(PyObject *self, PyObject *unused);
#define KJP_NOT_REDUCED \
    { \
        "__reduce__", kjp_not_reduced, METH_NOARGS, NULL \
    }

/* ---- errors.c ---- */

/* Sets the exception for the calling thread's last failure: before any other call of kjit's.
 * Gives NULL. */
PyObject *kjp_fail(kjit_context *ctx, kjit_status status);
/* None, or kjp_fail. */
PyObject *kjp_done(kjit_context *ctx, kjit_status status);

/* Sets an exception of kjit's; gives NULL. kind: a status' name, or "range": an int that fits in no type, "buffer": as
 * Python's protocol of buffers has it. */
PyObject *kjp_refuse(const char *kind, const char *format, ...);
/* The exception that is set becomes kjit's where it is one of Python's general ones: of arguments that are wrong. Gives
 * NULL, for an exception that is set. */
PyObject *kjp_ours(void);
/* PyArg_ParseTuple and PyArg_ParseTupleAndKeywords, whose exceptions are kjit's. */
int kjp_parse(PyObject *args, const char *format, ...);
int kjp_parse_named(PyObject *args, PyObject *kwargs, const char *format, char **names, ...);
/* A float; -1 with an exception. */
double kjp_float(PyObject *object);
/* A str of the library's text, whose bytes need not be UTF-8 where a source's are not; None of NULL. */
PyObject *kjp_text_or_none(const char *text);
/* A str's; NULL with an exception, which says what is meant. */
const char *kjp_text(PyObject *object, const char *what);

/* ---- interrupt.c ---- */

/* Around a call that may wait, which is made without the GIL: it is released by the first and
 * taken by the second. Of the main thread's, Ctrl-C cancels what was put into the stream, or,
 * where that is NULL, all launches. */
typedef struct kjp_wait {
    kjit_context *ctx;
    kjit_stream *stream;
    PyThreadState *thread;
    int watched;
    uint64_t number;
    struct kjp_wait *outer; /* a wait within which this one is: of a function that prints */
} kjp_wait;

void kjp_wait_begin(kjp_wait *wait, kjit_context *ctx, kjit_stream *stream);
void kjp_wait_end(kjp_wait *wait);
int kjp_interrupt_init(void);
PyObject *kjp_after_fork(PyObject *self, PyObject *unused);

/* ---- context.c, stream.c, module.c, launch.c, array.c: their types ---- */

extern PyType_Spec kjp_context_spec, kjp_module_spec, kjp_kernel_spec, kjp_launcher_spec,
    kjp_array_spec, kjp_stream_spec, kjp_event_spec;

PyObject *kjp_module_new(kjp_context *context, kjit_module *mod, PyObject *options);
/* mod.name, for mod.name[grid, block]: takes a new reference of each. */
PyObject *kjp_kernel_new(kjp_module *module, PyObject *name);
/* An array of kjp.array_class; takes the handle over, also when it fails. */
PyObject *kjp_array_new(kjp_context *context, kjit_array *array);
/* NULL for None; -1 for what is no stream of this context. */
int kjp_stream_of(PyObject *object, kjit_stream **out);
/* (2, 3) or 5 as a list of at most `max` numbers; returns how many, or -1. `what` is for the
 * message. */
int kjp_numbers(PyObject *object, int64_t *out, int max, const char *what);
/* A tuple of ints. */
PyObject *kjp_tuple(const int64_t *numbers, int n);
/* Text that kernels and run blocks print goes to sys.stdout: a kjit_print_fn, which is called
 * without the GIL. */
void kjp_print(void *unused, const char *text, size_t size);

/* ---- arguments.c: of a launch ---- */

/* What an argument needs until the launch has been made. */
typedef struct kjp_slot kjp_slot;

typedef struct kjp_arguments {
    kjp_kernel *kernel;
    int queued; /* the launch goes into a stream: memory is needed until it has run */
    Py_ssize_t n;
    kjit_arg *args;
    kjp_slot *slots;
} kjp_arguments;

int kjp_arguments_take(kjp_arguments *a, PyObject *args, PyObject *kwargs);
void kjp_arguments_drop(kjp_arguments *a); /* also when that failed */

/* ---- buffer.c: memory of Python's objects as arrays ---- */

/* Memory that kjit holds on to. kjit may let go of it in any thread and within any call, where
 * Python must not be called: so it is put on a list, and given back later with the GIL held. */
typedef struct kjp_owner {
    struct kjp_owner *next;
    Py_buffer view;                           /* of an object with a buffer */
    PyObject *object;                         /* or another reference */
    void (*release)(struct kjp_owner *owner); /* or what else is to be done, with the GIL held */
    void *data;
} kjp_owner;

void kjp_owner_drop(void *owner); /* needs no GIL: a deleter of kjit's */
void kjp_owners_release(void);    /* gives back what was dropped */

/* The number of a buffer's element type; -1 with an exception where kjit has none. Several records may be laid out alike:
 * `wanted` (-1: none) is taken if it is, then those of `module` (NULL: none) come before the context's others. What was
 * found is kept in a dict of the module's, or of the context's: (buffer format, bytes, wanted, class of the
 * elements) -> number. */
int kjp_dtype_of(kjp_context *context, const Py_buffer *view, int wanted, kjp_module *module);
/* PyObject_GetBuffer, whose exceptions are kjit's. */
int kjp_get_buffer(PyObject *object, Py_buffer *view, int flags);
/* An array over a buffer, which outlives it; read-only where that is, if it is the host's.
 * `owner` non-NULL: it is kept as long as the array and queued work need it, and taken over on
 * success. */
int kjp_wrap(kjp_context *context, Py_buffer *view, int dtype, kjit_memory memory, kjp_owner *owner,
             kjit_array **out);
enum { KJP_BYTES = -2 }; /* as what is wanted: the buffer's bytes, whatever its elements are */
/* The same of any object that has a buffer, and of an address that an object keeps. */
PyObject *kjp_from_buffer(kjp_context *context, PyObject *object, int wanted);
PyObject *kjp_from_address(PyObject *module, PyObject *args);
/* A buffer over an array, for memoryview and NumPy. */
int kjp_array_getbuffer(PyObject *self, Py_buffer *view, int flags);
void kjp_array_releasebuffer(PyObject *self, Py_buffer *view);

/* ---- dlpack.c ---- */

PyObject *kjp_array_to_dlpack(PyObject *self, PyObject *args);
PyObject *kjp_from_dlpack(PyObject *module, PyObject *args);

#endif
