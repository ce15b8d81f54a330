#!/usr/bin/env python3
"""Measures the tests: plants small bugs, one at a time, and runs the tests until one of them fails.

    make mutants                          # all of them
    make mutants MUTANTS="gang-lanes ..." # some, by name, by file, or by table (cuda.txt)
    tests/mutants/mutants.py --check      # is the table current? (a test of `make test`)

The tables are the .txt files beside this one. An entry is a name and, indented by four, `file`, `breaks` (what goes
wrong), `tests` (those that are likely to find it, tried first: lang/x.knl and the like, api-x and unit-x for programs,
cuda/lang/x.knl on the driver double, same/api-x and same/lang-x with it), for a bug that no test finds `survives` and
why, and the change: lines with - are the text, which the file has once, lines with + what stands there instead.

It works in a copy of the tree and of what was built, under BUILD/mutants, where make compiles the one file and links.
The likely tests run first, then groups of tests from the cheap to the dear (GROUPS), all but those of the installation
and those that repeat one under other conditions; the first failure ends it. A test that fails counts only if it
passes without the bug; one that takes longer than --timeout fails, so a hang is caught. The exit status is 1 when a bug
survives that the table doesn't know to, or one is caught that it says survives."""
import argparse
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FIELDS = ("file", "breaks", "tests", "survives")
# What runs after the likely tests: each group in one run of lit, the cheap ones first.
GROUPS = (
    ("lang", "regression", "device"),
    ("runblock", "error", "run", "ptx", "litmus", "samples"),
    ("generated",), # the programs of tests/unit and tests/api, the documentation's examples
    ("ops",),
    ("same",),
    ("cuda",),
    ("cli", "driver", "double"),
    ("fuzz",),
)
# Folders and suites whose tests need kjit alone.
COMMAND = {"lang", "regression", "device", "runblock", "error", "ptx", "litmus", "samples", "ops", "cuda"}
SLOW = ("fixed_seed_san",) # builds anew
MEMORY = 10 << 30 # bytes of a process: more is what a planted bug asks for


class Mutant:
    def __init__(self, name, table):
        self.name, self.table, self.file, self.breaks, self.tests, self.survives = name, table, "", "", "", ""
        self.old, self.new = [], []

    def texts(self):
        return "\n".join(self.old), "\n".join(self.new)

    def area(self):
        parts = self.file.split("/")
        if parts[0] == "compiler":
            return "lowering" if parts[1] == "lower" else "analysis"
        return f"{parts[2].upper()} device" if parts[1] == "device" and len(parts) == 4 else "runtime"


def read_table(path):
    mutants = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        change = re.fullmatch(r"    ([-+])(?: (.*))?", line)
        field = re.fullmatch(r"    ([a-z]+) +(\S.*)", line)
        if not line or line.startswith("#"):
            continue
        if re.fullmatch(r"[a-z0-9-]+", line):
            mutants.append(Mutant(line, path.name))
        elif change and mutants:
            (mutants[-1].old if change[1] == "-" else mutants[-1].new).append(change[2] or "")
        elif field and mutants and field[1] in FIELDS:
            setattr(mutants[-1], field[1], field[2])
        else:
            sys.exit(f"{path}:{number}: this is no part of an entry: {line}")
    return mutants


def read_tables():
    return [m for path in sorted(HERE.glob("*.txt")) for m in read_table(path)]


def check(mutants, root):
    """Says what is wrong with the table; gives whether something is."""
    wrong, names = [], set()
    for m in mutants:
        path = root / m.file
        old, new = m.texts()
        if m.name in names:
            wrong.append(f"{m.name}: the name is there twice")
        names.add(m.name)
        if not m.file or not m.breaks or not m.old or not m.new:
            wrong.append(f"{m.name}: the entry lacks its file, what it breaks, or the change")
        elif not path.is_file():
            wrong.append(f"{m.name}: there is no {m.file}")
        elif path.read_text().count(old) != 1:
            wrong.append(f"{m.name}: {m.file} has its text {path.read_text().count(old)} times, not once")
        elif old == new:
            wrong.append(f"{m.name}: it changes nothing")
        for test in m.tests.split():
            if not source_of(test, root).exists():
                wrong.append(f"{m.name}: there is no test {test}")
    for line in wrong:
        print(line)
    return bool(wrong)


