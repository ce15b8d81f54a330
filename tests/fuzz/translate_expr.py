"""The reference: expressions as Python expressions of exact values (scalars.py), by the rules of docs/language.md.

What waits (barriers, operations of warps) becomes a yield; translate.py makes functions of what is made here."""
import math

import directed
import libm
import machine
import scalars
import support
from scalars import BITS, COMPLEX, FLOATS, INTS, PART
from translate_memory import Memory
from translate_parts import Parts, has_effects
from tree import Arr, Expr, Fixed, Rec, Tup, UNTYPED, Vec, given, walk

WAITING = ("sync", "warp")


def namespace():
    """What the Python text refers to."""
    names = {"inf": math.inf, "nan": math.nan, "math": math, "View": machine.View, "known": machine.known,
             "new_array": machine.new_array, "load": machine.load, "store": machine.store, "ATOMICS": machine.ATOMICS,
             "Undefined": machine.Undefined, "libm": libm, "directed": directed.directed,
             "directed_to": directed.converted,
             "bits_of": machine.bits_of, "seen": machine.seen}
    for module in (scalars, support):
        names.update({name: value for name, value in vars(module).items() if not name.startswith("_")})
    return names


def waits(function, known=None):
    """Has a function barriers or operations of warps, itself or in what it calls?"""
    known = {} if known is None else known
    if function not in known:
        known[function] = False
        known[function] = any(n.op in WAITING or n.op == "apply" and waits(n.data, known) for n in walk(function.body))
    return known[function]


SIMPLE_CALLS = {        # of one type, that of the result
    "min": "minimum", "max": "maximum", "clamp": "clamp", "copysign": "copysign", "floor": "floor", "ceil": "ceil",
    "trunc": "trunc", "rint": "rint", "round": "rint", "fabs": "abs", "fmod": "fmod", "remainder": "remainder",
    "sign": "sign", "logb": "logb", "saturate": "saturate"}
TYPED_CALLS = {         # these are told the type
    "ceil_div", "mulhi", "add_sat", "sub_sat", "hadd", "rhadd", "sad", "byte_perm", "dp4a", "popc", "clz", "ffs",
    "brev", "nextafter", "fma", "fract", "fdim", "lerp"}
TESTS = {"isnan": "(lambda x: x != x)", "isinf": "math.isinf", "isfinite": "math.isfinite"}


def meets(t, other):
    """A literal's type where it meets another operand."""
    if t == "#i":
        return other if other not in UNTYPED else "i32"
    if t == "#f":
        return other if other in FLOATS or other in COMPLEX else "f32"
    if t == "#c":
        return scalars.WHOLE.get(other, other if other in COMPLEX else "c64")
    return t


def python_name(var):
    return f"{var.name.replace('.', '_')}_{var.uid}"


