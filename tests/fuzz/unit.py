#!/usr/bin/env python3
"""Tests of the reference's arithmetic, against exact fractions, published answers and values worked out by hand."""
import math
import sys
from fractions import Fraction

import directed
import libm
import machine
import scalars
from build import add, index, let, lit, mul, name, sub, typed, update
from rng import Rng
from scalars import DIGITS, FLOATS, INF, LARGEST, LEAST_EXPONENT, NAN, ROUND
from translate import Translator
from tree import Arr, Kernel, Var
from build import assign

r = Rng(2026)


def exactly(q, t, sign):
    """A fraction rounded to nearest, ties to even, by the definition; zeros have a sign given."""
    if q == 0:
        return math.copysign(0.0, sign)
    size = abs(q)
    e = size.numerator.bit_length() - size.denominator.bit_length()
    e -= Fraction(2) ** e > size
    unit = Fraction(2) ** max(e - DIGITS[t] + 1, LEAST_EXPONENT[t])
    value = round(size / unit) * unit
    return math.copysign(INF if value > Fraction(LARGEST[t]) else float(value), 1 if q > 0 else -1)


def number(t):
    low, high = LEAST_EXPONENT[t] - 2, math.frexp(LARGEST[t])[1]
    if r.chance(15):
        return r.pick([0.0, -0.0, 1.0, LARGEST[t], 2.0 ** LEAST_EXPONENT[t], -1.5])
    e = r.between(low, high - 1) if r.chance(40) else r.between(-5, 5)
    return ROUND[t](math.ldexp(r.between(-(1 << 53), 1 << 53), max(e, -1074) - 53 if e > -1000 else e))


def same(what, got, want):
    if not (got == want if isinstance(got, (tuple, list)) else scalars.same(got, want)):
        sys.exit(f"{what}: {got!r}, not {want!r}")


def rounding():
    for t in FLOATS:
        for _ in range(1000):
            a, b, c = number(t), number(t), number(t)
            if not all(map(math.isfinite, (a, b, c))):
                continue
            q = Fraction(a) * Fraction(b) + Fraction(c)
            if q or a * b == 0 and c == 0:
                want = exactly(q, t, q if q else a * b + c)
                same(f"fma {t} {a} {b} {c}", scalars.fma(a, b, c, t), want)
            x = math.ldexp(r.between(-(1 << 53), 1 << 53), r.between(-210, 80))
            same(f"round {t} {x!r}", ROUND[t](x), exactly(Fraction(x), t, x))
            n = r.bits(r.between(1, 64)) * r.pick([1, -1])
            same(f"{t}({n})", scalars.rounded_int(n, t), exactly(Fraction(n), t, 1))
            e = r.between(-40, 40)
            same(f"ldexp {t} {a!r} {e}", scalars.ldexp(a, e, t), exactly(Fraction(a) * Fraction(2) ** e, t, a))
            for op, exact in (("+", Fraction(a) + Fraction(b)), ("-", Fraction(a) - Fraction(b)),
                              ("*", Fraction(a) * Fraction(b))):
                got = ROUND[t]({"+": a + b, "-": a - b, "*": a * b}[op])
                if exact:
                    same(f"{a!r} {op} {b!r} {t}", got, exactly(exact, t, exact))
            if b:
                same(f"{a!r} / {b!r} {t}", ROUND[t](scalars.divide(a, b)),
                     exactly(Fraction(a) / Fraction(b), t, a * math.copysign(1, b)))


def neighbours():
    for t in FLOATS:
        for _ in range(600):
            a, b = number(t), number(t)
            y = scalars.nextafter(a, b, t)
            if a == b:
                same("nextafter", y, b)
            elif math.isfinite(a):
                assert min(a, b) <= y <= max(a, b) and y != a, (t, a, b, y)
                assert ROUND[t](y) == y and ROUND[t]((a + y) / 2 if abs(a) < 1e300 else a / 2 + y / 2) in (a, y), (t,
                                                                                                                   a,
                                                                                                                   b, y)
    same("past the largest", scalars.nextafter(65504.0, INF, "f16"), INF)
    same("back from infinity", scalars.nextafter(INF, 0.0, "f16"), 65504.0)
    same("at zero", scalars.nextafter(-0.0, 1.0, "bf16"), 2.0 ** -133)


