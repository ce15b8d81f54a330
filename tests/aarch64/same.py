#!/usr/bin/env python3
"""Do programs leave the same bits in their arrays on two machines? tests/aarch64/same.py KJIT 'WRAPPER OTHER-KJIT' [FILE...]

Without files: those of tests/lang of what instruction sets decide (BY_LEVEL of tests/run), and the samples. A line each for
those that differ, and how many were compared."""
import concurrent.futures
import importlib.machinery
import importlib.util
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests"))
loader = importlib.machinery.SourceFileLoader("tests_run", str(ROOT / "tests" / "run"))
run = importlib.util.module_from_spec(importlib.util.spec_from_loader("tests_run", loader))
sys.dont_write_bytecode = True
loader.exec_module(run)


def digest(kjit, program, text):
    """What it leaves, less the device's name; or what went wrong."""
    options = run.RUN_LINE.search(text)
    flags = [o for o in options.group(1).split() if not o.startswith("--cpu=")] if options else []
    given = [g.replace("%S", str(program.parent)) for g in options.group(2).split()] if options else []
    command = [*kjit.split(), "run", "--device=cpu", "--digest", "--cache=off", *flags, str(program), *given]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    lines = [line for line in done.stdout.splitlines() if not line.startswith("device:")]
    return [f"status {done.returncode}", *lines, *(done.stderr.splitlines() if done.returncode else [])]


def compare(here, there, program):
    text = program.read_text()
    lang = program.parent.name != "samples"
    if run.UNORDERED.search(text) or (lang and not run.RUN_LINE.search(text)):
        return None
    a, b = digest(here, program, text), digest(there, program, text)
    return "" if a == b else f"{program.relative_to(ROOT)}: " + next(
        (f"'{x}' and '{y}'" for x, y in zip(a, b) if x != y), "one has more")


def main():
    here, there, *files = sys.argv[1:]
    programs = [pathlib.Path(f).resolve() for f in files] or [
        *(p for p in sorted((ROOT / "tests/lang").glob("*.knl")) if run.BY_LEVEL.match(p.stem)),
        *sorted((ROOT / "samples").glob("*.knl"))]
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        results = [r for r in pool.map(lambda p: compare(here, there, p), programs) if r is not None]
    differing = [r for r in results if r]
    print(*(f"differs: {r}" for r in differing), f"{len(results) - len(differing)} the same, {len(differing)} differ", sep="\n")
    return bool(differing)


if __name__ == "__main__":
    sys.exit(main())
