#!/usr/bin/env python3
"""ops.py KJIT DRIVER FOLDER: every operator of compiler/lang/ops.def on every type that it takes, of all pairs of values
from the ends of that type, must be the same bits (any NaN like any other) computed from constants by the compiler, and
by the CPU and the driver double from arrays, some also without the optimiser. What the bits are is tests/lang's matter; this is for
where a rule is said twice."""
import concurrent.futures
import pathlib
import re
import struct
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
OPS = [(m[1], m[2], m[3]) for m in re.finditer(r'^(?:BINARY|UNARY)\((\w+), "([^"]+)", (\w+)\)',
                                               (ROOT / "compiler/lang/ops.def").read_text(), re.MULTILINE)]
UNARY = {"NEG", "INVERT", "NOT"}
INTS = [f"{sign}{bits}" for sign in "iu" for bits in (8, 16, 32, 64)]
FLOATS = {"f16": "e", "bf16": None, "f32": "f", "f64": "d"}
LARGEST = {"f16": 65504.0, "bf16": 3.3895313892515355e38, "f32": 3.4028234663852886e38, "f64": 1.7976931348623157e308}
SMALLEST = {"f16": 2.0**-24, "bf16": 2.0**-133, "f32": 2.0**-149, "f64": 2.0**-1074}


def values(kind):
    """Literals of edge values of a type."""
    if kind == "bool":
        return ["false", "true"]
    if kind in INTS:
        bits = int(kind[1:])
        low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if kind[0] == "i" else (0, (1 << bits) - 1)
        middle = {0, 1, 2, 3, 7, bits - 1, high // 2, high - 1, high, low, low + 1, *([-1, -2, -7] if low else [])}
        return [str(v) for v in sorted(middle)]
    large, small = LARGEST[kind], SMALLEST[kind]
    some = [0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -7.0, 3.0, large, -large, small, -small, large / 2]
    return [repr(v) for v in some] + ["inf", "-inf", "nan"]


def typed(kind, literal):
    return literal if kind == "bool" else f"{kind}({literal})"


def kinds(op, group):
    """The types that an operator takes."""
    if group in ("ARRAYS",) or op == "POW":
        return []  # functions and products by now
    if group == "LOGIC":
        return ["bool"]
    if group == "SHIFT":
        return INTS
    if group == "FLOATS":
        return list(FLOATS)
    if group == "BITS":
        return [*INTS, *(["bool"] if op != "INVERT" else [])]
    if op in ("EQ", "NE"):
        return [*INTS, *FLOATS, "bool"]
    return [*INTS, *FLOATS]


def program(op, spelling, group, kind):
    """A file with both ways; it leaves `folded` and `ran`."""
    result = "bool" if group == "COMPARE" else kind
    all_values = values(kind)
    pairs = [(a, b) for a in all_values for b in (["0"] if op in UNARY else all_values)]
    if op in UNARY:
        text = f"{spelling} " if spelling == "not" else spelling
        consts = [f"{text}({typed(kind, a)})" for a, _ in pairs]
        body = f"{text}x[i]"
    else:
        consts = [f"{typed(kind, a)} {spelling} {typed(kind, b)}" for a, b in pairs]
        body = f"x[i] {spelling} y[i]"
    bits = {"bool": "bool", "f16": "u16", "bf16": "u16", "f32": "u32", "f64": "u64"}.get(result, result)
    lines = [f"    o[{n}] = {c}" for n, c in enumerate(consts)]
    x = ", ".join(typed(kind, a) for a, _ in pairs)
    y = ", ".join(typed(kind, a if op in UNARY else b) for a, b in pairs)
    return (f"const X: {kind}[{len(pairs)}] = [{x}]\nconst Y: {kind}[{len(pairs)}] = [{y}]\n"
            f"kernel fill(x: {kind}[], y: {kind}[]) {{ let i = grid(1); if i < x.size {{ x[i] = X[i]; y[i] = Y[i] }} }}\n"
            f"kernel constants(o: {result}[]) {{\n" + "\n".join(lines) + "\n}\n"
            f"kernel arrays(o: {result}[], x: {kind}[], y: {kind}[]) {{\n"
            f"    let i = grid(1)\n    if i < x.size {{ o[i] = {body} }}\n}}\n"
            f"run {{\n    let n = {len(pairs)}\n    let x, y = zeros(n, {kind}), zeros(n, {kind})\n    fill[4, 256](x, y)\n"
            f"    let folded, ran = zeros(n, {result}), zeros(n, {result})\n"
            f"    constants[1, 1](folded)\n    arrays[4, 256](ran, x, y)\n}}\n"), pairs


def load(path):
    """The elements of a .npy file as they are in memory."""
    data = path.read_bytes()
    start = 10 + struct.unpack("<H", data[8:10])[0]
    width = int(re.search(rb"'descr': '[|<][a-zA-Z](\d+)'", data)[1])
    return [int.from_bytes(data[i:i + width], "little") for i in range(start, len(data), width)], width


def is_nan(kind, bits):
    exponent, fraction = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52)}.get(kind, (0, 0))
    whole = (1 << exponent) - 1
    return exponent > 0 and bits >> fraction & whole == whole and bits & ((1 << fraction) - 1) != 0


def check(kjit, driver, folder, row, kind, unoptimised):
    """What differs of one operator and type."""
    op, spelling, group = row
    text, pairs = program(op, spelling, group, kind)
    result = "bool" if group == "COMPARE" else kind
    path = folder / f"{op}_{kind}.knl"
    path.write_text(text)
    runs = [("-O3", "cpu"), ("-O3", "cuda"), *([("-O0", "cpu")] if unoptimised else [])]
    wrong, expected = [], None
    for level, device in runs:
        saved = [folder / f"{op}_{kind}_{level[1:]}_{device}_{name}.npy" for name in ("folded", "ran")]
        command = [kjit, "run", level, f"--device={device}", f"--save=folded={saved[0]}", f"--save=ran={saved[1]}", path]
        env = {"KJIT_CUDA_DRIVER": str(driver), "KJIT_CACHE_DIR": "off", "KJIT_VERIFY": "1", "PATH": "/usr/bin:/bin"}
        ended = subprocess.run(command, capture_output=True, text=True, env=env)
        if ended.returncode:
            return [f"{path}: {level} on {device}: {ended.stderr.strip()}"]
        for name, file in zip(("constants", "arrays"), saved):
            got, _ = load(file)
            expected = got if expected is None else expected
            for pair, a, b in zip(pairs, expected, got):
                if a != b and not (is_nan(result, a) and is_nan(result, b)):
                    wrong.append(f"{path}: {pair[0]} {spelling} {pair[1]}: {name} with {level} on {device}: {b:#x}, not {a:#x}")
    return wrong


def main():
    kjit, driver, folder = sys.argv[1:3] + [pathlib.Path(sys.argv[3])]
    folder.mkdir(parents=True, exist_ok=True)
    jobs = [(row, kind) for row in OPS for kind in kinds(row[0], row[2])]
    with concurrent.futures.ThreadPoolExecutor(1) as pool: # every fourth also without the optimiser
        each = [pool.submit(check, kjit, driver, folder, *job, i % 4 == 0) for i, job in enumerate(jobs)]
        found = [wrong for job in each for wrong in job.result()]
    print("\n".join(found[:40]))
    print(f"{len(jobs)} operators on types, {len(found)} differences")
    return len(found) > 0


if __name__ == "__main__":
    sys.exit(main())
