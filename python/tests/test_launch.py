"""Launches: grids, blocks, forall, what they refuse, and kernels as objects."""
import pathlib
import tempfile
import unittest

import kjit
import numpy as np
from support import SAXPY, cases, main, module

WHERE = """
kernel where(out: i64[]) {
    let t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x
    let b = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x
    out[b * blockDim.x * blockDim.y * blockDim.z + t] = 1
}
"""
SHAPES = {
    "numbers": (4, 8, 32), "tuples": ((4,), (8,), 32), "two axes": ((2, 3), (4, 2), 48), "three": ((2, 1, 2), (2, 2, 2), 32),
    "lists": ([2, 2], [4], 16), "NumPy's ints": (np.int64(4), np.int32(8), 32), "mixed": (3, (2, 2), 12),
    "array": (np.array([2, 2]), 4, 16), "0 blocks": (0, 8, 0), "0 batches": ((3, 0), 8, 0), "0 of three": ((4, 4, 0), (4, 2), 0),
}


@cases(SHAPES)
class Shapes(unittest.TestCase):
    def check(self, grid, block, threads):
        out = np.zeros(64, np.int64)
        module(WHERE).where[grid, block](out)
        self.assertEqual((out[:threads].all(), out[threads:].any()), (True, False))


REFUSED = {
    "one": (lambda k: k[4], ValueError), "four": (lambda k: k[4, 8, None, 0], ValueError), "text": (lambda k: k["4", 8], TypeError),
    "float": (lambda k: k[4.0, 8], TypeError), "four axes": (lambda k: k[(1, 1, 1, 1), 8], ValueError),
    "None": (lambda k: k[None, 8], TypeError), "no stream": (lambda k: k[4, 8, "s"], TypeError),
    "large block": (lambda k: k[4, 2048](np.zeros(64, np.int64)), kjit.LaunchError),
    "0 threads": (lambda k: k[4, 0], kjit.LaunchError), "0 by 32 threads": (lambda k: k[4, (0, 32)], kjit.LaunchError),
    "32 by 0 threads": (lambda k: k[4, (32, 0)], kjit.LaunchError), "no third": (lambda k: k[4, (4, 4, 0)], kjit.LaunchError),
    "negative": (lambda k: k[-1, 8](np.zeros(64, np.int64)), kjit.LaunchError),
    "large number": (lambda k: k[1 << 70, 8], OverflowError), "called itself": (lambda k: k(1), TypeError),
    "forall of text": (lambda k: k.forall("x"), TypeError), "forall of negative": (lambda k: k.forall(-1), ValueError),
    "forall limited": (lambda k: k.forall(3).within(1), ValueError), "within text": (lambda k: k[1, 1].within("x"), TypeError),
    "made by hand": (lambda k: type(k)(), TypeError), "launcher made by hand": (lambda k: type(k[1, 1])(), TypeError),
}


@cases(REFUSED)
class Refused(unittest.TestCase):
    def check(self, call, error):
        with self.assertRaises(error):
            call(module(WHERE).where)


