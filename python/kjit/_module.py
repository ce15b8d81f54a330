"""Modules: what a source was compiled to."""
import collections
import contextvars
import difflib
import numbers
import os
import re
import tempfile
import warnings

from . import _errors, _interop, _kjit, _types

Diagnostic = collections.namedtuple(
    "Diagnostic", "severity file line column end_line end_column code message hint")
Diagnostic.__doc__ = """What the compiler says of a place: severity is "error" or "warning", lines and columns count from 1."""

Parameter = collections.namedtuple("Parameter", "name type default doc ndim const may_be_written generic dtype bound")
Parameter.__doc__ = """What a kernel takes: type ("f32[,]") and default are as the source has them (default None: there is none), doc is the
comment behind it, ndim the axes of an array (0: it is none), const whether code is made for its value, may_be_written whether
the kernel writes there, as far as its text tells (False: surely not), generic the type parameter that the launch decides ("T"), or None,
bound what that may be ("int", "float", "complex", "number"; None: any type), dtype the type, or that of an array's elements, as
Array.dtype (None: it is generic)."""


drawing_for_notebook = contextvars.ContextVar("drawing_for_notebook", default=False)

RunParam = collections.namedtuple("RunParam", "name type default doc")
RunParam.__doc__ = """A param of a run block: type ("f32[,]"; None: that of its default) and default are as the source has them
(default None: a run must be given one), doc is the comment behind it."""


def parameter(context, number, name, kind, *more):
    """Of what the extension knows, the number of its dtype (-1: generic) and its bound among it."""
    *others, bound = more
    dtype = None if number < 0 else _types.dtype_of(context, number)
    return Parameter(name, kind, *others, dtype, bound)


def refused(kernel, place, name, value, error):
    """The exception of an argument that could not be taken, which names the parameter: called by the extension."""
    if not isinstance(error, (_errors.ArgumentError, _errors.InvalidError, _errors.ShapeError, _errors.DeviceError)):
        return error
    found = [p for i, p in enumerate(kernel.parameters) if (i == place if name is None else p.name == name)]
    if not found:
        of = f"there is no parameter '{name}'" if name else f"{place + 1} arguments, it has {len(kernel.parameters)} parameters"
        return _errors.LaunchError(f"kernel '{kernel.__name__}': {of}")
    p, value = found[0], value.array if isinstance(value, _interop.In) else value
    takes = f"kernel '{kernel.__name__}': '{p.name}' takes {p.type}"
    if not isinstance(error, _interop.NoArgument):
        of_parts = isinstance(value, (tuple, list)) and isinstance(error, _errors.ShapeError)
        new = (_errors.ArgumentError if of_parts else type(error))(f"{takes}: {error}")
        new.__cause__ = error.__cause__
        return new
    plain = getattr(p.dtype, "name", None) if getattr(p.dtype, "kind", "V") != "V" else None  # of NumPy's, no structure
    hint = _interop.how_to_make(value, plain) if p.ndim else ""
    if isinstance(value, _kjit.Stream):
        hint = f": a stream stands in the brackets, {kernel.__name__}[blocks, threads, stream](...)"
    return _errors.ArgumentError(f"{takes}, not {_interop.what_is(value)}{hint}")


def emit(module, what, kernel, block, arch, opt_level):
    """Module.emit, called by the extension: a kernel may hide it."""
    return Module.emit(module, what, kernel, block, arch=arch, opt_level=opt_level)


