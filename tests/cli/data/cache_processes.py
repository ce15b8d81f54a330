"""Runs kjit many times at once on one cache: see cache_processes.test."""
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

KERNELS, PROCESSES, KILLS = 50, 64, 200 if "KJIT_TEST_ALL" in os.environ else 70
folder, kjit = pathlib.Path(sys.argv[1]), sys.argv[2:]
cache = folder / "cache"
program = folder / "many.knl"
program.write_text("".join(f"kernel k{i}(x: i32[]) {{ if grid(1) < x.size {{ x[grid(1)] += {i} }} }}\n" for i in range(KERNELS))
                   + "run {\n    let x = zeros(3, i32)\n"
                   + "".join(f"    k{i}[1, 32](x)\n" for i in range(KERNELS)) + "    print(x)\n}\n")
wanted = f"[{sum(range(KERNELS))} {sum(range(KERNELS))} {sum(range(KERNELS))}]\n"


def start(**more):
    return subprocess.Popen([*kjit, "run", "--workers=1", "--time", str(program)], text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, env=dict(os.environ, KJIT_CACHE_DIR=str(cache)), **more)


def entries():
    return len(list(cache.glob("*.kjit")))


def compiled(times):
    return sum(line.startswith("time: compile") for line in times.splitlines())


running = [start() for _ in range(PROCESSES)]
results = [p.communicate() for p in running]
assert all(p.returncode == 0 for p in running), results
assert all(out == wanted for out, _ in results), results
total = sum(compiled(times) for _, times in results)
assert total == KERNELS, f"{total} compilations of {KERNELS} kernels"
assert entries() == KERNELS, entries()

random.seed(1)
for _ in range(KILLS):
    for path in random.sample(sorted(cache.glob("*.kjit")), min(10, entries())):
        path.unlink()
    p = start(start_new_session=True)
    time.sleep(random.uniform(0, 0.03))
    os.killpg(p.pid, signal.SIGKILL)
    p.communicate()
out, times = start().communicate()
assert out == wanted, out
out, times = start().communicate()
assert out == wanted and compiled(times) == 0, times
assert entries() == KERNELS, entries()
print("ok")
