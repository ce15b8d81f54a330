"""Standard output that is closed, full or not read to its end: pipes.py KJIT DATA"""
import pathlib
import subprocess
import sys

kjit, data = sys.argv[1], pathlib.Path(sys.argv[2])
hello, kernels = str(data / "hello.knl"), str(data / "kernels.knl")


def run(*arguments, **keywords):
    done = subprocess.run([kjit, *arguments], stderr=subprocess.PIPE, text=True, **keywords)
    return done.returncode, done.stderr


# The reader goes after the first line: no message, and 141 as if SIGPIPE had ended it.
process = subprocess.Popen([kjit, "run", hello, "n=100000000"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
assert process.stdout.readline() == b"line 0\n"
process.stdout.close()
assert process.wait() == 141
assert process.stderr.read() == b""

for arguments in (["run", hello], ["run", hello, "n=1000000"], ["builtins"], ["--help"], ["build", kernels, "--emit=ast"]):
    with open("/dev/full", "w") as full:
        code, text = run(*arguments, stdout=full)
    assert code == 1, (arguments, code)
    assert text == "kjit: standard output cannot be written: No space left on device\n", (arguments, text)

# An error of the program is told although its output is lost.
with open("/dev/full", "w") as full:
    code, text = run("run", hello, "n=x", stdout=full)
assert code == 2 and "param 'n' is an int" in text, (code, text)
