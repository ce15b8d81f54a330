"""The generator's enums and other names of numbers without a type: their definitions, and what is done with them."""
from build import add, binary, compare, cond, elem, let, lit, logic, mod, name, unary
import scalars
from scalars import FLOATS, INTS, SIGNED
from tree import Enum, Named, Stmt, Tup, UNTYPED, Var

NAMES = ["NONE", "RED", "WALL", "FOOD", "LIT", "DRY", "LAST", "BOTH"]
LEAST, MOST = -100, 127         # which every type with a sign holds


def make_enum(r, number, others):
    """`others`: names of earlier enums."""
    t = r.pick(INTS) if r.chance(50) else None
    enum = Enum(f"E{number}", t)
    low = LEAST if t is None or t in SIGNED else 0
    value = -1
    for item in r.shuffled(NAMES)[:r.between(1, 5)]:
        value, written = item_of(r, enum, value, [m for m in others if m.type in UNTYPED])
        if not low <= value <= MOST:
            value = r.between(low, MOST)
            written = lit(value)
        enum.members.append(Var(f"{enum.name}.{item}", t or "#i", value=lit(value), range=(value, value),
                                uniform="grid", enum=enum, written=written))
    return enum


def item_of(r, enum, before, others):
    """A value, and how it is written: None where it is one more than that before."""
    form = r.below(10)
    if form < 4:
        return before + 1, None
    if form < 6:
        n = r.between(LEAST, MOST)
        return n, lit(n)
    if form < 7:
        k = r.below(7)
        return 1 << k, binary("<<", lit(1), lit(k))
    known = enum.members + others
    if not known:
        return before + 1, None
    a, b, n = r.pick(known), r.pick(known), r.between(0, 9)
    x, y = (m.get("value").data for m in (a, b))
    return r.pick([lambda: (x | y, binary("|", name(a), name(b))), lambda: (x + n, add(name(a), lit(n))),
                   lambda: (x & n, binary("&", name(a), lit(n))), lambda: (-x, unary("-", name(a)))])()


def fitting(members, t):
    """Names whose numbers an array of type t may hold."""
    return [m for m in members if m.type in ("#i", t) and t in INTS
            and scalars.least(t) <= m.get("range")[0] <= scalars.greatest(t)]


def named(m):
    n = Named(m.get("range")[0])
    n.member = m
    return n


def range_of(v):
    """The least and greatest value that a name without a type stands for."""
    return v.get("range") or (1 << 62, 1 << 62)


class Enums:
    """A part of Expressions (gen_expr.py) and, below, of Statements (gen_stmt.py)."""

    def members(self):
        return [v for v in self.visible() if v.get("enum")]

    def untyped(self, t):
        """Names of numbers without a type that type t has."""
        low, high = (scalars.least(t), scalars.greatest(t)) if t in INTS else (-255, 255)
        return [v for v in self.visible() if v.type == "#i" and low <= range_of(v)[0] and range_of(v)[1] <= high
                or v.type == "#f" and t in FLOATS]

    def literal_for(self, t, plain):
        """A literal that meets type t, or a name that stands for one."""
        r = self.r
        names = self.untyped(t)
        if names and r.chance(30):
            return name(r.pick(names))
        items = [(v, k) for v in self.constant_tuples() for k, p in enumerate(v.type.parts)
                 if p == "#f" and t in FLOATS or p == "#i" and v.get("value").args[k].data >= 0]
        if items and r.chance(15):
            v, k = r.pick(items)
            return elem(name(v), lit(k))
        return lit(plain)

    def constant_tuples(self):
        return [v for v in self.visible() if isinstance(v.type, Tup) and v.get("value") is not None]

    def enum_test(self, depth):
        r = self.r
        members = self.members()
        if not members:
            return self.comparison(depth)
        m = r.pick(members)
        t = m.type if m.type in INTS else r.pick([t for t in INTS if m in self.untyped(t)])
        x = self.real(t, depth) if r.chance(60) else mod(self.real(t, depth), lit(r.between(2, 9)))
        others = [v for v in members if v.type == m.type and v in self.untyped(t) + self.variables(t)] or [m]
        return r.pick([lambda: compare(r.pick(["==", "!=", "<", ">="]), *r.shuffled([x, name(m)])),
                       lambda: compare("==", binary("&", x, name(m)), name(m)),
                       lambda: compare("!=", binary("&", x, name(m)), lit(0)),
                       lambda: logic("or", compare("==", x, name(m)), compare("==", x, name(r.pick(others))))])()

    def enum_switch(self):
        """One branch for each of an enum's numbers."""
        r = self.r
        members = self.members()
        if not members or self.depth >= 3:
            return self.declare_one()
        enum = r.pick(members).get("enum")
        t = enum.type or r.pick([t for t in SIGNED if all(m in self.untyped(t) for m in enum.members)])
        self.room = self.options.room
        value = self.real(t, 2)
        for m in enum.members[:2]:
            if r.chance(50):
                value = cond(name(m), self.bool(1), value)
        v = self.new(t, kept=True)
        start = let(v, value, t)
        self.declare(v)
        tests, blocks = [], []
        for m in r.shuffled(enum.members)[:r.between(1, 4)]:
            tests.append(compare("==", *r.shuffled([name(v), name(m)])))
            blocks.append(self.block(r.between(1, 2)))
        if r.chance(60):
            blocks.append(self.block(1))
        return Stmt("group", (), [[start, Stmt("if", tests, blocks)]])
