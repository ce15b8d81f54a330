"""The generator: a program from a seed."""
import math

import files
import gen_block
import gen_enums
import gen_kernel
import gen_more
import gen_run
import gen_tuples
import values
from build import binary, lit, name
from gen_function import FunctionGen
from gen_library import order_functions
from host import ConstFill, HostArray, Launch, Layout
from program import Program
from rng import Rng
from scalars import FLOATS, INTS, REALS
from tree import Arr, MANY, Rec, Tup, Var, VECTORS, has_packed

FIELD_NAMES = ["mass", "vel", "pos", "tag", "cell", "on", "z", "kind"]


class Options:
    """`without`: features that are left out; `room`: how many operators the expressions of a statement have at most."""

    def __init__(self, without=(), room=14, statements=7, phases=9):
        self.without = set(without)
        self.room, self.statements, self.phases = room, statements, phases
        self.approximate = False


def palette_of(r, records):
    """The types that a kernel computes with, mostly."""
    records = [x for x in records if x.slots <= MANY]       # code for the others would be large
    types = [r.pick(["i32", "f32", "i64", "f32", "u32", "f64"])]
    for _ in range(r.between(1, 3)):
        kind = r.below(20)
        if kind < 12:
            types.append(r.pick(REALS))
        elif kind < 13:
            types.append("bool")
        elif kind < 15:
            types.append(r.pick(["c64", "c128"]))
        elif kind < 18:
            types.append(VECTORS[r.pick(sorted(VECTORS))])
        elif records:
            types.append(r.pick(records))
    if records and r.chance(25):
        types.append(r.pick(records))
    within = list(filter(has_packed, records))
    if within and r.chance(40):
        types += [r.pick(within)] * 2
    return types


def make_record(r, number, earlier):
    """Of many scalars, each of several bytes, none is packed: code for one that is read as a whole would be large."""
    fields, packed = [], r.chance(45)
    earlier = [x for x in earlier if x.slots <= (16 if packed else MANY)]
    for field in r.shuffled(FIELD_NAMES)[:r.between(1, 4)]:
        kind = r.below(10)
        t = r.pick(REALS + ("bool",))
        extents = None
        if kind < 2:
            extents = (r.between(1, 4),) if r.chance(80) else (r.between(1, 3), 2)
        elif kind < 3:
            t = VECTORS[r.pick(sorted(VECTORS))]
        elif kind < 4:
            t = r.pick(["c64", "c128"])
        elif kind < 7 and earlier:
            t = r.pick(earlier)
            if r.chance(20):
                extents = (2,)
        elif kind == 9 and r.chance(50):     # elements of many scalars are copied by other code
            extents = (r.between(58, 70),)
            t = r.pick(["i8", "u8", "bool"]) if packed else t
        fields.append((field, t, extents))
    record = Rec(f"R{number}", fields)
    record.packed = packed
    return record


def make_constant(r, number, members):
    kind = r.below(5)
    if kind == 4:
        return gen_tuples.constant_tuple(r, number)
    if kind == 0:
        n, named = r.between(1, 100), [m for m in members if m.type == "#i"]
        value = lit(n)
        if named and r.chance(40):
            m = r.pick(named)
            value, n = name(m), m.get("range")[0]
        return Var(f"N{number}", "#i", value=value, range=(n, n), uniform="grid")
    if kind == 1:
        t = r.pick(REALS)
        e = lit(values.literal(r, t))
        if r.chance(40) and e.data < 40:
            e = binary(r.pick("+*"), e, lit(r.between(1, 3)))
        return Var(f"N{number}", t, value=e, typed=True, uniform="grid")
    t = r.pick(REALS + ("bool",))
    dims = r.weighted([(3, 1), (1, 2)])
    shape = [r.between(1, 9)] if dims == 1 else [r.between(1, 3), r.between(1, 4)]
    fitting = gen_enums.fitting(members, t)

    def items(shape):
        if shape:
            return [items(shape[1:]) for _ in range(shape[0])]
        if t in INTS and fitting and r.chance(25):
            return name(r.pick(fitting))
        return lit(r.chance(50)) if t == "bool" else lit(values.literal(r, t))
    v = Var(f"W{number}", Arr(t, dims), typed=True, role="in", least=tuple(shape), most=tuple(shape), uniform="grid")
    v.facts.update({"filled": True} if r.chance(25) else {"value": items(shape)})
    return v


