"""What of the language an expression has: rows of the table (rows_table.py), which rows.py counts."""
import directed
from gen_more import BOUNDS
from scalars import BITS, COMPLEX, FLOATS, INTS, SCALARS
from tree import Arr, Rec, Tup, UNTYPED, Vec, home_of, walk


def is_member(e):
    return e.op == "name" and bool(e.data.get("enum"))


def memory_name(e):
    while e.op != "name":
        e = e.args[0]
    return e.data


def of_fold(e):
    what, behind = e.data
    inner = e.args[0]
    found = {f"view's {what} of {inner.args[0].type.elem}"} if inner.op == "each" else {"reduction of an expression"}
    if any(n.op == "each" and n.args[0].type.dims > 1 for n in walk(e)):
        found.add("reduction of 2 axes")
    return found | ({"reduction behind its view"} if behind else set())


def of_bits(e):
    if not isinstance(e.type, Arr):
        return {f"bits as {e.type}"}
    of = memory_name(e)
    kind = "local " if of.get("local") else "shared " if of.name.startswith("sh") else ""
    found = {"array as another type", f"{kind}array as another type"}
    return found | ({"floats as integers in memory"} if e.args[0].type.elem in FLOATS else set())


def of_apply(e):
    found = {"enum as argument" for a in e.args if is_member(a)}
    found |= {"transposed argument" for a in e.args if a.op == "turned" or a.op == "view" and a.args[0].op == "turned"}
    if e.data.facts.get("ticks"):
        found.add("call that changes something in an expression")
    if home_of(e.data) == "order":
        found.add(f"std.order.{e.data.name}")
    if len(e.args) < len(e.data.params):
        found.add("default left out")
    if e.names:
        found.add("argument of a function by name")
        order = [p.name for p in e.data.params]
        if sorted(e.names, key=order.index) != list(e.names):
            found.add("arguments of a function in another order")
    return found


def of_expression(e):
    t = e.type
    found = set()
    if isinstance(t, str) and t in SCALARS:
        found.add(f"type {t}")
    elif isinstance(t, Vec):
        found.add(f"vector {t}")
    handler = EXPRESSIONS.get(e.op)
    return found | (handler(e) or set() if handler else set())


def of_bin(e):
    t = e.type
    if isinstance(t, Vec):
        return {f"{'real' if t.part in FLOATS else 'integer'} vectors {e.data}"}
    if t in COMPLEX and e.data == "/":
        return {f"/ by a real number {t}"}
    found = {f"{e.data} {t}"} if e.data != "**" or e.args[1].type == "#i" else {"function pow"}
    if t in INTS and e.data in ("<<", ">>") and e.args[1].op == "lit" and e.args[1].data >= BITS[t]:
        found.add("shift by the width")
    if t in FLOATS and e.data in "+-":
        left, right = (a.op == "bin" and a.data == "*" and a.type == t for a in e.args)
        if left and right:
            found.add(f"product a*b+c*d {t}")
        if left:
            found.add(f"product a*b{e.data}c {t}")
        elif right:
            found.add(f"product c{e.data}a*b {t}")
    return found


def of_un(e):
    return {"not"} if e.data == "not" else {f"unary {e.data} {e.type}"}


def of_cmp(e):
    return of_operators(e) | {"enum compared" for a in e.args if is_member(a)}


def of_operators(e):
    types = [a.type for a in e.args if a.type not in UNTYPED] or ["i32"]
    if isinstance(types[0], Vec):
        return {"vector comparison"}
    if isinstance(types[0], Tup):
        return {"tuple comparison"}
    return {f"compare {op} {types[0]}" for op in e.data} | ({f"chain of {len(e.data)}"} if len(e.data) > 1 else set())


def of_cond(e):
    if isinstance(e.type, Arr):
        within = {"cond": "choice of arrays in another", "view": "view in a choice of arrays"}
        return {"one of two arrays"} | {within[a.op] for a in (e.args[0], e.args[2]) if a.op in within}
    found = {"conditional of literals" if e.type in UNTYPED else f"conditional {e.type}"}
    if e.args[0].op == "index" and e.args[1].op in ("cmp", "logic"):
        found.add("index guarded by a condition")
    return found


def of_conv(e):
    if isinstance(e.type, Vec):
        if any(isinstance(a.type, Vec) for a in e.args):
            return {"vector of vectors"}
        return {"vector of a number"} if len(e.args) == 1 else set()
    if len(e.args) == 2:
        return {f"conversion of parts {e.type}"}
    source = e.args[0].type
    return {f"literal {e.type}"} if source in UNTYPED else {f"conversion {source} to {e.type}"}


def of_call(e):
    if isinstance(e.type, Vec):
        return {"vector selp"} if e.data == "selp" else \
            {"vector directed rounding"} if e.data in directed.NAMES else set()
    if e.data in BOUNDS:
        return {f"function {e.data}"}
    if e.data == "ilogb":
        return {f"ilogb {e.args[0].type}"}
    if e.data == "sincos":
        return {"function sincos"}
    if e.data in ("abs", "phase", "polar") and e.args[0].type in COMPLEX:
        return {f"{e.data} of a complex number"}
    if isinstance(e.type, Tup):
        return {f"{e.data} {e.type.parts[0]}"}
    if e.data in ("isnan", "isinf", "isfinite", "any", "all", "assert", "print"):
        return {e.data}
    found = {f"directed rounding {e.type}"} if e.data in directed.NAMES else set()
    if e.data in directed.CONVERSIONS:
        source = e.args[0].type
        found.add(f"directed conversion of {'a literal' if source in UNTYPED else source}")
    return found | {f"{e.data} {e.type}"}


