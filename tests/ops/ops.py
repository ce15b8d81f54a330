#!/usr/bin/env python3
"""ops.py [--driver=PATH] [--runs=NAMES] KJIT FOLDER [TYPE...]: every operator of compiler/lang/ops.def on every type,
conversions, functions of integers, and operators with a constant on one side must be what the exact reference of
tests/fuzz says, bit for bit (any NaN like any other): of all pairs of values from the ends of the type, and of others.

They are computed of constants, by the compiler; and of arrays: by threads that differ (`lanes`), in blocks of which
each row has an operand of its own (`table`), by blocks whose threads are all the same (`uniform`), and by the run block
(`host`). Each type is a program, which is run at -O3 on the CPU, on a GPU (the driver at PATH, such as the double, or
the machine's own), and on the CPU with -O0 or, every other type, for a lower level of x86-64 that it has (`lower`; with
KJIT_TEST_ALL set all types in both ways). The constants, which are folded before there is code for a device, are on one
of the two devices, types taking turns. --runs chooses among those."""
import argparse
import os
import pathlib
import re
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
import forms  # noqa: E402
import scalars  # noqa: E402

RUNS = "cpu,cuda,O0,lower"
LOWER = ("x86-64-v2", "x86-64-v3")
CONSTANTS = ("cpu", "cuda") # the runs that have them: they are folded the same in all
OF_RUN_BLOCKS = ("bool", *scalars.INTS, "f32", "f64") # whose results there are, rounded once


def takes_both(form):
    return re.search(r"\bb\b", form.text)


