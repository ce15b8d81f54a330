"""Runs a command with a terminal for its standard output; shows what it wrote there and its exit code."""
import os
import subprocess
import sys

ours, theirs = os.openpty()
code = subprocess.run(sys.argv[1:], stdout=theirs).returncode
os.close(theirs)
try:
    shown = os.read(ours, 65536)
except OSError:  # nothing was written
    shown = b""
print(shown.decode(errors="replace"))
print("exit code", code)
