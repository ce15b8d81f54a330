#!/usr/bin/env python3
"""files.py: docs/files.md, every source file in a line or two, folder by folder in the order of the layers: the first
sentences of the comment that it begins with, and of a short header the functions that it declares.

A file that begins with no comment is an error (exit status 1), and so is a folder that has no row here."""
import pathlib
import re
import sys
import textwrap

import layers

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = layers.LAYERS + """\
include             the public interface: the C API, and C++ over it
cli                 the command `kjit`, over include/kjit.h alone
cli/lsp             `kjit lsp`, the language server for editors (LSP)
python/src          the package for Python: its extension in C
python/kjit         the package for Python: what is written in Python
std                 the standard library, written in the language itself
tools               what builds, checks and documents kjit
tools/editors       .knl in Vim and Emacs
tests/double        the driver double: a CUDA driver without a GPU, with its PTX interpreter (tests/double/README.md)
"""
OTHERS = """
tests/aarch64       kjit for 64-bit Arm under qemu: its tests (`make test-aarch64`), and the bits that it leaves beside this machine's
tests/api           programs of the C API: every function, allocations that fail, threads, limits, bad arguments
tests/checks        what `--check=` finds: races, elements that were not written, NaNs
tests/cli           the command: options, output, cache, bench, the language server, Ctrl-C
tests/device        what kernels compute in blocks, grids and arrays of all sizes and shapes
tests/driver        the CUDA device: failures of the driver at each call, its versions, pools, captures; on the double
tests/double/check  programs of the driver's calls, which the double must find right or wrong
tests/double/unit   unit tests of the PTX interpreter
tests/emit          one kernel at each stage (`--emit=`), and the code of single features
tests/explain       what `kjit explain` says of small kernels, note by note
tests/error         messages of errors, with their places, hints and fixes
tests/documents     what all documents have in common: links that lead somewhere
tests/from_cuda     the rows of docs/from_cuda.md, as tests/numba; its programs in both languages
tests/from_numpy    the rows of docs/from_numpy.md, likewise
tests/fuzz          programs at random, beside exact references
tests/install       what is installed: header, pkg-config, manual pages, the Debian package
tests/lang          what kernels compute, feature by feature, on both devices
tests/litmus        the memory model: what threads see of each other's stores, locks, barriers of the grid
tests/mutants       small bugs that are planted one at a time: do the tests find them?
tests/numba         the rows of docs/from_numba.md: each runs and prints what it says
tests/ops           each operator and conversion on each type, beside an exact reference
tests/ptx           PTX: what is emitted, and that NVIDIA's assembler takes it
tests/python        the package for Python (python/tests)
tests/regression    a file for each bug that was mended
tests/runblock      run blocks: the interpreter, array expressions, files, drawings
tests/samples       the programs of samples/, with what they print
tests/std           the standard library, on both devices
tests/ulp           errors of the math functions, in units of the last place
tests/unit          unit tests of the compiler's and runtime's functions
tests/valgrind      runs a command under valgrind (`make valgrind-tests`)
tests/warn          warnings: told, not told, and silenced
bench               speed: compiling, CPU, GPU, growth with the source, beside peers
gpu                 the bundle of tests and benchmarks for a machine with a GPU
samples             programs to read and run
docs                these pages
"""
SUFFIXES = {".c", ".cc", ".h", ".hpp", ".def", ".l", ".y", ".knl", ".py", ".pyi", ".sh", ".map", ".cmake", ".vim", ".el"}
COMMENTS = [ # at the beginning of a file: C, Python, shells, the language, Vim, Emacs
    (r"/\*([\s\S]*?)\*/", r"\* ?"),
    (r'(?:#!.*\n)?"""([\s\S]*?)"""', r"$^"),
    (r"(?:#!.*\n)?((?:#.*\n)+)", "# ?"),
    (r"((?://.*\n)+)", "// ?"),
    (r'((?:".*\n)+)', '" ?'),
    (r"((?:;.*\n)+)", ";+ ?"),
]
ENOUGH = 330 # letters of a file's sentences, where it has more than one
FEW = 6 # functions of a header that are listed
CODE = r"[\w/]*\w\.(?:cc|c|h|def|l|y|py|knl|md)\b|[\w.]*_[\w.]*\w|\w+_\b"
HEAD = """# The files

Every source file of kjit, folder by folder in the order of the layers ([architecture.md](architecture.md), which has the entry
points by subject). To be searched: each line has the field's words for what is done there. Written by `make docs` from the
comments at the files' heads and the tables in `tools/files.py` and `tools/layers.py`.
"""


