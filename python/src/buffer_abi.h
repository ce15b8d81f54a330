/* Python's buffer protocol as it has been since 3.3 and will be: the stable ABI has it from 3.11
 * on, and headers hide it from who asks for that of 3.10. Structure, flags and functions are the
 * same there. */
#ifndef KJP_BUFFER_ABI_H
#define KJP_BUFFER_ABI_H

#if Py_LIMITED_API + 0 < 0x030B0000
typedef struct {
    void *buf;
    PyObject *obj;
    Py_ssize_t len, itemsize;
    int readonly, ndim;
    char *format;
    Py_ssize_t *shape, *strides, *suboffsets;
    void *internal;
} Py_buffer;

enum {
    PyBUF_SIMPLE = 0,
    PyBUF_WRITABLE = 0x0001,
    PyBUF_FORMAT = 0x0004,
    PyBUF_ND = 0x0008,
    PyBUF_STRIDES = 0x0010 | PyBUF_ND,
    PyBUF_C_CONTIGUOUS = 0x0020 | PyBUF_STRIDES,
    PyBUF_F_CONTIGUOUS = 0x0040 | PyBUF_STRIDES,
    PyBUF_ANY_CONTIGUOUS = 0x0080 | PyBUF_STRIDES,
    PyBUF_RECORDS_RO = PyBUF_STRIDES | PyBUF_FORMAT
};
#ifndef Py_bf_getbuffer /* numbers of slots */
#define Py_bf_getbuffer 1
#define Py_bf_releasebuffer 2
#endif

extern int PyObject_CheckBuffer(PyObject *object);
extern int PyObject_GetBuffer(PyObject *object, Py_buffer *view, int flags);
extern void PyBuffer_Release(Py_buffer *view);
#endif

#endif
