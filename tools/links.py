#!/usr/bin/env python3
"""links.py FILE.md...: the links of documents whose file, or heading in it, is not there, a line each; the exit status
is 1 where there are any. Links to other places than files are not looked at, nor what stands in code."""
import pathlib
import re
import sys

CODE = re.compile(r"^(```+).*?^\1 *$|``[^\n]*?``|`[^`\n]*`", re.S | re.M)
LINK = re.compile(r"\]\(([^()\s]*[^()\s.])\)")


def anchors(path):
    """The names that a page's headings have, as GitHub makes them."""
    text = re.sub(r"^(```+).*?^\1 *$", "", path.read_text(encoding="utf-8"), flags=re.S | re.M)
    found = set()
    for heading in re.findall(r"^#+ +(.*)$", text, re.M):
        name = re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
        k = 0
        while (f"{name}-{k}" if k else name) in found:
            k += 1
        found.add(f"{name}-{k}" if k else name)
    return found


def wrong(path):
    """Yields the line number and the target of each link that leads nowhere."""
    text = CODE.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), path.read_text(encoding="utf-8"))
    for match in LINK.finditer(text):
        target, _, heading = match.group(1).partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        file = path.parent / target if target else path
        if not file.exists() or (heading and file.suffix == ".md" and heading not in anchors(file)):
            yield text.count("\n", 0, match.start()) + 1, match.group(1)


def main():
    n = 0
    for name in sys.argv[1:]:
        for line, target in wrong(pathlib.Path(name)):
            print(f"{name}:{line}: {target} is not there")
            n += 1
    return n > 0


if __name__ == "__main__":
    sys.exit(main())
