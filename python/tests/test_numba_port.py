"""kjit.numba_port: kernels of Numba's, ported and launched, give what they give as Python."""
import array
import linecache
import math
import pathlib
import sys
import tempfile
import unittest

import numpy as np

import kjit
import numba_documented
import numba_kernels
from numba_emulator import CASES, cuda
from support import cases, main


def copies(arguments):
    return [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]


assert numba_documented and numba_kernels  # they fill CASES


@cases(CASES)
class Ported(unittest.TestCase):
    def check(self, function, arguments, grid, block, barriers):
        given, expected = copies(arguments), copies(arguments)
        port = kjit.numba_port(function, warn="off")
        port[grid, block](*given)
        with np.errstate(all="ignore"):
            cuda.run(function, grid, block, expected, barriers)
        changed = False
        for before, have, want in zip(arguments, given, expected):
            if not isinstance(have, np.ndarray):
                continue
            changed |= have.tobytes() != before.tobytes()
            columns = [(have[n], want[n]) for n in have.dtype.names] if have.dtype.names else [(have, want)]
            for one, other in columns:
                if one.dtype.kind in "fc":
                    size = one.real.dtype.itemsize
                    np.testing.assert_allclose(
    one,
    other,
    rtol={
        2: 2e-3,
        4: 2e-6,
        8: 1e-13}[size],
        atol={
            2: 1e-2,
            4: 4e-6,
             8: 1e-13}[size])
                else:
                    np.testing.assert_array_equal(one, other)
        self.assertTrue(changed)


SOURCE = """
import math
import numpy as np
from numba import cuda, float32, float64, int64, void
from numba.cuda.random import xoroshiro128p_uniform_float32

SCALE = 2.5
TABLE = np.array([[1, 2], [3, 4]], dtype=np.int32)

@cuda.jit(device=True)
def scaled(x):
    return SCALE * x

@cuda.jit(void(float32[:], int64))
def first(x, n):
    i = cuda.grid(1)
    if i < n:                                   # the guard
        x[i] = scaled(x[i]) + TABLE[1, i % 2]

@cuda.jit(["void(float32[:])", "void(float64[:])"])
def second(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] /= 3

@cuda.jit(launch_bounds=(64, 2), max_registers=32, debug=True)
def third(x, rows):
    s = cuda.shared.array(0, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    x[t] = s[rows - 1 - t]

@cuda.jit
def draw(states, n, inside):
    i = cuda.grid(1)
    for k in range(n):
        x = xoroshiro128p_uniform_float32(states, i)
        y = xoroshiro128p_uniform_float32(states, i)
        if x**2 + y**2 <= 1.0:
            cuda.atomic.add(inside, 0, 1)

@cuda.jit
def outside(x):
    i = cuda.grid(1)
    x[i + 1] = 1
"""
FIRST = """const SCALE = 2.5
const TABLE: i32[,] = [[1, 2], [3, 4]]

fn scaled(x: f32) -> f64 {
    return SCALE * f64(x)
}

kernel first(x: f32[], n: i64) {
    let i = grid(1)
    if i < n {
        x[i] = f32(scaled(x[i]) + TABLE[1, i % 2])
    }
}
"""