def of_atomic(e):
    t = e.type
    found = {f"atomic {e.data} {t}", f"atomic {e.data}"}
    array = e.args[0]
    if array.op == "name" and array.data.name.startswith("sh"):
        found.add("atomic on shared memory")
    if array.type.dims > 1:
        found.add("atomic in 2 dimensions")
    if array.op == "part" or array.op == "bits" and array.args[0].op == "part":
        found.add("atomic on a field")
    if array.op == "bits":
        found.add("atomic on an array as another type")
    return found


def of_index(e):
    found = {"element of a transposed array"} if e.args[0].op == "turned" else set()
    for i in e.args[1:]:
        if is_member(i):
            found.add("enum as index")
        if i.op == "bin" and i.data == "%" and i.args[1].op == "attr":
            found.add("index modulo an extent")
        if i.op == "bin" and i.data == "-" and i.args[0].op == "bin" and i.args[0].args[0].op == "attr":
            found.add("index mirrored")
    return found


def of_view(e):
    found = set()
    if e.data[0] == "i":
        found.add("row")
    elif "i" in e.data:
        found.add("column")
    if any("b" in f or "e" in f for f in e.data):
        found.add("slice")
    if any("s" in f for f in e.data):
        found.add("slice with step")
    if e.args[0].op == "view" or e.args[0].op == "name" and e.args[0].data.name.startswith(("w", "chunk", "row")):
        found.add("view of a view")
    if e.args[0].op == "cond":
        found.add("view of a choice of arrays")
    bounds = iter(e.args[1:])
    for form in e.data:
        for letter in form.replace("-", ""):
            found |= of_bound(letter, next(bounds))
    return found


def of_bound(letter, x):
    below = x.op == "un"
    if letter == "s" and is_member(x):
        return {"enum as step"}
    if letter == "s":
        return {"slice back"} if below else set()
    if letter in "be" and below:
        return {"slice counted from the end"}
    return {"slice from a variable"} if letter in "be" and x.op != "lit" else set()


def of_reshaped(e):
    if len(e.args) == 1:
        return {"ravel"}
    found = {"reshape"} | {"reshape with -1" for a in e.args if a.op == "un"}
    return found | {"reshape by extents" for a in e.args if a.op == "attr"}


def of_part(e):
    if isinstance(e.type, Arr):
        packed = isinstance(e.args[0].type.elem, Rec) and e.args[0].type.elem.packed
        return {"view of parts"} | ({"view of a packed field"} if packed else set())
    if isinstance(e.args[0].type, Rec):
        return of_field(e)
    return {"vector part"} if isinstance(e.args[0].type, Vec) else set()


def of_field(e):
    packed = False
    while e.op in ("part", "elem"):
        e = e.args[0]
        packed |= isinstance(e.type, Rec) and e.type.packed
    if e.op != "index" or not isinstance(e.type, Rec):
        return set()
    inner = {"field of a packed record in an element"} if packed and not e.type.packed else set()
    return {"field of an element"} | inner


def of_elem(e):
    if isinstance(e.args[0].type, Tup):
        made = {"item of a tuple made here"} if e.args[0].op == "tuple" else set()
        return made | {"item of a tuple by number"} if e.args[1].op != "lit" else \
            {"item of a constant tuple"} if e.type in UNTYPED else set()
    return {"vector part by number"} if isinstance(e.args[0].type, Vec) else set()


def of_warp(e):
    if "." in e.data:
        return {f"std.{e.data}"}
    found = {f"warp {e.data}"}
    if e.args and e.args[0].op == "lit" and e.args[0].data != 0xffffffff:
        found.add("warp with some lanes")
    return found


def of_make(e):
    places = [[f for f, _, _ in e.type.fields].index(n) for n in e.data if n]
    return {"record made"} | ({"record made in another order"} if places != sorted(places) else set())


EXPRESSIONS = {
    "bin": of_bin, "un": of_un, "cmp": of_cmp, "cond": of_cond, "conv": of_conv, "call": of_call, "atomic": of_atomic,
    "index": of_index, "view": of_view, "part": of_part, "elem": of_elem, "warp": of_warp,
    "turned": lambda e: {"transposed view"}, "reshaped": of_reshaped,
    "bits": of_bits, "fold": of_fold, "apply": of_apply,
    "logic": lambda e: {e.data}, "sync": lambda e: {f"std.{e.data}" if "." in e.data else e.data},
    "make": of_make,
    "attr": lambda e: {e.data.split("[")[0]}, "random": lambda e: {f"random.{e.data} {e.type}"},
    "hint": lambda e: {"load hint" if e.data.startswith("ld") else "store hint"},
    "special": lambda e: {e.data} if e.data in ("laneid", "warpsize") else set(),
}
