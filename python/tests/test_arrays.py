"""Arrays: no copies where none are said, views as NumPy's, and what other libraries see."""
import ctypes
import gc
import unittest
import weakref

import kjit
import numpy as np
from support import cases, main, module

NUMPY_2 = int(np.__version__.partition(".")[0]) >= 2  # copy=None is new, and copy=False strict
FILL = "kernel fill(x: f32[], a: f32) { let i = grid(1); if i < x.size { x[i] = a } }"
ADDRESS = "kernel first(x: f32[]) { x[0] = 1.0 }"


class ZeroCopy(unittest.TestCase):
    """On the CPU device kernels work on the program's own memory."""

    def setUp(self):
        if kjit.default_context().device.kind != "cpu":
            self.skipTest("the device has memory of its own")

    def test_asarray_has_the_address(self):
        x = np.zeros(1000, np.float32)
        self.assertEqual(kjit.asarray(x).address, x.ctypes.data)
        self.assertEqual(kjit.asarray(x[10:]).address, x.ctypes.data + 40)
        self.assertEqual(kjit.asarray(x[::-1]).address, x.ctypes.data + 3996)

    def test_kernel_sees_the_program_write(self):
        """A queued launch reads what the program writes before it begins: there is no copy in between."""
        x, seen = np.zeros(1 << 20, np.float32), np.zeros(1, np.float32)
        stream = kjit.stream()
        event_loop = module("kernel spin(flag: i32[], x: f32[], seen: f32[]) { while atomic.add(flag, 0, 0) == 0 {}; seen[0] = x[5] }")
        flag = np.zeros(1, np.int32)
        event_loop.spin[1, 1, stream](flag, x, seen)
        x[5] = 7
        flag[0] = 1
        stream.synchronize()
        self.assertEqual(seen[0], 7)

    def test_numpy_shares_device_arrays(self):
        d = kjit.device_array(10, "f32")
        x = np.asarray(d)
        self.assertEqual(x.ctypes.data, d.address)
        module(FILL).fill[1, 16](d, 3.0)
        self.assertEqual(x.tolist(), [3] * 10)
        x[2] = 5
        self.assertEqual(d[2], 5)

    def test_to_device_without_a_copy(self):
        x = np.ones((3, 2), np.int16, "F")
        d = kjit.to_device(x, copy=False)
        self.assertEqual((d.shape, d.strides, d.dtype), (x.shape, x.strides, x.dtype))
        self.assertNotEqual(d.address, x.ctypes.data)
        d.fill(7)
        self.assertIs(kjit.to_device(x, copy=False, to=d), d)
        self.assertEqual(d[0, 0], 7)
        kjit.to_device(x, to=d)
        self.assertEqual(d[0, 0], 1)

    def test_memoryview_shares(self):
        d = kjit.to_device(np.arange(6, dtype=np.int16).reshape(2, 3))
        view = memoryview(d)
        self.assertEqual((view.format, view.shape, view.strides, view.tolist()), ("h", (2, 3), (6, 2), [[0, 1, 2], [3, 4, 5]]))

    def test_views_share(self):
        d = kjit.to_device(np.arange(12, dtype=np.float32).reshape(3, 4))
        self.assertEqual(d[1:].address, d.address + 16)
        self.assertEqual(d[:, ::2].address, d.address)
        self.assertEqual(d.reshape(12).address, d.address)

    def test_dlpack_shares(self):
        d = kjit.to_device(np.arange(6, dtype=np.float32))
        self.assertEqual(np.from_dlpack(d).ctypes.data, d.address)
        x = np.arange(6, dtype=np.float32)
        self.assertEqual(kjit.from_dlpack(x).address, x.ctypes.data)

    def test_dlpack_can_copy(self):
        d = kjit.to_device(np.arange(6, dtype=np.float32))
        other = kjit.from_dlpack(type("Other", (), {"__dlpack__": lambda self, **more: d.__dlpack__(copy=True, **more)})())
        self.assertNotEqual(other.address, d.address)
        self.assertEqual(other[5], 5)

    def test_array_interface_shares(self):
        class Other:
            def __init__(self, array):
                self.array, self.__array_interface__ = array, array.__array_interface__

        x = np.zeros((4, 6), np.float32)
        self.assertEqual(kjit.asarray(Other(x[1:, ::2])).address, x.ctypes.data + 24)
        module(FILL).fill[1, 16](Other(x[:, 1]), 2.0)
        self.assertEqual(x[:, 1].tolist(), [2] * 4)

    def test_array_with_dlpack_alone(self):
        class Other:
            def __init__(self, array):
                self.array = array

            def __dlpack__(self, **options):
                return self.array.__dlpack__()

        x = np.zeros(6, np.float32)
        module(FILL).fill[1, 16](Other(x), 2.0)
        self.assertEqual(x.tolist(), [2] * 6)


