"""The types of Numba's kernels, for kjit.numba_port: which there are, what an operation's operands become, what values meet in.

A number's type goes by kjit's name ("i64"), as the two languages have the same ones. The rules are those of Numba's typing for
CUDA: an operation has cases, each with the types of its operands, and the case that takes the least harmful conversions is the
one; integers are computed in 64 bits, and a literal is an int64 or a float64."""
import re
from typing import NamedTuple

from . import _errors


class Arr(NamedTuple):
    """An array: elements are a number's type or a Rec."""
    elem: object
    ndim: int


class Tup(NamedTuple):
    items: tuple


class Rec(NamedTuple):
    """A structured dtype: fields are (name, type or Rec, shape)."""
    fields: tuple
    packed: bool


class Special(NamedTuple):
    """What is no value: "none", "group" (of cooperative threads), "text"."""
    name: str


NONE, GROUP, TEXT = Special("none"), Special("group"), Special("text")

SIGNED, UNSIGNED = ("i8", "i16", "i32", "i64"), ("u8", "u16", "u32", "u64")
INTS, FLOATS, COMPLEX = SIGNED + UNSIGNED, ("f16", "f32", "f64"), ("c64", "c128")
NUMBERS = INTS + FLOATS + COMPLEX
SCALARS = ("bool",) + NUMBERS

_PROMOTE, _SAFE, _UNSAFE = 2, 3, 4
_BOTH_WAYS = [  # (from, to, how good); the way back is unsafe
    ("bool", "i8", _SAFE), ("bool", "u8", _SAFE),
    ("i8", "i16", _PROMOTE), ("u8", "u16", _PROMOTE), ("i16", "i32", _PROMOTE), ("u16", "u32", _PROMOTE),
    ("i32", "i64", _PROMOTE), ("u32", "u64", _PROMOTE), ("u8", "i16", _SAFE), ("u16", "i32", _SAFE), ("u32", "i64", _SAFE),
    ("i8", "f16", _SAFE), ("i16", "f32", _SAFE), ("i32", "f64", _SAFE), ("i16", "f16", _UNSAFE), ("i32", "f32", _UNSAFE),
    ("i64", "f64", _SAFE), ("u64", "f64", _SAFE), ("f16", "f32", _PROMOTE), ("f32", "f64", _PROMOTE), ("c64", "c128", _PROMOTE),
]


def _conversions():
    """{(from, to): how bad}: of the ways over other types the one whose worst step is the least bad."""
    found = {(a, a): 1 for a in SCALARS}
    steps = _BOTH_WAYS + [(b, a, _UNSAFE) for a, b, _ in _BOTH_WAYS] + [("f32", "c64", _SAFE), ("f64", "c128", _SAFE)]
    changed = True
    while changed:
        changed = False
        for a, b, how in steps:
            for origin in SCALARS:
                reached = found.get((origin, a))
                if reached and max(reached, how) < found.get((origin, b), 9):
                    found[origin, b] = max(reached, how)
                    changed = True
    return found


_CONVERSIONS = _conversions()


def resolve(cases, types, unsafe=True):
    """The case (result, operands...) that these types take, or None."""
    best = None
    for case in cases:
        if len(case) != len(types) + 1:
            continue
        steps = [_CONVERSIONS.get((have, want)) for have, want in zip(types, case[1:])]
        if None in steps or (not unsafe and _UNSAFE in steps):
            continue
        rating = (steps.count(_UNSAFE), steps.count(_SAFE), steps.count(_PROMOTE))
        if best is None or rating < best[0]:
            best = rating, case
    return best[1] if best else None


def _same(*names):
    return [(name, name, name) for name in names]


_INT = [("i64", "i64", "i64"), ("i64", "i64", "u64"), ("i64", "u64", "i64"), ("u64", "u64", "u64")]
_REAL = _same("f32", "f64")
_ARITHMETIC = _INT + _REAL + _same("c64", "c128")
_SHIFT = [("i64", a, b) for a in SIGNED for b in ("u64", "i64")] + [("u64", a, b) for a in UNSIGNED for b in ("u64", "i64")]
_ORDER = [("bool", name, name) for name in ("bool",) + INTS + ("f32", "f64")]
_WIDE = [("i64", name) for name in SIGNED] + [("u64", name) for name in UNSIGNED]

