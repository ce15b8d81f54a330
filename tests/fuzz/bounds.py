#!/usr/bin/env python3
"""Generates small kernels whose indices may be outside of their arrays, and compares what kjit tells, or what the
arrays hold, with a reference: the first index that fails, in the first thread; no word where none does; nothing
written outside. docs/testing.md says more. The exit status is 0 when nothing was found."""
import argparse
import collections
import os
import pickle
import re
import resource
import signal
import sys
import time
import traceback

import bounds_gen
import bounds_kjit
import bounds_memory
from bounds_memory import Array, Exhausted
from bounds_tree import E
from rng import Rng

DEVRT = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "double", "devrt.archive")


class Case:
    """Arguments, and what the reference says of them."""

    def __init__(self, grid, block, args, told, failed, arrays):
        self.grid, self.block, self.args, self.told, self.failed, self.arrays = grid, block, args, told, failed, arrays


def functions(p):
    names = dict(bounds_memory.NAMES)
    exec(compile(p.python, f"program {p.seed}", "exec"), names)     # generated here
    return names


def case_of(p, names, grid, block, args):
    """None where a thread takes too long, or `requires` says no."""
    given = []
    for name, kind, _, ndim in p.params:
        a = args[name]
        if ndim == 0:
            given.append(a.values)
        elif kind == "record":
            given.append(Array(list(a.values), "i32", a.shape, name, 0, (4,)))
        else:
            given.append(Array(list(a.values), a.type, a.shape, name))
    try:
        if not names["allowed"](bounds_memory.Thread(grid, block, 0, 0), *given):
            return None
        told, failed = bounds_memory.run(names, given, grid, block)
    except Exhausted:
        return None
    arrays = {x[0]: g.data for x, g in zip(p.params, given) if x[3]}
    return Case(grid, block, args, told, failed, arrays)


def cases_of(p, r, wanted, tries):
    """Some cases, such that as many lines as possible fail, and some where none does."""
    names = functions(p)
    layouts = {x[0]: r.pick(("C", "C", "F", "strided")) for x in p.params} if r.chance(50) else {}
    found, seen, good = [], collections.Counter(), 0
    for _ in range(tries):
        case = case_of(p, names, *bounds_gen.arguments(p, r, layouts))
        if case is None:
            continue
        if case.told is None:
            good += 1
            if good <= wanted // 2:
                found.append(case)
            continue
        line = case.told.fault[0]
        seen[line] += 1
        if seen[line] <= 2:
            found.append(case)
    rare = [c for c in found if c.told]
    rare.sort(key=lambda c: seen[c.told.fault[0]])
    return [c for c in found if c.told is None] + rare[:wanted]


# ---- Runs ----

def levels():
    """Levels of x86-64 that this machine has."""
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        flags = next((line for line in f if line.startswith("flags")), None)
    if flags is None:
        return []
    return ["x86-64-v2"] + ["x86-64-v3"] * (" avx2" in flags) + ["x86-64-v4"] * (" avx512bw" in flags)


def options_of(r, seed, count, cpus, double):
    made = []
    for k in range(count):
        on_cpu = not double or (seed + k) % (2 if count > 1 else 3) == 0    # whose code takes longer to make
        device = "cpu" if on_cpu else "cuda"
        made.append({"device": device, "level": r.pick((0, 1, 2, 3, 3)), "workers": r.pick((1, 1, 2, 3)),
                     "cpu": r.pick([None, None] + cpus) if device == "cpu" else None})
    return made


class Run:
    """One program on one device."""

    def __init__(self, kjit, p, options):
        self.kjit, self.p = kjit, p
        self.context = kjit.context(options)
        self.module = kjit.module(self.context, p.text, options)

    def case(self, r, case):
        """What is wrong, or None."""
        p, kjit = self.p, self.kjit
        memory, given = {}, []
        for name, kind, t, ndim in p.params:
            a = case.args[name]
            if ndim == 0:
                given.append(kjit.number(a.values, t))
                continue
            record = kind == "record"
            m = memory[name] = bounds_kjit.Memory(r, t, a.shape, a.values, a.layout, record)
            dtype = kjit.record(self.module, "P") if record else kjit.dtype(t)
            given.append(kjit.array(self.context, m, dtype))
        status, said = kjit.launch(self.context, self.module, case.grid, case.block, given)
        wrong = told_wrong(case, status, said)
        for name, m in memory.items():
            raw = m.buffer.raw
            if wrong is None and case.told is None and raw != m.expected(case.arrays[name]):
                wrong = f"'{name}' is {m.values()}, expected {case.arrays[name]}"
            if m.around(raw) != m.around(m.before):
                wrong = f"{wrong or ''}\nsomething is written beside '{name}'"
            elif name not in ("out", "h") and raw != m.before:
                wrong = f"{wrong or ''}\n'{name}' is read only, and has changed"
        kjit.free(given)
        return wrong


