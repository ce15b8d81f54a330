"""Arrays of other libraries, which have no buffer: by DLPack or __array_interface__, without a copy."""
from . import _errors, _kjit, _types


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


def adopt(context, value):
    """An Array over another library's: called by the extension for arguments that it does not know."""
    if isinstance(value, type):
        raise NoArgument(value)
    if hasattr(value, "__array_interface__"):
        return _from_interface(context, value, value.__array_interface__, 0)
    if hasattr(value, "__cuda_array_interface__"):
        return _from_cuda(context, value, value.__cuda_array_interface__)
    if hasattr(value, "__dlpack__"):
        return from_dlpack(context, value)
    number = getattr(value, "__index__", None)
    if number:
        return number()
    raise NoArgument(value)


def _from_cuda(context, value, interface):
    """Memory of a GPU's. Work that its library has queued there, in a stream that it names, is waited for."""
    if context._device[1] != "cuda":
        raise _errors.make("KJIT_NO_DEVICE", "the array is in a GPU's memory, and the context's device is a CPU", None)
    if isinstance(interface, dict) and interface.get("mask") is not None:
        raise _errors.ArgumentError("arrays with a mask are not taken")
    if isinstance(interface, dict) and interface.get("stream") is not None:
        context.external_stream(interface["stream"]).synchronize()
    return _from_interface(context, value, interface, 1)


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


def _from_interface(context, value, interface, memory):
    if not isinstance(interface, dict) or not {"typestr", "shape"} <= interface.keys():
        raise _errors.ArgumentError(f"{what_is(value)} has an interface that says no typestr or shape")
    typestr, shape, strides = interface["typestr"], tuple(interface["shape"]), interface.get("strides")
    data = interface.get("data")
    if not isinstance(data, tuple):
        buffer = context._wrap(value if data is None else data)
        view = buffer if typestr[1:] == "u1" else buffer.view(typestr)
        return view.reshape(shape)
    if typestr[1] == "V" and len(interface.get("descr", ())) > 1:
        dtype = _types.numpy().dtype(interface["descr"])
        number, size = _types.dtype_number(context, dtype), dtype.itemsize
    else:
        number = _types.dtype_number(context, typestr)
        size = _kjit._dtype_size(number)
    return _kjit._from_address(context, data[0], number, size, shape, strides, data[1], memory, value)
