"""What tests/ops computes: expressions of `a` and `b` on each type, what tests/fuzz/scalars.py says that they are, and
the values they are tried on."""
import collections
import math
import operator
import pathlib
import random
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.append(str(ROOT / "tests" / "fuzz"))

import directed  # noqa: E402
import scalars  # noqa: E402
from scalars import (BITS, COMPLEX, DIGITS, FLOATS, INF, INTS, LARGEST, LEAST_EXPONENT, NAN, REALS,  # noqa: E402
                     ROUND, wrap)

KINDS = ("bool", *REALS)
# An expression, the type of its result, and the result of two operands (of one: where `b` is not in the text).
Form = collections.namedtuple("Form", "text result of")
ROWS = [(m[1], m[2], m[3]) for m in re.finditer(r'^(?:BINARY|UNARY)\((\w+), "([^"]+)", (\w+)\)',
                                                (ROOT / "compiler/lang/ops.def").read_text(), re.MULTILINE)]
UNARY = {"NEG": "-a", "PLUS": "+a", "INVERT": "~a", "NOT": "not a"}
COMPARE = {op: getattr(operator, op.lower()) for op in ("EQ", "NE", "LT", "LE", "GT", "GE")}
BITWISE = {"AND": operator.and_, "OR": operator.or_, "XOR": operator.xor}
NUMERIC = {"ADD": operator.add, "SUB": operator.sub, "MUL": operator.mul}
INTEGER = {"FLOORDIV": scalars.floor_div, "MOD": scalars.floor_mod, "SHL": scalars.shift_left,
           "SHR": scalars.shift_right}


# ---- Operators ----

def takes(op, group, kind):
    """Is an operator one of a type? (Powers are among the functions, matrix products are of arrays.)"""
    if group == "ARRAYS" or op == "POW":
        return False
    if group == "LOGIC" or kind == "bool":
        return kind == "bool" and (group == "LOGIC" or op in ("EQ", "NE", "AND", "OR", "XOR"))
    if group in ("SHIFT", "BITS", "INTS"):
        return kind in INTS
    return group != "FLOATS" or kind in FLOATS


def meaning(op, kind):
    """What an operator of the table makes of two values; a new row of the table fails here."""
    if op in COMPARE:
        return COMPARE[op]
    if op in BITWISE:
        return BITWISE[op]
    if op == "NOT":
        return lambda a, b: not a
    if kind in INTS:
        if op in INTEGER:
            return lambda a, b: INTEGER[op](a, b, kind)
        return {"NEG": lambda a, b: wrap(-a, kind), "PLUS": lambda a, b: a, "INVERT": lambda a, b: wrap(~a, kind),
                **{name: lambda a, b, f=f: wrap(f(a, b), kind) for name, f in NUMERIC.items()}}[op]
    return {"NEG": lambda a, b: -a, "PLUS": lambda a, b: a, "DIV": lambda a, b: ROUND[kind](scalars.divide(a, b)),
            "FLOORDIV": lambda a, b: scalars.float_floordiv(a, b, kind),
            "MOD": lambda a, b: scalars.float_mod(a, b, kind),
            **{name: lambda a, b, f=f: ROUND[kind](f(a, b)) for name, f in NUMERIC.items()}}[op]


def operators(kind):
    forms = [Form(UNARY.get(op, f"a {spelling} b"), "bool" if group == "COMPARE" else kind, meaning(op, kind))
             for op, spelling, group in ROWS if takes(op, group, kind)]
    if kind == "bool":
        forms += [Form("a and b", kind, lambda a, b: a and b), Form("a or b", kind, lambda a, b: a or b)]
    return forms


# ---- Functions, and operators with a constant on one side, which are lowered otherwise ----

