"""Generates small kernels whose indices may or may not be outside, and arguments for them."""
from bounds_tree import E, Out, S, binary, call, compare, conv, fitting, lit, var, write, write_block
from rng import Rng
from scalars import FLOATS, INTS, SIGNED, UNSIGNED, greatest, least

ANY_INT = ("i32", "i32", "i32", "i64", "i64", "u32", "u64", "i8", "u8", "i16", "u16")
BLOCKS = ((1, 1), (1, 1), (1, 1), (2, 1), (5, 1), (8, 1), (33, 1), (40, 1), (4, 3), (8, 2))
K = 3           # columns of out
WAYS = 6        # parts of a kernel, of which a launch runs one


class A:
    """An array that is in scope. kind: 'in' is read only, 'own' this thread's, 'record'; extents known or None."""

    def __init__(self, name, type, shape, kind, whole=True):
        self.name, self.type, self.shape, self.kind, self.whole = name, type, shape, kind, whole

    def extent(self, axis):
        n = self.shape[axis]
        return E("ext", "i64", data=(self.name, axis)) if n is None else lit(n, "i64")


class Scope:
    def __init__(self, up=None):
        self.vars = list(up.vars) if up else []         # (name, type, may it be assigned)
        self.arrays = list(up.arrays) if up else []
        self.terms = list(up.terms) if up else []       # expressions that indices and conditions are made of
        self.loops = up.loops if up else 0
        self.function = up.function if up else None     # what a function returns


class Program:
    """A kernel's text, its Python, and what its parameters are."""

    def __init__(self, seed):
        self.seed, self.r = seed, Rng(seed)
        self.count, self.functions, self.consts, self.requires = 0, [], [], []
        self.rows, self.params, self.body, self.child = set(), [], [], False
        make(self)

    def name(self, stem):
        self.count += 1
        return f"{stem}{self.count}"

    def write(self):
        out = Out()
        for name, t, values in self.consts:
            out.line(f"const {name}: {t}[] = [{', '.join(map(str, values))}]")
            out.py(f"{name} = Array({values!r}, {t!r}, ({len(values)},), {name!r})")
        if any(p[1] == "record" for p in self.params):
            out.line("record P { w: i32, at: i32[3] }")
        for f in self.functions:
            write_function(out, f)
        if self.child:
            write_child(out)
        write_kernel(out, self)
        self.text = "\n".join(out.lines) + "\n"
        self.python = "\n".join(out.python) + "\n"
        return self


def write_function(out, f):
    name, params, arrays, result, body = f
    given = [f"{p}: {t}" for p, t in params] + [f"{a.name}: {a.type}[]" for a in arrays]
    out.line(f"fn {name}({', '.join(given)}) -> {result} {{")
    out.py(f"def {name}(T, {', '.join([p for p, _ in params] + [a.name for a in arrays])}):")
    write_block(out, body)
    out.line("}")


def write_child(out):
    out.line("kernel child(row: i32[], n: i32, h: i32[]) {")
    out.py("def child(T, row, n, h):")
    e = E("load", "i32", [var("n", "i32")], "row")
    thread = E("thread", "i64", data="threadIdx.x")
    guard = compare("<", thread, E("ext", "i64", data=("row", 0)))
    inner = S("atomic", [E("load", "i32", [thread], "row"), lit(0, "i32")], data="h")
    write_block(out, [S("if", [guard], [[inner]]),
                      S("if", [compare("==", thread, lit(0, "i64"))], [[S("atomic", [e, lit(1, "i32")], data="h")]])])
    out.py("    if 0: yield")
    out.line("}")


def write_kernel(out, p):
    given = []
    for name, kind, t, ndim in p.params:
        given.append(f"{name}: {'P' if kind == 'record' else t}" + (f"[{',' * (ndim - 1)}]" if ndim else ""))
    out.line(f"kernel main({', '.join(given)}) {{")
    out.py(f"def main(T, {', '.join(x[0] for x in p.params)}):")
    out.depth = out.deep = 1
    for e in p.requires:
        out.line(f"requires {out.seen(e)}")
    out.line("let tid = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * blockIdx.x)")
    out.py("tid = T.threadIdx_x + T.blockDim_x * (T.threadIdx_y + T.blockDim_y * T.blockIdx_x)")
    out.depth = out.deep = 0
    write_block(out, p.body)
    out.py("    if 0: yield")
    out.line("}")
    out.py(f"def allowed(T, {', '.join(x[0] for x in p.params)}):")
    out.py(f"    return {' and '.join([e.python() for e in p.requires] or ['True'])}")


