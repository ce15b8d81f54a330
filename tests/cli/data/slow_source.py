"""A run ends with its timeout also while its source is read: slow_source.py KJIT TEMP.fifo"""
import os
import subprocess
import sys
import time

kjit, path = sys.argv[1:]
SLACK = 5  # a busy machine takes longer
if os.path.exists(path):
    os.unlink(path)
os.mkfifo(path)


def ends(name, command, **streams):
    begin = time.monotonic()
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, **streams)
    took = time.monotonic() - begin
    assert done.returncode == 124, (name, done.returncode, done.stderr)
    assert done.stderr == b"kjit: the time has run out\n" and done.stdout == b"", (name, done.stderr)
    assert 0.5 <= took < 0.5 + SLACK, (name, took)


read, write = os.pipe()
ends("nothing comes", [kjit, "run", "-", "--timeout=500ms"], stdin=read)
ends("nobody opens the other end", [kjit, "run", path, "--timeout=500ms"])
held = os.open(path, os.O_RDWR)
os.write(held, b"run { print(1) }\n")
ends("the end does not come", [kjit, "run", path, "--timeout=500ms"])

# one that comes in time is run, with what is left of the time
begin = time.monotonic()
late = subprocess.Popen([kjit, "run", "-", "--device=cpu", "--timeout=2s"], stdin=subprocess.PIPE, stderr=subprocess.PIPE)
time.sleep(1)
late.stdin.write(b"run { var n = 0\n while n >= 0 { n += 1 } }\n")
late.stdin.close()
error = late.stderr.read()
assert late.wait() == 124 and b"error: the time has run out" in error, error
assert time.monotonic() - begin < 2 + SLACK, time.monotonic() - begin

# one without an end is refused when it is too long, with or without a timeout
for option in ([], ["--timeout=2m"]):
    endless = subprocess.Popen(["yes", "# a comment"], stdout=subprocess.PIPE)
    done = subprocess.run([kjit, "run", "-", *option], stdin=endless.stdout, stderr=subprocess.PIPE, timeout=120)
    endless.stdout.close()
    endless.wait()
    assert done.returncode == 3 and done.stderr == b"<stdin>:1:1: error: the source is over 64 MiB\n", done.stderr[:500]
