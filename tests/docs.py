"""The documentation's examples as tests.

A block fenced ```knl is a whole file: with a run block it is run, else it is checked; its tests must pass. A ```text block right after a
block that runs is what it prints. A warning is an error, but in a block fenced ```knl warns. A block fenced ```knl error
must be refused with the message that the ```text block after it shows; a message with its place (name.knl:2:5: error:
...) is compared whole, line by line. A block fenced ```knl NAME.knl is a file of that name, for the blocks behind it. Behind a block fenced ```knl explain the ```text block is
what kjit explain says of it, without the figures of ptxas."""
import re

DOCUMENTS = ("README.md", "docs/tutorial.md", "docs/language.md", "docs/std.md", "docs/embedding.md", "docs/from_cuda.md",
             "docs/guide.md")
FENCE = re.compile(r"^```(.*)$")


def blocks(text):
    """Yields (line number of the first line inside, info string, lines, the line after the block)."""
    lines = text.split("\n")
    start = None
    for number, line in enumerate(lines):
        match = FENCE.match(line)
        if not match:
            continue
        if start is None:
            start, info = number + 1, match.group(1).strip()
        else:
            yield start, info, lines[start:number], number + 1
            start = None


def following_text(all_blocks, index, document_lines):
    """The lines of the ```text block that follows with only blank lines between, else None."""
    end = all_blocks[index][3]
    if index + 1 == len(all_blocks) or all_blocks[index + 1][1] != "text":
        return None
    start, _, lines, _ = all_blocks[index + 1]
    between = document_lines[end:start - 1]
    return None if any(line.strip() for line in between) else lines


def expectation(lines, whole):
    """FileCheck's lines for a text block; runs of what the reader need not see are written '...'."""
    checks, prefix = [], "CHECK"
    for line in lines:
        if line.strip() in ("", "..."):
            prefix = "CHECK"
            continue
        checks.append(f"{prefix}{{LITERAL}}:{'' if whole else ' '}{line.rstrip()}")
        prefix = "CHECK-NEXT"
    return "\n".join(checks) + "\n"


def write_example(folder, label, info, code, text, files):
    place = text and re.match(r"([\w.-]+\.knl):\d+:\d+: ", text[0])
    folder.mkdir(parents=True, exist_ok=True)
    for name, lines in files.items():
        (folder / name).write_text("\n".join(lines) + "\n")
    named = re.search(r"\S+\.knl", info)
    source = folder / (place.group(1) if place else named.group() if named else "example.knl")
    source.write_text("\n".join(code) + "\n")
    runs = any(re.match(r"run\s*\{", line) for line in code)
    tested = any(re.match(r'test\s+"', line) for line in code)
    strict = "" if {"error", "warns"} & set(info.split()) else " --warn=error"
    command = f"%kjit {'run' if runs else 'check'}{strict} {source.name}"
    pipe = ""
    if "explain" in info.split():
        command = f"%kjit explain --arch=sm_80 {source.name}"
    if text is not None and (runs or "explain" in info.split() or "error" in info):
        strict = "--strict-whitespace --match-full-lines " if place else ""
        (folder / "expected.txt").write_text(expectation(text, bool(place)))
        pipe = f" 2>&1 | FileCheck {strict}{folder}/expected.txt"
    if "error" in info.split():
        if text is None:
            pipe = " && echo 'an error example needs a text block with the message' && false"
        command = "not " + command
    tests = f"RUN: cd {folder} && %kjit test {source.name}\n" if tested and "error" not in info.split() else ""
    (folder / f"{label}.test").write_text(f"RUN: cd {folder} && {command}{pipe}\n{tests}")


def extract(root, out):
    """Writes a folder a block under `out`, with a .test file lit runs."""
    for document in DOCUMENTS:
        path = root / document
        if not path.exists():
            continue
        text = path.read_text(encoding="utf-8")
        all_blocks, lines, files = list(blocks(text)), text.split("\n"), {}
        for index, (start, info, code, _) in enumerate(all_blocks):
            if info.split()[:1] == ["knl"]:
                label = f"{path.stem}-{start:04}"
                write_example(out / label, label, info, code, following_text(all_blocks, index, lines), files)
                named = re.search(r"\S+\.knl", info)
                if named:
                    files[named.group()] = code