@unittest.skipUnless(kjit.default_context().device.kind == "cuda", "there is no GPU")
class Cuda(unittest.TestCase):
    """Memory of a GPU's, from and to other libraries."""

    class Other:
        def __init__(self, array, **more):
            self.array, self.__cuda_array_interface__ = array, {**array.__cuda_array_interface__, **more}

    def test_interface(self):
        d = kjit.to_device(np.zeros((4, 6), np.float32))
        interface = d.__cuda_array_interface__
        self.assertEqual((interface["data"], interface["shape"], interface["typestr"]), ((d.address, False), (4, 6), "<f4"))
        self.assertEqual(kjit.asarray(self.Other(d)).address, d.address)
        module(FILL).fill[1, 16](self.Other(d[:, 1]), 2.0)
        self.assertEqual(d.copy_to_host()[:, :2].tolist(), [[0, 2]] * 4)
        for stream in (1, 2, kjit.stream().handle):
            module(FILL).fill[1, 16](self.Other(d[1], stream=stream), 3.0)
        self.assertEqual(d[1, 5], 3)

    def test_refused(self):
        d = kjit.to_device(np.zeros(4, np.float32))
        with self.assertRaises(TypeError):
            kjit.asarray(self.Other(d, mask=d))
        for wrong in (dict(data=memoryview(bytes(16))), dict(data=None), dict(typestr=">f4"), dict(typestr="|S4"), dict(strides=4), dict(shape=None)):
            with self.assertRaises(kjit.ArgumentError):
                kjit.asarray(self.Other(d, **wrong))
        with self.assertRaises(kjit.Error):
            kjit.Context("cpu").asarray(self.Other(d))
        with self.assertRaises(AttributeError):
            kjit.default_context().array(3, memory="host").__cuda_array_interface__
        with self.assertRaises(BufferError):
            memoryview(d)
        self.assertEqual(np.asarray(d).tolist(), [0] * 4)
        with self.assertRaises(AttributeError):
            d.__array_interface__

    def test_external_stream(self):
        own = kjit.stream()
        external = kjit.external_stream(own.handle)
        d = kjit.to_device(np.zeros(4, np.float32))
        module(FILL).fill[1, 16, external](d, 2.0)
        external.synchronize()
        self.assertEqual(d[3], 2)

    def test_dlpack(self):
        d = kjit.to_device(np.arange(4, dtype=np.float32))
        self.assertEqual(kjit.from_dlpack(d).address, d.address)
        self.assertEqual(d.__dlpack_device__(), (2, 0))

    def test_managed(self):
        d = kjit.managed_array(4, "f32")
        module(FILL).fill[1, 16](d, 2.0)
        self.assertEqual((np.asarray(d).tolist(), d.__cuda_array_interface__["data"][0]), ([2] * 4, d.address))


class NoCuda(unittest.TestCase):
    def test_of_a_cpu(self):
        context = kjit.Context("cpu")
        with self.assertRaises(AttributeError):
            context.array(3).__cuda_array_interface__
        with self.assertRaises(kjit.DeviceError):
            context.external_stream(77)
        with self.assertRaises(TypeError):
            context.external_stream("text")


