"""The run block of a program: arrays in many layouts, launches, and what they leave, for the text and the reference.

An array has a base, memory of its own with canaries around what the kernel sees; the whole base is compared. A variant
of a program has other layouts: the same values in other places."""
import math

import machine
import values
from machine import View
from scalars import COMPLEX, PART
from tree import Fixed, Rec, Tup, Vec, called, number, slots


class Layout:
    """How an array of a shape lies in its base: for each axis (before, step, after, reversed), a start, and whether the
    axes are in the opposite order."""

    def __init__(self, shape, axes=None, front=0, back=0, transposed=False, device=False):
        self.shape = tuple(shape)
        self.device = device        # a copy in device memory, which comes back at the end
        self.axes = axes or [(0, 1, 0, False)] * len(self.shape)
        self.front, self.back, self.transposed = front, back, transposed

    @classmethod
    def random(cls, r, shape, transposes=True, devices=True):
        dims = len(shape)
        device = devices and r.chance(8)
        if r.chance(30):
            return cls(shape, None, 0, 0, transposes and dims > 1 and r.chance(40), device)
        axes = []
        for _ in shape:
            step = r.weighted([(7, 1), (2, 2), (1, 3)])
            axes.append((r.below(3), step, r.below(3), r.chance(20)))
        return cls(shape, axes, r.below(5), r.below(4), transposes and dims > 1 and r.chance(30), device)

    def inner_shape(self):
        """The base's shape behind reshape, before slices and the exchange of axes."""
        shape = reversed(self.shape) if self.transposed else self.shape
        return [before + (n - 1) * step + 1 + after if n else before + after
                for n, (before, step, after, _) in zip(shape, self.axes)]

    @property
    def total(self):
        return self.front + math.prod(self.inner_shape()) + self.back

    def view(self, buf, elem):
        """The reference's view of a base."""
        inner = self.inner_shape()
        shape = tuple(reversed(self.shape)) if self.transposed else self.shape
        strides, step = [], slots(elem)
        for n in reversed(inner):
            strides.insert(0, step)
            step *= n
        off = self.front * slots(elem)
        result = []
        for n, stride, (before, by, _, backwards) in zip(shape, strides, self.axes):
            off += before * stride
            if backwards:
                off += (n - 1) * by * stride
            result.append(-by * stride if backwards else by * stride)
        if self.transposed:
            result.reverse()
        return View(buf, elem, off, self.shape, tuple(result))

    def text(self, base, elem):
        """The same in the language, from the base's name."""
        inner = self.inner_shape()
        size = elem.count if isinstance(elem, Vec) else 1
        text, total = base, math.prod(inner)
        if self.front or self.back:
            text += f"[{self.front * size or ''}:{(self.front + total) * size}]"
        if len(inner) > 1 or size > 1:
            text += f".reshape({', '.join(map(str, inner + ([size] if size > 1 else [])))})"
        shape = tuple(reversed(self.shape)) if self.transposed else self.shape
        subs = []
        for n, extent, (before, step, after, backwards) in zip(shape, inner, self.axes):
            if backwards:
                end = before - 1
                first = before + (n - 1) * step
                subs.append(f"{first}:{end if end >= 0 else ''}:-{step}" if n else f"{before}:{before}")
            elif before or after or step > 1:
                subs.append(f"{before or ''}:{extent - after}" + (f":{step}" if step > 1 else ""))
            else:
                subs.append(":")
        if any(s != ":" for s in subs):
            while subs[-1] == ":":
                subs.pop()
            text += f"[{', '.join(subs)}]"
        if self.transposed:
            text += ".T"
        return text + (f".view({elem})" if size > 1 else "")


def leaves(t, path=()):
    """The numbers of an element: (path, scalar type, extents of fixed arrays on the way, first slot)."""
    def inside(t, path, extents, first):
        if isinstance(t, Rec):
            for name, ft, n in t.fields:
                yield from inside(ft, path + (name,), extents + tuple(n or ()), first)
                first += slots(ft) * math.prod(n or ())
        elif isinstance(t, Vec):
            yield path, t.part, extents + (t.count,), first
        elif t in COMPLEX:
            yield path + ("real",), PART[t], extents, first
            yield path + ("imag",), PART[t], extents, first + 1
        else:
            yield path, t, extents, first
    return list(inside(t, path, (), 0))


