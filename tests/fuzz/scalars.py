"""Scalar types of the language and their exact arithmetic: docs/language.md, sections 3 and 5.

A value is a Python bool, an int in its type's range, a float that its type holds exactly (any NaN stands for all), or
a complex that carries two such floats. Nothing here is taken from the compiler: results are computed exactly, or in
f64 where that is known to round the same, and then rounded once."""
import ctypes
import ctypes.util
import math
import struct

SIGNED = ("i8", "i16", "i32", "i64")
UNSIGNED = ("u8", "u16", "u32", "u64")
INTS = SIGNED + UNSIGNED
FLOATS = ("f16", "bf16", "f32", "f64")
COMPLEX = ("c64", "c128")
REALS = INTS + FLOATS
SCALARS = ("bool",) + REALS + COMPLEX
BITS = {"bool": 8, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "u8": 8, "u16": 16, "u32": 32, "u64": 64,
        "f16": 16, "bf16": 16, "f32": 32, "f64": 64, "c64": 64, "c128": 128}
PART = {"c64": "f32", "c128": "f64"}            # what a complex number is made of
WHOLE = {"f32": "c64", "f64": "c128"}
DIGITS = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}
LARGEST = {"f16": 65504.0, "bf16": float.fromhex("0x1.fep127"), "f32": float.fromhex("0x1.fffffep127"),
           "f64": float.fromhex("0x1.fffffffffffffp1023")}
LEAST_EXPONENT = {"f16": -24, "bf16": -133, "f32": -149, "f64": -1074}  # of the smallest subnormal number

NAN = math.nan
INF = math.inf
_libm = ctypes.CDLL(ctypes.util.find_library("m") or "libm.so.6")


def _from_libm(name, arguments):
    function = getattr(_libm, name)
    function.restype = ctypes.c_double
    function.argtypes = [ctypes.c_double] * arguments
    return function


_fma64 = _from_libm("fma", 3)


def least(t):
    return -(1 << (BITS[t] - 1)) if t[0] == "i" else 0


def greatest(t):
    return (1 << (BITS[t] - (t[0] == "i"))) - 1


def fits(value, t):
    """Does a type hold an integer exactly?"""
    if t in INTS:
        return least(t) <= value <= greatest(t)
    return value == rounded_int(value, t)


# ---- Rounding ----

def bits64(x):
    return struct.unpack("<q", struct.pack("<d", x))[0]


def from_bits64(n):
    return struct.unpack("<d", struct.pack("<Q", n & 0xffffffffffffffff))[0]


def round_f32(x):
    return ctypes.c_float(x).value


def round_f16(x):
    if -65520.0 < x < 65520.0:
        return struct.unpack("<e", struct.pack("<e", x))[0]
    return x if x != x else math.copysign(INF, x)


def round_bf16(x):
    if x != x or x in (INF, -INF):
        return x
    if -1.1754943508222875e-38 < x < 1.1754943508222875e-38:    # subnormal: multiples of 2^-133
        return math.copysign(round(x * 2.0 ** 133) * 2.0 ** -133, x)
    n = bits64(x)                                               # to nearest, ties to even, on the upper 8 of 53 digits
    n = (n + 0xfffffffffff + ((n >> 45) & 1)) & ~0x1fffffffffff
    y = from_bits64(n)
    return y if -LARGEST["bf16"] <= y <= LARGEST["bf16"] else math.copysign(INF, x)


def round_f64(x):
    return x


ROUND = {"f16": round_f16, "bf16": round_bf16, "f32": round_f32, "f64": round_f64}


def rounded_int(n, t):
    """An integer as a float, rounded once."""
    size = abs(n)
    if size >> 53:
        if t == "f64":
            return float(n)         # Python rounds to nearest, ties to even
        shift = size.bit_length() - 50
        size = (size >> shift | (size & ((1 << shift) - 1) != 0)) << shift      # to odd: the next rounding is the only
        n = -size if n < 0 else size
    return ROUND[t](float(n))


def convert(value, source, target):
    """An explicit conversion between scalar types."""
    if source == target:
        return value
    if target in COMPLEX:
        part = PART[target]
        if source in COMPLEX:
            return complex(ROUND[part](value.real), ROUND[part](value.imag))
        return complex(convert(value, source, part), 0.0)
    if target == "bool":
        return value != 0           # NaN is true
    if source == "bool":
        return int(value) if target in INTS else float(value)
    if target in INTS:
        return wrap(value, target) if source in INTS else saturated(value, target)
    if source in INTS:
        return rounded_int(value, target)
    return ROUND[target](value)


