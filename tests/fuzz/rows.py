"""What of the language the generated programs have: how often each row of the table (rows_table.py) was generated.

A row that no program of a large run has is a failure of that run: nothing may drop out of the generator unnoticed."""
import collections
import math
import re

import directed
import scalars
from files import flat, needs
from host import HostArray, Launch
from rows_expr import is_member, memory_name, of_bin, of_expression
from rows_table import table
from scalars import COMPLEX, FLOATS
from tree import Arr, Fixed, Kernel, MANY, Named, Rec, Tup, UNTYPED, Vec, has_packed, home_of, walk


class Rows:
    def __init__(self):
        self.counts = collections.Counter()

    def add(self, other):
        self.counts.update(other.counts)

    def missing(self, without=()):
        return [row for row in table(without) if not self.counts[row]]

    def program(self, p):
        """Counts what a program has: each row once a program."""
        found = set()
        for c in p.constants:
            array = isinstance(c.type, Arr)
            found.add("constant tuple" if isinstance(c.type, Tup) else
                      "constant array that the host fills" if array and c.get("value") is None else
                      "constant array" if array else "constant with type" if c.get("typed")
                      else "constant without type")
        found |= of_enums(p)
        for x in p.records:
            found.add("record")
            found |= {"record in a record" for _, t, n in x.fields if isinstance(t, Rec)}
            found |= {"packed record"} if x.packed else set()
            found |= {"packed record in another" for _, t, n in x.fields if isinstance(t, Rec) and t.packed}
            found |= {"record in a packed record" for _, t, n in x.fields if isinstance(t, Rec) and x.packed}
            found |= {"fixed array in a record" for _, t, n in x.fields if n}
            found |= {"record of many scalars"} if x.slots > MANY else set()
        for f in p.functions + p.helpers:
            found |= of_function(f)
        for k in p.kernels:
            found |= of_kernel(k)
        for f in p.functions + p.helpers + p.kernels:
            found |= of_body(f)
        found |= of_files(p)
        found |= of_run(p)
        self.counts.update(found)


def of_files(p):
    found = {"name of a type"} if p.type_names else set()
    for what, items in (("enum", p.enums), ("constant", p.constants), ("record", p.records),
                        ("function", p.functions + p.helpers), ("kernel", p.kernels)):
        found |= {f"{what} of another file" for d in items if home_of(d)}
        found |= {"file that uses another" for d in items if home_of(d) == "lib"
                  and any(home_of(n) == "base" for n in needs(d))}
    return found | {"file called otherwise" for home, space in p.spaces.items() if home != space}


def of_enums(p):
    found = {"enum as a type"} if p.enum_names else set()
    for e in p.enums:
        found |= {"enum"} | ({"enum with a type"} if e.type else set())
        found |= {"number of an enum counted" for m in e.members if m.get("written") is None}
        found |= {"number of an enum from others" for m in e.members if m.get("written") is not None
                  and any(n.op == "name" for n in walk(m.get("written")))}
    for c in p.constants:
        found |= {"enum in a constant" for e in flat(c.get("value") or []) for n in walk(e) if is_member(n)}
    for s in p.run:
        items = s.values or [] if isinstance(s, HostArray) else s.args if isinstance(s, Launch) else []
        found |= {"enum in a run block"} if any(isinstance(x, Named) for x in items) else set()
    return found


def of_function(f):
    found = {"function"}
    if isinstance(f.results, Tup):
        found.add("function with several results")
        found |= {"tuple of tuples as result" for p in f.results.parts if isinstance(p, Tup)}
    for p in f.params:
        if isinstance(p.type, Tup):
            found |= {"tuple parameter"} | {"tuple of tuples as argument" for q in p.type.parts if isinstance(q, Tup)}
    if isinstance(f.results, Arr):
        found.add("function that gives a view")
    if any(isinstance(p.type, Arr) for p in f.params):
        found.add("function with array")
    if f.facts.get("effects"):
        found.add("function with effects")
    if f.facts.get("ticks"):
        found.add("function that changes and gives a number")
    if f.generics:
        found.add("generic function")
        found |= {"generic function of an array" for p in f.params if isinstance(p.type, Arr)}
    ops = {(n.op, n.data if n.op == "sync" else None) for n in walk(f.body)}
    if ("sync", "syncthreads") in ops:
        found.add("function with barriers")
    if any(n.op == "apply" for n in walk(f.body)):
        found.add("function in a function")
    if any(n.op == "memory" and n.data[1] == "shared" for n in walk(f.body)):
        found.add("function with shared memory")
    if sum(n.op == "return" for n in walk(f.body)) > 1:
        found.add("function with early return")
    return found


