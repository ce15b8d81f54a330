"""Statements of the run block that call functions: of the file, of run blocks, of the library; and formatted texts."""
import math
import re

import scalars
from host import HostArray
from run_statements import Statement, keep
from scalars import FLOATS, INTS
from tree import number, write


# ---- reduce and scan with a function of the file ----

def joined_by_halves(f, items):
    """The 128 results of a chunk: i with i + 64, then with i + 32, ..."""
    items = list(items)
    half = 64
    while half:
        for i in range(min(half, max(len(items) - half, 0))):
            items[i] = f(items[i], items[i + half])
        del items[half:]
        half //= 2
    return items[0]


def joined_in_lanes(f, items):
    """A chunk's element i is joined to i - 128 and so on."""
    lanes = items[:128]
    for i in range(128, len(items)):
        lanes[i % 128] = f(lanes[i % 128], items[i])
    return joined_by_halves(f, lanes)


def one_after_the_other(f, items):
    total = items[0]
    for x in items[1:]:
        total = f(total, x)
    return total


LONG = 128      # elements, of more lines than one, that chunks of their own are made of


def reduced(f, items, first, lanes, alone):
    """Chunks, of what they came to chunks likewise, and `first` with that."""
    if not items:
        return first
    while True:
        chunk, join = (8192, joined_in_lanes) if alone or lanes and len(items) > LONG else (128, one_after_the_other)
        items = [join(f, items[k:k + chunk]) for k in range(0, len(items), chunk)]
        if len(items) == 1:
            return f(first, items[0])


def joined_to(f, before, items, exclusive):
    """The elements one after the other, and what they come to."""
    out = []
    for x in items:
        after = f(before, x)
        out.append(before if exclusive else after)
        before = after
    return out


def ends_of(f, tile):
    """What there is up to the end of each stretch of a tile: in rounds, with those 1, 2, 4, ... before."""
    ends, by = [one_after_the_other(f, tile[k:k + 17]) for k in range(0, len(tile), 17)], 1
    while by < 128:
        ends = [f(ends[k - by], x) if k >= by else x for k, x in enumerate(ends)]
        by *= 2
    return ends


def scanned(f, items, first, exclusive, lanes, alone):
    """In chunks of tiles of stretches; what chunks come to is scanned itself."""
    if not (alone or len(items) > LONG) or not lanes:
        chunks = [items[k:k + 128] for k in range(0, len(items), 128)]
        starts = [first]
        if len(chunks) > 1:
            sums = [one_after_the_other(f, c) for c in chunks]
            starts = scanned(f, sums, first, True, lanes, alone)
        return [x for c, start in zip(chunks, starts) for x in joined_to(f, start, c, exclusive)]
    out, size = [], 4 * 128 * 17
    chunks = [[c[k:k + 128 * 17] for k in range(0, len(c), 128 * 17)]
              for c in (items[k:k + size] for k in range(0, len(items), size))]
    starts = [first]
    if len(chunks) > 1:
        sums = [one_after_the_other(f, [ends_of(f, tile)[-1] for tile in c]) for c in chunks]
        starts = scanned(f, sums, first, True, lanes, alone)
    for chunk, carry in zip(chunks, starts):
        for tile in chunk:
            ends = ends_of(f, tile)
            for k in range(len(ends)):
                before = f(carry, ends[k - 1]) if k else carry
                out += joined_to(f, before, tile[17 * k:17 * k + 17], exclusive)
            carry = f(carry, ends[-1])
    return out


