"""The generator's indices, always in bounds: by what is known of ranges, by a remainder, a clamp or a condition."""
import scalars
import values
from build import (add, binary, call, chained, compare, cond, conv, extent, index, length, lit, logic, mod, mul, name,
                   size, sub, turned)
from gen_enums import range_of
from scalars import INTS, REALS, SIGNED
from tree import Expr


class Indices:
    """A part of Expressions (gen_expr.py)."""

    def interval(self, e):
        """The least and greatest value of an integer expression, or None where that is not known."""
        if e.op == "lit" and e.type == "#i":
            return e.data, e.data
        if e.op == "name":
            return e.data.get("range")
        if e.op == "special":
            return self.bounds.get(e.data)
        if e.op == "attr" and e.args[0].op == "name":
            return self.extent_range(e.args[0].data, e.data)
        inner = [self.interval(a) for a in e.args]
        if None in inner:
            return None
        if e.op == "bin" and e.data in "+-*":
            (a, b), (c, d) = inner
            ends = {"+": (a + c, b + d), "-": (a - d, b - c)}.get(e.data) or (min(a * c, a * d, b * c, b * d),
                                                                             max(a * c, a * d, b * c, b * d))
            t = e.type if e.type in INTS else "i32"
            return ends if scalars.least(t) <= ends[0] and ends[1] <= scalars.greatest(t) else None
        return None

    @staticmethod
    def extent_range(v, what):
        least, most = v.get("least"), v.get("most")
        if not least or not what.startswith(("shape", "len")):
            return None
        k = int(what[6:-1] or 0)
        return least[k], most[k]

    def remainder(self, n):
        """An index below n, a number."""
        r = self.r
        t = r.pick(["i32", "i32", "i64", "u32", "i16", "u8", "i8", "u64"])
        if n > scalars.greatest(t):
            t = "i64"
        e = self.real(t, 1)
        if n & (n - 1) == 0 and r.chance(40):
            return binary("&", e, lit(n - 1))
        if r.chance(20):
            return call("clamp", t, e, lit(0), lit(n - 1))
        if r.chance(15):
            return call("min", t, call("max", t, e, lit(0)), lit(n - 1))
        return mod(e, lit(n))

    def place(self, v, k):
        """An index that is inside of an array's dimension k."""
        r = self.r
        if not v.get("least"):
            return self.modulo_extent(v, k)
        n = v.get("least")[k]
        names = self.visible()
        inside = [w for w in names if (v, k) in (w.get("inside") or ())]
        known = [w for w in names if w.get("range") and 0 <= w.get("range")[0] and w.get("range")[1] < n
                 and w.type in INTS]
        choices = [(2, lambda: lit(r.below(n))), (3, lambda: self.remainder(n)), (2, lambda: self.modulo_extent(v, k))]
        if inside:
            choices.append((12, lambda: name(r.pick(inside))))
            if v.get("affine") and v.get("affine")[0] in inside:
                choices.append((12, lambda: self.affine(*v.get("affine"))))
            choices.append((2, lambda: sub(sub(extent(name(v), k), lit(1)), name(r.pick(inside)))))
        named = [w for w in names if w.type == "#i" and 0 <= range_of(w)[0] and range_of(w)[1] < n]
        if named:
            choices.append((2, lambda: name(r.pick(named))))
        if known:
            choices.append((8, lambda: name(r.pick(known))))
            choices.append((3, lambda: self.shifted(r.pick(known), v, k)))
            choices.append((3, lambda: self.partner(r.pick(known), v, k)))
        return r.weighted(choices)()

    def affine(self, index_var, scale, more):
        """scale * i + c, in an array that is made for it."""
        r = self.r
        c = r.below(scale + more)
        e = name(index_var) if scale == 1 else mul(*r.shuffled([name(index_var), lit(scale)]))
        return e if c == 0 else add(*r.shuffled([e, lit(c)]))

    def modulo_extent(self, v, k):
        r = self.r
        t = r.pick([s for s in INTS if s != "u64"])
        e = self.real(t, 1)
        what = extent(name(v), k) if v.type.dims > 1 or r.chance(50) else size(name(v))
        if k == 0 and r.chance(15):
            what = length(name(v))
        form = r.below(4)
        if form == 0:
            return call("clamp", "i64", e, lit(0), sub(what, lit(1)))
        if form == 1:
            return sub(sub(what, lit(1)), mod(e, what))
        return mod(e, what)

    def shifted(self, w, v, k):
        """A variable and something constant, still inside; else its mirror image."""
        r = self.r
        low, high = w.get("range")
        n = v.get("least")[k]
        c = r.between(-low, n - 1 - high)
        e = name(w) if n <= scalars.greatest(w.type) else conv("i64", name(w))
        if c == 0 or r.chance(30):
            return binary("-", lit(n - 1), e) if high < n else e
        return add(e, lit(c)) if c > 0 else sub(e, lit(-c))

    def exchanging(self, t, n):
        """The bits below n, a power of two, in which the partners of a butterfly differ: one number for all threads."""
        r = self.r
        if r.chance(50):
            return lit(r.pick([1, 2, 4, 8, 16, 32, 64, r.below(n)]) % n)
        return binary("&", self.uniformly("grid", lambda: self.real(t, 1)), lit(n - 1))

    def partner(self, w, v, k):
        """A variable with some bits exchanged, still inside."""
        n = 1 << max(w.get("range")[1], 1).bit_length()
        return binary("^", name(w), self.exchanging(w.type, n)) if n <= v.get("least")[k] else name(w)

    def element(self, v):
        """An element that may be read here: of an array that this thread alone uses, its own."""
        if v.get("role") == "own":
            at = v.get("own")(self)
            return index(turned(name(v)), *at[::-1]) if len(at) > 1 and self.r.chance(6) else index(name(v), *at)
        if self.need is None and self.r.chance(12) and v.type.dims == 1 and v.type.elem in REALS and self.room > 6:
            return self.calmly(lambda: self.guarded(v))
        at = [self.place(v, k) for k in range(v.type.dims)]
        if self.need is None and v.get("global") and self.r.chance(4):
            return Expr("hint", v.type.elem, [name(v)] + at, self.r.pick(["ldca", "ldcg", "ldcs", "ldlu", "ldcv"]))
        if len(at) > 1 and self.r.chance(4):
            return index(turned(name(v)), *at[::-1])
        return index(name(v), *at)

    def guarded(self, v):
        """An element where the index is inside, else something else."""
        r = self.r
        self.room -= 6
        at = self.near() if r.chance(60) else self.real(r.pick(["i64", "i64", "i32", "i16"]), 1)
        array = name(v)
        inside = r.pick([lambda: chained(["<=", "<"], lit(0), at, extent(array, 0)),
                         lambda: logic("and", compare(">=", at, lit(0)), compare("<", at, size(array)))])()
        other = lit(values.literal(r, v.type.elem)) if r.chance(50) else self.leaf(v.type.elem)
        return cond(index(array, at), inside, other)

    def paired(self, e, t):
        """The first of e's two elements in a butterfly, which are one number of the grid's apart."""
        r = self.r
        h = add(binary("&", self.uniformly("grid", lambda: self.real(t, 1)), lit(r.pick([3, 15, 63, 64]))), lit(1))
        if r.chance(50):
            return sub(mul(lit(2), e), mod(e, h) if r.chance(50) else binary("&", e, sub(h, lit(1))))
        rest = mod(e, h)
        return add(mul(mul(binary("//", e, h), lit(2)), h), rest) if r.chance(50) else add(e, mul(binary("//", e, h), h))

    def near(self):
        """A known index and something constant, a neighbour; or its partner in a butterfly."""
        r = self.r
        known = [w for w in self.visible() if (w.get("range") or w.get("inside")) and w.type in SIGNED]
        if not known:
            return self.real("i64", 1)
        w = r.pick(known)
        e = name(w)
        if r.chance(25):
            return binary("^", e, self.exchanging(w.type, 128))
        if r.chance(20):
            return self.paired(e, w.type)
        if r.chance(25):
            e = mul(e, lit(r.between(1, 3)))
        return binary(r.pick("+-"), e, lit(r.between(0, 4)))