def leaf_values(t, value):
    """A value's numbers by leaf, in the order of leaves(): flat lists."""
    if isinstance(t, Rec):
        result = []
        for (_, ft, n), v in zip(t.fields, value):
            if n is None:
                result += leaf_values(ft, v)
                continue
            items = flatten(v, len(n))
            columns = [leaf_values(ft, x) for x in items]
            result += [sum((c[k] for c in columns), []) for k in range(len(columns[0]))]
        return result
    if isinstance(t, Vec):
        return [list(value)]
    if t in COMPLEX:
        return [[value.real], [value.imag]]
    return [[value]]


def flatten(v, depth):
    return [v] if depth == 0 else [x for w in v for x in flatten(w, depth - 1)]


class HostArray:
    """`values` are those of its elements in C order, None where all is the canary."""

    def __init__(self, name, elem, shape, values_, layout, compared=True):
        self.name, self.elem, self.shape, self.values = name, elem, tuple(shape), values_
        self.layout, self.compared = layout, compared
        self.directed = False       # is it given as In or InOut, which is for host arrays?
        self.listed = False         # of records: written as a list of them, not field by field
        self.in_order = False       # do kernels count on C order?
        self.unknown = False        # does the reference not know what comes into it?
        self.bound = None           # of results of functions: how many units in the last place they may be off

    def canary(self):
        if isinstance(self.elem, Rec):
            return canary_of(self.elem)
        if isinstance(self.elem, Vec):
            return (values.canary(self.elem.part, len(self.name)),) * self.elem.count
        return values.canary(self.elem, len(self.name))

    def make(self, layout, contents, lists):
        """The reference's base and view, with these elements (None: the canary everywhere)."""
        around = [None] * slots(self.elem)
        machine.store(self.elem, around, 0, self.canary())
        buf = around * layout.total
        view = layout.view(buf, self.elem)
        if contents is not None and isinstance(self.elem, str) and len(around) == 1:
            for k, v in zip(view.places(), contents):
                buf[k] = v
        elif contents is not None:
            for k, v in zip(view.places(), contents):
                machine.store(self.elem, buf, k, v)
        if lists is not list:
            view.buf = lists(buf)
        return view

    def text(self, layout):
        """The lines that make it."""
        base, t, total = f"{self.name}_base", self.elem, layout.total
        lines = []
        contents = self.make(layout, self.values, list)
        whole = View(contents.buf, t, 0, (total,), (slots(t),)).values()
        if isinstance(t, Vec) or t not in COMPLEX and not isinstance(t, Rec):
            part = t.part if isinstance(t, Vec) else t
            flat = [x for v in whole for x in v] if isinstance(t, Vec) else whole
            if self.values is None:
                c = flat[0] if flat else values.canary(part, 0)
                lines.append(f"let {base} = full({len(flat)}, {number(c, part)}, {part})")
            else:
                lines.append(f"let {base} = array([{', '.join(number(x, part) for x in flat)}], {part})")
        else:
            if self.listed and total:
                items = ", ".join(argument(v, t, k % 3 == 0) for k, v in enumerate(whole))
                return [f"let {base} = array([{items}], {t})"] + self.named(layout, base)
            lines.append(f"let {base} = zeros({total}, {t})")
            if not total:
                return lines + self.named(layout, base)
            columns = [leaf_values(t, v) for v in whole]
            for k, (path, part, extents, _) in enumerate(leaves(t)):
                place = ".".join((base,) + path)
                if self.values is None:
                    lines.append(f"{place}[:] = {number(columns[0][k][0], part)}")
                else:
                    lines.append(f"{place} = array({nested([c[k] for c in columns], extents, part)}, {part})")
        return lines + self.named(layout, base)

    def named(self, layout, base):
        if layout.device:
            return [f"let {self.name}_host = {layout.text(base, self.elem)}",
                    f"let {self.name} = to_device({self.name}_host)"]
        return [f"let {self.name} = {layout.text(base, self.elem)}"]

    def saved(self):
        """What is compared: (name in the run block, an expression for it or None, slot, scalar type, extents)."""
        base = f"{self.name}_base"
        if isinstance(self.elem, Rec):
            return [(f"{base}_{k}", ".".join((base,) + path), first, part, extents)
                    for k, (path, part, extents, first) in enumerate(leaves(self.elem))]
        if isinstance(self.elem, Vec):
            return [(base, None, 0, self.elem.part, (self.elem.count,))]
        return [(base, None, 0, self.elem, ())]