class Module(_kjit.Module):
    """The kernels of a source. mod.saxpy[blocks, threads](2.0, x, y) launches one, mod.saxpy.forall(n)(2.0, x, y) with a
    thread an element; mod["blur.rows"] is a kernel of a file that the source uses. Its records are attributes, too.

    A kernel that is called as an attribute or method here hides that: kjit.Module.emit(mod, "llvm") and
    kjit.Module.source.fget(mod) are it all the same. A record that is, and a kernel whose name begins with an underscore as
    one of these does, is hidden: mod.record("source") and mod["__doc__"] reach them."""

    __slots__ = ()

    @property
    def kernels(self):
        """The names of its kernels, in the file's order."""
        return self._kernels

    @property
    def records(self):
        """The names of the records that it declares, in the file's order."""
        return self._records

    @property
    def params(self):
        """What its run block takes: a tuple of RunParam."""
        return tuple(RunParam(*row) for row in self._params)

    @property
    def tests(self):
        """The titles of its tests, in the file's order."""
        return self._tests

    @property
    def source(self):
        """Its text."""
        return self._options[1]

    @property
    def context(self):
        return self._context

    @property
    def diagnostics(self):
        """What the compiler said of it: a list of Diagnostic."""
        return [Diagnostic("warning" if row[0] else "error", *row[1:]) for row in self._diagnostics()]

    def __getattr__(self, name):  # neither a kernel nor an attribute
        if not name.startswith("_"):
            try:
                return _types.Record(self._context, self._record(name))
            except KeyError:
                pass
        raise _errors.AbsentError(f"the module has no kernel or record '{name}'{self._instead(name)}; "
                                  f"kernels: {', '.join(self._kernels) or 'none'}")

    def __getitem__(self, name):
        """A kernel by its name; also of a file that the source uses: "blur.rows"."""
        try:
            return super().__getitem__(name)
        except _errors.NotFoundError:
            instead = ": it is a record, record() has it" if name in self._records else self._instead(name)
            raise _errors.NotFoundError(f"the module has no kernel '{name}'{instead}; "
                                        f"kernels: {', '.join(self._kernels) or 'none'}") from None

    def _instead(self, name):
        """What the source declares by that name, and what is done with it; or a kernel that is near."""
        declared = re.search(rf"^[ \t]*(run|fn|const)[ \t]+{re.escape(name)}\b", self._options[1], re.M)
        if declared:
            return _DECLARED[declared[1]].format(name=name)
        near = difflib.get_close_matches(name, [*self._kernels, *self._records], 1)
        return f": did you mean '{near[0]}'?" if near else ""

    def __dir__(self):
        return [*super().__dir__(), *self._kernels, *self._records]

    def __repr__(self):
        return f"<kjit module: {', '.join(self._kernels) or 'no kernels'}>"

    def record(self, name):
        """A record by its name; also of a file that the source uses: "blur.Line"."""
        try:
            return _types.Record(self._context, _kjit.Module._record(self, name))
        except KeyError:
            raise _errors.NotFoundError(f"the module has no record '{name}'; records: {', '.join(self._records) or 'none'}") from None

    def set_const(self, name, values):
        """Fills `const name: f32[256]`, a const array without a value, for launches from then on."""
        self._set_const(name, self._context.asarray(values))

    def emit(self, what, kernel=None, block=None, *, arch=None, opt_level=None):
        """An intermediate form as text: "ast", "checks", "tast", "llvm", "asm", "ptx", ...; "cubin" is bytes. arch: for that
        GPU, "sm_90", and not the context's device; opt_level: as of kjit.compile. Either compiles the source anew, a file as
        it is by then."""
        if not isinstance(what, str):
            raise _errors.ArgumentError(f"the form's name is meant, \"llvm\", not {_interop.what_is(what)}")
        module = self
        if (arch is not None or opt_level is not None) and self._options[1]:  # an image has no text, and says so
            options = list(self._options)
            options[ARCH] = options[ARCH] if arch is None else arch
            options[OPT_LEVEL] = options[OPT_LEVEL] if opt_level is None else opt_level or -1
            options[WARN] = "off"  # they have been told
            module, error = self._context._compile(*options)
            if error is not None:
                raise _errors.CompileError(module._log.rstrip("\n") or error, module.diagnostics)
        try:
            form = module._emit(what, kernel, block)
        except _errors.DeviceError as error:
            text = str(error).replace("name an architecture, as sm_80", "give arch=\"sm_80\", or another")
            raise type(error)(text) from None
        return form if what == "cubin" else form.decode()

    def image(self, cpus=None, archs=None):
        """Machine code for its kernels, as bytes, for kjit.from_image, where nothing is compiled then: for levels of CPUs,
        "x86-64-v3" or several in a list, and GPUs, "sm_75". None: code for this CPU's family, and for no GPU. There is code for what
        was launched until now, with arrays of any sizes; of a kernel that was not for a block of 256 threads."""
        return self._image(*(None if words is None else ",".join(_texts(option, words))
                             for option, words in (("cpus", cpus), ("archs", archs))))

    def run(self, *, save=None, **params):
        """Runs the source's run block: mod.run(n=1000, image="@photo.png", x=numpy_array, save={"out": "blurred.png"}).
        A path, pathlib's or "@photo.png", is a file's array; an array goes through a file of its own; a list is one of numbers."""
        if save is not None and not hasattr(save, "items"):
            raise _errors.ArgumentError(f"save is {{'name': 'file'}}, not {_interop.what_is(save)}")
        with tempfile.TemporaryDirectory() as folder:
            texts = [f"{name}={self._param(name, value, folder)}" for name, value in params.items()]
            self._run(texts, [f"{name}={os.fspath(path)}" for name, path in (save or {}).items()], None, *self._drawing())

    def test(self, title):
        """Runs the test of that title; one that fails is the exception of what it failed by."""
        if title not in self._tests:
            raise _errors.NotFoundError(f"the module has no test '{title}'; tests: {', '.join(self._tests) or 'none'}")
        self._run([], [], title, *self._drawing())

    def _drawing(self):
        """What plot and show draw for: (columns, may colours be said by escape codes); a notebook takes them."""
        return (100, 1) if drawing_for_notebook.get() else (0, 0)

    def _may_be_listed(self, name):
        """Is the param no number, text or array of several axes, as far as its declaration tells?"""
        declared = [p for p in self.params if p.name == name]
        if declared and declared[0].type:
            return declared[0].type.endswith("[]")
        return not declared or not re.match(r"-?[\d.]|true\b|false\b|\"", declared[0].default)

    def _check_param(self, name, array):
        """Is it what the param is declared as? Otherwise it would be told of a file that is gone."""
        declared = [p.type for p in self.params if p.name == name and p.type]
        kind, _, axes = declared[0].rstrip("]").partition("[") if declared else ("", "", "")
        number = _types.NUMBERS.get(kind)
        if number is None:
            return
        ndim = axes.count(",") + 1 if declared[0].endswith("]") else 0
        if array._dtype == number and array.ndim == ndim:
            return
        known = _types.NAMES.get(array._dtype, "records")
        raise _errors.ArgumentError(f"param '{name}' takes {declared[0]}, not an array of {known}, shape {array.shape}"
                                    + (f": {name} = {name}.astype(\"{_errors.numpy_name(kind)}\") makes one" if array.ndim == ndim else ""))

    def _param(self, name, value, folder):
        if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
            return str(bool(value)).lower()
        if isinstance(value, str) and any(p.name == name and "[" in (p.type or "") for p in self.params) and os.path.exists(value):
            raise _errors.ArgumentError(f"param '{name}' takes an array: a file's is pathlib.Path({value!r}), or \"@{value}\"")
        if isinstance(value, (str, numbers.Number)):
            return value
        if isinstance(value, os.PathLike):
            return "@" + os.fspath(value)
        if isinstance(value, (list, tuple)) and value and self._may_be_listed(name) \
                and all(isinstance(item, numbers.Number) for item in value):
            return ",".join(str(self._param(name, item, folder)) for item in value)
        if not _interop.has_buffer(value) and not _interop.is_array(value):
            raise _errors.ArgumentError(f"'{name}' takes a number, a text, a path or an array, not {_interop.what_is(value)}"
                                        + _interop.how_to_make(value))
        path = os.path.join(folder, name + ".npy")
        array = self._context.asarray(value)
        self._check_param(name, array)
        array._save(path)
        return "@" + path


