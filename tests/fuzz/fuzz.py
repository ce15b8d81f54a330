#!/usr/bin/env python3
"""Generates programs, runs them with kjit in many configurations, and compares all that comes out with a reference that
knows the language by docs/language.md alone: `make fuzz SECONDS=n SEED=s`; docs/testing.md says more.

The exit status is 0 when nothing was found."""
import argparse
import collections
import gc
import multiprocessing
import os
import re
import sys
import time
import traceback

import gen_program
import planted
import report
import runner
from machine import Exhausted, Undefined
from rng import Rng
from rows import Rows
from rows_table import ENOUGH

MOST_REDUCED = 6        # findings of each process that are made small
TOO_LARGE = r"error: '[\w.]+' is too large: \d+ instructions"     # a limit of language.md, which programs may come to
SELDOM = 500            # programs of which one may
# What the compiler does not do yet as the reference has it: left out unless --without says otherwise.
PENDING = ""


def arguments():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--build", default="build", help="where kjit was built")
    p.add_argument("--driver", help="a CUDA driver, in the place of the driver double that was built")
    p.add_argument("--seconds", type=float, help="run for so long")
    p.add_argument("--programs", type=int, help="or for so many programs")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    p.add_argument("--runs", type=int, default=3, help="configurations for each program")
    p.add_argument("--without", default=PENDING, help="features to leave out, with commas: "
                   "float-division, int-f16, zeros, range-ends, in-writes, run-functions, random, grid_sync")
    p.add_argument("--ignore", help="findings whose text has this regular expression are not reported")
    p.add_argument("--reduce", type=int, default=400,
                   help="how many tries making a finding small may take; 0: not at all")
    p.add_argument("--program", type=int, help="only the program of this seed, which is printed")
    p.add_argument("--folder", help="where findings are written (BUILD/fuzz)")
    return p.parse_args()


def main():
    gc.set_threshold(50_000)        # trees have few cycles
    args = arguments()
    args.options = gen_program.Options([w for w in args.without.split(",") if w])
    args.folder = args.folder or os.path.join(args.build, "fuzz")
    os.makedirs(args.folder, exist_ok=True)
    if args.program is not None:
        return one(args)
    return many(args)


# ---- One program ----

class Result:
    """What came of one program."""

    def __init__(self, seed):
        self.seed, self.runs, self.rows, self.findings, self.note = seed, 0, None, [], None
        self.large = False


def is_too_large(finding):
    return finding and finding.kind == "refused" and re.search(TOO_LARGE, finding.text)


def check_program(tool, args, seed, to_reduce):
    """Runs one program; gives its Result with descriptions of what was found."""
    result = Result(seed)
    program = gen_program.make_program(seed, args.options)
    rows = Rows()
    rows.program(program)
    result.rows = rows.counts
    check = runner.Check(tool, program)
    known = {}
    try:
        check.reference(True)
        if seed % 16 == 0:
            check.valid()
    except Exhausted:
        result.note = "too long"
        return result
    found = []
    for config in runner.configurations(Rng(seed ^ 0x5eed), program, tool, args.runs):
        finding = check.run(config, known)
        if is_too_large(finding):
            result.large = True
        elif finding and not (args.ignore and re.search(args.ignore, finding.text)):
            found.append(finding)
    result.runs = check.runs
    if not found:
        about(tool, args, seed, result)
        return result
    check.valid()
    described, reported = [], set()
    for finding in found:
        if finding.key() in reported:
            described.append(f"{finding.kind}, program {seed}, {finding.config}: the same")
            continue
        reported.add(finding.key())
        described.append(describe(tool, args, seed, finding, known, to_reduce))
    result.findings = described
    return result


