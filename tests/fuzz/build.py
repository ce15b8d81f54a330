"""Expressions with their types, by section 3 and 5 of docs/language.md: what the generator builds trees with."""
import scalars
from scalars import COMPLEX, INTS, PART, WHOLE
from tree import Arr, Expr, Fixed, Rec, Stmt, Tup, UNTYPED, VECTORS, Vec, given


def lit(value):
    """A literal without a type; bools have theirs."""
    types = {bool: "bool", int: "#i", float: "#f", complex: "#c"}
    return Expr("lit", types[type(value)], (), value)


def typed(value, t):
    """A literal of a type, whatever it meets."""
    return lit(value) if t == "bool" else conv(t, lit(value))


def name(var):
    return Expr("name", var.type, (), var)


def conv(t, *args):
    return Expr("conv", t, args)


def meet(a, b):
    """The type of two operands, literals included; None is an error."""
    if a in UNTYPED and b in UNTYPED:
        return "#c" if "#c" in (a, b) else "#f" if "#f" in (a, b) else "#i"
    if isinstance(a, Vec) or isinstance(b, Vec):
        if isinstance(a, Vec) and isinstance(b, Vec) and a.count != b.count:
            return None
        part = meet(getattr(a, "part", a), getattr(b, "part", b))
        return VECTORS.get(f"{part}x{(a if isinstance(a, Vec) else b).count}")
    for t, other in ((a, b), (b, a)):
        if t == "#i":
            return None if other == "bool" else other
        if t == "#f":
            return None if other == "bool" else "f32" if other in INTS else other
        if t == "#c":
            return None if other == "bool" else other if other in COMPLEX else WHOLE.get(other, "c64")
    if not isinstance(a, str) or not isinstance(b, str):
        return a if a is b else None
    if a not in scalars.SCALARS or b not in scalars.SCALARS:
        return a if a == b else None        # a generic type
    return scalars.common(a, b)


def binary(op, a, b):
    if op in ("<<", ">>"):
        return Expr("bin", a.type, (a, b), op)
    if op == "**":
        return Expr("bin", meet(a.type, b.type) if b.type != "#i" else a.type, (a, b), op)
    return Expr("bin", meet(a.type, b.type), (a, b), op)


def add(a, b):
    return binary("+", a, b)


def sub(a, b):
    return binary("-", a, b)


def mul(a, b):
    return binary("*", a, b)


def mod(a, b):
    return binary("%", a, b)


def unary(op, a):
    return Expr("un", a.type, (a,), op)


def negate(a):
    return Expr("un", "bool", (a,), "not")


def logic(op, *args):
    e = args[0]
    for a in args[1:]:
        e = Expr("logic", "bool", (e, a), op)
    return e


def compare(op, a, b):
    t = a.type if isinstance(a.type, Vec) else b.type
    return Expr("cmp", Tup(["bool"] * t.count) if isinstance(t, Vec) else "bool", (a, b), [op])


def chained(ops, *args):
    return Expr("cmp", "bool", args, list(ops))


def cond(a, test, b):
    t = meet(a.type, b.type) if not isinstance(a.type, (Rec, Tup)) else a.type
    return Expr("cond", t, (a, test, b))


def index(array, *at):
    return Expr("index", array.type.elem, (array,) + at)


def view(array, forms, *args):
    dims = array.type.dims - sum(1 for f in forms if f == "i")
    return Expr("view", Arr(array.type.elem, dims), (array,) + args, tuple(forms))


def turned(array):
    """a.T"""
    return Expr("turned", array.type, (array,))


def reshaped(array, *extents):
    """a.reshape(...); without extents a.ravel()"""
    return Expr("reshaped", Arr(array.type.elem, len(extents) or 1), (array,) + extents)


def attr(array, what):
    return Expr("attr", "i64", (array,), what)


def size(array):
    return attr(array, "size")


def extent(array, k):
    return attr(array, f"shape[{k}]")


def length(array):
    return attr(array, "len")


