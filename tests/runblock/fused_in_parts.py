#!/usr/bin/env python3
"""Long array expressions are computed in parts, and still leave the bits that a function of the same text does: no part
ends between a product and the sum that it fuses with. fused_in_parts.py KJIT"""
import random
import subprocess
import sys


def chain(r, steps):
    """Products and sums, one within the other."""
    e = "x"
    for _ in range(steps):
        name = r.choice("xyzq")
        e = r.choice([f"({e}) * {name} + {r.choice('xyzq')}", f"{r.choice('xyzq')} - ({e}) * {name}", f"({e}) * {name}",
                      f"{e} + {name} * {r.choice('xyzq')}", f"abs({e}) - {name}", f"({e}) * 0.5 + {name}"])
    return e


def texts():
    for n in (61, 62, 63, 124, 125, 126, 188):
        yield f"(x{' + z' * n}) * x - q"
        yield f"q - x * (x{' + z' * n})"
        yield f"(x{' + z' * n}) * (y{' - z' * n}) + (y{' + q' * n}) * x"
    for n in (98, 99, 100, 101):
        yield f"{'abs(' * n}x{')' * n} * x - q"
    r = random.Random(7)
    for steps in (30, 40, 49, 65, 90):
        for _ in range(3):
            yield chain(r, steps)


def program(all_texts, t):
    values = {"x": 1 + 2.0 ** -12, "y": 1 - 2.0 ** -9, "z": 2.0 ** -20, "q": 1 + 2.0 ** -11}
    lines = [f"fn same{k}(x: {t}, y: {t}, z: {t}, q: {t}) -> {t} {{ return {e} }}" for k, e in enumerate(all_texts)]
    lines.append("run {")
    lines += [f"    let {name} = full(3, {v!r}, {t})" for name, v in values.items()]
    for k, e in enumerate(all_texts):
        lines += [f"    let e{k} = {e}", f"    let s{k} = same{k}(x, y, z, q)",
                  f"    assert(all((e{k} == s{k}) | isnan(e{k})), {k})"]
    return "\n".join(lines + ["}"]) + "\n"


def main():
    failed = 0
    found = list(texts())
    for t, contract in (("f32", "on"), ("f64", "off")):
        command = [sys.argv[1], "run", "-", "--warn=off", "--device=cpu", f"--fp-contract={contract}"]
        done = subprocess.run(command, input=program(found, t), stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            failed += 1
            print(t, contract, done.stdout[:1000])
    print(f"{len(found)} expressions, {failed} runs failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
