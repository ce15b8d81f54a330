#!/usr/bin/env python3
"""Every builtin of numbers, of typed numbers in a run block, in a kernel, and of constants: the same bits where it is
exact, else within the bounds of both, with the same zeros, infinities and NaNs. numbers_as_kernels.py KJIT BUILTINS_DEF FOLDER

The rows are those of builtins.def, so that one that is added there is tested from then on. The values are the ends of
each type, what is beside them, and some between."""
import itertools
import math
import os
import pathlib
import random
import re
import struct
import subprocess
import sys

ROW = re.compile(r'^BUILTIN\(\w+, "([\w.]+)", (\w+), "([^"]*)", \w+, "[^"]*", (\d+), (\d+),', re.MULTILINE)
POINTS, CONSTANTS = 120, 1 if "KJIT_CUDA_DRIVER" in os.environ else 24 # which are folded the same for all devices
# Bits, of which a float's fraction; struct's letter.
FLOATS = {"f16": (16, 10, "e"), "bf16": (16, 7, "f"), "f32": (32, 23, "f"), "f64": (64, 52, "d")}
INTS = {"i32": (-2 ** 31, 2 ** 31 - 1), "u32": (0, 2 ** 32 - 1), "i64": (-2 ** 63, 2 ** 63 - 1), "u64": (0, 2 ** 64 - 1)}
# Their bound is one of lengths: near a zero of the function, or beyond it, the last place is worth more.
OF_LENGTHS = {"j0", "j1", "y0", "y1", "lgamma"}
# Of ints that may not fit, or divided by 0, which a run block refuses: their operands are half as long, and odd.
REFUSED = {"abs", "sad", "ceil_div", "divmod", "+", "-", "*", "//", "%"}


def half(t, operand):
    return f"({operand} >> {int(t[1:]) // 2 + 1} | 1)"


def rows(text, t):
    """(name, expression of a, b, c, d, letters of the results, bound in ULP)"""
    found = 0
    for name, group, signature, ulp32, ulp64 in ROW.findall(text):
        found += 1
        if group not in ("arithmetic", "math", "bits"):
            continue
        results, letters = re.fullmatch(r"(\w+)\((\w+)\)", signature).groups()
        if t in INTS and (set(letters) & set("f") or "64" in t and "w" in letters):
            continue
        if t in FLOATS and set(letters) & set("iw"):
            continue
        args = ["e" if x == "d" else "(a < b)" if x == "b" else "abcd"[k] for k, x in enumerate(letters)]
        if t in INTS and name in REFUSED:
            args = [half(t, x) for x in args]
        yield name, f"{name}({', '.join(args)})", results, int(ulp64 if t == "f64" else ulp32)
    assert found == len(re.findall(r"^BUILTIN\(", text, re.MULTILINE)), "a row that is not understood"
    for op in ("+", "-", "*", "//", "%") + (("/", "**") if t in FLOATS else ("&", "|", "^")):
        if op != "-" or t not in ("u32", "u64"):
            sides = [half(t, x) if t in INTS and op in REFUSED else x for x in "ab"]
            yield op, f"{sides[0]} {op} {sides[1]}", "n", 2 if op == "**" else 0
    for op in ("<", "<=", ">", ">=", "==", "!="):
        yield op, f"a {op} b", "b", 0