def make_program(seed, options):
    r = Rng(seed)
    p = Program(seed)
    for k in range(r.weighted([(3, 0), (2, 1), (1, 2)])):
        p.enums.append(gen_enums.make_enum(r, k, p.members()))
    if r.chance(20):
        gen_run.make_run(r, p, options)
        return p
    for k in range(r.weighted([(4, 0), (2, 1), (3, 2), (1, 3)])):
        p.records.append(make_record(r, k, p.records))
    for k in range(r.weighted([(3, 0), (3, 1), (2, 2)])):
        c = make_constant(r, k, p.members())
        p.constants.append(c)
        if c.get("filled"):
            p.run.append(ConstFill(c, [values.value(r, c.type.elem, 50) for _ in range(math.prod(c.get("least")))]))
    palette = palette_of(r, p.records)
    if r.chance(15):
        p.std_functions = order_functions()
        p.libraries["order"] = r.pick(["order", "o", "std_order"])
    for k in range(r.weighted([(2, 0), (3, 1), (3, 2), (1, 3)])):
        g = FunctionGen(r.fork(), palette, options, p)
        f = g.make(k)
        if hasattr(g, "program_extra"):
            p.functions.append(g.program_extra)
        p.functions.append(f)
    if r.chance(50):
        t = r.pick([t for t in palette if isinstance(t, str) and t in REALS] or ["i32"])
        p.helpers.append(gen_block.helper(r, t, 0))
    for k in range(r.weighted([(3, 1), (3, 2)])):
        if r.chance(35):
            palette = palette_of(r, p.records)
        make = r.weighted([(18, gen_kernel.elementwise), (16, gen_block.cooperating), (4, gen_kernel.rows),
                           (3, gen_kernel.generic), (2, gen_more.launching), (2, gen_more.places),
                           (2, gen_more.mathematics), (2, gen_more.counting)])
        options.approximate = make is gen_kernel.elementwise and r.chance(12)
        kernel = make(r.fork(), options, p, f"k{k}", palette)
        if options.approximate:
            kernel.facts["unknown"] = True
        p.kernels.append(kernel)
        add_launches(r.fork(), p, kernel, options)
    if r.chance(25) and "files" not in options.without:
        files.distribute(r, p)
    if r.chance(20) and "type-names" not in options.without:
        files.name_types(r, p, sorted(set(palette) | set(p.records), key=str))
    p.enum_names = [e for e in p.enums if r.chance(50)]
    if p.sees_layouts():
        for a in p.arrays():
            a.layout.device = False     # a copy in device memory has strides of its own
    return p


