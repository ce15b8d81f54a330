"""Small random kernels, and whether --check=race finds in them what all of their interleavings have: interleavings.py KJIT
COUNT [SEED].

Three threads of a block, or three blocks of one thread, store, load and add by atomics on two elements. Between phases stands
nothing, a barrier, or a syncwarp of two of the threads. Stores are of one value or another, two of one value do not race. Elements
have 32 bits, or 64 of which both halves differ from value to value, but not their exclusive or. Two accesses race if there is a state, reached in some order, in which
both may come next. What kjit tells must be such a pair, and it must tell one where there is any."""
import os
import pathlib
import random
import re
import shlex
import subprocess
import sys
import tempfile

THREADS, ELEMENTS = 3, 2


def phase(r):
    return [[(r.choice(["store", "load", "load", "atomic"]), r.randrange(ELEMENTS), r.randrange(2)) for _ in range(r.randrange(3))]
            for _ in range(THREADS)]


def program(r, blocks):
    """Phases, with what stands behind each: None, or the threads that wait there for one another."""
    syncs = [None, {0, 1, 2}] if blocks else [None, {0, 1, 2}, {0, 1}, {0, 2}, {1, 2}]
    return [(phase(r), r.choice(syncs)) for _ in range(r.randrange(1, 4))]


def text(phases, blocks, wide):
    """The kernel, and each thread's steps: (what, element, line), or (threads, number of the sync)."""
    kind = "i64" if wide else "i32"
    lines = [f"kernel k(x: {kind}[], out: {kind}[]) {{", "    let t = blockIdx.x" if blocks else "    let t = threadIdx.x"]
    if not blocks:
        lines += [f"    let s = shared.array(2, {kind})", "    if t < 2 { s[t] = 0 }", "    syncthreads()"]
    array, steps = "x" if blocks else "s", [[] for _ in range(THREADS)]
    forms = {"store": "{0}[{1}] = {2}", "load": "out[t] += {0}[{1}]", "atomic": "atomic.add({0}, {1}, 1)"}
    for number, (each, sync) in enumerate(phases):
        for t, ops in enumerate(each):
            lines.append(f"    if t == {t} {{")
            for what, element, value in ops:
                lines.append("        " + forms[what].format(array, element, value << 32 | value ^ 1 if wide else value))
                steps[t].append((what, element, len(lines), value))
            lines.append("    }")
        if sync is None:
            continue
        for t in sync:
            steps[t].append((sync, number))
        if len(sync) == THREADS:
            lines.append("    grid_sync()" if blocks else "    syncthreads()")
        else:
            a, b = sorted(sync)
            lines.append(f"    if t == {a} or t == {b} {{ syncwarp({1 << a | 1 << b}) }}")
    lines += ["}", "run { k[%s](zeros(2, %s), zeros(3, %s)) }" % ("3, 1" if blocks else "1, 3", kind, kind)]
    return "\n".join(lines) + "\n", steps


def conflict(a, b):
    return len(a) == len(b) == 4 and a[1] == b[1] and (a[0] != b[0] or a[0] == "store" and a[3] != b[3])


def races(steps):
    """Pairs of lines."""
    found, seen, todo = set(), set(), [(0,) * THREADS]
    while todo:
        state = todo.pop()
        if state in seen:
            continue
        seen.add(state)
        nexts = [steps[t][at] if at < len(steps[t]) else () for t, at in enumerate(state)]
        for i in range(THREADS):
            found |= {frozenset((nexts[i][2], nexts[j][2])) for j in range(i) if conflict(nexts[i], nexts[j])}
        for t, step in enumerate(nexts):
            together = step[0] if len(step) == 2 else {t} if step else set()
            if together and all(nexts[o] == step for o in together):
                todo.append(tuple(at + (o in together) for o, at in enumerate(state)))
    return found


def told(kjit, folder, source):
    file = os.path.join(folder, "k.knl")
    pathlib.Path(file).write_text(source)
    done = subprocess.run(kjit + ["run", "--check=race", "--device=cpu", "--warn=off", file], capture_output=True, text=True,
                          timeout=300)
    at = re.findall(r"k\.knl:(\d+):\d+: (?:error|note: it is)", done.stderr)
    return done.returncode, frozenset(map(int, at)), done.stderr


def main(kjit, count, seed="1"):
    wrong = races_found = 0
    with tempfile.TemporaryDirectory() as folder:
        for i in range(int(count)):
            r = random.Random(f"{seed}.{i}")
            blocks = i % 4 == 3
            source, steps = text(program(r, blocks), blocks, i % 3 > 0)
            expected = races(steps)
            status, pair, out = told(shlex.split(kjit), folder, source)
            races_found += bool(expected)
            good = pair in expected and status == 1 if expected else status == 0
            if not good:
                wrong += 1
                print(f"program {i}: races of lines {sorted(map(sorted, expected))}, told {sorted(pair)}\n{source}{out}")
    print(f"{count} programs, {races_found} with races, {wrong} wrong")
    return 1 if wrong or races_found in (0, int(count)) else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