def part(e, field):
    """v.x, z.real, q.mass; of an array the view of that part."""
    base = e.type.elem if isinstance(e.type, Arr) else e.type
    if isinstance(base, Rec):
        _, t, extents, _ = base.place(field)
        if isinstance(e.type, Arr):
            return Expr("part", Arr(t, e.type.dims + len(extents or ())), (e,), field)
        return Expr("part", t if extents is None else Fixed(t, extents), (e,), field)
    t = base.part if isinstance(base, Vec) else PART[base]
    return Expr("part", Arr(t, e.type.dims) if isinstance(e.type, Arr) else t, (e,), field)


def elem(e, k):
    """v[i] of a vector, q.vel[k] of a fixed array, t[0] of a tuple."""
    if isinstance(e.type, Tup):
        return Expr("elem", e.type.parts[k.data], (e, k))
    return Expr("elem", e.type.part if isinstance(e.type, Vec) else e.type.elem, (e, k))


def call(f, t, *args):
    return Expr("call", t, args, f)


def special(what):
    n = int(what[-2]) if what.endswith(")") else 1
    return Expr("special", "i64" if n == 1 else Tup(["i64"] * n), (), what)


def apply(function, *args, names=()):
    t = function.results
    if t is not None and function.generics:
        bound = {}
        for p, a in given(function, args, names):
            if a is None:
                continue
            if isinstance(p.type, Arr):
                bound.setdefault(p.type.elem, a.type.elem)
            elif a.type not in UNTYPED:
                bound.setdefault(p.type, a.type)
        t = bound.get(t, t)
    return Expr("apply", t, args, function, names)


def each_of(array):
    """An array or view in an expression of its elements."""
    return Expr("each", array.type.elem, (array,))


def fold(what, t, *args, behind=False):
    return Expr("fold", t, args, (what, behind))


def bits(e, t):
    """e.view(t), of a number or of an array."""
    return Expr("bits", Arr(t, e.type.dims) if isinstance(e.type, Arr) else t, (e,))


def sync(what, *args):
    t = {"syncthreads_count": "i32", "syncthreads_and": "bool", "syncthreads_or": "bool"}.get(what)
    return Expr("sync", t, args, what)


def warp(what, *args):
    if what.startswith("shfl"):
        t = args[1].type
    else:
        t = {"all_sync": "bool", "any_sync": "bool", "eq_sync": "bool", "syncwarp": None,
             "match_all_sync": Tup(["u32", "bool"])}.get(what, "u32")
    return Expr("warp", t, args, what)


def atomic(what, array, *args):
    return Expr("atomic", array.type.elem, (array,) + args, what)


# ---- Statements ----

def let(var, e, declared=None, kind="let"):
    return Stmt("let", [e], (), (kind, [var], declared))


def spread(target, op, value):
    """An assignment to a view as a whole, or an update of it."""
    return Stmt("spread", [target, value], (), op)


def let_many(names, e, kind="let"):
    return Stmt("let", [e], (), (kind, list(names), None))


def assign(target, value):
    return Stmt("assign", [target, value], (), 1)


def assign_many(targets, values):
    return Stmt("assign", list(targets) + list(values), (), len(targets))


def update(op, target, value):
    return Stmt("update", [target, value], (), op)


def if_(test, block, other=None):
    return Stmt("if", [test], [block] + ([other] if other is not None else []))


def for_(var, bounds, block, unroll=False):
    return Stmt("for", list(bounds), [block], (var, unroll))


def each(names, arrays, form, block):
    """for over the elements of arrays; `form`: None, 'enumerate' or 'zip'."""
    return Stmt("each", arrays, [block], (names, form))


def while_(test, block):
    return Stmt("while", [test], [block])


def do(e):
    return Stmt("expr", [e])


def return_(*values):
    return Stmt("return", values)


def memory(var, kind, shape, alignment=None):
    return Stmt("memory", shape, (), (var, kind, alignment))


def group(*statements):
    return Stmt("group", (), [list(statements)])
