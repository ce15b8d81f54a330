"""Small kernels whose indices may be outside: expressions and statements, their text, and the same as Python, which
says where each thread fails (bounds_memory.py has what that Python calls)."""
from scalars import FLOATS, UNSIGNED, common

CALLS = ("min", "max", "clamp", "abs", "ceil_div", "selp")


class E:
    """An expression. `kids` are expressions, `data` what else it is made of; its line is known once it is written."""
    __slots__ = ("op", "type", "kids", "data", "line")

    def __init__(self, op, type, kids=(), data=None):
        self.op, self.type, self.kids, self.data, self.line = op, type, list(kids), data, 0

    def copy(self):
        return E(self.op, self.type, [k.copy() for k in self.kids], self.data)

    def walk(self):
        yield self
        for k in self.kids:
            yield from k.walk()

    # ---- As the language has it ----

    def text(self):
        k = [kid.text() for kid in self.kids]
        op, data = self.op, self.data
        if op == "lit":
            return {True: "true", False: "false"}[data] if self.type == "bool" else \
                f"({data})" if data < 0 else str(data)
        if op == "var":
            return data
        if op in ("bin", "cmp", "logic"):
            return f"({k[0]} {data} {k[1]})"
        if op == "chain":
            return f"({k[0]} {data[0]} {k[1]} {data[1]} {k[2]})"
        if op == "not":
            return f"(not {k[0]})"
        if op == "conv":
            return f"{self.type}({k[0]})"
        if op == "call":
            return f"{data}({', '.join(k)})"
        if op == "cond":
            return f"({k[1]} if {k[0]} else {k[2]})"
        if op == "ext":
            return f"{data[0]}.size" if data[1] < 0 else f"{data[0]}.shape[{data[1]}]"
        if op == "thread":
            return data
        if op == "load":
            return f"{data}[{', '.join(k)}]"
        if op == "rows":
            return f"{data}[{k[0]}][{k[1]}]"
        if op == "field":
            return f"{data[0]}[{k[0]}].{data[1]}" + (f"[{k[1]}]" if len(k) > 1 else "")
        if op == "sum":
            return f"sum({data})"
        if op == "fn":
            return f"{data[0]}({', '.join(k + list(data[1]))})"
        raise AssertionError(op)

    # ---- As Python ----

    def python(self):
        k = [kid.python() for kid in self.kids]
        op, data, t = self.op, self.data, self.type
        if op == "lit":
            return repr(float(data) if t in FLOATS else data) if data is True or data is False or data >= 0 \
                else f"({float(data) if t in FLOATS else data})"
        if op == "var":
            return data
        if op == "bin":
            if t == "bool":
                return f"({k[0]} {data} {k[1]})"
            if data in ("<<", ">>"):
                return f"{'shl' if data == '<<' else 'shr'}({k[0]}, {k[1]}, {t!r})"
            if data in ("//", "%"):
                return f"{'fdiv' if data == '//' else 'fmod'}({k[0]}, {k[1]}, {t!r})"
            return f"fit({k[0]} {data} {k[1]}, {t!r})"
        if op == "cmp":
            return f"({k[0]} {data} {k[1]})"
        if op == "chain":
            return f"({k[0]} {data[0]} {k[1]} {data[1]} {k[2]})"
        if op == "logic":
            return f"({k[0]} {data} {k[1]})"
        if op == "not":
            return f"(not {k[0]})"
        if op == "conv":
            return f"convert({k[0]}, {self.kids[0].type!r}, {t!r})"
        if op == "call":
            names = {"min": "least_of", "max": "most_of"}
            extra = f", {t!r}" if data in ("abs", "ceil_div") else ""
            return f"{names.get(data, data)}({', '.join(k)}{extra})"
        if op == "cond":
            return f"({k[1]} if {k[0]} else {k[2]})"
        if op == "ext":
            return f"{data[0]}.extent({data[1]})"
        if op == "thread":
            return "T." + data.replace(".", "_")
        if op == "load":
            return f"{data}.load(({', '.join(k)},), {self.line})"
        if op == "rows":
            return f"{data}.row({k[0]}, {self.line}).load(({k[1]},), {self.line})"
        if op == "field":
            return f"{data[0]}.field({data[1]!r}, ({', '.join(k)},), {self.line})"
        if op == "sum":
            return f"{data}.sum({self.line})"
        if op == "fn":
            return f"{data[0]}(T, {', '.join(k + list(data[1]))})"
        raise AssertionError(op)


def lit(value, t):
    return E("lit", t, data=value)


def var(name, t):
    return E("var", t, data=name)


def conv(e, t):
    return e if e.type == t else E("conv", t, [e])


