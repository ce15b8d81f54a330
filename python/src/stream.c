/* The types Stream and Event. */
#include "kjp.h"

typedef struct kjp_event {
    PyObject_HEAD kjit_event *event;
    kjp_context *context;
    kjp_stream *stream; /* into which it was recorded last: what Ctrl-C cancels */
} kjp_event;

int kjp_stream_of(PyObject *object, kjit_stream **out)
{
    *out = NULL;
    if (!object || object == Py_None ||
        (PyLong_Check(object) && PyLong_AsLong(object) == 0)) /* as Numba has none */
        return 0;
    if (!PyObject_TypeCheck(object, kjp.stream)) {
        kjp_refuse("KJIT_TYPE", "a stream is meant, not %R", (PyObject *)Py_TYPE(object));
        return -1;
    }
    *out = ((kjp_stream *)object)->stream;
    return 0;
}

/* ---- Streams ---- */

enum { OWN, DEFAULT, PER_THREAD, EXTERNAL };

static kjit_status open_stream(kjit_context *ctx, int kind, void *handle, kjit_stream **out)
{
    switch (kind) {
    case DEFAULT: return kjit_stream_legacy_default(ctx, out);
    case PER_THREAD: return kjit_stream_per_thread_default(ctx, out);
    case EXTERNAL: return kjit_stream_external(ctx, handle, out);
    }
    return kjit_stream_create(ctx, out);
}

