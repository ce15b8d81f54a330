"""kjit new, and kjit watch: a file is run again when it or one beside it changes, whatever its runs end with: watch.py KJIT."""
import os
import pathlib
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time

kjit, wrong = shlex.split(sys.argv[1]), 0
PATIENCE = 120  # seconds, of a machine that does much else


def expect(truth, what):
    global wrong
    if not truth:
        wrong += 1
        print("wrong:", what)


def run(*arguments):
    return subprocess.run(kjit + list(map(str, arguments)), capture_output=True, text=True)


class Watch:
    def __init__(self, *arguments):
        self.lines, self.seen = [], 0
        self.process = subprocess.Popen(kjit + ["watch", *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        text=True, start_new_session=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))

    def wait_for(self, text):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            for at in range(self.seen, len(self.lines)):
                if text in self.lines[at]:
                    self.seen = at + 1
                    return
            time.sleep(0.02)
        expect(False, f"'{text}' never came: {self.lines}")

    def end(self, sent):
        os.killpg(self.process.pid, sent)
        self.process.wait(PATIENCE)


with tempfile.TemporaryDirectory() as folder:
    file, other = pathlib.Path(folder, "a.knl"), pathlib.Path(folder, "b.knl")
    done = run("new", file.with_suffix(""))
    expect(done.returncode == 0 and f"{file}: try kjit run {file}" in done.stdout, done)
    text = file.read_text()
    expect(run("run", file, "--warn=error").returncode == 0 and run("fmt", "--check", file).returncode == 0, "what new writes")
    done = run("new", file)
    expect(done.returncode == 1 and "is there already" in done.stderr and file.read_text() == text, done)
    expect(run("new", f"{folder}/none/a").returncode == 1, "a folder that is none")

    expect(run("watch", f"{folder}/none.knl").returncode == 1, "a file that is none")
    expect(run("watch", "-").returncode == 2, "standard input")
    file.write_text("use \"b.knl\" as b\nrun { param n = 1; print(b.F * n) }\n")
    other.write_text("const F = 7\n")
    watch = Watch(file, "n=2")
    for now, said, end in (("const F = 7\n", "14", "done"), ("const F = 8\n", "16", "done"), ("const F = \n", "error", "exit code 3")):
        other.write_text(now)
        watch.wait_for(said)
        watch.wait_for(f"{end}; watching]")
    file.write_text("run { param n = 1\n assert(n == 3) }\n")
    watch.wait_for("exit code 1; watching]")
    os.unlink(file)
    time.sleep(0.3)
    new = pathlib.Path(folder, "new")
    new.write_text("run { param n = 1\n print(n * 50) }\n")
    new.rename(file)
    watch.wait_for("100")
    watch.wait_for("done; watching]")
    file.write_text("run { param n = 1\n while true { } }\n")
    time.sleep(0.5)
    file.write_text("run { param n = 1\n print(n + 5) }\n")  # which ends the run before
    watch.wait_for("7")
    watch.wait_for("done; watching]")
    file.write_text("run { param n = 1\n while true { } }\n")
    time.sleep(0.5)
    watch.end(signal.SIGINT)
    expect(watch.process.returncode in (130, -signal.SIGINT), f"Ctrl-C: {watch.process.returncode}")
print(f"{wrong} wrong")
sys.exit(1 if wrong else 0)
