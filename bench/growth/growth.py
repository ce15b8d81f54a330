#!/usr/bin/env python3
"""How compiling grows with its source: `make bench-growth`, or bench/growth/growth.py [--kjit FILE] [--quick] [shape...].

Each shape is a program of n alike parts, at four doublings of n. The processor's time (user and system) of the command
is what counts, of the fastest of some runs, less that of the smallest program: what else the machine does hardly shows.
A doubling that costs more than LIMIT times as much is marked and makes the exit status 1, once a step takes FLOOR
seconds; so does a program that takes more than LONGEST seconds, unless it is refused, with a place. --quick stops a shape
after a fraction of a second, for tests."""
import argparse
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

LIMIT = 2.3    # times a doubling
RETRIES = 5    # runs of a step that seems to take more
FLOOR = 0.3    # seconds, from which on a doubling is judged
LONGEST = 10.0  # seconds
DOUBLINGS = 4
HEAD = "kernel k(x: f32[], y: i32[], n: i32) {\n    let i = grid(1)\n    if i >= x.size { return }\n"


def body(lines, head=HEAD, tail="}\n"):
    return head + "".join(f"    {line}\n" for line in lines) + tail


def parameters(n):
    """At most 250 arrays, of one dimension."""
    names = ", ".join(f"p{i}: f32[]" for i in range(n))
    return f"kernel k({names}) {{\n    let i = grid(1)\n" + "".join(f"    p{i}[i] += 1\n" for i in range(n)) + "}\n"


def nested(n, opening, closing, inside, head=HEAD):
    return head + "".join(f"    {opening(i)}\n" for i in range(n)) + f"    {inside}\n" + f"    {closing}\n" * n + "}\n"


def barriers(n):
    lines = ["let s = shared.array(256, f32)", "let t = threadIdx.x", "s[t] = x[i]"]
    for _ in range(n):
        lines += ["syncthreads()", "s[t] = s[t] + s[255 - t]"]
    return body(lines + ["x[i] = s[t]"], head="kernel k(x: f32[]) {\n    let i = grid(1)\n")


def live_values(n):
    lines = ["let s = shared.array(256, f32)", "let t = threadIdx.x", "s[t] = x[i]"]
    lines += [f"let v{j} = x[(i + {j}) % 1000]" for j in range(n)] + ["syncthreads()"]
    return body(lines + ["x[i] = s[255 - t]"] + [f"x[i] += v{j}" for j in range(n)],
                head="kernel k(x: f32[]) {\n    let i = grid(1)\n")


def records(n):
    fields = ", ".join(f"f{j}: f32" for j in range(16))
    return (f"record R {{ {fields} }}\n" + "kernel k(r: R[]) {\n    let i = grid(1)\n    var a = r[i]\n"
            + "".join(f"    let b{j} = a\n    a = r[i + {j}]\n    r[i + {j}] = b{j}\n" for j in range(n)) + "}\n")


def record_parts(n):
    """At most 1000 numbers, which an index chooses from."""
    return (f"record R {{ v: f32[{n}] }}\n" + "kernel k(r: R[], n: i32) {\n    let i = grid(1)\n    if i >= r.size { return }\n"
            + f"    var q = r[i]\n    for j in range(n) {{ q.v[j % {n}] += q.v[(j * 7) % {n}] }}\n    r[i] = q\n}}\n")