def about(tool, args, seed, result):
    """What is said about every so manieth program: of an index that is outside, of warnings that are errors."""
    ask = {1: planted.outside, 2: planted.warned}.get(seed // 2 % 8)
    if not ask:
        return
    program = gen_program.make_program(seed, args.options)
    config = runner.configurations(Rng(seed ^ 0xab0), program, tool, 1)[0]
    finding = ask(tool, program, config)
    result.runs += 1
    result.rows[f"{ask.__name__}"] += 1
    if is_too_large(finding):
        result.large = True
    elif finding and not (args.ignore and re.search(args.ignore, finding.text)):
        path = os.path.join(args.folder, f"{ask.__name__}-{seed}.knl")
        with open(path, "w", encoding="utf-8") as f:
            f.write("".join(f"# {name}\n{text}\n" for name, text in program.files().items()))
        text = "\n".join("    " + line for line in finding.text.strip().split("\n")[:8])
        result.findings = [f"{ask.__name__}, {finding.kind}, program {seed}, {finding.config}:\n{text}\n    {path}"]


def describe(tool, args, seed, finding, known, to_reduce):
    """Makes a finding small, writes it, and says what it is."""
    program = gen_program.make_program(seed, args.options)      # the reduction changes it
    path = os.path.join(args.folder, f"{finding.kind}-{seed}-{'cuda' if finding.config.on_cuda else 'cpu'}.knl")
    original = runner.Finding(finding.kind, finding.config, finding.text)
    small = finding
    if to_reduce and args.reduce:
        small = report.reduced(tool, program, finding, known if program.unknown() else None, args.reduce)
    report.write(path, program, small, original)
    text = "\n".join("    " + line for line in original.text.strip().split("\n")[:6])
    return f"{finding.kind}, program {seed}, {original.config}:\n{text}\n    {path}"


def one(args):
    tool = runner.Tool(args.build, os.path.join(args.folder, "one"), args.driver)
    print(gen_program.make_program(args.program, args.options).text())
    result = check_program(tool, args, args.program, True)
    print("\n".join(result.findings) or f"{result.runs} runs, nothing found")
    return 1 if result.findings else 0


# ---- Many ----

def work(args, number, deadline, queue):
    """A process: every so manieth program."""
    tool = runner.Tool(args.build, os.path.join(args.folder, f"work{number}"), args.driver)
    index, reduced, parent = number, 0, os.getppid()
    while (args.programs is None or index < args.programs) and (deadline is None or time.monotonic() < deadline):
        if os.getppid() != parent:
            return
        seed = (args.seed << 24) + index
        try:
            result = check_program(tool, args, seed, reduced < MOST_REDUCED)
            reduced += bool(result.findings)
        except Undefined as error:
            result = Result(seed)
            result.findings = [f"the generator made a program that is undefined, program {seed}: {error}"]
        except Exception:
            result = Result(seed)
            last = traceback.format_exc().strip().split("\n")
            result.findings = [f"the fuzzer failed, program {seed}: {last[-1]}\n" + "\n".join(last[-7:-1])]
        queue.put(result)
        index += args.jobs
    queue.put(None)


def many(args):
    if args.seconds is None and args.programs is None:
        args.seconds = 60.0
    tool = runner.Tool(args.build, os.path.join(args.folder, "work0"), args.driver)
    if args.driver and not tool.double:
        sys.exit(f"there is no driver {args.driver}")
    print(f"configurations: -O0 to -O3, workers, --fp-contract, layouts, blocks; "
          f"{'--cpu=' + ', '.join(tool.cpus) if tool.cpus else 'no --cpu'}; "
          f"{args.driver or ('the driver double' if tool.double else 'no driver double')}", flush=True)
    start = time.monotonic()
    deadline = start + args.seconds if args.seconds is not None else None
    queue = multiprocessing.Queue()
    workers = [multiprocessing.Process(target=work, args=(args, k, deadline, queue)) for k in range(args.jobs)]
    for w in workers:
        w.start()
    totals = collect(queue, len(workers), start)
    for w in workers:
        w.join()
    return summary(args, totals, time.monotonic() - start)


def collect(queue, working, start):
    totals = {"programs": 0, "runs": 0, "too long": 0, "too large": 0, "findings": [], "rows": Rows()}
    said = start
    while working:
        result = queue.get()
        if result is None:
            working -= 1
            continue
        totals["programs"] += 1
        totals["runs"] += result.runs
        totals["too long"] += result.note == "too long"
        totals["too large"] += result.large
        if result.rows:
            totals["rows"].counts.update(result.rows)
        for text in result.findings:
            totals["findings"].append(text)
            print(f"finding {len(totals['findings'])}: {text}", flush=True)
        if time.monotonic() - said > 60:
            said = time.monotonic()
            print(f"{said - start:.0f} s: {totals['programs']} programs, {totals['runs']} runs, "
                  f"{len(totals['findings'])} findings", flush=True)
    return totals


def summary(args, totals, seconds):
    rows, without = totals["rows"], args.options.without
    missing = rows.missing(without)
    print("\ncoverage: how many programs have each row of the language")
    grouped = collections.Counter()
    for row, count in sorted(rows.counts.items()):
        grouped[row] = count
    width = 4
    items = [f"{row}: {count}" for row, count in sorted(grouped.items())]
    for k in range(0, len(items), width):
        print("  " + " | ".join(items[k:k + width]))
    enough = totals["programs"] >= ENOUGH
    named = missing if enough or len(missing) <= 12 else missing[:12] + ["..."]
    print(f"rows that no program has: {len(missing)}{': ' if missing else ''}{', '.join(named)}")
    failed = bool(totals["findings"])
    if missing and enough:
        failed = True
        print(f"error: after {ENOUGH} programs every row must have been generated")
    if totals["too large"] > 1 + totals["programs"] // SELDOM:
        failed = True
        print(f"error: more than one in {SELDOM} programs has a kernel that is too large")
    print(f"{totals['programs']} programs ({totals['too long']} left out: too long; {totals['too large']} refused in "
          f"some configuration: too large), {totals['runs']} runs, "
          f"{len(totals['findings'])} findings, {seconds:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
