#!/usr/bin/env python3
"""assembles.py KJIT ARCH [N/M] FILE...: does ptxas take the PTX of every kernel there, and is it as it should be?

N/M takes every M-th file, from the N-th on: little changes from one architecture to the next, and in `make test`
each file is assembled for one; KJIT_TEST_ALL=1 takes all for each. No load or store is generic, and there is local memory only where the source has local arrays."""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

GENERIC = re.compile(r"^\s*(?:@!?%p\d+\s+)?(?:ld|st|atom|red)(?:\.(?:relaxed|volatile|nc|gpu|cta|sys|v[24]))*"
                     r"\.(?:add|and|or|min|max|cas|exch|[busf]\d+)", re.MULTILINE)
# of 64 bits, by a constant whose low word is zero: target/ptx_words.c
FACTOR = re.compile(r"^\s*(?:mul|mad)\.lo\.s64\s+%rd\d+, %rd\d+, (-?\d+)[,;]", re.MULTILINE)
LOCAL = re.compile(r"^\s*\.local|(?:ld|st)\.local", re.MULTILINE)


def check(kjit, ptxas, arch, path, folder):
    """What is wrong with a file's kernels; None when nothing is."""
    built = subprocess.run([*kjit, "build", "--emit=ptx", f"--arch={arch}", path], capture_output=True, text=True)
    if built.returncode != 0:
        return built.stderr
    ptx, source = built.stdout, pathlib.Path(path).read_text()
    if ".entry" not in ptx:
        return None  # no kernels in it
    generic = GENERIC.search(ptx)
    if generic:
        return f"a generic access: {generic.group().strip()}"
    for factor in FACTOR.finditer(ptx):
        if int(factor[1]) % 2**32 == 0:
            return f"a product whose low word is zero: {factor[0].strip()}"
    if "local.array" not in source and LOCAL.search(ptx):
        return "local memory, and no local array in the source"
    text = pathlib.Path(folder, f"{abs(hash(path))}.ptx")
    text.write_text(ptx)
    level = "3" if os.environ.get("KJIT_TEST_ALL") else "0"  # its optimizer refuses nothing
    part = ["-c"] if ".extern .func" in ptx else []  # to be linked with the device runtime
    assembled = subprocess.run([ptxas, f"-O{level}", *part, f"-arch={arch}", "-o", os.devnull, text], capture_output=True, text=True)
    return assembled.stdout + assembled.stderr if assembled.returncode != 0 else None


def main():
    kjit, arch, files = sys.argv[1].split(), sys.argv[2], sys.argv[3:]
    share = re.fullmatch(r"(\d+)/(\d+)", files[0])
    if share and os.environ.get("KJIT_TEST_ALL"):
        files = files[1:]
    elif share:
        files = files[1:][int(share[1]) - 1 :: int(share[2])]
    ptxas = shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas"
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        wrong = list(pool.map(lambda path: check(kjit, ptxas, arch, path, folder), files))
    for path, what in zip(files, wrong):
        if what:
            print(f"{path}: {what.strip()}")
    print(f"{len(files)} files, {sum(w is not None for w in wrong)} wrong")
    return any(wrong)


if __name__ == "__main__":
    sys.exit(main())