SHAPES = {
    # name: (smallest n, program of n parts)
    "statements": (250, lambda n: body(f"x[i] = x[i] * 1.5 + {j}.0" for j in range(n))),
    "let chain": (250, lambda n: body(["let v0 = x[i]"] + [f"let v{j} = v{j - 1} * 1.5 + x[{j}]" for j in range(1, n)]
                                      + [f"x[i] = v{n - 1}"])),
    "terms of a sum": (60, lambda n: body(["x[i] = " + " + ".join(f"x[{j}]" for j in range(n))])),
    "elif chain": (60, lambda n: body(["if n == 0 { x[i] = 0 }"]
                                      + [f"elif y[i] == {j} {{ x[i] = {j}.5 }}" for j in range(1, n)])),
    "ifs in a row": (60, lambda n: body(f"if y[i] == {j} {{ x[i] += {j}.5 }}" for j in range(n))),
    "nested ifs": (12, lambda n: nested(n, lambda j: f"if y[i + {j}] > {j} {{ x[i] += {j}.5", "}", "y[i] = 1")),
    "nested conditionals": (12, lambda n: body(["x[i] = " + "".join(f"{j}.5 if y[i] == {j} else (" for j in range(n)) + "0.0"
                                                + ")" * n])),
    "loops in a row": (40, lambda n: body(f"for j in range(y[{j}]) {{ x[i] += x[j] * {j}.5 }}" for j in range(n))),
    "nested loops": (3, lambda n: nested(n, lambda j: f"for j{j} in range(n) {{ if j{j} > i {{ break }}", "}", "x[i] += 1")),
    "whiles in a row": (40, lambda n: body(l for j in range(n) for l in
                                           (f"var w{j} = y[i]", f"while w{j} > {j} {{ w{j} -= y[w{j}] ; x[i] += 1 }}"))),
    "functions": (100, lambda n: "".join(f"fn g{j}(a: f32) -> f32 {{ return a * {j}.5 + 1 }}\n" for j in range(n))
                  + body(f"x[i] = g{j}(x[i])" for j in range(n))),
    "call chain": (60, lambda n: "fn g0(a: f32) -> f32 { return a }\n" + "".join(
        f"fn g{j}(a: f32) -> f32 {{ return g{j - 1}(a) * 1.5 }}\n" for j in range(1, n)) + body([f"x[i] = g{n - 1}(x[i])"])),
    "barriers": (30, barriers),
    "live values": (30, live_values),
    "record copies": (30, records),
    "record parts": (60, record_parts),
    "math calls": (60, lambda n: body(f"x[i] = sin(x[i]) + {j}.0" for j in range(n))),
    "divisions": (60, lambda n: body(f"y[i] = y[i] // (n + {j})" for j in range(n))),
    "wide divisions": (60, lambda n: body(["var c: i64 = i"] + [f"while c % {5 + j * 37 % 85} > 2 {{ c //= 2 }}"
                                                                  for j in range(n)] + ["x[i] = f32(c)"])),
    "atomics": (60, lambda n: body(f"atomic.add(y, {j}, i32(i))" for j in range(n))),
    "parameters": (15, parameters),
    "asserts": (60, lambda n: body(f"assert(x[i] > {j}.0)" for j in range(n))),
    "unrolled turns": (60, lambda n: body([f"@unroll for j in range({n}) {{ x[i] += x[j] * 1.5 }}"])),
    "unrolled twice": (8, lambda n: body([f"@unroll for a in range({n}) {{ @unroll for b in range({n}) {{",
                                          "x[i] += sin(x[a] + x[b])", "}}"])),
    "turns with a barrier": (64, lambda n: body([
        "let s = shared.array(256, f32)", "let t = threadIdx.x", "var j = 0", f"while j < {n} {{", "syncthreads()",
        "s[t] = s[t] + s[255 - t]", "j += 1", "}", "x[i] = s[t]"], head="kernel k(x: f32[]) {\n    let i = grid(1)\n")),
    "turns that scale": (64, lambda n: body([
        "let s = shared.array(256, f32)", "let t = threadIdx.x", "var w: f32 = 1.0", "var j = 0", f"while j < {n} {{",
        "w = w * 0.99", "s[t] = x[t] * w", "syncthreads()", "x[t] += s[(t + 1) % 256]", "syncthreads()", "j += 1", "}"],
        head="kernel k(x: f32[]) {\n    let i = grid(1)\n")),
    "turns in turns": (16, lambda n: body([
        f"let s = shared.array({2 * n}, f32)", "let t = threadIdx.x", "s[t] = x[t]", "var size = 2", f"while size <= {n} {{",
        "var stride = size // 2", "while stride > 0 {", "syncthreads()", "let p = 2 * t - (t & (stride - 1))",
        "if s[p] > s[p + stride] { s[p], s[p + stride] = s[p + stride], s[p] }", "stride >>= 1", "}", "size <<= 1", "}",
        "x[t] = s[t]"], head="kernel k(x: f32[]) {\n    let i = grid(1)\n")),
    "turns known late": (250, lambda n: body([f"var m = {n}", "@unroll for j in range(m) { x[i] += x[j] * 1.5 }"])),
    "kernels": (15, lambda n: "".join(f"kernel k{j}(x: f32[]) {{ x[grid(1)] = {j} }}\n" for j in range(n))),
    "undeclared names": (1000, lambda n: "".join(f"kernel k{j}(x: f32[]) {{ x[0] = oot{j} }}\n" for j in range(n))),
    "names of a run block": (1000, lambda n: "run {\n" + "".join(f"    let v{j} = w{j}\n" for j in range(n)) + "}\n"),
    "record types": (2000, lambda n: "".join(f"record R{j} {{ x: f32, n: i32 }}\n" for j in range(n)) + "run { print(1) }\n"),
    "calls of functions": (1000, lambda n: "".join(f"fn fun{j}(a: i32) -> i32 {{ return a + {j} }}\n" for j in range(n)) + "run {\n"
                           + "".join(f"    print(fun{j}({j}))\n" for j in range(n)) + "}\n"),
    "launches": (1000, lambda n: "".join(f"kernel kern{j}(x: f32[]) {{ let i = grid(1); if i < x.size {{ x[i] = {j} }} }}\n" for j in range(n))
                 + "run {\n    let x = zeros(64)\n" + "".join(f"    kern{j}[1, 64](x)\n" for j in range(n)) + "}\n"),
    "functions of run blocks": (1000, lambda n: "".join(f"run fun{j}(a, b = {j}) {{\n    let c = a + b\n    return c\n}}\n" for j in range(n))
                                + "run { print(fun0(1)) }\n"),
    "names of an enum": (2000, lambda n: "enum E {\n" + "".join(f"    N{j} = {f'N{j - 1} + 1' if j else 0}\n" for j in range(n)) + "}\n"
                         + "run {\n" + "".join(f"    let v{j} = E.N{j}\n" for j in range(n)) + "}\n"),
    "letters of a name": (50000, lambda n: f"kernel k(x: f32[]) {{\n    let {'n' * n} = 1\n    x[0] = {'n' * (n - 1)}m\n}}\n"),
    "open brackets": (1000, lambda n: "kernel k(x: f32[]) { x[0] = " + "(" * n + "\n}\n"),
}


