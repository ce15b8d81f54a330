"""Where kjit.numba_port finds a function: its syntax tree, its comments, what its names mean outside of it, and where its
mistakes are told. A source text is read, never run: constants of it are computed from its tree."""
import ast
import builtins
import enum
import inspect
import io
import sys
import textwrap
import threading
import tokenize
import types
from typing import NamedTuple

from . import _errors, _port_types
from ._module import Diagnostic

MOST_DEEP = 1000 # nodes of a tree, one in the other: what kjit's own sources have at most

# what these names mean where a source says no more of them
_USUAL = {"cuda": "numba.cuda", "np": "numpy", "numpy": "numpy", "math": "math", "cmath": "cmath", "numba": "numba",
          "nb": "numba",
          "libdevice": "numba.cuda.libdevice", "cg": "numba.cuda.cg", "operator": "operator"}
_RANDOM = ("xoroshiro128p_uniform_float32", "xoroshiro128p_uniform_float64", "xoroshiro128p_normal_float32",
           "xoroshiro128p_normal_float64", "xoroshiro128p_next")
_BUILTINS = ("range", "len", "min", "max", "abs", "round", "int", "float", "bool", "complex", "pow", "divmod", "print",
             "enumerate",
             "zip", "sum", "tuple", "any", "all")


class Named(NamedTuple):
    """What a name of the outside is: kind "path" ("numba.cuda.grid"), "value" (a Python value), "none" (None), "function" (a
    Function), "enum" ({name: number}), "other" (what a kernel cannot have)."""
    kind: str
    value: object


class Function:
    """A function that is ported: its tree, and the source it stands in. live: what the defaults of its parameters are, by their
    names, where it is a function of Python's: then they are not what their text says by now."""

    def __init__(self, source, node, key, live=None):
        self.source, self.node, self.key, self.live = source, node, key, live
        deep = _deepest(node)
        if deep:
            raise source.too_deep(*source.place(deep))

    def defaults(self):
        """{parameter: what its default stands for, a Named, or None where that is no constant}."""
        if self.live is not None:
            return self.live
        arguments = self.node.args
        places = [a.arg for a in arguments.posonlyargs + arguments.args]
        trees = dict(zip(places[::-1], arguments.defaults[::-1]))
        trees.update({a.arg: d for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults) if d})
        return {name: self._default(tree) for name, tree in trees.items()}

    def _default(self, tree):
        for node in ast.walk(tree):
            statement = self.source.statements.get(node.id) if isinstance(node, ast.Name) else None
            if isinstance(statement, ast.AST) and statement.lineno > self.node.lineno:
                return None  # it had another value then
        named = self.source.lookup(tree.id) if isinstance(tree, ast.Name) else None
        if isinstance(tree, ast.Constant) and tree.value is None or named and named.kind == "none":
            return Named("none", None)
        value = self.source._constant(tree)
        return None if value is None else Named("value", value)

    @property
    def name(self):
        return self.node.name

    def __eq__(self, other):
        return isinstance(other, Function) and self.key == other.key

    def __hash__(self):
        return hash(self.key)


class Stop(Exception):
    """Ends the statement that has an error, which was noted."""


class Deep:
    """In its with, as many calls may be open as a tree takes that is as deep as a source may be. Python's limit is one of all
    threads: the last who leaves puts the former back."""
    _CALLS = 5 * MOST_DEEP + 1000
    _lock, _inside, _before = threading.Lock(), 0, 0

    def __enter__(self):
        with Deep._lock:
            if not Deep._inside:
                Deep._before = sys.getrecursionlimit()
                sys.setrecursionlimit(Deep._before + Deep._CALLS)
            Deep._inside += 1

    def __exit__(self, *_):
        with Deep._lock:
            Deep._inside -= 1
            if not Deep._inside:
                sys.setrecursionlimit(Deep._before)


