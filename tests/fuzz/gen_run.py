"""The generator's run blocks: expressions of whole arrays, by section 16 of docs/language.md."""
import math

import directed
import scalars
import values
from build import apply, binary, call, chained, compare, conv, lit, name, unary
from gen_calls import RunCalls, several_of
from gen_expr import EXACT_1, EXACT_2, Expressions
from host import HostArray, Layout, leaves
from run_statements import (Compute, Cumsum, Fill, Matmul, OfFields, Reduce, Reshape, Several, Store,
                            StoreRecord, Turned, broadcast, random_slice, sliced)
from scalars import COMPLEX, FLOATS, INTS, PART, REALS
from tree import Tup, Var, walk

class ArrayExpressions(Expressions):
    """Expressions with arrays for leaves. Numbers are literals here, so every operation has an array in it."""

    def __init__(self, r, arrays, options):
        super().__init__(r, [v.type for v in arrays], options)
        self.names = arrays
        self.room = options.room

    @staticmethod
    def vectors_of(t):
        return []       # of whole arrays there are no vectors

    def leaf(self, t):
        r = self.r
        same = [v for v in self.names if v.type == t]
        if same and r.chance(85):
            return name(r.pick(same))
        if t == "bool":
            v = r.pick([v for v in self.names if v.type in REALS])
            return compare(r.pick(["<", ">", "==", "!="]), name(v), lit(values.literal(r, v.type)))
        if t in COMPLEX:
            p = r.pick([v for v in self.names if v.type in REALS])
            return conv(t, name(p)) if PART[t] != "f32" or p.type != "f64" else conv(t, conv("f32", name(p)))
        others = [v for v in self.names if v.type in REALS
                  and not (self.off("int-f16") and t == "f16" and v.type in INTS and not scalars.converts(v.type, t))]
        return conv(t, name(r.pick(others))) if others else conv(t, conv("i8", name(self.names[0])))

    def constant(self, t):
        return self.leaf(t)

    def indexed(self, t, depth):
        return self.leaf(t)     # nor is an array a tuple's index

    def narrower(self, t, depth):
        return self.real(t, depth)

    def conditional(self, t, depth):
        a, b = self.pair(t, depth)
        what = "selp" if not self.off("run-functions") and self.r.chance(40) else "where"
        return call(what, t, self.bool(depth), a, b)

    def literals(self, t, depth):
        return self.operand(t, depth)

    def converted(self, t, depth):
        source = self.r.pick([s for s in REALS if s != t])
        if self.off("int-f16") and t == "f16" and source in INTS and not scalars.converts(source, t):
            source = "i8"
        return conv(t, self.real(source, depth))

    def function(self, t, depth):
        """One of the program's functions of numbers."""
        fitting = [f for f in self.functions if f.results == t or f.generics and t in self.types_of_bound(
            f.generics[0][1])]
        return self.call_of(self.r.pick(fitting), t, depth) if fitting else self.leaf(t)

    def call_of(self, f, t, depth):
        """Beside an array there may be numbers, which are literals here."""
        r = self.r
        by_place = r.between(1, len(f.params)) if r.chance(30) else len(f.params)
        named = r.shuffled([p for p in f.params[by_place:] if p.get("default") is None or r.chance(50)])
        args = []
        for p in f.params[:by_place] + named:
            wanted = t if p.type == "T" else p.type
            narrow = [s for s in REALS if s != wanted and scalars.converts(s, wanted)]
            if args and r.chance(25):
                args.append(lit(values.literal(r, wanted)))
            else:
                args.append(self.real(r.pick(narrow) if narrow and p.type != "T" and r.chance(15) else wanted, depth))
        return apply(f, *args, names=[p.name for p in named])

    def folded(self, t, depth):
        return self.leaf(t)     # a reduction is a statement here

    def exact_call(self, t, depth):
        r = self.r
        form = r.below(12)
        if form > 10:
            f = r.pick(directed.NAMES)
            return call(f, t, *[self.real(t, depth) for _ in range(directed.COUNTS[f])])
        if form > 9 and t in ("f32", "f64"):
            source = self.real(r.pick([s for s in REALS if s != t]), depth)
            return call(r.pick([f for f in directed.CONVERSIONS if f.startswith(t)]), t, source)
        if form < 5:
            return call(r.pick(EXACT_1), t, self.real(t, depth))
        if form < 8:
            f = r.pick(EXACT_2[1:] if self.off("zeros") else EXACT_2)
            return call(f, t, self.real(t, depth), self.real(t, depth))
        if form == 8 and not self.off("run-functions"):
            return call("ldexp", t, self.real(t, depth), binary("%", self.real("i32", 0), lit(40)))
        return call("fma", t, self.real(t, depth), self.real(t, depth), self.real(t, depth))

    def simple_test(self):
        return self.leaf("bool")

    def joined(self, depth):
        return binary(self.r.pick("&|"), self.bool(depth), self.bool(depth))

    def bool(self, depth):
        r = self.r
        self.room -= 1
        if depth <= 0 or self.room < 0:
            return self.leaf("bool")
        return r.weighted([(6, self.comparison), (2, self.chain), (3, self.bools), (1, self.classified),
                           (1, lambda d: unary("~", self.bool(d))), (1, lambda d: self.leaf("bool"))])(depth - 1)

    def comparison(self, depth):
        t = self.r.pick([t for t in self.palette if t in REALS])
        return compare(self.r.pick(["<", "<=", ">", ">=", "==", "!="]), *self.pair(t, depth))

    def chain(self, depth):
        t = self.r.pick([t for t in self.palette if t in REALS])
        ops = [self.r.pick(["<", "<=", "==", "!="]) for _ in range(2)]
        return chained(ops, self.operand(t, 0), self.real(t, depth), self.operand(t, 0))

    def classified(self, depth):
        t = self.r.pick([t for t in self.palette if t in FLOATS] or ["f32"])
        return call(self.r.pick(["isnan", "isinf", "isfinite"]), "bool", self.real(t, depth))

    def complex(self, t, depth):
        r = self.r
        self.room -= 2
        if depth <= 0 or self.room < 0:
            return self.leaf(t)
        p = PART[t]
        return r.weighted([(5, lambda d: binary(r.pick("+-*"), self.complex(t, d), self.complex(t, d))),
                           (3, lambda d: binary(r.pick("+-*"), self.real(p, d), self.complex(t, d))),
                           (1, lambda d: unary("-", self.complex(t, d))),
                           (1, lambda d: call("conj", t, self.complex(t, d))),
                           (1, lambda d: self.leaf(t))])(depth - 1)


