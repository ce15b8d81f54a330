"""Layouts of structures, see _types, from what describes them beside a buffer's format."""
import math

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
