"""Structures of ctypes as records: by their own offsets, as a buffer's format has no padding in Python 3.11 and no bit fields at all."""
import ctypes as c
import sys
import unittest

import kjit
from support import cases, main, module


def structure(*fields, base=c.Structure, **more):
    return type("Cell", (base,), {**more, "_fields_": list(fields)})


INNER = structure(("p", c.c_int8), ("q", c.c_int32))
# the structure, and the record's fields
TAKEN = {
    "padding": (structure(("a", c.c_int8), ("b", c.c_double)), "a: i8, b: f64"), "at the end": (structure(("a", c.c_double), ("b", c.c_int8)), "a: f64, b: i8"),
    "several": (structure(("a", c.c_bool), ("b", c.c_int16), ("d", c.c_uint8), ("e", c.c_uint64), ("b2", c.c_float)), "a: bool, b: i16, d: u8, e: u64, b2: f32"),
    "nested": (structure(("a", c.c_int8), ("n", INNER), ("b", c.c_double)), "a: i8, n: I, b: f64"),
    "arrays": (structure(("a", c.c_int8), ("m", c.c_int16 * 3 * 2), ("n", INNER * 2), ("b", c.c_double)), "a: i8, m: i16[2, 3], n: I[2], b: f64"),
    "base": (structure(("b", c.c_double), base=structure(("a", c.c_int8))), "a: i8, b: f64"),
    "longs": (structure(("a", c.c_byte), ("l", c.c_long), ("s", c.c_size_t), ("b", c.c_double)), "a: i8, l: i64, s: u64, b: f64"),
}
PACKED = {"packed": (structure(("a", c.c_int8), ("b", c.c_double), _pack_=1), "a: i8, b: f64"),
          "packed as a number": (structure(("a", c.c_int16), ("b", c.c_int16), _pack_=1), "a: i16, b: i16")}


@cases({name: (*row, "") for name, row in TAKEN.items()} | {name: (*row, "@packed ") for name, row in PACKED.items()})
class Taken(unittest.TestCase):
    def check(self, kind, fields, packed):
        mod = module(f"record I {{ p: i8, q: i32 }}\n{packed}record Cell {{ {fields} }}\n"
                     "kernel k(c: Cell[], o: f64[]) { let i = grid(1); if i < c.size { o[i] = f64(c[i].b); c[i].b += 1 } }\n"
                     "kernel one(c: Cell, o: f64[]) { o[0] = f64(c.b) }".replace("+= 1 ", "+= 1.0 " if "b: f64" in fields else "+= 1 "))
        cells, out = (kind * 3)(), kjit.device_array(3, "f64")
        for i, cell in enumerate(cells):
            cell.b = i + 3
        for given in (cells, memoryview(cells), kjit.asarray(cells)):
            mod.k[1, 3](given, out)
        self.assertEqual(([out[i] for i in range(3)], [cell.b for cell in cells]), ([5, 6, 7], [6, 7, 8]))
        mod.one[1, 1](cells[1], out)
        self.assertEqual(out[0], 7)
        self.assertEqual(kjit.device_array(2, kind).itemsize, c.sizeof(kind))


class Big(c.BigEndianStructure if sys.byteorder == "little" else c.LittleEndianStructure):
    _fields_ = [("a", c.c_int32), ("b", c.c_int32)]


class Union(c.Union):
    _fields_ = [("a", c.c_int32), ("b", c.c_float)]


SWAPPED = c.c_int32.__ctype_be__ if sys.byteorder == "little" else c.c_int32.__ctype_le__
REFUSED = {
    "bit fields": (structure(("a", c.c_int16, 8), ("b", c.c_int16, 8), ("d", c.c_int32)), "'a' of Cell is a bit field"),
    "bit fields within": (structure(("n", structure(("a", c.c_int32, 3)))), "'a' of Cell is a bit field"),
    "other order": (Big, "Big has its bytes in the other order"), "field in the other order": (structure(("a", SWAPPED), ("b", c.c_int32)), "other order"),
    "nested in the other order": (structure(("n", Big)), "other order"), "array in the other order": (structure(("n", SWAPPED * 2)), "other order"),
    "union": (Union, "Union is no structure"), "union within": (structure(("u", Union)), "Union is no structure"),
    "pointer": (structure(("p", c.c_void_p)), "'p' of Cell is a c_void_p"), "text": (structure(("p", c.c_char_p)), "c_char_p"),
    "wide": (structure(("p", c.c_wchar)), "c_wchar"), "long double": (structure(("p", c.c_longdouble)), "c_longdouble"),
    "pointer to": (structure(("p", c.POINTER(c.c_int))), "LP_c_int"),
}


@cases(REFUSED)
class Refused(unittest.TestCase):
    def check(self, kind, text):
        k = module("kernel k<T>(_c: T[]) { }").k[1, 1]
        for use in (lambda: kjit.asarray((kind * 2)()), lambda: kjit.device_array(2, kind), lambda: k((kind * 2)()), lambda: kjit.asarray(memoryview((kind * 2)()))):
            with self.assertRaisesRegex(kjit.ArgumentError, text):
                use()


class Casts(unittest.TestCase):
    def test_as_bytes(self):
        cells = (TAKEN["padding"][0] * 2)()
        self.assertEqual((kjit.asarray(memoryview(cells).cast("B")).type, kjit.asarray(memoryview(cells).cast("B").cast("d")).type), ("u8", "f64"))

    def test_formats_alike(self):
        """Two structures whose buffers have the same format."""
        plain, bits = structure(("a", c.c_int16), ("b", c.c_int16)), structure(("a", c.c_int16, 8), ("b", c.c_int16, 8), ("d", c.c_int16))
        kjit.asarray((plain * 2)())
        with self.assertRaises(kjit.ArgumentError):
            kjit.asarray((bits * 2)())


if __name__ == "__main__":
    main()
