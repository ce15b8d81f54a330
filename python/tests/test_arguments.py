"""Arguments that are no arrays: which numbers which parameters take, and what of them comes to the kernel."""
import fractions
import unittest

import kjit
import numpy as np
from support import cases, main, module

STORE = "kernel store(a: {0}, y: {0}[]) {{ y[0] = a }}"
GENERIC = "kernel store<T: number>(a: T, kind: i32[]) { let l = local.array(2, T); l[0] = a; kind[0] = i32(l.strides[0]) }"
BAD, BIG = kjit.ArgumentError, 2 ** 64 - 1

# name: (parameter's type, argument, what is stored or the exception)
ROWS = {
    "f32 of float": ("f32", 2.5, 2.5), "f32 of int": ("f32", 3, 3.0), "f32 of float64": ("f32", np.float64(2.5), 2.5),
    "f32 of float32": ("f32", np.float32(0.1), np.float32(0.1)), "f32 of int32": ("f32", np.int32(7), 7.0),
    "f32 of float16": ("f32", np.float16(1.5), 1.5), "f32 of bool": ("f32", True, BAD), "f32 of inf": ("f32", float("inf"), np.inf),
    "f32 of complex": ("f32", 1j, BAD), "f32 rounds": ("f32", 0.1, np.float32(0.1)), "f32 of text": ("f32", "1", TypeError),
    "f32 of None": ("f32", None, TypeError), "f32 of list": ("f32", [1.0], TypeError),
    "f32 of array without axes": ("f32", np.array(2.5, np.float32), 2.5),
    "f64 of float": ("f64", 0.1, 0.1), "f64 of int": ("f64", 1 << 40, float(1 << 40)), "f64 of float32": ("f64", np.float32(0.5), 0.5),
    "i32 of int": ("i32", -5, -5), "i32 of float": ("i32", 2.0, BAD), "i32 of float64": ("i32", np.float64(2), BAD),
    "i32 too big": ("i32", 1 << 31, BAD), "i32 least": ("i32", -(1 << 31), -(1 << 31)), "i32 of int64": ("i32", np.int64(9), 9),
    "i32 of big int64": ("i32", np.int64(1 << 40), BAD), "i32 of bool": ("i32", True, BAD), "i32 of uint8": ("i32", np.uint8(200), 200),
    "i64 of int": ("i64", -(1 << 63), -(1 << 63)), "i64 too big": ("i64", 1 << 63, BAD),
    "u64 most": ("u64", BIG, BIG), "u64 negative": ("u64", -1, BAD), "u64 over": ("u64", 1 << 64, OverflowError),
    "u64 of uint64": ("u64", np.uint64(BIG), BIG), "i64 under": ("i64", -(1 << 63) - 1, OverflowError),
    "u8 of int": ("u8", 255, 255), "u8 too big": ("u8", 256, BAD), "u8 negative": ("u8", -1, BAD), "i8 of int": ("i8", -128, -128),
    "bool of bool": ("bool", True, True), "bool of numpy's": ("bool", np.bool_(True), True), "bool of int": ("bool", 1, BAD),
    "c64 of complex": ("c64", 1 + 2j, 1 + 2j), "c64 of complex64": ("c64", np.complex64(3 - 1j), 3 - 1j),
    "c128 of float": ("c128", 2.5, 2.5), "c128 of complex": ("c128", 0.1j, 0.1j), "c128 of int": ("c128", 2, 2),
    "f16 of float": ("f16", 1.5, 1.5), "i16 of int": ("i16", 1000, 1000), "i16 too big": ("i16", 40000, BAD),
    "i32 of Fraction": ("i32", fractions.Fraction(3), TypeError),
}


@cases(ROWS)
class Numbers(unittest.TestCase):
    def check(self, kind, value, expected):
        y = kjit.to_device(np.zeros(1, kjit.device_array(1, kind).dtype))
        store = module(STORE.format(kind)).store[1, 1]
        if isinstance(expected, type):
            with self.assertRaises(expected):
                store(value, y)
        else:
            store(value, y)
            self.assertEqual(y[0], expected)


