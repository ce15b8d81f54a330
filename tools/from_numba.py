#!/usr/bin/env python3
"""The table "From Numba": from_numba.py ROWS writes docs/from_numba.md; from_numba.py ROWS KJIT [--write] runs the rows'
programs and compares what they print. tests/numba/rows.txt says what a row is."""
import pathlib
import re
import subprocess
import sys
import tempfile

KINDS = {"same": "the same", "write": "write this instead", "differs": "**differs**"}
KERNEL = """kernel k(x: f32[], d: f64[], a: i32[], out: f32[], n: i32) {{
{0}}}
"""
LAUNCH = """run {
    let x, d, a, out = array([1.5, 2.5, -3.5]), array([0.1, 2.5], f64), array([7, -7, 0], i32), zeros(4)
    k[1, 1](x, d, a, out, 3)
    print(out)
}
"""
TITLE = """# From Numba

What a line of Numba CUDA is in kjit: the same, another line, or one that gives another result, and why. Nothing that
differs is left unsaid. Where a row differs and a program of Numba's would go on with other numbers, kjit has a warning,
which is named, or the row says "because". Each row is run by the tests with the program that stands with it in
[tests/numba/rows.txt](../tests/numba/rows.txt), from which `make docs` writes this page. In Python a kernel need not be
written anew: [`kjit.numba_port`](python.md#kernels-that-stay-as-they-are) takes it over with Numba's meaning.
"""


def rows(path):
    """Yields headings, as texts, and rows, as dictionaries."""
    text = pathlib.Path(path).read_text(encoding="utf-8").split("\n\n", 1)[1]
    for part in re.split(r"^(?=# |== )", text, flags=re.M):
        lines = part.rstrip("\n").split("\n")
        if lines[0].startswith("# "):
            yield lines[0][2:]
        elif lines[0].startswith("== "):
            yield row(lines)


def row(lines):
    found = {"kind": lines[0][3:], "N": "", "K": "", "B": "", "form": None, "code": [], "prints": [], "warns": []}
    for line in lines[1:]:
        mark, rest = line[:1], line[2:]
        if mark in ">!" and line[1:2] in (" ", ""):
            found["prints" if mark == ">" else "warns"].append(rest)
        elif found["form"]:
            found["code"].append(line)
        elif mark in "NKB":
            found[mark] = f"{found[mark]} {rest}".strip()
        elif line in ("kernel", "run", "file", "error"):
            found["form"] = line
        else:
            sys.exit(f"rows: {line}")
    return found


def program(found):
    code = found["code"]
    if found["form"] == "file":
        return "\n".join(code) + "\n"
    body = "".join(f"    {line}\n" for line in code)
    if found["form"] == "run":
        return "run {\n" + body + "}\n"
    return KERNEL.format(body) + (LAUNCH if found["form"] == "kernel" else "")


def document(path):
    out = [TITLE]
    for item in rows(path):
        if isinstance(item, str):
            out.append(f"\n## {item}\n\n| Numba | | kjit |\n| --- | --- | --- |\n")
            continue
        ours = item["K"] + (f"; because: {item['B']}" if item["kind"] == "differs" else
                            f"; {item['B']}" if item["B"] else "")
        out.append(f"| {item['N']} | {KINDS[item['kind']]} | {ours} |\n")
    return "".join(out)


def wrong(found, kjit, folder):
    """What the row's program does otherwise than it says; None: nothing."""
    (folder / "row.knl").write_text(program(found))
    runs = re.search(r"^run\b", program(found), re.M) is not None
    command = [*kjit.split(), "run", "--device=cpu", "row.knl"] if runs else [*kjit.split(), "check", "row.knl"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    warns = [w for w in re.findall(r"\[([a-z-]+)\]$", done.stderr, re.M) if not w.startswith("unused-")]
    if done.returncode:
        prints = re.findall(r": error: (.*)", done.stderr)
    else:
        prints = done.stdout.splitlines()
    if prints == found["prints"] and warns == found["warns"]:
        return None
    return f"prints {prints} for {found['prints']}, warns {warns} for {found['warns']}: {done.stderr}"


def main():
    path, *rest = sys.argv[1:]
    if not rest:
        print(document(path), end="")
        return 0
    bad = n = 0
    with tempfile.TemporaryDirectory() as folder:
        for item in rows(path):
            if isinstance(item, str):
                continue
            n += 1
            differs = item["kind"] == "differs"
            why = "differs without a reason" if differs and not item["B"] else wrong(item, rest[0], pathlib.Path(folder))
            if why:
                bad += 1
                print(f"{item['N']}: {why}")
    print(f"{n} rows, {bad} wrong")
    return bad > 0 or not n


if __name__ == "__main__":
    sys.exit(main())
