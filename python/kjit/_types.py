"""Element types: kjit's numbers and names, NumPy's dtypes, formats of buffers; and records, which are structured dtypes."""
import ctypes
import functools
import re
import struct
import sys

from . import _errors, _kjit

FIRST_RECORD = 64

# name in kjit: (format of a buffer, NumPy's typestr)
_SCALARS = {
    "bool": ("?", "|b1"), "i8": ("b", "|i1"), "i16": ("h", "<i2"), "i32": ("i", "<i4"), "i64": ("q", "<i8"),
    "u8": ("B", "|u1"), "u16": ("H", "<u2"), "u32": ("I", "<u4"), "u64": ("Q", "<u8"), "f16": ("e", "<f2"),
    "f32": ("f", "<f4"), "f64": ("d", "<f8"), "c64": ("Zf", "<c8"), "c128": ("Zd", "<c16"),
}
NUMBERS = {_kjit._dtype_name(i): i for i in range(FIRST_RECORD) if _kjit._dtype_name(i)}
NAMES = {number: name for name, number in NUMBERS.items()}
_BY_TYPESTR = {typestr[1:]: NUMBERS[name] for name, (_, typestr) in _SCALARS.items()}
_BY_PYTHON = {float: NUMBERS["f64"], int: NUMBERS["i64"], bool: NUMBERS["bool"], complex: NUMBERS["c128"]}
_LONG_NAMES = {"b": "bool", "i": "int", "u": "uint", "f": "float", "c": "complex"}
_BY_NAME = {_LONG_NAMES[key[0]] + ("" if key == "b1" else str(8 * int(key[1:]))): number
            for key, number in _BY_TYPESTR.items()}


def numpy():
    """The module, or None where it is not installed."""
    try:
        import numpy as module
    except ImportError:
        return None
    return module


def scalar_of(number):
    """(scalar's number, how many): of f32x4 (f32, 4), of all others (itself, 1)."""
    match = re.fullmatch(r"(\w+?)x(\d)", NAMES.get(number, ""))
    return (NUMBERS[match.group(1)], int(match.group(2))) if match else (number, 1)


def format_of(number):
    """A scalar's format, for struct; None where Python has none."""
    return _SCALARS.get(NAMES.get(number), (None, None))[0]


def bf16_bits(value):
    """The nearest bf16, ties to even: the upper half of a float, which is first rounded to odd, so that nothing is rounded
    twice."""
    x = float(value)
    try:
        bits, = struct.unpack("<I", struct.pack("<f", x))
    except OverflowError:  # beyond any float
        return 0x7F80 | (0x8000 if x < 0 else 0)
    if x != x:
        return bits >> 16 | 0x40
    near, = struct.unpack("<f", struct.pack("<f", x))
    if near != x:
        bits = (bits - (abs(near) > abs(x))) | 1
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16


def from_bf16(bits):
    return struct.unpack("<f", struct.pack("<I", bits << 16))[0]


def typestr_of(number):
    return _SCALARS.get(NAMES.get(number), (None, None))[1]


class Record:
    """A record of a module's source: a type of elements, as a structured dtype is."""

    def __init__(self, context, number):
        self._context, self._number = context, number
        self.name, self.itemsize, self._fields = context._record(number)

    @property
    def fields(self):
        """{name: (type, offset, shape)}: types are names, or a Record."""
        return {name: (_type_of(self._context, number), offset, shape)
                for name, number, offset, shape in self._fields}

    @property
    def dtype(self):
        """As a structured dtype of NumPy's; a bf16, which that has not, is a uint16 of its bits."""
        return numpy_dtype(self._context, self._number)

    def __eq__(self, other):
        return isinstance(other, Record) and (self._context, self._number) == (other._context, other._number)

    def __hash__(self):
        return hash((id(self._context), self._number))

    def __repr__(self):
        fields = ", ".join(f"{name}: {getattr(kind, 'name', kind)}{list(shape) if shape else ''}"
                           for name, (kind, _, shape) in self.fields.items())
        return f"<record {self.name} {{ {fields} }}>"