# of a generic parameter: the bytes of its type
GENERICS = {"int": (5, 4), "big int": (1 << 40, 8), "float": (0.5, 4), "float32": (np.float32(1), 4), "float64": (np.float64(1), 8),
            "int64": (np.int64(1), 8), "uint8": (np.uint8(1), 1), "float16": (np.float16(1), 2)}


@cases(GENERICS)
class Generics(unittest.TestCase):
    def check(self, value, size):
        kind = np.zeros(1, np.int32)
        module(GENERIC).store[1, 1](value, kind)
        self.assertEqual(kind[0], size)


class Index:
    def __index__(self):
        return 7


class Others(unittest.TestCase):
    def test_index(self):
        y = np.zeros(1, np.int32)
        module(STORE.format("i32")).store[1, 1](Index(), y)
        self.assertEqual(y[0], 7)

    def test_subclasses_of_int_and_float(self):
        y, z = np.zeros(1, np.int32), np.zeros(1, np.float32)
        module(STORE.format("i32")).store[1, 1](type("Int", (int,), {})(5), y)
        module(STORE.format("f32")).store[1, 1](type("Float", (float,), {})(0.5), z)
        self.assertEqual((y[0], z[0]), (5, 0.5))

    def test_names(self):
        y = np.zeros(1, np.float32)
        mod = module("kernel power(x: f32, out: f32[], const n: i32 = 2) { var p: f32 = 1.0; for i in range(n) { p *= x }; out[0] = p }")
        mod.power[1, 1](3.0, y)
        self.assertEqual(y[0], 9)
        mod.power[1, 1](3.0, y, n=3)
        self.assertEqual(y[0], 27)
        mod.power[1, 1](out=y, x=2.0, n=4)
        self.assertEqual(y[0], 16)
        with self.assertRaises(kjit.LaunchError):
            mod.power[1, 1](3.0, y, m=3)

    def test_how_many(self):
        y = np.zeros(1, np.float32)
        store = module(STORE.format("f32")).store[1, 1]
        for arguments in ((), (1.0,), (1.0, y, y)):
            with self.assertRaises(kjit.LaunchError):
                store(*arguments)

    def test_array_for_number_and_back(self):
        y = np.zeros(1, np.float32)
        store = module(STORE.format("f32")).store[1, 1]
        for arguments in ((y, y), (1.0, 2.0)):
            with self.assertRaises(kjit.ArgumentError):
                store(*arguments)

    def test_many(self):
        names = [f"a{i}" for i in range(40)]
        text = ", ".join(f"{name}: f64" for name in names)
        mod = kjit.compile(f"kernel sum({text}, out: f64[]) {{ out[0] = {' + '.join(names)} }}")
        out = np.zeros(1)
        mod.sum[1, 1](*range(40), out)
        self.assertEqual(out[0], sum(range(40)))

    def test_in_and_out(self):
        x, y = np.ones(4, np.float32), np.zeros(4, np.float32)
        mod = module("kernel both(x: f32[], y: f32[]) { let i = grid(1); if i < x.size { y[i] = x[i]; x[i] = 5.0 } }")
        mod.both[1, 4](kjit.In(x), kjit.Out(y))
        self.assertEqual((x.tolist(), y.tolist()), ([1] * 4, [1] * 4))
        with self.assertRaises(TypeError):
            mod.both[1, 4](kjit.In(2.0), y)
        with self.assertRaises(TypeError):
            mod.both[1, 4](kjit.In([1.0]), y)