class Uses(unittest.TestCase):
    def port(self, kernel, *signature, **options):
        return kjit.numba_port(SOURCE, *signature, kernel=kernel, file="source.py", **options)

    def test_text_and_module(self):
        port = self.port("first")
        self.assertEqual((port.text, str(port), port.signatures), (FIRST, FIRST, ["f32[], i64"]))
        self.assertEqual(port.module.kernels, ("first",))
        x = np.ones(4, np.float32)
        port[1, 32](x, 4)
        self.assertEqual(x.tolist(), [5.5, 6.5, 5.5, 6.5])
        self.assertEqual(repr(port), "<kjit port of first: f32[], i64>")

    def test_types_of_a_launch(self):
        port = self.port("second")
        x, y = np.ones(2, np.float32), np.ones(2, np.float64)
        port[1, 2](x)
        port.forall(2)(y)
        self.assertEqual((x[0], y[1]), (np.float32(1 / 3), 1 / 3))
        with self.assertRaisesRegex(kjit.ArgumentError, r"kernel 'second' is not ported for \(int32\[:\]\)"):
            port[1, 2](np.ones(2, np.int32))
        port = self.port("outside")
        for of in (np.int8, np.float64, np.complex128):
            x = np.zeros(3, of)
            port[1, 2](x)
            self.assertEqual(x.tolist(), [0, 1, 1])
        self.assertEqual(port.signatures, ["i8[]", "f64[]", "c128[]"])
        plain = array.array("d", [0, 0])
        port[1, 1](plain)
        self.assertEqual(plain.tolist(), [0, 1])
        self.assertIn("kernel outside(x: f64[])", port.text_for(plain))

    def test_forms_of_signatures(self):
        texts = {self.port("first", form).text for form in
                 ("f32[], i64", "void(float32[:], int64)", "(float32[::1], int64)", "f4[:], i8", ["f32[], i64"],
                  (np.ones(1, np.float32), 3), ("f32[]", 3))}
        self.assertEqual(texts, {FIRST})
        self.assertIn("x: i8[]", self.port("outside", "i8[]").text)  # kjit's names; between Numba's brackets they are Numba's
        self.assertIn("x: i64[]", self.port("outside", "void(i8[:])").text)
        self.assertIn("(t: (i64, f64), x: f32[,])",
                      kjit.numba_port("def k(t, x): x[0, 0] = t[0] * t[1]", "(i64, f64), f32[,]").text)

    def test_shared_memory_of_the_launch(self):
        port = self.port("third")
        x = np.arange(8, dtype=np.float32)
        port[1, 8, 0, 32](x, 8)
        self.assertEqual(x.tolist(), [7, 6, 5, 4, 3, 2, 1, 0])
        self.assertTrue(port.text.startswith("# An index"))
        self.assertIn("@launch_bounds(64, 2)\n@max_registers(32)\nkernel third(", port.text)

    def test_random_numbers(self):
        states = kjit.xoroshiro128p_states(64, 1)
        self.assertEqual(states[1].item(), (8341117667364343960, 7824662623250379246))
        self.assertEqual(kjit.xoroshiro128p_states(1, 1, subsequence_start=1)[0].item(), states[1].item())
        inside = np.zeros(1, np.int32)
        self.port("draw")[2, 32](states, 1000, inside)
        self.assertAlmostEqual(4 * inside[0] / 64000, math.pi, delta=0.02)

    def test_faults_have_the_line_of_python(self):
        with self.assertRaises(kjit.Fault) as caught:
            self.port("outside")[1, 4](np.ones(3, np.float32))
        self.assertIn("outside.knl:3:7: error: index 3 is outside of 'x'", str(caught.exception))
        self.assertIn("source.py:46: note: ported from here\n   46 |     x[i + 1] = 1", str(caught.exception))

    def test_errors_of_the_compiler_have_the_line_of_python(self):
        text = "def k(x):\n    g = cuda.cg.this_grid()\n    if cuda.grid(1) < x.size:\n        x[0] = 1\n        g.sync()\n"
        with self.assertRaisesRegex(kjit.CompileError, r"(?s)not all threads of the grid.*k.py:5: note: ported from here\n"
                                                       r"    5 \|         g.sync\(\)"):
            kjit.numba_port(text, "f32[]", file="k.py").module

    def test_places_in_functions_of_other_files(self):
        """A function that is an object of its own has lines of its own file."""
        names = {"cuda": cuda}
        put = "def put(x, i):\n    x[i + 1] = 1\n"
        linecache.cache["put.py"] = (len(put), None, put.splitlines(True), "put.py")
        exec(compile("\n" + put, "put.py", "exec"), names)  # pylint: disable=exec-used
        linecache.cache["put.py"] = (len(put) + 1, None, ["\n"] + put.splitlines(True), "put.py")
        put = names["put"]

        def kernel(x):
            put(x, cuda.grid(1))
        with self.assertRaises(kjit.Fault) as caught:
            kjit.numba_port(kernel)[1, 4](np.ones(4, np.float32))
        self.assertIn("\nput.py:3: note: ported from here\n    3 |     x[i + 1] = 1", str(caught.exception))

    def test_long_sums(self):
        """As deep as the language's own expressions may be, and no deeper; Python's limit is as it was."""
        limit = sys.getrecursionlimit()

        def text(n):
            return f"def k(x):\n    i = cuda.grid(1)\n    x[i] = {' + '.join(['x[i]'] * n)}\n"
        x = np.ones(2, np.float32)
        kjit.numba_port(text(900))[1, 2](x)
        self.assertEqual(x.tolist(), [900, 900])
        with self.assertRaisesRegex(kjit.CompileError, r"k.py:3:5: error: nested too deeply: more than 1000 operators"):
            kjit.numba_port(text(1100), "f32[]", file="k.py")
        with self.assertRaisesRegex(kjit.CompileError, "k.py:1:1: error: nested too deeply"):
            kjit.numba_port(f"def k(x):\n    x[0] = {'-' * 100000}1\n", "f32[]", file="k.py")
        self.assertEqual(sys.getrecursionlimit(), limit)

    def test_what_is_known_of_an_index_ends(self):
        """Indices that were not negative and are by then: as Python has them, from the end."""
        def stored_between(x, out):
            if x[0] >= 0:
                x[0] = -2
                out[0] = x[x[0]]

        def lowered_between(x, out):
            if x[1] >= 0:
                x[1] -= 3
                out[0] = x[x[1]]

        def stop_that_changes(x, out):
            n = 4
            for i in range(n):
                out[i] = x[n - 1 - i]
                n = 0

        def start_that_changes(x, out):
            s = 0
            for i in range(s, 4):
                out[i] = x[i - s]
                s += 3

        def behind_a_loop(x, out):
            i = 0
            for i in range(3):
                out[i] = x[i]
            else:
                i = -1
            out[3] = x[i]
            while i > 0:
                i -= 1
            else:
                i = -2
            out[4] = x[i]

        def annotated(x, out):
            i = 3
            i: int = -1
            out[0] = x[i]

        def of_two_targets(x, out):
            i = 1
            i = j = i - 1
            out[0] = x[i - j - 1]

        def shifted_out(x, out):
            k = 63
            out[0] = x[(1 << k) >> 61]

        def left_by_break(x, out):
            i = 2
            while True:
                if i < 0:
                    break
                i -= 1
            out[0] = x[i]

        for function in (stored_between, lowered_between, stop_that_changes, start_that_changes, behind_a_loop, annotated,
                         of_two_targets, shifted_out, left_by_break):
            with self.subTest(function.__name__):
                x, out = np.arange(10, 18), np.zeros(8, np.int64)
                x[:2] = 3, 2
                want, expected = x.copy(), out.copy()
                if function is shifted_out:
                    expected[0] = x[-4]  # of 64 bits
                else:
                    function(want, expected)
                kjit.numba_port(function, warn="off")[1, 1](x, out)
                self.assertEqual((x.tolist(), out.tolist()), (want.tolist(), expected.tolist()))

    def test_variables_with_names_of_what_is_written(self):
        def kernel(x, out):
            power_i64 = 3
            atomic_max_f64_1 = 2
            out[0] = x[1] ** power_i64 + x[0] ** atomic_max_f64_1
        out = np.zeros(1, np.int64)
        kjit.numba_port(kernel)[1, 1](np.array([2, 3]), out)
        self.assertEqual(out[0], 31)

    def test_closures(self):
        def make(n, table):
            def kernel(x):
                i = cuda.grid(1)
                x[i] = x[i] * n + table[i]
            return kernel
        x = np.ones(2)
        kjit.numba_port(make(3, np.array([10.0, 20.0])))[1, 2](x)
        self.assertEqual(x.tolist(), [13, 23])
        kjit.numba_port(make(5, np.array([0.5, 1])))[1, 2](x)
        self.assertEqual(x.tolist(), [65.5, 116])

    def test_negation_in_its_own_bits(self):
        x, out = np.array([5], np.uint8), np.zeros(4, np.int64)
        kjit.numba_port("def k(x, out):\n    out[0] = -x[0]\n    out[1] = ~x[0]\n    v = -x[0]\n    out[2] = v + 1\n"
                        "    out[3] = x[0] - 6\n")[1, 1](x, out)
        self.assertEqual(out.tolist(), [251, 250, 252, -1])

    def test_a_value_that_is_kept_in_its_own_type(self):
        text = ("def k(n, out):\n    v = n * 3\n    out[0] = v // 2\n    for i in range(2):\n        v = v + 0.5\n"
                "    out[1] = int(v)\n")
        out = np.zeros(2, np.int64)
        port = kjit.numba_port(text)
        port[1, 1](2 ** 60 + 1, out)
        self.assertEqual(out.tolist(), [(3 * (2 ** 60 + 1)) // 2, 3 * 2 ** 60])
        self.assertIn("    let v_i64 = n * 3\n    var v: f64 = v_i64\n    out[0] = v_i64 // 2\n", port.text)

    def test_constants_decide(self):
        text = "def k(out):\n    x = 1 if not 8 else 0.5\n    out[0] = (0.5 and out[1] > 3) / 2 + x + (True + True) / 4\n"
        out = np.array([0.0, 5.0])
        kjit.numba_port(text)[1, 1](out)
        self.assertEqual(out[0], 0.5 + 0.5 + 0.5)

    def test_a_port_has_what_names_mean_now(self):
        names = {"N": 2, "cuda": cuda}
        text = "def kernel(x):\n    x[0] = N\n"
        linecache.cache["now.py"] = (len(text), None, text.splitlines(True), "now.py")
        exec(compile(text, "now.py", "exec"), names)
        for number in (2, 5):
            names["N"] = number
            x = np.zeros(1)
            kjit.numba_port(names["kernel"])[1, 1](x)
            self.assertEqual(x[0], number)

    def test_defaults_are_what_they_were(self):
        names = {"cuda": cuda}
        text = ("S, T = 3, (1, 2)\ndef made(at):\n    def inner(x, k=at + 1): return x * k\n    return inner\n"
                "f, g = made(1), made(2)\ndef h(x, n=S, m=T[1], *, s=1.5, r=len(T)): return x * n + m * s + r\nS = 9\n"
                "def kernel(x):\n    x[0] = f(10)\n    x[1] = g(10)\n    x[2] = h(1)\n    x[3] = h(1, 2, s=4.0)\n")
        linecache.cache["then.py"] = (len(text), None, text.splitlines(True), "then.py")
        exec(compile(text, "then.py", "exec"), names)
        x, wanted = np.zeros(4), np.zeros(4)
        names["kernel"](wanted)
        kjit.numba_port(names["kernel"])[1, 1](x)
        self.assertEqual(x.tolist(), wanted.tolist())
        with self.assertRaisesRegex(kjit.CompileError, "the default of 'n' is no constant"):
            kjit.numba_port("D = 3\ndef f(x, n=D): return x * n\nD = 5\ndef k(x): x[0] = f(1)\n", "f64[]").text
        x = np.zeros(1)
        kjit.numba_port("D = 3\ndef f(x, n=D, *, s=2): return x * n * s\ndef k(x): x[0] = f(1)\n")[1, 1](x)
        self.assertEqual(x[0], 6)

    def test_the_kernel_of_a_text_is_what_no_other_function_calls(self):
        x = np.arange(4)
        kjit.numba_port("def f(p, x):\n    return p[0] + x[p[1]], (p, 2.5)\ndef k(x):\n    q = f((5, 2), x)\n"
                        "    x[0] = q[0] + q[1][1] * q[1][0][0]\n")[1, 1](x)
        self.assertEqual(x[0], 19)

    def test_wraparound(self):
        text = "def k(x, n):\n    x[n] = 1\n"
        self.assertIn("x[wrapped(n, x.size)] = 1", kjit.numba_port(text, "f32[], i64").text)
        self.assertIn("    x[n] = 1\n", kjit.numba_port(text, "f32[], i64", wraparound=False).text)
        self.assertIn("    x[n] = 1\n", kjit.numba_port(text, "f32[], u64").text)

    def test_files_and_arguments(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "kernels.py")
            path.write_text(SOURCE)
            port = kjit.numba_port(path, kernel="second")
        d = kjit.to_device(np.full(2, 6.0))
        port[1, 2](d)
        port[1, 2](kjit.In(np.ones(2, np.float32)))
        self.assertEqual(d.copy_to_host().tolist(), [2, 2])
        port = kjit.numba_port("def k(x, z, t): x[0] = z * t[0] + t[1]")
        x = np.zeros(1, np.complex64)
        port[1, 1](x, 2j, (2, 0.5))
        self.assertEqual(x[0], 0.5 + 4j)


if __name__ == "__main__":
    main()
