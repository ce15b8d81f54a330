"""Without NumPy: memoryviews, array.array, ctypes. NumPy is hidden here where it is installed."""
import sys

sys.modules["numpy"] = None

import array
import ctypes
import unittest

import kjit
from support import SAXPY, cases, main, module

ROUND = {"f32": [0.5, 2.0], "f64": [0.1, 1e300], "i8": [-1, 127], "i16": [-5, 3], "i32": [1 << 30, -1], "i64": [1 << 62, -1],
         "u8": [0, 255], "u16": [1, 65535], "u32": [1, 2 ** 32 - 1], "u64": [1, 2 ** 64 - 1], "bool": [True, False],
         "f16": [0.5, 1.5], "c64": [1j, 2.0], "c128": [0.1j, 2 + 3j], "f32x4": [(1.0, 2.0, 3.0, 4.0), (5.0, 6.0, 7.0, 8.0)]}


@cases({name: (name, values) for name, values in ROUND.items()})
class Elements(unittest.TestCase):
    def check(self, name, values):
        d = kjit.device_array(2, name)
        d[0], d[-1] = values
        self.assertEqual([d[0], d[1]], values)
        d.fill(values[0])
        self.assertEqual(d[1], values[0])


class Plain(unittest.TestCase):
    def test_launch(self):
        x, y = array.array("f", [1, 2, 3]), array.array("f", [0, 0, 0])
        module(SAXPY).saxpy[1, 4](2.0, x, y)
        self.assertEqual(y.tolist(), [2, 4, 6])
        module(SAXPY).saxpy.forall(3)(2.0, memoryview(x), y)
        self.assertEqual(y.tolist(), [4, 8, 12])

    def test_device(self):
        x = memoryview(array.array("f", range(6))).cast("B").cast("f", (2, 3))
        d = kjit.to_device(x)
        back = d.copy_to_host()
        self.assertEqual((type(back), back.format, back.shape, back.tolist()), (memoryview, "f", (2, 3), x.tolist()))
        self.assertEqual(d[1:, ::2].copy_to_host().tolist(), [[3, 5]])
        self.assertEqual((d.dtype, d.type), ("f32", "f32"))
        d[0] = array.array("f", [7, 8, 9])
        self.assertEqual(d[0, 1], 8)
        self.assertEqual(kjit.device_array(3).type, "f64")
        with self.assertRaises(TypeError):
            kjit.device_array(3, "nonsense")

    def test_copies_of_what_memoryviews_do_not_have(self):
        d = kjit.device_array(3, "c64")
        d.fill(1j)
        self.assertEqual(d.copy_to_host()[2], 1j)
        self.assertEqual(kjit.device_array((0, 3), "f32").copy_to_host().shape, (0, 3))

    def test_structures(self):
        class Cell(ctypes.Structure):
            _fields_ = [("x", ctypes.c_int32), ("w", ctypes.c_float * 3)]

        mod = kjit.compile("record Cell { x: i32, w: f32[3] }\nkernel f(c: Cell[]) { let i = grid(1); if i < c.size { c[i].w[1] = 4.0 } }")
        cells = (Cell * 3)()
        mod.f[1, 4](cells)
        self.assertEqual([c.w[1] for c in cells], [4] * 3)
        self.assertIsNone(mod.Cell.dtype)
        self.assertEqual(kjit.to_device(cells).type, mod.Cell)

    def test_records_of_tuples(self):
        mod = kjit.compile("record P { a: f32, n: i32, v: f32x2, b: bf16[2] }\nkernel f(p: P, x: f32[]) "
                           "{ x[0] = p.a + f32(p.n) + p.v.y + f32(p.b[1]) }", warn="off")
        x = array.array("f", [0])
        mod.f[1, 1]((1.5, 2, (3, 4), (0, 0.5)), x)
        self.assertEqual(x[0], 8)
        d = kjit.device_array(2, mod.P)
        d[:] = [(1, 2, (3, 4), (5, 6)), (1.5, 2, 0, 1)]
        self.assertEqual((d.field("a")[1], d.field("v")[0], d.field("n")[0]), (1.5, (3, 4), 2))
        with self.assertRaises(kjit.ArgumentError):
            d[0] = (1, 2.5, 0, 0)
        self.assertEqual([p.dtype for p in mod.f.parameters], [mod.P, "f32"])

    def test_numpy_was_not_needed(self):
        self.assertIsNone(sys.modules["numpy"])


if __name__ == "__main__":
    main()