def source_of(test, root):
    """The file of the repository behind a test's name in a table."""
    base = test.split("/")[-1]
    suite, _, name = base.partition("-")
    if test.startswith("cuda/"):
        return root / "tests" / test[len("cuda/"):]
    if test.startswith("same/") and suite != "api":
        return root / ("samples" if suite == "samples" else f"tests/{suite}") / f"{name}.knl"
    if suite in ("unit", "api") and name:
        return root / "tests" / suite / f"{name}.c"
    return root / "tests" / test


class Tree:
    """The copy, with its own build, and how its tests are run."""

    def __init__(self, build, options):
        self.original = build
        self.root = build / "mutants" / options.tree
        self.build = self.root / "build"
        self.options = options
        self.broken = set() # tests that fail without any bug
        self.sound = {} # and those that are known to pass, with their seconds

    def make(self, *goals):
        done = subprocess.run(["make", f"-j{self.options.jobs}", "BUILD=build", *goals], cwd=self.root, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode == 0, done.stdout

    def prepare(self):
        """Makes the tree what the repository's files are now, and builds it."""
        listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, check=True,
                                stdout=subprocess.PIPE, text=True).stdout.split("\0")
        files = {f for f in listed if f and (ROOT / f).is_file()}
        fresh = not self.build.exists()
        if fresh:
            shutil.rmtree(self.root, ignore_errors=True)
            left_out = shutil.ignore_patterns("mutants", "out", "fuzz", "valgrind")
            shutil.copytree(self.original, self.build, symlinks=True, ignore=left_out)
            # each has the path of the library that it was linked with
            shutil.rmtree(self.build / "tests" / "api", ignore_errors=True)
        else:
            for path in [p for p in self.root.rglob("*") if p.is_file() and self.build not in p.parents]:
                if str(path.relative_to(self.root)) not in files:
                    path.unlink()
        for name in files:
            to = self.root / name
            if not to.exists() or to.read_bytes() != (ROOT / name).read_bytes():
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, to)
                if not fresh:
                    os.utime(to)
        # programs that load the library need not be made again when that is
        programs = [(f"build/tests/api/{p.stem}", p) for p in sorted((self.root / "tests" / "api").glob("*.c"))]
        missing = [goal for goal, source in programs if not (self.root / goal).exists()
                   or (self.root / goal).stat().st_mtime < source.stat().st_mtime]
        double = [f"build/tests/double/check/{p.stem}" for p in (self.root / "tests/double/check").glob("*.c")]
        ok, log = self.make("all", "build/tests/double/libcuda.so.1", *double, *missing)
        if not ok:
            sys.exit(f"mutants: the tree does not build\n{log}")
        self.load_suite()

    def load_suite(self):
        """tests/run of the copy, as a module: it knows lit, the environment and the generated suites."""
        sys.path.insert(0, str(self.root / "tests"))
        loader = importlib.machinery.SourceFileLoader("suite", str(self.root / "tests" / "run"))
        self.suite = importlib.util.module_from_spec(importlib.util.spec_from_loader("suite", loader))
        loader.exec_module(self.suite)
        config = subprocess.check_output([self.root / "tools" / "find-llvm.sh"], text=True).strip()
        self.llvm = pathlib.Path(subprocess.check_output([config, "--bindir"], text=True).strip())
        self.generate(self.build)

    def generate(self, build):
        self.suite.generate(build, build / "tests" / "generated")
        self.suite.generate_cuda(build, build / "tests")

    def paths(self, test):
        """A name of a table, or of a group, as lit takes it."""
        base = test.split("/")[-1]
        generated = self.build / "tests" / "generated"
        if test == "generated":
            return [generated]
        if test in ("same", "cuda"):
            return [self.build / "tests" / test]
        if test.startswith("same/"):
            return [self.build / "tests" / "same" / f"{base}.test"]
        if test.startswith("cuda/"): # lit takes what it finds below the folder with its configuration
            return [self.build / "tests" / test]
        if base.startswith(("unit-", "api-")):
            program = generated / "programs" / f"{base}.test"   # some run on the driver double alone
            return [program if program.exists() else self.build / "tests" / "same" / program.name]
        return [self.root / "tests" / test]

    def lit(self, paths, stop, build=None):
        """Runs tests; gives [(name, failed, seconds)] of those that ran."""
        build = build or self.build
        out = build / "tests" / "out"
        out.mkdir(parents=True, exist_ok=True)
        results = out / "mutants.json"
        results.unlink(missing_ok=True)
        env = self.suite.environment(build, self.llvm, out)
        command = self.suite.find_lit(self.llvm)
        command += [f"-j{self.options.jobs}", "-o", str(results), "-q", "--order=lexical"]
        command += [f"--timeout={self.options.timeout}", f"--filter-out={'|'.join(SLOW)}"]
        command += ["--max-failures=1"] if stop else []
        limit = self.options.timeout * (1 if stop else 2)
        process = subprocess.Popen(command + [str(p) for p in paths], env=env, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, start_new_session=True,
                                   preexec_fn=lambda: self.limits(limit))
        try:
            process.wait(timeout=self.options.longest)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if not results.exists():
            return []
        tests = json.loads(results.read_text())["tests"]
        ran = [t for t in tests if t["code"] not in self.suite.SKIPPED]
        return [(t["name"], t["code"] not in self.suite.PASSED, t.get("elapsed") or 0.0) for t in ran]

    def limits(self, seconds):
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))

    def path_of(self, name):
        """lit's name of a test, "kjit :: lang/x.knl", as a path in the copy."""
        suite, _, path = name.partition(" :: ")
        folder = {"kjit": self.root / "tests", "kjit-generated": self.build / "tests" / "generated",
                  "kjit-cuda": self.build / "tests" / "cuda", "kjit-same": self.build / "tests" / "same"}[suite]
        return folder / path

    def is_sound(self, name, seconds):
        """Does a test pass without the bug, and in a fraction of the time if it took too long with it? It runs once,
        with what the repository has built."""
        if name not in self.sound and name not in self.broken:
            path = str(self.path_of(name)).replace(str(self.build), str(self.original))
            path = path.replace(str(self.root), str(ROOT))
            ran = self.original_lit(path)
            if ran and not any(failed for _, failed, _ in ran):
                self.sound[name] = ran[0][2]
            else:
                self.broken.add(name)
        return name in self.sound and (seconds < self.options.timeout or self.sound[name] < self.options.timeout / 6)

    def original_lit(self, path):
        """A test of the repository itself: by a module of its own tests/run, whose paths are the repository's."""
        loader = importlib.machinery.SourceFileLoader("original", str(ROOT / "tests" / "run"))
        module = importlib.util.module_from_spec(importlib.util.spec_from_loader("original", loader))
        loader.exec_module(module)
        copy, self.suite = self.suite, module
        if not (self.original / "tests" / "same").exists() or not pathlib.Path(path).exists():
            module.generate(self.original, self.original / "tests" / "generated")
            module.generate_cuda(self.original, self.original / "tests")
        ran = self.lit([path], False, self.original)
        self.suite = copy
        return ran

    def find_failure(self, paths):
        """The first test to fail that passes without the bug, or None."""
        failed = [(name, seconds) for name, bad, seconds in self.lit(paths, True) if bad and name not in self.broken]
        for name, seconds in failed:
            if self.is_sound(name, seconds):
                return name, seconds
        if failed: # what lit stopped at does not count: once more, without stopping
            for name, bad, seconds in self.lit(paths, False):
                if bad and self.is_sound(name, seconds):
                    return name, seconds
        return None


