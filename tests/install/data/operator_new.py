"""Tells who calls C++'s operator new in a program or library that has it linked in: each of its forms is called by the
one function that the guard wraps it in."""
import re
import struct
import subprocess
import sys

FORMS = ("_Znwm", "_Znam", "_ZnwmSt11align_val_t", "_ZnamSt11align_val_t")
path = sys.argv[1]


def lines_of(*command):
    return [line.split() for line in subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()]


functions = {line[-1]: int(line[0], 16) for line in lines_of("nm", "--defined-only", path) if line[-2] in "tTwW"}
symbols = sorted(functions.items(), key=lambda item: item[1])
section = next(line[line.index(".text"):] for line in lines_of("readelf", "-SW", path) if ".text" in line)
address, offset, size = (int(word, 16) for word in section[2:5])
with open(path, "rb") as file:
    file.seek(offset)
    code = file.read(size)

targets = {functions[form]: form for form in FORMS if form in functions}
callers = {form: set() for form in targets.values()}
for call in re.finditer(rb"[\xe8\xe9](?=....)", code, re.DOTALL): # call and jmp of x86
    end = address + call.start() + 5
    form = targets.get(end + struct.unpack_from("<i", code, call.start() + 1)[0])
    if form:
        callers[form].add(max((s for s in symbols if s[1] < end), key=lambda s: s[1])[0])
print(" ".join(sorted(callers)))
for form, names in sorted(callers.items()):
    print(form, "is called by", " ".join(sorted(names)) or "nobody")
