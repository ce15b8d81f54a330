"""The generator's kernels whose threads work together: shared memory, barriers, warps, barriers of the grid.

An array that threads share has a role that changes only at a barrier: 'in' (all may read it), 'own' (each thread reads
and writes its own elements), 'one' (one thread has all of it) or 'atomic'. So there are no races. What decides about
barriers is uniform: made of what all threads of the block (or grid) have in common."""
import math

import scalars
from build import (add, apply, assign, binary, call, compare, cond, do, extent, for_, group, if_, index, let, lit,
                   logic,
                   memory, mod, mul,
                   name, negate, return_, size, special, sub, sync, update, view, warp, while_)
from gen_kernel import KernelGen, random_plan
from gen_library import BlockLibrary
from gen_warp import Warps
from scalars import FLOATS, INTS, REALS
from tree import Arr, Expr, Function, Rec, Stmt, Var, Vec, has_packed

ATOMIC_TYPES = ("i32", "u32", "i64", "u64")


def in_many_bytes(t):
    """Is it a record of which so much is accessed byte by byte that its code takes long to compile?"""
    return isinstance(t, Rec) and t.slots > 12 and (t.packed or has_packed(t))


class BlockGen(BlockLibrary, Warps, KernelGen):
    def __init__(self, r, palette, options, program, plans):
        super().__init__(r, palette, options, program, plans)
        self.may_return = False
        self.partial = False        # may threads have returned?
        self.left = None            # what they stored to before
        self.phased = []            # (array, the barrier that changes its role: 'block' or 'grid')
        self.t = Var("t", "i64", kept=True, range=(0, max(p.threads for p in plans) - 1))
        self.barriers = 0
        self.sized = None           # a parameter that is a shared array's size
        self.width = None           # of this thread's warp, where lanes are asked for

    # ---- The thread's number, and arrays with an element for each ----

    def thread_count(self):
        flat = all(len(p.block) == 1 for p in self.plans)
        dims = [special(f"blockDim.{a}") for a in ("x" if flat else "xyz")]
        e = dims[0]
        for d in dims[1:]:
            e = mul(e, d)
        return e

    def begin(self):
        """let t = ..."""
        r = self.r
        if all(len(p.block) == 1 for p in self.plans):
            e = special("threadIdx.x")
        else:
            e = add(special("threadIdx.x"), mul(special("blockDim.x"), add(special("threadIdx.y"), mul(
                special("blockDim.y"), special("threadIdx.z")))))
        self.scope.append([self.t])
        statements = [let(self.t, e)]
        if r.chance(30):
            self.t.type = "i32"
            statements = [let(self.t, Expr("conv", "i32", [e]))]
        if r.chance(35):
            statements.append(self.prepare_warps())
        return statements

    def prepare_warps(self):
        self.bounds["laneid"] = (0, 31)
        self.width = Var("lanes", "i64", kept=True, range=(1, 32))
        e = call("min", "i64", lit(32), sub(self.thread_count(), sub(name(self.t), special("laneid"))))
        self.scope[-1].append(self.width)
        if self.r.chance(80):
            return let(self.width, e)
        here = self.new("u32", "m")
        self.scope[-1].append(here)
        # Of the others nothing is known.
        mine = binary("&", binary(">>", warp("activemask"), special("laneid")), lit(1))
        return group(let(self.width, e), let(here, mine))

    def shared_array(self):
        """Declares one and writes all of it."""
        r = self.r
        t = self.of()
        least, most = min(p.threads for p in self.plans), max(p.threads for p in self.plans)
        if not isinstance(t, str) and r.chance(60):
            t = "f32"
        own = lambda gen: [name(self.t)]
        form = r.below(8)
        wide = 1
        long = [p for p in self.params if isinstance(p.type, Arr) and p.get("least")[0] >= most
                and p.get("most")[0] < 400]
        if form == 0:
            shape, low, high = [lit(most + r.below(4))], [most], [most + 4]
            low = [shape[0].data]
            high = low
        elif form == 1:
            extra = r.between(1, 5)
            shape, low, high = [add(self.thread_count(), lit(extra))], [least + extra], [most + extra]
        elif form == 2 and all(len(p.block) == 2 for p in self.plans):
            shape = [special("blockDim.y"), special("blockDim.x")]
            low = [min(p.block[1] for p in self.plans), min(p.block[0] for p in self.plans)]
            high = [max(p.block[1] for p in self.plans), max(p.block[0] for p in self.plans)]
            own = lambda gen: [special("threadIdx.y"), special("threadIdx.x")]
        elif form == 3 and most <= 130:
            wide = r.between(2, 3)
            shape, low, high = [mul(self.thread_count(), lit(wide))], [least * wide], [most * wide]
            own = lambda gen: [name(self.t) if gen.r.chance(50) else
                               add(name(self.t), mul(self.thread_count(), lit(gen.r.below(wide))))]
        elif form == 6 and self.sized is None:
            low = high = [most + r.below(5)]
            self.sized = self.planned(r.pick(["i32", "i64"]), low * len(self.plans), r.chance(30))
            shape = [name(self.sized)]
        elif form == 7 and long:
            v = r.pick(long)
            shape, low, high = [extent(name(v), 0)], [v.get("least")[0]], [v.get("most")[0]]
        else:
            shape, low, high = [self.thread_count()], [least], [most]
        size_bound = math.prod(high) * (scalars.BITS.get(t, 128) if isinstance(t, str) else 32 * t.slots) // 8
        if size_bound > 6000 or len(self.phased) > 4 or in_many_bytes(t):
            return None
        v = self.new(Arr(t, len(shape)), "sh", role=None, least=tuple(low), most=tuple(high), own=own, write=True)
        v.facts["strides"] = r.chance(20)
        statements = [memory(v, "shared", shape, r.pick([None, None, None, 16, 32, 64]))]
        one_each = len(shape) == 2 or str(shape[0]) == str(self.thread_count())
        if one_each:
            target = own(self) if len(shape) == 2 else [name(self.t)]
            statements.append(assign(index(name(v), *target), self.full(t, 2)))
        else:
            k = Var(f"k{self.names}", "i64", range=(0, high[0] - 1))
            self.scope.append([k])
            body = [assign(index(name(v), name(k)), self.full(t, 1))]
            self.scope.pop()
            statements.append(for_(k, [name(self.t), size(name(v)), self.thread_count()], body))
        v.facts.update(role="own", kind=r.pick(["sum", "min", "max", "xor"]), limit=9)
        if not one_each:
            v.facts["own"] = own
        self.declare(v)
        self.phased.append((v, "block"))
        if len(shape) == 1:
            self.t.facts.setdefault("inside", []).append((v, 0))
        return group(*statements)

    # ---- Barriers ----

    def barrier(self, level="block"):
        """A barrier, behind which arrays have new roles."""
        r = self.r
        self.barriers += 1
        for v, changes_at in self.phased:
            if level == "grid" or changes_at == level:
                v.facts["role"] = self.new_role(v)
        if level == "grid":
            return do(sync("grid_sync"))
        if r.chance(75) or self.need:
            return do(sync("syncthreads"))
        old, self.flow = self.flow, None
        roles = [(v, v.facts["role"]) for v, _ in self.phased]
        for v, _ in self.phased:
            v.facts["role"] = None      # the condition is computed before the barrier
        test = self.full("bool", 2)
        for v, role in roles:
            v.facts["role"] = role
        self.flow = old
        what = r.pick(["syncthreads_count", "syncthreads_and", "syncthreads_or"])
        result = self.new("i32" if what == "syncthreads_count" else "bool", "b", uniform="block")
        statement = let(result, sync(what, test))
        self.declare(result)
        return statement

    def new_role(self, v):
        forms = [(5, "in"), (4, "own"), (1, "one")]
        if v.type.elem in ATOMIC_TYPES:
            forms.append((2, "atomic"))
        return self.r.weighted(forms)

    def roles(self):
        return [(v, v.facts["role"]) for v, _ in self.phased]

    def back_to(self, roles, level):
        """Roles as they were: a barrier, and what was said before it."""
        kept = dict(roles)
        statement = do(sync("syncthreads" if level == "block" else "grid_sync"))
        for v, _ in self.phased:
            v.facts["role"] = kept.get(v, v.facts["role"])
        return statement

    def one_thread(self):
        """What one thread does with an array that is all its own until the next barrier."""
        r = self.r
        mine = [v for v, _ in self.phased if v.facts["role"] == "one" and v in self.visible()]
        if not mine:
            return None
        # an array's thread is always the same one: no barrier need be between two such statements
        first = mine[0].facts.setdefault("one", r.below(min(p.threads for p in self.plans)))
        mine = [v for v in mine if v.facts.setdefault("one", first) == first]
        for v in mine:
            v.facts.update(role="in", write_any=True)
        body = self.block(r.between(1, 3), last=lambda: [
            assign(index(name(v), *[self.place(v, k) for k in range(v.type.dims)]), self.full(v.type.elem, 1))
            for v in mine])
        for v in mine:
            v.facts.update(role="one", write_any=False)
        test = compare("==", name(self.t), lit(first))
        if self.grid_level and any(level == "grid" for v, level in self.phased if v in mine):
            test = compare("==", special("grid(1)"), lit(first))
        return if_(test, body)

    grid_level = False

    # ---- Phases: statements at which the whole block (or grid) arrives together ----

    def phases(self, count, level):
        statements = []
        for _ in range(count):
            s = self.phase(level)
            if s is not None:
                statements.append(s)
        return statements

    def phase(self, level):
        r = self.r
        self.flow = level
        deep = self.depth >= 3
        forms = [(8, self.statement), (6, lambda: self.barrier("block")), (2, self.one_thread), (4, self.own_step)]
        forms.append((1, self.fence))
        if level == "grid":
            forms.append((4, lambda: self.barrier("grid")))
        if not self.partial and not self.depth:
            forms.append((3, self.shared_array))
        if self.width:
            forms.append((8, self.warp_step))
        if not deep and self.barriers < 8:
            forms += [(3, lambda: self.uniform_loop(level)), (2, lambda: self.uniform_branch(level)),
                      (1, lambda: self.settling_loop(level)), (1, lambda: self.stepped_loop(level))]
        if not self.partial and self.barriers < 8 and max(p.threads for p in self.plans) <= 128:
            forms.append((1, self.block_call))
        if self.helpers and not self.partial:
            forms.append((2, self.helper_call))
        if not self.depth and not self.partial and level == "block" and self.phased:
            forms.append((1, self.some_return))
        s = r.weighted(forms)()
        self.flow = level
        return s

    helpers = ()

    def fence(self):
        what = self.r.pick(["threadfence", "threadfence_block", "threadfence_system", "nanosleep"])
        return do(sync(what, *([lit(20)] if what == "nanosleep" else [])))

    def own_step(self):
        """Writes an element that is this thread's own, of what others have where that may be read."""
        r = self.r
        mine = [v for v in self.visible() if isinstance(v.type, Arr) and v.get("role") == "own" and v.get("write")]
        if not mine:
            return self.statement()
        v = r.pick(mine)
        target = index(name(v), *v.get("own")(self))
        readable = [w for w in self.arrays(v.type.elem) if w.get("role") == "in"]
        if readable and r.chance(60):
            self.room = self.options.room
            w = r.pick(readable)
            e = index(name(w), *[self.place(w, k) for k in range(w.type.dims)])
            if isinstance(v.type.elem, str) and v.type.elem in REALS and r.chance(70):
                e = binary(r.pick("+-*"), e, self.operand(v.type.elem, 1))
            return assign(target, e)
        return self.changed(target, target.type) if not isinstance(target.type, Vec) else assign(target,
                                                                                                 self.full(target.type))

    def inner(self, count, level, last=None):
        """Phases in an inner block, after which roles are as before it; `last` makes further ones of the same block."""
        self.scope.append([])
        self.depth += 1
        statements = self.steady(count, level)
        if last:
            statements += last(level)
        self.depth -= 1
        self.scope.pop()
        return statements

    def steady(self, count, level):
        """Phases after which roles are as before them."""
        roles = self.roles()
        barriers = self.barriers
        statements = self.phases(count, level)
        if self.barriers > barriers or self.loops:
            statements.append(self.back_to(roles, level))
        return statements

    def uniform_loop(self, level):
        r = self.r
        if self.trips > 6:
            return None
        if r.chance(25):
            return self.uniform_while(level)
        self.room = 12
        t, bounds, reach, turns = self.uniformly(level, self.range_of)
        if turns > 7 or r.chance(50):
            n = r.between(1, 4)
            t, bounds, reach, turns = "i32", [lit(n)], (0, n - 1), n
        self.scope.append([])
        var = self.declare(self.new(t, "j", range=reach, uniform=level))
        body = []
        if r.chance(20):
            leave = self.uniformly(level, lambda: self.full("bool", 1))
            body.append(if_(leave, [Stmt(r.pick(["break", "continue"]))]))
        body += self.looped(lambda: self.inner(r.between(1, 4), level, self.left_in_the_middle), turns, level)
        self.scope.pop()
        return for_(var, bounds, body, r.chance(15))

    def left_in_the_middle(self, level):
        """Behind a barrier of a loop all threads leave it, or begin its next turn; roles are as at its begin."""
        r = self.r
        if not r.chance(35):
            return []
        leave = self.uniformly(level, lambda: self.full("bool", 1))
        return [if_(leave, [Stmt(r.pick(["break", "continue"]))])] + self.steady(r.between(1, 3), level)

    def uniform_while(self, level):
        """while n > 0, of a number that all threads have alike."""
        r = self.r
        turns = r.between(1, 3)
        n = self.new("i32", "n", kept=True, uniform=level)
        self.room = 6
        start = let(n, lit(turns) if r.chance(50) else
                    self.uniformly(level, lambda: mod(self.real("i32", 1), lit(turns + 1))), None, "var")
        self.declare(n)
        test = compare(">", name(n), lit(0))
        if r.chance(30):
            test = logic("and", test, self.uniformly(level, lambda: self.bool(1)))
        body = self.looped(lambda: self.inner(r.between(1, 4), level, self.left_in_the_middle), turns, level)
        return group(start, while_(test, [update("-", name(n), lit(1))] + body))

    def uniform_branch(self, level):
        r = self.r
        test = self.uniformly(level, lambda: self.full("bool", 2))
        barriers = self.barriers
        blocks = [self.inner(r.between(1, 3), level)]
        if r.chance(50):
            blocks.append(self.inner(r.between(1, 3), level))
        if self.barriers == barriers:
            return Stmt("if", [test], blocks)
        return Stmt("if", [test], blocks)

    def settling_loop(self, level):
        """while syncthreads_or(n > 0): as often as the thread with most to do needs."""
        r = self.r
        if level != "block" or self.trips > 6:
            return None
        n = self.new("i32", "n", kept=True)
        self.room = 10
        start = let(n, mod(self.real("i32", 1), lit(r.between(2, 4))), None, "var")
        self.declare(n)
        what = r.pick(["syncthreads_or", "syncthreads_count", "syncthreads_and"])
        running = compare(">", name(n), lit(0))
        test = {"syncthreads_or": lambda: sync(what, running),
                "syncthreads_and": lambda: negate(sync(what, negate(running))),
                "syncthreads_count": lambda: compare(">", sync(what, running), lit(0))}[what]()
        if what == "syncthreads_and":
            test = negate(sync(what, compare("<=", name(n), lit(0))))
        self.barriers += 1
        roles = self.roles()
        for v, changes_at in self.phased:      # behind the barrier of the condition
            if changes_at == "block":
                v.facts["role"] = self.new_role(v)
        entry = self.roles()
        step = if_(compare(">", name(n), lit(0)), [update("-", name(n), lit(1))])
        body = self.looped(lambda: self.inner(r.between(1, 3), level), 4, level)
        for v, role in entry:
            v.facts["role"] = role
        del roles
        return group(start, while_(test, [step] + body))

    def stepped_loop(self, level):
        """As many turns for all threads, with numbers that are each thread's own, and barriers inside."""
        r = self.r
        if level == "grid" or self.trips > 6:
            return None
        turns = r.between(1, 3)
        self.room = 10
        statements = []
        for prefix, most in (("first", 50), ("step", 4)):
            value = mod(self.real("i32", 1), lit(most))
            var = self.declare(self.new("i32", prefix, kept=True))
            statements.append(let(var, value if prefix == "first" else add(value, lit(1))))
        first, step = (s.data[1][0] for s in statements)
        down = r.chance(40)
        span = mul(lit(turns), name(step))
        bounds = [name(first), sub(name(first), span) if down else add(name(first), span),
                  Expr("un", "i32", [name(step)], "-") if down else name(step)]
        self.scope.append([])
        var = self.declare(self.new("i32", "j"))
        body = self.looped(lambda: self.inner(r.between(1, 3), level), turns, level)
        self.scope.pop()
        return group(*statements, for_(var, bounds, body))

    def some_return(self):
        """Some threads end here; the others go on, and barriers wait for them only. Both may end with a store to one place."""
        self.partial = True
        body = [return_()]
        outs = [p for p in self.params if isinstance(p.type, Arr) and p.get("role") == "own" and p.get("write")
                and isinstance(p.type.elem, str) and p.type.elem in REALS]
        if outs and self.r.chance(70):
            self.left = self.r.pick(outs)
            body.insert(0, self.last_store())
        return if_(self.full("bool", 2), body)

    def last_store(self):
        return assign(index(name(self.left), *self.left.get("own")(self)), self.full(self.left.type.elem, 2))

    def helper_call(self):
        """A function with barriers of its own."""
        r = self.r
        fitting = [(f, v) for f in self.helpers for v, changes_at in self.phased
                   if changes_at == "block" and v.type == f.params[0].type and v.facts["role"] == "own"
                   and v in self.visible()
                   and v.get("own")(self)[0].op == "name"]
        if not fitting:
            return None
        f, v = r.pick(fitting)
        if v.get("least")[0] < min(p.threads for p in self.plans):
            return None
        self.barriers += 2
        self.room = 12
        before = self.real(f.results, 2)
        for w, changes_at in self.phased:
            if changes_at == "block":
                w.facts["role"] = "own" if w is v else self.new_role(w)
        result = self.new(f.results, "h", uniform="block" if f.facts["uniform"] else None)
        n = self.thread_count()
        s = let(result, apply(f, name(v), Expr("conv", "i64", [name(self.t)]), n, before))
        self.declare(result)
        return s