def _type_of(context, number):
    return NAMES[number] if number < FIRST_RECORD else Record(context, number)


def dtype_of(context, number):
    """NumPy's dtype, where it is installed and has one, else a type's name or a Record."""
    found = numpy_dtype(context, number)
    return _type_of(context, number) if found is None else found


def _field_dtype(context, number):
    """Of a field: bf16, which NumPy has not, is as its bits there."""
    scalar, lanes = scalar_of(number)
    if NAMES.get(scalar) == "bf16":
        return numpy().dtype("<u2" if lanes == 1 else ("<u2", (lanes,)))
    return numpy_dtype(context, number)


def numpy_dtype(context, number):
    """NumPy's dtype of a number; of a vector (scalar, (n,)), of a type that it has not None."""
    np = numpy()
    if np is None:
        return None
    if number < FIRST_RECORD:
        scalar, lanes = scalar_of(number)
        typestr = typestr_of(scalar)
        if typestr is None:
            return None
        return np.dtype(typestr) if lanes == 1 else np.dtype((typestr, (lanes,)))
    _, size, fields = context._record(number)
    return np.dtype({
        "names": [name for name, *_ in fields],
        "formats": [np.dtype((_field_dtype(context, kind), shape)) for _, kind, _, shape in fields],
        "offsets": [offset for _, _, offset, _ in fields],
        "itemsize": size,
    })


def dtype_number(context, dtype):
    """The number of what a program writes for a type: "f32", "f32x4", "float32", numpy.float32, numpy's dtypes, float,
    a Record, a ctypes.Structure; None is float64, as NumPy's."""
    if dtype is None:
        return NUMBERS["f64"]
    if isinstance(dtype, Record):
        return dtype._number
    if isinstance(dtype, str) and (dtype in NUMBERS or dtype in _BY_NAME):
        return NUMBERS.get(dtype, _BY_NAME.get(dtype))
    if isinstance(dtype, type) and dtype in _BY_PYTHON:
        return _BY_PYTHON[dtype]
    if isinstance(dtype, type) and issubclass(dtype, (ctypes._SimpleCData, ctypes.Structure, ctypes.Union)):
        view = memoryview(dtype())
        if not issubclass(dtype, ctypes._SimpleCData):
            return record_number(context, view.format, view.itemsize, kind=dtype)
        return number_of_format(context, view.format, view.itemsize)
    return _numpy_number(context, dtype)


def _numpy_number(context, dtype):
    if isinstance(dtype, str) and re.fullmatch(r"[<=|]?\w+", dtype) and dtype.lstrip("<=|") in _BY_TYPESTR:
        return _BY_TYPESTR[dtype.lstrip("<=|")]
    np = sys.modules.get("numpy") or numpy()
    if np is None:
        raise _errors.ArgumentError(f"{dtype!r} is no type of elements; numpy is not installed, so write \"f32\" and the like")
    try:
        dtype = np.dtype(dtype)
    except (TypeError, ValueError):
        raise _errors.ArgumentError(f"{dtype!r} is no type of elements: \"f32\", numpy.float32 and the like are") from None
    if dtype.fields:
        view = memoryview(np.empty(1, dtype))
        return number_of_format(context, view.format, view.itemsize)
    number = _BY_TYPESTR.get(dtype.kind + str(dtype.itemsize))
    if number is None or not dtype.isnative:
        raise _errors.ArgumentError(f"kernels have no elements of the type {dtype!r}" + (
            "" if number is None else f", whose bytes are in the other order: {dtype.newbyteorder('=').str!r} is this machine's"))
    return number


