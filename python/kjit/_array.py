"""Arrays of kjit's: in the device's memory, or over memory of the program's."""
import numbers
import struct

from . import _errors, _kjit, _types

_MEMORY = ("host", "device", "pinned", "mapped", "managed")
_DLPACK = {"host": 1, "device": 2, "pinned": 3, "mapped": 3, "managed": 13}


def empty(shape, number, context):
    """Host memory for copy_to_host: NumPy's array, else a memoryview, else an Array."""
    dtype = _types.numpy_dtype(context, number)
    if dtype is not None:
        return _types.numpy().empty(shape, dtype)
    letter, size = _types.format_of(number), _kjit._dtype_size(number)
    for extent in shape:
        size *= extent
    if letter and letter not in ("e", "Zf", "Zd") and size:
        return memoryview(bytearray(size)).cast(letter, shape) if shape else memoryview(bytearray(size)).cast(letter)
    return context._array(shape, number, "C", 0)


class Array(_kjit.Array):
    """An array that kernels take as it is: of kjit.device_array, kjit.to_device, kjit.asarray.

    Slices and the like are views, without a copy. copy_to_host() gives a NumPy array. On the CPU device the elements are
    where NumPy can see them: numpy.asarray(array) shares them; wait for queued work first."""

    __slots__ = ()

    @property
    def type(self):
        """The elements' type by its name in kernels, "f32x4"; or a Record."""
        return _types._type_of(self._context, self._dtype)

    @property
    def dtype(self):
        """NumPy's dtype, where it is installed and has one, else the type's name."""
        found = _types.numpy_dtype(self._context, self._dtype)
        return self.type if found is None else found

    @property
    def nbytes(self):
        return self.size * self.itemsize

    @property
    def memory(self):
        """Where it is: "host", "device", "pinned", "mapped", "managed"."""
        return _MEMORY[self._memory]

    @property
    def context(self):
        return self._context

    @property
    def T(self):
        return self._transpose(None)

    @property
    def __array_interface__(self):
        if not self._is_visible():
            raise AttributeError("the array is in the device's memory: see copy_to_host()")
        return {"version": 3, **self._interface()}

    @property
    def __cuda_array_interface__(self):
        """For CuPy, PyTorch, Numba: wait for queued work before they use it."""
        if self.memory not in ("device", "managed") or self._context._device[1] != "cuda":
            raise AttributeError("the array is not in a GPU's memory")
        return {"version": 3, "stream": None, **self._interface()}

    def _interface(self):
        if self._dtype >= _types.FIRST_RECORD:
            typestr, descr = f"|V{self.itemsize}", self.dtype.descr
        else:
            typestr = _types.typestr_of(self._dtype)
            descr = [("", typestr)]
        if typestr is None:
            raise AttributeError(f"NumPy has no elements of the type {self.type}; vectors have scalars()")
        return {"shape": self.shape, "strides": self.strides, "typestr": typestr, "descr": descr,
                "data": (self.address, self.read_only)}

    def __array__(self, dtype=None, copy=None):
        if copy is False and not self._is_visible():
            raise ValueError("the array is in the device's memory: it cannot be had without a copy")
        host = self.copy_to_host()
        return host if dtype is None else host.astype(dtype)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        return (self.copy() if copy else self)._dlpack(bool(max_version and max_version[0] >= 1))

    def __dlpack_device__(self):
        kind, ordinal = self._context._device[1:3]
        return (1, 0) if kind == "cpu" or self.memory == "host" else (_DLPACK[self.memory], ordinal)

    def __len__(self):
        if not self.ndim:
            raise TypeError("an array without axes has no length")
        return self.shape[0]

    def __repr__(self):
        return f"<kjit.Array {getattr(self.type, 'name', self.type)} {self.shape} in {self.memory} memory>"

    def __str__(self):
        return self._format()

    def __getitem__(self, key):
        if isinstance(key, str):
            return self.field(key)
        numbers, view = self._indices(key)
        if view is not None:
            return view
        return self._from_bytes(self._get(numbers))

    def __setitem__(self, key, value):
        numbers, view = (None, self.field(key)) if isinstance(key, str) else self._indices(key)
        if view is None:
            self._set(numbers, self._to_bytes(value))
        elif isinstance(value, _kjit.Array):
            view._copy_from(value)
        elif _has_memory(value):
            view._copy_from(self._context._wrap(value))
        else:
            view._fill(view._to_bytes(value))

    def field(self, name):
        """A view of one member of each element: of a record by its name, "x" to "w" of vectors, "real" and "imag"."""
        return self._field(name)

    def scalars(self):
        """A view of an array of vectors as their scalars, with one axis more."""
        return self._view(_types.scalar_of(self._dtype)[0])

    def view(self, dtype):
        """A view of the same bytes as another type: numbers of as many bytes, or scalars as vectors ("f32x4"), which takes
        the last axis."""
        return self._view(_types.dtype_number(self._context, dtype))

    def reshape(self, *shape, order="C"):
        """A view of another shape, of which one extent may be -1; a ShapeError where elements would have to be moved."""
        return self._reshape(shape[0] if len(shape) == 1 else shape, order)

    def ravel(self, order="C"):
        """A view with one axis."""
        return self._reshape((-1,), order) if self.size else self._reshape((0,), order)

    def transpose(self, *axes):
        """A view whose axis i is the array's axes[i]; without axes in reverse."""
        return self._transpose((axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes) or None)

    def is_c_contiguous(self):
        """Do the elements lie densely in C order?"""
        return self._is_contiguous("C")

    def is_f_contiguous(self):
        """Do the elements lie densely in Fortran's order?"""
        return self._is_contiguous("F")

    def copy_to_host(self, ary=None, stream=None):
        """The elements in a new NumPy array (a memoryview where NumPy is not installed), or in `ary`; with a stream they are
        there when it was synchronized."""
        scalar, lanes = _types.scalar_of(self._dtype)
        source = self if lanes == 1 else self._view(scalar)
        out = empty(source.shape, scalar, self._context) if ary is None else ary
        target = out if isinstance(out, _kjit.Array) else self._context._wrap(out)
        if lanes > 1 and target._dtype == self._dtype:
            source = self
        target._copy_from(source, stream)
        return out

    def copy_to_device(self, ary, stream=None):
        """Takes all elements of an array or buffer of its type and shape."""
        self._copy_from(ary if isinstance(ary, _kjit.Array) else self._context._wrap(ary), stream)

    def fill(self, value, stream=None):
        """All elements become that value."""
        self._fill(self._to_bytes(value), stream)

    def copy(self, stream=None):
        """A new array in the device's memory with the same elements."""
        return self._moved(True, stream)

    def _is_visible(self):
        return self.memory != "device" or self._context._device[1] == "cpu"

    def _indices(self, key):
        """(numbers, None) of one element, (None, view) of others."""
        keys = list(key) if isinstance(key, tuple) else [key]
        if sum(k is Ellipsis for k in keys) > 1 or len(keys) - keys.count(Ellipsis) > self.ndim:
            raise IndexError(f"{len(keys)} indices for {self.ndim} axes")
        at = keys.index(Ellipsis) if Ellipsis in keys else len(keys)
        keys[at:at + 1] = [slice(None)] * (self.ndim - len(keys) + (at < len(keys)))
        numbers = [self._number(axis, k) for axis, k in enumerate(keys) if not isinstance(k, slice)]
        if len(numbers) == self.ndim:
            return numbers, None
        ranges = [k.indices(self.shape[axis]) if isinstance(k, slice) else (0, self.shape[axis], 1)
                  for axis, k in enumerate(keys)]
        view = self._slice(*zip(*ranges))
        for axis in reversed(range(self.ndim)):
            if not isinstance(keys[axis], slice):
                view = view._at(axis, self._number(axis, keys[axis]))
        return None, view

    def _number(self, axis, key):
        index, extent = key.__index__(), self.shape[axis]
        if not -extent <= index < extent:
            raise IndexError(f"index {index} is out of bounds for axis {axis} with size {extent}")
        return index + extent if index < 0 else index

    def _from_bytes(self, data):
        dtype, letter = _types.numpy_dtype(self._context, self._dtype), _types.format_of(self._dtype)
        if dtype is not None and not dtype.subdtype:
            return _types.numpy().frombuffer(data, dtype)[0]
        scalar, lanes = _types.scalar_of(self._dtype)
        letter = _types.format_of(scalar)
        if _types.NAMES.get(scalar) == "bf16":
            halves = tuple(map(_types.from_bf16, struct.unpack(f"{lanes}H", data)))
            return halves if lanes > 1 else halves[0]
        if letter in (None, "Zf", "Zd"):
            parts = struct.unpack({"Zf": "2f", "Zd": "2d"}[letter], data) if letter else ()
            return complex(*parts) if letter else data
        parts = struct.unpack(f"{lanes}{letter}", data)
        return parts if lanes > 1 else parts[0]

    def _to_bytes(self, value):
        return element_bytes(self._context, self._dtype, value)