def is_path(source):
    """Is it a file's name? A text of kernels has a line's end or a brace somewhere."""
    if not isinstance(source, (str, os.PathLike)):
        hint = ""
        if callable(source):
            hint = ": kernels are texts in kjit's language; kjit.numba_port(fn) makes one of a function that is written for Numba"
        elif isinstance(source, (bytes, bytearray)):
            hint = ": source.decode() is one"
        raise _errors.ArgumentError(f"a source is a text, or a file's path, not {_interop.what_is(source)}{hint}")
    return isinstance(source, os.PathLike) or (source.endswith(".knl") and "\n" not in source and "{" not in source)


def _texts(option, value):
    """A str or a path, or several."""
    texts = [value] if isinstance(value, (str, os.PathLike)) else value
    if not isinstance(texts, (list, tuple, set)) or not all(isinstance(text, (str, os.PathLike)) for text in texts):
        raise _errors.ArgumentError(f"{option} is a text, or several in a list, not {_interop.what_is(value)}")
    return texts


def check_bits(checks):
    if checks is None:
        return 0
    bits, known = 0, _kjit._checks()
    for name in _texts("check", checks):
        if name not in known:
            raise _errors.InvalidError(f"there is no check of the name '{name}'; there are {', '.join(known)}")
        bits |= known[name]
    return bits


