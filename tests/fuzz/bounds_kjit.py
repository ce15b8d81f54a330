"""kjit as a library: modules, arrays over Python's memory, launches that may fail. What is of kjit.h here, its structures
and numbers, is compared with it by layouts.py."""
import ctypes as c
import os
import re
import struct

TYPES = {"bool": 0, "i8": 1, "i16": 2, "i32": 3, "i64": 4, "u8": 5, "u16": 6, "u32": 7, "u64": 8, "f32": 9, "f64": 10}
FORMATS = {"bool": "?", "i8": "b", "i16": "h", "i32": "i", "i64": "q", "u8": "B", "u16": "H", "u32": "I", "u64": "Q",
           "f32": "f", "f64": "d"}
TOLD = re.compile(r":(\d+):\d+: error: index (-?\d+) is outside of '([^']*)', (?:which|whose axis (\d+)) has (\d+) "
                  r"elements? \(block (\(.*?\)), thread (\(.*?\))\)")


class ContextOptions(c.Structure):
    _fields_ = [("device", c.c_char_p), ("workers", c.c_int), ("cache", c.c_char_p), ("max_pending_count", c.c_int),
                ("max_pending_ratio", c.c_double), ("allocator", c.c_void_p), ("cancellable", c.c_int),
                ("max_expressions", c.c_int), ("limits", c.c_void_p), ("untrusted", c.c_int)]


class CompileOptions(c.Structure):
    _fields_ = [("opt_level", c.c_int), ("no_contract", c.c_int), ("verify", c.c_int), ("arch", c.c_char_p),
                ("libdevice", c.c_char_p), ("ftz", c.c_int), ("cpu", c.c_char_p), ("warn", c.c_char_p),
                ("diagnose", c.c_void_p), ("user", c.c_void_p), ("check", c.c_uint), ("find", c.c_void_p),
                ("sources", c.c_void_p), ("nsources", c.c_int), ("path", c.c_char_p),
                ("statements", c.c_int), ("params", c.c_void_p), ("nparams", c.c_int)]


class Config(c.Structure):
    _fields_ = [("grid", c.c_int64 * 3), ("block", c.c_int64 * 3), ("stream", c.c_void_p), ("timeout_ms", c.c_double)]


class Value(c.Union):
    _fields_ = [("array", c.c_void_p), ("i", c.c_int64), ("u", c.c_uint64), ("f", c.c_double)]


class Arg(c.Structure):
    _fields_ = [("kind", c.c_int), ("name", c.c_char_p), ("u", Value), ("dtype", c.c_int)]


ARRAY, INT, FLOAT, BOOL, UINT = 0, 1, 2, 3, 8
HOST, UNOPTIMISED = 0, -1

STRUCTURES = {"kjit_context_options": ContextOptions, "kjit_compile_options": CompileOptions, "kjit_config": Config,
              "kjit_arg": Arg}
NUMBERS = {"KJIT_ARG_ARRAY": ARRAY, "KJIT_ARG_INT": INT, "KJIT_ARG_FLOAT": FLOAT, "KJIT_ARG_BOOL": BOOL, "KJIT_ARG_UINT": UINT,
           "KJIT_HOST": HOST, "KJIT_UNOPTIMISED": UNOPTIMISED, **{"KJIT_" + t.upper(): n for t, n in TYPES.items()}}


class Failed(Exception):
    """What kjit refuses."""


class Kjit:
    def __init__(self, build):
        self.lib = c.CDLL(os.path.join(os.path.abspath(build), "libkjit.so"))
        for name in ("kjit_last_error", "kjit_module_log"):
            getattr(self.lib, name).restype = c.c_char_p

    def context(self, options):
        given = ContextOptions(device=options["device"].encode(), workers=options["workers"], cache=b"off")
        found, said = c.c_void_p(), c.create_string_buffer(1000)
        if self.lib.kjit_context_create(c.byref(given), c.byref(found), said, c.c_size_t(1000)):
            raise Failed(said.value.decode())
        return found

    def error(self, context):
        return (self.lib.kjit_last_error(context) or b"").decode("utf-8", "replace")

    def module(self, context, text, options):
        given = CompileOptions(opt_level=options["level"] or UNOPTIMISED, no_contract=1, verify=1, warn=b"off",
                               cpu=options["cpu"] and options["cpu"].encode())
        found, source = c.c_void_p(), text.encode()
        if self.lib.kjit_module_compile(context, b"program.knl", source, c.c_size_t(len(source)), c.byref(given),
                                        c.byref(found)):
            raise Failed((self.lib.kjit_module_log(found) or b"").decode() if found else self.error(context))
        return found

    def wrap(self, context, address, dtype, shape, strides):
        n, found = len(shape), c.c_void_p()
        if self.lib.kjit_array_wrap(context, c.c_void_p(address), dtype, n, (c.c_int64 * n)(*shape),
                                    (c.c_int64 * n)(*strides), HOST, c.byref(found)):
            raise Failed(self.error(context))
        return found

    def record(self, module, name):
        found = c.c_int()
        if self.lib.kjit_module_record(module, name.encode(), c.byref(found)):
            raise Failed("no record " + name)
        return found.value

    def launch(self, context, module, grid, block, args):
        """The status, and what is said."""
        given = Config((grid, 1, 1), (block[0], block[1], 1))
        status = self.lib.kjit_launch(module, b"main", c.byref(given), (Arg * len(args))(*args), len(args))
        return status, self.error(context) if status else ""


def number(value, t):
    """A kernel's argument."""
    if t == "bool":
        return Arg(BOOL, None, Value(i=int(value)))
    if t in ("f32", "f64"):
        return Arg(FLOAT, None, Value(f=value))
    return Arg(UINT, None, Value(u=value)) if t[0] == "u" else Arg(INT, None, Value(i=value))


class Memory:
    """An array of a larger piece of memory: its elements lie in some order, and all between and around are canaries."""

    def __init__(self, r, t, shape, values, layout, record):
        size = struct.calcsize(FORMATS[t]) * (4 if record else 1)
        order = list(range(len(shape)))
        if layout != "F":
            order.reverse()
        strides, step = [0] * len(shape), size * (2 if layout == "strided" else 1)
        for axis in order:
            strides[axis] = step
            step *= max(1, shape[axis])
        pad = 24 * size
        self.buffer = c.create_string_buffer(bytes(r.below(2 if t == "bool" else 7) for _ in range(step + 2 * pad)))
        # canaries are numbers that could be elements
        self.t, self.places, self.shape, self.strides = t, [pad], shape, strides
        for n, s in zip(shape, strides):
            self.places = [p + i * s for p in self.places for i in range(n)]
        if record:
            part = size // 4
            self.places = [p + part * k for p in self.places for k in range(4)]
        self.address = c.addressof(self.buffer) + pad
        for p, v in zip(self.places, values):
            struct.pack_into(FORMATS[t], self.buffer, p, v)
        self.before = self.buffer.raw

    def values(self):
        raw = self.buffer.raw
        return [struct.unpack_from(FORMATS[self.t], raw, p)[0] for p in self.places]

    def expected(self, values):
        """All of the memory, where the elements are these."""
        copy = bytearray(self.before)
        for p, v in zip(self.places, values):
            struct.pack_into(FORMATS[self.t], copy, p, v)
        return bytes(copy)

    def around(self, raw):
        copy = bytearray(raw)
        size = struct.calcsize(FORMATS[self.t])
        for p in self.places:
            copy[p:p + size] = bytes(size)
        return bytes(copy)

    def reset(self):
        self.buffer.raw = self.before[:len(self.buffer)]
