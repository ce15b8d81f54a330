"""kjit as a library: modules, arrays over Python's memory, launches that may fail. What it has of kjit.h is made of
BUILD/api.json by the binding of samples/bindings."""
import ctypes as c
import importlib
import os
import re
import struct
import sys

FORMATS = {"bool": "?", "i8": "b", "i16": "h", "i32": "i", "i64": "q", "u8": "B", "u16": "H", "u32": "I", "u64": "Q",
           "f32": "f", "f64": "d"}
TOLD = re.compile(r":(\d+):\d+: error: index (-?\d+) is outside of '([^']*)', (?:which|whose axis (\d+)) has (\d+) "
                  r"elements? \(block (\(.*?\)), thread (\(.*?\))\)")
BINDINGS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../samples/bindings/python")


class Failed(Exception):
    """What kjit refuses."""


def binding(build):
    """kjit_ctypes, of the library built there."""
    build = os.path.abspath(build)
    os.environ.update(KJIT_API=os.path.join(build, "api.json"), KJIT_LIBRARY=os.path.join(build, "libkjit.so"))
    if BINDINGS not in sys.path:
        sys.path.append(BINDINGS)
    return importlib.import_module("kjit_ctypes")


class Kjit:
    def __init__(self, build):
        self.api = binding(build)

    def context(self, options):
        api = self.api
        given = api.kjit_context_options(device=options["device"].encode(), workers=options["workers"], cache=b"off")
        found, said = c.POINTER(api.kjit_context)(), c.create_string_buffer(1000)
        if api.kjit_context_create(c.byref(given), c.byref(found), said, len(said)):
            raise Failed(said.value.decode())
        return found

    def error(self, context):
        return (self.api.kjit_last_error(context) or b"").decode("utf-8", "replace")

    def module(self, context, text, options):
        api, source, found = self.api, text.encode(), c.POINTER(self.api.kjit_module)()
        given = api.kjit_compile_options(opt_level=options["level"] or api.KJIT_UNOPTIMISED, no_contract=1, verify=1, warn=b"off",
                                         cpu=options["cpu"] and options["cpu"].encode())
        if api.kjit_module_compile(context, b"program.knl", source, len(source), c.byref(given), c.byref(found)):
            raise Failed((api.kjit_module_log(found) or b"").decode() if found else self.error(context))
        return found

    def array(self, context, memory, dtype):
        """The argument that is the memory's array."""
        api, n, found = self.api, len(memory.shape), c.POINTER(self.api.kjit_array)()
        if api.kjit_array_wrap(context, memory.address, dtype, n, (c.c_int64 * n)(*memory.shape),
                               (c.c_int64 * n)(*memory.strides), api.KJIT_HOST, c.byref(found)):
            raise Failed(self.error(context))
        return api.kjit_arg_array(found)

    def number(self, value, t):
        """The argument that is a scalar."""
        api = self.api
        if t == "bool":
            return api.kjit_arg_bool(value)
        if t in ("f32", "f64"):
            return api.kjit_arg_f64(value)
        return api.kjit_arg_u64(value) if t[0] == "u" else api.kjit_arg_i64(value)

    def dtype(self, t):
        return getattr(self.api, "KJIT_" + t.upper())

    def record(self, module, name):
        found = self.api.kjit_dtype()
        if self.api.kjit_module_record(module, name.encode(), c.byref(found)):
            raise Failed("no record " + name)
        return found.value

    def launch(self, context, module, grid, block, args):
        """The status, and what is said."""
        given = self.api.kjit_config(grid=(grid, 1, 1), block=(block[0], block[1], 1))
        status = self.api.kjit_launch(module, b"main", c.byref(given), (self.api.kjit_arg * len(args))(*args), len(args))
        return status, self.error(context) if status else ""

    def free(self, args):
        """The arrays among the arguments."""
        for arg in args:
            if arg.kind == self.api.KJIT_ARG_ARRAY:
                self.api.kjit_array_free(arg.u.array)


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
