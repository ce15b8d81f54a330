"""The generator's run blocks: formatted texts. Python says what they are."""
import values
from run_calls import Text
from scalars import FLOATS, INTS, REALS, ROUND
from tree import number


def shown_float(x, t):
    """With as many digits as tell it from its neighbours, as NumPy writes a number of that type."""
    if x - x != 0:
        return "nan" if x != x else "inf" if x > 0 else "-inf"
    if x == 0:
        return str(float(x))
    mantissa, exponent = shortest(abs(x), t)
    sign = "-" * (x < 0)
    if not 1e-4 <= abs(x) < 1e16:
        return f"{sign}{mantissa[0]}{'.' if mantissa[1:] else ''}{mantissa[1:]}e{'-' if exponent < 0 else '+'}" \
            f"{abs(exponent):02d}"
    if exponent < 0:
        return f"{sign}0.{'0' * (-exponent - 1)}{mantissa}"
    whole = mantissa.ljust(exponent + 1, "0")
    return f"{sign}{whole[:exponent + 1]}.{whole[exponent + 1:] or '0'}"


def shortest(x, t):
    """The fewest digits that are rounded to x, and the exponent of the first. Below a power of two numbers are closer
    than above it, so these need not be the nearest ones of their length."""
    for digits in range(17):
        mantissa, _, exponent = f"{x:.{digits}e}".partition("e")
        n = int(mantissa.replace(".", ""))
        for k in (n, n + 1, n - 1):
            if 10 ** digits <= k < 10 ** (digits + 1) and ROUND[t](float(f"{k}e{int(exponent) - digits}")) == x:
                return str(k).rstrip("0"), int(exponent)
    raise ValueError(x)


def shown_row(items):
    """An array of one axis, of integers or bools."""
    width = max(5 if isinstance(x, bool) else len(str(x)) for x in items)
    return f"[{' '.join(str(x).rjust(width) for x in items)}]"