def of_kernel(k):
    found = {f"generic kernel {b}" for _, b in k.generics}
    if k.requires:
        found.add("requires")
    found |= {"launch bounds" for a in k.attributes if "bounds" in a} | {"max registers" for a in k.attributes
                                                                         if "max_r" in a}
    for p in k.params:
        if p.get("const"):
            found.add("const parameter")
        elif isinstance(p.type, Rec):
            found |= {"record parameter"} | ({"packed record as a parameter"} if p.type.packed else set())
        elif isinstance(p.type, Tup):
            found.add("tuple parameter of a kernel")
        elif isinstance(p.type, Vec):
            found.add("vector parameter")
        elif p.type in COMPLEX:
            found.add("complex parameter")
        elif not isinstance(p.type, Arr):
            found.add("scalar parameter")
        elif isinstance(p.type.elem, Rec):
            found |= {"array of records"} | ({"array of packed records"} if p.type.elem.packed else set())
    shared = [n for n in walk(k.body) if n.op == "memory" and n.data[1] == "shared"]
    if len(shared) > 1:
        found.add("several shared arrays")
    plans = k.facts.get("plans") or []
    if len(plans) > 1:
        found.add("kernel launched twice")
    return found


def of_body(f):
    found = set()

    def statements(block, around, names):
        """`around`: the loops and branches that a statement is in."""
        here = set(names)
        declared_before = {}
        for k, s in enumerate(block):
            found.update(of_statement(s, around, here))
            if s.op == "let":
                here |= {v.name for v in s.data[1]}
            if any(n.op == "sync" and n.data in BARRIERS for n in walk(s)):
                for v, kind in declared_before.items():
                    if any(n.op == "name" and n.data is v for t in block[k + 1:] for n in walk(t)):
                        found.add(kind)
            for n in walk(s):
                if n.op == "let" and n in block[k:k + 1]:
                    declared_before.update({v: "variable across a barrier" for v in n.data[1]})
                if n.op == "memory" and n.data[1] == "local":
                    declared_before[n.data[0]] = "local array across a barrier"
            inner = around if s.op == "group" else around + [s]
            for b in s.blocks:
                statements(b, inner, here)
    statements(f.body, [], {p.name for p in f.params})
    if any(p.get("default") is not None and not p.get("const") for p in f.params):
        found.add("function with defaults")
    for n in walk(f.body):
        if hasattr(n, "type"):
            found.update(of_expression(n))
        elif n.op in ("assign", "update") and n.args[0].op == "name" and n.args[0].data in f.params:
            found |= {"parameter assigned"} | ({"parameter of a kernel assigned"} if isinstance(f, Kernel) else set())
    if "return before a barrier" in found and not any(n.op == "sync" and n.data in BARRIERS for n in walk(f.body)):
        found.discard("return before a barrier")
    return found


BARRIERS = ("syncthreads", "syncthreads_count", "syncthreads_and", "syncthreads_or", "grid_sync")


