"""Programs in several files: which definitions are in which, how they are called from where, and names of types."""
import re
import zlib

import tree
from tree import Arr, Enum, Fixed, Rec, Stmt, Tup, walk

FILES = ("base", "lib")         # lib uses base, and the program both


IN_LIBRARY = Rec("std", [])     # stands for what is in a file of std/: no file of these uses one
IN_LIBRARY.home = "std"


def types_in(t):
    """The records that a type is made of."""
    if isinstance(t, Rec):
        return {t}
    if isinstance(t, (Arr, Fixed)):
        return types_in(t.elem)
    return set().union(*map(types_in, t.parts)) if isinstance(t, Tup) else set()


def needs(f):
    """The constants, records and functions that a definition refers to."""
    if isinstance(f, Enum):
        written = [m.get("written") for m in f.members if m.get("written") is not None]
        return {n.data for e in written for n in walk(e) if n.op == "name"} - set(f.members)
    if isinstance(f, Rec):
        return set().union(*[types_in(t) for _, t, _ in f.fields])
    roots = list(getattr(f, "body", [])) + list(getattr(f, "requires", []))
    params = getattr(f, "params", [f])
    found = set().union(*[types_in(p.type) for p in params], types_in(getattr(f, "results", None)))
    roots += [p.get("default") for p in params if p.get("default") is not None]
    value = f.get("value") if f in params else None
    roots += flat(value) if value is not None else []
    for n in (n for root in roots for n in walk(root)):
        if n.op == "launch":
            found.add(n.data[0])
        if n.op == "memory":
            found |= types_in(n.data[0].type)
        if isinstance(n, Stmt):
            found |= types_in(n.data[2]) if n.op == "let" else set()
            continue
        found |= types_in(n.type)
        if n.op in ("sync", "warp") and "." in n.data:
            found.add(IN_LIBRARY)
        if n.op == "apply":
            found.add(n.data)
        elif n.op == "name" and (n.data.get("value") is not None or n.data.get("filled")):
            found.add(n.data)
    return found - {f}


def flat(value):
    return [x for v in value for x in flat(v)] if isinstance(value, list) else [value]


def definitions(p):
    return p.enums + p.constants + p.records + p.functions + p.helpers + p.kernels


def distribute(r, p):
    """Puts definitions into files: what they need has to be there, or in a file that this one uses."""
    for d in definitions(p):
        needed = [tree.home_of(n) for n in needs(d)]
        homes = [None]
        if all(h == "base" for h in needed):
            homes.append("base")
        if all(h in FILES for h in needed):
            homes.append("lib")
        if r.chance(60):
            tree.move_to(d, r.pick(homes))
    p.spaces = {"lib": r.pick(["lib", "l"]), "base": r.pick(["base", "u"])}
    for items in (p.records, p.functions, p.helpers, p.kernels):    # files may have the same names
        for home in FILES:
            for k, d in enumerate(d for d in items if tree.home_of(d) == home):
                d.name = re.sub(r"\d+", str(k), d.name, count=1)
    for home in (None,) + FILES:
        names = [d.name for d in definitions(p) if tree.home_of(d) == home]
        if len(set(names)) < len(names):
            one_file(p)
            return


def one_file(p):
    """All in one file, with names of their own."""
    for k, d in enumerate(definitions(p)):
        tree.move_to(d, None)
        if d not in p.enums + p.constants:
            d.name = f"{d.name.rstrip('0123456789')}{k}_"
    p.spaces = {}


def name_types(r, p, types):
    """Other names for some types of the program."""
    names = []
    for k, t in enumerate(r.shuffled(types)[:r.between(1, 2)]):
        dims = r.below(3)
        names.append((f"Type{k}", t if dims == 0 else Arr(t, dims)))
    p.type_names = names


def with_names(p, text):
    """The text with about every second use of a type by its other name."""
    count = 0

    def other(name):
        def replaced(m):
            nonlocal count
            count += 1
            return name if zlib.crc32(f"{p.seed} {count}".encode()) & 1 else m.group(0)
        return replaced
    for name, of in p.type_names + [(tree.called(e), e.type or "i32") for e in p.enum_names]:
        t = str(of)
        array = rf"(?<=: ){re.escape(t)}(?=[,)\s])"
        own = rf"(?<![\w.@])(?<!record )(?<!enum E\d: ){re.escape(t)}(?!\w)"
        pattern = array if t.endswith("]") else own
        text = re.sub(pattern, other(name), text)
    return "".join(f"type {name} = {t}\n" for name, t in p.type_names) + text