class Lifetimes(unittest.TestCase):
    def test_wrapped_memory_lives(self):
        x = np.arange(1000, dtype=np.float32)
        dead = weakref.ref(x)
        d = kjit.asarray(x)
        del x
        gc.collect()
        self.assertIsNotNone(dead())
        self.assertEqual(d[999], 999)
        del d
        gc.collect()
        kjit.synchronize()
        self.assertIsNone(dead())

    def test_view_keeps_memory(self):
        x = np.arange(10, dtype=np.float32)
        dead = weakref.ref(x)
        view = kjit.asarray(x)[2:5]
        del x
        self.assertEqual(view.copy_to_host().tolist(), [2, 3, 4])
        del view
        kjit.synchronize()
        self.assertIsNone(dead())

    def test_buffer_keeps_array(self):
        x = np.asarray(kjit.to_device(np.arange(5.0)))
        gc.collect()
        self.assertEqual(x.tolist(), [0, 1, 2, 3, 4])

    def test_queued_work_keeps_memory(self):
        stream = kjit.stream()
        refs = []
        for _ in range(50):
            x = np.zeros(100, np.float32)
            refs.append(weakref.ref(x))
            module(FILL).fill[1, 128, stream](x, 1.0)
            del x
        stream.synchronize()
        module(FILL).fill[1, 128](np.zeros(1, np.float32), 1.0)
        gc.collect()
        self.assertEqual([ref for ref in refs if ref() is not None], [])

    def test_dlpack_keeps_and_gives_back(self):
        x = np.arange(5.0)
        dead = weakref.ref(x)
        d = kjit.from_dlpack(x)
        del x
        self.assertEqual(d[4], 4)
        del d
        kjit.synchronize()
        self.assertIsNone(dead())

    def test_bytearray_can_be_resized_afterwards(self):
        data = bytearray(40)
        module(FILL).fill[1, 16](memoryview(data).cast("f"), 1.0)
        data += b"more"
        d = kjit.asarray(data)
        with self.assertRaises(BufferError):
            data += b"more"
        del d
        data += b"more"


class View(ctypes.Structure):  # Py_buffer
    _fields_ = [("buf", ctypes.c_void_p), ("obj", ctypes.c_void_p), ("len", ctypes.c_ssize_t), ("itemsize", ctypes.c_ssize_t),
                ("readonly", ctypes.c_int), ("ndim", ctypes.c_int), ("format", ctypes.c_char_p), ("shape", ctypes.POINTER(ctypes.c_ssize_t)),
                ("strides", ctypes.POINTER(ctypes.c_ssize_t)), ("suboffsets", ctypes.c_void_p), ("internal", ctypes.c_void_p)]


WRITABLE, FORMAT, ND, STRIDES, INDIRECT = 1, 4, 8, 0x18, 0x118
ORDERS = {"C": 0x20 | STRIDES, "F": 0x40 | STRIDES, "A": 0x80 | STRIDES}
REQUESTS = [order | more for order in (0, ND, STRIDES, INDIRECT, *ORDERS.values()) for more in (0, WRITABLE, FORMAT, WRITABLE | FORMAT)]


@unittest.skipUnless(kjit.default_context().device.kind == "cpu", "the device has memory of its own")
class Requests(unittest.TestCase):
    """Every request of PEP 3118 is granted or refused as memoryview does it, with the same in it."""

    def granted(self, thing, flags):
        view, get = View(), ctypes.pythonapi.PyObject_GetBuffer
        try:
            get(ctypes.py_object(thing), ctypes.byref(view), flags)
        except BufferError:
            return None
        axes = range(view.ndim)
        found = (view.len, view.itemsize, view.ndim, view.readonly, view.format, [view.shape[i] for i in axes] if view.shape else None,
                 [view.strides[i] for i in axes] if view.strides else None, view.suboffsets)
        ctypes.pythonapi.PyBuffer_Release(ctypes.byref(view))
        return found

    def test_as_memoryview(self):
        x = np.arange(24, dtype=np.float32).reshape(4, 6)
        still = x.copy()
        still.flags.writeable = False
        for array in (kjit.asarray(x), kjit.asarray(still)):
            for name, view in {"C": array, "F": array.T, "steps": array[:, ::2], "rows": array[1:3], "reverse": array[::-1], "column": array[:, 1],
                               "one axis": array.ravel(), "none": array[2:2], "one": array[1:2, 1:2]}.items():
                for flags in REQUESTS:
                    with self.subTest(name=name, flags=hex(flags), read_only=array.read_only):
                        self.assertEqual(self.granted(view, flags), self.granted(memoryview(view), flags))

    def test_orders(self):
        d = kjit.to_device(np.arange(12, dtype=np.float32)).reshape(3, 4)
        for view, orders in ((d, "CA"), (d.T, "FA"), (d[:, ::2], ""), (d.ravel(), "CFA"), (d[::-1], "")):
            self.assertEqual("".join(name for name, flags in ORDERS.items() if self.granted(view, flags)), orders)


RECORDS = ("record P { a: i8, b: f64 }\nrecord Q { p: P[2], c: u8, v: f32x3, h: bf16 }\n@packed record R { a: u8, b: f64 }\nrecord S { a: i32, b: f32 }\n"
           "kernel p(p: P[]) { p[0].b += 1.0 }\nkernel q(p: Q[]) { p[0].v.x += 1.0 }\nkernel r(p: R[]) { p[0].b += 1.0 }\nkernel s(p: S[]) { p[0].a += 1 }")
