"""The reference: elements, views, attributes, and what waits, as Python expressions."""
import math

import scalars
from scalars import COMPLEX, FLOATS, PART
from tree import Arr, Fixed, Rec, Tup, slots

PURE = {"x": 0, "y": 1, "z": 2, "w": 3, "real": 0, "imag": 1}


class Memory:
    """A part of Expressions (translate_expr.py)."""

    # ---- Memory ----

    def place(self, e):
        """An expression that is an element or a part of one: the view's text, the indices, the first slot (text), and
        the type there. None for values."""
        if e.op == "index":
            return self.expr(e.args[0]), [self.expr(i) for i in e.args[1:]], "0", self.ty(e.type)
        if e.op in ("part", "elem") and not isinstance(self.ty(e.args[0].type), (Arr, Tup)):
            inside = self.place(e.args[0])
            if inside is None:
                return None
            view, index, first, t = inside
            if e.op == "elem":
                step, count = (slots(t.elem) * math.prod(t.extents[1:]), t.extents[0]) if isinstance(t, Fixed) \
                    else (1, t.count)
                return view, index, f"{first} + {step} * in_range({self.expr(e.args[1])}, {count})", self.ty(e.type)
            return view, index, f"{first} + {self.first_slot(t, e.data)}", self.ty(e.type)
        return None

    @staticmethod
    def first_slot(t, name):
        return t.place(name)[0] if isinstance(t, Rec) else PURE[name]

    @staticmethod
    def at(view, index):
        if len(index) <= 2:
            return f"{view}.at{len(index)}({', '.join(index)})"
        return f"{view}.at(({', '.join(index)}))"

    def x_each(self, e, t):
        return self.elements[id(e)]

    def elementwise(self, args):
        """The views of which an expression is computed element by element: their nodes, and a name for an element."""
        found, stack = [], list(args)
        while stack:
            n = stack.pop()
            if n.op == "each":
                found.append((n, self.fresh()))
            elif n.op != "fold":
                stack += n.args
        self.elements.update((id(n), text) for n, text in found)
        return found

    def rows(self, found, shape):
        """What a loop over the elements goes through."""
        names = "".join(text + ", " for _, text in found)
        return names, ", ".join(f"spread({self.expr(n.args[0])}, {shape})" for n, _ in found)

    def x_fold(self, e, t):
        """A view's elements, or those of an expression, one after the other."""
        what, of = e.data[0], self.ty(e.args[0].type)
        args = list(e.args)
        if what == "dot":
            what, of = "sum", self.common(*args)
        elif what in ("sum", "mean") and of in FLOATS and args[0].op == "bin" and args[0].data == "*":
            args = args[0].args
        found = self.elementwise(args)
        first = self.expr(found[0][0].args[0])
        texts = [self.expr(a, of) for a in args]
        names, columns = self.rows(found, "_s")
        item = texts[0] if len(texts) == 1 else f"({', '.join(texts)})"
        items = f"(lambda _s: [{item} for {names} in zip({columns})])({first}.shape)"
        return f"fold({what!r}, {t!r}, {of!r}, {items}, {self.fused})"

    def common(self, a, b):
        return scalars.common(self.ty(a.type), self.ty(b.type))

    def x_bits(self, e, t):
        if isinstance(t, Arr):
            return f"seen({self.expr(e.args[0])}, {t.elem!r})"
        return f"bits_of({self.expr(e.args[0])}, {self.ty(e.args[0].type)!r}, {t!r})"

    def x_index(self, e, t):
        view, index = self.expr(e.args[0]), [self.expr(i) for i in e.args[1:]]
        if isinstance(t, str) and t not in COMPLEX and len(index) <= 2:
            return f"{view}.ld{len(index)}({', '.join(index)})"
        return f"{view}.get(({', '.join(index)},))"

    def loaded(self, place):
        view, index, first, t = place
        v = self.fresh()
        return f"(lambda {v}: load({self.type_name(t)}, {v}.buf, {self.at(v, index)} + {first}))({view})"

    def type_name(self, t):
        """A type as Python text: scalars are strings, others are kept by a name."""
        if isinstance(t, str):
            return repr(t)
        name = f"type_{id(t)}"
        self.tr.names[name] = t
        return name

    def x_part(self, e, t):
        base = self.ty(e.args[0].type)
        if isinstance(base, Arr):
            return self.view_of_part(e, base)
        place = self.place(e)
        if place:
            return self.loaded(place)
        number = base.place(e.data)[3] if isinstance(base, Rec) else PURE[e.data]
        return f"part_of({self.expr(e.args[0])}, {number})"

    def view_of_part(self, e, base):
        elem = base.elem
        if isinstance(elem, Rec):
            first, ft, extents, _ = elem.place(e.data)
            return f"{self.expr(e.args[0])}.part({first}, {self.type_name(ft)}, {extents or ()!r})"
        part = PART[elem] if isinstance(elem, str) else elem.part
        return f"{self.expr(e.args[0])}.part({PURE[e.data]}, {part!r})"

    def x_elem(self, e, t):
        place = self.place(e)
        if place:
            return self.loaded(place)
        return f"part_of({self.expr(e.args[0])}, {self.expr(e.args[1])})"

    def x_view(self, e, t):
        args = iter(e.args[1:])
        subs = []
        for form in e.data:
            if form == "i":
                subs.append(self.expr(next(args)))
            else:
                subs.append("(" + ", ".join(self.expr(next(args)) if s in form else "None" for s in "bes") + ")")
        return f"{self.expr(e.args[0])}.sub(({', '.join(subs)},))"

    def x_turned(self, e, t):
        return f"{self.expr(e.args[0])}.turned()"

    def x_reshaped(self, e, t):
        return f"{self.expr(e.args[0])}.reshaped(({''.join(self.expr(a) + ', ' for a in e.args[1:]) or '-1,'}))"

    def x_attr(self, e, t):
        view = self.expr(e.args[0])
        if e.data == "len":
            return f"{view}.shape[0]"
        if e.data == "ndim":
            return str(self.ty(e.args[0].type).dims)
        if e.data.startswith("steps["):
            return f"{view}.stride({e.data[6:-1]})"
        return f"{view}.{e.data}"

    def x_hint(self, e, t):
        view, *rest = e.args
        dims = view.type.dims
        index = f"({', '.join(self.expr(i) for i in rest[:dims])},)"
        if e.data.startswith("ld"):
            return f"{self.expr(view)}.get({index})"
        return f"{self.expr(view)}.put({index}, {self.expr(rest[dims], self.ty(view.type).elem)})"

    def x_special(self, e, t):
        where, _, axis = e.data.partition(".")
        if where == "threadIdx":
            return f"t.{axis}"
        if where == "blockIdx":
            return f"t.b{axis}"
        if where in ("blockDim", "gridDim"):
            return f"c.{'block' if where == 'blockDim' else 'grid'}[{'xyz'.index(axis)}]"
        if where == "laneid":
            return "t.lane"
        if where == "warpsize":
            return "32"
        n = int(where[-2])
        axes = [f"t.b{a} * c.block[{k}] + t.{a}" if where.startswith("grid(") else f"c.block[{k}] * c.grid[{k}]"
                for k, a in enumerate("xyz"[:n])]
        return f"({axes[0]})" if n == 1 else f"({', '.join(axes)})"

    def x_random(self, e, t):
        args = [a for a in e.args if a.op != "dtype"]
        if e.data == "randint":
            lo, hi, seed, i = args
            return f"libm.randint({self.expr(lo, t)}, {self.expr(hi, t)}, {self.expr(seed)}, {self.expr(i)}, {t!r})"
        return f"libm.uniform({self.expr(args[0])}, {self.expr(args[1])}, {t!r})"

    def x_dtype(self, e, t):
        return repr(e.data)

    # ---- What waits ----

    def x_sync(self, e, t):
        site = self.tr.site()
        kinds = {"syncthreads": "bar", "grid_sync": "grid", "syncthreads_count": "count", "syncthreads_and": "and",
                 "syncthreads_or": "or"}
        if "." in e.data:
            return f"(yield ({e.data!r}, {site}, ({''.join(self.expr(a) + ', ' for a in e.args)}), {e.args[0].type!r}))"
        if e.data not in kinds:
            return "None"       # fences, nanosleep: the machine's threads take turns
        value = f", {self.expr(e.args[0])}" if e.args else ""
        return f"(yield ({kinds[e.data]!r}, {site}{value}))"

    def x_warp(self, e, t):
        site = self.tr.site()
        if e.data == "lanemask_lt":
            return "((1 << t.lane) - 1)"
        if "." in e.data:
            return f"(yield ('warp', {site}, 0xffffffff, {e.data!r}, {self.expr(e.args[0])}, {t!r}))"
        args = list(e.args)
        mask = f"{self.expr(args.pop(0))} & 0xffffffff" if args else "0xffffffff"
        values = [self.expr(a) for a in args]
        values += ["None"] * (2 - len(values))
        return f"(yield ('warp', {site}, {mask}, {e.data!r}, {', '.join(values)}))"

    def x_atomic(self, e, t):
        view, *rest = e.args
        dims = self.ty(view.type).dims
        elem = self.ty(view.type).elem
        name = e.data
        if name == "compare_and_swap":
            name, index, values = "cas", "0," * dims, rest
        else:
            index, values = "".join(self.expr(i) + ", " for i in rest[:dims]), rest[dims:]
        given = ", ".join(self.expr(v, elem) for v in values)
        return f"ATOMICS[{name!r}]({self.expr(view)}, ({index}), {elem!r}, {given})"
