"""mend.py WAY KJIT PROGRAM: the program without its warnings of narrow-* and same-element, each mended in turn: by its fix (WAY: fix) or as the
hint says where it is meant (WAY: meant). It has to compile at each step, and a step has to take its warning away."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile


def told(kjit, text, folder):
    path = folder / "program.knl"
    path.write_text(text)
    run = subprocess.run([*kjit, "check", "--diagnostics=json", path], capture_output=True, text=True)
    messages = [json.loads(line) for line in run.stderr.splitlines()]
    wrong = [m for m in messages if m["severity"] == "error"]
    if wrong or run.returncode:
        sys.exit(f"{text}\nis not compiled: {wrong}")
    return [m for m in messages if m["code"].startswith(("narrow-", "same-element"))]


def place(text, line, column):
    return sum(len(s) + 1 for s in text.split("\n")[:line - 1]) + column - 1


def stretch(text, of):
    return place(text, of["line"], of["column"]), place(text, of["endLine"], of["endColumn"])


def mended(text, message, way):
    at = message["fix"] if way == "fix" else message
    begin, end = stretch(text, at)
    if way == "fix":
        return text[:begin] + at["text"] + text[end:]
    meant = re.search(r" is meant, (?:write )?(.*)$", message["hint"]).group(1)
    if "..." not in meant:  # it says all that is converted, of which the message may point at a part
        inner = meant[meant.index("(") + 1:-1]
        begin = text.rindex(inner, 0, begin + len(inner))
        end = begin + len(inner)
    return text[:begin] + meant.replace("...", text[begin:end]) + text[end:]


def main():
    way, *kjit, program = sys.argv[1:]
    text = pathlib.Path(program).read_text()
    with tempfile.TemporaryDirectory() as folder:
        left = told(kjit, text, pathlib.Path(folder))
        if not left:
            sys.exit("no warning is told")
        while left:
            if way == "fix" and "fix" not in left[0]:
                sys.exit(f"{text}\nhas no fix of {left[0]}")
            text = mended(text, left[0], way)
            now = told(kjit, text, pathlib.Path(folder))
            if len(now) >= len(left) and len(now) < 20:
                sys.exit(f"{text}\nis told as before: {now}")
            left = now
    print(text)


main()
