#!/usr/bin/env python3
"""The tables "From ...": from_rows.py ROWS writes docs/from_*.md; from_rows.py ROWS KJIT runs the rows' programs and
compares what they print. tests/numba/rows.txt says what a row is. A programs.md beside the rows ends the page."""
import pathlib
import re
import subprocess
import sys
import tempfile

KINDS = {"same": "the same", "write": "write this instead", "differs": "**differs**", "not": "not there"}
KERNEL = """kernel k(x: f32[], d: f64[], a: i32[], out: f32[], n: i32) {{
{0}}}
"""
LAUNCH = """run {
    let x, d, a, out = array([1.5, 2.5, -3.5]), array([0.1, 2.5], f64), array([7, -7, 0], i32), zeros(4)
    k[1, 1](x, d, a, out, 3)
    print(out)
}
"""
HELD = """Each row is run by the tests with the program that stands with it in
[{0}](../{0}), from which `make docs` writes this page."""
# The folder of the rows: what is ported, and what the page says before its tables.
PAGES = {
    "numba": ("Numba", """What a line of Numba CUDA is in kjit: the same, another line, or one that gives another result, and why. Nothing that
differs is left unsaid. Where a row differs and a program of Numba's would go on with other numbers, kjit has a warning,
which is named, or the row says "because". Each row is run by the tests with the program that stands with it in
[tests/numba/rows.txt](../tests/numba/rows.txt), from which `make docs` writes this page. In Python a kernel need not be
written anew: [`kjit.numba_port`](python.md#kernels-that-stay-as-they-are) takes it over with Numba's meaning.
"""),
    "from_cuda": ("CUDA C", """What a word of CUDA C is in kjit: the same, another one, one that gives another result, or none, and why.
Below the tables stand [six programs](#saxpy) in both languages.
A kernel and the code that launches it are one file, compiled when it runs: there is no `nvcc`, no header and no `main`.
""" + HELD.format("tests/from_cuda/rows.txt") + "\n"),
    "from_numpy": ("NumPy", """What a line of NumPy is in kjit: the same, another line, one that gives another result, or none, and why.
Run blocks compute with whole arrays as NumPy does, on the CPU and on a GPU; `np.` goes. Examples use `x = arange(6, f32)` and `a = x.reshape(2, 3)`.
""" + HELD.format("tests/from_numpy/rows.txt") + """
In Python itself kjit's kernels take NumPy's arrays as they are: [python.md](python.md).
"""),
}


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
    name, text = PAGES[pathlib.Path(path).parent.name]
    out = [f"# From {name}\n\n{text}"]
    for item in rows(path):
        if isinstance(item, str):
            out.append(f"\n## {item}\n\n| {name} | | kjit |\n| --- | --- | --- |\n")
            continue
        ours = item["K"] + (f"; because: {item['B']}" if item["kind"] == "differs" else
                            f"; {item['B']}" if item["B"] and item["K"] else item["B"])
        out.append(f"| {item['N']} | {KINDS[item['kind']]} | {ours} |\n")
    programs = pathlib.Path(path).with_name("programs.md")
    return "".join(out) + ("\n" + programs.read_text(encoding="utf-8") if programs.exists() else "")


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
            reasoned = item["kind"] in ("differs", "not")
            why = "no reason is given" if reasoned and not item["B"] else wrong(item, rest[0], pathlib.Path(folder))
            if why:
                bad += 1
                print(f"{item['N']}: {why}")
    print(f"{n} rows, {bad} wrong")
    return bad > 0 or not n


if __name__ == "__main__":
    sys.exit(main())
