"""Element types: arrays of each go in, through kernels, to the device and back."""
import array
import ctypes
import unittest

import kjit
import numpy as np
from support import cases, main, module

NAMES = {"bool": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "u8": np.uint8,
         "u16": np.uint16, "u32": np.uint32, "u64": np.uint64, "f16": np.float16, "f32": np.float32, "f64": np.float64,
         "c64": np.complex64, "c128": np.complex128}
COPY = "kernel copy(x: {0}[], y: {0}[]) {{ let i = grid(1); if i < y.size {{ y[i] = x[i] }} }}"


def some(dtype):
    return (np.arange(10) % 2 if dtype is np.bool_ else np.arange(10)).astype(dtype)


@cases({name: (name, dtype) for name, dtype in NAMES.items()})
class Kernels(unittest.TestCase):
    def check(self, name, dtype):
        x, y = some(dtype), np.zeros(10, dtype)
        module(COPY.format(name)).copy[1, 16](x, y)
        self.assertTrue((x == y).all() and y.any())


@cases({name: (name, dtype) for name, dtype in NAMES.items()})
class RoundTrips(unittest.TestCase):
    def check(self, name, dtype):
        x = some(dtype).reshape(2, 5)
        there = kjit.to_device(x)
        self.assertEqual((there.type, there.dtype, there.shape, there.memory), (name, x.dtype, (2, 5), "device"))
        back = there.copy_to_host()
        self.assertEqual((back.dtype, back.tolist()), (x.dtype, x.tolist()))
        self.assertEqual(there[1, 3], x[1, 3])
        there[1, 3] = x[0, 2]
        self.assertEqual(there.copy_to_host()[1, 3], x[0, 2])


SPELLINGS = {"float32": "f32", np.float32: "f32", np.dtype("f4"): "f32", "<f4": "f32", "f32": "f32", float: "f64", None: "f64",
             int: "i64", bool: "bool", complex: "c128", "uint8": "u8", "|u1": "u8", np.dtype("i2"): "i16", "f32x4": "f32x4",
             "bf16": "bf16", "int64": "i64", ctypes.c_int32: "i32", ctypes.c_double: "f64"}


@cases({str(spelling): (spelling, name) for spelling, name in SPELLINGS.items()})
class Spellings(unittest.TestCase):
    def check(self, spelling, name):
        self.assertEqual(kjit.device_array((2, 3), spelling).type, name)


REFUSED = {"other order": np.dtype(">f4"), "text": np.dtype("U3"), "object": object, "date": np.dtype("M8[s]"), "no name": "f33"}


@cases({name: (dtype,) for name, dtype in REFUSED.items()})
class Refused(unittest.TestCase):
    def check(self, dtype):
        with self.assertRaises(TypeError):
            kjit.device_array(3, dtype)


MEMORY = {
    "array.array f": (array.array("f", range(10)), "f32"), "array.array d": (array.array("d", range(10)), "f64"),
    "array.array i": (array.array("i", range(10)), "i32"), "array.array l": (array.array("l", range(10)), "i64"),
    "array.array Q": (array.array("Q", range(10)), "u64"), "array.array b": (array.array("b", range(10)), "i8"),
    "bytearray": (bytearray(range(10)), "u8"), "bytes": (bytes(range(10)), "u8"),
    "memoryview": (memoryview(bytearray(range(10))), "u8"),
    "memoryview, cast": (memoryview(bytearray(40)).cast("f"), "f32"),
    "ctypes float": ((ctypes.c_float * 10)(*range(10)), "f32"), "ctypes int64": ((ctypes.c_int64 * 10)(*range(10)), "i64"),
}


@cases(MEMORY)
class Memory(unittest.TestCase):
    """Buffers of other kinds than NumPy's."""

    def check(self, x, name):
        y = kjit.device_array(10, name)
        module(COPY.format(name)).copy[1, 16](x, y)
        self.assertEqual(bytes(memoryview(y.copy_to_host())), bytes(memoryview(x)))


