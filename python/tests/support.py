"""What the tests share: tables of cases, and modules that are compiled once."""
import functools
import os
import signal
import subprocess
import sys
import unittest

import kjit

SAXPY = """
# y += a * x
kernel saxpy(a: f32, x: f32[], y: f32[]) {
    let i = grid(1)
    if i < y.size { y[i] += a * x[i] }
}
"""
ENDLESS = """
kernel endless(x: f32[]) {
    var n = 1
    while n != 0 { n = n * 3 | 1; x[0] = f32(n) }
}
"""


@functools.lru_cache(maxsize=None)
def module(source, **options):
    return kjit.compile(source, **options)


def cases(rows):
    """Decorates a class with check(self, *row): a test for each row of {name: row}."""
    def decorate(cls):
        for number, (name, row) in enumerate(rows.items()):
            label = "".join(c if c.isalnum() else "_" for c in name)
            setattr(cls, f"test_{number:03}_{label}", lambda self, row=row: self.check(*row))
        return cls
    return decorate


def python(code, *arguments, **environment):
    """Runs a program of its own: the completed process, with its texts. Whoever runs the tests may ignore Ctrl-C: not it."""
    environment = {**os.environ, "PYTHONWARNINGS": "ignore::DeprecationWarning", **environment}  # of forks beside threads
    return subprocess.run([sys.executable, "-c", code, *arguments], env=environment, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120,
                          preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))


def main():
    unittest.main(verbosity=1)