VIEWED = {"all": lambda d: d, "steps": lambda d: d[::2], "reverse": lambda d: d[::-1], "two axes": lambda d: d.reshape(2, 3).T, "one": lambda d: d[5:],
          "none": lambda d: d[:0], "no axes": lambda d: d[1:2].reshape(())}


@unittest.skipUnless(kjit.default_context().device.kind == "cpu", "the device has memory of its own")
class SharedWithNumpy(unittest.TestCase):
    """np.asarray(d) is d's memory, with d.dtype, whatever the elements are."""

    def check(self, d, wanted):
        for way in (np.asarray, lambda d: np.array(d, copy=None if NUMPY_2 else False), lambda d: d.__array__(copy=False)) + (
                (lambda d: np.array(d, copy=False),) if NUMPY_2 else ()):
            x = way(d)
            self.assertEqual((x.dtype, x.shape, x.flags.writeable), wanted)
            if x.size:
                self.assertEqual(x.__array_interface__["data"][0], d.address)
            self.assertTrue((x == d.copy_to_host()).all())  # not the bytes: NumPy leaves padding as it is
        for way in (np.array, lambda d: np.array(d, copy=True), lambda d: d.__array__(copy=True)):
            x = way(d)
            self.assertEqual((x.dtype, x.shape), wanted[:2])
            if x.size:
                self.assertNotEqual(x.__array_interface__["data"][0], d.address)

    def test_vectors(self):
        for name, scalar, lanes in (("f32x4", "f4", 4), ("i16x2", "i2", 2), ("f64x3", "f8", 3), ("u8x4", "u1", 4)):
            for what, view in VIEWED.items():
                with self.subTest(name=name, what=what):
                    d = kjit.device_array(6, name)
                    d.fill(1)
                    d = view(d)
                    self.check(d, (np.dtype(scalar), d.shape + (lanes,), True))
        d = kjit.device_array(4, "f32x4")
        np.asarray(d)[1:3] = 7
        self.assertEqual(d[2], (7, 7, 7, 7))
        self.assertEqual(np.asarray(d, "f8").dtype, np.float64)
        with self.assertRaises(ValueError):
            d.__array__("f8", copy=False)

    def test_records(self):
        mod = module(RECORDS, warn="off")
        for record in (mod.P, mod.Q, mod.R, mod.S):
            for what, view in VIEWED.items():
                with self.subTest(record=record.name, what=what):
                    d = kjit.to_device(np.frombuffer(bytes(i % 60 for i in range(6 * record.itemsize)), record.dtype))
                    d = view(d)
                    self.check(d, (record.dtype, d.shape, True))

    def test_what_is_done_with_records(self):
        mod = module(RECORDS, warn="off")
        for record, kernel in ((mod.P, mod.p), (mod.Q, mod.q), (mod.R, mod.r), (mod.S, mod.s)):
            with self.subTest(record=record.name):
                x = np.zeros(3, record.dtype)
                a = np.asarray(kjit.to_device(x))
                kernel[1, 1](a)
                self.assertNotEqual(a.tobytes(), x.tobytes())
                x[:] = a
                self.assertEqual((x == a).all(), True)
                a[2] = x[0]
                self.assertEqual(a[2], x[0])

    def test_read_only(self):
        mod = module(RECORDS, warn="off")
        for dtype, view in ((mod.P.dtype, lambda d: d), (mod.R.dtype, lambda d: d), (np.dtype(("f4", 4)), lambda d: d.view("f32x4"))):
            x = np.zeros(3, dtype)
            x.flags.writeable = False
            d = view(kjit.asarray(x))
            self.check(d, (dtype.base, (3,) + dtype.shape, False))

    def test_they_keep_the_array(self):
        d = kjit.to_device(np.ones(3, module(RECORDS, warn="off").P.dtype))
        x = np.asarray(d)
        del d
        gc.collect()
        self.assertEqual(x["b"].tolist(), [1, 1, 1])

    def test_bf16(self):
        for name, bits in (("bf16", lambda d: d.view("u16")), ("bf16x2", lambda d: d.scalars().view("u16"))):
            d = kjit.device_array(4, name)
            d.fill(1)
            for way in (np.asarray, np.array, lambda d: np.asarray(d, "f4")):
                with self.assertRaisesRegex(kjit.ArgumentError, r"of the type bf16.*view\(\"u16\"\)"):
                    way(d)
            x = np.asarray(bits(d))
            self.assertEqual(set(x.ravel().tolist()), {0x3f80})
            x[...] = 0x4000
            self.assertEqual(d[1], 2 if name == "bf16" else (2, 2))