class Launches(unittest.TestCase):
    def setUp(self):
        self.mod = module(SAXPY)
        self.x, self.y = np.ones(1000, np.float32), np.zeros(1000, np.float32)

    def test_forall(self):
        self.mod.saxpy.forall(1000)(2.0, self.x, self.y)
        self.assertTrue((self.y == 2).all())

    def test_forall_in_a_stream(self):
        stream = kjit.stream()
        self.mod.saxpy.forall(1000, stream)(2.0, self.x, self.y)
        self.mod.saxpy.forall(n=1000, stream=stream)(2.0, self.x, self.y)
        stream.synchronize()
        self.assertTrue((self.y == 4).all())

    def test_stream(self):
        with kjit.stream() as stream:
            for _ in range(10):
                self.mod.saxpy[4, 256, stream](1.0, self.x, self.y)
        self.assertTrue((self.y == 10).all())

    def test_stream_0_is_none(self):
        self.mod.saxpy[4, 256, 0](1.0, self.x, self.y)
        self.mod.saxpy[4, 256, None](1.0, self.x, self.y)
        self.assertTrue((self.y == 2).all())

    def test_launcher_again_and_again(self):
        launcher = self.mod.saxpy[4, 256]
        for i in range(5):
            launcher(1.0, self.x, self.y)
        self.assertTrue((self.y == 5).all())

    def test_strides(self):
        y = np.zeros((1000, 3), np.float32)
        self.mod.saxpy[4, 256](3.0, self.x[::-1], y[:, 1])
        self.assertEqual((y[:, 1] == 3).all() and not y[:, [0, 2]].any(), True)

    def test_device_arrays(self):
        x, y = kjit.to_device(self.x), kjit.to_device(self.y)
        self.mod.saxpy[4, 256](2.0, x, y)
        self.assertTrue((y.copy_to_host() == 2).all())

    def test_within(self):
        kjit.Context(cancellable=True).compile(SAXPY).saxpy[4, 256].within(10000)(2.0, self.x, self.y)
        self.assertTrue((self.y == 2).all())

    def test_module_goes_first(self):
        launcher = kjit.compile(SAXPY).saxpy[4, 256]
        launcher(2.0, self.x, self.y)
        self.assertTrue((self.y == 2).all())

    def test_repr_and_names(self):
        kernel = self.mod.saxpy
        self.assertEqual((repr(kernel), kernel.__name__), ("<kernel saxpy>", "saxpy"))
        self.assertEqual(repr(kernel[4, (8, 2)]), "<kernel saxpy, grid (4, 1, 1), block (8, 2, 1)>")
        self.assertEqual(repr(kernel.forall(5)), "<kernel saxpy for 5 elements>")
        self.assertEqual((kernel == self.mod.saxpy, kernel != self.mod.saxpy, kernel == 3), (True, False, False))
        self.assertEqual(len({kernel, self.mod.saxpy}), 1)
        self.assertIs(kernel.module, self.mod)

    def test_doc(self):
        self.assertEqual(self.mod.saxpy.__doc__, "y += a * x\n\nkernel saxpy(a: f32, x: f32[], y: f32[])")

    def test_params(self):
        mod = module("run {\n    param n = 4 # how many\n    param u: f64[] = zeros(n, f64)\n    param c: f32[,]\n    print(u, c)\n}")
        self.assertEqual(mod.params, (("n", None, "4", "how many"), ("u", "f64[]", "zeros(n, f64)", None), ("c", "f32[,]", None, None)))
        c = np.zeros((2, 2), np.float32)
        mod.run(u=np.zeros(3), c=c)
        with self.assertRaisesRegex(kjit.ArgumentError, r"param 'u' takes f64\[\], not an array of f32, shape \(3,\): u = u.astype\(\"float64\"\) makes one$"):
            mod.run(u=np.zeros(3, np.float32), c=c)
        with self.assertRaisesRegex(kjit.ArgumentError, r"param 'c' takes f32\[,\], not an array of f32, shape \(4,\)$"):
            mod.run(c=c.ravel())
        with self.assertRaisesRegex(kjit.ArgumentError, r"param 'c' takes an array: a file's is pathlib.Path\('.*test_launch.py'\), or \"@.*test_launch.py\""):
            mod.run(c=__file__)

    def test_tests(self):
        mod = module('test "right" { assert(true) }\ntest "wrong" { assert(1 == 2, "no") }\ntest "fails" fails "at last" { assert(false, "at last") }')
        self.assertEqual(mod.tests, ("right", "wrong", "fails"))
        mod.test("right")
        mod.test("fails")
        with self.assertRaisesRegex(kjit.Fault, "2:23: error: assertion failed: no"):
            mod.test("wrong")
        with self.assertRaisesRegex(kjit.NotFoundError, "no test 'left'; tests: right, wrong, fails"):
            mod.test("left")
        self.assertEqual((module("kernel k() { }").tests, module("kernel k() { }").params), ((), ()))

    def test_what_is_meant(self):
        mod = module("kernel vecadd(_x: f32[], _n: i32[,]) { }")
        x, n = np.zeros(3, np.float32), np.zeros((2, 2), np.int32)
        with self.assertRaisesRegex(LookupError, "no kernel 'vecad': did you mean 'vecadd'"):
            mod["vecad"]
        with self.assertRaisesRegex(TypeError, r"shape \(3,\): _x = _x.astype\(\"float32\"\) makes one; <T: float> .* _x: T\[\] take both$"):
            mod.vecadd[1, 1](x.astype(np.float64), n)
        with self.assertRaisesRegex(TypeError, r"shape \(2, 2\): _n = _n.astype\(\"int32\"\) makes one; <T: int> .* _n: T\[,\] take both$"):
            mod.vecadd[1, 1](x, n.astype(np.int64))
        with self.assertRaisesRegex(TypeError, r"_n = _n.astype\(\"int32\"\) makes one$"):
            mod.vecadd[1, 1](x, n.astype(np.float32))
        with self.assertRaisesRegex(kjit.ShapeError, r"shape \(4,\)$"):
            mod.vecadd[1, 1](x, n.ravel())
        for level in (4, -1, None, "3"):
            with self.assertRaisesRegex(kjit.Error, "opt_level is .*: it is 0, not optimised, to 3"):
                module("kernel k() { }", opt_level=level)
        with self.assertRaisesRegex(kjit.ArgumentError, "'fastmath': @fastmath stands before the kernel"):
            module("kernel k() { }", fastmath=True)
        context = kjit.default_context()
        self.assertEqual(context.attribute("warp_size"), context.attribute("WARP_SIZE"))
        with self.assertRaisesRegex(kjit.InvalidError, "no attribute of the name 'warps'"):
            context.attribute("warps")

    def test_run_with_lists(self):
        mod = module("run { param s = [1]; param t = (1, 0.5); param x: f32[]; assert(len(s) == 3 and t[1] == 2 and x.sum() == 4) }")
        mod.run(s=[1, 2, np.int32(3)], t=(4, 2), x=[1.5, 2.5])
        with self.assertRaisesRegex(kjit.Error, "param 't' has 2 values"):
            mod.run(s=[1], t=(1, 2, 3), x=[1])
        with self.assertRaises(kjit.ArgumentError):
            mod.run(s=[[1]], x=[1])

    def test_parameters(self):
        mod = module("kernel k<T: float>(a: T,  # a factor\n x: T[], const n: i32 = 4) { x[0] = a + n }\nrecord P { x: f32 }\n")
        a, x, n = mod.k.parameters
        self.assertEqual((a.name, a.type, a.doc, a.generic, a.ndim, a.default), ("a", "T", "a factor", "T", 0, None))
        self.assertEqual((x.type, x.ndim, x.may_be_written, a.may_be_written), ("T[]", 1, True, False))
        self.assertEqual((n.const, n.default, n.generic, a.const), (True, "4", None, False))
        self.assertEqual(mod.records, ("P",))
        self.assertIn("P", dir(mod))
        self.assertEqual([p.name for p in self.mod.saxpy.parameters], ["a", "x", "y"])
        with self.assertRaises(kjit.NotFoundError):
            mod["none"].parameters

    def test_comments_of_any_encoding(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "latin.knl")
            path.write_bytes(b"# Gr\xf6\xdfe\nkernel k(x: f32[], # \xfcber\n n: i32) { x[0] = n }\n")
            kernel = kjit.compile(path).k
            self.assertEqual([p.doc for p in kernel.parameters], ["\ufffdber", None])
            self.assertTrue(kernel.__doc__.endswith("kernel k(x: f32[], n: i32)"))

    def test_requires(self):
        mod = module("kernel f(x: f32[], y: f32[]) { requires x.size == y.size; let i = grid(1); if i < y.size { y[i] = x[i] } }")
        with self.assertRaisesRegex(kjit.LaunchError, r"requires x.size == y.size"):
            mod.f[1, 1](self.x, self.y[:5])

    def test_number_of_axes(self):
        with self.assertRaises(kjit.ShapeError):
            self.mod.saxpy[1, 1](1.0, self.x.reshape(10, 100), self.y)


