"""The generator's kernels whose threads work by themselves: each has elements of its own.

A plan says which launches there will be before the kernel is made, so that the ranges of all indices are known. What an
array parameter is used for is its role: 'in' (read anywhere), 'own' (each thread its own elements), 'atomic'."""
import values
from build import (add, assign, binary, call, compare, cond, conv, extent, for_, if_, index, let, let_many, lit, logic,
                   mod, mul,
                   name, return_, size, special, sub, update, view)
from gen_stmt import Statements
from scalars import FLOATS, INTS, REALS
from tree import Arr, Kernel, Var, walk

BLOCKS_1D = [1, 2, 3, 7, 8, 9, 16, 17, 24, 31, 32, 33, 40, 41, 48, 63, 64, 65, 96, 97, 128, 160, 200, 255, 256, 257]
BLOCKS_2D = [(8, 4), (5, 3), (9, 2), (32, 2), (16, 16), (33, 2), (1, 17), (7, 7), (31, 3), (64, 2), (2, 32), (3, 1), (16, 6),
             (48, 2)]
BLOCKS_3D = [(5, 3, 2), (4, 4, 4), (1, 1, 8), (32, 1, 2), (7, 2, 3), (3, 5, 1), (2, 16, 3), (16, 2, 2)]


class Plan:
    """A launch: grid and block (x first), and the extents of the arrays by parameter name."""
    coverage = None

    def __init__(self, grid, block):
        self.grid, self.block, self.extents, self.values = grid, block, {}, {}

    def along(self, k):
        """The number of threads along an axis."""
        return (self.grid[k] if k < len(self.grid) else 1) * (self.block[k] if k < len(self.block) else 1)

    @property
    def threads(self):
        n = 1
        for b in self.block:
            n *= b
        return n

    @property
    def total(self):
        n = self.threads
        for g in self.grid:
            n *= g
        return n


def random_plan(r, dims, most=400):
    while True:
        block = (r.pick(BLOCKS_1D),) if dims == 1 else r.pick(BLOCKS_2D) if dims == 2 else r.pick(BLOCKS_3D)
        grid = tuple(r.weighted([(4, 1), (4, 2), (2, 3), (1, 5)]) if k < dims else 1 for k in range(dims))
        plan = Plan(grid, block)
        if plan.total <= most:
            return plan


def ranges(plans):
    """What threadIdx.x and so on may be in these launches."""
    bounds = {}
    for k, axis in enumerate("xyz"):
        def most(f):
            return max(f(p) for p in plans)
        def of(p, what, k=k):
            return what[k] if k < len(what) else 1
        b, g = most(lambda p: of(p, p.block)), most(lambda p: of(p, p.grid))
        bounds[f"threadIdx.{axis}"] = (0, b - 1)
        bounds[f"blockIdx.{axis}"] = (0, g - 1)
        bounds[f"blockDim.{axis}"] = (min(of(p, p.block) for p in plans), b)
        bounds[f"gridDim.{axis}"] = (min(of(p, p.grid) for p in plans), g)
    bounds["grid(1)"] = (0, max(p.along(0) for p in plans) - 1)
    bounds["warpsize"] = (32, 32)
    bounds["gridsize(1)"] = (1, max(p.along(0) for p in plans))
    return bounds


def every(index_var, scale, first):
    """scale * i + first"""
    def own(gen):
        e = mul(name(index_var), lit(scale))
        return [add(e, lit(first)) if first else e]
    return own


