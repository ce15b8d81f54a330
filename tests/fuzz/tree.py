"""The generator's programs as trees: types, expressions, statements, functions, kernels; and how they are written.

Scalar types are strings (scalars.py); '#i', '#f' and '#c' are those of literals that have met no type yet, and a name
such as 'T' stands for a generic one. Every expression knows its type, which the constructors in build.py work out."""
import math
import re

import scalars


class Vec:
    """A small vector: f32x4."""

    def __init__(self, part, count):
        self.part, self.count = part, count
        self.name = f"{part}x{count}"
        self.slots = count

    def __repr__(self):
        return self.name


HERE = {"file": None, "spaces": {}}     # which file is written, and by which names it knows others


def home_of(d):
    """In which file a constant, record or function is: None is the program's own."""
    return d.facts.get("home") if hasattr(d, "facts") else d.home


def move_to(d, home):
    for m in getattr(d, "members", ()):
        move_to(m, home)
    if hasattr(d, "facts"):
        d.facts["home"] = home
    else:
        d.home = home


def called(d):
    """How a definition is called in the file that is written."""
    home = home_of(d)
    return d.name if home == HERE["file"] or home is None else f"{HERE['spaces'].get(home, home)}.{d.name}"


class Rec:
    """A record; a field is (name, type, extents): extents is None, or those of a fixed array."""
    home = None
    packed = False      # no room between its fields?

    def __init__(self, name, fields):
        self.name, self.fields = name, fields
        self.slots = sum(slots(t) * math.prod(n or ()) for _, t, n in fields)

    def __repr__(self):
        return called(self)

    def place(self, name):
        """A field's first slot, its type and extents, and its number."""
        first = 0
        for k, (field, t, n) in enumerate(self.fields):
            if field == name:
                return first, t, n, k
            first += slots(t) * math.prod(n or ())
        raise KeyError(name)


MANY = 64       # elements of more scalars are copied piece by piece


def has_packed(t):
    """Is it a record that is not packed itself, with one within that is?"""
    return isinstance(t, Rec) and not t.packed and any(isinstance(f, Rec) and (f.packed or has_packed(f))
                                                       for _, f, _ in t.fields)


class Enum:
    """`members` are Vars with the number as their value; `type` is None where it has none."""

    def __init__(self, name, type):
        self.name, self.type, self.members, self.facts = name, type, [], {}

    def __repr__(self):
        return called(self)


class Named(int):
    """A number of the run block that is written as an enum's name for it."""
    member = None


class Fixed:
    """A fixed array as a value: a record's field."""

    def __init__(self, elem, extents):
        self.elem, self.extents = elem, extents
        self.slots = slots(elem) * math.prod(extents)

    def __repr__(self):
        return f"{self.elem}[{', '.join(map(str, self.extents))}]"


class Arr:
    """An array or view of so many dimensions."""
    known = {}

    def __new__(cls, elem, dims):
        key = (elem, dims)
        if key not in cls.known:
            cls.known[key] = super().__new__(cls)
            cls.known[key].elem, cls.known[key].dims = elem, dims
        return cls.known[key]

    def __repr__(self):
        return f"{self.elem}[{',' * (self.dims - 1)}]"


class Tup:
    def __init__(self, parts):
        self.parts = tuple(parts)

    def __repr__(self):
        return f"({', '.join(map(str, self.parts))})"


VECTORS = {v.name: v for v in [Vec(t, n) for t in (*scalars.INTS, *scalars.FLOATS) for n in (2, 3, 4)]}
UNTYPED = ("#i", "#f", "#c")


def slots(t):
    """How many numbers an element takes in the reference's memory: a complex one takes two."""
    if isinstance(t, str):
        return 2 if t in scalars.COMPLEX else 1
    return t.slots


class Var:
    """A name of a program: a variable, parameter, constant or array. What the generator knows of it is in `facts`."""
    count = 0

    def __init__(self, name, type, **facts):
        Var.count += 1
        self.uid = Var.count
        self.name, self.type, self.facts = name, type, facts

    def __repr__(self):
        return f"{self.name}: {self.type}"

    def get(self, fact):
        return self.facts.get(fact)


class Expr:
    __slots__ = ("op", "type", "args", "data", "names")

    def __init__(self, op, type, args=(), data=None, names=()):
        self.op, self.type, self.args, self.data = op, type, list(args), data
        self.names = names      # of a call, its last arguments' names: those are given by name

    def __repr__(self):
        return write(self)


def copied(e):
    """An expression's copy: its variables and functions are the same."""
    return Expr(e.op, e.type, map(copied, e.args), e.data, e.names)


