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

    def test_one_packed_element_as_a_value(self):
        """Whose format NumPy writes as if it were not packed."""
        mod = kjit.compile("@packed record Q { a: u8, b: f64 }\n@packed record R { h: u8, q: Q, v: f32[3], l: i64 }\nrecord S { a: u8, b: f64 }\n"
                           "kernel q(q: Q, o: f64[]) { o[0] = q.b + f64(q.a) }\nkernel r(r: R, o: f64[]) { o[0] = r.q.b + f64(r.v[2]) + f64(r.l) }\n"
                           "kernel s(q: S, o: f64[]) { o[0] = q.b + f64(q.a) }")
        q, r, s, o = np.zeros(3, mod.Q.dtype), np.zeros(3, mod.R.dtype), np.zeros(3, mod.S.dtype), np.zeros(1)
        q["a"], q["b"], s["a"], s["b"] = 1, (1, 2, 3), 1, (5, 6, 7)
        r["q"]["b"], r["v"][1, 2], r["l"] = 2, 3, 4
        for kernel, value, wanted in ((mod.q, q[2], 4), (mod.s, s[2], 8), (mod.r, r[1], 9), (mod.q, q[1], 3), (mod.q, np.array(q[2]), 4)):
            kernel[1, 1](value, o)
            self.assertEqual(o[0], wanted)
        for kernel, value in ((mod.s, q[2]), (mod.q, s[2]), (mod.q, r[0])):
            with self.assertRaises(kjit.ArgumentError):
                kernel[1, 1](value, o)

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

    def test_arrays_of_arrays(self):
        mod = module("record P { a: i32, v: f32x2[3] }\nkernel k(p: P[]) { p[grid(1)].v[2].y += 1 }")
        p = np.zeros(2, [("a", "i4"), ("v", np.dtype(("f4", 2)), (3,))])
        mod.k[1, 2](p)
        self.assertEqual(p["v"].tolist(), [[[0, 0], [0, 0], [0, 1]]] * 2)

    def test_twins(self):
        """Records that are laid out alike: the kernel's parameter says which is meant."""
        twins = "record A { v: f32x2 }\nrecord B { v: f32[2] }\nrecord C { v: f32x2 }\n"
        mod = kjit.compile(twins + "kernel a(p: A[]) { p[0].v.x = 1.0 }\nkernel b(p: B[]) { p[0].v[0] = 2.0 }\n"
                           "kernel c(p: C[], q: A[], r: B) { p[0].v.x = q[0].v.x + r.v[0] }")
        x = np.zeros(3, mod.B.dtype)
        mod.a[1, 1](x)
        self.assertEqual(x[0]["v"].tolist(), [1, 0])
        mod.b[1, 1](x)
        mod.c[1, 1](p=x, r=x[0], q=x)
        self.assertEqual(x[0]["v"].tolist(), [4, 0])
        for source in ("record B { v: f32[2] }\nkernel b(p: B[]) { p[0].v[0] = 5.0 }", "record D { v: f32x2 }\nkernel b(p: D[]) { p[0].v.x = 5.0 }"):
            with self.subTest(source=source):
                other = kjit.compile(source)
                x = np.zeros(3, mod.B.dtype)
                other.b[1, 1](x)
                self.assertEqual(x[0]["v"].tolist(), [5, 0])
        d = kjit.device_array(3, mod.B)
        d[:] = np.ones(3, mod.A.dtype)
        d.copy_to_device(np.ones(3, mod.A.dtype))
        kjit.to_device(np.ones(3, mod.A.dtype), to=d)
        mod.b[1, 1](d)
        out = np.zeros(3, mod.A.dtype)
        d.copy_to_host(out)
        self.assertEqual((d.type.name, out[0]["v"].tolist(), out[2]["v"].tolist()), ("B", [2, 1], [1, 1]))

    def test_bf16(self):
        """Which NumPy has not: its bits."""
        mod = module("record E { x: f32, y: bf16, z: f32[2], w: bf16x2 }\nkernel k(a: E[]) { a[0].y = 1.5; a[0].z[0] = 7.0; a[0].w.y = 2.0 }\n"
                     "kernel one(e: E, x: f32[]) { x[0] = f32(e.y) + f32(e.w.x) }", warn="off")
        self.assertEqual(mod.E.dtype, np.dtype([("x", "f4"), ("y", "u2"), ("z", "f4", 2), ("w", "u2", 2)], align=True))
        x = np.zeros(2, mod.E.dtype)
        mod.k[1, 1](x)
        self.assertEqual((x[0]["y"], x[0]["z"].tolist(), x[0]["w"].tolist(), x[1]["y"]), (0x3fc0, [7, 0], [0, 0x4000], 0))
        d = kjit.device_array(2, mod.E)
        d.fill(0)
        mod.k[1, 1](d)
        self.assertEqual(d.copy_to_host().tobytes(), x.tobytes())
        d[1] = (1.0, 2.5, (3, 4), (1, -1))  # numbers, not bits
        self.assertEqual((d[1]["y"], d["y"][1], d[1]["w"].tolist()), (0x4020, 2.5, [0x3f80, 0xbf80]))
        y = kjit.device_array(1, "f32")
        mod.one[1, 1]((0, 1.5, (0, 0), (2, 0)), y)
        self.assertEqual(y[0], 3.5)
        mod.one[1, 1](x[0], y)
        self.assertEqual(y[0], 1.5)
        with self.assertRaises(kjit.ArgumentError):
            mod.one[1, 1]((0, 1e39, (0, 0), (2, 0)), y)
        only = kjit.compile("record F { b: bf16, c: u16 }\nrecord G { b: u16, c: u16 }\nkernel f(p: F[], q: G[]) { p[0].b = 1.0; q[0].b = 1 }", warn="off")
        p, q = np.zeros(1, only.F.dtype), np.zeros(1, only.G.dtype)
        only.f[1, 1](p, q)
        self.assertEqual((p[0]["b"], q[0]["b"]), (0x3f80, 1))

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