def wrap(n, t):
    bits = BITS[t]
    n &= (1 << bits) - 1
    return n - (1 << bits) if t[0] == "i" and n >> (bits - 1) else n


def saturated(x, t):
    if x != x:
        return 0
    if x <= least(t):
        return least(t)
    if x >= greatest(t):
        return greatest(t)
    return int(x)


def converts(source, target):
    """Does a value convert by itself? (Section 3: never with a loss of range.)"""
    if source == target:
        return True
    if source == "bool" or target == "bool" or source in COMPLEX and target not in COMPLEX:
        return False
    if target in COMPLEX:
        if source in COMPLEX:
            return target == "c128"
        return converts(source, PART[target])
    if target in INTS:
        return source in INTS and least(target) <= least(source) and greatest(source) <= greatest(target)
    if source in INTS:
        return target != "f16" or source in ("i8", "u8", "i16")
    return target == "f64" or target == "f32" and source in ("f16", "bf16")


def common(a, b):
    """The type that two operands meet in, or None where that is an error."""
    if a == b:
        return a
    if "bool" in (a, b):
        return None
    if a in COMPLEX or b in COMPLEX:
        part = common(PART.get(a, a), PART.get(b, b))
        return None if part is None else WHOLE.get(part, "c64" if part in FLOATS else None)
    if a in FLOATS and b in FLOATS:
        return "f64" if "f64" in (a, b) else "f32"
    if a in FLOATS or b in FLOATS:
        real, whole = (a, b) if a in FLOATS else (b, a)
        return real if converts(whole, real) else "f32"
    if (a in SIGNED) == (b in SIGNED):
        return a if BITS[a] > BITS[b] else b
    signed, other = (a, b) if a in SIGNED else (b, a)
    for t in SIGNED:
        if converts(signed, t) and converts(other, t):
            return t
    return None


# ---- Integers ----