def _deepest(tree):
    """The innermost statement around what is too deep in the tree; None where nothing is."""
    level = [(tree, tree)]
    for _ in range(MOST_DEEP):
        level = [(child, child if isinstance(child, ast.stmt) else around)
                 for node, around in level for child in ast.iter_child_nodes(node)]
    return level[0][1] if level else None


class Notes:
    """The errors of a port, in the order of their places; each place has one."""

    def __init__(self):
        self.found = {}

    def add(self, source, node, message, hint=None, code="numba-port"):
        place = source.place(node)
        self.found.setdefault((source.file,) + place, (source, message, hint, code))
        return Stop()

    def raise_if_any(self):
        if not self.found:
            return
        texts, rows = [], []
        for (file, line, column, end_line, end_column), (source, message, hint, code) in sorted(
                self.found.items(), key=lambda item: item[0]):
            rows.append(Diagnostic("error", file, line, column, end_line, end_column, code, message, hint))
            texts.append(source.show(line, column, end_line, end_column, message, hint))
        raise _errors.CompileError("\n".join(texts), rows)


class Source:
    """A text, the place where it stands in its file, and what its names mean."""

    def __init__(self, text, file, first_line=1, outside=None):
        self.file, self.first = file, first_line
        indented = text
        text = textwrap.dedent(text)
        first = next((line for line in indented.split("\n") if line.strip()), "")
        self.shift = len(first) - len(first.lstrip()) if text != indented else 0
        self.lines = text.split("\n")
        self.indent = first[:self.shift]
        try:
            self.tree = ast.parse(text)
        except SyntaxError as error:
            line, column = (error.lineno or 1) - 1 + first_line, (error.offset or 1) + self.shift
            message = f"no Python: {error.msg}"
            raise _errors.CompileError(self.show(line, column, line, column, message, None), [
                Diagnostic("error", file, line, column, line, column, "syntax", message, None)]) from None
        except (RecursionError, MemoryError):
            raise self.too_deep(first_line, 1 + self.shift, first_line, 1 + self.shift) from None
        self.comments = _comments(text)
        self.live, self.outside = outside is not None, outside or (lambda name: None)
        self.statements = {}
        for statement in self.tree.body:
            self._declare(statement)

    def _declare(self, statement):
        """The names of a text's top: functions, imports, constants."""
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            self.statements[statement.name] = statement
        elif isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name):
            self.statements[statement.targets[0].id] = statement
        elif isinstance(statement, ast.Import):
            for alias in statement.names:
                first = alias.name.split(".")[0]
                self.statements[alias.asname or first] = alias.name if alias.asname else first
        elif isinstance(statement, ast.ImportFrom):
            for alias in statement.names:
                self.statements[alias.asname or alias.name] = f"{statement.module}.{alias.name}"

    def place(self, node):
        """(line, column, end line, end column) in the file, from 1."""
        def column(line, offset):
            text = self.lines[line - 1].encode()[:offset].decode() if line <= len(self.lines) else ""
            return len(text) + 1 + self.shift
        end_line = node.end_lineno or node.lineno
        return (node.lineno - 1 + self.first, column(node.lineno, node.col_offset), end_line - 1 + self.first,
                column(end_line, node.end_col_offset or node.col_offset))

    def show(self, line, column, end_line, end_column, message, hint):
        """As the compiler shows its errors."""
        at = line - self.first
        text = self.indent + self.lines[at] if 0 <= at < len(self.lines) else ""
        width = (end_column if end_line == line else len(text) + 1) - column
        shown = [f"{self.file}:{line}:{column}: error: {message}", f"{line:5} | {text}",
                 "      | " + " " * (column - 1) + "^" + "~" * max(width - 1, 0)]
        return "\n".join(shown + ([f"hint: {hint}"] if hint else []))

    def too_deep(self, line, column, end_line, end_column):
        message = f"nested too deeply: more than {MOST_DEEP} operators or blocks in one another"
        hint = "name parts of it, a = ..., and use the names"
        return _errors.CompileError(self.show(line, column, end_line, end_column, message, hint), [
            Diagnostic("error", self.file, line, column, end_line, end_column, "numba-port", message, hint)])

    def lookup(self, name):
        """What a name that is not the function's own means, a Named, or None."""
        found = self.outside(name)
        if found is not None:
            return found
        statement = self.statements.get(name)
        if isinstance(statement, str):
            return Named("path", statement)
        if isinstance(statement, ast.ClassDef):
            return self._enum(statement)
        if isinstance(statement, ast.FunctionDef):
            return Named("function", Function(self, statement, (id(self), name)))
        if isinstance(statement, ast.Assign):
            value = self._constant(statement.value)
            if isinstance(statement.value, ast.Constant) and statement.value.value is None:
                return Named("none", None)
            if value is not None:
                return Named("value", value)
            path = self._path(statement.value)
            if path:
                return Named("path", path)
        return _usual(name)

    def _enum(self, node):
        """class Cell(IntEnum): WALL = 5"""
        if not any((self._path(base) or ast.unparse(base)).rpartition(".")[2] == "IntEnum" for base in node.bases):
            return None
        values = {s.targets[0].id: self._constant(s.value) for s in node.body
                  if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name)}
        return Named("enum", values) if all(type(v) is int for v in values.values()) else None

    def _path(self, node):
        if isinstance(node, ast.Name):
            found = self.lookup(node.id)
            return found.value if found and found.kind == "path" else None
        if isinstance(node, ast.Attribute):
            of = self._path(node.value)
            return f"{of}.{node.attr}" if of else None
        return None

    def _constant(self, node):
        """The value of a constant expression, or None: numbers, tuples, lists, np.array of a list, conversions."""
        try:
            if isinstance(node, ast.Constant):
                return node.value if isinstance(node.value, (bool, int, float, complex)) else None
            if isinstance(node, ast.Name):
                found = self.lookup(node.id)
                return found.value if found and found.kind == "value" else None
            if isinstance(node, (ast.Tuple, ast.List)):
                items = [self._constant(item) for item in node.elts]
                return None if None in items else tuple(items) if isinstance(node, ast.Tuple) else items
            if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd, ast.Invert)):
                return fold(node.op, self._constant(node.operand))
            if isinstance(node, ast.BinOp):
                return fold(node.op, self._constant(node.left), self._constant(node.right))
            if isinstance(node, ast.Attribute):
                return constant_of(self._path(node))
            if isinstance(node, ast.Call):
                return self._call(node)
        except (TypeError, ValueError, ArithmeticError):
            pass
        return None

    def _call(self, node):
        """np.array([1, 2], dtype=np.float32), np.int64(5)."""
        path = self._path(node.func)
        values = [self._constant(argument) for argument in node.args[:1]]
        last = (path or "").rpartition(".")[2]
        if path in ("numpy.array", "numpy.asarray") and values and isinstance(values[0], list):
            given = node.args[1:2] + [k.value for k in node.keywords if k.arg == "dtype"]
            elem = _port_types.named((self._path(given[0]) or "").rpartition(".")[2]) if given else None
            return Table.of(values[0], elem) if elem or not given else None
        if values and values[0] is not None and path and path.startswith(("numpy.", "numba.")) and _port_types.named(last):
            return Typed(values[0], _port_types.named(last))
        return None


