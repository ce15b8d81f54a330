"""The generator's run blocks: calls of functions of the file, of run blocks and of the library, and formatted texts."""
import bisect
import math
import re

import libm
import scalars
import values
from build import add, apply, binary, call, compare, cond, if_, lit, mul, name, return_, typed
from gen_function import FunctionGen
from gen_library import RunLibrary
from gen_numbers import Numbers
from gen_texts import Texts
from host import HostArray, Layout
from run_calls import Join, Library, NumberCall, Wrapped, running, runs_of, sort_places, sum_type
from run_statements import Compute, Cumsum, Fill, Reduce, Several, Store
from scalars import FLOATS, INTS, REALS
from tree import Function, Tup, Var

class RunCalls(RunLibrary, Texts, Numbers):
    """A part of RunGen (gen_run.py)."""

    # ---- Functions of the file ----

    def make_functions(self):
        r = self.r
        for k in range(r.weighted([(2, 0), (3, 1), (2, 2)])):
            g = FunctionGen(r.fork(), [r.pick(REALS) for _ in range(3)], self.options, self.program)
            g.bounds = {}
            self.program.functions.append(g.generic(k) if r.chance(25) else g.of_numbers(k))

    def number_call(self):
        """A function of numbers alone."""
        r = self.r
        functions = [f for f in self.program.functions if not f.generics and isinstance(f.results, str)]
        if not functions:
            return self.compute()
        f = r.pick(functions)
        args = [lit(values.literal(r, p.type)) for p in f.params if p.get("default") is None]
        return NumberCall(self.new_name(), apply(f, *args)) if f.results != "u64" else None

    def join_function(self, t, scans):
        """A function of two values that is associative, and for reduce it does not matter which comes first."""
        r = self.r
        if r.chance(15):
            return r.pick(["min", "max"])
        a, b = Var("a", t), Var("b", t)
        x, y = name(a), name(b)
        forms = [lambda: add(x, y), lambda: mul(x, y), lambda: add(add(x, y), mul(x, y)),
                 lambda: call("max", t, x, y), lambda: cond(x, compare("<", x, y), y)]
        if t in INTS:
            forms += [lambda op=op: binary(op, x, y) for op in "&|^"]
        if scans:
            forms += [lambda: x, lambda: y]
        body = [return_(r.pick(forms)())]
        if t in INTS and r.chance(20):
            body = [if_(compare("<", x, y), [return_(y)]), return_(x)]
        if scans and t == "u64" and r.chance(50):       # maps x -> m * x + c of 32 bits, one after the other
            half, mask = lit(32), typed(0xffffffff, t)
            m, c = binary(">>", x, half), binary("&", x, mask)
            n, d = binary(">>", y, half), binary("&", y, mask)
            moved = binary("&", add(mul(n, c), d), mask)
            body = [return_(binary("|", binary("<<", mul(m, n), half), moved))]
        self.count += 1
        f = Function(f"join{self.count}", [a, b], t, body)
        self.program.functions.append(f)
        return f

    def join(self):
        r = self.r
        what = r.pick(["reduce", "scan"])
        if r.chance(40):
            return self.join_floats(what)
        v = r.pick([v for v in self.known if v.type in REALS])
        t = r.pick([s for s in INTS if scalars.converts(v.type, s)] or ["i32"])
        e = name(v) if v.type in INTS and r.chance(40) else self.full(t)
        shape = self.shape_of(e)
        axis = None if r.chance(40) else r.below(len(shape))
        flag = r.chance(25) if what == "scan" or axis is not None else False
        number = what == "reduce" and (axis is None or len(shape) == 1 and not flag)
        if "u64" in (t, e.type) and number:
            return None
        f = self.join_function(t, what == "scan")
        t = e.type if isinstance(f, str) else t
        return Join(self.new_name(), what, f, e, values.scalar(r, t, 30), axis, flag, len(shape), t)

    def join_floats(self, what):
        """Of an array in C order: the shape alone says in which order elements are joined."""
        r = self.r
        of = r.pick(["f32", "f64"])
        long = r.chance(40)
        shape = r.pick([(r.between(1, 12000 if long else 400),), (r.between(1, 700 if long else 40), r.between(1, 9)),
                        (r.between(1, 6), r.between(1, 1500 if long else 200))])
        v = self.fill_uniform(of, shape)
        t = "f64" if r.chance(30) else of
        axis = None if r.chance(40) else r.below(len(shape))
        flag = r.chance(25) if what == "scan" or axis is not None else False
        first = float(r.pick([0, 1, 0.5, -3]))
        f = self.join_function(t, what == "scan")
        t = of if isinstance(f, str) else t
        return Join(self.new_name(), what, f, name(v), first, axis, flag, len(shape), t)

    def fill_uniform(self, t, shape):
        seed, array_name = self.r.between(0, 1 << 30), self.new_name()
        text = str(shape[0]) if len(shape) == 1 else f"({', '.join(map(str, shape))})"
        self.program.run.append(Fill(array_name, f"random.uniform({text}, {t}, seed={seed})", t, shape,
                                     lambda: [libm.uniform(seed, k, t) for k in range(math.prod(shape))]))
        return Var(array_name, t)

    # ---- Functions of run blocks ----

    def wrapped(self, s):
        """The statement as a function's body."""
        r = self.r
        if s is None or not isinstance(s, (Compute, Several, Store, Reduce, Cumsum, Join, Library)):
            return s
        self.count += 1
        hosts = {h.name: h for h in self.program.arrays()}
        types = {n: f"{hosts[n].elem}[{',' * (len(hosts[n].shape) - 1)}]" for n in sorted(s.uses())
                 if n in hosts and r.chance(40)}
        default = None
        # Not an exponent, nor what a minus stands before: it would be another number.
        found = re.findall(r"(?<![\w.\-])(?<!\*\* )\d+(?![\w.])", s.lines()[0].partition("=")[2])
        if found and r.chance(40):
            default = r.pick(found), r.chance(50)
        turns = r.between(1, 3) if isinstance(s, Store) else 1
        return Wrapped(s, f"rf{self.count}", types, r.between(0, len(s.uses())), default, turns)

    # ---- The library ----

    def std_array(self, types):
        """An array of one axis, of any layout, or a long one."""
        r = self.r
        if r.chance(25):
            t = r.pick([t for t in types if t in INTS] or ["i32"])
            n, seed, array_name = r.between(1, 3000), r.between(0, 1 << 30), self.new_name()
            low, high = r.pick([(0, 100), (0, 3), (scalars.least(t) // 2, scalars.greatest(t) // 2)])
            text = f"random.randint({low}, {high}, {n}, {t}, seed={seed})"
            self.program.run.append(Fill(array_name, text, t, (n,),
                                         lambda: [libm.randint(low, high, seed, k, t) for k in range(n)]))
            return array_name, t, n
        return self.short_array(r.pick(types), r.pick([0, 1, 2, 3, 7, 20, 33, 64, 100]))

    def short_array(self, t, n, items=None):
        r = self.r
        self.count += 1
        wild = r.pick([0, 40])
        items = items if items is not None else [values.value(r, t, wild) for _ in range(n)]
        array = HostArray(f"s{self.count}", t, (n,), items, Layout.random(r, (n,), False, False), False)
        array.directed = True
        self.program.run.append(array)
        return array.name, t, n

    def std(self):
        r = self.r
        return getattr(self, "std_" + r.pick(["sort", "select", "scan", "histogram", "top", "matrix", "segment",
                                             "segment", "sparse", "sparse", "gemm"]))()

    def space(self, library):
        """By which name the program knows a file of the library."""
        spaces = self.program.libraries
        if library not in spaces:
            spaces[library] = library if self.r.chance(60) and library != "scan" else f"std_{library}"
        return spaces[library]

    def made(self, library, text, arrays, results, compute):
        names = [self.new_name() for _ in range(results)]
        return Library(names, library, self.space(library), text, arrays, compute)

    def std_sort(self):
        r = self.r
        a, t, n = self.std_array(REALS)
        down = r.chance(40)
        last = ", descending=true" if down else ""
        form = r.pick(["keys", "argsort", "pairs"])
        if form == "keys":
            return self.made("sort", f"keys({a}{last})", [a], 1, lambda v: [
                (t, (n,), [v.values()[k] for k in sort_places(v.values(), down)])])
        if form == "argsort":
            return self.made("sort", f"argsort({a}{last})", [a], 1, lambda v: [
                ("i64", (n,), sort_places(v.values(), down))])
        u = r.pick(REALS + ("bool", "c64"))
        b, _, _ = self.short_array(u, n)

        def pairs(v, w):
            places = sort_places(v.values(), down)
            return [(x.elem, (n,), [x.values()[k] for k in places]) for x in (v, w)]
        return self.made("sort", f"pairs({a}, {b}{last})", [a, b], 2, pairs)

    def std_select(self):
        r = self.r
        a, t, n = self.std_array(REALS + ("bool",))
        form = r.pick(["where", "places", "unique", "runs"])
        if form in ("where", "places"):
            flags, _, _ = self.short_array("bool", n)
            if form == "where":
                def where(v, w):
                    kept = [x for x, on in zip(v.values(), w.values()) if on]
                    return [(t, (len(kept),), kept)]
                return self.made("select", f"where({a}, {flags})", [a, flags], 1, where)

            def places(w):
                found = [k for k, on in enumerate(w.values()) if on]
                return [("i64", (len(found),), found)]
            return self.made("select", f"places({flags})", [flags], 1, places)

        def runs(v):
            items = v.values()
            starts = runs_of(items)
            lengths = [b - a for a, b in zip(starts, starts[1:] + [n])]
            return [(t, (len(starts),), [items[k] for k in starts]), ("i64", (len(starts),), lengths)]
        if form == "unique":
            return self.made("select", f"unique({a})", [a], 1, lambda v: runs(v)[:1])
        return self.made("select", f"runs({a})", [a], 2, runs)

    def std_scan(self):
        r = self.r
        form = r.pick(["inclusive", "exclusive", "prod", "min", "max", "segmented"])
        a, t, n = self.std_array(REALS if form in ("min", "max") else INTS)
        s = sum_type(t)
        if form in ("min", "max"):
            best = scalars.minimum if form == "min" else scalars.maximum
            return self.made("scan", f"{form}({a})", [a], 1, lambda v: [
                (t, (n,), running(v.values(), t, lambda x, y: math.nan if x != x or y != y else best(x, y)))])
        if form == "segmented":
            flags, _, _ = self.short_array("bool", n)

            def segmented(v, w):
                out = []
                for x, start in zip(v.values(), w.values()):
                    out.append(x if start or not out else out[-1] + x)
                return [(s, (n,), [scalars.wrap(x, s) for x in out])]
            return self.made("scan", f"segmented({a}, {flags})", [a, flags], 1, segmented)

        def sums(v):
            items = running(v.values(), s, (lambda x, y: x * y) if form == "prod" else lambda x, y: x + y)
            return [(s, (n,), ([0] + items)[:n] if form == "exclusive" else items)]
        return self.made("scan", f"{form}({a})", [a], 1, sums)

    def std_histogram(self):
        r = self.r
        if r.chance(50):
            a, t, n = self.std_array(INTS)
            bins = r.between(1, 70)
            return self.made("histogram", f"count({a}, {bins})", [a], 1, lambda v: [
                ("i64", (bins,), [v.values().count(k) for k in range(bins)])])
        a, t, n = self.short_array(r.pick(FLOATS), r.between(1, 60))
        bins, step, low = r.pick([1, 2, 4, 8, 16]), r.pick([0.25, 1.0, 2.0]), r.pick([0.0, -4.0, 1.0])
        edges = [low + k * step for k in range(bins + 1)]

        def histogram(v):
            counts = [0] * bins
            for x in v.values():
                if low <= x <= edges[-1]:
                    counts[min(bisect.bisect_right(edges, x), bins) - 1] += 1
            return [("i64", (bins,), counts), ("f32" if t == "f32" else "f64", (bins + 1,), edges)]
        return self.made("histogram", f"of({a}, {low}, {edges[-1]}, {bins})", [a], 2, histogram)

    def std_top(self):
        r = self.r
        a, t, n = self.std_array(REALS)
        k, form = r.between(0, n + 2), r.pick(["k", "least"])

        def top(v):
            places = sort_places(v.values(), form == "k")[:k]
            return [(t, (len(places),), [v.values()[p] for p in places]), ("i64", (len(places),), places)]
        return self.made("top", f"{form}({a}, {k})", [a], 2, top)

    def std_matrix(self):
        r = self.r
        arrays = [h for h in self.hosts if len(h.shape) == 2]
        if not arrays:
            return self.std_sort()
        h = r.pick(arrays)
        rows, columns = h.shape
        return self.made("matrix", f"transpose({h.name})", [h.name], 1, lambda v: [
            (h.elem, (columns, rows), [v.get((i, j)) for j in range(columns) for i in range(rows)])])


def several_of(r, functions):
    """A function with several results, if there is one."""
    found = [f for f in functions if isinstance(f.results, Tup)]
    return r.pick(found) if found else None
