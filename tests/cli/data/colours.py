"""Escape sequences on a terminal only: colours.py KJIT FILE"""
import os
import pty
import subprocess
import sys

kjit, path = sys.argv[1:]


def on_terminal(**environment):
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.pop("NO_COLOR", None)
        os.environ.update(environment)
        os.execv(kjit, [kjit, "check", path])
    text = b""
    while True:
        try:
            more = os.read(terminal, 4096)
        except OSError:
            break
        if not more:
            break
        text += more
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 3
    return text.replace(b"\r\n", b"\n").decode()


coloured = on_terminal(TERM="xterm")
assert "\033[1;31merror:" in coloured and "\033[1;32m" in coloured
plain = on_terminal(TERM="xterm", NO_COLOR="1")
assert "\033" not in plain and "error: 'length' is not declared" in plain
assert "\033" not in on_terminal(TERM="dumb")
piped = subprocess.run([kjit, "check", path], capture_output=True, text=True, env=dict(os.environ, TERM="xterm"))
assert piped.stderr == plain, (piped.stderr, plain)