class Modules(unittest.TestCase):
    def test_kernels(self):
        mod = kjit.compile("kernel a(x: f32[]) { x[0] = 1.0 }\nkernel run_(x: f32[]) { x[0] = 2.0 }\nkernel emit(x: f32[]) { x[0] = 3.0 }")
        self.assertEqual(mod.kernels, ("a", "run_", "emit"))
        x = np.zeros(1, np.float32)
        mod.emit[1, 1](x)  # in front of the method of that name
        self.assertEqual(x[0], 3)
        self.assertTrue({"a", "emit", "run"} <= set(dir(mod)))
        self.assertIn("a, run_, emit", repr(mod))

    def test_none(self):
        with self.assertRaisesRegex(AttributeError, "saxpy"):
            module(SAXPY).saxpi
        with self.assertRaisesRegex(kjit.NotFoundError, "did you mean 'saxpy'"):
            module(SAXPY)["saxpi"][1, 1](1)
        with self.assertRaises(TypeError):
            module(SAXPY)[3]

    def test_used_files(self):
        sources = {"blur.knl": "kernel twice(x: f32[]) { let i = grid(1); if i < x.size { x[i] *= 2.0 } }"}
        mod = kjit.compile('use "blur.knl"\nkernel own(x: f32[]) { x[0] = 1.0 }', sources=sources, warn="off")
        x = np.ones(4, np.float32)
        mod["blur.twice"].forall(4)(x)
        self.assertEqual(x.tolist(), [2] * 4)

    def test_set_const(self):
        mod = kjit.compile("const table: f32[4]\nkernel f(x: f32[]) { let i = grid(1); if i < x.size { x[i] = table[i % 4] } }")
        x = np.zeros(4, np.float32)
        mod.set_const("table", np.arange(4, dtype=np.float32))
        mod.f[1, 4](x)
        self.assertEqual(x.tolist(), [0, 1, 2, 3])
        with self.assertRaises(kjit.NotFoundError):
            mod.set_const("tables", np.arange(4, dtype=np.float32))

    def test_emit(self):
        self.assertIn("saxpy", module(SAXPY).emit("llvm", "saxpy", (64, 1, 1)))
        self.assertIn("kernel", module(SAXPY).emit("ast"))
        with self.assertRaises(kjit.Error):
            module(SAXPY).emit("nothing")


if __name__ == "__main__":
    main()