def integer_functions(t):
    forms = {
        "popc(a)": lambda a, b: wrap(scalars.popc(a, t), t), "clz(a)": lambda a, b: wrap(scalars.clz(a, t), t),
        "ffs(a)": lambda a, b: scalars.ffs(a, t), "brev(a)": lambda a, b: scalars.brev(a, t),
        "abs(a)": lambda a, b: scalars.integer_abs(a, t), "ceil_div(a, b)": lambda a, b: scalars.ceil_div(a, b, t),
        "mulhi(a, b)": lambda a, b: scalars.mulhi(a, b, t), "mulhi(a, 11)": lambda a, b: scalars.mulhi(a, 11, t),
        "add_sat(a, b)": lambda a, b: scalars.add_sat(a, b, t), "sub_sat(a, b)": lambda a, b: scalars.sub_sat(a, b, t),
        "hadd(a, b)": lambda a, b: scalars.hadd(a, b, t), "rhadd(a, b)": lambda a, b: scalars.rhadd(a, b, t),
        "sad(a, b, a)": lambda a, b: scalars.sad(a, b, a, t), "sign(a)": lambda a, b: (a > 0) - (a < 0),
        "divmod(a, b)[0]": lambda a, b: scalars.floor_div(a, b, t),
        "divmod(a, b)[1]": lambda a, b: scalars.floor_mod(a, b, t),
        "clamp(a, 1, 50)": lambda a, b: scalars.clamp(a, 1, 50),
        "(a // b) * b + a % b": lambda a, b: wrap(scalars.floor_div(a, b, t) * b + scalars.floor_mod(a, b, t), t),
        "a << 3": lambda a, b: scalars.shift_left(a, 3, t), "a >> 1": lambda a, b: scalars.shift_right(a, 1, t),
        "100 // b": lambda a, b: scalars.floor_div(100, b, t), "100 % b": lambda a, b: scalars.floor_mod(100, b, t)}
    for end in ("l", "r", "lc", "rc"):
        for n in (0, 5, 8, 37, 64, 100, -3):
            forms[f"funnelshift_{end}(a, b, {n})"] = lambda a, b, end=end, n=n: scalars.funnel(
                a, b, n, t, end[0] == "l", end[1:] == "c")
    if BITS[t] == 32:
        forms["dp4a(a, b, a)"] = lambda a, b: scalars.dp4a(a, b, a, t)
        forms["dp2a_lo(a, b, a)"] = lambda a, b: scalars.dp2a(a, b, a, 0, t)
        forms["dp2a_hi(a, b, b)"] = lambda a, b: scalars.dp2a(a, b, b, 2, t)
        forms["byte_perm(a, b, b)"] = lambda a, b: scalars.byte_perm(a, b, b, t)
        for n in (0x3210, 0x5410, 0x0123, 0x7654, 0xfedc):
            forms[f"byte_perm(a, b, {n})"] = lambda a, b, n=n: scalars.byte_perm(a, b, n, t)
    for n in (7, 8, *((-3, -1) if t[0] == "i" else ())):
        forms[f"a // {n}"] = lambda a, b, n=n: scalars.floor_div(a, n, t)
        forms[f"a % {n}"] = lambda a, b, n=n: scalars.floor_mod(a, n, t)
    for n in (0, 1, 2, 3, 7, 64):
        forms[f"a ** {n}"] = lambda a, b, n=n: scalars.integer_power(a, n, t)
    return forms


def float_functions(t):
    rnd = ROUND[t]
    return {
        "abs(a)": lambda a, b: abs(a), "clamp(a, -1.5, 2.5)": lambda a, b: scalars.clamp(a, -1.5, 2.5),
        "a / 4": lambda a, b: rnd(a / 4), "a / 3": lambda a, b: rnd(a / 3),
        "1 / b": lambda a, b: rnd(scalars.divide(1.0, b)),
        "a // 4": lambda a, b: scalars.float_floordiv(a, 4.0, t), "a % 4": lambda a, b: scalars.float_mod(a, 4.0, t),
        "a % -3": lambda a, b: scalars.float_mod(a, -3.0, t), "a ** 0": lambda a, b: 1.0, "a ** 1": lambda a, b: a,
        "a ** 2": lambda a, b: rnd(a * a), "a ** 3": lambda a, b: rnd(a * rnd(a * a)),
        "sign(a)": lambda a, b: scalars.sign(a), "saturate(a)": lambda a, b: scalars.clamp(a, 0.0, 1.0),
        "fdim(a, b)": lambda a, b: 0.0 if a <= b else rnd(a - b), "fract(a)": lambda a, b: scalars.fract(a, t),
        "lerp(a, b, 0.25)": lambda a, b: scalars.fma(0.25, rnd(b - a), a, t), "logb(a)": lambda a, b: scalars.logb(a),
        "divmod(a, b)[0]": lambda a, b: scalars.float_floordiv(a, b, t),
        "divmod(a, b)[1]": lambda a, b: scalars.float_mod(a, b, t)}


