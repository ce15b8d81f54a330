"""The generator's loops over tuples: a turn for each item, of one type or of several, literals, arrays, tuples."""
import values
from build import conv, group, let, lit, name, part, view
from scalars import COMPLEX, INTS, REALS
from tree import Arr, Expr, Rec, Stmt, Tup, Var


def tuple_of(items):
    return Expr("tuple", Tup([e.type for e in items]), items)


def constant_tuple(r, number):
    """const P = (1, 2), or ((0, 1), (1, 0))"""
    def plain():
        return lit(r.between(-9, 40))
    if r.chance(40):
        width = r.between(2, 3)
        value = tuple_of([tuple_of([plain() for _ in range(width)]) for _ in range(r.between(1, 4))])
    elif r.chance(40):
        value = tuple_of([lit(values.literal(r, "f32")) for _ in range(r.between(2, 4))])
    else:
        value = tuple_of([plain() for _ in range(r.between(2, 4))])
    return Var(f"P{number}", value.type, value=value, uniform="grid")


class Tuples:
    """A part of Statements (gen_stmt.py)."""

    def over_tuple(self):
        r = self.r
        # Bodies that are written out several times within each other take long to compile.
        if self.need or self.trips > 12 or self.loop == "items" and r.chance(80):
            return self.change()
        self.room = self.options.room
        return r.weighted([(4, self.over_columns), (2, self.over_constant), (2, self.over_arrays), (1, self.over_fixed),
                           (1, self.over_variable), (2, self.over_until)])()

    # ---- Columns: a variable, and what it is in each turn ----

    def column(self, count):
        r = self.r
        kind = r.below(10)
        if kind < 4:
            t = self.of()
            return self.item_variable(t), [self.full(t, 1) for _ in range(count)]
        if kind < 7:
            items = [lit(r.between(-9, 99)) for _ in range(count)]
            if r.chance(30):
                items = [lit(float(r.between(-8, 8)) / 4) for _ in range(count)]
            return self.literal_variable(items), items
        types = [r.pick(REALS + ("bool", "#i", "#f")) for _ in range(count)]
        items = [lit(r.between(0, 99)) if t == "#i" else lit(0.5) if t == "#f" else self.full(t, 1) for t in types]
        return self.item_variable(f"L{self.names + 1}"), items

    def item_variable(self, t, **facts):
        self.names += 1     # hides nothing: a loop may have several
        return Var(f"e{self.names}", t, **facts)

    def literal_variable(self, items):
        """It stands for a literal in each turn."""
        kinds = {e.type for e in items}
        if len(kinds) > 1:
            return self.item_variable(f"L{self.names + 1}")
        numbers = [e.data for e in items]
        facts = {"range": (min(numbers), max(numbers))} if kinds == {"#i"} else {}
        return self.item_variable(kinds.pop(), **facts)

    # ---- Loops ----

    def over_columns(self):
        r = self.r
        count = r.between(1, 3)
        form = r.pick([None, None, "enumerate", "zip", "apart"])
        columns = [self.column(count) for _ in range(r.between(2, 3) if form in ("zip", "apart") else 1)]
        if len(columns) > 1 and r.chance(30):
            columns[-1] = self.array_column(count) or columns[-1]
        if form == "apart":
            rows = [tuple_of(list(items)) for items in zip(*[c[1] for c in columns])]
            return self.item_loop(None, [[c[0] for c in columns]], [tuple_of(rows)], count)
        if form == "zip" and count > 1 and r.chance(30):
            del columns[0][1][-1]
            count -= 1
        return self.item_loop(form, [[c[0]] for c in columns], [tuple_of(c[1]) for c in columns], count)

    def over_constant(self):
        r = self.r
        found = self.constant_tuples()
        if not found:
            return self.over_columns()
        p = r.pick(found)
        items = p.get("value").args
        if isinstance(items[0].type, Tup):
            columns = [[row.args[k] for row in items] for k in range(len(items[0].args))]
            return self.item_loop(None, [[self.literal_variable(c) for c in columns]], [name(p)], len(items))
        return self.item_loop(r.pick([None, "enumerate"]), [[self.literal_variable(items)]], [name(p)], len(items))

    def over_arrays(self):
        """The variable is each array in its turn."""
        r = self.r
        found = self.array_column(r.between(1, 3))
        if found is None:
            return self.over_columns()
        x, items = found
        return self.item_loop(r.pick([None, None, "enumerate"]), [[x]], [tuple_of(items)], len(items))

    def array_column(self, count):
        r = self.r
        arrays = [v for v in self.visible() if isinstance(v.type, Arr) and v.get("role") == "in" and v.get("least")
                  and min(v.get("least")) > 1]
        if not arrays:
            return None
        first = r.pick(arrays)
        some = [v for v in arrays if v.type is first.type and v.get("packed") == first.get("packed")]
        some = [first] + [r.pick(some) for _ in range(count - 1)]
        items, least, most = [], first.get("least"), first.get("most")
        for v in some:
            tail = r.chance(25)
            items.append(view(name(v), ["b"] + ["-"] * (v.type.dims - 1), lit(1)) if tail else name(v))
            least = tuple(map(min, least, (v.get("least")[0] - tail,) + tuple(v.get("least")[1:])))
            most = tuple(map(max, most, v.get("most")))
        x = self.item_variable(first.type, role="in", least=least, most=most,
                               write_any=all(v.get("write_any") for v in some),
                               memory=frozenset().union(*map(self.memory_of, some)), packed=first.get("packed"))
        return x, items

    def over_fixed(self):
        """A fixed array in a record that is held as a value."""
        r = self.r
        found = [part(name(v), f) for v in self.visible() if isinstance(v.type, Rec) for f, _, n in v.type.fields
                 if n and len(n) == 1]
        first = []
        if not found:
            records = [t for t in self.records if any(n and len(n) == 1 for _, _, n in t.fields)]
            if not records:
                return self.over_columns()
            q = self.new(r.pick(records))
            first.append(let(q, self.record(q.type, 1)))
            self.declare(q)
            found = [part(name(q), f) for f, _, n in q.type.fields if n and len(n) == 1]
        e = r.pick(found)
        return group(*first, self.item_loop(r.pick([None, "enumerate"]), [[self.item_variable(e.type.elem)]], [e],
                                            e.type.extents[0]))

    def over_variable(self):
        r = self.r
        found = self.flat_tuples()
        first = []
        if not found:
            first.append(self.tuple_variable())
            found = self.flat_tuples()
        v = r.pick(found)
        same = len(set(map(str, v.type.parts))) == 1
        x = self.item_variable(v.type.parts[0] if same else f"L{self.names + 1}")
        return group(*first, self.item_loop(r.pick([None, "enumerate"]), [[x]], [name(v)], len(v.type.parts)))

    def flat_tuples(self):
        """Of one type, or of types that convert to a number."""
        return [v for v in self.visible() if isinstance(v.type, Tup) and v.get("value") is None
                and all(isinstance(p, str) for p in v.type.parts)
                and (len(set(v.type.parts)) == 1 or not set(v.type.parts) & set(COMPLEX))]

    def tuple_type(self, depth=1):
        """Of a parameter or result; tuples of tuples, too."""
        r = self.r
        parts = [self.tuple_type(depth - 1) if depth and r.chance(25) else
                 r.pick(self.palette) if r.chance(40) else r.pick(REALS + ("bool",)) for _ in range(r.between(2, 3))]
        return Tup(parts)

    def item_loop(self, form, sources, exprs, count):
        """The body is written out for each item: it has no break nor continue."""
        at = self.item_variable("i64") if form == "enumerate" else None
        self.scope.append([])
        others = [] if at is None else [at]
        for v in (v for names in sources for v in names):
            if isinstance(v.type, str) and v.type[0] == "L":
                others.append(v)
            else:
                self.declare(v)
        body = self.looped(lambda: self.item_body(others), count, "items")
        self.scope.pop()
        return Stmt("items", exprs, [body], (at, sources, form, False))

    def item_body(self, others):
        """`others` are of another type in each turn."""
        flow, self.flow = self.flow, None
        self.scope.append([])
        self.depth += 1
        statements = [self.as_number(v) for v in others] + self.statements(self.r.between(1, 3))
        self.depth -= 1
        self.scope.pop()
        self.flow = flow
        return statements

    def as_number(self, v):
        """What is of another type in each turn, as a variable of one type."""
        t = self.r.pick([t for t in self.palette if t in REALS] or ["i32"])
        e = self.new(t, "e")
        self.declare(e)
        return let(e, conv(t, name(v)))

    def over_until(self):
        """With break or continue the items meet in one type."""
        r = self.r
        t = r.pick(["i32", "f32"]) if r.chance(30) else r.pick([t for t in self.palette if t in REALS] or ["i64"])
        items = [self.real(t, 1)] if r.chance(80) or t not in ("i32", "f32") else []
        for _ in range(r.between(1, 3)):
            items.append(lit(values.literal(r, t) if items else r.between(1, 9) if t in INTS else 0.5)
                         if r.chance(40) or not items else self.real(t, 1))
        v = self.item_variable(t)
        self.scope.append([])
        self.declare(v)
        body = self.looped(lambda: self.block(r.between(0, 2), None,
                                              lambda: [self.leave()] + self.statements(r.between(1, 2))), len(items))
        self.scope.pop()
        return Stmt("items", [tuple_of(r.shuffled(items))], [body], (None, [[v]], None, True))