class Stmt:
    """`args` are expressions, `blocks` lists of statements; a 'group' is several statements that belong together."""
    __slots__ = ("op", "args", "blocks", "data")

    def __init__(self, op, args=(), blocks=(), data=None):
        self.op, self.args, self.blocks, self.data = op, list(args), list(blocks), data


class Function:
    """`facts`: what callers and launches must know."""

    def __init__(self, name, params, results, body, generics=(), **facts):
        self.name, self.params, self.results, self.body = name, params, results, body
        self.generics, self.facts = list(generics), facts


class Kernel(Function):
    """`kept`: numbers that are there from the first line to the last, which leave few lanes to a gang."""

    def __init__(self, name, params, body, generics=(), requires=(), attributes=(), kept=(), **facts):
        super().__init__(name, params, None, body, generics, **facts)
        self.requires, self.attributes, self.kept = list(requires), list(attributes), list(kept)


def walk(node):
    """All expressions and statements below one, itself first."""
    stack = [node]
    while stack:
        n = stack.pop()
        if isinstance(n, list):
            stack.extend(reversed(n))
            continue
        yield n
        if isinstance(n, Stmt):
            stack.extend(reversed(n.blocks))
        stack.extend(reversed(n.args))


# ---- Writing ----

LEVEL = {"or": 1, "and": 2, "not": 3, "|": 5, "^": 6, "&": 7, "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10,
         "//": 10, "%": 10, "@": 10, "**": 12}
COMPARE, UNARY, POSTFIX = 4, 11, 13


def given(function, args, names):
    """A call's arguments by parameter: those by name come last, and what is not there has its default."""
    by_place = len(args) - len(names)
    result = dict(zip(function.params, args[:by_place]))
    by_name = {p.name: p for p in function.params}
    result.update((by_name[n], a) for n, a in zip(names, args[by_place:]))
    return [(p, result.get(p)) for p in function.params]


def number(value, type):
    """A literal."""
    if isinstance(value, Named):
        return called(value.member)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        if abs(value) >= 2 ** 31 and value % 3 == 0:
            return hex(value)
        return str(value)
    if isinstance(value, complex):
        return f"({number(value.real, '#f')} + {number(value.imag, '#f')}j)"
    if value != value:
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    text = repr(value)
    return text if "." in text or "e" in text else text + ".0"


def parenthesised(text, level, least):
    return text if level >= least else f"({text})"


def level_of(e):
    if e.op == "bin":
        return LEVEL[e.data]
    if e.op == "un":
        return LEVEL["not"] if e.data == "not" else UNARY
    if e.op == "logic":
        return LEVEL[e.data]
    if e.op == "cmp":
        return COMPARE
    if e.op == "cond":
        return 0
    if e.op == "lit":
        return UNARY if number(e.data, e.type).startswith("-") else 14
    return 14


def write(e, least=0):
    """An expression's text, in parentheses if it binds less than it must."""
    return parenthesised(WRITERS[e.op](e), level_of(e), least)


def listed(args):
    return ", ".join(write(a) for a in args)


def write_apply(e):
    by_place = len(e.args) - len(e.names)
    given = [write(a) for a in e.args[:by_place]] + [f"{n}={write(a)}" for n, a in zip(e.names, e.args[by_place:])]
    return f"{called(e.data)}({', '.join(given)})"


def write_fold(e):
    """A reduction of views: `data` is its name, and whether it stands behind its view."""
    what, behind = e.data
    return f"{write(e.args[0], POSTFIX)}.{what}()" if behind else f"{what}({listed(e.args)})"


def write_bin(e):
    level = LEVEL[e.data]
    a, b = e.args
    if e.data == "**":
        return f"{write(a, POSTFIX)} ** {write(b, UNARY)}"
    return f"{write(a, level)} {e.data} {write(b, level + 1)}"


def write_un(e):
    if e.data == "not":
        return f"not {write(e.args[0], LEVEL['not'])}"
    of = write(e.args[0], UNARY)
    return e.data + " " * (of[0] == e.data and e.data in "+-") + of  # two signs stand apart


def write_cmp(e):
    text = write(e.args[0], COMPARE + 1)
    for op, a in zip(e.data, e.args[1:]):
        text += f" {op} {write(a, COMPARE + 1)}"
    return text


def write_view(e):
    """`data` has for each subscript 'i', or which of start, stop and step a slice has, such as 'be' or 'bes'."""
    args = iter(e.args[1:])
    subs = []
    for form in e.data:
        if form == "i":
            subs.append(write(next(args)))
            continue
        begin = write(next(args)) if "b" in form else ""
        end = write(next(args)) if "e" in form else ""
        subs.append(f"{begin}:{end}" + (f":{write(next(args))}" if "s" in form else ""))
    return f"{write(e.args[0], POSTFIX)}[{', '.join(subs)}]"


