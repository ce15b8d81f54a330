"""Runs a sample on every pair of driver and chip that there is: versions.py KJIT LIBRARY PROGRAM.

The double refuses PTX that is newer than its driver or of another chip. Beyond that the PTX must be the newest that both
know, and what is too old must be said in one sentence."""
import os
import re
import subprocess
import sys

# The driver, as cuDriverGetVersion counts, the newest PTX it takes, and the newest chip it has.
DRIVERS = [(11080, "7.8", 90), (12000, "8.0", 90), (12010, "8.1", 90), (12020, "8.2", 90), (12030, "8.3", 90),
           (12040, "8.4", 90), (12050, "8.5", 90), (12060, "8.5", 90), (12080, "8.7", 120), (12090, "8.8", 121),
           (13000, "9.0", 121)]
CHIPS = (75, 80, 86, 89, 90, 100, 120)
OLD = [(11040, "11.4"), (10020, "10.2")]


def run(command, driver, chip):
    env = dict(os.environ, KJIT_CUDA_DRIVER=library, KJIT_DOUBLE_CUDA=str(driver), KJIT_DOUBLE_CHIP=str(chip))
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def newest_known():
    """The newest PTX that this build's LLVM writes, for a driver from the future."""
    _, text = run([kjit, "build", "--emit=ptx", program], 99000, 90)
    return tuple(map(int, re.search(r"^\.version (\d+)\.(\d+)", text, re.M).groups()))


kjit, library, program = sys.argv[1:]
wrong = tried = 0
most = newest_known()
for driver, version, newest in DRIVERS:
    for chip in (c for c in CHIPS if c <= newest):
        tried += 1
        status, text = run([kjit, "run", "--device=cuda", program, "n=1000"], driver, chip)
        _, ptx = run([kjit, "build", "--emit=ptx", program], driver, chip)
        expected = "%d.%d" % min(tuple(map(int, version.split("."))), most)
        heads = (f".version {expected}\n", f".target sm_{chip}\n")
        if status or not all(head in ptx for head in heads):
            wrong += 1
            print(f"CUDA {driver}, sm_{chip}: expected {heads}, status {status}\n{text}{ptx[:200]}")
for driver, name in OLD:
    tried += 1
    status, text = run([kjit, "run", "--device=cuda", program], driver, 80)
    sentence = f"the NVIDIA driver is too old: it has CUDA {name}, kjit needs 11.8 or newer: install driver 520 or newer"
    if not status or sentence not in text:
        wrong += 1
        print(f"CUDA {driver}: status {status}\n{text}")
print(f"{tried} pairs, {wrong} wrong")
sys.exit(wrong > 0)
