"""The samples are right, no check says otherwise, and all checks together take at most 20 times the processor time of a run
without them: samples.py KJIT FOLDER."""
import pathlib
import resource
import shlex
import subprocess
import sys

TIMES = 20


def run(kjit, file, *options):
    """The seconds of processor time that a run of the file takes; nothing and its messages if it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(kjit + ["run", str(file), "--device=cpu", *options], capture_output=True, text=True)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        return None, f"status {done.returncode}\n{done.stderr}"
    return used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime, ""


def main(kjit, folder):
    kjit, wrong, most = shlex.split(kjit), 0, 0.0
    files = sorted(pathlib.Path(folder).glob("*.knl"))
    for file in files:
        plain, said = run(kjit, file)
        checked, said = run(kjit, file, "--check=all") if plain is not None else (None, said)
        if checked is None or checked > TIMES * plain:
            wrong += 1
            print(f"{file}: {said or f'{plain:.2f} seconds, with all checks {checked:.2f}'}")
        else:
            most = max(most, checked / plain)
    print(f"{len(files)} samples, {wrong} wrong; all checks take at most {most:.1f} times as long")
    return 1 if wrong or not files else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