def write_make(e):
    """A record: `data` has the names under which fields are given, or None where by place."""
    given = [write(a) if name is None else f"{name}={write(a)}" for name, a in zip(e.data, e.args)]
    return f"{e.type}({', '.join(given)})"


def write_atomic(e):
    a, *rest = e.args
    dims = a.type.dims
    index = "" if e.data == "compare_and_swap" else (write(rest[0]) if dims == 1 else f"({listed(rest[:dims])})") + ", "
    values = rest if e.data == "compare_and_swap" else rest[dims:]
    return f"atomic.{e.data}({write(a)}, {index}{listed(values)})"


def write_hint(e):
    a, *rest = e.args
    dims = a.type.dims
    index = write(rest[0]) if dims == 1 else f"({listed(rest[:dims])})"
    return f"{e.data}({', '.join([write(a), index] + [write(v) for v in rest[dims:]])})"


def in_library(what):
    """block.sum by the name that the file has for std.block."""
    library, dot, function = what.partition(".")
    return f"{HERE['spaces'].get(library, library)}.{function}" if dot else what


WRITERS = {
    "lit": lambda e: number(e.data, e.type),
    "name": lambda e: called(e.data),
    "bin": write_bin,
    "un": write_un,
    "logic": lambda e: f" {e.data} ".join([write(e.args[0], LEVEL[e.data]), write(e.args[1], LEVEL[e.data] + 1)]),
    "cmp": write_cmp,
    "cond": lambda e: f"{write(e.args[0], 1)} if {write(e.args[1], 1)} else {write(e.args[2])}",
    "conv": lambda e: f"{e.type}({listed(e.args)})",
    "make": write_make,
    "bits": lambda e: f"{write(e.args[0], POSTFIX)}.view({getattr(e.type, 'elem', e.type)})",
    "call": lambda e: f"{e.data}({listed(e.args)})",
    "apply": write_apply,
    "fold": write_fold,
    "each": lambda e: write(e.args[0], POSTFIX),        # a view where it stands for each of its elements
    "index": lambda e: f"{write(e.args[0], POSTFIX)}[{listed(e.args[1:])}]",
    "view": write_view,
    "attr": lambda e: f"len({write(e.args[0])})" if e.data == "len" else f"{write(e.args[0], POSTFIX)}.{e.data}",
    "turned": lambda e: f"{write(e.args[0], POSTFIX)}.T",
    "reshaped": lambda e: f"{write(e.args[0], POSTFIX)}.{'reshape' if e.args[1:] else 'ravel'}({listed(e.args[1:])})",
    "part": lambda e: f"{write(e.args[0], POSTFIX)}.{e.data}",
    "elem": lambda e: f"{write(e.args[0], POSTFIX)}[{listed(e.args[1:])}]",
    "tuple": lambda e: f"({listed(e.args)}{',' if len(e.args) == 1 else ''})",
    "special": lambda e: e.data,
    "sync": lambda e: f"{in_library(e.data)}({listed(e.args)})",
    "warp": lambda e: f"{in_library(e.data)}({listed(e.args)})",
    "atomic": write_atomic,
    "hint": write_hint,
    "text": lambda e: f'"{e.data}"',
    "dtype": lambda e: e.data,
    "random": lambda e: f"random.{e.data}({listed(e.args)})",
}


def write_let(s, pad):
    kind, names, type = s.data
    text = f"{pad}{kind} {', '.join(v.name for v in names)}{f': {type}' if type else ''} = "
    if len(names) > 1 and s.args[0].op == "tuple":
        return text + listed(s.args[0].args)
    return text + write(s.args[0])


def write_if(s, pad):
    text = ""
    for k, block in enumerate(s.blocks):
        if k < len(s.args):
            text += f"{' elif' if k else pad + 'if'} {write(s.args[k])} "
        else:
            text += " else "
        text += write_block(block, pad)
    return text


def write_block(block, pad):
    body = "".join(write_stmt(s, pad + "    ") + "\n" for s in block)
    return f"{{\n{body}{pad}}}"


def write_for(s, pad):
    var, unroll = s.data
    head = f"{'@unroll ' if unroll else ''}for {var.name} in range({listed(s.args)})"
    return f"{pad}{head} {write_block(s.blocks[0], pad)}"


def write_each(s, pad):
    names, form = s.data
    over = listed(s.args) if form is None else f"{form}({listed(s.args)})"
    return f"{pad}for {', '.join(v.name for v in names)} in {over} {write_block(s.blocks[0], pad)}"


def write_items(s, pad):
    at, sources, form, _ = s.data
    names = ([at] if at is not None else []) + [v for names in sources for v in names]
    over = listed(s.args) if form is None else f"{form}({listed(s.args)})"
    return f"{pad}for {', '.join(v.name for v in names)} in {over} {write_block(s.blocks[0], pad)}"