def groups(mutant):
    """What to run, in order: lists of names."""
    likely = mutant.tests.split()
    cheap = [t for t in likely if t.endswith((".knl", ".test")) or "-" in t]
    first = [cheap] if cheap else []
    first += [[t for t in likely if t not in cheap]] if len(cheap) < len(likely) else []
    rest = [list(g) for g in GROUPS]
    if any(part in mutant.file for part in ("cuda", "nvptx", "block/gpu", "target/ptx.c")):
        rest.sort(key=lambda g: g[0] not in ("same", "cuda"))
    return first + rest


def folder_of(unit):
    """Where a program of unit tests is made."""
    return "tests/unit" if (ROOT / "tests" / "unit" / f"{unit}.c").exists() else "tests/double/unit"


def goals_of(names):
    """What make has to build for tests: programs of tests/unit have kjit in them, those of tests/api load it."""
    units = [n[len("unit-"):] for n in names if n.startswith("unit-")]
    if "generated" in names:
        units = [path.stem for path in sorted((ROOT / "tests" / "unit").glob("*.c"))]
        units += [path.stem for path in sorted((ROOT / "tests" / "double" / "unit").glob("*.c"))]
    if units:
        return ["all", *(f"build/{folder_of(unit)}/{unit}" for unit in units)]
    command = all(n.endswith(".knl") or n in COMMAND or n.startswith(("same/", "ops/")) and "api-" not in n
                  for n in names)
    return ["build/kjit"] if command else ["all"]


