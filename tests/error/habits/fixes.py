"""Each fix of programs with errors, made alone: fixes.py KJIT FILE... checks that it takes its error away and that what
comes of it is no worse: of an error of the text it leaves fewer of the text, else no more than there were, and none of the
text. What is uncovered behind an error of the text is not counted: it hid that of types and names.

Of .habits files (habits.py) those programs are taken that are one line in a kernel or run block and have a fix. The line is put
on that of its braces, and must be mended there too: a fix takes no more than its statement."""
import pathlib
import re
import sys
import tempfile

import habits

MOST = 20  # errors that are told of a program
TEXT = {"syntax", "spelling", "stray", "not-text", "number", "string", "missing-brace", "brace-on-next-line", "keyword"}
# file, line: fixes of text that leave others, which were hidden, or are one of several
OTHERS = {
    ("lost_body.knl", 31): "the body of the header is read then",
    ("missing_brace_at_end.knl", 14): "two braces are missing",
    ("single_quotes.knl", 13): "the quote and the bracket are missing",
    ("numba_types.knl", 17): "each type has one of its own",
}


def errors(command, folder, programs):
    return habits.checked(command, folder, [program.encode("utf-8", "surrogateescape") for program in programs])


def of_text(found):
    return [e for e in found if e["code"] in TEXT]


def told(e):
    return f"{e['line']}:{e['column']} {e['message']}"


def worse(e, before, after):
    if len(before) >= MOST:
        return False
    if e["code"] in TEXT:
        return len(of_text(after)) >= len(of_text(before))
    return len(after) > len(before) or len(of_text(after)) > len(of_text(before))


def look(name, text):
    """What is wrong with the fixes of a program, and how many it has; a walk, see habits.together."""
    before, wrong, n = (yield text), [], 0
    for e in before:
        if "fix" not in e:
            continue
        n += 1
        after = yield habits.mended(text, e["fix"])
        new = sorted({told(a) for a in after} - {told(b) for b in before})
        if told(e) in {told(a) for a in after}:
            wrong.append(f"{told(e)}: its fix does not take it away")
        elif worse(e, before, after) and (name, e["line"]) not in OTHERS:
            wrong.append(f"{told(e)}: its fix {e['fix']['text']!r} makes {new}")
    return wrong, n


def look_at_line(text):
    """The same of a program that is mended by its fix, and that of what is left."""
    left, n = (yield text), 0
    while left and "fix" in left[0] and n < habits.ROUNDS:
        text, n = habits.mended(text, left[0]["fix"]), n + 1
        left = yield text
    return [f"{text!r}: {told(e)}" for e in left], n


def programs(file):
    """Yields (title, text)."""
    text = file.read_bytes().decode("utf-8", "surrogateescape")
    if file.suffix != ".habits":
        yield "", text
        return
    for title, source, said in habits.parse(text):
        kind = title[title.rfind("[") + 1:-1] if title.endswith("]") else ""
        mended = any(line.startswith("++ ") for line in said)
        if kind in habits.HEADS and source.count("\n") == 1 and mended and not re.search(r"//|/\*|[#{}]", source):
            yield title, f"{habits.HEADS[kind]} {source[:-1]} }}\n"


def main():
    command, *files = sys.argv[1:]
    fixes = bad = 0
    with tempfile.TemporaryDirectory() as folder:
        found = [(file.name, title, text) for file in map(pathlib.Path, files) for title, text in programs(file)]
        walks = [look_at_line(text) if title else look(name, text) for name, title, text in found]
        results = habits.together(lambda texts: errors(command.split(), folder, texts), walks)
    for (name, title, _), (wrong, n) in zip(found, results):
        fixes, bad = fixes + n, bad + len(wrong)
        for line in wrong:
            print(f"{name}: {title} {line}")
    print(f"{fixes} fixes, {bad} wrong")
    return bad > 0 or not fixes


if __name__ == "__main__":
    sys.exit(main())
