#!/usr/bin/env python3
"""reference.py api|man header: what kjit.h says of the C API, as Markdown (docs/api.md) or as the manual page kjit(3).
reference.py command kjit: what the command's --help says, as the manual page kjit(1).

The header is in sections (`/* ---- Title ---- */`) of paragraphs: a comment, the declarations that it is about, and an
empty line. The bodies of inline functions are left out."""
import os
import re
import subprocess
import sys
import textwrap


def comment_text(comment):
    """The words of a comment, a list of paragraphs; a line that starts further in is code."""
    lines = [re.sub(r"^ ?\* ?", "", line.strip("\n").lstrip()) for line in comment.split("\n")]
    lines[0] = lines[0].replace("/*", "", 1).lstrip()
    lines[-1] = lines[-1].replace("*/", "").rstrip()
    paragraphs = []
    for line in lines:
        kind = "code" if line.startswith("    ") else "text"
        if not line.strip():
            paragraphs.append(("gap", ""))
        elif paragraphs and paragraphs[-1][0] == kind and kind == "code":
            paragraphs[-1] = (kind, paragraphs[-1][1] + "\n" + line[4:])
        elif paragraphs and paragraphs[-1][0] == kind and not re.match(r"^[A-Z][a-z]+: |^\.[a-z]+: ", line):
            paragraphs[-1] = (kind, paragraphs[-1][1] + " " + line)
        else:
            paragraphs.append((kind, line[4:] if kind == "code" else line))
    return [p for p in paragraphs if p[0] != "gap"]


def sections(text):
    """(title, [(words, declarations)]) of the header; the first title is None, with the file's own comment."""
    intro = re.match(r"/\*.*?\*/", text, re.S).group(0)
    yield None, [(comment_text(intro), "")]
    parts = re.split(r"/\* ---- (.*?) ---- \*/\n", text)
    for title, body in zip(parts[1::2], parts[2::2]):
        body = re.sub(r"\n#ifdef __cplusplus.*", "\n", body, flags=re.S)
        body = re.sub(r"\nstatic inline (.*?\))\n\{\n.*?\n\}", lambda m: "\nstatic inline " + m.group(1) + ";", body, flags=re.S)
        entries = []
        for paragraph in re.split(r"\n\n+", body.strip("\n")):
            words = []
            while True:
                m = re.match(r"/\*.*?\*/\n?", paragraph, re.S)
                if not m:
                    break
                words += comment_text(m.group(0).rstrip())
                paragraph = paragraph[m.end():]
            # a comment between two declarations begins an entry of its own
            pieces = re.split(r"\n(?=/\*)", paragraph)
            entries.append((words, pieces[0].replace("KJIT_API ", "")))
            for piece in pieces[1:]:
                m = re.match(r"/\*.*?\*/\n?", piece, re.S)
                entries.append((comment_text(m.group(0).rstrip()), piece[m.end():].replace("KJIT_API ", "")))
        yield title, entries


def markdown(text, out):
    out.append("# The C API\n\nWritten by `make docs` from [include/kjit.h](../include/kjit.h), which says the same.\n")
    for title, entries in sections(text):
        if title:
            out.append(f"## {title}\n")
        for words, declarations in entries:
            if declarations.strip():
                out.append(f"```c\n{declarations.strip()}\n```\n")
            for kind, paragraph in words:
                out.append(f"```c\n{paragraph}\n```\n" if kind == "code" else
                           textwrap.fill(paragraph.replace("*", "\\*"), 120, break_long_words=False, break_on_hyphens=False) + "\n")


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join("\\&" + line if line[:1] in ".'" else line for line in text.split("\n"))


def manual(text, out):
    version = ".".join(re.findall(r"#define KJIT_VERSION_[A-Z]+ (\d+)", text))
    out.append(f'.TH KJIT 3 "" "kjit {version}" "kjit"\n.SH NAME\nkjit \\- compile array kernels at run time and launch them')
    out.append(".SH SYNOPSIS\n.nf\n#include <kjit.h>\n\ncc program.c $(pkg\\-config \\-\\-cflags \\-\\-libs kjit)\n.fi")
    for title, entries in sections(text):
        out.append(f'.SH {(title or "Description").upper()}')
        for words, declarations in entries:
            if declarations.strip():
                out.append(f".PP\n.nf\n{roff(declarations.strip())}\n.fi")
            for kind, paragraph in words:
                out.append(f".PP\n.nf\n{roff(paragraph)}\n.fi" if kind == "code" else f".PP\n{roff(paragraph)}")
    out.append(".SH SEE ALSO\n.BR kjit (1)")


def command_manual(kjit):
    """kjit(1), of `kjit --help`, `kjit COMMAND --help` and `kjit --version`."""
    def say(*arguments):
        return subprocess.run([*os.environ.get("KJIT_WRAPPER", "").split(), kjit, *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout

    general = say("--help")
    commands = re.findall(r"^  ([a-z]+) ", general.split("\n\n")[2] + "\n", re.M)
    codes = general[general.index("Exit codes:\n"):].split("\n", 1)[1]
    out = [f'.TH KJIT 1 "" "{say("--version").split(chr(10))[0]}" "kjit"',
           ".SH NAME\nkjit \\- compile array kernels and run them on a GPU or the CPU",
           ".SH SYNOPSIS\n.B kjit\nCOMMAND [arguments] [options]", f".SH COMMANDS\n.nf\n{roff(general.split(chr(10) * 2)[2])}\n.fi"]
    for name in commands:
        usage, text = say(name, "--help").split("\n", 1)
        text = text.split("\nExit codes:")[0].strip("\n")
        out.append(f".SH KJIT {name.upper()}\n.B {roff(usage.replace('usage: ', ''))}\n.PP\n.nf\n{roff(text)}\n.fi")
    out.append(f".SH EXIT STATUS\n.nf\n{roff(codes.rstrip())}\n.fi\n.SH SEE ALSO\n.BR kjit (3)")
    return out


def main():
    form, path = sys.argv[1:]
    if form == "command":
        print("\n".join(command_manual(path)))
        return
    with open(path) as f:
        text = f.read()
    out = []
    {"api": markdown, "man": manual}[form](text, out)
    print("\n".join(out).rstrip("\n"))


if __name__ == "__main__":
    main()