def try_mutant(tree, mutant, options):
    path = tree.root / mutant.file
    text = path.read_text()
    old, new = mutant.texts()
    start = time.monotonic()
    try:
        path.write_text(text.replace(old, new))
        for names in groups(mutant)[:1 if options.likely else None]:
            built, log = tree.make(*goals_of(names))
            if not built:
                return "DOES NOT BUILD", log.strip()[-800:], time.monotonic() - start
            found = tree.find_failure([p for name in names for p in tree.paths(name)])
            if found:
                return "caught", f"{found[0]} ({found[1]:.1f} s)", time.monotonic() - start
        return "SURVIVED", mutant.survives or mutant.breaks, time.monotonic() - start
    finally:
        path.write_text(text)


def chosen(mutants, names):
    if not names:
        return mutants
    found = [m for m in mutants if {m.name, m.file, m.table} & set(names)]
    known = {n for m in mutants for n in (m.name, m.file, m.table)}
    unknown = set(names) - known
    if unknown:
        sys.exit(f"mutants: there is no {', '.join(sorted(unknown))}")
    return found


def summary(results, seconds):
    print()
    areas = {}
    for mutant, verdict in results:
        areas.setdefault(mutant.area(), []).append(verdict)
    for area, verdicts in sorted(areas.items()):
        print(f"{area:12} {len(verdicts):4}  caught {verdicts.count('caught'):4}")
    caught = sum(v == "caught" for _, v in results)
    print(f"{caught} of {len(results)} caught, {100 * caught / len(results):.1f} %, in {seconds / 60:.0f} minutes")
    surprises = [m for m, v in results if (v == "caught") == bool(m.survives)]
    for m in surprises:
        print(f"not as the table says: {m.name}")
    return bool(surprises)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("mutants", nargs="*", help="names, files or tables; without: all")
    parser.add_argument("--build", default="build", help="where the tree was built")
    parser.add_argument("--check", action="store_true", help="look at the table only")
    parser.add_argument("--list", action="store_true", help="name the entries")
    parser.add_argument("--likely", action="store_true", help="run the likely tests only")
    parser.add_argument("--tree", default="tree", help="the copy's name: two runs at once need two")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--timeout", type=int, default=120, help="seconds a test may take")
    parser.add_argument("--longest", type=int, default=3600, help="seconds a run of lit may take")
    options = parser.parse_args()
    mutants = read_tables()
    wrong = check(mutants, ROOT)
    if options.check or wrong:
        print(f"{len(mutants)} entries")
        return int(wrong)
    mutants = chosen(mutants, options.mutants)
    if options.list:
        for m in mutants:
            print(f"{m.name:22} {m.file}: {m.breaks}")
        return 0
    tree = Tree(pathlib.Path(options.build).resolve(), options)
    start = time.monotonic()
    tree.prepare()
    print(f"prepared in {time.monotonic() - start:.0f} s", flush=True)
    start = time.monotonic()
    results = []
    for m in mutants:
        verdict, by, seconds = try_mutant(tree, m, options)
        results.append((m, verdict))
        print(f"{verdict:8} {seconds:6.1f} s  {m.name}: {by}", flush=True)
    return int(summary(results, time.monotonic() - start))


if __name__ == "__main__":
    sys.exit(main())
