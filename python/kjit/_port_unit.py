"""The file in kjit's language that a Numba kernel becomes, for kjit.numba_port: its constants, records, the functions that the
kernel calls, each for the types it is called with, and the few that have Numba's meaning where kjit's own words have
another."""
import ast
import re

from . import _port_body, _port_prune, _port_source, _port_types
from ._port_expr import E, literal
from ._port_source import Stop, Table, Typed
from ._port_types import Arr, GROUP, NONE, Rec, TEXT, Tup, show

_RESERVED = set("const fn kernel run let var if elif else for in while with as break continue return requires launch "
                "param and or not true false type enum record use test".split())
# what the translation writes, which a variable of that name would hide
_WRITTEN = set("grid gridsize threadIdx blockIdx blockDim gridDim laneid warpsize shared local len range enumerate "
               "zip min max abs round print assert atomic special random pi inf nan fma sqrt exp exp2 exp10 log log2 "
               "log10 log1p expm1 sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh hypot pow fmod "
               "remainder floor ceil trunc rint fabs cbrt erf erfc gamma lgamma degrees radians isnan isinf isfinite "
               "frexp modf ldexp copysign popc clz ffs brev selp conj phase polar rect syncthreads syncthreads_count "
               "syncthreads_and syncthreads_or syncwarp grid_sync threadfence threadfence_block threadfence_system "
               "nanosleep shfl_sync shfl_up_sync shfl_down_sync shfl_xor_sync all_sync any_sync eq_sync ballot_sync "
               "match_any_sync match_all_sync activemask lanemask_lt wrapped kernel_".split())
_TYPES = set(_port_types.SCALARS) | {"bf16"}
_HELPERS = re.compile(r"power_\w+|atomic_\w+_\d+|xoroshiro\w*")

_MARK = "\ue000"

_WRAPPED = """# An index of Python's: below 0 it counts from the end.
fn wrapped(i: i64, n: i64) -> i64 {
    return i + n if i < 0 else i
}
"""
_POWER_INT = """fn power_{of}(base: {of}, n: i64) -> {of} {{
    if n < 0 {{
        return base if base == 1{minus} else 0
    }}
    var result: {of} = 1
    var a = base
    var left = n
    while left != 0 {{
        if left & 1 != 0 {{
            result *= a
        }}
        left >>= 1
        a *= a
    }}
    return result
}}
"""
_POWER_FLOAT = """fn power_{of}(base: {of}, n: i64) -> {of} {{
    var left = abs(n)
    if left > 65536 {{
        return pow(base, {of}(n))
    }}
    var result: {of} = 1
    var a = base
    while left != 0 {{
        if left & 1 != 0 {{
            result *= a
        }}
        left >>= 1
        a *= a
    }}
    return 1 / result if n < 0 else result
}}
"""
_ATOMIC = """# A NaN that is there stays, as with Numba's atomics.
fn atomic_{word}_{of}_{ndim}(a: {of}[{commas}], {parameters}, v: {of}) -> {of} {{
    let old = a[{indices}]
    if isnan(old) {{
        return old
    }}
    return atomic.{word}(a, {place}, v)
}}
"""
RANDOM = """fn xoroshiro128p_next(states: {record}[], index: i64) -> u64 {{
    let s0 = states[index].s0
    var s1 = states[index].s1
    let result = s0 + s1
    s1 ^= s0
    states[index].s0 = (s0 << 55 | s0 >> 9) ^ s1 ^ s1 << 14
    states[index].s1 = s1 << 36 | s1 >> 28
    return result
}}

fn xoroshiro128p_uniform_float64(states: {record}[], index: i64) -> f64 {{
    return f64(xoroshiro128p_next(states, index) >> 11) * (1.0 / 9007199254740992.0)
}}

fn xoroshiro128p_uniform_float32(states: {record}[], index: i64) -> f32 {{
    return f32(xoroshiro128p_uniform_float64(states, index))
}}

fn xoroshiro128p_normal_float32(states: {record}[], index: i64) -> f32 {{
    let u1 = xoroshiro128p_uniform_float32(states, index)
    let u2 = xoroshiro128p_uniform_float32(states, index)
    return sqrt(-2 * log(u1)) * cos(f32(2 * pi) * u2)
}}

fn xoroshiro128p_normal_float64(states: {record}[], index: i64) -> f64 {{
    let u1 = xoroshiro128p_uniform_float32(states, index)
    let u2 = xoroshiro128p_uniform_float32(states, index)
    return sqrt(-2 * f64(log(u1))) * cos(2 * pi * f64(u2))
}}
"""


