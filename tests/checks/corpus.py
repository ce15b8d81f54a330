"""Runs the programs of a file: corpus.py [--check=LIST] KJIT DOUBLE FILE [NAME...].

A program begins with a line `== name: what is expected`: `right`, or `error ...`, words of the message; after `|` how many
checks of all kernels are proved, left to the launch and tested, as `--emit=checks` counts them, with the block of 64 threads
that all use. `error 5:14 4:5` is one at line 5, column 14, with a note at the other place, if there is one. With --check the
programs are checked for that; for what the CPU alone finds, there, and for `CPU error ...`, too. Programs take turns in
running with -O0 and on the double, behind the CPU, where those two are; KJIT_TEST_ALL=1: all run everywhere."""
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile


def programs(path):
    for part in re.split(r"^== ", pathlib.Path(path).read_text(), flags=re.M)[1:]:
        head, text = part.split("\n", 1)
        name, expected = head.split(": ", 1)
        expected, _, counts = expected.partition(" | ")
        yield name, expected.strip(), counts.strip(), text


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout + done.stderr


def counted(kjit, file):
    _, out = run(kjit + ["build", "--emit=checks", "--block=64", file])
    found = re.findall(r"^kernel .*: (\d+) proved, (\d+) by the launch, (\d+) tested", out, re.M)
    return " ".join(str(sum(int(row[i]) for row in found)) for i in range(3)), out


def is_told(expected, out):
    if not re.fullmatch(r"\d+:\d+( \d+:\d+)?", expected):
        return expected in out
    at, *other = expected.split()
    noted = all(f"k.knl:{place}: note: " in out for place in other)
    return f"k.knl:{at}: error: " in out and noted and out.count("error:") == 1


def main(*args):
    options = [a for a in args if a.startswith("--check=")]
    kjit, double, path, *names = args[len(options):]
    kjit, double = shlex.split(kjit), shlex.split(double)
    ways = {"CPU": kjit + ["run", "--device=cpu"], "-O0": kjit + ["run", "--device=cpu", "-O0", "--workers=1"],
            "double": double + kjit + ["run", "--device=cuda"]}
    if re.search("race|init", " ".join(options)):
        del ways["double"]
    wrong = total = 0
    third = [way for way in ("-O0", "double") if way in ways] if len(ways) > 2 and "KJIT_TEST_ALL" not in os.environ else []
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "k.knl")
        for name, expected, counts, text in programs(path):
            if names and name not in names:
                continue
            total += 1
            pathlib.Path(file).write_text(text)
            for way, command in ways.items():
                if way == "double" and expected.startswith("CPU "):
                    continue
                if way in third and way != third[total % 2]:
                    continue
                status, out = run(command + options + ["--warn=off", file])
                good = status == 0 if expected == "right" else status > 0 and is_told(re.sub("^(CPU )?error ", "", expected), out)
                if not good:
                    wrong += 1
                    print(f"{name}: {way}: not {expected}: status {status}\n{out}")
            if counts:
                found, out = counted(kjit, file)
                if found != counts:
                    wrong += 1
                    print(f"{name}: checks are {found}, not {counts}\n{out}")
    print(f"{total} programs, {wrong} wrong")
    return 1 if wrong or not total else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