def helper(r, t, number):
    """A function with barriers: every thread gives a value, and gets what the block made of all."""
    s = Var("s", Arr(t, 1))
    me, n, v = Var("t", "i64"), Var("n", "i64"), Var("v", t)
    put = assign(index(name(s), name(me)), name(v))
    bar = do(sync("syncthreads"))
    kind = r.pick(["tree", "neighbour", "scan", "own"])
    op = r.pick(["+", "^", "*"]) if t in INTS else r.pick(["+", "*"])
    combine = (lambda a, b: call(r.pick(["min"]), t, a, b)) if r.chance(30) else (lambda a, b: binary(op, a, b))
    result = Var("result", t)
    if kind == "tree":
        left, half = Var("left", "i64"), Var("half", "i64")
        body = [put, do(sync("syncthreads")), let(left, name(n), None, "var"),
                while_(compare(">", name(left), lit(1)), [
                    let(half, binary("//", add(name(left), lit(1)), lit(2))),
                    if_(compare("<", add(name(me), name(half)), name(left)), [
                        assign(index(name(s), name(me)), combine(index(name(s), name(me)),
                                                                 index(name(s), add(name(me), name(half)))))]),
                    do(sync("syncthreads")), assign(name(left), name(half))]),
                let(result, index(name(s), lit(0))), bar, return_(name(result))]
    elif kind == "own":         # shared memory of its own: the barrier at the end is for the next call
        own = Var("own", Arr(t, 1))
        body = [memory(own, "shared", [lit(400)]), assign(index(name(own), name(me)), name(v)), do(sync("syncthreads")),
                let(result, index(name(own), mod(add(name(me), lit(r.between(1, 40))), name(n)))), bar,
                return_(name(result))]
    elif kind == "neighbour":
        by = lit(r.between(1, 40))
        body = [put, do(sync("syncthreads")), let(result, index(name(s), mod(add(name(me), by), name(n)))), bar,
                return_(name(result))]
    else:
        reach, sum_ = Var("reach", "i64"), Var("sum", t)
        body = [put, do(sync("syncthreads")), let(reach, lit(1), "i64", "var"),
                while_(compare("<", name(reach), name(n)), [
                    let(sum_, index(name(s), name(me)), None, "var"),
                    if_(compare(">=", name(me), name(reach)), [
                        assign(name(sum_), combine(index(name(s), sub(name(me), name(reach))), name(sum_)))]),
                    do(sync("syncthreads")), assign(index(name(s), name(me)), name(sum_)), do(sync("syncthreads")),
                    update("*", name(reach), lit(2))]),
                let(result, index(name(s), name(me))), bar, return_(name(result))]
    return Function(f"together{number}", [s, me, n, v], t, body, effects=True, uniform=kind == "tree")