def write_memory(s, pad):
    var, kind, alignment = s.data
    shape = write(s.args[0]) if len(s.args) == 1 else f"({listed(s.args)})"
    aligned = f", alignment={alignment}" if alignment else ""
    return f"{pad}let {var.name} = {kind}.array({shape}, {var.type.elem}{aligned})"


def write_assign(s, pad):
    targets = s.data
    values = s.args[targets:]
    right = listed(values[0].args) if len(values) == 1 and values[0].op == "tuple" and targets > 1 else listed(values)
    return f"{pad}{listed(s.args[:targets])} = {right}"


def write_launch(s, pad):
    """`data`: the kernel, how many of the arguments are the grid's and the block's extents, named const arguments."""
    kernel, grid, block, names = s.data
    extents = [s.args[:grid], s.args[grid:grid + block]]
    shapes = [write(e[0]) if len(e) == 1 else f"({listed(e)})" for e in extents]
    given = [write(a) if n is None else f"{n}={write(a)}" for n, a in zip(names, s.args[grid + block:])]
    return f"{pad}launch {called(kernel)}[{', '.join(shapes)}]({', '.join(given)})"


STATEMENTS = {
    "let": write_let,
    "assign": write_assign,
    "update": lambda s, pad: f"{pad}{write(s.args[0])} {s.data}= {write(s.args[1])}",
    "if": write_if,
    "for": write_for,
    "each": write_each,
    "items": write_items,
    "while": lambda s, pad: f"{pad}while {write(s.args[0])} {write_block(s.blocks[0], pad)}",
    "break": lambda s, pad: pad + "break",
    "continue": lambda s, pad: pad + "continue",
    "return": lambda s, pad: (pad + "return " + listed(s.args)).rstrip(),
    "spread": lambda s, pad: f"{pad}{write(s.args[0])} {s.data}= {write(s.args[1])}",
    "expr": lambda s, pad: pad + write(s.args[0]),
    "memory": write_memory,
    "launch": write_launch,
    "group": lambda s, pad: "\n".join(write_stmt(t, pad) for t in s.blocks[0]),
}


def write_stmt(s, pad):
    return STATEMENTS[s.op](s, pad)


def write_param(v):
    default = v.get("default")
    return f"{'const ' if v.get('const') else ''}{v.name}: {v.type}{'' if default is None else ' = ' + write(default)}"


def write_function(f):
    generics = f"<{', '.join(n + (': ' + b if b else '') for n, b in f.generics)}>" if f.generics else ""
    head = f"{f.name}{generics}({', '.join(write_param(p) for p in f.params)})"
    if isinstance(f, Kernel):
        attributes = "".join(a + "\n" for a in f.attributes)
        requires = "".join(f"    requires {write(r)}\n" for r in f.requires)
        body = write_block(f.body, "")
        kept = "".join(f"    let kept{k} = f64(threadIdx.x + {k})\n" for k in f.kept)
        used = f"    if {' + '.join(f'kept{k}' for k in f.kept)} < 0 {{ return }}\n" if f.kept else ""
        return f"{attributes}kernel {head} {{\n{requires}{kept}{body[2:-1]}{used}}}\n"
    results = "" if f.results is None else f" -> {f.results}"
    return f"fn {head}{results} {write_block(f.body, '')}\n"


def write_record(r):
    fields = "".join(f"    {n}: {t if not e else Fixed(t, e)}\n" for n, t, e in r.fields)
    return f"{'@packed' + chr(10) if r.packed else ''}record {r.name} {{\n{fields}}}\n"


def write_enum(e):
    """In a value the enum's own names need not say which enum it is."""
    items = []
    for k, m in enumerate(e.members):
        text = m.name.partition(".")[2]
        if m.get("written") is not None:
            value = write(m.get("written"))
            text += " = " + (re.sub(rf"\b{e.name}\.", "", value) if k % 3 else value)
        items.append(text)
    inner = "\n    " + "\n    ".join(items) + "\n" if len(items) % 2 else f" {', '.join(items)} "
    return f"enum {e.name}{': ' + e.type if e.type else ''} {{{inner}}}\n"


def write_constant(c):
    """A constant is a Var with its value: an expression, or nested lists of them."""
    def items(v):
        return f"[{', '.join(items(x) for x in v)}]" if isinstance(v, list) else write(v)
    value = c.get("value")
    if value is None:
        return f"const {c.name}: {Fixed(c.type.elem, c.get('least'))}\n"
    return f"const {c.name}{f': {c.type}' if c.get('typed') else ''} = {items(value)}\n"
