"""Kernels of Numba's that are not ported: what is said of each of numba_refused.txt, and where."""
import pathlib
import unittest

import kjit
from support import cases, main


def refused():
    """{what it is about: (types of the parameters, source, message)}"""
    text = (pathlib.Path(__file__).parent / "numba_refused.txt").read_text()
    rows = {}
    for part in text.split("\n== ")[1:]:
        head, _, rest = part.partition("\n")
        name, _, types = head.partition(": ")
        source, _, message = rest.partition("\n--\n")
        rows[name] = (types, source + "\n", message.rstrip("\n"))
    return rows


@cases(refused())
class Refused(unittest.TestCase):
    def check(self, types, source, message):
        with self.assertRaises(kjit.CompileError) as caught:
            kjit.numba_port(source, types, kernel="k", file="k.py")
        self.assertEqual(str(caught.exception), message)
        for d in caught.exception.diagnostics:
            self.assertEqual(
    (d.file, d.severity, f"k.py:{d.line}:{d.column}: error: {d.message}" in message), ("k.py", "error", True))


class Sources(unittest.TestCase):
    def test_there_are_many(self):
        self.assertGreater(len(refused()), 50)

    def test_no_python(self):
        with self.assertRaisesRegex(kjit.CompileError, r"(?s)^k.py:2:8: error: no Python: .*\n    2 |     if n = 3:\n"):
            kjit.numba_port("def k(x, n):\n    if n = 3:\n        x[0] = 1\n", "f32[], i64", file="k.py")

    def test_what_is_no_source(self):
        for given, text in ((3, "a function is meant, or the text of one, not an int"), ("x = 1", "the source has no function"),
                            (lambda x: x, "a lambda has no text of its own"),
                            ("def f(x): pass\ndef g(x): pass\n", "the source has 2 kernels: kernel=\"...\" says which is meant")):
            with self.subTest(text), self.assertRaisesRegex(kjit.ArgumentError, text):
                kjit.numba_port(given, "f32[]")

    def test_signatures(self):
        for given in ("f33[]", "void(float31[:])", 3, ["f32[]", 3]):
            with self.subTest(given), self.assertRaisesRegex(kjit.ArgumentError, "signature"):
                kjit.numba_port("def k(x): x[0] = 1", given)
        with self.assertRaisesRegex(kjit.LaunchError, "kernel 'k': 2 arguments, it has 1 parameters"):
            kjit.numba_port("def k(x): x[0] = 1", "f32[], i64")
        with self.assertRaisesRegex(kjit.InvalidError, "the types of x are not known: give them, numba_port"):
            kjit.numba_port("def k(x): x[0] = 1").text
        with self.assertRaisesRegex(kjit.ArgumentError, "has no option 'fast'"):
            kjit.numba_port("def k(x): x[0] = 1", "f32[]", fast=True)


if __name__ == "__main__":
    main()