def number_of_typestr(typestr):
    """The number of one of NumPy's type strings, as __array_interface__ has them: "<f4"."""
    match = re.fullmatch(r"([<>=|]?)([A-Za-z?])(\d*)", typestr) if isinstance(typestr, str) else None
    if not match:
        raise _errors.ArgumentError(f"'typestr' is a text as \"<f4\", not {typestr!r}")
    order, kind, size = match.groups()
    number = _BY_TYPESTR.get(kind + size)
    if number is None:
        raise _errors.ArgumentError(f"kernels have no elements of the type '{typestr}'")
    if order in ("<>"[sys.byteorder == "little"],) and size != "1":
        raise _errors.ArgumentError(f"kernels have no elements of the type '{typestr}', whose bytes are in the other order: "
                                    f"'{'<>'[sys.byteorder == 'big']}{kind}{size}' is this machine's")
    return number


def number_of_letter(letter, size):
    """The number of a scalar's format; None: kernels have none."""
    if letter in tuple("bhilqnBHILQNc"):
        return NUMBERS.get(f"{'i' if letter in 'bhilqn' else 'u'}{8 * size}")
    return {own: NUMBERS[name] for name, (own, _) in _SCALARS.items()}.get({"F": "Zf", "D": "Zd"}.get(letter, letter))


def number_of_format(context, text, size):
    """The number of a buffer's format."""
    letter = text.lstrip("@=<")
    for name, (own, _) in _SCALARS.items():
        if own == letter:
            return NUMBERS[name]
    integer = {"l": "i", "L": "u", "c": "u"}.get(letter)
    return NUMBERS[f"{integer}{8 * size}"] if integer else record_number(context, text, size)


# ---- Records: a layout is a tuple of (name, number or layout, offset, shape) ----

_TOKEN = re.compile(r"\((?P<shape>[\d,]+)\)|(?P<order>[@=<>!^])|T\{(?P<open>)|(?P<close>\})|(?P<count>\d+)|"
                    r"(?P<pad>x)|(?P<code>Z?[a-zA-Z?])")
_SIZES = {"?": 1, "b": 1, "B": 1, "c": 1, "h": 2, "H": 2, "i": 4, "I": 4, "l": 8, "L": 8, "q": 8, "Q": 8, "n": 8,
          "N": 8, "e": 2, "f": 4, "d": 8, "Zf": 8, "Zd": 16}
_ALIGNED = {"Zf": 4, "Zd": 8}


