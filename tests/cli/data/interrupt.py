"""SIGINT during a run, once and twice: interrupt.py KJIT TEMP.knl"""
import signal
import subprocess
import sys

kjit, path = sys.argv[1:]


def start(text):
    with open(path, "w") as file:
        file.write(text)
    return subprocess.Popen([kjit, "run", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))


def ends(process):
    # Its output is kept until it ends: the print is only there to be flushed.
    import time
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


for body in ("while true { }", "for i in range(100000000000) { }", "var n = 0\n while n >= 0 { n = (n + 1) % 7 }"):
    code, out, err = ends(start('run {\n print("begun")\n' + body + "\n}\n"))
    assert code == 130, (body, code, err)
    assert out == "begun\n" and "error: interrupted" in err and ".knl:" in err, (body, out, err)

# A launch that does not end is ended a second after the first one, or by a second one at once.
spin = """kernel spin(x: i64[]) { while x[0] == 0 { atomic.add(x, 1, 1) } }
run { spin[1, 1](zeros(2, i64)) }
"""
code, out, err = ends(start(spin))
assert code == 130 and err == "kjit: interrupted\n", (code, err)
process = start(spin)
import time
time.sleep(0.5)
process.send_signal(signal.SIGINT)
time.sleep(0.3)
assert process.poll() is None
process.send_signal(signal.SIGINT)
assert process.wait(timeout=60) == -signal.SIGINT