KEYS = {
    "one": (1, 2), "negative": (-1, -1), "row": 1, "rows": slice(1, 3), "column": (slice(None), 2), "steps": (slice(None, None, 2), slice(3, 0, -1)),
    "reverse": slice(None, None, -1), "ellipsis": (Ellipsis, 1), "ellipsis alone": Ellipsis, "empty": slice(2, 2),
    "beyond": slice(1, 100), "negative slice": slice(-2, None), "all": (slice(None), slice(None)), "last row back": (-1, slice(None, None, -1)),
    "row and ellipsis": (2, Ellipsis), "NumPy's index": (np.int64(1), np.int8(2)), "from end to start": (slice(-1, -4, -2), 0),
}


@cases({name: (key,) for name, key in KEYS.items()})
class Slices(unittest.TestCase):
    def check(self, key):
        x = np.arange(20, dtype=np.int32).reshape(4, 5)
        d = kjit.to_device(x)
        got, wanted = d[key], x[key]
        if np.ndim(wanted):
            self.assertEqual((got.shape, got.copy_to_host().tolist()), (wanted.shape, wanted.tolist()))
        else:
            self.assertEqual(got, wanted)
        d[key] = 7
        x[key] = 7
        self.assertEqual(d.copy_to_host().tolist(), x.tolist())


WRONG = {"index": (4, 0), "negative": (-5, 0), "three": (0, 0, 0), "two ellipses": (Ellipsis, Ellipsis), "column": (0, 5)}


@cases({name: (key,) for name, key in WRONG.items()})
class WrongIndices(unittest.TestCase):
    def check(self, key):
        d = kjit.device_array((4, 5), "i32")
        with self.assertRaises(IndexError):
            d[key]