def floor_div(a, b, t):
    return wrap(a // b, t) if b else 0


def floor_mod(a, b, t):
    return wrap(a - wrap(a // b, t) * b, t) if b else 0


def ceil_div(a, b, t):
    return wrap(-(-a // b), t) if b else 0


def mulhi(a, b, t):
    return wrap(a * b >> BITS[t], t)


def nearest_within(x, t):
    most = 2 ** (BITS[t] - (t[0] == "i")) - 1
    return min(max(x, -most - 1 if t[0] == "i" else 0), most)


def add_sat(a, b, t):
    return nearest_within(a + b, t)


def sub_sat(a, b, t):
    return nearest_within(a - b, t)


def hadd(a, b, t):
    return wrap((a + b) >> 1, t)


def rhadd(a, b, t):
    return wrap((a + b + 1) >> 1, t)


def sad(a, b, c, t):
    return wrap(abs(a - b) + c, t)


def low_bits(a, bits):
    return a & ((1 << bits) - 1)


def funnel(lo, hi, s, t, left, clamps):
    bits = BITS[t]
    s = min(low_bits(s, 32), bits) if clamps else s % bits
    both = low_bits(hi, bits) << bits | low_bits(lo, bits)
    return wrap((both << s) >> bits if left else both >> s, t)


def byte_perm(x, y, s, t):
    bytes_of_both = (low_bits(y, 32) << 32 | low_bits(x, 32)).to_bytes(8, "little")
    return wrap(int.from_bytes([bytes_of_both[s >> 4 * i & 7] for i in range(4)], "little"), t)


def dp4a(a, b, c, t):
    parts = [[int.from_bytes([x], "little", signed=t[0] == "i") for x in low_bits(v, 32).to_bytes(4, "little")]
             for v in (a, b)]
    return wrap(c + sum(x * y for x, y in zip(*parts)), t)


def dp2a(a, b, c, start, t):
    signed = t[0] == "i"
    halves = [int.from_bytes(low_bits(a, 32).to_bytes(4, "little")[k:k + 2], "little", signed=signed) for k in (0, 2)]
    bytes_of_b = low_bits(b, 32).to_bytes(4, "little")
    some = [int.from_bytes([x], "little", signed=signed) for x in bytes_of_b[start:start + 2]]
    return wrap(c + sum(x * y for x, y in zip(halves, some)), t)


def shift_left(a, n, t):
    return wrap(a << n, t) if 0 <= n < BITS[t] else 0


def shift_right(a, n, t):
    return a >> (n if 0 <= n < BITS[t] else BITS[t])


def popc(a, t):
    return bin(a & ((1 << BITS[t]) - 1)).count("1")


def clz(a, t):
    return BITS[t] - (a & ((1 << BITS[t]) - 1)).bit_length()


def ffs(a, t):
    return (a & -a).bit_length() if a else 0


def brev(a, t):
    bits = BITS[t]
    return wrap(int(format(a & ((1 << bits) - 1), f"0{bits}b")[::-1], 2), t)


def integer_power(a, n, t):
    return wrap(pow(a, n), t)


# ---- Floats ----

def divide(a, b):
    """a / b in f64."""
    if b:
        return a / b
    if a != a or b != b or a == 0:
        return NAN
    return math.copysign(INF, a) * math.copysign(1.0, b)


def square_root(x):
    if x != x or x < 0:
        return NAN
    return math.sqrt(x)


def odd_sum(a, b):
    """a + b in f64, rounded to odd: what is then rounded to 50 digits or fewer is rounded as the exact sum."""
    s = a + b
    if s - s != 0:
        return s                    # NaN, infinite
    rest = s - a
    error = (a - (s - rest)) + (b - rest)
    if error == 0:
        return s
    n = bits64(s)
    if n & 1:
        return s
    if s == 0:
        return error
    return from_bits64(n + (1 if (error > 0) == (s > 0) else -1))


def fma(a, b, c, t):
    if t == "f64":
        return _fma64(a, b, c)
    return ROUND[t](odd_sum(a * b, c))      # the product is exact: 2 * 24 digits, exponents of -298 .. 256


def float_divmod(a, b, t):
    """NumPy's a // b and a % b, in the type: f16 and bf16 in f32, rounded once at the end."""
    work = "f32" if t in ("f16", "bf16") else t
    rnd = ROUND[work]
    if a != a or b != b:
        return NAN, NAN
    if b == 0:
        return ROUND[t](divide(a, b)), NAN
    if math.isinf(a):
        return NAN, NAN
    m = math.fmod(a, b)
    quotient = rnd(divide(rnd(a - m), b))
    if m:
        if (b < 0) != (m < 0):
            m = rnd(m + b)
            quotient = rnd(quotient - 1.0)
    else:
        m = math.copysign(0.0, b)
    if quotient:
        whole = floor(quotient)
        if rnd(quotient - whole) > 0.5:
            whole = rnd(whole + 1.0)
    else:
        whole = math.copysign(0.0, rnd(divide(a, b)))
    return ROUND[t](whole), ROUND[t](m)


def float_floordiv(a, b, t):
    return float_divmod(a, b, t)[0]


def float_mod(a, b, t):
    return float_divmod(a, b, t)[1]


def minimum(a, b):
    """Of a number and NaN the number; -0.0 is less than 0.0. Integers as well."""
    if a != a:
        return b
    if b != b:
        return a
    if a == b == 0 and isinstance(a, float):
        return a if math.copysign(1.0, a) < 0 else b
    return a if a <= b else b


def maximum(a, b):
    if a != a:
        return b
    if b != b:
        return a
    if a == b == 0 and isinstance(a, float):
        return b if math.copysign(1.0, a) < 0 else a
    return a if a >= b else b


def clamp(x, lo, hi):
    return minimum(maximum(x, lo), hi)


def _kept(x):
    """Is x its own integer part: NaN, infinite, or too large for a fraction?"""
    return x != x or abs(x) >= 4503599627370496.0


def floor(x):
    return x if _kept(x) else math.copysign(float(math.floor(x)), x)


def ceil(x):
    return x if _kept(x) else math.copysign(float(math.ceil(x)), x)


def trunc(x):
    return x if _kept(x) else math.copysign(float(math.trunc(x)), x)


def rint(x):
    return x if _kept(x) else math.copysign(float(round(x)), x)


def copysign(x, y):
    return abs(x) if y != y else math.copysign(x, y)


def nextafter(x, y, t):
    if x != x or y != y:
        return NAN
    if x == y:
        return y
    if x == 0:
        return math.copysign(2.0 ** LEAST_EXPONENT[t], y)
    if math.isinf(x):
        return math.copysign(LARGEST[t], x)
    mantissa, exponent = math.frexp(x)
    unit = max(exponent - DIGITS[t], LEAST_EXPONENT[t])
    outwards = (y > x) == (x > 0)
    if not outwards and abs(mantissa) == 0.5 and exponent - DIGITS[t] > LEAST_EXPONENT[t]:
        unit -= 1                   # below a power of two the numbers lie twice as close
    if not outwards and abs(x) == 2.0 ** LEAST_EXPONENT[t]:
        return math.copysign(0.0, x)
    if outwards and abs(x) == LARGEST[t]:
        return math.copysign(INF, x)
    return x + math.ldexp(1.0 if y > x else -1.0, unit)


def sign(x):
    if isinstance(x, int):
        return (x > 0) - (x < 0)
    return math.copysign(1.0, x) if x == x and x != 0 else x


def fract(x, t):
    if math.isinf(x) or x != x:
        return NAN
    rest = ROUND[t](x - math.floor(x)) + 0.0
    return rest if rest < 1 else 1 - math.ldexp(1.0, -DIGITS[t])


def saturate(x):
    return clamp(x, 0.0, 1.0) if x == x else 0.0


def fdim(x, y, t):
    return NAN if x != x or y != y else ROUND[t](x - y) if x > y else 0.0


def lerp(a, b, x, t):
    return fma(x, ROUND[t](b - a), a, t)


def ilogb(x):
    if x == 0 or x != x:
        return least("i32")
    return greatest("i32") if math.isinf(x) else math.frexp(x)[1] - 1


def logb(x):
    return -INF if x == 0 else abs(x) if math.isinf(x) or x != x else float(math.frexp(x)[1] - 1)


def modf(x):
    if x != x:
        return NAN, NAN
    if math.isinf(x):
        return math.copysign(0.0, x), x
    return math.modf(x)


def frexp(x):
    return (x, 0) if x != x or math.isinf(x) else math.frexp(x)


def ldexp(x, e, t):
    """x * 2**e, rounded once."""
    if x == 0 or x - x != 0:
        return x
    mantissa, exponent = math.frexp(x)
    exponent += e
    if exponent > 1024:
        return math.copysign(INF, x)
    if exponent < -1080:
        return math.copysign(0.0, x)
    return ROUND[t](math.ldexp(mantissa, exponent))     # f64: rounded here; others: exact, as they end at 2^-149


def fmod(a, b):
    if a != a or b != b or math.isinf(a) or b == 0:
        return NAN
    return math.fmod(a, b)


def remainder(a, b):
    if a != a or b != b or math.isinf(a) or b == 0:
        return NAN
    return math.remainder(a, b)


def integer_abs(a, t):
    return wrap(abs(a), t)


# ---- Complex numbers: sums part by part, products fused as written ----

def complex_mul(z, w, t, fused):
    part = PART[t]
    rnd = ROUND[part]
    a, b, c, d = z.real, z.imag, w.real, w.imag
    if fused:
        return complex(fma(a, c, -rnd(b * d), part), fma(a, d, rnd(b * c), part))
    return complex(rnd(rnd(a * c) - rnd(b * d)), rnd(rnd(a * d) + rnd(b * c)))


def unpack(t, data):
    """The values of an array's bytes, as .npy files have them (complex numbers as pairs of their parts)."""
    count = len(data) // (BITS[t] // 8)
    if t == "bool":
        return [b != 0 for b in data]
    if t == "bf16":
        shorts = struct.unpack(f"<{count}H", data)
        return list(struct.unpack(f"<{count}f", b"".join(struct.pack("<I", s << 16) for s in shorts)))
    if t in COMPLEX:
        return unpack(PART[t], data)
    return list(struct.unpack(f"<{count}{CODES[t]}", data))


CODES = {"i8": "b", "i16": "h", "i32": "i", "i64": "q", "u8": "B", "u16": "H", "u32": "I", "u64": "Q",
         "f16": "e", "f32": "f", "f64": "d"}


def seen_as(x, source, target):
    """The bits of x as another type of the same width."""
    if source in FLOATS:
        if source == "bf16":
            n = struct.unpack("<I", struct.pack("<f", x))[0] >> 16
        else:
            n = int.from_bytes(struct.pack({"f16": "<e", "f32": "<f", "f64": "<d"}[source], x), "little")
    else:
        n = x % (1 << BITS[source])
    return unpack(target, n.to_bytes(BITS[source] // 8, "little"))[0]


def same(a, b):
    """Bit for bit, but any NaN equals any other."""
    if a != b:
        return a != a and b != b
    return a != 0 or not isinstance(a, float) or math.copysign(1.0, a) == math.copysign(1.0, b)


def ulps(got, want, t):
    """The distance of two floats in units in the last place of the second."""
    if same(got, want):
        return 0.0
    if got != got or want != want or got == want:       # zeros of different sign
        return INF
    past = 0.0
    if math.isinf(want) or math.isinf(got):     # one beyond the largest number is one unit from it
        past = 1.0
        got, want = (math.copysign(LARGEST[t], x) if math.isinf(x) else x for x in (got, want))
    unit = max(math.frexp(want)[1] - DIGITS[t], LEAST_EXPONENT[t])
    return abs(got - want) / math.ldexp(1.0, unit) + past
