"""kjit.numba_port: kernels that are written for Numba, in kjit's language."""
import ast
import inspect
import numbers
import os

from . import _array, _context, _errors, _interop, _module, _port_flow, _port_source, _port_types, _port_unit, _types
from ._port_types import Arr, Rec, Tup

_IGNORED = ("debug", "opt", "cache", "lineinfo", "inline", "fma", "forceobj", "nopython", "max_registers", "fastmath",
            "launch_bounds", "device", "func_or_sig", "argtypes", "signature", "boundscheck", "abi", "chunks")


_DECORATORS = ("jit", "njit", "reduce", "vectorize", "guvectorize", "stencil", "overload", "intrinsic", "cfunc")


class _Head:
    """What a function's decorators say: signatures, attributes of the kernel, whether it is a device function."""

    def __init__(self, function, fail):
        self.signatures, self.attributes, self.device = [], [], False
        for decorator in function.node.decorator_list:
            call = decorator if isinstance(decorator, ast.Call) else None
            path = function.source._path(call.func if call else decorator) or ast.unparse(call.func if call else decorator)
            word = path.rpartition(".")[2]
            if word == "numba_port" or word not in _DECORATORS and function.source.live:
                continue  # what it made of the function is what numba_port was given
            if word not in ("jit", "njit"):
                hint = {"reduce": "a device function, and reduce(f, x) in a run block",
                        "vectorize": "a device function of numbers, called with arrays in a run block",
                        "guvectorize": "a kernel with a thread for each row"}.get(word)
                fail(decorator, f"'@{word}' makes no kernel", hint and f"write {hint}")
                continue
            if call:
                self._call(call, fail)

    def _call(self, call, fail):
        for value in call.args:
            self._signature(value, fail)
        for keyword in call.keywords:
            name, value = keyword.arg, keyword.value
            if name in ("func_or_sig", "argtypes", "signature"):
                self._signature(value, fail)
            elif name == "device":
                self.device = ast.unparse(value) != "False"
            elif name == "fastmath" and ast.unparse(value) != "False":
                self.attributes.append("@fastmath")
            elif name == "launch_bounds":
                items = value.elts if isinstance(value, ast.Tuple) else [value]
                self.attributes.append(f"@launch_bounds({', '.join(map(ast.unparse, items))})")
            elif name == "max_registers" and ast.unparse(value) != "None":
                self.attributes.append(f"@max_registers({ast.unparse(value)})")
            elif name == "link" and not (isinstance(value, ast.List) and not value.elts):
                fail(value, "code of other compilers is not linked", "port what it has, or write it in kjit's language")
            elif name not in _IGNORED and name != "link":
                fail(value, f"'@cuda.jit' has no '{name}' here")

    def _signature(self, node, fail):
        items = node.elts if isinstance(node, (ast.List, ast.Tuple)) and not isinstance(node, ast.Tuple) else [node]
        for item in items:
            text = item.value if isinstance(item, ast.Constant) and isinstance(item.value, str) else ast.unparse(item)
            try:
                self.signatures.append(_port_types.parse_signature(text, True))
            except _errors.ArgumentError:
                fail(item, "the types of this signature are not known", "\"void(float32[:], int64)\" is one; or give them to "
                     "numba_port, as texts or as arguments of a launch")


def _of_dtype(context, number):
    """The type of elements by kjit's number."""
    return _record(context, number) if number >= _types.FIRST_RECORD else _types.NAMES[number]


def _record(context, number):
    _, size, fields = context._record(number)
    found, ends = [], []
    for name, kind, offset, shape in fields:
        of = _of_dtype(context, kind)
        found.append((name, of, tuple(shape)))
        items = 1
        for extent in shape:
            items *= extent
        ends.append((offset, items * (context._record(kind)[1] if kind >=
                    _types.FIRST_RECORD else _types._kjit._dtype_size(kind))))
    dense = all(offset == sum(n for _, n in ends[:i]) for i, (offset, _) in enumerate(ends)) and size == sum(n for _, n in ends)
    aligned = all(offset % min(n, 8) == 0 for offset, n in ends if n in (1, 2, 4, 8))
    return Rec(tuple(found), dense and not (aligned and size % max([n for _, n in ends if n in (1, 2, 4, 8)], default=1) == 0))