def cooperating(r, options, program, kernel_name, palette):
    """Blocks with shared memory and barriers, or grids with barriers of their own."""
    grid_level = r.chance(22) and not options.without & {"grid_sync"}
    dims = r.weighted([(6, 1), (2, 2), (1, 3)]) if not grid_level else 1
    plans = []
    for _ in range(r.weighted([(3, 1), (1, 2)])):
        plan = random_plan(r, dims, 300)
        if len(plan.block) > 1 or grid_level:
            plan.grid = (plan.grid[0],) + (1,) * (dims - 1)
        plans.append(plan)
    g = BlockGen(r, palette, options, program, plans)
    g.grid_level = grid_level
    level = "grid" if grid_level else "block"
    g.helpers = [f for f in program.helpers]
    body = g.begin()
    linear = Var("at", "i64", kept=True, range=(0, max(p.total for p in plans) - 1))
    blocks = [math.prod(p.grid) for p in plans]
    extents = [[p.total + r.below(3)] for p in plans]
    g.numbers(r.between(0, 2))
    g.atomics(r.weighted([(2, 0), (1, 1), (1, 2)]))
    g.inputs(r.between(1, 2), [(extents, (linear,))])
    outputs = g.outputs(r.between(1, 2), extents, lambda gen: [name(linear)], [linear])
    where = special("blockIdx.x")
    if any(len(p.grid) > 1 for p in plans):
        where = add(special("blockIdx.x"), mul(special("gridDim.x"), add(special("blockIdx.y"), mul(
            special("gridDim.y"), special("blockIdx.z")))))
    g.scope[-1].append(linear)
    body.append(let(linear, add(mul(where, g.thread_count()), name(g.t))))
    if grid_level or r.chance(30):
        body += phased_globals(g, r, plans, blocks, linear, grid_level)
    body += g.first_values()
    for _ in range(r.between(1, 2) if not grid_level else r.between(0, 1)):
        s = g.shared_array()
        if s is not None:
            body.append(s)
    body += g.phases(r.between(3, options.phases), level)
    g.flow = None
    body += g.last_stores(outputs)
    for v, _ in g.phased:
        body += copy_out(g, r, v)
    if g.left:
        body.append(g.last_store())
    return g.finish(kernel_name, body)


