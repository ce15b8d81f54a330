"""Runs a command that prints for minutes, whose reader goes away behind the first line: it is to end soon, with the status
of such an end."""
import subprocess
import sys

with subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE) as process:
    process.stdout.readline()
    process.stdout.close()
    status = process.wait(timeout=60)
sys.exit(status != 141)
