"""Other libraries' arrays: what __array_interface__ says is what NumPy takes it for, or is refused; DLPack's strides and offsets."""
import ctypes
import unittest

import kjit
import numpy as np
from support import cases, main, module


class Other:
    def __init__(self, **interface):
        self.__array_interface__ = {"version": 3, **interface}


TYPES = ("|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f2", "<f4", "<f8", "<c8", "<c16", "=i4", "|f4", "u2")
# shape, strides in elements or None, first element
VIEWS = (((6,), None, 0), ((6,), None, 5), ((4,), (2,), 1), ((5,), (-1,), 8), ((2, 3), None, 2), ((2, 3), (1, 2), 0), ((2, 3), (-3, 1), 6),
         ((2, 2, 2), (1, -2, 4), 3), ((3,), (0,), 4), ((), None, 3), ((0, 3), None, 0), ((2, 0), (7, -9), 2), ((1, 1), (1000, -1000), 7))


@cases({f"{typestr} {shape} {strides}": (typestr, shape, strides, first) for typestr in TYPES for shape, strides, first in VIEWS})
class Interfaces(unittest.TestCase):
    """As NumPy takes it: an address, a buffer that can be written or not, and the object's own."""

    def check(self, typestr, shape, strides, first):
        size = np.dtype(typestr).itemsize
        memory = bytearray((1 if typestr == "|b1" else i % 60) * (i % 3 < 2) for i in range(16 * size))
        keep = np.frombuffer(memory, np.uint8)
        given = dict(typestr=typestr, shape=shape, strides=None if strides is None else tuple(size * s for s in strides))
        for what, more in {"bytearray": dict(data=memory, offset=size * first), "bytes": dict(data=bytes(memory), offset=size * first),
                           "address": dict(data=(keep.ctypes.data + size * first, False), offset=3),
                           "address, read-only": dict(data=(keep.ctypes.data + size * first, True)),
                           "array": dict(data=keep.view(np.uint8), offset=size * first)}.items():
            with self.subTest(what=what):
                other = Other(**given, **more)
                x, d = np.asarray(other), kjit.asarray(other)
                self.assertEqual((d.shape, d.dtype, d.read_only), (x.shape, x.dtype, not x.flags.writeable))
                self.assertEqual(d.copy_to_host().tolist(), x.tolist())
                if kjit.default_context().device.kind == "cpu" and x.size:
                    self.assertEqual(d.address, x.ctypes.data)


