"""Arrays of other libraries, which have no buffer: by DLPack or __array_interface__, without a copy."""
import math
import operator

from . import _errors, _kjit, _layouts, _types

BYTES = -2  # KJP_BYTES of the extension


class NoArgument(_errors.ArgumentError):
    """Of what is neither an array nor a number: what it is, "a str", and what makes an array of it."""

    def __init__(self, value):
        self.hint = how_to_make(value)
        super().__init__(f"a kernel takes no argument of type '{type(value).__name__}'{self.hint}")


def what_is(value):
    """"a str", "an Index", "None", "the class float"."""
    if value is None:
        return "None"
    name = value.__name__ if isinstance(value, type) else type(value).__name__.replace("ndarray", "array")
    return f"the class {name}" if isinstance(value, type) else f"a{'n' if name[:1] in 'AEIOUaeiou' else ''} {name}"


def how_to_make(value, dtype=None):
    """How a value becomes an array, behind ": ", or nothing."""
    of = f", numpy.{dtype}" if dtype is not None else ""
    if isinstance(value, (list, tuple, range)):
        return f": numpy.array(...{of}) makes an array of it"
    if hasattr(value, "__array__") and not isinstance(value, type):
        return f": numpy.asarray(...{of}) makes an array of it"
    return ""


class In:
    """In(x): the launch only reads the array; what the kernel writes does not come back."""

    __slots__ = ("array",)

    def __init__(self, array):
        self.array = array


class Out(In):
    """Out(x): what the array had before does not go to a GPU."""

    __slots__ = ()


_INTERFACES = ("__array_interface__", "__cuda_array_interface__", "__dlpack__")


def has_buffer(value):
    try:
        memoryview(value)
    except TypeError:
        return False
    except (ValueError, BufferError):  # it has, and none that Python knows
        return True
    return True


def is_array(value):
    """Not so a class, whose objects may have them."""
    return not isinstance(value, type) and any(hasattr(value, name) for name in _INTERFACES)


def adopt(context, value, wanted=-1, module=None):
    """An Array over another library's: called by the extension for arguments that it does not know. wanted, module: which of
    several records that are laid out alike, see _types.record_number."""
    if isinstance(value, type):
        raise NoArgument(value)
    if hasattr(value, "__array_interface__"):
        return _from_interface(context, value, "__array_interface__", wanted, module)
    if hasattr(value, "__cuda_array_interface__"):
        return _from_cuda(context, value, wanted, module)
    if hasattr(value, "__dlpack__"):
        return from_dlpack(context, value)
    number = getattr(value, "__index__", None)
    if number:
        return number()
    raise NoArgument(value)


def _from_cuda(context, value, wanted, module):
    """Memory of a GPU's. Work that its library has queued there, in a stream that it names, is waited for."""
    if context._device[1] != "cuda":
        raise _errors.make("KJIT_NO_DEVICE", "the array is in a GPU's memory, and the context's device is a CPU", None)
    interface = value.__cuda_array_interface__
    if isinstance(interface, dict) and interface.get("stream") is not None:
        context.external_stream(interface["stream"]).synchronize()
    return _from_interface(context, value, "__cuda_array_interface__", wanted, module)


def from_dlpack(context, value):
    if not hasattr(value, "__dlpack__"):
        raise _errors.ArgumentError(f"{what_is(value)} has no __dlpack__")
    try:
        try:
            capsule = value.__dlpack__(max_version=(1, 0))
        except TypeError:  # of before version 1
            capsule = value.__dlpack__()
    except BufferError as error:  # a type that DLPack has not
        raise _errors.ArgumentError(str(error)) from None
    return _kjit._from_dlpack(context, capsule)


class _Interface:
    """What __array_interface__ and __cuda_array_interface__ say, of version 3."""

    def __init__(self, value, name):
        self.name, self.dict = name, getattr(value, name)
        if not isinstance(self.dict, dict):
            raise _errors.ArgumentError(f"{name} is a dict, not {what_is(self.dict)}")
        if self.dict.get("mask") is not None:
            raise _errors.ArgumentError(f"{name} has a mask, and kernels know none: arrays with a mask are not taken")
        self.shape = self.numbers("shape")
        if self.shape is None:
            raise _errors.ArgumentError(f"{name} has no 'shape'")
        self.strides = self.numbers("strides")
        if self.strides is not None and len(self.strides) != len(self.shape):
            raise _errors.InvalidError(f"{name} has {len(self.strides)} strides for {len(self.shape)} axes")

    def numbers(self, key):
        value = self.dict.get(key)
        try:
            return value if value is None else tuple(map(operator.index, value))
        except TypeError:
            raise _errors.ArgumentError(f"'{key}' of {self.name} is a tuple of ints, not {value!r}") from None

    def element(self, context, wanted, module):
        """(number, bytes)"""
        typestr, descr = self.dict.get("typestr"), self.dict.get("descr")
        if isinstance(typestr, str) and typestr[1:2] == "V" and descr and descr != [("", typestr)]:
            layout, size = _layouts.of_descr(descr)
            if typestr[2:] != str(size):
                raise _errors.InvalidError(f"'typestr' of {self.name} is '{typestr}', and 'descr' has {size} bytes")
            return _types.number_of_layout(context, layout, size, descr, wanted, module), size
        number = _types.number_of_typestr(typestr)
        return number, _kjit._dtype_size(number)

    def range(self, size):
        """Of the elements' bytes, from the first one's address: (the least, one more than the most)."""
        if 0 in self.shape:
            return 0, 0
        steps = self.strides
        if steps is None:
            steps = [size * math.prod(self.shape[axis + 1:]) for axis in range(len(self.shape))]
        reach = [(extent - 1) * step for extent, step in zip(self.shape, steps)]
        return sum(r for r in reach if r < 0), sum(r for r in reach if r > 0) + size

    def pointer(self):
        """(address, read-only), where 'data' is that."""
        data = self.dict.get("data")
        if not isinstance(data, tuple) or len(data) != 2 or not isinstance(data[0], int):
            raise _errors.ArgumentError(f"'data' of {self.name} is a tuple (address, whether it is read-only), not {data!r}")
        address, read_only = data
        if address == 0 and 0 not in self.shape:
            raise _errors.InvalidError(f"'data' of {self.name} is the address 0")
        return address, bool(read_only)

    def buffer(self, context, value, size):
        """(address, read-only, what keeps it), where 'data' is an object with a buffer, or the value is one."""
        data, offset = self.dict.get("data"), self.dict.get("offset", 0)
        try:
            offset = operator.index(offset)
            memory = context._wrap(value if data is None else data, BYTES)
        except TypeError as error:
            raise _errors.ArgumentError(f"'data' of {self.name} is a tuple (address, whether it is read-only), or has a buffer with "
                                        f"'offset', an int: {error}") from None
        least, most = self.range(size)
        if not 0 <= offset + least <= offset + most <= memory.size:
            raise _errors.InvalidError(f"{self.name}: bytes {offset + least} to {offset + most} are meant of a buffer that has {memory.size}")
        return memory.address + offset, memory.read_only, memory


def _from_interface(context, value, name, wanted, module):
    interface = _Interface(value, name)
    number, size = interface.element(context, wanted, module)
    memory, keeper = int(name == "__cuda_array_interface__"), value
    if memory or isinstance(interface.dict.get("data"), tuple):
        address, read_only = interface.pointer()
    else:
        address, read_only, keeper = interface.buffer(context, value, size)
    return _kjit._from_address(context, address, number, size, interface.shape, interface.strides, read_only, memory, keeper)
