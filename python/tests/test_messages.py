"""Whatever a call of the package refuses is a kjit.Error, of Python's class too, and says what is meant."""
import array
import io
import pathlib
import sys
import tempfile
import unittest

import kjit
import numpy as np
from support import cases, main, module

SOURCE = """
record A { v: f32x2 }
kernel saxpy(a: f32, x: f32[], v: u32x2, p: A) { x[0] = a + f32(v.x) + p.v.x }
kernel any<T: float>(x: T[], y: T) { x[0] = y }
"""


OTHERS = """
const N = 3
fn half(x: f32) -> f32 { return x / 2 }
run twice(x) { return 2 * x }
kernel k(x: f32[]) { x[0] = half(x[0]) }
"""


class Odd:
    def __index__(self):
        raise ValueError("no index")


class Bad:
    __array_interface__ = {"typestr": "<f4"}


def launch(*arguments, **named):
    return lambda: module(SOURCE).saxpy[1, 1](*arguments, **named)


def x():
    return np.zeros(2, np.float32)


def d():
    return kjit.to_device(np.arange(6, dtype=np.float32))


def compiling(**options):
    return lambda: kjit.compile("kernel f(x: f32[]) { x[0] = 1.0 }", **options)


def setting(key, value):
    return lambda: d().__setitem__(key, value)


def saxpy():
    return module(SOURCE).saxpy


