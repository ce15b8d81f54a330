"""Contexts: a device, and what is made for it. The functions of the package use the default one."""
import collections
import contextlib
import os
import threading

from . import _array, _errors, _interop, _kjit, _module, _types

Device = collections.namedtuple("Device", "name kind ordinal memory units")
Device.__doc__ = """A device: kind is "cpu" or "cuda", memory its bytes, units its worker threads or multiprocessors."""

_KINDS = {"host": 0, "device": 1, "pinned": 2, "mapped": 3, "managed": 4}


class Context(_kjit.Context):
    """A device and what belongs to it. device: "cpu", "cuda", "cuda:1", or None, the first of kjit.devices(); workers: threads
    of the CPU device; cache: a folder for compiled code, or "off"; cancellable: whether launches can be ended wherever they
    are, by Ctrl-C, cancel() and deadlines (None: on a CPU); untrusted: sources may be anybody's; limits: {"array_bytes": ...}.

    What a kernel prints goes to sys.stdout."""

    @property
    def device(self):
        return Device(*self._device)

    def compile(self, source, **options):
        """As kjit.compile."""
        return _module.compile_in(self, source, **options)

    def from_image(self, image):
        """As kjit.from_image."""
        return _module.from_image(self, image)

    def array(self, shape, dtype=None, order="C", memory="device"):
        """A new array, its elements unspecified, in memory of a kind: "device", "host", "pinned", "mapped", "managed"."""
        if memory not in _KINDS:
            raise _errors.InvalidError(f"there is no memory {memory!r}; there is {', '.join(_KINDS)}")
        return self._array(shape, _types.dtype_number(self, dtype), order, _KINDS[memory])

    def asarray(self, value):
        """An Array over what has memory, without a copy: NumPy arrays, memoryviews, whatever has __array_interface__,
        __cuda_array_interface__ or __dlpack__."""
        if isinstance(value, _kjit.Array):
            return value
        if not _interop.has_buffer(value) and not _interop.is_array(value):
            raise _errors.ArgumentError(f"{_interop.what_is(value)} is no array, and has no memory of one"
                                        + _interop.how_to_make(value))
        if not _interop.is_array(value):
            return self._wrap(value)
        try:
            return self._wrap(value)
        except TypeError as error:
            refused = error
        try:
            return _interop.adopt(self, value)
        except _errors.ArgumentError:
            if _interop.has_buffer(value):  # which says more of it
                raise refused from None
            raise

    def to_device(self, value, stream=None, copy=True, to=None):
        """A new array in the device's memory with the elements of another, or `to` filled with them; without `copy`
        the memory alone."""
        if to is None and copy:
            return self.asarray(value)._moved(True, stream)
        if to is None:
            return self._array_like(value)
        if copy:
            to.copy_to_device(value, stream)
        return to

    def _array_like(self, other, dtype=None):
        like = self.asarray(other)
        order = "F" if like.is_f_contiguous() and not like.is_c_contiguous() else "C"
        number = like._dtype if dtype is None else _types.dtype_number(like._context, dtype)
        return like._context._array(like.shape, number, order, _KINDS["device"])

    def stream(self):
        """A new stream."""
        return _kjit.Stream(self)

    def default_stream(self):
        """The legacy default stream, whose work waits for that of all others, and theirs for its."""
        return _kjit.Stream(self, 1)

    def per_thread_default_stream(self):
        """The calling thread's own stream."""
        return _kjit.Stream(self, 2)

    def external_stream(self, handle):
        """Another library's stream, by its CUstream as a number, which it must outlive; the work there is in its order."""
        return _kjit.Stream(self, 3, handle)

    def event(self, timing=True):
        """A new event."""
        return _kjit.Event(self, timing)

    @contextlib.contextmanager
    def defer_cleanup(self):
        """Within it no memory is given back to the device."""
        self._defer_begin()
        try:
            yield
        finally:
            self._defer_end()

    def __repr__(self):
        return f"<kjit context: {self.device.name}>"


_lock = threading.Lock()
_default = None


def default_context():
    """The context of the package's functions: of the first device, made when it is first needed; of a forked process its own."""
    global _default
    if _default is None:
        with _lock:
            if _default is None:
                _default = Context()
    return _default


