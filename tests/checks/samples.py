"""The samples are right, and no check says otherwise: samples.py KJIT FOLDER LIST."""
import pathlib
import shlex
import subprocess
import sys

kjit, folder, checks = sys.argv[1:]
files = sorted(pathlib.Path(folder).glob("*.knl"))
wrong = 0
for file in files:
    done = subprocess.run(shlex.split(kjit) + ["run", str(file), "--device=cpu", f"--check={checks}"], capture_output=True, text=True)
    if done.returncode:
        wrong += 1
        print(f"{file}: status {done.returncode}\n{done.stderr}")
print(f"{len(files)} samples, {wrong} wrong")
sys.exit(1 if wrong or not files else 0)