def integers():
    for t in scalars.INTS:
        low, high = scalars.least(t), scalars.greatest(t)
        for _ in range(500):
            a, b = (scalars.wrap(r.bits(r.between(1, 64)), t) for _ in range(2))
            q, m = scalars.floor_div(a, b, t), scalars.floor_mod(a, b, t)
            if b:
                assert m == 0 or (m > 0) == (b > 0) and abs(m) < abs(b), (t, a, b, m)
                assert scalars.wrap(q * b + m, t) == a
            else:
                assert q == m == 0
        same("least // -1", scalars.floor_div(low, -1, t) if low else 0, low)
        same("brev", scalars.brev(1, t), scalars.wrap(1 << (scalars.BITS[t] - 1), t))
        same("clz", scalars.clz(0, t), scalars.BITS[t])
        same("saturated", [scalars.saturated(x, t) for x in (INF, -INF, NAN, 1e30)], [high, low, 0, high])
    same("-7 // 2", scalars.floor_div(-7, 2, "i32"), -4)
    same("7 % -5", scalars.floor_mod(7, -5, "i32"), -3)
    same("ceil_div", [scalars.ceil_div(a, b, "i32") for a, b in ((7, 2), (-7, 2), (7, -2), (7, 0))], [4, -3, -3, 0])
    same("1 << 33", scalars.shift_left(1, 33, "i32"), 0)


def conversions():
    same("f16(65520)", scalars.convert(65520, "i32", "f16"), INF)
    same("f16(65519)", scalars.convert(65519.0, "f64", "f16"), 65504.0)
    same("f32(2**24 + 1)", scalars.convert(16777217, "i32", "f32"), 16777216.0)
    same("f32 of an i64 that f64 would round first", scalars.convert((1 << 62) + (1 << 38) + 1, "i64", "f32"),
         float((1 << 62) + (1 << 39)))
    same("u8(300.0)", scalars.convert(300.0, "f32", "u8"), 255)
    same("u8(-5)", scalars.convert(-5, "i32", "u8"), 251)
    same("bool(nan)", scalars.convert(NAN, "f32", "bool"), True)
    same("i8, u8", scalars.common("i8", "u8"), "i16")
    same("i32, u32", scalars.common("i32", "u32"), "i64")
    same("i64, u64", scalars.common("i64", "u64"), None)
    same("f16, i32", scalars.common("f16", "i32"), "f32")
    same("f16, u8", scalars.common("f16", "u8"), "f16")
    same("f16, bf16", scalars.common("f16", "bf16"), "f32")
    same("c64, f64", scalars.common("c64", "f64"), "c128")


def floats():
    divided = [((7.0, 2.0), (3.0, 1.0)), ((-7.0, 2.0), (-4.0, 1.0)), ((7.0, -2.0), (-4.0, -1.0)),
               ((-0.0, 2.0), (-0.0, 0.0)),
               ((1.0, INF), (0.0, 1.0)), ((-1.0, INF), (-1.0, INF)), ((1.0, 0.0), (INF, NAN)), ((0.0, 0.0), (NAN, NAN)),
               ((INF, 1.0), (NAN, NAN)), ((4.0, -2.0), (-2.0, -0.0))]
    for (a, b), (q, m) in divided:
        same(f"{a} // {b}", scalars.float_floordiv(a, b, "f32"), q)
        same(f"{a} % {b}", scalars.float_mod(a, b, "f32"), m)
    same("min of zeros", scalars.minimum(0.0, -0.0), -0.0)
    same("max of zeros", scalars.maximum(-0.0, 0.0), 0.0)
    same("min of NaN", scalars.minimum(NAN, 1.0), 1.0)
    same("rint", [scalars.rint(x) for x in (0.5, 1.5, 2.5, -2.5)], [0.0, 2.0, 2.0, -2.0])
    same("copysign of NaN's sign", scalars.copysign(-3.0, -NAN), 3.0)
    same("ulps", scalars.ulps(1.0 + 2.0 ** -23, 1.0, "f32"), 1.0)
    same("ulps of infinity", scalars.ulps(LARGEST["f32"], INF, "f32"), 1.0)
    for x in (0.1, 0.3, 0.7, 1.1, 1.4, 1.9, 5.25, 100.8):
        assert abs(libm.pi_function("sinpi", x) - math.sin(math.pi * x)) < 1e-12, x
        assert abs(libm.pi_function("cospi", -x) - math.cos(math.pi * x)) < 1e-12, x


