"""Arithmetic that is rounded in a direction, exactly: of rational numbers, rounded once."""
import math
from fractions import Fraction

import scalars

DIRECTIONS = "nduz"                             # to nearest, down, up, towards zero


def round_fraction(x, to, t):
    """A rational number that is not 0, in a float type."""
    size, sign = abs(x), -1.0 if x < 0 else 1.0
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= size < Fraction(2) ** exponent
    unit = Fraction(2) ** max(exponent - scalars.DIGITS[t] + 1, scalars.LEAST_EXPONENT[t])
    whole, rest = divmod(size / unit, 1)
    outward = to == ("d" if x < 0 else "u")
    up = rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2) if to == "n" else outward and rest
    size = (whole + bool(up)) * unit
    if size > Fraction(scalars.LARGEST[t]):
        return sign * (scalars.INF if to == "n" or outward else scalars.LARGEST[t])
    return sign * float(size)


def root(x):
    """A square root, exact or with more digits than any type has and one that says so behind them."""
    scale = 4 ** 1300
    whole = math.isqrt(x.numerator * scale // x.denominator)
    exact = Fraction(whole * whole, scale) == x
    return Fraction(whole, 2 ** 1300) + (0 if exact else Fraction(1, 2 ** 1301))


def plain(op, v):
    """Of what is no number, or gives none: rounding has no part in it."""
    if op == "div":
        return scalars.divide(*v)
    if op == "sqrt":
        return math.sqrt(v[0]) if v[0] >= 0 else scalars.NAN
    if op == "fma" and math.isfinite(v[0]) and math.isfinite(v[1]):
        return v[2]
    product = v[0] * v[1] if op in ("mul", "fma") else 0.0
    return {"add": lambda: v[0] + v[1], "sub": lambda: v[0] - v[1], "mul": lambda: product,
            "fma": lambda: product + v[2]}[op]()


def zero(op, to, v):
    """The sign of an exact 0."""
    if op in ("mul", "div", "sqrt"):
        return math.prod([math.copysign(1.0, x) for x in v]) * 0.0
    first = math.copysign(1.0, v[0]) * (math.copysign(1.0, v[1]) if op == "fma" else 1.0)
    second = math.copysign(1.0, v[2] if op == "fma" else v[1]) * (-1.0 if op == "sub" else 1.0)
    if first == second:
        return first * 0.0
    return -0.0 if to == "d" else 0.0


def directed(op, to, v, t):
    if not all(map(math.isfinite, v)) or (op == "div" and v[1] == 0) or (op == "sqrt" and v[0] < 0):
        return plain(op, v)
    x = list(map(Fraction, v))
    exact = {"add": lambda: x[0] + x[1], "sub": lambda: x[0] - x[1], "mul": lambda: x[0] * x[1],
             "div": lambda: x[0] / x[1], "sqrt": lambda: root(x[0]), "fma": lambda: x[0] * x[1] + x[2]}[op]()
    return round_fraction(exact, to, t) if exact else zero(op, to, v)