class KernelGen(Statements):
    def __init__(self, r, palette, options, program, plans):
        super().__init__(r, palette, options)
        self.functions, self.records = program.functions + program.std_functions, program.records
        self.program = program
        self.plans = plans
        self.bounds = ranges(plans)
        if r.chance(12):
            self.bounds["laneid"] = (0, 31)
        self.params = []
        self.requires = []
        self.scope[0] += program.constants + program.members()

    def std_used(self, library):
        self.program.libraries.setdefault(library, library if self.r.chance(50) else f"std_{library}")

    # ---- Parameters ----

    def param(self, t, prefix, **facts):
        self.names += 1
        var = Var(f"{prefix}{self.names}", t, **facts)
        self.params.append(var)
        self.scope[0].append(var)
        return var

    def array(self, t, dims, prefix, extents, **facts):
        """An array parameter; `extents` has the shape for each launch."""
        var = self.param(Arr(t, dims), prefix, use=facts["role"], **facts)      # the role may change at barriers
        for plan, shape in zip(self.plans, extents):
            plan.extents[var.name] = tuple(shape)
        # Where there are no elements no thread comes to an index of them.
        var.facts["least"] = tuple(max(1, min(e[k] for e in extents)) for k in range(dims))
        var.facts["most"] = tuple(max(e[k] for e in extents) for k in range(dims))
        var.facts["global"] = True
        var.facts["in_order"] = dims > 1 and self.r.chance(25)      # which is what launches give
        return var

    def first_values(self):
        """Elements of the inputs as variables, so that there is something to compute with."""
        r = self.r
        statements = []
        arrays = [p for p in self.params if isinstance(p.type, Arr) and p.get("role") == "in"]
        for v in r.shuffled(arrays)[:r.between(1, 3)]:
            mutable = r.chance(60)
            w = self.new(v.type.elem, mutable=mutable)
            self.room = 6
            statements.append(let(w, self.element(v), None, "var" if mutable else "let"))
            self.declare(w)
        return statements + self.for_ticks() + self.for_copies()

    def inputs(self, count, shapes=()):
        """Arrays that are only read; `shapes` has extents that thread indices fit in, for some of them."""
        r = self.r
        special = self.special()
        for _ in range(count):
            t = r.pick(special) if special and r.chance(25) else self.of()
            fitting = r.pick(shapes) if shapes and r.chance(50) else None
            if fitting:
                extents, inside = fitting
                dims = len(extents[0])
            else:
                dims, inside = r.weighted([(10, 1), (6, 2), (2, 3), (1, 4), (1, 5)]), ()
                most = {1: 61, 2: 7, 3: 6, 4: 4, 5: 3}[dims]
                extents = [[r.pick([1, 2, 3, 4, 5, 7, 8, 16, 17, 32, 33, 61]) if dims == 1 else r.between(1, most)
                            for _ in range(dims)] for _ in self.plans]
            scale, more = 1, 0
            if inside and dims == 1 and r.chance(40):
                scale, more = r.between(1, 3), r.below(5)
                extents = [[e[0] * scale + more] for e in extents]
            var = self.array(t, dims, "x", extents, role="in", uniform="grid", strides=r.chance(20))
            for k, index_var in enumerate(inside):
                index_var.facts.setdefault("inside", []).append((var, k))
                if dims == 1:
                    var.facts["affine"] = (index_var, scale, more)

    def numbers(self, count):
        """Scalar parameters, and now and then a const one."""
        r = self.r
        for _ in range(count):
            t = self.of()
            if isinstance(t, str) and t in REALS + ("bool",) and r.chance(30):
                default = lit(r.chance(50)) if t == "bool" else lit(values.literal(r, t)) if t in INTS else lit(0.5)
                if t in FLOATS:
                    t, default = "i32", lit(r.between(0, 9))
                self.param(t, "C", const=True, default=default, uniform="grid")
            elif r.chance(20):
                self.planned(r.pick(["i32", "i64", "u8", "i16"]), [r.between(1, 12) for _ in self.plans], r.chance(70))
            elif r.chance(10):
                self.param(self.tuple_type(), "s", uniform="grid")
            elif r.chance(20):      # a variable of each thread
                self.param(t, "s", mutable=True)
            else:
                self.param(t, "s", uniform="grid")

    def planned(self, t, wanted, const=False):
        """A parameter with a value that is decided now, for each launch, so that it may be an extent."""
        facts = {"const": True, "default": lit(wanted[0])} if const else {}
        var = self.param(t, "N", uniform="grid", range=(min(wanted), max(wanted)), planned=True, **facts)
        for plan, x in zip(self.plans, wanted):
            plan.values[var.name] = x
        return var

    def atomics(self, count):
        r = self.r
        for _ in range(count):
            kind = r.pick(["sum", "sum", "min", "max", "and", "or", "xor", "inc", "dec"])
            allowed = ["u32", "u64"] if kind in ("inc", "dec") else ["i32", "u32", "i64", "u64"]
            t, field = r.pick(allowed), None
            fields = [(x, f) for x in self.records if not x.packed
                      for f, ft, n in x.fields if n is None and ft in allowed]
            if fields and r.chance(50):
                t, field = r.pick(fields)
            elif kind in ("sum", "min", "max") and r.chance(35) and (kind == "sum" or not self.off("zeros")):
                t = r.pick(FLOATS)
            dims = r.weighted([(4, 1), (1, 2)])
            extents = [[r.between(1, 9) for _ in range(dims)] for _ in self.plans]
            var = self.array(t, dims, "tally", extents, role="atomic", kind=kind, limit=r.between(1, 20), field=field)
            if kind in ("min", "max") and t in INTS and r.chance(35):   # in one sign for all threads
                var.facts["counted_as"] = ("u" if t[0] == "i" else "i") + t[1:]

    def outputs(self, count, extents, own, inside):
        """Arrays of which each thread has its own elements, at the indices that own gives."""
        r = self.r
        result = []
        for k in range(count):
            t = self.of()
            if k == 0 and r.chance(50):
                t = r.pick([p for p in self.palette if isinstance(p, str) and p in REALS] or ["i32"])
            shape, mine = extents, own
            if k and len(inside) == 1 and r.chance(25):     # every so manieth element
                scale, first, more = r.between(2, 3), r.below(2), r.below(3)
                shape = [[e[0] * scale + more] for e in extents]
                mine = every(inside[0], scale, first)
            var = self.array(t, len(extents[0]), "o", shape, role="own", write=True, own=mine, strides=r.chance(20))
            for d, index_var in enumerate(inside):
                index_var.facts.setdefault("inside", []).append((var, d))
            result.append(var)
        return result

    # ---- Bodies ----

    def last_stores(self, outputs):
        """What the body has computed, written where it can be seen."""
        r = self.r
        statements = []
        for v in outputs:
            target = index(name(v), *v.get("own")(self))
            t = v.type.elem
            statements.append(assign(target, self.full(t, 2)))
            if isinstance(t, str) and t in REALS:
                seen = [w for w in self.visible() if w.type == t and w.get("uniform") is None and not w.get("inside")]
                for w in r.shuffled(seen)[:3]:
                    self.room = 10
                    if t in INTS:
                        statements.append(update(r.pick(["+", "^", "-", "*"]), index(name(v), *v.get("own")(self)),
                                                 name(w)))
                    elif r.chance(50):
                        test = compare("==", name(w), name(w))      # a NaN would hide the rest
                        statements.append(update(r.pick("+-*"), index(name(v), *v.get("own")(self)),
                                                 cond(name(w), test, lit(1.5))))
        return statements

    def finish(self, kernel_name, body):
        attributes = []
        r = self.r
        if r.chance(6):
            most = r.pick([256, 512, 1024]) if max(p.threads for p in self.plans) <= 256 else 1024
            attributes.append(f"@launch_bounds({most})")
        if r.chance(3):
            attributes.append("@max_registers(64)")
        if r.chance(15):
            self.require()
        params = self.params[:]
        if r.chance(30):
            r.shuffle(params)
        params.sort(key=lambda p: bool(p.get("const")))
        kept = range(r.pick([8, 14, 20, 28])) if r.chance(8) else ()
        return Kernel(kernel_name, params, body, (), self.requires, attributes, kept, plans=self.plans)

    def require(self):
        """Conditions that all launches keep to."""
        r = self.r
        v = r.pick([p for p in self.params if isinstance(p.type, Arr)])
        k = r.below(v.type.dims)
        what = extent(name(v), k)
        least, most = min(p.extents[v.name][k] for p in self.plans), v.get("most")[k]
        test = compare(r.pick([">=", "=="]) if least == most else ">=", what, lit(least))
        if r.chance(40):
            test = logic("and", test, compare("<=", special("blockDim.x"), lit(self.bounds["blockDim.x"][1])))
        self.requires.append(test)


