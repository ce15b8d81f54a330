"""Further kernels of the generator: that launch kernels, that take places and locks by atomics, and math functions."""
import scalars
import values
from build import (add, assign, atomic, binary, call, compare, cond, conv, do, extent, for_, if_, index, let, let_many,
                   lit, mul, name, negate, size, special, sub, sync, typed, update, view, while_)
from gen_kernel import KernelGen, Plan, random_plan
from scalars import FLOATS, INTS, SIGNED
from tree import Stmt, Tup, Var

# Section 15's bounds, in units in the last place: of f32 and of f64.
BOUNDS = {"rsqrt": (2, 2), "cbrt": (1, 1), "hypot": (2, 2), "exp": (2, 1), "exp2": (2, 1), "exp10": (2, 2),
          "expm1": (2, 2),
          "log": (2, 2), "log2": (1, 1), "log10": (1, 1), "log1p": (1, 1), "pow": (2, 2), "sin": (3, 2), "cos": (3, 2),
          "tan": (4, 2), "sinpi": (3, 2), "cospi": (2, 2), "asin": (1, 1), "acos": (2, 1), "atan": (2, 1),
          "atan2": (3, 2),
          "sinh": (3, 2), "cosh": (3, 2), "tanh": (3, 2), "asinh": (2, 2), "acosh": (2, 2), "atanh": (1, 1),
          "erf": (1, 1),
          "erfc": (1, 3), "gamma": (1, 12), "lgamma": (1, 4)}


