"""The generator's calls of std/ whose results are integers, or exact: segments, sparse matrices, products, functions
of kernels."""
import math

import scalars
import values
from build import call, compare, let, let_many, logic, name, return_, sync, warp
from host import HostArray, Layout
from run_calls import Gemm, sum_type
from scalars import INTS, REALS
from tree import Function, Tup, Var


# ---- Device functions, by what their files say of them ----

def order_functions():
    """std.order: of two values of one type."""
    a, b = Var("a", "T"), Var("b", "T")
    x, y = name(a), name(b)

    def made(function_name, results, e):
        f = Function(function_name, [a, b], results, [return_(e)], [("T", "number")])
        f.facts["home"] = "order"
        return f
    before = logic("and", compare("==", x, x), logic("or", compare("!=", y, y), compare("<", x, y)))
    return [made("lesser", "T", call("min", "T", x, y)), made("greater", "T", call("max", "T", x, y)),
            made("before", "bool", before)]


class BlockLibrary:
    """A part of BlockGen (gen_block.py): what all threads of a block do together."""

    def std_type(self, sums):
        """What is added is an integer."""
        r = self.r
        types = INTS if sums else REALS
        return r.pick([t for t in self.palette if t in types] or ["i32"]) if r.chance(60) else r.pick(types)

    def warp_call(self):
        """What the threads of a warp come to, all of them."""
        r = self.r
        what = r.pick(["sum", "prod", "min", "max", "inclusive_sum", "exclusive_sum"])
        t = self.std_type(what not in ("min", "max"))
        self.std_used("warp")
        e = warp(f"warp.{what}", self.real(t, 2))
        e.type = t
        return self.bind_one(t, e)

    def block_call(self):
        r = self.r
        what = r.pick(["sum", "min", "max", "inclusive_sum", "exclusive_sum", "sort", "sort_pairs"])
        t = self.std_type("sum" in what)
        self.room = self.options.room
        self.std_used("block")
        flow, self.flow = self.flow, None
        args = [self.real(t, 2)]
        if what == "sort_pairs":
            args.append(self.real(r.pick(REALS), 1))
        self.flow = flow
        if what in ("exclusive_sum", "sort_pairs"):
            types = (t, t) if what == "exclusive_sum" else (t, args[1].type)
            names = [self.new(types[0]), self.new(types[1])]
            while names[0].name == names[1].name:
                names[1] = self.new(types[1])
            s = let_many(names, sync(f"block.{what}", *args))
            s.args[0].type = Tup(types)
        else:
            names = [self.new(t, uniform="block" if what in ("sum", "min", "max") else None)]
            s = let(names[0], sync(f"block.{what}", *args))
            s.args[0].type = t
        for v in names:
            self.declare(v)
        return s


# ---- Run blocks ----

def exact(r, t):
    """Small enough that sums of floats are exact."""
    return values.scalar(r, t, 40) if t in INTS else float(r.between(-6, 6))