def type_of(context, value):
    """The type of an argument, as Numba has it: an int is an int64, a float a float64."""
    value = value.array if isinstance(value, _interop.In) else value
    if isinstance(value, tuple):
        return Tup(tuple(type_of(context, item) for item in value))
    if isinstance(value, bool):
        return "bool"
    if not getattr(value, "shape", ()) and not isinstance(value, _array.Array):
        scalar = _port_types.named(str(getattr(value, "dtype", None)))
        if scalar:
            return scalar
    if isinstance(value, numbers.Integral):
        return "i64" if value < 2 ** 63 else "u64"
    if isinstance(value, numbers.Real):
        return "f64"
    if isinstance(value, numbers.Complex):
        return "c128"
    array = context.asarray(value)
    of = _of_dtype(context, array._dtype)
    if of not in _port_types.SCALARS and not isinstance(of, Rec):
        raise _errors.ArgumentError(f"Numba's kernels have no elements of the type {of}")
    return Arr(of, array.ndim)


class Port:
    """A kernel of Numba's, in kjit's language: what kjit.numba_port gives.

    port.text is the kernel, port.module what it is compiled to, for the types that were given; port[blocks, threads](x, y) and
    port.forall(n)(x, y) launch it, for the types of their arguments where none were given."""

    def __init__(self, function, signatures, wraparound, options):
        self._function, self._given, self._wraparound = function, signatures, wraparound
        self._context = options.pop("context", None)
        self._options, self._texts, self._modules = options, {}, {}
        self.__name__ = function.name
        self.__doc__ = ast.get_docstring(function.node)
        if not signatures:
            self._head()
        for types in signatures:
            self._text_for(types)

    @property
    def _in(self):
        return self._context or _context.default_context()

    def _head(self):
        notes = _port_source.Notes()
        head = _Head(self._function, lambda node, text, hint=None: notes.add(self._function.source, node, text, hint))
        node = self._function.node
        if isinstance(node, ast.AsyncFunctionDef):
            notes.add(self._function.source, node, "a kernel is not async")
        for star in (node.args.vararg, node.args.kwarg):
            if star:
                notes.add(self._function.source, star, "a kernel has a fixed number of parameters",
                          "a tuple holds several values")
        if node.args.defaults and not head.device:
            notes.add(self._function.source, node.args.defaults[0], "a kernel's parameters have no defaults",
                      "give them at the launch")
        notes.raise_if_any()
        return head

    @property
    def signatures(self):
        """The types of the arguments that it was ported for, as kjit writes them: a list of texts."""
        unit = _port_unit.Unit(True)
        return [", ".join(_port_types.spell(of, unit.record) for of in types) for types in self._texts]

    def _text_for(self, types):
        """(text, lines) for the types of arguments."""
        if types not in self._texts:
            head = self._head()
            function = self._function
            wanted = len(_port_flow._arguments(function.node))
            if len(types) != wanted:
                raise _errors.LaunchError(f"kernel '{self.__name__}': {len(types)} arguments, it has {wanted} parameters")
            unit = _port_unit.Unit(self._wraparound)
            with _port_source.Deep():
                if not head.device:
                    _port_flow.guard_grid_syncs(function.node)
                body = unit.instance(function, types, kernel=not head.device)
                self._texts[types] = unit.text(body, head.attributes) + (body.name, body.dynamic)
        return self._texts[types]

    def _only(self):
        if len(self._texts) == 1:
            return next(iter(self._texts))
        if self._texts:
            return next(iter(self._given or self._texts))
        names = ", ".join(a.arg for a in _port_flow._arguments(self._function.node))
        raise _errors.InvalidError(f"kernel '{self.__name__}': the types of {names or 'its parameters'} are not known: "
                                   f"give them, "
                                   f"numba_port({self.__name__}, \"f32[], i64\"), or launch it")

    @property
    def text(self):
        """The kernel in kjit's language; of several types the first's."""
        return self._text_for(self._only())[0]

    @property
    def module(self):
        """The kjit.Module that the text is compiled to; of several types the first's."""
        return self._module_for(self._only())

    def text_for(self, *arguments):
        """The text for the types of a launch's arguments."""
        return self._text_for(tuple(type_of(self._in, a) for a in arguments))[0]

    def _module_for(self, types):
        if types not in self._modules:
            text, lines, name, _ = self._text_for(types)
            try:
                self._modules[types] = _module.compile_in(self._in, text, **{"name": f"{name}.knl", **self._options})
            except _errors.CompileError as error:
                found = self._places(lines, [d.line for d in error.diagnostics if d.severity == "error"])
                raise _errors.CompileError(f"{error}{found}", error.diagnostics) from None
        return self._modules[types]

    def _places(self, lines, wanted):
        """Of lines of the text the lines of Python that they are ported from."""
        texts = []
        for at in dict.fromkeys(wanted):
            place = lines[at - 1] if 0 < at <= len(lines) else None
            if place is not None:
                source, line = place
                shown = source.lines[line - 1] if line <= len(source.lines) else ""
                texts.append(f"\n{source.file}:{line - 1 + source.first}: note: ported from here\n"
                             f"{line - 1 + source.first:5} | {source.indent}{shown}")
        return "".join(texts)

    def _launch(self, how, arguments, shared):
        types = self._match(arguments)
        text, lines, name, dynamic = self._text_for(types)
        kernel = self._module_for(types)[name]
        named = {"shared_bytes": shared} if dynamic and shared else {}
        try:
            how(kernel)(*arguments, **named)
        except _errors.Fault as fault:
            if fault.file == f"{name}.knl" and fault.line:
                fault.args = (f"{fault}{self._places(lines, [fault.line])}",)
            raise

    def _match(self, arguments):
        given = [types for types in self._given if len(types) == len(arguments)]
        if len(given) == 1:
            return given[0]
        types = tuple(type_of(self._in, a) for a in arguments)
        if not self._given or types in given:
            return types
        for each in given:  # numbers convert, arrays do not
            if all(isinstance(a, str) and isinstance(b, str) or a == b for a, b in zip(each, types)):
                return each
        raise _errors.ArgumentError(f"kernel '{self.__name__}' is not ported for ({', '.join(map(_port_types.show, types))})")

    def __getitem__(self, key):
        if not isinstance(key, tuple) or not 2 <= len(key) <= 4:
            raise _errors.LaunchError(
                f"{self.__name__}[blocks, threads], or with a stream and the bytes of shared memory behind them")
        shared = key[3] if len(key) == 4 else 0
        return lambda *arguments: self._launch(lambda kernel: kernel[key[:3]], arguments, shared)

    def forall(self, n, stream=None):
        """A launch with a thread an element; block and grid are chosen."""
        return lambda *arguments: self._launch(lambda kernel: kernel.forall(n, stream), arguments, 0)

    def __repr__(self):
        return f"<kjit port of {self.__name__}: {'; '.join(self.signatures) or 'of the types of its launches'}>"

    def __str__(self):
        return self.text


