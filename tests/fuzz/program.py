"""A whole program: its text, and what the reference says that its arrays hold in the end."""
import contextlib

import machine
import scalars
from files import with_names
from host import HostArray, Launch, leaf_values
from run_calls import launch_function
from scalars import COMPLEX
from translate import Translator
from tree import HERE, Rec, Vec, home_of, slots, walk, write_constant, write_enum, write_function, write_record


@contextlib.contextmanager
def writing(home, spaces):
    """Texts are those of a file that knows others by these names."""
    before = dict(HERE)
    HERE.update(file=home, spaces=spaces)
    yield
    HERE.update(before)


class Program:
    def __init__(self, seed):
        self.seed = seed
        self.enums, self.constants, self.records, self.functions, self.helpers, self.kernels = [], [], [], [], [], []
        self.machine = None
        self.spaces = {}            # files that it uses: by which names it knows them
        self.type_names = []        # other names for types, and these
        self.enum_names = []        # enums whose names stand for their types
        self.std_functions = [] # of std/, that kernels may call
        self.libraries = {}         # of std/: by which names the program knows its files
        self.run = []               # HostArrays, Launches and statements of run_statements.py, in order

    def members(self):
        """The names of all enums."""
        return [m for e in self.enums for m in e.members]

    def arrays(self):
        return [s for s in self.run if isinstance(s, HostArray)]

    def tested(self):
        """Is there a test beside the run block? A run takes no notice of it."""
        return len(self.run) % 4 == 0

    def layouts(self):
        return {a.name: a.layout for a in self.arrays()}

    def files(self, layouts=None, shapes=None):
        """The texts of all its files; a variant has other layouts, or other grids and blocks for some launches."""
        return {"program.knl": self.text(layouts, shapes), **{f"{home}.knl": self.part(home) for home in self.spaces}}

    def part(self, home):
        """The text of a file that is used."""
        with writing(home, {} if home == "base" else {"base": "base"}):
            text = self.definitions(home)
        return 'use "base.knl"\n' * (home != "base") + text

    def definitions(self, home=None):
        def here(items):
            return [d for d in items if home_of(d) == home]
        parts = [write_enum(e) for e in here(self.enums)] + [write_constant(c) for c in here(self.constants)]
        parts += [write_record(x) for x in here(self.records)]
        return "\n".join(parts + [write_function(f) for f in here(self.helpers + self.functions + self.kernels)])

    def text(self, layouts=None, shapes=None):
        """The program's own file; a variant has other layouts, or grids and blocks, by the launches' places."""
        with writing(None, {**self.libraries, **self.spaces}):
            return self.own_text(layouts or self.layouts(), shapes)

    def own_text(self, layouts, shapes):
        head = [f'use "{home}.knl"' + (f" as {space}" if space != home else "") + "\n"
                for home, space in sorted(self.spaces.items())]
        head += [f"use std.{file}" + (f" as {space}" if space != file else "") + "\n"
                 for file, space in sorted(self.libraries.items())]
        parts = [self.definitions()]
        lines = []
        for k, s in enumerate(self.run):
            if isinstance(s, HostArray):
                lines += s.text(layouts[s.name])
                continue
            if isinstance(s, Launch) and s.function:
                definition, call = launch_function(s, s.text((shapes or {}).get(k)))
                lines.append(call)
                parts.append(definition)
                continue
            lines += [s.text((shapes or {}).get(k))] if isinstance(s, Launch) else s.lines()
            if hasattr(s, "definition"):
                parts.append(s.definition())
        for a in self.arrays():
            if layouts[a.name].device:
                lines.append(f"{a.name}.copy_to_host({a.name}_host)")
            lines += [f"let {name} = {e}" for name, e, *_ in a.saved() if e] if a.compared else []
        body = "{\n" + "".join(f"    {line}\n" for line in lines) + "}\n"
        text = "\n".join(parts) + (f'\ntest "the same" {body}' if self.tested() else "") + f"\nrun {body}"
        return "".join(head) + with_names(self, text)

    def saved(self):
        """The names of the arrays to be saved."""
        return [x[0] for a in self.arrays() if a.compared for x in a.saved()] + \
            [n for s in self.run if hasattr(s, "results") for n in s.results]

    def reference(self, fused=True, tracks=False, shuffle=None, fuel=400_000):
        """What all arrays hold in the end: name -> values in C order. Raises Undefined and Exhausted."""
        m = self.machine = machine.Machine(fuel, tracks, shuffle)
        translator = Translator(fused)
        translator.machine = m
        lists = machine.Tracked if tracks else list
        views, computed = {}, {}
        for s in self.run:
            if isinstance(s, HostArray):
                views[s.name] = s.make(s.layout, s.values, lists)
            elif isinstance(s, Launch):
                if not s.kernel.facts.get("unknown"):
                    self.launch(m, translator, s, views)
            else:
                s.execute(translator, views, computed)
        results = {name: (v.elem, v.shape, numbers(v.elem, v.values())) for name, v in computed.items()}
        results["lines"] = m.lines
        return {a.name: views[a.name].values() for a in self.arrays()}, results

    @staticmethod
    def launch(m, translator, s, views):
        function, waits = translator.kernel(s.kernel, sorted(s.types.items()))
        args = []
        for p, a in zip(s.kernel.params, s.args):
            if isinstance(a, HostArray):
                view = views[a.name]
                if s.directions.get(p.name) == "In":        # what the kernel writes never reaches the host
                    buf = view.buf
                    view = machine.View(type(buf)(list(buf)), view.elem, view.off, view.shape, view.strides)
                args.append(view)
            elif a is None:
                args.append(default_value(p, translator))
            else:
                args.append(a)
        tracks = m.tracks
        m.tracks = tracks and not s.kernel.facts.get("locks")       # what a lock orders looks like a race
        m.launch(function, waits, s.grid, s.block, args)
        m.tracks = tracks

    def printed(self):
        """Does a kernel write lines?"""
        return any(n.op == "call" and n.data == "print" for k in self.kernels for n in walk(k.body))

    def expected(self, contents, layouts=None):
        """For each saved array its type and numbers, as they lie in the base."""
        layouts = layouts or self.layouts()
        result = {}
        for a in self.arrays():
            if not a.compared:
                continue
            layout = layouts[a.name]
            view = a.make(layout, contents[a.name], list)
            saved = a.saved()
            if not isinstance(a.elem, Rec):
                part = a.elem.part if isinstance(a.elem, Vec) else a.elem
                result[saved[0][0]] = (part, view.buf)
                continue
            whole = machine.View(view.buf, a.elem, 0, (layout.total,), (slots(a.elem),)).values()
            columns = [leaf_values(a.elem, v) for v in whole]
            for k, (name, _, _, part, _) in enumerate(saved):
                result[name] = (part, [x for c in columns for x in c[k]])
        return result

    def sees_layouts(self):
        """Do kernels ask for steps?"""
        functions = self.functions + self.helpers + self.kernels
        return any(n.op == "attr" and n.data.startswith("steps") for f in functions for n in walk(f.body))

    def unknown(self):
        """Saved arrays that the reference cannot know: compared between configurations only."""
        names = set()
        for s in self.run:
            if isinstance(s, Launch) and s.kernel.facts.get("unknown"):
                for p, a in zip(s.kernel.params, s.args):
                    if isinstance(a, HostArray) and p.get("use") != "in":
                        names |= {x[0] for x in a.saved()}
        return names


def numbers(t, items):
    """Elements as the numbers that a file has: two for a complex one."""
    return [x for z in items for x in (z.real, z.imag)] if t in COMPLEX else items


def default_value(p, translator):
    from translate import Body
    return eval(Body(translator, None, {}).expr(p.get("default"), p.type), translator.names)


def difference(want, got, t=None, bound=None):
    """The first place where two arrays differ (by more than a bound), with both values, or None."""
    if len(want) != len(got):
        return "sizes", len(want), len(got)
    for k, (a, b) in enumerate(zip(want, got)):
        if not scalars.same(a, b) and (bound is None or scalars.ulps(b, a, t) > bound):
            return k, a, b
    return None
