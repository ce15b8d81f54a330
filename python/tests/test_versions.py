"""The one extension in every CPython from 3.10 on that is here: the tests of test_plain.py."""
import pathlib
import shutil
import subprocess
import unittest

from support import cases, main


def found():
    """{version: path} of those that run"""
    pythons = {}
    for minor in range(10, 20):
        path = shutil.which(f"python3.{minor}")
        if path and not subprocess.run([path, "-c", ""], stderr=subprocess.DEVNULL).returncode:
            pythons[f"3.{minor}"] = (path,)
    return pythons


@cases(found())
class Versions(unittest.TestCase):
    def check(self, path):
        plain = pathlib.Path(__file__).with_name("test_plain.py")
        done = subprocess.run([path, str(plain)], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    main()
