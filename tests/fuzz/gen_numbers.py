"""The generator's run blocks: numbers, which may have a type, by section 16 of docs/language.md, and what is printed of
them."""
import values
from gen_texts import shown_float
from run_calls import NumberText
from scalars import (BITS, FLOATS, INTS, REALS, ROUND, SIGNED, common, convert, float_floordiv, float_mod, greatest,
                     least)
from tree import number

PLAIN, WIDE, FLOAT = "plain", "wide", "float"       # FLOAT: an f64 of which nothing says what it meets next


class Number:
    def __init__(self, text, value, kind):
        self.text, self.value, self.kind = text, value, kind

    @property
    def whole(self):
        return isinstance(self.value, int)

    @property
    def small(self):
        return self.kind in INTS and BITS[self.kind] < 32


def fits(x, kind):
    return least(kind) <= x <= greatest(kind) if kind in INTS else -1 << 63 <= x < 1 << 64


def kind_of(a, b):
    """The kind of what two numbers come to, or None where that is an error or the text does not say it."""
    if FLOAT in (a.kind, b.kind):
        return None
    if WIDE in (a.kind, b.kind):
        return WIDE
    if a.whole and b.whole:
        if a.small and b.small:
            return PLAIN
        for x, y in ((a, b), (b, a)):
            if x.kind == PLAIN:
                return PLAIN if y.small else y.kind
            if x.small and x.kind in SIGNED and y.kind not in SIGNED:
                return None
        return common(a.kind, b.kind)
    for x, y in ((a, b), (b, a)):
        if x.kind == PLAIN and y.kind in FLOATS:
            return y.kind
        if x.kind == PLAIN and not x.whole:
            return PLAIN if y.kind == PLAIN else FLOAT
    return common(a.kind, b.kind)


def of_kind(x, kind):
    """A number's value as a float of the kind."""
    t = kind if kind in FLOATS else "f64"
    return convert(x.value, x.kind if x.kind in REALS else "i64" if x.whole else "f64", t)


def combined(op, a, b):
    """a op b, or None."""
    kind = kind_of(a, b)
    if kind is None or op in ("//", "%", "/") and b.value == 0:
        return None
    text = f"({a.text} {op} {b.text})"
    if a.whole and b.whole and op != "/":
        value = {"+": lambda x, y: x + y, "-": lambda x, y: x - y, "*": lambda x, y: x * y, "//": lambda x, y: x // y,
                 "%": lambda x, y: x % y, "&": lambda x, y: x & y, "|": lambda x, y: x | y,
                 "^": lambda x, y: x ^ y}[op](a.value, b.value)
        return Number(text, value, kind) if all(fits(x, kind) for x in (value, a.value, b.value)) else None
    if kind == "f16" and any(x.kind == PLAIN and abs(x.value) > 65504 for x in (a, b)):
        return None
    if op in "&|^" or a.whole and b.whole and kind != PLAIN:
        return None
    t = kind if kind in FLOATS else "f64"
    if op == "/" and a.whole and b.whole:
        if max(abs(a.value), abs(b.value)) >= 1 << 53:      # nothing says that they are divided exactly
            return None
        return Number(text, a.value / b.value, FLOAT if a.small or b.small else kind)
    x, y = of_kind(a, kind), of_kind(b, kind)
    if op in ("//", "%"):
        value = (float_floordiv if op == "//" else float_mod)(x, y, t) if y else x * 0
    else:
        value = {"+": lambda: x + y, "-": lambda: x - y, "*": lambda: x * y, "/": lambda: x / y if y else x}[op]()
        value = ROUND[t](value)
    return Number(text, value, kind) if value - value == 0 and y else None


class Numbers:
    """A part of RunCalls (gen_calls.py)."""

    def number_text(self):
        r = self.r
        code, texts, out = [], [], []
        for _ in range(r.between(1, 3)):
            x = self.some_number(code, r.between(1, 3))
            texts.append(x.text)
            out.append(str(x.value) if x.whole else shown_float(x.value, x.kind if x.kind in FLOATS else "f64"))
            y = self.some_number(code, 1)
            if x.whole and y.whole and r.chance(30):
                op = r.pick(["<", "<=", "==", "!=", ">="])
                texts.append(f"{x.text} {op} {y.text}")
                out.append(str(eval(f"{x.value} {op} {y.value}")))
        return NumberText(code + [f"print({', '.join(texts)})"], [" ".join(out)])

    def some_number(self, code, depth):
        r = self.r
        if depth == 0 or r.chance(15):
            return self.leaf_number(code)
        for _ in range(8):
            a = self.some_number(code, depth - 1)
            form = r.below(10)
            kind = PLAIN if a.small else a.kind
            if form == 0 and kind != FLOAT and (not a.whole or fits(-a.value, kind)):
                return Number(f"(-{a.text})", -a.value, kind)
            if form == 1 and a.whole and fits(a.value ** 3, kind):
                return Number(f"({a.text} ** 3)", a.value ** 3, kind)
            if form == 2 and a.whole and fits(a.value << 2, kind):
                return Number(f"({a.text} << 2)", a.value << 2, kind)
            b = self.some_number(code, depth - 1)
            x = combined(r.pick(["+", "-", "*", "//", "%", "/", "&", "|", "^"]), a, b)
            if x is not None:
                return x
        return self.leaf_number(code)

    def leaf_number(self, code):
        r = self.r
        form = r.below(10)
        if form < 3:
            n = r.between(0, 300) if r.chance(80) else r.between(0, 1 << 40)
            return Number(str(n), n, PLAIN)
        if form < 4:
            x = r.between(0, 80) / 8 if r.chance(50) else r.pick([0.1, 0.3, 2.7])
            return Number(repr(x), x, PLAIN)
        if form < 5:
            var, x = self.new_name(), r.between(-99, 99) if r.chance(50) else r.between(-99, 99) / 10
            code.append(f"var {var} = {x}")
            return Number(var, x, WIDE)
        t = r.pick(REALS)
        x = values.scalar(r, t, 20)
        x = x if x - x == 0 else 1.5
        if r.chance(50) or isinstance(x, int) and x >= 1 << 63:
            row, k = self.new_name(), r.below(2)
            code.append(f"let {row} = array([{', '.join(number(y, t) for y in ([x, x] if k else [x]))}], {t})")
            return Number(f"{row}[{k}]", x, t)
        return Number(f"{t}({number(x, t)})", x, t)