def elementwise(r, options, program, kernel_name, palette):
    """A kernel of one, two or three dimensions of threads, each with an element of each output."""
    dims = r.weighted([(5, 1), (3, 2), (1, 3)])
    plans = [random_plan(r, dims) for _ in range(r.weighted([(3, 1), (2, 2)]))]
    g = KernelGen(r, palette, options, program, plans)
    g.approximate = options.approximate
    g.prints = not g.approximate and max(p.total for p in plans) <= 100 and r.chance(25)
    names = [Var(n, "i64", kept=True) for n in "xyz"[:dims]]
    if dims == 1:
        names[0].name = "i"
    strided = dims == 1 and r.chance(25)
    exact = not strided and r.chance(20)    # an element for each thread: none is left out, and no condition says so
    extents = []
    for plan in plans:
        shape = []
        for k in reversed(range(dims)):
            n = plan.along(k)
            shape.append(n if exact else max(1, n - r.below(max(n // 4, 2)) if r.chance(60) else n if r.chance(40) else
                             min(n + (r.below(n) + 1 if strided or r.chance(30) else 0), 300)))
        if not exact and r.chance(4):
            shape[r.below(dims)] = 0
        extents.append(shape)
    axes = list(reversed(names))
    g.numbers(r.between(0, 2))
    g.atomics(r.weighted([(2, 0), (1, 1), (1, 2)]))
    g.inputs(r.between(1, 3), [(extents, axes)])
    own_forms = r.below(6)
    mirrored = own_forms == 0

    def own(gen):
        """In the order of the array's dimensions."""
        if mirrored:
            return [sub(sub(extent(name(outputs[0]), 0), lit(1)), name(axes[0]))] + [name(a) for a in axes[1:]]
        return [name(a) for a in axes]
    outputs = []
    outputs += g.outputs(r.between(1, 3), extents, own, axes)
    first = name(outputs[0])
    g.scope.append([])
    for n in names:
        g.declare(n)
    if dims == 1:
        one = name(names[0])
        limit = r.pick([lambda: size(first), lambda: extent(first, 0)])
        start = r.pick([lambda: special("grid(1)"), lambda: add(mul(special("blockIdx.x"), special("blockDim.x")),
                                                                special("threadIdx.x"))])
        outside = compare(">=", one, limit())
        inside = compare("<", one, limit())
        decls = [let(names[0], start())]
        if r.chance(15) and not strided:
            names[0].type = "i32"
            decls = [let(names[0], conv("i32", start()))]
            outside, inside = compare(">=", name(names[0]), limit()), compare("<", name(names[0]), limit())
    else:
        parts = [compare("<", name(a), extent(first, k)) for k, a in enumerate(axes)]
        inside = logic("and", *parts)
        outside = logic("or", *[compare(">=", name(a), extent(first, k)) for k, a in enumerate(axes)])
        decls = [let_many(names, special(f"grid({dims})"))]
    g.may_return = not strided or True
    header = [n for d in decls for n in walk(d)]
    if strided:
        g.scope.append([])
        count = r.between(2, options.statements)
        body = g.looped(lambda: g.first_values() + g.statements(count) + g.last_stores(outputs), 2)
        loop = for_(names[0], [decls[0].args[0], size(first), special("gridsize(1)")], body)
        return independent(g.finish(kernel_name, [loop]), header + loop.args, extents, True)
    g.scope.append([])
    statements = g.first_values() + g.statements(r.between(2, options.statements)) + g.last_stores(outputs)
    if exact:
        return g.finish(kernel_name, decls + statements)
    if r.chance(40):
        body = decls + [if_(outside, [return_()])] + statements
    else:
        body = decls + [if_(inside, statements)]
    return independent(g.finish(kernel_name, body), header, extents, False)


def independent(kernel, header, extents, strided):
    """Notes how many threads each launch needs, if nothing but the indices at the kernel's head depends on grid and
    block."""
    known = {id(n) for n in header}
    depends = [n for n in walk(kernel.body) if n.op in ("special", "apply") or n.op == "call" and n.data == "print"]
    if kernel.requires or kernel.attributes or any(id(n) not in known for n in depends):
        return kernel
    if strided and any(n.op in ("break", "return") for n in walk(kernel.body)):
        return kernel       # how many elements a thread leaves out is a matter of the grid
    for plan, shape in zip(kernel.facts["plans"], extents):
        need = list(reversed(shape))
        if strided or all(n <= plan.along(k) for k, n in enumerate(need)):
            plan.coverage = need
    return kernel


def rows(r, options, program, kernel_name, palette):
    """A thread a row (or column) of a matrix, through views and functions that take arrays."""
    plans = [random_plan(r, 1, 130) for _ in range(r.weighted([(3, 1), (1, 2)]))]
    g = KernelGen(r, palette, options, program, plans)
    by_column = r.chance(35)
    i = Var("i", "i64", kept=True)
    extents = []
    for plan in plans:
        length, width = max(1, plan.total - r.below(4)), r.between(1, 9)
        extents.append([width, length] if by_column else [length, width])
    g.numbers(r.between(0, 1))
    g.inputs(r.between(1, 2), [(extents, (Var("unused", "i64"), i) if by_column else (i, Var("unused", "i64")))])
    t = g.of()
    out = g.array(t, 2, "o", extents, role=None)
    w = Var("row", Arr(t, 1), role="in", write_any=True, least=(min(e[0 if by_column else 1] for e in extents),),
            most=(max(e[0 if by_column else 1] for e in extents),), kept=True)
    g.scope.append([i])
    forms, args = (("-", "i"), [name(i)]) if by_column else (("i",), [name(i)])
    bind = let(w, view(name(out), forms, *args))
    g.scope.append([w])
    # The own elements of other outputs.
    shape = [[e[1 if by_column else 0]] for e in extents]
    outputs = g.outputs(r.between(0, 1), shape, lambda gen: [name(i)], [i])
    g.may_return = True
    body = g.first_values() + g.statements(r.between(2, options.statements))
    least, most = w.get("least")[0], w.get("most")[0]
    if least == most and t in REALS and r.chance(60):
        target = view(name(out), forms if by_column or r.chance(50) else ("i", "-"), *args)
        body.append(g.row_assigned(target, w, least))
    j = Var("j", "i64", kept=True, inside=[(w, 0)])
    g.scope.append([j])
    inner = g.looped(lambda: g.block(r.between(0, 2), last=lambda: [assign(index(name(w), name(j)), g.full(t, 2))]), 4)
    g.scope.pop()
    body.append(for_(j, [extent(name(w), 0)], inner))
    body += g.last_stores(outputs)
    k = 1 if by_column else 0
    guard = compare("<", name(i), extent(name(out), k))
    return g.finish(kernel_name, [let(i, special("grid(1)")), if_(guard, [bind] + body)])


def generic(r, options, program, kernel_name, palette):
    """A kernel for all types of a bound, launched with one or two of them."""
    bound = r.pick(["int", "float", "number"])
    plans = [random_plan(r, 1, 150) for _ in range(2)]
    g = KernelGen(r, palette, options, program, plans)
    extents = [[max(1, p.total - r.below(3))] for p in plans]
    i = Var("i", "i64", kept=True, range=None)
    types = [r.pick(g.types_of_bound(bound)) for _ in plans]
    x = g.array("T", 1, "x", extents, role="in")
    s = g.param("T", "s")
    out = g.array("T", 1, "o", extents, role="own", write=True, own=lambda gen: [name(i)])
    for plan, t in zip(plans, types):
        plan.types = {"T": t}
    body = GenericBody(r, bound, g.functions)
    body.leaves = [lambda: index(name(x), name(i)), lambda: name(s),
                   lambda: index(name(x), mod(add(name(i), lit(r.between(1, 9))), extent(name(x), 0)))]
    statements = []
    for _ in range(r.between(1, 4)):
        statements.append(body.statement(g))
    statements.append(assign(index(name(out), name(i)), body.value(3)))
    kernel = g.finish(kernel_name, [let(i, special("grid(1)")),
                                    if_(compare("<", name(i), size(name(out))), statements)])
    kernel.generics = [("T", bound)]
    return kernel


class GenericBody:
    """Expressions of a generic type: what all types of its bound have."""

    def __init__(self, r, bound, functions=()):
        self.r, self.bound, self.leaves = r, bound, []
        self.functions = [f for f in functions if f.generics and f.generics[0][1] == bound and f.results == "T"
                          and all(p.type == "T" for p in f.params)]
        self.names = 0

    def statement(self, g):
        r = self.r
        g.names += 1
        v = Var(f"g{g.names}", "T")
        mutable = r.chance(60)
        s = let(v, self.value(3), None, "var" if mutable else "let")
        if not mutable:
            self.leaves.append(lambda: name(v))
            return s
        j = Var(f"k{g.names}", "i32")
        self.leaves.append(lambda: name(v))
        op = r.pick("+-*")
        from build import group
        return group(s, for_(j, [lit(r.between(1, 4))], [update(op, name(v), self.value(2))]))

    def value(self, depth):
        r = self.r
        if depth <= 0 or r.chance(15):
            return r.pick(self.leaves)() if r.chance(80) else conv("T", lit(r.between(0, 100)))
        d = depth - 1
        forms = [(6, lambda: binary(r.pick("+-*"), *self.pair(d))), (1, lambda: binary("**", self.value(d), lit(2))),
                 (2, lambda: call(r.pick(["min", "max"]), "T", *self.pair(d))),
                 (1, lambda: call("abs", "T", self.value(d))),
                 (2, lambda: cond(self.value(d), compare(r.pick(["<", "==", ">="]), *self.pair(d)), self.value(d))),
                 (1, lambda: call("clamp", "T", self.value(d), self.value(d), self.value(d))),
                 (1, lambda: call("selp", "T", compare("<", *self.pair(d)), *self.pair(d)))]
        if self.functions:
            f = r.pick(self.functions)
            from build import apply
            forms.append((2, lambda: apply(f, *[self.value(d) for _ in f.params])))
        if self.bound == "int":
            forms += [(3, lambda: binary(r.pick(["//", "%", "&", "|", "^"]), *self.pair(d))),
                      (1, lambda: binary(r.pick(["<<", ">>"]), self.value(d), lit(r.between(0, 9)))),
                      (1, lambda: call(r.pick(["popc", "clz", "ffs", "brev"]), "T", self.value(d)))]
        if self.bound == "float":
            forms += [(3, lambda: binary("/", *self.pair(d))), (1, lambda: call("fma", "T", *[self.value(d)] * 3)),
                      (1, lambda: call(r.pick(["sqrt", "floor", "rint"]), "T", self.value(d))),
                      (3, lambda: binary(r.pick("+-"), mul(*self.pair(d)), self.value(d)))]
        return r.weighted(forms)()

    def pair(self, depth):
        r = self.r
        a, b = self.value(depth), self.value(depth) if r.chance(75) else lit(r.between(0, 100))
        return (a, b) if r.chance(70) else (b, a)