def launching(r, options, program, kernel_name, palette):
    """Each thread launches a grid that works on its row, by itself or in parts."""
    width = r.between(1, 40)
    block = r.pick([1, 7, 8, 32, 33])
    inner = Plan((-(-width // block),), (block,))
    g = KernelGen(r.fork(), palette, options, program, [inner])
    g.scope[0] = [c for c in g.scope[0] if not c.get("filled")]
    i = Var("i", "i64", kept=True)
    g.names = 50
    own = [name(i)]
    g.numbers(r.between(0, 2))
    v = g.outputs(1, [[width]], lambda gen: own, [i])[0]
    g.scope += [[i], []]
    statements = g.statements(r.between(1, 3)) + g.last_stores([v])
    child = g.finish(f"{kernel_name}_child", [let(i, special("grid(1)")),
                                              if_(compare("<", name(i), size(name(v))), statements)])
    child.facts["plans"] = []
    child.requires.clear()
    child.attributes.clear()
    program.kernels.append(child)

    plans = [random_plan(r, 1, 40)]
    parent = KernelGen(r, palette, options, program, plans)
    row = Var("i", "i64", kept=True)
    out = parent.array(v.type.elem, 2, "o", [[max(1, plans[0].total - r.below(3)), width]], role=None)
    parent.inputs(1)
    parent.scope.append([row])
    halves = r.chance(30) and width > 1 and not any(p.get("const") for p in child.params)
    views = [view(name(out), ("i",), name(row))]
    if halves:
        views = [view(name(out), ("i", "s"), name(row), lit(2)),
                 view(name(out), ("i", "bs"), name(row), lit(1), lit(2))]
    body = []
    for w in views:
        args, names = [], []
        for p in child.params:
            if p is v:
                args.append(w)
                names.append(None)
            elif p.get("planned"):      # the child counts on it
                args.append(lit(inner.values[p.name]))
                names.append(p.name if p.get("const") else None)
            elif p.get("const"):
                if r.chance(50):
                    args.append(lit(r.chance(50)) if p.type == "bool" else lit(r.between(0, 9)))
                    names.append(p.name)
            else:
                parent.room = 8
                args.append(parent.calmly(lambda t=p.type: parent.value(t, 1)))
                names.append(None)
        grid = lit(inner.grid[0]) if r.chance(50) else call("ceil_div", "i64", extent(name(out), 1), lit(block))
        body.append(Stmt("launch", [grid, lit(block)] + args, (), (child, 1, 1, names)))
    parent.room = 8
    if r.chance(40):
        body = [if_(parent.bool(2), body)]
    guard = compare("<", name(row), extent(name(out), 0))
    return parent.finish(kernel_name, [let(row, special("grid(1)")), if_(guard, body)])


def places(r, options, program, kernel_name, palette):
    """Threads that take places in an array, one after the other, or a lock; and atomics on elements of their own."""
    plans = [random_plan(r, 1, 200)]
    g = KernelGen(r, palette, options, program, plans)
    total = plans[0].total
    i = Var("i", "i64", kept=True)
    g.inputs(1, [([[total]], [i])])
    t, own = r.pick(["i32", "u32", "i64", "u64"]), r.pick(["i32", "u32", "i64", "u64", "f16", "bf16", "f32", "f64"])
    count = g.array(t, 1, "count", [[r.between(1, 3)]], role=None)
    marks = g.array("i32", 1, "marks", [[total]], role=None)
    mine = g.array(own, 1, "o", [[total]], role="own", write=True, own=lambda gen: [name(i)])
    i.facts["inside"] = [(mine, 0)]
    count.facts["zero"] = marks.facts["zero"] = True
    g.scope += [[i], []]
    statements = g.statements(r.between(1, 3))
    g.room = 12
    place = Var("place", t)
    form = r.below(3)
    if form == 0:       # the old values are 0, 1, 2, ...: places of their own
        take = r.pick([lambda: atomic("add", name(count), lit(0), lit(1)),
                       lambda: atomic("inc", name(count), lit(0), typed(1 << 30, t)) if t[0] == "u" else
                       atomic("add", name(count), lit(0), lit(1))])
        statements.append(if_(g.bool(2), [let(place, take()), assign(index(name(marks), name(place)), lit(7))]))
    elif form == 1:     # a lock around what is no atomic
        done, old, free = Var("done", "bool"), count, lit(0)
        work = [update("+", index(name(marks), lit(0)), lit(1)), do(atomic("exch", name(old), lit(0), lit(0))),
                assign(name(done), lit(True))]
        take = r.pick([lambda: atomic("cas", name(old), lit(0), free, lit(1)),
                       lambda: atomic("compare_and_swap", name(old), free, lit(1)),
                       lambda: atomic("exch", name(old), lit(0), lit(1))])
        test = compare("==", take(), lit(0))
        statements.append(if_(g.bool(2), [let(done, lit(False), None, "var"),
                                          while_(negate(name(done)), [if_(test, work)])]))
    else:               # the last to come
        ticket = Var("ticket", t)
        statements += [update("+", index(name(mine), name(i)), lit(1)), do(sync("threadfence")),
                       let(ticket, atomic("add", name(count), lit(0), lit(1))),
                       if_(compare("==", name(ticket), lit(total - 1)), [assign(index(name(marks), lit(0)), lit(9))])]
    for _ in range(r.between(1, 3)):
        statements.append(own_atomic(g, mine, i))
    statements += g.last_stores([mine]) if r.chance(30) else []
    # Whole grids come here: no guard that could be wrong by a thread.
    kernel = g.finish(kernel_name, [let(i, special("grid(1)"))] + statements)
    kernel.facts["locks"] = form == 1
    return kernel


def own_atomic(g, v, i):
    """An atomic on the thread's own element gives the old value."""
    r = g.r
    t = v.type.elem
    g.room = 8
    forms = ["min", "max", "exch", "cas"]
    if t != "f32":      # a GPU adds without subnormal numbers
        forms += ["add", "sub"]
    if t in INTS:
        forms += ["and_", "or_", "xor"] + (["inc", "dec"] if t[0] == "u" else [])
    what = r.pick(forms)
    args = [g.operand(t, 1)]
    if what == "cas":   # bit for bit, and which bits a computed NaN has is unspecified
        args.insert(0, index(name(v), name(i)) if t in FLOATS or r.chance(50) else g.operand(t, 1))
    old = g.new(t, "v")
    e = atomic(what, name(v), name(i), *args)
    if r.chance(60):    # operands are evaluated from left to right, fused products or not
        cell = index(name(v), name(i))
        op = r.pick([add, sub])
        e = r.pick([lambda: op(cell, e), lambda: op(e, cell), lambda: op(cell, mul(e, cell)),
                    lambda: op(mul(e, cell), cell),
                    lambda: op(cell, mul(typed(2, t), e)), lambda: op(mul(cell, e), mul(cell, cell))])()
    s = let(old, e)
    g.declare(old)
    return s


def counting(r, options, program, kernel_name, palette):
    """Integers that go up or down along the threads, near the ends of their types and beyond, compared, converted,
    divided by, and as loops' variables, which end at each thread's own turn."""
    plan = random_plan(r, r.weighted([(2, 1), (1, 2)]), 260)
    g = KernelGen(r, palette, options, program, [plan])
    i = Var("i", "i64", kept=True)
    for t in (r.pick(INTS), "i32", "i64")[:r.between(1, 3)]:
        near = r.between(0, 30)
        values_ = [near, scalars.greatest(t) - near, scalars.least(t) + near if t in SIGNED else near]
        w = g.planned(t, [r.pick(values_)])
        w.facts["range"] = None     # sums of it may leave its type's range
    g.scope.append([i])
    statements = []
    for k in range(r.between(2, 5)):
        t, wide = r.pick(INTS + ("i32", "i64")), r.pick(("i64", "i64", "u64", "i32"))
        out = g.array(wide, 1, "o", [[plan.total]], role="own", write=True, own=lambda gen: [name(i)])
        target = index(name(out), name(i))
        g.room = options.room
        form = r.below(4)
        if form == 0:
            statements.append(assign(target, conv(wide, g.counted(t, 1))))
            continue
        if form == 1:
            e = g.counted(t, 1)
            other = r.pick([lambda: typed(r.between(0, 50), t), lambda: g.uniformly("grid", lambda: g.leaf(t))])()
            test = compare(r.pick(["<", "<=", ">", ">=", "==", "!="]), e, other)
            statements.append(assign(target, cond(conv(wide, g.counted(t, 1)), test, typed(7, wide))))
            continue
        g.scope.append([])
        t, bounds, reach, _ = g.range_of(r.pick([10, 11, 11]))
        j = g.declare(g.new(t, "j", range=reach))
        body = r.pick([lambda: update("+", target, mul(conv(wide, name(j)), lit(r.between(1, 5)))),
                       lambda: update("+", target, conv(wide, binary(r.pick(["//", "%"]), typed(
                           scalars.greatest(t) - r.below(100), t), name(j)))),
                       lambda: assign(target, conv(wide, add(name(j), lit(r.between(0, 1))))),
                       lambda: if_(compare(r.pick(["<", ">", ">="]), name(j), g.constant(t)),
                                   [update("+", target, lit(1))])])()
        g.scope.pop()
        statements.append(for_(j, bounds, [body]))
    row = add(mul(special("blockIdx.y"), special("blockDim.y")), special("threadIdx.y"))
    return g.finish(kernel_name, [let(i, add(special("grid(1)"), mul(special("gridsize(1)"), row)))] + statements)


def mathematics(r, options, program, kernel_name, palette):
    """Functions whose results have bounds, of exact arguments, in lanes that come and go; results are final."""
    plan = random_plan(r, 1, 260)
    g = KernelGen(r, palette, options, program, [plan])
    i = Var("i", "i64", kept=True)
    total = max(1, plan.total - r.below(4))
    t = r.pick(FLOATS)
    x = g.array(t, 1, "x", [[total]], role="in")
    y = g.array(t, 1, "y", [[total]], role="in")
    i.facts["inside"] = [(x, 0), (y, 0)]
    g.scope.append([i])
    statements, bounds = [], {}
    for _ in range(r.between(2, 5)):
        f = r.pick(sorted(BOUNDS))
        out = g.array(t, 1, "o", [[total]], role="own", write=True, own=lambda gen: [name(i)])
        target = index(name(out), name(i))
        a = index(name(x), name(i))
        if f == "lgamma":
            a = call("abs", t, a)
        elif r.chance(30):
            a = binary(r.pick("+-*"), a, typed(values.literal(r, t), t))
        args = [a, index(name(y), name(i))] if f in ("hypot", "pow", "atan2") else [a]
        e = binary("**", *args) if f == "pow" and r.chance(50) else call(f, t, *args)
        step = assign(target, e)
        if f in ("sin", "cos") and r.chance(40):
            s, c = Var(f"s{len(bounds)}_", t), Var(f"c{len(bounds)}_", t)
            step = Stmt("group", (), [[let_many([s, c], call("sincos", Tup([t, t]), a)),
                                       assign(target, name(s if f == "sin" else c))]])
        if r.chance(40):
            step = if_(g.bool(2), [step])
        statements.append(step)
        bound = BOUNDS[f][t == "f64"]
        # The reference has an error of its own, and rounds once more.
        bounds[out.name] = bound + (2.0 if f in ("gamma", "lgamma", "sinpi", "cospi") and t == "f64"
                                    else 1.0) if t == "f64" else \
            bound + 0.51 if t == "f32" else 1.0
    kernel = g.finish(kernel_name, [let(i, special("grid(1)")), if_(compare("<", name(i), size(name(x))), statements)])
    kernel.facts["bounds"] = bounds
    return kernel
