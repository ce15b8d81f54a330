"""What a terminal must not be given is written out in messages: plain.py KJIT FOLDER."""
import io
import json
import pathlib
import struct
import subprocess
import sys
import zipfile

KJIT, FOLDER = [sys.argv[1]], pathlib.Path(sys.argv[2])
RAW = b"\x1b[31m\x9b\xc2\x9b\xe2\x80\xae\xe2\x81\xa6\xe2\x80\xa8\n\x7f"  # as it comes from files
SHOWN = r"\x1b[31m\x9b\u009b\u202e\u2066\u2028\n\x7f"
BAD = [*range(9), *range(11, 32), *range(0x7F, 0xA0), 0x61C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A)]


def said(*arguments, text=None):
    """What the command says, which has no control in it; it fails."""
    run = subprocess.run([*KJIT, *arguments], cwd=FOLDER, capture_output=True, input=text)
    assert run.returncode, arguments
    shown = run.stderr.decode()  # UTF-8, or this fails
    assert not set(map(chr, BAD)) & set(shown), shown
    return shown


def run(program, *arguments):
    (FOLDER / "p.knl").write_bytes(program)
    return said("run", "p.knl", "--device=cpu", *arguments)


def npy():
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack("<f", 1)


# What files hold: cells, names of columns and of members; a cell that is cut is cut between characters.
(FOLDER / "cell.csv").write_bytes(b'a,b\n1,"' + RAW + b'"\n')
assert f"'{SHOWN}' is not a number" in run(b'run { print(load("cell.csv")) }')
(FOLDER / "long.csv").write_bytes(b"a,b\n1," + b"x" * 39 + b"\xc3\xa9\n")
assert f"'{'x' * 39}' is not a number" in run(b'run { print(load("long.csv")) }')
(FOLDER / "column.csv").write_bytes(b'"' + RAW + b'",b\n1,2\n')
assert f"it has '{SHOWN}', 'b'" in run(b'run { print(load("column.csv", name="c")) }')
packed = io.BytesIO()
with zipfile.ZipFile(packed, "w") as z:
    z.writestr("a\u202eb.npy", npy())  # libzip refuses controls itself
(FOLDER / "names.npz").write_bytes(packed.getvalue())
shown = run(b'run { print(load("names.npz", name="c")) }')
assert r"it has a\u202eb" in shown or "libzip, which is not installed" in shown

# What was typed: values of params, names of files, options, words.
(FOLDER / "p.knl").write_bytes(b"run {\n    param x: f32 = 1\n    print(x)\n}\n")
assert SHOWN in said("run", "p.knl", b"x=" + RAW)
assert r"no\x1b[0m.npy" in run(b"run { param x: f32[]\n print(x) }", "x=no\x1b[0m.npy")
assert r"no\x1b[0m.npy" in run(b'run { param f = ""\n print(load(f)) }', "f=no\x1b[0m.npy")
assert r"no\x1b[0m.knl" in said("run", "no\x1b[0m.knl")
assert r"no\x9b.knl" in said("fmt", b"no\x9b.knl")
assert r"--\x1b[0m" in said("run", "--\x1b[0m", "p.knl")
assert r"'\u009b\xff'" in said("doc", b"\xc2\x9b\xff")
wrong = FOLDER / "a\nb\x1b[0m.knl"
wrong.write_bytes(b"run { print(c) }\n")
assert said("run", wrong.name).startswith(r"a\nb\x1b[0m.knl:1:13: error: ")

# A line of the source keeps its width: the caret is under what it means.
for odd, cells in [("\x1b", 1), ("\x9b", 1), ("\u202e", 1), ("\u200f", 1), ("\u2066", 1), ("\u4e2d", 2), ("e\u0301", 1)]:
    program = f'run {{ print("{odd}", nosuch) }}\n'.encode()
    (FOLDER / "p.knl").write_bytes(program)
    _, line, caret = said("check", "p.knl").splitlines()
    assert caret.index("^") == line.index("nosuch") - len(odd) + cells, (line, caret)
(FOLDER / "p.knl").write_bytes(b'run { print("\xff\x1b", nosuch) }\n')
text = said("check", "p.knl").splitlines()
assert r"byte 0xff is not UTF-8" in text[0] and "\ufffd\ufffd" in text[1]
assert text[2].index("^") == text[1].index("\ufffd")

# JSON, of names and of what the program says.
(FOLDER / "p.knl").write_bytes('run { let t = "\x9b\u202e\t"\n t.nosuch\u202e() }\n'.encode())
for line in said("check", "--diagnostics=json", "p.knl").splitlines():
    json.loads(line)
wrong.write_bytes("run { print(\u202e) }\n".encode())
assert json.loads(said("check", "--diagnostics=json", wrong.name).splitlines()[0])["file"] == wrong.name
assert r"p.knl:1:1" not in said("check", "--diagnostics=json", "-", text="run { assert(nosuch) }\n".encode())
print("plain")
