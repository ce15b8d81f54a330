"""Programs that are wrong by habit: habits.py KJIT FILE... checks what each is told; --write writes it into the files.

A file holds programs. Each begins with a line `== title`; [kernel] or [run] behind the title puts its lines into a kernel
or a run block. Behind the program stand

    => 2:14 message     the one error, its line and column
    ?? hint
    ++ 2: text          what line 2 is when the fix is made; the program must compile then, and run if it has a run block

A fix is what --diagnostics=json gives, or, when a run fails, a hint `write ...` of what the caret shows. Where
there is more than one mistake the next fix follows."""
import json
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

HEADS = {"kernel": "kernel k(x: f32[], d: f64[], m: f32[,], b: u8[], n: i32) {", "run": "run {"}
ROUNDS = 8  # fixes, one after the other
PLACE = re.compile(r"^p\.knl:(\d+):(\d+): (error|warning|note): (.*)")


def parse(text):
    """Yields (title, program, expectations)."""
    for part in re.split(r"^== ", text, flags=re.M)[1:]:
        title, _, rest = part.partition("\n")
        lines = rest.split("\n")
        said = [line for line in lines if re.match(r"(=>|\?\?|\+\+) ", line)]
        source = "\n".join(line for line in lines if line not in said).rstrip("\n") + "\n"
        yield title, source, said


def whole(title, source):
    kind = re.search(r" \[(\w+)\]$", title)
    if not kind:
        return source
    inside = "".join(f"    {line}\n" if line else "\n" for line in source.splitlines())
    return f"{HEADS[kind.group(1)]}\n{inside}}}\n"


def told_by_run(text):
    """The errors of a run, which come as text, in the form of --diagnostics=json."""
    lines, found = text.splitlines(), []
    for number, line in enumerate(lines):
        place = PLACE.match(line)
        if not place or place.group(3) != "error":
            continue
        caret = lines[number + 2].split("|", 1)[1].strip()
        error = {"line": int(place.group(1)), "column": int(place.group(2)), "message": place.group(4)}
        hint = lines[number + 3][len("hint: "):] if len(lines) > number + 3 and lines[number + 3].startswith("hint: ") else None
        if hint:
            error["hint"] = hint
        if hint and re.match(r"write [^,]*(\(.*\))?[^,]*$", hint) and "..." not in hint:
            error["fix"] = {"line": error["line"], "column": error["column"], "endLine": error["line"],
                            "endColumn": error["column"] + len(caret), "text": hint[len("write "):]}
        found.append(error)
    return found


def checked(command, folder, programs):
    """The errors of each of the programs, which are bytes: one process checks all, as that takes longer to start than a
    program to be checked."""
    names = [f"p{i}.knl" for i in range(len(programs))]
    for name, program in zip(names, programs):
        pathlib.Path(folder, name).write_bytes(program)
    check = subprocess.run([*command, "check", "--warn=off", "--diagnostics=json", *names], cwd=folder, capture_output=True)
    if check.returncode not in (0, 3):
        sys.exit(f"kjit check: {check.returncode}\n{check.stderr.decode(errors='replace')}")
    found = {name: [] for name in names}
    for line in check.stderr.decode("utf-8", "replace").splitlines():
        error = json.loads(line)
        found[error["file"]].append(error)
    return [found[name] for name in names]


def together(errors, walks):
    """What each of the walks gives: generators, which yield programs and are sent their errors. Those that are asked for at
    the same time are told by one call of errors."""
    given, asked = [None] * len(walks), {}

    def on(number, step):
        try:
            asked[number] = step()
        except StopIteration as end:
            given[number] = end.value

    for number, walk in enumerate(walks):
        on(number, lambda: next(walk))
    while asked:
        numbers = list(asked)
        for number, found in zip(numbers, errors([asked.pop(number) for number in numbers])):
            on(number, lambda: walks[number].send(found))
    return given


class Kjit:
    def __init__(self, command, folder):
        self.command, self.folder = command, pathlib.Path(folder)
        header = "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }".ljust(117) + "\n"
        data = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack("<3d", 1, 2, 3)
        (self.folder / "doubles.npy").write_bytes(data)

    def errors(self, programs):
        """All errors of each program, also those of its run."""
        found = checked(self.command, self.folder, [program.encode() for program in programs])
        return [errors or self.errors_of_run(program) for program, errors in zip(programs, found)]

    def errors_of_run(self, program):
        if not re.search(r"^run\b", program, re.M):
            return []
        (self.folder / "p.knl").write_bytes(program.encode())
        run = subprocess.run([*self.command, "run", "-O0", "--warn=off", "--device=cpu", "p.knl"], cwd=self.folder,
                             capture_output=True, text=True)
        return told_by_run(run.stderr) if run.returncode else []


def offset(program, line, column):
    lines = program.split("\n")
    return sum(len(text) + 1 for text in lines[:line - 1]) + column - 1


def mended(program, fix):
    begin, end = offset(program, fix["line"], fix["column"]), offset(program, fix["endLine"], fix["endColumn"])
    return program[:begin] + fix["text"] + program[end:]


def changes(before, after):
    old, new = before.splitlines(), after.splitlines()
    same = len(old) == len(new)
    return [f"++ {i + 1}: {text}" for i, text in enumerate(new) if not same or text != old[i]]


def told(program):
    """The lines that are expected of the program, and what is wrong with it; a walk, see together."""
    errors, wrong = (yield program), []
    if len(errors) != 1:
        wrong.append(f"{len(errors)} errors")
    if not errors:
        return [], wrong
    said = ["=> {line}:{column} {message}".format(**error) for error in errors]
    said += [f"?? {errors[0]['hint']}"] if "hint" in errors[0] else []
    fixed, left = program, errors
    for _ in range(ROUNDS):
        if not left or "fix" not in left[0]:
            break
        fixed = mended(fixed, left[0]["fix"])
        left = yield fixed
    if fixed != program:
        said += changes(program, fixed)
        wrong += [f"mended, it still has: {left[0]['message']} ({left[0]['line']}:{left[0]['column']})"] if left else []
    return said, wrong


def main():
    arguments = sys.argv[1:]
    write = "--write" in arguments
    command, *files = [a for a in arguments if a != "--write"]
    bad = programs = fixes = 0
    with tempfile.TemporaryDirectory() as folder:
        kjit = Kjit(command.split(), folder)
        for file in map(pathlib.Path, files):
            text = file.read_text(encoding="utf-8")
            out = text[:text.index("== ")]
            parsed = list(parse(text))
            results = together(kjit.errors, [told(whole(title, source)) for title, source, _ in parsed])
            for (title, source, expected), (said, wrong) in zip(parsed, results):
                programs += 1
                fixes += any(line.startswith("++") for line in said)
                if said != expected and not write:
                    wrong.append("told otherwise:\n" + "\n".join(f"  - {line}" for line in expected)
                                 + "\n" + "\n".join(f"  + {line}" for line in said))
                out += f"== {title}\n{source}" + "".join(f"{line}\n" for line in said)
                if wrong:
                    bad += 1
                    print(f"{file.name}: {title}: {'; '.join(wrong)}")
            if write:
                file.write_text(out, encoding="utf-8")
    print(f"{programs} programs, {fixes} mended by their fix, {bad} wrong")
    return bad > 0 or not programs


if __name__ == "__main__":
    sys.exit(main())