def of_statement(s, around, names):
    found = set()
    if s.op == "let":
        kind, variables, declared = s.data
        found.add(kind)
        if kind == "var" and not declared and s.args[0].type in UNTYPED:
            found.add("open variable")
        if declared:
            found.add("declared type")
            source = s.args[0].type
            if isinstance(source, str) and source != declared:
                found.add(f"by itself {source} to {declared}")
        if len(variables) > 1:
            found.add("several names")
        if isinstance(variables[0].type, Tup):
            found.add("tuple variable")
        if any(v.name in names for v in variables):
            found.add("hidden name")
        if s.args[0].op == "atomic":
            found.add("old value of an atomic")
    elif s.op == "assign":
        found.add("assignment" if s.data == 1 else "exchange")
        found |= of_target(s.args[0])
    elif s.op == "update":
        t = s.args[0].type
        found.add(f"{s.data}= {t}")
        found |= of_target(s.args[0])
        value = s.args[1]
        if t in FLOATS and s.data in "+-" and value.op == "bin" and value.data == "*" and value.type == t:
            found.add(f"product x+=a*b {t}")
    elif s.op == "spread":
        found |= of_spread(s)
    elif s.op == "if":
        found.add("if")
        if len(s.args) > 1:
            found.add("elif")
        if len(s.blocks) > len(s.args):
            found.add("else")
        if any(t.op == "return" for t in s.blocks[0]) and not around:
            found.add("return before a barrier")
    elif s.op == "for":
        found |= of_for(s)
        if any(t.op == "for" for t in around):
            found.add("loop in a loop")
    elif s.op == "each":
        found.add(s.data[1] or "for over an array")
        found |= {"for over rows" for v in s.data[0] if isinstance(v.type, Arr)}
    elif s.op == "items":
        found |= of_items(s)
    elif s.op == "while":
        found.add("while true" if s.args[0].op == "lit" else "while")
        if any(n.op == "sync" for n in walk(s.args[0])):
            found.add("barrier in the condition of while")
        if any(n.op == "atomic" and n.data in ("cas", "exch") for n in walk(s)):
            found.add("lock")
    elif s.op in ("break", "continue", "return"):
        found.add(s.op)
    elif s.op == "memory":
        found |= of_memory(s)
    elif s.op == "launch":
        found.add("launch in a kernel")
    if s.op in ("expr", "let") and s.args[0].op == "sync":
        what = s.args[0].data
        kinds = [t.op for t in around]
        if what == "grid_sync":
            found |= {"grid_sync in a loop"} if "for" in kinds else set()
            found |= {"grid_sync in if"} if "if" in kinds else set()
        elif what in BARRIERS:
            found |= {f"barrier in {k}" for k in kinds if k in ("for", "if", "while")}
            if any(t.op == "for" and len(t.args) == 3 and t.args[2].op != "lit" for t in around):
                found.add("barrier in for of 3 ranges")
    return found


def of_items(s):
    _, sources, form, ends = s.data
    found = {"loop over a tuple"} | ({"loop over a tuple that ends early"} if ends else set())
    found |= {f"{form} of {'a tuple' if form == 'enumerate' else 'tuples'}"} if form else set()
    for names, e in zip(sources, s.args):
        found |= {"loop over tuples taken apart"} if len(names) > 1 else set()
        found |= {"loop over a fixed array"} if isinstance(e.type, Fixed) else set()
        if e.op == "name":
            found.add("loop over a constant tuple" if e.data.get("value") is not None else "loop over a tuple by name")
        for v in names:
            found |= {"loop over literals"} if v.type in UNTYPED else set()
            found |= {"loop over several arrays"} if isinstance(v.type, Arr) else {"loop over items of several types"} \
                if isinstance(v.type, str) and v.type[0] == "L" else set()
    return found


def of_spread(s):
    target, value = s.args
    found = {"whole view"} | ({"whole view of 2 axes"} if target.type.dims > 1 else set())
    if s.data:
        found.add("update of a whole view")
    if any("s" in form for form in target.data):
        found.add("whole view with steps")
    if target.args[0].op == "name" and target.args[0].data.get("global"):
        found.add(f"row of a parameter {'updated' if s.data else 'assigned'}")
    views = [n.args[0] for n in walk(value) if n.op == "each"]
    if not views:
        found.add("whole view of a number")
    root = memory_name(target)
    found |= {"whole view from itself" for e in views if memory_name(e) is root}
    found |= {"function of elements" for n in walk(value) if n.op == "apply" and any(m.op == "each" for m in walk(n))}
    return found


