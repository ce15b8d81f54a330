"""The generator's arrays of a thread's own."""
from build import assign, conv, for_, group, index, let, lit, memory, name
from scalars import COMPLEX, REALS
from tree import Arr, Fixed, MANY, Rec, Var, Vec, copied, has_packed

LENGTHS = [1, 2, 3, 4, 4, 5, 6, 7, 8, 9, 12, 16, 17, 24, 31, 32, 33, 40]


class Locals:
    """A part of Statements (gen_stmt.py)."""

    def special(self):
        """Records whose elements lie, or are copied, in another way than most."""
        return [x for x in self.records if has_packed(x) or x.slots > MANY]

    def for_copies(self):
        """An array of the thread's own that elements of such a record are copied to."""
        types = [v.type.elem for v in self.arrays() if v.type.elem in self.special()]
        return [self.local_array(self.r.pick(types))] if types and self.r.chance(60) else []

    def for_ticks(self):
        """An array for the calls that change one in the midst of an expression."""
        ticked = [f.params[0].type.elem for f in self.functions if f.facts.get("ticks")]
        return [self.local_array(self.r.pick(ticked))] if ticked and self.r.chance(70) else []

    def local_array(self, t=None):
        """An array of the thread's own: all elements are written, then any are read and written."""
        r = self.r
        special = self.special()
        flat = t is not None
        t = t or (r.pick(special) if special and r.chance(40) else self.of())
        many = isinstance(t, Rec) and t.slots > MANY        # a copy of so many for each element
        shape = [r.between(1, 3)] if many else [r.pick(LENGTHS)] if flat or r.chance(80) else \
            [r.between(1, 5), r.between(1, 6)]
        named = [w for w in self.members() if 1 <= w.get("range")[0] <= 40]
        if named and r.chance(20) and not many:
            shape = [r.pick(named).get("range")[0]]
        total = 1
        for n in shape:
            total *= n
        if self.locals_made > 2:
            return self.change()
        self.locals_made += 1
        v = self.new(Arr(t, len(shape)), "l", role=None, least=tuple(shape), most=tuple(shape), strides=True,
                     local=True)
        extents = [lit(n) for n in shape]
        named = [w for w in named if [w.get("range")[0]] == shape]
        if named:
            extents = [name(r.pick(named))]
        sizes = [w for w in self.visible() if w.get("planned") and w.get("const")]
        if sizes and len(shape) == 1 and r.chance(50):
            w = r.pick(sizes)
            extents, shape = [name(w)], [w]
            v.facts.update(least=(w.get("range")[0],), most=(w.get("range")[1],))
        statements = [memory(v, "local", extents, r.pick([None, None, None, 16, 64]))]
        statements += self.fill(v, shape, total)
        v.facts.update(role="in", write_any=True)
        self.declare(v)
        for _ in range(r.between(1, 3)):
            self.room = self.options.room
            target = index(name(v), *[self.place(v, k) for k in range(v.type.dims)])
            if isinstance(t, (Vec, Rec)) and r.chance(40):
                target = self.some_part(target)
            if not isinstance(target.type, Fixed):
                statements.append(self.changed(target, target.type))
        if isinstance(t, Rec) and r.chance(70):
            statements += self.copied_elements(v)
        return group(*statements)

    def copied_elements(self, v):
        """Whole elements, from the array itself or another, and to a variable; and some of their parts."""
        r = self.r
        self.room = self.options.room
        target, e = [index(name(v), *[self.place(v, k) for k in range(v.type.dims)]) for _ in range(2)]
        arrays = [w for w in self.arrays(v.type.elem) if w is not v]
        statements = [assign(target, self.element(r.pick(arrays)) if arrays and r.chance(60) else e)]
        statements += [self.part_read(target) for _ in range(3)]
        whole = self.new(v.type.elem, mutable=r.chance(50))
        statements.append(let(whole, self.element(v), None, "var" if whole.get("mutable") else "let"))
        self.declare(whole)
        return statements

    def part_read(self, e):
        """A number of an element, as a variable of a type that the kernel computes with."""
        e = self.some_part(copied(e))
        while not isinstance(e.type, str) or e.type in COMPLEX:
            if isinstance(e.type, Fixed):       # of two axes
                return self.declare_one()
            e = self.some_part(e)
        if e.type != "bool":
            e = conv(self.r.pick([t for t in self.palette if isinstance(t, str) and t in REALS] or ["i64"]), e)
        self.names += 1
        return let(self.declare(Var(f"a{self.names}", e.type)), e)

    def fill(self, v, shape, total):
        """Writes every element: by loops, or one by one."""
        r = self.r
        t = v.type.elem
        if total <= 4 and r.chance(60) and len(shape) == 1 and not isinstance(shape[0], Var):
            return [assign(index(name(v), lit(k)), self.full(t, 1)) for k in range(total)]
        self.scope.append([])
        counters = [Var(f"k{self.names + d}", "i32", range=(0, n - 1)) if not isinstance(n, Var) else
                    Var(f"k{self.names + d}", n.type, inside=[(v, d)]) for d, n in enumerate(shape)]
        self.names += len(shape)
        for c in counters:
            self.declare(c)
        body = [assign(index(name(v), *map(name, counters)), self.full(t, 1))]
        self.scope.pop()
        for c, n in reversed(list(zip(counters, shape))):
            body = [for_(c, [lit(n) if not isinstance(n, Var) else name(n)], body, r.chance(15))]
        return body
