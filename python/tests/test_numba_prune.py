"""kjit.numba_port: what constants decide has no say in a variable's type. The values are Numba's own (0.68); in an int64 that was
a float64 before, 2 ** 53 + 1 becomes 2 ** 53."""
import unittest

import numpy as np

import kjit
from support import cases, main

N = 2 ** 53 + 1
TEXT = """
FLAG = 1
ZERO = 0
@cuda.jit
def k(a, o):
    {}
    o[1] = x
"""
ONE_OF = "if {}: x = 1.5\n    else: x = o[0]"
ROWS = {text: (text, value) for text, value in {
    "v = 0; x = v or a[0]": N, "v = 0; x = 1.5 if v else o[0]": N, "v = True; x = o[0] if v else 1.5": N,
    "v = 3; x = o[0]\n    if v > 5: x = 0.5": N, "v = 0; x = o[0]\n    while v: x = 1.5": N,
    "v = w = 0; x = 1.5 if v else o[0]": N, "v, w = 0, o[0]; x = 1.5 if v else w": N, "v: int = 0; x = v or a[0]": N,
    "w = 4; v = w > 5; x = 1.5 if v else o[0]": N, "w = 0; v = 1 if w else 0; x = 1.5 if v else o[0]": N,
    "v = 0 < 3 < 2; x = 1.5 if v else o[0]": N, "v = 3 // 7; x = v or a[0]": N, "x = 1.5 if FLAG * 0 else o[0]": N,
    "v = FLAG; x = o[0] if not v == 0 else 1.5": N, "x = 1.5 if a.ndim == 2 else o[0]": N,
    "x = 1.5 if o[0] and ZERO else o[0]": N, "x = o[0] if not (o[0] and ZERO) else 1.5": N,
    "x = (a[0] and 3) or o[0]": 3, "x = (a[0] or o[0]) and 3": 3, "x = (o[0] < 0 or ZERO) or a[0]": N,
    "v = 0\n    if o[0] == 7: v = 0\n    x = v or a[0]": N - 1,  # two values reach
    "if o[0]: v = 0\n    x = v or a[0]": N,                      # one does
    "v = not FLAG; x = 1.5 if v else o[0]": N - 1,                # Numba computes only what is one operation of two
    "v = 3; v += 1; x = o[0] if v else 1.5": N - 1, "v = o[0] * 0; x = 1.5 if v else o[0]": N - 1,
    "v, w = 0, 5; x = 1.5 if v else o[0]": N - 1,                 # Python's compiler makes one constant of both
    "for v in range(1): pass\n    x = 1.5 if v else o[0]": N - 1, "x = 1.5 if (FLAG * 2) * 0 else o[0]": N - 1,
    **{ONE_OF.format(test): N for test in ("ZERO", "v == 1 if ZERO else 0", "FLAG > 1", "not FLAG", "1 < FLAG < o[0]")},
}.items()}


@cases(ROWS)
class Decided(unittest.TestCase):
    def check(self, statements, value):
        a, o = np.array([N], np.uint64), np.array([N, 0])
        kjit.numba_port(TEXT.format(statements), warn="off")[1, 1](a, o)
        self.assertEqual(o[1], value)


class Texts(unittest.TestCase):
    def body(self, text, types):
        return kjit.numba_port(text, types, kernel="k").text

    def test_what_changes_no_type_stays(self):
        text = ("SAYS = 0\ndef k(x):\n    n = 2\n    if SAYS:\n        # the first\n        print(x[0])\n    x[0] = n\n")
        self.assertIn("    if false {\n        # the first\n        print(x[0])\n    }\n    x[0] = n\n", self.body(text, "i64[]"))
        text = text.replace("print(x[0])", "n = 0.5  # half")
        self.assertEqual("kernel k(x: i64[]) {\n    let n: i64 = 2\n    x[0] = n\n}\n", self.body(text, "i64[]"))

    def test_calls_are_made(self):
        text = self.body("@cuda.jit\ndef k(x):\n    v = 0\n    if cuda.atomic.add(x, 0, 1) > 3 and v:\n        x[1] = 2\n", "i64[]")
        self.assertIn("atomic.add(x, 0, 1) > 3", text)

    def test_parameters_that_are_none(self):
        text = ("def f(x, y=None, *, z=NOT):\n    if y is None:\n        y = 1.5\n    if z is not None:\n        return x * y + z\n"
                "    return x * y\nNOT = None\ndef g(x, y=None):\n    return f(x, y)\n@cuda.jit\ndef k(o):\n    v = 3\n"
                "    o[0] = f(o[7])\n    o[1] = f(o[7], 3)\n    o[2] = g(o[7], None) + g(o[7], 2)\n    o[3] = f(o[7], 3, z=v)\n"
                "    o[4] = f(o[7], NOT)\n").replace("NOT = None\n", "")
        o = np.full(8, 10.0)
        kjit.numba_port("NOT = None\n" + text, warn="off")[1, 1](o)
        self.assertEqual(o.tolist(), [15, 30, 35, 33, 15, 10, 10, 10])

    def test_none_elsewhere(self):
        for text, message in (
                ("def f(x, y=None): return x + y\ndef k(o): o[0] = f(1)", r"1:30: error: '\+' is of numbers, not of None"),
                ("def f(y=None): return y\ndef k(o): o[0] = f()", "1:23: error: a function returns no None here"),
                ("def f(y=None): return 1 if y else 2\ndef k(o): o[0] = f()", "1:28: error: None is no condition"),
                ("def g(o): o[1] = 3\ndef f(y): return 1\ndef k(o): o[0] = f(g(o))", "3:20: error: a function takes no None here"),
                ("V = None\ndef k(o): o[0] = V", "2:18: error: there is no None in a kernel")):
            with self.subTest(text), self.assertRaisesRegex(kjit.CompileError, message):
                kjit.numba_port(text, "f64[]", kernel="k")


if __name__ == "__main__":
    main()
