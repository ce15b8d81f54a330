"""Expressions of a Numba kernel in kjit's language, for kjit.numba_port: each has its type by Numba's rules, and a text that
has the same value. The text's own type may be a wider one, as that of an index is: threadIdx.x is an i64 here, an int32
there."""
import ast
import math
import struct

from . import _port_source, _port_types
from ._port_types import Arr, GROUP, NONE, Rec, TEXT, Tup, show

CONDITION, OR, AND, NOT, COMPARED, BIT_OR, BIT_XOR, BIT_AND, SHIFT, SUM, PRODUCT, SIGN, POWER, ATOM = range(1, 15)
_OPERATORS = {ast.Add: ("+", SUM), ast.Sub: ("-", SUM), ast.Mult: ("*", PRODUCT), ast.Div: ("/", PRODUCT),
              ast.FloorDiv: ("//", PRODUCT), ast.Mod: ("%", PRODUCT), ast.Pow: ("**", POWER), ast.LShift: ("<<", SHIFT),
              ast.RShift: (">>", SHIFT), ast.BitAnd: ("&", BIT_AND), ast.BitOr: ("|", BIT_OR), ast.BitXor: ("^", BIT_XOR)}
_COMPARISONS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}


class E:
    """An expression: text, how tightly it binds, type by Numba's rules, own: the text's type (None: a literal, which takes the
    type of what it meets). value: a constant's; condition: the bool that a number of 0 or 1 is made of; items: a tuple's."""

    narrow = name = None  # (a narrower type, E): the same value, where it is converted to that; a tuple's name outside

    def __init__(self, text, type, own=None, binds=ATOM, *, literal=False, value=None, condition=None, items=None, pure=True):
        self.text, self.type, self.binds = text, type, binds
        self.own = None if literal else own or type
        self.literal, self.value, self.condition, self.items, self.pure = literal, value, condition, items, pure

    def at(self, binds):
        """Its text, in brackets where it binds less."""
        return self.text if self.binds >= binds else f"({self.text})"


class Ref:
    """What is no value: a path ("numba.cuda.grid"), a function, a method of a value (its name and the E)."""

    def __init__(self, kind, value, of=None):
        self.kind, self.value, self.of = kind, value, of


def literal(value):
    """A constant, as Numba types it: int64, float64, bool, complex128."""
    if isinstance(value, bool):
        return E("true" if value else "false", "bool", value=value)
    if isinstance(value, int):
        of = "i64" if value < 2 ** 63 else "u64"
        return E(str(value), of, literal=True, value=value, binds=ATOM if value >= 0 else SIGN)
    if isinstance(value, float):
        text = "nan" if math.isnan(value) else ("-" if value < 0 else "") + "inf" if math.isinf(value) else repr(value)
        return E(text, "f64", literal=True, value=value, binds=SIGN if text.startswith("-") else ATOM)
    parts = [literal(float(part)).text for part in (value.real, value.imag)]
    return E(f"c128({parts[0]}, {parts[1]})", "c128", value=value)


def _is_single(value):
    """Is a number one of float32?"""
    try:
        return isinstance(value, (int, float)) and struct.unpack("f", struct.pack("f", value))[0] == value
    except (OverflowError, struct.error):
        return False


def _counted(e):
    """A constant bool as the number that it is where it is computed with."""
    return E(str(int(e.value)), "bool", literal=True, value=int(e.value)) if isinstance(e.value, bool) else e


def meets(wide, narrow):
    """Do both meet in the first type by themselves?"""
    if wide == narrow:
        return True
    if wide not in _port_types.NUMBERS or narrow not in _port_types.NUMBERS or "f16" in (wide, narrow):
        return False
    if wide in ("f32", "f64"):
        return narrow in _port_types.INTS or (narrow in ("f32",) and wide == "f64")
    if wide in _port_types.COMPLEX:
        return narrow == "c64" or narrow == {"c64": "f32", "c128": "f64"}[wide]
    return narrow in _port_types.INTS and _port_types.holds(wide, narrow)


