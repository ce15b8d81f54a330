"""All .knl files below the repository's folders, formatted: all.py KJIT ROOT FOLDER. Those that parse keep their tree
(the command looks itself), stay as they are the second time, and come to the same from lines that were moved about."""
import pathlib
import random
import re
import shutil
import subprocess
import sys

kjit, root, out = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
BEHIND = re.compile(r'[^\s#].*#')  # a comment behind code, whose column says with which others it is aligned
WHOLE = re.compile(r'\s*(let|var|print|return)\b[^"#{}]*[\w)\]]\s*$')  # a statement that ends with its line


def fmt(folder, *options):
    done = subprocess.run([kjit, "fmt", folder, *options], capture_output=True, text=True, check=False)
    assert "another program" not in done.stderr, done.stderr
    return done


def move_about(text, rng):
    """Other indentation, blanks and semicolons at the ends of lines, more empty lines where there are some."""
    lines = []
    for line in text.splitlines():
        if WHOLE.match(line) and all(line.count(a) == line.count(b) for a, b in ("()", "[]")):
            line += rng.choice(["", ";", " ;", ";; ;"])
        if not BEHIND.search(line):
            line = rng.choice(["", " ", "\t", " " * 9]) + line.lstrip() + rng.choice(["", "  ", "\t"])
        lines += [line] * (rng.randint(1, 3) if not line.strip() else 1)
    return "\n".join(lines) + rng.choice(["", "\n", "\n\n \n"])


def main():
    shutil.rmtree(out, ignore_errors=True)
    files = [f for folder in ("samples", "std", "tests") for f in sorted((root / folder).rglob("*.knl"))]
    for i, f in enumerate(files):
        copy = out / "once" / f"{i}.knl"
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(f.read_bytes())
    first = fmt(out / "once")
    refused = set(re.findall(r"([0-9]+\.knl):", first.stderr))
    assert len(refused) < len(files) / 10, len(refused)
    again = fmt(out / "once", "--check")
    assert again.stdout == "", again.stdout
    rng = random.Random(1)
    (out / "moved").mkdir()
    formatted = {}
    for i, f in enumerate(files):
        name = f"{i}.knl"
        if name not in refused:
            formatted[name] = (out / "once" / name).read_text(encoding="utf-8")
            (out / "moved" / name).write_text(move_about(formatted[name], rng), encoding="utf-8", newline="")
    fmt(out / "moved")
    for name, text in formatted.items():
        assert (out / "moved" / name).read_text(encoding="utf-8") == text, f"{name}: {files[int(name[:-4])]}"
    print(len(formatted), "files")


main()