class Parts(unittest.TestCase):
    """Tuples and lists for parameters that are vectors, tuples and records."""

    @classmethod
    def setUpClass(cls):
        cls.mod = module("""record P { a: f32, n: i32 }
kernel of_vector(v: u32x2, x: f32[]) { x[0] = f32(v.x * 10 + v.y) }
kernel of_parts(t: (i32, f32), p: P, x: f32[]) { x[0] = f32(t[0]) + t[1]; x[1] = p.a + f32(p.n) }
""")

    def test_vectors(self):
        x = kjit.device_array(1, "f32")
        for v in ((1, 2), [1, 2]):
            x.fill(0)
            self.mod.of_vector[1, 1](v, x)
            self.assertEqual(x[0], 12)
        self.mod.of_vector[1, 1](x=x, v=(3, 4))
        self.assertEqual(x[0], 34)
        with self.assertRaisesRegex(kjit.ArgumentError, "u32x2 has 2 numbers, not 3"):
            self.mod.of_vector[1, 1]((1, 2, 3), x)
        with self.assertRaisesRegex(kjit.ArgumentError, r"kernel 'of_vector': 'x' takes f32\[\], not a tuple: numpy.array\(..., numpy.float32\)"):
            self.mod.of_vector[1, 1]((1, 2), (1, 2))
        with self.assertRaises(kjit.Error):
            self.mod.of_vector[1, 1]((1, 2), x, x)

    def test_tuples_and_records(self):
        x = kjit.device_array(2, "f32")
        self.mod.of_parts[1, 1]((3, 4.5), (1.5, 7), x)
        self.assertEqual((x[0], x[1]), (7.5, 8.5))
        for t, p in (((3,), (1.5, 7)), ((2.5, 1.0), (1.5, 7)), ((3, 1.0), (1.5, "7")), ((True, 1.0), (1.5, 7)), ((2 ** 31, 1.0), (1.5, 7)),
                     ((3, 1j), (1.5, 7)), ((3, 1e39), (1.5, 7)), ((3, 1.0), (1.5, 7.0)), ((3, 1.0), (1.5, None))):
            with self.assertRaises(kjit.ArgumentError, msg=f"{t} {p}"):
                self.mod.of_parts[1, 1](t, p, x)
        for v in ((-1, 2), (1.0, 2), (1, "2"), (True, 2), (1, 2 ** 32)):
            with self.assertRaises(kjit.ArgumentError, msg=v):
                self.mod.of_vector[1, 1](v, x)
        self.mod.of_vector[1, 1]((np.uint32(3), np.int64(4)), x)
        self.assertEqual(x[0], 34)

    def test_arrays_in_records(self):
        mod = module("record S { a: i32[2], b: f16 }\nkernel k(s: S, x: i32[]) { x[0] = s.a[0] * 10 + s.a[1] + i32(s.b) }")
        x = kjit.device_array(1, "i32")
        for s, sum in ((((1, 2), 3.0), 15), (([1, 2], 3), 15), ((np.array([1, 2]), np.float16(3)), 15), ((4, 0), 44)):
            mod.k[1, 1](s, x)
            self.assertEqual(x[0], sum)
        for s in (((1.5, 2), 3), (2.5, 3), (np.array([1.5, 2.0]), 3), ((1, 2), 65520.0), (("1", 2), 3), 4):
            with self.assertRaises((kjit.ArgumentError, TypeError), msg=s):
                mod.k[1, 1](s, x)
        mod.k[1, 1]((4, float("inf")), x)

    def test_read_only_records(self):
        mod = module("record S { a: f32, b: f32[2] }\nkernel s(p: S[]) { p[0].b[1] = 5 }\nkernel r(p: S[], x: f32[]) { x[0] = p[0].b[1] }")
        p = np.ones(2, mod.S.dtype)
        p.flags.writeable = False
        with self.assertRaisesRegex(kjit.InvalidError, "read-only"):
            mod.s[1, 1](p)
        self.assertEqual(p[0]["b"][1], 1)
        x = kjit.device_array(1, "f32")
        mod.r[1, 1](p, x)
        self.assertEqual((x[0], kjit.asarray(p).read_only), (1, True))


if __name__ == "__main__":
    main()