def directed_rounding():
    """To nearest as the operators are; down and up are neighbours or both exact, and towards zero is one of them."""
    for t in FLOATS:
        for _ in range(400):
            a, b, c = number(t), number(t), number(t)
            plain = {"add": ROUND[t](a + b), "sub": ROUND[t](a - b), "mul": ROUND[t](a * b),
                     "div": ROUND[t](scalars.divide(a, b)), "sqrt": ROUND[t](scalars.square_root(a)),
                     "fma": scalars.fma(a, b, c, t)}
            for what, want in plain.items():
                args = {"sqrt": (a,), "fma": (a, b, c)}.get(what, (a, b))
                near, low, high, cut = (directed.directed(f"{what}_{mode}", t, *args) for mode in directed.MODES)
                same(f"{what}_rn {t} {args}", near, want)
                if near == near:
                    assert low <= near <= high and cut in (low, high) and abs(cut) <= abs(near), (what, t, args)
                    assert low == high or high == scalars.nextafter(low, INF, t), (what, t, args, low, high)
    same("-0.0", directed.directed("add_rd", "f32", 1.0, -1.0), -0.0)
    same("below infinity", directed.directed("mul_rz", "f16", 60000.0, 2.0), 65504.0)


def random_numbers():
    """The known answers that the generator's authors publish (Random123, kat_vectors)."""
    same("philox of zeros", libm.philox(0, 0), [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8])
    same("philox of ones", libm.philox((1 << 128) - 1, (1 << 64) - 1), [0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd])
    counter = sum(w << 32 * k for k, w in enumerate([0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344]))
    same("philox of pi", libm.philox(counter, 0xa4093822 | 0x299f31d0 << 32),
         [0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1])


def fused():
    """What is one fused multiply-add: a*b + c in one expression, of two products the left one."""
    e = 2.0 ** -12
    x, o = Var("x", Arr("f32", 1)), Var("o", Arr("f32", 1))
    a, c = index(name(x), lit(0)), index(name(x), lit(1))
    p, v = Var("p", "f32"), Var("v", "f32")
    forms = [(add(mul(a, a), c), e * e), (add(c, mul(a, a)), e * e), (sub(c, mul(typed(-1.0, "f32"), mul(a, a))), 0.0),
             (sub(mul(a, a), typed(1 + 2 * e, "f32")), e * e), (sub(mul(a, a), mul(a, a)), e * e)]
    body = [assign(index(name(o), lit(k)), f) for k, (f, _) in enumerate(forms)]
    body += [let(p, mul(a, a)), assign(index(name(o), lit(5)), add(name(p), c)),
             let(v, c, None, "var"), update("+", name(v), mul(a, a)), assign(index(name(o), lit(6)), name(v))]
    kernel = Kernel("k", [x, o], body)
    for on, want in ((True, [w for _, w in forms] + [0.0, e * e]), (False, [0.0] * 7)):
        function, waits = Translator(on).kernel(kernel)
        views = [machine.new_array("f32", (n,), 0.0) for n in (2, 7)]
        views[0].buf[:] = [1 + e, -(1 + 2 * e)]
        machine.Machine().launch(function, waits, (1,), (1,), views)
        same(f"fused {on}", views[1].buf, want)


def memory():
    """The machine sees what is undefined: places outside, races, values that were never written."""
    x = Var("x", Arr("i32", 1))
    t = Var("t", "i64")
    def fails(body, threads):
        function, waits = Translator(True).kernel(Kernel("k", [x], body))
        view = machine.new_array("i32", (4,), 0, machine.Tracked)
        try:
            machine.Machine(tracks=True).launch(function, waits, (1,), (threads,), [view])
        except machine.Undefined:
            return True
        return False
    from build import memory as array_of, special
    assert fails([assign(index(name(x), lit(4)), lit(1))], 1)
    assert fails([assign(index(name(x), lit(0)), lit(1))], 2)
    assert not fails([let(t, special("threadIdx.x")), assign(index(name(x), name(t)), lit(1))], 4)
    assert fails([let(t, special("threadIdx.x")), assign(index(name(x), name(t)), index(name(x), lit(0)))], 4)
    y = Var("y", Arr("i32", 1))
    assert fails([array_of(y, "local", [lit(3)]), assign(index(name(x), lit(0)), index(name(y), lit(0)))], 1)


for test in (rounding, neighbours, integers, conversions, floats, random_numbers, fused, memory,
             directed_rounding):
    test()
print("ok")
