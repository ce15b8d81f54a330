"""SIGINT during a run, once and twice: interrupt.py KJIT TEMP.knl"""
import json
import os
import signal
import subprocess
import sys
import time

kjit, path = sys.argv[1:]
BEGUN = 0.25  # seconds of processor time, by which the run is where it stays: starting up takes a fifth of it
TICK = os.sysconf("SC_CLK_TCK")


def start(text, options=()):
    with open(path, "w") as file:
        file.write(text)
    return subprocess.Popen([kjit, "run", path, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))


def processor_time(process):
    with open(f"/proc/{process.pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def begin(text, options=()):
    """The process, once it has begun: its output is kept until it ends, so its work shows that."""
    process = start(text, options)
    while processor_time(process) < BEGUN:
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    return process


def ends(process):
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    return process.returncode, out, err


for body in ("while true { }", "for i in range(100000000000) { }", "var n = 0\n while n >= 0 { n = (n + 1) % 7 }"):
    code, out, err = ends(begin('run {\n print("begun")\n' + body + "\n}\n"))
    assert code == 130, (body, code, err)
    assert out == "begun\n" and "error: interrupted" in err and ".knl:" in err, (body, out, err)

# A launch that does not end is ended a second after the first one, or by a second one at once.
spin = """kernel spin(x: i64[]) { while x[0] == 0 { atomic.add(x, 1, 1) } }
run { print("begun")
 spin[1, 1](zeros(2, i64)) }
"""
code, out, err = ends(begin(spin))
assert code == 130 and out == "begun\n" and err == f"kjit: interrupted in kernel 'spin' ({path}:1), grid (1, 1, 1), block (1, 1, 1)\n", (code, out, err)
code, out, err = ends(begin(spin, ["--diagnostics=json"]))
assert code == 130 and json.loads(err)["message"] == f"interrupted in kernel 'spin' ({path}:1), grid (1, 1, 1), block (1, 1, 1)", err
for attempt in range(50):  # on a busy machine the second one may come after that second
    process = begin(spin)
    process.send_signal(signal.SIGINT)
    time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    code = process.wait()
    if code == -signal.SIGINT:
        break
    assert code == 130, code
assert code == -signal.SIGINT, code

# Nobody reads what was printed: the run ends all the same, in a kernel, and while it prints.
full = "run {\n for i in range(N) { print(\"" + "x" * 79 + "\") }\n spin[1, 1](zeros(2, i64)) }\n"
for lines, streams in (830, [subprocess.STDOUT]), (100000, [subprocess.PIPE, subprocess.STDOUT]):
    for stderr in streams:
        with open(path, "w") as file:
            file.write(spin.partition("run")[0] + full.replace("N", str(lines)))
        process = subprocess.Popen([kjit, "run", path], stdout=subprocess.PIPE, stderr=stderr,
                                   preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))
        while processor_time(process) < BEGUN and lines < 1000:
            time.sleep(0.02)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130, (lines, stderr, process.returncode)
        process.stdout.close()
