"""Each launch of kinds.knl fails again from its capsule, on both devices alike: kinds.py KJIT TEMP [DOUBLE]"""
import os
import pathlib
import subprocess
import sys

kjit, temp = sys.argv[1], pathlib.Path(sys.argv[2])
double = {**os.environ, "KJIT_CUDA_DRIVER": sys.argv[3]} if len(sys.argv) > 3 else None
devices = ["cpu"] + ["cuda"] * (double is not None)
LAUNCHES = 14


def run(device, *arguments):
    done = subprocess.run([kjit, *arguments, f"--device={device}"], env=double, capture_output=True, text=True)
    return done.returncode, done.stderr


wrong = 0
for which in range(LAUNCHES):
    for device in devices:
        capsule = temp / f"{which}{device}.kjc"
        code, told = run(device, "run", "-Woff", f"{temp}/kinds.knl", f"which={which}", f"--capsule={capsule}")
        if code != 1 or ": error: " not in told or not capsule.exists():
            print(f"which={which} on {device}: {code}, {told}")
            wrong += 1
            continue
        for again in devices:
            code, told_again = run(again, "replay", str(capsule))
            if code != 1 or not told.startswith(told_again):
                print(f"which={which} of {device} on {again}: {code}\n{told_again}after\n{told}")
                wrong += 1
print(wrong, "wrong")
sys.exit(wrong > 0)