class RunLibrary:
    """A part of RunCalls (gen_calls.py)."""

    def offsets(self, n):
        """(name, how many segments): ascending places from 0 to n."""
        r = self.r
        count = r.between(0, 6)
        items = sorted(r.between(0, n) for _ in range(count + 1))
        if r.chance(50):
            items[0], items[-1] = (0, n) if count else (items[0], items[0])
        return self.short_array(r.pick(["i64", "i32", "u32"] + (["u8"] if n < 256 else [])), len(items), items)[0]

    def std_segment(self):
        r = self.r
        form = r.pick(["sum", "prod", "min", "max", "flags", "offsets", "numbers"])
        if form == "offsets":
            flags, _, n = self.short_array("bool", r.pick([0, 1, 5, 30, 70]))

            def offsets(v):
                begins = [k for k, x in enumerate(v.values()) if x or k == 0] + [n]
                return [("i64", (len(begins),), begins)]
            return self.made("segment", f"offsets({flags})", [flags], 1, offsets)
        if form in ("flags", "numbers"):
            n = r.pick([0, 1, 7, 40])
            at = self.offsets(n)

            def marks(v):
                o = v.values()
                if form == "flags":
                    return [("bool", (n,), [any(a == k < b for a, b in zip(o, o[1:])) for k in range(n)])]
                return [("i64", (n,), [sum(a <= k for a in o) - 1 for k in range(n)])]
            return self.made("segment", f"{form}({at}, {n})", [at], 1, marks)
        a, t, n = self.std_array(REALS if form in ("min", "max") else INTS)
        at = self.offsets(n)

        def reduced(v, w):
            items, o = v.values(), w.values()
            parts = [items[b:e] for b, e in zip(o, o[1:])]
            if form in ("min", "max"):
                return [(t, (len(parts),), [extreme(form, t, p) for p in parts])]
            s = sum_type(t)
            whole = sum if form == "sum" else math.prod
            return [(s, (len(parts),), [scalars.wrap(whole(p), s) for p in parts])]
        return self.made("segment", f"{form}({a}, {at})", [a, at], 1, reduced)

    def matrix_array(self, t, shape, some_zeros=False):
        r = self.r
        self.count += 1
        items = [scalars.convert(0, "i32", t) if some_zeros and r.chance(60) else exact(r, t)
                 for _ in range(math.prod(shape))]
        array = HostArray(f"s{self.count}", t, shape, items, Layout.random(r, shape, True, False), False)
        array.directed = True
        self.program.run.append(array)
        return array

    def std_sparse(self):
        """A matrix made of single elements, of a dense one or of its arrays; what is asked of it."""
        r = self.r
        space = self.space("sparse")
        t = r.pick(INTS)
        h, w, n = r.between(1, 12), r.between(1, 9), r.pick([0, 1, 5, 20, 60])
        form = r.pick(["from_coo", "from_coo", "from_dense", "csr"])
        if form == "from_dense":
            arrays = [self.matrix_array(t, (h, w), True).name]
            text = f"{space}.from_dense({arrays[0]})"
        else:
            rows = [sorted(r.shuffled(range(w))[:r.below(w + 1)]) for _ in range(h)]
            columns = [c for row in rows for c in row]
            n = len(columns) if form == "csr" else n
            first = [sum(map(len, rows[:k])) for k in range(h + 1)] if form == "csr" else [r.below(h) for _ in range(n)]
            second = columns if form == "csr" else [r.below(w) for _ in range(n)]
            arrays = [self.whole_array(r.pick(["i64", "i32", "u32"]), first),
                      self.whole_array(r.pick(["i64", "i32", "u8"]), second),
                      self.whole_array(t, [values.scalar(r, t, 40) for _ in range(n)])]
            text = f"{space}.{form}({', '.join(arrays)}, ({h}, {w}))"
        return self.of_matrix(text, arrays, form, t, h, w)

    def whole_array(self, t, items):
        return self.short_array(t, len(items), items)[0]

    def of_matrix(self, text, arrays, form, t, h, w):
        r = self.r

        def matrix(views):
            return rows_of(form, [v.values() for v in views[:len(arrays)]], t, h, w)
        what = r.pick(["spmv", "spmv", "spmm", "to_dense", "transpose", "rows", "offsets", "columns", "values"])
        if what in ("spmv", "spmm"):
            wide = r.pick([1, 3, 9, 17]) if what == "spmm" else 1
            x = self.matrix_array(t, (w, wide) if what == "spmm" else (w,))

            def product(*views):
                b = views[-1].values()
                sums = [sum(v * b[c * wide + j] for c, v in row) for row in matrix(views) for j in range(wide)]
                return [(t, (h, wide) if what == "spmm" else (h,), [scalars.wrap(s, t) for s in sums])]
            return self.made("sparse", f"{what}({text}, {x.name})", arrays + [x.name], 1, product)

        def dense(*views):
            out = [[0] * w for _ in range(h)]
            for i, row in enumerate(matrix(views)):
                for c, v in row:
                    out[i][c] = v
            out = out if what == "to_dense" else [list(column) for column in zip(*out)]
            return [(t, (len(out), len(out[0])), sum(out, []))]
        if what in ("to_dense", "transpose"):
            inner = text if what == "to_dense" else f"{self.space('sparse')}.transpose({text})"
            return self.made("sparse", f"to_dense({inner})", arrays, 1, dense)
        return self.parts_of_matrix(text, arrays, what, t, matrix)

    def parts_of_matrix(self, text, arrays, what, t, matrix):
        def parts(*views):
            rows = matrix(views)
            n = sum(map(len, rows))
            if what == "rows":
                return [("i64", (n,), [i for i, row in enumerate(rows) for _ in row])]
            if what == "offsets":
                return [("i64", (len(rows) + 1,), [sum(map(len, rows[:k])) for k in range(len(rows) + 1)])]
            return [("i32" if what == "columns" else t, (n,),
                     [x[what == "values"] for row in rows for x in row])]
        text = text.partition(".")[2]
        places = {"offsets": 0, "columns": 1, "values": 2}
        if what == "rows":
            return self.made("sparse", f"rows({self.space('sparse')}.{text})", arrays, 1, parts)
        return self.made("sparse", f"{text}[{places[what]}]", arrays, 1, parts)

    def std_gemm(self):
        r = self.r
        t = r.pick(INTS + ("f32", "f64"))
        big = r.chance(30)
        h, n, w = (r.between(16, 22) if big else r.between(1, 9) for _ in range(3))
        shapes = (h, n), (n, w), (h, w)
        turned = [r.chance(25), r.chance(25), False]
        arrays = [self.matrix_array(t, shape[::-1] if turn else shape) for shape, turn in zip(shapes, turned)]
        arrays[2].compared = True
        return Gemm((self.space("matrix")), arrays, turned, r.pick([None, 1, 2, 3]), r.pick([None, 0, 1, 2]))


def rows_of(form, arrays, t, h, w):
    """For each row of a sparse matrix its (column, value), in order."""
    if form == "from_dense":
        items = arrays[0]
        return [[(j, items[i * w + j]) for j in range(w) if items[i * w + j] != 0] for i in range(h)]
    first, columns, items = arrays
    if form == "csr":
        return [list(zip(columns[a:b], items[a:b])) for a, b in zip(first, first[1:])]
    rows = [{} for _ in range(h)]
    for i, j, x in zip(first, columns, items):
        rows[i][j] = scalars.wrap(rows[i].get(j, 0) + x, t)
    return [sorted(row.items()) for row in rows]


def extreme(what, t, items):
    if not items:
        return scalars.NAN if t not in INTS else scalars.greatest(t) if what == "min" else scalars.least(t)
    if any(x != x for x in items):
        return scalars.NAN
    best = items[0]
    for x in items[1:]:
        best = scalars.minimum(best, x) if what == "min" else scalars.maximum(best, x)
    return best