def array_of(written):
    """The array that a[i][j] or p[i].at is of: a, p.at."""
    inner = None
    while inner != written:
        written, inner = re.sub(r"\[[^][]*\]", "", written), written
    return written


def told_wrong(case, status, said):
    if case.told is None:
        return f"no index is outside, but it fails: {said}" if status else None
    if not status:
        return f"it does not fail; expected {case.told}"
    match = bounds_kjit.TOLD.search(said)
    if not match:
        return f"expected {case.told}; told is {said}"
    line, index, name, axis, extent, block, thread = match.groups()
    want = case.told.fault
    got = (int(line), int(index), int(extent), block, thread)
    expected = (want[0], want[1], want[4], str(case.told.block), str(case.told.thread))
    axes_differ = want[3] != "any" and (None if axis is None else int(axis)) != want[3]
    if got != expected or axes_differ or (want[2] and "[" not in want[2] and array_of(name) != want[2]):
        return f"expected {case.told}; told is {said}"
    return None


class Finding:
    def __init__(self, kind, text, options=None, case=None):
        self.kind, self.text, self.options, self.case = kind, text, options, case


def in_child(build, p, cases, options, seed):
    """In a process of its own: a list of findings, or what became of it."""
    end, start = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(end)
        status = 1
        try:
            resource.setrlimit(resource.RLIMIT_CPU, (40, 40))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            os.environ["KJIT_DOUBLE_SEED"] = str(seed % 1000)
            os.environ["KJIT_DOUBLE_APART"] = str(seed % 3)
            answer = pickle.dumps(findings_of(build, p, cases, options, seed))
            with os.fdopen(start, "wb") as f:
                f.write(answer)
            status = 0
        except BaseException:
            traceback.print_exc()
        os._exit(status)
    os.close(start)
    with os.fdopen(end, "rb") as f:
        answer = f.read()
    _, status = os.waitpid(pid, 0)
    if status == 0:
        return pickle.loads(answer)
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        kind = "hang" if number in (signal.SIGXCPU, signal.SIGKILL) else "crash"
        return [Finding(kind, f"signal {number}", options[0])]
    return [Finding("fuzzer", f"status {status}", options[0])]


def findings_of(build, p, cases, options, seed):
    kjit = bounds_kjit.Kjit(build)
    found = []
    for o in options:
        try:
            run = Run(kjit, p, o)
        except bounds_kjit.Failed as error:
            found.append(Finding("refused", str(error), o))
            continue
        for k, case in enumerate(cases):
            wrong = run.case(Rng(seed + k), case)
            if wrong:
                found.append(Finding("different", wrong, o, k))
                break
    return found


# ---- Making findings small ----

def blocks_of(p):
    """Every list of statements."""
    lists = [p.body] + [f[4] for f in p.functions]
    while lists:
        block = lists.pop()
        yield block
        for s in block:
            lists += s.blocks


def edits(p):
    """Changes that make a program smaller: functions that make one and give what undoes it."""
    for block in list(blocks_of(p)):
        for s in list(block):
            yield block, [x for x in block if x is not s]
            for inner in s.blocks:
                at = next(k for k, x in enumerate(block) if x is s)
                yield block, block[:at] + inner + block[at + 1:]
            if s.kind == "if" and len(s.blocks) > 1:
                yield s.blocks, s.blocks[:1]


def expression_edits(p):
    for block in list(blocks_of(p)):
        for s in block:
            for k, e in enumerate(s.exprs):
                yield from shrunk(s.exprs, k, e)


def shrunk(holder, k, e):
    for kid in e.kids:
        if kid.type == e.type and kid.op != "lit":
            yield holder, k, kid
    if e.op == "conv" and e.kids[0].type == e.type:
        yield holder, k, e.kids[0]
    if e.op not in ("lit", "var") and e.type[0] in "iu":
        yield holder, k, E("conv", e.type, [E("lit", e.type, data=1)])
    for j, kid in enumerate(e.kids):
        yield from shrunk(e.kids, j, kid)