def value_of(t, bits):
    width, _, letter = FLOATS[t]
    bits = bits << 16 if t == "bf16" else bits
    width = 32 if t == "bf16" else width
    return struct.unpack("<" + letter, bits.to_bytes(width // 8, "little"))[0]


def bits_of(t, value):
    raw = int.from_bytes(struct.pack("<" + FLOATS[t][2], value), "little")
    return raw >> 16 if t == "bf16" else raw


def float_bits(t, r):
    width, fraction, _ = FLOATS[t]
    sign, inf = 1 << width - 1, (1 << width - 1) - (1 << fraction)
    sizes = [0, 1, (1 << fraction) - 1, 1 << fraction, inf - 1, inf, inf + (1 << fraction - 1)]
    one = bits_of(t, 1.0)
    sizes += [one - 1, one, one + 1] + [bits_of(t, x) for x in (0.1, 0.5, 0.75, 1.5, 2, 2.5, 3, 10, 88.7, 1e-3, 1024.5)]
    sizes += [r.randrange(inf) for _ in range(12)]
    return [s for size in sizes for s in (size, size | sign)]


def points(t, r):
    """For a, b, c, d the bits, or integers; for e a count."""
    if t in INTS:
        low, high = INTS[t]
        some = [low, low + 1, high, high - 1, 0, 1, 2, 3, 7, high // 3, high // 255, low // 7]
        some += [r.randint(low, high) for _ in range(8)] + ([-1, -2, -7] if low else [])
    else:
        some = float_bits(t, r)
    first = itertools.cycle(some)
    counts = (0, 1, 2, 7, -3, 31, 33, 70, -200, -1100, 1030)
    return [[next(first)] + [r.choice(some) for _ in range(3)] + [r.choice(counts)]
            for _ in range(POINTS)]


def literal(t, x, typed=True):
    if t in INTS:
        return f"{t}({x})" if x >= 0 or x > INTS[t][0] else f"(-{t}({-x - 1}) - 1)"
    v = value_of(t, x)
    text = "nan" if math.isnan(v) else repr(v)
    return f"{t}({text})" if typed else f"({text})"


def folds(t, row):
    """Is it computed before it runs, of constants?"""
    return row[3] == 0 or t == "f64" and len(row[2]) == 1


def program(t, all_rows, at):
    """Arrays by what they hold: `o` of the type, `w` of f64, `n` of i32."""
    kinds = {"b": "n", "d": "n", "s": "w", "g": "w"}
    typed = {"n": "i32({})", "w": "f64({})", "o": "{}"}
    sets = {k: [] for k in "own"}
    for row in all_rows:
        for part, letter in enumerate(row[2]):
            sets[kinds.get(letter, "o")].append((row, part))
    types = {"o": t, "w": "f64", "n": "i32"}

    def body(place, indent, point=None):
        """Of variables, or of constants; f64 also of literals, which take the type of where the result goes."""
        lines = []
        for row in all_rows:
            names = [f"r{k}" for k in range(len(row[2]))]
            kind, text = [kinds.get(letter, "o") for letter in row[2]], row[1]
            if point and not folds(t, row):
                continue
            if point:
                plain = t == "f64" and kind == ["o"]
                own = {n: literal(t, x, not plain) for n, x in zip("abcd", point)} | {"e": str(point[4])}
                text = re.sub(r"\b[abcde]\b", lambda m: own[m[0]], text)
            if len(names) > 1:
                lines += [f"{indent}if true {{", f"{indent}    let {', '.join(names)} = {text}"]
            for part, k in enumerate(kind):
                number = sets[k].index((row, part))
                result = typed[k].format(names[part] if len(names) > 1 else text)
                lines.append(f"{indent}    {place}{k}[{number}, {{i}}] = {result}")
            if len(names) > 1:
                lines.append(f"{indent}}}")
        return lines

    outs = ", ".join(f"{k}: {types[k]}[,]" for k in "own")
    text = [f"kernel all(va: {t}[], vb: {t}[], vc: {t}[], vd: {t}[], ve: i32[], {outs}) {{", "    let i = grid(1)",
            "    if i < va.size {", "        let a, b, c, d, e = va[i], vb[i], vc[i], vd[i], ve[i]"]
    text += [line.replace("{i}", "i") for line in body("", "        ")] + ["    }", "}"]
    for i, point in enumerate(at[:CONSTANTS]):
        lines = [line.replace("{i}", str(i)) for line in body("", "    ", point)]
        text += [f"kernel constants{i}({outs}) {{", *lines, "}"]
    text.append("run {")
    for k, n in enumerate("abcd"):
        items = ", ".join(str(p[k]) for p in at)
        made = f"array([{items}], {t})" if t in INTS else f"array([{items}], u{FLOATS[t][0]}).view({t})"
        text.append(f"    let v{n} = {made}")
    text.append(f"    let ve = array([{', '.join(str(p[4]) for p in at)}], i32)")
    for which in "khc":
        text += [f"    let {which}{k} = zeros(({max(len(sets[k]), 1)}, {POINTS}), {types[k]})" for k in "own"]
    text.append("    all[1, 128](va, vb, vc, vd, ve, ko, kw, kn)")
    text += [f"    constants{k}[1, 1](co, cw, cn)" for k in range(CONSTANTS)]
    text += [f"    for i in range({POINTS}) {{", "        let a, b, c, d, e = va[i], vb[i], vc[i], vd[i], ve[i]"]
    text += [line.replace("{i}", "i") for line in body("h", "        ")] + ["    }"]
    text += [f'    save("{which}{k}.npy", {which}{k})' for which in "khc" for k in "own"]
    return "\n".join(text + ["}"]) + "\n", sets


def loaded(path, width):
    data = path.read_bytes()
    at = 10 + int.from_bytes(data[8:10], "little")
    return [int.from_bytes(data[k:k + width], "little") for k in range(at, len(data), width)]


def differs(t, kind, row, got, want):
    """Of two numbers' bits."""
    if got == want or kind == "n" or (kind == "o" and t in INTS):
        return got != want
    t = "f64" if kind == "w" else t
    x, y = value_of(t, got), value_of(t, want)
    if math.isnan(x) or math.isnan(y):
        return math.isnan(x) != math.isnan(y)
    name, bound = row[0], row[3]
    if bound == 0 or math.isinf(x) or math.isinf(y) or (x == 0 and y == 0):
        return True
    width, fraction, _ = FLOATS[t]
    size = max(abs(x), 1.0) if name in OF_LENGTHS else 0
    slack = 2 * bound + 2
    if size:
        return abs(x - y) > slack * 4 * size * 2.0 ** -fraction
    sign = 1 << width - 1
    return (got ^ want) & sign or abs(got - want) > slack


def main():
    kjit, table, folder = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    text, wrong = table.read_text(), 0
    for t in sys.argv[4:] or [*FLOATS, *INTS]:
        r = random.Random(t)
        here = folder / t
        here.mkdir(parents=True, exist_ok=True)
        at = points(t, r)
        source, sets = program(t, list(rows(text, t)), at)
        (here / "all.knl").write_text(source)
        subprocess.run([kjit, "run", "all.knl", "--warn=off"], cwd=here, check=True)
        for kind, those in sets.items():
            width = 8 if kind == "w" else 4 if kind == "n" else (FLOATS[t][0] if t in FLOATS else int(t[1:])) // 8
            kernel, host, constant = (loaded(here / f"{which}{kind}.npy", width) for which in "khc")
            for k, (row, part) in enumerate(those):
                for i in range(POINTS):
                    for what, other in (("run block", host), ("constants", constant)):
                        if other is constant and not (i < CONSTANTS and folds(t, row)):
                            continue
                        got, want = other[k * POINTS + i], kernel[k * POINTS + i]
                        if not differs(t, kind, row, got, want):
                            continue
                        wrong += 1
                        of = ", ".join([literal(t, x) for x in at[i][:4]] + [str(at[i][4])])
                        print(f"{row[1]}, result {part}, of {of}: in the {what} {got:#x}, in a kernel {want:#x}")
    sys.exit(f"{wrong} differ" if wrong else 0)


if __name__ == "__main__":
    main()