def phased_globals(g, r, plans, blocks, linear, grid_level):
    """Global memory that changes hands at barriers: of the whole grid, or a row for each block."""
    t = g.of()
    if isinstance(t, str) and t == "bool":
        t = "i32"
    if grid_level:
        v = g.array(t, 1, "g", [[p.total] for p in plans], role="own", write=True, own=lambda gen: [name(linear)])
        linear.facts.setdefault("inside", []).append((v, 0))
        v.facts.update(kind=r.pick(["sum", "min", "xor"]), limit=7, strides=False)
        g.phased.append((v, "grid"))
        return []
    widths = [p.threads + r.below(3) for p in plans]
    v = g.array(t, 2, "g", [[b, w] for b, w in zip(blocks, widths)], role=None)
    row = Var("chunk", Arr(t, 1), role="own", write=True, own=lambda gen: [name(g.t)], least=(min(widths),),
              most=(max(widths),),
              kind=r.pick(["sum", "min", "xor"]), limit=7, kept=True)
    g.t.facts.setdefault("inside", []).append((row, 0))
    g.scope[-1].append(row)
    g.phased.append((row, "block"))
    where = special("blockIdx.x")
    if any(len(p.grid) > 1 for p in plans):
        where = add(special("blockIdx.x"), mul(special("gridDim.x"), add(special("blockIdx.y"), mul(
            special("gridDim.y"), special("blockIdx.z")))))
    return [let(row, view(name(v), ("i",), where))]


def copy_out(g, r, v):
    """At the end each thread's own elements of a shared array are written out: what is in it counts."""
    if v.get("global") or v.name == "chunk":
        return []
    t = v.type.elem
    outs = [p for p in g.params if p.get("role") == "own" and p.type.elem == t and p.get("write") and p.type.dims == 1]
    if not outs or not isinstance(t, str) or t not in REALS:
        return []
    out = r.pick(outs)
    own = index(name(v), *v.get("own")(g))
    if v.facts["role"] == "own":
        e = own
    elif v.facts["role"] == "in":
        e = index(name(v), *[g.place(v, k) for k in range(v.type.dims)])
    else:
        return []
    target = index(name(out), *out.get("own")(g))
    if t in FLOATS:
        e = cond(e, compare("==", e, e), lit(2.5))
        return [update(r.pick("+-"), target, e)]
    return [update(r.pick(["+", "^", "-"]), target, e)]