def run(command, text, runs):
    """The least seconds of processor time, and the first error's place and text or None."""
    best = 1e9
    for _ in range(runs):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(command, input=text, capture_output=True, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode < 0 or done.returncode > 125:
            sys.exit(f"{' '.join(command)}: exit status {done.returncode}\n{done.stderr[:500]}")
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        if best > 1:
            break
    error = re.search(r"^\S+?:(\d+:\d+: error: .*)", done.stderr, re.MULTILINE)
    if done.returncode and not error:
        sys.exit(f"{' '.join(command)}: no place in the error:\n{done.stderr[:500]}")
    return best, error and error.group(1)


def measure(kjit, shape, emit, quick, cpu):
    smallest, program = SHAPES[shape]
    checked = shape in ("undeclared names", "names of a run block", "record types", "names of an enum", "open brackets",
                        "letters of a name", "calls of functions", "launches", "functions of run blocks")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "g.knl")
        command = [kjit, "check", path] if checked else [kjit, "build", path, f"--emit={emit}", "-o", os.path.join(folder, "out")]
        command += [f"--cpu={cpu}"] if cpu and not checked and emit == "asm" else []
        times, sizes, bad, refused = [], [], "", ""
        pathlib.Path(path).write_text(program(1))
        start, _ = run(command, "", 3)
        for doubling in range(DOUBLINGS + 1):
            n = smallest << doubling
            pathlib.Path(path).write_text(program(n))
            seconds, error = run(command, "", 1 if quick else 3)
            if error and not checked:
                refused = error
                break
            most = LIMIT * ((1.5 if checked else 2) if quick else 1) * max(times[-1], FLOOR / 4) if times else FLOOR
            if times and seconds - start > max(FLOOR, most):    # a machine that others use is slow now and then
                seconds = min(seconds, run(command, "", RETRIES)[0])
            times.append(max(seconds - start, 0.0))
            sizes.append(n)
            if len(times) > 1 and times[-1] > max(FLOOR, most):
                bad += f" x{times[-1] / max(times[-2], 1e-3):.1f} at {n}"
            if seconds > LONGEST:
                bad += f" {seconds:.0f} s at {n}"
            if seconds > LONGEST * 4 or quick and seconds > 1.5:
                break
    return sizes, times, bad, refused


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kjit", default="build/kjit")
    parser.add_argument("--emit", default="asm,ptx")
    parser.add_argument("--cpu", help="a level of x86-64 in place of this CPU")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("shapes", nargs="*")
    args = parser.parse_args()
    failed = 0
    for emit in args.emit.split(","):
        print(f"| shape ({'host' if emit == 'asm' else emit}) | n | seconds at n, 2n, 4n, 8n, 16n | worst doubling |\n|---|---|---|---|")
        for shape in args.shapes or SHAPES:
            sizes, times, bad, refused = measure(args.kjit, shape, emit, args.quick, args.cpu)
            steps = [b / max(a, 1e-3) for a, b in zip(times, times[1:]) if b > FLOOR / 2]
            worst = f"x{max(steps):.1f}" if steps else "-"
            failed += bool(bad)
            print(f"| {shape} | {sizes[0] if sizes else '-'} | {', '.join(f'{t:.2f}' for t in times)}"
                  f"{'; refused: ' + refused if refused else ''} | {worst}{' **' + bad.strip() + '**' if bad else ''} |", flush=True)
    print(f"{failed} grow too fast")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