def set_default_context(context):
    """Takes another context for the package's functions from now on; gives the one before, or None."""
    global _default
    if context is not None and not isinstance(context, Context):
        raise _errors.ArgumentError(f"a context is meant, not {_interop.what_is(context)}")
    before, _default = _default, context
    return before


def _forked():
    global _default, _lock
    _default, _lock = None, threading.Lock()
    _kjit._after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


def devices():
    """The devices of this machine, GPUs first: a list of Device."""
    return [Device(*row) for row in _kjit._devices()]


def compile(source, *, context=None, **options):
    """Compiles a text, or the file of that name (a pathlib.Path, or a str that ends in .knl): a Module.

    options: name, for messages about a text; opt_level, 0 to 3; contract=False: a*b + c rounds twice; ftz; cpu, a level of
    x86-64; arch, what forms of it are for ("sm_90"), see Module.emit; warn, "off", "error" or names; path, folders for `use`; sources, {"blur.knl": text} for `use`; check, what running
    kernels are checked for: "race", "init", "nan", ... or several.

    CompileError has the located text. Warnings are those of Python, of class KernelWarning."""
    if context is not None and not isinstance(context, Context):
        raise _errors.ArgumentError(f"a context is meant, not {_interop.what_is(context)}")
    return _module.compile_in(context or default_context(), source, **options)


def from_image(image, *, context=None):
    """A module of the bytes that Module.image() has made, with this version of kjit: its code is machine code, which is run, so take
    only what you trust. It has the kernels and records, and no source; a launch that there is no code for is a CompileError."""
    if context is not None and not isinstance(context, Context):
        raise _errors.ArgumentError(f"a context is meant, not {_interop.what_is(context)}")
    return _module.from_image(context or default_context(), image)


def asarray(value):
    """An Array over a NumPy array, a memoryview or whatever has memory, without a copy, which it keeps alive."""
    return default_context().asarray(value)


def to_device(value, stream=None, copy=True, to=None):
    """A new array in the device's memory with the elements of a NumPy array, memoryview, ...; or `to` filled with them."""
    return default_context().to_device(value, stream, copy, to)


def device_array(shape, dtype=None, order="C"):
    """A new array in the device's memory; elements are unspecified. dtype: "f32", numpy.float32, a Record, ...; None: f64."""
    return default_context().array(shape, dtype, order)


def device_array_like(other, dtype=None):
    """A new array in the device's memory, of another's shape, type and order."""
    return default_context()._array_like(other, dtype)


def pinned_array(shape, dtype=None, order="C"):
    """A new array in page-locked host memory, from which copies in a stream run beside the program."""
    return default_context().array(shape, dtype, order, "pinned")


def mapped_array(shape, dtype=None, order="C"):
    """A new array in page-locked host memory, on which kernels work where it is."""
    return default_context().array(shape, dtype, order, "mapped")


def managed_array(shape, dtype=None, order="C"):
    """A new array that moves to who touches it."""
    return default_context().array(shape, dtype, order, "managed")


def from_dlpack(value):
    """An Array over another library's, by DLPack, without a copy."""
    return _interop.from_dlpack(default_context(), value)


def stream():
    """A new stream: its work runs in order, beside the program and other streams."""
    return default_context().stream()


def default_stream():
    """The legacy default stream, whose work waits for that of all others, and theirs for its."""
    return default_context().default_stream()


def external_stream(handle):
    """Another library's stream, by its CUstream as a number, which it must outlive; the work there is in its order."""
    return default_context().external_stream(handle)


def event(timing=True):
    """A new event, to wait for and, with timing, to measure between."""
    return default_context().event(timing)


def event_elapsed_time(start, end):
    """Milliseconds between two events."""
    return start.elapsed_time(end)


def synchronize():
    """Waits for all work; raises the first failure that nobody has been told."""
    default_context().synchronize()


def defer_cleanup():
    """with kjit.defer_cleanup(): no memory is given back to the device meanwhile."""
    return default_context().defer_cleanup()


_kjit._set_hooks(_errors.make, _errors.Error, _interop.adopt, _types.record_number, _array.Array, _module.Module, _interop.In, _interop.Out)