def of_target(e):
    if e.op not in ("part", "elem"):
        return set()
    base = e.args[0].type
    if isinstance(base, Rec):
        packed = base.packed and any(n.op == "index" for n in walk(e))
        return {"record field assigned"} | ({"part of a packed element assigned"} if packed else set())
    return {"complex part assigned"} if base in COMPLEX else {"part assigned"} if isinstance(base, Vec) else set()


def of_for(s):
    var, unroll = s.data
    found = {f"range of {len(s.args)}", f"loop variable {var.type}"} | ({"unroll"} if unroll else set())
    if len(s.args) == 3:
        step = s.args[2]
        if step.op == "un" or step.op == "conv" and step.args[0].op == "lit" and step.args[0].data < 0:
            found.add("step below 0")
        if step.op in ("bin", "name"):
            found.add("step of each thread")
    for a in s.args:
        if a.op == "conv" and a.args[0].op == "lit" and a.args[0].data == scalars.greatest(var.type):
            found.add("range at a type's end")
    return found


def of_memory(s):
    var, kind, alignment = s.data
    found = {"alignment"} if alignment else set()
    found |= {"enum as extent" for a in s.args if is_member(a)}
    if kind == "local":
        total = 1
        for a in s.args:
            total *= a.data if a.op == "lit" else 1
        sizes = (("1", 1), ("2..4", 4), ("5..8", 8), ("9..16", 16), ("17..40", 99))
        size = next(n for n, most in sizes if total <= most)
        found |= {"local array of records with packed ones"} if has_packed(var.type.elem) else set()
        many = isinstance(var.type.elem, Rec) and var.type.elem.slots > MANY
        found |= {"local array of records of many scalars"} if many else set()
        return found | {f"local array of {size}"} | ({"local array of 2 dimensions"} if len(s.args) > 1 else set())
    found.add("shared array")
    found |= {"shared array of records with packed ones"} if has_packed(var.type.elem) else set()
    found.add("shared array of fixed size" if s.args[0].op == "lit" else "shared array sized by the launch")
    if len(s.args) > 1:
        found.add("shared array of 2 dimensions")
    if not isinstance(var.type.elem, str) or var.type.elem in COMPLEX:
        found.add("shared array of complex, vectors or records")
    return found


def of_run(p):
    found = {"test beside the run block"} if p.tested() else set()
    for s in p.run:
        if isinstance(s, HostArray):
            found |= of_layout(s)
        elif isinstance(s, Launch):
            found |= of_launch(s)
        else:
            found |= of_statement_of_run(s)
    return found


def of_layout(a):
    found = {"layout in C order"}
    if a.layout.transposed:
        found.add("layout in F order")
    if a.layout.front:
        found.add("layout with an offset")
    if any(step > 1 for _, step, _, _ in a.layout.axes):
        found.add("layout with steps")
    if any(backwards for _, _, _, backwards in a.layout.axes):
        found.add("layout reversed")
    if a.layout.device:
        found.add("array in device memory")
    if a.listed:
        found.add("array of records from a list")
    if 0 in a.shape:
        found.add("array without elements")
    return found


def of_launch(s):
    threads = 1
    for n in s.block:
        threads *= n
    found = {f"block of {len(s.block)} dimension{'s' if len(s.block) > 1 else ''}"}
    if s.function:
        found.add("run launch in a function")
    found |= {"block of 1"} if threads == 1 else set()
    found |= {f"block of {threads}"} if threads in (32, 48) else set()
    found |= {"block beside 32"} if threads in (31, 33) else set()
    found |= {"block of 256 or more"} if threads >= 256 else set()
    found |= {"grid of 2 dimensions"} if len(s.grid) > 1 else set()
    names = [a.name for a in s.args if isinstance(a, HostArray)]
    if len(set(names)) < len(names):
        found.add("array given twice")
    found |= set(s.directions.values())
    if any(s.directions.get(p.name) == "In" and p.get("use") != "in" for p in s.kernel.params):
        found.add("In of what is written")
    if s.by_name:
        found.add("argument by name")
    if any(p.get("const") and a is not None for p, a in zip(s.kernel.params, s.args)):
        found.add("const parameter given")
    return found