def blocks(items):
    return -(-len(items) // 256)


class Program:
    """Of a type: the text, and what its arrays hold at the end. There is one for each type of results; in each, behind
    each other, are the rows of the expressions that give that type, a row for each way to compute them."""

    def __init__(self, kind):
        self.kind = kind
        self.groups = [forms.operators(kind), forms.functions(kind), forms.conversions(kind)]
        self.forms = [form for group in self.groups for form in group]
        self.ends, further = forms.values(kind)
        self.pairs = [(a, b) for b in self.ends for a in self.ends] + further
        places = {}
        # For each pair the first with that operand.
        self.first = [places.setdefault(repr(a), i) for i, (a, _) in enumerate(self.pairs)]
        self.distinct = sorted(set(self.first))
        self.results = sorted({form.result for form in self.forms})
        self.of = {t: [form for form in self.forms if form.result == t] for t in self.results}
        self.ways = ["lanes", "uniform", "table", *(["host"] if kind in OF_RUN_BLOCKS else [])]
        self.expected = {t: [self.row(form) for form in self.of[t]] for t in self.results}

    def row(self, form):
        """What an expression gives for all pairs."""
        if takes_both(form):
            return [form.of(a, b) for a, b in self.pairs]
        known = {i: form.of(self.pairs[i][0], None) for i in self.distinct}
        return [known[i] for i in self.first]

    def tried(self, form):
        """The places of the pairs that constants are made of."""
        return range(len(self.pairs)) if takes_both(form) else self.distinct

    # ---- The text ----

    def stores(self, group, way, place, indent):
        at = self.ways.index(way) * len(self.pairs)
        rows = [(f"o_{form.result}", self.of[form.result].index(form), form.text) for form in group]
        return "".join(f"{indent}{array}[{row}, {at} + {place}] = {text}\n" for array, row, text in rows)

    def host(self):
        """The run block's loop: there a division of integers by zero is an error, and what does not fit its type."""
        stores = self.stores([form for form in self.forms if self.by_host(form)], "host", "i", " " * 8)
        if self.kind in scalars.INTS:
            stores = re.sub(r" = (.*)", lambda m: f" = {forms.where_exact(m[1], self.kind)}", stores)
        return f"    for i in range({len(self.pairs)}) {{\n        let a = x[i]\n        let b = y[i]\n{stores}    }}\n"

    def by_host(self, form):
        """Powers of floats are the C library's there, and what takes several steps is rounded once."""
        several = self.kind == "f32" and re.match("lerp|fract", form.text)
        return not several and ("**" not in form.text or self.kind in scalars.INTS)

    def of_host(self, form, row):
        condition = forms.exact(form.text, self.kind) if self.kind in scalars.INTS else ""
        if not condition:
            return row
        code = compile(condition, form.text, "eval")
        return [v if eval(code, {"a": a, "b": b}) else 0 for (a, b), v in zip(self.pairs, row)]

    def outputs(self, group):
        return [t for t in self.results if any(form.result == t for form in group)]

    def kernels(self, nth, group):
        arrays = "".join(f", o_{t}: {t}[,]" for t in self.outputs(group))
        given = f"x: {self.kind}[], y: {self.kind}[]"
        return (f"kernel lanes_{nth}({given}, half: i64{arrays}) {{\n    let i = grid(1)\n"
                f"    if i < x.size and i % 2 == half {{\n        let a = x[i]\n        let b = y[i]\n"
                f"{self.stores(group, 'lanes', 'i', ' ' * 8)}    }}\n}}\n"
                f"kernel uniform_{nth}({given}{arrays}) {{\n    let a = x[blockIdx.x]\n    let b = y[blockIdx.x]\n"
                f"{self.stores(group, 'uniform', 'blockIdx.x', '    ')}}}\n"
                f"kernel table_{nth}({given}{arrays}) {{\n    let c, r = grid(2)\n"
                f"    if c >= ENDS or r >= ENDS {{ return }}\n    let a = x[c]\n    let b = y[r * ENDS]\n"
                f"{self.stores(group, 'table', 'r * ENDS + c', '    ')}}}\n")

    def launches(self, nth, group):
        arrays = "".join(f", o_{t}" for t in self.outputs(group))
        square = -(-len(self.ends) // 8)
        return (f"    for half in range(2) {{ lanes_{nth}[{blocks(self.pairs)}, 256](x, y, half{arrays}) }}\n"
                f"    uniform_{nth}[{len(self.pairs)}, 3](x, y{arrays})\n"
                f"    table_{nth}[({square}, {square}), (8, 8)](x, y{arrays})\n")

    def text(self):
        kind, count = self.kind, len(self.pairs)
        x, y = (", ".join(forms.literal(kind, pair[k]) for pair in self.pairs) for k in (0, 1))
        groups = [(n, group) for n, group in enumerate(self.groups) if group]
        columns = len(self.ways) * count
        made = "".join(f"    let o_{t} = zeros(({len(self.of[t])}, {columns}), {t})\n" for t in self.results)
        return (f"const ENDS = {len(self.ends)}\nconst X: {kind}[] = [{x}]\nconst Y: {kind}[] = [{y}]\n"
                f"kernel fill(x: {kind}[], y: {kind}[]) {{\n    let i = grid(1)\n"
                f"    if i < x.size {{ x[i] = X[i]; y[i] = Y[i] }}\n}}\n"
                f"{''.join(self.kernels(*g) for g in groups)}"
                f"run {{\n    let x, y = zeros({count}, {kind}), zeros({count}, {kind})\n"
                f"    fill[{blocks(self.pairs)}, 256](x, y)\n"
                f"{made}{''.join(self.launches(*g) for g in groups)}{self.host() if 'host' in self.ways else ''}}}\n")

    # ---- The same of constants: arrays of them, and behind those of the type itself each value in a statement ----

    def constants(self):
        literals = [tuple(forms.literal(self.kind, v) for v in pair) for pair in self.pairs]
        ends = [forms.literal(self.kind, v) for v in self.ends]
        text, sizes, copies = "", {}, ""
        for t in self.results:
            folded = [constant for form in self.of[t] for constant in self.constant(form, literals)]
            text += f"const C_{t}: {t}[] = [{', '.join(folded)}]\n"
            sizes[t] = len(folded) + (len(ends) if t == self.kind else 0)
            copies += f"    if i < {len(folded)} {{ o_{t}[i] = C_{t}[i] }}\n"
        behind = sizes[self.kind] - len(ends)
        stores = "".join(f"        o_{self.kind}[{behind + i}] = {end}\n" for i, end in enumerate(ends))
        made = "".join(f"    let o_{t} = zeros({size}, {t})\n" for t, size in sizes.items())
        taken, given = (", ".join(f.format(t) for t in sizes) for f in ("o_{0}: {0}[]", "o_{0}"))
        return (f"{text}kernel copy({taken}) {{\n    let i = grid(1)\n{copies}    if i == 0 {{\n{stores}    }}\n}}\n"
                f"run {{\n{made}    copy[{blocks(range(max(sizes.values())))}, 256]({given})\n}}\n")

    def constant(self, form, literals):
        text = re.sub(r"\b([ab])\b", r"{\1}", form.text)
        return [text.format(a=literals[i][0], b=literals[i][1]) for i in self.tried(form)]

    # ---- What the arrays should hold: (expression, way, pairs, values), in order ----

    def wanted(self, t):
        for form, row in zip(self.of[t], self.expected[t]):
            for way in self.ways:
                made = len(self.ends) ** 2 if way == "table" else len(row)
                made = 0 if way == "host" and not self.by_host(form) else made
                values = self.of_host(form, row) if way == "host" else row
                yield form.text, way, self.pairs, values[:made] + [0] * (len(row) - made)

    def wanted_constants(self, t):
        for form, row in zip(self.of[t], self.expected[t]):
            places = self.tried(form)
            yield form.text, "constants", [self.pairs[i] for i in places], [row[i] for i in places]
        if t == self.kind:
            yield "a", "in statements", [(a, None) for a in self.ends], self.ends


def load(path, kind):
    """The numbers of a .npy file; of complex ones the parts, one after the other."""
    data = path.read_bytes()
    return scalars.unpack(kind, data[10 + struct.unpack("<H", data[8:10])[0]:])


def parts(kind, values):
    if kind not in scalars.COMPLEX:
        return values
    return [part for v in map(complex, values) for part in (v.real, v.imag)]


def differing(got, wanted, kind):
    at = 0
    for text, way, pairs, values in wanted:
        want = parts(kind, values)
        have, at = got[at:at + len(want)], at + len(want)
        if have == want and kind in scalars.INTS or all(map(scalars.same, have, want)):
            continue
        for i, (h, w) in enumerate(zip(have, want)):
            if not scalars.same(h, w):
                a, b = pairs[i * len(pairs) // len(want)]
                yield f"{text} with a = {a!r}, b = {b!r}: {way}: {h!r}, not {w!r}"


class Runner:
    def __init__(self, options):
        self.kjit, self.driver, self.folder = options.kjit, options.driver, options.folder
        self.folder.mkdir(parents=True, exist_ok=True)
        self.env = dict(os.environ, KJIT_CACHE_DIR="off", KJIT_VERIFY="1")
        self.env.update({"KJIT_CUDA_DRIVER": self.driver} if self.driver else {})

    def run(self, run, path, *more):
        """What went wrong, if anything did."""
        way = {"O0": ["-O0"], "x86": [f"--cpu={run}"]}.get(run[:3])
        command = [self.kjit, "run", *([*way, "--device=cpu"] if way else [f"--device={run}"]), *more, path]
        ended = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=self.env)
        return ended.returncode and (ended.stderr.strip() or f"status {ended.returncode}")

    def has(self, run):
        """Has this CPU a level?"""
        path = self.folder / "empty.knl"
        path.write_text("run { }\n")
        return run[:3] != "x86" or not self.run(run, path)

    def compare(self, name, text, kinds, wanted, runs):
        """Runs a program in several ways; gives what differs. What is equal to an array that was right is right."""
        path, right = self.folder / f"{name}.knl", {}
        path.write_text(text)
        for run in runs:
            saved = {t: self.folder / f"{name}_{run.replace(':', '_')}_{t}.npy" for t in kinds}
            failed = self.run(run, path, *(f"--save=o_{t}={file}" for t, file in saved.items()))
            if failed:
                yield f"{path}: {run}: {failed}"
                continue
            for t, file in saved.items():
                data = file.read_bytes()
                if right.get(t) != data:
                    wrong = [f"{path}: {run}: {line}" for line in differing(load(file, t), wanted(t), t)]
                    right[t] = right.get(t) if wrong else data
                    yield from wrong


def check(runner, program, runs):
    yield from runner.compare(program.kind, program.text(), program.results, program.wanted, runs)
    once = [run for run in runs if run.partition(":")[0] in CONSTANTS]
    if "KJIT_TEST_ALL" not in os.environ and len(once) > 1:
        once = once[forms.KINDS.index(program.kind) % len(once):][:1]
    name = f"{program.kind}_constants"
    yield from runner.compare(name, program.constants(), program.results, program.wanted_constants, once)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kjit")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("types", nargs="*", default=forms.KINDS, metavar="TYPE")
    parser.add_argument("--driver", default="", help="a driver of CUDA; without: what kjit finds")
    parser.add_argument("--runs", default=RUNS, help=f"some of {RUNS},{','.join(LOWER)}, or devices such as cuda:1")
    options = parser.parse_args()
    runner = Runner(options)
    programs = [Program(kind) for kind in options.types]
    found, runs = [], {}
    for program in programs:
        nth = forms.KINDS.index(program.kind)
        own = options.runs.split(",")
        if options.runs == RUNS and "KJIT_TEST_ALL" not in os.environ:
            own.remove("lower" if nth % 2 else "O0")
        own = [LOWER[nth // 2 % len(LOWER)] if run == "lower" else run for run in own]
        own = [run for run in own if run in runs or runner.has(run)]
        runs |= dict.fromkeys(own)
        found += check(runner, program, own)
    count = sum(len(program.forms) for program in programs)
    print("\n".join(found[:40]))
    print(f"{count} expressions on types, {' '.join(runs)}: {len(found)} differences")
    return len(found) > 0


if __name__ == "__main__":
    sys.exit(main())
