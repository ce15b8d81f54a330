"""Modules: what a source was compiled to."""
import collections
import os
import warnings

from . import _errors, _kjit, _types

Diagnostic = collections.namedtuple(
    "Diagnostic", "severity file line column end_line end_column code message hint")
Diagnostic.__doc__ = """What the compiler says of a place: severity is "error" or "warning", lines and columns count from 1."""

Parameter = collections.namedtuple("Parameter", "name type default doc ndim const may_be_written generic")
Parameter.__doc__ = """What a kernel takes: type ("f32[,]") and default are as the source has them (default None: there is none), doc is the
comment behind it, ndim the axes of an array (0: it is none), const whether code is made for its value, may_be_written whether
the kernel writes there, as far as its text tells (False: surely not), generic the type parameter that the launch decides ("T"), or None."""


class Module(_kjit.Module):
    """The kernels of a source. mod.saxpy[blocks, threads](2.0, x, y) launches one, mod.saxpy.forall(n)(2.0, x, y) with a
    thread an element; mod["blur.rows"] is a kernel of a file that the source uses. Its records are attributes, too."""

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
    def source(self):
        """Its text."""
        return self._source

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
        raise AttributeError(f"the module has no kernel or record '{name}'; kernels: {', '.join(self._kernels) or 'none'}")

    def __dir__(self):
        return [*super().__dir__(), *self._kernels, *self._records]

    def __repr__(self):
        return f"<kjit module: {', '.join(self._kernels) or 'no kernels'}>"

    def set_const(self, name, values):
        """Fills `const name: f32[256]`, a const array without a value, for launches from then on."""
        context = self._context
        self._set_const(name, values if isinstance(values, _kjit.Array) else context._wrap(values))

    def emit(self, what, kernel=None, block=None):
        """An intermediate form as text: "ast", "checks", "tast", "llvm", "asm", "ptx", ...; "cubin" is bytes."""
        form = self._emit(what, kernel, block)
        return form if what == "cubin" else form.decode()

    def run(self, *, save=None, **params):
        """Runs the source's run block: mod.run(n=1000, image="@photo.png", save={"out": "blurred.png"})."""
        texts = [f"{name}={str(value).lower() if isinstance(value, bool) else value}" for name, value in params.items()]
        self._run(texts, [f"{name}={os.fspath(path)}" for name, path in (save or {}).items()])


def is_path(source):
    """Is it a file's name? A text of kernels has a line's end or a brace somewhere."""
    return isinstance(source, os.PathLike) or (source.endswith(".knl") and "\n" not in source and "{" not in source)


def check_bits(checks):
    if checks is None:
        return 0
    bits, known = 0, _kjit._checks()
    for name in [checks] if isinstance(checks, str) else checks:
        if name not in known:
            raise ValueError(f"there is no check of the name '{name}'; there are {', '.join(known)}")
        bits |= known[name]
    return bits


def compile_in(context, source, *, name=None, opt_level=3, contract=True, ftz=False, cpu=None, warn=None, path=None,
               check=None, sources=None, stacklevel=2):
    file = None
    if is_path(source):
        file = os.fspath(source)
        try:
            with open(file, encoding="utf-8", errors="replace") as stream:
                source = stream.read()  # for help(); the library reads it by itself
        except OSError:
            source = ""
    module, error = context._compile(
        name or file or "kernels.knl", source, file, opt_level or -1, not contract, bool(ftz), cpu, warn,
        None if path is None else path if isinstance(path, str) else ":".join(map(os.fspath, path)), check_bits(check),
        dict(sources or {}))
    if error is not None:
        raise _errors.CompileError(module._log.rstrip("\n") or error, module.diagnostics)
    for d in module.diagnostics:
        text = d.message + (f" [{d.code}]" if d.code else "") + (f"\nhint: {d.hint}" if d.hint else "")
        warnings.warn_explicit(text, _errors.KernelWarning, d.file, d.line)
    return module
