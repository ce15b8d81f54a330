"""A run that the library cannot end, as it waits for who reads what it prints, is ended a second behind its timeout:
late.py KJIT TEMP.knl"""
import subprocess
import sys
import time

kjit, path = sys.argv[1:]
TIMEOUT, PATIENCE, ATTEMPTS = 0.5, 1, 5  # a busy machine may take longer
with open(path, "w") as file:
    file.write('run { for i in range(100000) { print("' + "x" * 79 + '") } }\n')
for attempt in range(ATTEMPTS):
    process = subprocess.Popen([kjit, "run", path, f"--timeout={TIMEOUT}s"], stdout=subprocess.PIPE)
    process.stdout.read(1)
    begin = time.monotonic()
    code = process.wait(60)
    took = time.monotonic() - begin
    process.stdout.close()
    assert code == 124, code
    if took < TIMEOUT + PATIENCE + 0.25:
        break
assert TIMEOUT + PATIENCE - 0.5 < took < TIMEOUT + PATIENCE + 0.25, took
