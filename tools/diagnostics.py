#!/usr/bin/env python3
"""diagnostics.py KJIT [DRIVER]: docs/diagnostics.md, what errors are about, with a program that has each and what is said
of it. The rules are the rows of compiler/base/diag.def, the programs tests/error/data/rules/CODE.knl or made below.
DRIVER: the driver double, for what only a GPU says.

The exit status is 1 when a program has another error than its own, and when a rule has no program."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
RUNS = {"warp", "assert", "divergent-barrier", "grid-size", "unfilled", "run", "bounds", "race", "unset", "timeout"} # errors of a run
OPTIONS = {"race": ["--check=race"], "unset": ["--check=init"], "timeout": ["--timeout=1s"]} # what a run is told
HEAD = """# Errors and warnings

What an error or warning can be about. The code in front is what `kjit check --diagnostics=json` and `kjit_diagnostic.code` have; it
stays the same from version to version, the words of a message may change; the one of a warning stands behind it. Written by
`make docs`.
"""

INTRODUCTIONS = {"Warnings": """What is no error, and hardly what was meant; beside an error of the source none is shown. `kjit run`, `check`, `build` and `info` tell them
and go on. `--warn=no-shadowed,no-unused-value` leaves some out, `--warn=off` all of them, `--warn=error` makes them errors;
`-W` is short for `--warn`. Of C programs `kjit_compile_options.warn` takes the same list. What silences a warning where the
line is meant as it stands is said by its hint. Where one counts, a param is what the run is given, `kjit run f.knl n=1024`, and else its
default.

"""}


def made():
    """Programs that are too long to be shown: what they are, and their text."""
    yield "too-deep", "More brackets within each other than the limit.", \
        f"kernel k(out: f32[]) {{ out[0] = {'(' * 2000}1.0{')' * 2000} }}\n"
    yield "too-large", "A function whose calls double and double again.", \
        "fn g0(x: f32) -> f32 { return sin(x) }\n" + \
        "".join(f"fn g{i}(x: f32) -> f32 {{ return g{i - 1}(x) * g{i - 1}(x + 1.0) }}\n" for i in range(1, 24)) + \
        "kernel k(out: f32[]) { out[0] = g23(out[0]) }\n"
    yield "too-many", "More arrays for the host to fill than the limit.", \
        "".join(f"const TABLE{i}: f32[4]\n" for i in range(2000))
    yield "record-size", "A record with more scalars than the limit.", \
        "record Large {\n" + "".join(f"    field{i}: f64\n" for i in range(9000)) + "}\n"


def told(kjit, command, path, *options, **more):
    """What kjit says of the program."""
    run = subprocess.run([kjit, command, *options, path.name], cwd=path.parent, capture_output=True, text=True,
                         timeout=60, **more)
    return run.stderr


def codes(kjit, path):
    lines = told(kjit, "check", path, "--diagnostics=json").splitlines()
    return [json.loads(line)["code"] for line in lines]


def on_gpu(kjit, driver, folder):
    """grid-size: a grid that waits and is larger than the double's device."""
    path = folder / "grid-size.knl"
    path.write_text("kernel k(out: f32[]) {\n    grid_sync()\n    out[0] = 1.0\n}\n\n"
                    "run {\n    let out = zeros(64, f32)\n    k[1 << 20, 1024](out)\n}\n")
    return told(kjit, "run", path, "--device=cuda", env={**os.environ, "KJIT_CUDA_DRIVER": str(driver)})


def broken_toolkit(kjit, folder):
    """internal: a math library that is none."""
    home = folder / "cuda" / "nvvm" / "libdevice"
    home.mkdir(parents=True)
    (home / "libdevice.10.bc").write_text("no bitcode\n")
    path = folder / "internal.knl"
    path.write_text("kernel k(out: f32[]) { out[0] = sin(out[1]) }\n")
    environment = {**os.environ, "CUDA_HOME": "cuda", "CUDA_PATH": "cuda"}
    return told(kjit, "build", path, "--emit=ptx", "--arch=sm_80", "--math=libdevice", env=environment)


def shown(kjit, code, path):
    """A short program and what is said of it; the codes of that."""
    said = told(kjit, "run" if code in RUNS else "check", path, *OPTIONS.get(code, []))
    said = "".join(line + "\n" for line in said.splitlines() if not line.startswith("device: "))
    text = path.read_text().replace("\0", "\u2400")
    print(f"```\n{text}```\n\n```\n{said.rstrip()}\n```\n")
    return [code] if code in RUNS and "error: " in said else codes(kjit, path)


def described(kjit, driver, code, folder):
    """The same of one that is too long, or needs more than a file; None: there is none."""
    if code == "internal":
        return [code] if "error: cannot compile 'k'" in broken_toolkit(kjit, folder) else []
    if code == "cancelled":
        print("A program's that calls `kjit_stream_cancel` or `kjit_cancel`; the place is the loop where the kernel was.\n")
        return [code]
    if code == "grid-size":
        print("A GPU's: a kernel with grid_sync(), and more blocks than its multiprocessors take.\n")
        return [code] if not driver or "cannot wait here" in on_gpu(kjit, driver, folder) else []
    for name, what, text in made():
        if name == code:
            print(f"{what}\n")
            (folder / f"{code}.knl").write_text(text)
            return codes(kjit, folder / f"{code}.knl")
    return None


def main():
    kjit, driver = [pathlib.Path(a).resolve() for a in (sys.argv[1:] + [""])[:2]]
    driver = driver if len(sys.argv) > 2 else None
    examples = {path.stem: path for path in (ROOT / "tests/error/data/rules").glob("*.knl")}
    wrong = []
    print(HEAD)
    with tempfile.TemporaryDirectory() as folder:
        for line in (ROOT / "compiler/base/diag.def").read_text().splitlines():
            if section := re.match(r"/\* ---- (.*) ---- \*/", line):
                print(f"## {section[1]}\n")
                print(INTRODUCTIONS.get(section[1], ""), end="")
            if not (row := re.match(r'RULE\(\w+, "([\w-]+)", \w+, "(.*)"\)', line)):
                continue
            code, rule = row[1], json.loads(f'"{row[2]}"')
            print(f"### {code}\n\n{rule}\n")
            path = examples.pop(code, None)
            found = shown(kjit, code, path) if path else described(kjit, driver, code, pathlib.Path(folder))
            if not found or set(found) != {code}:
                wrong.append(f"{code}: its program has {found}")
    wrong += [f"{code}: a program of no rule" for code in examples]
    print("\n".join(wrong), file=sys.stderr)
    return len(wrong) > 0


if __name__ == "__main__":
    sys.exit(main())
