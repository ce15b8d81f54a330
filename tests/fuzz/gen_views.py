"""The generator's statements about views: slices, loops over elements, and what is done with a view as a whole."""
import math

import scalars
import values
from build import (add, apply, assign, binary, bits, call, compare, cond, conv, each, each_of, extent, fold, group,
                   if_, index, let, lit, logic, mul, name, part, reshaped, size, spread, sub, turned, unary, view)
from scalars import COMPLEX, FLOATS, INTS, REALS, SIGNED
from tree import Arr, Expr, Rec, Var, Vec, copied


def packed(e):
    """Is the array one of numbers in packed records, which may lie anywhere? No choice is between those and others."""
    if e.type.elem in ("i8", "u8", "bool"):
        return False
    while e.op != "name":
        base = e.args[0].type.elem
        if e.op == "part" and isinstance(base, Rec) and base.packed:
            return True
        e = e.args[0]
    return bool(e.data.get("packed"))


def arrays_in(e):
    """Those that an array is chosen from."""
    if e.op == "cond":
        return arrays_in(e.args[0]) + arrays_in(e.args[2])
    return [e.data] if e.op == "name" else arrays_in(e.args[0])


class Views:
    """A part of Statements (gen_stmt.py)."""

    def view_of(self):
        """A view, to read through: a row, a column, a slice with a step, a part of each element."""
        r = self.r
        arrays = [v for v in self.visible() if isinstance(v.type, Arr) and v.get("role") == "in" and v.get("least")]
        if not arrays or self.need:
            return self.declare_one()
        v = r.pick(arrays)
        if r.chance(20):
            return self.other_shape(v)
        forms, args, least, most = [], [], [], []
        for k in range(v.type.dims):
            if r.chance(45) and len(forms) < v.type.dims - (0 if least else 1):
                forms.append("i")
                args.append(self.place(v, k))
                continue
            form, bounds, fewest, longest = self.slice_of(v.get("least")[k], v.get("most")[k])
            forms.append(form)
            args += bounds
            least.append(fewest)
            most.append(longest)
        e = view(name(v), forms, *args)
        if (isinstance(e.type.elem, Vec) or e.type.elem in COMPLEX) and r.chance(50):
            e = part(e, r.pick("xyzw"[:e.type.elem.count]) if isinstance(e.type.elem, Vec)
                     else r.pick(["real", "imag"]))
        elif isinstance(e.type.elem, Rec) and r.chance(70) and e.type.dims < 5:
            field, _, extents = r.pick(e.type.elem.fields)
            e = part(e, field)
            least += list(extents or ())
            most += list(extents or ())
        return self.bind_view(e, least, most)

    def other_shape(self, v):
        """The axes in reverse order, or, where the elements lie in order, other extents."""
        r = self.r
        least, most, dims = v.get("least"), v.get("most"), v.type.dims
        write_any = v.get("write_any")
        if dims > 1 and (r.chance(50) or not self.in_order(v)):
            return self.bind_view(turned(name(v)), least[::-1], most[::-1], write_any)
        if not self.in_order(v):
            return self.declare_one()
        low, high = math.prod(least), math.prod(most)
        array = name(v)
        if low != high:     # only the thread knows how many there are
            form = r.below(4)
            if dims == 2 and r.chance(40):      # the extents exchanged
                extents = r.pick([[extent(array, 1), self.negative(-1)], [self.negative(-1), extent(array, 0)]])
                return self.bind_view(reshaped(array, *extents), least[::-1], most[::-1], write_any)
            if form == 0:
                return self.bind_view(reshaped(array, lit(1), self.negative(-1)), [1, low], [1, high], write_any)
            if form == 1:
                return self.bind_view(reshaped(array, self.negative(-1), lit(1)), [low, 1], [high, 1], write_any)
            e = reshaped(array, *([] if form == 2 else [size(array) if r.chance(50) else self.negative(-1)]))
            return self.bind_view(e, [low], [high], write_any)
        if r.chance(25):
            return self.bind_view(reshaped(array), [low], [low], write_any)
        shape, left = [], low
        for _ in range(r.between(0, 2)):
            n = r.pick([d for d in range(1, left + 1) if left % d == 0])
            shape.append(n)
            left //= n
        shape.append(left)
        extents = [lit(n) for n in shape]
        if r.chance(50):
            extents[r.below(len(extents))] = self.negative(-1)
        return self.bind_view(reshaped(array, *extents), shape, shape, write_any)

    @staticmethod
    def in_order(v):
        """Do its elements surely lie one behind another, or along one axis? (Views may be of fewer elements.)"""
        return v.type.dims == 1 or v.get("local") or v.get("in_order") or isinstance(v.get("value"), list)

    def bind_view(self, e, least, most, write_any=False):
        v = e
        while v.op != "name":
            v = v.args[0]
        w = self.new(e.type, "w", role="in" if min(least) > 0 else "thin", least=tuple(least), most=tuple(most),
                     memory=self.memory_of(v.data), write_any=write_any, packed=packed(e))
        s = let(w, e)
        self.declare(w)
        return s

    def slice_of(self, n, most):
        """A slice of an axis that has n to `most` elements: its form, its bounds, and how many elements it may have."""
        r = self.r
        if r.chance(45) and most - n < 100:
            return self.any_slice(n, most)
        begin = r.below(n) if r.chance(50) else None
        end = r.between((begin or 0) + 1, n) if r.chance(50) else None
        step = r.between(1, 3) if r.chance(35) else None
        form = "".join(letter for letter, x in zip("bes", (begin, end, step)) if x is not None) or "-"
        low = -(-((end if end is not None else n) - (begin or 0)) // (step or 1))
        high = -(-((end if end is not None else most) - (begin or 0)) // (step or 1))
        return form, [lit(x) for x in (begin, end, step) if x is not None], low, high

    def any_slice(self, n, most):
        """Bounds before and behind the axis, counted from its end, variables, and steps back."""
        r = self.r
        known = [w for w in self.visible() if w.get("range") and w.get("range")[1] - w.get("range")[0] < 10
                 and abs(w.get("range")[0]) < 100 and w.type in SIGNED]

        def bound():
            if r.chance(35):
                return None, None
            if known and r.chance(40):
                w, c = r.pick(known), r.between(0, 3)
                low, high = w.get("range")
                return (sub(name(w), lit(c)), range(low - c, high - c + 1)) if c else (name(w), range(low, high + 1))
            x = r.between(-most - 2, most + 2) if r.chance(85) else \
                r.pick([-1, 1]) * r.pick([1 << 31, 1 << 40, 1 << 62])
            return self.negative(x), [x]
        begin, begins = bound()
        end, ends = bound()
        step = r.pick([1, 2, 3, -1, -1, -2, -3, 1 << 40, -(1 << 50)]) if r.chance(60) else None
        steps = [m for m in self.members() if m.get("range")[0]]
        named = r.pick(steps) if steps and r.chance(15) else None
        step = named.get("range")[0] if named else step
        lengths = [len(range(*slice(a, b, step).indices(k))) for a in begins or [None] for b in ends or [None]
                   for k in range(n, max(n, most) + 1)]
        form = ("b" if begin else "") + ("e" if end else "") + ("s" if step else "") or "-"
        by = name(named) if named else step and self.negative(step)
        return form, [x for x in (begin, end, by) if x], min(lengths), max(lengths)

    def guarded_view(self):
        """A slice that begins a little before an index, where a condition says that this is inside."""
        r = self.r
        arrays = [(v, w) for v in self.visible() if isinstance(v.type, Arr) and v.get("role") == "in" and v.get("least")
                  for w in self.visible() if (v, 0) in (w.get("inside") or ()) and w.type in SIGNED]
        if not arrays or self.need:
            return self.declare_one()
        v, w = r.pick(arrays)
        c, d = r.between(1, 3), r.between(1, 3)
        asked = c + r.below(2)
        test = r.pick([lambda: compare(">=", name(w), lit(asked)), lambda: compare("<=", lit(asked), name(w)),
                       lambda: compare(">", name(w), lit(asked - 1)),
                       lambda: compare(">=", sub(name(w), lit(asked)), lit(0)),
                       lambda: logic("and", compare("<", lit(asked - 1), name(w)), self.full("bool", 1)),
                       lambda: unary("not", compare("<", name(w), lit(asked)))])()
        behind = ["-"] * (v.type.dims - 1)
        form, bounds = r.pick([("be", [sub(name(w), lit(c)), add(name(w), lit(d))]), ("b", [sub(name(w), lit(c))]),
                               ("be", [sub(name(w), lit(c)), name(w)])])
        fewest, most = c, v.get("most")[0]
        flow, self.flow = self.flow, None
        self.scope.append([])
        self.depth += 1
        inner = [self.bind_view(view(name(v), [form] + behind, *bounds), [fewest] + list(v.get("least")[1:]),
                                [most] + list(v.get("most")[1:]))]
        inner += self.statements(r.between(1, 2))
        self.scope.pop()
        self.scope.append([])
        other = None
        if r.chance(40):        # there the slice may be any
            bounds = [sub(name(w), lit(c)), add(name(w), lit(d))]
            other = [self.bind_view(view(name(v), ["be"] + behind, *bounds), [0] + list(v.get("least")[1:]),
                                    [most] + list(v.get("most")[1:]))] + self.statements(1)
        self.depth -= 1
        self.scope.pop()
        self.flow = flow
        return if_(test, inner, other)

    def each_of(self):
        """A loop over the elements, or rows, of arrays."""
        r = self.r
        arrays = [v for v in self.visible() if isinstance(v.type, Arr) and v.get("role") in ("in", "thin")
                  and v.get("least")]
        if not arrays or self.need or self.trips > 40:
            return self.change()
        form = r.pick([None, None, "enumerate", "zip"])
        self.room = self.options.room
        names, over, turns = [], [], []
        for _ in range(r.between(2, 3) if form == "zip" else 1):
            v = r.pick(arrays)
            e, most = name(v), v.get("most")[0]
            if most > 8 or r.chance(20):
                most = r.between(1, 6)
                e = view(e, ["e"], lit(most))
            over.append(e)
            turns.append(most)
            names.append((v, v.get("least")[1:], v.get("most")[1:]))
        most = min(turns)
        self.scope.append([])
        found = []
        if form == "enumerate":
            found.append(self.declare(self.new("i64", "j", range=(0, max(most - 1, 0)))))
        for v, least, longest in names:
            if v.type.dims == 1:
                w = self.new(v.type.elem, "e")
            else:
                w = self.new(Arr(v.type.elem, v.type.dims - 1), "e", role="in" if min(least) > 0 else "thin",
                             least=least, most=longest, memory=self.memory_of(v), packed=v.get("packed"))
            while w.name in {x.name for x in found}:
                w = self.new(w.type, "e", **w.facts)
            found.append(self.declare(w))
        body = self.looped(lambda: self.block(r.between(1, 3)), most)
        self.scope.pop()
        return each(found, over, form, body)

    # ---- Views as wholes ----

    def axis_of_length(self, least, most, length):
        """A slice that has so many elements of an axis which has `least` to `most`: its form and bounds."""
        r = self.r
        if least == most == length and r.chance(60):
            return "-", []
        step = r.weighted([(8, 1), (2, 2), (1, 3), (3, -1), (1, -2)])
        reach = (length - 1) * abs(step) + 1
        if reach > least:
            step, reach = 1, length
        first = r.below(least - reach + 1)
        if step == 1:
            known = [w for w in self.visible() if w.get("range") and w.type in SIGNED and w.get("range")[0] >= 0
                     and w.get("range")[1] + length <= least]
            if known and r.chance(40):
                w = r.pick(known)
                return "be", [name(w), add(name(w), lit(length))]
            if r.chance(20) and least == most:
                end = first + length - least
                return ("be", [lit(first), self.negative(end)]) if end else ("b", [self.negative(first - least)])
            return ("be", [lit(first), lit(first + length)]) if first else ("e", [lit(length)])
        if step > 0:
            return "bes", [lit(first), lit(first + reach), lit(step)]
        start = first + reach - 1
        return ("bes", [lit(start), lit(first - 1), self.negative(step)]) if first else ("bs", [lit(start),
                                                                                                self.negative(step)])

    def view_of_shape(self, v, shape):
        """A view of an array that has exactly this shape, or None."""
        r = self.r
        fewer = v.type.dims - len(shape)
        if fewer < 0 or not v.get("least") or min(v.get("least")) < 1:
            return None
        axes = sorted(r.shuffled(range(v.type.dims))[:fewer])
        kept = [k for k in range(v.type.dims) if k not in axes]
        if any(v.get("least")[k] < n for k, n in zip(kept, shape)):
            return None
        forms, args, left = [], [], list(shape)
        for k in range(v.type.dims):
            if k in axes:
                forms.append("i")
                args.append(self.place(v, k))
                continue
            form, bounds = self.axis_of_length(v.get("least")[k], v.get("most")[k], left.pop(0))
            forms.append(form)
            args += bounds
        while len(forms) > 1 and forms[-1] == "-" and r.chance(50):     # what is left out is whole
            forms.pop()
        e = view(name(v), forms, *args)
        e.type = Arr(v.type.elem, len(shape))
        return e

    def some_shape(self, v, most):
        """A shape that views of an array may have."""
        r = self.r
        dims = r.between(1, min(v.type.dims, 2))
        shape = []
        for n in r.shuffled(v.get("least"))[:dims]:
            shape.append(r.between(1, max(1, min(n, most))))
        return shape

    @staticmethod
    def memory_of(v):
        """The arrays whose memory a name stands for."""
        return v.get("memory") or frozenset([v])

    def memory_in(self, e):
        return frozenset().union(*map(self.memory_of, arrays_in(e)))

    def each_value(self, t, depth, shape, without=(), shared=()):
        """An expression of a number of type t for each element: of views, which have this shape, and numbers.

        `without`: memory that no view may be of, but those in `shared`."""
        r = self.r
        self.room -= 1

        def more(t, depth):
            return self.each_value(t, depth, shape, without, shared)
        if depth <= 0 or self.room < 0 or r.chance(20):
            return self.each_leaf(t, shape, without, shared)
        forms = [(6, lambda: binary(r.pick("+-*"), more(t, depth - 1), more(t, depth - 1))),
                 (2, lambda: binary(r.pick("+-*"), *r.shuffled([more(t, depth - 1), lit(values.literal(r, t))]))),
                 (1, lambda: unary("-", more(t, depth - 1))),
                 (2, lambda: call(r.pick(["min", "max"]), t, more(t, depth - 1), more(t, depth - 1))),
                 (1, lambda: call("abs", t, more(t, depth - 1))),
                 (2, lambda: conv(t, more(r.pick([s for s in REALS if s != t]), depth - 1))),
                 (1, lambda: self.each_choice(more(t, depth - 1), more(t, depth - 1), shared)),
                 (1, lambda: call("selp", t, self.each_test(depth - 1, shape, without, shared), more(t, depth - 1),
                                  more(t, depth - 1)))]
        functions = [f for f in self.functions if f.results == t and not f.generics and not f.facts.get("effects")
                     and all(isinstance(p.type, str) and p.type in REALS for p in f.params)]
        if functions:
            f = r.pick(functions)
            forms.append((4, lambda: apply(f, *[more(p.type, 0) for p in f.params])))
        if t in FLOATS:
            forms += [(2, lambda: binary(r.pick("+-"), mul(more(t, 0), more(t, 0)), more(t, depth - 1))),
                      (1, lambda: call(r.pick(["sqrt", "floor", "fabs"]), t, more(t, depth - 1))),
                      (1, lambda: binary("/", more(t, depth - 1), more(t, depth - 1)))]
        else:
            forms += [(1, lambda: binary(r.pick(["//", "%", "&", "|", "^"]), more(t, depth - 1), more(t, depth - 1))),
                      (1, lambda: call(r.pick(["popc", "brev", "clz"]), t, more(t, depth - 1)))]
        return r.weighted(forms)()

    def each_choice(self, a, b, shared):
        """Of two views one, but not of what is assigned: nobody would know in which order to go."""
        if a.op == b.op == "each" and not shared and packed(a.args[0]) == packed(b.args[0]) or a.op == b.op == "name":
            return cond(a, self.bool(1), b)
        return call("selp", a.type, self.bool(1), a, b)

    def each_leaf(self, t, shape, without, shared):
        r = self.r
        own = [e for e in shared if e.type.elem == t]
        if own and r.chance(50):
            return each_of(copied(r.pick(own)))
        found = [v for v in self.arrays(t) if v.get("role") == "in" and not self.memory_of(v) & frozenset(without)]
        for v in r.shuffled(found)[:3]:
            fewer = shape[1:] if len(shape) > 1 and without and r.chance(25) else shape
            e = self.view_of_shape(v, fewer)
            if e is not None and r.chance(85):
                return each_of(e)
        return self.leaf(t)

    def each_test(self, depth, shape, without=(), shared=()):
        """A comparison of elements."""
        r = self.r
        t = r.pick([v.type.elem for v in self.arrays() if v.type.elem in REALS] or ["i32"])
        a = self.each_value(t, depth, shape, without, shared)
        b = lit(values.literal(r, t)) if r.chance(40) else self.each_value(t, depth, shape, without, shared)
        return compare(r.pick(["<", "<=", "==", "!=", ">"]), a, b)

    def whole_view(self):
        return self.calmly(self.whole_view_assigned)

    def whole_view_assigned(self):
        """An assignment to a view as a whole, or an update of it."""
        r = self.r
        arrays = [v for v in self.writable() if not v.get("own") and v.get("least") and min(v.get("least")) > 0
                  and (v.type.elem in REALS or v.type.elem == "bool")]
        if not arrays or self.need or self.trips > 12:
            return self.store()
        v = r.pick(arrays)
        t = v.type.elem
        shape = self.some_shape(v, 9)
        target = self.view_of_shape(v, shape)
        if target is None:
            return self.store()
        shared = [target]
        if len(shape) == 1 and r.chance(50):
            moved = self.moved(v, target)
            shared = [moved] if moved is not None else shared
        self.room = self.options.room
        if t == "bool":
            return spread(target, "", self.each_test(1, shape, self.memory_of(v)) if r.chance(80) else self.bool(1))
        op = r.pick("+-*" + ("&|^" if t in INTS else "/")) if r.chance(40) else ""
        if not op and r.chance(15):
            narrow = [s for s in REALS if s != t and scalars.converts(s, t)]
            return spread(target, op, self.each_value(r.pick(narrow or [t]), 2, shape, self.memory_of(v)))
        return spread(target, op, self.each_value(t, r.between(0, 3), shape, self.memory_of(v), shared))

    def row_assigned(self, target, w, length):
        """A row of a parameter, whose view is w, as a whole."""
        r = self.r
        self.room = self.options.room
        op = r.pick("+-*") if r.chance(50) else ""
        return spread(target, op, self.calmly(lambda: self.each_value(target.type.elem, r.between(0, 3), [length],
                                                                      self.memory_of(w), [target])))

    def moved(self, v, target):
        """The same view of one axis some elements further along it, if that is inside."""
        r = self.r
        at = next(k for k, form in enumerate(target.data) if form != "i") if target.data.count("i") < len(
            target.data) else None
        if at is None or target.data[at] not in ("be", "e") or any(form not in ("i", "-") for k, form in enumerate(
                target.data) if k != at):
            return None
        place = sum(len(form.replace("-", "")) for form in target.data[:at])
        bounds = target.args[1 + place:1 + place + len(target.data[at])]
        if any(b.op != "lit" or b.data < 0 for b in bounds):
            return None
        first, end = ([0] + [b.data for b in bounds])[-2:]
        by = r.between(-3, 3)
        if first + by < 0 or end + by > v.get("least")[at]:
            return None
        e = copied(target)
        e.data = target.data[:at] + ("be",) + target.data[at + 1:]
        e.args[1 + place:1 + place + len(bounds)] = [lit(first + by), lit(end + by)]
        return e

    # ---- Reductions ----

    def folded(self, t, depth):
        return self.calmly(lambda: self.fold_of_views(t))

    def fold_of_views(self, t):
        """A reduction of a view, or of an expression of views, as a number of type t."""
        r = self.r
        arrays = [v for v in self.arrays() if v.get("role") == "in" and v.get("least") and min(v.get("least")) > 0
                  and (v.type.elem in REALS or v.type.elem == "bool")]
        if not arrays or self.need or self.trips > 12:
            return self.leaf(t)
        v = r.pick(arrays)
        elem = v.type.elem
        what = r.pick(["any", "all", "sum"] if elem == "bool" else ["sum", "sum", "prod", "mean", "min", "max", "dot",
                                                                   "any", "all"])
        whole = r.chance(30) and math.prod(v.get("most")) <= 40
        shape = self.some_shape(v, 8)
        e = name(v) if whole else self.view_of_shape(v, shape)
        if e is None:
            return self.leaf(t)
        return conv(t, self.fold_of(what, elem, each_of(e), shape, whole))

    def fold_of(self, what, elem, e, shape, whole):
        r = self.r
        behind = r.chance(40)
        if not whole and not behind and r.chance(60) and elem != "bool":
            if what in ("any", "all"):
                e = compare(r.pick(["<", ">=", "==", "!="]), e, lit(values.literal(r, elem)))
            elif what == "dot":
                pass
            else:
                other = self.each_value(elem, 1, shape)
                e = binary(r.pick("+-**"), *r.shuffled([e, other]))
        wide = elem if elem in ("f32", "f64") else "f32" if elem in FLOATS else \
            "u64" if elem in scalars.UNSIGNED else "i64"
        if what == "dot":
            return self.fold_dot(elem, wide, e, shape, whole)
        result = {"any": "bool", "all": "bool", "min": elem, "max": elem,
                  "mean": "f32" if elem in INTS else wide}.get(what, wide)
        return fold(what, result, e, behind=behind)

    def fold_dot(self, elem, wide, e, shape, whole):
        """The other view is of the same shape: the same one, or another."""
        r = self.r
        other = None
        if not whole:
            for v in r.shuffled([w for w in self.arrays(elem) if w.get("role") == "in"])[:2]:
                other = other or self.view_of_shape(v, shape)
        other = each_of(other) if other is not None else copied(e)
        return fold("dot", wide, e, other)

    # ---- One of two arrays; memory seen as another type ----

    def chosen_array(self):
        """One of two arrays or more, a choice in an arm of another."""
        r = self.r
        arrays = [v for v in self.visible() if isinstance(v.type, Arr) and v.get("role") == "in" and v.get("least")]
        alike = [[w for w in arrays if w.type is v.type and packed(name(w)) == packed(name(v))] for v in arrays]
        alike = [some for some in alike if len(some) > 1]
        if not alike or self.need:
            return self.view_of()
        some = r.shuffled(r.pick(alike))
        some = some[:2] + [r.pick(some) for _ in range(r.below(3) if r.chance(50) else 0)]
        self.room = self.options.room
        e, least, most = self.choice_of([self.arm(v, arrays) for v in some], 0)
        x = self.new(e.type, "w", role="in", least=least, most=most, memory=self.memory_in(e), packed=packed(e),
                     write_any=all(v.get("write_any") for v in arrays_in(e)))
        s = let(x, e)
        self.declare(x)
        return s

    def arm(self, v, arrays):
        """The array, or a row of one with an axis more, at an index of this arm alone; its least and most extents."""
        r = self.r
        more = [w for w in arrays if w.type is Arr(v.type.elem, v.type.dims + 1) and packed(name(w)) == packed(name(v))]
        if not more or r.chance(70):
            return name(v), v.get("least"), v.get("most")
        w = r.pick(more)
        at = self.calmly(lambda: self.place(w, 0))
        return view(name(w), ["i"] + ["-"] * v.type.dims, at), w.get("least")[1:], w.get("most")[1:]

    def choice_of(self, arms, depth):
        """A choice of all of these, and maybe a view of it, which is an array, too."""
        r = self.r
        if len(arms) > 1:
            k = r.between(1, len(arms) - 1)
            yes, no = self.choice_of(arms[:k], depth + 1), self.choice_of(arms[k:], depth + 1)
            test = self.calmly(lambda: self.bool(1)) if depth else self.bool(2)
            e = Expr("cond", yes[0].type, (yes[0], test, no[0]))
            least, most = tuple(map(min, yes[1], no[1])), tuple(map(max, yes[2], no[2]))
        else:
            e, least, most = arms[0]
        if e.type.dims == 1 and least[0] > 2 and r.chance(20):
            return view(e, ["b"], lit(1)), (least[0] - 1,), (most[0] - 1,)
        return e, least, most

    def seen_array(self):
        """An array of integers as those with or without a sign: the same memory, to read and to write."""
        r = self.r
        arrays = [v for v in self.visible() if isinstance(v.type, Arr) and v.get("role") == "in" and v.get("least")
                  and v.type.elem in INTS and min(v.get("least")) > 0]
        if not arrays or self.need:
            return self.view_of()
        v = r.pick(arrays)
        t = ("u" if v.type.elem[0] == "i" else "i") + v.type.elem[1:]
        w = self.new(Arr(t, v.type.dims), "w", role="in", least=v.get("least"), most=v.get("most"),
                     write_any=v.get("write_any"), memory=self.memory_of(v), packed=v.get("packed"))
        s = let(w, bits(name(v), t))
        self.declare(w)
        return s

    def seen_floats(self):
        """Bits of floats put into memory as integers, and read there where they are no NaN."""
        r = self.r
        arrays = [v for v in self.writable() if not v.get("own") and v.get("least") and min(v.get("least")) > 0
                  and v.type.elem in FLOATS]
        if not arrays or self.need:
            return self.seen_array()
        v = r.pick(arrays)
        t = r.pick(["i", "u"]) + str(scalars.BITS[v.type.elem])
        w, old = Var(f"w{self.names + 1}", Arr(t, v.type.dims)), Var(f"v{self.names + 2}", t)     # they hide nothing
        self.names += 2
        at = self.calmly(lambda: [self.place(v, k) for k in range(v.type.dims)])
        self.room = self.options.room
        there = index(name(v), *at)
        statements = [let(w, bits(name(v), t))]
        read = let(old, cond(index(name(w), *at), compare("==", there, there), self.constant(t)))
        value = binary(r.pick("^|&+"), name(old), self.operand(t, 1)) if r.chance(60) else self.real(t, 2)
        statements += [read, assign(index(name(w), *at), value)]
        self.declare(old)
        return group(*statements)