def add_launches(r, p, kernel, options):
    """The arrays for each planned launch, and the launch."""
    for k, plan in enumerate(kernel.facts["plans"]):
        args = []
        types = getattr(plan, "types", {})
        for v in kernel.params:
            if not isinstance(v.type, Arr):
                args.append(scalar_argument(r, v, types, plan, p.members()))
                continue
            array = None
            if v.get("use") == "in" and r.chance(15):
                array = earlier_array(r, p, v, plan.extents[v.name], types, args)
            if array is None:
                array = make_array(r, v, f"{kernel.name}_{v.name}_{k}", plan.extents[v.name], types, p.members())
                array.bound = kernel.facts.get("bounds", {}).get(v.name)
                p.run.append(array)
            array.unknown = array.unknown or bool(kernel.facts.get("unknown"))
            args.append(array)
        named = [v.name for v in kernel.params if r.chance(10)]
        directions = {}
        for v, a in zip(kernel.params, args):
            if isinstance(a, HostArray) and args.count(a) == 1 and r.chance(6):
                reads = v.get("use") == "in" or not options.without & {"in-writes"}
                directions[v.name] = "In" if reads and r.chance(60) else "InOut"
                a.directed, a.layout.device = True, False
        records = [a for a in args if isinstance(a, HostArray) and isinstance(a.elem, Rec) and a.layout.total
                   and not a.layout.device and not a.unknown and a.values is not None]
        if records and r.chance(30):
            p.run += gen_run.of_fields(r, r.pick(records), options, len(p.run))
        launch = Launch(kernel, plan.grid, plan.block, args, types, named, directions)
        launch.coverage = plan.coverage
        if r.chance(8):
            launch.function = f"go{len(p.run)}"
        p.run.append(launch)
        if records and r.chance(30):
            p.run += gen_run.of_fields(r, r.pick(records), options, len(p.run))


def earlier_array(r, p, v, shape, types, args):
    """An array that earlier launches have read or written, to be read now."""
    t = types.get(v.type.elem, v.type.elem)
    written = {a.name for a, w in zip(args, p.kernels[-1].params) if isinstance(a, HostArray) and w.get("use") != "in"}
    found = [a for a in p.arrays() if a.elem is t and a.shape == tuple(shape)
             and a.bound is None and (a.in_order or not v.get("in_order")) and not a.unknown and a.name not in written]
    return r.pick(found) if found else None


def make_array(r, v, array_name, shape, types, members):
    t = types.get(v.type.elem, v.type.elem)
    total = math.prod(shape)
    members = gen_enums.fitting(members, t) if r.chance(50) else []
    role = v.get("use")
    if v.get("zero"):
        items = [0] * total
    elif role == "atomic":
        items = [start_of_field(r, v, t) if v.get("field") else start_of(r, v.get("kind"), t, v.get("limit"))
                 for _ in range(total)]
    elif role == "own" and v.name[0] == "o" and r.chance(50):
        items = None
    else:
        wild = r.pick([10, 50, 90])
        items = [gen_enums.named(r.pick(members)) if members and r.chance(20) else values.value(r, t, wild)
                 for _ in range(total)]
    layout = Layout(shape, None, r.below(5), r.below(4)) if v.get("in_order") else \
        Layout.random(r, shape, isinstance(t, str))
    array = HostArray(array_name, t, shape, items, layout, role != "in" or r.chance(25))
    array.in_order = bool(v.get("in_order"))
    array.listed = isinstance(t, Rec) and items is not None and r.chance(30)
    return array


def start_of_field(r, v, t):
    """A record with a field that is changed by atomics."""
    fields = list(values.value(r, t, 30))
    _, ft, _, k = t.place(v.get("field"))
    fields[k] = start_of(r, v.get("kind"), ft, v.get("limit"))
    return tuple(fields)


def start_of(r, kind, t, limit):
    if kind in ("inc", "dec"):
        return r.between(0, limit)
    if kind == "sum" and t in FLOATS:
        return float(r.between(-3, 3))
    return values.scalar(r, t, 30)


def scalar_argument(r, v, types, plan, members):
    t = types.get(v.type, v.type)
    if v.get("planned"):
        return plan.values[v.name]
    if v.get("const"):
        if r.chance(50):
            return None
        return r.chance(50) if t == "bool" else min(r.between(0, 12), 100)
    return argument_of(r, t, members)


def argument_of(r, t, members):
    if isinstance(t, Tup):
        return tuple(argument_of(r, p, members) for p in t.parts)
    fitting = gen_enums.fitting(members, t)
    if fitting and r.chance(30):
        return gen_enums.named(r.pick(fitting))
    x = values.value(r, t, 40)
    if t in INTS and abs(x) >= 1 << 63:
        x = 7
    return x