def safe(name):
    """A name that kjit takes, and that hides nothing which is written."""
    name = "".join(c if c.isascii() else f"u{ord(c):x}" for c in name)
    if name == "_":
        return "ignored"
    return name + "_" if name in _RESERVED or name in _WRITTEN or name in _TYPES or _HELPERS.fullmatch(name) else name


class Unit:
    """What is written into one file. What a body needs is noted with it, as it is translated more than once."""

    def __init__(self, wraparound):
        self.wraparound = wraparound
        self.instances, self.stack, self.names = {}, [], {}
        self.declared, self.records = {}, {}

    # ---- what a body needs ----

    def need(self, kind, name):
        self.stack[-1].needs[kind, name] = True

    def helper(self, name):
        self.need("helper", name)

    def use(self, text):
        self.need("use", text)

    def random(self, record):
        self.need("random", self.record(record))

    def record(self, of):
        name = self.records.setdefault(of, "Record" if not self.records else f"Record_{len(self.records) + 1}")
        for _, kind, _ in of.fields:
            if isinstance(kind, Rec):
                self.record(kind)
        if self.stack:
            self.need("record", name)
        return name

    def global_name(self, name, what):
        """The name in the file of something that is called so in Python; two things of one name are told apart."""
        base, number = safe(name), 2
        name = base
        while self.names.get(name, what) != what:
            name, number = f"{base}_{number}", number + 1
        self.names[name] = what
        return name

    def constant(self, name, value):
        """A constant from outside of the function, by its name."""
        if isinstance(value, tuple):
            if isinstance(value, Table):
                return self._table(name, value)
            if not isinstance(value, Typed):
                items = [literal(item) if isinstance(item, (int, float, complex)) else self.constant(f"{name}_{i}", item)
                         for i, item in enumerate(value)]
                e = E("(" + ", ".join(i.text for i in items) + ")", Tup(tuple(i.type for i in items)), items=items)
                e.name = name
                return e
        of = value.type if isinstance(value, Typed) else None
        plain = value.value if isinstance(value, Typed) else value
        e = literal(plain)
        if e.type == "bool" or e.type == "c128" and of is None or not all(c.isalnum() or c in ".-" for c in e.text):
            return e
        if of in (None, e.type) and e.type in ("i64", "f64"):
            if e.text in ("inf", "nan", "-inf"):
                return e
            own = self.global_name(name, ("const", e.text))
            self.declared["const", own] = f"const {own} = {e.text}"
            self.need("const", own)
            return E(own, e.type, literal=True, value=plain)
        of = of or e.type
        if of not in _port_types.NUMBERS or of in _port_types.COMPLEX:
            return E(f"{of}({e.text})", of)
        own = self.global_name(name, ("const", of, e.text))
        self.declared["const", own] = f"const {own}: {of} = {e.text}"
        self.need("const", own)
        return E(own, of)

    def _table(self, name, table):
        own = self.global_name(name, ("table", table))
        self.declared["const", own] = f"const {own}: {table.elem}[{',' * (len(table.shape) - 1)}] = {_rows(table)}"
        self.need("const", own)
        return E(own, Arr(table.elem, len(table.shape)))

    def table(self, e):
        """A tuple of constants, of which an item is taken by a number that the thread computes: an array."""
        items = tuple(item.value for item in e.items)
        return self._table(e.name or "tuple_items", Table((len(items),), items, e.type.items[0])).text

    def is_table(self, name):
        return ("const", name) in self.declared and isinstance(self.names.get(name), tuple) and self.names[name][0] == "table"

    def dynamic(self, body, elem, node):
        """The extent of an array whose bytes are given by the launch."""
        size = max(_port_types.bits(elem) // 8, 1) if elem in _port_types.SCALARS else 0
        if not body.kernel or not size:
            raise body.fail(node, "an array of the launch's size is one of numbers, in the kernel itself")
        if body.dynamic:
            raise body.fail(node, "two arrays of the launch's size are the same memory", "give them their sizes: "
                            "cuda.shared.array(n, float32)")
        body.dynamic = size
        return "shared_bytes" if size == 1 else f"shared_bytes // {size}"

    # ---- names in a body ----

    def local_name(self, web):
        """A variable's name; one that nothing uses begins with an underscore, so that no warning is made of it."""
        name = safe(web.name)
        kinds = {d.kind for d in web.defs}
        return name if web.uses or kinds & {"param", "aug"} else "_" + name.lstrip("_")

    def fresh(self, body, base):
        taken = set(body.flow.locals) | {w.written for w in body.flow.webs if hasattr(w, "written")} | body.made
        name, number = safe(base), 1
        while name in taken or (number == 1 and base in body.flow.locals):
            number += 1
            name = f"{safe(base)}_{number}"
        body.made.add(name)
        return name

    # ---- functions ----

    def call(self, body, node, function):
        """A call of a device function, which is ported for the types of its arguments."""
        values = self._bind(body, node, function)
        types = tuple(v.type for v in values)
        for value, tree in zip(values, node.args):
            if value.type in (GROUP, TEXT) or value.type == NONE and not value.pure:
                raise body.fail(tree, f"a function takes no {show(value.type)} here")
        if any(inner.function == function for inner in self.stack):
            raise body.fail(node, f"'{function.name}' calls itself", "use a loop")
        callee = self.instance(function, types)
        body.needs["fn", (function, types)] = True
        if callee.errors or callee.result is None:
            raise Stop()
        texts = []
        for value, of, tree in zip(values, types, list(node.args) + [node] * len(values)):
            if of != NONE:
                texts.append(body.given(value, of, tree).text if not isinstance(of, (Arr, Rec)) else value.text)
        text = f"{callee.name}({', '.join(texts)})"
        return E(text, callee.result, pure=False)

    def _bind(self, body, node, function):
        arguments = function.node.args
        if arguments.vararg or arguments.kwarg:
            raise body.fail(node, f"'{function.name}' takes any number of arguments",
                            "a function of a kernel has its parameters")
        names = [a.arg for a in arguments.posonlyargs + arguments.args + arguments.kwonlyargs]
        found = dict(zip(names, node.args))
        if len(node.args) > len(names) or any(isinstance(a, ast.Starred) for a in node.args):
            raise body.fail(node, f"'{function.name}' takes {len(names)} arguments")
        for keyword in node.keywords:
            if keyword.arg not in names or keyword.arg in found:
                raise body.fail(keyword.value, f"'{function.name}' has no parameter '{keyword.arg}' that is left")
            found[keyword.arg] = keyword.value
        order = [found[name] for name in names if name in found]
        trees = {tree: body.argument(tree) for tree in list(node.args) + [k.value for k in node.keywords]}
        if [t for t in trees] != order and not all(e.pure for e in trees.values()):
            raise body.fail(node, "these arguments are computed in another order here", "give them by place")
        defaults, values = function.defaults(), []
        for name in names:
            if name in found:
                values.append(trees[found[name]])
                continue
            if name not in defaults:
                raise body.fail(node, f"'{function.name}' needs '{name}'")
            meant = defaults[name]
            if meant is not None and meant.kind == "none":
                values.append(E("none", NONE))
                continue
            if meant is None or meant.kind != "value":
                raise body.fail(node, f"the default of '{name}' is no constant", "give it in the call")
            value = meant.value
            values.append(self.constant(name, value) if not isinstance(value, (int, float)) else literal(value))
        return values

    def instance(self, function, types, kernel=False):
        """A function for the types of its arguments, translated."""
        key = (function, types)
        if key not in self.instances:
            cut, kept = _port_prune.pruned(function, types)
            left_away = _port_prune.left_away(cut, kept, function.source.comments)
            body = self.instances[key] = self._translated(key, kernel, cut, left_away)
            if cut is not kept:
                other = self._translated(key, kernel, kept)
                if self._is_alike(other, body):
                    body = self.instances[key] = other
            number = len(self.instances)
            body.name = f"{_MARK}{number}{_MARK}"  # what it is called is known when all that is called is
        return self.instances[key]

    def _translated(self, key, kernel, tree, left_away=()):
        function, types = key
        body = _port_body.Body(self, function, types, kernel, tree)
        body.left_away = left_away
        self.stack.append(body)
        try:
            body.lines_done = body.translate()
        except Stop:
            body.lines_done = []
        self.stack.pop()
        if body.result is None and not body.errors:
            body.result = NONE
        if not kernel and body.result != NONE and body.flow.falls_through:
            body.errors.append((function.source, function.node, f"'{function.name}' returns a value on some ways only",
                                "end it with a return of one"))
        return body

    def _is_alike(self, whole, body):
        """Is all that is done of the types that it has without what Numba leaves away? Then the text keeps that: a constant may
        be changed in it."""
        return not any(each.errors for each in self._reached(whole, [])) and whole.result == body.result and all(
            has.get(node) == of for has, wanted in ((whole.def_types, body.def_types), (whole.use_types, body.use_types))
            for node, of in wanted.items())

    # ---- the text ----

    def _reached(self, body, found):
        """The bodies that a body calls, before itself."""
        for kind, key in body.needs:
            if kind == "fn" and self.instances[key] not in found:
                self._reached(self.instances[key], found)
        if body not in found:
            found.append(body)
        return found

    def text(self, body, heads):
        """The file's text, and of each of its lines the place, (source, line) or None; errors are raised."""
        bodies = self._reached(body, [])
        notes = _port_source.Notes()
        for each in bodies:
            for error in each.errors:
                notes.add(*error)
        notes.raise_if_any()
        needs = {}
        for each in bodies:
            needs.update(each.needs)
        parts = [[(name, None)] for kind, name in needs if kind == "use"]
        constants = [(self.declared["const", name], None) for kind, name in needs if kind == "const"]
        parts += [constants] if constants else []
        wanted = {name for kind, name in needs if kind == "record"}
        parts += [_lines(self._record_text(of)) for of in _inner_first(self.records) if self.records[of] in wanted]
        parts += [_lines(_helper(name)) for kind, name in needs if kind == "helper"]
        parts += [_lines(_used_random(name, bodies)) for kind, name in needs if kind == "random"]
        parts += [each.written_lines(heads if each is body else ()) for each in bodies]
        names = {}
        for each in [body] + bodies:
            if each.name not in names:
                names[each.name] = self.global_name(each.function.name, ("fn", each))
        lines = []
        for part in parts:
            lines += ([("", None)] if lines else []) + part
        text = "".join(text + "\n" for text, _ in lines)
        text = re.sub(f"{_MARK}\\d+{_MARK}", lambda match: names[match.group()], text)
        body.name = names[body.name]
        return text, [place for _, place in lines]

    def _record_text(self, of):
        rows = [f"    {name}: {_port_types.spell(kind, self.record)}{str(list(shape)) if shape else ''}"
                for name, kind, shape in of.fields]
        return ("@packed\n" if of.packed else "") + f"record {self.records[of]} {{\n" + "\n".join(rows) + "\n}\n"


def _inner_first(records):
    """Records in an order in which each stands behind those of its fields."""
    done = []

    def add(of):
        for _, kind, _ in of.fields:
            if isinstance(kind, Rec):
                add(kind)
        if of not in done:
            done.append(of)

    for of in records:
        add(of)
    return done


def _lines(text):
    return [(line, None) for line in text.rstrip("\n").split("\n")]


def _used_random(record, bodies):
    """The random functions that are called, and what these call."""
    parts = RANDOM.format(record=record).split("\n\n")
    said = "".join(text for body in bodies for _, text, _ in body.lines_done)
    kept = []
    for part in reversed(parts):
        name = part[3:part.index("(")]
        if name + "(" in said + "".join(kept):
            kept.insert(0, part.rstrip("\n") + "\n")
    return "\n".join(kept)


def _helper(name):
    word, _, of = name.partition("_")
    if word == "power":
        return _POWER_INT.format(of=of, minus=" or base == -1" if of[0] == "i" else "") if of in _port_types.INTS else \
            _POWER_FLOAT.format(of=of)
    if word == "atomic":
        word, of, ndim = of.split("_")
        count = int(ndim)
        places = ["i"] if count == 1 else [f"place[{i}]" for i in range(count)]
        return _ATOMIC.format(word=word, of=of, ndim=ndim, commas="," * (count - 1), indices=", ".join(places),
                              parameters="i: i64" if count == 1 else f"place: ({', '.join(['i64'] * count)})",
                              place="i" if count == 1 else f"({', '.join(places)})")
    return _WRAPPED


def _rows(table):
    def rows(shape, items):
        if len(shape) == 1:
            return "[" + ", ".join(literal(item).text for item in items) + "]"
        step = len(items) // shape[0]
        return "[" + ", ".join(rows(shape[1:], items[i * step:(i + 1) * step]) for i in range(shape[0])) + "]"
    return rows(table.shape, list(table.items))