# what is called, Python's class, what the text has
ROWS = {
    "str for an array": (launch(1, "s"), TypeError, r"kernel 'saxpy': 'x' takes f32\[\], not a str$"),
    "None": (launch(1, None), TypeError, r"'x' takes f32\[\], not None$"),
    "list": (launch(1, [1, 2]), TypeError, r"'x' takes f32\[\], not a list: numpy.array\(..., numpy.float32\) makes an array"),
    "dict": (launch(1, {}), TypeError, r"'x' takes f32\[\], not a dict$"),
    "class": (launch(1, float), TypeError, "not the class float$"),
    "stream": (lambda: launch(1, kjit.stream())(), TypeError, r"not a Stream: a stream stands in the brackets, saxpy\[blocks, threads, stream\]"),
    "str within In": (launch(1, kjit.In("s")), TypeError, r"'x' takes f32\[\], not a str$"),
    "str for a number": (launch("s", 1), TypeError, "'a' takes f32, not a str$"),
    "str for a vector": (launch(1, x(), "s"), TypeError, "'v' takes u32x2, not a str$"),
    "str for a record": (launch(1, x(), (1, 2), p="s"), TypeError, "'p' takes A, not a str$"),
    "no such parameter": (launch(1, q="s"), ValueError, "there is no parameter 'q'"),
    "one too many": (launch(1, x(), (1, 2), ((1, 2),), "s"), ValueError, "5 arguments, it has 4 parameters"),
    "generic": (lambda: module(SOURCE).any[1, 1]("s", 1.0), TypeError, r"'x' takes T\[\], not a str$"),
    "text array": (launch(1, np.array(["a"])), TypeError, r"'x' takes f32\[\]: kernels have no elements of the type"),
    "dates": (launch(1, np.zeros(2, "M8[s]")), ValueError, r"'x' takes f32\[\]: "),
    "seven axes": (launch(1, np.zeros((1,) * 7, "f4")), ValueError, "6 axes at most"),
    "big int": (launch(1 << 70), OverflowError, "'a' takes f32: an int of Python's that does not fit in 64 bits"),
    "odd index": (launch(Odd()), ValueError, "'a' takes f32: no index"),
    "grid": (lambda: saxpy()["a", 1], TypeError, "a grid is an int or several, not 'a'"),
    "float grid": (lambda: saxpy()[1.5, 1], TypeError, "a grid is an int"),
    "huge grid": (lambda: saxpy()[1 << 70, 1], OverflowError, ""),
    "long grid": (lambda: saxpy()[(1, 2, 3, 4), 1], ValueError, "3 at most"),
    "no block": (lambda: saxpy()[1], ValueError, r"kernel\[grid, block\]"),
    "no brackets": (lambda: saxpy()(1), TypeError, r"saxpy\[blocks, threads\]"),
    "number for a stream": (lambda: saxpy()[1, 1, 5], TypeError, "a stream is meant"),
    "forall of text": (lambda: saxpy().forall("a"), TypeError, "forall"),
    "forall of less": (lambda: saxpy().forall(-1), ValueError, "-1 elements"),
    "within text": (lambda: saxpy()[1, 1].within("a"), TypeError, "number"),
    "no attribute": (lambda: module(SOURCE).nothing, AttributeError, "no kernel or record 'nothing'; kernels: saxpy, any$"),
    "a near name": (lambda: module(SOURCE).saxp, AttributeError, "no kernel or record 'saxp': did you mean 'saxpy'"),
    "a function that is called": (lambda: module(OTHERS).half(3.0), AttributeError,
                                  r"'half': it is a function of kernels, not callable from Python: write a kernel that calls it, x\[i\] = half"),
    "a function as an item": (lambda: module(OTHERS)["half"], kjit.NotFoundError, "it is a function of kernels, not callable from Python"),
    "a record as an item": (lambda: module("record Cell { at: f32 }\nkernel k(c: Cell[]) { c[0].at = 1 }")["Cell"], kjit.NotFoundError,
                            r"'Cell': it is a record, record\(\) has it; kernels: k"),
    "a run function": (lambda: module(OTHERS).twice(3.0), AttributeError, "a function of the run block, not callable from Python: run"),
    "a constant": (lambda: module(OTHERS).N, AttributeError, r"'N': it is a constant, .* filled by set_const\(\); kernels: k$"),
    "astype of an array": (lambda: d().astype("f8"), AttributeError, r"has no 'astype': numpy.asarray\(a\).astype"),
    "sum of an array": (lambda: d().sum(), AttributeError, r"has no 'sum': numpy.asarray\(a\).sum is NumPy's"),
    "what no array has": (lambda: d().nothing, AttributeError, "an array has no 'nothing'$"),
    "a view that is none": (lambda: d().reshape(2, 3).T.ravel(), ValueError,
                            r"copy it to an array in C order first: kjit.to_device\(a.copy_to_host\(\)\) is one"),
    "an array of another context": (lambda: launch(1, kjit.Context("cpu").to_device(x()), (1, 2), ((1, 2),))(), ValueError,
                                    r"the array for 'x' belongs to another context: .* mod.context.to_device\(a.copy_to_host\(\)\)"),
    "no record": (lambda: module(SOURCE).record("B"), LookupError, "no record 'B'; records: A"),
    "no kernel": (lambda: module(SOURCE)["nothing"][1, 1](), LookupError, "no kernel 'nothing'"),
    "debug": (compiling(debug=True), TypeError, 'no option \'debug\': indices are always looked at, and check="race"'),
    "misspelled option": (compiling(opt_leve=1), TypeError, "did you mean opt_level"),
    "unknown option": (compiling(quite_else=1), TypeError, "there are context, name"),
    "check": (compiling(check="q"), ValueError, "there is no check"),
    "option of another type": (compiling(cpu=5), TypeError, "cpu is a text, not an int"),
    "folders": (compiling(path=5), TypeError, "path is a text, or several in a list, not an int"),
    "check of another type": (compiling(check=5), TypeError, "check is a text"),
    "folders of another type": (compiling(path=[5]), TypeError, "path is a text"),
    "interface without a shape": (lambda: kjit.asarray(Bad()), TypeError, "__array_interface__ has no 'shape'"),
    "class with an interface": (launch(1, np.float32), TypeError, "not the class float32$"),
    "DLPack's types": (lambda: kjit.from_dlpack(np.zeros(2, ">f4")), TypeError, ""),
    "axes": (lambda: d().transpose(np.array(1.5)), TypeError, "axes"),
    "index of NumPy's": (lambda: d()[np.array(1.5)], TypeError, ""),
    "sources": (compiling(sources=5), TypeError, "sources is"),
    "NUL": (compiling(name="a\0"), ValueError, "null character"),
    "function": (lambda: kjit.compile(x), TypeError, "not a function: kernels are texts in kjit's language"),
    "bytes": (lambda: kjit.compile(b"kernel"), TypeError, r"source.decode\(\)"),
    "None for a source": (lambda: kjit.compile(None), TypeError, "not None"),
    "list of indices": (lambda: d()[[0, 1]], TypeError, r"not a list: copy_to_host\(\)\[...\] picks several"),
    "array of indices": (lambda: d()[np.array([0, 1])], TypeError, "not an array: copy_to_host"),
    "new axis": (lambda: d()[None], TypeError, "an index is an int or a slice, not None"),
    "float index": (lambda: d()[1.5], TypeError, "not a float"),
    "index outside": (lambda: d()[99], IndexError, "out of bounds for axis 0 with size 6"),
    "too many indices": (lambda: d()[0, 0], IndexError, "2 indices for 1 axes"),
    "slice of text": (lambda: d()["a":], TypeError, "a slice has ints"),
    "step of 0": (lambda: d()[::0], ValueError, "zero"),
    "too long a list": (setting(slice(0, 2), [1, 2, 3]), ValueError, "3 values for an axis of 2"),
    "a list within": (setting(slice(0, 2), [[1], [2]]), TypeError, "is no f32"),
    "text for an element": (setting(0, "1"), TypeError, "'1' is no f32"),
    "list for an element": (setting(0, [1]), TypeError, "is no f32"),
    "a number that is too large": (setting(slice(0, 2), [1e39, 1]), TypeError, "does not fit"),
    "fill u8 of a float": (lambda: kjit.device_array(3, "u8").fill(1.5), TypeError, "1.5 is no u8"),
    "fill u8 beyond": (lambda: kjit.device_array(3, "u8").fill(300), TypeError, "300 is no u8"),
    "fill u8 of NumPy's": (lambda: kjit.device_array(3, "u8").fill(np.float32(1)), TypeError, "is no u8"),
    "fill i32 of a bool": (lambda: kjit.device_array(3, "i32").fill(True), TypeError, "True is no i32"),
    "fill bool of an int": (lambda: kjit.device_array(3, "bool").fill(1), TypeError, "1 is no bool"),
    "list as an array": (lambda: kjit.to_device([1, 2]), TypeError, r"a list is no array, and has no memory of one: numpy.array\(...\)"),
    "number as an array": (lambda: kjit.asarray(5), TypeError, "an int is no array"),
    "DLPack of nothing": (lambda: kjit.from_dlpack(5), TypeError, "an int has no __dlpack__"),
    "type": (lambda: kjit.device_array(3, "nonsense"), TypeError, "'nonsense' is no type of elements"),
    "shape": (lambda: kjit.device_array("a"), TypeError, "a shape is an int or several, not 'a'"),
    "memory": (lambda: kjit.default_context().array(3, memory="q"), ValueError, "there is no memory 'q'"),
    "buffer of vectors": (lambda: memoryview(kjit.device_array(3, "f32x4")), BufferError, "scalars|device"),
    "interface": (lambda: kjit.asarray(x()).__cuda_array_interface__, AttributeError, "GPU"),
    "field": (lambda: d().field(4), TypeError, "a field's name is meant, not 4"),
    "attribute": (lambda: kjit.default_context().attribute(5), TypeError, "an attribute's name is meant, not 5"),
    "limit": (lambda: kjit.Context("cpu", limits={"array_bytes": -1}), OverflowError, ""),
    "context": (lambda: kjit.set_default_context(4), TypeError, "a context is meant, not an int"),
    "event": (lambda: kjit.stream().wait(4), TypeError, "an event is meant"),
    "deadline": (lambda: kjit.default_context().set_deadline("a"), TypeError, "number"),
    "form": (lambda: saxpy().emit(4), TypeError, "the form's name is meant"),
    "run of None": (lambda: kjit.compile("run { param n = 1; print(n) }").run(n=None), TypeError, "'n' takes a number, a text, a path or an array, not None"),
    "run of a list": (lambda: kjit.compile("run { param n = 1; print(n) }").run(n=[1]), TypeError, "not a list: numpy.array"),
    "save": (lambda: kjit.compile("run { print(1) }").run(save=5), TypeError, "save is"),
}