class Texts:
    """A part of RunCalls (gen_calls.py)."""

    def text(self):
        r = self.r
        form = r.below(12)
        if form > 9:
            return self.rounded()
        if form < 2:
            items = [self.printable() for _ in range(r.between(1, 4))]
            sep, end = r.pick([" ", "", ", ", "|"]), r.pick(["\n", "\n", ".\n"])
            given = "".join([f', sep="{sep}"'] * (sep != " ") + [', end=".\\n"'] * (end != "\n"))
            line = sep.join(x for _, x in items) + end
            return Text([f"print({', '.join(t for t, _ in items)}{given})"], line.split("\n")[:-1])
        if form < 3:
            value, text = self.format_value()
            spec, out = self.format_of(value)
            return Text([f'print(format({text}, "{spec}"))'], [out])
        code, text, line = [], "", ""
        for _ in range(r.between(1, 4)):
            plain = r.pick(["", "a", " ", ": ", "{{}}", "%", "}}"])
            text, line = text + plain, line + plain.replace("{{", "{").replace("}}", "}")
            if r.chance(40):
                inner, out = r.pick([self.typed_piece, self.typed_piece, self.inner_text, self.choice_piece,
                                     self.row_piece, self.repeated_piece])(code)
                text, line = text + "{" + inner + "}", line + out
                continue
            value, literal = self.format_value()
            spec, out = self.format_of(value) if r.chance(75) else ("", self.shown(value))
            shown = literal
            if isinstance(value, str) or r.chance(50):
                shown = self.new_name()
                code.append(f"let {shown} = {literal}")
            equals = not isinstance(value, str) and r.chance(15)
            gap = r.pick(["=", " = "]) if equals else ""
            text += "{" + shown + gap + (":" + spec if spec else "") + "}"
            line += (shown + gap if equals else "") + out
        return Text(code + [f'print(f"{text}")'], [line])

    def typed_piece(self, code):
        """A number that has a type: an element of an array."""
        r = self.r
        t = r.pick(REALS + ("bool",))
        items, array_name = [values.scalar(r, t, 40) for _ in range(r.between(1, 3))], self.new_name()
        k = r.below(len(items))
        code.append(f"let {array_name} = array([{', '.join(number(x, t) for x in items)}], {t})")
        x, spec = items[k], ""
        if t == "bool" or r.chance(40):
            return f"{array_name}[{k}]", shown_float(x, t) if t in FLOATS else str(x)
        while not spec or t in FLOATS and spec[-1] not in "efgEFG%":
            spec, out = self.format_of(x)
        return f"{array_name}[{k}]:{spec}", out

    def inner_text(self, code):
        r = self.r
        value, literal = self.format_value()
        if isinstance(value, str):
            value, literal = 5, "5"
        spec, out = self.format_of(value)
        inner = f'f"<{{{literal}{":" * bool(spec)}{spec}}}>"'
        outer = r.pick(["", ":>24", ":*^30", ":<5"])
        return inner + outer, format(f"<{out}>", outer[1:])

    def choice_piece(self, code):
        r = self.r
        a, b, n = r.between(-99, 99), r.between(-99, 99), self.new_name()
        code.append(f"let {n} = {a}")
        width = r.between(0, 9)
        spec = f":{width}d" if width else ""
        if r.chance(50):
            return f"{n} if {n} > {b} else {b}{spec}", format(max(a, b), spec[1:])
        return f"{n} * 3 - {abs(b)}{spec}", format(a * 3 - abs(b), spec[1:])

    def row_piece(self, code):
        """Arrays, tuples and lists stand as print writes them."""
        r = self.r
        t = r.pick(INTS + ("bool",))
        items = [values.scalar(r, t, 20) for _ in range(r.between(1, 5))]
        form = r.below(3)
        if form == 0 and len(shown_row(items)) < 70:     # longer ones are broken
            row = self.new_name()
            code.append(f"let {row} = array([{', '.join(number(x, t) for x in items)}], {t})")
            return row, shown_row(items)
        items = [x for x in items if abs(x) < 1 << 62] + [1, True]
        texts = ", ".join(number(x, t) for x in items)
        return (f"({texts})", str(tuple(items))) if form == 1 else (f"[{texts}]", str(items))

    def repeated_piece(self, code):
        s, n = self.r.pick(["-", "ab", "é"]), self.r.between(0, 5)
        return f'"{s}" * {n}', s * n

    def rounded(self):
        """By all the decimal digits that the number has, ties to the even one."""
        r = self.r
        if r.chance(30):
            n, places = r.between(-10 ** r.between(1, 15), 10 ** r.between(1, 15)), r.between(-6, 2)
            return Text([f"print(round({n}, {places}))"], [str(round(n, places))])
        x, places = r.between(-10 ** 6, 10 ** 6) / 10 ** r.between(0, 5), r.between(-3, 6)
        return Text([f"print(round({x!r}, {places}))"], [str(round(x, places))])

    @staticmethod
    def shown(value):
        return value if isinstance(value, str) else str(value)

    def printable(self):
        """(text, what is printed)"""
        r = self.r
        value, text = self.format_value()
        if isinstance(value, complex):
            value, text = 7, "7"
        if r.chance(20) and not isinstance(value, str):
            other, more = r.pick([(1, "1"), (2.5, "2.5"), (True, "true")])
            return (f"({text}, {more})", str((value, other))) if r.chance(50) else (f"[{text}, {text}]",
                                                                                  str([value, value]))
        if r.chance(10):
            return ("true", "True") if r.chance(50) else ("false", "False")
        return text, self.shown(value)

    def format_value(self):
        """A value and its literal."""
        r = self.r
        kind = r.below(10)
        if kind < 4:
            n = values.scalar(r, "i64", 60) if r.chance(70) else r.between(-9, 9999)
            n = max(n, -(1 << 63) + 1)
            return n, str(n)
        if kind < 8:
            x = values.scalar(r, "f64", 60) if r.chance(60) else r.between(-99999, 99999) / r.pick([1, 8, 10, 1000])
            return x, repr(x) if x - x == 0 else "nan" if x != x else "inf" if x > 0 else "-inf"
        if kind < 9:
            s = r.pick(["", "kjit", "a b", "x", "grüße"])
            return s, f'"{s}"'
        z = complex(r.between(-9, 9) / 4, r.between(1, 90) / 8)
        return z, f"({z.real!r} + {z.imag!r}j)"

    def format_of(self, value):
        """A format that Python takes for the value, and what it gives."""
        r = self.r
        while True:
            spec = ""
            if r.chance(50):
                spec += (r.pick(["*", "0", " ", "x", "é"]) if r.chance(40) else "") + r.pick("<>^=")
            if not isinstance(value, str):
                spec += r.pick(["", "", "", "+", "-", " "])
                spec += r.pick(["", "", "", "#"])
                spec += r.pick(["", "", "", "0"])
            spec += str(r.between(1, 30)) if r.chance(60) else ""
            if not isinstance(value, str):
                spec += r.pick(["", "", "", ",", "_"])
            if not isinstance(value, int) and r.chance(50) or r.chance(10):
                spec += f".{r.between(0, 12)}"
            kinds = "dxXob" if isinstance(value, int) else ""
            spec += r.pick(["", "s"] if isinstance(value, str) else [""] + list(kinds * 2 + "efgEFG%"))
            try:
                return spec, format(value, spec)
            except ValueError:
                continue
