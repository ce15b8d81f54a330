"""Names that stand for what two names before them make, and so on: a source of few lines that is exponentially large when
it is written out, which nothing does; and a loop with 20,000 ways out, each of which could ask for all of it. Each program is compiled, or refused, in seconds: names_of_names.py KJIT.

KINDS are what the names are, and how two of them make one; USES what is done with the last. Each way to make one has two of
the uses, each use several ways, and one of the two is shown with its checks, too; KJIT_TEST_ALL=1: all of them."""
import os
import resource
import shlex
import subprocess
import sys
import tempfile

NAMES, SECONDS, MIB = 40, 10, 400
COMMANDS = [["build", "--emit=checks"], ["build", "--emit=llvm"]]
ALL = "KJIT_TEST_ALL" in os.environ

KINDS = {
    "i32": ("i + n", ["{x} + {x}", "{x} - {x}", "{x} * {x}", "{x} // {x}", "{x} % {x}", "{x} & {x}", "{x} | {x}", "{x} ^ {x}",
                     "{x} << {x}", "{x} >> {x}", "min({x}, {x})", "max({x}, {x})", "abs({x} - {x})", "clamp({x}, {x}, {x})",
                     "{x} if n > {k} else {x}", "{x} if {x} > {k} else {x}", "ceil_div({x}, {x})", "i32(i64({x}) + {x})",
                     "{x} + 1 - {x}", "mulhi({x}, {x})", "twice({x}, {x})"]),
    "u8": ("u8(a[i])", ["{x} + {x}", "{x} * {x}", "{x} >> {x}", "-{x} | {x}", "max({x}, {x})", "u8({x} + {x})"]),
    "bool": ("i < n", ["{x} and {x}", "{x} or {x}", "not ({x} or not {x})", "{x} & {x}", "{x} | {x}", "{x} == {x}",
                          "{x} if {x} else {x}"]),
    "f32": ("f32(a[i])", ["{x} + {x}", "{x} * {x}", "{x} / {x}", "fma({x}, {x}, {x})", "max({x}, {x})", "pow({x}, {x})",
                          "{x} if n > {k} else {x}", "{x} * {x} + {x}"]),
    "literal": ("0.1 if n > 1 else 0.2", ["{x} + {x}", "{x} if n > {k} else {x}", "max({x}, {x})", "-({x} * {x})"]),
    "tuple": ("(a[i], i)", ["({x}, {x})", "{x} if n > {k} else {x}", "({x}[0], {x}[1])", "({x}[0] + {x}[1], {x}[0])"]),
    "tuple of literals": ("(1, 2.5)", ["({x}, {x})", "({x}, 1, {x})", "({x}, {x})[0]"]),
    "tuple of constants": ("(N, N > 1)", ["({x}, {x})"]),
    "tuple of arrays": ("(a, a.shape)", ["({x}, {x})"]),
    "array": ("a if n > 1 else a[1:]", ["{x} if n > {k} else {x}", "{x}[1:] if n > {k} else {x}", "{x}[{x}[0]:]",
                                        "{x}[{x}.shape[0] - {x}.shape[0]:]"]),
}
USES = {
    "i32": ["a[{x}] = 1", "if {x} < 3 {{ a[i] = 1 }}", "while {x} > n {{ a[i] += 1 }}", "assert({x} > 0)\na[i] = {x}",
            "for j in range({x}) {{ a[j] = {x} }}", "a[i] = a[{x} // 2] + i32({x} > 7)"],
    "u8": ["a[{x}] = 1", "if {x} > 3 {{ a[i] = i32({x} // 2) }}", "a[i] = i32({x} >> 1)"],
    "bool": ["if {x} {{ a[i] = 1 }}", "while {x} {{ a[i] += 1 }}", "assert({x})", "a[i] = 1 if {x} else 2",
             "if i < n and {x} {{ a[i] = 1 }}"],
    "f32": ["a[i] = i32({x})", "if {x} > 3 {{ a[i] = 1 }}", "a[i32({x})] = 1"],
    "literal": ["a[i] = i32({x})", "if {x} > n {{ a[i] = 1 }}"],
    "tuple": ["a[i] = 1", "let first, second = {x}\na[i] = 1"],
    **dict.fromkeys(["tuple of literals", "tuple of constants", "tuple of arrays"],
                    ["a[i] = 1", "for v in {x} {{ a[i] = 1 }}", "var y = {x}\na[i] = 1", "a[({x}, twice(i, n))[1]] = 1"]),
    "array": ["{x}[i] = 1", "a[i] = {x}[i] + i32({x}.size)", "atomic.add({x}, i, 1)"],
}
RUN = {"(1, 2)": "({x}, {x})", "[1, 2]": "[{x}, {x}]", "1": "{x} + {x}", "true": "{x} and {x}", "ones(4)": "{x} + {x}"}


def indented(lines, depth=1):
    return "".join("    " * depth + line + "\n" for text in lines for line in text.split("\n"))


def chain(first, step, word="let"):
    return [f"{word} v0 = {first}"] + [f"{word} v{k} = " + step.format(x=f"v{k - 1}", k=k) for k in range(1, NAMES)]


def programs():
    twice = "fn twice(x: i32, y: i32) -> i32 { return x * 2 + y }\n\n"
    for kind, (first, steps) in KINDS.items():
        for nth, step in enumerate(steps):
            for use in USES[kind] if ALL else sorted({USES[kind][(nth + k) % len(USES[kind])] for k in range(2)}):
                body = ["let i = i32(grid(1))"] + chain(first, step) + [use.format(x=f"v{NAMES - 1}")]
                yield twice + "kernel k(a: i32[], n: i32, const N: i32 = 3) {\n" + indented(body) + "}\n"
    for first in "(i, 1)", "(1, 2.5)", "(n, i)":
        body = ["let i = i32(grid(1))"] + chain(first, "({x}, {x})", "var") + ["a[i] = 1"]
        yield "kernel k(a: i32[], n: i32) {\n" + indented(body) + "}\n"
    for first, step in RUN.items():
        yield "run {\n" + indented(chain(first, step)) + "}\n"
        yield ("".join(line.replace("let v", "const V", 1).replace("(v", "(V").replace(" v", " V").replace("[v", "[V") + "\n"
                       for line in chain(first, step) if "ones" not in first) + "run { print(1) }\n")
    yield ("kernel k(x: i32[]) {\n    var n, m = 0, 0\n    while true {\n        if atomic.cas(x, 0, 0, 1) == 0 { break }\n"
           + "".join(f"        if n > {k} and n > m {{ break }}\n" for k in range(20000))
           + "        n += 1\n        m -= 1\n    }\n    x[2] = shfl_sync(0xffffffff, n, 0)\n    atomic.exch(x, 0, 0)\n}\n")


def limits():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))


def main(kjit):
    kjit, wrong, n = shlex.split(kjit), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "k.knl")
        for nth, source in enumerate(programs()):
            with open(file, "w") as out:
                out.write(source)
            for command in [["run", "--device=cpu"]] if "run {" in source else COMMANDS if ALL else COMMANDS[nth % 2 :]:
                done = subprocess.run(kjit + command + [file], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                      errors="replace", preexec_fn=limits)
                n += 1
                if done.returncode not in (0, 3) or (done.returncode == 3 and "error: " not in done.stderr):
                    wrong += 1
                    print(f"{command}: status {done.returncode}: {done.stderr[-300:]}\n{source}")
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"{n} runs, {wrong} wrong, at most {most:.0f} MiB (of {MIB})")
    return 1 if wrong or most > MIB else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
