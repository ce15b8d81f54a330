"""kjit bench: what it writes and shows is what the samples are, and what is fifty times as long is told: bench.py KJIT FOLDER."""
import math
import pathlib
import re
import shlex
import statistics
import subprocess
import sys
import tempfile

kjit, folder = shlex.split(sys.argv[1]), pathlib.Path(sys.argv[2])
ROW = re.compile(r" *([0-9.]+) +([0-9.]+) +([0-9.]+) +([0-9.]+) %  (.+)")
RATIO = re.compile(r" *([0-9.]+) +([0-9.]+) +([0-9.]+)   (.+)")
wrong = 0


def expect(truth, what):
    global wrong
    if not truth:
        wrong += 1
        print("wrong:", what)


def bench(*options, status=0):
    done = subprocess.run(kjit + ["bench", *map(str, options)], capture_output=True, text=True)
    expect(done.returncode == status, f"status {done.returncode} of {options}: {done.stderr}")
    return done


def read(path):
    lines = pathlib.Path(path).read_text().splitlines()
    expect(lines[0] == "ms,what", lines[0])
    samples = {}
    for line in lines[1:]:
        ms, what = line.split(",", 1)
        samples.setdefault(what, []).append(float(ms))
    return samples


def outside(n):
    """How many of n samples may be left out at each end, so that 95 of 100 such intervals have the median."""
    k, tail = 0, 2 / 2 ** n
    while tail <= 0.05:
        k += 1
        tail += 2 * math.comb(n, k) / 2 ** n
    return k


def rows_of(text):
    return {m[5]: [float(m[i]) for i in range(1, 5)] for m in map(ROW.fullmatch, text.splitlines()) if m}


with tempfile.TemporaryDirectory() as temporary:
    fast, slow, times = folder / "bench.knl", folder / "bench_slow.knl", f"{temporary}/times.csv"
    done = bench(fast, "--seconds=0.3", "-o", times)
    samples, rows = read(times), rows_of(done.stdout)
    expect("not shown" not in done.stdout, "what the program prints")
    expect(set(samples) == set(rows) >= {"work", "small", "the run block"}, f"rows {set(rows)}, samples {set(samples)}")
    runs = {len(s) for s in samples.values()}
    expect(len(runs) == 1 and f": {max(runs)} runs" in done.stdout, f"as many samples as runs: {runs}")
    for what, s in samples.items():
        middle, low, high, _ = rows[what]
        expect(abs(middle - statistics.median(s)) < 1e-3, f"the median of {what}: {middle}")
        k = outside(len(s))
        expect(abs(low - sorted(s)[k]) < 1e-3 and abs(high - sorted(s)[-1 - k]) < 1e-3, f"the interval of {what}: {low} to {high}")
    ratios = {}
    for options in ([slow, f"--against={fast}"], [slow, f"--compare={times}"], [fast, "rounds=1000", f"--compare={times}"]):
        said = bench("--seconds=2", *options).stdout
        expect(re.search(r"x slower than .*: work$", said, re.M), f"fifty times the work is slower:\n{said}")
    expect(re.search(r"x faster than .*: work$", bench("--seconds=2", fast, f"--against={slow}").stdout, re.M), "and turned round")
    pathlib.Path(f"{temporary}/bad.csv").write_text("ms,what\n1,a\nnan,b\n")
    said = bench(fast, f"--compare={temporary}/bad.csv", status=1).stderr
    expect("bad.csv:3: this is no 'milliseconds,what' of kjit bench" in said, said)
    said = bench(fast, f"--compare={fast}", status=1).stderr
    expect("was not written by kjit bench" in said, said)
    said = bench(fast, f"--compare={temporary}/none", status=1).stderr
    expect("cannot be read" in said, said)
    program = pathlib.Path(f"{temporary}/program.knl")
    program.write_text("run { print(1) }\n")
    said = bench(program, "-o", program, status=1).stderr
    expect("is there, and was not written by kjit bench" in said and program.read_text() == "run { print(1) }\n", said)
    expect("cannot be written" in bench(fast, "-o", f"{temporary}/none/x", status=1).stderr, "a folder that is none")
    pathlib.Path(f"{temporary}/other.csv").write_text("ms,what\n1,other\n")
    expect("has no times of what runs here" in bench(fast, "--seconds=0.1", f"--compare={temporary}/other.csv", status=1).stderr, "nothing alike")
    bench(fast, "--seconds=0", status=2)
    bench(fast, "rounds=x", status=2)
print(f"{wrong} wrong")
sys.exit(1 if wrong else 0)