class Interface(unittest.TestCase):
    def test_own_buffer(self):
        x = np.arange(12, dtype=np.int16)

        class Own(np.ndarray):
            @property
            def __array_interface__(self):
                return {"version": 3, "typestr": "<i2", "shape": (2, 2), "strides": (8, 2), "offset": 2, "data": None}

        from kjit import _interop
        self.assertEqual(_interop.adopt(kjit.default_context(), x.view(Own)).copy_to_host().tolist(), [[1, 2], [5, 6]])

    def test_kernels(self):
        y = np.zeros(4, np.float32)
        mod = module("kernel u(x: u16[,], y: f32[]) { for k in range(x.size) { y[k] = f32(x[k // x.shape[1], k % x.shape[1]]) } }\n"
                     "kernel w(x: u16[]) { x[1] = 7 }")
        mod.u[1, 1](Other(typestr="<u2", shape=(2, 2), strides=(2, 4), data=np.arange(5, dtype=np.uint16).tobytes(), offset=2), y)
        self.assertEqual(y.tolist(), [1, 3, 2, 4])
        memory = bytearray(8)
        mod.w[1, 1](Other(typestr="<u2", shape=(2,), strides=(-4,), offset=6, data=memory))
        self.assertEqual(memory, b"\0\0\7\0\0\0\0\0")
        with self.assertRaisesRegex(kjit.InvalidError, "read-only"):
            mod.w[1, 1](Other(typestr="<u2", shape=(2,), data=bytes(4)))
        with self.assertRaisesRegex(kjit.ArgumentError, r"kernel 'w': 'x' takes u16\[\]: .*'U3'"):
            mod.w[1, 1](Other(typestr="U3", shape=(2,), data=bytes(24)))

    def test_it_is_kept(self):
        """The memory may not move while an array is over it."""
        memory = bytearray(8)
        d = kjit.asarray(Other(typestr="<u2", shape=(4,), data=memory))
        with self.assertRaises(BufferError):
            memory += b"more"
        del d
        kjit.synchronize()
        memory += b"more"

    def test_records(self):
        descr = [("a", "|i1"), ("", "|V7"), (("title", "b"), "<f8"), ("c", [("d", "<i4"), ("e", "<f4", 3)], (2,))]
        x = np.zeros(3, np.dtype([("a", "i1"), ("b", "f8"), ("c", [("d", "i4"), ("e", "f4", 3)], 2)], align=True))
        x["b"], x["c"]["e"][2, 1] = (1, 2, 3), (4, 5, 6)
        d = kjit.asarray(Other(typestr=f"|V{x.itemsize}", descr=descr, shape=(3,), data=x.tobytes()))
        self.assertEqual((d.dtype, d.copy_to_host().tobytes()), (x.dtype, x.tobytes()))
        self.assertEqual(kjit.asarray(Other(typestr="|V4", descr=[("a", "<i4")], shape=(1,), data=bytes(4))).type.fields, {"a": ("i32", 0, ())})
        mod = module("record A { v: f32x2 }\nrecord B { v: f32[2] }\nkernel a(p: A[]) { p[0].v.x = 1.0 }\nkernel b(p: B[]) { p[0].v[0] = 2.0 }")
        y = bytearray(8)
        for kernel in (mod.a, mod.b):  # laid out alike
            kernel[1, 1](Other(typestr="|V8", descr=[("v", "<f4", (2,))], shape=(1,), data=y))
        self.assertEqual(np.frombuffer(y, "f4").tolist(), [2, 0])


GOOD = dict(typestr="<i4", shape=(2,), data=bytes(8))
REFUSED = {
    "other order": (dict(typestr=">i4"), TypeError, "other order"), "other order of complex": (dict(typestr=">c8"), TypeError, "'<c8' is this"),
    "bit field": (dict(typestr="|t4"), TypeError, r"'\|t4'"), "object": (dict(typestr="|O8", shape=(1,)), TypeError, r"'\|O8'"),
    "text": (dict(typestr="|S4"), TypeError, "S4"), "unicode": (dict(typestr="<U1"), TypeError, "U1"), "date": (dict(typestr="<M8[s]"), TypeError, "M8"),
    "time": (dict(typestr="<m8"), TypeError, "m8"), "void": (dict(typestr="|V4"), TypeError, "V4"), "long double": (dict(typestr="<f16"), TypeError, "f16"),
    "no type": (dict(typestr=None), TypeError, "typestr"), "type of another kind": (dict(typestr=4), TypeError, "typestr"), "nonsense": (dict(typestr=""), TypeError, "typestr"),
    "no shape": (dict(shape=None), TypeError, "no 'shape'"), "shape of floats": (dict(shape=(1.5,)), TypeError, "'shape'"), "shape of one": (dict(shape=2), TypeError, "'shape'"),
    "negative": (dict(shape=(-1,)), ValueError, ""), "too many": (dict(shape=(1,) * 7), ValueError, "of 6 at most"),
    "strides of one": (dict(strides=4), TypeError, "'strides'"), "fewer strides": (dict(strides=()), ValueError, "0 strides for 1"), "more strides": (dict(strides=(4, 4)), ValueError, "2 strides"),
    "mask": (dict(mask=bytes(2)), TypeError, "mask"),
    "offset of float": (dict(offset=1.0), TypeError, "offset"), "beyond by offset": (dict(offset=4), ValueError, "bytes 4 to 12"),
    "beyond by shape": (dict(shape=(3,)), ValueError, "buffer that has 8"), "beyond by strides": (dict(strides=(8,)), ValueError, "bytes 0 to 12"),
    "before": (dict(strides=(-4,)), ValueError, "bytes -4 to 4"), "negative offset": (dict(offset=-4), ValueError, "-4"),
    "before, none": (dict(shape=(0,), offset=-1), ValueError, ""), "huge": (dict(shape=(1 << 40, 1 << 40)), ValueError, ""),
    "no buffer": (dict(data=5), TypeError, "'data'"), "text as data": (dict(data="text"), TypeError, "'data'"), "no data": (dict(data=None), TypeError, "'data'"),
    "not one block": (dict(data=memoryview(bytes(16))[::2]), TypeError, "'data'"),
    "address alone": (dict(data=(1000,)), TypeError, "'data'"), "address of float": (dict(data=(1.0, False)), TypeError, "'data'"), "empty": (dict(data=()), TypeError, "'data'"),
    "address 0": (dict(data=(0, False)), ValueError, "address 0"), "negative address": (dict(data=(-8, False)), (TypeError, ValueError), ""),
    "descr of another size": (dict(typestr="|V4", descr=[("a", "<i4"), ("b", "<i4")], shape=(1,)), ValueError, "8 bytes"),
    "no descr": (dict(typestr="|V8", descr=5, shape=(1,)), TypeError, "'descr'"), "descr of less": (dict(typestr="|V8", descr=[("a",)], shape=(1,)), TypeError, "'descr'"),
    "descr in the other order": (dict(typestr="|V8", descr=[("a", ">i4"), ("b", "<i4")], shape=(1,)), TypeError, "other order"),
    "descr with text": (dict(typestr="|V8", descr=[("a", "|S4"), ("b", "<i4")], shape=(1,)), TypeError, "S4"),
}


