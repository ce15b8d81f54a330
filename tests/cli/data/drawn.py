"""What plot and show draw on a terminal: drawn.py KJIT FILE"""
import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios

kjit, path = sys.argv[1:]


def on_terminal(columns, **environment):
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.pop("NO_COLOR", None)
        os.environ.update(environment)
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        os.execv(kjit, [kjit, "run", path])
    text = b""
    while True:
        try:
            more = os.read(terminal, 4096)
        except OSError:
            break
        if not more:
            break
        text += more
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, text
    return text.replace(b"\r\n", b"\n").decode()


coloured = on_terminal(50, TERM="xterm")
assert "\033[36m⠒⠒\033[0m up   \033[33m⠒⠒\033[0m down\n" in coloured, coloured
assert "\033[38;2;255;0;0m\033[48;2;0;0;255m▀\033[38;2;0;255;0m\033[48;2;255;255;255m▀\033[0m\n" in coloured, coloured
plain = on_terminal(50, TERM="xterm", NO_COLOR="1")
assert "\033" not in plain and "* up   + down\n" in plain and max(map(len, plain.split("\n"))) == 50, plain
assert on_terminal(50, TERM="dumb") == plain
assert max(map(len, on_terminal(120, TERM="dumb").split("\n"))) == 120
piped = subprocess.run([kjit, "run", path], capture_output=True, text=True, env=dict(os.environ, TERM="xterm")).stdout
assert "\033" not in piped and max(map(len, piped.split("\n"))) == 72, piped
