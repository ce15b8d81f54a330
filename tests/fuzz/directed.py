"""Directed rounding: results that are rounded down, up, towards zero or to nearest, from exact fractions."""
import math
from fractions import Fraction

import scalars
from scalars import DIGITS, INF, LARGEST, LEAST_EXPONENT, NAN, ROUND

MODES = ("rn", "rd", "ru", "rz")


def rounded(q, t, mode):
    """A fraction other than 0 as a number of type t."""
    sign = 1 if q > 0 else -1
    down = mode == "rd" or mode == "rz" and q > 0
    size = abs(q)
    e = size.numerator.bit_length() - size.denominator.bit_length()
    e -= Fraction(2) ** e > size
    unit = Fraction(2) ** max(e - DIGITS[t] + 1, LEAST_EXPONENT[t])
    n = round(q / unit) if mode == "rn" else math.floor(q / unit) if down else math.ceil(q / unit)
    value = n * unit
    if abs(value) > LARGEST[t]:
        within = mode == "rz" or mode == ("rd" if q > 0 else "ru")
        return math.copysign(LARGEST[t] if within else INF, sign)
    return math.copysign(float(value), sign)


def total(p, q, zero, t, mode):
    """p + q; `zero` is what the operation to nearest gives where the sum is 0."""
    if p + q:
        return rounded(p + q, t, mode)
    return -0.0 if mode == "rd" and (p or q) else zero


def special(*args):
    return any(x - x != 0 for x in args)


def directed(name, t, *args):
    """add_rd(a, b) and so on."""
    what, mode = name.split("_")
    a, b = (args + (1.0,))[:2]
    rnd = ROUND[t]
    if what == "sqrt":
        if special(a) or a <= 0:
            return scalars.square_root(a) if a else a
        return square_root(a, t, mode)
    if what in ("add", "sub"):
        b = -b if what == "sub" else b
        if special(a, b):
            return rnd(a + b)
        zero = -0.0 if mode == "rd" and math.copysign(1, a) != math.copysign(1, b) else a + b
        return total(Fraction(a), Fraction(b), zero, t, mode)
    if what == "div":
        if special(a, b) or a == 0 or b == 0:
            return rnd(scalars.divide(a, b))
        return rounded(Fraction(a) / Fraction(b), t, mode)
    if what == "mul":
        return rnd(a * b) if special(a, b) or a == 0 or b == 0 else rounded(Fraction(a) * Fraction(b), t, mode)
    c = args[2]
    if special(a, b, c):
        return NAN if special(a, b) and a * b != a * b else c if special(c) and not special(a, b) else rnd(a * b + c)
    sign = math.copysign(1, a) * math.copysign(1, b)
    zero = math.copysign(0.0, c) if math.copysign(1, c) == sign else -0.0 if mode == "rd" else 0.0
    return total(Fraction(a) * Fraction(b), Fraction(c), zero, t, mode)


def converted(x, t, mode):
    """A number in a float type."""
    return float(x) if special(x) or x == 0 else rounded(Fraction(x), t, mode)


def square_root(x, t, mode):
    """Of a number above 0."""
    near = ROUND[t](math.sqrt(x))
    exact = Fraction(near) ** 2
    if mode == "rn" or exact == Fraction(x):
        return near
    if mode == "ru":
        return near if exact > x else scalars.nextafter(near, INF, t)
    return near if exact < x else scalars.nextafter(near, 0.0, t)


NAMES = [f"{what}_{mode}" for what in ("add", "sub", "mul", "div", "sqrt", "fma") for mode in MODES]
CONVERSIONS = [f"{t}_{mode}" for t in ("f32", "f64") for mode in MODES[1:]]
COUNTS = {name: {"sqrt": 1, "fma": 3}.get(name[:-3], 2) for name in NAMES}      # of operands
