"""%%knl: cells of notebooks, in a stand-in for IPython's shell, and in IPython where that is installed."""
import contextlib
import io
import os
import tempfile
import unittest

import kjit
from support import main

try:
    import numpy
except ImportError:
    numpy = None
try:
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config
except ImportError:
    InteractiveShell = None

DOUBLE = "kernel double(x: i32[]) {\n    let i = grid(1)\n    if i < x.size { x[i] *= 2 }\n}\n"


class Shell:
    """What kjit takes of IPython's."""

    def __init__(self):
        self.user_ns, self.magics = {}, {}
        self.push = self.user_ns.update

    def register_magic_function(self, function, kind, name):
        self.magics[kind, name] = function


class Cells(unittest.TestCase):
    def setUp(self):
        self.shell = Shell()
        kjit.load_ipython_extension(self.shell)

    def run_cell(self, line, cell):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            self.shell.magics["cell", "knl"](line, cell)
        return out.getvalue()

    def test_a_module(self):
        self.assertEqual(self.run_cell("twice", DOUBLE), "")
        x = bytearray(8)
        x[0] = 3
        self.shell.user_ns["twice"].double[1, 2](memoryview(x).cast("i"))
        self.assertEqual(x[0], 6)
        self.assertEqual(self.shell.user_ns["twice"].kernels, ("double",))

    def test_runs(self):
        block = "run {\n    param n = 3\n    let x = arange(n)\n    double.forall(n)(x)\n    print(x)\n}\n"
        self.assertEqual(self.run_cell("", DOUBLE + block), "[0 2 4]\n")
        self.assertEqual(self.run_cell("n=5", DOUBLE + block), "[0 2 4 6 8]\n")

    def test_statements(self):
        self.assertEqual(self.run_cell("n=4", "# sums\n\nparam n = 3\nprint(arange(n).sum())"), "6\n")
        self.assertEqual(self.run_cell("who=you", 'param who = "me"\nprint(who, true)  # text\n'), "you True\n")

    def test_drawings(self):
        drawn = self.run_cell("", "plot(arange(5, f32))")
        self.assertIn("┤", drawn)
        self.assertGreater(max(map(len, drawn.splitlines())), 80)
        self.assertIn("\x1b[", self.run_cell("", "show(arange(16, f32).reshape(4, 4) / 16)"))
        with tempfile.TemporaryDirectory() as folder:
            place, cell = os.getcwd(), 'show(ones((2, 2), u8), file="a.png")\nplot(arange(3, f32), file="b.svg")\n'
            os.chdir(folder)
            try:
                shown = self.run_cell("", cell)
            finally:
                os.chdir(place)
            self.assertIn("drawn: a.png\ndrawn: b.svg\n" if InteractiveShell is None else "<IPython.core.display", shown)

    @unittest.skipIf(numpy is None, "arrays of the notebook's are NumPy's")
    def test_variables(self):
        self.shell.user_ns["x"] = numpy.array([1, 2, 3], numpy.float32)
        self.run_cell("-i x -o y,z", "param x: f32[]\nlet y = 2 * x\nlet z = x + 1\n")
        self.assertEqual((self.shell.user_ns["y"].tolist(), self.shell.user_ns["z"].tolist()), ([2, 4, 6], [2, 3, 4]))

    def test_mistakes(self):
        for line, cell, kind, text in (
                ("", "let x = 1\n    print(nothing)", kjit.CompileError, "cell.knl:2:11: error: 'nothing' is not declared"),
                ("k", "kernel k(x: f32[]) { y = 1 }", kjit.CompileError, "k.knl:1:22: error: 'y' is not declared"),
                ("", "\nassert(1 > 2)\n", kjit.Error, "cell.knl:2:"),
                ("-i nothing", "param nothing = 1", kjit.NotFoundError, "the notebook has no variable 'nothing'"),
                ("k n=3", "print(1)", kjit.InvalidError, "a cell is compiled as 'k', or run with params"),
                ("--fast", "print(1)", kjit.InvalidError, "'--fast' is not understood"),
                ("-i", "print(1)", kjit.InvalidError, "names are meant behind -i")):
            with self.subTest(line=line, cell=cell), self.assertRaises(kind) as caught:
                self.run_cell(line, cell)
            self.assertIn(text, str(caught.exception))
            self.assertEqual(caught.exception._render_traceback_(), str(caught.exception).splitlines())


@unittest.skipIf(InteractiveShell is None, "IPython is not installed")
class InIPython(unittest.TestCase):
    def test_cells(self):
        with tempfile.TemporaryDirectory() as folder:
            os.environ["IPYTHONDIR"] = folder
            self.check(InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}})))

    def check(self, shell):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            self.assertTrue(shell.run_cell("%load_ext kjit").success)
            self.assertTrue(shell.run_cell("%%knl twice\n" + DOUBLE).success)
            self.assertTrue(shell.run_cell("%%knl n=4\nparam n = 1\nprint(arange(n))").success)
            failed = shell.run_cell("%%knl\nprint(nothing)")
        self.assertIn("[0 1 2 3]", out.getvalue())
        self.assertIsInstance(shell.user_ns["twice"], kjit.Module)
        self.assertIsInstance(failed.error_in_exec, kjit.CompileError)
        self.assertTrue(shell.run_cell("%unload_ext kjit").success)
        self.assertNotIn("knl", shell.magics_manager.magics["cell"])


if __name__ == "__main__":
    main()