class Arrays(unittest.TestCase):
    def test_properties(self):
        d = kjit.device_array((3, 4), "f64", order="F")
        self.assertEqual((d.shape, d.strides, d.ndim, d.size, d.itemsize, d.nbytes), ((3, 4), (8, 24), 2, 12, 8, 96))
        self.assertEqual((d.is_c_contiguous(), d.is_f_contiguous(), d.read_only, len(d)), (False, True, False, 3))
        self.assertIs(d.context, kjit.default_context())
        self.assertEqual(repr(d), "<kjit.Array f64 (3, 4) in device memory>")

    def test_shapes(self):
        x = np.arange(24, dtype=np.int64).reshape(2, 3, 4)
        d = kjit.to_device(x)
        for got, wanted in ((d.T, x.T), (d.reshape(6, 4), x.reshape(6, 4)), (d.reshape((4, -1)), x.reshape(4, -1)), (d.ravel(), x.ravel()),
                            (d.transpose(1, 0, 2), x.transpose(1, 0, 2)), (d.transpose((2, 0, 1)), x.transpose(2, 0, 1)),
                            (d.transpose(), x.T), (d.view("f64"), x.view("f8")), (d.T.ravel("F"), x.T.ravel("F"))):
            self.assertEqual((got.shape, got.copy_to_host().tolist()), (wanted.shape, wanted.tolist()))
        with self.assertRaises(kjit.ShapeError):
            d.T.reshape(24)
        with self.assertRaises(kjit.ShapeError):
            d.reshape(5, 5)

    def test_fortran_order_and_others(self):
        x = np.asfortranarray(np.arange(6.0).reshape(2, 3))
        d = kjit.to_device(x)
        self.assertTrue(d.is_f_contiguous())
        self.assertEqual(kjit.device_array_like(x).strides, x.strides)
        self.assertEqual(kjit.device_array_like(d, "f32").type, "f32")
        self.assertEqual(kjit.to_device(np.arange(10.0)[::2]).copy_to_host().tolist(), [0, 2, 4, 6, 8])

    def test_copies(self):
        x, out = np.arange(6.0), np.zeros(6)
        d = kjit.to_device(x)
        self.assertIs(d.copy_to_host(out), out)
        self.assertEqual(out.tolist(), x.tolist())
        d.copy_to_device(np.ones(6))
        self.assertEqual(d.copy_to_host().tolist(), [1] * 6)
        e = d.copy()
        d.fill(3)
        self.assertEqual((e[0], d[5]), (1, 3))
        kjit.to_device(x, to=d)
        self.assertEqual(d[5], 5)
        with self.assertRaises(kjit.ShapeError):
            d.copy_to_host(np.zeros(7))
        with self.assertRaises(kjit.ArgumentError):
            d.copy_to_host(np.zeros(6, np.float32))

    def test_copies_in_a_stream(self):
        stream = kjit.stream()
        d = kjit.to_device(np.arange(1000.0), stream)
        d[10:20].fill(1, stream)
        out = d.copy_to_host(stream=stream)
        stream.synchronize()
        self.assertEqual((out[15], out[25]), (1, 25))

    def test_assignments(self):
        d = kjit.to_device(np.zeros((2, 3), np.float32))
        d[0] = np.ones(3, np.float32)
        d[1] = d[0]
        d[:, 1] = 5
        d[1, 2] = np.float64(2.5)
        self.assertEqual(d.copy_to_host().tolist(), [[1, 5, 1], [1, 5, 2.5]])

    def test_read_only(self):
        x = np.zeros(4, np.float32)
        x.flags.writeable = False
        d = kjit.asarray(x)
        self.assertTrue(d.read_only)
        with self.assertRaisesRegex(kjit.InvalidError, "read-only"):
            module(FILL).fill[1, 4](x, 1.0)
        with self.assertRaises(kjit.InvalidError):
            d.fill(1)
        self.assertTrue(np.asarray(d).flags.writeable is False)
        y = np.zeros(4, np.float32)
        module("kernel copy(x: f32[], y: f32[]) { let i = grid(1); if i < y.size { y[i] = x[i] + 1.0 } }").copy[1, 4](x, y)
        self.assertEqual(y.tolist(), [1] * 4)

    def test_read_only_member_of_records(self):
        """Its strides are no whole elements, which DLPack has no way to say."""
        x = np.zeros(4, np.dtype([("a", "u1"), ("b", "f4"), ("c", "u1")]))
        x.flags.writeable = False
        self.assertEqual(kjit.to_device(x["b"]).copy_to_host().tolist(), [0] * 4)

    def test_too_many_axes(self):
        with self.assertRaises(ValueError):
            kjit.asarray(np.zeros((1,) * 7))
        with self.assertRaises(ValueError):
            kjit.device_array((1,) * 7)

    def test_no_elements(self):
        d = kjit.to_device(np.zeros((0, 3)))
        self.assertEqual((d.size, d.copy_to_host().shape), (0, (0, 3)))
        module(FILL).fill[1, 1](np.zeros(0, np.float32), 1.0)

    def test_no_axes(self):
        d = kjit.device_array((), "f32")
        d[()] = 2.5
        self.assertEqual(d[()], 2.5)
        with self.assertRaises(TypeError):
            len(d)

    def test_memory_kinds(self):
        for make, name in ((kjit.pinned_array, "pinned"), (kjit.mapped_array, "mapped")):
            d = make(10, "f32")
            self.assertEqual(d.memory, name)
            module(FILL).fill[1, 16](d, 2.0)
            self.assertEqual(np.asarray(d).tolist(), [2] * 10)

    def test_text(self):
        self.assertEqual(str(kjit.to_device(np.arange(4, dtype=np.float32))), "[0. 1. 2. 3.]")

    def test_array_function(self):
        d = kjit.to_device(np.arange(4, dtype=np.float32))
        self.assertEqual(np.array(d, dtype=np.float64).tolist(), [0, 1, 2, 3])
        self.assertEqual(d.__array__(np.dtype("f8")).dtype, np.float64)

    def test_used_capsules(self):
        capsule = kjit.default_context().array(4, "f32", memory="host").__dlpack__()
        np.from_dlpack(type("Other", (), {"__dlpack__": lambda self: capsule, "__dlpack_device__": lambda self: (1, 0)})())
        with self.assertRaises(TypeError):
            kjit.from_dlpack(type("Other", (), {"__dlpack__": lambda self, **_: capsule})())
        self.assertEqual(kjit.device_array(4, "f32").__dlpack_device__()[0] in (1, 2), True)
        del capsule

    def test_nothing(self):
        for value in (None, "text", 5, object(), [1, 2]):
            with self.assertRaises(TypeError):
                kjit.asarray(value)


if __name__ == "__main__":
    main()