BINARY = {
    "+": _ARITHMETIC, "-": _ARITHMETIC, "*": _ARITHMETIC, "%": _INT + _REAL, "//": _INT + _REAL,
    "/": [("f64", a, b) for _, a, b in _INT] + _REAL + _same("c64", "c128"),
    "**": _INT + [(x, x, n) for x in ("f32", "f64") for n in ("i32", "i64", "u64")] + _REAL + _same("c64", "c128"),
    "<<": _SHIFT, ">>": _SHIFT, "&": _same("bool") + _INT, "|": _same("bool") + _INT, "^": _same("bool") + _INT,
}
COMPARE = {op: _ORDER for op in ("<", "<=", ">", ">=")}
COMPARE.update({op: _ORDER + [("bool", "c64", "c64"), ("bool", "c128", "c128")] for op in ("==", "!=")})
UNARY = {"-": _WIDE + [(x, x) for x in ("f32", "f64", "c64", "c128")] + [("i64", "bool")], "~": [("bool", "bool")] + _WIDE}
UNARY["+"] = UNARY["-"]
OF_FLOAT = [("f64", "i64"), ("f64", "u64"), ("f32", "f32"), ("f64", "f64")]
OF_FLOAT_F16 = OF_FLOAT + [("f16", "f16")]
OF_TWO = [("f64", "i64", "i64"), ("f64", "u64", "u64"), ("f32", "f32", "f32"), ("f64", "f64", "f64")]
OF_TWO_FLOATS = [("f32", "f32", "f32"), ("f64", "f64", "f64")]
NOT_UNSAFE = ("<<", ">>", "&", "|", "^", "~")


def of_half(op, types):
    """An operation with a float16: on halves alone, and what converts to one; or None."""
    other = types[1] if types[0] == "f16" else types[0]
    if op not in ("+", "-", "*", "/", "<", "<=", ">", ">=", "==", "!=") or other not in ("f16", "i8", "bool"):
        return None
    return ("bool" if op in COMPARE else "f16", "f16", "f16")


def binary(op, left, right):
    """(result, left's type, right's type) of an operator, or None."""
    if "f16" in (left, right) and not (left in COMPLEX or right in COMPLEX):
        return of_half(op, (left, right))
    return resolve(BINARY.get(op) or COMPARE[op], (left, right), op not in NOT_UNSAFE)


def bits(name):
    return int(re.sub(r"\D", "", name)) if name != "bool" else 1


def _promote(a, b):
    """NumPy's common type of two numbers."""
    if a in COMPLEX or b in COMPLEX:
        parts = [{"c64": "f32", "c128": "f64"}.get(x, x) for x in (a, b)]
        return "c128" if _promote("f32", _promote(*parts)) == "f64" else "c64"
    if a in FLOATS or b in FLOATS:
        whole = [x for x in (a, b) if x in INTS]
        least = [f"f{16 if bits(x) == 8 else 32 if bits(x) == 16 else 64}" for x in whole]
        return max([x for x in (a, b) if x in FLOATS] + least, key=bits)
    if (a in SIGNED) == (b in SIGNED):
        return max(a, b, key=bits)
    signed, unsigned = (a, b) if a in SIGNED else (b, a)
    return "f64" if unsigned == "u64" else f"i{max(bits(signed), 2 * bits(unsigned))}"


def unify(a, b):
    """The type of a variable that is given both, or None."""
    if a == b or b is None:
        return a
    if a is None:
        return b
    if isinstance(a, Tup) and isinstance(b, Tup) and len(a.items) == len(b.items):
        items = tuple(unify(x, y) for x, y in zip(a.items, b.items))
        return None if None in items else Tup(items)
    if a in SCALARS and b in SCALARS:
        return (b if a == "bool" else a) if "bool" in (a, b) else _promote(a, b)
    return None


def holds(wide, narrow):
    """Has the wider type each value of the narrower one?"""
    if wide == narrow or narrow == "bool":
        return True
    if isinstance(wide, Tup) and isinstance(narrow, Tup):
        return all(holds(a, b) for a, b in zip(wide.items, narrow.items))
    if wide not in NUMBERS or narrow not in NUMBERS:
        return False
    if narrow in INTS and wide in FLOATS:
        return bits(narrow) < {"f16": 12, "f32": 25, "f64": 54}[wide]
    if narrow in INTS and wide in INTS:
        return bits(narrow) < bits(wide) and (narrow in UNSIGNED or wide in SIGNED)
    return narrow[0] == wide[0] and bits(narrow) <= bits(wide)


# ---- names ----