def make_run(r, program, options):
    """Some statements over arrays of their own."""
    g = RunGen(r, program, options)
    g.arrays()
    for _ in range(r.between(2, 6)):
        s = g.statement()
        if r.chance(20):
            s = g.wrapped(s)
        if s is not None:
            program.run.append(s)
    called = {f for s in program.run if not isinstance(s, HostArray) for f in s.functions()}
    for f in reversed(program.functions):       # a function calls earlier ones
        if f in called:
            called |= {n.data for n in walk(f.body) if n.op == "apply"}
    program.functions[:] = [f for f in program.functions if f in called]


def of_fields(r, array, options, number):
    """Statements about fields of an array of records, which stays in host memory."""
    array.directed = True
    if r.chance(30):
        subscripts = [random_slice(r, n, False) for n in array.shape]
        return [StoreRecord(array, subscripts, values.value(r, array.elem, 40), r.chance(50))] if 0 not in array.shape \
            else []
    found = [(path, t) for path, t, extents, _ in leaves(array.elem) if not extents]
    fields = [Var(".".join((array.name,) + path), t) for path, t in found]
    if not any(t in REALS for _, t in found):
        return []
    statements = []
    for k in range(r.between(1, 2)):
        g = ArrayExpressions(r, fields, options)
        path, t = r.pick(found)
        computed = r.chance(40)
        op = r.pick("+-*") if t in REALS and r.chance(40) and not computed else ""
        e = g.value(t, r.between(1, 2))
        if not any(n.op == "name" for n in walk(e)) or e.op == "name":
            continue
        statements.append(OfFields(array, () if computed else path, op, e, f"field{number}_{k}" if computed else None))
    return statements