static PyObject *stream_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"context", "kind", "handle", NULL};
    int kind = OWN;
    PyObject *context, *number = NULL;
    if (!kjp_parse_named(args, kwargs, "O!|iO:Stream", names, kjp.context, &context, &kind,
                         &number))
        return NULL;
    void *handle = number ? PyLong_AsVoidPtr(number) : NULL;
    kjp_stream *self = PyErr_Occurred() ? NULL : (kjp_stream *)PyType_GenericAlloc(type, 0);
    if (!self)
        return kjp_ours();
    self->context = (kjp_context *)Py_NewRef(context);
    kjit_context *ctx = self->context->ctx;
    kjit_status status = open_stream(ctx, kind, handle, &self->stream);
    if (status != KJIT_OK) {
        kjp_fail(ctx, status);
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

static void stream_dealloc(PyObject *object)
{
    kjp_stream *self = (kjp_stream *)object;
    Py_BEGIN_ALLOW_THREADS kjit_stream_free(self->stream);
    Py_END_ALLOW_THREADS Py_XDECREF(self->context);
    kjp_free(object);
}

static PyObject *stream_synchronize(PyObject *object, PyObject *unused)
{
    (void)unused;
    kjp_stream *self = (kjp_stream *)object;
    kjp_wait wait;
    kjp_wait_begin(&wait, self->context->ctx, self->stream);
    kjit_status status = kjit_stream_synchronize(self->stream);
    kjp_wait_end(&wait);
    PyObject *result = kjp_done(self->context->ctx, status);
    kjp_owners_release();
    return result;
}

static PyObject *stream_query(PyObject *object, PyObject *unused)
{
    (void)unused;
    kjp_stream *self = (kjp_stream *)object;
    int done;
    kjit_status status = kjit_stream_query(self->stream, &done);
    if (status == KJIT_OK && done)
        status = kjit_stream_failure(self->stream);
    return status == KJIT_OK ? PyBool_FromLong(done) : kjp_fail(self->context->ctx, status);
}

static PyObject *stream_cancel(PyObject *object, PyObject *unused)
{
    (void)unused;
    kjp_stream *self = (kjp_stream *)object;
    return kjp_done(self->context->ctx, kjit_stream_cancel(self->stream));
}

static PyObject *stream_wait(PyObject *object, PyObject *event)
{
    kjp_stream *self = (kjp_stream *)object;
    if (!PyObject_TypeCheck(event, kjp.event))
        return kjp_refuse("KJIT_TYPE", "an event is meant, not %R", (PyObject *)Py_TYPE(event));
    return kjp_done(self->context->ctx,
                    kjit_stream_wait(self->stream, ((kjp_event *)event)->event));
}

static PyObject *stream_enter(PyObject *object, PyObject *unused)
{
    (void)unused;
    return Py_NewRef(object);
}

static PyObject *stream_exit(PyObject *object, PyObject *args)
{
    (void)args;
    PyObject *done = stream_synchronize(object, NULL);
    Py_XDECREF(done);
    return done ? PyBool_FromLong(0) : NULL;
}

static PyObject *stream_handle(PyObject *object, void *unused)
{
    (void)unused;
    return PyLong_FromVoidPtr(kjit_stream_handle(((kjp_stream *)object)->stream));
}

static PyObject *stream_number(PyObject *object, void *unused)
{
    (void)unused;
    return PyLong_FromLong(kjit_stream_number(((kjp_stream *)object)->stream));
}

static PyMethodDef stream_methods[] = {
    {"synchronize", stream_synchronize, METH_NOARGS,
     "Waits for the stream's work and raises its first failure. Ctrl-C cancels the work."},
    {"query", stream_query, METH_NOARGS,
     "Has all of its work ended? Never waits; raises its first failure once it has."},
    {"cancel", stream_cancel, METH_NOARGS,
     "Ends the launches in the stream; any thread may call it."},
    {"wait", stream_wait, METH_O,
     "wait(event): later work of the stream waits for the event's last record."},
    {"__enter__", stream_enter, METH_NOARGS, NULL},
    {"__exit__", stream_exit, METH_VARARGS, "Synchronizes."},
    KJP_NOT_REDUCED,
    {0},
};

static PyGetSetDef stream_properties[] = {
    {"handle", stream_handle, NULL, "The driver's CUstream as a number; 0 on a CPU.", NULL},
    {"number", stream_number, NULL,
     "From 1, in the order in which the context's streams were made.", NULL},
    {0},
};

static PyType_Slot stream_slots[] = {
    {Py_tp_doc, "A stream: its work runs in order, beside the program and other streams. As a "
                "context manager it "
                "synchronizes at the end."},
    {Py_tp_new, stream_new},
    {Py_tp_dealloc, stream_dealloc},
    {Py_tp_methods, stream_methods},
    {Py_tp_getset, stream_properties},
    {0},
};

PyType_Spec kjp_stream_spec = {
    .name = "kjit.Stream",
    .basicsize = sizeof(kjp_stream),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = stream_slots,
};

/* ---- Events ---- */

static PyObject *event_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"context", "timing", NULL};
    int timing = 1;
    PyObject *context;
    if (!kjp_parse_named(args, kwargs, "O!|p:Event", names, kjp.context, &context, &timing))
        return NULL;
    kjp_event *self = (kjp_event *)PyType_GenericAlloc(type, 0);
    if (!self)
        return NULL;
    self->context = (kjp_context *)Py_NewRef(context);
    kjit_context *ctx = self->context->ctx;
    kjit_status status = kjit_event_create(ctx, timing, &self->event);
    if (status != KJIT_OK) {
        kjp_fail(ctx, status);
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

static void event_dealloc(PyObject *object)
{
    kjp_event *self = (kjp_event *)object;
    Py_BEGIN_ALLOW_THREADS kjit_event_free(self->event);
    Py_END_ALLOW_THREADS Py_XDECREF(self->stream);
    Py_XDECREF(self->context);
    kjp_free(object);
}

static PyObject *event_record(PyObject *object, PyObject *args)
{
    kjp_event *self = (kjp_event *)object;
    PyObject *stream = Py_None;
    kjit_stream *handle;
    if (!kjp_parse(args, "|O:record", &stream) || kjp_stream_of(stream, &handle) < 0)
        return NULL;
    kjp_wait wait;
    kjp_wait_begin(&wait, self->context->ctx, handle); /* without a stream it waits */
    kjit_status status = kjit_event_record(self->event, handle);
    kjp_wait_end(&wait);
    PyObject *result = kjp_done(self->context->ctx, status);
    kjp_stream *before = self->stream;
    self->stream = handle ? (kjp_stream *)Py_NewRef(stream) : NULL;
    Py_XDECREF(before);
    return result;
}

/* Events tell no failures, so who sees that one was reached asks the stream into which it was put, which may be NULL. */
static kjit_status failure_of(const kjp_stream *stream, kjit_status status)
{
    return status == KJIT_OK && stream ? kjit_stream_failure(stream->stream) : status;
}

/* Another thread may record it meanwhile. */
static PyObject *event_synchronize(PyObject *object, PyObject *unused)
{
    (void)unused;
    kjp_event *self = (kjp_event *)object;
    kjp_stream *stream = self->stream ? (kjp_stream *)Py_NewRef((PyObject *)self->stream) : NULL;
    kjp_wait wait;
    kjp_wait_begin(&wait, self->context->ctx, stream ? stream->stream : NULL);
    kjit_status status = failure_of(stream, kjit_event_synchronize(self->event));
    kjp_wait_end(&wait);
    PyObject *result = kjp_done(self->context->ctx, status);
    Py_XDECREF((PyObject *)stream);
    kjp_owners_release();
    return result;
}

static PyObject *event_wait(PyObject *object, PyObject *args)
{
    kjp_event *self = (kjp_event *)object;
    PyObject *stream = Py_None;
    kjit_stream *handle;
    if (!kjp_parse(args, "|O:wait", &stream) || kjp_stream_of(stream, &handle) < 0)
        return NULL;
    return handle ? kjp_done(self->context->ctx, kjit_stream_wait(handle, self->event))
                  : event_synchronize(object, NULL);
}

static PyObject *event_query(PyObject *object, PyObject *unused)
{
    (void)unused;
    kjp_event *self = (kjp_event *)object;
    int done = 0;
    kjit_status status = kjit_event_query(self->event, &done);
    if (done)
        status = failure_of(self->stream, status);
    return status == KJIT_OK ? PyBool_FromLong(done) : kjp_fail(self->context->ctx, status);
}

/* Both have been reached then: who synchronises is told what failed, and hardly waits. */
static PyObject *event_elapsed(PyObject *object, PyObject *to)
{
    kjp_event *self = (kjp_event *)object;
    double ms;
    if (!PyObject_TypeCheck(to, kjp.event))
        return kjp_refuse("KJIT_TYPE", "an event is meant, not %R", (PyObject *)Py_TYPE(to));
    kjit_status status = kjit_event_elapsed(self->event, ((kjp_event *)to)->event, &ms);
    if (status != KJIT_OK)
        return kjp_fail(self->context->ctx, status);
    PyObject *from_done = event_synchronize(object, NULL);
    PyObject *done = from_done ? event_synchronize(to, NULL) : NULL;
    Py_XDECREF(from_done);
    Py_XDECREF(done);
    return done ? PyFloat_FromDouble(ms) : NULL;
}

static PyMethodDef event_methods[] = {
    {"record", event_record, METH_VARARGS, "record(stream=None): puts the event into a stream."},
    {"synchronize", event_synchronize, METH_NOARGS,
     "Waits until its last record is reached; raises the first failure of the stream's work."},
    {"wait", event_wait, METH_VARARGS,
     "wait(stream=None): later work of the stream waits for it; without one the call does."},
    {"query", event_query, METH_NOARGS,
     "Has its last record been reached? Never waits; raises the first failure of the stream's work "
     "once it has."},
    {"elapsed_time", event_elapsed, METH_O,
     "elapsed_time(later): milliseconds between two events that were reached; raises what failed "
     "in their streams."},
    KJP_NOT_REDUCED,
    {0},
};

static PyType_Slot event_slots[] = {
    {Py_tp_doc, "A place in a stream, to wait for and to measure between."},
    {Py_tp_new, event_new},
    {Py_tp_dealloc, event_dealloc},
    {Py_tp_methods, event_methods},
    {0},
};

PyType_Spec kjp_event_spec = {
    .name = "kjit.Event",
    .basicsize = sizeof(kjp_event),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = event_slots,
};