# ---- Expressions ----

class Maker:
    def __init__(self, p, r):
        self.p, self.r = p, r

    def row(self, name):
        self.p.rows.add(name)

    def a_var(self, s, types=None, mutable=False):
        found = [v for v in s.vars if (types is None or v[1] in types) and (v[2] or not mutable)]
        return self.r.pick(found) if found else None

    def small(self):
        return self.r.pick((0, 1, 1, 2, 3, 4, 5, 7, 8, 8, 9, 15, 16))

    def leaf(self, s):
        """An integer."""
        r = self.r
        k = r.below(12)
        if k < 7:
            v = self.a_var(s, INTS)
            if v:
                return var(v[0], v[1])
        if k < 8 and s.arrays:
            a = r.pick(s.arrays)
            return E("ext", "i64", data=(a.name, r.below(len(a.shape)) if a.kind != "record" else -1))
        if k == 8:
            v = self.a_var(s, ("bool",))
            if v:
                self.row("an integer of a bool")
                return conv(var(v[0], "bool"), r.pick(ANY_INT))
        if k == 9:
            v = self.a_var(s, FLOATS)
            if v:
                self.row("an integer of a float")
                return conv(var(v[0], v[1]), r.pick(ANY_INT))
        if k == 10 and s.arrays:
            return self.loaded(s, 0)
        return E("thread", "i64", data=r.pick(("threadIdx.x", "threadIdx.x", "blockIdx.x", "blockDim.x", "gridDim.x",
                                                "threadIdx.y")))

    def integer(self, s, depth=2):
        r = self.r
        if depth <= 0 or r.chance(25):
            return self.leaf(s)
        a = self.integer(s, depth - 1)
        k = r.below(18)
        if k < 5:
            self.row(f"sum of {a.type}")
            return binary(r.pick("++-"), a, lit(r.pick((1, 1, 1, 2, 3, 5)), a.type))
        if k < 7:
            return binary(r.pick("+-*"), a, self.integer(s, depth - 1))
        if k == 7:
            op = r.pick(("%", "%", "//"))
            self.row(f"{op} of {a.type}")
            return binary(op, a, lit(r.pick((2, 3, 4, 8, 5)), a.type))
        if k == 8:
            op = r.pick("&&|^")
            self.row(f"{op} of {a.type}")
            return binary(op, a, lit(r.pick((1, 3, 7, 15)), a.type))
        if k in (9, 10):
            op = r.pick(("<<", ">>", ">>", ">>"))
            bits = int(a.type[1:])
            self.row(f"{op} of {a.type}")
            by = r.pick((1, 2, 3, bits - 1, bits - 2, bits - 3, bits - 4, 62 % bits))
            return E("bin", a.type, [a, lit(by, a.type)], op)
        if k in (11, 12):
            name = r.pick(("min", "max", "clamp", "clamp"))
            self.row(name)
            top = lit(self.small(), a.type)
            if s.arrays and r.chance(60):
                arr = r.pick(s.arrays)
                top = binary("-", arr.extent(0), lit(1, "i64"))
                top = E("conv", "i64", [top]) if top.kids[0].op == "lit" else top
            if name == "clamp":
                return call("clamp", conv(a, "i64"), lit(0, "i64"), conv(top, "i64"))
            return call(name, a, lit(0, a.type) if name == "max" else top)
        if k == 13:
            name = r.pick(("abs", "ceil_div", "selp"))
            self.row(name)
            if name == "abs":
                return E("call", a.type, [a], "abs") if a.type in SIGNED else a
            if name == "ceil_div":
                return call("ceil_div", a, lit(r.pick((2, 3, 4)), a.type))
            b = self.integer(s, depth - 1)
            return E("call", a.type, [self.condition(s, 0), a, conv(b, a.type)], "selp")
        if k == 14:
            self.row("a if c else b")
            return E("cond", a.type, [self.condition(s, 0), a, conv(self.integer(s, depth - 1), a.type)])
        if k in (15, 16):
            t = r.pick(ANY_INT)
            self.row(f"{a.type} to {t}")
            return E("conv", t, [a])
        return self.called(s) or a

    def called(self, s):
        if not self.p.functions or s.function:
            return None
        f = self.r.pick(self.p.functions)
        arrays = []
        for a in f[2]:
            fit = [x for x in s.arrays if x.type == a.type and len(x.shape) == 1 and x.kind != "record"]
            if not fit:
                return None
            arrays.append(self.r.pick(fit).name)
        self.row("a function")
        args = [conv(self.term(s), t) for _, t in f[1]]
        call_ = E("fn", f[3], args, (f[0], arrays, [a.name for a in f[2]]))
        return conv(call_, "i32") if f[3] == "bool" else call_

    def term(self, s):
        """What is used over and over."""
        if s.terms and self.r.chance(65):
            return self.r.pick(s.terms).copy()
        e = self.leaf(s) if self.r.chance(45) else self.integer(s, self.r.pick((1, 1, 2)))
        if not any(x.op in ("load", "rows", "fn", "field", "sum") for x in e.walk()):
            s.terms.append(e.copy())
        return e

    def near(self, s, a, axis):
        """An index."""
        r = self.r
        e = self.term(s)
        if r.chance(12):
            n = a.extent(axis)
            if n.op == "lit":
                e = binary(r.pick(("%", "%", "&")), e, lit(n.data, "i64")) if n.data else e
            else:
                e = binary("%", conv(e, "i64"), n)
        elif r.chance(15):
            e = binary(r.pick("+-"), e, lit(1, e.type))
        elif r.chance(5):
            n = a.extent(axis)
            e = binary("-", n if n.op != "lit" else E("conv", "i64", [n]), conv(e, "i64"))
        if all(x.op not in ("var", "thread", "ext", "load", "fn", "field", "sum") for x in e.walk()):
            e = E("thread", "i64", data="threadIdx.x")
        return e

    def loaded(self, s, depth=1):
        """An element of an array, as an integer."""
        r = self.r
        a = r.pick(s.arrays)
        if a.kind == "record":
            self.row("a field")
            if r.chance(40):
                return E("field", "i32", [self.near(s, a, 0)], (a.name, "w"))
            return E("field", "i32", [self.near(s, a, 0), self.near(s, A("", "i32", (3,), ""), 0)], (a.name, "at"))
        if len(a.shape) == 2 and r.chance(15):
            self.row("a[i][j]")
            e = E("rows", a.type, [self.near(s, a, 0), self.near(s, a, 1)], a.name)
        elif len(a.shape) == 1 and a.type in INTS and r.chance(6):
            self.row("sum of a view")
            return E("sum", "u64" if a.type in UNSIGNED else "i64", data=a.name)
        else:
            self.row(f"a load of {len(a.shape)} axes, {a.type}")
            e = E("load", a.type, [self.near(s, a, k) for k in range(len(a.shape))], a.name)
        return e if e.type in INTS else conv(e, r.pick(("i32", "i64", "u32")))

    def far(self, e):
        """e and a constant near the ends of its type, or as a u64 and near the end of that."""
        r = self.r
        e = conv(e, "u64") if e.type in UNSIGNED and r.chance(75) else e
        self.row(f"a constant near the ends of {e.type}")
        top, bottom = greatest(e.type), least(e.type)
        by = r.pick((0, 0, 1, 3, 9))
        return compare(r.pick(("<", "<", "<=", ">", ">=", "!=")), e,
                       lit(r.pick((top - by, top - by, bottom + by, top // 2 + by)), e.type))

    def condition(self, s, depth=1):
        r = self.r
        k = r.below(12)
        if depth > 0 and k < 3:
            self.row(("and", "or")[k % 2])
            return E("logic", "bool", [self.condition(s, depth - 1), self.condition(s, depth - 1)],
                     ("and", "or")[k % 2])
        if depth > 0 and k == 3:
            self.row("not")
            return E("not", "bool", [self.condition(s, depth - 1)])
        if k == 4:
            v = self.a_var(s, ("bool",))
            if v:
                return var(v[0], "bool")
        if k == 5:
            v = self.a_var(s, FLOATS)
            if v:
                return E("cmp", "bool", [var(v[0], v[1]), lit(self.small(), v[1])], r.pick(("<", ">", "<=", ">=")))
        e = self.term(s)
        if k == 6:
            return compare(r.pick(("<", "<=", ">", ">=", "==", "!=")), e, self.term(s))
        if k == 7 and r.chance(50):
            return self.far(e)
        if s.arrays and r.chance(60):
            a = r.pick(s.arrays)
            n = a.extent(r.below(len(a.shape))) if a.kind != "record" else E("ext", "i64", data=(a.name, -1))
            return self.below(e, n)
        return compare(r.pick(("<", "<=", ">", ">=", "==", "!=")), e, lit(self.small(), e.type))

    def below(self, e, n):
        """e < n and the like."""
        r = self.r
        if r.chance(30) and e.type in SIGNED:
            self.row("0 <= i < n")
            e, n = (conv(e, "i64"), conv(n, "i64")) if n.op != "lit" else (e, lit(fitting(n.data, e.type), e.type))
            return E("chain", "bool", [lit(0, e.type), e, n], (r.pick(("<=", "<=", "<")), r.pick(("<", "<", "<="))))
        return compare(r.pick(("<", "<", "<", "<=", "!=")), e, n)

    def guard(self, s, indices, a):
        """A condition that might say that indices are inside."""
        made = None
        for axis, e in enumerate(indices):
            n = a.extent(axis)
            c = self.far(e.copy()) if e.type in UNSIGNED and self.r.chance(12) else self.below(e.copy(), n)
            if e.type in SIGNED and self.r.chance(50) and c.op == "cmp":
                c = E("logic", "bool", [compare(">=", e.copy(), lit(0, e.type)), c], "and")
            made = c if made is None else E("logic", "bool", [made, c], self.r.pick(("and", "and", "and", "or")))
        return made


# ---- Arguments ----

class Argument:
    """One array or number for a parameter."""

    def __init__(self, kind, t, shape=None, values=None, layout=None):
        self.kind, self.type, self.shape, self.values, self.layout = kind, t, shape, values, layout


def any_number(r, t):
    if t == "bool":
        return r.chance(50)
    if t == "u64" and r.chance(35):
        return (1 << 64) - 1 - r.below(1 << r.pick((1, 3, 4, 61, 63)))
    if t in FLOATS:
        return float(r.pick((0, 1, 2, 3, 5, 7, 8, 9, 12, 100, -1, -3))) + r.pick((0.0, 0.0, 0.5))
    k = r.below(100)
    if k < 76:
        return fitting(r.between(0, 9), t)
    if k < 88:
        return fitting(r.between(-4, 17), t)
    if k < 94:
        return fitting(r.pick((100, 127, 128, 255, 256, 1000, -128, -129)), t)
    return r.pick((least(t), greatest(t), greatest(t) - 1, greatest(t) - 5, greatest(t) // 2 + 1, least(t) + 1))


def arguments(p, r, layouts):
    """Arguments of a launch: (grid, block, {name: Argument})."""
    grid, block = r.pick((1, 1, 1, 2, 3)), p.block
    if p.child:
        grid = 1
    extents = [r.pick((1, 2, 3, 4, 5, 8, 8, 9, 10)) for _ in range(3)]
    made = {}
    for name, kind, t, ndim in p.params:
        if ndim == 0:
            made[name] = Argument("number", t, values=r.below(WAYS) if name == "way" else any_number(r, t))
            continue
        if kind == "out":
            shape = [grid * block[0] * block[1], K]
        else:
            shape = [r.pick(extents) if r.chance(75) else r.below(10) for _ in range(ndim)]
        count = 4 if kind == "record" else 1
        for n in shape:
            count *= n
        low = r.chance(60)          # elements that are likely to be indices
        values = [0 if kind == "out" else any_number(r, t) if not low or r.chance(10) or t in FLOATS or t == "bool"
                  else fitting(r.between(0, 7), t) for _ in range(count)]
        made[name] = Argument(kind, t, shape, values, layouts.get(name, "C"))
    return grid, block, made


def make(p):
    from bounds_stmt import Body
    r = p.r
    p.block = r.pick(BLOCKS)
    p.child = p.block == (1, 1) and r.chance(40)
    p.params = [(f"x{k}", "in", r.pick(ANY_INT), 1) for k in range(r.between(1, 2))]
    p.params += [("b", "in", r.pick(("i32", "i32", "i64", "u8")), 2)] if r.chance(60) or p.child else []
    p.params += [("c", "in", "i32", 2)] if r.chance(30) else []
    p.params += [("d", "in", "i32", 3)] if r.chance(20) else []
    p.params += [("f", "in", r.pick(("f32", "f64")), 1)] if r.chance(30) else []
    p.params += [("p", "record", "i32", 1)] if r.chance(30) else []
    p.params += [(f"n{k}", "number", r.pick(ANY_INT), 0) for k in range(r.between(1, 3))]
    p.params += [("m", "number", "u64", 0)] if r.chance(70) else []
    p.params += [("g", "number", r.pick(("f32", "f64")), 0)] if r.chance(50) else []
    p.params += [("q", "number", "bool", 0)] if r.chance(30) else []
    p.params += [("way", "number", "i32", 0), ("out", "out", "i64", 2), ("h", "own", "i32", 1)]
    Body(p, r).program()


__all__ = ["Program", "arguments", "write"]