def directed_functions(t):
    forms = {}
    for mode in directed.MODES:
        for op in ("add", "sub", "mul", "div"):
            forms[f"{op}_{mode}(a, b)"] = lambda a, b, of=f"{op}_{mode}": directed.directed(of, t, a, b)
        of = f"fma_{mode}"
        forms[f"sqrt_{mode}(a)"] = lambda a, b, mode=mode: directed.directed(f"sqrt_{mode}", t, a)
        forms[f"{of}(a, b, a)"] = lambda a, b, of=of: directed.directed(of, t, a, b, a)
        forms[f"{of}(a, b, -(a * b))"] = lambda a, b, of=of: directed.directed(of, t, a, b, -ROUND[t](a * b))
    return forms


def functions(kind):
    if kind == "bool":
        return []
    forms = {"min(a, b)": scalars.minimum, "max(a, b)": scalars.maximum,
             **(integer_functions(kind) if kind in INTS else {**float_functions(kind), **directed_functions(kind)})}
    return [Form(text, kind, of) for text, of in forms.items()]


def conversions(kind):
    def of_both(part):
        return lambda a, b: complex(scalars.convert(a, kind, part), scalars.convert(b, kind, part))
    one = [Form(f"{to}(a)", to, lambda a, b, to=to: scalars.convert(a, kind, to)) for to in (*KINDS, *COMPLEX)]
    if kind != "bool":
        one += [Form(f"{to}_{mode}(a)", to, lambda a, b, to=to, mode=mode: directed.converted(a, to, mode))
                for to in ("f32", "f64") for mode in directed.MODES[1:]]
    return one + [Form(f"{to}(a, b)", to, of_both(part)) for to, part in scalars.PART.items()]


# ---- In run blocks: where integers are exact ----

def exact(text, t):
    """The condition, in kjit and in Python, on which a result fits its type; "" where it always does. Beyond 2^53 it is
    stricter than it need be."""
    low, high = (float(end) for end in (scalars.least(t), scalars.greatest(t)))
    if BITS[t] == 64:
        low, high = 0.99 * low, 0.99 * high
    power = re.fullmatch(r"a \*\* (\d+)", text)
    steps = {"a + b": "float(a) + float(b)", "a - b": "float(a) - float(b)", "a * b": "float(a) * float(b)",
             "-a": "-float(a)", "a << 3": "float(a) * 8", "a << b": "float(a) * 2.0 ** min(b, 100)",
             "sad(a, b, a)": "abs(float(a) - float(b)) + float(a)",
             "(a // b) * b + a % b": "abs(float(a)) + abs(float(b))"}
    conditions = []
    if re.search("// b|% b|ceil_div|divmod", text):
        conditions.append("b != 0")
    if re.search("// b|% b|ceil_div|divmod|abs|// -1", text) and low < 0:
        conditions.append(f"-float(a) <= {high!r}")
    if text in ("a << b", "a >> b"):
        conditions.append("b >= 0")
    if text == "a - b" and not low: # exactly so
        conditions.append("b <= a")
    elif text in steps:
        conditions.append(f"{low!r} <= {steps[text]} <= {high!r}")
    if power:
        n = int(power[1])
        conditions.append(f"min(abs(float(a)), {1e4 if n > 10 else 1e20!r}) ** {n} <= {high!r}")
    return " and ".join(conditions)