class Expressions:
    """The part of a function's translation that makes expressions; what it uses of the others: flow, bounds, unit, fail."""

    # ---- conversions ----

    def typed(self, e, of):
        """A literal that stands alone is given its type."""
        return E(f"{of}({e.text})", e.type, of, value=e.value) if e.literal else e

    def to(self, e, of, node):
        """The value converted to a type, as Numba casts."""
        if isinstance(of, Tup) or isinstance(e.type, Tup):
            return self._tuple_to(e, of, node)
        if e.literal and of != "bool":
            if of in _port_types.INTS and isinstance(e.value, float):
                return self._literal_to_int(e, of, node)
            if of in _port_types.INTS and not self._fits(e.value, of):
                return E(f"{of}({'i64' if e.value < 2 ** 63 else 'u64'}({e.text}))", of)
            return E(e.text, e.type, binds=e.binds, literal=True, value=e.value)
        if e.own == of:
            return E(e.text, of, of, e.binds, pure=e.pure, condition=e.condition)
        if e.narrow and e.narrow[0] == of:
            return e.narrow[1]
        if isinstance(e.value, bool) and of in _port_types.NUMBERS:
            return E(str(int(e.value)), of, literal=True, value=int(e.value))
        if of == "bool":
            return E(self.truth(e, node), "bool", binds=CONDITION if e.condition else COMPARED, pure=e.pure)
        if e.type not in _port_types.SCALARS or of not in _port_types.SCALARS:
            raise self.fail(node, f"{show(e.type)} is no {show(of)}")
        if e.type in _port_types.COMPLEX and of not in _port_types.COMPLEX:
            raise self.fail(node, f"{show(e.type)} does not become {show(of)}", "write z.real, or abs(z)")
        return E(f"{of}({e.condition or e.text})", of, pure=e.pure, condition=e.condition)

    def _fits(self, value, of):
        size = _port_types.bits(of)
        low, high = (-2 ** (size - 1), 2 ** (size - 1)) if of in _port_types.SIGNED else (0, 2 ** size)
        return low <= value < high

    def _literal_to_int(self, e, of, node):
        if not math.isfinite(e.value) or not self._fits(int(e.value), of):
            raise self.fail(node, f"{e.value} is outside of {show(of)}")
        return E(str(int(e.value)), of, literal=True, value=int(e.value), binds=ATOM if e.value >= 0 else SIGN)

    def _tuple_to(self, e, of, node):
        if not (isinstance(of, Tup) and isinstance(e.type, Tup) and len(of.items) == len(e.type.items)):
            raise self.fail(node, f"{show(e.type)} is no {show(of)}")
        if e.own == of and not e.items:
            return e
        items = [self.given(item, want, node) for item, want in zip(self.items(e, node), of.items)]
        return E("(" + ", ".join(item.text for item in items) + ")", of, items=items, pure=all(i.pure for i in items))

    def given(self, e, of, node):
        """As an assignment or an argument takes it: what converts by itself there needs no word."""
        if isinstance(of, Tup) or e.literal:
            return self.to(e, of, node)
        ints, floats = _port_types.INTS, ("f32", "f64")
        if e.own in ints and (of in floats or (of in ints and _port_types.holds(of, e.own))) \
                or (e.own in ("f16", "f32") and of in floats and _port_types.holds(of, e.own)):
            return E(e.text, of, of, e.binds, pure=e.pure)
        return self.to(e, of, node)

    def settled(self, e):
        """A number whose text has another type than itself, which does not hold it, becomes its own type's."""
        if e.literal or e.own == e.type or e.type not in _port_types.SCALARS:
            return e
        if e.own in _port_types.INTS and e.type in _port_types.INTS and e.own == "i64":
            return e
        return E(f"{e.type}({e.text})", e.type, pure=e.pure)

    def items(self, e, node):
        """The items of a tuple, each an expression."""
        if e.items:
            return e.items
        if e.binds < ATOM or not e.pure:
            raise self.fail(node, "the items of this tuple are needed one by one", "give the tuple a name first")
        own = e.own.items if isinstance(e.own, Tup) else e.type.items
        return [self.settled(E(f"{e.text}[{i}]", t, o)) for i, (t, o) in enumerate(zip(e.type.items, own))]

    def truth(self, e, node):
        """As a condition: a number is true where it is not 0."""
        if e.condition:
            return e.condition
        if e.type == "bool":
            return e.text
        if e.literal:
            return "true" if e.value else "false"
        if e.type in _port_types.NUMBERS:
            return f"{e.at(BIT_OR)} != 0"
        raise self.fail(node, f"{show(e.type)} is no condition", "write x.size > 0, or len(t) > 0" if e.type not in (NONE, TEXT)
                        else None)

    def pair(self, left, right, of, node):
        """Two operands that meet in a type."""
        if left.literal and right.literal:
            return self.typed(self.to(left, of, node), of), self.to(right, of, node)
        if left.literal or right.literal:
            return self.to(left, of, node), self.to(right, of, node)
        if left.own == of and meets(of, right.own) or right.own == of and meets(of, left.own):
            return left, right
        left = self.to(left, of, node)
        return left, right if meets(of, right.own) else self.to(right, of, node)

    # ---- expressions ----

    def expr(self, node):
        """An expression that is a value."""
        e = self.any(node)
        if isinstance(e, Ref):
            what = e.value.name if e.kind == "function" else "an enum" if e.kind == "enum" else e.value
            raise self.fail(node, f"'{what}' is no value here")
        return e

    def any(self, node):
        """An expression, or a Ref."""
        method = getattr(self, "_" + type(node).__name__, None)
        if method is None:
            raise self.fail(node, *_NOT_THERE.get(type(node).__name__, (f"no kernel has this ({type(node).__name__})", None)))
        return method(node)

    def argument(self, node):
        """An expression, or None, as a function is given it."""
        return E("none", NONE) if self._is_none(node) else self.expr(node)

    def _is_none(self, node):
        if isinstance(node, ast.Name) and node not in self.flow.uses:
            found = self.function.source.lookup(node.id)
            return found is not None and found.kind == "none"
        return isinstance(node, ast.Constant) and node.value is None

    def number(self, node):
        e = self.expr(node)
        if e.type not in _port_types.SCALARS:
            raise self.fail(node, f"a number is meant, not {show(e.type)}")
        return e

    def _Constant(self, node):
        if isinstance(node.value, (bool, int, float, complex)):
            if isinstance(node.value, int) and not -2 ** 63 <= node.value < 2 ** 64:
                raise self.fail(node, "no integer of a kernel has so many digits")
            e = literal(node.value)
            text = self.function.source.lines[node.lineno - 1].encode()[node.col_offset:node.end_col_offset].decode()
            if type(node.value) is int and text[:2].lower() in ("0x", "0b"):
                e.text = text.lower()
            return e
        if isinstance(node.value, str):
            return E('"' + "".join(_ESCAPES.get(c, c) for c in node.value) + '"', TEXT, value=node.value)
        raise self._no_none(node) if node.value is None else self.fail(node, f"there is no {node.value!r} in a kernel")

    def _no_none(self, node):
        return self.fail(node, "there is no None in a kernel", "a number that stands for it does: -1, or math.nan")

    def _Name(self, node):
        if node in self.flow.uses:
            return self.variable(node)
        found = self.function.source.lookup(node.id)
        if found is None:
            raise self.fail(node, f"'{node.id}' is not known",
                            "it is neither the function's own, nor a number, an array or a function outside of it")
        if found.kind == "value":
            return self.unit.constant(node.id, found.value)
        if found.kind == "none":
            raise self._no_none(node)
        if found.kind == "other":
            raise self.fail(node, f"'{node.id}' is a {type(found.value).__name__}, which a kernel cannot have",
                            "numbers, tuples and arrays of them, functions and types can be used from outside")
        return Ref(found.kind, found.value)

    def _Attribute(self, node):
        of = self.any(node.value)
        if isinstance(of, Ref) and of.kind == "enum":
            if node.attr not in of.value:
                raise self.fail(node, f"the enum has no '{node.attr}'", "it has " + ", ".join(of.value))
            return self.unit.constant(f"{ast.unparse(node.value)}_{node.attr}".replace(".", "_"), of.value[node.attr])
        if isinstance(of, Ref):
            if of.kind != "path":
                raise self.fail(node, f"a function has no '{node.attr}' here")
            return self.path(f"{of.value}.{node.attr}", node)
        return self.attribute(of, node)

    def path(self, path, node):
        """A name of a module: a constant, an index of the thread, or what is called."""
        value = _port_source.constant_of(path)
        if value is not None:
            return literal(value)
        word = path[len("numba.cuda."):] if path.startswith("numba.cuda.") else ""
        if word.partition(".")[0] in ("threadIdx", "blockIdx", "blockDim", "gridDim") and word[-2:] in (".x", ".y", ".z"):
            return E(word, "i32", "i64")
        if word in ("laneid", "warpsize"):
            return E(word, "i32", "i64")
        return Ref("path", path)

    # ---- operators ----

    def _UnaryOp(self, node):
        if isinstance(node.op, ast.Not):
            e = self.expr(node.operand)
            if e.literal or isinstance(e.value, bool):
                return literal(not e.value)
            text = self.truth(e, node.operand)
            bare = e.type == "bool" and not e.condition and e.binds > NOT
            simple = bare or text.replace("_", "").isalnum()
            if e.type in _port_types.NUMBERS and not e.literal and not e.condition:
                return E(f"{e.at(BIT_OR)} == 0", "bool", binds=COMPARED, pure=e.pure)
            return E(f"not {text}" if simple else f"not ({text})", "bool", binds=NOT, pure=e.pure)
        e = self.number(node.operand)
        if e.literal:
            value = _port_source.fold(node.op, e.value)
            if value is not None:
                return literal(value)
        sign = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~"}[type(node.op)]
        case = ("f16", "f16") if e.type == "f16" and sign == "-" else _port_types.resolve(
            _port_types.UNARY[sign], (e.type,), sign != "~")
        if case is None:
            raise self.fail(node, f"there is no {sign} of {show(e.type)}")
        if case[0] == "bool":
            return E(f"not {e.at(NOT + 1)}", "bool", binds=NOT)
        if sign == "+" or e.type not in _port_types.INTS:
            e = self.typed(self.to(e, case[0], node), case[0])
            return e if sign == "+" else E(sign + e.at(POWER), case[0], binds=SIGN, pure=e.pure)
        if e.type in _port_types.UNSIGNED:
            e = self.to(e, e.type, node)
        return E(sign + e.at(POWER), case[0], e.own, SIGN, pure=e.pure)  # in its own bits, and only then in 64, as Numba's

    def _BinOp(self, node):
        return self.operate(node, node.op, self.expr(node.left), self.expr(node.right))

    def operate(self, node, op, left, right):
        """left op right, or what _parts gives of them, by Numba's rules."""
        if type(op) not in _OPERATORS:
            raise self.fail(node, "there is no matrix product in a kernel", "write the loops")
        sign, binds = _OPERATORS[type(op)]
        for e, tree in ((left, getattr(node, "left", node)), (right, getattr(node, "right", node))):
            if e.type not in _port_types.SCALARS:
                hint = "write a loop over the elements" if isinstance(e.type, Arr) else None
                raise self.fail(tree, f"'{sign}' is of numbers, not of {show(e.type)}", hint)
        if sign not in ("&", "|", "^"):
            left, right = _counted(left), _counted(right)
        if left.literal and right.literal:
            value = _port_source.fold(op, left.value, right.value)
            if value is not None:
                return self._folded(value, left, right, sign, binds)
            if type(op) in _OPERATORS and sign not in ("&", "|", "^"):
                raise self.fail(node, "this constant has no value in 64 bits",
                                "a float has its size: 2.0 ** 70" if sign != "//" else None)
        case = _port_types.binary(sign, left.type, right.type)
        if case is None:
            raise self.fail(node, f"there is no {sign} of {show(left.type)} and {show(right.type)}",
                            self._mixed_hint(left, right))
        if sign == "**":
            return self.power(node, left, right, case)
        if sign in ("<<", ">>"):
            return self._shift(node, left, right, case[0], sign)
        of = case[0] if case[0] != "bool" or left.type == "bool" else case[1]
        a, b = self.pair(left, right, of, node)
        e = E(f"{a.at(binds)} {sign} {b.at(binds + 1)}", case[0], of, binds, pure=left.pure and right.pure)
        e.narrow = self._narrow(sign, binds, left, right, of)
        return e

    def _narrow(self, sign, binds, left, right, of):
        """The operation in a narrower type, which has the same result where it is converted to that: the low bits of integers
        do not depend on how many there are above; one operation on float32 in float64 is rounded to the same."""
        for want in {left.own, right.own} | {e.narrow[0] for e in (left, right) if e.narrow}:
            if want in _port_types.INTS and of in ("i64", "u64") and sign in "+-*&|^" and want != of:
                a, b = (self._as_narrow(e, want) for e in (left, right))
            elif want == "f32" and of == "f64" and sign in "+-*/":
                a, b = (e if e.own == "f32" or e.literal and _is_single(e.value) else None for e in (left, right))
            else:
                continue
            if a and b:
                return want, E(f"{a.at(binds)} {sign} {b.at(binds + 1)}", want, want, binds, pure=left.pure and right.pure)
        return None

    def _as_narrow(self, e, want):
        if e.own == want or e.literal and isinstance(e.value, int) and self._fits(e.value, want):
            return e
        return e.narrow[1] if e.narrow and e.narrow[0] == want else None

    def _mixed_hint(self, left, right):
        if "f16" in (left.type, right.type):
            return "float32(x) of the float16, or np.float16(x) of the other"
        return None

    def _folded(self, value, left, right, sign, binds):
        """A constant; names of constants stay, where they are computed alike."""
        e = literal(value)
        named = [x for x in (left, right) if x.text[0].isalpha() and x.text not in ("inf", "nan")]
        if named and sign in "+-*" and type(left.value) is type(right.value):
            e = E(f"{left.at(binds)} {sign} {right.at(binds + 1)}", e.type, literal=True, value=value, binds=binds)
        return e

    def _shift(self, node, left, right, of, sign):
        if right.type == "bool":
            right = self.to(right, "i64", node)
        a = self.to(left, of, node)
        if a.literal and right.own != of:
            a = self.typed(a, of)
        return E(f"{a.at(SHIFT)} {sign} {right.at(SUM)}", of, binds=SHIFT, pure=left.pure and right.pure)

    def power(self, node, left, right, case):
        """x ** n by products where n is an integer, as Numba's; pow(x, y) of floats."""
        of, pure = case[0], left.pure and right.pure
        base = self.typed(self.to(left, of, node), of)
        if case[2] not in _port_types.INTS:
            exponent = self.to(right, of, node)
            if of in _port_types.COMPLEX:
                return E(f"pow({base.text}, {self.typed(exponent, of).text})", of, pure=pure)
            return E(f"pow({base.text}, {exponent.text})", of, pure=pure)
        if right.literal and 0 <= right.value <= 64:
            return E(f"{base.at(ATOM)} ** {right.text}" if right.binds == ATOM else f"{base.at(ATOM)} ** ({right.text})", of,
                     binds=POWER, pure=pure)
        if right.literal and -64 <= right.value < 0 and of in _port_types.FLOATS:
            return E(f"1 / {base.at(ATOM)} ** {-right.value}", of, binds=PRODUCT, pure=pure)
        self.unit.helper("power_" + of)
        return E(f"power_{of}({base.text}, {self.given(right, 'i64', node).text})", of, pure=pure)

    def _Compare(self, node):
        if len(node.ops) == 1 and isinstance(node.ops[0], (ast.Is, ast.IsNot)) and self._is_none(node.comparators[0]):
            e = self.argument(node.left)  # only a parameter is None, which its type says
            return literal((e.type == NONE) == isinstance(node.ops[0], ast.Is))
        operands = [self.expr(n) for n in [node.left] + node.comparators]
        trees = [node.left] + node.comparators
        if all(e.literal for e in operands) and all(type(op) in _COMPARISONS for op in node.ops):
            return literal(all(_DECIDED[type(op)](a.value, b.value) for a, op, b in zip(operands, node.ops, operands[1:])))
        texts, kinds = [], []
        for i, op in enumerate(node.ops):
            text, of = self._comparison(node, operands[i], op, operands[i + 1], trees[i:i + 2])
            texts.append(text)
            kinds.append(of)
        pure = all(e.pure for e in operands)
        if len(texts) == 1:
            return E(" ".join(texts[0]), "bool", binds=COMPARED, pure=pure)
        if len(set(kinds)) == 1 and all(texts[i][2] == texts[i + 1][0] for i in range(len(texts) - 1)):
            return E(texts[0][0] + "".join(f" {t[1]} {t[2]}" for t in texts), "bool", binds=COMPARED, pure=pure)
        if not all(e.pure for e in operands[1:-1]):
            raise self.fail(node, "what stands within this chain is computed twice", "give it a name first")
        return E(" and ".join(" ".join(t) for t in texts), "bool", binds=AND, pure=pure)

    def _comparison(self, node, left, op, right, trees):
        """((left, operator, right) as texts, the type in which they are compared)."""
        if type(op) not in _COMPARISONS:
            word = {"Is": "is", "IsNot": "is not", "In": "in", "NotIn": "not in"}[type(op).__name__]
            raise self.fail(node, f"there is no '{word}' in a kernel",
                            "compare with ==" if word.startswith("is") else "write a loop, or comparisons with ==")
        sign = _COMPARISONS[type(op)]
        for e, tree in zip((left, right), trees):
            if e.type not in _port_types.SCALARS:
                raise self.fail(tree, f"'{sign}' compares numbers, not {show(e.type)}")
        if "bool" not in (left.type, right.type) or left.type != right.type:
            left, right = _counted(left), _counted(right)
        case = _port_types.binary(sign, left.type, right.type)
        if case is None:
            raise self.fail(node, f"{show(left.type)} and {show(right.type)} are not compared by '{sign}'",
                            self._mixed_hint(left, right))
        of = case[1]
        if of == "bool" and sign not in ("==", "!="):
            of = "i64"
        if self._exact(left, right) or self._exact(right, left):
            a, b = left, right
        else:
            a, b = self.pair(left, right, of, node)
        if left.literal and right.literal:
            a = left
        return (a.at(BIT_OR), sign, b.at(BIT_OR)), of

    def _exact(self, e, number):
        """Is the literal a number of the other side's own type? Then they are compared in that alike."""
        if not number.literal or isinstance(number.value, bool):
            return False
        if e.own in _port_types.INTS:
            return isinstance(number.value, int) and self._fits(number.value, e.own)
        return e.own == "f32" and _is_single(number.value)

    def _BoolOp(self, node):
        values = [self.expr(n) for n in node.values]
        word, binds = ("and", AND) if isinstance(node.op, ast.And) else ("or", OR)
        if all(e.type == "bool" for e in values):
            texts = [e.at(binds) if e.binds != binds else e.text for e in values]
            return E(f" {word} ".join(texts), "bool", binds=binds, pure=all(e.pure for e in values))
        if node in self.conditions:
            texts = [(t if not self._loose(t, e, binds) else f"({t})") for t, e in
                     ((self.truth(e, n), e) for e, n in zip(values, node.values))]
            return E(f" {word} ".join(texts), "bool", binds=binds, pure=all(e.pure for e in values))
        return self._chosen(node, values, word)

    def _loose(self, text, e, binds):
        return e.type == "bool" and e.binds < binds

    def _chosen(self, node, values, word):
        """`a or b` of numbers is one of the two."""
        e = values[-1]
        for first, tree in zip(values[-2::-1], node.values[-2::-1]):
            of = _port_types.unify(first.type, e.type)
            if of is None:
                raise self.fail(node, f"'{word}' of {show(first.type)} and {show(e.type)} is of no type", "write a if c else b")
            if not first.pure:
                raise self.fail(tree, f"the left side of '{word}' would be computed twice", "give it a name first")
            test, own = self.truth(first, tree), self.typed(self.to(first, of, tree), of)
            other = self.typed(self.to(e, of, tree), of)
            yes, no = (other, own) if word == "and" else (own, other)
            e = E(f"{yes.at(OR)} if {test} else {no.at(CONDITION)}", of, binds=CONDITION, pure=first.pure and e.pure)
        return e

    def _IfExp(self, node):
        self.conditions.add(node.test)
        test = self.expr(node.test)
        yes, no = self.expr(node.body), self.expr(node.orelse)
        of = _port_types.unify(yes.type, no.type)
        if of is None:
            raise self.fail(node, f"{show(yes.type)} and {show(no.type)} are of no common type")
        if isinstance(of, Rec) or of in (NONE, GROUP, TEXT):
            raise self.fail(node, f"{show(of)} is not chosen in an expression", "write an if")
        if not isinstance(of, Arr):
            yes, no = self.to(yes, of, node), self.to(no, of, node)
            if not isinstance(of, Tup):
                yes, no = self.typed(yes, of), self.typed(no, of)
        condition = self.truth(test, node.test)
        return E(f"{yes.at(OR)} if {condition} else {no.at(CONDITION)}", of, binds=CONDITION,
                 pure=test.pure and yes.pure and no.pure)


