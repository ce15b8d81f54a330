"""Makes a finding small: removes and simplifies parts of the program's tree as long as the same kind of finding stays.

Whatever is tried, the reference runs it first: a program that has become undefined is no candidate."""

import files
import scalars
from build import conv, let, lit
from host import HostArray, Launch, Layout
from runner import Check, Config
from scalars import COMPLEX, REALS
from tree import Arr, Stmt, UNTYPED, Vec, home_of, move_to, walk


class Reducer:
    def __init__(self, tool, program, finding, known=None, budget=600):
        self.tool, self.program, self.finding, self.known = tool, program, finding, known
        self.budget, self.tests = budget, 0
        self.processor = tool.processor

    def interesting(self, config=None):
        """Does the program still have the finding, and keep to the rules?"""
        if self.tests >= self.budget:
            return False
        self.tests += 1
        check = Check(self.tool, self.program)
        try:
            found = check.run(config or self.finding.config, dict(self.known) if self.known else None)
            if not self.finding.same_as(found):
                return False
            check.valid()
        except Exception:           # whatever breaks the reference is not a candidate
            return False
        found.text = found.text or self.finding.text
        if config is None:
            self.last = found
        return True

    last = None

    def attempt(self, change, undo):
        change()
        if self.interesting():
            return True
        undo()
        return False

    def run(self):
        """Reduces until nothing goes any more; gives the finding as it is then."""
        if self.finding.kind == "hang":     # what takes so long will not end
            self.tool.processor = max(2, self.processor // 5)
        self.simplify_config()
        self.simplify_files()
        passes = [self.drop_run, self.drop_definitions, self.drop_statements, self.unwrap, self.simplify_expressions,
                  self.drop_params, self.shrink_launches, self.plain_layouts, self.plain_values]
        before = None
        while before != self.tests_that_helped and self.tests < self.budget:
            before = self.tests_that_helped
            for p in passes:
                p()
        self.tool.processor = self.processor
        return self.last or self.finding

    tests_that_helped = 0

    def sites(self, enumerate_sites, changes):
        """Goes through places that change while it does; `changes` gives (change, undo) pairs for one of them."""
        k = 0
        while self.tests < self.budget:
            found = enumerate_sites()
            if k >= len(found):
                return
            for change, undo in changes(found[k]):
                if self.attempt(change, undo):
                    self.tests_that_helped += 1
                    break
            else:
                k += 1

    @staticmethod
    def splice(items, start, end, new=()):
        old = items[start:end]

        def change():
            items[start:end] = new

        def undo():
            items[start:start + len(new)] = old
        return change, undo

    # ---- The configuration and the run block ----

    def simplify_files(self):
        """One file, without names for types."""
        p = self.program
        names, homes, spaces = p.type_names, [(d, d.name, home_of(d)) for d in files.definitions(p)], p.spaces
        enums = p.enum_names
        if names:
            self.attempt(lambda: setattr(p, "type_names", []), lambda: setattr(p, "type_names", names))
        if enums:
            self.attempt(lambda: setattr(p, "enum_names", []), lambda: setattr(p, "enum_names", enums))

        def undo():
            p.spaces = spaces
            for d, name, home in homes:
                d.name = name
                move_to(d, home)
        if spaces:
            self.attempt(lambda: files.one_file(p), undo)

    def simplify_config(self):
        config = self.finding.config
        for option in list(config.options):
            fewer = Config([o for o in config.options if o != option], config.env, config.layouts, config.shapes)
            if option != "--device=cuda" and self.interesting(fewer):
                config = fewer
        if config.shapes is not None:
            plain = Config(config.options, config.env, config.layouts)
            if not self.interesting(plain):     # the other grids and blocks become the program's own
                for at, (grid, block) in config.shapes.items():
                    self.program.run[at].grid, self.program.run[at].block = grid, block or (256,)
            config = plain
        if config.layouts is not None:
            plain = Config(config.options, config.env, None)
            if self.interesting(plain):
                config = plain
            else:       # the other layouts become the program's own
                for a in self.program.arrays():
                    a.layout = config.layouts[a.name]
                config = plain
        self.finding.config = config

    def drop_run(self):
        def changes(k):
            run = list(self.program.run)

            def change():
                del self.program.run[k]
                self.drop_unused_arrays()

            def undo():
                self.program.run[:] = run
            return [(change, undo)]
        self.sites(lambda: [k for k, s in enumerate(self.program.run) if not isinstance(s, HostArray)][::-1], changes)
        for a in self.program.arrays():
            if a.compared and sum(b.compared for b in self.program.arrays()) > 1:
                self.attempt(lambda a=a: setattr(a, "compared", False), lambda a=a: setattr(a, "compared", True))

    def drop_unused_arrays(self):
        names = set()
        for s in self.program.run:
            if isinstance(s, Launch):
                names |= {a.name for a in s.args if isinstance(a, HostArray)}
            elif not isinstance(s, HostArray):
                names |= s.uses()
        self.program.run[:] = [s for s in self.program.run if not isinstance(s, HostArray) or s.name in names]

    def drop_definitions(self):
        p = self.program
        for items in (p.kernels, p.functions, p.helpers, p.constants, p.enums, p.records):
            self.sites(lambda items=items: list(range(len(items))), lambda k,
                       items=items: [self.splice(items, k, k + 1)])

    def bodies(self):
        return [f.body for f in self.program.helpers + self.program.functions + self.program.kernels]

    # ---- Statements ----

    def blocks(self):
        found = []

        def collect(block):
            found.append(block)
            for s in block:
                for b in s.blocks:
                    collect(b)
        for body in self.bodies():
            collect(body)
        return found

    def drop_statements(self):
        size = 8
        while size:
            places = lambda size=size: [(b, k) for b in self.blocks() for k in range(0, len(b), size)][::-1]
            self.sites(places, lambda place, size=size: [self.splice(place[0], place[1],
                                                                     min(place[1] + size, len(place[0])))])
            size //= 2
        for f in self.program.kernels:
            self.sites(lambda f=f: list(range(len(f.requires))), lambda k, f=f: [self.splice(f.requires, k, k + 1)])
            self.sites(lambda f=f: list(range(len(f.attributes))), lambda k, f=f: [self.splice(f.attributes, k, k + 1)])
            self.sites(lambda f=f: list(range(0, len(f.kept), 4)), lambda k, f=f: [self.splice(f.kept, k, k + 4)])

    def unwrap(self):
        """A compound statement becomes what is inside of it."""
        def changes(place):
            block, k = place
            s = block[k]
            if s.op == "group":
                return [self.splice(block, k, k + 1, s.blocks[0])]
            if s.op == "for":
                var = s.data[0]
                first = [let(var, conv(var.type, lit(0)))]
                return [self.splice(block, k, k + 1, first + s.blocks[0])]
            pairs = [self.splice(block, k, k + 1, b) for b in s.blocks]
            if s.op == "if" and len(s.blocks) > 1:
                pairs.append(self.splice(block, k, k + 1, [Stmt("if", s.args[:1], s.blocks[:1])]))
            return pairs
        self.sites(lambda: [(b, k) for b in self.blocks() for k, s in enumerate(b) if s.blocks], changes)

    # ---- Expressions ----

    def parents(self):
        found = []
        for body in self.bodies():
            for n in walk(body):
                for k in range(len(n.args)):
                    found.append((n, k))
        return found

    def simplify_expressions(self):
        def changes(place):
            parent, k = place
            e = parent.args[k]
            pairs = []
            for new in self.simpler(e):
                pairs.append((lambda new=new: parent.args.__setitem__(k, new), lambda: parent.args.__setitem__(k, e)))
            return pairs
        self.sites(self.parents, changes)

    def simpler(self, e):
        t = e.type
        if e.op in ("lit", "dtype", "text") or t is None or isinstance(t, Arr):
            return []
        found = [a for n in e.args for a in [n] + n.args if a.type is t or a.type == t]
        if isinstance(t, str) and not (e.op == "conv" and e.args[0].op == "lit"):
            found += self.constants(t)
        return found

    @staticmethod
    def constants(t):
        if t == "bool":
            return [lit(True), lit(False)]
        if t in UNTYPED:
            return [lit(1)] if t == "#i" else []
        if t in COMPLEX:
            return [conv(t, lit(1.5), lit(2.5))]
        if t not in REALS:
            return [conv(t, lit(1))]
        return [conv(t, lit(v)) for v in ((0, 1, 3) if t in scalars.INTS else (0.0, 1.5))]

    # ---- Parameters, launches, arrays ----

    def drop_params(self):
        for f in self.program.kernels:
            for v in list(f.params):
                at = f.params.index(v)
                launches = [s for s in self.program.run if isinstance(s, Launch) and s.kernel is f]
                args = [s.args for s in launches]
                old, run = [list(a) for a in args], list(self.program.run)

                def change(v=v, at=at, args=args, f=f):
                    f.params.remove(v)
                    for a in args:
                        del a[at]
                    self.drop_unused_arrays()

                def undo(v=v, at=at, args=args, old=old, f=f, run=run):
                    self.program.run[:] = run
                    f.params.insert(at, v)
                    for a, o in zip(args, old):
                        a[:] = o
                if self.attempt(change, undo):
                    self.tests_that_helped += 1

    def shrink_launches(self):
        for s in [s for s in self.program.run if isinstance(s, Launch)]:
            for what in ("grid", "block"):
                for k in range(len(getattr(s, what))):
                    for n in (1, 2, 3, 4, 8, 16, 31, 32, 33, 64, 96, 128):
                        old = getattr(s, what)
                        if n >= old[k]:
                            break
                        new = old[:k] + (n,) + old[k + 1:]
                        if self.attempt(lambda: setattr(s, what, new), lambda: setattr(s, what, old)):
                            self.tests_that_helped += 1
                            break
            old = s.by_name
            self.attempt(lambda: setattr(s, "by_name", set()), lambda: setattr(s, "by_name", old))

    def plain_layouts(self):
        for a in self.program.arrays():
            old = a.layout
            plain = Layout(a.shape)
            if old.total != plain.total or old.transposed or old.device:
                self.attempt(lambda: setattr(a, "layout", plain), lambda: setattr(a, "layout", old))

    def plain_values(self):
        """Smaller arrays, and values that are all alike."""
        for a in self.program.arrays():
            if len(a.shape) == 1:
                for n in (1, 2, 3, 4, 8, 16, 32, 64, 128):
                    if n >= a.shape[0]:
                        break
                    old = a.shape, a.layout, a.values
                    new = (n,), Layout((n,)), a.values[:n] if a.values else None
                    if self.attempt(lambda: self.set(a, new), lambda: self.set(a, old)):
                        self.tests_that_helped += 1
                        break
            if a.values and isinstance(a.elem, (str, Vec)) and len(set(map(repr, a.values))) > 1:
                for v in dict.fromkeys(map(repr, a.values[:4])):
                    value = next(x for x in a.values if repr(x) == v)
                    old = a.values
                    if self.attempt(lambda: setattr(a, "values", [value] * len(old)),
                                    lambda: setattr(a, "values", old)):
                        self.tests_that_helped += 1
                        break

    @staticmethod
    def set(a, state):
        a.shape, a.layout, a.values = state