def meet(a, b):
    """Both operands, converted where they have no type in common."""
    if "bool" in (a.type, b.type):
        return conv(a, "i32"), conv(b, "i32")
    if a.op == "lit" and b.op != "lit":
        return lit(fitting(a.data, b.type), b.type), b
    if b.op == "lit":
        if a.op == "lit":
            a = E("conv", a.type, [a])
        return a, lit(fitting(b.data, a.type), a.type)
    if common(a.type, b.type) is None:
        return (a, conv(b, "u64")) if a.type == "u64" else (conv(a, "u64"), b)
    return a, b


def fitting(value, t):
    """A value near by that the type holds."""
    if t in FLOATS:
        return value
    bits = int(t[1:])
    low, high = (0, (1 << bits) - 1) if t in UNSIGNED else (-(1 << bits - 1), (1 << bits - 1) - 1)
    return max(low, min(high, value))


def binary(op, a, b):
    a, b = meet(a, b)
    return E("bin", common(a.type, b.type), [a, b], op)


def compare(op, a, b):
    return E("cmp", "bool", meet(a, b), op)


def call(name, *args):
    args = list(args)
    for i in range(1, len(args)):
        args[0], args[i] = meet(args[0], args[i])
    t = args[0].type
    for a in args[1:]:
        t = common(t, a.type)
    return E("call", t, [a if a.op == "lit" else conv(a, t) for a in args], name)


# ---- Statements ----

class S:
    """A statement: expressions, blocks of statements, what else it is made of."""

    def __init__(self, kind, exprs=(), blocks=(), data=None):
        self.kind, self.exprs, self.blocks, self.data = kind, list(exprs), [list(b) for b in blocks], data

    def copy(self):
        return S(self.kind, [e.copy() for e in self.exprs], [[s.copy() for s in b] for b in self.blocks], self.data)


class Out:
    """Both texts as they are written."""

    def __init__(self):
        self.lines, self.python = [], []
        self.depth, self.deep = 0, 0

    def line(self, text):
        self.lines.append("    " * self.depth + text)

    def at(self):
        return len(self.lines) + 1

    def py(self, text):
        self.python.append("    " * self.deep + text)

    def seen(self, e):
        for x in e.walk():
            x.line = self.at()
        return e.text()


def write_block(out, block):
    out.depth += 1
    out.deep += 1
    for s in block:
        write(out, s)
    if not block:
        out.py("pass")
    out.depth -= 1
    out.deep -= 1


def write_if(out, s):
    for i, cond in enumerate(s.exprs):
        out.line(f"{'if' if i == 0 else '} elif'} {out.seen(cond)} {{")
        # an elif's line is its own
        out.py(f"{'if' if i == 0 else 'elif'} {cond.python()}:")
        write_block(out, s.blocks[i])
    if len(s.blocks) > len(s.exprs):
        out.line("} else {")
        out.py("else:")
        write_block(out, s.blocks[-1])
    out.line("}")


def index_text(out, part):
    """One part of a view's brackets: an expression, or (low, high, step), each may be missing."""
    if isinstance(part, E):
        return out.seen(part)
    low, high, step = part
    return f"{out.seen(low) if low else ''}:{out.seen(high) if high else ''}" + (f":{step}" if step else "")


def index_python(part):
    if isinstance(part, E):
        return part.python()
    low, high, step = part
    return f"slice({low.python() if low else None}, {high.python() if high else None}, {step or 1})"


def write_view(out, s):
    name, source, how = s.data
    parts = list(s.exprs)
    at = out.at()
    if how == "T":
        out.line(f"let {name} = {source}.T")
        out.py(f"{name} = {source}.transposed({name!r})")
    elif how == "field":
        out.line(f"let {name} = {source}[{out.seen(parts[0])}].at")
        out.py(f"{name} = {source}.row_of_field({parts[0].python()}, {at}, {name!r})")
    elif how == "fields":
        out.line(f"let {name} = {source}.at")
        out.py(f"{name} = {source}.fields({name!r})")
    else:
        parts = [p if p is not None else parts.pop(0) for p in filled(how, parts)]
        out.line(f"let {name} = {source}[{', '.join(index_text(out, p) for p in parts)}]")
        out.py(f"{name} = {source}.view(({', '.join(index_python(p) for p in parts)},), {at}, {name!r})")


def filled(how, exprs):
    """The parts of a view: 'i' an index, otherwise which ends of a slice are given, and its step."""
    left, parts = list(exprs), []
    for h in how:
        if h == "i":
            parts.append(left.pop(0))
        else:
            has_low, has_high, step = h
            low = left.pop(0) if has_low else None
            parts.append((low, left.pop(0) if has_high else None, step))
    exprs[:] = []
    return parts


