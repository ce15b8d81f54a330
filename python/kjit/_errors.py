"""The exceptions of kjit, one for each status of its C functions that a program tells apart, and those that Python's
protocols want. All are Error, and besides what programs that know nothing of kjit catch."""
import re


class Error(Exception):
    """A call of kjit's failed. `status` is the name of its kjit_status, "KJIT_TYPE"."""

    status = "KJIT_INVALID"


class InvalidError(Error, ValueError):
    """An argument is not valid."""


class OutOfMemoryError(Error, MemoryError):
    """Memory ran out, also inside the compiler."""

    status = "KJIT_NO_MEMORY"


class CompileError(Error):
    """The source has errors. The text shows each with its line; `diagnostics` has them as a list of Diagnostic."""

    status = "KJIT_COMPILE"

    def __init__(self, text, diagnostics=()):
        super().__init__(text)
        self.diagnostics = list(diagnostics)


class NotFoundError(Error, LookupError):
    """There is no such kernel, record, constant, ..."""

    status = "KJIT_NOT_FOUND"


class AbsentError(NotFoundError, AttributeError):
    """A module or an array has no such attribute."""


class ArgumentError(Error, TypeError):
    """An argument's type is not its parameter's, or a number does not fit there."""

    status = "KJIT_TYPE"


class RangeError(ArgumentError, OverflowError):
    """A number that no type of kernels holds."""


class ElementError(InvalidError, IndexError):
    """An index of Python's is outside of the array."""


class ExportError(InvalidError, BufferError):
    """An array's elements are not where Python can see them as a buffer."""


class ShapeError(Error, ValueError):
    """A shape does not match."""

    status = "KJIT_SHAPE"


class LaunchError(Error, ValueError):
    """The launch is not possible: the number of arguments, the grid, the block, a `requires`."""

    status = "KJIT_LAUNCH"


class FileError(Error, OSError):
    """A file could not be read or written, or its content is not as it should be."""

    status = "KJIT_IO"


class DeviceError(Error):
    """The device is not available, or was lost."""

    status = "KJIT_NO_DEVICE"


class LimitError(Error):
    """A limit of the context is exceeded."""

    status = "KJIT_LIMIT"


class Fault(Error):
    """A kernel failed while it ran. The text shows the place; the attributes have what it says:

    kind ("bounds", "assert", "race", "cancelled", "timeout", ...), message, hint, kernel, file, line, column, end_line,
    end_column, block and thread (tuples or None); of an index outside of its array: array, axis, index, extent; of a
    barrier: arrived, expected; of a race: access, other_access ("read", "write", "atomic"), and the other's other_file, other_line,
    other_column, other_end_line, other_end_column, other_block, other_thread."""

    status = "KJIT_FAULT"
    kind = "unknown"
    message = hint = kernel = file = block = thread = array = None
    line = column = end_line = end_column = 0
    axis, index, extent, arrived, expected = -1, 0, 0, 0, 0
    access = other_access = other_file = other_block = other_thread = None
    other_line = other_column = other_end_line = other_end_column = 0


class Cancelled(Fault):
    """The launch was cancelled."""

    status = "KJIT_CANCELLED"
    kind = "cancelled"


class Timeout(Fault, TimeoutError):
    """The launch ran out of time."""

    status = "KJIT_TIMEOUT"
    kind = "timeout"


class KernelWarning(UserWarning):
    """What the compiler warns of."""


_CLASSES = {
    "KJIT_INVALID": InvalidError,
    "KJIT_NO_MEMORY": OutOfMemoryError,
    "KJIT_COMPILE": CompileError,
    "KJIT_NOT_FOUND": NotFoundError,
    "KJIT_TYPE": ArgumentError,
    "KJIT_SHAPE": ShapeError,
    "KJIT_LAUNCH": LaunchError,
    "KJIT_FAULT": Fault,
    "KJIT_ASSERT": Fault,
    "KJIT_IO": FileError,
    "KJIT_FORMAT": FileError,
    "KJIT_NO_DEVICE": DeviceError,
    "KJIT_LOST": DeviceError,
    "KJIT_CANCELLED": Cancelled,
    "KJIT_TIMEOUT": Timeout,
    "KJIT_LIMIT": LimitError,
    "range": RangeError,
    "buffer": ExportError,
}


def numpy_name(dtype):
    """A type's name in NumPy: "float32" of "f32"."""
    return {"f": "float", "i": "int", "u": "uint", "c": "complex"}[dtype[0]] + dtype[1:] if dtype[1:].isdigit() else dtype


def _hint_type(text):
    """Behind a refused array of another type: how one that fits is made, or the kernel made fit."""
    found = re.search(r"'(\w+)' takes ([fiuc]\d+)(\[,*\]), not an array of ([fiuc])\d+, shape \(([^)]*)\)$", text)
    if not found or found[3].count(",") + 1 != len([extent for extent in found[5].split(",") if extent.strip()]):
        return text
    name, dtype, kinds = found[1], found[2], {found[2][0], found[4]}
    if found[4] == "c" and dtype[0] != "c":
        return text  # half of each number would go
    bound = "float" if kinds == {"f"} else "int" if kinds <= {"i", "u"} else None
    return f"{text}: {name} = {name}.astype(\"{numpy_name(dtype)}\") makes one" + (
        f"; <T: {bound}> behind the kernel's name and {name}: T{found[3]} take both" if bound else "")


# behind a text of the library that ends so: what it is in Python
_HINTS = {
    "copy it to an array in C order first": ": kjit.to_device(a.copy_to_host()) is one",
    "belongs to another context": ": what a kernel is given is of its module's context, mod.context; "
                                  "mod.context.to_device(a.copy_to_host()) is a copy there",
}


def make(status, text, fault):
    """The exception of a status, or of a kind that the extension tells apart: called by it."""
    if status == "KJIT_TYPE":
        text = _hint_type(text)
    text += next((hint for end, hint in _HINTS.items() if text.endswith(end) and "array" in text), "")
    error = _CLASSES.get(status, Error)(text)
    error.status = status if status.startswith("KJIT_") else error.status
    for name, value in (fault or {}).items():
        setattr(error, name, value)
    return error
