"""Kernels at random, of integers, branches, loops and indices: numba_programs.kernel(seed) is a text, which Python and kjit's
port run alike. Indices are asked whether they are inside, from -n on: those below 0 count from the end."""
import random


class Program:
    def __init__(self, seed):
        self.r, self.lines, self.loops = random.Random(seed), [], 0
        self.block(["a", "b", "i", "n"], 1, 3)

    def text(self):
        head = ["def k(x, out, a, b):", "    i = cuda.grid(1)", "    n = x.size", "    o = i", "    p = q = r = s = 0"]
        return "\n".join(head + self.lines) + "\n"

    def write(self, depth, line):
        self.lines.append("    " * depth + line)

    def number(self, names, depth=2):
        r, kind = self.r, self.r.random()
        inner = lambda: self.number(names, depth - 1)
        if depth == 0 or kind < 0.3:
            return r.choice(names) if r.random() < 0.7 else str(r.randint(0, 6))
        if kind < 0.55:
            return f"({inner()} {r.choice('+--')} {inner()})"
        if kind < 0.65:
            return f"({inner()} * {r.randint(0, 3)})"
        if kind < 0.75:
            return f"({inner()} {r.choice(['//', '%'])} {r.randint(2, 5)})"
        if kind < 0.8:
            return f"({inner()} >> 1)"
        if kind < 0.85:
            return f"{r.choice(['min', 'max'])}({inner()}, {inner()})"
        if kind < 0.9:
            return f"abs({inner()})"
        if kind < 0.95:
            return f"({inner()} & {inner()})"
        return f"({self.number(names, 0)} if {self.condition(names)} else {self.number(names, 0)})"

    def condition(self, names):
        r, kind = self.r, self.r.random()
        a, b = self.number(names, 1), self.number(names, 1)
        if kind < 0.5:
            return f"{a} {r.choice(['<', '<=', '>', '>=', '==', '!='])} {b}"
        if kind < 0.7:
            return f"{r.randint(0, 3)} <= {a} < n"
        if kind < 0.8:
            return f"not {a} < {b}"
        if kind < 0.9:
            return f"{a} > {r.randint(0, 2)} and {b} > 0"
        return f"{a} < {r.randint(0, 3)} or {b} >= n"

    def block(self, names, depth, left):
        names = list(names)
        self.write(depth, "pass")
        for _ in range(self.r.randint(1, 4)):
            kind = self.r.random()
            if kind < 0.25:
                name = self.r.choice("pqrs")
                self.write(depth, f"{name} = {self.number(names)}")
                names += [name] if name not in names else []
            elif kind < 0.4:
                known = [name for name in names if name in "pqrs"]
                if known:
                    sign = self.r.choice(["+=", "-=", "//=", "*="])
                    self.write(depth, f"{self.r.choice(known)} {sign} {self.r.randint(1, 3)}")
            elif kind < 0.6:
                index = self.number(names, self.r.randint(0, 2))
                self.write(depth, f"if -n <= {index} < n:")
                self.write(depth + 1, f"out[o] = out[o] * 3 + x[{index}]")
            elif kind < 0.8 and left:
                self.write(depth, f"if {self.condition(names)}:")
                self.block(names, depth + 1, left - 1)
                if self.r.random() < 0.5:
                    self.write(depth, "else:")
                    self.block(names, depth + 1, left - 1)
            elif left:
                self.loop(names, depth, left)

    def loop(self, names, depth, left):
        r = self.r
        self.loops += 1
        name = f"t{self.loops}"
        inner = names + [name]
        if r.random() < 0.6:
            given = r.choice([f"{r.randint(1, 5)}", f"{self.number(names, 0)}, n", "n - 1, -1, -1", "1, n, 2",
                              f"{self.number(names, 0)}, {self.number(names, 0)}, -1"])
            self.write(depth, f"for {name} in range({given}):")
            self.block(inner, depth + 1, left - 1)
            if r.random() < 0.2:
                self.write(depth + 1, f"if {self.condition(inner)}:")
                self.write(depth + 2, r.choice(["break", "continue"]))
            return
        self.write(depth, f"{name} = {r.choice(['n', '5', 'a'])}")
        self.write(depth, f"while {name} > 0:")
        self.write(depth + 1, f"if -n <= {name} - 1 < n:")
        self.write(depth + 2, f"out[o] += x[{name} - 1]")
        self.block(inner, depth + 1, 0)
        self.write(depth + 1, f"{name} {r.choice(['-= 1', '//= 2', '-= 2'])}")


def kernel(seed):
    return Program(seed).text()
