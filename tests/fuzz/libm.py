"""What the reference takes from elsewhere or only approximates: math functions by the C library, complex division and
functions, and the random numbers (Philox 4x32-10, Salmon et al., SC'11)."""
import cmath
import math
from fractions import Fraction

import scalars
from scalars import ROUND

M64 = (1 << 64) - 1
NAMES = {"gamma": "tgamma", "abs": "fabs"}
TWO = ("hypot", "pow", "atan2")
_known = {}


def call(name, t, *args):
    """A function in f64, rounded to its type."""
    if name == "sincos":
        return call("sin", t, *args), call("cos", t, *args)
    if name == "rsqrt":
        x = scalars.square_root(args[0])
        return ROUND[t](scalars.divide(1.0, x))
    if name in ("sinpi", "cospi"):
        return ROUND[t](pi_function(name, args[0]))
    if name == "cbrt":
        return ROUND[t](cube_root(args[0]))
    if name not in _known:
        _known[name] = scalars._from_libm(NAMES.get(name, name), 2 if name in TWO else 1)
    return ROUND[t](_known[name](*args))


def cube_root(x):
    """The C library's may be some units off: of its neighbours the one whose cube is nearest."""
    if "cbrt" not in _known:
        _known["cbrt"] = scalars._from_libm("cbrt", 1)
    y = _known["cbrt"](x)
    if x - x != 0 or x == 0:
        return y
    near = [y]
    for toward in (-math.inf, math.inf):
        z = y
        for _ in range(4):
            z = math.nextafter(z, toward)
            near.append(z)
    return min(near, key=lambda z: abs(Fraction(z) ** 3 - Fraction(x)))


def pi_function(name, x):
    """sinpi and cospi, by C23: sinpi of an integer is a zero of its sign."""
    if x - x != 0:
        return math.nan
    if name == "sinpi":
        if x == math.floor(x):
            return math.copysign(0.0, x)
        r = math.fmod(x, 2.0)
        for edge, sign in ((0.25, 1.0), (0.75, 0.0), (1.25, -1.0), (1.75, 0.0)):
            if abs(r) <= edge:
                break
        else:
            return math.sin(math.pi * (r - math.copysign(2.0, r)))
        if edge in (0.25, 1.25):
            base = 0.0 if edge == 0.25 else math.copysign(1.0, r)
            return sign * math.sin(math.pi * (r - base))
        base = 0.5 if edge == 0.75 else 1.5
        return math.copysign(1.0, r) * (1.0 if edge == 0.75 else -1.0) * math.cos(math.pi * (abs(r) - base))
    r = math.fmod(abs(x), 2.0)
    if r in (0.5, 1.5):
        return 0.0
    if r <= 0.25 or r >= 1.75:
        return math.cos(math.pi * (r if r <= 0.25 else 2.0 - r))
    if 0.75 <= r <= 1.25:
        return -math.cos(math.pi * (r - 1.0))
    return math.sin(math.pi * (0.5 - r)) if r < 1.0 else math.sin(math.pi * (r - 1.5))


# ---- Complex numbers, up to the bounds of section 3 ----

def as_type(z, t):
    return scalars.convert(z, "c128", t)


def complex_div(z, w, t):
    """Smith's method."""
    scale = 0.25 if max(map(abs, (z.real, z.imag, w.real, w.imag))) > 2.0 ** 1022 else 1.0
    a, b, c, d = z.real * scale, z.imag * scale, w.real * scale, w.imag * scale
    if abs(c) >= abs(d):
        if c == 0 and d == 0:
            return complex(scalars.divide(a, abs(c)), scalars.divide(b, abs(c)))
        r = scalars.divide(d, c)
        n = scalars.divide(1.0, c + d * r)
        return as_type(complex((a + b * r) * n, (b - a * r) * n), t)
    r = scalars.divide(c, d)
    n = scalars.divide(1.0, c * r + d)
    return as_type(complex((a * r + b) * n, (b * r - a) * n), t)


def complex_pow(z, n, t):
    result = 1 + 0j
    for _ in range(abs(n)):
        result *= z
    return as_type(result, t) if n >= 0 else complex_div(1 + 0j, result, t)


def complex_abs(z, t):
    return call("hypot", t, z.real, z.imag)


def complex_call(name, z, t):
    return as_type(getattr(cmath, name)(z), t)


# ---- Random numbers ----

def philox(counter, key):
    """Philox 4x32-10 of 128 bits of counter and 64 bits of key: four words."""
    c = [counter >> 32 * k & 0xffffffff for k in range(4)]
    k0, k1 = key & 0xffffffff, key >> 32 & 0xffffffff
    for _ in range(10):
        p, q = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [q >> 32 ^ c[1] ^ k0, q & 0xffffffff, p >> 32 ^ c[3] ^ k1, p & 0xffffffff]
        k0, k1 = k0 + 0x9E3779B9 & 0xffffffff, k1 + 0xBB67AE85 & 0xffffffff
    return c


def word64(seed, i):
    words = philox((i & M64) >> 1, seed & M64)
    return words[2 * (i & 1)] | words[2 * (i & 1) + 1] << 32


def uniform(seed, i, t):
    """In [0, 1): number i of four words of 24 bits, in f64 of two of 53 bits."""
    if t == "f64":
        return (word64(seed, i) >> 11) * 2.0 ** -53
    return (philox((i & M64) >> 2, seed & M64)[i & 3] >> 8) * 2.0 ** -24


def randint(lo, hi, seed, i, t):
    if hi <= lo:
        return lo
    return scalars.wrap(lo + (word64(seed, i) * (hi - lo) >> 64), t)
