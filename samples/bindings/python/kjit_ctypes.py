"""All of kjit.h for Python by ctypes, made as it is imported from the description that kjit installs (share/kjit/api.json): its
constants, structs and functions are this module's names. $KJIT_API says where that file is, $KJIT_LIBRARY where the library.

A status is a number, as in C; call(function, ...) raises Error where it is none of KJIT_OK. The package kjit (docs/python.md) is
what programs use; this is what a binding begins with, in any language that can read the description.
"""
import ctypes
import json
import os

with open(os.environ.get("KJIT_API", "/usr/local/share/kjit/api.json")) as file:
    API = json.load(file)
LIBRARY = ctypes.CDLL(os.environ.get("KJIT_LIBRARY", "libkjit.so.0"))
SCALARS = {"char": ctypes.c_char, "unsigned char": ctypes.c_ubyte, "int": ctypes.c_int, "unsigned": ctypes.c_uint, "double": ctypes.c_double,
           "size_t": ctypes.c_size_t, "int64_t": ctypes.c_int64, "uint64_t": ctypes.c_uint64}
TYPES = dict(SCALARS) # by name, also what is made below


def type_of(described):
    """The ctypes type of a described one; None: void."""
    if "array" in described:
        return type_of(described["array"]) * described["count"]
    if "union" in described:
        return type("union", (ctypes.Union,), {"_fields_": fields_of(described["union"])})
    if "function" in described:
        return function_of(described["function"])
    if "pointer" in described:
        to = described["pointer"]
        if to.get("name") == "void":
            return ctypes.c_void_p
        if to == {"name": "char", "const": True}:
            return ctypes.c_char_p
        if "function" in to or to.get("name") in API["callbacks"]:
            return type_of(to)
        return ctypes.POINTER(type_of(to))
    name = described["name"]
    if name != "void" and name not in TYPES: # a handle, or a struct of another library
        TYPES[name] = type(name, (ctypes.Structure,), {})
    return TYPES.get(name)


def function_of(described):
    return ctypes.CFUNCTYPE(type_of(described["returns"]), *(type_of(p["type"]) for p in described["params"]))


def fields_of(members):
    return [(m["name"], type_of(m["type"])) for m in members]


def inline_of(described):
    """What kjit.h defines itself: a struct that is made and has members set."""
    names = [p["name"] for p in described["params"]]

    def make(*values):
        given = dict(zip(names, values), NULL=None)
        if "of" in described:
            made = globals()[described["of"]](*values)
        else:
            made = given.get("arg") or type_of(described["returns"])()
        for path, value in described["sets"]:
            *outer, member = path.split(".")
            at = made
            for name in outer:
                at = getattr(at, name)
            setattr(at, member, int(bool(given["b"])) if value == "b != 0" else given[value] if value in given else globals()[value])
        return made
    return make


for name, enum in API["enums"].items():
    TYPES[name] = ctypes.c_uint
    globals().update(enum)
globals().update(API["constants"])
for name in API["structs"]: # what they hold comes later: callbacks take pointers to them, and they hold callbacks
    TYPES[name] = type(name, (ctypes.Structure,), {})
for name, function in API["callbacks"].items():
    TYPES[name] = function_of(function)
for name, struct in API["structs"].items():
    TYPES[name]._fields_ = fields_of(struct["members"])
for name, function in API["functions"].items():
    called = getattr(LIBRARY, name)
    called.restype, called.argtypes = type_of(function["returns"]), [type_of(p["type"]) for p in function["params"]]
    called.__doc__ = function.get("doc")
    globals()[name] = called
globals().update({name: of for name, of in TYPES.items() if name not in SCALARS})
for name, function in API["inlines"].items():
    globals()[name] = inline_of(function)


class Error(Exception):
    """A failure, with its status."""
    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


def call(function, *arguments, context=None):
    status = function(*arguments)
    if status != 0:
        raise Error(status, LIBRARY.kjit_last_error(context).decode())


def layouts():
    """What is where, a line each, to be compared with what C says."""
    lines = []
    for name, struct in API["structs"].items():
        of = TYPES[name]
        lines.append(f"{name} {ctypes.sizeof(of)}")
        lines += [f"{name}.{m['name']} {getattr(of, m['name']).offset} {getattr(of, m['name']).size}" for m in struct["members"]]
    return lines + [f"{name} {value}" for enum in [API["constants"], *API["enums"].values()] for name, value in enum.items()]
