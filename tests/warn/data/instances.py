"""instances.py STD TESTS KJIT...: no warning is told of a file of the library, alone and with what its test calls it with.
Warnings are of the file given, and generic functions have types where they are called: so the two become one file."""
import pathlib
import re
import subprocess
import sys
import tempfile

USE = re.compile(r"^use .*\n", re.MULTILINE)
APART = {"order", "top", "warp"}  # without a test, or with names that hide what the test calls


def joined(library, test):
    name = library.stem
    texts = library.read_text(), test.read_text()
    own = re.search(rf"^use std\.{name}(?: as (\w+))?$", texts[1], re.MULTILINE)
    uses = {u for t in texts for u in USE.findall(t) if not re.match(rf"use std\.{name}\b", u)}
    called = re.sub(rf"(?<![\w.]){own.group(1) or name}\.(?=[a-z_])", "", USE.sub("", texts[1]))
    return "".join(sorted(uses)) + USE.sub("", texts[0]) + called


def main():
    std, tests, *kjit = sys.argv[1:]
    files = sorted(pathlib.Path(std).glob("*.knl"))
    if not files:
        sys.exit(f"{std} has no files")
    with tempfile.TemporaryDirectory() as folder:
        for library in files:
            paths = [library]
            if library.stem not in APART:
                paths.append(pathlib.Path(folder) / library.name)
                paths[1].write_text(joined(library, pathlib.Path(tests) / library.name))
            for path in paths:
                run = subprocess.run([*kjit, "check", "--warn=error", path], capture_output=True, text=True)
                if run.returncode or run.stderr:
                    sys.exit(f"{path}: {run.stderr}")


main()
