"""Values that arrays and literals are filled with: small numbers, ends of ranges, special floats, random bits."""
import math

import scalars
from scalars import DIGITS, FLOATS, LARGEST, LEAST_EXPONENT, ROUND
from tree import Fixed, Rec, Vec

EDGES = {t: [0, 1, 2, 3, 5, 7, scalars.greatest(t), scalars.greatest(t) - 1, scalars.least(t), scalars.least(t) + 1,
             scalars.greatest(t) // 2, scalars.greatest(t) // 2 + 1, scalars.wrap(255, t), scalars.wrap(256, t),
             scalars.wrap(-1, t), scalars.wrap(-2, t), scalars.wrap(65535, t), scalars.wrap(1 << 31, t),
             scalars.wrap(1 << 57, t), scalars.wrap((1 << 58) - 1, t), scalars.wrap(-7, t)]
         for t in scalars.INTS}
PLAIN = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, 0.1, -0.1, 1 / 3, 10.0, 100.0, 255.0, 256.0, -7.0, 1e-3]
FAR = [math.inf, -math.inf, math.nan, 1e38, -1e38, 3e38, 1e-38, 1e-40, 65504.0, 65519.0, 65520.0, 2.0 ** 31, -2.0 ** 31,
       2.0 ** 32, 2.0 ** 63, -2.0 ** 63, 2.0 ** 64, 2147483520.0, 1e300, 1e-310, 0.49999997, 8388609.0, 16777217.0,
       127.5,
       -128.5, 1e5, 1.0000001]


def edges(t):
    step = 2.0 ** (1 - DIGITS[t])
    own = [LARGEST[t], -LARGEST[t], 2.0 ** LEAST_EXPONENT[t], -2.0 ** LEAST_EXPONENT[t], 1.0 + step, 1.0 - step / 2,
           2.0 ** (LEAST_EXPONENT[t] + DIGITS[t] - 1), 3 * 2.0 ** LEAST_EXPONENT[t]]
    return own + [ROUND[t](x) for x in FAR]


FLOAT_EDGES = {t: edges(t) for t in FLOATS}
FLOAT_PLAIN = {t: [ROUND[t](x) for x in PLAIN] for t in FLOATS}
REACH = {"f16": (-16, 15), "bf16": (-30, 30), "f32": (-30, 30), "f64": (-60, 60)}


def scalar(r, t, wild=50):
    """One value; `wild` is how many of a hundred are ends, specials or random bits."""
    if t == "bool":
        return r.chance(50)
    if t in scalars.INTS:
        if not r.chance(wild):
            return r.between(max(scalars.least(t), -20), 20)
        if r.chance(50):
            return r.pick(EDGES[t])
        bits = r.between(1, scalars.BITS[t])
        return scalars.wrap(r.bits(bits) * (1 if r.chance(60) else -1), t)
    if t in FLOATS:
        if not r.chance(wild):
            return r.pick(FLOAT_PLAIN[t]) if r.chance(50) else float(r.between(-20, 20))
        if r.chance(50):
            return r.pick(FLOAT_EDGES[t])
        low, high = REACH[t]
        return ROUND[t](math.ldexp(r.between(-(1 << 53), 1 << 53), r.between(low, high) - 53))
    part = scalars.PART[t]
    return complex(scalar(r, part, wild), scalar(r, part, wild))


def value(r, t, wild=50):
    """Of any type: vectors and records as tuples."""
    if isinstance(t, Vec):
        return tuple(scalar(r, t.part, wild) for _ in range(t.count))
    if isinstance(t, Rec):
        return tuple(value(r, ft if n is None else Fixed(ft, n), wild) for _, ft, n in t.fields)
    if isinstance(t, Fixed):
        rest = t.extents[1:]
        inner = Fixed(t.elem, rest) if rest else t.elem
        return tuple(value(r, inner, wild) for _ in range(t.extents[0]))
    return scalar(r, t, wild)


def canary(t, k):
    """What lies around outputs: a value for each place that is not likely to be written there."""
    if t == "bool":
        return k % 3 == 0
    return scalars.convert((k * 7 + 13) % 97 + 1, "i32", t)


def literal(r, t):
    """A number for a literal that meets type t, and that t holds or rounds."""
    if t in scalars.INTS:
        if r.chance(80):
            return min(r.pick([0, 1, 2, 3, 4, 5, 7, 8, 10, 16, 31, 32, 63, 64, 100, 127]), scalars.greatest(t))
        v = abs(r.pick(EDGES[t]))
        return min(v, scalars.greatest(t), (1 << 63) - 1)
    if t in FLOATS:
        if r.chance(30):
            return r.pick([0, 1, 2, 3, 5, 10, 100])
        return r.pick([0.0, 0.5, 1.0, 1.5, 2.0, 0.1, 3.0, 0.25, 7.0, 1e-3, 0.3, 10.5, 1000.0])
    raise KeyError(t)