class Join(Statement):
    """reduce(f, a, first) or scan(f, a, first)"""

    def __init__(self, array_name, what, function, e, first, axis, flag, dims, t):
        self.results, self.what, self.function, self.e, self.first = [array_name], what, function, e, first
        self.axis, self.flag, self.t = axis, flag, t      # the flag: keepdims, or exclusive
        self.number = what == "reduce" and (axis is None or dims == 1 and not flag)

    def functions(self):
        return super().functions() + ([] if isinstance(self.function, str) else [self.function])

    def lines(self):
        f = self.function if isinstance(self.function, str) else self.function.name
        given = [f, write(self.e), number(self.first, self.t)]
        if self.axis is not None:
            given.append(f"axis={self.axis}")
        if self.flag:
            given.append("keepdims=true" if self.what == "reduce" else "exclusive=true")
        text = f"{self.what}({', '.join(given)})"
        return [f"let {self.results[0]} = " + (f"array([{text}], {self.t})" if self.number else text)]

    def joins(self, translator):
        if isinstance(self.function, str):
            return scalars.minimum if self.function == "min" else scalars.maximum
        f = translator.names[translator.function(self.function, [("T", self.t)] if self.function.generics else [])]
        return lambda a, b: f(translator.names["c"], None, a, b)

    def execute(self, translator, views, computed):
        shape, items = self.elements(translator, views)
        items = [scalars.convert(x, self.e.type, self.t) for x in items]
        f = self.joins(translator)
        axis = None if self.axis is None else self.axis % len(shape)
        inner = 1 if axis is None else math.prod(shape[axis + 1:])
        length = len(items) if axis is None else shape[axis]
        out, rows = [None] * len(items), []
        for row in range(len(items) // length if length else 0):
            start = row // inner * inner * length + row % inner
            line = items[start:start + inner * length:inner][:length]
            if self.what == "scan":
                out[start:start + inner * (length - 1) + 1:inner] = scanned(
                    f, line, self.first, self.flag, inner == 1, length == len(items))
            else:
                rows.append(reduced(f, line, self.first, inner == 1, length == len(items)))
        if self.what == "scan":
            keep(views, computed, self.results[0], self.t, (len(items),) if axis is None else shape, out)
            return
        left = tuple(1 if d == axis or axis is None else n for d, n in enumerate(shape)
                     if self.flag or axis is not None and d != axis)
        keep(views, computed, self.results[0], self.t, (1,) if self.number else left, rows)


# ---- Functions of run blocks ----

class Wrapped(Statement):
    """A statement as the body of a function of run blocks, and its call; a store may be done several times."""

    def __init__(self, inner, function_name, types, named, default, turns):
        self.inner, self.name, self.types, self.named, self.turns = inner, function_name, types, named, turns
        self.results = inner.results
        self.default = default              # a literal that is a parameter's default: (its text, is it given?)

    def uses(self):
        return self.inner.uses()

    def functions(self):
        return self.inner.functions()

    def parts(self):
        """What the statement assigns, and the text behind it, in the function's own names."""
        text = self.inner.lines()[0]
        names = sorted(self.inner.uses())
        for k, array_name in enumerate(names):
            text = re.sub(rf"\b{array_name}\b", f"p{k}_", text)
        if self.default:
            text = re.sub(rf"(?<![\w.]){re.escape(self.default[0])}(?![\w.])", "n_", text)
        head, _, body = text.partition(" = ") if self.results else ("", "", text)
        return names, head, body

    def definition(self):
        names, _, body = self.parts()
        params = [f"p{k}_" + (f": {self.types[n]}" if self.types.get(n) else "") for k, n in enumerate(names)]
        params += [f"n_ = {self.default[0]}"] if self.default else []
        if self.results:
            return f"run {self.name}({', '.join(params)}) {{ return {body} }}\n"
        if self.turns > 1:
            return f"run {self.name}({', '.join(params)}) {{\n    for k in range({self.turns}) {{ {body} }}\n}}\n"
        return f"run {self.name}({', '.join(params)}) {{ {body} }}\n"

    def lines(self):
        names, head, _ = self.parts()
        given = [f"p{k}_={n}" if k >= self.named else n for k, n in enumerate(names)]
        if self.default and self.default[1]:
            given.append(f"n_={self.default[0]}")
        call = f"{self.name}({', '.join(given)})"
        return [f"{head} = {call}" if self.results else call]

    def execute(self, translator, views, computed):
        for _ in range(self.turns):
            self.inner.execute(translator, views, computed)


def launch_function(s, text):
    """A launch in a function of run blocks: its definition, and the call."""
    names = []
    for a in s.args:
        if isinstance(a, HostArray) and a.name not in names:
            names.append(a.name)
    body = text
    for k, array_name in enumerate(names):
        body = re.sub(rf"\b{array_name}\b", f"p{k}_", body)
    params = ", ".join(f"p{k}_" for k in range(len(names)))
    return f"run {s.function}({params}) {{ {body} }}\n", f"{s.function}({', '.join(names)})"


# ---- Numbers, texts, the library ----

class NumberCall(Statement):
    """array([f(1, 2.5)], f32): a function of the file, of numbers."""

    def __init__(self, array_name, e):
        self.results, self.e = [array_name], e

    def lines(self):
        return [f"let {self.results[0]} = array([{write(self.e)}], {self.e.type})"]

    def execute(self, translator, views, computed):
        keep(views, computed, self.results[0], self.e.type, (1,), [translator.elementwise(self.e, [])()])


class Text(Statement):
    """A line that is printed."""

    def __init__(self, code, expected):
        self.code, self.expected = code, expected

    def uses(self):
        return set()

    def functions(self):
        return []

    def lines(self):
        return self.code

    def execute(self, translator, views, computed):
        translator.machine.lines += self.expected


class NumberText(Text):
    """A line of numbers, of which some have types."""


class Library(Statement):
    """let a, b = sort.pairs(...): `compute` gives (type, shape, elements) for each result from the arrays' views."""

    def __init__(self, names, library, space, text, arrays, compute):
        self.results, self.std, self.text, self.arrays = names, (library, space), text, arrays
        self.compute = compute

    def uses(self):
        return set(self.arrays)

    def functions(self):
        return []

    def lines(self):
        return [f"let {', '.join(self.results)} = {self.std[1]}.{self.text}"]

    def execute(self, translator, views, computed):
        for array_name, (t, shape, items) in zip(self.results, self.compute(*[views[n] for n in self.arrays])):
            keep(views, computed, array_name, t, shape, items)


class Gemm(Statement):
    """matrix.gemm(a, b, c, alpha=2, beta=1), whose sums are integers."""
    results = ()

    def __init__(self, space, arrays, turned, alpha, beta):
        self.space, self.matrices, self.turned, self.alpha, self.beta = space, arrays, turned, alpha, beta

    def uses(self):
        return {a.name for a in self.matrices}

    def functions(self):
        return []

    def lines(self):
        given = [a.name + (".T" if turn else "") for a, turn in zip(self.matrices, self.turned)]
        given += [f"{k}={x}" for k, x in (("alpha", self.alpha), ("beta", self.beta)) if x is not None]
        return [f"{self.space}.gemm({', '.join(given)})"]

    def execute(self, translator, views, computed):
        a, b, c = (views[x.name].turned() if turn else views[x.name] for x, turn in zip(self.matrices, self.turned))
        t = c.elem
        alpha, beta = 1 if self.alpha is None else self.alpha, self.beta or 0
        sums = [alpha * sum(a.get((i, k)) * b.get((k, j)) for k in range(a.shape[1])) + beta * c.get((i, j))
                for i in range(c.shape[0]) for j in range(c.shape[1])]
        for k, x in zip(c.places(), sums):
            c.buf[k] = scalars.wrap(x, t) if t in INTS else float(x)


def sort_places(items, descending):
    """Stable, NaN behind all numbers."""
    keys = [(x != x, 0 if x != x else -x if descending else x) for x in items]
    return sorted(range(len(items)), key=lambda k: keys[k])


def running(items, t, combine):
    """From the first element on."""
    out = []
    for x in items:
        out.append(x if not out else combine(out[-1], x))
    return [scalars.wrap(x, t) if t in INTS else scalars.convert(x, "f64", t) if t in FLOATS else x for x in out]


def sum_type(t):
    return t if t in FLOATS else "u64" if t in scalars.UNSIGNED else "i64"


def runs_of(items):
    """The places where runs of equal elements begin."""
    return [k for k, x in enumerate(items) if k == 0 or not x == items[k - 1]]
