"""The reference: kernels and functions as Python functions, which machine.py runs thread by thread."""
import machine
from translate_expr import Expressions, namespace, python_name, waits
from translate_memory import PURE
from translate_parts import has_effects
from tree import Arr, Expr, Rec, Tup, UNTYPED
from scalars import COMPLEX


class Host:
    """In place of a launch where the run block computes: there is no thread, and nobody counts."""

    @staticmethod
    def tick():
        return


class Translator:
    def __init__(self, fused):
        self.fused = fused
        self.names = namespace()
        self.names["c"] = Host()
        self.done = {}
        self.waiting = {}
        self.sites = 0

    # ---- Functions ----

    def function(self, f, types=()):
        """A function or kernel for concrete generic types, as its Python function's name."""
        key = (f, tuple(sorted(types)))
        if key not in self.done:
            name = f"{f.name}_{len(self.done)}"
            self.done[key] = name
            body = Body(self, f, dict(types))
            params = "".join(f", {python_name(p)}" for p in f.params)
            lines = [f"def {name}(c, t{params}):"] + body.block(f.body, 1) + ["    return"]
            if waits(f, self.waiting) and not any("yield" in line for line in lines):
                lines.append("    yield")
            exec(compile("\n".join(lines), name, "exec"), self.names)
        return self.done[key]

    def kernel(self, f, types=()):
        return self.names[self.function(f, types)], waits(f, self.waiting)

    def constant(self, var):
        """A constant array's memory."""
        name = python_name(var)
        if name not in self.names:
            self.names[name] = constant_array(var, self)
        return name

    def elementwise(self, e, leaves):
        """An expression of the run block: a function of one element of each of its arrays (Vars with an Arr type)."""
        body = Body(self, None, {})
        params = ", ".join(python_name(v) for v in leaves)
        text = body.expr(e)
        self.names["t"] = None
        return eval(compile(f"lambda {params}: {text}", "expression", "eval"), self.names)

    def site(self):
        self.sites += 1
        return self.sites


def constant_array(var, translator):
    flat, shape = [], []

    def collect(value, depth):
        if isinstance(value, list):
            if len(shape) == depth:
                shape.append(len(value))
            for v in value:
                collect(v, depth + 1)
        else:
            flat.append(eval(Body(translator, None, {}).expr(value, var.type.elem), translator.names))
    collect(var.get("value"), 0)
    view = machine.new_array(var.type.elem, tuple(shape))
    for k, x in zip(view.places(), flat):
        machine.store(view.elem, view.buf, k, x)
    return view


