"""Which of many faults is told: first.py KJIT DOUBLE PROGRAMS.

Makes kernels in which several threads fail, at several places, in loops and between barriers, and runs each in several
ways. What is to be told is computed here, thread after thread."""
import os
import pathlib
import random
import shlex
import subprocess
import sys
import tempfile

STEPS, BAD = 4, 999  # numbers in `at` that each thread has; one that is no index


class Program:
    def __init__(self, seed):
        self.random = random.Random(seed)
        pick = self.random.choice
        self.block = pick([(64, 1, 1), (8, 8, 1), (5, 3, 2), (130, 1, 1), (16, 12, 1)])
        self.grid = pick([(7, 1, 1), (3, 4, 1), (90, 1, 1), (2, 3, 5)])
        self.per = self.block[0] * self.block[1] * self.block[2]
        self.blocks = self.grid[0] * self.grid[1] * self.grid[2]
        self.lines, self.sites = [], []
        self.body = [self.step(2) for _ in range(pick([3, 5]))]
        count = self.per * self.blocks * STEPS
        self.bad = {self.random.randrange(count): pick([-1, BAD]) for _ in range(pick([3, 9, 40]))}
        self.at = lambda thread, step: self.bad.get(thread * STEPS + step % STEPS, 0)

    def step(self, depth):
        kind = self.random.choice(["x", "y", "assert", "barrier", "for", "if"] if depth else ["x", "y", "assert"])
        if kind == "for":
            return kind, self.random.randrange(2, 5), [self.step(depth - 1) for _ in range(2)]
        if kind == "if":
            return kind, self.random.randrange(3), [self.step(0) for _ in range(2)]
        return kind, self.random.randrange(STEPS), None

    def write(self, steps, indent, turn):
        pad = "    " * indent
        for kind, n, inner in steps:
            index = f"at[{STEPS} * i + ({n}{turn}) % {STEPS}]"
            if kind == "for":
                name = f"k{indent}"
                self.lines.append(f"{pad}for {name} in range({n}) {{")
                self.write(inner, indent + 1, f"{turn} + {name}")
                self.lines.append(pad + "}")
            elif kind == "if":
                self.lines.append(f"{pad}if t % 3 == {n} {{")
                self.write(inner, indent + 1, turn)
                self.lines.append(pad + "}")
            elif kind == "barrier":
                self.lines.append(pad + "syncthreads()")
            elif kind == "assert":
                self.lines.append(f"{pad}assert({index} != {BAD})")
            else:
                self.lines.append(f"{pad}out[i] += {kind}[{index}]")

    def text(self):
        self.lines = ["kernel k(at: i32[], x: f32[], y: f32[], out: f32[]) {",
                      "    let t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)",
                      "    let b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z)",
                      f"    let i = b * {self.per} + t"]
        self.write(self.body, 1, "")
        n = self.per * self.blocks
        self.lines += ["}", "run {", f"    let at = zeros({n * STEPS}, i32)"]
        self.lines += [f"    at[{place}] = {value}" for place, value in sorted(self.bad.items())]
        self.lines += [f"    k[{self.grid}, {self.block}](at, ones(10, f32), ones(20, f32), zeros({n}, f32))", "}"]
        return "\n".join(self.lines) + "\n"

    def walk(self, steps, thread, turn, out):
        """What a thread comes to: barriers (None) and its first failure, a word of which it is told."""
        for kind, n, inner in steps:
            if kind == "for":
                for k in range(n):
                    if self.walk(inner, thread, turn + k, out):
                        return True
            elif kind == "if":
                if thread % self.per % 3 == n and self.walk(inner, thread, turn, out):
                    return True
            elif kind == "barrier":
                out.append(None)
            else:
                value = self.at(thread, n + turn)
                if kind == "assert" and value == BAD:
                    out.append("assertion failed")
                    return True
                if kind != "assert" and value:
                    out.append(f"index {value} is outside of '{kind}'")
                    return True
        return False

    def expected(self):
        for b in range(self.blocks):
            found = None
            for t in range(self.per):
                events = []
                if self.walk(self.body, b * self.per + t, 0, events):
                    found = min(found, (len(events), t, events[-1])) if found else (len(events), t, events[-1])
            if found:
                return found[2], self.named(b, self.grid), self.named(found[1], self.block)
        return None

    @staticmethod
    def named(n, extents):
        return f"({n % extents[0]}, {n // extents[0] % extents[1]}, {n // (extents[0] * extents[1])})"


def main(kjit, double, programs):
    kjit, double = shlex.split(kjit), shlex.split(double)
    ways = [kjit + ["run", "--device=cpu"], kjit + ["run", "--device=cpu", "-O0", "--workers=1"],
            kjit + ["run", "--device=cpu", "--cpu=x86-64-v2", "--workers=3"], double + kjit + ["run", "--device=cuda"]]
    wrong = failing = 0
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "k.knl")
        for seed in range(int(programs)):
            p = Program(seed)
            pathlib.Path(file).write_text(p.text())
            expected = p.expected()
            failing += expected is not None
            for way in ways:
                done = subprocess.run(way + ["--warn=off", file], capture_output=True, text=True, timeout=300)
                out = done.stdout + done.stderr
                words = [expected[0], f"block {expected[1]}, thread {expected[2]}"] if expected else []
                if (done.returncode != 0) != bool(expected) or not all(w in out for w in words):
                    wrong += 1
                    print(f"program {seed}: {' '.join(way)}: not {words}:\n{out}{p.text()}")
    print(f"{failing} programs that fail, {wrong} wrong")
    return 1 if wrong or failing < int(programs) // 2 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