def of_wrapped(s):
    found = {"run function of the run block"} | of_statement_of_run(s.inner)
    found |= {"run type of a parameter"} if s.types else set()
    if not s.results:
        found |= {"run store in a function"} | ({"run loop in a function"} if s.turns > 1 else set())
    if s.named < len(s.uses()):
        found.add("run argument by name")
    if s.default:
        found |= {"run default of a function"} | (set() if s.default[1] else {"run default left out"})
    return found


def of_join(s):
    found = {f"run {s.what} by a function"}
    if isinstance(s.function, str):
        found.add("run function by name for reduce or scan")
    if s.flag and s.what == "scan":
        found.add("run exclusive scan")
    return found


TEXTS = {"of a typed number": r"\{e\d+\[\d\]", "in a text": r'\{f"', "of a choice": r" if .* else ",
         "repeated": r'" \* '}


def of_text(s):
    line = s.code[-1]
    found = {f"run text {what}" for what, pattern in TEXTS.items() if 'f"' in line and re.search(pattern, line)}
    return found | {"run rounded" if "round(" in line else "run text with values" if 'f"' in line else
            "run format" if "format(" in line else "run text"}


TURNED = {"T": "run transposed view", "ravel": "run ravel", "by columns": "run order F", "order": "run order F",
          "split": "run split"}


def of_library(s):
    file, space = s.std
    found = {f"std.{file}"} | ({"std called otherwise"} if file != space else set())
    text = f"{space}.{s.text}"
    return found | {f"std.{file}.{f}" for f in re.findall(rf"\b{space}\.(\w+)\(", text)}


def of_fields(s):
    what = "stored" if s.path else "computed"
    return {f"run field {what}"} | ({f"run packed field {what}"} if s.array.elem.packed else set())


CALLS = {"Wrapped": of_wrapped, "OfFields": of_fields, "StoreRecord": lambda s: {"run record stored"},
         "NumberText": lambda s: {"run numbers"} | {"run wide number" for line in s.code if line.startswith("var")},
         "Join": of_join, "Text": of_text, "Turned": lambda s: {TURNED[s.form]},
         "Library": of_library, "Gemm": lambda s: {"std.matrix.gemm"},
         "NumberCall": lambda s: {"run function of numbers"}}


def of_statement_of_run(s):
    kind = type(s).__name__
    if kind in CALLS:
        return CALLS[kind](s)
    found = {{"Compute": "run expression", "Store": "run store", "Cumsum": "run cumsum", "Matmul": "run matrix product",
              "Reshape": "run reshape" if getattr(s, "shape", None) else "run view"}.get(kind, "run expression")}
    if kind == "Store" and s.op:
        found.add("run store +=")
    if kind == "Reduce":
        found.add(f"run {s.what}")
        found |= {"run keepdims"} if s.keepdims else set()
        if s.axes is not None:
            found.add("run two axes" if len(s.axes) > 1 else "run axis")
    if kind == "Fill":
        found.add("run random" if s.text_.startswith("random") else "run arange")
        found |= {"run long reduce or scan"} if math.prod(s.shape) > 8704 else set()
    if hasattr(s, "e"):
        for n in walk(s.e):
            if n.op == "call" and n.data in ("where", "selp", "ldexp", "modf", "frexp"):
                found.add(f"run {n.data}")
            if n.op == "call" and n.data in directed.NAMES + directed.CONVERSIONS:
                found.add(f"run directed {'rounding' if n.data in directed.NAMES else 'conversion'}")
            if n.type in COMPLEX:
                found.add("run complex")
            if n.type == "bool":
                found.add("run bool")
            if n.op == "conv":
                found.add("run conversion")
            if n.op == "apply":
                found.add("run several results of a function" if kind == "Several" else "run function of arrays")
            if n.op == "bin" and n.type in FLOATS and any(row.startswith("product") for row in of_bin(n)):
                found.add("run contraction")
        found.add("run broadcast")
    return found