_DECIDED = {ast.Lt: lambda a, b: a < b, ast.LtE: lambda a, b: a <= b, ast.Gt: lambda a, b: a > b, ast.GtE: lambda a, b: a >= b,
            ast.Eq: lambda a, b: a == b, ast.NotEq: lambda a, b: a != b}
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
_NOT_THERE = {
    "Lambda": ("there are no lambdas in a kernel", "a device function is a def"),
    "List": ("there are no lists in a kernel", "a tuple has a fixed number of items, cuda.local.array(n, float32) numbers"),
    "ListComp": ("there are no comprehensions in a kernel", "write a loop"),
    "GeneratorExp": ("there are no generators in a kernel", "write a loop"),
    "SetComp": ("there are no comprehensions in a kernel", "write a loop"),
    "DictComp": ("there are no comprehensions in a kernel", "write a loop"),
    "Dict": ("there are no dicts in a kernel", "an array, or parameters, have what it has"),
    "Set": ("there are no sets in a kernel", None),
    "JoinedStr": ("there are no formatted texts in a kernel", "print(\"text\", x) has values behind commas"),
    "NamedExpr": ("no name is assigned within an expression here", "assign it in a statement before"),
    "Starred": ("nothing is unpacked by a star in a kernel", "write the items"),
    "Await": ("nothing is awaited in a kernel", None),
    "Yield": ("a kernel yields nothing", "write to an array"),
    "YieldFrom": ("a kernel yields nothing", "write to an array"),
}