def numba_port(fn, signature=None, *, kernel=None, file=None, wraparound=True, **options):
    """A CUDA kernel that is written for Numba, in kjit's language; Numba itself is not needed.

        @cuda.jit                                # or without it
        def saxpy(a, x, y):
            i = cuda.grid(1)
            if i < y.size:
                y[i] += a * x[i]

        port = kjit.numba_port(saxpy, "f32, f32[], f32[]")
        print(port.text)                         # the kernel, a text in kjit's language
        port[4, 256](2.0, x, y)                  # or port.forall(n)(2.0, x, y); port.module.saxpy is the kjit.Kernel

    fn is a function, also one that is decorated, or the text of a source, of which kernel= says which is meant where it has
    several and file= what messages call it. signature has the types of the parameters: "f32[,], i64", Numba's
    "void(float32[:, ::1], int64)", a list of such texts, or a tuple of arguments as of a launch. Without it those of cuda.jit
    are taken, and where that has none, each launch is for the types of its arguments, as Numba's are.

    The kernel computes what Numba's does: integers in 64 bits, literals as int64 and float64, indices below 0 from the end.
    Where that needs a word, it is written; wraparound=False says that no index is below 0, so that none is asked. What has no
    counterpart is an error at its place, a kjit.CompileError that shows all of them. Other options are those of
    kjit.compile."""
    if isinstance(fn, Port):
        fn._function, function = fn._function, fn._function
    elif isinstance(fn, str):
        function = _port_source.of_text(fn, file or "<numba>", kernel)
    elif isinstance(fn, os.PathLike):
        with open(fn, encoding="utf-8") as stream:
            function = _port_source.of_text(stream.read(), os.fspath(fn), kernel)
    elif inspect.isfunction(getattr(fn, "py_func", fn)):
        function = _port_source.of_function(fn)
    else:
        raise _errors.ArgumentError(f"a function is meant, or the text of one, not {_interop.what_is(fn)}")
    for option in options:
        if option not in _module.OPTIONS:
            raise _module._no_option(option)
    return Port(function, _signatures(function, signature, options), wraparound, dict(options))


def _signatures(function, signature, options):
    if signature is None:
        return _Head(function, lambda *_: None).signatures
    if isinstance(signature, str):
        return [_port_types.parse_signature(signature)]
    if isinstance(signature, list) and all(isinstance(item, str) for item in signature):
        return [_port_types.parse_signature(item) for item in signature]
    if isinstance(signature, tuple):
        context = options.get("context") or _context.default_context()
        return [tuple(_port_types.parse_signature(item)[0] if isinstance(item, str) else type_of(context, item)
                      for item in signature)]
    raise _errors.ArgumentError(f"a signature is a text as \"f32[], i64\", several in a list, or a tuple of arguments, not "
                                f"{_interop.what_is(signature)}")
