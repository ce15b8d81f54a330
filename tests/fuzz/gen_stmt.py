"""The generator's statements of one thread: no barriers here (gen_kernel.py has those)."""
import scalars
import values
from build import (add, apply, assign, assign_many, atomic, binary, bits, call, compare, cond, conv, do, elem, for_,
                   group,
                   if_, index, let, let_many, lit, logic, mod, name, part, return_, special, sub, turned,
                   typed, unary, update, while_)
from gen_expr import Expressions, UNIFORM
from gen_local import Locals
from gen_tuples import Tuples
from gen_views import Views
from scalars import COMPLEX, FLOATS, INTS, PART, REALS, SIGNED
from tree import Arr, Expr, Fixed, Rec, Stmt, Tup, Var, Vec

INTEGER_UPDATES = ["+", "-", "*", "//", "%", "&", "|", "^", "<<", ">>", "**"]
OPEN = ("i32", "u32", "i64", "u64", "f32", "f64")      # types that a variable takes of what it is given
FLOAT_UPDATES = ["+", "-", "*", "/", "+", "-", "*", "/", "+", "-", "*", "**"]


class Statements(Locals, Tuples, Views, Expressions):
    def __init__(self, r, palette, options):
        super().__init__(r, palette, options)
        self.flow = None            # what comes here together: None (a thread by itself), 'block' or 'grid'
        self.loops = 0              # how many loops are around
        self.loop = None            # the flow of the innermost one
        self.locals_made = 0
        self.prints = False         # may lines be written?
        self.trips = 1              # the turns of the loops around, multiplied
        self.result = False         # of a function: its result's type; False: a kernel; None: no result
        self.may_return = True
        self.names = 0
        self.depth = 0

    # ---- Names ----

    def new(self, t, prefix=None, **facts):
        """A variable that does not hide another, or, sometimes, one that does: in an inner block."""
        prefix = prefix or ("v" if facts.get("mutable") else "a")
        if self.depth and len(self.scope) > 1 and not isinstance(t, Arr) and self.r.chance(4):
            outer = [v for v in self.visible() if v not in self.scope[-1] and not isinstance(v.type, Arr)
                     and v not in self.scope[0] and not v.get("kept")]
            here = {v.name for v in self.scope[-1]}
            outer = [v for v in outer if v.name not in here]
            if outer:
                return Var(self.r.pick(outer).name, t, **facts)
        self.names += 1
        return Var(f"{prefix}{self.names}", t, **facts)

    def of(self):
        """A type of the palette, now and then any."""
        r = self.r
        return r.pick(self.palette) if r.chance(88) else r.pick(REALS + ("bool",))

    def full(self, t, depth=None):
        self.room = self.options.room
        return self.value(t, self.r.between(1, 3) if depth is None else depth)

    def uniformly(self, flow, make):
        """What all threads of a block (or grid) agree on."""
        old, self.need = self.need, flow
        result = make()
        self.need = old
        return result

    # ---- Blocks ----

    def block(self, count, flow=None, last=None):
        """The statements of an inner block; `last` makes further ones, which see what the others have declared."""
        old, self.flow = self.flow, flow
        self.scope.append([])
        self.depth += 1
        statements = self.statements(count)
        if last:
            statements += last()
        self.depth -= 1
        self.scope.pop()
        self.flow = old
        return statements

    def statements(self, count):
        result = []
        for _ in range(count):
            s = self.statement()
            if s is not None:
                result.append(s)
        return result

    def statement(self):
        r = self.r
        deep = self.depth >= 3
        tallies = any(v.get("role") == "atomic" for v in self.visible()) and not self.need
        forms = [(9, self.declare_one), (8, self.change), (3, self.several), (1, self.tuple_variable),
                 (2, self.change_part),
                 (6, self.store), (7 if tallies else 0, self.atomic_step), (1, self.assertion), (2, self.view_of),
                 (1, self.call_for_effect), (2, self.whole_view), (2, self.chosen_array),
                 (1, r.pick([self.seen_array, self.seen_floats])),
                 (2 if self.result is False and self.flow is None and not self.need else 0, self.counted_by_few)]
        if not deep:
            forms += [(2 if self.members() else 0, self.enum_switch), (2, self.over_tuple),
                      (6, self.branch), (5, self.count), (2, self.repeat), (3, self.local_array), (2, self.each_of),
                      (1, self.guarded_view)]
        if self.loops and self.loop is None:
            forms.append((3, self.leave))
        if self.may_return and self.depth:
            forms.append((1, self.early_return))
        return r.weighted(forms)()

    # ---- Variables ----

    def declare_one(self):
        r = self.r
        t = self.of()
        mutable = r.chance(55)
        uniform = self.flow if self.flow and r.chance(30) else None
        wide = None
        if isinstance(t, str) and t in REALS and r.chance(18):      # a type that the value converts to by itself
            t = t if r.chance(50) else r.pick(REALS)
            wide = r.pick([u for u in REALS if scalars.converts(t, u)])
        e = self.uniformly(uniform, lambda: self.full(t))
        if isinstance(t, str) and t in REALS and r.chance(8):
            e, wide = lit(values.literal(r, t)), t
        var = self.new(wide or t, mutable=mutable, uniform=uniform)
        if mutable and e.op == "lit" and t in OPEN and r.chance(60):
            return self.open_variable(var, e)
        declared = wide or (t if r.chance(20) else None)
        s = let(var, e, declared, "var" if mutable else "let")
        self.declare(var)
        return s

    def open_variable(self, var, e):
        """A variable without a declared type that begins as a literal; somewhere it is given a value of its type."""
        r = self.r
        self.declare(var)
        given = assign(name(var), conv(var.type, name(var)))
        if r.chance(40):
            flow = var.get("uniform")
            given = if_(self.uniformly(flow, lambda: self.full("bool")), [given])
        return group(let(var, e, None, "var"), given)

    def assignable(self, t=None):
        """Variables that may change here: of a whole block's only where the whole block is."""
        return [v for v in self.visible() if v.get("mutable") and (t is None or v.type is t)
                and UNIFORM[v.get("uniform")] <= UNIFORM[self.flow]]

    def change(self):
        r = self.r
        names = self.assignable()
        if not names:
            return self.declare_one()
        v = r.pick(names)
        return self.uniformly(v.get("uniform"), lambda: self.changed(name(v), v.type))

    def changed(self, target, t):
        """An assignment to something of type t, or an update of it."""
        r = self.r
        if isinstance(t, str) and t in REALS and r.chance(60):
            return self.updated(target, t)
        if isinstance(t, Vec) and r.chance(50):
            self.room = self.options.room
            return update(r.pick("+-*"), target, self.vector(t, 2) if r.chance(60) else self.real(t.part, 1))
        if t in COMPLEX and r.chance(50):
            self.room = self.options.room
            return update(r.pick("+-*"), target, self.complex(t, 2) if r.chance(60) else self.real(PART[t], 1))
        if t == "bool" and r.chance(30):
            self.room = self.options.room
            return update(r.pick("&|^"), target, self.bool(2))
        return assign(target, self.full(t))

    def updated(self, target, t):
        r = self.r
        self.room = self.options.room
        ops = INTEGER_UPDATES if t in INTS else FLOAT_UPDATES
        if t in FLOATS and not self.off("float-division"):
            ops = ops + ["//", "%"]
        op = r.pick(ops)
        if op == "**":
            return update(op, target, lit(r.pick([0, 1, 2, 3])))
        if op in ("<<", ">>"):
            by = lit(r.between(0, scalars.BITS[t] + 1)) if r.chance(50) else self.real(r.pick(INTS), 1)
            return update(op, target, by)
        if t in FLOATS and op in "+-" and r.chance(30):
            return update(op, target, binary("*", *self.pair(t, 1)))
        e = self.operand(t, r.between(0, 2))
        return update(op, target, e)

    def counted_by_few(self):
        """One thread of a row counts, or all but that one: of the others' lanes it is known that they don't."""
        r = self.r
        names = [v for v in self.assignable() if v.type in INTS and not v.get("uniform")]
        if not names:
            return self.declare_one()
        number = lit(r.pick([0, 0, 1, 7, 15, 16, 31, 32, 63]))
        test = compare(r.pick(["==", "==", "!="]), special("threadIdx.x"), number)
        return if_(test, [update(r.pick("+-"), name(r.pick(names)), lit(r.pick([1, 1, 2])))])

    def several(self):
        """Several names at once: exchanged, or what gives several results."""
        r = self.r
        self.room = self.options.room
        form = r.below(4)
        if form == 0:
            names = self.assignable()
            pairs = [(a, b) for a in names for b in names if a is not b and a.type is b.type
                     and a.get("uniform") == b.get("uniform")]
            if pairs:
                a, b = r.pick(pairs)
                return self.uniformly(a.get("uniform"), lambda: assign_many(
                    [name(a), name(b)], [name(b), name(a) if r.chance(50) else self.full(a.type)]))
        functions = [f for f in self.functions if isinstance(f.results, Tup) and not f.facts.get("effects")
                     and self.can_pass(f, "i32")] if not self.need else []
        if form == 1 and functions:
            f = r.pick(functions)
            return self.bind_results(f.results.parts, self.call_of(f, None, 2))
        if form == 2:
            t = r.pick(FLOATS)
            f = r.pick(["modf", "frexp", "divmod", "ilogb"])
            if f == "divmod":
                t = t if r.chance(30) and not self.off("float-division") else r.pick(INTS)
                return self.bind_results((t, t), call(f, Tup((t, t)), *self.pair(t, 2)))
            if f == "ilogb":
                return self.bind_one("i32", call(f, "i32", self.real(t, 2)))
            parts = (t, t) if f == "modf" else (t, "i32")
            return self.bind_results(parts, call(f, Tup(parts), self.real(t, 2)))
        types = [self.of() for _ in range(r.between(2, 3))]
        e = Expr("tuple", Tup(types), [self.full(t, 2) for t in types])
        return self.bind_results(types, e)

    def bind_results(self, types, e):
        mutable = self.r.chance(50)
        names = []
        for t in types:
            v = self.new(t, mutable=mutable)
            while v.name in {w.name for w in names}:
                v = self.new(t, mutable=mutable)
            names.append(v)
        s = let_many(names, e, "var" if mutable else "let")
        for v in names:
            self.declare(v)
        return s

    def tuple_variable(self):
        r = self.r
        types = [r.pick(REALS + ("bool",)) for _ in range(r.between(2, 3))]
        if r.chance(40):
            types = [types[0]] * len(types)
        var = self.new(Tup(types), "t")
        s = let(var, Expr("tuple", Tup(types), [self.full(t, 1) for t in types]))
        self.declare(var)
        if types[0] != types[-1] or self.need or r.chance(50):
            return s
        item = self.new(types[0])
        if types[0] == types[1]:
            s = group(s, let(item, Expr("elem", types[0], [name(var), self.remainder(len(types))])))
            self.declare(item)
        return s

    def change_part(self):
        """A part of a vector, complex number or record."""
        r = self.r
        names = [v for v in self.assignable() if isinstance(v.type, (Vec, Rec)) or v.type in COMPLEX]
        if not names:
            return self.declare_one()
        v = r.pick(names)
        target = self.some_part(name(v))
        if isinstance(target.type, Fixed):
            return self.change()
        return self.uniformly(v.get("uniform"), lambda: self.changed(target, target.type))

    def some_part(self, e):
        r = self.r
        while True:
            t = e.type
            if isinstance(t, Vec):
                e = part(e, r.pick("xyzw"[:t.count])) if r.chance(70) or self.need else elem(e, self.remainder(t.count))
            elif isinstance(t, Rec):
                e = part(e, r.pick(t.fields)[0])
            elif isinstance(t, Fixed):
                if len(t.extents) > 1:
                    return e
                e = elem(e, lit(r.below(t.extents[0])) if r.chance(40) or self.need else self.remainder(t.extents[0]))
            elif t in COMPLEX and r.chance(60):
                e = part(e, r.pick(["real", "imag"]))
            if isinstance(e.type, str) or isinstance(e.type, Vec) and r.chance(30) or isinstance(e.type,
                                                                                                 Rec) and r.chance(30):
                return e

    # ---- Memory ----

    def writable(self):
        return [v for v in self.visible() if isinstance(v.type, Arr)
                and (v.get("role") == "own" and v.get("write") or v.get("role") == "in" and v.get("write_any"))]

    def store(self):
        """To an element that is this thread's own."""
        r = self.r
        arrays = self.writable()
        if not arrays or self.need:
            return self.change()
        v = r.pick(arrays)
        target = index(name(v), *(v.get("own")(self) if v.get("own")
                                  else [self.place(v, k) for k in range(v.type.dims)]))
        if v.type.dims > 1 and r.chance(8):
            target = index(turned(name(v)), *target.args[:0:-1])
        if isinstance(v.type.elem, (Vec, Rec)) or v.type.elem in COMPLEX:
            if r.chance(50):
                target = self.some_part(target)
        if isinstance(target.type, Fixed):
            return self.change()
        if target.op == "index" and v.get("global") and r.chance(6):
            self.room = self.options.room
            t = target.type
            return do(Expr("hint", None, target.args + [self.value(t, 2)], r.pick(["stcg", "stcs", "stwb", "stwt"])))
        self.room = self.options.room
        return self.changed(target, target.type)

    def atomic_step(self):
        """Counts, sums of integers, ends, bits: what comes out in any order."""
        r = self.r
        arrays = [v for v in self.visible() if isinstance(v.type, Arr) and v.get("role") == "atomic"]
        if not arrays or self.need:
            return self.store()
        v = r.pick(arrays)
        self.room = self.options.room
        return do(self.atomic_call(v))

    def atomic_call(self, v):
        r = self.r
        array, kind = name(v), v.get("kind")
        at = [self.place(v, k) for k in range(v.type.dims)]
        if v.get("field"):
            array = part(array, v.get("field"))
        t = array.type.elem
        if kind in ("inc", "dec"):
            return atomic(kind, array, *at, typed(v.get("limit"), t))
        if t in INTS and kind not in ("min", "max") and r.chance(15):
            t = ("u" if t[0] == "i" else "i") + t[1:]
            array = bits(array, t)
        if v.get("counted_as"):
            t = v.get("counted_as")
            array = bits(array, t)
        ops = {"sum": ["add", "sub"], "min": ["min", "nanmin"], "max": ["max", "nanmax"], "and": ["and_"],
               "or": ["or_"],
               "xor": ["xor"]}[kind]
        if kind == "sum" and t in FLOATS:       # small integers: their sums are exact
            value = conv(t, mod(self.real("i32", 1), lit(5)))
            if t in ("f16", "bf16"):            # which have few digits: of one thread, once
                value = self.of_one_thread(t, value)
        else:
            value = self.operand(t, 2)
        return atomic(r.pick(ops), array, *at, value)

    def of_one_thread(self, t, value):
        """Zero for all threads but one, or for all."""
        flat = all(self.bounds.get(f"{what}.{axis}") == (0, 0) for what in ("threadIdx", "blockIdx") for axis in "yz")
        if not flat or self.trips > 1:
            return typed(0.0, t)
        return cond(value, compare("==", special("grid(1)"), lit(self.r.below(8))), typed(0.0, t))

    def call_for_effect(self):
        """A function that writes to an array: a local one, or the view of one's own row."""
        r = self.r
        pairs = [(f, v) for f in self.functions if f.facts.get("effects") for v in self.visible()
                 if isinstance(v.type, Arr) and v.type == f.params[0].type and v.get("write_any")
                 and v.get("role") == "in"]
        if not pairs or self.need:
            return self.change()
        f, v = r.pick(pairs)
        self.room = self.options.room
        call_ = apply(f, name(v), *[self.value(p.type, 1) for p in f.params[1:]])
        return do(call_) if f.results is None else self.bind_one(f.results, call_)

    def bind_one(self, t, e):
        var = self.new(t)
        s = let(var, e)
        self.declare(var)
        return s

    def printed(self):
        """A line of integers and bools."""
        r = self.r
        self.room = 8
        types = [r.pick(INTS + ("bool",)) for _ in range(r.between(1, 3))]
        return do(Expr("call", None, [Expr("text", None, (), "line")] + [self.value(t, 1) for t in types], "print"))

    def assertion(self):
        """Something that always holds."""
        r = self.r
        if self.prints and not self.need and r.chance(50):
            return self.printed()
        self.room = self.options.room
        n = r.between(2, 40)
        t = r.pick(["i32", "i64", "u32", "u8"])
        e = mod(self.real(t, 2), lit(n))
        test = compare("<", e, lit(n)) if r.chance(60) else logic("or", self.bool(1), compare(">=", e, lit(0)))
        args = [test] + ([Expr("text", None, (), "always")] if r.chance(30) else [])
        return do(Expr("call", None, args, "assert"))

    # ---- Control flow ----

    def branch(self):
        r = self.r
        uniform = self.flow if self.flow and r.chance(30) else None
        tests, blocks = [], []
        for _ in range(r.weighted([(6, 1), (2, 2), (1, 3)])):
            tests.append(self.uniformly(uniform, lambda: self.full("bool", 2)))
            blocks.append(self.block(r.between(1, 3), uniform))
        if r.chance(45):
            blocks.append(self.block(r.between(0, 2), uniform))
        return Stmt("if", tests, blocks)

    def looped(self, body, turns, flow=None):
        """Makes a loop's body."""
        outer = self.loop, self.trips, self.loops
        self.loop, self.trips, self.loops = flow, self.trips * max(turns, 1), self.loops + 1
        result = body()
        self.loop, self.trips, self.loops = outer
        return result

    def count(self):
        r = self.r
        if self.trips > 40:
            return self.change()
        uniform = self.flow if self.flow and r.chance(30) else None
        self.room = self.options.room
        t, bounds, reach, turns = self.uniformly(uniform, self.range_of)
        self.scope.append([])
        var = self.declare(self.new(t, "j", range=reach, uniform=uniform))
        body = self.looped(lambda: self.block(r.between(1, 3), uniform), turns, uniform)
        self.scope.pop()
        return for_(var, bounds, body, r.chance(12))

    def range_of(self, form=None):
        """A range's type, bounds, the values that its variable may have, and about how many turns it has."""
        r = self.r
        form = r.below(12) if form is None else form
        if form == 10:      # down to 0, from where each thread begins
            t, n = r.pick(SIGNED), r.between(2, 9)
            return t, [mod(self.real(t, 1), lit(n)), lit(0), unary("-", lit(r.between(1, 2)))], (1, n - 1), n
        if form == 11 and self.need is None and self.bounds:    # no turn where the end is over the type's
            t, n = r.pick(INTS), r.between(1, 6)
            start = self.counted(t, 1)
            by = lit(n) if r.chance(50) else mod(self.real(t, 1), lit(n))
            if t in SIGNED and r.chance(50):
                return t, [start, sub(start, by), unary("-", lit(r.between(1, 2)))], None, n
            return t, [start, add(start, by), lit(r.pick([1, 1, 2, 3]))], None, n
        if form < 3:
            n = r.between(0, 6)
            return "i32", [lit(n)], (0, max(n - 1, 0)), n
        if form < 5:
            a, b, s = r.between(-6, 6), r.between(-6, 6), r.pick([1, 2, 3, -1, -2, -5, 1])
            bounds = [self.negative(a), self.negative(b)] + ([self.negative(s)] if s != 1 or r.chance(30) else [])
            return "i32", bounds, (min(a, b), max(a, b)), abs(b - a) // abs(s) + 1
        t = r.pick([s for s in self.palette if s in INTS] or ["i32"]) if r.chance(70) else r.pick(INTS)
        if form < 7:
            n = r.between(1, 7)
            return t, [mod(self.real(t, 1), lit(n))], (0, n - 1), n
        if form < 8:
            t = r.pick(SIGNED)
            bounds = [mod(self.real(t, 1), lit(r.between(2, 9))), mod(self.real(t, 1), lit(r.between(2, 9))),
                      sub(mod(self.real(t, 1), lit(5)), lit(2))]
            return t, bounds, (0, 8), 8
        if self.off("range-ends") and t in ("u32", "i64", "u64"):
            t = "i32"
        top = scalars.greatest(t)
        near = r.between(1, 12)
        if form < 9:        # up to the type's end
            step = r.pick([1, 2, 3, 5, 7])
            start = typed(top - near, t) if r.chance(40) else call("max", t, self.real(t, 1), typed(top - near, t))
            return t, [start, typed(top, t), lit(step)], None, near
        if t in SIGNED:
            start = call("min", t, self.real(t, 1), self.least_and(t, near))
            return t, [start, self.least_and(t, 0), typed(-r.pick([1, 2, 3]), t)], None, near
        return t, [typed(near, t)], (0, near - 1), near

    @staticmethod
    def negative(n):
        return lit(n) if n >= 0 else unary("-", lit(-n))

    @staticmethod
    def least_and(t, n):
        """The least value of a type and n more, without a literal that is too large."""
        e = sub(unary("-", typed(scalars.greatest(t), t)), lit(1))
        return add(e, lit(n)) if n else e

    def repeat(self):
        """A while loop that ends: it counts, or halves a number."""
        r = self.r
        if self.trips > 15:
            return self.change()
        self.room = self.options.room
        if r.chance(35):
            t = r.pick(INTS)
            v = self.new(t, "n", kept=True)
            step = update("//", name(v), lit(r.pick([2, 3, 10]))) if r.chance(50) else update(">>", name(v),
                                                                                              lit(r.between(1, 3)))
            start = let(v, self.real(t, 2) if r.chance(70) else typed(values.literal(r, t), t), None, "var")
            self.declare(v)
            body = self.looped(lambda: self.block(r.between(0, 1)), 6)
            return group(start, while_(compare(">", name(v), lit(r.between(1, 9))), [step] + body))
        turns = r.between(1, 6)
        v = self.new("i32", "n", kept=True, range=None)
        start = let(v, lit(turns) if r.chance(40) else mod(self.real("i32", 1), lit(turns + 1)), "i32", "var")
        self.declare(v)
        step = update("-", name(v), lit(1))
        if r.chance(30):
            leave = if_(compare("<=", name(v), lit(0)), [Stmt("break")])
            body = self.looped(lambda: self.block(r.between(1, 2)), turns)
            return group(start, while_(lit(True), [leave, step] + body))
        test = compare(">", name(v), lit(0))
        if r.chance(40):
            test = logic("and", test, self.full("bool", 1))
        body = self.looped(lambda: self.block(r.between(1, 3)), turns)
        return group(start, while_(test, [step] + body))

    def leave(self):
        r = self.r
        return if_(self.full("bool", 1), [Stmt(r.pick(["break", "continue", "break"]))])

    def early_return(self):
        if self.result is False or self.result is None:
            return if_(self.full("bool", 2), [return_()])
        return if_(self.full("bool", 2), [self.returned()])

    def returned(self):
        r = self.r
        if isinstance(self.result, Tup):
            return return_(*[self.full(t, 2) for t in self.result.parts])
        if isinstance(self.result, str) and self.result in REALS and r.chance(10):
            return return_(lit(values.literal(r, self.result)))
        return return_(self.full(self.result, 2))
