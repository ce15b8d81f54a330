"""Directed rounding: results that are rounded down, up, towards zero or to nearest, from exact fractions: pairs of integers
(several times faster than those of Python's library, which reduces them)."""
import math

import scalars
from scalars import DIGITS, INF, LARGEST, LEAST_EXPONENT, NAN, ROUND

MODES = ("rn", "rd", "ru", "rz")
ABOVE = {t: math.frexp(LARGEST[t])[1] for t in LARGEST} # the exponent of the power of two that is too large


def rounded(p, q, t, mode):
    """p / q, which is not 0, as a number of type t; q is above 0."""
    size, sign = abs(p), 1 if p > 0 else -1
    inwards = mode == "rz" or mode == ("rd" if p > 0 else "ru")
    e = size.bit_length() - q.bit_length()
    e -= q << max(e, 0) > size << max(-e, 0)
    unit = max(e - DIGITS[t] + 1, LEAST_EXPONENT[t])
    step = q << max(unit, 0)
    n, rest = divmod(size << max(-unit, 0), step)
    if mode == "rn":
        n += 2 * rest > step or 2 * rest == step and n & 1
    elif rest and not inwards:
        n += 1
    if n.bit_length() + unit > ABOVE[t]:
        return sign * (LARGEST[t] if inwards else INF)
    return sign * math.ldexp(n, unit)


def total(a, b, zero, t, mode):
    """The sum of two fractions; `zero` is what the operation to nearest gives where the sum is 0."""
    (p, q), (r, s) = a, b
    both = p * s + r * q
    if both:
        return rounded(both, q * s, t, mode)
    return -0.0 if mode == "rd" and p else zero


def product(a, b):
    (p, q), (r, s) = a.as_integer_ratio(), b.as_integer_ratio()
    return p * r, q * s


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
        return total(a.as_integer_ratio(), b.as_integer_ratio(), zero, t, mode)
    if what == "div":
        if special(a, b) or a == 0 or b == 0:
            return rnd(scalars.divide(a, b))
        (p, q), (r, s) = a.as_integer_ratio(), b.as_integer_ratio()
        return rounded(p * s if r > 0 else -p * s, q * abs(r), t, mode)
    if what == "mul":
        return rnd(a * b) if special(a, b) or a == 0 or b == 0 else rounded(*product(a, b), t, mode)
    c = args[2]
    if special(a, b, c):
        return NAN if special(a, b) and a * b != a * b else c if special(c) and not special(a, b) else rnd(a * b + c)
    sign = math.copysign(1, a) * math.copysign(1, b)
    zero = math.copysign(0.0, c) if math.copysign(1, c) == sign else -0.0 if mode == "rd" else 0.0
    return total(product(a, b), c.as_integer_ratio(), zero, t, mode)


def converted(x, t, mode):
    """A number in a float type."""
    return float(x) if special(x) or x == 0 else rounded(*x.as_integer_ratio(), t, mode)


def square_root(x, t, mode):
    """Of a number above 0."""
    near = ROUND[t](math.sqrt(x))
    (p, q), (r, s) = near.as_integer_ratio(), x.as_integer_ratio()
    above = p * p * s - r * q * q       # has the sign of near * near - x
    if mode == "rn" or not above:
        return near
    if mode == "ru":
        return near if above > 0 else scalars.nextafter(near, INF, t)
    return near if above < 0 else scalars.nextafter(near, 0.0, t)


NAMES = [f"{what}_{mode}" for what in ("add", "sub", "mul", "div", "sqrt", "fma") for mode in MODES]
CONVERSIONS = [f"{t}_{mode}" for t in ("f32", "f64") for mode in MODES[1:]]
COUNTS = {name: {"sqrt": 1, "fma": 3}.get(name[:-3], 2) for name in NAMES}      # of operands
