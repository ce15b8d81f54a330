"""The generator's expressions: of a wanted type, out of what is in scope, always defined.

All operators have a result for all values, so only indices need care: they are in bounds by construction, by what is
known of ranges (the facts of variables) or by a remainder, a clamp or a condition."""
import directed
import scalars
import values
from build import (add, apply, attr, binary, call, compare, cond, conv, elem, lit, mod, mul, name, part, special, sub,
                   turned, typed, unary, view)
from gen_enums import Enums
from gen_index import Indices
from gen_parts import Parts
from scalars import COMPLEX, FLOATS, INTS, REALS, SIGNED
from tree import Arr, Expr, Fixed, Rec, Tup, UNTYPED, VECTORS, Vec

EXACT_1 = ("sqrt", "fabs", "floor", "ceil", "trunc", "rint", "round", "sign", "fract", "logb", "saturate")
EXACT_2 = ("copysign", "nextafter", "fmod", "remainder", "fdim")
PAIRS = ("mulhi", "add_sat", "sub_sat", "hadd", "rhadd")
FUNNELS = ("funnelshift_l", "funnelshift_r", "funnelshift_lc", "funnelshift_rc")
APPROXIMATE_1 = ("rsqrt", "cbrt", "exp", "exp2", "exp10", "expm1", "log", "log2", "log10", "log1p", "sin", "cos",
                 "tan", "sinpi",
                 "cospi", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc",
                 "gamma",
                 "lgamma")
APPROXIMATE_2 = ("hypot", "pow", "atan2")
# What a wider operand may meet: the narrower types that give the same common type.
NARROWER = {t: [s for s in REALS if s != t and scalars.common(s, t) == t] for t in REALS}
MIXED = {t: [(a, b) for a in REALS for b in REALS if t not in (a, b) and scalars.common(a, b) == t] for t in REALS}
UNIFORM = {None: 0, "block": 1, "grid": 2}


def half_and_wide(a, b):
    """f16 with an integer that it does not hold the range of."""
    return a == "f16" and b in INTS and not scalars.converts(b, a)


