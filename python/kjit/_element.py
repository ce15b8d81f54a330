"""Elements of arrays, and values of kernels' parameters: Python's numbers, tuples and lists as bytes, and back. A number is held
to the rule of numbers that stand alone: it is of the type's kind, and fits there."""
import numbers
import struct

from . import _errors, _kjit, _types


def value_of(context, number, data):
    """What Python shows of an element."""
    dtype = _types.numpy_dtype(context, number)
    if dtype is not None and not dtype.subdtype:
        return _types.numpy().frombuffer(data, dtype)[0]
    scalar, lanes = _types.scalar_of(number)
    letter = _types.format_of(scalar)
    if _types.NAMES.get(scalar) == "bf16":
        halves = tuple(map(_types.from_bf16, struct.unpack(f"{lanes}H", data)))
        return halves if lanes > 1 else halves[0]
    if letter in (None, "Zf", "Zd"):
        parts = struct.unpack({"Zf": "2f", "Zd": "2d"}[letter], data) if letter else ()
        return complex(*parts) if letter else data
    parts = struct.unpack(f"{lanes}{letter}", data)
    return parts if lanes > 1 else parts[0]


def bytes_of(context, number, value):
    """An element of that type: one number stands for all of a vector's or a record's."""
    out = bytearray(_size(context, number))
    _pack(context, number, _plain(value), out, 0)
    return bytes(out)


def all_bytes(context, number, shape, value):
    """Elements of an array of that shape, of lists within each other."""
    size = _size(context, number)
    for extent in shape:
        size *= extent
    out = bytearray(size)
    _pack_all(context, number, shape, value, out, 0)
    return bytes(out)


def is_one(context, number, value):
    """Is a list or tuple one element, and not several?"""
    if number >= _types.FIRST_RECORD:
        return isinstance(value, tuple)
    return _types.scalar_of(number)[1] > 1 and all(map(_is_number, value))


def parts_as_bytes(context, number, parts):
    """A tuple or list as an argument of a type that has parts, a vector, tuple or record; None: it has none. Called by the
    extension."""
    if number < _types.FIRST_RECORD and _types.scalar_of(number)[1] == 1:
        return None
    return bytes_of(context, number, tuple(parts))


def _size(context, number):
    return context._record(number)[1] if number >= _types.FIRST_RECORD else _kjit._dtype_size(number)


def _is_number(value):
    return isinstance(value, (numbers.Number, getattr(_types.numpy(), "bool_", bool)))


def _plain(value):
    """Of NumPy's arrays without axes the number; of others lists."""
    np = _types.numpy()
    return value if np is None or not isinstance(value, np.ndarray) else value.tolist() if value.ndim else value[()]


def _rounds_to_infinity(value, name):
    if name == "bf16":
        return _types.bf16_bits(value) & 0x7FFF == 0x7F80
    try:
        struct.pack("<" + _types.format_of(_types.NUMBERS[name]), value)  # without < it is cast
        return False
    except OverflowError:
        return True


def _fits(value, name):
    if name == "bool":
        return isinstance(value, (bool, getattr(_types.numpy(), "bool_", bool)))
    if isinstance(value, bool) or not isinstance(value, numbers.Number):
        return False
    if name[0] in "iu":
        bits, signed = int(name[1:]), name[0] == "i"
        return isinstance(value, numbers.Integral) and -(signed << bits - 1) <= value < 1 << bits - signed
    if name[0] == "c":
        return isinstance(value, numbers.Complex)
    return isinstance(value, numbers.Real) and (abs(value) == float("inf") or not _rounds_to_infinity(value, name))


def _pack_number(number, value, out, at):
    name = _types.NAMES[number]
    if not _fits(value, name):
        raise _errors.ArgumentError(f"{value!r} is no {name}, or does not fit in one")
    letter = _types.format_of(number)
    if name == "bf16":
        struct.pack_into("H", out, at, _types.bf16_bits(value))
    elif name[0] == "c":
        struct.pack_into("2" + letter[1], out, at, complex(value).real, complex(value).imag)
    else:
        struct.pack_into(letter, out, at, value)


def _pack(context, number, value, out, at):
    if number >= _types.FIRST_RECORD:
        return _pack_record(context, number, value, out, at)
    scalar, lanes = _types.scalar_of(number)
    if lanes == 1:
        return _pack_number(number, value, out, at)
    parts = [value] * lanes if _is_number(value) else _parts(value, lanes, _types.NAMES[number])
    for i, part in enumerate(parts):
        _pack_number(scalar, part, out, at + i * _kjit._dtype_size(scalar))


def _parts(value, n, what):
    value = _plain(value)
    if not isinstance(value, (tuple, list, range)):
        raise _errors.ArgumentError(f"{value!r} is no {what}")
    if len(value) != n:
        raise _errors.ShapeError(f"{what} has {n} numbers, not {len(value)}")
    return value


def _pack_record(context, number, value, out, at):
    name, size, fields = context._record(number)
    value = _plain(value)
    if isinstance(value, getattr(_types.numpy(), "void", ())):
        value = value.tobytes() if value.dtype == _types.numpy_dtype(context, number) else value.tolist()
    if _is_number(value):
        value = (value,) * len(fields)
    elif not isinstance(value, (tuple, list)):
        out[at:at + size] = _raw(value, name, size)
        return
    if len(value) != len(fields):
        raise _errors.ArgumentError(f"{value!r} has not the {len(fields)} parts of {', '.join(field[0] for field in fields)}")
    for part, (_, kind, offset, shape) in zip(value, fields):
        _pack_all(context, kind, shape, part, out, at + offset)


def _raw(value, name, size):
    """Of a structure of ctypes', or bytes."""
    try:
        data = bytes(memoryview(value))
    except (TypeError, ValueError, BufferError):
        raise _errors.ArgumentError(f"{value!r} is no {name}") from None
    if len(data) != size:
        raise _errors.ShapeError(f"{name} has {size} bytes, not {len(data)}")
    return data


def _pack_all(context, number, shape, value, out, at):
    if not shape:
        return _pack(context, number, _plain(value), out, at)
    value = _plain(value)
    if _is_number(value):
        value = (value,) * shape[0]
    elif not isinstance(value, (tuple, list, range)):
        raise _errors.ArgumentError(f"{value!r} stands for an axis of {shape[0]}")
    if len(value) != shape[0]:
        raise _errors.ShapeError(f"{len(value)} values for an axis of {shape[0]}")
    step = _size(context, number)
    for extent in shape[1:]:
        step *= extent
    for i, part in enumerate(value):
        _pack_all(context, number, shape[1:], part, out, at + i * step)
