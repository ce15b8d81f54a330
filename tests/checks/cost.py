"""What checks cost grows with what they look at, and not with its square: cost.py KJIT.

Each program runs in seconds, and would take minutes, or several times as long as its counterpart, if somebody looked through
all that was before each time."""
import os
import pathlib
import resource
import shlex
import signal
import subprocess
import sys
import tempfile

SECONDS, MIB, TIMES = 40, 80, 4  # of processor time, however busy the machine is
AGAIN = 3  # so often is measured what seems to take longer: a busy machine slows one run, not all

# Each turn of thread 1 is one more release, and asks for one that thread 0 made before all of them.
RELEASES = """kernel k(x: i32[], lock: i32[], n: i32, out: i32[]) {
    if threadIdx.x == 0 {
        x[0] = 7
        atomic.exch(lock, 0, 1)
    }
    if threadIdx.x == 1 {
        for i in range(n) {
            if atomic.exch(lock, 1, i) >= 0 and atomic.exch(lock, 0, 1) == 1 { out[0] += x[0] }
        }
    }
}
run { k[1, 2](zeros(1, i32), zeros(2, i32), %d, zeros(1, i32)) }
"""

# Thread 1 knows of the first release, and asks for it when there are many more.
OLD_RELEASE = """kernel k(x: i32[], lock: i32[], n: i32, out: i32[]) {
    let t = threadIdx.x
    if t == 0 { x[0] = 7; atomic.exch(lock, 0, 1) }
    if t == 1 { atomic.exch(lock, 0, 2) }
    if t == 0 { for i in range(n) { atomic.exch(lock, 1, i) } }
    if t == 1 { for i in range(n) { out[0] += x[0] } }
}
run { k[1, 2](zeros(1, i32), zeros(2, i32), %d, zeros(1, i32)) }
"""

# What one variable is made of is known when it is known of the one before.
CHAIN = """kernel k(x: i32[], n: i32) {{
{declared}
    for i in range(n) {{
        if {asked} == 0 {{ x[0] = 1 }}
        {asked} = {first}
{moved}
        {last} = x[0]
    }}
    x[{first}] = 2
}}
run {{ k[1, 1](zeros(5, i32), 3) }}
"""


def chain(n, back):
    names = [f"v{i}" for i in range(n)]
    moved = [f"        {a} = {b}" for a, b in zip(names, names[1:])]
    return CHAIN.format(declared="\n".join(f"    var {name}: i32 = 0" for name in ["asked"] + names), asked="asked",
                        moved="\n".join(reversed(moved) if back else moved), first=names[0], last=names[-1])


def run(kjit, file, source, *options):
    """Its seconds; and the most memory that any has had so far, in MiB."""
    pathlib.Path(file).write_text(source)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run(kjit + ["run", "--device=cpu", "--warn=off", *options, file], capture_output=True, text=True,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1)))
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        sys.exit(f"{SECONDS} seconds of processor time are over: {options}\n{source[:1000]}")
    if done.returncode:
        sys.exit(f"status {done.returncode}: {options}\n{source[:1000]}{done.stderr}")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime - before, used.ru_maxrss / 1024


def main(kjit):
    kjit, wrong = shlex.split(kjit), 0
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "k.knl")
        (_, few), (_, many) = (run(kjit, file, RELEASES % n, "--check=race") for n in (1, 2000000))
        run(kjit, file, OLD_RELEASE % 400000, "--check=race")
        if many - few > MIB:
            wrong += 1
            print(f"releases take {many - few:.0f} MiB")
        for check, n in ("race", 4000), ("index", 12000):
            there = back = float("inf")
            for _ in range(AGAIN):
                there, back = (min(best, run(kjit, file, chain(n, way), "--check=" + check, "-O0")[0])
                               for way, best in ((False, there), (True, back)))
                if max(there, back) <= TIMES * min(there, back):
                    break
            else:
                wrong += 1
                print(f"{check}: a chain of variables takes {there:.2f} seconds, the other way {back:.2f}")
    print(f"{wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
