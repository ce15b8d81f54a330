"""The generator's functions: of values, of arrays, generic ones."""
import gen_kernel
import values
from build import (apply, assign, binary, call, compare, extent, for_, if_, index, let, lit, mod, name, return_, size,
                   update, view)
from gen_stmt import Statements
from scalars import FLOATS, REALS
from tree import Arr, Function, Tup, Var


class FunctionGen(Statements):
    """Functions that have no effects, or change an array that they are given."""

    def __init__(self, r, palette, options, program):
        super().__init__(r, palette, options)
        self.functions, self.records = program.functions + program.std_functions, program.records
        if r.chance(25):
            self.bounds = {b: None for b in ("threadIdx.x", "blockIdx.x", "blockDim.x", "gridDim.x", "grid(1)")}
        # Not what the host fills: kernels that are launched by kernels may call these functions.
        self.scope[0] += [c for c in program.constants if not c.get("filled")] + program.members()

    def make(self, number):
        r = self.r
        form = r.below(10)
        if form < 4:
            return self.of_values(number)
        if form < 5:
            return self.ticking(number)
        if form < 6:
            return self.of_an_array(number)
        if form < 7:
            return self.of_a_view(number)
        if form < 8:
            return self.with_effects(number) if r.chance(50) else self.ticking(number)
        return self.generic(number) if r.chance(60) else self.generic_of_array(number)

    def params(self, types):
        result = []
        for t in types:
            self.names += 1
            v = Var(f"p{self.names}", t, mutable=not isinstance(t, Tup) and self.r.chance(30))
            result.append(v)
            self.scope[0].append(v)
        return result

    def body(self, count):
        self.scope.append([])
        self.depth = 1
        statements = self.statements(count)
        statements.append(self.returned())
        return statements

    def of_values(self, number):
        r = self.r
        params = self.params([self.tuple_type() if r.chance(15) else self.of() for _ in range(r.between(1, 3))])
        defaults = r.chance(35) and self.defaults(params)
        self.result = self.of() if r.chance(75) else self.tuple_type() if r.chance(25) else \
            Tup([self.of() for _ in range(r.between(2, 3))])
        return Function(f"f{number}", params, self.result, self.body(r.between(0, 3)), defaults=defaults)

    def of_numbers(self, number):
        """What a run block calls, too: numbers only."""
        r = self.r
        types = [r.pick(self.palette) for _ in range(r.between(1, 4))]
        params = self.params(types)
        defaults = r.chance(35) and self.defaults(params)
        self.result = r.pick(types) if r.chance(75) else Tup([r.pick(types) for _ in range(r.between(2, 3))])
        return Function(f"f{number}", params, self.result, self.body(r.between(0, 3)), defaults=defaults)

    def defaults(self, params):
        """The last parameters that are numbers have a default: a literal, or a constant of the file."""
        r = self.r
        some = False
        for p in reversed(params):
            if not isinstance(p.type, str) or p.type not in REALS + ("bool",) or r.chance(20):
                break
            constants = [c for c in self.scope[0] if c.get("value") is not None and c.type == p.type]
            p.facts["default"] = name(r.pick(constants)) if constants and r.chance(50) else \
                lit(r.chance(50)) if p.type == "bool" else lit(values.literal(r, p.type))
            some = True
        return some

    def of_an_array(self, number):
        r = self.r
        t = r.pick([p for p in self.palette if isinstance(p, str) and p in REALS] or ["i32"])
        v = Var("v", Arr(t, r.pick([1, 1, 2])), role="in")
        self.scope[0].append(v)
        params = [v] + self.params([r.pick(["i32", "i64"])])
        self.result = t
        total, i = Var("total", t, mutable=True), Var("i", "i64", inside=[(v, 0)])
        start = let(total, self.full(t, 1), t, "var")
        self.scope += [[total], [i]]
        at = [name(i)] + ([self.modulo_extent(v, 1)] if v.type.dims == 2 else [])
        inner = update(r.pick("+-*" if t in FLOATS else "+-*^"), name(total), index(name(v), *at))
        body = [inner] + self.looped(lambda: self.block(r.between(0, 1)), 10)
        self.scope.pop()
        loop = for_(i, [call("min", "i64", extent(name(v), 0), lit(r.between(1, 8)))], body)
        return Function(f"f{number}", params, t, [start, loop, return_(name(total))])

    def of_a_view(self, number):
        """A row of its argument; used inside of another function that reads from it."""
        r = self.r
        t = r.pick([p for p in self.palette if isinstance(p, str) and p in REALS] or ["f32"])
        a, k = Var("a", Arr(t, 2), role="in"), Var("k", "i64")
        axis = r.below(2)
        forms, args = (("-", "i") if axis else ("i", "-")), (mod(name(k), extent(name(a), axis)),)
        row = Function(f"row{number}", [a, k], Arr(t, 1), [return_(view(name(a), forms, *args))], effects=True)
        self.program_extra = row
        b, n, w = Var("b", Arr(t, 2), role="in"), Var("n", r.pick(["i64", "i32"])), Var("w", Arr(t, 1), role="in")
        e = apply(row, name(b), name(n))
        e.type = Arr(t, 1)
        self.scope[0] += [n, w]
        self.result = t
        found = index(name(w), mod(self.real("i32", 1), size(name(w))))
        return Function(f"f{number}", [b, n], t, [let(w, e), return_(binary(r.pick("+-"), found, self.full(t, 1)))])

    def with_effects(self, number):
        r = self.r
        t = r.pick([p for p in self.palette if isinstance(p, str) and p in REALS] or ["i32"])
        v = Var("v", Arr(t, 1), role="in", write_any=True)
        self.scope[0].append(v)
        params = [v] + self.params([self.of()])
        self.result = t if r.chance(50) else None
        j = Var("j", "i64", inside=[(v, 0)])
        self.scope.append([j])
        body = [assign(index(name(v), name(j)), self.full(t, 2))]
        self.scope.pop()
        statements = [for_(j, [call("min", "i64", size(name(v)), lit(r.between(1, 40)))], body)]
        if self.result:
            statements.append(self.returned())
        return Function(f"f{number}", params, self.result, statements, effects=True)

    def ticking(self, number):
        """Changes an element of an array and gives a number: a call in an expression is seen by what is behind it."""
        r = self.r
        t = r.pick([p for p in self.palette if isinstance(p, str) and p in REALS] or ["i32"])
        v = Var("v", Arr(t, 1), role="in", write_any=True)
        self.scope[0].append(v)
        params = [v] + self.params([r.pick(["i32", "i64", "u8"])] + [self.of() for _ in range(r.below(2))])
        self.result = t if r.chance(80) else r.pick(REALS)

        def there():
            return index(name(v), self.modulo_extent(v, 0))
        old = Var("old", t)
        body = [let(old, there())]
        self.scope.append([old])
        if r.chance(35):
            body.append(if_(self.full("bool", 1), [self.returned()]))
        body.append(self.updated(there(), t) if r.chance(60) else assign(there(), self.full(t, 2)))
        body.append(return_(name(old)) if self.result == t and r.chance(40) else self.returned())
        return Function(f"f{number}", params, self.result, body, effects=True, ticks=True)

    def generic_of_array(self, number):
        r = self.r
        bound = r.pick(["int", "float", "number"])
        v, k = Var("v", Arr("T", r.pick([1, 1, 2])), role="in"), Var("k", r.pick(["i64", "i32"]))
        total, i = Var("total", "T", mutable=True), Var("i", "i64")
        body = gen_kernel.GenericBody(r, bound)

        def there(first=None):
            at = [first or mod(name(k), extent(name(v), 0))] + [mod(name(k), extent(name(v), 1))] * (v.type.dims - 1)
            return index(name(v), *at)
        body.leaves = [there]
        start = let(total, body.value(1), "T", "var")
        body.leaves += [lambda: there(name(i)), lambda: name(total)]
        inner = [update(r.pick("+-*"), name(total), body.value(1))]
        if r.chance(30):
            inner.insert(0, if_(compare("<", body.value(1), body.value(1)), [return_(body.value(1))]))
        loop = for_(i, [call("min", "i64", extent(name(v), 0), lit(r.between(1, 6)))], inner)
        body.leaves = [there, lambda: name(total)]
        return Function(f"f{number}", [v, k], "T", [start, loop, return_(body.value(1))], [("T", bound)])

    def generic(self, number):
        r = self.r
        bound = r.pick(["int", "float", "number"])
        params = [Var(f"p{k}", "T") for k in range(r.between(1, 3))]
        body = gen_kernel.GenericBody(r, bound)
        body.leaves = [lambda p=p: name(p) for p in params]
        statements = []
        if r.chance(40):
            statements.append(if_(compare("<", body.value(1), body.value(1)), [return_(body.value(1))]))
        statements.append(return_(body.value(2)))
        return Function(f"f{number}", params, "T", statements, [("T", bound)])
