"""Arrays of kjit's: in the device's memory, or over memory of the program's."""
import ctypes

from . import _element, _errors, _interop, _kjit, _types

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


# what NumPy's and others' arrays have, and what has it here
_HABITS = {
    "astype": "numpy.asarray(a).astype(\"float32\") is an array of another type; in a kernel f32(x[i]) converts an element",
    "flatten": "a.ravel() is a view with one axis, a.copy_to_host().ravel() a copy",
    "squeeze": "a.reshape(...) is a view of another shape", "swapaxes": "a.transpose((1, 0)) has its axes in another order",
    "tolist": "a.copy_to_host().tolist() are Python's numbers", "item": "a[0] is an element, a number of Python's",
    "tobytes": "a.copy_to_host().tobytes() are its bytes", "tofile": "numpy.asarray(a).tofile(path) writes it",
    "sort": "use std.sort in a source sorts on the device; numpy.sort(numpy.asarray(a)) here",
    "clone": "a.copy() is a copy", "to": "a.copy_to_host(), or kjit.to_device(a), is a copy elsewhere",
    **dict.fromkeys(("numpy", "get", "cpu", "to_numpy", "detach"), "a.copy_to_host() is a NumPy array"),
    **dict.fromkeys(("device", "cuda"), "a.memory says where it is, a.context.device which device that is"),
    **dict.fromkeys(("sum", "mean", "std", "var", "min", "max", "argmin", "argmax", "any", "all", "cumsum", "prod", "dot", "round",
                     "clip", "conj", "real", "imag", "repeat", "nonzero"),
                    "numpy.asarray(a).{name} is NumPy's; on the device a kernel computes it"),
}