class Typed(NamedTuple):
    """A number that has a type, as numpy.int64(3) has."""
    value: object
    type: str


class Table(NamedTuple):
    """An array of constants: its shape, and its elements in C order."""
    shape: tuple
    items: tuple
    elem: str

    @staticmethod
    def of(rows, elem):
        shape, items = [], rows
        while items and isinstance(items[0], (list, tuple)):
            shape.append(len(items))
            if len({len(row) for row in items}) != 1:
                return None
            items = [item for row in items for item in row]
        extents = [shape[0] if shape else len(items)]
        for i in range(len(shape)):
            extents.append((shape[i + 1] if i + 1 < len(shape) else len(items)) // shape[i])
        if elem is None:
            elem = "c128" if any(isinstance(v, complex) for v in items) else "f64" if any(
                isinstance(v, float) for v in items) else "bool" if all(isinstance(v, bool) for v in items) else "i64"
        return Table(tuple(extents), tuple(items), elem)


_FOLD = {ast.Add: lambda a, b: a + b, ast.Sub: lambda a, b: a - b, ast.Mult: lambda a, b: a * b, ast.Div: lambda a, b: a / b,
         ast.FloorDiv: lambda a, b: a // b, ast.Mod: lambda a, b: a % b, ast.LShift: lambda a, b: a << b if b < 64 else None,
         ast.RShift: lambda a, b: a >> b, ast.BitAnd: lambda a, b: a & b, ast.BitOr: lambda a, b: a | b,
         ast.BitXor: lambda a, b: a ^ b, ast.USub: lambda a: -a, ast.UAdd: lambda a: +a, ast.Invert: lambda a: ~a,
         ast.Pow: lambda a, b: a ** b if abs(b) <= 64 else None}


def fold(op, *values):
    """A Python operation on constants, or None: where it fails, or where Numba's 64 bits are not enough."""
    if any(not isinstance(v, (int, float, complex)) or isinstance(v, bool) for v in values):
        return None
    try:
        value = _FOLD[type(op)](*values)
    except (TypeError, ValueError, ArithmeticError, KeyError):
        return None
    return None if isinstance(value, int) and not -2 ** 63 <= value < 2 ** 63 else value


def constant_of(path):
    """math.pi and its like."""
    import math
    of, _, last = (path or "").rpartition(".")
    return getattr(math, last) if of in ("math", "numpy") and last in ("pi", "e", "inf", "nan", "tau") else None


def _comments(text):
    """{line: (its text, does it stand alone)}."""
    found = {}
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                found[token.start[0]] = (token.string, not token.line[:token.start[1]].strip())
    except (tokenize.TokenError, IndentationError):
        pass
    return found


def _usual(name):
    if name in _USUAL:
        return Named("path", _USUAL[name])
    if name in _RANDOM:
        return Named("path", "numba.cuda.random." + name)
    if name in _BUILTINS:
        return Named("path", name)
    if _port_types.named(name):
        return Named("path", "numba." + name)
    return None


def _of_value(name, value, functions):
    """What a value that a function's name has stands for."""
    if value is None:
        return Named("none", None)
    inner = getattr(value, "py_func", value)
    if isinstance(inner, types.FunctionType):
        if name in _RANDOM or (inner.__module__ or "").startswith("numba.cuda.random"):
            return Named("path", "numba.cuda.random." + inner.__name__)
        if _package(inner.__module__) in ("numba", "numpy"):
            return Named("path", f"{inner.__module__}.{inner.__name__}")
        return Named("function", functions(inner))
    if isinstance(value, type) and issubclass(value, enum.IntEnum):
        return Named("enum", {member.name: int(member) for member in value})
    if isinstance(value, enum.IntEnum):
        return Named("value", int(value))
    if isinstance(value, types.ModuleType):
        path = value.__name__
        return Named("path", "numba.cuda" if path.startswith("numba.cuda.simulator") or path == "numba.cuda" else path)
    if isinstance(value, (bool, int, float, complex)) and type(value).__module__ == "builtins":
        return Named("value", value)
    if isinstance(value, tuple):
        items = [_of_value("", item, functions) for item in value]
        return Named("value", tuple(i.value for i in items)) if all(i and i.kind == "value" for i in items) else None
    if hasattr(value, "dtype") and hasattr(value, "tolist") and not isinstance(value, type):
        return _of_array(value)
    return _of_type(name, value)


def _package(module):
    return (module or "").split(".")[0]


def _of_array(value):
    elem = _port_types.named(str(value.dtype))
    if elem is None:
        return None
    if not getattr(value, "shape", ()):
        return Named("value", Typed(value.item(), elem))
    return Named("value", Table(tuple(value.shape), tuple(value.ravel().tolist()), elem))


def _of_type(name, value):
    """A type of Numba's, NumPy's or Python's, a function of a module, something called as those usually are."""
    module, own = getattr(value, "__module__", None) or "", getattr(value, "__name__", None) or ""
    if getattr(builtins, own, None) is value and own in _BUILTINS:
        return Named("path", own)
    if own and _package(module) in ("math", "cmath", "numpy", "numba", "operator"):
        return Named("path", f"{module}.{own}")
    shown = str(value)
    if "numba" in (_package(module), _package(type(value).__module__)):
        return Named("path", f"numba.{shown}") if _port_types.named(shown) else None
    if hasattr(value, "dtype") and not isinstance(value, type) and _port_types.named(str(value.dtype)):
        return Named("path", f"numba.{value.dtype}")
    return _usual(name) or _usual(own)


def of_function(function, known=None):
    """The Function of a Python function, or of what has one as its py_func. known are those that were found with it: each port
    finds them anew, as what their names mean may have changed."""
    function, known = getattr(function, "py_func", function), {} if known is None else known
    if function in known:
        return known[function]
    if function.__name__ == "<lambda>":
        raise _errors.ArgumentError("a lambda has no text of its own: a kernel is a def")
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError):
        raise _errors.ArgumentError(f"the source of '{function.__name__}' is not to be had: give its text") from None
    own = {}

    def inner(other):
        return of_function(other, known)

    def outside(name):
        if name in own:
            return own[name]
        cells = inspect.getclosurevars(function) if function.__closure__ else None
        if cells and name in cells.nonlocals:
            own[name] = _of_value(name, cells.nonlocals[name], inner) or Named("other", cells.nonlocals[name])
        elif name in function.__globals__:
            value = function.__globals__[name]
            own[name] = _of_value(name, value, inner) or Named("other", value)
        else:
            own[name] = _usual(name)
        return own[name]

    source = Source("".join(lines), inspect.getsourcefile(function) or "<kernel>", first, outside)
    node = next((s for s in source.tree.body if isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef))), None)
    if node is None:
        raise _errors.ArgumentError(f"the source of '{function.__name__}' has no def: give its text")
    known[function] = Function(source, node, (id(source), function.__name__), _defaults_of(function, inner))
    return known[function]