class _Format:
    """Reads "T{f:x:3x(2)d:y:}" (PEP 3118)."""

    def __init__(self, text, order):
        self.text, self.at, self.order = text, 0, order

    def fail(self):
        raise _errors.ArgumentError(f"kernels have no elements of the format '{self.text}'")

    def token(self):
        match = _TOKEN.match(self.text, self.at)
        if not match:
            self.fail()
        self.at = match.end()
        return match.lastgroup, match.group(match.lastgroup)

    def name(self):
        end = self.text.find(":", self.at + 1)
        if self.text[self.at:self.at + 1] != ":" or end < 0:
            self.fail()
        name, self.at = self.text[self.at + 1:end], end + 1
        return name

    def scalar(self, code):
        size = _SIZES.get(code)
        if size is None:
            self.fail()
        if code in ("l", "L") and self.order not in "@^":
            size = 4
        align = _ALIGNED.get(code, size) if self.order == "@" else 1
        name = {"?": "bool", "e": "f16", "f": "f32", "d": "f64", "Zf": "c64", "Zd": "c128"}.get(code)
        return NUMBERS[name or f"{'i' if code in 'bhilqn' else 'u'}{8 * size}"], size, align

    def structure(self):
        """Behind "T{": (layout, bytes, alignment)."""
        fields, offset, shape, count, most = [], 0, (), 1, 1
        while True:
            kind, text = self.token()
            if kind == "close":
                return tuple(fields), offset, most
            if kind == "order":
                if text in ">!" and struct.pack("=h", 1) == struct.pack("<h", 1):
                    raise _errors.ArgumentError(f"kernels have no elements of the format '{self.text}', whose bytes are in the "
                                                "other order: x.astype(x.dtype.newbyteorder(\"<\")) has them in this machine's")
                self.order = text
            elif kind == "shape":
                shape += tuple(int(n) for n in text.split(","))  # an array of arrays has several
            elif kind == "count":
                count = int(text)
            elif kind == "pad":
                offset, count = offset + count, 1
            else:
                of, size, align = self.structure() if kind == "open" else self.scalar(text)
                if self.order == "@":
                    offset = -(-offset // align) * align
                most = max(most, align)
                fields.append((self.name(), of, offset, shape))
                for extent in shape:
                    size *= extent
                offset, shape = offset + size, ()


def parse_format(text, order="@"):
    reader = _Format(text, order)
    if reader.token()[0] != "open":
        reader.fail()
    layout, size, _ = reader.structure()
    if reader.at != len(text):
        reader.fail()
    return layout, size


def _layout(context, number):
    """A record's layout: vectors are arrays of their scalars there, and a bf16 is its bits."""
    fields = []
    for name, kind, offset, shape in context._record(number)[2]:
        if kind >= FIRST_RECORD:
            fields.append((name, _layout(context, kind), offset, shape))
        else:
            scalar, lanes = scalar_of(kind)
            scalar = NUMBERS["u16"] if NAMES[scalar] == "bf16" else scalar
            fields.append((name, scalar, offset, tuple(shape) + ((lanes,) if lanes > 1 else ())))
    return tuple(fields)


def _size(of):
    if isinstance(of, int):
        return _kjit._dtype_size(of)
    return max((offset + functools.reduce(lambda a, b: a * b, shape, _size(kind)) for _, kind, offset, shape in of),
               default=0)


def _fits(context, number, layout, size):
    record = context._record(number)
    return record is not None and record[1] == size and _layout(context, number) == layout


def _find(context, layout, size, first=()):
    """The first record that is laid out so, of these numbers, then of all; or None."""
    for number in first:
        if _fits(context, number, layout, size):
            return number
    number = FIRST_RECORD
    while context._record(number) is not None:
        if _fits(context, number, layout, size):
            return number
        number += 1
    return None


def _declare(layout, names, packed):
    """The text of records that are laid out so, the last of them the layout's."""
    fields, before = [], ""
    for name, kind, _, shape in layout:
        if not name.isidentifier():
            raise _errors.ArgumentError(f"a record has no field of the name '{name}'")
        if isinstance(kind, tuple):
            before += _declare(kind, names, packed)
        of = names[-1] if isinstance(kind, tuple) else NAMES[kind]
        fields.append(f"    {name}: {of}" + (str(list(shape)) if shape else ""))
    names.append(f"dtype_{len(names)}")
    return before + ("@packed " if packed else "") + f"record {names[-1]} {{\n" + "\n".join(fields) + "\n}\n"


def record_number(context, text, size, wanted=-1, module=None, kind=None):
    """The number of the record that has a buffer's format: that which a kernel's parameter wants, one of the kernel's module
    or of others, or one that is made for it. kind is the class whose elements they are. Called by the extension, once for each."""
    from . import _layouts  # which is over this
    if _layouts.is_ctypes(kind) and (text, size) == (memoryview(kind()).format, ctypes.sizeof(kind)):  # else it was cast
        layout, text = _layouts.of_ctypes(kind)[0], kind.__name__
    else:
        layout, end = parse_format(text)
        if end > size:  # NumPy does not say of one packed element that it is
            layout, _ = parse_format(text, "^")
    return number_of_layout(context, layout, size, f"'{text}'", wanted, module)


def number_of_layout(context, layout, size, what, wanted=-1, module=None):
    own = [_kjit.Module._record(module, name) for name in _kjit.Module._records.__get__(module)] if module is not None else []
    found = _find(context, layout, size, [wanted, *own] if wanted >= 0 else own)
    for packed in (False, True):
        if found is None and _size(layout) <= size:
            names = []
            source = _declare(layout, names, packed)
            module, error = context._compile("structure.knl", source, None, 0, 0, 0, None, "off", None, 0, {}, None)
            if error is None:
                module._record(names[-1])  # from here on the context knows it
                found = _find(context, layout, size)
    if found is None:
        raise _errors.ArgumentError(f"no record is laid out as {what}, of {size} bytes; align=True of numpy.dtype is C's layout")
    return found