@cases(ROWS)
class Refused(unittest.TestCase):
    def check(self, call, python, text):
        with self.assertRaisesRegex(python, text) as caught:
            call()
        self.assertIsInstance(caught.exception, kjit.Error)
        self.assertTrue(caught.exception.status.startswith("KJIT_"))


class Lists(unittest.TestCase):
    def test_slices(self):
        a = kjit.to_device(np.zeros((2, 3), np.float32))
        a[1] = [1, 2, 3]
        a[:, 0] = (7, 8)
        a[0, 1:] = range(2)
        self.assertEqual(a.copy_to_host().tolist(), [[7, 0, 1], [8, 2, 3]])
        a[:] = [[1, 2, 3], np.arange(3)]
        self.assertEqual(a.copy_to_host().tolist(), [[1, 2, 3], [0, 1, 2]])
        for kind, value in (("u8", [1, 255]), ("bool", [True, False]), ("c64", [1j, 2]), ("f16", [0.5, 2]), ("i64", [-1 << 63, 5])):
            b = kjit.device_array(2, kind)
            b[:] = value
            self.assertEqual([b[0], b[1]], value)

    def test_of_vectors_and_records(self):
        v = kjit.device_array(2, "f32x2")
        v[:] = [(1, 2), (3, 4)]
        self.assertEqual((tuple(v[0]), tuple(v[1])), ((1, 2), (3, 4)))
        v[:] = [5, 6]  # one element, for all
        self.assertEqual((tuple(v[0]), tuple(v[1])), ((5, 6), (5, 6)))
        r = kjit.device_array(2, module(SOURCE).A)
        r[:] = [((1, 2),), ((3, 4),)]
        self.assertEqual(r[1]["v"].tolist(), [3, 4])
        r[:] = ((5, 6),)
        self.assertEqual((r[0]["v"].tolist(), r[1]["v"].tolist()), ([5, 6], [5, 6]))
        r.fill(0)
        self.assertEqual(r[0]["v"].tolist(), [0, 0])

    def test_empty(self):
        a = kjit.device_array(0, "f32")
        a[:] = []
        self.assertEqual(a.size, 0)


