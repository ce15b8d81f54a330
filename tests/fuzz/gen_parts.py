"""The generator's expressions that are no real numbers: bools, complex numbers, small vectors, records."""
import directed
import values
from build import apply, binary, call, chained, compare, cond, conv, lit, logic, mul, name, negate, typed, unary
from scalars import COMPLEX, FLOATS, INTS, PART, REALS
from tree import Expr, Tup, VECTORS, Vec

COMPLEX_CALLS = ("exp", "sqrt", "log", "sin", "cos", "sinh", "cosh", "tan", "tanh")


class Parts:
    """A part of Expressions (gen_expr.py)."""

    # ---- Bools ----

    def bool(self, depth):
        r = self.r
        self.room -= 1
        if depth <= 0 or self.room < 0:
            return self.simple_test()
        return r.weighted([(10, self.comparison), (3, self.chain), (4, self.joined),
                           (2, lambda d: negate(self.bool(d))),
                           (1, self.bools), (1, self.classified),
                           (1, lambda d: conv("bool", self.real(r.pick(REALS), d))),
                           (1, lambda d: cond(self.bool(d), self.bool(d), self.bool(d))), (1, self.vector_test),
                           (1, self.tuple_test), (2, self.enum_test), (1, self.std_test),
                           (2, lambda d: self.leaf("bool"))])(depth - 1)

    def std_test(self, depth):
        r = self.r
        functions = [f for f in self.functions if f.name == "before" and f.generics]
        if not functions or self.need:
            return self.comparison(depth)
        t = r.pick([t for t in self.palette if t in REALS] or ["f32"])
        return apply(functions[0], self.real(t, depth), self.real(t, depth))

    def simple_test(self):
        r = self.r
        if r.chance(30):
            return self.leaf("bool")
        t = r.pick(self.palette)
        t = t if t in REALS else "i32"
        return compare(r.pick(["<", ">", "==", "!="]), self.leaf(t), lit(values.literal(r, t)))

    def comparison(self, depth):
        r = self.r
        t = r.pick(self.palette) if r.chance(70) else r.pick(REALS)
        if t == "bool":
            return compare(r.pick(["==", "!="]), self.bool(depth), self.bool(depth))
        if t in COMPLEX:
            return compare(r.pick(["==", "!="]), self.complex(t, depth), self.complex(t, depth))
        if t not in REALS:
            t = "i32"
        op = r.pick(["<", "<=", ">", ">=", "==", "!="])
        if self.need is None and self.bounds and r.chance(12):
            t = t if t in INTS else r.pick(["i32", "i64"])
            other = typed(r.between(0, 100), t) if r.chance(50) else self.uniformly("grid", lambda: self.real(t, 1))
            return compare(op, self.counted(t, depth), other)
        return compare(op, *self.pair(t, depth))

    def chain(self, depth):
        r = self.r
        t = r.pick([t for t in self.palette if t in REALS] or ["i32"])
        ops = [r.pick(["<", "<=", ">", ">=", "==", "!="]) for _ in range(r.between(2, 3))]
        terms = [self.real(t, depth)] + [self.operand(t, depth) if k % 2 == 0 else self.real(t, depth)
                                         for k in range(len(ops))]
        return chained(ops, *terms)

    def joined(self, depth):
        return logic(self.r.pick(["and", "or"]), self.bool(depth), self.bool(depth))

    def bools(self, depth):
        return binary(self.r.pick("&|^"), self.bool(depth), self.bool(depth))

    def classified(self, depth):
        return call(self.r.pick(["isnan", "isinf", "isfinite"]), "bool", self.real(self.r.pick(FLOATS), depth))

    def vector_test(self, depth):
        r = self.r
        t = r.pick([v for v in self.palette if isinstance(v, Vec)] or [VECTORS["f32x2"]])
        other = self.vector(t, depth) if r.chance(60) else lit(values.literal(r, t.part))
        return call(r.pick(["all", "any"]), "bool", compare(r.pick(["<", "==", "!=", ">="]), self.vector(t, depth),
                                                            other))

    def tuple_test(self, depth):
        r = self.r
        types = [r.pick(REALS) for _ in range(2)]
        if r.chance(30):
            types[1] = Tup([r.pick(REALS) for _ in range(2)])

        def value(t):
            return Expr("tuple", t, [value(p) for p in t.parts]) if isinstance(t, Tup) else self.real(t, depth - 1)
        return compare(r.pick(["==", "!="]), value(Tup(types)), value(Tup(types)))

    # ---- Complex numbers ----

    def complex(self, t, depth):
        r = self.r
        self.room -= 2
        if depth <= 0 or self.room < 0:
            return self.leaf(t)
        p = PART[t]
        forms = [(6, lambda d: binary(r.pick("+-*"), *self.complex_pair(t, d))),
                 (2, lambda d: unary("-", self.complex(t, d))),
                 (2, lambda d: call("conj", t, self.complex(t, d))),
                 (2, lambda d: conv(t, self.real(p, d), self.real(p, d))),
                 (1, lambda d: conv(t, self.complex("c64" if t == "c128" else "c128", d))),
                 (1, lambda d: binary("/", self.complex(t, d), self.real(p, d))),
                 (1, lambda d: binary("**", self.complex(t, d), lit(2))),
                 (1, lambda d: cond(self.complex(t, d), self.bool(d), self.complex(t, d))),
                 (2, lambda d: self.leaf(t)), (2, lambda d: self.complex_contracted(t, d))]
        if self.approximate:
            forms += [(2, lambda d: call(r.pick(COMPLEX_CALLS), t, self.complex(t, d))),
                      (1, lambda d: call("rect", t, self.real(p, d), self.real(p, d))),
                      (2, lambda d: binary("/", self.complex(t, d), self.complex(t, d)))]
        return r.weighted(forms)(depth - 1)

    def complex_pair(self, t, depth):
        r = self.r
        p = PART[t]
        a = self.complex(t, depth)
        b = r.weighted([(5, lambda: self.complex(t, depth)), (3, lambda: self.real(p, depth)),
                        (1, lambda: lit(values.literal(r, p))),
                        (1, lambda: Expr("lit", "#c", (), complex(0.5, 2.0)))])()
        return (a, b) if r.chance(60) else (b, a)

    def complex_contracted(self, t, depth):
        r = self.r
        p = PART[t]
        product = mul(self.real(p, depth), self.complex(t, depth))
        other = self.complex(t, depth) if r.chance(70) else self.real(p, depth)
        return binary(r.pick("+-"), *((product, other) if r.chance(50) else (other, product)))

    # ---- Small vectors and records ----

    def vector(self, t, depth):
        r = self.r
        self.room -= 2
        if depth <= 0 or self.room < 0:
            names, arrays = self.variables(t), self.arrays(t)
            if names and r.chance(70):
                return name(r.pick(names))
            if arrays and r.chance(70):
                return self.element(r.pick(arrays))
            return conv(t, *[self.leaf(t.part) for _ in range(t.count if r.chance(70) else 1)])
        ops = "+-*" + ("/" if t.part in FLOATS else "&|^")
        others = [v for v in VECTORS.values() if v.count == t.count and v is not t]
        forms = [(6, lambda d: binary(r.pick(ops), *self.vector_pair(t, d))),
                 (2, lambda d: unary("-", self.vector(t, d))),
                 (3, lambda d: conv(t, *[self.real(t.part, d - 1) for _ in range(t.count)])),
                 (2, lambda d: call(r.pick(["min", "max"]), t, *self.vector_pair(t, d))
                  if not self.off("zeros") or t.part in INTS else self.vector(t, d)),
                 (1, lambda d: call("abs", t, self.vector(t, d))),
                 (1, lambda d: cond(self.vector(t, d), self.bool(d), self.vector(t, d))),
                 (1, lambda d: call("selp", t, compare(r.pick(["<", ">="]), self.vector(t, d), self.vector(t, d)),
                                    self.vector(t, d), self.vector(t, d))),
                 (1, lambda d: conv(t, self.vector(r.pick(others), d))),
                 (2, lambda d: self.vector_contracted(t, d) if t.part in FLOATS else self.vector(t, 0)),
                 (2, lambda d: self.vector(t, 0))]
        if t.part in FLOATS:
            forms.append((2, lambda d: self.vector_directed(t, d)))
        half = VECTORS[f"{t.part}x2"]
        if t.count > 2:
            forms.append((2, lambda d: conv(t, self.vector(half, d), self.vector(half, d) if t.count == 4
                                            else self.real(t.part, d))))
        return r.weighted(forms)(depth - 1)

    def vector_directed(self, t, depth):
        """Part by part; numbers may stand beside a vector."""
        if t.part in ("f32", "f64") and self.r.chance(30):
            others = [v for _, v in sorted(VECTORS.items()) if v.count == t.count and v is not t]
            f = self.r.pick([f for f in directed.CONVERSIONS if f.startswith(t.part)])
            return call(f, t, self.vector(self.r.pick(others), depth))
        f = self.r.pick(directed.NAMES)
        more = [self.vector(t, depth) if self.r.chance(70) else self.real(t.part, depth)
                for _ in range(directed.COUNTS[f] - 1)]
        return call(f, t, self.vector(t, depth), *more)

    def vector_pair(self, t, depth):
        r = self.r
        a = self.vector(t, depth)
        b = r.weighted([(5, lambda: self.vector(t, depth)), (2, lambda: self.real(t.part, depth)),
                        (1, lambda: lit(values.literal(r, t.part)))])()
        return (a, b) if r.chance(60) else (b, a)

    def vector_contracted(self, t, depth):
        r = self.r
        product = mul(*self.vector_pair(t, depth))
        other = self.vector(t, depth) if r.chance(70) else self.real(t.part, depth)
        return binary(r.pick("+-"), *((product, other) if r.chance(50) else (other, product)))

    def record(self, t, depth):
        r = self.r
        names, arrays = self.variables(t), self.arrays(t)
        if names and r.chance(50):
            return name(r.pick(names))
        if arrays and r.chance(60):
            return self.element(r.pick(arrays))
        given, fields = [], []
        by_name = r.chance(40)
        for field, ft, extents in t.fields:
            given.append(field if by_name else None)
            fields.append(self.field(ft, extents, depth - 1))
        if r.chance(10):
            given, fields = [], []
        if by_name and r.chance(50):
            order = r.shuffled(range(len(given)))
            given, fields = [given[k] for k in order], [fields[k] for k in order]
        return Expr("make", t, fields, given)

    def field(self, t, extents, depth):
        if extents is None:
            return self.value(t, depth)
        plain = extents[0] > 8 and isinstance(t, str)       # code of so many expressions would be large
        inner = [self.constant(t) if plain and self.r.chance(95) else self.field(t, extents[1:] or None, depth - 1)
                 for _ in range(extents[0])]
        return Expr("tuple", Tup([e.type for e in inner]), inner)