class Array(_kjit.Array):
    """An array that kernels take as it is: of kjit.device_array, kjit.to_device, kjit.asarray.

    Slices and the like are views, without a copy. copy_to_host() gives a NumPy array. On the CPU device the elements are
    where NumPy can see them: numpy.asarray(array) shares them; wait for queued work first."""

    __slots__ = ()

    def __getattr__(self, name):
        if name.startswith("_"):
            return object.__getattribute__(self, name)  # a property that says itself why it is not there
        hint = _HABITS.get(name)
        raise _errors.AbsentError(f"an array has no '{name}'" + (f": {hint.format(name=name)}" if hint else ""))

    @property
    def type(self):
        """The elements' type by its name in kernels, "f32x4"; or a Record."""
        return _types._type_of(self._context, self._dtype)

    @property
    def dtype(self):
        """NumPy's dtype, where it is installed and has one, else the type's name."""
        return _types.dtype_of(self._context, self._dtype)

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
            raise _errors.AbsentError("the array is in the device's memory: see copy_to_host()")
        lanes = _types.scalar_of(self._dtype)[1]
        interface = (self.scalars() if lanes > 1 else self)._interface()
        if self._dtype >= _types.FIRST_RECORD and _types.numpy().dtype(interface["descr"]) != self.dtype:
            raise _errors.AbsentError("NumPy would make fields of the padding: __array__ has the elements")
        return {"version": 3, **interface}

    @property
    def __cuda_array_interface__(self):
        """For CuPy, PyTorch, Numba: wait for queued work before they use it."""
        if self.memory not in ("device", "managed") or self._context._device[1] != "cuda":
            raise _errors.AbsentError("the array is not in a GPU's memory")
        return {"version": 3, "stream": None, **self._interface()}

    def _interface(self):
        if self._dtype >= _types.FIRST_RECORD:
            typestr, descr = f"|V{self.itemsize}", self.dtype.descr
        else:
            typestr = _types.typestr_of(self._dtype)
            descr = [("", typestr)]
        if typestr is None:
            raise _errors.AbsentError(f"NumPy has no elements of the type {self.type}; vectors have scalars()")
        return {"shape": self.shape, "strides": self.strides, "typestr": typestr, "descr": descr,
                "data": (self.address, self.read_only)}

    def __array__(self, dtype=None, copy=None):
        scalar, lanes = _types.scalar_of(self._dtype)
        own = _types.numpy_dtype(self._context, scalar)
        if own is None:
            of = "d.scalars()" if lanes > 1 else "d"
            raise _errors.ArgumentError(f"NumPy has no elements of the type {self.type}: numpy.asarray({of}.view(\"u16\")) has their bits")
        other, visible = dtype is not None and _types.numpy().dtype(dtype) != own, self._is_visible()
        if copy is False and (other or not visible):
            where = f"the elements are {self.type}" if visible else "the array is in the device's memory"
            raise _errors.InvalidError(f"{where}: it cannot be had without a copy")
        if not visible:
            host = self.copy_to_host()
        else:
            host = _types.numpy().asarray(_Raw(self.scalars() if lanes > 1 else self)).view(own)
        return host.astype(dtype) if other else host.copy() if copy and visible else host

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        return (self.copy() if copy else self)._dlpack(bool(max_version and max_version[0] >= 1))

    def __dlpack_device__(self):
        kind, ordinal = self._context._device[1:3]
        return (1, 0) if kind == "cpu" or self.memory == "host" else (_DLPACK[self.memory], ordinal)

    def __len__(self):
        if not self.ndim:
            raise _errors.ArgumentError("an array without axes has no length")
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
        elif _has_memory(value) or _interop.is_array(value) and getattr(value, "shape", ()):
            view.copy_to_device(value)
        elif isinstance(value, (list, tuple, range)) and not _element.is_one(self._context, view._dtype, value):
            view._copy_from(_array_of(self._context, view._dtype, view.shape, value))
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
        given = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        return self._transpose(None if given is None or isinstance(given, (tuple, list)) and not given else given)

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
        target = self._other(out)
        if lanes > 1 and target._dtype == self._dtype:
            source = self
        target._copy_from(source, stream)
        return out

    def copy_to_device(self, ary, stream=None):
        """Takes all elements of an array or buffer of its type and shape."""
        self._copy_from(self._other(ary), stream)

    def fill(self, value, stream=None):
        """All elements become that value."""
        self._fill(self._to_bytes(value), stream)

    def copy(self, stream=None):
        """A new array in the device's memory with the same elements."""
        return self._moved(True, stream)

    def _other(self, value):
        """An Array over what has memory: of records of this array's, where several are laid out alike."""
        if self._dtype >= _types.FIRST_RECORD and not isinstance(value, _kjit.Array) and _interop.has_buffer(value):
            return self._context._wrap(value, self._dtype)
        return self._context.asarray(value)

    def _is_visible(self):
        return self.memory != "device" or self._context._device[1] == "cpu"

    def _indices(self, key):
        """(numbers, None) of one element, (None, view) of others."""
        keys = list(key) if isinstance(key, tuple) else [key]
        dots = [i for i, k in enumerate(keys) if k is Ellipsis]
        if len(dots) > 1 or len(keys) - len(dots) > self.ndim:
            raise _errors.ElementError(f"{len(keys)} indices for {self.ndim} axes")
        at = dots[0] if dots else len(keys)
        keys[at:at + 1] = [slice(None)] * (self.ndim - len(keys) + (at < len(keys)))
        numbers = [self._number(axis, k) for axis, k in enumerate(keys) if not isinstance(k, slice)]
        if len(numbers) == self.ndim:
            return numbers, None
        ranges = [self._range(axis, k) if isinstance(k, slice) else (0, self.shape[axis], 1) for axis, k in enumerate(keys)]
        view = self._slice(*zip(*ranges))
        for axis in reversed(range(self.ndim)):
            if not isinstance(keys[axis], slice):
                view = view._at(axis, self._number(axis, keys[axis]))
        return None, view

    def _range(self, axis, key):
        try:
            return key.indices(self.shape[axis])
        except TypeError:
            raise _errors.ArgumentError(f"a slice has ints, not {key}") from None
        except ValueError as error:
            raise _errors.InvalidError(str(error)) from None

    def _number(self, axis, key):
        if type(key).__name__ in ("bool", "bool_") or not hasattr(key, "__index__") or getattr(key, "ndim", 0):
            several = ": copy_to_host()[...] picks several elements, or a kernel does" if hasattr(key, "__len__") else ""
            raise _errors.ArgumentError(f"an index is an int or a slice, not {_interop.what_is(key)}{several}")
        try:
            index, extent = key.__index__(), self.shape[axis]
        except TypeError as error:  # of NumPy's that are no integers
            raise _errors.ArgumentError(str(error)) from None
        if not -extent <= index < extent:
            raise _errors.ElementError(f"index {index} is out of bounds for axis {axis} with size {extent}")
        return index + extent if index < 0 else index

    def _from_bytes(self, data):
        return _element.value_of(self._context, self._dtype, data)

    def _to_bytes(self, value):
        return _element.bytes_of(self._context, self._dtype, value)


class _Raw:
    """An array's memory for NumPy, its elements bytes of no kind."""

    def __init__(self, array):
        self.array = array
        self.__array_interface__ = {"version": 3, "shape": array.shape, "strides": array.strides, "typestr": f"|V{array.itemsize}",
                                    "data": (array.address, array.read_only)}


def _has_memory(value):
    """Is it an array, and not a number of NumPy's, which has a buffer too?"""
    try:
        return memoryview(value).ndim > 0
    except (TypeError, ValueError, BufferError):
        return False


def _array_of(context, number, shape, value):
    """A host array of Python's lists within each other."""
    data = _element.all_bytes(context, number, shape, value)
    size = len(data)
    memory = (ctypes.c_char * max(size, 1)).from_buffer_copy(data or b"\0")
    count = 1
    for extent in shape:
        count *= extent
    return _kjit._from_address(context, ctypes.addressof(memory), number, size // count if count else 1, shape, None, False, 0,
                               memory)