@cases(REFUSED)
class Refused(unittest.TestCase):
    def check(self, change, kind, text):
        kjit.asarray(Other(**GOOD))
        with self.assertRaisesRegex(kind, text) as caught:
            kjit.asarray(Other(**{**GOOD, **change}))
        self.assertIsInstance(caught.exception, kjit.Error)


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64), ("manager", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


CODES = {"b": 6, "i": 0, "u": 1, "f": 2, "c": 5}


class Dlpack:
    """What has __dlpack__ alone: an array of NumPy's from its byte `offset` on, as another library may describe it."""

    def __init__(self, memory, typestr, shape, strides, offset):
        kind, axes = np.dtype(typestr), ctypes.c_int64 * max(len(shape), 1)
        self.parts = memory, axes(*shape), axes(*strides) if strides is not None else None
        self.tensor = Tensor(memory.ctypes.data, 1, 0, len(shape), CODES[kind.kind], 8 * kind.itemsize, 1, self.parts[1], self.parts[2], offset)

    def __dlpack__(self, **options):
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self.tensor), b"dltensor", None)

    def __dlpack_device__(self):
        return 1, 0


@cases({f"{typestr} {shape} {strides}": (typestr, shape, strides, first) for typestr in TYPES for shape, strides, first in VIEWS})
class Tensors(unittest.TestCase):
    def check(self, typestr, shape, strides, first):
        if kjit.default_context().device.kind != "cpu":
            self.skipTest("tensors on the host are not the device's")
        size = np.dtype(typestr).itemsize
        memory = np.array([(1 if typestr == "|b1" else i % 60) * (i % 3 < 2) for i in range(16 * size)], np.uint8)
        other = Dlpack(memory, typestr, shape, strides, size * first)
        x = np.asarray(Other(typestr=typestr, shape=shape, strides=None if strides is None else tuple(size * s for s in strides),
                             data=(memory.ctypes.data + size * first, False)))
        d = kjit.asarray(other)
        self.assertEqual((d.shape, d.dtype, d.copy_to_host().tolist()), (x.shape, x.dtype, x.tolist()))
        if x.size:
            self.assertEqual(d.address, x.ctypes.data)


class RefusedWholly(unittest.TestCase):
    def test_no_dict(self):
        for what in (5, None, [], "text"):
            with self.assertRaisesRegex(kjit.ArgumentError, "is a dict"):
                kjit.asarray(type("Plain", (), {"__array_interface__": what})())

    def test_first_reason_is_the_buffers(self):
        with self.assertRaisesRegex(kjit.ArgumentError, "newbyteorder"):
            kjit.asarray(np.zeros(2, [("a", ">f4"), ("b", "<i4")]))


if __name__ == "__main__":
    main()