def reduced(build, p, finding, cases, seed, most):
    """The program made smaller, as long as what is found is of one kind."""
    case, options = cases[finding.case], [finding.options]

    def still():
        try:
            p.write()
            now = case_of(p, functions(p), case.grid, case.block, case.args)
        except (NameError, UnboundLocalError, SyntaxError, TypeError, AttributeError, ValueError):
            return None
        if now is None:
            return None
        found = in_child(build, p, [now], options, seed + finding.case)
        same = [f for f in found if f.kind == finding.kind and f.text[:12] == finding.text[:12]]
        return same[0] if same else None

    tries, last = 0, finding
    again = True
    while again and tries < most:
        again = False
        for block, smaller in edits(p):
            tries += 1
            before = list(block)
            block[:] = smaller
            found = still()
            if not found:
                block[:] = before
            else:
                last, again = found, True
                break
            if tries >= most:
                break
        if again:
            continue
        for holder, k, e in expression_edits(p):
            tries += 1
            before, holder[k] = holder[k], e
            found = still()
            if not found:
                holder[k] = before
            else:
                last, again = found, True
                break
            if tries >= most:
                break
    p.write()
    return last


# ---- Programs ----

def report(args, p, finding, case):
    path = os.path.join(args.folder, f"bounds-{p.seed}.knl")
    os.makedirs(args.folder, exist_ok=True)
    said = "".join(f"# {line}\n" for line in finding.text.strip().split("\n")[:12])
    with open(path, "w", encoding="utf-8") as f:
        f.write(p.text + f"# program {p.seed}, {finding.options}\n" + said)
        if case:
            f.write(f"# grid {case.grid}, block {case.block}\n")
            for name, a in case.args.items():
                f.write(f"# {name}: {a.type} {a.shape or ''} {a.layout or ''} {a.values}\n")
    text = "\n".join("    " + line for line in finding.text.strip().split("\n")[:6])
    return f"{finding.kind}, program {p.seed}, {finding.options}:\n{text}\n    {path}"


def check(args, seed, cpus, totals):
    p = bounds_gen.Program(seed).write()
    if args.program is not None:
        print(p.text)
    r = Rng(seed ^ 0x0b0b)
    cases = cases_of(p, r, args.cases, args.cases * 5)
    totals["programs"] += 1
    totals["rows"].update(p.rows)
    if not cases:
        totals["left out"] += 1
        return
    totals["launches"] += len(cases) * args.runs
    totals["failing"] += sum(c.told is not None for c in cases) * args.runs
    found = in_child(args.build, p, cases, options_of(r, seed, args.runs, cpus, args.double), seed)
    for finding in found:
        if finding.kind == "refused" and "outside" in finding.text:
            totals["refused"] += 1
            continue
        case = cases[finding.case] if finding.case is not None else None
        if case and args.reduce and totals["reduced"] < 12:
            totals["reduced"] += 1
            finding = reduced(args.build, p, finding, cases, seed, args.reduce)
        totals["found"] += 1
        print(f"finding {totals['found']}: {report(args, p, finding, case)}", flush=True)
        break


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    p.add_argument("--build", default="build")
    p.add_argument("--programs", type=int)
    p.add_argument("--seconds", type=float)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--runs", type=int, default=2, help="configurations for each program")
    p.add_argument("--cases", type=int, default=10,
                   help="about so many launches of each that fail, and half as many others")
    p.add_argument("--reduce", type=int, default=300, help="tries to make a finding small")
    p.add_argument("--program", type=int, help="only this one, which is printed")
    p.add_argument("--folder", help="where findings are written (BUILD/fuzz)")
    p.add_argument("--stop", action="store_true", help="at the first finding")
    args = p.parse_args()
    args.folder = args.folder or os.path.join(args.build, "fuzz")
    double = os.path.abspath(os.path.join(args.build, "tests/double/libcuda.so.1"))
    args.double = os.path.exists(double)
    os.environ.update(KJIT_CACHE_DIR="off", MALLOC_PERTURB_="165", KJIT_CUDADEVRT=DEVRT, KJIT_CUDA_DRIVER=double)
    cpus = levels()
    totals = collections.Counter()
    totals["rows"] = collections.Counter()
    start, index = time.monotonic(), 0
    while args.program is not None or (index < args.programs if args.programs else
                                       time.monotonic() - start < (args.seconds or 60)):
        check(args, args.program if args.program is not None else (args.seed << 24) + index, cpus, totals)
        index += 1
        if args.program is not None or args.stop and totals["found"]:
            break
    return summary(totals, time.monotonic() - start)


def summary(totals, seconds):
    items = [f"{row}: {count}" for row, count in sorted(totals["rows"].items())]
    print("\ncoverage: how many programs have each row")
    for k in range(0, len(items), 5):
        print("  " + " | ".join(items[k:k + 5]))
    print(f"{totals['programs']} programs ({totals['left out']} left out, {totals['refused']} refused for an index "
          f"that is outside anyway), {totals['launches']} launches, {totals['failing']} of which fail, "
          f"{totals['found']} findings, {seconds:.0f} s")
    return 1 if totals["found"] else 0


if __name__ == "__main__":
    sys.exit(main())