class Other(unittest.TestCase):
    def test_other_order_of_bytes(self):
        x = np.zeros(10, ">f4")
        copy = module(COPY.format("f32")).copy[1, 16]
        with self.assertRaisesRegex(kjit.ArgumentError, r"kernel 'copy': 'x' takes f32\[\]: .*in the other order: x.astype\(\"<f4\"\)"):
            copy(x, x)
        copy(x.astype("<f4"), np.zeros(10, np.float32))  # the hint is true
        for kind in (">f8", ">f2", ">i4", ">u2", ">i8", ">c8", ">c16"):
            with self.assertRaisesRegex(kjit.ArgumentError, kind.replace(">", "<")):
                kjit.asarray(np.zeros(2, kind))
            kjit.asarray(np.zeros(2, kind).astype(kind.replace(">", "<")))
            with self.assertRaisesRegex(kjit.ArgumentError, "other order.*" + kind.replace(">", "<")):
                kjit.device_array(2, kind)
        with self.assertRaisesRegex(kjit.ArgumentError, r"newbyteorder\(\"<\"\)"):
            kjit.asarray(np.zeros(2, [("a", ">f4"), ("b", "<i4")]))

    def test_text(self):
        with self.assertRaises(TypeError):
            kjit.to_device(np.array(["a", "b"]))

    def test_vectors(self):
        x = np.arange(12, dtype=np.float32).reshape(3, 4)
        vectors = kjit.asarray(x).view("f32x4")
        self.assertEqual((vectors.type, vectors.shape, vectors.itemsize), ("f32x4", (3,), 16))
        mod = module("kernel swap(x: f32x4[]) { let i = grid(1); if i < x.size { let v = x[i]; x[i] = f32x4(v.w, v.z, v.y, v.x) } }")
        mod.swap[1, 4](vectors)
        self.assertEqual(x.tolist(), [[3, 2, 1, 0], [7, 6, 5, 4], [11, 10, 9, 8]])
        self.assertEqual(vectors.copy_to_host().tolist(), x.tolist())
        self.assertEqual(vectors[1], (7, 6, 5, 4))
        self.assertEqual(vectors.field("w").copy_to_host().tolist(), [0, 4, 8])
        self.assertEqual(vectors.scalars().shape, (3, 4))

    def test_bf16(self):
        x = kjit.device_array(4, "bf16")
        module("kernel ones(x: bf16[]) { let i = grid(1); if i < x.size { x[i] = 1.0 } }").ones[1, 4](x)
        self.assertEqual(x.view("u16").copy_to_host().tolist(), [0x3f80] * 4)
        self.assertEqual(x.dtype, "bf16")

    def test_elements_of_bf16(self):
        x = kjit.device_array(8, "bf16")
        for i, v in enumerate([2, 1.5, -0.0, 1.00390625, 1.01171875, float("inf"), -float("inf"), 3.3895314e38]):  # ties, and the most
            x[i] = v
        with self.assertRaises(kjit.ArgumentError):
            x[0] = 1e39
        self.assertEqual(x.view("u16").copy_to_host().tolist(),
                         [0x4000, 0x3fc0, 0x8000, 0x3f80, 0x3f82, 0x7f80, 0xff80, 0x7f7f])
        self.assertEqual((x[0], x[1], x[4], x[6]), (2.0, 1.5, 1.015625, -float("inf")))
        x[0] = 1.00390625 + 2.0 ** -40  # above the tie by less than a float's
        self.assertEqual(x.view("u16")[0], 0x3f81)
        x[1] = float("nan")
        self.assertNotEqual(x[1], x[1])
        x.fill(3)
        x[2:4] = 0.5
        self.assertEqual([x[i] for i in range(8)], [3, 3, 0.5, 0.5, 3, 3, 3, 3])
        with self.assertRaises(TypeError):
            x[0] = (1, 2)
        pairs = kjit.device_array(2, "bf16x2")
        pairs.fill(1)
        pairs[1] = (2, -3)
        self.assertEqual((pairs[0], pairs[1]), ((1, 1), (2, -3)))
        with self.assertRaises(kjit.ShapeError):
            pairs[0] = (1, 2, 3)

    def test_one_number_for_a_vector(self):
        x = kjit.device_array(2, "f32x3")
        x.fill(2)
        x[1] = (1, 2, 3)
        self.assertEqual((tuple(x[0]), tuple(x[1])), ((2, 2, 2), (1, 2, 3)))
        with self.assertRaises(ValueError):
            x[0] = (1, 2)


if __name__ == "__main__":
    main()