class Body(Expressions):
    """Translates the statements of one function: lists of lines."""

    def block(self, block, depth):
        lines = []
        for s in block:
            lines += self.stmt(s, depth)
        return lines or ["    " * depth + "pass"]

    def stmt(self, s, depth):
        return getattr(self, "s_" + s.op)(s, "    " * depth, depth)

    def s_group(self, s, pad, depth):
        return self.block(s.blocks[0], depth)

    def s_let(self, s, pad, depth):
        _, names, declared = s.data
        if len(names) == 1:
            return [f"{pad}{python_name(names[0])} = {self.expr(s.args[0], declared or names[0].type)}"]
        value = self.expr(s.args[0], Tup([v.type for v in names]))
        return [f"{pad}{', '.join(python_name(v) for v in names)} = {value}"]

    def s_assign(self, s, pad, depth):
        targets, values = s.args[:s.data], s.args[s.data:]
        if len(targets) == 1 and targets[0].op == "name":
            return self.assign(targets[0], self.expr(values[0], targets[0].type), pad)
        if len(targets) == 1:       # the value first
            value = self.fresh()
            return [f"{pad}{value} = {self.expr(values[0], targets[0].type)}"] + self.assign(targets[0], value, pad)
        names = [self.fresh() for _ in targets]
        if len(values) == 1:
            lines = [f"{pad}{', '.join(names)} = {self.expr(values[0], Tup([x.type for x in targets]))}"]
        else:
            lines = [f"{pad}{n} = {self.expr(v, x.type)}" for n, v, x in zip(names, values, targets)]
        for name, target in zip(names, targets):
            lines += self.assign(target, name, pad)
        return lines

    def assign(self, target, value, pad):
        if target.op == "name":
            return [f"{pad}{python_name(target.data)} = {value}"]
        place = self.place(target)
        if place is None:
            root, path = self.path(target)
            return [f"{pad}{root} = put({root}, ({''.join(p + ', ' for p in path)}), {value})"]
        view, index, first, t = place
        v, k = self.fresh(), self.fresh()
        lines = [f"{pad}{v} = {view}", f"{pad}{k} = {self.at(v, index)}" + (f" + {first}" if first != "0" else "")]
        if isinstance(t, str) and t not in COMPLEX:
            return lines + [f"{pad}{v}.buf[{k}] = known({value})"]
        return lines + [f"{pad}store({self.type_name(t)}, {v}.buf, {k}, {value})"]

    def path(self, e):
        """A part of a variable: the variable, and the numbers of the parts on the way."""
        if e.op == "name":
            return python_name(e.data), []
        root, path = self.path(e.args[0])
        base = self.ty(e.args[0].type)
        if e.op == "elem":
            return root, path + [self.expr(e.args[1])]
        return root, path + [str(base.place(e.data)[3] if isinstance(base, Rec) else PURE[e.data])]

    def s_update(self, s, pad, depth):
        target, value = s.args
        place = None if target.op == "name" else self.place(target)
        if place is None and target.op != "name" and has_effects(target):
            return self.update_part(target, value, s.data, pad)
        if place is None:
            return self.assign(target, self.expr(Expr("bin", target.type, [target, value], s.data), target.type), pad)
        view, index, first, t = place
        v, k = self.fresh(), self.fresh()
        lines = [f"{pad}{v} = {view}", f"{pad}{k} = {self.at(v, index)} + {first}"]
        old = Expr("code", target.type, (), f"load({self.type_name(t)}, {v}.buf, {k})")
        new = self.expr(Expr("bin", target.type, [old, value], s.data))
        return lines + [f"{pad}store({self.type_name(t)}, {v}.buf, {k}, {new})"]

    def update_part(self, target, value, op, pad):
        """A part of a variable: where it is is evaluated once."""
        root, path = self.path(target)
        names = [self.fresh() for _ in path]
        lines = [f"{pad}{n} = {p}" for n, p in zip(names, path)]
        text = root
        for n in names:
            text = f"part_of({text}, {n})"
        new = self.expr(Expr("bin", target.type, [Expr("code", target.type, (), text), value], op), target.type)
        return lines + [f"{pad}{root} = put({root}, ({''.join(n + ', ' for n in names)}), {new})"]

    def s_spread(self, s, pad, depth):
        """All is computed, and then stored."""
        target, value = s.args
        t = self.ty(target.type.elem)
        v, k, items, old = (self.fresh() for _ in range(4))
        found = self.elementwise([value])
        e = Expr("bin", t, [Expr("code", t, (), old), value], s.data) if s.data else value
        names, columns = self.rows(found, f"{v}.shape")
        columns = ", ".join(x for x in (columns, f"{v}.values()" if s.data else f"range({v}.size)") if x)
        return [f"{pad}{v} = {self.expr(target)}", f"{pad}{items} = []",
                f"{pad}for {names}{old}, in zip({columns}):", f"{pad}    c.tick()",
                f"{pad}    {items}.append({self.expr(e, t)})",
                f"{pad}for {k}, {old} in zip({v}.places(), {items}):",
                f"{pad}    store({self.type_name(t)}, {v}.buf, {k}, {old})"]

    def s_if(self, s, pad, depth):
        lines = []
        for k, block in enumerate(s.blocks):
            if k == 0:
                lines.append(f"{pad}if {self.expr(s.args[0])}:")
            elif k < len(s.args):
                lines.append(f"{pad}elif {self.expr(s.args[k])}:")
            else:
                lines.append(f"{pad}else:")
            lines += self.block(block, depth + 1)
        return lines

    def s_for(self, s, pad, depth):
        var, _ = s.data
        bounds = [self.expr(a, var.type) for a in s.args]
        if len(bounds) == 1:
            bounds.insert(0, "0")
        if len(bounds) == 2:
            bounds.append("1")
        return [f"{pad}for {python_name(var)} in turns({', '.join(bounds)}):", f"{pad}    c.tick()"] \
            + self.block(s.blocks[0], depth + 1)

    def s_each(self, s, pad, depth):
        names, form = s.data
        arrays, k = [self.fresh() for _ in s.args], self.fresh()
        lines = [f"{pad}{a} = {self.expr(x)}" for a, x in zip(arrays, s.args)]
        lines += [f"{pad}for {k} in range(min({', '.join(f'{a}.shape[0]' for a in arrays)}, 1 << 62)):",
                  f"{pad}    c.tick()"]
        if form == "enumerate":
            lines.append(f"{pad}    {python_name(names[0])} = {k}")
        for v, a in zip(names[1:] if form == "enumerate" else names, arrays):
            item = f"{a}.sub(({k},))" if isinstance(v.type, Arr) else f"{a}.get(({k},))"
            lines.append(f"{pad}    {python_name(v)} = {item}")
        return lines + self.block(s.blocks[0], depth + 1)

    def s_items(self, s, pad, depth):
        """A loop over tuples: all items are evaluated first; where it may end early they have the variable's type."""
        at, sources, _, ends = s.data
        lines, columns = [], []
        for e in s.args:
            columns.append(self.items_of(e, lines, pad))
        if ends:
            v = sources[0][0]
            texts = "".join(self.expr(e, v.type) + ", " for e in columns[0])
            return lines + [f"{pad}for {python_name(v)} in ({texts}):", f"{pad}    c.tick()"] \
                + self.block(s.blocks[0], depth + 1)
        for k, row in enumerate(zip(*columns)):
            if at is not None:
                lines.append(f"{pad}{python_name(at)} = {k}")
            for names, e in zip(sources, row):
                for v, item in zip(names, e.args if len(names) > 1 else [e]):
                    lines += self.bound(v, item, pad)
            lines += [f"{pad}c.tick()"] + self.block(s.blocks[0], depth)
        for names in sources:
            for v in names:
                v.facts.pop("value", None)
        return lines

    def bound(self, v, item, pad):
        """The variable of a loop's turn is its item; a literal stays one."""
        if isinstance(v.type, str) and v.type[0] == "L":
            self.types[v.type] = item.type
        if item.type in UNTYPED:
            v.facts["value"] = item
            return []
        v.facts.pop("value", None)
        return [f"{pad}{python_name(v)} = {item.data}"]

    def items_of(self, e, lines, pad):
        """A tuple's items: literals as they are, others by the name that they were evaluated to."""
        if e.op == "name" and e.data.get("value") is not None:
            return e.data.get("value").args
        if e.op == "tuple":
            return [self.item(a, lines, pad) for a in e.args]
        whole = self.fresh()
        lines.append(f"{pad}{whole} = {self.expr(e)}")
        types = e.type.parts if isinstance(e.type, Tup) else [e.type.elem] * e.type.extents[0]
        return [Expr("code", t, (), f"{whole}[{k}]") for k, t in enumerate(types)]

    def item(self, e, lines, pad):
        if e.type in UNTYPED:
            return e
        if e.op == "tuple":
            return Expr("tuple", e.type, [self.item(a, lines, pad) for a in e.args])
        text = self.fresh()
        lines.append(f"{pad}{text} = {self.expr(e)}")
        return Expr("code", e.type, (), text)

    def s_while(self, s, pad, depth):
        return [f"{pad}while {self.expr(s.args[0])}:", f"{pad}    c.tick()"] + self.block(s.blocks[0], depth + 1)

    def s_break(self, s, pad, depth):
        return [pad + "break"]

    def s_continue(self, s, pad, depth):
        return [pad + "continue"]

    def s_return(self, s, pad, depth):
        if not s.args:
            return [pad + "return"]
        results = self.f.results
        if isinstance(results, Tup) and len(s.args) > 1:
            return [f"{pad}return ({', '.join(self.expr(a, r) for a, r in zip(s.args, results.parts))},)"]
        return [f"{pad}return {self.expr(s.args[0], results)}"]

    def s_expr(self, s, pad, depth):
        return [pad + self.expr(s.args[0])]

    def s_memory(self, s, pad, depth):
        var, kind, _ = s.data
        shape = f"({''.join(self.expr(a) + ', ' for a in s.args)})"
        elem = self.type_name(self.ty(var.type.elem))
        if kind == "local":
            return [f"{pad}{python_name(var)} = new_array({elem}, {shape})"]
        return [f"{pad}{python_name(var)} = t.block.shared({self.tr.site()}, {elem}, {shape})"]

    def s_launch(self, s, pad, depth):
        kernel, grid, block, names = s.data
        extents = [self.expr(a) for a in s.args[:grid + block]]
        given = s.args[grid + block:]
        types = sorted(self.bind(kernel, list(zip(kernel.params, given))).items())
        args = {}
        for k, (name, a) in enumerate(zip(names, given)):
            p = kernel.params[k] if name is None else next(p for p in kernel.params if p.name == name)
            args[p] = self.expr(a, dict(types).get(p.type, p.type))
        texts = "".join((args[p] if p in args else self.expr(p.get("default"), p.type)) + ", " for p in kernel.params)
        name = self.tr.function(kernel, types)
        return [f"{pad}c.queue({name}, {waits(kernel, self.tr.waiting)}, ({', '.join(extents[:grid])},), "
                f"({', '.join(extents[grid:])},), ({texts}))"]
