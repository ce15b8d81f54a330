#!/usr/bin/env python3
"""between.py [--check] file name: puts what it reads from standard input into the file, between the lines
`<!-- name -->` and `<!-- /name -->`; with --check it says whether that is there already (exit status 1: it is not)."""
import difflib
import sys


def main():
    check = sys.argv[1] == "--check"
    path, name = sys.argv[2:] if check else sys.argv[1:]
    with open(path) as f:
        text = f.read()
    begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->\n"
    if text.count(begin) != 1 or text.count(end) != 1:
        sys.exit(f"{path} has no place for {name}: {begin}...{end}")
    before, rest = text.split(begin)
    was, after = rest.split(end)
    now = "\n" + sys.stdin.read().strip("\n") + "\n\n"
    if not check:
        with open(path, "w") as f:
            f.write(before + begin + now + end + after)
    elif was != now:
        sys.stdout.writelines(difflib.unified_diff(was.splitlines(True), now.splitlines(True), path, name))
        sys.exit(1)


main()
