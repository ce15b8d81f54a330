"""The reference: operators of complex numbers and vectors, as Python expressions."""
import scalars
from build import lit
from scalars import COMPLEX, FLOATS, INTS, PART
from tree import Expr, UNTYPED, walk


def has_effects(e):
    """Does an expression change something that another could see?"""
    return any(n.op == "apply" and n.data.facts.get("ticks") for n in walk(e))


class Parts:
    """A part of Expressions (translate_expr.py)."""

    def complex_bin(self, e, t):
        part = PART[t]
        a, b = e.args
        if e.data in "+-" and has_effects(e):       # each operand once, and then its parts
            held = []
            text = self.complex_bin(self.held(e, held), t)
            return f"(lambda {', '.join(n for n, _ in held)}: {text})({', '.join(v for _, v in held)})"
        if e.data in "+-":
            re, im = (self.expr(self.part_tree(e, f), part) for f in ("real", "imag"))
            return f"complex({re}, {im})"
        if e.data == "*" and self.is_complex(a) and self.is_complex(b):
            return f"complex_mul({self.expr(a, t)}, {self.expr(b, t)}, {t!r}, {self.fused})"
        if e.data == "/" and self.is_complex(b):
            return f"libm.complex_div({self.expr(a, t)}, {self.expr(b, t)}, {t!r})"
        if e.data == "**":
            n = self.fold(e.args[1])
            if n == 2:
                return f"(lambda z: complex_mul(z, z, {t!r}, {self.fused}))({self.expr(a, t)})"
            return f"libm.complex_pow({self.expr(a, t)}, {n}, {t!r})"
        return f"complex_scaled({e.data!r}, {part!r}, {self.complex_operand(a, part)}, {self.complex_operand(b, part)})"

    def held(self, e, held):
        """A sum of complex numbers whose operands, products apart, are names; `held` gets these with what they are."""
        if e.type in UNTYPED:
            return e
        if e.op == "un" and e.data == "+" or e.op == "bin" and (e.data == "*" or e.data in "+-" and
                                                                self.is_complex(e)):
            return Expr(e.op, e.type, [self.held(a, held) for a in e.args], e.data)
        held.append((self.fresh(), self.expr(e)))
        return Expr("code", e.type, (), held[-1][0])

    def part_tree(self, e, field):
        """The expression of one part of a sum: the reals that it is made of, with products that sums take in."""
        part = PART.get(self.ty(e.type))
        if part is None:            # a real number; literals as well
            return e if e.type != "#c" else lit(getattr(self.fold(e), field))
        if e.op == "un" and e.data == "+":
            return self.part_tree(e.args[0], field)
        if e.op == "bin" and e.data in "+-":
            a, b = e.args
            if field == "imag" and not self.is_complex(b):
                return self.part_tree(a, field)
            if field == "imag" and not self.is_complex(a):
                b = self.part_tree(b, field)
                return b if e.data == "+" else Expr("un", part, (b,), "-")
            return Expr("bin", part, [self.part_tree(x, field) for x in e.args], e.data)
        if e.op == "bin" and e.data == "*" and not all(self.is_complex(x) for x in e.args):
            return Expr("bin", part, [self.part_tree(x, field) for x in e.args], "*")
        return Expr("code", part, (), f"({self.expr(e)}).{field}")

    def is_complex(self, e):
        return self.ty(e.type) in COMPLEX or e.type == "#c"

    def complex_operand(self, e, part):
        return self.expr(e, scalars.WHOLE[part] if self.is_complex(e) else part)

    def vector_bin(self, e, t):
        part = t.part
        a, b = (self.expr(x, t) for x in e.args)
        if e.data in "+-" and self.fused and part in FLOATS:
            for k in (0, 1):
                p = self.product(e.args[k], t)
                if p:
                    x, y = (self.expr(z, t) for z in p.args)
                    c = b if k == 0 else a
                    form = "p, q, r" if e.data == "+" else "p, q, -r" if k == 0 else "-p, q, r"
                    names, given = ("p, q, r", f"{x}, {y}, {c}") if k == 0 else ("r, p, q", f"{c}, {x}, {y}")
                    return f"vmap(lambda {names}: fma({form}, {part!r}), {given})"
        if e.data == "**":
            n = self.fold(e.args[1])
            body = f"integer_power(p, {n}, {part!r})" if part in INTS else self.rounded("p * p", part)
            return f"vmap(lambda p: {body}, {a})"
        if e.data in ("<<", ">>"):
            name = "shift_left" if e.data == "<<" else "shift_right"
            return f"vmap(lambda p, q: {name}(p, q, {part!r}), {a}, {self.expr(e.args[1])})"
        return f"vmap(lambda p, q: {self.arithmetic(e.data, part, 'p', 'q')}, {a}, {b})"