def _defaults_of(function, functions):
    code, values = function.__code__, function.__defaults__ or ()
    places = code.co_varnames[:code.co_argcount]
    found = dict(zip(places[len(places) - len(values):], values))
    found.update(function.__kwdefaults__ or {})
    return {name: _of_value(name, value, functions) for name, value in found.items()}


def of_text(text, file, name):
    """The Function of a text: of that name, else its kernel, else its only one."""
    source = Source(text, file)
    functions = [s for s in source.tree.body if isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef))]
    if name is not None:
        functions = [s for s in functions if s.name == name]
    if len(functions) > 1:
        called = {n.id for s in functions for n in ast.walk(s) if isinstance(n, ast.Name)}
        kernels = [s for s in functions if _is_kernel(s)]
        functions = kernels or [s for s in functions if s.name not in called] or functions
    if len(functions) != 1:
        what = f"no function '{name}'" if name else f"{len(functions)} kernels" if functions else "no function"
        hint = "kernel=\"...\" says which is meant" if len(functions) > 1 else "a kernel is a def"
        raise _errors.ArgumentError(f"the source has {what}: {hint}")
    return Function(source, functions[0], (id(source), functions[0].name))


def _is_kernel(node):
    """Is a function decorated by cuda.jit, and not for devices?"""
    for decorator in node.decorator_list:
        if not (isinstance(decorator, ast.Call) and any(k.arg == "device" for k in decorator.keywords)):
            if "jit" in ast.dump(decorator):
                return True
    return False
