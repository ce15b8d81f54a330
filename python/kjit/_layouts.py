"""Layouts of structures, see _types, from what describes them beside a buffer's format."""
import ctypes
import math
import sys

from . import _errors, _kjit, _types


def of_descr(descr):
    """The layout, and its bytes, of a 'descr' of __array_interface__, whose fields without a name are padding."""
    try:
        return _of_descr(descr)
    except (TypeError, ValueError, IndexError) as error:
        if isinstance(error, _errors.Error):
            raise
        raise _errors.ArgumentError(f"'descr' is a list of (name, type) or (name, type, shape), not {descr!r}") from None


def _of_descr(descr):
    fields, offset = [], 0
    for i, (name, kind, *shape) in enumerate(descr):
        shape = (shape[0] if isinstance(shape[0], tuple) else (shape[0],)) if shape else ()
        name = name[1] if isinstance(name, tuple) else name  # (title, name)
        padding = name == "" and kind[1:2] == "V"
        if isinstance(kind, list):
            of, size = _of_descr(kind)
        elif padding:
            of, size = None, int(kind[2:])
        else:
            of = _types.number_of_typestr(kind)
            size = _kjit._dtype_size(of)
        if not padding:
            fields.append((name or f"f{i}", of, offset, shape))
        offset += size * math.prod(shape)
    return tuple(fields), offset


def is_ctypes(kind):
    return isinstance(kind, type) and issubclass(kind, (ctypes.Structure, ctypes.Union))


def of_ctypes(kind):
    """The layout, and its bytes, of a ctypes.Structure: by its own offsets, as a buffer's format has no padding in some versions
    of Python, and no bit fields in any."""
    if not issubclass(kind, ctypes.Structure):
        raise _errors.ArgumentError(f"{kind.__name__} is no structure, and no record is as a union or a pointer is")
    if _swapped(kind):
        raise _errors.ArgumentError(f"{kind.__name__} has its bytes in the other order: kernels have no elements of that type")
    fields = []
    for base in reversed(kind.__mro__):  # a structure may go on another one
        for name, of, *bits in vars(base).get("_fields_", ()):
            if bits:
                raise _errors.ArgumentError(f"the field '{name}' of {kind.__name__} is a bit field, which records do not have")
            shape = ()
            while issubclass(of, ctypes.Array):
                shape, of = shape + (of._length_,), of._type_
            fields.append((name, _of_field(kind, name, of), getattr(kind, name).offset, shape))
    return tuple(fields), ctypes.sizeof(kind)


def _of_field(kind, name, of):
    if issubclass(of, (ctypes.Structure, ctypes.Union)):
        return of_ctypes(of)[0]
    letter = getattr(of, "_type_", None)
    number = _types.number_of_letter(letter, ctypes.sizeof(of)) if isinstance(letter, str) and not _swapped(of) else None
    if number is None:
        order = ", whose bytes are in the other order" if _swapped(of) else ""
        raise _errors.ArgumentError(f"the field '{name}' of {kind.__name__} is a {of.__name__}{order}: kernels have no elements of that type")
    return number


def _swapped(kind):
    """Are its bytes in the other order?"""
    other = "__ctype_be__" if sys.byteorder == "little" else "__ctype_le__"
    return hasattr(kind, "_swappedbytes_") or (getattr(kind, other, None) is kind and ctypes.sizeof(kind) > 1)