# what else a source declares, and why it is no attribute
_DECLARED = {
    "fn": ": it is a function of kernels, not callable from Python: write a kernel that calls it, x[i] = {name}(x[i])",
    "run": ": it is a function of the run block, not callable from Python: run() runs that block",
    "const": ": it is a constant, which kernels use; a const array without a value is filled by set_const()",
}

# places in what _compile takes, which a module keeps
OPT_LEVEL, WARN, ARCH = 3, 7, 11
OPTIONS = ("context", "name", "opt_level", "contract", "ftz", "cpu", "arch", "warn", "path", "check", "sources")

# what others call it, and what is meant here
_HABITS = {
    "debug": "indices are always looked at, and check=\"race\" and others find more",
    "lineinfo": "faults and forms have the source's lines anyway",
    "opt": "opt_level=", "fastmath": "@fastmath stands before the kernel; ftz=True alone makes subnormal numbers 0",
    "device": "kjit.Context(\"cpu\").compile(...) is for a device", "backend": "kjit.Context(\"cpu\").compile(...) is for a device",
    "cache": "compiled code is kept anyway, in kjit.Context(cache=...)", "arch_list": "arch=", "options": "each is an argument of its own",
    "include_dirs": "path= has the folders for `use`", "fmad": "contract=", "max_registers": "@launch_bounds stands before the kernel",
}


def _no_option(name):
    near = difflib.get_close_matches(name, OPTIONS, 1)
    hint = _HABITS.get(name) or (f"did you mean {near[0]}?" if near else f"there are {', '.join(OPTIONS)}")
    return _errors.ArgumentError(f"compile() has no option '{name}': {hint}")


def from_image(context, image):
    if not isinstance(image, (bytes, bytearray, memoryview)):
        raise _errors.ArgumentError(f"an image is bytes, as Module.image() gives them, not {_interop.what_is(image)}")
    return context._from_image(bytes(image), ("image", "", None, -1, False, False, None, None, None, 0, {}, None))


def compile_in(context, source, *, name=None, opt_level=3, contract=True, ftz=False, cpu=None, arch=None, warn=None, path=None,
               check=None, sources=None, **unknown):
    for option in unknown:
        raise _no_option(option)
    texts = {"name": name, "cpu": cpu, "arch": arch, "warn": warn}
    for option, value in texts.items():
        if value is not None and not isinstance(value, str):
            raise _errors.ArgumentError(f"{option} is a text, not {_interop.what_is(value)}")
    if sources is not None and not hasattr(sources, "items"):
        raise _errors.ArgumentError(f"sources is {{'file.knl': 'text'}}, not {_interop.what_is(sources)}")
    file = None
    if is_path(source):
        file = os.fspath(source)
        try:
            with open(file, encoding="utf-8", errors="replace") as stream:
                source = stream.read()  # for help(); the library reads it by itself
        except OSError:
            source = ""
    if not isinstance(opt_level, int) or not 0 <= opt_level <= 3:
        raise _errors.InvalidError(f"opt_level is {opt_level!r}: it is 0, not optimised, to 3")
    module, error = context._compile(
        name or file or "kernels.knl", source, file, opt_level or -1, not contract, bool(ftz), cpu, warn,
        None if path is None else ":".join(map(os.fspath, _texts("path", path))), check_bits(check),
        dict(sources or {}), arch)
    if error is not None:
        raise _errors.CompileError(module._log.rstrip("\n") or error, module.diagnostics)
    for d in module.diagnostics:
        text = d.message + (f" [{d.code}]" if d.code else "") + (f"\nhint: {d.hint}" if d.hint else "")
        warnings.warn_explicit(text, _errors.KernelWarning, d.file, d.line)
    return module