class Numbers(unittest.TestCase):
    def test_of_numpy(self):
        u = kjit.device_array(2, "u8")
        for value in (np.uint8(4), np.int64(4), np.array(4), 4):
            u.fill(0)
            u.fill(value)
            self.assertEqual(u.copy_to_host().tolist(), [4, 4])

    def test_causes(self):
        with self.assertRaises(kjit.InvalidError) as caught:
            launch(Odd())()
        self.assertEqual(str(caught.exception.__cause__), "no index")


class Forms(unittest.TestCase):
    def test_arch(self):
        mod = kjit.compile("kernel f(x: f32[]) { x[grid(1)] = 1.0 }\nkernel emit(x: f32[]) { x[0] = 2.0 }")
        for arch in ("sm_75", "sm_90"):
            self.assertIn(f".target {arch}", mod.f.emit("ptx", arch=arch))
        self.assertIn("sm_80", kjit.compile("kernel g(x: f32[]) { x[0] = 1.0 }", arch="sm_80").g.emit("ptx", 32))
        self.assertIn("reqntid 32", kjit.compile("kernel g(x: f32[]) { x[0] = 1.0 }", arch="sm_80").g.emit("ptx", (32, 1)))
        self.assertNotEqual(mod.f.emit("opt", opt_level=0), mod.f.emit("opt"))
        self.assertEqual(mod.f.emit("opt", opt_level=3), kjit.Module.emit(mod, "opt", "f"))
        with self.assertRaises(kjit.Error):
            mod.f.emit("ptx", arch="sm_9000")

    def test_of_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "k.knl")
            path.write_text("kernel f(x: f32[]) { x[0] = 1.0 }")
            self.assertIn("sm_80", kjit.compile(path).f.emit("ptx", arch="sm_80"))