class Expressions(Indices, Enums, Parts):
    """Holds the scope; gen_stmt.py and gen_kernel.py build on it."""

    def __init__(self, r, palette, options):
        self.r, self.palette, self.options = r, palette, options
        self.scope = [[]]
        self.functions, self.records = [], []
        self.need = None            # what the expression must be uniform over: None, 'block' or 'grid'
        self.calm = False           # must it do nothing? It is evaluated more than once, or who knows when
        self.approximate = False    # may functions be used whose results have only bounds?
        self.bounds = {}            # ranges of threadIdx.x and so on; empty where they are not available
        self.room = 60              # how many more operators a statement's expressions may have

    # ---- Scope ----

    def declare(self, var):
        self.scope[-1].append(var)
        return var

    def visible(self):
        """Variables that may be read here: what hides another comes later and wins."""
        found = {}
        for block in self.scope:
            for v in block:
                found[v.name] = v
        return [v for v in found.values() if UNIFORM[v.get("uniform")] >= UNIFORM[self.need] and self.is_settled(v)]

    @staticmethod
    def is_settled(v):
        """Is it no view, or one of memory that no thread writes to until the next barrier?"""
        return all(m is v or m.get("role") in ("in", "thin") for m in v.get("memory") or ())

    def variables(self, t):
        return [v for v in self.visible() if v.type is t or v.type == t]

    def arrays(self, t=None):
        """Arrays with elements that may be read here."""
        return [v for v in self.visible() if isinstance(v.type, Arr) and (t is None or v.type.elem == t)
                and v.get("role") in ("in", "own")]

    def off(self, feature):
        return feature in self.options.without

    # ---- Any type ----

    def value(self, t, depth):
        if t == "bool":
            return self.bool(depth)
        if isinstance(t, Vec):
            return self.vector(t, depth)
        if isinstance(t, Rec):
            return self.record(t, depth)
        if isinstance(t, Tup):
            return self.tuple(t, depth)
        if t in COMPLEX:
            return self.complex(t, depth)
        return self.real(t, depth)

    def tuple(self, t, depth):
        """Items may be literals."""
        r = self.r
        names = self.variables(t)
        if names and r.chance(30):
            return name(r.pick(names))
        items = [self.literal_for(p, values.literal(r, p)) if p in REALS and r.chance(15) else self.value(p, depth - 1)
                 for p in t.parts]
        return Expr("tuple", Tup([e.type for e in items]), items)

    def part_sources(self, t):
        """Parts of variables and of elements that have the type."""
        found = []
        for v in self.visible():
            found += self.parts_of(name(v), t, 2)
        arrays = [v for v in self.arrays() if isinstance(v.type.elem, Rec)]
        if arrays and self.room > -8:
            self.room -= 1
            e = self.element(self.r.pick(arrays))
            found += self.parts_of(e, t, 3) if e.op == "index" else []
        return found

    def parts_of(self, e, t, depth):
        """Expressions of type t that are parts of e."""
        if depth == 0 or isinstance(e.type, (str, Arr)) and e.type not in COMPLEX:
            return []
        found = []
        if isinstance(e.type, Vec):
            found = [part(e, f) for f in "xyzw"[:e.type.count]]
        elif isinstance(e.type, Rec):
            found = [part(e, f) for f, _, _ in e.type.fields]
        elif isinstance(e.type, Tup):
            found = [elem(e, lit(k)) for k in range(len(e.type.parts))]
            if len(set(map(str, e.type.parts))) == 1 and self.room > 0 and not self.need and self.r.chance(40):
                found = [Expr("elem", e.type.parts[0], [e, self.remainder(len(found))])]
        elif isinstance(e.type, Fixed) and len(e.type.extents) == 1:
            n = e.type.extents[0]
            found = [elem(e, lit(self.r.below(n)) if self.room < 0 or self.r.chance(50) else self.remainder(n))]
        elif e.type in COMPLEX:
            found = [part(e, "real"), part(e, "imag")]
        result = [x for x in found if x.type is t or x.type == t]
        for x in found:
            result += self.parts_of(x, t, depth - 1)
        return result

    def leaf(self, t):
        """A variable, an element, or a literal of a type."""
        r = self.r
        choices = [(2, lambda: self.constant(t))]
        names = self.variables(t)
        if names:
            choices.append((10, lambda: name(r.pick(names))))
        if t in REALS:
            others = [v for v in self.visible() if v.type in REALS + ("bool",) and v.type != t
                      and v.get("value") is None
                      and not (self.off("int-f16") and half_and_wide(t, v.type))]
            if others:
                choices.append((3 if names else 8, lambda: conv(t, name(r.pick(others)))))
            elif not names and self.need is None and self.bounds and not (self.off("int-f16") and t == "f16"):
                choices.append((4, lambda: conv(t, self.thread_number())))
        arrays = self.arrays(t)
        if arrays and self.room > -8:       # an index has operators of its own
            self.room -= 1
            choices.append((6, lambda: self.element(r.pick(arrays))))
        parts = self.part_sources(t) if r.chance(30) else []
        if parts:
            choices.append((6, lambda: r.pick(parts)))
        if t == "i64" and any(self.thread_numbers()):
            choices.append((3, self.thread_number))
        if t == "i64":
            every = [v for v in self.visible() if isinstance(v.type, Arr) and v.get("role") is not None]
            if every:
                choices.append((2, lambda: self.attribute(r.pick(every))))
        return r.weighted(choices)()

    def constant(self, t):
        r = self.r
        if t in SIGNED + FLOATS and r.chance(30):
            return conv(t, unary("-", lit(values.literal(r, t))))
        if t in COMPLEX:
            return conv(t, lit(float(r.between(-3, 3))), lit(r.pick([0.5, 1.0, 2.0, 0.1])))
        if t == "bool":
            return lit(r.chance(50))
        return typed(values.literal(r, t), t)

    def attribute(self, v):
        r = self.r
        forms = ["size", "ndim", "len"] + [f"shape[{k}]" for k in range(v.type.dims)]
        least = v.get("least") or ()
        if v.get("strides") and min(least, default=0) > 0:      # of an axis with one element a step may be anything
            forms += [f"steps[{k}]" for k in range(v.type.dims) if least[k] > 1]
        e = attr(name(v), r.pick(forms))
        return conv("i64", e) if e.data == "ndim" else e    # the text does not say what type it has

    def thread_numbers(self):
        """The indices that may be used here, by what they must be uniform over."""
        kinds = {None: "", "block": ("blockIdx", "blockDim", "gridDim", "gridsize", "warpsize"),
                 "grid": ("blockDim", "gridDim", "gridsize", "warpsize")}
        return [b for b in sorted(self.bounds) if b.startswith(kinds[self.need])]

    def thread_number(self):
        return special(self.r.pick(self.thread_numbers()))

    # ---- Real numbers ----

    def operand(self, t, depth):
        """What an operation of type t takes beside an operand of that type: it, a narrower one, a literal."""
        r = self.r
        n = r.below(100)
        if n < 18:
            return self.literal_for(t, values.literal(r, t))
        if n < 28 and NARROWER[t]:
            return self.real(r.pick(NARROWER[t]), depth)
        return self.real(t, depth)

    def narrower(self, t, depth):
        e = self.operand(t, depth)
        return conv(t, e) if e.type in UNTYPED else e

    def pair(self, t, depth):
        """Two operands that meet in t."""
        r = self.r
        if self.ticks() and r.chance(12):
            return self.changing(t, depth), self.changing(t, depth)
        if MIXED[t] and r.chance(7):
            a, b = r.pick(MIXED[t])
            if not self.off("int-f16") or not half_and_wide(a, b) and not half_and_wide(b, a):
                return self.real(a, depth), self.real(b, depth)
        a, b = self.real(t, depth), self.literals(t, depth) if r.chance(6) else self.operand(t, depth)
        return (b, a) if r.chance(25) else (a, b)

    def literals(self, t, depth):
        """One of several literals: it has no type either."""
        a, b = (lit(values.literal(self.r, t)) for _ in "ab")
        if depth > 0 and self.r.chance(20):
            b = self.literals(t, depth - 1)
        return cond(a, self.calmly(lambda: self.bool(depth)), b)

    def real(self, t, depth):
        r = self.r
        self.room -= 1
        if depth <= 0 or self.room < 0 or r.chance(15):
            return self.leaf(t)
        choices = [(10, self.arithmetic), (2, self.minus), (3, self.conditional), (5, self.converted), (4, self.chosen),
                   (1, self.powered), (1, self.seen), (1, self.folded), (3, self.function),
                   (3, lambda t, depth: self.leaf(t))]
        if t in INTS:
            choices += [(4, self.bitwise), (3, self.shift), (3, self.bits), (1, self.whole_quotient)]
            if self.need is None and self.bounds:
                choices.append((2, self.counted))
        else:
            choices += [(5, self.contracted), (5, self.exact_call)]
            if self.approximate:
                choices.append((6, self.approximate_call))
            if self.approximate and t in ("f32", "f64"):
                choices.append((2, self.approximate_part))
        if self.need is None and self.bounds and not self.off("random"):
            choices.append((1, self.random))
        if self.ticks():
            choices.append((6, self.ticked))
        if self.vectors_of(t):
            choices.append((1, self.dotted))
        if not self.need:
            choices.append((2, self.indexed))
        return r.weighted(choices)(t, depth - 1)

    def arithmetic(self, t, depth):
        ops = [(5, "+"), (5, "-"), (5, "*")]
        if t in INTS:
            ops += [(2, "//"), (2, "%")]
        else:
            ops += [(3, "/")]
            ops += [(1, "//"), (1, "%")] if not self.off("float-division") else []
        return binary(self.r.weighted(ops), *self.pair(t, depth))

    def whole_quotient(self, t, depth):
        """Division by what divisors are special: powers of two, 0, -1, ends of ranges, variables."""
        r = self.r
        by = r.pick([1, 2, 3, 4, 5, 6, 7, 8, 10, 16, 32, 64, 100, 127, 0, scalars.greatest(t),
                     scalars.greatest(t) // 2 + 1])
        by = lit(by)
        if t in SIGNED and r.chance(30):
            by = unary("-", by)
        a = self.real(t, depth)
        if t == "i64" and self.need is None and self.bounds and r.chance(30):
            a = mul(self.thread_number(), lit(r.pick([3, 1 << 20, (1 << 40) + 1, 1 << 50, (1 << 57) - 1])))
        counters = [v for v in self.variables(t) if v.get("range")]
        if counters and r.chance(30):
            a, by = typed(scalars.greatest(t) - r.below(100), t), name(r.pick(counters))
        if r.chance(15):
            return call("ceil_div", t, a, by)
        return binary(r.pick(["//", "%"]), a, by)

    def counted(self, t, depth):
        """What counts up or down along the threads, also over its type's end, and what leaves it as it is."""
        r = self.r
        near = r.between(0, 40)
        base = r.weighted([(4, lambda: typed(r.pick([near, scalars.greatest(t) - near]), t)),
                           (2, lambda: self.uniformly("grid", lambda: self.real(t, 1)))])()
        along = [b for b in self.thread_numbers() if b.startswith(("threadIdx", "grid(", "laneid"))]
        number = conv(t, special(r.pick(along)) if along else self.thread_number())
        if r.chance(25):
            number = mul(number, lit(r.between(1, 3)))
        e = binary(r.pick("+-"), base, number)
        for _ in range(r.below(3)):
            e = r.pick([lambda: add(e, lit(0)), lambda: sub(e, lit(0)), lambda: mul(e, lit(1)),
                        lambda: add(lit(0), e), lambda: add(e, lit(r.between(1, 3)))])()
        return e

    def contracted(self, t, depth):
        """a * b + c, in all forms."""
        r = self.r
        product = mul(*self.pair(t, depth))
        other = mul(*self.pair(t, depth)) if r.chance(25) else self.operand(t, depth)
        if r.chance(10):
            product = unary("-", product)
        return binary(r.pick("+-"), *((product, other) if r.chance(50) else (other, product)))

    def minus(self, t, depth):
        op = self.r.pick(["-", "-", "~"] if t in INTS else ["-"])
        return unary(op if not self.r.chance(5) else "+", self.real(t, depth))

    def conditional(self, t, depth):
        r = self.r
        a, b = self.pair(t, depth) if r.chance(70) else (self.real(t, depth), self.real(t, depth))
        test = self.bool(depth)
        if r.chance(25):
            return call("selp", t, test, a, b)
        return cond(a, test, b)

    def converted(self, t, depth):
        source = self.r.pick([s for s in REALS + ("bool",) if s != t])
        if self.off("int-f16") and half_and_wide(t, source):
            source = "i8"
        if source in INTS and self.need is None and self.bounds and self.r.chance(12):
            return conv(t, self.counted(source, depth))
        if t in ("f32", "f64") and source != "bool" and self.r.chance(20):
            return self.converted_down(t, source, depth)
        return conv(t, self.value(source, depth))

    def converted_down(self, t, source, depth):
        """Or up, or towards zero; now and then a literal."""
        r = self.r
        e = self.real(source, depth)
        if r.chance(10):
            e = lit(r.pick([0.1, 1 / 3, 1e-50, 1e300, 16777217, (1 << 53) + 1]))
        return call(r.pick([f for f in directed.CONVERSIONS if f.startswith(t)]), t, e)

    def chosen(self, t, depth):
        """min, max, clamp, abs."""
        r = self.r
        f = r.pick(["min", "max", "min", "max", "clamp", "abs"])
        if f == "abs" or t in FLOATS and self.off("zeros"):
            f = "abs"
            return call(f, t, self.real(t, depth))
        if f == "clamp" or r.chance(20):        # a literal of three meets the two others: none that is wider than them
            three = r.shuffled([self.real(t, depth), self.narrower(t, depth), self.narrower(t, depth)])
            types = [e.type for e in three]
            if scalars.common(*types[:2]) is None or scalars.common(types[0], types[2]) is None:
                three.sort(key=lambda e: e.type != t)       # u64 and signed ones meet in t only
            return call(f, t, *three)
        return call(f, t, *self.pair(t, depth))

    def powered(self, t, depth):
        r = self.r
        n = r.pick([0, 1, 2, 2, 3, 3] if t in FLOATS else [0, 1, 2, 2, 3, 4, 5, 7, 10, 31, 64])
        return binary("**", self.real(t, depth), lit(n))

    def function(self, t, depth):
        """A call of one of the program's functions; without one that fits, a leaf."""
        r = self.r
        fitting = [f for f in self.functions if self.fits(f, t)]
        if not fitting or self.need:
            return self.leaf(t)
        f = r.pick(fitting)
        return self.call_of(f, t, depth)

    def ticks(self):
        """Functions that change an array and give a number, each with an array of the thread's own for it."""
        if self.need or self.calm:
            return []
        return [(f, v) for f in self.functions if f.facts.get("ticks") for v in self.visible()
                if v.type == f.params[0].type and v.get("write_any") and v.get("role") == "in"
                and (v.get("least") is None or min(v.get("least")) > 0)]

    def ticked(self, t, depth):
        """A call in the midst of an expression: what stands before it and behind it sees other elements."""
        f, v = self.r.pick(self.ticks())
        args = [name(v)] + [self.value(p.type, depth) for p in f.params[1:]]
        named = self.r.below(len(args)) if self.r.chance(40) else 0
        order = self.r.shuffled(range(len(args) - named, len(args)))
        e = apply(f, *args[:len(args) - named], *[args[k] for k in order], names=[f.params[k].name for k in order])
        return e if e.type == t else conv(t, e)

    def calmly(self, make):
        """What is made without calls that change something."""
        old, self.calm = self.calm, True
        result = make()
        self.calm = old
        return result

    def fits(self, f, t):
        """Can a function's call in an expression give type t?"""
        if f.facts.get("effects"):
            return False
        if f.generics:
            return f.results == "T" and t in self.types_of_bound(f.generics[0][1]) and self.can_pass(f, t)
        return f.results == t and self.can_pass(f, t)

    def can_pass(self, f, t):
        return all(self.passable(p, t) for p in f.params if isinstance(p.type, Arr))

    def passable(self, p, t):
        """Arrays that may be given for an array parameter, whole or a row of."""
        elem_type = t if p.type.elem == "T" else p.type.elem
        return [v for v in self.arrays(elem_type) if v.get("role") == "in" and v.get("least")
                and v.type.dims in (p.type.dims, p.type.dims + 1)]

    @staticmethod
    def types_of_bound(bound):
        return {"int": INTS, "float": FLOATS, "number": REALS, None: REALS + ("bool",)}[bound]

    def call_of(self, f, t, depth):
        """Arguments by place, then some by name, in any order; what has a default may be left out."""
        r = self.r
        by_place = r.below(len(f.params) + 1) if r.chance(30) or f.facts.get("defaults") else len(f.params)
        left = [p for p in f.params[by_place:] if p.get("default") is None or r.chance(50)]
        named = r.shuffled(left)
        args = []
        for p in f.params[:by_place] + named:
            wanted = t if p.type == "T" else p.type
            if isinstance(p.type, Arr):
                v = r.pick(self.passable(p, t))
                whole = v.type.dims == p.type.dims
                turns = v.type.dims == 2 and r.chance(40)
                array = turned(name(v)) if turns else name(v)
                args.append(array if whole else view(array, ["i"] + ["-"] * p.type.dims, self.place(v, int(turns))))
            elif wanted in NARROWER and p.type != "T" and NARROWER[wanted] and r.chance(15):
                narrow = [s for s in NARROWER[wanted] if scalars.converts(s, wanted)]
                args.append(self.real(r.pick(narrow or [wanted]), depth))
            elif r.chance(20) and any(m.type == wanted for m in self.members()):
                args.append(name(r.pick([m for m in self.members() if m.type == wanted])))
            elif wanted in REALS and p.type != "T" and r.chance(15):
                args.append(self.literal_for(wanted, values.literal(r, wanted)))
            else:
                args.append(self.value(wanted, depth))
        return apply(f, *args, names=[p.name for p in named])

    def seen(self, t, depth):
        """The bits of something as another type of the same width; a NaN's are not asked for."""
        r = self.r
        others = [s for s in REALS if s != t and scalars.BITS[s] == scalars.BITS[t]]
        floats = [v for v in self.visible() if v.type in FLOATS and v.type in others]
        if floats and r.chance(60):
            x = name(r.pick(floats))
            return cond(Expr("bits", t, [x]), compare("==", x, x), self.constant(t))
        whole = [s for s in others if s in INTS]
        return Expr("bits", t, [self.real(r.pick(whole), depth)]) if whole else self.leaf(t)

    def bitwise(self, t, depth):
        return binary(self.r.pick("&|^"), *self.pair(t, depth))

    def shift(self, t, depth):
        r = self.r
        by = lit(r.between(0, scalars.BITS[t] + 2)) if r.chance(50) else self.real(r.pick(INTS), depth)
        return binary(r.pick(["<<", ">>"]), self.real(t, depth), by)

    def bits(self, t, depth):
        r = self.r
        f = r.pick(["popc", "clz", "ffs", "brev", "sad", "sign", "funnelshift"] + list(PAIRS))
        if f in PAIRS:
            return call(f, t, self.real(t, depth), self.real(t, depth))
        if f == "funnelshift":
            by = lit(r.between(0, scalars.BITS[t] + 2)) if r.chance(50) else self.real("i32", depth)
            return call(r.pick(FUNNELS), t, self.real(t, depth), self.real(t, depth), by)
        if f == "sad" or t in ("i32", "u32") and r.chance(40):
            f = "sad" if f == "sad" else r.pick(["byte_perm", "dp4a", "dp2a_lo", "dp2a_hi"])
            return call(f, t, self.real(t, depth), self.real(t, depth), self.real(t, depth))
        return call(f, t, self.real(t, depth))

    def exact_call(self, t, depth):
        r = self.r
        form = r.below(12)
        if form > 9:
            f = r.pick(directed.NAMES)
            return call(f, t, self.real(t, depth), *[self.narrower(t, depth) for _ in range(directed.COUNTS[f] - 1)])
        if form < 4:
            return call(r.pick(EXACT_1), t, self.real(t, depth))
        if form < 7:
            f = r.pick(EXACT_2 if not self.off("zeros") else EXACT_2[1:])
            return call(f, t, *([self.real(t, depth), self.real(t, depth)] if f == "nextafter"
                                else self.pair(t, depth)))
        if form < 9:
            args = [self.real(t, depth), self.narrower(t, depth), self.narrower(t, depth)]
            return call(r.pick(["fma", "fma", "lerp"]), t, *r.shuffled(args))
        return call("ldexp", t, self.real(t, depth), self.real("i32", depth) if r.chance(30) else
                    mod(self.real("i32", depth), lit(40)))

    def approximate_call(self, t, depth):
        r = self.r
        if r.chance(75):
            return call(r.pick(APPROXIMATE_1), t, self.real(t, depth))
        return call(r.pick(APPROXIMATE_2), t, *self.pair(t, depth))

    def approximate_part(self, t, depth):
        """What is a real number of a complex one, or normally distributed."""
        r = self.r
        z = self.complex(scalars.WHOLE[t], depth)
        form = r.below(4)
        if form == 0 and not self.need:
            kind = [Expr("dtype", None, (), "f64")] if t == "f64" else []
            return Expr("random", t, [lit(r.between(0, 9)), self.real("i32", 1)] + kind, "normal")
        if form == 1:
            return elem(call("polar", Tup([t, t]), z), lit(r.below(2)))
        return call(r.pick(["abs", "phase"]), t, z)

    def indexed(self, t, depth):
        """An item of a tuple that is made here, or a part of such a vector, by a number that the thread computes."""
        if self.vectors_of(t) and self.r.chance(40):
            v = self.r.pick(self.vectors_of(t))
            return elem(self.vector(v, depth), self.remainder(v.count))
        n = self.r.between(2, 4)
        if self.ticks() and self.r.chance(60):
            items = [self.changing(t, depth) for _ in range(n)]
            at = mod(self.ticked(self.r.pick(["i32", "i64", "u8"]), depth), lit(n))
        else:
            items, at = [self.real(t, depth) for _ in range(n)], self.remainder(n)
        return Expr("elem", t, [Expr("tuple", Tup([t] * n), items), at])

    def changing(self, t, depth):
        """What a call changes: an element of such an array; or such a call."""
        if self.r.chance(30):
            return self.ticked(t, depth)
        e = self.element(self.r.pick(self.ticks())[1])
        return e if e.type == t else conv(t, e)

    @staticmethod
    def vectors_of(t):
        return [v for _, v in sorted(VECTORS.items()) if v.part == t]

    def dotted(self, t, depth):
        v = self.r.pick(self.vectors_of(t))
        return call("dot", t, self.vector(v, depth), self.vector(v, depth))

    def random(self, t, depth):
        """Numbers of a seed and a counter."""
        r = self.r
        seed = lit(r.between(0, 1000)) if r.chance(70) else self.real(r.pick(["i32", "i64", "u32"]), 0)
        counter = self.real(r.pick(["i32", "i64", "u8"]), min(depth, 1))
        if t in ("f32", "f64"):
            args = [seed, counter] + ([Expr("dtype", None, (), "f64")] if t == "f64" else [])
            return Expr("random", t, args, "uniform")
        if t in INTS and t != "u64":
            low, high = sorted([values.literal(r, t), values.literal(r, t)])
            return Expr("random", t, [typed(low, t), lit(high), seed, counter], "randint")
        return self.leaf(t)

def only_scalars(types):
    return [t for t in types if isinstance(t, str) and t in REALS]