def write_loop(out, s):
    name = s.data[0]
    if s.kind == "for":
        low, high, step = s.exprs
        out.line(f"for {name} in range({', '.join(out.seen(e) for e in (low, high, step))}) {{")
        out.py(f"for {name} in turns({', '.join(e.python() for e in (low, high, step))}):")
    elif s.kind == "while":
        out.line(f"while {out.seen(s.exprs[0])} {{")
        out.py(f"while {s.exprs[0].python()}:")
    elif s.kind == "each":
        out.line(f"for {name} in {s.data[1]} {{")
        out.py(f"for {name} in {s.data[1]}.each({out.at() - 1}):")
    else:
        out.line(f"for {name}, {s.data[2]} in enumerate({s.data[1]}) {{")
        out.py(f"for {name}, {s.data[2]} in enumerate({s.data[1]}.each({out.at() - 1})):")
    out.deep += 1
    out.py("T.tick()")
    out.deep -= 1
    write_block(out, s.blocks[0])
    out.line("}")


def write_memory(out, s):
    name, shape, t, factor = s.data
    n = shape[0] if len(shape) == 1 else 0
    total = 1
    for x in shape:
        total *= x
    if s.kind == "local":
        of = f"{shape[0]}" if n else f"({', '.join(map(str, shape))})"
        out.line(f"let {name} = local.array({of}, {t})")
        if n:
            out.line(f"for k in range({n}) {{ {name}[k] = {t}(k * {factor} % {n + 1}) }}")
        else:
            out.line(f"for k in range({total}) "
                     f"{{ {name}[k // {shape[1]}, k % {shape[1]}] = {t}(k * {factor} % {total}) }}")
        out.py(f"{name} = local({shape!r}, {t!r}, {factor}, {name!r})")
    else:
        out.line(f"let {name} = shared.array({n}, {t})")
        out.line(f"for k in range(threadIdx.x + blockDim.x * threadIdx.y, {n}, blockDim.x * blockDim.y) "
                 f"{{ {name}[k] = {t}(k * {factor} % {n + 1}) }}")
        out.line("syncthreads()")
        out.py(f"{name} = local({shape!r}, {t!r}, {factor}, {name!r})")
        out.py("yield")


def write(out, s):
    e, data = s.exprs, s.data
    if s.kind == "if":
        write_if(out, s)
    elif s.kind in ("for", "while", "each", "enumerate"):
        write_loop(out, s)
    elif s.kind == "view":
        write_view(out, s)
    elif s.kind in ("local", "shared"):
        write_memory(out, s)
    else:
        write_simple(out, s, e, data)


def write_simple(out, s, e, data):
    texts, at = [out.seen(x) for x in e], out.at()
    py = [x.python() for x in e]
    if s.kind in ("let", "var"):
        out.line(f"{s.kind} {data} = {texts[0]}" if e[0].op != "lit" or e[0].type == "bool" else
                 f"{s.kind} {data}: {e[0].type} = {texts[0]}")
        out.py(f"{data} = {py[0]}")
    elif s.kind == "assign":
        out.line(f"{data} = {texts[0]}")
        out.py(f"{data} = {py[0]}")
    elif s.kind == "assign2":
        out.line(f"{data[0]}, {data[1]} = {texts[0]}, {texts[1]}")
        out.py(f"{data[0]}, {data[1]} = {py[0]}, {py[1]}")
    elif s.kind == "let2":
        out.line(f"let {data[0]}, {data[1]} = {', '.join(texts)}")
        out.py(f"{data[0]}, {data[1]} = {', '.join(py)}")
    elif s.kind == "add":
        out.line(f"{data[0]} {data[1]}= {texts[0]}")
        out.py(f"{data[0]} = {e[1].python()}")
    elif s.kind == "chosen":
        out.line(f"let {data[0]} = {data[1]} if {texts[0]} else {data[2]}")
        out.py(f"{data[0]} = ({data[1]} if {py[0]} else {data[2]}).named(None)")
    elif s.kind == "store":
        out.line(f"{data}[{', '.join(texts[1:])}] = {texts[0]}")
        out.py(f"{data}.store({py[0]}, ({', '.join(py[1:])},), {at})")
    elif s.kind == "addto":
        out.line(f"{data}[{', '.join(texts[1:])}] += {texts[0]}")
        out.py(f"{data}.add_to({py[0]}, ({', '.join(py[1:])},), {at})")
    elif s.kind == "atomic":
        out.line(f"atomic.add({data}, {texts[1]}, {texts[0]})")
        out.py(f"{data}.atomic({data}.place(({py[1]},), {at}), {py[0]})")
    elif s.kind == "barrier":
        out.line("syncthreads()")
        out.py("yield")
    elif s.kind == "launch":
        out.line(f"launch child[{data[1]}, {data[2]}]({data[0]}, {texts[0]}, h)")
        out.py(f"T.launch({data[0]}, {py[0]}, {data[1]}, {data[2]}, {at})")
    elif s.kind in ("return", "break", "continue"):
        out.line(s.kind + (f" {texts[0]}" if e else ""))
        out.py(s.kind + (f" {py[0]}" if e else ""))
    else:
        raise AssertionError(s.kind)
