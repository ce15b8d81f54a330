#!/usr/bin/env python3
"""Operators and functions of complex numbers: of a run block's c128, of literals, in array expressions and in kernels
they are the same but for rounding, on the same side of every cut; operators to the bit where nothing is fused.
complex_as_kernels.py KJIT FOLDER

Operators are tried on everything, functions on what is finite: of others the C library's go by C's annex G."""
import math
import pathlib
import random
import struct
import subprocess
import sys

FUNCTIONS = ("sqrt exp log log2 log10 sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh conj").split()
EVERYWHERE = ["z + w", "z - w", "z * w", "z / w", "z / z", "2 * z", "z * 0.5", "z + 1", "z - 1", "1 - z", "z / 2", "1 / z",
              "z ** 2", "z ** 3", "z ** -1", "z ** -2", "z ** 0", "conj(z)", "-z"]
FINITE = [f"{f}(z)" for f in FUNCTIONS] + ["z ** 0.5", "z ** -1.25", "z ** (0.25 - 0.5j)", "2.5 ** z", "pow(z, 0.75)",
                                           "z ** (2 + 318j)", "z ** (1.5 - 91.875j)", "z ** (-2.5 + 100j)", "z ** 3j",
                                           "rect(abs(z), phase(z))"]
ENDS = [0.0, -0.0, 1.0, -1.0, 2.5, -0.5, 5e-324, -1e-310, 3e-308, 1e-20, 1.5e308, -1e300, math.inf, -math.inf, math.nan]
LITERALS = 40


def points():
    r = random.Random(5)
    z = [(x, y) for x in ENDS for y in ENDS]
    z += [(r.gauss(0, 2), r.gauss(0, 2)) for _ in range(30)]
    w = z[:]
    r.shuffle(w)
    return z, w


def is_finite(z):
    return all(map(math.isfinite, z))


def literal(z):
    """Its text, or None where an imaginary literal does not lead there."""
    x, y = z
    minus = math.copysign(1, y) < 0
    if not is_finite(z) or (x == 0 and math.copysign(1, x) < 0 and not minus):
        return None
    return f"({x!r} {'-' if minus else '+'} {abs(y)!r}j)"


def text_of(e, z, w):
    out = ""
    for k, c in enumerate(e):
        around = e[k - 1:k] + e[k + 1:k + 2]
        out += {"z": z, "w": w}[c] if c in "zw" and not any(a.isalpha() for a in around) else c
    return out


def program(folder, z, w, rows):
    for name, those in (("z", z), ("w", w)):
        head = f"{{'descr': '<c16', 'fortran_order': False, 'shape': ({len(those)},), }}"
        head += " " * (-(len(head) + 11) % 64) + "\n"
        data = b"".join(struct.pack("<dd", *p) for p in those)
        (folder / f"{name}.npy").write_bytes(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode() + data)
    n, some = len(z), [k for k in range(len(z)) if literal(z[k]) and literal(w[k])]
    some = random.Random(6).sample(some, LITERALS)
    text = ["kernel all(z: c128[], w: c128[], o: c128[,]) {", "    let i = grid(1)", "    if i < z.size {"]
    text += [f"        o[{k}, i] = {text_of(e, 'z[i]', 'w[i]')}" for k, e in enumerate(rows)] + ["    }", "}"]
    text.append("kernel literals(o: c128[,]) {")
    text += [f"    o[{k}, {i}] = {text_of(e, literal(z[i]), literal(w[i]))}" for k, e in enumerate(rows) for i in some]
    text += ["}", "run {", '    let z, w = load("z.npy"), load("w.npy")']
    text += [f"    let {a} = zeros(({len(rows)}, {n}), c128)" for a in "kahl"]
    text += [f"    all[{-(-n // 64)}, 64](z, w, k)", "    literals[1, 1](l)"]
    text += [f"    a[{k}] = {e}" for k, e in enumerate(rows)]
    text.append(f"    for i in range({n}) {{")
    text += [f"        h[{k}, i] = {text_of(e, 'z[i]', 'w[i]')}" for k, e in enumerate(rows)]
    text += ["    }"] + [f'    save("{a}.npy", {a})' for a in "kahl"] + ["}"]
    (folder / "all.knl").write_text("\n".join(text) + "\n")
    return some


def differs(got, want, size):
    for x, y in zip(got, want):
        if math.isnan(x) or math.isnan(y) or math.isinf(x) or math.isinf(y):
            if not (x == y or (math.isnan(x) and math.isnan(y))):
                return True
        elif x == 0 and y == 0:
            if math.copysign(1, x) != math.copysign(1, y):
                return True
        elif abs(x - y) > (size and max(size, 1e-307) * 1e-13):
            return True
    return False


def main():
    kjit, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    z, w = points()
    rows, wrong = EVERYWHERE + FINITE, 0
    some = set(program(folder, z, w, rows))
    subprocess.run([kjit, "run", "all.knl", "--warn=off", "--fp-contract=off"], cwd=folder, check=True)
    results = {}
    for a in "kahl":
        data = (folder / f"{a}.npy").read_bytes()
        results[a] = list(struct.iter_unpack("<dd", data[10 + int.from_bytes(data[8:10], "little"):]))
    for k, e in enumerate(rows):
        for i, point in enumerate(z):
            if e in FINITE and not is_finite(point):
                continue
            kernel = results["k"][k * len(z) + i]
            size = (math.hypot(*kernel) if is_finite(kernel) else 1.0) if e in FINITE else 0
            if e in FINITE and "*" in e and is_finite(kernel): # the error is that of the exponent's logarithm
                size *= 1500
            for what, a in (("array expression", "a"), ("run block", "h"), ("literals", "l")):
                got = results[a][k * len(z) + i]
                if a == "l" and i not in some or not differs(got, kernel, size):
                    continue
                wrong += 1
                print(f"{e} of {point}, {w[i]}: {got} of the {what}, {kernel} in a kernel")
    sys.exit(f"{wrong} differ" if wrong else 0)


if __name__ == "__main__":
    main()
