"""Cells of notebooks in kjit's language: %load_ext kjit, then %%knl."""
import ast
import os
import re
import shlex
import sys
import tempfile

from . import _context, _errors, _module

_DECLARATIONS = ("kernel", "run", "fn", "const", "record", "enum", "type", "use", "test")
_FILES = re.compile(r'\bfile\s*=\s*"([^"]+\.(?:png|svg))"')
_HELP = """%%knl name                 the cell is compiled, and name is its kjit.Module
%%knl [param=value ...]    its run block is run, or the cell itself where it is statements of one; -i x gives the param x the
                           variable x of the notebook, -o y makes what the block calls y a variable"""


class _Line:
    """What stands behind %%knl."""

    def __init__(self, text):
        self.name, self.params, self.taken, self.given = None, {}, [], []
        words = shlex.split(text)
        while words:
            word = words.pop(0)
            name, equals, value = word.partition("=")
            if word in ("-i", "-o"):
                if not words or not all(name.isidentifier() for name in words[0].split(",")):
                    raise _errors.InvalidError(f"%%knl: names are meant behind {word}\n{_HELP}")
                (self.taken if word == "-i" else self.given).extend(words.pop(0).split(","))
            elif equals and name.isidentifier():
                self.params[name] = _value(value)
            elif word.isidentifier() and self.name is None:
                self.name = word
            else:
                raise _errors.InvalidError(f"%%knl: '{word}' is not understood\n{_HELP}")
        if self.name and (self.params or self.taken or self.given):
            raise _errors.InvalidError(f"%%knl: a cell is compiled as '{self.name}', or run with params\n{_HELP}")


def _value(text):
    """true and numbers; other words stay texts, as of the command."""
    try:
        value = ast.literal_eval({"true": "True", "false": "False"}.get(text, text))
    except (SyntaxError, ValueError):
        return text
    return value if isinstance(value, (bool, int, float)) else text


def _as_file(cell):
    """A cell of statements is a run block."""
    code = re.sub(r"(?m)^\s*(#.*)?\n", "", cell + "\n").lstrip()
    word = re.match(r"\w*", code).group()
    if code.startswith("@") or word in _DECLARATIONS:
        return cell
    return "run { " + cell.rstrip("\n") + "\n}\n"  # in the first line, so that all keep their numbers


def _show_files(cell, before):
    """Pictures that the cell has drawn into files."""
    for path in dict.fromkeys(_FILES.findall(cell)):
        if not os.path.exists(path) or os.stat(path).st_mtime_ns == before.get(path):
            continue
        try:
            from IPython import display
        except ImportError:
            print(f"drawn: {path}")
            continue
        display.display(display.SVG(filename=path) if path.endswith(".svg") else display.Image(filename=path))


def _times(cell):
    return {path: os.stat(path).st_mtime_ns for path in _FILES.findall(cell) if os.path.exists(path)}


def _loaded(path):
    """An array of a .npy file, as NumPy's or, without it, an Array."""
    try:
        import numpy
    except ImportError:
        raise _errors.InvalidError("%%knl: -o takes numpy, which is not installed") from None
    return numpy.load(path)


class Magic:
    """%%knl of one shell."""

    def __init__(self, shell):
        self.shell = shell

    def __call__(self, line, cell):
        try:
            wanted = _Line(line)
            if wanted.name:
                module = _module.compile_in(_context.default_context(), cell, name=wanted.name + ".knl")
                self.shell.push({wanted.name: module})
                return
            self.run(wanted, cell)
        except _errors.Error as error:
            text = str(error)
            error._render_traceback_ = lambda: text.splitlines()  # a cell has no frames of Python's that would tell more
            raise

    def run(self, wanted, cell):
        missing = [name for name in wanted.taken if name not in self.shell.user_ns]
        if missing:
            raise _errors.NotFoundError(f"%%knl: the notebook has no variable '{missing[0]}'")
        params = {**wanted.params, **{name: self.shell.user_ns[name] for name in wanted.taken}}
        module = _module.compile_in(_context.default_context(), _as_file(cell), name="cell.knl")
        before = _times(cell)
        token = _module.drawing_for_notebook.set(True)
        try:
            with tempfile.TemporaryDirectory() as folder:
                files = {name: os.path.join(folder, name + ".npy") for name in wanted.given}
                module.run(save=files, **params)
                self.shell.push({name: _loaded(path) for name, path in files.items()})
        finally:
            _module.drawing_for_notebook.reset(token)
            sys.stdout.flush()
        _show_files(cell, before)


def load_ipython_extension(ipython):
    """`%load_ext kjit` in a notebook or IPython: cells that begin with %%knl are in kjit's language.

    `%%knl blur` compiles the cell as a module, of the name blur from then on; `%%knl n=1000` runs its run block, or the cell
    itself where it is statements of one. What it prints and draws is shown. `-i x` gives the param x the notebook's variable x,
    `-o y` makes an array of the block a variable."""
    ipython.register_magic_function(Magic(ipython), "cell", "knl")


def unload_ipython_extension(ipython):
    """`%unload_ext kjit`."""
    ipython.magics_manager.magics["cell"].pop("knl", None)