def where_exact(text, t):
    condition = exact(text, t)
    return f"({text}) if {condition} else 0" if condition else text


# ---- Values ----

def int_ends(t):
    """Values that are tried in all pairs."""
    low, high = scalars.least(t), scalars.greatest(t)
    some = {0, 1, 2, 3, 7, 67, 100, BITS[t] - 1, high // 2, high // 2 + 1, high // 2 + 2, high - 1, high, low, low + 1}
    some |= {-1, -2, -3, -7, -100} if low else set()
    if BITS[t] == 64:
        some |= {1 << 31, (1 << 32) - 1, (1 << 32) + 1, 9876543210, (1 << 53) + 1, (1 << 57) - 1}
        some |= {-12345678901, -(1 << 31) - 1, -(1 << 32)} if low else set()
    return sorted(some)


def int_more(t, r):
    """Values that become floats, each about the middle between two that a float holds, or narrower integers."""
    some = {65503, 65504, 65505, 65519, 65520, 65521, 3000000000, 70000, 300}
    for bits in range(6, 65):
        some |= {(1 << bits) + d for d in (-1, 0, 1)}
    for digits in DIGITS.values():
        for shift in range(0, 64 - digits, 5):
            middle = (1 << digits) + 1 << shift
            some |= {middle + d for d in (-1, 0, 1)} | {middle + (2 << shift) + d for d in (-1, 0, 1)}
    some |= {-v for v in some} | {r.getrandbits(n) for n in (16, 32, 64) for _ in range(8)}
    return sorted(v for v in some if scalars.fits(v, t))


def float_ends(t):
    large, small = LARGEST[t], math.ldexp(1.0, LEAST_EXPONENT[t])
    normal = math.ldexp(small, DIGITS[t] - 1)
    return [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 2.5, -2.5, 3.0, -3.0, 7.0, -7.0, 7.5, 0.25, -6.0, large, -large,
            large / 2, small, -small, normal, INF, -INF, NAN, ROUND[t](0.1), ROUND[t](1e4), ROUND[t](-1e-5)]


def float_more(t, r):
    """Values about the ends of integers and of other floats, and about the middle between two that those hold."""
    some = {0.99, 1.5, 127.5, 255.5}
    for i in INTS:
        for end in (scalars.least(i), scalars.greatest(i)):
            some |= {end + d for d in (-1, -0.5, 0, 0.5, 1)}
    for u in FLOATS:
        small = LEAST_EXPONENT[u]
        for at in (1.0, LARGEST[u], math.ldexp(1.0, small), math.ldexp(1.0, small + DIGITS[u] - 1)):
            unit = max(math.frexp(at)[1] - DIGITS[u], small)
            if small >= LEAST_EXPONENT[t] and unit > LEAST_EXPONENT[t]:
                some |= {at + math.ldexp(k, unit - 1) for k in (-1, 0, 1, 2, 3) if at < LARGEST["f64"] or k <= 0}
    exact = {ROUND[t](float(v)) for v in some}
    exact |= {scalars.nextafter(v, to, t) for v in exact for to in (-INF, INF)}
    size = BITS[t] // 8
    drawn = scalars.unpack(t, bytes(r.getrandbits(8) for _ in range(40 * size)))
    return sorted({w for v in exact for w in (v, -v)} - {0.0}) + [v for v in drawn if v == v]


def values(kind):
    """The values that a type's expressions are tried on: those taken in all pairs, and further pairs."""
    if kind == "bool":
        return [False, True], []
    r = random.Random(kind)
    ends, more = (int_ends(kind), int_more(kind, r)) if kind in INTS else (float_ends(kind), float_more(kind, r))
    more = [v for v in more if v not in ends]
    return ends, list(zip(more, r.sample(more, len(more))))


def literal(kind, value):
    if kind == "bool":
        return "true" if value else "false"
    return f"{kind}({value!r})"
