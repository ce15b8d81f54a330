"""Statements over whole arrays in the run block, section 16 of docs/language.md: their text and their results.

An array in an expression stands for one of its elements, so that the expression of an element is what kernels have."""
import math

import scalars
from build import binary, conv, name
from host import argument, leaves
from machine import View, new_array, store
from scalars import COMPLEX, FLOATS, INTS, ROUND
from tree import Var, walk, write


# ---- Views by Python's rules ----

class Slice:
    """One subscript: an index, or start, stop and step with None for what is left out."""

    def __init__(self, index=None, start=None, stop=None, step=None):
        self.index, self.start, self.stop, self.step = index, start, stop, step

    def text(self):
        if self.index is not None:
            return str(self.index)
        text = f"{'' if self.start is None else self.start}:{'' if self.stop is None else self.stop}"
        return text + ("" if self.step is None else f":{self.step}")

    def applied(self, n):
        """(offset, extent or None, step) on an axis of n."""
        if self.index is not None:
            return self.index + n if self.index < 0 else self.index, None, 0
        start, stop, step = slice(self.start, self.stop, self.step).indices(n)
        return start, max(0, -(-(stop - start) // step)), step


def sliced(view, subscripts):
    off, shape, strides = view.off, [], []
    for k, (n, stride) in enumerate(zip(view.shape, view.strides)):
        first, extent, step = subscripts[k].applied(n) if k < len(subscripts) else (0, n, 1)
        if extent is None or extent:
            off += first * stride
        if extent is not None:
            shape.append(extent)
            strides.append(stride * step)
    return View(view.buf, view.elem, off, tuple(shape), tuple(strides))


def random_slice(r, n, keep):
    """A subscript for an axis of n; `keep`: it stays an axis."""
    if not keep and r.chance(50):
        return Slice(index=r.between(-n, n - 1))
    form = r.below(6)
    if form == 0:
        return Slice()
    if form == 1:
        return Slice(step=r.pick([-1, 2, -2, 3]))
    start = r.pick([None, r.below(n), -r.between(1, n)])
    stop = r.pick([None, r.between(0, n + 2), -r.between(1, n)])
    return Slice(start=start, stop=stop, step=r.pick([None, None, 1, 2, -1]))


def broadcast(shapes):
    """The common shape; None if there is none."""
    result = []
    for k in range(1, max((len(s) for s in shapes), default=0) + 1):
        extents = {s[-k] for s in shapes if len(s) >= k} - {1}
        if len(extents) > 1:
            return None
        result.insert(0, extents.pop() if extents else 1)
    return tuple(result)


def stretched(view, shape):
    """The view with the axes of a shape."""
    missing = len(shape) - len(view.shape)
    strides = [0] * missing + [0 if n == 1 else s for n, s in zip(view.shape, view.strides)]
    return View(view.buf, view.elem, view.off, tuple(shape), tuple(strides))


# ---- Statements ----

class Statement:
    """`e` is the expression, over Vars with the fact `array`: the name of an array of the run block."""
    results = ()

    def leaves(self):
        found = {}
        for n in walk(self.e):
            if n.op == "name" and n.data.get("value") is None:
                found[n.data.uid] = n.data
        return list(found.values())

    def uses(self):
        return {v.name for v in self.leaves()}

    def functions(self):
        """The functions that it calls."""
        return [n.data for n in walk(self.e) if n.op == "apply"]

    def elements(self, translator, views):
        """The expression's shape and its elements in C order."""
        leaves = self.leaves()
        function = translator.elementwise(self.e, leaves)
        shape = broadcast([views[v.name].shape for v in leaves])
        columns = [stretched(views[v.name], shape).values() for v in leaves]
        return shape, [function(*row) for row in zip(*columns)]


def keep(views, computed, array_name, t, shape, items):
    view = new_array(t, shape)
    for k, x in zip(view.places(), items):
        store(t, view.buf, k, x)
    views[array_name] = computed[array_name] = view


class Compute(Statement):
    """let name = expression"""

    def __init__(self, array_name, e):
        self.results, self.e = [array_name], e

    def lines(self):
        return [f"let {self.results[0]} = {write(self.e)}"]

    def execute(self, translator, views, computed):
        shape, items = self.elements(translator, views)
        keep(views, computed, self.results[0], self.e.type, shape, items)


class Several(Statement):
    """let a, b = modf(x) or frexp(x)"""

    def __init__(self, names, e):
        self.results, self.e = names, e

    def lines(self):
        return [f"let {', '.join(self.results)} = {write(self.e)}"]

    def execute(self, translator, views, computed):
        shape, items = self.elements(translator, views)
        for k, (array_name, t) in enumerate(zip(self.results, self.e.type.parts)):
            keep(views, computed, array_name, t, shape, [x[k] for x in items])


class Store(Statement):
    """a[slices] = expression, or += and the like"""

    def __init__(self, array, subscripts, op, e):
        self.array, self.subscripts, self.op, self.e = array, subscripts, op, e

    def uses(self):
        return super().uses() | {self.array.name}

    def lines(self):
        subs = ", ".join(s.text() for s in self.subscripts)
        return [f"{self.array.name}[{subs}] {self.op}= {write(self.e)}"]

    def execute(self, translator, views, computed):
        self.store(translator, views, sliced(views[self.array.name], self.subscripts))

    def store(self, translator, views, target):
        old = Var("old", target.elem)
        e = binary(self.op, name(old), self.e) if self.op else conv_by_itself(self.e, target.elem)
        known = self.leaves()
        function = translator.elementwise(e, known + [old])
        columns = [stretched(views[v.name], target.shape).values() for v in known]
        before = target.values()
        rows = zip(*columns, before) if columns else zip(before)
        for k, x in zip(target.places(), [function(*row) for row in rows]):
            store(target.elem, target.buf, k, scalars.convert(x, e.type, target.elem))


class OfFields(Store):
    """An expression of fields of an array of records, stored in one of them: a.mass += a.tag * 2. Without a `path` it
    is an array of its own."""

    def __init__(self, array, path, op, e, array_name=None):
        super().__init__(array, [], op, e)
        self.path, self.results = path, [array_name] if array_name else []

    def uses(self):
        return {self.array.name}

    def lines(self):
        head = f"let {self.results[0]} " if self.results else f"{'.'.join((self.array.name,) + self.path)} {self.op}"
        return [f"{head}= {write(self.e)}"]

    def execute(self, translator, views, computed):
        whole = views[self.array.name]
        fields = {".".join((self.array.name,) + path): whole.part(first, t)
                  for path, t, extents, first in leaves(self.array.elem) if not extents}
        if self.results:
            shape, items = self.elements(translator, fields)
            keep(views, computed, self.results[0], self.e.type, shape, items)
        else:
            self.store(translator, fields, fields[".".join((self.array.name,) + self.path)])


class StoreRecord(Statement):
    """a[2] = R(...), or to every element of a slice."""

    def __init__(self, array, subscripts, value, plain):
        self.array, self.subscripts, self.value, self.plain = array, subscripts, value, plain

    def uses(self):
        return {self.array.name}

    def functions(self):
        return []

    def lines(self):
        subs = ", ".join(s.text() for s in self.subscripts)
        return [f"{self.array.name}[{subs}] = {argument(self.value, self.array.elem, self.plain)}"]

    def execute(self, translator, views, computed):
        target = sliced(views[self.array.name], self.subscripts)
        for k in target.places():
            store(target.elem, target.buf, k, self.value)


def conv_by_itself(e, t):
    return e if e.type == t else conv(t, e)


class Reduce(Statement):
    """sum, mean, min and the like along axes; or of all, when an array of one element takes it."""

    def __init__(self, array_name, what, e, axes, keepdims, method, dims):
        self.results, self.what, self.e, self.axes = [array_name], what, e, axes
        self.keepdims, self.method = keepdims, method
        self.number = axes is None or dims == len(axes) and not keepdims

    def lines(self):
        given = []
        if self.axes is not None:
            axes = ", ".join(map(str, self.axes))
            given.append(f"axis={axes}" if len(self.axes) == 1 else f"axis=({axes})")
        if self.keepdims:
            given.append("keepdims=true")
        if self.method:
            text = f"{write(self.e, 13)}.{self.what}({', '.join(given)})"
        else:
            text = f"{self.what}({', '.join([write(self.e)] + given)})"
        return [f"let {self.results[0]} = " + (f"array([{text}], {self.result_type()})" if self.number else text)]

    def result_type(self):
        t = self.e.type
        if self.what in ("any", "all"):
            return "bool"
        if self.what in ("argmin", "argmax"):
            return "i64"
        if self.what == "sum":
            return t if t in FLOATS + COMPLEX else "u64" if t in scalars.UNSIGNED else "i64"
        if self.what == "mean":
            return "f64" if self.number else t if t in FLOATS else "f32"
        return t

    def execute(self, translator, views, computed):
        shape, items = self.elements(translator, views)
        dims = len(shape)
        axes = {a % dims for a in self.axes} if self.axes is not None else set(range(dims))
        groups = {}
        for k, x in enumerate(items):
            place, rest = [], k
            for n in reversed(shape):
                place.insert(0, rest % n)
                rest //= n
            groups.setdefault(tuple(i for d, i in enumerate(place) if d not in axes), []).append(x)
        out = [self.reduced(g) for g in groups.values()]
        left = tuple(1 if d in axes else n for d, n in enumerate(shape) if self.keepdims or d not in axes)
        keep(views, computed, self.results[0], self.result_type(), (1,) if self.number else left, out)

    def reduced(self, items):
        t, what = self.e.type, self.what
        if what in ("any", "all"):
            return (any if what == "any" else all)(x != 0 for x in items)
        if what in ("sum", "mean"):
            total = complex(sum(x.real for x in items), sum(x.imag for x in items)) if t in COMPLEX else sum(items)
            if what == "sum":
                return scalars.wrap(total, self.result_type()) if t in INTS + ("bool",) else total
            result = self.result_type()
            return ROUND[result](total / len(items))
        best = 0
        for k, x in enumerate(items):
            if x != x:
                best = k
                break
            if x < items[best] if what.endswith("min") else x > items[best]:
                best = k
        return best if what.startswith("arg") else items[best]


class Cumsum(Statement):
    def __init__(self, array_name, e, axis):
        self.results, self.e, self.axis = [array_name], e, axis

    def lines(self):
        return [f"let {self.results[0]} = cumsum({write(self.e)}{'' if self.axis is None else f', axis={self.axis}'})"]

    def execute(self, translator, views, computed):
        shape, items = self.elements(translator, views)
        t = self.e.type
        result = t if t in FLOATS else "u64" if t in scalars.UNSIGNED else "i64"
        axis = None if self.axis is None else self.axis % len(shape)
        inner = 1 if axis is None else math.prod(shape[axis + 1:])
        length = len(items) if axis is None else shape[axis]
        out = [None] * len(items)
        for k in range(len(items)):
            before = 0 if k // inner % length == 0 else out[k - inner]
            total = before + items[k]
            out[k] = scalars.wrap(int(total), result) if result in INTS else total
        if result in FLOATS:    # rounded at the end, from exact sums
            out = [scalars.convert(x, "f64", result) for x in out]
        keep(views, computed, self.results[0], result, (len(items),) if axis is None else shape, out)


class Matmul(Statement):
    """a @ b of arrays of one to three axes, perhaps transposed."""

    def __init__(self, array_name, a, b, transposed):
        self.results, self.a, self.b, self.transposed = [array_name], a, b, transposed

    def functions(self):
        return []

    def uses(self):
        return {self.a.name, self.b.name}

    def lines(self):
        a, b = (x.name + (".T" if t else "") for x, t in zip((self.a, self.b), self.transposed))
        return [f"let {self.results[0]} = {a} @ {b}"]

    def execute(self, translator, views, computed):
        a, b = (turned(views[x.name], t) for x, t in zip((self.a, self.b), self.transposed))
        t = scalars.common(a.elem, b.elem)
        stack = broadcast([a.shape[:-2], b.shape[:-2]]) if len(a.shape) > 1 and len(b.shape) > 1 else ()
        if len(a.shape) > 1:
            a = stretched(a, stack + a.shape[-2:]) if len(b.shape) > 1 else a
        if len(b.shape) > 1:
            b = stretched(b, stack + b.shape[-2:]) if len(a.shape) > 1 else b
        rows = a.shape[:-1]
        columns = b.shape[-1:] if len(b.shape) > 1 else ()
        av, bv = a.values(), b.values()
        n = a.shape[-1]
        out = []
        width = math.prod(columns)
        for i in range(math.prod(rows)):
            plane = i // rows[-1] if len(rows) > 1 and len(b.shape) > 2 else 0
            for j in range(width):
                total = 0
                for k in range(n):
                    x = scalars.convert(av[i * n + k], a.elem, t)
                    y = scalars.convert(bv[(plane * n + k) * width + j], b.elem, t)
                    total = total + x * y
                out.append(scalars.wrap(total, t) if t in INTS else ROUND[t](float(total)))
        keep(views, computed, self.results[0], t, rows + columns, out)


def turned(view, transposed):
    return view.turned() if transposed else view


class Reshape(Statement):
    """A view in another shape, or a part of one, and its copy."""

    def __init__(self, array_name, array, shape, subscripts, copied):
        self.results, self.array, self.shape = [array_name], array, shape
        self.subscripts, self.copied = subscripts, copied

    def functions(self):
        return []

    def uses(self):
        return {self.array.name}

    def lines(self):
        text = f"{self.array.name}"
        if self.subscripts:
            text += f"[{', '.join(s.text() for s in self.subscripts)}]"
        if self.shape:
            text = f"copy({text}).reshape({', '.join(map(str, self.shape))})"
        elif self.copied:
            text = f"copy({text})"
        return [f"let {self.results[0]} = {text}"]

    def execute(self, translator, views, computed):
        view = sliced(views[self.array.name], self.subscripts)
        if not self.shape and not self.copied:      # the same memory: what is stored there later is seen
            views[self.results[0]] = computed[self.results[0]] = view
            return
        items = view.values()
        shape = view.shape
        if self.shape:
            shape = tuple(len(items) // -math.prod(self.shape) if n < 0 else n for n in self.shape)
        keep(views, computed, self.results[0], self.array.elem, shape, items)


class Turned(Statement):
    """A view of a part of an array, behind which stands `form`: T, ravel, ravel-copy, order or split."""

    def __init__(self, array_name, array, subscripts, form, extents=()):
        self.results, self.array, self.subscripts = [array_name], array, subscripts
        self.form, self.extents = form, extents

    def functions(self):
        return []

    def uses(self):
        return {self.array.name}

    def lines(self):
        text = self.array.name
        if self.subscripts:
            text += f"[{', '.join(s.text() for s in self.subscripts)}]"
        text = {"T": f"{text}.T", "ravel": f"copy({text}).ravel()", "by columns": f'copy({text}).T.ravel(order="F")',
                "order": f'copy({text}).ravel().reshape({", ".join(map(str, self.extents))}, order="F")',
                "split": f"copy({text}).ravel().split({sum(self.extents[:1])})[{sum(self.extents[1:])}]"}[self.form]
        return [f"let {self.results[0]} = {text}"]

    def execute(self, translator, views, computed):
        view = sliced(views[self.array.name], self.subscripts)
        if self.form == "T":        # the same memory
            views[self.results[0]] = computed[self.results[0]] = view.turned()
            return
        items, shape = view.values(), (view.size,)
        if self.form == "order":
            rows, columns = self.extents
            rows = len(items) // columns if rows < 0 else rows
            columns = len(items) // rows
            items, shape = [items[i + j * rows] for i in range(rows) for j in range(columns)], (rows, columns)
        elif self.form == "split":
            n, k = self.extents
            items = items[n * k:n * (k + 1)]
            shape = (len(items),)
        keep(views, computed, self.results[0], self.array.elem, shape, items)


class Fill(Statement):
    """Arrays made by arange, full, ones and the random functions."""

    def __init__(self, array_name, text, t, shape, items):
        self.results, self.text_, self.t, self.shape, self.items = [array_name], text, t, shape, items

    def functions(self):
        return []

    def uses(self):
        return set()

    def lines(self):
        return [f"let {self.results[0]} = {self.text_}"]

    def execute(self, translator, views, computed):
        keep(views, computed, self.results[0], self.t, self.shape, self.items())