class Expressions(Parts, Memory):
    """Translates the expressions of one function; `types` says what its generic names stand for."""

    def __init__(self, translator, function, types):
        self.tr, self.f, self.types, self.temporaries = translator, function, types, 0
        self.elements = {}          # of views in expressions of elements: the names of these

    def ty(self, t):
        if isinstance(t, str):
            return self.types.get(t, t)
        if isinstance(t, Arr):
            return Arr(self.ty(t.elem), t.dims)
        return t

    def fresh(self):
        self.temporaries += 1
        return f"_{self.temporaries}"

    # ---- Expressions ----

    def expr(self, e, want=None):
        """An expression's Python text, converted to a wanted type."""
        t = self.ty(e.type)
        want = self.ty(want) if want is not None else None
        if t in UNTYPED and e.op == "cond":     # a choice of literals takes the type that it meets
            want = want if want is not None else meets(t, t)
            return self.x_cond(e, want)
        if t in UNTYPED:
            return self.literal(self.fold(e), t, want)
        if e.op == "tuple" and isinstance(want, Tup):
            return self.x_tuple(e, want)
        text = getattr(self, "x_" + e.op)(e, t)
        return text if want is None else self.converted(text, t, want)

    def literal(self, value, t, want):
        if want is None:
            want = "i32" if t == "#i" and -2 ** 31 <= value < 2 ** 31 else {"#i": "i64", "#f": "f32", "#c": "c64"}[t]
        if isinstance(want, Vec):
            want = want.part
        if want in UNTYPED:
            return repr(value)
        source = {"#i": "i64", "#f": "f64", "#c": "c128"}[t]
        if t == "#i" and want in INTS:
            return self.constant_text(scalars.wrap(value, want))
        return self.constant_text(scalars.convert(value, source, want))

    @staticmethod
    def constant_text(value):
        return f"({value!r})" if not isinstance(value, complex) else f"complex({value.real!r}, {value.imag!r})"

    def fold(self, e):
        """An expression of literals only: without a type, in 64 bits."""
        if e.op == "lit":
            return e.data
        if e.op == "name":
            return self.fold(e.data.get("value"))
        if e.op == "elem":
            return self.fold(self.item_of_constant(e))
        if e.op == "un":
            value = self.fold(e.args[0])
            return {"-": lambda: -value, "+": lambda: value, "~": lambda: ~value}[e.data]()
        a, b = (self.fold(x) for x in e.args)
        t = "i64" if e.type == "#i" else "f64" if e.type == "#f" else "c128"
        a, b = (float(x) if t == "f64" else complex(x) if t == "c128" else x for x in (a, b))
        if t == "c128":
            return {"+": lambda: a + b, "-": lambda: a - b}[e.data]()
        return eval(self.arithmetic(e.data, t, self.constant_text(a), self.constant_text(b)), self.tr.names)

    @staticmethod
    def item_of_constant(e):
        """P[1] of a constant tuple: the item's expression."""
        return e.args[0].data.get("value").args[e.args[1].data]

    def converted(self, text, t, want):
        if t is want or t == want or isinstance(t, (Vec, Rec, Arr, Fixed)):
            return text
        if isinstance(t, Tup):
            if all(str(a) == str(b) for a, b in zip(t.parts, want.parts)):
                return text
            name = self.fresh()
            parts = ""
            for k, (a, b) in enumerate(zip(t.parts, want.parts)):
                parts += self.converted(f"{name}[{k}]", a, b) + ", "
            return f"(lambda {name}: ({parts}))({text})"
        if isinstance(want, Vec):
            return self.converted(text, t, want.part)
        if t in INTS and want in INTS and scalars.converts(t, want):
            return text
        if t in FLOATS and want in FLOATS and scalars.converts(t, want):
            return text
        if t in INTS and want in FLOATS and BITS[t] <= scalars.DIGITS[want]:
            return f"float({text})"
        if t in FLOATS and want in FLOATS:
            return self.rounded(text, want)
        return f"convert({text}, {t!r}, {want!r})"

    @staticmethod
    def rounded(text, t):
        return f"({text})" if t == "f64" else f"round_{t}({text})"

    def x_lit(self, e, t):
        return self.constant_text(e.data)

    def x_name(self, e, t):
        v = e.data
        if v.get("value") is not None:      # a constant of the file
            if isinstance(v.type, Arr):
                return self.tr.constant(v)
            return self.expr(v.get("value"), v.type)
        return python_name(v)

    def x_bin(self, e, t):
        if isinstance(t, Vec):
            return self.vector_bin(e, t)
        if t in COMPLEX:
            return self.complex_bin(e, t)
        if e.data in ("<<", ">>"):
            name = "shift_left" if e.data == "<<" else "shift_right"
            return f"{name}({self.expr(e.args[0], t)}, {self.expr(e.args[1])}, {t!r})"
        if e.data == "**":
            return self.power(e, t)
        if t in FLOATS and e.data in "+-":
            fused = self.contraction(e, t)
            if fused:
                return fused
        return self.arithmetic(e.data, t, self.expr(e.args[0], t), self.expr(e.args[1], t))

    def arithmetic(self, op, t, a, b):
        if t == "bool":
            return f"({a} {op} {b})"
        if t in INTS:
            if op == "//":
                return f"floor_div({a}, {b}, {t!r})"
            if op == "%":
                return f"floor_mod({a}, {b}, {t!r})"
            if op == "**":
                return f"integer_power({a}, {b}, {t!r})"
            if op in ("<<", ">>"):
                return f"{'shift_left' if op == '<<' else 'shift_right'}({a}, {b}, {t!r})"
            if op in "&|^":
                return f"({a} {op} {b})"
            half, mask = 1 << (BITS[t] - 1), (1 << BITS[t]) - 1
            return f"((({a} {op} {b}) + {half} & {mask}) - {half})" if t[0] == "i" else f"(({a} {op} {b}) & {mask})"
        if op == "/":
            return self.rounded(f"divide({a}, {b})", t)
        if op == "//":
            return f"float_floordiv({a}, {b}, {t!r})"
        if op == "%":
            return f"float_mod({a}, {b}, {t!r})"
        if op == "**":
            return f"({a}) ** ({b})"
        return self.rounded(f"{a} {op} {b}", t)

    def power(self, e, t):
        base, n = e.args
        if t in INTS:
            return f"integer_power({self.expr(base, t)}, {self.fold(n)}, {t!r})"
        if n.type == "#i" and 0 <= self.fold(n) <= 3:   # products; of more than three their order is not stated
            n, a = self.fold(n), self.expr(base, t)
            if n == 1:
                return a
            name = self.fresh()
            if n == 0:      # an index in the operand may be outside
                return f"(lambda {name}: 1.0)({a})"
            text = self.rounded(f"{name} * {name}", t)
            if n == 3:
                text = self.rounded(f"{name} * {text}", t)
            return f"(lambda {name}: {text})({a})"
        return f"libm.call('pow', {t!r}, {self.expr(base, t)}, {self.expr(n, t)})"

    def product(self, e, t):
        """Is an operand a product that a sum or difference of type t takes in? One of numbers beside a vector or a
        complex number is, too."""
        while e.op == "un" and e.data == "+":
            e = e.args[0]
        own = self.ty(e.type)
        part = t.part if isinstance(t, Vec) else PART.get(t)
        return e if e.op == "bin" and e.data == "*" and own in (t, part) else None

    def contraction(self, e, t):
        """The fused multiply-add that a sum or difference is, or None."""
        if not self.fused:
            return None
        left, right = (self.product(a, t) for a in e.args)
        if left:
            a, b = (self.expr(x, t) for x in left.args)
            return f"fma({a}, {b}, {'' if e.data == '+' else '-'}{self.expr(e.args[1], t)}, {t!r})"
        if right:
            c = self.expr(e.args[0], t)
            a, b = (self.expr(x, t) for x in right.args)
            return f"fma_last({c}, {'' if e.data == '+' else '-'}{a}, {b}, {t!r})"
        return None

    def x_un(self, e, t):
        a = self.expr(e.args[0], t)
        if e.data == "not" or t == "bool":     # ~ of a run block's bool array is not
            return f"(not {a})"
        if e.data == "+":
            return a
        if isinstance(t, Vec):
            return f"vmap(lambda p: {self.unary(e.data, t.part, 'p')}, {a})"
        return self.unary(e.data, t, a)

    @staticmethod
    def unary(op, t, a):
        if t in INTS:
            return f"wrap({op}{a}, {t!r})"
        if t in COMPLEX:
            return f"(lambda z: complex(-z.real, -z.imag))({a})"
        return f"(-{a})"

    def x_logic(self, e, t):
        return f"({self.expr(e.args[0])} {e.data} {self.expr(e.args[1])})"

    def x_cmp(self, e, t):
        """Operands of each comparison meet in their common type; `data` has the operators."""
        if len(e.data) == 1:
            return self.compared(e.data[0], *e.args)
        # A chain stops at the first that is false. What is compared twice and has effects is computed the first time.
        parts, a = [], e.args[0]
        for op, b in zip(e.data, e.args[1:]):
            first = again = b
            if has_effects(b):
                name, t = self.fresh(), self.ty(b.type)
                first, again = Expr("code", t, (), f"({name} := {self.expr(b)})"), Expr("code", t, (), name)
            parts.append(self.compared(op, a, first))
            a = again
        return f"({' and '.join(parts)})"

    def compared(self, op, a, b):
        ta, tb = self.ty(a.type), self.ty(b.type)
        if isinstance(ta, Tup):     # Python's own comparison of tuples takes a NaN for equal to itself
            if any(isinstance(p, Tup) for p in ta.parts):       # of the same types
                sides = f"{self.expr(a)}, {self.expr(b)}"
            else:
                t = [scalars.common(meets(x, y), meets(y, x)) for x, y in zip(ta.parts, tb.parts)]
                sides = f"{self.expr(a, Tup(t))}, {self.expr(b, Tup(t))}"
            return f"({'not ' if op == '!=' else ''}same_tuples({sides}))"
        if isinstance(ta, Vec) or isinstance(tb, Vec):
            part = scalars.common(*(meets(getattr(t, "part", t), getattr(o, "part", o)) for t,
                                    o in ((ta, tb), (tb, ta))))
            return f"vmap(lambda p, q: p {op} q, {self.as_part(a, part)}, {self.as_part(b, part)})"
        if ta in UNTYPED and tb in UNTYPED:
            return f"({self.fold(a)!r} {op} {self.fold(b)!r})"
        t = scalars.common(meets(ta, tb), meets(tb, ta))
        if t in COMPLEX:
            join = "and" if op == "==" else "or"
            return (f"(lambda z, w: z.real {op} w.real {join} z.imag {op} w.imag)"
                    f"({self.expr(a, t)}, {self.expr(b, t)})")
        return f"({self.expr(a, t)} {op} {self.expr(b, t)})"

    def as_part(self, e, part):
        """A vector or number beside a vector, its numbers converted."""
        t = self.ty(e.type)
        if isinstance(t, Vec):
            return f"vmap(lambda p: {self.converted('p', t.part, part)}, {self.expr(e)})"
        return self.expr(e, part)

    def x_cond(self, e, t):
        return f"({self.expr(e.args[0], t)} if {self.expr(e.args[1])} else {self.expr(e.args[2], t)})"

    def x_conv(self, e, t):
        if isinstance(t, Vec):
            return self.vector_of(e, t)
        if t in COMPLEX and len(e.args) == 2:
            return f"complex({self.explicit(e.args[0], PART[t])}, {self.explicit(e.args[1], PART[t])})"
        return self.explicit(e.args[0], t)

    def explicit(self, e, t):
        """f32(x): of literals the value is converted from 64 bits."""
        source = self.ty(e.type)
        if source in UNTYPED:
            value = self.fold(e)
            if t == "bool":
                return str(value != 0)
            return self.constant_text(scalars.convert(value, {"#i": "i64", "#f": "f64", "#c": "c128"}[source], t)
                                      if source != "#i" or t not in INTS else scalars.wrap(value, t))
        return f"convert({self.expr(e)}, {source!r}, {t!r})"

    def vector_of(self, e, t):
        if len(e.args) == 1 and not isinstance(self.ty(e.args[0].type), Vec):
            return f"(({self.explicit(e.args[0], t.part)},) * {t.count})"
        parts = []
        for a in e.args:
            source = self.ty(a.type)
            if isinstance(source, Vec):
                parts.append(f"*(convert(p, {source.part!r}, {t.part!r}) for p in {self.expr(a)})")
            else:
                parts.append(self.explicit(a, t.part))
        return f"({', '.join(parts)},)"

    def x_make(self, e, t):
        order = {}
        for k, (name, a) in enumerate(zip(e.data, e.args)):
            order[name or t.fields[k][0]] = a
        parts = []
        for name, ft, extents in t.fields:
            if name not in order:
                parts.append(repr(machine.zero(ft, extents)))
            elif extents is None:
                parts.append(self.expr(order[name], ft))
            else:
                parts.append(self.nested(order[name], ft))
        if has_effects(e) and e.args:        # arguments are evaluated in the order they are written in
            places = {id(order[name]): k for k, (name, _, _) in enumerate(t.fields) if name in order}
            return self.ordered(parts, [places[id(a)] for a in e.args])
        return f"({', '.join(parts)},)"

    def nested(self, e, t):
        """A tuple for a fixed array."""
        if e.op == "tuple":
            return f"({', '.join(self.nested(a, t) for a in e.args)},)"
        return self.expr(e, t) if not isinstance(e.type, Fixed) else self.expr(e)

    def x_tuple(self, e, t):
        return f"({', '.join(self.expr(a, p) for a, p in zip(e.args, t.parts))},)"

    def x_apply(self, e, t):
        f, types = e.data, []
        if f.generics:
            bound = self.bind(f, given(f, e.args, e.names))
            types = sorted(bound.items())
        name = self.tr.function(f, types)
        call = f"{name}(c, t{self.arguments(f, e, dict(types))})"
        return f"(yield from {call})" if waits(f, self.tr.waiting) else call

    def arguments(self, f, e, types):
        """By parameter, evaluated in the order they are written in."""
        texts = [self.expr(p.get("default") if a is None else a, types.get(p.type, p.type))
                 for p, a in given(f, e.args, e.names)]
        if not e.names or not has_effects(e):
            return "".join(", " + text for text in texts)
        places = {id(a): k for k, (_, a) in enumerate(given(f, e.args, e.names))}
        written = [places[id(a)] for a in e.args]
        return f", *{self.ordered(texts, written)}"

    @staticmethod
    def ordered(texts, written):
        """Those whose numbers are `written` in that order, then the others; as a tuple in their own order."""
        order = written + [k for k in range(len(texts)) if k not in written]
        return f"ordered(({''.join(texts[k] + ', ' for k in order)}), {order})"

    def bind(self, f, args):
        """What a function's generic names are, by its parameters' arguments."""
        bound = {}
        for p, a in args:
            if a is None:
                continue
            t = self.ty(a.type)
            if isinstance(p.type, Arr) and p.type.elem in dict(f.generics):
                bound[p.type.elem] = t.elem
            elif p.type in dict(f.generics) and t not in UNTYPED:
                bound.setdefault(p.type, t)
        return bound

    # ---- Calls ----

    def x_call(self, e, t):
        name = e.data
        if isinstance(t, Vec):
            return self.vector_call(e, t)
        if name in SIMPLE_CALLS:
            args = [self.expr(a, t) for a in e.args]
            text = args[0] if name in ("min", "max") else f"{SIMPLE_CALLS[name]}({', '.join(args)})"
            for a in args[1:] if name in ("min", "max") else []:
                text = f"{SIMPLE_CALLS[name]}({text}, {a})"
            return text
        if name in TYPED_CALLS:
            return f"{name}({', '.join(self.expr(a, t) for a in e.args)}, {t!r})"
        if name in directed.NAMES:
            return f"directed({name!r}, {t!r}, {', '.join(self.expr(a, t) for a in e.args)})"
        if name in directed.CONVERSIONS:
            x = e.args[0]
            value = repr(self.fold(x)) if self.ty(x.type) in UNTYPED else self.expr(x)
            return f"directed_to({value}, {t!r}, {name[-2:]!r})"
        method = getattr(self, "call_" + name, None)
        if method:
            return method(e, t)
        if name in TESTS:
            source = self.ty(e.args[0].type)
            if source in COMPLEX:
                join = "and" if name == "isfinite" else "or"
                return f"(lambda z: {TESTS[name]}(z.real) {join} {TESTS[name]}(z.imag))({self.expr(e.args[0])})"
            return f"{TESTS[name]}({self.expr(e.args[0])})"
        kind = t.parts[0] if isinstance(t, Tup) else t
        return f"libm.call({name!r}, {kind!r}, {', '.join(self.expr(a) for a in e.args)})"

    def vector_call(self, e, t):
        if e.data == "selp":
            test, *args = [self.expr(e.args[0])] + [self.expr(a, t) for a in e.args[1:]]
            return f"vmap(lambda c, p, q: p if c else q, {test}, {', '.join(args)})"
        holes = [Expr("code", t.part, (), f"p{k}") for k in range(len(e.args))]
        inner = self.x_call(Expr("call", t.part, holes, e.data), t.part)
        names = ", ".join(h.data for h in holes)
        return f"vmap(lambda {names}: {inner}, {', '.join(self.expr(a, t) for a in e.args)})"

    def x_code(self, e, t):
        return e.data

    def call_print(self, e, t):
        parts = [repr(a.data) if a.op == "text" else f"str({self.expr(a)})" for a in e.args]
        return f"c.machine.write(t, ' '.join([{', '.join(parts)}]))"

    def call_assert(self, e, t):
        return f"holds({self.expr(e.args[0])})"

    def call_abs(self, e, t):
        source = self.ty(e.args[0].type)
        if source in COMPLEX:
            return f"libm.complex_abs({self.expr(e.args[0])}, {t!r})"
        return f"integer_abs({self.expr(e.args[0], t)}, {t!r})" if t in INTS else f"abs({self.expr(e.args[0], t)})"

    def call_selp(self, e, t):
        c, a, b = self.expr(e.args[0]), self.expr(e.args[1], t), self.expr(e.args[2], t)
        return f"(lambda c, a, b: a if c else b)({c}, {a}, {b})"

    call_where = call_selp      # of a run block's arrays, element by element

    def call_sqrt(self, e, t):
        if t in COMPLEX:
            return f"libm.complex_call('sqrt', {self.expr(e.args[0])}, {t!r})"
        return self.rounded(f"square_root({self.expr(e.args[0], t)})", t)

    def call_ilogb(self, e, t):
        return f"ilogb({self.expr(e.args[0])})"

    def call_divmod(self, e, t):
        a, b = (self.fresh() for _ in "ab")
        q, m = (self.arithmetic(op, t.parts[0], a, b) for op in ("//", "%"))
        return f"(lambda {a}, {b}: ({q}, {m}))({', '.join(self.expr(x, t.parts[0]) for x in e.args)})"

    def call_funnelshift(self, e, t):
        lo, hi = (self.expr(x, t) for x in e.args[:2])
        form = e.data.partition("_")[2]
        return f"funnel({lo}, {hi}, {self.expr(e.args[2], 'i32')}, {t!r}, {form[0] == 'l'}, {form[1:] == 'c'})"

    def call_dp2a_lo(self, e, t):
        start = 2 if e.data.endswith("hi") else 0
        return f"dp2a({', '.join(self.expr(a, t) for a in e.args)}, {start}, {t!r})"

    call_dp2a_hi = call_dp2a_lo
    call_funnelshift_l = call_funnelshift_r = call_funnelshift_lc = call_funnelshift_rc = call_funnelshift

    def call_modf(self, e, t):
        return f"modf({self.expr(e.args[0])})"

    def call_frexp(self, e, t):
        return f"frexp({self.expr(e.args[0])})"

    def call_ldexp(self, e, t):
        return f"ldexp({self.expr(e.args[0], t)}, {self.expr(e.args[1], 'i32')}, {t!r})"

    def call_conj(self, e, t):
        return f"{self.expr(e.args[0])}.conjugate()"

    def call_all(self, e, t):
        return f"all({self.expr(e.args[0])})"

    def call_any(self, e, t):
        return f"any({self.expr(e.args[0])})"

    def call_dot(self, e, t):
        """v.x*w.x + v.y*w.y + ..., rounded as that is."""
        a, b = (self.as_part(x, t) for x in e.args)
        return f"dot({a}, {b}, {t!r}, {self.fused_floats(t)})"

    def fused_floats(self, t):
        return self.tr.fused and t in FLOATS

    @property
    def fused(self):
        return self.tr.fused