def paragraph(text):
    """The first paragraph of the file's first comment, in one line; empty without a comment."""
    for form, margin in COMMENTS:
        if found := re.match(form, text):
            lines = [re.sub("^" + margin, "", line.strip()).strip() for line in found[1].strip().split("\n")]
            return " ".join(lines[:lines.index("")] if "" in lines else lines).split(" -*- ")[0]
    return ""


def sentences(text):
    """As many of the first sentences as are not too long together, but one at least."""
    first, *rest = re.split(r"(?<=[.?!])\s+", text)
    for more in rest:
        if len(first) + len(more) > ENOUGH:
            break
        first += " " + more
    first = first.rstrip(" :;")
    return first if first[-1] in ".?!" else first + "."


def declared(text):
    """The functions that a header declares or, inline, has."""
    text = re.sub(r"/\*[\s\S]*?\*/", "", text)
    return list(dict.fromkeys(re.findall(r"^(?=\w)(?!typedef|return)[^\n(=#]*?\b(kj_\w+)\(", text, re.MULTILINE)))


def shown(text):
    """Text as Markdown, names of files and functions as code."""
    parts = text.split("`")
    return "`".join(part if i % 2 else re.sub(CODE + r"|[*<|]", lambda m: "\\" + m[0] if len(m[0]) == 1 else f"`{m[0]}`", part)
                    for i, part in enumerate(parts))


def filled(text):
    return textwrap.fill(text, 120, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def entry(path, folder, wrong):
    """A file's line; what it lacks goes to the list `wrong`."""
    text = path.read_text()
    words = paragraph(text)
    if not words:
        wrong.append(f"{path.relative_to(ROOT)} begins with no comment")
        return ""
    names = declared(text) if path.suffix == ".h" else []
    offered = f" Offers {', '.join(f'`{name}`' for name in names)}." if 0 < len(names) <= FEW else ""
    return filled(f"- `{path.relative_to(folder)}`: {shown(sentences(words))}{offered}")


def rows(table):
    return dict(line.split(maxsplit=1) for line in table.strip().splitlines())


WHOLE = {"tools/editors", *rows(OTHERS)} # with the folders in them


def unknown(folders):
    """Folders with files that no row names."""
    for root in ("compiler", "runtime", "cli", "std", "tools", "tests"):
        for path in sorted({file.parent for file in (ROOT / root).rglob("*") if file.suffix in SUFFIXES}):
            above = {str(folder.relative_to(ROOT)) for folder in (path, *path.parents) if ROOT in (folder, *folder.parents)}
            if not above & WHOLE and str(path.relative_to(ROOT)) not in (*folders, root):
                yield f"{path.relative_to(ROOT)} has no row in tools/files.py"


def main():
    folders, wrong = rows(FOLDERS), []
    print(HEAD)
    for name, what in folders.items():
        folder = ROOT / name
        inside = [] if folder.is_file() else folder.rglob("*") if name in WHOLE else folder.iterdir()
        lines = [entry(path, folder, wrong) for path in sorted(inside) if path.is_file() and path.suffix in SUFFIXES]
        if lines:
            print(f"## {name}\n\n{what[0].upper()}{what[1:]}.\n\n" + "\n".join(lines) + "\n")
    print("## Tests, and what else there is\n")
    print("\n".join(filled(f"- `{name}`: {what}") for name, what in rows(OTHERS).items()))
    wrong += [*unknown(folders)]
    print("\n".join(wrong), file=sys.stderr, end="\n" if wrong else "")
    return len(wrong) > 0


if __name__ == "__main__":
    sys.exit(main())
