#!/usr/bin/env python3
"""assembles.py KJIT ARCH [N/M] FILE...: does ptxas take the PTX of every kernel there, and is it as it should be?

N/M takes every M-th file, from the N-th on: little changes from one architecture to the next, and in `make test`
each file is assembled for one; KJIT_TEST_ALL=1 takes all for each. No load or store is generic, and there is local memory only where the source has local arrays."""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

GENERIC = re.compile(r"^\s*(?:@!?%p\d+\s+)?(?:ld|st|atom|red)(?:\.(?:relaxed|volatile|nc|gpu|cta|sys|v[24]))*"
                     r"\.(?:add|and|or|min|max|cas|exch|[busf]\d+)", re.MULTILINE)
# of 64 bits, by a constant whose low word is zero: target/ptx_words.c
FACTOR = re.compile(r"^\s*(?:mul|mad)\.lo\.s64\s+%rd\d+, %rd\d+, (-?\d+)[,;]", re.MULTILINE)
LOCAL = re.compile(r"^\s*\.local|(?:ld|st)\.local", re.MULTILINE)


# What a text declares for all of it, by which names it would meet another's; files and lines of the source.
DECLARED = re.compile(r"^\.(?:visible\s+)?(?:\.?(?:entry|func)\s+(?:\([^)]*\)\s*)?|\.?(?:global|const|shared)\b[^={;\n]*?\s)"
                      r"([\w$]+)\s*[(\[;=]", re.MULTILINE)
FILE = re.compile(r"(\.file\s+|\.loc\s+|inlined_at\s+)(\d+)")
HEAD = re.compile(r"^\.(?:version|target|address_size)\s.*$", re.MULTILINE)
TOGETHER = 16  # texts that are assembled at once: the assembler takes longer to start than for most of them


def check(kjit, arch, path):
    """What is wrong with the text of a file's kernels, or None; and the text, if there is one."""
    built = subprocess.run([*kjit, "build", "--emit=ptx", f"--arch={arch}", path], capture_output=True, text=True)
    if built.returncode != 0:
        return built.stderr, None
    ptx, source = built.stdout, pathlib.Path(path).read_text()
    if ".entry" not in ptx:
        return None, None  # no kernels in it
    generic = GENERIC.search(ptx)
    if generic:
        return f"a generic access: {generic.group().strip()}", None
    for factor in FACTOR.finditer(ptx):
        if int(factor[1]) % 2**32 == 0:
            return f"a product whose low word is zero: {factor[0].strip()}", None
    if "local.array" not in source and LOCAL.search(ptx):
        return "local memory, and no local array in the source", None
    return None, ptx


def assemble(ptxas, arch, text, path):
    """What the assembler says of a text, if it does not take it."""
    path.write_text(text)
    level = "3" if os.environ.get("KJIT_TEST_ALL") else "0"  # its optimizer refuses nothing
    part = ["-c"] if ".extern .func" in text else []  # to be linked with the device runtime
    done = subprocess.run([ptxas, f"-O{level}", *part, f"-arch={arch}", "-o", os.devnull, path], capture_output=True, text=True)
    return done.stdout + done.stderr if done.returncode != 0 else None


def joined(texts):
    """Several as one, each with names and numbers of files of its own."""
    parts = HEAD.findall(texts[0])
    for nth, text in enumerate(texts):
        text = re.sub(r"^\s*\.section\s+\.debug_macinfo\s*\{\s*\}", "", HEAD.sub("", text), flags=re.MULTILINE)
        text = FILE.sub(lambda m: f"{m[1]}{int(m[2]) + 100 * nth}", text)
        names = set(DECLARED.findall(text))
        if names:
            either = "|".join(map(re.escape, names))
            text = re.sub(rf"(?<![\w$.%])({either})(?![\w$])", rf"\1${nth}", text)
        parts.append(text)
    return "\n".join(parts)


def assemble_all(ptxas, arch, texts, folder):
    """What is wrong with texts that go together, of each: where they are not taken together, each is looked at."""
    path = pathlib.Path(folder, f"{abs(hash(texts[0]))}.ptx")
    if len(texts) > 1 and assemble(ptxas, arch, joined(texts), path) is None:
        return [None] * len(texts)
    return [assemble(ptxas, arch, text, path) for text in texts]


def grouped(texts):
    """Texts by number, in groups that may be assembled together; what is for the linker stays alone."""
    groups = {}
    for nth, text in texts.items():
        alone = nth if ".extern" in text or "debug_str" in text or os.environ.get("KJIT_TEST_ALL") else None
        groups.setdefault((alone, *HEAD.findall(text)), []).append(nth)
    return [group[i : i + TOGETHER] for group in groups.values() for i in range(0, len(group), TOGETHER)]


def main():
    kjit, arch, files = sys.argv[1].split(), sys.argv[2], sys.argv[3:]
    share = re.fullmatch(r"(\d+)/(\d+)", files[0])
    if share and os.environ.get("KJIT_TEST_ALL"):
        files = files[1:]
    elif share:
        files = files[1:][int(share[1]) - 1 :: int(share[2])]
    ptxas = shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas"
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        checked = list(pool.map(lambda path: check(kjit, arch, path), files))
        wrong, texts = [what for what, _ in checked], {nth: text for nth, (_, text) in enumerate(checked) if text}
        groups = grouped(texts)
        for group, said in zip(groups, pool.map(lambda g: assemble_all(ptxas, arch, [texts[n] for n in g], folder), groups)):
            for nth, what in zip(group, said):
                wrong[nth] = what
    for path, what in zip(files, wrong):
        if what:
            print(f"{path}: {what.strip()}")
    print(f"{len(files)} files, {sum(w is not None for w in wrong)} wrong")
    return any(wrong)


if __name__ == "__main__":
    sys.exit(main())