class Names(unittest.TestCase):
    """Kernels and records that are called as attributes of modules."""

    def test_kernels(self):
        names = ("source", "records", "emit", "kernels", "_emit", "_run", "__doc__", "_record", "_options", "_kernels")
        mod = kjit.compile("".join(f"kernel {name}(x: f32[]) {{ x[0] = {i}.0 }}\n" for i, name in enumerate(names)), warn="off")
        for i, name in enumerate(names):
            y = x()
            mod[name][1, 1](y)
            self.assertEqual(y[0], i)
        self.assertEqual([type(getattr(mod, name)) for name in names[:4]], [kjit.Kernel] * 4)
        self.assertIn("kernel source", kjit.Module.source.fget(mod))
        self.assertEqual(kjit.Module.records.fget(mod), ())
        self.assertIn("source", kjit.Module.emit(mod, "ast", "source"))
        self.assertEqual(kjit.Module.kernels.fget(mod), names)

    def test_records(self):
        mod = kjit.compile("record source { x: f32 }\nkernel f(p: source[]) { p[0].x = 1.0 }", warn="off")
        self.assertEqual(mod.record("source").fields["x"][0], "f32")
        self.assertIsInstance(mod.source, str)

    def test_files_by_two_names(self):
        mod = kjit.compile('use "lib.knl" as a\nuse "lib.knl" as b\nkernel k(x: f32[]) { b.set(x) }',
                           sources={"lib.knl": "fn set(x: f32[]) { x[0] = 1.0 }\nkernel two(x: f32[]) { x[0] = 2.0 }"})
        for name in ("a.two", "b.two"):
            y = x()
            mod[name][1, 1](y)
            self.assertEqual(y[0], 2)


def printed(call):
    before, sys.stdout = sys.stdout, io.StringIO()
    try:
        call()
        return sys.stdout.getvalue()
    finally:
        sys.stdout = before


class Running(unittest.TestCase):
    def test_arrays(self):
        mod = kjit.compile("run { param x: f32[,] = zeros((1, 1)); param n = 0; print(x.sum(), x.shape, n) }")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "x.npy")
            np.save(path, np.ones((2, 3), np.float32))
            for value in (path, f"@{path}", np.ones((2, 3), np.float32), kjit.to_device(np.ones((2, 3), np.float32)),
                          np.ones((3, 2), np.float32).T, memoryview(np.ones((2, 3), np.float32))):
                self.assertEqual(printed(lambda: mod.run(x=value, n=np.int32(3))), "6.0 (2, 3) 3\n")

    def test_saved(self):
        mod = kjit.compile("run { param x: i32[] = zeros(1, i32); let y = x + 1 }", warn="off")
        with tempfile.TemporaryDirectory() as folder:
            mod.run(x=array.array("i", [1, 2]), save={"y": pathlib.Path(folder, "y.npy")})
            self.assertEqual(np.load(pathlib.Path(folder, "y.npy")).tolist(), [2, 3])


class Parameters(unittest.TestCase):
    def test_dtype_and_bound(self):
        mod = module("record P { a: f32 }\nkernel f<T: float, U>(x: T[,], u: U, p: P[], const n: i32 = (1 + 2), v: u8x4, b: bf16[]) "
                     "{ x[0, 0] = T(n); p[0].a = f32(v.x) + f32(b[0]) }", warn="off")
        got = {p.name: (p.dtype, p.bound, p.generic, p.ndim) for p in mod.f.parameters}
        self.assertEqual((got["x"], got["u"]), ((None, "float", "T", 2), (None, None, "U", 0)))
        self.assertEqual((got["p"][0], got["n"][0], got["v"][0], got["b"][0]), (mod.P.dtype, np.dtype("i4"), np.dtype(("u1", (4,))), "bf16"))
        self.assertEqual(mod.f.parameters[3].default, "(1 + 2)")


if __name__ == "__main__":
    main()