def element_bytes(context, number, value):
    """An element of that type: one number stands for all of a vector's."""
    dtype = _types.numpy_dtype(context, number)
    if dtype is not None and dtype.subdtype:
        base, shape = dtype.subdtype
        return _types.numpy().broadcast_to(_types.numpy().array(value, base), shape).tobytes()
    if dtype is not None:
        return _types.numpy().array(value, dtype).tobytes()
    scalar, lanes = _types.scalar_of(number)
    letter = _types.format_of(scalar)
    if letter in ("Zf", "Zd"):
        return struct.pack("2" + letter[1], complex(value).real, complex(value).imag)
    of_bf16 = _types.NAMES.get(scalar) == "bf16"
    if not letter and not of_bf16:  # a record
        return bytes(memoryview(value))
    parts = [value] if lanes == 1 else [value] * lanes if isinstance(value, numbers.Number) else list(value)
    if len(parts) != lanes:
        raise _errors.ShapeError(f"an element has {lanes} numbers, not {len(parts)}")
    return struct.pack(f"{lanes}H", *map(_types.bf16_bits, parts)) if of_bf16 else struct.pack(f"{lanes}{letter}", *parts)


def _rounds_to_infinity(value, name):
    if name == "bf16":
        return _types.bf16_bits(value) & 0x7FFF == 0x7F80
    try:
        struct.pack("<" + _types.format_of(_types.NUMBERS[name]), value)  # without < it is cast
        return False
    except OverflowError:
        return True