class RunGen(RunCalls):
    def __init__(self, r, program, options):
        self.r, self.program, self.options = r, program, options
        self.hosts, self.known, self.count = [], [], 0
        self.make_functions()

    def new_name(self):
        self.count += 1
        return f"e{self.count}"

    def arrays(self):
        """Arrays whose shapes go together."""
        r = self.r
        dims = r.weighted([(3, 1), (4, 2), (1, 3)])
        shape = [r.between(1, 40)] if dims == 1 else [r.between(1, 7) for _ in range(dims)]
        self.shape = tuple(shape)
        types = [r.pick(["i32", "f32", "i8", "f64"])] + [r.pick(REALS) for _ in range(r.between(1, 2))]
        types.append(r.pick(["bool", "c64", "c128", "f32", "i32"]))
        for k, t in enumerate(types):
            own = self.shape
            if k:
                own = tuple(1 if r.chance(15) else n for n in shape[r.below(dims) if r.chance(25) else 0:])
            items = [values.value(r, t, 40) for _ in range(math.prod(own))]
            array = HostArray(f"h{k}", t, own, items, Layout.random(r, own, True, False), r.chance(50) or k == 0)
            array.directed = True
            self.program.run.append(array)
            self.hosts.append(array)
            self.known.append(Var(array.name, t))
        if r.chance(30):
            self.filled()

    def filled(self):
        """Arrays that functions fill."""
        import libm
        r = self.r
        n, seed, array_name = r.between(1, 30), r.between(0, 1 << 40), self.new_name()
        form = r.below(4)
        if form == 0:
            t = r.pick(["f32", "f64"])
            s = Fill(array_name, f"random.uniform({n}, {t}, seed={seed})", t, (n,),
                     lambda: [libm.uniform(seed, k, t) for k in range(n)])
        elif form == 1:
            t = r.pick([t for t in INTS if t != "u64"])
            low, high = sorted([values.scalar(r, t, 60), values.scalar(r, t, 60)])
            high += low == high
            s = Fill(array_name, f"random.randint({low}, {high}, {n}, {t}, seed={seed})", t, (n,),
                     lambda: [libm.randint(low, high, seed, k, t) for k in range(n)])
        elif form == 2:
            t = r.pick(INTS + ("f32", "f64"))
            start, step = r.between(0, 20), r.between(1, 3)
            items = [float(x) if t in FLOATS else x for x in range(start, start + n * step, step)]
            s = Fill(array_name, f"arange({start}, {start + n * step}, {step}, {t})", t, (n,), lambda: items)
        else:
            t = r.pick(REALS)
            s = Fill(array_name, f"ones({n}, {t})", t, (n,), lambda: [1.0 if t in FLOATS else 1] * n)
        self.program.run.append(s)

    def full(self, t):
        return self.over(self.known).value(t, self.r.between(1, 4))

    def over(self, arrays):
        g = ArrayExpressions(self.r, arrays, self.options)
        g.functions = self.program.functions
        g.scope[0] += [m for m in self.program.members() if m.type == "#i"]
        return g

    def statement(self):
        return self.r.weighted([(6, self.compute), (5, self.store), (4, self.reduce), (2, self.cumsum),
                                (2, self.matmul), (0 if "run-functions" in self.options.without else 2, self.several),
                                (3, self.reshape), (3, self.join), (4, self.std), (3, self.text), (1, self.number_text),
                                (1, self.number_call)])()

    def compute(self):
        t = self.r.pick(REALS + ("bool",)) if self.r.chance(40) else self.r.pick(self.known).type
        e = self.full(t)
        return Compute(self.new_name(), e) if e.op != "name" else None      # which would be the array itself

    def several(self):
        own = several_of(self.r, self.program.functions)
        if own and self.r.chance(60):
            g = self.over(self.known)
            g.room = self.options.room
            e = g.call_of(own, None, 2)
            return Several([self.new_name() for _ in own.results.parts], e)
        t = self.r.pick(FLOATS)
        f = self.r.pick(["modf", "frexp"])
        e = call(f, Tup((t, t) if f == "modf" else (t, "i32")), self.full(t))
        return Several([self.new_name(), self.new_name()], e)

    def store(self):
        r = self.r
        array = self.hosts[0] if r.chance(60) else r.pick(self.hosts)
        subscripts = [random_slice(r, n, k == len(array.shape) - 1) for k, n in enumerate(array.shape)]
        subscripts = subscripts[:r.between(1, len(subscripts))]
        target = sliced(array.make(array.layout, None, list), subscripts)
        fitting = [v for v, h in zip(self.known, self.hosts) if broadcast([h.shape, target.shape]) == target.shape]
        if not fitting or not any(v.type in REALS for v in fitting):
            return None
        g = self.over(fitting)
        t = array.elem
        op = ""
        if t in REALS and r.chance(40):
            op = r.pick(["+", "-", "*"] + (["//", "%", "&", "|"] if t in INTS else []))
        e = g.value(t, r.between(1, 3))
        if t in REALS and not op and r.chance(20):
            narrow = [s for s in REALS if s != t and scalars.converts(s, t)]
            e = g.value(r.pick(narrow or [t]), 2)
        return Store(array, subscripts, op, e)

    def small(self, t):
        """Elements whose sums are exact: small whole numbers."""
        r = self.r
        ints = [v for v in self.known if v.type in INTS]
        v = r.pick(ints) if ints else None
        e = binary("%", name(v), lit(r.between(2, 9))) if v else call("where", "i32", self.full("bool"), lit(1), lit(3))
        return e if t in INTS and e.type == t else conv(t, conv("i8", e)) if t in FLOATS else e

    def axes(self, dims, single):
        r = self.r
        if r.chance(35):
            return None
        k = r.below(dims)
        if not single and dims > 1 and r.chance(25):
            other = (k + 1) % dims
            return [k, other]
        return [k - dims if r.chance(25) else k]

    def reduce(self):
        r = self.r
        what = r.pick(["sum", "sum", "mean", "min", "max", "argmin", "argmax", "any", "all"])
        array_name = self.new_name()
        if what in ("any", "all"):
            e = self.full("bool")
        elif what in ("sum", "mean"):
            t = r.pick([v.type for v in self.known])
            any_value = t in INTS and what == "sum" and t not in ("u64", "i64")
            e = self.full(t) if any_value else self.small(r.pick(FLOATS + INTS))
        else:
            t = r.pick(INTS)
            e = self.full(t)
        shape = self.shape_of(e)
        axes = self.axes(len(shape), what.startswith("arg"))
        if e.type == "u64" and (axes is None or len(axes) == len(shape)):      # a number of the run block is an i64
            return None
        return Reduce(array_name, what, e, axes, axes is not None and r.chance(25), r.chance(40),
                      len(shape))

    def shape_of(self, e):
        by_name = {h.name: h.shape for h in self.hosts}
        return broadcast([by_name[n.data.name] for n in walk(e)
                          if n.op == "name" and n.data.get("value") is None])

    def cumsum(self):
        r = self.r
        t = r.pick(REALS + ("bool",))
        e = self.full(t) if t in INTS + ("bool",) else self.small(t)
        shape = self.shape_of(e)
        return Cumsum(self.new_name(), e, None if r.chance(40) else r.below(len(shape)))

    def matmul(self):
        r = self.r
        n = r.between(1, 9)
        ta = r.pick(INTS + FLOATS)
        tb = ta if r.chance(70) else r.pick([t for t in REALS if scalars.common(ta, t)])
        if self.options.without & {"int-f16"} and "f16" in (ta, tb):
            ta = tb = "f16"
        forms = r.pick([((n,), (n,)), ((r.between(1, 6), n), (n,)), ((n,), (n, r.between(1, 6))),
                        ((r.between(1, 6), n), (n, r.between(1, 6))), ((2, r.between(1, 3), n), (n, 3)),
                        ((2, 3, n), (2, n, 2)), ((2, 3, n), (1, n, 2))])
        arrays, turns = [], []
        self.count += 1
        for t, shape in zip((ta, tb), forms):
            turned_ = len(shape) == 2 and r.chance(30)
            real = shape[::-1] if turned_ else shape
            low = 0 if t in scalars.UNSIGNED else -4
            items = [scalars.convert(r.between(low, 5), "i32", t) for _ in range(math.prod(real))]
            if t in INTS and ta == tb:
                items = [values.scalar(r, t, 40) for _ in items]
            layout = Layout.random(r, real, True, False)
            array = HostArray(f"m{self.count}_{len(arrays)}", t, real, items, layout, False)
            array.directed = True
            self.program.run.append(array)
            arrays.append(array)
            turns.append(turned_)
        if len(forms[0]) == len(forms[1]) == 1:
            return None     # a number
        return Matmul(self.new_name(), arrays[0], arrays[1], turns)

    def reshape(self):
        r = self.r
        array = r.pick(self.hosts)
        subscripts = [random_slice(r, n, k == 0) for k, n in enumerate(array.shape)] if r.chance(60) else []
        total = len(sliced(array.make(array.layout, None, list), subscripts).places())
        if total and r.chance(55):
            form, n = r.pick(["T", "T", "ravel", "by columns", "order", "split"]), r.between(1, 5)
            d = r.pick([d for d in range(1, total + 1) if total % d == 0])
            extents = (n, r.below(-(-total // n))) if form == "split" else \
                r.pick([(d, total // d), (d, -1), (-1, d)]) if form == "order" else ()
            return Turned(self.new_name(), array, subscripts, form, extents)
        shape = None
        if total and r.chance(60):
            divisors = [d for d in range(1, total + 1) if total % d == 0]
            d = r.pick(divisors)
            shape = r.pick([(d, -1), (-1, d), (-1,), (total // d, d)])
        return Reshape(self.new_name(), array, shape, subscripts, r.chance(50))
