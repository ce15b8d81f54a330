"""The generator's operations of warps: shuffles, votes, matches, of all lanes or of some."""
from build import (add, assign, binary, compare, cond, do, group, if_, index, let, lit, logic, mod, name, special, sub,
                   typed, warp)
from scalars import INTS, REALS
from tree import Expr, Var, VECTORS

ALL = 0xffffffff


class Warps:
    """A part of BlockGen (gen_block.py)."""

    # ---- Warps ----

    def warp_step(self):
        r = self.r
        votes_only = self.partial
        form = r.below(10)
        self.room = 12
        if form < 5 and not votes_only:
            return self.shuffle_step()
        if form < 7:
            return self.vote_step()
        if form == 7:
            return self.branch_of_lanes() if not votes_only else self.vote_step()
        if form == 8 and not votes_only and r.chance(60):
            return self.warp_call()
        if form == 8:
            return do(warp("syncwarp", *([lit(ALL)] if r.chance(50) else [])))
        v = self.new("u32", "m")
        s = let(v, warp("lanemask_lt"))
        self.declare(v)
        return s

    def shuffle_value(self):
        r = self.r
        t = r.pick([p for p in self.palette if not hasattr(p, "fields")] or ["i32"])
        if r.chance(15):
            t = r.pick(["bool", VECTORS["f32x2"], VECTORS["i32x4"], "u8", "f16"])
        return t, self.value(t, 2)

    def shuffle(self, mask, inside=None):
        """A shuffle and a condition under which its value is that of a lane that takes part (or None)."""
        r = self.r
        t, v = self.shuffle_value()
        lane, lanes = special("laneid"), name(self.width)
        what = r.pick(["shfl_sync", "shfl_up_sync", "shfl_down_sync", "shfl_xor_sync"])
        if what == "shfl_sync":
            if inside is None and r.chance(50):
                by = mod(self.real(r.pick(["i32", "i64", "u32"]), 1), lanes)
                return t, warp(what, mask, v, by), None
            k = r.pick(inside) if inside else r.below(32)
            return t, warp(what, mask, v, lit(k)), compare("<", lit(k), lanes)
        by = r.pick([0, 1, 2, 3, 4, 7, 8, 16, 31])
        if inside is not None:
            source = {"shfl_up_sync": lambda: sub(lane, lit(by)), "shfl_down_sync": lambda: add(lane, lit(by)),
                      "shfl_xor_sync": lambda: binary("^", lane, lit(by))}[what]()
            test = logic("and", chained_inside(source, lanes),
                         compare("!=", binary("&", binary("<<", typed(1, "u32"), source), mask), lit(0)))
            return t, warp(what, mask, v, lit(by)), test
        if what == "shfl_up_sync":
            if r.chance(30):
                return t, warp(what, mask, v, self.real(r.pick(["i32", "u8"]), 1)), None
            return t, warp(what, mask, v, lit(by)), None
        if what == "shfl_down_sync":
            return t, warp(what, mask, v, lit(by)), compare("<", add(lane, lit(by)), lanes)
        return t, warp(what, mask, v, lit(by)), compare("<", binary("^", lane, lit(by)), lanes)

    def shuffle_step(self):
        t, e, test = self.shuffle(lit(ALL))
        if test is None:
            return self.bound_value(t, e)
        got = Var(f"w{self.names + 1}", t)
        self.names += 1
        use = self.new(t, "v", mutable=True)
        other = self.value(t, 1)
        statement = group(let(got, e), let(use, cond(name(got), test, other), None, "var"))
        self.declare(use)
        return statement

    def bound_value(self, t, e, uniform=None):
        v = self.new(t, "v", uniform=uniform)
        s = let(v, e)
        self.declare(v)
        return s

    def vote_step(self):
        r = self.r
        form = r.below(7)
        if form < 3:
            return self.bound_value("bool", warp(r.pick(["all_sync", "any_sync", "eq_sync"]), lit(ALL), self.bool(2)))
        if form < 5:
            return self.bound_value("u32", warp("ballot_sync", lit(ALL), self.bool(2)))
        t = r.pick(["i32", "i32", "u8", "i64", "u32", "i16"])
        v = mod(self.real(t, 2), lit(r.between(2, 7))) if r.chance(70) else self.real(t, 2)
        if form == 5:
            return self.bound_value("u32", warp("match_any_sync", lit(ALL), v))
        pair = warp("match_all_sync", lit(ALL), v)
        return self.bind_results(("u32", "bool"), pair)

    def branch_of_lanes(self):
        """Some lanes only, named by the mask."""
        r = self.r
        k = r.between(1, 31)
        test, holds = r.pick([
            (compare("<", special("laneid"), lit(k)), lambda lane: lane < k),
            (compare(">=", special("laneid"), lit(k)), lambda lane: lane >= k),
            (compare("==", mod(special("laneid"), lit(2)), lit(k % 2)), lambda lane: lane % 2 == k % 2),
            (compare("!=", binary("&", special("laneid"), lit(4)), lit(0)), lambda lane: lane & 4 != 0)])
        inside = [lane for lane in range(32) if holds(lane)]
        mask = lit(sum(1 << lane for lane in inside))
        body = []
        self.scope.append([])
        self.depth += 1
        flow, self.flow = self.flow, None
        results = []
        for _ in range(r.between(1, 2)):
            if r.chance(50):
                t, e, ok = self.shuffle(mask, inside)
                got = Var(f"w{self.names + 1}", t)
                self.names += 1
                use = self.new(t, "v")
                body += [let(got, e), let(use, cond(name(got), ok, self.value(t, 1)))]
                self.declare(use)
            elif r.chance(50):
                use = self.new("u32", "v")
                body.append(let(use, warp("ballot_sync", mask, self.bool(1))))
                self.declare(use)
            else:
                use = self.new("u32", "v")
                body.append(let(use, warp("match_any_sync", mask, mod(self.real("i32", 1), lit(3)))))
                self.declare(use)
            results.append(use)
        changes = []
        for use in results:
            outer = [v for v in self.assignable(use.type) if v not in self.scope[-1] and not v.get("uniform")]
            if outer:
                changes.append(assign(name(r.pick(outer)), name(use)))
            elif isinstance(use.type, str) and use.type in INTS and self.writable():
                v = r.pick(self.writable())
                if isinstance(v.type.elem, str) and v.type.elem in REALS and v.get("own"):
                    changes.append(assign(index(name(v), *v.get("own")(self)), Expr("conv", v.type.elem, [name(use)])))
        self.flow = flow
        self.depth -= 1
        self.scope.pop()
        return if_(test, body + changes)


def chained_inside(e, n):
    return Expr("cmp", "bool", (lit(0), e, n), ["<=", "<"])