def canary_of(t):
    if isinstance(t, Rec):
        return tuple(canary_of(ft if n is None else Fixed(ft, n)) for _, ft, n in t.fields)
    if isinstance(t, Fixed):
        inner = Fixed(t.elem, t.extents[1:]) if len(t.extents) > 1 else t.elem
        return tuple(canary_of(inner) for _ in range(t.extents[0]))
    if isinstance(t, Vec):
        return (canary_of(t.part),) * t.count
    if t in COMPLEX:
        return complex(canary_of(PART[t]), canary_of(PART[t]))
    return values.canary(t, 5)


def nested(rows, extents, t):
    """The text of nested lists: rows of flat lists."""
    def lists(flat, extents):
        if not extents:
            return number(flat[0], t)
        step = len(flat) // extents[0]
        return f"[{', '.join(lists(flat[k * step:(k + 1) * step], extents[1:]) for k in range(extents[0]))}]"
    return f"[{', '.join(lists(row, extents) for row in rows)}]"


class Launch:
    """`args` are HostArrays or values in the order of the kernel's parameters, None for a default."""

    def __init__(self, kernel, grid, block, args, types, by_name=(), directions=None):
        self.kernel, self.grid, self.block, self.args, self.types = kernel, grid, block, args, types
        self.by_name, self.directions = set(by_name), directions or {}
        self.function = None        # of the run block: the one that has the launch as its body
        self.coverage = None        # of a kernel that no grid and block make a difference to: how many threads it needs

    def text(self, shape=None):
        """The statement; `shape`: another grid and block."""
        grid, block = shape or (self.grid, self.block)
        where = f"{called(self.kernel)}[{extents_text(grid)}, {extents_text(block)}]" if block else \
            f"{called(self.kernel)}.forall({grid[0]})"
        given = []
        named = False
        for p, a in zip(self.kernel.params, self.args):
            if a is None:
                continue
            t = self.types.get(p.type, p.type)
            text = a.name if isinstance(a, HostArray) else argument(a, t)
            if p.name in self.directions:
                text = f"{self.directions[p.name]}({text})"
            named = named or p.name in self.by_name or p.get("const")
            given.append(f"{p.name}={text}" if named else text)
        return f"{where}({', '.join(given)})"


class ConstFill:
    """W = array(...): the elements of a constant array that the host fills."""
    results = ()

    def __init__(self, var, items):
        self.var, self.items, self.shape = var, items, var.get("least")

    def uses(self):
        return set()

    def lines(self):
        def lists(items, shape):
            if not shape:
                return number(items[0], self.var.type.elem)
            step = len(items) // shape[0]
            return f"[{', '.join(lists(items[k * step:(k + 1) * step], shape[1:]) for k in range(shape[0]))}]"
        return [f"{called(self.var)} = array({lists(self.items, self.shape)}, {self.var.type.elem})"]

    def execute(self, translator, views, computed):
        view = machine.new_array(self.var.type.elem, self.shape)
        view.buf[:] = self.items
        translator.names[f"{self.var.name}_{self.var.uid}"] = view


def extents_text(n):
    return str(n[0]) if len(n) == 1 else f"({', '.join(map(str, n))})"


def argument(value, t, plain=False):
    """A number, vector, tuple or record as a launch's argument; `plain`: records as tuples."""
    if isinstance(t, Rec):
        parts = [argument(v, ft if n is None else Fixed(ft, n), plain) for v, (_, ft, n) in zip(value, t.fields)]
        return f"({', '.join(parts)},)" if plain else f"{t}({', '.join(parts)})"
    if isinstance(t, Fixed):
        inner = Fixed(t.elem, t.extents[1:]) if len(t.extents) > 1 else t.elem
        return f"({', '.join(argument(v, inner, plain) for v in value)},)"
    if isinstance(t, Tup):
        return f"({', '.join(argument(v, p) for v, p in zip(value, t.parts))})"
    if isinstance(t, Vec):
        return f"({', '.join(number(v, t.part) for v in value)})"
    if isinstance(value, complex):
        return f"{t}({number(value.real, '#f')}, {number(value.imag, '#f')})"
    return number(value, t)