def _check_number(value, name):
    """As of a number that stands alone: is it of the type's kind, and does it fit there?"""
    if name == "bool":
        fits = isinstance(value, (bool, getattr(_types.numpy(), "bool_", bool)))
    elif isinstance(value, bool) or not isinstance(value, numbers.Number):
        fits = False
    elif name[0] in "iu":
        bits, signed = int(name[1:]), name[0] == "i"
        fits = isinstance(value, numbers.Integral) and -(signed << bits - 1) <= value < 1 << bits - signed
    elif name[0] == "c":
        fits = True
    else:
        fits = isinstance(value, numbers.Real) and (abs(value) == float("inf") or not _rounds_to_infinity(value, name))
    if not fits:
        raise _errors.ArgumentError(f"{value!r} is no {name}, or does not fit in one")


def _check_parts(value, dtype):
    """Of NumPy's structures: every number of them."""
    value = value.tolist() if isinstance(value, (_types.numpy().ndarray, _types.numpy().void)) else value
    if dtype.subdtype:
        inner = _types.numpy().dtype((dtype.base, dtype.shape[1:])) if dtype.shape[1:] else dtype.base
        for part in value if isinstance(value, (tuple, list)) else [value]: # one number stands for all
            _check_parts(part, inner if isinstance(value, (tuple, list)) else dtype.base)
    elif dtype.fields:
        if not isinstance(value, (tuple, list)) or len(value) != len(dtype.names):
            raise _errors.ArgumentError(f"{value!r} has not the {len(dtype.names)} parts of {', '.join(dtype.names)}")
        for part, name in zip(value, dtype.names):
            _check_parts(part, dtype.fields[name][0])
    else:
        _check_number(value, "bool" if dtype.kind == "b" else f"{dtype.kind}{dtype.itemsize * 8}")


def parts_as_bytes(context, number, parts):
    """A tuple or list as an argument of a type that has parts, a vector, tuple or record; None: it has none."""
    scalar, lanes = _types.scalar_of(number)
    if _types.NAMES.get(number) and lanes == 1:
        return None
    if lanes not in (1, len(parts)):
        raise _errors.ArgumentError(f"{_types.NAMES[number]} has {lanes} numbers, not {len(parts)}")
    if lanes > 1:
        for part in parts:
            _check_number(part, _types.NAMES[scalar])
        return element_bytes(context, number, tuple(parts))
    dtype = _types.numpy_dtype(context, number)
    if dtype is None:
        raise TypeError("tuples and records are made of Python's tuples by NumPy, which is not installed")
    _check_parts(tuple(parts), dtype)
    return element_bytes(context, number, tuple(parts))


def _has_memory(value):
    """Is it an array, and not a number of NumPy's, which has a buffer too?"""
    try:
        return memoryview(value).ndim > 0
    except TypeError:
        return False
