"""python -m kjit, run blocks, help(), and what is said to type checkers."""
import ast
import contextlib
import inspect
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import kjit
from support import SAXPY, main, module

FILE = """
kernel twice(x: f32[]) { let i = grid(1); if i < x.size { x[i] *= 2.0 } }
run {
    param n = 3
    param scale = 1.0
    let x = arange(n, f32) * f32(scale)
    twice[1, 32](x)
    print(x)
}
"""


def command(*arguments, **environment):
    return subprocess.run([sys.executable, "-m", "kjit", *arguments], env={**os.environ, **environment}, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)


class Command(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name, "twice.knl")
        self.path.write_text(FILE)

    def test_where_it_is_found(self):
        done = command("run", str(self.path), "n=4")
        self.assertEqual((done.stdout, done.returncode), ("[0. 2. 4. 6.]\n", 0))
        self.assertEqual(command("check", "nothing.knl").returncode, subprocess.run([kjit_command(), "check", "nothing.knl"],
                                                                                   stderr=subprocess.DEVNULL).returncode)

    def test_that_is_named(self):
        self.assertEqual(command("run", "it", KJIT_COMMAND="/bin/echo").stdout, "run it\n")

    def test_without_one(self):
        from kjit import __main__ as program
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            self.assertEqual(program.without_command(["run", str(self.path), "n=2"]), 0)
            self.assertEqual(program.without_command(["check", str(self.path)]), 0)
            self.assertEqual(program.without_command(["check", str(self.path) + "x.knl"]), 1)
            self.assertEqual(program.without_command(["profile"]), 2)
        self.assertEqual(out.getvalue(), "[0. 2.]\n")
        self.assertIn("usage", err.getvalue())

    def test_run_block(self):
        out, mod = io.StringIO(), kjit.compile(self.path)
        saved = self.path.parent / "x.npy"
        with contextlib.redirect_stdout(out):
            mod.run(n=4, scale=0.5, save={"x": saved})
        self.assertEqual(out.getvalue(), "[0. 1. 2. 3.]\n")
        self.assertTrue(saved.exists())
        with self.assertRaises(kjit.InvalidError):
            mod.run(m=3)
        with self.assertRaises(kjit.NotFoundError):
            module(SAXPY).run()
        with self.assertRaisesRegex(kjit.Error, "assert|true"):
            kjit.compile("run { assert(1 == 2, \"no true word\") }").run()


def kjit_command():
    from kjit import __main__ as program
    return program.command()


class Descriptions(unittest.TestCase):
    def test_every_name_has_a_text(self):
        for name in kjit.__all__:
            thing = getattr(kjit, name)
            if callable(thing) and thing is not kjit.Kernel:  # whose text is each kernel's own
                self.assertTrue(inspect.getdoc(thing), name)
            if isinstance(thing, type):
                for member in vars(thing):
                    if not member.startswith("_") and callable(getattr(thing, member)):
                        self.assertTrue(getattr(thing, member).__doc__, f"{name}.{member}")

    def test_stubs_have_every_name(self):
        stub = pathlib.Path(kjit.__file__).with_name("__init__.pyi")
        tree = ast.parse(stub.read_text())
        said = {node.name: node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
        self.assertEqual(set(kjit.__all__) - set(said), set())
        self.assertEqual(set(said) - set(kjit.__all__), set())
        for name, node in said.items():
            if isinstance(node, ast.ClassDef) and not issubclass(getattr(kjit, name), BaseException):
                members = {m.name for m in node.body if isinstance(m, ast.FunctionDef)} | \
                          {m.target.id for m in node.body if isinstance(m, ast.AnnAssign)}
                own = {m for base in getattr(kjit, name).__mro__ if base.__module__.startswith("kjit") for m in vars(base)
                       if not m.startswith("_")}
                self.assertEqual(own - members, set(), name)

    def test_parameters_are_the_stubs(self):
        stub = pathlib.Path(kjit.__file__).with_name("__init__.pyi")
        for node in ast.parse(stub.read_text()).body:
            if isinstance(node, ast.FunctionDef):
                said = [a.arg for a in node.args.posonlyargs + node.args.args + node.args.kwonlyargs]
                self.assertEqual([p for p in inspect.signature(getattr(kjit, node.name)).parameters if p != "options"],
                                 [a for a in said if a in inspect.signature(getattr(kjit, node.name)).parameters or a == "options"],
                                 node.name)

    def test_help(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            help(module(SAXPY).saxpy)
        self.assertIn("kernel saxpy(a: f32, x: f32[], y: f32[])", out.getvalue())

    def test_version(self):
        self.assertRegex(kjit.__version__, r"^\d+\.\d+\.\d+$")


if __name__ == "__main__":
    main()
