"""Raw bytes as numpy.ndarray.tofile writes them, and those that kjit wrote in F order of its view: with `write` and `read`."""
import struct
import sys

TYPES = {"bool": "?", "u8": "B", "u16": "H", "u32": "I", "u64": "Q", "i8": "b", "i16": "h", "i32": "i", "i64": "q",
         "f16": "e", "f32": "f", "f64": "d"}


def values(name):
    numbers = [bool(i % 2) for i in range(6)] if name == "bool" else [1, 2, 3, 4, 5, 6]
    return [x for v in numbers for x in ((v, -v) if name[0] == "c" else (v,))]


def packed(name, order, numbers):
    letter = TYPES[{"c64": "f32", "c128": "f64"}.get(name, name)]
    return struct.pack(f"{order}{len(numbers)}{letter}", *numbers)


for name in [*TYPES, "c64", "c128"]:
    if sys.argv[1] == "write":
        open(f"{name}.raw", "wb").write(packed(name, "<", values(name)))
        open(f"{name}-big.dat", "wb").write(b"a head of 16 by." + packed(name, ">", values(name)))
    else:
        parts = 2 if name[0] == "c" else 1
        items = [values(name)[i * parts:(i + 1) * parts] for i in (0, 3, 1, 4, 2, 5)]
        assert open(f"{name}-back.bin", "rb").read() == packed(name, "<", [x for i in items for x in i]), name
open("images-idx", "wb").write(bytes([0, 0, 8, 3, 1, 2, 3, 4, 5, 6, 7, 8]))
open("none.raw", "wb").close()
open("table.dat", "w").write("1 2 3\n4 5 6\n")
open("table.data", "w").write("# of a program\n" + "1.5e3\t-2\n" * 2000)  # more than is looked at
open("table.bin", "w").write("x;y\n1.5;2\n;4\n")
open("prose.dat", "w").write("no numbers\n ")
