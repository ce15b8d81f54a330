#!/usr/bin/env python3
"""places.py PAGE: are the files and functions there that a page like docs/architecture.md names? Each paragraph, item of a
list and row of a table is looked at by itself: what stands in it as code and has a file's ending is a file, other lone words
are names. In a row of a table one of the files that are named with it has the name; elsewhere some file has it.

Paths are below compiler/ or runtime/ where they are not the repository's; one without a folder is in that of the file before,
or, outside tables, anywhere. The exit status is 1 when something is missing."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FILE = r"[\w.-]+(?:/[\w.-]+)*\.(?:c|h|def|l|y|py|sh|knl|txt|test|md)"
WORD = re.compile(r"\w+")
FOLDERS = ("compiler", "runtime", "cli", "include", "grammar", "python")
SUFFIXES = (".c", ".h", ".def", ".l", ".y", ".py")


def found(path, folder, files):
    """The file or folder; None where there is none. `files`: where one without a folder may be, by name."""
    places = [ROOT / path, ROOT / "compiler" / path, ROOT / "runtime" / path]
    if "/" not in path and folder:
        places.insert(0, folder / path)
    return next((place for place in places if place.exists()), files.get(path))


def parts(text):
    """(line, text) of each paragraph, item and row."""
    number, kept = 1, []
    for at, line in enumerate(text.split("\n"), 1):
        if kept and re.match(r"\||\s*$|#|- |\d+\. ", line):
            yield number, "\n".join(kept)
            kept = []
        if not kept:
            number = at
        kept.append(line)
    yield number, "\n".join(kept)


def missing(part, files, names):
    """What a part of the page names and the repository does not have."""
    folder, texts, row = None, [], part.startswith("|")
    words = [word for word in re.findall(r"`([^`]+)`", part) if "NAME" not in word]
    for word in words:
        path = found(word, folder, {} if row else files) if re.fullmatch(FILE + r"|[a-z]\w*(?:/[\w-]+)+", word) else None
        if path and path.is_dir():
            folder = path
        elif path:
            folder = path.parent
            texts.append(path.read_text())
        elif re.fullmatch(FILE, word):
            yield f"no file {word}"
    inside = set(WORD.findall("\n".join(texts))) if row and texts else None
    bracketed = re.findall(r"`([a-z]\w*)`", " ".join(re.findall(r"\(([^()]*)\)", part)))
    for word in words:
        if not re.fullmatch(r"[a-zK]\w*_\w*", word) and not (inside and word in bracketed):
            continue
        if word not in (inside or names) and not (word.endswith("_") and any(name.startswith(word) for name in names)):
            yield f"no {word}" + (" in the files beside it" if inside else "")


def main():
    page = pathlib.Path(sys.argv[1])
    files = {str(path.relative_to(ROOT)): path for folder in FOLDERS for path in (ROOT / folder).rglob("*")
             if path.suffix in SUFFIXES}
    names = {word for path in files.values() for word in WORD.findall(path.read_text())}
    files.update({path.name: path for path in files.values()})
    wrong = [f"{page.name}:{number}: {what}" for number, part in parts(page.read_text()) for what in missing(part, files, names)]
    print("\n".join(wrong), end="\n" if wrong else "")
    return len(wrong) > 0


if __name__ == "__main__":
    sys.exit(main())