_SHORT = {"i1": "i8", "i2": "i16", "i4": "i32", "i8": "i64", "u1": "u8", "u2": "u16", "u4": "u32", "u8": "u64", "f2": "f16",
          "f4": "f32", "f8": "f64", "c8": "c64", "c16": "c128", "b1": "bool", "intp": "i64", "uintp": "u64", "int_": "i64",
          "uint": "u64", "float_": "f64", "double": "f64", "float": "f64", "int": "i64", "complex": "c128", "boolean": "bool",
          "bool_": "bool", "bool": "bool", "intc": "i32", "uintc": "u32", "longlong": "i64", "ulonglong": "u64", "byte": "u8",
          "single": "f32", "half": "f16", "long_": "i64", "ulong": "u64", "short": "i16", "ushort": "u16"}
_NUMBERS_OF_NUMBA = {f"{word}{size}": f"{letter}{size}" for word, letter, sizes in (
    ("int", "i", (8, 16, 32, 64)), ("uint", "u", (8, 16, 32, 64)), ("float", "f", (16, 32, 64)), ("complex", "c", (64, 128)))
    for size in sizes}


def named(name):
    """The number's type of one of Numba's or NumPy's names, "float32" or "f4"; or None."""
    return _NUMBERS_OF_NUMBA.get(name) or _SHORT.get(name)


def show(of):
    """As messages have it: Numba's names."""
    for long, short in list(_NUMBERS_OF_NUMBA.items()) + [("bool", "bool")]:
        if of == short:
            return long
    if isinstance(of, Arr):
        return f"{show(of.elem)}[{', '.join(':' * of.ndim)}]"
    if isinstance(of, Tup):
        return f"({', '.join(map(show, of.items))})"
    if isinstance(of, Rec):
        return "a record"
    return {"none": "None", "group": "a group of threads", "text": "a text"}.get(getattr(of, "name", None), "nothing")


def spell(of, records):
    """As kjit writes it; records gives a Rec its name."""
    if isinstance(of, Arr):
        return f"{spell(of.elem, records)}[{',' * (of.ndim - 1)}]"
    if isinstance(of, Tup):
        return f"({', '.join(spell(item, records) for item in of.items)})"
    return records(of) if isinstance(of, Rec) else of


# ---- signatures ----

_OWN = re.compile(r"(bool|[iu](?:8|16|32|64)|f(?:16|32|64)|c(?:64|128))(\[,*\])?")
_NUMBAS = re.compile(r"(?:\w+\.)*(\w+)\s*(\[[\s:,1]*\])?")


def _refuse(text):
    raise _errors.ArgumentError(f"no signature: {text!r} is no type of a parameter; \"f32[], i64\" is one of two, and so is "
                                "Numba's \"void(float32[:], int64)\"")


def parse_type(text, numbas):
    """A parameter's type: "f32[,]", or Numba's "float32[:, ::1]". Some short names are both's, and not the same: i8 of Numba
    has 8 bytes."""
    text = text.strip()
    match = None if numbas else _OWN.fullmatch(text)
    if match:
        elem, axes = match.groups()
        return Arr(elem, axes.count(",") + 1) if axes else elem
    match = _NUMBAS.fullmatch(text)
    if not match or named(match.group(1)) is None:
        _refuse(text)
    elem, axes = named(match.group(1)), match.group(2)
    return Arr(elem, axes.count(",") + 1) if axes else elem


def split(text):
    """At the commas that are in no brackets."""
    parts, depth, start = [], 0, 0
    for at, c in enumerate(text):
        depth += (c in "[(") - (c in "])")
        if c == "," and not depth:
            parts.append(text[start:at])
            start = at + 1
    return [part for part in parts + [text[start:]] if part.strip()]


def parse_signature(text, numbas=False):
    """The types of a text: "f32[], i64", "void(float32[:], int64)", "(float32[:], int64)"."""
    match = re.fullmatch(r"\s*([\w.]*)\s*\((.*)\)\s*", text, re.DOTALL)
    inner = match.group(2) if match else text
    return tuple(_tuple_or_type(part, numbas or ":" in text or bool(match)) for part in split(inner))


def _tuple_or_type(text, numbas):
    text = text.strip()
    if text.startswith("(") and text.endswith(")"):
        return Tup(tuple(_tuple_or_type(part, numbas) for part in split(text[1:-1])))
    match = re.fullmatch(r"UniTuple\((.*),\s*(\d+)\)", text)
    if match:
        return Tup((_tuple_or_type(match.group(1), numbas),) * int(match.group(2)))
    return parse_type(text, numbas)
