"""Statements of kernels whose indices may be outside: guards, loops, names and variables that change between what a
condition says of them and the index."""
from bounds_gen import ANY_INT, WAYS, A, K, Maker, Scope
from bounds_tree import E, S, binary, compare, conv, fitting, lit, var
from scalars import FLOATS, INTS, SIGNED, UNSIGNED


class Body(Maker):

    def program(self):
        p, r = self.p, self.r
        for k in range(r.between(0, 2)):
            n = r.pick((1, 2, 4, 8))
            p.consts.append((f"C{k}", "i32", [r.between(0, 9) for _ in range(n)]))
        for _ in range(r.between(0, 2)):
            p.functions.append(self.function())
        s = Scope()
        s.vars = [(x[0], x[2], True) for x in p.params if x[1] == "number" and x[0] != "way"]
        s.arrays = [A(x[0], x[2], [None] * x[3], x[1]) for x in p.params if x[1] in ("in", "record")]
        s.arrays += [A(c[0], c[1], [len(c[2])], "in") for c in p.consts]
        if r.chance(35):
            self.requires(s)
        out = [self.memory(s) for _ in range(r.between(0, 2))]
        if r.chance(20):
            out += self.together(s)
        self.variables(s, out, r.between(1, 3))
        for k in range(WAYS):
            inner = Scope(s)
            block = self.launch(inner) if p.child and k == 0 else self.scenario(inner)
            out.append(S("if", [E("cmp", "bool", [var("way", "i32"), lit(k, "i32")], "==")], [block]))
        p.body = out

    def scenario(self, s):
        """One part of a kernel: the launch says which one runs, so that none hides another."""
        make = self.r.pick((self.flags, self.floats, self.stale, self.wide, self.signs, self.several, self.several,
                            self.loops))
        return make(s) or self.several(s)

    def several(self, s):
        return self.block(s, self.r.between(2, 5), 2)

    def loops(self, s):
        return self.guarded(s, 1) + (self.whiles(s, 2) if self.r.chance(40) else self.counted(s, 2))

    def fixed(self, s, sizes):
        """A new local array."""
        n, name = self.r.pick(sizes), self.p.name("s")
        a = A(name, "i32", [n], "own")
        s.arrays.append(a)
        return a, [S("local", data=(name, (n,), "i32", 1))]

    def target(self, s, sizes):
        """An array of one axis, and what makes it."""
        flat = [a for a in s.arrays if len(a.shape) == 1 and a.kind != "record"]
        return (self.r.pick(flat), []) if flat and self.r.chance(35) else self.fixed(s, sizes)

    def flags(self, s):
        """A bool that may be true by now, as an index."""
        r = self.r
        a, out = self.target(s, (1, 1, 2))
        name = self.p.name("z")
        out.append(S("var", [lit(r.chance(15), "bool") if r.chance(75) else self.condition(s)], data=name))
        s.vars.append((name, "bool", True))
        index = conv(var(name, "bool"), r.pick(ANY_INT))
        if r.chance(20):
            index = binary("+", index, lit(1, index.type))
        change = S("assign", [lit(r.chance(85), "bool") if r.chance(70) else self.condition(s)], data=name)
        if r.chance(65):
            change = S("if", [self.condition(s)], [[change]])
        use = [self.access(s, a, [index])]
        if r.chance(20):
            use = [S("if", [E("not", "bool", [var(name, "bool")])], [use])]
        if r.chance(30):
            made = self.p.name("l")
            use = [S("let", [index], data=made), self.access(s, a, [var(made, index.type)])]
        self.row("a bool that changes")
        body = [x for part in r.shuffled([[change], use]) for x in part]
        k = r.below(3)
        if k == 0:
            return out + [change] + use
        loop = S("for", [lit(0, "i64"), E("conv", "i64", [lit(r.pick((2, 3)), "i64")]), lit(1, "i64")], [body],
                 (self.p.name("k"),))
        return out + ([loop] if k == 1 else [S("for", loop.exprs, [[change]], loop.data)] + use)

    def floats(self, s):
        """A float that changes behind a condition about the integer that it is converted to."""
        r = self.r
        a, out = self.target(s, (4, 8, 9))
        t, name = r.pick(("f32", "f64")), self.p.name("z")
        out.append(S("var", [self.number(s, t) if r.chance(40) else lit(r.pick((0, 1, 1, 3, 7)), t)], data=name))
        e = conv(var(name, t), r.pick(("u32", "u32", "i32", "i64", "u8", "u64")))
        s.vars.append((name, t, True))
        change = S("assign", [E("bin", t, [var(name, t), lit(r.pick((1, 2, 8, 100)), t)], r.pick("++-*"))
                              if r.chance(75) else lit(r.pick((0, 5, 9)), t)], data=name)
        guard = self.guard(s, [e], a)
        use = self.access(s, a, [e.copy()])
        body = [change, use] if r.chance(70) else [use, change]
        self.row("a float that changes")
        k = r.below(4)
        if k == 0:
            return out + [S("while", [guard], [body], (None,))]
        if k == 1:
            turn = self.p.name("k")
            inner = [change, S("if", [guard], [[self.access(s, a, [var(turn, e.type)])]])]
            top = binary("*", e, lit(r.pick((2, 9)), e.type)) if r.chance(60) else e
            return out + [S("for", [lit(0, e.type), top, lit(1, e.type)], [inner], (turn,))]
        if k == 2:
            loop = S("for", [lit(0, "i64"), E("conv", "i64", [lit(3, "i64")]), lit(1, "i64")],
                     [body if r.chance(50) else [S("if", [guard], [body])]], (self.p.name("k"),))
            return out + [S("if", [guard], [[loop]])]
        if r.chance(30):
            body = [S("if", [self.condition(s)], [[change]]), use]
        return out + [S("if", [guard], [body])]

    def wide(self, s):
        """Numbers near the top of u64, and of other types: shifts, sums that wrap."""
        r = self.r
        v = self.a_var(s, ("u64",)) if r.chance(75) else self.a_var(s, INTS)
        if not v:
            return []
        a, out = self.target(s, (2, 4, 8, 16))
        e = var(v[0], v[1])
        t = e.type
        bits = int(t[1:])
        for _ in range(r.pick((1, 1, 2))):
            k = r.below(6)
            if k < 3:
                by = r.pick((1, 2, bits - 1, bits - 2, bits - 3, bits - 4, bits - 5))
                e = E("bin", t, [e, lit(by, t)], r.pick((">>", ">>", ">>", "<<")))
            elif k == 3:
                e = binary(r.pick("+-"), e, lit(fitting((1 << 64) - r.between(1, 9), t), t))
            elif k == 4:
                e = binary(r.pick(("//", "%", "&", "+", "-")), e, lit(r.pick((2, 4, 7, 15)), t))
            else:
                e = conv(e, r.pick(ANY_INT))
                t, bits = e.type, int(e.type[1:])
        self.row(f"near the top of {t}")
        use = [self.access(s, a, [e])]
        if r.chance(40):
            top = lit(fitting((1 << 64) - r.between(1, 9), t), t) if r.chance(40) else a.extent(0)
            use = [S("if", [compare(r.pick(("<", "<=", ">=", "!=")), e.copy(), top)], [use])]
        return out + use

    def bounded(self, s):
        """A number between two small ones, one of them below 0 more often than not."""
        r = self.r
        e = E("bin", "i64", [conv(self.leaf(s), "i64"), lit(r.pick((2, 3, 5, 8)), "i64")], "%")
        by = lit(r.pick((1, 2, 5, 9, 100)), "i64")
        return E("bin", "i64", [e, by], "-") if r.chance(80) else E("bin", "i64", [by, e], "-")

    def signs(self, s):
        """Products, quotients and sums of numbers below 0: what bounds the operands does not bound them."""
        r = self.r
        a, out = self.fixed(s, (4, 8, 10, 16))
        e = self.bounded(s)
        for _ in range(r.pick((1, 1, 2))):
            op = r.pick(("*", "*", "//", "//", "+", "-", "%"))
            by = self.bounded(s) if r.chance(50) else lit(r.pick((-1, -1, -2, -3, 2, -(1 << 62), (1 << 62))), "i64")
            e = E("bin", "i64", [e, e.copy() if op == "*" and r.chance(40) else by], op)
        self.row("signs of operands")
        name = self.p.name("l")
        if r.chance(30):
            loop = S("for", [lit(0, "i64"), e, lit(1, "i64")], [[self.access(s, a, [var(name, "i64")])]], (name,))
            return out + [loop]
        if r.chance(30):
            e = E("call", "i64", [e, lit(r.pick((0, -3, 7)), "i64")], r.pick(("min", "max")))
        use = self.access(s, a, [var(name, "i64")])
        return out + [S("let", [e], data=name), S("if", [compare(">=", var(name, "i64"), lit(0, "i64"))], [[use]])]

    def requires(self, s):
        r = self.r
        for _ in range(r.between(1, 2)):
            numbers = [v for v in s.vars if v[1] in INTS]
            params = [a for a in s.arrays if a.shape[0] is None and a.kind == "in"]
            a, b = r.pick(params), r.pick(params)
            left = var(*r.pick(numbers)[:2]) if numbers and r.chance(70) else b.extent(r.below(len(b.shape)))
            right = a.extent(r.below(len(a.shape)))
            if r.chance(25):
                right = binary("-", right, lit(1, "i64"))
            self.row("requires")
            self.p.requires.append(compare(r.pick(("<", "<=", "<=", "==" if left.op == "ext" else "<")), left, right))

    def function(self):
        p, r = self.p, self.r
        name = p.name("call")
        s = Scope()
        params = [(p.name("p"), r.pick(ANY_INT)) for _ in range(r.between(1, 2))]
        arrays = [A(p.name("v"), "i32", [None], "in")] if r.chance(60) else []
        s.vars, s.arrays = [(n, t, True) for n, t in params], list(arrays)
        s.function = r.pick(("i32", "i64", "bool", "u8", "i32"))
        body = []
        self.variables(s, body, 1)
        if r.chance(70):
            self.row("an early return of a function")
            body.append(S("if", [self.condition(s)], [[self.returned(s)]]))
        body += self.block(s, r.between(1, 3), 1)
        body.append(self.returned(s))
        return name, params, arrays, s.function, body

    def returned(self, s):
        if s.function == "bool":
            return S("return", [self.condition(s)])
        e = self.loaded(s) if s.arrays and self.r.chance(40) else self.term(s)
        return S("return", [conv(e if e.op != "lit" else E("conv", e.type, [e]), s.function)])

    def memory(self, s):
        r = self.r
        shape = (r.pick((1, 2, 4, 8, 8, 9, 16)),) if r.chance(75) else (r.pick((2, 3, 4)), r.pick((2, 4, 5)))
        t = r.pick(("i32", "i32", "i64", "u8", "u32"))
        name = self.p.name("s")
        s.arrays.append(A(name, t, list(shape), "own"))
        self.row(f"a local array of {len(shape)} axes")
        return S("local", data=(name, shape, t, r.pick((1, 1, 3))))

    def together(self, s):
        """A shared array; threads may have returned before."""
        name, out = self.p.name("t"), []
        n = self.r.pick((1, 4, 8, 16))
        out.append(S("shared", data=(name, (n,), "i32", 1)))
        s.arrays.append(A(name, "i32", [n], "in"))
        self.row("a shared array")
        if self.r.chance(40):
            self.row("a barrier behind a return")
            out += [S("if", [compare("<", E("thread", "i64", data="threadIdx.x"), lit(self.small(), "i64"))],
                      [[S("return")]]), S("barrier")]
        return out

    def variables(self, s, out, n):
        r = self.r
        for _ in range(n):
            name = self.p.name("z")
            t = r.pick(ANY_INT + ("bool", "bool", "f32", "f64"))
            if t == "bool":
                e = self.condition(s) if r.chance(50) else lit(r.chance(30), "bool")
            elif t in FLOATS:
                e = self.number(s, t)
            elif r.chance(35):
                e = lit(fitting(r.pick((0, 0, 1, -1, 7, 8)), t), t)
            else:
                e = conv(self.loaded(s) if r.chance(30) and s.arrays else self.integer(s), t)
            out.append(S("var", [e], data=name))
            self.row(f"var {t}")
            s.vars.append((name, t, True))

    def number(self, s, t):
        """A float: of one operation, as sums of products are rounded once."""
        r = self.r
        v = self.a_var(s, (t,))
        if v and r.chance(70):
            return E("bin", t, [var(v[0], t), lit(r.pick((1, 2, 3, 8, 100)), t)], r.pick("++-*"))
        arrays = [a for a in s.arrays if a.type == t]
        if arrays and r.chance(50):
            return E("load", t, [self.near(s, arrays[0], 0)], arrays[0].name)
        return lit(r.pick((0, 1, 5, 7)), t) if r.chance(50) else conv(conv(self.leaf(s), "i16"), t)

    # ---- Blocks ----

    def block(self, s, n, depth):
        inner, out = Scope(s), []
        for _ in range(n):
            out += self.statement(inner, depth)
        # what was said of its terms may be wrong now: they go on to be used
        known = {v[0] for v in s.vars}
        arrays = {a.name for a in s.arrays}
        s.terms += [t for t in inner.terms if t not in s.terms
                    and all(x.data in known for x in t.walk() if x.op == "var")
                    and all(x.data[0] in arrays for x in t.walk() if x.op == "ext")][:3]
        return out

    def statement(self, s, depth):
        r = self.r
        k = r.below(100)
        if k < 12 or not s.arrays:
            return self.used(s)
        if k < 36:
            return self.guarded(s, depth)
        if k < 52:
            return self.changed(s)
        if k < 61:
            return self.named(s)
        if depth > 0 and k < 70:
            return self.branches(s, depth)
        if depth > 0 and k < 79 and s.loops < 2:
            return self.counted(s, depth)
        if depth > 0 and k < 84 and s.loops < 2:
            return self.whiles(s, depth)
        if depth > 0 and k < 89 and s.loops < 2:
            return self.stale(s)
        if k < 95 and not s.function:
            return self.view(s)
        if k < 97:
            return self.left(s)
        return self.used(s)

    def used(self, s):
        """An access of an array, of anything that happens to be there."""
        r = self.r
        if not s.arrays:
            return self.changed(s)
        a = r.pick(s.arrays)
        indices = [self.near(s, a, i) for i in range(len(a.shape))]
        return [self.access(s, a, indices)]

    def access(self, s, a, indices):
        r = self.r
        k = r.below(10)
        if not s.function and k == 0:
            self.row("an atomic")
            return S("atomic", [lit(1, "i32"), indices[0]], data="h")
        if not s.function and k == 1:
            self.row("a store to a parameter")
            return S("store", [conv(self.integer(s), "i64"), var("tid", "i64"), indices[-1]], data="out")
        if k < 5 and a.kind == "own":
            self.row("a store to a local array")
            if r.chance(30):
                return S("addto", [lit(1, a.type)] + indices, data=a.name)
            e = self.loaded(s) if r.chance(40) else self.term(s)
            return S("store", [conv(e, a.type)] + indices, data=a.name)
        e = E("load", a.type, indices, a.name) if a.kind != "record" else E("field", "i32", indices[:1], (a.name, "w"))
        if s.function:
            v = self.a_var(s, INTS, True)
            if v:
                return S("assign", [conv(e, v[1])], data=v[0])
            return S("let", [e], data=self.p.name("l"))
        e = conv(e, "i64") if e.type in INTS + ("bool",) else E("conv", "i64", [conv(e, e.type)])
        return S("addto", [e, var("tid", "i64"), lit(r.below(K), "i64")], data="out")

    def guarded(self, s, depth):
        """A condition about an index, maybe a change, and the access."""
        r = self.r
        a = r.pick(s.arrays)
        indices = [self.term(s) for _ in a.shape]
        guard = self.guard(s, indices, a)
        indices = [binary(r.pick("+-"), e, lit(1, e.type)) if r.chance(10) else e for e in indices]
        for i, e in enumerate(indices):
            if all(x.op not in ("var", "thread", "ext") for x in e.walk()):
                indices[i] = E("thread", "i64", data="threadIdx.x")
        inner = Scope(s)
        body = self.block(inner, r.between(0, 2), depth - 1) if depth > 0 and r.chance(50) else []
        body += self.changed(inner) if r.chance(30) else []
        self.row("a guard")
        k = r.below(10)
        if k < 7:
            return [S("if", [guard], [body + [self.access(inner, a, indices)]])]
        no = E("not", "bool", [guard])
        self.row("a guard that leaves")
        if s.loops:
            leave = S(r.pick(("continue", "break")))
        else:
            leave = self.returned(s) if s.function else S("return")
        if k == 7:
            return [S("if", [no], [[leave]])] + self.changed(s) * r.below(2) + [self.access(s, a, indices)]
        if k == 8:
            other = self.used(Scope(s))
            return [S("if", [no], [other, body + [self.access(inner, a, indices)]])]
        return [S("if", [no], [[leave]]), self.access(s, a, indices)]

    def changed(self, s):
        r = self.r
        v = self.a_var(s, None, True)
        if not v:
            return []
        name, t = v[0], v[1]
        self.row(f"{t} assigned")
        if t == "bool":
            e = self.condition(s) if r.chance(50) else lit(r.chance(60), "bool")
            return [S("if", [self.condition(s)], [[S("assign", [e], data=name)]]) if r.chance(40)
                    else S("assign", [e], data=name)]
        if t in FLOATS:
            return [S("assign", [self.number(s, t)], data=name)]
        k = r.below(10)
        w = self.a_var(s, (t,), True)
        if k < 4:
            op = r.pick(("+", "+", "+", "-", "*", "//", "%", ">>", "<<", "&"))
            by = lit(r.pick((1, 1, 1, 2, 3)), t)
            self.row(f"{op}= of {t}")
            whole = E("bin", t, [var(name, t), by], op)
            return [S("add", [by, whole], data=(name, op))]
        if k == 4 and w and w[0] != name:
            self.row("two that change places")
            return [S("assign2", [var(w[0], t), var(name, t)], data=(name, w[0]))]
        if k == 5:
            return [S("assign", [lit(fitting(r.pick((0, 0, 1, -1, -5, 7, 8, 250)), t), t)], data=name)]
        e = self.loaded(s) if r.chance(25) and s.arrays else self.term(s)
        return [S("assign", [conv(e if e.op != "lit" else E("conv", e.type, [e]), t)], data=name)]

    def named(self, s):
        """A let: a name for what variables are now."""
        name = self.p.name("l")
        if self.r.chance(15):
            other = self.p.name("l")
            a, b = self.term(s), self.integer(s)
            self.row("let of two")
            s.vars += [(name, a.type, False), (other, b.type, False)]
            return [S("let2", [E("conv", a.type, [a]), E("conv", b.type, [b])], data=(name, other))]
        e = self.condition(s) if self.r.chance(15) else self.term(s)
        if e.op == "lit":
            e = E("conv", e.type, [e])
        self.row(f"let {e.type}")
        s.vars.append((name, e.type, False))
        if e.type != "bool" and self.r.chance(60):
            s.terms.append(var(name, e.type))
        return [S("let", [e], data=name)]

    def branches(self, s, depth):
        r = self.r
        n = r.pick((1, 1, 1, 2))
        blocks = [self.block(s, r.between(1, 3), depth - 1) for _ in range(n + r.below(2))]
        self.row(f"if, {len(blocks)} blocks")
        return [S("if", [self.condition(s) for _ in range(n)], blocks)]

    # ---- Loops ----

    def counted(self, s, depth):
        r = self.r
        inner = Scope(s)
        inner.loops += 1
        name = self.p.name("k")
        flat = [a for a in s.arrays if a.kind != "record" and len(a.shape) == 1 and a.type in INTS]
        if flat and r.chance(15):
            a = r.pick(flat)
            inner.vars.append((name, a.type, False))
            if r.chance(50):
                self.row("for v in a")
                return [S("each", [], [self.block(inner, r.between(1, 3), depth - 1)], (name, a.name))]
            other = self.p.name("k")
            inner.vars.append((other, "i64", False))
            self.row("enumerate")
            return [S("enumerate", [], [self.block(inner, r.between(1, 3), depth - 1)], (other, a.name, name))]
        low, high, step = self.bounds(s)
        t = low.type
        inner.vars.append((name, t, False))
        inner.terms += [var(name, t)] * 3
        return [S("for", [low, high, step], [self.block(inner, r.between(1, 4), depth - 1)], (name,))]

    def bounds(self, s):
        r = self.r
        if r.chance(50) and s.arrays:
            a = r.pick(s.arrays)
            top = E("ext", "i64", data=(a.name, -1 if a.kind == "record" else r.below(len(a.shape))))
        else:
            top = self.term(s)
            top = E("conv", top.type, [top]) if top.op == "lit" else top
        if r.chance(15):
            top = binary(r.pick("+-"), top, lit(1, top.type))
        t = top.type
        step = r.pick((1, 1, 1, 1, 2, 3))
        if t in UNSIGNED or r.chance(65):
            self.row(f"a loop up of {t}")
            low = lit(r.pick((0, 0, 0, 1, 2)), t) if r.chance(75) else conv(self.leaf(s), t)
            return low, top, lit(step, t)
        self.row(f"a loop down of {t}")
        start = binary("-", top, lit(1, t)) if r.chance(60) else top
        return start, lit(r.pick((-1, -1, -1, 0, -2)), t), lit(-step, t)

    def whiles(self, s, depth):
        r = self.r
        v = self.a_var(s, INTS + FLOATS, True)
        if not v:
            return []
        name, t = v[0], v[1]
        inner = Scope(s)
        inner.loops += 1
        self.row(f"while of {t}")
        if t in FLOATS:
            e = conv(var(name, t), r.pick(("u32", "i32", "i64")))
            step = S("assign", [E("bin", t, [var(name, t), lit(r.pick((1, 2, 8)), t)], "+")], data=name)
        else:
            e = var(name, t)
            by = lit(r.pick((1, 1, 2, 3)), t)
            step = S("add", [by, E("bin", t, [var(name, t), by], "+")], data=(name, "+"))
        inner.terms += [e.copy()] * 3
        a = r.pick(s.arrays)
        n = a.extent(r.below(len(a.shape))) if a.kind != "record" else E("ext", "i64", data=(a.name, -1))
        if n.op != "lit" and r.chance(20):
            n = binary("-", n, lit(1, "i64"))
        cond = compare(r.pick(("<", "<", "<=", "!=")), e, n)
        if r.chance(25):
            cond = E("logic", "bool", [cond, self.condition(inner)], r.pick(("and", "and", "or")))
        body = self.block(inner, r.between(1, 3), depth - 1)
        body.insert(r.below(len(body) + 1), step)
        return [S("while", [cond], [body], (None,))]

    def stale(self, s):
        """A loop in which a variable, names for what it was and accesses come in any order."""
        r = self.r
        a, start = self.target(s, (4, 8, 8))
        v = self.a_var(s, INTS, True)
        if v is None or r.chance(40):
            t = r.pick(ANY_INT)
            v = (self.p.name("z"), t)
            start.append(S("var", [lit(r.pick((0, 0, 1, 3)), t)], data=v[0]))
        name, t = v[0], v[1]
        e, other = var(name, t), self.p.name("l")
        self.row("names in a loop")
        inner = Scope(s)
        inner.loops += 1
        value = E("bin", t, [e.copy(), lit(r.pick((1, 1, 3, 7, 15)), t)], r.pick(("&", "+", "+", "-", ">>", "%")))
        parts = [[S("let", [value], data=other), S("assign", [lit(r.pick((0, 0, 5, 1)), t)], data=name),
                  S("assign", [var(other, t)], data=name)]]
        if r.chance(40):
            parts[0].insert(0, S("assign", [lit(fitting(r.pick((-5, -1, 9, 0)), t), t)], data=name))
        low = [compare(">=", e.copy(), lit(0, t))] if t in SIGNED else [compare("!=", e.copy(), lit(9, t))]
        conds = low + [self.below(e.copy(), a.extent(0))]
        use = self.access(inner, a, [e.copy()])
        parts.append([S("if", [r.pick(conds)], [[use]]) if r.chance(75) else use])
        parts += [self.changed(inner)] if r.chance(40) else []
        body = [x for part in r.shuffled(parts) for x in part]
        return start + [S("for", [lit(0, "i64"), E("conv", "i64", [lit(r.pick((2, 3, 9)), "i64")]), lit(1, "i64")],
                          [body], (self.p.name("k"),))]

    def left(self, s):
        if s.loops and self.r.chance(60):
            self.row("break, continue")
            return [S("if", [self.condition(s)], [[S(self.r.pick(("break", "continue")))]])]
        self.row("an early return")
        return [S("if", [self.condition(s)], [[self.returned(s) if s.function else S("return")]])]

    # ---- Views ----

    def view(self, s):
        r = self.r
        a = r.pick(s.arrays)
        name = self.p.name("w")
        if a.kind == "record":
            if r.chance(50):
                self.row("p[i].at")
                made = S("view", [self.near(s, a, 0)], data=(name, a.name, "field"))
                s.arrays.append(A(name, "i32", [3], "in"))
                return [made]
            s.arrays.append(A(name, "i32", [None, 3], "in"))
            self.row("p.at")
            return [S("view", [], data=(name, a.name, "fields"))]
        same = [x for x in s.arrays if x.type == a.type and len(x.shape) == len(a.shape) and x is not a
                and x.kind != "record"]
        if same and r.chance(35):
            self.row(f"chosen, {len(a.shape)} axes")
            other = r.pick(same)
            own = a.kind == other.kind == "own"
            made = S("chosen", [self.condition(s)], data=(name, a.name, other.name))
            s.arrays.append(A(name, a.type, [None] * len(a.shape), "own" if own else "in"))
            return [made]
        if len(a.shape) > 1 and r.chance(15):
            self.row(".T")
            s.arrays.append(A(name, a.type, [None] * len(a.shape), a.kind))
            return [S("view", [], data=(name, a.name, "T"))]
        how, exprs, left = [], [], 0
        for axis in range(len(a.shape)):
            if len(a.shape) > 1 and r.chance(60) and (left or axis < len(a.shape) - 1):
                how.append("i")
                exprs.append(self.near(s, a, axis))
                continue
            step = r.pick((None, None, None, 2, -1, -2))
            has = r.chance(60), r.chance(60)
            for h in has:
                if h:
                    e = self.term(s)
                    exprs.append(conv(e, "i64") if e.op != "lit" else E("conv", "i64", [e]))
            how.append((has[0], has[1], step))
            left += 1
        self.row(f"a view of {len(a.shape)} axes with {left}")
        s.arrays.append(A(name, a.type, [None] * left, a.kind))
        return [S("view", exprs, data=(name, a.name, how))]

    def launch(self, s):
        r = self.r
        globals_ = [a for a in s.arrays if a.shape[0] is None and a.type == "i32" and len(a.shape) == 2
                    and a.name in "bc"]
        out = []
        if globals_:
            a = r.pick(globals_)
            name = self.p.name("w")
            out.append(S("view", [self.near(s, a, 0)], data=(name, a.name, ["i"])))
            if r.chance(40) and len(globals_) > 1:
                chosen = self.p.name("w")
                out.append(S("view", [self.near(s, globals_[0], 0)], data=(name + "o", globals_[0].name, ["i"])))
                out.append(S("chosen", [self.condition(s)], data=(chosen, name, name + "o")))
                name = chosen
        else:
            flat = [a for a in s.arrays if a.type == "i32" and a.name.startswith("x")]
            if not flat:
                return []
            name = r.pick(flat).name
        e = conv(self.leaf(s), "i32")
        self.row("a launch")
        return out + [S("launch", [e], data=(name, r.pick((1, 2)), r.pick((1, 4, 8))))]
