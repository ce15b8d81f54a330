"""Structured dtypes as records."""
import ctypes
import unittest

import kjit
import numpy as np
from support import cases, main, module

SOURCE = """
record Cell { x: i32, y: i32 }
record Particle { pos: f32x4, vel: f32[3], cell: Cell, alive: bool, mass: f64 }
@packed record Sample { channel: u8, value: f32, at: u64 }
kernel move(p: Particle[]) {
    let i = grid(1)
    if i < p.size { p[i].pos.x += 1.0; p[i].vel[2] = 5.0; p[i].cell.y = 3; p[i].alive = true; p[i].mass *= 2.0 }
}
kernel scale(s: Sample[], by: f32) { let i = grid(1); if i < s.size { s[i].value *= by } }
kernel one(p: Particle, out: f64[]) { out[0] = p.mass; out[1] = f64(p.vel[1]) }
kernel copy<T>(x: T[], y: T[]) { let i = grid(1); if i < y.size { y[i] = x[i] } }
"""
CELL = np.dtype([("x", "i4"), ("y", "i4")])
PARTICLE = np.dtype([("pos", "f4", 4), ("vel", "f4", 3), ("cell", CELL), ("alive", "?"), ("mass", "f8")], align=True)
SAMPLE = np.dtype([("channel", "u1"), ("value", "f4"), ("at", "u8")])


class Records(unittest.TestCase):
    def test_dtypes_are_equal(self):
        mod = module(SOURCE)
        self.assertEqual(mod.Particle.dtype, PARTICLE)
        self.assertEqual(mod.Sample.dtype, SAMPLE)
        self.assertEqual((mod.Particle.name, mod.Particle.itemsize), ("Particle", PARTICLE.itemsize))
        self.assertEqual(mod.Particle, mod.Particle)
        self.assertEqual(len({mod.Particle, mod.Particle, mod.Cell}), 2)
        self.assertEqual(mod.Particle.fields["vel"], ("f32", 16, (3,)))
        self.assertEqual(mod.Particle.fields["cell"][0], mod.Cell)
        self.assertEqual(repr(mod.Sample), "<record Sample { channel: u8, value: f32, at: u64 }>")

    def test_in_place(self):
        p = np.zeros(5, PARTICLE)
        p["mass"] = 1.5
        module(SOURCE).move[1, 8](p)
        self.assertEqual((p["pos"][:, 0].tolist(), p["vel"][3].tolist(), p["cell"]["y"][4]), ([1] * 5, [0, 0, 5], 3))
        self.assertEqual((p["alive"].all(), p["mass"].tolist()), (True, [3] * 5))

    def test_packed(self):
        s = np.ones(5, SAMPLE)
        module(SOURCE).scale[1, 8](s, 2.5)
        self.assertEqual(s["value"].tolist(), [2.5] * 5)
        module(SOURCE).scale[1, 8](s[::2], 2.0)
        self.assertEqual(s["value"].tolist(), [5, 2.5, 5, 2.5, 5])

    def test_one_as_a_value(self):
        p, out = np.zeros(1, PARTICLE), np.zeros(2)
        p["mass"], p["vel"] = 2.5, 7
        module(SOURCE).one[1, 1](p[0], out)
        self.assertEqual(out.tolist(), [2.5, 7])

    def test_on_the_device(self):
        p = np.zeros(4, PARTICLE)
        p["mass"] = np.arange(4)
        d = kjit.to_device(p)
        self.assertEqual((d.type, d.dtype), (module(SOURCE).Particle, PARTICLE))
        module(SOURCE).move[1, 4](d)
        back = d.copy_to_host()
        self.assertEqual((back.dtype, back["mass"].tolist(), d["mass"].copy_to_host().tolist()), (PARTICLE, [0, 2, 4, 6], [0, 2, 4, 6]))
        self.assertEqual((d[3]["mass"], d["cell"].field("y")[1]), (6, 3))
        d[3] = p[1]
        d["mass"] = 9
        self.assertEqual((d[3]["mass"], d[3]["pos"][0]), (9, 0))
        self.assertEqual(kjit.device_array(3, module(SOURCE).Particle).itemsize, PARTICLE.itemsize)
        if kjit.default_context().device.kind == "cpu":
            self.assertEqual(np.asarray(d)["mass"].tolist(), [9] * 4)

    def test_other_module_of_the_same_layout(self):
        other = kjit.compile("record Cell2 { x: i32, y: i32 }\nkernel f(c: Cell2[]) { let i = grid(1); if i < c.size { c[i].y = i32(i) } }")
        c = np.zeros(3, CELL)
        module(SOURCE)
        other.f[1, 4](c)
        self.assertEqual(c["y"].tolist(), [0, 1, 2])

    def test_wrong_layout(self):
        for dtype in ([("x", "i4"), ("z", "i4")], [("x", "i4"), ("y", "i8")], [("y", "i4"), ("x", "i4")]):
            with self.assertRaises(kjit.ArgumentError):
                module(SOURCE).scale[1, 1](np.zeros(1, dtype), 1.0)

    def test_ctypes(self):
        class Cell(ctypes.Structure):
            _fields_ = [("x", ctypes.c_int32), ("y", ctypes.c_int32)]

        mod = module("record Cell { x: i32, y: i32 }\nkernel f(c: Cell[]) { let i = grid(1); if i < c.size { c[i].y = 4 } }")
        cells = (Cell * 3)()
        mod.f[1, 4](cells)
        self.assertEqual([c.y for c in cells], [4] * 3)
        self.assertEqual(kjit.device_array(2, Cell).itemsize, 8)

    def test_many_do_not_grow(self):
        context = kjit.Context()
        for _ in range(20):
            context.to_device(np.zeros(1, SAMPLE))
        self.assertIsNone(context._record(66))


# that no module has declared: a record is made
LAYOUTS = {
    "packed": [("a", "u1"), ("b", "f8")], "aligned": np.dtype([("a", "u1"), ("b", "f8")], align=True),
    "nested": np.dtype([("a", [("b", "i2"), ("c", "f4")]), ("d", "u1")], align=True), "arrays": [("a", "f4", (2, 3)), ("b", "i2", 5)],
    "complex": np.dtype([("z", "c8"), ("w", "c16")], align=True), "bools": [("a", "?"), ("b", "?")], "half": [("a", "f2"), ("b", "u2")],
    "nested packed": [("a", [("b", "u1"), ("c", "f4")]), ("d", "f8")],
}


@cases({name: (np.dtype(dtype),) for name, dtype in LAYOUTS.items()})
class Layouts(unittest.TestCase):
    def check(self, dtype):
        x = np.frombuffer(bytes(i % 2 for i in range(6 * dtype.itemsize)), dtype).copy()
        d = kjit.to_device(x)
        self.assertEqual((d.dtype, d.copy_to_host().tobytes()), (dtype, x.tobytes()))


class NoLayout(unittest.TestCase):
    def test_of_these(self):
        for dtype in ({"names": ["a", "b"], "formats": ["i4", "i4"], "offsets": [4, 0]}, [("a", ">i4"), ("b", "i4")],
                      [("a", "S3")], [("a b", "i4")], {"names": ["a"], "formats": ["i4"], "offsets": [3], "itemsize": 7}):
            with self.subTest(dtype=dtype), self.assertRaises((TypeError, ValueError)):
                kjit.to_device(np.zeros(2, np.dtype(dtype)))


if __name__ == "__main__":
    main()
